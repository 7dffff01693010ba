"""Measure Fair-Greedy against one product of a matrix with a vector a round, in one run.

Run ``.venv/bin/python benchmarks/ranks.py``. What counts is the ratio: line 3 of its box needs the products of all
contexts of the second half with the estimate, so that NumPy's product of the same size is the floor.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np

import fairlib as fl
from fairlib import linear as li
from fairlib import ranks as rk
from fairlib.contexts import sphere
from fairlib.data import standardised, twoyear


def seconds(run: Callable[[], object]) -> float:
    """Return the least processor time of seven runs, so that other work on the machine counts little."""
    times = []
    for _ in range(7):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


horizon, arms = 2500, 10
rng = np.random.default_rng(1)
estimate = rng.standard_normal(20)
contexts = rng.standard_normal((horizon, arms, 20))
game = fl.ContextBandit(sphere(arms, estimate / 5))
people = standardised(twoyear().features)
pool = rk.employer(people, twoyear().groups, twoyear().rewards, arms=arms, sd=0.2)


def products() -> None:
    """Multiply the contexts of the second half with the estimate, round by round."""
    for t in range(3, horizon + 1):
        contexts[(t - 1) // 2 : t - 1].reshape(-1, 20) @ estimate


def play(policy: fl.ContextPolicy, game: fl.ContextBandit, horizon: int) -> None:
    """Play one run."""
    fl.simulate(game, policy, horizon, rounds=[horizon])


cases = [
    ("d = 20", game, rk.fair_greedy()),
    ("d = 20", game, li.at_random()),
    ("people, d = 21", pool, rk.fair_greedy_v2()),
    ("people, d = 21", pool, rk.oracle_rewards(pool)),
    ("people, d = 21", pool, rk.fair_greedy_rarely()),
]
for _, where, policy in cases:
    play(policy, where, 3)
floor = seconds(products)
print(f"T = {horizon}, K = {arms}, d = 20; products alone: {1e6 * floor / horizon:.1f} microseconds a round")
for name, where, policy in cases:
    ours = seconds(partial(play, policy, where, horizon))
    print(f"{policy.name}, {name}: {1e6 * ours / horizon:.1f} microseconds a round, ratio {ours / floor:.2f}")
small = seconds(lambda: fl.simulate(rk.section_6(), rk.fair_greedy(), 500, runs=100, rounds=[500])) / 100
print(f"section 6, T = 500, K = 4: {1e3 * small:.2f} ms a run")

section_6 = rk.section_6()
for policy, horizon in (
    (rk.fair_greedy(), 10_000),
    (rk.fair_greedy_rarely(), 10_000),
    (rk.fair_greedy_rarely(), 100_000),
):
    start = time.process_time()
    regret = fl.simulate(section_6, policy, horizon, runs=20, seed=1, rounds=[horizon]).fairness_regret
    cost = 1e6 * (time.process_time() - start) / (20 * horizon)
    error = regret.std() / 20**0.5
    print(f"{policy.name}, section 6, T = {horizon:,}: {cost:.1f} microseconds a round, ", end="")
    print(f"fair regret {regret.mean():.1f} +- {error:.1f}")
