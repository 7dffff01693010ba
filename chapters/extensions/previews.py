"""Previews of what references point to, shown beside the reference (``previews.js``).

For each page of the book a script with the statements, formulas, entries and first sentences that the page refers to: a
script and not a request, as pages that are read from a disk may not ask for a file.
"""

import json
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


def collect(app: Sphinx) -> dict[str, dict[str, str]]:
    """Return, for each page, what its references point to, by their addresses."""
    out = Path(app.outdir)

    @cache
    def at(page: Path, name: str) -> str | None:
        target = places(page).get(name) if page.exists() else None
        return excerpt(target) if target else None

    found: dict[str, dict[str, str]] = {}
    for docname in app.env.found_docs:
        page = out / f"{docname}.html"
        found[docname] = {}
        for link in read(page).select("article a.internal[href*='#'], article a.reference[href^='#']"):
            address = str(link["href"])
            parts = urlsplit(address)
            shown = at((page.parent / parts.path).resolve() if parts.path else page, unquote(parts.fragment))
            if shown:
                found[docname][address] = shown
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    found: dict[str, dict[str, str]] = {}

    def take(app: Sphinx, error: Exception | None) -> None:
        if not error and app.builder.name == "html":
            found.update(collect(app))

    def write(app: Sphinx, error: Exception | None) -> None:
        read.cache_clear()
        places.cache_clear()
        for page, shown in found.items():
            script = Path(app.outdir) / file(page)
            script.parent.mkdir(exist_ok=True)
            ready = {address: mathjax_build.in_place(text) for address, text in shown.items()}
            script.write_text(f"window.fairPreviews = {json.dumps(ready, sort_keys=True)};\n", encoding="utf-8")

    app.connect("html-page-context", announce)
    app.connect("build-finished", take, priority=300)  # before the formulas are set, as pages are long then,
    app.connect("build-finished", write, priority=500)  # and after
    return {"parallel_read_safe": True, "parallel_write_safe": True}
