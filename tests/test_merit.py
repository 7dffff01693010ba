"""Merit functions, and the optimistic step against all corners, dense grids and a certificate of optimality."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import minimize

from fairlib import merit as me


def bump_value(params, x):
    return 1.0 + params[0] * math.exp(-200.0 * (x - 0.4) ** 2)


def bump_best(params, low, high, c):
    best, largest = low, bump_value_at(params, low) * (low - c)
    for i in range(1, 2001):
        x = low + (high - low) * i / 2000
        if bump_value_at(params, x) * (x - c) > largest:
            best, largest = x, bump_value_at(params, x) * (x - c)
    return best


bump_value_at = me.compiled(bump_value, me.VALUE)

MERITS = [
    me.exponential(1),
    me.exponential(4),
    me.exponential(10),
    me.power(2, 4),
    me.power(3.5, 1),
    me.power(100, 4),
    me.power(40, 2.5),
    me.clipped(0.05),
    me.clipped(0.4),
]
named = pytest.mark.parametrize("merit", MERITS, ids=lambda merit: merit.name)


def boxes(count, arms, widest, seed):
    rng = np.random.default_rng(seed)
    centre, width = rng.random((count, arms)), rng.uniform(0, widest, (count, arms))
    return np.maximum(centre - width, 0), np.minimum(centre + width, 1)


def value(merit, mu):
    merits = merit(mu)
    return float(merits @ mu / merits.sum())


@pytest.mark.parametrize("steepness", [0.5, 2, 4, 10])
def test_sort_and_scan_is_never_below_any_corner(steepness):
    """10,000 boxes in all, each against its 1,024 corners."""
    merit = me.exponential(steepness)
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=10)))
    worst = 0.0
    for low, high in zip(*boxes(2500, 10, 0.3, int(10 * steepness)), strict=True):
        mu = me.optimistic_means(merit, low, high)
        assert (mu >= low).all()
        assert (mu <= high).all()
        below, above = np.exp(steepness * low), np.exp(steepness * high)
        earned = corners @ (above * high - below * low) + below @ low
        best = (earned / (corners @ (above - below) + below.sum())).max()
        weights = np.exp(steepness * mu)
        worst = max(worst, abs(best - weights @ mu / weights.sum()))
    assert worst <= 1e-12


@named
@pytest.mark.parametrize("widest", [0.02, 0.3, 1.0])
def test_no_point_of_the_box_is_better(merit, widest):
    """With c the value reached, the largest sum of f(x)(x - c) over a dense grid, arm by arm, must not exceed 0.

    That is a certificate: it says that no point of the grid of all arms together, 2,001^K of them, has a value above c.
    """
    for arms in (1, 2, 5, 10):
        for low, high in zip(*boxes(25, arms, widest, arms), strict=True):
            mu = me.optimistic_means(merit, low, high)
            assert (mu >= low).all()
            assert (mu <= high).all()
            c = value(merit, mu)
            grid = np.linspace(low, high, 2001)
            gain = (merit(grid) * (grid - c)).max(axis=0)
            assert gain.sum() <= 1e-12 * arms * merit(1.0)


@pytest.mark.parametrize("steepness", [1, 3, 8])
def test_both_ways_agree_for_exponential_merit(steepness):
    merit = me.exponential(steepness)
    general = me.dinkelbach(me.compiled(merit.value, me.VALUE), me.compiled(merit.best, me.BEST))
    for low, high in zip(*boxes(300, 6, 0.5, 1), strict=True):
        mu = np.empty(6)
        general(np.array(merit.params), low.copy(), high.copy(), mu)
        assert value(merit, mu) == pytest.approx(value(merit, me.optimistic_means(merit, low, high)), abs=1e-14)


def test_a_local_solver_is_never_better_and_often_worse():
    merit = me.exponential(10)
    shortfall = []
    for low, high in zip(*boxes(40, 8, 0.3, 2), strict=True):
        exact = value(merit, me.optimistic_means(merit, low, high))

        def loss(mu):
            weights = np.exp(10 * mu)
            return -(weights @ mu) / weights.sum()

        found = -minimize(loss, (low + high) / 2, bounds=list(zip(low, high, strict=True)), method="SLSQP").fun
        shortfall.append(exact - found)
    assert min(shortfall) >= -1e-9
    assert max(shortfall) > 1e-3


def test_the_experiments_of_the_delay_paper_need_no_optimiser():
    """Erratum E-D21: with A ((p - 1)/(p + 1))^(p - 1) at most 1 the upper ends are optimal."""
    for scale, exponent in ((2, 2), (2, 4), (2, 6), (2, 8), (3.5, 4)):
        assert scale * ((exponent - 1) / (exponent + 1)) ** (exponent - 1) <= 1
        for low, high in zip(*boxes(200, 7, 0.5, exponent), strict=True):
            assert np.array_equal(me.optimistic_means(me.power(scale, exponent), low, high), high)


def test_an_optimum_inside_the_box():
    mu = me.optimistic_means(me.power(100, 4), [1.0, 0.0], [1.0, 0.9])
    assert mu == pytest.approx([1.0, 0.1456], abs=1e-4)
    assert value(me.power(100, 4), mu) == pytest.approx(0.99125, abs=1e-5)


def test_newton_finds_the_inner_maximum_of_the_power_merit():
    """Against a fine grid, for steepnesses from barely enough to extreme, and a trial value c from 0 to 1."""
    rng, inner = np.random.default_rng(11), 0
    for _ in range(600):
        p, c = rng.choice([1.001, 1.05, 1.5, 2, 3, 4, 8]), rng.uniform(0.2, 1)
        barely = 1 / (c**p * ((p - 1) / (p + 1)) ** (p - 1))
        merit = me.power(barely * rng.choice([0.9, 1 + 1e-9, 1.01, 1.5, 10, 1e6]), p)
        low, high = rng.uniform(0, 0.2) * rng.choice([0, 1]), rng.uniform(0.2, max(0.2, c))
        x = me.power_best(np.array(merit.params), low, high, c)
        grid = np.concatenate([np.linspace(low, high, 4001), np.geomspace(max(low, 1e-12), high, 4001)])
        best = (merit(grid) * (grid - c)).max()
        assert low <= x <= high
        assert merit([x])[0] * (x - c) >= best - 1e-13 * merit([1.0])[0]
        inner += low < x < high
    assert inner > 100


def test_a_merit_may_have_no_largest_slope():
    merit = me.Merit("root", bump_value, bump_best, [3.0], 0.0, 1.0, 1.0, math.inf, math.inf)
    assert merit.lipschitz == merit.log_lipschitz == math.inf


def test_a_merit_of_a_reader_s_own():
    merit = me.Merit("bump", bump_value, bump_best, [3.0], 0.0, 1.0, 1.0, 40.0, 20.0)
    assert merit([0.4]) == pytest.approx([4.0])
    low, high = np.array([0.2, 0.9]), np.array([0.8, 0.95])
    c = value(merit, me.optimistic_means(merit, low, high))
    rng = np.random.default_rng(0)
    assert c >= max(value(merit, rng.uniform(low, high)) for _ in range(500)) - 1e-6


@named
def test_the_constants_are_those_of_the_function(merit):
    x = np.linspace(merit.low, merit.high, 20_001)
    f = merit(x)
    slope, log_slope = np.diff(f) / np.diff(x), np.diff(np.log(f)) / np.diff(x)
    assert f.min() == pytest.approx(merit.minimum)
    assert slope.max() == pytest.approx(merit.lipschitz, rel=2e-3)
    assert log_slope.max() == pytest.approx(merit.log_lipschitz, rel=5e-3)
    assert slope.max() <= merit.lipschitz * (1 + 1e-9)
    assert log_slope.max() <= merit.log_lipschitz * (1 + 1e-9)


@named
def test_the_fair_policy_is_fair(merit):
    means = np.array([0.1, 0.5, 0.9, 1.0])
    p = me.fair_policy(merit, means)
    assert p.sum() == pytest.approx(1)
    assert np.ptp(p / merit(means)) <= 1e-15 * (p / merit(means)).max() * 10


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: me.exponential(0), ValueError, "steepness must be a number above 0"),
        (lambda: me.exponential(math.nan), ValueError, "steepness must be"),
        (lambda: me.exponential(800), ValueError, "steepness must be at most 700 on this range, not 800"),
        (lambda: me.exponential(2, 1, 0), ValueError, "high must be above low"),
        (lambda: me.power(-1, 2), ValueError, "scale must be a number above 0"),
        (lambda: me.power(1, 0.5), ValueError, "exponent must be"),
        (lambda: me.clipped(0), ValueError, "floor must be a number above 0"),
        (lambda: me.clipped(0.5, 0.4), ValueError, "high must be a number above 0.5"),
        (
            lambda: me.Merit("zero", me.clipped_value, me.clipped_best, [-1.0], 0.0, 1.0, 1.0, 1.0, 1.0),
            ValueError,
            "the merit 'zero' must be a positive number from 0 to 1; at 0 it is 0.0",
        ),
        (
            lambda: me.Merit("nan", lambda params, x: math.nan, me.clipped_best, [1.0], 0.0, 1.0, 1.0, 1.0, 1.0),
            ValueError,
            "the merit 'nan' must be a positive number",
        ),
        (
            lambda: me.Merit("down", bump_value, bump_best, [3.0], 0.0, 1.0, 1.0, -1.0, 1.0),
            ValueError,
            "^lipschitz must be",
        ),
        (
            lambda: me.Merit("down", bump_value, bump_best, [3.0], 0.0, 1.0, 1.0, 1.0, math.nan),
            ValueError,
            "^log_lipschitz must be",
        ),
        (lambda: me.fair_policy(me.power(1, 2), [0.5, 1.5]), ValueError, r"means must be numbers in \[0, 1\], not 1.5"),
        (
            lambda: me.optimistic_means(me.power(1, 2), [0.5], [0.4]),
            ValueError,
            "low must be at most high, 0.4, not 0.5",
        ),
        (
            lambda: me.optimistic_means(me.power(1, 2), [0.5], [0.6, 0.7]),
            ValueError,
            "high must have one number an arm",
        ),
        (lambda: me.optimistic_means("exp", [0.5], [0.6]), TypeError, "merit must be a Merit"),
        (lambda: me.optimistic_step(None), TypeError, "merit must be a Merit"),
    ],
    ids=itertools.count(),
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
