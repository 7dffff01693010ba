"""A reader's own rule, read by the module that reads it in the page and played in the language of a browser.

What the language means is in test_page_engine.py, the page itself in pages/test_playground.py.
"""

import itertools
import math
import re
import time
from pathlib import Path
from typing import Annotated

import jupytext
import numpy as np
import pytest
from js_engine import evaluated, games
from pages.test_playground import BAD, EXP3, WINNING

import fairlib as fl
from fairlib.core import Rule, largest, share_out
from fairlib.delays import geometric
from fairlib.pages.playground import EXAMPLE, own_contents
from fairlib.pages.reader_rule import translated

KNOWN = own_contents()["known"]
SENTENCES = {text: said for text, said in BAD.items() if said.startswith("Line")} | {
    "def mine(p, c='a'):\n    return 0": "Line 1 of your rule: the setting 'c' must be a finite number",
    "def mine(p, c=-p):\n    return 0": "Line 1 of your rule: the setting 'c' must be a finite number",
    "def mine(p, c=1e400):\n    return 0": "Line 1 of your rule: the setting 'c' must be a finite number",
    "def mine(p, c: int = 2.5):\n    return 0": "Line 1 of your rule: the setting 'c' must be a whole number of",
    "def mine(p, n: Annotated[np.ndarray, 'w']):\n    return 0": "Line 1 of your rule: the size of 'n' must be K or a",
    "W = Annotated[np.ndarray, 'w']\ndef mine(n: W, p, w=0):\n    return 0": "Line 2 of your rule: the size of 'n'",
    "W = 3\ndef mine(p):\n    return 0": "Line 1 of your rule: it must be in a function",
    "def mine(p, n: PerGroup):\n    return 0": "Line 1 of your rule: 'n' is not known: a rule may ask for seen, avai",
    "def mine(p):\n    return math.cosh(p[0])": "Line 2 of your rule: math.cosh, which it does not know",
    "def mine(p):\n    return "
    + "abs(" * 110
    + "0"
    + ")" * 110: "Line 2 of your rule: more than 100 parts, each within",
    "def mine(p):\n    return " + "1 + " * 1300 + "1": "Line 1 of your rule: a text of more than 5,000 characters",
    "import cmath as math\ndef mine(p):\n    return 0": "Line 1 of your rule: an import of cmath",
    "@once\ndef mine(p):\n    return 0": "Line 2 of your rule: a decorator, which it does not know",
    "a, b = Annotated[1, 2]\ndef mine(p):\n    return 0": "Line 1 of your rule: a size that is not given to one name",
    "def mine(p):\n    return other(p)": "Line 2 of your rule: 'other', which stands for nothing",
}


@pytest.mark.parametrize("text", SENTENCES, ids=lambda text: text.replace("\n", "; ")[:40])
def test_what_is_not_known_is_told_with_its_line(text):
    with pytest.raises(ValueError, match="of your rule") as error:
        translated(text, KNOWN)
    said = str(error.value)
    assert (said[0].upper() + said[1:]).startswith(SENTENCES[text].rstrip(".;,"))


@pytest.mark.parametrize(
    ("text", "memory", "readers"),
    [(EXAMPLE, [], 0), (WINNING, [], 0), (EXP3, [1, "K"], 1)],
    ids=["floor", "optimistic", "exp3"],
)
def test_a_rule_says_what_it_asks_for(text, memory, readers):
    made = translated(text, KNOWN)
    assert (made["memory"], made["readers"]) == (memory, readers)
    assert made["script"].startswith("$rule = ")


@pytest.mark.parametrize(
    ("asked", "given"),
    [("c=77", "77.0"), ("c=-77", "-77.0"), ("c: int = 88", "88"), ("c: int = -88", "-88"), ("c: bool = True", "true")],
)
def test_settings_come_as_a_policy_keeps_them(asked, given):
    one = translated(f"def mine(p, {asked}):\n    p[0] = 1.0 if c else 0.5\n    return 0", KNOWN)["script"]
    other = translated("def mine(p):\n    p[0] = 1.0\n    return 0", KNOWN)["script"]
    assert given in one
    assert given not in other


