"""The nbval plugin: a chapter that goes wrong must turn the suite red, by name."""

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

import executed
import figure_text
import index_entries
import outcomes
import pytest
from matplotlib.figure import Figure
from notebooks import CHECKED, alike
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
HEADER = "---\njupytext: {text_representation: {extension: .md, format_name: myst}}\n---\n\n# A throw-away chapter\n"


def cell(source: str, *tags: str) -> str:
    head = f":tags: [{', '.join(tags)}]\n\n" if tags else ""
    return f"\n```{{code-cell}} ipython3\n{head}{source}\n```\n"


def write(folder: Path, name: str, *cells: str, stored: list[list[str]] | None = None, pictures: object = None) -> None:
    """Write a chapter, and the references that are stored for it."""
    (folder / "chapters").mkdir(exist_ok=True)
    if pictures is not None:
        (folder / "tests" / "reference" / "pictures").mkdir(parents=True, exist_ok=True)
        (folder / "tests" / "reference" / "pictures" / f"{name}.json").write_text(
            json.dumps(pictures), encoding="utf-8"
        )
    (folder / "chapters" / f"{name}.md").write_text(HEADER + "".join(cells), encoding="utf-8")
    if stored is not None:
        (folder / "tests" / "reference").mkdir(parents=True, exist_ok=True)
        references = [{"cell": "", "output": lines} for lines in stored]
        (folder / "tests" / "reference" / f"{name}.json").write_text(json.dumps(references), encoding="utf-8")


def mark(name: str) -> str:
    """Write code that leaves a name where `marks` finds it; one in braces is that of a variable."""
    return f"with open('../marks', 'a') as file: print(f'{name}', file=file)"


def marks(folder: Path) -> list[str]:
    """Return the marks that were left in a folder since they were last asked for."""
    left = (folder / "marks").read_text(encoding="utf-8").split() if (folder / "marks").exists() else []
    (folder / "marks").unlink(missing_ok=True)
    return left


def run(folder: Path, *options: str, **settings: str) -> str:
    """Run pytest on the chapters of a folder as on ours, and return what it says."""
    path = os.pathsep.join(str(ROOT / part) for part in ("tests", "chapters/extensions"))
    # Without the variables that would make this run a worker of the run it is started from.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")} | {"PYTHONPATH": path}
    env["PYTHONSAFEPATH"] = "1"  # what such a folder has under `fairlib` is no package to be imported
    plugins = [part for name in ("early", "references", "notebooks") for part in ("-p", name)]
    command = [sys.executable, "-m", "pytest", *plugins, f"--rootdir={folder}", "--nbval-cell-timeout=60", *options]
    env |= settings
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300).stdout


@pytest.fixture(scope="module")
def drafts(tmp_path_factory) -> tuple[Path, str]:
    """Chapters that go wrong in each way, and what one run says of them."""
    folder = tmp_path_factory.mktemp("drafts")
    checked = cell("print(40 + 2)", CHECKED)
    alone = "import os\nassert [each for each in os.environ if each.startswith('PYTEST_C')] == []"  # as for a reader
    write(folder, "sound", cell(alone), cell("print(42)", CHECKED), cell("1 / 0", "raises-exception"), stored=[["42"]])
    write(folder, "raising", cell("x = 42"), cell("1 / 0"))
    write(folder, "warning", cell("import sys; print('careful', file=sys.stderr)"))
    write(folder, "harmless", cell("x = 42", "raises-exception"))
    write(folder, "changed", checked, cell("print('one\\ntwo')", CHECKED), stored=[["42"], ["one", "three"]])
    write(folder, "unstored", checked)
    figure = "def draw(n):\n    return Figure(label=f'{n} of {total}')\nexplore(draw, n=Slider('n', [1, 2]))"
    imports = "from matplotlib.figure import Figure\nfrom fairlib.book.explorers import Slider, explore\ntotal = 2"
    drawn = {"draw": {"n=1": ["says: 1 of 2"], "n=2": ["says: 2 of 2"]}}
    write(folder, "reused", cell(imports), cell(figure), cell("total = 3"), pictures=drawn)
    live = """def shows(n, twice: fl.Number):
    twice[0] = 2.0 * n
def draw(n, twice):
    fig = Figure()
    moving(fig.subplots().plot([0, 1], [0, total])[0], y="twice")
    return fig
explore(draw, n=Slider("n", [1, 2]), live=Live(shows, alt="{twice:g}"))"""
    more = "\nimport fairlib as fl\nfrom fairlib.book.live import Live, moving"
    write(folder, "moved", cell(imports + more), cell(live), cell("total = 3"))
    write(folder, "surplus", checked, stored=[["42"], ["43"]])
    return folder, run(folder)


