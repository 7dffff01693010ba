"""Previews of what references point to, shown beside the reference (``previews.js``).

Of packages for it, sphinx-tippy has had no release since April 2024. For each page of the book a script with the
statements, formulas, entries and first sentences that the page refers to: a script and not a request, as pages that
are read from a disk may not ask for a file.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import mathjax_build
from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

UNWANTED = "img, script, style, button, input, details, .headerlink, .fair-explorer, .cell"


def excerpt(target: Tag) -> str | None:
    """Return what to show of a place: a box or a formula whole, of a section its first paragraph."""
    parts = [target]
    classes = set(target.get("class") or [])
    if target.name == "section":
        first = target.find(["h1", "h2", "h3", "h4"]), target.find("p")
        parts = [part for part in first if isinstance(part, Tag)]
    elif target.name == "span" and not target.get_text(strip=True):  # a label before something
        following = target.find_next_sibling()
        if not isinstance(following, Tag) or following.name == "section":
            return None
        parts = [following]
        after = following.find_next_sibling()
        if following.name == "p" and isinstance(after, Tag) and after.name == "ul":
            parts.append(after)  # an entry of the errata
    elif target.name == "dt":
        said = target.find_next_sibling("dd")
        sentence = said.find("p") if isinstance(said, Tag) else None
        parts = [target, sentence] if isinstance(sentence, Tag) else [target]
    elif not classes & {"proof", "admonition", "math", "citation"} and target.name not in {"p", "figure"}:
        return None
    copy = BeautifulSoup("".join(str(part) for part in parts), "html.parser")
    for node in copy.select(UNWANTED):
        node.decompose()
    for node in copy.find_all(True):
        for name in ("id", "href", "tabindex"):
            del node[name]
    return str(copy) if copy.get_text(strip=True) else None


@cache
def read(page: Path) -> BeautifulSoup:
    """Read a page that was written."""
    return BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")


@cache
def places(page: Path) -> dict[str, Tag]:
    """Return what has an id on a page, by it; if two have the same, the first."""
    found: dict[str, Tag] = {}
    for each in read(page).find_all(id=True):
        found.setdefault(str(each["id"]), each)
    return found


def file(page: str) -> str:
    """Return where the script of a page is, in the folder of the book."""
    return f"_static/previews/{page.replace('/', '-')}.js"


def announce(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Tell a page where its script is, which it loads when it is wanted."""
    if doctree is not None:
        context["metatags"] += f'<meta name="previews" content="{context["pathto"](file(page), 1)}">\n'


LINKS = "article a.internal[href*='#'], article a.reference[href^='#']"


def target(page: str, address: str) -> tuple[str, str]:
    """Return the page that a link on a page leads to, and the place there.

    >>> target("chapters/shares", "bandits.html#def-regret"), target("chapters/shares", "#notes")
    (('chapters/bandits', 'def-regret'), ('chapters/shares', 'notes'))
    """
    parts = urlsplit(address)
    path = os.path.normpath(os.path.join(os.path.dirname(page), parts.path))  # noqa: PTH118, PTH120
    return path.replace(os.sep, "/").removesuffix(".html") if parts.path else page, unquote(parts.fragment)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    links: dict[str, dict[str, tuple[str, str]]] = {}
    shown: dict[tuple[str, str], str] = {}

    def take(app: Sphinx, error: Exception | None) -> None:
        if error or app.builder.name != "html":
            return
        out = Path(app.outdir)
        for page in app.env.found_docs:
            found = sorted({str(link["href"]) for link in read(out / f"{page}.html").select(LINKS)})
            links[page] = {address: target(page, address) for address in found}
        for to, name in {place for found in links.values() for place in found.values() if place[0] in links}:
            there = places(out / f"{to}.html").get(name)
            if there and (text := excerpt(there)):
                shown[to, name] = text

    def write(app: Sphinx, error: Exception | None) -> None:
        read.cache_clear()
        places.cache_clear()
        ready = {place: mathjax_build.in_place(text) for place, text in shown.items()}
        for page, found in links.items():
            script = Path(app.outdir) / file(page)
            script.parent.mkdir(exist_ok=True)
            text = json.dumps({at: ready[place] for at, place in found.items() if place in ready}, sort_keys=True)
            script.write_text(f"window.fairPreviews = {text};\n", encoding="utf-8")

    app.connect("html-page-context", announce)
    app.connect("build-finished", take, priority=300)  # before the formulas are set, as pages are long then,
    app.connect("build-finished", write, priority=500)  # and after
    return {"parallel_read_safe": True, "parallel_write_safe": True}
