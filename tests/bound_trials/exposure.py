"""Trials of the bounds on exposure by merit, on arms and with contexts."""

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from helpers import ramp

import fairlib as fl
from bound_trials.cases import FAIRNESS, REWARD, Case, Line, case, chance, in_words, means, played
from fairlib import contexts as co
from fairlib import exposure as ex
from fairlib.core import dot
from fairlib.merit import Merit, clipped, cut, exponential, fair_policy, play_by_merit, power

GENTLE = (exponential(0.2), exponential(0.1), exponential(0.4), exponential(0.5), exponential(0.3), exponential(0.2))
STEEP = (exponential(4), power(20, 2), clipped(0.1), exponential(8), exponential(6), exponential(5))
FEW = (2, 2, 3, 2, 3)


def farthest(merit: Merit, mu: Any, plays: int = 1) -> tuple[float, float]:
    """Return how unfair, and how poor, a round can be at most if it is played by the merit of some means.

    On average, if the true means `mu`, shape (K,), are those of many rounds, shape (n, K).

    One arm's merit moves the probabilities on a line, along which the distance is convex and the reward linear. So the
    most is at a corner, where every merit is the largest or the smallest.
    """
    mu = np.atleast_2d(mu)
    shares, best = corners(merit, mu.shape[1]), merit(np.clip(mu, merit.low, merit.high))
    off = (best / best.sum(axis=1, keepdims=True))[:, None, :] - shares
    unfair, poor = np.abs(off).sum(axis=2), np.einsum("nca,na->nc", off, mu)
    return plays * float(unfair.max(axis=1).mean()), plays * float(poor.max(axis=1).mean())


def believing_rule(merit, believed, plays, p):
    """Play by the merit of the same means in every round, true or not."""
    play_by_merit(merit, believed, plays, p)


def worst_believer(merit: Merit, mu: Any, fair: bool, plays: int = 1) -> fl.Policy:
    """Play by the merit of those extreme means that are the most unfair, or earn least; looked for one by one."""
    right = fair_policy(merit, np.clip(mu, merit.low, merit.high))

    def off(believed: Any) -> float:
        wrong = right - fair_policy(merit, believed)
        return float(np.abs(wrong).sum() if fair else wrong @ mu)

    believed = max(itertools.product((merit.low, merit.high), repeat=np.size(mu)), key=off)
    return fl.Policy("worst beliefs", believing_rule, plays=plays, merit=merit, believed=np.array(believed))


@lru_cache(maxsize=64)
def corners(merit: Merit, arms: int) -> Any:
    grid = merit(np.linspace(merit.low, merit.high, 1001))
    merits = np.array(list(itertools.product((grid.min(), grid.max()), repeat=arms)))
    return merits / merits.sum(axis=1, keepdims=True)


def exposed(i: int, merit: Merit) -> ex.ExposureBandit:
    return ex.ExposureBandit(fl.bernoulli(means(i, (1.0, 0.0), 2, FEW)), merit=merit)


def of_upper_merit(i: int) -> Case:
    merit = (exponential(0.2), exponential(4), clipped(0.1), exponential(8), ramp(0.5), exponential(6))[i]
    game, factor = exposed(i, merit), 1 + i % 2
    mu = game.arms.means
    most = farthest(merit, mu)[0]
    return case(
        f"means {in_words(mu)}, merit {merit!r}, factor {factor}",
        lambda t: ex.upper_merit_fairness_bound(merit, mu.size, t, factor=factor),
        lambda t: most * t,
        lambda runs, rounds: played(game, ex.upper_merit(merit, factor=factor), "fairness_regret", runs, rounds, i),
        lambda rounds: played(game, worst_believer(merit, mu, True), "fairness_regret", 2, rounds),
    )


