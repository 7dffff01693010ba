"""What is proved of the policies and of all others: widths, bounds and lower bounds."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.merit import Merit, as_merit


def fairness_lower_bound(horizon: ArrayLike, ratio: ArrayLike) -> NDArray[np.float64]:
    r"""Bound from below the fairness regret that every policy has in one of two games (Theorems 3.1.4 and 3.1.5).

    .. math:: \frac{1}{8e} \cdot \frac{\Lambda \sqrt T}{2 + \Lambda / \sqrt T}
        \ge \frac{1}{24 e} \Lambda \sqrt T \quad \text{for } \Lambda \le \sqrt T

    Parameters
    ----------
    horizon : array_like of int
        Number of rounds T.
    ratio : array_like
        The ratio :math:`\Lambda = L/\gamma`, above 0. At :math:`\sqrt T` the bound is linear, :math:`T/(24e)`, as the
        two theorems say; for any smaller one it is what their proof yields (erratum E-F2).

    Returns
    -------
    ndarray, shape of `horizon` and `ratio` together
        The bound, for expected regret.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> (fairness_lower_bound(10_000, 100) / 10_000).round(4)
    np.float64(0.0153)
    """
    root = np.sqrt(checks.rounds("horizon", horizon))
    steep = np.asarray(ratio, dtype=np.float64)
    if not ((steep > 0) & np.isfinite(steep)).all():
        raise ValueError(f"ratio must be a number above 0, not {ratio!r}")
    return steep * root / (2 + steep / root) / (8 * math.e)


def fairx_ucb_width(arms: int, horizon: int, failure: float) -> float:
    r"""Return the width :math:`w_0 = \sqrt{2 \ln(4TK/\delta)}` of Theorems 3.2.1 and 3.2.2.

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : int
        Number of rounds T.
    failure : float
        The probability :math:`\delta` with which the bounds may fail, above 0 and at most 1.

    Returns
    -------
    float
        The width, for rewards in [-1, 1].

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> round(fairx_ucb_width(14, 2_000_000, 0.1), 2)
    6.46
    """
    delta = checks.real("failure", failure, high=1, above=0)
    return math.sqrt(2 * math.log(4 * checks.whole("horizon", horizon, 1) * checks.whole("arms", arms, 1) / delta))


def fairx_ucb_fairness_bound(merit: Merit, arms: int, horizon: ArrayLike, failure: float) -> NDArray[np.float64]:
    r"""Bound on FairX-UCB's fairness regret, with probability 1 - delta (Theorem 3.2.1 with its constants).

    .. math:: 2K + \frac{4 L w_0}{\gamma} \Bigl(\sqrt{2 T \ln(4/\delta)} + 2\sqrt{KT}\Bigr)

    Parameters
    ----------
    merit : Merit
        The merit function, with minimum :math:`\gamma` and Lipschitz constant L.
    arms : int
        Number of arms K.
    horizon : array_like of int
        Number of rounds T, one or many; the policy runs with the width for each.
    failure : float
        The probability :math:`\delta`, above 0 and at most 1.

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
    >>> from fairlib.merit import exponential
    >>> fairx_ucb_fairness_bound(exponential(1), 2, 10**6, 0.1).round()
    np.float64(363708.0)
    """
    as_merit(merit)
    return 2 * arms + merit.lipschitz / merit.minimum * 2 * _wandering(arms, horizon, failure)


def fairx_ucb_reward_bound(arms: int, horizon: ArrayLike, failure: float) -> NDArray[np.float64]:
    r"""Bound on FairX-UCB's reward regret, with probability 1 - delta (Theorem 3.2.2 with its constants).

    .. math:: 2K + 2 w_0 \Bigl(\sqrt{2 T \ln(4/\delta)} + 2\sqrt{KT}\Bigr)

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : array_like of int
        Number of rounds T, one or many; the policy runs with the width for each.
    failure : float
        The probability :math:`\delta`, above 0 and at most 1.

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
    >>> fairx_ucb_reward_bound(2, 10**6, 0.1).round()
    np.float64(66904.0)
    """
    return 2 * arms + _wandering(arms, horizon, failure)


def fairx_ucb_log_bound(merit: Merit, arms: int, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Bound on FairX-UCB's expected fairness regret by the slope of the merit's logarithm; not in the paper.

    With :math:`\Lambda = \sup |(\ln f)'|`, a range of means of length D, the width for :math:`\delta = 1/T`, and
    :math:`\rho = \min(e^{\Lambda D}, 1 + LD/\gamma)`,

    .. math:: 4K + 1 + 16 K^2 \rho + 4 \Lambda w_0 \sqrt{2 K \rho T} .

    Parameters
    ----------
    merit : Merit
        The merit function, which must have both slopes.
    arms : int
        Number of arms K.
    horizon : array_like of int
        Number of rounds T, one or many; the policy runs with ``fairx_ucb_width(arms, T, 1 / T)`` for each.

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
    For a steep merit it says something millions of rounds earlier than `fairx_ucb_fairness_bound`:

    >>> from fairlib.merit import exponential
    >>> fairx_ucb_log_bound(exponential(10), 14, 10**12).round(-9)
    np.float64(342000000000.0)
    """
    k, rounds = checks.whole("arms", arms, 1), checks.rounds("horizon", horizon).astype(np.float64)
    slope, length = as_merit(merit).log_lipschitz, merit.high - merit.low
    ratio = min(math.exp(slope * length), 1 + merit.lipschitz * length / merit.minimum)
    width = np.sqrt(2 * np.log(4 * k * rounds**2))
    return 4 * k + 1 + 16 * k**2 * ratio + 4 * slope * width * np.sqrt(2 * k * ratio * rounds)


