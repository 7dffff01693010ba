"""Arms that come and go: every engine alike, refusals in sentences, and the promise kept whatever comes."""

import sqlite3
from contextlib import closing
from fractions import Fraction
from typing import Any

import js_engine
import numpy as np
import pandas as pd
import pytest

import fairlib as fl
from fairlib import delays, exposure, shares
from fairlib.core import arm_metrics, ask, largest
from fairlib.delays import SemiBandit
from fairlib.merit import exponential
from fairlib.pages import scripts
from fairlib.player import Monitor

MEANS, STEEP = [0.9, 0.6, 0.5, 0.2], exponential(4)
SHIFTS = [[1, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 0, 1]]


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


WHO = {
    "table": SHIFTS,
    "chance": fl.Available(coming_and_going, leave=0.3, come=0.4),
    "adversary": fl.Available(hide_and_seek),
}
OWED = [0.25, 0.1, 0.2, 0.25]
POLICIES = {
    "uniform": fl.uniform(),
    "epsilon": fl.epsilon_greedy(0.2),
    "UCB1": fl.ucb1(),
    "Thompson": fl.thompson_beta(),
    "Thompson, normal": fl.thompson_gaussian(),
    "FAIR-UCB": shares.fair_learn(fl.ucb1(), np.array(OWED) - 1e-9),
    "LFG": shares.lfg([0.1, 0.1, 0.1, 0.2], 3.0),
    "plug-in": exposure.fairx_eg(STEEP, 0.1),
    "upper merit": exposure.upper_merit(STEEP, factor=2),
    "upper merit, Chernoff": exposure.upper_merit_kl(STEEP, 4, 500),
    "FairX-TS": exposure.fairx_ts(STEEP),
    "FairX-TS, normal": exposure.fairx_ts_gaussian(STEEP),
}


def games(who):
    arms = fl.bernoulli(MEANS)
    return {
        "rewards": fl.Bandit(arms, available=who),
        "shares": shares.SharedBandit(arms, shares=OWED, available=who),
        "merit": exposure.ExposureBandit(arms, merit=STEEP, available=who),
    }


def plainly(game, steps):
    """Return what a game sums, as its definitions say, in the plainest way."""
    means = game.arms.means
    best = [sum(sorted(means[step.available == 1])[-game.plays :]) for step in steps]
    said = {"regret": sum(best) - sum(means[a] for step in steps for a in step.played)}
    if isinstance(game, shares.SharedBandit):
        there = np.cumsum([step.available for step in steps], axis=0)
        played = np.array([step.selected for step in steps])
        said["deficit"] = max(0, (there * game.shares - played).max())
        said["violation"] = max(0, (np.floor(there * game.shares + 1e-9) - played).max())
    if isinstance(game, exposure.ExposureBandit):
        merits = [np.exp(4 * means) * step.available for step in steps]
        short = np.array([each / each.sum() - step.p for each, step in zip(merits, steps, strict=True)])
        said |= {"reward_regret": (short @ means).sum(), "fairness_regret": np.abs(short).sum()}
    return said


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("name", POLICIES)
def test_only_arms_that_are_there_are_played_and_all_engines_agree(name, who):
    policy = POLICIES[name]
    for kind, game in games(WHO[who]).items():
        horizon = 120
        result = fl.simulate(game, policy, horizon, seed=3, rounds=range(1, horizon + 1))
        plain = fl.simulate(game, policy.replace(interpret=True), horizon, seed=3, rounds=range(1, horizon + 1))
        measures = {each: x for each, x in vars(result).items() if isinstance(x, np.ndarray) and each != "rounds"}
        for each, x in measures.items():
            np.testing.assert_allclose(x, getattr(plain, each), atol=1e-12, err_msg=each)
        steps = fl.trace(game, policy, horizon, seed=3)
        assert np.array_equal(steps[-1].selected, result.selected[0, -1])
        assert all(step.available[step.played] == 1 and not step.p[step.available == 0].any() for step in steps)
        assert not all(step.available.all() for step in steps)
        if who == "table":
            assert np.array_equal([step.available for step in steps], np.resize(SHIFTS, (horizon, 4)))
        for t in (1, 50, horizon):
            expected = plainly(game, steps[:t])
            for each, value in expected.items():
                assert measures[each][0, t - 1] == pytest.approx(value, abs=1e-9), (each, t)
        assert measures.keys() - expected.keys() <= {"selected", "reward", "r_regret"}
        said = js_engine.games(game, policy, horizon)
        (made,) = js_engine.evaluated(said, f"[0].map({js_engine.RUN.replace('SEED', '3')})")
        assert made[0] == 0, (kind, made[0])
        last = np.array(made[1][-1] if isinstance(made[1], list) else list(made[1].values())[-4:], float)
        assert np.array_equal(last.ravel()[-4:], result.selected[0, -1]), kind


