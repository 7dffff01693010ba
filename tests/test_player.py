"""A policy at work: what it plays and observes, how it is stopped and started, and what it refuses."""

import math
import os
import subprocess
import sys
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from helpers import exp3, streams

import fairlib as fl
from fairlib import delays, exposure, linear, ranks, shares
from fairlib.deploy import Choice, Player

MEANS = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
POWER = fl.merit.power(1, 4)
ON_ARMS = {
    "UCB1": fl.ucb1(),
    "Thompson": fl.thompson_beta(),
    "EXP3": fl.Policy("EXP3", exp3, rate=0.05),
    "EXP3, interpreted": fl.Policy("EXP3", exp3, rate=0.05, interpret=True),
    "FAIR-LEARN(EXP3)": shares.fair_learn(fl.Policy("EXP3", exp3, rate=0.05), [0.1] * 6),
    "FairX-UCB": exposure.fairx_ucb(fl.merit.exponential(4), 0.1),
    "FCTS-D": delays.fcts_d(POWER, 6, 3),
    "FCUCB-D": delays.fcucb_d(POWER, 6, 2),
}


# It plays what simulate plays -----------------------------------------------------------------------------------------


def test_told_of_late_rewards_when_the_game_shows_them_it_plays_run_0_of_simulate():
    late = [3, 0, 12, 7, 1, 40]
    policy = ON_ARMS["FAIR-LEARN(EXP3)"]
    game = fl.Bandit(fl.bernoulli(MEANS), delay=delays.fixed(late))
    expected = fl.simulate(game, policy, 1500, seed=4).selected[0, -1]
    _, world = streams(4, 0)
    player, due = Player(policy, 6, seed=4), defaultdict(list)
    for t in range(1, 1501):
        choice = player.choose()
        (arm,) = choice.arms
        reward = 1.0 if world.random() < MEANS[arm] else 0.0
        due[t + late[arm]].append((choice.round, reward))
        for each in reversed(due.pop(t, [])):  # the last sent is read first, as the game does
            player.observe(*each)
    assert player.seen.selected.tolist() == expected.tolist()


# Stopped and started ------------------------------------------------------------------------------------------------


def life(make, restart, told=lambda t: True):
    """Play 400 rounds, feedback up to 40 rounds late, out of order, a tenth never; start anew when `restart` says."""
    rng, player, coming, choices = np.random.default_rng(1), make(), [], []
    for t in range(1, 401):
        choice = player.choose()
        choices.append(choice)
        for arm in choice.arms:
            coming.append((t + int(rng.integers(0, 40)), rng.random(), choice.round, arm))
        due = sorted(each for each in coming if each[0] <= t)
        coming = [each for each in coming if each[0] > t]
        for _, chance, round, arm in due:
            if chance > 0.1:
                player.observe(round, float(chance > 0.5), arm)
        player = restart(t, player)
    return choices


@pytest.mark.parametrize("name", ON_ARMS)
def test_restarted_ten_times_with_news_on_its_way_it_plays_the_same(name, tmp_path):
    policy, path = ON_ARMS[name], tmp_path / "player"

    def restart(t, player):
        if t % 37:
            return player
        player.save(path)
        return Player.load(path, policy)

    without = life(lambda: Player(policy, 6, seed=4), lambda t, player: player)
    assert life(lambda: Player(policy, 6, seed=4), restart) == without


SERVICE = """
import sys
import numpy as np
import fairlib as fl
path = sys.argv[1]
policy = fl.thompson_beta()
try:
    player = fl.Player.load(path, policy)
except FileNotFoundError:
    player = fl.Player(policy, arms=6, seed=11)
rewards = np.random.default_rng(0).random((1001, 6))
while player.seen.t <= 1000:
    waiting = list(player.waiting)  # feedback comes three rounds late
    choice = player.choose()
    for round in waiting[:-2]:
        player.observe(round, rewards[round, player.waiting[round][0]])
    player.save(path)
    print(choice.round, choice.arms[0], flush=True)
"""


