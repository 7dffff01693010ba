"""The package as a whole: what `import fairlib` gives, what it shows of itself, and that no import goes in a circle."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import pytest

import fairlib
from fairlib.rules.rule import Rule

PACKAGE = Path(fairlib.__file__).parent
LATER = sorted(fairlib._LATER)
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
NAMED = [
    *PACKAGES,
    *(path.stem for path in sorted(PACKAGE.glob("[a-z]*.py")) if "\n__all__ = " in path.read_text(encoding="utf-8")),
]


def fresh(code: str) -> str:
    """Run code in a process that has imported nothing yet, and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", sorted({*LATER, *PACKAGES}))
def test_one_import_is_enough_for_every_module(name):
    assert fresh(f"import fairlib as fl; print(fl.{name}.__name__)") == f"fairlib.{name}"


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, fairlib; print([name for name in {} if name in sys.modules])"
    later = [name for name in (*PACKAGES, "explorers", "figures", "linear", "replay") if name != "merit"]
    heavy = ["matplotlib", "IPython", "scipy.linalg", "starlette", "tqdm", *(f"fairlib.{name}" for name in later)]
    assert fresh(code.format(heavy)) == "[]"


def test_modules_are_listed_before_they_are_imported():
    listed = fresh("import fairlib; print(*dir(fairlib))").split()
    assert {*LATER, *fairlib.__all__, "__doc__"} <= set(listed)


def test_names_that_are_nowhere_are_refused():
    with pytest.raises(AttributeError, match="module 'fairlib' has no attribute 'fairness'"):
        fairlib.fairness  # noqa: B018


@pytest.mark.parametrize("name", NAMED)
def test_all_that_is_public_is_named(name):
    module = importlib.import_module(f"fairlib.{name}")
    files = sorted(path for path in (PACKAGE / name).glob("*.py")) or [PACKAGE / f"{name}.py"]
    public = set()
    for node in (node for path in files for node in ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            public.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            public |= {ast.unparse(each) for each in targets}
    assert set(module.__all__) == {each for each in public if not each.startswith("_")}
    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, each) for each in module.__all__)


@pytest.mark.parametrize("name", PACKAGES)
def test_no_door_imports_from_one_after_it(name):
    imported = {}
    for path in (PACKAGE / name).glob("*.py"):
        nodes = [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
        ]
        parts = [(node.module or "").split(".") for node in nodes]
        imported[path.stem] = {(*each, "__init__")[2] for each in parts if each[:2] == ["fairlib", name]}
    TopologicalSorter(imported).prepare()  # raises if two doors, or more, import from each other
    doors = [door for door in ("game", "policies", "theory") if door in imported]
    for place, door in enumerate(doors):
        assert not imported[door] & set(doors[place:])


def shown() -> Iterator[tuple[str, Any]]:
    """Name everything that the page of the API shows, with what it is."""
    page = (PACKAGE.parent / "chapters" / "api.md").read_text(encoding="utf-8")
    for kind, name, text in re.findall(r"^\.\. (auto\w+|py:data):: (\S+)((?:\n   .*)*)", page, re.MULTILINE):
        options = dict(re.findall(r"^   :([\w-]+): ?(.*)", text, re.MULTILINE))
        if kind == "automodule":
            module = importlib.import_module(name)
            listed = [each.strip() for each in options["members"].split(",") if each]
            for each in listed or getattr(module, "__all__", vars(module)):
                thing = getattr(module, each)
                described = inspect.isroutine(thing) or inspect.isclass(thing) or isinstance(thing, Rule)
                if listed or (described and thing.__doc__):  # autodoc passes over numbers, strings and the like
                    yield each, thing
        else:
            path, _, last = (f"{options['module']}.{name}" if "module" in options else name).rpartition(".")
            yield last, getattr(importlib.import_module(path), last)


@pytest.mark.parametrize("name", ["", *NAMED])
def test_the_page_of_the_api_shows_all_that_is_public(name):
    module, page = importlib.import_module(f"fairlib.{name}".rstrip(".")), list(shown())
    things = [(each, getattr(module, each)) for each in module.__all__]
    assert [each for each, thing in things if not any(each == last and thing is other for last, other in page)] == []
