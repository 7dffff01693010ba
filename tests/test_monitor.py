"""The monitor: what it says of promises is what the definitions say, round by round."""

import math
from fractions import Fraction

import numpy as np
import pytest

import fairlib as fl
from fairlib.player import Audit, Monitor, audit
from fairlib.shares import SharedBandit, fair_ucb


@pytest.mark.parametrize("tolerance", [0.0, 0.5, 2.0])
def test_it_says_what_the_definition_says(tolerance):
    rng, shares = np.random.default_rng(3), np.array([0.3, 0.25, 0.1])
    monitor, plays, kept = Monitor(shares, tolerance), np.zeros(3), True
    for t in range(1, 201):
        arms = rng.choice(3, rng.integers(1, 3), replace=False).tolist()
        plays[arms] += 1
        behind = [math.floor(share * t + 1e-9) - own for share, own in zip(shares, plays, strict=True)]
        broken = [arm for arm in range(3) if behind[arm] > tolerance + 1e-9]
        assert monitor.see(arms) == broken
        kept = kept and not broken
        assert monitor.kept == kept
    report = monitor.report()
    assert report["plays"].tolist() == plays.tolist()
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
        ([3], 9, Fraction(3, 2), r"share must be a number in \(0, 1\], not Fraction\(3, 2\)"),
    ):
        with pytest.raises(ValueError, match=words):
            audit(plays, rounds, share)
