"""Statistics of runs: a mean with its standard error, and how far two means are apart."""

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fairlib import checks
from fairlib.checks import checked

__all__ = ["Estimate", "estimate", "paired_t"]

_ENOUGH = 20  # from fewer runs a standard error is itself too uncertain for a verdict


class Estimate(NamedTuple):
    """A mean and its standard error; formatted, both have the given format.

    Parameters
    ----------
    mean : float
        The mean of the runs.
    error : float
        Its standard error.

    Examples
    --------
    >>> f"{Estimate(12.34, 0.56):.1f}"
    '12.3 ± 0.6'
    """

    mean: float
    error: float

    def __format__(self, form: str) -> str:
        return f"{self.mean:{form}} ± {self.error:{form.lstrip('0123456789,') or form}}"


@checked
def estimate(values: Annotated[ArrayLike, checks.Numbers(each="run")]) -> Estimate:
    """Return the mean of independent runs, and its standard error.

    Parameters
    ----------
    values : array_like, shape (runs,)
        A number for each run, in any unit; two runs or more.

    Returns
    -------
    Estimate
        Mean and standard error, in the same unit.

    Examples
    --------
    >>> estimate([1.0, 2.0, 3.0, 4.0])
    Estimate(mean=2.5, error=0.6454972243679028)
    >>> f"{estimate([1.0, 2.0, 3.0, 4.0]):.2f}"
    '2.50 ± 0.65'
    """
    runs = np.asarray(values)
    if runs.size < 2:
        raise ValueError(f"values must be of two runs or more, not of {runs.size}")
    return Estimate(float(runs.mean()), float(runs.std(ddof=1)) / math.sqrt(runs.size))


@checked
def paired_t(
    first: Annotated[ArrayLike, checks.Numbers(each="run")],
    second: Annotated[ArrayLike, checks.Table()] = 0.0,
) -> float:
    """Return the paired t statistic: by how many standard errors the first mean lies above the second.

    Run i of the first is compared with run i of the second: that is right whether or not the two share a seed, and
    sharper if they do. A sentence of the book that says *more* rests on a cell that asserts more than 3 here. It knows
    nothing of losses that no run has seen: `fairlib.study.compare.Comparison.ranks` says how often they mislead.

    Parameters
    ----------
    first : array_like, shape (runs,)
        A number for each run, twenty runs or more.
    second : float or array_like, shape (runs,)
        What it is compared with: a known number, or the other's runs.

    Returns
    -------
    float
        Mean difference over its standard error; infinite if it is the same in every run and not 0.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    >>> chance, learner = (fl.simulate(game, each, 200, runs=20).regret[:, -1] for each in (fl.uniform(), fl.ucb1()))
    >>> paired_t(chance, learner) > 3
    True
    """
    runs = np.asarray(first)
    if runs.size < _ENOUGH:
        raise ValueError(f"first must be of {_ENOUGH} runs or more, not of {runs.size}: too few for a verdict")
    other = np.asarray(second)
    if other.ndim > 1:
        raise ValueError(f"second must be a number or a row of numbers, not {checks.shown(other)}")
    if other.ndim and other.size != runs.size:
        raise ValueError(f"second must be a number or of {runs.size} runs, as first is, not of {other.size}")
    difference = estimate(runs - other)
    if difference.error == 0.0:
        return math.copysign(math.inf, difference.mean) if difference.mean else 0.0
    return difference.mean / difference.error
