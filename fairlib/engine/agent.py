"""A policy with all that it has observed: it chooses, and it is told what came of it."""

import math
from copy import copy
from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int64, types
from numpy.random import Generator
from numpy.typing import NDArray

from fairlib.core.contexts import Past
from fairlib.core.policy import BasePolicy
from fairlib.core.ridge import Ridge, absorb
from fairlib.core.steps import select
from fairlib.rules.jit import compiled, entry_point


class Agent:
    """A policy with its memory and the news that it has not read.

    Parameters
    ----------
    policy : Policy or ContextPolicy
        The policy.
    rule : callable
        Its rule as the engine calls it.
    sizes : dict
        The sizes of the game.

    Examples
    --------
    >>> import fairlib as fl
    >>> seat = Agent(fl.ucb1(), fl.ucb1().bound.interpreted, {"K": 2, "T": 10})
    >>> seat.choose((1, np.zeros(2, int), np.zeros(2, int), np.zeros(2)), np.random.default_rng(0), 1)
    array([0])
    """

    def __init__(self, policy: BasePolicy, rule: Any, sizes: dict[str, int]) -> None:
        self.rule, self.bound, self.sizes, self.name = rule, policy.bound, sizes, policy.name
        self.params, self.state, self.p = self.bound.numbers(sizes), self.bound.state(sizes), np.zeros(sizes["K"])
        self._unread: list[tuple[int, float, int, float]] = []
        self.posts = np.zeros(2 * policy.bound.readers, np.int64)  # from where to where news waits for each reader
        self._columns = self._posted()

    @property
    def unread(self) -> list[Any]:
        """The news that somebody has yet to read: arms, rewards, rounds and chances."""
        return self._posted()

    @unread.setter
    def unread(self, columns: list[Any]) -> None:
        self._unread = list(zip(*(column.tolist() for column in columns), strict=True))
        self._columns = self._posted()

    def _posted(self) -> list[Any]:
        columns = list(zip(*self._unread, strict=True)) or [(), (), (), ()]
        kinds = (np.int64, np.float64, np.int64, np.float64)
        return [np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)]

    @property
    def memory(self) -> dict[str, NDArray[np.float64]]:
        """What the policy remembers, by name; it changes with the policy."""
        return self.bound.memory(self.state, self.sizes)

    def ask(self, given: tuple[Any, ...], rng: Generator) -> int:
        """Ask the rule, with what it is given before its news; return the arm that it names, -1 if it filled `p`."""
        if self._columns[0].size < len(self._unread):
            self._columns = self._posted()
        self.p[:] = 0.0
        try:
            arm: int = self.rule(self.params, self.state, *given, self.posts, *self._columns, rng, self.p)
        except (IndexError, ZeroDivisionError) as error:
            raise type(error)(f"the rule of {self.name!r} broke off in round {given[0]}: {error}") from error
        if self._unread and (self.posts[::2] == self.posts[1::2]).all():
            self._unread, self.posts[:] = [], 0
            self._columns = self._posted()
        return arm

    def settle(self, arm: int, u: float, plays: int) -> NDArray[np.int64] | None:
        """Return the arms that an answer comes to, or nothing if it is none; `p` then has their probabilities."""
        if arm == -1:
            chosen = np.zeros(plays, np.int64)
            return chosen if selector()(self.p, u, chosen) else None
        if plays > 1 or not 0 <= arm < self.p.size:
            return None
        self.p[:] = 0.0
        self.p[arm] = 1.0
        return np.array([arm])

    def choose(self, given: tuple[Any, ...], rng: Generator, plays: int) -> NDArray[np.int64] | None:
        """Ask the rule, and return the arms that it plays, or nothing if its answer is none."""
        return self.settle(self.ask(given, rng), rng.random(), plays)

    def copy(self) -> "Agent":
        """Return the same seat with a memory of its own: what is asked of the one, the other will not remember."""
        other = copy(self)
        other.state, other.p = self.state.copy(), self.p.copy()
        other._unread, other.posts = self._unread.copy(), self.posts.copy()
        return other

    def hear(self, arm: int, reward: float, t: int, chance: float) -> None:
        """Keep news until the rule is asked."""
        if self.posts.size:
            self._unread.append((arm, reward, t, chance))
            self.posts[1::2] += 1


def fresh_ridge(regulariser: float | None, dimension: int) -> Ridge:
    """Return a ridge regression that has seen nothing, an empty one if there is to be none.

    Parameters
    ----------
    regulariser : float or None
        The regulariser, above 0.
    dimension : int
        Length d of a context.

    Returns
    -------
    Ridge
        The regression.

    Examples
    --------
    >>> fresh_ridge(4.0, 1).root
    array([[0.5]])
    """
    d = dimension if regulariser else 0
    return Ridge(np.zeros(d), np.eye(d) / math.sqrt(regulariser or 1.0))


@cache
def absorber() -> Any:
    """Return `absorb`, compiled: in plain Python it takes milliseconds where contexts are long.

    Returns
    -------
    callable
        What adds a context and its reward to a ridge regression.

    Examples
    --------
    >>> ridge = fresh_ridge(1.0, 1)
    >>> absorber()(*ridge, np.array([1.0]), 3.0)
    >>> ridge.mean
    array([1.5])
    """
    return compiled(absorb, types.void(float64[::1], float64[:, ::1], float64[::1], float64))


@cache
def selector() -> Any:
    """Return `select`, compiled, to be called with lists of numbers that are nobody else's.

    Returns
    -------
    callable
        What chooses arms with given probabilities.

    Examples
    --------
    >>> chosen = np.zeros(1, dtype=np.int64)
    >>> selector()(np.array([0.25, 0.75]), 0.5, chosen), chosen
    (True, array([1]))
    """
    return entry_point(compiled(select, boolean(float64[::1], float64, int64[::1])))


def fresh_past(rounds: int, arms: int, dimension: int) -> Past:
    """Return a history with room for some rounds.

    Parameters
    ----------
    rounds : int
        How many.
    arms, dimension : int
        Number of arms, and length of a context.

    Returns
    -------
    Past
        The history.

    Examples
    --------
    >>> fresh_past(5, 2, 3).contexts.shape
    (5, 2, 3)
    """
    shape = (rounds, arms)
    return Past(np.zeros((*shape, dimension)), np.zeros(shape, np.int64), np.zeros(rounds, np.int64), np.zeros(rounds))
