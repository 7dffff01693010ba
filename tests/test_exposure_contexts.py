"""Exposure by merit in context: regrets, policies against their boxes, the lemmas one by one, the bounds in play."""

import itertools
import math

import numpy as np
import pytest
from helpers import context_probabilities as probabilities
from scipy.optimize import minimize
from scipy.stats import norm

import fairlib as fl
from fairlib import exposure as ex
from fairlib import linear as li
from fairlib import merit as me
from fairlib.core import Ridge, absorb, linear_table, sphere, width

MERITS = [me.exponential(3, -1, 1), me.power(2, 4), me.clipped(0.1)]
named = pytest.mark.parametrize("merit", MERITS, ids=lambda merit: merit.name)


def some_ridge(d, n, seed, regularizer=1.0):
    """Return a ridge regression on n random contexts, with its data."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n, d)) / d**0.5, rng.standard_normal(n)
    ridge = Ridge(np.zeros(d), np.eye(d) / math.sqrt(regularizer))
    for i in range(n):
        absorb(ridge.mean, ridge.root, x[i], y[i])
    return ridge, x, y


def widths(contexts, x):
    """Return the widths of contexts after the contexts x, by the textbook."""
    sigma = np.eye(contexts.shape[1]) + x.T @ x
    return np.sqrt(np.einsum("ai,ij,aj->a", contexts, np.linalg.inv(sigma), contexts))


@named
def test_fairx_linucb_plays_by_the_most_favourable_means_of_its_box(merit):
    contexts = np.random.default_rng(1).standard_normal((5, 4)) / 2
    ridge, x, _ = some_ridge(4, 30, 2)
    centre, w = contexts @ ridge.mean, 0.7 * widths(contexts, x)
    low, high = (np.clip(centre + sign * w, merit.low, merit.high) for sign in (-1, 1))
    optimistic = me.fair_policy(merit, me.optimistic_means(merit, low, high))
    assert probabilities(ex.fairx_linucb(merit, 0.7), contexts, ridge) == pytest.approx(optimistic)


@named
def test_fairx_lints_plays_by_merit_on_average_over_the_posterior(merit):
    contexts = np.random.default_rng(1).standard_normal((3, 2)) / 2
    ridge, x, y = some_ridge(2, 4, 2, regularizer=4.0)
    rng, policy = np.random.default_rng(3), ex.fairx_lints(merit, prior_sd=0.5, reward_sd=1.0)
    played = np.mean([probabilities(policy, contexts, ridge, rng) for _ in range(40_000)], axis=0)
    # The posterior, by Bayes: precision I/0.25 + XX', which is the regression's matrix if the regularizer is 4.
    precision = np.eye(2) / 0.25 + x.T @ x
    mean = np.linalg.solve(precision, x.T @ y)
    drawn = np.random.default_rng(4).multivariate_normal(mean, np.linalg.inv(precision), 40_000) @ contexts.T
    merits = merit(np.clip(drawn, merit.low, merit.high))
    assert policy.ridge == 4
    assert played == pytest.approx((merits / merits.sum(axis=1, keepdims=True)).mean(axis=0), abs=0.008)


@named
def test_fairx_lineg_plays_by_merit_and_explores(merit):
    contexts = np.random.default_rng(1).standard_normal((5, 4)) / 2
    ridge, *_ = some_ridge(4, 30, 2)
    fair = me.fair_policy(merit, np.clip(contexts @ ridge.mean, merit.low, merit.high))
    assert probabilities(ex.fairx_lineg(merit, 0.0), contexts, ridge) == pytest.approx(fair)
    assert probabilities(ex.fairx_lineg(merit, 0.3), contexts, ridge) == pytest.approx(0.7 * fair + 0.3 / 5)


def test_linucb_and_oful_play_the_largest_index():
    game = fl.ContextBandit(linear_table(np.random.default_rng(5).standard_normal((60, 4, 3)), [0.6, 0.0, 0.8], sd=1.0))
    policy, sigma, log_det = li.oful(noise=0.4, norm=0.9, failure=0.05, ridge=2.0), 2 * np.eye(3), 0.0
    for step in fl.trace(game, policy, 60, seed=5):
        contexts = step.now.contexts
        w = np.sqrt(np.einsum("ai,ij,aj->a", contexts, np.linalg.inv(sigma), contexts))
        index = contexts @ step.ridge.mean + 0.3 * w
        assert probabilities(li.linucb(0.3, 2.0), contexts, step.ridge)[np.argmax(index)] == 1
        ratio = np.linalg.slogdet(sigma)[1] - 3 * math.log(2)
        assert log_det == pytest.approx(ratio, abs=1e-9)
        index = contexts @ step.ridge.mean + (0.4 * math.sqrt(ratio + 2 * math.log(20)) + 0.9 * 2**0.5) * w
        assert step.p[np.argmax(index)] == 1
        sigma += np.outer(contexts[step.played[0]], contexts[step.played[0]])
        log_det = float(step.memory["log_det"])


def test_lints_plays_each_arm_as_often_as_it_is_best_under_the_posterior():
    contexts = np.array([[0.6, 0.1], [0.1, 0.5]])
    ridge, *_ = some_ridge(2, 6, 7, regularizer=4.0)
    rng, policy = np.random.default_rng(8), li.lints(reward_sd=0.8, prior_sd=0.4)
    played = np.mean([probabilities(policy, contexts, ridge, rng) for _ in range(20_000)], axis=0)
    assert policy.ridge == 4
    gap = contexts[0] - contexts[1]
    first = norm.cdf(gap @ ridge.mean / (0.8 * np.linalg.norm(ridge.root.T @ gap)))
    assert played == pytest.approx([first, 1 - first], abs=0.012)


def test_arms_are_contexts_that_are_basis_vectors():
    """With basis vectors the ridge regression is that of each arm's own rewards: S / (N + 1), width 1 / sqrt(N + 1)."""
    ridge, counts, sums = Ridge(np.zeros(3), np.eye(3)), np.zeros(3), np.zeros(3)
    rng, v = np.random.default_rng(0), np.empty(3)
    for _ in range(40):
        arm, reward = int(rng.integers(3)), rng.standard_normal()
        absorb(ridge.mean, ridge.root, np.eye(3)[arm], reward)
        counts[arm] += 1
        sums[arm] += reward
    assert ridge.mean == pytest.approx(sums / (counts + 1))
    assert [width(ridge.root, e, v) for e in np.eye(3)] == pytest.approx(1 / np.sqrt(counts + 1))


