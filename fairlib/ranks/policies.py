"""Fair-Greedy in three forms, and the policies that it is compared with."""

import math
from typing import Any

import numpy as np
from numba import njit

from fairlib import checks
from fairlib.compilation import helper
from fairlib.contexts import ContextPolicy, Past, absorb, dot
from fairlib.linear import any_of_the_best
from fairlib.policy import play_largest
from fairlib.ranks.distributions import rank
from fairlib.ranks.game import RankBandit, _told

# Fair-Greedy (Sections 4 and 7) --------------------------------------------------------------------------------------


# Rounding may differ with how the sum is split up; what is decided from it does not, see `count_at_most`.
@njit(error_model="numpy", nogil=True, fastmath={"reassoc", "contract"})
def quick_dot(x: Any, y: Any) -> float:
    """Return the inner product of two vectors, summed in whatever order is fastest.

    Parameters
    ----------
    x, y : ndarray, shape (d,)
        The vectors.

    Returns
    -------
    float
        The inner product, up to rounding.

    Examples
    --------
    >>> quick_dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@helper
def compare_with(estimate: Any, contexts: Any, longest: Any, reward: Any, low: Any, high: Any) -> None:
    """Find the estimated rewards of this round, and how far around them `quick_dot` can't be trusted.

    Parameters
    ----------
    estimate : ndarray, shape (d,)
        The estimated parameter.
    contexts : ndarray, shape (K, d)
        The contexts of this round.
    longest : ndarray, shape (1,)
        The largest square of a context's length so far; updated.
    reward, low, high : ndarray, shape (K,)
        Receive the estimated rewards, and these less and plus what the quick product of a past context can be off.

    Examples
    --------
    >>> reward, low, high = np.empty((3, 1))
    >>> compare_with(np.array([2.0]), np.array([[3.0]]), np.zeros(1), reward, low, high)
    >>> reward, high - low < 1e-13
    (array([6.]), array([ True]))
    """
    for a in range(reward.size):
        reward[a] = dot(estimate, contexts[a])
        longest[0] = max(longest[0], dot(contexts[a], contexts[a]))
    off = 1e-15 * estimate.size * (dot(estimate, estimate) * longest[0]) ** 0.5
    for a in range(reward.size):
        low[a], high[a] = reward[a] - off, reward[a] + off


@helper
def count_at_most(estimate: Any, contexts: Any, past: Any, start: int, end: int, longest: Any, counts: Any) -> None:
    """Count, arm by arm, the past contexts with an estimated reward of at most the present one's.

    This is where all the time goes, so the products are quick ones. What those can be off is known; where it matters,
    `dot` decides. So every machine, and the same rule interpreted, comes to the same counts.

    Parameters
    ----------
    estimate : ndarray, shape (d,)
        The estimated parameter.
    contexts : ndarray, shape (K, d)
        The contexts of this round.
    past : ndarray, shape (T, K, d)
        The past contexts.
    start, end : int
        The first row of them that counts, and the first after it that doesn't.
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
    compare_with(estimate, contexts, longest, reward, low, high)
    for a in range(k):
        counts[a] = 0.0
    for s in range(start, end):
        unsure = 0.0
        for a in range(k):  # without a branch, which the processor would guess wrong every other time
            value[a] = quick_dot(estimate, past[s, a])
            below = 1.0 if value[a] < low[a] else 0.0
            counts[a] += below
            unsure += (1.0 if value[a] <= high[a] else 0.0) - below
        if unsure > 0.0:
            for a in range(k):
                if low[a] <= value[a] <= high[a] and dot(estimate, past[s, a]) <= reward[a]:
                    counts[a] += 1.0


