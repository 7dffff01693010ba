"""What is proved of the four policies of the paper, in terms of the quantiles of the delay."""

import math
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import Horizons, checked
from fairlib.delays.game import Quantile, SemiBandit, _cap

__all__ = [
    "upper_merit_delayed_fairness_bound",
    "fcucb_d_reward_bound",
    "fcucb_d_fairness_bound",
    "fcts_d_reward_bound",
    "fcts_d_fairness_bound",
    "op_fcucb_d_reward_bound",
    "op_fcucb_d_fairness_bound",
    "op_fcts_d_reward_bound",
    "op_fcts_d_fairness_bound",
    "best_quantile",
]


@checked
def upper_merit_delayed_fairness_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound the fairness regret of upper merit for delays that do not depend on the reward; not in the papers.

    With :math:`\Lambda` the largest slope of :math:`\ln f`, and with :math:`W_q` and :math:`V_q` as for
    `fcucb_d_reward_bound`,

    .. math:: & 2(K + m) + \frac{1 + \ln T}{4mK} + \min\Bigl(2 W_q + 4\Lambda \sqrt{\ln(4mKT)}\, V_q, \\
        & 2K \bigl(\lceil 24 \ln T / q \rceil + d^\star\bigr) + \frac{2mK}{T}
          + 8\Lambda \sqrt{\ln(4mKT)} \sqrt{2mKT/q}\Bigr) .

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    See Also
    --------
    upper_merit_delayed : the policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import exponential
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=exponential(4))
    >>> upper_merit_delayed_fairness_bound(game, 10**6, q=1.0).round()
    np.float64(534774.0)
    """
    given = _take(game, horizon, q)
    failures, radius = _fcucb_d(given)
    waiting, learning = _any_plays(given)
    steepness = given.log_slope * radius
    bound: NDArray[np.float64] = np.minimum(_frequent_plays(given, steepness), waiting + steepness * learning)
    return 2 * failures + 2 * bound


@checked
def fcucb_d_reward_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound FCUCB-D's reward regret for delays that do not depend on the reward (Theorem 6, repaired and sharpened).

    With :math:`B_q = \frac{mK}{T} + K(\lceil 24 \ln T / q \rceil + d^\star) + 2 \sqrt{2mKT/q}`,
    :math:`W_q = m(d^\star + 1) + 8 \rho K (1 + \ln K) / q` and :math:`V_q = 2 \sqrt{2 \rho mKT/q}`, where :math:`\rho`
    is the ratio of the largest merit to the smallest,

    .. math:: K + m + \frac{1 + \ln T}{8mK} + \min\bigl(2 \sqrt{\ln(4mKT)}\, B_q, W_q + 2 \sqrt{\ln(4mKT)}\, V_q\bigr).

    It bounds the regret in which each round's term is cut at 0 (equation 5).

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcucb_d_reward_bound(game, 10**6, q=1.0).round()
    np.float64(77561.0)
    """
    given = _capped(game, horizon, q)
    failures, radius = _fcucb_d(given)
    return failures + _late(given, radius, 1.0)


@checked
def fcucb_d_fairness_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound FCUCB-D's fairness regret for delays that do not depend on the reward (Theorem 6, repaired and sharpened).

    .. math:: & 2(K + m) + \frac{1 + \ln T}{4mK} \\
        & + \min\Bigl(\frac{4L}{\gamma} \sqrt{\ln(4mKT)}\, B_q, 2 W_q + \frac{4L}{\gamma} \sqrt{\ln(4mKT)}\, V_q\Bigr) ,

    with :math:`B_q`, :math:`W_q` and :math:`V_q` as for `fcucb_d_reward_bound`. For a merit whose optimistic step takes
    every upper end, FCUCB-D is upper merit, and the smaller of this and that policy's bound is returned.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcucb_d_fairness_bound(game, 10**6, q=1.0).round()
    np.float64(357405.0)
    """
    given = _capped(game, horizon, q)
    failures, radius = _fcucb_d(given)
    bound = 2 * failures + 2 * _late(given, radius, given.slope)
    return (
        np.minimum(bound, upper_merit_delayed_fairness_bound(game, horizon, q=q))
        if game.merit.takes_upper_ends
        else bound
    )


@checked
def fcts_d_reward_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound FCTS-D's reward regret, on average over a uniform prior (Theorem 7, repaired and sharpened).

    It is half of `fcts_d_fairness_bound` (erratum E-D2), for the regret in which each round's term is cut at 0
    (equation 5).

    Parameters
    ----------
    game : SemiBandit
        The game; only the number of its arms counts.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcts_d_reward_bound(game, 10**6, q=1.0).round()
    np.float64(194095.0)
    """
    return fcts_d_fairness_bound(game, horizon, q=q) / 2


