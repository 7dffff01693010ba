"""FAIR-LEARN around any learner, FAIR-UCB, T-FAIR-UCB and LFG."""

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fairlib import checks
from fairlib.classic import ucb1
from fairlib.policy import Policy, largest
from fairlib.rules import PerArm, ask, rule
from fairlib.shares.game import _shares


@rule
def fair_learn_rule(shares, tolerance, learner, seen, p):
    """Serve the arm that is furthest behind its share; while none is, play what the learner says."""
    for a in range(p.size):
        p[a] = shares[a] * (seen.t - 1) - seen.selected[a]  # line 1: how far each is behind
    a = largest(p)
    return a if p[a] > tolerance else ask(learner, p)  # line 2


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
    >>> stubborn = fl.Policy("stubborn", lambda p: 0)
    >>> policy = fair_learn(stubborn, [0.1, 0.3, 0.3])
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
    settings: dict[str, Any] = {"shares": owed, "tolerance": slack, "learner": learner}
    name = f"FAIR-LEARN({learner.name})"
    return Policy(name, fair_learn_rule, arms=owed.size, interpret=learner.interpret, **settings)


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
    >>> from fairlib.shares import SharedBandit
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    >>> fl.simulate(game, fair_ucb([0.2, 0.3]), 1000).selected[0, -1]
    array([700, 300])
    """
    return fair_learn(ucb1(), shares, tolerance).replace(name="FAIR-UCB")


@rule
def t_fair_ucb_rule(quotas, seen, p):
    """Serve the arms' quotas one arm after the other, then play UCB1."""
    for a in range(p.size):
        if seen.selected[a] < quotas[a]:
            return a
    width = 2.0 * math.log(seen.t)
    for a in range(p.size):
        p[a] = seen.total[a] / seen.observed[a] + math.sqrt(width / seen.observed[a])
    return largest(p)


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
    >>> from fairlib.shares import SharedBandit
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    >>> fl.simulate(game, t_fair_ucb([0.2, 0.3], 100), 100).deficit[0, -1]  # 0.3 * 20
    np.float64(6.0)
    """
    owed = _shares(shares, None)
    rounds = checks.whole("horizon", horizon, 1)
    quotas = np.maximum(1, np.floor(owed * rounds + 1e-9))
    if quotas.sum() > rounds:
        raise ValueError(f"horizon must be at least {quotas.sum():.0f}, the sum of the arms' quotas, not {rounds}")
    return Policy("T-FAIR-UCB", t_fair_ucb_rule, arms=quotas.size, quotas=quotas)


@rule
def lfg_rule(eta, shares, seen, queue: PerArm, before: PerArm, p):
    """Play the arm of the longest queue, plus eta times its upper bound."""
    width = 1.5 * math.log(seen.t)
    for a in range(p.size):
        if seen.t > 1:
            played = seen.selected[a] - before[a]
            queue[a] = max(queue[a] + shares[a] - played, 0.0)
        before[a] = seen.selected[a]
        n = seen.observed[a]
        bound = min(seen.total[a] / n + math.sqrt(width / n), 1.0) if n > 0 else 1.0
        p[a] = queue[a] + eta * bound
    return largest(p)


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
    >>> from fairlib.shares import SharedBandit
    >>> game = SharedBandit(fl.bernoulli([0.7, 0.5, 0.4]), shares=[0.2, 0.3, 0.25])
    >>> result = fl.simulate(game, lfg([0.2, 0.3, 0.25], eta=10), 20_000)
    >>> bool((result.share[0, -1] > [0.199, 0.299, 0.249]).all())
    True
    """
    owed = checks.vector("shares", shares, 0, 1)
    if owed.sum() >= 1:
        raise ValueError(f"shares must sum to less than 1, not {owed.sum():g}")
    return Policy("LFG", lfg_rule, arms=owed.size, eta=checks.real("eta", eta, above=0), shares=owed)
