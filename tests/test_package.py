"""The package as a whole: what `import fairlib` gives, and that nothing in it is imported in a circle."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import fairlib

PACKAGE = Path(fairlib.__file__).parent
LATER = sorted(fairlib._LATER)
# Doors in their order: each may import from those before it.
DOORS = {
    "shares": ["game", "policies", "theory"],
    "exposure": ["game", "policies", "context_policies", "theory"],
    "ranks": ["distributions", "game", "worlds", "policies", "theory"],
    "delays": ["laws", "game", "policies", "theory"],
    "data": ["files", "labels", "people", "news", "ads"],
}


def fresh(code: str) -> str:
    """Run code in a process that has imported nothing yet, and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("name", LATER)
def test_one_import_is_enough_for_every_module(name):
    assert fresh(f"import fairlib as fl; print(fl.{name}.__name__)") == f"fairlib.{name}"


def test_what_is_not_asked_for_is_not_imported():
    code = "import sys, fairlib; print([name for name in {} if name in sys.modules])"
    heavy = ["matplotlib", "IPython", *(f"fairlib.{name}" for name in (*DOORS, "explorers", "figures", "replay"))]
    assert fresh(code.format(heavy)) == "[]"


def test_modules_are_listed_before_they_are_imported():
    listed = fresh("import fairlib; print(*dir(fairlib))").split()
    assert {*LATER, *fairlib.__all__, "__doc__"} <= set(listed)


def test_names_that_are_nowhere_are_refused():
    with pytest.raises(AttributeError, match="module 'fairlib' has no attribute 'fairness'"):
        fairlib.fairness  # noqa: B018


@pytest.mark.parametrize("name", [*DOORS, "checks", "explorers", "figures", "linear", "replay", "sweeps"])
def test_all_that_is_public_is_named(name):
    module = importlib.import_module(f"fairlib.{name}")
    files = sorted(path for path in (PACKAGE / name).glob("*.py")) or [PACKAGE / f"{name}.py"]
    public = set()
    for node in (node for path in files for node in ast.parse(path.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            public.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            public |= {ast.unparse(each) for each in getattr(node, "targets", None) or [node.target]}
    assert set(module.__all__) == {each for each in public if not each.startswith("_")}
    assert len(module.__all__) == len(set(module.__all__))
    assert all(hasattr(module, each) for each in module.__all__)


@pytest.mark.parametrize("name", DOORS)
def test_a_door_imports_only_from_doors_before_it(name):
    assert {path.stem for path in (PACKAGE / name).glob("*.py")} == {"__init__", *DOORS[name]}
    for place, door in enumerate(DOORS[name]):
        source = (PACKAGE / name / f"{door}.py").read_text(encoding="utf-8")
        imported = [node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
        own = {module.split(".")[-1] for module in imported if module and module.startswith(f"fairlib.{name}")}
        assert own <= set(DOORS[name][:place]), f"{name}/{door}.py"
