"""Remove repeated inline scripts and ids from each page.

The theme and sphinx-thebe both add the same lines of settings, and a browser that meets them a second time
reports ``Identifier 'THEBE_JS_URL' has already been declared``. Proofs and solutions all have the same ids.
"""

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


def keep_first(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Drop a script whose body an earlier one on the page already has."""
    seen: set[str] = set()
    kept = []
    for script in context["script_files"]:
        body = getattr(script, "attributes", {}).get("body")
        if not body or body not in seen:
            kept.append(script)
            seen.add(body or "")
    context["script_files"] = kept


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx, after everything that adds scripts."""
    app.add_post_transform(Ids)
    app.connect("html-page-context", keep_first, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
