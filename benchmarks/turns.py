"""Rivals that take turns: ours on pytest-benchmark's clock, and each of the others once before each turn of ours.

What counts are ratios. The nanoseconds depend on the machine, on its clock and on who else is at work on it, and change
from one minute to the next by more than most edits are worth. So both sides of a ratio are measured in turns (A B A B
...), in processor time, and the least of all turns is taken, as what others do can only add to it.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from games import Kind, Size

import fairlib as fl


def play(game: Any, policy: Any, rounds: int, runs: int = 1) -> Any:
    """Play a game of ours, with its last round recorded alone."""
    return fl.simulate(game, policy, rounds, runs=runs, seed=1, rounds=[rounds])


def seconds(game: Any, policy: Any, rounds: int, runs: int = 1) -> float:
    """Play, and return the seconds of processor time that it took."""
    start = time.process_time()
    play(game, policy, rounds, runs)
    return time.process_time() - start


def enough(game: Any, policy: Any, aim: float, rounds: int = 10) -> int:
    """Return how many rounds take about as many seconds as a turn should."""
    while (taken := seconds(game, policy, rounds)) < aim / 2:  # of less, the start of a game would be a large part
        rounds *= 2
    return max(1, round(rounds * aim / taken))


FLAGS = ("-O3", "-march=native", "-fno-math-errno")  # the last, so that roots can be taken several at once
Turn = Callable[[], float]  # takes a turn, and returns its seconds of processor time


def take_turns(benchmark: Any, ours: Callable[[], object], others: Mapping[str, Turn], turns: int) -> None:
    """Measure ours with pytest-benchmark, and the others between its turns; a first turn of each does not count."""
    taken: dict[str, list[float]] = {name: [] for name in others}

    def before() -> None:
        for name, turn in others.items():
            taken[name].append(turn())

    benchmark.pedantic(ours, setup=before, rounds=turns, warmup_rounds=1)
    benchmark.extra_info["seconds"] = {name: each[-turns:] for name, each in taken.items()}


class Loops:
    """The program made of ``loops.c``."""

    def __init__(self, folder: Path) -> None:
        self.program = folder / "loops"
        source = Path(__file__).with_name("loops.c")
        command = [os.environ.get("CC", "cc"), *FLAGS, str(source), "-o", str(self.program), "-lm"]
        subprocess.run(command, check=True)

    def play(self, kind: Kind, size: Size, rounds: int, runs: int = 1, seed: int = 7) -> tuple[float, list[float]]:
        """Play the game of a kind; return the seconds that it took, and what each run came to."""
        given = [kind.loop, *size, rounds, runs, seed, *kind.merit, kind.delay]
        answer = subprocess.run(list(map(str, [self.program, *given])), check=True, capture_output=True, text=True)
        nanoseconds, *came_to = map(float, answer.stdout.split())
        return 1e-9 * nanoseconds * rounds * runs, came_to

    def turn(self, kind: Kind, size: Size, rounds: int) -> Turn:
        """Return what plays a game of a kind and says how long it took."""
        return lambda: self.play(kind, size, rounds)[0]


class Rival:
    """A process that stays alive and takes its turns when it is asked: it reads and writes JSON, a line a time."""

    def __init__(self, command: Sequence[str], path: str = "") -> None:
        env = os.environ | {"PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
        env |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def ask(self, **request: Any) -> Any:
        """Send a request and wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"{self.process.args!r} has ended")
        return json.loads(answer)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
