"""Every public function with its arguments: what each may be, and a valid call, as the annotations declare them.

`judged` says of each kind of constraint what it allows, apart from the package's own checks, so that the two can
disagree. A valid value is the example of a constraint, the default of the argument, or what the message of a wrong class
advises. `EXCEPTIONS` holds what no annotation says: functions of a reader's own, open settings, files, live objects.
"""

import array
import inspect
import itertools
import math
import numbers
import tempfile
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from odd_values import Silent, refuses

import fairlib as fl
from fairlib import after, checks, contexts, data, delays, exposure, linear, live, merit, page, ranks, replay, shares
from fairlib.compilation import _known
from fairlib.delays.laws import WholeRounds
from fairlib.explorers import Explorer, Slider
from fairlib.rules import Rule
from fairlib.service import Service, app

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
    return number == number and abs(number) <= 1e150


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
        case checks.Scale():
            return judged(checks.Real(1e-75, 1e75), value)
        case checks.Probability():
            return judged(checks.Real(1e-75, below=1), value)
        case checks.Numbers(low=low, high=high, above=above):
            return several(value, 1, lambda each: is_finite(each) and low <= each <= high and above < each)
        case checks.Table(axes=axes):
            return several(value, axes, is_finite)
        case WholeRounds():
            return several(value, 1, lambda each: each == math.inf or (0 <= each < math.inf and each % 1 == 0))
        case checks.OneOrMany(low=low, whole=True):
            return several(value, None, lambda each: low <= each <= 1e150, numbers.Integral)
        case checks.OneOrMany(low=low):
            return several(value, None, lambda each: is_finite(each) and low <= each)
        case checks.Pair(inner=inner):
            must(isinstance(value, list | tuple | np.ndarray) and np.ndim(value) > 0 and len(value) == 2)
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


NAMES = {**vars(delays), **vars(ranks), **vars(exposure), **vars(shares), **vars(contexts), **vars(linear)}
NAMES |= {**vars(merit), **vars(fl), "np": np}


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
        case checks.Table(axes=axes):
            return np.full((2,) * axes, 0.5) + np.arange(2) / 4
        case WholeRounds():
            return [1, 2]
        case checks.Text():
            return "own"
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

