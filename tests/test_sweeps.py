"""Sweeps keep their order, wherever they run, and what is finished when they are interrupted."""

import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
import zoo
from helpers import same

import fairlib as fl
from fairlib.shares import fair_learn, lfg


def end_of_game(gap, seed):
    game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    return fl.simulate(game, fl.ucb1(), 200, seed=seed).regret[0, -1]


SETTINGS = [{"gap": gap, "seed": seed} for gap in (0.1, 0.3) for seed in range(3)]


def test_the_same_here_and_elsewhere():
    here = fl.sweep(end_of_game, SETTINGS)
    assert here == [end_of_game(**setting) for setting in SETTINGS]
    with ThreadPoolExecutor(3) as pool:
        assert fl.sweep(end_of_game, SETTINGS, executor=pool) == here


def test_the_same_in_other_processes():
    bounds = [{"arms": arms, "horizon": 10**power} for arms in (2, 5) for power in (1, 3, 6)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert fl.sweep(fl.ucb1_worst_case_bound, bounds, executor=pool) == fl.sweep(fl.ucb1_worst_case_bound, bounds)


def test_games_and_policies_are_settings_like_any_other_in_other_processes_too():
    game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    policies = [fl.ucb1(), fair_learn(lfg([0.1, 0.1], 1.0), [0.1, 0.2])]
    settings = [
        {"problem": game, "policy": policy, "horizon": 200, "seed": seed} for policy in policies for seed in (0, 1)
    ]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        there = fl.sweep(fl.simulate, settings, executor=pool)
    assert all(same(one, other) for one, other in zip(fl.sweep(fl.simulate, settings), there, strict=True))


PLAYED = ["UCB1", "FAIR-LEARN, epsilon-greedy", "FairX-UCB, exponential", "FairX-LinUCB, exponential", "FCUCB-D, steep"]


def played(name, seed):
    entry = zoo.ZOO[name]
    game = zoo.game(entry.games[0])
    return {"problem": game, "policy": entry.make(game), "horizon": 60, "runs": 2, "seed": seed}


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler and two workers of Dask, each a process of its own, as on several machines."""
    file = tmp_path / "scheduler.json"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    env["DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE"] = "False"
    at = ["--scheduler-file", str(file)]

    def start(module, *options):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *at, "--no-dashboard", *options]
        return subprocess.Popen(command, env=env, cwd=tmp_path, stderr=subprocess.DEVNULL)

    processes = [start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")]
    while not file.exists():
        time.sleep(0.1)
    processes += [start("dask_worker", "--nthreads", "1", "--no-nanny") for _ in range(2)]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its own
            from distributed import Client

            with Client(scheduler_file=str(file)) as client:
                client.wait_for_workers(2, timeout=60)
                yield client
    finally:
        for process in processes:
            process.kill()  # asked to end, a worker may wait long for a scheduler that is gone
            process.wait()


def test_games_and_policies_are_played_on_a_dask_cluster_as_here(cluster):
    settings = [played(name, seed) for name in PLAYED for seed in (0, 1)]
    there = fl.sweep(fl.simulate, settings, executor=cluster.get_executor())
    assert all(same(one, other) for one, other in zip(fl.sweep(fl.simulate, settings), there, strict=True))
    with cluster.get_executor() as pool, pytest.raises(fl.SweepError, match=r"setting 2.*division by zero") as ended:
        fl.sweep(inverse, [{"i": 1}, {"i": 2}, {"i": 0}, {"i": 4}], executor=pool)
    assert all(each in (None, 1 / i) for each, i in zip(ended.value.results, (1, 2, None, 4), strict=True) if i)


def inverse(i):
    return 1 / i


def test_an_interrupted_sweep_keeps_what_is_finished():
    def experiment(i):
        if i == 3:
            raise KeyboardInterrupt
        return i

    with pytest.warns(UserWarning, match="3 of 5 settings are finished"):
        assert fl.sweep(experiment, [{"i": i} for i in range(5)]) == [0, 1, 2, None, None]


def test_an_error_ends_a_sweep_and_what_is_finished_is_kept():
    with pytest.raises(fl.SweepError, match=r"^setting 3, \{'i': 0\}, .* ZeroDivisionError: .*3 of 5") as ended:
        fl.sweep(lambda i: 6 // i, [{"i": i} for i in (1, 2, 3, 0, 1)])
    assert ended.value.results == [6, 3, 2, None, None]
    assert isinstance(ended.value.__cause__, ZeroDivisionError)


def test_an_error_cancels_what_has_not_begun():
    begun = []

    def experiment(i):
        begun.append(i)
        if i == 2:
            raise ValueError("two")
        time.sleep(0.05)
        return i

    with ThreadPoolExecutor(1) as pool, pytest.raises(fl.SweepError, match=r"setting 2.*ValueError: two") as ended:
        fl.sweep(experiment, [{"i": i} for i in range(50)], executor=pool)
    assert ended.value.results[:3] == [0, 1, None]
    assert len(begun) < 10, "the rest was run to the end and thrown away"


def test_ctrl_c_cancels_what_has_not_begun():
    begun = []

    def experiment(i):
        begun.append(i)
        if i == 4:
            signal.raise_signal(signal.SIGINT)
        time.sleep(0.05)
        return i

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes from what runs behind it
    try:
        with ThreadPoolExecutor(1) as pool, pytest.warns(UserWarning, match="of 200 settings are finished"):
            results = fl.sweep(experiment, [{"i": i} for i in range(200)], executor=pool)
    finally:
        signal.signal(signal.SIGINT, before)
    done = [i for i in range(200) if results[i] is not None]
    assert results[: len(done)] == done
    assert 4 <= len(done) <= len(begun) < 100


def dies(i):
    if i == 3:
        os._exit(1)
    return i


def test_a_worker_that_dies_costs_nothing_that_is_finished():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        with pytest.raises(fl.SweepError, match="BrokenProcessPool") as ended:
            fl.sweep(dies, [{"i": i} for i in range(5)], executor=pool)
        assert ended.value.results[:3] == [0, 1, 2]
        assert ended.value.results[3] is None


@pytest.mark.parametrize("wrong", [7, None, [3], "ab"])
def test_settings_that_are_none_are_refused_by_name(wrong):
    with pytest.raises(TypeError, match=r"^settings must be"):
        fl.sweep(int, wrong)


def test_an_executor_that_is_none_is_refused_by_name():
    with pytest.raises(TypeError, match=r"^executor must be"):
        fl.sweep(int, [{}], executor=4)  # type: ignore[arg-type]


def test_the_bar_shows_only_when_it_is_asked_for(capsys):
    fl.sweep(int, [{}])
    assert capsys.readouterr().err == ""
    fl.sweep(int, [{}], progress=True)
    assert "1/1" in capsys.readouterr().err
