"""Sweeps keep their order, wherever they run, and what is finished when they are interrupted."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import zoo
from helpers import same
from pyarrow import parquet

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


def measured(gap, seed):
    game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    result = fl.simulate(game, fair_learn(fl.ucb1(), [0.1, 0.2]), 200, runs=2, seed=seed)
    return {"regret": float(result.regret[:, -1].mean()), "least": int(result.selected[:, -1].min()), "seen": f"{gap}"}


MANY = [{"gap": gap / 100, "seed": seed} for gap in range(40) for seed in range(5)]


@pytest.fixture(scope="module")
def table():
    return pd.DataFrame([setting | measured(**setting) for setting in MANY]).rename_axis("setting")


def test_a_store_holds_what_a_list_would(tmp_path, table):
    pd.testing.assert_frame_equal(fl.sweep(measured, MANY, store=tmp_path / "new" / "store"), table)
    rows = pd.read_parquet(tmp_path / "new" / "store")
    rows = rows.set_index("_line").loc[[json.dumps(setting, sort_keys=True) for setting in MANY]]
    pd.testing.assert_frame_equal(rows.reset_index(drop=True), table[["regret", "least", "seen"]], check_names=False)
    heading = json.loads((tmp_path / "new" / "store" / "_sweep.json").read_text(encoding="utf-8"))
    assert heading["format"] == 1
    assert "fair_learn(fl.ucb1(), [0.1, 0.2])" in heading["source"]
    assert heading["versions"]["fairlib"] == fl.__version__


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
    fl.sweep(experiment, [{"gap": np.float32(0.5), "seed": 1}, {"gap": 0.5, "seed": 1}], store=store)
    assert len(begun(notes)) == 33, "an experiment may calculate otherwise with another type"
    with pytest.raises(ValueError, match=r"^settings must differ where they are stored, and 2 is 0 again"):
        fl.sweep(experiment, [*MANY[:2], MANY[0]], store=store)


def slow(gap, seed):
    time.sleep(0.02)
    return measured(gap, seed)


def test_a_worker_of_a_cluster_that_is_killed_costs_nothing_and_doubles_nothing(cluster, tmp_path, table):
    before = {worker: each["nthreads"] for worker, each in cluster.scheduler_info()["workers"].items()}
    [victim, _] = cluster.run(os.getpid).values()
    cluster.loop.call_later(0.8, os.kill, victim, signal.SIGKILL)
    swept = fl.sweep(slow, MANY, store=tmp_path / "store", executor=cluster.get_executor())
    pd.testing.assert_frame_equal(swept, table)
    assert len(before) == 2
    assert len(cluster.scheduler_info()["workers"]) == 1, "nobody was killed"


CALLER = """
import sys
import fairlib as fl
from test_sweeps import MANY, slow
fl.sweep(slow, MANY, store=sys.argv[1])
"""


ENV = os.environ | {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}


def caller(store, script):
    return subprocess.Popen([sys.executable, "-c", script, str(store)], env=ENV, stderr=subprocess.PIPE)


def test_a_caller_that_is_killed_is_continued(tmp_path, table):
    for parts in (5, 15):
        process = caller(tmp_path, CALLER)
        while len(list(tmp_path.glob("part-*"))) < parts:
            assert process.poll() is None
            time.sleep(0.02)
        process.kill()
        process.communicate()
    written = {file: file.stat().st_mtime_ns for file in tmp_path.glob("part-*")}
    assert 15 <= len(written) < 67
    pd.testing.assert_frame_equal(fl.sweep(slow, MANY, store=tmp_path), table)
    assert {file: file.stat().st_mtime_ns for file in written} == written


FULL = """
import resource, sys
import fairlib as fl
from fairlib import files
from test_sweeps import MANY, measured
whole, count = files.atomic_write, [0]
def filling(where):
    count[0] += 1
    if count[0] == 12:  # the heading is one of them
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
    return whole(where)
