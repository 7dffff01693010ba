"""Index entries, from which the search takes its first answers.

By hand, with MyST's ``{index}``, each would stand twice in a chapter. These are the items of the papers under their
own numbers (``chapters/items.csv``), the errata under theirs, every statement of the book that has a title, and the
words of the glossary, each at the first place that its entry points to.
"""

import re
from pathlib import Path

from docutils import nodes
from results import read_items
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


def entries(root: Path) -> dict[str, list[str]]:
    """Return, for the id of each numbered item, the words to find it by.

    >>> entries(Path(__file__).parents[2])["fm-alg-1-fair-learn"]
    ['Algorithm 1, Patil', 'FAIR-LEARN']
    """
    found = {}
    for item in read_items(root):
        numbered = re.match(r"([A-Z][a-z]+ [A-Z]?[\d.]*\d|[A-Z][a-z]+ \(\d+\))[ ,]*(.*)", item["number"])
        number, rest = numbered.groups() if numbered else ("", item["number"])
        found[item["id"]] = [f"{number}, {item['paper']}"] if number else []
        if rest and "(" not in rest:
            found[item["id"]].append(rest)
    return found


def words(root: Path) -> dict[str, list[str]]:
    """Return, for the label of each place that the glossary points to, the words that are made precise there.

    >>> words(Path(__file__).parents[2])["def-regret"]
    ['horizon', 'regret']
    """
    text = (root / "chapters" / "glossary.md").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for word, label in re.findall(r"\n\n(\S.*)\n  .*?\{(?:prf:)?ref\}`([\w-]+)`", text):
        found.setdefault(label, []).append(word)
    return found


class IndexEntries(SphinxTransform):
    """Set an entry of the index beside whatever has one to get."""

    default_priority = 800  # before Sphinx reads the entries

    def apply(self, **kwargs: object) -> None:
        """Go through a page."""
        root = Path(self.env.srcdir)
        named = entries(root)
        for label, found in words(root).items():
            named[label] = [*named.get(label, []), *found]
        for node in list(self.document.findall(nodes.Element)):
            if isinstance(node, addnodes.index) and self.env.docname == "chapters/glossary":  # its words come second
                node["entries"] = [(kind, word, at, "", key) for kind, word, at, _, key in node["entries"]]
            if node.get("ids") and node.parent and (places := named_by(node, named)):
                entry = [("single", word, name, "main", None) for word, name in places]
                node.parent.insert(node.parent.index(node), addnodes.index(entries=entry))


def named_by(node: nodes.Element, named: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Return the words by which a place is to be found, and its id."""
    found = [(word, name) for name in node["ids"] for word in named.get(name, [])]
    found += [(name[:3].upper() + name[3:], name) for name in node["ids"] if re.fullmatch(r"e-[a-z]\d+[a-z]?", name)]
    title = node.get("title", "")
    if "realtype" in node and title and "$" not in title:
        title = title.removeprefix(" (").removesuffix(")")
        plain = node["realtype"] in ("definition", "algorithm")  # theorems on something come after what it is
        found.append((title if plain else f"{title}, {node['realtype']}", node["ids"][0]))
    return list(dict.fromkeys(found))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_transform(IndexEntries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
