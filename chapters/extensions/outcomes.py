"""The outcomes of the tests: of the last run on these very sources, and of the last full run that was stored.

The tests write the first (``tests/notebooks.py``), with a hash of the sources that they hold for. Once anything in the
book, the package or the tests has changed, these say nothing, so none is returned. ``make outcomes`` stores them in a
file of the project, with the date and the commit, and there they stay until the next time: the pages show them "as of"
that commit. It stores the tests that the pages name, and of all others only how many passed.
"""

import csv
import hashlib
import json
import pathlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

SOURCES = ("chapters", "fairlib", "tests", "requirements.txt")
RECORD = "chapters/outcomes.json"  # no part of the sources, or storing it would outdate what it says


def fingerprint(root: pathlib.Path, sources: Sequence[str] = SOURCES) -> str:
    """Hash the source files of the project under ``root``, all of them or some."""
    digest = hashlib.sha256()
    for source in sources:
        for path in sorted([root / source, *(root / source).rglob("*")]):
            parts = path.relative_to(root).parts
            if "/".join(parts) == RECORD:
                continue
            if path.is_file() and not any(part.startswith((".", "__pycache__")) for part in parts):
                digest.update("/".join(parts).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def load(root: pathlib.Path, sources: str) -> dict[str, str]:
    """Return the outcome of each test that has run on these very sources, by the test's name."""
    try:
        stored = json.loads((root / "_build" / "outcomes.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return stored["outcomes"] if stored["sources"] == sources else {}


def when(root: pathlib.Path) -> str:
    """Return the day of the last test run, if any is known."""
    try:
        return str(json.loads((root / "_build" / "outcomes.json").read_text(encoding="utf-8")).get("when", ""))
    except FileNotFoundError:
        return ""


def save(root: pathlib.Path, sources: str, outcomes: dict[str, str]) -> None:
    """Add outcomes to those already known for the same sources."""
    known = {**load(root, sources), **outcomes}
    (root / "_build").mkdir(exist_ok=True)
    day = f"{(now := datetime.now(UTC)).day} {now:%B %Y}"
    text = json.dumps({"sources": sources, "when": day, "outcomes": known}, indent=1, sort_keys=True)
    (root / "_build" / "outcomes.json").write_text(text + "\n", encoding="utf-8")


def record(root: pathlib.Path) -> dict[str, Any]:
    """Return what was stored of the last full run; nothing if no run was."""
    path = root / RECORD
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else {}


def known(root: pathlib.Path) -> dict[str, str]:
    """Return what the pages show of each test: what it said on these very sources, else what was stored."""
    sources, stored = fingerprint(root), record(root)
    local = {name: f"{outcome} on these sources" for name, outcome in load(root, sources).items()}
    if stored:
        ran = {*local, *(name.partition("[")[0] for name in local)}
        now = stored["sources"] == sources
        said = "on these sources" if now else f"as of {stored['date']}, commit {stored['commit']}"
        local |= {name: f"{outcome} {said}" for name, outcome in stored["outcomes"].items() if name not in ran}
    return local


def verdict(tests: list[str], known: dict[str, str]) -> str:
    """Sum up the outcomes of some tests in a few words.

    >>> now, old = "passed on these sources", "passed as of 2 May 2026, commit abc1234"
    >>> known = {"t.py::a[1]": now, "t.py::a[2]": "failed on these sources", "t.py::b": now, "t.py::c": old}
    >>> verdict(["t.py::a"], known), verdict(["t.py::b"], known), verdict([], known)
    ('failed on these sources', 'passed on these sources', '')
    >>> verdict(["t.py::b", "t.py::c"], known), verdict(["t.py::b", "t.py::d"], known)
    ('passed as of 2 May 2026, commit abc1234', 'not run since the last change')
    """
    if not tests:
        return ""
    found = [{known[name] for name in known if name == test or name.startswith(test + "[")} for test in tests]
    said = sorted(set().union(*found), key=lambda outcome: " as of " not in outcome)  # the older first
    failed = [outcome for outcome in said if outcome.startswith("failed")]
    if not failed and not all(found):
        return "not run since the last change"
    skipped = [outcome for outcome in said if outcome.startswith("skipped")]
    return [*failed, *skipped, *said][0]


def counts(known: dict[str, str]) -> dict[str, dict[str, int]]:
    """Count the outcomes of each chapter, and of each folder of tests.

    >>> counts({"chapters/own.md::Cell 1": "passed", "tests/a.py::b": "failed", "tests/a.py::c": "passed"})
    {'chapters/own.md': {'passed': 1}, 'tests': {'failed': 1, 'passed': 1}}
    """
    found: dict[str, Counter[str]] = {}
    for name, outcome in sorted(known.items()):
        file = name.partition("::")[0]
        found.setdefault(file if file.endswith(".md") else file.partition("/")[0], Counter())[outcome] += 1
    return {group: dict(count) for group, count in found.items()}


def tests_of(row: dict[str, str]) -> list[str]:
    """Return the tests that a row of ``items.csv`` or ``statements.csv`` names."""
    return [test.strip() for test in row["test"].split(";") if test.strip()]


def named(root: pathlib.Path) -> Iterable[str]:
    """Yield the tests that the pages name."""
    for table in ("items.csv", "statements.csv"):
        with (root / "chapters" / table).open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file, restval=""):
                yield from tests_of(row)


def store(root: pathlib.Path) -> None:
    """Store what the last run said, with the date and the commit; refuse where it doesn't say it of a commit."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    sources = fingerprint(root)
    ran = load(root, sources)
    outcomes = {test: verdict([test], ran) for test in sorted(set(named(root)))}
    missing = [test for test, outcome in outcomes.items() if outcome.startswith("not")]
    if missing:
        sys.exit(
            f"On exactly these sources {len(missing)} tests were not run, such as {missing[0]}: `make test test-pages`."
        )
    if changed := git("status", "--porcelain", "--", *SOURCES, f":!{RECORD}"):
        sys.exit(f"Commit first, for the record names the commit:\n{changed}")
    commit = git("log", "-1", "--format=%h", "--abbrev=7", "--", *SOURCES, f":!{RECORD}")
    made = {"commit": commit, "date": when(root), "sources": sources, "counts": counts(ran), "outcomes": outcomes}
    (root / RECORD).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8", newline="\n")
    print(f"{RECORD} says what {len(ran)} tests said of commit {commit} on {made['date']}.")


if __name__ == "__main__":
    store(pathlib.Path.cwd())
