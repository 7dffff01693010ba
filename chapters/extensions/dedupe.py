"""What sphinx-proof and sphinx-exercise do twice: one id for all proofs of a page, brackets in brackets in titles."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx_exercise.nodes import exercise_subtitle


class Ids(SphinxPostTransform):
    """Leave an id to the first that has it."""

    default_priority = 900

    def run(self, **kwargs: Any) -> None:
        """Go through a page."""
        seen: set[str] = set()
        for node in self.document.findall(nodes.Element):
            node["ids"] = [name for name in node["ids"] if name not in seen]
            seen.update(node["ids"])


def without_brackets(app: Sphinx, doctree: nodes.document) -> None:
    """Set the kind of an exercise off by a comma, as brackets come around its title."""
    for title in doctree.findall(exercise_subtitle):
        title[-1] = nodes.Text(re.sub(r" \(([^()]*)\)$", r", \1", title[-1].astext()))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_post_transform(Ids)
    app.connect("doctree-read", without_brackets)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
