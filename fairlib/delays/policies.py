"""FCUCB-D and FCTS-D, OP-FCUCB-D and OP-FCTS-D, a policy with two boxes, and the paper's baselines."""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from fairlib import checks
from fairlib.checks import Horizon, PositiveInt, UnitInterval, checked
from fairlib.core import Array, Number, PerArm, Policy, ask, helper, rule, share_out, take_turns
from fairlib.delays.game import _cap
from fairlib.merit import Box, Merit, best_in_box, largest_merit, play_by_merit

__all__ = [
    "dependent_rounding",
    "fcucb_d_rule",
    "fcucb_d",
    "upper_merit_delayed_rule",
    "upper_merit_delayed",
    "fcts_d_rule",
    "fcts_d",
    "op_fcucb_d_rule",
    "op_fcucb_d",
    "op_fcts_d_rule",
    "op_fcts_d",
    "TwoBoxes",
    "two_box_rule",
    "two_box",
    "Notes",
    "recent_half_rule",
    "recent_half",
    "cucb_d_rule",
    "cucb_d",
    "mp_ts_d_rule",
    "mp_ts_d",
    "fgreedy_d_rule",
    "fgreedy_d",
    "late_start_rule",
    "late_start",
]

Radius = Annotated[tuple[float, float], checks.Pair("two numbers (a, b), such as (0.0, 1.5)", checks.Real(0))]
"""Numbers a and b of a radius whose square is (a + b ln t) over a count."""


@helper
def dependent_rounding(probabilities: Any, rng: Any) -> Any:
    """Choose arms with given probabilities, as many as they sum to (Gandhi et al., 2006).

    Two arms that are neither in nor out are paired: one gains what the other loses, until one of them is settled. No
    arm's probability changes on average. The engine does the same job with one random number (`fairlib.core.select`);
    here arms are never chosen together more often than independent ones.

    Parameters
    ----------
    probabilities : ndarray, shape (K,)
        Probability of each arm, in [0, 1], summing to a whole number L.
    rng : numpy.random.Generator
        The stream of random numbers.

    Returns
    -------
    ndarray of int, shape (L,)
        The arms, in increasing order.

    Raises
    ------
    ValueError
        If a number is outside [0, 1], or they do not sum to a whole number.

    Examples
    --------
    >>> dependent_rounding(np.array([1.0, 0.5, 0.5, 0.0]), np.random.default_rng(1))
    array([0, 2])
    """
    p = probabilities.copy()
    whole = 0.0
    for a in range(p.size):
        if not 0.0 <= p[a] <= 1.0 + 1e-9:
            raise ValueError("probabilities must be numbers in [0, 1]")
        whole += p[a]
    plays = round(whole)
    if abs(whole - plays) > 1e-9:
        raise ValueError("probabilities must sum to a whole number, the number of plays")
    i = 0  # the only arm before j that may still be neither in nor out
    for j in range(1, p.size):
        if not 1e-12 < p[i] < 1.0 - 1e-12:
            i = j
        elif 1e-12 < p[j] < 1.0 - 1e-12:
            up, down = min(1.0 - p[i], p[j]), min(p[i], 1.0 - p[j])
            if rng.random() * (up + down) < down:
                p[i] += up
                p[j] -= up
            else:
                p[i] -= down
                p[j] += down
            if not 1e-12 < p[i] < 1.0 - 1e-12:
                i = j
    chosen = np.zeros(plays, np.int64)
    found = 0
    for a in range(p.size):
        if p[a] > 0.5 and found < plays:
            chosen[found] = a
            found += 1
    return chosen


@helper
def _play_top(p: Any, plays: int) -> None:
    """Play the arms of the largest indices: turn the indices in `p` into probabilities."""
    for _ in range(plays):
        best = 0
        for a in range(1, p.size):
            if p[a] > p[best]:
                best = a
        p[best] = -math.inf
    for a in range(p.size):
        p[a] = 1.0 if p[a] == -math.inf else 0.0


# Delays that do not depend on the reward


@rule
def fcucb_d_rule(plays, base, slope, merit, seen, box: Box, p):
    """Play by the merit of the most favourable means in the box."""
    if take_turns(seen.t, plays, p):
        return
    width = base + slope * math.log(seen.t)
    for a in range(p.size):  # line 1
        m = max(seen.observed[a], 1)
        mean, c = seen.total[a] / m, math.sqrt(width / m)
        box.high[a], box.low[a] = min(mean + c, 1.0), max(mean - c, 0.0)
    best_in_box(merit, box)  # line 2
    play_by_merit(merit, box.mu, plays, p)  # line 3


