"""Games with contexts: in each round every arm comes with a vector, and the reward depends on it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import Horizon, NonNegative, PositiveInt, PositiveScale, checked
from fairlib.core.policy import BasePolicy
from fairlib.core.result import Result
from fairlib.core.ridge import RIDGE, Ridge
from fairlib.rules.argument_block import FLOATS, TABLE, WHOLES, frozen
from fairlib.rules.bound_rule import BoundRule, describe_game
from fairlib.rules.jit import helper
from fairlib.rules.rule import Feedback, Number, Rule
from fairlib.rules.signature import CallSignature


class Now(NamedTuple):
    """The round that a policy with contexts is to play.

    Parameters
    ----------
    t : int
        The round: 1, 2, 3, ...
    contexts : ndarray, shape (K, d)
        The contexts of the arms.
    groups : ndarray of int, shape (K,)
        The group of each arm.

    Examples
    --------
    >>> Now(1, np.ones((2, 3)), np.zeros(2, int)).contexts.shape
    (2, 3)
    """

    t: int
    contexts: NDArray[np.float64]
    groups: NDArray[np.int64]


class Past(NamedTuple):
    """The rounds so far, for a policy that asks for its history: in round t the first t - 1 rows are filled.

    Parameters
    ----------
    contexts : ndarray, shape (T, K, d)
        Contexts of all arms.
    groups : ndarray of int, shape (T, K)
        Group of each arm.
    played : ndarray of int, shape (T,)
        The arm played.
    rewards : ndarray, shape (T,)
        The reward seen.

    Examples
    --------
    >>> Past(np.zeros((1, 2, 3)), np.zeros((1, 2), int), np.zeros(1, int), np.zeros(1)).contexts.shape
    (1, 2, 3)
    """

    contexts: NDArray[np.float64]
    groups: NDArray[np.int64]
    played: NDArray[np.int64]
    rewards: NDArray[np.float64]


PAST = types.NamedTuple((float64[:, :, ::1], int64[:, ::1], int64[::1], float64[::1]), Past)

CONTEXT_RULE = CallSignature(
    what="the rule of a policy with contexts",
    flat="params, state, t, contexts, groups, ridge, past, cursors, arms, rewards, rounds, chances, rng, p",
    gives={
        "now": "Now(t, contexts, groups)",
        "feedback": "unread_feedback(cursors, arms, rewards, rounds, chances)",
        "ridge": "ridge",
        "past": "past",
        "rng": "rng",
        "p": "p",
    },
    signature=int64(
        *(FLOATS, float64[::1], int64, TABLE, WHOLES, frozen(RIDGE), frozen(PAST)),  # params to past
        *(int64[::1], WHOLES, FLOATS, WHOLES, FLOATS),  # cursors to chances
        *(types.npy_rng, float64[::1]),
    ),
    answer="as_action({})",
    tuples={"now": Now, "feedback": Feedback, "ridge": Ridge, "past": Past},
    sizes=("K", "d", "G", "T"),
)
"""How the engine calls a policy's rule where arms have contexts."""

ROUND = CallSignature(
    what="what draws a round",
    flat="params, rng, contexts, groups, means, rewards",
    gives={name: name for name in ("rng", "contexts", "groups", "means", "rewards")},
    signature=types.void(FLOATS, types.npy_rng, float64[:, ::1], int64[::1], float64[::1], float64[::1]),
)
"""How the engine calls a function that draws a round."""

CONTEXT_METRICS = CallSignature(
    what="what a game with contexts sums",
    flat="params, state, t, groups, means, p, played",
    gives={name: name for name in ("t", "groups", "means", "p", "played")},
    signature=types.void(FLOATS, float64[::1], int64, int64[::1], float64[::1], float64[::1], int64),
    sizes=("K", "d", "G", "T"),
)
"""How the engine calls a function that sums a quantity of a game, round by round; its memory is the sums."""


