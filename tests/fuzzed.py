"""What the fuzz needs to know: odd values, what each argument may be, and a valid call of every public function.

`VALUES` are put in place of each argument in turn. `KNOWN` says by an argument's name what it may be and gives a valid
one; `CALLS` names every function and class that a reader can call, with what is different there. What an argument may
be is said here once more, apart from the package's own checks, so that the two can disagree.
"""

import array
import datetime
import inspect
import itertools
import math
import numbers
import tempfile
import types
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import fairlib as fl
from fairlib import after as af
from fairlib import contexts as co
from fairlib import data as da
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import linear as li
from fairlib import live as lv
from fairlib import page as pg
from fairlib import ranks as rk
from fairlib import replay as rp
from fairlib import shares as sh
from fairlib.book import Explorer, Slider
from fairlib.core import Rule
from fairlib.deploy import Service, app
from fairlib.merit import Merit, exponential, power
from fairlib.rules.jit import HELPERS

# Odd values ----------------------------------------------------------------------------------------------------------


class Silent:
    """What can't even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("not shown")


def frozen(values: Any) -> Any:
    made = np.array(values)
    made.flags.writeable = False
    return made


class CalledError(Exception):
    """A reader's own function refuses."""


def refuses(*given: Any) -> Any:
    raise CalledError


VALUES: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "np.True_": lambda: np.True_,
    "...": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    # Text
    "''": lambda: "",
    "' '": lambda: " ",
    "'0.5'": lambda: "0.5",
    "'3'": lambda: "3",
    "'nan'": lambda: "nan",
    "'two lines'": lambda: "two\nlines",
    "long text": lambda: "x" * 5000,
    "NUL": lambda: "\0",
    "surrogate": lambda: "\udc80",
    "np.str_": lambda: np.str_("0.5"),
    "bytes": lambda: b"1",
    "bytearray": lambda: bytearray(b"1"),
    "memoryview": lambda: memoryview(b"1"),
    # Numbers of Python
    "0": lambda: 0,
    "1": lambda: 1,
    "2": lambda: 2,
    "3": lambda: 3,
    "-1": lambda: -1,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "-2**63 - 1": lambda: -(2**63) - 1,
    "10**400": lambda: 10**400,
    "10**5000": lambda: 10**5000,
    "0.0": lambda: 0.0,
    "-0.0": lambda: -0.0,
    "0.5": lambda: 0.5,
    "1.0": lambda: 1.0,
    "2.0": lambda: 2.0,
    "-0.5": lambda: -0.5,
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1j": lambda: 1j,
    "Decimal": lambda: Decimal("0.5"),
    "Fraction": lambda: Fraction(1, 2),
    "Fraction(3)": lambda: Fraction(3),
    # Numbers of NumPy
    "int8": lambda: np.int8(2),
    "int16": lambda: np.int16(3),
    "uint8": lambda: np.uint8(200),
    "uint64": lambda: np.uint64(3),
    "uint64 2**63": lambda: np.uint64(2**63),
    "float16": lambda: np.float16(0.5),
    "float32": lambda: np.float32(0.1),
    "float64 nan": lambda: np.float64(np.nan),
    "longdouble": lambda: np.longdouble("0.1"),
    "complex128": lambda: np.complex128(1),
    "0-d whole": lambda: np.array(3),
    "0-d real": lambda: np.array(0.5),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "timedelta64": lambda: np.timedelta64(3, "D"),
    "masked": lambda: np.ma.masked,
    "void": lambda: np.zeros(1, [("a", float)])[0],
    "date": lambda: datetime.date(2020, 1, 1),
    # Lists and the like
    "[]": lambda: [],
    "()": lambda: (),
    "[[]]": lambda: [[]],
    "[0.5]": lambda: [0.5],
    "[0.2, 0.3]": lambda: [0.2, 0.3],
    "(0.2, 0.3, 0.4)": lambda: (0.2, 0.3, 0.4),
    "[1, 2]": lambda: [1, 2],
    "[3, 2, 1]": lambda: [3, 2, 1],
    "fractions": lambda: [Fraction(1, 4), Fraction(1, 5)],
    "['0.2', '0.3']": lambda: ["0.2", "0.3"],
    "[True, False]": lambda: [True, False],
    "[True, 0.3]": lambda: [True, 0.3],
    "[None, 0.3]": lambda: [None, 0.3],
    "[nan, 0.3]": lambda: [math.nan, 0.3],
    "[inf, 0.3]": lambda: [math.inf, 0.3],
    "[1e308, 1e308]": lambda: [1e308, 1e308],
    "[-1, 0.5]": lambda: [-1, 0.5],
    "[10**400, 1]": lambda: [10**400, 1],
    "[2**63, 1]": lambda: [2**63, 1],
    "ragged": lambda: [[1, 2], [3]],
    "two axes": lambda: [[0.2, 0.3], [0.3, 0.2]],
    "three axes": lambda: np.full((2, 2, 2), 0.2),
    "range": lambda: range(1, 3),
    "empty range": lambda: range(0),
    "generator": lambda: (each for each in [0.2, 0.3]),
    "map": lambda: map(float, [0.2, 0.3]),
    "set": lambda: {0.2, 0.3},
    "frozenset": lambda: frozenset([1, 2]),
    "{}": lambda: {},
    "dict": lambda: {"a": 1},
    "dict of numbers": lambda: {0: 0.2, 1: 0.3},
    "deque": lambda: deque([0.2, 0.3]),
    "array.array": lambda: array.array("d", [0.2, 0.3]),
    "Series": lambda: pd.Series([0.2, 0.3]),
    "DataFrame": lambda: pd.DataFrame({"a": [0.2, 0.3]}),
    # Arrays
    "empty array": lambda: np.zeros(0),
    "no columns": lambda: np.zeros((3, 0)),
    "float array": lambda: np.array([0.2, 0.3]),
    "float16 array": lambda: np.array([0.25, 0.375], np.float16),
    "float32 array": lambda: np.array([0.2, 0.3], np.float32),
    "longdouble array": lambda: np.array([0.2, 0.3], np.longdouble),
    "int8 array": lambda: np.array([1, 100], np.int8),
    "uint8 array": lambda: np.array([200, 100], np.uint8),
    "uint64 array": lambda: np.array([5, 3], np.uint64),
    "byte-swapped": lambda: np.array([0.2, 0.3], ">f8"),
    "read-only": lambda: frozen([0.2, 0.3]),
    "backwards": lambda: np.array([0.3, 0.2])[::-1],
    "every other": lambda: np.array([0.2, 0.9, 0.3, 0.9])[::2],
    "bool array": lambda: np.array([True, False]),
    "string array": lambda: np.array(["0.2", "0.3"]),
    "complex array": lambda: np.array([0.2, 0.3 + 0j]),
    "date array": lambda: np.array(["2020-01-01"], "datetime64[D]"),
    "nan array": lambda: np.array([np.nan, 0.3]),
    "object array": lambda: np.array([0.2, Fraction(3, 10)], object),
    "object array of None": lambda: np.array([None, 0.3], object),
    "structured array": lambda: np.zeros(2, [("a", float)]),
    "masked array": lambda: np.ma.array([0.2, 0.3], mask=[True, False]),
    "unmasked array": lambda: np.ma.array([0.2, 0.3]),
    # Things
    "lambda": lambda: lambda x: x,
    "lambda of nothing": lambda: lambda: None,
    "refuses": lambda: refuses,
    "print": lambda: print,
    "int": lambda: int,
    "object()": object,
    "a type": lambda: Silent,
    "Silent": Silent,
    "module": lambda: math,
    "Path": lambda: Path("nowhere"),
    "Path()": Path,
    "PurePath": lambda: PurePosixPath("nowhere"),
    "Generator": lambda: np.random.default_rng(1),
    "SeedSequence": lambda: np.random.SeedSequence(1),
    "ValueError": lambda: ValueError("x"),
    # Things of the package, mostly of the wrong kind
    "Merit": lambda: power(2, 4),
    "Policy": fl.ucb1,
    "Policy of two plays": lambda: fl.uniform(2),
    "ContextPolicy": li.at_random,
    "Arms": lambda: fl.bernoulli([0.5, 0.25]),
    "Delay": lambda: de.fixed([1, 2]),
    "Bandit": lambda: fl.Bandit(fl.bernoulli([0.5, 0.25])),
    "ContextBandit": lambda: fl.ContextBandit(co.sphere(2, [0.6, 0.8])),
    "Slider": lambda: Slider("Number", [1, 2]),
    "Estimate": lambda: fl.Estimate(0.5, 0.1),
}


