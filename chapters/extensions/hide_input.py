"""Folded code below its output, under a name that says what it made.

MyST-NB's own fold stands above the output, in a box that is larger than a line.
"""

from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode, HideInputCells
from sphinx.application import Sphinx


class Below(HideInputCells):
    """Fold code as MyST-NB does, name the fold and put it below."""

    def run(self, **kwargs: Any) -> None:
        """Go through the cells of a page."""
        cells = [node for node in self.document.findall(nodes.container) if node.get("hide_mode") == "input"]
        for cell in cells:
            made = cell.children[-1]
            pictures = any(made.findall(nodes.image)) or any("<img" in raw.astext() for raw in made.findall(nodes.raw))
            name = "" if len(cell) == 1 else " of this picture" if pictures else " of these numbers"
            cell["prompt_show"] = f"Code{name}"
        super().run(**kwargs)
        for cell in cells:
            fold = next(cell.findall(HideCodeCellNode))
            cell.remove(fold)
            cell.append(fold)


def begin(self: Any, node: HideCodeCellNode) -> None:
    """Open a fold in HTML."""
    self.body.append(f'<details class="code">\n<summary>{node["prompt_show"]}</summary>\n')


def end(self: Any, node: HideCodeCellNode) -> None:
    """Close it."""
    self.body.append("</details>\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, in the place of MyST-NB's own."""
    app.setup_extension("myst_nb")
    app.registry.post_transforms.remove(HideInputCells)
    app.add_post_transform(Below)
    app.add_node(HideCodeCellNode, override=True, html=(begin, end))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
