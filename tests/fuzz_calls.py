"""Every public function with its arguments: what each may be, and a valid call, as the annotations declare.

`judged` says of each kind of constraint what it allows, apart from the package's own checks, so that the two can
disagree. A valid value is the example of a constraint, a default, or what the message for a wrong class advises.
`EXCEPTIONS` holds what no annotation says: functions of a reader's own, open settings, files, live objects.
"""

import array
import inspect
import itertools
import json
import math
import numbers
import tempfile
import types
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from odd_values import Silent, refuses

import fairlib as fl
from fairlib import checks, data, delays, merit, ranks, shares
from fairlib.baselines import linear
from fairlib.book import live
from fairlib.book.sliders import Slider
from fairlib.core import Rule
from fairlib.delays.laws import _WholeRounds
from fairlib.deploy import Monitor, Service
from fairlib.engine.seeding import SeedOrSequence
from fairlib.experiments import evaluation, replay
from fairlib.rules.jit import HELPERS

# What a constraint allows ---------------------------------------------------------------------------------------------


class UnfitError(Exception):
    """The argument may not be this."""


def must(fits: Any) -> None:
    if not fits:
        raise UnfitError


def is_number(value: Any, kind: Any = numbers.Real) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        raise UnfitError from None


def listed(value: Any, kind: Any = numbers.Real) -> Any:
    """Return numbers in whatever shape as nested lists; they may be nan or infinite."""
    if is_number(value, kind):
        return int(value) if kind is numbers.Integral else as_float(value)
    if hasattr(value, "__array__"):
        must(not np.ma.is_masked(value) and value is not np.ma.masked)
        found = np.asarray(value)
        must(found.dtype.kind in ("iuf" if kind is numbers.Real else "iu") or found.dtype == object)
        return listed(found.tolist(), kind)
    must(isinstance(value, Sequence | array.array) and not isinstance(value, str | bytes | bytearray | memoryview))
    parts = [listed(each, kind) for each in value]
    must(len({np.shape(each) for each in parts}) <= 1)
    return parts


def several(value: Any, axes: int | None, fits: Callable[[Any], Any], kind: Any = numbers.Real) -> Any:
    """Return an array of so many axes, each of whose numbers fits, as nested lists."""
    plain = listed(value, kind)
    flat, shape = np.ravel(np.array(plain, object)), np.shape(plain)
    must(axes is None or (len(shape) == axes and flat.size > 0))
    must(all(fits(each) for each in flat))
    return plain


def is_finite(number: Any) -> bool:
    return bool(abs(number) <= 1e150)


def is_wait(number: Any) -> bool:
    return bool(number == math.inf or (0 <= number < math.inf and number % 1 == 0))


def is_empty(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return np.size(value) == 0 and np.ndim(value) > 0
    return value in ([], (), set(), range(0))


def judged(allowed: checks.Constraint, value: Any) -> Any:
    """Return what a value plainly means, or raise `UnfitError` if the constraint does not allow it."""
    match allowed:
        case checks.Optional(inner=inner):
            return None if value is None else judged(inner, value)
        case checks.InBody(inner=inner):
            return judged(inner, value)
        case checks.Integer(low=low, high=high):
            must(is_number(value, numbers.Integral) and low <= int(value) <= (high or math.inf))
            return int(value)
        case checks.Real(low=low, high=high, above=above, below=below, infinity=infinity):
            must(is_number(value))
            number = as_float(value)
            if infinity and isinstance(value, float) and number == math.inf:
                return number
            must(low <= number <= high and above < number < below and math.isfinite(number))
            must(abs(number) <= 1e150 or high < math.inf)
            return number
        case SeedOrSequence():
            return value if isinstance(value, np.random.SeedSequence) else judged(checks.Integer(0, None), value)
        case checks.Scale():
            return judged(checks.Real(1e-75, 1e75), value)
        case checks.Probability():
            return judged(checks.Real(1e-75, below=1), value)
        case checks.Numbers(low=low, high=high, above=above):
            return several(value, 1, lambda each: is_finite(each) and low <= each <= high and above < each)
        case checks.Table(axes=axes):
            return several(value, axes, is_finite)
        case _WholeRounds():
            return several(value, 1, is_wait)
        case checks.OneOrMany(low=low, integers=True):
            return several(value, None, lambda each: low <= each <= 1e150, numbers.Integral)
        case checks.OneOrMany(low=low):
            return several(value, None, lambda each: is_finite(each) and low <= each)
        case checks.Pair(inner=inner):
            must(isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0))
            must(len(value) == 2)
            return [judged(inner, each) for each in value]
        case checks.Instance(kind=kind):
            must(isinstance(value, kind))
        case checks.Flag():
            must(isinstance(value, bool | np.bool_))
            return bool(value)
        case checks.Text(empty=empty):
            must(isinstance(value, str) and (empty or value.strip()))
        case checks.Choice(values=values):
            must(isinstance(value, str) and value in values)
        case checks.FilePath():
            must(isinstance(value, str | Path | PurePosixPath))
            must(Path(value).name and "\0" not in str(value) and len(str(value)) < 256)
        case checks.Function():
            must(callable(value))
        case _:
            raise NotImplementedError(f"say what {allowed} allows")
    return value


