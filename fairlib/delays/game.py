"""The game in which several arms are played each round, each in proportion to its merit (Section 3)."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import checked
from fairlib.core import Bandit, BoundRule, Number, Result, arm_metrics
from fairlib.delays.laws import Law
from fairlib.merit import Merit, fair_policy

__all__ = ["SemiResult", "SemiBandit", "semi_metrics"]

Quantile = Annotated[float, checks.Real(above=0, high=1)]


@dataclass(frozen=True, eq=False, repr=False)
class SemiResult(Result):
    r"""What happened in a game with several fair plays a round.

    Parameters
    ----------
    reward_regret : ndarray, shape (runs, R)
        Expected reward of the optimal fair policy less that of the policy where that is positive, summed over the
        rounds so far (equation 5).
    signed_regret : ndarray, shape (runs, R)
        The same without cutting each round's term at 0: `fairlib.exposure.ExposureResult`, after its paper, calls this
        the reward regret.
    fairness_regret : ndarray, shape (runs, R)
        Distance :math:`\sum_a |p^\star_a - p_{t,a}|` to the optimal fair policy, summed over the rounds so far
        (equation 6).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.5] * 4), plays=2, merit=power(2, 4))
    >>> fl.simulate(game, fl.uniform(2), 100).fairness_regret[0, -1]
    np.float64(0.0)
    """

    reward_regret: NDArray[np.float64]
    signed_regret: NDArray[np.float64]
    fairness_regret: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SemiBandit(Bandit):
    """A game in which L arms are played each round, each owed plays in proportion to its merit (Section 3).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4)).optimal.round(3)
    array([0.813, 0.396, 0.396, 0.396])

    An arm that deserves more than every round is in every round, and the others share the rest:

    >>> SemiBandit(fl.bernoulli([0.9, 0.1, 0.1]), plays=2, merit=power(9, 1)).optimal
    array([1. , 0.5, 0.5])
    """

    merit: Merit = field(kw_only=True)
    outcome = SemiResult
    described_as = "a SemiBandit, such as SemiBandit(bernoulli([0.9, 0.5, 0.5]), plays=2, merit=power(1, 1))"

    def __post_init__(self) -> None:
        super().__post_init__()
        fair_policy(self.merit, self.arms.means, self.plays)

    @property
    def optimal(self) -> NDArray[np.float64]:
        """The optimal fair policy (Theorem 3), shape (K,)."""
        return fair_policy(self.merit, self.arms.means, self.plays)

    @cached_property
    def metrics(self) -> BoundRule:
        """What the game sums: the three regrets."""
        return arm_metrics(semi_metrics, means=self.arms.means, optimal=self.optimal)

    @checked
    def quantiles(self, q: Quantile) -> NDArray[np.float64]:
        """Return within how many rounds a share q of each arm's rewards arrives (equation 2).

        Parameters
        ----------
        q : float
            The share, above 0 and at most 1.

        Returns
        -------
        ndarray, shape (K,)
            Whole numbers of rounds, infinite where less than q ever arrives.

        Raises
        ------
        TypeError, ValueError
            If q is out of range, or the delay is a reader's own, whose quantiles are not known.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.delays import geometric
        >>> from fairlib.merit import power
        >>> game = SemiBandit(fl.bernoulli([0.2, 0.9]), delay=geometric([0.05, 0.5]), merit=power(2, 4))
        >>> game.quantiles(0.9)
        array([45.,  4.])
        """
        if self.delay is None:
            return np.zeros(self.arms.means.size)
        if not isinstance(self.delay, Law):
            raise TypeError("delay must be a law whose quantiles are known, such as geometric([0.05] * 7)")
        return self.delay.quantiles(q, self.arms.means)


def semi_metrics(means, optimal, p, reward_regret: Number, signed_regret: Number, fairness_regret: Number):
    """Sum the three regrets, from the probabilities and not from the plays."""
    lost, apart = 0.0, 0.0
    for a in range(p.size):
        short = optimal[a] - p[a]
        lost += short * means[a]
        apart += abs(short)
    reward_regret[0] += max(lost, 0.0)
    signed_regret[0] += lost
    fairness_regret[0] += apart


def _cap(merit: Merit, arms: int, plays: int) -> None:
    """Refuse a merit for which some arm could need a probability above 1 (Assumption 1)."""
    grid = np.linspace(merit.low, merit.high, 1001)
    merits = merit(grid)
    ratio = merits.max() / merits.min()
    if plays > 1 and ratio > (arms - 1) / (plays - 1) * (1 + 1e-9):
        raise ValueError(
            f"merit must not vary by more than a factor of {(arms - 1) / (plays - 1):g}, (K-1)/(m-1), but "
            f"{merit.name!r} varies by {ratio:.4g}: an arm would be played with probability "
            f"{plays * ratio / (ratio + arms - 1):.4g} if its mean were {grid[merits.argmax()]:g} and the others' "
            f"{grid[merits.argmin()]:g}"
        )
