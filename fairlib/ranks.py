"""The best of their own group: relative ranks, group meritocratic fairness and Fair-Greedy (Grazzi et al., 2022)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.compilation import compiled, helper
from fairlib.contexts import CONTEXT_RULE, ROUND, ContextBandit, ContextPolicy, Past, Ridge, World, absorb, dot
from fairlib.linear import any_of_the_best
from fairlib.policy import play_largest
from fairlib.result import Result

# Distributions of rewards --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RewardDistribution:
    r"""The distribution of a group's expected rewards, as a cumulative distribution function made of polynomials.

    Below the first break F is 0; from break i to the next it is :math:`\sum_j c_{ij} (r - b_i)^j`; from the last one
    on it is 1. Made by `uniform_sum` or `empirical`.

    Parameters
    ----------
    breaks : ndarray, shape (m,)
        The breaks :math:`b_i`, increasing.
    coefficients : ndarray, shape (m, degree + 1)
        The coefficients :math:`c_{ij}`; the last row is 1, 0, 0, ...

    Examples
    --------
    >>> law = uniform_sum([1, 1])
    >>> law.cdf([0.5, 1.0, 3.0])
    array([0.125, 0.5  , 1.   ])
    """

    breaks: NDArray[np.float64]
    coefficients: NDArray[np.float64]

    def cdf(self, rewards: ArrayLike) -> NDArray[np.float64]:
        r"""Return :math:`F(r)`, the relative rank of a candidate with reward r (Section 3).

        Parameters
        ----------
        rewards : array_like
            The rewards.

        Returns
        -------
        ndarray, shape of `rewards`
            The ranks, in [0, 1].

        Examples
        --------
        >>> empirical([3.0, 1.0, 2.0, 2.0]).cdf([0.9, 2.0, 2.5])
        array([0.  , 0.75, 0.75])
        """
        return np.clip(self._polynomials(np.asarray(rewards, dtype=np.float64), self.coefficients), 0.0, 1.0)

    def density(self, rewards: ArrayLike) -> NDArray[np.float64]:
        """Return the density, the derivative of the distribution function; an empirical distribution has none.

        Parameters
        ----------
        rewards : array_like
            The rewards.

        Returns
        -------
        ndarray, shape of `rewards`
            The density.

        Raises
        ------
        ValueError
            If the distribution jumps, as an empirical one does.

        Examples
        --------
        >>> uniform_sum([1, 1]).density([0.5, 1.0])
        array([0.5, 1. ])
        """
        return self._polynomials(np.asarray(rewards, dtype=np.float64), self._slopes)

    @cached_property
    def largest_density(self) -> float:
        """The largest value M of the density, which is also the Lipschitz constant of F (Lemma 5.1).

        Examples
        --------
        >>> uniform_sum([5, 5]).largest_density, uniform_sum([2, 2, 2, 2]).largest_density
        (0.2, 0.3333333333333333)
        """
        slopes = self._slopes
        points = [self.breaks]
        for start, end, row in zip(self.breaks[:-1], self.breaks[1:], slopes[:-1], strict=True):
            turns = np.roots((row * np.arange(row.size))[:0:-1]) if row.size > 1 else np.zeros(0)
            turns = np.real(turns[np.isreal(turns)])
            points.append(start + turns[(turns > 0) & (turns < end - start)])
        return float(self._polynomials(np.concatenate(points), slopes).max())

    def quantile(self, ranks: ArrayLike) -> NDArray[np.float64]:
        r"""Return the smallest reward whose rank is at least the given one, :math:`\inf\{r : F(r) \ge u\}`.

        Parameters
        ----------
        ranks : array_like
            The ranks, above 0 and at most 1.

        Returns
        -------
        ndarray, shape of `ranks`
            The rewards.

        Raises
        ------
        TypeError, ValueError
            If a rank is not in (0, 1].

        Examples
        --------
        >>> uniform_sum([1, 1]).quantile([0.125, 0.5, 0.875]).round(12)
        array([0.5, 1. , 1.5])
        >>> empirical([3.0, 1.0, 2.0, 2.0]).quantile([0.25, 0.26, 0.76])
        array([1., 2., 3.])
        """
        u = np.asarray(ranks, dtype=np.float64)
        if not ((u > 0) & (u <= 1)).all():
            raise ValueError(f"ranks must be numbers above 0 and at most 1, not {ranks!r}")
        at = np.searchsorted(self.coefficients[:, 0], u)  # the first break whose rank is at least u
        high = self.breaks[at]
        low = self.breaks[np.maximum(at - 1, 0)]
        if self.coefficients.shape[1] > 1:  # within a piece F grows: halve it until rounding stops us
            for _ in range(60):
                middle = (low + high) / 2
                enough = self.cdf(middle) >= u
                low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return high

    @property
    def _slopes(self) -> NDArray[np.float64]:
        degree = self.coefficients.shape[1] - 1
        if degree == 0:
            raise ValueError("a distribution with jumps, such as an empirical one, has no density")
        return self.coefficients[:, 1:] * np.arange(1, degree + 1)

    def _polynomials(self, r: NDArray[np.float64], coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        piece = np.searchsorted(self.breaks, r, side="right") - 1
        rows, local = coefficients[piece], r - self.breaks[piece]
        value = rows[..., -1]
        for j in range(coefficients.shape[1] - 2, -1, -1):
            value = value * local + rows[..., j]
        return np.where(piece < 0, 0.0, value)


def uniform_sum(weights: ArrayLike, shift: float = 0.0) -> RewardDistribution:
    r"""Return the exact distribution of :math:`\text{shift} + \sum_i w_i U_i` with independent uniform :math:`U_i`.

    For weights above 0 it is

    .. math:: F(r) = \frac{1}{n! \prod_i w_i} \sum_{S \subseteq [n]} (-1)^{|S|}
        \Big(r - \text{shift} - \sum_{i \in S} w_i\Big)_+^n .

    Summed as it stands, this cancels; so each polynomial is expanded around its own break in exact fractions, and only
    the result is rounded. A negative weight is one above 0 with another shift, as U and 1 - U are alike.

    Parameters
    ----------
    weights : array_like, shape (n,)
        The weights; those that are 0 are left out, and at most eight may remain.
    shift : float
        What is added.

    Returns
    -------
    RewardDistribution
        The distribution.

    Raises
    ------
    TypeError, ValueError
        If a number is not finite, all weights are 0, so that there is no density (assumption A(iv)), or there are too
        many.

    Notes
    -----
    Weighted Irwin-Hall distributions, used in section 6 and appendix D.1.

    Examples
    --------
    >>> uniform_sum([4, 3, 7, 0]).cdf(7.0)
    np.float64(0.5)
    >>> uniform_sum([-2.0], shift=1.0).cdf([-0.5, 1.0])
    array([0.25, 1.  ])
    """
    given = checks.vector("weights", weights)
    start = Fraction(checks.real("shift", shift)) + sum((Fraction(w) for w in given if w < 0), Fraction(0))
    w = [abs(Fraction(v)) for v in given if v != 0]
    n = len(w)
    if not 1 <= n <= 8:
        raise ValueError(f"weights must have from 1 to 8 numbers other than 0, not {n}")
    subsets = list(chain.from_iterable(combinations(w, size) for size in range(n + 1)))
    corners = [(sum(s, Fraction(0)), (-1) ** len(s)) for s in subsets]
    scale = math.factorial(n) * math.prod(w)
    breaks = sorted({corner for corner, _ in corners})
    rows = [
        [
            float(sum(sign * (b - c) ** (n - j) for c, sign in corners if c <= b) * math.comb(n, j) / scale)
            for j in range(n + 1)
        ]
        for b in breaks
    ]
    return RewardDistribution(np.array([float(start + b) for b in breaks]), np.array(rows))


def empirical(rewards: ArrayLike) -> RewardDistribution:
    """Return the distribution of a sample: the rank of r is the share of the sample that is at most r.

    Parameters
    ----------
    rewards : array_like, shape (n,)
        The sample.

    Returns
    -------
    RewardDistribution
        The distribution.

    Raises
    ------
    TypeError, ValueError
        If it is not a list of finite numbers.

    Examples
    --------
    >>> empirical([3.0, 1.0, 2.0, 2.0]).breaks
    array([1., 2., 3.])
    """
    values, counts = np.unique(checks.vector("rewards", rewards), return_counts=True)
    shares = np.cumsum(counts) / counts.sum()
    shares[-1] = 1.0
    return RewardDistribution(values, shares[:, None])


def flat(distributions: Sequence[RewardDistribution]) -> NDArray[np.float64]:
    """Write distributions one after the other into one list of numbers, for `rank`.

    Parameters
    ----------
    distributions : sequence of RewardDistribution
        One for each group.

    Returns
    -------
    ndarray, shape (n,)
        The number G of groups; where each group's part begins; and the parts, each the number of breaks, the degree,
        the breaks and the coefficients.

    Raises
    ------
    TypeError, ValueError
        If it is empty, or something in it is not a `RewardDistribution`.

    Examples
    --------
    >>> flat([empirical([2.0, 4.0])])
    array([1. , 2. , 2. , 0. , 2. , 4. , 0.5, 1. ])
    """
    parts = []
    for law in distributions:
        if not isinstance(law, RewardDistribution):
            raise TypeError(
                f"distributions must be RewardDistributions, such as uniform_sum([1, 1]), one a group, not {law!r}"
            )
        m, columns = law.coefficients.shape
        parts.append(np.concatenate([[m, columns - 1], law.breaks, law.coefficients.ravel()]))
    if not parts:
        raise ValueError("distributions must have at least one RewardDistribution, one a group, not none")
    starts = 1 + len(parts) + np.cumsum([0, *(part.size for part in parts[:-1])])
    return np.concatenate([[len(parts)], starts, *parts])


@helper
def rank(table: Any, group: int, reward: float) -> float:
    """Return the relative rank of a reward within a group.

    Parameters
    ----------
    table : ndarray
        The groups' distributions, as `flat` writes them.
    group : int
        The group, from 0.
    reward : float
        The expected reward.

    Returns
    -------
    float
        The rank, in [0, 1].

    Examples
    --------
    >>> rank(flat([empirical([2.0, 4.0]), uniform_sum([4.0])]), 1, 3.0)
    0.75
    """
    at = int(table[1 + group])
    m, degree, first = int(table[at]), int(table[at + 1]), at + 2
    if reward < table[first]:
        return 0.0
    low, high = 0, m  # the piece: the last break that is at most the reward
    while high - low > 1:
        middle = (low + high) // 2
        if table[first + middle] <= reward:
            low = middle
        else:
            high = middle
    local = reward - table[first + low]
    end = first + m + (low + 1) * (degree + 1) - 1
    value = table[end]
    for j in range(1, degree + 1):
        value = value * local + table[end - j]
    return min(max(value, 0.0), 1.0)


# The game (Section 3) ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RankResult(Result):
    r"""What happened, with the fair pseudo-regret and the groups.

    Parameters
    ----------
    fair_regret : ndarray, shape (runs, R)
        Fair pseudo-regret so far, the sum of best rank less rank of the candidate chosen, from 0 (group meritocratic
        fair so far) to the number of rounds. The `regret` is the standard one, of expected rewards.
    received : ndarray, shape (runs, R, G)
        How many candidates of each group there have been.
    chosen : ndarray, shape (runs, R, G)
        How many of them were chosen.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.linear import at_random
    >>> fl.simulate(section_6(), at_random(), 10).fair_regret.shape
    (1, 10)
    """

    fair_regret: NDArray[np.float64] = field(kw_only=True)
    received: NDArray[np.float64] = field(kw_only=True)
    chosen: NDArray[np.float64] = field(kw_only=True)

    @property
    def acceptance(self) -> NDArray[np.float64]:
        """Share of each group's candidates that were chosen, shape (runs, R, G); nan while a group has had none.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.linear import at_random
        >>> fl.simulate(section_6(), at_random(), 1000).acceptance[0, -1].sum().round(12)
        np.float64(1.0)
        """
        with np.errstate(invalid="ignore"):
            return self.chosen / self.received


@dataclass(frozen=True, eq=False)
class RankBandit(ContextBandit):
    r"""A game in which the best candidate is the one who stands highest within their own group (Section 3).

    Parameters
    ----------
    parameter : array_like, shape (d,)
        The true parameter :math:`\mu^\star`, for policies that are told it.
    distributions : sequence of RewardDistribution
        Of each group, the distribution of :math:`\mu^\star \cdot x`, by which the ranks are measured.

    Raises
    ------
    TypeError, ValueError
        If `world` is not a `World` with at least two arms, or the parameter or the distributions don't fit it.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.linear import at_random
    >>> result = fl.simulate(section_6(), at_random(), 500, runs=200)
    >>> bool(abs(result.fair_regret[:, -1].mean() - 500 * 3 / 10) < 1.5)
    True
    """

    parameter: ArrayLike = field(kw_only=True)
    distributions: Sequence[RewardDistribution] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.world.arms < 2:
            raise ValueError(f"world must have at least 2 arms, so that there is a choice, not {self.world.arms}")
        mu = checks.array("parameter", self.parameter, 1)
        if mu.size != self.world.dimension:
            raise ValueError(f"parameter must have {self.world.dimension} numbers, as contexts have, not {mu.size}")
        object.__setattr__(self, "parameter", mu)
        object.__setattr__(self, "distributions", tuple(self.distributions))
        flat(self.distributions)
        if len(self.distributions) != self.world.groups:
            raise ValueError(
                f"distributions must be {self.world.groups}, as many as the world has groups, "
                f"not {len(self.distributions)}"
            )

    @cached_property
    def truth(self) -> NDArray[np.float64]:
        """The groups' distributions, as `flat` writes them."""
        return flat(self.distributions)

    @property
    def sums(self) -> int:  # type: ignore[override]
        """Both regrets, and of each group the candidates received and chosen."""
        return 2 + 2 * self.world.groups

    @property
    def tally(self) -> Callable[..., None]:
        """Sum the fair regret (equations 1 and 14), and count."""
        return rank_tally

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> RankResult:
        """Add the fair regret and the counts.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, 2 + 2 G)
            The regret, the fair regret, and of each group the candidates received and chosen.

        Returns
        -------
        RankResult
            The result.

        Examples
        --------
        >>> game = section_6()
        >>> game.result(np.array([1]), np.zeros((1, 1, 4), int), np.zeros((1, 1)), np.ones((1, 1, 10))).fair_regret
        array([[1.]])
        """
        base = super().result(rounds, selected, reward, sums)
        groups = self.world.groups
        return RankResult(
            **vars(base), fair_regret=sums[..., 1], received=sums[..., 2 : 2 + groups], chosen=sums[..., 2 + groups :]
        )


