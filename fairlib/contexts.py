"""Games with contexts: in each round every arm comes with a vector, and the reward depends on it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.compilation import helper
from fairlib.result import Result


class Ridge(NamedTuple):
    r"""The ridge regression on all rounds so far, as the engine keeps it for a policy.

    With :math:`\Sigma = \lambda I + \sum_s x_s x_s^\top` over the contexts played, `mean` is
    :math:`\Sigma^{-1} \sum_s x_s r_s`, and `root` a square root of the inverse,
    :math:`\mathrm{root}\,\mathrm{root}^\top = \Sigma^{-1}`. So :math:`\lVert \mathrm{root}^\top x \rVert` is the width
    :math:`\lVert x \rVert_{\Sigma^{-1}}`, and ``mean + root @ z`` with standard normal `z` has covariance
    :math:`\Sigma^{-1}`.

    Parameters
    ----------
    mean : ndarray, shape (d,)
        The estimate.
    root : ndarray, shape (d, d)
        A square root of the inverse.

    Examples
    --------
    >>> Ridge(np.zeros(1), np.eye(1)).mean
    array([0.])
    """

    mean: NDArray[np.float64]
    root: NDArray[np.float64]


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


RIDGE = types.NamedTuple((float64[::1], float64[:, ::1]), Ridge)
PAST = types.NamedTuple((float64[:, :, ::1], int64[:, ::1], int64[::1], float64[::1]), Past)

CONTEXT_RULE = types.void(
    float64[::1],  # params
    float64[::1],  # state
    int64,  # t
    float64[:, ::1],  # contexts
    int64[::1],  # groups
    RIDGE,  # ridge
    PAST,  # past
    types.npy_rng,  # rng
    float64[::1],  # p
)
"""What a policy's rule takes: ``rule(params, state, t, contexts, groups, ridge, past, rng, p)``."""

ROUND = types.void(float64[:, ::1], types.npy_rng, float64[:, ::1], int64[::1], float64[::1], float64[::1])
"""What draws a round: ``draw(params, rng, contexts, groups, means, rewards)``."""

CONTEXT_TALLY = types.void(float64[::1], int64, int64[::1], float64[::1], float64[::1], int64, float64[::1])
"""What sums a quantity of its own round by round: ``tally(truth, t, groups, means, p, played, sums)``."""


@dataclass(frozen=True, eq=False)
class ContextPolicy:
    """A rule for games with contexts, with its parameters.

    Parameters
    ----------
    name : str
        What figures call it.
    rule : callable
        ``rule(params, state, t, contexts, groups, ridge, past, rng, p)`` writes into `p` the probability of playing
        each arm in round `t`, which is 1, 2, 3, ...; `p` arrives full of zeros and must sum to 1. `contexts` (K, d) and
        `groups` (K,) are those of this round; `ridge` is a `Ridge` and `past` a `Past`, each empty unless asked for
        below. `state` is the policy's own memory, zero at the start; `rng` is a `numpy.random.Generator`. Plain
        Python: it is compiled where Numba can, and interpreted, some hundred times slower, where it can't.
    params : array_like, shape (m,)
        The numbers that the rule is set with.
    ridge : float, optional
        The regulariser, above 0, of the ridge regression that the engine is to keep; without it, none is kept.
    history : bool
        Whether the rule wants the rounds so far.
    memory : int
        Length of `state`.
    dimension : int, optional
        Length of the contexts it is made for, where its parameters say; by default any.
    interpret : bool
        Leave the rule to Python, to print from it, to step through it or to call what can't be compiled.

    Raises
    ------
    TypeError, ValueError
        If `rule` is not callable, or a number is of the wrong kind or out of range.

    See Also
    --------
    check_policy : says what a rule does wrong.

    Examples
    --------
    A rule that trusts its estimate:

    >>> def greedy(params, state, t, contexts, groups, ridge, past, rng, p):
    ...     p[np.argmax(contexts @ ridge.mean)] = 1.0
    >>> ContextPolicy("greedy", greedy, ridge=1.0).history
    False
    """

    name: str
    rule: Callable[..., None]
    params: ArrayLike = field(default=())
    ridge: float | None = None
    history: bool = False
    memory: int = 0
    dimension: int | None = None
    interpret: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, not {self.name!r}")
        if not callable(self.rule):
            raise TypeError(
                f"rule must be a function (params, state, t, contexts, groups, ridge, past, rng, p), not {self.rule!r}"
            )
        numbers = checks.vector("params", self.params) if np.size(self.params) else np.zeros(0)
        object.__setattr__(self, "params", numbers)
        if self.ridge is not None:
            checks.real("ridge", self.ridge, above=0)
        checks.whole("memory", self.memory, 0)
        if self.dimension is not None:
            checks.whole("dimension", self.dimension, 1)


