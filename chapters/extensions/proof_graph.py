"""The directive ``{proofs} CHAPTER``: a folded graph of which proof uses which statement, with links, and in words.

A statement feeds another if the proof of the other names it, or names a formula from it or from its proof. A proof
belongs to the statement before it, unless it begins with *Of* and another's name. The tests of a statement are those
that ``chapters/items.csv`` names for its labels, or for those of the heading above the first of its sort, and those
that ``chapters/statements.csv`` names for it.
"""

import csv
from collections.abc import Collection
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from docutils import nodes
from results import destination, read_items, tests_of
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode
from sphinx_proof.nodes import proof_node

PROVED = ("theorem", "lemma", "proposition", "corollary", "observation")
WIDE, HIGH, ACROSS, DOWN = 176, 46, 36, 14  # a box, and what is free beside and below it
LINE = 24  # letters
Stop = str | tuple[str, str, int]  # a statement, or where a line passes a column


class proof_map(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Stands for the map of a chapter until all pages have been read."""


class Proofs(SphinxDirective):
    """Draw what feeds what in a chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for the map."""
        self.env.note_reread()  # proofs and tests change while this page's own text does not
        return [proof_map("", page=f"chapters/{self.arguments[0]}")]


def read(app: Sphinx, doctree: nodes.document) -> None:
    """Note the statements of a page, and what the proof of each names."""
    found: dict[str, dict[str, Any]] = {}
    formulas: dict[str, str] = {}
    owner = ""
    taken: set[tuple[str, str]] = set()
    for node in doctree.findall(lambda node: "realtype" in getattr(node, "attributes", {}) or type(node) is proof_node):
        assert isinstance(node, nodes.Element)
        named = [
            (str(link["reftype"]), str(link["reftarget"]))
            for link in node.findall(pending_xref)
            if (link.get("refdomain"), link["reftype"]) in (("prf", "ref"), ("math", "eq"))
        ]
        if "realtype" in node:
            owner = str(node["label"])
            title = "" if any(node[0].findall(nodes.math)) else node[0].astext()
            title = title.strip().removeprefix("(").removesuffix(")")
            ids, above = list(node["ids"]), of_section(node, taken)
            found[owner] = {"kind": node["realtype"], "ids": ids, "above": above, "title": title, "named": []}
            proved = owner
        else:
            words = node.astext().partition(".")[2].split()
            proved = named[0][1] if words[:1] == ["Of"] and named else owner
            found[proved]["named"] += named
        for formula in node.findall(nodes.math_block):
            if formula.get("label"):
                formulas[str(formula["label"])] = proved
    app.env.fair_statements[app.env.docname] = found  # type: ignore[attr-defined]
    app.env.fair_formulas[app.env.docname] = formulas  # type: ignore[attr-defined]


def of_section(node: nodes.Element, taken: set[tuple[str, str]]) -> list[str]:
    """Return the labels of the heading above, if the statement is the first of its sort there."""
    section = node.parent
    while section is not None and not isinstance(section, nodes.section):
        section = section.parent
    if section is None or (section["ids"][0], node["realtype"]) in taken:
        return []
    taken.add((section["ids"][0], node["realtype"]))
    return list(section["ids"])


def feeds(env: BuildEnvironment) -> tuple[dict[str, dict[str, Any]], dict[str, list[str]]]:
    """Return every statement by its label, and for each what feeds it."""
    pages = env.fair_statements  # type: ignore[attr-defined]
    statements = {label: {**said, "page": page} for page in sorted(pages) for label, said in pages[page].items()}
    formulas = {label: at for found in env.fair_formulas.values() for label, at in found.items()}  # type: ignore[attr-defined]
    into = {}
    for label, said in statements.items():
        named = [formulas.get(target) if kind == "eq" else target for kind, target in said["named"]]
        into[label] = [each for each in dict.fromkeys(named) if each and each in statements and each != label]
    return statements, into


def layers(into: dict[str, list[str]]) -> dict[str, int]:
    """Return for each statement the length of the longest chain before it; a ValueError names a circle.

    >>> layers({"a": [], "b": ["a"], "c": ["a", "b"]})
    {'a': 0, 'b': 1, 'c': 2}
    >>> layers({"a": ["b"], "b": ["a"]})
    Traceback (most recent call last):
        ...
    ValueError: proofs in a circle: a, b, a
    """
    depth: dict[str, int] = {}

    def visit(label: str, way: list[str]) -> int:
        if label in way:
            raise ValueError(f"proofs in a circle: {', '.join([*way[way.index(label) :], label])}")
        if label not in depth:
            depth[label] = 1 + max((visit(each, [*way, label]) for each in into.get(label, [])), default=-1)
        return depth[label]

    for label in into:
        visit(label, [])
    return {label: depth[label] for label in into}


def columns(into: dict[str, list[str]]) -> list[list[Stop]]:
    """Return the statements in columns, from what feeds to what is fed, with the stops of lines that pass a column.

    >>> columns({"a": [], "b": ["a"], "c": ["a", "b"]})
    [['a'], ['b', ('a', 'c', 1)], ['c']]
    """
    depth = layers(into)
    first = {label: min((depth[to] for to in into if label in into[to]), default=depth[label] + 1) for label in into}
    at: dict[Stop, int] = {label: depth[label] if into[label] else max(0, first[label] - 1) for label in into}
    lines = [way_of(each, label, at) for label in into for each in into[label]]
    at |= {stop: i for way in lines for i, stop in enumerate(way, start=at[way[0]])}
    found = [[stop for stop in at if at[stop] == i] for i in range(max(at.values(), default=-1) + 1)]
    steps = [step for way in lines for step in pairwise(way)]
    for turn in range(6):  # rightwards and back: each beside the middle of what it is joined to
        order = found if turn % 2 == 0 else found[::-1]
        for before, here in pairwise(order):
            row = {stop: i for i, stop in enumerate(before)}
            beside = {
                stop: [row[u] for pair in steps for u, v in (pair, pair[::-1]) if v == stop and u in row]
                for stop in here
            }
            here.sort(key=lambda stop: sum(beside[stop]) / len(beside[stop]) if beside[stop] else len(row))
    return found


def way_of(each: str, label: str, at: dict[Stop, int]) -> list[Stop]:
    """Return the way of a line: where it begins, a stop in each column that it passes, and where it ends."""
    return [each, *((each, label, i) for i in range(at[each] + 1, at[label])), label]


def shortened(text: str) -> str:
    """Return a text that fits on a line of a box.

    >>> shortened("No policy can do better than this in any game")
    'No policy can do better…'
    """
    return text if len(text) <= LINE else text[:LINE].rsplit(" ", 1)[0] + "…"


def drawn(
    into: dict[str, list[str]], names: dict[str, dict[str, str]], dashed: Collection[tuple[str, str]] = ()
) -> str:
    """Return the picture: a box for each name, and a line from what feeds to what is fed."""
    corner: dict[Stop, tuple[int, int]] = {}
    column: dict[Stop, int] = {}
    height = 0
    for i, stops in enumerate(columns(into)):
        y = 1
        for stop in stops:
            corner[stop], column[stop] = (1 + i * (WIDE + ACROSS), y), i
            y += (HIGH if isinstance(stop, str) else 0) + DOWN
        height = max(height, y - DOWN + 1)
    parts = []
    for label, before in into.items():
        for each in before:
            way = way_of(each, label, column)
            x, y = corner[each]
            path = f"M{x + WIDE} {y + HIGH // 2}"
            for before_it, stop in pairwise(way):
                x, y = corner[stop]
                last = corner[before_it][1] + (HIGH // 2 if isinstance(before_it, str) else 0)
                y += HIGH // 2 if isinstance(stop, str) else 0
                path += f" C{x - 8} {last} {x - ACROSS + 8} {y} {x} {y}"
                path += "" if isinstance(stop, str) else f" h{WIDE}"
            kind = "line dashed" if (each, label) in dashed else "line"
            parts.append(f'<path class="{kind}" d="{path}"/><path class="head" d="M{x - 6} {y - 4} l6 4 l-6 4"/>')
    boxes = [(label, corner[label]) for label in into]
    for label, (x, y) in boxes:
        name = names[label]
        parts.append(
            f'<a href="{escape(name["href"])}" class="{name["classes"]}"><title>{escape(name["hint"])}</title>'
            f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="5"/>'
            f'<text x="{x + 8}" y="{y + 18}" class="number">{escape(name["name"])}</text>'
            f'<text x="{x + 8}" y="{y + 36}">{escape(shortened(name["title"]))}</text></a>'
        )
    width = max(x for x, _ in corner.values()) + WIDE + 1
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="group" aria-label="Boxes and lines; the list below says the same in words">{"".join(parts)}</svg>'
    )


def with_words(picture: str, outline: nodes.bullet_list, title: str) -> list[nodes.Node]:
    """Return a picture, if there is one, and below it, folded, a list that says the same."""
    region = f'<div class="proof-map" tabindex="0" role="region" aria-label="{title}">{picture}</div>\n'
    return [
        nodes.raw("", f"{region if picture else ''}<details><summary>The same in words</summary>\n", format="html"),
        outline,
        nodes.raw("", "</details>\n", format="html"),
    ]


def tests_of_our_own(root: Path) -> dict[str, list[str]]:
    """Return the tests of the statements that are in no paper, or under another heading than the paper's item."""
    with (root / "chapters" / "statements.csv").open(newline="", encoding="utf-8") as file:
        return {row["label"]: tests_of(row) for row in csv.DictReader(file)}


def resolve(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the maps of a page in their places."""
    maps = list(doctree.findall(proof_map))
    if not maps:
        return
    root = Path(app.srcdir)
    items = {item["id"]: item for item in read_items(root)}
    own = tests_of_our_own(root)
    statements, into = feeds(app.env)
    try:
        layers(into)
    except ValueError as circle:
        logging.getLogger(__name__).warning("%s", circle)
        into = {label: [] for label in into}
    for node in maps:
        here = [label for label, said in statements.items() if said["page"] == node["page"] and said["kind"] in PROVED]
        links = {label: into[label] for label in here}
        fed = {each for before in links.values() for each in before}
        shown = {label: links.get(label, []) for label in statements if label in fed or links.get(label)}
        names = {}
        for label in dict.fromkeys([*here, *shown]):
            said = statements[label]
            target, anchor, name = destination(app, label)
            ids = [each for each in said["ids"] if each in items]
            ids += [each for each in said["above"] if each in items and items[each]["kind"] == said["kind"]]
            named = own.get(label, []) + [test for each in ids for test in tests_of(items[each])]
            tests = f"{len(named) or 'no'} test{'s' if len(named) != 1 else ''} of its own"
            names[label] = {
                "name": name,
                "title": said["title"],
                "hint": f"{name}: {said['title'] or said['kind']}, {tests}.",
                "tests": tests,
                "href": f"{app.builder.get_relative_uri(page, target)}#{anchor}",
                "classes": "" if target == node["page"] else "elsewhere",
            }

        def link(label: str, names: dict[str, dict[str, str]] = names) -> nodes.reference:
            target, anchor, _ = destination(app, label)
            return make_refnode(app.builder, page, target, anchor, nodes.Text(names[label]["name"]))

        outline = nodes.bullet_list()
        for label in here:
            title = names[label]["title"]
            text = nodes.paragraph("", "", link(label), nodes.Text(f", {title}" if title else ""))
            for i, each in enumerate(links[label]):
                text += [nodes.Text(", " if i else ". Its proof uses "), link(each)]
            text += nodes.Text(f" ({names[label]['tests']}).")
            outline += nodes.list_item("", text)
        title = escape(app.env.titles[node["page"]].astext())
        begun = nodes.raw("", f'<details class="map"><summary>{title}</summary>\n', format="html")
        ended = nodes.raw("", "</details>\n", format="html")
        node.replace_self([begun, *with_words(drawn(shown, names) if shown else "", outline, f"Map: {title}"), ended])


def begin(app: Sphinx) -> None:
    """Keep what is noted with the environment."""
    for name in ("fair_statements", "fair_formulas"):
        if not hasattr(app.env, name):
            setattr(app.env, name, {})


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("proofs", Proofs)
    app.connect("builder-inited", begin)
    app.connect("doctree-read", read)
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