def test_a_service_that_is_killed_in_the_middle_of_a_thousand_requests_goes_on_exactly_where_it_was(tmp_path):
    def serve(path, kill_at):
        told = []
        for limit in [*kill_at, None]:
            command = [sys.executable, "-c", SERVICE, str(path)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                for line in process.stdout:
                    told.append(tuple(map(int, line.split())))
                    if limit is not None and told[-1][0] >= limit:
                        process.kill()  # no warning, no time to save
                        break
                process.stdout.read()
        return told

    whole = serve(tmp_path / "whole", [])
    assert [round for round, _ in whole] == list(range(1, 1001))
    killed = serve(tmp_path / "killed", [137, 138, 700])
    assert len(killed) >= 900, "it began anew"
    assert set(killed) <= set(whole), "after a kill it chose something else"
    assert killed[-1] == whole[-1]


# Two threads --------------------------------------------------------------------------------------------------------


def test_two_threads_may_use_one_player():
    policy = ON_ARMS["FAIR-LEARN(EXP3)"]
    player = Player(policy, 6, seed=1)
    threads = threading.active_count()  # earlier games leave some that wait for the next one

    def serve(_):
        choices = []
        for _ in range(500):
            choices.append(player.choose())
            player.observe(choices[-1].round, MEANS[choices[-1].arms[0]])
        return choices

    with ThreadPoolExecutor(4) as pool:
        choices = [each for part in pool.map(serve, range(4)) for each in part]
    assert sorted(each.round for each in choices) == list(range(1, 2001))
    counts = np.bincount([each.arms[0] for each in choices], minlength=6)
    assert player.seen.selected.tolist() == player.seen.observed.tolist() == counts.tolist()
    np.testing.assert_allclose(player.seen.total, counts * MEANS)
    assert threading.active_count() <= threads


# What it refuses, unchanged ------------------------------------------------------------------------------------------


def busy() -> Player:
    player = Player(ON_ARMS["FCTS-D"], 6, seed=3)
    for _ in range(5):
        player.choose()
    player.observe(1, 0.5, player.waiting[1][0])
    return player


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"round": 6, "reward": 1.0}, "round must be one that has been played, and the last was 5; not 6"),
        ({"round": 0, "reward": 1.0}, "round must be a whole number of at least 1, not 0"),
        ({"round": 1, "reward": 1.0, "arm": 6}, "arm must be a whole number from 0 to 5, not 6"),
        ({"round": 2, "reward": 1.0}, "arm must be given, as several of round 2 wait for feedback: "),
        ({"round": 2, "reward": 1.5, "arm": 0}, r"reward must be a number in \[0, 1\], not 1.5"),
        ({"round": 2, "reward": math.nan, "arm": 0}, r"reward must be a number in \[0, 1\], not nan"),
    ],
)
def test_news_that_cannot_be_is_refused_and_nothing_changes(wrong, said, tmp_path):
    player = busy()
    player.save(tmp_path / "before")
    with pytest.raises(ValueError, match=f"^{said}"):
        player.observe(**wrong)
    player.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()


