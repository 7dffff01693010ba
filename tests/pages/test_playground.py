"""The playground in a browser: what it plays is what `simulate` plays, and links and rules of one's own are read."""

import gzip
import json
import re
import shutil
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import numpy as np
import page_scripts
import pytest
from engines import in_every_browser
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

import fairlib as fl
from fairlib.core import any_of_the_best, explore, largest, share_out, try_each_once
from fairlib.delays import SemiBandit, geometric
from fairlib.exposure import ExposureBandit
from fairlib.merit import exponential
from fairlib.pages.playground import EXAMPLE, SHORT, START, Playground, candidates, contestants
from fairlib.ranks import fair_greedy
from fairlib.shares import SharedBandit
from pages.browsing import use_screen

ASSETS = Path(__file__).parents[2] / "chapters" / "assets"
SCRIPTS = ("runtime.js", "playground-games.js", "own-rule.js", "results.js", "playground.js")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="_static/playground.css">{scripts}
<main><h1>{title}</h1>{body}</main>"""


def write_page(folder, scripts, title, body):
    """Write a page with scripts that the book makes and others that are there, and nothing else in it."""
    app: Any = SimpleNamespace(outdir=folder, srcdir=ASSETS.parents[1])
    page_scripts.write(app)
    for name in ("playground.css", *scripts):
        if (ASSETS / name).exists():
            shutil.copy(ASSETS / name, folder / "_static")
    tags = "".join(f'<script defer src="_static/{name}"></script>' for name in scripts)
    (folder / "page.html").write_text(PAGE.format(title=title, scripts=tags, body=body), encoding="utf-8")
    return folder / "page.html"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Write a page that holds the playground and nothing else."""
    body = '<h2>A race</h2><div class="playground" data-live data-playground hidden></div>'
    return write_page(tmp_path_factory.mktemp("page"), SCRIPTS, "Playground", body)


def visit(browser, page, link="", width=1280):
    """Open the page from the disk with a link, and wait until all runs are played."""
    use_screen(browser, width, 900)
    browser.get("about:blank")
    browser.get(f"{page.as_uri()}{link and '#'}{link}")
    settle(browser)


def settle(browser):
    """Wait until no run is under way, and what came of them is drawn."""
    end = time.monotonic() + 60
    while browser.execute_script("return document.querySelector('.playground').ariaBusy") != "false":
        assert time.monotonic() < end, "the runs do not end"
        time.sleep(0.05)
    browser.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")


def find(browser, selector):
    return browser.find_element(By.CSS_SELECTOR, selector)


def texts(browser, selector):
    return [each.text for each in browser.find_elements(By.CSS_SELECTOR, selector)]


def played(browser):
    """Return what was recorded of each policy: rounds, plays and sums, a row a run."""
    return json.loads(
        browser.execute_script(
            """
            const rows = (x) => x.map((row) => [...row]);
            const results = [...document.querySelector(".playground").results];
            return JSON.stringify(Object.fromEntries(results.map(([id, { game, runs }]) => [id, {
              rounds: game.rounds,
              selected: runs.map((run) => rows(run.selected)),
              sums: runs.map((run) => rows(run.sums)),
            }])));
            """
        )
    )


def state(link):
    return dict(part.split("=") for part in link.lstrip("#").split("&"))


def numbers(text):
    return [float(each) for each in text.split(",")]


def test_the_page_starts_with_a_game_that_can_be_played_and_policies_that_it_has():
    merit, shares = exponential(START["steepness"]), START["shares"]
    game = Playground(fl.bernoulli(START["means"]), START["plays"], shares=shares, merit=merit)
    assert game.arms.means.tolist() == sorted(START["means"], reverse=True)
    assert set(START["policies"]) <= {*contestants(merit, shares), "fair-greedy"}