# What an argument may be ---------------------------------------------------------------------------------------------


class UnfitError(Exception):
    """The argument may not be this."""


Kind = Callable[[Any], Any]
"""Takes a value and returns what it plainly means, or raises `UnfitError`."""


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


def whole(low: int = 1, high: int | None = 2**53) -> Kind:
    def take(value: Any) -> Any:
        must(is_number(value, numbers.Integral) and int(value) >= low and (high is None or int(value) <= high))
        return int(value)

    return take


def real(low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf, below: float = math.inf) -> Kind:
    def take(value: Any) -> Any:
        must(is_number(value))
        number = as_float(value)
        must(
            math.isfinite(number)
            and (abs(number) <= 1e150 or high < math.inf)
            and low <= number <= high
            and above < number < below
        )
        return number

    return take


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


def several(
    axes: int | None = 1,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    size: Any = None,
    never: bool = False,
    kind: Any = numbers.Real,
    most: float = math.inf,
    step: float = 0.0,
    fair: bool = False,
) -> Kind:
    """Take an array of so many axes, with each number in a range, and of a size.

    With `never` infinity is among them, `most` is the largest sum, and those that are `fair` are below one over how
    many they are.
    """

    def take(value: Any) -> Any:
        plain = listed(value, kind)
        flat, shape = np.ravel(plain), np.shape(plain)
        must(axes is None or (len(shape) == axes and flat.size > 0))
        must(size is None or shape == size or shape == (size,))
        must(((flat >= low) & (flat <= high) & (flat > above) & (flat < below)).all())
        must((np.abs(flat) <= 1e150).all() or (never and not np.isnan(flat).any()))
        must(most == math.inf or flat.sum() <= most)
        must(not fair or (flat < 1 / flat.size).all())
        must(step == 0 or (np.isinf(flat) | (flat % (step or 1) == 0)).all())
        return plain

    return take


def many(low: float = 1, *, kind: Any = numbers.Integral) -> Kind:
    """Take one number or many."""
    inner = several(None, low, kind=kind)

    def take(value: Any) -> Any:
        plain = np.array(inner(value), object)
        if kind is numbers.Integral:
            plain = np.array([int(each) for each in plain.flat], object).reshape(plain.shape)
        return plain.tolist()

    return take


def list_of(kind: Kind, *sizes: int) -> Kind:
    """Take a list, perhaps of some lengths only, whose parts are of one kind."""

    def take(value: Any) -> Any:
        must(
            isinstance(value, Sequence | np.ndarray | pd.Series)
            and not isinstance(value, str | bytes)
            and getattr(value, "shape", None) != ()
        )
        must(len(value) in sizes if sizes else len(value) > 0)
        return [kind(each) for each in value]

    return take


