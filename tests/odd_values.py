"""Odd values: the fuzz test replaces each argument in turn by one of them."""

import array
import datetime
import math
from collections import deque
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd

import fairlib as fl
from fairlib.baselines.linear import at_random
from fairlib.book import Slider
from fairlib.core import sphere
from fairlib.delays import fixed
from fairlib.merit import power


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
    "-10**5000": lambda: -(10**5000),
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
    "Fraction(10**400)": lambda: Fraction(10**400),
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
    "long texts": lambda: ["a long text"] * 1000,
    "[Decimal]": lambda: [Decimal("0.5")],
    "[masked]": lambda: [0.5, np.ma.masked],
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
    "timedelta array": lambda: np.array([3], "timedelta64[D]"),
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
    "ContextPolicy": at_random,
    "Arms": lambda: fl.bernoulli([0.5, 0.25]),
    "Delay": lambda: fixed([1, 2]),
    "Bandit": lambda: fl.Bandit(fl.bernoulli([0.5, 0.25])),
    "ContextBandit": lambda: fl.ContextBandit(sphere(2, [0.6, 0.8])),
    "Slider": lambda: Slider("Number", [1, 2]),
    "Estimate": lambda: fl.Estimate(0.5, 0.1),
}
