"""Whether promises are kept while a policy serves: a monitor, and checks that others can make of the log."""

import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import NonNegative, checked

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Monitor", "Audit", "audit"]

_ROUNDING = 1e-9  # the rounding error that sums of shares may have


class Monitor:
    r"""Says after each round whether each arm has had the plays that it was promised so far.

    The promise is that after every round t, :math:`\lfloor r_a t \rfloor - N_a(t) \le \alpha` (Definition 2 of Patil et
    al.).

    The plays that are due by merit depend on the true means, which are unknown in operation, so no monitor can check
    them; `fairlib.study.evaluate` estimates from a log what it can.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is promised, from 0 to 1.
    tolerance : float
        How many whole plays an arm may be behind since the start, :math:`\alpha`.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> monitor = Monitor([0.5, 0.25])
    >>> [monitor.see([arm]) for arm in (0, 0, 0, 0, 1)]
    [[], [], [], [1], []]
    >>> monitor
    Monitor: 5 rounds, promises kept to 1 of 2 arms
    >>> monitor.report()[["plays", "behind", "in_round", "kept"]].values.tolist()
    [[4, 0, 0, True], [1, 1, 4, False]]
    """

    @checked
    def __init__(
        self,
        shares: Annotated[ArrayLike, checks.Numbers(0, 1)],
        tolerance: NonNegative = 0.0,
    ) -> None:
        self.shares: NDArray[np.float64] = np.asarray(shares)
        self.tolerance, self.rounds = tolerance, 0
        arms = self.shares.size
        self.plays, self._there = np.zeros(arms, np.int64), np.zeros(arms, np.int64)
        self._behind, self._in_round = np.zeros(arms, np.int64), np.zeros(arms, np.int64)

    def see(self, arms: Iterable[int], available: Iterable[int] | None = None) -> list[int]:
        """Count a round.

        Parameters
        ----------
        arms : iterable of int
            The arms that were played in it, such as the `arms` of a `Choice`.
        available : iterable of int, optional
            The arms that were there, by default all: an arm is promised its share of the rounds in which it is there.

        Returns
        -------
        list of int
            The arms that, after this round, are further behind than was promised.

        Raises
        ------
        TypeError, ValueError
            If the arms are not different whole numbers from 0 to K - 1 that were there; then the round is not counted.

        Examples
        --------
        >>> import fairlib as fl
        >>> player, monitor = fl.Player(fl.ucb1(), arms=2), Monitor([0.4, 0.4])
        >>> monitor.see(player.choose().arms)
        []
        """
        played = checks.integers("arms", arms, 0, self.shares.size - 1)
        if len(set(played)) < len(played):
            raise ValueError(f"arms must be different, not {checks.shown(played)}")
        there = range(self.plays.size) if available is None else available
        here = checks.integers("available", there, 0, self.shares.size - 1)
        if not {*played} <= {*here}:
            raise ValueError(f"available must have the arms that were played, {played}, not {checks.shown(here)}")
        self.rounds += 1
        self.plays[played] += 1
        self._there[here] += 1
        behind = np.floor(self.shares * self._there + _ROUNDING).astype(np.int64) - self.plays
        self._in_round[behind > self._behind] = self.rounds
        self._behind = np.maximum(self._behind, behind)
        return np.flatnonzero(~self._within(behind)).tolist()

    @property
    def kept(self) -> bool:
        """Whether every promise has been kept so far."""
        return bool(self._within(self._behind).all())

    def report(self) -> "pd.DataFrame":
        """Return the plays of each arm and how far it was behind.

        Returns
        -------
        pandas.DataFrame
            A row for each arm: its `share`, its `plays`, the most whole plays by which it was `behind`, the first
            round of that, `in_round` (0 if it never was), and whether its promise was `kept`.

        Examples
        --------
        >>> monitor = Monitor([0.5, 0.5])
        >>> late = [monitor.see([arm]) for arm in (0, 1, 1, 1)]
        >>> monitor.report()["behind"].tolist()
        [1, 0]
        """
        import pandas as pd  # here, as the import of the package must stay quick

        return pd.DataFrame(
            {
                "share": self.shares,
                "plays": self.plays,
                "behind": self._behind,
                "in_round": self._in_round,
                "kept": self._within(self._behind),
            }
        ).rename_axis("arm")

    def __repr__(self) -> str:
        kept = self._within(self._behind)
        return f"Monitor: {self.rounds:,} rounds, promises kept to {kept.sum()} of {kept.size} arms"

    def _within(self, behind: NDArray[np.int64]) -> NDArray[np.bool_]:
        return behind <= self.tolerance + _ROUNDING


class Audit(NamedTuple):
    """The result of checking one arm's own plays.

    Parameters
    ----------
    due : int
        How many plays were due.
    late : list of int
        Which of them, counted from 1, came too late or not at all.

    Examples
    --------
    >>> audit([1, 5], 6, 0.5)
    Audit(due=3, late=[2, 3])
    """

    due: int
    late: list[int]


@checked
def audit(
    plays: Iterable[int],
    rounds: Annotated[int, checks.Integer(1)],
    share: float | Fraction,
) -> Audit:
    r"""Return how many plays an arm was owed, and which of them came too late, from its own plays alone.

    That :math:`N_a(t) \ge \lfloor r t \rfloor` for all t up to T is the same as: the j-th play came in round
    :math:`\lceil j / r \rceil` or before, for every j for which that is at most T.

    Parameters
    ----------
    plays : iterable of int
        The rounds in which the arm was played, in their order.
    rounds : int
        The number T of rounds so far.
    share : float or Fraction
        The promised share r, above 0 and at most 1; a float counts as the fraction that it is written as.

    Returns
    -------
    Audit
        How many plays were due, and which came too late.

    Raises
    ------
    TypeError, ValueError
        If the plays are not rising whole numbers from 1 to `rounds`, or an argument is out of range.

    Examples
    --------
    >>> audit([3, 12, 29], rounds=30, share=0.1)
    Audit(due=3, late=[])
    """
    own = checks.integers("plays", plays, 1, rounds)
    if any(later <= earlier for earlier, later in pairwise(own)):
        raise ValueError(f"plays must be rounds in their order, each once, not {checks.shown(own)}")
    written = repr(checks.real("share", share, 0, 1, above=0))
    share = share if isinstance(share, Fraction) else Fraction(written)
    due = math.floor(share * rounds)
    late = [j for j in range(1, due + 1) if j > len(own) or own[j - 1] > math.ceil(j / share)]
    return Audit(due, late)
