"""Exposure by merit on arms: the regrets, the three policies against their boxes, the bounds against simulation."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import beta

import fairlib as fl
from fairlib import exposure as ex
from fairlib import merit as me

MERITS = [me.exponential(4), me.power(2, 4), me.power(100, 4), me.clipped(0.1)]
named = pytest.mark.parametrize("merit", MERITS, ids=lambda merit: merit.name)
MEANS = [0.9, 0.6, 0.55, 0.1]


def probabilities(policy, t, observed, total, rng=None):
    n, p = np.array(observed), np.zeros(len(observed))
    policy.rule(np.array(policy.params), np.zeros(policy.memory), t, n, n, np.array(total, float), rng, p)
    return p


@named
def test_both_regrets_against_a_plain_loop(merit):
    def fixed(params, state, t, selected, observed, total, rng, p):
        for a in range(p.size):
            p[a] = params[a]

    p = np.array([0.4, 0.3, 0.2, 0.1])
    game = ex.ExposureBandit(fl.bernoulli(MEANS), merit=merit)
    rounds = np.array([1, 10, 200])
    result = fl.simulate(game, fl.Policy("fixed", fixed, p), 200, runs=2, rounds=rounds)
    optimal = merit(MEANS) / merit(MEANS).sum()
    assert result.reward_regret == pytest.approx(np.tile(rounds * ((optimal - p) @ MEANS), (2, 1)))
    assert result.fairness_regret == pytest.approx(np.tile(rounds * np.abs(optimal - p).sum(), (2, 1)))


@named
def test_fairx_ucb_plays_by_the_most_favourable_means_of_its_box(merit):
    policy = ex.fairx_ucb(merit, 3, width=0.4)
    observed, total = np.array([4, 9, 25]), np.array([4.0, 3.0, 10.0])
    mean, w = total / observed, 0.4 / np.sqrt(observed)
    mu = me.optimistic_means(merit, np.clip(mean - w, 0, 1), np.clip(mean + w, 0, 1))
    assert probabilities(policy, 39, observed, total) == pytest.approx(me.fair_policy(merit, mu))
    assert probabilities(policy, 3, [1, 0, 0], [1, 0, 0]).tolist() == [0, 1, 0]


def test_more_width_is_more_optimism():
    """No box inside the box has a higher value, so that the value grows with the width."""
    merit, observed, total = me.exponential(4), np.array([4, 9, 25]), np.array([3.0, 3.0, 10.0])
    values = []
    for width in (0.0, 0.1, 0.3, 1.0):
        w = width / np.sqrt(observed)
        mu = me.optimistic_means(merit, np.clip(total / observed - w, 0, 1), np.clip(total / observed + w, 0, 1))
        values.append(me.fair_policy(merit, mu) @ mu)
    assert values == sorted(values)
    assert values[0] < values[-1]


@named
def test_fairx_eg_mixes_the_fair_policy_with_a_coin(merit):
    got = probabilities(ex.fairx_eg(merit, 0.2), 9, [4, 4], [3, 1])
    assert got == pytest.approx(0.8 * me.fair_policy(merit, [0.75, 0.25]) + 0.1)
    assert probabilities(ex.fairx_eg(merit, 0.2), 2, [1, 0], [1, 0]).tolist() == [0, 1]


def test_fairx_ts_plays_by_merit_on_average_over_the_posterior():
    merit, rng = me.exponential(3), np.random.default_rng(4)
    draws = [probabilities(ex.fairx_ts(merit), 12, [6, 5], [5, 1], rng)[0] for _ in range(20_000)]
    exact = dblquad(
        lambda y, x: beta.pdf(x, 6, 2) * beta.pdf(y, 2, 5) / (1 + math.exp(3 * (y - x))), 0, 1, 0, 1, epsabs=1e-6
    )[0]
    assert np.mean(draws) == pytest.approx(exact, abs=4 * np.std(draws) / math.sqrt(20_000))


@pytest.mark.parametrize(
    "make",
    [lambda m: ex.fairx_ucb(m, 4, 0.05), ex.fairx_ts, lambda m: ex.fairx_eg(m, 0)],
    ids=["UCB", "TS", "EG"],
)
def test_all_three_converge_to_the_optimal_fair_policy_and_ucb1_does_not(make):
    game = ex.ExposureBandit(fl.bernoulli(MEANS), merit=me.exponential(4))
    result = fl.simulate(game, make(game.merit), 100_000, runs=10, rounds=[50_000, 100_000])
    late = np.diff(result.selected, axis=1)[:, 0].mean(axis=0) / 50_000
    assert late == pytest.approx(game.optimal, abs=0.01)
    growth = np.diff(result.fairness_regret, axis=1).mean() / 50_000
    assert growth < 0.02
    unfair = fl.simulate(game, fl.ucb1(), 100_000, rounds=[50_000, 100_000])
    assert np.diff(unfair.fairness_regret).mean() / 50_000 > 0.5
    assert unfair.reward_regret[0, -1] < 0  # an unfair policy can earn more than the optimal fair one


@named
def test_the_step_from_means_to_policies(merit):
    """The heart of Theorem 3.2.1: close means have close fair policies, on average over the policy itself."""
    rng = np.random.default_rng(6)
    for _ in range(2000):
        arms = int(rng.integers(2, 8))
        truth = rng.random(arms)
        guess = np.clip(truth + rng.normal(0, rng.choice([0.01, 0.1, 0.5]), arms), 0, 1)
        p, best = me.fair_policy(merit, guess), me.fair_policy(merit, truth)
        assert np.abs(p - best).sum() <= 2 * merit.lipschitz / merit.minimum * (p @ np.abs(guess - truth)) + 1e-12


@pytest.mark.parametrize("case", range(8))
def test_the_bounds_hold_in_far_more_runs_than_they_must(case):
    rng = np.random.default_rng([9, case])
    arms, horizon, failure = int(rng.integers(2, 8)), 20_000, 0.1
    merit = [me.exponential(4), me.power(2, 4), me.clipped(0.1)][case % 3]
    game = ex.ExposureBandit(fl.bernoulli(rng.random(arms)), merit=merit)
    policy = ex.fairx_ucb(merit, arms, ex.fairx_ucb_width(arms, horizon, failure))
    result = fl.simulate(game, policy, horizon, runs=20, seed=case, rounds=[horizon])
    fairness = ex.fairx_ucb_fairness_bound(merit, arms, horizon, failure)
    reward = ex.fairx_ucb_reward_bound(arms, horizon, failure)
    assert (result.fairness_regret <= fairness).mean() >= 1 - failure
    assert (result.reward_regret <= reward).mean() >= 1 - failure
    assert reward < horizon  # this one says something at this horizon; the other does not (erratum E-F12)


def test_the_bounds_are_the_formulas():
    width = math.sqrt(2 * math.log(4 * 5000 * 3 / 0.2))
    common = width * (math.sqrt(2 * 5000 * math.log(4 / 0.2)) + 2 * math.sqrt(3 * 5000))
    assert ex.fairx_ucb_width(3, 5000, 0.2) == pytest.approx(width)
    assert ex.fairx_ucb_reward_bound(3, 5000, 0.2) == pytest.approx(6 + 2 * common)
    assert ex.fairx_ucb_fairness_bound(me.power(2, 4), 3, 5000, 0.2) == pytest.approx(6 + 4 * 8 * common)
    assert ex.fairx_ucb_reward_bound(3, [10, 5000], 0.2).shape == (2,)


def test_the_confidence_box_holds_the_means_as_often_as_it_should():
    """Lemma A.4.1, on paths that the policy itself chooses."""
    means, horizon, failure = np.array([0.7, 0.5, 0.2]), 2000, 0.1
    merit = me.exponential(2)
    width = ex.fairx_ucb_width(3, horizon, failure)
    inner = ex.fairx_ucb(merit, 3, width)
    outside = 0
    for seed in range(20):
        misses = []

        def watch(params, state, t, selected, observed, total, rng, p, misses=misses):
            if observed.min() > 0:
                misses.append((np.abs(total / observed - means) > width / np.sqrt(observed)).any())
            inner.rule(params, state, t, selected, observed, total, rng, p)

        policy = fl.Policy("watch", watch, inner.params, memory=inner.memory, interpret=True)
        fl.simulate(fl.Bandit(fl.bernoulli(means)), policy, horizon, seed=seed)
        outside += any(misses)
    assert outside / 20 <= failure / 2 + 0.1


@pytest.mark.parametrize(
    "policy",
    [
        ex.fairx_ucb(me.exponential(4), 5, 0.1),
        ex.fairx_ucb(me.power(2, 4), 5, 0.1),
        ex.fairx_ts(me.exponential(4)),
        ex.fairx_eg(me.clipped(0.1), 0.1),
    ],
    ids=["UCB-exp", "UCB-power", "TS", "EG"],
)
def test_policies_conform(policy):
    fl.check_policy(policy)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ex.ExposureBandit(fl.gaussian([0.5, 2.0]), merit=me.power(2, 4)),
            ValueError,
            r"means must be numbers in \[0, 1\]",
        ),
        (lambda: ex.ExposureBandit(fl.bernoulli([0.5]), merit="steep"), TypeError, "merit must be a Merit"),
        (
            lambda: ex.ExposureBandit(fl.bernoulli([0.5, 0.6]), plays=2, merit=me.power(2, 4)),
            ValueError,
            "plays must be 1",
        ),
        (lambda: ex.fairx_ucb(me.exponential(1), 0, 0.1), ValueError, "arms must be"),
        (lambda: ex.fairx_ucb(me.exponential(1), 2, -0.1), ValueError, "width must be"),
        (lambda: ex.fairx_ucb("exp", 2, 0.1), TypeError, "merit must be a Merit"),
        (lambda: ex.fairx_ts(me.exponential(1, 0.5, 1)), ValueError, "means must be numbers in"),
        (lambda: ex.fairx_ts(me.exponential(1), a=0), ValueError, "a must be a number above 0"),
        (lambda: ex.fairx_eg(me.exponential(1), 2), ValueError, "epsilon must be"),
        (lambda: ex.fairx_eg(None, 0.1), TypeError, "merit must be a Merit"),
        (lambda: ex.fairx_ucb_width(2, 100, 0), ValueError, "failure must be"),
        (lambda: ex.fairx_ucb_reward_bound(2, 100, 1.5), ValueError, "failure must be"),
        (lambda: ex.fairx_ucb_fairness_bound(me.exponential(1), 2, 0, 0.1), ValueError, "horizon must be"),
    ],
    ids=itertools.count(),
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