def test_where_all_arms_are_always_there_a_game_is_played_as_ever():
    for name, policy in POLICIES.items():
        for ever, now in zip(games(None).values(), games([[1, 1, 1, 1]]).values(), strict=True):
            one, other = (fl.simulate(game, policy, 500, seed=8, runs=2) for game in (ever, now))
            assert np.array_equal(one.selected, other.selected), name
            for each in ("regret", "deficit", "fairness_regret"):
                if hasattr(one, each):
                    np.testing.assert_allclose(getattr(one, each), getattr(other, each), atol=1e-9)


def test_several_plays_late_rewards_and_learners_of_their_own():
    game = fl.Bandit(fl.bernoulli(MEANS), plays=2, available=[[1, 1, 0, 1], [0, 1, 1, 0]])
    entrances: list[Any] = [fl.simulate, fl.trace]
    result, steps = (play(game, fl.uniform(2), 60, seed=2) for play in entrances)
    assert result.regret[0, -1] == pytest.approx(plainly(game, steps)["regret"])
    assert all(step.available[step.played].all() for step in steps)
    late = fl.Bandit(fl.bernoulli(MEANS), delay=delays.geometric([0.1] * 4), available=SHIFTS)
    result, steps = (play(late, POLICIES["FAIR-UCB"], 300, seed=2) for play in entrances)
    assert result.regret[0, -1] == pytest.approx(plainly(late, steps)["regret"])
    assert (steps[-1].seen.observed < steps[-1].seen.selected).any()

    def now_and_then(learner, seen, available, p):  # a guard that is not asked in each round
        return ask(learner, p) if seen.t % 3 == 0 else largest(p, available)

    policy = fl.Policy("now and then", now_and_then, learner=POLICIES["FAIR-UCB"])
    each, plain = (fl.simulate(games(SHIFTS)["rewards"], one, 200) for one in (policy, policy.replace(interpret=True)))
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


# Refusals ------------------------------------------------------------------------------------------------------------

ASKS = "is made for games in which all arms are always there: where they come and go, its rule must ask for `available`"


@pytest.mark.parametrize(
    ("policy", "whose"),
    [
        (shares.t_fair_ucb([0.1] * 4, 400), "T-FAIR-UCB"),
        (exposure.fairx_ucb(STEEP, 0.5), "FairX-UCB"),
        (shares.fair_learn(fl.Policy("deaf", lambda seen, p: 0), [0.1] * 4), "deaf"),
    ],
)
def test_a_policy_that_does_not_ask_is_refused(policy, whose):
    game = fl.Bandit(fl.bernoulli(MEANS), available=SHIFTS)
    for enter in (fl.simulate, fl.trace, scripts.numbers):
        with pytest.raises(ValueError, match=f"policy '{whose}' {ASKS}"):
            enter(game, policy, 10)


@pytest.mark.parametrize("interpret", [False, True])
def test_playing_an_arm_that_is_not_there_is_refused(interpret):
    game = fl.Bandit(fl.bernoulli(MEANS), available=SHIFTS)
    first = fl.Policy("first", lambda available, p: 0, interpret=interpret)
    with pytest.raises(ValueError, match="play no arm that is not there; in round 2 of run 0 it did not"):
        fl.simulate(game, first, 10)

    def fills(available, p):
        for a in range(p.size):
            p[a] = 1.0 / p.size

    with pytest.raises(ValueError, match="play no arm that is not there; in round 1 of run 0 it did not"):
        fl.simulate(game, fl.Policy("fills", fills, interpret=interpret), 10)


class Countless(fl.Bandit):
    """A game of a reader's own, which does not sum what the best arms that are there would pay."""

    @property
    def metrics(self):
        """Sum nothing."""
        return arm_metrics(lambda available: None)


def test_what_is_said_of_who_is_there_is_checked():
    arms = fl.bernoulli(MEANS)
    with pytest.raises(ValueError, match="available must have 4 numbers in each row, each 0 or 1"):
        fl.Bandit(arms, available=[[1, 1, 1]])
    with pytest.raises(ValueError, match="available must have 4 numbers in each row, each 0 or 1"):
        fl.Bandit(arms, available=[[1, 1, 1, 2]])
    with pytest.raises(ValueError, match="available must not be given: a SemiBandit has all arms there"):
        SemiBandit(arms, plays=2, merit=STEEP, available=SHIFTS)
    with pytest.raises(ValueError, match="available must not be given: a Countless has all arms there"):
        Countless(arms, available=SHIFTS)
    with pytest.raises(ValueError, match=r"at least as many arms as are played must be there.*in round 4 of run 0"):
        fl.simulate(fl.Bandit(arms, plays=2, available=SHIFTS), fl.uniform(2), 10)

    def strange(available):
        available[0] = 2

    with pytest.raises(ValueError, match="each 1, all others 0; in round 1 of run 0"):
        fl.simulate(fl.Bandit(arms, available=fl.Available(strange)), fl.uniform(), 10)


