"""Index of the search (``searchtools.js``): sections, statements, exercises, errata, words and functions.

Sphinx's own index knows only pages. This one is read from the pages that were written. Each place has its title, the
names by which the index knows it (``index_entries.py``) and its words, without code, outputs and menus.
"""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from bs4 import Tag
from bs4.element import NavigableString
from previews import read
from sphinx.application import Sphinx

FILE = "_static/places.js"
UNWANTED = (
    "h1, h2, h3, h4, .admonition-title, script, style, button, input, nav, svg, pre, .headerlink, .section-number, "
    ".fair-explorer, .fair-answers, .cell_input, .controls, .toctree-wrapper, table.filtered, form, details"
)
PLACES = "section:has(> :is(h1, h2, h3, h4)), div.admonition[id]:is(.proof, .exercise), p[id^=e-], dt[id]"
INLINE = {"a", "b", "code", "em", "i", "span", "strong", "sub", "sup"}


@dataclass
class Place:
    """A place: its id, its title and those above it, its names with the ids that they lead to, and its words."""

    at: str = ""
    title: str = ""
    above: list[str] = field(default_factory=list)
    kind: str = ""
    names: list[tuple[str, str]] = field(default_factory=list)
    text: str = ""


def formula(node: Tag) -> str:
    r"""Return what a formula is if that is a name or a number, else three dots; it may have been set already.

    >>> from bs4 import BeautifulSoup
    >>> [formula(BeautifulSoup(f"<p>{tex}</p>", "html.parser").p) for tex in (r"\(T\)", r"\(T^2\)")]
    ['T', '…']
    """
    said = re.fullmatch(r"(?:\\\()?(\w{1,3})(?:\\\))?", (node.find("math") or node).get_text(strip=True))
    return said[1] if said else "…"


def on_a_line(text: str) -> str:
    """Return a text on one line."""
    return re.sub(r" (?=[.,;:)])", "", " ".join(text.split()))


def begun(part: Tag, above: Place) -> Place:
    """Return the place that begins with a part of a page."""
    classes = list(part.get("class") or [])
    kind = "section" if part.name == "section" else "exercise" if "exercise" in classes else "statement"
    heading = part.find(["h1", "h2", "h3", "h4"]) if kind == "section" else part.select_one(".admonition-title")
    at = str(part["id"])
    if part.name == "dt":
        kind = "function" if "sig" in classes else "word"
        heading = part
    elif part.name == "p":
        kind, heading = "erratum", part
    words = []
    for text in heading.find_all(string=True) if heading else []:
        if not text.find_parent(class_=["headerlink", "section-number", "math"]):
            words.append(text)
    over = [*above.above, above.title] if above.title else []
    if kind == "function":
        return Place(at, at, over, kind, [(at.rpartition(".")[2], at)])
    label = part.find("span", recursive=False, id=re.compile(r"^(?!id\d)")) if kind == "section" else None
    if isinstance(label, Tag) and not label.contents:
        at = str(label["id"])  # the author's, which stays when a heading changes
    title = on_a_line("".join(words))
    return Place(at, title, over, kind, [(title, at)])


def places(article: Tag) -> tuple[list[Place], dict[str, Place]]:
    """Return the places of a page in their order, and for each id of the page the place that it is in.

    >>> from bs4 import BeautifulSoup
    >>> page = "<section id='a'><h1>A</h1><p>One <b>two</b>.</p><div class='proof lemma admonition' id='b'>"
    >>> page += "<p class='admonition-title'>Lemma 1</p></div><div class='proof admonition'>Why.</div></section>"
    >>> [(place.at, place.title, place.text) for place in places(BeautifulSoup(page, "html.parser"))[0]]
    [('a', 'A', 'One two.'), ('b', 'Lemma 1', 'Why.')]
    """
    found: list[Place] = []
    where: dict[str, Place] = {}
    begins, unwanted = ({id(node) for node in article.select(what)} for what in (PLACES, UNWANTED))
    waiting: list[str] = []  # labels of what comes next

    def walk(node: Tag, place: Place) -> None:
        last = place  # a proof belongs to the statement before it, a list or a description to its entry
        for part in node.children:
            if type(part) is NavigableString:
                place.text += part
            if not isinstance(part, Tag) or id(part) in unwanted:
                continue
            if part.name == "span" and part.get("id") and not part.contents:
                waiting.append(str(part["id"]))
                continue
            inside = place
            if id(part) in begins:
                inside = begun(part, place)
                found.append(inside)
                last = place if inside.kind == "section" else inside
            elif part.get("class") == ["proof", "admonition"] or (part.name in ("ul", "dd") and last is not place):
                inside = last
            for name in [*waiting, part.get("id")]:
                if name:
                    where.setdefault(str(name), inside)
            waiting.clear()
            if "math" in (part.get("class") or []):
                inside.text += formula(part)
            else:
                walk(part, inside)
            if part.name not in INLINE:
                inside.text += " "

    walk(article, Place())
    for place in found:
        place.text = on_a_line(place.text)
    return found, where


def collect(app: Sphinx) -> list[list[object]]:
    """Return the places of all pages, in the order of the book, as the search reads them."""
    out = Path(app.outdir)
    order = re.findall(r"(?:file|root): (\S+)", (Path(app.srcdir) / "_toc.yml").read_text(encoding="utf-8"))
    made: list[list[object]] = []
    for page in order:
        article = read(out / f"{page}.html").find("article")
        assert isinstance(article, Tag)
        found, where = places(article)
        for kind, name, at, _, _ in app.env.get_domain("index").entries.get(page, []):  # type: ignore[attr-defined]
            if kind == "single" and at in where and where[at].kind != "function":
                where[at].names.append((name, at))
        made += [[page, each.at, each.title, each.above, each.kind, each.names, each.text] for each in found]
    return made


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""

    def write(app: Sphinx, error: Exception | None) -> None:
        if not error and app.builder.name == "html":
            text = json.dumps(collect(app), ensure_ascii=False, separators=(",", ":"))
            (Path(app.outdir) / FILE).write_text(f"window.fairPlaces = {text};\n", encoding="utf-8")

    app.connect("build-finished", write, priority=300)  # before the formulas are set, as pages are long then
    return {"parallel_read_safe": True, "parallel_write_safe": True}
