"""Upper merit: the lemmas of its proof, what it plays, its bounds, and what becomes of the papers' own."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import rel_entr

import fairlib as fl
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import merit as me
from fairlib.core import share_out
from fairlib.exposure.policies import _kl_upper


def divided(weights, plays):
    p = np.array(weights, np.float64)
    share_out(p, plays)
    return p


def hill(x):
    return math.exp(8.0 * x * (1.0 - x))


HILL = me.Merit("hill", hill, low=0, high=1, minimum=1, lipschitz=60, log_lipschitz=8)


@pytest.mark.parametrize("spread", [0.01, 1.0, 8.0])
def test_lemma_a(spread):
    """Overrated arms cost at most what they are played, underrated ones what they deserve; both factors 2 are sharp."""
    rng, closest = np.random.default_rng(11), 0.0
    for _ in range(3000):
        arms = int(rng.integers(2, 9))
        plays = int(rng.integers(1, arms + 1))
        true = np.exp(spread * rng.normal(size=arms))
        rated = true * np.exp(spread * rng.normal(size=arms) * (rng.random(arms) < 0.4))
        true[: arms - plays] *= rng.random(arms - plays) < 0.9  # an arm may deserve nothing
        p, q = divided(rated, plays), divided(true, plays)
        over, under = np.maximum(1 - true / rated, 0), np.maximum(1 - rated[true > 0] / true[true > 0], 0)
        bound = 2 * max(p @ over, q[true > 0] @ under)
        assert np.abs(p - q).sum() <= bound + 1e-11
        closest = max(closest, np.abs(p - q).sum() / max(bound, 1e-12))
    assert closest > 0.85
    many = np.ones(10_000)
    for k in (1e-3, 1e3):
        rated = many.copy()
        rated[0] = k
        p, q = divided(rated, 1), divided(many, 1)
        bound = 2 * p[0] * max(1 - 1 / k, 0) + 2 * q[0] * max(1 - k, 0)
        assert 0.9 < np.abs(p - q).sum() / bound <= 1


def test_lemma_b():
    """With overrated arms only, the divergence is at most half the mean square of the logarithms' errors."""
    rng, closest = np.random.default_rng(12), 0.0
    for _ in range(3000):
        arms = int(rng.integers(2, 9))
        true, h = rng.exponential(size=arms), rng.exponential(size=arms) * rng.choice([0.01, 0.3, 3])
        p, q = divided(true * np.exp(h), 1), divided(true, 1)
        divergence = rel_entr(p, q).sum()
        assert divergence <= 0.5 * (p @ h**2) + 1e-12
        closest = max(closest, divergence / (p @ h**2))
    assert closest > 0.4


def test_how_far_the_truth_is_above_an_interval_at_the_worst_moment():
    """Lemma C: on average at most 5.79 sd / sqrt(tau); for coins and tau up to 1,000 a fifth of that."""
    rng = np.random.default_rng(13)
    for tau in (10, 100, 1000):
        n = np.arange(1, 4 * tau)
        width = np.sqrt(0.5 * np.maximum(np.log(tau / n), 0) / n)
        coins = rng.random((2000, n.size)) < 0.5
        short = np.maximum(0.5 - np.cumsum(coins, axis=1) / n - width, 0).max(axis=1) * math.sqrt(tau) / 0.5
        assert fl.paired_t(short, 5.79 / 4) < -3
        assert fl.paired_t(short, 5.79 / 20) > 3


