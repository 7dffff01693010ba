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
from fairlib.rules.argument_block import BlockCall, view
from fairlib.rules.bound_rule import broken_off
from fairlib.rules.jit import compiled, entry_point


def wrong_probabilities(policy: Any, where: str, come_and_go: bool = False) -> ValueError:
    """Return the error for a rule whose answer is neither an arm nor probabilities."""
    arm = ", or an arm that there is" if policy.plays == 1 else ""
    arm += ", and play no arm that is not there" if come_and_go else ""
    return ValueError(
        f"the rule of {policy.name!r} must return probabilities in [0, 1] that sum to {policy.plays}{arm}; "
        f"in {where} it did not"
    )


class Agent:
    """A policy that is asked from outside: its memory, what its rule is given, and unread feedback."""

    def __init__(self, policy: BasePolicy, rule: Any, sizes: dict[str, int]) -> None:
        self.policy, self.rule, self.bound_rule, self.sizes = policy, rule, policy.bound_rule, sizes
        k = sizes["K"]
        self.params, self.state, self.p = self.bound_rule.numbers(sizes), self.bound_rule.state(sizes), np.zeros(k)
        self.selected, self.observed, self.total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
        self.available, self._told = np.ones(k, np.int64), False
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

    def meet(self, available: Any) -> None:
        """Say which arms are there, 1 for each and else 0, from now on; refuse a policy that does not ask."""
        self.available[:] = available
        if not (self._told or self.available.all()):  # once arms were away, the rule is always told who is there
            bound, name = self.policy.where_arms_come_and_go(), f"the rule of {self.policy.name!r}"
            self.rule, self._told = bound.interpreted if self.policy.interpret else bound.ready(name, 4), True

    def choose(self, t: int, rng: Generator, contexts: Any = None, groups: Any = None) -> NDArray[np.int64]:
        """Return the arms that the policy plays in a round; `p` then has the probability of each arm."""
        arm = self.ask(t, rng, contexts, groups)
        return self.select_arms(t, arm, rng.random())

    def select_arms(self, t: int, arm: int, u: float) -> NDArray[np.int64]:
        """Return the arms that an answer of the rule means, with a uniform number where the answer is `p`."""
        plays, chosen = self.policy.plays, np.array([arm])
        if arm == -1:
            chosen = np.zeros(plays, np.int64)
            fit = selector()(self.p, u, chosen)
        elif fit := plays == 1 and 0 <= arm < self.p.size:
            self.p[:] = 0.0
            self.p[arm] = 1.0
        if fit and not self.p[self.available == 0].any():
            return chosen
        raise wrong_probabilities(self.policy, f"round {t}", not self.available.all())

    def ask(self, t: int, rng: Generator | None, contexts: Any = None, groups: Any = None) -> int:
        """Ask the rule, as `choose` does; return the arm that it names, or -1 if it filled `p`."""
        if self._columns[0].size < len(self._unread):
            self._columns = self._as_columns()
        self.p[:] = 0.0
        counted = self.selected, self.observed, self.total, self.available
        given = (contexts, groups, self.ridge, self.past) if self.contextual else counted
        columns = self._columns
        if not isinstance(self.rule, BlockCall):
            given, columns = tuple(map(view, given)), list(map(view, columns))
        try:
            arm: int = self.rule(self.params, self.state, t, *given, self.cursors, *columns, rng, self.p)
        except (IndexError, ZeroDivisionError, ValueError) as error:
            raise broken_off(error, f"the rule of {self.policy.name!r}", f"round {t}") from error
        if self._unread and (self.cursors[::2] == self.cursors[1::2]).all():
            self._unread, self.cursors[:] = [], 0
            self._columns = self._as_columns()
        return arm

    def record(self, t: int, arms: NDArray[np.int64], contexts: Any = None, groups: Any = None) -> None:
        """Count the arms that are played in a round, and note it in the history if there is one."""
        self.selected[arms] += 1
        if self.history:
            self.past.contexts[t - 1], self.past.groups[t - 1], self.past.played[t - 1] = contexts, groups, arms[0]

    def observe(self, t: int, arm: int, reward: float, chance: float, context: Any = None) -> None:
        """Learn what an arm paid, and keep it until the rule reads it."""
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
    """Return a ridge regression that has seen nothing, or an empty one if the rule asks for none."""
    d = dimension if regularizer else 0
    return Ridge(np.zeros(d), np.eye(d) / math.sqrt(regularizer or 1.0))


@cache
def absorber() -> Any:
    """Return `absorb`, compiled: in plain Python it takes milliseconds where contexts are long."""
    return compiled(absorb, types.void(float64[::1], float64[:, ::1], float64[::1], float64))


@cache
def selector() -> Any:
    """Return `select`, compiled, to be called with arrays that nothing else holds."""
    return entry_point(compiled(select, boolean(float64[::1], float64, int64[::1])))


def fresh_past(rounds: int, arms: int, dimension: int) -> Past:
    """Return a history with room for some rounds."""
    shape = (rounds, arms)
    return Past(np.zeros((*shape, dimension)), np.zeros(shape, np.int64), np.zeros(rounds, np.int64), np.zeros(rounds))