def test_news_told_twice_and_of_an_arm_not_chosen_is_refused():
    player = busy()
    first = player.waiting[2]
    other = next(a for a in range(6) if a not in first)
    with pytest.raises(ValueError, match=r"^arm must be one of round 2 that waits for feedback \(\d, \d, \d\), not "):
        player.observe(2, 1.0, other)
    player.observe(2, 1.0, first[0])
    with pytest.raises(ValueError, match=r"^arm must be one of round 2 that waits for feedback \(\d, \d\), not "):
        player.observe(2, 1.0, first[0])
    for arm in first[1:]:
        player.observe(2, 1.0, arm)
    with pytest.raises(ValueError, match=r"^round must be one that waits for feedback: 2 has been observed"):
        player.observe(2, 1.0, first[0])


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"policy": 3}, TypeError, "policy must be a Policy or a ContextPolicy"),
        ({"arms": None}, TypeError, "arms must be given, as policy 'UCB1' is made for any number"),
        ({"arms": 0}, ValueError, "arms must be a whole number of at least 1, not 0"),
        ({"arms": True}, TypeError, "arms must be a whole number"),
        ({"policy": fl.uniform(3), "arms": 2}, ValueError, "arms must be a whole number of at least 3, not 2"),
        ({"policy": ON_ARMS["FCUCB-D"], "arms": 5}, ValueError, "arms must be 6, as policy 'FCUCB-D' is made for"),
        ({"dimension": 2}, TypeError, "dimension and groups must be left out"),
        ({"rewards": (1, 0)}, ValueError, "rewards must be the smallest and the largest reward"),
        ({"rewards": 1}, TypeError, "rewards must be the smallest and the largest reward"),
        ({"rewards": (0, math.nan)}, ValueError, "rewards must be the smallest and the largest reward"),
        ({"seed": -1}, ValueError, "seed must be a whole number"),
        ({"policy": linear.linucb(1.0)}, TypeError, "dimension must be given, as policy 'LinUCB' is made for any"),
        ({"policy": ranks.fair_greedy(), "dimension": 2}, TypeError, "horizon must be given, as policy 'Fair-Greedy'"),
    ],
)
def test_a_player_that_cannot_be_is_refused(given, kind, said):
    with pytest.raises(kind, match=f"^{said}"):
        Player(**{"policy": fl.ucb1(), "arms": 6, **given})


@pytest.mark.parametrize(
    ("contexts", "groups", "said"),
    [
        (None, None, "contexts must be given"),
        ([[1.0, 2.0]], None, r"contexts must be of shape \(3, 2\), not \(1, 2\)"),
        ([[1.0, math.nan]] * 3, None, "contexts must be finite numbers, not nan"),
        ([[1.0, 2.0]] * 3, [0, 1, 2], "groups must be 3 whole numbers from 0 to 1, not "),
        ([[1.0, 2.0]] * 3, [0.0, 1.0, 1.0], "groups must be whole numbers from 0 to 1, not "),
    ],
)
def test_contexts_that_do_not_fit_are_refused(contexts, groups, said):
    player = Player(linear.linucb(1.0), 3, dimension=2, groups=2)
    with pytest.raises((TypeError, ValueError), match=f"^{said}"):
        player.choose(contexts, groups)
    assert player.seen.t == 1
    with pytest.raises(TypeError, match=r"^contexts and groups must be left out"):
        Player(fl.ucb1(), 3).choose([[1.0]] * 3)


def test_a_policy_that_remembers_every_round_must_be_told_of_each_before_the_next():
    player = Player(ranks.fair_greedy(), 3, dimension=2, groups=3, horizon=2)
    player.choose(np.ones((3, 2)), range(3))
    with pytest.raises(ValueError, match=r"^policy 'Fair-Greedy' remembers every round, so round 1 must be observed"):
        player.choose(np.ones((3, 2)), range(3))
    with pytest.raises(ValueError, match="each must be observed"):
        player.forget(2)
    player.observe(1, 0.5)
    player.observe(player.choose(np.ones((3, 2)), range(3)).round, 0.5)
    with pytest.raises(ValueError, match="all 2 rounds have been played"):
        player.choose(np.ones((3, 2)), range(3))


def test_what_never_comes_can_be_forgotten():
    player = Player(fl.ucb1(), 2)
    for _ in range(5):
        player.choose()
    player.observe(2, 1.0)
    assert player.forget(before=4) == 2
    assert list(player.waiting) == [4, 5]
    with pytest.raises(ValueError, match="3 has been observed, or forgotten"):
        player.observe(3, 1.0)


# Files that are not its own ------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path):
    player = busy()
    player.save(tmp_path / "player")
    return tmp_path / "player"


def test_a_file_of_another_policy_is_refused(stored):
    with pytest.raises(ValueError, match="must be of the same policy and rule"):
        Player.load(stored, delays.fcts_d(fl.merit.power(1, 3), 6, 3))
    with pytest.raises(ValueError, match=r"not Policy\('FCTS-D', plays=3, "):
        Player.load(stored, fl.ucb1())
    with pytest.raises(TypeError, match="policy must be a Policy"):
        Player.load(stored, "FCTS-D")  # type: ignore[arg-type]