def test_the_constants():
    """What the proof adds up, once more: widths, errors, and the truth above the interval."""
    widths = math.sqrt(2) * quad(lambda y: math.sqrt(math.log(1 / y) / y), 0, 1)[0]
    assert widths == pytest.approx(math.sqrt(4 * math.pi), rel=1e-6)
    b = 3.0  # the ratio of the blocks
    kappa = 4 * math.sqrt(b) / (1 + math.sqrt(b)) ** 2
    missed = math.sqrt(math.pi * b / 2) / (1 - b ** (0.5 - kappa))
    assert missed < 5.79
    late = (2 * (math.pi**2 / 6 - 1)) ** 0.25  # what the plays beyond the expected number add
    one_sided, two_sided = 1 + 2 * math.exp(-0.5) * late, 2 + 2**1.25 * math.exp(-0.5) * late
    assert one_sided < 2.3
    assert two_sided < 3.54
    rare = (math.pi**2 / 6) ** 0.25  # an arm that is played less than once on average
    assert 2 * math.exp(-0.5) * rare < one_sided
    assert 2**1.25 * math.exp(-0.5) * rare < two_sided
    for rising, error, sides in ((True, one_sided, 1), (False, two_sided, 2)):
        merit = me.exponential(1) if rising else HILL
        for known, times in ((True, 1), (False, 2)):
            exact = 2 * (widths + error + times * sides * missed)
            bound = ex.upper_merit_fairness_bound(merit, 5, 10**6, known=known)
            printed = (bound - 8) / (merit.log_lipschitz * 0.5 * math.sqrt(5e6))
            assert exact <= printed < exact + 1
            modulus = {(True, True): 26, (True, False): 37, (False, True): 40, (False, False): 63}[rising, known]
            assert exact + 2 <= modulus < exact + 3


def test_first_plays_are_cheap_where_merits_are_nearly_equal():
    """An arm without plays is rated by the largest merit: less than 2(K - 1), which it costs to play each arm once."""
    arms, horizon, c, lost = 100, 1000, 0.02, 0.0
    rng, means = np.random.default_rng(14), np.linspace(0.05, 0.95, 100)
    fair = np.exp(c * means) / np.exp(c * means).sum()
    count, total = np.zeros(arms), np.zeros(arms)
    for _ in range(horizon):
        n = np.maximum(count, 1)
        top = total / n + 0.5 * np.sqrt(2 * np.maximum(np.log(horizon / (arms * n)), 0) / n)
        rated = np.exp(c * np.where(count > 0, np.minimum(top, 1), 1))
        p = rated / rated.sum()
        lost += np.abs(p - fair).sum()
        a = rng.choice(arms, p=p)
        count[a] += 1
        total[a] += rng.random() < means[a]
    bound = 2 * min(arms, horizon) * min(1, c) + 26 * horizon * c * 0.5 * math.sqrt(arms / horizon)
    assert 0 < lost < bound < 2 * (arms - 1)


def excess(x, mean, level):
    return rel_entr([mean, 1 - mean], [x, 1 - x]).sum() - level


def test_the_ends_of_chernoffs_intervals():
    for mean, level in itertools.product([0.0, 0.1, 0.5, 0.99, 1.0], [1e-6, 0.1, 5.0, 40.0]):
        top = _kl_upper(mean, level)
        assert mean <= top <= 1
        if mean < 1 and top < 1 - 1e-12:
            assert top == pytest.approx(brentq(excess, mean + 1e-15, 1 - 1e-16, (mean, level)), abs=1e-12)
    for level in [0.0, 1e-300, 1e-20, 1e-9, 1e-3, 1.0, 30.0, 1e300]:  # where the end has a formula
        assert _kl_upper(0.0, level) == pytest.approx(-math.expm1(-level), abs=2e-16)
        assert _kl_upper(0.5, level) == pytest.approx(0.5 + 0.5 * math.sqrt(-math.expm1(-2 * level)), abs=2e-16)
        assert _kl_upper(1.0, level) == 1.0