def test_one_game_measures_as_the_games_of_the_papers_do():
    arms, shares, merit = fl.bernoulli([0.9, 0.5, 0.2]), [0.3, 0.1, 0.25], exponential(0.6)
    for name, plays, late in (("thompson", 1, None), ("fcts-d", 2, geometric([0.1] * 3))):
        games: list[Any] = [
            Playground(arms, plays, late, shares=shares, merit=merit),
            SemiBandit(arms, plays, late, merit=merit),
            *([] if late else [SharedBandit(arms, shares=shares), ExposureBandit(arms, merit=merit)]),
        ]
        policy = contestants(merit, shares, plays)[name]
        one, *others = (vars(fl.simulate(game, policy, 500, runs=3, rounds=[1, 7, 500])) for game in games)
        for other in others:
            shared = [each for each in one.keys() & other.keys() if isinstance(one[each], np.ndarray)]
            assert {"fairness_regret", "violation"} & {*shared}
            for each in shared:  # exposure's reward regret has a sign, the playground's has it in another field
                ours = one["signed_regret"] if each == "reward_regret" and "signed_regret" not in other else one[each]
                np.testing.assert_allclose(ours, other[each], rtol=1e-12, atol=1e-9, err_msg=each)
        np.testing.assert_allclose(one["optimal"][2, 1], games[1].optimal)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"shares": [0.1]}, "shares must have one number an arm (3), not 1"),
        ({"shares": [0.1, 0.4, 0]}, "shares must be at least 0 and below 1/3, not 0.4 (arm 1)"),
        ({"plays": 2, "merit": exponential(4)}, "merit must not"),
        ({"plays": 2}, "merit must not vary by more than a factor of 2"),
    ],
)
def test_game_refuses_what_does_not_fit(how, message):
    given: dict[str, Any] = {"shares": [0.1] * 3, "merit": exponential(1), **how}
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        Playground(fl.bernoulli([0.5, 0.5, 0.5]), **given)


LINKS = [
    "means=0.9,0.5,0.3&shares=0.2,0.1,0.3&T=2000&runs=3&seed=7&steepness=3&plays=1&delay=0&policies=ucb1,thompson,fair-ucb,"
    "fair-learn,fairx-ucb,fairx-ts,fcucb-d,fcts-d,fair-greedy&show=deficit",
    "means=0.2,1,0,0.55&shares=0,0,0.24,0.1&T=1500&runs=2&seed=123456789012&steepness=9.5&plays=1&delay=40&policies=ucb1,"
    "fair-learn,fairx-ts,fcucb-d&show=r_regret",
    "means=0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.95&shares=0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05,0.05&T=1000&runs=2&"
    "seed=0&steepness=1.2&plays=3&delay=5&policies=fcucb-d,fcts-d&show=fairness_regret",
]


@in_every_browser
@pytest.mark.parametrize("link", LINKS)
def test_page_plays_what_simulate_plays(link, page, browser):
    visit(browser, page, link)
    given, results = state(link), played(browser)
    assert set(results) == set(given["policies"].split(","))
    means, shares, plays = numbers(given["means"]), numbers(given["shares"]), int(given["plays"])
    merit, delay = exponential(float(given["steepness"])), int(given["delay"])
    late = geometric([1 / delay] * len(means)) if delay else None
    game = Playground(fl.bernoulli(means), plays, late, shares=shares, merit=merit)
    runs, seed = int(given["runs"]), int(given["seed"])
    for name, result in results.items():
        ranks, last = name == "fair-greedy", int(given["T"])
        problem: Any = candidates(means) if ranks else game
        policy = fair_greedy() if ranks else contestants(merit, shares, plays)[name]
        assert result["rounds"][-1] == (min(last, SHORT) if ranks else last)
        same = fl.simulate(problem, policy, last, runs=runs, seed=seed, rounds=result["rounds"])
        assert np.array_equal(result["selected"], same.selected), name
        row = f"[data-policy='{name}']"
        shown = browser.execute_script(
            "return [...document.querySelectorAll(arguments[0])].map(({ dataset }) => [dataset.notion, dataset.value])",
            f"tr{row} td[data-value]",
        )
        assert len(shown) == (1 if ranks else 6 if plays == 1 else 5)
        for notion, value in shown:
            ends = getattr(same, "fairness_regret" if notion == "ranks" else notion)[:, -1]
            assert float(value) == pytest.approx(ends.mean(), rel=1e-9, abs=1e-9), (name, notion)
        strip = browser.find_elements(By.CSS_SELECTOR, f".strips {row} [data-share]")
        share = [float(each.get_attribute("data-share") or "nan") for each in strip]
        assert share == pytest.approx(list(same.share[:, -1].mean(axis=0)))
        if not ranks:
            assert np.array(result["sums"])[0, -1, -len(means) :] == pytest.approx(same.optimal[0, -1])


