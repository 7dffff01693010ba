"""Measure what a round costs each policy of the zoo, and compare two states of the project with each other.

``.venv/bin/python benchmarks/rounds.py`` prints the nanoseconds a round of each policy on its first game, compiled.
With ``--against PATH``, the path of another checkout, it prints them for both trees, and their ratio, this one's to
that one's: above 1 is slower here. Each tree is measured with its own package and its own ``tests/zoo.py``, so that a
factory may be called in another way there; the entries must go by the same names.

What counts are the ratios. The nanoseconds depend on the machine, on its clock and on who else is at work on it, and
change from one minute to the next by more than most edits are worth. So each tree has a process of its own that stays
alive, the two take turns (A B A B ...) on the same rounds of the same game, and the least processor time of all turns
is taken, as what others do can only add to it. The turns of one policy are spread over the whole measurement: a slow
spell lasts for seconds, and would spoil all of them if they came one after the other. The two processes still differ in
where their code and data happen to lie in memory; a checkout against itself (``--against .``) shows how much all this
leaves, and nothing smaller should be read into a ratio. With ``--only``, ask for more ``--repeats``.
"""

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
AIM = 0.1  # seconds of processor time that one turn should take
LATE = 2500  # rounds where a round costs more the later it is: then the horizon is part of what is measured


class Tree:
    """A checkout of the project, and the process that measures it."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        env = os.environ | {"PYTHONPATH": os.pathsep.join([str(self.path), str(self.path / "tests")])}
        env |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, __file__, "--worker", str(self.path)]
        self.process = subprocess.Popen(
            command, cwd=self.path, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request: Any) -> Any:
        """Send a request and wait for the answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(request), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the process that measures {self.path} has ended; its last words are above")
        return json.loads(answer)

    def names(self) -> dict[str, bool]:
        """Return the names of the tree's zoo, and whether a round costs more the later it is."""
        names: dict[str, bool] = self.ask()
        return names

    def seconds(self, name: str, horizon: int, plays: int) -> float:
        """Return the processor time of some plays in a row."""
        return float(self.ask(name=name, horizon=horizon, plays=plays))

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has ended already
            self.process.stdin.close()
        self.process.wait()


def work(path: str) -> None:
    """Answer requests, one a line, with the package and the zoo of the tree at a path."""
    import zoo

    import fairlib as fl

    for module in (fl, zoo):
        if not Path(str(module.__file__)).resolve().is_relative_to(path):
            raise SystemExit(f"{module.__name__} was found at {module.__file__}, which is not under {path}")
    policies: dict[str, tuple[Any, Any]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        if not request:
            print(json.dumps({name: entry.grows for name, entry in zoo.ZOO.items()}), flush=True)
            continue
        name, horizon = request["name"], request["horizon"]
        if name not in policies:
            game = zoo.game(zoo.ZOO[name].games[0])
            policies[name] = game, zoo.ZOO[name].make(game)
            fl.simulate(*policies[name], horizon=3)  # compiles
        start = time.process_time()
        for _ in range(request["plays"]):
            fl.simulate(*policies[name], horizon, seed=1, rounds=[horizon])
        print(json.dumps(time.process_time() - start), flush=True)


def size_of_a_turn(tree: Tree, name: str, grows: bool) -> tuple[int, int]:
    """Return the rounds of a play, and the plays of a turn, that take about as long as a turn should."""
    horizon, plays = (LATE if grows else 10), 1
    while (taken := tree.seconds(name, horizon, plays)) < AIM / 4:
        if grows:
            plays *= 2
        else:
            horizon *= 2
    if grows:
        return horizon, max(1, round(plays * AIM / taken))
    return max(1, round(horizon * AIM / taken)), 1


def compare(here: Tree, there: Tree | None, only: str, repeats: int) -> None:
    """Measure, and print the table."""
    trees = [here] if there is None else [here, there]
    known = [tree.names() for tree in trees]
    for name in sorted(set(known[0]) ^ set(known[-1])):
        print(f"{name}: only in one of the two trees")
    chosen = [name for name in known[0] if only.lower() in name.lower() and name in known[-1]]
    sizes = {}
    for name in chosen:
        print(f"\rcompiling {name:40}", end="", file=sys.stderr)
        sizes[name] = size_of_a_turn(here, name, known[0][name])
        for tree in trees[1:]:
            tree.seconds(name, sizes[name][0], 1)
    least = {name: [math.inf] * len(trees) for name in chosen}
    for turn in range(repeats):
        for name in chosen:
            print(f"\rturn {turn + 1} of {repeats}, {name:40}", end="", file=sys.stderr)
            rounds, plays = sizes[name]
            taken = [1e9 * tree.seconds(name, rounds, plays) / (rounds * plays) for tree in trees]
            least[name] = [min(pair) for pair in zip(least[name], taken, strict=True)]
    print(f"\r{'':60}\r", end="", file=sys.stderr)
    print(f"{'policy':36}{'rounds':>10}{'ns here':>12}" + (f"{'ns there':>12}{'ratio':>8}" if there else ""))
    for name, nanoseconds in least.items():
        line = f"{name:36}{sizes[name][0]:10,}" + "".join(f"{ns:12,.1f}" for ns in nanoseconds)
        print(line + (f"{nanoseconds[0] / nanoseconds[1]:8.3f}" if there else ""))
    if there and chosen:
        worst = max(chosen, key=lambda name: least[name][0] / least[name][1])
        print(f"worst ratio: {least[worst][0] / least[worst][1]:.3f}, {worst}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Nanoseconds a round of every policy of the zoo.")
    parser.add_argument("--against", type=Path, metavar="PATH", help="another checkout, to be measured in turns")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="only policies with this in their name")
    parser.add_argument("--repeats", type=int, default=30, metavar="N", help="turns of each tree (30)")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return
    trees = [Tree(path) for path in (ROOT, arguments.against) if path]
    try:
        compare(trees[0], trees[1] if arguments.against else None, arguments.only, arguments.repeats)
    finally:
        for tree in trees:
            tree.close()


if __name__ == "__main__":
    main()
