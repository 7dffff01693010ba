"""What a reader does on a page: keys, previews, folds and sliders."""

import time
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from pages.browsing import PAGES, errors, move_every_slider, network, send, use_keyboard, visit


def test_a_reference_shows_what_it_points_to(book: Path, browser: webdriver.Chrome) -> None:
    """From a disk, by the keyboard."""
    visit(browser, (book / "chapters/shares.html").as_uri())
    use_keyboard(browser)
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


def test_the_tab_key_stops_once_at_what_belongs_together(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    stops: list[WebElement] = []
    while (stop := send(browser, Keys.TAB)).tag_name != "body":
        assert stop not in stops
        stops.append(stop)
    links = browser.find_elements(By.CSS_SELECTOR, ".fair-explorer button.link")  # one for each explorer
    assert len(set(stops) - set(links)) <= 60
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


def test_a_proof_folds_to_the_names_of_its_steps(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/bandits.html")
    button = browser.find_element(By.CSS_SELECTOR, "#thm-ucb1 + .proof > button.steps")
    proof = button.find_element(By.XPATH, "..")
    whole = proof.text
    assert "Suppose that arm" in whole
    button.send_keys(Keys.ENTER)
    assert button.get_attribute("aria-pressed") == "true"
    names = proof.text
    assert [name[:6] for name in names.splitlines() if name.startswith("Step ")] == [f"Step {n}" for n in (1, 2, 3, 4)]
    assert "Suppose that arm" not in names
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


@pytest.mark.parametrize("page", ["notation", "speed"])
def test_what_is_wide_fades_and_can_be_scrolled(page: str, site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/{page}.html", width=390)
    browser.execute_async_script("setTimeout(arguments[0], 500)")  # until the boxes that came to sight are measured
    boxes = browser.execute_script(
        """
        return [...document.querySelectorAll("article .pst-scrollable-table-container")]
          .filter((box) => box.scrollWidth > box.clientWidth + 1);
        """
    )
    assert boxes
    for box in boxes:
        assert "more-right" in (box.get_attribute("class") or "").split()
        assert "gradient" in box.value_of_css_property("mask-image")
        assert box.get_property("tabIndex") == 0
    browser.execute_script("arguments[0].focus()", boxes[0])
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT * 3).perform()
    WebDriverWait(boxes[0], 5).until(lambda box: "more-left" in (box.get_attribute("class") or "").split())


def test_a_table_is_filtered_by_the_keyboard_and_the_address_says_how(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/results.html", width=390)
    seen = """
        const rows = [...document.querySelectorAll("table.filtered tbody tr")];
        return [rows.filter((row) => row.checkVisibility()).map((row) => row.cells[0].textContent.trim()), rows.length];
    """
    papers, every = browser.execute_script(seen)
    assert len(papers) == every > 200
    browser.find_element(By.CSS_SELECTOR, ".filters [name=paper]").send_keys("Wang")
    papers, _ = browser.execute_script(seen)
    assert 10 < len(papers) < every
    assert set(papers) == {"Wang"}
    words = browser.find_element(By.CSS_SELECTOR, ".filters [name=words]")
    words.send_keys("lemma")
    fewer, _ = browser.execute_script(seen)
    assert 0 < len(fewer) < len(papers)
    assert browser.current_url.endswith("#paper=Wang&words=lemma")
    assert browser.find_element(By.CSS_SELECTOR, ".filters output").text == f"{len(fewer)} of {every} rows"
    browser.refresh()
    assert browser.execute_script(seen)[0] == fewer
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
