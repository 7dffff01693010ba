"""Trials of bounds: each bound of the package on games made by a fixed rule, where it bites.

A bound *bites* where it is below the most that can happen. Only there can a trial fail, so a trial looks for the first
horizon where it does, plays there, and says of a game in which it found none that the bound is *vacuous*, never that it
held. The most that can happen is what the worst policy loses, or what the worst luck does: each game says how to play
that, and a test plays it. `LINES` has a line for every bound, whose `make` makes its games; `judge` says what came of
one.
"""

import csv
import itertools
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from helpers import ramp
from scipy.optimize import linprog
from scipy.stats import beta

import fairlib as fl
from fairlib import after as af
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import ranks as rk
from fairlib import shares as sh
from fairlib.core import Number, PerArm, World, any_of_the_best, arm_metrics, dot, largest
from fairlib.core.result import versions
from fairlib.merit import Merit, clipped, cut, exponential, fair_policy, play_by_merit, power
from fairlib.ranks.distributions import flat, rank
from fairlib.rules.bound_rule import BoundRule

RUNS = 1000
QUICK = 20  # runs of the one game that `make test` plays
FEWER = 12  # of Fair-Greedy, which looks through all of the past in every round: so few can tell a share of a half
NUMBER = 6  # games for each bound: five drawn, and one at the sharp end

# A mean counts as above a bound if it is 4.5 standard errors above it: by chance that is 1 in 300,000, and all trials
# together make some thousands of comparisons. The intervals of shares, some hundred, leave out 1 in 1,000.
ERRORS = 4.5
LEFT_OUT = 1e-3


class Verdict(NamedTuple):
    """What came of one game."""

    word: str
    """`held`, `violated`, `open` if there are too few runs to tell, or `vacuous`."""
    tightness: float = math.nan
    """What the theorem speaks of (a mean or a quantile) over the bound: 1 leaves no room."""
    violations: int = 0
    """Runs above a bound that is to hold for most of them."""
    low: float = math.nan
    """The interval of the share of violations that the runs allow for, from here"""
    high: float = math.nan
    """to there; or the mean less and plus its standard errors, over the bound."""


def judge(values: Any, bound: Any, most: Any, failure: float | None, *, below: bool = False) -> Verdict:
    """Judge a bound by runs, shape (runs, R), where bound and most are known in each of R rounds.

    The bound is on the mean if `failure` is None, and otherwise one that at most this share of all runs may violate. If
    `below`, it is one from below, and `most` is the least that can happen.
    """
    sign = -1.0 if below else 1.0
    bites = sign * np.asarray(bound) < sign * np.asarray(most)
    if not bites.any():
        return Verdict("vacuous")
    seen, limit = np.asarray(values)[:, bites], np.asarray(bound)[bites]
    runs = len(seen)
    if failure is None:
        mean, error = seen.mean(axis=0), ERRORS * seen.std(axis=0, ddof=1) / math.sqrt(runs)
        at = int(np.argmax(sign * (mean - limit) / np.abs(limit)))
        low, high = ((mean + side * error) / limit for side in (-1, 1))
        # Rounding is no violation: where every run is the same a bound can be met to the last digit.
        above = (sign * (mean - limit) - error > 1e-9 * np.abs(limit)).any()
        held = (sign * (mean - limit) + error <= 1e-9 * np.abs(limit)).all()
        tightness = mean[at] / limit[at]
        word = "violated" if above else "held" if held else "open"
        return Verdict(word, float(1 / tightness if below else tightness), 0, float(low[at]), float(high[at]))
    over = int((sign * (seen - limit) > 1e-9 * np.abs(limit)).any(axis=1).sum())
    low = float(beta.ppf(LEFT_OUT / 2, over, runs - over + 1)) if over else 0.0
    high = float(beta.ppf(1 - LEFT_OUT / 2, over + 1, runs - over)) if over < runs else 1.0
    ratios = (limit / seen if below else seen / limit).max(axis=1)
    word = "violated" if low > failure else "held" if high <= failure else "open"
    return Verdict(word, float(np.quantile(ratios, 1 - failure)), over, low, high)


class Case(NamedTuple):
    """A game in which a bound is tried: the rounds that are looked at, what holds in each, and the play."""

    game: str
    rounds: Any
    bound: Any
    most: Any
    play: Callable[[int], Any]
    """Plays so many runs, and returns what the bound is on, shape (runs, R)."""
    worst: Callable[[], Any]
    """Plays the worst policy, or the worst luck, and returns what the bound is on, shape (runs, R), for which `most` is
    the mean. If `below`, it plays the best."""
    failure: float | None = None
    below: bool = False