def rank_tally(truth, t, groups, means, p, played, sums):
    """Sum the best rank less that of the candidate played, and count the groups."""
    number = int(truth[0])
    best = 0.0
    for a in range(groups.size):
        best = max(best, rank(truth, groups[a], means[a]))
        sums[2 + groups[a]] += 1.0
    sums[1] += best - rank(truth, groups[played], means[played])
    sums[2 + number + groups[played]] += 1.0


# Worlds (Sections 6 and 7) -------------------------------------------------------------------------------------------


@helper
def candidate(params: Any, group: int, y: Any, x: Any) -> float:
    """Write the context of a candidate of a group of `separate_groups` or `mixed_groups`; return its expected reward.

    Parameters
    ----------
    params : ndarray, shape (1 + G, n + 1)
        First the noise; then, for each group, its bias and its weights.
    group : int
        The group.
    y : ndarray, shape (n,)
        The candidate's own numbers.
    x : ndarray, shape (G n + 1,)
        Receives the context: `y` at the group's place, and the bias last.

    Returns
    -------
    float
        The expected reward.

    Examples
    --------
    >>> x = np.empty(3)
    >>> candidate(np.array([[0.0, 0.0], [1.0, 2.0], [5.0, 3.0]]), 1, np.array([0.5]), x), x
    (6.5, array([0. , 0.5, 5. ]))
    """
    n = y.size
    for i in range(x.size):
        x[i] = 0.0
    x[x.size - 1] = params[1 + group, 0]
    mean = params[1 + group, 0]
    for i in range(n):
        x[group * n + i] = y[i]
        mean += params[1 + group, 1 + i] * y[i]
    return mean