def a(*classes: type, fits: Callable[[Any], bool] = lambda value: True) -> Kind:
    def take(value: Any) -> Any:
        must(isinstance(value, classes) and fits(value))
        return value

    return take


def either(*kinds: Kind) -> Kind:
    def take(value: Any) -> Any:
        for each in kinds:
            try:
                return each(value)
            except UnfitError:
                pass
        raise UnfitError

    return take


def one_of(*values: Any) -> Kind:
    def take(value: Any) -> Any:
        must(any(type(value) is type(each) and value == each for each in values))
        return value

    return take


def text(empty: bool = True) -> Kind:
    return a(str, fits=lambda value: empty or bool(value.strip()))


def is_empty(value: Any) -> bool:
    return (
        np.size(value) == 0 and np.ndim(value) > 0
        if isinstance(value, np.ndarray)
        else value in ([], (), set(), range(0))
    )


def flag(value: Any) -> Any:
    must(isinstance(value, bool | np.bool_))
    return bool(value)


def called(value: Any) -> Any:
    """Take anything that can be called; a reader's own is not looked into."""
    must(callable(value))
    return value


def nothing(value: Any) -> Any:
    raise UnfitError


def path(value: Any) -> Any:
    must(
        isinstance(value, str | Path | PurePosixPath)
        and Path(value).name
        and "\0" not in str(value)
        and len(str(value)) < 256
    )
    return value


def pair(value: Any) -> Any:
    must(isinstance(value, list | tuple | np.ndarray))
    plain = listed(value)
    must(np.shape(plain) == (2,))
    return plain


def part(value: Any) -> Any:
    must(isinstance(value, list | tuple) and len(value) == 2)
    first, number = (whole(0)(each) for each in value)
    must(first < number)
    return first, number


# Valid calls ---------------------------------------------------------------------------------------------------------


class Known(NamedTuple):
    """An argument: a valid value, made anew for each call, what it may be besides, and what else messages call it."""

    made: Callable[[], Any]
    kind: Kind
    also: tuple[str, ...] = ()


def of(value: Any, kind: Kind, *also: str) -> Known:
    return Known(lambda: value, kind, also)


SEED = of(1, whole(0, None))
ANY_SEED = of(1, either(whole(0, None), a(np.random.SeedSequence)))
MERIT = Known(lambda: exponential(2), a(Merit))
POLICY = Known(fl.ucb1, a(fl.Policy, fits=lambda value: value.plays == 1))
SHARES = of([0.25, 0.125], several(1, 0, fair=True))
CHANCE = real(1e-75, below=1)
ARMS = Known(lambda: fl.bernoulli([0.5, 0.25]), a(fl.Arms))
PLAYS = of(1, whole(1, 2))
DELAY = of(None, a(fl.Delay))
HORIZONS = of(100, many())
SD = real(1e-75, 1e75)
ANY_GAME = Known(lambda: fl.Bandit(fl.bernoulli([0.5, 0.25])), a(fl.Bandit, fl.ContextBandit))
BANDIT = Known(lambda: fl.Bandit(fl.bernoulli([0.5, 0.25])), a(fl.Bandit))


def shared() -> Any:
    return sh.SharedBandit(fl.bernoulli([0.5, 0.25]), shares=[0.25, 0.125])


def exposed() -> Any:
    return ex.ExposureBandit(fl.bernoulli([0.5, 0.25]), merit=exponential(2))


def seen() -> Any:
    return ex.ContextExposureBandit(co.sphere(2, [0.6, 0.8]), merit=exponential(2, -1, 1))


def late() -> Any:
    return de.SemiBandit(fl.bernoulli([0.5, 0.25]), delay=de.geometric([0.5, 0.25]), merit=exponential(2))


def people() -> Any:
    return rk.separate_groups([[1.0, 2.0], [3.0, 0.5]], [0.0, 1.0], sd=0.5)


PLACE = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
NUMBERS = itertools.count()


def fresh() -> Path:
    """Name a file that is not there yet."""
    return Path(PLACE.name, f"{next(NUMBERS)}.db")


def event() -> Any:
    return da.Event(0, 7, 1, np.ones(6), da.Pool((7, 8), np.ones((2, 6))))


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


def ridged(width, ridge, p):
    p[0] = 1.0


def fills(sd, rng, contexts, means, rewards):
    contexts[:], means[:], rewards[:] = 0.5, 0.5, sd


def shows(power, square: fl.Number):
    square[0] = 3.0**power


def drawn(power, square=0.0):
    figure = Figure()
    figure.set_label("a picture")
    return figure


def moved() -> lv.Live:
    return lv.Live(shows, alt="3 to the power {power:g} is {square:.0f}")


def played() -> lv.Live:
    return lv.Live(shows, alt="a picture", problem=BANDIT.made(), policy=fl.ucb1(), horizon=5)


