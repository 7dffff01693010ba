"""The game in which the best candidate is the one with the highest rank within their own group (Section 3)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import PositiveInt, checked
from fairlib.core import BoundRule, ContextBandit, ContextPolicy, Number, PerGroup, Result, context_metrics, shortfall
from fairlib.engine.agent import Agent
from fairlib.engine.seeding import AnySeed, root
from fairlib.engine.session import make_session
from fairlib.ranks.distributions import RewardDistribution, flat, rank

__all__ = ["RankResult", "RankBandit", "rank_metrics", "acceptance_given_past"]


@dataclass(frozen=True, eq=False, repr=False)
class RankResult(Result):
    r"""What happened, with the fairness regret and the groups.

    Parameters
    ----------
    fairness_regret : ndarray, shape (runs, R)
        Best rank less rank of the candidate chosen, summed over the rounds so far: from 0 (group meritocratic fair so
        far) to the number of rounds. The paper calls it fair pseudo-regret. The `regret` is that of expected rewards.
    received : ndarray, shape (runs, R, G)
        How many candidates of each group have come.
    chosen : ndarray, shape (runs, R, G)
        How many of them were chosen.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.baselines.linear import at_random
    >>> from fairlib.ranks import section_6
    >>> fl.simulate(section_6(), at_random(), 10).fairness_regret.shape
    (1, 10)
    """

    fairness_regret: NDArray[np.float64] = field(kw_only=True)
    received: NDArray[np.float64] = field(kw_only=True)
    chosen: NDArray[np.float64] = field(kw_only=True)

    @property
    def acceptance(self) -> NDArray[np.float64]:
        """Share of each group's candidates that were chosen, shape (runs, R, G); nan while none has come.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.baselines.linear import at_random
        >>> from fairlib.ranks import section_6
        >>> fl.simulate(section_6(), at_random(), 1000).acceptance[0, -1].sum().round(12)
        np.float64(1.0)
        """
        with np.errstate(invalid="ignore"):
            return self.chosen / self.received


@dataclass(frozen=True, eq=False, repr=False)
class RankBandit(ContextBandit):
    r"""A game in which the best candidate is the one with the highest rank within their own group (Section 3).

    Parameters
    ----------
    parameter : array_like, shape (d,)
        The true parameter :math:`\mu^\star`, for policies that may know it.
    distributions : sequence of RewardDistribution
        For each group, the distribution of :math:`\mu^\star \cdot x`, by which the ranks are measured.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.baselines.linear import at_random
    >>> from fairlib.ranks import section_6
    >>> result = fl.simulate(section_6(), at_random(), 500, runs=200)
    >>> bool(abs(result.fairness_regret[:, -1].mean() - 500 * 3 / 10) < 1.5)
    True
    """

    parameter: Annotated[Any, checks.Table(1)] = field(kw_only=True)  # array_like when given, an array when held
    distributions: Sequence[RewardDistribution] = field(kw_only=True)
    outcome = RankResult
    described_as = "a RankBandit, such as section_6()"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.world.arms < 2:
            raise ValueError(f"world must have at least 2 arms, so that there is a choice, not {self.world.arms}")
        if (size := self.parameter.size) != self.world.dimension:
            raise ValueError(f"parameter must have {self.world.dimension} numbers, as contexts have, not {size}")
        flat(self.distributions)
        object.__setattr__(self, "distributions", tuple(self.distributions))
        if len(self.distributions) != self.world.groups:
            raise ValueError(
                f"distributions must be {self.world.groups}, as many as the world has groups, "
                f"not {len(self.distributions)}"
            )

    @cached_property
    def metrics(self) -> BoundRule:
        """What the game sums: both regrets, and for each group the candidates received and chosen."""
        return context_metrics(rank_metrics, table=flat(self.distributions))


def rank_metrics(
    table, groups, means, played, regret: Number, fairness_regret: Number, received: PerGroup, chosen: PerGroup
):
    """Sum the best reward less that of the candidate played, the same of the ranks (1 and 14), and count the groups."""
    regret[0] += shortfall(means, played)
    best = 0.0
    for a in range(groups.size):
        best = max(best, rank(table, groups[a], means[a]))
        received[groups[a]] += 1.0
    fairness_regret[0] += best - rank(table, groups[played], means[played])
    chosen[groups[played]] += 1.0


@checked
def acceptance_given_past(
    game: RankBandit,
    policy: ContextPolicy,
    t: PositiveInt,
    pasts: PositiveInt,
    draws: PositiveInt,
    seed: AnySeed,
) -> NDArray[np.float64]:
    r"""Measure each group's chance of being chosen in round t, past by past.

    In the notion of Proposition 3.1 (history-agnostic parity) the chances must be alike whatever the past; in that of
    Lemma 4.1 (information-averaged parity) only on average over pasts, as `RankResult.acceptance` measures it over
    runs. So the rows of the returned array show the first, and their mean the second.

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
    seed : int or numpy.random.SeedSequence
        The seed of all draws.

    Returns
    -------
    ndarray, shape (pasts, G)
        For each past, the sum of the probabilities of the group's candidates in round t, divided by their number. With
        one candidate a group that is :math:`\mathbb P(a_t = a \mid \mathcal H^-_{t-1})`. It is nan if there were none.

    Examples
    --------
    >>> from fairlib.ranks import gmf, section_6
    >>> game = section_6()
    >>> chances = acceptance_given_past(game, gmf(game), t=5, pasts=1, draws=4000, seed=0)
    >>> bool(np.abs(chances - 1 / 4).max() < 0.03)
    True
    """
    chance = root(seed)
    children = [
        SeedSequence(chance.entropy, spawn_key=(*chance.spawn_key, run), pool_size=chance.pool_size)
        for run in range(pasts)
    ]
    ready: Any = make_session(game, policy, t)
    k, d, g, _ = ready.sizes.values()
    x, groups, means, rewards = np.zeros((k, d)), np.zeros(k, np.int64), np.zeros(k), np.zeros(k)
    chosen, received = np.zeros((pasts, g)), np.zeros((pasts, g))
    for run, child in enumerate(children):
        rng, agent = np.random.default_rng(child), Agent(policy, ready.rule, ready.sizes)
        for now in range(1, t):
            ready.draw(ready.table, rng, x, groups, means, rewards)
            played = agent.choose(now, rng, x, groups)
            agent.record(now, played, x, groups)
            arm = int(played[0])
            agent.observe(now, arm, rewards[arm], agent.p[arm], x[arm])
        for _ in range(draws):
            ready.draw(ready.table, rng, x, groups, means, rewards)
            asked = agent.copy()  # the policy won't remember the question
            asked.select_arms(t, asked.ask(t, rng, x, groups), 0.0)
            np.add.at(chosen[run], groups, asked.p)
            np.add.at(received[run], groups, 1.0)
    with np.errstate(invalid="ignore"):
        return chosen / received
