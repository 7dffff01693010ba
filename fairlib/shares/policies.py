"""FAIR-LEARN around any learner, FAIR-UCB, T-FAIR-UCB and LFG; larger promises: any shares, windows, contexts."""

import math
import warnings
from typing import Annotated, Any

import numpy as np

from fairlib import checks
from fairlib.baselines.classic import ucb1
from fairlib.checks import Horizon, NonNegative, OpenProbability, Positive, PositiveInt, PositiveScale, checked
from fairlib.core import ContextPolicy, Number, PerArm, Policy, ask, dot, helper, largest, of_one_play, rule, width
from fairlib.shares.game import Shares, _below_one_in_k, _one_an_arm

__all__ = [
    "fair_learn_rule",
    "fair_learn",
    "fair_ucb",
    "t_fair_ucb_rule",
    "t_fair_ucb",
    "lfg_rule",
    "lfg",
    "fair_by_deadline_rule",
    "fair_by_deadline",
    "fair_in_windows_rule",
    "fair_in_windows",
    "windows_by_deadline_rule",
    "windows_by_deadline",
    "sighted_turns",
    "sighted_shares_rule",
    "sighted_shares",
]


@helper
def rounds_there(a: int, t: int, away: Any, available: Any) -> Any:
    """Return in how many rounds before t an arm was there; count in `away` those in which it was not."""
    if available is None:
        return t - 1
    before = t - 1 - away[a]
    away[a] += 1 - available[a]
    return before


@rule
def fair_learn_rule(shares, tolerance, learner, seen, away: PerArm, p, available=None):
    """Serve the arm that is furthest behind its share; while none is, play what the learner says."""
    for a in range(p.size):
        there = rounds_there(a, seen.t, away, available)
        p[a] = shares[a] * there - seen.selected[a]  # line 1: how far each is behind
    a = largest(p, available)
    return a if p[a] > tolerance else ask(learner, p)  # line 2


@checked
def fair_learn(learner: Policy, shares: Shares, tolerance: NonNegative = 0.0) -> Policy:
    r"""FAIR-LEARN (Algorithm 1): any learner, interrupted when an arm falls behind its share.

    Whatever the learner does, :math:`r_a t - N_a(t) \le \alpha + (K - 1) r_a` for every arm after every round. So no
    arm is more than :math:`\lfloor \alpha + (K - 1) r_{\max} \rfloor` whole plays behind (Theorem 1, sharpened).

    Parameters
    ----------
    learner : Policy
        The policy that plays while no arm is behind; it may have memory, and sees all rewards.
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    tolerance : float
        The unfairness tolerance :math:`\alpha`, at least 0: an arm is served when it is more than this behind.

    Returns
    -------
    Policy
        The policy, one play a round.

    Warns
    -----
    UserWarning
        If the promise does not follow: the tolerance is not a whole number, and
        :math:`\lfloor \alpha + (K - 1) r_{\max} \rfloor` is above it.

    Examples
    --------
    >>> import fairlib as fl
    >>> stubborn = fl.Policy("stubborn", lambda p: 0)
    >>> policy = fair_learn(stubborn, [0.1, 0.3, 0.3])
    >>> fl.simulate(fl.Bandit(fl.bernoulli([0.1, 0.5, 0.9])), policy, 100).selected[0, -1]
    array([40, 30, 30])
    """
    of_one_play(learner)
    owed = _below_one_in_k(shares, learner.arms)
    behind = math.floor(tolerance + (owed.size - 1) * owed.max() + 1e-9)
    if behind > tolerance:
        warnings.warn(
            f"tolerance {tolerance:g} is not kept: with these shares an arm may be {behind} plays behind (erratum "
            "E-P2)",
            stacklevel=3,  # the first is the check of the arguments
        )
    settings: dict[str, Any] = {"shares": owed, "tolerance": tolerance, "learner": learner}
    name = f"FAIR-LEARN({learner.name})"
    return Policy(name, fair_learn_rule, arms=owed.size, **settings)


