"""The directives ``{chapters}``, a table of the chapters, and ``{needs}``, a list of what each chapter needs.

No package counts words, or reads what a chapter says of itself. The lines of ``{chapters}``, ``chapter: what it is
about``, name every numbered chapter in the order of the book. A reading time is counted from the words of a chapter,
exercises and appendices left out. What a chapter needs is read from the box at its top, after *You need*; what stands
after *In parts* is needed for some of its sections only.
"""

import posixpath
import re
from typing import Any

from docutils import nodes
from results import table
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

HEADINGS = ("", "Chapter", "What it is about", "Reading time")
WIDTHS = (5, 27, 52, 16)
PACE = 100  # words and formulas a minute
FORMULA = 10  # words that take as long as a displayed formula
SKIPPED = re.compile(r"Exercises|Appendix|Notes")  # headings of sections that a first reader can leave out
NEEDED, IN_PARTS = "You need", "In parts"


class chapter_table(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Stands for the table until all pages have been read."""


class need_list(nodes.General, nodes.Element):  # noqa: N801
    """Stands for the list until all pages have been read."""


class Chapters(SphinxDirective):
    """Tabulate the chapters."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Leave a place for the table."""
        self.env.note_reread()  # chapters change while this page's own text does not
        return [chapter_table("", about=dict(line.split(": ", 1) for line in self.content))]


class Needs(SphinxDirective):
    """List which chapter needs which."""

    def run(self) -> list[nodes.Node]:
        """Leave a place for the list."""
        self.env.note_reread()
        return [need_list("")]


def read(app: Sphinx, doctree: nodes.document) -> None:
    """Note the words of a page, and what the box at its top says that it needs."""
    labels: dict[str, bool] = {}
    part = ""
    for node in doctree.findall(lambda node: isinstance(node, (nodes.strong, pending_xref))):
        if isinstance(node, nodes.strong):
            in_a_box = isinstance(node.parent.parent, nodes.Admonition)
            part = " ".join(node.astext().split()).rstrip(".") if in_a_box else ""
        elif part in (NEEDED, IN_PARTS) and node["reftype"] in ("ref", "numref"):
            labels.setdefault(node["reftarget"], part == NEEDED)
    app.env.fair_overview[app.env.docname] = (words(doctree), labels)  # type: ignore[attr-defined]


def words(node: nodes.Node) -> int:
    """Count the words and formulas of a page or part; exercises, notes, appendices and cells have none."""
    if isinstance(node, nodes.section) and SKIPPED.match(node[0].astext()):
        return 0
    if isinstance(node, nodes.container) and "cell" in node["classes"]:
        return 0
    if isinstance(node, (nodes.literal_block, nodes.raw, nodes.comment)):
        return 0
    if isinstance(node, nodes.math_block):
        return FORMULA
    if isinstance(node, nodes.TextElement):
        return len(node.astext().split())
    return sum(map(words, node.children))


def numbered(app: Sphinx) -> dict[str, int]:
    """Return the chapters in the order of the book, with their numbers."""
    numbers = app.env.toc_secnumbers
    found = {page: at[""][0] for page, at in numbers.items() if at.get("")}
    return dict(sorted(found.items(), key=lambda item: item[1]))


def minutes(count: int) -> int:
    """Return a reading time, to the next five minutes.

    >>> minutes(4020)
    45
    """
    return -(-count // (5 * PACE)) * 5


def needs(app: Sphinx, pages: dict[str, int]) -> dict[str, dict[str, bool]]:
    """Return for each chapter the chapters that it needs, and whether throughout."""
    labels: dict[str, Any] = app.env.get_domain("std").anonlabels  # type: ignore[attr-defined]
    found: dict[str, dict[str, bool]] = {}
    for page in pages:
        named = {labels[label][0]: whole for label, whole in app.env.fair_overview[page][1].items() if label in labels}  # type: ignore[attr-defined]
        found[page] = {each: whole for each, whole in named.items() if each in pages and each != page}
    return found


def overview(app: Sphinx, page: str, about: dict[str, str]) -> nodes.Node:
    """Return the table of the chapters."""
    pages = numbered(app)
    named = [posixpath.join(posixpath.dirname(page), name) for name in about]
    if named != list(pages):
        said = f"the table names {', '.join(named)}, and the numbered chapters are {', '.join(pages)}"
        logging.getLogger(__name__).warning(said, location=page)
    rows = []
    for target, number in pages.items():
        time = f"{minutes(app.env.fair_overview[target][0])} min"  # type: ignore[attr-defined]
        link = make_refnode(app.builder, page, target, "", nodes.Text(app.env.titles[target].astext()))
        line = about.get(posixpath.basename(target), "")
        rows.append([nodes.Text(str(number)), link, nodes.Text(line), nodes.Text(time)])
    return table(HEADINGS, WIDTHS, rows)


def outline(app: Sphinx, page: str) -> nodes.Node:
    """Return a list that says of each chapter what it needs."""
    pages = numbered(app)

    def links(targets: list[str]) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for each in targets:
            said = f"{pages[each]}. {app.env.titles[each].astext()}"
            found += [nodes.Text(", "), make_refnode(app.builder, page, each, "", nodes.Text(said))]
        return found[1:]

    made = nodes.bullet_list()
    for each, before in needs(app, pages).items():
        whole = [other for other in before if before[other]]
        parts = [other for other in before if not before[other]]
        line = nodes.paragraph("", "", *links([each]), nodes.Text(" needs "), *links(whole))
        line += [] if whole else [nodes.Text("no other chapter")]
        line += [nodes.Text(", in parts "), *links(parts)] if parts else []
        line += nodes.Text(".")
        made += nodes.list_item("", line)
    return made


def resolve(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put tables and lists in their places."""
    for place in list(doctree.findall(chapter_table)):
        place.replace_self(overview(app, page, place["about"]))
    for place in list(doctree.findall(need_list)):
        place.replace_self(outline(app, page))


def begin(app: Sphinx) -> None:
    """Keep what is noted with the environment."""
    if not hasattr(app.env, "fair_overview"):
        app.env.fair_overview = {}  # type: ignore[attr-defined]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("chapters", Chapters)
    app.add_directive("needs", Needs)
    app.connect("builder-inited", begin)
    app.connect("doctree-read", read)
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
