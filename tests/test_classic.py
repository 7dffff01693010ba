"""The classic policies against hand calculations and exact enumeration, and the bounds against simulation."""

import math
from typing import Any

import numpy as np
import pytest
from helpers import probabilities
from scipy.integrate import quad
from scipy.special import zeta
from scipy.stats import beta, norm

import fairlib as fl
from fairlib.core import largest


def test_ucb1_tries_every_arm_first_and_ties_go_to_the_first():
    assert probabilities(fl.ucb1(), 3, [1, 0, 0], [1, 0, 0]).tolist() == [0, 1, 0]
    assert probabilities(fl.ucb1(), 9, [4, 4], [2, 2]).tolist() == [1, 0]
    result = fl.simulate(fl.Bandit(fl.bernoulli([0.0] * 6)), fl.ucb1(), 6, rounds=range(1, 7))
    assert np.array_equal(result.selected[0], np.tri(6))


def test_epsilon_greedy_by_hand():
    got = probabilities(fl.epsilon_greedy(0.3), 10, [4, 5, 1], [2, 4, 0])
    assert got == pytest.approx([0.1, 0.8, 0.1])


def test_thompson_sampling_plays_an_arm_as_often_as_it_is_the_best():
    rng = np.random.default_rng(12)
    policy = fl.thompson_beta()
    often = np.mean([probabilities(policy, 14, [9, 4], [6, 2], rng)[0] for _ in range(20_000)])
    exact = quad(lambda x: beta.pdf(x, 7, 4) * beta.cdf(x, 3, 3), 0, 1)[0]
    assert often == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 20_000))


def test_thompson_sampling_with_normal_rewards_plays_an_arm_as_often_as_it_is_the_best():
    rng = np.random.default_rng(13)
    policy = fl.thompson_gaussian(mean=0.5, sd=2.0, reward_sd=0.5)
    often = np.mean([probabilities(policy, 9, [3, 5], [2.4, 2.0], rng)[0] for _ in range(20_000)])
    # Posterior precision 1/4 + n/0.25, mean (0.5/4 + total/0.25) / precision.
    precision = np.array([0.25 + 12, 0.25 + 20])
    mean = (0.125 + 4 * np.array([2.4, 2.0])) / precision
    exact = norm.cdf((mean[0] - mean[1]) / math.sqrt((1 / precision).sum()))
    assert often == pytest.approx(exact, abs=4 * math.sqrt(0.25 / 20_000))


def expected_plays(policy, means, horizon):
    """Compute each arm's expected plays by going through all histories of arms that pay 0 or 1."""
    plays = np.zeros(len(means))
    histories = {(tuple([0] * len(means)), tuple([0] * len(means))): 1.0}
    for t in range(1, horizon + 1):
        following: dict[Any, float] = {}
        for (count, wins), chance in histories.items():
            for a, p in enumerate(probabilities(policy, t, count, wins)):
                plays[a] += chance * p
                for x, q in ((1, means[a]), (0, 1 - means[a])):
                    state = (
                        tuple(np.add(count, np.arange(len(means)) == a)),
                        tuple(np.add(wins, x * (np.arange(len(means)) == a))),
                    )
                    following[state] = following.get(state, 0.0) + chance * p * q
        histories = following
    return plays


@pytest.mark.parametrize("policy", [fl.ucb1(), fl.epsilon_greedy(0.2), fl.uniform()], ids=lambda policy: policy.name)
@pytest.mark.parametrize("means", [[0.8, 0.3], [0.5, 0.6, 0.2]])
def test_simulation_agrees_with_the_sum_over_all_histories(policy, means):
    horizon = 14 if len(means) == 2 else 10
    exact = expected_plays(policy, means, horizon)
    counts = fl.simulate(
        fl.Bandit(fl.bernoulli(means)), policy, horizon, runs=4000, seed=31, rounds=[horizon]
    ).selected[:, 0]
    error = counts.std(axis=0, ddof=1) / math.sqrt(4000)
    assert (np.abs(counts.mean(axis=0) - exact) <= 4.5 * error + 1e-12).all()


def test_the_bounds_are_the_formulas():
    gaps = [0.1, 0.3]
    by_hand = sum(8 * math.log(500) / gap for gap in gaps) + (1 + math.pi**2 / 3) * sum(gaps)
    assert fl.ucb1_bound(fl.Bandit(fl.bernoulli([0.6, 0.9, 0.8])), 500) == pytest.approx(by_hand)
    assert fl.ucb1_bound(fl.Bandit(fl.bernoulli([0.5, 0.5])), [10, 100]).tolist() == [0, 0]
    worst = 2 * math.sqrt(2 * 3 * 500 * math.log(500)) + float(zeta(3)) * 3
    assert fl.ucb1_worst_case_bound(3, 500) == pytest.approx(worst)


def test_an_index_of_zero_for_an_untried_arm_costs_what_the_book_says():
    """Erratum E-P4: with the printed index, regret is linear."""

    def printed(seen, p):
        width = 2 * math.log(seen.t)
        for a in range(p.size):
            n = seen.observed[a]
            p[a] = seen.total[a] / n + math.sqrt(width / n) if n > 0 else 0.0
        return largest(p)

    game = fl.Bandit(fl.bernoulli([0.3, 0.9]))
    assert fl.simulate(game, fl.Policy("printed", printed), 10_000, runs=20).regret[:, -1] == pytest.approx(6000)
    assert fl.simulate(game, fl.ucb1(), 10_000, runs=20).regret[:, -1].max() < 100