files.atomic_write = filling
fl.sweep(measured, MANY, store=sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files can't be limited there")
def test_a_full_disk_is_told_and_what_is_finished_is_kept(tmp_path, table):
    process = caller(tmp_path, FULL)
    said = process.communicate()[1].decode()
    assert "SweepError: setting 30, " in said
    assert f"OSError: store {tmp_path} can't be written: [Errno 27] File too large (30 of 200 settings" in said
    assert len(list(tmp_path.iterdir())) == 11, "something half-written was left"
    pd.testing.assert_frame_equal(fl.sweep(measured, MANY, store=tmp_path), table)


CLOSED = """
import os, sys
import fairlib as fl, fairlib.experiments.store
from test_sweeps import MANY, measured
fl.sweep(measured, MANY[:5], store=sys.argv[1] + "/old")
os.chmod(sys.argv[1] + "/old", 0o555)
os.chmod(sys.argv[1], 0o555)
if os.geteuid() == 0:
    os.seteuid(65534)  # the superuser may write anywhere
for store, settings in (("/new", MANY[:5]), ("/old", MANY[:5])):
    try:
        print(len(fl.sweep(measured, settings, store=sys.argv[1] + store)))
    except ValueError as error:
        print(error)
try:
    fl.sweep(measured, MANY[:5], store=sys.argv[1] + "/cut")
except fl.SweepError as error:
    print(error, len(error.results))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="folders are closed in another way there")
def test_a_folder_that_can_be_read_only_is_told_and_a_finished_sweep_in_it_is_read(tmp_path):
    place = Path(tempfile.mkdtemp(dir="/tmp"))  # pytest's own can't be entered by anyone else
    place.chmod(0o755)
    fl.sweep(measured, MANY[:5], store=place / "cut")
    one = min((place / "cut").glob("part-*"))
    gone = MANY.index(json.loads(pd.read_parquet(one)["_line"][0]))
    one.unlink()
    (place / "cut").chmod(0o555)
    process = subprocess.run(
        [sys.executable, "-c", CLOSED, str(place)], capture_output=True, text=True, env=ENV, check=False
    )
    shutil.rmtree(place)
    assert process.returncode == 0, process.stderr
    new, old, cut = process.stdout.splitlines()
    assert new.startswith(f"store must be a folder that can be read and written, not {place}/new: [Errno 13]")
    assert old == "5", "nothing was missing, so nothing had to be written"
    assert cut.startswith(f"setting {gone}, ")
    assert f"OSError: store {place}/cut can't be written: [Errno 13] Permission denied" in cut
    assert cut.endswith("(4 of 5 settings are finished: see its results) 4")


def test_a_store_with_anything_else_is_refused(tmp_path):
    fl.sweep(measured, MANY[:3], store=tmp_path)
    another = r"^store must hold this very experiment, and .* holds another: "
    with pytest.raises(ValueError, match=f"{another}.*fair_learn was fairlib"):
        fl.sweep(end_of_game, MANY[:3], store=tmp_path)
    heading = json.loads((tmp_path / "_sweep.json").read_text(encoding="utf-8"))
    for name in ("numpy", "sources of fairlib"):
        changed = heading | {"versions": heading["versions"] | {name: "1.0"}}
        (tmp_path / "_sweep.json").write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(ValueError, match=f"{another}{name} was 1.0 and is "):
            fl.sweep(measured, MANY[:3], store=tmp_path)
    no_dicts = [heading | {"experiment": 3}, heading | {"versions": ["x"]}, heading | {"experiment": {"x": [{}]}}]
    for wrong, said in (
        *((text, "") for text in ("", "[]", "{}", "no", "3", '"format"', "[" * 100_000, "\0", '{"format": 1}')),
        *((json.dumps(each), "") for each in no_dicts),
        (json.dumps({key: heading[key] for key in heading if key != "format"}), "is neither: 'format'"),
        (
            json.dumps(heading | {"format": 2}),
            f"is neither: it is of format 2, and fairlib {fl.__version__} reads format 1",
        ),
    ):
        (tmp_path / "_sweep.json").write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match=rf"^store must be .*{tmp_path}.*{said}|{another}"):
            fl.sweep(measured, MANY[:3], store=tmp_path)
    (tmp_path / "a file").touch()
    with pytest.raises(ValueError, match=r"^store must be a folder that can be read and written"):
        fl.sweep(measured, MANY, store=tmp_path / "a file")
    with pytest.raises(TypeError, match=r"^store must be"):
        fl.sweep(measured, MANY, store=3)  # type: ignore[arg-type]


def test_a_part_that_was_cut_short_is_named(tmp_path, table):
    fl.sweep(measured, MANY, store=tmp_path)
    part = sorted(tmp_path.glob("part-*"))[7]
    part.write_bytes(part.read_bytes()[:1000])
    with pytest.raises(ValueError, match=rf"^store has a file that can't be read, {part}: .*; delete it") as refused:
        fl.sweep(measured, MANY, store=tmp_path)
    assert isinstance(refused.value.__cause__, Exception)
    part.unlink()
    pd.testing.assert_frame_equal(fl.sweep(measured, MANY, store=tmp_path), table)


def product(a, b):
    return {"product": a * b}


PAIRS = [{"a": a, "b": b} for a in range(3) for b in range(3)]


def crafted(columns, mark, path, **how):
    schema = pa.schema(dict(zip(columns, (column.type for column in columns.values()), strict=True)))
    with parquet.ParquetWriter(path, schema, **{"store_schema": False} | how) as writer:
        writer.write_table(pa.table(columns))
        if mark is not None:
            writer.add_key_value_metadata(mark)


LINES = pa.array(['{"a": 0, "b": 0}', '{"a": 0, "b": 1}'])
TWICE = pa.array(['{"a": 0, "b": 0}'] * 2)
ONES = pa.array([1, 1])


@pytest.mark.parametrize(
    ("columns", "how", "said"),
    [
        ({"_line": TWICE, "product": ONES}, {}, "a setting is missing or there twice"),
        ({"_line": pa.array([None, "x"]), "product": ONES}, {}, "a setting is missing or there twice"),
        ({"_line": pa.array([-1, 0]), "product": ONES}, {}, "it has no settings"),
        ({"_line": pa.array([0.5, 1]), "product": ONES}, {}, "it has no settings"),
        ({"product": ONES}, {}, "it has no settings"),
        ({"_line": LINES, "product": pa.array([[1], [2]])}, {}, "its column 'product' is of list"),
        ({"_line": LINES, "a": ONES}, {}, "its column 'a' is called as a setting is"),
        ({"_line": LINES, "product": ONES}, {"compression": "zstd"}, "it is compressed in another way"),
        ({"_line": pa.array(map(str, range(1001)))}, {}, "it is larger than a part"),
        ({"_line": LINES, "x": pa.array(["x" * 2**16, "y"])}, {}, "it is larger than a part"),
        (
            {"_line": pa.array(map(str, range(1000))), "x": pa.array(["x" * 2**10] * 1000)},
            {},
            "its column 'x' is too long",
        ),
    ],
)
def test_a_part_that_no_sweep_wrote_is_refused_by_its_path(tmp_path, monkeypatch, columns, how, said):
    monkeypatch.setattr("fairlib.experiments.store._BYTES", 2**16)
    fl.sweep(product, PAIRS, store=tmp_path)
    mark = parquet.read_metadata(next(tmp_path.glob("part-*"))).metadata
    crafted(columns, mark, tmp_path / "part-own.parquet", **how)
    with pytest.raises(ValueError, match=rf"^store has a file that can't be read, .*part-own.parquet: {said}"):
        fl.sweep(product, PAIRS, store=tmp_path)


@pytest.mark.parametrize("mark", [None, {"fairlib": "0"}, {"pandas": "[" * 10_000}, {"ARROW:schema": "AAAA"}])
def test_a_part_of_another_sweep_is_refused_by_its_path(tmp_path, mark):
    fl.sweep(product, PAIRS, store=tmp_path)
    crafted({"_line": LINES, "product": ONES}, mark, tmp_path / "part-own.parquet")
    with pytest.raises(ValueError, match=rf"^store has a file that can't be read, {tmp_path}.*part-own.parquet: "):
        fl.sweep(product, PAIRS, store=tmp_path)


def test_the_names_of_parts_do_not_matter_and_metadata_of_others_is_not_read(tmp_path):
    expected = fl.sweep(product, PAIRS, store=tmp_path)
    first, second, *_ = tmp_path.glob("part-*")
    first.rename(tmp_path / "part-between.parquet")
    second.rename(first)
    (tmp_path / "part-between.parquet").rename(second)
    pd.testing.assert_frame_equal(fl.sweep(product, PAIRS, store=tmp_path), expected)
    mark = parquet.read_metadata(first).metadata | {b"pandas": b"[" * 10_000}
    crafted({"_line": LINES, "product": pa.array([0, 0])}, mark, tmp_path / "part-own.parquet")
    pd.testing.assert_frame_equal(fl.sweep(product, PAIRS, store=tmp_path), expected)


def test_a_failing_setting_is_kept_and_the_rest_is_run():
    settings = [{"i": i} for i in (1, 0, 2, 0, 4)]
    here = fl.sweep(inverse, settings, errors="keep")
    with ThreadPoolExecutor(2) as pool:
        there = fl.sweep(inverse, settings, errors="keep", executor=pool)
    for swept in (here, there):
        assert [swept[i] for i in (0, 2, 4)] == [1, 0.5, 0.25]
        assert all(isinstance(swept[i], ZeroDivisionError) for i in (1, 3))
    assert "in inverse" in there[1].__notes__[0], "where it was raised must not be lost on the way"


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


def test_what_always_fails_is_told_each_time_and_alone(tmp_path):
    def fails(i):
        raise ValueError(i)

    for _ in range(2):
        kept = fl.sweep(fails, [{"i": 1}, {"i": 2}], store=tmp_path, errors="keep")
        assert kept.to_dict("list") == {"i": [1, 2], "exception": ["ValueError: 1", "ValueError: 2"]}
    with pytest.raises(fl.SweepError, match="ValueError: 1"):
        fl.sweep(fails, [{"i": 1}, {"i": 2}], store=tmp_path)


def test_ctrl_c_is_no_failure_to_be_kept():
    def experiment(i):
        if i == 3:
            raise KeyboardInterrupt
        return 6 / i

    with pytest.warns(UserWarning, match="2 of 5 settings are finished"):
        swept = fl.sweep(experiment, [{"i": i} for i in (1, 0, 2, 3, 4)], errors="keep")
    assert [swept[0], *swept[2:]] == [6, 3, None, None]
    assert isinstance(swept[1], ZeroDivisionError)


@pytest.mark.parametrize("number", [1, 3, 7, 20])
def test_parts_are_all_settings_once(number, tmp_path):
    parts = [fl.sweep(product, MANY_PAIRS, store=tmp_path, part=(i, number)) for i in range(number)]
    assert sorted(place for each in parts for place in each.index) == list(range(len(MANY_PAIRS)))
    written = sorted(tmp_path.iterdir())
    whole = fl.sweep(product, MANY_PAIRS, store=tmp_path)
    assert whole["product"].tolist() == [each["a"] * each["b"] for each in MANY_PAIRS]
    assert sorted(tmp_path.iterdir()) == written
    lists = [fl.sweep(product, MANY_PAIRS, part=(i, number)) for i in range(number)]
    assert [len(each) for each in lists] == [len(each) for each in parts]
    assert lists[0][0] == {"product": 0}


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


def test_a_part_is_refused_by_name():
    for part in ((3, 3), (-1, 3), (0, 0)):
        with pytest.raises(ValueError, match=r"^part must be a whole number"):
            fl.sweep(product, PAIRS, part=part)
    odd: tuple[Any, ...] = (3, "01", (1,), (0.0, 1), (0, 1, 2))
    for one in odd:
        with pytest.raises(TypeError, match=r"^part must be a"):
            fl.sweep(product, PAIRS, part=one)


@pytest.mark.parametrize("result", [3, {"x": [1]}, {"gap": 1}, {"setting": 1}, {"exception": "x"}, {"x": 2**70}])
def test_what_cannot_be_stored_is_refused(tmp_path, result):
    with pytest.raises(fl.SweepError, match="TypeError: experiment must") as ended:
        fl.sweep(lambda gap: result, [{"gap": 1}], store=tmp_path)
    assert len(ended.value.results) == 0


@pytest.mark.parametrize("setting", [{"game": fl.ucb1()}, {"setting": 1}, {"means": [0.5]}, {3: 1}, {"a": 1j}])
def test_settings_that_cannot_be_stored_are_refused(tmp_path, setting):
    with pytest.raises(TypeError, match=r"^settings must be dicts of numbers and strings"):
        fl.sweep(dict, [setting], store=tmp_path)


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


def dies_once(i, file):
    if i == 3 and not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": i * i}


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed so there")
def test_a_worker_of_a_pool_that_is_killed_is_told_and_a_second_call_runs_the_rest(tmp_path):
    settings = [{"i": i, "file": str(tmp_path / "once")} for i in range(8)]
    pool = ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with pool, pytest.raises(fl.SweepError, match="BrokenProcessPool"):
        fl.sweep(dies_once, settings, store=tmp_path / "store", executor=pool)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        swept = fl.sweep(dies_once, settings, store=tmp_path / "store", executor=pool)
    assert swept["square"].tolist() == [i * i for i in range(8)]


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
