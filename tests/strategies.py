"""What Hypothesis draws for the properties of the package: games of every family for every policy of the zoo.

`make test` tries a sample, the same in each run. With ``PROPERTIES=full`` in the environment twenty times as many
examples are tried, others in each run; what fails is printed with a line that plays it again.
"""

import dataclasses
import os
from typing import Any, NamedTuple

import numpy as np
import zoo
from hypothesis import assume, settings
from hypothesis import strategies as st

import fairlib as fl
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import ranks as rk
from fairlib.core.arms import beta_draw, gaussian_draw
from fairlib.merit import clipped, exponential, power

FULL = os.environ.get("PROPERTIES") == "full"


def examples(number: int) -> settings:
    """Try so many examples, or twenty times as many where all are asked for."""
    return settings(max_examples=number * (20 if FULL else 1))


def numbers(low: float, high: float, size: int) -> st.SearchStrategy[list[float]]:
    """Draw a list of numbers, some of them alike, and some at the ends."""
    each = st.one_of(st.floats(low, high), st.sampled_from([low, high, (low + high) / 2]))
    return st.lists(each, min_size=size, max_size=size)


LAWS = ["fixed", "geometric", "Pareto", "packet loss", "biased", "log-normal", "empirical"]
MERITS = ["exponential", "power", "clipped"]


@st.composite
def laws(draw, arms, kind=None):
    """Draw a law of the delays of some arms, of one kind or of any."""
    rounds = st.one_of(st.integers(0, 30), st.just(np.inf))
    if kind is None:
        kind = draw(st.sampled_from(LAWS))
    if kind == "fixed":
        return de.fixed(draw(st.lists(rounds, min_size=arms, max_size=arms)))
    if kind == "geometric":
        return de.geometric(draw(numbers(0.02, 1, arms)))
    if kind == "Pareto":
        return de.pareto(draw(numbers(0.1, 5, arms)))
    if kind == "packet loss":
        return de.packet_loss(draw(numbers(0, 1, arms)), draw(st.none() | numbers(0, 1, arms)))
    if kind == "biased":
        one, zero = (draw(st.lists(rounds, min_size=arms, max_size=arms)) for _ in range(2))
        return de.biased(one, zero)
    if kind == "log-normal":
        return de.log_normal(draw(numbers(0.5, 50, arms)), draw(numbers(0.1, 3, arms)))
    return de.empirical([draw(st.lists(rounds, min_size=1, max_size=6)) for _ in range(arms)])


@st.composite
def merits(draw, kind):
    """Draw a merit function of one kind, gentle or steep."""
    if kind == "exponential":
        low = draw(st.floats(-1, 0.5))
        return exponential(draw(st.floats(0.1, 30)), low, low + draw(st.floats(0.1, 1)))
    if kind == "power":
        return power(10 ** draw(st.floats(-2, 6)), draw(st.floats(1, 2) | st.floats(2, 9)))
    return clipped(draw(st.floats(0.01, 0.9)))


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
    """Draw a game of the same family: with other arms, shares and delays, or in another world."""
    if isinstance(game, fl.Bandit):
        size = game.arms.means.size  # a merit that asks for at most every round of so many arms does so of more
        number = draw(st.integers(2 if game.plays == 1 else size, size + 2))
        changes: dict[str, Any] = {"arms": _arms(draw, game.arms, number, getattr(game, "merit", None))}
        if game.delay is not None:
            changes["delay"] = draw(laws(number))
        if hasattr(game, "shares"):  # in thousandths, so that a plain loop can count without rounding
            thousandths = st.integers(0, (1000 - 1) // number)
            changes["shares"] = np.array(draw(st.lists(thousandths, min_size=number, max_size=number))) / 1000
            changes["tolerance"] = float(draw(st.integers(0, 3)))
        return dataclasses.replace(game, **changes)
    if isinstance(game, rk.WeightedBandit):
        groups, length = game.weights.shape
        weights = [draw(numbers(0.5, 4, length)) for _ in range(groups)]
        biases, sd = draw(numbers(-2, 8, groups)), draw(st.floats(0, 2))
        if game.shares is None:
            return rk.separate_groups(weights, biases, sd, draw(st.floats(0, 1)))
        return rk.mixed_groups(weights, biases, sd, game.shares, draw(st.integers(2, 9)))
    if game.world.draw.rule.function is co.sphere_draw:
        parameter = draw(numbers(-0.7, 0.7, draw(st.integers(1, 5))))
        world = co.sphere(draw(st.integers(2, 8)), parameter, draw(st.floats(0, 1)))
        return dataclasses.replace(game, world=world)
    return game  # people, and the rows of a table, are what they are


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


@st.composite
def plays(draw, name):
    """Draw a play of a policy of the zoo."""
    entry, seed = zoo.ZOO[name], draw(st.integers(0, 2**40))
    # Hypothesis begins with the least of everything: one round on arms that never pay. Too little for a sample of two.
    assume(seed > 0)
    game = draw(variants(zoo.game(draw(st.sampled_from(entry.games)))))
    return Play(game, entry.make(game), draw(st.integers(1, longest(name))), seed)
