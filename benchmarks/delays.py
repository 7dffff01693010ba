"""Measure the seven policies of the delay chapters, K = 7, L = 3, geometric delays, in nanoseconds a round on one core.

Run ``.venv/bin/python benchmarks/delays.py``. The authors' public code was measured on one core of such a machine, in
seconds for 1,000 rounds of one run of 1,000 (longer runs take it longer per round); the last column is the ratio.
Machines differ and are shared: where the public code was measured, the UCB1 loop in C of ``benchmarks/speed.py`` took
51.6 nanoseconds a round, so run that beside this one and scale. The order among our own policies is taken from
interleaved runs.
"""

import os
import time

if hasattr(os, "sched_setaffinity"):  # on Linux
    os.sched_setaffinity(0, {0})

import numpy as np

import fairlib as fl
from fairlib import delays as de
from fairlib.merit import power

MERIT = power(2, 4)
GAME = de.SemiBandit(
    fl.bernoulli([0.3, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4]), plays=3, delay=de.geometric([0.05] * 7), merit=MERIT
)
PUBLIC = {  # seconds for 1,000 rounds
    "FCUCB-D": 1.30,
    "FCTS-D": 0.620,
    "OP-FCUCB-D": 1.34,
    "OP-FCTS-D": 0.738,
    "CUCB-D": 0.071,
    "MP-TS-D": 0.175,
    "FGreedy-D": 0.465,
}
POLICIES = [
    de.fcucb_d(MERIT, 7, 3),
    de.fcts_d(MERIT, 7, 3),
    de.op_fcucb_d(MERIT, 7, 3),
    de.op_fcts_d(MERIT, 7, 3),
    de.cucb_d(3),
    de.mp_ts_d(3),
    de.fgreedy_d(MERIT, 7, 3, 0.13),
    de.two_box(MERIT, 7, 3, 40_000),
]
ROUNDS, RUNS = 40_000, 2


def nanoseconds(policy: fl.Policy) -> float:
    """Return what one round takes."""
    start = time.perf_counter()
    fl.simulate(GAME, policy, ROUNDS, runs=RUNS, rounds=[ROUNDS])
    return 1e9 * (time.perf_counter() - start) / (ROUNDS * RUNS)


for policy in POLICIES:
    nanoseconds(policy)
measured = np.median([[nanoseconds(policy) for policy in POLICIES] for _ in range(9)], axis=0)
for policy, ns in zip(POLICIES, measured, strict=True):
    public = PUBLIC.get(policy.name)
    ratio = f"{1e6 * public / ns:6.0f} times the speed of the public code" if public else "  (ours)"
    print(f"{policy.name:10} {ns:6.0f} ns a round {ratio}")
