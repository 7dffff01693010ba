"""How often a guard is needed, how far behind an arm of several plays can be, and what calibrated shares are."""

import math
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.after.policies import Shares
from fairlib.checks import NonNegative, OpenProbability, PositiveInt, checked

__all__ = ["guard_rounds", "several_plays_deficit", "calibrated_shares"]


@checked
def guard_rounds(
    arms: PositiveInt,
    share: OpenProbability,
    floor: float,
    tolerance: NonNegative = 0.0,
) -> float:
    r"""Return a bound on the expected number of rounds that FAIR-LEARN forces on a learner with a floor.

    .. math:: \frac{1 + \ln M}{\mathrm{kl}(r, b)}, \qquad M = K \Bigl(\frac{r (1 - b)}{b (1 - r)}\Bigr)^\alpha,

    and :math:`M / \mathrm{kl}(r, b)` where M is below 1. It holds for every horizon and every learner that plays each
    arm with probability at least b, given the past.

    Parameters
    ----------
    arms : int
        Number of arms K.
    share : float
        The largest share r that an arm is owed, in (0, 1).
    floor : float
        The least probability b that the learner gives each arm, above the share and at most 1/K.
    tolerance : float
        The unfairness tolerance :math:`\alpha`, at least 0.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> round(guard_rounds(6, share=0.1, floor=0.12))
    1400
    """
    k, r, slack = arms, share, tolerance
    b = checks.real("floor", floor, 0, 1 / k, above=r)
    kl = r * math.log(r / b) + (1 - r) * math.log((1 - r) / (1 - b))
    most = k * (r * (1 - b) / (b * (1 - r))) ** slack
    return float((1 + math.log(most) if most > 1 else most) / kl)


@checked
def several_plays_deficit(shares: Shares, plays: int, tolerance: NonNegative = 0.0) -> NDArray[np.float64]:
    r"""Return how many plays behind its share each arm can be, whatever the learner, with several plays a round.

    .. math:: \alpha + (m - 1) r_a, \qquad m = \lceil K/L \rceil,

    for shares of at most :math:`1/m`, and :math:`\alpha + \max_s (r s - \lfloor L s/K \rfloor)` if all shares are the
    same number r, at most :math:`L/K`. The bound holds for `fair_learn_plays`, after every round.

    Parameters
    ----------
    shares : array_like, shape (K,)
        Share of the rounds that each arm is owed, from 0 to :math:`1/m`; if all are the same, to :math:`L/K`.
    plays : int
        Number of plays a round L, at most the number of arms.
    tolerance : float
        The unfairness tolerance :math:`\alpha`, at least 0.

    Returns
    -------
    ndarray, shape (K,)
        The deficits.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or a share is above what is proved.

    Examples
    --------
    Six arms and two plays a round:

    >>> several_plays_deficit([0.3, 0.3, 0.3, 0.2, 0.2, 0.1], 2)
    array([0.6, 0.6, 0.6, 0.4, 0.4, 0.2])
    """
    owed = np.asarray(shares, np.float64)
    arms, count = owed.size, checks.integer("plays", plays, 1, owed.size)
    rounds = -(-arms // count)
    alike = bool((owed == owed[0]).all())
    most = count / arms if alike else 1 / rounds
    if owed.max() > most + 1e-12:
        limit = f"{count}/{arms}" if alike else f"1/{rounds}, or all the same and at most {count}/{arms}"
        arm = int(owed.argmax())
        raise ValueError(f"shares must be at most {limit}, not {owed[arm]} (arm {arm})")
    s = np.arange(1, arms + 1)
    waits = (np.outer(owed, s) - count * s // arms).max(axis=1) if alike else (rounds - 1) * owed
    deficits: NDArray[np.float64] = tolerance + waits
    return deficits


@checked
def calibrated_shares(means: Annotated[ArrayLike, checks.Numbers(0, 1)]) -> NDArray[np.float64]:
    """Return the calibrated shares of arms that pay 0 or 1 (after Liu et al., 2017).

    An arm's share is the probability that its reward is the largest when every arm pays once, ties broken evenly.

    Parameters
    ----------
    means : array_like, shape (K,)
        Probability with which each arm pays 1.

    Returns
    -------
    ndarray, shape (K,)
        The shares; they sum to 1.

    Examples
    --------
    >>> calibrated_shares([1.0, 0.5])
    array([0.75, 0.25])
    """
    mu = np.asarray(means)
    shares = np.full(mu.size, (1 - mu).prod() / mu.size)  # where no arm pays, a draw among all
    for a in range(mu.size):
        ones = np.ones(1)  # how many of the others pay
        for other in np.delete(mu, a):
            ones = np.convolve(ones, [1 - other, other])
        shares[a] += mu[a] * (ones / np.arange(1, mu.size + 1)).sum()
    return shares
