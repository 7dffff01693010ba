"""Fair-Greedy in three forms, and the policies that it is compared with."""

import math
from typing import Annotated, Any, NamedTuple

import numpy as np

from fairlib import checks
from fairlib.checks import NonNegative, PositiveScale, checked
from fairlib.core import (
    Array,
    ContextPolicy,
    Now,
    Number,
    Past,
    PerDimension,
    PerGroup,
    Square,
    absorb,
    any_of_the_best,
    dot,
    helper,
    largest,
    rule,
    width,
)
from fairlib.ranks.distributions import flat, rank
from fairlib.ranks.game import RankBandit

__all__ = [
    "Half",
    "learn",
    "count_at_most",
    "ranks_in_groups",
    "rank_unseen",
    "fair_greedy_rule",
    "fair_greedy_first_rule",
    "fair_greedy",
    "fair_greedy_v2_rule",
    "fair_greedy_v2",
    "fair_greedy_rarely_rule",
    "fair_greedy_rarely",
    "gmf_rule",
    "gmf",
    "reward_optimal_rule",
    "reward_optimal",
    "oful_as_published_rule",
    "oful_as_published",
    "oracle_cdf_rule",
    "oracle_cdf",
    "oracle_rewards_rule",
    "oracle_rewards",
]

# Fair-Greedy (Sections 4 and 7) --------------------------------------------------------------------------------------


class Half(NamedTuple):
    """What Fair-Greedy has learnt from the first half of the past: memory of its rules.

    Parameters
    ----------
    mean, root : ndarray, shape (d,) and (d, d)
        The ridge regression on the candidates chosen, as in `Ridge`.
    estimate : ndarray, shape (d,)
        The estimated parameter: `mean` with a little noise; 0 before there is any.
    rounds : ndarray, shape (1,)
        The number of rounds that they are from.

    Examples
    --------
    >>> Half(np.zeros(2), np.zeros((2, 2)), np.zeros(2), np.zeros(1)).estimate
    array([0., 0.])
    """

    mean: PerDimension
    root: Square
    estimate: PerDimension
    rounds: Number


@helper(forceinline=False)
def learn(regularizer: float, noise: float, rounds: int, past: Past, half: Half, rng: Any) -> None:
    r"""Estimate the parameter from the first rounds (line 2).

    Parameters
    ----------
    regularizer : float
        The regularizer :math:`\lambda_0`.
    noise : float
        The magnitude :math:`\rho` of the noise.
    rounds : int
        How many rounds, at least 1 and at least as many as before.
    past : Past
        The rounds so far.
    half : Half
        What has been learnt; updated.
    rng : numpy.random.Generator
        The stream of the noise.

    Examples
    --------
    >>> past = Past(np.ones((1, 1, 1)), np.zeros((1, 1), int), np.zeros(1, int), np.array([3.0]))
    >>> half = Half(np.zeros(1), np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    >>> learn(1.0, 0.0, 1, past, half, np.random.default_rng(0))
    >>> half.estimate
    array([1.5])
    """
    d, known = half.mean.size, max(int(half.rounds[0]), 0)  # a file may say less, and there is no such row
    if known == 0:
        for i in range(d):
            half.root[i, i] = 1.0 / math.sqrt(regularizer)
    for s in range(known, rounds):
        absorb(half.mean, half.root, past.contexts[s, past.played[s]], past.rewards[s])
    half.rounds[0] = rounds
    scale = noise / (d * math.sqrt(rounds))
    for i in range(d):
        half.estimate[i] = half.mean[i] + scale * rng.standard_normal()


# Rounding may differ with how the sum is split up; what is decided from it does not, see `count_at_most`.
@helper(fastmath={"reassoc", "contract"})
def _quick_dot(x: Any, y: Any) -> float:
    """Return the inner product of two vectors, summed in whatever order is fastest."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@helper(forceinline=False)
def _compare_with(estimate: Any, contexts: Any, longest: Any, reward: Any, low: Any, high: Any) -> None:
    """Find the estimated rewards of this round, and how far around them `_quick_dot` can't be trusted."""
    for a in range(reward.size):
        reward[a] = dot(estimate, contexts[a])
        longest[0] = max(longest[0], dot(contexts[a], contexts[a]))
    off = 1e-15 * estimate.size * math.sqrt(dot(estimate, estimate) * longest[0])
    for a in range(reward.size):
        low[a], high[a] = reward[a] - off, reward[a] + off


