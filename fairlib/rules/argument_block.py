"""Argument blocks: the addresses and shapes of arrays, passed to compiled code as one number.

A call of a compiled function by its address copies seven numbers for each array that it passes, and a rule takes a
dozen arrays. So the engine writes once where its arrays are, and passes the address of that block. Without it the
plays are the same and the times are these (one machine, one minute, the best of five):

==================  ======  ========  =======  ==========  ==========  ======  =======================
time of a round      UCB1   Thompson   FCTS-D  OP-FCUCB-D  FairX-UCB   LinUCB  2,000 runs of 100 rounds
==================  ======  ========  =======  ==========  ==========  ======  =======================
with a block         34 ns    129 ns   293 ns      196 ns      180 ns  273 ns         0.06 to 0.12 s
arrays as arguments  54 ns    151 ns   352 ns      444 ns      470 ns  483 ns         0.53 to 0.87 s
==================  ======  ========  =======  ==========  ==========  ======  =======================

An array that is found in a block counts no references, stays the engine's, and must not be kept.
"""

from collections.abc import Callable
from functools import cache
from operator import is_, itemgetter
from typing import Any

import numpy as np
from numba import carray, float64, int64, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from fairlib.rules.jit import entry_point, helper

_NUMBERS = 4  # for each array: its address, and up to three lengths


def pack_arrays(*arrays: NDArray[Any]) -> NDArray[np.int64]:
    """Return the argument block of contiguous arrays; the caller must hold them and the block while it is used."""
    numbers: list[int] = []
    for array in arrays:
        numbers += array.ctypes.data, *array.shape, *[0] * (_NUMBERS - 1 - array.ndim)
    return np.array(numbers, np.int64)


@intrinsic
def _number(typingctx, block, i):
    """Return number i of the block at an address."""

    def build(context, builder, signature, args):
        at = builder.inttoptr(args[0], context.get_value_type(types.CPointer(types.int64)))
        return builder.load(builder.gep(at, [args[1]]))

    return types.int64(types.int64, types.int64), build


@intrinsic
def _pointer(typingctx, address):
    def build(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(types.voidptr))

    return types.voidptr(types.int64), build


@intrinsic
def _frozen(typingctx, array):
    return array.copy(readonly=True)(array), lambda context, builder, signature, args: args[0]


@helper
def float_1d(block, i):
    """Return array i of a block, float64 with one axis; for compiled code only."""
    return carray(_pointer(_number(block, 4 * i)), (_number(block, 4 * i + 1),), np.float64)


@helper
def int_1d(block, i):
    """Return array i of a block, int64 with one axis; for compiled code only."""
    return carray(_pointer(_number(block, 4 * i)), (_number(block, 4 * i + 1),), np.int64)


@helper
def float_2d(block, i):
    """Return array i of a block, float64 with two axes; for compiled code only."""
    return carray(_pointer(_number(block, 4 * i)), (_number(block, 4 * i + 1), _number(block, 4 * i + 2)), np.float64)


@helper
def int_2d(block, i):
    """Return array i of a block, int64 with two axes; for compiled code only."""
    return carray(_pointer(_number(block, 4 * i)), (_number(block, 4 * i + 1), _number(block, 4 * i + 2)), np.int64)


@helper
def float_3d(block, i):
    """Return array i of a block, float64 with three axes; for compiled code only."""
    shape = (_number(block, 4 * i + 1), _number(block, 4 * i + 2), _number(block, 4 * i + 3))
    return carray(_pointer(_number(block, 4 * i)), shape, np.float64)


@helper
def read_only(array):
    """Return an array to which Numba compiles no write; for compiled code only."""
    return _frozen(array)


def frozen(kind: Any) -> Any:
    """Return the type of an array that is only read, or of a named tuple of such."""
    if isinstance(kind, types.NamedTuple):
        return types.NamedTuple(tuple(map(frozen, kind.types)), kind.instance_class)
    return kind.copy(readonly=True)


def view(value: Any) -> Any:
    """Return an array, or a named tuple of arrays, to which plain Python can't write."""
    if isinstance(value, tuple):
        return type(value)(*map(view, value))
    seen = value.view()
    seen.flags.writeable = False
    return seen


FLOATS, TABLE, WHOLES = frozen(float64[::1]), frozen(float64[:, ::1]), frozen(int64[::1])
"""The types of what is only read: settings, and what has been seen."""


def function_at(signature: Any) -> Any:
    """Return a converter from an address to a function of a signature: Numba is slow to look up one that is passed."""
    kind = types.FunctionType(signature)

    @intrinsic
    def function(typingctx, address):
        def build(context, builder, _, args):
            made = cgutils.create_struct_proxy(kind)(context, builder)
            # Numba calls what lies at `jit_addr`, which can raise; the others are for code that is not its own.
            made.jit_addr = builder.inttoptr(args[0], made.jit_addr.type)
            made.c_addr = made.py_addr = made.jit_addr.type(None)
            return made._getvalue()

        return kind(types.int64), build

    return function


@cache  # compiled functions are kept as long as the process lives, see `BoundRule.compiled`
def code_address(compiled: Any) -> int:
    """Return where the machine code of a compiled function lies; the caller must hold the function."""
    result = next(iter(compiled.overloads.values()))
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


READERS = {
    float64[::1]: float_1d,
    int64[::1]: int_1d,
    float64[:, ::1]: float_2d,
    int64[:, ::1]: int_2d,
    float64[:, :, ::1]: float_3d,
}
"""The functions that find an array in a block, by the array's type."""


def reader(kind: Any, place: int) -> str | None:
    """Return the expression of an array in a block, or None for another kind of argument."""
    if not isinstance(kind, types.Array):
        return None
    found = f"{READERS[kind.copy(readonly=False)].__name__}(block, {place})"
    return found if kind.mutable else f"{read_only.__name__}({found})"


class BlockCall:
    """A compiled function that takes its arrays in a block, to be called from Python with the arrays themselves."""

    def __init__(self, compiled: Any) -> None:
        self.compiled = compiled
        self._entry = entry_point(compiled)
        self._arrays: Any = None
        self._last: tuple[tuple[Any, ...], Any, int] = ((), None, 0)

    def __call__(self, *given: Any) -> Any:
        """Write the block, unless the arrays are those of the call before, and call the function."""
        if self._arrays is None:
            self._look_at(given)
        if self._nested:
            given = _flat(given)
        arrays, (before, block, address) = self._arrays(given), self._last
        if block is None or not all(map(is_, arrays, before)):
            block = pack_arrays(*arrays)
            address = block.ctypes.data  # once, as asking takes longer than many a rule
            self._last = (arrays, block, address)
        return self._entry(address, *self._others(given))

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
    """Return a function that picks the arguments in some places."""
    if len(places) > 1:
        return itemgetter(*places)
    return lambda given: tuple(given[i] for i in places)
