"""Argument validation: an annotation declares what an argument may be; a refusal names it, its value and the rule.

A check is a function of an argument's name and its value; it returns the plain value or raises an error that gives
both. An annotation such as ``Annotated[float, Real(0, 1)]`` holds one with its range: a `Constraint`. `checked` applies
those of a function to its arguments before each call, `check_fields` those of a dataclass. A class is one, too, if its
`described_as` says what messages call its objects. What depends on another argument is checked in the body.
"""

import math
import numbers
import os
import pathlib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import fields
from functools import cache, partial, wraps
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGEST = 2**53  # up to here a float holds every whole number; an array's length must be far below
_NAME = 255  # the bytes of a file's name
_MOST = 1e150  # up to here a float holds a number's square


def integer(name: str, value: Any, low: int = 1, high: int | None = _LARGEST) -> int:
    """Take a whole number from `low` to `high`."""
    open_ended = high is None or high == _LARGEST
    allowed = f"a whole number of at least {low}" if open_ended else f"a whole number from {low} to {high}"
    if isinstance(value, _NO_NUMBERS) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}")
    number = int(value)
    if number < low or (high is not None and number > high):
        too_large = f" and at most {high}" if open_ended and number > low else ""
        raise ValueError(f"{name} must be {allowed}{too_large}, not {shown(value)}")
    return number


def integers(name: str, value: Any, low: int, high: int) -> list[int]:
    """Take a list of whole numbers from `low` to `high`."""
    return [integer(name, each, low, high) for each in rows(name, value, "a list of whole numbers")]


def real(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    infinity: bool = False,
) -> float:
    """Take a finite number from `low` to `high`, above `above` and below `below`; or the float infinity, if allowed."""
    if infinity and isinstance(value, float) and value == math.inf:
        return math.inf
    return _real(name, value, low, high, above, below, _MOST)


def _real(name: str, value: Any, low: float, high: float, above: float, below: float, most: float) -> float:
    allowed = f"a number{_range(low, high, above, below)}"
    if not _is_real(type(value)):
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and low <= number <= high and above < number < below):
        raise ValueError(f"{name} must be {allowed}, not {shown(value)}")
    if abs(number) > most and high == math.inf:
        raise ValueError(f"{name} must be {allowed}, at most {most:g} in size, not {shown(value)}")
    return number


def scale(name: str, value: Any) -> float:
    """Take a standard deviation or another scale: above 0, its square and one over it not too large for a float."""
    positive = _real(name, value, -math.inf, math.inf, 0, math.inf, math.inf)
    return real(name, positive, 1e-75, 1e75)


def probability(name: str, value: Any) -> float:
    """Take a probability above 0 and below 1, and not so small that one over it is too large to go on with."""
    return real(name, real(name, value, above=0, below=1), 1e-75, below=1)


