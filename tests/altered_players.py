"""Altered files of saved players, loaded in a process of their own: an error may be its end.

``python altered_players.py KIND FOLDER`` prints what came of each file: ``refused`` with a ValueError that names it, or
``played`` for some rounds; anything else in words. The parent sees which file was the last.
"""

import faulthandler
import json
import math
import pathlib
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
from helpers import exp3
from numpy.random import default_rng

import fairlib as fl
from fairlib import delays, linear, ranks, shares
from fairlib.core import Array

K, D, G, ROUNDS, HORIZON = 4, 3, 3, 12, 40


@fl.rule
def window(seen, feedback, at: fl.Number, last: Annotated[Array, 8], p):
    """Find its way in its memory by its memory."""
    for i in range(feedback.size):
        last[int(at[0])] = feedback.reward[i]
        at[0] = (at[0] + 1) % last.size
    return int(last[int(at[0]) - 1] + seen.t) % p.size


@fl.rule
def looking_back(now, past, first: fl.Number, p):
    """Begin to read the past where its memory says."""
    best = 0.0
    for s in range(int(first[0]), now.t - 1):
        best += past.rewards[s] * past.contexts[s, past.played[s], 0]
    first[0] = max(now.t - 3, 0)
    return int(best) % p.size


POLICIES: dict[str, Any] = {
    "arms": fl.thompson_beta(),
    "several plays": delays.fcts_d(fl.merit.power(1, 4), K, 2),
    "delayed feedback": shares.fair_learn(fl.Policy("EXP3", exp3, rate=0.05), [0.1] * K),
    "delayed feedback, interpreted": fl.Policy("EXP3", exp3, rate=0.05, interpret=True),
    "memory as an index": fl.Policy("window", window),
    "contexts": linear.linucb(1.0),
    "Fair-Greedy": ranks.fair_greedy(),
    "Fair-Greedy V2": ranks.fair_greedy_v2(),
    "Fair-Greedy, rarely": ranks.fair_greedy_rarely(),
    "past by an index": fl.ContextPolicy("looking back", looking_back),
}


def play(player: fl.Player, rounds: int, late: int) -> None:
    """Play some rounds, each told a few rounds later; one of the first is never told."""
    rng, contextual = default_rng(5), hasattr(player.policy, "dimension")
    for _ in range(rounds):
        groups = rng.integers(0, player._sizes.get("G", 1), K)  # a file may say that there are fewer
        given = (rng.normal(size=(K, D)), groups) if contextual else ()
        if player.policy.bound_rule.asks("past"):
            late = 0
            for t, arms in player.waiting.items():
                player.observe(t, 0.5, arms[0])
        player.choose(*given)
        for t, arms in list(player.waiting.items())[1 if late else 0 : -late or None]:
            for arm in arms:
                player.observe(t, float(rng.random() < 0.6), arm)


def files(arrays: dict[str, Any], chance: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name what is done to a file, and give what then is in it."""
    heading = json.loads(str(arrays["heading"]))

    def with_heading(changed: dict[str, Any]) -> dict[str, Any]:
        return {**arrays, "heading": np.array(json.dumps(changed))}

    yield "nothing", arrays
    odd: tuple[Any, ...] = (-1, 3.5, "x", None, math.nan, 1, 10**15, 10**40, {})
    for name in heading:
        yield f"no {name}", with_heading({key: value for key, value in heading.items() if key != name})
        for each in odd:
            yield f"{name} = {each!r}", with_heading({**heading, name: each})
    for name in ("uinteger", "has_uint32", "state", "bit_generator"):
        for each in (*odd, {"state": 0, "inc": 0}, {"state": 2**128, "inc": 1}, {"state": -1, "inc": 3}):
            yield f"rng {name} = {each!r}", with_heading({**heading, "rng": {**heading["rng"], name: each}})
    yield "rewards of any size", with_heading({**heading, "rewards": [-math.inf, math.inf]})

    for name, array in arrays.items():
        if name == "heading":
            continue
        yield f"no {name}", {key: value for key, value in arrays.items() if key != name}
        for kind in ("f4", "i4", ">f8", "f8", "i8", "c16", "?", "U3"):
            if array.dtype != np.dtype(kind):
                yield f"{name} of {kind}", {**arrays, name: array.astype(np.int64).astype(kind)}
        flat = array.ravel()
        shapes = [flat[:0], flat[:1], flat[:1].reshape(()) if flat.size else np.zeros((), array.dtype), flat[None]]
        shapes += [np.append(flat, flat[:1]), np.asfortranarray(array[::-1]), np.zeros((0, 3, 0), array.dtype)]
        for shaped in shapes:
            yield f"{name} of shape {shaped.shape}", {**arrays, name: shaped}
        for other in arrays:
            if other != name and other != "heading" and arrays[other].shape == array.shape:
                yield f"{name} and {other}", {**arrays, name: arrays[other], other: array}
        if flat.size == 0:
            continue
        values: tuple[Any, ...] = (-1, -(10**12), 10**6, 2**62, 7, 0)
        values += (1.9, -1e300, math.nan, math.inf) if array.dtype.kind == "f" else ()
        every = (
            range(flat.size) if name == "state" and flat.size < 20 else {0, flat.size - 1, *chance.choice(flat.size, 3)}
        )
        for value in values:
            yield f"{name}[...] = {value}", {**arrays, name: np.full_like(array, value)}
            for at in every:
                changed = flat.copy()
                changed[at] = value
                yield f"{name}[{at}] = {value}", {**arrays, name: changed.reshape(array.shape)}


def main(kind: str, folder: pathlib.Path) -> None:
    """Alter the file of a player of a kind, and print what becomes of each file."""
    policy, path = POLICIES[kind], folder / "player.npz"
    sizes: dict[str, Any] = {"dimension": D, "groups": G, "horizon": HORIZON} if hasattr(policy, "dimension") else {}
    player = fl.Player(policy, K, **sizes, seed=3)
    play(player, ROUNDS, late=2)
    player.save(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    for done, altered in files(arrays, default_rng(11)):
        np.savez(path, allow_pickle=False, **altered)
        print(done, end=": ", flush=True)
        faulthandler.dump_traceback_later(120, exit=True)
        try:
            play(fl.Player.load(path, policy), 8, late=2)
            print("played")
        except ValueError as error:
            print("refused" if str(path) in str(error) else f"{error!r} does not name the file")
        except Exception as error:
            print(f"{error!r} is no ValueError")
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
