"""Many arms at once and feedback late: delay laws, fair semi-bandits, rounding, and what is proved of four policies.

The module of the chapters 'Many at once, feedback late' and 'When the delay tells', after Chen, Cai, Chen, Zhang and
Lui (2024). A learner sees, per arm, how often it was played, how many of those rewards have arrived, and their sum.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import float64, int64, types
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from fairlib import checks
from fairlib.arms import Bandit, Delay
from fairlib.compilation import compiled, helper
from fairlib.merit import STEP, VALUE, Merit, as_merit, optimistic_step, power_value
from fairlib.policy import Policy
from fairlib.result import Result

LATE = types.float64(float64[:, ::1], int64, float64, types.npy_rng)
"""What draws a reader's own delay: ``draw(params, arm, reward, rng)``, infinite for never."""

# ---------------------------------------------------------------------------------------------------------------------
# How late the news is


@dataclass(frozen=True, eq=False)
class Law(Delay):
    """A delay whose quantiles are known; made by `fixed`, `geometric`, `pareto` and the other laws of this module.

    Parameters
    ----------
    name : str
        What figures call it.
    quantiles : callable
        ``quantiles(q, means)`` returns, per arm, the smallest number of rounds within which a share q of the rewards
        arrives (equation 2), infinite where less than that ever arrives. The arms' means matter only where the delay
        depends on the reward.

    Examples
    --------
    >>> law = geometric([0.5, 0.05])
    >>> law.quantiles(0.9, np.zeros(2))
    array([ 4., 45.])
    """

    name: str = field(kw_only=True)
    quantiles: Callable[[float, NDArray[np.float64]], NDArray[np.float64]] = field(kw_only=True)


