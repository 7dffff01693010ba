"""An id for one element of a page alone: sphinx-proof and sphinx-exercise give all proofs and solutions the same."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform


class Ids(SphinxPostTransform):
    """Leave an id to the first that has it."""

    default_priority = 900

    def run(self, **kwargs: Any) -> None:
        """Go through a page."""
        seen: set[str] = set()
        for node in self.document.findall(nodes.Element):
            node["ids"] = [name for name in node["ids"] if name not in seen]
            seen.update(node["ids"])


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(Ids)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
