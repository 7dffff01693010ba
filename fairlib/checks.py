"""Argument validation: an annotation declares what an argument may be; a refusal names it, its value and the rule.

An annotation such as ``Annotated[float, Real(0, 1)]`` holds a constraint. `checked` reads the annotations of a function
and converts its arguments before each call, `check_fields` those of a dataclass; `constraints` returns them, which is
what the fuzz test reads. A class is a constraint, too, if its `described_as` says what messages call its objects. Below
the constraints are the functions that they call. A check that depends on another argument calls one in the body.
"""

import inspect
import math
import numbers
import os
import pathlib
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, fields
from functools import cache, wraps
from typing import Annotated, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Constraint",
    "Integer",
    "Real",
    "Scale",
    "Probability",
    "Numbers",
    "Table",
    "OneOrMany",
    "Pair",
    "Instance",
    "Flag",
    "Text",
    "Choice",
    "FilePath",
    "Function",
    "Optional",
    "InBody",
    "PositiveInt",
    "Horizon",
    "Horizons",
    "Positive",
    "NonNegative",
    "UnitInterval",
    "PositiveScale",
    "OpenProbability",
    "Seed",
    "checked",
    "check_fields",
    "constraints",
    "integer",
    "real",
    "scale",
    "probability",
    "flag",
    "function",
    "floats",
    "vector",
    "array",
    "one_or_many",
    "pair",
    "path",
    "text",
    "instance",
    "rows",
    "shown",
]


_LARGEST = 2**53  # up to here a float holds every whole number; an array's length must be far below
_NAME = 255  # the bytes of a file's name
_MOST = 1e150  # up to here a float holds a number's square


@dataclass(eq=False)
class Constraint:
    """What an argument may be, in its annotation: ``Annotated[float, Real(0, 1)]``.

    Called with an argument's name and its value, a constraint returns the plain value or raises an error that gives
    both.

    Parameters
    ----------
    example : object
        A value that fits, for tests, where the default of the argument or the constraint itself gives none.

    Examples
    --------
    >>> Real(0, 1)("epsilon", 1.5)
    Traceback (most recent call last):
    ValueError: epsilon must be a number in [0, 1], not 1.5
    """

    # Two constraints are never equal (eq=False), as typing would keep one of two equal annotations, and one example.
    # They are not frozen, as that doubles the time that these classes add to the import of the package.
    example: Any = field(default=None, kw_only=True, repr=False)

    def __call__(self, name: str, value: Any) -> Any:
        """Return the plain value, or refuse the argument by its name."""
        return self._take(name, value)

    def _take(self, name: str, value: Any) -> Any:
        raise NotImplementedError


@dataclass(eq=False)
class Integer(Constraint):
    """A whole number; see `integer`."""

    low: int = 1
    high: int | None = _LARGEST

    def _take(self, name: str, value: Any) -> int:
        return integer(name, value, self.low, self.high)


@dataclass(eq=False)
class Real(Constraint):
    """A finite number in a range; see `real`."""

    low: float = -math.inf
    high: float = math.inf
    above: float = field(default=-math.inf, kw_only=True)
    below: float = field(default=math.inf, kw_only=True)
    infinity: bool = field(default=False, kw_only=True)
    """Whether the float infinity is allowed, too."""

    def _take(self, name: str, value: Any) -> float:
        if self.infinity and isinstance(value, float) and value == math.inf:
            return math.inf
        return real(name, value, self.low, self.high, above=self.above, below=self.below)


class Scale(Constraint):
    """A standard deviation or another scale above 0; see `scale`."""

    def _take(self, name: str, value: Any) -> float:
        return scale(name, value)


class Probability(Constraint):
    """A probability above 0 and below 1; see `probability`."""

    def _take(self, name: str, value: Any) -> float:
        return probability(name, value)


@dataclass(eq=False)
class Numbers(Constraint):
    """A list of finite numbers in a range, one for each arm; see `vector`."""

    low: float = -math.inf
    high: float = math.inf
    above: float = field(default=-math.inf, kw_only=True)
    each: str = field(default="arm", kw_only=True)

    def _take(self, name: str, value: Any) -> NDArray[np.float64]:
        return vector(name, value, self.low, self.high, above=self.above, each=self.each)


