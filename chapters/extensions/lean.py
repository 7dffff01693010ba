"""Leave out of the pages what the theme loads and they don't use: 1.2 MB before a page could be read.

The theme has no setting for it. It brings icons twice, as a script and as a font, of which the pages show some twenty,
drawn in `icons.css`. It also loads Sphinx's search index on every page; the search of the book loads its own when it is
asked.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

UNUSED = re.compile(
    r"\s*(?:<!-- So that users can add custom icons -->\s*)?"
    r"<script[^>]*(?:fontawesome|searchindex|sphinx-thebe|design-tabs)\.js[^>]*></script>"
    r"|<script>[^<]*THEBE[^<]*</script>|<link[^>]*sphinx-thebe\.css[^>]*>"
)
SEARCH = re.compile(r'\s*<script[^>]*src="[^"]*(searchtools|language_data)\.js[^"]*"></script>')

# The theme measures each box of code as a page is opened, which lays out all of it; `book.js` measures what is near.
MEASURED = re.compile(r'\["pre",".nboutput > .output_area",[^]]*\]')
NOTHING = '["[data-none]"]'
ICON_RULE = re.compile(r"(?<=[{}/])(?:\.fa[srb]?(?:[^\w{}][^{}]*)?|@font-face)\{[^{}]*\}")


def strip(app: Sphinx, error: Exception | None) -> None:
    """Take out of pages, of the theme's style and of its script what is not used."""
    if error or app.builder.name != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = UNUSED.sub("", page.read_text(encoding="utf-8"))
        if page.name != "search.html":
            text = SEARCH.sub("", text)
        page.write_text(text, encoding="utf-8")
    static = Path(app.outdir) / "_static"
    style = static / "styles" / "pydata-sphinx-theme.css"
    style.write_text(ICON_RULE.sub("", style.read_text(encoding="utf-8")), encoding="utf-8")
    script = static / "scripts" / "pydata-sphinx-theme.js"
    text = script.read_text(encoding="utf-8")
    text = MEASURED.sub(NOTHING, text)
    if NOTHING not in text:
        logging.getLogger(__name__).warning("the theme's script no longer measures boxes as it did: see lean.py")
    script.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx: what is stripped is not read by what comes later."""
    app.connect("build-finished", strip, priority=200)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