def of_upper_merit_kl(i: int) -> Case:
    """Play for merit equal to the mean, with arms of mean 0."""
    mu = np.array([(0.9, 0.0), (0.5, 0.5), (0.9, 0.5, 0.0), (0.2, 0.8), (1.0, 0.0, 0.0), (1.0, 0.0)][i])
    merit = clipped(1e-9)
    game = ex.ExposureBandit(fl.bernoulli(mu), merit=merit)
    most = farthest(merit, mu)[0]

    def play(runs: int, rounds: Any) -> Any:
        return played(game, ex.upper_merit_kl(merit, mu.size, int(rounds[-1])), "fairness_regret", runs, rounds, i)

    return case(
        f"means {in_words(mu)}, merit the mean itself",
        lambda t: ex.upper_merit_kl_fairness_bound(mu, t),
        lambda t: most * t,
        play,
        lambda rounds: played(game, worst_believer(merit, mu, True), "fairness_regret", 2, rounds),
        throughout=False,
    )


def of_fairx_ucb(field: str) -> Callable[[int], Case]:
    fair = field == "fairness_regret"

    def make(i: int) -> Case:
        game = exposed(i, (GENTLE if fair else STEEP)[i])
        mu = game.arms.means

        def bound(t: Any) -> Any:
            if fair:
                return ex.fairx_ucb_fairness_bound(game, t, failure=0.1)
            return ex.fairx_ucb_reward_bound(mu.size, t, failure=0.1)

        def play(runs: int, rounds: Any) -> Any:
            width = float(ex.fairx_ucb_width(mu.size, int(rounds[-1]), failure=0.1))
            return played(game, ex.fairx_ucb(game.merit, width), field, runs, rounds, i)

        most = farthest(game.merit, mu)[0 if fair else 1]
        says = f"means {in_words(mu)}, merit {game.merit!r}"

        def worst(rounds: Any) -> Any:
            return played(game, worst_believer(game.merit, mu, fair), field, 2, rounds)

        return case(says, bound, lambda t: most * t, play, worst, throughout=False, failure=0.1)

    return make


DRAWS = 200  # from a prior, for the most that can happen on average


def over_a_prior(
    game: str,
    make: Callable[[int], Any],
    policy: Any,
    field: str,
    bound: Callable[[Any], Any],
    farthest_of: Callable[[Any], tuple[float, float]],
    worst_of: Callable[[Any], Any],
) -> Case:
    """Return a case in which every run has a game of its own, drawn from the prior."""
    most = float(np.mean([farthest_of(make(run))[0 if field == "fairness_regret" else 1] for run in range(DRAWS)]))

    def each(policy_of: Callable[[Any], Any], runs: int, rounds: Any) -> Any:
        games = [make(run) for run in range(runs)]
        return np.concatenate([played(one, policy_of(one), field, 1, rounds, run) for run, one in enumerate(games)])

    return case(
        game,
        bound,
        lambda t: most * t,
        lambda runs, rounds: each(lambda _: policy, runs, rounds),
        lambda rounds: each(worst_of, DRAWS, rounds),
    )


def of_fairx_ts(field: str) -> Callable[[int], Case]:
    fair = field == "fairness_regret"

    def make(i: int) -> Case:
        k, floor = (*FEW, 2)[i], (1.0, 0.5, 0.7, 2.0, 0.3, 0.1)[i]
        merit = ramp(floor)

        def drawn_from_the_prior(run: int) -> Any:
            return ex.ExposureBandit(fl.gaussian(chance(i, 3, run).normal(size=k)), merit=merit)

        return over_a_prior(
            f"{k} normal means, merit {floor:g} + x on [0, 1]",
            drawn_from_the_prior,
            ex.fairx_ts_gaussian(merit),
            field,
            (lambda t: ex.fairx_ts_fairness_bound(drawn_from_the_prior(0), t))
            if fair
            else (lambda t: ex.fairx_ts_reward_bound(k, t)),
            lambda game: farthest(merit, game.arms.means),
            lambda game: worst_believer(merit, game.arms.means, fair),
        )

    return make


