"""Guaranteed shares: games and policies."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

import fairlib as fl
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import shares as sh
from zoo.entry import TEN, Entry, regret, with_contexts

SHARES = ("shares", "shares, tolerance", "shares, beta")
LATE_SHARES = ("shares", "shares, tolerance", "shares, delay")


def shared(arms, shares, **more):
    return sh.SharedBandit(arms, shares=shares, **more)


def with_shares(draw, game, arms, **changes):
    """Draw shares in thousandths, so that a plain loop can count without rounding, and a tolerance."""
    number = arms.means.size
    thousandths = draw(st.lists(st.integers(0, 999 // number), min_size=number, max_size=number))
    tolerance = float(draw(st.integers(0, 3)))
    return replace(game, arms=arms, shares=np.array(thousandths) / 1000, tolerance=tolerance, **changes)


def r_regret(game, steps):
    """Return the regret against the policy that serves every share up to the tolerance, and else plays the best arm."""
    if game.available:
        return math.nan  # which policy is the best is another question
    best, earned = max(game.arms.means), 0.0
    owed = [max(0, math.floor(exactly(r) * len(steps)) - game.tolerance) for r in game.shares]
    for owes, mean in zip(owed, game.arms.means, strict=True):
        earned += owes * mean
    earned += (len(steps) - sum(owed)) * best
    return earned - sum(game.arms.means[a] for step in steps for a in step.played)


def behind(game, steps):
    """Return how far each arm is behind its share of the rounds in which it was there, after each round."""
    shares, there = [exactly(r) for r in game.shares], np.cumsum([step.available for step in steps], axis=0)
    both = zip(there.tolist(), (step.selected.tolist() for step in steps), strict=True)
    return [r * n - played for rounds, plays in both for r, n, played in zip(shares, rounds, plays, strict=True)]


def violation(game, steps):
    return max(0, *map(math.floor, behind(game, steps)))


def deficit(game, steps):
    return float(max(0, *behind(game, steps)))


def exactly(share):
    """Return a share of thousandths that a float stands for."""
    return Fraction(round(1000 * float(share)), 1000)


VARIED = {sh.SharedBandit: with_shares}
MEASURES: dict[type, dict[str, Any]] = {
    sh.SharedBandit: {"regret": regret, "r_regret": r_regret, "violation": violation, "deficit": deficit}
}
GAMES: dict[str, Callable[[], Any]] = {
    "shares": lambda: shared(fl.bernoulli([0.9, 0.5, 0.7]), [0.1, 0.3, 0.2]),
    "shares, tolerance": lambda: shared(fl.bernoulli(TEN), np.full(10, 0.09), tolerance=10.0),
    "shares, beta": lambda: shared(fl.beta([8, 2], [2, 2]), [0.25, 0.4]),
    "shares, large": lambda: shared(fl.bernoulli([0.4, 0.9, 0.6]), [0.75, 0.125, 0.0625]),
    "two of a line": lambda: fl.ContextBandit(co.linear_table([[[0.9], [0.5]], [[0.2], [0.3]]], [1.0], sd=0.1)),
    "shares, delay": lambda: shared(fl.bernoulli([0.7, 0.5, 0.4]), [0.2, 0.3, 0.25], delay=de.geometric([0.1] * 3)),
}

ENTRIES = {
    "FAIR-LEARN, UCB1": Entry(
        lambda game: sh.fair_learn(fl.ucb1(), game.shares, game.tolerance), LATE_SHARES, "fair-ucb"
    ),
    "FAIR-LEARN, Thompson sampling": Entry(
        lambda game: sh.fair_learn(fl.thompson_beta(), game.shares, game.tolerance), LATE_SHARES, "fair-ucb"
    ),
    "FAIR-LEARN, epsilon-greedy": Entry(
        lambda game: sh.fair_learn(fl.epsilon_greedy(0.1), game.shares, game.tolerance), SHARES, "fair-ucb"
    ),
    "FAIR-UCB": Entry(lambda game: sh.fair_ucb(game.shares, game.tolerance), SHARES, "fair-ucb"),
    "T-FAIR-UCB": Entry(lambda game: sh.t_fair_ucb(game.shares, 2000), SHARES, "fair-ucb"),
    "LFG": Entry(lambda game: sh.lfg(game.shares, eta=10), LATE_SHARES, "fair-ucb"),
    "by deadline, UCB1": Entry(
        lambda game: sh.fair_by_deadline(fl.ucb1(), game.shares, int(game.tolerance)),
        ("shares, large", "shares, tolerance", "shares, delay"),
        "fair-ucb",
    ),
    "in windows, UCB1": Entry(
        lambda game: sh.fair_in_windows(fl.ucb1(), game.shares, game.tolerance), LATE_SHARES, "fair-ucb"
    ),
    "sighted shares": with_contexts(
        lambda game: sh.sighted_shares(np.full(game.world.arms, 0.02 / game.world.arms), 0.1, 1.0, 0.05, ridge=0.1),
        ("sphere, exponential", "linear table, power", "two of a line"),
        "linucb",
    ),
    "windows by deadline, UCB1": Entry(
        lambda game: sh.windows_by_deadline(fl.ucb1(), game.shares),
        ("shares, large", "shares, tolerance", "shares, delay"),
        "fair-ucb",
    ),
}
