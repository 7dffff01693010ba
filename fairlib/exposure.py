"""Exposure in proportion to merit, after Wang, Bai, Sun and Joachims (2021).

The module of the chapter *Exposure by merit*, FairX-UCB, FairX-TS and FairX-EG on arms; and, further down, of *Exposure
in context*, where every arm comes with a vector and the same three have linear models.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize

from fairlib import checks
from fairlib.arms import Bandit, gaussian
from fairlib.compilation import compiled, helper
from fairlib.contexts import ContextBandit, ContextPolicy, Ridge, dot, width
from fairlib.merit import VALUE, Merit, as_merit, clipped, exponential_value, fair_policy, optimistic_step, power
from fairlib.policy import Policy, play_largest
from fairlib.result import Result


@dataclass(frozen=True, eq=False)
class ExposureResult(Result):
    r"""What happened in a game with exposure by merit.

    Parameters
    ----------
    reward_regret : ndarray, shape (runs, R)
        Expected reward of the optimal fair policy less that of the policy, summed over the rounds so far (equation
        1). Negative where an unfair policy earns more.
    fairness_regret : ndarray, shape (runs, R)
        Distance :math:`\sum_a |\pi^\star(a) - \pi_t(a)|` to the optimal fair policy, at most 2 a round, summed over the
        rounds so far (equation 2).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.5, 0.5]), merit=exponential(4))
    >>> fl.simulate(game, fl.uniform(), 100).fairness_regret[0, -1]
    np.float64(0.0)
    """

    reward_regret: NDArray[np.float64]
    fairness_regret: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExposureBandit(Bandit):
    """A game in which each arm is owed exposure in proportion to its merit (Section 3.1).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, a mean is outside its range, or more than one arm is played each round.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import clipped
    >>> ExposureBandit(fl.bernoulli([0.6, 0.2]), merit=clipped(0.1)).optimal
    array([0.75, 0.25])
    """

    merit: Merit = field(kw_only=True)
    sums = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plays != 1:
            raise ValueError(f"plays must be 1 for this notion of exposure, not {self.plays}")
        fair_policy(as_merit(self.merit), self.arms.means)

    @property
    def optimal(self) -> NDArray[np.float64]:
        """The optimal fair policy (Theorem 3.1.1), shape (K,)."""
        return fair_policy(self.merit, self.arms.means)

    @property
    def truth(self) -> NDArray[np.float64]:
        """The means, and then the optimal fair policy."""
        return np.concatenate([self.arms.means, self.optimal])

    @staticmethod
    def tally(truth: Any, t: int, p: Any, selected: Any, sums: Any) -> None:
        """Sum both regrets over the rounds, from the probabilities and not from the plays."""
        for a in range(p.size):
            short = truth[p.size + a] - p[a]
            sums[0] += short * truth[a]
            sums[1] += abs(short)

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> ExposureResult:
        """Add the two regrets.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, 2)
            What `tally` has summed.

        Returns
        -------
        ExposureResult
            The result.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.merit import exponential
        >>> game = ExposureBandit(fl.bernoulli([0.5, 0.5]), merit=exponential(4))
        >>> game.result(np.array([1]), np.array([[[1, 0]]]), np.zeros((1, 1)), np.ones((1, 1, 2))).reward_regret
        array([[1.]])
        """
        base = super().result(rounds, selected, reward, sums)
        return ExposureResult(**vars(base), reward_regret=sums[..., 0], fairness_regret=sums[..., 1])


def games_of_low_merit(horizon: int) -> tuple[ExposureBandit, ExposureBandit]:
    r"""Return the two games of Theorem 3.1.4, in which almost no merit stands against almost no merit.

    With :math:`\theta = 1/\sqrt T` the merit is :math:`\max(x, \theta)`, the means are :math:`(\theta, 2\theta)` and
    :math:`(2\theta, 2\theta)`, and rewards are normal with variance 1/2.

    Parameters
    ----------
    horizon : int
        Number of rounds T, at least 4, so that no mean is above 1.

    Returns
    -------
    tuple of two ExposureBandit
        The games. Every policy has a fairness regret of ``fairness_lower_bound(T, sqrt(T))`` or more in one of them.

    Raises
    ------
    TypeError, ValueError
        If the horizon is not a whole number of at least 4.

    Examples
    --------
    >>> [game.optimal.round(3).tolist() for game in games_of_low_merit(100)]
    [[0.333, 0.667], [0.5, 0.5]]
    """
    theta = 1 / math.sqrt(checks.whole("horizon", horizon, 4))
    low, high = ([theta, 2 * theta], [2 * theta, 2 * theta])
    return _pair(clipped(theta), low, high)


def games_of_steep_merit(horizon: int, ratio: float) -> tuple[ExposureBandit, ExposureBandit]:
    r"""Return the two games of Theorem 3.1.5, for any steepness.

    With :math:`\theta = 1/\sqrt T` the merit is :math:`1 + \Lambda x` on [0, 1], the means are :math:`(\theta, 0)` and
    :math:`(0, 0)`, and rewards are normal with variance 1/2.

    Parameters
    ----------
    horizon : int
        Number of rounds T.
    ratio : float
        The ratio :math:`\Lambda = L/\gamma` of steepness to smallest merit, above 0; the theorem takes
        :math:`\sqrt T`.

    Returns
    -------
    tuple of two ExposureBandit
        The games. Every policy has a fairness regret of ``fairness_lower_bound(T, ratio)`` or more in one of them.

    Raises
    ------
    TypeError, ValueError
        If the horizon is not a positive whole number, or the ratio not a positive number.

    Examples
    --------
    >>> [game.optimal.round(3).tolist() for game in games_of_steep_merit(100, 10)]
    [[0.667, 0.333], [0.5, 0.5]]
    """
    theta = 1 / math.sqrt(checks.whole("horizon", horizon, 1))
    return _pair(power(checks.real("ratio", ratio, above=0), 1), [theta, 0.0], [0.0, 0.0])


def _pair(merit: Merit, *means: list[float]) -> tuple[ExposureBandit, ExposureBandit]:
    first, second = (ExposureBandit(gaussian(each, math.sqrt(0.5)), merit=merit) for each in means)
    return first, second


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


@lru_cache(maxsize=64)
def fairx_ucb_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of FairX-UCB for a merit function and its optimistic step (Algorithm 1)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        width, least, most, merit = params[0], params[1], params[2], params[3:]
        k = p.size
        low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
        for a in range(k):
            n = observed[a]
            if n == 0:  # each arm once first: erratum E-F3
                p[:] = 0.0
                p[a] = 1.0
                return
            mean, w = total[a] / n, width / math.sqrt(n)  # lines 4 and 5
            low[a] = min(max(mean - w, least), most)  # line 6
            high[a] = min(max(mean + w, least), most)
        step(merit, low, high, mu)  # line 7
        whole = 0.0
        for a in range(k):  # line 8
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] /= whole

    return rule


def fairx_ucb(merit: Merit, arms: int, width: float) -> Policy:
    r"""FairX-UCB (Algorithm 1), with the optimistic step of line 7 solved exactly.

    Plays in proportion to the merit of the most favourable means in the box
    :math:`\hat\mu_a \pm w_0 / \sqrt{N_a}`, cut to the merit's range.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    arms : int
        Number of arms K.
    width : float
        The factor :math:`w_0` of the confidence widths, at least 0; Theorems 3.2.1 and 3.2.2 take
        :math:`\sqrt{2 \ln(4TK/\delta)}` for rewards in [-1, 1].

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    See Also
    --------
    fairx_ucb_fairness_bound, fairx_ucb_reward_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ucb(game.merit, 2, width=0.1), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    step = optimistic_step(merit)
    checks.whole("arms", arms, 1)
    params = [checks.real("width", width, 0, math.inf), merit.low, merit.high, *np.asarray(merit.params)]
    rule = fairx_ucb_rule(compiled(merit.value, VALUE), step)
    return Policy("FairX-UCB", rule, params, memory=3 * arms, arms=arms)


