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
from typing import Annotated, Any, get_origin

import pytest

import fairlib
from fairlib.core import Rule

PACKAGE = Path(fairlib.__file__).parent
PACKAGES = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
LATER = sorted({*fairlib._SHORT, *PACKAGES})
# From the lowest to the highest; a package imports from lower ones only. A package that is not named is a paper's.
LAYERS = [
    {"_version", "checks"},
    {"files"},
    {"rules"},
    {"core"},
    {"engine", "merit", "baselines"},
    {"player"},
    {"data", "pages"},
    {"arena", "study"},
]
PAPERS = sorted(set(PACKAGES) - set().union(*LAYERS))
LAYERS[5] |= set(PAPERS)
# Packages whose face shows some of what their modules define; that of a paper shows all.
WHOLE = [*PAPERS, "arena", "data", "merit"]
FACES = ["core", "pages", "player"]
MODULES = [
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    for path in sorted(PACKAGE.rglob("[a-z]*.py"))
    if "__pycache__" not in path.parts and "\n__all__ = " in path.read_text(encoding="utf-8")
]
NAMED = [*WHOLE, *FACES, *MODULES]


def fresh(code: str) -> str:
    """Run code in a process that has imported nothing yet, and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", LATER)
def test_one_import_is_enough_for_every_module(name):
    assert fresh(f"import fairlib as fl; print(fl.{name}.__name__)") == fairlib._SHORT.get(name, f"fairlib.{name}")


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, fairlib; print([name for name in {} if name in sys.modules])"
    now = {"baselines", "core", "engine", "merit", "player", "rules", "study"}
    later = [
        *(name for name in PACKAGES if name not in now),
        "baselines.linear",
        "study.evaluate",
        "study.replay",
    ]
    heavy = ["matplotlib", "IPython", "scipy.linalg", "tqdm", *(f"fairlib.{name}" for name in later)]
    assert fresh(code.format(heavy)) == "[]"


def test_modules_are_listed_before_they_are_imported():
    listed = fresh("import fairlib; print(*dir(fairlib))").split()
    assert {*LATER, *fairlib.__all__, "__doc__"} <= set(listed)


def test_names_that_are_nowhere_are_refused():
    with pytest.raises(AttributeError, match="module 'fairlib' has no attribute 'fairness'"):
        fairlib.fairness  # noqa: B018


def listed(module: Any) -> list[str]:
    """Return what a module shows: what it lists, or all that it imports from modules."""
    inside = [name for name, each in vars(module).items() if name[0] != "_" and not inspect.ismodule(each)]
    return list(getattr(module, "__all__", inside))


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Name what a file imports, also in functions, with the name taken; what only the type checker sees is left out."""
    stack: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            stack += node.orelse
            continue
        stack += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from ((node.module or "", each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names)


def modules() -> dict[str, Path]:
    """Return all files of the package by the names of their modules; the package's own is not among them."""
    files = [path for path in sorted(PACKAGE.rglob("*.py")) if "__pycache__" not in path.parts]
    named = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in files}
    return {name.removesuffix(".__init__"): path for name, path in named.items() if name != "fairlib.__init__"}


def imported_modules() -> dict[str, set[tuple[str, str]]]:
    """Return for each module of the package which of the package's modules it imports, and what it takes of each."""
    known = modules()
    found: dict[str, set[tuple[str, str]]] = {}
    for name, path in known.items():
        pairs = {each for each in imports(path) if each[0].partition(".")[0] == "fairlib"}
        taken = {(f"{module}.{part}" if f"{module}.{part}" in known else module, part) for module, part in pairs}
        found[name] = {(module, part) for module, part in taken if module not in (name, "fairlib")}
    return found


def test_imports_point_to_lower_layers_only():
    layer = {name: i for i, names in enumerate(LAYERS) for name in names}
    found = [
        (name.split(".")[1], other.split(".")[1]) for name, taken in imported_modules().items() for other, _ in taken
    ]
    assert {name for pair in found for name in pair} <= layer.keys()
    assert [pair for pair in found if pair[0] != pair[1] and layer[pair[0]] <= layer[pair[1]]] == []


def test_no_module_imports_one_that_imports_it():
    graph = {
        name: {other for other, _ in taken if not (name.startswith(f"{other}.") or other.startswith(f"{name}."))}
        for name, taken in imported_modules().items()
    }
    TopologicalSorter(graph).prepare()  # raises if there is a cycle


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
    things = [(each, getattr(module, each)) for each in listed(module)]
    things = [(each, thing) for each, thing in things if get_origin(thing) is not Annotated]
    assert [each for each, thing in things if not any(each == last and thing is other for last, other in page)] == []
