"""Exposure by merit, on arms and with contexts: games and policies."""

from collections.abc import Callable
from typing import Any

import fairlib as fl
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib.merit import clipped, exponential, power
from zoo.entry import (
    TEN,
    Entry,
    by_merit,
    fair,
    positive_table,
    recorded_table,
    regret,
    regret_in_context,
    signed_regret,
    size,
    unfairness,
    with_contexts,
)

EXPONENTIAL = ("exponential", "exponential, ten", "exponential, gaussian")
POWER = ("power", "power, steep", "power, gaussian")
CLIPPED = ("clipped", "clipped, beta", "clipped, gaussian")
GAUSSIAN = ("exponential, gaussian", "power, gaussian", "clipped, gaussian")
SEEN = ("sphere, exponential", "linear table, power", "table, exponential")


def exposed(arms, merit, **more):
    return ex.ExposureBandit(arms, merit=merit, **more)


def seen(world, merit):
    return ex.ContextExposureBandit(world, merit=merit)


def signed_regret_in_context(game, steps):
    return sum(((fair(game, step.means) - step.p) * step.means).sum() for step in steps)


def unfairness_in_context(game, steps):
    return sum(abs(fair(game, step.means) - step.p).sum() for step in steps)


MEASURES: dict[type, dict[str, Any]] = {
    ex.ExposureBandit: {"regret": regret, "reward_regret": signed_regret, "fairness_regret": unfairness},
    ex.ContextExposureBandit: {
        "regret": regret_in_context,
        "reward_regret": signed_regret_in_context,
        "fairness_regret": unfairness_in_context,
    },
}
GAMES: dict[str, Callable[[], Any]] = {
    "exponential": lambda: exposed(fl.bernoulli([0.8, 0.4, 0.6, 0.1]), exponential(4)),
    "exponential, ten": lambda: exposed(fl.beta(10 * TEN, 10 - 10 * TEN), exponential(10)),
    "exponential, gaussian": lambda: exposed(fl.gaussian([0.5, -0.5, 0.0], sd=0.5), exponential(2, -1, 1)),
    "exponential, delay": lambda: exposed(fl.bernoulli([0.8, 0.4]), exponential(2), delay=de.geometric([0.05, 0.5])),
    "power": lambda: exposed(fl.bernoulli([0.8, 0.4, 0.6]), power(2, 4)),
    "power, steep": lambda: exposed(fl.bernoulli(TEN), power(100, 4)),
    "power, gaussian": lambda: ex.games_of_steep_merit(2000, 10)[0],
    "clipped": lambda: exposed(fl.bernoulli([0.6, 0.2, 0.05]), clipped(0.1)),
    "clipped, beta": lambda: exposed(fl.beta([1, 3, 5, 7], [7, 5, 3, 1]), clipped(0.3)),
    "clipped, gaussian": lambda: ex.games_of_low_merit(2000)[0],
    "sphere, exponential": lambda: seen(co.sphere(4, [0.6, 0.8], sd=0.3), exponential(2, -1, 1)),
    "sphere, steep exponential": lambda: seen(co.sphere(10, [0.5, 0.5, 0.5, 0.1, 0.1]), exponential(8, -1, 1)),
    "linear table, exponential": lambda: seen(positive_table(), exponential(3)),
    "table, exponential": lambda: seen(recorded_table(), exponential(4)),
    "sphere, power": lambda: seen(co.sphere(3, [0.6, 0.8]), power(2, 4)),
    "linear table, power": lambda: seen(positive_table(), power(2, 4)),
    "linear table, steep power": lambda: seen(positive_table(), power(100, 4)),
}

ENTRIES = {
    "upper merit": Entry(by_merit(ex.upper_merit), ("exponential", "power, steep", "clipped"), "fairx-ucb"),
    "upper merit, known horizon": Entry(by_merit(ex.upper_merit, 0.7, horizon=2000), GAUSSIAN, "fairx-ucb"),
    "upper merit in doubt": Entry(
        by_merit(ex.upper_merit, factor=2), ("exponential", "power, gaussian", "clipped, beta"), "fairx-ucb"
    ),
    "upper merit, kl": Entry(
        lambda game: ex.upper_merit_kl(game.merit, size(game), 2000),
        ("exponential, delay", "power", "clipped, beta"),
        "fairx-ucb",
    ),
    "FairX-UCB, exponential": Entry(by_merit(ex.fairx_ucb, 0.3), EXPONENTIAL, "fairx-ucb"),
    "FairX-UCB, power": Entry(by_merit(ex.fairx_ucb, 0.3), POWER, "fairx-ucb, power"),
    "FairX-UCB, clipped": Entry(by_merit(ex.fairx_ucb, 0.3), CLIPPED, "fairx-ucb, power"),
    "FairX-UCB, gradient": Entry(by_merit(ex.fairx_ucb_gradient, 0.3), EXPONENTIAL, "fairx-ucb"),
    "FairX-TS": Entry(by_merit(ex.fairx_ts), ("exponential, delay", "power, steep", "clipped, beta"), "fairx-ts"),
    "FairX-TS, own prior": Entry(by_merit(ex.fairx_ts, 0.5, 2.0), ("exponential", "power", "clipped"), "fairx-ts"),
    "FairX-TS, normal": Entry(by_merit(ex.fairx_ts_gaussian, 2.0, 0.7), GAUSSIAN, "fairx-ts"),
    "FairX-EG": Entry(by_merit(ex.fairx_eg, 0.1), ("exponential, delay", "power", "clipped, gaussian"), "fairx-ucb"),
    "upper merit, linear": with_contexts(by_merit(ex.upper_merit_linear, radius=0.5), SEEN, "fairx-linucb"),
    "FairX-LinUCB, exponential": with_contexts(
        by_merit(ex.fairx_linucb, radius=0.5),
        ("sphere, exponential", "sphere, steep exponential", "linear table, exponential"),
        "fairx-linucb",
    ),
    "FairX-LinUCB, power": with_contexts(
        by_merit(ex.fairx_linucb, radius=0.3, ridge=0.5),
        ("sphere, power", "linear table, power", "linear table, steep power"),
        "fairx-linucb",
    ),
    "FairX-LinTS": with_contexts(by_merit(ex.fairx_lints, 2.0, 0.5), SEEN, "fairx-linucb"),
    "FairX-LinEG": with_contexts(by_merit(ex.fairx_lineg, 0.05), SEEN, "fairx-linucb"),
    "FairX-LinUCB, ellipsoid": with_contexts(by_merit(ex.fairx_linucb_search, 0.5), SEEN, "fairx-linucb, ellipsoid"),
    "FairX-LinUCB, gradient": with_contexts(
        by_merit(ex.fairx_linucb_search, 0.5, method="gradient"), SEEN, "fairx-linucb, gradient"
    ),
}
