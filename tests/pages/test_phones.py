"""Each page on phones: it fits, nothing is cut, and axe finds no barrier."""

from selenium import webdriver

from pages.browsing import PHONE, SMALL, View, check_accessible, check_load, seen_at


@seen_at(PHONE)
def test_page_loads(view: View, site: str, browser: webdriver.Chrome) -> None:
    check_load(view, site, browser)


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


@seen_at(PHONE)
def test_page_is_accessible(view: View, browser: webdriver.Chrome) -> None:
    check_accessible(view, browser)
