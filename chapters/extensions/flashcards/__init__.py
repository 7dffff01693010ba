"""Flash cards of what each chapter wants remembered: a page of cards, and a deck for programs such as Anki.

The directive ``{cards}`` makes a card from each point of each *Remember*, whose question is a comment behind it. The
same cards are in ``_static/fair-bandits-cards.txt``, which Anki imports. No maintained extension of Sphinx makes cards.
"""

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

DECK = "fair-bandits-cards.txt"
STATIC = Path(__file__).parent / "static"


class Chapter(NamedTuple):
    """A chapter that has something to remember, and its points with their questions."""

    name: str
    title: str
    points: list[tuple[str, str]]


def chapters(root: Path) -> list[Chapter]:
    """Return the chapters that have a *Remember*, in the order of the book.

    >>> [chapter.name for chapter in chapters(Path(__file__).parents[3])][:3]
    ['bandits', 'shares', 'exposure']
    """
    found = []
    for name in re.findall(r"file: chapters/(\S+)", (root / "_toc.yml").read_text(encoding="utf-8")):
        text = (root / "chapters" / f"{name}.md").read_text(encoding="utf-8")
        part = re.search(r"^## Remember\n\n((?:[*] .*\n(?:  .*\n)*)+)", text, re.MULTILINE)
        title = re.search(r"^# (.*)$", text, re.MULTILINE)
        if part and title:
            points = re.split(r"^[*] ", part[1], flags=re.MULTILINE)[1:]
            parts = (" ".join(point.split()).removesuffix(" -->").partition(" <!-- ") for point in points)
            found.append(Chapter(name, title[1], [(said, asked) for said, _, asked in parts]))
    return found


def in_html(point: str) -> str:
    r"""Return a point in the form that card programs read.

    >>> in_html("*Now* $x < 1$, {py:func}`fairlib.trace`")
    '<i>Now</i> \\(x &lt; 1\\), fairlib.trace'
    """
    point = re.sub(r"\{[\w:]+\}`([^`]*)`", r"\1", escape(point, quote=False))
    parts = re.split(r"\$([^$]+)\$", point)
    parts[::2] = [re.sub(r"\*([^*]+)\*", r"<i>\1</i>", part) for part in parts[::2]]
    parts[1::2] = [rf"\({part}\)" for part in parts[1::2]]
    return "".join(parts)


def deck(root: Path) -> str:
    """Return the cards as a text: one card a line, with tabs between question, answer and chapter."""
    lines = ["#separator:tab", "#html:true", "#tags column:3"]
    for chapter in chapters(root):
        for said, asked in chapter.points:
            lines.append(f"{escape(asked, quote=False)}\t{in_html(said)}\tfair-bandits::{chapter.name}")
    return "\n".join(lines) + "\n"


class Cards(SphinxDirective):
    """Lay the cards of all chapters on the page."""

    def run(self) -> list[nodes.Node]:
        """Make a box for each card, which opens to show its answer."""
        root = Path(self.env.srcdir)
        made: list[nodes.Node] = []
        for chapter in chapters(root):
            self.env.note_dependency(str(root / "chapters" / f"{chapter.name}.md"))
            made.append(nodes.rubric("", chapter.title))
            for i, (said, asked) in enumerate(chapter.points):
                card = f'class="fair-card" data-card="{chapter.name}-{i}"'
                head = f"<details {card}><summary>{escape(asked)}</summary>"
                made.append(nodes.raw("", head, format="html"))
                answer = nodes.container()
                self.state.nested_parse(StringList([said], "chapters/cards.md"), self.content_offset, answer)
                made += [*answer.children, nodes.raw("", "</details>\n", format="html")]
        return made


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the deck beside the pages."""
    if not error and app.builder.format == "html":
        (Path(app.outdir) / "_static" / DECK).write_text(deck(Path(app.srcdir)), encoding="utf-8")


def add_static(app: Sphinx) -> None:
    """Add the folder of the script to those that are copied into the book."""
    app.config.html_static_path.append(str(STATIC))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("cards", Cards)
    app.add_js_file("cards.js", loading_method="defer")
    app.connect("builder-inited", add_static)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
