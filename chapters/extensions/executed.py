"""Storage of the executed chapters, each under a hash of all that its outputs depend on.

The tests execute and keep them (``tests/notebooks.py``), the book shows them (``executed_parser.py``). Any other
state of code, package, lock, Python or settings has another name, so what is found is never stale. Of the package
those files count that the chapter has loaded, which are listed with its outputs: as long as none of them changes, no
other is loaded.
"""

import ast
import hashlib
import json
import os
import pathlib
import platform
import re
import sys
from collections.abc import Collection
from functools import cache

import nbformat
import outcomes
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from myst_parser.config.main import MdParserConfig

from fairlib.rules.snapshot import without_comments

SOURCES = (
    "requirements.txt",
    "chapters/extensions/executed.py",
    "tests/notebooks.py",
    "tests/figure_text.py",
)
KEPT = 2  # of each chapter: its latest state and the one before, to which an author may return


def read(path: pathlib.Path, text: str, config: MdParserConfig | None = None) -> nbformat.NotebookNode | None:
    """Read a page as MyST-NB does: its notebook, or None where its head doesn't say that it is one."""
    if not is_myst_markdown_notebook(text):
        return None
    notebook: nbformat.NotebookNode = read_myst_markdown_notebook(text, config, add_source_map=True, path=path)
    return notebook


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def state(root: pathlib.Path, notebook: nbformat.NotebookNode, loaded: Collection[str] = ()) -> str:
    """Hash all that the outputs of a chapter depend on; its prose, and what is said of its pictures, is not of it.

    Of the package those files count that are `loaded`, or all if none is named.
    """
    code = [cell.source for cell in code_cells(notebook)]
    package = package_code(root / "fairlib", set(re.findall(r"\w+", "\n".join(code))), loaded)
    return digest(
        repr(
            [
                code,
                package,
                records(root / "chapters", "\n".join(code)),
                settings(root / "chapters", "\n".join([*code, *package])),
                outcomes.fingerprint(root, SOURCES),
                [platform.python_version(), sys.platform, platform.machine()],
            ]
        ).encode()
    )


def package_files(folder: pathlib.Path) -> list[pathlib.Path]:
    """Return the files of the package."""
    return sorted(each for each in folder.rglob("*.*") if "__pycache__" not in each.parts)


def package_code(folder: pathlib.Path, named: set[str], loaded: Collection[str]) -> list[str]:
    """Return what the package does, file by file: a comment or a docstring is not of it.

    Of functions that are `named` the first line of the docstring counts, which a chapter may print. Of the modules
    those count that are `loaded`, or all if none is; what is no module counts in any case.
    """
    found = []
    for path in package_files(folder):
        if loaded and path.suffix == ".py" and str(path.relative_to(folder)) not in loaded:
            continue
        text = path.read_text(encoding="utf-8")
        code, summaries = _read(text) if path.suffix == ".py" else (text, [])
        found += [str(path.relative_to(folder)), code, *(line for name, line in summaries if name in named)]
    return found


@cache  # a build asks for each chapter
def _read(text: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the code of a file, and the first line of the docstring of each function and class by its name."""
    kinds = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    defined = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    return without_comments(text), [(node.name, (ast.get_docstring(node) or "").partition("\n")[0]) for node in defined]


def settings(folder: pathlib.Path, code: str) -> list[str]:
    """Return the environment variables that code in a folder names, and for those that name a file its date."""
    found = []
    for name in sorted(set(re.findall(r"""["']([A-Z][A-Z0-9_]+)["']""", code)) & set(os.environ)):
        found.append(f"{name}={os.environ[name]}")
        path = folder / os.environ[name]
        for file in [path, *sorted(path.glob("*"))]:
            if file.exists():
                found.append(f"{file} {file.stat().st_mtime_ns}")
    return found


def records(folder: pathlib.Path, code: str) -> list[str]:
    """Return the records above a folder that its code names, as ``"../benchmarks/latest.json"``, with hashes."""
    named = sorted(set(re.findall(r"""["'](\.\./[\w./-]+\.json)["']""", code)))
    return [f"{name} {digest((folder / name).read_bytes())}" for name in named if (folder / name).is_file()]


def digest(content: bytes) -> str:
    """Hash the contents of a file, or what stands for them."""
    return hashlib.sha256(content).hexdigest()[:20]


def find(root: pathlib.Path, chapter: str, notebook: nbformat.NotebookNode) -> pathlib.Path | None:
    """Return the file in which a chapter is kept as it is now; one whose bytes are not as they were doesn't count."""
    for path in sorted((root / "_build" / "executed").glob(f"{chapter}.*.ipynb")):
        content, (_, kept, written, _) = path.read_bytes(), path.name.split(".")
        if written == digest(content):
            loaded = json.loads(content)["metadata"].get("loaded", [])
            if kept == state(root, notebook, loaded):
                return path
    return None


def keep(root: pathlib.Path, chapter: str, notebook: nbformat.NotebookNode, loaded: list[str]) -> None:
    """Keep an executed chapter, which appears whole or not at all, and drop all but the latest.

    What the kernel had `loaded` are files of the package; a chapter that loads none may yet depend on any.
    """
    folder = root / "_build" / "executed"
    folder.mkdir(parents=True, exist_ok=True)
    notebook.metadata.loaded = loaded
    content = nbformat.writes(notebook).encode()
    path = folder / f"{chapter}.{state(root, notebook, loaded)}.{digest(content)}.ipynb"
    aside = path.with_suffix(f".{os.getpid()}")
    aside.write_bytes(content)
    aside.replace(path)
    for old in sorted(folder.glob(f"{chapter}.*"), key=lambda path: path.stat().st_mtime_ns)[:-KEPT]:
        old.unlink()


def show(notebook: nbformat.NotebookNode, kept: pathlib.Path) -> None:
    """Give the code cells of a notebook the outputs with which they are kept."""
    executed = nbformat.reads(kept.read_text(encoding="utf-8"), as_version=4)
    notebook.metadata.language_info = executed.metadata.language_info
    for cell, old in zip(code_cells(notebook), code_cells(executed), strict=True):
        cell.outputs, cell.execution_count = old.outputs, old.execution_count
