"""The record of the arena: what every entrant did in every game, which the book shows in `benchmarks/arena.json`.

``make arena`` plays it anew, in some minutes; ``tests/test_arena.py`` plays samples of it again.
"""

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from page_scripts import RECORD

import fairlib as fl
from fairlib import arena
from fairlib.core.result import versions
from fairlib.pages.playground import Playground

ROOT = Path(__file__).parents[1]
HORIZONS = (1_000, 10_000)
RUNS = 200
SEED = 2026
# One measure for each notion. The others that a game has order policies as one of these does, or nearly so: the reward
# regret of contexts, which has a sign, is regret less a number of the game's and the luck of the contexts.
ON_ARMS = ("regret", "deficit", "reward_regret", "fairness_regret")
ELSEWHERE = ("regret", "fairness_regret")
FRONTS = (("regret", "fairness_regret"), ("regret", "deficit"))
COLUMNS = ("horizon", "game", "measure", "policy", "mean", "error", "median", "worst", "best", "last", "close")


def rows(found: fl.Comparison) -> list[list[Any]]:
    """Return a line of `COLUMNS` for each number of a comparison: its ranks, and whether it is near the best."""
    frame = found.frame()
    made = []
    for game in found.games:
        for measure in ON_ARMS if isinstance(arena.v1[game], Playground) else ELSEWHERE:
            for policy, rank in found.ranks(game, measure).iterrows():
                _, *rest = frame.loc[game, measure, policy]
                numbers = [float(rank["mean"]), *(float(f"{each:.6g}") for each in rest)]
                places = [int(rank["best"]), int(rank["worst"]), int(rank["close"])]
                made.append([found.horizon, game, measure, policy, *numbers, *places])
    return made


def undominated(means: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which policies no other beats in one of two losses without losing in the other."""
    tie = 1e-9 * np.abs(means).max(axis=-1)[..., None, None]  # sums in another order may differ by as much
    beyond = means[..., :, None] - means[..., None, :]  # of the other's loss
    beaten = np.all(beyond <= tie, axis=-3) & np.any(beyond < -tie, axis=-3)
    return np.asarray(~np.any(beaten, axis=-2))


def front(found: fl.Comparison, game: str, first: str, second: str) -> dict[str, float]:
    """Return who is on the Pareto front of two losses, and in what share of 1,000 resamples of the runs."""
    pair = [found.values(game, each) for each in (first, second)]
    losses = np.stack([np.asarray(each, np.float64) for each in pair])
    drawn = np.random.default_rng(0).multinomial(found.runs, np.full(found.runs, 1 / found.runs), 1000)
    kept = undominated(np.einsum("sr,mrp->smp", drawn / found.runs, losses)).mean(axis=0)
    on = undominated(losses.mean(axis=1))
    return {policy: float(share) for policy, share, there in zip(pair[0], kept, on, strict=True) if there}


def fronts(found: fl.Comparison) -> list[list[Any]]:
    """Return who is on which front, and in what share of the resamples."""
    return [
        [found.horizon, game, first, second, policy, kept]
        for game in found.games
        for first, second in FRONTS
        if second in found.measures(game)
        for policy, kept in front(found, game, first, second).items()
    ]


def write(comparisons: list[fl.Comparison]) -> None:
    """Write comparisons down, a line for each row, so that a change can be seen."""
    head = {
        "suite": arena.v1.name,
        "fingerprint": arena.v1.fingerprint,
        "runs": RUNS,
        "seed": SEED,
        "date": date.today().isoformat(),
        "versions": versions(),
        "columns": COLUMNS,
        "front_columns": ("horizon", "game", "first", "second", "policy", "kept"),
    }
    parts = {"rows": [row for each in comparisons for row in rows(each)]}
    parts["fronts"] = [row for each in comparisons for row in fronts(each)]
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    lines += ['"' + name + '": [\n' + ",\n".join(map(json.dumps, part)) + "\n]" for name, part in parts.items()]
    (ROOT / RECORD).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    write([fl.compare(arena.entrants, arena.v1, T, runs=RUNS, seed=SEED, progress=True) for T in HORIZONS])
