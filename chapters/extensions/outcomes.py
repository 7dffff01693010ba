"""The outcomes of the last test run, kept with a hash of the sources that they hold for.

The tests write them (``tests/notebooks.py``), the page of results reads them (``results.py`` beside this file).
Once anything in the book, the package or the tests has changed, the old outcomes say nothing, so none is returned.
"""

import hashlib
import json
import pathlib
from collections.abc import Sequence
from datetime import UTC, datetime

SOURCES = ("chapters", "fairlib", "tests", "requirements.txt")


def fingerprint(root: pathlib.Path, sources: Sequence[str] = SOURCES) -> str:
    """Hash the source files of the project under ``root``, all of them or some."""
    digest = hashlib.sha256()
    for source in sources:
        for path in sorted([root / source, *(root / source).rglob("*")]):
            parts = path.relative_to(root).parts
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
