"""Look each plugin of pybtex up once: for each citation it would read what all installed packages say of themselves."""

from functools import cache
from importlib import import_module
from typing import Any

from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    plugins: Any = import_module("pybtex.plugin")  # which comes with Jupyter Book
    plugins.entry_points = cache(plugins.entry_points)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
