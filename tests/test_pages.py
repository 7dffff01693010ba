"""The built book in a browser: each page needs nothing from outside, reads on a phone, and its sliders move."""

import csv
import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import downloads
import flashcards
import jupytext
import nbformat
import printing
import pytest
import slides
from axe_core_python.selenium import Axe
from bs4 import BeautifulSoup, Tag
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

ROOT = Path(__file__).parent.parent
TOC = ROOT / "_toc.yml"
PAGES = [
    f"{name}.html"
    for name in re.findall(r"^[\s-]*(?:root|file):\s*(\S+)", TOC.read_text(encoding="utf-8"), re.MULTILINE)
]
each_page = pytest.mark.parametrize("page", PAGES)


@pytest.fixture(scope="session")
def book() -> Path:
    """Return the folder of the built pages, built anew if anything has changed since."""
    if os.name == "nt" or not shutil.which("make"):
        pytest.skip(
            "the pages are built with make, which is not here or, on Windows, does not know the folders of .venv"
        )
    build = subprocess.run(["make", "_build/book.done"], cwd=ROOT, capture_output=True, text=True, check=False)
    if build.returncode:
        pytest.fail(f"the book does not build:\n{build.stdout[-3000:]}\n{build.stderr[-6000:]}", pytrace=False)
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def site(book: Path) -> Iterator[str]:
    """Serve the pages on this machine alone; return their address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/favicon.ico":  # the browser asks for it of its own accord
                self.send_response(204)
                self.end_headers()
            else:
                super().do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(book))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def visit(browser: webdriver.Chrome, url: str, scheme: str = "light", width: int = 1280) -> None:
    """Open a page, and wait until its pictures are there."""
    screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    use_scheme(browser, scheme)
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)
    browser.get(url)
    browser.execute_async_script(
        """
        const done = arguments[0];
        document.querySelectorAll("img").forEach((image) => { image.loading = "eager"; });
        const pictures = [...document.images].map((image) => image.decode().catch(() => {}));
        Promise.all([document.fonts.ready, ...pictures]).then(() => done(), done);
        """
    )


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
    """A page as it stands in the browser, and what was asked for and went wrong while it loaded."""

    page: str
    scheme: str
    width: int
    asked: list[str]
    failed: list[str]
    errors: list[str]


@pytest.fixture(scope="module")
def view(request: pytest.FixtureRequest, site: str, browser: webdriver.Chrome) -> View:
    """Open a page once for all tests that look at it at this width."""
    page, scheme, width = request.param
    visit(browser, f"{site}/{page}", scheme, width)
    return View(page, scheme, width, *network(browser), errors(browser))


DESK, PHONE, SMALL = ("light", 1280), ("dark", 390), ("light", 360)


def seen_at(*screens: tuple[str, int]) -> pytest.MarkDecorator:
    """Run a test on each page, at each of some schemes and widths."""
    views = [(page, *screen) for page in PAGES for screen in screens]
    return pytest.mark.parametrize("view", views, indirect=True, ids=lambda view: "-".join(map(str, view)))


@seen_at(DESK, PHONE)
def test_page_loads(view: View, site: str, browser: webdriver.Chrome) -> None:
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


@seen_at(PHONE, SMALL)
def test_page_fits_a_phone(view: View, browser: webdriver.Chrome) -> None:
    # Names what sticks out: not what scrolls inside its own box, nor what is parked off screen, as a closed menu is.
    wide = browser.execute_script(
        """
        if (document.documentElement.scrollWidth <= innerWidth + 1) return [];
        const found = [...document.querySelectorAll("article *")].filter((node) => {
          if (node.getBoundingClientRect().right <= innerWidth + 1) return false;
          for (let box = node.parentElement; box !== document.body; box = box.parentElement)
            if (getComputedStyle(box).overflowX !== "visible") return false;
          return true;
        });
        return [`${document.documentElement.scrollWidth} px`, ...found.map((node) => node.outerHTML.slice(0, 200))];
        """
    )
    assert not wide, "the page scrolls sideways"


@each_page
def test_formulas_are_there_without_scripts(page: str, book: Path) -> None:
    article = BeautifulSoup((book / page).read_text(encoding="utf-8"), "html.parser").find("article")
    assert article
    for part in article.select("code, pre, script"):
        part.decompose()
    assert not re.findall(r"\\[(\[].*", article.get_text())
    for formula in article.select(".math"):
        assert formula.select("mjx-math, math"), formula.get_text()


@seen_at(PHONE, SMALL)
def test_no_formula_is_cut(view: View, browser: webdriver.Chrome) -> None:
    cut = browser.execute_script(
        """
        return [...document.querySelectorAll("article mjx-container")].filter((formula) => {
          const { right } = formula.getBoundingClientRect();
          for (let box = formula; box !== document.body; box = box.parentElement) {
            const { overflowX } = getComputedStyle(box);
            if (["auto", "scroll"].includes(overflowX)) return false; // the reader can move it
            if (overflowX !== "visible" && right > box.getBoundingClientRect().right + 1) return true;
          }
          return right > innerWidth + 1;
        }).map((formula) => formula.parentElement.textContent.slice(0, 100));
        """
    )
    assert not cut


@seen_at(PHONE, SMALL)
def test_no_line_begins_with_what_follows_a_wide_formula(view: View, browser: webdriver.Chrome) -> None:
    """A comma or a full stop stays on the line on which its formula ends."""
    alone = browser.execute_script(
        """
        const place = document.createRange();
        return [...document.querySelectorAll("article span.math")].filter((formula) => {
          const next = formula.nextSibling;
          if (next?.nodeType !== Node.TEXT_NODE || !/^[.,;:)]/.test(next.data)) return false;
          if (!formula.checkVisibility()) return false;
          place.setStart(next, 0);
          place.setEnd(next, 1);
          const { top, left } = place.getBoundingClientRect();
          const line = formula.closest("p, li, dd, td, div").getBoundingClientRect();
          return left < line.left + 8 && top >= formula.getBoundingClientRect().bottom - 4;
        }).map((formula) => formula.parentElement.textContent.slice(0, 100));
        """
    )
    assert not alone


@seen_at(PHONE)
def test_code_scrolls_on_a_phone(view: View, browser: webdriver.Chrome) -> None:
    """No line of code goes on at the margin, where it would look like one of its own."""
    wrong = browser.execute_script(
        """
        document.querySelectorAll("article details").forEach((fold) => { fold.open = true; });
        return [...document.querySelectorAll("article :is(.cell_input, .highlight) pre")].filter((code) => {
          const style = getComputedStyle(code);
          return style.whiteSpace !== "pre" || style.overflowX !== "auto";
        }).map((code) => code.textContent.slice(0, 80));
        """
    )
    assert not wrong


@seen_at(DESK)
def test_each_id_is_there_once(view: View, browser: webdriver.Chrome) -> None:
    doubled = browser.execute_script(
        """
        const names = [...document.querySelectorAll("article [id]")].map((node) => node.id);
        return names.filter((name, i) => names.indexOf(name) !== i);
        """
    )
    assert not doubled


@seen_at(DESK)
def test_code_output_and_formulas_are_no_wider_than_their_box(view: View, browser: webdriver.Chrome) -> None:
    wide = browser.execute_script(
        """
        document.querySelectorAll("article details").forEach((fold) => { fold.open = true; });
        const boxes = ":is(.highlight, .cell_output) pre, div.math mjx-container";
        return [...document.querySelectorAll(`article :is(${boxes})`)]
          .filter((box) => box.scrollWidth > box.clientWidth + 1)
          .map((box) => `${box.scrollWidth} in ${box.clientWidth}: ${box.textContent.slice(0, 200)}`);
        """
    )
    assert not wide


@seen_at(DESK, PHONE)
def test_page_is_accessible(view: View, browser: webdriver.Chrome) -> None:
    """By day and by night: the page as it stands changes with the system, and no more of it than its colours.

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
    serious = []
    for scheme, options in checks:
        use_scheme(browser, scheme)
        theme = "return document.documentElement.dataset.theme"
        WebDriverWait(browser, 5, 0.05).until(lambda browser: browser.execute_script(theme) == scheme)  # noqa: B023
        found = browser.execute_async_script(
            "const [options, done] = arguments; axe.run(document, options).then((found) => done(found.violations));",
            {"resultTypes": ["violations"], **options},  # else it takes twice as long
        )
        serious += [
            (scheme, each["id"], each["nodes"][0]["html"][:200])
            for each in found
            if each["impact"] in ("serious", "critical") and each["id"] not in OF_THE_THEME
        ]
    assert not serious


