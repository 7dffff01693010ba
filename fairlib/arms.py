"""The arms of a bandit: how their rewards are drawn, and the game that is played on them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.result import Result


@dataclass(frozen=True, eq=False)
class Arms:
    """Arms with independent rewards; made by `bernoulli`, `gaussian` or `beta`.

    Parameters
    ----------
    means : ndarray, shape (K,)
        Mean reward of each arm.
    draw : callable
        ``draw(params, arm, rng)`` returns one reward of an arm; compiled by the engine.
    params : ndarray, shape (K, m)
        What `draw` needs to know of each arm.

    Examples
    --------
    >>> bernoulli([0.9, 0.5]).means
    array([0.9, 0.5])
    """

    means: NDArray[np.float64]
    draw: Callable[..., float]
    params: NDArray[np.float64]


def bernoulli_draw(params: Any, arm: int, rng: Any) -> float:
    """Return 1 with the arm's mean as probability, else 0."""
    return 1.0 if rng.random() < params[arm, 0] else 0.0


def gaussian_draw(params: Any, arm: int, rng: Any) -> float:
    """Return a normal reward."""
    return rng.normal(params[arm, 0], params[arm, 1])


def beta_draw(params: Any, arm: int, rng: Any) -> float:
    """Return a Beta reward."""
    return rng.beta(params[arm, 0], params[arm, 1])


def bernoulli(means: ArrayLike) -> Arms:
    """Arms that pay 1 or 0.

    Parameters
    ----------
    means : array_like, shape (K,)
        Probability that each arm pays 1, in [0, 1].

    Returns
    -------
    Arms
        The arms.

    Raises
    ------
    TypeError, ValueError
        If a mean is not a number in [0, 1], or there is none.

    Examples
    --------
    >>> bernoulli([0.9, 1.5])
    Traceback (most recent call last):
    ValueError: means must be numbers in [0, 1], not 1.5 (arm 1)
    """
    probabilities = checks.vector("means", means, 0, 1)
    return Arms(probabilities, bernoulli_draw, probabilities.reshape(-1, 1))


def gaussian(means: ArrayLike, sd: float = 1.0) -> Arms:
    """Arms with normal rewards of one standard deviation.

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean reward of each arm.
    sd : float
        Standard deviation of a reward, at least 0.

    Returns
    -------
    Arms
        The arms.

    Raises
    ------
    TypeError, ValueError
        If a mean or the standard deviation is not a finite number, or `sd` is negative.

    Examples
    --------
    >>> gaussian([0.0, 1.0], sd=0.5).params
    array([[0. , 0.5],
           [1. , 0.5]])
    """
    centres = checks.vector("means", means)
    spread = checks.real("sd", sd, 0)
    return Arms(centres, gaussian_draw, np.column_stack([centres, np.full_like(centres, spread)]))


def beta(a: ArrayLike, b: ArrayLike) -> Arms:
    """Arms with Beta rewards, in [0, 1] and with mean ``a / (a + b)``.

    Parameters
    ----------
    a, b : array_like, shape (K,)
        The two shapes of each arm, above 0.

    Returns
    -------
    Arms
        The arms.

    Raises
    ------
    TypeError, ValueError
        If a shape is not a positive number, or the two lists differ in length.

    Examples
    --------
    >>> beta([9, 1], [1, 1]).means
    array([0.9, 0.5])
    """
    first, second = checks.vector("a", a, above=0), checks.vector("b", b, above=0)
    if first.size != second.size:
        raise ValueError(f"b must have one number an arm, as a has ({first.size}), not {second.size}")
    return Arms(first / (first + second), beta_draw, np.column_stack([first, second]))