@helper
def count_in_group(value: Any, group_of: Any, group: int, low: float, high: float) -> Any:
    """Count the numbers of a group: all of them, those below `low`, and those from `low` to `high`.

    Parameters
    ----------
    value : ndarray, shape (n,)
        The numbers.
    group_of : ndarray of int, shape (n,)
        The group of each.
    group : int
        The group.
    low, high : float
        The ends.

    Returns
    -------
    tuple of int
        The counts.

    Examples
    --------
    >>> count_in_group(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 1, 1, 1]), 1, 3.0, 3.5)
    (3, 1, 1)
    """
    seen, below, within = 0, 0, 0
    for i in range(value.size):  # without a branch, so that the processor takes several at once
        mine = 1 if group_of[i] == group else 0
        under = mine if value[i] < low else 0
        seen += mine
        below += under
        within += (mine if value[i] <= high else 0) - under
    return seen, below, within


@helper
def ranks_in_groups(
    estimate: Any, contexts: Any, groups: Any, past: Past, start: int, end: int, longest: Any, ranks: Any
) -> None:
    """Estimate the rank of each candidate among all past candidates of the same group; 1/2 if there were none.

    Parameters
    ----------
    estimate : ndarray, shape (d,)
        The estimated parameter.
    contexts : ndarray, shape (K, d)
        The contexts of this round.
    groups : ndarray of int, shape (K,)
        The groups of this round.
    past : Past
        The rounds so far.
    start, end : int
        The first row of them that counts, and the first after it that doesn't.
    longest : ndarray, shape (1,)
        The largest square of a context's length so far; updated.
    ranks : ndarray, shape (K,)
        Receives the ranks.

    Examples
    --------
    >>> contexts, groups = np.array([[[1.0], [4.0]], [[2.0], [3.0]]]), np.array([[0, 0], [0, 1]])
    >>> past, ranks = Past(contexts, groups, np.zeros(2, int), np.zeros(2)), np.empty(3)
    >>> now = np.array([[3.0], [3.0], [3.0]]), np.array([0, 1, 2])
    >>> ranks_in_groups(np.array([2.0]), *now, past, 0, 2, np.zeros(1), ranks)
    >>> ranks.round(3)
    array([0.667, 1.   , 0.5  ])
    """
    k, d = contexts.shape
    reward, low, high = np.empty(k), np.empty(k), np.empty(k)
    compare_with(estimate, contexts, longest, reward, low, high)
    rows, group_of = past.contexts[start:end].reshape(-1, d), past.groups[start:end].reshape(-1)
    n = group_of.size
    value = np.empty(n)
    for i in range(n):
        value[i] = quick_dot(estimate, rows[i])
    for a in range(k):
        seen, below, unsure = count_in_group(value, group_of, groups[a], low[a], high[a])
        if unsure > 0:
            wide = high[a] - low[a]
            for i in range(n):
                if abs(value[i] - reward[a]) <= wide:  # hardly ever, which the processor learns to guess
                    inside = group_of[i] == groups[a] and low[a] <= value[i] <= high[a]
                    below += 1 if inside and dot(estimate, rows[i]) <= reward[a] else 0
        ranks[a] = below / seen if seen > 0 else 0.5


@helper
def first_half_estimate(ridge: float, noise: float, state: Any, t: int, d: int, past: Past, rng: Any) -> Any:
    r"""Return the estimate of Fair-Greedy in round t (lines 4 and 5).

    It comes from the first :math:`\tilde t = \lfloor (t-1)/2 \rfloor` rounds.

    Parameters
    ----------
    ridge : float
        The regulariser :math:`\lambda`.
    noise : float
        The magnitude :math:`\rho` of the noise.
    state : ndarray, shape (2 d + d^2 or more,)
        The ridge regression, its mean and its root, and then the estimate.
    t : int
        The round.
    d : int
        Length of a context.
    past : Past
        The rounds so far.
    rng : numpy.random.Generator
        Where the noise comes from.

    Returns
    -------
    ndarray, shape (d,)
        The estimate, a part of `state`.

    Examples
    --------
    >>> past = Past(np.ones((1, 1, 1)), np.zeros((1, 1), int), np.zeros(1, int), np.array([3.0]))
    >>> state = np.zeros(3)
    >>> for t in (1, 2, 3):
    ...     estimate = first_half_estimate(1.0, 0.0, state, t, 1, past, np.random.default_rng(0))
    >>> estimate
    array([1.5])
    """
    mean, root = state[:d], state[d : d + d * d].reshape(d, d)
    estimate = state[d + d * d : 2 * d + d * d]
    if t == 1:
        for i in range(d):
            root[i, i] = 1.0 / ridge**0.5
    half = (t - 1) // 2
    if t % 2 == 1 and half > 0:  # the half has grown by one round
        absorb(mean, root, past.contexts[half - 1, past.played[half - 1]], past.rewards[half - 1])
        scale = noise / (d * half**0.5)
        for i in range(d):
            estimate[i] = mean[i] + scale * rng.standard_normal()
    return estimate


