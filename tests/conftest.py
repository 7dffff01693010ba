"""How Hypothesis draws in all test files, and the browser that several of them open pages in."""

from collections.abc import Iterator

import pytest
import strategies
from engines import CHROMIUM, Engines
from hypothesis import HealthCheck, settings
from selenium import webdriver

# The same examples in each run, and no other ones kept on a disk; where all are asked for, others each time. However
# slow the machine is, or the game to be built: that is no failure.
settings.register_profile(
    "fairlib",
    deadline=None,
    database=None,
    derandomize=not strategies.FULL,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("fairlib")


# What takes longest, in this order: all else is handed out while it runs.
LONGEST = ["test_phones.py", "test_desk.py", "test_lab.py", "test_compilation.py", "test_rules.py"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let what takes longest begin first, or one worker waits for another in the end."""

    def turn(item: pytest.Item) -> tuple[bool, int]:
        name = item.path.name
        return item.path.parent.name in ("tests", "pages"), LONGEST.index(name) if name in LONGEST else len(LONGEST)

    items.sort(key=turn)  # what has one turn stays in order: chapters and doctests before the tests


@pytest.fixture(scope="session")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    """Keep the browsers that have been started."""
    engines = Engines(tmp_path_factory.mktemp)
    yield engines
    engines.close()


@pytest.fixture(scope="session")
def browser(engines: Engines, request: pytest.FixtureRequest) -> webdriver.Remote:
    """Return one browser for all tests: Chromium, or another that a test names; it can reach this machine only."""
    return engines.get(getattr(request, "param", CHROMIUM))