@checked
def fair_ucb(shares: Shares, tolerance: NonNegative = 0.0) -> Policy:
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


@checked
def t_fair_ucb(shares: Shares, horizon: Horizon) -> Policy:
    r"""T-FAIR-UCB (Algorithm 2): serve every quota first, then play UCB1; fair only at the horizon.

    Arm a is first played :math:`\max(1, \lfloor r_a T \rfloor)` times; the paper prints
    :math:`\max(1, r_a T)`, which need not be a whole number (erratum E-P9).

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    horizon : int
        Number of rounds T, which this policy has to know; it refuses longer games.

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
    owed = _below_one_in_k(shares, None)
    quotas = np.maximum(1, np.floor(owed * horizon + 1e-9))
    if quotas.sum() > horizon:
        raise ValueError(f"horizon must be at least {quotas.sum():.0f}, the sum of the arms' quotas, not {horizon}")
    return Policy("T-FAIR-UCB", t_fair_ucb_rule, unit_rewards=True, arms=quotas.size, horizon=horizon, quotas=quotas)


@rule
def lfg_rule(eta, shares, seen, queue: PerArm, before: PerArm, p, available=None):
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
    return largest(p, available)


@checked
def lfg(shares: Shares, eta: Positive) -> Policy:
    r"""LFG of Li, Liu and Ji (2019), for one play a round: fair in the long run.

    Each arm has a virtual queue, :math:`Q_a \leftarrow (Q_a + r_a - \mathbb 1\{a \text{ played}\})_+`; the arm with
    the largest :math:`Q_a + \eta \min(\hat\mu_a + \sqrt{3 \ln t / (2 N_a)}, 1)` is played. A share is one of all
    rounds, also of those in which the arm is away.

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
        If a share is negative, they sum to 1 or more (up to rounding), or `eta` is not positive.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.shares import SharedBandit
    >>> game = SharedBandit(fl.bernoulli([0.7, 0.5, 0.4]), shares=[0.2, 0.3, 0.25])
    >>> result = fl.simulate(game, lfg([0.2, 0.3, 0.25], eta=10), 20_000)
    >>> bool((result.share[0, -1] > [0.199, 0.299, 0.249]).all())
    True
    """
    owed = np.asarray(shares, np.float64)
    if owed.sum() > 1 - 1e-9:  # 0.7, 0.2 and 0.1 sum to a little less than 1
        raise ValueError(f"shares must sum to less than 1, not {owed.sum():g}")
    return Policy("LFG", lfg_rule, unit_rewards=True, arms=owed.size, eta=eta, shares=owed)


@rule
def fair_by_deadline_rule(shares, tolerance, ahead: int, learner, seen, p):
    """Play what the learner says while a round can be spared, otherwise what is due first."""
    for a in range(p.size):
        p[a] = -(seen.selected[a] + 1 + tolerance) / shares[a] if shares[a] > 0 else -math.inf
    behind = math.inf
    for u in range(seen.t, seen.t + ahead):
        due, before, behind = 0, behind, 0.0
        for a in range(p.size):
            late = shares[a] * u - tolerance - seen.selected[a] + 1e-6  # rounding must not spare a round that is owed
            due += max(math.floor(late), 0)  # line 1
            behind += max(late, 0.0)
        if due > u - seen.t or behind - before > 1 - 1e-6:  # in the second case there will never be more room
            return largest(p)  # line 3
        if behind < u - seen.t + 1:  # then there is room forever
            return ask(learner, p)  # line 2
    return largest(p)


@checked
def fair_by_deadline(learner: Policy, shares: Shares, tolerance: Annotated[int, checks.Integer(0)] = 0) -> Policy:
    r"""Any shares that sum to at most 1: any learner, interrupted when no round can be spared.

    The j-th play of arm a is due at the first round t with :math:`\lfloor r_a t \rfloor - \alpha \ge j`. While all that
    is due can still be done in time, the learner plays; then the play that is due first is made. Whatever the learner
    does, :math:`\lfloor r_a t \rfloor - N_a(t) \le \alpha` for every arm after every round. Where the shares are
    fractions that sum to 1, as 1/2 and 1/2 do, and the tolerance is 0, the learner is never asked.

    Parameters
    ----------
    learner : Policy
        The policy that plays while a round can be spared; it may have memory, and sees all rewards.
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0, summing to at most 1.
    tolerance : int
        The unfairness tolerance :math:`\alpha`, a whole number of plays.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `learner` is no policy with one play a round, a share is negative, they sum to more than 1, or the tolerance
        is not a whole number of at least 0.

    Notes
    -----
    Whether there is room is mostly decided within a few rounds. Where it is not decided within 10,000, the play that is
    due first is made, which breaks no promise. A play counts as due a millionth of a play early, so that the rounding
    of 0.1 or 1/3 never spares a round that is owed.

    See Also
    --------
    fair_learn : looks at the past only, for shares below 1/K.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.shares import SharedBandit
    >>> stubborn = fl.Policy("stubborn", lambda p: 2)
    >>> shares = [3 / 4, 1 / 8, 1 / 16]
    >>> game = SharedBandit(fl.bernoulli([0.1, 0.5, 0.9]), shares=shares)
    >>> result = fl.simulate(game, fair_by_deadline(stubborn, shares), 1000)
    >>> result.selected[0, -1], result.violation.max()
    (array([750, 125, 125]), np.float64(0.0))
    """
    of_one_play(learner)
    owed = _one_an_arm(shares, learner.arms)
    settings: dict[str, Any] = {"shares": owed, "tolerance": float(tolerance), "ahead": 10_000, "learner": learner}
    name = f"by deadline({learner.name})"
    return Policy(name, fair_by_deadline_rule, arms=owed.size, **settings)


@rule
def fair_in_windows_rule(shares, tolerance, credit, learner, seen, behind: PerArm, before: PerArm, p):
    """Serve the arm that is furthest behind, when plays of long ago are forgotten."""
    for a in range(p.size):
        if seen.t > 1:
            played = seen.selected[a] - before[a]
            behind[a] = max(behind[a] + shares[a] - played, -credit)
        before[a] = seen.selected[a]
        p[a] = behind[a]
    a = largest(p)
    return a if p[a] > tolerance else ask(learner, p)


@checked
def fair_in_windows(learner: Policy, shares: Shares, tolerance: NonNegative = 0.0, credit: NonNegative = 1.0) -> Policy:
    r"""FAIR-LEARN with a short memory: a promise for every window of rounds.

    An arm's deficit never falls below :math:`-c`: what it was given beyond its share long ago is forgotten. Whatever
    the learner does, any w rounds in a row have at least :math:`r_a w - (\alpha + c + (K - 1) r_a)` plays of arm a.

    Parameters
    ----------
    learner : Policy
        The policy that plays while no arm is behind; it may have memory, and sees all rewards.
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    tolerance : float
        The unfairness tolerance :math:`\alpha`, at least 0: an arm is served when it is more than this behind.
    credit : float
        How many plays ahead of its share an arm can be, c, at least 0 and at least
        :math:`(K - 1) r_{\max} - \alpha`, which is below 1.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `learner` is no policy with one play a round, a share is out of range, the tolerance is negative, or the
        credit is too small.

    See Also
    --------
    fair_learn : forgets nothing.
    windows_by_deadline : for any shares that sum to at most 1.

    Examples
    --------
    The early friend plays the last arm for 1,000 rounds and never again:

    >>> import fairlib as fl
    >>> friend = fl.Policy("early friend", lambda seen, p: 2 if seen.t <= 1000 else 0)
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.5]))
    >>> for policy in (fair_learn(friend, [0.1] * 3), fair_in_windows(friend, [0.1] * 3)):
    ...     last = fl.simulate(game, policy, 2000, rounds=[1000, 2000]).selected[0, :, 2]
    ...     print(last[1] - last[0])
    0
    99
    """
    of_one_play(learner)
    owed = _below_one_in_k(shares, learner.arms)
    least = (owed.size - 1) * owed.max() - tolerance
    if credit < least - 1e-9:
        wanted = f"at least {least:g}, (K - 1) times the largest share less the tolerance"
        raise ValueError(f"credit must be {wanted}, not {credit:g}")
    settings: dict[str, Any] = {"shares": owed, "tolerance": tolerance, "credit": credit, "learner": learner}
    name = f"in windows({learner.name})"
    return Policy(name, fair_in_windows_rule, arms=owed.size, **settings)


@rule
def windows_by_deadline_rule(shares, credit, learner, seen, behind: PerArm, before: PerArm, p):
    """Among the arms that a play would put less than a whole play ahead, serve the one that is due first."""
    for a in range(p.size):
        if seen.t > 1:
            played = seen.selected[a] - before[a]
            behind[a] = max(behind[a] + shares[a] - played, -credit)  # line 1
        before[a] = seen.selected[a]
        eligible = behind[a] + shares[a] > 1e-9  # line 2: rounding must not take a round from the learner
        p[a] = (behind[a] - 1) / shares[a] if eligible else -math.inf
    a = largest(p)
    return a if p[a] > -math.inf else ask(learner, p)  # lines 3 and 4


@checked
def windows_by_deadline(learner: Policy, shares: Shares, credit: Annotated[float, checks.Real(1)] = 1.0) -> Policy:
    r"""Every window of rounds, for any shares that sum to at most 1: any learner, in the rounds in which no arm is due.

    A deficit :math:`Q_a` begins at 0, and never falls below :math:`-c`, as for `fair_in_windows`. Of the arms with
    :math:`Q_a + r_a > 0` the one is served whose deficit would be the first to reach 1; where there is none, the
    learner plays. Whatever the learner does, every :math:`Q_a` stays below 1. So :math:`r_a t - N_a(t) < 1` after every
    round, and any w rounds in a row have more than :math:`r_a w - (1 + c)` plays of arm a.

    Parameters
    ----------
    learner : Policy
        The policy that plays while no arm is due; it may have memory, and sees all rewards.
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0, summing to at most 1.
    credit : float
        How many plays ahead of its share the learner can put an arm, c, at least 1.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If `learner` is no policy with one play a round, a share is negative, they sum to more than 1, or the credit is
        below 1.

    See Also
    --------
    window_plays : how many plays a window has at least.
    fair_in_windows : for shares below 1/K, asks the learner earlier.
    fair_by_deadline : asks the learner as early as the promise without windows allows.

    Examples
    --------
    The same early friend, with shares that leave few rounds over:

    >>> import fairlib as fl
    >>> friend = fl.Policy("early friend", lambda seen, p: 2 if seen.t <= 1000 else 0)
    >>> game, shares = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.5])), [3 / 4, 1 / 8, 1 / 16]
    >>> for policy in (fair_by_deadline(friend, shares), windows_by_deadline(friend, shares)):
    ...     last = fl.simulate(game, policy, 1500, rounds=[1000, 1500]).selected[0, :, 2]
    ...     print(last[1] - last[0])
    0
    31
    """
    of_one_play(learner)
    owed = _one_an_arm(shares, learner.arms)
    settings: dict[str, Any] = {"shares": owed, "credit": credit, "learner": learner}
    return Policy(f"windows by deadline({learner.name})", windows_by_deadline_rule, arms=owed.size, **settings)


@checked
def sighted_turns(arms: PositiveInt, share: float) -> int:
    r"""Return how many rounds `sighted_shares` plays by turns before it looks at the contexts.

    .. math:: t_1 = \Bigl\lceil \Bigl( \frac{3.25}{g} + 0.75 \Bigr)^2 \Bigr\rceil, \qquad g = \frac1K - r

    Parameters
    ----------
    arms : int
        Number of arms K.
    share : float
        The largest share r that an arm is owed, at least 0 and below 1/K.

    Returns
    -------
    int
        The rounds.

    Examples
    --------
    >>> sighted_turns(6, 0.1)
    2451
    """
    gap = 1 / arms - checks.real("share", share, 0, below=1 / arms)
    return math.ceil((3.25 / gap + 0.75) ** 2)


@rule
def sighted_shares_rule(shares, gap, turns, noise, reach, log_failure, now, ridge, queue: PerArm, log_det: Number, p):
    """Play by turns; then the largest queue plus the optimistic worth of today's candidate, times a weight."""
    v, w = np.empty(ridge.mean.size), np.empty(p.size)
    weight, more = gap / 2 * math.sqrt(now.t), min(1 / math.sqrt(now.t), gap / 2)  # line 1
    radius = noise * math.sqrt(log_det[0] - 2.0 * log_failure) + reach
    for a in range(p.size):
        w[a] = width(ridge.root, now.contexts[a], v)
        worth = dot(ridge.mean, now.contexts[a]) + radius * w[a]
        p[a] = queue[a] + weight * min(max(worth, 0.0), 1.0)
    arm = (now.t - 1) % p.size if now.t <= turns else largest(p)  # lines 2 and 3
    for a in range(p.size):
        queue[a] = max(queue[a] + shares[a] + more - (1 if a == arm else 0), 0.0)  # line 4
    log_det[0] += math.log(1.0 + w[arm] * w[arm])
    return arm