def test_merit_equal_to_the_mean_is_learnt_and_plug_in_does_not():
    merit, rounds = me.clipped(1e-9), [1000, 4000, 16_000]
    game = ex.ExposureBandit(fl.bernoulli([0.5, 0.5]), merit=merit)
    learnt, lost = (
        fl.simulate(game, policy, 16_000, runs=100, rounds=rounds).fairness_regret
        for policy in (ex.upper_merit_kl(merit, 2, 16_000), ex.fairx_eg(merit, 0))
    )
    assert fl.paired_t(learnt[:, 2], 8 * learnt[:, 0]) < -3
    assert fl.paired_t(lost[:, 2], 10 * lost[:, 0]) > 3
    assert fl.paired_t(lost[:, 2], learnt[:, 2]) > 3


def test_fcucb_d_is_upper_merit_where_upper_ends_are_best():
    for merit, plays, same in ((me.power(2, 4), 2, True), (me.exponential(4), 1, False)):
        law = de.geometric([0.1] * 4)
        game = de.SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.4]), plays=plays, merit=merit, delay=law)
        made = de.fcucb_d(merit, 4, plays), de.upper_merit_delayed(merit, 4, plays)
        one, two = (fl.simulate(game, policy, 3000, runs=3, seed=4) for policy in made)
        assert merit.takes_upper_ends is same
        assert np.allclose(one.fairness_regret, two.fairness_regret, rtol=1e-12) is same


def test_an_arm_that_deserves_every_round_has_it():
    game = de.SemiBandit(fl.bernoulli([0.9, 0.2, 0.2, 0.2]), plays=2, merit=me.exponential(10))
    assert game.optimal == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])
    result = fl.simulate(game, ex.upper_merit(game.merit, plays=2), 20_000, runs=20, rounds=[2000, 20_000])
    early, late = result.fairness_regret.T
    assert fl.paired_t(late, 6 * early) < -3
    assert late.max() < ex.upper_merit_fairness_bound(game.merit, 4, 20_000, plays=2)


def test_the_bounds_by_the_logarithm_are_smaller_where_merit_is_steep():
    for c, better in ((0.1, False), (4, True)):
        game = ex.ExposureBandit(fl.gaussian([0.5, 0.1]), merit=me.exponential(c, -1, 1))
        drawn = 2 * (math.sqrt(2 / math.pi) + math.sqrt(2 * math.log(2e4))) * math.sqrt(2e4)
        rest = drawn + 1 / (math.sqrt(2 * math.pi) * math.log(2e4))
        assert (4 * c < 2 * c * math.exp(2 * c)) is better
        slope = min(4 * c, 2 * c * math.exp(2 * c))
        assert ex.fairx_ts_fairness_bound(game, 10_000) == pytest.approx(slope * rest)
        seen = ex.ContextExposureBandit(co.sphere(3, [0.6, 0.8]), merit=me.exponential(c, -1, 1))
        log = math.log(3e4)
        widths = math.sqrt(2 * 10_000 * 2 * math.log1p(5000))
        expected = (math.sqrt(2 * log) + math.sqrt(2 / math.pi)) * widths + 1 / (math.sqrt(2 * math.pi) * log)
        assert ex.fairx_lints_fairness_bound(seen, 10_000) == pytest.approx(slope * expected)
        radius = float(ex.linucb_radius(2, 10_000, failure=1e-4))
        upper = 1 + 4 * c * radius * widths
        assert ex.upper_merit_linear_fairness_bound(seen, 10_000) == pytest.approx(upper)


TWO = fl.Bandit(fl.bernoulli([0.5, 0.4]))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fl.simulate(TWO, ex.upper_merit(me.exponential(2), horizon=10), 11), "^horizon must be at most 10"),
        (lambda: fl.simulate(TWO, ex.upper_merit_kl(me.exponential(2), 3, 10), 10), "made for 3 arms"),
        (lambda: ex.upper_merit_kl_fairness_bound([0.0, 0.0], 10), "^means must not all be 0"),
        (lambda: ex.upper_merit_fairness_bound(me.exponential(2), 3, 10, plays=4), "^plays must be"),
        (lambda: de.upper_merit_delayed(me.exponential(2), 3, 4), "^plays must be"),
    ],
    ids=itertools.count(),
)
def test_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
