"""Parser that shows a chapter with the outputs of the tests' run, and refuses one that was not run as it is."""

from pathlib import Path

import executed
from docutils import nodes
from myst_nb.sphinx_ import Parser
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import SphinxError


class NotExecutedError(SphinxError):
    """There is nothing to show for the cells of a chapter."""

    category = "A chapter was not executed"


def look_up(env: BuildEnvironment, page: str, text: str) -> tuple[NotebookNode | None, Path | None]:
    """Read a page, and find the file that has the outputs of its cells, if it has any."""
    root, path = Path(env.srcdir), Path(env.doc2path(page))
    notebook = executed.read(path, text, env.myst_config)  # type: ignore[attr-defined]
    return notebook, executed.find(root, path.stem, notebook) if notebook else None


class ChapterParser(Parser):
    """Gives MyST-NB a chapter whose cells have their outputs."""

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse the text of a page into its document."""
        general, page = self.env.mystnb_config, self.env.docname
        notebook, kept = look_up(self.env, page, inputstring)
        if notebook:
            if kept:
                executed.show(notebook, kept)
            elif self.env.app.builder.name != "notebooks":  # which show nothing before they are run by the reader
                raise NotExecutedError(f"{page}.md has changed, or the package has. Run `pytest {page}.md` first.")
            self.env.metadata[page]["executed"] = kept.name if kept else ""
            reader = ("executed_parser.as_it_is", {"notebook": notebook}, False)
            self.env.mystnb_config = general.copy(custom_formats={".md": reader})
        try:
            super().parse(inputstring, document)
        finally:
            self.env.mystnb_config = general


def as_it_is(text: str, notebook: NotebookNode) -> NotebookNode:
    """Return the notebook that was read from a text already."""
    return notebook


def outdated(app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]) -> list[str]:
    """Name the pages that show other outputs than they would now, though their own text is the same."""
    found = []
    for page in env.found_docs - added - changed:
        if shown := env.metadata[page].get("executed"):
            _, kept = look_up(env, page, Path(env.doc2path(page)).read_text(encoding="utf-8"))
            if kept is None or kept.name != shown:
                found.append(page)
    return found


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, in the place of MyST-NB's parser."""
    app.setup_extension("myst_nb")
    app.add_source_parser(ChapterParser, override=True)
    app.connect("env-get-outdated", outdated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
