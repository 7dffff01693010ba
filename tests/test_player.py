"""A policy at work: what it plays and observes, what its journal keeps when it is killed, and what it refuses."""

import copy
import itertools
import math
import pickle
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from helpers import exp3

import fairlib as fl
from fairlib import checks, delays, linear, ranks, shares
from fairlib.player import Player

MEANS = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
POWER = fl.merit.power(1, 4)
ON_ARMS = {
    "FAIR-LEARN(EXP3)": shares.fair_learn(fl.Policy("EXP3", exp3, rate=0.05), [0.1] * 6),
    "FCTS-D": delays.fcts_d(POWER, 6, 3),
    "FCUCB-D": delays.fcucb_d(POWER, 6, 2),
}


# Killed ---------------------------------------------------------------------------------------------------------------

KILLED = """
import os, random, signal, sys, traceback
import fairlib as fl

def work():
    with os.fdopen(writes, "w", buffering=1) as said:
        player = fl.Player(fl.epsilon_greedy(0.3), 4, seed=7, journal=sys.argv[1])
        while True:
            choice = player.choose()
            said.write(f"choice {choice.round} {choice.arms[0]} {choice.chances[0]!r}\\n")
            due = [t for t in player.waiting if t % 5 and t < choice.round - 3]
            for t in due[:1]:  # the other process may be quicker
                try:
                    player.observe(t, t % 3 / 2)
                    said.write(f"reward {t} {t % 3 / 2}\\n")
                except ValueError as error:
                    assert "has been observed" in str(error)

fl.Player(fl.epsilon_greedy(0.3), 4).choose()  # compiled before the processes part
luck = random.Random(2026)
for _ in range(20):
    reads, writes = os.pipe()
    children = []
    for _ in range(2):
        if (child := os.fork()) == 0:
            try:
                work()
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        children.append(child)
    os.close(writes)
    with os.fdopen(reads) as heard:
        lines = [heard.readline() for _ in range(luck.randrange(1, 30))]
        for child in luck.sample(children, 2):
            os.kill(child, signal.SIGKILL)
        lines += heard.readlines()
    ended = [os.waitpid(child, 0)[1] for child in children]
    assert ended == [signal.SIGKILL] * 2
    print("".join(line for line in lines if line.endswith("\\n")), end="", flush=True)
"""