def fixed_draw(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return the arm's one delay."""
    return int(params[arm, 0])


def fixed(rounds: ArrayLike) -> Law:
    """Make every reward of an arm equally late.

    Parameters
    ----------
    rounds : array_like, shape (K,)
        The delay of each arm in rounds, a whole number of at least 0; infinity for never.

    Returns
    -------
    Law
        The delay law.

    Raises
    ------
    TypeError, ValueError
        If a delay is negative, not whole or not a number.

    Examples
    --------
    >>> fixed([0, 2.5])
    Traceback (most recent call last):
    ValueError: rounds must be whole numbers of at least 0, or infinity for never, not 2.5 (arm 1)
    """
    late = _rounds("rounds", rounds)
    name = f"fixed {late[0]:g}" if (late == late[0]).all() else "fixed"
    return Law(fixed_draw, _never(late).reshape(-1, 1), name=name, quantiles=lambda q, means: late.copy())


def geometric_draw(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return the number of tosses up to the first success: an exponential variate, rounded up."""
    return 1 + int(params[arm, 0] * rng.standard_exponential())


def geometric(probability: ArrayLike) -> Law:
    """Let a reward arrive with a fixed probability in each round that follows: delays 1, 2, 3, ...

    Parameters
    ----------
    probability : array_like, shape (K,)
        Probability of arriving in the next round, above 0 and at most 1; the mean delay is 1 over it.

    Returns
    -------
    Law
        The delay law.

    Raises
    ------
    TypeError, ValueError
        If a probability is not a number in (0, 1].

    Examples
    --------
    >>> geometric([0.05]).quantiles(0.5, np.zeros(1))
    array([14.])
    """
    p = _probabilities("probability", probability, above=0)

    def quantiles(q: float, means: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.maximum(1, np.ceil(np.log1p(-q) / np.log1p(-p) - 1e-12)) if q < 1 else np.where(p < 1, np.inf, 1)

    with np.errstate(divide="ignore"):
        scale = -1 / np.log1p(-p)
    return Law(geometric_draw, scale.reshape(-1, 1), name=_named("geometric", p), quantiles=quantiles)


def pareto_draw(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return a Pareto delay of scale 1, rounded up; never if it is past counting."""
    power = -math.log(1.0 - rng.random()) / params[arm, 0]
    return math.ceil(math.exp(power)) if power < 34.0 else -1


def pareto(index: ArrayLike) -> Law:
    r"""Give delays heavy tails: a reward is still missing after z rounds with probability :math:`z^{-\alpha}`.

    Parameters
    ----------
    index : array_like, shape (K,)
        The tail index :math:`\alpha` of each arm, above 0; at 1 or below the mean delay is infinite.

    Returns
    -------
    Law
        The delay law, a Pareto variate of scale 1 rounded up to whole rounds.

    Raises
    ------
    TypeError, ValueError
        If an index is not a positive number.

    Examples
    --------
    >>> pareto([1.0, 0.5]).quantiles(0.9, np.zeros(2))
    array([ 10., 100.])
    """
    alpha = checks.vector("index", index, above=0)

    def quantiles(q: float, means: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            late = np.power(1 - q, -1 / alpha) if q < 1 else np.full_like(alpha, np.inf)
            return np.ceil(late * (1 - 1e-12))

    return Law(pareto_draw, alpha.reshape(-1, 1), name=_named("Pareto", alpha), quantiles=quantiles)


def packet_loss_draw(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return 0, or never: the chance depends on the arm, and perhaps on the reward."""
    return 0 if rng.random() < (params[arm, 0] if reward > 0.5 else params[arm, 1]) else -1


def packet_loss(arrives: ArrayLike, when_zero: ArrayLike | None = None) -> Law:
    """Lose rewards: one arrives at once or never.

    Parameters
    ----------
    arrives : array_like, shape (K,)
        Probability that a reward of each arm arrives, in [0, 1].
    when_zero : array_like, shape (K,), optional
        The same for a reward of 0, where rewards are 0 or 1 and the loss depends on them; by default the same.

    Returns
    -------
    Law
        The delay law.

    Raises
    ------
    TypeError, ValueError
        If a probability is not a number in [0, 1], or the two lists differ in length.

    Examples
    --------
    >>> packet_loss([0.8, 0.4]).quantiles(0.5, np.zeros(2))
    array([ 0., inf])
    """
    one = _probabilities("arrives", arrives)
    zero = one if when_zero is None else _probabilities("when_zero", when_zero, one.size)

    def quantiles(q: float, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(q <= means * one + (1 - means) * zero + 1e-12, 0.0, np.inf)

    name = _named("packet loss", one) if when_zero is None else "packet loss by reward"
    return Law(packet_loss_draw, np.column_stack([one, zero]), name=name, quantiles=quantiles)


def biased_draw(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return one delay for a success and another for a failure."""
    return int(params[arm, 0] if reward > 0.5 else params[arm, 1])


def biased(when_one: ArrayLike, when_zero: ArrayLike) -> Law:
    """Let the delay tell the reward: rewards are 0 or 1, and each has a delay of its own.

    Parameters
    ----------
    when_one, when_zero : array_like, shape (K,)
        The delay of a reward of 1, and of 0, for each arm; whole numbers of at least 0, infinity for never.

    Returns
    -------
    Law
        The delay law.

    Raises
    ------
    TypeError, ValueError
        If a delay is negative or not whole, or the two lists differ in length.

    Examples
    --------
    >>> biased([6000, 0], [0, 6000]).quantiles(0.5, np.array([0.9, 0.3]))
    array([6000., 6000.])
    """
    one = _rounds("when_one", when_one)
    zero = _rounds("when_zero", when_zero, one.size)

    def quantiles(q: float, means: NDArray[np.float64]) -> NDArray[np.float64]:
        early = np.where(one <= zero, means, 1 - means) + np.where(one == zero, 1 - means, 0)
        return np.where(q <= early + 1e-12, np.minimum(one, zero), np.maximum(one, zero))

    return Law(biased_draw, np.column_stack([_never(one), _never(zero)]), name="biased", quantiles=quantiles)


def log_normal_draw(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return a log-normal delay, rounded down; never if it is past counting."""
    power = rng.normal(params[arm, 0], params[arm, 1])
    return int(math.exp(power)) if power < 34.0 else -1


def log_normal(median: ArrayLike, spread: ArrayLike) -> Law:
    """Make delays log-normal, as those of human beings often are.

    Parameters
    ----------
    median : array_like, shape (K,)
        Median delay of each arm in rounds, above 0.
    spread : array_like, shape (K,)
        Standard deviation of the logarithm of the delay, above 0.

    Returns
    -------
    Law
        The delay law, rounded down to whole rounds.

    Raises
    ------
    TypeError, ValueError
        If a number is not positive, or the lists differ in length.

    Examples
    --------
    >>> log_normal([100], [2.0]).quantiles(0.5, np.zeros(1))
    array([100.])
    """
    centre = np.log(checks.vector("median", median, above=0))
    sigma = _as_many("spread", checks.vector("spread", spread, above=0), centre.size)

    def quantiles(q: float, means: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(over="ignore"):
            return np.floor(np.exp(centre + sigma * ndtri(q)) + 1e-9)

    return Law(log_normal_draw, np.column_stack([centre, sigma]), name="log-normal", quantiles=quantiles)


def empirical_draw(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return one of the arm's recorded delays."""
    return int(params[arm, 1 + int(rng.random() * params[arm, 0])])


def empirical(delays: Sequence[ArrayLike]) -> Law:
    """Draw delays again from recorded ones.

    Parameters
    ----------
    delays : sequence of array_like
        For each arm the delays that were recorded, in rounds; infinity for what never came.

    Returns
    -------
    Law
        The delay law.

    Raises
    ------
    TypeError, ValueError
        If an arm has no delay, or one is negative or not whole.

    Examples
    --------
    >>> empirical([[0, 3, 3, 10], [7]]).quantiles(0.75, np.zeros(2))
    array([3., 7.])
    """
    if not isinstance(delays, Sequence | np.ndarray) or isinstance(delays, str) or len(delays) == 0:
        raise TypeError(f"delays must be a list with a list of delays for each arm, not {delays!r}")
    samples = [np.sort(_rounds(f"delays[{a}]", sample)) for a, sample in enumerate(delays)]
    table = np.zeros((len(samples), 1 + max(map(len, samples))))
    for row, sample in zip(table, samples, strict=True):
        row[0] = len(sample)
        row[1 : 1 + len(sample)] = _never(sample)

    def quantiles(q: float, means: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([sample[max(0, math.ceil(q * len(sample) - 1e-9) - 1)] for sample in samples])

    return Law(empirical_draw, table, name="empirical", quantiles=quantiles)


@lru_cache(maxsize=64)
def own_draw(draw: Callable[..., float]) -> Callable[..., int]:
    """Return a reader's draw with a guard: what is no delay stops the game."""

    def guarded(params, arm, reward, rng):
        late = draw(params, arm, reward, rng)
        if late == math.inf or late > 1e15:
            return -1
        if not late >= 0.0 or late != math.floor(late):
            raise ValueError("a delay must be a whole number of rounds of at least 0, or infinity for never")
        return int(late)

    return guarded


def own(draw: Callable[..., float], params: ArrayLike, name: str = "own") -> Delay:
    """Guard a reader's own delay law: it is tried before the game, and watched during it.

    Parameters
    ----------
    draw : callable
        ``draw(params, arm, reward, rng)`` returns how many rounds late this reward of this arm is: a whole number of
        at least 0, or `math.inf` for never. Plain Python with `math`; it is compiled.
    params : array_like, shape (K, m)
        What `draw` needs to know of each arm.
    name : str
        What figures call it, and the messages.

    Returns
    -------
    Delay
        The delay. Its quantiles are not known, so that there are no bounds for it.

    Raises
    ------
    TypeError, ValueError
        If `params` is not a table, or one of a hundred trial draws (or, later, any draw of the game) is negative,
        not whole or not a number.

    Examples
    --------
    >>> own(lambda params, arm, reward, rng: rng.normal(), [[0.0]], "nonsense")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: the delay law 'nonsense' must return whole numbers of at least 0, or infinity for never, not ...
    """
    if not callable(draw):
        raise TypeError(f"draw must be a function (params, arm, reward, rng), not {draw!r}")
    table = Delay(draw, params).params  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    for trial in range(100):
        arm, reward = trial % len(table), float(trial // len(table) % 2)  # type: ignore[arg-type]
        late = draw(table, arm, reward, rng)
        if not (late == math.inf or (late >= 0 and late == math.floor(late))):
            raise ValueError(
                f"the delay law {name!r} must return whole numbers of at least 0, or infinity for never, not {late!r} "
                f"(arm {arm}, reward {reward:g})"
            )
    return Delay(own_draw(compiled(draw, LATE)), table)


# ---------------------------------------------------------------------------------------------------------------------
# The game


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


@helper
def play_top(p: Any, plays: int) -> None:
    """Play the arms of the largest indices: turn the indices in `p` into probabilities.

    Parameters
    ----------
    p : ndarray, shape (K,)
        One index an arm, infinity allowed; afterwards 1 at the `plays` largest and 0 elsewhere.
    plays : int
        How many.

    Examples
    --------
    >>> p = np.array([0.3, 0.8, 2.5, 0.8])
    >>> play_top(p, 2)
    >>> p
    array([0., 1., 1., 0.])
    """
    for _ in range(plays):
        best = 0
        for a in range(1, p.size):
            if p[a] > p[best]:
                best = a
        p[best] = -math.inf
    for a in range(p.size):
        p[a] = 1.0 if p[a] == -math.inf else 0.0


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


def upper_ends(params, low, high, mu):
    """Take the upper end of every interval."""
    for a in range(mu.size):
        mu[a] = high[a]


def fair_step(merit: Merit) -> Any:
    r"""Return the optimistic step of a merit function, with no search where none is needed.

    For :math:`f(x) = 1 + A x^p` on [0, 1] with :math:`A \bigl(\frac{p-1}{p+1}\bigr)^{p-1} \le 1` the upper end of
    every interval is optimal, as :math:`f(x)(x - c)` grows with x whatever c (erratum E-D21).
    That is the case for every merit function of the paper's experiments.

    Parameters
    ----------
    merit : Merit
        The merit function.

    Returns
    -------
    callable
        ``step(params, low, high, mu)``, compiled.

    Raises
    ------
    TypeError
        If `merit` is not a `Merit`.

    Examples
    --------
    >>> from fairlib.merit import power
    >>> fair_step(power(2, 4)) is fair_step(power(3.5, 4)), fair_step(power(2, 4)) is fair_step(power(100, 4))
    (True, False)
    """
    if as_merit(merit).value is power_value:
        scale, p = np.asarray(merit.params)
        if scale * ((p - 1) / (p + 1)) ** (p - 1) <= 1:
            return compiled(upper_ends, STEP)
    return optimistic_step(merit)


# ---------------------------------------------------------------------------------------------------------------------
# Delays that do not depend on the reward


@lru_cache(maxsize=64)
def fcucb_d_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of FCUCB-D for a merit function and its optimistic step (Algorithm 1)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = int(params[0]), params[3:]
        k = p.size
        if take_turns(t, plays, p):
            return
        low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
        width = params[1] + params[2] * math.log(t)
        for a in range(k):
            m = max(observed[a], 1)  # line 3
            mean, c = total[a] / m, math.sqrt(width / m)  # line 4
            high[a] = min(mean + c, 1.0)  # line 5
            low[a] = max(mean - c, 0.0)  # line 6
        step(merit, low, high, mu)  # lines 8 and 9
        whole = 0.0
        for a in range(k):  # line 10
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] *= plays / whole

    return rule


def fcucb_d(merit: Merit, arms: int, plays: int, radius: tuple[float, float] | None = None) -> Policy:
    r"""FCUCB-D (Algorithm 1), with the optimistic step of line 9 solved exactly.

    Plays in proportion to the merit of the most favourable means in the box :math:`\hat\mu_a \pm c_{t,a}`. Here
    :math:`\hat\mu_a` is the mean of the M rewards that have arrived, and
    :math:`c_{t,a} = \sqrt{\ln(4LKt) / (M \vee 1)}`.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats, optional
        Numbers :math:`(a, b)` for another radius, :math:`\sqrt{(a + b \ln t) / (M \vee 1)}`; by default
        :math:`(\ln 4LK, 1)`, as in Theorem 6.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    fcucb_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=fixed([20] * 4), merit=power(2, 4))
    >>> result = fl.simulate(game, fcucb_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *_radius(radius, math.log(4 * chosen * number), 1.0), *np.asarray(merit.params)]
    rule = fcucb_d_rule(compiled(merit.value, VALUE), fair_step(merit))
    return Policy("FCUCB-D", rule, params, plays=chosen, memory=3 * number, arms=number)


@lru_cache(maxsize=64)
def fcts_d_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FCTS-D for a merit function (Algorithm 2)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = params[0], params[1:]
        whole = 0.0
        for a in range(p.size):  # lines 3 and 4
            p[a] = value(merit, rng.beta(1.0 + total[a], 1.0 + observed[a] - total[a]))
            whole += p[a]
        for a in range(p.size):
            p[a] *= plays / whole

    return rule


def fcts_d(merit: Merit, arms: int, plays: int) -> Policy:
    """FCTS-D (Algorithm 2) for rewards 0 and 1: play by the merit of means drawn from their posteriors.

    The prior is uniform, and the posterior counts the rewards that have arrived.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    fcts_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=fixed([20] * 4), merit=power(2, 4))
    >>> result = fl.simulate(game, fcts_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *np.asarray(merit.params)]
    return Policy("FCTS-D", fcts_d_rule(compiled(merit.value, VALUE)), params, plays=chosen, arms=number)


# ---------------------------------------------------------------------------------------------------------------------
# Delays that may depend on the reward


@lru_cache(maxsize=64)
def op_fcucb_d_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of OP-FCUCB-D for a merit function and its optimistic step (Algorithm 3)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = int(params[0]), params[3:]
        k = p.size
        if take_turns(t, plays, p):
            return
        low, high, mu = state[:k], state[k : 2 * k], state[2 * k :]
        width = params[1] + params[2] * math.log(t)
        for a in range(k):
            n, missing = selected[a], selected[a] - observed[a]  # lines 3 and 4
            c = math.sqrt(width / n)
            high[a] = min((missing + total[a]) / n + c, 1.0)  # lines 5 and 7
            low[a] = max(total[a] / n - c, 0.0)  # lines 6 and 8
        step(merit, low, high, mu)  # lines 10 and 11
        whole = 0.0
        for a in range(k):  # line 12
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] *= plays / whole

    return rule


def op_fcucb_d(merit: Merit, arms: int, plays: int, radius: tuple[float, float] | None = None) -> Policy:
    r"""OP-FCUCB-D (Algorithm 3): missing rewards count as 1 in the upper bound and as 0 in the lower one.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats, optional
        Numbers :math:`(a, b)` for another radius, :math:`\sqrt{(a + b \ln t) / N}`; by default
        :math:`(\ln 6LK, 1)`. (Theorem 8 prints :math:`\ln(6LK/T)`, which is negative: erratum E-D12.)

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    op_fcucb_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, op_fcucb_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *_radius(radius, math.log(6 * chosen * number), 1.0), *np.asarray(merit.params)]
    rule = op_fcucb_d_rule(compiled(merit.value, VALUE), fair_step(merit))
    return Policy("OP-FCUCB-D", rule, params, plays=chosen, memory=3 * number, arms=number)


@lru_cache(maxsize=64)
def op_fcts_d_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of OP-FCTS-D for a merit function (Algorithm 4)."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, merit = params[0], params[1:]
        whole = 0.0
        for a in range(p.size):
            missing = selected[a] - observed[a]
            ones, zeros = 1.0 + total[a], 1.0 + observed[a] - total[a]
            most = rng.beta(ones + missing, zeros)  # line 3
            least = rng.beta(ones, zeros + missing)  # line 4
            p[a] = value(merit, 0.5 * (most + least))  # line 5
            whole += p[a]
        for a in range(p.size):
            p[a] *= plays / whole

    return rule


def op_fcts_d(merit: Merit, arms: int, plays: int) -> Policy:
    """OP-FCTS-D (Algorithm 4): the average of two draws, one with missing rewards as 1, one with them as 0.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    See Also
    --------
    op_fcts_d_bound : what is proved of its regrets.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, op_fcts_d(game.merit, 4, 2), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, *np.asarray(merit.params)]
    return Policy("OP-FCTS-D", op_fcts_d_rule(compiled(merit.value, VALUE)), params, plays=chosen, arms=number)


@lru_cache(maxsize=64)
def two_box_rule(value: Callable[..., float], step: Callable[..., None]) -> Callable[..., None]:
    """Return the rule of the two-box policy for a merit function and its optimistic step."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, narrow, safe, merit = int(params[0]), params[1], params[2], params[3:]
        k = p.size
        if take_turns(t, plays, p):
            return
        # The safe box and the narrow one, each as what its ends have moved inwards from 0 and from 1.
        bottom, roof = state[:k], state[k : 2 * k]
        floor, top = state[2 * k : 3 * k], state[3 * k : 4 * k]
        low, high, mu = state[4 * k : 5 * k], state[5 * k : 6 * k], state[6 * k : 7 * k]
        for a in range(k):
            n, m = selected[a], max(observed[a], 1)
            c, mean, w = math.sqrt(safe / n), total[a] / m, math.sqrt(narrow / m)
            bottom[a] = max(bottom[a], total[a] / n - c)
            roof[a] = max(roof[a], 1.0 - (n - observed[a] + total[a]) / n - c)
            floor[a] = max(floor[a], mean - w)
            top[a] = max(top[a], 1.0 - mean - w)
            if max(floor[a], bottom[a]) > 1.0 - max(top[a], roof[a]):
                state[7 * k] = 1.0  # refuted: these delays depend on the rewards
        for a in range(k):
            low[a], high[a] = bottom[a], 1.0 - roof[a]
            if state[7 * k] == 0.0:
                low[a], high[a] = max(floor[a], bottom[a]), 1.0 - max(top[a], roof[a])
            elif low[a] > high[a]:  # happens only if a bound has failed
                low[a] = high[a]
        step(merit, low, high, mu)
        whole = 0.0
        for a in range(k):
            p[a] = value(merit, mu[a])
            whole += p[a]
        for a in range(k):
            p[a] *= plays / whole

    return rule


def two_box(merit: Merit, arms: int, plays: int, horizon: int) -> Policy:
    r"""Two-box: one policy for delays of either kind, which it need not be told. Ours, not the paper's.

    The safe box is OP-FCUCB-D's, the narrow box FCUCB-D's, each the intersection of those of all rounds so far. While
    they meet, the policy is optimistic in what they share; once they do not, the delays must depend on the rewards,
    and it keeps to the safe box.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    horizon : int
        Number of rounds T, in the radii :math:`\sqrt{\ln(4LKT)/M}` and :math:`\sqrt{\ln(6LKT)/N}`.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> late = biased([200, 0, 0, 0], [0, 200, 200, 200])
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, delay=late, merit=power(2, 4))
    >>> result = fl.simulate(game, two_box(game.merit, 4, 2, 50_000), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.03)
    True
    """
    number, chosen = _size(merit, arms, plays)
    product = chosen * number * checks.whole("horizon", horizon, 1)
    params = [chosen, math.log(4 * product), math.log(6 * product), *np.asarray(merit.params)]
    rule = two_box_rule(compiled(merit.value, VALUE), fair_step(merit))
    return Policy("Two-box", rule, params, plays=chosen, memory=7 * number + 1, arms=number)


# ---------------------------------------------------------------------------------------------------------------------
# The paper's rivals


def cucb_d_rule(params, state, t, selected, observed, total, rng, p):
    """Play the arms of the largest upper bounds on what has arrived."""
    plays = int(params[0])
    if take_turns(t, plays, p):
        return
    width = params[1] + params[2] * math.log(t)
    for a in range(p.size):
        each = 1.0 / max(observed[a], 1)  # divide once: that is a twentieth of the round
        p[a] = total[a] * each + math.sqrt(width * each)
    play_top(p, plays)


def cucb_d(arms: int, plays: int, radius: tuple[float, float] = (0.0, 1.5)) -> Policy:
    r"""CUCB-D: the arms of the largest upper bounds, with no thought of fairness (after Chen, Wang and Yuan, 2013).

    Parameters
    ----------
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    radius : tuple of two floats
        Numbers :math:`(a, b)` of the radius :math:`\sqrt{(a + b \ln t) / (M \vee 1)}`; by default CUCB's own, with
        b = 3/2. The paper does not say which it took, its public code takes b = L + 1.

    Returns
    -------
    Policy
        The policy; it plays each arm once first.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1]), plays=2)
    >>> bool(fl.simulate(game, cucb_d(3, 2), 5000).share[0, -1, 2] < 0.05)
    True
    """
    number = checks.whole("arms", arms, 1)
    chosen = checks.whole("plays", plays, 1, number)
    return Policy("CUCB-D", cucb_d_rule, [chosen, *_radius(radius, 0.0, 1.5)], plays=chosen, arms=number)


def mp_ts_d_rule(params, state, t, selected, observed, total, rng, p):
    """Play the arms whose draws from the posterior are the largest."""
    for a in range(p.size):
        p[a] = rng.beta(1.0 + total[a], 1.0 + observed[a] - total[a])
    play_top(p, int(params[0]))


def mp_ts_d(arms: int, plays: int) -> Policy:
    """MP-TS-D: the arms of the largest posterior draws (after Komiyama, Honda and Nakagawa, 2015).

    Parameters
    ----------
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    Policy
        The policy, for rewards 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> game = fl.Bandit(fl.bernoulli([0.9, 0.8, 0.1]), plays=2)
    >>> bool(fl.simulate(game, mp_ts_d(3, 2), 5000).share[0, -1, 2] < 0.05)
    True
    """
    number = checks.whole("arms", arms, 1)
    chosen = checks.whole("plays", plays, 1, number)
    return Policy("MP-TS-D", mp_ts_d_rule, [chosen], plays=chosen, arms=number)


@lru_cache(maxsize=64)
def fgreedy_d_rule(value: Callable[..., float]) -> Callable[..., None]:
    """Return the rule of FGreedy-D for a merit function."""

    def rule(params, state, t, selected, observed, total, rng, p):
        plays, epsilon, merit = params[0], params[1], params[2:]
        explore = rng.random() < epsilon
        whole = 0.0
        for a in range(p.size):
            p[a] = 1.0 if explore else value(merit, total[a] / max(observed[a], 1))
            whole += p[a]
        for a in range(p.size):
            p[a] *= plays / whole

    return rule


def fgreedy_d(merit: Merit, arms: int, plays: int, epsilon: float) -> Policy:
    """FGreedy-D: in some rounds any arms at all, in the others by the merit of the means so far.

    Parameters
    ----------
    merit : Merit
        What an arm of a given mean deserves, for means in [0, 1].
    arms : int
        Number of arms K.
    plays : int
        Number of arms L that are played each round, from 1 to K.
    epsilon : float
        Probability that a round explores, in [0, 1]. The paper does not say; its public code takes 0.13.

    Returns
    -------
    Policy
        The policy. The coin that decides on exploring is tossed before the round, and the regrets count what it says.

    Raises
    ------
    TypeError, ValueError
        If a number is out of range, or some arm could need a probability above 1 (Assumption 1).

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> result = fl.simulate(game, fgreedy_d(game.merit, 4, 2, 0.0), 50_000)
    >>> bool(abs(result.share[0, -1] - game.optimal).max() < 0.02)
    True
    """
    number, chosen = _size(merit, arms, plays)
    params = [chosen, checks.real("epsilon", epsilon, 0, 1), *np.asarray(merit.params)]
    return Policy("FGreedy-D", fgreedy_d_rule(compiled(merit.value, VALUE)), params, plays=chosen, arms=number)


# ---------------------------------------------------------------------------------------------------------------------
# What is proved


class Bounds(NamedTuple):
    """Bounds on the two expected regrets.

    Parameters
    ----------
    reward : ndarray
        On the reward regret, each round's term cut at 0 (equation 5).
    fairness : ndarray
        On the fairness regret (equation 6).

    Examples
    --------
    >>> Bounds(np.float64(1.0), np.float64(2.0)).fairness
    np.float64(2.0)
    """

    reward: NDArray[np.float64]
    fairness: NDArray[np.float64]


def fcucb_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound FCUCB-D's regrets for delays that do not depend on the reward (Theorem 6, repaired and sharpened).

    With :math:`B_q` the smaller of :math:`\frac{LK}{T} + K(\lceil 24 \ln T / q \rceil + d^\star) + 2 \sqrt{2LKT/q}` and
    :math:`L(d^\star + 1) + 8 \rho K (1 + \ln K) / q + 2 \sqrt{2 \rho LKT/q}`, where :math:`\rho` is the ratio of the
    largest merit to the smallest, the reward regret is at most
    :math:`K + L + \frac{1 + \ln T}{8LK} + 2 \sqrt{\ln(4LKT)} B_q`, and the fairness regret at most
    :math:`2(K + L) + \frac{1 + \ln T}{4LK} + \frac{4M}{\lambda} \sqrt{\ln(4LKT)} B_q`.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcucb_d_bound(game, 10**6, 1.0).reward.round()
    np.float64(77561.0)
    """
    k, plays, t = game.arms.means.size, game.plays, checks.rounds("horizon", horizon)
    width = np.sqrt(np.log(4 * plays * k * t)) * _arrived(game, t, q)
    seldom = (1 + np.log(t)) / (8 * plays * k)
    return Bounds(k + plays + seldom + 2 * width, 2 * (k + plays + seldom) + 4 * _slope(game) * width)


