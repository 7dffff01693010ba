"""The games in which each arm is owed exposure by its merit, on arms and with contexts, and what came of them."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.arms import Bandit, gaussian
from fairlib.compilation import compiled
from fairlib.contexts import ContextBandit
from fairlib.merit import VALUE, Merit, as_merit, clipped, fair_policy, power
from fairlib.result import Result


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
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
    sums = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.plays != 1:
            raise ValueError(f"plays must be 1 for this notion of exposure, not {self.plays}")
        fair_policy(as_merit(self.merit), self.arms.means)

    @property
    def optimal(self) -> NDArray[np.float64]:
        """The optimal fair policy (Theorem 3.1.1), shape (K,)."""
        return fair_policy(self.merit, self.arms.means)

    @property
    def truth(self) -> NDArray[np.float64]:
        """The means, and then the optimal fair policy."""
        return np.concatenate([self.arms.means, self.optimal])

    @staticmethod
    def tally(truth: Any, t: int, p: Any, selected: Any, sums: Any) -> None:
        """Sum both regrets over the rounds, from the probabilities and not from the plays."""
        for a in range(p.size):
            short = truth[p.size + a] - p[a]
            sums[0] += short * truth[a]
            sums[1] += abs(short)

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> ExposureResult:
        """Add the two regrets.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, 2)
            What `tally` has summed.

        Returns
        -------
        ExposureResult
            The result.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.merit import exponential
        >>> game = ExposureBandit(fl.bernoulli([0.5, 0.5]), merit=exponential(4))
        >>> game.result(np.array([1]), np.array([[[1, 0]]]), np.zeros((1, 1)), np.ones((1, 1, 2))).reward_regret
        array([[1.]])
        """
        base = super().result(rounds, selected, reward, sums)
        return ExposureResult(**vars(base), reward_regret=sums[..., 0], fairness_regret=sums[..., 1])


def games_of_low_merit(horizon: int) -> tuple[ExposureBandit, ExposureBandit]:
    r"""Return the two games of Theorem 3.1.4, in which almost no merit stands against almost no merit.

    With :math:`\theta = 1/\sqrt T` the merit is :math:`\max(x, \theta)`, the means are :math:`(\theta, 2\theta)` and
    :math:`(2\theta, 2\theta)`, and rewards are normal with variance 1/2.

    Parameters
    ----------
    horizon : int
        Number of rounds T, at least 4, so that no mean is above 1.

    Returns
    -------
    tuple of two ExposureBandit
        The games. Every policy has a fairness regret of ``fairness_lower_bound(T, sqrt(T))`` or more in one of them.

    Raises
    ------
    TypeError, ValueError
        If the horizon is not a whole number of at least 4.

    Examples
    --------
    >>> [game.optimal.round(3).tolist() for game in games_of_low_merit(100)]
    [[0.333, 0.667], [0.5, 0.5]]
    """
    theta = 1 / math.sqrt(checks.whole("horizon", horizon, 4))
    low, high = ([theta, 2 * theta], [2 * theta, 2 * theta])
    return _pair(clipped(theta), low, high)


def games_of_steep_merit(horizon: int, ratio: float) -> tuple[ExposureBandit, ExposureBandit]:
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
        The games. Every policy has a fairness regret of ``fairness_lower_bound(T, ratio)`` or more in one of them.

    Raises
    ------
    TypeError, ValueError
        If the horizon is not a positive whole number, or the ratio not a positive number.

    Examples
    --------
    >>> [game.optimal.round(3).tolist() for game in games_of_steep_merit(100, 10)]
    [[0.667, 0.333], [0.5, 0.5]]
    """
    theta = 1 / math.sqrt(checks.whole("horizon", horizon, 1))
    return _pair(power(checks.real("ratio", ratio, above=0), 1), [theta, 0.0], [0.0, 0.0])


def _pair(merit: Merit, *means: list[float]) -> tuple[ExposureBandit, ExposureBandit]:
    first, second = (ExposureBandit(gaussian(each, math.sqrt(0.5)), merit=merit) for each in means)
    return first, second


# Contexts (Section 4) ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
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
    >>> from fairlib.contexts import sphere
    >>> from fairlib.exposure import fairx_lineg
    >>> from fairlib.merit import exponential
    >>> game = ContextExposureBandit(sphere(3, [0.6, 0.8]), merit=exponential(2, -1, 1))
    >>> policy = fairx_lineg(game.merit, epsilon=0)
    >>> bool(fl.simulate(game, policy, 5000).fairness_regret[0, -1] < 400)
    True
    """

    merit: Merit = field(kw_only=True)
    sums = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        as_merit(self.merit)

    @property
    def truth(self) -> NDArray[np.float64]:
        """The merit's range, and then its parameters."""
        return np.array([self.merit.low, self.merit.high, *np.asarray(self.merit.params)])

    @property
    def tally(self) -> Callable[..., None]:
        """Sum both regrets over the rounds (equations 5 and 6), from the probabilities and not from the plays."""
        return exposure_tally(compiled(self.merit.value, VALUE))

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> ExposureResult:
        """Add the two regrets.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, 3)
            The regret, the reward regret and the fairness regret.

        Returns
        -------
        ExposureResult
            The result.

        Examples
        --------
        >>> from fairlib.contexts import sphere
        >>> from fairlib.merit import exponential
        >>> game = ContextExposureBandit(sphere(2, [1.0]), merit=exponential(2, -1, 1))
        >>> game.result(np.array([1]), np.array([[[1, 0]]]), np.zeros((1, 1)), np.ones((1, 1, 3))).fairness_regret
        array([[1.]])
        """
        base = super().result(rounds, selected, reward, sums)
        return ExposureResult(**vars(base), reward_regret=sums[..., 1], fairness_regret=sums[..., 2])


@lru_cache(maxsize=64)
def exposure_tally(value: Callable[..., float]) -> Callable[..., None]:
    """Return what sums the two regrets of a merit function."""

    def tally(truth, t, groups, means, p, played, sums):
        least, most, merit = truth[0], truth[1], truth[2:]
        whole = 0.0
        for a in range(p.size):
            whole += value(merit, min(max(means[a], least), most))
        for a in range(p.size):
            short = value(merit, min(max(means[a], least), most)) / whole - p[a]
            sums[1] += short * means[a]
            sums[2] += abs(short)

    return tally
