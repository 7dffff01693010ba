"""Chaining, Thompson sampling in batches, four floors, FAIR-LEARN with several plays, group shares, and NCB."""

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from fairlib import checks
from fairlib.checks import Horizon, NonNegative, OpenProbability, Positive, PositiveInt, UnitInterval, checked
from fairlib.core import PerArm, Policy, ask, explore, helper, largest, of_one_play, rule, share_out
from fairlib.merit import Merit, cut

__all__ = [
    "chaining_rule",
    "chaining",
    "batched_thompson_rule",
    "batched_thompson",
    "chances",
    "clipped_floor_rule",
    "clipped_floor",
    "mixed_floor_rule",
    "mixed_floor",
    "scaled_floor_rule",
    "scaled_floor",
    "projected_floor_rule",
    "projected_floor",
    "fair_learn_plays_rule",
    "fair_learn_plays",
    "fair_groups_rule",
    "fair_groups",
    "ncb_rule",
    "ncb",
]

Shares = Annotated[ArrayLike, checks.Numbers(0, 1)]
_ByGroup = Annotated[np.ndarray, "number"]


@rule
def chaining_rule(failure, seen, low: PerArm, high: PerArm, p):
    """Play the arms of the chain from the highest interval down, each with the same probability."""
    for a in range(p.size):
        n = seen.observed[a]
        mean, width = 0.5, 0.5
        if n > 0:
            mean, width = seen.total[a] / n, math.sqrt(math.log(math.pi**2 * p.size * n**2 / (3 * failure)) / (2 * n))
        low[a], high[a] = mean - width, mean + width  # line 1
    end = low[largest(high)]  # line 2
    for _ in range(p.size):  # line 3: each time round adds an arm, or there is none to add
        for a in range(p.size):
            if high[a] >= end:
                p[a], end = 1.0, min(end, low[a])
    share_out(p, 1)  # line 4


@checked
def chaining(failure: OpenProbability) -> Policy:
    r"""Chaining (after Joseph et al., 2016): arms whose intervals are linked by overlaps are played alike.

    From the arm of the highest interval down, every interval that reaches the chain joins it, and the arms of the chain
    have the same probability. The widths, :math:`\sqrt{\ln(\pi^2 K N_a^2 / 3 \delta) / 2 N_a}`, are chosen here.

    Parameters
    ----------
    failure : float
        The probability :math:`\delta` with which a better arm may ever be less likely than a worse one, in (0, 1).

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.1])), chaining(0.05), 1000)
    >>> bool(result.share[0, -1, 0] > 0.95)
    True
    """
    return Policy("chaining", chaining_rule, unit_rewards=True, failure=failure)


@rule
def batched_thompson_rule(every: int, draws: int, seen, rng, wins: PerArm, p):
    """Play each arm with the probability that it is best, which is estimated by draws once every few rounds."""
    if (seen.t - 1) % every == 0:
        for a in range(p.size):
            wins[a] = 0
        for _ in range(draws):
            for a in range(p.size):
                p[a] = rng.beta(1.0 + seen.total[a], 1.0 + seen.observed[a] - seen.total[a])
            wins[largest(p)] += 1
    for a in range(p.size):
        p[a] = wins[a] / draws


@checked
def batched_thompson(every: PositiveInt, draws: PositiveInt) -> Policy:
    """Thompson sampling as products run it, for rewards 0 and 1: the weights are kept for a batch of rounds.

    An arm's weight is the share of the draws from the Beta posteriors in which it is the largest.

    Parameters
    ----------
    every : int
        Number of rounds of a batch, at least 1.
    draws : int
        Number of draws, at least 1.

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), batched_thompson(100, 1000), 2000)
    >>> bool(result.share[0, -1, 0] > 0.9)
    True
    """
    return Policy("batched Thompson", batched_thompson_rule, unit_rewards=True, every=every, draws=draws)