def test_sound_chapter_passes(drafts):
    assert "chapters/sound.md" not in drafts[1].partition("short test summary")[2]
    assert "9 failed, 16 passed, 5 skipped" in drafts[1]


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
            "draws something else at n=1 once all cells have run: a later cell reuses a name",
        ),
        ("moved.md::explorers", "draws something else at n="),
        ("surplus.md::references", "2 references are stored, but 1 cells have the tag"),
    ],
)
def test_bad_chapter_fails_by_name(drafts, name, reason):
    assert re.search(rf"^FAILED chapters/{re.escape(name)} - ", drafts[1], re.MULTILINE)
    assert reason in drafts[1]


def test_changed_output_is_shown_beside_the_stored_one(drafts):
    assert re.search(r"^ one\n-three\n\+two$", drafts[1], re.MULTILINE)


def test_outcomes_are_those_of_the_run_and_expire_with_the_sources(drafts):
    folder = drafts[0]
    known = outcomes.load(folder, outcomes.fingerprint(folder))
    assert known["chapters/raising.md::Cell 1"] == "passed"
    assert known["chapters/raising.md::Cell 2"] == "failed"
    (folder / "chapters" / "another.md").write_text("another text", encoding="utf-8")
    assert outcomes.load(folder, outcomes.fingerprint(folder)) == {}


def test_chapter_is_kept_unless_a_cell_runs_badly_and_is_judged_again(drafts):
    folder, first = drafts
    assert "chapters: 9 executed, 0 unchanged" in first
    kept = {path.name.split(".")[0]: path for path in (folder / "_build" / "executed").iterdir()}
    assert set(kept) == {"sound", "changed", "unstored", "surplus"}
    sound = folder / "chapters" / "sound.md"
    sound.write_text(sound.read_text(encoding="utf-8").replace("raises-exception", ""), encoding="utf-8")
    again = run(folder, *(f"chapters/{name}.md" for name in kept))
    assert "chapters: 0 executed, 4 unchanged" in again
    failed = [
        re.findall(r"^FAILED chapters/((?:changed|unstored|surplus)\.md.*)", said, re.MULTILINE)
        for said in (first, again)
    ]
    assert len(failed[0]) == 3
    assert sorted(failed[0]) == sorted(failed[1])
    assert "FAILED chapters/sound.md::Cell 3 - " in again
    assert "Cell execution caused an exception" in again
    assert "4 failed, 7 passed, 1 skipped" in again


def test_refresh_stores_the_outputs_and_shows_what_changed(tmp_path):
    write(tmp_path, "draft", cell("print(42)", CHECKED), cell("'text'", CHECKED), stored=[["41"]])
    write(tmp_path, "broken", cell("print(42)", CHECKED), cell("print(1 / 0)", CHECKED), stored=[["41"], ["42"]])
    broken = tmp_path / "tests" / "reference" / "broken.json"
    before = broken.read_text(encoding="utf-8")
    said = run(tmp_path, "--refresh-references", "-n2", "--dist=loadfile")
    assert '+   "42"' in said
    assert "tests/reference/broken.json: kept as it was" in said
    assert broken.read_text(encoding="utf-8") == before
    assert json.loads((tmp_path / "tests" / "reference" / "draft.json").read_text(encoding="utf-8")) == [
        {"cell": "print(42)", "output": ["42"]},
        {"cell": "'text'", "output": ["'text'"]},
    ]


