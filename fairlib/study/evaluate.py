"""Off-policy evaluation: what a fixed policy would have earned, read off a log of arms drawn with known probabilities.

A policy that learns is replayed (`fairlib.study.replay`). One that does not is evaluated here: every visit of the
log counts, weighted by how much likelier the policy would have played its arm. The estimators are IPS (D. Horvitz and
D. Thompson, 1952), SNIPS (A. Swaminathan and T. Joachims, 2015) and DR (M. Dudik, J. Langford and L. Li, 2011).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import OpenProbability, checked
from fairlib.core.contexts import ContextPolicy
from fairlib.core.policy import Policy
from fairlib.data import Log
from fairlib.merit import Merit
from fairlib.study.statistics import Estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Interval", "Overlap", "Evaluation", "evaluate"]

_Floats = NDArray[np.float64]

_ENOUGH = 20  # from fewer plays of an arm a standard error is itself too uncertain for an interval
_EFFECTIVE = 100  # from fewer visits, once weighted, normal intervals miss too often
_OFF = 1e-6  # how far the sum of probabilities may be from 1, as it is with float32


class Interval(NamedTuple):
    """An estimate with its interval; formatted, all numbers with the format given.

    Parameters
    ----------
    value : float
        The estimate; nan where there is none.
    error : float
        Its standard error; nan where there is none.
    low, high : float
        The ends of the interval.

    Examples
    --------
    >>> f"{Interval(0.25, 0.05, 0.152, 0.348):.2f}"
    '0.25 (0.15 to 0.35)'
    """

    value: float
    error: float
    low: float
    high: float

    def __format__(self, form: str) -> str:
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


class Overlap(NamedTuple):
    """How much of a log bears on a target: look at it before any estimate.

    Parameters
    ----------
    visits : int
        The visits of the log; rows of one visit count once.
    weight : Estimate
        Mean weight of a row, with its standard error. Its expectation is 1 if the propensities are right and the log
        could play whatever the target plays.
    effective : float
        The effective sample size: that many visits of equal weight would estimate a mean as well.
    largest : float
        The largest weight.
    rewards : float
        The effective number of visits with a reward other than 0, which is what an estimate of rare clicks rests on.
    unseen : tuple of int
        Arms without support: the target plays them, and the log never did.

    Examples
    --------
    >>> log = 200 * [{"arm": 0, "reward": 1, "propensity": 0.5}, {"arm": 1, "reward": 0, "propensity": 0.5}]
    >>> evaluate(log, [1, 0]).overlap.effective
    200.0
    """

    visits: int
    weight: Estimate
    effective: float
    largest: float
    rewards: float
    unseen: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What a log says about a fixed policy, the target; made by `evaluate`.

    Parameters
    ----------
    method : str
        How the reward was estimated: ``"ips"``, ``"snips"`` or ``"dr"``.
    level : float
        The probability with which the intervals are to cover.
    overlap : Overlap
        How much of the log bears on the target.
    reward : Interval
        Mean reward of the target.
    interval : str
        The kind of its interval: ``"normal"``, or ``"gamma"`` for IPS of rewards 0 and 1.
    arms : tuple of Interval
        Mean reward of each arm if it were always played. The K intervals hold all at once (Bonferroni).
    earned : tuple of Interval
        What each arm earns a round under the target, its plays times their rewards; all at once.
    exposure : ndarray, shape (K,)
        The probability with which the target plays each arm, averaged over the log.
    target : ndarray, shape (K,) or (n, K)
        The probabilities that were given.
    log : Log
        The log.

    Examples
    --------
    >>> log = 200 * [{"arm": 0, "reward": 1, "propensity": 0.5}, {"arm": 1, "reward": 0, "propensity": 0.5}]
    >>> found = evaluate(log, [0.75, 0.25])
    >>> found
    Evaluation of 400 visits by dr
    overlap: mean weight 1.000 ± 0.025, effective visits 320, largest weight 1.5
    reward: 0.7512 (0.7474 to 0.7551), normal interval at level 0.95
    >>> found.exposure
    array([0.75, 0.25])
    """

    method: str
    level: float
    overlap: Overlap
    reward: Interval
    interval: str
    arms: tuple[Interval, ...]
    earned: tuple[Interval, ...]
    exposure: _Floats
    target: _Floats
    log: Log

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against the estimate, a sentence each; they are printed before it."""
        overlap, said = self.overlap, []
        if self.log.dropped:
            said.append(f"rows of the log were left out ({self.log.dropped:,}), and the others may be unlike them")
        if overlap.effective < _EFFECTIVE:
            said.append(f"below {_EFFECTIVE} effective visits an estimate is rough, and so is its interval")
        if self.interval == "normal" and overlap.rewards < _EFFECTIVE:
            few = f"the estimate rests on {overlap.rewards:.3g} effective rewards other than 0"
            said.append(f'{few}, and below {_EFFECTIVE} normal intervals miss too often; for clicks take method="ips"')
        mean, error = overlap.weight
        if abs(mean - 1) > 3 * error + _OFF:
            said.append(
                "the mean weight is more than three errors from 1: propensities are wrong, or the target plays "
                "what the log could not"
            )
        if overlap.unseen:
            arms = ", ".join(map(str, overlap.unseen))
            said.append(f"the log has no play of these arms of the target, so what they earn is unknown: {arms}")
        return tuple(said)

    @checked
    def fairness(self, merit: Merit) -> Interval:
        r"""Estimate the fairness regret a round: how far the target is from the fair policy of a merit function.

        That is :math:`\sum_a \lvert \pi^\star_a - q_a \rvert`, where the fair policy :math:`\pi^\star` plays each arm
        in proportion to the merit of its mean, and :math:`q` is the target; if the target differs from visit to visit,
        it is the mean over the visits. It is 0 for the fair policy, and close to 2 for one that plays only an arm of
        hardly any merit.

        Parameters
        ----------
        merit : Merit
            The merit function, which must be rising.

        Returns
        -------
        Interval
            The plug-in value of the arms' estimated means, without a standard error, and the range of the regret over
            all means in the arms' intervals: it covers whenever these do. The value is biased, upwards where the target
            is nearly fair, so it should not be quoted without the interval. It is nan if an arm was never played.

        Raises
        ------
        TypeError, ValueError
            If `merit` is no `Merit`, or is not known to rise.

        Notes
        -----
        No unbiased estimator exists. Let rewards be 0 or 1 and the log be drawn with fixed probabilities. Then the
        probability of each log of n visits is a polynomial in the means, and so is the expectation of any statistic, a
        sum over these finitely many logs. The regret has a kink, where a fair share passes that of the target, so it is
        no polynomial: for no n do the two agree on an open set of means that contains such a point.

        Examples
        --------
        >>> from fairlib.merit import exponential
        >>> log = 500 * [{"arm": 0, "reward": 1, "propensity": 0.5}, {"arm": 1, "reward": 0, "propensity": 0.5}]
        >>> f"{evaluate(log, [0.5, 0.5]).fairness(exponential(2)):.2f}"
        '0.76 (0.71 to 0.76)'
        """
        if not merit.rising:
            raise ValueError(f"merit must be rising, as exponential(2) is, which {merit.name!r} is not said to be")
        values, low, high = (
            merit(np.clip(each, merit.low, merit.high))
            for each in (
                np.array([arm.value if arm.value == arm.value else merit.low for arm in self.arms]),
                np.array([arm.low for arm in self.arms]),
                np.array([arm.high for arm in self.arms]),
            )
        )
        rows = np.atleast_2d(self.target)

        def apart(shares: _Floats) -> _Floats:
            distances: _Floats = np.abs(rows - shares).mean(axis=0)
            return distances

        known = all(arm.value == arm.value for arm in self.arms)
        value = float(apart(values / values.sum()).sum()) if known else math.nan
        least, most = low / (low + high.sum() - high), high / (high + low.sum() - low)
        # Each arm's distance is convex in its fair share, with its least value at the median of the target's rows.
        nearest = apart(np.clip(np.median(rows, axis=0), least, most)).sum()
        farthest = np.maximum(apart(least), apart(most)).sum()
        return Interval(value, math.nan, float(nearest), min(2.0, float(farthest)))

    def frame(self) -> "pd.DataFrame":
        """Return what is known of each arm as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each arm; its exposure, its mean reward and what it earns under the target, with the ends of
            their intervals.

        Examples
        --------
        >>> log = 200 * [{"arm": 0, "reward": 1, "propensity": 0.5}, {"arm": 1, "reward": 0, "propensity": 0.5}]
        >>> list(evaluate(log, [0.75, 0.25]).frame().columns)
        ['exposure', 'mean', 'mean_low', 'mean_high', 'earned', 'earned_low', 'earned_high']
        """
        import pandas as pd  # only here, as it is slow to import

        table: dict[str, Any] = {"exposure": self.exposure}
        for name, found in (("mean", self.arms), ("earned", self.earned)):
            table |= {name: [each.value for each in found]}
            table |= {f"{name}_low": [each.low for each in found], f"{name}_high": [each.high for each in found]}
        return pd.DataFrame(table, index=self.log.arms).rename_axis("arm")

    def __repr__(self) -> str:
        overlap = self.overlap
        lines = [
            f"Evaluation of {overlap.visits:,} visits by {self.method}",
            f"overlap: mean weight {overlap.weight:.3f}, effective visits {overlap.effective:,.0f}, largest weight "
            f"{overlap.largest:.3g}",
            *(f"warning: {each}" for each in self.warnings),
            f"reward: {self.reward:.4g}, {self.interval} interval at level {self.level:g}",
        ]
        return "\n".join(lines)


class _Rows(NamedTuple):
    """The rows of a log by columns."""

    arm: NDArray[np.int64]
    reward: _Floats
    propensity: _Floats
    visit: NDArray[np.int64]
    """The visit that a row belongs to, 0, 1, ..."""
    begin: NDArray[np.int64]
    """The row with which a row's visit begins: all rows before that one are known."""


