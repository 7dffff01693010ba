r"""The optimistic step, solved exactly.

An arm of mean :math:`x` deserves exposure in proportion to its merit :math:`f(x) > 0`. The optimistic step of the
papers asks for the means in a box :math:`\prod_a [l_a, u_a]` for which the fair policy earns most,

.. math:: \max_\mu G(\mu), \qquad G(\mu) = \frac{\sum_a f(\mu_a) \mu_a}{\sum_a f(\mu_a)} .

It looks hard and is not. A value :math:`c` is reached by some point of the box if and only if
:math:`\max_\mu \sum_a f(\mu_a)(\mu_a - c) \ge 0`, and that maximum is taken arm by arm. Dinkelbach's
iteration sets :math:`c` to :math:`G` of the arm-by-arm maximiser until it no longer grows.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairlib.core import PerArm, helper

__all__ = [
    "MeritFunctions",
    "Box",
    "best_in_box",
    "exponential_in_box",
    "upper_ends",
    "dinkelbach",
    "search_best",
]


class MeritFunctions(NamedTuple):
    """A merit function as rules have it: what `cut`, `largest_merit`, `best_in_box` and `play_by_merit` need."""

    value: Any
    best: Any
    solve: Any
    params: NDArray[np.float64]
    low: float
    high: float
    rising: float


class Box(NamedTuple):
    """Memory of a rule that is optimistic: a box of means, and the most favourable point of it.

    Parameters
    ----------
    low, high : ndarray, shape (K,)
        Smallest and largest mean of each arm.
    mu : ndarray, shape (K,)
        The means that `best_in_box` fills in.

    Examples
    --------
    >>> Box(np.zeros(2), np.ones(2), np.zeros(2)).high
    array([1., 1.])
    """

    low: PerArm
    high: PerArm
    mu: PerArm


@helper
def best_in_box(merit: MeritFunctions, box: Box) -> None:
    """Fill the optimistic means of a box: those for which the fair policy earns most, exactly.

    Parameters
    ----------
    merit : MeritFunctions
        The merit function, a setting of the rule.
    box : Box
        The box, in the merit's range; its `mu` receives the means.

    See Also
    --------
    optimistic_means : the same, for arrays that are looked at.

    Examples
    --------
    >>> from fairlib.merit import exponential
    >>> box = Box(np.array([0.0, 0.4]), np.array([0.2, 0.9]), np.zeros(2))
    >>> best_in_box(exponential(2).functions, box)
    >>> box.mu
    array([0. , 0.9])
    """
    merit.solve(merit, box.low, box.high, box.mu)


def exponential_in_box(steepness, low, high, mu):
    r"""Fill the optimistic means for exponential merit: sort and scan, with no iteration.

    For a trial value c an arm takes its high end if and only if :math:`c \le u_a + \Delta_a / (e^{k \Delta_a} - 1)`,
    with :math:`\Delta_a = u_a - l_a`. So the best point is one of K + 1 nested corners of the box.
    """
    k = steepness
    turn, below = np.empty(mu.size), np.empty(mu.size)
    shift = high[0]
    for a in range(mu.size):
        shift = max(shift, high[a])
        width = high[a] - low[a]
        turn[a] = -high[a] - (width / math.expm1(k * width) if k * width > 1e-12 else 1.0 / k)
    order = np.argsort(turn, kind="mergesort")  # for a few numbers four times as fast as Numba's other sort
    earned, weight = 0.0, 0.0
    for a in range(mu.size):
        below[a] = math.exp(k * (low[a] - shift))
        weight += below[a]
        earned += below[a] * low[a]
        mu[a] = low[a]
    best, taken = earned / weight, 0
    for i in range(mu.size):
        a = order[i]
        above = math.exp(k * (high[a] - shift))
        weight += above - below[a]
        earned += above * high[a] - below[a] * low[a]
        if earned / weight > best:
            best, taken = earned / weight, i + 1
    for i in range(taken):
        mu[order[i]] = high[order[i]]


def upper_ends(high, mu):
    """Take the upper end of every interval."""
    for a in range(mu.size):
        mu[a] = high[a]


@helper
def dinkelbach(merit: MeritFunctions, low: Any, high: Any, mu: Any) -> None:
    """Fill the optimistic means for any merit, by Dinkelbach's iteration.

    Parameters
    ----------
    merit : MeritFunctions
        The merit function.
    low, high : ndarray, shape (K,)
        The box.
    mu : ndarray, shape (K,)
        Receives the means.

    Examples
    --------
    >>> from fairlib.merit import power
    >>> mu = np.zeros(2)
    >>> dinkelbach(power(2, 4).functions, np.array([0.0, 0.4]), np.array([0.2, 0.9]), mu)
    >>> mu
    array([0.2, 0.9])
    """
    for a in range(mu.size):
        mu[a] = high[a]
    c = before = -math.inf
    for _ in range(100):
        earned, weight = 0.0, 0.0
        for a in range(mu.size):
            value = merit.value(merit.params, mu[a])
            weight += value
            earned += value * mu[a]
        if not earned / weight > c:  # it has stopped growing
            if earned / weight < c:  # in exact arithmetic it never falls: take the step before
                for a in range(mu.size):
                    mu[a] = merit.best(merit.params, low[a], high[a], before) if before > -math.inf else high[a]
            break
        before, c = c, earned / weight
        for a in range(mu.size):
            mu[a] = merit.best(merit.params, low[a], high[a], c)


@helper
def search_best(value: Any, params: Any, low: float, high: float, slope: float, c: float) -> float:
    """Search for the x in [low, high] with the largest ``f(x) (slope x - c)``: on 65 points, then by golden sections.

    Parameters
    ----------
    value : callable
        The merit function, ``value(params, x)``.
    params : ndarray
        Its settings.
    low, high : float
        The interval.
    slope, c : float
        The line by which the merit is multiplied: slope 1 and the trial value for the optimistic step, 0 and -1 for the
        merit itself.

    Returns
    -------
    float
        The x; an end point exactly, any other to some 1e-9 of the interval's length.

    Examples
    --------
    >>> def hill(params, x):
    ...     return math.exp(-x * x)
    >>> round(search_best(hill, np.zeros(0), 0.0, 2.0, 1.0, 0.0), 6)  # the root of 1/2
    0.707107
    >>> search_best(hill, np.zeros(0), 0.0, 2.0, 0.0, -1.0)
    0.0
    """
    step = (high - low) / 64
    chosen, largest = high, value(params, high) * (slope * high - c)
    for i in range(64):
        x = low + i * step
        gain = value(params, x) * (slope * x - c)
        if gain > largest:
            chosen, largest = x, gain
    left, right = max(chosen - step, low), min(chosen + step, high)
    for _ in range(40):  # each leaves 0.618 of what there was
        one, two = right - 0.6180339887498949 * (right - left), left + 0.6180339887498949 * (right - left)
        if value(params, one) * (slope * one - c) >= value(params, two) * (slope * two - c):
            right = two
        else:
            left = one
    x = 0.5 * (left + right)
    return x if value(params, x) * (slope * x - c) > largest else chosen