BARS = """---
mystnb:
  figure: {name: fig-bars}
  image: {alt: Two bars of 3 and 4.}
---
import matplotlib.pyplot as plt
plt.figure(layout="constrained")
plt.bar([1, 2], [3, 4], label="heights")
plt.show()"""
GROWTH = """from matplotlib.figure import Figure
from fairlib.book import Slider, explore
def growth(n):
    fig = Figure(label=f"It grows to {n * 2:g}.")
    fig.subplots().plot(range(11), [n / 5 * x for x in range(11)], label="growth")
    return fig
explore(growth, n=Slider("n", [1, 2, 3, 4]))"""
STORED = {
    "fig-bars": {
        "": [
            "says: Two bars of 3 and 4.",
            "axes '': x '', 0.51, 2.49; y '', 0, 4.2",
            "  BarContainer 'heights': left 0.6, 1.6; bottom 0, 0; right 1.4, 2.4; top 3, 4",
        ]
    },
    "growth": {
        f"n={n}": [
            f"says: It grows to {2 * n}.",
            f"axes '': x '', -0.5, 10.5; y '', {-0.1 * n:g}, {2.1 * n:g}",
            "  Line2D 'growth': x 11 from 0 to 10, between 0 and 10, mean 2.5 then 8; "
            f"y 11 from 0 to {2 * n}, between 0 and {2 * n}, mean {0.5 * n:g} then {1.6 * n:g}",
        ]
        for n in (2, 1, 4)  # the start, which is the middle as well, and both ends
    },
}


@pytest.fixture(scope="module")
def drawings(tmp_path_factory) -> tuple[Path, str]:
    """Chapters whose pictures are stored, some of them drawn or described with another scale, and what is said."""
    folder = tmp_path_factory.mktemp("drawings")
    for name, old, new in [
        ("same", "", ""),
        ("last_digit", "[3, 4]", "[3, 4.000008]"),
        ("bars", "[3, 4]", "[1.05 * 3, 1.05 * 4]"),
        ("alt", "3 and 4.", "3.15 and 4.2."),
        ("line", "n / 5", "1.05 * n / 5"),
        ("words", "n * 2", "1.05 * n * 2"),
        ("stops", "[1, 2, 3, 4]", "[1, 2, 3, 5]"),
    ]:
        write(folder, name, *(cell(source.replace(old, new)) for source in (BARS, GROWTH)), pictures=STORED)
    write(
        folder, "twice", cell("import matplotlib.pyplot as plt\nfor _ in 1, 2:\n    plt.plot([1, 2])\n    plt.show()")
    )
    write(folder, "unstored", cell(BARS))
    write(folder, "undrawn", cell(BARS), pictures=STORED)
    return folder, run(folder)


