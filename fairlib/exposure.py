"""Exposure in proportion to merit, on arms: FairX-UCB, FairX-TS and FairX-EG, and what is proved of FairX-UCB.

The module of the chapters on exposure, after Wang, Bai, Sun and Joachims (2021). Contexts are still to come.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.arms import Bandit
from fairlib.compilation import compiled
from fairlib.merit import VALUE, Merit, as_merit, fair_policy, optimistic_step
from fairlib.policy import Policy
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


def _wandering(arms: int, horizon: ArrayLike, failure: float) -> NDArray[np.float64]:
    """Return what the widths of the arms played sum to, twice over: the term that both bounds share."""
    checks.whole("arms", arms, 1)
    delta = checks.real("failure", failure, above=0)
    checks.real("failure", failure, 0, 1)
    rounds = checks.rounds("horizon", horizon)
    widths = np.sqrt(2 * np.log(4 * rounds * arms / delta))
    return 2 * widths * (np.sqrt(2 * rounds * math.log(4 / delta)) + 2 * np.sqrt(arms * rounds))
