"""What the benchmarks are run with: the loops in C, and how long a turn is."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from turns import Loops, Rival

HERE = Path(__file__).parent


class Effort(NamedTuple):
    """How long a turn of ours should last, in seconds, and how many turns there are."""

    turn: float
    turns: int
    tiny: bool


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    parser.addoption("--turns", type=int, default=9, help="how many turns each side takes (9)")
    parser.addoption("--tiny", action="store_true", help="only show that everything runs")
    parser.addoption("--against", metavar="PATH", help="another checkout, whose policies take turns with these")


@pytest.fixture(scope="session")
def effort(pytestconfig: pytest.Config) -> Effort:
    """Say how much is to be done."""
    tiny = pytestconfig.getoption("--tiny")
    return Effort(0.002 if tiny else 0.1, 2 if tiny else pytestconfig.getoption("--turns"), tiny)


@pytest.fixture(scope="session")
def loops(tmp_path_factory: pytest.TempPathFactory) -> Loops:
    """Compile the loops."""
    return Loops(tmp_path_factory.mktemp("loops"))


@pytest.fixture(scope="session")
def there(pytestconfig: pytest.Config) -> Iterator[Rival | None]:
    """Start the other checkout's process, if there is one."""
    if not (other := pytestconfig.getoption("--against")):
        yield None
        return
    root = Path(other).resolve()
    rival = Rival([sys.executable, str(HERE / "tree.py")], f"{root}:{root / 'tests'}:{HERE}")
    yield rival
    rival.close()