@dataclass(frozen=True, eq=False)
class Delay:
    """How many rounds late a reward is seen.

    Parameters
    ----------
    draw : callable
        ``draw(params, arm, reward, rng)`` returns a whole number of rounds: 0 for the end of the same round, a
        negative number for never. Compiled by the engine.
    params : array_like, shape (K, m)
        What `draw` needs to know of each arm.

    Raises
    ------
    TypeError, ValueError
        If `params` is not a table of numbers.

    Examples
    --------
    >>> def three(params, arm, reward, rng):
    ...     return 3
    >>> Delay(three, [[0.0], [0.0]]).params.shape
    (2, 1)
    """

    draw: Callable[..., int]
    params: ArrayLike

    def __post_init__(self) -> None:
        if not callable(self.draw):
            raise TypeError(f"draw must be a function (params, arm, reward, rng), not {self.draw!r}")
        try:
            table = np.array(self.params, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"params must be a table of numbers, a row an arm, not {self.params!r}") from error
        if table.ndim != 2:
            raise ValueError(f"params must be a table of numbers, a row an arm, not of shape {table.shape}")
        object.__setattr__(self, "params", table)


@dataclass(frozen=True, eq=False)
class Bandit:
    """The classic game: play some arms each round and collect their rewards.

    Parameters
    ----------
    arms : Arms
        The arms.
    plays : int
        How many different arms are played each round, from 1 to K.
    delay : Delay, optional
        How late a reward is seen; without one it is seen at the end of its round.

    Raises
    ------
    TypeError, ValueError
        If `arms` are not `Arms`, `plays` is out of range, or the delay does not fit the arms or is no whole number.

    Examples
    --------
    >>> game = Bandit(bernoulli([0.9, 0.5, 0.2]), plays=2)
    >>> game.best_reward
    1.4
    """

    arms: Arms
    plays: int = 1
    delay: Delay | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arms, Arms):
            raise TypeError(f"arms must be Arms, such as bernoulli([0.9, 0.5]), not {self.arms!r}")
        checks.whole("plays", self.plays, 1, self.arms.means.size)
        if not isinstance(self.delay, Delay | None):
            raise TypeError(f"delay must be a Delay, not {self.delay!r}")
        if self.delay is not None and len(self.delay.params) != self.arms.means.size:  # type: ignore[arg-type]
            raise ValueError(f"delay.params must have {self.arms.means.size} rows, one an arm")
        if self.delay is not None:
            # Compiled code would cut off 0.5 and turn nan into never without a word.
            rng = np.random.default_rng(0)
            for arm in range(self.arms.means.size):
                reward = self.arms.draw(self.arms.params, arm, rng)
                late = self.delay.draw(self.delay.params, arm, reward, rng)
                if not isinstance(late, int | float | np.integer) or not -math.inf < late < math.inf or late % 1 != 0:
                    raise ValueError(
                        f"delay.draw must return whole numbers of rounds, negative for never, not {late!r} (arm {arm})"
                    )

    @property
    def best_reward(self) -> float:
        """Expected reward of a round for somebody who knows the means and plays the best arms."""
        return float(np.sort(self.arms.means)[-self.plays :].sum())

    @property
    def truth(self) -> NDArray[np.float64]:
        """What the game's `tally` needs to know; nothing here."""
        return np.zeros(0)

    sums = 0
    """How many sums the game's `tally` keeps."""

    @staticmethod
    def tally(truth: Any, t: int, p: Any, selected: Any, sums: Any) -> None:
        """Sum nothing: the regret of the classic game follows from the counts alone."""

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> Result:
        """Read off what a policy earned and lost.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, `sums`)
            What `tally` had summed.

        Returns
        -------
        Result
            With the regret, best expected reward less the expected reward of the arms played.

        Examples
        --------
        >>> game = Bandit(bernoulli([0.9, 0.5]))
        >>> game.result(np.array([4]), np.array([[[3, 1]]]), np.array([[3.0]]), None).regret
        array([[0.4]])
        """
        regret = self.best_reward * rounds - selected @ self.arms.means
        return Result(rounds=rounds, selected=selected, reward=reward, regret=regret)
