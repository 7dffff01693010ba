"""Measure the engine against a tight loop in C, and first results of fresh processes against importing Numba alone.

Run ``.venv/bin/python benchmarks/speed.py``; it needs Unix and a C compiler. Machines differ and are shared, so what
counts are the ratios, each taken in one go from interleaved runs.
"""

import compileall
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import fairlib as fl

HERE = pathlib.Path(__file__).parent
GAME = fl.Bandit(fl.bernoulli(0.9 - 0.05 * np.arange(10)))
TURNS = 7

# A policy of each chapter, as a reader meets it first: the package is imported, a game made and played.
FIRST_RESULTS = {
    "UCB1": "game, policy = fl.Bandit(arms), fl.ucb1()",
    "FAIR-UCB": """
from fairlib.shares import SharedBandit, fair_ucb
game, policy = SharedBandit(arms, shares=[0.1, 0.2]), fair_ucb([0.1, 0.2])""",
    "FairX-UCB": """
from fairlib.exposure import ExposureBandit, fairx_ucb
merit = fl.merit.exponential(4)
game, policy = ExposureBandit(arms, merit=merit), fairx_ucb(merit, 0.1)""",
    "FairX-LinUCB": """
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


def c_loop(program: pathlib.Path) -> float:
    """Return the C program's nanoseconds a round."""
    return float(subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()[0])


def engine(policy: fl.Policy) -> float:
    """Return the engine's nanoseconds a round."""
    start = time.perf_counter()
    fl.simulate(GAME, policy, 10**6)
    return 1e3 * (time.perf_counter() - start)


def process(code: str) -> float:
    """Return the seconds of processor time that a fresh process takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def first_result(code: str) -> str:
    """Return what a fresh process runs."""
    return f"import fairlib as fl\narms = fl.bernoulli([0.9, 0.5])\n{code}\nfl.simulate(game, policy, 100)"


with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / "ucb1"
    subprocess.run(["cc", "-O3", "-march=native", HERE / "ucb1.c", "-o", program, "-lm"], check=True)
    fl.simulate(GAME, fl.ucb1(), 1000)
    rounds = [(c_loop(program), engine(fl.ucb1()), engine(fl.thompson_beta())) for _ in range(9)]
c, ucb1, thompson = np.median(rounds, axis=0)
print(f"UCB1, K = 10, T = 10^6, one core: C {c:.1f} ns a round, fairlib {ucb1:.1f} ns, ratio {ucb1 / c:.2f}")
print(f"Thompson sampling (Beta): {thompson:.1f} ns a round, ratio to UCB1 {thompson / ucb1:.2f}")

compileall.compile_dir(HERE.parent / "fairlib", quiet=1)  # as pip does when it installs; this checkout may have none
codes = {name: first_result(code) for name, code in FIRST_RESULTS.items()}
for code in codes.values():
    process(code)  # puts the compiled code on disk
starts = [[process("import numba"), *map(process, codes.values())] for _ in range(TURNS)]
numba_only, *first = np.min(starts, axis=0)  # what others do on the machine can only add to it
print(f"first result of a fresh process, to the {numba_only:.2f} s of importing Numba alone:")
for name, seconds in zip(codes, first, strict=True):
    print(f"  {name:14}{seconds:.2f} s, ratio {seconds / numba_only:.2f}")
