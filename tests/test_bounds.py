"""What all bounds have in common: how they are called, and what they return."""

# Numbers of NumPy are among what it is about.
# mypy: disable-error-code="arg-type"

import dataclasses
import inspect
import itertools
import math
import warnings
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from helpers import public
from scipy.special import zeta

import fairlib as fl
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import ranks as rk
from fairlib import shares as sh
from fairlib.core import sphere
from fairlib.merit import exponential, power


class Arguments(NamedTuple):
    """How a bound is called in a test: what it depends on, and what else it takes, by name."""

    first: dict[str, Any]
    more: Mapping[str, Any] = MappingProxyType({})
    falls: bool = False
    """Whether it may fall with the horizon: it subtracts what the arms are owed."""


PEOPLE = rk.constants(rk.mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10))


FUNCTIONS = {name: each for name, each in public().items() if name.endswith("_bound")}
FALLING = {"fair_ucb_bound", "t_fair_ucb_bound"}  # they subtract what the arms are owed, which rises with the horizon


ARMS = fl.bernoulli([0.5, 0.25])
GAMES = {
    fl.Bandit: fl.Bandit(ARMS),
    sh.SharedBandit: sh.SharedBandit(ARMS, shares=[0.25, 0.125]),
    ex.ExposureBandit: ex.ExposureBandit(ARMS, merit=exponential(2)),
    ex.ContextExposureBandit: ex.ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2)),
    de.SemiBandit: de.SemiBandit(ARMS, merit=exponential(2), delay=de.geometric([0.5, 0.25])),
    rk.Constants: PEOPLE,
}
EXAMPLES = {
    **{"merit": exponential(2), "means": [0.5, 0.0], "ratio": 0.5, "share": 0.1, "alpha": 0.5, "failure": 0.1},
    **{"q": 0.5, "arms": 2, "dimension": 2, "noise": 0.5, "norm": 0.5, "ridge": 1.0, "plays": 1, "sd": 0.5},
}


