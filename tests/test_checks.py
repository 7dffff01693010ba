"""Arguments: what a constraint takes, what it refuses by name, and what the decorator does with it."""

# Arguments of the wrong type are what it is about.
# mypy: ignore-errors

import array
import datetime
import inspect
import math
import numbers
import pathlib
import pickle
import warnings
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import ArrayLike

import fairlib as fl
from fairlib import checks, exposure, shares
from fairlib.merit import Merit, exponential

ENDS = [0, 1, 2, 5, 1e-75, 1e75, 1e150, 2**53]
near = st.sampled_from([each for end in ENDS for each in (end, -end, end - 1, math.nextafter(end, 9e9), end + 0.5)])
number = st.one_of(
    near,
    st.integers(),
    st.floats(),
    st.fractions(),
    st.sampled_from([10**400, 10**5000, -(10**5000), Fraction(10**400), math.nan, math.inf, -math.inf, 2**63, 2**64]),
    st.sampled_from(
        [np.int8(2), np.uint8(200), np.uint64(2**63), np.float16(0.5), np.float32(0.1), np.longdouble("0.1")]
    ),
)
ODD = [
    *(None, True, np.True_, 1j, Decimal("0.5"), ..., object(), int, print, math, {0: 0.2}, {0.2, 0.3}, np.ma.masked),
    *("0.5", "", " ", "a\0b", "\udc80", np.str_("1"), b"1", bytearray(b"1"), memoryview(b"1"), pathlib.Path("here")),
    *(np.datetime64("2020-01-01"), np.timedelta64(3, "D"), datetime.date(2020, 1, 1), fl.ucb1(), exponential(2)),
    *(np.array(["0.2"]), np.array([True]), np.array([3], "timedelta64[D]"), np.zeros(2, [("a", float)])),
    *(pd.NaT, pd.NA, pd.Timestamp(0), np.datetime64("NaT"), pd.Series([pd.NaT]), [Decimal("0.2"), 0.3]),
    *(np.ma.array([0.2, 0.3], mask=[True, False]), pd.DataFrame({"a": [True]}), [True, 0.3], ["0.2"], [None, 0.3]),
]
kinds = st.sampled_from([np.float64, np.float32, np.int8, np.uint8, np.int64, np.uint64, np.dtype(">f8")])
several = st.one_of(
    st.lists(number, max_size=3),
    st.lists(st.lists(number, max_size=2), max_size=2),
    st.lists(st.one_of(number, st.sampled_from(ODD)), max_size=3),
    kinds.flatmap(lambda kind: hnp.arrays(kind, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=2))),
    st.lists(st.floats(0, 1), min_size=1, max_size=3).map(pd.Series),
    st.lists(st.floats(0, 1), min_size=1, max_size=3).map(lambda each: array.array("d", each)),
    st.lists(st.floats(0, 1), min_size=1, max_size=3).map(iter),
)


def is_number(value: Any) -> bool:
    """Say whether it is a number that a person would give: no truth value, no span of time, no text."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_ | np.timedelta64)


def plain(value: Any) -> Any:
    """Return the array of floats that a value stands for; None if it stands for none."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        return None
    if isinstance(value, np.ndarray | pd.Series):
        return np.asarray(value, np.float64) if value.dtype.kind in "iuf" else None
    if isinstance(value, list | tuple):
        parts = [plain(each) for each in value]
        if any(each is None for each in parts) or len({each.shape for each in parts}) > 1:
            return None
        return np.array(parts, np.float64)
    if isinstance(value, array.array):
        return np.array(value, np.float64)
    try:
        return np.float64(value) if is_number(value) else None
    except OverflowError:
        return np.float64(math.inf)


def in_range(low: float, high: float, *, above: float = -math.inf, below: float = math.inf) -> Any:
    high = 1e150 if high == math.inf else high
    return lambda x: (
        x is not None and bool(((low <= x) & (x <= high) & (above < x) & (x < below) & (x >= -1e150)).all())
    )


def one(fits: Any) -> Any:
    return lambda value: is_number(value) and fits(plain(value))


def whole(low: int, high: float) -> Any:
    return lambda value: is_number(value) and isinstance(value, numbers.Integral) and low <= int(value) <= high


def many(axes: int | None, fits: Any) -> Any:
    def judge(value: Any) -> bool:
        x = plain(value)
        return x is not None and (axes is None or (x.ndim == axes and x.size > 0)) and fits(x)

    return judge


def text(value: Any) -> bool:
    return isinstance(value, str)


