"""The playground: the scripts and numbers of its games, and what reads a reader's own rule.

Only the page that has it, which the attribute ``data-playground`` says, loads them.
"""

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from fairlib.page.playground import contents


def write(app: Sphinx) -> None:
    """Write the script."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    games = json.dumps(contents(), separators=(",", ":"))
    (folder / "playground-games.js").write_text(f"window.fairGames = {games};\n", encoding="utf-8")


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Have a page load it."""
    if "data-playground" in context.get("body", ""):
        app.add_css_file("playground.css")
        app.add_js_file("playground-games.js", loading_method="defer")
        app.add_js_file("playground.js", loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
