"""Measure the exact optimistic step against SLSQP from one start, on the same boxes in one run.

Run ``.venv/bin/python benchmarks/optimistic.py``. What counts is the ratio.
"""

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import fairlib as fl
from fairlib import merit as me

ARMS, STEEPNESS, BOXES = 10, 4.0, 200
rng = np.random.default_rng(1)
centre, width = rng.random((BOXES, ARMS)), rng.uniform(0.02, 0.3, (BOXES, ARMS))
low, high = np.maximum(centre - width, 0), np.minimum(centre + width, 1)
game = fl.Bandit(fl.bernoulli(np.full(ARMS, 0.5)))


def loss(mu: NDArray[np.float64]) -> float:
    """Return the value to be minimised."""
    weights = np.exp(STEEPNESS * mu)
    return -float(weights @ mu / weights.sum())


def microseconds(run: Callable[[], object], boxes: int) -> float:
    """Return the time a box."""
    start = time.perf_counter()
    run()
    return 1e6 * (time.perf_counter() - start) / boxes


def local() -> None:
    """Solve each box with SLSQP from its centre."""
    for i in range(BOXES):
        minimize(loss, centre[i], bounds=list(zip(low[i], high[i], strict=True)), method="SLSQP")


@fl.rule
def copies(merit, low, high, seen, box: me.Box, p):
    """Copy a box, and no more: what is not the step."""
    i = seen.t % len(low)
    for a in range(p.size):
        box.low[a], box.high[a] = low[i, a], high[i, a]
    return 0


@fl.rule
def solves(merit, low, high, seen, box: me.Box, p):
    """Copy a box and solve it, as the rules of the policies do."""
    i = seen.t % len(low)
    for a in range(p.size):
        box.low[a], box.high[a] = low[i, a], high[i, a]
    me.best_in_box(merit, box)
    return 0


def exact(rule: fl.rules.Rule, merit: me.Merit) -> float:
    """Return the time a box from compiled code, each solved fifty times."""
    policy = fl.Policy("boxes", rule, merit=merit, low=low, high=high)
    fl.simulate(game, policy, 10)
    return microseconds(lambda: fl.simulate(game, policy, 50 * BOXES, rounds=[50 * BOXES]), 50 * BOXES)


theirs = np.median([microseconds(local, BOXES) for _ in range(3)])
print(f"SLSQP, exponential merit, K = {ARMS}: {theirs:.0f} microseconds a box")
for merit in (me.exponential(STEEPNESS), me.power(2, 4), me.power(100, 4)):
    ours = np.median([exact(solves, merit) - exact(copies, merit) for _ in range(7)])
    print(f"exact, {merit.name}: {ours:.2f} microseconds a box, ratio {theirs / ours:.0f}")
