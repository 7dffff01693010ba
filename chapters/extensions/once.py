"""Put each inline script on a page once.

The theme and sphinx-thebe both add the same lines of settings, and a browser that meets them a second time
reports ``Identifier 'THEBE_JS_URL' has already been declared``.
"""

from typing import Any

from sphinx.application import Sphinx


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
    app.connect("html-page-context", keep_first, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
