"""Several plays and late feedback: games and policies."""

import math
from collections.abc import Callable
from typing import Any

import fairlib as fl
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib.merit import clipped, exponential, power
from zoo.entry import Entry, fair, regret, signed_regret, unfairness
from zoo.entry import by_merit_and_size as made

FOUR = [0.9, 0.5, 0.5, 0.5]
SEVEN = [0.3, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4]
STEEP = ("steep, at once", "steep, geometric", "steep, biased")
BIASED = ("geometric", "biased", "fixed")
OWN = (0.1, 0.2)  # a radius


def semi(means, plays, delay=None, merit=None):
    return de.SemiBandit(fl.bernoulli(means), plays=plays, delay=delay, merit=merit or power(2, 4))


def positive_regret(game, steps):
    return sum(max(0.0, ((fair(game) - step.p) * game.arms.means).sum()) for step in steps)


MEASURES: dict[type, dict[str, Any]] = {
    de.SemiBandit: {
        "regret": regret,
        "reward_regret": positive_regret,
        "signed_regret": signed_regret,
        "fairness_regret": unfairness,
    }
}
GAMES: dict[str, Callable[[], Any]] = {
    "at once": lambda: semi(FOUR, 2),
    "geometric": lambda: semi(SEVEN, 3, de.geometric([0.05] * 7)),
    "fixed": lambda: semi(FOUR, 2, de.fixed([20, 0, 5, math.inf]), exponential(1)),
    "Pareto": lambda: semi(SEVEN, 3, de.pareto([1.0, 0.5, 2.0, 0.8, 1.0, 0.3, 1.5])),
    "packet loss": lambda: semi(FOUR, 2, de.packet_loss([0.8, 0.4, 0.9, 0.5])),
    "packet loss by reward": lambda: semi([0.2, 0.9, 0.6], 1, de.packet_loss([0.8, 0.5, 0.1], [0.2, 0.5, 0.9])),
    "biased": lambda: semi(FOUR, 2, de.biased([200, 0, 0, 0], [0, 200, 200, 200])),
    "log-normal": lambda: semi(SEVEN, 3, de.log_normal([10, 100, 5, 50, 20, 3, 1], [2, 1, 0.5, 1.5, 1, 0.1, 3])),
    "capped": lambda: semi(FOUR, 2, merit=exponential(6)),
    "empirical": lambda: semi(FOUR, 1, de.empirical([[0, 3, 3, 10], [7], [0, math.inf], [1, 100]]), clipped(0.2)),
    "steep, at once": lambda: semi(FOUR, 1, merit=power(100, 4)),
    "steep, geometric": lambda: semi(SEVEN, 1, de.geometric([0.05] * 7), power(100, 4)),
    "steep, biased": lambda: semi(FOUR, 1, de.biased([200, 0, 0, 0], [0, 200, 200, 200]), power(100, 4)),
}

ENTRIES = {
    "FCUCB-D": Entry(made(de.fcucb_d), ("geometric", "fixed", "at once"), "fcucb-d"),
    "FCUCB-D, own radius": Entry(made(de.fcucb_d, OWN), ("Pareto", "packet loss", "empirical"), "fcucb-d"),
    "FCUCB-D, steep": Entry(made(de.fcucb_d, OWN), STEEP, "fcucb-d, steep"),
    "upper merit, delayed": Entry(made(de.upper_merit_delayed), ("geometric", "fixed", "steep, biased"), "fcucb-d"),
    "upper merit, several plays": Entry(
        lambda game: ex.upper_merit(game.merit, plays=game.plays), ("capped", "geometric", "at once"), "fcucb-d"
    ),
    "FCTS-D": Entry(made(de.fcts_d), ("geometric", "log-normal", "empirical"), "fcts-d"),
    "OP-FCUCB-D": Entry(made(de.op_fcucb_d), BIASED, "fcucb-d"),
    "OP-FCUCB-D, own radius": Entry(
        made(de.op_fcucb_d, OWN), ("log-normal", "packet loss by reward", "at once"), "fcucb-d"
    ),
    "OP-FCUCB-D, steep": Entry(made(de.op_fcucb_d, OWN), STEEP, "fcucb-d, steep"),
    "OP-FCTS-D": Entry(made(de.op_fcts_d), ("geometric", "biased", "Pareto"), "fcts-d"),
    "Two-box": Entry(made(de.two_box, 2000), BIASED, "fcucb-d"),
    "Two-box, steep": Entry(made(de.two_box, 2000), STEEP, "fcucb-d, steep"),
    "recent half": Entry(made(de.recent_half), ("geometric", "biased", "packet loss by reward"), "fcts-d"),
    "recent half, steep": Entry(made(de.recent_half), STEEP, "fcts-d, steep"),
    "CUCB-D": Entry(lambda game: de.cucb_d(game.plays), ("geometric", "packet loss", "empirical"), "cucb-d"),
    "CUCB-D, own radius": Entry(lambda game: de.cucb_d(game.plays, OWN), ("at once", "biased", "log-normal"), "cucb-d"),
    "MP-TS-D": Entry(lambda game: de.mp_ts_d(game.plays), ("geometric", "fixed", "packet loss by reward"), "mp-ts-d"),
    "FGreedy-D": Entry(made(de.fgreedy_d, 0.13), ("geometric", "empirical", "at once"), "fcts-d"),
    "FCUCB-D, late start": Entry(
        lambda game: de.late_start(made(de.fcucb_d, OWN)(game), 3), ("geometric", "fixed", "empirical"), "fcucb-d"
    ),
}