CONSTRAINTS = {
    "Integer(1)": (checks.Integer(1), whole(1, 2**53)),
    "Integer(2, 5)": (checks.Integer(2, 5), whole(2, 5)),
    "Seed": (checks.Integer(0, None), whole(0, math.inf)),
    "Real()": (checks.Real(), one(in_range(-math.inf, math.inf))),
    "Real(0, 1)": (checks.Real(0, 1), one(in_range(0, 1))),
    "Real(0)": (checks.Real(0), one(in_range(0, math.inf))),
    "Real(above=0)": (checks.Real(above=0), one(in_range(-math.inf, math.inf, above=0))),
    "Real(0, infinity)": (
        checks.Real(0, infinity=True),
        lambda value: one(in_range(0, math.inf))(value) or (isinstance(value, float) and value == math.inf),
    ),
    "scale": (checks.Constraint(checks.scale), one(in_range(1e-75, 1e75))),
    "probability": (checks.Constraint(checks.probability), one(in_range(1e-75, 1, below=1))),
    "Numbers(0, 1)": (checks.Numbers(0, 1), many(1, in_range(0, 1))),
    "Numbers(0, 1, above=0)": (checks.Numbers(0, 1, above=0), many(1, in_range(0, 1, above=0))),
    "Table()": (checks.Table(), many(None, in_range(-math.inf, math.inf))),
    "Table(2)": (checks.Table(2), many(2, in_range(-math.inf, math.inf))),
    "Flag()": (checks.Flag(), lambda value: isinstance(value, bool | np.bool_)),
    "Text()": (checks.Text(), text),
    "Text(empty=False)": (checks.Text(empty=False), lambda value: text(value) and bool(value.strip())),
    "Choice": (checks.Choice(("0.5", "1")), lambda value: text(value) and value in ("0.5", "1")),
    "Function()": (checks.Function(), callable),
    "Instance": (checks.Instance(Merit, "a Merit"), lambda value: isinstance(value, Merit)),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_takes_what_fits_and_refuses_all_else_by_name(name):
    allowed, fits = CONSTRAINTS[name]

    def judge(value):
        if fits(value):
            taken = allowed("share", value)
            number = plain(value)
            assert taken is value or taken == value if number is None else np.array_equal(plain(taken), number)
            return
        with pytest.raises((TypeError, ValueError)) as refused:
            allowed("share", value)
        said = str(refused.value)
        assert said.startswith("share must be ")
        assert ", not " in said or " not of shape " in said
        assert len(said) < 400
        assert "\n" not in said

    for value in [*ODD, 1, 0.5, [0.25, 0.5], [[0.25], [0.5]]]:
        judge(value)
    given(st.one_of(number, several))(judge)()


@checks.checked
def own(
    first: checks.PositiveInt, *, means: Annotated[ArrayLike, checks.Numbers(0, 1)] = (0.5,), merit: Merit | None = None
) -> list[Any]:
    """Return what arrives in the body."""
    return [first, means, merit]


def test_the_body_gets_plain_values_by_place_and_by_name():
    merit = exponential(2)
    found, means, same = own(np.int8(2), means=[0.25, 1], merit=merit)
    assert type(found) is int
    assert isinstance(means, np.ndarray)
    assert means.tolist() == [0.25, 1.0]
    assert same is merit
    assert type(own(first=np.uint8(3))[0]) is int
    assert own(1)[1:] == [(0.5,), None]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: own(0), ValueError, "^first must be a whole number of at least 1, not 0$"),
        (lambda: own(1, means=[2]), ValueError, r"^means must be numbers in \[0, 1\], not 2.0 \(arm 0\)$"),
        (lambda: own(1, merit=3), TypeError, r"^merit must be a Merit, such as exponential\(2\), not 3$"),
        (lambda: own(), TypeError, r"^own\(\) missing 1 required positional argument: 'first'$"),
        (lambda: own(1, 2), TypeError, r"^own\(\) takes 1 positional argument but 2 were given$"),
        (lambda: own(1, second=2), TypeError, r"^own\(\) got an unexpected keyword argument 'second'$"),
    ],
)
def test_what_does_not_fit_is_refused_as_by_the_function_itself(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_name_docstring_signature_and_pickle_are_those_of_the_function():
    assert (own.__name__, own.__module__, own.__doc__) == ("own", __name__, "Return what arrives in the body.")
    assert list(inspect.signature(own).parameters) == ["first", "means", "merit"]
    assert pickle.loads(pickle.dumps(fl.epsilon_greedy)) is fl.epsilon_greedy
    assert inspect.getsource(own).startswith("@checks.checked\ndef own(")


def test_what_is_checked_once_may_be_checked_again():
    """One bound hands its arguments to another, and a game its fields to its copy."""
    game = shares.SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    assert replace(game, tolerance=2).tolerance == 2.0
    assert shares.t_fair_ucb_bound(game, [10, 100]).tolist() == shares.fair_ucb_bound(game, [10, 100]).tolist()
    assert exposure.fairx_linucb_reward_bound(2, np.int8(100), failure=0.1) > 0


def test_fields_of_a_subclass_are_checked_by_the_base():
    @dataclass(frozen=True, eq=False, repr=False)
    class Own(fl.Bandit):
        weight: checks.UnitInterval = 0.5

    assert Own(fl.bernoulli([0.5]), weight=np.float32(0.25)).weight == 0.25
    with pytest.raises(ValueError, match=r"^weight must be a number in \[0, 1\], not 2$"):
        Own(fl.bernoulli([0.5]), weight=2)
    with pytest.raises(TypeError, match=r"^arms must be Arms, such as bernoulli\("):
        Own([0.5])


def test_warnings_point_at_the_call():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shares.fair_learn(fl.ucb1(), [0.3, 0.3, 0.3], 0.5)
    assert [each.filename for each in caught] == [__file__]
