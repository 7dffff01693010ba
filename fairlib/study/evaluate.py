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

_SHARE = 1 / 20  # where one visit has a larger share of the variance, normal intervals miss too often
_ENOUGH = 20  # fewer effective rewards do not show how large one may be
_EFFECTIVE = 100  # from fewer visits, once weighted, an estimate is rough
_OFF = 1e-6  # how far the sum of probabilities may be from 1, as it is with float32


class Interval(NamedTuple):
    """An estimate with its interval; formatted, all numbers with the format given, or ``'too few'``.

    Parameters
    ----------
    value : float
        The estimate; nan where there is none.
    error : float
        Its standard error; nan where there is none.
    low, high : float
        The ends of the interval: of all numbers, if the log has too little for one that can be trusted.

    Examples
    --------
    >>> f"{Interval(0.25, 0.05, 0.152, 0.348):.2f}"
    '0.25 (0.15 to 0.35)'
    >>> f"{Interval(0.25, 0.25, -math.inf, math.inf):.2f}"
    'too few'
    """

    value: float
    error: float
    low: float
    high: float

    @property
    def trusted(self) -> bool:
        """Whether there is an interval."""
        return self.high < math.inf

    def __format__(self, form: str) -> str:
        if not self.trusted:
            return "too few"
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
    unseen : tuple
        Arms without support: the target plays them, and the log never did. By name, if they have names.
    arms : tuple of Estimate
        For each arm the mean of one over the propensity where it was played, and 0 elsewhere, with the standard error
        that it has if the arm could always be drawn. Then its expectation is 1; it is 0.5 for an arm that joined
        half-way. If the log says which arms were `available`, it is the mean over the rows in which the arm was.
    repeated : int
        How many rows are the same as an earlier one in all columns, in a log with a column that tells rows apart.

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
    unseen: tuple[Any, ...]
    arms: tuple[Estimate, ...]
    repeated: int


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
        The kind of the intervals: ``"gamma"`` or ``"normal"``.
    arms : tuple of Interval
        Mean reward of each arm in the visits in which it could be drawn. If each of the K intervals covers as it should
        (at the level 1 - (1 - level) / K), they hold all at once.
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
    Evaluation of 400 visits by ips
    overlap: mean weight 1.000 ± 0.025, effective visits 320, largest weight 1.5
    reward: 0.75 (0.6497 to 0.8615), gamma interval at level 0.95
    >>> found.exposure
    array([0.75, 0.25])
    """

    method: str
    level: float
    overlap: Overlap
    reward: Interval
    interval: str
    arms: tuple[Interval, ...]
    exposure: _Floats
    target: _Floats
    log: Log

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against the estimate, a sentence each; they are printed before it."""
        overlap, said = self.overlap, []
        if self.log.dropped:
            said.append(f"rows of the log were left out ({self.log.dropped:,}), and the others may be unlike them")
        if overlap.repeated:
            said.append(
                f"rows are there twice or more ({overlap.repeated:,}): if visits were delivered twice, the interval is "
                "too short; drop them, or give by="
            )
        if overlap.effective < _EFFECTIVE:
            said.append(f"below {_EFFECTIVE} effective visits an estimate is rough")
        if not self.reward.trusted and _Paid.of(self.log.table["reward"].to_numpy()).is_beyond(self.reward.value):
            said.append(f"the estimate, {self.reward.value:.4g}, is outside the range of the rewards")
        elif not self.reward.trusted:
            few = f"too few for an interval: {overlap.rewards:.3g} effective rewards other than 0"
            said.append(few + ("" if self.method == "ips" else '; method="ips" needs fewer'))
        mean, error = overlap.weight
        if abs(mean - 1) > 3 * error + _OFF:
            said.append(
                "the mean weight is more than three errors from 1: propensities are wrong, or the target plays "
                "what the log could not"
            )
        if overlap.unseen:
            arms = ", ".join(map(str, overlap.unseen))
            said.append(f"the log has no play of these arms of the target, so what they earn is unknown: {arms}")
        names = self.log.arms or range(len(overlap.arms))
        drawn = [
            f"{name} in {mean:.1%} of the visits"
            for name, (mean, error) in zip(names, overlap.arms, strict=True)
            if mean and abs(mean - 1) > 4 * error + _OFF
        ]
        if drawn:
            listed = ", ".join(drawn)
            said.append(f"arms could not always be drawn, or their propensities are wrong; plays are as of {listed}")
        return tuple(said)

    @checked
    def fairness(self, merit: Merit) -> Interval:
        r"""Estimate the fairness regret a round: how far the target is from the fair policy of a merit function.

        That is :math:`\sum_a \lvert \pi^\star_a - q_a \rvert`, where the fair policy :math:`\pi^\star` plays each arm
        in proportion to the merit of its mean, and :math:`q` is the target; if the target differs from visit to visit,
        it is the mean over the visits. It is 0 for the fair policy, and close to 2 for one that plays only an arm of
        hardly any merit. If the log says which arms were `available`, the fair policy is that among those there.

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
        target, value, nearest, farthest = np.atleast_2d(self.target), 0.0, 0.0, 0.0
        who = np.ones((1, len(self.arms)), bool) if self.log.available is None else self.log.available
        sets, of = np.unique(who, axis=0, return_inverse=True)
        of = of.ravel()
        for i, there in enumerate(sets):  # on rows with the same arms the fair policy is the same
            rows = target[of == i][:, there] if len(target) == len(who) else target[:, there]
            part, (fair, least, most) = float((of == i).mean()), (each[there] for each in (values, low, high))

            def apart(shares: _Floats, rows: _Floats = rows) -> _Floats:
                distances: _Floats = np.abs(rows - shares).mean(axis=0)
                return distances

            least, most = least / (least + most.sum() - most), most / (most + least.sum() - least)
            value += part * float(apart(fair / fair.sum()).sum())
            # Each arm's distance is convex in its fair share, with its least value at the median of the target's rows.
            nearest += part * float(apart(np.clip(np.median(rows, axis=0), least, most)).sum())
            farthest += part * float(np.maximum(apart(least), apart(most)).sum())
        known = all(arm.value == arm.value for arm in self.arms)
        return Interval(value if known else math.nan, math.nan, nearest, min(2.0, farthest))

    def frame(self) -> "pd.DataFrame":
        """Return what is known of each arm as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each arm: its exposure, the part of the visits in which it could be drawn as far as its plays show
            (`Overlap.arms`), and its mean reward with its interval, nan where the plays are too few.

        Examples
        --------
        >>> log = 200 * [{"arm": 0, "reward": 1, "propensity": 0.5}, {"arm": 1, "reward": 0, "propensity": 0.5}]
        >>> evaluate(log, [0.75, 0.25]).frame().round(2)  # doctest: +NORMALIZE_WHITESPACE
             exposure  drawable  mean   low  high
        arm
        0        0.75       1.0   1.0  0.85  1.00
        1        0.25       1.0   0.0  0.00  0.02
        """
        import pandas as pd  # only here, as it is slow to import

        means = np.array([(each.value, each.low, each.high) if each.trusted else 3 * (math.nan,) for each in self.arms])
        drawn = np.array(self.overlap.arms)[:, 0]
        table = np.column_stack([self.exposure, drawn, means])
        index = pd.Index(self.log.arms or range(len(self.arms)), name="arm")
        return pd.DataFrame(table, index, ["exposure", "drawable", "mean", "low", "high"])

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
    method: Annotated[str, checks.Choice(("ips", "snips", "dr"))] = "ips",
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
        The log, in the order of time. Its column `available`, if there is one, says which arms were there. If there is
        a column `round`, a round may have one row only (with ``by="round"``, one for each arm); if it or a column
        `timestamp` is there, DR asks that it does not fall.
    target : array_like, shape (K,) or (n, K), or dict
        Probability with which the target plays each arm: the same in every row of the log, or row by row; or a dict of
        the same for each row, by the names of the arms.
    method : str
        ``"ips"``, ``"snips"`` or ``"dr"``. The others may vary less than IPS, and need more rewards for an interval.
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

    See Also
    --------
    fairlib.study.replay.replay : the same for a policy that learns.

    Notes
    -----
    IPS of rewards of at least 0 is a weighted sum of rare events, and gets the gamma interval of M. Fay and E. Feuer,
    *Confidence intervals for directly standardized rates* (1997). The largest term that there could be is the largest
    weight that the log shows to be possible, times 1 where rewards are 0 and 1, else times the largest reward. Its
    coverage is well tested, and not proved in general. Other intervals are normal, with a variance between visits. An
    estimate is ``too few`` in place of an interval that can't be trusted: a normal one if one visit has 1/20 or more
    of the variance, a gamma one of other rewards than 0 and 1 with fewer than 20 effective rewards that are not 0, and
    any that does not contain its estimate, or whose estimate is outside the range of the rewards. No interval knows of
    a reward that is rare and large, and was never seen.

    `Evaluation.arms` are by SNIPS, with gamma intervals if rewards are at least 0. The time is proportional to the rows
    and the arms, not to their product, but for DR, which asks what its model says of the target in each row.

    Examples
    --------
    A log of clicks in which arm 0 was drawn in one of four visits; a target that always plays it:

    >>> rng = np.random.default_rng(0)
    >>> arms = (rng.random(4000) < 0.75).astype(int)
    >>> clicks = (rng.random(4000) < np.array([0.6, 0.2])[arms]).astype(int)
    >>> log = {"arm": arms, "reward": clicks, "propensity": np.array([0.25, 0.75])[arms]}
    >>> evaluate(log, [1, 0])
    Evaluation of 4,000 visits by ips
    overlap: mean weight 1.000 ± 0.027, effective visits 1,000, largest weight 4
    reward: 0.563 (0.5174 to 0.6115), gamma interval at level 0.95
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
    there = np.full(arms, number) if log.available is None else log.available.sum(axis=0)
    if log.available is not None and (absent := (q > _OFF) & ~log.available).any():
        row = int(np.argmax(absent.any(axis=1)))
        raise ValueError(f"target must play arms that are there, row by row, and in row {row} of log it does not")
    plays, exposure = np.bincount(read.arm, minlength=arms), q.mean(axis=0)
    paid = _Paid.of(read.reward)
    means, drawn, least = [], [], np.full(arms, read.propensity.min())
    for arm, rows in enumerate(np.split(np.argsort(read.arm, kind="stable"), plays.cumsum()[:-1])):
        scale, visit = 1 / read.propensity[rows], np.unique(read.visit[rows], return_inverse=True)[1]
        if rows.size:
            least[arm] = read.propensity[rows].min()
        means.append(_interval(scale * read.reward[rows], scale, visit, 1 - (1 - level) / arms, paid, 1 / least[arm]))
        mean = float(scale.sum()) / max(there[arm], 1)
        drawn.append(Estimate(mean, math.sqrt(float(scale @ scale) / mean) / there[arm] if mean else math.nan))
    base, total, most = np.ones(number), weights * read.reward, None
    if method == "dr":
        of_target, of_arm = _models(read, q)
        total = of_target + weights * (read.reward - of_arm)
    elif method == "snips":
        base = weights
    else:
        most = float((q.max(axis=0) / least).max())  # the largest weight that there could be
    reward = _interval(total, base, read.visit, level, paid, most)
    names = log.arms or range(arms)
    overlap = Overlap(
        int(read.visit.max()) + 1,
        Estimate(*_mean(weights, np.ones(number), read.visit)[:2]),
        _effective(weights, read.visit),
        float(weights.max()),
        _effective(weights * read.reward, read.visit),
        tuple(names[arm] for arm in np.flatnonzero((plays == 0) & (exposure > 0))),
        tuple(drawn),
        0 if by else _repeated(log.table),
    )
    by_row = not isinstance(target, Mapping) and np.ndim(target) == 2
    kept = np.array(q if by_row else q[0])
    exposure = exposure if by_row else kept
    exposure.flags.writeable = kept.flags.writeable = False
    interval = "gamma" if most is not None and paid.least >= 0 else "normal"
    return Evaluation(method, level, overlap, reward, interval, tuple(means), exposure, kept, log)


def _mean(terms: _Floats, base: _Floats, visit: NDArray[np.int64]) -> tuple[float, float, _Floats]:
    """Return a ratio of sums, its standard error between visits (delta method), and what each visit adds to it."""
    mean, whole = float(terms.sum() / base.sum()), float(base.sum())
    apart = np.asarray(np.bincount(visit, terms - mean * base), np.float64)
    return mean, math.sqrt(apart.size / (apart.size - 1 or math.nan) * float(apart @ apart)) / whole, apart


class _Paid(NamedTuple):
    """What the rewards of a log are: whether 0 and 1 alone, and between which they lie."""

    clicks: bool
    least: float
    most: float

    @classmethod
    def of(cls, rewards: _Floats) -> "_Paid":
        """Return what rewards are; of nothing but zeros the unit is unknown."""
        if np.isin(rewards, (0.0, 1.0)).all() and rewards.any():
            return cls(True, 0.0, 1.0)
        return cls(False, float(rewards.min()), float(rewards.max()))

    def is_beyond(self, mean: float) -> bool:
        """Return whether a mean lies outside by more than rounding."""
        off = 1e-9 * max(abs(self.least), abs(self.most))
        return not self.least - off <= mean <= self.most + off


def _interval(
    terms: _Floats, base: _Floats, visit: NDArray[np.int64], level: float, paid: _Paid, weight: float | None
) -> Interval:
    """Return a ratio of sums with its interval: Fay and Feuer's for a largest weight, if no reward is below 0."""
    from scipy.special import gammaincinv, ndtri  # only here: SciPy is slow to import, and the package must not be

    low, high = -math.inf, math.inf
    if not terms.size:
        return Interval(math.nan, math.nan, low, high)
    mean, error, apart = _mean(terms, base, visit)
    tail = (1 - level) / 2
    if weight is None or paid.least < 0:
        if all((each**2).max() < _SHARE * (each @ each) for each in (apart, np.bincount(visit, base))):
            low, high = mean + float(ndtri(tail)) * error, mean - float(ndtri(tail)) * error
    elif paid.clicks or _effective(terms, visit) >= _ENOUGH:
        sums, rows, whole = np.bincount(visit, terms), int(np.bincount(visit).max()), float(base.sum())
        y, v, largest = float(sums.sum()), float(sums @ sums), weight * paid.most * rows
        low = v / y * float(gammaincinv(y**2 / v, tail)) / whole if y else 0.0
        y, v = y + largest, v + largest**2
        high = v / y * float(gammaincinv(y**2 / v, 1 - tail)) / whole
    ends = max(low, 0.0 if paid.least >= 0 else low), min(high, 1.0 if paid.clicks else high)
    if high == math.inf or not ends[0] <= mean <= ends[1] or paid.is_beyond(mean):
        ends = -math.inf, math.inf
    return Interval(mean, error, *ends)


