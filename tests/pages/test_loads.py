"""Each page of the built book, loaded once: it needs nothing from outside, and its links lead somewhere."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from selenium import webdriver

from pages.browsing import DESK, View, check_load, each_page, seen_at


@seen_at(DESK)
def test_page_loads(view: View, site: str, browser: webdriver.Chrome) -> None:
    check_load(view, site, browser)
    doubled = browser.execute_script(
        """
        const names = [...document.querySelectorAll("article [id]")].map((node) => node.id);
        return names.filter((name, i) => names.indexOf(name) !== i);
        """
    )
    assert not doubled, "an id is there twice"


@each_page
def test_formulas_are_there_without_scripts(page: str, book: Path) -> None:
    article = BeautifulSoup((book / page).read_text(encoding="utf-8"), "html.parser").find("article")
    assert article
    for part in article.select("code, pre, script"):
        part.decompose()
    assert not re.findall(r"\\[(\[].*", article.get_text())
    for formula in article.select(".math"):
        assert formula.select("mjx-math, math"), formula.get_text()


class Links(HTMLParser):
    """The anchors of a page, and what it points at."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element is called and what it points at."""
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.targets.add(value)


@pytest.fixture(scope="session")
def links(book: Path) -> dict[Path, Links]:
    return {path: Links(path) for path in book.rglob("*.html") if "_static" not in path.relative_to(book).parts}


@each_page
def test_links_lead_somewhere(page: str, book: Path, links: dict[Path, Links]) -> None:
    broken = []
    for target in links[book / page].targets:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        path = ((book / page).parent / unquote(parts.path)).resolve() if parts.path else book / page
        if path.is_dir():
            path /= "index.html"
        anchor = unquote(parts.fragment)
        if not path.exists() or (anchor and path in links and anchor not in links[path].anchors):
            broken.append(target)
    assert not broken
