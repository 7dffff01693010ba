"""Each page on phones: it fits, nothing is cut, and axe finds no barrier."""

from selenium import webdriver
from selenium.webdriver.common.by import By

from pages.browsing import PHONE, SMALL, View, check_accessible, check_load, seen_at, visit

# Each returns what is wrong on a page.
WRONG = {
    # Names what sticks out: not what scrolls inside its own box, nor what is parked off screen, as a closed menu is.
    "the page scrolls sideways": """
if (document.documentElement.scrollWidth <= innerWidth + 1) return [];
const found = [...document.querySelectorAll("article *")].filter((node) => {
  if (node.getBoundingClientRect().right <= innerWidth + 1) return false;
  for (let box = node.parentElement; box !== document.body; box = box.parentElement)
    if (getComputedStyle(box).overflowX !== "visible") return false;
  return true;
});
return [`${document.documentElement.scrollWidth} px`, ...found.map((node) => node.outerHTML.slice(0, 200))];
""",
    "a formula is cut": """
return [...document.querySelectorAll("article mjx-container")].filter((formula) => {
  const { right } = formula.getBoundingClientRect();
  for (let box = formula; box !== document.body; box = box.parentElement) {
    const { overflowX } = getComputedStyle(box);
    if (["auto", "scroll"].includes(overflowX)) return false; // the reader can move it
    if (overflowX !== "visible" && right > box.getBoundingClientRect().right + 1) return true;
  }
  return right > innerWidth + 1;
}).map((formula) => formula.parentElement.textContent.slice(0, 100));
""",
    # A comma or a full stop stays on the line on which its formula ends.
    "a line begins with what follows a wide formula": """
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
""",
}
# No line of code goes on at the margin, where it would look like one of its own.
CODE = """
document.querySelectorAll("article details").forEach((fold) => { fold.open = true; });
return [...document.querySelectorAll("article :is(.cell_input, .highlight) pre")].filter((code) => {
  const style = getComputedStyle(code);
  return style.whiteSpace !== "pre" || style.overflowX !== "auto";
}).map((code) => code.textContent.slice(0, 80));
"""


@seen_at(PHONE, SMALL)
def test_a_page_on_a_phone(view: View, site: str, browser: webdriver.Chrome) -> None:
    check_load(view, site, browser)
    for what, script in WRONG.items():
        assert not browser.execute_script(script), what
    if view.width == PHONE[1]:
        assert not browser.execute_script(CODE), "code does not scroll"
        check_accessible(view, browser)


def test_a_phone_shows_a_control_at_once(site: str, browser: webdriver.Chrome) -> None:
    visit(browser, f"{site}/chapters/index.html", width=390, height=844)
    control = browser.find_element(By.CSS_SELECTOR, ".fair-explorer [type=range]")
    assert control.rect["y"] + control.rect["height"] <= 844
    buttons = browser.find_elements(By.CSS_SELECTOR, "article .sd-btn")
    assert [button.text for button in buttons] == ["Read chapter 1", "Play with six sellers"]