@helper
def chances(learner: Any, p: Any) -> None:
    """Ask a learner with what probability it plays each arm; where it returns an arm, that has probability 1.

    Parameters
    ----------
    learner : Policy
        The learner, a setting of the rule.
    p : ndarray, shape (K,)
        Receives the probabilities.

    Examples
    --------
    >>> import fairlib as fl
    >>> @fl.rule
    ... def half(learner, p):
    ...     chances(learner, p)
    ...     p *= 0.5
    ...     p += 0.5 / p.size
    >>> policy = fl.Policy("half UCB1", half, learner=fl.ucb1())
    >>> fl.trace(fl.Bandit(fl.bernoulli([0.1, 0.9])), policy, 1)[0].p
    array([0.75, 0.25])
    """
    chosen = ask(learner, p)
    if chosen >= 0:
        for a in range(p.size):
            p[a] = 1.0 if a == chosen else 0.0


@rule
def clipped_floor_rule(floor, learner, p):
    """Raise each arm to the floor, then scale all of them back."""
    chances(learner, p)
    for a in range(p.size):
        p[a] = max(p[a], floor)
    share_out(p, 1)


@rule
def mixed_floor_rule(floor, learner, p):
    """Give each arm the floor, and the learner the rest."""
    chances(learner, p)
    explore(min(floor * p.size, 1.0), p)


@rule
def scaled_floor_rule(floor, learner, p):
    """Raise each arm to the floor, and scale those that were above it, once."""
    chances(learner, p)
    least, touched, rest = min(floor, 1.0 / p.size), 0.0, 0.0
    for a in range(p.size):
        if p[a] <= least:
            touched += least
        else:
            rest += p[a]
    for a in range(p.size):
        p[a] = least if p[a] <= least else p[a] * (1.0 - touched) / rest


@rule
def projected_floor_rule(floor, learner, p):
    """Take the same amount off every arm, but leave each the floor: the nearest probabilities that keep it."""
    chances(learner, p)
    least, off = min(floor, 1.0 / p.size), 0.0
    for _ in range(p.size):  # each time round leaves one more at the floor, or is the last
        above, kept = 0, 0.0
        for a in range(p.size):
            if p[a] - off >= least:
                above, kept = above + 1, kept + p[a]
        off = max(off, (kept + (p.size - above) * least - 1.0) / max(above, 1))
    for a in range(p.size):
        p[a] = max(p[a] - off, least)


@checked
def clipped_floor(learner: Policy, floor: UnitInterval) -> Policy:
    r"""Clip and renormalise, a floor that does not hold.

    From the learner's probabilities w, arm a gets :math:`\max(w_a, b) / (1 + S)`, where :math:`S = \sum_a (b - w_a)_+`.

    Parameters
    ----------
    learner : Policy
        The policy whose probabilities are changed.
    floor : float
        The least probability b that is meant for each arm, from 0 to 1.

    Returns
    -------
    Policy
        The policy, one play a round.

    See Also
    --------
    mixed_floor, projected_floor : floors that hold.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.5]))
    >>> fl.trace(game, clipped_floor(fl.ucb1(), 0.25), 1)[0].p.round(3)
    array([0.667, 0.167, 0.167])
    """
    return _floored("clipped", clipped_floor_rule, learner, floor)


@checked
def mixed_floor(learner: Policy, floor: UnitInterval) -> Policy:
    """Mix with uniform play: a floor that holds, and keeps the order of the arms.

    From the learner's probability w an arm gets b + (1 - Kb) w. Where Kb is above 1, play is uniform.

    Parameters
    ----------
    learner : Policy
        The policy whose probabilities are changed.
    floor : float
        The least probability b of each arm, from 0 to 1.

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.5]))
    >>> fl.trace(game, mixed_floor(fl.ucb1(), 0.25), 1)[0].p
    array([0.5 , 0.25, 0.25])
    """
    return _floored("mixed", mixed_floor_rule, learner, floor)


@checked
def scaled_floor(learner: Policy, floor: UnitInterval) -> Policy:
    """Touch and scale: arms at or below the floor are raised to it, the others scaled once, some of them below it.

    Parameters
    ----------
    learner : Policy
        The policy whose probabilities are changed.
    floor : float
        The least probability that is meant for each arm, from 0 to 1; above 1/K it counts as 1/K.

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.5]))
    >>> fl.trace(game, scaled_floor(fl.ucb1(), 0.25), 1)[0].p
    array([0.5 , 0.25, 0.25])
    """
    return _floored("scaled", scaled_floor_rule, learner, floor)


