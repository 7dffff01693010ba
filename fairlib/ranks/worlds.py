"""Where candidates come from: the simulations of the paper, and people from data (Sections 6 and 7)."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import NonNegative, UnitInterval, checked
from fairlib.core import World, dot, helper
from fairlib.ranks.distributions import empirical, uniform_sum
from fairlib.ranks.game import RankBandit

__all__ = [
    "WeightedBandit",
    "candidate",
    "separate_draw",
    "separate_groups",
    "section_6",
    "mixed_draw",
    "mixed_groups",
    "people_draw",
    "noisy_people_draw",
    "employer",
]


@dataclass(frozen=True, eq=False, repr=False)
class WeightedBandit(RankBandit):
    r"""A game of `separate_groups` or `mixed_groups`, with the numbers that it is made of.

    Parameters
    ----------
    weights : ndarray, shape (G, n)
        Weights of each group.
    biases : ndarray, shape (G,)
        Bias of each group.
    sd : float
        Standard deviation of the noise.
    together : float
        Probability that the candidates of a round are not independent.
    shares : ndarray, shape (G,), or None
        Probability that a candidate is of each group; None if there is one candidate from each.

    Examples
    --------
    >>> section_6(step=3).biases
    array([0., 3., 6., 9.])
    """

    weights: Annotated[NDArray[np.float64], checks.Table(2)] = field(kw_only=True)
    biases: Annotated[NDArray[np.float64], checks.Table(1)] = field(kw_only=True)
    sd: NonNegative = field(kw_only=True)
    together: UnitInterval = field(default=0.0, kw_only=True)
    shares: Annotated[NDArray[np.float64], checks.Numbers(0, 1)] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, each in {"weights": self.weights, "biases": self.biases, "shares": self.shares}.items():
            if each is not None and len(each) != self.world.groups:
                raise ValueError(f"{name} must be of {self.world.groups} groups, as world is, not {len(each)}")


@helper
def candidate(weights: Any, biases: Any, group: int, y: Any, x: Any) -> float:
    """Write the context of a candidate of a group of `separate_groups` or `mixed_groups`; return its expected reward.

    Parameters
    ----------
    weights : ndarray, shape (G, n)
        The groups' weights.
    biases : ndarray, shape (G,)
        Their biases.
    group : int
        The candidate's group.
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
    >>> candidate(np.array([[2.0], [3.0]]), np.array([1.0, 5.0]), 1, np.array([0.5]), x), x
    (np.float64(6.5), array([0. , 0.5, 5. ]))
    """
    for i in range(x.size):
        x[i] = 0.0
    x[x.size - 1] = mean = biases[group]
    for i in range(y.size):
        x[group * y.size + i] = y[i]
        mean += weights[group, i] * y[i]
    return mean


def separate_draw(weights, biases, sd, together, rng, contexts, groups, means, rewards):
    """Draw one candidate from each group; sometimes all have the same numbers."""
    y = np.empty(weights.shape[1])
    alike = rng.random() < together
    for a in range(groups.size):
        if a == 0 or not alike:
            for i in range(y.size):
                y[i] = rng.random()
        groups[a] = a
        means[a] = candidate(weights, biases, a, y, contexts[a])
        rewards[a] = means[a] + sd * rng.standard_normal()


Weights = Annotated[ArrayLike, checks.Table(2)]
Biases = Annotated[ArrayLike, checks.Table(1)]


@checked
def separate_groups(weights: Weights, biases: Biases, sd: NonNegative, together: UnitInterval = 0.0) -> WeightedBandit:
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

    Examples
    --------
    >>> separate_groups([[1.0, 2.0], [3.0, 0.0]], [0.0, 1.0], sd=0.1).parameter
    array([1., 2., 3., 0., 1.])
    """
    made, told = _groups(weights, biases, sd)
    made["together"] = together
    number = len(made["biases"])
    world = World(number, told["parameter"].size, separate_draw, groups=number, **made)
    return WeightedBandit(world, **told, **made)


