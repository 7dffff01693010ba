"""Formulas that fill with what a slider says, and the guesses of the chapters."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import mathjax_build
import printing
import pytest
from matplotlib.figure import Figure
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from fairlib.pages import Guess, Slider, explore

CHAPTERS = Path(__file__).parent.parent / "chapters"
SOURCES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(CHAPTERS.glob("*.md"))}
FORMULA = re.compile(r"^\$\$\n((?:(?!\$\$).)*?\\class\{fill-.*?)\n\$\$", re.MULTILINE | re.DOTALL)
FILLED = {name: list(FORMULA.finditer(text)) for name, text in SOURCES.items() if "\\class{fill-" in text}


@pytest.mark.parametrize("chapter", FILLED)
def test_a_formula_has_the_values_at_which_its_sliders_start(chapter: str) -> None:
    assert len(re.findall("fill-", SOURCES[chapter])) == sum(found[1].count("fill-") for found in FILLED[chapter])
    for found in FILLED[chapter]:
        above = SOURCES[chapter][: found.start()].rpartition("explore(")[2]
        starts = re.findall(r"Slider\(.*start=\"?(.*?)\"?\)", above)
        for slider, value in re.findall(r"\\class\{fill-(\d)\}\{(.*?)\}", found[1]):
            assert starts[int(slider) - 1] == value


@pytest.fixture(scope="module", params=[(chapter, i) for chapter in FILLED for i in range(len(FILLED[chapter]))])
def page(request: pytest.FixtureRequest, browser: webdriver.Chrome, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Put a formula of a chapter under an explorer, on a page."""
    chapter, i = request.param

    def figure(one: float, other: float) -> Figure:
        return Figure(label=f"{one} and {other}", figsize=(1, 1))

    explorer = explore(figure, one=Slider("One", [0.5, 4, 10]), other=Slider("Other", [0.02, 0.35, 1000]))
    formula = FILLED[chapter][i][1], True
    set_so, style = mathjax_build.typeset([formula, ("0123456789.,", True)])
    folder = tmp_path_factory.mktemp("page")
    shutil.copy(CHAPTERS / "assets" / "book.js", folder)
    page = folder / "page.html"
    page.write_text(
        f"<!doctype html><meta charset=utf-8><style>{style}</style><script defer src=book.js></script>"
        f'<div class="bd-article">{explorer._repr_mimebundle_()["text/html"]}{set_so[formula][0]}</div>',
        encoding="utf-8",
    )
    return page


@pytest.fixture
def motion(request: pytest.FixtureRequest, browser: webdriver.Chrome) -> Iterator[None]:
    """Ask for this motion; what other tests asked of the same browser no longer holds."""
    asked = {"name": "prefers-reduced-motion", "value": request.param}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [asked]})
    yield
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def places(browser: webdriver.Chrome, slider: int) -> list[str]:
    """Return the contents of the places of a slider: glyphs as they are drawn, and what is read out."""
    found: list[str] = browser.execute_script(
        """
        const glyph = (each) => getComputedStyle(each, "::before").content.slice(1, -1);
        const drawn = (each) => [...each.children].map(glyph).join("");
        return [...document.querySelectorAll(`mjx-container .fill-${arguments[0]}`)].map(
          (each) => (each.localName === "mn" ? each.textContent : drawn(each)));
        """,
        slider,
    )
    return found


LIT = "return document.getAnimations().map((each) => each.effect.target.localName)"


@pytest.fixture
def slow(browser: webdriver.Chrome) -> Iterator[None]:
    """Let animations take minutes, so that they are seen however busy the machine is."""
    browser.execute_cdp_cmd("Animation.enable", {})
    browser.execute_cdp_cmd("Animation.setPlaybackRate", {"playbackRate": 0.01})
    yield
    browser.execute_cdp_cmd("Animation.setPlaybackRate", {"playbackRate": 1})
    browser.execute_cdp_cmd("Animation.disable", {})


@pytest.mark.parametrize("motion", ["no-preference"], indirect=True)
@pytest.mark.usefixtures("slow", "motion")
def test_a_formula_says_what_the_slider_says(page: Path, browser: webdriver.Chrome) -> None:
    browser.get(page.as_uri())
    sliders = browser.find_elements(By.CSS_SELECTOR, ".slider")
    filled = False
    for i, slider in enumerate(sliders, start=1):
        for key in (Keys.END, Keys.HOME, Keys.ARROW_RIGHT):
            slider.find_element(By.TAG_NAME, "input").send_keys(key)
            said, shown = slider.find_element(By.TAG_NAME, "output").text, places(browser, i)
            assert said in ("0.5", "4", "10", "0.02", "0.35", "1,000")
            assert len(shown) % 2 == 0  # what is drawn, and what is read out
            assert set(shown) <= {said}
            filled = filled or bool(shown)
    assert filled
    assert "mjx-mn" in browser.execute_script(LIT)


@pytest.mark.parametrize("motion", ["reduce"], indirect=True)
@pytest.mark.usefixtures("motion")
def test_nothing_lights_up_for_whoever_asks_for_less_motion(page: Path, browser: webdriver.Chrome) -> None:
    browser.get(page.as_uri())
    for i, slider in enumerate(browser.find_elements(By.CSS_SELECTOR, ".slider input"), start=1):
        slider.send_keys(Keys.END)
        assert set(places(browser, i)) <= {"10", "1,000"}
    assert browser.execute_script(LIT) == []


def test_on_paper_the_answer_is_at_the_end(tmp_path: Path) -> None:
    asked = Guess("How many?", "It is 87.", 0, 100)._repr_html_()
    (tmp_path / "page.html").write_text(f"<article>{asked}<p>More.</p></article>", encoding="utf-8")
    chapter = printing.article(tmp_path, "page", ["page"], "")
    assert not chapter.select("details")
    before, _, after = chapter.get_text(" ").partition("More.")
    assert "87" not in before
    assert "How many?" in before
    assert after.split() == ["Answers", "How", "many?", "It", "is", "87."]
