"""A pytest plugin: every chapter is a test, and every run leaves its outcomes to the page of results.

A chapter is a Markdown file under ``chapters/`` whose header says that it is a notebook. nbval runs its cells in a
fresh kernel. A cell fails when it raises, writes to stderr, or is said to raise and doesn't. A chapter of which no
cell does is kept, for the book and for the next run: that takes the outputs of a chapter that has not changed from
there, and judges them as if it had run it.

A cell with the tag ``nbval-check-output`` must print what is stored in ``tests/reference/<chapter>.json``, which has
the outputs of the tagged cells in order. ``pytest --refresh-references`` stores them anew and shows what changed
(``references.py``). ``pytest chapters --execute-only``, which is for the book, compares none.

What a picture says and draws must be what is stored in ``tests/reference/pictures/<chapter>.json``, by the name of the
figure, or of the function that an explorer draws with, and by the setting of the sliders. ``figure_text.py`` tells it.
Where seconds are drawn, which are never the same, the cell has the tag ``nbval-ignore-output``.

The numbers in the prose of a page must be those in ``tests/reference/numbers/<page>.json``, and come from where they
came from (``prose_numbers.py``).
"""

import ast
import math
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import executed
import nbformat
import outcomes
import prose_numbers
import pytest
from figure_text import FORMAT
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel, start_new_kernel
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError
from references import REFRESH, Store, compare, settled

CHECKED = "nbval-check-output"
MEASURED = "nbval-ignore-output"
REFERENCE_OPTIONS = (REFRESH, "--execute-only")

# In a live notebook a slider draws when all cells have run. Then its figure must still look as it did when its own cell
# ran, which `figure_text.explored` has noted.
LAST = """
import gc
from fairlib.book import Explorer
for explorer in [thing for thing in gc.get_objects() if type(thing) is Explorer]:  # isinstance stops at a dead proxy
    for setting in explorer._altered():
        raise AssertionError(
            f"{explorer} draws something else at {setting} once all cells have run: a later cell reuses a name"
        )
"""

# The kernel tells what a chapter's pictures draw. No name of this is left for the chapter to find.
PICTURES = Path(__file__).with_name("figure_text.py").read_text(encoding="utf-8")
WATCH = f"(lambda space: (exec({PICTURES!r}, space), space['watch'](get_ipython())))({{'__name__': 'figure_text'}})"

# A kernel's answer: the files of all modules.
LOADED = r"'\n'.join(str(getattr(each, '__file__', '')) for each in tuple(__import__('sys').modules.values()))"

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]\d+)?")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that compares nothing."""
    parser.addoption("--execute-only", action="store_true", help="compare no output of a chapter with its reference")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "Chapter | None":
    """Collect the Markdown files under chapters/."""
    if file_path.suffix == ".md" and parent.config.rootpath / "chapters" in file_path.parents:
        chapter: Chapter = Chapter.from_parent(parent, path=file_path)
        return chapter
    return None


def pytest_configure(config: pytest.Config) -> None:
    """Record outcomes where the run is steered, not in each of its workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Record(config))


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


def alike(one: str, other: str) -> bool:
    """Return whether two lines are the same, except the last of six digits, which depends on the processor."""
    if NUMBER.sub("\0", one) != NUMBER.sub("\0", other):
        return False
    pairs = zip(NUMBER.findall(one), NUMBER.findall(other), strict=True)
    return all(a == b or (max(len(a), len(b)) > 5 and math.isclose(float(a), float(b), rel_tol=1e-5)) for a, b in pairs)


class Kernel(RunningKernel):
    """A kernel as a reader has it: it counts the cells, and hears nothing of pytest."""

    def __init__(self, folder: Path) -> None:
        self.km, self.kc = start_new_kernel(
            kernel_name=CURRENT_ENV_KERNEL_NAME,
            cwd=str(folder),
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
            extra_arguments=["--HistoryManager.hist_file=:memory:"],  # not among what the author types elsewhere
            stderr=subprocess.DEVNULL,
        )
        self._ensure_iopub_up()
        reply = self.kc.execute(WATCH, silent=True, store_history=False, reply=True, timeout=60)
        assert reply["content"]["status"] == "ok", reply["content"]

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Send a cell to the kernel, and return the id of the message."""
        return str(self.kc.execute(cell_input, allow_stdin=allow_stdin, stop_on_error=False))

    def loaded(self, package: Path) -> list[str]:
        """Return those files of a package that the kernel has loaded."""
        asked = {"files": LOADED}
        reply = self.kc.execute("", silent=True, store_history=False, user_expressions=asked, reply=True, timeout=60)
        said = ast.literal_eval(reply["content"]["user_expressions"]["files"]["data"]["text/plain"])
        files = {Path(file).resolve() for file in said.splitlines()}
        return [str(path.relative_to(package)) for path in executed.package_files(package) if path.resolve() in files]


