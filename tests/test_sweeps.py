"""Sweeps keep their order, wherever they run, and what is finished when they are interrupted."""

import functools
import itertools
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
import zoo
from helpers import same

import fairlib as fl
from fairlib import files
from fairlib.shares import fair_learn
from fairlib.study.sweep import _identity


def end_of_game(gap, seed):
    game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    return fl.simulate(game, fl.ucb1(), 200, seed=seed).regret[0, -1]


SETTINGS = [{"gap": gap, "seed": seed} for gap in (0.1, 0.3) for seed in range(3)]


def test_the_same_here_and_elsewhere():
    here = fl.sweep(end_of_game, SETTINGS)
    expected = pd.DataFrame([setting | {"result": end_of_game(**setting)} for setting in SETTINGS])
    pd.testing.assert_frame_equal(here, expected.rename_axis("setting"))
    with ThreadPoolExecutor(3) as pool:
        pd.testing.assert_frame_equal(fl.sweep(end_of_game, SETTINGS, executor=pool), here)


PLAYED = ["UCB1", "FAIR-LEARN, epsilon-greedy", "FairX-UCB, exponential", "FairX-LinUCB, exponential", "FCUCB-D, steep"]


def played(name, seed):
    entry = zoo.ZOO[name]
    game = zoo.game(entry.games[0])
    return {"problem": game, "policy": entry.make(game), "horizon": 60, "runs": 2, "seed": seed}


@pytest.fixture
def cluster(tmp_path):
    """Start a scheduler and two workers of Dask, each a process of its own, as on several machines."""
    file = tmp_path / "scheduler.json"
    env = ENV | {"DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False"}
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
    here = fl.sweep(fl.simulate, settings)
    assert all(same(one, other) for one, other in zip(here["result"], there["result"], strict=True))
    with cluster.get_executor() as pool, pytest.raises(fl.SweepError, match=r"setting 2.*division by zero") as ended:
        fl.sweep(inverse, [{"i": 1}, {"i": 2}, {"i": 0}, {"i": 4}], executor=pool)
    finished = ended.value.results
    assert set(finished.get("i", [])) <= {1, 2, 4}
    assert all(row.result == 1 / row.i for row in finished.itertuples())


def inverse(i):
    return 1 / i


def measured(gap, seed):
    game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    result = fl.simulate(game, fair_learn(fl.ucb1(), [0.1, 0.2]), 200, runs=2, seed=seed)
    return {"regret": float(result.regret[:, -1].mean()), "least": int(result.selected[:, -1].min()), "seen": f"{gap}"}


MANY = [{"gap": gap / 100, "seed": seed} for gap in range(40) for seed in range(5)]


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame([setting | measured(**setting) for setting in MANY]).rename_axis("setting")


def test_a_sweep_is_the_same_table_with_a_store_and_without(tmp_path, table):
    pd.testing.assert_frame_equal(fl.sweep(measured, MANY), table)
    for _ in range(2):
        pd.testing.assert_frame_equal(fl.sweep(measured, MANY, store=tmp_path / "new" / "store"), table)
    heading = json.loads((tmp_path / "new" / "store" / "_sweep.json").read_text(encoding="utf-8"))
    assert "fair_learn(fl.ucb1(), [0.1, 0.2])" in heading["the experiment"]
    assert heading["fairlib"] == fl.__version__


LARGE = 2**53 + 1


@pytest.mark.parametrize("other", [0.5, None, 2**70], ids=str)
def test_a_large_whole_number_is_kept_whatever_stands_beside_it(tmp_path, other):
    def experiment(i):
        return {"y": LARGE} if i == 0 else {"y": other} if other else {}

    for store in (None, tmp_path, tmp_path):
        assert fl.sweep(experiment, [{"i": 0}, {"i": 1}], store=store)["y"].tolist() == [LARGE, other]


def counted(folder, stop=None):
    """Make an experiment that leaves a file for each setting that it was begun at; at one it fails, for once."""

    def measured(gap, seed):
        number = len(list(folder.iterdir()))
        (folder / f"{number:03} {gap} {seed}").touch()
        if (gap, seed) == stop and not any(folder.glob(f"* {gap} {seed} failed")):
            (folder / f"{number:03} {gap} {seed} failed").touch()
            raise OSError("the lights went out")
        return {"product": gap * seed}

    return measured


def begun(folder):
    return [tuple(map(float, file.name.split()[1:3])) for file in sorted(folder.iterdir()) if "failed" not in file.name]


