"""The explorer: what it draws, what it refuses, what the page and the live view get."""

import html
import itertools
import json
import re
from functools import partial
from typing import Any
from urllib.parse import unquote

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import fairlib as fl
from fairlib.core import Number
from fairlib.exposure import ExposureBandit
from fairlib.merit import exponential
from fairlib.pages import Live, Slider, explore, moving
from fairlib.pages.explorers import Explorer


@pytest.fixture(autouse=True)
def static(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRLIB_LIVE", "0")


@pytest.fixture
def live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRLIB_LIVE", "1")


def curve(power: float, scale: float = 1) -> Figure:
    fig, ax = plt.subplots(figsize=(3, 2))
    x = np.linspace(0, 1, 20)
    ax.plot(x, scale * x**power)
    ax.set_title(r"$x^p$ & </script><!-- more")
    fig.set_label(f'x to the power {power}, times {scale} & "quoted" </script>')
    return fig


def page(explorer: Explorer) -> str:
    return str(explorer._repr_mimebundle_()["text/html"])


def data(explorer: Explorer) -> Any:
    return json.loads(page(explorer).split('<script type="application/json">')[1].split("</script>")[0])


def test_every_setting_is_drawn_and_is_in_the_page() -> None:
    explorer = explore(curve, power=Slider("Power", [1, 2, 3]), scale=Slider("Scale", [0.5, 1]))
    assert explorer.settings == [{"power": p, "scale": s} for p in (1, 2, 3) for s in (0.5, 1)]
    stored = data(explorer)
    assert stored["texts"] == [["1", "2", "3"], ["0.5", "1"]]
    assert len(stored["chunks"]) == len(set(stored["chunks"]))
    for frame, alt, setting in zip(stored["frames"], stored["alts"], explorer.settings, strict=True):
        svg = "".join(stored["chunks"][index] for index in frame)
        assert (svg, alt) == explorer.frame(**setting)
        assert "<svg" in svg
        assert f"power {setting['power']}, times {setting['scale']}" in alt
    assert len({explorer.frame(**setting).svg for setting in explorer.settings}) == 6
    assert plt.get_fignums() == []


def test_page_shows_the_start_without_script() -> None:
    explorer = explore(curve, power=Slider("Power <p>", np.linspace(0.1, 0.5, 5), start=0.3))
    text = page(explorer)
    svg, alt = explorer.frame(power=0.3)
    assert unquote(re.findall(r'src="data:image/svg\+xml,([^"]*)"', text)[0]) == svg
    assert f'alt="{html.escape(alt)}"' in text
    assert (
        '<span>Power &lt;p&gt;</span><input type="range" name="power" min="0" max="4" value="2" aria-valuetext="0.3"'
        in text
    )
    assert '<output aria-live="off">0.3</output>' in text
    assert not re.search(r'(src|href)="(?!data:)', text)


def test_names_are_a_list() -> None:
    def figure(law: str, power: int) -> Figure:
        return Figure(label=f"{law} {power}")

    law = Slider("Law <l>", ["fixed", "a <b>", 3], start="a <b>")
    text = page(explore(figure, law=law, power=Slider("Power", [1, 2])))
    options = '<option value="0">fixed</option><option value="1" selected>a &lt;b&gt;</option><option value="2">3'
    assert (
        f'<span>Law &lt;l&gt;</span><select name="law" autocomplete="off">{options}</option></select></label>' in text
    )
    assert text.count('type="range"') == text.count("<output") == 1
    assert 'class="play"' not in page(explore(lambda law: figure(law, 1), law=law))
    with pytest.raises(ValueError, match="autoplay must be False where there are only lists of names"):
        explore(lambda law: figure(law, 1), autoplay=True, law=law)


def test_an_explorer_is_named_after_its_function() -> None:
    def _two_arms__here(power: int) -> Figure:
        return curve(power)

    named: dict[str, Any] = {"curve": curve, "two-arms-here": _two_arms__here, "explorer": partial(curve, scale=2)}
    for name, figure in named.items():
        shown = page(explore(figure, power=Slider("Power", [1, 2])))
        assert shown.startswith(f'<div class="fair-explorer" id="{name}" ')


@pytest.mark.parametrize("mode", ["0", "1"])
def test_raising_figure_raises_in_the_cell(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def figure(power: int) -> Figure:
        fig = curve(power)
        fig.axes[0].set_ylim(0, 1 / (power - 2))
        return fig

    monkeypatch.setenv("FAIRLIB_LIVE", mode)
    with pytest.raises(ZeroDivisionError) as caught:
        explore(figure, power=Slider("Power", [1, 2, 3]))
    assert caught.value.__notes__ == ["while the explorer drew power=2"]
    assert plt.get_fignums() == []


def test_live_view_redraws_on_a_move(live: None) -> None:
    def figure(law: str, power: int) -> Figure:
        drawn.append((law, power))
        if power == 3:
            raise RuntimeError("no <third> power")
        return curve(power)

    drawn: list[tuple[str, int]] = []
    explorer = explore(figure, law=Slider("Law", ["fixed", "late"]), power=Slider("Power", [1, 2, 3]))
    assert drawn == [("fixed", 2)]
    picture, choice, play, slider = explorer._widget.children
    assert isinstance(choice, ipywidgets.Dropdown)
    assert (choice.description, choice.value) == ("Law", "fixed")
    assert (slider.description, slider.index, play.value, play.max) == ("Power", 1, 1, 2)
    slider.index = 0
    choice.value = "late"
    assert drawn == [("fixed", 2), ("fixed", 1), ("late", 1)]
    assert "x to the power 1" in picture.value
    slider.value = 3
    assert "RuntimeError: no &lt;third&gt; power" in picture.value
    assert "while the explorer drew law=late, power=3" in picture.value
    slider.value = 2
    assert "x to the power 2" in picture.value
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()
    names = explore(lambda law: Figure(label=law), law=Slider("Law", ["fixed", "late"]))
    assert len(names._widget.children) == 2  # nothing is played
    assert plt.get_fignums() == []


def test_live_only_in_a_front_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FAIRLIB_LIVE")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    assert "text/html" in explore(curve, power=Slider("Power", [1, 2]))._repr_mimebundle_()
    monkeypatch.setenv("JPY_SESSION_NAME", "chapter.md")
    assert "text/html" not in explore(curve, power=Slider("Power", [1, 2]))._repr_mimebundle_()


def powers(power: float, factor: float, value: Number) -> None:
    value[0] = factor * 2.0**power


def point(power: float, value: float) -> Figure:
    fig, ax = plt.subplots()
    moving(ax.plot(value, 0, "o")[0], x="value")
    moving(ax.set_title(""), "{value:.1f}")
    return fig


def moved(figure: Any = point, **more: Any) -> Explorer:
    settings: dict[str, Any] = {"alt": "2 to the {power:g} is {value:.2f}", "factor": 1.0, **more}
    return explore(figure, live=Live(powers, **settings), power=Slider("Power", [0.5, 1, 2], start=1))


def test_of_a_line_that_moves_no_point_is_left_out() -> None:
    def line(power: float, value: float = 0) -> Figure:
        fig, ax = plt.subplots()
        moving(ax.plot(np.linspace(0, 1, 2000), np.linspace(0, 1, 2000))[0])
        fig.set_label("a straight line")
        return fig

    lives, stands = moved(line).frame(power=1).svg, explore(line, power=Slider("Power", [1, 2])).frame(power=1).svg
    longest = [max(len(path.split("L")) for path in re.findall(r' d="([^"]*)"', svg)) for svg in (lives, stands)]
    assert longest[0] == 2000
    assert longest[1] < 20


def test_live_explorer_is_redrawn_by_a_kernel(live: None) -> None:
    picture, _, slider = moved()._widget.children
    slider.value = 2
    assert "2 to the 2 is 4.00" in picture.value


# What is refused ----------------------------------------------------------------------------------------------------

TWO = Slider("Power", [1, 2])
EIGHT = Slider("Power", range(8))
GAME = fl.Bandit(fl.bernoulli([0.9, 0.5]))
OWED = ExposureBandit(fl.bernoulli([0.9, 0.5]), merit=exponential(2))


def of_shape(power: float) -> fl.Bandit:
    return fl.Bandit(fl.bernoulli([0.9] * (1 if power < 1 else 2)))


def bent(power: float) -> fl.Bandit:
    return fl.Bandit(fl.bernoulli([0.2 * power**2, 0.5]))


def played(problem: Any = GAME, policy: Any = None, **more: Any) -> Explorer:
    return moved(problem=problem, policy=policy or fl.ucb1(), horizon=10, **more)


def elsewhere(power: float, value: float) -> Figure:
    fig, ax = plt.subplots()
    moving(ax.plot(value + 1, 0, "o")[0], x="value")
    return fig


def too_high(power: float, value: float) -> Figure:
    fig, ax = plt.subplots()
    moving(ax.vlines([1, 2], [0, 1], [value, value + 1.5]), x=[1, 2], low=[0, 1], high=[value, value + 1])
    return fig


def untranslated(power: float, value: Number) -> None:
    value[:] = [power]


def asks(seen: Any) -> None:
    pass


def lives(shows: Any, name: str = "power", autoplay: bool = False, **more: Any) -> Explorer:
    return explore(point, autoplay=autoplay, live=Live(shows, alt="x", horizon=5, **more), **{name: TWO})


def marked(mark: Any) -> None:
    mark(plt.figure().subplots())


show: Any = explore  # arguments of the wrong type are what it is about
slider: Any = Slider
REFUSED: list[tuple[Any, str]] = [
    # Sliders
    (lambda: slider("Power", 3), "values must be a list of numbers or strings, not 3"),
    (lambda: slider("Power", "abc"), "values must be a list of numbers or strings, not 'abc'"),
    (lambda: slider("Power", [1]), "values must be 2 to 60 numbers or strings, not 1"),
    (lambda: slider("Power", range(61)), "values must be 2 to 60 numbers or strings, not 61"),
    (lambda: slider("Power", [1, None]), "values must be a number, not None"),
    (lambda: slider("Power", ["a", ""]), "values must be a string that says something, not ''"),
    (lambda: slider("Power", [1, 2, 1.0]), "values must differ in how they read, but 1 is there more"),
    (lambda: slider("Power", [1, 2], start=3), "start must be one of 1, 2, not 3"),
    # Explorers
    (lambda: show(lambda power: Figure(), power=TWO), "label that says what it shows: fig.set_label"),
    (lambda: show(lambda power: None, power=TWO), "figure must return a matplotlib Figure, not None"),
    (lambda: show(curve), "sliders must be one or two, not 0"),
    (lambda: show(curve, **dict.fromkeys("abc", TWO)), "sliders must be one or two, not 3"),
    (lambda: show(curve, power=[1, 2]), r"power must be a Slider, not \[1, 2\]"),
    (lambda: show(curve, pover=TWO), "unexpected keyword argument 'pover'"),
    (lambda: show(curve, scale=TWO), "missing 1 required positional argument: 'power'"),
    (lambda: show(curve, power=EIGHT, scale=EIGHT), "at most 60 settings in all, not 64"),
    # Live pictures
    (lambda: moved(alt="{worth:g}"), "'worth' must name one of power, value"),
    (lambda: moved(alt="{value:5d}"), r"\{value:5d\} must be one number, in a format such as"),
    (lambda: moved(problem=3), "problem and policy must be given together"),
    (lambda: moved(means="Means"), "means can be changed only where there is a game on arms"),
    (lambda: moved(strange=1.0), "'powers' is set with factor; it knows no strange"),
    (lambda: moved(elsewhere), r"x must be where .* is drawn, .*, not at 'value', which is 2"),
    (lambda: moved(too_high), "high must be where"),
    (lambda: moved(curve), "unexpected keyword argument 'value'"),
    (lambda: lives(powers, autoplay=True), "autoplay must be False for a live explorer"),
    (lambda: lives(asks), "a live picture may ask for power, not for seen"),
    (lambda: lives(untranslated), "of 'untranslated': a list, which it does not know"),
    # Games of live pictures
    (lambda: played(lambda factor: GAME), "problem may ask for power, not for factor"),
    (lambda: played(GAME, lambda power, seed: fl.ucb1()), "policy may ask for power, not for seed"),
    (lambda: played(GAME, [fl.ucb1(), 3]), r"policy must be a Policy, such as ucb1\(\), not 3"),
    (lambda: played(bent), "each number of a game must .*, plus a number, but of 'UCB1' one is 0.05, 0.2, 0.8, 0.1125"),
    (lambda: played(of_shape), "power must change numbers of the game only, and not its sizes"),
    (lambda: played(rounds=[3, 11]), "rounds must be increasing whole numbers from 1 to the horizon, 10"),
    (lambda: played(OWED, means="Means"), "means can be changed only where arms have a setting of this"),
    (lambda: lives(asks, problem=GAME, policy=[fl.ucb1(), fl.ucb1()]), "a live picture may ask for .*, not for seen"),
    (lambda: lives(lambda: None, "seed", problem=GAME, policy=fl.ucb1()), "a slider of a game must not be named seed"),
    # Marks
    (lambda: marked(lambda ax: moving(ax, x="low")), "artist must be a line, a band"),
    (lambda: marked(lambda ax: moving(ax.plot([1])[0], high="low")), "Line2D has the ends x, y, not high"),
    (lambda: marked(lambda ax: moving(ax.plot([1])[0], "text")), "text must be a string, and goes with a"),
    (lambda: marked(lambda ax: moving(ax.plot([1])[0], x=None)), "x must be the name of what is filled"),
    (lambda: marked(lambda ax: moving(ax.bar([1, 2], 3), top=3)), "top must be a name or 2 numbers, one"),
    (lambda: marked(lambda ax: moving(ax.set_title(""), "$x$")), "text must be one line without formulas"),
    (lambda: marked(lambda ax: moving(ax.fill_between([1], [2]), low="low")), "a band must be given x, "),
]


@pytest.mark.parametrize(("call", "message"), REFUSED, ids=itertools.count())
def test_what_can_t_be_shown_is_refused(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()
    plt.close("all")