def fcts_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound FCTS-D's regrets, on average over a uniform prior (Theorem 7, repaired and sharpened).

    The fairness regret is at most :math:`\frac{2M}{\lambda} \bigl[(\frac12 + \sqrt{\ln(2KT)}) B_q + \frac1T\bigr]` with
    :math:`B_q` as for `fcucb_d_bound`, and the reward regret at most half of that (erratum E-D2).

    Parameters
    ----------
    game : SemiBandit
        The game; of its arms only their number matters.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> fcts_d_bound(game, 10**6, 1.0).fairness.round()
    np.float64(669653.0)
    """
    k, t = game.arms.means.size, checks.rounds("horizon", horizon)
    fairness = 2 * _slope(game) * ((0.5 + np.sqrt(np.log(2 * k * t))) * _arrived(game, t, q) + 1 / t)
    return Bounds(fairness / 2, fairness)


def op_fcucb_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound OP-FCUCB-D's regrets, whatever the delays depend on (Theorem 8, sharpened).

    With :math:`C_q = L(1-q)T + K d^\star \bigl(1 + \ln(1 + \frac{LT}{K d^\star})\bigr) + 6 \sqrt{\ln(6LKT)} \sqrt{LKT}`
    the reward regret is at most :math:`K + L + \frac{2 + \ln T}{18LK} + C_q`, and the fairness regret at most
    :math:`2(K + L) + \frac{2 + \ln T}{9LK} + \frac{2M}{\lambda} C_q`.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcucb_d_bound(game, 10**6, 1.0).reward.round()
    np.float64(71377.0)
    """
    k, plays, t = game.arms.means.size, game.plays, checks.rounds("horizon", horizon)
    missing, spread = _missing(game, t, q)
    width = missing + 6 * spread
    seldom = (2 + np.log(t)) / (18 * plays * k)
    return Bounds(k + plays + seldom + width, 2 * (k + plays + seldom) + 2 * _slope(game) * width)


