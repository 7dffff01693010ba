"""Trials of bounds: each bound of the package on games made by a fixed rule, where it bites.

A bound *bites* where it is below the most that can happen. Only there can a trial fail, so a trial looks for the first
horizon where it does, plays there, and says of a game in which it found none that the bound is *vacuous*, never that it
held. The most that can happen is what the worst policy loses, or what the worst luck does: each game says how to play
that, and a test plays it.

A paper's bounds are in the module of its name, which is found in this folder: its `LINES` has a line for every bound,
whose `make` makes its games. `judge` says what came of one; `python -m bound_trials`, with `tests` on the path, prints
what the last trials found.
"""

import csv
import importlib
import itertools
import pkgutil
from datetime import date
from pathlib import Path
from typing import Any

from bound_trials.cases import NUMBER, Line, Verdict, judge
from fairlib.core.result import versions

_NAMES = [each.name for each in pkgutil.iter_modules(__path__) if each.name not in ("cases", "__main__")]
_MODULES = [importlib.import_module(f"bound_trials.{name}") for name in _NAMES]
LINES: dict[str, Line] = {name: line for module in _MODULES for name, line in module.LINES.items()}

RECORD = Path(__file__).parents[2] / "chapters" / "trials.csv"
GIVEN = ("bound", "label", "policy", "number", "game", "horizon", "limit", "runs", "allowed", "side")
COLUMNS = (*GIVEN, *Verdict._fields, "date", "versions")


def trial(name: str, number: int, runs: int) -> dict[str, Any]:
    """Play one game of a bound, judge it, and return what is to be written down."""
    one = LINES[name].make(number)
    biting = (one.bound > one.most if one.below else one.bound < one.most).any()
    found = judge(one.play(runs) if biting else 0, one.bound, one.most, one.failure, below=one.below)
    numbers = {key: round(each, 5) if isinstance(each, float) else each for key, each in found._asdict().items()}
    return {
        "bound": name,
        "number": number,
        "game": one.game,
        "horizon": int(one.rounds[-1]),
        "limit": f"{float(one.bound[-1]):.6g}",
        "runs": runs,
        "allowed": "mean" if one.failure is None else f"{one.failure:.4g}",
        "side": "below" if one.below else "above",
        **numbers,
        "date": date.today().isoformat(),
        "versions": " ".join(f"{key} {value}" for key, value in versions().items()),
    }


def read() -> list[dict[str, str]]:
    """Return what was written down, game by game."""
    with RECORD.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def record(found: dict[str, Any]) -> None:
    """Write a game down, replacing an older trial of it; games that were never played have a line, too."""
    rows: dict[tuple[str, int], Any] = {(row["bound"], int(row["number"])): row for row in read()}
    rows[found["bound"], found["number"]] = found
    with RECORD.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for name, i in itertools.product(LINES, range(NUMBER)):
            given = {"bound": name, "label": LINES[name].label, "policy": LINES[name].policy, "number": i}
            writer.writerow(rows.get((name, i), {"word": "unplayed"}) | given)