def flag(name: str, value: Any) -> bool:
    """Take True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def function(name: str, value: Any) -> Any:
    """Take something that can be called."""
    if not callable(value):
        raise TypeError(f"{name} must be a function, not {shown(value)}")
    return value


def floats(name: str, value: Any, allowed: str) -> NDArray[np.float64]:
    """Take numbers in whatever shape, nan and infinity among them; refuse all else that NumPy would make numbers of."""
    parts = value if isinstance(value, list | tuple) else [value]
    if any(_may_be_masked(part) and np.ma.is_masked(part) for part in parts):
        raise ValueError(f"{name} must be {allowed}, with none masked, not {shown(value)}")
    if isinstance(value, bytearray | memoryview):
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}")
    try:
        # What is no array is looked at number by number, as an array of floats hides that one of them was True.
        given = np.asarray(value) if hasattr(value, "__array__") else np.array(value, dtype=object)
        kinds = set(map(type, given.ravel().tolist())) if given.dtype == object else {given.dtype.type}
        if not all(_is_real(kind) for kind in kinds):
            raise TypeError
        with np.errstate(over="ignore"):
            return np.array(given, dtype=np.float64, order="C")
    except OverflowError:
        raise ValueError(f"{name} must be {allowed}, none too large for a float, not {shown(value)}") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}") from None


def _may_be_masked(value: Any) -> bool:
    """Return whether something is a masked array; most need not wait until NumPy has loaded its module of those."""
    return hasattr(value, "mask") and isinstance(value, np.ma.MaskedArray)


def _is_real(kind: type) -> bool:
    return issubclass(kind, numbers.Real) and not issubclass(kind, _NO_NUMBERS)


_NO_NUMBERS = bool, np.bool_, np.timedelta64  # though Python or NumPy has them as whole numbers


def vector(
    name: str,
    value: ArrayLike,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    each: str = "arm",
) -> NDArray[np.float64]:
    """Take a list of finite numbers, one an arm, each from `low` to `high` and above `above`."""
    one = f"one {'an' if each[0] in 'aeiou' else 'a'} {each}"
    array = floats(name, value, f"a list of numbers, {one}")
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a list of at least one number, {one}, not {shown(value)}")
    bad = ~(np.isfinite(array) & (array >= low) & (array <= high) & (array > above) & (np.abs(array) <= _MOST))
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(
            f"{name} must be numbers{_range(low, high, above)}{_size(array[at])}, not {array[at]} ({each} {at})"
        )
    array.flags.writeable = False
    return array


def array(
    name: str, value: ArrayLike, axes: int | None = None, low: float = -math.inf, high: float = math.inf
) -> NDArray[np.float64]:
    """Take an array of finite numbers, each from `low` to `high`."""
    shape = "numbers" if axes is None else f"an array of numbers with {axes} axes"
    numbers = floats(name, value, shape)
    if axes is not None and (numbers.ndim != axes or numbers.size == 0):
        raise ValueError(f"{name} must be {shape}, none empty, not of shape {numbers.shape}")
    bad = ~(numbers >= max(low, -_MOST))
    bad |= ~(numbers <= min(high, _MOST))
    if bad.any():
        place = [int(i) for i in np.argwhere(bad)[0]]
        found = f"{numbers[tuple(place)]}{f' (at {place})' if place else ''}"
        size = _size(numbers[tuple(place)])
        raise ValueError(f"{name} must be finite numbers{_range(low, high, -math.inf)}{size}, not {found}")
    numbers.flags.writeable = False
    return numbers


def _size(number: float) -> str:
    return f", at most {_MOST:g} in size" if _MOST < abs(number) < math.inf else ""


def _range(low: float, high: float, above: float, below: float = math.inf) -> str:
    first = f"({above:g}" if above >= low else f"[{low:g}"
    last = f"{below:g})" if below <= high else f"{high:g}]"
    bounded = math.isfinite(max(low, above)), math.isfinite(min(high, below))
    if bounded == (True, True):
        return f" in {first}, {last}"
    if bounded == (True, False):
        return f" above {above:g}" if above >= low else f" in [{low:g}, inf]"
    return f" in {first}, {last}" if any(bounded) else ""


def one_or_many(name: str, value: ArrayLike, low: float, *, integers: bool = False) -> ArrayLike:
    """Take one number or many, each at least `low`, as they are: a bound may hand its horizon to another."""
    allowed = f"{'whole ' if integers else ''}numbers of at least {low:g}"
    kind, letters = (numbers.Integral, "iu") if integers else (numbers.Real, "iuf")
    array = value if isinstance(value, np.ndarray) else np.array(value, dtype=object)
    # What is no array is looked at one by one: NumPy would make a number of True. And it would forget a mask.
    fit = (array.dtype.kind in letters and not _may_be_masked(value)) or (
        array.dtype == object
        and not isinstance(value, bytearray | memoryview)
        and all(isinstance(each, kind) and not isinstance(each, _NO_NUMBERS) for each in array.flat)
    )
    if not fit:
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}")
    try:
        found = np.asarray(array, np.float64)
    except OverflowError:
        found = np.array(math.inf)
    if not ((found >= low) & (found <= _MOST)).all():
        size = _size(found[np.isfinite(found)].max(initial=0))
        raise ValueError(f"{name} must be {allowed}{size}, not {shown(value)}")
    return value


def pair(name: str, value: Any, example: str, inner: Callable[[str, Any], Any] | None = None) -> tuple[Any, Any]:
    """Take a list of two, each of which fits the inner check, if there is one."""
    listed = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if not listed or len(value) != 2:
        raise TypeError(f"{name} must be {example}, not {shown(value)}")
    first, second = value
    return (inner(f"{name}[0]", first), inner(f"{name}[1]", second)) if inner else (first, second)


def choice(name: str, value: Any, values: tuple[str, ...]) -> str:
    """Take one of two or more strings."""
    if not isinstance(value, str) or value not in values:
        raise ValueError(f"{name} must be {' or '.join(map(repr, values))}, not {shown(value)}")
    return value


def path(name: str, value: Any) -> pathlib.Path:
    """Take the path of a file."""
    allowed = "the path of a file, a string or a pathlib.Path"
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}")
    found = pathlib.Path(value)
    if not found.name or "\0" in str(found) or len(os.fsencode(found.name)) > _NAME:
        raise ValueError(f"{name} must be {allowed}, not {shown(value)}")
    return found


def text(name: str, value: Any, *, empty: bool = True) -> str:
    """Take a string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {shown(value)}")
    if not (empty or value.strip()):
        raise ValueError(f"{name} must be a string that says something, not {shown(value)}")
    return value


