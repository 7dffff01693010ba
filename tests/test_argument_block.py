"""Argument blocks: arrays arrive in compiled code as they are, whatever their axes, and nothing keeps them."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from helpers import same
from numba import float64, int64, njit

import fairlib as fl
from fairlib.core import Seen
from fairlib.engine import runner
from fairlib.rules.argument_block import BlockCall, float_1d, float_2d, float_3d, int_1d, int_2d, pack_arrays

RNG = np.random.default_rng(0)
ARRAYS = {
    "a list": RNG.normal(size=7),
    "whole numbers": RNG.integers(-(2**62), 2**62, 5),
    "a table": RNG.normal(size=(3, 4)),
    "a table of whole numbers": RNG.integers(-(2**62), 2**62, (4, 3)),
    "a block": RNG.normal(size=(2, 3, 4)),
    "odd numbers": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]),
    "one number": np.array([3.5]),
    "no number": np.zeros(0),
    "no whole number": np.zeros(0, np.int64),
    "no row": np.zeros((0, 3)),
    "rows of nothing": np.zeros((3, 0)),
    "an empty block": np.zeros((0, 2, 3)),
}
EVERY = list(ARRAYS.values())
FIND = {"d1": float_1d, "l1": int_1d, "d2": float_2d, "l2": int_2d, "d3": float_3d}


def finder(array):
    return FIND[f"{array.dtype.char}{array.ndim}"]


@njit
def copied(find, block, place):
    return find(block, place).copy()


@njit
def scribbled(find, block, place):
    array = find(block, place)
    for i in range(array.size):
        array.flat[i] = i + 1
    return array.size


def find_with(array):
    return njit(finder(array))


@pytest.mark.parametrize("place", range(len(ARRAYS)), ids=list(ARRAYS))
def test_an_array_arrives_unchanged_from_its_place(place):
    """All kinds lie in one block, so that a length that is read from a neighbour's place would be seen."""
    given = EVERY[place]
    before, block = given.copy(), pack_arrays(*EVERY)
    got = copied(find_with(given), block.ctypes.data, place)
    assert got.dtype == given.dtype
    assert got.shape == given.shape
    assert got.tobytes() == before.tobytes() == given.tobytes()


@pytest.mark.parametrize("place", range(len(ARRAYS)), ids=list(ARRAYS))
def test_what_compiled_code_writes_is_in_the_array_and_in_no_other(place):
    arrays = [each.copy() for each in EVERY]
    block = pack_arrays(*arrays)
    assert scribbled(find_with(arrays[place]), block.ctypes.data, place) == arrays[place].size
    for i, (now, before) in enumerate(zip(arrays, EVERY, strict=True)):
        expected = np.arange(1, now.size + 1).reshape(now.shape) if i == place else before
        assert np.array_equal(now, expected, equal_nan=now.dtype == np.float64)


def test_calls_from_python_hold_the_arrays_of_the_last_one_and_no_others():
    """The block is written again only if the arrays are others, so that these must not go in between."""

    def first(block):
        return float_1d(block, 0)[0]

    call, before = BlockCall(njit(float64(int64))(first)), None
    for value in range(20):  # new arrays, of which some lie where others were
        array = np.full(3, float(value))
        held = weakref.ref(array)
        assert call(array) == value
        del array
        gc.collect()
        assert held() is not None
        assert before is None or before() is None
        before = held


@pytest.mark.parametrize("runs", [1, 8])
@pytest.mark.parametrize(
    ("game", "policy"),
    [
        (fl.Bandit(fl.bernoulli([0.9, 0.5, 0.2]), delay=fl.Delay(lambda: 2)), fl.thompson_beta()),
        (fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8])), fl.linear.oful(1.0, 1.0, 0.1)),
    ],
    ids=["arms", "contexts"],
)
def test_a_game_leaves_no_array_behind(game, policy, runs, monkeypatch):
    """Runs in threads use blocks of their own, and all that was in them is gone when the game is over."""
    lay: list[Any] = []

    def noting(*arrays):
        lay.extend(map(weakref.ref, arrays))
        return pack_arrays(*arrays)

    monkeypatch.setattr(runner, "pack_arrays", noting)
    result = fl.simulate(game, policy, 200, runs=runs, seed=3)
    gc.collect()
    assert len(lay) > 10
    assert all(each() is None for each in lay)
    monkeypatch.undo()
    assert same(result, fl.simulate(game, policy, 200, runs=runs, seed=3))


def test_a_block_call_takes_tuples_apart_and_passes_on_what_is_no_array():
    def flat(block, t, scale):
        return t * scale * float_1d(block, 0)[1] + int_2d(block, 1)[1, 0]

    compiled = njit(float64(int64, int64, float64))(flat)
    pair = Seen(0, np.array([[1, 2], [3, 4]]), np.zeros(0, np.int64), np.zeros(0))
    assert BlockCall(compiled)(np.array([1.0, 0.5]), 3, (pair.selected, pair.observed), 2.0) == 6.0
