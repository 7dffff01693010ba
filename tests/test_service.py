"""A service on a real database: killed, doubled, repeated, misused, and out of room, it loses and doubles nothing.

Then its HTTP front, called as a server calls it, and behind the real server that the command starts.
"""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import asyncio
import contextlib
import itertools
import json
import math
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairlib as fl
from fairlib.delays import fcts_d
from fairlib.deploy import Service, ServiceError, app
from fairlib.deploy.__main__ import _main
from fairlib.experiments.replay import replay
from fairlib.merit import power
from fairlib.shares import fair_learn, fair_ucb

# What each process does: it asks its requests in order, some of them a second time, and tells some late, some never.
WORK = """
import os, sys
import fairlib as fl
from fairlib.deploy import Service

def work(path, requests, prepare=lambda service: None):
    service = Service(path, fl.epsilon_greedy(0.3), 4, seed=7, snapshot_every=20)
    prepare(service)
    for i in requests:
        choice = service.choose(f"request {i}")
        print(i, choice.round, choice.arms[0], choice.chances[0], flush=True)
        late = i - i % 5
        if i % 7:
            service.observe(f"request {late}", late % 3 / 2)
        if i % 11 == 0:
            service.choose(f"request {late}")
    service.close()

path, requests = sys.argv[1], range(int(sys.argv[2]))
"""

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals and limits")


def started(work, *arguments):
    """Start a process with some code at its end."""
    command = [sys.executable, "-c", WORK + work, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def said(lines):
    """Return what a process said: request, round, arm and chance. A line that was cut short was not said."""
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(f"request {i}", int(t), int(arm), float(chance)) for i, t, arm, chance in whole]


def log(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT * FROM log ORDER BY id").fetchall()


def choices(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT request, round, arm, propensity FROM rounds").fetchall()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return what is in the log when nothing goes wrong."""
    path = tmp_path_factory.mktemp("undisturbed") / "log.db"
    process = started("work(path, requests)", path, 300)
    out, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert choices(path) == said(out.splitlines(keepends=True))
    return log(path)


@UNIX
def test_a_process_that_is_killed_again_and_again_loses_and_doubles_nothing(tmp_path, undisturbed):
    rng, path, answers, killed = np.random.default_rng(2026), tmp_path / "log.db", [], 0
    for _ in range(8):
        with started("work(path, requests)", path, 300) as process:
            lines = [process.stdout.readline()]
            before = len(choices(path))
            for _ in range(int(rng.integers(before, before + 50))):  # it begins with what has been answered
                lines.append(process.stdout.readline())
            with contextlib.suppress(subprocess.TimeoutExpired):  # so that it is in the midst of something
                process.wait(rng.random() / 500)
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
            killed += process.wait() == -signal.SIGKILL
        answers += said(lines)
        assert set(answers) <= set(choices(path))
        if process.returncode == 0:
            break
    assert killed >= 5
    process = started("work(path, requests)", path, 300)
    answers += said(process.communicate()[0].splitlines(keepends=True))
    assert process.returncode == 0
    assert log(path) == undisturbed
    assert set(answers) == set(choices(path))


@UNIX
def test_it_may_be_killed_before_each_statement_and_after_each_commit(tmp_path, undisturbed):
    code = """
import signal

def kill_at(number):
    count = 0
    def step(_):
        nonlocal count
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)
    return lambda service: service._db.set_trace_callback(step)

died = 0
for number in range(1, 41):
    if (child := os.fork()) == 0:
        work(path, requests, kill_at(10 * number + number % 10))
        os._exit(0)
    died += os.WIFSIGNALED(os.waitpid(child, 0)[1])
print("died", died)
work(path, requests)
"""
    path = tmp_path / "log.db"
    process = started(code, path, 300)
    out, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert "died 40\n" in out
    assert log(path) == undisturbed


def test_two_processes_at_once_give_the_same_answers_and_one_sequence_of_rounds(tmp_path):
    code = """
import time
from pathlib import Path

def meet(service):
    Path(f"{path}.{sys.argv[3]}").touch()
    while not all(Path(f"{path}.{each}").exists() for each in (1, -1)):
        time.sleep(0.001)

def paused():  # a moment after each five, in which the other comes in
    for i in range(0, len(requests), 5)[:: int(sys.argv[3])]:
        yield from requests[i : i + 5]
        time.sleep(0.005)

work(path, paused(), meet)
"""
    path = tmp_path / "log.db"
    processes = [started(code, path, 200, step) for step in (1, -1)]
    first, second = (said(process.communicate()[0].splitlines(keepends=True)) for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted(first) == sorted(second) == sorted(choices(path))
    assert [t for _, t, _, _ in choices(path)] == list(range(1, 201))
    assert [t for _, t, _, _ in first] != sorted(t for _, t, _, _ in first)  # they did meet
    Service(path, fl.epsilon_greedy(0.3), 4, seed=7).close()  # which plays it again


def test_many_threads_ask_and_tell_at_once(tmp_path):
    path = tmp_path / "log.db"
    with closing(Service(path, fair_ucb([0.1] * 4))) as service, ThreadPoolExecutor(8) as pool:
        names = [f"{i % 150}" for i in range(450)]
        answers = list(pool.map(service.choose, names))
        assert answers[:150] == answers[150:300] == answers[300:]
        assert sum(pool.map(service.observe, names, [1.0] * 450)) == 150
        assert sorted(choice.round for choice in answers[:150]) == list(range(1, 151))
    with closing(Service(path, fair_ucb([0.1] * 4))) as service:
        assert service.choose("next").round == 151


def test_it_plays_as_a_player_does(tmp_path):
    """Told at the same moments, stopped in the middle or not, with feedback late and never."""
    player, path = fl.Player(fl.thompson_beta(), 3, seed=3), tmp_path / "log.db"
    service = Service(path, fl.thompson_beta(), 3, seed=3)
    for t in range(1, 200):
        if t % 50 == 0:
            service.close()
            service = Service(path, fl.thompson_beta(), 3, seed=3)
        assert service.choose(f"visit {t}") == player.choose()
        if t > 10 and t % 4:
            player.observe(t - 10, t % 2)
            assert service.observe(f"visit {t - 10}", t % 2)
    service.close()


def test_contexts_are_kept_to_the_last_bit(tmp_path):
    player, path, rng = (
        fl.Player(fl.linear.lints(0.5, 1.0), 3, dimension=2),
        tmp_path / "log.db",
        np.random.default_rng(1),
    )
    policy = fl.linear.lints(0.5, 1.0)
    for _ in range(3):
        with closing(Service(path, policy, 3, dimension=2)) as service:
            for _ in range(20):
                contexts = rng.standard_normal((3, 2)) / 3
                choice = player.choose(contexts)
                assert (
                    service.choose(f"{choice.round}", contexts) == service.choose(f"{choice.round}", contexts) == choice
                )
                player.observe(choice.round, contexts[choice.arms[0], 0] ** 2)
                service.observe(f"{choice.round}", contexts[choice.arms[0], 0] ** 2)
    with closing(Service(path, policy, 3, dimension=2)) as service:
        with pytest.raises(ValueError, match="request must be a new one where the contexts are, but '60' has been"):
            service.choose("60", contexts + 1e-9)
        with pytest.raises(TypeError, match="contexts must be given"):
            service.choose("61")
        with pytest.raises(ValueError, match=r"contexts must be of shape \(3, 2\)"):
            service.choose("61", np.ones((2, 2)))
        assert service.choose("61", contexts) == player.choose(contexts)


@pytest.fixture
def service(tmp_path):
    with closing(Service(tmp_path / "log.db", fl.ucb1(), 3)) as made:
        assert made.choose("one").round == 1
        yield made


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda each: each.choose(3), TypeError, "request must be a text of 1 to 200 printable characters, not 3"),
        (lambda each: each.choose(""), ValueError, "request must be a text of 1 to 200 printable characters, not ''"),
        (lambda each: each.choose("a" * 201), ValueError, "request must be a text"),
        (lambda each: each.choose("a\0b"), ValueError, "request must be a text"),
        (lambda each: each.choose("\ud800"), ValueError, "request must be a text"),
        (lambda each: each.choose("two", [[0.0]]), TypeError, "contexts and groups must be left out"),
        (lambda each: each.choose("two", "nonsense"), TypeError, "contexts must be"),
        (lambda each: each.choose("one", [[0.0]]), ValueError, "'one' has been answered"),
        (lambda each: each.observe("two", 1.0), ValueError, "request must be one that was answered, not 'two'"),
        (lambda each: each.observe(("one",), 1.0), TypeError, "request must be a text"),
        (lambda each: each.observe("one", 1.1), ValueError, r"reward must be a number in \[0, 1\], not 1.1"),
        (lambda each: each.observe("one", math.nan), ValueError, "reward must be a number"),
        (lambda each: each.observe("one", True), TypeError, "reward must be a number"),
    ],
    ids=itertools.count(),
)
def test_what_it_cannot_take_is_refused_and_changes_nothing(service, tmp_path, call, error, message):
    before = log(tmp_path / "log.db")
    with pytest.raises(error, match=message):
        call(service)
    assert log(tmp_path / "log.db") == before
    assert service.observe("one", 0.5)
    with pytest.raises(ValueError, match=r"reward must be 0.5, as was observed for 'one' before, not 0.75"):
        service.observe("one", 0.75)
    assert not service.observe("one", 0.5)
    assert service.choose("two") == (2, (1,), (1.0,))


