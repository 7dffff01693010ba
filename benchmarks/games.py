"""The games of the benchmark: for each kind of policy a game of any size, and the loop of ``loops.c`` that plays it.

A policy of ``tests/zoo`` is measured on the game of the kind that its entry names, beside the loop of that kind. It is
checked that a loop plays what the policy of its kind plays.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import zoo

import fairlib as fl
from fairlib import contexts, delays, exposure, ranks, shares
from fairlib.merit import exponential, power


class Size(NamedTuple):
    """How large a game is: K arms, L plays a round, contexts of d numbers."""

    arms: int = 10
    plays: int = 1
    dimension: int = 10


class Kind(NamedTuple):
    """A kind of policy: its loop, its game by size, the merit and the delay of the game as the loop is told them."""

    loop: str
    plays: str  # the policy that the loop plays
    game: Callable[[Size], Any]
    size: Size = Size()
    merit: tuple[str, float, float] = ("0", 0.0, 0.0)
    delay: float = 0.0
    grows: bool = False  # a round costs more the later it is
    exact: bool = True  # whether the loop plays just that policy; or only something of the same size
    rounds: int = 2000  # how long both play to see that they do the same


def arms(size: Size) -> Any:
    """Return arms whose means fall evenly from 0.9 to 0.1."""
    return fl.bernoulli(np.linspace(0.9, 0.1, size.arms) if size.arms > 1 else [0.9])


def shared(size: Size) -> Any:
    """Return the game of guaranteed shares, half of the rounds in all."""
    return shares.SharedBandit(arms(size), shares=[0.5 / size.arms] * size.arms, tolerance=10)


def late(size: Size, merit: Any) -> Any:
    """Return a game of several plays whose rewards are twenty rounds late on average."""
    return delays.SemiBandit(arms(size), plays=size.plays, delay=delays.geometric([0.05] * size.arms), merit=merit)


def sphere(size: Size) -> Any:
    """Return the world of contexts on a sphere."""
    return contexts.sphere(size.arms, np.full(size.dimension, size.dimension**-0.5))


def seen(size: Size) -> Any:
    """Return the game of exposure with contexts."""
    return exposure.ContextExposureBandit(sphere(size), merit=exponential(2, -1, 1))


def ranked(size: Size) -> Any:
    """Return the game of ranks, with one candidate from each group."""
    groups = np.arange(size.arms)
    return ranks.separate_groups(1.0 + (groups[:, None] + np.arange(4)) % 3, 16 / 3 * groups, 2.0)


def exposed(merit: Any) -> Callable[[Size], Any]:
    """Return the game of exposure with some merit."""
    return lambda size: exposure.ExposureBandit(arms(size), merit=merit)


E4, E2, P2, P100 = ("e", 4.0, 0.0), ("e", 2.0, 0.0), ("p", 2.0, 4.0), ("p", 100.0, 4.0)
THREE = Size(plays=3)
PLAIN, STEEP = (lambda size: late(size, power(2, 4))), (lambda size: late(size, power(100, 4)))
KINDS: dict[str, Kind] = {
    "uniform": Kind("uniform", "uniform", lambda size: fl.Bandit(arms(size))),
    "uniform, three plays": Kind("uniform", "uniform, three plays", lambda size: fl.Bandit(arms(size), plays=3), THREE),
    "epsilon-greedy": Kind("epsilon-greedy", "epsilon-greedy", lambda size: fl.Bandit(arms(size))),
    "ucb1": Kind("ucb1", "UCB1", lambda size: fl.Bandit(arms(size))),
    "thompson": Kind("thompson", "Thompson sampling", lambda size: fl.Bandit(arms(size))),
    "fair-ucb": Kind("fair-ucb", "FAIR-UCB", shared),
    "fairx-ucb": Kind("fairx-ucb", "FairX-UCB, exponential", exposed(exponential(4)), merit=E4),
    "fairx-ucb, power": Kind("fairx-ucb", "FairX-UCB, power", exposed(power(2, 4)), merit=P2),
    "fairx-ts": Kind("fairx-ts", "FairX-TS", exposed(exponential(4)), merit=E4),
    "cucb-d": Kind("cucb-d", "CUCB-D", PLAIN, THREE, P2, 0.05),
    "mp-ts-d": Kind("mp-ts-d", "MP-TS-D", PLAIN, THREE, P2, 0.05),
    "fcucb-d": Kind("fcucb-d", "FCUCB-D", PLAIN, THREE, P2, 0.05),
    "fcucb-d, steep": Kind("fcucb-d", "FCUCB-D, steep", STEEP, Size(), P100, 0.05, exact=False),
    "fcts-d": Kind("fcts-d", "FCTS-D", PLAIN, THREE, P2, 0.05),
    "fcts-d, steep": Kind("fcts-d", "recent half, steep", STEEP, Size(), P100, 0.05, exact=False),
    "linucb": Kind("linucb", "LinUCB", lambda size: fl.ContextBandit(sphere(size))),
    "lints": Kind("lints", "LinTS", lambda size: fl.ContextBandit(sphere(size))),
    "fairx-linucb": Kind("fairx-linucb", "FairX-LinUCB, exponential", seen, merit=E2),
    "fairx-linucb, ellipsoid": Kind("fairx-linucb-ellipsoid", "FairX-LinUCB, ellipsoid", seen, merit=E2, rounds=500),
    "fairx-linucb, gradient": Kind("fairx-linucb-gradient", "FairX-LinUCB, gradient", seen, merit=E2),
    "fair-greedy": Kind("fair-greedy", "Fair-Greedy", ranked, Size(arms=4), grows=True, rounds=500),
}
KIND_OF = {name: KINDS[entry.kind] for name, entry in zoo.ZOO.items()}
LATE = 2500  # rounds where a round costs more the later it is: then the horizon is part of what is measured


def setting(name: str, size: Size | None = None, rounds: int = 1) -> tuple[Any, Any]:
    """Return the game and the policy of a zoo name, for at least so many rounds."""
    kind = KIND_OF[name]
    game = kind.game(size or kind.size)
    policy = zoo.ZOO[name].make(game)
    if policy.horizon is not None and policy.horizon < rounds:  # whose settings cost a round nothing
        policy = policy.replace(horizon=rounds)
    return game, policy


def came_to(name: str, game: Any, result: Any) -> list[float]:
    """Return what each run came to, by the figure that the loop of its kind prints."""
    loop = KIND_OF[name].loop
    if loop in ("linucb", "lints"):
        return [float(each) for each in result.regret[:, -1]]
    if hasattr(result, "fairness_regret"):
        return [float(each) for each in result.fairness_regret[:, -1]]
    return [float(each) for each in result.selected[:, -1] @ (game.arms.means[0] - game.arms.means)]