def log(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM log ORDER BY id").fetchall()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_two_processes_killed_twenty_times_at_work_lose_and_double_nothing(tmp_path):
    path = tmp_path / "shop.db"
    run = subprocess.run([sys.executable, "-c", KILLED, str(path)], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    said, rows = [line.split() for line in run.stdout.splitlines()], log(path)
    choices = {row[2]: (row[3], row[4]) for row in rows if row[1] == "choice"}
    rewards = {row[2]: row[8] for row in rows if row[1] == "reward"}
    assert len(choices) + len(rewards) == len(rows)  # nothing twice
    assert list(choices) == list(range(1, len(choices) + 1))
    told = [(int(each[1]), (int(each[2]), float(each[3]))) for each in said if each[0] == "choice"]
    heard = [(int(each[1]), float(each[2])) for each in said if each[0] == "reward"]
    assert len(told) > 100
    assert len(heard) > 50
    assert len(dict(told)) == len(told)
    assert all(choices[t] == choice for t, choice in told)
    assert all(rewards[t] == reward for t, reward in heard)
    undisturbed = Player(fl.epsilon_greedy(0.3), 4, seed=7)
    for _, what, t, arm, chance, *_, reward in rows:
        if what == "choice":
            assert undisturbed.choose() == (t, (arm,), (chance,))
        else:
            undisturbed.observe(t, reward)


ROOM = """
import resource, sqlite3, sys
import fairlib as fl

resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
player, failed = fl.Player(fl.thompson_beta(), 3, journal=sys.argv[1]), 0
alone = fl.Player(fl.thompson_beta(), 3)

def patient(method, *arguments):
    global failed
    while True:
        try:
            return method(*arguments)
        except sqlite3.Error:
            failed += 1
            soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft + (failed % 5 == 0) * 20_000, resource.RLIM_INFINITY))

for t in range(1, 101):
    assert patient(player.choose) == alone.choose()
    patient(player.observe, t, t % 2)
    alone.observe(t, t % 2)
print(failed)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
def test_out_of_room_it_says_so_and_goes_on_when_there_is_room(tmp_path):
    """No file may grow beyond 60 kB for a while: what can't be written is not answered, and not remembered."""
    command = [sys.executable, "-c", ROOM, str(tmp_path / "shop.db")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= 10


def test_its_journal_can_be_replayed(tmp_path):
    luck = np.random.default_rng(4)
    with closing(Player(fl.epsilon_greedy(0.5), 2)) as player:
        for _ in range(400):
            choice = player.choose()
            player.observe(choice.round, float(luck.random() < (0.2, 0.7)[choice.arms[0]]))
        player.save(tmp_path / "shop.db")
    with closing(sqlite3.connect(tmp_path / "shop.db")) as db:
        frame = pd.read_sql("SELECT * FROM rounds", db)
    assert frame["round"].tolist() == list(range(1, 401))
    result = fl.replay(fl.Log(frame, arms=2), fl.Policy("the first", lambda p: 0), least=0.25)
    assert {row.arm for row in result.events} == {0}
    assert len(result.events) == pytest.approx(100, abs=4 * np.sqrt(400 * 0.25 * 0.75))
    assert result.rewards.mean() == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / len(result.events)))


def test_arms_have_names_in_choices_feedback_and_journal(tmp_path):
    path, menu = tmp_path / "menu.db", ["tea", "12", "coffee"]
    plain = Player(fl.uniform(2), 3)
    with closing(Player(fl.uniform(2), menu, journal=path)) as player:
        for t in range(1, 31):
            choice, numbered = player.choose(), plain.choose()
            assert choice.arms == tuple(menu[arm] for arm in numbered.arms)
            assert player.waiting == {t: choice.arms}
            for arm, name in zip(numbered.arms[::-1], choice.arms[::-1], strict=True):
                plain.observe(t, t % 2, arm)
                player.observe(t, t % 2, name)
        late = player.choose()
        for wrong in (0, 12, "water", None, True, np.array(["tea"])):
            with pytest.raises(ValueError, match=rf"^arm must be .*round {late.round} .*'(tea|12|coffee)'"):
                player.observe(late.round, 1.0, wrong)  # type: ignore[arg-type]
    with closing(Player(fl.uniform(2), menu, journal=path)) as again:
        assert again.seen.selected.sum() == 62
        assert Player.load(path, fl.uniform(2)).waiting == again.waiting
    with closing(sqlite3.connect(path)) as db:
        log = fl.Log(pd.read_sql("SELECT * FROM rounds", db), arms=menu, missing="drop")
    assert (len(log), log.dropped) == (60, 2)
    with pytest.raises(ValueError, match=r"it was made with arms \['tea', '12', 'coffee'\], not 3"):
        Player(fl.uniform(2), 3, journal=path)


def test_names_may_be_numbers_of_another_list_but_no_two_alike(tmp_path):
    path = tmp_path / "shelf.db"
    with closing(Player(fl.uniform(), np.array([1001, 17]), journal=path)) as player:  # type: ignore[arg-type]
        player.observe(1, 0.5, np.int64(player.choose().arms[0]))  # type: ignore[arg-type]
    assert set(Player(fl.uniform(), [1001, 17], journal=path).choose().arms) <= {1001, 17}
    assert checks.arm_names("arms", range(3)) == checks.arm_names("arms", 3) == (0, 1, 2)
    for wrong in (["tea", "tea"], [], ["tea", ""], ["tea", None], ["tea", math.nan], [True, False], [["tea"], "x"]):
        with pytest.raises(ValueError, match=r"^arms must be different names, at least one, each a text or a number"):
            Player(fl.ucb1(), wrong)  # type: ignore[arg-type]


def test_a_player_is_not_pickled_but_says_what_to_do():
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"a Player can't be pickled or copied, .*: save it with player\.save"):
            way(Player(fl.ucb1(), 2))


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
        ({"round": 2, "reward": 1.0, "arm": 6}, r"arm must be one of round 2 that waits for .*\(\d, \d, \d\), not 6"),
        ({"round": 2, "reward": 1.0}, "arm must be given, as several of round 2 wait for feedback: "),
        ({"round": 2, "reward": 1.5, "arm": 0}, r"reward must be a number in \[0, 1\], not 1.5"),
        ({"round": 2, "reward": math.nan, "arm": 0}, r"reward must be a number in \[0, 1\], not nan"),
    ],
)
def test_news_that_cannot_be_is_refused_and_nothing_changes(wrong, said, tmp_path):
    player, other = busy(), busy()
    with pytest.raises(ValueError, match=f"^{said}"):
        player.observe(**wrong)
    player.save(tmp_path / "player")
    other.save(tmp_path / "other")
    assert log(tmp_path / "player") == log(tmp_path / "other")
    assert player.choose() == other.choose()