def separate_draw(params, rng, contexts, groups, means, rewards):
    """Draw one candidate from each group; sometimes all have the same numbers."""
    n = params.shape[1] - 1
    y = np.empty(n)
    together = rng.random() < params[0, 1]
    for a in range(groups.size):
        if a == 0 or not together:
            for i in range(n):
                y[i] = rng.random()
        groups[a] = a
        means[a] = candidate(params, a, y, contexts[a])
        rewards[a] = means[a] + params[0, 0] * rng.standard_normal()


def separate_groups(weights: ArrayLike, biases: ArrayLike, sd: float, together: float = 0.0) -> RankBandit:
    r"""Return a game with one candidate from each group; rewards are weighted sums of uniforms (Section 6).

    Group g has weights :math:`w_g` and a bias :math:`b_g`. A candidate is :math:`Y \in [0, 1]^n`, uniform, and brings
    the expected reward :math:`w_g \cdot Y + b_g`. The context has Y in the n coordinates of its group, the bias in the
    last one, and 0 elsewhere; so :math:`\mu^\star = (w_1, \dots, w_G, 1)` and :math:`d = Gn + 1`.

    Parameters
    ----------
    weights : array_like, shape (G, n)
        Weights of each group, with no group all 0.
    biases : array_like, shape (G,)
        Bias of each group.
    sd : float
        Standard deviation of the noise, at least 0.
    together : float
        Probability that the candidates of a round are **not** independent but share one Y, in [0, 1]. The groups'
        distributions stay the same; assumption A(iii) fails unless it is 0.

    Returns
    -------
    RankBandit
        The game, with exact distributions.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or the shapes don't fit.

    Examples
    --------
    >>> separate_groups([[1.0, 2.0], [3.0, 0.0]], [0.0, 1.0], sd=0.1).parameter
    array([1., 2., 3., 0., 1.])
    """
    params, mu, laws = _groups(weights, biases, sd)
    params[0, 1] = checks.real("together", together, 0, 1)
    return RankBandit(World(len(laws), mu.size, separate_draw, params, len(laws)), parameter=mu, distributions=laws)


def section_6(step: float = 16 / 3, sd: float = 2.0, together: float = 0.0) -> RankBandit:
    r"""Return the simulation of section 6 and appendix D.1: four groups, d = 17.

    Parameters
    ----------
    step : float
        The bias of group a = 1, ..., 4 is :math:`\text{step} \cdot (a - 1)`: 16/3 in the public code, 3 in the text.
    sd : float
        Standard deviation of the noise; 2 in the paper.
    together : float
        As in `separate_groups`; 0 in the paper.

    Returns
    -------
    RankBandit
        The game.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> section_6(step=3).parameter
    array([4., 3., 7., 0., 8., 0., 0., 0., 5., 5., 0., 0., 2., 2., 2., 2., 1.])
    """
    weights = [[4, 3, 7, 0], [8, 0, 0, 0], [5, 5, 0, 0], [2, 2, 2, 2]]
    return separate_groups(weights, checks.real("step", step) * np.arange(4), sd, together)