class Chapter(IPyNbFile):
    """The code cells of a chapter, counted from 1; a page that is no notebook has none."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield a test for each cell, one for the references as a whole, and one for the numbers in the prose."""
        self.nb = executed.read(self.path, self.path.read_text(encoding="utf-8")) or nbformat.v4.new_notebook()
        # For each tagged cell its first line and what it printed; for each picture its lines by setting.
        self.outputs = Store(self.config.rootpath, self.path.stem)
        self.pictures = Store(self.config.rootpath, f"pictures/{self.path.stem}")
        self.drawn: set[str] = set()  # the names of the pictures that were drawn
        cells = executed.code_cells(self.nb)
        self.cells = len(cells)
        self.checked = sum(CHECKED in cell.metadata.get("tags", []) for cell in cells)
        self.awaited = set(range(1, self.cells + 1))  # the cells that have not yet run well
        position = 0
        for number, cell in enumerate(cells, start=1):
            tags = cell.metadata.get("tags", [])
            item = Cell.from_parent(
                self,
                name=cell.metadata.get("name", f"Cell {number}"),
                cell_num=number,
                cell=cell,
                options=defaultdict(bool, check_exception="raises-exception" in tags),
            )
            if CHECKED in tags and not self.config.getoption("--execute-only"):
                item.position = position
                position += 1
            yield item
        if any("explore(" in cell.source for cell in cells):
            self.awaited.add(number := self.cells + 1)
            last = nbformat.v4.new_code_cell(LAST)
            yield Cell.from_parent(self, name="explorers", cell_num=number, cell=last, options=defaultdict(bool))
        if not any(map(self.config.getoption, REFERENCE_OPTIONS)):
            if len(self.outputs.stored) > self.checked:
                yield Surplus.from_parent(self, name="references")
            if self.pictures.stored:
                yield Undrawn.from_parent(self, name="pictures")
        if not self.config.getoption("--execute-only"):
            yield Numbers.from_parent(self, name="numbers")

    def setup(self) -> None:
        """Take the outputs of the last run if they are still valid, and start a kernel if not."""
        if not self.cells:
            return
        root = self.config.rootpath
        self.state = executed.state(root, self.nb)
        if kept := executed.find(root, self.path.stem, self.nb):
            executed.show(self.nb, kept)
            old = nbformat.read(kept, as_version=4)
            for cell, was in zip(*map(executed.code_cells, (self.nb, old)), strict=True):
                cell.metadata.pictures = was.metadata.pictures  # which the book has no use for
        else:
            self.kernel = Kernel(self.path.parent)
            reply = self.kernel.kc.kernel_info(reply=True, timeout=60)
            self.nb.metadata.language_info = reply["content"]["language_info"]

    def teardown(self) -> None:
        """Keep a chapter whose cells have all run well, unless what it depends on was edited meanwhile."""
        root = self.config.rootpath
        if self.kernel and not self.awaited and executed.state(root, self.nb) == self.state:
            executed.keep(root, self.path.stem, self.nb, self.kernel.loaded(root / "fairlib"))
        super().teardown()


