"""Play the papers' figures anew, as often as the papers did and with other luck, and compare them with the book's.

Run by `make figures`. Each chapter that ``chapters/figures.csv`` names is executed. What plays in a cell of a figure is
played twice: as the book plays it, and with other seeds and at least the paper's number of runs; the cell goes on with
the latter, and draws it. For each figure ``_build/figures`` gets the pictures, a table of the numbers behind them and
of the book's, and a description of what was played. A figure whose data must be brought is left out.
"""

import ast
import json
import math
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import figure_gallery
import jupytext
import numpy as np
import pandas as pd
from execution import is_notebook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat import NotebookNode, v4
from results import read_items
from scipy.stats import norm, t
from traitlets.config import Config

import fairlib as fl
from fairlib.pages import Explorer

OTHER = 1_000_000  # is added to a seed of the book's
SURE = 2 * norm.sf(3)  # so rarely may a comparison find by chance that something is three standard errors off
MOMENTS = (0.1, 0.5, 1)  # where curves are compared: at the recorded rounds that follow these parts of the horizon

Timed = tuple[fl.Result, float]  # and how many seconds it took


class Series(NamedTuple):
    """One policy in one game of a figure: what was played, and its numbers beside the book's."""

    cell: str
    played: dict[str, Any]
    numbers: pd.DataFrame


class Page(NamedTuple):
    """What came out of a chapter: series, pictures by the names of their cells, and assertions that didn't hold."""

    series: list[Series]
    pictures: dict[str, dict[str, bytes]]
    off: list[str]


class Shell(InteractiveShell):
    """Runs cells in this process, without a kernel."""

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: pictures need no window."""


class Noted(ast.NodeTransformer):
    """Turns failed assertions into notes: what holds with the book's seeds may narrowly fail with others."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Call what takes the notes."""
        call = ast.Call(ast.Name("_noted", ast.Load()), [node.test, ast.Constant(ast.unparse(node.test))], [])
        return ast.fix_missing_locations(ast.copy_location(ast.Expr(call), node))


