"""Offer each chapter as a notebook, beside its source, among what a page can be downloaded as."""

import re
from pathlib import Path
from typing import Any

import jupytext
from results import destination
from sphinx.application import Sphinx


def notebook(page: str) -> str:
    """Return where the notebook of a page is, in the folder of the book."""
    return f"_sources/{page}.ipynb"


def offer(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Add the notebook to the menu of downloads."""
    for group in context.get("header_buttons", []):
        if group["label"] == "download-buttons" and "executed" in app.env.metadata[page]:
            button = {
                "type": "link",
                "url": context["pathto"](notebook(page), 1),
                "text": ".ipynb",
                "tooltip": "Download as a notebook",
                "icon": "fas fa-file-code",
                "label": "download-notebook-button",
            }
            group["buttons"].insert(0, button)


def without_roles(app: Sphinx, page: str, text: str) -> str:
    """Return text with its references to other pages as links, which any notebook can show."""

    def link(found: re.Match[str]) -> str:
        try:
            target, _, name = destination(app, found["label"])
        except KeyError:  # an equation, or a figure of this page
            return found[0]
        name = found["text"] or name
        linked = f"[{name}]({Path(target).name}.ipynb)" if "executed" in app.env.metadata[target] else name
        return found[0] if target == page else linked

    return re.sub(r"\{(?:prf:)?ref\}`(?:(?P<text>[^`<]+) <)?(?P<label>[\w-]+)>?`", link, text)


def write(app: Sphinx, error: Exception | None) -> None:
    """Write the notebooks."""
    if error or app.builder.format != "html":
        return
    for page in app.env.found_docs:
        if "executed" in app.env.metadata[page]:
            chapter = jupytext.read(app.env.doc2path(page))
            for cell in chapter.cells:
                if cell.cell_type == "markdown":
                    cell.source = without_roles(app, page, cell.source)
                if "hide-input" in cell.metadata.get("tags", []):
                    cell.metadata["jupyter"] = {"source_hidden": True}  # folded there as it is here
            jupytext.write(chapter, Path(app.outdir) / notebook(page))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("html-page-context", offer, priority=600)  # after the theme has made its menu
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