def arguments(name: str) -> Arguments:
    """Return what a bound depends on and what else it takes: an example where there is no default."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    given = {
        each: GAMES[p.annotation] if each == "game" else EXAMPLES[each] if p.default is p.empty else p.default
        for each, p in parameters.items()
        if each != "horizon"
    }
    before = list(parameters).index("horizon")
    first = {each: given[each] for each in list(given)[:before]}
    return Arguments(first, {each: given[each] for each in given if each not in first}, name in FALLING)


BOUNDS = {name: arguments(name) for name in FUNCTIONS}
every = pytest.mark.parametrize("name", BOUNDS)


def call(name: str, horizon: Any = 1000, **changed: Any) -> Any:
    """Return a bound, with some of its arguments changed."""
    bound = BOUNDS[name]
    given = {**bound.first, "horizon": horizon, **bound.more, **changed}
    first = [given.pop(each) for each in (*bound.first, "horizon")]
    return FUNCTIONS[name](*first, **given)


MERIT = ["merit", "arms"], ["means"]  # of upper merit, whose games differ in kind, and of merit equal to the mean


@every
def test_first_stands_what_it_depends_on_then_the_horizon_and_all_else_goes_by_name(name):
    bound, parameters = BOUNDS[name], inspect.signature(FUNCTIONS[name]).parameters
    assert list(parameters) == [*bound.first, "horizon", *bound.more]
    kinds = {each: parameter.kind for each, parameter in parameters.items()}
    assert all(kinds[each] is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in (*bound.first, "horizon"))
    assert all(kinds[each] is inspect.Parameter.KEYWORD_ONLY for each in bound.more)
    assert list(bound.first) in (["game"], ["arms"], ["dimension"], ["arms", "dimension"], ["ratio"], *MERIT)


@every
def test_a_number_gives_a_float_and_many_an_array_of_their_shape(name):
    horizons = [[10, 1000, 10**5], [10**6, 10**9, 10**18]]
    many = call(name, horizons)
    assert type(many) is np.ndarray
    assert many.dtype == np.float64
    assert many.shape == (2, 3)
    assert np.isfinite(many).all()
    assert (many >= 0).all()
    alone = [call(name, horizon) for horizon in itertools.chain(*horizons)]
    assert {type(each) for each in alone} == {np.float64}
    assert alone == pytest.approx(many.ravel().tolist(), rel=1e-14)
    assert (
        call(name, np.array(horizons)).tolist() == call(name, np.array(horizons, np.uint64)).tolist() == many.tolist()
    )
    assert call(name, range(10, 13)).shape == (3,)
    assert call(name, [10]).shape == (1,)


@every
def test_it_grows_with_the_horizon_and_with_certainty(name):
    rising = call(name, np.geomspace(10, 1e15, 200).astype(np.int64))
    assert (np.diff(rising) > 0).all() or BOUNDS[name].falls
    if "failure" in BOUNDS[name].more:
        assert call(name, failure=0.01) > call(name, failure=0.1) > call(name, failure=0.9)


@every
def test_numpy_s_integers_are_integers(name):
    for kind in (np.int8, np.uint8, np.int16, np.uint64):
        assert call(name, kind(100)) == call(name, np.array([100], kind))[0] == call(name, 100)


def test_the_share_of_candidates_is_looked_at_where_it_does_not_count():
    fixed = dataclasses.replace(PEOPLE, by_chance=False)
    for name in ("fair_greedy_bound", "fair_greedy_log_bound", "printed_bound"):
        assert call(name, game=fixed, alpha=0.2) == call(name, game=fixed, alpha=0.8)
        with pytest.raises(ValueError, match=r"^alpha must be a number in "):
            call(name, game=fixed, alpha=1)


@pytest.mark.parametrize(
    ("name", "game"),
    [
        ("ucb1_bound", fl.Bandit(fl.bernoulli([0.9, 0.5]), delay=de.fixed([3, 3]))),
        ("fair_ucb_bound", sh.SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.1, 0.1], delay=de.fixed([3, 3]))),
        ("fairx_ucb_fairness_bound", ex.ExposureBandit(fl.bernoulli([0.9]), merit=power(1, 1), delay=de.fixed([3]))),
    ],
)
def test_a_bound_for_what_is_seen_at_once_refuses_a_delay(name, game):
    with pytest.raises(ValueError, match="game must have no delay, as the bound is for rewards that are seen at once"):
        call(name, game=game)


def test_horizons_too_large_for_an_integer_are_horizons():
    k, t = 3, 10**30
    expected = 2 * math.sqrt(2 * k * t * math.log(t)) + float(zeta(3)) * k
    assert fl.ucb1_worst_case_bound(k, t) == pytest.approx(expected)
    assert ex.fairx_ucb_reward_bound(200, 10**18, failure=0.1) > ex.fairx_ucb_reward_bound(200, 10**17, failure=0.1)


def test_one_arm_and_one_round_is_too_little_for_a_bound_on_thompson_sampling():
    single = ex.ExposureBandit(fl.gaussian([0.5]), merit=exponential(1))
    placed = ex.ContextExposureBandit(sphere(1, [0.6, 0.8]), merit=exponential(1, -1, 1))
    assert ex.fairx_ts_reward_bound(1, [1, 2])[0] == ex.fairx_ts_fairness_bound(single, 1) == math.inf
    assert ex.fairx_lints_reward_bound(1, 2, [1, 2])[0] == ex.fairx_lints_fairness_bound(placed, 1) == math.inf
    assert np.isfinite([ex.fairx_ts_fairness_bound(single, 2), ex.fairx_lints_fairness_bound(placed, 2)]).all()


@pytest.mark.parametrize(
    ("function", "first", "more"),
    [
        (ex.fairx_ucb_width, {"arms": 200, "horizon": 1000}, {"failure": 0.1}),
        (ex.linucb_radius, {"dimension": 200, "horizon": 1000}, {"failure": 0.1, "norm": 1.0}),
        (ex.total_width, {"dimension": 200, "horizon": 1000}, {}),
        (rk.rank_error, {"groups": 200, "t": 100}, {"horizon": 1000, "failure": 0.1, "candidates": 1.0}),
        (rk.counted_from, {"game": PEOPLE, "horizon": 1000}, {"failure": 0.1, "alpha": 0.5}),
        (rk.estimate_radius, {"game": PEOPLE, "t": 100}, {"failure": 0.1, "ridge": 0.1, "noise": 1e-3}),
        (rk.least_exploration, {"game": PEOPLE, "error": 0.0}, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_bounds_are_made_of_is_called_in_the_same_way(function, first, more):
    parameters = inspect.signature(function).parameters
    assert list(parameters) == [*first, *more]
    assert all((each in more) is (parameters[each].kind is inspect.Parameter.KEYWORD_ONLY) for each in parameters)
    plain = function(**first, **more)
    assert isinstance(plain, float)
    for each in {"arms", "dimension", "groups"} & set(first):
        assert function(**{**first, each: np.uint8(200)}, **more) == plain


def test_constants_keep_numbers_and_not_what_was_given():
    fields = {"arms": np.uint8(200), "groups": np.uint8(4), "dimension": np.int8(100), "length": np.float32(2)}
    more = {"norm": 1, "sd": 1, "density": 1, "eigenvalue": np.float16(0.5)}
    small, plain = rk.Constants(**fields, **more), rk.Constants(200, 4, 100, 2.0, 1.0, 1.0, 1.0, 0.5)
    assert small == plain
    assert {type(each) for each in vars(small).values()} == {int, float, bool}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rk.printed_bound(small, 500, failure=0.1) == rk.printed_bound(plain, 500, failure=0.1)


def test_games_keep_numbers_and_not_what_was_given():
    game = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.2]), plays=np.uint8(2))
    assert (type(game.plays), game.best_reward) == (int, 1.4)
    shared = sh.SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.1, 0.1], tolerance=np.uint8(2))
    assert type(shared.tolerance) is float