def test_news_told_twice_and_of_an_arm_not_chosen_is_refused():
    player = busy()
    chosen = player.waiting[2]
    other = next(a for a in range(6) if a not in chosen)
    with pytest.raises(ValueError, match=r"^arm must be one of round 2 that waits for feedback \(\d, \d, \d\), not "):
        player.observe(2, 1.0, other)
    for arm in chosen:
        player.observe(2, 1.0, arm)
    with pytest.raises(ValueError, match=r"^round must be one that waits for feedback: 2 has been observed"):
        player.observe(2, 1.0, chosen[0])


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"policy": 3}, TypeError, "policy must be a Policy or a ContextPolicy"),
        ({"arms": None}, TypeError, "arms must be given, as policy 'UCB1' is made for any number"),
        ({"policy": fl.uniform(3), "arms": 2}, ValueError, "arms must be a whole number of at least 3, not 2"),
        ({"policy": ON_ARMS["FCUCB-D"], "arms": 5}, ValueError, "policy 'FCUCB-D' is made for 6 arms, not 5"),
        ({"dimension": 2}, TypeError, "dimension and groups must be left out"),
        ({"rewards": (1, 0)}, ValueError, "rewards must be the smallest and the largest reward"),
        ({"rewards": {0.0, 1.0}}, TypeError, "rewards must be the smallest and the largest reward"),
        ({"rewards": (0, math.nan)}, ValueError, "rewards must be the smallest and the largest reward"),
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
        ([[1.0, 2.0]] * 3, [0, 1, 2], "groups must be a whole number from 0 to 1, not 2"),
        ([[1.0, 2.0]] * 3, [0.0, 1.0, 1.0], "groups must be a whole number from 0 to 1, not 0.0"),
        ([[1.0, 2.0]] * 3, [0, 1], "groups must be 3 whole numbers, one an arm, not 2"),
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
    player.observe(1, 0.5)
    player.observe(player.choose(np.ones((3, 2)), range(3)).round, 0.5)
    with pytest.raises(ValueError, match="all 2 rounds have been played"):
        player.choose(np.ones((3, 2)), range(3))


def test_what_never_comes_waits_in_the_journal(tmp_path):
    with closing(Player(fl.ucb1(), 2, journal=tmp_path / "shop.db")) as player:
        for _ in range(5):
            player.choose()
        player.observe(2, 1.0)
        assert list(player.waiting) == [1, 3, 4, 5]
    again = Player(fl.ucb1(), 2, journal=tmp_path / "shop.db")
    again.observe(1, 1.0)
    assert list(again.waiting) == [3, 4, 5]