def op_fcts_d_bound(game: SemiBandit, horizon: ArrayLike, q: float) -> Bounds:
    r"""Bound OP-FCTS-D's regrets, whatever the delays depend on and for every mean (Theorem 9, repaired).

    The fairness regret is at most :math:`\frac{1}{2LK} + \frac{2M}{\lambda} \bigl[K + K \ln(1 + \frac{LT}{2K}) +
    \frac12 L(1-q)T + \frac12 K d^\star (1 + \ln(1 + \frac{LT}{K d^\star})) +
    5 \sqrt{\ln(6LKT)} \sqrt{LKT}\bigr]`, and the reward regret at most half of that.

    Parameters
    ----------
    game : SemiBandit
        The game.
    horizon : array_like of int
        Number of rounds T, one or many.
    q : float
        The quantile, above 0 and at most 1; the bound holds for each.

    Returns
    -------
    Bounds
        Of the shape of `horizon`; infinite where less than a share q ever arrives.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.9, 0.5, 0.5, 0.5]), plays=2, merit=power(2, 4))
    >>> op_fcts_d_bound(game, 10**6, 1.0).reward.round()
    np.float64(476234.0)
    """
    k, plays, t = game.arms.means.size, game.plays, checks.rounds("horizon", horizon)
    missing, spread = _missing(game, t, q)
    width = k * (1 + np.log1p(plays * t / (2 * k))) + missing / 2 + 5 * spread
    fairness = 1 / (2 * plays * k) + 2 * _slope(game) * width
    return Bounds(fairness / 2, fairness)


