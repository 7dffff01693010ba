"""The games in which each arm is owed exposure by its merit, on arms and with contexts, and their results."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.checks import Horizon, Positive, checked
from fairlib.core import (
    Bandit,
    BoundRule,
    ContextBandit,
    Number,
    Result,
    arm_metrics,
    context_metrics,
    gaussian,
    largest,
    shortfall,
)
from fairlib.merit import Merit, clipped, cut, fair_policy, play_by_merit, power

__all__ = [
    "ExposureResult",
    "ExposureBandit",
    "games_of_low_merit",
    "games_of_steep_merit",
    "ContextExposureBandit",
    "exposure_metrics",
    "context_exposure_metrics",
]


@dataclass(frozen=True, eq=False, repr=False)
class ExposureResult(Result):
    r"""What happened in a game with exposure by merit.

    Parameters
    ----------
    reward_regret : ndarray, shape (runs, R)
        Expected reward of the optimal fair policy less that of the policy, summed over the rounds so far (equation
        1). Negative where an unfair policy earns more.
    fairness_regret : ndarray, shape (runs, R)
        Distance :math:`\sum_a |\pi^\star(a) - \pi_t(a)|` to the optimal fair policy, at most 2 a round, summed over the
        rounds so far (equation 2).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import exponential
    >>> game = ExposureBandit(fl.bernoulli([0.5, 0.5]), merit=exponential(4))
    >>> fl.simulate(game, fl.uniform(), 100).fairness_regret[0, -1]
    np.float64(0.0)
    """

    reward_regret: NDArray[np.float64]
    fairness_regret: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ExposureBandit(Bandit):
    """A game in which each arm is owed exposure in proportion to its merit (Section 3.1).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, a mean is outside its range, or more than one arm is played each round.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import clipped
    >>> ExposureBandit(fl.bernoulli([0.6, 0.2]), merit=clipped(0.1)).optimal
    array([0.75, 0.25])
    """

    merit: Merit = field(kw_only=True)
    outcome = ExposureResult
    described_as = "a ExposureBandit, such as ExposureBandit(bernoulli([0.9, 0.5]), merit=exponential(4))"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plays != 1:
            raise ValueError(f"plays must be 1 for this notion of exposure, not {self.plays}")
        fair_policy(self.merit, self.arms.means)

    @property
    def optimal(self) -> NDArray[np.float64]:
        """The optimal fair policy (Theorem 3.1.1), shape (K,)."""
        return fair_policy(self.merit, self.arms.means)

    @cached_property
    def metrics(self) -> BoundRule:
        """What the game sums: the two regrets, where arms come and go against the fair policy among those there."""
        function = exposure_there if self.available else exposure_metrics
        return arm_metrics(function, means=self.arms.means, optimal=self.optimal)


def exposure_metrics(means, optimal, p, reward_regret: Number, fairness_regret: Number):
    """Sum both regrets (equations 1 and 2), from the probabilities and not from the plays."""
    for a in range(p.size):
        short = optimal[a] - p[a]
        reward_regret[0] += short * means[a]
        fairness_regret[0] += abs(short)


def exposure_there(means, optimal, p, available, reward_regret: Number, fairness_regret: Number, best: Number):
    """Sum both regrets where arms come and go, and what the best arm that is there would pay."""
    best[0] += means[largest(means, available)]
    whole = 0.0
    for a in range(p.size):
        whole += optimal[a] * available[a]
    for a in range(p.size):
        short = optimal[a] * available[a] / whole - p[a]
        reward_regret[0] += short * means[a]
        fairness_regret[0] += abs(short)


@checked
def games_of_low_merit(horizon: Annotated[int, checks.Integer(4)]) -> tuple[ExposureBandit, ExposureBandit]:
    r"""Return the two games of Theorem 3.1.4, in which both arms have almost no merit.

    With :math:`\theta = 1/\sqrt T` the merit is :math:`\max(x, \theta)`, the means are :math:`(\theta, 2\theta)` and
    :math:`(2\theta, 2\theta)`, and rewards are normal with variance 1/2.

    Parameters
    ----------
    horizon : int
        Number of rounds T, at least 4, so that no mean is above 1.

    Returns
    -------
    tuple of two ExposureBandit
        The games. Every policy has a fairness regret of ``fairness_lower_bound(sqrt(T), T)`` or more in one of them.

    Raises
    ------
    TypeError, ValueError
        If the horizon is not a whole number of at least 4.

    Examples
    --------
    >>> [game.optimal.round(3).tolist() for game in games_of_low_merit(100)]
    [[0.333, 0.667], [0.5, 0.5]]
    """
    theta = 1 / math.sqrt(horizon)
    low, high = ([theta, 2 * theta], [2 * theta, 2 * theta])
    return _pair(clipped(theta), low, high)


@checked
def games_of_steep_merit(horizon: Horizon, ratio: Positive) -> tuple[ExposureBandit, ExposureBandit]:
    r"""Return the two games of Theorem 3.1.5, for any steepness.

    With :math:`\theta = 1/\sqrt T` the merit is :math:`1 + \Lambda x` on [0, 1], the means are :math:`(\theta, 0)` and
    :math:`(0, 0)`, and rewards are normal with variance 1/2.

    Parameters
    ----------
    horizon : int
        Number of rounds T.
    ratio : float
        The ratio :math:`\Lambda = L/\gamma` of steepness to smallest merit, above 0; the theorem takes
        :math:`\sqrt T`.

    Returns
    -------
    tuple of two ExposureBandit
        The games. Every policy has a fairness regret of ``fairness_lower_bound(ratio, T)`` or more in one of them.

    Raises
    ------
    TypeError, ValueError
        If the horizon is not a positive whole number, or the ratio not a positive number.

    Examples
    --------
    >>> [game.optimal.round(3).tolist() for game in games_of_steep_merit(100, 10)]
    [[0.667, 0.333], [0.5, 0.5]]
    """
    return _pair(power(ratio, 1), [1 / math.sqrt(horizon), 0.0], [0.0, 0.0])


def _pair(merit: Merit, *means: list[float]) -> tuple[ExposureBandit, ExposureBandit]:
    first, second = (ExposureBandit(gaussian(each, math.sqrt(0.5)), merit=merit) for each in means)
    return first, second


# Contexts (Section 4) ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ContextExposureBandit(ContextBandit):
    r"""A game with contexts in which each arm is owed exposure by its merit, round by round (Section 4.1).

    The optimal fair policy changes with the contexts: :math:`\pi^\star_t(a) \propto f(\mu^\star \cdot x_{t,a})`. A mean
    outside the merit's range has the merit of the nearer end.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.

    Raises
    ------
    TypeError
        If `world` is not a `World` or `merit` not a `Merit`.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.core import sphere
    >>> from fairlib.exposure import fairx_lineg
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> policy = fairx_lineg(game.merit, epsilon=0)
    >>> bool(fl.simulate(game, policy, 5000).fairness_regret[0, -1] < 400)
    True
    """

    merit: Merit = field(kw_only=True)
    outcome = ExposureResult
    described_as = (
        "a ContextExposureBandit, such as ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))"
    )

    @cached_property
    def metrics(self) -> BoundRule:
        """What the game sums: the regret, and the two of exposure."""
        return context_metrics(context_exposure_metrics, merit=self.merit)


def context_exposure_metrics(merit, means, p, played, regret: Number, reward_regret: Number, fairness_regret: Number):
    """Sum the regret, and both of exposure (equations 5 and 6) from the probabilities and not from the plays."""
    regret[0] += shortfall(means, played)
    fair = np.empty(p.size)
    for a in range(p.size):
        fair[a] = cut(means[a], merit)
    play_by_merit(merit, fair, 1, fair)
    for a in range(p.size):
        short = fair[a] - p[a]
        reward_regret[0] += short * means[a]
        fairness_regret[0] += abs(short)
