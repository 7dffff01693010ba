"""The arena in a browser: its table is that of the record, it sorts and filters, and a reader's rule joins it."""

import re
from typing import Any
from urllib.parse import quote

import arena_record
import page_scripts
import pytest
from engines import in_every_browser
from selenium.webdriver.support.select import Select

import fairlib as fl
from fairlib.core import largest
from fairlib.pages.playground import EXAMPLE, Playground
from pages.test_playground import find, settle, texts, visit, write_page

MADE = page_scripts.read(arena_record.ROOT)
SCRIPTS = ("runtime.js", "arena-table.js", "own-rule.js", "results.js", "arena.js")
BODY = """<div class="playground arena" data-live data-arena hidden></div>
<div class="arena-policies"><table><tr><td>UCB1</td><td><a href="bandits.html#ucb1">bandits</a></td></tr></table>
</div>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Write a page that holds the arena and nothing else."""
    folder = tmp_path_factory.mktemp("page")
    return write_page(folder, SCRIPTS, "The arena", BODY)


def means(browser):
    """Return the table: the numbers of each row, by its names; None where a policy does not fit."""
    rows = browser.execute_script(
        """
        return [...document.querySelectorAll(".arena tbody tr")].map((row) => [
          row.cells[0].innerText, ...[...row.querySelectorAll("[data-value]")].map((cell) => cell.dataset.value)]);
        """
    )
    return {name: [float(each) if each else None for each in values] for name, *values in rows}


def stored(horizon, game, measure):
    rows = MADE["rows"]
    return {row[3]: row[4] for row in rows if row[:3] == [horizon, game, measure]}


@in_every_browser
def test_the_table_has_what_was_stored_and_is_sorted(page, browser):
    visit(browser, page)
    assert len(texts(browser, ".arena thead th")) == 2 + len(fl.arena.v1)
    table = means(browser)
    assert len(table) == len(fl.arena.entrants)
    for column, game in enumerate(fl.arena.v1):
        known = stored(10_000, game, "fairness_regret")
        for name, row in table.items():
            name = name.split(" knows")[0]
            assert row[column] == pytest.approx(known[name], rel=1e-3) if name in known else row[column] is None
    places = [int(each) for each in texts(browser, ".arena tbody td:nth-child(2)") if each.isdigit()]
    assert places == sorted(places)
    assert places[0] == 1
    ranks = texts(browser, ".arena tbody tr:first-child td span")
    assert all(re.fullmatch(r"\d+(\W\d+)?", each) for each in ranks)
    find(browser, "[data-do=as]").click()
    assert "rank " in find(browser, ".arena tbody td[data-value] > small").text
    assert "±" in find(browser, ".arena tbody").text
    assert means(browser) == table
    assert find(browser, ".arena tbody a").get_attribute("href").endswith("bandits.html#ucb1")


def test_it_sorts_both_ways_and_says_so_in_the_link(page, browser):
    visit(browser, page, "show=regret&T=1000")
    find(browser, "[data-by='exposure/paper']").click()
    column = list(fl.arena.v1).index("exposure/paper")
    up = [row[column] for row in means(browser).values() if row[column] is not None]
    assert up == sorted(up)
    find(browser, "[data-by='exposure/paper']").click()
    down = [row[column] for row in means(browser).values()]
    there = [each for each in down if each is not None]
    assert there == sorted(there, reverse=True)
    assert down[: len(there)] == there
    assert find(browser, "th[aria-sort=descending]").text.startswith("exposure/")
    find(browser, "[data-do=link]").click()
    link = browser.current_url.split("#")[1]
    assert link == "show=regret&T=1000&by=exposure%2Fpaper&down=yes"
    visit(browser, page, link)
    assert [row[column] for row in means(browser).values()] == down


def test_a_game_has_all_measures_and_its_fronts(page, browser):
    visit(browser, page, "show=shares/easy")
    assert texts(browser, ".arena thead th")[0] == "Policy"
    table = means(browser)
    assert "Thompson sampling, MP-TS-D" in table  # policies that do the same are in one row
    assert table["UCB1"][1] == pytest.approx(stored(10_000, "shares/easy", "regret")["UCB1"], rel=1e-3)
    front = {row[4] for row in MADE["fronts"] if row[:4] == [10_000, "shares/easy", "regret", "deficit"]}
    said = texts(browser, ".fronts figure p")[1]
    assert front
    assert all(name in said for name in front)
    assert "in windows, UCB1" not in said
    assert len(texts(browser, ".fronts svg")) == 2
    Select(find(browser, "[data-set=show]")).select_by_visible_text("ranks/easy")
    assert len(means(browser)) == 9
    assert texts(browser, ".fronts figcaption") == ["Fairness regret against regret in ranks/easy"]
    assert any("knows the game" in name for name in means(browser))