LADDER = [int(digit * 10.0**power) for power in range(1, 8) for digit in (1, 1.5, 2, 3, 5, 7)]


def where_it_bites(bound: Callable[[Any], Any], most: Callable[[Any], Any], first: float, last: float) -> int:
    """Return the first horizon of the ladder at which a bound is at most nine tenths of all that can happen.

    Or the last horizon that can be played, where the bound may be vacuous.
    """
    steps = [t for t in LADDER if first <= t <= last]
    return next((t for t in steps if float(bound(t)) <= 0.9 * float(most(t))), steps[-1])


def case(
    game: str,
    bound: Callable[[Any], Any],
    most: Callable[[Any], Any],
    play: Callable[[int, Any], Any],
    worst: Callable[[Any], Any],
    *,
    first: int = 1000,
    last: float = 2e6,
    throughout: bool = True,
    **more: Any,
) -> Case:
    """Return a case at the horizon where the bound bites, and at rounds on the way if the policy doesn't know it.

    Both `play`, with so many runs, and `worst` are given the rounds.
    """
    horizon = where_it_bites(bound, most, first, last)
    rounds = np.unique(np.geomspace(10, horizon, 20).astype(int)) if throughout else np.array([horizon])
    losses = np.asarray(bound(rounds)), np.asarray(most(rounds))
    return Case(game, rounds, *losses, lambda runs: play(runs, rounds), lambda: worst(rounds), **more)


def played(game: Any, policy: Any, field: str, runs: int, rounds: Any, seed: int = 0) -> Any:
    """Play, and return one regret at the rounds."""
    return getattr(fl.simulate(game, policy, int(rounds[-1]), runs=runs, rounds=rounds, seed=seed), field)


def chance(*numbers: int) -> np.random.Generator:
    """Return where the games come from, for one of them."""
    return np.random.default_rng([2026, *numbers])


def means(i: int, sharp: tuple[float, ...], stream: int = 0, sizes: tuple[int, ...] = (2, 2, 3, 4, 6)) -> Any:
    """Return the means of game i: drawn evenly until they are half apart, and in the last game at the sharp end."""
    if i == NUMBER - 1:
        return np.array(sharp)
    rng, mu = chance(i, stream), np.zeros(1)
    while np.ptp(mu) < 0.5:
        mu = rng.random(sizes[i]).round(2)
    return mu


def in_words(values: Any) -> str:
    return "(" + ", ".join(f"{each:g}" for each in values) + ")"


def always_rule(chances, p):
    """Play by the same probabilities in every round."""
    p[:] = chances


def always(arm: int, arms: int, surely: float = 1.0) -> fl.Policy:
    """Play one arm, whatever happens."""
    return fl.Policy(
        "always the same", always_rule, chances=np.where(np.arange(arms) == arm, surely, (1 - surely) / (arms - 1))
    )


# UCB1, and guaranteed shares -----------------------------------------------------------------------------------------


def of_ucb1(worst: bool) -> Callable[[int], Case]:
    def make(i: int) -> Case:
        # The sharp end: a sure thing for what depends on the gaps, a gap that is hard to tell for what doesn't.
        mu = means(i, (0.6, 0.4) if worst else (1.0, 0.0))
        game = fl.Bandit(fl.bernoulli(mu))
        gap = mu.max() - mu.min()
        return case(
            f"means {in_words(mu)}",
            lambda t: fl.ucb1_worst_case_bound(mu.size, t) if worst else fl.ucb1_bound(game, t),
            lambda t: gap * t,
            lambda runs, rounds: played(game, fl.ucb1(), "regret", runs, rounds, i),
            lambda rounds: played(game, always(mu.argmin(), mu.size), "regret", 2, rounds),
            first=10_000,
        )

    return make


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


def forced_metrics(t, p, forced: Number):
    """Count the rounds in which the play was certain: the learner's never is."""
    forced[0] += 1.0 if p.max() == 1.0 else 0.0


class Guarded(fl.Bandit):
    """A game that counts the rounds in which the guard stepped in."""

    @property
    def metrics(self) -> BoundRule:
        """What is summed."""
        return arm_metrics(forced_metrics)

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> Any:
        """Return nothing else."""
        return sums["forced"]


