"""Plant mistakes in the package, one at a time, and see whether a test of it notices: ``make mutants``.

A *site* is a piece of `fairlib` that one of Cosmic Ray's operators can change: a number, a sign, a comparison, an
``and``, a ``break``, a decorator. Of all sites a sample is drawn by a fixed seed, and of each site one change. The
change is made in a copy of the project, and there run the doctests of the changed file and the tests that use it, those
first that are named after it, until one fails. A mutant that no test notices has *survived*. Whoever shows that it does
what the original does says so in ``tests/equivalent.csv``; any other is a missing test.

Every verdict is written down at once, so that a second call goes on where the first was ended.
"""

import argparse
import ast
import csv
import difflib
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Queue
from typing import Any

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "fairlib"
Site = tuple[str, tuple[int, int], str, int]
FIRST = "fairlib/__init__.py"  # a file of the package that is the first to be collected is imported twice
SECONDS = 300  # after which a test counts as one that never ends


def sources() -> list[Path]:
    """Return the files of the package; those beside its compiled code are made of them."""
    return sorted(file for file in PACKAGE.rglob("*.py") if "__pycache__" not in file.parts)


def annotations(text: str) -> set[tuple[int, int]]:
    """Return the places, line and column, that lie in annotations: what stands there runs never."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        for each in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            parts = ast.walk(each) if each is not None else ()
            found |= {(part.lineno, part.col_offset) for part in parts if isinstance(part, ast.expr)}
    return found


def sites(file: Path) -> Iterator[Site]:
    """Name what can be changed in a file: its name, where, by which operator, and which of its occurrences."""
    from cosmic_ray.ast import ast_nodes, get_ast  # here, as it is not in the lock
    from cosmic_ray.plugins import get_operator, operator_names

    text = file.read_text(encoding="utf-8")
    tree, runs_never = get_ast(text), annotations(text)
    typing = {number for number, line in enumerate(text.splitlines(), 1) if line.lstrip().startswith("@overload")}
    for name in operator_names():
        kind = get_operator(name)
        if kind.arguments():
            continue
        operator = kind()
        places = ((start, stop) for node in ast_nodes(tree) for start, stop in operator.mutation_positions(node))
        for occurrence, (start, stop) in enumerate(places):
            if name.endswith("NoOp") or start[0] in typing:
                continue
            if not any(start <= place < stop for place in runs_never):
                yield str(file.relative_to(ROOT)), start, name, occurrence


def sample(number: int, seed: int) -> list[Site]:
    """Draw sites, and one change of each."""
    chance = random.Random(seed)
    at: dict[tuple[str, tuple[int, int]], list[Site]] = {}
    for file in sources():
        for site in sites(file):
            at.setdefault(site[:2], []).append(site)
    return [chance.choice(at[place]) for place in chance.sample(sorted(at), min(number, len(at)))]


def uses(test: Path) -> set[str]:
    """Return the modules of the package that a test's own text asks for, those of its helpers included."""
    found: set[str] = set()
    text = test.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {f"{node.module}.{each.name}" for each in node.names}
        elif isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "fl":
            found.add(f"fairlib.{node.attr}")
    for helper in ("zoo", "helpers"):
        if helper in found:
            found |= uses(ROOT / "tests" / f"{helper}.py")
    return found


def users_of(file: str) -> list[str]:
    """Return the tests that are run against a changed file, in order: its own, and all others that use it."""
    import fairlib

    parts = Path(file).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    package = ".".join(module.split(".")[:2])
    names = {module, package} | {
        f"fairlib.{name}" for name in dir(fairlib) if getattr(getattr(fairlib, name), "__module__", "") == module
    }
    own = tuple(
        f"test_{part}" for part in {parts[-1], package.removeprefix("fairlib.")} - {"policies", "theory", "game"}
    )
    chosen = []
    for test in sorted((ROOT / "tests").glob("test_*.py")):
        if test.stem.startswith(own) or names & uses(test):
            chosen.append((not test.stem.startswith(own), test.stem != "test_plays", test.stat().st_size, test.name))
    return [f"tests/{each[-1]}" for each in sorted(chosen)]