@pytest.fixture
def notes(tmp_path):
    (tmp_path / "notes").mkdir()
    return tmp_path / "notes"


def products(settings):
    rows = [setting | {"product": setting["gap"] * setting["seed"]} for setting in settings]
    return pd.DataFrame(rows).rename_axis("setting")


def test_a_second_call_runs_what_is_missing(tmp_path, notes):
    experiment, store, whole = counted(notes, (0.18, 0)), tmp_path / "store", products(MANY)
    with pytest.raises(fl.SweepError, match=r"^setting 90, .*the lights went out \(90 of 200") as ended:
        fl.sweep(experiment, MANY, store=store)
    pd.testing.assert_frame_equal(ended.value.results, whole[:90])
    pd.testing.assert_frame_equal(fl.sweep(experiment, MANY, store=store), whole)
    assert begun(notes) == [tuple(setting.values()) for setting in (*MANY[:91], *MANY[90:])]
    pd.testing.assert_frame_equal(fl.sweep(experiment, MANY, store=store), whole)
    assert len(begun(notes)) == 201, "what is finished was run again"


def test_a_store_grows_and_gives_the_rows_that_are_asked_for_in_their_order(tmp_path, notes):
    experiment, store = counted(notes), tmp_path / "store"
    fl.sweep(experiment, MANY[:20], store=store)
    asked = [*MANY[30:10:-1], *MANY[:5]]
    pd.testing.assert_frame_equal(fl.sweep(experiment, asked, store=store), products(asked))
    assert sorted(begun(notes)) == sorted(tuple(setting.values()) for setting in MANY[:31]), "only what was missing"
    turned = [{"seed": setting["seed"], "gap": setting["gap"]} for setting in MANY[7:3:-1]]
    pd.testing.assert_frame_equal(fl.sweep(experiment, turned, store=store), products(turned))
    numpy = [{"gap": np.float64(setting["gap"]), "seed": np.int64(setting["seed"])} for setting in MANY[:3]]
    pd.testing.assert_frame_equal(fl.sweep(experiment, numpy, store=store), products(numpy))
    assert len(begun(notes)) == 31
    with pytest.raises(ValueError, match=r"^settings must differ where they are stored, and 2 is 0 again"):
        fl.sweep(experiment, [*MANY[:2], MANY[0]], store=store)


def slow(gap, seed):
    time.sleep(0.02)
    return measured(gap, seed)


def test_a_worker_of_a_cluster_that_is_killed_costs_nothing_and_doubles_nothing(cluster, tmp_path, table):
    [victim, _] = cluster.run(os.getpid).values()
    cluster.loop.call_later(0.8, os.kill, victim, signal.SIGKILL)
    swept = fl.sweep(slow, MANY, store=tmp_path / "store", executor=cluster.get_executor())
    pd.testing.assert_frame_equal(swept, table)
    assert len(cluster.scheduler_info()["workers"]) == 1, "nobody was killed"


ENV = os.environ | {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}


def test_a_store_that_cannot_be_written_is_told_and_what_is_finished_is_kept(tmp_path, table, monkeypatch):
    whole, count = files.atomic_write, iter(range(12))

    def filling(where):
        if next(count, None) is None:
            raise OSError(28, "No space left on device")
        return whole(where)

    monkeypatch.setattr(files, "atomic_write", filling)
    said = rf"^setting 33, .*OSError: store {tmp_path} can't be written: .*No space.*\(33 of 200 settings"
    with pytest.raises(fl.SweepError, match=said) as ended:
        fl.sweep(measured, MANY, store=tmp_path)
    assert len(ended.value.results) == 33
    monkeypatch.undo()
    pd.testing.assert_frame_equal(fl.sweep(measured, MANY, store=tmp_path), table)


@pytest.mark.parametrize(
    "damage", [lambda text: text[:100], lambda text: text.replace(b"0.", b"1.", 1)], ids=["cut", "altered"]
)
def test_a_part_that_was_damaged_is_named(tmp_path, table, damage):
    fl.sweep(measured, MANY, store=tmp_path)
    part = sorted(tmp_path.glob("part-*"))[7]
    part.write_bytes(damage(part.read_bytes()))
    with pytest.raises(ValueError, match=rf"^store has a file that can't be read, {part}: .*; delete it"):
        fl.sweep(measured, MANY, store=tmp_path)
    part.unlink()
    pd.testing.assert_frame_equal(fl.sweep(measured, MANY, store=tmp_path), table)