# The optimistic step on the ellipsoid


@pytest.mark.parametrize("seed", range(6))
def test_the_search_is_as_good_as_a_fine_grid_of_the_ellipse_and_the_box_is_above_it(seed):
    merit = me.exponential(3, -1, 1)
    contexts = np.random.default_rng(seed).standard_normal((6, 2)) / 2.5
    ridge, x, _ = some_ridge(2, 5, seed)

    def value(z):
        merits = merit(np.clip(z, -1, 1))
        return merits @ z / merits.sum()

    found = ex.most_favourable(merit, contexts, ridge, 0.4)
    assert np.linalg.norm(np.linalg.solve(0.4 * ridge.root, found - ridge.mean)) <= 1 + 1e-9
    angles = np.linspace(0, 2 * np.pi, 721)
    points = [r * np.array([math.cos(a), math.sin(a)]) for r in (0.25, 0.5, 0.75, 1.0) for a in angles]
    grid = max(value(contexts @ (ridge.mean + 0.4 * ridge.root @ v)) for v in points)
    assert value(contexts @ found) >= grid - 1e-6
    centre, w = contexts @ ridge.mean, 0.4 * widths(contexts, x)
    box = me.optimistic_means(merit, np.clip(centre - w, -1, 1), np.clip(centre + w, -1, 1))
    assert value(box) >= value(contexts @ found) - 1e-9
    short = ex.most_favourable(merit, contexts, ridge, 0.4, method="gradient")
    assert np.linalg.norm(np.linalg.solve(0.4 * ridge.root, short - ridge.mean)) <= 1 + 1e-9
    assert value(contexts @ ridge.mean) < value(contexts @ short) < value(contexts @ found)


def line(x):
    return 1.0 + 3.0 * x


def test_the_search_finds_what_a_general_solver_finds_from_the_same_points_and_more():
    """SLSQP is SciPy's. Of several local maxima ours is lower once in a hundred times at most, more often higher."""
    merits = [*MERITS, me.exponential(0.5, -1, 1), me.exponential(20, -1, 1), me.power(100, 4)]
    merits.append(me.Merit("line", line, low=0, high=1, minimum=1, lipschitz=3, log_lipschitz=3))
    rng, gains = np.random.default_rng(0), []
    for merit, seed in itertools.product(merits, range(30)):
        arms, d, radius = rng.integers(2, 8), rng.integers(1, 6), rng.choice([0.3, 0.8, 2.0])
        contexts = rng.standard_normal((arms, d)) / d**0.5
        ridge, *_ = some_ridge(d, rng.integers(30), seed)

        def loss(v, contexts=contexts, ridge=ridge, radius=radius, merit=merit):
            z = contexts @ (ridge.mean + radius * ridge.root @ v)
            merits = merit(np.clip(z, merit.low, merit.high))
            return -float(merits @ z / merits.sum())

        ends = []
        for towards in [np.zeros(d), *(contexts @ ridge.root)]:
            start = towards / max(float(np.linalg.norm(towards)), 1e-9)
            ball = {"type": "ineq", "fun": lambda v: 1.0 - v @ v}
            end = minimize(loss, start, method="SLSQP", constraints=ball).x
            ends.append(loss(end / max(1.0, float(np.linalg.norm(end)))))
        found = np.linalg.solve(radius * ridge.root, ex.most_favourable(merit, contexts, ridge, radius) - ridge.mean)
        assert np.linalg.norm(found) <= 1 + 1e-9
        gains.append((min(ends) - loss(found)) / abs(min(ends)))
    lower, higher = np.mean(np.array(gains) < -1e-6), np.mean(np.array(gains) > 1e-6)
    assert lower <= 0.01
    assert lower < higher


