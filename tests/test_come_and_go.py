"""Arms that come and go: games, players, logs, and refusals in sentences."""

import itertools
import sqlite3
from contextlib import closing
from dataclasses import replace

import js_engine
import numpy as np
import pandas as pd
import pytest
import strategies
import zoo
from helpers import exp3, same

import fairlib as fl
from fairlib import exposure, shares
from fairlib.core import arm_metrics, ask, largest
from fairlib.delays import SemiBandit
from fairlib.merit import exponential
from fairlib.pages import scripts
from fairlib.player import Monitor

MEANS, STEEP = [0.9, 0.6, 0.5, 0.2], exponential(4)
SHIFTS = [[1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 0, 1]]
GAME = fl.Bandit(fl.bernoulli(MEANS), available=SHIFTS)
FAIR_UCB = shares.fair_ucb([0.2] * 4)


def coming_and_going(leave, come, available, rng):
    """Let each arm but the last come and go by itself."""
    for a in range(available.size - 1):
        if rng.random() < (leave if available[a] == 1 else come):
            available[a] = 1 - available[a]


def hide_and_seek(selected, available, t):
    """Show two arms, the one that has been played most and, in turn, another."""
    most = int(np.argmax(selected))
    other = (most + 1 + t % (available.size - 1)) % available.size
    for a in range(available.size):
        available[a] = 0
    available[most] = available[other] = 1


# Games whose arms come and go by a table are among those of test_properties.py.
@pytest.mark.parametrize("who", [fl.Available(coming_and_going, leave=0.3, come=0.4), fl.Available(hide_and_seek)])
def test_who_is_there_may_be_drawn_and_every_engine_draws_alike(who):
    game, horizon = fl.Bandit(fl.bernoulli(MEANS), available=who), 120
    plain, steps = FAIR_UCB.replace(interpret=True), fl.trace(game, FAIR_UCB, horizon, seed=3)
    each = [fl.simulate(game, policy, horizon, seed=3, rounds=range(1, 121)) for policy in (FAIR_UCB, plain)]
    assert same(*each)
    assert np.array_equal(each[0].selected[0], [step.selected for step in steps])
    assert 0.3 < np.mean([step.available for step in steps]) < 0.8
    best = sum(game.arms.means[step.available == 1].max() for step in steps)
    assert each[0].regret[0, -1] == pytest.approx(best - steps[-1].selected @ MEANS)
    (made,) = js_engine.evaluated(
        js_engine.games(game, FAIR_UCB, horizon), f"[0].map({js_engine.RUN.replace('SEED', '3')})"
    )
    assert (made[0], made[1][-1]) == (0, steps[-1].selected.tolist())


PLAYS = {
    name: (zoo.game(zoo.ZOO[name].games[0]), zoo.ZOO[name].make(zoo.game(zoo.ZOO[name].games[0])))
    for name in zoo.ON_ARMS
}


@pytest.mark.parametrize("name", [name for name, play in PLAYS.items() if strategies.may_come_and_go(*play)])
def test_where_all_arms_are_always_there_a_game_is_played_as_ever(name):
    game, policy = PLAYS[name]
    told = replace(game, available=np.ones((1, game.arms.means.size)))
    one, other = (fl.simulate(each, policy, 500, seed=8, runs=2) for each in (game, told))
    for each in {*vars(one)} & {"selected", "regret", "deficit", "fairness_regret"}:
        np.testing.assert_allclose(getattr(one, each), getattr(other, each), atol=1e-9, err_msg=each)


def test_a_guard_that_is_not_asked_in_each_round_counts_those_in_which_it_is():
    def now_and_then(learner, seen, available, p):
        return ask(learner, p) if seen.t % 3 == 0 else largest(p, available)

    policy = fl.Policy("now and then", now_and_then, learner=FAIR_UCB)
    each, plain = (fl.simulate(GAME, one, 200) for one in (policy, policy.replace(interpret=True)))
    assert np.array_equal(each.selected, plain.selected)