@in_every_browser
def test_what_is_drawn_is_as_high_as_its_number(page, browser):
    """Bars and marks are on one scale up to the largest, and what follows ± is the standard error."""
    visit(browser, page, "means=0.9,0.7,0.4&shares=0.3,0.2,0&T=1000&runs=10&seed=3&policies=ucb1,fair-learn,fairx-ucb")
    results, shares = played(browser), np.array([0.3, 0.2, 0.0])
    share = {n: np.array(result["selected"])[:, -1].mean(axis=0) / 1000 for n, result in results.items()}
    fair = np.array(next(iter(results.values()))["sums"])[0, -1, -3:]
    top = max(max(map(max, share.values())), *fair, *shares)
    drawn = json.loads(
        browser.execute_script(
            """
            const part = (element, box) => (box.bottom - element.getBoundingClientRect().top) / box.height;
            const bars = [...document.querySelectorAll(".strips .share")].map((box) => {
              const marks = [...box.querySelectorAll(".promise, .fair")].map((mark) => mark.style.bottom);
              const height = part(box.firstElementChild, box.getBoundingClientRect());
              return [box.closest("[data-policy]").dataset.policy, height, ...marks];
            });
            return JSON.stringify(bars);
            """
        )
    )
    assert len(drawn) == 9
    for place, (name, height, promised, deserved) in enumerate(drawn):
        a = place % 3
        assert height == pytest.approx(share[name][a] / top, abs=0.015), (name, a)
        assert float(promised.rstrip("%")) == pytest.approx(100 * shares[a] / top, abs=1e-3)
        assert float(deserved.rstrip("%")) == pytest.approx(100 * fair[a] / top, abs=1e-3)
    game = Playground(fl.bernoulli([0.9, 0.7, 0.4]), shares=shares, merit=exponential(START["steepness"]))
    for name in results:
        policy = contestants(game.merit, shares)[name]
        ends = fl.simulate(game, policy, 1000, runs=10, seed=3, rounds=[1000]).fairness_regret[:, -1]
        cell = find(browser, f"tr[data-policy='{name}'] [data-notion='fairness_regret'] small").text
        assert float(cell.lstrip("± ").replace(",", "")) == float(f"{ends.std(ddof=1) / 10**0.5:.2g}"), name


@in_every_browser
@pytest.mark.parametrize("link", LINKS)
def test_link_is_restored_exactly(link, page, browser):
    visit(browser, page, link)
    given = state(link)
    sliders = browser.find_elements(By.CSS_SELECTOR, "[role=slider]")
    assert [float(each.get_attribute("aria-valuenow")) for each in sliders] == numbers(given["means"])
    assert [each.get_attribute("aria-label") for each in sliders][1] == "Mean of arm 2"
    promised = browser.find_elements(By.CSS_SELECTOR, ".arm input")
    assert [float(each.get_attribute("value")) for each in promised] == numbers(given["shares"])
    for name in ("T", "runs", "seed", "steepness", "plays", "delay"):
        assert float(find(browser, f"[data-set={name}]").get_attribute("value")) == float(given[name])
    ticked = [each.get_attribute("value") for each in browser.find_elements(By.CSS_SELECTOR, ".contestants :checked")]
    assert ticked == given["policies"].split(",")
    assert find(browser, "select").get_attribute("value") == given["show"]
    assert texts(browser, ".wrong") == ["", ""]
    find(browser, "[data-do=link]").click()
    assert browser.execute_script("return location.hash") == f"#{link}"