@checked
def fcts_d_fairness_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound FCTS-D's fairness regret, on average over a uniform prior (Theorem 7, repaired and sharpened).

    With :math:`B_q`, :math:`W_q` and :math:`V_q` as for `fcucb_d_reward_bound`, :math:`s = \frac12 + \sqrt{\ln(2KT)}`,
    and :math:`\ell` the smaller of :math:`L/\gamma` and :math:`2\Lambda`, the smallest of

    .. math:: \frac{2\ell}{T} + 2\ell s B_q , \qquad \frac{2\ell}{T} + 2 W_q + 2\ell s V_q , \\
        \frac{2\ell}{T} + 4K \bigl(\lceil 24 \ln T / q \rceil + d^\star\bigr) + \frac{4mK}{T}
        + 8 \Lambda s \sqrt{2mKT/q} .

    Parameters
    ----------
    game : SemiBandit
        The game; only the number of its arms counts.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcts_d_fairness_bound(game, 10**6, q=1.0).round()
    np.float64(388190.0)
    """
    given = _capped(game, horizon, q)
    drawn = 0.5 + np.sqrt(np.log(2 * given.arms * given.t))
    slope, (waiting, learning) = min(given.slope, 2 * given.log_slope), _any_plays(given)
    by_logarithm = 2 * waiting + 2 * given.log_slope * drawn * learning  # no play costs more than the most that it can
    bound: NDArray[np.float64] = 2 * np.minimum(_late(given, drawn, slope), by_logarithm)
    return 2 * slope / given.t + bound


@checked
def op_fcucb_d_reward_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound OP-FCUCB-D's reward regret, whatever the delays depend on (Theorem 8, sharpened).

    With :math:`C_q = m(1-q)T + w + 6 \sqrt{\ln(6mKT)} \sqrt{mKT}`, where :math:`w` is the smaller of
    :math:`K d^\star \bigl(1 + \ln(1 + \frac{mT}{K d^\star})\bigr)` and :math:`D \bigl(2 + \ln(1 + \frac{mT}{D})\bigr)`
    with :math:`D = K d^\star \frac{m \rho}{\rho + K - 1}`,

    .. math:: K + m + \frac{2 + \ln T}{18mK} + C_q .

    It bounds the regret in which each round's term is cut at 0 (equation 5).

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcucb_d_reward_bound(game, 10**6, q=1.0).round()
    np.float64(71377.0)
    """
    failures, widths = _op_fcucb_d(_capped(game, horizon, q))
    return failures + widths


@checked
def op_fcucb_d_fairness_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound OP-FCUCB-D's fairness regret, whatever the delays depend on (Theorem 8, sharpened).

    .. math:: 2(K + m) + \frac{2 + \ln T}{9mK} + \frac{2L}{\gamma} C_q ,

    with :math:`C_q` as for `op_fcucb_d_reward_bound`. For a merit whose optimistic step takes every upper end, the
    slope :math:`\Lambda` of :math:`\ln f` replaces :math:`L/\gamma`.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcucb_d_fairness_bound(game, 10**6, q=1.0).round()
    np.float64(380656.0)
    """
    given = _capped(game, horizon, q)
    failures, widths = _op_fcucb_d(given)
    return 2 * failures + 2 * (given.log_slope if game.merit.takes_upper_ends else given.slope) * widths


@checked
def op_fcts_d_reward_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound OP-FCTS-D's reward regret, whatever the delays depend on and for every mean (Theorem 9, repaired).

    It is half of `op_fcts_d_fairness_bound`, for the regret in which each round's term is cut at 0 (equation 5).

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcts_d_reward_bound(game, 10**6, q=1.0).round()
    np.float64(476234.0)
    """
    return op_fcts_d_fairness_bound(game, horizon, q=q) / 2


@checked
def op_fcts_d_fairness_bound(game: SemiBandit, horizon: Horizons, *, q: Quantile) -> NDArray[np.float64]:
    r"""Bound OP-FCTS-D's fairness regret, whatever the delays depend on and for every mean (Theorem 9, repaired).

    .. math:: \frac{1}{2mK} + \frac{2L}{\gamma} \Bigl[ & K + K \ln\Bigl(1 + \frac{mT}{2K}\Bigr) + \tfrac12 m(1-q)T \\
        & + \tfrac12 w + 5 \sqrt{\ln(6mKT)} \sqrt{mKT}\Bigr] ,

    with :math:`w` as for `op_fcucb_d_reward_bound`.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound; infinite where less than a share q ever arrives.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcts_d_fairness_bound(game, 10**6, q=1.0).round()
    np.float64(952469.0)
    """
    given = _capped(game, horizon, q)
    k, plays, slope, _, t, *_ = given
    missing, spread = _missing(given)
    return 1 / (2 * plays * k) + 2 * slope * (k * (1 + np.log1p(plays * t / (2 * k))) + missing / 2 + 5 * spread)


