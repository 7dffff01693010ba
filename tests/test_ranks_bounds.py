"""What is proved of Fair-Greedy, lemma by lemma: what holds is held to, and what does not has a counter-example."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import dataclasses
import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from helpers import drawn
from scipy.stats import beta, binom, norm

import fairlib as fl
from fairlib import ranks as rk

CODE, TEXT = (rk.constants(rk.section_6(step)) for step in (16 / 3, 3))
MIXED = rk.mixed_groups([[1.0, 2.0], [3.0, 0.0], [2.0, 2.0]], [0.0, 1.0, 4.0], 0.5, shares=[0.6, 0.3, 0.1], arms=5)
POOL = rk.constants(MIXED)
SMALL = rk.Constants(arms=4, groups=4, dimension=2, length=1.0, norm=1.0, sd=0.1, density=1.0, eigenvalue=0.05)


def smallest(matrix):
    """Return the smallest eigenvalue above 0."""
    values = np.linalg.eigvalsh(matrix)
    return values[values > 1e-9 * values[-1]].min()


# Constants -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [rk.section_6(), rk.section_6(3), MIXED], ids=["code", "text", "mixed"])
def test_constants_against_a_sample(game):
    c = rk.constants(game)
    x, g, m, _ = drawn(game, 20_000, 0)
    second = np.mean([x[g == i].T @ x[g == i] / (g == i).sum() for i in range(c.groups)], axis=0)
    assert c.eigenvalue == pytest.approx(smallest(second), rel=0.03)
    longest = np.linalg.norm(x, axis=2).max()
    assert 0.9 * c.length < longest <= c.length
    assert c.norm == np.linalg.norm(game.parameter)
    near = [(abs(m[g == i] - law.quantile(0.5)) < 0.05).mean() for i, law in enumerate(game.distributions)]
    assert c.density == pytest.approx(max(near) / 0.1, rel=0.1)
    seen = np.array([(g == i).sum(axis=1).mean() for i in range(c.groups)])
    assert c.least == pytest.approx(seen.min(), rel=0.05)
    assert c.by_chance == (game is MIXED)


# Ranks: Lemmas C.1 and E.2, Propositions 5.1 and E.2 -----------------------------------------------------------------


def farthest_off(ranks):
    """Return the largest distance of the estimated ranks of a sample from its true ones, which are given."""
    true = np.sort(ranks)
    steps = np.arange(true.size + 1) / true.size
    return max((steps[1:] - true).max(), (true - steps[:-1]).max())


def test_estimated_ranks_of_a_pool_are_within_the_error():
    """Lemma E.2 in play: the error allows for a share alpha of the rarest group's candidates, who are few."""
    horizon, failure, alpha = 800, 0.1, 0.5
    mu = MIXED.parameter + np.random.default_rng(0).normal(0, 0.5, 7)
    laws = [rk.uniform_sum(mu[2 * i : 2 * i + 2], shift=MIXED.biases[i] * mu[6]) for i in range(3)]
    t = np.array([350, 450, 600, 800])
    assert t[0] > rk.counted_from(POOL, horizon, failure=failure, alpha=alpha)
    allowed = rk.rank_error(3, t, horizon=horizon, failure=failure, candidates=alpha * POOL.least)
    failed = closest = 0.0
    for seed in range(30):
        x, g, _, _ = drawn(MIXED, horizon, seed)
        worst = np.zeros(t.size)
        for (i, law), (at, now) in itertools.product(enumerate(laws), enumerate(t)):
            second = slice((now - 1) // 2, now - 1)
            ranks = law.cdf(x[second][g[second] == i] @ mu)
            assert ranks.size >= alpha * POOL.least * (now - 1 - (now - 1) // 2)
            worst[at] = max(worst[at], farthest_off(ranks))
        failed += (worst > allowed).any()
        closest = max(closest, (worst / allowed).max())
    assert failed <= binom.ppf(0.999, 30, failure)
    assert closest > 0.3


def test_rank_error_is_the_formula():
    expected = math.sqrt(math.log(2 * 4 * 500 / 0.1) / 100)
    assert rk.rank_error(4, 101, horizon=500, failure=0.1) == pytest.approx(expected)
    several = rk.rank_error(4, [2, 11], horizon=500, failure=0.1, candidates=0.5)
    assert several == pytest.approx(np.sqrt(math.log(40_000) / np.array([0.5, 5])))


def chance_of_each(arms, error):
    """Equation (6): the least chance with which an arm is played when ranks are wrong by an error."""
    return max(1 - 2 * error, 0) ** arms / arms


@pytest.mark.parametrize("error", [0.0, 0.02, 0.1])
def test_chance_of_each_is_met_by_the_worst_of_estimates(error):
    """Equation (6): arm 0's ranks are put down by the error, all others' up."""
    ranks = np.random.default_rng(0).random((200_000, 4))
    estimated = ranks + error * np.array([-1, 1, 1, 1])
    measured = (estimated.argmax(axis=1) == 0).mean()
    assert measured == pytest.approx(chance_of_each(4, error), abs=4 * (measured / 200_000) ** 0.5)


@pytest.mark.parametrize(("arms", "groups", "c", "candidates"), [(4, 4, 0.5, 1.0), (2, 2, 0.9, 1.0), (10, 6, 0.5, 0.4)])
def test_explored_from_is_when_the_errors_allow_it(arms, groups, c, candidates):
    """Proposition 5.1: each arm is played with a chance of c/K at least, from a round on."""
    log = math.log(5 * groups * math.e / 0.1)
    start = 3 + 8 * (log / candidates) ** 1.5 / (1 - c ** (1 / arms)) ** 3
    # The end of the proof: the square of the error, from round `start` on.
    square = math.log(4 * groups * (start - 1) / 0.1) / ((start - 1) * candidates)
    assert chance_of_each(arms, math.sqrt(square)) >= c / arms


# Exploration: erratum E-G1 and its repair ----------------------------------------------------------------------------


def uniform_moments(low, high):
    """Return first and second moment of a uniform number, exactly."""
    return (low + high) / 2, (high**3 - low**3) / (3 * (high - low))


@pytest.mark.parametrize("k", [2, 3, 4, 10])
def test_the_loss_is_exponential_in_the_number_of_arms(k):
    """x_1 is the rank; x_2 is spread on [-1, 1] if x_1 < 1/2 and on [-.01, .01] else. Exact fractions."""
    wide, narrow = (uniform_moments(-b, b)[1] for b in (Fraction(1), Fraction(1, 100)))
    claimed = (wide + narrow) / 4  # half of the smallest eigenvalue of Sigma = diag(1/3, (wide + narrow) / 2)
    chosen = Fraction(1, 2**k) * wide + (1 - Fraction(1, 2**k)) * narrow
    assert claimed == Fraction(10001, 120000)
    assert (chosen < claimed) == (k > 2)
    assert chosen == pytest.approx(2.0**-k / 3, rel=0.12)  # the rest is what the narrow half teaches
    game = rk.Constants(
        arms=k, groups=k, dimension=2, length=1.25**0.5, norm=1, sd=0, density=1, eigenvalue=float(2 * claimed)
    )
    assert rk.least_exploration(game) < chosen


@pytest.mark.parametrize("q", [0.3, 0.5])
@pytest.mark.parametrize("k", [2, 4, 8])
def test_least_exploration_is_sharp(q, k):
    """All of what is to be learnt is at the lowest ranks, and there is a density: exact integrals, for a tiny eta."""
    eta = 1e-5
    wide, narrow = 1 - eta + eta**2 / 3, eta**2 / 3  # E[x_2^2] below the rank q and above
    second = q * wide + (1 - q) * narrow
    first = eta**2 * q**3 / 3 + (1 - (1 - eta * (1 - q)) ** 3) / (3 * eta)  # E[x_1^2]
    assert second < first  # so that the eigenvalue is the second moment of x_2
    game = rk.Constants(
        arms=k, groups=k, dimension=2, length=(1 + eta**2) ** 0.5, norm=1, sd=0, density=1 / eta, eigenvalue=second
    )
    chosen = q**k * wide + (1 - q**k) * narrow
    assert 1 <= chosen / rk.least_exploration(game) < 1.0002
    u = np.random.default_rng(0).random((200_000, k)).max(axis=1)  # the rank of the chosen one
    assert (u < q).mean() == pytest.approx(q**k, abs=4 * (q**k / 200_000) ** 0.5)


@pytest.mark.parametrize("seed", range(20))
def test_the_bathtub_is_the_worst_case(seed):
    """E[f (rank - 2 error)_+^(K-1)] for functions f of the rank in [0, 1], against the least that is claimed."""
    rng, k = np.random.default_rng(seed), int(np.random.default_rng(seed).integers(2, 7))
    error = rng.choice([0.0, 0.01, 0.05])
    ranks = (np.arange(4000) + 0.5) / 4000
    kinds = [rng.random(4000) ** rng.integers(1, 9), (ranks < rng.random()) * 1.0, (1 - ranks) ** rng.integers(1, 30)]
    for f in kinds:
        value = (f * np.maximum(ranks - 2 * error, 0) ** (k - 1)).mean()
        game = dataclasses.replace(SMALL, arms=k, groups=k, eigenvalue=float(f.mean()))
        assert k * value >= rk.least_exploration(game, error) * (1 - 1e-5)


@pytest.mark.parametrize("game", [rk.section_6(), rk.section_6(3), MIXED], ids=["code", "text", "mixed"])
def test_least_exploration_holds_whatever_the_estimate(game):
    c = rk.constants(game)
    x, g, _, _ = drawn(game, 20_000, 1)
    rng = np.random.default_rng(2)
    for _ in range(5):
        mu = rng.standard_normal(game.world.dimension)
        value = x @ mu
        ranks = np.zeros(value.shape)
        for i in range(c.groups):
            own = np.sort(value[g == i])
            ranks[g == i] = np.searchsorted(own, value[g == i], "right") / own.size
        for error in (0.0, 0.1):
            off = ranks + error * rng.uniform(-1, 1, ranks.shape)
            chosen = x[np.arange(len(x)), off.argmax(axis=1)]
            assert smallest(chosen.T @ chosen / len(x)) > rk.least_exploration(c, error) > -1e-300


def test_the_error_of_ranks_may_cost_a_half():
    """Step e of the repair: with ranks as good as `tau_1` makes them, half of the eigenvalue is left."""
    for k, share in itertools.product([2, 3, 4, 10, 60], [0.001, 0.1, 0.9]):
        game = dataclasses.replace(SMALL, arms=k, groups=k, eigenvalue=share)
        left = rk.least_exploration(game, error=share / (4 * k)) / rk.least_exploration(game)
        assert 0.5 <= left < 0.61
        assert rk.least_exploration(game, error=share / 2) == 0


def test_least_exploration_of_a_pool_has_the_rarest_group_s_factor():
    fixed = dataclasses.replace(POOL, arms=5, groups=5, least=1.0, by_chance=False)
    factor = rk.least_exploration(POOL) / rk.least_exploration(fixed)
    assert factor == pytest.approx(0.1 * 5 * 3 / 5)


# Counts of a pool's groups: Lemma E.1 --------------------------------------------------------------------------------


@pytest.mark.parametrize("shares", [[0.9, 0.1], [0.5, 0.3, 0.2]], ids=itertools.count())
@pytest.mark.parametrize("alpha", [0.3, 0.5, 0.8])
def test_every_group_is_counted(shares, alpha):
    g, arms, horizon, failure = len(shares), 10, 2000, 0.05
    game = rk.constants(rk.mixed_groups(np.ones((g, 1)), np.zeros(g), 1.0, shares, arms))
    start = math.ceil(rk.counted_from(game, horizon, failure=failure, alpha=alpha))
    chance = 0.0
    for t in range(start, horizon + 1):
        rounds = t - 1 - (t - 1) // 2
        for share in shares:
            chance += binom.cdf(math.ceil(alpha * rounds * game.least) - 1, rounds * arms, share)
    assert chance <= failure


# The estimate: Lemma C.4 ---------------------------------------------------------------------------------------------


def watched_draw(weights, sd, rng, contexts, groups, means, rewards):
    """Section 6 on a small scale: two groups with one number each."""
    for a in range(groups.size):
        groups[a] = a
        y = rng.random()
        contexts[a, a], contexts[a, 1 - a] = y, 0.0
        means[a] = weights[a] * y
        rewards[a] = means[a] + sd * rng.standard_normal()


def play(horizon, seed, sd=0.3, ridge=0.1, noise=1.0):
    """Play Fair-Greedy in the small game; return the contexts, the arms, the estimates and their matrices."""
    mu = np.array([1.0, 2.0])
    game = fl.ContextBandit(fl.World(2, 2, watched_draw, groups=2, weights=mu, sd=sd))
    steps = list(fl.trace(game, rk.fair_greedy(ridge, noise), horizon, seed))
    x, arm = np.array([step.now.contexts for step in steps]), np.array([step.played[0] for step in steps])
    played, seen = x[np.arange(horizon), arm], []
    for t, step in enumerate(steps, 1):
        first = played[: (t - 1) // 2]
        seen.append((step.memory["half.estimate"], first.T @ first + ridge * np.eye(2)))
    return mu, x, arm, seen


def test_contexts_of_one_group_are_at_most_twice_the_length_apart():
    """Where no diameter is given, a group may have a context and its opposite: the bound by the logarithm says so."""
    told: dict[str, Any] = {"arms": 2, "groups": 2, "dimension": 2, "length": 3.0, "norm": 1.0, "sd": 0.5}
    told |= {"density": 1.0, "eigenvalue": 1.0}
    games = [rk.Constants(**told), *(rk.Constants(**told, diameter=diameter) for diameter in (6.0, 100.0, 3.0))]
    bounds = [float(rk.fair_greedy_log_bound(game, 1000, failure=0.1)) for game in games]
    assert bounds[0] == bounds[1] == bounds[2] > 3 * bounds[3]


GAME = rk.Constants(arms=2, groups=2, dimension=2, length=1.0, norm=5**0.5, sd=0.3, density=1.0, eigenvalue=1 / 6)


def test_the_estimate_is_within_its_radius_and_the_regret_within_lemma_5_2():
    """Over 30 games: the estimate in the norm of V, and each round's regret against 2 M h + 2 error."""
    horizon, failure = 150, 0.4
    t = np.arange(3, horizon + 1)
    radius = rk.estimate_radius(GAME, t, failure=failure, noise=1.0)
    error = rk.rank_error(2, t, horizon=horizon, failure=failure / 4)
    outside = worse = 0
    closest, tightest = 0.0, 0.0
    for seed in range(30):
        mu, x, arm, seen = play(horizon, seed)
        off = np.array([math.sqrt((e - mu) @ v @ (e - mu)) for e, v in seen[2:]])
        outside += int((off > radius).any())
        closest = max(closest, (off / radius).max())
        ranks = np.array([[row[0, 0], row[1, 1]] for row in x])  # the numbers themselves, whatever the weights
        regret = ranks.max(axis=1) - ranks[np.arange(horizon), arm]
        # In a group the contexts differ by at most 1 in its one direction, so h is that coordinate's error.
        h = np.array([abs(e - mu).max() for e, _ in seen])
        allowed = 2 * GAME.density * h[2:] + 2 * error
        worse += (regret[2:] > allowed).any()
        tightest = max(tightest, (regret[2:] / allowed).max())
    assert outside <= binom.ppf(0.999, 30, failure / 4)
    assert worse <= binom.ppf(0.999, 30, failure / 4)
    assert closest > 0.2  # so that neither holds for a fifth of what is allowed
    assert tightest > 0.2


def test_the_radius_grows_like_the_root_of_a_logarithm():
    t = np.array([100, 10_000, 1_000_000])
    wide = rk.estimate_radius(CODE, t, failure=0.1)
    assert (np.diff(wide) > 0).all()
    d = CODE.dimension
    half = (t - 1) // 2
    first = CODE.sd * np.sqrt(d * np.log1p(half * CODE.length**2 / (d * 0.1)) + 2 * math.log(80))
    printed = CODE.sd * np.sqrt(d * np.log((8 + 8 * half * CODE.length**2 / 0.1) / 0.1))
    assert (first < printed).all()
    assert wide - first == pytest.approx(math.sqrt(0.1) * CODE.norm, rel=0.01)  # the noise hardly counts


def test_one_dimension_needs_more_than_the_paper_s_radius():
    """With X = 1 and a ridge of a third of the rounds, at one round alone, for a failure of a millionth."""
    p, ratio = 1e-6, 3.0
    # |S| / sqrt(V) exceeds sqrt(ln((1 + ratio) / p)), where S is normal with variance t and V = (1 + 1 / ratio) t.
    needed = math.sqrt((1 + 1 / ratio) * math.log((1 + ratio) / p))
    assert 2 * norm.sf(needed) > 6 * p
    ours = math.sqrt((1 + 1 / ratio) * (math.log(1 + ratio) + 2 * math.log(1 / p)))
    assert 2 * norm.sf(ours) < p


@pytest.mark.parametrize("d", [1, 2, 17])
def test_the_noise_stays_within_its_share(d):
    # All rounds at once: |gamma| <= sqrt(d) + sqrt(2 ln(16 t^2 / failure)), except with an eighth of the failure.
    failure, t = 0.5, np.arange(1, 100_000)
    reach = math.sqrt(d) + np.sqrt(2 * np.log(16.0 * t**2 / failure))
    from_tails = (2 * norm.sf(reach)).sum() if d == 1 else None
    if from_tails is not None:
        assert from_tails < failure / 8
    sizes = np.linalg.norm(np.random.default_rng(d).standard_normal((20_000, d)), axis=1)
    assert (sizes > reach[0]).mean() < failure / 16


# The bounds: Theorems 1 and 2 ----------------------------------------------------------------------------------------


def by_hand(game, horizon, failure, alpha=0.5, tau=True):
    """Return the repaired bound, with or without its first rounds, from the functions for its steps."""
    delta = failure / 2 if game.by_chance else failure
    n = alpha * game.least if game.by_chance else 1.0
    kappa = rk.least_exploration(game)
    counted = rk.counted_from(game, horizon, failure=delta, alpha=alpha)
    allowed = game.eigenvalue / (4 * game.arms * game.length**2)
    tau_1 = 1 + math.log(2 * game.groups * horizon / (delta / 4)) / (n * allowed**2)
    from_then = rk.rank_error(game.groups, math.ceil(tau_1), horizon=horizon, failure=delta / 4, candidates=n)
    assert from_then <= allowed
    assert rk.least_exploration(game, allowed) >= kappa / 2
    x = 2 * kappa / (27 * game.length**2)
    tau_2 = math.log(2 * game.dimension * (1 + 1 / x) / delta) / x
    assert game.dimension * math.exp(-x * tau_2) / -math.expm1(-x) <= delta / 2 * (1 + 1e-9)
    start = 4 * max(tau_1, tau_2, counted) + 3
    t = np.arange(math.ceil(start), math.ceil(start) + 5)
    half = (t - 1) // 2
    rest = half - max(tau_1, counted)
    assert (rest >= tau_2).all()
    assert (rest * kappa / 4 >= t * kappa / 32).all()
    width = game.length * math.sqrt(32 / kappa)
    steps = 2 * math.sqrt(horizon)  # at least the sum of t^(-1/2)
    learning = 4 * game.density * rk.estimate_radius(game, horizon, failure=delta) * width * steps
    return (start if tau else 0) + learning + 2 * steps * math.sqrt(math.log(8 * game.groups * horizon / delta) / n)


@pytest.mark.parametrize("game", [CODE, TEXT, POOL, SMALL, GAME], ids=["code", "text", "pool", "small", "game"])
@pytest.mark.parametrize("horizon", [3, 500, 10**6])
def test_the_repaired_bound_is_the_sum_of_its_steps(game, horizon):
    bound = rk.fair_greedy_bound(game, horizon, failure=0.1)
    assert bound == pytest.approx(by_hand(game, horizon, 0.1), rel=1e-9)


def test_the_bound_says_something_in_the_end():
    """In a small game with little noise it is below T from T = 200,000 on, and of the order of the root of T."""
    game, t = dataclasses.replace(GAME, sd=0.01), np.array([10**5, 2 * 10**5, 10**10, 10**12])
    bound = rk.fair_greedy_bound(game, t, failure=0.1, ridge=1e-3)
    assert (bound < t).tolist() == [False, True, True, True]
    assert 10 < bound[3] / bound[2] < 10.5


@pytest.mark.parametrize("game", [CODE, TEXT, POOL, SMALL, GAME], ids=["code", "text", "pool", "small", "game"])
@pytest.mark.parametrize("horizon", [500, 10**6, 10**12])
def test_the_logarithmic_bound_is_the_sum_of_its_steps(game, horizon):
    """The mean regret of a round is at most 2 K times the square of what ranks are off, summed over the rounds."""
    delta = 0.05 / 2 if game.by_chance else 0.05
    tau = by_hand(game, horizon, 0.05) - by_hand(game, horizon, 0.05, tau=False)
    n = 0.5 * game.least if game.by_chance else 1.0
    shift = game.density * game.diameter * rk.estimate_radius(game, horizon, failure=delta)
    t = np.unique(np.geomspace(2, horizon, 40).astype(int))
    ranks = rk.rank_error(game.groups, t, horizon=horizon, failure=delta / 4, candidates=n)
    off = shift * np.sqrt(32 / rk.least_exploration(game) / t) + ranks
    bound = rk.fair_greedy_log_bound(game, horizon, failure=0.1)
    mean = (bound - tau - math.log(20)) / (math.e - 1)
    assert (2 * game.arms * off**2 * (t - 1) <= mean / math.log(horizon) * (1 + 1e-9)).all()


@pytest.mark.parametrize("k", [2, 3, 5])
def test_ranks_have_a_margin(k):
    """Whoever may be tempted by all within 2e of the best loses 2Ke^2 at most, and nearly that for small e."""
    u, e = np.random.default_rng(k).random((400_000, k)), 0.02
    best = u.max(axis=1, keepdims=True)
    loss = best[:, 0] - np.where(u >= best - 2 * e, u, 2).min(axis=1)
    assert loss.mean() < 2 * k * e**2 + 4 * loss.std() / 400_000**0.5
    assert loss.mean() > 1.8 * k * e**2


def test_the_printed_bound_is_the_paper_s():
    t, d = 1000, 0.1
    log = math.log((8 + 4 * t * TEXT.length**2 / 0.1) / d)
    inner = (math.sqrt(0.1) + TEXT.sd + TEXT.length) * math.sqrt(17 * t * log)
    lead = 96 * TEXT.density * TEXT.length / math.sqrt(TEXT.eigenvalue)
    tau = 4 * max(32 * 64 * math.log(20 * math.e / d) ** 1.5, 54 * 85 / TEXT.eigenvalue * math.log(68 / d)) + 3
    rest = 8 * math.sqrt(t * math.log(8 * 4 * t / d) / 3) + tau
    expected = lead * (inner + math.sqrt(0.1 * t) * TEXT.norm) + rest
    assert rk.printed_bound(TEXT, t, failure=d) == pytest.approx(expected, rel=1e-12)  # its terms are far apart


def test_the_printed_bound_of_i_i_d_candidates_is_corollary_e1():
    t, delta, alpha, k, g = 5000, 0.1, 0.4, POOL.arms, POOL.groups
    half, q_min = delta / 2, POOL.least / k * g
    inner = (math.sqrt(0.1) + POOL.sd + POOL.length) * math.sqrt(
        POOL.dimension * t * math.log((8 + 4 * t * POOL.length**2 / 0.1) / half)
    )
    lead = 96 * POOL.density * POOL.length / math.sqrt(POOL.eigenvalue * q_min)
    tau = max(
        32 * (k * g / (alpha * q_min)) ** 1.5 * math.log(5 * g * math.e / half) ** 1.5,
        54 * POOL.length**2 / POOL.eigenvalue * math.log(4 * POOL.dimension / half),
        2 * g / ((1 - alpha) ** 2 * k * q_min) * math.log(g * t / half),
    )
    rest = 8 * math.sqrt(t * g * math.log(8 * g * t / half) / (3 * k * alpha * q_min)) + 4 * tau + 3
    expected = lead * (inner + math.sqrt(0.1 * t) * POOL.norm) + rest
    assert rk.printed_bound(POOL, t, failure=delta, alpha=alpha) == pytest.approx(expected, rel=1e-12)


# Auxiliary lemmas ----------------------------------------------------------------------------------------------------


def test_contexts_lie_in_the_range_of_their_second_moments():
    """Lemma A.3, where Sigma has no inverse: two groups without a bias, so that the last coordinate is always 0."""
    game = rk.separate_groups([[1.0, 2.0], [3.0, 0.5]], [0.0, 0.0], sd=0.1)
    x = drawn(game, 400, 0)[0].reshape(-1, 5)
    second = np.diag([1 / 24, 1 / 24, 1 / 24, 1 / 24, 0.0])
    second[:2, :2] += 1 / 8
    second[2:4, 2:4] += 1 / 8
    values, vectors = np.linalg.eigh(second)
    u = vectors[:, values > 1e-12]
    assert u.shape == (5, 4)
    assert x @ u @ u.T == pytest.approx(x, abs=1e-12)
    least = rk.constants(game).eigenvalue
    assert least == pytest.approx(1 / 24)
    assert (np.einsum("ni,ij,nj->n", x, second, x) >= least * (x**2).sum(axis=1) * (1 - 1e-12)).all()


# Distances of distributions: Lemma 5.1 -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_ranks_under_an_estimate_are_off_by_the_density_times_the_diameter(seed):
    """|F(<mu*, x>) - F~(<mu, x>)| <= M h for every x, with h the most that <mu - mu*, x - x'> can be."""
    rng = np.random.default_rng(seed)
    true, wrong = rng.uniform(0.5, 4, 3), np.zeros(3)
    wrong[:] = true + rng.normal(0, 0.3, 3)
    law, other = rk.uniform_sum(true), rk.uniform_sum(wrong)
    y = rng.random((4000, 3))
    h = abs(wrong - true).sum()
    off = abs(law.cdf(y @ true) - other.cdf(y @ wrong))
    assert off.max() <= law.largest_density * h
    # The distributions themselves (erratum E-G19): M times the largest |<mu - mu*, x>|, and not twice.
    reach = max(np.maximum(wrong - true, 0).sum(), np.maximum(true - wrong, 0).sum())
    r = np.linspace(-1, 13, 2001)
    assert abs(law.cdf(r) - other.cdf(r)).max() <= law.largest_density * reach


def test_the_factor_of_lemma_5_1_is_one():
    """X uniform on [.99, 1], mu* = 1 and mu = 1.0001: within a thousandth of M |mu - mu*| |x|."""
    true, wrong = rk.uniform_sum([0.01], shift=0.99), rk.uniform_sum([0.010001], shift=0.990099)
    r = np.linspace(0.98, 1.01, 100_001)
    ratio = abs(true.cdf(r) - wrong.cdf(r)).max() / (true.largest_density * 0.0001)
    assert 0.999 < ratio <= 1.0


def test_absolutely_continuous_is_not_lipschitz():
    """Erratum E-G2: Beta(1/2, 1/2) has a density, and no largest one."""
    slopes = [beta(0.5, 0.5).cdf(e) / e for e in (1e-2, 1e-4, 1e-6)]
    assert slopes == pytest.approx([6.4, 63.7, 636.6], rel=0.01)


# The price of fairness: Theorem 3 ------------------------------------------------------------------------------------


def test_clash_of_disjoint_groups():
    """Example 1, with rewards in [2, 3] and in [0, 1]: p = 1/2 up to a difference of 1, then (2 - e) e / 2."""
    above, below = rk.uniform_sum([1.0], shift=2.0), rk.uniform_sum([1.0])
    for e in (0.0, 0.5, 1.0):
        assert rk.clash(above, below, e) == pytest.approx(0.5, abs=1e-4)
    for e in (1.2, 4 / 3, 1.9, 2.0, 3.5):
        assert rk.clash(above, below, e) == pytest.approx(max(2 - e, 0) * e / 2, abs=1e-4)
        assert rk.clash(below, above, e) == pytest.approx(rk.clash(above, below, e), abs=1e-4)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(range(4), 2)), ids=str)
def test_clash_is_the_chance_that_the_higher_rank_brings_less(first, second):
    game = rk.section_6(3)
    one, two = game.distributions[first], game.distributions[second]
    _, _, m, _ = drawn(game, 20_000, 7)
    a, b = m[:, first], m[:, second]
    higher = one.cdf(a) > two.cdf(b)
    for e in (0.0, 1.0, 3.0):
        share = np.where(higher, b - a > e, a - b > e).mean()
        assert rk.clash(one, two, e) == pytest.approx(share, abs=4 * 0.5 / 20_000**0.5)
    assert rk.clash(one, one, 0.0) == pytest.approx(0.0, abs=1e-9)


def test_hoeffding_s_price_tends_to_certainty():
    chance = rk.price_probability(1.0, 0.5, 3.0, [1, 100, 1000, 10_000])
    assert chance == pytest.approx(1 - np.exp(-np.array([1, 100, 1000, 10_000]) * 0.25 / 72))
    assert chance[-1] > 1 - 1e-15 > 0.5 / 12 > chance[0]


@pytest.mark.parametrize("seed", range(12))
def test_nobody_has_both_regrets_small(seed):
    """A policy that weights a unit of reward with c loses at least c / (c + density) of the price in ranks."""
    rng = np.random.default_rng(seed)
    laws = [rk.uniform_sum(rng.uniform(0.5, 4, rng.integers(1, 4)), shift=rng.uniform(0, 4)) for _ in range(2)]
    r = np.unique(np.concatenate([np.linspace(law.breaks[0], law.breaks[-1], 20_001) for law in laws]))
    first, second = (law.cdf(r) for law in laws)
    price, density = np.trapezoid((first - second) ** 2, (first + second) / 2) / 2, max(x.largest_density for x in laws)
    u = (np.arange(1500) + 0.5) / 1500
    x, y = laws[0].quantile(u)[:, None], laws[1].quantile(u)
    for c in density * np.array([0.05, 0.5, 2.0, 20.0]):
        chosen = u[:, None] + c * x > u + c * y
        in_rank = (np.maximum(u[:, None], u) - np.where(chosen, u[:, None], u)).mean()
        in_reward = (np.maximum(x, y) - np.where(chosen, x, y)).mean()
        assert in_rank + c * in_reward > c / (c + density) * price - 1e-4
        assert in_rank**0.5 + (density * in_reward) ** 0.5 > 0.995 * price**0.5