def instance(name: str, value: Any, kind: Any, example: str) -> Any:
    """Take an object of one of the package's own kinds."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {example}, not {shown(value)}")
    return value


def rows(name: str, value: Any, example: str) -> Iterable[Any]:
    """Take something to go through row by row, which text, a table by columns and a set are not."""
    unordered = isinstance(value, str | bytes | Mapping | Set) or getattr(value, "shape", None) == ()
    if unordered or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {example}, not {shown(value)}")
    return value


def arm_names(name: str, value: Any) -> tuple[Any, ...]:
    """Take the names of arms, or their number K: then they are called 0, 1, ..., K - 1."""
    if isinstance(value, numbers.Number):
        return tuple(range(integer(name, value)))
    given = rows(name, value, "a number or a list of names")
    names = tuple(each.item() if isinstance(each, np.generic) else each for each in given)
    fit = all(each.strip() if isinstance(each, str) else _is_real(type(each)) and math.isfinite(each) for each in names)
    if not (names and fit and len(set(names)) == len(names)):
        raise ValueError(f"{name} must be different names, at least one, each a text or a number, not {shown(value)}")
    return names


def shown(value: Any) -> str:
    """Return how a value reads, for a message: in one line that is not too long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a whole number has too many digits, or the reader's own class can't be shown
        return "a number of thousands of digits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"


class Constraint:
    """A check with its range, as an annotation holds it; called with an argument's name and its value."""

    def __init__(self, check: Callable[..., Any], *allowed: Any, **named: Any) -> None:
        self._check, self._allowed, self._named = check, allowed, named

    def __call__(self, name: str, value: Any) -> Any:
        """Return the plain value, or refuse the argument by its name."""
        return self._check(name, value, *self._allowed, **self._named)


Integer = partial(Constraint, integer)
Real = partial(Constraint, real)
Numbers = partial(Constraint, vector)
Table = partial(Constraint, array)
OneOrMany = partial(Constraint, one_or_many)
Pair = partial(Constraint, pair)
Instance = partial(Constraint, instance)
Choice = partial(Constraint, choice)
Text = partial(Constraint, text)
Flag = partial(Constraint, flag)
Function = partial(Constraint, function)
FilePath = partial(Constraint, path)

PositiveInt = Annotated[int, Integer(1)]
Horizon = Annotated[int, Integer(1)]
Horizons = Annotated[ArrayLike, OneOrMany(1, integers=True)]
Positive = Annotated[float, Real(above=0)]
NonNegative = Annotated[float, Real(0)]
UnitInterval = Annotated[float, Real(0, 1)]
PositiveScale = Annotated[float, Constraint(scale)]
OpenProbability = Annotated[float, Constraint(probability)]
Seed = Annotated[int, Integer(0, None)]

_F = TypeVar("_F", bound=Callable[..., Any])


def checked(function: _F) -> _F:
    """Check the arguments of a function, as its annotations declare them, before each call.

    Examples
    --------
    >>> @checked
    ... def twice(width: NonNegative) -> float:
    ...     return 2 * width
    >>> twice(np.float32(0.5))
    1.0
    >>> twice(-1)
    Traceback (most recent call last):
    ValueError: width must be a number in [0, inf], not -1
    """

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        found, places = _read(function)
        taken = [
            value if each is None else each(name, value) for (name, each), value in zip(places, given, strict=False)
        ]
        for name, value in named.items():
            if name in found:
                named[name] = found[name](name, value)
        return function(*taken, *given[len(taken) :], **named)

    return typing.cast(_F, call)


@cache  # at the first call, as the import of the package must stay quick
def _read(function: Any) -> tuple[dict[str, Constraint], list[tuple[str, Constraint | None]]]:
    """Return the constraints of a function by name, and those of the arguments that may be given by place."""
    found, code = _declared(function.__annotations__), function.__code__
    return found, [(name, found.get(name)) for name in code.co_varnames[: code.co_argcount]]


def check_fields(thing: Any) -> None:
    """Check the fields of a new dataclass, which may be frozen, and keep the plain values."""
    for name, each in _of_fields(thing.__class__).items():
        object.__setattr__(thing, name, each(name, getattr(thing, name)))


@cache
def _of_fields(kind: Any) -> dict[str, Constraint]:
    return _declared({each.name: each.type for each in fields(kind)})


def _declared(annotations: Mapping[str, Any]) -> dict[str, Constraint]:
    found = {name: _constraint(each) for name, each in annotations.items() if name != "return"}
    return {name: each for name, each in found.items() if each is not None}


def _constraint(annotation: Any) -> Constraint | None:
    """Return the constraint of an annotation; a class that says how messages describe it allows its objects."""
    for each in getattr(annotation, "__metadata__", ()):
        if isinstance(each, Constraint):
            return each
    if isinstance(annotation, type) and "described_as" in vars(annotation):
        return Constraint(instance, annotation, vars(annotation)["described_as"])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType) and type(None) in typing.get_args(annotation):
        inside = [found for each in typing.get_args(annotation) if (found := _constraint(each))]
        return Constraint(_optional, inside[0]) if len(inside) == 1 else None
    return None


def _optional(name: str, value: Any, inner: Constraint) -> Any:
    return value if value is None else inner(name, value)