def _repeated(table: Any) -> int:
    """Count the rows that are an earlier one again, if without them some column tells all rows apart."""
    others = [name for name in table if name not in ("arm", "reward", "propensity", "features")]
    try:
        again = table[["arm", "reward", "propensity", *others]].duplicated()
    except TypeError:  # of a list, say, in a row
        return 0
    return int(again.sum()) if any(table.loc[~again, name].is_unique for name in others) else 0


def _models(read: _Rows, q: _Floats) -> tuple[_Floats, _Floats]:
    """Return for each row what earlier mean rewards, of the arm or else of all, say of the target and of the arm."""
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
    _must_be_there(column)
    return codes


def _must_be_there(column: Any) -> None:
    if column.hasnans:
        row = int(np.argmax(column.isna()))
        raise ValueError(f"{column.name} of log must be there in each row, and is not in row {row}")


def _check_order(column: Any) -> None:
    """Refuse times that fall: the model of DR must be made of earlier visits, and would be made of later ones."""
    import pandas as pd  # only here, as it is slow to import

    _must_be_there(column)
    try:
        times = column if column.dtype.kind in "iufM" else pd.to_datetime(column, utc=True, format="ISO8601")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{column.name} of log must be numbers or times, not {checks.shown(column[0])}") from error
    if not times.is_monotonic_increasing:
        row = int(np.argmax(times.to_numpy()[1:] < times.to_numpy()[:-1])) + 1
        raise ValueError(
            f'{column.name} of log must not fall, as the model of "dr" is made of earlier visits; it does in row {row}'
        )
