"""The directive ``{status}``: what was tested and when, with which packages, and what is open in the book."""

import platform
import re
import tomllib
from pathlib import Path

import outcomes
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

KINDS = ("passed", "skipped", "failed")


def in_order(root: Path) -> list[str]:
    """Return the pages of the book in their order."""
    return re.findall(r"file: chapters/(\S+)", (root / "_toc.yml").read_text(encoding="utf-8"))


def tested(counts: dict[str, dict[str, int]], when: str, pages: list[str], commit: str) -> list[str]:
    """Return in Markdown what came of the tests: on exactly these sources, or at a commit.

    >>> tested({}, "", [], "")
    ['No test has been run on exactly these sources; `make test` and `make test-pages` run them all.']
    >>> counts = {"chapters/own.md": {"passed": 1}, "tests": {"failed": 1}}
    >>> tested(counts, "2 May 2026", ["own"], "")[0]
    'On exactly these sources 2 tests were run, last on 2 May 2026: 1 passed, 0 skipped and 1 failed.'
    >>> tested(counts, "2 May 2026", ["own"], "abc1234")[0]
    'As of commit `abc1234` 2 tests were run, last on 2 May 2026: 1 passed, 0 skipped and 1 failed.'
    """
    if not counts:
        return ["No test has been run on exactly these sources; `make test` and `make test-pages` run them all."]
    of_pages = {f"chapters/{page}.md": f"{{doc}}`{page}`" for page in pages}
    groups = sorted(counts, key=lambda group: [*of_pages, group].index(group))
    passed, skipped, failed = (sum(count.get(kind, 0) for count in counts.values()) for kind in KINDS)
    return [
        f"{f'As of commit `{commit}`' if commit else 'On exactly these sources'} {passed + skipped + failed} tests "
        f"were run, last on {when}: {passed} passed, {skipped} skipped and {failed} failed.",
        "",
        "| Where | passed | skipped | failed |",
        "| --- | ---: | ---: | ---: |",
        *(
            f"| {of_pages.get(group, f'`{group}`')} | {' | '.join(str(counts[group].get(kind, 0)) for kind in KINDS)} |"
            for group in groups
        ),
    ]


def packages(root: Path) -> list[str]:
    """Return in Markdown which version the lock has of each package that the project asks for."""
    lock = dict(re.findall(r"^([\w.-]+)==([^\s;]+)", (root / "requirements.txt").read_text(encoding="utf-8"), re.M))
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [project["dependencies"], *project["optional-dependencies"].values()]
    names = sorted({re.split(r"[^\w.-]", line)[0] for lines in asked for line in lines})
    return ["| Package | Version |", "| --- | --- |", *(f"| {name} | {lock[name]} |" for name in names)]


def questions(root: Path) -> list[str]:
    """Return in Markdown the exercises of the book that are open."""
    found = []
    for name in in_order(root):
        text = (root / "chapters" / f"{name}.md").read_text(encoding="utf-8")
        for title, label in re.findall(r"^`{3,}\{exercise\} (.*) \(open(?: ★+)?\)\n:label: (\S+)", text, re.MULTILINE):
            found.append(f"* {{numref}}`{label}`, {title}")
    return found


class Status(SphinxDirective):
    """Show one part of it: ``tests``, ``packages`` or ``open``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the part in Markdown, and read that."""
        if self.env.app.builder.name == "notebooks":
            return []  # no page is shown, and there may be no lock
        root = Path(self.env.srcdir)
        self.env.note_reread()  # outcomes change while this page's own text does not
        match self.arguments[0]:
            case "tests":
                sources, stored = outcomes.fingerprint(root), outcomes.record(root)
                if ran := outcomes.load(root, sources):
                    lines = tested(outcomes.counts(ran), outcomes.when(root), in_order(root), "")
                else:
                    commit = stored.get("commit", "") if stored.get("sources") != sources else ""
                    lines = tested(stored.get("counts", {}), stored.get("date", ""), in_order(root), commit)
            case "packages":
                lines = [f"The book was built with Python {platform.python_version()}.", "", *packages(root)]
            case "open":
                lines = questions(root)
            case other:
                raise self.error(f"there is no part {other!r}")
        part = nodes.container()
        self.state.nested_parse(StringList(lines, "chapters/results.md"), self.content_offset, part)
        return list(part.children)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("status", Status)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