@checked
def evaluate(
    log: Any,
    target: ArrayLike | Mapping[Any, float],
    *,
    method: Annotated[str, checks.Choice(("dr", "ips", "snips"))] = "dr",
    level: OpenProbability = 0.95,
    by: Annotated[str, checks.Text(empty=False)] | None = None,
) -> Evaluation:
    r"""Estimate what a fixed policy would have earned, from a log of arms drawn with known probabilities.

    In row i of n let arm :math:`a_i` have been drawn with the propensity :math:`\pi_i`, given all earlier rows, and
    have paid :math:`r_i`; the target would have drawn it with the probability :math:`q_i(a_i)`. With the weights
    :math:`w_i = q_i(a_i) / \pi_i` the mean reward of the target is estimated by

    .. math::
        \begin{gathered}
        \text{IPS} = \frac1n \sum_i w_i r_i , \qquad
        \text{SNIPS} = \frac{\sum_i w_i r_i}{\sum_i w_i} , \\
        \text{DR} = \frac1n \sum_i \Bigl( \sum_a q_i(a) h_i(a) + w_i \bigl( r_i - h_i(a_i) \bigr) \Bigr) ,
        \end{gathered}

    where :math:`h_i(a)` is the mean reward of the arm in *earlier* visits (of all arms, until it has been played). IPS
    and DR are unbiased, also in a log made by a policy that learned, if every arm that the target plays could be drawn.
    SNIPS is consistent.

    Parameters
    ----------
    log : Log, or what `Log` takes
        The log, in the order of time. If there is a column `round`, a round may have one row only (with
        ``by="round"``, one for each arm); if it or a column `timestamp` is there, DR asks that it does not fall.
    target : array_like, shape (K,) or (n, K), or dict
        Probability with which the target plays each arm: the same in every row of the log, or row by row; or a dict of
        the same for each row, by the names of the arms.
    method : str
        ``"dr"``, ``"ips"`` or ``"snips"``.
    level : float
        The probability with which each interval is to cover.
    by : str, optional
        A column with the same value in rows that depend on each other, such as those of one visit to a page with
        several places. Each row then has the propensity of its own arm at its own place, the target is judged place by
        place, and it is assumed that a reward depends on no other place. By default rows are visits.

    Returns
    -------
    Evaluation
        The mean reward of the target and what is known of each arm, after a report of the overlap.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind; if the log is none, or has fewer than two visits, two rewards of one round,
        or, for DR, times that fall; if the target is a policy that learns, is not made of probabilities that sum to 1,
        one for each arm, or never plays what the log played.

    See Also
    --------
    fairlib.study.replay.replay : the same for a policy that learns.

    Notes
    -----
    Intervals are normal, with a variance between visits. They are asymptotic; look at the overlap first. IPS of rewards
    0 and 1 is a weighted sum of counts, and gets the gamma interval of M. Fay and E. Feuer, *Confidence intervals for
    directly standardized rates* (1997), with the largest weight that the log shows to be possible. Its coverage is well
    tested, and not proved in general. Where clicks are rare the normal interval covers too rarely, so ``"ips"`` is the
    method there; for the same reason `Evaluation.arms` and `Evaluation.earned` are by IPS, with gamma intervals, if
    rewards are 0 and 1. Of other rewards they are by SNIPS unless the method is IPS, and an arm with fewer than 20
    plays has no interval. The time is proportional to the rows and the arms, not to their product, but for DR, which
    asks what its model says of the target in each row.

    Examples
    --------
    A log of clicks in which arm 0 was drawn in one of four visits; a target that always plays it:

    >>> rng = np.random.default_rng(0)
    >>> arms = (rng.random(4000) < 0.75).astype(int)
    >>> clicks = (rng.random(4000) < np.array([0.6, 0.2])[arms]).astype(int)
    >>> log = {"arm": arms, "reward": clicks, "propensity": np.array([0.25, 0.75])[arms]}
    >>> evaluate(log, [1, 0])
    Evaluation of 4,000 visits by dr
    overlap: mean weight 1.000 ± 0.027, effective visits 1,000, largest weight 4
    reward: 0.562 (0.5311 to 0.5928), normal interval at level 0.95
    """
    if isinstance(target, Policy | ContextPolicy):
        raise TypeError(
            f"target must be probabilities of shape (K,) or (n, K), not the policy {target.name!r}, which learns: "
            "replay it with fairlib.study.replay.replay"
        )
    log = Log.of(log)
    number = len(log)
    q = _probabilities(target, log)
    arms = q.shape[1]
    read = _read(log.table, method, by)
    weights = q[np.arange(number), read.arm] / read.propensity
    if not weights.any():
        raise ValueError("target must play some arm that the log played in that visit, and does in none")
    plays, exposure = np.bincount(read.arm, minlength=arms), q.mean(axis=0)
    clicks = bool(np.isin(read.reward, (0.0, 1.0)).all())
    least = np.full(arms, math.inf)
    np.minimum.at(least, read.arm, read.propensity)
    least[plays == 0] = read.propensity.min()
    top = q.max(axis=0) / least  # the largest weight that there could be
    each = 1 - (1 - level) / arms
    by_ips = clicks or method == "ips"
    ones = np.ones(arms)
    means = _of_arms(read, 1 / read.propensity, each, "ips" if by_ips else "own", ones, 1 / least if clicks else None)
    earned = _of_arms(read, weights, each, "ips" if by_ips else "all", exposure, top if clicks else None)
    total = weights * read.reward
    if method == "dr":
        of_target, of_arm = _models(read, q)
        total = of_target + weights * (read.reward - of_arm)
    interval = "gamma" if method == "ips" and clicks else "normal"
    if interval == "gamma":
        reward = _gamma(total, read.visit, level, float(top.max()))
    else:
        reward = _normal(_self_normalised(total, weights) if method == "snips" else total, read.visit, level)
    overlap = Overlap(
        int(read.visit.max()) + 1,
        Estimate(*_normal(weights, read.visit, level)[:2]),
        _effective(weights, read.visit),
        float(weights.max()),
        _effective(weights * read.reward, read.visit),
        tuple(np.flatnonzero((plays == 0) & (exposure > 0)).tolist()),
    )
    by_row = not isinstance(target, Mapping) and np.ndim(target) == 2
    kept = np.array(q if by_row else q[0])
    exposure = exposure if by_row else kept
    exposure.flags.writeable = kept.flags.writeable = False
    return Evaluation(method, level, overlap, reward, interval, means, earned, exposure, kept, log)


