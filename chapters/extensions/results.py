"""The directive ``{results} N``: each numbered item of paper N, its place in the book, its test and the outcome.

The items are in ``chapters/items.csv``. An item's place is the label that equals its id. A test is named as pytest
names it; a name without the brackets of a parametrised test stands for all its cases, and several names are separated
by semicolons. For a figure or an experiment the column ``data`` says what it was run on.
"""

import csv
import pathlib
from collections.abc import Iterable, Sequence

import outcomes
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

HEADINGS = ("In the paper", "In the book", "Run on", "Checked by", "Outcome")
WIDTHS = (18, 24, 14, 29, 15)


class place(nodes.Inline, nodes.TextElement):  # noqa: N801 (docutils names its nodes so)
    """Stands for the link to an item until all pages have been read."""


def read_items(root: pathlib.Path) -> list[dict[str, str]]:
    """Return the items of the papers; the column ``data`` is empty unless something was run."""
    with (root / "chapters" / "items.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, restval=""))


class Results(SphinxDirective):
    """Tabulate the items of one paper."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Build the table, with a ``place`` for each link."""
        root = pathlib.Path(self.env.srcdir)
        known = outcomes.known(root)
        self.env.note_reread()  # outcomes and labels change while this page's own text does not
        rows = []
        for item in read_items(root):
            if item["paper"] != self.arguments[0]:
                continue
            tests = outcomes.tests_of(item)
            names = [part for test in tests for part in in_words(test)] or [nodes.emphasis("", "none yet")]
            outcome = outcomes.verdict(tests, known)
            cells = [
                nodes.Text(item["number"]),
                place("", label=item["id"]),
                nodes.Text(item["data"]),
                nodes.inline("", "", *names),
                nodes.inline(outcome, outcome, classes=["outcome", *outcome.split()[:1]]),
            ]
            rows.append(cells)
        if not rows:
            raise self.error(f"no item of paper {self.arguments[0]!r} in items.csv")
        return [table(HEADINGS, WIDTHS, rows)]


def in_words(test: str) -> list[nodes.Node]:
    """Write the name of a test so that a narrow column can break it: its file, and what it says.

    >>> [part.astext() for part in in_words("tests/test_shares.py::test_the_promise_is_kept")]
    ['tests/test_shares.py', 'the promise is kept']
    """
    file, _, name = test.partition("::")
    return [nodes.literal(file, file), nodes.Text(name.removeprefix("test_").replace("_", " "))]


def table(headings: Sequence[str], widths: Sequence[int], rows: Iterable[Iterable[nodes.Node]]) -> nodes.table:
    """Make a table from its headings, the widths of its columns, and the contents of its cells, row by row."""

    def row(cells: Iterable[nodes.Node]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))

    columns = [nodes.colspec("", colwidth=width) for width in widths]
    head, body = nodes.thead("", row(map(nodes.Text, headings))), nodes.tbody("", *map(row, rows))
    group = nodes.tgroup("", *columns, head, body, cols=len(headings))
    return nodes.table("", group, classes=["results", "colwidths-given"])


def destination(app: Sphinx, label: str) -> tuple[str, str, str]:
    """Return the page that has a label, the anchor there, and the name of what is there."""
    domain = app.env.get_domain("std")
    statements = getattr(app.env, "proof_list", {})  # labels given as an option of a theorem
    page, anchor = domain.anonlabels.get(label) or (statements[label]["docname"], label)  # type: ignore[attr-defined]
    statement = statements.get(anchor) or statements.get(label)
    if statement:
        number = app.env.toc_fignumbers[page][statement["countertype"]][statement["label"]]
        return page, anchor, f"{statement['realtype'].capitalize()} {'.'.join(map(str, number))}"
    if label in domain.labels:  # type: ignore[attr-defined]
        return page, anchor, domain.labels[label][2].strip().removeprefix("(").removesuffix(")")  # type: ignore[attr-defined]
    return page, anchor, app.env.titles[page].astext()


def link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turn each ``place`` into a link to the page that has its label, named after what is there."""
    for node in list(doctree.findall(place)):
        target, anchor, name = destination(app, node["label"])
        chapter = app.env.titles[target].astext()
        name = name if name == chapter else f"{name}, {chapter}"
        node.replace_self(make_refnode(app.builder, page, target, anchor, nodes.Text(name)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("results", Results)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
