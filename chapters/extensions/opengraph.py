"""Description of each page in its head: tags for social cards, and the description that search engines read.

The description is the page's first paragraph without formulas. A picture needs the book's public address, which is
``html_baseurl``. The library sphinxext-opengraph is not used: it cuts a description within a word, puts headings and
labels into it, and writes an address that is not absolute where ``html_baseurl`` is not set.
"""

from html import escape
from typing import Any

import cover
from docutils import nodes
from sphinx.application import Sphinx

LENGTH = 200


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Add the description of a page to its head."""
    if doctree is None:
        return
    paragraphs = (node.astext() for node in doctree.findall(nodes.paragraph) if not any(node.findall(nodes.math)))
    text = " ".join(next(paragraphs, "").split())
    if len(text) > LENGTH:
        text = text[:LENGTH].rsplit(" ", 1)[0] + " …"
    tags = {"og:type": "article", "og:site_name": app.config.html_title, "og:title": context["title"]}
    if text:
        tags["og:description"] = text
        context["metatags"] += f'<meta name="description" content="{escape(text)}">\n'
    cards = {"twitter:card": "summary"}
    if app.config.html_baseurl:
        tags |= {"og:url": context["pageurl"], "og:image": app.config.html_baseurl + cover.CARD}
        tags |= {"og:image:width": str(cover.CARD_SIZE[0]), "og:image:height": str(cover.CARD_SIZE[1])}
        tags["og:image:alt"] = "Fair bandits: whom two policies show, round by round"
        cards["twitter:card"] = "summary_large_image"
    for kind, named in (("property", tags), ("name", cards)):
        for name, said in named.items():
            context["metatags"] += f'<meta {kind}="{name}" content="{escape(said)}">\n'


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", describe)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