def test_the_gradient_is_pulled_back_into_a_small_ellipsoid():
    contexts = np.array([[1.0, 0.0], [0.0, 1.0]])
    ridge = Ridge(np.array([0.2, 0.1]), np.diag([0.01, 0.02]))
    short = ex.most_favourable(me.exponential(3, -1, 1), contexts, ridge, 1.0, method="gradient")
    assert np.linalg.norm((short - ridge.mean) / [0.01, 0.02]) == pytest.approx(1)


# The lemmas


@pytest.mark.parametrize("d", [1, 3, 10], ids=itertools.count())
def test_the_determinant_and_the_sum_of_widths(d):
    """Lemmas A.6.6 (with its index put right), A.6.7 and A.6.8, on contexts on the sphere and on a stubborn few."""
    rng = np.random.default_rng(d)
    for few in (False, True):
        x = rng.standard_normal((500, d))
        x = x[np.arange(500) % 2] if few else x
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        sigma, product, squares = np.eye(d), 1.0, 0.0
        for t, each in enumerate(x, start=1):
            w2 = each @ np.linalg.solve(sigma, each)
            assert w2 <= 1 + 1e-12
            product *= 1 + w2
            squares += w2
            sigma += np.outer(each, each)
            determinant = np.linalg.det(sigma)
            assert determinant == pytest.approx(product, rel=1e-8)
            assert determinant <= (1 + t / d) ** d * (1 + 1e-9)
            assert squares <= 2 * d * math.log1p(t / d)
        assert squares > 0.4 * d * math.log1p(500 / d) or few  # not by a mile


