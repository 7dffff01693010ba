"""What Hypothesis draws for the properties of the package: games of every family for every policy of the zoo.

`make test` tries a sample, the same in each run. With ``PROPERTIES=full`` in the environment twenty times as many
examples are tried, others in each run; what fails is printed with a line that plays it again.
"""

import dataclasses
import math
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import zoo
from hypothesis import assume, settings
from hypothesis import strategies as st
from scipy.special import ndtr

import fairlib as fl
from fairlib import contexts as co
from fairlib import delays as de
from fairlib.core.arms import beta_draw, gaussian_draw
from fairlib.exposure import ExposureBandit
from fairlib.merit import Merit, clipped, exponential, power
from fairlib.shares import SharedBandit

FULL = os.environ.get("PROPERTIES") == "full"


def examples(number: int) -> settings:
    """Try so many examples, or twenty times as many where all are asked for."""
    return settings(max_examples=number * (20 if FULL else 1))


def numbers(low: float, high: float, size: int) -> st.SearchStrategy[list[float]]:
    """Draw a list of numbers, some of them alike, and some at the ends."""
    each = st.one_of(st.floats(low, high), st.sampled_from([low, high, (low + high) / 2]))
    return st.lists(each, min_size=size, max_size=size)


MERITS: dict[str, st.SearchStrategy[Merit]] = {
    "exponential": st.builds(
        lambda steepness, low, wide: exponential(steepness, low, low + wide),
        *(st.floats(0.1, 30), st.floats(-1, 0.5), st.floats(0.1, 1)),
    ),
    "power": st.builds(lambda tens, exponent: power(10**tens, exponent), st.floats(-2, 6), st.floats(1, 9)),
    "clipped": st.builds(clipped, st.floats(0.01, 0.9)),
}
TIMES = st.lists(st.integers(0, 30) | st.just(np.inf), min_size=1, max_size=6)


def rounds(arms: int) -> st.SearchStrategy[list[float]]:
    """Draw how many rounds late each arm's rewards are, some of them for ever."""
    return st.lists(st.integers(0, 30) | st.just(np.inf), min_size=arms, max_size=arms)


class LawOf(NamedTuple):
    """A kind of law: the laws of so many arms, and the chance that what an arm earns comes in time."""

    laws: Callable[[int], st.SearchStrategy[de.Law]]
    arrived: Callable[[Any, float, float], float]
    """Given the arm's numbers, the mean of its rewards, which are 0 or 1, and the rounds that they may take."""


LAWS = {
    "fixed": LawOf(lambda arms: st.builds(de.fixed, rounds(arms)), lambda has, mean, time: time >= has["rounds"]),
    "geometric": LawOf(
        lambda arms: st.builds(de.geometric, numbers(0.02, 1, arms)),
        lambda has, mean, time: -math.expm1(-time / has["scale"]) if has["scale"] > 0 else time >= 1,
    ),
    "Pareto": LawOf(
        lambda arms: st.builds(de.pareto, numbers(0.1, 5, arms)),
        lambda has, mean, time: -math.expm1(-has["index"] * math.log(time)) if time >= 1 else 0.0,
    ),
    "packet loss": LawOf(
        lambda arms: st.builds(de.packet_loss, numbers(0, 1, arms), st.none() | numbers(0, 1, arms)),
        lambda has, mean, time: mean * has["arrives"] + (1 - mean) * has["when_zero"],
    ),
    "biased": LawOf(
        lambda arms: st.builds(de.biased, rounds(arms), rounds(arms)),
        lambda has, mean, time: mean * (time >= has["when_one"]) + (1 - mean) * (time >= has["when_zero"]),
    ),
    "log-normal": LawOf(
        lambda arms: st.builds(de.log_normal, numbers(0.5, 50, arms), numbers(0.1, 3, arms)),
        lambda has, mean, time: float(ndtr((math.log(time + 1) - has["centre"]) / has["sigma"])),
    ),
    "empirical": LawOf(
        lambda arms: st.builds(de.empirical, st.lists(TIMES, min_size=arms, max_size=arms)),
        lambda has, mean, time: float(np.mean(has["delays"][: int(has["number"])] <= time)),
    ),
}


def _arms(draw, arms, number, merit):
    """Draw other arms of the same family, as many as asked for."""
    family = arms.draw.rule.function
    if family is gaussian_draw:
        low, high = (-2.0, 2.0) if merit is None else (merit.low, merit.high)
        return fl.gaussian(draw(numbers(low, high, number)), sd=draw(st.floats(0, 1)))
    low, high = (0.0, 1.0) if merit is None else (max(merit.low, 0.0), min(merit.high, 1.0))
    if family is beta_draw:
        return fl.beta(draw(numbers(0.1, 9, number)), draw(numbers(0.1, 9, number)))
    return fl.bernoulli(draw(numbers(low, high, number)))


@st.composite
def variants(draw, game):
    """Draw a game of the same family: with other arms and delays, in another world, and what its paper varies."""
    changes: dict[str, Any] = {}
    if isinstance(game, fl.Bandit):
        size = game.arms.means.size  # a merit that asks for at most every round of so many arms does so of more
        number = draw(st.integers(2 if game.plays == 1 else size, size + 2))
        changes["arms"] = _arms(draw, game.arms, number, getattr(game, "merit", None))
        if game.delay is not None:
            changes["delay"] = draw(st.sampled_from(list(LAWS)).flatmap(lambda kind: LAWS[kind].laws(number)))
    elif game.world.draw.rule.function is co.sphere_draw:
        parameter = draw(numbers(-0.7, 0.7, draw(st.integers(1, 5))))
        changes["world"] = co.sphere(draw(st.integers(2, 8)), parameter, draw(st.floats(0, 1)))
    more = zoo.VARIED.get(type(game))  # people, and the rows of a table, are what they are
    return more(draw, game, **changes) if more else dataclasses.replace(game, **changes)


class Play(NamedTuple):
    """A policy of the zoo and a game that it can play, for how long, and from which seed."""

    game: Any
    policy: Any
    horizon: int
    seed: int


def longest(name: str) -> int:
    """Return how many rounds a policy is tried for at most, as a round costs."""
    entry = zoo.ZOO[name]
    return 15 if entry.grows else 30 if name in zoo.WITH_CONTEXTS else 80


COME_AND_GO = fl.Bandit, SharedBandit, ExposureBandit
"""The games whose arms may come and go."""


def may_come_and_go(game: Any, policy: Any) -> bool:
    """Say whether arms may in a game, and a policy and each of its learners asks which arms are there."""
    try:
        return type(game) in COME_AND_GO and bool(policy.where_arms_come_and_go())
    except ValueError:
        return False


@st.composite
def plays(draw, name):
    """Draw a play of a policy of the zoo."""
    entry, seed = zoo.ZOO[name], draw(st.integers(0, 2**40))
    # Hypothesis begins with the least of everything: one round on arms that never pay. Too little for a sample of two.
    assume(seed > 0)
    game = draw(variants(zoo.game(draw(st.sampled_from(entry.games)))))
    policy = entry.make(game)
    if may_come_and_go(game, policy) and draw(st.booleans()):
        who = st.sets(st.integers(0, game.arms.means.size - 1), min_size=game.plays)
        rows = [np.isin(range(game.arms.means.size), [*each]) for each in draw(st.lists(who, min_size=1, max_size=5))]
        game = dataclasses.replace(game, available=np.array(rows, float))
    return Play(game, policy, draw(st.integers(1, longest(name))), seed)