@checked
def projected_floor(learner: Policy, floor: UnitInterval) -> Policy:
    r"""Project: a floor that holds, and moves the least probability.

    From the learner's probabilities w, arm a gets :math:`\max(w_a - \tau, b)`, with the :math:`\tau` for which they sum
    to 1.

    Parameters
    ----------
    learner : Policy
        The policy whose probabilities are changed.
    floor : float
        The least probability b of each arm, from 0 to 1. Above 1/K play is uniform.

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.5]))
    >>> fl.trace(game, projected_floor(fl.ucb1(), 0.25), 1)[0].p
    array([0.5 , 0.25, 0.25])
    """
    return _floored("projected", projected_floor_rule, learner, floor)


@rule
def fair_learn_plays_rule(shares, tolerance, learner, plays, seen, behind: PerArm, p):
    """Serve the arms that have been behind for longest; the learner has the plays that are left."""
    for a in range(p.size):
        behind[a] = shares[a] * (seen.t - 1) - seen.selected[a] - tolerance  # line 1
        if behind[a] > 0:
            behind[a] /= shares[a]
    chances(learner, p)  # line 2
    left = plays
    for _ in range(plays):
        a = largest(behind)
        if behind[a] > 0:  # line 3
            behind[a], p[a] = -math.inf, 0.0
            left -= 1
    whole = 0.0
    for a in range(p.size):
        whole += p[a]
    for a in range(p.size):  # line 4: the learner's other arms, thinned to what is left
        p[a] = 1.0 if behind[a] == -math.inf else p[a] * left / max(whole, 1.0)


@checked
def fair_learn_plays(
    learner: Annotated[Policy, checks.Instance(Policy, "a Policy, such as cucb_d(2)")],
    shares: Shares,
    tolerance: NonNegative = 0.0,
) -> Policy:
    r"""FAIR-LEARN with several plays a round: any learner, but the arms that are behind are served first.

    Up to L arms that are more than the tolerance behind are served, in the order of
    :math:`(r_a (t-1) - N_a(t-1) - \alpha)/r_a`, the number of rounds for which an arm has been behind. The plays that
    are left go to the learner's other arms, whose probabilities are all scaled down by the same factor.

    Let :math:`m = \lceil K/L \rceil`. If no share is above :math:`1/m`, then
    :math:`r_a t - N_a(t) \le \alpha + (m - 1) r_a` always. If all shares are the same number r, then
    :math:`r t - N_a(t) \le \alpha + \max_s (r s - \lfloor L s/K \rfloor)`, which is less than :math:`\alpha + 1`.
    Nothing is proved for shares that differ and are above :math:`1/m`.

    Parameters
    ----------
    learner : Policy
        The policy that has the plays that are left; it may have memory, sees all rewards, and says how many plays a
        round there are. If it plays several it must fill probabilities.
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, from 0 to L/K.
    tolerance : float
        The unfairness tolerance :math:`\alpha`, at least 0.

    Returns
    -------
    Policy
        The policy, with as many plays a round as the learner.

    See Also
    --------
    several_plays_deficit : how far behind an arm can be.
    fairlib.shares.fair_learn : for one play a round.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import cucb_d
    >>> policy = fair_learn_plays(cucb_d(2), [0.4] * 4)
    >>> fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1, 0.1]), plays=2), policy, 1000).selected[0, -1].min()
    np.int64(400)
    """
    owed = np.asarray(shares)
    if learner.arms not in (None, owed.size):
        raise ValueError(f"shares must have one number an arm ({learner.arms}), not {owed.size}")
    if owed.size < learner.plays:
        raise ValueError(f"shares must have at least {learner.plays} numbers, as many as are played, not {owed.size}")
    if owed.max() > learner.plays / owed.size + 1e-12:
        arm = int(owed.argmax())
        raise ValueError(f"shares must be at most {learner.plays}/{owed.size}, not {owed[arm]} (arm {arm})")
    settings: dict[str, Any] = {"shares": owed, "tolerance": tolerance}
    name = f"FAIR-LEARN({learner.name})"
    return Policy(name, fair_learn_plays_rule, plays=learner.plays, arms=owed.size, **settings, learner=learner)


