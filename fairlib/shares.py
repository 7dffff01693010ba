"""Guaranteed shares: FAIR-LEARN around any learner, FAIR-UCB, T-FAIR-UCB and LFG, and what is proved of them.

The module of the chapter of that name, after Patil, Ghalme, Nair and Narahari (2021).
"""

import dataclasses
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numba.core.errors import NumbaError
from numpy.typing import ArrayLike, NDArray
from scipy.special import zeta

from fairlib import checks
from fairlib.arms import Bandit
from fairlib.classic import ucb1
from fairlib.compilation import RULE, compiled
from fairlib.policy import Policy, play_largest
from fairlib.result import Result


@dataclass(frozen=True, eq=False)
class SharesResult(Result):
    r"""What happened in a game with guaranteed shares.

    Parameters
    ----------
    r_regret : ndarray, shape (runs, R)
        Regret against the best policy that keeps the guarantee (Definition 4).
    violation : ndarray, shape (runs, R)
        Largest whole number of plays, over arms and rounds so far, by which an arm was behind its share,
        :math:`\lfloor r_a t \rfloor - N_a(t)`; at most the tolerance if and only if the play was fair so far.
    deficit : ndarray, shape (runs, R)
        The same without rounding down, :math:`r_a t - N_a(t)`, as the paper's figures draw it.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    >>> result = fl.simulate(game, fair_ucb([0.2, 0.3]), 1000, runs=5)
    >>> result.violation.max()
    np.float64(0.0)
    """

    r_regret: NDArray[np.float64]
    violation: NDArray[np.float64]
    deficit: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SharedBandit(Bandit):
    """A game in which each arm is owed a share of the plays (Section 2).

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share :math:`r_a` of the rounds that each arm is owed, at least 0 and below 1/K.
    tolerance : float
        How many plays an arm may be behind its share, at least 0.

    Raises
    ------
    TypeError, ValueError
        If the shares are not numbers in [0, 1/K), one an arm, the tolerance is negative, or more than one arm is
        played each round.

    Examples
    --------
    >>> import fairlib as fl
    >>> SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.6])
    Traceback (most recent call last):
    ValueError: shares must be at least 0 and below 1/2, not 0.6 (arm 1)
    """

    shares: ArrayLike = field(kw_only=True)
    tolerance: float = field(default=0.0, kw_only=True)
    sums = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plays != 1:
            raise ValueError(f"plays must be 1 where shares are guaranteed, not {self.plays}")
        object.__setattr__(self, "shares", _shares(self.shares, self.arms.means.size))
        checks.real("tolerance", self.tolerance, 0, math.inf)

    @property
    def truth(self) -> NDArray[np.float64]:
        """The shares, which `tally` compares with the counts."""
        return np.asarray(self.shares)

    @staticmethod
    def tally(truth: Any, t: int, p: Any, selected: Any, sums: Any) -> None:
        """Keep the largest number of plays by which an arm has been behind, in whole plays and exactly."""
        for a in range(p.size):
            owed = truth[a] * t
            sums[0] = max(sums[0], math.floor(owed + 1e-9) - selected[a])  # 0.29 * 100 is a hair below 29
            sums[1] = max(sums[1], owed - selected[a])

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> SharesResult:
        """Add the regret of Definition 4 and the two measures of unfairness.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, 2)
            What `tally` has kept.

        Returns
        -------
        SharesResult
            The result.

        Examples
        --------
        >>> import fairlib as fl
        >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.0, 0.25])
        >>> game.result(np.array([8]), np.array([[[5, 3]]]), np.zeros((1, 1)), np.zeros((1, 1, 2))).r_regret
        array([[0.4]])
        """
        base = super().result(rounds, selected, reward, sums)
        gaps = self.arms.means.max() - self.arms.means
        quota = np.floor(np.outer(rounds, self.truth) + 1e-9) - self.tolerance
        return SharesResult(
            **vars(base),
            r_regret=base.regret - np.maximum(0, quota) @ gaps,
            violation=sums[..., 0],
            deficit=sums[..., 1],
        )


