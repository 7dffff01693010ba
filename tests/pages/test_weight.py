"""What a page loads before it can be read."""

import gzip
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from pages.browsing import PAGES, ROOT, network, visit

COMPRESSED = (".html", ".js", ".css", ".json", ".svg")


def weights(browser: webdriver.Chrome, site: str) -> dict[str, int]:
    """Return the bytes of each file that was asked for since `visit`, as a server sends them."""
    found = {}
    for url in network(browser)[0]:
        if url.startswith(site):
            name = url.removeprefix(site + "/").partition("?")[0].partition("#")[0]
            data = (ROOT / "_build" / "html" / name).read_bytes()
            found[name] = len(gzip.compress(data, 6) if Path(name).suffix in COMPRESSED else data)
    return found


CHAPTERS = [page for page in PAGES if (ROOT / page).with_suffix(".md").read_text(encoding="utf-8").startswith("---")]


@pytest.mark.parametrize("page", [*CHAPTERS, "chapters/api.html"])
def test_a_page_can_be_read_after_600_kilobytes(page: str, site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/{page}", width=390, height=844)
    loaded = weights(browser, site)
    assert page in loaded  # or nothing was weighed
    assert sum(loaded.values()) <= 600_000, sorted(loaded.items(), key=lambda each: -each[1])[:8]
    unused = ("fontawesome", "searchindex", "places.js", "thebe", "design-tabs", "brython")
    assert not [name for name in loaded for word in unused if word in name]


def test_what_is_far_from_the_screen_is_laid_out_last(site: str, browser: webdriver.Chrome) -> None:
    seen = "document.querySelector('#exercises > h2').checkVisibility({ contentVisibilityAuto: true })"
    first = f"addEventListener('DOMContentLoaded', () => {{ window.seenAtFirst = {seen}; }});"
    visit(browser, f"{site}/chapters/shares.html", width=390, height=844, later=True, first=first)
    assert browser.execute_script("return window.seenAtFirst") is False
    WebDriverWait(browser, 30).until(lambda browser: browser.execute_script(f"return {seen}"))
    headings = browser.find_elements(By.CSS_SELECTOR, "article h2")
    assert len(headings) > 5
    assert all(heading.accessible_name == heading.text.rstrip("#") for heading in headings)


@pytest.mark.parametrize("place", ["#what-learning-costs-beyond-the-promise", "#exercises"])
def test_what_is_laid_out_later_does_not_move_what_is_read(place: str, site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html{place}", width=390, height=844, later=True)
    seen = "(heading) => heading.checkVisibility({ contentVisibilityAuto: true })"
    script = f"return [...document.querySelectorAll('article h2')].every({seen})"
    WebDriverWait(browser, 30).until(lambda browser: browser.execute_script(script))
    top = browser.execute_script("return document.querySelector(arguments[0]).getBoundingClientRect().top", place)
    assert 0 <= top < 200  # below the bar of buttons
