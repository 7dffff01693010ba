"""Each page on a desk: nothing is wider than its box, axe finds no barrier, and the sliders move."""

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from pages.browsing import DESK, View, check_accessible, errors, move_every_slider, press, seen_at, use_scheme, visit


@seen_at(DESK)
def test_a_page_on_a_desk(view: View, browser: webdriver.Chrome) -> None:
    buttons = browser.find_elements(By.CSS_SELECTOR, "article .toggle-button")
    names = [button.accessible_name for button in buttons]
    for button, name in zip(buttons, names, strict=True):
        title = button.find_element(By.XPATH, "..").get_attribute("textContent") or ""
        assert name
        assert name in " ".join(title.split())
    solutions = [name for name in names if name.startswith("Solution to")]
    assert len(set(solutions)) == len(solutions), "two solutions have one name"
    wide = browser.execute_script(
        """
        document.querySelectorAll("article details").forEach((fold) => { fold.open = true; });
        const boxes = ":is(.highlight, .cell_output) pre, div.math mjx-container";
        return [...document.querySelectorAll(`article :is(${boxes})`)]
          .filter((box) => box.scrollWidth > box.clientWidth + 1)
          .map((box) => `${box.scrollWidth} in ${box.clientWidth}: ${box.textContent.slice(0, 200)}`);
        """
    )
    assert not wide, "code, output or a formula is wider than its box"
    check_accessible(view, browser)


def test_the_contents_mark_the_section_at_the_top_of_the_window(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/shares.html")
    marked = """
        const [to, done] = arguments;
        if (typeof to === "string") location.hash = to;
        else scrollBy(0, document.querySelector(to.within).getBoundingClientRect().bottom - 100);
        const now = () => [...document.querySelectorAll("#pst-page-toc-nav [aria-current]")].map((link) => link.hash);
        setTimeout(() => done(now()), 300);
    """
    links = browser.execute_script(
        "return [...document.querySelectorAll('#pst-page-toc-nav a')].map((link) => link.hash)"
    )
    assert len(links) > 10
    for link in [*links, *reversed(links)]:
        assert browser.execute_async_script(marked, link) == [link]
    for last, place in ((links[-1], {"within": "#the-promise-is-kept"}), (links[-2], "#thm-fair-learn")):
        assert browser.execute_async_script(marked, last) == [last]
        assert browser.execute_async_script(marked, place) == ["#the-promise-is-kept"]


@seen_at(DESK)
def test_sliders_move(view: View, browser: webdriver.Chrome) -> None:
    errors(browser)  # what went wrong until now is another test's to tell
    use_scheme(browser, view.scheme)
    move_every_slider(browser)
    for explorer in browser.find_elements(By.CSS_SELECTOR, ".fair-explorer:has(img):has([type=range])"):
        button = explorer.find_element(By.CSS_SELECTOR, ".play")
        slider = explorer.find_element(By.CSS_SELECTOR, "[type=range]")
        assert press(slider, Keys.HOME)[0] == "0"
        button.send_keys(Keys.ENTER)
        assert button.text == "Pause"
        WebDriverWait(slider, 5, 0.05).until(lambda slider: slider.get_attribute("value") != "0")
        # Looked at and pressed in one go: a slider of few stops may reach its end, and stop, between the two.
        browser.execute_script("if (arguments[0].textContent === 'Pause') arguments[0].click()", button)
        assert button.text == "Play"
    assert not errors(browser)
