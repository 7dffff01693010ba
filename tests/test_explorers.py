"""The explorer: what it draws, what it refuses, what the page and the live view get."""

import html
import json
import re
from functools import partial
from typing import Annotated, Any
from urllib.parse import unquote

import ipywidgets
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

import fairlib as fl
from fairlib.core import Array, Number, PerArm
from fairlib.exposure import ExposureBandit
from fairlib.merit import exponential
from fairlib.pages import Live, Slider, explore, moving
from fairlib.pages.explorers import Explorer
from fairlib.pages.live import LiveFigure, Plays


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


def test_every_setting_is_drawn() -> None:
    explorer = explore(curve, power=Slider("Power", [1, 2, 3]), scale=Slider("Scale", [0.5, 1]))
    assert explorer.settings == [{"power": p, "scale": s} for p in (1, 2, 3) for s in (0.5, 1)]
    for setting in explorer.settings:
        svg, alt = explorer.frame(**setting)
        assert "<svg" in svg
        assert f"power {setting['power']}, times {setting['scale']}" in alt
    assert len({explorer.frame(**setting).svg for setting in explorer.settings}) == 6
    assert plt.get_fignums() == []


def test_page_holds_every_frame() -> None:
    explorer = explore(curve, power=Slider("Power", [1, 2, 3]), scale=Slider("Scale", [0.5, 1]))
    stored = data(explorer)
    assert stored["texts"] == [["1", "2", "3"], ["0.5", "1"]]
    for frame, alt, setting in zip(stored["frames"], stored["alts"], explorer.settings, strict=True):
        assert ("".join(stored["chunks"][index] for index in frame), alt) == explorer.frame(**setting)
    assert len(stored["chunks"]) == len(set(stored["chunks"]))


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
    options = (
        '<option value="0">fixed</option><option value="1" selected>a &lt;b&gt;</option><option value="2">3</option>'
    )
    assert (
        f'<span>Law &lt;l&gt;</span><select name="law" autocomplete="off">{options}</select></label></div>\n<button'
        in text
    )
    assert text.count('type="range"') == text.count("<output") == 1
    assert 'class="play"' not in page(explore(lambda law: figure(law, 1), law=law))
    with pytest.raises(ValueError, match="autoplay must be False for an explorer that has only lists of names"):
        explore(lambda law: figure(law, 1), autoplay=True, law=law)


def test_an_explorer_is_named_after_its_function() -> None:
    slider = Slider("Power", [1, 2])

    def _two_arms__here(power: int) -> Figure:
        return curve(power)

    for figure, name in [(curve, "curve"), (_two_arms__here, "two-arms-here"), (lambda power: curve(power), "lambda")]:
        assert page(explore(figure, power=slider)).startswith(f'<div class="fair-explorer" id="{name}" ')
    assert page(explore(partial(curve, scale=2), power=slider)).startswith('<div class="fair-explorer" id="explorer" ')


def test_page_is_the_same_each_time() -> None:
    slider = Slider("Power", [1, 2, 3])
    assert page(explore(curve, power=slider)) == page(explore(curve, power=slider))


def test_frames_store_only_what_changes() -> None:
    explorer = explore(curve, power=Slider("Power", range(1, 22)))
    drawn = sum(len(explorer.frame(**setting).svg) for setting in explorer.settings)
    assert sum(map(len, data(explorer)["chunks"])) < drawn / 5


def test_no_widget_in_the_static_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipywidgets.Widget, "__init__", lambda *args, **kwargs: pytest.fail("a widget was made"))
    assert set(explore(curve, power=Slider("Power", [1, 2]))._repr_mimebundle_()) == {"text/plain", "text/html"}


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


def test_picture_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match=r"label that says what it shows: fig.set_label") as caught:
        explore(lambda power: Figure(), power=Slider("Power", [1, 2]))
    assert caught.value.__notes__ == ["while the explorer drew power=1"]


