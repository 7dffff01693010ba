"""Distributions of a group's expected rewards, in which a candidate's rank is measured."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import chain, combinations
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import checked
from fairlib.core import helper
from fairlib.rules.bound_rule import format_setting

__all__ = ["RewardDistribution", "uniform_sum", "empirical", "flat", "rank"]


@dataclass(frozen=True, eq=False, repr=False)
class RewardDistribution:
    r"""The distribution of a group's expected rewards, as a cumulative distribution function made of polynomials.

    Below the first break F is 0; from break i to the next it is :math:`\sum_j c_{ij} (r - b_i)^j`; from the last one on
    it is 1. It is made by `uniform_sum` or `empirical`.

    Parameters
    ----------
    breaks : ndarray, shape (m,)
        The breaks :math:`b_i`, increasing.
    coefficients : ndarray, shape (m, degree + 1)
        The coefficients :math:`c_{ij}`; the last row is 1, 0, 0, ...

    Raises
    ------
    TypeError, ValueError
        If the breaks are no numbers or not in order, or the coefficients are not one row of numbers for each break, the
        last one as above.

    Examples
    --------
    >>> law = uniform_sum([1, 1])
    >>> law.cdf([0.5, 1.0, 3.0])
    array([0.125, 0.5  , 1.   ])
    """

    breaks: Annotated[NDArray[np.float64], checks.Numbers()]
    coefficients: Annotated[NDArray[np.float64], checks.Table(2)]
    described_as = "a RewardDistribution, such as uniform_sum([1, 1])"

    def __post_init__(self) -> None:
        checks.check_fields(self)
        breaks, rows = self.breaks, self.coefficients
        if (np.diff(breaks) < 0).any():  # two may be so near that they are one float
            raise ValueError(f"breaks must be in increasing order, not {breaks.tolist()}")
        if len(rows) != breaks.size or rows[-1, 0] != 1.0 or rows[-1, 1:].any():
            raise ValueError(f"coefficients must be {breaks.size} rows, as there are breaks, the last 1, 0, 0, ...")

    def __repr__(self) -> str:
        return f"RewardDistribution({format_setting(self.breaks)}, {format_setting(self.coefficients)})"

    @checked
    def cdf(self, rewards: Annotated[ArrayLike, checks.Table()]) -> NDArray[np.float64]:
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
        return np.clip(self._polynomials(np.asarray(rewards), self.coefficients), 0.0, 1.0)

    @checked
    def density(self, rewards: Annotated[ArrayLike, checks.Table()]) -> NDArray[np.float64]:
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
        TypeError, ValueError
            If a reward is not a finite number, or the distribution jumps, as an empirical one does.

        Examples
        --------
        >>> uniform_sum([1, 1]).density([0.5, 1.0])
        array([0.5, 1. ])
        """
        return self._polynomials(np.asarray(rewards), self._slopes)

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

        Examples
        --------
        >>> uniform_sum([1, 1]).quantile([0.125, 0.5, 0.875]).round(12)
        array([0.5, 1. , 1.5])
        >>> empirical([3.0, 1.0, 2.0, 2.0]).quantile([0.25, 0.26, 0.76])
        array([1., 2., 3.])
        """
        u = checks.floats("ranks", ranks, "numbers above 0 and at most 1")
        if not ((u > 0) & (u <= 1)).all():
            raise ValueError(f"ranks must be numbers above 0 and at most 1, not {checks.shown(ranks)}")
        at = np.searchsorted(self.coefficients[:, 0], u)  # the first break whose rank is at least u
        high = self.breaks[at]
        low = self.breaks[np.maximum(at - 1, 0)]
        if self.coefficients.shape[1] > 1:  # within a piece F grows: halve it until rounding stops the search
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


@checked
def uniform_sum(
    weights: Annotated[ArrayLike, checks.Numbers()], shift: Annotated[float, checks.Real()] = 0.0
) -> RewardDistribution:
    r"""Return the exact distribution of :math:`\text{shift} + \sum_i w_i U_i` with independent uniform :math:`U_i`.

    For weights above 0 it is

    .. math:: F(r) = \frac{1}{n! \prod_i w_i} \sum_{S \subseteq [n]} (-1)^{|S|}
        \Big(r - \text{shift} - \sum_{i \in S} w_i\Big)_+^n .

    Summed in floating point, its terms cancel; so each polynomial is expanded around its own break in exact fractions,
    and only the result is rounded. A negative weight is one above 0 with another shift, as U and 1 - U are alike.

    Parameters
    ----------
    weights : array_like, shape (n,)
        The weights; those that are 0 are left out, and at most eight may remain.
    shift : float
        The number that is added.

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
    given = np.asarray(weights)
    start = Fraction(shift) + sum((Fraction(w) for w in given if w < 0), Fraction(0))
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


@checked
def empirical(rewards: Annotated[ArrayLike, checks.Numbers()]) -> RewardDistribution:
    """Return the distribution of a sample: the rank of r is the share of the sample that is at most r.

    Parameters
    ----------
    rewards : array_like, shape (n,)
        The sample.

    Returns
    -------
    RewardDistribution
        The distribution.

    Examples
    --------
    >>> empirical([3.0, 1.0, 2.0, 2.0]).breaks
    array([1., 2., 3.])
    """
    values, counts = np.unique(np.asarray(rewards), return_counts=True)
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

    Examples
    --------
    >>> flat([empirical([2.0, 4.0])])
    array([1. , 2. , 2. , 0. , 2. , 4. , 0.5, 1. ])
    """
    checks.instance(
        "distributions", distributions, Sequence, "a list of RewardDistributions, such as [uniform_sum([1, 1])]"
    )
    parts = []
    for law in distributions:
        checks.instance(
            "distributions", law, RewardDistribution, "RewardDistributions, such as uniform_sum([1, 1]), one a group"
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
    np.float64(0.75)
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
    value: float = table[end]
    for j in range(1, degree + 1):
        value = value * local + table[end - j]
    return min(max(value, 0.0), 1.0)
