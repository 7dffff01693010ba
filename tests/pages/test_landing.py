"""The landing page, and the icon of each page."""

from pathlib import Path

from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.common.by import By

from pages.browsing import visit


def test_a_phone_shows_a_control_at_once(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/index.html", width=390, height=844)
    control = browser.find_element(By.CSS_SELECTOR, ".fair-explorer [type=range]")
    assert control.rect["y"] + control.rect["height"] <= 844
    buttons = browser.find_elements(By.CSS_SELECTOR, "article .sd-btn")
    assert [button.text for button in buttons] == ["Read chapter 1", "Play with six sellers"]


def test_a_page_has_its_icon(book: Path) -> None:
    page = BeautifulSoup((book / "chapters" / "shares.html").read_text(encoding="utf-8"), "html.parser")
    icon = page.select_one("link[rel~=icon]")
    assert icon
    assert (book / "chapters" / str(icon["href"])).resolve().exists(), "a browser would ask for /favicon.ico"
