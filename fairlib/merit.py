r"""Merit functions, the fair policy that they define, and the optimistic step, solved exactly.

An arm of mean :math:`x` deserves exposure in proportion to its merit :math:`f(x) > 0`. The optimistic step of the
papers asks for the means in a box :math:`\prod_a [l_a, u_a]` for which the fair policy earns most,

.. math:: \max_\mu G(\mu), \qquad G(\mu) = \frac{\sum_a f(\mu_a) \mu_a}{\sum_a f(\mu_a)} .

It looks hard and is not. A value :math:`c` is reached by some point of the box if and only if
:math:`\max_\mu \sum_a f(\mu_a)(\mu_a - c) \ge 0`, and that maximum is taken arm by arm. Dinkelbach's
iteration sets :math:`c` to :math:`G` of the arm-by-arm maximiser until it no longer grows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import float64, types
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.compilation import compiled, helper

VALUE = types.float64(float64[::1], float64)
"""What gives an arm's merit: ``value(params, x)``."""

BEST = types.float64(float64[::1], float64, float64, float64)
"""What maximises ``f(x) (x - c)`` over an interval: ``best(params, low, high, c)``."""

STEP = types.void(float64[::1], float64[::1], float64[::1], float64[::1])
"""What fills the optimistic means of a box: ``step(params, low, high, mu)``."""


@dataclass(frozen=True, eq=False)
class Merit:
    """A merit function on a range of means; made by `exponential`, `power`, `clipped`, or of a reader's own.

    Parameters
    ----------
    name : str
        What figures call it.
    value : callable
        ``value(params, x)`` returns the merit of an arm of mean x. Plain Python with `math`; it is compiled.
    best : callable
        ``best(params, low, high, c)`` returns the x in [low, high] that maximises ``value(params, x) * (x - c)``.
    params : array_like, shape (m,)
        The numbers that both are set with.
    low, high : float
        The range of means that the merit is for.
    minimum : float
        Smallest merit on the range, above 0.
    lipschitz : float
        Largest slope of the merit on the range; ``math.inf`` if there is none.
    log_lipschitz : float
        Largest slope of its logarithm; ``math.inf`` if there is none.

    Raises
    ------
    TypeError, ValueError
        If a number is of the wrong kind, the range is empty, or the merit is nan, infinite or not positive somewhere
        on a grid of 1,001 points of the range.

    Examples
    --------
    >>> merit = exponential(2.0)
    >>> merit([0.0, 0.5]).round(3)
    array([1.   , 2.718])
    """

    name: str
    value: Callable[..., float]
    best: Callable[..., float]
    params: ArrayLike
    low: float
    high: float
    minimum: float
    lipschitz: float
    log_lipschitz: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", checks.vector("params", self.params))
        if not checks.real("low", self.low) < checks.real("high", self.high):
            raise ValueError(f"high must be above low, {self.low}, not {self.high}")
        checks.real("minimum", self.minimum, above=0)
        for name in ("lipschitz", "log_lipschitz"):
            if getattr(self, name) != math.inf:
                checks.real(name, getattr(self, name), 0, math.inf)
        grid = np.linspace(self.low, self.high, 1001)
        merits = self(grid)
        bad = ~(np.isfinite(merits) & (merits > 0))
        if bad.any():
            x = grid[int(np.argmax(bad))]
            raise ValueError(
                f"the merit {self.name!r} must be a positive number from {self.low:g} to {self.high:g}; "
                f"at {x:g} it is {merits[int(np.argmax(bad))]}"
            )

    def __call__(self, means: ArrayLike) -> NDArray[np.float64]:
        """Return the merit of each mean.

        Parameters
        ----------
        means : array_like
            Means, of any shape.

        Returns
        -------
        ndarray
            Merits, of the same shape.

        Examples
        --------
        >>> power(2, 4)([0.0, 1.0])
        array([1., 3.])
        """
        value, params = compiled(self.value, VALUE), np.array(self.params)
        x = np.asarray(means, dtype=np.float64)
        return np.array([value(params, each) for each in x.ravel().tolist()]).reshape(x.shape)


def exponential_value(params, x):
    """Return exp(c x)."""
    return math.exp(params[0] * x)


def exponential_best(params, low, high, c):
    """Choose between the ends: f(x)(x - c) falls up to c - 1/steepness, and rises from there."""
    weight = math.exp(params[0] * (high - low))  # relative to the low end, so that nothing overflows
    return high if weight * (high - c) >= low - c else low


def exponential(steepness: float, low: float = 0.0, high: float = 1.0) -> Merit:
    r"""Exponential merit, :math:`f(x) = e^{c x}`.

    Parameters
    ----------
    steepness : float
        The steepness c, above 0: twice the merit for every ``ln 2 / c`` of mean.
    low, high : float
        The range of means.

    Returns
    -------
    Merit
        The merit function.

    Raises
    ------
    TypeError, ValueError
        If the steepness is not a positive number, or so large that the merit overflows on the range.

    Examples
    --------
    >>> exponential(4).log_lipschitz
    4.0
    """
    c = checks.real("steepness", steepness, above=0)
    ends = checks.real("low", low), checks.real("high", high)
    if c * max(map(abs, ends)) > 700:
        raise ValueError(f"steepness must be at most {700 / max(map(abs, ends)):g} on this range, not {steepness!r}")
    top = c * math.exp(c * ends[1])
    return Merit(f"exp({c:g}x)", exponential_value, exponential_best, [c], *ends, math.exp(c * ends[0]), top, c)