def mixed_draw(params, rng, contexts, groups, means, rewards):
    """Draw each candidate's group, and then the candidate."""
    n = params.shape[1] - 2
    y = np.empty(n)
    for a in range(groups.size):
        u, group = rng.random(), 0
        while u >= params[1 + group, n + 1]:
            group += 1
        for i in range(n):
            y[i] = rng.random()
        groups[a] = group
        means[a] = candidate(params, group, y, contexts[a])
        rewards[a] = means[a] + params[0, 0] * rng.standard_normal()


def mixed_groups(weights: ArrayLike, biases: ArrayLike, sd: float, shares: ArrayLike, arms: int) -> RankBandit:
    r"""Return a pool of candidates whose groups are drawn at random, with rewards as in `separate_groups` (Section 7).

    Parameters
    ----------
    weights : array_like, shape (G, n)
        Weights of each group, with no group all 0.
    biases : array_like, shape (G,)
        Bias of each group.
    sd : float
        Standard deviation of the noise, at least 0.
    shares : array_like, shape (G,)
        Probability that a candidate is of each group, above 0, with sum 1.
    arms : int
        Number K of candidates in a round, at least 2.

    Returns
    -------
    RankBandit
        The game, with exact distributions.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or the shapes don't fit.

    Examples
    --------
    >>> mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10).world.groups
    2
    """
    params, mu, laws = _groups(weights, biases, sd)
    q = checks.vector("shares", shares, 0, 1, above=0)
    if q.size != len(laws) or abs(q.sum() - 1) > 1e-9:
        raise ValueError(f"shares must be {len(laws)} numbers, one a group, with sum 1, not {shares!r}")
    ends = np.append(np.cumsum(q)[:-1], 1.0)
    params = np.column_stack([params, np.concatenate([[0.0], ends])])
    world = World(checks.whole("arms", arms, 2), mu.size, mixed_draw, params, len(laws))
    return RankBandit(world, parameter=mu, distributions=laws)


def _groups(
    weights: ArrayLike, biases: ArrayLike, sd: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], list[RewardDistribution]]:
    """Return what the draws need to know, the parameter, and the distributions."""
    w, bias = checks.array("weights", weights, 2), checks.array("biases", biases, 1)
    if len(w) < 2 or bias.size != len(w):
        raise ValueError(
            f"weights and biases must be of at least 2 groups, as many in each, not {len(w)} and {bias.size}"
        )
    params = np.zeros((1 + len(w), 1 + w.shape[1]))
    params[0, 0] = checks.real("sd", sd, 0)
    params[1:, 0], params[1:, 1:] = bias, w
    return params, np.append(w.ravel(), 1.0), [uniform_sum(row, b) for row, b in zip(w, bias, strict=True)]


def people_draw(params, rng, contexts, groups, means, rewards):
    """Take people at random, one from each group or from all."""
    sd, by_group = params[0, 0], params[0, 1] > 0.0
    for a in range(groups.size):
        start, end = 0, params.shape[0] - 1
        if by_group:
            start, end = int(params[0, 2 + a]), int(params[0, 3 + a])
        row = params[1 + start + int(rng.random() * (end - start))]
        groups[a] = int(row[0])
        means[a] = row[1]
        rewards[a] = row[2] if sd < 0.0 else means[a] + sd * rng.standard_normal()
        for i in range(contexts.shape[1]):
            contexts[a, i] = row[3 + i]


def employer(
    contexts: ArrayLike, groups: ArrayLike, rewards: ArrayLike, arms: int | None = None, sd: float | None = None
) -> RankBandit:
    r"""Return the game of an employer who chooses among people from data (Section 7, appendices D.2 and E.1).

    The true parameter is that of a ridge regression of `rewards` on `contexts`, with regulariser :math:`10^{-8}`; a
    person's expected reward is what it predicts, and the groups' distributions are those of these predictions.

    Parameters
    ----------
    contexts : array_like, shape (n, d)
        What is known of each person, as `fairlib.data.standardised` makes it.
    groups : array_like of int, shape (n,)
        Each person's group, from 0; there must be somebody in each up to the largest.
    rewards : array_like, shape (n,)
        What each person is worth.
    arms : int, optional
        Number of candidates in a round, at least 2, drawn from all people alike. By default there is one candidate
        from each group.
    sd : float, optional
        Standard deviation of a noise that is added to the expected reward. By default the noisy reward is the person's
        own, as in appendix D.2.

    Returns
    -------
    RankBandit
        The game. People are drawn with replacement.

    Raises
    ------
    TypeError, ValueError
        If the arguments are not as they must be, or their lengths differ.

    Examples
    --------
    >>> from fairlib.data import standardised, twoyear
    >>> people = twoyear()
    >>> employer(standardised(people.features), people.groups, people.rewards, arms=10, sd=0.2).world.groups
    6
    """
    x, y = checks.array("contexts", contexts, 2), checks.array("rewards", rewards, 1)
    g = np.array(groups, dtype=object)  # a ragged list too, to be refused here
    if g.ndim != 1 or not all(isinstance(i, int | np.integer) for i in g):
        raise TypeError(f"groups must be whole numbers from 0, one a person, not {groups!r}")
    g = g.astype(np.int64)
    if not (g.shape == y.shape == (len(x),)):
        raise ValueError(
            f"groups and rewards must have {len(x)} numbers, as contexts has rows, not shapes {g.shape} and {y.shape}"
        )
    counts = np.bincount(g) if g.min() >= 0 else np.zeros(1)
    if counts.size < 2 or not counts.all():
        raise ValueError(f"groups must run from 0 to at least 1, with somebody in each, not {np.unique(g).tolist()}")
    mu = np.linalg.solve(x.T @ x + 1e-8 * np.eye(x.shape[1]), x.T @ y)
    # The same product as in the policies' rules: another would round differently, and a person's own reward may lie
    # a hair below the step that the group's distribution makes there.
    means, order = np.array([dot(mu, row) for row in x]), np.argsort(g, kind="stable")
    params = np.zeros((1 + len(x), max(3 + x.shape[1], 3 + counts.size)))
    params[0, 0] = -1.0 if sd is None else checks.real("sd", sd, 0)
    params[0, 1] = arms is None
    params[0, 2 : 3 + counts.size] = np.concatenate([[0], np.cumsum(counts)])
    params[1:, :3] = np.column_stack([g, means, y])[order]
    params[1:, 3 : 3 + x.shape[1]] = x[order]
    number = counts.size if arms is None else checks.whole("arms", arms, 2)
    world = World(number, x.shape[1], people_draw, params, counts.size)
    return RankBandit(world, parameter=mu, distributions=[empirical(means[g == i]) for i in range(counts.size)])


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
    >>> game = section_6()
    >>> bool(fl.simulate(game, reward_optimal(game), 100).regret[0, -1] < 1e-9)
    True
    """
    mu = _told(game)
    return ContextPolicy("reward-optimal", reward_optimal_rule, mu, dimension=mu.size)


def _told(game: RankBandit) -> NDArray[np.float64]:
    if not isinstance(game, RankBandit):
        raise TypeError(f"game must be a RankBandit, such as section_6(), not {game!r}")
    return np.asarray(game.parameter)


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
    >>> game = section_6()
    >>> bool(fl.simulate(game, oracle_rewards(game), 500, runs=20).fair_regret[:, -1].mean() < 20)
    True
    """
    mu = _told(game)
    return ContextPolicy("oracle rewards", oracle_rewards_rule, mu, history=True, memory=1, dimension=mu.size)