@helper
def count_at_most(estimate: Any, contexts: Any, past: Any, start: int, end: int, longest: Any, counts: Any) -> None:
    """Count, arm by arm, the past contexts with an estimated reward of at most the present one's.

    This takes nearly all the time, so the products are quick ones. Their largest error is known; where it matters,
    `dot` decides. So every machine, and the same rule interpreted, finds the same counts.

    Parameters
    ----------
    estimate : ndarray, shape (d,)
        The estimated parameter.
    contexts : ndarray, shape (K, d)
        The contexts of this round.
    past : ndarray, shape (T, K, d)
        The past contexts.
    start, end : int
        The first row that counts, and the first after it that doesn't.
    longest : ndarray, shape (1,)
        The largest square of a context's length so far; updated.
    counts : ndarray, shape (K,)
        Receives the counts.

    Examples
    --------
    >>> counts, past = np.empty(2), np.array([[[1.0], [4.0]], [[2.0], [3.0]], [[5.0], [5.0]]])
    >>> count_at_most(np.array([2.0]), np.array([[2.0], [3.5]]), past, 0, 3, np.zeros(1), counts)
    >>> counts
    array([2., 1.])
    """
    k = counts.size
    value, reward, low, high = np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    _compare_with(estimate, contexts, longest, reward, low, high)
    for a in range(k):
        counts[a] = 0.0
    for s in range(start, end):
        unsure = 0.0
        for a in range(k):  # without a branch, which the processor would guess wrong every other time
            value[a] = _quick_dot(estimate, past[s, a])
            below = 1.0 if value[a] < low[a] else 0.0
            counts[a] += below
            unsure += (1.0 if value[a] <= high[a] else 0.0) - below
        if unsure > 0.0:
            for a in range(k):
                if low[a] <= value[a] <= high[a] and dot(estimate, past[s, a]) <= reward[a]:
                    counts[a] += 1.0


@helper
def _count_in_group(value: Any, group_of: Any, group: int, low: float, high: float) -> Any:
    """Count the numbers of a group: all of them, those below `low`, and those from `low` to `high`."""
    seen, below, within = 0, 0, 0
    for i in range(value.size):  # without a branch, so that the processor takes several at once
        mine = 1 if group_of[i] == group else 0
        under = mine if value[i] < low else 0
        seen += mine
        below += under
        within += (mine if value[i] <= high else 0) - under
    return seen, below, within


@helper
def ranks_in_groups(estimate: Any, now: Now, past: Past, start: int, end: int, longest: Any, ranks: Any) -> None:
    """Estimate the rank of each candidate among all past candidates of the same group; -1 if there were none.

    Parameters
    ----------
    estimate : ndarray, shape (d,)
        The estimated parameter.
    now : Now
        This round.
    past : Past
        The rounds so far.
    start, end : int
        The first row that counts, and the first after it that doesn't.
    longest : ndarray, shape (1,)
        The largest square of a context's length so far; updated.
    ranks : ndarray, shape (K,)
        Receives the ranks.

    Examples
    --------
    >>> contexts, groups = np.array([[[1.0], [4.0]], [[2.0], [3.0]]]), np.array([[0, 0], [0, 1]])
    >>> past, ranks = Past(contexts, groups, np.zeros(2, int), np.zeros(2)), np.empty(3)
    >>> now = Now(3, np.array([[3.0], [3.0], [3.0]]), np.array([0, 1, 2]))
    >>> ranks_in_groups(np.array([2.0]), now, past, 0, 2, np.zeros(1), ranks)
    >>> ranks.round(3)
    array([ 0.667,  1.   , -1.   ])
    """
    k, d = now.contexts.shape
    reward, low, high, seen = np.empty(k), np.empty(k), np.empty(k), np.zeros(k)
    _compare_with(estimate, now.contexts, longest, reward, low, high)
    all_rows, all_groups = past.contexts[start:end].reshape(-1, d), past.groups[start:end].reshape(-1)
    ranks[:] = 0.0
    for first in range(0, all_groups.size, 512):  # so few at a time that they stay in the cache for all arms
        rows, group_of = all_rows[first : first + 512], all_groups[first : first + 512]
        value = np.empty(group_of.size)
        for i in range(value.size):
            value[i] = _quick_dot(estimate, rows[i])
        for a in range(k):
            mine, below, unsure = _count_in_group(value, group_of, now.groups[a], low[a], high[a])
            if unsure > 0:  # one who has come before, say
                for i in range(value.size):
                    if abs(value[i] - reward[a]) <= high[a] - low[a]:  # seldom, which the processor learns to guess
                        inside = group_of[i] == now.groups[a] and low[a] <= value[i] <= high[a]
                        below += 1 if inside and dot(estimate, rows[i]) <= reward[a] else 0
            seen[a] += mine
            ranks[a] += below
    for a in range(k):
        ranks[a] = ranks[a] / seen[a] if seen[a] > 0.0 else -1.0