def test_the_total_width_is_bounded_in_play_and_moves_little_from_its_mean():
    """Lemmas A.6.4 and A.6.8 for the widths of the arms that FairX-LinUCB plays, and the tower property (E-F10)."""
    merit, d, rounds, runs = me.exponential(3, -1, 1), 4, 400, 300
    policy, played, expected = ex.fairx_linucb(merit, 0.5), [], []
    game = ex.ContextExposureBandit(sphere(3, [0.5, 0.5, 0.5, 0.5]), merit=merit)
    for run in range(runs // 10):
        steps = list(fl.trace(game, policy, rounds, seed=100 + run))
        wide = [np.linalg.norm(step.now.contexts @ step.ridge.root, axis=1) for step in steps]
        played.append(sum(w[step.played[0]] for w, step in zip(wide, steps, strict=True)))
        expected.append(sum(w @ step.p for w, step in zip(wide, steps, strict=True)))
    got, wanted = np.array(played), np.array(expected)
    assert (got <= ex.total_width(d, rounds)).all()
    assert (np.abs(got - wanted) <= math.sqrt(2 * rounds * math.log(4 / 0.1))).all()
    assert abs((got - wanted).mean()) < 4 * (got - wanted).std() / len(got) ** 0.5


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_the_worst_contexts_come_near_the_bound_on_the_total_width(d):
    """Lemma A.6.8: unit vectors along each axis in turn are as wide as contexts can be, and half the bound is less."""
    rounds, total, inverse = 1000, 0.0, np.eye(d)
    for t in range(rounds):
        x = np.eye(d)[t % d]
        assert x @ inverse @ x == pytest.approx(np.linalg.eigvalsh(inverse).max())
        total += math.sqrt(x @ inverse @ x)
        inverse -= np.outer(inverse @ x, inverse @ x) / (1 + x @ inverse @ x)
    assert 0.5 * ex.total_width(d, rounds) < total <= ex.total_width(d, rounds)


def test_a_parameter_in_the_ellipsoid_is_within_the_widths():
    """Lemma A.6.3, with equality at the parameter that is worst for the context."""
    ridge, x, _ = some_ridge(5, 40, 3)
    rng = np.random.default_rng(4)
    contexts = rng.standard_normal((20, 5))
    v = rng.standard_normal((1000, 5))
    v /= np.maximum(1, np.linalg.norm(v, axis=1, keepdims=True))
    off = np.abs((1.3 * v @ ridge.root.T) @ contexts.T)
    assert (off <= 1.3 * widths(contexts, x) + 1e-12).all()
    worst = [ridge.root.T @ c / np.linalg.norm(ridge.root.T @ c) for c in contexts]
    assert [1.3 * (ridge.root @ u) @ c for u, c in zip(worst, contexts, strict=True)] == pytest.approx(
        1.3 * widths(contexts, x)
    )


# The bounds


def test_the_bounds_are_the_formulas():
    merit, d, k, horizon, delta = me.exponential(1, -1, 1), 7, 4, 5000, 0.2
    radius = 1.5 + math.sqrt(7 * math.log(1 + 5000 / 7) + 2 * math.log(10))
    total, wander = math.sqrt(2 * 5000 * 7 * math.log(1 + 5000 / 7)), math.sqrt(2 * 5000 * math.log(20))
    assert ex.linucb_radius(d, horizon, failure=delta, norm=1.5) == pytest.approx(radius)
    assert ex.total_width(d, horizon) == pytest.approx(total)
    bound = ex.fairx_linucb_reward_bound(d, horizon, failure=delta, norm=1.5)
    assert bound == pytest.approx(2 * radius * (total + wander))
    game = ex.ContextExposureBandit(sphere(k, np.ones(d)), merit=merit)
    steep = math.exp(2)  # L = e and gamma = 1 / e
    fairness = 4 * steep * radius * (total + wander)
    assert ex.fairx_linucb_fairness_bound(game, horizon, failure=delta, norm=1.5) == pytest.approx(fairness)
    log = math.log(k * horizon)
    drawn = (math.sqrt(2 * log) + math.sqrt(2 / math.pi)) * total + 1 / (math.sqrt(2 * math.pi) * log)
    assert ex.fairx_lints_fairness_bound(game, horizon) == pytest.approx(4 * drawn)  # 4 Lambda, below 2 * steep
    reward = 2 * math.sqrt(d * horizon * log * math.log(1 + horizon / d)) + 0.5 / (math.sqrt(2 * math.pi) * log)
    assert ex.fairx_lints_reward_bound(k, d, horizon) == pytest.approx(reward)


@named
def test_a_round_costs_no_more_than_the_logarithm_says(merit):
    """The step of the theorem by the logarithm: small errors of ln f cost their size, large ones the largest ratio."""
    rng, worst = np.random.default_rng(0), 0.0
    grid = merit(np.linspace(merit.low, merit.high, 1001))
    for _ in range(2000):
        one = rng.uniform(-1.2, 1.2, 4)
        two = one + rng.choice([0.05, 1.0]) * rng.standard_normal(4)
        f, g = (merit(np.clip(z, merit.low, merit.high)) for z in (one, two))
        p, q = f / f.sum(), g / g.sum()
        eta = merit.log_lipschitz * np.abs(one - two)
        bound = 2 * p @ np.where(eta <= 1, (math.e - 1) * eta, grid.max() / grid.min())
        assert np.abs(p - q).sum() <= bound + 1e-12
        worst = max(worst, np.abs(p - q).sum() / bound)
    assert worst > 0.1


def test_upper_merit_pays_a_round_for_the_slope_of_the_logarithm():
    c, d, horizon, mu = 2.0, 2, 100_000, np.array([0.6, -0.8])
    merit = me.exponential(c, -1, 1)
    game = ex.ContextExposureBandit(sphere(4, mu), merit=merit)
    radius = float(ex.linucb_radius(d, horizon, failure=1 / horizon))
    policy = ex.upper_merit_linear(merit, radius)
    bound = float(ex.upper_merit_linear_fairness_bound(game, horizon))
    assert bound < 2 * horizon < ex.fairx_linucb_fairness_bound(game, horizon, failure=0.1)  # it says something
    # What a round costs, as the proof has it, if the ellipsoid holds the parameter.
    largest = 0.0
    for step in fl.trace(game, policy, 1000, seed=3):
        contexts, mean, root = step.now.contexts, step.ridge.mean, step.ridge.root
        assert np.linalg.norm(np.linalg.solve(root, mu - mean)) < radius
        widths = np.linalg.norm(contexts @ root, axis=1)
        fair = me.fair_policy(merit, contexts @ mu)
        upper = merit(np.clip(contexts @ mean + radius * widths, -1, 1))
        np.testing.assert_allclose(step.p, upper / upper.sum())
        cost, allowed = np.abs(step.p - fair).sum(), 4 * c * radius * (step.p @ widths)
        assert cost <= 2 * step.p @ (1 - merit(contexts @ mu) / upper) + 1e-12 <= allowed
        largest = max(largest, cost / allowed)
    assert largest > 0.03
