"""Exposure by merit on arms: the regrets, the three policies against their boxes, the bounds against simulation."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import itertools
import math

import numpy as np
import pytest
from helpers import probabilities
from scipy.integrate import dblquad
from scipy.stats import beta, norm

import fairlib as fl
from fairlib import exposure as ex
from fairlib import merit as me

MERITS = [me.exponential(4), me.power(2, 4), me.power(100, 4), me.clipped(0.1)]
named = pytest.mark.parametrize("merit", MERITS, ids=lambda merit: merit.name)
MEANS = [0.9, 0.6, 0.55, 0.1]


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


def test_the_bounds_are_the_formulas():
    width = math.sqrt(2 * math.log(4 * 5000 * 3 / 0.2))
    common = width * (math.sqrt(2 * 5000 * math.log(4 / 0.2)) + 2 * math.sqrt(3 * 5000))
    assert ex.fairx_ucb_width(3, 5000, failure=0.2) == pytest.approx(width)
    assert ex.fairx_ucb_reward_bound(3, 5000, failure=0.2) == pytest.approx(6 + 2 * common)
    for merit, steepness in ((me.power(2, 4), 8), (me.clipped(0.25), 4)):
        game = ex.ExposureBandit(fl.bernoulli([0.9, 0.5, 0.1]), merit=merit)
        bound = ex.fairx_ucb_fairness_bound(game, 5000, failure=0.2)
        assert bound == pytest.approx(6 + 4 * steepness * common)


def test_the_lower_bound_is_two_games_that_look_alike():
    """From the games themselves: a quarter of what sets their fair policies apart, times exp(-divergence)."""
    for horizon in (4, 100, 12_345):
        pairs = [(math.sqrt(horizon), ex.games_of_low_merit(horizon))]
        pairs += [(ratio, ex.games_of_steep_merit(horizon, ratio)) for ratio in (0.3, 2.0, math.sqrt(horizon), 1e6)]
        for ratio, (first, second) in pairs:
            assert first.merit is second.merit
            assert first.merit.lipschitz / first.merit.minimum == pytest.approx(ratio)
            apart = np.abs(first.arms.means - second.arms.means)
            assert apart[1] == 0  # the second arm tells nothing
            assert (first.arms.settings["sd"] ** 2).tolist() == pytest.approx([0.5, 0.5])
            divergence = horizon * apart[0] ** 2 / (2 * 0.5)
            difference = abs(first.optimal - second.optimal)[0]
            expected = horizon * difference / 4 * math.exp(-divergence)
            assert ex.fairness_lower_bound(ratio, horizon) == pytest.approx(expected)
    assert ex.fairness_lower_bound(100, 10_000) == pytest.approx(10_000 / (24 * math.e))
    for ratio in (1, 2, 30):
        assert ex.fairness_lower_bound(ratio, 900) >= ratio * 30 / (24 * math.e) - 1e-9


def exact_test(theta, tau, sd, horizon):
    """Return what every learner loses in one of the two games of `thm-two-games`."""
    return 2 * tau * norm.cdf(-theta * np.sqrt(np.arange(horizon)) / (2 * sd)).sum()


def test_what_two_games_have_in_common_by_integration():
    """The integral of the smaller density of all that was seen, without its reduction to one sum."""
    theta, sd = 0.6, 0.7
    axis = np.linspace(-4, 4, 81)
    one, two = norm.pdf(axis, theta / 2, sd), norm.pdf(axis, -theta / 2, sd)
    first = second = np.ones(())
    for rounds in (1, 2, 3):
        first, second = np.multiply.outer(first, one), np.multiply.outer(second, two)
        smaller = np.minimum(first, second).sum() * (axis[1] - axis[0]) ** rounds
        assert smaller == pytest.approx(2 * norm.cdf(-theta * math.sqrt(rounds) / (2 * sd)), abs=2e-3)


def test_one_merit_function_is_hard_at_every_horizon():
    """Both halves of `thm-fairness-lower`, with the means of its proof."""
    for steep, sd, horizon in itertools.product((0.1, 1.0, 20.0, 1e4), (0.05, 0.7, 3.0), (1, 2, 17, 400, 50_000)):
        theta = min(2.5 * sd / math.sqrt(horizon), 1 / steep)
        got = exact_test(theta, steep * theta / (2 + steep * theta), sd, horizon)
        assert got >= min(0.35 * sd * steep * math.sqrt(horizon), 0.14 * horizon)
    for horizon in (1, 100, 10_000):
        x = 1e-6
        assert exact_test(x - x**2, (1 - x) / (1 + x), 0.5, horizon) > 0.999 * horizon


def test_a_constant_merit_is_played_without_regret():
    """Erratum E-F13: the order of the reward bound is not that of every merit function."""

    def same(x):
        return 1.0 + 0.0 * x

    merit = me.Merit("same", same, low=0.0, high=1.0, minimum=1.0, lipschitz=0.0, log_lipschitz=0.0)
    result = fl.simulate(ex.ExposureBandit(fl.bernoulli(MEANS), merit=merit), fl.uniform(), 1000)
    assert np.abs(result.reward_regret).max() < 1e-9
    assert np.abs(result.fairness_regret).max() < 1e-9


def test_projected_gradient_follows_the_slope_and_stays_short():
    rng, short = np.random.default_rng(3), []
    for _ in range(200):
        c, observed = rng.uniform(1, 8), rng.integers(1, 40, 5)
        merit, total = me.exponential(c), np.array([rng.binomial(n, 0.5) for n in observed], float)
        mean, w = total / observed, 0.5 / np.sqrt(observed)
        low, high = np.clip(mean - w, 0, 1), np.clip(mean + w, 0, 1)

        def earned(mu, merit=merit):
            return me.fair_policy(merit, mu) @ mu

        mu = mean.copy()
        for _ in range(10):
            h = 1e-6
            inside = np.clip(mu, 2 * h, 1 - 2 * h)
            slope = [(earned(inside + h * e) - earned(inside - h * e)) / (2 * h) for e in np.eye(5)]
            mu = np.clip(mu + 0.01 * np.array(slope), low, high)
        p = probabilities(ex.fairx_ucb_gradient(merit, 0.5), 99, observed, total)
        assert p == pytest.approx(me.fair_policy(merit, mu), abs=1e-5)
        short.append(earned(me.optimistic_means(merit, low, high)) - earned(mu))
    assert min(short) >= -1e-9
    assert np.mean(np.array(short) > 1e-3) > 0.95  # erratum E-F4
    assert probabilities(ex.fairx_ucb_gradient(merit, 0.4), 3, [1, 0, 0], [1, 0, 0]).tolist() == [0, 1, 0]


def test_normal_thompson_sampling_plays_by_merit_on_average_over_the_posterior():
    merit, prior_sd, reward_sd = me.exponential(3, -1, 2), 0.7, 0.4
    policy, rng = ex.fairx_ts_gaussian(merit, prior_sd, reward_sd), np.random.default_rng(4)
    observed, total = np.array([3, 1]), np.array([2.4, -0.6])
    draws = [probabilities(policy, 5, observed, total, rng)[0] for _ in range(20_000)]
    precision = 1 / prior_sd**2 + observed / reward_sd**2
    mean, sd = total / reward_sd**2 / precision, np.sqrt(1 / precision)

    def fair(y, x):
        return 1 / (1 + math.exp(3 * (np.clip(y, -1, 2) - np.clip(x, -1, 2))))

    exact = dblquad(
        lambda y, x: norm.pdf(x, mean[0], sd[0]) * norm.pdf(y, mean[1], sd[1]) * fair(y, x),
        *(mean[0] - 8 * sd[0], mean[0] + 8 * sd[0], mean[1] - 8 * sd[1], mean[1] + 8 * sd[1]),
        epsabs=1e-5,
    )[0]
    assert np.mean(draws) == pytest.approx(exact, abs=4 * np.std(draws) / math.sqrt(20_000))


def test_a_mean_drawn_outside_the_range_counts_as_its_end():
    policy = ex.fairx_ts_gaussian(me.exponential(2, 0, 1), prior_sd=1e-9, reward_sd=1.0)
    assert probabilities(policy, 1, [0, 0], [0, 0], np.random.default_rng(0)) == pytest.approx([0.5, 0.5])
    sure = ex.fairx_ts_gaussian(me.exponential(2, 0, 1), prior_sd=100.0, reward_sd=1e-6)
    p = probabilities(sure, 3, [1, 1], [5.0, -5.0], np.random.default_rng(0))
    assert p == pytest.approx([1 / (1 + math.exp(-2)), 1 / (1 + math.exp(2))])


def test_the_bayesian_bounds_are_the_sums_of_the_proofs():
    for arms, horizon in ((2, 1), (3, 5000)):
        cut = math.sqrt(2 * math.log(arms * horizon))
        widths, beyond = 2 * math.sqrt(arms * horizon), arms * horizon * norm.pdf(cut) / cut**2
        for merit, steepness in ((me.power(2, 4), 2 * 8 / 3), (me.clipped(0.25), 4)):  # 2 Lambda, L / gamma
            fair = 2 * steepness * ((math.sqrt(2 / math.pi) + cut) * widths + 2 * beyond)
            game = ex.ExposureBandit(fl.gaussian([0.5] * arms), merit=merit)
            assert ex.fairx_ts_fairness_bound(game, horizon) == pytest.approx(fair)
        assert ex.fairx_ts_reward_bound(arms, horizon) == pytest.approx(cut * widths + beyond)
        assert norm.pdf(cut) - cut * norm.sf(cut) <= norm.pdf(cut) / cut**2


@named
def test_only_the_logarithm_counts(merit):
    """Fair policies of two vectors of means are at most the logarithm's slope times the largest difference apart."""
    rng, largest = np.random.default_rng(7), 0.0
    for _ in range(2000):
        arms = int(rng.integers(2, 8))
        one = rng.random(arms)
        two = np.clip(one + rng.choice([0.01, 0.1, 0.5]) * rng.choice([-1, 1], arms), 0, 1)
        apart = np.abs(me.fair_policy(merit, one) - me.fair_policy(merit, two)).sum()
        bound = merit.log_lipschitz * np.abs(one - two).max()
        assert apart <= bound + 1e-12
        largest = max(largest, apart / bound)
    assert largest > 0.6  # and the constant can't be much smaller