def fairx_ucb_gradient_rule(params, state, t, selected, observed, total, rng, p):
    """FairX-UCB as the paper runs it, for exponential merit: line 7 by ten projected gradient steps of 0.01."""
    width, least, most, c = params[0], params[1], params[2], params[3]
    k = p.size
    low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
    for a in range(k):
        n = observed[a]
        if n == 0:
            p[:] = 0.0
            p[a] = 1.0
            return
        mean, w = total[a] / n, width / math.sqrt(n)
        low[a] = min(max(mean - w, least), most)
        high[a] = min(max(mean + w, least), most)
        mu[a] = min(max(mean, least), most)  # the paper does not say where it starts
    for step in range(11):
        whole, earned = 0.0, 0.0
        for a in range(k):
            p[a] = math.exp(c * mu[a])
            whole += p[a]
            earned += p[a] * mu[a]
        for a in range(k):
            p[a] /= whole
            if step < 10:  # the slope of G at arm a is its probability times 1 + c (mu - G)
                mu[a] += 0.01 * p[a] * (1.0 + c * (mu[a] - earned / whole))
                mu[a] = min(max(mu[a], low[a]), high[a])


def fairx_ucb_gradient(merit: Merit, arms: int, width: float) -> Policy:
    r"""FairX-UCB with the local solver of the paper's experiments, for comparison with the exact `fairx_ucb`.

    Line 7 is ten steps of projected gradient ascent from the centre of the box, with step size 0.01 (Section 5.1). They
    reach a maximum only by luck (erratum E-F4).

    Parameters
    ----------
    merit : Merit
        An exponential merit function, the paper's only kind.
    arms : int
        Number of arms K.
    width : float
        The factor :math:`w_0` of the confidence widths, at least 0.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not an exponential `Merit`, or a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ucb_gradient(game.merit, 2, width=0.1), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    if as_merit(merit).value is not exponential_value:
        raise ValueError(f"merit must be exponential, such as exponential(2), not {merit.name!r}")
    checks.whole("arms", arms, 1)
    params = [checks.real("width", width, 0, math.inf), merit.low, merit.high, *np.asarray(merit.params)]
    return Policy("FairX-UCB, gradient", fairx_ucb_gradient_rule, params, memory=3 * arms, arms=arms)


@lru_cache(maxsize=64)
def fairx_ts_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-TS for a merit function, with Beta posteriors (Algorithm 2)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        a0, b0, merit = params[0], params[1], params[2:]
        whole = 0.0
        for a in range(p.size):  # lines 3 and 4
            p[a] = value(merit, rng.beta(a0 + total[a], b0 + observed[a] - total[a]))
            whole += p[a]
        for a in range(p.size):
            p[a] /= whole

    return rule


def fairx_ts(merit: Merit, a: float = 1.0, b: float = 1.0) -> Policy:
    """FairX-TS (Algorithm 2) for rewards 0 and 1: play by the merit of means drawn from their Beta posteriors.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves; its range must hold [0, 1].
    a, b : float
        Shapes of the prior, above 0.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit` for means in [0, 1], or a shape is not positive.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ts(game.merit), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    shapes = [checks.real("a", a, above=0), checks.real("b", b, above=0)]
    fair_policy(as_merit(merit), [0.0, 1.0])
    return Policy("FairX-TS", fairx_ts_rule(compiled(merit.value, VALUE)), [*shapes, *np.asarray(merit.params)])


@lru_cache(maxsize=64)
def fairx_ts_gaussian_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-TS for a merit function, with normal posteriors (Algorithm 2)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        prior, noise = params[0], params[1]  # precisions, one over a variance
        least, most, merit = params[2], params[3], params[4:]
        whole = 0.0
        for a in range(p.size):
            precision = prior + noise * observed[a]
            mean = noise * total[a] / precision
            drawn = rng.normal(mean, math.sqrt(1.0 / precision))  # line 3
            p[a] = value(merit, min(max(drawn, least), most))  # line 4
            whole += p[a]
        for a in range(p.size):
            p[a] /= whole

    return rule


def fairx_ts_gaussian(merit: Merit, prior_sd: float = 1.0, reward_sd: float = 1.0) -> Policy:
    r"""FairX-TS (Algorithm 2) for normal rewards: play by the merit of means drawn from their normal posteriors.

    The prior of each mean is :math:`N(0, \sigma_0^2)`. A mean that is drawn outside the merit's range is cut to it: the
    policy plays by :math:`f(\mathrm{cut}(x))`, which has the minimum and the Lipschitz constant of f, and has them on
    all of :math:`\mathbb R`, as Theorem 3.3.1 asks (erratum E-F15).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    prior_sd : float
        Standard deviation of the prior, above 0.
    reward_sd : float
        Standard deviation of a reward, above 0; Theorems 3.3.1 and 3.3.2 take 1 for both.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a standard deviation is not positive.

    See Also
    --------
    fairx_ts_fairness_bound, fairx_ts_reward_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.gaussian([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_ts_gaussian(game.merit), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    precisions = [checks.real("prior_sd", prior_sd, above=0) ** -2, checks.real("reward_sd", reward_sd, above=0) ** -2]
    params = [*precisions, as_merit(merit).low, merit.high, *np.asarray(merit.params)]
    return Policy("FairX-TS", fairx_ts_gaussian_rule(compiled(merit.value, VALUE)), params)


@lru_cache(maxsize=64)
def fairx_eg_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-EG for a merit function."""

    def rule(params, state, t, selected, observed, total, rng, p):
        epsilon, least, most, merit = params[0], params[1], params[2], params[3:]
        whole = 0.0
        for a in range(p.size):
            if observed[a] == 0:
                p[:] = 0.0
                p[a] = 1.0
                return
            mean = min(max(total[a] / observed[a], least), most)
            p[a] = value(merit, mean)
            whole += p[a]
        for a in range(p.size):
            p[a] = (1.0 - epsilon) * p[a] / whole + epsilon / p.size

    return rule


def fairx_eg(merit: Merit, epsilon: float) -> Policy:
    """FairX-EG: play by the merit of the means so far, and with probability epsilon any arm at all.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    epsilon : float
        Share of the rounds spent on exploring, in [0, 1].

    Returns
    -------
    Policy
        The policy, one play a round; each arm once first.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or `epsilon` is not a number in [0, 1].

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.8, 0.4]), merit=exponential(2))
    >>> result = fl.simulate(game, fairx_eg(game.merit, 0), 20_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    as_merit(merit)
    params = [checks.real("epsilon", epsilon, 0, 1), merit.low, merit.high, *np.asarray(merit.params)]
    return Policy("FairX-EG", fairx_eg_rule(compiled(merit.value, VALUE)), params)


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
    delta = checks.real("failure", failure, above=0)
    checks.real("failure", failure, 0, 1)
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
    delta = checks.real("failure", failure, above=0)
    checks.real("failure", failure, 0, 1)
    rounds = checks.rounds("horizon", horizon)
    widths = np.sqrt(2 * np.log(4 * rounds * arms / delta))
    return 2 * widths * (np.sqrt(2 * rounds * math.log(4 / delta)) + 2 * np.sqrt(arms * rounds))


# Contexts (Section 4) ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ContextExposureBandit(ContextBandit):
    r"""A game with contexts in which each arm is owed exposure by its merit, round by round (Section 4.1).

    The optimal fair policy changes with the contexts: :math:`\pi^\star_t(a) \propto f(\mu^\star \cdot x_{t,a})`. A mean
    outside the merit's range has the merit of the nearer end.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.

    Raises
    ------
    TypeError
        If `world` is not a `World` or `merit` not a `Merit`.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> policy = fairx_lineg(game.merit, epsilon=0)
    >>> bool(fl.simulate(game, policy, 5000).fairness_regret[0, -1] < 400)
    True
    """

    merit: Merit = field(kw_only=True)
    sums = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        as_merit(self.merit)

    @property
    def truth(self) -> NDArray[np.float64]:
        """The merit's range, and then its parameters."""
        return np.array([self.merit.low, self.merit.high, *np.asarray(self.merit.params)])

    @property
    def tally(self) -> Callable[..., None]:
        """Sum both regrets over the rounds (equations 5 and 6), from the probabilities and not from the plays."""
        return exposure_tally(compiled(self.merit.value, VALUE))

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> ExposureResult:
        """Add the two regrets.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, 3)
            The regret, the reward regret and the fairness regret.

        Returns
        -------
        ExposureResult
            The result.

        Examples
        --------
        >>> from fairlib.contexts import sphere
        >>> from fairlib.merit import exponential
        >>> game = ContextExposureBandit(sphere(2, [1.0]), merit=exponential(2, -1, 1))
        >>> game.result(np.array([1]), np.array([[[1, 0]]]), np.zeros((1, 1)), np.ones((1, 1, 3))).fairness_regret
        array([[1.]])
        """
        base = super().result(rounds, selected, reward, sums)
        return ExposureResult(**vars(base), reward_regret=sums[..., 1], fairness_regret=sums[..., 2])


@lru_cache(maxsize=64)
def exposure_tally(value: Callable[..., float]) -> Callable[..., None]:
    """Return what sums the two regrets of a merit function."""

    def tally(truth, t, groups, means, p, played, sums):
        least, most, merit = truth[0], truth[1], truth[2:]
        whole = 0.0
        for a in range(p.size):
            whole += value(merit, min(max(means[a], least), most))
        for a in range(p.size):
            short = value(merit, min(max(means[a], least), most)) / whole - p[a]
            sums[1] += short * means[a]
            sums[2] += abs(short)

    return tally


@lru_cache(maxsize=64)
def fairx_linucb_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of FairX-LinUCB for a merit function and its optimistic step on a box (Algorithm 3)."""

    def rule(params, state, t, contexts, groups, ridge, past, rng, p):
        radius, least, most = params[0], params[1], params[2]
        merit = params[3:]
        k, v = p.size, np.empty(ridge.mean.size)
        low, high, mu = np.empty(k), np.empty(k), np.empty(k)
        for a in range(k):  # lines 5 and 6: what the ellipsoid leaves to each
            centre = dot(ridge.mean, contexts[a])
            reach = radius * width(ridge.root, contexts[a], v)
            low[a] = min(max(centre - reach, least), most)
            high[a] = min(max(centre + reach, least), most)
        step(merit, low, high, mu)  # line 7
        whole = 0.0
        for a in range(k):  # line 8
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] /= whole

    return rule


def fairx_linucb(merit: Merit, radius: float, ridge: float = 1.0) -> ContextPolicy:
    r"""FairX-LinUCB (Algorithm 3), with the optimistic step solved exactly on the box around the ellipsoid.

    Line 7 asks for the most favourable parameter in the ellipsoid :math:`\lVert\mu - \hat\mu\rVert_\Sigma \le
    \sqrt\beta`. This policy gives every arm the whole interval :math:`\hat\mu \cdot x_a \pm \sqrt\beta \lVert x_a
    \rVert_{\Sigma^{-1}}` that the ellipsoid leaves it, whatever the others take. The proofs of Theorems 4.2.1 and
    4.2.2 use no more than that, and on a box the step is exact.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    radius : float
        The radius :math:`\sqrt\beta`, at least 0, the same in each round; see `linucb_radius`.
    ridge : float
        The regulariser :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    See Also
    --------
    fairx_linucb_fairness_bound, fairx_linucb_reward_bound : what is proved of its regrets.
    fairx_linucb_search : the same with the ellipsoid itself.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> bool(fl.simulate(game, fairx_linucb(game.merit, radius=0.5), 5000).reward_regret[0, -1] < 0)
    True
    """
    step = optimistic_step(merit)
    params = [checks.real("radius", radius, 0, math.inf), merit.low, merit.high, *np.asarray(merit.params)]
    rule = fairx_linucb_rule(compiled(merit.value, VALUE), step)
    return ContextPolicy("FairX-LinUCB", rule, params, ridge=ridge)


@lru_cache(maxsize=64)
def fairx_lints_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-LinTS for a merit function (Algorithm 4)."""

    def rule(params, state, t, contexts, groups, ridge, past, rng, p):
        sd, least, most, merit = params[0], params[1], params[2], params[3:]
        mu = np.empty(ridge.mean.size)
        posterior_draw(ridge, sd, rng, mu)  # line 4
        whole = 0.0
        for a in range(p.size):  # line 5
            p[a] = value(merit, min(max(dot(mu, contexts[a]), least), most))
            whole += p[a]
        for a in range(p.size):
            p[a] /= whole

    return rule


@helper
def posterior_draw(ridge: Ridge, sd: float, rng: Any, mu: Any) -> None:
    r"""Draw a parameter from its normal posterior.

    The posterior is :math:`\mathcal N(\hat\mu, \sigma^2 \Sigma^{-1})`.

    Parameters
    ----------
    ridge : Ridge
        The ridge regression, with regulariser :math:`\lambda = \sigma^2 / \sigma_0^2` for a prior of standard deviation
        :math:`\sigma_0`.
    sd : float
        Standard deviation :math:`\sigma` of a reward.
    rng : numpy.random.Generator
        Where chance comes from.
    mu : ndarray, shape (d,)
        Receives the parameter.

    Examples
    --------
    >>> mu = np.empty(2)
    >>> posterior_draw(Ridge(np.array([1.0, 2.0]), np.zeros((2, 2))), 1.0, np.random.default_rng(0), mu)
    >>> mu
    array([1., 2.])
    """
    z = np.empty(mu.size)
    for i in range(mu.size):
        z[i] = sd * rng.standard_normal()
    for i in range(mu.size):
        mu[i] = ridge.mean[i] + dot(ridge.root[i], z)


def fairx_lints(merit: Merit, prior_sd: float = 1.0, reward_sd: float = 1.0) -> ContextPolicy:
    r"""FairX-LinTS (Algorithm 4): play by the merit of means under a parameter drawn from its normal posterior.

    A drawn mean outside the merit's range has the merit of the nearer end. So the merit is defined for all of
    :math:`\mathbb R`, bounded from below and Lipschitz there, as Theorem 4.3.1 needs (erratum E-F15).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    prior_sd : float
        Standard deviation of each coordinate of the parameter before the first round, above 0.
    reward_sd : float
        Standard deviation of a reward, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a standard deviation is not positive.

    See Also
    --------
    fairx_lints_fairness_bound, fairx_lints_reward_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> bool(fl.simulate(game, fairx_lints(game.merit), 5000).fairness_regret[0, -1] < 400)
    True
    """
    ridge, sd = _posterior(prior_sd, reward_sd)
    params = [sd, as_merit(merit).low, merit.high, *np.asarray(merit.params)]
    return ContextPolicy("FairX-LinTS", fairx_lints_rule(compiled(merit.value, VALUE)), params, ridge=ridge)


def _posterior(prior_sd: float, reward_sd: float) -> tuple[float, float]:
    """Return the regulariser of the normal posterior, and the standard deviation that scales it."""
    sd = checks.real("reward_sd", reward_sd, above=0)
    return (sd / checks.real("prior_sd", prior_sd, above=0)) ** 2, sd


@lru_cache(maxsize=64)
def fairx_lineg_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FairX-LinEG for a merit function."""

    def rule(params, state, t, contexts, groups, ridge, past, rng, p):
        epsilon, least, most, merit = params[0], params[1], params[2], params[3:]
        whole = 0.0
        for a in range(p.size):
            p[a] = value(merit, min(max(dot(ridge.mean, contexts[a]), least), most))
            whole += p[a]
        for a in range(p.size):
            p[a] = (1.0 - epsilon) * p[a] / whole + epsilon / p.size

    return rule


def fairx_lineg(merit: Merit, epsilon: float, ridge: float = 1.0) -> ContextPolicy:
    r"""FairX-LinEG: play by the merit of the means as the ridge regression has them, and sometimes any arm at all.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    epsilon : float
        Share of the rounds spent on exploring, in [0, 1].
    ridge : float
        The regulariser :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, or a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> bool(fl.simulate(game, fairx_lineg(game.merit, 0.01), 5000).fairness_regret[0, -1] < 400)
    True
    """
    params = [checks.real("epsilon", epsilon, 0, 1), as_merit(merit).low, merit.high, *np.asarray(merit.params)]
    return ContextPolicy("FairX-LinEG", fairx_lineg_rule(compiled(merit.value, VALUE)), params, ridge=ridge)


def linucb_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Play the arm whose mean could be largest."""
    v = np.empty(ridge.mean.size)
    for a in range(p.size):
        p[a] = dot(ridge.mean, contexts[a]) + params[0] * width(ridge.root, contexts[a], v)
    play_largest(p)


def linucb(radius: float, ridge: float = 1.0) -> ContextPolicy:
    r"""LinUCB: play the arm with the largest :math:`\hat\mu \cdot x_a + \sqrt\beta \lVert x_a \rVert_{\Sigma^{-1}}`.

    Parameters
    ----------
    radius : float
        The radius :math:`\sqrt\beta`, at least 0, the same in each round.
    ridge : float
        The regulariser :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> game = fl.ContextBandit(sphere(3, [0.6, 0.8]))
    >>> bool(fl.simulate(game, linucb(radius=1.0), 5000).regret[0, -1] < 200)
    True
    """
    return ContextPolicy("LinUCB", linucb_rule, [checks.real("radius", radius, 0, math.inf)], ridge=ridge)


def oful_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Play as LinUCB, with the radius that the data so far call for."""
    noise, reach, log_failure = params[0], params[1], params[2]
    v, w = np.empty(ridge.mean.size), np.empty(p.size)
    radius = noise * math.sqrt(state[0] - 2.0 * log_failure) + reach  # state[0] is ln det(Sigma / lambda)
    for a in range(p.size):
        w[a] = width(ridge.root, contexts[a], v)
        p[a] = dot(ridge.mean, contexts[a]) + radius * w[a]
    play_largest(p)
    for a in range(p.size):
        state[0] += p[a] * math.log(1.0 + w[a] ** 2)  # each play multiplies the determinant by 1 + w^2


def oful(noise: float, norm: float, failure: float, ridge: float = 1.0) -> ContextPolicy:
    r"""OFUL (Abbasi-Yadkori, Pál and Szepesvári, 2011): LinUCB with a radius that follows the data.

    .. math:: \sqrt{\beta_t} = \sigma \sqrt{\ln\frac{\det \Sigma_t}{\det \Sigma_1} + 2\ln\frac1\delta} + \sqrt\lambda\,W

    Parameters
    ----------
    noise : float
        The noise is :math:`\sigma`-sub-Gaussian; at least 0.
    norm : float
        Bound W on the length of the parameter, at least 0.
    failure : float
        The probability :math:`\delta` that the ellipsoid ever misses the parameter, above 0 and at most 1.
    ridge : float
        The regulariser :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> game = fl.ContextBandit(sphere(3, [0.6, 0.8]))
    >>> bool(fl.simulate(game, oful(noise=1, norm=1, failure=0.1), 5000).regret[0, -1] < 300)
    True
    """
    lam = checks.real("ridge", ridge, above=0)
    params = [
        checks.real("noise", noise, 0, math.inf),
        checks.real("norm", norm, 0, math.inf) * math.sqrt(lam),
        math.log(_failure(failure)),
    ]
    return ContextPolicy("OFUL", oful_rule, params, ridge=lam, memory=1)


def lints_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Play the arm that is best under a parameter drawn from the posterior."""
    mu = np.empty(ridge.mean.size)
    posterior_draw(ridge, params[0], rng, mu)
    for a in range(p.size):
        p[a] = dot(mu, contexts[a])
    play_largest(p)


def lints(prior_sd: float = 1.0, reward_sd: float = 1.0) -> ContextPolicy:
    """Linear Thompson sampling: play the arm that is best under a parameter drawn from its normal posterior.

    Parameters
    ----------
    prior_sd : float
        Standard deviation of each coordinate of the parameter before the first round, above 0.
    reward_sd : float
        Standard deviation of a reward, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a standard deviation is not positive.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> game = fl.ContextBandit(sphere(3, [0.6, 0.8]))
    >>> bool(fl.simulate(game, lints(), 5000).regret[0, -1] < 200)
    True
    """
    ridge, sd = _posterior(prior_sd, reward_sd)
    return ContextPolicy("LinTS", lints_rule, [sd], ridge=ridge)


def most_favourable(
    merit: Merit, contexts: ArrayLike, ridge: Ridge, radius: float, method: str = "search"
) -> NDArray[np.float64]:
    r"""Look for the parameter in the ellipsoid under which the fair policy earns most (Algorithm 3, line 7 as printed).

    The problem has several local maxima and no known exact solution in more than a few dimensions, so that this finds a
    lower bound; the exact step on the box of `fairx_linucb` gives an upper one.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    contexts : array_like, shape (K, d)
        The contexts of the round.
    ridge : Ridge
        The ridge regression: the ellipsoid is :math:`\hat\mu + \sqrt\beta\,\mathrm{root}\,v` with
        :math:`\lVert v \rVert \le 1`.
    radius : float
        The radius :math:`\sqrt\beta`, at least 0.
    method : str
        ``"search"``: SciPy's SLSQP from the centre and from the point that is best for each arm. ``"gradient"``: the
        paper's recipe, ten steps of 0.01 along the gradient from the centre, each pulled back into the ellipsoid.

    Returns
    -------
    ndarray, shape (d,)
        The parameter.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> from fairlib.merit import exponential
    >>> ridge = Ridge(np.zeros(2), np.eye(2))
    >>> most_favourable(exponential(2, -1, 1), [[1.0, 0.0], [0.0, 0.8]], ridge, 0.5).round(2)
    array([0.5 , 0.04])
    """
    x, scale = checks.array("contexts", contexts, 2), checks.real("radius", radius, 0)
    if method not in ("search", "gradient"):
        raise ValueError(f"method must be 'search' or 'gradient', not {method!r}")
    f, mean, shape = as_merit(merit), ridge.mean, scale * ridge.root

    def earned(mu: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return what the fair policy of a parameter earns, and the gradient."""
        z = x @ mu
        inside = np.clip(z, f.low, f.high)
        h = 1e-6 * (f.high - f.low)
        merits, slopes = f(inside), (f(np.minimum(inside + h, f.high)) - f(np.maximum(inside - h, f.low))) / (2 * h)
        value = merits @ z / merits.sum()
        return value, ((merits + slopes * (z - value) * (z == inside)) / merits.sum()) @ x

    if method == "gradient":
        mu = mean.copy()
        for _ in range(10):
            mu = mu + 0.01 * earned(mu)[1]
            v = np.linalg.solve(shape, mu - mean) if scale > 0 else np.zeros(mean.size)
            mu = mean + shape @ (v / max(1.0, float(np.linalg.norm(v))))
        return mu

    def loss(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = earned(mean + shape @ v)
        return -value, -slope @ shape

    ball = {"type": "ineq", "fun": lambda v: 1.0 - v @ v, "jac": lambda v: -2.0 * v}
    starts = [
        np.zeros(mean.size),
        *((shape.T @ each) / max(float(np.linalg.norm(shape.T @ each)), 1e-300) for each in x),
    ]
    found = [minimize(loss, v, jac=True, method="SLSQP", constraints=ball).x for v in starts]
    inside = [v / max(1.0, float(np.linalg.norm(v))) for v in found]
    return mean + shape @ min(inside, key=lambda v: loss(v)[0])


def fairx_linucb_search(merit: Merit, radius: float, ridge: float = 1.0, method: str = "search") -> ContextPolicy:
    """FairX-LinUCB with the ellipsoid itself in place of the box around it, for comparison; hundreds of times slower.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    radius : float
        The radius of the ellipsoid, at least 0, the same in each round.
    ridge : float
        The regulariser, above 0.
    method : str
        How line 7 is attempted: ``"search"`` or, as the paper has it, ``"gradient"``; see `most_favourable`.

    Returns
    -------
    ContextPolicy
        The policy; it is interpreted.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, a number is out of range or the method unknown.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.contexts import sphere
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> policy = fairx_linucb_search(game.merit, radius=0.5, method="gradient")
    >>> bool(fl.simulate(game, policy, 100).fairness_regret[0, -1] < 100)
    True
    """
    scale = checks.real("radius", radius, 0)
    most_favourable(merit, [[1.0]], Ridge(np.zeros(1), np.eye(1)), scale, method)  # refuses bad arguments at the door

    def rule(params, state, t, contexts, groups, ridge, past, rng, p):
        means = contexts @ most_favourable(merit, contexts, ridge, params[0], method)
        p[:] = merit(np.clip(means, merit.low, merit.high))
        p /= p.sum()

    name = {"search": "FairX-LinUCB, ellipsoid", "gradient": "FairX-LinUCB, gradient"}[method]
    return ContextPolicy(name, rule, [scale], ridge=ridge, interpret=True)


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
    return checks.real("norm", norm, 0) + np.sqrt(d * np.log1p(rounds / d) + 2 * math.log(2 / _failure(failure)))


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
    wandering = np.sqrt(2 * rounds * math.log(4 / _failure(failure)))
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


def _failure(failure: float) -> float:
    """Take a probability of failure, above 0 and at most 1."""
    checks.real("failure", failure, above=0)
    return checks.real("failure", failure, 0, 1)
