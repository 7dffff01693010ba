"""Every policy plays what it played when its plays were stored, compiled and interpreted.

An edit that is to leave the play alone, or to make it faster, is checked here against ``tests/reference/plays.json``:
who was played when, to the last round, and what it came to. Where other play is right, ``python tests/test_plays.py``
stores it anew; look at each line that has changed.

The store names the versions of NumPy, Numba and Python for which its plays hold. Others may draw or round otherwise.
"""

import hashlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zoo
from helpers import factories

import fairlib as fl
from fairlib.core.result import versions

ROOT = Path(__file__).parents[1]
FILE = ROOT / "tests" / "reference" / "plays.json"
STORED: dict[str, dict[str, str]] = {each["play"]: each for each in json.loads(FILE.read_text(encoding="utf-8"))}
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


def alike(quantity: str, then: str, now: str) -> bool:
    """Return whether a quantity is the same; of rewards and regrets up to where a search stops on another processor.

    That differs by 4e-7 of the regret, where we have seen it.
    """
    if quantity in EXACT:
        return then == now
    return [float(x) for x in now.split()] == pytest.approx([float(x) for x in then.split()], rel=1e-5, abs=1e-9)


def settled(entry: dict[str, str], stored: dict[str, str]) -> dict[str, str]:
    """Return a summary with the quantities as they are stored, where those are alike."""
    return {each: stored[each] if alike(each, stored.get(each, ""), said) else said for each, said in entry.items()}


def played(key: str) -> fl.Result:
    """Play what a key says, for as long as the zoo says."""
    name, game, seed, how = PLAYS[key]
    entry = zoo.ZOO[name]
    interpret = how == "interpreted"
    return play(name, game, seed, entry.short if interpret else entry.horizon, interpret)


def store() -> None:
    """Store all plays anew; what was stored stays as it is where the new play is alike."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    here = {name: versions()[name] for name in ("numpy", "numba")} | {"python": project["requires-python"]}
    entries = [{"play": "versions", **here}]
    for key, (name, game, seed, how) in PLAYS.items():
        result = played(key)
        if how == "interpreted":
            compiled = play(name, game, seed, zoo.ZOO[name].short, interpret=False)
            assert np.array_equal(compiled.selected, result.selected), key
        entries.append(settled(summary(key, result), STORED.get(key, {})))
    FILE.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n")


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


def test_nothing_is_stored_that_no_policy_plays():
    assert set(STORED) <= set(PLAYS)


@pytest.mark.parametrize("key", PLAYS)
def test_a_policy_plays_what_it_played(key):
    stored, now = STORED.get(key, {}), summary(key, played(key))
    assert stored.keys() == now.keys(), f"not stored: {sorted(now.keys() - stored.keys())}"
    changed = [f"{each}: {stored[each]}\nnow: {now[each]}" for each in now if not alike(each, stored[each], now[each])]
    assert not changed, "\n".join([elsewhere(), *changed])


def test_every_factory_is_in_the_zoo():
    source = "".join(path.read_text(encoding="utf-8") for path in Path(zoo.__file__).parent.glob("*.py"))
    assert len(factories()) > 30
    assert {name for name in factories() if not re.search(rf"\.{name}[(),]", source)} == set()


if __name__ == "__main__":
    store()