@rule
def fair_groups_rule(groups, shares, merit, number: int, seen, n: _ByGroup, total: _ByGroup, index: _ByGroup, p):
    """Serve the group that is furthest behind, or else UCB1's choice; within it play by the merit of the means."""
    for g in range(number):
        n[g], total[g] = 0, 0.0
    for a in range(p.size):
        n[int(groups[a])] += seen.selected[a]
        total[int(groups[a])] += seen.total[a]
    for g in range(number):
        index[g] = shares[g] * (seen.t - 1) - n[g]  # line 1
    chosen = largest(index)
    if index[chosen] <= 0:  # line 2: no group is behind
        for g in range(number):
            index[g] = total[g] / n[g] + math.sqrt(2.0 * math.log(seen.t) / n[g]) if n[g] > 0 else math.inf
        chosen = largest(index)
    for a in range(p.size):
        if int(groups[a]) == chosen:
            if seen.observed[a] == 0:
                return a
            p[a] = merit.value(merit.params, cut(seen.total[a] / seen.observed[a], merit))  # line 3
    share_out(p, 1)


@checked
def fair_groups(
    groups: Annotated[ArrayLike, checks.OneOrMany(0, integers=True)], shares: Shares, merit: Merit
) -> Policy:
    """Shares for groups, merit within them: FAIR-LEARN among groups, around UCB1, and exposure by merit inside.

    Parameters
    ----------
    groups : array_like of int, shape (K,)
        The group of each arm, from 0 on.
    shares : array_like, shape (G,)
        Share of the rounds that each group is owed, at least 0 and below 1/G.
    merit : Merit
        What an arm of a given mean deserves, compared with the arms of its group.

    Returns
    -------
    Policy
        The policy, one play a round.

    Raises
    ------
    TypeError, ValueError
        If a group is not a whole number or has no arm, a share is out of range, or `merit` is not a `Merit`.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> policy = fair_groups([0, 0, 1, 1], [0.4, 0.4], exponential(4))
    >>> selected = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.8, 0.2, 0.1])), policy, 1000).selected[0, -1]
    >>> bool(selected[2:].sum() >= 400)
    True
    """
    owed = np.asarray(shares)
    if owed.max() >= 1 / owed.size:
        group = int(owed.argmax())
        raise ValueError(f"shares must be at least 0 and below 1/{owed.size}, not {owed[group]} (group {group})")
    belongs = np.asarray(groups, np.float64)
    if belongs.ndim != 1 or set(belongs.tolist()) != set(range(owed.size)):
        raise ValueError(f"groups must name each of the {owed.size} groups, 0 to {owed.size - 1}, at least once")
    settings: dict[str, Any] = {"groups": belongs, "shares": owed, "merit": merit, "number": owed.size}
    return Policy("fair to groups", fair_groups_rule, arms=belongs.size, **settings)


@rule
def ncb_rule(horizon: int, c, seen, p):
    """Play uniformly until some arm has paid enough; then the largest bound, whose width shrinks with the mean."""
    length, paid = math.log(horizon), 0.0
    for a in range(p.size):
        paid = max(paid, seen.total[a])
        p[a] = 1.0 / p.size
    if paid <= 420.0 * c * c * length:  # line 1
        return
    for a in range(p.size):
        n = max(seen.observed[a], 1)
        mean = seen.total[a] / n
        p[a] = mean + 2.0 * c * math.sqrt(2.0 * mean * length / n)  # line 2
    return largest(p)


@checked
def ncb(horizon: Horizon, c: Positive = 3.0) -> Policy:
    r"""NCB, the Nash confidence bound (Barman et al., 2022).

    Arms are played uniformly while none has paid more than :math:`420 c^2 \ln T`. Then the arm of the largest
    :math:`\hat\mu_a + 2 c \sqrt{2 \hat\mu_a \ln T / N_a}` is played.

    Parameters
    ----------
    horizon : int
        Number of rounds T, which this policy has to know; it refuses longer games.
    c : float
        The constant of the paper, above 0; its theorem is for 3.

    Returns
    -------
    Policy
        The policy, one play a round.

    Examples
    --------
    In 10,000 rounds it never leaves its first phase:

    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([1.0, 0.0])), ncb(10_000), 10_000)
    >>> bool(abs(result.share[0, -1, 0] - 0.5) < 0.02)
    True
    """
    return Policy("NCB", ncb_rule, unit_rewards=True, horizon=horizon, c=c)


def _floored(how: str, changed: Any, learner: Policy, floor: float) -> Policy:
    """Put a floor under a learner."""
    of_one_play(learner)
    return Policy(f"{learner.name}, {how}", changed, floor=floor, learner=learner)
