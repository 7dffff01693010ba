"""The constants of the toolbox: what its proofs add up is below what its statements say."""

import itertools

import numpy as np
import pytest
from scipy.special import hyp1f1
from scipy.stats import beta, binom, chi2, kstwo, norm, poisson


@pytest.mark.parametrize("x", [0.001, 0.03, 0.4, 1.0, 7.5])
def test_sums_are_below_their_bounds_and_not_far(x):
    n = np.arange(200_000)
    for m in (0, 3, 40):
        total = np.exp(-x * n[m:]).sum()
        assert total == pytest.approx(np.exp(-x * m) / (1 - np.exp(-x)))
        assert total <= np.exp(-x * m) * (1 + 1 / x)
    for k in (1, 2, 50):
        assert np.minimum(1, k * np.exp(-x * n[1:])).sum() <= (1 + np.log(k)) / x
    totals = np.minimum(1, x / n[1:]).cumsum()
    bounds = x * (1 + np.log1p(n[1:] / x))
    assert (totals <= bounds).all()
    assert np.diff(bounds, 2).max() <= 1e-12  # concave
    assert totals[-1] > 0.3 * bounds[-1]


@pytest.mark.parametrize(("u", "v"), [(1, 1), (0.3, 0.2), (1, 9), (2.5, 2.5), (30, 4)])
def test_the_tilted_mean_of_a_beta_variable_stays_below_its_line(u, v):
    """The two steps of the proof of the Beta tails: the equation of the tilted mean, and the line."""
    n, h = u + v, 1e-3
    theta = np.linspace(0.05, 12, 50)

    def mean(tilt):
        return u / n * hyp1f1(u + 1, n + 1, tilt) / hyp1f1(u, n, tilt)

    m, slope = mean(theta), (mean(theta + h) - mean(theta - h)) / (2 * h)
    assert theta * slope == pytest.approx(u - n * m + theta * m * (1 - m), abs=1e-5)
    line = u / n + theta / (4 * (n + 1))
    assert (m <= line).all()
    assert (u - n * line + theta * line * (1 - line) <= theta / (4 * (n + 1)) + 1e-12).all()


def test_the_terms_of_two_thompson_proofs_are_those_of_their_bounds():
    """What the lemma adds for normal and for Beta posteriors, against what the theorems have room for."""
    for arms, rounds in itertools.product((2, 3, 14), (14, 100, 10**6)):
        s = np.sqrt(2 * np.log(arms * rounds))
        excess = norm.pdf(s) - s * norm.sf(s)
        assert arms * rounds * excess <= arms * rounds * norm.pdf(s) / s**2
        assert arms * rounds * norm.pdf(s) / s**2 == pytest.approx(1 / (2 * np.sqrt(2 * np.pi) * np.log(arms * rounds)))
        s = np.sqrt(np.log(2 * arms * rounds))
        for arrivals, successes in ((0, 0), (1, 0), (5, 2), (40, 40)):
            law = beta(1 + successes, 1 + arrivals - successes)
            w = 1 / np.sqrt(arrivals + 1)
            assert law.std() <= w / 2
            beyond = law.sf(law.mean() + s * w) + law.cdf(law.mean() - s * w)
            assert beyond <= 2 / (2 * arms * rounds) ** 2
        assert 2 * arms * rounds / (2 * arms * rounds) ** 2 <= 1 / rounds


def walk_ever_beyond(x, steps):
    """Return the probability that steps up or down lead as far as x from the start at some time."""
    alive, beyond = np.ones(1), 0.0
    for t in range(1, steps + 1):
        alive = (np.append(alive, 0) + np.append(0, alive)) / 2
        there = np.abs(2 * np.arange(t + 1) - t) >= x
        beyond += alive[there].sum()
        alive[there] = 0
    return beyond


def axis_seldom(n):
    """Return the probability that of five axes drawn at random one has come up at most half as often as expected."""
    often = poisson.pmf(np.arange(n + 1), n / 5) * (np.arange(n + 1) > n / 10)
    together = often
    for _ in range(4):  # five independent Poisson counts, given that their sum is n
        together = np.convolve(together, often)[: n + 1]
    return 1 - together[n] / poisson.pmf(n, n)


FAR, DRAWS, S, X = np.arange(10, 41), np.arange(20, 301, 10), np.linspace(0.05, 0.25, 60), np.linspace(0, 0.45, 60)
DELTA, SHARE, PLAYS, U = np.geomspace(0.001, 1, 100), np.linspace(0, 0.95, 20), np.arange(1, 501), np.linspace(0, 8, 60)
KNOWN = {  # exact values, and the bounds on them; the information is that of a mean with the law Beta(3, 3)
    "Azuma": (binom.sf(49 + X[:50] * 50, 100, 0.5), np.exp(-((100 * X[:50]) ** 2) / 200)),
    "Kolmogorov": ([walk_ever_beyond(x, 100) for x in FAR], 100 / FAR**2),
    "a multiple": (binom.sf(np.floor((np.e - 1) * 5 - np.log(DELTA)), 100, 0.05), DELTA),
    "van Trees": (42 * (6 + PLAYS) / 9, 5 * PLAYS + 40),
    "a share": (binom.cdf(np.floor(20 * SHARE), 100, 0.2), np.exp(-10 * (1 - SHARE) ** 2)),
    "Tropp": ([axis_seldom(n) for n in DRAWS], 5 * (2 / np.e) ** (DRAWS / 10)),
    "DKW": (kstwo.sf(S, 100), 2 * np.exp(-200 * S**2)),
    "potential": (np.cumsum(1 / (1 + (PLAYS - 1) // 10)), 20 * np.log1p(PLAYS / 10)),
    "normal length": (chi2.sf((10**0.5 + np.sqrt(2 * U)) ** 2, 10), np.exp(-U)),
    "Beta 5, 5": (beta.sf(0.5 + X, 5, 5), np.exp(-22 * X**2)),
    "Beta 1, 9": (beta.sf(0.1 + X, 1, 9), np.exp(-22 * X**2)),
}


@pytest.mark.parametrize("bound", KNOWN)
def test_exact_values_are_below_their_bounds(bound):
    exact, limit = map(np.asarray, KNOWN[bound])
    assert (exact <= limit * (1 + 1e-9)).all()
