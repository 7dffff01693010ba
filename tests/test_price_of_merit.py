"""The price of a merit function: its modulus, the two bounds, and a learner that knows the games."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from fairlib import exposure as ex
from fairlib import merit as me


def root_kink(x):
    return 1.0 + math.sqrt(abs(x - 0.5))


def bell(x):
    return math.exp(-20.0 * (x - 0.37) ** 2)


def step(x):
    return 2.0 if x >= 0.3 else 1.0


def own(name, value, minimum, slope=math.inf, rising=False):
    return me.Merit(name, value, low=0, high=1, minimum=minimum, lipschitz=slope, log_lipschitz=slope, rising=rising)


KINK, BELL = own("kink", root_kink, 1.0), own("bell", bell, 1e-9, 40)
CLOSED = {  # the modulus by hand
    "exponential": (me.exponential(7), lambda d: 7 * min(d, 1)),
    "exponential, wide": (me.exponential(3, -2, 2), lambda d: 3 * min(d, 4)),
    "nearly zero": (me.clipped(1e-6), lambda d: math.log(min(1e-6 + d, 1) / 1e-6)),
    "kink": (KINK, lambda d: math.log1p(math.sqrt(min(d, 0.5)))),
    "step": (own("step", step, 1.0, rising=True), lambda d: math.log(2)),
    "line": (me.power(5, 1), lambda d: math.log1p(5 * min(d, 1))),
}


@pytest.mark.parametrize("name", CLOSED)
def test_the_modulus_of_a_merit_function(name):
    merit, exact = CLOSED[name]
    for d in (1e-7, 1e-4, 0.01, 0.1, 0.3, 0.9, 1.0, 50.0):
        assert me.merit_modulus(merit, d) == pytest.approx(exact(d), rel=1e-6)


@pytest.mark.parametrize("merit", [KINK, BELL, me.power(100, 4), me.clipped(0.05)], ids=repr)
def test_no_pair_of_means_is_farther_apart(merit):
    rng = np.random.default_rng(21)
    for d in (1e-3, 0.05, 0.4):
        x = rng.random(20_000)
        y = np.clip(x + rng.uniform(-d, d, x.size), 0, 1)
        apart = np.abs(np.log(merit(x)) - np.log(merit(y))).max()
        modulus = me.merit_modulus(merit, d)
        assert 0.6 * modulus < apart <= modulus * (1 + 1e-9)


def told_the_pairs(merit, x, y, arms, horizon, sd):
    """Return the exact cost of the learner that knows the games of the proof and plays the likelier share."""
    pairs, f, g = arms // 2, float(merit([x])[0]), float(merit([y])[0])
    whole = pairs * (f + g) + (g if arms % 2 else 0)
    n = np.arange(horizon)
    wrong = norm.cdf(-abs(x - y) * np.sqrt(n) / (2 * sd))
    return pairs * 2 * abs(f - g) / whole * sum(binom.pmf(n, t, (f + g) / whole) @ wrong for t in n)


@pytest.mark.parametrize("name", ["exponential", "nearly zero", "kink"])
def test_the_price_of_a_merit_function(name):
    """Both bounds by hand, and between them a player who has an unfair advantage."""
    merit, omega = CLOSED[name]
    steep = {"exponential": (0.5, 1), "nearly zero": (1e-6, 1), "kink": (0.5, 1)}[name]
    for arms, sd in itertools.product((2, 3, 8), (0.05, 0.5)):
        t, m = np.array([1, 40, 400]), arms // 2
        lower, upper = ex.price_of_merit(merit, arms, t, sd)
        constant = 28 if name == "kink" else 20
        for rounds, low, high in zip(t.tolist(), lower, upper, strict=True):
            late = m / arms * (1 - math.exp(-1)) * rounds * math.tanh(omega(sd * math.sqrt(2 * m / rounds)) / 2)
            unseen = 2 / arms * sum(range(m, m - min(rounds, m), -1)) * math.tanh(omega(1) / 2)
            assert low == pytest.approx(max(late, unseen), rel=1e-6)
            assert high == pytest.approx(
                min(
                    2 * rounds,
                    2 * min(arms, rounds) * (1 - math.exp(-omega(1)))
                    + constant * rounds * omega(sd * math.sqrt(arms / rounds)),
                ),
                rel=1e-6,
            )
            assert low >= 0.048 * rounds * min(1, omega(sd * math.sqrt(arms / rounds)))
            assert low >= 0.051 * min(rounds, arms) * min(1, omega(1))
            assert ex.price_of_merit(merit, arms, rounds, sd) == (low, high)
            apart = min(sd * math.sqrt(2 * m / rounds), steep[1] - steep[0])
            x, y = (1, 1 - apart) if name == "exponential" else (steep[0] + apart, steep[0])
            assert late <= told_the_pairs(merit, x, y, arms, rounds, sd) * (1 + 1e-9)
        assert (lower <= upper).all()


def test_one_arm_has_nothing_to_share():
    lower, upper = ex.price_of_merit(me.exponential(2), 1, 100)
    assert lower == 0 <= upper