@dataclass(frozen=True, eq=False)
class World:
    """Where contexts and rewards come from; made by `table`, `linear_gaussian` or of a reader's own.

    Parameters
    ----------
    arms : int
        Number of arms K, the same in each round.
    dimension : int
        Length d of a context.
    draw : callable
        ``draw(params, rng, contexts, groups, means, rewards)`` draws one round, independently of the others: it fills
        `contexts` (K, d), the `groups` of the arms (K,), their expected rewards given the contexts (K,) and the
        rewards (K,) of which one will be seen. Compiled by the engine.
    params : array_like, shape (n, m)
        What `draw` needs to know.
    groups : int
        Number of groups that the arms belong to.

    Raises
    ------
    TypeError, ValueError
        If a number is of the wrong kind or out of range, `draw` is not callable or `params` not a table of numbers.

    Examples
    --------
    >>> table(np.ones((1, 2, 3)), np.zeros((1, 2)), np.zeros((1, 2))).dimension
    3
    """

    arms: int
    dimension: int
    draw: Callable[..., None]
    params: ArrayLike
    groups: int = 1

    def __post_init__(self) -> None:
        for name in ("arms", "dimension", "groups"):
            checks.whole(name, getattr(self, name), 1)
        if not callable(self.draw):
            raise TypeError(
                f"draw must be a function (params, rng, contexts, groups, means, rewards), not {self.draw!r}"
            )
        object.__setattr__(self, "params", checks.array("params", self.params, 2))


def table_draw(params, rng, contexts, groups, means, rewards):
    """Take a row of the table at random: its contexts, then its means, then its rewards."""
    k, d = contexts.shape
    row = params[int(rng.random() * params.shape[0])]
    for a in range(k):
        contexts[a] = row[a * d : (a + 1) * d]
        means[a] = row[k * d + a]
        rewards[a] = row[k * d + k + a]


def table(contexts: ArrayLike, means: ArrayLike, rewards: ArrayLike) -> World:
    """Take a world from data: each round is a row of the data, drawn at random.

    Parameters
    ----------
    contexts : array_like, shape (n, K, d)
        Contexts of the arms, row by row.
    means : array_like, shape (n, K)
        What the arms' rewards are worth in the eyes of the regret: expected rewards, or a model of them.
    rewards : array_like, shape (n, K)
        The rewards.

    Returns
    -------
    World
        The world.

    Raises
    ------
    TypeError, ValueError
        If an argument is not an array of finite numbers, or the shapes don't fit.

    Examples
    --------
    >>> table(np.ones((5, 2, 3)), np.zeros((5, 2)), np.zeros((5, 3)))
    Traceback (most recent call last):
    ValueError: rewards must be of shape (5, 2), as contexts is of shape (5, 2, 3), not (5, 3)
    """
    x = checks.array("contexts", contexts, 3)
    columns = [x.reshape(len(x), -1)]
    for name, value in (("means", means), ("rewards", rewards)):
        column = checks.array(name, value, 2)
        if column.shape != x.shape[:2]:
            raise ValueError(
                f"{name} must be of shape {x.shape[:2]}, as contexts is of shape {x.shape}, not {column.shape}"
            )
        columns.append(column)
    return World(x.shape[1], x.shape[2], table_draw, np.hstack(columns))


def linear_table_draw(params, rng, contexts, groups, means, rewards):
    """Take a row of contexts at random; the reward is the mean with normal noise."""
    k, d = contexts.shape
    row = params[1 + int(rng.random() * (params.shape[0] - 1))]
    sd = params[0, d]
    for a in range(k):
        means[a] = 0.0
        for i in range(d):
            contexts[a, i] = row[a * d + i]
            means[a] += row[a * d + i] * params[0, i]
        rewards[a] = means[a] + sd * rng.standard_normal()