def power_value(params, x):
    """Return 1 + A x^p."""
    return 1.0 + params[0] * x ** params[1]


def power_best(params, low, high, c):
    """Choose among the ends and the one stationary point that can be a maximum, the smaller of two."""
    scale, p = params[0], params[1]
    chosen = high
    largest = (1.0 + scale * high**p) * (high - c)
    other = (1.0 + scale * low**p) * (low - c)
    if other > largest:
        chosen, largest = low, other
    if p > 1.0 and c > 0.0 and scale * c**p * ((p - 1.0) / (p + 1.0)) ** (p - 1.0) > 1.0:
        # The derivative, 1 - A x^(p - 1) (p c - (p + 1) x), vanishes where the logarithm of what is taken from 1 does.
        # That logarithm is concave and rises up to the point of inflexion, so Newton's steps from below never pass
        # the root: they are done when they no longer grow.
        root = max((scale * p * c) ** (-1.0 / (p - 1.0)), 1e-300)
        for _ in range(100):
            rest = p * c - (p + 1.0) * root
            step = (math.log(scale) + (p - 1.0) * math.log(root) + math.log(rest)) / (
                (p - 1.0) / root - (p + 1.0) / rest
            )
            if not root - step > root:
                break
            root -= step
        x = min(max(root, low), high)
        if (1.0 + scale * x**p) * (x - c) > largest:
            chosen = x
    return chosen


def power(scale: float, exponent: float) -> Merit:
    r"""Power merit on [0, 1], :math:`f(x) = 1 + A x^p`.

    Parameters
    ----------
    scale : float
        The factor A, above 0.
    exponent : float
        The exponent p, at least 1.

    Returns
    -------
    Merit
        The merit function.

    Raises
    ------
    TypeError, ValueError
        If `scale` is not positive or `exponent` is below 1.

    Examples
    --------
    >>> power(2, 4).lipschitz
    8.0
    """
    factor, p = checks.real("scale", scale, above=0), checks.real("exponent", exponent, 1, math.inf)
    # A p x^(p-1) / (1 + A x^p) is largest where A x^p = p - 1, or at 1 if that is outside.
    x = min(((p - 1.0) / factor) ** (1.0 / p), 1.0)
    log_slope = factor * p * x ** (p - 1.0) / (1.0 + factor * x**p)
    name = f"1 + {factor:g}x^{p:g}"
    return Merit(name, power_value, power_best, [factor, p], 0.0, 1.0, 1.0, factor * p, log_slope)


def clipped_value(params, x):
    """Return x, but not less than the floor."""
    return max(x, params[0])


def clipped_best(params, low, high, c):
    """Choose among the ends and the floor, where f(x)(x - c) can turn from rising to falling."""
    chosen = high
    largest = max(high, params[0]) * (high - c)
    for x in (low, min(max(params[0], low), high)):
        if max(x, params[0]) * (x - c) > largest:
            chosen, largest = x, max(x, params[0]) * (x - c)
    return chosen


def clipped(floor: float, high: float = 1.0) -> Merit:
    r"""Merit equal to the mean itself, but not below a floor: :math:`f(x) = \max(x, \gamma)` on [0, `high`].

    Parameters
    ----------
    floor : float
        The smallest merit, above 0.
    high : float
        Largest mean, above the floor.

    Returns
    -------
    Merit
        The merit function.

    Raises
    ------
    TypeError, ValueError
        If the floor is not positive, or `high` not above it.

    Examples
    --------
    >>> clipped(0.1)([0.0, 0.5])
    array([0.1, 0.5])
    """
    gamma = checks.real("floor", floor, above=0)
    top = checks.real("high", high, above=gamma)
    return Merit(f"max(x, {gamma:g})", clipped_value, clipped_best, [gamma], 0.0, top, gamma, 1.0, 1.0 / gamma)


def fair_policy(merit: Merit, means: ArrayLike) -> NDArray[np.float64]:
    r"""Return the one policy that gives each arm exposure in proportion to its merit (Wang et al., Theorem 3.1.1).

    .. math:: \pi^\star(a) = \frac{f(\mu_a)}{\sum_b f(\mu_b)}

    Parameters
    ----------
    merit : Merit
        The merit function.
    means : array_like, shape (K,)
        Mean reward of each arm, in the merit's range.

    Returns
    -------
    ndarray, shape (K,)
        Probability of each arm.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a mean is outside its range.

    Examples
    --------
    >>> fair_policy(clipped(0.1), [0.6, 0.2])
    array([0.75, 0.25])
    """
    merits = as_merit(merit)(checks.vector("means", means, merit.low, merit.high))
    return merits / merits.sum()


