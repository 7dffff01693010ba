"""Fair-Greedy's kind on people, where a round looks through half of the past, against NumPy's product of that size."""

import time
from functools import partial
from typing import Any

import numpy as np
import pytest
import zoo
from effort import Effort
from turns import play, take_turns

from fairlib import ranks
from fairlib.data import standardized, twoyear

ARMS = 10


@pytest.mark.benchmark(group="products")
@pytest.mark.parametrize("name", ["Fair-Greedy V2", "Fair-Greedy, rarely", "oracle rewards"])
def test_people(name: str, benchmark: Any, effort: Effort) -> None:
    """Line 3 of the box needs the products of all contexts of the second half with the estimate: that is the floor."""
    horizon, data = 200 if effort.tiny else 2500, twoyear()
    people = standardized(data.features)
    game = ranks.employer(people, data.groups, data.rewards, arms=ARMS, sd=0.2)
    policy = zoo.ZOO[name].make(game)
    rng = np.random.default_rng(1)
    contexts, estimate = rng.random((horizon, ARMS, people.shape[1])), rng.random((people.shape[1],))

    def products() -> float:
        start = time.process_time()
        for t in range(3, horizon + 1):
            contexts[(t - 1) // 2 : t - 1].reshape(-1, people.shape[1]) @ estimate
        return time.process_time() - start

    play(game, policy, 3)
    take_turns(benchmark, partial(play, game, policy, horizon), {"NumPy's product": products}, effort.turns)
    benchmark.extra_info |= {"policy": name, "K": ARMS, "d": people.shape[1], "rounds": horizon}