def test_pictures_that_are_as_stored_pass(drawings):
    for name in ("same", "last_digit"):
        assert f"chapters/{name}.md" not in drawings[1].partition("short test summary")[2]
    assert "8 failed" in drawings[1]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "bars.md::Cell 1",
            r"The picture fig-bars differs.*^-  BarContainer 'h.* 3, 4$.*^\+  BarContainer .* 3.15, 4.2$",
        ),
        ("alt.md::Cell 1", r"The picture fig-bars differs.*^-says: Two bars of 3 and 4.\n\+says: .* 3.15 and 4.2.$"),
        (
            "line.md::Cell 2",
            r"The picture growth differs.*^--- growth n=4, stored.*^-  Line2D .* to 8,.*^\+  .* to 8.4,",
        ),
        ("words.md::Cell 2", r"The picture growth differs.*^-says: It grows to 8.\n\+says: It grows to 8.4.$"),
        ("stops.md::Cell 2", r"The picture growth differs.*^--- growth n=4, stored.*^-says.*^--- growth n=5, stored"),
        ("twice.md::Cell 1", "Two pictures of the chapter are called Cell 1"),
        ("unstored.md::Cell 1", "The picture fig-bars is to be checked, but no reference is stored"),
        ("undrawn.md::pictures", r"References of pictures are stored that no cell draws: \['growth'\]"),
    ],
)
def test_another_picture_fails_by_name(drawings, name, reason):
    assert re.search(rf"^FAILED chapters/{re.escape(name)} - ", drawings[1], re.MULTILINE)
    chapter, _, item = name.partition("::")
    said = re.search(rf"^_+ chapters/{chapter}::{item} _+$(.*?)^(?:_+|=+) ", drawings[1], re.MULTILINE | re.DOTALL)
    assert said
    assert re.search(reason, said[1], re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("scale", "said"), [("linear", "x 0, 1; y 0, 0"), ("log", "x 0, 1; y 0, 1e-12")])
def test_what_nobody_sees_beside_its_axis_is_nothing(scale, said):
    fig = Figure()
    ax = fig.subplots()
    ax.set(ylim=(1e-15, 5), yscale=scale)
    ax.plot([0, 1], [0, 1e-12])
    assert figure_text.drawn(fig)[-1] == f"  Line2D: {said}"


def test_a_picture_is_compared_and_described_anew_where_its_chapter_stood(drawings):
    folder, first = drawings
    assert "chapters: 10 executed, 0 unchanged" in first
    same = folder / "chapters" / "same.md"
    same.write_text(same.read_text(encoding="utf-8").replace("3 and 4.", "3 and 5."), encoding="utf-8")
    again = run(folder, "chapters/same.md", "chapters/line.md", "chapters/last_digit.md")
    assert "chapters: 0 executed, 3 unchanged" in again
    assert re.findall("^FAILED chapters/(.*) - ", again, re.MULTILINE) == ["same.md::Cell 1", "line.md::Cell 2"]


def test_refresh_stores_pictures_and_leaves_those_that_are_alike(tmp_path):
    old = {"fig-bars": STORED["fig-bars"], "gone": {"": ["says: nothing"]}}
    write(tmp_path, "draft", cell(BARS.replace("[3, 4]", "[3, 4.000008]")), cell(GROWTH), pictures=old)
    said = run(tmp_path, "--refresh-references")
    assert '+   "says: It grows to 8."' in said
    fresh = json.loads((tmp_path / "tests" / "reference" / "pictures" / "draft.json").read_text(encoding="utf-8"))
    assert fresh == STORED
    assert "5 passed" in run(tmp_path)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("x 0.123456, 3", "x 0.123457, 3", True),
        ("x 1.23457e+06", "x 1.23456e+06", True),
        ("x 0.123456, 3", "x 0.123459, 3", False),
        ("x 123.456", "x 129.629", False),
        ("says: 0.10", "says: 0.1", False),
        ("x 1, 2", "x 1, 2, 3", False),
        ("x 1, 2", "y 1, 2", False),
    ],
)
def test_only_the_last_of_six_digits_may_differ(one, other, same):
    assert alike(one, other) is same


