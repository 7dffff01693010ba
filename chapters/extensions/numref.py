"""A memo for ``{numref}``, which reads the whole page of its target from the disk, anew for each reference."""

from functools import cache
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def remember(app: Sphinx, env: BuildEnvironment) -> None:
    """Read each page once, now that all are there; nothing is changed in a page that is looked at for a reference."""
    domain: Any = env.get_domain("std")
    resolve, once = domain._resolve_numref_xref, cache(env.get_doctree)

    def resolved(env: Any, *where: Any) -> Any:
        env.get_doctree = once
        try:
            return resolve(env, *where)
        finally:
            del env.get_doctree

    domain._resolve_numref_xref = resolved


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("env-check-consistency", remember)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
