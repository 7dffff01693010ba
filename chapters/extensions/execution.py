"""Execution of the chapters by jupyter-cache before Sphinx reads them, on all processors.

What came out is kept in ``_build/outputs``, in a folder that is named after all that it depends on besides the cells of
the chapter. Another package, lock or record has another folder. Its name is a setting of MyST-NB, so that Sphinx then
reads all pages anew.
"""

import hashlib
import os
import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.base import JupyterCacheAbstract
from jupyter_cache.executors import load_executor
from myst_nb.core.read import is_myst_markdown_notebook, myst_nb_reader_plugin
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from fairlib._version import stamp

READER = {"name": "myst_nb_md", "type": "plugin"}
PATIENCE = 900  # seconds for a cell


@cache  # one run has one folder
def folder(root: Path) -> Path:
    """Return where the outputs are kept that chapters have with this package, lock, records and data."""
    digest = hashlib.sha256(stamp().encode())
    for files in ("requirements.txt", "benchmarks/*.json", "fairlib/*/*.js", "fairlib/*/*.html"):
        for path in sorted(root.glob(files)):
            digest.update(path.read_bytes())
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((root / "chapters").glob("*.md")))
    for name in sorted(set(re.findall(r'os\.environ(?:\.get\(|\[)"(\w+)"', text)) & set(os.environ)):
        digest.update(f"{name}={os.environ[name]}".encode())  # files that a reader has brought
    return root / "_build" / "outputs" / digest.hexdigest()[:16]


def is_notebook(path: Path) -> bool:
    """Return whether the head of a page says that it has cells."""
    return bool(is_myst_markdown_notebook(path.read_text(encoding="utf-8")))


@cache
def code_cells(path: Path) -> list[NotebookNode]:
    """Return the code cells of a page with what came out when they were executed; none if they were not."""
    try:
        _, notebook = _cache(path.parents[1]).merge_match_into_notebook(myst_nb_reader_plugin(path))
    except KeyError:
        return []
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def _cache(root: Path) -> JupyterCacheAbstract:
    return get_cache(folder(root))


def choose(app: Sphinx, config: Config) -> None:
    """Tell MyST-NB where the outputs are."""
    config.nb_execution_cache_path = str(folder(Path(app.srcdir)))


def leave(app: Sphinx) -> None:
    """Execute nothing for `make lab`, whose notebooks are executed by their reader."""
    if app.builder.name == "notebooks":
        app.env.mystnb_config = app.env.mystnb_config.copy(execution_mode="off")  # type: ignore[attr-defined]


def execute(app: Sphinx, env: BuildEnvironment, pages: list[str]) -> None:
    """Execute those chapters among the pages whose cells are not in the cache, long ones first."""
    if env.mystnb_config.execution_mode != "cache":  # type: ignore[attr-defined]
        return
    root = Path(app.srcdir)
    for old in folder(root).parent.glob("*"):
        if old != folder(root):
            shutil.rmtree(old)
    paths = [path for page in pages if is_notebook(path := Path(env.doc2path(page)))]
    kept = _cache(root)
    for path in paths:
        kept.add_nb_to_project(str(path), read_data=READER)
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        wrong = list(workers.map(run, sorted(paths, key=lambda path: -path.stat().st_size)))
    if any(wrong):
        raise ExtensionError("\n\n".join(filter(None, wrong)))


def run(path: Path) -> str:
    """Execute a chapter, if its cells are not in the cache; return what went wrong."""
    kept, name = _cache(path.parents[1]), str(path)
    done = load_executor("local-serial", cache=kept).run_and_cache(filter_uris=[name], timeout=PATIENCE)
    return f"{name}\n{kept.get_project_record(name).traceback}" if done.excepted or done.errored else ""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("config-inited", choose)
    app.connect("builder-inited", leave, priority=900)  # after MyST-NB has read its settings
    app.connect("env-before-read-docs", execute)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
