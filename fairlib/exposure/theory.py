"""What is proved of these policies and of all policies: widths, bounds and lower bounds."""

import math
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import Horizons, NonNegative, OpenProbability, Positive, PositiveInt, PositiveScale, checked
from fairlib.core.arms import check_no_delay
from fairlib.exposure.game import ContextExposureBandit, ExposureBandit
from fairlib.merit import Merit, merit_modulus

__all__ = [
    "fairness_lower_bound",
    "upper_merit_fairness_bound",
    "upper_merit_kl_fairness_bound",
    "upper_merit_linear_fairness_bound",
    "price_of_merit",
    "fairx_ucb_width",
    "fairx_ucb_fairness_bound",
    "fairx_ucb_reward_bound",
    "fairx_ts_fairness_bound",
    "fairx_ts_reward_bound",
    "linucb_radius",
    "total_width",
    "fairx_linucb_fairness_bound",
    "fairx_linucb_reward_bound",
    "fairx_lints_fairness_bound",
    "fairx_lints_reward_bound",
]


@checked
def fairness_lower_bound(ratio: Positive, horizon: Horizons) -> NDArray[np.float64]:
    r"""Lower bound on the fairness regret of every policy in one of two games (Theorems 3.1.4 and 3.1.5).

    .. math:: \frac{1}{8e} \cdot \frac{\Lambda \sqrt T}{2 + \Lambda / \sqrt T}
        \ge \frac{1}{24 e} \Lambda \sqrt T \quad \text{for } \Lambda \le \sqrt T

    Parameters
    ----------
    ratio : float
        The ratio :math:`\Lambda = L/\gamma`, above 0. At :math:`\sqrt T` the bound is linear, :math:`T/(24e)`, as the
        two theorems say; for any smaller one it is what their proof yields (erratum E-F2).
    horizon : int or array_like of int
        Number of rounds T, one or many; the games are made for each.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound, for expected regret.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> (fairness_lower_bound(100, 10_000) / 10_000).round(4)
    np.float64(0.0153)
    """
    root: NDArray[np.float64] = np.sqrt(np.asarray(horizon, np.float64))
    return ratio * root / (2 + ratio / root) / (8 * math.e)


@checked
def upper_merit_fairness_bound(
    merit: Merit,
    arms: PositiveInt,
    horizon: Horizons,
    *,
    plays: int = 1,
    sd: PositiveScale = 0.5,
    known: Annotated[bool, checks.Flag()] = False,
    factor: Annotated[float, checks.Real(1)] = 1.0,
) -> NDArray[np.float64]:
    r"""Bound on the expected fairness regret of upper merit in every game, without a logarithm; not in the papers.

    .. math:: 2(K - 1) + C \Lambda \sigma \sqrt{mKT}

    Here :math:`\Lambda` is the largest slope of :math:`\ln f`. C is 25 if the merit is rising and 39 otherwise; for the
    policy that knows the horizon it is 18 and 26. In doubt, with the factor 2, these four are 28, 41, 21 and 28.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    arms : int
        Number of arms K.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    plays : int
        Number of arms m that are played each round, from 1 to K.
    sd : float
        The :math:`\sigma` of the policy, above 0: the rewards are :math:`\sigma`-sub-Gaussian.
    known : bool
        Whether the policy is made for each of these horizons.
    factor : float
        The factor :math:`\rho` of the policy, at least 1.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    See Also
    --------
    upper_merit : the policy.

    Examples
    --------
    >>> from fairlib.merit import exponential
    >>> upper_merit_fairness_bound(exponential(10), 14, 10**6).round()
    np.float64(467733.0)
    """
    m = checks.integer("plays", plays, 1, arms)
    errors = 1.80 if factor == 1 and merit.rising else 2.38 * ((factor - 1) / math.log(factor) if factor > 1 else 1)
    sides = (1 if merit.rising else 2) * (1 if known else 2)
    constant = math.ceil(2 * (3.55 + errors + 3.35 * sides))
    product = m * arms * np.asarray(horizon, np.float64)
    return 2 * (arms - 1) + constant * merit.log_lipschitz * sd * np.sqrt(product)