def test_only_what_has_changed_is_executed(tmp_path):
    package = tmp_path / "fairlib" / "rules.py"
    package.parent.mkdir()
    edit = f"with open({str(package)!r}, 'w') as file: print('edited', file=file)"
    write(tmp_path, "a_hasty", cell(f"{mark('a_hasty')}\n{edit}"))  # runs first, while its package is edited
    write(tmp_path, "code", cell(mark("code")))
    write(tmp_path, "damaged", cell(mark("damaged")))
    write(tmp_path, "prose", cell(mark("prose")))
    write(tmp_path, "setting", cell(f"import os\nruns = os.environ.get('DRAFT_RUNS')\n{mark('setting')}"))
    assert "5 executed, 0 unchanged" in run(tmp_path)
    assert marks(tmp_path) == ["a_hasty", "code", "damaged", "prose", "setting"]

    write(tmp_path, "code", cell(mark("code") + "  # another"))
    write(tmp_path, "prose", "More words.\n", cell(mark("prose"), "hide-input"))
    (damaged,) = (tmp_path / "_build" / "executed").glob("damaged.*")
    damaged.write_bytes(damaged.read_bytes().replace(b"python", b"Python"))
    assert "4 executed, 1 unchanged" in run(tmp_path, DRAFT_RUNS="2")
    assert marks(tmp_path) == ["a_hasty", "code", "damaged", "setting"]

    package.write_text("def edited():\n    return 'again'", encoding="utf-8")
    assert "1 executed, 0 unchanged" in run(tmp_path, "chapters/prose.md")
    assert marks(tmp_path) == ["prose"]
    package.write_text('def edited():  # once\n    """Said."""\n    return "again"', encoding="utf-8")
    assert "0 executed, 1 unchanged" in run(tmp_path, "chapters/prose.md")
    write(tmp_path, "prose", cell(f"# shows edited\n{mark('prose')}"))
    assert "1 executed, 0 unchanged" in run(tmp_path, "chapters/prose.md")
    package.write_text('def edited():\n    """Said otherwise."""\n    return "again"', encoding="utf-8")
    assert "1 executed, 0 unchanged" in run(tmp_path, "chapters/prose.md")  # a chapter may print the first line


def test_a_chapter_stands_until_a_file_changes_that_it_has_loaded(tmp_path):
    """Itself, or by another file's import, or late by a function; what is not loaded changes nothing."""
    package = tmp_path / "fairlib"
    package.mkdir()
    files = {"outer": "import inner\ndef late():\n    import within", "inner": "", "within": "", "apart": ""}
    for name, text in files.items():
        (package / f"{name}.py").write_text(text, encoding="utf-8")
    (package / "page.html").write_text("no module", encoding="utf-8")
    find = f"import sys\nsys.path.insert(0, {str(package)!r})\n"
    code = {"early": f"{find}import outer", "late": f"{find}import outer\nouter.late()", "never": "x = 42"}
    for name, text in code.items():
        write(tmp_path, name, cell(text))
    assert "3 executed, 0 unchanged" in run(tmp_path)

    def stand() -> list[str]:
        """Name the chapters that would not be executed now."""
        pages = {name: tmp_path / "chapters" / f"{name}.md" for name in code}
        read = {name: executed.read(page, page.read_text(encoding="utf-8")) for name, page in pages.items()}
        return [name for name, notebook in read.items() if notebook and executed.find(tmp_path, name, notebook)]

    assert stand() == ["early", "late", "never"]
    # A page that has loaded nothing of the package may depend on it in an unseen way: on all of it.
    still = {"outer.py": [], "inner.py": [], "within.py": ["early"], "apart.py": ["early", "late"], "page.html": []}
    for name, left in still.items():
        text = (package / name).read_text(encoding="utf-8")
        (package / name).write_text(f"{text}\nchanged = 1", encoding="utf-8")
        assert stand() == left, name
        (package / name).rename(package / f"other_{name}")
        assert stand() == left, name
        (package / f"other_{name}").unlink()
        (package / name).write_text(text, encoding="utf-8")
    assert stand() == ["early", "late", "never"]