# Demographic parity, measured (Sections 3 and 4) ---------------------------------------------------------------------


def acceptance_given_past(
    game: RankBandit, policy: ContextPolicy, t: int, pasts: int, draws: int, seed: int
) -> NDArray[np.float64]:
    r"""Measure each group's chance of being chosen in round t, past by past.

    In the notion of Proposition 3.1 (history-agnostic parity) the chances must be alike whatever the past; in that of
    Lemma 4.1 (information-averaged parity) only on average over pasts, as `RankResult.acceptance` measures it over
    runs. So the rows of what is returned show the one, and their mean the other.

    Parameters
    ----------
    game : RankBandit
        The game.
    policy : ContextPolicy
        The policy; one that asks for the engine's ridge regression gets it.
    t : int
        The round, at least 1.
    pasts : int
        How many times the rounds before are played, at least 1.
    draws : int
        How many times round t is then drawn, at least 1.
    seed : int
        Where chance comes from, at least 0.

    Returns
    -------
    ndarray, shape (pasts, G)
        Of each past, the probabilities of the group's candidates in round t, over how many there were. With one
        candidate a group that is :math:`\mathbb P(a_t = a \mid \mathcal H^-_{t-1})`. nan if there were none.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> game = section_6()
    >>> chances = acceptance_given_past(game, gmf(game), t=5, pasts=1, draws=4000, seed=0)
    >>> bool(np.abs(chances - 1 / 4).max() < 0.03)
    True
    """
    mu = _told(game)
    if not isinstance(policy, ContextPolicy):
        raise TypeError(f"policy must be a ContextPolicy, such as fair_greedy({mu.size}), not {policy!r}")
    last, runs, number = checks.whole("t", t, 1), checks.whole("pasts", pasts, 1), checks.whole("draws", draws, 1)
    rule, draw = compiled(policy.rule, CONTEXT_RULE), compiled(game.world.draw, ROUND)
    params, table, k, d = np.array(policy.params), np.array(game.world.params), game.world.arms, mu.size
    children = np.random.SeedSequence(checks.whole("seed", seed, 0)).spawn(runs)
    chosen, received = np.zeros((runs, game.world.groups)), np.zeros((runs, game.world.groups))
    x, groups, means, rewards, p = np.zeros((k, d)), np.zeros(k, np.int64), np.zeros(k), np.zeros(k), np.zeros(k)
    for run, child in enumerate(children):
        rng, size = np.random.default_rng(child), d if policy.ridge else 0
        state, ridge = np.zeros(policy.memory), Ridge(np.zeros(size), np.eye(size) / math.sqrt(policy.ridge or 1.0))
        rows = last if policy.history else 0
        past = Past(np.zeros((rows, k, d)), np.zeros((rows, k), np.int64), np.zeros(rows, np.int64), np.zeros(rows))
        for now in range(1, last):
            draw(table, rng, x, groups, means, rewards)
            p[:] = 0.0
            rule(params, state, now, x, groups, ridge, past, rng, p)
            arm = int(rng.choice(k, p=p))
            if size:
                absorb(ridge.mean, ridge.root, x[arm], rewards[arm])
            if rows:
                past.contexts[now - 1], past.groups[now - 1] = x, groups
                past.played[now - 1], past.rewards[now - 1] = arm, rewards[arm]
        for _ in range(number):
            draw(table, rng, x, groups, means, rewards)
            p[:] = 0.0
            rule(params, state.copy(), last, x, groups, ridge, past, rng, p)
            np.add.at(chosen[run], groups, p)
            np.add.at(received[run], groups, 1.0)
    with np.errstate(invalid="ignore"):
        return chosen / received


# The price of fairness (Appendix F) ----------------------------------------------------------------------------------


def clash(first: RewardDistribution, second: RewardDistribution, epsilon: float) -> float:
    r"""Return how often rank and reward disagree by more than :math:`\epsilon` between two groups (Theorem 3).

    .. math:: p = \int_0^1 \big(F_1(F_2^{-1}(y) - \epsilon) - y\big)_+ + \big(y - F_1(F_2^{-1}(y) + \epsilon)\big)_+ dy

    That is the probability that, of two candidates, the one with the higher rank brings less by over :math:`\epsilon`.

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

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    Two groups with disjoint rewards (Example 1):

    >>> round(clash(uniform_sum([1.0], shift=2.0), uniform_sum([1.0]), epsilon=1.0), 6)
    0.5
    """
    flat([first, second])
    return _clash(first, second.quantile(_MIDPOINTS), checks.real("epsilon", epsilon, 0))


_MIDPOINTS = (np.arange(20_000) + 0.5) / 20_000


def _clash(first: RewardDistribution, rewards: NDArray[np.float64], gap: float) -> float:
    """Return p, given the rewards of the second group at the midpoints."""
    above, below = first.cdf(rewards - gap) - _MIDPOINTS, _MIDPOINTS - first.cdf(rewards + gap)
    return float((np.maximum(above, 0) + np.maximum(below, 0)).mean())


