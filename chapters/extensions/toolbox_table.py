"""The directive ``{tools}``: each tool of the toolbox, what it is for, and the results whose proofs use it.

Its lines, ``label: what it is for``, name every numbered statement of its page, in their order. The last column is read
from the proofs, as their maps are.
"""

import re

from docutils import nodes
from proof_graph import PROVED, feeds
from results import destination, table
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

HEADINGS = ("Tool", "What it is for", "Used for")
WIDTHS = (27, 28, 45)


class tool_table(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Stands for the table until all pages have been read."""


class Tools(SphinxDirective):
    """Tabulate the tools of this page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Leave a place for the table."""
        self.env.note_reread()  # proofs change while this page's own text does not
        return [tool_table("", purpose=dict(line.split(": ", 1) for line in self.content))]


def fill(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the table in its place."""

    def link(label: str, words: str = "") -> nodes.reference:
        target, anchor, name = destination(app, label)
        return make_refnode(app.builder, page, target, anchor, nodes.Text(words or name))

    def number(label: str) -> list[int]:
        return [int(part) for part in re.findall(r"\d+", destination(app, label)[2])]

    for place in list(doctree.findall(tool_table)):
        statements, into = feeds(app.env)
        here = [label for label, said in statements.items() if said["page"] == page and said["kind"] in PROVED]
        if list(place["purpose"]) != here:
            said = f"the tools are {', '.join(here)}, and the table has {', '.join(place['purpose'])}"
            logging.getLogger(__name__).warning(said, location=page)
        rows = []
        for label in here:
            uses = sorted((use for use, named in into.items() if label in named), key=number)
            links = [part for use in uses for part in (link(use), nodes.Text(", "))][:-1]
            purpose = nodes.Text(place["purpose"].get(label, ""))
            rows.append([link(label, statements[label]["title"]), purpose, nodes.inline("", "", *links)])
        place.replace_self(table(HEADINGS, WIDTHS, rows))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("tools", Tools)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
