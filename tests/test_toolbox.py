"""The constants of the toolbox: what its proofs add up is below what its statements say."""

import itertools

import numpy as np
import pytest
from scipy.special import hyp1f1
from scipy.stats import beta, norm


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