@in_every_browser
def test_page_starts_as_its_picture_and_keeps_the_link_without_history(page, browser):
    visit(browser, page)
    before = browser.execute_script("return [history.length, location.hash]")
    assert before[1] == ""
    assert set(played(browser)) == set(START["policies"])
    find(browser, "[data-arm='2']").send_keys(Keys.ARROW_UP, Keys.PAGE_DOWN)
    WebDriverWait(browser, 10).until(lambda browser: browser.execute_script("return location.hash"))
    settle(browser)
    after = browser.execute_script("return [history.length, location.hash]")
    assert after[0] == before[0]
    assert state(after[1])["means"] == "0.9,0.88,0.71,0.7,0.6,0.5"
    assert find(browser, "[data-arm='2']").get_attribute("aria-valuetext") == "0.71"
    browser.execute_script("location.hash = arguments[0]", LINKS[0])
    WebDriverWait(browser, 10).until(lambda browser: len(browser.find_elements(By.CSS_SELECTOR, "[role=slider]")) == 3)
    settle(browser)
    assert played(browser)["ucb1"]["rounds"][-1] == 2000


def test_bar_is_dragged_and_the_last_race_counts(page, browser):
    visit(browser, page, "means=0.9,0.2&T=100000&runs=20&policies=thompson")
    bar = find(browser, "[data-arm='1']")
    half = bar.size["height"] // 2  # the pointer begins in the middle
    ActionChains(browser).click_and_hold(bar).move_by_offset(0, half // 2).move_by_offset(
        0, -half - 9
    ).release().perform()
    mean = float(bar.get_attribute("aria-valuenow"))
    assert 0.75 < mean < 0.9
    find(browser, "[data-set=T]").clear()
    find(browser, "[data-set=T]").send_keys("500")
    settle(browser)
    result = played(browser)["thompson"]
    assert result["rounds"][-1] == 500
    same = fl.simulate(fl.Bandit(fl.bernoulli([0.9, mean])), fl.thompson_beta(), 500, runs=20, seed=2026, rounds=[500])
    assert np.array_equal(np.array(result["selected"])[:, -1], same.selected[:, -1])


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("means=0.5,1.2", "means must be 2 to 10 numbers from 0 to 1"),
        ("shares=0.1,0.2", "shares must be 6 numbers, one an arm, from 0 to below 1/6"),
        ("T=1e9", "T must be a whole number from 10 to 100000, not “1e9”"),
        ("steepness=steep", "steepness must be a number from 0.1 to 10"),
        ("plays=6", "plays must be a whole number from 1 to 5"),
        ("plays=2&steepness=4", "steepness must be a number from 0.1 to 1.6 with 2 plays a round"),
        ("delay=<b>", "delay must be a whole number from 0 to 500, not “<b>”"),
        ("policies=ucb1,nobody", "the policy “nobody”"),
        ("show=nothing", "show must be regret, deficit"),
        ("colour=red", "“colour”, which the playground does not know"),
    ],
)
def test_nonsense_in_a_link_is_said_and_the_rest_is_taken(part, sentence, page, browser):
    rest = "" if part.startswith("T") else "&T=321"
    visit(browser, page, f"{part}{rest}&policies=ucb1,fcts-d" if "policies" not in part else f"{part}{rest}")
    assert sentence in find(browser, ".wrong").text
    assert played(browser)
    assert {each["rounds"][-1] for each in played(browser).values()} == ({321} if rest else {10_000})