@dataclass(eq=False)
class Table(Constraint):
    """An array of finite numbers with so many axes, or of any shape; see `array`."""

    axes: int | None = None

    def _take(self, name: str, value: Any) -> NDArray[np.float64]:
        return array(name, value, self.axes)


@dataclass(eq=False)
class OneOrMany(Constraint):
    """One number or many, each at least the lowest; see `one_or_many`.

    The value is passed on as it is, so that one bound can hand its horizon to another: the body makes floats of it.
    """

    low: float
    integers: bool = field(default=False, kw_only=True)

    def _take(self, name: str, value: Any) -> Any:
        one_or_many(name, value, self.low, integers=self.integers)
        return value


@dataclass(eq=False)
class Pair(Constraint):
    """A list of two, each of which fits a constraint; see `pair`."""

    inner: Constraint
    says: str

    def _take(self, name: str, value: Any) -> tuple[Any, Any]:
        first, second = pair(name, value, self.says)
        return self.inner(f"{name}[0]", first), self.inner(f"{name}[1]", second)


@dataclass(eq=False)
class Instance(Constraint):
    """An object of a class; see `instance`. The words after *such as* in the message are an example."""

    kind: Any
    says: str

    def _take(self, name: str, value: Any) -> Any:
        return instance(name, value, self.kind, self.says)


class Flag(Constraint):
    """True or False; see `flag`."""

    def _take(self, name: str, value: Any) -> bool:
        return flag(name, value)


@dataclass(eq=False)
class Text(Constraint):
    """A string; see `text`."""

    empty: bool = field(default=True, kw_only=True)

    def _take(self, name: str, value: Any) -> str:
        return text(name, value, empty=self.empty)


