"""What is proved of FAIR-UCB and T-FAIR-UCB, of windows for any shares, and of sighted shares."""

import math
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.baselines.classic import ucb1_worst_case_bound
from fairlib.checks import Horizons, NonNegative, PositiveInt, PositiveScale, checked
from fairlib.core.arms import check_no_delay, mean_gaps
from fairlib.shares.game import SharedBandit, Shares, _below_one_in_k, _one_an_arm
from fairlib.shares.policies import sighted_turns

__all__ = [
    "fair_ucb_bound",
    "fair_ucb_worst_case_bound",
    "fair_ucb_regret_bound",
    "t_fair_ucb_bound",
    "window_plays",
    "sighted_shares_bound",
]


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


@checked
def window_plays(
    shares: Shares, window: PositiveInt, credit: Annotated[float, checks.Real(1)] = 1.0
) -> NDArray[np.int64]:
    r"""Return how many plays of each arm any window of so many rounds has at least, whatever the learner does.

    .. math:: \lfloor r_a w - (1 + c) \rfloor + 1

    or none where that is negative. The bound holds for `windows_by_deadline`.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0, summing to at most 1.
    window : int
        Number of rounds w, at least 1.
    credit : float
        How many plays ahead of its share the learner can put an arm, c, at least 1.

    Returns
    -------
    ndarray of int, shape (K,)
        The plays.

    Raises
    ------
    TypeError, ValueError
        If a share is negative, they sum to more than 1, or another number is out of range.

    Examples
    --------
    >>> window_plays([3 / 4, 1 / 8, 1 / 16], 100)
    array([74, 11,  5])
    """
    owed = _one_an_arm(shares, None)
    least = np.floor(owed * window - (1 + credit) + 1e-9) + 1  # 0.29 * 100 is a hair below 29
    plays: NDArray[np.int64] = np.maximum(least, 0).astype(np.int64)
    return plays


@checked
def sighted_shares_bound(
    arms: PositiveInt,
    dimension: PositiveInt,
    horizon: Horizons,
    *,
    share: float,
    noise: NonNegative,
    norm: NonNegative,
    ridge: PositiveScale = 1.0,
) -> NDArray[np.float64]:
    r"""Bound on what `sighted_shares` loses, on average, to the best sighted policy that knows the distributions.

    .. math:: \frac{4.5}{g} \sqrt T + \max(1, 2 \sqrt{\beta_T}) \sqrt{2 T D_T} + t_1 + 2 + \frac K3

    with :math:`\sqrt{\beta_T} = \sigma \sqrt{D_T + 2 \ln T} + \sqrt\lambda\, W`,
    :math:`g = 1/K - r`, :math:`D_T = d \ln(1 + T/\lambda d)` and :math:`t_1` as `sighted_turns` has it. The best
    sighted policy is the one that earns most with the same shares on average.

    Parameters
    ----------
    arms : int
        Number of arms K.
    dimension : int
        Length d of a context; contexts are in the unit ball, and drawn independently of the past.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy runs with a failure of 1/T for each.
    share : float
        The largest share r that an arm is owed, at least 0 and below 1/K.
    noise : float
        The noise is :math:`\sigma`-sub-Gaussian; at least 0. Expected rewards are in [0, 1].
    norm : float
        Bound W on the length of the parameter, at least 0.
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Examples
    --------
    >>> sighted_shares_bound(2, 2, 10_000, share=0.1, noise=0.1, norm=1).round()
    np.float64(3069.0)
    """
    r, rounds = checks.real("share", share, 0, below=1 / arms), np.asarray(horizon, np.float64)
    logs = dimension * np.log1p(rounds / (ridge * dimension))
    radius = noise * np.sqrt(logs + 2 * np.log(rounds)) + norm * math.sqrt(ridge)
    promise = 4.5 / (1 / arms - r) * np.sqrt(rounds) + sighted_turns(arms, r) + 2 + arms / 3
    bound: NDArray[np.float64] = promise + np.maximum(1, 2 * radius) * np.sqrt(2 * rounds * logs)
    return bound


_FAILURES = 1 + np.pi**2 / 3  # plays that a failed confidence interval costs, with room for rounding


def _plays(
    game: SharedBandit, horizon: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the gaps of the worse arms, the plays it takes to tell them, and the plays that they are owed."""
    check_no_delay(game)
    gaps, rounds = mean_gaps(game), np.asarray(horizon, np.float64)[..., None]
    wrong, shares = gaps > 0, _below_one_in_k(game.shares, None)  # below 1/K, as the policies want them
    owed = np.maximum(rounds * shares[wrong] - game.tolerance, 0)
    return gaps[wrong], 8 * np.log(rounds) / gaps[wrong] ** 2, owed
