"""Streams of chance: those of each run are NumPy's, however they are made."""

import numpy as np
import pytest
from numpy.random import SeedSequence

import fairlib as fl
from fairlib.engine.seeding import Streams, streams


@pytest.mark.parametrize(
    "entropy", [0, 5, 2**32, 2**70 + 3, [1, 2, 3], [2**40, 7, 1, 2, 3, 4, 5, 6], ["0x1F", "007", 5]]
)
@pytest.mark.parametrize("key", [(), (3,), (2**33, 1)])
@pytest.mark.parametrize("pool_size", [4, 8])
def test_the_streams_of_one_run_after_the_other_are_those_that_numpy_makes(entropy, key, pool_size):
    root = SeedSequence(entropy, spawn_key=key, pool_size=pool_size)
    both = Streams(root)
    for run in (0, 7, 123_456, 2**32 - 1):
        both.begin(run)
        both.policy_rng.random(3)
        both.env_rng.integers(9, dtype=np.int32)  # leaves half of a word for the next, which must not see another run
        both.begin(run)
        for rng, expected in zip((both.policy_rng, both.env_rng), streams(root, run), strict=True):
            assert rng.bit_generator.state == expected.bit_generator.state


def test_of_runs_that_fail_the_first_is_told():
    """Whatever the threads do: the error is that of one run after the other."""

    def rule(seen, p, rng):
        p[0] = 1.0 if rng.random() < 0.995 else 2.0

    game, policy = fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.Policy("fails", rule)

    def failure(runs):
        try:
            fl.simulate(game, policy, 100, runs=runs)
        except ValueError as error:
            return str(error)
        return ""

    first = next(runs for runs in range(1, 20) if failure(runs))
    assert f"of run {first - 1} " in failure(first)
    assert {failure(50) for _ in range(10)} == {failure(first)}