@dataclass(eq=False)
class Choice(Constraint):
    """One of two or more strings."""

    values: tuple[str, ...]

    def _take(self, name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in self.values:
            raise ValueError(f"{name} must be {' or '.join(map(repr, self.values))}, not {shown(value)}")
        return value


class FilePath(Constraint):
    """The path of a file; see `path`."""

    def _take(self, name: str, value: Any) -> pathlib.Path:
        return path(name, value)


class Function(Constraint):
    """Something that can be called; see `function`."""

    def _take(self, name: str, value: Any) -> Any:
        return function(name, value)


@dataclass(eq=False)
class Optional(Constraint):
    """None, or what another constraint allows; it is written ``Annotated[float, Real(0)] | None``."""

    inner: Constraint

    def _take(self, name: str, value: Any) -> Any:
        return value if value is None else self.inner(name, value)


@dataclass(eq=False)
class InBody(Constraint):
    """Declared only: the function's body checks the argument, as its range depends on another one."""

    inner: Constraint

    def _take(self, name: str, value: Any) -> Any:
        return value


PositiveInt = Annotated[int, Integer(1)]
Horizon = Annotated[int, Integer(1, example=100)]
Horizons = Annotated[ArrayLike, OneOrMany(1, integers=True, example=100)]
Positive = Annotated[float, Real(above=0)]
NonNegative = Annotated[float, Real(0)]
UnitInterval = Annotated[float, Real(0, 1)]
PositiveScale = Annotated[float, Scale()]
OpenProbability = Annotated[float, Probability()]
Seed = Annotated[int, Integer(0, None, example=1)]

_F = TypeVar("_F", bound=Callable[..., Any])


def checked(function: _F) -> _F:
    """Check the arguments of a function, as its annotations declare them, before each call.

    Parameters
    ----------
    function : callable
        A function or a method whose arguments have constraints.

    Returns
    -------
    callable
        The function; it gets plain numbers, arrays and strings.

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
    """Check the fields of a dataclass, as their annotations declare them, and keep the plain values.

    Parameters
    ----------
    thing : object
        The new object, in its `__post_init__`; the class may be frozen.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Noise:
    ...     sd: NonNegative
    ...     def __post_init__(self):
    ...         check_fields(self)
    >>> Noise(-1)
    Traceback (most recent call last):
    ValueError: sd must be a number in [0, inf], not -1
    """
    for name, each in _of_fields(thing.__class__).items():
        object.__setattr__(thing, name, each(name, getattr(thing, name)))


@cache
def _of_fields(kind: Any) -> dict[str, Constraint]:
    return _declared({each.name: each.type for each in fields(kind)})


def constraints(function: Any) -> dict[str, Constraint]:
    """Return the constraints that a function, method or class declares.

    Parameters
    ----------
    function : callable
        The function, method or class.

    Returns
    -------
    dict
        The constraint of each argument that has one.

    Examples
    --------
    >>> def half(share: UnitInterval, rest: float) -> float: ...
    >>> constraints(half)
    {'share': Real(low=0, high=1, above=-inf, below=inf, infinity=False)}
    """
    return _declared({name: each.annotation for name, each in inspect.signature(function).parameters.items()})


def _declared(annotations: Mapping[str, Any]) -> dict[str, Constraint]:
    found = {name: _constraint(each) for name, each in annotations.items() if name != "return"}
    return {name: each for name, each in found.items() if each is not None}


def _constraint(annotation: Any) -> Constraint | None:
    """Return the constraint of an annotation; a class that says how messages describe it allows its objects."""
    for each in getattr(annotation, "__metadata__", ()):
        if isinstance(each, Constraint):
            return each
    if isinstance(annotation, type) and "described_as" in vars(annotation):
        return Instance(annotation, vars(annotation)["described_as"])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType) and type(None) in typing.get_args(annotation):
        inside = [found for each in typing.get_args(annotation) if (found := _constraint(each))]
        return Optional(inside[0]) if len(inside) == 1 else None
    return None


def integer(name: str, value: Any, low: int, high: int | None = _LARGEST) -> int:
    """Take a whole number from `low` to `high`.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.
    low, high : int
        The smallest and the largest value allowed; no largest if None, as for a seed, and by default one that nothing
        can be counted to.

    Returns
    -------
    int
        The number.

    Raises
    ------
    TypeError
        If it is not an integer (True and False are not).
    ValueError
        If it is out of range.

    Examples
    --------
    >>> integer("horizon", 0, 1)
    Traceback (most recent call last):
    ValueError: horizon must be a whole number of at least 1, not 0
    """
    open_ended = high is None or high == _LARGEST
    allowed = f"a whole number of at least {low}" if open_ended else f"a whole number from {low} to {high}"
    if isinstance(value, _NO_NUMBERS) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}")
    number = int(value)
    if number < low or (high is not None and number > high):
        too_large = f" and at most {high}" if open_ended and number > low else ""
        raise ValueError(f"{name} must be {allowed}{too_large}, not {shown(value)}")
    return number


def real(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """Take a finite number from `low` to `high`, above `above` and below `below`.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.
    low, high : float
        The closed range allowed; without a highest number, one whose square a float holds, up to 1e150 in size.
    above, below : float
        What the number must exceed, and what must exceed it.

    Returns
    -------
    float
        The number.

    Raises
    ------
    TypeError
        If it is not a number.
    ValueError
        If it is nan, infinite or out of range.

    Examples
    --------
    >>> real("epsilon", 1.5, 0, 1)
    Traceback (most recent call last):
    ValueError: epsilon must be a number in [0, 1], not 1.5
    >>> real("failure", 0.0, high=1, above=0)
    Traceback (most recent call last):
    ValueError: failure must be a number in (0, 1], not 0.0
    """
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
    """Take a standard deviation or another scale: above 0, its square and one over it not too large for a float.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.

    Returns
    -------
    float
        The number.

    Raises
    ------
    TypeError
        If it is not a number.
    ValueError
        If it is nan, infinite or out of range.

    Examples
    --------
    >>> scale("sd", 1e-200)
    Traceback (most recent call last):
    ValueError: sd must be a number in [1e-75, 1e+75], not 1e-200
    """
    positive = _real(name, value, -math.inf, math.inf, 0, math.inf, math.inf)
    return real(name, positive, 1e-75, 1e75)


def probability(name: str, value: Any) -> float:
    """Take a probability above 0 and below 1, and not so small that one over it is too large to go on with.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.

    Returns
    -------
    float
        The number.

    Raises
    ------
    TypeError
        If it is not a number.
    ValueError
        If it is nan, infinite or out of range.

    Examples
    --------
    >>> probability("failure", 1)
    Traceback (most recent call last):
    ValueError: failure must be a number in (0, 1), not 1
    """
    return real(name, real(name, value, above=0, below=1), 1e-75, below=1)


def flag(name: str, value: Any) -> bool:
    """Take True or False.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.

    Returns
    -------
    bool
        The same.

    Raises
    ------
    TypeError
        If it is anything else.

    Examples
    --------
    >>> flag("progress", "no")
    Traceback (most recent call last):
    TypeError: progress must be True or False, not 'no'
    """
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, not {shown(value)}")
    return bool(value)


def function(name: str, value: Any) -> Any:
    """Take something that can be called.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.

    Returns
    -------
    callable
        The same.

    Raises
    ------
    TypeError
        If it can't be called.

    Examples
    --------
    >>> function("draw", 0.5)
    Traceback (most recent call last):
    TypeError: draw must be a function, not 0.5
    """
    if not callable(value):
        raise TypeError(f"{name} must be a function, not {shown(value)}")
    return value


def floats(name: str, value: Any, allowed: str) -> NDArray[np.float64]:
    """Take numbers in whatever shape, nan and infinity among them; refuse all else that NumPy would make numbers of.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : array_like
        What was given.
    allowed : str
        What it must be, for the message.

    Returns
    -------
    ndarray, shape of `value`
        A copy.

    Raises
    ------
    TypeError
        If something in it is no number, as True, False, text and dates are none.
    ValueError
        If a number is masked, or too large for a float.

    Examples
    --------
    >>> floats("means", ["0.5", "0.2"], "a list of numbers")
    Traceback (most recent call last):
    TypeError: means must be a list of numbers, not ['0.5', '0.2']
    """
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
    """Take a list of finite numbers, one an arm, each from `low` to `high` and above `above`.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : array_like, shape (K,)
        What was given.
    low, high : float
        The closed range allowed.
    above : float
        What each number must exceed.
    each : str
        What each number belongs to, an arm or a run, for the message.

    Returns
    -------
    ndarray, shape (K,)
        A copy that can't be written to.

    Raises
    ------
    TypeError
        If it is not a list of numbers (True, False, text and dates are none).
    ValueError
        If it is empty, not one-dimensional, or a number is masked, nan, infinite or out of range.

    Examples
    --------
    >>> vector("means", [0.3, 1.2], 0, 1)
    Traceback (most recent call last):
    ValueError: means must be numbers in [0, 1], not 1.2 (arm 1)
    """
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
    """Take an array of finite numbers, each from `low` to `high`.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : array_like
        What was given.
    axes : int, optional
        How many axes it must have, none of them empty; by default it may be of any shape, or one number.
    low, high : float
        The closed range allowed.

    Returns
    -------
    ndarray
        A copy that can't be written to.

    Raises
    ------
    TypeError
        If it is not an array of numbers (True, False, text and dates are none).
    ValueError
        If it has another number of axes or an empty one, or a number is masked, nan, infinite or out of range.

    Examples
    --------
    >>> array("contexts", [[0.1, float("nan")]], 2)
    Traceback (most recent call last):
    ValueError: contexts must be finite numbers, not nan (at [0, 1])
    """
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


def one_or_many(name: str, value: ArrayLike, low: float, *, integers: bool = False) -> NDArray[np.float64]:
    """Take one number or many, in whatever shape, each finite and at least `low`.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : array_like
        What was given.
    low : float
        The smallest value allowed.
    integers : bool
        Whether only whole numbers are allowed, such as numbers of rounds.

    Returns
    -------
    ndarray, shape of `value`
        The numbers as floats, so that no product of them is too large.

    Raises
    ------
    TypeError
        If they are not numbers (True, False and text are not), or not whole.
    ValueError
        If one is below `low`, nan or infinite.

    Examples
    --------
    >>> one_or_many("horizon", [10, 0], 1, integers=True)
    Traceback (most recent call last):
    ValueError: horizon must be whole numbers of at least 1, not [10, 0]
    """
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
    return found


def pair(name: str, value: Any, example: str) -> tuple[Any, Any]:
    """Take a list of two.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.
    example : str
        What it is and how it looks, for the message.

    Returns
    -------
    tuple of two
        The two, as they are.

    Raises
    ------
    TypeError
        If it is no list, tuple or array of two.

    Examples
    --------
    >>> pair("radius", 3, "two numbers, such as (0.0, 1.5)")
    Traceback (most recent call last):
    TypeError: radius must be two numbers, such as (0.0, 1.5), not 3
    """
    listed = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)
    if not listed or len(value) != 2:
        raise TypeError(f"{name} must be {example}, not {shown(value)}")
    return value[0], value[1]


def path(name: str, value: Any) -> pathlib.Path:
    """Take the path of a file.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.

    Returns
    -------
    pathlib.Path
        The path.

    Raises
    ------
    TypeError
        If it is neither text nor path-like.
    ValueError
        If it names no file.

    Examples
    --------
    >>> path("path", 3)
    Traceback (most recent call last):
    TypeError: path must be the path of a file, a string or a pathlib.Path, not 3
    """
    allowed = "the path of a file, a string or a pathlib.Path"
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"{name} must be {allowed}, not {shown(value)}")
    found = pathlib.Path(value)
    if not found.name or "\0" in str(found) or len(os.fsencode(found.name)) > _NAME:
        raise ValueError(f"{name} must be {allowed}, not {shown(value)}")
    return found


def text(name: str, value: Any, *, empty: bool = True) -> str:
    """Take a string.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.
    empty : bool
        Whether it may be empty.

    Returns
    -------
    str
        The string.

    Raises
    ------
    TypeError
        If it is no string.
    ValueError
        If it is empty, but must not be.

    Examples
    --------
    >>> text("label", 3)
    Traceback (most recent call last):
    TypeError: label must be a string, not 3
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, not {shown(value)}")
    if not (empty or value.strip()):
        raise ValueError(f"{name} must be a string that says something, not {shown(value)}")
    return value


def instance(name: str, value: Any, kind: Any, example: str) -> Any:
    """Take an object of one of the package's own kinds.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.
    kind : type
        What it must be.
    example : str
        What it is and how it is made, for the message.

    Returns
    -------
    object
        The same.

    Raises
    ------
    TypeError
        If it is anything else.

    Examples
    --------
    >>> instance("learner", 3, type, "a Policy, such as ucb1()")
    Traceback (most recent call last):
    TypeError: learner must be a Policy, such as ucb1(), not 3
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {example}, not {shown(value)}")
    return value


def rows(name: str, value: Any, example: str) -> Iterable[Any]:
    """Take something to go through row by row, which text, a table by columns and a set are not.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.
    example : str
        What it is, for the message.

    Returns
    -------
    iterable
        The same.

    Raises
    ------
    TypeError
        If it is anything else.

    Examples
    --------
    >>> rows("events", "log.csv", "a log, visit by visit")
    Traceback (most recent call last):
    TypeError: events must be a log, visit by visit, not 'log.csv'
    """
    unordered = isinstance(value, str | bytes | Mapping | Set) or getattr(value, "shape", None) == ()
    if unordered or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {example}, not {shown(value)}")
    return value


def shown(value: Any) -> str:
    """Return how a value reads, for a message: in one line that is not too long.

    Parameters
    ----------
    value : object
        What was given.

    Returns
    -------
    str
        The text, or the kind of the value if it can't be shown.

    Examples
    --------
    >>> shown(np.eye(2)), shown(10**5000)
    ('array([[1., 0.], [0., 1.]])', 'a number of thousands of digits')
    """
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a whole number has too many digits, or the reader's own class can't be shown
        return "a number of thousands of digits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:150]}...{text[-40:]}"
