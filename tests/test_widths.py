"""Confidence widths: what a policy plays after any counts, in any round, is what its box says, written out once more.

Chaining's are in test_after.py; those of policies with contexts in test_exposure_contexts.py, test_ranks.py and
test_shares.py.
"""

import math

import numpy as np
import pytest
from helpers import probabilities
from scipy.optimize import brentq
from scipy.special import expit, logit, rel_entr

import fairlib as fl
from fairlib import after as af
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import merit as me
from fairlib import shares as sh
from fairlib.core import share_out

K, T = 4, 3000
STEEP, GENTLE, LOW = me.exponential(6), me.exponential(1), me.clipped(0.4)
HILL = me.Merit(
    "hill", lambda x: math.exp(8.0 * x * (1.0 - x)), low=0, high=1, minimum=1, lipschitz=60, log_lipschitz=8
)


def best(index, plays=1):
    return np.isin(np.arange(index.size), np.argsort(-index, kind="stable")[:plays]) * 1.0


def bonus(factor, top=math.inf):
    """Play the largest mean with a bonus of sqrt(factor ln t / N), which is no larger than `top`."""
    return lambda t, n, m, s: best(np.minimum(s / n + np.sqrt(factor * np.log(t) / n), top))


def in_groups(t, n, m, s):
    """Of two groups of two serve the one that is further behind, or else UCB1's; play by the merit of means in it."""
    number, total = n.reshape(2, 2).sum(axis=1), s.reshape(2, 2).sum(axis=1)
    behind = np.array([0.2, 0.3]) * (t - 1) - number
    index = behind if behind.max() > 0 else total / number + np.sqrt(2 * np.log(t) / number)
    shares = np.where(np.arange(4) // 2 == np.argmax(index), STEEP(s / n), 0)
    return shares / shares.sum()


def nash(t, n, m, s):
    if s.max() <= 420 * 0.2**2 * math.log(T):
        return np.full(K, 1 / K)
    return best(s / n + 2 * 0.2 * np.sqrt(2 * s / n * math.log(T) / n))


def by_largest_merit(merit, plays, width):
    """Play in proportion to the largest merit of a point of each interval: the nearest one to the merit's peak."""
    peak = 0.5 if merit is HILL else 1

    def box(t, n, m, s):
        mean, w = s / np.maximum(m, 1), width(t, m)
        p = merit(np.clip(np.clip(peak, mean - w, mean + w), 0, 1))
        share_out(p, plays)
        return p

    return box


def by_favour(merit, plays, ends):
    """Play by the merit of the most favourable means in a box."""

    def box(t, n, m, s):
        low, high = np.clip(ends(t, n, m, s), 0, 1)
        return me.fair_policy(merit, me.optimistic_means(merit, low, high), plays)

    return box


def seen(inside):
    """Return the ends of the mean of what has arrived, with a width of sqrt(inside(t) / M)."""
    return lambda t, n, m, s: s / np.maximum(m, 1) + np.outer([-1, 1], np.sqrt(inside(t) / np.maximum(m, 1)))


def safe(inside):
    """Return the ends if what is missing counts as 0 below and as 1 above, with a width of sqrt(inside(t) / N)."""
    return lambda t, n, m, s: np.array([s, n - m + s]) / n + np.outer([-1, 1], np.sqrt(inside(t) / n))


def overlap(t, n, m, s):
    """Return what both boxes share, with T for t, or the safe box if they part."""
    one, other = (
        ends(T, n, m, s) for ends in (seen(lambda t: np.log(4 * 2 * K * t)), safe(lambda t: np.log(6 * 2 * K * t)))
    )
    low, high = np.maximum(one[0], other[0]), np.minimum(one[1], other[1])
    return other if (low > high).any() else (low, high)


def chernoff(t, n, m, s):
    def far(at, mean, number):
        x = expit([at, -at])
        return number * rel_entr([mean, 1 - mean], x).sum() - math.log(4 * K * T * T)

    tops = [brentq(far, logit(max(mean, 1e-300)), 700, (mean, number)) for mean, number in zip(s / n, n, strict=True)]
    return me.fair_policy(STEEP, expit(tops))


LATE = {  # of what arrives late
    "CUCB-D": (
        de.cucb_d(2),
        lambda t, n, m, s: best(s / np.maximum(m, 1) + np.sqrt(1.5 * np.log(t) / np.maximum(m, 1)), 2),
    ),
    "FCUCB-D": (de.fcucb_d(GENTLE, K, 2), by_favour(GENTLE, 2, seen(lambda t: np.log(4 * 2 * K * t)))),
    "FCUCB-D, own": (de.fcucb_d(LOW, K, 2, (0.1, 0.3)), by_favour(LOW, 2, seen(lambda t: 0.1 + 0.3 * np.log(t)))),
    "OP-FCUCB-D": (de.op_fcucb_d(GENTLE, K, 2), by_favour(GENTLE, 2, safe(lambda t: np.log(6 * 2 * K * t)))),
    "OP-FCUCB-D, own": (de.op_fcucb_d(LOW, K, 2, (0.1, 0.3)), by_favour(LOW, 2, safe(lambda t: 0.1 + 0.3 * np.log(t)))),
    "Two-box": (de.two_box(GENTLE, K, 2, T), by_favour(GENTLE, 2, overlap)),
    "upper merit, delayed": (
        de.upper_merit_delayed(HILL, K, 2),
        by_largest_merit(HILL, 2, lambda t, m: np.sqrt(np.log(4 * 2 * K * t) / np.maximum(m, 1))),
    ),
}


def upper(merit, plays=1, horizon=None):
    """Return upper merit for a standard deviation of 0.6, and its box."""

    def width(t, n):
        return 0.6 * np.sqrt(2 / n * np.maximum(np.log(plays * (horizon or t) / (K * n)), 0))

    return ex.upper_merit(merit, 0.6, plays, horizon), by_largest_merit(merit, plays, width)


AT_ONCE = {
    "UCB1": (fl.ucb1(), bonus(2)),
    "FAIR-UCB": (sh.fair_ucb([0] * K), bonus(2)),
    "T-FAIR-UCB": (sh.t_fair_ucb([0] * K, T), bonus(2)),
    "LFG": (sh.lfg([0.1] * K, 1), bonus(1.5, top=1)),
    "NCB": (af.ncb(T, 0.2), nash),
    "fair to groups": (af.fair_groups([0, 0, 1, 1], [0.2, 0.3], STEEP), in_groups),
    "FairX-UCB": (ex.fairx_ucb(STEEP, 0.4), by_favour(STEEP, 1, seen(lambda t: 0.4**2))),
    "upper merit": upper(STEEP),
    "upper merit, hill": upper(HILL),
    "upper merit, two plays": upper(LOW, 2),
    "upper merit, known": upper(HILL, 2, T),
    "upper merit, kl": (ex.upper_merit_kl(STEEP, K, T), chernoff),
}


@pytest.mark.parametrize("name", [*AT_ONCE, *LATE])
def test_a_policy_plays_by_the_widths_of_its_box(name):
    """Means are as much smaller as a width would be larger, for one of many constants: so indices are nearly alike."""
    policy, box = (AT_ONCE | LATE)[name]
    rng = np.random.default_rng(48)
    for _ in range(300):
        n = np.ceil(10 ** rng.uniform(0.5, 2.5, K)).astype(int)
        m = rng.integers(0, n + 1) if name in LATE else n
        t = int(n.sum()) // policy.plays + 1
        width = rng.uniform(0, 3) * np.sqrt(np.log(t) / np.maximum(m, 1))
        s = m * np.clip(rng.uniform(0.3, 1.2) - width + 0.01 * rng.normal(size=K), 0, 0.9)
        assert probabilities(policy, t, m, s, selected=n) == pytest.approx(box(t, n, m, s), rel=1e-6, abs=1e-9), (t, n)
