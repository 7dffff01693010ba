"""The landing page, the typeface of the text, and previews of statements."""

import re
import unicodedata
from pathlib import Path

from bs4 import BeautifulSoup
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from pages.browsing import ROOT, use_keyboard, visit


def test_a_phone_shows_a_control_at_once(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/index.html", width=390, height=844)
    control = browser.find_element(By.CSS_SELECTOR, ".fair-explorer [type=range]")
    assert control.rect["y"] + control.rect["height"] <= 844
    buttons = browser.find_elements(By.CSS_SELECTOR, "article .sd-btn")
    assert [button.text for button in buttons] == ["Read chapter 1", "Play"]


def test_the_text_is_in_the_typeface_of_the_site(site: str, browser: webdriver.Chrome) -> None:
    """All letters and marks of the text, in each style, as the browser says which font it takes for them."""
    visit(browser, f"{site}/chapters/index.html")
    aside = re.compile(r"^(`{3,}|\$\$).*?^\1|\$[^$]*\$|`[^`]*`", re.DOTALL | re.MULTILINE)  # cells, formulas, code
    prose = "".join(aside.sub("", path.read_text(encoding="utf-8")) for path in (ROOT / "chapters").glob("*.md"))
    set_by_sphinx = "\u2018\u2019\u201c\u201d\u2013\u2014\u2026"  # quotation marks, dashes and dots
    used = {each for each in prose if unicodedata.category(each)[0] in "LNP"} | set(set_by_sphinx)
    letters = "".join(sorted(used - {"†"}))  # a sign of its own, which the next font of the list has
    assert len(letters) > 90
    browser.execute_script(
        """
        const places = "<p id=i><em></em></p><p id=b><b></b></p><p id=r></p>";
        document.querySelector("article").insertAdjacentHTML("beforeend", places);
        for (const place of document.querySelectorAll("#i em, #b b, #r")) place.textContent = arguments[0];
        """,
        letters,
    )
    browser.execute_async_script("const done = arguments[0]; document.fonts.ready.then(() => done());")
    for command in ("DOM.enable", "CSS.enable"):
        browser.execute_cdp_cmd(command, {})
    root = browser.execute_cdp_cmd("DOM.getDocument", {})["root"]["nodeId"]
    for place in ("#i em", "#b b", "#r"):
        node = browser.execute_cdp_cmd("DOM.querySelector", {"nodeId": root, "selector": place})["nodeId"]
        fonts = browser.execute_cdp_cmd("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        assert [(font["isCustomFont"], "Literata" in font["familyName"]) for font in fonts] == [(True, True)], fonts


def test_a_page_has_its_icon(book: Path) -> None:
    page = BeautifulSoup((book / "chapters" / "shares.html").read_text(encoding="utf-8"), "html.parser")
    icon = page.select_one("link[rel~=icon]")
    assert icon
    assert (book / "chapters" / str(icon["href"])).resolve().exists(), "a browser would ask for /favicon.ico"


def test_a_preview_of_a_statement_looks_as_the_statement(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    look = """
        const { borderLeft, backgroundColor, fontFamily } = getComputedStyle(arguments[0]);
        const icon = getComputedStyle(arguments[0].firstElementChild, "::before").content;
        return [borderLeft, backgroundColor, fontFamily, icon];
    """
    use_keyboard(browser)
    link = browser.find_element(By.CSS_SELECTOR, "article a.internal[href$='#thm-ucb1']")
    browser.execute_script("arguments[0].focus({ focusVisible: true })", link)
    shown = WebDriverWait(browser, 5).until(
        lambda browser: browser.find_elements(By.CSS_SELECTOR, ".preview:not([hidden]) > .proof.theorem")
    )
    on_page = browser.find_element(By.CSS_SELECTOR, "article .proof.theorem")
    assert browser.execute_script(look, shown[0]) == browser.execute_script(look, on_page)
