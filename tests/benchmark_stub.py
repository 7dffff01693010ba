"""A pytest plugin that stands for pytest-benchmark, which is not in the lock, where a test runs the benchmarks."""

import datetime
import json
import time
from pathlib import Path
from typing import Any

import pytest

MEASURED: list[dict[str, Any]] = []


class Clock:
    """Stands for the ``benchmark`` that a test asks for."""

    def __init__(self) -> None:
        self.extra_info: dict[str, Any] = {}
        self.data: list[float] = []

    def pedantic(
        self, function: Any, args: Any = (), setup: Any = None, rounds: int = 1, warmup_rounds: int = 0
    ) -> Any:
        """Take turns."""
        for _ in range(warmup_rounds + rounds):
            if setup:
                setup()
            start = time.perf_counter()
            result = function(*args)
            self.data.append(time.perf_counter() - start)
        self.data = self.data[-rounds:]
        return result


@pytest.fixture
def benchmark(request: pytest.FixtureRequest) -> Any:
    """Measure, and note what was measured under the name of its group."""
    yield (clock := Clock())
    group = request.node.get_closest_marker("benchmark").kwargs["group"]
    MEASURED.append({"group": group, "extra_info": clock.extra_info, "stats": {"data": clock.data}})


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add where to write what was measured."""
    parser.addoption("--benchmark-json")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write it as pytest-benchmark does."""
    raw = {
        "datetime": datetime.datetime.now(datetime.UTC).isoformat(),
        "commit_info": {},
        "machine_info": {"cpu": {}},
        "benchmarks": MEASURED,
    }
    Path(session.config.getoption("--benchmark-json")).write_text(json.dumps(raw), encoding="utf-8")
