"""Guaranteed shares: games and policies."""

from collections.abc import Callable
from typing import Any

import numpy as np

import fairlib as fl
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import shares as sh
from zoo.entry import TEN, on_arms, with_contexts

SHARES = ("shares", "shares, tolerance", "shares, beta")
LATE_SHARES = ("shares", "shares, tolerance", "shares, delay")


def shared(arms, shares, **more):
    return sh.SharedBandit(arms, shares=shares, **more)


GAMES: dict[str, Callable[[], Any]] = {
    "shares": lambda: shared(fl.bernoulli([0.9, 0.5, 0.7]), [0.1, 0.3, 0.2]),
    "shares, tolerance": lambda: shared(fl.bernoulli(TEN), np.full(10, 0.09), tolerance=10.0),
    "shares, beta": lambda: shared(fl.beta([8, 2], [2, 2]), [0.25, 0.4]),
    "shares, large": lambda: shared(fl.bernoulli([0.4, 0.9, 0.6]), [0.75, 0.125, 0.0625]),
    "two of a line": lambda: fl.ContextBandit(co.linear_table([[[0.9], [0.5]], [[0.2], [0.3]]], [1.0], sd=0.1)),
    "shares, delay": lambda: shared(fl.bernoulli([0.7, 0.5, 0.4]), [0.2, 0.3, 0.25], delay=de.geometric([0.1] * 3)),
}

ENTRIES = {
    "FAIR-LEARN, UCB1": on_arms(
        lambda game: sh.fair_learn(fl.ucb1(), game.shares, game.tolerance), LATE_SHARES, "fair-ucb"
    ),
    "FAIR-LEARN, Thompson sampling": on_arms(
        lambda game: sh.fair_learn(fl.thompson_beta(), game.shares, game.tolerance), LATE_SHARES, "fair-ucb"
    ),
    "FAIR-LEARN, epsilon-greedy": on_arms(
        lambda game: sh.fair_learn(fl.epsilon_greedy(0.1), game.shares, game.tolerance), SHARES, "fair-ucb"
    ),
    "FAIR-UCB": on_arms(lambda game: sh.fair_ucb(game.shares, game.tolerance), SHARES, "fair-ucb"),
    "T-FAIR-UCB": on_arms(lambda game: sh.t_fair_ucb(game.shares, 2000), SHARES, "fair-ucb"),
    "LFG": on_arms(lambda game: sh.lfg(game.shares, eta=10), LATE_SHARES, "fair-ucb"),
    "by deadline, UCB1": on_arms(
        lambda game: sh.fair_by_deadline(fl.ucb1(), game.shares, int(game.tolerance)),
        ("shares, large", "shares, tolerance", "shares, delay"),
        "fair-ucb",
    ),
    "in windows, UCB1": on_arms(
        lambda game: sh.fair_in_windows(fl.ucb1(), game.shares, game.tolerance), LATE_SHARES, "fair-ucb"
    ),
    "sighted shares": with_contexts(
        lambda game: sh.sighted_shares(np.full(game.world.arms, 0.02 / game.world.arms), 0.1, 1.0, 0.05, ridge=0.1),
        ("sphere, exponential", "linear table, power", "two of a line"),
        "linucb",
    ),
    "windows by deadline, UCB1": on_arms(
        lambda game: sh.windows_by_deadline(fl.ucb1(), game.shares),
        ("shares, large", "shares, tolerance", "shares, delay"),
        "fair-ucb",
    ),
}