# Valid calls ----------------------------------------------------------------------------------------------------------


class Argument(NamedTuple):
    """A valid value, made anew for each call, what the argument may be, and what else messages call it."""

    made: Callable[[], Any]
    judge: Callable[[Any], Any]
    also: tuple[str, ...] = ()


NAMES: dict[str, Any] = {"np": np}
for _name in dir(fl):
    if isinstance(_part := getattr(fl, _name), types.ModuleType):
        NAMES |= {each: getattr(_part, each) for each in getattr(_part, "__all__", ())}
NAMES |= vars(linear) | vars(fl)


def example(allowed: checks.Constraint, default: Any) -> Callable[[], Any]:
    """Return what makes a value that an argument may have."""
    optional, own = isinstance(allowed, checks.Optional), allowed
    while isinstance(own, checks.Optional | checks.InBody):
        own = own.inner
    found = own.example
    if found is None and isinstance(own, checks.Instance) and not optional:  # what the message advises
        return lambda: eval(own.says.partition(" such as ")[2], dict(NAMES))
    if found is None and default is not inspect.Parameter.empty:
        found = default
    elif found is None:
        found = derived(own)
    return lambda: found


def derived(allowed: checks.Constraint) -> Any:
    match allowed:
        case checks.Integer(low=low):
            return low + 1
        case checks.Real(low=low, high=high, above=above, below=below):
            first, last = max(low, above), min(high, below)
            return (first + last) / 2 if first > -math.inf and last < math.inf else max(first, 0) + 0.5
        case checks.Scale():
            return 1.0
        case checks.Probability():
            return 0.1
        case checks.Numbers() | checks.Table(axes=1):
            return [0.5, 0.25]
        case checks.Table(axes=None):
            return 0.5
        case checks.Table(axes=int(axes)):
            return np.full((2,) * axes, 0.5) + np.arange(2) / 4
        case _WholeRounds():
            return [1, 2]
        case checks.Text():
            return "own"
        case checks.Flag():
            return False
        case checks.FilePath():
            return "file"
        case checks.Choice(values=values):
            return values[0]
    raise NotImplementedError(f"give {allowed} an example")


def arguments(function: Any, more: Mapping[str, Argument]) -> dict[str, Argument]:
    """Return what is known of each argument; a `**settings` stands for those of `more` that have no other place."""
    parameters, declared = inspect.signature(function).parameters, checks.constraints(function)
    found: dict[str, Argument] = {}
    for name, each in parameters.items():
        if each.kind is each.VAR_KEYWORD:
            found |= {one: known for one, known in more.items() if one not in parameters}
        elif name in more:
            found[name] = more[name]
        elif name in declared:
            found[name] = Argument(example(declared[name], each.default), partial(judged, declared[name]))
        else:
            raise KeyError(f"declare in its annotation what {name} of {function.__qualname__} may be")
    return found


# What no annotation says ----------------------------------------------------------------------------------------------


def nothing(value: Any) -> Any:
    raise UnfitError


def of(value: Any, judge: Callable[[Any], Any] = nothing, *also: str) -> Argument:
    return Argument(lambda: value, judge, also)