KNOWN: dict[str, Known] = {
    "arms": of(2, whole()),
    "plays": PLAYS,
    "dimension": of(2, whole()),
    "groups": of(2, whole()),
    "horizon": of(100, whole()),
    "seed": SEED,
    "delay": DELAY,
    "means": of([0.5, 0.25], several(1, 0, 1)),
    "sd": of(0.5, real(0)),
    "failure": of(0.1, CHANCE),
    "epsilon": of(0.1, real(0, 1)),
    "merit": MERIT,
    "policy": POLICY,
    "learner": POLICY,
    "shares": SHARES,
    "tolerance": of(0.5, real(0)),
    "radius": of(0.5, real(0)),
    "ridge": of(1.0, SD),
    "noise": of(0.001, real(above=0, high=1)),
    "norm": of(1.0, real(0)),
    "prior_sd": of(1.0, SD),
    "reward_sd": of(1.0, SD),
    "width": of(0.5, real(0)),
    "floor": of(0.25, real(0, 1)),
    "q": of(0.5, real(above=0, high=1)),
    "alpha": of(0.5, CHANCE),
    "name": of("own", text()),
    "interpret": of(False, flag),
    "progress": of(False, flag),
    "path": of("file", path),
    "together": of(0.0, real(0, 1)),
    "world": Known(lambda: co.sphere(2, [0.6, 0.8]), a(fl.World)),
    "rewards": of((0.0, 1.0), pair),
    "game": BANDIT,
    "problem": BANDIT,
    "scale": of(1.0, SD),
}

PRIOR = {"a": of(1.0, real(0.02)), "b": of(1.0, real(0.02))}
OF_ARMS = {"arms": ARMS}
LEARNER = {"learner": Known(fl.ucb1, a(fl.Policy))}
MEANS = of([0.5, 0.25], several())
ON_UNIT = Known(lambda: exponential(2), a(Merit))
SHARED = {"game": Known(shared, a(sh.SharedBandit))}
EXPOSED = {"game": Known(exposed, a(ex.ExposureBandit))}
SEEN = {"game": Known(seen, a(ex.ContextExposureBandit))}
LATE = {"game": Known(late, a(de.SemiBandit))}
RANKED = {"game": Known(people, a(rk.RankBandit))}
CONSTANTS = {"game": Known(lambda: rk.constants(people()), a(rk.Constants))}
PEOPLE = {
    "weights": of([[1.0, 2.0], [3.0, 0.5]], several(2)),
    "biases": of([0.0, 1.0], several(1, size=2)),
}
LAWS = Known(lambda: [rk.uniform_sum([1, 1]), rk.uniform_sum([1, 2])], nothing)
LAW = Known(lambda: rk.uniform_sum([1, 2]), a(rk.RewardDistribution))
DELAYS = several(1, 0, never=True, step=1.0)
WAITS = several(None, 0, never=True, step=1.0)
SPLIT = of([0.5, 0.5], several(1, above=0, size=2))
METHOD = of("search", one_of("search", "gradient"))
SLIDERS = Known(lambda: {"power": Slider("Power", [1, 2])}, nothing)
LOG = Known(lambda: 4 * [rp.Logged(0, 1.0, 0.5), rp.Logged(1, 0.0, 0.5)], a(Sequence, np.ndarray, fits=is_empty))

NO_CONTEXTS = {"dimension": of(None, nothing), "groups": of(1, whole(1, 1))}

