"""Upper merit: the lemmas of its proof, what it plays, its bounds, and what becomes of the papers' own."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import rel_entr
from scipy.stats import norm

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
    """Overrated arms cost what they are played; underrated ones what they deserve, or what they are played, or both."""
    rng, closest = np.random.default_rng(11), np.zeros(3)
    for _ in range(3400):
        arms = int(rng.integers(2, 9))
        plays = int(rng.integers(1, min(arms, 4) + 1))
        true = np.exp(spread * rng.normal(size=arms))
        rated = true * np.exp(spread * rng.normal(size=arms) * (rng.random(arms) < 0.4))
        true[: arms - plays] *= rng.random(arms - plays) < 0.9  # an arm may deserve nothing
        p, q = divided(rated, plays), divided(true, plays)
        off, over = np.abs(p - q).sum(), p @ np.maximum(1 - true / rated, 0)
        p, q, rated, true = (each[true > 0] for each in (p, q, rated, true))
        for i, split in enumerate((0.0, 1.0, rng.random())):
            between = rated ** (1 - split) * true**split
            under = q @ np.maximum(1 - between / true, 0) + p @ np.maximum(between / rated - 1, 0)
            bound = 2 * max(over, under)
            assert off <= bound * (1 + 1e-12) + 1e-11
            closest[i] = max(closest[i], off / max(bound, 1e-12))
    assert (closest > 0.85).all()
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
    """Lemma C: on average at most 3.35 sd / sqrt(tau); for coins and tau up to 1,000 about a quarter of that."""
    rng = np.random.default_rng(13)
    for tau in (10, 100, 1000):
        n = np.arange(1, 4 * tau)
        width = np.sqrt(0.5 * np.maximum(np.log(tau / n), 0) / n)
        coins = rng.random((2000, n.size)) < 0.5
        short = np.maximum(0.5 - np.cumsum(coins, axis=1) / n - width, 0).max(axis=1) * math.sqrt(tau) / 0.5
        assert fl.paired_t(short, 3.35 / 3) < -3
        assert fl.paired_t(short, 3.35 / 12) > 3


def exceed(s):
    """Bound by how much a sub-Gaussian variable of scale 1 exceeds s on average: by its variance, by exponentials."""
    theta = (s + math.sqrt(s * s + 4)) / 2
    return (math.sqrt(1 + s * s) - s) / 2, math.exp(-(theta**2) / 2) / theta


def far(s):
    """Bound by how much its size exceeds s."""
    return 1 - s if s <= 0.5 else 0.25 / s, 2 * exceed(s)[1]


def area(bounds):
    return sum(quad(lambda s: min(bounds(s)), a, a + 0.5)[0] for a in np.arange(0, 30, 0.5))


def test_by_how_much_a_variable_exceeds_a_threshold():
    """The bounds of the proof hold for the normal law and for laws on two and on three points, which come near them."""
    theta = np.linspace(-9, 9, 600)
    laws = [([x, -1 / x], [1 / (1 + x * x), x * x / (1 + x * x)]) for x in np.geomspace(0.05, 20, 100)]
    laws += [([x, -x, 0], [0.5 / x**2, 0.5 / x**2, 1 - 1 / x**2]) for x in np.linspace(1, 8, 50)]
    closest = np.zeros(4)
    for values, chances in laws:  # of variance 1; divided by their scale they are sub-Gaussian
        x, p = np.array(values), np.array(chances)
        small = x / max(1, (np.sqrt(2 * np.log(np.exp(np.outer(theta, x)) @ p)) / abs(theta)).max())
        for s in np.linspace(0, 3, 31):
            found = [p @ np.maximum(each - s, 0) for each in (x, small, abs(x), abs(small))]
            closest = np.maximum(closest, np.divide(found, [*exceed(s), *far(s)]))
    assert (closest < 1.001).all()
    assert (closest > [0.99, 0.6, 0.99, 0.6]).all()
    for s in np.linspace(0, 4, 41):
        normal = norm.pdf(s) - s * norm.sf(s)
        assert normal <= min(exceed(s))
        assert 2 * normal <= min(far(s))


def test_the_constants():
    """What the proof adds up, once more: widths, errors, and the truth above the interval."""
    widths = math.sqrt(2) * quad(lambda y: math.sqrt(math.log(1 / y) / y), 0, 1)[0]
    assert widths == pytest.approx(math.sqrt(4 * math.pi), rel=1e-6)
    b = 3.0  # the ratio of the blocks
    kappa, k = 4 * math.sqrt(b) / (1 + math.sqrt(b)) ** 2, np.arange(60)
    z = np.sqrt(2 * k * math.log(b))
    terms = b ** (-kappa * k + (k + 1) / 2) * np.exp(norm.logsf(z) - norm.logpdf(z))
    missed = terms.sum()
    assert missed < 3.35
    assert terms[:10].sum() < 3.339
    assert (terms[10:] < 0.38 * 0.63 ** k[10:]).all()
    one_sided, two_sided = 2 * math.sqrt(2 * area(exceed)), 2 * math.sqrt(2 * area(far))
    assert one_sided < 1.80
    assert two_sided < 2.38
    for rising, error, sides in ((True, one_sided, 1), (False, two_sided, 2)):
        merit = me.exponential(1) if rising else HILL
        for known, times in ((True, 1), (False, 2)):
            exact = 2 * (widths + error + times * sides * missed)
            bound = ex.upper_merit_fairness_bound(merit, 5, 10**6, known=known)
            printed = (bound - 8) / (merit.log_lipschitz * 0.5 * math.sqrt(5e6))
            assert exact <= printed < exact + 1
            modulus = {(True, True): 20, (True, False): 27, (False, True): 28, (False, False): 41}[rising, known]
            assert exact + 2 <= modulus < exact + 3
            exact = 2 * (widths + two_sided / math.log(2) + times * sides * missed)
            bound = ex.upper_merit_fairness_bound(merit, 5, 10**6, known=known, factor=2)
            printed = (bound - 8) / (merit.log_lipschitz * 0.5 * math.sqrt(5e6))
            assert exact <= printed < exact + 1
            modulus = {(True, True): 26, (True, False): 33, (False, True): 33, (False, False): 46}[rising, known]
            assert exact + 2 + 2 / math.log(2) <= modulus < exact + 3 + 2 / math.log(2)
        assert 4 * (widths + error + sides * missed) < (35 if rising else 51)


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
    bound = 2 * min(arms, horizon) * min(1, c) + 20 * horizon * c * 0.5 * math.sqrt(arms / horizon)
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


def test_the_bound_for_merit_equal_to_the_mean_is_the_formula():
    level, total = math.log(4 * 3 * 500**2), 0.9 + 0.5
    by_hand = 5 + 24 * math.sqrt(level * 500 * (1 + math.log(500)) / total)
    assert ex.upper_merit_kl_fairness_bound([0.9, 0.5, 0.0], 500) == pytest.approx(by_hand)


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


def test_in_doubt_it_is_optimistic_only_where_the_interval_allows_twice_the_merit():
    """By hand, round for round; at the end everywhere plug-in, and so from the start if no merit is twice another."""
    game = ex.ExposureBandit(fl.bernoulli([0.9, 0.6, 0.5]), merit=me.exponential(6))
    ways = set()
    for step in list(fl.trace(game, ex.upper_merit(game.merit, factor=2), 5000))[3:]:
        n = step.seen.observed
        mean, width = step.seen.total / n, 0.5 * np.sqrt(2 * np.maximum(np.log(step.t / (3 * n)), 0) / n)
        upper, plain = np.exp(6 * np.minimum(mean + width, 1)), np.exp(6 * mean)
        assert step.p == pytest.approx(divided(np.where(upper > 2 * plain, upper, plain), 1), rel=1e-9)
        ways.add((upper > 2 * plain).sum())
    assert len(ways) > 1
    assert (upper <= 2 * plain).all()
    mild = ex.ExposureBandit(fl.bernoulli([0.9, 0.6, 0.5]), merit=me.exponential(0.69))
    policies = ex.upper_merit(mild.merit, factor=2), ex.fairx_eg(mild.merit, 0)
    one, two = (fl.simulate(mild, each, 500, runs=3).fairness_regret for each in policies)
    assert (one == two).all()


def test_the_bounds_by_the_logarithm_are_smaller_where_merit_is_steep():
    for c, better in ((0.1, False), (4, True)):
        assert (4 * c < 2 * c * math.exp(2 * c)) is better
        slope = min(4 * c, 2 * c * math.exp(2 * c))
        seen = ex.ContextExposureBandit(co.sphere(3, [0.6, 0.8]), merit=me.exponential(c, -1, 1))
        log = math.log(3e4)
        widths = math.sqrt(2 * 10_000 * 2 * math.log1p(5000))
        expected = (math.sqrt(2 * log) + math.sqrt(2 / math.pi)) * widths + 1 / (math.sqrt(2 * math.pi) * log)
        assert ex.fairx_lints_fairness_bound(seen, 10_000) == pytest.approx(slope * expected)
        radius = float(ex.linucb_radius(2, 10_000, failure=1e-4))
        upper = 1 + 4 * c * radius * widths
        assert ex.upper_merit_linear_fairness_bound(seen, 10_000) == pytest.approx(upper)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: ex.upper_merit_kl_fairness_bound([0.0, 0.0], 10), "^means must not all be 0"),
        (lambda: ex.upper_merit_fairness_bound(me.exponential(2), 3, 10, plays=4), "^plays must be"),
        (lambda: ex.upper_merit(me.exponential(2), factor=0.5), "^factor must be"),
        (lambda: de.upper_merit_delayed(me.exponential(2), 3, 4), "^plays must be"),
    ],
    ids=itertools.count(),
)
def test_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
