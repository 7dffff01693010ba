"""What all bounds have in common: how they are called, and what they return."""

# Numbers of NumPy are among what it is about.
# mypy: disable-error-code="arg-type"

import dataclasses
import inspect
import itertools
import math
from typing import Any

import numpy as np
import pytest
import zoo
from helpers import public

import fairlib as fl
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import ranks as rk
from fairlib import shares as sh
from fairlib.core import sphere
from fairlib.merit import exponential, power

PEOPLE = rk.constants(rk.mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10))


FUNCTIONS = {name: each for name, each in public().items() if name.endswith("_bound")}
FALLING = {"fair_ucb_bound", "t_fair_ucb_bound"}  # they subtract what the arms are owed, which rises with the horizon


GAMES: dict[type, Any] = {rk.Constants: PEOPLE}
for game in map(zoo.game, zoo.GAMES):
    GAMES.setdefault(type(game), game)
EXAMPLES = {
    **{"merit": exponential(2), "means": [0.5, 0.0], "ratio": 0.5, "share": 0.1, "alpha": 0.5, "failure": 0.1},
    **{"q": 0.5, "arms": 2, "dimension": 2, "noise": 0.5, "norm": 0.5, "ridge": 1.0, "plays": 1, "sd": 0.5},
}


def arguments(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a bound depends on and what else it takes: an example where there is no default."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    given = {
        each: GAMES[p.annotation] if each == "game" else EXAMPLES[each] if p.default is p.empty else p.default
        for each, p in parameters.items()
        if each != "horizon"
    }
    before = list(given)[: list(parameters).index("horizon")]
    return {each: given.pop(each) for each in before}, given


every = pytest.mark.parametrize("name", FUNCTIONS)


def call(name: str, horizon: Any = 1000, **changed: Any) -> Any:
    """Return a bound, with some of its arguments changed."""
    first, more = arguments(name)
    given = {**first, "horizon": horizon, **more, **changed}
    by_place = [given.pop(each) for each in (*first, "horizon")]
    return FUNCTIONS[name](*by_place, **given)


@every
def test_all_that_follows_the_horizon_goes_by_name(name):
    first, more = arguments(name)
    kinds = {each: parameter.kind for each, parameter in inspect.signature(FUNCTIONS[name]).parameters.items()}
    assert all(kinds[each] is inspect.Parameter.POSITIONAL_OR_KEYWORD for each in (*first, "horizon"))
    assert all(kinds[each] is inspect.Parameter.KEYWORD_ONLY for each in more)


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
    assert (np.diff(rising) > 0).all() or name in FALLING
    if "failure" in arguments(name)[1]:
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


def test_one_arm_and_one_round_is_too_little_for_a_bound_on_thompson_sampling():
    single = ex.ExposureBandit(fl.gaussian([0.5]), merit=exponential(1))
    placed = ex.ContextExposureBandit(sphere(1, [0.6, 0.8]), merit=exponential(1, -1, 1))
    assert ex.fairx_ts_reward_bound(1, [1, 2])[0] == ex.fairx_ts_fairness_bound(single, 1) == math.inf
    assert ex.fairx_lints_reward_bound(1, 2, [1, 2])[0] == ex.fairx_lints_fairness_bound(placed, 1) == math.inf
    assert np.isfinite([ex.fairx_ts_fairness_bound(single, 2), ex.fairx_lints_fairness_bound(placed, 2)]).all()
