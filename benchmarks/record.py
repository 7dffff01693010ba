"""Make the record of a measurement: ``python record.py LATEST RAW`` distils what pytest-benchmark wrote down.

It holds the ratios and what they were measured on: the processor and the versions, but no name of a machine or a user,
and no path. The page of speeds (``chapters/speed.md``) shows it, and it is printed here.
"""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

VERSIONED = ("fair-bandits", "numba", "numpy", "scipy")


def against(ours: Sequence[float], others: Sequence[float]) -> dict[str, float]:
    """Return the ratio of the least times, and the middle half of the ratios turn by turn."""
    low, high = np.quantile(np.divide(ours, others), [0.25, 0.75])
    return {"ratio": min(ours) / min(others), "low": float(low), "high": float(high)}


def of_round(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil what a round of a policy costs."""
    row = {key: info[key] for key in ("policy", "loop", "size", "rounds")}
    for side, seconds in {"ours": ours, **info["seconds"]}.items():
        row[f"nanoseconds {side}"] = 1e9 * min(seconds) / info["rounds"]
    row |= against(ours, info["seconds"]["C"])
    if there := info["seconds"].get("there"):
        row["to the other tree"] = against(ours, there)["ratio"]
    return row


def of_agreement(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil by how many standard errors the two sides are apart."""
    return {key: info[key] for key in ("policy", "loop", "rounds", "runs", "apart", "came to")}


TABLES = {
    "rounds": of_round,
    "agreement": of_agreement,
}


def rounded(thing: Any) -> Any:
    """Keep five digits of each number with a fraction."""
    if isinstance(thing, dict):
        return {key: rounded(each) for key, each in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [rounded(each) for each in thing]
    return float(f"{thing:.5g}") if isinstance(thing, float) else thing


def record(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the record."""
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=True)
    made = {
        "date": raw["datetime"][:10],
        "commit": raw["commit_info"].get("id", "")[:12],
        "processor": raw["machine_info"]["cpu"].get("brand_raw", "unknown"),
        "processors": os.cpu_count(),
        "system": f"{platform.system()}, {platform.machine()}",
        "compiler": compiler.stdout.splitlines()[0],
        "versions": {"Python": platform.python_version()}
        | {package: importlib.metadata.version(package) for package in VERSIONED},
    }
    tables: dict[str, list[Any]] = {name: [] for name in TABLES}
    for row in raw["benchmarks"]:
        tables[row["group"]].append(TABLES[row["group"]](row["extra_info"], row["stats"]["data"]))
    made_of: dict[str, Any] = rounded({"made": made, **tables})
    return made_of


def show(made: dict[str, Any]) -> None:
    """Print the tables."""
    print(*(f"{key}: {value}" for key, value in made["made"].items()), sep="\n")
    print(f"\n{'A round of':36}{'ns':>10}{'loop':>16}{'its ns':>10}{'ratio':>9}{'middle half':>18}")
    for row in made["rounds"]:
        span, other = f"{row['low']:.2f} to {row['high']:.2f}", row.get("to the other tree")
        print(
            f"{row['policy']:36}{row['nanoseconds ours']:10.1f}{row['loop']:>16}{row['nanoseconds C']:10.1f}"
            f"{row['ratio']:9.2f}{span:>18}" + (f"   to the other tree {other:.3f}" if other else "")
        )
    print(f"\n{'Both sides do the same':36}{'standard errors apart':>22}")
    for row in made["agreement"]:
        print(f"{row['policy']:36}{row['apart']:22.2f}")


def main() -> None:
    """Read what was measured, write the record and print it."""
    latest, raw = map(Path, sys.argv[1:])
    made = record(json.loads(raw.read_text(encoding="utf-8")))
    latest.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    show(made)


if __name__ == "__main__":
    main()
