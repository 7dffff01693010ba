"""The directive ``{answers}`` within an exercise: input fields for the numbers that it asks for.

A line has what is asked, the answer with its tolerance, and the calculation that gives it; where there is none, the
solution's cell prints the answer. ``tests/test_reference_part.py`` compares them. Without scripts nothing is shown.
sphinx-exercise has no such fields.
"""

from collections.abc import Iterable
from fractions import Fraction
from html import escape
from typing import NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Answer(NamedTuple):
    """A number that is asked for."""

    asked: str
    value: float
    within: float
    worked: str


def read(lines: Iterable[str]) -> list[Answer]:
    """Return what is asked, line by line.

    >>> read(["the share of arm 1 | 5/8 ± 0.002 | 5 / (5 + 3)", "sales | 10200 ± 0"])[0]
    Answer(asked='the share of arm 1', value=0.625, within=0.002, worked='5 / (5 + 3)')
    """
    found = []
    for line in lines:
        asked, answer, *worked = (part.strip() for part in line.split("|"))
        value, _, within = answer.partition(" ± ")
        found.append(Answer(asked, float(Fraction(value)), float(within), *(worked or [""])))
    return found


def form(answers: list[Answer]) -> str:
    """Return a form that asks for numbers."""
    places = "".join(
        f"<p><label>{escape(each.asked[0].upper() + each.asked[1:])} "
        f'<input type="text" inputmode="decimal" autocomplete="off" size="9" data-answer="{each.value!r}" '
        f'data-within="{each.within!r}"></label> <output></output></p>'
        for each in answers
    )
    return f'<template class="answers"><form class="fair-answers">{places}</form></template>\n'


class Answers(SphinxDirective):
    """Ask for the numbers."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Make the form."""
        return [nodes.raw("", form(read(self.content)), format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("answers", Answers)
    app.add_js_file("answers.js", loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
