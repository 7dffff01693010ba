"""What a policy is, what its rule may call, and the check that every policy passes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.compilation import helper


@dataclass(frozen=True, eq=False)
class Policy:
    """A rule with its parameters: all that a learner is.

    Parameters
    ----------
    name : str
        What figures call it.
    rule : callable
        ``rule(params, state, t, selected, observed, total, rng, p)`` writes into `p` the probability of playing each
        arm in round `t`, which is 1, 2, 3, ...; `p` arrives full of zeros and must sum to `plays`. Per arm,
        `selected` counts its plays, `observed` the rewards of it that have been seen, and `total` is their sum.
        `state` is the policy's own memory, zero at the start; `rng` is a `numpy.random.Generator`. Plain Python:
        it is compiled where Numba can, and interpreted, some hundred times slower, where it can't.
    params : array_like, shape (m,)
        The numbers that the rule is set with.
    plays : int
        How many different arms it plays each round.
    memory : int
        Length of `state`.
    arms : int, optional
        How many arms it is made for, where its parameters say; by default any number.
    interpret : bool
        Leave the rule to Python, to print from it or to step through it.

    Raises
    ------
    TypeError, ValueError
        If `rule` is not callable, or a number is of the wrong kind or out of range.

    See Also
    --------
    check_policy : says what a rule does wrong.

    Examples
    --------
    A rule that takes turns:

    >>> def take_turns(params, state, t, selected, observed, total, rng, p):
    ...     p[t % p.size] = 1.0
    >>> Policy("taking turns", take_turns).plays
    1
    """

    name: str
    rule: Callable[..., None]
    params: ArrayLike = field(default=())
    plays: int = 1
    memory: int = 0
    arms: int | None = None
    interpret: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"name must be a string, not {self.name!r}")
        if not callable(self.rule):
            raise TypeError(
                f"rule must be a function (params, state, t, selected, observed, total, rng, p), not {self.rule!r}"
            )
        numbers = checks.vector("params", self.params) if np.size(self.params) else np.zeros(0)
        object.__setattr__(self, "params", numbers)
        checks.whole("plays", self.plays, 1)
        checks.whole("memory", self.memory, 0)
        if self.arms is not None:
            checks.whole("arms", self.arms, self.plays)


@helper
def play_largest(p: Any) -> None:
    """Play the arm of the largest index: turn the indices in `p` into probabilities.

    Parameters
    ----------
    p : ndarray, shape (K,)
        One index an arm, infinity allowed; afterwards 1 at the first largest and 0 elsewhere.

    Examples
    --------
    >>> p = np.array([0.3, 0.8, 0.8])
    >>> play_largest(p)
    >>> p
    array([0., 1., 0.])
    """
    best = 0
    for a in range(1, p.size):
        if p[a] > p[best]:
            best = a
    for a in range(p.size):
        p[a] = 0.0
    p[best] = 1.0


@helper
def select(p: NDArray[np.float64], u: float, chosen: NDArray[np.int64]) -> bool:
    """Choose arms with given probabilities, exactly as many as they sum to (systematic sampling).

    Lay the probabilities end to end on a line and look where the points u, u + 1, u + 2, ... fall. Each arm's piece
    is at most 1 long, so no arm is hit twice, and it is hit with a probability of exactly its length. With one play
    a round this is the usual draw by cumulative probability.

    Parameters
    ----------
    p : ndarray, shape (K,)
        Probability of each arm.
    u : float
        Uniform on [0, 1).
    chosen : ndarray of int, shape (L,)
        Receives the arms, in increasing order.

    Returns
    -------
    bool
        False if some `p` is negative, above 1 or nan, or they do not sum to L; `chosen` then means nothing.

    Examples
    --------
    >>> chosen = np.zeros(2, dtype=np.int64)
    >>> select(np.array([0.5, 0.75, 0.75]), 0.25, chosen), chosen
    (True, array([0, 2]))
    """
    found = 0
    end = 0.0
    valid = True
    for a in range(p.size):
        valid = valid and 0.0 <= p[a] <= 1.0 + 1e-9
        end += p[a]
        if found < chosen.size and end > u + found:
            chosen[found] = a
            found += 1
    if not (valid and abs(end - chosen.size) <= 1e-9):
        return False
    # Rounding can leave the end of the line a hair short of the last point: that point belongs to the last arm on
    # the line that is still free.
    last = p.size - 1
    while found < chosen.size:
        taken = p[last] == 0.0
        for j in range(found):
            taken = taken or chosen[j] == last
        if not taken:
            chosen[found] = last
            found += 1
        last -= 1
    return True
