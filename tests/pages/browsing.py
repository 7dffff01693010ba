"""Open pages of the built book in a browser, and read what is there."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from axe_core_python.selenium import Axe
from engines import is_chromium
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

ROOT = Path(__file__).parents[2]
TOC = ROOT / "_toc.yml"
PAGES = [
    f"{name}.html"
    for name in re.findall(r"^[\s-]*(?:root|file):\s*(\S+)", TOC.read_text(encoding="utf-8"), re.MULTILINE)
]
each_page = pytest.mark.parametrize("page", PAGES)

AT_ONCE = """
new MutationObserver((_, watch) => {
  if (!document.head) return;
  watch.disconnect();
  document.head.append(document.createElement("style"));
  document.head.lastChild.textContent = "* { content-visibility: visible !important; }";
}).observe(document, { childList: true, subtree: true });
"""


def visit(
    browser: webdriver.Chrome,
    url: str,
    scheme: str = "light",
    width: int = 1280,
    height: int = 900,
    later: bool = False,
    first: str = "",
) -> None:
    """Open a page, and wait until its pictures are there, and all of it is at rest unless `later` is true.

    The script `first` runs before those of the page.
    """
    use_screen(browser, width, height)
    use_scheme(browser, scheme)
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    source = first if later else AT_ONCE + first
    before = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    browser.get(url)
    browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", before)
    browser.execute_async_script(
        """
        const [later, done] = arguments;
        document.querySelectorAll("img").forEach((image) => { image.loading = "eager"; });
        const pictures = [...document.images].map((image) => image.decode().catch(() => {}));
        const rest = () => (later ? done() : requestIdleCallback(() => done()));
        Promise.all([document.fonts.ready, ...pictures]).then(rest, done);
        """,
        later,
    )


SCREENS = (1280, 720), (1024, 768)  # wider and less wide than a slide
CROWDED = """
const done = arguments[0];
const wide = (part) => part.scrollWidth > part.clientWidth + 1;
const high = (part) => part.scrollHeight > part.clientHeight + 1;
const size = parseFloat(getComputedStyle(document.documentElement).fontSize);
const crowded = (slide, i) => {
  const box = slide.querySelector(".content") || slide;
  const said = [];
  if (slide.getBoundingClientRect().height > innerHeight) said.push("higher than the screen");
  if (high(box) || wide(box)) said.push("something is cut off");
  if ([...box.querySelectorAll("mjx-container[display], pre, table")].some(wide)) said.push("a formula is cut off");
  if (slide.getBoundingClientRect().width > innerWidth) said.push("wider than the screen");
  if (parseFloat(getComputedStyle(slide).fontSize) < 0.79 * size) said.push("text is small");
  if (!box.children.length) said.push("nothing but a heading");
  const image = box.querySelector("img");
  if (image && Math.max(image.clientWidth / box.clientWidth, image.clientHeight / box.clientHeight) < 0.7) {
    said.push("a picture is small");
  }
  return said.map((each) => `slide ${i + 1}: ${each}`);
};
const look = () => {
  const slides = [...document.querySelectorAll("section")];
  const now = slides.findIndex((slide) => slide.classList.contains("now"));
  done(slides.flatMap((slide, i) => {
    slides.forEach((each, j) => each.classList.toggle("now", j === i));
    const said = crowded(slide, i);
    slides.forEach((each, j) => each.classList.toggle("now", j === now));
    return said;
  }));
};
const wait = () => document.body.classList.contains("ready") ? look() : setTimeout(wait, 10);
wait();
"""


def read_slides(browser: webdriver.Chrome, url: str, scheme: str = "light") -> list[str]:
    """Open a deck of slides as a projector shows it, and then another; return what does not fit on a slide."""
    visit(browser, url, scheme, *SCREENS[0])
    found = list(browser.execute_async_script(CROWDED))
    for width, height in SCREENS[1:]:
        use_screen(browser, width, height)
        found += browser.execute_async_script(CROWDED)
    return found


def use_screen(browser: webdriver.Remote, width: int, height: int) -> None:
    """Let the window be as large as a screen."""
    if not is_chromium(browser):
        browser.set_window_size(width, height)
        return
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


def use_keyboard(browser: webdriver.Remote) -> None:
    """Let the page hear of focus: without a screen, a window has the keyboard only after a first key or click."""
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)


def use_scheme(browser: webdriver.Chrome, scheme: str) -> None:
    """Let the system be light or dark, and ask for no movement."""
    features = [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def network(browser: webdriver.Chrome) -> tuple[list[str], list[str]]:
    """Return the addresses that were asked for since `visit`, and what went wrong with them."""
    asked, failed = [], []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        params = message["params"]
        if message["method"] == "Network.requestWillBeSent":
            asked.append(params["request"]["url"])
        elif message["method"] == "Network.responseReceived" and params["response"]["status"] >= 400:
            failed.append(f"{params['response']['status']} {params['response']['url']}")
    return asked, failed


def outer(element: WebElement) -> str:
    return (element.get_attribute("outerHTML") or "")[:200]


def errors(browser: webdriver.Chrome) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]


class View(NamedTuple):
    """A page as it is in the browser, and what was asked for and went wrong while it loaded."""

    page: str
    scheme: str
    width: int
    asked: list[str]
    failed: list[str]
    errors: list[str]


DESK, PHONE, SMALL = ("light", 1280), ("dark", 390), ("light", 360)


def seen_at(*screens: tuple[str, int]) -> pytest.MarkDecorator:
    """Run a test on each page, at each of some schemes and widths."""
    views = [(page, *screen) for page in PAGES for screen in screens]
    return pytest.mark.parametrize("view", views, indirect=True, ids=lambda view: "-".join(map(str, view)))


def send(browser: webdriver.Chrome, key: str) -> WebElement:
    """Press a key where the keyboard is, and return where it is then."""
    ActionChains(browser).send_keys(key).perform()
    return browser.switch_to.active_element


def press(slider: WebElement, key: str) -> tuple[str | None, ...]:
    """Press a key on a slider or a list, and return all that should follow: position, words, picture, alt text.

    No word leaves the picture.
    """
    slider.send_keys(key)
    explorer = slider.find_element(By.XPATH, "ancestor::*[contains(@class, 'fair-explorer')]")
    picture = explorer.find_element(By.TAG_NAME, "img")
    # A live explorer computes, for a moment.
    WebDriverWait(explorer, 10, 0.05).until(lambda explorer: explorer.get_attribute("aria-busy") is None)
    source, outside = slider.parent.execute_async_script(
        """
        const [image, done] = arguments, holder = document.body.appendChild(document.createElement("div"));
        image.decode().then(() => fetch(image.src)).then((found) => found.text()).then((text) => {
          holder.innerHTML = text.slice(text.indexOf("<svg"));
          const all = holder.querySelector("svg").getBoundingClientRect(), words = [...holder.querySelectorAll("text")];
          const out = ({ left, right, top, bottom, width }) => width > 0 &&
            (left < all.left - 8 || right > all.right + 8 || top < all.top - 8 || bottom > all.bottom + 8);
          done([image.src, words.filter((each) => out(each.getBoundingClientRect())).map((each) => each.textContent)]);
        }).catch(() => done([null, []])).finally(() => holder.remove());
        """,
        picture,
    )
    assert not outside, f"words leave the picture: {outside}"
    alt = picture.get_attribute("alt")
    if slider.tag_name == "select":
        words = slider.find_element(By.CSS_SELECTOR, "option:checked").text
    else:
        words = slider.find_element(By.XPATH, "ancestor::*[@class='slider']//output").text
        assert slider.get_attribute("aria-valuetext") == words
    assert source, f"the picture is broken at {words}"
    assert explorer.find_element(By.CSS_SELECTOR, "[role=status]").get_attribute("textContent") == alt
    return slider.get_attribute("value"), words, source, alt


def check_load(view: View, site: str, browser: webdriver.Chrome) -> None:
    """Check that a page has asked no other server for anything, and that its pictures and outputs are there."""
    inside = (site, "data:", "blob:", "about:", "chrome")
    assert not [url for url in view.asked if not url.startswith(inside)], "asked another host"
    assert not view.failed
    assert not view.errors
    assert browser.execute_script("return document.documentElement.dataset.theme") == view.scheme
    article = browser.find_element(By.TAG_NAME, "article")
    outputs = article.find_elements(By.CSS_SELECTOR, ".cell_output")
    assert not [output.text for output in outputs if "Traceback (most recent call last)" in output.text]
    pictures = browser.find_elements(By.CSS_SELECTOR, "img")
    assert not [outer(image) for image in pictures if image.get_property("naturalWidth") == 0], "broken pictures"
    pictures = article.find_elements(By.CSS_SELECTOR, "img")
    assert not [outer(image) for image in pictures if not image.get_attribute("alt")], "pictures without alt text"


def check_accessible(view: View, browser: webdriver.Chrome) -> None:
    """By day and by night: the open page changes with the system, and no more of it than its colours.

    What only a phone shows is the same on each page, and its colours are seen on the first alone.
    """
    # MathJax speaks for itself, and a page has a hundred thousand nodes of its formulas. Of its code's words, of which
    # it has as many, one of each colour stays: the others are text.
    browser.execute_script(
        """
        document.querySelectorAll("mjx-container").forEach((node) => node.replaceWith("formula"));
        document.querySelectorAll("article details").forEach((fold) => { fold.open = true; });
        const ground = new Map(), seen = new Set(), again = [];
        document.querySelectorAll("article :is(pre, .sig) span").forEach((word) => {
          const box = word.closest("pre, .sig");
          if (!ground.has(box)) ground.set(box, getComputedStyle(box).backgroundColor);
          const look = `${box.className} ${ground.get(box)} ${word.className}`;
          if (seen.has(look)) again.push(word); else seen.add(look);
        });
        // Only now, as a style asked for between two changes is computed anew for the whole page.
        again.forEach((word) => word.replaceWith(...word.childNodes));
        document.body.normalize();
        """
    )
    browser.execute_script(Axe().axe_script)
    other = "light" if view.scheme == "dark" else "dark"
    in_colour = ["color-contrast", "link-in-text-block"]
    checks: list[tuple[str, dict[str, object]]] = [(view.scheme, {}), (other, {"runOnly": in_colour})]
    if view.width != DESK[1] and view.page != PAGES[0]:
        checks = [(view.scheme, {"rules": {name: {"enabled": False} for name in in_colour}})]
    wrong = []
    for scheme, options in checks:
        use_scheme(browser, scheme)
        theme = "return document.documentElement.dataset.theme"
        WebDriverWait(browser, 5, 0.05).until(lambda browser: browser.execute_script(theme) == scheme)  # noqa: B023
        found = browser.execute_async_script(
            "const [options, done] = arguments; axe.run(document, options).then((found) => done(found.violations));",
            {"resultTypes": ["violations"], **options},  # else it takes twice as long
        )
        wrong += [(scheme, each["id"], each["nodes"][0]["html"][:200]) for each in found]
    assert not wrong


def move_every_slider(browser: webdriver.Remote) -> int:
    """Move every slider and every list of names by keys, and return how many there are."""
    sliders = browser.find_elements(By.CSS_SELECTOR, ".fair-explorer:has(img) :is([type=range], select)")
    for slider in sliders:
        assert slider.accessible_name
        slider.send_keys(Keys.END)  # or Home would move nothing when the slider starts there
        home, right, end = (press(slider, key) for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.END))
        last = slider.get_attribute("max") or str(len(slider.find_elements(By.TAG_NAME, "option")) - 1)
        assert (home[0], right[0], end[0]) == ("0", "1", last)
        for before, after in ((home, right), (home, end)):
            same = [name for name, a, b in zip(("value", "output", "src", "alt"), before, after, strict=True) if a == b]
            assert not same, f"{slider.accessible_name}: {same} stayed from {before[1]} to {after[1]}"
        assert press(slider, Keys.HOME) == home
    return len(sliders)
