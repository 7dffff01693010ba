"""The package as a whole: what `import fairlib` gives, what it shows of itself, and what is imported."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from graphlib import TopologicalSorter
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Annotated, get_origin

import jupytext
import pytest
from helpers import public
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import fairlib

PACKAGE = Path(fairlib.__file__).parent
ROOT = PACKAGE.parent
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
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path.read_text(encoding="utf-8")
    for path in PACKAGE.rglob("*.py")
    if "__pycache__" not in path.parts and path != PACKAGE / "__init__.py"
}


def fresh(code: str) -> str:
    """Run code in a process that has imported nothing yet, and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", LATER)
def test_one_import_is_enough_for_every_module(name):
    assert fresh(f"import fairlib as fl; print(fl.{name}.__name__)") == fairlib._SHORT.get(name, f"fairlib.{name}")


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, fairlib; print([name for name in {} if name in sys.modules])"
    now = {"baselines", "core", "engine", "merit", "player", "rules", "study"}
    later = [*(name for name in PACKAGES if name not in now), "baselines.linear", "study.evaluate", "study.replay"]
    heavy = ["matplotlib", "IPython", "scipy.linalg", "tqdm", *(f"fairlib.{name}" for name in later)]
    assert fresh(code.format(heavy)) == "[]"


def test_modules_are_listed_before_they_are_imported():
    listed = fresh("import fairlib; print(*dir(fairlib))").split()
    assert {*LATER, *fairlib.__all__, "__doc__"} <= set(listed)


def test_names_that_are_nowhere_are_refused():
    with pytest.raises(AttributeError, match="module 'fairlib' has no attribute 'fairness'"):
        fairlib.fairness  # noqa: B018


def imports(text: str) -> Iterator[tuple[str, str]]:
    """Name what code imports, also in functions, with the name taken; what only the type checker sees is left out."""
    stack: list[ast.AST] = [ast.parse(text)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            stack += node.orelse
            continue
        stack += ast.iter_child_nodes(node)
        if isinstance(node, ast.ImportFrom):
            yield from ((node.module or "", each.name) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from ((each.name, "") for each in node.names)


def test_imports_point_to_lower_layers_only_and_in_no_circle():
    layer = {name: i for i, names in enumerate(LAYERS) for name in names}
    graph: dict[str, set[str]] = {}
    for name, text in MODULES.items():
        pairs = {(module, f"{module}.{part}") for module, part in imports(text)}
        taken = {long if long in MODULES else module for module, long in pairs} & MODULES.keys() - {name}
        own, others = name.split(".")[1], {each.split(".")[1] for each in taken}
        assert all(layer[other] < layer[own] for other in others - {own}), f"{name} imports {sorted(taken)}"
        graph[name] = {each for each in taken if not name.startswith(f"{each}.") and not each.startswith(f"{name}.")}
    TopologicalSorter(graph).prepare()  # raises if there is a cycle


def test_the_page_of_the_api_shows_all_that_is_public():
    page = (ROOT / "chapters" / "api.md").read_text(encoding="utf-8")
    there = {name.split(".")[-1] for name in re.findall(r"^\.\. (?:auto\w+|py:data):: (\S+)", page, re.MULTILINE)}
    for name, members in re.findall(r"^\.\. automodule:: (\S+)\n   :members: ?(.*)", page, re.MULTILINE):
        module = importlib.import_module(name)
        there |= set(members.split(", ") if members else getattr(module, "__all__", vars(module)))
    assert {name for name, each in public().items() if get_origin(each) is not Annotated} - there == set()


@pytest.mark.parametrize(("files", "more"), [("fairlib/**/*.py", []), ("chapters/*.md", ["book"])])
def test_what_is_imported_is_declared(files, more):
    """What a reader needs, who has installed the package, or the package and the book."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = [*project["dependencies"], *(each for name in more for each in project["optional-dependencies"][name])]
    declared = {canonicalize_name(Requirement(each).name) for each in asked}
    found = set()
    for path in ROOT.glob(files):
        cells = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
        found |= {each.partition(".")[0] for cell in cells for each, _ in imports(cell)}
    others, provided = found - sys.stdlib_module_names - {"fairlib"}, packages_distributions()
    assert others
    assert {each for each in others if not {*map(canonicalize_name, provided[each])} & declared} == set()
