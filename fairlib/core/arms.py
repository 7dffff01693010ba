"""The arms of a bandit: how their rewards are drawn, how late they are seen, and the game that is played on them."""

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np
from numba import float64, int64, types
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import NonNegative, checked
from fairlib.core.result import Result
from fairlib.rules.argument_block import FLOATS, TABLE, WHOLES
from fairlib.rules.bound_rule import BoundRule, broken_off, describe_game
from fairlib.rules.rule import Number
from fairlib.rules.signature import CallSignature

DRAW = CallSignature(
    what="what draws a reward",
    flat="params, arm, rng",
    gives={"arm": "arm", "rng": "rng"},
    signature=float64(TABLE, int64, types.npy_rng),
    by_arm=True,
)
"""How the engine calls a function that draws a reward; a setting is a number, or a row of numbers, of that arm."""

DELAY = CallSignature(
    what="what draws a delay",
    flat="params, arm, reward, rng",
    gives={"arm": "arm", "reward": "reward", "rng": "rng"},
    signature=int64(TABLE, int64, float64, types.npy_rng),
    answer="delay_rounds({})",
    by_arm=True,
)
"""How the engine calls a function that draws a delay; a setting is a number, or a row of numbers, of that arm."""

METRICS = CallSignature(
    what="what a game sums",
    flat="params, state, t, p, selected, available",
    gives={name: name for name in ("t", "p", "selected", "available")},
    signature=types.void(FLOATS, float64[::1], int64, float64[::1], int64[::1], WHOLES),
    sizes=("K", "T"),
)
"""How the engine calls a function that sums a quantity of a game, round by round; its memory is the sums."""

THERE = CallSignature(
    what="what says which arms are there",
    flat="params, selected, available, t, rng",
    gives={name: name for name in ("t", "selected", "available", "rng")},
    signature=types.void(FLOATS, WHOLES, int64[::1], int64, types.npy_rng),
)
"""How the engine calls a function that says which arms are there in a round."""

LEAST_SHAPE = 0.02
"""The least shape of a Beta variable: below it Numba and NumPy draw different numbers."""

BetaShape = Annotated[float, checks.Real(LEAST_SHAPE)]
BetaShapes = Annotated[ArrayLike, checks.Numbers(LEAST_SHAPE)]


class Arms:
    """Arms with independent rewards, made by `bernoulli`, `gaussian` or `beta`, or with a `draw` of your own.

    Parameters
    ----------
    means : array_like, shape (K,)
        Mean reward of each arm.
    draw : callable
        Returns one reward of an arm. It may ask for `rng` and for `arm`; its other arguments are settings. The engine
        compiles it.
    **settings
        The settings of `draw`, by the names of its arguments: a number, or a row of numbers, for each arm.

    Examples
    --------
    >>> def twice(mean, rng):
    ...     return 2.0 if rng.random() < mean / 2.0 else 0.0
    >>> Arms([0.9, 0.5], twice, mean=[0.9, 0.5]).means
    array([0.9, 0.5])
    """

    described_as = "Arms, such as bernoulli([0.9, 0.5])"
    means: NDArray[np.float64]
    reward_range: tuple[float, float]
    """Rewards that are known to be paid lie this far apart, at least: of a reader's own arms only means are known."""

    @checked
    def __init__(
        self,
        means: Annotated[ArrayLike, checks.Numbers()],
        draw: Annotated[Callable[..., float], checks.Function()],
        **settings: ArrayLike,
    ) -> None:
        self.means = np.asarray(means)
        self.reward_range = float(self.means.min()), float(self.means.max())
        self.draw = BoundRule(draw, DRAW, settings)
        _of_arms(self.draw, self.means.size)
        for name, value in self.draw.settings.items():  # infinity is a setting of delays only
            checks.array(name, value)

    def __repr__(self) -> str:
        return repr(self.draw)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of `draw`, by name."""
        return MappingProxyType(self.draw.settings)


def _of_arms(draw: BoundRule, arms: int | None) -> int | None:
    """Return the number of arms that the settings are for; refuse settings for another number of arms."""
    for name, value in draw.settings.items():
        if np.ndim(value) not in (1, 2):
            raise ValueError(f"{name} must have a number for each arm, not {checks.shown(value)}")
        if arms is not None and len(value) != arms:
            raise ValueError(f"{name} must have {arms} numbers, one an arm, not {len(value)}")
        if len(value) == 0:
            raise ValueError(f"{name} must have a number for each arm, not {checks.shown(value)}")
        arms = len(value)
    return arms


def bernoulli_draw(mean, rng):
    """Return 1 with the arm's mean as probability, else 0."""
    return 1.0 if rng.random() < mean else 0.0


