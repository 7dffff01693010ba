"""What the benchmarks are run with: the loops in C, and another checkout."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from turns import Loops, Rival

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add our options."""
    parser.addoption("--turns", type=int, default=9, help="how many turns each side takes (9)")
    parser.addoption("--against", metavar="PATH", help="another checkout, whose policies take turns with these")


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
