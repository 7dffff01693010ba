"""Measure the engine against a tight loop in C, and a fresh process against importing Numba alone.

Run ``.venv/bin/python benchmarks/speed.py``; it needs a C compiler. Machines differ and are shared, so what counts are
the ratios, each taken in one go from interleaved runs.
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import fairlib as fl

HERE = pathlib.Path(__file__).parent
GAME = fl.Bandit(fl.bernoulli(0.9 - 0.05 * np.arange(10)))
FIRST_RESULT = "import fairlib as fl; fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.8])), fl.ucb1(), 10_000)"


def c_loop(program):
    """Return the C program's nanoseconds a round."""
    return float(subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()[0])


def engine(policy):
    """Return the engine's nanoseconds a round."""
    start = time.perf_counter()
    fl.simulate(GAME, policy, 10**6)
    return 1e3 * (time.perf_counter() - start)


def process(code):
    """Return the seconds that a fresh process takes."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


with tempfile.TemporaryDirectory() as folder:
    program = pathlib.Path(folder) / "ucb1"
    subprocess.run(["cc", "-O3", "-march=native", HERE / "ucb1.c", "-o", program, "-lm"], check=True)
    fl.simulate(GAME, fl.ucb1(), 1000)
    rounds = [(c_loop(program), engine(fl.ucb1()), engine(fl.thompson_beta())) for _ in range(9)]
c, ucb1, thompson = np.median(rounds, axis=0)
starts = [(process("import numba"), process(FIRST_RESULT)) for _ in range(7)]
numba_only, first = np.median(starts, axis=0)
print(f"UCB1, K = 10, T = 10^6, one core: C {c:.1f} ns a round, fairlib {ucb1:.1f} ns, ratio {ucb1 / c:.2f}")
print(f"Thompson sampling (Beta): {thompson:.1f} ns a round, ratio to UCB1 {thompson / ucb1:.2f}")
print(f"fresh process: import numba {numba_only:.2f} s, first result {first:.2f} s, ratio {first / numba_only:.2f}")