def of_every_policy(i: int) -> Case:
    """Play three policies in both games of a pair: the best one's regret in the game that is the worse for it."""
    horizon, ratio = [(100, 10.0), (400, 20.0), (2000, 5.0), (2000, 40.0), (5000, 1.0), (30, 4.0)][i]
    pair = ex.games_of_steep_merit(horizon, ratio)
    merit = pair[0].merit
    policies = (ex.fairx_ts_gaussian(merit), ex.fairx_eg(merit, 0.05), fl.uniform())

    def in_both(each: tuple[Any, Any], runs: int) -> Any:
        two = [
            played(game, policy, "fairness_regret", runs, [horizon], i) for game, policy in zip(pair, each, strict=True)
        ]
        return max(two, key=np.mean)

    def play(runs: int) -> Any:
        return min((in_both((policy, policy), runs) for policy in policies), key=np.mean)

    def told() -> Any:
        """Play the fair policy of each game."""
        knows = [fl.Policy("told", believing_rule, plays=1, merit=merit, believed=game.arms.means) for game in pair]
        return in_both((knows[0], knows[1]), 2)

    bound = np.array([ex.fairness_lower_bound(ratio, horizon)])
    return Case(f"T = {horizon}, ratio {ratio:g}", np.array([horizon]), bound, np.zeros(1), play, told, below=True)


def of_widths(i: int) -> Case:
    """Look whether the intervals hold of arms that pay 1 or -1 and are played in turn."""
    k, horizon = [(2, 1000), (3, 3000), (5, 2000), (2, 20_000), (10, 10_000), (1, 100)][i]
    each, failure = horizon // k, (0.1, 0.1, 0.5, 0.5, 0.9, 0.9)[i]

    def largest(coins: Any) -> float:
        walks = np.cumsum(2.0 * coins - 1, axis=1)
        return float((np.abs(walks) / np.sqrt(np.arange(1, each + 1))).max())

    def play(runs: int) -> Any:
        return np.array([[largest(chance(i, 4, run).integers(0, 2, (k, each)))] for run in range(runs)])

    bound = np.array([ex.fairx_ucb_width(k, horizon, failure=failure)])
    most = np.array([math.sqrt(each)])
    return Case(
        f"{k} coins, T = {horizon}",
        np.array([horizon]),
        bound,
        most,
        play,
        lambda: np.array([[largest(np.ones((k, each)))]]),  # the worst luck: heads, always
        failure / 2,
    )


# Exposure with contexts ----------------------------------------------------------------------------------------------

SIZES = ((2, 1), (3, 1), (2, 2), (5, 1), (4, 1), (2, 1))  # arms and dimension


def farthest_seen(game: ex.ContextExposureBandit, rounds: int = 2000) -> tuple[float, float]:
    """Return how unfair, and how poor, a round can be at most, on average over so many rounds of `sphere`."""
    mu = game.world.settings["parameter"]
    x = np.random.default_rng(0).normal(size=(rounds, game.world.arms, mu.size))
    return farthest(game.merit, (x / np.linalg.norm(x, axis=2, keepdims=True)) @ mu)


def worst_seen_rule(merit, parameter, fair, now, p):
    """Play, round by round, by the merit of those extreme means that are the most unfair, or earn least."""
    means, right, wrong = np.empty(p.size), np.empty(p.size), np.empty(p.size)
    for a in range(p.size):
        means[a] = dot(parameter, now.contexts[a])
        right[a] = cut(means[a], merit)
    play_by_merit(merit, right, 1, right)
    most = -1.0
    for corner in range(2**p.size):
        for a in range(p.size):
            wrong[a] = merit.high if (corner >> a) % 2 == 1 else merit.low
        play_by_merit(merit, wrong, 1, wrong)
        off = 0.0
        for a in range(p.size):
            off += abs(right[a] - wrong[a]) if fair > 0 else (right[a] - wrong[a]) * means[a]
        if off > most:
            most = off
            p[:] = wrong