@checked
def fcucb_d(merit: Merit, arms: PositiveInt, plays: int, radius: Radius | None = None) -> Policy:
    r"""FCUCB-D (Algorithm 1), with the optimistic step of line 9 solved exactly.

    It plays in proportion to the merit of the most favourable means in the box :math:`\hat\mu_a \pm c_{t,a}`. Here
    :math:`\hat\mu_a` is the mean of the M rewards that have arrived, and
    :math:`c_{t,a} = \sqrt{\ln(4LKt) / (M \vee 1)}`.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats, optional
        Numbers :math:`(a, b)` for another radius, :math:`\sqrt{(a + b \ln t) / (M \vee 1)}`; by default
        :math:`(\ln 4LK, 1)`, as in Theorem 6.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    fcucb_d_reward_bound, fcucb_d_fairness_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, fixed
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=fixed([20] * 4), merit=power(2, 4))
    >>> result = fl.simulate(game, fcucb_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    chosen = _size(merit, arms, plays)
    width = _radius((math.log(4 * chosen * arms), 1.0) if radius is None else radius)
    return Policy("FCUCB-D", fcucb_d_rule, unit_rewards=True, plays=chosen, arms=arms, merit=merit, **width)


@rule
def upper_merit_delayed_rule(plays, base, slope, merit, seen, p):
    """Play in proportion to the largest merit in each confidence interval of what has arrived."""
    if take_turns(seen.t, plays, p):
        return
    width = base + slope * math.log(seen.t)
    for a in range(p.size):
        m = max(seen.observed[a], 1)
        mean, c = seen.total[a] / m, math.sqrt(width / m)  # lines 1 and 2
        p[a] = largest_merit(merit, mean - c, mean + c)  # line 3
    share_out(p, plays)  # line 4


@checked
def upper_merit_delayed(merit: Merit, arms: PositiveInt, plays: int, radius: Radius | None = None) -> Policy:
    r"""Upper merit with several plays and late feedback: by the largest merit in FCUCB-D's intervals.

    Not from the papers. For merits whose optimistic step takes every upper end, such as ``power(2, 4)``, it is FCUCB-D;
    it does not need Assumption 1: an arm whose probability would be above 1 is in every round.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats, optional
        Numbers :math:`(a, b)` for another radius, :math:`\sqrt{(a + b \ln t) / (M \vee 1)}`; by default
        :math:`(\ln 4LK, 1)`, for rewards in [0, 1].

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    See Also
    --------
    upper_merit_delayed_fairness_bound : what is proved of its fairness regret.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, fixed
    >>> from fairlib.merit import exponential
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=fixed([20] * 4), merit=exponential(4))
    >>> result = fl.simulate(game, upper_merit_delayed(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.05)
    True
    """
    chosen = checks.integer("plays", plays, 1, arms)
    width = _radius((math.log(4 * chosen * arms), 1.0) if radius is None else radius)
    settings: dict[str, Any] = {"merit": merit, **width}
    return Policy(
        "upper merit, delayed", upper_merit_delayed_rule, unit_rewards=True, plays=chosen, arms=arms, **settings
    )


@rule
def fcts_d_rule(plays, merit, seen, rng, p):
    """Play by the merit of means drawn from the posteriors of what has arrived."""
    for a in range(p.size):
        p[a] = rng.beta(1.0 + seen.total[a], 1.0 + seen.observed[a] - seen.total[a])  # line 1
    play_by_merit(merit, p, plays, p)  # line 2


@checked
def fcts_d(merit: Merit, arms: PositiveInt, plays: int) -> Policy:
    """FCTS-D (Algorithm 2) for rewards 0 and 1: play by the merit of means drawn from their posteriors.

    The prior is uniform, and the posterior counts the rewards that have arrived.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    fcts_d_reward_bound, fcts_d_fairness_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, fixed
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=fixed([20] * 4), merit=power(2, 4))
    >>> result = fl.simulate(game, fcts_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    chosen = _size(merit, arms, plays)
    return Policy("FCTS-D", fcts_d_rule, unit_rewards=True, plays=chosen, arms=arms, merit=merit)


# Delays that may depend on the reward


@rule
def op_fcucb_d_rule(plays, base, slope, merit, seen, box: Box, p):
    """Play by the merit of the most favourable means in the box, whatever the missing rewards may be."""
    if take_turns(seen.t, plays, p):
        return
    width = base + slope * math.log(seen.t)
    for a in range(p.size):  # line 1
        n, missing = seen.selected[a], seen.selected[a] - seen.observed[a]
        c = math.sqrt(width / n)
        box.high[a] = min((missing + seen.total[a]) / n + c, 1.0)
        box.low[a] = max(seen.total[a] / n - c, 0.0)
    best_in_box(merit, box)  # line 2
    play_by_merit(merit, box.mu, plays, p)  # line 3


@checked
def op_fcucb_d(merit: Merit, arms: PositiveInt, plays: int, radius: Radius | None = None) -> Policy:
    r"""OP-FCUCB-D (Algorithm 3): missing rewards count as 1 in the upper bound and as 0 in the lower one.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats, optional
        Numbers :math:`(a, b)` for another radius, :math:`\sqrt{(a + b \ln t) / N}`; by default
        :math:`(\ln 6LK, 1)`. (Theorem 8 prints :math:`\ln(6LK/T)`, which is negative: erratum E-D12.)

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    op_fcucb_d_reward_bound, op_fcucb_d_fairness_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, biased
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, op_fcucb_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    chosen = _size(merit, arms, plays)
    width = _radius((math.log(6 * chosen * arms), 1.0) if radius is None else radius)
    return Policy("OP-FCUCB-D", op_fcucb_d_rule, unit_rewards=True, plays=chosen, arms=arms, merit=merit, **width)


@rule
def op_fcts_d_rule(plays, merit, seen, rng, p):
    """Play by the merit of the average of two draws, one with missing rewards as 1, one with them as 0."""
    for a in range(p.size):
        missing = seen.selected[a] - seen.observed[a]
        ones, zeros = 1.0 + seen.total[a], 1.0 + seen.observed[a] - seen.total[a]
        most = rng.beta(ones + missing, zeros)  # line 1
        least = rng.beta(ones, zeros + missing)
        p[a] = 0.5 * (most + least)  # line 2
    play_by_merit(merit, p, plays, p)  # line 3


@checked
def op_fcts_d(merit: Merit, arms: PositiveInt, plays: int) -> Policy:
    """OP-FCTS-D (Algorithm 4): the average of two draws, one with missing rewards as 1, one with them as 0.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    op_fcts_d_reward_bound, op_fcts_d_fairness_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, biased
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, op_fcts_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    chosen = _size(merit, arms, plays)
    return Policy("OP-FCTS-D", op_fcts_d_rule, unit_rewards=True, plays=chosen, arms=arms, merit=merit)


class TwoBoxes(NamedTuple):
    """Memory of Two-box: for the safe box and the narrow one, how far each end has moved inwards from 0 or from 1."""

    bottom: PerArm
    roof: PerArm
    floor: PerArm
    top: PerArm


@rule
def two_box_rule(plays, narrow, safe, merit, seen, ends: TwoBoxes, refuted: Number, box: Box, p):
    """Play by the merit of the most favourable means in the overlap of two boxes, or in the safe box if it is empty."""
    if take_turns(seen.t, plays, p):
        return
    for a in range(p.size):  # line 1
        n, m = seen.selected[a], max(seen.observed[a], 1)
        c, mean, w = math.sqrt(safe / n), seen.total[a] / m, math.sqrt(narrow / m)
        ends.bottom[a] = max(ends.bottom[a], seen.total[a] / n - c)
        ends.roof[a] = max(ends.roof[a], 1.0 - (n - seen.observed[a] + seen.total[a]) / n - c)
        ends.floor[a] = max(ends.floor[a], mean - w)
        ends.top[a] = max(ends.top[a], 1.0 - mean - w)
        if max(ends.floor[a], ends.bottom[a]) > 1.0 - max(ends.top[a], ends.roof[a]):
            refuted[0] = 1.0  # line 2
    for a in range(p.size):  # line 3
        box.low[a], box.high[a] = ends.bottom[a], 1.0 - ends.roof[a]
        if refuted[0] == 0.0:
            box.low[a], box.high[a] = max(ends.floor[a], ends.bottom[a]), 1.0 - max(ends.top[a], ends.roof[a])
        elif box.low[a] > box.high[a]:  # happens only if a bound has failed
            box.low[a] = box.high[a]
    best_in_box(merit, box)  # line 4
    play_by_merit(merit, box.mu, plays, p)  # line 5


@checked
def two_box(merit: Merit, arms: PositiveInt, plays: int, horizon: Horizon) -> Policy:
    r"""Two-box: one policy for delays of either kind, which it need not know. Ours, not the paper's.

    The safe box is OP-FCUCB-D's, the narrow box FCUCB-D's, each the intersection of those of all rounds so far. While
    they overlap, the policy is optimistic in the overlap; once they do not, the delays must depend on the rewards, and
    it keeps to the safe box.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    horizon : int
        Number of rounds T, in the radii :math:`\sqrt{\ln(4LKT)/M}` and :math:`\sqrt{\ln(6LKT)/N}`. It refuses longer
        games.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, biased
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, two_box(game.merit, 4, 2, 50_000), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    chosen = _size(merit, arms, plays)
    product = chosen * arms * horizon
    widths: dict[str, Any] = {"narrow": math.log(4 * product), "safe": math.log(6 * product)}
    return Policy(
        "Two-box", two_box_rule, unit_rewards=True, plays=chosen, arms=arms, horizon=horizon, merit=merit, **widths
    )


class Notes(NamedTuple):
    """Memory of recent half: how many rewards of each arm had arrived, and their sum, at eight rounds per doubling."""

    observed: Annotated[Array, 512, "K"]
    total: Annotated[Array, 512, "K"]


@rule
def recent_half_rule(plays, merit, seen, notes: Notes, p):
    """Play by the merit of the mean of what arrived in the second half of the game, cut to the possible means."""
    if take_turns(seen.t, plays, p):
        return
    half = int(8 * math.log2(seen.t))  # line 1; nine places on is this round's, later rounds write over it
    for a in range(p.size):
        notes.observed[half + 9, a], notes.total[half + 9, a] = seen.observed[a], seen.total[a]
        n, missing = seen.selected[a], seen.selected[a] - seen.observed[a]
        low, high = seen.total[a] / n, (missing + seen.total[a]) / n
        m, total = seen.observed[a] - notes.observed[half, a], seen.total[a] - notes.total[half, a]
        mean = total / m if m > 0 else 0.5 * (low + high)  # line 2
        p[a] = min(max(mean, low), high)  # line 3
    play_by_merit(merit, p, plays, p)  # line 4


@checked
def recent_half(merit: Merit, arms: PositiveInt, plays: int) -> Policy:
    r"""Recent half: one policy for delays of either kind, without boxes, horizon or test. Ours, not the paper's.

    It plays in proportion to the merit of the mean of what arrived in the second half of the game, or in a slightly
    longer part, moved into the interval from the pessimistic to the optimistic estimate, where the mean of all rewards
    lies. A reward that arrived late because of its value misleads only until it is older than half of the game.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit, biased
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, recent_half(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    chosen = _size(merit, arms, plays)
    return Policy("recent half", recent_half_rule, plays=chosen, arms=arms, merit=merit)


# The paper's baselines


@rule
def cucb_d_rule(plays, base, slope, seen, p):
    """Play the arms of the largest upper bounds on what has arrived."""
    if take_turns(seen.t, plays, p):
        return
    width = base + slope * math.log(seen.t)
    for a in range(p.size):
        each = 1.0 / max(seen.observed[a], 1)  # divide once: that is a twentieth of the round
        p[a] = seen.total[a] * each + math.sqrt(width * each)
    _play_top(p, plays)


@checked
def cucb_d(plays: Annotated[int, checks.Integer(1)], radius: Radius = (0.0, 1.5)) -> Policy:
    r"""CUCB-D: the arms of the largest upper bounds, without fairness (after Chen, Wang and Yuan, 2013).

    Parameters
    ----------
    plays : int
        Number of arms L that are played each round.
    radius : tuple of two floats
        Numbers :math:`(a, b)` of the radius :math:`\sqrt{(a + b \ln t) / (M \vee 1)}`; by default CUCB's own, with b =
        3/2. The paper does not say which it took; its public code takes b = L + 1.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1]), plays=2)
    >>> bool(fl.simulate(game, cucb_d(2), 5000).share[0, -1, 2] < 0.05)
    True
    """
    return Policy("CUCB-D", cucb_d_rule, unit_rewards=True, plays=plays, **_radius(radius))


@rule
def mp_ts_d_rule(plays, seen, rng, p):
    """Play the arms whose draws from the posterior are the largest."""
    for a in range(p.size):
        p[a] = rng.beta(1.0 + seen.total[a], 1.0 + seen.observed[a] - seen.total[a])
    _play_top(p, plays)


@checked
def mp_ts_d(plays: Annotated[int, checks.Integer(1)]) -> Policy:
    """MP-TS-D: the arms of the largest posterior draws (after Komiyama, Honda and Nakagawa, 2015).

    Parameters
    ----------
    plays : int
        Number of arms L that are played each round.

    Returns
    -------
    Policy
        The policy, for rewards 0 and 1.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1]), plays=2)
    >>> bool(fl.simulate(game, mp_ts_d(2), 5000).share[0, -1, 2] < 0.05)
    True
    """
    return Policy("MP-TS-D", mp_ts_d_rule, unit_rewards=True, plays=plays)


@rule
def fgreedy_d_rule(plays, epsilon, merit, seen, rng, p):
    """Play by the merit of the means so far, or in a share epsilon of the rounds any arms."""
    explore = rng.random() < epsilon
    for a in range(p.size):
        p[a] = 1.0 if explore else seen.total[a] / max(seen.observed[a], 1)
    if explore:
        share_out(p, plays)
    else:
        play_by_merit(merit, p, plays, p)


@checked
def fgreedy_d(merit: Merit, arms: PositiveInt, plays: int, epsilon: UnitInterval) -> Policy:
    """FGreedy-D: in some rounds any arms at all, in the others by the merit of the means so far.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    epsilon : float
        Probability that a round explores, in [0, 1]. The paper does not say; its public code takes 0.13.

    Returns
    -------
    Policy
        The policy. Whether a round explores is drawn before the round, and the regrets count the probabilities after
        that draw.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.delays import SemiBandit
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> result = fl.simulate(game, fgreedy_d(game.merit, 4, 2, 0.0), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    chosen = _size(merit, arms, plays)
    return Policy("FGreedy-D", fgreedy_d_rule, plays=chosen, arms=arms, epsilon=epsilon, merit=merit)


@rule
def late_start_rule(plays, rounds: int, learner, seen, p):
    """Play the arms in turn for some rounds, and only then let the learner begin, at its round 1."""
    if seen.t > rounds:
        return ask(learner, p, seen.t - rounds)
    for j in range(plays):
        p[((seen.t - 1) * plays + j) % p.size] = 1.0
    return -1


@checked
def late_start(
    learner: Annotated[Policy, checks.Instance(Policy, "a Policy, such as fcts_d(power(2, 4), 7, 3)")],
    rounds: PositiveInt,
) -> Policy:
    """Let a policy begin late, after some rounds in which the arms take turns, as the paper's public code does.

    Parameters
    ----------
    learner : Policy
        The policy; it sees what the first rounds brought, and counts its own rounds from 1.
    rounds : int
        The number of rounds before it begins, at least 1.

    Returns
    -------
    Policy
        The policy, of the same name.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1, 0.2]), plays=2)
    >>> fl.simulate(game, late_start(mp_ts_d(2), 2), 2).selected[0, -1]
    array([1, 1, 1, 1])
    """
    horizon = None if learner.horizon is None else rounds + learner.horizon  # the learner's round 1 is a later one
    settings: dict[str, Any] = {"rounds": rounds, "learner": learner}
    return Policy(learner.name, late_start_rule, plays=learner.plays, arms=learner.arms, horizon=horizon, **settings)


def _size(merit: Merit, arms: int, plays: int) -> int:
    """Take the numbers of arms and of plays, for a merit on [0, 1] that fits them."""
    chosen = checks.integer("plays", plays, 1, arms)
    if merit.low > 0 or merit.high < 1:
        raise ValueError(f"merit must be for means in [0, 1], not in [{merit.low:g}, {merit.high:g}]")
    _cap(merit, arms, chosen)
    return chosen


def _radius(radius: tuple[float, float]) -> dict[str, Any]:
    """Take the two numbers of a radius, as the rules have them."""
    return {"base": radius[0], "slope": radius[1]}