# Journals that are not its own ----------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path):
    busy().save(tmp_path / "player")
    return tmp_path / "player"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seed": 4}, "it was made with seed 3, not 4$"),
        ({"seed": np.random.SeedSequence(3, spawn_key=(1,))}, r"it was made with spawn_key \[\], not \[1\]$"),
        ({"rewards": (0, 0.5)}, r"it was made with rewards \[0.0, 1.0\], not \[0.0, 0.5\]$"),
        ({"horizon": 9}, "it was made with horizon None, not 9$"),
        ({"policy": fl.ucb1(), "arms": 5}, "it was made with arms 6, not 5$"),
        ({"policy": fl.ucb1()}, r"it has Choice\(round=1, arms=.*, and 'UCB1' now makes Choice\(round=1, arms=\(0,\)"),
    ],
    ids=itertools.count(),
)
def test_a_journal_that_was_made_with_something_else_is_refused(given, said, stored):
    before = log(stored)
    with pytest.raises(ValueError, match=rf"player must be the journal of this player: {said}"):
        Player(**{"policy": ON_ARMS["FCTS-D"], "arms": 6, "seed": 3, "journal": stored, **given})
    assert log(stored) == before
    assert Player(ON_ARMS["FCTS-D"], 6, seed=3, journal=stored).choose() == busy().choose()


def test_a_choice_that_was_altered_is_named(stored):
    with closing(sqlite3.connect(stored)) as db, db:
        db.execute("DELETE FROM log WHERE id = (SELECT max(id) FROM log WHERE round = 4)")
    with pytest.raises(ValueError, match=r"player must be .*: it has Choice\(round=4, arms=\(\d, \d\), .* now makes"):
        Player.load(stored, ON_ARMS["FCTS-D"])


def changed(path, statement):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)


STRANGE = {
    "no folder": (lambda path: path.parent.rmdir(), "unable to open database file"),
    "a folder": (lambda path: path.mkdir(), "unable to open database file"),
    "a text": (lambda path: path.write_text("no database " * 99, encoding="utf-8"), "file is not a database"),
    "cut short": (lambda path: path.write_bytes(path.read_bytes()[:5000]), "database disk image is malformed"),
    "another program's": (lambda path: changed(path, "CREATE TABLE log (x)"), "it is another program's database"),
    "newer": (
        lambda path: changed(path, "PRAGMA user_version = 2"),
        "it is a journal of format 2, and fairlib .* reads",
    ),
    "a result": (lambda path: fl.simulate(fl.Bandit(fl.bernoulli(MEANS)), fl.ucb1(), 9).save(path), "file is not a"),
}


@pytest.mark.parametrize("kind", STRANGE)
def test_a_file_that_is_no_journal_is_refused_in_one_sentence_and_left_as_it_was(kind, tmp_path):
    path = tmp_path / "shop" / "log.db"
    path.parent.mkdir()
    if kind in ("cut short", "newer"):
        busy().save(path)
    spoil, said = STRANGE[kind]
    spoil(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(ValueError, match=rf"log.db must be the journal of this player: {said}"):
        Player(ON_ARMS["FCTS-D"], 6, seed=3, journal=path)
    assert (path.read_bytes() if path.is_file() else None) == before
    if before:
        with pytest.raises(ValueError, match=r"log\.db must be the journal of this player: "):
            Player.load(path, ON_ARMS["FCTS-D"])


def test_a_file_that_is_not_there_is_not_loaded(tmp_path):
    with pytest.raises(FileNotFoundError):
        Player.load(tmp_path / "nothing", fl.ucb1())
    assert list(tmp_path.iterdir()) == []
    busy().save(tmp_path / "player")
    with pytest.raises(TypeError, match="policy must be a Policy"):
        Player.load(tmp_path / "player", "FCTS-D")  # type: ignore[arg-type]


def test_a_file_that_cannot_be_written_leaves_the_old_one(stored, monkeypatch):
    before = stored.read_bytes()

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        busy().save(stored)
    assert stored.read_bytes() == before
    assert list(stored.parent.iterdir()) == [stored]


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