def test_what_is_typed_wrong_is_said_and_the_race_stands(page, browser):
    visit(browser, page, "T=300&policies=ucb1")
    field = find(browser, "[data-set=T]")
    field.clear()
    field.send_keys("7")
    assert "Rounds of a run (T) must be a whole number from 10 to 100000, not “7”" in find(browser, ".wrong").text
    field.send_keys("77")
    assert find(browser, ".wrong").text == ""
    share = find(browser, ".arm input")
    share.send_keys(Keys.CONTROL, "a")
    share.send_keys("0.9")
    assert "What arm 1 is promised must be a number from 0 to below 1/6, not “0.9”" in find(browser, ".wrong").text
    settle(browser)
    assert played(browser)["ucb1"]["rounds"][-1] == 777


# A rule of one's own -------------------------------------------------------------------------------------------------

WINNING = """
import math

def bonus(n, t, width):
    return math.sqrt(width * math.log(t) / n)

@fl.rule
def optimistic(seen, p, width=2):
    if try_each_once(seen, p):
        return
    for a in range(p.size):
        p[a] = seen.total[a] / seen.observed[a] + bonus(seen.observed[a], seen.t, width)
    any_of_the_best(p)
    explore(0.05, p)
"""
EXP3 = """
def exp3(feedback, rng, came: fl.Number, gain: fl.PerArm, p, rate=0.05, wait: int = 20):
    for i in range(feedback.size):
        gain[feedback.arm[i]] -= (1 - feedback.reward[i]) / feedback.chance[i]
        came[0] += 1
    if came[0] < wait:
        return int(rng.random() * p.size)
    top = gain[largest(gain)] + 0.0 * rng.normal(0, 1) * rng.beta(2, 3.5)
    for a in range(p.size):
        p[a] = math.exp(rate * (gain[a] - top))
    share_out(p, 1)
"""


@in_every_browser
@pytest.mark.parametrize("text", [EXAMPLE, WINNING, EXP3], ids=["floor", "optimistic", "exp3"])
def test_own_rule_plays_what_it_plays_in_python(text, page, browser):
    visit(browser, page, f"means=0.7,0.6,0.2&T=800&runs=3&seed=5&delay=3&policies=own&rule={quote(text)}")
    assert texts(browser, ".wrong") == ["", ""]
    known = {"math": __import__("math"), "fl": fl, "largest": largest, "share_out": share_out}
    known |= {"any_of_the_best": any_of_the_best, "explore": explore, "try_each_once": try_each_once}
    exec(text, known)
    rule: Any = list(known.values())[-1]
    policy = fl.Policy("own", rule, interpret=True)
    result = played(browser)["own"]
    game = fl.Bandit(fl.bernoulli([0.7, 0.6, 0.2]), delay=geometric([1 / 3] * 3))
    same = fl.simulate(game, policy, 800, runs=3, seed=5, rounds=result["rounds"])
    assert np.array_equal(result["selected"], same.selected)


def write(browser, text):
    """Write a rule into the box, and let it play."""
    if not find(browser, ".own").get_attribute("open"):
        find(browser, ".own summary").click()
    browser.execute_script(
        "const [box, text] = arguments; box.value = text; box.dispatchEvent(new Event('input', { bubbles: true }))",
        find(browser, "textarea"),
        text,
    )
    find(browser, "[data-do=own]").click()
    settle(browser)