FACTOR = 2


def helper(x):
    return FACTOR * x


def helped(x):
    return {"y": helper(x)}


def scaled(c, x):
    return {"y": c * x}


def with_closure(c):
    return lambda x: {"y": c * x}


def with_rule(step):
    def rule(p):
        return step

    policy = fl.Policy("own", rule)
    return lambda x: {"y": repr(policy)}


OTHERS = {
    "a partial": lambda c: functools.partial(scaled, c),
    "a closure": with_closure,
    "a default": lambda c: lambda x, c=c: {"y": c * x},
    "a long array": lambda c: with_closure(np.r_[np.zeros(9999), c]),
    "a policy's rule": with_rule,
    "a helper in a cache": lambda c: with_closure(functools.lru_cache(with_closure(c))),
}


@pytest.mark.parametrize("what", OTHERS)
def test_an_experiment_is_known_by_all_that_it_finds(what):
    one, other = OTHERS[what](1), OTHERS[what](2)
    assert _identity(one) == _identity(OTHERS[what](1))
    assert _identity(one) != _identity(other)


def test_a_global_of_a_helper_counts_and_is_named(tmp_path, monkeypatch):
    fl.sweep(helped, [{"x": 1}], store=tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 3)
    with pytest.raises(ValueError, match=r"holds another: helper.FACTOR was 2 and is 3$"):
        fl.sweep(helped, [{"x": 1}], store=tmp_path)


def test_a_store_of_something_else_is_refused(tmp_path):
    fl.sweep(measured, MANY[:3], store=tmp_path)
    another = r"^store must hold this very experiment, and .* holds another: "
    with pytest.raises(ValueError, match=f"{another}the experiment was def measured.* and is def end_of_game"):
        fl.sweep(end_of_game, MANY[:3], store=tmp_path)
    heading = json.loads((tmp_path / "_sweep.json").read_text(encoding="utf-8"))
    (tmp_path / "_sweep.json").write_text(json.dumps(heading | {"numpy": "1.0"}), encoding="utf-8")
    with pytest.raises(ValueError, match=f"{another}numpy was 1.0 and is "):
        fl.sweep(measured, MANY[:3], store=tmp_path)
    (tmp_path / "_sweep.json").write_text("no", encoding="utf-8")
    with pytest.raises(ValueError, match=rf"^store must be .*{tmp_path} is neither: "):
        fl.sweep(measured, MANY[:3], store=tmp_path)
    (tmp_path / "a file").touch()
    with pytest.raises(ValueError, match=r"^store must be a folder that can be read and written"):
        fl.sweep(measured, MANY, store=tmp_path / "a file")


def doubled(a):
    return {"twice": 2 * a}


WITHOUT_SOURCE: dict[str, Any] = {"__name__": "__main__"}
exec("def experiment(a): return a", WITHOUT_SOURCE)


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"settings": 7}, TypeError, "^settings must be"),
        ({"settings": [3]}, TypeError, "^settings must be"),
        ({"settings": [{"setting": 1}]}, TypeError, "^settings must be dicts of arguments by their names"),
        ({"settings": [{3: 1}]}, TypeError, "^settings must be dicts of arguments by their names"),
        ({"settings": [{"a": fl.ucb1()}]}, TypeError, "^settings must be dicts of numbers and strings"),
        ({"settings": [{"a": [0.5]}]}, TypeError, "^settings must be dicts of numbers and strings"),
        ({"part": (3, 3)}, ValueError, "^part must be a whole number"),
        ({"part": (0, 0)}, ValueError, "^part must be a whole number"),
        ({"part": (0.0, 1)}, TypeError, "^part must be a"),
        ({"part": (1,)}, TypeError, "^part must be a"),
        ({"part": "01"}, TypeError, "^part must be a"),
        ({"executor": 4}, TypeError, "^executor must be"),
        ({"store": 3}, TypeError, "^store must be"),
        ({"experiment": with_closure(object())}, TypeError, "^experiment must depend only on what its text .* 'c' is"),
        ({"experiment": WITHOUT_SOURCE["experiment"]}, TypeError, "^experiment must be written in a cell or a file"),
        ({"experiment": lambda a: [a]}, fl.SweepError, "TypeError: experiment must"),
        ({"experiment": lambda a: {"a": a}}, fl.SweepError, "TypeError: experiment must"),
    ],
    ids=itertools.count(),
)
def test_what_is_wrong_is_refused_by_name(given, kind, said, tmp_path):
    with pytest.raises(kind, match=said):
        fl.sweep(**{"experiment": doubled, "settings": [{"a": 1}], "store": tmp_path, **given})


