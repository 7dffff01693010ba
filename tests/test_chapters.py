"""The chapters: each is run by nbval and by the book, and what they name is there."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import jupytext
import pytest
import results
from nbformat import NotebookNode
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "chapters").glob("*.md"))
HEADER = "---\njupytext: {text_representation: {extension: .md, format_name: myst}}\n"
HEADER += "kernelspec: {display_name: Python 3, language: python, name: python3}\n---\n\n# A throw-away chapter\n"


@cache
def code_cells(path: Path) -> list[NotebookNode]:
    """Return the code cells of a page."""
    cells = jupytext.reads(path.read_text(encoding="utf-8"), "md:myst").cells
    return [cell for cell in cells if cell.cell_type == "code"]


def cell(source: str, *options: str) -> str:
    return "\n```{code-cell} ipython3\n" + "".join(f"{option}\n" for option in options) + source + "\n```\n"


def write(folder: Path, name: str, *cells: str) -> None:
    (folder / "chapters").mkdir(exist_ok=True)
    (folder / "chapters" / f"{name}.md").write_text(HEADER + "".join(cells), encoding="utf-8")


def run(folder: Path, *command: str) -> tuple[str, int]:
    """Run a module in a folder of a reader's, and return what it says, and its exit code."""
    # Without the variables that would make this run a worker of the run it is started from.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    made = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300
    )
    return made.stdout + made.stderr, made.returncode


def test_a_cell_that_raises_fails_by_its_chapter(tmp_path):
    shutil.copy(ROOT / "chapters" / "conftest.py", tmp_path)
    (tmp_path / "record.json").write_text("42", encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    write(tmp_path, "sound", cell("x = open('../record.json').read()"), cell("1 / 0", ":tags: [raises-exception]"))
    write(tmp_path, "broken", cell("x = 42"), cell("assert x == 43"))
    (tmp_path / "chapters" / "page.md").write_text("# No notebook\n", encoding="utf-8")
    said, _ = run(tmp_path, "pytest", "-q", "--nbval-lax", "--nbval-current-env", "chapters")
    assert "1 failed, 3 passed" in said, said
    assert re.search(r"^FAILED chapters/broken\.md::Cell 1", said, re.MULTILINE)


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    """Make a book of one chapter, whose cell prints another number in each run."""
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'chapters' / 'extensions')!r})\n"
        "extensions, nb_execution_mode = ['myst_nb', 'execution'], 'cache'\n"
        "root_doc, exclude_patterns = 'chapters/draft', ['.*', '_build']\n",
        encoding="utf-8",
    )
    show = "from uuid import uuid4\nfrom IPython.display import HTML\nHTML(f'<p>{uuid4().hex}</p>')"
    write(tmp_path, "draft", cell(show))
    return tmp_path


def build(folder: Path) -> str:
    """Build the book, and return its page, or what is said if it can't be built."""
    said, failed = run(folder, "sphinx", "-q", "-W", "-b", "html", ".", "_build/html")
    return said if failed else (folder / "_build" / "html" / "chapters" / "draft.html").read_text(encoding="utf-8")


def token(page: str) -> str:
    """Return what the cell of the draft printed."""
    (found,) = re.findall(r"<p>([0-9a-f]{32})</p>", page)
    return str(found)


def test_the_book_executes_again_what_has_changed_and_nothing_else(draft):
    first = build(draft)
    chapter = draft / "chapters" / "draft.md"
    chapter.write_text(chapter.read_text(encoding="utf-8") + "\nAnother sentence.\n", encoding="utf-8")
    again = build(draft)
    assert token(first) == token(again)
    assert "Another sentence." in again
    (draft / "benchmarks").mkdir()
    (draft / "benchmarks" / "record.json").write_text("42", encoding="utf-8")
    assert token(build(draft)) != token(first)
    assert len([*(draft / "_build" / "outputs").iterdir()]) == 1, "the outputs of another record are left"


def test_a_book_with_a_cell_that_raises_is_not_built(draft):
    write(draft, "draft", cell("assert 42 == 43"))
    said = build(draft)
    assert "draft.md" in said
    assert "AssertionError" in said


def exists(test: str) -> bool:
    """Return whether there is a test of this name: a function of a file, or a cell of a chapter that asserts."""
    file, _, name = test.partition("[")[0].partition("::")
    if not (ROOT / file).is_file():
        return False
    if not file.endswith(".md"):
        return f"\ndef {name}(" in (ROOT / file).read_text(encoding="utf-8")
    named = [cell.source for cell in code_cells(ROOT / file) if cell.metadata.get("name") == name]
    return len(named) == 1 and "assert" in named[0]


def test_items_are_whole_and_name_tests_that_there_are():
    items = results.read_items(ROOT)
    assert len({item["id"] for item in items}) == len(items)
    assert all(item["paper"] and item["kind"] for item in items)
    assert all(bool(item["number"]) == (item["kind"] != "statement") for item in items)
    named = {test for row in items for test in results.tests_of(row)}
    assert [test for test in sorted(named) if not exists(test)] == []


def test_lock_holds_what_the_project_asks_for_and_no_address():
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z0-9._-]+)==([^\s;]+)", lock, re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in itertools.chain(project["dependencies"], *project["optional-dependencies"].values()):
        wanted = Requirement(line)
        assert wanted.specifier.contains(pinned[wanted.name]), f"{line}: run `make lock`"
    assert "--index" not in lock
    assert "://" not in lock
