"""Make a deck of slides of each chapter: its headings, statements and pictures, and its *Remember*.

A deck is one file that needs no other, ``slides/CHAPTER.html``, made of the built page: pictures are in it, and so are
the fonts of its formulas. Of an explorer there is the picture that it begins with.
"""

import base64
import re
from html import escape
from pathlib import Path
from typing import Any

import mathjax_build
import printing
from bs4 import BeautifulSoup, Tag
from docutils import nodes
from flashcards import chapters
from previews import read
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from written import WRITTEN

LEFT_OUT = {"notes", "exercises"}
STATEMENTS = ["definition", "theorem", "lemma", "proposition", "corollary", "observation", "assumption", "algorithm"]
UNWANTED = "script, style, button, .headerlink, [role=status]"
ASSETS = Path(__file__).parent


def file(name: str) -> str:
    """Return where the deck of a chapter is, in the folder of the book."""
    return f"slides/{name}.html"


def plain(part: Tag) -> str:
    """Return a part of a page without what only the page can do."""
    copy = BeautifulSoup(str(part), "html.parser")
    for node in copy.select(UNWANTED):
        node.decompose()
    for link in copy.select("a"):
        link.unwrap()
    for node in copy.find_all(True):
        for name in ("id", "tabindex"):
            del node[name]
    return str(copy)


def fonts(text: str, folder: Path) -> str:
    """Return the style of formulas, with the fonts of those in a text and no others."""
    used = {"MJXZERO", "MJXTEX", *(f"MJX{name}" for name in re.findall(r"\bTEX-\w+", text))}

    def face(found: re.Match[str]) -> str:
        family = re.search(r"font-family: ([\w-]+)", found[0])
        if family is None or family[1] not in used:
            return ""

        def inline(source: re.Match[str]) -> str:
            data = base64.b64encode((folder / source[1]).read_bytes()).decode()
            return f'url("data:font/woff;base64,{data}")'

        return re.sub(r'url\("\./([^"]+)"\)', inline, found[0])

    style = (folder / "mathjax.css").read_text(encoding="utf-8")
    return re.sub(r"@font-face[^{]*\{[^}]*\}", face, style)


def picture(image: Tag, page: Path) -> str:
    """Return a picture that needs no file, with what its caption says."""
    source = str(image["src"])
    if not source.startswith("data:"):
        kind, data = printing.picture((page.parent / source).resolve().as_uri())
        kind = {"svg": "svg+xml"}.get(kind, kind)
        source = f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
    frame = image.find_parent("figure")
    said = frame.select_one(".caption-text") if frame else None
    caption = f"<figcaption>{inside(plain(said))}</figcaption>" if said else ""
    alt = escape(str(image.get("alt", "")))
    return f'<figure><img src="{source}" alt="{alt}">{caption}</figure>'


def inside(html: str) -> str:
    """Return HTML without its outermost element."""
    return html.partition(">")[2].rpartition("<")[0]


def box(statement: Tag) -> str:
    """Return a statement with its title."""
    title, content = statement.select_one(".admonition-title"), statement.select_one("section")
    assert title
    assert content
    return f'<div class="box"><div class="title">{inside(plain(title))}</div>{inside(plain(content))}</div>'


def slides(page: Path) -> list[tuple[str, str]]:
    """Return the heading and the content of each slide of a built page."""
    article = read(page).find("article")
    assert isinstance(article, Tag)
    whole = article.find("section")
    assert isinstance(whole, Tag)
    heading = whole.find("h1")
    assert isinstance(heading, Tag)
    found = [(inside(plain(heading)), "")]
    for part in whole.find_all("section", recursive=False):
        title = part.find("h2")
        if not isinstance(title, Tag) or part.get("id") in LEFT_OUT:
            continue
        head = inside(plain(title))
        if part.get("id") == "remember":
            points = part.find("ul")
            assert isinstance(points, Tag)
            found.append((head, plain(points)))
            continue
        wanted = "img, " + ", ".join(f"div.proof.{kind}" for kind in STATEMENTS)
        shown = [
            picture(each, page) if each.name == "img" else box(each)
            for each in part.select(wanted)
            if not each.find_parent("div", class_="solution") and not each.find_parent("details")
        ]
        found += [(head, each) for each in shown] or [(head, "")]
    return found


def deck(made: list[tuple[str, str]], page: Path, title: str, name: str) -> str:
    """Return the deck of a chapter, made of the headings and contents of its slides."""
    first, *others = made
    parts = [
        f'<section aria-label="Title"><p class="part">Fair bandits</p><h1>{first[0]}</h1>'
        f'<p class="part">The chapter: <a href="../chapters/{name}.html">{escape(title)}</a></p></section>'
    ]
    parts += [f"<section><h2>{head}</h2><div>{content}</div></section>" for head, content in others]
    css, script = ((ASSETS / f"slides.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    css += fonts("".join(parts), page.parents[1] / "_static" / "mathjax")
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: slides</title><style>{css}</style></head><body><main>{''.join(parts)}</main>"
        '<footer hidden><output></output><button type="button" aria-label="Back">←</button>'
        f'<button type="button" aria-label="On">→</button></footer><script>{script}</script></body></html>\n'
    )


def offer(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Add the slides to the menu of downloads."""
    known = {f"chapters/{chapter.name}": chapter.name for chapter in chapters(Path(app.srcdir))}
    for group in context.get("header_buttons", []):
        if group["label"] == "download-buttons" and page in known:
            button = {
                "type": "link",
                "url": context["pathto"](file(known[page]), 1),
                "text": "Slides",
                "tooltip": "Slides of this chapter, in one file",
                "icon": "fas fa-display",
                "label": "slides-button",
            }
            group["buttons"].append(button)


class Decks(SphinxDirective):
    """List the decks of all chapters."""

    def run(self) -> list[nodes.Node]:
        """Make a link a deck."""
        entries = "".join(
            f'<li><a href="../{file(name)}">{escape(title)}</a></li>'
            for name, title, _ in chapters(Path(self.env.srcdir))
        )
        return [nodes.raw("", f"<ul>{entries}</ul>\n", format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    found: dict[Path, list[tuple[str, str]]] = {}

    def take(app: Sphinx, error: Exception | None) -> None:
        if not error and app.builder.name == "html":
            pages = (Path(app.outdir) / "chapters" / f"{name}.html" for name, _, _ in chapters(Path(app.srcdir)))
            found.update({page: slides(page) for page in pages if page in WRITTEN})

    def write(app: Sphinx, error: Exception | None) -> None:
        out = Path(app.outdir)
        for name, title, _ in chapters(Path(app.srcdir)) if found else []:
            page = out / "chapters" / f"{name}.html"
            made = [(mathjax_build.in_place(head), mathjax_build.in_place(text)) for head, text in found.pop(page, [])]
            if made:
                (out / "slides").mkdir(exist_ok=True)
                (out / file(name)).write_text(deck(made, page, title, name), encoding="utf-8")

    app.add_directive("decks", Decks)
    app.connect("html-page-context", offer, priority=600)  # after the theme has made its menu
    app.connect("build-finished", take, priority=300)  # before the formulas are set, as pages are long then,
    app.connect("build-finished", write, priority=450)  # and after
    return {"parallel_read_safe": True, "parallel_write_safe": True}