def test_filters(page, browser):
    visit(browser, page, "name=upper&only=proved")
    assert set(means(browser)) == {"upper merit", "upper merit in doubt", "upper merit, kl", "upper merit, delayed"}
    find(browser, "[data-set=name]").send_keys(" merit, d")
    assert set(means(browser)) == {"upper merit, delayed"}
    assert "1 policy" in find(browser, ".said").text


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("show=luck", "In the link, show must be fairness_regret, "),
        ("T=99", "In the link, T must be 1000, 10000, not “99”."),
        ("colour=red", "The link has “colour”, which the arena does not know."),
    ],
)
def test_nonsense_in_a_link_is_said_and_the_rest_stands(link, sentence, page, browser):
    visit(browser, page, link)
    assert sentence in find(browser, ".wrong").text
    assert len(means(browser)) == len(fl.arena.entrants)


@in_every_browser
def test_a_rule_joins_the_table_with_what_it_plays_in_python(page, browser):
    visit(browser, page, f"show=deficit&T=1000&plays=yes&rule={quote(EXAMPLE)}")
    verdict = find(browser, ".mine small").text
    assert re.fullmatch(r"20 runs, \d+(st|nd|rd|th) of \d+ on average, best in (no|one|two|three|\d+) games?", verdict)
    assert find(browser, ".going").text.startswith(f"Your rule: {verdict}.")
    row = "const { top, bottom } = document.querySelector('.mine').getBoundingClientRect();"
    assert browser.execute_script(f"{row} return 0 <= top && bottom <= innerHeight"), "it is out of sight"
    name = next(name for name in means(browser) if name.startswith("your rule"))
    row = means(browser)[name]
    known: dict[str, Any] = {"largest": largest}
    exec(EXAMPLE, known)
    policy = fl.Policy("mine", known["my_rule"], interpret=True)
    columns = [
        game for game in fl.arena.v1 if (1000, game, "deficit", "uniform") in {tuple(each[:4]) for each in MADE["rows"]}
    ]
    for game in ("shares/easy", "delays/easy", "delays/hostile"):
        result: Any = fl.simulate(fl.arena.v1[game], policy, 1000, runs=20, seed=arena_record.SEED, rounds=[1000])
        assert row[columns.index(game)] == pytest.approx(result.deficit[:, -1].mean(), rel=1e-12)
    assert row[columns.index("delays/paper")] is None
    assert "Your rule does not fit delays/paper: The rule must return probabilities" in find(browser, ".said").text
    assert "20 runs" in name


def test_the_rule_that_is_there_at_first_fits_every_game_on_arms(page, browser):
    visit(browser, page)
    top = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    assert browser.execute_script(top, ".own textarea") < browser.execute_script(top, ".arena table")
    text = find(browser, ".own textarea").get_attribute("value")
    find(browser, "[data-do=own]").click()
    settle(browser)
    assert "does not fit" not in find(browser, ".said").text
    (row,) = (row for name, row in means(browser).items() if name.startswith("your rule"))
    known: dict[str, Any] = {"largest": largest}
    exec(text, known)
    for column, (name, game) in enumerate(fl.arena.v1.items()):
        if not isinstance(game, Playground):
            assert row[column] is None
            continue
        policy = fl.Policy("mine", known["my_rule"], plays=game.plays)
        result: Any = fl.simulate(game, policy, 10_000, runs=20, seed=arena_record.SEED, rounds=[10_000])
        assert row[column] == pytest.approx(result.fairness_regret[:, -1].mean(), rel=1e-9), name


def test_a_bad_rule_is_told_its_line(page, browser):
    visit(browser, page, f"plays=yes&rule={quote('def mine(p):' + chr(10) + '    return [0]')}")
    assert "Line 2 of your rule: a list, which it does not know." in find(browser, ".fault").text
    assert not any(name.startswith("your rule") for name in means(browser))