class Cell(IPyNbCell):
    """One code cell of a chapter."""

    parent: Chapter
    position: int | None = None  # among the cells whose output is compared

    def runtest(self) -> None:
        """Run the cell in the chapter's kernel, if there is one, and judge what came out."""
        self.user_properties.append(("chapter", [self.parent.name, self.parent.kernel is not None]))
        if self.parent.kernel:
            super().runtest()
            self.cell.outputs, self.cell.execution_count = self.test_outputs, self.cell_num
            found = [out.data.pop(FORMAT, None) for out in self.cell.outputs if "data" in out]
            self.cell.metadata.pictures = [each for each in found if each]
        outputs = self.cell.outputs
        if errors := printed([out for out in outputs if out.output_type == "stream" and out.name == "stderr"]):
            self.raise_cell_error("The cell wrote to stderr", "\n".join(errors))
        raised = [out for out in outputs if out.output_type == "error"]
        if raised and not self.options["check_exception"]:
            self.raise_cell_error("Cell execution caused an exception", "\n".join(raised[0].traceback))
        if self.options["check_exception"] and not raised:
            self.raise_cell_error("The cell is tagged raises-exception and raised nothing")
        self.parent.awaited.discard(self.cell_num)
        if self.cell_num <= self.parent.cells and not self.config.getoption("--execute-only"):
            if MEASURED in self.cell.metadata.get("tags", []):
                self.parent.pictures.refreshed(self, self.cell_num - 1, self.parent.cells, {})
            else:
                self.compare_pictures()
        if self.position is not None:
            self.compare(self.position, printed(outputs))

    def compare(self, position: int, lines: list[str]) -> None:
        """Compare what the cell printed with its reference, or note it as the new one."""
        store = self.parent.outputs
        reference = {"cell": self.cell.source.splitlines()[0], "output": lines}
        if not store.refreshed(self, position, self.parent.checked, [reference]):
            stored = {"": store.stored[position]["output"]} if position < len(store.stored) else None
            self.judge(*compare("The cell's output", "output", stored, {"": lines}))

    def judge(self, wrong: str, lines: str) -> None:
        """Fail if something is wrong with what the cell made."""
        if wrong:
            self.raise_cell_error(wrong, lines)

    def compare_pictures(self) -> None:
        """Compare what the cell's pictures say and draw with their references, or note it as the new ones."""
        about = self.cell.metadata.get("mystnb", {})
        words = " ".join(about.get("image", {}).get("alt", "").split())
        known: dict[str, dict[str, list[str]]] = dict(self.parent.pictures.stored)
        fresh: dict[str, dict[str, list[str]]] = {}
        for picture in self.cell.metadata.pictures:
            name = picture.get("name") or about.get("figure", {}).get("name", self.name)
            said = picture["drawn"] if "name" in picture else {"": [f"says: {words}", *picture["drawn"]]}
            if name in self.parent.drawn:
                self.raise_cell_error(f"Two pictures of the chapter are called {name}")
            self.parent.drawn.add(name)
            old = known.get(name, {})
            fresh[name] = {setting: settled(lines, old.get(setting, []), alike) for setting, lines in said.items()}
        if not self.parent.pictures.refreshed(self, self.cell_num - 1, self.parent.cells, fresh):
            for name, settings in fresh.items():
                self.judge(*compare(f"The picture {name}", name, known.get(name), settings, alike))

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
        stored, checked = len(self.parent.outputs.stored), self.parent.checked
        pytest.fail(f"{stored} references are stored, but {checked} cells have the tag {CHECKED}", pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Name the chapter in the report's headings."""
        return self.path, 0, f"{self.path.relative_to(self.config.rootpath)}::{self.name}"


class Undrawn(Surplus):
    """Fails because pictures are stored that the chapter doesn't draw."""

    def runtest(self) -> None:
        """Say which, unless a cell that may draw them has failed or was not to be run."""
        if not self.parent.awaited and (left := set(self.parent.pictures.stored) - self.parent.drawn):
            pytest.fail(f"References of pictures are stored that no cell draws: {sorted(left)}", pytrace=False)


class Numbers(Surplus):
    """Fails if a number in the prose is not the stored one, or no longer comes from a cell that it came from."""

    def runtest(self) -> None:
        """Name the sentences, unless a cell that may print their numbers has failed or was not to be run."""
        if self.parent.awaited:
            pytest.skip("not all cells of the page ran well")
        cells = executed.code_cells(self.parent.nb)
        outputs = ["\n".join(printed(cell.outputs)) for cell in cells]
        sources = prose_numbers.Sources.of(outputs, [cell.source for cell in cells])
        found = prose_numbers.of_page(self.path.read_text(encoding="utf-8"), sources)
        store = Store(self.config.rootpath, f"numbers/{self.path.stem}")
        fresh = prose_numbers.lines(found)
        if not store.refreshed(self, 0, 1, fresh):
            wrong, lines = compare("The prose", "numbers", dict(store.stored), fresh)
            if wrong:
                said = "\n".join(prose_numbers.changed(dict(store.stored), found))
                pytest.fail(f"{wrong}\nNew, or no longer from a cell:\n{said}\n\n{lines}", pytrace=False)


class Record:
    """Gathers the outcome of each test."""

    def __init__(self, config: pytest.Config) -> None:
        self.root = config.rootpath
        self.sources = outcomes.fingerprint(self.root)
        self.compared = not config.getoption("--execute-only")
        self.outcomes: dict[str, str] = {}
        self.chapters: dict[bool, set[str]] = {True: set(), False: set()}  # what was executed, and what wasn't

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what a test came to: the outcome of its call, or of a set-up or tear-down that didn't pass."""
        if (report.when == "call" or not report.passed) and self.outcomes.get(report.nodeid) != "failed":
            self.outcomes[report.nodeid] = report.outcome
        for key, value in report.user_properties if report.when == "call" else []:
            if key == "chapter":
                self.note(*value)  # type: ignore[misc]

    def note(self, chapter: str, ran: bool) -> None:
        """Count a chapter among those that were executed, or those that were not."""
        self.chapters[ran].add(chapter)

    def pytest_sessionfinish(self) -> None:
        """Leave the outcomes to the page of results; where nothing was compared, they would say too much."""
        if self.outcomes and self.compared:
            outcomes.save(self.root, self.sources, self.outcomes)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say what was executed."""
        if any(self.chapters.values()):
            ran, stood = (len(self.chapters[whether]) for whether in (True, False))
            terminalreporter.write_line(f"chapters: {ran} executed, {stood} unchanged")
