"""Trials of the bounds on guaranteed shares."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linprog

import fairlib as fl
from bound_trials.cases import NUMBER, Case, Line, always, case, chance, in_words, means, played
from fairlib import contexts as co
from fairlib import shares as sh
from fairlib.core import dot, largest


def shared(i: int) -> sh.SharedBandit:
    mu = means(i, (0.9, 0.1))
    owed = np.full(2, 0.4) if i == NUMBER - 1 else (0.95 / mu.size * chance(i, 1).random(mu.size)).round(3)
    return sh.SharedBandit(fl.bernoulli(mu), shares=owed, tolerance=(0, 1, 0, 5, 20, 0)[i])


def of_shares(
    bound: Callable[[Any, Any], Any], field: str, *, knows_horizon: bool = False, tolerant: bool = True
) -> Callable[[int], Case]:
    def make(i: int) -> Case:
        game = shared(i)
        if not tolerant:
            game = sh.SharedBandit(game.arms, shares=game.shares)
        mu, owed = game.arms.means, np.asarray(game.shares)
        gaps, poorest = mu.max() - mu, int(mu.argmin())

        def most(t: Any) -> Any:
            """Return what it costs to be fair, and to play the worst arm in every round that is left over."""
            quota = np.maximum(np.floor(np.outer(t, owed) + 1e-9) - game.tolerance, 0)
            plays = np.maximum(np.ceil(np.outer(np.subtract(t, 1), owed) - 1e-9) - game.tolerance, 0)
            plays[:, poorest] = np.ravel(t) - plays.sum(axis=1) + plays[:, poorest]
            cost = (plays if field == "regret" else plays - quota) @ gaps
            return cost if np.ndim(t) else float(cost[0])

        def play(runs: int, rounds: Any) -> Any:
            policy = sh.t_fair_ucb(owed, rounds[-1]) if knows_horizon else sh.fair_ucb(owed, game.tolerance)
            return played(game, policy, field, runs, rounds, i)

        def worst(rounds: Any) -> Any:
            policy = sh.fair_learn(always(poorest, mu.size), owed, game.tolerance)
            return played(game, policy, field, 2, rounds)

        says = f"means {in_words(mu)}, shares {in_words(owed)}, tolerance {game.tolerance:g}"
        return case(says, lambda t: bound(game, t), most, play, worst, first=10_000, throughout=not knows_horizon)

    return make


def friend_rule(arm: int, until: int, seen, p):
    """Play one arm for so many rounds, and any other afterwards."""
    return arm if seen.t <= until else (arm + 1) % p.size


def of_windows(i: int) -> Case:
    owed, credit, window, horizon = [
        ([0.75, 0.125, 0.0625], 1, 100, 1000),
        ([0.5, 0.3, 0.2], 1, 30, 300),
        ([0.1] * 6, 1, 60, 1000),
        ([0.6, 0.3], 5, 40, 1000),
        ([0.4, 0.2, 0.1], 2, 50, 1000),
        ([0.25] * 4, 1, 12, 300),  # nothing is left over
    ][i]
    arm, game = len(owed) - 1, fl.Bandit(fl.bernoulli([0.5] * len(owed)))

    def fewest(policy: fl.Policy, runs: int) -> Any:
        """Return the fewest plays of the last arm in a window."""
        every = range(1, horizon + 1)
        counts = fl.simulate(game, policy, horizon, runs=runs, rounds=every, seed=i).selected[:, :, arm]
        since = np.concatenate([np.zeros((runs, 1)), counts], axis=1)
        return (since[:, window:] - since[:, :-window]).min(axis=1)[:, None]

    friend = fl.Policy("friend", friend_rule, arm=arm, until=horizon // 2)
    return Case(
        f"shares {in_words(owed)}, credit {credit}, windows of {window}",
        np.array([horizon]),
        sh.window_plays(owed, window, credit)[arm:].astype(float),
        np.zeros(1),
        lambda runs: fewest(sh.windows_by_deadline(friend, owed, credit), runs),
        lambda: fewest(always(0, len(owed)), 2),
        below=True,
    )


def lowest_worth_rule(parameter, now, p):
    """Choose the candidate of the lowest expected reward."""
    for a in range(p.size):
        p[a] = -dot(parameter, now.contexts[a])
    return largest(p)


def of_sighted(i: int) -> Case:
    arms, d, share, noise, ridge = [
        (2, 1, 0.1, 0.1, 1.0),
        (3, 1, 0.1, 0.1, 0.1),
        (2, 2, 0.3, 0.1, 0.1),
        (3, 2, 0.05, 0.2, 1.0),
        (2, 1, 0.2, 0.5, 0.1),
        (2, 1, 0.0, 0.01, 0.01),  # the sharp end: hardly anything to learn or to keep
    ][i]
    rng, days = chance(i, 12), 8  # as many kinds of days, all as likely
    mu, x = np.abs(rng.normal(size=d)), np.abs(rng.normal(size=(days, arms, d)))
    mu, x = mu / np.linalg.norm(mu), x / np.linalg.norm(x, axis=2, keepdims=True) * rng.random((days, arms, 1))
    worth = x @ mu
    game = fl.ContextBandit(co.linear_table(x, mu, sd=noise))
    one_a_day, part = np.kron(np.eye(days), np.ones(arms)), np.tile(np.eye(arms), days) / days
    kept = {"A_eq": one_a_day, "b_eq": np.ones(days), "A_ub": -part, "b_ub": np.full(arms, -share)}
    best = -linprog(-worth.ravel() / days, bounds=(0, 1), **kept).fun  # of those who know the days
    greed, how = worth.max(axis=1).mean(), {"noise": noise, "norm": 1.0, "ridge": ridge}

    def lost(policy: fl.ContextPolicy, runs: int, rounds: Any) -> Any:
        return played(game, policy, "regret", runs, rounds, i) - (greed - best) * rounds

    return case(
        f"{arms} arms, d = {d}, share {share:g}, noise {noise:g}, ridge {ridge:g}",
        lambda t: sh.sighted_shares_bound(arms, d, t, share=share, **how),
        lambda t: np.asarray(t) * (best - worth.min(axis=1).mean()),
        lambda runs, rounds: lost(sh.sighted_shares(np.full(arms, share), failure=1 / rounds[-1], **how), runs, rounds),
        lambda rounds: lost(co.ContextPolicy("lowest", lowest_worth_rule, parameter=mu), 20, rounds),
        last=3e5,
        throughout=False,
    )


LINES: dict[str, Line] = {
    "fair_ucb_bound": Line("fm-thm-2", "FAIR-UCB", of_shares(sh.fair_ucb_bound, "r_regret")),
    "fair_ucb_worst_case_bound": Line(
        "fm-thm-3",
        "FAIR-UCB",
        of_shares(
            lambda game, t: sh.fair_ucb_worst_case_bound(game.arms.means.size, t, tolerance=game.tolerance), "r_regret"
        ),
    ),
    "fair_ucb_regret_bound": Line("fm-thm-4", "FAIR-UCB", of_shares(sh.fair_ucb_regret_bound, "regret")),
    "t_fair_ucb_bound": Line(
        "fm-thm-8", "T-FAIR-UCB", of_shares(sh.t_fair_ucb_bound, "r_regret", knows_horizon=True, tolerant=False)
    ),
    "window_plays": Line("thm-any-windows", "windows by deadline", of_windows),
    "sighted_shares_bound": Line("thm-sighted", "sighted shares", of_sighted),
}