class ContextPolicy(BasePolicy):
    """A policy for games with contexts: a rule with its settings.

    Parameters
    ----------
    name : str
        Its name in figures.
    rule : Rule or callable
        What it plays, round by round; see `rule` for what a rule may ask for and how it answers. One that asks for
        `past` gets the rounds so far, which takes memory for all contexts.
    ridge : float, optional
        The regularizer, above 0, of the ridge regression on all rounds so far, for a rule that asks for `ridge`.
    arms : int, optional
        How many arms it is made for, if its settings fix that; by default any number.
    dimension : int, optional
        Length of the contexts it is made for, if its settings fix that; by default any.
    groups : int, optional
        How many groups it is made for, if its settings fix that; by default any number.
    horizon : int, optional
        How many rounds it is made for, if its settings fix that; by default any number. A longer game is refused, a
        shorter one is not. A rule that asks for `horizon` is given it.
    interpret : bool
        Leave the rule to Python, to print from it, to step through it or to call what can't be compiled.
    **settings
        The rule's settings, by the names of its arguments: numbers, arrays of numbers, or a `Merit`.

    Raises
    ------
    TypeError, ValueError
        If the rule asks for something that is not available, or a setting is missing or unknown.

    See Also
    --------
    rule : marks a function as a rule.
    check_policy : says what a rule does wrong.

    Examples
    --------
    A rule that trusts its estimate:

    >>> def greedy(now, ridge, p):
    ...     return np.argmax(now.contexts @ ridge.mean)
    >>> ContextPolicy("greedy", greedy, ridge=1.0)
    ContextPolicy('greedy', ridge=1.0)
    """

    form = CONTEXT_RULE
    _more = ("ridge", "arms", "dimension", "groups", "horizon")

    @checked
    def __init__(
        self,
        name: Annotated[str, checks.Text()],
        rule: Rule | Callable[..., Any],
        *,
        ridge: PositiveScale | None = None,
        arms: PositiveInt | None = None,
        dimension: PositiveInt | None = None,
        groups: PositiveInt | None = None,
        horizon: Horizon | None = None,
        interpret: Annotated[bool, checks.Flag()] = False,
        **settings: Any,
    ) -> None:
        self.ridge, self.arms, self.dimension, self.groups, self.horizon = ridge, arms, dimension, groups, horizon
        super().__init__(name, rule, interpret, settings, horizon=self.horizon)
        if ("ridge" in self.rule.arguments) is (ridge is None):
            wrong = (
                "asks for ridge: say its regularizer, such as ridge=1.0" if ridge is None else "does not ask for ridge"
            )
            raise TypeError(f"the rule {self.rule.__name__!r} {wrong}")


