"""Where candidates come from: the simulations of the paper, and people from data (Sections 6 and 7)."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.compilation import helper
from fairlib.contexts import World, dot
from fairlib.ranks.distributions import RewardDistribution, empirical, uniform_sum
from fairlib.ranks.game import RankBandit


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