def fair_greedy_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Choose the highest estimated rank within an arm's own past (Algorithm 1)."""
    k, d = contexts.shape
    estimate = first_half_estimate(params[0], params[1], state, t, d, past, rng)  # lines 4 and 5
    start, end = (t - 1) // 2, t - 1  # line 6: the rounds of the second half
    count_at_most(estimate, contexts, past.contexts, start, end, state[state.size - 1 :], p)
    for a in range(k):
        p[a] /= max(end - start, 1)
    if params[2] > 0.0:
        play_largest(p)
    else:
        any_of_the_best(p)  # line 7


def fair_greedy(dimension: int, ridge: float = 0.1, noise: float = 1e-3, ties: str = "any") -> ContextPolicy:
    r"""Fair-Greedy (Algorithm 1), for games in which arm a always has a candidate of group a.

    The first half of the rounds gives an estimate of :math:`\mu^\star` by ridge regression, the second half, under this
    estimate, each group's distribution; then it is the candidate with the highest estimated rank. It costs one product
    of a matrix with a vector a round, and the memory of all contexts (Remark 4.2).

    Parameters
    ----------
    dimension : int
        Length d of a context.
    ridge : float
        The regulariser :math:`\lambda`, above 0; 0.1 in the paper's experiments.
    noise : float
        The magnitude :math:`\rho` of the noise that is added to the estimate, in (0, 1]. It only has to break ties.
    ties : str
        ``"any"`` of the candidates with the highest estimated rank, as in the paper, or the ``"first"``, as in its
        public code, which breaks Lemma 4.1.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or `ties` is something else.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> result = fl.simulate(section_6(), fair_greedy(17), 500, runs=20)
    >>> bool(result.fair_regret[:, -1].mean() < 30)
    True
    """
    params = _fair_greedy_params(ridge, noise)
    if ties not in ("any", "first"):
        raise ValueError(f"ties must be 'any' or 'first', not {ties!r}")
    d = checks.whole("dimension", dimension, 1)
    params.append(float(ties == "first"))
    return ContextPolicy("Fair-Greedy", fair_greedy_rule, params, history=True, memory=d * d + 2 * d + 1, dimension=d)


def _fair_greedy_params(ridge: float, noise: float) -> list[float]:
    return [checks.real("ridge", ridge, above=0), checks.real("noise", noise, 0, 1, above=0)]


