"""A pytest plugin that stores what tests must make again: outputs and figures of chapters, and plays of policies.

A `Store` is a file of ``tests/reference/``. What a test made is compared with it as lines of text (`compare`). With
``pytest --refresh-references`` nothing is compared: each test notes its part of a store, and at the end of the run
`Refresh` writes every store of which all parts have come, and shows what changed.
"""

import difflib
import json
import operator
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REFRESH = "--refresh-references"
PROPERTY = "reference"  # by which a report brings a part from the process of its test

Texts = dict[str, list[str]]
"""Lines by the name of what they describe, such as the setting of a figure's sliders."""
Alike = Callable[[str, str], bool]


class Store:
    """The references of one file, such as ``plays`` or ``pictures/bandits``.

    A store is a list, of which each part is a list, or a dict, of which each part is a dict.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.name = name
        self.file = root / "tests" / "reference" / f"{name}.json"
        self.text = self.file.read_text(encoding="utf-8") if self.file.exists() else ""
        self.stored: Any = json.loads(self.text or "[]")

    def refreshed(self, item: pytest.Item, position: int, parts: int, part: Any) -> bool:
        """Return whether references are refreshed, and if so note a part, by its position among all parts."""
        asked = bool(item.config.getoption(REFRESH))
        if asked:
            item.user_properties.append((PROPERTY, [self.name, position, parts, part]))
        return asked

    def write(self, parts: list[Any]) -> list[str]:
        """Store what the parts make together; return a diff, or a line that says that nothing changed."""
        whole: Any = [entry for part in parts for entry in part]
        if parts and isinstance(parts[0], dict):
            whole = {key: value for part in parts for key, value in part.items()}
        if not (self.text or whole):
            return []
        new = json.dumps(whole, indent=1, ensure_ascii=False) + "\n"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(new, encoding="utf-8", newline="\n")
        name = f"tests/reference/{self.name}.json"
        changes = difflib.unified_diff(self.text.splitlines(), new.splitlines(), name, name, lineterm="")
        return list(changes) or [f"{name}: unchanged"]


def settled(lines: list[str], stored: list[str], alike: Alike) -> list[str]:
    """Return lines as they are stored, where there are such or any like them."""
    return [next((old for old in [line, *stored] if old in stored and alike(old, line)), line) for line in lines]


def compare(what: str, name: str, stored: Texts | None, fresh: Texts, alike: Alike = operator.eq) -> tuple[str, str]:
    r"""Return what is wrong, and the lines that show it; two empty texts where all lines are alike.

    Parameters
    ----------
    what : str
        The subject of the message, such as "The cell's output".
    name : str
        What the heads of the diff call it.
    stored, fresh : dict of list of str
        The lines of the reference, or None if none is stored, and of this run.
    alike : callable
        Whether a stored line and a fresh one count as the same; by default only equal ones do.

    Examples
    --------
    >>> print(*compare("The output", "output", {"": ["1", "2"]}, {"": ["1", "3"]}), sep=":\n")
    The output differs from its reference:
    --- output, stored
    +++ output, this run
    @@ -1,2 +1,2 @@
     1
    -2
    +3
    >>> compare("The output", "output", None, {"": ["1"]})
    ('The output is to be checked, but no reference is stored', '1')
    >>> compare("The output", "output", {"": ["2.0"]}, {"": ["2"]}, lambda one, other: float(one) == float(other))
    ('', '')
    """
    if stored is None:
        lines = [line for text in fresh.values() for line in text]
        return f"{what} is to be checked, but no reference is stored", "\n".join(lines)
    changes: list[str] = []
    for part in dict.fromkeys([*stored, *fresh]):
        old, title = stored.get(part, []), f"{name} {part}".strip()
        new = settled(fresh.get(part, []), old, alike)
        changes += difflib.unified_diff(old, new, f"{title}, stored", f"{title}, this run", lineterm="")
    return (f"{what} differs from its reference", "\n".join(changes)) if changes else ("", "")


class Refresh:
    """Gathers the parts of stores in the process that steers the run, and writes the stores when it is over."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.parts: dict[str, dict[int, Any]] = defaultdict(dict)
        self.expected: dict[str, int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the parts that a passed test noted."""
        properties: list[tuple[str, Any]] = report.user_properties if report.when == "call" and report.passed else []
        for key, value in properties:
            if key == PROPERTY:
                name, position, expected, part = value
                self.expected[name] = expected
                self.parts[name][position] = part

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Write the stores of which all parts have come, and show how they differ from the old ones."""
        for name, parts in sorted(self.parts.items()):
            lines = [f"tests/reference/{name}.json: kept as it was, for a test did not pass or did not run"]
            if len(parts) == self.expected[name]:
                lines = Store(self.root, name).write([parts[position] for position in sorted(parts)])
            for line in lines:
                terminalreporter.write_line(line)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that refreshes."""
    parser.addoption(REFRESH, action="store_true", help="store anew what tests compare with tests/reference/")


def pytest_configure(config: pytest.Config) -> None:
    """Gather where the run is steered, not in each of its workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Refresh(config.rootpath))