def test_the_sum_of_widths():
    """Lemma A.4.2, both halves: martingale differences of at most 1, and at most 2 sqrt(KT) along any path."""
    rng = np.random.default_rng(5)
    horizon, failure, misses = 2000, 0.2, []
    policy = ex.fairx_ucb(me.exponential(2), 0.5)
    for seed in range(20):
        arms = int(rng.integers(2, 7))
        along, expected = 0.0, 0.0
        for step in fl.trace(fl.Bandit(fl.bernoulli(rng.random(arms))), policy, horizon, seed=seed):
            if step.t > arms:
                widths = 1 / np.sqrt(step.seen.selected)
                along += widths[step.played[0]]
                expected += step.p @ widths
        assert along <= 2 * math.sqrt(arms * horizon)
        misses.append(abs(expected - along) > math.sqrt(2 * horizon * math.log(4 / failure)))
    assert np.mean(misses) <= failure / 2


def test_whoever_is_certain_of_its_arm_is_unfair():
    """A policy that plays one arm for sure is at least 2 (1 - max p*) from the fair one, however it is tuned."""
    game = ex.ExposureBandit(fl.bernoulli(MEANS), merit=me.exponential(4))
    for policy in (fl.ucb1(), fl.thompson_beta(), fl.thompson_gaussian(0.0, 0.1, 0.3)):
        regret = fl.simulate(game, policy, 2000, rounds=[2000]).fairness_regret[0, 0]
        assert regret >= 2000 * 2 * (1 - game.optimal.max()) - 1e-6


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ex.ExposureBandit(fl.gaussian([0.5, 2.0]), merit=MERITS[1]), r"means must be numbers in \[0, 1\]"),
        (lambda: ex.ExposureBandit(fl.bernoulli([0.5, 0.6]), plays=2, merit=MERITS[1]), "plays must be 1"),
        (lambda: ex.fairx_ts(me.exponential(1, 0.5, 1)), "means must be numbers in"),
        (lambda: ex.fairx_ucb_gradient(MERITS[1], 0.1), "merit must be exponential"),
    ],
)
def test_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_one_arm_alone_is_played_however_the_step_is_taken():
    game = ex.ExposureBandit(fl.bernoulli([0.5]), merit=me.exponential(4))
    for policy in (ex.fairx_ucb_gradient(game.merit, 0.1), ex.fairx_ucb(game.merit, 0.1), ex.fairx_ts(game.merit)):
        assert fl.simulate(game, policy, 50).selected[0, -1].tolist() == [50]
