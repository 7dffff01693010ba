"""Pictures that move in the page: a function, written like a rule, fills arrays, and marked parts follow them.

In the page matplotlib's own picture is kept, and the numbers of its paths are written anew; see `live.js`.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from itertools import pairwise, product
from typing import Annotated, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text
from numpy.typing import ArrayLike

from fairlib import checks
from fairlib.checks import PositiveInt, checked
from fairlib.core.arms import Bandit
from fairlib.core.ridge import Ridge
from fairlib.engine.runner import Runner, make_runner
from fairlib.engine.seeding import root
from fairlib.engine.session import ArmsSession, make_session
from fairlib.engine.simulate import recorded_rounds
from fairlib.pages import scripts
from fairlib.rules.bound_rule import BoundRule
from fairlib.rules.rule import Array, Seen
from fairlib.rules.signature import CallSignature

_FIELD = re.compile(r"\{(\w+)((?:\[\d+\])*)(?::([^{}]*))?\}")
_SPEC = re.compile(r"(,?\.\d+f|\.\d+%|(\.[1-9]\d*)?g)?|[^|]*(\|[^|]*)+")
_ENDS: dict[type[Artist], tuple[str, ...]] = {
    Line2D: ("x", "y"),
    Text: ("x", "y"),
    FillBetweenPolyCollection: ("x", "low", "high"),
    LineCollection: ("x", "low", "high"),
    Rectangle: ("left", "right", "bottom", "top"),
}


def moving(artist: Any, text: str | None = None, **ends: Any) -> Any:
    """Mark a part of a picture that follows the filled arrays.

    Parameters
    ----------
    artist : matplotlib artist or container of bars
        A line (``x``, ``y``), the band of ``fill_between`` or the segments of ``vlines`` (``x``, ``low``,
        ``high``), a rectangle or bars (``left``, ``right``, ``bottom``, ``top``), or a text (``x``, ``y``).
    text : str, optional
        The words of a text, with the fields of `Live`'s ``alt``; they replace the text that was drawn.
    **ends : str or array_like
        Where the part lies: the name of an array that is filled, or a place of one, such as ``"low"`` or ``"low[2]"``.
        Ends that are not given stay as drawn. A point that is nan is not drawn.

    Returns
    -------
    matplotlib artist or container of bars
        The same.

    Raises
    ------
    TypeError, ValueError
        If the part is of another kind or has no such ends, or an end is neither a name nor numbers.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> fig, ax = plt.subplots()
    >>> line = moving(ax.plot([0, 1], [0.2, 0.4])[0], y="low")
    >>> title = moving(ax.set_title(""), "after {rounds:,.0f} rounds")
    >>> plt.close(fig)
    """
    allowed = "the name of what is filled, a place of one, or numbers"
    ends = {name: end if isinstance(end, str) else checks.floats(name, end, allowed) for name, end in ends.items()}
    if isinstance(artist, BarContainer):
        for name, end in ends.items():
            if not isinstance(end, str) and end.shape != (len(artist),):
                raise ValueError(f"{name} must be a name or {len(artist)} numbers, one a bar, not {checks.shown(end)}")
        for i, bar in enumerate(artist):
            moving(bar, text, **{name: _one(end, i) for name, end in ends.items()})
        return artist
    known = next((names for kind, names in _ENDS.items() if isinstance(artist, kind)), None)
    if known is None:
        raise TypeError(f"artist must be a line, a band, segments, bars or a text, not {checks.shown(artist)}")
    for name in ends:
        if name not in known:
            raise ValueError(f"{type(artist).__name__} has the ends {', '.join(known)}, not {name}")
    if (text is not None) and not (isinstance(artist, Text) and isinstance(text, str)):
        raise TypeError(f"text must be a string, and goes with a text only, not {checks.shown(text)} with {artist!r}")
    if text is not None and ("\n" in text or "$" in text):
        raise ValueError(f"text must be one line without formulas, not {checks.shown(text)}")
    if isinstance(artist, FillBetweenPolyCollection) and len(ends) < 3:
        raise ValueError(f"a band must be given {', '.join(known)}, not only {', '.join(ends) or 'nothing'}")
    artist._moving = text, ends
    return artist


class Live:
    """The moving parts of an explorer's picture, computed in the page; for `fairlib.pages.explorers.explore`.

    Parameters
    ----------
    shows : callable or Rule
        The function that fills the picture: plain Python with `math`, as in a rule (see `fairlib.rule`). It asks by
        name for the sliders' values (of strings, their places in the list), for its settings, and for arrays to fill,
        whose annotations say their sizes, such as ``low: PerArm`` or ``curve: Annotated[Array, 200]``; ``Number`` is
        filled by ``x[0]`` and is shown as one number. Where there is a game, it may ask as well for the records of a
        run: ``recorded`` (the recorded rounds, shape (R,)), ``selected`` (R, K), ``reward`` (R,), each sum of the game
        (R, ...) by its name, ``seen`` as a rule would see it next, or ``ridge``, and on arms ``means`` (K,). Where
        there is a list of P policies, it has ``selected`` (P, R, K), ``reward`` (P, R) and sums (P, R, ...) instead,
        and neither ``seen`` nor ``ridge``.
    alt : str
        A description of the picture, in words. A field such as ``{rounds:,.0f}`` or ``{low[2]:.1%}`` is replaced by a
        slider's value or by a filled number, ``{better:first|second}`` by the word of this number.
    problem : Bandit, ContextBandit or callable, optional
        The game, or a function that returns it and asks by name for the sliders' values. Those of its numbers that move
        with a slider must be the slider's value times a number, plus a number.
    policy : Policy, ContextPolicy, callable or list of those, optional
        The policy, or a function that returns it; those of a list play one after the other, with the same seed.
    horizon : int
        The number of rounds that the policy is given; that many are played, or as many as a slider named ``rounds``
        says.
    rounds : array_like of int, optional
        Rounds to record, as for `simulate`.
    seed : int
        The seed at the start; the reader may ask for another.
    means : str, optional
        The label of the means of the arms, if readers may change them.
    **settings : float, array_like or Merit
        The other settings that `shows` asks for.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> def shows(power, square: fl.Number):
    ...     square[0] = 3.0**power
    >>> Live(shows, alt="3 to the power {power:g} is {square:.0f}").seed
    0
    """

    described_as = "a Live"

    @checked
    def __init__(
        self,
        shows: Annotated[Callable[..., Any], checks.Function()],
        *,
        alt: Annotated[str, checks.Text(empty=False)],
        problem: Any = None,
        policy: Any = None,
        horizon: PositiveInt = 1,
        rounds: ArrayLike | None = None,
        seed: Annotated[int, checks.Integer(0)] = 0,
        means: str | None = None,
        **settings: Any,
    ) -> None:
        if (problem is None) != (policy is None):
            raise TypeError("problem and policy must be given together, or neither")
        if means is not None and problem is None:
            raise ValueError("means can be changed only where there is a game on arms")
        checks.instance("means", means, str | None, "a string, what the means of the arms are called")
        self.shows, self.alt, self.problem, self.policy, self.settings = shows, alt, problem, policy, settings
        self.horizon = horizon
        self.rounds = None if rounds is None else recorded_rounds(rounds, self.horizon)
        self.seed, self.means = seed, means


class Plays:
    """The games that a live picture plays: those at its `start`, and `sessions`, one for each script of the page."""

    def __init__(self, live: Live, sliders: Mapping[str, Any]) -> None:
        for name in ("seed", "means"):
            if name in sliders:
                raise ValueError(f"a slider of a game must not be named {name}: links have the game's own under it")
        self.live, self.sliders = live, sliders
        self.several = isinstance(live.policy, list | tuple)
        self._policies = list(live.policy) if self.several else [live.policy]
        self.start = self._ready({name: slider.start for name, slider in sliders.items()})
        self.rounds = recorded_rounds(live.rounds, live.horizon).tolist()
        stops = sliders["rounds"].values if "rounds" in sliders else (live.horizon,)
        if not all(isinstance(stop, int) and 1 <= stop <= live.horizon for stop in stops):
            raise ValueError(f"rounds must be whole numbers from 1 to the horizon, {live.horizon}, not {stops}")
        first = self.start[0]
        known = isinstance(first, ArmsSession) and "mean" in first.problem.arms.draw.settings
        if live.means is not None and (not known or {"means", "optimal"} & first.metrics.settings.keys()):
            raise ValueError(
                "means can be changed only where arms have a setting of this name, as those of bernoulli, and the game "
                "sums nothing that depends on them"
            )
        self.sessions: list[Any] = []
        self.page = [self._followed(policy) for policy in self._policies]

    def _ready(self, setting: Mapping[str, Any]) -> list[Any]:
        """Return the prepared games at a setting."""
        problem = _made("problem", self.live.problem, setting)
        return [make_session(problem, _made("policy", policy, setting), self.live.horizon) for policy in self._policies]

    def played(self, setting: Mapping[str, Any], seen: bool = False) -> dict[str, Any]:
        """Play run 0; return its records by name and, if `seen`, what its rule has seen."""
        last = int(setting.get("rounds", self.rounds[-1]))
        rounds = np.array([*(t for t in self.rounds if t < last), last])
        games = self._ready(setting)
        runners = [make_runner(game, rounds, root(self.live.seed)) for game in games]
        each = [self._recorded(runner) for runner in runners]
        left = {name: np.stack([one[name] for one in each]) if self.several else each[0][name] for name in each[0]}
        after = runners[0].seen() if seen else {}
        if "selected" in after:  # on arms, where the picture calls the counts at the recorded rounds so
            after |= {"t": last + 1, "plays": after.pop("selected")}
        means = {"means": games[0].problem.arms.means} if isinstance(games[0], ArmsSession) else {}
        return {**left, "recorded": rounds, **means, **after}

    def _recorded(self, runner: Runner) -> dict[str, Any]:
        """Play run 0 of a game; return its records."""
        metrics, sizes, rounds = runner.game.metrics, runner.sizes, runner.recorded.size
        selected, reward = np.zeros((rounds, sizes["K"]), np.int64), np.zeros(rounds)
        sums = np.zeros((rounds, metrics.length(sizes)))
        runner.play(0, selected, reward, sums, np.zeros(16, np.int64))
        return {"selected": selected, "reward": reward, **metrics.memory(sums, sizes)}

    def _followed(self, policy: Any) -> dict[str, Any]:
        """Return a policy's games for the page, and keep a session of each."""
        live, order = self.live, list(self.sliders)
        asked = _asked("problem", live.problem, self.sliders) | _asked("policy", policy, self.sliders)
        named = [name for name in order if name in asked and self.sliders[name].named]
        moved = [name for name in order if name in asked and not self.sliders[name].named]
        made = []
        for words in product(*(self.sliders[name].values for name in named)):
            points = list(product(*(_between(self.sliders[name]) for name in moved)))
            settings = [dict(zip([*named, *moved], [*words, *point], strict=True)) for point in points]
            games = [(_made("problem", live.problem, each), _made("policy", policy, each)) for each in settings]
            made.append({**_line(games, live.horizon, np.array(points), moved, order), "session": len(self.sessions)})
            self.sessions.append(make_session(*games[0], 1, compiled=False))  # the page needs only its script
        return {"named": [order.index(name) for name in named], "games": made}


