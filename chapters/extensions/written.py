"""Which pages a build has written, and what was made of the others when they were.

A build writes the pages whose text or outputs have changed. What other extensions read from a page (its links, the
contents of its places and its search entries) is kept until it is written again.
"""

import json
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

WRITTEN: list[Path] = []
"""The files written since the last build that came to its end."""

MADE: dict[str, dict[str, Any]] = {}
"""By the names of pages, what was made of them; of those that were written there is nothing yet."""


def file(app: Sphinx) -> Path:
    """Return where what was made of pages is kept: beside what was read, so that it is dropped with that."""
    return Path(app.doctreedir) / "pages.json"


def begin(app: Sphinx, error: Exception | None) -> None:
    """Look which pages were written."""
    if error or app.builder.name != "html":
        return
    out, kept = Path(app.outdir), file(app)
    before = kept.stat().st_mtime_ns if kept.exists() else 0
    WRITTEN[:] = [page for page in out.rglob("*.html") if page.stat().st_mtime_ns > before]
    MADE.clear()
    if kept.exists():
        stand = json.loads(kept.read_text(encoding="utf-8"))
        new = {page for page in app.env.found_docs if out / f"{page}.html" in WRITTEN}
        MADE.update({page: stand[page] for page in stand.keys() & app.env.found_docs - new})


def end(app: Sphinx, error: Exception | None) -> None:
    """Keep what was made."""
    if not error and app.builder.name == "html":
        file(app).write_text(json.dumps(MADE), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, before and after all that reads and changes pages."""
    app.connect("build-finished", begin, priority=100)
    app.connect("build-finished", end, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