CALLS: dict[Any, dict[str, Known]] = {
    # fairlib
    fl.Arms: {"means": MEANS, "draw": of(draws, nothing), "mean": of([0.5, 0.25], several(None))},
    fl.Bandit: OF_ARMS,
    fl.ContextBandit: {},
    fl.ContextPolicy: {
        "rule": of(ridged, nothing),
        "dimension": of(None, whole()),
        "width": of(0.5, either(real(), several(None), a(Merit))),
    },
    fl.Delay: {"draw": of(comes, nothing), "wait": of([1, 2], WAITS, "the delay 'own'")},
    Merit: {
        "value": of(line, nothing, "the merit 'own'"),
        "best": of(None, nothing, "the merit 'own'"),
        "low": of(0.0, real(), "the merit 'own'"),
        "high": of(1.0, real(), "the merit 'own'"),
        "minimum": of(1.0, real(above=0)),
        "lipschitz": of(3.0, either(real(0, 1.7e308), one_of(math.inf))),
        "log_lipschitz": of(3.0, either(real(0, 1.7e308), one_of(math.inf))),
        "solve": of(None, nothing, "the merit 'own'"),
        "slope": of(2.0, real(), "the merit 'own'"),
    },
    fl.Player: {**NO_CONTEXTS, "policy": Known(fl.ucb1, a(fl.Policy)), "seed": ANY_SEED},
    fl.Policy: {
        "rule": of(first, nothing),
        "plays": of(1, whole()),
        "width": of(0.5, either(real(), several(None), a(Merit, fl.Policy))),
    },
    fl.World: {"draw": of(fills, nothing), "sd": of(0.5, either(real(), several(None), a(Merit)))},
    fl.paired_t: {"first": of(list(range(20)), several()), "second": of(0.0, either(real(), several(0), several()))},
    fl.bernoulli: {},
    fl.beta: {"a": of([1, 2], several(1, 0.02)), "b": of([3, 4], several(1, 0.02))},
    fl.check_policy: {"policy": Known(fl.ucb1, a(fl.Policy, fl.ContextPolicy))},
    fl.epsilon_greedy: {},
    fl.estimate: {"values": of([1, 2], several())},
    fl.gaussian: {"means": MEANS},
    fl.rule: {"function": of(first, called)},
    fl.simulate: {
        "problem": ANY_GAME,
        "rounds": of([1, 50], several(kind=numbers.Integral)),
        "runs": of(1, whole()),
        "seed": ANY_SEED,
    },
    fl.sweep: {
        "experiment": of(finds, called),
        "settings": of([{"a": 1}], either(list_of(a(dict)), a(Sequence, np.ndarray, set, frozenset, fits=is_empty))),
        "store": of(None, path),
        "part": of(None, part),
        "errors": of("raise", one_of("raise", "keep")),
        "executor": of(None, nothing),
    },
    fl.thompson_beta: PRIOR,
    fl.thompson_gaussian: {"mean": of(0.0, real()), "sd": of(1.0, SD)},
    fl.trace: {"problem": ANY_GAME, "seed": ANY_SEED},
    fl.ucb1: {},
    fl.ucb1_bound: {},
    fl.ucb1_worst_case_bound: {},
    fl.uniform: {"plays": of(1, whole())},
    # fairlib.after
    af.chaining: {},
    af.batched_thompson: {"every": of(5, whole()), "draws": of(5, whole())},
    af.clipped_floor: {},
    af.mixed_floor: {},
    af.scaled_floor: {},
    af.projected_floor: {},
    af.fair_learn_plays: {
        "learner": Known(lambda: fl.uniform(1), a(fl.Policy)),
        "shares": of([0.5, 0.25], several(1, 0)),
    },
    af.fair_groups: {"groups": of([0, 1, 1], several(1, 0, kind=numbers.Integral))},
    af.ncb: {"c": of(3.0, real(above=0))},
    af.guard_rounds: {"arms": of(3, whole()), "share": of(0.1, CHANCE), "floor": of(0.25, real(above=0.1))},
    af.calibrated_shares: {},
    # fairlib.data
    da.yeast: {},
    da.mediamill: {},
    da.read_arff: {"path": of("arff", path), "labels": of(1, whole())},
    da.fourier_features: {"x": of([[0.5, 1.0]], several(2))},
    da.arm_contexts: {"features": of([[0.5, 1.0]], several(2))},
    da.twoyear: {},
    da.read_acs: {
        "path": of("acs", either(path, list_of(path))),
        "group": of("SEX", one_of("SEX")),
        "numbers": of(["AGEP"], either(list_of(text()), a(Sequence, fits=is_empty)), "column"),
        "one_hot": of({"SEX": [1, 2]}, nothing),
        "years": of(None, several(1, 1, kind=numbers.Integral), "YEAR"),
    },
    da.standardised: {"features": of([[0.5, 1.0], [2.0, 3.0]], several(2)), "by": of(None, several(2))},
    da.read_today: {"path": of("today", path), "skipped": of(None, a(list))},
    da.criteo_arms: {},
    da.read_criteo: {"path": of("criteo", path), "arms": of(2, whole(2))},
    da.frequencies_like_mediamill: {},
    da.labels_like_mediamill: {"examples": of(3, whole())},
    da.visits_like_today: {"visits": of(3, whole()), "pool": of(2, whole())},
    # fairlib.delays
    de.Law: {"draw": of(comes, nothing), "quantiles": of(waits, called), "wait": of([1, 2], WAITS, "the delay 'own'")},
    de.fixed: {"rounds": of([1, 2], DELAYS)},
    de.geometric: {"probability": of([0.5, 0.25], several(1, above=0, high=1))},
    de.pareto: {"index": of([0.5, 2], several(1, above=0))},
    de.packet_loss: {"arrives": of([0.5, 0.25], several(1, 0, 1)), "when_zero": of(None, several(1, 0, 1, size=2))},
    de.biased: {"when_one": of([1, 2], DELAYS), "when_zero": of([3, 4], DELAYS)},
    de.log_normal: {"median": of([1, 2], several(1, above=0)), "spread": of([1, 2], several(1, above=0))},
    de.empirical: {"delays": of([[1, 2], [3]], list_of(DELAYS))},
    de.SemiBandit: OF_ARMS,
    de.fcucb_d: {"radius": of((0.1, 0.2), pair)},
    de.fcts_d: {},
    de.op_fcucb_d: {"radius": of((0.1, 0.2), pair)},
    de.op_fcts_d: {},
    de.two_box: {},
    de.recent_half: {},
    de.cucb_d: {"plays": of(1, whole()), "radius": of((0.1, 0.2), pair)},
    de.mp_ts_d: {"plays": of(1, whole())},
    de.fgreedy_d: {},
    de.late_start: {**LEARNER, "rounds": of(3, whole())},
    de.fcucb_d_reward_bound: LATE,
    de.fcucb_d_fairness_bound: LATE,
    de.fcts_d_reward_bound: LATE,
    de.fcts_d_fairness_bound: LATE,
    de.op_fcucb_d_reward_bound: LATE,
    de.op_fcucb_d_fairness_bound: LATE,
    de.op_fcts_d_reward_bound: LATE,
    de.op_fcts_d_fairness_bound: LATE,
    de.best_quantile: {**LATE, "bound": of(de.fcucb_d_reward_bound, nothing), "horizon": HORIZONS},
    # fairlib.exposure
    ex.ExposureBandit: OF_ARMS,
    ex.games_of_low_merit: {"horizon": of(100, whole(4))},
    ex.games_of_steep_merit: {"ratio": of(3.0, real(above=0))},
    ex.fairness_lower_bound: {"ratio": of(3.0, real(above=0))},
    ex.fairx_ucb: {},
    ex.fairx_ucb_gradient: {"merit": Known(lambda: exponential(2), nothing)},
    ex.fairx_ts: PRIOR,
    ex.fairx_ts_gaussian: {},
    ex.fairx_eg: {},
    ex.fairx_ucb_width: {"horizon": HORIZONS},
    ex.fairx_ucb_fairness_bound: EXPOSED,
    ex.fairx_ucb_reward_bound: {},
    ex.fairx_ucb_log_bound: EXPOSED,
    ex.fairx_ts_fairness_bound: EXPOSED,
    ex.fairx_ts_reward_bound: {},
    ex.ContextExposureBandit: {"merit": Known(lambda: exponential(2, -1, 1), a(Merit))},
    ex.fairx_linucb: {},
    ex.fairx_lints: {},
    ex.fairx_lineg: {},
    ex.most_favourable: {
        "contexts": of([[0.5, 1.0]], several(2)),
        "ridge": Known(lambda: co.Ridge(np.zeros(2), np.eye(2)), nothing),
        "method": METHOD,
    },
    ex.fairx_linucb_search: {"method": METHOD},
    ex.linucb_radius: {"horizon": HORIZONS},
    ex.total_width: {"horizon": HORIZONS},
    ex.fairx_linucb_fairness_bound: SEEN,
    ex.fairx_linucb_reward_bound: {},
    ex.fairx_lints_fairness_bound: SEEN,
    ex.fairx_lints_reward_bound: {},
    # fairlib.merit
    exponential: {"steepness": of(2.0, real(above=0)), "low": of(0.0, real()), "high": of(1.0, real())},
    power: {"scale": of(2.0, real(above=0)), "exponent": of(4.0, real(1, 1e6))},
    fl.merit.clipped: {"floor": of(0.25, real(above=0)), "high": of(1.0, real())},
    fl.merit.fair_policy: {},
    fl.merit.as_merit: {},
    fl.merit.optimistic_means: {
        "low": of([0.1, 0.2], several(1, 0, 1, size=2)),
        "high": of([0.3, 0.4], several(1, 0, 1, size=2)),
    },
    # fairlib.page
    pg.Attack: {},
    pg.Guess: {
        "question": of("How many?", text(empty=False)),
        "answer": of("Nine.", text(empty=False)),
        "low": of(0, real()),
        "high": of(9, real()),
        "step": of(1, real(above=0)),
        "unit": of("", text()),
    },
    pg.script: {"problem": ANY_GAME},
    pg.numbers: {"problem": ANY_GAME},
    pg.runtime: {},
    pg.explorers: {},
    pg.draws: {},
    pg.pcg64: {},
    pg.function_of: {"function": of(first, a(types.FunctionType, fits=lambda value: value is refuses))},
    pg.Playground: OF_ARMS,
    pg.contestants: {"shares": SHARES},
    pg.candidates: {"means": MEANS},
    pg.contents: {},
    pg.own_contents: {},
    # fairlib.ranks
    rk.RewardDistribution: {
        "breaks": of([0.0, 1.0], several()),
        "coefficients": of([[0.0, 1.0], [1.0, 0.0]], several(2)),
    },
    rk.uniform_sum: {"weights": of([1, 2], several()), "shift": of(0.0, real())},
    rk.empirical: {"rewards": of([1, 2, 3], several())},
    rk.flat: {"distributions": LAWS},
    rk.RankBandit: {
        "world": Known(lambda: people().world, a(fl.World)),
        "parameter": Known(lambda: people().parameter, several()),
        "distributions": Known(lambda: people().distributions, nothing),
    },
    rk.WeightedBandit: {
        "world": Known(lambda: people().world, a(fl.World)),
        "parameter": Known(lambda: people().parameter, several()),
        "distributions": Known(lambda: people().distributions, nothing),
        "shares": of(None, SPLIT.kind),
        **PEOPLE,
    },
    rk.separate_groups: PEOPLE,
    rk.section_6: {"step": of(3.0, real()), "first": of(3.0, real())},
    rk.mixed_groups: {**PEOPLE, "shares": SPLIT, "arms": of(3, whole(2))},
    rk.employer: {
        "contexts": of([[1.0, 0.5], [1.0, 0.25], [1.0, 0.75]], several(2)),
        "groups": of([0, 1, 1], several(1, 0, kind=numbers.Integral, size=3)),
        "rewards": of([0.5, 0.25, 1.0], several(size=3)),
        "arms": of(None, whole(2)),
        "sd": of(None, real(0)),
        "parameter": of(None, several(size=2)),
    },
    rk.fair_greedy: {"ties": of("any", one_of("any", "first"))},
    rk.fair_greedy_v2: {"unseen": of("random", one_of("random", "half"))},
    rk.fair_greedy_rarely: {"growth": of(1.2, real(above=1, high=1e6))},
    rk.gmf: RANKED,
    rk.reward_optimal: RANKED,
    rk.oful_as_published: {"exploration": of(1.0, real(0))},
    rk.oracle_cdf: RANKED,
    rk.oracle_rewards: RANKED,
    rk.acceptance_given_past: {
        **RANKED,
        "policy": Known(li.at_random, a(fl.ContextPolicy)),
        "t": of(2, whole()),
        "pasts": of(2, whole()),
        "draws": of(2, whole()),
        "seed": ANY_SEED,
    },
    rk.clash: {"first": LAW, "second": LAW, "epsilon": of(0.1, real(0))},
    rk.price_probability: {
        "epsilon": of(0.1, real(0)),
        "p": of(0.5, real(0, 1)),
        "reach": of(1.0, SD),
        "horizon": HORIZONS,
    },
    rk.Constants: {
        "arms": of(2, whole(2)),
        "length": of(1.0, real(above=0)),
        "norm": of(1.0, real(0)),
        "sd": of(0.5, real(0)),
        "density": of(1.0, real(above=0)),
        "eigenvalue": of(0.5, real(above=0)),
        "least": of(1.0, real(above=0)),
        "by_chance": of(False, flag),
        "diameter": of(1.0, either(real(above=0), one_of(math.inf))),
    },
    rk.constants: RANKED,
    rk.rank_error: {"t": of(5, many(2)), "candidates": of(1.0, SD)},
    rk.counted_from: {**CONSTANTS, "horizon": HORIZONS},
    rk.chance_of_each: {"error": of(0.1, many(0, kind=numbers.Real))},
    rk.explored_from: {"arms": of(2, whole(2)), "c": of(0.5, real(0, below=1)), "candidates": of(1.0, SD)},
    rk.least_exploration: {**CONSTANTS, "error": of(0.0, real(0))},
    rk.estimate_radius: {**CONSTANTS, "t": of(5, many(3))},
    rk.fair_greedy_bound: {**CONSTANTS, "horizon": of(100, many(3))},
    rk.fair_greedy_log_bound: {**CONSTANTS, "horizon": of(100, many(3))},
    rk.printed_bound: {**CONSTANTS, "horizon": of(100, many(3))},
    # fairlib.shares
    sh.SharedBandit: {**OF_ARMS, "shares": of([0.25, 0.125], several(1, 0, size=2, most=1))},
    sh.fair_learn: LEARNER,
    sh.fair_ucb: {},
    sh.t_fair_ucb: {},
    sh.lfg: {"shares": of([0.25, 0.125], several(1, 0, below=1)), "eta": of(1.0, real(above=0))},
    sh.fair_by_deadline: {"shares": of([0.25, 0.125], several(1, 0, 1)), "tolerance": of(1, whole(0))},
    sh.fair_in_windows: {**LEARNER, "credit": of(1.0, real(0))},
    sh.fair_ucb_bound: SHARED,
    sh.fair_ucb_worst_case_bound: {},
    sh.fair_ucb_regret_bound: SHARED,
    sh.t_fair_ucb_bound: SHARED,
    # fairlib.book.explorers, figures, linear, live
    Slider: {
        "label": of("Power", text(empty=False)),
        "values": of([1, 2], either(list_of(real(), *range(2, 61)), list_of(text(empty=False), *range(2, 61)))),
        "start": of(None, either(real(1, 1), real(2, 2), one_of("1", "2"))),
    },
    fl.explorers.explore: {
        "figure": of(drawn, called),
        "autoplay": of(False, flag),
        "live": of(None, a(lv.Live)),
        "power": Known(lambda: Slider("Power", [1, 2]), a(Slider)),
    },
    Explorer: {
        "figure": of(drawn, called),
        "sliders": SLIDERS,
        "autoplay": of(False, flag),
        "live": of(None, a(lv.Live)),
    },
    fl.figures.use_style: {},
    fl.figures.look: {"name": of("UCB1", text())},
    fl.figures.curve: {
        "ax": Known(lambda: Figure().subplots(), a(Axes)),
        "rounds": of([1, 2], several(size=2)),
        "values": of([[0.5, 1.0]], several(2)),
        "name": of("UCB1", text()),
        "label": of(None, text()),
    },
    fl.figures.label_ends: {"ax": Known(lambda: Figure().subplots(), a(Axes))},
    fl.figures.show: {
        "function": of(first, a(type, types.FunctionType, fits=lambda value: value in (refuses, Silent)))
    },
    li.linucb: {},
    li.oful: {"noise": of(1.0, real(0))},
    li.lints: {},
    li.at_random: {},
    li.greedy: {},
    lv.Live: {
        "shows": of(shows, called),
        "alt": of("a picture", text(empty=False)),
        "problem": of(None, nothing),
        "policy": of(None, nothing),
        "horizon": of(1, whole()),
        "rounds": of(None, several(kind=numbers.Integral)),
        "runs": of(1, whole(1, 20)),
        "means": of(None, text()),
    },
    lv.Plays: {"live": Known(played, a(lv.Live)), "sliders": SLIDERS},
    lv.LiveFigure: {"figure": of(drawn, called), "sliders": SLIDERS, "live": Known(moved, a(lv.Live))},
    lv.moving: {
        "artist": Known(lambda: Figure().text(0, 0, "here"), nothing),
        "text": of("there", text()),
        "run": of(0, whole(0)),
    },
    lv.said: {"text": of("{a:g}", text()), "values": of({"a": 1.0}, a(dict), "'a'")},
    # fairlib.experiments.replay, service
    rp.replay: {
        "events": LOG,
        "policy": Known(fl.ucb1, either(a(fl.Policy), called), ("means",)),
        "least": of(0.5, real(above=0, high=1)),
    },
    rp.article_contexts: {"event": Known(event, a(da.Event))},
    Service: {**NO_CONTEXTS, "path": Known(fresh, path), "snapshot_every": of(1000, whole(0))},
    app: {
        "service": Known(lambda: service(), a(Service)),
        "body": of(1000, whole()),
        "seconds": of(1.0, real(above=0)),
    },
}