# Logs and players ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", POLICIES)
def test_a_player_that_is_told_who_is_there_plays_as_the_game_does(name):
    player = fl.Player(POLICIES[name], 4, seed=3)
    for step in fl.trace(games(WHO["chance"])["rewards"], POLICIES[name], 120, seed=3):
        choice = player.choose(available=np.flatnonzero(step.available))
        assert (choice.arms, choice.chances) == (tuple(step.played), tuple(step.p[step.played]))
        player.observe(choice.round, step.rewards[0])


def test_arms_join_and_retire_in_the_journal_and_its_log_says_who_was_there(tmp_path):
    rng, policy, path = np.random.default_rng(53), shares.fair_learn(fl.epsilon_greedy(0.5), [0.2] * 4), tmp_path / "x"

    def opened():
        return fl.Player(policy, ["tea", "milk"], capacity=4, seed=5, journal=path)

    player, moves = opened(), {50: "join cocoa", 300: "retire tea", 400: "join water", 500: "join tea"}
    monitor, away = Monitor([0.2] * 4, 1), Monitor([0.2] * 4, 1)
    for t in range(1, 601):
        if t in moves:
            what, arm = moves[t].split()
            getattr(player, what)(arm)
            player.close()
            player = opened()
        there = ["milk", "cocoa"] if t % 9 == 0 and t > 50 else None
        choice = player.choose(available=there)
        player.observe(t, float(rng.random() < 0.5))
        names = ["tea", "milk", "cocoa", "water"]
        present = {"milk", *["tea"] * (not 300 <= t < 500), *["cocoa"] * (t >= 50), *["water"] * (t >= 400)}
        here = sorted(names.index(each) for each in (there or present))
        monitor.see([names.index(choice.arms[0])], here)
        away.see([names.index(choice.arms[0])])
    assert (monitor.kept, away.kept) == (True, False)
    assert np.array_equal(fl.Player.load(path, policy).seen.selected, player.seen.selected)
    with closing(sqlite3.connect(path)) as db:
        log = fl.Log(pd.read_sql("SELECT * FROM rounds", db), arms=names)
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
    for policy in (fl.ucb1(), POLICIES["epsilon"], fl.uniform().replace(interpret=True)):
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


@pytest.mark.parametrize(
    ("policy", "does", "message"),
    [
        (
            fl.ucb1(),
            lambda player: player.join("rum"),
            "arm must be one of those that have joined, as all 2 places are",
        ),
        (fl.ucb1(), lambda player: player.join("tea"), "arm must be one that is not there, unlike 'tea'"),
        (fl.ucb1(), lambda player: player.retire("rum"), "arm must be one that is there, unlike 'rum'"),
        (
            fl.uniform(2),
            lambda player: player.retire("tea"),
            "arm must not be one of the last 2, as so many are played",
        ),
        (fl.uniform(2), lambda player: player.choose(available=["tea"]), "available must be at least 2 of"),
        (fl.ucb1(), lambda player: player.choose(available=["tea", "rum"]), "available must be at least 1 of"),
        (
            fl.ucb1(),
            lambda player: [player.retire("tea"), player.join("tea"), player.retire("tea")],
            "wait for the next",
        ),
        (exposure.fairx_ucb(STEEP, 0.5), lambda player: player.retire("tea"), ASKS),
        (exposure.fairx_ucb(STEEP, 0.5), lambda player: player.choose(available=["tea"]), ASKS),
    ],
)
def test_what_a_player_is_told_of_who_is_there_is_checked(policy, does, message):
    player = fl.Player(policy, ["tea", "milk"])
    with pytest.raises(ValueError, match=message):
        does(player)
    assert player.choose().round == 1


# The promise ---------------------------------------------------------------------------------------------------------


def test_the_promise_is_kept_whatever_comes_and_goes():
    """Random tables and learners; deficits in exact fractions: at most r_a + (K - 2) r_max."""
    rng, nearest = np.random.default_rng(53), []
    for _ in range(60):
        arms = int(rng.integers(2, 7))
        owed = [Fraction(int(x), 64 * arms) for x in rng.integers(1, 64, arms)]
        if rng.random() < 0.4:
            owed = [Fraction(63, 64 * arms)] * arms
        table = rng.random((97, arms)) < rng.choice([0.3, 0.6, 0.9])
        table[np.arange(97), rng.integers(0, arms, 97)] = True
        learner = [fl.ucb1(), fl.uniform(), fl.thompson_beta()][int(rng.integers(3))]
        game = fl.Bandit(fl.bernoulli(rng.random(arms)), available=table.astype(int))
        policy = shares.fair_learn(learner, [float(each) for each in owed])
        selected = fl.simulate(game, policy, 400, seed=1, rounds=range(1, 401)).selected[0]
        there = np.cumsum(np.resize(table, (400, arms)), axis=0)
        for a in range(arms):
            bound = owed[a] + (arms - 2) * max(owed)
            worst = max(owed[a] * int(n) - int(x) for n, x in zip(there[:, a], selected[:, a], strict=True))
            assert worst <= bound
            nearest.append(float(worst / bound))
    assert max(nearest) > 0.9
