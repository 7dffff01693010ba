"""How late the feedback is: laws of the delay whose quantiles are known. Your own is a `fairlib.Delay`."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from fairlib import checks
from fairlib.checks import checked
from fairlib.core import Array, Delay

__all__ = [
    "Law",
    "fixed_draw",
    "fixed",
    "geometric_draw",
    "geometric",
    "pareto_draw",
    "pareto",
    "packet_loss_draw",
    "packet_loss",
    "biased_draw",
    "biased",
    "log_normal_draw",
    "log_normal",
    "empirical_draw",
    "empirical",
]


def _whole_rounds(name: str, value: Any) -> Array:
    """Take a list of whole numbers of rounds, or infinity for never, one for each arm."""
    late = checks.floats(name, value, "a list of whole numbers of rounds")
    if late.ndim != 1 or late.size == 0:
        raise ValueError(f"{name} must be a list of at least one delay, not {checks.shown(value)}")
    with np.errstate(invalid="ignore"):
        bad = ~((late >= 0) & (np.isinf(late) | (late == np.floor(late))))
    if bad.any():
        arm = int(bad.argmax())
        raise ValueError(
            f"{name} must be whole numbers of at least 0, or infinity for never, not {late[arm]:g} (arm {arm})"
        )
    return late


Rounds = Annotated[ArrayLike, checks.Constraint(_whole_rounds)]


class Law(Delay):
    """A delay whose quantiles are known; made by `fixed`, `geometric`, `pareto` and the others of this file.

    Parameters
    ----------
    draw : callable
        Returns how many rounds late a reward is, as for `Delay`.
    name : str
        Its name in figures.
    quantiles : callable
        ``quantiles(q, means)`` returns, per arm, the smallest number of rounds within which a share q of the rewards
        arrives (equation 2), infinite where less than that ever arrives. The arms' means matter only where the delay
        depends on the reward.
    **settings
        The settings of `draw`.

    Examples
    --------
    >>> law = geometric([0.5, 0.05])
    >>> law.quantiles(0.9, np.zeros(2))
    array([ 4., 45.])
    """

    @checked
    def __init__(
        self,
        draw: Annotated[Callable[..., float], checks.Function()],
        *,
        name: Annotated[str, checks.Text()],
        quantiles: Annotated[Callable[[float, Array], Array], checks.Function()],
        **settings: ArrayLike,
    ) -> None:
        super().__init__(draw, name=name, **settings)
        self.quantiles = quantiles


def fixed_draw(rounds):
    """Return the arm's one delay."""
    return rounds


def _fixed_quantiles(late: Array, q: float, means: Array) -> Array:
    """Return the quantiles of each arm's delay."""
    return late.copy()


@checked
def fixed(rounds: Rounds) -> Law:
    """Make every reward of an arm equally late.

    Parameters
    ----------
    rounds : array_like, shape (K,)
        The delay of each arm in rounds, a whole number of at least 0; infinity for never.

    Returns
    -------
    Law
        The delay law.

    Examples
    --------
    >>> fixed([0, 2.5])
    Traceback (most recent call last):
    ValueError: rounds must be whole numbers of at least 0, or infinity for never, not 2.5 (arm 1)
    """
    late = np.asarray(rounds)
    name = f"fixed {late[0]:g}" if (late == late[0]).all() else "fixed"
    return Law(fixed_draw, name=name, quantiles=partial(_fixed_quantiles, late), rounds=late)


def geometric_draw(scale, rng):
    """Return the tosses up to the first success: an exponential variate, rounded up; infinite beyond 10^15."""
    late = scale * rng.standard_exponential()
    return 1.0 + math.floor(late) if late < 1e15 else math.inf


def _geometric_quantiles(p: Array, q: float, means: Array) -> Array:
    """Return the quantiles of each arm's delay."""
    with np.errstate(divide="ignore"):
        return np.maximum(1, np.ceil(np.log1p(-q) / np.log1p(-p) - 1e-12)) if q < 1 else np.where(p < 1, np.inf, 1)