def test_each_run_begins_with_all_arms_there():
    def leave_one_by_one(available):
        for a in range(1, available.size):
            if available[a] == 1:
                available[a] = 0
                return

    game = fl.Bandit(fl.bernoulli(MEANS), available=fl.Available(leave_one_by_one))
    result = fl.simulate(game, fl.uniform(), 3, runs=200, rounds=[1, 3])
    assert result.selected[:, 0, 1:].sum(axis=0).tolist()[0] == 0
    assert (result.selected[:, 1].sum(axis=1) == 3).all()
    assert result.selected[:, 0, 2:].sum() > 50


# Logs and players ----------------------------------------------------------------------------------------------------


def test_arms_join_and_retire_in_the_journal_and_its_log_says_who_was_there(tmp_path):
    """Opened anew all the time, with news that is late, out of order or lost, a player plays as one that is not."""
    policy, path = shares.fair_learn(fl.Policy("EXP3", exp3, rate=0.05), [0.2] * 4), tmp_path / "x"
    names, rng = ["tea", "milk", "cocoa", "water"], np.random.default_rng(53)
    moves = {50: "join cocoa", 300: "retire tea", 400: "join water", 500: "join tea"}

    def opened(journal=path):
        return fl.Player(policy, names[:2], capacity=4, seed=5, journal=journal)

    player, alone, coming = opened(), opened(None), []
    monitor, away = Monitor([0.2] * 4, 1), Monitor([0.2] * 4, 1)
    for t in range(1, 601):
        for each in (player, alone) if t in moves else ():
            getattr(each, moves[t].split()[0])(moves[t].split()[1])
        if t % 37 == 0:
            player.close()
            player = opened()
        there = ["milk", "cocoa"] if t % 9 == 0 and t > 50 else None
        choice = player.choose(available=there)
        assert alone.choose(available=there) == choice
        coming.append((t + int(rng.integers(0, 40)), rng.random(), t))
        for _, chance, number in sorted(each for each in coming if each[0] == t and each[1] > 0.1):
            for each in (player, alone):
                each.observe(number, float(chance > 0.5))
        present = {"milk", *["tea"] * (not 300 <= t < 500), *["cocoa"] * (t >= 50), *["water"] * (t >= 400)}
        monitor.see([names.index(choice.arms[0])], sorted(names.index(each) for each in (there or present)))
        away.see([names.index(choice.arms[0])])
    assert (monitor.kept, away.kept) == (True, False)
    with closing(sqlite3.connect(path)) as db:
        log = fl.Log(pd.read_sql("SELECT * FROM rounds", db).fillna({"reward": 0.0}), arms=names)
    found = ["".join(map(str, row.astype(int))) for row in log.available[[48, 49, 53, 299, 499]]]
    assert found == ["1100", "1110", "0110", "0110", "1111"]


def shop(n=20_000):
    """Return a log in which the second of two arms is there in the second half, and a target that knows it."""
    rng, half = np.random.default_rng(0), np.arange(n) >= n // 2
    arm = (half & (rng.random(n) < 0.5)).astype(int)
    paid = (rng.random(n) < np.array([0.2, 0.6])[arm]).astype(int)
    who = [[0, 1] if each else [0] for each in half]
    table = {"arm": arm, "reward": paid, "propensity": np.where(half, 0.5, 1.0), "available": who}
    return table, np.where(half[:, None], [0.5, 0.5], [1.0, 0.0])