@checked
def section_6(
    step: Annotated[float, checks.Real()] = 16 / 3,
    sd: NonNegative = 2.0,
    together: UnitInterval = 0.0,
    first: Annotated[float, checks.Real()] = 0.0,
) -> WeightedBandit:
    r"""Return the simulation of section 6 and appendix D.1: four groups, d = 17.

    Parameters
    ----------
    step : float
        The bias of group a = 1, ..., 4 is :math:`\text{first} + \text{step} \cdot (a - 1)`. In the public code that is
        :math:`16 (a - 1) / 3`, and in the text :math:`3a`, with step and first bias 3.
    sd : float
        Standard deviation of the noise; 2 in the paper.
    together : float
        As in `separate_groups`; 0 in the paper.
    first : float
        The bias of the first group.

    Returns
    -------
    RankBandit
        The game.

    Examples
    --------
    >>> section_6(step=3).parameter
    array([4., 3., 7., 0., 8., 0., 0., 0., 5., 5., 0., 0., 2., 2., 2., 2., 1.])
    >>> section_6(step=3, first=3).biases
    array([ 3.,  6.,  9., 12.])
    """
    weights = [[4, 3, 7, 0], [8, 0, 0, 0], [5, 5, 0, 0], [2, 2, 2, 2]]
    biases = first + step * np.arange(4)
    return separate_groups(weights, biases, sd, together)


def mixed_draw(weights, biases, sd, ends, rng, contexts, groups, means, rewards):
    """Draw each candidate's group, whose part of [0, 1) ends at its place in `ends`, and then the candidate."""
    y = np.empty(weights.shape[1])
    for a in range(groups.size):
        u, group = rng.random(), 0
        while u >= ends[group]:
            group += 1
        for i in range(y.size):
            y[i] = rng.random()
        groups[a] = group
        means[a] = candidate(weights, biases, group, y, contexts[a])
        rewards[a] = means[a] + sd * rng.standard_normal()


@checked
def mixed_groups(
    weights: Weights,
    biases: Biases,
    sd: NonNegative,
    shares: Annotated[ArrayLike, checks.Numbers(0, 1, above=0)],
    arms: Annotated[int, checks.Integer(2)],
) -> WeightedBandit:
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

    Examples
    --------
    >>> mixed_groups([[1.0], [2.0]], [0.0, 1.0], 0.1, shares=[0.9, 0.1], arms=10).world.groups
    2
    """
    made, told = _groups(weights, biases, sd)
    q, number = np.asarray(shares), len(made["biases"])
    if q.size != number or abs(q.sum() - 1) > 1e-9:
        raise ValueError(f"shares must be {number} numbers, one a group, with sum 1, not {q.tolist()}")
    ends = np.append(np.cumsum(q)[:-1], 1.0)  # whatever rounding makes of the sum
    world = World(arms, told["parameter"].size, mixed_draw, groups=number, ends=ends, **made)
    return WeightedBandit(world, shares=q, **told, **made)


def _groups(weights: ArrayLike, biases: ArrayLike, sd: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of the draws, and the arguments of a `RankBandit`, both by name."""
    w, bias = np.asarray(weights), np.asarray(biases)
    if len(w) < 2 or bias.size != len(w):
        raise ValueError(
            f"weights and biases must be of at least 2 groups, as many in each, not {len(w)} and {bias.size}"
        )
    laws = [uniform_sum(row, b) for row, b in zip(w, bias, strict=True)]
    made = {"weights": w, "biases": bias, "sd": sd}
    return made, {"parameter": np.append(w.ravel(), 1.0), "distributions": laws}


@helper
def _somebody(features: Any, first: float, last: float, rng: Any, x: Any) -> int:
    """Take one of the people in some rows at random, and write their context."""
    row = int(first) + int(rng.random() * (last - first))
    for i in range(x.size):
        x[i] = features[row, i]
    return row


def people_draw(features, group_of, predicted, worth, first, last, rng, contexts, groups, means, rewards):
    """Take people at random, arm a from rows ``first[a]`` to ``last[a]``; the reward is the person's own."""
    for a in range(groups.size):
        row = _somebody(features, first[a], last[a], rng, contexts[a])
        groups[a], means[a], rewards[a] = int(group_of[row]), predicted[row], worth[row]