def best_quantile(bound: Callable[[SemiBandit, ArrayLike, float], Bounds], game: SemiBandit, horizon: int) -> float:
    """Find the quantile for which a bound on the fairness regret is smallest.

    Parameters
    ----------
    bound : callable
        One of the four bounds of this module.
    game : SemiBandit
        The game.
    horizon : int
        Number of rounds T.

    Returns
    -------
    float
        The best q among 0.001, 0.002, ..., 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range.

    Examples
    --------
    >>> import fairlib as fl
    >>> from fairlib.merit import power
    >>> game = SemiBandit(fl.bernoulli([0.2, 0.9]), delay=packet_loss([0.8, 0.5]), merit=power(2, 4))
    >>> best_quantile(fcucb_d_bound, game, 10**6)
    0.5
    """
    choices = [i / 1000 for i in range(1, 1001)]
    return choices[int(np.argmin([bound(game, horizon, q).fairness for q in choices]))]


def _arrived(game: SemiBandit, t: NDArray[np.int64], q: float) -> NDArray[np.float64]:
    """Bound the sum of 1 / sqrt(M) over the plays: for any plays at all, or for plays that are never rare."""
    k, plays, late = game.arms.means.size, game.plays, game.quantiles(q).max()
    ratio = _largest(game.merit) / game.merit.minimum
    any_plays = plays * k / t + k * (np.ceil(24 * np.log(t) / q) + late) + 2 * np.sqrt(2 * plays * k * t / q)
    frequent = plays * (late + 1) + 8 * ratio * k * (1 + math.log(k)) / q + 2 * np.sqrt(2 * ratio * plays * k * t / q)
    return np.minimum(any_plays, frequent)