def player() -> fl.Player:
    made = fl.Player(fl.uniform(2).replace(interpret=True), 3)
    made.choose()
    return made


def context_player() -> fl.Player:
    return fl.Player(li.at_random().replace(interpret=True), 2, dimension=2, groups=2)


def service() -> Service:
    made = Service(fresh(), fl.uniform(2).replace(interpret=True), 3)
    made.choose("first")
    return made


def context_service() -> Service:
    return Service(fresh(), li.at_random(), 2, dimension=2)


CONTEXTS = several(2, size=(2, 2))
GROUPS = of(None, several(1, 0, 1, kind=numbers.Integral, size=2))

METHODS: dict[str, tuple[Callable[[], Any], dict[str, Known]]] = {
    "Player.choose": (lambda: context_player().choose, {"contexts": of([[1, 0], [0, 1]], CONTEXTS), "groups": GROUPS}),
    "Player.observe": (
        lambda: player().observe,
        {"round": of(1, whole(1, 1)), "reward": of(1.0, real(0, 1)), "arm": of(2, one_of(0, 2, np.int8(2)))},
    ),
    "Player.forget": (lambda: player().forget, {"before": of(2, whole())}),
    "Player.save": (lambda: player().save, {"path": KNOWN["path"]}),
    "Player.load": (
        lambda: fl.Player.load,
        {
            "path": of("player", path),
            "policy": Known(lambda: fl.uniform(2), a(fl.Policy, fits=lambda value: value.plays == 2)),
        },
    ),
    "Service.choose": (lambda: service().choose, {"request": of("second", text()), "contexts": of(None, nothing)}),
    "Service.choose with contexts": (
        lambda: context_service().choose,
        {"request": of("first", text()), "contexts": of([[1, 0], [0, 1]], CONTEXTS)},
    ),
    "Service.observe": (
        lambda: service().observe,
        {"request": of("first", nothing), "reward": of(1.0, real(0, 1)), "arm": of(2, one_of(0, 2, np.int8(2)))},
    ),
    "Policy.replace": (
        lambda: fl.epsilon_greedy(0.1).replace,
        {"epsilon": of(0.2, real(), "the rule of 'epsilon-greedy'")},
    ),
    "Policy.check_horizon": (
        lambda: sh.t_fair_ucb([0.25, 0.125], 100).check_horizon,
        {"horizon": of(9, whole(1, 100))},
    ),
    "Merit.__call__": (lambda: exponential(2), {"means": of([0.5], several(None, 0, 1))}),
    "Result.load": (lambda: fl.Result.load, {"path": of("result", path)}),
    "Result.save": (lambda: fl.simulate(fl.Bandit(fl.bernoulli([0.5])), fl.ucb1(), 2).save, {}),
    "SemiBandit.quantiles": (lambda: late().quantiles, {}),
    "RewardDistribution.cdf": (lambda: LAW.made().cdf, {"rewards": of([0.5], several(None))}),
    "RewardDistribution.density": (lambda: LAW.made().density, {"rewards": of([0.5], several(None))}),
    "RewardDistribution.quantile": (lambda: LAW.made().quantile, {"ranks": of([0.5], several(None, above=0, high=1))}),
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
}
"""What the loaders find where the calls are made."""


