"""Plant mistakes in the package, one at a time, and see whether a test of it notices: ``make mutants``.

A *site* is a piece of `fairlib` that one of Cosmic Ray's operators can change: a number, a sign, a comparison, an
``and``, a ``break``, a decorator. Of all sites a sample is drawn by a fixed seed, and of each site one change. The
change is made in a copy of the project, and there run the doctests of the changed file, the tests that reach the
changed line and then the others that use the file, the quick ones first, until one fails. A mutant that no test notices
has *survived*. A mutant that is shown to do what the original does is listed in ``equivalent.csv`` beside this file;
any other is a missing test.

Before the first mistake all doctests and tests run once without any, traced: so it is known which test reaches which
line, and how long it takes; and the code that they compile is kept for those mutants that leave it as it is. Every
verdict is written down at once, so that a second call goes on where the first was ended.
"""

import argparse
import ast
import csv
import difflib
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from itertools import accumulate
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "fairlib"
Site = tuple[str, tuple[int, int], str, int]
FIRST = "fairlib/__init__.py"  # a file of the package that is the first to be collected is imported twice
SECONDS = 300  # after which a test counts as one that never ends, and for which a mutant is put to the test at most


def sources() -> list[Path]:
    """Return the files of the package; those beside its compiled code are made of them."""
    return sorted(file for file in PACKAGE.rglob("*.py") if "__pycache__" not in file.parts)


def hashed(files: list[Path]) -> str:
    """Return a name for what these files hold."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def annotations(text: str) -> set[tuple[int, int]]:
    """Return the places, line and column, that lie in annotations: the code there never runs."""
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


def mutated(site: Site) -> str:
    """Return the file with the change."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    name, _, operator, occurrence = site
    return str(mutate_code((ROOT / name).read_text(encoding="utf-8"), get_operator(operator)(), occurrence))


# ---------------------------------------------------------------------------------------------------------------------
# Which tests reach a line, and which compiled code is made of it