@checked
def best_quantile(
    bound: Callable[..., NDArray[np.float64]], game: SemiBandit, horizon: Horizons
) -> NDArray[np.float64]:
    """Find the quantile for which a bound is smallest.

    Parameters
    ----------
    bound : callable
        One of the eight bounds of this package.
    game : SemiBandit
        The game.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The best q among 0.001, 0.002, ..., 1.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, packet_loss
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.2, 0.9]), delay=packet_loss([0.8, 0.5]), merit=power(2, 4))
    >>> best_quantile(fcucb_d_fairness_bound, game, 10**6)
    np.float64(0.5)
    """
    if not callable(bound):
        raise TypeError(f"bound must be a function, such as fcucb_d_fairness_bound, not {checks.shown(bound)}")
    choices = np.arange(1, 1001) / 1000
    best: NDArray[np.float64] = choices[np.argmin([bound(game, horizon, q=q) for q in choices], axis=0)]
    return best


class _Given(NamedTuple):
    """What the bounds depend on: sizes, the merit's steepness and range, the horizon, the quantile and its delay."""

    arms: int
    plays: int
    slope: float
    ratio: float
    t: NDArray[np.float64]
    q: float
    late: float
    log_slope: float


def _capped(game: SemiBandit, horizon: ArrayLike, q: float) -> _Given:
    """Return the numbers of a game for a policy that needs Assumption 1."""
    _cap(game.merit, game.arms.means.size, game.plays)
    return _take(game, horizon, q)


def _take(game: SemiBandit, horizon: ArrayLike, q: float) -> _Given:
    """Return the numbers of a game that all bounds use."""
    f, rounds = game.merit, np.asarray(horizon, np.float64)
    late = float(game.quantiles(q).max())
    least = sys.float_info.min  # not 0, which times infinity is no number
    slope, log_slope = max(f.lipschitz / f.minimum, least), max(f.log_lipschitz, least)
    return _Given(game.arms.means.size, game.plays, slope, f.maximum / f.minimum, rounds, q, late, log_slope)


def _fcucb_d(given: _Given) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what FCUCB-D's bounds share: the cost of failures, and the width of a box with one arrival."""
    k, plays, t = given.arms, given.plays, given.t
    return k + plays + (1 + np.log(t)) / (8 * plays * k), 2 * np.sqrt(np.log(4 * plays * k * t))


def _op_fcucb_d(given: _Given) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what OP-FCUCB-D's bounds share: the cost of failures, and the sum of missing feedback and widths."""
    k, plays, t = given.arms, given.plays, given.t
    missing, spread = _missing(given)
    return k + plays + (2 + np.log(t)) / (18 * plays * k), missing + 6 * spread


def _late(given: _Given, width: NDArray[np.float64], slope: float) -> NDArray[np.float64]:
    """Sum `slope` times `width` / sqrt(M) over the plays: for any plays at all, or for plays that are never rare."""
    waiting, learning = _any_plays(given)
    bound: NDArray[np.float64] = np.minimum(slope * width * (waiting + learning), _frequent_plays(given, slope * width))
    return bound


def _any_plays(given: _Given) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound how many plays are made with too little feedback, and the sum of 1 / sqrt(M) over all others."""
    k, plays, t, q = given.arms, given.plays, given.t, given.q
    with np.errstate(over="ignore"):
        return plays * k / t + k * (np.ceil(24 * np.log(t) / q) + given.late), 2 * np.sqrt(2 * plays * k * t / q)


def _frequent_plays(given: _Given, steepness: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum `steepness` / sqrt(M) over plays that are never rare, and charge all of a round with too little feedback."""
    k, plays, ratio, q = given.arms, given.plays, given.ratio, given.q
    _, learning = _any_plays(given)
    with np.errstate(over="ignore"):
        blind = plays * (given.late + 1) + 8 * ratio * k * (1 + math.log(k)) / q
        return blind + steepness * learning * math.sqrt(ratio)


def _missing(given: _Given) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound the sum of the missing shares over the plays, and of the widths."""
    k, plays, _, ratio, t, q, late, _ = given
    waiting = late * t
    if 0 < late < math.inf:
        often = k * late * plays * ratio / (ratio + k - 1)  # no fair policy plays an arm more often while it waits
        any_plays = k * late * (1 + np.log1p(plays * t / (k * late)))
        waiting = np.minimum(any_plays, often * (2 + np.log1p(plays * t / often)))
    return plays * (1 - q) * t + waiting, np.sqrt(np.log(6 * plays * k * t)) * np.sqrt(plays * k * t)
