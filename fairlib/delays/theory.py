"""What is proved of the four policies of the paper, in terms of the quantiles of the delay."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.delays.game import SemiBandit
from fairlib.merit import Merit


class Bounds(NamedTuple):
    """Bounds on the two expected regrets.

    Parameters
    ----------
    reward : ndarray
        On the reward regret, each round's term cut at 0 (equation 5).
    fairness : ndarray
        On the fairness regret (equation 6).

    Examples
    --------
    >>> Bounds(np.float64(1.0), np.float64(2.0)).fairness
    np.float64(2.0)
    """

    reward: NDArray[np.float64]
    fairness: NDArray[np.float64]


def fcucb_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound FCUCB-D's regrets for delays that do not depend on the reward (Theorem 6, repaired and sharpened).

    With :math:`B_q` the smaller of :math:`\frac{LK}{T} + K(\lceil 24 \ln T / q \rceil + d^\star) + 2 \sqrt{2LKT/q}` and
    :math:`L(d^\star + 1) + 8 \rho K (1 + \ln K) / q + 2 \sqrt{2 \rho LKT/q}`, where :math:`\rho` is the ratio of the
    largest merit to the smallest, the reward regret is at most
    :math:`K + L + \frac{1 + \ln T}{8LK} + 2 \sqrt{\ln(4LKT)} B_q`, and the fairness regret at most
    :math:`2(K + L) + \frac{1 + \ln T}{4LK} + \frac{4M}{\lambda} \sqrt{\ln(4LKT)} B_q`.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcucb_d_bound(game, 10**6, 1.0).reward.round()
    np.float64(77561.0)
    """
    k, plays, t = game.arms.means.size, game.plays, checks.rounds("horizon", horizon)
    width = np.sqrt(np.log(4 * plays * k * t)) * _arrived(game, t, q)
    seldom = (1 + np.log(t)) / (8 * plays * k)
    return Bounds(k + plays + seldom + 2 * width, 2 * (k + plays + seldom) + 4 * _slope(game) * width)


def fcts_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound FCTS-D's regrets, on average over a uniform prior (Theorem 7, repaired and sharpened).

    The fairness regret is at most :math:`\frac{2M}{\lambda} \bigl[(\frac12 + \sqrt{\ln(2KT)}) B_q + \frac1T\bigr]` with
    :math:`B_q` as for `fcucb_d_bound`, and the reward regret at most half of that (erratum E-D2).

    Parameters
    ----------
    game : SemiBandit
        The game; of its arms only their number matters.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcts_d_bound(game, 10**6, 1.0).fairness.round()
    np.float64(669653.0)
    """
    k, t = game.arms.means.size, checks.rounds("horizon", horizon)
    fairness = 2 * _slope(game) * ((0.5 + np.sqrt(np.log(2 * k * t))) * _arrived(game, t, q) + 1 / t)
    return Bounds(fairness / 2, fairness)


def op_fcucb_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound OP-FCUCB-D's regrets, whatever the delays depend on (Theorem 8, sharpened).

    With :math:`C_q = L(1-q)T + K d^\star \bigl(1 + \ln(1 + \frac{LT}{K d^\star})\bigr) + 6 \sqrt{\ln(6LKT)} \sqrt{LKT}`
    the reward regret is at most :math:`K + L + \frac{2 + \ln T}{18LK} + C_q`, and the fairness regret at most
    :math:`2(K + L) + \frac{2 + \ln T}{9LK} + \frac{2M}{\lambda} C_q`.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcucb_d_bound(game, 10**6, 1.0).reward.round()
    np.float64(71377.0)
    """
    k, plays, t = game.arms.means.size, game.plays, checks.rounds("horizon", horizon)
    missing, spread = _missing(game, t, q)
    width = missing + 6 * spread
    seldom = (2 + np.log(t)) / (18 * plays * k)
    return Bounds(k + plays + seldom + width, 2 * (k + plays + seldom) + 2 * _slope(game) * width)


def op_fcts_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound OP-FCTS-D's regrets, whatever the delays depend on and for every mean (Theorem 9, repaired).

    The fairness regret is at most :math:`\frac{1}{2LK} + \frac{2M}{\lambda} \bigl[K + K \ln(1 + \frac{LT}{2K}) +
    \frac12 L(1-q)T + \frac12 K d^\star (1 + \ln(1 + \frac{LT}{K d^\star})) +
    5 \sqrt{\ln(6LKT)} \sqrt{LKT}\bigr]`, and the reward regret at most half of that.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcts_d_bound(game, 10**6, 1.0).reward.round()
    np.float64(476234.0)
    """
    k, plays, t = game.arms.means.size, game.plays, checks.rounds("horizon", horizon)
    missing, spread = _missing(game, t, q)
    width = k * (1 + np.log1p(plays * t / (2 * k))) + missing / 2 + 5 * spread
    fairness = 1 / (2 * plays * k) + 2 * _slope(game) * width
    return Bounds(fairness / 2, fairness)


def best_quantile(bound: Callable[[SemiBandit, ArrayLike, float], Bounds], game: SemiBandit, horizon: int) -> float:
    """Find the quantile for which a bound on the fairness regret is smallest.

    Parameters
    ----------
    bound : callable
        One of the four bounds of this module.
    game : SemiBandit
        The game.
    horizon : int
        Number of rounds T.

    Returns
    -------
    float
        The best q among 0.001, 0.002, ..., 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, packet_loss
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.2, 0.9]), delay=packet_loss([0.8, 0.5]), merit=power(2, 4))
    >>> best_quantile(fcucb_d_bound, game, 10**6)
    0.5
    """
    choices = [i / 1000 for i in range(1, 1001)]
    return choices[int(np.argmin([bound(game, horizon, q).fairness for q in choices]))]


def _arrived(game: SemiBandit, t: NDArray[np.int64], q: float) -> NDArray[np.float64]:
    """Bound the sum of 1 / sqrt(M) over the plays: for any plays at all, or for plays that are never rare."""
    k, plays, late = game.arms.means.size, game.plays, game.quantiles(q).max()
    ratio = _largest(game.merit) / game.merit.minimum
    any_plays = plays * k / t + k * (np.ceil(24 * np.log(t) / q) + late) + 2 * np.sqrt(2 * plays * k * t / q)
    frequent = plays * (late + 1) + 8 * ratio * k * (1 + math.log(k)) / q + 2 * np.sqrt(2 * ratio * plays * k * t / q)
    return np.minimum(any_plays, frequent)


def _missing(game: SemiBandit, t: NDArray[np.int64], q: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound the sum of the missing shares over the plays, and of the widths."""
    k, plays, late = game.arms.means.size, game.plays, game.quantiles(q).max()
    waiting = k * late * (1 + np.log1p(plays * t / (k * late))) if 0 < late < math.inf else late * t
    return plays * (1 - q) * t + waiting, np.sqrt(np.log(6 * plays * k * t)) * np.sqrt(plays * k * t)


def _slope(game: SemiBandit) -> float:
    return game.merit.lipschitz / game.merit.minimum


@lru_cache(maxsize=64)
def _largest(merit: Merit) -> float:
    return float(merit(np.linspace(merit.low, merit.high, 1001)).max())