def put_files() -> None:
    """Write them into the folder where one is."""
    for name, content in FILES.items():
        Path(name).write_text(content, encoding="utf-8")
    player().save("player")
    fl.simulate(BANDIT.made(), fl.ucb1(), 5).save("result")


# What there is to be called ------------------------------------------------------------------------------------------


class Door(NamedTuple):
    """Something to call, with what is known of its arguments."""

    name: str
    made: Callable[[], Callable[..., Any]]
    arguments: dict[str, Known]


def arguments(function: Any, more: Mapping[str, Known]) -> dict[str, Known]:
    """Return what is known of each argument; a `**settings` stands for those of `more` that have no other place."""
    parameters = inspect.signature(function).parameters
    name = getattr(function, "__name__", "")
    found: dict[str, Known] = {}
    for each in parameters.values():
        if each.kind is each.VAR_KEYWORD:
            found |= {one: known for one, known in more.items() if one not in parameters}
        elif each.name in more or each.name in KNOWN:
            known = HORIZONS if each.name == "horizon" and name.endswith("_bound") and each.name not in more else None
            found[each.name] = known or more.get(each.name) or KNOWN[each.name]
            if each.default is None:
                found[each.name] = found[each.name]._replace(kind=either(one_of(None), found[each.name].kind))
        else:
            raise KeyError(f"say in tests/fuzzed.py what {each.name} of {name} may be")
    return found


