"""Hooks of autodoc: a rule is shown as its function, and a description that says nothing is left out.

Autodoc does not know rules, which are objects of a class of ours. A rule's arguments are what it asks for. The fields
of a named tuple are described where the tuple is. A property is described in a sentence, which may have a colon.
"""

from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.autodoc import FunctionDocumenter

from fairlib.core import Rule


class RuleDocumenter(FunctionDocumenter):
    """Document what ``@rule`` marks."""

    objtype = "rule"
    directivetype = "function"
    priority = FunctionDocumenter.priority + 1

    @classmethod
    def can_document_member(cls, member: Any, membername: str, isattr: bool, parent: Any) -> bool:
        """Say whether a member of a module is a rule."""
        return isinstance(member, Rule)

    def import_object(self, raiseerror: bool = False) -> bool:
        """Import the rule, and go on with its function."""
        found = super().import_object(raiseerror)
        if found:
            self.object = self.object.function
        return found


def leave_out(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out 'Alias for field number 0' and the like."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field") else None


def put_together(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Put a sentence together again that napoleon took at its colon for a type and a description."""
    if what == "property" and lines and lines[-1].startswith(":type: "):
        lines[:] = [f"{lines.pop().removeprefix(':type: ')}: {lines[0]}", *lines[1:]]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_autodocumenter(RuleDocumenter)
    app.connect("autodoc-skip-member", leave_out)
    app.connect("autodoc-process-docstring", put_together, priority=600)  # after napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