@checked
def geometric(probability: Annotated[ArrayLike, checks.Numbers(high=1, above=0)]) -> Law:
    """Let a reward arrive with a fixed probability in each round that follows: delays 1, 2, 3, ...

    Parameters
    ----------
    probability : array_like, shape (K,)
        Probability of arriving in the next round, above 0 and at most 1; the mean delay is 1 over it. A delay of more
        than 10^15 rounds counts as never.

    Returns
    -------
    Law
        The delay law.

    Examples
    --------
    >>> geometric([0.05]).quantiles(0.5, np.zeros(1))
    array([14.])
    """
    p = np.asarray(probability)

    with np.errstate(divide="ignore", over="ignore"):
        scale = -1 / np.log1p(-p)
    return Law(geometric_draw, name=_named("geometric", p), quantiles=partial(_geometric_quantiles, p), scale=scale)


def pareto_draw(index, rng):
    """Return a Pareto delay of scale 1, rounded up; infinite beyond 10^15."""
    power = -math.log(1.0 - rng.random()) / index
    return math.ceil(math.exp(power)) if power < 34.0 else math.inf


def _pareto_quantiles(alpha: Array, q: float, means: Array) -> Array:
    """Return the quantiles of each arm's delay."""
    with np.errstate(over="ignore"):
        late = np.power(1 - q, -1 / alpha) if q < 1 else np.full_like(alpha, np.inf)
        return np.ceil(late * (1 - 1e-12))


@checked
def pareto(index: Annotated[ArrayLike, checks.Numbers(above=0)]) -> Law:
    r"""Give delays heavy tails: a reward is still missing after z rounds with probability :math:`z^{-\alpha}`.

    Parameters
    ----------
    index : array_like, shape (K,)
        The tail index :math:`\alpha` of each arm, above 0; at 1 or below the mean delay is infinite.

    Returns
    -------
    Law
        The delay law, a Pareto variate of scale 1 rounded up to whole rounds.

    Examples
    --------
    >>> pareto([1.0, 0.5]).quantiles(0.9, np.zeros(2))
    array([ 10., 100.])
    """
    alpha = np.asarray(index)

    return Law(pareto_draw, name=_named("Pareto", alpha), quantiles=partial(_pareto_quantiles, alpha), index=alpha)


def packet_loss_draw(arrives, when_zero, reward, rng):
    """Return 0, or never: the chance depends on the arm, and perhaps on the reward."""
    return 0.0 if rng.random() < (arrives if reward > 0.5 else when_zero) else math.inf


def _packet_loss_quantiles(one: Array, zero: Array, q: float, means: Array) -> Array:
    """Return the quantiles of each arm's delay."""
    return np.where(q <= means * one + (1 - means) * zero + 1e-12, 0.0, np.inf)


@checked
def packet_loss(
    arrives: Annotated[ArrayLike, checks.Numbers(0, 1)],
    when_zero: Annotated[ArrayLike, checks.Numbers(0, 1)] | None = None,
) -> Law:
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

    Examples
    --------
    >>> packet_loss([0.8, 0.4]).quantiles(0.5, np.zeros(2))
    array([ 0., inf])
    """
    one = np.asarray(arrives)
    zero = one if when_zero is None else _as_many("when_zero", np.asarray(when_zero), one.size)

    name = _named("packet loss", one) if when_zero is None else "packet loss by reward"
    return Law(
        packet_loss_draw, name=name, quantiles=partial(_packet_loss_quantiles, one, zero), arrives=one, when_zero=zero
    )


def biased_draw(when_one, when_zero, reward):
    """Return one delay for a success and another for a failure."""
    return when_one if reward > 0.5 else when_zero


def _biased_quantiles(one: Array, zero: Array, q: float, means: Array) -> Array:
    """Return the quantiles of each arm's delay."""
    early = np.where(one <= zero, means, 1 - means) + np.where(one == zero, 1 - means, 0)
    return np.where(q <= early + 1e-12, np.minimum(one, zero), np.maximum(one, zero))