def definitions(name: str) -> list[Any]:
    """Return the functions and classes of a file."""
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
    return [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def first(node: Any) -> int:
    """Return the first line of a definition, its decorators included."""
    return min([int(node.lineno), *(int(each.lineno) for each in node.decorator_list)])


def around(name: str, line: int) -> Any | None:
    """Return the function or class of a file that a line is in, or None."""
    return next((each for each in definitions(name) if first(each) <= line <= each.end_lineno), None)


def names(tree: ast.AST) -> set[str]:
    """Return all names that a piece of code mentions."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return found | {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}


@cache
def mentions() -> dict[str, set[str]]:
    """Return what each function and class of the package mentions, by its name; of two of one name, both."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in sources():
        for node in definitions(str(file.relative_to(ROOT))):
            found[node.name] |= names(node)
    return found


def reached(start: set[str]) -> set[str]:
    """Return the functions and classes of the package that may run where these names do."""
    found: set[str] = set()
    waiting = start & mentions().keys()
    while waiting:
        found |= waiting
        waiting = {each for name in waiting for each in mentions()[name] & mentions().keys()} - found
    return found


def compiled_code(folder: Path) -> Path:
    """Return where a copy of the project keeps compiled code; each file is named after all that it was made from."""
    return folder / "fairlib" / "__pycache__" / "numba"


@cache
def made_of(code: Path) -> set[str]:
    """Return the functions that a file of compiled code is made of, some of them by the text that it was made from."""
    name, function = code.name.split("-")[0].split(".")[:2]
    if not name.startswith("made_"):
        return reached({function})
    tree = ast.parse((code.parent / "made" / f"{name}.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    called = {each.asname or each.name: each.name for node in imports for each in node.names}
    return reached({called.get(each, each) for each in names(tree)})


class Known(NamedTuple):
    """What a run without a mistake shows: which tests reach a line, how long each takes, and what is compiled."""

    at: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]
    compiled: Path

    def is_compiled(self, site: Site) -> bool:
        """Say whether a change may be in compiled code, where no tracer sees which test reaches it."""
        node = around(site[0], site[1][0])
        return node is not None and any(node.name in made_of(code) for code in self.compiled.rglob("*.nbi"))

    def tests(self, site: Site) -> list[str]:
        """Return the tests that reach the line, and then all others of those that use the file; the quick ones first.

        Code that runs once in a process is traced in one test at most: there any test may notice.
        """
        name, (line, _), *_ = site
        lines, node = self.at.get(name, {}), around(name, line)
        statements = [each for each in ast.walk(node) if isinstance(each, ast.stmt)] if node else []
        whole = max((each.lineno for each in statements if each.lineno <= line <= (each.end_lineno or 0)), default=line)
        found = set(lines.get(str(whole), ()))
        if node is not None and (not found or self.is_compiled(site)):
            found |= {test for at in range(first(node), node.end_lineno + 1) for test in lines.get(str(at), ())}
        users = {test for test in self.seconds if test.split("::")[0] in users_of(name)}
        own = f"tests/test_{Path(name).stem}"
        order = sorted(
            found & self.seconds.keys() | users or self.seconds,
            key=lambda test: (test not in found, not test.startswith(own), self.seconds[test], test),
        )
        spent = accumulate(self.seconds[test] for test in order)
        return [test for test, so_far in zip(order, spent, strict=True) if so_far <= SECONDS]


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
    if "helpers" in found:
        found |= uses(ROOT / "tests" / "helpers.py")
    if "zoo" in found and test.parent.name != "zoo":
        for part in (ROOT / "tests" / "zoo").glob("*.py"):
            found |= uses(part)
    return found


@cache
def users_of(file: str) -> set[str]:
    """Return the files of tests that use a file of the package, by what they import."""
    import fairlib

    parts = Path(file).with_suffix("").parts
    module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    package = ".".join(module.split(".")[:2])
    theirs = {module, package} | {
        f"fairlib.{name}" for name in dir(fairlib) if getattr(getattr(fairlib, name), "__module__", "") == module
    }
    own = tuple(
        f"test_{part}" for part in {parts[-1], package.removeprefix("fairlib.")} - {"policies", "theory", "game"}
    )
    tests = (ROOT / "tests").glob("test_*.py")
    return {f"tests/{test.name}" for test in tests if test.stem.startswith(own) or theirs & uses(test)}


# ---------------------------------------------------------------------------------------------------------------------
# The runs


def run(folder: Path, tests: list[str], *options: str, tracer: tuple[str, ...] = ()) -> str:
    """Run tests in a copy of the project, and return what pytest says."""
    env = {**os.environ, "PYTHONPATH": f"{folder}:{ROOT / '_build/mutants/tools'}", "OPENBLAS_NUM_THREADS": "1"}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["PATH"] = str(folder / "nowhere")  # without a browser: the pages are no unit tests
    env.pop("FAIRLIB_REQUIRE_BROWSER", None)
    python = [str(ROOT / ".venv/bin/python"), "-m", *tracer]
    pytest = ["pytest", "-q", "-n0", "-p", "no:cacheprovider", "--tb=line", "-o", f"faulthandler_timeout={SECONDS}"]
    endless = ["-o", "faulthandler_exit_on_timeout=true"]
    command = [*python, *pytest, *endless, *options, *tests]
    process = subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True, check=False)
    return process.stdout + process.stderr + f"\nexit {process.returncode}"


def judged(said: str) -> tuple[str, str]:
    """Return the verdict of a run, and by which test."""
    if "Timeout (" in said:
        return "no end", said[-300:]
    if re.search(r"^exit [05]$", said, re.MULTILINE):  # 5 is that there are none
        return "survived", ""
    lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return "killed", lines[0] if lines else said[-300:]


def watched(folder: Path, record: Path) -> None:
    """Run all without a mistake, and write down what is to be known of it."""
    record.mkdir(parents=True, exist_ok=True)
    verdict, by = judged(run(folder, [FIRST, "fairlib"], "-x"))
    if verdict != "survived":
        sys.exit(f"without any mistake the doctests say: {verdict} {by}")
    settings, data, lines = record / "settings", record / "traced", record / "lines.json"
    text = f"[run]\nsource = fairlib\ndynamic_context = test_function\ndata_file = {data}\n"
    settings.write_text(text, encoding="utf-8")
    report = record / "report.xml"
    tracer = ("coverage", "run", f"--rcfile={settings}", "-m")
    said = run(folder, ["tests"], f"--junitxml={report}", "-o", "junit_family=xunit1", tracer=tracer)
    (record / "said.txt").write_text(said, encoding="utf-8")
    tool = [str(ROOT / ".venv/bin/python"), "-m", "coverage", "json", f"--rcfile={settings}", "--show-contexts"]
    subprocess.run([*tool, "-q", "-o", str(lines)], cwd=folder, check=True)
    shutil.copytree(compiled_code(folder), record / "compiled")
    seconds: dict[str, float] = defaultdict(float)
    failed = set()
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name', '').partition('[')[0]}"
        seconds[name] += float(case.get("time", 0))
        failed |= {name} if case.find("failure") is not None or case.find("error") is not None else set()
    if failed:
        print(f"these fail without any mistake, and are left out: {', '.join(sorted(failed))}")
    at = {
        name: {
            line: [re.sub(r"^tests\.(\w+)\.", r"tests/\1.py::", each) for each in whom if each]
            for line, whom in file["contexts"].items()
        }
        for name, file in json.loads(lines.read_text(encoding="utf-8"))["files"].items()
    }
    left = {test: time for test, time in seconds.items() if test not in failed}
    (record / "known.json").write_text(json.dumps({"at": at, "seconds": left}), encoding="utf-8")


def put_to_tests(site: Site, text: str, folder: Path, known: Known) -> tuple[str, str]:
    """Change a copy of the project, test it, and change it back; return the verdict, and by which test."""
    name = site[0]
    (folder / name).write_text(text, encoding="utf-8")
    try:
        shutil.copytree(known.compiled, compiled_code(folder), dirs_exist_ok=True)
        verdict, by = judged(run(folder, [FIRST, name], "-x"))
        tests = known.tests(site)
        return judged(run(folder, tests, "-x")) if verdict == "survived" and tests else (verdict, by)
    finally:
        shutil.copy2(ROOT / name, folder / name)


def tried(site: Site, folder: Path, known: Known) -> dict[str, Any]:
    """Return what becomes of a change: it is put to tests, unless it is explained."""
    name, (line, column), operator, _ = site
    before, after, began = (ROOT / name).read_text(encoding="utf-8"), mutated(site), time.monotonic()
    changed = [each for each in difflib.unified_diff(before.splitlines(), after.splitlines(), n=0) if each[3:]][3:]
    free = is_explained(name, changed)
    verdict, by = ("equivalent", "") if free else put_to_tests(site, after, folder, known)
    return {
        "file": name,
        "line": line,
        "column": column,
        "operator": operator.removeprefix("core/"),
        "change": changed,
        "verdict": verdict,
        "by": by or known.compiled.parent.name,
        "tests": 0 if free else len(known.tests(site)),
        "seconds": round(time.monotonic() - began),
    }


@cache
def explained() -> set[tuple[str, str, str]]:
    """Return the changes that are shown to change nothing: file, line and what it becomes."""
    with Path(__file__).with_name("equivalent.csv").open(encoding="utf-8", newline="") as file:
        return {(row["file"], row["line"], row["becomes"]) for row in csv.DictReader(file)}


def is_explained(name: str, changed: list[str]) -> bool:
    """Say whether a change of a file is one of those."""
    pair = [line[1:].strip() for line in changed]
    return (name, pair[0], pair[-1]) in explained()


def summary(outcomes: list[dict[str, Any]]) -> str:
    """Count the outcomes by module, and show what survived."""
    lines = []
    parts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in outcomes:
        each["verdict"] = "equivalent" if is_explained(each["file"], each["change"]) else each["verdict"]
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
    place = ROOT / "_build" / "mutants" / hashed(sources())  # a site is a place in these very sources
    record = place / hashed(sorted((ROOT / "tests").rglob("*.py")))
    written = place / f"{asked.seed}.jsonl"
    lines = written.read_text(encoding="utf-8").splitlines() if written.exists() else []
    # What survived is tried again where there are other tests.
    outcomes = [each for each in map(json.loads, lines) if each["verdict"] != "survived" or each["by"] == record.name]
    done = {(each["file"], each["line"], each["column"]) for each in outcomes}
    waiting = [site for site in drawn if (site[0], *site[1]) not in done]
    copies: Queue[Path] = Queue()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(asked.workers) as pool:
        Path(temporary).chmod(0o755)  # one of the tests reads as another user
        for i in range(asked.workers):
            copies.put(Path(temporary) / f"copy-{i}")
            ignored = shutil.ignore_patterns(".git", ".venv", "_build", "__pycache__")
            shutil.copytree(ROOT, Path(temporary) / f"copy-{i}", ignore=ignored)
        if not (record / "known.json").exists():
            print("Running all tests without any mistake, to see what they reach (some 20 minutes)", flush=True)
            watched(Path(temporary) / "copy-0", record)
        known = Known(**json.loads((record / "known.json").read_text(encoding="utf-8")), compiled=record / "compiled")

        def one(site: Site) -> dict[str, Any]:
            folder = copies.get()
            try:
                return tried(site, folder, known)
            finally:
                copies.put(folder)

        for future in as_completed([pool.submit(one, site) for site in waiting]):
            outcome = future.result()
            outcomes.append(outcome)
            if outcome["verdict"] != "equivalent":  # of which there is a list: who strikes a row gets it tried
                with written.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(outcome) + "\n")
            said = f"{outcome['file']}:{outcome['line']} {outcome['verdict']}"
            print(f"{len(outcomes)} of {len(drawn)}: {said}", flush=True)
    print(summary(outcomes))


if __name__ == "__main__":
    main()