@checked
def upper_merit_kl_fairness_bound(means: ArrayLike, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on the expected fairness regret of `upper_merit_kl` for merit equal to the mean; not in the papers.

    With S the sum of the means, of which some may be 0,

    .. math:: 2K - 1 + 8K \sqrt{\frac{T (1 + \ln T) \ln(4KT^2)}{S}} .

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean reward of each arm, in [0, 1], not all 0.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy is made for each. Its merit is ``clipped(floor)`` with any floor,
        however small.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or all means are 0.

    Examples
    --------
    >>> upper_merit_kl_fairness_bound([0.8, 0.4, 0.0], 10**6).round()
    np.float64(462788.0)
    """
    mu, t = checks.vector("means", means, 0.0, 1.0), np.asarray(horizon, np.float64)
    if not mu.sum() > 0:
        raise ValueError("means must not all be 0: then no arm deserves anything")
    level = np.log(4 * mu.size * t**2)
    bound: NDArray[np.float64] = 2 * mu.size - 1 + 8 * mu.size * np.sqrt(level * t * (1 + np.log(t)) / mu.sum())
    return bound


@checked
def price_of_merit(
    merit: Merit, arms: PositiveInt, horizon: Horizons, sd: PositiveScale = 0.5
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Lower and upper bound on the least fairness regret that any policy can promise for a merit function.

    Not in the papers. The price of a merit function is the fairness regret of the best policy in the game that is worst
    for it, among all games with K arms and normal rewards of standard deviation :math:`\sigma`. With :math:`\omega`
    the modulus of :math:`\ln f` (`merit_modulus`) and :math:`m = \lfloor K/2 \rfloor` it is at least

    .. math:: \frac mK (1 - e^{-1})\, T \tanh\bigl(\tfrac12 \omega(\sigma \sqrt{2m/T})\bigr)
        \ge 0.048\, T \min\bigl(1, \omega(\sigma \sqrt{K/T})\bigr)

    for two arms or more, at least

    .. math:: \frac2K \sum_{t=1}^{\min(T, m)} (m + 1 - t) \tanh\bigl(\tfrac12 \Omega\bigr)

    with :math:`\Omega` the largest value of :math:`\omega`, and at most

    .. math:: \min\bigl(2T,\; 2 \min(K, T) (1 - e^{-\Omega}) + C\, T \omega(\sigma \sqrt{K/T})\bigr) ,

    where C is 20 if the merit is rising and 28 otherwise. The upper bound is that of upper merit for a known horizon,
    which rates an arm without plays by the largest merit instead of playing it first; it holds for all
    :math:`\sigma`-sub-Gaussian rewards.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    arms : int
        Number of arms K.
    horizon : int or array_like of int
        Number of rounds T, one or many; the games and the policy are made for each.
    sd : float
        The standard deviation :math:`\sigma` of the rewards, above 0.

    Returns
    -------
    lower, upper : float or ndarray, shape of `horizon`
        The two bounds. The lower one is the larger of two, and 0 for one arm.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    See Also
    --------
    fairlib.merit.merit_modulus : the modulus, which is looked for on a grid.
    upper_merit_fairness_bound : the upper bound by the largest slope of the logarithm.

    Examples
    --------
    >>> from fairlib.merit import exponential
    >>> [bound.round() for bound in price_of_merit(exponential(10), 14, 10**6)]
    [np.float64(2956.0), np.float64(374194.0)]
    """
    t, pairs = np.asarray(horizon, np.float64), arms // 2

    def modulus(ways: int) -> NDArray[np.float64]:
        flat = [merit_modulus(merit, sd * math.sqrt(ways / each)) for each in t.ravel().tolist()]
        return np.reshape(flat, t.shape)

    constant = 20 if merit.rising else 28
    early = np.minimum(t, pairs)  # rounds in which some pair has not been played
    whole = merit_modulus(merit, merit.high - merit.low)
    unseen = (early * pairs - early * (early - 1) / 2) * math.tanh(whole / 2)
    late = pairs * -math.expm1(-1) * t * np.tanh(modulus(2 * pairs) / 2)
    lower: NDArray[np.float64] = np.maximum(2 * unseen, late) / arms
    upper: NDArray[np.float64] = np.minimum(
        2 * t, -2 * math.expm1(-whole) * np.minimum(arms, t) + constant * t * modulus(arms)
    )
    return lower, upper


@checked
def fairx_ucb_width(arms: PositiveInt, horizon: Horizons, *, failure: OpenProbability) -> NDArray[np.float64]:
    r"""Return the width :math:`w_0 = \sqrt{2 \ln(4TK/\delta)}` of Theorems 3.2.1 and 3.2.2.

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    failure : float
        The probability :math:`\delta` with which the bounds may fail, in (0, 1).

    Returns
    -------
    float or ndarray, shape of `horizon`
        The width, for rewards in [-1, 1].

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> fairx_ucb_width(14, 2_000_000, failure=0.1).round(2)
    np.float64(6.46)
    """
    width: NDArray[np.float64] = np.sqrt(2 * np.log(4 * np.asarray(horizon, np.float64) * arms / failure))
    return width


@checked
def fairx_ucb_fairness_bound(
    game: ExposureBandit, horizon: Horizons, *, failure: OpenProbability
) -> NDArray[np.float64]:
    r"""Bound on FairX-UCB's fairness regret, with probability 1 - delta (Theorem 3.2.1 with its constants).

    .. math:: 2K + \frac{4 L w_0}{\gamma} \Bigl(\sqrt{2 T \ln(4/\delta)} + 2\sqrt{KT}\Bigr)

    Parameters
    ----------
    game : ExposureBandit
        The game, with rewards in [-1, 1], no delay, and a merit of minimum :math:`\gamma` and Lipschitz constant L. The
        bound is the same for all means.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy runs with `fairx_ucb_width` for each.
    failure : float
        The probability :math:`\delta` that the bound fails, in (0, 1).

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.9, 0.5]), merit=exponential(1))
    >>> fairx_ucb_fairness_bound(game, 10**6, failure=0.1).round()
    np.float64(363708.0)
    """
    k = _arms(game)
    return 2 * k + _slope(game) * 2 * _wandering(k, horizon, failure)


@checked
def fairx_ucb_reward_bound(arms: PositiveInt, horizon: Horizons, *, failure: OpenProbability) -> NDArray[np.float64]:
    r"""Bound on FairX-UCB's reward regret, with probability 1 - delta (Theorem 3.2.2 with its constants).

    .. math:: 2K + 2 w_0 \Bigl(\sqrt{2 T \ln(4/\delta)} + 2\sqrt{KT}\Bigr)

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy runs with `fairx_ucb_width` for each.
    failure : float
        The probability :math:`\delta` that the bound fails, in (0, 1).

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fairx_ucb_reward_bound(2, 10**6, failure=0.1).round()
    np.float64(66904.0)
    """
    return 2 * arms + _wandering(arms, horizon, failure)


@checked
def fairx_ts_fairness_bound(game: ExposureBandit, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on the Bayesian fairness regret of FairX-TS (Theorem 3.3.1, with constants of our own).

    .. math:: \min\Bigl(\frac{2L}{\gamma}, 4\Lambda\Bigr)
        \biggl[ 2 \Bigl(\sqrt{2/\pi} + \sqrt{2 \ln KT}\Bigr) \sqrt{KT} + \frac{1}{\sqrt{2\pi} \ln KT} \biggr]

    Parameters
    ----------
    game : ExposureBandit
        The game, without delay and with a merit of minimum :math:`\gamma`, Lipschitz constant L and slope of the
        logarithm :math:`\Lambda` on all of :math:`\mathbb R`. Only the number of its arms counts.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound, for standard normal means and rewards of standard deviation 1; infinite for one arm and one round.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import clipped
    >>> game = ExposureBandit(fl.gaussian([2.0, 1.0]), merit=clipped(1, 8))
    >>> fairx_ts_fairness_bound(game, 10**6).round()
    np.float64(34986.0)
    """
    product = _arms(game) * np.asarray(horizon, np.float64)
    drawn = (math.sqrt(2 / math.pi) + np.sqrt(2 * np.log(product))) * np.sqrt(product)
    bound: NDArray[np.float64] = _drawn_slope(game) * (2 * drawn + _seldom(product))
    return bound


@checked
def fairx_ts_reward_bound(arms: PositiveInt, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on the Bayesian reward regret of FairX-TS (Theorem 3.3.2, with constants of our own).

    .. math:: 2 \sqrt{2 KT \ln KT} + \frac{1}{2 \sqrt{2\pi} \ln KT}

    Parameters
    ----------
    arms : int
        Number of arms K.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound, for standard normal means and rewards of standard deviation 1, and for any merit function; infinite
        for one arm and one round.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fairx_ts_reward_bound(2, 10**6).round()
    np.float64(15236.0)
    """
    product = arms * np.asarray(horizon, np.float64)
    bound: NDArray[np.float64] = 2 * np.sqrt(2 * product * np.log(product)) + _seldom(product) / 2
    return bound


def _arms(game: ExposureBandit) -> int:
    """Return the number of arms of a game that the bounds on arms are proved for."""
    check_no_delay(game)
    return game.arms.means.size


def _slope(game: ExposureBandit | ContextExposureBandit) -> float:
    """Return the merit's Lipschitz constant divided by its smallest value."""
    return game.merit.lipschitz / game.merit.minimum


def _drawn_slope(game: ExposureBandit | ContextExposureBandit) -> float:
    """Return the cost of an error of a draw, by the slope of the merit or by that of its logarithm."""
    return min(2 * _slope(game), 4 * game.merit.log_lipschitz)


def _wandering(arms: int, horizon: ArrayLike, failure: float) -> NDArray[np.float64]:
    """Return twice the sum of the widths of the arms played: the term that both bounds share."""
    rounds = np.asarray(horizon, np.float64)
    wandering = np.sqrt(2 * rounds * math.log(4 / failure)) + 2 * np.sqrt(arms * rounds)
    bound: NDArray[np.float64] = 2 * fairx_ucb_width(arms, horizon, failure=failure) * wandering
    return bound


def _seldom(product: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cost of draws that are far off, for the number of arms times that of rounds."""
    with np.errstate(divide="ignore"):
        return 1 / (math.sqrt(2 * math.pi) * np.log(product))


@checked
def linucb_radius(
    dimension: PositiveInt, horizon: Horizons, *, failure: OpenProbability, norm: NonNegative = 1.0
) -> NDArray[np.float64]:
    r"""Return the radius with which all ellipsoids hold the parameter (Proposition A.6.1, sharpened).

    .. math:: \sqrt{\beta_T} = W + \sqrt{d \ln(1 + T/d) + 2 \ln(2/\delta)}

    With probability :math:`1 - \delta/2` no ellipsoid of the first T rounds misses :math:`\mu^\star`, for ridge 1,
    contexts in the unit ball and 1-sub-Gaussian noise. The paper has :math:`2\ln(\pi^2 T^2/3\delta)` instead of the
    last term, from a union bound over rounds that its tool does not need (erratum E-F11b).

    Parameters
    ----------
    dimension : int
        Length d of a context.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    failure : float
        The :math:`\delta`, in (0, 1).
    norm : float
        Bound W on the length of the parameter, at least 0.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The radius.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> linucb_radius(5, 10_000, failure=0.1).round(2)
    np.float64(7.63)
    """
    rounds = np.asarray(horizon, np.float64)
    radius: NDArray[np.float64] = norm + np.sqrt(dimension * np.log1p(rounds / dimension) + 2 * math.log(2 / failure))
    return radius


@checked
def total_width(dimension: PositiveInt, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound the widths of the contexts played, summed over the rounds (Lemma A.6.8 with Cauchy and Schwarz).

    .. math:: \sum_{t=1}^{T} \lVert x_{t,a_t} \rVert_{\Sigma_t^{-1}} \le \sqrt{2 T d \ln(1 + T/d)}

    Parameters
    ----------
    dimension : int
        Length d of a context.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
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
    rounds = np.asarray(horizon, np.float64)
    width: NDArray[np.float64] = np.sqrt(2 * rounds * dimension * np.log1p(rounds / dimension))
    return width


@checked
def upper_merit_linear_fairness_bound(
    game: ContextExposureBandit, horizon: Horizons, *, norm: NonNegative = 1.0
) -> NDArray[np.float64]:
    r"""Bound on the expected fairness regret of upper merit with contexts; not in the papers.

    .. math:: 1 + 4 \Lambda \sqrt{\beta_T} \sqrt{2 T d \ln(1 + T/d)}

    Parameters
    ----------
    game : ContextExposureBandit
        The game, with contexts in the unit ball, 1-sub-Gaussian noise, and a merit whose logarithm has the largest
        slope :math:`\Lambda`. The bound is the same for any number of arms.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy runs with ``linucb_radius(d, T, failure=1 / T)`` for each.
    norm : float
        Bound W on the length of the parameter, at least 0.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    See Also
    --------
    upper_merit_linear : the policy.

    Examples
    --------
    >>> from fairlib.core import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(4, -1, 1))
    >>> upper_merit_linear_fairness_bound(game, 10**6).round()
    np.float64(977647.0)
    """
    d, t = game.world.dimension, np.asarray(horizon, np.float64)
    radius = norm + np.sqrt(d * np.log1p(t / d) + 2 * np.log(2 * t))
    bound: NDArray[np.float64] = 1 + 4 * game.merit.log_lipschitz * radius * total_width(d, horizon)
    return bound


@checked
def fairx_linucb_fairness_bound(
    game: ContextExposureBandit, horizon: Horizons, *, failure: OpenProbability, norm: NonNegative = 1.0
) -> NDArray[np.float64]:
    r"""Bound on FairX-LinUCB's fairness regret, with probability 1 - delta (Theorem 4.2.1 with its constants).

    .. math:: \frac{4 L \sqrt{\beta_T}}{\gamma} \Bigl(\sqrt{2 T d \ln(1 + T/d)} + \sqrt{2 T \ln(4/\delta)}\Bigr)

    Parameters
    ----------
    game : ContextExposureBandit
        The game, with contexts in the unit ball, 1-sub-Gaussian noise, and a merit of minimum :math:`\gamma` and
        Lipschitz constant L.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy runs with `linucb_radius` for each.
    failure : float
        The probability :math:`\delta` that the bound fails, in (0, 1).
    norm : float
        Bound W on the length of the parameter, at least 0.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from fairlib.core import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8, 0, 0, 0]), merit=exponential(1, -1, 1))
    >>> fairx_linucb_fairness_bound(game, 10**6, failure=0.1).round()
    np.float64(3737339.0)
    """
    reward = fairx_linucb_reward_bound(game.world.dimension, horizon, failure=failure, norm=norm)
    return 2 * _slope(game) * reward


@checked
def fairx_linucb_reward_bound(
    dimension: PositiveInt, horizon: Horizons, *, failure: OpenProbability, norm: NonNegative = 1.0
) -> NDArray[np.float64]:
    r"""Bound on FairX-LinUCB's reward regret, with probability 1 - delta (Theorem 4.2.2 with its constants).

    .. math:: 2 \sqrt{\beta_T} \Bigl(\sqrt{2 T d \ln(1 + T/d)} + \sqrt{2 T \ln(4/\delta)}\Bigr)

    Parameters
    ----------
    dimension : int
        Length d of a context.
    horizon : int or array_like of int
        Number of rounds T, one or many; the policy runs with `linucb_radius` for each.
    failure : float
        The probability :math:`\delta` that the bound fails, in (0, 1).
    norm : float
        Bound W on the length of the parameter, at least 0.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fairx_linucb_reward_bound(5, 10**6, failure=0.1).round()
    np.float64(252897.0)
    """
    radius = linucb_radius(dimension, horizon, failure=failure, norm=norm)
    wandering = np.sqrt(2 * np.asarray(horizon, np.float64) * math.log(4 / failure))
    return 2 * radius * (total_width(dimension, horizon) + wandering)


@checked
def fairx_lints_fairness_bound(game: ContextExposureBandit, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on FairX-LinTS's Bayesian fairness regret (Theorem 4.3.1, with a proof and constants of this book).

    .. math:: \min\Bigl(\frac{2L}{\gamma}, 4\Lambda\Bigr) \Bigl[ \Bigl(\sqrt{2\ln KT} + \sqrt{2/\pi}\Bigr)
        \sqrt{2 T d \ln(1 + T/d)} + \frac{1}{\sqrt{2\pi} \ln KT} \Bigr]

    Parameters
    ----------
    game : ContextExposureBandit
        The game, with contexts in the unit ball, standard normal noise, and a merit of minimum :math:`\gamma`,
        Lipschitz constant L and slope of the logarithm :math:`\Lambda`.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound, for a standard normal prior; infinite for one arm and one round.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from fairlib.core import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(10, [0.6, 0.8, 0, 0, 0]), merit=exponential(1, -1, 1))
    >>> fairx_lints_fairness_bound(game, 10**6).round()
    np.float64(286172.0)
    """
    product = game.world.arms * np.asarray(horizon, np.float64)
    drawn = np.sqrt(2 * np.log(product)) + math.sqrt(2 / math.pi)
    widths = drawn * total_width(game.world.dimension, horizon)
    bound: NDArray[np.float64] = _drawn_slope(game) * (widths + _seldom(product))
    return bound


@checked
def fairx_lints_reward_bound(arms: PositiveInt, dimension: PositiveInt, horizon: Horizons) -> NDArray[np.float64]:
    r"""Bound on FairX-LinTS's Bayesian reward regret (Theorem 4.3.2, sharper in d, with a proof of this book).

    .. math:: 2 \sqrt{d T \ln(KT) \ln(1 + T/d)} + \frac{1}{2\sqrt{2\pi} \ln KT}

    Parameters
    ----------
    arms : int
        Number of arms K.
    dimension : int
        Length d of a context.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound, for a standard normal prior, standard normal noise and contexts in the unit ball; infinite for one
        arm and one round.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> fairx_lints_reward_bound(10, 5, 10**6).round()
    np.float64(62728.0)
    """
    product = arms * np.asarray(horizon, np.float64)
    bound: NDArray[np.float64] = np.sqrt(2 * np.log(product)) * total_width(dimension, horizon) + _seldom(product) / 2
    return bound
