"""The benchmarks: all of them run."""

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
    chosen = ("test_round[FAIR-UCB]", "test_both_do_the_same[UCB1]", "test_both_do_the_same[FCTS-D]")
    tests = [f"{BENCHMARKS}/bench_rounds.py::{each}" for each in chosen]
    raw, made = tmp_path / "raw.json", tmp_path / "made.json"
    command = [sys.executable, "-m", "pytest", "-c", str(BENCHMARKS / "pytest.ini"), "-p", "benchmark_stub", "--tiny"]
    env = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    played = subprocess.run([*command, f"--benchmark-json={raw}", *tests], env=env, capture_output=True, text=True)
    assert played.returncode == 0, played.stdout
    show = [sys.executable, str(BENCHMARKS / "record.py"), str(made), str(raw)]
    table = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    record = json.loads(made.read_text(encoding="utf-8"))
    assert (len(record["rounds"]), len(record["agreement"])) == (1, 2)
    assert record["rounds"][0]["ratio"] > 0
    assert "FAIR-UCB" in table
