"""The scripts of the arena's table, which only this book has.

What the entrants did is in ``benchmarks/arena.json``, which ``make arena`` writes. The page that has the table, which
the attribute ``data-arena`` says, loads it, shortened; the games themselves are fetched when a reader's own rule is to
play.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from fairlib.arena import entrants, v1
from fairlib.baselines.classic import ucb1
from fairlib.delays import cucb_d
from fairlib.pages.playground import EXAMPLE, Playground
from fairlib.pages.scripts import numbers, script

RECORD = Path("benchmarks") / "arena.json"
DIGITS = 4  # of the numbers in the page


def read(root: Path) -> dict[str, Any]:
    """Return what `make arena` wrote."""
    found: dict[str, Any] = json.loads((root / RECORD).read_text(encoding="utf-8"))
    return found


def short(number: float) -> float:
    """Round a number to the digits that the page has.

    >>> short(1234.5678), short(0.0123456)
    (1235.0, 0.01235)
    """
    return float(f"{number:.{DIGITS}g}")


def shortened(found: dict[str, Any]) -> dict[str, Any]:
    """Return the record as the page needs it: nested by horizon, game, measure and policy."""
    cells: dict[Any, Any] = {}
    for horizon, game, measure, policy, mean, error, _, worst, best, last, close in found["rows"]:
        cell = [*map(short, (mean, error, worst)), best, last, close]
        cells.setdefault(horizon, {}).setdefault(game, {}).setdefault(measure, {})[policy] = cell
    sure: dict[Any, Any] = {}
    for horizon, game, _, second, policy, kept in found["fronts"]:
        sure.setdefault(horizon, {}).setdefault(game, {}).setdefault(second, {})[policy] = short(kept)
    who = {name: {"knows": each.knows, "proved": each.as_proved} for name, each in entrants.items()}
    return {"seed": found["seed"], "policies": who, "cells": cells, "fronts": sure, "rule": EXAMPLE}


def games() -> dict[str, Any]:
    """Return the games on arms, on which a rule that is written in the page can play: scripts, and their numbers."""
    scripts: list[str] = []
    found = {}
    for name, game in v1.items():
        if isinstance(game, Playground):
            policy = ucb1() if game.plays == 1 else cucb_d(game.plays)
            text = script(game, policy)
            if text not in scripts:
                scripts.append(text)
            sums = list(game.metrics.rule.memory)
            found[name] = {"script": scripts.index(text), "sums": sums, "numbers": numbers(game, policy, 1)}
    return {"scripts": scripts, "games": found}


def write(app: Sphinx) -> None:
    """Write the scripts."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(app.srcdir) / RECORD, folder)
    for file, name, made in (
        ("arena-table.js", "fairArena", shortened(read(Path(app.srcdir)))),
        ("arena-games.js", "fairArenaGames", games()),
    ):
        text = json.dumps(made, separators=(",", ":"))
        (folder / file).write_text(f"window.{name} = {text};\n", encoding="utf-8")


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Have a page load it."""
    if "data-arena" in context.get("body", ""):
        app.add_css_file("playground.css")
        for name in ("arena-table.js", "own-rule.js", "results.js", "arena.js"):
            app.add_js_file(name, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