@helper
def rank_unseen(ranks: Any, by_lot: float, rng: Any) -> None:
    """Rank each candidate whose group has not been seen.

    Parameters
    ----------
    ranks : ndarray, shape (K,)
        The ranks, -1 where there is none; updated.
    by_lot : float
        1 for a random rank, 0 for 1/2.
    rng : numpy.random.Generator
        The stream of random numbers.

    Examples
    --------
    >>> ranks = np.array([0.25, -1.0])
    >>> rank_unseen(ranks, 1.0, np.random.default_rng(0))
    >>> ranks.round(3)
    array([0.25 , 0.637])
    """
    for a in range(ranks.size):
        if ranks[a] < 0.0:
            ranks[a] = rng.random() if by_lot == 1.0 else 0.5


@rule
def fair_greedy_rule(regularizer, noise, now, past, half: Half, longest: Number, rng, p):
    """Choose the highest estimated rank within an arm's own past (Algorithm 1)."""
    start, end = (now.t - 1) // 2, now.t - 1  # the rounds of the second half; line 1 is `now`
    if start > half.rounds[0]:  # line 2, where the first half has grown
        learn(regularizer, noise, start, past, half, rng)
    count_at_most(half.estimate, now.contexts, past.contexts, start, end, longest, p)  # line 3
    for a in range(p.size):
        p[a] /= max(end - start, 1)
    any_of_the_best(p)  # line 4


@rule
def fair_greedy_first_rule(regularizer, noise, now, past, half: Half, longest: Number, rng, p):
    """Choose as the public code does: of the candidates with the highest estimated rank, the first."""
    start, end = (now.t - 1) // 2, now.t - 1
    if start > half.rounds[0]:
        learn(regularizer, noise, start, past, half, rng)
    count_at_most(half.estimate, now.contexts, past.contexts, start, end, longest, p)
    return largest(p)  # of the counts: all ranks are counts over one number


RankNoise = Annotated[float, checks.Real(high=1, above=0)]


@checked
def fair_greedy(
    ridge: PositiveScale = 0.1, noise: RankNoise = 1e-3, ties: Annotated[str, checks.Choice(("any", "first"))] = "any"
) -> ContextPolicy:
    r"""Fair-Greedy (Algorithm 1), for games in which arm a always has a candidate of group a.

    The first half of the rounds gives an estimate of :math:`\mu^\star` by ridge regression, the second half, under this
    estimate, each group's distribution; then the candidate with the highest estimated rank is chosen. It costs one
    product of a matrix with a vector a round, and the memory of all contexts (Remark 4.2).

    Parameters
    ----------
    ridge : float
        The regularizer :math:`\lambda`, above 0; 0.1 in the paper's experiments.
    noise : float
        The magnitude :math:`\rho` of the noise that is added to the estimate, in (0, 1]. It only has to break ties.
    ties : str
        ``"any"`` of the candidates with the highest estimated rank, as in the paper, or the ``"first"``, as in its
        public code, which breaks Lemma 4.1.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> result = fl.simulate(section_6(), fair_greedy(), 500, runs=20)
    >>> bool(result.fairness_regret[:, -1].mean() < 30)
    True
    """
    chosen = fair_greedy_rule if ties == "any" else fair_greedy_first_rule
    return ContextPolicy("Fair-Greedy", chosen, regularizer=ridge, noise=noise)


@rule
def fair_greedy_v2_rule(regularizer, noise, by_lot, now, past, half: Half, longest: Number, rng, p):
    """Choose the highest estimated rank within all past candidates of the same group (Algorithm 2)."""
    start, end = (now.t - 1) // 2, now.t - 1  # the rounds of the second half; line 1 is `now`
    if start > half.rounds[0]:  # line 2, where the first half has grown
        learn(regularizer, noise, start, past, half, rng)
    ranks_in_groups(half.estimate, now, past, start, end, longest, p)  # line 3
    rank_unseen(p, by_lot, rng)  # where line 3 divides by 0
    any_of_the_best(p)  # line 4