def test_a_failing_setting_is_kept_and_the_rest_is_run():
    settings = [{"i": i} for i in (1, 0, 2, 0, 4)]
    with ThreadPoolExecutor(2) as pool:
        for where in (None, pool):
            swept = fl.sweep(inverse, settings, errors="keep", executor=where)
            assert swept["result"].dropna().to_dict() == {0: 1, 2: 0.5, 4: 0.25}
            assert swept["exception"].dropna().to_dict() == dict.fromkeys((1, 3), "ZeroDivisionError: division by zero")
        with pytest.raises(fl.SweepError) as ended:
            fl.sweep(inverse, settings, executor=pool)
    assert ended.value.__cause__
    assert "in inverse" in ended.value.__cause__.__notes__[0], "where it was raised must not be lost on the way"


def test_what_failed_stands_in_a_column_and_is_tried_again(tmp_path, notes):
    experiment, store, whole = counted(notes, (0.18, 0)), tmp_path / "store", products(MANY)
    kept = fl.sweep(experiment, MANY, store=store, errors="keep")
    assert kept["exception"].dropna().to_dict() == {90: "OSError: the lights went out"}
    pd.testing.assert_frame_equal(kept.drop(index=90).drop(columns="exception"), whole.drop(index=90))
    assert kept.loc[90, ["gap", "seed"]].tolist() == [0.18, 0]
    assert np.isnan(kept.loc[90, "product"])
    again = fl.sweep(experiment, MANY, store=store, errors="keep")
    assert again["exception"].isna().all()
    pd.testing.assert_frame_equal(again.drop(columns="exception"), whole)
    pd.testing.assert_frame_equal(fl.sweep(experiment, MANY, store=store), whole)
    assert len(begun(notes)) == 201


@pytest.mark.parametrize("number", [1, 3, 7, 20])
def test_parts_are_all_settings_once(number, tmp_path):
    parts = [fl.sweep(times, MANY_PAIRS, store=tmp_path, part=(i, number)) for i in range(number)]
    assert sorted(place for each in parts for place in each.index) == list(range(len(MANY_PAIRS)))
    written = sorted(tmp_path.iterdir())
    whole = fl.sweep(times, MANY_PAIRS, store=tmp_path)
    assert whole["product"].tolist() == [each["a"] * each["b"] for each in MANY_PAIRS]
    assert sorted(tmp_path.iterdir()) == written
    for i, each in enumerate(parts):
        pd.testing.assert_frame_equal(fl.sweep(times, MANY_PAIRS, part=(i, number)), each)


def times(a, b):
    return {"product": a * b}


MANY_PAIRS = [{"a": a, "b": b} for a in range(4) for b in range(4)]
TASK = """
import sys
import fairlib as fl
from test_sweeps import MANY, lasting
fl.sweep(lasting, MANY, store=sys.argv[1], part=(int(sys.argv[2]), 3) if sys.argv[2] != "all" else None)
"""


def lasting(gap, seed):
    time.sleep(0.01)
    return {"product": gap * seed, "process": os.getpid()}


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed so there")
def test_processes_that_write_to_one_store_at_the_same_time_lose_and_double_nothing(tmp_path):
    def begin(*tasks):
        command = [sys.executable, "-c", TASK, str(tmp_path)]
        return [subprocess.Popen([*command, task], env=ENV, stderr=subprocess.PIPE) for task in tasks]

    first, *others = begin("0", "0", "1", "2", "2", "all")  # two of them run what another runs at the same time
    while len(list(tmp_path.glob("part-*"))) < 30:
        time.sleep(0.02)
    first.kill()
    for process in (first, *others):
        said = process.communicate()[1].decode()
        assert process is first or process.returncode == 0, said
    swept = fl.sweep(lasting, MANY, store=tmp_path)
    pd.testing.assert_frame_equal(swept.drop(columns="process"), products(MANY))
    assert os.getpid() not in set(swept["process"]), "something was lost and had to be run again"
    pd.testing.assert_frame_equal(fl.sweep(lasting, MANY, store=tmp_path), swept)


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
    assert {0, 1} <= set(ended.value.results["result"]) < {0, 1, 3, 4, 5}
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
    done = results.index.tolist()
    assert results["result"].tolist() == done == list(range(len(done)))
    assert 4 <= len(done) <= len(begun) < 100
