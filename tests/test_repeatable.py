"""The same seed gives the same numbers: in other processes, on any number of threads, and for any number of runs."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zoo
from helpers import same

import fairlib as fl
from fairlib.engine import simulate
from fairlib.player import Player

ROOT = Path(__file__).parents[1]


def simulated(name: str, runs: int) -> fl.Result:
    """Let a policy of the zoo play its first game, as long as a test that is interpreted does."""
    entry = zoo.ZOO[name]
    game = zoo.game(entry.games[0])
    return fl.simulate(game, entry.make(game), entry.short, runs=runs, seed=11)


def put_to_work(name: str) -> list[Any]:
    """Let a policy on arms choose, and tell it of rewards that its choices decide."""
    game = zoo.game(zoo.ZOO[name].games[0])
    player = Player(zoo.ZOO[name].make(game), game.arms.means.size, seed=11)
    choices = []
    for t in range(1, 31):
        choice = player.choose()
        choices.append(choice)
        for arm in choice.arms:
            player.observe(t, (7 * t + arm) % 11 / 10, arm)
    return choices


def digests() -> dict[str, str]:
    """Return a digest of all that each policy plays, to the last bit."""
    made = {}
    for name in zoo.ZOO:
        result = simulated(name, 2)
        arrays = [value.tobytes() for value in vars(result).values() if isinstance(value, np.ndarray)]
        made[name] = hashlib.sha256(b"".join(arrays)).hexdigest()
        if name in zoo.ON_ARMS:
            made[f"{name}, at work"] = hashlib.sha256(repr(put_to_work(name)).encode()).hexdigest()
    return made


def test_two_fresh_processes_play_what_this_one_plays():
    """Python hashes strings otherwise in each process, so that what goes by the order of a set would show."""
    here, started = digests(), []  # first here, so that what has to be compiled is there for the others
    for seed in ("1", "2"):
        told = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
        command = [sys.executable, "-c", "import json, test_repeatable as t; print(json.dumps(t.digests()))"]
        started.append(subprocess.Popen(command, env=told, cwd=ROOT, stdout=subprocess.PIPE, text=True))
    for process in started:
        said, _ = process.communicate(timeout=600)
        assert process.returncode == 0
        assert json.loads(said) == here


@pytest.mark.parametrize("name", zoo.ZOO)
def test_threads_and_more_runs_change_nothing(name, monkeypatch):
    many = simulated(name, 6)
    for threads in (1, 2, 5):
        monkeypatch.setattr(simulate, "_processors", lambda number=threads: number)
        assert same(many, simulated(name, 6))
    few = simulated(name, 2)
    for each, value in vars(few).items():
        if isinstance(value, np.ndarray) and each != "rounds":
            assert np.array_equal(value, getattr(many, each)[:2]), each
