"""The game in which several arms are played each round, each in proportion to its merit (Section 3)."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.arms import Bandit
from fairlib.compilation import helper
from fairlib.delays.laws import Law
from fairlib.merit import Merit, as_merit
from fairlib.result import Result


def fair_shares(merit: Merit, means: ArrayLike, plays: int) -> NDArray[np.float64]:
    r"""Return the optimal fair policy over subsets (Theorem 3).

    .. math:: p^\star_a = \frac{L f(\mu_a)}{\sum_b f(\mu_b)}

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.
    means : array_like, shape (K,)
        Mean reward of each arm, in the merit's range.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    ndarray, shape (K,)
        Probability with which each arm is played; they sum to L.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or an arm would need a probability above 1.

    Examples
    --------
    >>> from fairlib.merit import power
    >>> fair_shares(power(2, 4), [0.9, 0.5, 0.5, 0.5], 2).round(3)
    array([0.813, 0.396, 0.396, 0.396])
    """
    merits = as_merit(merit)(checks.vector("means", means, merit.low, merit.high))
    shares = checks.whole("plays", plays, 1, merits.size) * merits / merits.sum()
    if shares.max() > 1 + 1e-9:
        arm = int(shares.argmax())
        raise ValueError(
            f"merit must not ask for more than every round: arm {arm} would have to be played with probability "
            f"{shares[arm]:.3f} (Assumption 1: no merit above (K-1)/(L-1) times another)"
        )
    return shares


@dataclass(frozen=True, eq=False)
class SemiResult(Result):
    r"""What happened in a game with several fair plays a round.

    Parameters
    ----------
    reward_regret : ndarray, shape (runs, R)
        Expected reward of the optimal fair policy less that of the policy where that is positive, summed over the
        rounds so far (equation 5).
    signed_regret : ndarray, shape (runs, R)
        The same without cutting each round's term at 0.
    fairness_regret : ndarray, shape (runs, R)
        Distance :math:`\sum_a |p^\star_a - p_{t,a}|` to the optimal fair policy, summed over the rounds so far
        (equation 6).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.5] * 4), plays=2, merit=power(2, 4))
    >>> fl.simulate(game, fl.uniform(2), 100).fairness_regret[0, -1]
    np.float64(0.0)
    """

    reward_regret: NDArray[np.float64]
    signed_regret: NDArray[np.float64]
    fairness_regret: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SemiBandit(Bandit):
    """A game in which L arms are played each round, each owed plays in proportion to its merit (Section 3).

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves.

    Raises
    ------
    TypeError, ValueError
        If `merit` is not a `Merit`, a mean is outside its range, or its largest value is more than (K-1)/(L-1) times
        its smallest (Assumption 1): then an arm could need a probability above 1, and the message says which.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> SemiBandit(fl.bernoulli([0.2, 0.8, 0.4]), plays=2, merit=power(2, 4))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: merit ... arm 1 would be played with probability 1.2 if its mean were 1 and the others' 0
    """

    merit: Merit = field(kw_only=True)
    sums = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        shares = fair_shares(self.merit, self.arms.means, self.plays)
        _cap(self.merit, self.arms.means.size, self.plays, int(shares.argmax()))

    @property
    def optimal(self) -> NDArray[np.float64]:
        """The optimal fair policy (Theorem 3), shape (K,)."""
        return fair_shares(self.merit, self.arms.means, self.plays)

    @property
    def truth(self) -> NDArray[np.float64]:
        """The means, and then the optimal fair policy."""
        return np.concatenate([self.arms.means, self.optimal])

    def quantiles(self, q: float) -> NDArray[np.float64]:
        """Within how many rounds a share q of each arm's rewards arrives (equation 2).

        Parameters
        ----------
        q : float
            The share, above 0 and at most 1.

        Returns
        -------
        ndarray, shape (K,)
            Whole numbers of rounds, infinite where less than q ever arrives.

        Raises
        ------
        TypeError, ValueError
            If q is out of range, or the delay is a reader's own, whose quantiles are not known.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.delays import geometric
        >>> from fairlib.merit import power
        >>> game = SemiBandit(fl.bernoulli([0.2, 0.9]), delay=geometric([0.05, 0.5]), merit=power(2, 4))
        >>> game.quantiles(0.9)
        array([45.,  4.])
        """
        share = _share(q)
        if self.delay is None:
            return np.zeros(self.arms.means.size)
        if not isinstance(self.delay, Law):
            raise TypeError("delay must be a law whose quantiles are known, such as geometric([0.05] * 7)")
        return self.delay.quantiles(share, self.arms.means)

    @staticmethod
    def tally(truth: Any, t: int, p: Any, selected: Any, sums: Any) -> None:
        """Sum the three regrets over the rounds, from the probabilities and not from the plays."""
        lost, apart = 0.0, 0.0
        for a in range(p.size):
            short = truth[p.size + a] - p[a]
            lost += short * truth[a]
            apart += abs(short)
        sums[0] += max(lost, 0.0)
        sums[1] += lost
        sums[2] += apart

    def result(self, rounds: Any, selected: Any, reward: Any, sums: Any) -> SemiResult:
        """Add the three regrets.

        Parameters
        ----------
        rounds : ndarray, shape (R,)
            The recorded rounds.
        selected : ndarray, shape (runs, R, K)
            How often each arm had been played.
        reward : ndarray, shape (runs, R)
            Reward collected so far.
        sums : ndarray, shape (runs, R, 3)
            What `tally` has summed.

        Returns
        -------
        SemiResult
            The result.

        Examples
        --------
        >>> import fairlib as fl
        >>> from fairlib.merit import power
        >>> game = SemiBandit(fl.bernoulli([0.5, 0.5]), merit=power(2, 4))
        >>> game.result(np.array([1]), np.array([[[1, 0]]]), np.zeros((1, 1)), np.ones((1, 1, 3))).signed_regret
        array([[1.]])
        """
        base = super().result(rounds, selected, reward, sums)
        names = ("reward_regret", "signed_regret", "fairness_regret")
        return SemiResult(**vars(base), **{name: sums[..., i] for i, name in enumerate(names)})


# ---------------------------------------------------------------------------------------------------------------------
# From probabilities to a set of arms


@helper
def dependent_rounding(probabilities: Any, rng: Any) -> Any:
    """Choose arms with given probabilities, as many as they sum to (Gandhi et al., 2006).

    Two arms that are neither in nor out gamble against each other: one gains what the other loses, until one of them
    is settled. The stakes are such that nobody's probability changes on average. The engine does the same job with
    one random number (`fairlib.policy.select`); here arms are never chosen together more often than independent ones.

    Parameters
    ----------
    probabilities : ndarray, shape (K,)
        Probability of each arm, in [0, 1], summing to a whole number L.
    rng : numpy.random.Generator
        Where chance comes from.

    Returns
    -------
    ndarray of int, shape (L,)
        The arms, in increasing order.

    Raises
    ------
    ValueError
        If a number is outside [0, 1], or they do not sum to a whole number.

    Examples
    --------
    >>> dependent_rounding(np.array([1.0, 0.5, 0.5, 0.0]), np.random.default_rng(1))
    array([0, 2])
    """
    p = probabilities.copy()
    whole = 0.0
    for a in range(p.size):
        if not 0.0 <= p[a] <= 1.0 + 1e-9:
            raise ValueError("probabilities must be numbers in [0, 1]")
        whole += p[a]
    plays = round(whole)
    if abs(whole - plays) > 1e-9:
        raise ValueError("probabilities must sum to a whole number, the number of plays")
    i = 0  # the one arm before j that may still be neither in nor out
    for j in range(1, p.size):
        if not 1e-12 < p[i] < 1.0 - 1e-12:
            i = j
        elif 1e-12 < p[j] < 1.0 - 1e-12:
            up, down = min(1.0 - p[i], p[j]), min(p[i], 1.0 - p[j])
            if rng.random() * (up + down) < down:
                p[i] += up
                p[j] -= up
            else:
                p[i] -= down
                p[j] += down
            if not 1e-12 < p[i] < 1.0 - 1e-12:
                i = j
    chosen = np.zeros(plays, np.int64)
    found = 0
    for a in range(p.size):
        if p[a] > 0.5 and found < plays:
            chosen[found] = a
            found += 1
    return chosen


def _share(q: float) -> float:
    share = checks.real("q", q, above=0)
    return checks.real("q", share, 0, 1)


def _cap(merit: Merit, arms: int, plays: int, arm: int = 0) -> None:
    """Refuse a merit for which some arm could need a probability above 1 (Assumption 1)."""
    grid = np.linspace(as_merit(merit).low, merit.high, 1001)
    merits = merit(grid)
    ratio = merits.max() / merits.min()
    if plays > 1 and ratio > (arms - 1) / (plays - 1) * (1 + 1e-9):
        raise ValueError(
            f"merit must not vary by more than a factor of {(arms - 1) / (plays - 1):g}, (K-1)/(L-1), but "
            f"{merit.name!r} varies by {ratio:.4g}: arm {arm} would be played with probability "
            f"{plays * ratio / (ratio + arms - 1):.4g} if its mean were {grid[merits.argmax()]:g} and the others' "
            f"{grid[merits.argmin()]:g}"
        )
