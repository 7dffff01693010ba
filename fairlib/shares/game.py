"""The game in which each arm is owed a share of the plays, and its result."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import NonNegative
from fairlib.core import Bandit, BoundRule, Number, PerArm, Result, arm_metrics, largest
from fairlib.core.arms import earned

__all__ = ["SharesResult", "SharedBandit", "shares_metrics"]

Shares = Annotated[ArrayLike, checks.Numbers(0, 1)]
"""The shares, as the package's functions take them; each function checks that they fit the game."""


@dataclass(frozen=True, eq=False, repr=False)
class SharesResult(Result):
    r"""What happened in a game with guaranteed shares.

    Parameters
    ----------
    r_regret : ndarray, shape (runs, R)
        Regret against the best policy that keeps the guarantee (Definition 4); nan where arms come and go.
    violation : ndarray, shape (runs, R)
        Largest whole number of plays, over arms and rounds so far, by which an arm was behind its share,
        :math:`\lfloor r_a t \rfloor - N_a(t)`; at most the tolerance if and only if the play was fair so far.
    deficit : ndarray, shape (runs, R)
        The same without rounding down, :math:`r_a t - N_a(t)`, as the paper's figures draw it.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.shares import fair_ucb
    >>> game = SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.2, 0.3])
    >>> result = fl.simulate(game, fair_ucb([0.2, 0.3]), 1000, runs=5)
    >>> result.violation.max()
    np.float64(0.0)
    """

    r_regret: NDArray[np.float64]
    violation: NDArray[np.float64]
    deficit: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SharedBandit(Bandit):
    """A game in which each arm is owed a share of the plays (Section 2), of the rounds in which it is there.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share :math:`r_a` of the rounds that each arm is owed, at least 0, together at most 1. The paper's are below
        1/K, and so are those that `fair_learn` takes.
    tolerance : float
        How many plays an arm may be behind its share, at least 0.

    Examples
    --------
    >>> import fairlib as fl
    >>> SharedBandit(fl.bernoulli([0.9, 0.5]), shares=[0.6, 0.6])
    Traceback (most recent call last):
    ValueError: shares must sum to at most 1, not 1.2
    """

    shares: Shares = field(kw_only=True)
    tolerance: NonNegative = field(default=0.0, kw_only=True)
    outcome = SharesResult
    described_as = "a SharedBandit, such as SharedBandit(bernoulli([0.9, 0.5]), shares=[0.2, 0.3])"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plays != 1:
            raise ValueError(f"plays must be 1 where shares are guaranteed, not {self.plays}")
        object.__setattr__(self, "shares", _one_an_arm(self.shares, self.arms.means.size))

    @cached_property
    def metrics(self) -> BoundRule:
        """What the game sums: the two measures of unfairness."""
        if self.available:
            return arm_metrics(shares_there, shares=self.shares, means=self.arms.means)
        return arm_metrics(shares_metrics, shares=self.shares)

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Mapping[str, NDArray[np.float64]]) -> Result:
        """Read off what a policy earned and lost, as `Bandit.result` does, with the r-regret."""
        if self.available:
            kept = {name: each for name, each in sums.items() if name != "there"}
            return super().result(rounds, selected, reward, {**kept, "r_regret": np.full(reward.shape, np.nan)})
        quota = np.floor(np.outer(rounds, np.asarray(self.shares)) + 1e-9) - self.tolerance
        gaps = self.arms.means.max() - self.arms.means
        beyond = earned(selected - np.maximum(0, quota), gaps)
        return super().result(rounds, selected, reward, {**sums, "r_regret": beyond})


def shares_metrics(shares, t, selected, violation: Number, deficit: Number):
    """Keep the largest number of plays by which an arm has been behind, in whole plays and exactly."""
    for a in range(selected.size):
        owed = shares[a] * t
        violation[0] = max(violation[0], math.floor(owed + 1e-9) - selected[a])  # 0.29 * 100 is a hair below 29
        deficit[0] = max(deficit[0], owed - selected[a])


def shares_there(shares, means, selected, available, violation: Number, deficit: Number, there: PerArm, best: Number):
    """Keep the same of the rounds in which each arm was there; sum what the best arm that is there would pay."""
    best[0] += means[largest(means, available)]
    for a in range(selected.size):
        there[a] += available[a]
        owed = shares[a] * there[a]
        violation[0] = max(violation[0], math.floor(owed + 1e-9) - selected[a])
        deficit[0] = max(deficit[0], owed - selected[a])


def _one_an_arm(shares: ArrayLike, arms: int | None) -> NDArray[np.float64]:
    """Return shares that are checked as numbers: one an arm, together at most 1."""
    owed = np.asarray(shares, np.float64)
    if arms is not None and owed.size != arms:
        raise ValueError(f"shares must have one number an arm ({arms}), not {owed.size}")
    if owed.sum() > 1 + 1e-9:
        raise ValueError(f"shares must sum to at most 1, not {owed.sum():g}")
    return owed


def _below_one_in_k(shares: ArrayLike, arms: int | None) -> NDArray[np.float64]:
    """Return shares that are checked as numbers: one an arm, each below 1/K."""
    owed = _one_an_arm(shares, arms)
    if owed.max() >= 1 / owed.size:
        arm = int(np.argmax(owed >= 1 / owed.size))
        raise ValueError(f"shares must be at least 0 and below 1/{owed.size}, not {owed[arm]} (arm {arm})")
    return owed
