"""A sweep of two thousand settings on Dask's workers: what the second worker is worth, and what a setting costs."""

import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from effort import Effort
from turns import take_turns

import fairlib as fl


def nothing(gap: float, seed: int) -> dict[str, float]:
    """Cost nothing, so that what is left is the price of a setting."""
    return {"regret": gap * seed}


def fair_ucb(gap: float, seed: int) -> dict[str, float]:
    """Play a game that takes some milliseconds."""
    import fairlib as fl
    from fairlib.shares import fair_ucb

    game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    return {"regret": float(fl.simulate(game, fair_ucb([0.1, 0.1]), 200_000, seed=seed).regret[0, -1])}


EXPERIMENTS = {"nothing": nothing, "FAIR-UCB": fair_ucb}


@pytest.fixture(scope="module")
def clusters() -> Iterator[dict[str, Any]]:
    """Start one worker, and two, each a process of its own with one thread."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own
        from distributed import Client, LocalCluster

        one, two = (
            LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=None) for n in (1, 2)
        )
        with one, two, Client(one) as alone, Client(two) as together:
            yield {"one": alone, "two": together}


@pytest.mark.benchmark(group="sweeps", timer=time.perf_counter)
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_two_workers(name: str, benchmark: Any, clusters: dict[str, Any], effort: Effort) -> None:
    """The same settings on two workers, and on one, each time into a new store."""
    number = 20 if effort.tiny else 2000
    settings = [{"gap": i / 2 / number, "seed": seed} for i in range(number // 2) for seed in (1, 2)]

    def swept(workers: str) -> float:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as store, clusters[workers].get_executor() as executor:
            assert len(fl.sweep(EXPERIMENTS[name], settings, store=store, executor=executor)) == number
        return time.perf_counter() - start

    take_turns(benchmark, partial(swept, "two"), {"one": partial(swept, "one")}, min(effort.turns, 3))
    benchmark.extra_info |= {"experiment": name, "settings": number}