def gaussian_draw(mean, sd, rng):
    """Return a normal reward."""
    return rng.normal(mean, sd)


def beta_draw(a, b, rng):
    """Return a Beta reward."""
    return rng.beta(a, b)


@checked
def bernoulli(means: Annotated[ArrayLike, checks.Numbers(0, 1)]) -> Arms:
    """Arms that pay 1 or 0.

    Parameters
    ----------
    means : array_like, shape (K,)
        Probability that each arm pays 1, in [0, 1].

    Returns
    -------
    Arms
        The arms.

    Examples
    --------
    >>> bernoulli([0.9, 1.5])
    Traceback (most recent call last):
    ValueError: means must be numbers in [0, 1], not 1.5 (arm 1)
    """
    return Arms(means, bernoulli_draw, mean=means)


@checked
def gaussian(means: Annotated[ArrayLike, checks.Numbers()], sd: NonNegative = 1.0) -> Arms:
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

    Examples
    --------
    >>> gaussian([0.0, 1.0], sd=0.5).settings["sd"]
    array([0.5, 0.5])
    """
    arms = Arms(means, gaussian_draw, mean=means, sd=np.full_like(means, sd))
    if sd > 0:
        arms.reward_range = -math.inf, math.inf
    return arms


@checked
def beta(a: BetaShapes, b: BetaShapes) -> Arms:
    """Arms with Beta rewards, in [0, 1] and with mean ``a / (a + b)``.

    Parameters
    ----------
    a, b : array_like, shape (K,)
        The two shapes of each arm, at least 0.02.

    Returns
    -------
    Arms
        The arms.

    Examples
    --------
    >>> beta([9, 1], [1, 1]).means
    array([0.9, 0.5])
    """
    first, second = np.asarray(a), np.asarray(b)
    if first.size != second.size:
        raise ValueError(f"b must have one number an arm, as a has ({first.size}), not {second.size}")
    return Arms(first / (first + second), beta_draw, a=first, b=second)


class Delay:
    """How many rounds late a reward is seen.

    Parameters
    ----------
    draw : callable
        Returns a whole number of rounds: 0 for the end of the same round, `math.inf` for never. It may ask for
        `reward`, `rng` and `arm`; its other arguments are settings. Compiled by the engine.
    name : str
        Its name in figures and messages.
    **settings
        The settings of `draw`, by the names of its arguments: a number, or a row of numbers, for each arm.

    Raises
    ------
    TypeError, ValueError
        If one of a hundred trial draws is negative, not whole or not a number. (A later draw of this kind stops the
        game.)

    Examples
    --------
    >>> def three():
    ...     return 3
    >>> Delay(three).arms is None
    True
    >>> Delay(lambda sd, rng: rng.normal(0.0, sd), sd=[1.0], name="nonsense")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the delay 'nonsense' must be a whole number of rounds of at least 0, or infinity for never, not ...
    """

    described_as = "a Delay"

    @checked
    def __init__(
        self,
        draw: Annotated[Callable[..., float], checks.Function()],
        *,
        name: Annotated[str, checks.Text()] = "own",
        **settings: ArrayLike,
    ) -> None:
        self.name, self.draw = name, BoundRule(draw, DELAY, settings)
        self.arms = _of_arms(self.draw, None)
        given, rng = self.draw.settings, np.random.default_rng(0)
        asked = [each for each in self.draw.rule.arguments if each not in given]
        for trial in range(100):
            arm, reward = trial % (self.arms or 1), float(trial // (self.arms or 1) % 2)
            own = {each: value[arm] for each, value in given.items()}
            engine = {"arm": arm, "reward": reward, "rng": rng}
            try:
                late = self.draw.rule(**own, **{each: engine[each] for each in asked})
            except ValueError as error:
                raise broken_off(error, f"the delay {name!r}", "a trial draw") from error
            number = float(late) if isinstance(late, numbers.Real) else math.nan
            if not (number == math.inf or (number >= 0 and number == math.floor(number))):
                raise ValueError(
                    f"the delay {name!r} must be a whole number of rounds of at least 0, or infinity for never, "
                    f"not {checks.shown(late)} (arm {arm}, reward {reward:g})"
                )

    def __repr__(self) -> str:
        return f"Delay({self.draw!r})"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of `draw`, by name."""
        return MappingProxyType(self.draw.settings)


