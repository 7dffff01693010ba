"""The games of the benchmark: for each kind of policy a game of any size, and the loop of ``loops.c`` that plays it.

A policy of ``tests/zoo.py`` is measured on the game of its kind, and the loop is its yardstick. The policy that stands
first in a kind's list is the one that the loop plays: that both do the same is checked.
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
    game: Callable[[Size], Any]
    policies: tuple[str, ...]
    size: Size = Size()
    merit: tuple[str, float, float] = ("0", 0.0, 0.0)
    delay: float = 0.0
    grows: bool = False  # a round costs more the later it is
    exact: bool = True  # whether the loop plays the first of the policies; or only something of the same size


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
KINDS: tuple[Kind, ...] = (
    Kind("uniform", lambda size: fl.Bandit(arms(size)), ("uniform",)),
    Kind("uniform", lambda size: fl.Bandit(arms(size), plays=3), ("uniform, three plays",), THREE),
    Kind("epsilon-greedy", lambda size: fl.Bandit(arms(size)), ("epsilon-greedy",)),
    Kind("ucb1", lambda size: fl.Bandit(arms(size)), ("UCB1", "mixed floor, UCB1", "chaining", "NCB")),
    Kind(
        "thompson",
        lambda size: fl.Bandit(arms(size)),
        (
            *("Thompson sampling", "Thompson sampling, own prior", "Thompson sampling, normal", "batched Thompson"),
            *(f"{floor} floor, batched Thompson" for floor in ("clipped", "scaled", "projected")),
        ),
    ),
    Kind(
        "fair-ucb",
        shared,
        (
            *("FAIR-UCB", "T-FAIR-UCB", "FAIR-LEARN, UCB1", "FAIR-LEARN, Thompson sampling"),
            *("FAIR-LEARN, epsilon-greedy", "LFG", "by deadline, UCB1", "in windows, UCB1"),
        ),
    ),
    Kind(
        "fairx-ucb",
        exposed(exponential(4)),
        ("FairX-UCB, exponential", "FairX-UCB, gradient", "FairX-EG", "fair to groups"),
        merit=E4,
    ),
    Kind("fairx-ucb", exposed(power(2, 4)), ("FairX-UCB, power", "FairX-UCB, clipped"), merit=P2),
    Kind("fairx-ts", exposed(exponential(4)), ("FairX-TS", "FairX-TS, own prior", "FairX-TS, normal"), merit=E4),
    Kind(
        "cucb-d",
        lambda size: late(size, power(2, 4)),
        ("CUCB-D", "CUCB-D, own radius", "FAIR-LEARN with plays, CUCB-D", "FAIR-LEARN with plays, uniform"),
        THREE,
        P2,
        0.05,
    ),
    Kind("mp-ts-d", lambda size: late(size, power(2, 4)), ("MP-TS-D",), THREE, P2, 0.05),
    Kind(
        "fcucb-d",
        lambda size: late(size, power(2, 4)),
        (
            *("FCUCB-D", "FCUCB-D, own radius", "FCUCB-D, late start", "OP-FCUCB-D", "OP-FCUCB-D, own radius"),
            "Two-box",
        ),
        THREE,
        P2,
        0.05,
    ),
    Kind(
        "fcucb-d",
        lambda size: late(size, power(100, 4)),
        ("FCUCB-D, steep", "OP-FCUCB-D, steep", "Two-box, steep"),
        Size(),
        P100,
        0.05,
        exact=False,
    ),
    Kind(
        "fcts-d",
        lambda size: late(size, power(2, 4)),
        ("FCTS-D", "OP-FCTS-D", "FGreedy-D", "recent half"),
        THREE,
        P2,
        0.05,
    ),
    Kind("fcts-d", lambda size: late(size, power(100, 4)), ("recent half, steep",), Size(), P100, 0.05, exact=False),
    Kind("linucb", lambda size: fl.ContextBandit(sphere(size)), ("LinUCB", "OFUL")),
    Kind("lints", lambda size: fl.ContextBandit(sphere(size)), ("LinTS",)),
    Kind(
        "fairx-linucb",
        seen,
        (
            *("FairX-LinUCB, exponential", "FairX-LinUCB, power", "FairX-LinTS", "FairX-LinEG"),
            *("FairX-LinUCB, ellipsoid", "FairX-LinUCB, gradient"),
        ),
        merit=E2,
    ),
    Kind(
        "fair-greedy",
        ranked,
        (
            *("Fair-Greedy", "Fair-Greedy, first of ties", "Fair-Greedy V2", "Fair-Greedy V2, half"),
            *("Fair-Greedy, rarely", "oracle rewards", "oracle CDF", "GMF", "reward-optimal", "at random", "Greedy"),
            "OFUL, as published",
        ),
        Size(arms=4),
        grows=True,
    ),
)
KIND_OF = {name: kind for kind in KINDS for name in kind.policies}
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
