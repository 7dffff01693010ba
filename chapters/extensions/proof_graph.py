"""The directive ``{proofs} CHAPTER``: which statements the proof of each statement uses, and which proofs use it.

No package reads that from proofs. A statement feeds another if the proof of the other names it, or names a formula from
it or from its proof. A proof belongs to the statement before it, unless it begins with *Of* and another's name. Proofs
in a circle are a warning.
"""

from graphlib import CycleError, TopologicalSorter
from html import escape
from typing import Any

from docutils import nodes
from results import destination
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode
from sphinx_proof.nodes import proof_node

PROVED = ("theorem", "lemma", "proposition", "corollary", "observation")


class proof_map(nodes.General, nodes.Element):  # noqa: N801 (docutils names its nodes so)
    """Stands for the map of a chapter until all pages have been read."""


class Proofs(SphinxDirective):
    """List what feeds what in a chapter."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Leave a place for the map."""
        self.env.note_reread()  # proofs change while this page's own text does not
        return [proof_map("", page=f"chapters/{self.arguments[0]}")]


def read(app: Sphinx, doctree: nodes.document) -> None:
    """Note the statements of a page, and what the proof of each names."""
    found: dict[str, dict[str, Any]] = {}
    formulas: dict[str, str] = {}
    owner = ""
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
            found[owner] = {"kind": node["realtype"], "title": title, "named": []}
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


def check(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of proofs in a circle."""
    try:
        TopologicalSorter(feeds(env)[1]).prepare()
    except CycleError as error:
        logging.getLogger(__name__).warning("proofs in a circle: %s", ", ".join(error.args[1]))


def resolve(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Put the maps of a page in their places."""

    def links(labels: list[str]) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        for label in labels:
            target, anchor, name = destination(app, label)
            found += [nodes.Text(", "), make_refnode(app.builder, page, target, anchor, nodes.Text(name))]
        return found[1:]

    for node in list(doctree.findall(proof_map)):
        statements, into = feeds(app.env)
        outline = nodes.bullet_list()
        for label, said in statements.items():
            if said["page"] != node["page"] or said["kind"] not in PROVED:
                continue
            title = f", {said['title']}" if said["title"] else ""
            line = nodes.paragraph("", "", *links([label]), nodes.Text(f"{title}."))
            used_for = [each for each, before in into.items() if label in before]
            for words, others in ((" Its proof uses ", into[label]), (" It is used for ", used_for)):
                if others:
                    line += [nodes.Text(words), *links(others), nodes.Text(".")]
            outline += nodes.list_item("", line)
        title = escape(app.env.titles[node["page"]].astext())
        begun = nodes.raw("", f'<details class="map"><summary>{title}</summary>\n', format="html")
        node.replace_self([begun, outline, nodes.raw("", "</details>\n", format="html")])


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
    app.connect("env-check-consistency", check)
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