def to_make(root: Path) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return what is known of each figure that a chapter plays without a download, and the names of the others."""
    known = figure_gallery.claims(root)
    items = [item for item in read_items(root) if item["id"] in known]
    left_out = ("a stand-in", "code only")
    made = {item["id"]: {**item, **known[item["id"]]} for item in items if item["data"] not in left_out}
    return made, [f"{item['number']} of paper {item['paper']}" for item in items if item["id"] not in made]


def cells_of(figure: dict[str, str]) -> list[str]:
    """Return the names of the cells that play and draw a figure."""
    return [name.strip() for name in figure["pictures"].split(";") if name.strip()]


def numbers(result: fl.Result, seconds: float) -> pd.DataFrame:
    """Return mean, standard error and runs of all that was recorded, by round and quantity, and how long it took."""
    by_round = result.frame().groupby("round")
    table = pd.concat({"mean": by_round.mean().stack(), "error": by_round.sem().stack()}, axis=1)
    table = table.assign(runs=len(result.reward))
    took = pd.DataFrame({"mean": seconds, "error": math.nan, "runs": 1}, index=[(table.index[-1][0], "seconds")])
    return pd.concat([table, took]).rename_axis(["round", "quantity"])


def compared(cell: str, name: str, made: Timed, book: Timed) -> Series:
    """Put what was played anew beside what the book plays."""
    played = {"name": name, **{each: getattr(made[0], each) for each in ("policy", "game", "horizon", "seed")}}
    played |= {"runs": len(made[0].reward), "seed of the book": book[0].seed, "runs of the book": len(book[0].reward)}
    table = numbers(*made).join(numbers(*book).add_suffix(" of the book"))
    return Series(cell, {**played, "versions": dict(made[0].versions)}, table)


def play(root: Path, chapter: str, runs: dict[str, int]) -> Page:
    """Execute a chapter, of whose cells those that `runs` names are played as often as it says, and with other luck."""
    found: list[tuple[str, str, Timed, Timed]] = []
    pictures: dict[str, dict[str, bytes]] = {}
    off: list[str] = []
    here, simulate = "", fl.simulate

    def timed(*game: Any, **options: Any) -> Timed:
        start = time.perf_counter()
        return simulate(*game, **options), time.perf_counter() - start

    def anew(problem: Any, policy: Any, horizon: int, **options: Any) -> fl.Result:
        book = made = timed(problem, policy, horizon, **options)
        if here in runs:
            enough = max(len(book[0].reward), runs[here])
            if enough > 1:  # a single run compares with nothing
                options |= {"runs": enough, "seed": options.get("seed", 0) + OTHER}
                made = timed(problem, policy, horizon, **options)
            found.append((here, policy.name, made, book))  # read later, since a cell may measure its time
        return made[0]

    def noted(holds: Any, said: str) -> None:
        if not holds:
            off.append(f"{chapter}.md, {name or 'a cell'}: assert {said}")

    os.chdir(root / "chapters")
    quiet = {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
    shell = Shell.instance(config=Config(quiet))
    shell.ast_transformers.append(Noted())
    shell.push({"_noted": noted})
    fl.simulate = anew
    path = root / "chapters" / f"{chapter}.md"
    for cell in code_cells(path):
        name = name_of(cell)
        here = name if name in runs else ""
        with capture_output() as captured:
            done = shell.run_cell(cell.source)
        if not done.success and "raises-exception" not in cell.metadata.get("tags", []):
            raise RuntimeError(f"{chapter}.md, {name or cell.source.splitlines()[0]}: {captured.stdout}")
        if here:
            cell.outputs = [v4.new_output("display_data", output.data) for output in captured.outputs]
            pictures[here] = dict(drawn(cell, done.result))
    return Page([compared(*each) for each in found], pictures, off)


def code_cells(path: Path) -> list[NotebookNode]:
    """Return the code cells of a page."""
    return [cell for cell in jupytext.read(path).cells if cell.cell_type == "code"] if is_notebook(path) else []


def name_of(cell: NotebookNode) -> str:
    """Return the name of a cell's figure, or of the cell."""
    figure = cell.metadata.get("mystnb", {}).get("figure", {}).get("name")
    return str(figure or cell.metadata.get("name", ""))


def drawn(cell: NotebookNode, result: object) -> list[tuple[str, bytes]]:
    """Return the pictures that a cell drew, an explorer's by the setting."""
    if isinstance(result, Explorer):
        names = ["".join(f".{name}-{value}" for name, value in setting.items()) for setting in result.settings]
        frames = [result.frame(**setting).svg.encode() for setting in result.settings]
        return [(name.replace(" ", "-"), frame) for name, frame in zip(names, frames, strict=True)]
    return [("", picture.data) for _, picture in figure_gallery.pictures("", [cell])]


def distances(table: pd.DataFrame) -> pd.DataFrame:
    """Return how many standard errors apart the two means are, where curves are compared, and the degrees of freedom.

    Runs of one policy in one game have one variance, in the paper and here, so it is estimated from both together.
    Numbers of a single arm, such as ``selected 0``, aren't compared: a bad arm is played once or a few times, and the
    spread of such a number can't be estimated from ten runs.
    """
    rounds = table.index.unique("round")
    at = table.loc[sorted({rounds[np.searchsorted(rounds, part * rounds[-1])] for part in MOMENTS})]
    at = at[~at.index.get_level_values("quantity").str.contains(" ")]
    (one, s), (other, z) = ((at[f"runs{of}"], at[f"error{of}"].fillna(0)) for of in ("", " of the book"))
    free = one + other - 2
    pooled = (one * (one - 1) * s**2 + other * (other - 1) * z**2) / free * (1 / one + 1 / other)
    gap = (at["mean"] - at["mean of the book"]).abs()
    gap = gap.where(gap > 1e-9 * at["mean"].abs(), 0)  # rounding
    return pd.DataFrame({"apart": (gap / pooled**0.5).where(gap > 0, 0), "free": free})[free > 0]


