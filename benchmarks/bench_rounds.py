"""What a round costs each policy of the zoo, as a ratio to the loop in C of its kind."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
import zoo
from games import KIND_OF, KINDS, LATE, came_to, setting
from turns import Loops, Rival, enough, play, take_turns


@pytest.mark.benchmark(group="rounds")
@pytest.mark.parametrize("name", list(zoo.ZOO))
def test_round(name: str, benchmark: Any, loops: Loops, there: Rival | None, pytestconfig: Any) -> None:
    """The policy and its yardstick play the same game."""
    kind = KIND_OF[name]
    game, policy = setting(name, rounds=10**7)
    play(game, policy, 3)  # compiles
    rounds = LATE if kind.grows else enough(game, policy, aim=0.1)
    others = {"C": loops.turn(kind, kind.size, rounds)}
    if there and there.ask(name=name, rounds=rounds) is not None:
        others["there"] = partial(there.ask, name=name, rounds=rounds)
    take_turns(benchmark, partial(play, game, policy, rounds), others, pytestconfig.getoption("--turns"))
    benchmark.extra_info |= {"policy": name, "loop": kind.loop, "size": kind.size._asdict(), "rounds": rounds}


@pytest.mark.benchmark(group="agreement")
@pytest.mark.parametrize("kind", [kind for kind in KINDS.values() if kind.exact], ids=lambda kind: kind.plays)
def test_both_do_the_same(kind: Any, benchmark: Any, loops: Loops) -> None:
    """A loop that plays something else is no yardstick: what the runs come to must agree."""
    runs, rounds = 200, kind.rounds
    name = kind.plays
    game, policy = setting(name, rounds=rounds)
    ours = np.array(came_to(name, game, benchmark.pedantic(play, (game, policy, rounds, runs))))
    theirs = np.array(loops.play(kind, kind.size, rounds, runs)[1])
    error = math.hypot(ours.std(ddof=1), theirs.std(ddof=1)) / runs**0.5
    apart = abs(float(ours.mean() - theirs.mean())) / error
    benchmark.extra_info |= {"policy": name, "loop": kind.loop, "rounds": rounds, "runs": runs, "apart": apart}
    benchmark.extra_info |= {"came to": [float(ours.mean()), float(theirs.mean()), error]}
    # Of nineteen that do the same, three errors would call one other in one measurement of twenty.
    assert apart < 4
