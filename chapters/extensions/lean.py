"""Leave out of the pages what the theme loads and they don't use, and tell the browser what it may lay out later.

The theme brings icons twice, as a script and as a font, of which the pages show fifteen, drawn in `icons.css`.
It also loads Sphinx's search index on every page; the search of the book loads its own when it is asked.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.addnodes import desc
from sphinx.application import Sphinx
from sphinx.util import logging

UNUSED = re.compile(
    r"\s*(?:<!-- So that users can add custom icons -->\s*)?"
    r"<script[^>]*(?:fontawesome|searchindex|sphinx-thebe)\.js[^>]*></script>"
    r"|<script>[^<]*THEBE[^<]*</script>|<link[^>]*sphinx-thebe\.css[^>]*>"
)
SEARCH = re.compile(r'\s*<script[^>]*src="[^"]*(searchtools|language_data)\.js[^"]*"></script>')
TABS = re.compile(r'\s*<script[^>]*src="[^"]*design-tabs\.js[^"]*"></script>')

# The theme measures each box of code as a page is opened, which lays out all of it; `book.js` measures what is near.
MEASURED = re.compile(r'\["pre",".nboutput > .output_area",[^]]*\]')
NOTHING = '["[data-none]"]'
ICON_RULE = re.compile(r"(?<=[{}/])(?:\.fa[srb]?(?:[^\w{}][^{}]*)?|@font-face)\{[^{}]*\}")
PICTURE, FORMULA, ROW = 700, 150, 60  # as high as so many letters


def letters(node: nodes.Node) -> int:
    """Return how many letters of text are as high as what is shown of a part of a page.

    >>> letters(nodes.section("", nodes.title("", "A"), nodes.paragraph("", "", nodes.Text("four"))))
    5
    """
    classes = set(node.get("classes", ())) if isinstance(node, nodes.Element) else set()
    if isinstance(node, HideCodeCellNode) or "dropdown" in classes:
        return ROW
    if isinstance(node, nodes.raw):
        return PICTURE if "fair-explorer" in node.astext() else ROW * node.astext().count("<tr>")
    if isinstance(node, nodes.image):
        return PICTURE
    if isinstance(node, nodes.math_block):
        return FORMULA
    if isinstance(node, nodes.math):
        return 5
    if isinstance(node, nodes.Text):
        return len(node)
    below = sum(map(letters, node.children))
    return ROW + below if isinstance(node, nodes.row) else 3 * below // 2 if isinstance(node, desc) else below


def guess(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Say in the head of a page how long its sections are, for the browser to guess their heights."""
    if doctree is None:
        return
    sections = [part for top in doctree.findall(nodes.section) if top.parent is doctree for part in top.children]
    long = {part["ids"][0]: letters(part) for part in sections if isinstance(part, nodes.section)}
    rules = "".join(f'[id="{name}"]{{--letters:{count}}}' for name, count in long.items())
    if rules:
        context["metatags"] = context.get("metatags", "") + f"\n<style>{rules}</style>"


def strip(app: Sphinx, error: Exception | None) -> None:
    """Take out of pages, of the theme's style and of its script what is not used."""
    if error or app.builder.name != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        text = UNUSED.sub("", page.read_text(encoding="utf-8"))
        if page.name != "search.html":
            text = SEARCH.sub("", text)
        if "sd-tab-set" not in text:
            text = TABS.sub("", text)
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
    app.connect("html-page-context", guess, priority=900)
    app.connect("build-finished", strip, priority=200)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
