"""Measure the exact optimistic step against SLSQP from one start, on the same boxes in one run.

Run ``.venv/bin/python benchmarks/optimistic.py``. What counts is the ratio.
"""

import functools
import time

import numpy as np
from numba import njit
from scipy.optimize import minimize

from fairlib import merit as me

ARMS, STEEPNESS, BOXES = 10, 4.0, 200
rng = np.random.default_rng(1)
centre, width = rng.random((BOXES, ARMS)), rng.uniform(0.02, 0.3, (BOXES, ARMS))
low, high = np.maximum(centre - width, 0), np.minimum(centre + width, 1)


def loss(mu):
    """Return the value to be minimised."""
    weights = np.exp(STEEPNESS * mu)
    return -(weights @ mu) / weights.sum()


def microseconds(run):
    """Return the time a box."""
    start = time.perf_counter()
    run()
    return 1e6 * (time.perf_counter() - start) / BOXES


def local():
    """Solve each box with SLSQP from its centre."""
    for i in range(BOXES):
        minimize(loss, centre[i], bounds=list(zip(low[i], high[i], strict=True)), method="SLSQP")


@njit
def exact(step, params, low, high):
    """Solve each box fifty times, from compiled code as a rule does."""
    mu = np.empty(ARMS)
    for _ in range(50):
        for i in range(BOXES):
            step(params, low[i], high[i], mu)


theirs = np.median([microseconds(local) for _ in range(3)])
print(f"SLSQP, exponential merit, K = {ARMS}: {theirs:.0f} microseconds a box")
for merit in (me.exponential(STEEPNESS), me.power(2, 4), me.power(100, 4)):
    solve = functools.partial(exact, me.optimistic_step(merit), np.array(merit.params), low, high)
    solve()
    ours = np.median([microseconds(solve) / 50 for _ in range(7)])
    print(f"exact, {merit.name}: {ours:.2f} microseconds a box, ratio {theirs / ours:.0f}")