def of_guard(i: int) -> Case:
    arms, share, floor, tolerance = [
        (2, 0.3, 0.5, 0),
        (3, 0.2, 0.3, 0),
        (4, 0.15, 0.2, 1),
        (2, 0.45, 0.5, 0),
        (6, 0.1, 0.15, 2),
        (2, 0.05, 0.5, 0),
    ][i]
    mu = np.linspace(0.2, 0.8, arms)
    owed, bound = np.full(arms, share), af.guard_rounds(arms, share, floor, tolerance)

    def forced(learner: fl.Policy, runs: int, rounds: Any) -> Any:
        policy = sh.fair_learn(learner, owed, tolerance)
        return fl.simulate(Guarded(fl.bernoulli(mu)), policy, int(rounds[-1]), runs=runs, rounds=rounds, seed=i)

    return case(
        f"{arms} arms, share {share:g}, floor {floor:g}, tolerance {tolerance}",
        lambda t: np.full(np.shape(t), bound),
        # A learner that plays but one arm leaves all that the others are owed to the guard.
        lambda t: (arms - 1) * np.maximum(share * np.asarray(t) - tolerance, 0.0),
        lambda runs, rounds: forced(af.mixed_floor(fl.ucb1(), floor), runs, rounds),
        lambda rounds: forced(always(0, arms, surely=1 - 1e-6), 20, rounds),
        first=10_000,
    )


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


def part_metrics(shares, allowed, t, selected, part: Number):
    """Keep the largest deficit so far, as a part of what is allowed to the arm."""
    for a in range(selected.size):
        part[0] = max(part[0], (shares[a] * t - selected[a]) / allowed[a])


@dataclass(frozen=True, eq=False, repr=False)
class Owing(fl.Bandit):
    """A game that looks how far behind the arms fall, as a part of what is allowed to them."""

    shares: Any = field(kw_only=True)
    allowed: Any = field(kw_only=True)

    @property
    def metrics(self) -> BoundRule:
        """What is summed."""
        return arm_metrics(part_metrics, shares=self.shares, allowed=self.allowed)

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> Any:
        """Return nothing else."""
        return sums["part"]


def most_ahead_rule(shares, plays, seen, ahead: PerArm, p):
    """Play the arms that are furthest ahead of their shares."""
    for a in range(p.size):
        ahead[a] = seen.selected[a] - shares[a] * seen.t
    for _ in range(plays):
        a = largest(ahead)
        ahead[a], p[a] = -math.inf, 1.0


def the_first_rule(plays, p):
    """Play the first arms, whatever happens."""
    for a in range(plays):
        p[a] = 1.0


def of_several_plays(i: int) -> Case:
    plays, owed, tolerance = [
        (2, [0.2, 0.3, 0.25, 0.32, 0.1, 0.33], 0.0),
        (2, [0.45, 0.3, 0.5], 1.0),
        (3, [0.6] * 5, 0.0),
        (3, [0.1, 0.3, 0.2, 0.33, 0.25, 0.15, 0.33], 2.0),
        (4, [0.5, 0.4, 0.3, 0.2, 0.45], 0.5),
        (2, [0.5] * 4, 0.0),  # the sharp end: no policy does better
    ][i]
    shares, allowed = np.array(owed), af.several_plays_deficit(owed, plays, tolerance)
    game = Owing(fl.bernoulli([0.5] * shares.size), plays=plays, shares=shares, allowed=allowed)
    learner = fl.Policy("most ahead", most_ahead_rule, plays=plays, shares=shares)
    return case(
        f"{shares.size} arms, {plays} plays, shares {in_words(owed)}, tolerance {tolerance:g}",
        lambda t: np.ones(np.shape(t)),
        # A learner by itself that plays the first arms alone leaves all that the others are owed.
        lambda t: np.asarray(t) * (shares / allowed)[plays:].max(),
        lambda runs, rounds: fl.simulate(
            game, af.fair_learn_plays(learner, owed, tolerance), int(rounds[-1]), runs=runs, rounds=rounds, seed=i
        ),
        lambda rounds: fl.simulate(
            game, fl.Policy("the first", the_first_rule, plays=plays), int(rounds[-1]), runs=2, rounds=rounds
        ),
    )


# Exposure ------------------------------------------------------------------------------------------------------------

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


def of_upper_merit(*, known: bool) -> Callable[[int], Case]:
    def make(i: int) -> Case:
        merit = (exponential(0.2), exponential(4), clipped(0.1), exponential(8), ramp(0.5), exponential(6))[i]
        game = exposed(i, merit)
        mu = game.arms.means
        most = farthest(merit, mu)[0]

        def play(runs: int, rounds: Any) -> Any:
            policy = ex.upper_merit(merit, horizon=int(rounds[-1]) if known else None)
            return played(game, policy, "fairness_regret", runs, rounds, i)

        return case(
            f"means {in_words(mu)}, merit {merit!r}",
            lambda t: ex.upper_merit_fairness_bound(merit, mu.size, t, known=known),
            lambda t: most * t,
            play,
            lambda rounds: played(game, worst_believer(merit, mu, True), "fairness_regret", 2, rounds),
            throughout=not known,
        )

    return make


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


