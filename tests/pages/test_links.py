"""The setting of an explorer in the address: it is kept, copied and read, and printed."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import matplotlib.pyplot as plt
import printing
import pytest
from matplotlib.figure import Figure
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

import fairlib as fl
from fairlib.core import Number
from fairlib.pages import Live, Slider, explore, moving, scripts
from pages.browsing import errors, press, use_screen, visit


def growth(law: str, times: int) -> Figure:
    return Figure(label=f"{law}: {times}", figsize=(3, 2))


def selections(rounds: int, selected: Any, first: Number) -> None:
    first[0] = selected[selected.shape[0] - 1, 0]


def first_arm(rounds: int, first: float) -> Figure:
    fig, ax = plt.subplots(figsize=(3, 2))
    moving(ax.plot(rounds, first, "o")[0], y="first")
    return fig


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a page with three explorers on the disk, two of them of one function; return its address."""
    monkeypatch.setenv("FAIRLIB_LIVE", "0")
    times, law = Slider("Times", [1, 20_000, 300_000]), Slider("Law", ["fixed", "a & b", "heavy, 2,000 late"])
    game, policy = fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.thompson_beta()
    live = Live(
        selections, alt="{first:.0f} of {rounds:,.0f}", problem=game, policy=policy, horizon=5000, means="Means"
    )
    made = [
        explore(growth, law=law, times=times),
        explore(growth, law=law, times=times),
        explore(first_arm, live=live, rounds=Slider("Rounds", [10, 1000, 5000])),
    ]
    parts = "<p style='height: 150vh'></p>".join(each._repr_mimebundle_()["text/html"] for each in made)
    script = f"window.fairRuntime = {json.dumps(scripts.runtime())};\n{scripts.explorers()}"
    text = f"<!doctype html><meta charset=utf-8><title>Links</title>{parts}<script>{script}</script>"
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


def explorer(browser: webdriver.Chrome, name: str) -> WebElement:
    return browser.find_element(By.ID, name)


def control(browser: webdriver.Chrome, name: str, which: str) -> WebElement:
    return explorer(browser, name).find_element(By.NAME, which)


def seen(browser: webdriver.Chrome, name: str) -> tuple[str | None, ...]:
    """Return the picture of an explorer once it is computed, its alt text, and how its controls stand."""
    root = explorer(browser, name)
    WebDriverWait(root, 20, 0.05).until(lambda root: root.get_attribute("aria-busy") is None)
    picture = root.find_element(By.TAG_NAME, "img")
    inputs = root.find_elements(By.CSS_SELECTOR, ".slider :is(input, select), [type=number]")
    places = [each.get_attribute("value") for each in inputs]
    words = [each.get_attribute("textContent") for each in root.find_elements(By.TAG_NAME, "output")]
    return picture.get_attribute("src"), picture.get_attribute("alt"), str(places), str(words)


def wait_for_address(browser: webdriver.Chrome, part: str) -> str:
    WebDriverWait(browser, 5, 0.05).until(lambda browser: part in browser.current_url)
    return str(browser.current_url)


def copied(browser: webdriver.Chrome, name: str, allowed: bool = True) -> str:
    """Press the button, and return what it copies, or selects where a page may not copy."""
    browser.execute_script(
        """
        const writeText = async (text) => { if (!arguments[0]) throw new Error("not allowed"); window.copied = text; };
        Object.defineProperty(navigator, "clipboard", { value: { writeText }, configurable: true });
        """,
        allowed,
    )
    root = explorer(browser, name)
    button = root.find_element(By.CSS_SELECTOR, ".link")
    assert button.accessible_name == "Copy link"
    assert min(button.size["height"], button.size["width"]) >= 44
    assert not root.find_elements(By.CLASS_NAME, "copied")
    button.send_keys(Keys.ENTER)
    if not allowed:
        field = WebDriverWait(root, 5, 0.05).until(lambda root: root.find_element(By.CLASS_NAME, "copied"))
        assert field.is_displayed()
        assert field.accessible_name == "Link to this setting"
        return str(browser.execute_script("return getSelection().toString()"))
    status = root.find_element(By.CSS_SELECTOR, "[role=status]")
    WebDriverWait(status, 5, 0.05).until(lambda status: status.get_attribute("textContent") == "Copied")
    assert button.text == "Copied"
    WebDriverWait(button, 5, 0.05).until(lambda button: button.text == "Copy link")
    return str(browser.execute_script("return window.copied"))


def open_anew(browser: webdriver.Chrome, address: str) -> None:
    browser.get("about:blank")  # or what differs after # alone does not load it
    browser.get(address)


def in_sight(browser: webdriver.Chrome, name: str) -> bool:
    """Whether the reader is led to the explorer."""
    box = "const { top, bottom } = arguments[0].getBoundingClientRect(); return top < innerHeight && bottom > 0;"
    return bool(browser.execute_script(box, explorer(browser, name)))


