"""A pytest plugin: every chapter is a test, and every run leaves its outcomes to the page of results.

A chapter is a Markdown file under ``chapters/`` with a kernel in its header. jupytext reads it, nbval runs its cells
in a fresh kernel, and a cell fails when it raises, writes to stderr, or is said to raise and doesn't. A cell with the
tag ``nbval-check-output`` must print what is stored in ``tests/reference/<chapter>.json``, where the outputs of the
tagged cells stand in order. ``pytest --refresh-references`` stores them anew and shows what changed.
"""

import difflib
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import outcomes
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError, find_metadata_tags

CHECKED = "nbval-check-output"

# In a live notebook a slider draws when all cells have run. Then its figure must still look at what it looked at.
LAST = """
import gc
from fairlib.explorers import Explorer, _draw
for explorer in [thing for thing in gc.get_objects() if type(thing) is Explorer]:  # isinstance stops at a dead proxy
    for setting in (explorer.settings[0], explorer.settings[-1]):
        same = _draw(explorer._figure, setting) == explorer.frame(**setting)
        assert same, f"{explorer} draws something else at {setting} once all cells have run: a later cell reuses a name"
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites the references."""
    parser.addoption("--refresh-references", action="store_true", help="store the checked outputs of chapters anew")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "Chapter | None":
    """Collect the Markdown files under chapters/."""
    if file_path.suffix == ".md" and parent.config.rootpath / "chapters" in file_path.parents:
        return Chapter.from_parent(parent, path=file_path)
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Record outcomes and references where the run is steered, not in each of its workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record(config))


def reference_file(root: Path, chapter: str) -> Path:
    """Say where the stored outputs of a chapter are."""
    return root / "tests" / "reference" / f"{Path(chapter).stem}.json"


def read_references(file: Path) -> list[dict[str, Any]]:
    """Return the stored outputs of a chapter: for each tagged cell its first line and the lines that it printed."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


def printed(outputs: list[nbformat.NotebookNode]) -> list[str]:
    """Return the text of a cell's outputs, line by line; a picture or a page has its plain text."""
    lines: list[str] = []
    for output in outputs:
        if output.output_type == "stream":
            lines += output.text.splitlines()
        elif output.output_type == "error":
            lines.append(f"{output.ename}: {output.evalue}")
        else:
            lines += output.data.get("text/plain", "").splitlines()
    return lines


class Chapter(IPyNbFile):
    """The code cells of a chapter, counted from 1; a page without a kernel has none."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each cell, and one for the references as a whole."""
        self.nb = jupytext.read(self.path)
        if "kernelspec" not in self.nb.metadata:
            return
        self.references = read_references(reference_file(self.config.rootpath, self.name))
        cells = [cell for cell in self.nb.cells if cell.cell_type == "code"]
        self.checked = sum(CHECKED in cell.metadata.get("tags", []) for cell in cells)
        position = 0
        for number, cell in enumerate(cells, start=1):
            item = Cell.from_parent(
                self,
                name=cell.metadata.get("name", f"Cell {number}"),
                cell_num=number,
                cell=cell,
                options=defaultdict(bool, find_metadata_tags(cell.metadata)),
            )
            if CHECKED in cell.metadata.get("tags", []):
                item.position = position
                position += 1
            yield item
        if any("explore(" in cell.source for cell in cells):
            last = nbformat.v4.new_code_cell(LAST)
            yield Cell.from_parent(
                self, name="explorers", cell_num=len(cells) + 1, cell=last, options=defaultdict(bool)
            )
        if len(self.references) > self.checked and not self.config.getoption("--refresh-references"):
            yield Surplus.from_parent(self, name="references")


class Cell(IPyNbCell):
    """One code cell of a chapter."""

    position: int | None = None  # among the cells whose output is checked

    def runtest(self) -> None:
        """Run the cell in the chapter's kernel and judge what came out."""
        super().runtest()
        lines = printed(self.test_outputs)
        errors = printed([out for out in self.test_outputs if out.output_type == "stream" and out.name == "stderr"])
        if errors:
            self.raise_cell_error("The cell wrote to stderr", "\n".join(errors))
        if self.options["check_exception"] and all(out.output_type != "error" for out in self.test_outputs):
            self.raise_cell_error("The cell is tagged raises-exception and raised nothing")
        if self.position is None:
            return
        reference = {"cell": self.cell.source.splitlines()[0], "output": lines}
        if self.config.getoption("--refresh-references"):
            self.user_properties.append(
                ("reference", [self.parent.name, self.position, self.parent.checked, reference])
            )
        elif self.position >= len(self.parent.references):
            self.raise_cell_error("The cell's output is to be checked, but no reference is stored", "\n".join(lines))
        elif lines != (stored := self.parent.references[self.position]["output"]):
            changes = difflib.unified_diff(stored, lines, "stored reference", "this run", lineterm="")
            self.raise_cell_error("The cell's output differs from its reference", "\n".join(changes))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:
        """Say first what is wrong, then where."""
        error = excinfo.value
        if not isinstance(error, NbCellError):
            return str(excinfo.getrepr())
        return f"{error}\n\nThe cell:\n{error.source}\n\n{(error.inner_traceback or '').strip()}"

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the cell in the report's headings."""
        return self.path, 0, f"{self.path.relative_to(self.config.rootpath)}::{self.name}"


class Surplus(pytest.Item):
    """Fails because references are stored that no cell claims."""

    parent: Chapter

    def runtest(self) -> None:
        """Say how many are too many."""
        stored, checked = len(self.parent.references), self.parent.checked
        pytest.fail(f"{stored} references are stored, but {checked} cells have the tag {CHECKED}", pytrace=False)


class Record:
    """Gathers the outcome of each test, and fresh references when they are asked for."""

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        self.sources = outcomes.fingerprint(self.root)
        self.outcomes: dict[str, str] = {}
        self.fresh: dict[str, dict[int, Any]] = defaultdict(dict)
        self.expected: dict[str, int] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test came to: the outcome of its call, or of a set-up or tear-down that didn't pass."""
        if (report.when == "call" or not report.passed) and self.outcomes.get(report.nodeid) != "failed":
            self.outcomes[report.nodeid] = report.outcome
        if report.when == "call" and report.passed:
            for key, value in report.user_properties:
                if key == "reference":
                    self.keep(*value)  # type: ignore[misc]

    def keep(self, chapter: str, position: int, expected: int, reference: dict[str, Any]) -> None:
        """Hold a fresh reference until the run is over."""
        self.expected[chapter] = expected
        self.fresh[chapter][position] = reference

    def pytest_sessionfinish(self) -> None:
        """Leave the outcomes to the page of results."""
        if self.outcomes:
            outcomes.save(self.root, self.sources, self.outcomes)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Store the fresh references, and show how they differ from the old ones."""
        for chapter, cells in sorted(self.fresh.items()):
            file = reference_file(self.root, chapter)
            name = str(file.relative_to(self.root))
            if len(cells) < self.expected[chapter]:
                terminalreporter.write_line(f"{name}: kept as it was, for a checked cell did not pass or did not run")
                continue
            old = file.read_text(encoding="utf-8") if file.exists() else ""
            new = json.dumps([cells[position] for position in sorted(cells)], indent=1, ensure_ascii=False) + "\n"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(new, encoding="utf-8")
            changes = list(difflib.unified_diff(old.splitlines(), new.splitlines(), name, name, lineterm=""))
            for line in changes or [f"{name}: unchanged"]:
                terminalreporter.write_line(line)
