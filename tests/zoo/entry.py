"""What an entry of the zoo says of a policy, and what several papers' entries use."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fairlib import contexts as co


class Entry(NamedTuple):
    """A policy of the zoo: how it is made for a game, the names of its games, and how long it plays them in a test."""

    make: Callable[[Any], Any]
    games: tuple[str, str, str]
    kind: str
    """Which loop of the benchmarks it is measured beside: a kind of ``benchmarks/games.py``."""
    horizon: int = 2000
    short: int = 200
    """The horizon for interpreted play."""
    grows: bool = False
    """Whether a round costs more the later it is."""


def with_contexts(make: Callable[[Any], Any], games: tuple[str, str, str], kind: str) -> Entry:
    return Entry(make, games, kind, 300, 60)


def with_history(make: Callable[[Any], Any], games: tuple[str, str, str], kind: str) -> Entry:
    """Make the entry of a policy that looks through all of the past in every round, or sorts it now and then."""
    return Entry(make, games, kind, 300, 60, grows=True)


def size(game: Any) -> int:
    return int(game.arms.means.size)


def by_merit(make: Callable[..., Any], *settings: Any, **named: Any) -> Callable[[Any], Any]:
    """Return the maker of a policy that takes the merit of its game, and settings."""
    return lambda game: make(game.merit, *settings, **named)


def by_merit_and_size(make: Callable[..., Any], *settings: Any) -> Callable[[Any], Any]:
    """Return the maker of a policy that takes the merit, the arms and the plays of its game, and settings."""
    return lambda game: make(game.merit, size(game), game.plays, *settings)


def positive_table():
    """Contexts and a parameter with positive coordinates, so that means are in [0, 1]."""
    return co.linear_table(np.random.default_rng(1).random((40, 4, 3)), [0.2, 0.5, 0.3], sd=0.1)


def recorded_table():
    """Rewards 0 and 1 that no linear model made."""
    rng = np.random.default_rng(2)
    means = rng.random((30, 3))
    return co.table(rng.normal(size=(30, 3, 5)) / 3, means, (rng.random((30, 3)) < means) * 1.0)


TEN = 0.9 - 0.05 * np.arange(10)
WITHIN = ("bernoulli", "beta", "bernoulli, geometric delay")
THREE = ("bernoulli, three plays", "gaussian, three plays, fixed delay", "beta, three plays of three")
RANKS = ("section 6", "mixed groups", "employer, ten from all")


# What several papers' games sum, each as its definition says, in the plainest way: of a game, and of its rounds so far.


def regret(game, steps):
    means = game.arms.means
    best = (sum(sorted(means[step.available == 1], reverse=True)[: game.plays]) for step in steps)
    return sum(top - sum(means[a] for a in step.played) for top, step in zip(best, steps, strict=True))


def fair(game, means=None):
    """Return the fair policy: exposure in proportion to merit; an arm that would have more than 1 is always played."""
    cut = np.clip(game.arms.means if means is None else means, game.merit.low, game.merit.high)
    merits, plays = np.array([float(game.merit(mean)) for mean in cut]), getattr(game, "plays", 1)
    for certain in range(plays):
        others = np.argsort(-merits, kind="stable")[certain:]
        p = np.ones(merits.size)
        p[others] = (plays - certain) * merits[others] / merits[others].sum()
        if p.max() <= 1:
            break
    return p


def short(game, step):
    """Return by how much each arm has less than the fair policy gives it among the arms that are there."""
    p = fair(game) * step.available
    return game.plays * p / p.sum() - step.p


def signed_regret(game, steps):
    return sum((short(game, step) * game.arms.means).sum() for step in steps)


def unfairness(game, steps):
    return sum(abs(short(game, step)).sum() for step in steps)


def regret_in_context(game, steps):
    return sum(max(step.means) - step.means[step.played[0]] for step in steps)
