"""Seeds and random streams: one for the policy and one for the environment of each run."""

from typing import Annotated, Any

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence

from fairlib import checks


def root(seed: Any) -> SeedSequence:
    """Return the `SeedSequence` of a seed.

    Parameters
    ----------
    seed : int or numpy.random.SeedSequence
        What was given.

    Returns
    -------
    numpy.random.SeedSequence
        Where all chance comes from.

    Raises
    ------
    TypeError, ValueError
        If it is neither.

    Examples
    --------
    >>> root(5).entropy
    5
    """
    if isinstance(seed, SeedSequence):
        return seed
    if isinstance(seed, bool | np.bool_) or not isinstance(seed, int | np.integer):
        raise TypeError(
            f"seed must be a whole number of at least 0 or a numpy.random.SeedSequence, not {checks.shown(seed)}"
        )
    return SeedSequence(checks.integer("seed", seed, 0, None))


def streams(root: SeedSequence, run: int) -> tuple[Generator, Generator]:
    """Return the two streams of a run: the policy's, and the environment's.

    A child is named by its number, without the count that `SeedSequence.spawn` keeps: asking twice gives the same.

    Parameters
    ----------
    root : numpy.random.SeedSequence
        Where all chance comes from.
    run : int
        The run.

    Returns
    -------
    tuple of two numpy.random.Generator
        The streams.

    Examples
    --------
    >>> one, two = streams(root(0), 0)[0], streams(root(0), 0)[0]
    >>> one.random() == two.random()
    True
    """
    keys = ((*root.spawn_key, run, stream) for stream in (0, 1))
    policy_rng, env_rng = (
        Generator(PCG64(SeedSequence(root.entropy, spawn_key=key, pool_size=root.pool_size))) for key in keys
    )
    return policy_rng, env_rng


class SeedOrSequence(checks.Constraint):
    """A whole number of at least 0, or a `numpy.random.SeedSequence`."""

    def _take(self, name: str, value: Any) -> Any:
        root(value)
        return value


AnySeed = Annotated[int | SeedSequence, SeedOrSequence(example=1)]