def _of_arms(
    read: _Rows, scale: _Floats, level: float, norm: str, most: _Floats, top: _Floats | None
) -> tuple[Interval, ...]:
    """Return for each arm the interval of the mean of its scaled rewards, from the sums by visit and arm alone.

    The mean is over all rows (``"ips"``), or normalised by the scale of all rows or of the arm's ``"own"``; `most` is
    what it could be for clicks, which have the gamma interval of a largest scale `top`.
    """
    from scipy.special import gammaincinv, ndtri  # only here: SciPy is slow to import, and the package must not be

    arms, number = most.size, scale.size
    key, place = np.unique(read.visit * arms + read.arm, return_inverse=True)
    visit, arm = key // arms, key % arms
    paid = np.bincount(place, scale * read.reward)
    total = np.bincount(arm, paid, minlength=arms).astype(np.float64)
    plays = np.bincount(read.arm, minlength=arms)
    per_visit = np.bincount(read.visit, scale if norm == "all" else None).astype(np.float64)
    base = np.bincount(place, scale) if norm == "own" else per_visit[visit]
    whole = np.bincount(arm, base, minlength=arms) if norm == "own" else np.full(arms, per_visit.sum())
    with np.errstate(invalid="ignore"):  # of an arm without a play there is no mean
        means = total / whole
        squares = np.bincount(arm, (paid - means[arm] * base) ** 2, minlength=arms).astype(np.float64)
        if norm != "own":  # visits without a play of the arm count for its mean, too
            squares += means**2 * np.maximum(per_visit @ per_visit - np.bincount(arm, base**2, minlength=arms), 0.0)
        errors = np.sqrt(per_visit.size / (per_visit.size - 1) * squares) / whole
    half, tail = float(ndtri(0.5 + level / 2)) * errors, (1 - level) / 2
    low, high = means - half, means + half
    if top is not None:
        total, variance = total / number, np.bincount(arm, paid**2, minlength=arms) / number**2
        more = top * np.bincount(read.visit).max() / number
        with np.errstate(invalid="ignore", divide="ignore"):
            low = np.where(total > 0, variance / total * gammaincinv(total**2 / variance, tail), 0.0)
            total, variance = total + more, variance + more**2
            high = np.minimum(variance / total * gammaincinv(total**2 / variance, 1 - tail), 1.0)
    else:
        low[plays < _ENOUGH], high[plays < _ENOUGH] = -math.inf, math.inf
    never = plays == 0
    means[never], errors[never] = math.nan, math.nan
    low[never], high[never] = (0.0, most[never]) if top is not None else (-math.inf, math.inf)
    for each in (means, errors, low, high):
        each[most == 0] = 0.0
    return tuple(Interval(*each) for each in np.transpose([means, errors, low, high]).tolist())


