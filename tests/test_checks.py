"""Arguments that are declared in annotations: what the decorator keeps, converts and refuses."""

# Arguments of the wrong type are what it is about.
# mypy: ignore-errors

import inspect
import pickle
import warnings
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

import fairlib as fl
from fairlib import checks, exposure, shares
from fairlib.merit import Merit, exponential


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


def test_constraints_are_those_of_the_annotations():
    found = checks.constraints(own)
    assert list(found) == ["first", "means", "merit"]
    assert (found["first"].low, found["means"].high) == (1, 1)
    assert isinstance(found["merit"], checks.Optional)
    assert found["merit"].inner.kind is Merit


def test_two_equal_annotations_keep_an_example_each():
    one, other = (Annotated[int, checks.Integer(1, example=each)] | None for each in (2, 3))

    def function(one: one, other: other) -> None: ...

    assert [each.inner.example for each in checks.constraints(function).values()] == [2, 3]


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
