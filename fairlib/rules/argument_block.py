"""How compiled functions are handed their arrays: as one list of where these lie, which costs next to nothing a call.

A call of a compiled function that is known only by its address copies seven numbers for each array that it passes, a
dozen arrays for a rule: as long as many a rule takes. So the engine writes once, on a *desk*, where its arrays lie, and
passes where the desk is, a single number. The arrays stay the engine's: what is found on a desk is not counted as a
reference, and must not be kept.
"""

from collections.abc import Callable
from operator import is_, itemgetter
from typing import Any

import numpy as np
from numba import carray, float64, int64, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from fairlib.rules.jit import direct, helper

_PLACE = 4  # numbers an array: its address, and up to three lengths


def desk(*arrays: NDArray[Any]) -> NDArray[np.int64]:
    """Write down where arrays lie; whoever does must hold them, and the desk, for as long as the desk is used.

    Parameters
    ----------
    *arrays : ndarray
        The arrays, in the order of their places; contiguous.

    Returns
    -------
    ndarray of int
        The desk; compiled code is given its address, ``desk.ctypes.data``.

    Examples
    --------
    >>> x = np.zeros((2, 3))
    >>> place = desk(x)
    >>> place[0] == x.ctypes.data, place[1:]
    (np.True_, array([2, 3, 0]))
    """
    places = np.zeros(_PLACE * len(arrays), np.int64)
    for i, array in enumerate(arrays):
        places[_PLACE * i] = array.ctypes.data
        places[_PLACE * i + 1 : _PLACE * i + 1 + array.ndim] = array.shape
    return places


@intrinsic
def _at(typingctx, desk, i):
    """Return number i of the desk at an address."""

    def build(context, builder, signature, args):
        at = builder.inttoptr(args[0], context.get_value_type(types.CPointer(types.int64)))
        return builder.load(builder.gep(at, [args[1]]))

    return types.int64(types.int64, types.int64), build


@intrinsic
def _pointer(typingctx, address):
    def build(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), build


# What finds the array in a place of a desk, by its type.
FINDERS = {float64[::1]: "floats", int64[::1]: "wholes", float64[:, ::1]: "float_rows", int64[:, ::1]: "whole_rows"}
FINDERS[float64[:, :, ::1]] = "float_blocks"


@helper
def floats(desk, i):
    """Return the list of numbers in place i; to be called by compiled code only."""
    return carray(_pointer(_at(desk, 4 * i)), (_at(desk, 4 * i + 1),), np.float64)


@helper
def wholes(desk, i):
    """Return the list of whole numbers in place i; to be called by compiled code only."""
    return carray(_pointer(_at(desk, 4 * i)), (_at(desk, 4 * i + 1),), np.int64)


@helper
def float_rows(desk, i):
    """Return the table of numbers in place i; to be called by compiled code only."""
    return carray(_pointer(_at(desk, 4 * i)), (_at(desk, 4 * i + 1), _at(desk, 4 * i + 2)), np.float64)


@helper
def whole_rows(desk, i):
    """Return the table of whole numbers in place i; to be called by compiled code only."""
    return carray(_pointer(_at(desk, 4 * i)), (_at(desk, 4 * i + 1), _at(desk, 4 * i + 2)), np.int64)


@helper
def float_blocks(desk, i):
    """Return the array of numbers with three axes in place i; to be called by compiled code only."""
    return carray(
        _pointer(_at(desk, 4 * i)), (_at(desk, 4 * i + 1), _at(desk, 4 * i + 2), _at(desk, 4 * i + 3)), np.float64
    )


FINDER_OF = {each.__name__: each for each in (floats, wholes, float_rows, whole_rows, float_blocks)}
"""The same by name."""


class OnDesk:
    """A compiled function that takes its arrays on a desk, to be called from Python with the arrays themselves.

    Parameters
    ----------
    compiled : callable
        The compiled function: first the address of a desk, then what is no array.

    Examples
    --------
    >>> import fairlib as fl
    >>> p = np.zeros(2)
    >>> nothing = np.zeros(0), np.zeros(0)
    >>> counts = np.array([5, 5]), np.array([5, 5]), np.array([1.0, 4.0])
    >>> news = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros(0, np.int64), np.zeros(0)
    >>> OnDesk(fl.ucb1().bound.compiled())(*nothing, 11, *counts, *news, np.random.default_rng(0), p)
    1
    """

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        self._entry = direct(compiled)
        self._arrays: Any = None
        self._last: tuple[tuple[Any, ...], Any] = ((), None)

    def __call__(self, *given: Any) -> Any:
        """Write the desk, unless the arrays are those of the call before, and call the function."""
        if self._arrays is None:
            self._look_at(given)
        if self._nested:
            given = _flat(given)
        arrays, (before, on_desk) = self._arrays(given), self._last
        if on_desk is None or not all(map(is_, arrays, before)):
            on_desk = desk(*arrays)
            self._last = (arrays, on_desk)
        return self._entry(on_desk.ctypes.data, *self._others(given))

    def _look_at(self, given: tuple[Any, ...]) -> None:
        """Note where the arrays are among the arguments: in each call they are in the same places."""
        self._nested = any(isinstance(each, tuple) for each in given)
        places: tuple[list[int], list[int]] = ([], [])
        for i, each in enumerate(_flat(given)):
            places[isinstance(each, np.ndarray)].append(i)
        self._others, self._arrays = map(_getter, places)


def _flat(given: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(part for each in given for part in (each if isinstance(each, tuple) else (each,)))


def _getter(places: list[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return what picks the arguments in some places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda given: tuple(given[i] for i in places)