def printed_rules() -> dict[str, str]:
    """Return the example rules of the README and of *Writing your own*, each as it is printed, by its name."""
    root = Path(__file__).parents[1]
    cells = [cell.source for cell in jupytext.read(root / "chapters" / "own.md").cells if cell.cell_type == "code"]
    blocks = re.findall(r"```python\n(.*?)```", (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    found: dict[str, str] = {}
    for page, texts in (("README", blocks), ("own", cells)):
        for text in texts:
            if text.count("@fl.rule") == 1 and (page == "README" or len(found) < 5):  # not those of the exercises
                name = re.findall(r"^def (\w+)", text, re.MULTILINE)[-1]
                found[f"{page}, {name}"] = text
    return found


RULES = printed_rules()
GAME = fl.Bandit(fl.bernoulli([0.7, 0.6, 0.2]), delay=geometric([1 / 3] * 3))


def test_each_example_of_the_chapter_and_the_readme_is_found():
    assert [name.partition(", ")[2] for name in RULES] == [
        *("explore_then_commit", "explore_then_commit", "sliding_window_ucb", "discounted_ucb", "exp3")
    ]


def in_page(text, horizon, seed=5):
    """Play a rule as the page would, in the language of its browser; return its plays, or the fault."""
    made = translated(text, KNOWN)
    ends = np.cumsum([0, *(3 if size == "K" else size for size in made["memory"])]).tolist()
    places = [end for pair in itertools.pairwise(ends) for end in pair]
    more = f"{{ params: {places}, memory: {ends[-1]}, readers: {made['readers']} }}"
    game = f"{games(GAME, fl.ucb1(), horizon)}\nObject.assign(game, {more});\n{made['script']}"
    play = f"return [...$play(game, {seed}, 0).selected.at(-1)]"
    return evaluated(game, f"(() => {{ try {{ {play}; }} catch (error) {{ return error.message; }} }})()")


@pytest.mark.parametrize("name", RULES)
def test_each_example_plays_in_the_page_as_it_is_printed(name):
    known = {"math": math, "fl": fl, "np": np, "Annotated": Annotated, "largest": largest, "share_out": share_out}
    exec(RULES[name], known)
    rule = next(each for each in reversed(list(known.values())) if isinstance(each, Rule))
    same = fl.simulate(GAME, fl.Policy("own", rule, interpret=True), 3000, seed=5, rounds=[3000])
    assert in_page(RULES[name], 3000) == same.selected[0, -1].tolist()


STOPPED = {
    "x = 2 ** 53 + seen.t": "the whole number 9007199254740992: a page knows those up to 2^53 alone",
    "x = seen.t\n    for i in range(9):\n        x *= 1000": "the whole number 1000000000000000000: a page knows",
    "x = 3 ** 40 % 7": "the whole number 12157665459056929000",
    "x = int(1e300)": "the whole number 1e+300",
    "x = math.floor(1e300)": "the whole number 1e+300",
    "x = 5 // seen.observed[0]": "a whole number divided by 0",
    "x = 5 % seen.observed[0]": "a whole number divided by 0",
    "x = 5\n    x //= seen.observed[0]": "a whole number divided by 0",
    "x = np.zeros(1000000000).size": "an array of 1000000000 numbers, where at most 10,000,000 fit",
    "y = np.zeros(3, np.int64)\n    y[0] = 2 ** 50\n    y[0] *= 16\n    x = y[0]": "the whole number 18014398509481984",
}


@pytest.mark.parametrize("line", STOPPED)
def test_a_rule_is_stopped_where_the_page_would_reckon_otherwise(line):
    said = in_page(f"def mine(seen, p):\n    {line}\n    return 1 if x > 3 else 0", 50)
    assert said.startswith(STOPPED[line])


def test_a_sum_of_200_terms_is_read_at_once():
    def taken() -> float:
        begun = time.thread_time()
        translated("def mine(p):\n    return " + " + ".join(["0"] * 200), KNOWN)
        return time.thread_time() - begun

    assert min(taken() for _ in range(5)) < 0.1


def test_a_reader_s_function_may_be_called_like_one_of_ours():
    text = "def random_beta(x):\n    return x\n"
    text += "def mine(rng, p):\n    return int(random_beta(0) + 3 * rng.beta(2.0, 3.0))"
    assert sum(in_page(text, 60)) == 60