FAULT = "The rule must return probabilities in [0, 1] that sum to 1, or an arm that there is; in round"
BAD = {
    "def mine(p):\n    return [0]": "Line 2 of your rule: a list, which it does not know.",
    "def mine(p):\n    x = max([a for a in p])\n    return 0": "Line 2 of your rule: max of one thing: write the loop.",
    "def mine(q, p):\n    return 0": "Line 1 of your rule: 'q' is not known: a rule may ask for seen, available,",
    "def mine(seen, p):\n\n    return seen.count[0]": "Line 3 of your rule: 'count', which Seen has not;",
    "def mine(p:\n    return 0": "Line 1 of your rule: '(' was never closed.",
    "def mine(p):\n    return 0.5": "Line 1 of your rule: a rule must return an arm, a whole number, or nothing after",
    "p = 3": "Line 1 of your rule: it must be in a function, defined by def.",
    "": "Line 1 of your rule: a rule is a function, defined by def, and there is none.",
    "def mine(p):\n    print(p)": "Line 2 of your rule: 'print', which stands for nothing that it knows.",
    "def help(x):\n    return 2 * x\n\ndef mine(p):\n    p[0] = help(p)": "Line 2 of your rule: arithmetic on a whole",
    "def mine(p, rng):\n    p[0] = 1\n    rng.beta(1)": "Line 3 of your rule: a call of beta that gives it what it",
    "def mine(p):\n    try:\n        return 0\n    except:\n        return 1": "Line 2 of your rule: try, which it",
    "def mine(seen, p):\n    return 7 if seen.t > 5 else 0": f"{FAULT} 6 of run 0 it did not.",
    "def mine(seen, p):\n    p[0] = seen.t / 9": f"{FAULT} 1 of run 0 it did not.",
    "def mine(seen, p):\n    return 5 // seen.observed[0]": "a whole number divided by 0.",
    "def mine(p):\n    while 1 > 0:\n        p[0] = 1.0": "Your rule was stopped: in 8 seconds it did not finish run 0",
}


def test_bad_rules_are_told_their_line_and_the_page_goes_on(page, browser):
    visit(browser, page, "T=300&policies=ucb1")
    for text, sentence in BAD.items():
        write(browser, text)
        assert sentence in find(browser, ".fault").text, text
        assert set(played(browser)) == {"ucb1"}
    write(browser, EXAMPLE)
    assert find(browser, ".fault").text == ""
    assert set(played(browser)) == {"ucb1", "own"}


@in_every_browser
def test_tab_leaves_the_box(page, browser):
    visit(browser, page, "T=300&policies=ucb1")
    find(browser, ".own summary").click()
    find(browser, "textarea").send_keys(Keys.TAB)
    assert browser.execute_script("return document.activeElement.dataset.do") == "own"


# The page itself -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [1280, 360])
def test_a_page_of_ten_arms_fits_and_can_be_touched(width, page, browser):
    visit(browser, page, "T=300&means=.9,.8,.7,.6,.5,.4,.3,.2,.1,0", width)
    find(browser, ".own summary").click()
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    small = browser.execute_script(
        """
        const touched = "button, select, summary, .mean, .contestants label, input[type=range], input[type=number]";
        return [...document.querySelectorAll(`.playground :is(${touched})`)].filter((each) => {
          const { width, height } = each.getBoundingClientRect();
          return Math.min(width, height) < 43.5;
        }).map((each) => each.outerHTML);
        """
    )
    assert small == []


def test_scripts_are_small_and_nobody_stalls(page, browser):
    assert sum(len(gzip.compress((page.parent / "_static" / name).read_bytes(), 9)) for name in SCRIPTS) < 60_000
    browser.get_log("browser")  # of pages that were open before
    visit(browser, page, "T=2000&policies=ucb1")
    browser.execute_script(
        """
        window.long = [];
        const keep = (list) => long.push(...list.getEntries().map((each) => each.duration));
        new PerformanceObserver(keep).observe({ type: "longtask" });
        """
    )
    for name in ("thompson", "fairx-ucb", "fcts-d", "fair-greedy"):
        find(browser, f".contestants [value={name}]").click()
    settle(browser)
    assert browser.execute_script("return Math.max(0, ...long)") < 500
    assert [each for each in browser.get_log("browser") if each["level"] == "SEVERE"] == []
