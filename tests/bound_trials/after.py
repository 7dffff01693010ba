"""Trials of the bounds on the guard's rounds and on several plays."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fairlib as fl
from bound_trials.cases import Case, Line, always, case, in_words
from fairlib import after as af
from fairlib import shares as sh
from fairlib.core import Number, PerArm, arm_metrics, largest
from fairlib.rules.bound_rule import BoundRule


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


LINES: dict[str, Line] = {
    "guard_rounds": Line("thm-guard", "FAIR-LEARN", of_guard),
    "several_plays_deficit": Line("thm-several", "FAIR-LEARN", of_several_plays),
}
