"""Live pages of the built book in Firefox and WebKitGTK; Chromium is in the other files, with each page of the book."""

import pytest
from engines import FIREFOX, WEBKIT
from selenium import webdriver

from pages.browsing import move_every_slider, use_screen


@pytest.mark.parametrize("page", ["shares", "biased"])
@pytest.mark.parametrize("browser", [FIREFOX, WEBKIT], indirect=True)
def test_pictures_follow_the_keyboard(page: str, site: str, browser: webdriver.Remote) -> None:
    use_screen(browser, 1280, 900)
    browser.get(f"{site}/chapters/{page}.html?faults")
    assert move_every_slider(browser) >= 2
    assert browser.execute_script("return window.faults") == []