def worst_who_sees(game: ex.ContextExposureBandit, fair: bool) -> co.ContextPolicy:
    mu = game.world.settings["parameter"]
    more: dict[str, Any] = {"merit": game.merit, "parameter": mu, "fair": float(fair)}
    return co.ContextPolicy("worst beliefs", worst_seen_rule, dimension=mu.size, **more)


def on_a_sphere(i: int, fair: bool) -> tuple[co.World, Merit]:
    k, d = SIZES[i]
    mu = chance(i, 5).normal(size=d)
    merit = exponential((0.1, 0.1, 0.05, 0.05, 0.02, 0.02)[i] if fair else (4, 3, 5, 8, 2, 20)[i], -1, 1)
    return co.sphere(k, mu / np.linalg.norm(mu)), merit


def of_upper_merit_linear(i: int) -> Case:
    (k, d), world = SIZES[i], on_a_sphere(i, True)[0]
    merit = exponential((2, 3, 1, 4, 2, 5)[i], -1, 1)
    game = ex.ContextExposureBandit(world, merit=merit)
    most = farthest_seen(game, 100_000)[0]

    def play(runs: int, rounds: Any) -> Any:
        radius = float(ex.linucb_radius(d, rounds[-1], failure=1 / rounds[-1]))
        return played(game, ex.upper_merit_linear(merit, radius), "fairness_regret", runs, rounds, i)

    return case(
        f"{k} arms, d = {d}, merit {merit!r}",
        lambda t: ex.upper_merit_linear_fairness_bound(game, t),
        lambda t: most * t,
        play,
        lambda rounds: played(game, worst_who_sees(game, True), "fairness_regret", 10, rounds),
        throughout=False,
        last=3e5,
    )


def of_linucb(field: str) -> Callable[[int], Case]:
    fair = field == "fairness_regret"

    def make(i: int) -> Case:
        world, merit = on_a_sphere(i, fair)
        game, d = ex.ContextExposureBandit(world, merit=merit), SIZES[i][1]
        most = farthest_seen(game, 100_000)[0 if fair else 1]

        def bound(t: Any) -> Any:
            if fair:
                return ex.fairx_linucb_fairness_bound(game, t, failure=0.1)
            return ex.fairx_linucb_reward_bound(d, t, failure=0.1)

        def play(runs: int, rounds: Any) -> Any:
            policy = ex.fairx_linucb(merit, float(ex.linucb_radius(d, rounds[-1], failure=0.1)))
            return played(game, policy, field, runs, rounds, i)

        says = f"{SIZES[i][0]} arms, d = {d}, merit {merit!r}"

        def worst(rounds: Any) -> Any:
            return played(game, worst_who_sees(game, fair), field, 10, rounds)

        return case(says, bound, lambda t: most * t, play, worst, throughout=False, failure=0.1, last=3e5)

    return make


def of_lints(field: str) -> Callable[[int], Case]:
    fair = field == "fairness_regret"

    def make(i: int) -> Case:
        (k, d), (_, merit) = SIZES[i], on_a_sphere(i, fair)

        def drawn_from_the_prior(run: int) -> Any:
            return ex.ContextExposureBandit(co.sphere(k, chance(i, 6, run).normal(size=d)), merit=merit)

        return over_a_prior(
            f"{k} arms, d = {d}, normal parameter, merit {merit!r}",
            drawn_from_the_prior,
            ex.fairx_lints(merit),
            field,
            (lambda t: ex.fairx_lints_fairness_bound(drawn_from_the_prior(0), t))
            if fair
            else (lambda t: ex.fairx_lints_reward_bound(k, d, t)),
            farthest_seen,
            lambda game: worst_who_sees(game, fair),
        )

    return make


