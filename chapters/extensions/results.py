"""The directive ``{results}``: each item of the papers and of the book, its place and its tests.

They are in ``chapters/items.csv``; a table of Sphinx would show neither links nor names of labels. An item's place is
the label that equals its id. A test is named as pytest names it; a name without the brackets of a parametrised test
stands for all its cases, and several names are separated by semicolons. For a figure or an experiment the column
``data`` says what it was run on.
"""

import csv
import pathlib
from collections.abc import Iterable, Sequence
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

HEADINGS = ("Paper", "Item", "In the book", "Kind, data", "Tests")
WIDTHS = (9, 21, 40, 16, 14)
SIGNS = {"holds": "✓", "falls": "✗", "repaired": "+"}  # any other: a ring


class place(nodes.Inline, nodes.TextElement):  # noqa: N801 (docutils names its nodes so)
    """Stands for the link to an item until all pages have been read."""


def read_items(root: pathlib.Path) -> list[dict[str, str]]:
    """Return the items; the column ``data`` is empty unless something was run."""
    with (root / "chapters" / "items.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def tests_of(row: dict[str, str]) -> list[str]:
    """Return the names of the tests that a row of a table names."""
    return [test.strip() for test in row["test"].split(";") if test.strip()]


def chip(text: str, kind: str) -> nodes.inline:
    """Return a status as a sign and words."""
    sign = nodes.raw("", f'<span aria-hidden="true">{SIGNS.get(kind, "○")}</span> ', format="html")
    return nodes.inline("", "", sign, nodes.Text(text), classes=["chip", kind])


class Results(SphinxDirective):
    """Tabulate the items."""

    def run(self) -> list[nodes.Node]:
        """Build the table, with a ``place`` for each link."""
        root = pathlib.Path(self.env.srcdir)
        self.env.note_reread()  # tests and labels change while this page's own text does not
        rows, named = [], []
        for item in read_items(root):
            named.append(tests_of(item))
            what = nodes.inline("", item["kind"] + (f", {item['data']}" if item["data"] else ""))
            rows.append(
                [
                    nodes.Text(item["paper"]),
                    nodes.Text(item["number"]) if item["number"] else place("", label=item["id"], titled=True),
                    place("", label=item["id"]),
                    what,
                    nodes.Text("" if named[-1] else "none"),
                ]
            )
        made = table(HEADINGS, WIDTHS, rows)
        made["classes"].append("filtered")
        for row, names in zip(list(made.findall(nodes.row))[1:], named, strict=True):
            row[-1] += folded(names)
        said = f"{len(named)} items, {sum(map(bool, named))} of them with a test of their own."
        return [nodes.paragraph("", "", nodes.strong("", said)), *filters(("Paper", 0)), made]


def filters(*columns: tuple[str, int]) -> list[nodes.Node]:
    """Return the controls with which ``filters.js`` filters the table below: by some columns, and by words."""
    choices = "".join(
        f'<label>{name} <select name="{name.lower()}" data-column="{column}">'
        '<option value="">all</option></select></label>'
        for name, column in columns
    )
    words = '<label>Words <input type="search" name="words"></label>'
    form = f'<form class="filters" hidden>{choices}{words} <output></output></form>\n'
    return [nodes.raw("", form, format="html")]


def folded(tests: list[str]) -> list[nodes.Node]:
    """Return the names of tests, folded."""
    if not tests:
        return []
    count = f"{len(tests)} test{'s' if len(tests) > 1 else ''}"
    names = "<br>".join(f"<code>{escape(test)}</code>" for test in tests)
    return [nodes.raw("", f"<details><summary>{count}</summary>{names}</details>", format="html")]


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
        if node.get("titled"):
            said = getattr(app.env, "fair_statements", {}).get(target, {}).get(node["label"], {})  # see proof_graph.py
            node.replace_self(nodes.Text(said.get("title") or name))
            continue
        node.replace_self(make_refnode(app.builder, page, target, anchor, nodes.Text(name)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("results", Results)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
