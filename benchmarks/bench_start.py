"""Fresh processes: how long until the first result, and how much memory a game takes."""

import os
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from effort import Effort
from turns import take_turns

resource: Any = pytest.importorskip("resource", reason="it tells what a process has used, and is there on Unix only")
ROOT = Path(__file__).resolve().parents[1]

# A policy of each chapter, as a reader meets it first: the package is imported, a game made and played.
FIRST_RESULTS = {
    "UCB1": "game, policy = fl.Bandit(arms), fl.ucb1()",
    "FAIR-UCB": """
from fairlib.shares import SharedBandit, fair_ucb
game, policy = SharedBandit(arms, shares=[0.1, 0.2]), fair_ucb([0.1, 0.2])""",
    "FairX-UCB, exponential": """
from fairlib.exposure import ExposureBandit, fairx_ucb
merit = fl.merit.exponential(4)
game, policy = ExposureBandit(arms, merit=merit), fairx_ucb(merit, 0.1)""",
    "FairX-LinUCB, exponential": """
from fairlib.exposure import ContextExposureBandit, fairx_linucb
merit = fl.merit.exponential(2, -1, 1)
game, policy = ContextExposureBandit(fl.contexts.sphere(3, [0.6, 0.8]), merit=merit), fairx_linucb(merit, 0.5)""",
    "Fair-Greedy": """
from fairlib.ranks import fair_greedy, section_6
game, policy = section_6(), fair_greedy()""",
    "FCUCB-D": """
from fairlib.delays import SemiBandit, fcucb_d, geometric
merit = fl.merit.power(2, 4)
game, policy = SemiBandit(arms, merit=merit, delay=geometric([0.1, 0.2])), fcucb_d(merit, 2, 1)""",
}
MEMORY = """
import resource

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

before = peak()
fl.simulate(game, policy, 100)
ready = peak()
fl.simulate(game, policy, {rounds}, rounds=[{rounds}])
print(before, ready, peak())
"""


def first_result(code: str) -> str:
    """Return what a fresh process runs."""
    return f"import fairlib as fl\narms = fl.bernoulli([0.9, 0.5])\n{code}\n"


def process(code: str) -> str:
    """Run code in a fresh process; a shell starts it, as a process counts its starter's memory among its own."""
    env, command = os.environ | {"PYTHONPATH": str(ROOT)}, ["sh", "-c", '"$0" -c "$1"; exit $?', sys.executable, code]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=env).stdout


def of_children() -> float:
    """Return the seconds of processor time of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return float(used.ru_utime + used.ru_stime)


def alone() -> float:
    """Import Numba, and nothing else."""
    start = of_children()
    process("import numba")
    return of_children() - start


@pytest.mark.benchmark(group="first result", timer=of_children)
@pytest.mark.parametrize("name", FIRST_RESULTS)
def test_first_result(name: str, benchmark: Any, effort: Effort) -> None:
    """Against importing Numba alone, with the compiled code of an earlier process on the disk."""
    code = first_result(FIRST_RESULTS[name]) + "fl.simulate(game, policy, 100)"
    take_turns(benchmark, partial(process, code), {"import numba": alone}, effort.turns)
    benchmark.extra_info["policy"] = name


@pytest.mark.benchmark(group="memory", timer=time.perf_counter)
@pytest.mark.parametrize("name", FIRST_RESULTS)
def test_memory(name: str, benchmark: Any, effort: Effort) -> None:
    """Of games of different lengths: the peak after the import, after the first game, and after the long one."""
    sizes = [250, 500] if effort.tiny else [500, 1000, 2000, 4000] if name == "Fair-Greedy" else [10**4, 10**5, 10**6]
    code = first_result(FIRST_RESULTS[name]) + MEMORY
    peaks = {rounds: list(map(int, process(code.format(rounds=rounds)).split())) for rounds in sizes[:-1]}
    last = benchmark.pedantic(process, (code.format(rounds=sizes[-1]),))
    peaks[sizes[-1]] = list(map(int, last.split()))
    unit = 1024 if sys.platform == "linux" else 1  # elsewhere it is counted in bytes
    benchmark.extra_info |= {"policy": name, "bytes": {t: [unit * each for each in at] for t, at in peaks.items()}}
