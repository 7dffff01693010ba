"""The tests that test: a chapter that goes wrong must turn the suite red, by name."""

import csv
import itertools
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import outcomes
import pytest
from notebooks import CHECKED
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
HEADER = "---\nkernelspec: {name: python3, display_name: Python 3, language: python}\n---\n\n# A throw-away chapter\n"


def cell(source: str, *tags: str) -> str:
    head = f":tags: [{', '.join(tags)}]\n\n" if tags else ""
    return f"\n```{{code-cell}} ipython3\n{head}{source}\n```\n"


def write(folder: Path, name: str, *cells: str, stored: list[list[str]] | None = None) -> None:
    """Write a chapter, and the references that are stored for it."""
    (folder / "chapters").mkdir(exist_ok=True)
    (folder / "chapters" / f"{name}.md").write_text(HEADER + "".join(cells))
    if stored is not None:
        (folder / "tests" / "reference").mkdir(parents=True, exist_ok=True)
        references = [{"cell": "", "output": lines} for lines in stored]
        (folder / "tests" / "reference" / f"{name}.json").write_text(json.dumps(references))


def run(folder: Path, *options: str) -> str:
    """Run pytest on the chapters of a folder as on ours, and return what it says."""
    path = os.pathsep.join(str(ROOT / part) for part in ("tests", "chapters/extensions"))
    # Without the variables that would make this run a worker of the run it is started from.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {"PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", "-p", "notebooks", "--nbval-current-env", f"--rootdir={folder}"]
    return subprocess.run([*command, *options], cwd=folder, env=env, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def drafts(tmp_path_factory) -> tuple[Path, str]:
    """Chapters that go wrong in each way, and what one run says of them."""
    folder = tmp_path_factory.mktemp("drafts")
    checked = cell("print(40 + 2)", CHECKED)
    write(
        folder, "sound", cell("x = 42"), cell("print(x)", CHECKED), cell("1 / 0", "raises-exception"), stored=[["42"]]
    )
    write(folder, "raising", cell("x = 42"), cell("1 / 0"))
    write(folder, "warning", cell("import sys; print('careful', file=sys.stderr)"))
    write(folder, "harmless", cell("x = 42", "raises-exception"))
    write(folder, "changed", checked, cell("print('one\\ntwo')", CHECKED), stored=[["42"], ["one", "three"]])
    write(folder, "unstored", checked)
    figure = "def draw(n):\n    return Figure(label=f'{n} of {total}')\nexplore(draw, n=Slider('n', [1, 2]))"
    imports = "from matplotlib.figure import Figure\nfrom fairlib.explorers import Slider, explore\ntotal = 2"
    write(folder, "reused", cell(imports), cell(figure), cell("total = 3"))
    write(folder, "surplus", checked, stored=[["42"], ["43"]])
    return folder, run(folder)


def test_sound_chapter_passes(drafts):
    assert "chapters/sound.md" not in drafts[1].partition("short test summary")[2]
    assert "7 failed, 9 passed" in drafts[1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("raising.md::Cell 2", "Cell execution caused an exception"),
        ("warning.md::Cell 1", "The cell wrote to stderr"),
        ("harmless.md::Cell 1", "The cell is tagged raises-exception and raised nothing"),
        ("changed.md::Cell 2", "The cell's output differs from its reference"),
        ("unstored.md::Cell 1", "The cell's output is to be checked, but no reference is stored"),
        (
            "reused.md::explorers",
            "draws something else at {'n': 1} once all cells have run: a later cell reuses a name",
        ),
        ("surplus.md::references", "2 references are stored, but 1 cells have the tag"),
    ],
)
def test_bad_chapter_fails_by_name(drafts, name, reason):
    assert re.search(rf"^FAILED chapters/{re.escape(name)} - ", drafts[1], re.MULTILINE)
    assert reason in drafts[1]


def test_changed_output_is_shown_beside_the_stored_one(drafts):
    assert re.search(r"^ one\n-three\n\+two$", drafts[1], re.MULTILINE)


def test_outcomes_are_those_of_the_run_and_expire_with_the_sources(drafts):
    folder, _ = drafts
    known = outcomes.load(folder, outcomes.fingerprint(folder))
    assert known["chapters/raising.md::Cell 1"] == "passed"
    assert known["chapters/raising.md::Cell 2"] == "failed"
    (folder / "chapters" / "sound.md").write_text("another text")
    assert outcomes.load(folder, outcomes.fingerprint(folder)) == {}


def test_refresh_stores_the_outputs_and_shows_what_changed(tmp_path):
    write(tmp_path, "draft", cell("print(42)", CHECKED), cell("'text'", CHECKED), stored=[["41"]])
    write(tmp_path, "broken", cell("print(42)", CHECKED), cell("print(1 / 0)", CHECKED), stored=[["41"], ["42"]])
    broken = tmp_path / "tests" / "reference" / "broken.json"
    before = broken.read_text()
    said = run(tmp_path, "--refresh-references", "-n2", "--dist=loadfile")
    assert '+   "42"' in said
    assert "tests/reference/broken.json: kept as it was" in said
    assert broken.read_text() == before
    assert json.loads((tmp_path / "tests" / "reference" / "draft.json").read_text()) == [
        {"cell": "print(42)", "output": ["42"]},
        {"cell": "'text'", "output": ["'text'"]},
    ]


def test_every_reference_belongs_to_a_chapter():
    chapters = {path.stem for path in (ROOT / "chapters").glob("*.md")}
    # `plays` is what every policy plays, see test_plays.py
    assert {path.stem for path in (ROOT / "tests" / "reference").glob("*.json")} <= chapters | {"plays"}


def test_items_are_whole_and_name_tests_that_exist():
    with (ROOT / "chapters" / "items.csv").open(newline="", encoding="utf-8") as file:
        items = list(csv.DictReader(file))
    assert len({item["id"] for item in items}) == len(items)
    assert all(item["number"] and item["kind"] for item in items)
    page = (ROOT / "chapters" / "results.md").read_text(encoding="utf-8")
    assert {item["paper"] for item in items} == set(re.findall(r"^```{results} (\S+)$", page, re.MULTILINE))
    named = [test.strip() for item in items for test in item["test"].split(";") if test.strip()]
    if not named:
        return  # given no file, pytest would list every test there is
    listing = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-n0", *{name.split("::")[0] for name in named}],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    collected = {line.split("[")[0] for line in listing.stdout.splitlines()} | set(listing.stdout.splitlines())
    assert [name for name in named if name not in collected] == []


def test_lock_holds_what_the_project_asks_for_and_no_address():
    lock = (ROOT / "requirements.txt").read_text()
    pinned = dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", lock, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for line in itertools.chain(project["dependencies"], *project["optional-dependencies"].values()):
        wanted = Requirement(line)
        assert wanted.specifier.contains(pinned[wanted.name]), f"{line}: run `make lock`"
    assert "--index" not in lock
    assert "://" not in lock


def test_environment_is_the_lock():
    lock = (ROOT / "requirements.txt").read_text()
    for name in ("numpy", "numba", "sphinx", "jupyter-book"):
        assert f"\n{name}=={metadata.version(name)} " in lock