def test_no_picture_is_refused() -> None:
    with pytest.raises(TypeError, match="figure must return a matplotlib Figure, not None"):
        explore(lambda power: None, power=Slider("Power", [1, 2]))  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("sliders", "error", "message"),
    [
        ({}, ValueError, "sliders must be one or two, not 0"),
        (dict.fromkeys("abc", Slider("Power", [1, 2])), ValueError, "sliders must be one or two, not 3"),
        ({"power": [1, 2]}, TypeError, r"power must be a Slider, not \[1, 2\]"),
        ({"pover": Slider("Power", [1, 2])}, TypeError, "unexpected keyword argument 'pover'"),
        ({"scale": Slider("Scale", [1, 2])}, TypeError, "missing 1 required positional argument: 'power'"),
        (
            {"power": Slider("Power", range(8)), "scale": Slider("Scale", range(8))},
            ValueError,
            "at most 60 settings in all, not 64",
        ),
    ],
)
def test_bad_sliders_are_refused(sliders: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        explore(curve, **sliders)


@pytest.mark.parametrize(
    ("label", "values", "start", "error", "message"),
    [
        ("Power", 3, None, TypeError, "values must be a list of numbers or strings, not 3"),
        ("Power", "abc", None, TypeError, "values must be a list of numbers or strings, not 'abc'"),
        ("Power", iter([1, 2]), None, TypeError, "values must be a list of numbers or strings, not <list_iterator"),
        ("Power", [1], None, ValueError, "values must be 2 to 60 numbers or strings, not 1"),
        ("Power", range(61), None, ValueError, "values must be 2 to 60 numbers or strings, not 61"),
        ("Power", [1, float("nan")], None, ValueError, "values must be a number, not nan"),
        ("Power", [1, None], None, TypeError, "values must be a number, not None"),
        ("Power", ["a", ""], None, ValueError, "values must be a string that says something, not ''"),
        ("Power", [1, 2, 1.0], None, ValueError, "values must differ in how they read, but 1 is there more than once"),
        ("Power", [1, 2], 3, ValueError, "start must be one of 1, 2, not 3"),
    ],
)
def test_bad_slider_is_refused(label: Any, values: Any, start: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Slider(label, values, start)


def test_frame_that_is_not_offered_is_refused() -> None:
    explorer = explore(curve, power=Slider("Power", [1, 2]))
    for setting in ({"power": 3}, {"scale": 1}, {}):
        with pytest.raises(ValueError, match="must be one of power in 1, 2, not"):
            explorer.frame(**setting)


def test_live_view_redraws_on_a_move(live: None) -> None:
    drawn = []

    def figure(power: int) -> Figure:
        drawn.append(power)
        return curve(power)

    explorer = explore(figure, power=Slider("Power", [1, 2, 3]))
    assert drawn == [2]
    picture, play, slider = explorer._widget.children
    before = picture.value
    assert (slider.description, slider.index, play.value, play.max) == ("Power", 1, 1, 2)
    slider.index = 2
    assert drawn == [2, 3]
    assert picture.value != before
    assert "x to the power 3" in picture.value
    assert "application/vnd.jupyter.widget-view+json" in explorer._repr_mimebundle_()
    assert plt.get_fignums() == []


def test_live_view_lists_names(live: None) -> None:
    def figure(law: str, power: int = 1) -> Figure:
        return Figure(label=f"{law} {power}")

    law = Slider("Law", ["fixed", "geometric"])
    picture, choice, play, slider = explore(figure, law=law, power=Slider("Power", [1, 2, 3]))._widget.children
    assert isinstance(choice, ipywidgets.Dropdown)
    assert (choice.description, choice.value, play.value, slider.value) == ("Law", "fixed", 1, 2)
    choice.value = "geometric"
    assert "geometric 2" in picture.value
    assert len(explore(lambda law: figure(law), law=law)._widget.children) == 2


def test_live_view_shows_what_went_wrong(live: None) -> None:
    def figure(power: int) -> Figure:
        if power == 3:
            raise RuntimeError("no <third> power")
        return curve(power)

    picture, _, slider = explore(figure, power=Slider("Power", [1, 2, 3]))._widget.children
    slider.value = 3
    assert "RuntimeError: no &lt;third&gt; power" in picture.value
    assert "while the explorer drew power=3" in picture.value
    slider.value = 1
    assert "x to the power 1" in picture.value


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


def test_live_page_holds_one_picture() -> None:
    explorer = moved()
    text, stored = page(explorer), data(explorer)
    assert " data-live>" in text
    assert text.count("<script") == 1
    assert unquote(re.findall(r'src="data:image/svg\+xml,([^"]*)"', text)[0]) == explorer.frame(power=1).svg
    assert explorer.frame(power=0.5).alt == "2 to the 0.5 is 1.41"
    assert "2.0</text>" in explorer.frame(power=1).svg
    assert "$shows" in stored["script"]
    assert [part["id"] for part in stored["parts"]] == ["m0", "m1"]
    assert page(moved()) == text


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


def counts(rounds: int, seen: Any, selected: Any, means: Any, count: PerArm, same: Number, best: Number) -> None:
    last = selected.shape[0] - 1
    for a in range(count.size):
        count[a] = selected[last, a]
        same[0] += abs(seen.selected[a] - selected[last, a])
        best[0] = max(best[0], means[a])


def test_filled_by_a_run_of_a_game() -> None:
    game, policy = fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1()
    given = []

    def figure(rounds: int, count: Any, same: float, best: float) -> Figure:
        given.append(count)
        assert (same, best) == (0, 0.9)
        return plt.figure()

    live = Live(counts, alt="{count[1]:.0f}", problem=game, policy=policy, horizon=50, seed=4)
    explore(figure, live=live, rounds=Slider("Rounds", [5, 50], start=50))
    assert np.array_equal(given, fl.simulate(game, policy, 50, seed=4).selected[:, -1])
    with pytest.raises(ValueError, match="rounds must be whole numbers from 1 to the horizon, 50"):
        explore(figure, live=live, rounds=Slider("Rounds", [5, 51]))


@pytest.mark.parametrize("name", ["seed", "means"])
def test_a_slider_is_not_named_as_what_a_link_keeps_of_a_game(name: str) -> None:
    live = Live(lambda: None, alt="x", problem=GAME, policy=fl.ucb1(), horizon=5)
    with pytest.raises(ValueError, match=f"a slider of a game must not be named {name}"):
        Plays(live, {name: Slider("Number", [1, 2])})


@pytest.mark.parametrize(
    ("more", "error", "message"),
    [
        ({"alt": "{worth:g}"}, ValueError, "'worth' must name one of power, value"),
        ({"alt": "{value:5d}"}, ValueError, r"\{value:5d\} must be one number, in a format such as"),
        ({"problem": 3}, TypeError, "problem and policy must be given together"),
        ({"means": "Means"}, ValueError, "means can be changed only where there is a game on arms"),
        ({"strange": 1.0}, TypeError, "'powers' is set with factor; it knows no strange"),
    ],
)
def test_bad_live_is_refused(more: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        moved(**more)


GAME = fl.Bandit(fl.bernoulli([0.9, 0.5]))


def of_shape(power: float) -> fl.Bandit:
    return fl.Bandit(fl.bernoulli([0.9] * (1 if power < 1 else 2)))


@pytest.mark.parametrize(
    ("problem", "policy", "more", "error", "message"),
    [
        (lambda factor: GAME, fl.ucb1(), {}, TypeError, "problem may ask for power, not for factor"),
        (GAME, lambda power, seed: fl.ucb1(), {}, TypeError, "policy may ask for power, not for seed"),
        (GAME, [fl.ucb1(), 3], {}, TypeError, r"policy must be a Policy, such as ucb1\(\), not 3"),
        (
            lambda power: fl.Bandit(fl.bernoulli([0.2 * power**2, 0.5])),
            fl.ucb1(),
            {},
            ValueError,
            "each number of a game must be the value of power times a number, plus a number, but of 'UCB1' one "
            "is 0.05, 0.2, 0.8, 0.1125",
        ),
        (of_shape, fl.ucb1(), {}, ValueError, "power must change numbers of the game only, and not its sizes"),
        (
            GAME,
            fl.ucb1(),
            {"rounds": [3, 11]},
            ValueError,
            "rounds must be increasing whole numbers from 1 to the horizon, 10",
        ),
        (
            ExposureBandit(fl.bernoulli([0.9, 0.5]), merit=exponential(2)),
            fl.ucb1(),
            {"means": "Means"},
            ValueError,
            "means can be changed only where arms have a setting of this name",
        ),
    ],
)
def test_bad_game_of_a_live_picture_is_refused(
    problem: Any, policy: Any, more: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        moved(problem=problem, policy=policy, horizon=10, **more)


def test_several_policies_have_seen_different_things() -> None:
    with pytest.raises(TypeError, match=r"a live picture may ask for power, recorded, .*, not for seen"):
        explore(
            curve,
            live=Live(lambda power, seen: None, alt="x", problem=GAME, policy=[fl.ucb1(), fl.ucb1()], horizon=10),
            power=Slider("Power", [1, 2]),
        )


@pytest.mark.parametrize(("high", "wrong"), [(4.0, False), (4.5, True)])
def test_the_ends_of_lines_are_where_they_are_drawn(high: float, wrong: bool) -> None:
    def rises(power: float, value: float) -> Figure:
        fig, ax = plt.subplots()
        lines = ax.vlines([1, 2, 3], [0, 1, 2], [value, value + 1, value + high - 2])
        moving(lines, x=[1, 2, 3], low=[0, 1, 2], high=[value, value + 1, value + 2])
        return fig

    if wrong:
        with pytest.raises(ValueError, match="high must be where"):
            moved(rises)
    else:
        assert moved(rises).frame(power=1).alt == "2 to the 1 is 2.00"


def heights_of(power: float, heights: Annotated[Array, 3]) -> None:
    for i in range(3):
        heights[i] = i + power


def test_what_counts_and_what_is_named_comes_as_a_whole_number() -> None:
    def counted(times: int, who: int, found: Annotated[Array, 3]) -> None:
        for _ in range(times):
            found[who] += 0.5

    sliders = {"times": Slider("Times", [1, 2, 5]), "who": Slider("Who", ["a", "b", "c"])}
    live = Live(counted, alt="{found[0]:g} {found[1]:g} {found[2]:g}")
    figure = LiveFigure(lambda times, who, found: Figure(), sliders, live)
    assert figure(times=5, who="b").get_label() == "0 2.5 0"
    assert figure(times=2, who="c").get_label() == "0 0 1"


def test_what_lies_between_whole_numbers_stays_there() -> None:
    def tripled(part: float, found: Number) -> None:
        found[0] = 3 * part

    live = Live(tripled, alt="{found:g}")
    figure = LiveFigure(lambda part, found: Figure(), {"part": Slider("Part", [0.5, 1.0])}, live)
    assert figure(part=0.5).get_label() == "1.5"
    assert figure(part=1.0).get_label() == "3"


def test_the_page_is_told_of_which_numbers_a_part_is_made() -> None:
    def both(power: float, lowest: Number, heights: Annotated[Array, 3]) -> None:
        lowest[0] = power
        heights_of(power, heights)

    def figure(power: float, lowest: float, heights: Any) -> Figure:
        fig, ax = plt.subplots()
        moving(ax.vlines([1, 2, 3], 0, heights), low=[0, 0, 0], high="heights")
        moving(ax.fill_between([1, 2, 3], 0, heights), x=[1, 2, 3], low=[0, 0, 0], high="heights")
        return fig

    told = data(explore(figure, live=Live(both, alt="{heights[0]}"), power=Slider("Power", [1, 2])))
    assert told["shows"]["memory"] == {"lowest": [0], "heights": [1, 3]}  # where they begin, and their shape
    lines, filled = (part["paths"] for part in told["parts"])
    assert lines == [[[1, 1], [0, "heights[0]"]], [[2, 2], [0, "heights[1]"]], [[3, 3], [0, "heights[2]"]]]
    # from the first height along the foot to the last, and back along the heights, as matplotlib draws it
    assert filled == [[[1, [1, 2, 3], 3, [3, 2, 1]], ["heights[0]", [0, 0, 0], "heights[-1]", "heights~"]]]


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_the_page_is_told_where_in_the_picture_a_number_lies(scale: str) -> None:
    def figure(power: float, value: float) -> Figure:
        fig, ax = plt.subplots(figsize=(4, 3))
        ax.set(xlim=(2, 50), ylim=(0.3, 7), xscale=scale, yscale=scale)
        moving(ax.plot(value, value, "o")[0], x="value", y="value")
        drawn.append((ax, fig.get_figheight()))
        return fig

    drawn: list[Any] = []
    a, b, c, d, *logs = data(moved(figure))["parts"][0]["map"]
    assert logs == [scale == "log"] * 2
    ax, height = drawn[-1]
    for x, y in [(2, 0.3), (50, 7), (3, 5)]:
        across, up = ax.transData.transform((x, y)) * 72 / ax.figure.dpi
        x, y = np.log10([x, y]) if scale == "log" else (x, y)
        assert (a * x + b, c * y + d) == pytest.approx((across, 72 * height - up))


def test_bad_live_figure_is_refused() -> None:
    def elsewhere(power: float, value: float) -> Figure:
        fig, ax = plt.subplots()
        moving(ax.plot(value + 1, 0, "o")[0], x="value")
        return fig

    slider = Slider("Power", [1, 2])
    with pytest.raises(ValueError, match=r"x must be where .* is drawn, .*, not at 'value', which is 2"):
        moved(elsewhere)
    with pytest.raises(TypeError, match="unexpected keyword argument 'value'"):
        moved(curve)
    with pytest.raises(ValueError, match="autoplay must be False for a live explorer"):
        explore(point, autoplay=True, live=Live(powers, alt="x", factor=1.0), power=slider)
    with pytest.raises(TypeError, match="a live picture may ask for power, not for seen"):
        explore(curve, live=Live(lambda power, seen: None, alt="x"), power=slider)


def untranslated(power: float, value: Number) -> None:
    value[:] = [power]


def test_what_the_page_cannot_compute_is_refused() -> None:
    with pytest.raises(ValueError, match="of 'untranslated': a list, which it does not know"):
        explore(point, live=Live(untranslated, alt="{value}"), power=Slider("Power", [1, 2]))


@pytest.mark.parametrize(
    ("mark", "error", "message"),
    [
        (lambda ax: moving(ax, x="low"), TypeError, "artist must be a line, points, a band"),
        (lambda ax: moving(ax.plot([1])[0], high="low"), ValueError, "Line2D has the ends x, y, not high"),
        (lambda ax: moving(ax.plot([1])[0], "text"), TypeError, "text must be a string, and goes with a text only"),
        (lambda ax: moving(ax.plot([1])[0], x=None), TypeError, "x must be the name of what is filled, a place of one"),
        (lambda ax: moving(ax.bar([1], [2]), top=["a"]), TypeError, "top must be the name of what is filled"),
        (lambda ax: moving(ax.bar([1, 2], 3), top=3), ValueError, "top must be a name or 2 numbers, one a bar"),
        (lambda ax: moving(ax.set_title(""), "$x$"), ValueError, "text must be one line without formulas"),
        (lambda ax: moving(ax.fill_between([1], [2]), low="low"), ValueError, "a band must be given x, low, high"),
    ],
)
def test_bad_mark_is_refused(mark: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        mark(plt.figure().subplots())
    plt.close()
