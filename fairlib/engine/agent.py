"""A policy with all that it has observed: it chooses arms, and is given their rewards."""

import math
from copy import copy
from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int64, types
from numpy.random import Generator
from numpy.typing import NDArray

from fairlib.core.contexts import ContextPolicy, Past
from fairlib.core.policy import BasePolicy
from fairlib.core.ridge import Ridge, absorb
from fairlib.core.steps import select
from fairlib.rules.jit import compiled, entry_point


def wrong_probabilities(policy: Any, where: str) -> ValueError:
    """Return the error for a rule whose answer is neither an arm nor probabilities.

    Parameters
    ----------
    policy : Policy or ContextPolicy
        The policy.
    where : str
        The round, for the message.

    Returns
    -------
    ValueError
        The error.

    Examples
    --------
    >>> import fairlib as fl
    >>> print(wrong_probabilities(fl.uniform(2), "round 3 of run 0"))
    the rule of 'uniform' must return probabilities in [0, 1] that sum to 2; in round 3 of run 0 it did not
    """
    plays = getattr(policy, "plays", 1)
    arm = ", or an arm that there is" if plays == 1 else ""
    return ValueError(
        f"the rule of {policy.name!r} must return probabilities in [0, 1] that sum to {plays}{arm}; "
        f"in {where} it did not"
    )