def is_door(thing: Any) -> bool:
    """Say whether a reader calls it: no number, record or error, and no part of a rule, which the engine calls."""
    if isinstance(thing, Rule | types.ModuleType) or not callable(thing) or not hasattr(thing, "__module__"):
        return False
    if inspect.isclass(thing):
        checked = hasattr(thing, "__post_init__") or ("__init__" in vars(thing) and not is_dataclass(thing))
        return not issubclass(thing, tuple | Exception) and checked and not issubclass(thing, fl.Result)
    if not (inspect.isfunction(thing) or hasattr(thing, "cache_clear")) or thing in HELPERS:
        return False
    parameters = inspect.signature(thing).parameters.values()
    return not parameters or any(each.annotation is not each.empty for each in parameters)


# Called by the package alone, with what it has made itself: sums of games, and the inside of the translator.
INSIDE = {
    *(de.semi_metrics, ex.exposure_metrics, ex.context_exposure_metrics, rk.rank_metrics, pg.playground_metrics),
    *(pg.live, pg.flat, pg.Script, pg.translated),
}


def public() -> dict[Any, str]:
    """Return all doors of the package, with their names."""
    package = Path(fl.__file__).parent
    names = ["fairlib", *(f"fairlib.{each.parent.name}" for each in sorted(package.glob("*/__init__.py")))]
    for file in sorted(package.glob("[a-z]*.py")):
        if "\n__all__ = " in file.read_text(encoding="utf-8") and file.stem != "checks":
            names.append(f"fairlib.{file.stem}")
    found: dict[Any, str] = {}
    for module in names:
        for name in import_module(module).__all__:
            thing = getattr(import_module(module), name)
            if is_door(thing) and thing not in found:
                found[thing] = f"{module.removeprefix('fairlib').removeprefix('.')}.{name}".removeprefix(".")
    return found


def doors() -> list[Door]:
    """Return all that there is to be called and takes an argument."""
    names = public()
    made = [Door(names[each], partial(_same, each), arguments(each, more)) for each, more in CALLS.items()]
    made += [Door(name, make, arguments(make(), more)) for name, (make, more) in METHODS.items()]
    return [each for each in made if each.arguments]


def _same(thing: Any) -> Any:
    return thing
