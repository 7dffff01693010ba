"""Trials of the bounds on relative ranks."""

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from bound_trials.cases import FEWER, NUMBER, Case, Line, case, chance, played
from fairlib import contexts as co
from fairlib import ranks as rk
from fairlib.core import World, any_of_the_best, dot
from fairlib.ranks.distributions import flat, rank


def line_draw(low, high, parameter, sd, rng, contexts, groups, means, rewards):
    """Draw one candidate from each group, whose context is a number between two ends."""
    for a in range(means.size):
        contexts[a, 0] = low[a] + (high[a] - low[a]) * rng.random()
        groups[a], means[a] = a, parameter * contexts[a, 0]
        rewards[a] = means[a] + sd * rng.standard_normal()


def on_a_line(i: int) -> tuple[rk.RankBandit, rk.Constants]:
    """Return two groups whose contexts are numbers: the smallest game, in which the bounds bite first."""
    low, high = [
        ([0.9, 0.8], [1.0, 1.0]),
        ([0.7, 0.9], [0.9, 1.0]),
        ([0.7, 0.8], [1.0, 1.0]),
        ([0.8, 0.85], [1.0, 0.95]),
        ([0.75, 0.75], [1.0, 1.0]),
        ([0.99, 0.98], [1.0, 1.0]),  # the sharp end: all contexts teach alike, and the bounds bite first of all
    ][i]
    # Rewards that are far apart: a small density, at the side of which the printed bound's constants are small, too.
    parameter, sd = (2e3, 2e3, 1.5e3, 2.5e3, 5e3, 2e4)[i], (0.1, 0.5, 0.1, 1.0, 0.5, 0.1)[i]
    one, other = np.array(low), np.array(high)
    world = World(2, 1, line_draw, groups=2, low=one, high=other, parameter=parameter, sd=sd)
    laws = [rk.uniform_sum([parameter * (b - a)], shift=parameter * a) for a, b in zip(low, high, strict=True)]
    told = rk.Constants(
        arms=2,
        groups=2,
        dimension=1,
        length=max(high),
        norm=parameter,
        sd=sd,
        density=max(law.largest_density for law in laws),
        eigenvalue=float(((one**2 + one * other + other**2) / 3).mean()),
        diameter=float((other - one).max()),
    )
    return rk.RankBandit(world, parameter=[parameter], distributions=laws), told


RIDGE = 1e-8


@lru_cache(maxsize=NUMBER)
def fair_greedy_regret(i: int, runs: int, horizon: int) -> Any:
    """Play once for all bounds that are of this horizon."""
    game, _ = on_a_line(i)
    return played(game, rk.fair_greedy(ridge=RIDGE, noise=1e-3), "fairness_regret", runs, np.array([horizon]), i)


def lowest_rank_rule(parameter, table, now, p):
    """Choose the lowest true rank."""
    for a in range(p.size):
        p[a] = -rank(table, now.groups[a], dot(parameter, now.contexts[a]))
    any_of_the_best(p)


def of_fair_greedy(bound_of: Callable[..., Any], failure: float) -> Callable[[int], Case]:
    def make(i: int) -> Case:
        game, told = on_a_line(i)
        more = {} if bound_of is rk.printed_bound else {"noise": 1e-3}
        settings: dict[str, Any] = {"parameter": game.parameter, "table": flat(game.distributions)}
        lowest = co.ContextPolicy("lowest rank", lowest_rank_rule, dimension=1, **settings)
        return case(
            f"two groups on a line, density {told.density:.3g}, noise {told.sd:g}",
            lambda t: bound_of(told, t, failure=failure, ridge=RIDGE, **more),
            # The ranks of K candidates are K uniform numbers: the largest and the least are this far apart on average.
            lambda t: np.asarray(t) * (told.arms - 1) / (told.arms + 1),
            lambda runs, rounds: fair_greedy_regret(i, runs, int(rounds[-1])),
            lambda rounds: played(game, lowest, "fairness_regret", 20, rounds),
            throughout=False,
            failure=failure,
        )

    return make


def of_rank_error(i: int) -> Case:
    """Look how far the ranks of the second half are from the truth, in the worst round and group."""
    groups, horizon = ((2, 200), (3, 200), (4, 100), (2, 400), (8, 100), (1, 30))[i]
    failure = (0.1, 0.5, 0.5, 0.1, 0.9, 0.9)[i]

    def largest(draws: Any) -> Any:
        worst = np.zeros(len(draws))
        for t in range(3, horizon + 1):
            half = np.sort(draws[:, :, (t - 1) // 2 : t - 1], axis=2)
            n = half.shape[2]
            above, below = np.arange(1, n + 1) / n - half, half - np.arange(n) / n
            off = np.maximum(above, below).max(axis=(1, 2))
            worst = np.maximum(worst, off * math.sqrt(t - 1))
        return worst[:, None]

    bound = np.array([rk.rank_error(groups, 2, horizon=horizon, failure=failure)])
    return Case(
        f"{groups} groups, T = {horizon}",
        np.array([horizon]),
        bound,
        np.array([math.sqrt(horizon - 1)]),
        lambda runs: largest(chance(i, 10).random((runs, groups, horizon))),
        lambda: largest(np.ones((2, groups, horizon))),  # the worst luck: all at the upper end
        failure,
    )


def of_price(i: int) -> Case:
    """Look whether fairness costs what it must, as often as it must."""
    step, horizon = ((1.0, 300), (2.0, 150), (1.5, 200), (3.0, 150), (0.5, 2000), (1.0, 60))[i]
    game = rk.separate_groups([[1.0], [1.0]], [step, 0.0], sd=0.1)
    epsilon = step / 2
    one, other = game.distributions
    p = rk.clash(one, other, epsilon)
    reach = math.sqrt(1 + step**2) * math.sqrt(3)
    failure = 1 - float(rk.price_probability(epsilon, p, reach, horizon))
    return Case(
        f"two groups {step:g} apart, T = {horizon}",
        np.array([horizon]),
        np.array([horizon * epsilon * p / 2]),
        np.zeros(1),
        lambda runs: played(game, rk.gmf(game), "regret", runs, np.array([horizon]), i),
        lambda: played(game, rk.reward_optimal(game), "regret", 2, np.array([horizon]), i),
        failure,
        below=True,
    )


LINES: dict[str, Line] = {
    "rank_error": Line("gmf-lem-c-1", "whoever", of_rank_error),
    "price_probability": Line("gmf-thm-3", "GMF", of_price),
    "fair_greedy_bound": Line(
        "thm-fair-greedy", "Fair-Greedy", of_fair_greedy(rk.fair_greedy_bound, 0.5), FEWER, quick=1
    ),
    "fair_greedy_log_bound": Line(
        "thm-fair-greedy", "Fair-Greedy", of_fair_greedy(rk.fair_greedy_log_bound, 0.5), FEWER, quick=1
    ),
    "printed_bound": Line("gmf-thm-1", "Fair-Greedy", of_fair_greedy(rk.printed_bound, 0.5), FEWER, quick=1),
}
