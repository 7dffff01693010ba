"""A rule is written as its box: plain Python that asks for what it needs by the names of its arguments."""

import inspect
import sys
import typing
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib.rules.jit import FunctionHolder, helper

Array = NDArray[np.float64]

PerArm = Annotated[Array, "K"]
"""Memory of a rule: a number for each arm."""

PerDimension = Annotated[Array, "d"]
"""Memory of a rule with contexts: a number for each coordinate of a context."""

Square = Annotated[Array, "d", "d"]
"""Memory of a rule with contexts: a matrix of as many rows and columns as a context is long."""

PerGroup = Annotated[Array, "G"]
"""Memory of a rule with contexts, or what a game sums: a number for each group."""

Number = Annotated[Array, 1]
"""Memory of a rule, or what a game sums: one number, ``x[0]``."""


class Seen(NamedTuple):
    """What a policy on arms has seen so far.

    Parameters
    ----------
    t : int
        The round that is to be played: 1, 2, 3, ...
    selected : ndarray of int, shape (K,)
        How often each arm has been played.
    observed : ndarray of int, shape (K,)
        How many of its rewards have been seen.
    total : ndarray, shape (K,)
        The sum of those.

    Examples
    --------
    >>> Seen(2, np.array([1, 0]), np.array([1, 0]), np.array([0.5, 0.0])).t
    2
    """

    t: int
    selected: NDArray[np.int64]
    observed: NDArray[np.int64]
    total: Array


class Feedback(NamedTuple):
    """What has just arrived: the rewards that came in since the rule was last asked, in the order of their arrival.

    Where no feedback is late these are the rewards of the round before. In a round, rewards that are seen at once come
    first.

    Parameters
    ----------
    size : int
        How many they are; nothing in the first round.
    arm : ndarray of int, shape (size,)
        The arm of each.
    reward : ndarray, shape (size,)
        The reward.
    round : ndarray of int, shape (size,)
        The round in which it was played.
    chance : ndarray, shape (size,)
        The probability with which the policy played the arm in that round.

    Examples
    --------
    >>> Feedback(1, np.array([2]), np.array([0.5]), np.array([7]), np.array([1.0])).arm[0]
    np.int64(2)
    """

    size: int
    arm: NDArray[np.int64]
    reward: Array
    round: NDArray[np.int64]
    chance: Array


class Rule(FunctionHolder):
    """A function that asks for what it needs by the names of its arguments; see `rule`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        function = getattr(function, "function", function) if isinstance(function, Rule) else function
        if not callable(function):
            raise TypeError(f"a rule must be a function, not {checks.shown(function)}")
        self.function = function
        inner = getattr(function, "func", function)  # of a functools.partial
        self.__name__ = getattr(inner, "__name__", type(function).__name__)
        self.__qualname__ = getattr(function, "__qualname__", self.__name__)
        self.__module__ = getattr(function, "__module__", "")
        self.__doc__ = function.__doc__
        try:
            self.parameters = inspect.signature(function, eval_str=True).parameters
        except (NameError, ValueError) as error:
            raise TypeError(f"the arguments of {self.__name__!r} can't be read: {error}") from error
        for each in self.parameters.values():
            if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
                raise TypeError(f"{self.__name__!r} must name its arguments, one by one; {each} names none")
        self.arguments = list(self.parameters)
        self.memory = {name: sizes for name, each in self.parameters.items() if (sizes := _sizes(each.annotation))}

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call the function itself."""
        return self.function(*given, **named)

    def __repr__(self) -> str:
        return f"rule {self.__name__}({', '.join(self.arguments)})"

    def __reduce__(self) -> Any:
        """Pickle the rule by its name where it has one: that name stands for the rule, not for its function."""
        found: Any = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        return self.__qualname__ if found is self else (Rule, (self.function,))


