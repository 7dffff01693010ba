"""What every door of the package asks of its arguments; each refusal names the argument, the value and the rule."""

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["whole", "real", "vector", "array", "rounds"]


def whole(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Take a whole number from `low` to `high`.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : object
        What was given.
    low, high : int
        The smallest and the largest value allowed; no largest if None.

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
    >>> whole("horizon", 0, 1)
    Traceback (most recent call last):
    ValueError: horizon must be a whole number of at least 1, not 0
    """
    allowed = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be {allowed}, not {value!r}")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {allowed}, not {value!r}")
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
        The closed range allowed.
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
    allowed = f"a number{_range(low, high, above, below)}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be {allowed}, not {value!r}")
    number = float(value)
    if not (math.isfinite(number) and low <= number <= high and above < number < below):
        raise ValueError(f"{name} must be {allowed}, not {value!r}")
    return number


def vector(
    name: str, value: ArrayLike, low: float = -math.inf, high: float = math.inf, *, above: float = -math.inf
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

    Returns
    -------
    ndarray, shape (K,)
        A copy that can't be written to.

    Raises
    ------
    TypeError
        If it is not a list of numbers.
    ValueError
        If it is empty, not one-dimensional, or a number is nan, infinite or out of range.

    Examples
    --------
    >>> vector("means", [0.3, 1.2], 0, 1)
    Traceback (most recent call last):
    ValueError: means must be numbers in [0, 1], not 1.2 (arm 1)
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a list of numbers, one an arm, not {value!r}") from error
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must be a list of at least one number, one an arm, not {value!r}")
    bad = ~(np.isfinite(array) & (array >= low) & (array <= high) & (array > above))
    if bad.any():
        arm = int(np.argmax(bad))
        raise ValueError(f"{name} must be numbers{_range(low, high, above)}, not {array[arm]} (arm {arm})")
    array.flags.writeable = False
    return array


def array(name: str, value: ArrayLike, axes: int) -> NDArray[np.float64]:
    """Take an array of finite numbers with a given number of axes.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : array_like
        What was given.
    axes : int
        How many axes it must have.

    Returns
    -------
    ndarray
        A copy that can't be written to.

    Raises
    ------
    TypeError
        If it is not an array of numbers.
    ValueError
        If it is empty, has another number of axes, or a number is nan or infinite.

    Examples
    --------
    >>> array("contexts", [[0.1, float("nan")]], 2)
    Traceback (most recent call last):
    ValueError: contexts must be finite numbers, not nan (at [0, 1])
    """
    try:
        numbers = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be an array of numbers with {axes} axes, not {value!r}") from error
    if numbers.ndim != axes or numbers.size == 0:
        raise ValueError(
            f"{name} must be an array of numbers with {axes} axes, none empty, not of shape {numbers.shape}"
        )
    bad = ~np.isfinite(numbers)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name} must be finite numbers, not {numbers[place]} (at {list(place)})")
    numbers.flags.writeable = False
    return numbers


def rounds(name: str, value: ArrayLike) -> NDArray[np.int64]:
    """Take one or many numbers of rounds, each a whole number of at least 1.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : array_like of int
        What was given.

    Returns
    -------
    ndarray of int, shape of `value`
        The numbers.

    Raises
    ------
    TypeError
        If they are not integers.
    ValueError
        If one is below 1.

    Examples
    --------
    >>> rounds("horizon", [10, 0])
    Traceback (most recent call last):
    ValueError: horizon must be whole numbers of at least 1, not [10, 0]
    """
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers of at least 1, not {value!r}")
    if (array < 1).any():
        raise ValueError(f"{name} must be whole numbers of at least 1, not {value!r}")
    return array.astype(np.int64)


def _range(low: float, high: float, above: float, below: float = math.inf) -> str:
    first = f"({above:g}" if above >= low else f"[{low:g}"
    last = f"{below:g})" if below <= high else f"{high:g}]"
    bounded = math.isfinite(max(low, above)), math.isfinite(min(high, below))
    if bounded == (True, True):
        return f" in {first}, {last}"
    if bounded == (True, False):
        return f" above {above:g}" if above >= low else f" in [{low:g}, inf]"
    return f" in {first}, {last}" if any(bounded) else ""
