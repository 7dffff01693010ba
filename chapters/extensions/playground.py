"""The playground: the scripts and numbers of its games, and the modules that read a reader's own rule.

No package has such a page. Only the page with the attribute ``data-playground`` loads them. A reader's rule is read by
Brython, Python in JavaScript, which that page loads when a reader writes one. Of Python's library Brython gets only
the syntax trees, and stand-ins for the little else that the translator imports.
"""

import json
import shutil
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from fairlib.pages.playground import contents, own_contents

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


def write(app: Sphinx) -> None:
    """Write the scripts."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    games = json.dumps(contents(), separators=(",", ":"))
    (folder / "playground-games.js").write_text(f"window.fairGames = {games};\n", encoding="utf-8")
    shutil.copy(BRYTHON / "brython.js", folder)
    own = own_contents()
    packages = ("fairlib", "fairlib.pages", "collections")
    # Brython, which would look annotations up, leaves them alone where they are to be text.
    ours = {name: f"from __future__ import annotations\n{text}" for name, text in own["modules"].items()}
    sources = {**STAND_INS, **ours, "known": f"KNOWN = {json.dumps(own['known'])}\n"}
    modules: dict[str, Any] = {name: [".py", text, [], name in packages] for name, text in sources.items()}
    library = (BRYTHON / "brython_stdlib.js").read_text(encoding="utf-8")
    library = library[library.index("{") :]  # one object, by the names of its modules
    modules["_ast"] = json.JSONDecoder().raw_decode(library)[0]["_ast"]
    text = json.dumps({"$timestamp": 0, **modules}, separators=(",", ":"))
    (folder / "playground-own.js").write_text(f"window.fairOwn = {text};\n", encoding="utf-8")


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Have a page load it."""
    if "data-playground" in context.get("body", ""):
        app.add_css_file("playground.css")
        app.add_js_file("playground-games.js", loading_method="defer")
        for name in ("own-rule.js", "results.js", "playground.js"):
            app.add_js_file(name, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
