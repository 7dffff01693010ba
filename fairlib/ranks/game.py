"""The game in which the best candidate is the one who stands highest within their own group (Section 3)."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.compilation import compiled
from fairlib.contexts import CONTEXT_RULE, ROUND, ContextBandit, ContextPolicy, Past, Ridge, absorb
from fairlib.ranks.distributions import RewardDistribution, flat, rank
from fairlib.result import Result


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
    >>> from fairlib.ranks import section_6
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
        >>> from fairlib.ranks import section_6
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
    >>> from fairlib.ranks import section_6
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
        >>> from fairlib.ranks import section_6
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


def _told(game: RankBandit) -> NDArray[np.float64]:
    if not isinstance(game, RankBandit):
        raise TypeError(f"game must be a RankBandit, such as section_6(), not {game!r}")
    return np.asarray(game.parameter)


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
    >>> from fairlib.ranks import gmf, section_6
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
