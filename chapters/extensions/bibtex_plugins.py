"""The bibliography: its plugins are looked up once, and its entries are items of a list.

Pybtex would read what all installed packages say of themselves, for each citation. Docutils gives an entry a role that
is deprecated, within a list that may have only items.
"""

from functools import cache
from importlib import import_module
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def begin(translator: HTML5Translator, node: nodes.citation) -> None:
    """Begin an entry."""
    HTML5Translator.visit_citation(translator, node)
    translator.body[-1] = translator.body[-1].replace("doc-biblioentry", "listitem")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    plugins: Any = import_module("pybtex.plugin")  # which comes with Jupyter Book
    plugins.entry_points = cache(plugins.entry_points)
    app.add_node(nodes.citation, override=True, html=(begin, HTML5Translator.depart_citation))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