class Available:
    """Which arms are there, round by round.

    Parameters
    ----------
    draw : callable
        Fills `available` with 1 for each arm that is there, and with 0 for the others. The array arrives as it was in
        the round before, in the first one with all arms there. The function may also ask for the round `t`, the plays
        so far, `selected`, and `rng`; its other arguments are settings. Compiled by the engine.
    **settings
        The settings of `draw`, by the names of its arguments: numbers, or arrays of numbers.

    Examples
    --------
    Each arm comes and goes by itself, but the first is always there:

    >>> def come_and_go(leave, come, available, rng):
    ...     for a in range(1, available.size):
    ...         if rng.random() < (leave if available[a] else come):
    ...             available[a] = 1 - available[a]
    >>> Available(come_and_go, leave=0.1, come=0.2)
    Available(come_and_go(leave=0.1, come=0.2))
    """

    described_as = "an Available"

    @checked
    def __init__(self, draw: Annotated[Callable[..., None], checks.Function()], **settings: Any) -> None:
        self.draw = BoundRule(draw, THERE, settings)

    def __repr__(self) -> str:
        return f"Available({self.draw!r})"


def timetable(table, t, available):
    """Let those arms be there that a row of a table says, the row of the round, and from the first one again."""
    for a in range(available.size):
        available[a] = int(table[(t - 1) % len(table), a])


