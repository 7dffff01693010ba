"""What a simulation returns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Result:
    """What happened, at the recorded rounds.

    Parameters
    ----------
    rounds : ndarray of int, shape (R,)
        The recorded rounds, increasing; everything below is taken at the end of each.
    selected : ndarray of int, shape (runs, R, K)
        How often each arm had been played.
    reward : ndarray, shape (runs, R)
        Reward collected so far, seen or not.
    regret : ndarray, shape (runs, R)
        Expected reward that the best policy would have collected, less the expected reward of the arms played.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.uniform(), 100, runs=3)
    >>> result.selected.shape == (3, result.rounds.size, 2)
    True
    >>> result.share[:, -1].sum(axis=1)
    array([1., 1., 1.])
    """

    rounds: NDArray[np.int64]
    selected: NDArray[np.int64]
    reward: NDArray[np.float64]
    regret: NDArray[np.float64]

    @property
    def share(self) -> NDArray[np.float64]:
        """Fraction of the rounds so far in which each arm was played, shape (runs, R, K)."""
        return self.selected / self.rounds[:, None]
