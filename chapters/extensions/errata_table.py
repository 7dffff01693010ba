"""The directive ``{errata}``: the entries of its page by number, with their places in the papers and their statuses.

A table of Sphinx, written by hand, would have each entry twice.
"""

import re
from pathlib import Path

from docutils import nodes
from results import chip, filters, table
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HEADINGS = ("Entry", "Paper", "Place in the paper", "Status")
WIDTHS = (12, 13, 45, 30)
PAPERS = {"P": "Patil", "F": "Wang", "G": "Grazzi", "D": "Chen"}
ENTRY = re.compile(r"^\*\*(E-([A-Z])\w+)\*\*, (.+?)\n\n.*?^- \*\*Status: (.+?)\*\*", re.MULTILINE | re.DOTALL)


def kind(status: str) -> str:
    """Return how a status looks: it holds, it falls, it is repaired, or no result is concerned.

    >>> kind("holds, sharper"), kind("result holds"), kind("holds once corrected"), kind("no result changes")
    ('holds', 'holds', 'repaired', 'unchanged')
    """
    if status in ("result holds", "holds, sharper"):
        return "holds"
    if status in ("false as stated", "unproved"):
        return "falls"
    return "repaired" if status.startswith("holds") else "unchanged"


class Errata(SphinxDirective):
    """Tabulate the entries."""

    def run(self) -> list[nodes.Node]:
        """Build the table."""
        text = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        rows = []
        for name, letter, place, status in ENTRY.findall(text):
            link = nodes.reference("", name, refid=name.lower(), internal=True)
            place = re.sub(r",? on \{cite.*", "", place)
            rows.append([link, nodes.Text(PAPERS[letter]), nodes.Text(place), chip(status, kind(status))])
        made = table(HEADINGS, WIDTHS, rows)
        made["classes"].append("filtered")
        return [*filters(("Paper", 1), ("Status", 3)), made]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("errata", Errata)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