def steepest_clash(first: RewardDistribution, second: RewardDistribution) -> tuple[float, float]:
    r"""Return the :math:`\epsilon` with the largest product :math:`\epsilon p` in Theorem 3, and its p.

    Parameters
    ----------
    first, second : RewardDistribution
        The groups' distributions.

    Returns
    -------
    tuple of float
        The difference in reward and the probability, the best of 200 differences.

    Raises
    ------
    TypeError
        If an argument is not a `RewardDistribution`.

    Examples
    --------
    >>> epsilon, p = steepest_clash(uniform_sum([1.0], shift=2.0), uniform_sum([1.0]))
    >>> round(epsilon, 2), round(p, 2)
    (1.33, 0.44)
    """
    flat([first, second])
    largest = max(first.breaks[-1] - second.breaks[0], second.breaks[-1] - first.breaks[0])
    rewards = second.quantile(_MIDPOINTS)
    gaps = [float(gap) for gap in np.linspace(0, largest, 201)[1:]]
    return max(((gap, _clash(first, rewards, gap)) for gap in gaps), key=lambda pair: pair[0] * pair[1])


def price_probability(epsilon: float, p: float, reach: float, horizon: ArrayLike) -> NDArray[np.float64]:
    r"""Return how surely group meritocratic fairness costs at least :math:`T \epsilon p / 2` in reward.

    The costs of the rounds are independent, in :math:`[0, 2 L \lVert\mu^\star\rVert]`, with a mean of at least
    :math:`\epsilon p`. So, by Hoeffding's inequality, (20) holds with probability at least

    .. math:: 1 - \exp\Big(-\frac{T \epsilon^2 p^2}{8 L^2 \lVert\mu^\star\rVert^2}\Big) ,

    where Theorem 3 has :math:`\epsilon p / (4 L \lVert\mu^\star\rVert)` for every T (erratum E-G17).

    Parameters
    ----------
    epsilon, p : float
        As `clash` has them.
    reach : float
        :math:`L \lVert\mu^\star\rVert`, above 0.
    horizon : array_like of int
        The number of rounds T.

    Returns
    -------
    ndarray, shape of `horizon`
        The probability.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> price_probability(1.0, 0.5, reach=3.0, horizon=[100, 1000]).round(3)
    array([0.293, 0.969])
    """
    mean = checks.real("epsilon", epsilon, 0) * checks.real("p", p, 0, 1)
    return -np.expm1(-checks.rounds("horizon", horizon) * (mean / checks.real("reach", reach, above=0)) ** 2 / 8)


# What is proved of Fair-Greedy (Section 5, appendices C and E) -------------------------------------------------------


@dataclass(frozen=True)
class Constants:
    r"""What the bounds need to know of a game.

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
        Expected number :math:`q_K` of candidates in a round of the group that has fewest, above 0; 1 with one each.
    by_chance : bool
        Whether the groups are drawn at random.

    Examples
    --------
    >>> constants(section_6()).arms
    4
    """

    arms: int
    groups: int
    dimension: int
    length: float
    norm: float
    sd: float
    density: float
    eigenvalue: float
    least: float = 1.0
    by_chance: bool = False

    def __post_init__(self) -> None:
        checks.whole("arms", self.arms, 2)
        checks.whole("groups", self.groups, 1)
        checks.whole("dimension", self.dimension, 1)
        for name in ("length", "density", "eigenvalue", "least"):
            checks.real(name, getattr(self, name), above=0)
        for name in ("norm", "sd"):
            checks.real(name, getattr(self, name), 0)


def constants(game: RankBandit) -> Constants:
    """Return what the bounds need to know of a game of `separate_groups` or `mixed_groups`, computed exactly.

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
    >>> c = constants(section_6(step=3))
    >>> c.density, c.length**2, round(c.eigenvalue, 4)
    (0.3333333333333333, 85.0, 0.0207)
    """
    mu = _told(game)
    mixed = game.world.draw is mixed_draw
    if not mixed and game.world.draw is not separate_draw:
        raise ValueError("game must be made by separate_groups or mixed_groups")
    params = np.asarray(game.world.params)
    if not mixed and params[0, 1] > 0:
        raise ValueError(f"game must have candidates that are independent, not together={params[0, 1]}")
    groups, n = game.world.groups, (mu.size - 1) // game.world.groups
    sigma = np.zeros((mu.size, mu.size))
    for i, bias in enumerate(params[1:, 0]):
        mean = np.zeros(mu.size)
        own = slice(i * n, i * n + n)
        mean[own], mean[-1] = 0.5, bias
        sigma += np.outer(mean, mean) / groups
        sigma[own, own] += np.eye(n) / 12 / groups
    values = np.linalg.eigvalsh(sigma)
    shares = np.diff(params[1:, n + 1], prepend=0.0) if mixed else None
    return Constants(
        arms=game.world.arms,
        groups=groups,
        dimension=mu.size,
        length=math.sqrt(n + float(np.max(params[1:, 0] ** 2))),
        norm=float(np.linalg.norm(mu)),
        sd=float(params[0, 0]),
        density=max(law.largest_density for law in game.distributions),
        eigenvalue=float(values[values > 1e-9 * values[-1]].min()),
        least=1.0 if shares is None else float(game.world.arms * shares.min()),
        by_chance=mixed,
    )


def rank_error(groups: int, horizon: int, failure: float, t: ArrayLike, candidates: float = 1.0) -> NDArray[np.float64]:
    r"""Return how far estimated ranks can be off, for estimated rewards taken as they are (Lemmas C.1 and E.2).

    .. math:: \sqrt{\frac{\ln(2GT/\delta)}{(t - 1)\, n}}

    Parameters
    ----------
    groups : int
        Number G of groups.
    horizon : int
        Number T of rounds for all of which it is to hold.
    failure : float
        The probability :math:`\delta` that it ever fails, in (0, 1).
    t : array_like of int
        The rounds, from 2.
    candidates : float
        There are at least `candidates` of each group for every round of the second half: 1 in Lemma C.1,
        :math:`\alpha q_K` in Lemma E.2.

    Returns
    -------
    ndarray, shape of `t`
        The error.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> rank_error(groups=4, horizon=500, failure=0.1, t=[101, 401]).round(3)
    array([0.326, 0.163])
    """
    rounds = checks.rounds("t", t)
    if (rounds < 2).any():
        raise ValueError(f"t must be at least 2, as round 1 has no past, not {t!r}")
    log = math.log(2 * checks.whole("groups", groups, 1) * checks.whole("horizon", horizon, 1) / _failure(failure))
    return np.sqrt(log / ((rounds - 1) * checks.real("candidates", candidates, above=0)))