def mutated(site: Site) -> str:
    """Return the file with the change."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    name, _, operator, occurrence = site
    return str(mutate_code((ROOT / name).read_text(encoding="utf-8"), get_operator(operator)(), occurrence))


def run(folder: Path, tests: list[str]) -> tuple[str, str]:
    """Run tests in a copy of the project until one fails; return whether one does, and which.

    Doctests want a run of their own, after `FIRST`.
    """
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
    env["PATH"] = str(folder / "nowhere")  # without a browser: the pages are no unit tests
    env.pop("FAIRLIB_REQUIRE_BROWSER", None)
    pytest = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", "--tb=line"]
    endless = ["-o", f"faulthandler_timeout={SECONDS}", "-o", "faulthandler_exit_on_timeout=true"]
    process = subprocess.run(
        [*pytest, *endless, *tests], cwd=folder, env=env, text=True, capture_output=True, check=False
    )
    said = process.stdout + process.stderr
    if "Timeout (" in said:
        return "no end", said[-300:]
    if process.returncode in (0, 5):  # 5 is that there are none
        return "survived", ""
    lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "killed", lines[0] if lines else said[-300:]


def tried(site: Site, folder: Path) -> dict[str, Any]:
    """Change a copy of the project, test it, and change it back."""
    name, (line, column), operator, _ = site
    before, after, began = (ROOT / name).read_text(encoding="utf-8"), mutated(site), time.monotonic()
    (folder / name).write_text(after, encoding="utf-8")
    try:
        verdict, by = run(folder, [FIRST, name])
        if verdict == "survived" and (tests := users_of(name)):
            verdict, by = run(folder, tests)
    finally:
        (folder / name).write_text(before, encoding="utf-8")
        for cache in (folder / "fairlib" / "__pycache__").glob("numba-*"):
            shutil.rmtree(cache)
    change = [each for each in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0) if each[3:]][2:]
    return {
        "file": name,
        "line": line,
        "column": column,
        "operator": operator.removeprefix("core/"),
        "change": change[1:],
        "verdict": verdict,
        "by": by,
        "seconds": round(time.monotonic() - began),
    }


def explained() -> set[tuple[str, str, str]]:
    """Return the changes of which somebody has shown that they change nothing: file, line and what it becomes."""
    with (ROOT / "tests" / "equivalent.csv").open(encoding="utf-8", newline="") as file:
        return {(row["file"], row["line"], row["becomes"]) for row in csv.DictReader(file)}


def summary(outcomes: list[dict[str, Any]]) -> str:
    """Count the outcomes by module, and show what survived."""
    known, lines = explained(), []
    parts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in outcomes:
        pair = [line[1:].strip() for line in each["change"]]
        each["verdict"] = "equivalent" if (each["file"], pair[0], pair[-1]) in known else each["verdict"]
        parts["/".join(each["file"].split("/")[:2])][each["verdict"]] += 1
        if each["verdict"] == "survived":
            lines += [f"{each['file']}:{each['line']} {each['operator']}", *each["change"], ""]
    total: Counter[str] = sum(parts.values(), Counter())
    for name, counts in {**dict(sorted(parts.items())), "all": total}.items():
        said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in sorted(counts))
        lines.append(f"{name:30}{said}")
    counted = total.total() - total["equivalent"]
    lines.append(f"noticed: {1 - total['survived'] / counted:.1%} of the {counted} that are not equivalent")
    return "\n".join(lines)


def main() -> None:
    """Try the sample, and say what survived."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, default=400)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    drawn = sample(asked.sites, asked.seed)
    tree = hashlib.sha256(b"".join(file.read_bytes() for file in sources())).hexdigest()[:12]
    written = ROOT / "_build" / "mutants" / f"{tree}-{asked.seed}.jsonl"  # a site is a place in these very sources
    written.parent.mkdir(parents=True, exist_ok=True)
    outcomes = (
        [json.loads(line) for line in written.read_text(encoding="utf-8").splitlines()] if written.exists() else []
    )
    done = {(each["file"], each["line"], each["column"]) for each in outcomes}
    waiting = [site for site in drawn if (site[0], *site[1]) not in done]
    copies: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(asked.workers) as pool:
        for i in range(asked.workers):
            copies.put(Path(place) / f"copy-{i}")
            ignored = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__")
            shutil.copytree(ROOT, Path(place) / f"copy-{i}", ignore=ignored)
        if not outcomes:  # what fails without a mistake can't tell one
            files = sorted({site[0] for site in drawn})
            for tests in (
                *([FIRST, file] for file in files),
                sorted({test for file in files for test in users_of(file)}),
            ):
                verdict, by = run(Path(place) / "copy-0", tests)
                if verdict != "survived":
                    sys.exit(f"without any mistake the tests say: {verdict} {by}")

        def one(site: Site) -> dict[str, Any]:
            folder = copies.get()
            try:
                return tried(site, folder)
            finally:
                copies.put(folder)

        for future in as_completed([pool.submit(one, site) for site in waiting]):
            outcome = future.result()
            outcomes.append(outcome)
            with written.open("a", encoding="utf-8") as file:
                file.write(json.dumps(outcome) + "\n")
            said = f"{outcome['file']}:{outcome['line']} {outcome['verdict']}"
            print(f"{len(outcomes)} of {len(drawn)}: {said}", flush=True)
    print(summary(outcomes))


if __name__ == "__main__":
    main()