def _models(read: _Rows, q: _Floats) -> tuple[_Floats, _Floats]:
    """Return for each row what the mean rewards of earlier visits say of the target, and of the arm played.

    An arm that was not played before has the mean of all.
    """
    number, arms = q.shape
    counts, sums, model, new = np.zeros(arms), np.zeros(arms), np.zeros(arms), np.ones(arms)
    of_target, of_arm = np.empty(number), np.empty(number)
    known, mean, everything = 0, 0.0, 0.0
    for i, (begin, played) in enumerate(zip(read.begin.tolist(), read.arm.tolist(), strict=True)):
        for j in range(known, begin):
            arm, reward = read.arm[j], read.reward[j]
            counts[arm] += 1
            sums[arm] += reward
            everything += reward
            model[arm], new[arm] = sums[arm] / counts[arm], 0.0
            mean = everything / (j + 1)
        known = begin
        of_target[i] = q[i] @ model + mean * (q[i] @ new)
        of_arm[i] = mean if new[played] else model[played]
    return of_target, of_arm


def _self_normalised(terms: _Floats, weights: _Floats) -> _Floats:
    """Return terms whose mean is the ratio of two means, and whose variance is that of the ratio (delta method)."""
    ratio = terms.sum() / weights.sum()
    linear: _Floats = ratio + (terms - ratio * weights) / weights.mean()
    return linear


