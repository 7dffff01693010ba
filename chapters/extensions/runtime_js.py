"""Script of the pages that compute: the runtime of their workers, and what moves the explorers.

The explorers are the book's own. A worker that is to start from a page on a disk is made from a text, so the script
has the runtime as a text. Only pages that have something live in them, which the attribute ``data-live`` says, load
it.
"""

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from fairlib.pages.scripts import explorers, runtime

FILE = "runtime.js"


def write(app: Sphinx) -> None:
    """Write the script."""
    folder = Path(app.outdir) / "_static"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"window.fairRuntime = {json.dumps(runtime())};\n{explorers()}"
    (folder / FILE).write_text(text, encoding="utf-8")


def load(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Have a page load it."""
    if "data-live" in context.get("body", ""):
        app.add_js_file(FILE, loading_method="defer")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", write)
    app.connect("html-page-context", load, priority=400)  # before playground.js, in a page that has both
    return {"parallel_read_safe": True, "parallel_write_safe": True}
