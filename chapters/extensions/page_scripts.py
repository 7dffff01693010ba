"""The scripts of the pages that compute: their workers' runtime, the playground's games, and the arena's table.

Only this book has such pages. An attribute in a page says what it needs: ``data-live`` what moves the explorers and
runs a policy in a worker, ``data-playground`` the games and what reads a reader's own rule, ``data-arena`` what the
entrants did. That is in ``benchmarks/arena.json``, which ``make arena`` writes; the page has it shortened, and fetches
the games themselves when a reader's rule is to play.

A worker that is to start from a page on a disk is made from a text, so a script has the runtime as a text. A reader's
rule is read by Brython, Python in JavaScript, which is loaded when a reader writes one. Of Python's library Brython
gets only the syntax trees, and stand-ins for the little else that the translator imports.
"""

import json
import shutil
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from fairlib.arena import entrants, v1
from fairlib.baselines.classic import ucb1
from fairlib.delays import cucb_d
from fairlib.pages.playground import Playground, contents, own_contents
from fairlib.pages.scripts import explorers, numbers, runtime, script

LOADED = {  # in this order, as the later ones use the runtime
    "data-live": ("runtime.js",),
    "data-playground": ("playground.css", "playground-games.js", "own-rule.js", "results.js", "playground.js"),
    "data-arena": ("playground.css", "arena-table.js", "own-rule.js", "results.js", "arena.js"),
}
BRYTHON = Path(str(distribution("brython").locate_file("brython/data")))
STAND_INS = {
    "__future__": "annotations = None",
    "fairlib": "",
    "fairlib.pages": "",
    "ast": """
from _ast import *

def parse(text):
    return compile(text, "rule", "exec", PyCF_ONLY_AST)

def walk(node):
    waiting = [node]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, list):
            waiting += each
        elif hasattr(each, "_fields"):
            yield each
            waiting += [getattr(each, name, None) for name in each._fields]

def unparse(node):
    return f"{unparse(node.value)}.{node.attr}" if isinstance(node, Attribute) else getattr(node, "id", "that")
""",
    "reader": """
from browser import window
from fairlib.pages.reader_rule import translated
from known import KNOWN

def read(text):
    try:
        made = translated(text, KNOWN)
    except ValueError as error:
        return ["", [], 0, str(error)]
    return [made["script"], made["memory"], made["readers"], ""]

window.fairRead = read
""",
    "collections": "",
    "collections.abc": "Callable = Iterable = object",
    "typing": """
Any = NoReturn = object

class NamedTuple(tuple):
    def __init_subclass__(cls):
        cls._fields = tuple(cls.__annotations__)
        cls._defaults = {name: cls.__dict__[name] for name in cls._fields if name in cls.__dict__}
        for i, name in enumerate(cls._fields):
            setattr(cls, name, property(lambda self, i=i: self[i]))

    def __new__(cls, *given):
        return tuple.__new__(cls, (*given, *(cls._defaults[name] for name in cls._fields[len(given) :])))
""",
}
RECORD = Path("benchmarks") / "arena.json"


def read(root: Path) -> dict[str, Any]:
    """Return what `make arena` wrote."""
    found: dict[str, Any] = json.loads((root / RECORD).read_text(encoding="utf-8"))
    return found


def short(number: float) -> float:
    """Round a number to the digits that the page has.

    >>> short(1234.5678), short(0.0123456)
    (1235.0, 0.01235)
    """
    return float(f"{number:.4g}")


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
    return {"seed": found["seed"], "policies": who, "cells": cells, "fronts": sure}


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


def brython() -> str:
    """Return the modules that read a reader's own rule, for Brython."""
    own = own_contents()
    packages = ("fairlib", "fairlib.pages", "collections")
    # Brython, which would look annotations up, leaves them alone where they are to be text.
    ours = {name: f"from __future__ import annotations\n{text}" for name, text in own["modules"].items()}
    sources = {**STAND_INS, **ours, "known": f"KNOWN = {json.dumps(own['known'])}\n"}
    modules: dict[str, Any] = {name: [".py", text, [], name in packages] for name, text in sources.items()}
    library = (BRYTHON / "brython_stdlib.js").read_text(encoding="utf-8")
    library = library[library.index("{") :]  # one object, by the names of its modules
    modules["_ast"] = json.JSONDecoder().raw_decode(library)[0]["_ast"]
    return assigned("fairOwn", {"$timestamp": 0, **modules})


def assigned(name: str, made: object) -> str:
    """Return a script that gives something a name in the page."""
    return f"window.{name} = {json.dumps(made, separators=(',', ':'))};\n"


def write(app: Sphinx) -> None:
    """Write the scripts."""
    folder, root = Path(app.outdir) / "_static", Path(app.srcdir)
    folder.mkdir(parents=True, exist_ok=True)
    for path in (BRYTHON / "brython.js", root / RECORD):
        shutil.copy(path, folder)
    for name, text in {
        "runtime.js": assigned("fairRuntime", runtime()) + explorers(),
        "playground-games.js": assigned("fairGames", contents()),
        "playground-own.js": brython(),
        "arena-table.js": assigned("fairArena", shortened(read(root))),
        "arena-games.js": assigned("fairArenaGames", games()),
    }.items():
        (folder / name).write_text(text, encoding="utf-8")


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Have a page load what it needs."""
    for mark, files in LOADED.items():
        for name in files if mark in context.get("body", "") else ():
            if name.endswith(".css"):
                app.add_css_file(name)
            else:
                app.add_js_file(name, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