@lru_cache(maxsize=128)
def fair_learn_rule(learn: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of FAIR-LEARN around a learner's (Algorithm 1)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        tolerance, shares = params[0], params[1 : p.size + 1]
        others = params[p.size + 1 :]  # the learner's own
        behind = 0  # line 5: the size of A(t)
        for a in range(p.size):
            behind += shares[a] * (t - 1) - selected[a] > tolerance
        if behind > 0:
            for a in range(p.size):
                p[a] = shares[a] * (t - 1) - selected[a]
            play_largest(p)
        else:
            learn(others, state, t, selected, observed, total, rng, p)

    return rule


def fair_learn(learner: Policy, shares: ArrayLike, tolerance: float = 0.0) -> Policy:
    r"""FAIR-LEARN (Algorithm 1): any learner, interrupted when an arm falls behind its share.

    Whatever the learner does, :math:`r_a t - N_a(t) < \alpha + 1` for every arm after every round (Theorem 1), and
    so :math:`\lfloor r_a t \rfloor - N_a(t) \le \lceil \alpha \rceil`.

    Parameters
    ----------
    learner : Policy
        Who plays while nobody is behind; it may have memory, and sees all rewards.
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    tolerance : float
        The unfairness tolerance :math:`\alpha`, at least 0: an arm is served when it is more than this behind.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `learner` is no policy with one play a round, a share is out of range, or the tolerance is negative.

    Warns
    -----
    UserWarning
        If the tolerance is not a whole number: what is guaranteed is then the next larger whole number.

    Examples
    --------
    >>> import fairlib as fl
    >>> def stubborn(params, state, t, selected, observed, total, rng, p):
    ...     p[0] = 1.0
    >>> policy = fair_learn(fl.Policy("stubborn", stubborn), [0.1, 0.3, 0.3])
    >>> fl.simulate(fl.Bandit(fl.bernoulli([0.1, 0.5, 0.9])), policy, 100).selected[0, -1]
    array([40, 30, 30])
    """
    if not isinstance(learner, Policy):
        raise TypeError(f"learner must be a Policy, such as ucb1(), not {learner!r}")
    if learner.plays != 1:
        raise ValueError(f"learner must play one arm a round, not {learner.plays}")
    owed = _shares(shares, learner.arms)
    slack = checks.real("tolerance", tolerance, 0, math.inf)
    if slack != math.floor(slack):
        warnings.warn(
            f"tolerance {slack:g} is not a whole number: an arm may be {math.ceil(slack)} plays behind (erratum E-P2)",
            stacklevel=2,
        )
    interpret = learner.interpret
    learn = learner.rule
    if not interpret:
        try:
            learn = compiled(learner.rule, RULE)
        except NumbaError:
            interpret = True
    params = np.concatenate([[slack], owed, np.asarray(learner.params)])
    name, rule = f"FAIR-LEARN({learner.name})", fair_learn_rule(learn)
    return Policy(name, rule, params, memory=learner.memory, arms=owed.size, interpret=interpret)


def fair_ucb(shares: ArrayLike, tolerance: float = 0.0) -> Policy:
    """FAIR-UCB: FAIR-LEARN around UCB1 (Section 3).

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    tolerance : float
        The unfairness tolerance, at least 0.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If a share is out of range, or the tolerance is negative.

    See Also
    --------
    fair_ucb_bound, fair_ucb_worst_case_bound, fair_ucb_regret_bound : Theorems 2, 3 and 4.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    >>> fl.simulate(game, fair_ucb([0.2, 0.3]), 1000).selected[0, -1]
    array([700, 300])
    """
    policy = fair_learn(ucb1(), shares, tolerance)
    return dataclasses.replace(policy, name="FAIR-UCB")


def t_fair_ucb_rule(params, state, t, selected, observed, total, rng, p):
    """Serve the arms' quotas one arm after the other, then play UCB1."""
    for a in range(p.size):
        if selected[a] < params[a]:
            p[a] = 1.0
            return
    width = 2.0 * math.log(t)
    for a in range(p.size):
        p[a] = total[a] / observed[a] + math.sqrt(width / observed[a])
    play_largest(p)


def t_fair_ucb(shares: ArrayLike, horizon: int) -> Policy:
    r"""T-FAIR-UCB (Algorithm 2): serve every quota first, then play UCB1; fair only at the horizon.

    Arm a is first played :math:`\max(1, \lfloor r_a T \rfloor)` times; the paper prints
    :math:`\max(1, r_a T)`, which need not be a whole number (erratum E-P9).

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    horizon : int
        Number of rounds T, which this policy has to know.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If a share is out of range, or the horizon is too short to serve every quota.

    See Also
    --------
    t_fair_ucb_bound : Theorem 8.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    >>> fl.simulate(game, t_fair_ucb([0.2, 0.3], 100), 100).deficit[0, -1]  # 0.3 * 20
    np.float64(6.0)
    """
    owed = _shares(shares, None)
    rounds = checks.whole("horizon", horizon, 1)
    quotas = np.maximum(1, np.floor(owed * rounds + 1e-9))
    if quotas.sum() > rounds:
        raise ValueError(f"horizon must be at least {quotas.sum():.0f}, the sum of the arms' quotas, not {rounds}")
    return Policy("T-FAIR-UCB", t_fair_ucb_rule, quotas, arms=quotas.size)


def lfg_rule(params, state, t, selected, observed, total, rng, p):
    """Play the arm of the longest queue, plus eta times its upper bound."""
    eta, shares = params[0], params[1:]
    queue, before = state[: p.size], state[p.size :]
    width = 1.5 * math.log(t)
    for a in range(p.size):
        if t > 1:
            played = selected[a] - before[a]
            queue[a] = max(queue[a] + shares[a] - played, 0.0)
        before[a] = selected[a]
        n, bound = observed[a], 1.0
        if n > 0:
            bound = min(total[a] / n + math.sqrt(width / n), 1.0)
        p[a] = queue[a] + eta * bound
    play_largest(p)


def lfg(shares: ArrayLike, eta: float) -> Policy:
    r"""LFG of Li, Liu and Ji (2019), for one play a round and arms that never sleep: fair in the long run.

    Each arm has a virtual queue, :math:`Q_a \leftarrow (Q_a + r_a - \mathbb 1\{a \text{ played}\})_+`; the arm with
    the largest :math:`Q_a + \eta \min(\hat\mu_a + \sqrt{3 \ln t / (2 N_a)}, 1)` is played.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0, summing to less than 1.
    eta : float
        Weight of reward against fairness, above 0. Patil et al. do not say which they used.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If a share is negative, they sum to 1 or more, or `eta` is not positive.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = SharedBandit(fl.bernoulli([0.7, 0.5, 0.4]), shares=[0.2, 0.3, 0.25])
    >>> result = fl.simulate(game, lfg([0.2, 0.3, 0.25], eta=10), 20_000)
    >>> bool((result.share[0, -1] > [0.199, 0.299, 0.249]).all())
    True
    """
    owed = checks.vector("shares", shares, 0, 1)
    if owed.sum() >= 1:
        raise ValueError(f"shares must sum to less than 1, not {owed.sum():g}")
    params = [checks.real("eta", eta, above=0), *owed]
    return Policy("LFG", lfg_rule, params, memory=2 * owed.size, arms=owed.size)


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


def _shares(shares: ArrayLike, arms: int | None) -> NDArray[np.float64]:
    """Take the shares at the door: one an arm, at least 0 and below 1/K."""
    owed = checks.vector("shares", shares)
    if arms is not None and owed.size != arms:
        raise ValueError(f"shares must have one number an arm ({arms}), not {owed.size}")
    bad = (owed < 0) | (owed >= 1 / owed.size)
    if bad.any():
        arm = int(np.argmax(bad))
        raise ValueError(f"shares must be at least 0 and below 1/{owed.size}, not {owed[arm]} (arm {arm})")
    return owed