def test_a_refusal_does_not_make_it_read_the_log_again(service):
    player = service._player
    with pytest.raises(TypeError):
        service.choose("two", [[0.0]])
    assert service._player is player


def test_the_horizon_ends_it_and_news_still_comes_in(tmp_path):
    with closing(Service(tmp_path / "log.db", fl.ucb1(), 3, horizon=2)) as service:
        service.choose("one"), service.choose("two")
        with pytest.raises(ValueError, match="all 2 rounds have been played"):
            service.choose("three")
        assert service.choose("two").round == 2
        assert service.observe("two", 1.0)


@pytest.mark.parametrize(
    ("policy", "more", "message"),
    [
        (fl.epsilon_greedy(0.3), {}, r"made with policy Policy\('UCB1'\), not Policy\('epsilon-greedy', epsilon=0.3\)"),
        (fl.ucb1(), {"seed": 1}, "made with seed 0, not 1$"),
        (fl.ucb1(), {"rewards": (0, 2)}, r"made with rewards \[0.0, 1.0\], not \[0.0, 2.0\]$"),
        (fl.ucb1(), {"arms": 4}, "made with arms 3, not 4$"),
        (fl.Policy("UCB1", lambda p: 0), {}, "made with rule [0-9a-f]{12}, not [0-9a-f]{12}$"),
    ],
    ids=itertools.count(),
)
def test_the_log_of_another_service_is_refused(service, tmp_path, policy, more, message):
    with pytest.raises(ValueError, match=message):
        Service(tmp_path / "log.db", policy, **{"arms": 3, **more})
    assert service.choose("two").round == 2


def test_a_log_that_was_changed_is_noticed(service, tmp_path):
    assert service.choose("two").arms == (0,)  # nothing has been told yet
    with closing(sqlite3.connect(tmp_path / "log.db")) as db, db:
        db.execute("UPDATE log SET arm = 2 WHERE round = 2")
    with pytest.raises(
        RuntimeError, match=r"arm 2 with probability 1 in round 2, and 'UCB1' now chooses .*arms=\(0,\)"
    ):
        Service(tmp_path / "log.db", fl.ucb1(), 3)


