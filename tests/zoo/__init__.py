"""Every policy factory of the package with three games that it can play, for tests and benchmarks that are about all.

A paper's policies and games are in the module of its name, which is found in this folder: `ENTRIES` says how each
policy is made for a game, on which three games it plays, and which loop of the benchmarks it is measured beside;
`GAMES` are built when they are first asked for; `MEASURES` defines what each kind of game
sums, once more and in the plainest way; `VARIED` says how Hypothesis varies what a game has besides arms, delays and
contexts. How a factory is called is written once, in the line of its entry.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from zoo.entry import Entry

_MODULES = [
    importlib.import_module(f"zoo.{each.name}") for each in pkgutil.iter_modules(__path__) if each.name != "entry"
]
GAMES: dict[str, Callable[[], Any]] = {name: make for module in _MODULES for name, make in module.GAMES.items()}
ZOO: dict[str, Entry] = {name: entry for module in _MODULES for name, entry in module.ENTRIES.items()}
MEASURES = {kind: sums for module in _MODULES for kind, sums in getattr(module, "MEASURES", {}).items()}
VARIED = {kind: vary for module in _MODULES for kind, vary in getattr(module, "VARIED", {}).items()}
ON_ARMS = [name for name, entry in ZOO.items() if entry.horizon == 2000]
WITH_CONTEXTS = [name for name, entry in ZOO.items() if entry.horizon == 300 and not entry.grows]


@cache
def game(name: str) -> Any:
    """Return a game by its name; it is built once."""
    return GAMES[name]()


def instances() -> Iterator[tuple[str, str, int]]:
    """Yield the name of each policy with the name of each of its games and the seed of the play: 1, 2 and 3."""
    for name, entry in ZOO.items():
        for seed, each in enumerate(entry.games, start=1):
            yield name, each, seed
