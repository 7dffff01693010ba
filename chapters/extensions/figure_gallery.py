"""The directive ``{every-figure} N``: for each figure of paper N the paper's words, and our picture and numbers.

``chapters/figures.csv`` says what the paper says, and how many rounds and runs a figure shows. Pictures are taken from
the executed chapters, by the name of a figure or of a cell; numbers are what the cells print that
``chapters/items.csv`` names.
"""

import csv
import re
from collections.abc import Iterator
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import NamedTuple

import printing
from docutils import nodes
from docutils.statemachine import StringList
from execution import code_cells, is_notebook
from nbformat import NotebookNode
from results import place, read_items, tests_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "_static/figures"


class Picture(NamedTuple):
    """A picture that a cell made, and where it is."""

    address: str
    kind: str
    data: bytes
    said: str


def claims(root: Path) -> dict[str, dict[str, str]]:
    """Return what the papers say of their figures, and the names of our pictures."""
    with (root / "chapters" / "figures.csv").open(newline="", encoding="utf-8") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def pictures(page: str, found: list[NotebookNode]) -> Iterator[tuple[str, Picture]]:
    """Return the pictures of a chapter with the names of their figures, or of their cells."""
    for cell in found:
        about = cell.metadata.get("mystnb", {})
        figure = about.get("figure", {}).get("name")
        name, address = figure or cell.metadata.get("name", ""), f"{page}.html#{figure}" if figure else f"{page}.html"
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/svg+xml" in data:
                said = " ".join(about.get("image", {}).get("alt", "").split())
                yield name, Picture(address, "svg", data["image/svg+xml"].encode(), said)
            elif "text/html" in data and (image := re.search(r"<img\b[^>]*>", data["text/html"])):
                source, alt = (re.search(rf'\b{part}="([^"]*)"', image[0]) for part in ("src", "alt"))
                if source and alt:
                    yield name, Picture(address, *printing.picture(unescape(source[1])), unescape(alt[1]))


def numbers(cell: NotebookNode) -> str:
    """Return what a cell printed, and its table, as HTML."""
    said = "".join(output.text for output in cell.outputs if output.output_type == "stream")
    tables = "".join(output.get("data", {}).get("text/html", "") for output in cell.outputs)
    return (f'<div class="output stream"><pre>{escape(said)}</pre></div>' if said else "") + (
        f'<div class="output text_html">{tables}</div>' if tables else ""
    )


def size(said: dict[str, str]) -> str:
    """Say of how many rounds and runs a figure is made, as far as the paper's text tells, and ours as far as it is one.

    >>> size({"rounds": "500", "runs": "", "book": "500 by 20; 900 by 20"})
    " Rounds by runs: 500 by 20; 900 by 20. The paper's text says: rounds 500."
    >>> size({"rounds": "", "runs": "10", "book": ""})
    " The paper's text says: runs 10."
    >>> size({"rounds": "", "runs": "", "book": ""})
    ''
    """
    theirs = ", ".join(f"{what} {said[what]}" for what in ("rounds", "runs") if said[what])
    ours = f" Rounds by runs: {said['book']}." if said["book"] else ""
    return ours + (f" The paper's text says: {theirs}." if theirs else "")


class EveryFigure(SphinxDirective):
    """Show the figures of one paper."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Make a part of the page for each figure."""
        root = Path(self.env.srcdir)
        self.env.note_reread()  # what was executed changes while this page's own text does not
        said = claims(root)
        made: list[nodes.Node] = []
        for item in read_items(root):
            if item["paper"] != self.arguments[0] or item["id"] not in said:
                continue
            made.append(nodes.rubric("", item["number"]))
            claim = nodes.container()
            text = f"*The paper:* {said[item['id']]['claim']}"
            self.state.nested_parse(StringList([text], "chapters/figures.csv"), self.content_offset, claim)
            made += claim.children
            on = "" if item["data"] == "a drawing" else f" Run on: {item['data']}."
            ours = [
                nodes.emphasis("", "Here: "),
                place("", label=item["id"]),
                nodes.Text(f".{on}{size(said[item['id']])}"),
            ]
            made.append(nodes.paragraph("", "", *ours))
            made += self.shown(root, item, said[item["id"]])
        if not made:
            raise self.error(f"no figure of paper {self.arguments[0]!r} in figures.csv")
        return made

    def shown(self, root: Path, item: dict[str, str], said: dict[str, str]) -> Iterator[nodes.Node]:
        """Return the pictures of a figure, and the numbers."""
        if self.env.app.builder.name == "notebooks":
            return  # for which nothing was executed
        drawn = gallery(root)
        for name in filter(None, map(str.strip, said["pictures"].split(";"))):
            if name not in drawn:
                raise self.error(f"no executed cell of a chapter draws {name!r}")
            source = f"../{FOLDER}/{name}.{drawn[name].kind}"
            image = f'<img src="{source}" alt="{escape(drawn[name].said)}" loading="lazy">'
            link = f'<a href="{drawn[name].address}">{image}</a>'
            yield nodes.raw("", f'<p class="fair-thumb">{link}</p>\n', format="html")
        for test in tests_of(item):
            page, _, name = test.removeprefix("chapters/").partition(".md::")
            for cell in code_cells(root / "chapters" / f"{page}.md") if name else []:
                if cell.metadata.get("name") == name:
                    yield nodes.raw("", f'<div class="cell_output">{numbers(cell)}</div>\n', format="html")


@cache
def gallery(root: Path) -> dict[str, Picture]:
    """Return all pictures that ``figures.csv`` names."""
    wanted = {name.strip() for row in claims(root).values() for name in row["pictures"].split(";") if name.strip()}
    chapters = [path for path in sorted((root / "chapters").glob("*.md")) if is_notebook(path)]
    return {name: each for path in chapters for name, each in pictures(path.stem, code_cells(path)) if name in wanted}


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the pictures beside the pages."""
    if error or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, each in gallery(Path(app.srcdir)).items():
        (folder / f"{name}.{each.kind}").write_bytes(each.data)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("every-figure", EveryFigure)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