def counted_from(game: Constants, horizon: int, failure: float, alpha: float) -> float:
    r"""Return the round from which no group has been seen too rarely (Lemma E.1, with errata E-G13 and E-G20).

    With probability at least :math:`1 - \delta`, from round

    .. math:: t_N = 1 + \frac{4}{(1 - \alpha)^2 q_K} \ln\frac{GT}{\delta}

    to T there are, of each group, at least :math:`\alpha q_K` candidates for every round of the second half.

    This takes the groups of one round to be independent, as those of `mixed_groups` and `employer` are. Assumption B
    does not ask for it, and lets all candidates of a round be of one random group; the lemma then fails, and it needs
    :math:`q_K / K` in place of :math:`q_K` here (erratum E-G20).

    Parameters
    ----------
    game : Constants
        The game's constants.
    horizon : int
        The number of rounds T.
    failure : float
        The probability :math:`\delta`, in (0, 1).
    alpha : float
        The share :math:`\alpha` of the expected number that is enough, in (0, 1).

    Returns
    -------
    float
        The round; 1 if the groups are not drawn at random.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> game = constants(mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10))
    >>> round(counted_from(game, horizon=2500, failure=0.05, alpha=0.5), 1)
    185.2
    """
    _constants(game)
    share = _alpha(alpha)
    log = math.log(game.groups * checks.whole("horizon", horizon, 1) / _failure(failure))
    return 1 + 4 * log / ((1 - share) ** 2 * game.least) if game.by_chance else 1.0


def chance_of_each(arms: int, error: ArrayLike) -> NDArray[np.float64]:
    r"""Return the least chance of each candidate if ranks are off by at most :math:`\epsilon` (equations 6 and 16).

    Parameters
    ----------
    arms : int
        Number K of candidates.
    error : array_like
        The error :math:`\epsilon`, at least 0.

    Returns
    -------
    ndarray, shape of `error`
        :math:`(1 - 2\epsilon)_+^K / K`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> chance_of_each(4, [0.0, 0.1]).round(4)
    array([0.25  , 0.1024])
    """
    k, off = checks.whole("arms", arms, 2), np.asarray(error, dtype=np.float64)
    if not (off >= 0).all():
        raise ValueError(f"error must be numbers of at least 0, not {error!r}")
    return np.maximum(1 - 2 * off, 0) ** k / k


def explored_from(arms: int, groups: int, failure: float, c: float = 0.5, candidates: float = 1.0) -> float:
    r"""Return the round from which each candidate's chance is at least c/K (Propositions 5.1 and E.2).

    .. math:: 3 + \frac{8 \ln^{3/2}(5Ge/\delta)}{(1 - c^{1/K})^3 (\alpha q_K)^{3/2}}

    Parameters
    ----------
    arms : int
        Number K of candidates in a round, at least 2.
    groups : int
        Number G of groups.
    failure : float
        The probability that it ever fails is at most a quarter of this :math:`\delta`, which is in (0, 1).
    c : float
        The share of 1/K, in [0, 1).
    candidates : float
        As in `rank_error`.

    Returns
    -------
    float
        The round.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> round(explored_from(4, 4, 0.1))
    31400
    """
    k, log = checks.whole("arms", arms, 2), math.log(5 * checks.whole("groups", groups, 1) * math.e / _failure(failure))
    if checks.real("c", c, 0, 1) == 1:
        raise ValueError("c must be below 1, not 1")
    return 3 + 8 * (log / checks.real("candidates", candidates, above=0)) ** 1.5 / (1 - c ** (1 / k)) ** 3


def least_exploration(game: Constants, error: float = 0.0) -> float:
    r"""Return how much the chosen candidate teaches, whatever the estimate: the repair of erratum E-G1.

    If ranks are off by at most :math:`\epsilon`, then in the range of :math:`\Sigma`

    .. math:: \mathbb E[X_{a_t} X_{a_t}^\top \mid \text{past}] \succeq \frac{q_K G}{K}\, \lambda
        \Big(\frac{\lambda}{L^2}\Big)^{K-1} \Big(1 - \frac{2 \epsilon L^2}{\lambda}\Big)_+^K I , \qquad
        \lambda = \lambda^+_{\min}(\Sigma) .

    Lemma C.2 and (19) have :math:`q_K G \lambda / (2 K)` instead, which need not hold: the one chosen is one with a
    high rank, and not any. What is informative may sit at the low ranks, which are seldom chosen; the worst case is
    that all of it does, and then there is equality.

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

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> game = Constants(arms=2, groups=2, dimension=1, length=1, norm=1, sd=1, density=1, eigenvalue=0.5)
    >>> least_exploration(game), least_exploration(game, error=0.125)
    (0.25, 0.0625)
    """
    share = _constants(game).eigenvalue / game.length**2
    left = max(share - 2 * checks.real("error", error, 0), 0.0)
    return game.least * game.groups / game.arms * game.length**2 * left**game.arms


def estimate_radius(
    game: Constants, t: ArrayLike, failure: float, ridge: float = 0.1, noise: float = 1e-3
) -> NDArray[np.float64]:
    r"""Return how far the estimate can be from :math:`\mu^\star`, in the norm of :math:`V_{\tilde t}` (Lemma C.4).

    .. math:: R \sqrt{d \ln\Big(1 + \frac{\tilde t L^2}{d \lambda}\Big) + 2 \ln\frac8\delta} +
        \sqrt\lambda \lVert\mu^\star\rVert + \frac{\rho (\sqrt\lambda + L)}{d} \Big(\sqrt d +
        \sqrt{2 \ln\frac{16 \tilde t^2}{\delta}}\Big)

    The first term is OFUL's. The paper writes :math:`R \sqrt{d \ln((8 + 8 \tilde t L^2/\lambda)/\delta)}`, which is
    larger from d = 2 on and too small for d = 1. The last term, for the noise, replaces the paper's (erratum E-G6).

    Parameters
    ----------
    game : Constants
        The game's constants.
    t : array_like of int
        The rounds, from 3.
    failure : float
        The probability that it ever fails is at most a quarter of this :math:`\delta`, which is in (0, 1).
    ridge : float
        The regulariser :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho`, in (0, 1].

    Returns
    -------
    ndarray, shape of `t`
        The radius.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> estimate_radius(constants(section_6()), [500, 5000], failure=0.1).round(1)
    array([32. , 34.7])
    """
    _constants(game)
    rounds, (lam, rho), delta = checks.rounds("t", t), _fair_greedy_params(ridge, noise), _failure(failure)
    if (rounds < 3).any():
        raise ValueError(f"t must be at least 3, as there is no estimate before, not {t!r}")
    half, d = (rounds - 1) // 2, game.dimension
    regression = game.sd * np.sqrt(d * np.log1p(half * game.length**2 / (d * lam)) + 2 * math.log(8 / delta))
    wobble = math.sqrt(d) + np.sqrt(2 * np.log(16 * half.astype(np.float64) ** 2 / delta))
    return regression + math.sqrt(lam) * game.norm + rho * (math.sqrt(lam) + game.length) / d * wobble


