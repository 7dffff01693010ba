"""Steps that rules share: the largest index, ties, one play of each arm, and draws."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fairlib.rules.jit import helper
from fairlib.rules.rule import Seen


@helper
def is_there(a: int, available: Any) -> bool:
    """Say whether an arm is there.

    Parameters
    ----------
    a : int
        The arm.
    available : ndarray of int, shape (K,), or None
        1 for each arm that is there, else 0; None if all are there.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> is_there(0, None), bool(is_there(0, np.array([0, 1])))
    (True, False)
    """
    if available is None:  # which costs compiled code nothing: it is compiled without what follows
        return True
    return available[a] == 1


@helper
def count_there(available: Any, p: Any) -> int:
    """Return how many arms are there.

    Parameters
    ----------
    available : ndarray of int, shape (K,), or None
        1 for each arm that is there, else 0; None if all are there.
    p : ndarray, shape (K,)
        A number an arm.

    Returns
    -------
    int
        How many.

    Examples
    --------
    >>> count_there(None, np.zeros(3)), int(count_there(np.array([0, 1, 1]), np.zeros(3)))
    (3, 2)
    """
    if available is None:
        return p.size
    there = 0
    for a in range(p.size):
        there += available[a]
    return there


@helper
def largest(p: Any, available: Any = None) -> int:
    """Return the arm of the largest index, the first if there are several, among those that are there.

    Parameters
    ----------
    p : ndarray, shape (K,)
        One index an arm, infinity allowed.
    available : ndarray of int, shape (K,), optional
        1 for each arm that is there, else 0; without it all are there.

    Returns
    -------
    int
        The arm.

    Examples
    --------
    >>> largest(np.array([0.3, 0.8, 0.8]))
    1
    >>> largest(np.array([0.9, 0.3, 0.8]), np.array([0, 1, 1]))
    2
    """
    best = 0
    while not is_there(best, available):
        best += 1
    for a in range(best + 1, p.size):
        if p[a] > p[best] and is_there(a, available):
            best = a
    return best


@helper
def any_of_the_best(p: Any) -> None:
    """Turn indices into probabilities, the same for all that are largest.

    Parameters
    ----------
    p : ndarray, shape (K,)
        The indices; overwritten.

    Examples
    --------
    >>> p = np.array([0.5, 0.9, 0.9])
    >>> any_of_the_best(p)
    >>> p
    array([0. , 0.5, 0.5])
    """
    best, ties = p[0], 1
    for a in range(1, p.size):
        if p[a] > best:
            best, ties = p[a], 1
        elif p[a] == best:
            ties += 1
    for a in range(p.size):
        p[a] = 1.0 / ties if p[a] == best else 0.0


@helper
def try_each_once(seen: Seen, p: Any, available: Any = None) -> bool:
    """Play an arm of which no reward has been seen, while there is one, among those that are there.

    Parameters
    ----------
    seen : Seen
        What has been seen.
    p : ndarray, shape (K,)
        Receives the probabilities.
    available : ndarray of int, shape (K,), optional
        1 for each arm that is there, else 0; without it all are there.

    Returns
    -------
    bool
        False if every arm has been seen.

    Examples
    --------
    >>> p = np.zeros(2)
    >>> try_each_once(Seen(2, np.array([1, 0]), np.array([1, 0]), np.zeros(2)), p), p
    (True, array([0., 1.]))
    """
    for a in range(p.size):
        if seen.observed[a] == 0 and is_there(a, available):
            p[a] = 1.0
            return True
    return False


@helper
def take_turns(t: int, plays: int, p: Any) -> bool:
    """Play each arm once, in the first K / L rounds, rounded up (the initial rounds of Algorithms 1 and 3).

    Parameters
    ----------
    t : int
        The round.
    plays : int
        Arms a round.
    p : ndarray, shape (K,)
        Receives the probabilities.

    Returns
    -------
    bool
        False if all have had their turn.

    Examples
    --------
    >>> p = np.zeros(4)
    >>> take_turns(2, 3, p), p
    (True, array([1., 1., 0., 1.]))
    """
    first = (t - 1) * plays
    if first >= p.size:
        return False
    for j in range(first, first + plays):
        p[j % p.size] = 1.0
    return True


@helper
def take_first_turns(seen: Seen, plays: int, p: Any, available: Any = None) -> bool:
    """Play each arm once before all others: in turns, or where arms come and go as soon as it is there.

    Parameters
    ----------
    seen : Seen
        What has been seen.
    plays : int
        Arms a round. If fewer are there that have not been played, the first others fill up.
    p : ndarray, shape (K,)
        Receives the probabilities.
    available : ndarray of int, shape (K,), optional
        1 for each arm that is there, else 0; without it all are there.

    Returns
    -------
    bool
        False if each arm that is there has been played.

    Examples
    --------
    >>> p, played = np.zeros(3), np.array([0, 4, 0])
    >>> take_first_turns(Seen(5, played, played, np.zeros(3)), 1, p, np.array([0, 1, 1])), p
    (True, array([0., 0., 1.]))
    """
    if available is None:
        return take_turns(seen.t, plays, p)
    left = plays
    for played in range(2):  # at first arms that have not been, then others
        for a in range(p.size):
            if (seen.selected[a] > 0) == (played == 1) and available[a] == 1 and left > 0:
                p[a] = 1.0
                left -= 1
        if left == plays:
            return False
    return True


@helper
def share_out(p: Any, plays: int, available: Any = None) -> None:
    """Scale weights to probabilities, none above 1; those of arms that are not there become 0.

    Parameters
    ----------
    p : ndarray, shape (K,)
        The weights, at least 0; afterwards they sum to `plays`, and are in proportion to the weights where below 1.
    plays : int
        How many arms are played, at most as many as are there.
    available : ndarray of int, shape (K,), optional
        1 for each arm that is there, else 0; without it all are there.

    Examples
    --------
    >>> p = np.array([1.0, 3.0])
    >>> share_out(p, 1)
    >>> p
    array([0.25, 0.75])
    >>> p = np.array([1.0, 1.0, 8.0])
    >>> share_out(p, 2)
    >>> p
    array([0.5, 0.5, 1. ])
    >>> share_out(p, 1, np.array([1, 1, 0]))
    >>> p
    array([0.5, 0.5, 0. ])
    """
    whole, most = 0.0, 0.0
    for a in range(p.size):
        if not is_there(a, available):
            p[a] = 0.0
        whole += p[a]
        most = max(most, p[a])
    if plays == 1:  # the quotient itself, which a product with 1 / whole would miss by a hair
        for a in range(p.size):
            p[a] /= whole
        return
    scale, before = plays / whole, 0.0
    while most * scale > 1.0 and scale > before:  # arms above 1 are in every round, the others share what is left
        before, left, rest = scale, plays, 0.0
        for a in range(p.size):
            if p[a] * scale < 1.0:
                rest += p[a]
            else:
                left -= 1
        if rest > 0.0:
            scale = left / rest
    for a in range(p.size):
        p[a] = min(p[a] * scale, 1.0)


@helper
def explore(epsilon: float, p: Any, available: Any = None) -> None:
    """Play any arm that is there in a share of the rounds: mix probabilities with the uniform ones.

    Parameters
    ----------
    epsilon : float
        The share.
    p : ndarray, shape (K,)
        The probabilities, of one play a round; overwritten.
    available : ndarray of int, shape (K,), optional
        1 for each arm that is there, else 0; without it all are there.

    Examples
    --------
    >>> p = np.array([1.0, 0.0])
    >>> explore(0.5, p)
    >>> p
    array([0.75, 0.25])
    """
    there = count_there(available, p)
    for a in range(p.size):
        p[a] = (1.0 - epsilon) * p[a] + epsilon / there if is_there(a, available) else 0.0


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
