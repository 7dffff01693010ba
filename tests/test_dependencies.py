"""What is imported is declared, and what the project says in two places agrees."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import jupytext
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import fairlib

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROVIDERS = packages_distributions()

# Who imports, and which of the lists in pyproject.toml has to name what is imported there.
CORE = PROJECT["dependencies"]
BOOK, TEST = (PROJECT["optional-dependencies"][name] for name in ("book", "test"))
SCOPES = {
    "fairlib": ("fairlib/**/*.py", CORE),
    "cells": ("chapters/*.md", CORE + BOOK),
    "extensions": ("chapters/extensions/**/*.py", CORE + BOOK),
    "tests": ("tests/**/*.py", CORE + BOOK + TEST),
    "benchmarks": ("benchmarks/*.py", CORE + BOOK + TEST),
}


def names(requirements: list[str]) -> set[str]:
    """Return the names of the packages that are asked for."""
    return {canonicalize_name(Requirement(each).name) for each in requirements}


@cache
def parsed(pattern: str) -> list[tuple[str, ast.Module]]:
    """Return the Python of each file, or of each cell of a chapter, and its place."""
    found = []
    for path in sorted(ROOT.glob(pattern)):
        if path.suffix == ".py":
            texts = [path.read_text(encoding="utf-8")]
        else:
            texts = [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]
        found += [(path.relative_to(ROOT).as_posix(), ast.parse(text)) for text in texts]
    return found


def imported(pattern: str) -> dict[str, str]:
    """Return the modules of others that are imported, each with a file that imports it."""
    folders = [ROOT / folder for folder in (".", "tests", "chapters/extensions", "benchmarks")]
    ours = {path.stem for folder in folders for path in folder.glob("*") if path.suffix in ("", ".py")}
    found: dict[str, str] = {}
    for where, tree in parsed(pattern):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                modules = [node.module or ""]
            else:
                continue
            found |= {module.partition(".")[0]: where for module in modules}
    return {module: where for module, where in found.items() if module not in ours | sys.stdlib_module_names}


def providers(module: str) -> set[str]:
    """Return the names of the packages that a module may come from; one that is not installed goes by its own name."""
    return {canonicalize_name(name) for name in PROVIDERS.get(module, [module])}


@pytest.mark.parametrize("scope", SCOPES)
def test_what_is_imported_is_declared(scope: str) -> None:
    pattern, declared = SCOPES[scope]
    modules = imported(pattern)
    assert modules
    undeclared = {module: where for module, where in modules.items() if not providers(module) & names(declared)}
    assert not undeclared, "name in pyproject.toml the packages that these come from"


def test_the_versions_of_python_are_the_same_everywhere() -> None:
    """The list in pyproject.toml is what counts; make reads it from there."""
    allowed = [f"3.{minor}" for minor in range(30) if f"3.{minor}" in SpecifierSet(PROJECT["requires-python"])]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"Python (3\.\d+) to (3\.\d+)", readme) == [(allowed[0], allowed[-1])]
    assert workflow()["jobs"]["check"]["strategy"]["matrix"]["python"] == allowed
    assert workflow("weekly")["jobs"]["newest"]["strategy"]["matrix"]["python"] == allowed
    assert (ROOT / ".binder" / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-") in allowed
    assert not re.search(r"3\.\d", (ROOT / "Makefile").read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released, day = re.findall(r"^## \[(.+?)\] - (.+)$", changelog, re.MULTILINE)[0]
    assert (released, day) == (citation["version"], str(citation["date-released"]))
    coming = re.findall(r"^## (\S+), not yet released$", changelog, re.MULTILINE)
    version = f"{coming[0]}.dev0" if coming else released
    footer = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["html"]["extra_footer"]
    assert (version, f"Version {version}") == (fairlib.__version__, footer)
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():  # a commit that is tagged as a release is the release of this number
        command = [git, "-C", str(ROOT), "tag", "--points-at", "HEAD", "--list", "v*"]
        tags = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert tags in ([], [f"v{released}"])


def workflow(name: str = "ci") -> dict[str, Any]:
    """Return what is to happen on GitHub."""
    path = ROOT / ".github" / "workflows" / f"{name}.yml"
    read: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return read