def test_a_file_of_the_same_policy_with_another_merit_of_the_same_name_is_refused(tmp_path):
    def made(slope):
        limits = {"low": 0, "high": 1, "minimum": 1, "lipschitz": slope, "log_lipschitz": slope}
        return exposure.fairx_ucb(fl.Merit("mine", lambda x, slope: 1 + slope * x, slope=slope, **limits), 0.1)

    Player(made(1.0), 3).save(tmp_path / "player")
    Player.load(tmp_path / "player", made(1.0))
    with pytest.raises(ValueError, match="whose rule was another"):
        Player.load(tmp_path / "player", made(2.0))


def test_a_file_of_an_older_release_is_loaded(stored, monkeypatch):
    """It says by its format whether it can be read, and by its mark whether the rule is the same."""
    monkeypatch.setattr("fairlib.deploy.player.__version__", "1.9")
    assert Player.load(stored, ON_ARMS["FCTS-D"]).seen.t > 1
    with pytest.raises(ValueError, match=rf"Policy\('UCB1'\) in fairlib 1\.9, not .* in fairlib {fl.__version__}"):
        Player.load(stored, fl.ucb1())


def test_a_file_of_a_newer_format_is_refused(tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr("fairlib.files._FORMAT", 2)
        busy().save(tmp_path / "player")
    said = rf"player must be a player .*: it is of format 2, and fairlib {fl.__version__} reads format 1$"
    with pytest.raises(ValueError, match=said):
        Player.load(tmp_path / "player", ON_ARMS["FCTS-D"])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_file_cut_short_is_refused(stored, share):
    whole = stored.read_bytes()
    stored.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="must be a player that fairlib has saved, whole"):
        Player.load(stored, ON_ARMS["FCTS-D"])


def test_a_file_that_is_something_else_is_refused(tmp_path):
    fl.simulate(fl.Bandit(fl.bernoulli([0.5, 0.4])), fl.ucb1(), 10).save(tmp_path / "result")
    with pytest.raises(ValueError, match=r"it is a result$"):
        Player.load(tmp_path / "result", fl.ucb1())
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(ValueError, match="must be a player"):
        Player.load(tmp_path / "array.npy", fl.ucb1())
    np.savez(tmp_path / "objects.npz", heading=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="must be a player"):
        Player.load(tmp_path / "objects.npz", fl.ucb1())
    with pytest.raises(FileNotFoundError):
        Player.load(tmp_path / "nothing", fl.ucb1())


def test_a_file_that_cannot_be_written_leaves_the_old_one(stored, monkeypatch):
    before = stored.read_bytes()

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        busy().save(stored)
    assert stored.read_bytes() == before
    assert list(stored.parent.iterdir()) == [stored]


def test_a_choice_is_a_plain_tuple():
    assert Player(fl.ucb1(), 3).choose() == Choice(1, (0,), (1.0,)) == (1, (0,), (1.0,))


def test_a_rule_that_fails_leaves_the_player_as_it_was():
    """Its memory and its chance are those before, so that what is chosen next does not depend on the failure."""

    def rule(rng, seen, calls: fl.Number, p):
        calls[0] += 1
        rng.random()
        if faults and faults.pop() == "raises":
            raise ValueError("not now")
        p[:] = 0.3 if calls[0] > seen.t else 1 / p.size  # memory of a call that failed would spoil all later ones
        if unfit and unfit.pop():
            p[0] = 2.0

    faults: list[str] = []
    unfit: list[bool] = []
    failing, sound = (Player(fl.Policy("weak", rule, interpret=True), 3, seed=5) for _ in range(2))
    chosen = []
    for t in range(30):
        if t % 3 == 0:
            faults.append("raises")
            with pytest.raises(ValueError, match="not now"):
                failing.choose()
            unfit.append(True)
            with pytest.raises(ValueError, match="must return probabilities"):
                failing.choose()
        chosen.append(failing.choose())
    assert chosen == [sound.choose() for _ in range(30)]