def fair_greedy_v2_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Choose the highest estimated rank within all past candidates of the same group (Algorithm 2)."""
    d = contexts.shape[1]
    estimate = first_half_estimate(params[0], params[1], state, t, d, past, rng)  # lines 4 and 5
    start, end = (t - 1) // 2, t - 1  # line 6: the rounds of the second half
    ranks_in_groups(estimate, contexts, groups, past, start, end, state[state.size - 1 :], p)
    any_of_the_best(p)  # line 7


def fair_greedy_v2(dimension: int, ridge: float = 0.1, noise: float = 1e-3) -> ContextPolicy:
    r"""Fair-Greedy V2 (Algorithm 2), for games in which the candidates' groups are random.

    As `fair_greedy`, but each group's distribution comes from all candidates of the group, wherever they stood, so that
    there may be any number of them in a round. If a group has not been seen in the second half, the paper's box divides
    by 0; this policy then takes the rank to be 1/2, the mean of a rank. Where arm a always
    has group a, it is Fair-Greedy.

    Parameters
    ----------
    dimension : int
        Length d of a context.
    ridge : float
        The regulariser :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho` of the noise that is added to the estimate, in (0, 1].

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
    >>> from fairlib.ranks import mixed_groups
    >>> game = mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10)
    >>> bool(fl.simulate(game, fair_greedy_v2(3), 500, runs=20).fair_regret[:, -1].mean() < 40)
    True
    """
    d = checks.whole("dimension", dimension, 1)
    params = _fair_greedy_params(ridge, noise)
    return ContextPolicy(
        "Fair-Greedy V2", fair_greedy_v2_rule, params, history=True, memory=d * d + 2 * d + 1, dimension=d
    )


def fair_greedy_rarely_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Choose as Fair-Greedy V2, with estimates that are kept until the data have grown by a factor."""
    k, d = contexts.shape
    growth, number, horizon = params[2], int(params[3]), int(params[4])
    own = 2 * d + d * d
    clock = state[own : own + 2]  # the next round to refresh in, and how many rounds the regression has seen
    ends = state[own + 2 : own + 3 + number]  # where each group's values end; the first is where they begin, 0
    values = state[own + 3 + number :]
    mean, root, estimate = state[:d], state[d : d + d * d].reshape(d, d), state[d + d * d : own]
    if t == 1:
        clock[0] = 3.0
        for i in range(d):
            root[i, i] = 1.0 / params[0] ** 0.5
    if clock[0] <= t <= horizon:
        clock[0] = max(t + 1.0, math.ceil(growth * t))
        half = (t - 1) // 2
        for s in range(int(clock[1]), half):
            absorb(mean, root, past.contexts[s, past.played[s]], past.rewards[s])
        clock[1] = half
        for i in range(d):
            estimate[i] = mean[i] + params[1] / (d * half**0.5) * rng.standard_normal()
        at = 0
        for group in range(number):
            for s in range(half, t - 1):
                for b in range(k):
                    if past.groups[s, b] == group:
                        values[at] = dot(estimate, past.contexts[s, b])
                        at += 1
            values[int(ends[group]) : at].sort()
            ends[group + 1] = at
    for a in range(k):
        start, end = int(ends[groups[a]]), int(ends[groups[a] + 1])
        p[a] = (
            np.searchsorted(values[start:end], dot(estimate, contexts[a]), "right") / (end - start)
            if end > start
            else 0.5
        )
    any_of_the_best(p)


def fair_greedy_rarely(
    dimension: int,
    arms: int,
    groups: int,
    horizon: int,
    growth: float = 1.2,
    ridge: float = 0.1,
    noise: float = 1e-3,
) -> ContextPolicy:
    r"""Fair-Greedy with an estimate that is refreshed only when the data have grown: **ours**, not the paper's.

    A refresh in round t does what lines 4 to 6 of Algorithm 2 do, and sorts each group's estimated rewards. They then
    serve until round ``growth * t``, and a rank is found by halving. So the number of refreshes grows like the
    logarithm of T, and the work like T instead of its square.

    Parameters
    ----------
    dimension : int
        Length d of a context.
    arms : int
        Number K of candidates in a round.
    groups : int
        Number G of groups.
    horizon : int
        The number of rounds that there is memory for. Later rounds keep the last estimate.
    growth : float
        The factor, above 1.
    ridge : float
        The regulariser :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho` of the noise that is added to the estimate, in (0, 1].

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
    >>> from fairlib.ranks import section_6
    >>> result = fl.simulate(section_6(), fair_greedy_rarely(17, 4, 4, horizon=500), 500, runs=20)
    >>> bool(result.fair_regret[:, -1].mean() < 35)
    True
    """
    d, k = checks.whole("dimension", dimension, 1), checks.whole("arms", arms, 2)
    g, rounds = checks.whole("groups", groups, 1), checks.whole("horizon", horizon, 3)
    params = [*_fair_greedy_params(ridge, noise), checks.real("growth", growth, above=1), g, rounds]
    memory = 2 * d + d * d + 3 + g + k * (rounds // 2 + 1)
    return ContextPolicy(
        "Fair-Greedy, rarely", fair_greedy_rarely_rule, params, history=True, memory=memory, dimension=d
    )


# Policies to compare with (appendices D.2 and E.1) -------------------------------------------------------------------


def gmf_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Choose the highest true rank."""
    k, d = contexts.shape
    for a in range(k):
        p[a] = rank(params[d:], groups[a], dot(params[:d], contexts[a]))
    any_of_the_best(p)


