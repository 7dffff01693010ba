"""Make the record of a measurement: ``python record.py LATEST RAW...`` distils what pytest-benchmark wrote down.

It holds the ratios and what they were measured on: the processor and the versions, but no name of a machine or a user,
and no path. The page of speeds (``chapters/speed.md``) shows it, and it is printed here.
"""

import importlib.metadata
import json
import math
import os
import platform
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

VERSIONED = ("fair-bandits", "numba", "numpy", "scipy")


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, float]:
    """Fit seconds proportional to a power of the size: the exponent, and its standard error where there is one.

    Examples
    --------
    >>> exponent([1, 2, 4], [3, 12, 48])
    (2.0, 0.0)
    """
    x, y = np.log(sizes) - np.log(sizes).mean(), np.log(seconds)
    slope = float(x @ y / (x @ x))
    rest = y - y.mean() - slope * x
    error = math.sqrt(float(rest @ rest) / max(len(x) - 2, 1) / float(x @ x))
    return round(slope, 4), round(error, 4)


def grown(points: dict[int, float]) -> dict[str, Any]:
    """Return the points of a growth, and the exponent of the sizes from 8 on, or of all if there are few."""
    large = {size: seconds for size, seconds in points.items() if size >= 8}
    fitted = large if len(large) >= 3 else points
    slope, error = exponent(list(fitted), list(fitted.values()))
    return {"points": sorted(points.items()), "exponent": slope, "error": error, "from": min(fitted)}


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


def of_growth(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil how the time grows."""
    points: dict[str, dict[int, float]] = defaultdict(dict)
    for turn, seconds in info["seconds"].items():
        side, size = turn.split()
        points[side][int(size)] = min(seconds)
    if "last" in info:
        points["ours"][info["last"]] = min(ours)
    return {"policy": info["policy"], "what": info["what"]} | {side: grown(each) for side, each in points.items()}


def of_processors(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil what a second processor is worth."""
    return {"policy": info["policy"], "rounds": info["rounds"], "speedup": min(info["seconds"]["one"]) / min(ours)}


def of_sweep(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil what a second worker is worth, and what a setting takes on one and on two, in milliseconds."""
    one, two = min(info["seconds"]["one"]), min(ours)
    each = {name: 1e3 * taken / info["settings"] for name, taken in (("one", one), ("two", two))}
    return {"experiment": info["experiment"], "settings": info["settings"], "speedup": one / two, **each}


def of_first_result(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil how long a fresh process takes."""
    return {"policy": info["policy"], "seconds": min(ours), **against(ours, info["seconds"]["import numba"])}


def of_memory(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil what memory a process takes: after the import, and on top of it after a game of each length."""
    peaks = {int(rounds): each for rounds, each in info["bytes"].items()}
    rises = [[rounds, (each[2] - each[0]) / 2**20] for rounds, each in sorted(peaks.items())]
    return {"policy": info["policy"], "import": min(each[0] for each in peaks.values()) / 2**20, "rises": rises}


def of_peer(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil a peer."""
    row = {key: info[key] for key in ("package", "version", "policy", "rounds", "authors", "fault")}
    each = [seconds / info["runs"] for seconds in ours]
    row["microseconds ours"] = 1e6 * min(each) / info["rounds"]
    if theirs := info["seconds"].get("theirs"):
        row["microseconds theirs"] = 1e6 * min(theirs) / info["rounds"]
        row |= against(theirs, each)
    return row


def of_products(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil the ratio to one product of a matrix with a vector a round."""
    row = {key: info[key] for key in ("policy", "K", "d", "rounds")}
    return row | against(ours, info["seconds"]["NumPy's product"])


def of_page(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil how much longer a round takes in a page."""
    return {"policy": info["policy"], "rounds": info["rounds"]} | against(info["seconds"]["page"], ours)


def of_agreement(info: dict[str, Any], ours: list[float]) -> dict[str, Any]:
    """Distil by how many standard errors the two sides are apart."""
    return {key: info[key] for key in ("policy", "loop", "rounds", "runs", "apart", "came to")}


TABLES = {
    "rounds": of_round,
    "agreement": of_agreement,
    "growth": of_growth,
    "processors": of_processors,
    "sweeps": of_sweep,
    "first result": of_first_result,
    "memory": of_memory,
    "peers": of_peer,
    "products": of_products,
    "page": of_page,
}


def rounded(thing: Any) -> Any:
    """Keep five digits of each number with a fraction."""
    if isinstance(thing, dict):
        return {key: rounded(each) for key, each in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [rounded(each) for each in thing]
    return float(f"{thing:.5g}") if isinstance(thing, float) else thing


def record(raws: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the record."""
    first = raws[0]
    compiler = subprocess.run([os.environ.get("CC", "cc"), "--version"], capture_output=True, text=True, check=True)
    made = {
        "date": first["datetime"][:10],
        "commit": first["commit_info"].get("id", "")[:12],
        "processor": first["machine_info"]["cpu"].get("brand_raw", "unknown"),
        "processors": os.cpu_count(),
        "system": f"{platform.system()}, {platform.machine()}",
        "compiler": compiler.stdout.splitlines()[0],
        "versions": {"Python": platform.python_version()}
        | {package: importlib.metadata.version(package) for package in VERSIONED},
    }
    tables: dict[str, list[Any]] = {name: [] for name in TABLES}
    for raw in raws:
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
    print(f"\n{'Growth of':36}{'in':>6}{'exponent':>18}{'of the loop':>18}")
    for row in made["growth"]:
        sides = [f"{each['exponent']:.3f} +- {each['error']:.3f}" for each in (row["ours"], row.get("C")) if each]
        print(f"{row['policy']:36}{row['what']:>6}" + "".join(f"{each:>18}" for each in sides))
    for row in made["processors"]:
        print(f"{row['policy']:36} two processors are {row['speedup']:.2f} times as fast as one")
    for row in made["sweeps"]:
        print(
            f"{row['experiment']:36} {row['settings']:,} settings: {row['one']:.2f} ms each on one worker of Dask, "
            f"{row['two']:.2f} on two, {row['speedup']:.2f} times as fast"
        )
    for row in made["first result"]:
        print(f"{row['policy']:36} first result {row['seconds']:.2f} s, {row['ratio']:.2f} times importing Numba")
    for row in made["memory"]:
        rises = ", ".join(f"{rise:.1f} at T = {rounds:,}" for rounds, rise in row["rises"])
        print(f"{row['policy']:36} MB above the {row['import']:.0f} of the import: {rises}")
    print(f"\n{'Peer':28}{'policy':24}{'their us':>10}{'our us':>10}{'ratio':>10}")
    for row in made["peers"]:
        theirs = row.get("microseconds theirs")
        numbers = (
            f"{theirs:10.1f}{row['microseconds ours']:10.3f}{row['ratio']:10.1f}" if theirs else "  " + row["fault"]
        )
        print(f"{row['package'] + ' ' + row['version']:28}{row['policy']:24}{numbers}")

    for row in made["products"]:
        print(f"{row['policy']:36} on people: {row['ratio']:.2f} times NumPy's product of the size")
    for row in made["page"]:
        print(f"{row['policy']:36} in a page: {row['ratio']:.2f} times the compiled round")


def main() -> None:
    """Read what was measured, write the record and print it."""
    latest, *paths = map(Path, sys.argv[1:])
    made = record([json.loads(path.read_text(encoding="utf-8")) for path in paths])
    latest.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    show(made)


if __name__ == "__main__":
    main()
