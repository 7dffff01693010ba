"""The widgets of the pages: a promise under attack, and a guess before the answer."""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import fairlib as fl
from fairlib.pages import Attack, Guess
from fairlib.pages.scripts import runtime
from fairlib.shares import fair_learn

SHARES, TOLERANCE = [0.1875] * 5, 0.75  # so many plays are exact numbers
QUESTION = Guess("How many of 100 rounds?", "It gets <87> of them.", 0, 100, unit=" rounds")
Page = Callable[..., webdriver.Chrome]


@pytest.fixture
def page(browser: webdriver.Chrome, tmp_path: Path) -> Iterator[Page]:
    """Open a page with an object of a cell on it, from a disk."""

    def unread_feedback(shown: Any, scripts: bool = True) -> webdriver.Chrome:
        said = json.dumps(runtime()).replace("</", "<\\/")
        text = f"<!doctype html><meta charset=utf-8><script>window.fairRuntime = {said}</script>{shown._repr_html_()}"
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        browser.get((tmp_path / "page.html").as_uri())
        return browser

    yield unread_feedback
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def read(page: webdriver.Chrome, place: str) -> str:
    return page.find_element(By.CSS_SELECTOR, place).text


def deficits(page: webdriver.Chrome) -> list[float]:
    found = page.find_elements(By.CSS_SELECTOR, ".fair-attack output")
    return [float(each.text.replace("\N{MINUS SIGN}", "-")) for each in found]


@pytest.mark.parametrize("seed", [0, 1])
def test_fair_learn_answers_the_reader_as_it_answers_a_learner(page: Page, seed: int) -> None:
    here = page(Attack(SHARES, TOLERANCE))
    said = np.random.default_rng(seed).integers(0, 5, 40)

    def obeys(said, seen, p):
        return int(said[seen.t - 1])

    learner = fl.Policy("obeys", obeys, said=said.astype(float))
    with pytest.warns(UserWarning, match="tolerance"):
        policy = fair_learn(learner, SHARES, TOLERANCE)
    rounds = np.arange(1, 41)
    played = fl.simulate(fl.Bandit(fl.bernoulli([0.5] * 5)), policy, 40, rounds=rounds).selected[0]
    behind = np.outer(rounds, SHARES) - played
    buttons = here.find_elements(By.CSS_SELECTOR, ".fair-attack li button")
    for t, arm in enumerate(said):
        buttons[arm].click()
        np.testing.assert_allclose(deficits(here), behind[t], atol=0.0051)
    assert f"{max(0, behind.max()):.2f} of at most 1.50" in read(here, ".score")


def test_the_limit_is_reached_and_is_said_to_be_the_limit(page: Page) -> None:
    here = page(Attack(SHARES, TOLERANCE))
    first = here.find_element(By.CSS_SELECTOR, ".fair-attack li button")
    first.send_keys(Keys.ENTER)  # from the keyboard as well
    assert read(here, ".said") == "You played arm 1."
    for _ in range(7):
        first.click()
    assert "stepped in and served arm 4" in read(here, ".said")
    assert read(here, ".score") == "Round 8. Furthest behind so far: arm 5 1.50 of at most 1.50, the limit."
    here.find_element(By.CSS_SELECTOR, "[value=again]").click()
    assert read(here, ".score") == "Round 0. Furthest behind so far: arm 1 0.00 of at most 1.50."
    assert deficits(here) == [0.0] * 5


def test_an_arm_that_is_sent_away_is_owed_nothing_and_can_be_pushed_further(page: Page) -> None:
    away = [([0, 2], 0)] + 3 * [([0, 1], 1)]
    here = page(Attack([0.25, 0.25, 0.0625], 0, [([1, 2], 1), ([0, 1], 1), *away, *away, *away, ([0, 2], 0)]))
    buttons, switches = (here.find_elements(By.CSS_SELECTOR, f".fair-attack li {name}") for name in ("button", "input"))
    switches[2].send_keys(Keys.SPACE)
    buttons[0].click()
    assert deficits(here) == [-0.75, 0.25, 0]
    assert not buttons[2].is_enabled()
    here.execute_script("window.setInterval = (play) => { for (let i = 0; i < 15; i += 1) play(); }")
    here.find_element(By.CSS_SELECTOR, "[value=show]").click()
    assert read(here, ".score").endswith("arm 3 0.31 of at most 0.31, the limit.")
    for each in here.find_elements(By.CSS_SELECTOR, ".fair-attack input:checked"):
        each.click()
    assert read(here, ".said") == "At least one arm must be there."


def test_without_scripts_there_is_a_sentence_and_an_answer(page: Page) -> None:
    assert "no arm is ever more than 1.5 plays behind" in page(Attack(SHARES, TOLERANCE), scripts=False).page_source
    assert "It gets &lt;87&gt; of them." in page(QUESTION, scripts=False).page_source


def test_a_guess_stays_beside_the_answer(page: Page) -> None:
    here = page(QUESTION)
    assert "87" not in read(here, "body")
    said = "You said 51 rounds. It gets <87> of them."

    def remembered(here: webdriver.Chrome) -> bool:
        slider = here.find_element(By.CSS_SELECTOR, "input")
        assert slider.get_attribute("aria-valuetext") == read(here, ".slider output") == "50 rounds"
        slider.send_keys(Keys.ARROW_RIGHT)
        here.find_element(By.CSS_SELECTOR, "button").click()
        assert read(here, ".answer") == said
        here.refresh()
        return read(here, ".answer") == said

    # Once in hundreds of times Chromium forgets what was stored just before a reload: then the guess is made again.
    WebDriverWait(here, 10).until(remembered)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Attack([0.1], 1), "shares must have two to ten numbers"),
        (lambda: Attack([0.05] * 11, 1), "shares must have two to ten numbers"),
        (lambda: Attack([0.5, 0.5], 1), "shares must be at least 0 and below 1/2"),
        (lambda: Guess("How many?", " ", 0, 9), "answer must be a string that says something, not ' '"),
        (lambda: Guess("How many?", "Three.", 0, 0), "high must be"),
    ],
    ids=itertools.count(),
)
def test_what_can_t_be_asked_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
