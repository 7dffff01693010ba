"""The service on a file: each request is a commit that waits for the disk, against bare commits to the same disk."""

import sqlite3
import time
from pathlib import Path
from typing import Any

import pytest
from effort import Effort
from turns import take_turns

from fairlib.deploy import Service
from fairlib.shares import fair_ucb


@pytest.mark.benchmark(group="service", timer=time.perf_counter)
def test_requests(benchmark: Any, effort: Effort, tmp_path: Path) -> None:
    """Half of the requests ask for a choice, half tell what came of it."""
    requests = 20 if effort.tiny else 100
    service, bare = Service(tmp_path / "service.db", fair_ucb([0.1] * 6)), sqlite3.connect(tmp_path / "bare.db")
    for order in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "CREATE TABLE log (name TEXT)"):
        bare.execute(order)
    visits = iter(range(10**9))

    def ask() -> None:
        for _ in range(requests // 2):
            visit = f"visit {next(visits)}"
            service.choose(visit)
            service.observe(visit, 1.0)

    def commits() -> float:
        start = time.perf_counter()
        for i in range(requests):
            bare.execute("INSERT INTO log VALUES (?)", (f"visit {i}",))
            bare.commit()
        return time.perf_counter() - start

    take_turns(benchmark, ask, {"bare": commits}, effort.turns)
    benchmark.extra_info["requests"] = requests