# Several plays, late feedback ----------------------------------------------------------------------------------------


def late(i: int, informative: bool) -> tuple[int, int, Any]:
    """Return the number of arms and of plays, and the delay."""
    k, plays = ((2, 1), (2, 1), (3, 1), (4, 2), (3, 1), (2, 1))[i]
    by_chance = (None, de.geometric([0.2] * k), de.fixed([5.0] * k), None, de.packet_loss([0.8] * k), None)
    by_reward = (
        None,
        de.geometric([0.2] * k),
        de.biased([20] * k, [0] * k),
        None,
        de.biased([5] * k, [20] * k),
        de.fixed([1.0] * k),
    )
    return k, plays, (by_reward if informative else by_chance)[i]


def of_delays(name: str, field: str, *, prior: bool = False) -> Callable[[int], Case]:
    fair, bound_of = field == "fairness_regret", getattr(de, f"{name}_{field.replace('regret', 'bound')}")
    # OP-FCTS-D's and FCTS-D's bounds on reward have the merit's slope in them.
    gentle = fair or "ts" in name

    def make(i: int) -> Case:
        k, plays, delay = late(i, informative=name.startswith("op"))
        steepness = (0.2, 0.5, 0.3, 0.2, 0.3, 0.1)[i]
        if gentle:
            merit = exponential(steepness) if i % 2 else power(steepness, 1)
        else:  # as steep as it may be where several are played
            merit = power((8, 20, 50, 2, 30, 100)[i], 2 if plays == 1 else 1)
        make_policy = getattr(de, name)(merit, k, plays)

        def game(mu: Any) -> de.SemiBandit:
            return de.SemiBandit(fl.bernoulli(mu), plays=plays, merit=merit, delay=delay)

        # The sharp end: all that an arm can pay, or nothing.
        fixed = game(means(i, (1.0, 0.0), 8, (2, 2, 3, 4, 3)))

        def bound(t: Any) -> Any:
            """Return the bound for the best quantile, of a few."""
            return np.min([bound_of(fixed, t, q=q) for q in (0.5, 0.8, 0.9, 0.99, 1.0)], axis=0)

        says = f"{k} arms, {plays} plays, merit {merit!r}, delay {delay.name if delay else 'none'}"
        if prior:

            def most_of(one: Any) -> tuple[float, float]:
                return farthest(merit, one.arms.means, plays)

            def worst_of(one: Any) -> fl.Policy:
                return worst_believer(merit, one.arms.means, fair, plays)

            def from_the_prior(run: int) -> de.SemiBandit:
                return game(chance(i, 9, run).random(k))

            return over_a_prior(says, from_the_prior, make_policy, field, bound, most_of, worst_of)
        mu = fixed.arms.means
        most = farthest(merit, mu, plays)[0 if fair else 1]
        return case(
            f"means {in_words(mu)}, {says}",
            bound,
            lambda t: most * t,
            lambda runs, rounds: played(fixed, make_policy, field, runs, rounds, i),
            lambda rounds: played(fixed, worst_believer(merit, mu, fair, plays), field, 2, rounds),
        )

    return make


# Relative rank -------------------------------------------------------------------------------------------------------


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


# The table -----------------------------------------------------------------------------------------------------------


class Line(NamedTuple):
    """A bound on trial: where the book proves it, what is played, and the games."""

    label: str
    policy: str
    make: Callable[[int], Case]
    runs: int = RUNS
    quick: int = QUICK