def _normal(terms: _Floats, visit: NDArray[np.int64], level: float) -> Interval:
    """Return the normal interval of a mean, with the variance between visits."""
    from scipy.special import ndtri  # only here: SciPy is slow to import, and the package must not be

    mean = float(terms.mean())
    apart = np.bincount(visit, terms - mean)
    error = math.sqrt(apart.size / (apart.size - 1) * float(apart @ apart)) / terms.size
    half = float(ndtri(0.5 + level / 2)) * error
    return Interval(mean, error, mean - half, mean + half)


def _gamma(terms: _Floats, visit: NDArray[np.int64], level: float, top: float) -> Interval:
    """Return Fay and Feuer's interval of a weighted mean of clicks; `top` is the largest weight that there could be."""
    from scipy.special import gammaincinv  # only here: SciPy is slow to import, and the package must not be

    parts, tail = np.bincount(visit, terms) / terms.size, (1 - level) / 2
    total, variance = float(parts.sum()), float(parts @ parts)
    more = top * np.bincount(visit).max() / terms.size
    low = variance / total * gammaincinv(total**2 / variance, tail) if total else 0.0
    total, variance = total + more, variance + more**2
    high = variance / total * gammaincinv(total**2 / variance, 1 - tail)
    mean, error = _normal(terms, visit, level)[:2]
    return Interval(mean, error, float(low), min(float(high), 1.0))