def fairx_ts_fairness_bound(merit: Merit, arms: int, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Bound on the Bayesian fairness regret of FairX-TS (Theorem 3.3.1, with constants of our own).

    .. math:: \frac{2L}{\gamma} \biggl[ 2 \Bigl(\sqrt{2/\pi} + \sqrt{2 \ln KT}\Bigr) \sqrt{KT} +
        \frac{1}{\sqrt{2\pi} \ln KT} \biggr]

    Parameters
    ----------
    merit : Merit
        The merit function, with minimum :math:`\gamma` and Lipschitz constant L on all of :math:`\mathbb R`.
    arms : int
        Number of arms K, at least 2.
    horizon : array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound, for standard normal means and rewards of standard deviation 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from fairlib.merit import clipped
    >>> fairx_ts_fairness_bound(clipped(1, 8), 2, 10**6).round()
    np.float64(34986.0)
    """
    as_merit(merit)
    product = checks.whole("arms", arms, 2) * checks.rounds("horizon", horizon)
    drawn = (math.sqrt(2 / math.pi) + np.sqrt(2 * np.log(product))) * np.sqrt(product)
    return 2 * merit.lipschitz / merit.minimum * (2 * drawn + 1 / (math.sqrt(2 * math.pi) * np.log(product)))


def fairx_ts_reward_bound(arms: int, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Bound on the Bayesian reward regret of FairX-TS (Theorem 3.3.2, with constants of our own).

    .. math:: 2 \sqrt{2 KT \ln KT} + \frac{1}{2 \sqrt{2\pi} \ln KT}

    Parameters
    ----------
    arms : int
        Number of arms K, at least 2.
    horizon : array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound, for standard normal means and rewards of standard deviation 1, and for any merit function.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fairx_ts_reward_bound(2, 10**6).round()
    np.float64(15236.0)
    """
    product = checks.whole("arms", arms, 2) * checks.rounds("horizon", horizon)
    return 2 * np.sqrt(2 * product * np.log(product)) + 1 / (2 * math.sqrt(2 * math.pi) * np.log(product))


def _wandering(arms: int, horizon: ArrayLike, failure: float) -> NDArray[np.float64]:
    """Return what the widths of the arms played sum to, twice over: the term that both bounds share."""
    checks.whole("arms", arms, 1)
    delta = checks.real("failure", failure, high=1, above=0)
    rounds = checks.rounds("horizon", horizon)
    widths = np.sqrt(2 * np.log(4 * rounds * arms / delta))
    return 2 * widths * (np.sqrt(2 * rounds * math.log(4 / delta)) + 2 * np.sqrt(arms * rounds))


def linucb_radius(dimension: int, horizon: ArrayLike, failure: float, norm: float = 1.0) -> NDArray[np.float64]:
    r"""Return the radius with which the ellipsoids hold the parameter throughout (Proposition A.6.1, sharpened).

    .. math:: \sqrt{\beta_T} = W + \sqrt{d \ln(1 + T/d) + 2 \ln(2/\delta)}

    With probability :math:`1 - \delta/2` no ellipsoid of the first T rounds misses :math:`\mu^\star`, for ridge 1,
    contexts in the unit ball and 1-sub-Gaussian noise. The paper has :math:`2\ln(\pi^2 T^2/3\delta)` in place of the
    last term, from a union over rounds that its tool does not need (erratum E-F11).

    Parameters
    ----------
    dimension : int
        Length d of a context.
    horizon : array_like of int
        Number of rounds T, one or many.
    failure : float
        The :math:`\delta`, above 0 and at most 1.
    norm : float
        Bound W on the length of the parameter, at least 0.

    Returns
    -------
    ndarray, shape of `horizon`
        The radius.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> linucb_radius(5, 10_000, 0.1).round(2)
    np.float64(7.63)
    """
    d, rounds = checks.whole("dimension", dimension, 1), checks.rounds("horizon", horizon)
    return checks.real("norm", norm, 0) + np.sqrt(
        d * np.log1p(rounds / d) + 2 * math.log(2 / checks.real("failure", failure, high=1, above=0))
    )


def total_width(dimension: int, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Bound the widths of the contexts played, summed over the rounds (Lemma A.6.8 with Cauchy and Schwarz).

    .. math:: \sum_{t=1}^{T} \lVert x_{t,a_t} \rVert_{\Sigma_t^{-1}} \le \sqrt{2 T d \ln(1 + T/d)}

    Parameters
    ----------
    dimension : int
        Length d of a context.
    horizon : array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound, for ridge 1 and contexts in the unit ball.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> total_width(5, 10_000).round(1)
    np.float64(871.9)
    """
    d, rounds = checks.whole("dimension", dimension, 1), checks.rounds("horizon", horizon)
    return np.sqrt(2 * rounds * d * np.log1p(rounds / d))


def fairx_linucb_fairness_bound(
    merit: Merit, dimension: int, horizon: ArrayLike, failure: float, norm: float = 1.0
) -> NDArray[np.float64]:
    r"""Bound on FairX-LinUCB's fairness regret, with probability 1 - delta (Theorem 4.2.1 with its constants).

    .. math:: \frac{4 L \sqrt{\beta_T}}{\gamma} \Bigl(\sqrt{2 T d \ln(1 + T/d)} + \sqrt{2 T \ln(4/\delta)}\Bigr)

    Parameters
    ----------
    merit : Merit
        The merit function, with minimum :math:`\gamma` and Lipschitz constant L.
    dimension : int
        Length d of a context.
    horizon : array_like of int
        Number of rounds T, one or many; the policy runs with `linucb_radius` for each.
    failure : float
        The probability :math:`\delta`, above 0 and at most 1.
    norm : float
        Bound W on the length of the parameter, at least 0.

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
    >>> from fairlib.merit import exponential
    >>> fairx_linucb_fairness_bound(exponential(1, -1, 1), 5, 10**6, 0.1).round()
    np.float64(3737339.0)
    """
    slope = as_merit(merit).lipschitz / merit.minimum
    return 2 * slope * fairx_linucb_reward_bound(dimension, horizon, failure, norm)


def fairx_linucb_reward_bound(
    dimension: int, horizon: ArrayLike, failure: float, norm: float = 1.0
) -> NDArray[np.float64]:
    r"""Bound on FairX-LinUCB's reward regret, with probability 1 - delta (Theorem 4.2.2 with its constants).

    .. math:: 2 \sqrt{\beta_T} \Bigl(\sqrt{2 T d \ln(1 + T/d)} + \sqrt{2 T \ln(4/\delta)}\Bigr)

    Parameters
    ----------
    dimension : int
        Length d of a context.
    horizon : array_like of int
        Number of rounds T, one or many; the policy runs with `linucb_radius` for each.
    failure : float
        The probability :math:`\delta`, above 0 and at most 1.
    norm : float
        Bound W on the length of the parameter, at least 0.

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
    >>> fairx_linucb_reward_bound(5, 10**6, 0.1).round()
    np.float64(252897.0)
    """
    rounds = checks.rounds("horizon", horizon)
    wandering = np.sqrt(2 * rounds * math.log(4 / checks.real("failure", failure, high=1, above=0)))
    return 2 * linucb_radius(dimension, rounds, failure, norm) * (total_width(dimension, rounds) + wandering)


def fairx_lints_fairness_bound(merit: Merit, arms: int, dimension: int, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Bound on FairX-LinTS's Bayesian fairness regret (Theorem 4.3.1, with a proof and constants of this book).

    .. math:: \frac{2L}{\gamma} \Bigl[ \Bigl(\sqrt{2\ln KT} + \sqrt{2/\pi}\Bigr) \sqrt{2 T d \ln(1 + T/d)}
        + \frac{1}{\sqrt{2\pi} \ln KT} \Bigr]

    Parameters
    ----------
    merit : Merit
        The merit function, with minimum :math:`\gamma` and Lipschitz constant L; the same as its end values outside its
        range.
    arms : int
        Number of arms K, at least 2.
    dimension : int
        Length d of a context.
    horizon : array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound, for a standard normal prior, standard normal noise and contexts in the unit ball.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from fairlib.merit import exponential
    >>> fairx_lints_fairness_bound(exponential(1, -1, 1), 10, 5, 10**6).round()
    np.float64(1057269.0)
    """
    slope = as_merit(merit).lipschitz / merit.minimum
    log = np.log(checks.whole("arms", arms, 2) * checks.rounds("horizon", horizon))
    drawn = np.sqrt(2 * log) + math.sqrt(2 / math.pi)
    return 2 * slope * (drawn * total_width(dimension, horizon) + 1 / (math.sqrt(2 * math.pi) * log))


def fairx_lints_reward_bound(arms: int, dimension: int, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Bound on FairX-LinTS's Bayesian reward regret (Theorem 4.3.2, sharper in d, with a proof of this book).

    .. math:: 2 \sqrt{d T \ln(KT) \ln(1 + T/d)} + \frac{1}{2\sqrt{2\pi} \ln KT}

    Parameters
    ----------
    arms : int
        Number of arms K, at least 2.
    dimension : int
        Length d of a context.
    horizon : array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    ndarray, shape of `horizon`
        The bound, for a standard normal prior, standard normal noise and contexts in the unit ball.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fairx_lints_reward_bound(10, 5, 10**6).round()
    np.float64(62728.0)
    """
    log = np.log(checks.whole("arms", arms, 2) * checks.rounds("horizon", horizon))
    return np.sqrt(2 * log) * total_width(dimension, horizon) + 1 / (2 * math.sqrt(2 * math.pi) * log)
