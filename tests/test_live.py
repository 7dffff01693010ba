"""Live explorers in a browser: they draw what matplotlib draws, play what `simulate` plays, and never hang."""

import json
import math
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote
from xml.etree import ElementTree

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

import fairlib as fl
from fairlib.core import Array, Number, PerArm
from fairlib.delays import biased
from fairlib.pages import Live, Slider, explore, moving, scripts, use_style
from fairlib.pages.explorers import Explorer
from fairlib.pages.live import format_text
from fairlib.shares import SharedBandit, fair_learn, fair_ucb

Curve = Annotated[Array, 9]
Bars = Annotated[Array, 3]
Long = Annotated[Array, 300]
MEANS = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]
GAME, POLICY = SharedBandit(fl.bernoulli(MEANS), shares=[0.1] * 6), fair_ucb([0.1] * 6)
STEPS = [10, 40, 200, 1000, 3000, 10_000]


@pytest.fixture(autouse=True)
def stored(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("FAIRLIB_LIVE", "0")
    with plt.rc_context():
        use_style()
        yield


def kinds(power: int, law: int, x: Curve, low: Curve, high: Curve, bars: Bars, place: Number) -> None:
    for i in range(9):
        x[i] = 10 ** (i / 4)
        low[i], high[i] = x[i] ** (power / 4) / 2, x[i] ** (power / 4)
    for i in range(3):
        bars[i] = 10 * power + i + 20 * law
    place[0] = math.nan if power == 3 else 10 * power


def all_kinds(power: int, law: str, x: Any, low: Any, high: Any, bars: Any, place: float) -> Figure:
    fig, (one, other) = plt.subplots(1, 2)
    moving(one.fill_between(x, low, high, alpha=0.2, linewidth=0), x="x", low="low", high="high")
    moving(one.plot(x, high, "o--")[0], y="high")
    one.set(xscale="log", yscale="log", xlim=(0.5, 1000), ylim=(0.1, 1000))
    moving(other.bar(range(3), bars), top="bars")
    moving(other.vlines(range(3), [1, 2, 3], bars), low=[1, 2, 3], high="bars")
    moving(other.vlines([8, 9], 0, bars[1]), high="bars[1]")  # one number is that of both
    moving(other.axvline(place), x="place")
    moving(other.annotate("here", (place, 50), (3, 4), textcoords="offset points"), "at {place:.1f}", x="place")
    moving(other.text(0.1, 0.9, "", transform=other.transAxes), "{law} & {power:g} < 5")
    moving(other.add_patch(Rectangle((0, 60), bars[1], 5)), right="bars[1]")
    moving(fig.suptitle("", x=0.01, ha="left"), "{law:first|second} of {power:g}")
    other.set(xlim=(-1, 60), ylim=(0, 100))
    return fig


def shares(recorded: Any, selected: Any, deficit: Any, x: Long, share: Long, last: PerArm, lost: Number) -> None:
    for i in range(300):
        at = min(i, recorded.size - 1)
        x[i], share[i] = recorded[at], selected[at, 0] / recorded[at]
    for a in range(last.size):
        last[a] = selected[recorded.size - 1, a]
    lost[0] = deficit[recorded.size - 1]


def with_shares(rounds: int, x: Any, share: Any, last: Any, lost: float) -> Figure:
    fig, ax = plt.subplots()
    moving(ax.plot(x, share)[0], x="x", y="share")
    ax.set(xscale="log", xlim=(1, 10_000), ylim=(0, 1))
    moving(ax.set_title(""), "{rounds:,.0f} rounds")
    return fig


def of_a_run(**more: Any) -> Explorer:
    alt = "{last[0]:.0f} {last[5]:.0f} {lost:.3f}"
    live = Live(shares, alt=alt, problem=GAME, policy=POLICY, horizon=10_000, seed=3, **more)
    return explore(with_shares, live=live, rounds=Slider("Rounds", STEPS, start=40))


def words(game: Any, seed: int, rounds: int) -> str:
    """Return the alt text of a run that `simulate` plays."""
    run = fl.simulate(game, POLICY, 10_000, seed=seed, rounds=[rounds])
    return f"{run.selected[0, 0, 0]} {run.selected[0, 0, 5]} {run.deficit[0, 0]:.3f}"


def visit(browser: webdriver.Chrome, folder: Path, explorer: Explorer, runtime: bool = True) -> None:
    """Open a page of nothing but an explorer, from the disk."""
    script = f"window.fairRuntime = {json.dumps(scripts.runtime())};\n{scripts.explorers()}" if runtime else ""
    body = explorer._repr_mimebundle_()["text/html"]
    (folder / "page.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>live</title>{body}<script>{script}</script>', encoding="utf-8"
    )
    browser.get((folder / "page.html").as_uri())


MOVE = """
const [places, done] = arguments, root = document.querySelector(".fair-explorer"), from = performance.now();
const watch = new MutationObserver(() => {
  if (root.hasAttribute("aria-busy")) return;
  watch.disconnect();
  done(performance.now() - from);
});
watch.observe(root, { attributeFilter: ["aria-busy"] });
const sliders = [...root.querySelectorAll("[type=range], select")];
sliders.forEach((slider, i) => { slider.value = places[i]; });
sliders[0].dispatchEvent(new Event("input"));
"""


def picture(browser: webdriver.Chrome) -> tuple[str, str]:
    """Return the picture that is shown, and its alt text."""
    img = browser.find_element(By.TAG_NAME, "img")
    return unquote(str(img.get_attribute("src")).partition(",")[2]), str(img.get_attribute("alt"))


def drawn(svg: str) -> list[tuple[str, list[float]]]:
    """Return what is in a picture: paths, points and texts, without those out of sight."""
    root = ElementTree.fromstring(svg)
    hidden = {part for each in root.iter() if each.get("visibility") == "hidden" for part in each.iter()}
    found = []
    for each in root.iter():
        tag = each.tag.rpartition("}")[2]
        if each not in hidden and tag in ("path", "use", "text"):
            written = re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", each.get("d", ""))
            ends = [each.get(name, "0") for name in ("x", "y")]
            text = "".join(each.itertext()) if tag == "text" else ""
            if tag != "path" or written:
                found.append((f"{tag} {text}", [float(number) for number in (written if tag == "path" else ends)]))
    return found


def assert_same(shown: tuple[str, str], wanted: tuple[str, str]) -> None:
    one, other = drawn(shown[0]), drawn(wanted[0])
    assert shown[1] == wanted[1]
    assert [what for what, _ in one] == [what for what, _ in other]
    for (what, numbers), (_, theirs) in zip(one, other, strict=True):
        np.testing.assert_allclose(numbers, theirs, atol=1e-3, err_msg=what)


def test_picture_is_matplotlibs(browser: webdriver.Chrome, tmp_path: Path) -> None:
    live = Live(kinds, alt="{law}: {bars[2]:,.1f} and {place:.0f}, {power:none|one|two|three|four}")
    sliders: dict[str, Any] = {"power": Slider("Power", [1, 2, 3, 4], start=1), "law": Slider("Law", ["a", "b<"])}
    explorer = explore(all_kinds, live=live, **sliders)
    visit(browser, tmp_path, explorer)
    for setting in [*explorer.settings, *explorer.settings[:1]]:
        places = [list(slider.values).index(setting[name]) for name, slider in sliders.items()]
        browser.execute_async_script(MOVE, places)
        assert_same(picture(browser), explorer.frame(**setting))


def test_run_is_that_of_simulate(browser: webdriver.Chrome, tmp_path: Path) -> None:
    explorer = of_a_run()
    visit(browser, tmp_path, explorer)
    for place, rounds in enumerate(STEPS):
        browser.execute_async_script(MOVE, [place])
        assert_same(picture(browser), explorer.frame(rounds=rounds))
    browser.execute_async_script(MOVE, [2.5])  # between 200 and 1,000
    assert picture(browser)[1] == words(GAME, 3, 600)


def stubborn(p: Any) -> int:
    return 0


LEARNERS = {"stubborn": fl.Policy("stubborn", stubborn), "UCB1": fl.ucb1(), "Thompson": fl.thompson_beta()}
Two = Annotated[Array, 2]


def two(selected: Any, reward: Any, deficit: Any, means: Any, best: Two, paid: Two, lost: Two, first: Number) -> None:
    first[0] = means[0]
    for i in range(2):
        best[i], paid[i], lost[i] = selected[i, 1, 0], reward[i, 1], deficit[i, 1]


def shared(share: float) -> SharedBandit:
    return SharedBandit(fl.bernoulli([0.5 + share, *MEANS[1:]]), shares=[share] * 6)


def guarded(learner: str, share: float) -> fl.Policy:
    return fair_learn(LEARNERS[learner], [share] * 6)


def test_sliders_set_games_and_choose_policies(browser: webdriver.Chrome, tmp_path: Path) -> None:
    def nothing(learner: str, share: float, best: Any, paid: Any, lost: Any, first: float) -> Figure:
        return plt.figure()

    def played(learner: str, share: float, seed: int) -> str:
        said = []
        for policy in (LEARNERS[learner], guarded(learner, share)):
            run = fl.simulate(shared(share), policy, 2000, seed=seed)
            said.append(f"{run.selected[0, -1, 0]} {run.reward[0, -1]:g} {run.deficit[0, -1]:.6f}")
        return f"{learner} {share:g}: {0.5 + share:g}, {said[0]}, {said[1]}"

    live = Live(
        two,
        alt="{learner} {share:g}: {first:g}, "
        + ", ".join(f"{{best[{i}]:g}} {{paid[{i}]:g}} {{lost[{i}]:.6f}}" for i in (0, 1)),
        problem=shared,
        policy=[lambda learner: LEARNERS[learner], guarded],
        horizon=2000,
        rounds=[100, 2000],
        seed=5,
    )
    offered = [0.0, 0.01, 0.1, 0.15]
    explorer = explore(nothing, live=live, learner=Slider("Learner", list(LEARNERS)), share=Slider("Share", offered))
    visit(browser, tmp_path, explorer)
    for i, learner in enumerate(LEARNERS):
        for place, share in enumerate(offered):
            browser.execute_async_script(MOVE, [i, place])
            assert picture(browser)[1] == explorer.frame(learner=learner, share=share).alt == played(learner, share, 5)
        browser.execute_async_script(MOVE, [i, 1.25])  # between 0.01 and 0.1
        assert picture(browser)[1] == played(learner, 0.0325, 5)
    press(browser, "root.querySelector('.chance button').click()")
    assert picture(browser)[1] == played("Thompson", 0.0325, 6)


SPHERE = fl.contexts.sphere(4, [0.6, 0.8])
MOVED: dict[str, tuple[Any, Any, list[Any], Any]] = {
    "the delay": (
        lambda x: fl.Bandit(fl.bernoulli([0.6, 0.5]), delay=biased([x, 0], [0, 2 * x])),
        fl.thompson_beta(),
        [0, 400],
        100,
    ),
    "a context policy": (fl.ContextBandit(SPHERE), lambda x: fl.linear.linucb(x), [0.0, 4.0], 1.0),
}


def counted(selected: Any, count: PerArm) -> None:
    for a in range(count.size):
        count[a] = selected[selected.shape[0] - 1, a]


@pytest.mark.parametrize("what", MOVED)
def test_slider_sets_a_number_of(what: str, browser: webdriver.Chrome, tmp_path: Path) -> None:
    problem, policy, ends, between = MOVED[what]

    def nothing(x: float, count: Any) -> Figure:
        return plt.figure()

    def played(x: float) -> str:
        game, player = (each(x) if callable(each) else each for each in (problem, policy))
        return f"{x:g}: {fl.simulate(game, player, 1000, seed=2).selected[0, -1, :2].tolist()}"

    live = Live(
        counted, alt="{x:g}: [{count[0]:g}, {count[1]:g}]", problem=problem, policy=policy, horizon=1000, seed=2
    )
    visit(browser, tmp_path, explore(nothing, live=live, x=Slider("x", ends, start=ends[0])))
    for place, x in ((1, ends[1]), (0.25, between), (0, ends[0])):
        browser.execute_async_script(MOVE, [place])
        assert picture(browser)[1] == played(x)
    assert len({played(x) for x in (*ends, between)}) == 3


def until(browser: webdriver.Chrome, what: str) -> None:
    """Wait until something is true in the page."""
    WebDriverWait(browser, 15).until(lambda _: browser.execute_script(f"return {what}"))


def press(browser: webdriver.Chrome, script: str) -> None:
    browser.execute_async_script(
        "const done = arguments[0], root = document.querySelector('.fair-explorer');"
        "new MutationObserver(() => { if (!root.hasAttribute('aria-busy')) done(); })"
        f".observe(root, {{ attributeFilter: ['aria-busy'] }}); {script}"
    )


def test_means_of_a_reader(browser: webdriver.Chrome, tmp_path: Path) -> None:
    visit(browser, tmp_path, of_a_run(means="Mean of each arm"))
    before = picture(browser)
    browser.find_element(By.TAG_NAME, "summary").click()
    first = browser.find_element(By.CSS_SELECTOR, "[type=number]")
    first.clear()
    first.send_keys("1.5")
    assert "number from 0 to 1" in browser.find_element(By.CSS_SELECTOR, "[role=alert]").text
    assert first.get_attribute("aria-invalid") == "true"
    assert picture(browser)[1] == before[1]
    first.clear()
    press(browser, "const i = root.querySelector('[type=number]'); i.value = 0.1; i.dispatchEvent(new Event('input'))")
    other = SharedBandit(fl.bernoulli([0.1, *MEANS[1:]]), shares=[0.1] * 6)
    assert picture(browser)[1] == words(other, 3, 40)
    assert not browser.find_element(By.CSS_SELECTOR, "[role=alert]").text


def test_page_never_stalls(browser: webdriver.Chrome, tmp_path: Path) -> None:
    visit(browser, tmp_path, of_a_run())
    browser.execute_script(
        "window.long = []; const add = (list) => window.long.push(...list.getEntries().map((each) => each.duration));"
        "new PerformanceObserver(add).observe({ entryTypes: ['longtask'] });"
    )
    stalls = []
    for _ in range(5):  # of which one must find a processor free
        browser.execute_script("window.long = []")
        browser.execute_async_script(MOVE, [1.25])
        taken = browser.execute_async_script(MOVE, [5])
        stalls.append(browser.execute_script("return window.long.filter((each) => each > 50)"))
        if not stalls[-1] and taken < 200:  # 40 to 50 ms on a machine that has nothing else to do
            break
    else:
        pytest.fail(f"the page stalls for {stalls} ms; the last picture took {taken:.0f} ms")


def endless(rounds: int, x: Number) -> None:
    while rounds > 10:
        x[0] += 1


def test_endless_computation_is_stopped(browser: webdriver.Chrome, tmp_path: Path) -> None:
    def figure(rounds: int, x: float) -> Figure:
        return plt.figure()

    slider = Slider("Rounds", [1, 10, 100], start=1)
    visit(browser, tmp_path, explore(figure, live=Live(endless, alt="{rounds:g}"), rounds=slider))
    browser.execute_script("window.alive = 0; setInterval(() => { window.alive += 1; }, 50)")
    from_now = time.monotonic()
    browser.execute_script(
        "const s = document.querySelector('[type=range]'); s.value = 2; s.dispatchEvent(new Event('input'))"
    )
    alert = browser.find_element(By.CSS_SELECTOR, "[role=alert]")
    WebDriverWait(browser, 15).until(lambda _: alert.text.startswith("This takes too long, and was stopped."))
    assert time.monotonic() - from_now > 3
    assert browser.execute_script("return window.alive") > 30
    browser.execute_async_script(MOVE, [1])  # and the next one is computed
    assert picture(browser)[1] == "10"
    assert not alert.text


def test_without_the_runtime_the_picture_stays(browser: webdriver.Chrome, tmp_path: Path) -> None:
    visit(browser, tmp_path, of_a_run(), runtime=False)
    assert browser.find_element(By.TAG_NAME, "img").is_displayed()
    assert not browser.find_element(By.CSS_SELECTOR, "[type=range]").is_displayed()


NUMBERS = [0.5, 1.5, 2.5, 0.125, 0.375, 1234567.5, -1234.5, 0.0001, 0.00001234, 123456.5, 1e15, 1 / 3, 99.95, 0.045]
NUMBERS += [math.inf, -math.inf, math.nan, 0.0, -0.0, -0.4, 1e-7, 12345678.0, 2.675, 1e18 / 3]


def test_numbers_are_written_as_python_writes_them(browser: webdriver.Chrome, tmp_path: Path) -> None:
    def shows(i: int, numbers: Any, x: Number) -> None:
        x[0] = numbers[i]

    def figure(i: int, x: float) -> Figure:
        return plt.figure()

    finite = [each if math.isfinite(each) else 0.0 for each in NUMBERS]
    alt = "{x:.0f} {x:,.0f} {x:.2f} {x:,.1f} {x:.1%} {x:g} {x:.3g} {x}"
    explorer = explore(figure, live=Live(shows, alt=alt, numbers=finite), i=Slider("i", range(len(finite)), start=0))
    visit(browser, tmp_path, explorer)
    for i, number in enumerate(finite):
        browser.execute_async_script(MOVE, [i])
        assert picture(browser)[1] == format_text(alt, {"x": number})