@checked
def fair_greedy_v2(
    ridge: PositiveScale = 0.1,
    noise: RankNoise = 1e-3,
    unseen: Annotated[str, checks.Choice(("random", "half"))] = "random",
) -> ContextPolicy:
    r"""Fair-Greedy V2 (Algorithm 2), for games in which the candidates' groups are random.

    As `fair_greedy`, but each group's distribution comes from all candidates of the group, whichever arms they were, so
    that there may be any number of them in a round. Where arm a always has group a, it is Fair-Greedy.

    Parameters
    ----------
    ridge : float
        The regularizer :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho` of the noise that is added to the estimate, in (0, 1].
    unseen : str
        The rank of a candidate whose group has not been seen in the second half, where the paper's box divides by 0:
        ``"random"``, uniform from 0 to 1, as in its public code, so that the candidate has an equal chance; or
        ``"half"``, 1/2, which leaves it almost no chance among many candidates.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import mixed_groups
    >>> game = mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10)
    >>> bool(fl.simulate(game, fair_greedy_v2(), 500, runs=20).fairness_regret[:, -1].mean() < 40)
    True
    """
    settings: dict[str, Any] = {"regularizer": ridge, "noise": noise, "by_lot": float(unseen == "random")}
    return ContextPolicy("Fair-Greedy V2", fair_greedy_v2_rule, **settings)


class _Lists(NamedTuple):
    """The estimated rewards of each group, one list after the other: memory of a rule."""

    start: PerGroup
    end: PerGroup
    values: Annotated[Array, "T", "K"]


@helper
def _sort_in_groups(estimate: Any, past: Past, start: int, end: int, lists: _Lists) -> None:
    """List the estimated rewards of all past candidates, group by group, each group's in order."""
    values, at = lists.values.reshape(-1), 0
    for group in range(lists.end.size):
        first = at
        for s in range(start, end):
            for a in range(past.groups.shape[1]):
                if past.groups[s, a] == group:
                    values[at] = dot(estimate, past.contexts[s, a])
                    at += 1
        values[first:at].sort()
        lists.start[group], lists.end[group] = first, at


@rule
def fair_greedy_rarely_rule(growth, regularizer, noise, now, past, half: Half, due: Number, lists: _Lists, rng, p):
    """Choose as Fair-Greedy V2, with estimates that are kept until the data have grown by a factor."""
    if now.t >= max(due[0], 3.0):  # before round 3 there is nothing to learn from
        due[0] = max(now.t + 1.0, math.ceil(growth * now.t))
        start, end = (now.t - 1) // 2, now.t - 1
        learn(regularizer, noise, start, past, half, rng)
        _sort_in_groups(half.estimate, past, start, end, lists)
    values = lists.values.reshape(-1)
    for a in range(p.size):
        first, last = int(lists.start[now.groups[a]]), int(lists.end[now.groups[a]])
        below = np.searchsorted(values[first:last], dot(half.estimate, now.contexts[a]), "right")
        p[a] = below / (last - first) if last > first else -1.0
    rank_unseen(p, 1.0, rng)
    any_of_the_best(p)


@checked
def fair_greedy_rarely(
    growth: Annotated[float, checks.Real(high=1e6, above=1)] = 1.2, ridge: PositiveScale = 0.1, noise: RankNoise = 1e-3
) -> ContextPolicy:
    r"""Fair-Greedy with an estimate that is refreshed only when the data have grown: **ours**, not the paper's.

    A refresh in round t does what lines 2 and 3 of Algorithm 2 do, and sorts each group's estimated rewards. They are
    then used until round ``growth * t``, and a rank is found by halving. So the number of refreshes grows like the
    logarithm of T, and the work like T instead of its square.

    Parameters
    ----------
    growth : float
        The factor, above 1 and at most a million.
    ridge : float
        The regularizer :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho` of the noise that is added to the estimate, in (0, 1].

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> result = fl.simulate(section_6(), fair_greedy_rarely(), 500, runs=20)
    >>> bool(result.fairness_regret[:, -1].mean() < 35)
    True
    """
    settings: dict[str, Any] = {"growth": growth, "regularizer": ridge, "noise": noise}
    return ContextPolicy("Fair-Greedy, rarely", fair_greedy_rarely_rule, **settings)


# Policies to compare with (appendices D.2 and E.1) -------------------------------------------------------------------


@rule
def gmf_rule(parameter, table, now, p):
    """Choose the highest true rank."""
    for a in range(p.size):
        p[a] = rank(table, now.groups[a], dot(parameter, now.contexts[a]))
    any_of_the_best(p)


