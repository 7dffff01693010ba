"""Input fields for the numbers that exercises ask for (``chapters/answers.csv``).

Each row has an answer, its tolerance, and the calculation that gives it; where there is none, the solution's cell
prints the answer. ``tests/test_reference_part.py`` compares them. Without scripts nothing is shown.
"""

import csv
from fractions import Fraction
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


def read(root: Path) -> list[dict[str, str]]:
    """Return what is asked, row by row."""
    with (root / "chapters" / "answers.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, restval=""))


def value(answer: str) -> float:
    """Return the number that an answer is.

    >>> value("5/8"), value("-0.217")
    (0.625, -0.217)
    """
    return float(Fraction(answer))


class Answers(SphinxTransform):
    """Put a form at the end of each exercise that asks for numbers."""

    default_priority = 810

    def apply(self, **kwargs: object) -> None:
        """Go through a page."""
        asked: dict[str, list[dict[str, str]]] = {}
        for row in read(Path(self.env.srcdir)):
            asked.setdefault(row["exercise"], []).append(row)
        for node in list(self.document.findall(nodes.Element)):
            if "exercise" in node.get("classes", []) and (rows := asked.get(node.get("label", ""))):
                node += nodes.raw("", form(rows), format="html")


def form(rows: list[dict[str, str]]) -> str:
    """Return a form that asks for numbers."""
    places = "".join(
        f"<p><label>{escape(row['asked'][0].upper() + row['asked'][1:])} "
        f'<input type="text" inputmode="decimal" autocomplete="off" size="9" data-answer="{value(row["answer"])!r}" '
        f'data-within="{float(row["within"])!r}"></label> <output></output></p>'
        for row in rows
    )
    return f'<template class="answers"><form class="fair-answers">{places}</form></template>\n'


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_transform(Answers)
    app.add_js_file("answers.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