def test_logs_whose_arms_come_and_go_are_evaluated_and_replayed_among_those_there():
    table, target = shop()
    found = fl.evaluate(table, target)
    assert not found.warnings
    assert found.arms[1].low < 0.6 < found.arms[1].high
    fair = exposure.ExposureBandit(fl.bernoulli([0.2, 0.6]), merit=STEEP).optimal
    regret = found.fairness(STEEP)
    assert regret.low <= np.abs(fair - 0.5).sum() / 2 <= regret.high < regret.low + 0.1
    blind = fl.evaluate({name: each for name, each in table.items() if name != "available"}, target)
    assert "arms could not always be drawn" in blind.warnings[0]
    assert blind.fairness(STEEP).low > regret.high
    with pytest.raises(
        ValueError, match="target must play arms that are there, row by row, and in row 0 of log it does"
    ):
        fl.evaluate(table, [0.5, 0.5])
    for policy in (fl.ucb1(), fl.epsilon_greedy(0.2), fl.uniform().replace(interpret=True)):
        result = fl.replay(table, policy, least=0.5)
        assert len(result.events) == pytest.approx(10_000, abs=4 * np.sqrt(5_000))
        assert all(
            p[1] == 0 for p, event in zip(result.probabilities, result.events, strict=True) if len(event.available) < 2
        )
    with pytest.raises(ValueError, match=f"policy 'FairX-UCB' {ASKS}"):
        fl.replay(table, exposure.fairx_ucb(STEEP, 0.5), least=0.5)
    with pytest.raises(ValueError, match=r"play no arm that is not there; in round \d+ it did not"):
        fl.replay(table, fl.Policy("second", lambda available, p: 1), least=0.5)