@dataclass(frozen=True, eq=False, repr=False)
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
    available : Available or array_like, shape (rounds, K), optional
        Which arms are there; without it all are. A table has a row for each round, 1 for an arm that is there and else
        0, and begins again after the last. The regret is against the best arms that are there.

    Examples
    --------
    >>> game = Bandit(bernoulli([0.9, 0.5, 0.2]), plays=2)
    >>> game.best_reward
    1.4
    >>> import fairlib as fl
    >>> shifts = [[1, 1, 0], [0, 1, 1]]  # the second arm is always there
    >>> fl.simulate(Bandit(bernoulli([0.9, 0.5, 0.2]), available=shifts), fl.ucb1(), 1000).regret[0, -1] < 100
    np.True_
    """

    arms: Arms
    plays: int = 1
    delay: Delay | None = None
    available: Any = None
    outcome: ClassVar[type[Result]] = Result
    described_as: ClassVar[str] = "a Bandit, such as Bandit(bernoulli([0.9, 0.5]))"

    def __post_init__(self) -> None:
        checks.check_fields(self)
        object.__setattr__(self, "plays", checks.integer("plays", self.plays, 1, self.arms.means.size))
        if self.delay is not None and self.delay.arms not in (None, self.arms.means.size):
            raise ValueError(f"delay must be of {self.arms.means.size} arms, not {self.delay.arms}")
        if self.available is not None and not isinstance(self.available, Available):
            table = checks.array("available", self.available, 2)
            if table.shape[1] != self.arms.means.size or not np.isin(table, (0, 1)).all():
                raise ValueError(f"available must have {self.arms.means.size} numbers in each row, each 0 or 1")
            object.__setattr__(self, "available", Available(timetable, table=table))
        if self.available is not None and not {"available", "best"} <= {*self.metrics.rule.arguments}:
            raise ValueError(f"available must not be given: a {type(self).__name__} has all arms there in all rounds")

    def __repr__(self) -> str:
        return describe_game(self)

    @property
    def best_reward(self) -> float:
        """Expected reward of a round in which the best arms are played."""
        return float(np.sort(self.arms.means)[-self.plays :].sum())

    @cached_property
    def metrics(self) -> BoundRule:
        """What the game sums round by round: nothing, or what the best arms that are there would pay."""
        if not self.available:
            return arm_metrics(no_metrics)
        means = self.arms.means
        return arm_metrics(best_metrics, order=np.argsort(-means, kind="stable"), means=means, plays=self.plays)

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Mapping[str, Any]) -> Result:
        """Read off what a policy earned and lost.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : dict
            What `metrics` had summed, by name, each of shape (runs, R).

        Returns
        -------
        Result
            A result of the game's kind, with the regret (best expected reward less the expected reward of the arms
            played) and with all that was summed.

        Examples
        --------
        >>> game = Bandit(bernoulli([0.9, 0.5]))
        >>> game.result(np.array([4]), np.array([[[3, 1]]]), np.array([[3.0]]), {}).regret
        array([[0.4]])
        """
        top = self.arms.means.max()  # with it a play of the best arm costs 0 to the last bit
        kept, lost = dict(sums), (self.best_reward - self.plays * top) * rounds
        if self.available:  # the best arms are those that are there
            lost = kept.pop("best") - self.plays * top * rounds
        regret = lost + earned(selected, top - self.arms.means)
        return self.outcome(rounds=rounds, selected=selected, reward=reward, regret=regret, **kept)


def earned(plays: ArrayLike, means: ArrayLike) -> Any:
    """Return the total worth of some plays, to the same last bit whatever else is asked for (no matrix product is)."""
    return (np.asarray(plays) * np.asarray(means)).sum(axis=-1)


def arm_metrics(function: Any, **settings: Any) -> BoundRule:
    """Return what a game on arms sums, round by round, besides rewards and plays.

    Parameters
    ----------
    function : callable
        Adds a round to the sums, which are its memory, such as ``waste: Number``. It may ask for the round `t`, the
        probabilities `p`, the plays so far, `selected`, and which arms are there, `available`; its other arguments are
        settings.
    **settings
        Its settings: numbers, arrays of numbers, or a `Merit`.

    Returns
    -------
    BoundRule
        The value for the property `metrics` of a game.

    Examples
    --------
    >>> from fairlib.core import Number
    >>> def wasted(means, p, waste: Number):
    ...     waste[0] += means.max() - (p * means).sum()
    >>> arm_metrics(wasted, means=[0.9, 0.5])
    wasted(means=[0.9, 0.5])
    """
    return BoundRule(function, METRICS, settings)


@checked
def mean_gaps(game: Bandit) -> NDArray[np.float64]:
    """Return by how much each mean is below the best, for rewards in [0, 1]."""
    mu = checks.vector("game.arms.means", game.arms.means, 0, 1)
    return mu.max() - mu


@checked
def check_no_delay(game: Bandit) -> None:
    """Refuse a game with a delay, for which a bound is not proved."""
    if game.delay is not None:
        raise ValueError(
            f"game must have no delay, as the bound is for rewards that are seen at once, not {game.delay.name!r}"
        )


def no_metrics():
    """Sum nothing."""


def best_metrics(order, means, plays, available, best: Number):
    """Sum what the best arms that are there would pay, as many as are played; `order` begins with the best of all."""
    left = plays
    for i in range(order.size):
        a = int(order[i])
        if left > 0 and available[a] == 1:
            best[0] += means[a]
            left -= 1


def no_delay():
    """Return 0: the reward is seen at the end of its round."""
    return 0
