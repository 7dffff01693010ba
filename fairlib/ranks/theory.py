"""The price of fairness, and what is proved of Fair-Greedy."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import (
    Horizon,
    Horizons,
    NonNegative,
    OpenProbability,
    Positive,
    PositiveInt,
    PositiveScale,
    UnitInterval,
    checked,
)
from fairlib.ranks.distributions import RewardDistribution
from fairlib.ranks.game import RankBandit
from fairlib.ranks.policies import RankNoise
from fairlib.ranks.worlds import WeightedBandit

__all__ = [
    "clash",
    "price_probability",
    "Constants",
    "constants",
    "rank_error",
    "counted_from",
    "least_exploration",
    "estimate_radius",
    "fair_greedy_bound",
    "fair_greedy_log_bound",
    "printed_bound",
]

# The price of fairness (Appendix F) ----------------------------------------------------------------------------------


@checked
def clash(first: RewardDistribution, second: RewardDistribution, epsilon: NonNegative) -> float:
    r"""Return how often rank and reward disagree by more than :math:`\epsilon` between two groups (Theorem 3).

    .. math:: p = \int_0^1 \big(F_1(F_2^{-1}(y) - \epsilon) - y\big)_+ + \big(y - F_1(F_2^{-1}(y) + \epsilon)\big)_+ dy

    That is the probability that, of two candidates, the one with the higher rank brings less by more than
    :math:`\epsilon`.

    Parameters
    ----------
    first, second : RewardDistribution
        The groups' distributions.
    epsilon : float
        The difference in reward, at least 0.

    Returns
    -------
    float
        The probability p, by the midpoint rule with 20,000 points.

    Examples
    --------
    Two groups with disjoint rewards (Example 1):

    >>> from fairlib.ranks import uniform_sum
    >>> round(clash(uniform_sum([1.0], shift=2.0), uniform_sum([1.0]), epsilon=1.0), 6)
    0.5
    """
    rewards = second.quantile(_MIDPOINTS)
    above, below = first.cdf(rewards - epsilon) - _MIDPOINTS, _MIDPOINTS - first.cdf(rewards + epsilon)
    return float((np.maximum(above, 0) + np.maximum(below, 0)).mean())


_MIDPOINTS = (np.arange(20_000) + 0.5) / 20_000


@checked
def price_probability(
    epsilon: NonNegative, p: UnitInterval, reach: PositiveScale, horizon: Horizons
) -> NDArray[np.float64]:
    r"""Return the probability with which group meritocratic fairness costs at least :math:`T \epsilon p / 2` in reward.

    The costs of the rounds are independent, in :math:`[0, 2 L \lVert\mu^\star\rVert]`, with a mean of at least
    :math:`\epsilon p`. So, by Hoeffding's inequality, (20) holds with probability at least

    .. math:: 1 - \exp\Big(-\frac{T \epsilon^2 p^2}{8 L^2 \lVert\mu^\star\rVert^2}\Big) ,

    where Theorem 3 has :math:`\epsilon p / (4 L \lVert\mu^\star\rVert)` for every T (erratum E-G17).

    Parameters
    ----------
    epsilon, p : float
        As in `clash`.
    reach : float
        :math:`L \lVert\mu^\star\rVert`, above 0.
    horizon : int or array_like of int
        Number of rounds T, one or many.

    Returns
    -------
    float or ndarray, shape of `horizon`
        The probability.

    Examples
    --------
    >>> price_probability(1.0, 0.5, reach=3.0, horizon=[100, 1000]).round(3)
    array([0.293, 0.969])
    """
    chance: NDArray[np.float64] = -np.expm1(-np.asarray(horizon, np.float64) * (epsilon * p / reach) ** 2 / 8)
    return chance


# What is proved of Fair-Greedy (Section 5, appendices C and E) -------------------------------------------------------


Arms = Annotated[int, checks.Integer(2)]
Later = Annotated[ArrayLike, checks.OneOrMany(3, integers=True)]
"""A number of rounds of at least 3: before round 3 nothing is learned."""


@dataclass(frozen=True)
class Constants:
    r"""The constants of a game that the bounds need.

    Parameters
    ----------
    arms : int
        Number K of candidates in a round, at least 2.
    groups : int
        Number G of groups, at least 1.
    dimension : int
        Length d of a context.
    length : float
        The largest length L of a context, above 0.
    norm : float
        The length :math:`\lVert\mu^\star\rVert` of the parameter.
    sd : float
        The noise is R-sub-Gaussian.
    density : float
        The largest density M of a group's rewards, above 0; it must be finite (erratum E-G2).
    eigenvalue : float
        The smallest eigenvalue above 0, :math:`\lambda^+_{\min}(\Sigma)`, of the mean over groups of
        :math:`\mathbb E[\hat X_i \hat X_i^\top]`.
    least : float
        Expected number :math:`q_K` of candidates in a round of the smallest group, above 0; 1 with one each.
    by_chance : bool
        Whether the groups are drawn at random.
    diameter : float, optional
        The largest distance of two contexts of one group, above 0; by default twice the largest length.

    Examples
    --------
    >>> from fairlib.ranks import section_6
    >>> constants(section_6()).arms
    4
    """

    arms: Arms
    groups: PositiveInt
    dimension: PositiveInt
    length: Positive
    norm: NonNegative
    sd: NonNegative
    density: Positive
    eigenvalue: Positive
    least: Positive = 1.0
    by_chance: Annotated[bool, checks.Flag()] = False
    diameter: Annotated[float, checks.Real(above=0, infinity=True)] = math.inf
    described_as = "Constants, such as constants(section_6())"

    def __post_init__(self) -> None:
        checks.check_fields(self)
        object.__setattr__(self, "diameter", min(self.diameter, 2 * self.length))


@checked
def constants(game: RankBandit) -> Constants:
    """Return the constants that the bounds need of a game of `separate_groups` or `mixed_groups`, computed exactly.

    Parameters
    ----------
    game : RankBandit
        The game.

    Returns
    -------
    Constants
        The constants.

    Raises
    ------
    TypeError, ValueError
        If the game is of another kind, or its candidates are not independent.

    Examples
    --------
    >>> from fairlib.ranks import section_6
    >>> c = constants(section_6(step=3))
    >>> c.density, c.length**2, round(c.eigenvalue, 4)
    (0.3333333333333333, 85.0, 0.0207)
    """
    mu = game.parameter
    if not isinstance(game, WeightedBandit):
        raise ValueError("game must be made by separate_groups or mixed_groups")
    if game.together > 0:
        raise ValueError(f"game must have candidates that are independent, not together={game.together}")
    groups, n = game.weights.shape
    sigma = np.zeros((mu.size, mu.size))
    for i, bias in enumerate(game.biases):
        mean = np.zeros(mu.size)
        own = slice(i * n, i * n + n)
        mean[own], mean[-1] = 0.5, bias
        sigma += np.outer(mean, mean) / groups
        sigma[own, own] += np.eye(n) / 12 / groups
    values = np.linalg.eigvalsh(sigma)
    return Constants(
        arms=game.world.arms,
        groups=groups,
        dimension=mu.size,
        length=math.sqrt(n + float(np.max(game.biases**2))),
        norm=float(np.linalg.norm(mu)),
        sd=game.sd,
        density=max(law.largest_density for law in game.distributions),
        eigenvalue=float(values[values > 1e-9 * values[-1]].min()),
        least=1.0 if game.shares is None else float(game.world.arms * game.shares.min()),
        by_chance=game.shares is not None,
        diameter=math.sqrt(n),
    )


@checked
def rank_error(
    groups: PositiveInt,
    t: Annotated[ArrayLike, checks.OneOrMany(2, integers=True)],
    *,
    horizon: Horizon,
    failure: OpenProbability,
    candidates: PositiveScale = 1.0,
) -> NDArray[np.float64]:
    r"""Return how far estimated ranks can be off, if the estimated rewards are taken as true (Lemmas C.1 and E.2).

    .. math:: \sqrt{\frac{\ln(2GT/\delta)}{(t - 1)\, n}}

    Parameters
    ----------
    groups : int
        Number G of groups.
    t : int or array_like of int
        The round, one or many, from 2: round 1 has no past.
    horizon : int
        Number T of rounds for all of which it is to hold.
    failure : float
        The probability :math:`\delta` that it ever fails, in (0, 1).
    candidates : float
        The least number of candidates of each group for every round of the second half: 1 in Lemma C.1,
        :math:`\alpha q_K` in Lemma E.2.

    Returns
    -------
    float or ndarray, shape of `t`
        The error.

    Examples
    --------
    >>> rank_error(4, [101, 401], horizon=500, failure=0.1).round(3)
    array([0.326, 0.163])
    """
    log = math.log(2 * groups * horizon / failure)
    error: NDArray[np.float64] = np.sqrt(log / ((np.asarray(t, np.float64) - 1) * candidates))
    return error


@checked
def counted_from(
    game: Constants, horizon: Horizons, *, failure: OpenProbability, alpha: OpenProbability
) -> NDArray[np.float64]:
    r"""Return the round from which no group has been seen too rarely (Lemma E.1, with errata E-G13 and E-G20).

    With probability at least :math:`1 - \delta`, from round

    .. math:: t_N = 1 + \frac{4}{(1 - \alpha)^2 q_K} \ln\frac{GT}{\delta}

    to T there are, of each group, at least :math:`\alpha q_K` candidates for every round of the second half.

    This takes the groups of one round to be independent, as those of `mixed_groups` and `employer` are. Assumption B
    does not ask for it, and lets all candidates of a round be of one random group; the lemma then fails, and it needs
    :math:`q_K / K` instead of :math:`q_K` here (erratum E-G20).

    Parameters
    ----------
    game : Constants
        The game's constants.
    horizon : int or array_like of int
        Number of rounds T, one or many.
    failure : float
        The probability :math:`\delta`, in (0, 1).
    alpha : float
        The share :math:`\alpha` of the expected number that is enough, in (0, 1).

    Returns
    -------
    float or ndarray, shape of `horizon`
        The round; 1 if the groups are not drawn at random.

    Examples
    --------
    >>> from fairlib.ranks import mixed_groups
    >>> game = constants(mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10))
    >>> counted_from(game, horizon=2500, failure=0.05, alpha=0.5).round(1)
    np.float64(185.2)
    """
    log = np.log(game.groups * np.asarray(horizon, np.float64) / failure)
    counted: NDArray[np.float64] = 1 + float(game.by_chance) * 4 * log / ((1 - alpha) ** 2 * game.least)
    return counted


@checked
def least_exploration(game: Constants, error: NonNegative = 0.0) -> float:
    r"""Return how much is learnt from the chosen candidate, whatever the estimate: the repair of erratum E-G1.

    If ranks are off by at most :math:`\epsilon`, then in the range of :math:`\Sigma`

    .. math:: \mathbb E[X_{a_t} X_{a_t}^\top \mid \text{past}] \succeq \frac{q_K G}{K}\, \lambda
        \Big(\frac{\lambda}{L^2}\Big)^{K-1} \Big(1 - \frac{2 \epsilon L^2}{\lambda}\Big)_+^K I , \qquad
        \lambda = \lambda^+_{\min}(\Sigma) .

    Lemma C.2 and (19) have :math:`q_K G \lambda / (2 K)` instead, which need not hold: the chosen candidate has a high
    rank, and is not a typical one. The informative candidates may have low ranks, which are seldom chosen; in the worst
    case all of them do, and then there is equality.

    Parameters
    ----------
    game : Constants
        The game's constants.
    error : float
        The error :math:`\epsilon` of the ranks, at least 0.

    Returns
    -------
    float
        The eigenvalue; 0 if the error is too large for a statement.

    Examples
    --------
    >>> game = Constants(arms=2, groups=2, dimension=1, length=1, norm=1, sd=1, density=1, eigenvalue=0.5)
    >>> least_exploration(game), least_exploration(game, error=0.125)
    (0.25, 0.0625)
    """
    share = game.eigenvalue / game.length**2
    left = max(share - 2 * error, 0.0)
    return game.least * game.groups / game.arms * game.length**2 * left**game.arms


@checked
def estimate_radius(
    game: Constants, t: Later, *, failure: OpenProbability, ridge: PositiveScale = 0.1, noise: RankNoise = 1e-3
) -> NDArray[np.float64]:
    r"""Return how far the estimate can be from :math:`\mu^\star`, in the norm of :math:`V_{\tilde t}` (Lemma C.4).

    .. math:: & R \sqrt{d \ln\Big(1 + \frac{\tilde t L^2}{d \lambda}\Big) + 2 \ln\frac8\delta} +
        \sqrt\lambda \lVert\mu^\star\rVert \\
        & + \frac{\rho (\sqrt\lambda + L)}{d} \Big(\sqrt d + \sqrt{2 \ln\frac{16 \tilde t^2}{\delta}}\Big)

    The first term is OFUL's. The paper writes :math:`R \sqrt{d \ln((8 + 8 \tilde t L^2/\lambda)/\delta)}`, which is
    larger from d = 2 on and too small for d = 1. The last term, for the noise, replaces the paper's (erratum E-G6).

    Parameters
    ----------
    game : Constants
        The game's constants.
    t : int or array_like of int
        The round, one or many, from 3: there is no estimate before.
    failure : float
        The probability that it ever fails is at most a quarter of this :math:`\delta`, which is in (0, 1).
    ridge : float
        The regularizer :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho`, in (0, 1].

    Returns
    -------
    float or ndarray, shape of `t`
        The radius.

    Examples
    --------
    >>> from fairlib.ranks import section_6
    >>> estimate_radius(constants(section_6()), [500, 5000], failure=0.1).round(1)
    array([32. , 34.7])
    """
    lam, rho, delta = ridge, noise, failure
    half, d = (np.asarray(t, np.float64) - 1) // 2, game.dimension
    regression = game.sd * np.sqrt(d * np.log1p(half * game.length**2 / (d * lam)) + 2 * math.log(8 / delta))
    wobble = math.sqrt(d) + np.sqrt(2 * np.log(16 * half**2 / delta))
    bound: NDArray[np.float64] = (
        regression + math.sqrt(lam) * game.norm + rho * (math.sqrt(lam) + game.length) / d * wobble
    )
    return bound


@checked
def fair_greedy_bound(
    game: Constants,
    horizon: Later,
    *,
    failure: OpenProbability,
    ridge: PositiveScale = 0.1,
    noise: RankNoise = 1e-3,
    alpha: OpenProbability = 0.5,
) -> NDArray[np.float64]:
    r"""Bound the fairness regret of Fair-Greedy and of V2 with high probability: Theorems 1 and 2 with all repairs.

    With :math:`\kappa` from `least_exploration` at error 0, :math:`r_T` the `estimate_radius`, :math:`n = \alpha q_K`
    (or 1 if groups are not drawn at random),

    .. math:: R_F(T) &\le \tau + 32\sqrt2\, \frac{\psi \ell\, r_T}{\sqrt\kappa} \sqrt T + 4 \sqrt{\frac{T}{n}
        \ln\frac{8GT}{\delta}} , \\
        \tau &= 4 \max(\tau_1, \tau_2, t_N) + 3, \\
        \tau_1 &= 1 + \frac{16 K^2 \ell^4}{n \lambda^{+}_{\min}(\Sigma)^2} \ln\frac{8GT}{\delta} , \\
        \tau_2 &= \frac{27 \ell^2}{2 \kappa} \ln\Big(\frac{2d}{\delta} \Big(1 + \frac{27 \ell^2}{2\kappa}\Big)\Big) .

    Parameters
    ----------
    game : Constants
        The game's constants.
    horizon : int or array_like of int
        Number of rounds T, one or many, at least 3: there is no estimate before.
    failure : float
        The probability that the bound fails, in (0, 1): :math:`\delta`, or :math:`2\delta` if groups are drawn at
        random, as counting them then takes one half.
    ridge : float
        The regularizer :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho`, in (0, 1].
    alpha : float
        The share :math:`\alpha` in Lemma E.1, in (0, 1).

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound. It grows like the root of T. It says nothing where it exceeds :math:`T (K - 1) / (K + 1)`, the
        average loss of the worst policy if each of K groups sends a candidate. It exceeds that at every T that could be
        played, except in the smallest games: with two groups on a line it is below from some ten thousand rounds on.

    Examples
    --------
    >>> from fairlib.ranks import section_6
    >>> bool(fair_greedy_bound(constants(section_6()), 500, failure=0.1) > 500)
    True
    """
    delta, rounds = _each_failure(game, failure), np.asarray(horizon, np.float64)
    tau, log, kappa = _from_then(game, horizon, delta, alpha)
    radius = estimate_radius(game, horizon, failure=delta, ridge=ridge, noise=noise)
    learning = 32 * math.sqrt(2 / kappa) * game.density * game.length * radius * np.sqrt(rounds)
    bound: NDArray[np.float64] = tau + learning + 4 * np.sqrt(rounds * log)
    return bound


@checked
def fair_greedy_log_bound(
    game: Constants,
    horizon: Later,
    *,
    failure: OpenProbability,
    ridge: PositiveScale = 0.1,
    noise: RankNoise = 1e-3,
    alpha: OpenProbability = 0.5,
) -> NDArray[np.float64]:
    r"""Bound the fairness regret of Fair-Greedy and of V2 with high probability, by a power of a logarithm.

    With everything as in `fair_greedy_bound`, except :math:`\delta / 2` instead of :math:`\delta`, and with the largest
    distance :math:`\Delta` of two contexts of one group,

    .. math:: R_F(T) \le \tau + \ln\frac2\delta + (e - 1)\, 4 K \ln T \Big( \frac{32 \psi^2 \Delta^2 r_T^2}{\kappa} +
        \frac1n \ln\frac{16GT}{\delta} \Big) .

    Parameters
    ----------
    game : Constants
        The game's constants.
    horizon : int or array_like of int
        Number of rounds T, one or many, at least 3: there is no estimate before.
    failure : float
        The probability that the bound fails, in (0, 1): :math:`\delta`, or :math:`2\delta` if groups are drawn at
        random, as counting them then takes one half.
    ridge : float
        The regularizer :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho`, in (0, 1].
    alpha : float
        The share :math:`\alpha` in Lemma E.1, in (0, 1).

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound. It is of order :math:`\ln^2 T`, and more than T at every T that could be played, except in the
        smallest games.

    Examples
    --------
    >>> from fairlib.ranks import section_6
    >>> bound = fair_greedy_log_bound(constants(section_6()), [10**60, 10**120], failure=0.1)
    >>> bool(3.5 < bound[1] / bound[0] < 4)
    True
    """
    whole, rounds = failure, np.asarray(horizon, np.float64)
    delta = _each_failure(game, whole / 2)
    tau, log, kappa = _from_then(game, horizon, delta, alpha)
    radius = estimate_radius(game, horizon, failure=delta, ridge=ridge, noise=noise)
    error = 32 * (game.density * game.diameter * radius) ** 2 / kappa + log
    bound: NDArray[np.float64] = tau + math.log(2 / whole) + (math.e - 1) * 4 * game.arms * np.log(rounds) * error
    return bound


@checked
def printed_bound(
    game: Constants,
    horizon: Later,
    *,
    failure: OpenProbability,
    ridge: PositiveScale = 0.1,
    alpha: OpenProbability = 0.5,
) -> NDArray[np.float64]:
    r"""Return the bound of Theorems 1 and 2 and Corollary E.1 as printed, which the printed proof does not prove.

    The step that fails is erratum E-G1; see `fair_greedy_bound` for what is proved.

    Parameters
    ----------
    game : Constants
        The game's constants.
    horizon : int or array_like of int
        Number of rounds T, one or many, at least 3.
    failure : float
        The probability :math:`\delta`, in (0, 1), split in halves for :math:`\delta_1` and :math:`\delta_2` if groups
        are drawn at random.
    ridge : float
        The regularizer :math:`\lambda`, above 0.
    alpha : float
        The share :math:`\alpha`, in (0, 1).

    Returns
    -------
    float or ndarray, shape of `horizon`
        The bound.

    Examples
    --------
    >>> from fairlib.ranks import section_6
    >>> game = constants(section_6(step=3))
    >>> bool(1e7 < printed_bound(game, 500, failure=0.1) < 1e8)
    True
    """
    delta, rounds = _each_failure(game, failure), np.asarray(horizon, np.float64)
    share, lam, k, g = alpha, ridge, game.arms, game.groups
    candidates = game.least * (share if game.by_chance else 1.0)
    tau_1 = 32 * k**3 * (math.log(5 * g * math.e / delta) / candidates) ** 1.5
    tau_2 = 54 * game.length**2 / game.eigenvalue * math.log(4 * game.dimension / delta)
    tau_3 = (counted_from(game, horizon, failure=delta, alpha=share) - 1) / 2  # half of what is needed (E-G13)
    inner = (8 + 4 * rounds * max(game.length**2 / lam, 1)) / delta
    radius = (math.sqrt(lam) + game.sd + game.length) * np.sqrt(game.dimension * rounds * np.log(inner))
    radius += np.sqrt(lam * rounds) * game.norm
    first = 96 * game.density * game.length * math.sqrt(k / (game.eigenvalue * game.least * g)) * radius
    second = 8 * np.sqrt(rounds * np.log(8 * g * rounds / delta) / (3 * candidates))
    bound: NDArray[np.float64] = first + second + 4 * np.maximum(max(tau_1, tau_2), tau_3) + 3
    return bound


def _each_failure(game: Constants, failure: float) -> float:
    """Return the probability of failure that is left for the estimates, where counts of groups take half of it."""
    return failure / 2 if game.by_chance else failure


def _from_then(game: Constants, horizon: ArrayLike, delta: float, alpha: float) -> tuple[Any, Any, float]:
    """Return the round from which contexts are short, the square of the ranks' error times t - 1, and kappa."""
    share, rounds = alpha, np.asarray(horizon, np.float64)
    candidates = game.least * (share if game.by_chance else 1.0)
    kappa, log = least_exploration(game), np.log(8 * game.groups * rounds / delta) / candidates
    tau_1 = 1 + 16 * (game.arms * game.length**2 / game.eigenvalue) ** 2 * log
    steps = 27 * game.length**2 / (2 * kappa)
    tau_2 = steps * math.log(2 * game.dimension / delta * (1 + steps))
    counted = counted_from(game, horizon, failure=delta, alpha=share)
    return 4 * np.maximum(np.maximum(tau_1, tau_2), counted) + 3, log, kappa