def test_the_column_of_who_was_there_is_read_and_checked():
    rows = [("tea", {"tea", "milk"}), ("milk", '["milk"]'), ("milk", None)]
    table = [{"arm": arm, "reward": 1, "propensity": 0.5, "here": who} for arm, who in rows]
    log = fl.Log(table, {"available": "here"})
    assert log.arms == ("milk", "tea")
    assert log.available.tolist() == [[True, True], [True, False], [True, True]]
    assert fl.Log([{"arm": 0, "reward": 1, "propensity": 1, "available": [0, 3]}]).arms == (0, 1, 2, 3)
    for who, arms, message in (
        (["tea"], None, r"with the one that was played, 'milk', not \{'tea'\} \(row 1\)"),
        (["milk", "rum"], ["tea", "milk"], "available of log must be arms of"),
        (7, None, r"available of log must be a list of arms, not 7 \(row 1\)"),
        ("rum", None, "available of log must be a list of arms, not 'rum'"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            fl.Log([table[0], {**table[1], "here": who}], {"available": "here"}, arms=arms)
    with pytest.raises(TypeError, match="arms must be given, as their names in log are not all texts"):
        fl.Log([{"arm": 0, "reward": 1, "propensity": 1, "available": [0, "rum"]}])


# Refusals ------------------------------------------------------------------------------------------------------------

ARMS, DEAF = fl.bernoulli(MEANS), shares.fair_learn(fl.Policy("deaf", lambda seen, p: 0), [0.1] * 4)
ASKS = "is made for games in which all arms are always there: where they come and go, its rule must ask for `available`"
ABSENT = "play no arm that is not there; in round"


class Countless(fl.Bandit):
    """A game of a reader's own, which does not sum what the best arms that are there would pay."""

    @property
    def metrics(self):
        """Sum nothing."""
        return arm_metrics(lambda available: None)


def strange(available):
    available[0] = 2


def first(available, p):
    return 0


def fills(available, p):
    for a in range(p.size):
        p[a] = 1.0 / p.size


def play(policy, game=GAME):
    return lambda: fl.simulate(game, policy, 10)


def player(policy, *does):
    """Return what asks a new player for something."""
    return lambda: [each(fl.Player(policy, ["tea", "milk"])) for each in does]


def comes_back(player):
    for move in (player.retire, player.join, player.retire):
        move("tea")


UCB1, PAIR, FAIRX = fl.ucb1(), fl.uniform(2), exposure.fairx_ucb(STEEP, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (play(shares.t_fair_ucb([0.1] * 4, 400)), f"policy 'T-FAIR-UCB' {ASKS}"),
        (play(DEAF), f"policy 'deaf' {ASKS}"),
        (lambda: fl.trace(GAME, DEAF, 10), f"policy 'deaf' {ASKS}"),
        (lambda: scripts.numbers(GAME, DEAF, 10), f"policy 'deaf' {ASKS}"),
        (player(FAIRX, lambda one: one.retire("tea")), f"policy 'FairX-UCB' {ASKS}"),
        (player(FAIRX, lambda one: one.choose(available=["tea"])), f"policy 'FairX-UCB' {ASKS}"),
        (play(fl.Policy("first", first)), f"{ABSENT} 2 of run 0"),
        (play(fl.Policy("first", first, interpret=True)), f"{ABSENT} 2 of run 0"),
        (play(fl.Policy("fills", fills)), f"{ABSENT} 1 of run 0"),
        (play(fl.Policy("fills", fills, interpret=True)), f"{ABSENT} 1 of run 0"),
        (lambda: fl.Bandit(ARMS, available=[[1, 1, 1]]), "available must have 4 numbers in each row, each 0 or 1"),
        (lambda: fl.Bandit(ARMS, available=[[1, 1, 1, 2]]), "available must have 4 numbers in each row, each 0 or 1"),
        (lambda: SemiBandit(ARMS, plays=2, merit=STEEP, available=SHIFTS), "not be given: a SemiBandit has all arms"),
        (lambda: Countless(ARMS, available=SHIFTS), "available must not be given: a Countless has all arms"),
        (play(PAIR, fl.Bandit(ARMS, plays=2, available=SHIFTS)), "as many arms as are played must .*in round 4"),
        (play(UCB1, fl.Bandit(ARMS, available=fl.Available(strange))), "each 1, all others 0; in round 1 of run 0"),
        (player(UCB1, lambda one: one.join("rum")), "arm must be one of those that have joined, as all 2 places are"),
        (player(UCB1, lambda one: one.join("tea")), "arm must be one that is not there, unlike 'tea'"),
        (player(UCB1, lambda one: one.retire("rum")), "arm must be one that is there, unlike 'rum'"),
        (player(PAIR, lambda one: one.retire("tea")), "arm must not be one of the last 2, as so many are played"),
        (player(PAIR, lambda one: one.choose(available=["tea"])), "available must be at least 2 of"),
        (player(UCB1, lambda one: one.choose(available=["tea", "rum"])), "available must be at least 1 of"),
        (player(UCB1, comes_back), "arm 'tea' must wait for the next round: it can retire once in a round"),
    ],
    ids=itertools.count(),
)
def test_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("fitting", [False, True])
@pytest.mark.parametrize("arms", range(2, 7))
def test_a_thousand_random_adversaries_never_break_the_promise(arms, fitting):
    """In whole numbers, with shares of at most 1/K, or with any that fit into every round; some reach the limit."""
    rng, unit, every = np.random.default_rng(arms), 120, np.arange(1000)
    owed = rng.integers(1, unit // (2 if fitting else arms) + 1, (1000, arms))
    owed[::2] = owed[::2].max(axis=1, keepdims=True)
    limit = owed + (2 * arms - 4 if fitting else arms - 2) * owed.max(axis=1, keepdims=True)
    behind, furthest = -unit * rng.integers(0, 3, (1000, 1)) * np.ones_like(owed), np.full(owed.shape, -unit)
    for _ in range(400):
        mood = rng.integers(0, 4, (1000, 1))  # some show anybody, some all, some two that are far behind, or near zero
        rank = np.argsort(np.argsort(np.where(mood == 2, -behind, np.abs(behind)) + rng.random(owed.shape)))
        there = np.where(mood == 0, rng.random(owed.shape) < 0.5, (mood == 1) | (rank < 2))
        if fitting:
            order = np.argsort(rng.random(owed.shape))
            fits = np.cumsum(np.take_along_axis(owed * there, order, 1), 1) <= unit
            there &= np.take_along_axis(fits, np.argsort(order), 1)
        there[~there.any(axis=1), 0] = True
        level = np.where(there, behind, -1e9)
        ahead = np.where(there, behind + 1000 * (rng.random((1000, 1)) < 0.2) * rng.random(owed.shape), 1e9)
        played = np.where(level.max(axis=1) > 0, level.argmax(axis=1), ahead.argmin(axis=1))
        behind += owed * there
        behind[every, played] -= unit
        furthest = np.maximum(furthest, behind)
    assert (furthest <= limit).all()
    assert fitting or arms > 4 or (furthest == limit).any()