def noisy_people_draw(features, group_of, predicted, sd, first, last, rng, contexts, groups, means, rewards):
    """Take people at random as `people_draw` does; the reward is the predicted one, with normal noise."""
    for a in range(groups.size):
        row = _somebody(features, first[a], last[a], rng, contexts[a])
        groups[a], means[a] = int(group_of[row]), predicted[row]
        rewards[a] = means[a] + sd * rng.standard_normal()


@checked
def employer(
    contexts: Annotated[ArrayLike, checks.Table(2)],
    groups: Annotated[ArrayLike, checks.OneOrMany(0, integers=True)],
    rewards: Annotated[ArrayLike, checks.Table(1)],
    arms: Annotated[int, checks.Integer(2)] | None = None,
    sd: NonNegative | None = None,
    parameter: Annotated[ArrayLike, checks.Table(1)] | None = None,
) -> RankBandit:
    r"""Return the game of an employer who chooses among people from data (Section 7, appendices D.2 and E.1).

    The true parameter is that of a ridge regression of `rewards` on `contexts`, with regularizer :math:`10^{-8}`, or
    one that was learnt elsewhere; a person's expected reward is what it predicts, and the groups' distributions are
    those of these predictions.

    Parameters
    ----------
    contexts : array_like, shape (n, d)
        The context of each person, as `fairlib.data.standardized` makes it.
    groups : array_like of int, shape (n,)
        Each person's group, from 0; every group up to the largest must have a person.
    rewards : array_like, shape (n,)
        The reward of each person.
    arms : int, optional
        Number of candidates in a round, at least 2, drawn from all people with equal probability. By default there is
        one candidate from each group.
    sd : float, optional
        Standard deviation of a noise that is added to the expected reward. By default the noisy reward is the person's
        own, as in appendix D.2.
    parameter : array_like, shape (d,), optional
        The true parameter: that of a game of other people, say, to measure ranks on people it was not learnt from.

    Returns
    -------
    RankBandit
        The game. People are drawn with replacement.

    Examples
    --------
    >>> from fairlib.data import standardized, twoyear
    >>> people = twoyear()
    >>> x, groups, wages = standardized(people.features), people.groups, people.rewards
    >>> employer(x, groups, wages, arms=10, sd=0.2).world.groups
    6
    >>> learnt = employer(x[::2], groups[::2], wages[::2]).parameter
    >>> held_out = employer(x[1::2], groups[1::2], wages[1::2], parameter=learnt)
    >>> bool((held_out.parameter == learnt).all())
    True
    """
    x, y, g = np.asarray(contexts), np.asarray(rewards), np.asarray(groups, np.float64)
    if not (g.shape == y.shape == (len(x),)):
        raise ValueError(
            f"groups and rewards must have {len(x)} numbers, as contexts has rows, not shapes {g.shape} and {y.shape}"
        )
    g = np.minimum(g, len(g)).astype(np.int64)  # a larger number leaves a group out, too
    counts = np.bincount(g)
    if counts.size < 2 or not counts.all():
        raise ValueError(f"groups must run from 0 to at least 1, with a person in each, not {np.unique(g).tolist()}")
    if parameter is None:
        mu = np.linalg.solve(x.T @ x + 1e-8 * np.eye(x.shape[1]), x.T @ y)
    else:
        mu = np.asarray(parameter)
        if mu.size != x.shape[1]:
            raise ValueError(f"parameter must have {x.shape[1]} numbers, as contexts has columns, not {mu.size}")
    # The same product as in the policies' rules: another would round differently, and a person's own reward may lie
    # a hair below the step that the group's distribution makes there.
    means, order = np.array([dot(mu, row) for row in x]), np.argsort(g, kind="stable")
    people = {"features": x[order], "group_of": g[order], "predicted": means[order]}
    if arms is None:  # the rows of each group
        number, last = counts.size, np.cumsum(counts)
        people |= {"first": last - counts, "last": last}
    else:  # all rows
        number = arms
        people |= {"first": np.zeros(number), "last": np.full(number, len(x))}
    if sd is None:
        world = World(number, x.shape[1], people_draw, groups=counts.size, worth=y[order], **people)
    else:
        world = World(number, x.shape[1], noisy_people_draw, groups=counts.size, sd=sd, **people)
    return RankBandit(world, parameter=mu, distributions=[empirical(means[g == i]) for i in range(counts.size)])
