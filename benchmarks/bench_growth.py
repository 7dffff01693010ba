"""How the time grows with rounds, arms, plays, dimensions and runs, and what a second processor is worth."""

import os
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest
from effort import Effort
from games import KIND_OF, KINDS, Size, setting
from turns import Loops, Turn, enough, play, seconds, take_turns

EXACT = [kind.plays for kind in KINDS.values() if kind.exact and not kind.grows]
SIZES = {  # what grows, whose time is looked at, and through which sizes
    "K": (("UCB1", "Thompson sampling", "FairX-UCB, exponential", "FairX-TS", "FCTS-D", "LinUCB"), range(1, 9)),
    "L": (("CUCB-D", "FCUCB-D", "FCTS-D"), range(5)),
    "d": (("LinUCB", "LinTS", "FairX-LinUCB, exponential"), range(1, 7)),
    "runs": (("UCB1", "FCUCB-D", "LinUCB", "Fair-Greedy"), range(7)),
}


def sized(name: str, what: str, number: int) -> Size:
    """Return the size of a game of which one number is chosen."""
    size = KIND_OF[name].size
    if what == "L":
        return size._replace(arms=64, plays=number)
    return size._replace(arms=number, plays=1) if what == "K" else size._replace(dimension=number)


def measure(benchmark: Any, name: str, what: str, turns: Mapping[str, Turn], last: Any, effort: Effort) -> None:
    """Let all sizes take turns; the last of ours is on pytest-benchmark's clock."""
    take_turns(benchmark, last, turns, effort.turns)
    benchmark.extra_info |= {"policy": name, "what": what}


@pytest.mark.benchmark(group="growth")
@pytest.mark.parametrize("name", EXACT)
def test_rounds(name: str, benchmark: Any, effort: Effort) -> None:
    """Of the policies whose round costs the same, early and late."""
    game, policy = setting(name)
    play(game, policy, 3)
    first = 200 if effort.tiny else enough(game, policy, 0.04)  # the start of a game takes about a millisecond
    sizes = [first * 2**i for i in (0, 1, 3, 4)]
    turns = {f"ours {rounds}": partial(seconds, game, policy, rounds) for rounds in sizes[:-1]}
    measure(benchmark, name, "T", turns, partial(play, game, policy, sizes[-1]), effort)
    benchmark.extra_info["last"] = sizes[-1]


@pytest.mark.benchmark(group="growth")
def test_rounds_with_history(benchmark: Any, loops: Loops, effort: Effort) -> None:
    """Of Fair-Greedy, which looks through half of the past in each."""
    name, sizes = "Fair-Greedy", [2**i * (20 if effort.tiny else 500) for i in range(6)]
    (game, policy), kind = setting(name), KIND_OF[name]
    play(game, policy, 3)
    turns: dict[str, Turn] = {f"ours {rounds}": partial(seconds, game, policy, rounds) for rounds in sizes[:-1]}
    turns |= {f"C {rounds}": loops.turn(kind, kind.size, rounds) for rounds in sizes}
    measure(benchmark, name, "T", turns, partial(play, game, policy, sizes[-1]), effort)
    benchmark.extra_info["last"] = sizes[-1]


@pytest.mark.benchmark(group="growth")
@pytest.mark.parametrize(("what", "name"), [(what, name) for what in ("K", "L", "d") for name in SIZES[what][0]])
def test_sizes(what: str, name: str, benchmark: Any, loops: Loops, effort: Effort) -> None:
    """The seconds are those of a round, times a million."""
    kind, aim = KIND_OF[name], effort.turn / 2
    numbers = [2**i for i in SIZES[what][1]][: 2 if effort.tiny else None]
    turns: dict[str, Turn] = {}

    def a_million(turn: Turn, rounds: int) -> float:
        return 1e6 * turn() / rounds

    for number in numbers:
        size = sized(name, what, number)
        game, policy = setting(name, size)
        play(game, policy, 3)
        rounds = enough(game, policy, aim)
        turns[f"ours {number}"] = partial(a_million, partial(seconds, game, policy, rounds), rounds)
        turns[f"C {number}"] = partial(a_million, loops.turn(kind, size, rounds), rounds)
    measure(benchmark, name, what, turns, partial(play, game, policy, rounds), effort)


@pytest.mark.benchmark(group="growth")
@pytest.mark.parametrize("name", SIZES["runs"][0])
def test_runs(name: str, benchmark: Any, effort: Effort) -> None:
    """Of all processors together."""
    game, policy = setting(name)
    play(game, policy, 3)
    numbers = [2**i for i in SIZES["runs"][1]][: 2 if effort.tiny else None]
    rounds = 200 if effort.tiny else 1500 if KIND_OF[name].grows else enough(game, policy, 0.02)
    turns = {f"ours {runs}": partial(seconds, game, policy, rounds, runs) for runs in numbers[:-1]}
    measure(benchmark, name, "runs", turns, partial(play, game, policy, rounds, numbers[-1]), effort)
    benchmark.extra_info["last"] = numbers[-1]


@pytest.mark.benchmark(group="processors", timer=time.perf_counter)
@pytest.mark.parametrize("name", ["UCB1", "FairX-UCB, exponential", "FCUCB-D", "LinUCB", "Fair-Greedy"])
def test_two_processors(name: str, benchmark: Any, effort: Effort) -> None:
    """Eight runs, on one processor and on two, by the clock on the wall."""
    if not hasattr(os, "sched_setaffinity") or len(allowed := os.sched_getaffinity(0)) < 2:
        pytest.skip("this process may not choose among processors")
    game, policy = setting(name)
    play(game, policy, 3)
    rounds = 200 if effort.tiny else 8000 if KIND_OF[name].grows else enough(game, policy, 0.1)

    def on(processors: int) -> float:
        os.sched_setaffinity(0, sorted(allowed)[:processors])
        start = time.perf_counter()
        play(game, policy, rounds, 8)
        taken = time.perf_counter() - start
        os.sched_setaffinity(0, allowed)
        return taken

    take_turns(benchmark, partial(on, 2), {"one": partial(on, 1)}, effort.turns)
    benchmark.extra_info |= {"policy": name, "rounds": rounds}