def fair_greedy_bound(
    game: Constants, horizon: ArrayLike, failure: float, ridge: float = 0.1, noise: float = 1e-3, alpha: float = 0.5
) -> NDArray[np.float64]:
    r"""Bound the fair regret of Fair-Greedy and of V2 with high probability: Theorems 1 and 2 with all repairs.

    With :math:`\kappa` from `least_exploration` at error 0, :math:`r_T` the `estimate_radius`, :math:`n = \alpha q_K`
    (or 1 if groups are not drawn at random) and half of :math:`\delta` for the counts of groups that are,

    .. math:: R_F(T) \le \tau + 32\sqrt2\, \frac{M L\, r_T}{\sqrt\kappa} \sqrt T + 4 \sqrt{\frac{T}{n}
        \ln\frac{8GT}{\delta}} , \qquad \tau = 4 \max(\tau_1, \tau_2, t_N) + 3,

    .. math:: \tau_1 = 1 + \frac{16 K^2 L^4}{n \lambda^{+}_{\min}(\Sigma)^2} \ln\frac{8GT}{\delta} , \qquad
        \tau_2 = \frac{27 L^2}{2 \kappa} \ln\Big(\frac{2d}{\delta} \Big(1 + \frac{27 L^2}{2\kappa}\Big)\Big) .

    Parameters
    ----------
    game : Constants
        The game's constants.
    horizon : array_like of int
        The number of rounds T, at least 3: there is no estimate before.
    failure : float
        The probability :math:`\delta` that the bound fails, in (0, 1).
    ridge : float
        The regulariser :math:`\lambda`, above 0.
    noise : float
        The magnitude :math:`\rho`, in (0, 1].
    alpha : float
        The share :math:`\alpha` in Lemma E.1, in (0, 1).

    Returns
    -------
    ndarray, shape of `horizon`
        The bound. It grows like the root of T, but exceeds T, and so says nothing, at every T one could play.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> bool(fair_greedy_bound(constants(section_6()), 500, 0.1) > 500)
    True
    """
    rounds = _horizons(horizon)
    delta = _failure(failure) / (2 if _constants(game).by_chance else 1)
    candidates = game.least * (_alpha(alpha) if game.by_chance else 1.0)
    kappa, log = least_exploration(game), np.log(8 * game.groups * rounds / delta)
    tau_1 = 1 + 16 * (game.arms * game.length**2 / game.eigenvalue) ** 2 * log / candidates
    steps = 27 * game.length**2 / (2 * kappa)
    tau_2 = steps * math.log(2 * game.dimension / delta * (1 + steps))
    counted = 4 * np.log(game.groups * rounds / delta) / ((1 - alpha) ** 2 * game.least) if game.by_chance else 0.0
    tau = 4 * np.maximum(np.maximum(tau_1, tau_2), 1 + counted) + 3
    radius = estimate_radius(game, horizon, delta, ridge, noise)
    learning = 32 * math.sqrt(2 / kappa) * game.density * game.length * radius * np.sqrt(rounds)
    return tau + learning + 4 * np.sqrt(rounds * log / candidates)


def printed_bound(
    game: Constants, horizon: ArrayLike, failure: float, ridge: float = 0.1, alpha: float = 0.5
) -> NDArray[np.float64]:
    r"""Return the bound of Theorems 1 and 2 and Corollary E.1 as it is printed, which the printed proof does not reach.

    The step that fails is erratum E-G1; see `fair_greedy_bound` for what is proved.

    Parameters
    ----------
    game : Constants
        The game's constants.
    horizon : array_like of int
        The number of rounds T, at least 3.
    failure : float
        The probability :math:`\delta`, in (0, 1), half of it each for :math:`\delta_1` and :math:`\delta_2` if groups
        are drawn at random.
    ridge : float
        The regulariser :math:`\lambda`, above 0.
    alpha : float
        The share :math:`\alpha`, in (0, 1).

    Returns
    -------
    ndarray, shape of `horizon`
        The bound.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> game = constants(section_6(step=3))
    >>> bool(1e7 < printed_bound(game, 500, 0.1) < 1e8)
    True
    """
    rounds = _horizons(horizon)
    delta = _failure(failure) / (2 if _constants(game).by_chance else 1)
    lam, k, g, share = checks.real("ridge", ridge, above=0), game.arms, game.groups, _alpha(alpha)
    candidates = game.least * (share if game.by_chance else 1.0)
    tau_1 = 32 * k**3 * (math.log(5 * g * math.e / delta) / candidates) ** 1.5
    tau_2 = 54 * game.length**2 / game.eigenvalue * math.log(4 * game.dimension / delta)
    tau_3 = 2 * np.log(g * rounds / delta) / ((1 - share) ** 2 * game.least) if game.by_chance else 0.0
    inner = (8 + 4 * rounds * max(game.length**2 / lam, 1)) / delta
    radius = (math.sqrt(lam) + game.sd + game.length) * np.sqrt(game.dimension * rounds * np.log(inner))
    radius += np.sqrt(lam * rounds) * game.norm
    first = 96 * game.density * game.length * math.sqrt(k / (game.eigenvalue * game.least * g)) * radius
    second = 8 * np.sqrt(rounds * np.log(8 * g * rounds / delta) / (3 * candidates))
    return first + second + 4 * np.maximum(max(tau_1, tau_2), tau_3) + 3


def _horizons(horizon: ArrayLike) -> NDArray[np.float64]:
    rounds = checks.rounds("horizon", horizon)
    if (rounds < 3).any():
        raise ValueError(f"horizon must be at least 3, as there is no estimate before, not {horizon!r}")
    return rounds.astype(np.float64)


def _constants(game: Constants) -> Constants:
    if not isinstance(game, Constants):
        raise TypeError(f"game must be Constants, such as constants(section_6()), not {game!r}")
    return game


def _failure(failure: float) -> float:
    if checks.real("failure", failure, 0, 1, above=0) == 1:
        raise ValueError("failure must be below 1, not 1")
    return float(failure)


def _alpha(alpha: float) -> float:
    if checks.real("alpha", alpha, 0, 1, above=0) == 1:
        raise ValueError("alpha must be below 1, not 1")
    return float(alpha)