def _missing(game: SemiBandit, t: NDArray[np.int64], q: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound the sum of the missing shares over the plays, and of the widths."""
    k, plays, late = game.arms.means.size, game.plays, game.quantiles(q).max()
    waiting = k * late * (1 + np.log1p(plays * t / (k * late))) if 0 < late < math.inf else late * t
    return plays * (1 - q) * t + waiting, np.sqrt(np.log(6 * plays * k * t)) * np.sqrt(plays * k * t)


def _share(q: float) -> float:
    share = checks.real("q", q, above=0)
    return checks.real("q", share, 0, 1)


def _slope(game: SemiBandit) -> float:
    return game.merit.lipschitz / game.merit.minimum


@lru_cache(maxsize=64)
def _largest(merit: Merit) -> float:
    return float(merit(np.linspace(merit.low, merit.high, 1001)).max())


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


def _size(merit: Merit, arms: int, plays: int) -> tuple[int, int]:
    """Take the numbers of arms and of plays, for a merit on [0, 1] that fits them."""
    number = checks.whole("arms", arms, 1)
    chosen = checks.whole("plays", plays, 1, number)
    if as_merit(merit).low > 0 or merit.high < 1:
        raise ValueError(f"merit must be for means in [0, 1], not in [{merit.low:g}, {merit.high:g}]")
    _cap(merit, number, chosen)
    return number, chosen


def _radius(radius: tuple[float, float] | None, flat: float, slope: float) -> tuple[float, float]:
    a, b = (flat, slope) if radius is None else radius
    return checks.real("radius[0]", a, 0, math.inf), checks.real("radius[1]", b, 0, math.inf)


def _rounds(name: str, value: ArrayLike, size: int | None = None) -> NDArray[np.float64]:
    """Take delays: whole numbers of at least 0, or infinity."""
    try:
        late = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a list of whole numbers of rounds, not {value!r}") from error
    if late.ndim != 1 or late.size == 0:
        raise ValueError(f"{name} must be a list of at least one delay, not {value!r}")
    with np.errstate(invalid="ignore"):
        bad = ~((late >= 0) & (np.isinf(late) | (late == np.floor(late))))
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(
            f"{name} must be whole numbers of at least 0, or infinity for never, not {late[arm]:g} (arm {arm})"
        )
    return late if size is None else _as_many(name, late, size)


def _probabilities(name: str, value: ArrayLike, size: int | None = None, above: float = -math.inf) -> Any:
    p = checks.vector(name, value, 0, 1)
    if (p <= above).any():
        arm = int((p <= above).argmax())
        raise ValueError(f"{name} must be numbers in (0, 1], not {p[arm]} (arm {arm})")
    return p if size is None else _as_many(name, p, size)


def _as_many(name: str, numbers: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    if numbers.size != size:
        raise ValueError(f"{name} must have {size} numbers, one an arm, not {numbers.size}")
    return numbers


def _never(late: NDArray[np.float64]) -> NDArray[np.float64]:
    """Write the engine's sign for never, a negative number, where a delay is infinite (or past counting)."""
    return np.where(late < 1e15, late, -1.0)


def _named(law: str, numbers: NDArray[np.float64]) -> str:
    return f"{law} {numbers[0]:g}" if (numbers == numbers[0]).all() else law