@checked
def gmf(game: RankBandit) -> ContextPolicy:
    """Choose the highest true rank: group meritocratic fair (Definitions 3.1 and E.1), with all of the game known.

    Parameters
    ----------
    game : RankBandit
        The game that it knows.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, gmf(game), 100).fairness_regret[0, -1] < 1e-9)
    True
    """
    mu, table, groups = game.parameter, flat(game.distributions), len(game.distributions)
    return ContextPolicy("GMF", gmf_rule, dimension=mu.size, groups=groups, parameter=mu, table=table)


@rule
def reward_optimal_rule(parameter, now, p):
    """Choose the largest expected reward."""
    for a in range(p.size):
        p[a] = dot(parameter, now.contexts[a])
    any_of_the_best(p)


@checked
def reward_optimal(game: RankBandit) -> ContextPolicy:
    """Choose the largest expected reward, whatever the group, with the true parameter known.

    Parameters
    ----------
    game : RankBandit
        The game that it knows.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, reward_optimal(game), 100).regret[0, -1] < 1e-9)
    True
    """
    mu = game.parameter
    return ContextPolicy("reward-optimal", reward_optimal_rule, dimension=mu.size, parameter=mu)


@rule
def oful_as_published_rule(exploration, now, ridge, log_det: Number, p):
    """Play the largest upper bound of the public code, whose radius grows with the logarithm of t."""
    v, w = np.empty(ridge.mean.size), np.empty(p.size)
    radius = exploration * math.sqrt(2.0 * log_det[0] * math.log(now.t))  # log_det is ln det(V / lambda)
    for a in range(p.size):
        w[a] = width(ridge.root, now.contexts[a], v)
        p[a] = dot(ridge.mean, now.contexts[a]) + radius * w[a]
    arm = largest(p)
    log_det[0] += math.log(1.0 + w[arm] * w[arm])  # each play multiplies the determinant by 1 + w^2
    return arm


@checked
def oful_as_published(exploration: NonNegative = 1.0, ridge: PositiveScale = 0.1) -> ContextPolicy:
    r"""OFUL as in the paper's public code, which is another rule than `fairlib.baselines.linear.oful`.

    It plays the candidate with the largest
    :math:`\hat\mu \cdot x + e\, \sqrt{2 \ln\det(V_t/\lambda)\, \ln t}\, \lVert x \rVert_{V_t^{-1}}`. The radius of a
    proof contains the noise and the failure, and one logarithm less under the root.

    Parameters
    ----------
    exploration : float
        The factor e, at least 0; 1 in the simulation, 0.1 and 0.01 with the Census.
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> regret = fl.simulate(section_6(), oful_as_published(), 500, runs=20).regret[:, -1].mean()
    >>> bool(700 < regret < 860)
    True
    """
    return ContextPolicy("OFUL, as published", oful_as_published_rule, ridge=ridge, exploration=exploration)


@rule
def oracle_cdf_rule(table, now, ridge, p):
    """Choose the highest rank that the estimated reward has in the true distribution."""
    for a in range(p.size):
        p[a] = rank(table, now.groups[a], dot(ridge.mean, now.contexts[a]))
    any_of_the_best(p)


@checked
def oracle_cdf(game: RankBandit, ridge: PositiveScale = 0.1) -> ContextPolicy:
    r"""Fair-Greedy (Oracle CDF): knows the groups' distributions; estimates rewards by ridge regression on all rounds.

    Parameters
    ----------
    game : RankBandit
        The game that it knows.
    ridge : float
        The regularizer :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, oracle_cdf(game), 500, runs=20).fairness_regret[:, -1].mean() < 100)
    True
    """
    table, groups = flat(game.distributions), len(game.distributions)
    return ContextPolicy("oracle CDF", oracle_cdf_rule, ridge=ridge, groups=groups, table=table)


@rule
def oracle_rewards_rule(parameter, now, past, longest: Number, rng, p):
    """Choose the highest rank that the true reward has among all past candidates of its group."""
    ranks_in_groups(parameter, now, past, 0, now.t - 1, longest, p)
    rank_unseen(p, 1.0, rng)
    any_of_the_best(p)


@checked
def oracle_rewards(game: RankBandit) -> ContextPolicy:
    """Fair-Greedy (Oracle rewards): knows the true parameter; estimates distributions from all past candidates.

    A candidate whose group has not been seen has a random rank, as in `fair_greedy_v2`.

    Parameters
    ----------
    game : RankBandit
        The game that it knows.

    Returns
    -------
    ContextPolicy
        The policy.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, oracle_rewards(game), 500, runs=20).fairness_regret[:, -1].mean() < 20)
    True
    """
    mu = game.parameter
    return ContextPolicy("oracle rewards", oracle_rewards_rule, dimension=mu.size, parameter=mu)
