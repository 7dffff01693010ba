"""The monitor: what it says of promises is what the definitions say, round by round."""

import math
from fractions import Fraction

import numpy as np
import pytest

import fairlib as fl
from fairlib.player import Audit, Monitor, audit
from fairlib.shares import SharedBandit, fair_in_windows, fair_learn, fair_ucb


def by_definition(arms, shares, tolerance, in_windows):
    """Return which arms a promise is broken to after the last round, and the most each was behind in some window."""
    played = np.array([[arm in each for arm in range(len(shares))] for each in arms])
    t = len(arms)
    owed = np.array([math.floor(share * t + 1e-9) for share in shares])
    broken = owed - played.sum(axis=0) > tolerance + 1e-9
    windows = [np.array(shares) * (t - s) - played[s:].sum(axis=0) for s in range(t)]
    if in_windows is not None:
        broken |= np.max(windows, axis=0) > in_windows + 1e-9
    return np.flatnonzero(broken).tolist(), np.max(windows, axis=0)


@pytest.mark.parametrize(("tolerance", "in_windows"), [(0.0, None), (2.0, None), (0.5, 1.5), (9.0, 2.25)])
def test_it_says_what_the_definitions_say(tolerance, in_windows):
    rng, shares = np.random.default_rng(3), [0.3, 0.25, 0.1]
    monitor, arms, worst, kept = Monitor(shares, tolerance, in_windows), [], np.zeros(3), True
    for _ in range(200):
        arms.append(tuple(rng.choice(3, rng.integers(1, 3), replace=False).tolist()))
        broken, window = by_definition(arms, shares, tolerance, in_windows)
        assert monitor.see(arms[-1]) == broken
        worst, kept = np.maximum(worst, window), kept and not broken
        assert monitor.kept == kept
    report = monitor.report()
    assert report["in_windows"].to_numpy() == pytest.approx(worst)
    assert report["plays"].tolist() == [sum(arm in each for each in arms) for arm in range(3)]
    assert bool(report["kept"].all()) == kept


def test_a_policy_that_promises_keeps_it_and_one_that_does_not_is_found():
    game, shares = SharedBandit(fl.bernoulli([0.5, 0.9, 0.2]), shares=[0.3, 0.1, 0.2]), [0.3, 0.1, 0.2]
    for policy, keeps in ((fair_ucb(shares), True), (fl.ucb1(), False)):
        monitor = Monitor(shares)
        for step in fl.trace(game, policy, 500, seed=2):
            monitor.see(step.played)
        assert monitor.kept is keeps
        result = fl.simulate(game, policy, 500, seed=2)
        assert monitor.report()["behind"].max() == result.violation[0, -1]


def test_windows_are_promised_by_the_policy_of_windows():
    shares = [0.2, 0.3, 0.1]
    learner = fl.Policy("friend", lambda seen, p: 2 if seen.t <= 300 else 0, interpret=True)
    for policy, keeps in ((fair_in_windows(learner, shares), True), (fair_learn(learner, shares), False)):
        monitor = Monitor(shares, in_windows=0.0 + 1.0 + 2 * 0.3)  # its tolerance, its credit, and (K - 1) r
        for step in fl.trace(fl.Bandit(fl.bernoulli([0.2, 0.9, 0.1])), policy, 1000, seed=5):
            monitor.see(step.played)
        assert monitor.kept is keeps


def test_what_is_wrong_is_refused_and_not_counted():
    monitor = Monitor([0.5, 0.25])
    for arms, error in (([2], ValueError), ([0, 0], ValueError), ("0", TypeError), ([0.5], TypeError), (3, TypeError)):
        with pytest.raises(error, match="arms"):
            monitor.see(arms)  # type: ignore[arg-type]
    assert monitor.rounds == 0
    assert monitor.plays.tolist() == [0, 0]


@pytest.mark.parametrize("share", [0.1, 0.3, 1 / 3, Fraction(1, 3), 1])
def test_an_arm_finds_in_its_plays_what_the_monitor_sees(share):
    rng = np.random.default_rng(7)
    for _ in range(40):
        played = rng.random(90) < float(share) * rng.uniform(0.8, 1.4)
        own = (1 + np.flatnonzero(played)).tolist()
        found = audit(own, 90, share)
        exact = share if isinstance(share, Fraction) else Fraction(repr(share))
        behind = [math.floor(exact * t) - sum(play <= t for play in own) for t in range(1, 91)]
        assert found.due == math.floor(exact * 90)
        assert bool(found.late) == (max(behind) > 0)


def test_audit_refuses():
    assert audit([], 9, 0.1) == Audit(0, [])
    for plays, rounds, share, words in (
        ([3, 3], 9, 0.1, "plays must be rounds in their order"),
        ([3, 10], 9, 0.1, "plays must be a whole number from 1 to 9"),
        ([3], 9, 0.0, "share must be"),
        ([3], 9, Fraction(3, 2), "share must be above 0 and at most 1, not 3/2"),
    ):
        with pytest.raises(ValueError, match=words):
            audit(plays, rounds, share)