def test_several_plays_a_round_are_answered_and_heard_one_by_one(tmp_path):
    """As a player does it, stopped in the middle, with feedback in another order, twice and never."""
    policy, path, rng = fcts_d(power(2, 4), 4, 2), tmp_path / "log.db", np.random.default_rng(2)
    player, service = fl.Player(policy, seed=3), Service(path, policy, seed=3, snapshot_every=30)
    for t in range(1, 101):
        if t % 45 == 0:
            service.close()
            service = Service(path, policy, seed=3, snapshot_every=30)
        choice = service.choose(f"visit {t}")
        assert choice == player.choose() == service.choose(f"visit {t}")
        assert len(choice.arms) == len(choice.chances) == 2
        for arm in rng.permutation(choice.arms)[: t % 3].tolist():
            reward = float(rng.random() < 0.2 * (arm + 1))
            assert service.observe(f"visit {t}", reward, arm)
            player.observe(t, reward, arm)
            assert not service.observe(f"visit {t}", reward, arm)
    service.close()
    with closing(sqlite3.connect(path)) as db:
        frame = pd.read_sql("SELECT * FROM rounds", db)
    assert frame["round"].tolist() == [t for t in range(1, 101) for _ in range(2)]
    assert frame.groupby("round")["reward"].count().tolist() == [t % 3 for t in range(1, 101)]
    assert not frame.duplicated(["round", "arm"]).any()


def test_what_is_told_of_several_arms_must_name_one_of_them(tmp_path):
    with closing(Service(tmp_path / "log.db", fl.uniform(2), 3)) as service:
        one, other = service.choose("one").arms
        (left,) = {0, 1, 2} - {one, other}
        with pytest.raises(ValueError, match=f"arm must be given, as several were chosen for 'one': {one}, {other}"):
            service.observe("one", 1.0)
        with pytest.raises(ValueError, match=f"arm must be one that was chosen for 'one' .*, not {left}"):
            service.observe("one", 1.0, left)
        with pytest.raises(ValueError, match="arm must be a whole number from 0 to 2, not 3"):
            service.observe("one", 1.0, 3)
        assert service.observe("one", 1.0, other)
        assert service.observe("one", 0.5, one)
        with pytest.raises(ValueError, match=r"reward must be 0.5, as was observed for 'one' before, not 0.25"):
            service.observe("one", 0.25, one)
        with pytest.raises(ValueError, match="arm must be given"):  # of which nothing is left, but which is it?
            service.observe("one", 0.5)
    with closing(Service(tmp_path / "other.db", fl.ucb1(), 3)) as service:
        (arm,) = service.choose("one").arms
        assert service.observe("one", 1.0)
        assert not service.observe("one", 1.0, arm)


def test_a_choice_of_several_arms_that_was_changed_is_noticed(tmp_path):
    path = tmp_path / "log.db"
    with closing(Service(path, fl.uniform(2), 3)) as service:
        one, other = service.choose("one").arms
        (left,) = {0, 1, 2} - {one, other}
    for change in (f"UPDATE log SET arm = {left} WHERE arm = {other}", f"DELETE FROM log WHERE arm = {left}"):
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(change)
        with pytest.raises(ServiceError, match=r"log.db has arm .* in round 1, and 'uniform' now chooses"):
            Service(path, fl.uniform(2), 3)


# Snapshots

POLICIES = {
    "memory": (fl.thompson_beta(), {"arms": 3}),
    "a promise": (fair_learn(fl.epsilon_greedy(0.3), [0.2] * 4), {}),
    "contexts": (fl.linear.lints(0.5, 1.0), {"arms": 3, "dimension": 2}),
    "several plays": (fl.uniform(2), {"arms": 4}),
}


def lived(service, first, last, seed=5):
    """Let some rounds pass, of which a third is never told, and return what was chosen."""
    chosen = []
    for t in range(first, last + 1):
        rng = np.random.default_rng([seed, t])
        contexts = rng.standard_normal((3, 2)) / 3 if isinstance(service.policy, fl.ContextPolicy) else None
        chosen.append(service.choose(f"visit {t}", contexts))
        for arm in chosen[-1].arms if t % 3 else ():
            service.observe(f"visit {t}", float(rng.random() < 0.3), arm)
    return chosen


@pytest.fixture
def replayed(monkeypatch):
    """Count the rounds that a player lives through."""
    rounds = []
    choose = fl.Player.choose

    def counted(self, *given):
        rounds.append(self)
        return choose(self, *given)

    monkeypatch.setattr(fl.Player, "choose", counted)
    return rounds


def stored(path):
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT id FROM snapshot").fetchone()


@pytest.mark.parametrize("kind", POLICIES)
def test_a_snapshot_spares_all_rounds_before_it_and_changes_no_choice(tmp_path, replayed, kind):
    policy, more = POLICIES[kind]
    with closing(Service(tmp_path / "whole.db", policy, **more, snapshot_every=0)) as whole:
        expected = lived(whole, 1, 130)
    path, opened = tmp_path / "log.db", []
    for first, last in ((1, 39), (40, 55), (56, 105), (106, 106), (107, 130)):
        replayed.clear()
        with closing(Service(path, policy, **more, snapshot_every=20)) as service:
            opened.append(len(replayed))
            assert lived(service, first, last) == expected[first - 1 : last]
    assert opened == [0, 19, 15, 5, 6]  # from the last snapshot on
    assert log(path) == log(tmp_path / "whole.db")
    assert stored(tmp_path / "whole.db") is None


def test_a_long_log_without_a_snapshot_is_played_once(tmp_path, replayed):
    path = tmp_path / "log.db"
    for every, expected in ((0, 0), (0, 50), (20, 50), (20, 0), (0, 50), (60, 0)):
        replayed.clear()
        with closing(Service(path, fl.ucb1(), 3, snapshot_every=every)) as service:
            assert len(replayed) == expected
            if not log(path):
                lived(service, 1, 50)


def changed(path, statement, *values):
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement, values)