class Agent:
    """A policy at play: its memory, the counts, sums or ridge regression that its rule is given, and unread feedback.

    Parameters
    ----------
    policy : Policy or ContextPolicy
        The policy.
    rule : callable
        Its rule as the engine calls it.
    sizes : dict
        The sizes of the game: K; with contexts d and G; and T where the rule remembers every round.
    where : str
        What messages say after the number of a round, such as ``" of run 0"``.

    Examples
    --------
    >>> import fairlib as fl
    >>> rng, agent = np.random.default_rng(0), Agent(fl.ucb1(), fl.ucb1().bound_rule.interpreted, {"K": 2, "T": 10})
    >>> arms = agent.choose(1, rng)
    >>> agent.record(1, arms)
    >>> agent.observe(1, 0, reward=1.0, chance=1.0)
    >>> agent.choose(2, rng), agent.total
    (array([1]), array([1., 0.]))
    """

    def __init__(self, policy: BasePolicy, rule: Any, sizes: dict[str, int], where: str = "") -> None:
        self.policy, self.rule, self.bound_rule, self.sizes, self.where = policy, rule, policy.bound_rule, sizes, where
        k = sizes["K"]
        self.params, self.state, self.p = self.bound_rule.numbers(sizes), self.bound_rule.state(sizes), np.zeros(k)
        self.selected, self.observed, self.total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
        self.contextual, self.history = isinstance(policy, ContextPolicy), policy.bound_rule.asks("past")
        if isinstance(policy, ContextPolicy):
            self.ridge = fresh_ridge(policy.ridge, sizes["d"])
            self.past = fresh_past(sizes["T"] if self.history else 0, k, sizes["d"])
        self._unread: list[tuple[int, float, int, float]] = []
        self.cursors = np.zeros(2 * policy.bound_rule.readers, np.int64)  # what each reader has yet to read: from, to
        self._columns = self._as_columns()

    def _as_columns(self) -> list[Any]:
        """Return the feedback that some reader has yet to read: arms, rewards, rounds and chances."""
        columns = list(zip(*self._unread, strict=True)) or [(), (), (), ()]
        kinds = (np.int64, np.float64, np.int64, np.float64)
        return [np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)]

    @property
    def memory(self) -> dict[str, NDArray[np.float64]]:
        """The rule's memory, by name; it changes with the agent."""
        return self.bound_rule.memory(self.state, self.sizes)

    def choose(self, t: int, rng: Generator, contexts: Any = None, groups: Any = None) -> NDArray[np.int64]:
        """Return the arms that the policy plays in a round; `p` then has the probability of each arm.

        Parameters
        ----------
        t : int
            The round.
        rng : numpy.random.Generator
            The policy's stream.
        contexts : ndarray, shape (K, d), optional
            The context of each arm, where arms have contexts.
        groups : ndarray of int, shape (K,), optional
            The group of each.

        Returns
        -------
        ndarray of int, shape (L,)
            The arms.

        Raises
        ------
        ValueError
            If the rule's answer is neither an arm nor probabilities.
        IndexError, ZeroDivisionError
            If the rule breaks off.
        """
        arm = self.ask(t, rng, contexts, groups)
        return self.select_arms(t, arm, rng.random())

    def select_arms(self, t: int, arm: int, u: float) -> NDArray[np.int64]:
        """Return the arms that an answer of the rule means, with a uniform number where the answer is `p`.

        Parameters
        ----------
        t : int
            The round, for the message.
        arm : int
            What `ask` returned.
        u : float
            Uniform on [0, 1).

        Returns
        -------
        ndarray of int, shape (L,)
            The arms; `p` then has the probability of each arm.

        Raises
        ------
        ValueError
            If the answer is neither an arm nor probabilities.
        """
        plays = getattr(self.policy, "plays", 1)
        if arm == -1:
            chosen = np.zeros(plays, np.int64)
            if selector()(self.p, u, chosen):
                return chosen
        elif plays == 1 and 0 <= arm < self.p.size:
            self.p[:] = 0.0
            self.p[arm] = 1.0
            return np.array([arm])
        raise wrong_probabilities(self.policy, f"round {t}{self.where}")

    def ask(self, t: int, rng: Generator | None, contexts: Any = None, groups: Any = None) -> int:
        """Ask the rule, as `choose` does; return the arm that it names, or -1 if it filled `p`."""
        if self._columns[0].size < len(self._unread):
            self._columns = self._as_columns()
        self.p[:] = 0.0
        given = (
            (contexts, groups, self.ridge, self.past) if self.contextual else (self.selected, self.observed, self.total)
        )
        try:
            arm: int = self.rule(self.params, self.state, t, *given, self.cursors, *self._columns, rng, self.p)
        except (IndexError, ZeroDivisionError) as error:
            raise type(error)(f"the rule of {self.policy.name!r} broke off in round {t}: {error}") from error
        if self._unread and (self.cursors[::2] == self.cursors[1::2]).all():
            self._unread, self.cursors[:] = [], 0
            self._columns = self._as_columns()
        return arm

    def record(self, t: int, arms: NDArray[np.int64], contexts: Any = None, groups: Any = None) -> None:
        """Count the arms that are played in a round, and note it in the history if there is one.

        Parameters
        ----------
        t : int
            The round.
        arms : ndarray of int, shape (L,)
            The arms.
        contexts, groups : ndarray, optional
            Those of the round, where arms have contexts.
        """
        self.selected[arms] += 1
        if self.history:
            self.past.contexts[t - 1], self.past.groups[t - 1], self.past.played[t - 1] = contexts, groups, arms[0]

    def observe(self, t: int, arm: int, reward: float, chance: float, context: Any = None) -> None:
        """Learn what an arm paid, and keep it until the rule reads it.

        Parameters
        ----------
        t : int
            The round in which the arm was played.
        arm : int
            The arm.
        reward : float
            What it paid.
        chance : float
            The probability with which it was played.
        context : ndarray, shape (d,), optional
            Its context, where arms have contexts.
        """
        self.observed[arm] += 1
        self.total[arm] += reward
        if self.contextual and self.ridge.mean.size:
            absorber()(self.ridge.mean, self.ridge.root, context, reward)
        if self.history:
            self.past.rewards[t - 1] = reward
        if self.cursors.size:
            self._unread.append((arm, reward, t, chance))
            self.cursors[1::2] += 1

    def copy(self) -> "Agent":
        """Return a copy with a memory of its own: what one of them is asked, the other does not remember."""
        other = copy(self)
        other.state, other.p = self.state.copy(), self.p.copy()
        other._unread, other.cursors = self._unread.copy(), self.cursors.copy()
        return other


def fresh_ridge(regularizer: float | None, dimension: int) -> Ridge:
    """Return a ridge regression that has seen nothing, or an empty one if the rule asks for none.

    Parameters
    ----------
    regularizer : float or None
        The regularizer, above 0.
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
    d = dimension if regularizer else 0
    return Ridge(np.zeros(d), np.eye(d) / math.sqrt(regularizer or 1.0))


@cache
def absorber() -> Any:
    """Return `absorb`, compiled: in plain Python it takes milliseconds where contexts are long.

    Returns
    -------
    callable
        It adds a context and its reward to a ridge regression.

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
    """Return `select`, compiled, to be called with arrays that nothing else holds.

    Returns
    -------
    callable
        It chooses arms with given probabilities.

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