def _asked(what: str, maker: Any, sliders: Mapping[str, Any]) -> set[str]:
    """Return which sliders move a game or a policy: those that the function that returns it asks for."""
    asked = set(inspect.signature(maker).parameters) if callable(maker) else set()
    if strange := asked - sliders.keys():
        raise TypeError(f"{what} may ask for {', '.join(sliders)}, not for {', '.join(sorted(strange))}")
    return asked


def _made(what: str, maker: Any, setting: Mapping[str, Any]) -> Any:
    """Return a game or a policy at a setting."""
    return maker(**{name: setting[name] for name in _asked(what, maker, setting)}) if callable(maker) else maker


def _between(slider: Any) -> list[Any]:
    """Return the values of a slider, and one between each two of them, as the page can show those too."""
    values = list(slider.values)
    middles = [(a + b) // 2 if slider.whole else (a + b) / 2 for a, b in pairwise(values)]
    return [*values, *middles]


_MOVING = ("params", "table", "metricParams", "waits", "means")


def _line(games: list[Any], horizon: int, points: Array, moved: list[str], order: list[str]) -> dict[str, Any]:
    """Return the numbers of games as those at 0 and a slider's addition to each; refuse numbers of another form."""
    said = [scripts.numbers(problem, policy, horizon) for problem, policy in games]
    for one, (problem, _) in zip(said, games, strict=True):
        del one["rounds"]  # those to record are the picture's
        if isinstance(problem, Bandit):
            one["means"] = problem.arms.means.tolist()
    if any(one[name] != said[0][name] for one in said for name in one.keys() - _MOVING):
        raise ValueError(f"{' and '.join(moved)} must change numbers of the game only, and not its sizes")
    line: dict[str, Any] = {**said[0], "moves": []}
    for name in (each for each in _MOVING if each in line):
        table = np.array([one[name] for one in said], np.float64)
        rows = table.reshape(len(said), -1)
        for i in np.flatnonzero((rows != rows[0]).any(axis=0)):
            fit = np.linalg.lstsq(np.column_stack([points, np.ones(len(points))]), rows[:, i])[0]
            fit = np.where(abs(fit - fit.round(6)) < 1e-9, fit.round(6), fit)  # 0.1 is meant, not a hair beside it
            if not np.allclose(points @ fit[:-1] + fit[-1], rows[:, i], rtol=1e-9, atol=1e-9):
                raise ValueError(
                    f"each number of a game must be the value of {' and '.join(moved)} times a number, plus a number, "
                    f"but of {games[0][1].name!r} one is {', '.join(f'{value:g}' for value in rows[:4, i])}, ..."
                )
            *axes, last = place = np.array(np.unravel_index(i, table.shape[1:])).tolist()
            inside = line[name]
            for axis in axes:
                inside = inside[axis]
            inside[last] = float(fit[-1])
            for by, slope in zip(moved, fit[:-1].tolist(), strict=True):
                if slope:
                    line["moves"].append([order.index(by), slope, name, *place])
    return line


class LiveFigure:
    """A figure that is drawn from the filled arrays at each setting, and all that a page needs to do the same."""

    def __init__(self, figure: Callable[..., Figure], sliders: Mapping[str, Any], live: Live) -> None:
        self.figure, self.sliders, self.live = figure, sliders, live
        self._drawn: Any = None
        gives = {
            name: f"int(sliders[{i}])" if slider.named or slider.whole else f"sliders[{i}]"
            for i, (name, slider) in enumerate(sliders.items())
        }
        self.asked = ["params", "state", "sliders"]
        tuples: dict[str, Any] = {}
        self.axes: dict[str, int] = {}
        self.plays = None if live.problem is None else Plays(live, sliders)
        self.sizes = {"T": live.horizon}  # that memory may have, by name
        if self.plays is not None:
            game = self.plays.start[0]
            self.sizes = {**game.sizes, **self.sizes}
            sums = game.metrics.memory(np.zeros((1, game.metrics.length(self.sizes))), self.sizes)
            recorded = {"selected": 2, "reward": 1, **{name: block.ndim for name, block in sums.items()}}
            self.axes = {name: axes + self.plays.several for name, axes in recorded.items()}
            given = ["recorded", *self.axes, *["means"] * isinstance(game, ArmsSession)]
            gives |= {name: name for name in given if name not in sliders}
            self.asked += given
            if self.plays.several:
                pass  # two policies have no one `seen`
            elif isinstance(game, ArmsSession):
                gives["seen"] = "Seen(t, plays, observed, total)"
                self.asked += ["t", "plays", "observed", "total"]
                tuples["seen"] = Seen
            else:
                gives["ridge"] = "Ridge(mean, root)"
                self.asked += ["mean", "root"]
                tuples["ridge"] = Ridge
        form = CallSignature(
            "a live picture", ", ".join(self.asked), gives, None, tuples=tuples, sizes=tuple(self.sizes)
        )
        self.bound_rule = BoundRule(live.shows, form, live.settings)

    def filled(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """Return the filled arrays at a setting, by name."""
        state = self.bound_rule.state(self.sizes)
        sliders = [s.values.index(setting[n]) if s.named else setting[n] for n, s in self.sliders.items()]
        params = self.bound_rule.numbers(self.sizes)
        block = {"params": params, "state": state, "sliders": np.array(sliders, float)}
        if self.plays is not None:
            block |= self.plays.played(setting, self.bound_rule.asks("seen") or self.bound_rule.asks("ridge"))
        self.bound_rule.interpreted(*(block.get(name) for name in self.asked))
        blocks = self.bound_rule.memory(state, self.sizes)
        return {name: block if block.ndim else float(block) for name, block in blocks.items()}

    def __call__(self, **setting: Any) -> Figure:
        """Draw the picture at a setting."""
        values = {**setting, **self.filled(setting)}
        fig = self.figure(**values)
        if isinstance(fig, Figure):
            for i, artist in enumerate(_moving_in(fig)):
                text, ends = artist._moving
                artist.set_gid(f"m{i}")
                if text is not None:
                    artist.set_text(format_text(text, values))
                _check_ends(artist, ends, values)
            fig.set_label(format_text(self.live.alt, values))
            self._drawn = fig
        return fig

    def page(self) -> dict[str, Any]:
        """Return the data that the page needs besides the picture that was drawn last."""
        live, sizes = self.live, self.sizes
        length = self.bound_rule.length(sizes)
        memory = _lying(self.bound_rule.memory(np.arange(length, dtype=np.float64), sizes))
        shows = {"params": self.bound_rule.numbers(sizes).tolist(), "length": length, "memory": memory}
        made: dict[str, Any] = {
            "sliders": [
                {"name": name, "values": list(slider.values), "named": slider.named, "whole": slider.whole}
                for name, slider in self.sliders.items()
            ],
            "alt": live.alt,
            "shows": shows,
            "parts": [_part(artist) for artist in _moving_in(self._drawn)],
            "seed": live.seed,
            "script": scripts.live(self.bound_rule, self.asked, self.plays.sessions if self.plays else [], self.axes),
        }
        if self.plays is not None:
            game = self.plays.start[0]
            made["plays"], made["several"], made["rounds"] = self.plays.page, self.plays.several, self.plays.rounds
            made["sums"] = _lying(game.metrics.memory(np.arange(game.metrics.length(sizes), dtype=np.float64), sizes))
        return made


def _lying(blocks: Mapping[str, Array]) -> dict[str, list[int]]:
    """Return where each block of counted places begins, and its shape."""
    return {name: [int(block.flat[0]), *block.shape] for name, block in blocks.items()}


def format_text(text: str, values: Mapping[str, Any]) -> str:
    """Put numbers and words into a text; the page does the same."""

    def field(found: re.Match[str]) -> str:
        value, spec = _value(found[1] + found[2], values), found[3] or ""
        if isinstance(value, str):
            return value
        if not _SPEC.fullmatch(spec) or np.ndim(value):
            raise ValueError(f"{found[0]} must be one number, in a format such as .2f, ,.0f, .1%, g or one|other")
        if "|" in spec:
            return spec.split("|")[int(value)]
        return format(float(value) + 0.0, spec or "g").replace("inf", "∞")

    return " ".join(_FIELD.sub(field, text).split())


def _moving_in(figure: Figure) -> list[Any]:
    return figure.findobj(lambda artist: hasattr(artist, "_moving"))


def _check_ends(artist: Any, ends: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Refuse a part that is not drawn where its ends say that it lies."""
    for name, end in ends.items():
        value = _value(end, values) if isinstance(end, str) else end
        where = _drawn(artist).get(name, value)  # a band does not keep its ends
        if not np.allclose(where, value, equal_nan=True):
            raise ValueError(f"{name} must be where {artist!r} is drawn, {where}, not at {end!r}, which is {value}")


def _value(named: str, values: Mapping[str, Any]) -> Any:
    """Return the filled array of a name, or one place of it."""
    name, *places = re.findall(r"-?\w+", named)
    if name not in values:
        raise ValueError(f"{named!r} must name one of {', '.join(map(str, values))}")
    value = values[name]
    for place in places:
        value = value[int(place)]
    return value


def _part(artist: Any) -> dict[str, Any]:
    """Return the data with which the page moves a part: its name, its ends, and how numbers become places."""
    text, given = artist._moving
    ends = _drawn(artist) | {name: end if isinstance(end, str) else end.tolist() for name, end in given.items()}
    part: dict[str, Any] = {"id": artist.get_gid(), "map": _map(artist)}
    if isinstance(artist, Text):
        drawn = _drawn(artist)
        return part | {"text": text, "from": [drawn["x"], drawn["y"]], "to": [ends["x"], ends["y"]]}
    if isinstance(artist, Rectangle):
        left, right, bottom, top = (ends[name] for name in _ENDS[Rectangle])
        return part | {"closed": True, "paths": [[[left, right, right, left], [bottom, bottom, top, top]]]}
    if isinstance(artist, FillBetweenPolyCollection):  # in the order of matplotlib's own
        x, low, high = ends["x"], ends["low"], ends["high"]
        around = [_one(x, 0), x, _one(x, -1), _turned(x)], [_one(high, 0), low, _one(high, -1), _turned(high)]
        return part | {"closed": True, "paths": [around]}
    if isinstance(artist, LineCollection):
        each = [[_one(ends[name], i) for name in ("x", "low", "high")] for i in range(len(artist.get_segments()))]
        return part | {"paths": [[[x, x], [low, high]] for x, low, high in each]}
    if artist.get_marker() not in ("None", None, "", " "):
        part["points"] = [ends["x"]], [ends["y"]]
    if artist.get_linestyle() != "None":
        part["paths"] = [([ends["x"]], [ends["y"]])]
    return part


def _drawn(artist: Any) -> dict[str, Any]:
    """Return where the ends of a part are as it is drawn."""
    if isinstance(artist, Text):
        x, y = artist.xy if isinstance(artist, Annotation) else artist.get_position()
        return {"x": float(x), "y": float(y)}
    if isinstance(artist, Rectangle):
        return dict(zip(_ENDS[Rectangle], artist.get_bbox().get_points().T.ravel().tolist(), strict=True))
    if isinstance(artist, LineCollection):
        (x, low), (_, high) = np.transpose(artist.get_segments(), (1, 2, 0)).tolist()
        return {"x": x, "low": low, "high": high}
    if isinstance(artist, FillBetweenPolyCollection):
        return {}
    return dict(zip("xy", np.asarray(artist.get_xydata(), float).T.tolist(), strict=True))


def _one(end: Any, i: int) -> Any:
    """Return one place of an end."""
    return f"{end}[{i}]" if isinstance(end, str) else end[i]


def _turned(end: Any) -> Any:
    """Return an end backwards."""
    return f"{end}~" if isinstance(end, str) else end[::-1]


def _map(artist: Any) -> list[Any]:
    """Return how numbers become places in the picture: x -> a x + b, of the logarithm on a log axis, and so for y."""
    ax, figure = artist.axes, artist.figure
    if isinstance(artist, Annotation):  # of which nothing is ever moved but its place in the data
        transform, of_data = ax.transData, [True, True]
    else:
        transform = artist.get_data_transform() if isinstance(artist, Rectangle) else artist.get_transform()
        of_data = list(transform.contains_branch_seperately(ax.transData)) if ax else [False, False]
    xs = ax.get_xlim() if of_data[0] else (0.0, 1.0)
    ys = ax.get_ylim() if of_data[1] else (0.0, 1.0)
    logs = [of_data[0] and ax.get_xscale() == "log", of_data[1] and ax.get_yscale() == "log"]
    (x0, y0), (x1, y1) = transform.transform([[xs[0], ys[0]], [xs[1], ys[1]]]) * 72 / figure.dpi
    height = figure.get_figheight() * 72
    xs, ys = (np.log10(each) if log else np.asarray(each) for each, log in zip((xs, ys), logs, strict=True))
    a, c = (x1 - x0) / (xs[1] - xs[0]), (y0 - y1) / (ys[1] - ys[0])
    return [float(a), float(x0 - a * xs[0]), float(c), float(height - y0 - c * ys[0]), *map(bool, logs)]
