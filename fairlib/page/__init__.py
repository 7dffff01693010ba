"""What runs in a page: rules in JavaScript, games with NumPy's random numbers, and what a reader does with his hands.

Its doors: `translate`, the translator; `games`, the script of a game and its numbers; `hands`, a promise to attack and
a guess; `playground`, the game of all papers at once; `own`, a reader's rule.

Plays are those of `fairlib.simulate`, run by run. Sums pass through `Math.exp`, `Math.log` and `Math.pow`, whose last
bit is the browser's; exponentials and logarithms of our own, the same everywhere, would make a round of UCB1 a third
slower in the compiled engine.
"""

from fairlib.page.games import draws, explorers, flat, function_of, live, numbers, runtime, script
from fairlib.page.generator import pcg64
from fairlib.page.hands import Attack, Guess, reader_rule
from fairlib.page.own import KINDS, translated
from fairlib.page.playground import (
    EXAMPLE,
    SHORT,
    START,
    Playground,
    PlaygroundResult,
    Racer,
    candidates,
    contents,
    every_tally,
    own_contents,
    racers,
)
from fairlib.page.translate import (
    CHANCE,
    MAYBE,
    NOTHING,
    REAL,
    TRUTH,
    WHOLE,
    Array,
    Function,
    Made,
    Native,
    Record,
    RefusedError,
    Script,
    Several,
)

__all__ = [
    "Attack",
    "Guess",
    "reader_rule",
    "script",
    "numbers",
    "runtime",
    "explorers",
    "live",
    "function_of",
    "flat",
    "draws",
    "pcg64",
    "Script",
    "Function",
    "RefusedError",
    "WHOLE",
    "REAL",
    "TRUTH",
    "NOTHING",
    "MAYBE",
    "CHANCE",
    "Array",
    "Record",
    "Several",
    "Native",
    "Made",
    "Playground",
    "PlaygroundResult",
    "every_tally",
    "Racer",
    "racers",
    "candidates",
    "START",
    "SHORT",
    "EXAMPLE",
    "contents",
    "own_contents",
    "KINDS",
    "translated",
]
