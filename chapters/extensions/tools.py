"""The directive ``{tools}``: each tool of the toolbox, what it is for, and the results whose proofs refer to it.

Its lines, ``label: what it is for``, name every numbered statement of its page, in their order. The last column is read
from the proofs of all chapters: a proof is that of the statement above it, or of the one that it begins by naming,
``*Of {prf:ref}`label`.*``. It refers to a tool by the label of the statement, or by that of an equation in it.
"""

import pathlib
import re
from typing import NamedTuple

from docutils import nodes
from results import destination, row
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_refnode

HEADINGS = ("Tool", "What it is for", "Used for")
WIDTHS = (27, 28, 45)
STATEMENT = ("theorem", "lemma", "proposition", "corollary", "observation")


class Block(NamedTuple):
    """A directive of sphinx-proof: of which kind, its title, its label, and its text."""

    kind: str
    title: str
    label: str
    text: str


def blocks(page: str) -> list[Block]:
    r"""Return the statements and proofs of a chapter; a proof has the label of what it proves.

    >>> page = "```{prf:lemma} Small\n:label: lem-small\n$1 < 2$.\n```\n\n```{prf:proof}\nCount.\n```\n"
    >>> [(block.kind, block.title, block.label, block.text) for block in blocks(page)]
    [('lemma', 'Small', 'lem-small', '$1 < 2$.\n'), ('proof', '', 'lem-small', 'Count.\n')]
    """
    found: list[Block] = []
    above = ""
    for _, kind, title, text in re.findall(
        r"^(`{3,})\{prf:(\w+)\} *([^\n]*)\n(.*?)^\1$", page, re.MULTILINE | re.DOTALL
    ):
        if kind in STATEMENT:
            label, _, text = text.partition("\n")
            above = label.removeprefix(":label: ")
            found.append(Block(kind, title, above, text))
        elif kind == "proof":
            other = re.match(r"\*Of \{prf:ref\}`([\w-]+)`\.\*", text)
            found.append(Block(kind, "", other[1] if other else above, text))
    return found


def references(text: str) -> set[str]:
    """Return the labels that a text refers to, of statements and of equations.

    >>> sorted(references("By {prf:ref}`thm-one` and {eq}`eq-two`."))
    ['eq-two', 'thm-one']
    """
    return set(re.findall(r"\{(?:prf:ref|eq)\}`([\w-]+)`", text))


def uses(toolbox: str, chapters: list[str]) -> dict[str, list[str]]:
    """Return for each tool the labels of the results whose proofs refer to it, in their order."""
    tools = {tool.label: {tool.label, *re.findall(r"^ *\$\$ \(([\w-]+)\)", tool.text, re.MULTILINE)}
             for tool in blocks(toolbox) if tool.kind != "proof"}  # fmt: skip
    proofs = [block for page in chapters for block in blocks(page) if block.kind == "proof"]
    return {
        tool: list(
            dict.fromkeys(proof.label for proof in proofs if names & references(proof.text) and proof.label != tool)
        )
        for tool, names in tools.items()
    }


class named(nodes.Inline, nodes.TextElement):  # noqa: N801 (docutils names its nodes so)
    """Stands for a link to a statement until all pages have been read."""


class Tools(SphinxDirective):
    """Tabulate the tools of this page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Build the table, with a ``named`` wherever a link will stand."""
        self.env.note_reread()  # proofs change while this page's own text does not
        root = pathlib.Path(self.env.srcdir)
        here = pathlib.Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8")
        contents = (root / "_toc.yml").read_text(encoding="utf-8")
        pages = [root / f"{name}.md" for name in re.findall(r"chapters/[\w-]+", contents)]
        found = uses(here, [page.read_text(encoding="utf-8") for page in pages])
        titles = {tool.label: tool.title for tool in blocks(here) if tool.kind != "proof"}
        purpose = dict(line.split(": ", 1) for line in self.content)
        if list(purpose) != list(titles):
            raise self.error(f"the tools are {', '.join(titles)}, and the table has {', '.join(purpose)}")

        table = nodes.table("", classes=["results", "colwidths-given"])
        group = nodes.tgroup("", *(nodes.colspec("", colwidth=width) for width in WIDTHS), cols=len(HEADINGS))
        head, body = nodes.thead(""), nodes.tbody("")
        head += row(*(nodes.Text(heading) for heading in HEADINGS))
        for label, words in purpose.items():
            links = [part for use in found[label] for part in (named("", label=use), nodes.Text(", "))]
            tool = named("", nodes.Text(titles[label]), label=label)
            body += row(tool, nodes.Text(words), nodes.inline("", "", *links[:-1]))
        group += [head, body]
        table += group
        return [table]


def link(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Turn each ``named`` into a link, by its own words or by the kind and number of what it names."""
    for node in list(doctree.findall(named)):
        target, anchor, name = destination(app, node["label"])
        node.replace_self(make_refnode(app.builder, page, target, anchor, nodes.Text(node.astext() or name)))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("tools", Tools)
    app.connect("doctree-resolved", link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