def regressions(i: int, runs: int, lucky: bool = True) -> Any:
    """Return how far the estimate ever was from the truth, where of three contexts the widest is taken.

    Contexts are even on the sphere, and rewards off by 1 or -1. Or, with the worst luck, each context is along the
    parameter and each reward is off against it.
    """
    d, horizon = ((1, 1000), (2, 1000), (3, 1000), (5, 1000), (8, 1000), (2, 100))[i]
    rng, every = chance(i, 7), np.arange(runs)
    mu = np.full(d, 1 / math.sqrt(d))
    inverse, gram, total = np.tile(np.eye(d), (runs, 1, 1)), np.tile(np.eye(d), (runs, 1, 1)), np.zeros((runs, d))
    off = np.zeros(runs)
    for _ in range(horizon):
        x = rng.normal(size=(runs, 3, d)) if lucky else np.tile(mu, (runs, 3, 1))
        x /= np.linalg.norm(x, axis=2, keepdims=True)
        squares = np.einsum("rai,rij,raj->ra", x, inverse, x)
        best = squares.argmax(axis=1)
        x, square = x[every, best], squares[every, best]
        along = np.einsum("rij,rj->ri", inverse, x)
        inverse -= along[:, :, None] * along[:, None, :] / (1 + square)[:, None, None]
        gram += x[:, :, None] * x[:, None, :]
        noise = 2.0 * rng.integers(0, 2, runs) - 1 if lucky else -np.ones(runs)
        total += x * (x @ mu + noise)[:, None]
        wrong = np.einsum("rij,rj->ri", inverse, total) - mu
        off = np.maximum(off, np.sqrt(np.einsum("ri,rij,rj->r", wrong, gram, wrong)))
    return off[:, None]


def of_radius(i: int) -> Case:
    d, horizon = ((1, 1000), (2, 1000), (3, 1000), (5, 1000), (8, 1000), (2, 100))[i]
    failure = (0.1, 0.5, 0.5, 0.1, 0.5, 0.9)[i]
    # The estimate is a projection of the noise and of the parameter, which the ridge takes for noise.
    bound, most = ex.linucb_radius(d, horizon, failure=failure), math.sqrt(horizon + 1)
    return Case(
        f"d = {d}, T = {horizon}, noise 1 or -1",
        np.array([horizon]),
        np.array([bound]),
        np.array([most]),
        lambda runs: regressions(i, runs),
        lambda: regressions(i, 2, lucky=False),
        failure / 2,
    )


LINES: dict[str, Line] = {
    "fairness_lower_bound": Line("fx-thm-3-1-5", "three policies", of_every_policy),
    "upper_merit_fairness_bound": Line("thm-upper-merit", "upper merit", of_upper_merit),
    "upper_merit_kl_fairness_bound": Line("thm-merit-is-mean", "upper merit, kl", of_upper_merit_kl),
    "upper_merit_linear_fairness_bound": Line("thm-upper-merit-linear", "upper merit, linear", of_upper_merit_linear),
    "fairx_ucb_width": Line("fx-lem-a-4-1", "each arm in turn", of_widths),
    "fairx_ucb_fairness_bound": Line("fx-thm-3-2-1", "FairX-UCB", of_fairx_ucb(FAIRNESS)),
    "fairx_ucb_reward_bound": Line("fx-thm-3-2-2", "FairX-UCB", of_fairx_ucb(REWARD)),
    "fairx_ts_fairness_bound": Line("fx-thm-3-3-1", "FairX-TS", of_fairx_ts(FAIRNESS)),
    "fairx_ts_reward_bound": Line("fx-thm-3-3-2", "FairX-TS", of_fairx_ts(REWARD)),
    "linucb_radius": Line("fx-prop-a-6-1", "the widest of three", of_radius),
    "fairx_linucb_fairness_bound": Line("fx-thm-4-2-1", "FairX-LinUCB", of_linucb(FAIRNESS)),
    "fairx_linucb_reward_bound": Line("fx-thm-4-2-2", "FairX-LinUCB", of_linucb(REWARD)),
    "fairx_lints_fairness_bound": Line("fx-thm-4-3-1", "FairX-LinTS", of_lints(FAIRNESS)),
    "fairx_lints_reward_bound": Line("fx-thm-4-3-2", "FairX-LinTS", of_lints(REWARD)),
}