def either(*judges: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a judge that takes what one of several takes."""

    def take(value: Any) -> Any:
        for each in judges:
            try:
                return each(value)
            except UnfitError:
                pass
        raise UnfitError

    return take


def an(*classes: type, fits: Callable[[Any], bool] = lambda value: True) -> Callable[[Any], Any]:
    """Return a judge that takes objects of some classes."""

    def take(value: Any) -> Any:
        must(isinstance(value, classes) and fits(value))
        return value

    return take


def list_of(inner: Callable[[Any], Any], *sizes: int) -> Callable[[Any], Any]:
    """Return a judge that takes a list, perhaps of some lengths only, whose parts another one takes."""

    def take(value: Any) -> Any:
        must(isinstance(value, Sequence | np.ndarray | pd.Series) and not isinstance(value, str | bytes))
        must(getattr(value, "shape", None) != () and (len(value) in sizes if sizes else len(value) > 0))
        return [inner(each) for each in value]

    return take


def is_json(value: Any) -> bool:
    """Say whether each part of something can be written as JSON."""
    try:
        return not isinstance(value, str | bytes) and all(json.dumps(each, allow_nan=False) for each in value)
    except (TypeError, ValueError):
        return False


def one_of(*values: Any) -> Callable[[Any], Any]:
    return an(object, fits=lambda value: any(type(value) is type(each) and value == each for each in values))


def part(value: Any) -> Any:
    must(isinstance(value, list | tuple) and len(value) == 2)
    first, number = (judged(checks.Integer(0), each) for each in value)
    must(first < number)
    return first, number


PLACE = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
NUMBERS = itertools.count()


def fresh() -> Path:
    """Name a file that is not there yet."""
    return Path(PLACE.name, f"{next(NUMBERS)}.db")


def draws(mean, rng):
    return mean


def comes(wait):
    return wait


def waits(q, means):
    return np.ones(means.size)


def line(x, slope):
    return 1.0 + slope * x


def first(width, p):
    p[0] = 1.0


def finds(a):
    return {"found": 1.0}


def fills(sd, rng, contexts, means, rewards):
    contexts[:], means[:], rewards[:] = 0.5, 0.5, sd


def shows(power, square: fl.Number):
    square[0] = 3.0**power


def drawn(power, square=0.0):
    figure = Figure()
    figure.set_label("a picture")
    return figure


def event() -> Any:
    return data.Event(0, 7, 1, np.ones(6), data.Pool((7, 8), np.ones((2, 6))))


def game() -> fl.Bandit:
    return fl.Bandit(fl.bernoulli([0.5, 0.25]))


@cache
def compared() -> fl.Comparison:
    return fl.compare([fl.ucb1(), fl.uniform()], game(), 10, runs=20)


def people() -> Any:
    return ranks.separate_groups([[1.0, 2.0], [3.0, 0.5]], [0.0, 1.0], sd=0.5)


def laws() -> list[Any]:
    return [ranks.uniform_sum([1, 1]), ranks.uniform_sum([1, 2])]


def moved() -> live.Live:
    return live.Live(shows, alt="3 to the power {power:g} is {square:.0f}")


def played() -> live.Live:
    return live.Live(shows, alt="a picture", problem=game(), policy=fl.ucb1(), horizon=5)


def player() -> fl.Player:
    made = fl.Player(fl.uniform(2).replace(interpret=True), 3)
    made.choose()
    return made


def context_player() -> fl.Player:
    return fl.Player(linear.at_random().replace(interpret=True), 2, dimension=2, groups=2)


def closed_in_the_end(service: Service) -> Service:
    """Close its database once it is no longer used: Python 3.13 warns of one that is left open."""
    weakref.finalize(service, service._db.close)
    return service


def service() -> Service:
    made = closed_in_the_end(Service(fresh(), fl.uniform(2).replace(interpret=True), 3))
    made.choose("first")
    return made


def context_service() -> Service:
    return closed_in_the_end(Service(fresh(), linear.at_random(), 2, dimension=2))


def fits(constraint: checks.Constraint) -> Callable[[Any], Any]:
    return partial(judged, constraint)


NUMBER, TABLE, ARM, TEXT = fits(checks.Real()), fits(checks.Table()), fits(checks.Integer(0)), fits(checks.Text())
PATH, CALLED = fits(checks.FilePath()), fits(checks.Function())
SETTING = of(0.5, either(NUMBER, TABLE, an(merit.Merit)))
WAITS = of([1, 2], lambda value: several(value, None, is_wait))
SLIDERS = {"sliders": Argument(lambda: {"power": Slider("Power", [1, 2])}, nothing)}
AXES = {"ax": Argument(lambda: Figure().subplots(), an(Axes))}
FIGURE = {"figure": of(drawn, CALLED)}
RANKS = {
    "world": Argument(lambda: people().world, an(fl.World)),
    "parameter": Argument(lambda: people().parameter, fits(checks.Table(1))),
    "distributions": Argument(laws, nothing),
}
LOG = Argument(
    lambda: 4 * [replay.Logged(0, 1.0, 0.5), replay.Logged(1, 0.0, 0.5)], an(Sequence, np.ndarray, fits=is_empty)
)

MEASURED = of("regret", one_of("reward", "regret"))
IN_GAME = {"game": of("game", one_of("game"))}


def evaluated() -> evaluation.Evaluation:
    return evaluation.evaluate(LOG.made(), np.tile(np.eye(2), (4, 1)))


METHODS: dict[str, Callable[[], Any]] = {
    "Comparison.values": lambda: compared().values,
    "Comparison.ranks": lambda: compared().ranks,
    "Comparison.front": lambda: compared().front,
    "Comparison.latex": lambda: compared().latex,
    "Player.choose": lambda: context_player().choose,
    "Player.observe": lambda: player().observe,
    "Player.forget": lambda: player().forget,
    "Player.save": lambda: player().save,
    "Player.load": lambda: fl.Player.load,
    "Service.choose": lambda: service().choose,
    "Service.choose with contexts": lambda: context_service().choose,
    "Service.observe": lambda: service().observe,
    "Monitor.see": lambda: Monitor([0.25, 0.5]).see,
    "Policy.replace": lambda: fl.epsilon_greedy(0.1).replace,
    "Policy.check_horizon": lambda: shares.t_fair_ucb([0.25, 0.125], 100).check_horizon,
    "Replay.measures": lambda: replay.replay(LOG.made(), fl.uniform(), arms=2).measures,
    "Evaluation.fairness": lambda: evaluated().fairness,
    "Evaluation.deficit": lambda: evaluated().deficit,
    "Merit.__call__": lambda: merit.exponential(2),
    "Result.load": lambda: fl.Result.load,
    "Result.save": lambda: fl.simulate(game(), fl.ucb1(), 2).save,
    "SemiBandit.quantiles": lambda: (
        NAMES["SemiBandit"](
            fl.bernoulli([0.5, 0.25]), merit=merit.exponential(2), delay=delays.geometric([0.5, 0.25])
        ).quantiles
    ),
    "RewardDistribution.cdf": lambda: laws()[1].cdf,
    "RewardDistribution.density": lambda: laws()[1].density,
    "RewardDistribution.quantile": lambda: laws()[1].quantile,
}

EXCEPTIONS: dict[str, dict[str, Argument]] = {
    # A reader's own functions, with what they are set with
    "Arms": {"draw": of(draws), "mean": of([0.5, 0.25], TABLE)},
    "Delay": {"draw": of(comes), "wait": WAITS},
    "delays.Law": {"draw": of(comes), "quantiles": of(waits, CALLED), "wait": WAITS},
    "World": {"draw": of(fills), "sd": SETTING},
    "Policy": {"rule": of(first), "width": of(0.5, either(NUMBER, TABLE, an(merit.Merit, fl.Policy)))},
    "ContextPolicy": {"rule": of(first), "ridge": of(None, one_of(None)), "width": SETTING},
    "Policy.replace": {"epsilon": of(0.2, NUMBER, "the rule of 'epsilon-greedy'")},
    "Merit": {
        "value": of(line),
        "best": of(None, one_of(None)),
        "solve": of(None, one_of(None)),
        "slope": of(2.0, NUMBER),
    },
    "rule": {"function": of(first, CALLED)},
    "delays.best_quantile": {"bound": of(delays.fcucb_d_reward_bound)},
    "sweep": {
        "experiment": of(finds, CALLED),
        "settings": of([{"a": 1}], either(list_of(an(dict)), an(Sequence, np.ndarray, set, frozenset, fits=is_empty))),
        "part": of(None, either(one_of(None), part)),
        "executor": of(None, one_of(None)),
    },
    "compare": {
        "policies": Argument(lambda: [fl.ucb1(), fl.uniform()], nothing),
        "games": Argument(game, an(fl.Bandit, fl.ContextBandit)),
        "runs": of(20, fits(checks.Integer(20))),
    },
    "Comparison.values": {**IN_GAME, "measure": MEASURED},
    "Comparison.ranks": {**IN_GAME, "measure": MEASURED},
    "Comparison.front": {**IN_GAME, "first": MEASURED, "second": MEASURED},
    "Comparison.latex": {"measure": MEASURED},
    # Lists of lists and of objects
    "delays.empirical": {"delays": of([[1, 2], [3]], list_of(fits(_WholeRounds())))},
    "ranks.flat": {"distributions": Argument(laws, nothing)},
    "ranks.RankBandit": RANKS,
    "ranks.WeightedBandit": RANKS,
    "experiments.replay.replay": {
        "events": LOG,
        "policy": Argument(fl.ucb1, either(an(fl.Policy), CALLED), ("means",)),
    },
    "Replay.measures": {"merit": of(None, one_of(None)), "means": of(None, one_of(None))},
    "experiments.evaluation.evaluate": {
        "log": LOG,
        "target": of([0.25, 0.75], fits(checks.Table()), "shape"),
        "by": of(None, one_of(None)),
    },
    "experiments.replay.article_contexts": {"event": Argument(event, an(data.Event))},
    # Files and databases
    "data.read_arff": {"path": of("arff", PATH)},
    "data.read_today": {"path": of("today", PATH)},
    "data.read_criteo": {"path": of("criteo", PATH)},
    "data.read_open_bandit": {"path": of("open_bandit", PATH)},
    "data.read_log": {
        "path": of("log", PATH),
        "columns": of(None, either(one_of(None), an(dict, fits=lambda value: not value))),
    },
    "data.read_acs": {
        "path": of("acs", either(PATH, list_of(PATH))),
        "group": of("SEX", one_of("SEX")),
        "numbers": of(["AGEP"], either(list_of(TEXT), an(Sequence, fits=is_empty)), "column"),
        "one_hot": of({"SEX": [1, 2]}),
        "years": of(None, either(one_of(None), fits(checks.OneOrMany(1, integers=True))), "YEAR"),
    },
    "Player.load": {"path": of("player", PATH), "policy": Argument(lambda: fl.uniform(2), an(fl.Policy))},
    "Player.observe": {"arm": of(2, ARM)},
    "Result.load": {"path": of("result", PATH)},
    "deploy.Service": {"path": Argument(fresh, PATH)},
    "deploy.app": {"service": Argument(service, an(Service))},
    "deploy.audit": {
        "plays": of([1, 3], either(list_of(fits(checks.Integer(1, 5))), an(Iterable, fits=is_empty))),
        "share": of(0.5, fits(checks.Real(0, 1, above=0))),
    },
    "deploy.seal": {"rows": of([[1, "a"]], an(Iterable, fits=is_json)), "before": of("", one_of(""))},
    "Monitor.see": {"arms": of([0], either(list_of(fits(checks.Integer(0, 1))), an(Iterable, fits=is_empty)))},
    "Service.choose with contexts": {"contexts": of([[1, 0], [0, 1]], fits(checks.Table(2)))},
    "Service.observe": {"request": of("first", TEXT), "arm": of(2, ARM)},
    # Pictures
    "book.Slider": {
        "values": of(
            [1, 2], either(list_of(NUMBER, *range(2, 61)), list_of(fits(checks.Text(empty=False)), *range(2, 61)))
        ),
        "start": of(None, either(one_of(None, "1", "2"), fits(checks.Real(1, 1)), fits(checks.Real(2, 2)))),
    },
    "book.explore": {**FIGURE, "power": Argument(lambda: Slider("Power", [1, 2]), an(Slider))},
    "book.Explorer": {**FIGURE, **SLIDERS},
    "book.Live": {
        **{"shows": of(shows, CALLED), "problem": of(None, one_of(None)), "policy": of(None, one_of(None))},
        "means": of(None, either(one_of(None), TEXT)),
    },
    "book.Plays": {"live": Argument(played, an(live.Live)), **SLIDERS},
    "book.LiveFigure": {**FIGURE, **SLIDERS, "live": Argument(moved, an(live.Live))},
    "book.moving": {
        "artist": Argument(lambda: Figure().text(0, 0, "here"), nothing),
        "text": of("there", either(one_of(None), TEXT)),
        "run": of(0, ARM),
    },
    "book.Table": {
        "rows": of(
            [{"name": "a", "count": 2}],
            an(list, tuple, fits=lambda rows: rows and all(isinstance(each, dict) for each in rows)),
        )
    },
    "book.format_text": {"values": of({"a": 1.0}, an(dict), "'a'")},
    "book.curve": AXES,
    "book.label_ends": AXES,
    "book.show": {"function": of(first, an(type, types.FunctionType, fits=lambda value: value in (refuses, Silent)))},
    "web.scripts.function_of": {"function": of(first, an(types.FunctionType, fits=lambda value: value is refuses))},
}

SIX = "2:0.1 3:0.2 4:0.3 5:0.15 6:0.25 1:1.000000"
SALES = [("1", "3024", "A"), ("0", "-1", "B"), ("1", "30240", "B"), ("1", "30240", "B")]
FILES = {
    "arff": "@relation two\n@attribute x numeric\n@attribute y {0,1}\n@data\n0.5,1\n0.25,0\n",
    "acs": "AGEP,SEX,PINCP,PWGTP,YEAR\n40,2,30000,17,1\n15,1,,8,1\n71,1,12000,9,1\n",
    "today": f"1241160000 100001 0 |user {SIX} |100001 {SIX} |100002 {SIX}\n",
    "criteo": "".join(
        "\t".join([sale, "9.9", late, "1", "100", *15 * ["-1"], title, "-1", "-1"]) + "\n"
        for sale, late, title in SALES
    ),
    "open_bandit": ",timestamp,item_id,position,click,propensity_score\n"
    + "".join(f"{i},2019-11-24 00:0{i}:13.442536+00:00,{i},{1 + i % 3},{i % 2},0.03125\n" for i in range(4)),
    "log": "".join(f'{{"arm": {i}, "reward": {i}.5, "propensity": 0.25, "page": "a"}}\n' for i in range(3)),
}
"""What the loaders find where the calls are made."""


def put_files() -> None:
    """Write them into the folder where one is."""
    for name, content in FILES.items():
        Path(name).write_text(content, encoding="utf-8")
    player().save("player")
    fl.simulate(game(), fl.ucb1(), 5).save("result")


# What there is to be called -------------------------------------------------------------------------------------------


class Call(NamedTuple):
    """Something to call, with what is known of its arguments."""

    name: str
    made: Callable[[], Callable[..., Any]]
    arguments: dict[str, Argument]


def is_called(thing: Any) -> bool:
    """Say whether a reader calls it: no number, record or error, and no part of a rule, which the engine calls."""
    if isinstance(thing, Rule | types.ModuleType) or not callable(thing) or not hasattr(thing, "__module__"):
        return False
    if inspect.isclass(thing):
        checked = hasattr(thing, "__post_init__") or ("__init__" in vars(thing) and not is_dataclass(thing))
        return not issubclass(thing, tuple | Exception) and checked and not issubclass(thing, fl.Result)
    if not (inspect.isfunction(thing) or hasattr(thing, "cache_clear")) or thing in HELPERS:
        return False
    parameters = inspect.signature(thing).parameters.values()
    if any(each.annotation in (fl.Number, fl.PerArm, fl.PerGroup) for each in parameters):  # the metrics of a game
        return False
    return not parameters or any(each.annotation is not each.empty for each in parameters)


# Called by the package alone, with what it has made itself: how a rule is bound, and scripts.
INSIDE = {"web.scripts.live", "web.scripts.flat", "core.earned", "core.helper"}
INSIDE |= {"arena.Suite", "arena.Entrant"}
INSIDE |= {"core.format_setting", "book.sliders.slider_text", "book.sliders.setting_text", "book.sliders.check_sliders"}
INSIDE |= {f"core.{name}" for name in ("BoundRule", "Rule", "arm_metrics", "context_metrics", "describe_game")}


def names_of(module: Any) -> list[str]:
    """Return the public names of a module, which are all that it defines if it lists none."""
    own = [name for name, each in vars(module).items() if getattr(each, "__module__", "") == module.__name__]
    return getattr(module, "__all__", [name for name in own if name[0] != "_"])


def public() -> dict[str, Any]:
    """Return all functions and classes that a reader calls, by name."""
    package = Path(fl.__file__).parent
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for file in sorted(package.rglob("*.py")):
        name = ".".join(file.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__")
        listed = "\n__all__ = " in file.read_text(encoding="utf-8") and name != "fairlib.checks"
        if listed or name in ("fairlib.web.scripts", "fairlib.book.playground"):
            module = import_module(name)
            things = {each: getattr(module, each) for each in names_of(module)}
            for each, thing in things.items():
                if is_called(thing) and id(thing) not in seen:
                    seen.add(id(thing))
                    found[f"{name.removeprefix('fairlib')}.{each}".strip(".")] = thing
    return {name: thing for name, thing in found.items() if name not in INSIDE}


@cache
def calls() -> list[Call]:
    """Return all that there is to be called and takes an argument."""
    named: dict[str, Any] = public()
    made = [Call(name, partial(_same, each), arguments(each, more(name))) for name, each in named.items()]
    made += [Call(name, make, arguments(make(), more(name))) for name, make in METHODS.items()]
    return [each for each in made if each.arguments]


def more(name: str) -> dict[str, Argument]:
    return EXCEPTIONS.get(name, {})


def _same(thing: Any) -> Any:
    return thing