class World:
    """Where contexts and rewards come from; made by `table`, `sphere` and others, or with a `draw` of your own.

    Parameters
    ----------
    arms : int
        Number of arms K, the same in each round.
    dimension : int
        Length d of a context.
    draw : callable
        Draws one round, independently of the others: it asks for `rng`, and fills `contexts` (K, d), the `groups` of
        the arms (K,) if there are any, their expected rewards given the contexts, `means` (K,), and the `rewards` (K,)
        of which one will be seen. Its other arguments are settings. The engine compiles it.
    groups : int
        Number of groups that the arms belong to.
    **settings
        The settings of `draw`, by the names of its arguments: numbers, or arrays of numbers.

    Examples
    --------
    >>> table(np.ones((1, 2, 3)), np.zeros((1, 2)), np.zeros((1, 2))).dimension
    3
    """

    described_as = "a World, such as sphere(5, [0.6, 0.8])"

    @checked
    def __init__(
        self,
        arms: PositiveInt,
        dimension: PositiveInt,
        draw: Annotated[Callable[..., None], checks.Function()],
        *,
        groups: PositiveInt = 1,
        **settings: Any,
    ) -> None:
        self.arms, self.dimension, self.groups = arms, dimension, groups
        self.draw = BoundRule(draw, ROUND, settings)

    def __repr__(self) -> str:
        groups = f", groups={self.groups}" if self.groups > 1 else ""
        return f"World({self.arms}, {self.dimension}, {self.draw!r}{groups})"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of `draw`, by name."""
        return MappingProxyType(self.draw.settings)


def table_draw(rows_of_contexts, rows_of_means, rows_of_rewards, rng, contexts, means, rewards):
    """Take a row of the tables at random."""
    row = int(rng.random() * len(rows_of_contexts))
    for a in range(means.size):  # loops, as slices take seconds to compile
        means[a], rewards[a] = rows_of_means[row, a], rows_of_rewards[row, a]
        for i in range(contexts.shape[1]):
            contexts[a, i] = rows_of_contexts[row, a, i]


@checked
def table(
    contexts: Annotated[ArrayLike, checks.Table(3)],
    means: Annotated[ArrayLike, checks.Table(2)],
    rewards: Annotated[ArrayLike, checks.Table(2)],
) -> World:
    """Take a world from data: each round is a row of the data, drawn at random.

    Parameters
    ----------
    contexts : array_like, shape (n, K, d)
        Contexts of the arms, row by row.
    means : array_like, shape (n, K)
        What the regret counts for each arm: its expected reward, or a model of it.
    rewards : array_like, shape (n, K)
        The rewards.

    Returns
    -------
    World
        The world.

    Examples
    --------
    >>> table(np.ones((5, 2, 3)), np.zeros((5, 2)), np.zeros((5, 3)))
    Traceback (most recent call last):
    ValueError: rewards must be of shape (5, 2), as contexts is of shape (5, 2, 3), not (5, 3)
    """
    x = np.asarray(contexts)
    for name, column in (("means", np.asarray(means)), ("rewards", np.asarray(rewards))):
        if column.shape != x.shape[:2]:
            raise ValueError(
                f"{name} must be of shape {x.shape[:2]}, as contexts is of shape {x.shape}, not {column.shape}"
            )
    rows: dict[str, Any] = {"rows_of_contexts": x, "rows_of_means": means, "rows_of_rewards": rewards}
    return World(x.shape[1], x.shape[2], table_draw, **rows)


def linear_table_draw(rows, parameter, sd, rng, contexts, means, rewards):
    """Take a row of contexts at random; the reward is the mean with normal noise."""
    row = int(rng.random() * len(rows))
    for a in range(means.size):
        means[a] = 0.0
        for i in range(parameter.size):
            contexts[a, i] = rows[row, a, i]  # not a slice, which takes seconds to compile
            means[a] += contexts[a, i] * parameter[i]
        rewards[a] = means[a] + sd * rng.standard_normal()


@checked
def linear_table(
    contexts: Annotated[ArrayLike, checks.Table(3)], parameter: Annotated[ArrayLike, checks.Table(1)], sd: NonNegative
) -> World:
    r"""Take contexts from data, and make the linear model true: rewards :math:`\mu^\star \cdot x` with normal noise.

    Parameters
    ----------
    contexts : array_like, shape (n, K, d)
        Contexts of the arms; each round is a row, drawn at random.
    parameter : array_like, shape (d,)
        The true parameter.
    sd : float
        Standard deviation of the noise, at least 0.

    Returns
    -------
    World
        The world.

    Examples
    --------
    >>> linear_table(np.ones((1, 2, 3)), [0.1, 0.2, 0.3], sd=0.1).arms
    2
    """
    x, mu = np.asarray(contexts), np.asarray(parameter)
    if mu.size != x.shape[2]:
        raise ValueError(f"parameter must have {x.shape[2]} numbers, as contexts have, not {mu.size}")
    return World(x.shape[1], x.shape[2], linear_table_draw, rows=x, parameter=mu, sd=sd)


def sphere_draw(parameter, sd, rng, contexts, means, rewards):
    """Draw contexts uniformly on the unit sphere; the reward is the mean with normal noise."""
    for a in range(means.size):
        length = 0.0
        for i in range(parameter.size):
            contexts[a, i] = rng.standard_normal()
            length += contexts[a, i] * contexts[a, i]
        means[a] = 0.0
        for i in range(parameter.size):
            contexts[a, i] /= math.sqrt(length)
            means[a] += contexts[a, i] * parameter[i]
        rewards[a] = means[a] + sd * rng.standard_normal()


@checked
def sphere(arms: PositiveInt, parameter: Annotated[ArrayLike, checks.Table(1)], sd: NonNegative = 1.0) -> World:
    r"""Draw every context afresh, uniformly on the unit sphere; rewards are linear with normal noise.

    Parameters
    ----------
    arms : int
        Number of arms K.
    parameter : array_like, shape (d,)
        The true parameter :math:`\mu^\star`.
    sd : float
        Standard deviation of the noise, at least 0.

    Returns
    -------
    World
        The world.

    Examples
    --------
    >>> sphere(5, [0.6, 0.8]).dimension
    2
    """
    return World(arms, np.size(parameter), sphere_draw, parameter=parameter, sd=sd)


@dataclass(frozen=True, eq=False, repr=False)
class ContextBandit:
    """The classic game with contexts: play an arm each round and collect its reward.

    Parameters
    ----------
    world : World
        Where contexts and rewards come from.

    Examples
    --------
    >>> ContextBandit(sphere(5, [0.6, 0.8])).world.arms
    5
    """

    world: World
    outcome: ClassVar[type[Result]] = Result
    described_as: ClassVar[str] = "a ContextBandit, such as ContextBandit(sphere(5, [0.6, 0.8]))"

    def __post_init__(self) -> None:
        checks.check_fields(self)

    def __repr__(self) -> str:
        return describe_game(self)

    @cached_property
    def metrics(self) -> BoundRule:
        """What the game sums round by round: the regret."""
        return context_metrics(regret_metrics)

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Mapping[str, Any]) -> Result:
        """Collect what happened, as `Bandit.result` does; the regret is among the `sums`."""
        return self.outcome(rounds=rounds, selected=selected, reward=reward, **sums)


@helper
def shortfall(means: Any, played: int) -> float:
    """Return by how much the expected reward of the arm played is below the best.

    Parameters
    ----------
    means : ndarray, shape (K,)
        The expected rewards.
    played : int
        The arm.

    Returns
    -------
    float
        The difference, at least 0.

    Examples
    --------
    >>> shortfall(np.array([0.25, 1.0]), 0)
    np.float64(0.75)
    """
    best = means[0]
    for a in range(1, means.size):
        best = max(best, means[a])
    return best - means[played]


def context_metrics(function: Any, **settings: Any) -> BoundRule:
    """Return what a game with contexts sums, round by round, besides rewards and plays.

    Parameters
    ----------
    function : callable
        Adds a round to the sums, which are its memory, such as ``regret: Number``. It may ask for the round `t`, the
        `groups` and `means` of the arms, the probabilities `p` and the arm `played`; its other arguments are settings.
    **settings
        Its settings: numbers, arrays of numbers, or a `Merit`.

    Returns
    -------
    BoundRule
        The value for the property `metrics` of a game; one of the sums must be called `regret`.

    Examples
    --------
    >>> def wasted(means, played, regret: Number):
    ...     regret[0] += means.max() - means[played]
    >>> context_metrics(wasted)
    wasted()
    """
    return BoundRule(function, CONTEXT_METRICS, settings)


def regret_metrics(means, played, regret: Number):
    """Sum the regret."""
    regret[0] += shortfall(means, played)