@helper
def exponential_step(params: Any, low: Any, high: Any, mu: Any) -> None:
    r"""Fill the optimistic means for exponential merit: sort and scan, with no iteration.

    For a trial value c an arm takes its high end if and only if :math:`c \le u_a + \Delta_a / (e^{k \Delta_a} - 1)`,
    with :math:`\Delta_a = u_a - l_a`. So the best point is one of K + 1 nested corners of the box.

    Parameters
    ----------
    params : ndarray
        The merit's parameters.
    low, high : ndarray, shape (K,)
        The box.
    mu : ndarray, shape (K,)
        Receives the means.

    Examples
    --------
    >>> mu = np.zeros(2)
    >>> exponential_step(np.array([2.0]), np.array([0.0, 0.4]), np.array([0.2, 0.9]), mu)
    >>> mu
    array([0. , 0.9])
    """
    k = params[0]
    turn, below = np.empty(mu.size), np.empty(mu.size)
    shift = high[0]
    for a in range(mu.size):
        shift = max(shift, high[a])
        width = high[a] - low[a]
        turn[a] = -high[a] - (width / math.expm1(k * width) if k * width > 1e-12 else 1.0 / k)
    order = np.argsort(turn)
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


@lru_cache(maxsize=64)
def dinkelbach(value: Callable[..., float], best: Callable[..., float]) -> Callable[..., None]:
    """Return the step that solves the optimistic problem for any merit, by Dinkelbach's iteration.

    Parameters
    ----------
    value, best : callable
        The merit and its arm-by-arm maximiser, compiled.

    Returns
    -------
    callable
        ``step(params, low, high, mu)`` fills `mu` with the optimistic means of the box.

    Examples
    --------
    >>> step = dinkelbach(compiled(power_value, VALUE), compiled(power_best, BEST))
    >>> mu = np.zeros(2)
    >>> step(np.array([2.0, 4.0]), np.array([0.0, 0.4]), np.array([0.2, 0.9]), mu)
    >>> mu
    array([0.2, 0.9])
    """

    def step(params, low, high, mu):
        for a in range(mu.size):
            mu[a] = high[a]
        c = -math.inf
        for _ in range(100):
            earned, weight = 0.0, 0.0
            for a in range(mu.size):
                merit = value(params, mu[a])
                weight += merit
                earned += merit * mu[a]
            if not earned / weight > c:  # in exact arithmetic c never falls; it has stopped growing
                break
            c = earned / weight
            for a in range(mu.size):
                mu[a] = best(params, low[a], high[a], c)

    return step


def optimistic_means(merit: Merit, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
    """Find the means in a box for which the fair policy earns most, exactly.

    Parameters
    ----------
    merit : Merit
        The merit function.
    low, high : array_like, shape (K,)
        Smallest and largest mean of each arm, in the merit's range.

    Returns
    -------
    ndarray, shape (K,)
        The optimistic means.

    Raises
    ------
    TypeError, ValueError
        If a bound is outside the merit's range, or a low one above its high one.

    Examples
    --------
    >>> optimistic_means(exponential(2), [0.0, 0.4], [0.2, 0.9])
    array([0. , 0.9])
    """
    floor = checks.vector("low", low, as_merit(merit).low, merit.high)
    roof = checks.vector("high", high, merit.low, merit.high)
    if floor.size != roof.size:
        raise ValueError(f"high must have one number an arm, as low has ({floor.size}), not {roof.size}")
    if (floor > roof).any():
        arm = int(np.argmax(floor > roof))
        raise ValueError(f"low must be at most high, {roof[arm]}, not {floor[arm]} (arm {arm})")
    mu = np.empty(floor.size)
    optimistic_step(merit)(np.array(merit.params), floor.copy(), roof.copy(), mu)
    return mu


def optimistic_step(merit: Merit) -> Any:
    """Return the compiled step of a merit function, for the rules that take it in every round.

    Parameters
    ----------
    merit : Merit
        The merit function.

    Returns
    -------
    callable
        ``step(params, low, high, mu)``: sort and scan for exponential merit, Dinkelbach's iteration for any other.

    Raises
    ------
    TypeError
        If `merit` is not a `Merit`.

    Examples
    --------
    >>> mu = np.zeros(1)
    >>> optimistic_step(exponential(2))(np.array([2.0]), np.array([0.3]), np.array([0.5]), mu)
    >>> mu
    array([0.5])
    """
    if as_merit(merit).value is exponential_value:
        return exponential_step
    return compiled(dinkelbach(compiled(merit.value, VALUE), compiled(merit.best, BEST)), STEP)


def as_merit(merit: Any) -> Merit:
    """Take a merit function at the door.

    Parameters
    ----------
    merit : object
        What was given.

    Returns
    -------
    Merit
        The same.

    Raises
    ------
    TypeError
        If it is not a `Merit`.

    Examples
    --------
    >>> as_merit("steep")
    Traceback (most recent call last):
    TypeError: merit must be a Merit, such as exponential(2), not 'steep'
    """
    if not isinstance(merit, Merit):
        raise TypeError(f"merit must be a Merit, such as exponential(2), not {merit!r}")
    return merit