@checked
def biased(when_one: Rounds, when_zero: Rounds) -> Law:
    """Let the delay depend on the reward: rewards are 0 or 1, and each of the two has a delay of its own.

    Parameters
    ----------
    when_one, when_zero : array_like, shape (K,)
        The delay of a reward of 1, and of 0, for each arm; whole numbers of at least 0, infinity for never.

    Returns
    -------
    Law
        The delay law.

    Examples
    --------
    >>> biased([6000, 0], [0, 6000]).quantiles(0.5, np.array([0.9, 0.3]))
    array([6000., 6000.])
    """
    one = np.asarray(when_one)
    zero = _as_many("when_zero", np.asarray(when_zero), one.size)

    return Law(
        biased_draw, name="biased", quantiles=partial(_biased_quantiles, one, zero), when_one=one, when_zero=zero
    )


def log_normal_draw(centre, sigma, rng):
    """Return a log-normal delay, rounded down; infinite beyond 10^15."""
    power = rng.normal(centre, sigma)
    return math.floor(math.exp(power)) if power < 34.0 else math.inf


def _log_normal_quantiles(centre: Array, sigma: Array, q: float, means: Array) -> Array:
    """Return the quantiles of each arm's delay."""
    from scipy.special import ndtri  # here, as the import of the package must stay quick

    with np.errstate(over="ignore"):
        return np.floor(np.exp(centre + sigma * ndtri(q)) + 1e-9)


@checked
def log_normal(
    median: Annotated[ArrayLike, checks.Numbers(above=0)], spread: Annotated[ArrayLike, checks.Numbers(above=0)]
) -> Law:
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

    Examples
    --------
    >>> log_normal([100], [2.0]).quantiles(0.5, np.zeros(1))
    array([100.])
    """
    centre = np.log(np.asarray(median))
    sigma = _as_many("spread", np.asarray(spread), centre.size)

    return Law(
        log_normal_draw,
        name="log-normal",
        quantiles=partial(_log_normal_quantiles, centre, sigma),
        centre=centre,
        sigma=sigma,
    )


def empirical_draw(number, delays, rng):
    """Return one of the arm's recorded delays."""
    return delays[int(rng.random() * number)]


def _empirical_quantiles(samples: list[Array], q: float, means: Array) -> Array:
    """Return the quantiles of each arm's delay."""
    return np.array([sample[max(0, math.ceil(q * len(sample) - 1e-9) - 1)] for sample in samples])


def empirical(delays: Sequence[ArrayLike]) -> Law:
    """Draw delays again from recorded ones.

    Parameters
    ----------
    delays : sequence of array_like
        For each arm the delays that were recorded, in rounds; infinity for rewards that never came.

    Returns
    -------
    Law
        The delay law.

    Examples
    --------
    >>> empirical([[0, 3, 3, 10], [7]]).quantiles(0.75, np.zeros(2))
    array([3., 7.])
    """
    listed = isinstance(delays, Sequence | np.ndarray) and not isinstance(delays, str)
    if not listed or getattr(delays, "shape", None) == () or len(delays) == 0:
        raise TypeError(f"delays must be a list with a list of delays for each arm, not {checks.shown(delays)}")
    samples = [np.sort(checks.Constraint(_whole_rounds)(f"delays[{a}]", sample)) for a, sample in enumerate(delays)]
    table = np.zeros((len(samples), max(map(len, samples))))
    for row, sample in zip(table, samples, strict=True):
        row[: len(sample)] = sample
    numbers = np.array([len(sample) for sample in samples], dtype=np.float64)

    return Law(
        empirical_draw, name="empirical", quantiles=partial(_empirical_quantiles, samples), number=numbers, delays=table
    )


def _as_many(name: str, numbers: Array, size: int) -> Array:
    if numbers.size != size:
        raise ValueError(f"{name} must have {size} numbers, one an arm, not {numbers.size}")
    return numbers


def _named(law: str, numbers: Array) -> str:
    return f"{law} {numbers[0]:g}" if (numbers == numbers[0]).all() else law