def _effective(weights: _Floats, visit: NDArray[np.int64]) -> float:
    """Return the number of visits of equal weight that are worth as much (L. Kish)."""
    parts = np.bincount(visit, np.abs(weights))
    return float(parts.sum() ** 2 / (parts @ parts)) if parts.any() else 0.0


def _probabilities(target: Any, log: Log) -> _Floats:
    """Check the target; return its probabilities for every row of the log."""
    number, names = len(log), log.arms
    if isinstance(target, Mapping):
        if names is None or set(target) != set(names):
            raise ValueError(
                f"target must have the arms of the log, {checks.shown(names)}, not {checks.shown(list(target))}"
            )
        target = [target[name] for name in names]
    q = checks.array("target", target, low=0, high=1 + _OFF)
    if q.ndim not in (1, 2) or q.size == 0:
        raise ValueError(f"target must be of shape (K,) or (n, K), not {q.shape}")
    arms = log.table["arm"].max() + 1 if names is None else len(names)
    if q.shape[-1] < arms or (names is not None and q.shape[-1] > arms):
        raise ValueError(f"target must have {arms} probabilities, one for each arm of the log, not {q.shape[-1]}")
    if q.ndim == 2 and len(q) != number:
        raise ValueError(f"target must have {number} rows, one for each of the log, not {len(q)}")
    sums = np.atleast_2d(q).sum(axis=1)
    if (wrong := np.abs(sums - 1) > _OFF).any():
        row = int(np.argmax(wrong))
        where = f" (row {row})" if q.ndim == 2 else ""
        raise ValueError(f"target must be probabilities that sum to 1, not to {sums[row]:g}{where}")
    return np.broadcast_to(q, (number, q.shape[-1]))


def _read(table: Any, method: str, by: str | None) -> _Rows:
    """Return the columns of a log; nothing is calculated before its visits, rounds and times have been checked."""
    number = len(table)
    visit = begin = np.arange(number)
    if by is not None:
        if by not in table:
            raise ValueError(f"by must be a column of log, not {checks.shown(by)}")
        visit = _numbered(table[by])
        begin = np.maximum.accumulate(np.where(np.diff(visit, prepend=-1) != 0, begin, 0))
    if visit.max() == 0:
        raise ValueError("log must have two visits or more, not 1")
    if "round" in table:
        twice = table.duplicated(["round", "arm"] if by == "round" else ["round"])
        if twice.any():
            other = ', or by="round" be given if it had several arms' if by is None else ""
            raise ValueError(f"round of log must have one reward{other}; a second one is in row {twice.idxmax()}")
    for name in ("round", "timestamp"):
        if method == "dr" and name in table:
            _check_order(table[name])
    arm, reward, propensity = (table[name].to_numpy() for name in ("arm", "reward", "propensity"))
    return _Rows(arm, reward, propensity, visit, begin)


def _numbered(column: Any) -> NDArray[np.int64]:
    """Return the values of a column as numbers, in the order of their first appearance."""
    try:
        codes = np.asarray(column.factorize()[0], np.int64)
    except TypeError as error:
        raise TypeError(
            f"{column.name} of log must be numbers, times or texts, not {checks.shown(column[0])}"
        ) from error
    if (codes < 0).any():
        raise ValueError(f"{column.name} of log must be there in each row, and is not in row {int(np.argmin(codes))}")
    return codes


def _check_order(column: Any) -> None:
    """Refuse times that fall: the model of DR must be made of earlier visits, and would be made of later ones."""
    import pandas as pd  # only here, as it is slow to import

    try:
        times = column if column.dtype.kind in "iufM" else pd.to_datetime(column, utc=True, format="ISO8601")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{column.name} of log must be numbers or times, not {checks.shown(column[0])}") from error
    late = np.flatnonzero(~(times.to_numpy()[1:] >= times.to_numpy()[:-1]))  # so that nan is refused as well
    if late.size:
        said = f'as the model of "dr" is made of earlier visits; it does in row {late[0] + 1}'
        raise ValueError(f"{column.name} of log must not fall, {said}")