def linear_table(contexts: ArrayLike, parameter: ArrayLike, sd: float) -> World:
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

    Raises
    ------
    TypeError, ValueError
        If an argument is not an array of finite numbers, or the shapes don't fit.

    Examples
    --------
    >>> linear_table(np.ones((1, 2, 3)), [0.1, 0.2, 0.3], sd=0.1).arms
    2
    """
    x, mu, spread = (
        checks.array("contexts", contexts, 3),
        checks.array("parameter", parameter, 1),
        checks.real("sd", sd, 0),
    )
    if mu.size != x.shape[2]:
        raise ValueError(f"parameter must have {x.shape[2]} numbers, as contexts have, not {mu.size}")
    params = np.zeros((1 + len(x), x.shape[1] * x.shape[2] + 1))
    params[0, : mu.size], params[0, mu.size] = mu, spread
    params[1:, :-1] = x.reshape(len(x), -1)
    return World(x.shape[1], x.shape[2], linear_table_draw, params)


def sphere_draw(params, rng, contexts, groups, means, rewards):
    """Draw contexts evenly on the unit sphere; the reward is the mean with normal noise."""
    k, d = contexts.shape
    for a in range(k):
        length = 0.0
        for i in range(d):
            contexts[a, i] = rng.standard_normal()
            length += contexts[a, i] ** 2
        means[a] = 0.0
        for i in range(d):
            contexts[a, i] /= length**0.5
            means[a] += contexts[a, i] * params[0, i]
        rewards[a] = means[a] + params[0, d] * rng.standard_normal()


def sphere(arms: int, parameter: ArrayLike, sd: float = 1.0) -> World:
    r"""Draw every context afresh and evenly on the unit sphere; rewards are linear with normal noise.

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

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> sphere(5, [0.6, 0.8]).dimension
    2
    """
    mu, spread = checks.array("parameter", parameter, 1), checks.real("sd", sd, 0)
    return World(checks.whole("arms", arms, 1), mu.size, sphere_draw, [[*mu, spread]])


@dataclass(frozen=True, eq=False)
class ContextBandit:
    """The classic game with contexts: play an arm each round and collect its reward.

    Parameters
    ----------
    world : World
        Where contexts and rewards come from.

    Raises
    ------
    TypeError
        If `world` is not a `World`.

    Examples
    --------
    >>> ContextBandit(sphere(5, [0.6, 0.8])).world.arms
    5
    """

    world: World

    def __post_init__(self) -> None:
        if not isinstance(self.world, World):
            raise TypeError(f"world must be a World, such as sphere(5, [0.6, 0.8]), not {self.world!r}")

    @property
    def truth(self) -> NDArray[np.float64]:
        """What the game's `tally` needs to know; nothing here."""
        return np.zeros(0)

    sums = 1
    """How many sums are kept: the first is the regret, which the engine sums; the others are for `tally`."""

    @property
    def tally(self) -> Callable[..., None]:
        """``tally(truth, t, groups, means, p, played, sums)`` sums what the game's notion adds; nothing here."""
        return no_tally

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> Result:
        """Collect what happened.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, `sums`)
            The sums: first the regret, then what `tally` had summed.

        Returns
        -------
        Result
            With the regret, best expected reward of each round less that of the arm played.

        Examples
        --------
        >>> game = ContextBandit(sphere(2, [1.0]))
        >>> game.result(np.array([1]), np.array([[[1, 0]]]), np.zeros((1, 1)), np.ones((1, 1, 1))).regret
        array([[1.]])
        """
        return Result(rounds=rounds, selected=selected, reward=reward, regret=sums[..., 0])


def no_tally(truth, t, groups, means, p, played, sums):
    """Sum nothing."""


@helper
def dot(x: Any, y: Any) -> float:
    """Return the inner product of two vectors, summed in one stated order.

    Four running sums, so that the processor need not wait for each; NumPy's own sum may differ in the last bit from
    machine to machine.

    Parameters
    ----------
    x, y : ndarray, shape (d,)
        The vectors.

    Returns
    -------
    float
        The inner product.

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    d = x.size
    whole = d - d % 4
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    for i in range(0, whole, 4):
        one += x[i] * y[i]
        two += x[i + 1] * y[i + 1]
        three += x[i + 2] * y[i + 2]
        four += x[i + 3] * y[i + 3]
    for i in range(whole, d):
        one += x[i] * y[i]
    return (one + two) + (three + four)


@helper
def width(root: Any, x: Any, v: Any) -> float:
    r"""Return the width :math:`\lVert x \rVert_{\Sigma^{-1}}` of a context.

    Parameters
    ----------
    root : ndarray, shape (d, d)
        A square root of the inverse, as in `Ridge`.
    x : ndarray, shape (d,)
        The context.
    v : ndarray, shape (d,)
        Receives ``root.T @ x``, of which the width is the length.

    Returns
    -------
    float
        The width.

    Examples
    --------
    >>> width(0.5 * np.eye(2), np.array([3.0, 4.0]), np.empty(2))
    2.5
    """
    for j in range(v.size):
        v[j] = root[0, j] * x[0]
    for i in range(1, v.size):
        xi = x[i]
        for j in range(v.size):
            v[j] += root[i, j] * xi
    return dot(v, v) ** 0.5


@helper
def absorb(mean: Any, root: Any, x: Any, reward: float) -> None:
    r"""Add one context and its reward to a ridge regression, in place.

    A rank-one step on the square root: with :math:`v = R^\top x` and :math:`s = 1 + v^\top v`,
    :math:`R \leftarrow R - R v v^\top / (s + \sqrt s)`. It costs :math:`O(d^2)`, and :math:`R R^\top` can't lose its
    positive definiteness to rounding.

    Parameters
    ----------
    mean : ndarray, shape (d,)
        The estimate, updated.
    root : ndarray, shape (d, d)
        A square root of the inverse, as in `Ridge`; ``np.eye(d) / sqrt(lambda)`` before the first round. Updated.
    x : ndarray, shape (d,)
        The context played.
    reward : float
        Its reward.

    Examples
    --------
    >>> mean, root = np.zeros(1), np.eye(1)
    >>> absorb(mean, root, np.array([1.0]), 3.0)
    >>> mean, (root @ root.T).round(12)
    (array([1.5]), array([[0.5]]))
    """
    v = np.empty(x.size)
    scale = 1.0 + width(root, x, v) ** 2
    surprise = (reward - dot(mean, x)) / scale
    shrink = 1.0 / (scale + scale**0.5)
    for i in range(x.size):
        gain = dot(root[i], v)
        mean[i] += gain * surprise
        for j in range(x.size):
            root[i, j] -= gain * shrink * v[j]