def gmf(game: RankBandit) -> ContextPolicy:
    """Choose the highest true rank: group meritocratic fair (Definitions 3.1 and E.1), and told all there is to know.

    Parameters
    ----------
    game : RankBandit
        The game that it is told of.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError
        If `game` is not a `RankBandit`.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, gmf(game), 100).fair_regret[0, -1] < 1e-9)
    True
    """
    mu = _told(game)
    return ContextPolicy("GMF", gmf_rule, np.concatenate([mu, game.truth]), dimension=mu.size)


def reward_optimal_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Choose the largest expected reward."""
    for a in range(p.size):
        p[a] = dot(params, contexts[a])
    any_of_the_best(p)


def reward_optimal(game: RankBandit) -> ContextPolicy:
    """Choose the largest expected reward, whatever the group, being told the true parameter.

    Parameters
    ----------
    game : RankBandit
        The game that it is told of.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError
        If `game` is not a `RankBandit`.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, reward_optimal(game), 100).regret[0, -1] < 1e-9)
    True
    """
    mu = _told(game)
    return ContextPolicy("reward-optimal", reward_optimal_rule, mu, dimension=mu.size)


def oracle_cdf_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Choose the highest rank that the estimated reward has in the true distribution."""
    for a in range(p.size):
        p[a] = rank(params, groups[a], dot(ridge.mean, contexts[a]))
    any_of_the_best(p)


def oracle_cdf(game: RankBandit, ridge: float = 0.1) -> ContextPolicy:
    r"""Fair-Greedy (Oracle CDF): told the groups' distributions; estimates rewards by ridge regression on all rounds.

    Parameters
    ----------
    game : RankBandit
        The game that it is told of.
    ridge : float
        The regulariser :math:`\lambda`, above 0.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If `game` is not a `RankBandit`, or `ridge` is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, oracle_cdf(game), 500, runs=20).fair_regret[:, -1].mean() < 100)
    True
    """
    _told(game)
    return ContextPolicy("oracle CDF", oracle_cdf_rule, game.truth, ridge=checks.real("ridge", ridge, above=0))


def oracle_rewards_rule(params, state, t, contexts, groups, ridge, past, rng, p):
    """Choose the highest rank that the true reward has among all past candidates of its group."""
    ranks_in_groups(params, contexts, groups, past, 0, t - 1, state, p)
    any_of_the_best(p)


def oracle_rewards(game: RankBandit) -> ContextPolicy:
    """Fair-Greedy (Oracle rewards): told the true parameter; estimates distributions from all past candidates.

    Parameters
    ----------
    game : RankBandit
        The game that it is told of.

    Returns
    -------
    ContextPolicy
        The policy.

    Raises
    ------
    TypeError
        If `game` is not a `RankBandit`.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.ranks import section_6
    >>> game = section_6()
    >>> bool(fl.simulate(game, oracle_rewards(game), 500, runs=20).fair_regret[:, -1].mean() < 20)
    True
    """
    mu = _told(game)
    return ContextPolicy("oracle rewards", oracle_rewards_rule, mu, history=True, memory=1, dimension=mu.size)
