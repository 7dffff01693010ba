"""Every policy plays what it played when its plays were stored, compiled and interpreted.

An edit that is to leave the play alone, or to make it faster, is checked here against ``tests/reference/plays.json``:
who was played when, to the last round, and what it came to. Where other play is right, ``pytest tests/test_plays.py
--refresh-references`` stores it anew and shows what changed; all of this file must run for that, and pass.
"""

import hashlib
import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pytest
import zoo
from notebooks import read_references, reference_file

import fairlib as fl

ROOT = Path(__file__).parents[1]
STORED = {each["play"]: each for each in read_references(reference_file(ROOT, "plays"))}
PLAYS = {
    f"{name}: {game}, {how}": (name, game, seed, how)
    for name, game, seed in zoo.instances()
    for how in ("compiled", "interpreted")
    if how == "compiled" or zoo.ZOO[name].short
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


@pytest.mark.parametrize("key", PLAYS)
def test_a_policy_plays_what_it_played(key, request, record_property):
    name, game, seed, how = PLAYS[key]
    entry = zoo.ZOO[name]
    if how == "compiled":
        result = play(name, game, seed, entry.horizon, interpret=False)
    else:
        result = play(name, game, seed, entry.short, interpret=True)
    got = summary(key, result)
    if request.config.getoption("--refresh-references"):
        if how == "interpreted":
            assert np.array_equal(play(name, game, seed, entry.short, interpret=False).selected, result.selected)
        record_property("reference", ["plays", list(PLAYS).index(key), len(PLAYS), got])
        return
    assert key in STORED, "nothing is stored for it"
    stored = STORED[key]
    assert set(got) == set(stored)
    assert got["selected"] == stored["selected"]
    assert got["history"] == stored["history"], "the last counts are the same, but not those on the way"
    for quantity in set(got) - {"play", "history", "selected"}:
        now, then = ([float(x) for x in values[quantity].split()] for values in (got, stored))
        # Where a search stops differs from one processor to another: by 4e-7 of the regret, where we have seen it.
        assert now == pytest.approx(then, rel=1e-5, abs=1e-9), quantity


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
    source = inspect.getsource(zoo)
    assert len(factories) > 30
    assert {name for name in factories if f".{name}(" not in source and f".{name}," not in source} == set()
