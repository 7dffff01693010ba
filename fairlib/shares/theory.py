"""What is proved of FAIR-UCB and T-FAIR-UCB."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib.baselines.classic import ucb1_worst_case_bound
from fairlib.checks import Horizons, NonNegative, PositiveInt, checked
from fairlib.core import check_no_delay, mean_gaps
from fairlib.shares.game import SharedBandit, _below_one_in_k

__all__ = ["fair_ucb_bound", "fair_ucb_worst_case_bound", "fair_ucb_regret_bound", "t_fair_ucb_bound"]


@checked
def fair_ucb_bound(game: SharedBandit, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on FAIR-UCB's r-regret when the gaps are known (Theorem 2).

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \Bigl[\Bigl(\frac{8 \ln T}{\Delta_a^2} - (r_a T - \alpha)_+\Bigr)_+
        + 1 + \frac{\pi^2}{3}\Bigr]

    Parameters
    ----------
    game : SharedBandit
        The game, with rewards in [0, 1] and no delay; FAIR-UCB has its shares and its tolerance.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If the game is of another kind, a share is 1/K or more, or a horizon is not a whole number of at least 1.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    >>> fair_ucb_bound(game, [1000, 10_000]).round(2)
    array([19.87,  1.72])
    """
    gaps, needed, owed = _plays(game, horizon)
    return (np.maximum(needed - owed, 0) + _FAILURES) @ gaps


@checked
def fair_ucb_worst_case_bound(
    arms: PositiveInt, horizon: Horizons, *, tolerance: NonNegative = 0.0
) -> NDArray[np.float64]:
    r"""Bound on FAIR-UCB's r-regret whatever the means and the shares (Theorem 3, repaired: erratum E-P3).

    .. math:: 2 \sqrt{2 K T \ln T} + \zeta(3) K

    for a whole tolerance, and K more for any other.

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    tolerance : float
        The unfairness tolerance, at least 0.

    Returns
    -------
    float or ndarray, shape of `horizon`
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
    extra = 0 if tolerance == math.floor(tolerance) else arms
    return ucb1_worst_case_bound(arms, horizon) + extra


@checked
def fair_ucb_regret_bound(game: SharedBandit, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on FAIR-UCB's ordinary regret, the cost of fairness (Theorem 4 as its proof has it: erratum E-P1).

    .. math:: \sum_{a: \Delta_a > 0} \Delta_a \Bigl[\max\Bigl(\frac{8 \ln T}{\Delta_a^2}, r_a T - \alpha\Bigr)
        + 1 + \frac{\pi^2}{3}\Bigr]

    Parameters
    ----------
    game : SharedBandit
        The game, with rewards in [0, 1] and no delay; FAIR-UCB has its shares and its tolerance.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If the game is of another kind, a share is 1/K or more, or a horizon is not a whole number of at least 1.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.1]), shares=[0.4, 0.4])
    >>> fair_ucb_regret_bound(game, 10_000).round(1)
    np.float64(3203.4)
    """
    gaps, needed, owed = _plays(game, horizon)
    return (np.maximum(needed, owed) + _FAILURES) @ gaps


@checked
def t_fair_ucb_bound(game: SharedBandit, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on T-FAIR-UCB's r-regret (Theorem 8): the bound of Theorem 2 with no tolerance.

    Parameters
    ----------
    game : SharedBandit
        The game, with rewards in [0, 1], no delay and no tolerance.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy is made for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If the game is of another kind, a share is 1/K or more, or a horizon is not a whole number of at least 1.

    Examples
    --------
    >>> import fairlib as fl
    >>> t_fair_ucb_bound(SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3]), 1000).round(2)
    np.float64(19.87)
    """
    bound = fair_ucb_bound(game, horizon)
    if game.tolerance != 0:
        raise ValueError(f"game must have no tolerance, as T-FAIR-UCB has none, not {game.tolerance:g}")
    return bound


_FAILURES = 1 + np.pi**2 / 3  # plays that a failed confidence interval costs, with room for rounding


def _plays(
    game: SharedBandit, horizon: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the gaps of the wrong arms, the plays it takes to tell them, and the plays that they are owed."""
    check_no_delay(game)
    gaps, rounds = mean_gaps(game), np.asarray(horizon, np.float64)[..., None]
    wrong, shares = gaps > 0, _below_one_in_k(game.shares, None)  # below 1/K, as the policies want them
    owed = np.maximum(rounds * shares[wrong] - game.tolerance, 0)
    return gaps[wrong], 8 * np.log(rounds) / gaps[wrong] ** 2, owed
