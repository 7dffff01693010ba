"""Seeds and random streams: one for the policy and one for the environment of each run."""

from typing import Annotated, Any

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from fairlib import checks


def root(seed: Any) -> SeedSequence:
    """Return the `SeedSequence` of a seed, a whole number or a `SeedSequence` itself."""
    if isinstance(seed, SeedSequence):
        return seed
    if isinstance(seed, bool | np.bool_) or not isinstance(seed, int | np.integer):
        raise TypeError(
            f"seed must be a whole number of at least 0 or a numpy.random.SeedSequence, not {checks.shown(seed)}"
        )
    return SeedSequence(checks.integer("seed", seed, 0, None))


def streams(root: SeedSequence, run: int) -> tuple[Generator, Generator]:
    """Return a run's two streams, the policy's and the environment's, named by its number: twice asked, the same."""
    keys = ((*root.spawn_key, run, stream) for stream in (0, 1))
    policy_rng, env_rng = (
        Generator(PCG64(SeedSequence(root.entropy, spawn_key=key, pool_size=root.pool_size))) for key in keys
    )
    return policy_rng, env_rng


class Streams:
    """The streams of one run after another, in two generators that stay: compiled code is slow to take in new ones."""

    def __init__(self, root: SeedSequence) -> None:
        self._root = root
        self.policy_rng, self.env_rng = streams(root, 0)

    def begin(self, run: int) -> None:
        """Set the streams to the beginning of a run."""
        for rng, new in zip((self.policy_rng, self.env_rng), streams(self._root, run), strict=True):
            rng.bit_generator.state = new.bit_generator.state


def _seed_or_sequence(name: str, value: Any) -> Any:
    """Take a whole number of at least 0, or a `numpy.random.SeedSequence`."""
    root(value)
    return value


AnySeed = Annotated[int | SeedSequence, checks.Constraint(_seed_or_sequence)]