def rule(function: Callable[..., Any]) -> Rule:
    """Mark a function as a policy's rule, written as its box: it asks for what it needs by the names of its arguments.

    On arms it may ask for `seen` (see `Seen`), `feedback` (see `Feedback`), `rng`, a `numpy.random.Generator`, `p`, and
    `available`, 1 for each arm that is there and else 0; with contexts for `now` (see `Now`), `feedback`, `ridge` (see
    `Ridge`), `past` (see `Past`), `rng` and `p`. An argument with a size as its annotation, such as `PerArm`, or with a
    named tuple of such, is its memory, zero at the start: ``"K"`` is the number of arms, ``"d"`` the length of a
    context, ``"G"`` the number of groups, ``"T"`` the horizon, and any other name a setting. All other arguments are
    settings, which the `Policy` is made with; one that is to be a whole number says ``: int``. A rule that says
    ``available=None`` is given None in games in which all arms are always there, so that absences cost nothing there.

    The rule either fills `p`, which arrives full of zeros, with the probability of playing each arm, or returns the one
    arm that it plays. It is plain Python: compiled where Numba can compile it, and otherwise interpreted, some hundred
    times slower.

    Parameters
    ----------
    function : callable
        The function.

    Returns
    -------
    Rule
        The function, and what it asks for.

    Raises
    ------
    TypeError
        If it can't be called, or its arguments have no names.

    Examples
    --------
    >>> import fairlib as fl
    >>> @fl.rule
    ... def explore_then_commit(each, seen, p):
    ...     for a in range(p.size):
    ...         if seen.selected[a] < each:
    ...             return a
    ...     return np.argmax(seen.total / seen.observed)
    >>> policy = fl.Policy("explore, then commit", explore_then_commit, each=20)
    >>> bool(fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.2])), policy, 1000).share[0, -1, 0] > 0.9)
    True
    """
    return Rule(function)


def _sizes(annotation: Any) -> Any:
    """Return the sizes in an annotation: of one array, or of each in a named tuple; nothing if there are none."""
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        inside = {name: _sizes(each) for name, each in typing.get_type_hints(annotation, include_extras=True).items()}
        return (annotation, inside) if inside and all(inside.values()) else None
    said = getattr(annotation, "__metadata__", ())
    return said if said and all(isinstance(each, str | int) for each in said) else None


class Learner(NamedTuple):
    """A policy inside a policy, with all that the engine gave it, as `ask` needs it."""

    flat: Any
    params: Array
    state: Array
    t: int
    selected: NDArray[np.int64]
    observed: NDArray[np.int64]
    total: Array
    available: NDArray[np.int64]
    cursors: NDArray[np.int64]
    arms: NDArray[np.int64]
    rewards: Array
    rounds: NDArray[np.int64]
    chances: Array
    rng: Any


@helper
def ask(learner, p, t=0):
    """Ask a learner, a policy among the settings of a rule, what it plays.

    It keeps memory of its own, and finds all feedback that came in since it was last asked.

    Parameters
    ----------
    learner : Policy
        The learner, a setting of the rule.
    p : ndarray, shape (K,)
        Receives the probabilities, unless the learner returns an arm. What is in it is wiped out first.
    t : int
        The round number that the learner is given, if not 0; for a learner that begins late.

    Returns
    -------
    int
        The arm, or -1 if `p` is filled: what the rule is to return.

    Examples
    --------
    >>> import fairlib as fl
    >>> @fl.rule
    ... def late(wait, learner, seen, p):
    ...     return 0 if seen.t <= wait else ask(learner, p)
    >>> policy = fl.Policy("late UCB1", late, wait=10, learner=fl.ucb1())
    >>> fl.simulate(fl.Bandit(fl.bernoulli([0.1, 0.9])), policy, 11).selected[0, -1]
    array([10,  1])
    """
    for a in range(p.size):
        p[a] = 0.0
    return learner.flat(
        learner.params,
        learner.state,
        t if t > 0 else learner.t,
        learner.selected,
        learner.observed,
        learner.total,
        learner.available,
        learner.cursors,
        learner.arms,
        learner.rewards,
        learner.rounds,
        learner.chances,
        learner.rng,
        p,
    )