FAIRNESS, REWARD = "fairness_regret", "reward_regret"
LINES: dict[str, Line] = {
    "ucb1_bound": Line("fm-thm-6", "UCB1", of_ucb1(worst=False)),
    "ucb1_worst_case_bound": Line("fm-thm-7", "UCB1", of_ucb1(worst=True)),
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
    "guard_rounds": Line("thm-guard", "FAIR-LEARN", of_guard),
    "window_plays": Line("thm-any-windows", "windows by deadline", of_windows),
    "sighted_shares_bound": Line("thm-sighted", "sighted shares", of_sighted),
    "several_plays_deficit": Line("thm-several", "FAIR-LEARN", of_several_plays),
    "fairness_lower_bound": Line("fx-thm-3-1-5", "three policies", of_every_policy),
    "upper_merit_fairness_bound": Line("thm-upper-merit", "upper merit", of_upper_merit(known=False)),
    "upper_merit_kl_fairness_bound": Line("thm-merit-is-mean", "upper merit, kl", of_upper_merit_kl),
    "upper_merit_linear_fairness_bound": Line("thm-upper-merit-linear", "upper merit, linear", of_upper_merit_linear),
    "upper_merit_delayed_fairness_bound": Line(
        "thm-upper-merit-delayed", "upper merit, delayed", of_delays("upper_merit_delayed", FAIRNESS)
    ),
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
    "rank_error": Line("gmf-lem-c-1", "whoever", of_rank_error),
    "price_probability": Line("gmf-thm-3", "GMF", of_price),
    "fair_greedy_bound": Line(
        "thm-fair-greedy", "Fair-Greedy", of_fair_greedy(rk.fair_greedy_bound, 0.5), FEWER, quick=1
    ),
    "fair_greedy_log_bound": Line(
        "thm-fair-greedy", "Fair-Greedy", of_fair_greedy(rk.fair_greedy_log_bound, 0.5), FEWER, quick=1
    ),
    "printed_bound": Line("gmf-thm-1", "Fair-Greedy", of_fair_greedy(rk.printed_bound, 0.5), FEWER, quick=1),
    "fcucb_d_reward_bound": Line("dl-thm-6", "FCUCB-D", of_delays("fcucb_d", REWARD)),
    "fcucb_d_fairness_bound": Line("dl-thm-6", "FCUCB-D", of_delays("fcucb_d", FAIRNESS)),
    "fcts_d_reward_bound": Line("dl-thm-7", "FCTS-D", of_delays("fcts_d", REWARD, prior=True)),
    "fcts_d_fairness_bound": Line("dl-thm-7", "FCTS-D", of_delays("fcts_d", FAIRNESS, prior=True)),
    "op_fcucb_d_reward_bound": Line("dl-thm-8", "OP-FCUCB-D", of_delays("op_fcucb_d", REWARD)),
    "op_fcucb_d_fairness_bound": Line("dl-thm-8", "OP-FCUCB-D", of_delays("op_fcucb_d", FAIRNESS)),
    "op_fcts_d_reward_bound": Line("dl-thm-9", "OP-FCTS-D", of_delays("op_fcts_d", REWARD)),
    "op_fcts_d_fairness_bound": Line("dl-thm-9", "OP-FCTS-D", of_delays("op_fcts_d", FAIRNESS)),
}


# The record ----------------------------------------------------------------------------------------------------------

RECORD = Path(__file__).parent.parent / "chapters" / "trials.csv"
GIVEN = ("bound", "label", "policy", "number", "game", "horizon", "limit", "runs", "allowed", "side")
COLUMNS = (*GIVEN, *Verdict._fields, "date", "versions")


def trial(name: str, number: int, runs: int) -> dict[str, Any]:
    """Play one game of a bound, judge it, and return what is to be written down."""
    one = LINES[name].make(number)
    biting = (one.bound > one.most if one.below else one.bound < one.most).any()
    found = judge(one.play(runs) if biting else 0, one.bound, one.most, one.failure, below=one.below)
    numbers = {key: round(each, 5) if isinstance(each, float) else each for key, each in found._asdict().items()}
    return {
        "bound": name,
        "number": number,
        "game": one.game,
        "horizon": int(one.rounds[-1]),
        "limit": f"{float(one.bound[-1]):.6g}",
        "runs": runs,
        "allowed": "mean" if one.failure is None else f"{one.failure:.4g}",
        "side": "below" if one.below else "above",
        **numbers,
        "date": date.today().isoformat(),
        "versions": " ".join(f"{key} {value}" for key, value in versions().items()),
    }


def read() -> list[dict[str, str]]:
    """Return what was written down, game by game."""
    with RECORD.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def record(found: dict[str, Any]) -> None:
    """Write a game down, replacing an older trial of it; games that were never played have a line, too."""
    rows: dict[tuple[str, int], Any] = {(row["bound"], int(row["number"])): row for row in read()}
    rows[found["bound"], found["number"]] = found
    with RECORD.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for name, i in itertools.product(LINES, range(NUMBER)):
            given = {"bound": name, "label": LINES[name].label, "policy": LINES[name].policy, "number": i}
            writer.writerow(rows.get((name, i), {"word": "unplayed"}) | given)


if __name__ == "__main__":  # print what the last trials found
    for name in LINES:
        rows = [row for row in read() if row["bound"] == name]
        words = Counter(row["word"] for row in rows)
        tight = [float(row["tightness"]) for row in rows if row["word"] not in ("vacuous", "unplayed")]
        said = ", ".join(f"{number} {word}" for word, number in words.items())
        print(f"{name:28} {said:20} tightness", f"{np.median(tight):.2g}, at most {max(tight):.2g}" if tight else "-")