OF_THE_THEME = {"aria-required-children"}  # docutils' bibliography: a list of entries by a role that axe does not know


def test_a_reference_shows_what_it_points_to(book: Path, browser: webdriver.Chrome) -> None:
    """From a disk, by the keyboard."""
    visit(browser, (book / "chapters/shares.html").as_uri())
    shown = browser.execute_async_script(
        """
        const done = arguments[0];
        const link = document.querySelector("article a.internal[href$='#thm-ucb1']");
        const shown = () => [link.getAttribute("aria-describedby"), document.querySelector(".preview").textContent];
        link.scrollIntoView();
        link.focus({ focusVisible: true });
        setTimeout(() => done(shown()), 2000);
        """
    )
    assert shown[0] == "preview"
    assert "UCB1, gap by gap" in shown[1]
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ESCAPE)
    assert not browser.find_element(By.CLASS_NAME, "preview").is_displayed()


def send(browser: webdriver.Chrome, key: str) -> WebElement:
    """Press a key where the keyboard is, and return where it is then."""
    ActionChains(browser).send_keys(key).perform()
    return browser.switch_to.active_element


def test_the_tab_key_stops_once_at_what_belongs_together(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    stops: list[WebElement] = []
    while (stop := send(browser, Keys.TAB)).tag_name != "body":
        assert stop not in stops
        stops.append(stop)
    assert len(stops) <= 60
    for inside in ("nav.bd-links a", "nav.page-toc a", ".solution .toggle-button", ".fair-answers input"):
        assert len(set(browser.find_elements(By.CSS_SELECTOR, inside)) & set(stops)) == 1
    lost = browser.execute_script(
        """
        const places = [...document.querySelectorAll("a[href]:not(.headerlink), button, input, summary")]
          .filter((place) => place.checkVisibility({ visibilityProperty: true }));
        const reached = (place) => place.tabIndex === 0 || place.dataset.together;
        return places.filter((place) => !reached(place) && !place.closest(".solution > .admonition-title"))
          .filter((place) => !places.some((other) => reached(other) && other.href && other.href === place.href))
          .map((place) => place.outerHTML);
        """
    )
    assert not lost, "neither Tab nor the arrow keys come there"


def test_the_arrow_keys_go_on_from_a_stop(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    while "current" not in (send(browser, Keys.TAB).get_attribute("class") or ""):
        pass
    assert send(browser, Keys.END).text == "Bibliography"
    assert send(browser, Keys.HOME).text == "Fair bandits"
    assert send(browser, Keys.ARROW_DOWN).text == "How to read this book"
    while (first := send(browser, Keys.TAB)).get_attribute("href") != f"{site}/chapters/bandits.html#bandits":
        pass
    second = send(browser, Keys.ARROW_RIGHT)
    assert second.text == "2021"
    assert send(browser, Keys.ARROW_LEFT) == first
    time.sleep(1)  # longer than a preview stays that is no longer wanted
    assert "Bandits in one sitting" in browser.find_element(By.CLASS_NAME, "preview").text
    send(browser, Keys.ENTER)
    WebDriverWait(browser, 5).until(lambda browser: browser.current_url.endswith("/bandits.html#bandits"))


def test_a_button_in_the_head_shows_that_the_keyboard_is_on_it(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    look = """
        const style = getComputedStyle(arguments[0]);
        return [style.outlineStyle === "none" ? "0px" : style.outlineWidth, style.boxShadow];
    """
    bare, seen = (["0px", "none"], set())
    while (stop := send(browser, Keys.TAB)).tag_name != "body":
        if browser.execute_script("return !!arguments[0].closest('.bd-header-article')", stop):
            assert browser.execute_script(look, stop) != bare, outer(stop)
            seen.add(stop.accessible_name)
    assert {"Toggle primary sidebar", "Download this page"} <= seen


@seen_at(DESK)
def test_a_fold_is_named_by_what_it_opens(view: View, browser: webdriver.Chrome) -> None:
    buttons = browser.find_elements(By.CSS_SELECTOR, "article .toggle-button")
    names = [button.accessible_name for button in buttons]
    for button, name in zip(buttons, names, strict=True):
        title = button.find_element(By.XPATH, "..").get_attribute("textContent") or ""
        assert name
        assert name in " ".join(title.split())
    solutions = [name for name in names if name.startswith("Solution to")]
    assert len(set(solutions)) == len(solutions), "two solutions have one name"
    assert all(re.match(r"Solution to Exercise [\d.]+", name) for name in solutions)


WIDE = ".proof-map, .pst-scrollable-table-container"


@pytest.mark.parametrize(("page", "width"), [("map", 390), ("map", 1280), ("notation", 390), ("speed", 390)])
def test_what_is_wide_fades_and_can_be_scrolled(page: str, width: int, site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/{page}.html", width=width)
    boxes = browser.execute_script(
        """
        return [...document.querySelectorAll(`article :is(${arguments[0]})`)]
          .filter((box) => box.scrollWidth > box.clientWidth + 1);
        """,
        WIDE,
    )
    assert boxes
    for box in boxes:
        assert "more-right" in (box.get_attribute("class") or "").split()
        assert "gradient" in box.value_of_css_property("mask-image")
        assert box.get_property("tabIndex") == 0
    browser.execute_script("arguments[0].focus()", boxes[0])
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT * 3).perform()
    WebDriverWait(boxes[0], 5).until(lambda box: "more-left" in (box.get_attribute("class") or "").split())


def test_a_picture_fades_while_it_is_computed(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    explorer = browser.find_element(By.CSS_SELECTOR, ".fair-explorer:has(img)")
    picture = explorer.find_element(By.TAG_NAME, "img")
    assert picture.value_of_css_property("opacity") == "1"
    browser.execute_script("arguments[0].setAttribute('aria-busy', 'true')", explorer)
    WebDriverWait(picture, 5).until(lambda picture: float(picture.value_of_css_property("opacity")) < 0.5)


def test_a_proof_folds_to_the_names_of_its_steps(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/bandits.html")
    button = browser.find_element(By.CSS_SELECTOR, "#thm-ucb1 + .proof > button.steps")
    proof = button.find_element(By.XPATH, "..")
    whole = proof.text
    assert "Suppose that in round" in whole
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-pressed") == "true"
    names = proof.text
    assert [name[:6] for name in names.splitlines() if name.startswith("Step ")] == [f"Step {n}" for n in (1, 2, 3, 4)]
    assert "Suppose that in round" not in names
    button.send_keys(Keys.SPACE)
    assert proof.text == whole


@pytest.mark.parametrize("place", ["bandits.html#thm-ucb1", "bandits.html#ex-kl", "errata.html#e-p1"])
def test_a_statement_shows_its_address(place: str, site: str, browser: webdriver.Chrome) -> None:
    page, name = place.split("#")
    visit(browser, f"{site}/chapters/{page}")
    link = browser.find_element(By.CSS_SELECTOR, f"#{name} > .admonition-title > a.headerlink, p#{name} > a.headerlink")
    assert not link.is_displayed()
    title = link.find_element(By.XPATH, "..")
    ActionChains(browser).scroll_to_element(title).move_to_element_with_offset(title, 0, 0).perform()
    assert link.is_displayed()
    assert link.get_attribute("href") == f"{site}/chapters/{place}"


FIRST_ANSWERS = {
    "regret": "bandits.html#def-regret",
    "fairness regret": "exposure.html#def-two-regrets",
    "reward regret": "exposure.html#def-two-regrets",
    "r-regret": "shares.html#def-r-regret",
    "gap": "bandits.html#def-bandit",
    "tape": "bandits.html#bandits",
    "arm": "bandits.html#def-bandit",
    "merit function": "exposure.html#def-merit-conditions",
    "merit": "exposure.html#def-merit-conditions",
    "Lipschitz": "exposure.html#def-merit-conditions",
    "share": "shares.html#def-alpha-fair",
    "delay": "delays.html#delays",
    "context": "context.html#context",
    "relative rank": "ranks.html#ranks",
    "price of fairness": "ranks.html#thm-price",
    "demographic parity": "ranks.html#prop-parity",
    "Thompson sampling": "bandits.html#bandits",
    "Theorem 1": "shares.html#fm-thm-1",
    "Theorem 3.2.1": "exposure.html#fx-thm-3-2-1",
    "Lemma 5.2": "ranks.html#gmf-lem-5-2",
    "E-G1": "errata.html#e-g1",
    "E-P4": "errata.html#e-p4",
    "FAIR-LEARN": "shares.html#fm-alg-1-fair-learn",
    "FairX-UCB": "exposure.html#fx-alg-1-fairx-ucb",
    "Fair-Greedy": "ranks.html#gmf-alg-1-fair-greedy",
    "OFUL": "ranks.html#gmf-baselines",
    "Hoeffding": "toolbox.html#thm-hoeffding",
    "self-normalised": "toolbox.html#thm-self-normalised",
    "simulate": "api.html#fairlib.simulate",
    "notation": "notation.html",
}


def search(browser: webdriver.Chrome, site: str, query: str) -> list[WebElement]:
    """Search for something, and return what was found, best first."""
    browser.get(f"{site}/search.html?q={query}")
    WebDriverWait(browser, 20).until(lambda browser: browser.find_elements(By.CSS_SELECTOR, "#search-results h2"))
    return browser.find_elements(By.CSS_SELECTOR, "ul.search li")


def leads_to(hit: WebElement) -> str:
    """Return the page and the id to which a hit leads."""
    parts = urlsplit(hit.find_element(By.TAG_NAME, "a").get_attribute("href") or "")
    return f"{parts.path.removeprefix('/chapters/')}#{unquote(parts.fragment)}"


@pytest.mark.parametrize("query", FIRST_ANSWERS)
def test_the_search_puts_the_right_place_first(query: str, site: str, browser: webdriver.Chrome) -> None:
    assert leads_to(search(browser, site, query)[0]).startswith(FIRST_ANSWERS[query])


def test_the_search_leads_to_places(site: str, browser: webdriver.Chrome) -> None:
    """Of 30 queries at least 27 find the right place among the first three hits, and the link lands there.

    The places were chosen before the search was asked. A query without a place is for what the book doesn't have.
    """
    with (ROOT / "tests" / "searches.csv").open(newline="", encoding="utf-8") as file:
        wanted = {row["query"]: row["places"].split() for row in csv.DictReader(file)}
    assert len(wanted) == 30
    missed = {}
    for query, places in wanted.items():
        hits = [hit.find_element(By.TAG_NAME, "a").get_attribute("href") or "" for hit in search(browser, site, query)]
        if not places and not hits:
            continue
        landed = []
        for hit in hits[:3]:
            page = Path(urlsplit(hit).path).stem
            ids = [place.partition("#")[2] for place in places if place.partition("#")[0] == page]
            if ids:
                visit(browser, hit)
                landed += browser.execute_script(
                    """
                    const marked = CSS.highlights.get("found").size;
                    const { scrollHeight } = document.documentElement; // at its end a page scrolls no further
                    const reach = scrollY + innerHeight >= scrollHeight - 2 ? innerHeight : 200;
                    return arguments[0].map((id) => document.getElementById(id)?.getBoundingClientRect().top)
                      .filter((top) => marked && 0 <= top && top <= reach);
                    """,
                    ids,
                )
        if not landed:
            missed[query] = hits[:3]
    assert len(missed) <= 3, missed


def test_what_the_search_shows_is_text(book: Path, site: str, browser: webdriver.Chrome) -> None:
    for at in (site, book.as_uri()):
        for query in ("yeast", "fairness regret", "dice"):
            shown = [hit.find_element(By.CLASS_NAME, "context") for hit in search(browser, at, query)]
            assert len(shown) >= 3
            for each in shown:
                assert not re.search(
                    r"\.md|\.ipynb|Contents|Toggle|\((not run|passed|failed|skipped)|\\\\", each.text
                ), each.text
            assert any(each.find_elements(By.TAG_NAME, "mark") for each in shown)
    assert not errors(browser)


def press(slider: WebElement, key: str) -> tuple[str | None, ...]:
    """Press a key on a slider, and return all that should follow: position, words, picture, alt text."""
    slider.send_keys(key)
    explorer = slider.find_element(By.XPATH, "ancestor::*[contains(@class, 'fair-explorer')]")
    picture = explorer.find_element(By.TAG_NAME, "img")
    # A live explorer computes, for a moment.
    WebDriverWait(explorer, 10, 0.05).until(lambda explorer: explorer.get_attribute("aria-busy") is None)
    decode = "const [image, done] = arguments; image.decode().then(() => done(image.src), () => done(null));"
    source = slider.parent.execute_async_script(decode, picture)
    alt = picture.get_attribute("alt")
    words = slider.find_element(By.XPATH, "ancestor::*[@class='slider']//output").text
    assert source, f"the picture is broken at {words}"
    assert slider.get_attribute("aria-valuetext") == words
    assert explorer.find_element(By.CSS_SELECTOR, "[role=status]").get_attribute("textContent") == alt
    return slider.get_attribute("value"), words, source, alt


def move_every_slider(browser: webdriver.Chrome) -> int:
    sliders = browser.find_elements(By.CSS_SELECTOR, ".fair-explorer:has(img) [type=range]")
    for slider in sliders:
        assert slider.accessible_name
        slider.send_keys(Keys.END)  # or Home would move nothing when the slider starts there
        home, right, end = (press(slider, key) for key in (Keys.HOME, Keys.ARROW_RIGHT, Keys.END))
        assert (home[0], right[0], end[0]) == ("0", "1", slider.get_attribute("max"))
        for before, after in ((home, right), (home, end)):
            same = [name for name, a, b in zip(("value", "output", "src", "alt"), before, after, strict=True) if a == b]
            assert not same, f"{slider.accessible_name}: {same} stayed from {before[1]} to {after[1]}"
        assert press(slider, Keys.HOME) == home
    return len(sliders)


@seen_at(DESK)
def test_sliders_move(view: View, browser: webdriver.Chrome) -> None:
    errors(browser)  # what went wrong until now is another test's to tell
    use_scheme(browser, view.scheme)
    move_every_slider(browser)
    for explorer in browser.find_elements(By.CSS_SELECTOR, ".fair-explorer:has(img)"):
        button = explorer.find_element(By.TAG_NAME, "button")
        slider = explorer.find_element(By.TAG_NAME, "input")
        assert press(slider, Keys.HOME)[0] == "0"
        button.send_keys(Keys.ENTER)
        assert button.text == "Pause"
        WebDriverWait(slider, 5, 0.05).until(lambda slider: slider.get_attribute("value") != "0")
        # Looked at and pressed in one go: a slider of few stops may come to its end, and stop, between the two.
        browser.execute_script("if (arguments[0].textContent === 'Pause') arguments[0].click()", button)
        assert button.text == "Play"
    assert not errors(browser)


def test_page_needs_no_server(book: Path, browser: webdriver.Chrome) -> None:
    moved = 0
    for page in PAGES:
        visit(browser, (book / page).as_uri())
        moved = move_every_slider(browser)
        if moved:
            break
    assert moved, "no page has a slider"
    asked, _ = network(browser)
    assert not [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:", "chrome"))]
    assert not errors(browser)


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


def test_a_chapter_is_there_as_a_notebook(book: Path) -> None:
    for source in (ROOT / "chapters").glob("*.md"):
        cells = [cell.source for cell in jupytext.read(source).cells if cell.cell_type == "code"]
        notebook = book / "_sources" / "chapters" / f"{source.stem}.ipynb"
        assert notebook.exists() == bool(cells)
        if cells:
            chapter = nbformat.read(notebook, as_version=4)
            nbformat.validate(chapter)
            assert [cell.source for cell in chapter.cells if cell.cell_type == "code"] == cells
            text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
            for linked in re.findall(r"\]\(([\w-]+\.ipynb)\)", text):
                assert (notebook.parent / linked).exists()


@pytest.mark.parametrize("chapter", flashcards.chapters(ROOT), ids=lambda chapter: chapter.name)
def test_a_chapter_has_slides_that_need_nothing_else(
    chapter: flashcards.Chapter, book: Path, browser: webdriver.Chrome
) -> None:
    deck = book / slides.file(chapter.name)
    made = BeautifulSoup(deck.read_text(encoding="utf-8"), "html.parser")
    assert [link["href"] for link in made.select("[href]")] == [f"../chapters/{chapter.name}.html"]
    assert all(str(image["src"]).startswith("data:image/") and image.get("alt") for image in made.select("img"))
    assert len(made.select("section:last-child li")) == len(chapter.points)
    visit(browser, deck.as_uri(), "dark")
    asked, _ = network(browser)
    assert [url for url in asked if not url.startswith("data:")] == [deck.as_uri()]
    assert not errors(browser)
    sideways = "return [document.documentElement.scrollWidth, innerWidth]"
    for i in range(len(made.select("section"))):
        wide, screen = browser.execute_script(sideways)
        assert wide <= screen, f"slide {i + 1} scrolls sideways"
        browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
    page = BeautifulSoup((book / f"chapters/{chapter.name}.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select(f'a[href="../{slides.file(chapter.name)}"]'), "no link in the menu"


def test_the_contents_on_paper_say_on_which_page(book: Path, browser: webdriver.Chrome, tmp_path: Path) -> None:
    def part(name: str, pages: int) -> tuple[str, str, Tag]:
        text = f"<article id='{name}'><h1>{name}</h1>" + "<p style='break-after: page'>.</p>" * (pages - 1) + "<p>.</p>"
        found = BeautifulSoup(text, "html.parser").article
        assert found
        return name, name, found

    page, pdf = tmp_path / "book.html", tmp_path / "book.pdf"
    printing.print_numbered(book, [part("front", 1), part("one", 3), part("one-more", 12), part("last", 1)], page, pdf)
    contents = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").select(".with-numbers li")
    # Before them are the cover, the contents and the front page.
    assert [entry.get_text(" ") for entry in contents] == ["one 4", "one-more 7", "last 19"]


Parts = list[tuple[str, str, Tag]]


@pytest.fixture(scope="session")
def on_paper(book: Path) -> tuple[Parts, str]:
    """Return the parts of the one document, and the page that is printed."""
    parts = printing.collect(book, "https://example.org/")
    return parts, printing.one_page(book, parts, {})


def test_nothing_is_wider_than_its_page_on_paper(
    on_paper: tuple[Parts, str], browser: webdriver.Chrome, tmp_path: Path
) -> None:
    """A browser shrinks a document that is wider than its page until it fits, all of it, and cuts the rest."""
    (tmp_path / "book.html").write_text(on_paper[1], encoding="utf-8")
    margin = re.search(r"@page \{ size: A4; margin: \S+ (\d+)mm ", printing.PAPER)
    assert margin
    width = int((210 - 2 * int(margin[1])) / 25.4 * 96)
    visit(browser, (tmp_path / "book.html").as_uri(), width=width)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        widest, sizes, cut = browser.execute_script(
            """
            const parts = "p, li, dl, div, figure, img, svg, table, td, th, pre, mjx-math";
            const cut = [...document.querySelectorAll(`article :is(${parts})`)].filter((part) => {
              const { right } = part.getBoundingClientRect();
              if (right > innerWidth + 1) return true;
              if (part.localName === "pre" && part.scrollWidth > part.clientWidth + 1) return true;
              let box = part.parentElement;
              while (box !== document.body && getComputedStyle(box).overflowX === "visible") box = box.parentElement;
              return box !== document.body && right > box.getBoundingClientRect().right + 1;
            });
            const size = (part) => parseFloat(getComputedStyle(part).fontSize) * 72 / 96;
            return [
              document.documentElement.scrollWidth,
              [...document.querySelectorAll("article section > p")].map(size),
              cut.map((part) => [part.closest("article").id, part.outerHTML.slice(0, 200)]),
            ];
            """
        )
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(sizes) > 1000
    assert all(10 <= size <= 11 for size in sizes)
    assert widest <= width
    assert not cut


def test_rules_for_a_place_count_on_paper_too(book: Path, on_paper: tuple[Parts, str]) -> None:
    """There each id has the name of its page before it. Some pages are for a screen alone."""
    page = BeautifulSoup(on_paper[1], "html.parser")
    on_screen = "".join((book / f"{name}.html").read_text(encoding="utf-8") for name in printing.LEFT_OUT)
    rules = printing.PAPER + (ROOT / "chapters" / "assets" / "book.css").read_text(encoding="utf-8")
    rules = re.sub(r"/\*.*?\*/|@media screen.*", "", rules)
    named = set(re.findall(r"section(#[\w-]+|\[id[^\]]*\])[^{}]*\{", rules))
    assert named
    named = {name for name in named if f'id="{name[1:]}"' not in on_screen}
    assert [name for name in sorted(named) if not page.select(f"section{name}")] == []


def test_the_book_on_a_reader_is_well_formed(on_paper: tuple[Parts, str]) -> None:
    files = dict(printing.files(on_paper[0]))
    ids, links = set(), set()
    for name, data in files.items():
        if name.endswith((".xhtml", ".opf", ".xml", ".svg")):
            tree = ElementTree.fromstring(data)
            at = Path(name).name
            ids |= {f"{at}#{node.get('id')}" for node in tree.iter() if node.get("id")} | {at}
            if name.endswith(".xhtml"):
                links |= {str(node.get("href")) for node in tree.iter(f"{HTML}a")}
                assert not list(tree.iter(f"{HTML}mjx-container"))
    inside = {link for link in links if not link.startswith(("http", "mailto"))}
    assert len(inside) > 500
    assert inside <= ids
    assert not re.search(rb'class="[^"]*solution', files["book/shares.xhtml"])
    assert re.search(rb'class="[^"]*solution', files["book/solutions.xhtml"])


HTML = "{http://www.w3.org/1999/xhtml}"


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the notebooks as `make lab` does, where nothing was executed; return their folder."""
    root = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "chapters", root / "chapters", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "_toc.yml"):
        shutil.copy(ROOT / name, root)
    command = re.findall(r"jupyter-book (build .* custom .*)", (ROOT / "Makefile").read_text(encoding="utf-8"))[0]
    options = command.removesuffix(" >/dev/null").split()
    made = subprocess.run(
        [Path(sys.executable).with_name("jupyter-book"), *options, "-W", "-n", "--keep-going"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not made.returncode, made.stdout[-3000:] + made.stderr[-3000:]
    return root / "notebooks"


def test_notebooks_are_complete(notebooks: Path, book: Path) -> None:
    assert {path.name for path in notebooks.iterdir()} == {
        path.name for path in (book / "_sources" / "chapters").glob("*.ipynb")
    }
    for path in notebooks.iterdir():
        chapter, download = (
            nbformat.read(at, as_version=4) for at in (path, book / "_sources" / "chapters" / path.name)
        )
        assert [cell.source for cell in chapter.cells] == [cell.source for cell in download.cells]
        text = "\n".join(cell.source for cell in chapter.cells if cell.cell_type == "markdown")
        roles = re.findall(r"\{([\w:]+)\}`([^`]*)`", text)
        assert {role for role, _ in roles} <= {"eq"}, "references that only the book resolves"


def test_a_reader_keeps_what_was_written_in_a_notebook(tmp_path: Path) -> None:
    def chapter(text: str) -> nbformat.NotebookNode:
        made: nbformat.NotebookNode = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text)])
        return made

    path = tmp_path / "chapter.ipynb"

    def now() -> str:
        return str(nbformat.read(path, as_version=4).cells[0].source)

    downloads.leave(chapter("1"), path)
    downloads.leave(chapter("2"), path)
    assert now() == "2"
    own = nbformat.read(path, as_version=4)
    own.cells[0].source = "mine"
    nbformat.write(own, path)
    downloads.leave(chapter("3"), path)
    assert now() == "mine"


@pytest.fixture
def lab(tmp_path: Path, notebooks: Path) -> Iterator[str]:
    """Start JupyterLab with no settings of its own; return its address."""
    folders = {
        f"JUPYTER{name}": str(tmp_path / name)
        for name in ("_CONFIG_DIR", "_RUNTIME_DIR", "LAB_SETTINGS_DIR", "LAB_WORKSPACES_DIR")
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    command += [
        f"--ServerApp.root_dir={notebooks.parent}",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
    ]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | folders
    settings = tmp_path / "LAB_SETTINGS_DIR" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}', encoding="utf-8")  # cells stay when they are out of sight
    with (tmp_path / "log").open("w") as log, subprocess.Popen(command, env=env, stdout=log, stderr=log) as server:
        try:
            for _ in range(600):
                if running := [*tmp_path.glob("_RUNTIME_DIR/jpserver-*.json")]:
                    break
                time.sleep(0.1)
            yield json.loads(running[0].read_text(encoding="utf-8"))["url"]
        finally:
            server.terminate()


def test_a_chapter_runs_in_jupyterlab(lab: str, browser: webdriver.Chrome) -> None:
    browser.get(f"{lab}lab")
    WebDriverWait(browser, 60).until(lambda browser: browser.execute_script("return !!window.jupyterapp"))
    browser.set_script_timeout(400)
    browser.execute_async_script(
        """
        const done = arguments[0];
        const { commands, restored } = window.jupyterapp;
        (async () => {
          await restored;
          const kernelPreference = { name: "python3", autoStartDefault: true };
          const chapter = await commands.execute(
            "docmanager:open", { path: "notebooks/shares.ipynb", factory: "Notebook", kernelPreference });
          await chapter.context.ready;
          await chapter.sessionContext.ready;
          await commands.execute("notebook:run-all-cells");
        })().then(() => done(), done);
        """
    )
    browser.set_script_timeout(20)
    wrong = browser.find_elements(By.CSS_SELECTOR, ".jp-OutputArea-output[data-mime-type*=error]")
    assert not [output.text for output in wrong]
    for here in browser.find_elements(By.CSS_SELECTOR, ".jp-MarkdownCell a[href^='#']"):
        assert browser.find_elements(By.ID, (here.get_attribute("href") or "").partition("#")[2])
    first = browser.find_element(By.CSS_SELECTOR, ".jp-CodeCell")
    assert first.find_elements(By.CSS_SELECTOR, ".jp-InputPlaceholder"), "the code is not folded"
    assert not first.find_elements(By.CSS_SELECTOR, ".jp-InputArea-editor")

    def picture(slider: WebElement, what: str = "src") -> str | None:
        script = f"return arguments[0].closest('.jp-OutputArea').querySelector('img')?.{what}"
        found: str | None = browser.execute_script(script, slider)
        return found

    sliders = browser.find_elements(By.CSS_SELECTOR, ".jp-OutputArea [role=slider]")
    assert len(sliders) == 3
    # What a page computes by itself the kernel computes here.
    moved = (
        "16 per cent promised",
        "learner Thompson sampling, tolerance 2:",
        "learner Thompson sampling, tolerance 20:",
    )
    for slider, said in zip(sliders, moved, strict=True):
        before = (None, picture(slider))
        slider.send_keys(Keys.END)
        for _ in range(600):
            if (now := picture(slider)) not in before:
                break
            time.sleep(0.1)
        assert now not in before, "the picture stays"
        assert said in str(picture(slider, "alt"))