def bent(path, service):
    with closing(sqlite3.connect(path)) as db:
        (kept,) = db.execute("SELECT player FROM snapshot").fetchone()
    changed(path, "UPDATE snapshot SET player = ?", kept[:500] + bytes([kept[500] ^ 1]) + kept[501:])


def anothers(path, service):
    other = fl.Player(fl.epsilon_greedy(0.4), 3)
    other.save(path.with_name("player"))
    kept, (number,) = path.with_name("player").read_bytes(), stored(path)
    changed(path, "UPDATE snapshot SET player = ?, seal = ?", kept, service._seal(number, kept))


DAMAGES = {
    "a byte": (bent, "it is damaged, or of another log"),
    "a row of the log": (lambda path, _: changed(path, "UPDATE snapshot SET id = id - 1"), "it is damaged"),
    "a row that is not there": (lambda path, _: changed(path, "UPDATE snapshot SET id = 10000"), "it is damaged"),
    "a text": (lambda path, _: changed(path, "UPDATE snapshot SET player = 'none'"), "bytes"),
    "another policy": (anothers, "must be of the same policy and rule"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_snapshot_that_does_not_fit_is_passed_over(tmp_path, replayed, caplog, damage):
    path, policy = tmp_path / "log.db", fl.epsilon_greedy(0.3)
    with closing(Service(tmp_path / "whole.db", policy, 3)) as whole:
        expected = lived(whole, 1, 60)
    with closing(Service(path, policy, 3, snapshot_every=20)) as service:
        lived(service, 1, 45)
        DAMAGES[damage][0](path, service)
    replayed.clear()
    with closing(Service(path, policy, 3, snapshot_every=20)) as service:
        assert len(replayed) == 45
        assert "log.db: the stored player is passed over, and the log played again: " in caplog.text
        assert DAMAGES[damage][1] in caplog.text
        assert lived(service, 46, 60) == expected[45:]
    replayed.clear()
    Service(path, policy, 3, snapshot_every=20).close()
    assert len(replayed) == 0  # it has been stored anew


def test_a_snapshot_of_a_newer_format_is_passed_over(tmp_path, replayed, caplog, monkeypatch):
    path = tmp_path / "log.db"
    with monkeypatch.context() as patched, closing(Service(path, fl.ucb1(), 3, snapshot_every=20)) as service:
        patched.setattr("fairlib.files._FORMAT", 2)
        lived(service, 1, 45)
    replayed.clear()
    Service(path, fl.ucb1(), 3, snapshot_every=20).close()
    assert len(replayed) == 45
    assert f"it is of format 2, and fairlib {fl.__version__} reads format 1" in caplog.text


def test_without_snapshots_a_change_long_ago_is_noticed(tmp_path):
    path = tmp_path / "log.db"
    with closing(Service(path, fl.ucb1(), 3, snapshot_every=20)) as service:
        lived(service, 1, 45)
    changed(path, "UPDATE log SET arm = (arm + 1) % 3 WHERE round = 7")
    Service(path, fl.ucb1(), 3, snapshot_every=20).close()
    with pytest.raises(ServiceError, match="in round 7, and 'UCB1' now chooses"):
        Service(path, fl.ucb1(), 3, snapshot_every=0)


@pytest.mark.parametrize("broken", [OSError(28, "No space left on device"), sqlite3.OperationalError("disk I/O error")])
def test_a_snapshot_that_cannot_be_stored_is_no_failure(tmp_path, caplog, monkeypatch, broken):
    def fails(*_):
        raise broken

    with closing(Service(tmp_path / "log.db", fl.ucb1(), 3, snapshot_every=20)) as service:
        player = service._player
        monkeypatch.setattr(fl.Player, "save", fails)
        lived(service, 1, 45)
        assert service._player is player
    assert caplog.text.count("log.db: the player could not be stored: ") == 2
    assert stored(tmp_path / "log.db") is None


# Files that are none of its own


def test_a_log_that_would_be_lost_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in (":memory:", "file:log.db?mode=memory", "file::memory:", "file:///log.db"):
        with pytest.raises(ValueError, match=f"path must be the path of a file on a disk.*, not '{re.escape(path)}'"):
            Service(path, fl.ucb1(), 3)
    with pytest.raises(ValueError, match=r"path must be the path of a file, a string or .* not ''"):
        Service("", fl.ucb1(), 3)
    assert list(tmp_path.iterdir()) == []
    Service(Path("memory"), fl.ucb1(), 3).close()


def test_a_journal_that_is_not_what_it_asks_for_is_refused(tmp_path, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, **more: connect(":memory:", **more))
    with pytest.raises(ServiceError, match=r"log.db must be on a disk of this machine: .* WAL, only memory"):
        Service(tmp_path / "log.db", fl.ucb1(), 3)


def foreign(path):
    changed(path, "CREATE TABLE log (x)")


def own(*statements):
    def make(path):
        Service(path, fl.ucb1(), 3).close()
        for statement in statements:
            changed(path, statement)

    return make


def row(what="'choice'", t="1", arm="0", contexts="NULL", reward="NULL"):
    values = f"{what}, 'one', {t}, {arm}, 1.0, {contexts}, {reward}"
    return own(f"INSERT INTO log (what, request, round, arm, chance, contexts, reward) VALUES ({values})")


WRONG = {
    "no folder": (lambda path: path.parent.rmdir(), "can't be opened: unable to open database file"),
    "a folder": (lambda path: path.mkdir(), "can't be opened: unable to open database file"),
    "a text": (
        lambda path: path.write_text("no database " * 99, encoding="utf-8"),
        "can't be opened: file is not a database",
    ),
    "another program's": (foreign, "must be a file that a Service has made, not another program's database"),
    "marked by another": (lambda path: changed(path, "PRAGMA application_id = 7"), "not another program's database"),
    "no format": (own("PRAGMA user_version = 0"), "is of format 0, and"),
    "format 2": (own("PRAGMA user_version = 2"), f"is of format 2, and fairlib {fl.__version__} reads format 1"),
    "no table": (own("DROP TABLE snapshot"), "can't be opened: no such table: snapshot"),
    "made with nothing": (own("DELETE FROM made"), "its table `made` is damaged"),
    "made deep": (own(f"UPDATE made SET how = '{'[' * 9000}'"), "its table `made` is damaged"),
    "what": (row(what="'chioce'"), r"in its log that no service wrote, 1: what must be 'choice' or 'feedback'"),
    "a text as arm": (row(arm="'zero'"), "has arm zero with probability 1 in round 1, and 'UCB1' now chooses"),
    "feedback of nothing": (
        row(what="'feedback'", reward="1"),
        "in its log that no service wrote, 1: round must be one that has been played",
    ),
    "contexts": (
        row(contexts="'[[1.0]]'"),
        "in its log that no service wrote, 1: contexts and groups must be left out",
    ),
    "deep contexts": (row(contexts=f"'{'[' * 9000}'"), "in its log that no service wrote, 1: "),
    "no JSON": (row(contexts="'x'"), "in its log that no service wrote, 1: Expecting value"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_file_that_it_cannot_work_with_is_named_in_one_error(tmp_path, kind):
    path = tmp_path / "shop" / "log.db"
    path.parent.mkdir()
    make, message = WRONG[kind]
    make(path)
    with pytest.raises(ServiceError, match=f"^{re.escape(str(path))} .*{re.escape(message)}"):
        Service(path, fl.ucb1(), 3)


@pytest.mark.parametrize("make", [foreign, own("PRAGMA user_version = 2")])
def test_the_database_of_another_program_is_left_as_it_was(tmp_path, make):
    path = tmp_path / "log.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(ServiceError):
        Service(path, fl.ucb1(), 3)
    assert path.read_bytes() == before


# What is the same


def test_a_reward_that_was_a_float32_in_between_is_the_same(service):
    assert service.observe("one", np.float32(0.1))
    assert not service.observe("one", 0.1)
    assert not service.observe("one", np.float32(0.1))
    with pytest.raises(ValueError, match=r"reward must be 0.10000000149011612, as .* before, not 0.10001"):
        service.observe("one", 0.10001)
    service.choose("two")
    assert service.observe("two", 0.1)
    assert not service.observe("two", np.float32(0.1))
    service.choose("three")
    assert service.observe("three", 0.0)
    with pytest.raises(ValueError, match=r"reward must be 0.0, as was observed for 'three' before, not 1e-09"):
        service.observe("three", 1e-9)


def test_a_context_has_one_zero(tmp_path):
    path, policy = tmp_path / "log.db", fl.linear.lints(0.5, 1.0)
    with closing(Service(path, policy, 2, dimension=2)) as service:
        first = service.choose("one", [[0.0, 1.0], [1.0, 0.0]])
        assert service.choose("one", [[-0.0, 1.0], [1.0, 0.0]]) == first
        second = service.choose("two", [[-0.0, 1.0], [1.0, -0.0]])
        assert service.choose("two", [[0.0, 1.0], [1.0, 0.0]]) == second
    Service(path, policy, 2, dimension=2).close()
    with closing(sqlite3.connect(path)) as db:
        assert [json.loads(text) for (text,) in db.execute("SELECT features FROM rounds")] == [[[0, 1], [1, 0]]] * 2
        assert "-0.0" not in str(db.execute("SELECT features FROM rounds").fetchall())


def test_rounds_are_counted_while_another_process_writes(tmp_path):
    path = tmp_path / "a log?#%.db"
    with closing(Service(path, fl.ucb1(), 3)) as service, closing(Service(path, fl.ucb1(), 3)) as other:
        assert service.rounds() == 0
        service.choose("one"), other.choose("two"), service.observe("one", 1.0)
        with other._transaction():
            assert service.rounds() == 2
    path.unlink()
    with pytest.raises(sqlite3.OperationalError):
        service.rounds()


@UNIX
def test_out_of_room_it_says_so_and_goes_on_when_there_is_room(tmp_path, undisturbed):
    """No file may grow beyond 60 kB for a while: what can't be written is not answered, and not remembered."""
    code = """
import resource, sqlite3
from fairlib.deploy import Service

failed = 0

def patient(method):
    def call(*arguments):
        global failed
        while True:
            try:
                return method(*arguments)
            except sqlite3.Error:
                failed += 1
                if failed % 5 == 0:
                    soft = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
                    resource.setrlimit(resource.RLIMIT_FSIZE, (soft + 20_000, resource.RLIM_INFINITY))
    return call

Service.choose, Service.observe = patient(Service.choose), patient(Service.observe)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
work(path, requests)
print("failed", failed, file=sys.stderr)
"""
    path = tmp_path / "log.db"
    process = started(code, path, 300)
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    *warned, failed = errors.splitlines()
    assert all("the player could not be stored: " in line for line in warned)
    assert int(failed.split()[1]) >= 10
    assert log(path) == undisturbed
    assert said(out.splitlines(keepends=True)) == choices(path)


def test_its_log_can_be_replayed(tmp_path):
    path, luck = tmp_path / "log.db", np.random.default_rng(4)
    with closing(Service(path, fl.epsilon_greedy(0.5), 2)) as service:
        for i in range(400):
            choice = service.choose(f"{i}")
            service.observe(f"{i}", float(luck.random() < (0.2, 0.7)[choice.arms[0]]))
    with closing(sqlite3.connect(path)) as db:
        frame = pd.read_sql("SELECT * FROM rounds", db)
    assert frame["round"].tolist() == list(range(1, 401))
    result = replay(frame, fl.Policy("the first", lambda p: 0), arms=2, least=0.25)
    assert {row.arm for row in result.events} == {0}
    assert len(result.events) == pytest.approx(100, abs=4 * np.sqrt(400 * 0.25 * 0.75))
    assert result.rewards.mean() == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / len(result.events)))


# The front

JSON = {"content-type": "application/json"}


async def call(front, path, *parts, method="POST", headers=JSON, ends=True):
    """Call an ASGI application as a server does; a body that doesn't end keeps it waiting."""
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http"}
    scope |= {"path": path, "query_string": b"", "root_path": "", "server": ("shop", 80), "client": ("visitor", 1)}
    scope |= {"headers": [(name.encode(), value.encode()) for name, value in headers.items()]}
    left, sent = list(parts), []

    async def receive():
        if not (left or ends):
            await asyncio.sleep(3600)
        part = left.pop(0) if left else b""
        return {"type": "http.request", "body": part, "more_body": bool(left) or not ends}

    async def send(message):
        sent.append(message)

    await asyncio.wait_for(front(scope, receive, send), 30)
    answer = json.loads(b"".join(message.get("body", b"") for message in sent[1:]))
    return sent[0]["status"], answer, {name.decode(): value.decode() for name, value in sent[0]["headers"]}


def ask(front, path, *parts, **more):
    """Return the status and what was answered, to an object or to a body in parts."""
    return asyncio.run(
        call(front, path, *[json.dumps(each).encode() if isinstance(each, dict) else each for each in parts], **more)
    )[:2]


def test_the_front_answers_as_the_service_does(tmp_path):
    player = fl.Player(fl.epsilon_greedy(0.5), 3)
    with closing(Service(tmp_path / "log.db", fl.epsilon_greedy(0.5), 3)) as service:
        front = app(service)
        for t in range(1, 21):
            choice = player.choose()
            said = {"round": t, "arms": list(choice.arms), "chances": list(choice.chances)}
            assert ask(front, "/choose", {"request": f"visit {t}"}) == (200, said)
            assert ask(front, "/choose", {"request": f"visit {t}"}) == (200, said)
            assert ask(front, "/observe", {"request": f"visit {t}", "reward": t % 2}) == (200, {"new": True})
            assert ask(front, "/observe", {"request": f"visit {t}", "reward": t % 2}) == (200, {"new": False})
            player.observe(t, t % 2)
        assert ask(front, "/healthz", method="GET", headers={}) == (200, {"rounds": 20})
        assert {choice.chances[0] for choice in (service.choose(f"visit {t}") for t in range(1, 21))} > {2 / 3}


def test_the_front_takes_contexts_and_a_reward_for_each_of_several_arms(tmp_path):
    policy, contexts = fl.linear.lints(0.5, 1.0), [[0.1, 0.2], [0.3, 0.4]]
    with closing(Service(tmp_path / "contexts.db", policy, 2, dimension=2)) as service:
        choice = fl.Player(policy, 2, dimension=2).choose(contexts)
        said = {"round": 1, "arms": list(choice.arms), "chances": list(choice.chances)}
        assert ask(app(service), "/choose", {"request": "one", "contexts": contexts}) == (200, said)
    with closing(Service(tmp_path / "several.db", fl.uniform(2), 3)) as service:
        front = app(service)
        arms = ask(front, "/choose", {"request": "one"})[1]["arms"]
        assert ask(front, "/observe", {"request": "one", "reward": 1})[0] == 400
        for arm in arms:
            assert ask(front, "/observe", {"request": "one", "reward": 1, "arm": arm}) == (200, {"new": True})


OBSERVE = b'{"request": "one", "reward": 1}'

REFUSED = {
    "nothing": ("/choose", [], {}, 400, "the body must be JSON: Expecting value"),
    "half": ("/choose", [b'{"request": '], {}, 400, "the body must be JSON: Expecting value"),
    "deep": ("/choose", [b"[" * 9000], {}, 400, "the body must be JSON: "),
    "deep contexts": (
        "/choose",
        [b'{"request": "two", "contexts": ' + b"[" * 400 + b"]" * 400 + b"}"],
        {},
        400,
        "contexts must be",
    ),
    "digits": ("/choose", [b"1" * 9000], {}, 400, "the body must be JSON: Exceeds the limit"),
    "no text": ("/choose", [b"\xff\xfe\xfd"], {}, 400, "the body must be JSON: "),
    "a list": (
        "/choose",
        [b'["two"]'],
        {},
        400,
        "the body must be a JSON object with `request`, and perhaps `contexts`, not ['two']",
    ),
    "no request": ("/choose", [b"{}"], {}, 400, "and perhaps `contexts`; it lacks `request`"),
    "no reward": (
        "/observe",
        [b'{"request": "one"}'],
        {},
        400,
        "with `request` and `reward`, and perhaps `arm`; it lacks `reward`",
    ),
    "a slip": ("/choose", [b'{"request": "two", "context": []}'], {}, 400, "without 'context'"),
    "a number": (
        "/choose",
        [b'{"request": 2}'],
        {},
        400,
        "request must be a text of 1 to 200 printable characters, not 2",
    ),
    "NaN": ("/observe", [b'{"request": "one", "reward": NaN}'], {}, 400, "reward must be a number in [0, 1], not nan"),
    "another arm": (
        "/observe",
        [b'{"request": "one", "reward": 1, "arm": 2}'],
        {},
        400,
        "arm must be one that was chosen",
    ),
    "unasked": ("/observe", [b'{"request": "two", "reward": 1}'], {}, 400, "request must be one that was answered"),
    "mistyped": ("/obsreve", [OBSERVE], {}, 404, "path must be /choose, /observe or /healthz, not '/obsreve'"),
    "a slash more": ("/observe/", [OBSERVE], {}, 404, "path must be /choose, /observe or /healthz, not '/observe/'"),
    "the root": ("/", [OBSERVE], {}, 404, "path must be"),
    "GET": ("/observe", [OBSERVE], {"method": "GET"}, 405, "method must be POST, not GET"),
    "PUT": ("/observe", [OBSERVE], {"method": "PUT"}, 405, "method must be POST, not PUT"),
    "POST": ("/healthz", [], {}, 405, "method must be GET, HEAD, not POST"),
    "a form": (
        "/observe",
        [OBSERVE],
        {"headers": {"content-type": "application/x-www-form-urlencoded"}},
        415,
        "the content type must be application/json, not 'application/x-www-form-urlencoded'",
    ),
    "no type": ("/observe", [OBSERVE], {"headers": {}}, 415, "the content type must be application/json, not ''"),
    "long": ("/observe", [OBSERVE + b" " * 1000], {}, 413, "the body must be of at most 1000 bytes"),
    "long, in parts": ("/observe", [OBSERVE, *[b" " * 100] * 11], {}, 413, "the body must be of at most 1000 bytes"),
    "long, it says -1": (
        "/observe",
        [OBSERVE + b" " * 1000],
        {"headers": {**JSON, "content-length": "-1"}},
        413,
        "the body must be",
    ),
    "long, it says 9": (
        "/observe",
        [OBSERVE + b" " * 1000],
        {"headers": {**JSON, "content-length": "9"}},
        413,
        "the body must be",
    ),
    "slow": ("/observe", [OBSERVE], {"ends": False}, 408, "the body must arrive within 0.5 seconds"),
    "slow to begin": ("/observe", [], {"ends": False}, 408, "the body must arrive within 0.5 seconds"),
    "long and slow": (
        "/observe",
        [OBSERVE + b" " * 1000],
        {"ends": False},
        413,
        "the body must be of at most 1000 bytes",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_the_front_refuses_in_a_sentence_and_changes_nothing(service, tmp_path, kind):
    path, parts, more, status, message = REFUSED[kind]
    before, body = log(tmp_path / "log.db"), 10_000 if status == 400 else 1000
    found, said = ask(app(service, body=body, seconds=0.5), path, *parts, **more)
    assert (found, list(said)) == (status, ["error"])
    assert message in said["error"]
    assert log(tmp_path / "log.db") == before
    assert ask(app(service), "/observe", OBSERVE, headers={"content-type": "Application/JSON; charset=utf-8"}) == (
        200,
        {"new": True},
    )


def test_the_front_says_which_method_there_is_and_closes_what_does_not_end(service):
    front = app(service, seconds=0.1)
    assert asyncio.run(call(front, "/choose", method="GET"))[2]["allow"] == "POST"
    assert asyncio.run(call(front, "/choose", ends=False))[2]["connection"] == "close"
    assert asyncio.run(call(front, "/choose", b"x" * 200_000, ends=False))[2]["connection"] == "close"
    assert "connection" not in asyncio.run(call(front, "/choose", b"x" * 200_000))[2]


def test_a_database_that_fails_is_answered_503_and_nothing_is_in_the_log(service, tmp_path, caplog):
    front, path = app(service), tmp_path / "log.db"
    service._db.execute("PRAGMA busy_timeout = 10")
    before = log(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for where, body in (("/choose", b'{"request": "two"}'), ("/observe", OBSERVE)):
            status, said, headers = asyncio.run(call(front, where, body))
            assert (status, said) == (503, {"error": "the database failed, and nothing was answered: ask again"})
            assert headers["retry-after"] == "1"
        assert ask(front, "/healthz", method="GET") == (200, {"rounds": 1})  # it can still be read
        other.execute("ROLLBACK")
    assert caplog.text.count("the database failed: database is locked") == 2
    assert log(path) == before
    assert ask(front, "/choose", b'{"request": "two"}')[1]["round"] == 2
    path.unlink()
    assert ask(front, "/healthz", method="GET")[0] == 503


def test_a_log_that_was_changed_meanwhile_is_answered_500(service, tmp_path):
    changed(
        tmp_path / "log.db", "INSERT INTO log (what, request, round, arm, chance) VALUES ('choice', 'two', 2, 2, 1.0)"
    )
    said = {"error": "the log can't be played on; the server's own log says why"}
    assert ask(app(service), "/choose", {"request": "three"}) == (500, said)


def test_the_server_goes_on_while_the_service_waits_for_the_disk(service, tmp_path):
    """Sixty requests wait for another process; the check of health and a refusal don't wait for them."""
    front = app(service)

    async def day():
        with closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            bodies = [json.dumps({"request": f"visit {i}"}).encode() for i in range(60)]
            waiting = [asyncio.create_task(call(front, "/choose", body)) for body in bodies]
            await asyncio.sleep(0.1)
            quick = [await call(front, "/healthz", method="GET"), await call(front, "/choose", b"{}")]
            assert not any(task.done() for task in waiting)
            other.execute("ROLLBACK")
        return quick, await asyncio.gather(*waiting)

    quick, answers = asyncio.run(day())
    assert [each[0] for each in quick] == [200, 400]
    assert sorted(each[1]["round"] for each in answers) == list(range(2, 62))


def test_the_package_and_the_service_do_without_starlette():
    code = """
import sys
sys.modules["starlette"] = sys.modules["uvicorn"] = None
import fairlib
from fairlib.deploy import Service
try:
    from fairlib.deploy import app
except ModuleNotFoundError as error:
    print(error)
from fairlib.deploy.__main__ import _main
_main(["shop.db", "fairlib:ucb1", "--arms", "3"])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "fairlib.deploy.app needs the extra `service` of the package: " in ran.stdout
    assert (ran.returncode, "error: the command needs the extra `service` of the package: " in ran.stderr) == (2, True)


# The command

SHOP = """
import fairlib as fl

policy = fl.ucb1()
number = 3

def make():
    return fl.epsilon_greedy(0.5)
"""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "shop.db shop",
            "policy must be module:name of a policy, or of a function .* such as fairlib:ucb1, not 'shop'",
        ),
        ("shop.db nowhere:policy", "there is no module 'nowhere'"),
        ("shop.db shop.nowhere:policy", "there is no module 'shop.nowhere'"),
        ("shop.db shop:nothing", "shop has no 'nothing'"),
        ("shop.db shop:number --arms 3", "policy must be a Policy or a ContextPolicy, .* not 3"),
        ("shop.db shop:policy", "arms must be given, as policy 'UCB1' is made for any number"),
        ("shop.db shop:policy --arms three", "argument --arms: invalid int value: 'three'"),
        ("shop.db shop:policy --arms 3 --dimension 2", "dimension and groups must be left out"),
        ("shop.db shop:policy --arms 3 --rewards 1 0", "rewards must be the smallest and the largest reward"),
        ("shop.db shop:policy --arms 3 --port 65536", "port must be a whole number from 0 to 65535, not 65536"),
        ("shop.db shop:policy --arms 3 --seconds nan", "seconds must be a number above 0, not nan"),
        (":memory: shop:policy --arms 3", "path must be the path of a file on a disk, .* not ':memory:'"),
        ("nowhere/shop.db shop:policy --arms 3", "nowhere/shop.db can't be opened: unable to open database file"),
        ("shop.db shop:policy --arm 3 --prot 80", "unrecognized arguments: --prot 80"),
    ],
    ids=itertools.count(),
)
def test_the_command_refuses_bad_arguments_in_a_sentence(tmp_path, monkeypatch, capsys, arguments, message):
    (tmp_path / "shop.py").write_text(SHOP, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    with pytest.raises(SystemExit) as ended:
        _main(arguments.split())
    said = capsys.readouterr().err
    assert (ended.value.code, said.startswith("usage: python -m fairlib.deploy ")) == (2, True)
    assert re.search(f"error: .*{message}", said)


def test_a_module_that_lacks_another_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "torn.py").write_text("import nowhere_else\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'nowhere_else'"):
        _main(["shop.db", "torn:policy"])


def commanded(folder, *options):
    """Start the command in a folder."""
    (folder / "shop.py").write_text(SHOP, encoding="utf-8")
    command = [sys.executable, "-m", "fairlib.deploy", "shop.db", "shop:make", "--arms", "4", "--port", "0", *options]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@contextlib.contextmanager
def serving(folder, *options):
    """Start the command, and return its process and the port that it listens at."""
    with commanded(folder, *options) as process:
        try:
            found = (re.search(r"running on http://127\.0\.0\.1:(\d+)", line) for line in process.stderr)
            yield process, next(int(each[1]) for each in found if each)
        finally:
            process.kill()


def sent(port, path, *parts, headers=()):
    """Send a request as it is, in parts, and return the status and the answer, once the connection is closed."""
    lines = [f"POST {path} HTTP/1.1", "Host: shop", "Content-Type: application/json", *headers]
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode())
        for part in parts:
            connection.sendall(part)
        answer = b""
        while got := connection.recv(65536):
            answer += got
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body.decode()


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("shop"), "--body", "20000", "--seconds", "1") as (_, port):
        yield port


def in_chunks(body):
    return [b"%x\r\n%s\r\n" % (len(body), body), b"0\r\n\r\n"]


CLOSE = "Connection: close"
CHUNKED = [CLOSE, "Transfer-Encoding: chunked"]


def test_the_command_serves_the_policy_on_a_free_port(port):
    choice = fl.Player(fl.epsilon_greedy(0.5), 4).choose()
    said = {"round": 1, "arms": list(choice.arms), "chances": list(choice.chances)}
    body = b'{"request": "visit 1"}'
    assert sent(port, "/choose", body, headers=[CLOSE, f"Content-Length: {len(body)}"])[0] == 200
    status, answer = sent(port, "/choose", *in_chunks(body), headers=CHUNKED)
    assert (status, json.loads(answer)) == (200, said)


def test_no_header_turns_the_limits_of_a_server_off(port):
    long = b'{"request": "long"%s}' % (b" " * 50_000)
    # This server refuses such a length itself, before a body: one that it has not read would take the answer with it.
    assert sent(port, "/choose", headers=[CLOSE, "Content-Length: -1"])[0] == 400
    assert sent(port, "/choose", long, headers=[CLOSE, f"Content-Length: {len(long)}"])[0] == 413
    assert sent(port, "/choose", *in_chunks(long), headers=CHUNKED)[0] == 413
    assert sent(port, "/choose", b"[" * 9000, headers=[CLOSE, "Content-Length: 9000"])[0] == 400


def test_a_body_that_never_comes_or_never_ends_is_cut_off(port):
    begun = time.monotonic()
    assert sent(port, "/choose", b"{", headers=["Content-Length: 100"])[0] == 408
    assert sent(port, "/choose", *in_chunks(b"{")[:1], headers=CHUNKED[1:])[0] == 408
    assert sent(port, "/choose", *[b"x" * 10_000] * 5, headers=["Content-Length: 1000000"])[0] == 413
    assert time.monotonic() - begun < 20


@UNIX
def test_the_command_ends_when_asked_to_and_goes_on_where_it_ended(tmp_path):
    rounds = []
    for name in ("one", "two"):
        with serving(tmp_path) as (process, port):
            body = json.dumps({"request": name}).encode()
            answer = sent(port, "/choose", body, headers=[CLOSE, f"Content-Length: {len(body)}"])[1]
            rounds.append(json.loads(answer)["round"])
            process.send_signal(signal.SIGTERM)
            process.stderr.read()
            assert process.wait(30) == 0
        assert not (tmp_path / "shop.db-wal").exists()  # it has closed the file
    assert rounds == [1, 2]


def test_a_commit_is_on_the_disk_whatever_fails_then(tmp_path, monkeypatch):
    """No killed process can show it, as the system keeps what was written; the database says what it waits for."""
    made, connect = [], sqlite3.connect

    def watched(*how, **more):
        made.append(connect(*how, **more))
        return made[-1]

    monkeypatch.setattr(sqlite3, "connect", watched)
    with closing(Service(tmp_path / "log.db", fl.ucb1(), 2)):
        asked = [db.execute(f"PRAGMA {name}").fetchone()[0] for db in made for name in ("synchronous", "journal_mode")]
    assert asked == [2, "wal"] * len(made)  # 2 is FULL
    assert made
