"""Policies that are made for a number of rounds: who carries it, who is given it, and who is refused for it."""

import inspect
from typing import Any

import numpy as np
import pytest
import zoo
from helpers import factories

import fairlib as fl
from fairlib import delays as de
from fairlib import shares as sh
from fairlib.core import sphere
from fairlib.data import Event, Pool
from fairlib.merit import power
from fairlib.ranks import acceptance_given_past, section_6
from fairlib.study.replay import replay

GAME = fl.Bandit(fl.bernoulli([0.9, 0.5]))
CONTEXTS = fl.ContextBandit(sphere(3, [0.6, 0.8]))
LATE = de.SemiBandit(fl.bernoulli([0.9, 0.5, 0.5]), plays=2, merit=power(1, 1))
QUOTAS = sh.t_fair_ucb([0.2, 0.3], 100)
BOXES = de.two_box(LATE.merit, 3, 2, 100)


def commit(horizon, seen):
    """Explore for a tenth of the horizon, then commit."""
    if seen.t <= horizon / 10:
        return seen.t % seen.total.size
    return 0 if seen.total[0] * seen.observed[1] >= seen.total[1] * seen.observed[0] else 1


def halves(horizon, now):
    """Play one arm in the first half, another one after it."""
    return 0 if now.t <= horizon / 2 else 1


OWN = fl.Policy("commit", commit, horizon=100)
HALVES = fl.ContextPolicy("halves", halves, horizon=100)


def test_every_factory_that_takes_a_horizon_makes_a_policy_for_it():
    """A policy of the zoo carries a horizon if a factory of its line must be given one, and only then."""
    asking = {name: inspect.signature(each).parameters.get("horizon") for name, each in factories().items()}
    required = {name for name, each in asking.items() if each and each.default is each.empty}
    assert required
    for name, entry in zoo.ZOO.items():
        given = inspect.getclosurevars(entry.make).nonlocals.values()  # what by_merit is called with
        named = {*entry.make.__code__.co_names, *(getattr(each, "__name__", "") for each in given)}
        called = {each for each in named if asking.get(each)}
        if called <= required:
            carried = entry.make(zoo.game(entry.games[0])).horizon
            assert carried == (entry.horizon if called else None), name


def test_a_rule_that_asks_for_the_horizon_is_given_it():
    assert OWN.settings["horizon"] == HALVES.settings["horizon"] == 100
    counts = fl.simulate(CONTEXTS, HALVES, 100, rounds=[50, 100]).selected[0]
    assert counts.tolist() == [[50, 0, 0], [50, 50, 0]]
    assert OWN.replace(horizon=np.uint8(20)).settings["horizon"] == 20
    with pytest.raises(TypeError, match="horizon must be given"):
        fl.Policy("commit", commit)
    assert repr(OWN) == "Policy('commit', horizon=100)"
    assert fl.ucb1().horizon is None


def test_another_rule_keeps_of_the_settings_those_that_it_asks_for():
    first = fl.Policy("commit", commit, horizon=100)

    def waits(horizon: int, p, wait: int = 3):
        return 0 if wait < horizon else 1

    assert first.replace(rule=waits).settings["horizon"] == 100
    assert "horizon" not in first.replace(rule=lambda p: 0).settings
    assert first.replace(rule=waits, horizon=7, wait=5).settings["wait"] == 5


def test_a_learner_s_horizon_is_that_of_whoever_asks_it():
    around = sh.fair_learn(QUOTAS, [0.1, 0.1])
    assert around.horizon == around.replace(name="mine").horizon == 100
    with pytest.raises(
        ValueError, match=r"at most 100, the rounds that 'FAIR-LEARN\(T-FAIR-UCB\)' is made for, not 200"
    ):
        fl.simulate(GAME, around, 200)
    later = de.late_start(BOXES, 30)  # which asks it for its round 1 in round 31
    assert later.horizon == 130
    assert fl.simulate(LATE, later, 130).selected[0, -1].sum() == 260
    with pytest.raises(ValueError, match="at most 130"):
        fl.simulate(LATE, later, 131)

    def in_turn(one, other, seen, p):
        return fl.ask(one, p) if seen.t % 2 else fl.ask(other, p)

    two: Any = {"one": QUOTAS, "other": fl.ucb1().replace(horizon=80)}
    assert fl.Policy("in turn", in_turn, **two).horizon == 80
    assert fl.Policy("in turn", in_turn, **two, horizon=160).horizon == 160


def test_a_replay_stops_where_the_policy_ends():
    pool = Pool((7, 8), np.ones((2, 6)))
    log = [Event(0, article, int(article == 7), np.ones(6), pool) for article in 500 * (7, 8)]
    ends = "at most 100, the rounds that 'T-FAIR-UCB' is made for"
    for policy in (QUOTAS, lambda k: sh.t_fair_ucb(np.full(k, 0.2), 100)):
        assert len(replay(log, policy, horizon=100).events) == 100
        with pytest.raises(ValueError, match=f"horizon must be given, {ends}"):
            replay(log, policy)
        with pytest.raises(ValueError, match=f"horizon must be {ends}, not 101"):
            replay(log, policy, horizon=101)
    with pytest.raises(ValueError, match="horizon must be at most 100, the rounds that 'halves' is made for, not 200"):
        replay(log, HALVES, horizon=200)


def test_a_policy_for_few_rounds_is_checked_over_those():
    fl.check_policy(QUOTAS)
    fl.check_policy(sh.t_fair_ucb([0.2, 0.3], 10))
    with pytest.raises(ValueError, match="horizon must be at most 5, the rounds that 'halves' is made for, not 6"):
        acceptance_given_past(section_6(), HALVES.replace(horizon=5), t=6, pasts=1, draws=2, seed=0)
