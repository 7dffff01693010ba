"""A service on a real database: killed, doubled, repeated, misused, and out of room, it loses and doubles nothing."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import contextlib
import itertools
import math
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import numpy as np
import pandas as pd
import pytest

import fairlib as fl
from fairlib.replay import replay
from fairlib.service import Service
from fairlib.shares import fair_ucb

# What each process does: it asks its requests in order, some of them a second time, and tells some late, some never.
WORK = """
import os, sys
import fairlib as fl
from fairlib.service import Service

def work(path, requests, prepare=lambda service: None):
    service = Service(path, fl.epsilon_greedy(0.3), 4, seed=7)
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
    """Told at the same moments, stopped in the middle or not, with news late and never."""
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
        (lambda each: each.choose(None), TypeError, "request must be a text"),
        (lambda each: each.choose("two", [[0.0]]), TypeError, "contexts and groups must be left out"),
        (lambda each: each.choose("two", "nonsense"), TypeError, "contexts must be"),
        (lambda each: each.choose("one", [[0.0]]), ValueError, "'one' has been answered"),
        (lambda each: each.observe("two", 1.0), ValueError, "request must be one that was answered, not 'two'"),
        (lambda each: each.observe(("one",), 1.0), TypeError, "request must be a text"),
        (lambda each: each.observe("one", 1.1), ValueError, r"reward must be a number in \[0, 1\], not 1.1"),
        (lambda each: each.observe("one", math.nan), ValueError, "reward must be a number"),
        (lambda each: each.observe("one", "1"), TypeError, "reward must be a number"),
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
    with pytest.raises(ValueError, match=r"reward must be 0.5, as was told of 'one' before, not 0.75"):
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


def test_several_plays_a_round_are_refused(tmp_path):
    with pytest.raises(ValueError, match="policy must play one arm a round, not 2 as 'uniform' does"):
        Service(tmp_path / "log.db", fl.uniform(2), 3)


def test_a_place_that_cannot_be_written_is_an_error_of_the_database(tmp_path):
    with pytest.raises(sqlite3.OperationalError, match="unable to open"):
        Service(tmp_path / "nowhere" / "log.db", fl.ucb1(), 3)
    (tmp_path / "text").write_text("This is no database. " * 100, encoding="utf-8")
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        Service(tmp_path / "text", fl.ucb1(), 3)


@UNIX
def test_out_of_room_it_says_so_and_goes_on_when_there_is_room(tmp_path, undisturbed):
    """No file may grow beyond 60 kB for a while: what can't be written is not answered, and not remembered."""
    code = """
import resource, sqlite3
from fairlib.service import Service

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
    assert int(errors.split()[1]) >= 10
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