@checked
def sighted_shares(
    shares: Shares, noise: NonNegative, norm: NonNegative, failure: OpenProbability, ridge: PositiveScale = 1.0
) -> ContextPolicy:
    r"""Shares at every moment, kept on the days on which they cost least: queues and an optimistic linear index.

    After :math:`t_1` rounds by turns (`sighted_turns`) the arm with the largest
    :math:`Q_a + \frac g2 \sqrt t\, \hat X_{t,a}` is played, where :math:`g = 1/K - r_{\max}`, the index
    :math:`\hat X_{t,a}` is that of `oful`, cut to [0, 1], and the queue :math:`Q_a` is fed with
    :math:`r_a + \min(1/\sqrt t, g/2)` in each round. In every run, whatever the contexts and the rewards are,
    :math:`r_a t - N_a(t) \le (K - 1) r_a` after every round, and from :math:`t_1` on it is negative.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, at least 0 and below 1/K.
    noise : float
        The noise is :math:`\sigma`-sub-Gaussian; at least 0.
    norm : float
        Bound W on the length of the parameter, at least 0.
    failure : float
        The probability :math:`\delta` that the ellipsoid ever misses the parameter, in (0, 1).
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy, for expected rewards in [0, 1].

    See Also
    --------
    sighted_shares_bound : what it loses to the best sighted policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import linear_table
    >>> world = linear_table([[[0.9], [0.5]], [[0.4], [0.3]]], [1.0], sd=0.1)
    >>> policy = sighted_shares([0.1, 0.1], noise=0.1, norm=1, failure=1e-4)
    >>> rounds = np.arange(1, 5001)
    >>> result = fl.simulate(fl.ContextBandit(world), policy, 5000, rounds=rounds)
    >>> (0.1 * rounds[:, None] - result.selected[0]).max()
    np.float64(0.1)
    """
    owed = _below_one_in_k(shares, None)
    turns = float(sighted_turns(owed.size, owed.max()))
    settings: dict[str, Any] = {"shares": owed, "gap": 1 / owed.size - owed.max(), "turns": turns}
    index: dict[str, Any] = {"noise": noise, "reach": norm * math.sqrt(ridge), "log_failure": math.log(failure)}
    return ContextPolicy("sighted shares", sighted_shares_rule, ridge=ridge, arms=owed.size, **settings, **index)