@pytest.mark.parametrize("name", ["growth", "growth-2"])
def test_a_stored_picture_comes_back(name: str, page: str, browser: webdriver.Chrome) -> None:
    use_screen(browser, 1280, 900)
    open_anew(browser, page)
    press(control(browser, name, "law"), Keys.END)
    press(control(browser, name, "times"), Keys.END)
    address = wait_for_address(browser, "times=300000")
    assert address.endswith(f"#{name}")
    assert parse_qs(urlsplit(address).query) == {"law": ["heavy, 2000 late"], "times": ["300000"]}
    moved = seen(browser, name)
    assert moved[1] == "heavy, 2,000 late: 300000"
    assert copied(browser, name) == copied(browser, name, allowed=False) == address
    (other,) = {"growth", "growth-2"} - {name}
    for load in (browser.refresh, lambda: open_anew(browser, address)):
        load()
        assert seen(browser, name) == moved
        assert seen(browser, other)[1] == "a & b: 20000"
        assert in_sight(browser, name)
    assert not errors(browser)


def test_a_live_picture_comes_back_with_its_seed_and_means(page: str, browser: webdriver.Chrome) -> None:
    use_screen(browser, 1280, 900)
    open_anew(browser, page)
    name = "first-arm"
    slider = control(browser, name, "rounds")
    press(slider, Keys.HOME)
    address = wait_for_address(browser, "rounds=10&seed=0")
    assert "means" not in address
    browser.execute_script("arguments[0].value = 1.25; arguments[0].dispatchEvent(new Event('input'));", slider)
    explorer(browser, name).find_element(By.CSS_SELECTOR, ".chance button").send_keys(Keys.ENTER)
    before = seen(browser, name)
    explorer(browser, name).find_element(By.TAG_NAME, "summary").click()
    field = explorer(browser, name).find_element(By.CSS_SELECTOR, "[type=number]")
    field.clear()
    field.send_keys("0.25")
    address = wait_for_address(browser, "?rounds=2000&seed=1&means=0.25,0.5#first-arm")
    moved = seen(browser, name)
    assert moved[1] != before[1]
    assert "seed 1" in str(moved[3])
    assert copied(browser, name) == address
    for load in (browser.refresh, lambda: open_anew(browser, address.replace(",", "%2C"))):
        load()
        assert seen(browser, name) == moved
        assert explorer(browser, name).find_element(By.CSS_SELECTOR, "[type=number]").is_displayed()
    assert not errors(browser)


@pytest.mark.parametrize(
    "link",
    [
        "rounds=7&seed=-1&means=0.5",
        "__proto__=1&constructor=2&toString=3&rounds=__proto__&seed=1e3&means=,",
        f"rounds={'9' * 50_000}&seed={'9' * 50_000}&means={'0.5,' * 10_000}",
    ],
)
def test_nonsense_in_a_link_is_ignored(link: str, page: str, browser: webdriver.Chrome) -> None:
    open_anew(browser, page)
    start = seen(browser, "first-arm")
    open_anew(browser, f"{page}?{link}#first-arm")
    assert seen(browser, "first-arm")[1:] == start[1:]
    for name in ("#growth", "#nobody", ""):
        open_anew(browser, f"{page}?{link}&law=5&times={name}")
        assert seen(browser, "growth")[1] == seen(browser, "growth-2")[1] == "a & b: 20000"
    assert not errors(browser)


def test_a_printed_page_has_the_address_of_its_pictures(page: str, browser: webdriver.Chrome) -> None:
    open_anew(browser, page)
    press(control(browser, "growth-2", "times"), Keys.END)
    said = browser.find_elements(By.CSS_SELECTOR, ".address")
    assert not [each for each in said if each.is_displayed()]
    base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert [each.text for each in said] == [
            "Interactive version: page.html?law=a+%26+b&times=20000#growth",
            "Interactive version: page.html?law=a+%26+b&times=300000#growth-2",
            "Interactive version: page.html?rounds=1000&seed=0#first-arm",
        ]
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize("address", ["", "https://example.org/"])
def test_the_printed_book_has_them_too(address: str, book: Path) -> None:
    known = printing.pages(book)
    text = printing.article(book, "chapters/exposure", known, address).decode()
    assert f"Interactive version: <span>{address and address + 'chapters/'}exposure.html#steepness</span>" in text


def test_a_link_survives_the_scripts_of_the_book(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    name = "promise-kept"
    press(explorer(browser, name).find_element(By.CSS_SELECTOR, "[type=range]"), Keys.END)
    address = wait_for_address(browser, f"#{name}")
    moved = seen(browser, name)
    browser.refresh()
    assert seen(browser, name)[:2] == moved[:2]
    visit(browser, address)
    assert seen(browser, name)[:2] == moved[:2]
    assert in_sight(browser, name)
    assert not errors(browser)
