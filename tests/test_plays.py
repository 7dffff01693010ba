"""Every policy plays what it played when its plays were stored, compiled and interpreted.

An edit that is to leave the play alone, or to make it faster, is checked here against ``tests/reference/plays.json``:
who was played when, to the last round, and what it came to. Where other play is right, ``pytest tests/test_plays.py
--refresh-references`` stores it anew and shows what changed; all of this file must run for that, and pass.

The store names the versions of NumPy, Numba and Python for which its plays hold. Others may draw or round otherwise.
"""

import hashlib
import inspect
import re
import tomllib
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
import zoo
from references import Store, compare

import fairlib as fl
from fairlib.core.result import versions

ROOT = Path(__file__).parents[1]
STORE = Store(ROOT, "plays")
STORED: dict[str, dict[str, str]] = {each["play"]: each for each in STORE.stored}
VERSIONS = STORED.pop("versions", {})  # for which the plays hold
EXACT = ("play", "history", "selected")
PLAYS = {
    f"{name}: {game}, {how}": (name, game, seed, how)
    for name, game, seed in zoo.instances()
    for how in ("compiled", "interpreted")
}


def play(name: str, game: str, seed: int, horizon: int, interpret: bool) -> fl.Result:
    """Let a policy of the zoo play two runs of a game."""
    policy = zoo.ZOO[name].make(zoo.game(game))
    if interpret:
        policy = policy.replace(interpret=True)
    return fl.simulate(zoo.game(game), policy, horizon, runs=2, seed=seed)


def line(numbers: Any) -> str:
    """Write numbers on one line, so that it can be seen what changed, with more digits than are compared."""
    return " ".join(f"{x:.12g}" for x in np.ravel(numbers))


def summary(key: str, result: fl.Result) -> dict[str, str]:
    """Sum up a play: all counts in a hash; the last counts, rewards and regrets of each run as they are."""
    history = hashlib.sha256(result.selected.astype("<i8").tobytes()).hexdigest()[:16]
    arrays = {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray) and name != "rounds"}
    last = {name: line(value[:, -1]) for name, value in arrays.items()}
    return {"play": key, "history": history, **last}


def described(entry: dict[str, str] | None) -> dict[str, list[str]] | None:
    """Return a summary as lines to be compared."""
    return None if entry is None else {"": [f"{quantity}: {said}" for quantity, said in sorted(entry.items())]}


def alike(one: str, other: str) -> bool:
    """Return whether two lines are the same; of rewards and regrets up to where a search stops on another processor.

    That differs by 4e-7 of the regret, where we have seen it.
    """
    (quantity, then), (other_quantity, now) = one.split(": ", 1), other.split(": ", 1)
    if quantity != other_quantity or quantity in EXACT:
        return one == other
    return [float(x) for x in now.split()] == pytest.approx([float(x) for x in then.split()], rel=1e-5, abs=1e-9)


def settled(entry: dict[str, str], stored: dict[str, str]) -> dict[str, str]:
    """Return a summary with the quantities as they are stored, where those are alike."""
    both = entry.keys() & stored.keys()
    same = {each for each in both if alike(f"{each}: {stored[each]}", f"{each}: {entry[each]}")}
    return {quantity: stored[quantity] if quantity in same else said for quantity, said in entry.items()}


def elsewhere() -> str:
    """Say what is promised on versions of NumPy and Numba for which no plays are stored; nothing on those versions."""
    here = versions()
    if all(here[each] == VERSIONS.get(each) for each in ("numpy", "numba")):
        return ""
    return (
        f"The plays are stored for NumPy {VERSIONS.get('numpy')} and Numba {VERSIONS.get('numba')}; these are NumPy "
        f"{here['numpy']} and Numba {here['numba']}, with which a seed may give other plays. What is promised with all "
        "versions is that these are the same in each process, on any number of threads and for any number of runs "
        "(test_repeatable.py)."
    )


def test_the_versions_for_which_the_plays_hold_are_those_of_the_readme(request):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    here = {name: versions()[name] for name in ("numpy", "numba")} | {"python": project["requires-python"]}
    if STORE.refreshed(request.node, 0, len(PLAYS) + 1, [{"play": "versions", **here}]):
        return
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    said = re.findall(r"hold for\s+NumPy\s+([\d.]+\d)\s+and\s+Numba\s+([\d.]+\d)", readme)
    assert said == [(VERSIONS["numpy"], VERSIONS["numba"])]
    assert VERSIONS["python"] == project["requires-python"]
    if elsewhere():
        pytest.skip(elsewhere())


@pytest.mark.parametrize("key", PLAYS)
def test_a_policy_plays_what_it_played(key, request):
    name, game, seed, how = PLAYS[key]
    entry = zoo.ZOO[name]
    if how == "compiled":
        result = play(name, game, seed, entry.horizon, interpret=False)
    else:
        result = play(name, game, seed, entry.short, interpret=True)
    got = summary(key, result)
    place, parts = 1 + list(PLAYS).index(key), 1 + len(PLAYS)
    if STORE.refreshed(request.node, place, parts, [settled(got, STORED.get(key, {}))]):
        if how == "interpreted":
            assert np.array_equal(play(name, game, seed, entry.short, interpret=False).selected, result.selected)
        return
    wrong, lines = compare("The play", key, described(STORED.get(key)), described(got) or {}, alike)
    assert not wrong, f"{wrong}\n{elsewhere()}\n{lines}"


@pytest.mark.parametrize(
    ("quantity", "factor", "same"),
    [("selected", 1.000001, False), ("reward", 1.000001, True), ("reward", 1.001, False)],
)
def test_a_count_must_be_the_same_and_a_reward_nearly(quantity, factor, same):
    line = next(f"{quantity}: {entry[quantity]}" for entry in STORED.values() if quantity in entry)
    numbers = " ".join(f"{float(x) * factor:.12g}" for x in line.partition(": ")[2].split())
    assert alike(line, f"{quantity}: {numbers}") is same
    assert not alike(line, line.replace(quantity, "other"))


def test_nothing_is_stored_that_no_policy_plays(request):
    if not request.config.getoption("--refresh-references"):
        assert set(STORED) <= set(PLAYS)


def test_every_factory_is_in_the_zoo():
    modules = [import_module(each.name) for each in walk_packages(fl.__path__, "fairlib.")]
    factories = {
        name
        for module in modules
        for name, thing in vars(module).items()
        if inspect.isfunction(thing)
        and not name.startswith("_")
        and thing.__module__ == module.__name__
        and inspect.signature(thing).return_annotation in (fl.Policy, fl.ContextPolicy)
    }
    source = "".join(path.read_text(encoding="utf-8") for path in Path(zoo.__file__).parent.glob("*.py"))
    assert len(factories) > 30
    assert {name for name in factories if f".{name}(" not in source and f".{name}," not in source} == set()