def differ(figures: dict[str, list[Series]]) -> tuple[list[str], int]:
    """Say which curves differ from the book's, and how many comparisons were made.

    By chance even one of all is found with the probability with which a single normal number is three standard errors
    off: the level is divided by the number of comparisons, as Bonferroni does.
    """
    compared = {
        (figure, i): distances(each.numbers) for figure, series in figures.items() for i, each in enumerate(series)
    }
    count, found = sum(map(len, compared.values())), []
    for (figure, i), table in compared.items():
        each = figures[figure][i]
        allowed = t.isf(SURE / 2 / max(count, 1), table["free"])
        for (at, quantity), row in table[table["apart"] > allowed].iterrows():
            ours = each.numbers.loc[(at, quantity)]
            found.append(
                f"{figure}, {each.played['policy']} in {each.played['game']}, {quantity} after round {at:,}: "
                f"{ours['mean']:.5g} ± {ours['error']:.2g}, in the book {ours['mean of the book']:.5g} ± "
                f"{ours['error of the book']:.2g}; {row['apart']:.1f} standard errors apart"
            )
    return found, count


def write(folder: Path, figure: dict[str, str], series: list[Series], pictures: dict[str, dict[str, bytes]]) -> None:
    """Write what belongs to a figure."""
    for cell, found in pictures.items():
        for setting, picture in found.items():
            (folder / f"{figure['id']}.{cell}{setting}.svg").write_bytes(picture)
    if series:
        tables = {i: each.numbers.assign(policy=each.played["name"]) for i, each in enumerate(series, start=1)}
        whole = pd.concat(tables, names=["series"]).set_index("policy", append=True)
        whole.reorder_levels(["series", "policy", "quantity", "round"]).to_csv(folder / f"{figure['id']}.csv")
        said = {name: figure[name] for name in ("id", "number", "paper", "rounds", "runs")}
        told = {**said, "series": {i: {"cell": each.cell, **each.played} for i, each in enumerate(series, start=1)}}
        (folder / f"{figure['id']}.json").write_text(json.dumps(told, indent=1, default=str) + "\n", encoding="utf-8")


def extent(series: list[Series], runs: str) -> str:
    """Say of how many rounds and runs a figure is made."""
    sizes = sorted({(each.played["horizon"], each.played[runs]) for each in series})
    return "; ".join(f"{horizon:,} by {many:,}" for horizon, many in sizes)


def main(root: Path) -> int:
    """Make all figures; return how many curves differ from the book's, or sizes from what the table says."""
    figures, left_out = to_make(root)
    runs: dict[str, int] = {}
    for figure in figures.values():
        runs |= {name: max(int(figure["runs"] or 1), runs.get(name, 1)) for name in cells_of(figure)}
    chapters = {}
    for path in sorted((root / "chapters").glob("*.md")):
        here = {name_of(cell) for cell in code_cells(path)} & set(runs)
        if here:
            chapters[path.stem] = {name: runs[name] for name in here}
    folder = root / "_build" / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), max_tasks_per_child=1) as workers:
        pages = list(workers.map(play, [root] * len(chapters), chapters, chapters.values()))
    made, wrong = {}, []
    for key, figure in figures.items():
        made[key] = [each for page in pages for each in page.series if each.cell in cells_of(figure)]
        shown = {cell: page.pictures[cell] for cell in cells_of(figure) for page in pages if cell in page.pictures}
        write(folder, figure, made[key], shown)
        print(f"{key}: {extent(made[key], 'runs')}; in the book {extent(made[key], 'runs of the book')}")
        if extent(made[key], "runs of the book") != figure["book"]:
            wrong.append(f"{key}: figures.csv says that the book has {figure['book']!r}")
    found, count = differ(made)
    print(f"{count:,} comparisons with the book's numbers, {len(found)} beyond chance")
    for each in found + wrong:
        print(each)
    off = [said for page in pages for said in page.off]
    print(f"{len(off)} assertions of the pages don't hold with this luck and these runs", *off, sep="\n")
    print("Left out, as their data must be brought or no chapter plays them:", ", ".join(left_out))
    return len(found + wrong)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parents[2]) > 0)
