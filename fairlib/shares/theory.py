"""What is proved of FAIR-UCB and T-FAIR-UCB."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.shares.game import _shares


def fair_ucb_bound(
    means: ArrayLike, shares: ArrayLike, horizon: ArrayLike, tolerance: float = 0.0
) -> NDArray[np.float64]:
    r"""Bound on FAIR-UCB's r-regret when the gaps are known (Theorem 2).

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \Bigl[\Bigl(\frac{8 \ln T}{\Delta_a^2} - (r_a T - \alpha)_+\Bigr)_+
        + 1 + \frac{\pi^2}{3}\Bigr]

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean reward of each arm, in [0, 1].
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    horizon : array_like of int
        Number of rounds T, one or many.
    tolerance : float
        The unfairness tolerance, at least 0.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fair_ucb_bound([0.9, 0.5], [0.2, 0.3], [1000, 10_000]).round(2)
    array([19.87,  1.72])
    """
    gaps, needed, owed = _plays(means, shares, horizon, tolerance)
    return (np.maximum(needed - owed, 0) + _FAILURES) @ gaps


def fair_ucb_worst_case_bound(arms: int, horizon: ArrayLike, tolerance: float = 0.0) -> NDArray[np.float64]:
    r"""Bound on FAIR-UCB's r-regret whatever the means and the shares (Theorem 3, repaired: erratum E-P3).

    .. math:: 2 \sqrt{2 K T \ln T} + \zeta(3) K

    for a whole tolerance, and K more for any other.

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : array_like of int
        Number of rounds T, one or many.
    tolerance : float
        The unfairness tolerance, at least 0.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If `arms` or a horizon is not a whole number of at least 1, or the tolerance is negative.

    Examples
    --------
    >>> fair_ucb_worst_case_bound(2, 1000).round(1)
    np.float64(334.9)
    """
    from scipy.special import zeta  # only here: SciPy is slow to import, and the package must not be

    checks.whole("arms", arms, 1)
    slack = checks.real("tolerance", tolerance, 0, math.inf)
    rounds = checks.rounds("horizon", horizon)
    extra = 0 if slack == math.floor(slack) else arms
    return 2 * np.sqrt(2 * arms * rounds * np.log(rounds)) + zeta(3) * arms + extra


def fair_ucb_regret_bound(
    means: ArrayLike, shares: ArrayLike, horizon: ArrayLike, tolerance: float = 0.0
) -> NDArray[np.float64]:
    r"""Bound on FAIR-UCB's ordinary regret, the cost of fairness (Theorem 4 as its proof has it: erratum E-P1).

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \Bigl[\max\Bigl(\frac{8 \ln T}{\Delta_a^2}, r_a T - \alpha\Bigr)
        + 1 + \frac{\pi^2}{3}\Bigr]

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean reward of each arm, in [0, 1].
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    horizon : array_like of int
        Number of rounds T, one or many.
    tolerance : float
        The unfairness tolerance, at least 0.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fair_ucb_regret_bound([0.9, 0.1], [0.4, 0.4], 10_000).round(1)
    np.float64(3203.4)
    """
    gaps, needed, owed = _plays(means, shares, horizon, tolerance)
    return (np.maximum(needed, owed) + _FAILURES) @ gaps


def t_fair_ucb_bound(means: ArrayLike, shares: ArrayLike, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Bound on T-FAIR-UCB's r-regret (Theorem 8): the bound of Theorem 2 with no tolerance.

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean reward of each arm, in [0, 1].
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    horizon : array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> t_fair_ucb_bound([0.9, 0.5], [0.2, 0.3], 1000).round(2)
    np.float64(19.87)
    """
    return fair_ucb_bound(means, shares, horizon)


_FAILURES = 1 + np.pi**2 / 3  # plays that a failed confidence interval costs, with room for rounding


def _plays(
    means: ArrayLike, shares: ArrayLike, horizon: ArrayLike, tolerance: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the gaps of the wrong arms, the plays it takes to tell them, and the plays that they are owed."""
    mu = checks.vector("means", means, 0, 1)
    wrong = mu < mu.max()
    gaps = (mu.max() - mu)[wrong]
    owed = _shares(shares, mu.size)[wrong]
    rounds = checks.rounds("horizon", horizon)[..., None]
    slack = checks.real("tolerance", tolerance, 0, math.inf)
    return gaps, 8 * np.log(rounds) / gaps**2, np.maximum(rounds * owed - slack, 0)
