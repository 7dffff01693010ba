"""Every chapter is a test: jupytext makes a notebook of it, and nbval runs that as any other."""

import os
from collections.abc import Iterator
from pathlib import Path

import jupytext
import pytest
from nbval.plugin import IPyNbFile


class Chapter(pytest.File):
    """A chapter, whose notebook is written into a folder beside its own, so that paths in it hold."""

    def collect(self) -> Iterator[pytest.Collector]:
        """Yield the notebook."""
        made = self.config.rootpath / "_build" / f"{self.path.stem}.{os.environ.get('PYTEST_XDIST_WORKER', '')}.ipynb"
        made.parent.mkdir(exist_ok=True)
        jupytext.write(jupytext.read(self.path), made)
        yield IPyNbFile.from_parent(self, path=made, nodeid=self.nodeid)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Chapter | None:
    """Collect the pages whose head says that they have cells."""
    if file_path.suffix == ".md" and "\njupytext:" in file_path.read_text(encoding="utf-8"):
        return Chapter.from_parent(parent, path=file_path)
    return None
