"""The benchmarks: all of them run, and a fit finds a power."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BENCHMARKS = ROOT / "benchmarks"
COMPILER = os.environ.get("CC", "cc")


@pytest.mark.skipif(not shutil.which(COMPILER), reason="there is no C compiler")
def test_the_benchmarks_run(tmp_path):
    chosen = {
        "rounds": ("test_round[FAIR-UCB]", "test_both_do_the_same[UCB1]", "test_both_do_the_same[FCTS-D]"),
        "growth": ("test_runs[UCB1]", "test_sizes[d-LinUCB]"),
        "start": ("test_memory[UCB1]",),
        "peers": ("test_peer[MABWiser-UCB1]",),
        "sweep": ("test_two_workers[nothing]",),
    }
    tests = [f"{BENCHMARKS}/bench_{file}.py::{each}" for file, names in chosen.items() for each in names]
    raw, made = tmp_path / "raw.json", tmp_path / "made.json"
    command = [sys.executable, "-m", "pytest", "-c", str(BENCHMARKS / "pytest.ini"), "-p", "benchmark_stub", "--tiny"]
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    played = subprocess.run([*command, f"--benchmark-json={raw}", *tests], env=env, capture_output=True, text=True)
    assert played.returncode == 0, played.stdout
    show = [sys.executable, str(BENCHMARKS / "record.py"), str(made), str(raw)]
    table = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    record = json.loads(made.read_text(encoding="utf-8"))
    assert {group: len(rows) for group, rows in record.items() if group != "made" and rows} == {
        **{"rounds": 1, "agreement": 2, "growth": 2, "memory": 1, "peers": 1, "sweeps": 1},
    }
    assert record["rounds"][0]["ratio"] > 0
    assert record["peers"][0]["fault"] == "not measured in this run"
    assert "FAIR-UCB" in table


def test_a_fit_finds_the_power():
    answer = "import record; print(record.exponent([1, 2, 4, 8], [3, 12, 48, 192]), record.grown({1: 1.0, 2: 2.0}))"
    shown = subprocess.run([sys.executable, "-c", answer], cwd=BENCHMARKS, capture_output=True, text=True, check=True)
    assert shown.stdout == "(2.0, 0.0) {'points': [(1, 1.0), (2, 2.0)], 'exponent': 1.0, 'error': 0.0, 'from': 1}\n"