def test_book_shows_what_was_executed_and_nothing_else(tmp_path):
    (tmp_path / "conf.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(ROOT / 'chapters' / 'extensions')!r})\n"
        "extensions, nb_execution_mode = ['executed_parser'], 'off'\n"
        "root_doc, exclude_patterns = 'chapters/draft', ['.*', '_build']\n",
        encoding="utf-8",
    )
    token = f"import uuid\ntoken = uuid.uuid4().hex\n{mark('{token}')}\nprint(token)"
    write(tmp_path, "draft", cell(token, CHECKED), cell("1 / 0", "raises-exception"), stored=[["something else"]])

    def build() -> str:
        """Build the page, and return what it shows, or what is said if it can't be built."""
        pages = tmp_path / "_build" / "html"
        command = [sys.executable, "-P", "-m", "sphinx", "-q", "-W", "-b", "html", str(tmp_path), str(pages)]
        said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return said.stderr or re.sub("<[^>]*>", "", (pages / "chapters" / "draft.html").read_text(encoding="utf-8"))

    def execute_and_build() -> None:
        """See that the page shows what one execution put out, whatever its reference says."""
        assert "2 passed" in run(tmp_path, "--execute-only")
        page = build()
        (token,) = marks(tmp_path)
        assert re.findall(r"\b[0-9a-f]{32}\b", page) == [token]
        assert "In[2], line 1" in page  # cells are counted, as a reader's kernel counts them

    execute_and_build()
    assert not (tmp_path / "_build" / "outcomes.json").exists()  # nothing was compared
    (tmp_path / "fairlib").mkdir()
    (tmp_path / "fairlib" / "rules.py").write_text("another = 'package'", encoding="utf-8")  # the page stays as it is
    assert "chapters/draft.md has changed, or the package has. Run `pytest chapters/draft.md` first" in build()
    execute_and_build()


def test_every_reference_belongs_to_a_chapter():
    chapters = {path.stem for path in (ROOT / "chapters").glob("*.md")}
    # `plays` is what every policy plays, see test_plays.py
    assert {path.stem for path in (ROOT / "tests" / "reference").rglob("*.json")} <= chapters | {"arguments", "plays"}


def test_plays_are_counted_by_one_symbol():
    """A chapter writes N_a(t) for plays, unless the page on notation says that it still has its paper's letters."""
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "chapters").glob("*.md")}
    (row,) = re.findall(r"^\| plays of arm .*", texts["notation"], re.MULTILINE)
    others = {"notation", "errata", *re.findall(r"{ref}`([\w-]+)`", row)}  # the first two quote the papers
    ours = {"bandits", "shares", "exposure", "optimism", "one-game", "context", "limits", "toolbox"}
    assert not ours & others
    assert {stem for stem, text in texts.items() if re.search(r"N_\{t,\s*a\}", text)} <= others


def test_items_are_whole_and_name_tests_that_exist():
    with (ROOT / "chapters" / "items.csv").open(newline="", encoding="utf-8") as file:
        items = list(csv.DictReader(file))
    assert len({item["id"] for item in items}) == len(items)
    assert all(item["number"] and item["kind"] for item in items)
    assert {item["paper"] for item in items} == set(index_entries.papers(ROOT))
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
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", lock, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in itertools.chain(project["dependencies"], *project["optional-dependencies"].values()):
        wanted = Requirement(line)
        assert wanted.specifier.contains(pinned[wanted.name]), f"{line}: run `make lock`"
    assert "--index" not in lock
    assert "://" not in lock


def test_environment_is_the_lock():
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    for name in ("numpy", "numba", "sphinx", "jupyter-book"):
        assert f"\n{name}=={metadata.version(name)} " in lock


def test_code_in_chapters_is_formatted_as_the_package_is(tmp_path):
    for path in sorted((ROOT / "chapters").glob("*.md")):
        notebook = executed.read(path, path.read_text(encoding="utf-8"))
        for i, each in enumerate(executed.code_cells(notebook) if notebook else []):
            (tmp_path / f"{path.stem}-{i}.py").write_text(each.source.rstrip("\n") + "\n", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--diff",
        "--config",
        str(ROOT / "pyproject.toml"),
        str(tmp_path),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[:2000] + run.stderr[:500]
