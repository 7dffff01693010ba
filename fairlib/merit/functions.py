"""Merit functions, and the fair policy that they define."""

import math
import sys
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from numba import float64
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import NonNegative, Positive, PositiveScale, checked
from fairlib.core import Rule, helper, is_there, share_out
from fairlib.merit.step import (
    Box,
    MeritFunctions,
    best_in_box,
    dinkelbach,
    exponential_in_box,
    search_best,
    upper_ends,
)
from fairlib.rules.bound_rule import BoundRule
from fairlib.rules.layout import Layout, Pluggable
from fairlib.rules.signature import CallSignature

__all__ = [
    "VALUE",
    "BEST",
    "SOLVE",
    "Merit",
    "exponential_value",
    "exponential_best",
    "exponential",
    "power_value",
    "power_best",
    "power",
    "clipped_value",
    "clipped_best",
    "clipped",
    "merit_modulus",
    "fair_policy",
    "cut",
    "largest_merit",
    "play_by_merit",
    "optimistic_means",
]

VALUE = CallSignature(
    what="a merit function",
    flat="params, x",
    gives={"x": "x"},
    signature=float64(float64[::1], float64),
)
"""How a merit function is called."""

BEST = CallSignature(
    what="the arm-by-arm maximiser of a merit function",
    flat="params, low, high, c",
    gives={"low": "low", "high": "high", "c": "c"},
    signature=float64(float64[::1], float64, float64, float64),
)
"""How a function that maximises ``f(x) (x - c)`` over an interval is called."""

SOLVE = CallSignature(
    what="the optimistic step of a merit function",
    flat="merit, low, high, mu",
    gives={name: name for name in ("merit", "low", "high", "mu")},
    signature=None,  # it is only ever called by rules
    numbers="merit.params",
)
"""How a function that fills in the optimistic means of a box is called."""


Slope = Annotated[float, checks.Real(0, sys.float_info.max, infinity=True)]


class Merit(Pluggable):
    """A merit function on a range of means; made by `exponential`, `power` or `clipped`, or from your own function.

    Parameters
    ----------
    name : str
        Its name in figures.
    value : callable
        Returns the merit of an arm of mean `x`, which it asks for; its other arguments are settings. It is plain Python
        with `math`, may call other functions of the reader's, and is compiled with the policies that play by it.
    best : callable, optional
        Asks for `low`, `high` and `c` and returns the x in [low, high] that maximises ``f(x) * (x - c)``; its other
        arguments are settings. By default the maximum is searched for, which takes some hundred calls of `value`.
    low, high : float
        The range of means that the merit is for.
    minimum : float
        Smallest merit on the range, above 0, or any smaller positive number.
    lipschitz : float
        Largest slope of the merit on the range; ``math.inf`` if there is none.
    log_lipschitz : float
        Largest slope of its logarithm; ``math.inf`` if there is none.
    rising : bool
        Whether a larger mean never has a smaller merit. Then the largest merit in an interval is that of its upper
        end, and need not be searched for.
    solve : callable, optional
        The optimistic step where it can be taken faster than by Dinkelbach's iteration: asks for `low`, `high` and
        `mu`, and fills `mu`.
    **settings
        The settings of `value`, `best` and `solve`, by the names of their arguments.

    Attributes
    ----------
    maximum : float
        The largest merit on a grid of 1,001 points of the range.
    takes_upper_ends : bool
        Whether the optimistic step is known to take the upper end of every interval.

    Raises
    ------
    TypeError, ValueError
        If somewhere on a grid of 1,001 points of the range the merit is not a positive number of at most 1e305, is
        below `minimum` or steeper than its slopes say, or falls although it is `rising`. What `best` and `solve` return
        is not checked.

    Examples
    --------
    >>> merit = exponential(2.0)
    >>> merit([0.0, 0.5]).round(3)
    array([1.   , 2.718])

    A merit function of your own:

    >>> def line(x, slope):
    ...     return 1.0 + slope * x
    >>> own = Merit("line", line, low=0, high=1, minimum=1, lipschitz=3, log_lipschitz=3, slope=3.0)
    >>> own([0.0, 1.0])
    array([1., 4.])
    """

    described_as = "a Merit, such as exponential(2)"

    @checked
    def __init__(
        self,
        name: Annotated[str, checks.Text()],
        value: Callable[..., float],
        best: Callable[..., float] | None = None,
        *,
        low: Annotated[float, checks.Real()],
        high: Annotated[float, checks.Real()],
        minimum: Annotated[float, checks.Real(above=0)],
        lipschitz: Slope,
        log_lipschitz: Slope,
        rising: Annotated[bool, checks.Flag()] = False,
        solve: Callable[..., None] | None = None,
        **settings: Any,
    ) -> None:
        self.name, self.value, self.low, self.high, self.minimum = name, value, low, high, minimum
        if not (np.diff(np.linspace(self.low, self.high, 1001)) > 0).all():
            raise ValueError(f"high must be above low, {self.low}, by more than rounding errors, not {self.high}")
        self.lipschitz, self.log_lipschitz, self.rising = lipschitz, log_lipschitz, rising
        self.takes_upper_ends = solve is upper_ends
        self._parts: dict[str, BoundRule] = {}
        for part, function, form in (("value", value, VALUE), ("best", best, BEST), ("solve", solve, SOLVE)):
            if function is not None or part == "value":
                rule = function if isinstance(function, Rule) else Rule(checks.function(part, function))
                asked = {each: setting for each, setting in settings.items() if each in rule.arguments}
                self._parts[part] = BoundRule(rule, form, asked)
        known = {each for part in self._parts.values() for each in part.settings}
        if strange := [each for each in settings if each not in known]:
            raise TypeError(f"the merit {name!r} has no function that is set with {strange[0]!r}")
        self.settings = {each: value for part in self._parts.values() for each, value in part.settings.items()}
        self._look()

    def __call__(self, means: ArrayLike) -> NDArray[np.float64]:
        """Return the merit of each mean.

        Parameters
        ----------
        means : array_like
            Means, of any shape, in the range of the merit function.

        Returns
        -------
        ndarray
            Merits, of the same shape.

        Examples
        --------
        >>> power(2, 4)([0.0, 1.0])
        array([1., 3.])
        """
        value, x = self.functions, checks.array("means", means, low=self.low, high=self.high)
        return np.array([value.value(value.params, each) for each in x.ravel().tolist()], np.float64).reshape(x.shape)

    def __repr__(self) -> str:
        return f"Merit({self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a pickle what each process makes itself."""
        return {name: value for name, value in vars(self).items() if name != "_functions"}

    @property
    def functions(self) -> MeritFunctions:
        """The merit as rules have it, in plain Python."""
        if "_functions" not in vars(self):
            layout = Layout(by_arm=False)
            self._functions = layout.evaluated(self.lay_out(layout, ""))
        return self._functions

    def lay_out(self, layout: Layout, prefix: str) -> str:
        """Write the merit function into the text of a rule that plays by it."""
        inner = Layout(by_arm=False)
        for part, bound in self._parts.items():
            bound.write(inner, f"{prefix}{part}_")
        layout.take(inner)
        if "best" not in self._parts:
            layout.functions["search_best"] = search_best
            search = f"search_best({prefix}value_flat, params, low, high, 1.0, c)"
            layout.texts.append(f"def {prefix}best_flat({BEST.flat}):\n    return {search}")
        layout.functions |= {"MeritFunctions": MeritFunctions, "dinkelbach": dinkelbach}
        solve = f"{prefix}solve_flat" if "solve" in self._parts else "dinkelbach"
        ends = [layout.number(each) for each in (self.low, self.high, float(self.rising))]
        numbers = [layout.array(inner), *ends]
        return f"MeritFunctions({prefix}value_flat, {prefix}best_flat, {solve}, {', '.join(numbers)})"

    def _look(self) -> None:
        """Refuse a function that a grid shows to be no merit function, or not to have the stated properties."""
        grid, said = np.linspace(self.low, self.high, 1001), f"the merit {self.name!r} must"
        play = self.functions
        try:
            value = play.value(play.params, self.low)
        except Exception as error:
            raise TypeError(f"{said} be a number at each mean, but its function can't be called: {error}") from error
        if not isinstance(value, float | int | np.floating | np.integer):
            raise TypeError(f"{said} be a number at each mean, not {checks.shown(value)}")
        merits = self(grid)
        bad = ~(np.isfinite(merits) & (merits > 0))
        if bad.any():
            at = int(np.argmax(bad))
            raise ValueError(
                f"{said} be a positive number from {self.low:g} to {self.high:g}; at {grid[at]:g} it is {merits[at]}"
            )
        self.maximum = float(merits.max())
        if self.maximum > 1e305:
            raise ValueError(f"{said} be at most 1e305, so that merits can be summed, not {self.maximum}")
        if merits.min() < self.minimum * (1 - 1e-9):
            raise ValueError(
                f"minimum must be at most {merits.min():g}, what {self.name!r} has at "
                f"{grid[merits.argmin()]:g}, not {self.minimum:g}"
            )
        for name, values in (("lipschitz", merits), ("log_lipschitz", np.log(merits))):
            slopes = np.abs(np.diff(values)) / np.diff(grid)
            if slopes.max() > getattr(self, name) * (1 + 1e-6) + 1e-9:
                raise ValueError(
                    f"{name} must be at least {slopes.max():g}, the slope of {self.name!r} near "
                    f"{grid[slopes.argmax()]:g}, not {getattr(self, name):g}"
                )
        if self.rising and (np.diff(merits) < -1e-12 * merits[:-1]).any():
            at = grid[int(np.argmax(np.diff(merits) < -1e-12 * merits[:-1]))]
            raise ValueError(f"rising must be False: {self.name!r} falls near {at:g}")


def exponential_value(steepness, x):
    """Return exp(steepness x)."""
    return math.exp(steepness * x)


def exponential_best(steepness, low, high, c):
    """Choose between the ends: f(x)(x - c) falls up to c - 1/steepness, and rises from there."""
    weight = math.exp(steepness * (high - low))  # relative to the low end, so that nothing overflows
    return high if weight * (high - c) >= low - c else low


@checked
def exponential(
    steepness: PositiveScale, low: Annotated[float, checks.Real()] = 0.0, high: Annotated[float, checks.Real()] = 1.0
) -> Merit:
    r"""Exponential merit, :math:`f(x) = e^{c x}`.

    Parameters
    ----------
    steepness : float
        The steepness c, above 0: twice the merit for every ``ln 2 / c`` of mean.
    low, high : float
        The range of means.

    Returns
    -------
    Merit
        The merit function.

    Raises
    ------
    TypeError, ValueError
        If the steepness is not a positive number, or so large that the merit overflows on the range.

    Examples
    --------
    >>> exponential(4).log_lipschitz
    4.0
    """
    largest = max(abs(low), abs(high))
    if steepness * largest > 700:
        raise ValueError(f"steepness must be at most {700 / largest:g} on this range, not {steepness:g}")
    return Merit(
        f"exp({steepness:g}x)",
        exponential_value,
        exponential_best,
        low=low,
        high=high,
        minimum=math.exp(steepness * low),
        lipschitz=steepness * math.exp(steepness * high),
        log_lipschitz=steepness,
        rising=True,
        solve=exponential_in_box,
        steepness=steepness,
    )


def power_value(scale, exponent, x):
    """Return 1 + A x^p."""
    return 1.0 + scale * x**exponent


def power_best(scale, exponent, low, high, c):
    """Choose among the ends and the one stationary point that can be a maximum, the smaller of two."""
    p = exponent
    chosen = high
    largest = (1.0 + scale * high**p) * (high - c)
    other = (1.0 + scale * low**p) * (low - c)
    if other > largest:
        chosen, largest = low, other
    if p > 1.0 and c > 0.0 and scale * c**p * ((p - 1.0) / (p + 1.0)) ** (p - 1.0) > 1.0:
        # The derivative, 1 - A x^(p - 1) (p c - (p + 1) x), vanishes where the logarithm of what is taken from 1 does.
        # That logarithm is concave and rises up to the point of inflexion, so Newton's steps from below never pass
        # the root: they are done when they no longer grow.
        root = max((scale * p * c) ** (-1.0 / (p - 1.0)), 1e-300)
        for _ in range(100):
            rest = p * c - (p + 1.0) * root
            step = (math.log(scale) + (p - 1.0) * math.log(root) + math.log(rest)) / (
                (p - 1.0) / root - (p + 1.0) / rest
            )
            if not root - step > root:
                break
            root -= step
        x = min(max(root, low), high)
        if (1.0 + scale * x**p) * (x - c) > largest:
            chosen = x
    return chosen


@checked
def power(scale: Positive, exponent: Annotated[float, checks.Real(1, 1e6)]) -> Merit:
    r"""Power merit on [0, 1], :math:`f(x) = 1 + A x^p`.

    Parameters
    ----------
    scale : float
        The factor A, above 0.
    exponent : float
        The exponent p, from 1 to a million.

    Returns
    -------
    Merit
        The merit function.

    Examples
    --------
    >>> power(2, 4).lipschitz
    8.0
    """
    # With A the scale and p the exponent, A p x^(p-1) / (1 + A x^p) is largest where A x^p = p - 1, or at 1 if that is
    # outside.
    x = min(((exponent - 1.0) / scale) ** (1.0 / exponent), 1.0)
    log_slope = scale * exponent * x ** (exponent - 1.0) / (1.0 + scale * x**exponent)
    # Where A ((p - 1) / (p + 1))^(p - 1) is at most 1, f(x)(x - c) grows with x whatever c (erratum E-D21).
    grows = scale * ((exponent - 1) / (exponent + 1)) ** (exponent - 1) <= 1
    return Merit(
        f"1 + {scale:g}x^{exponent:g}",
        power_value,
        power_best,
        low=0.0,
        high=1.0,
        minimum=1.0,
        lipschitz=scale * exponent,
        log_lipschitz=log_slope,
        rising=True,
        solve=upper_ends if grows else None,
        scale=scale,
        exponent=exponent,
    )


def clipped_value(floor, x):
    """Return x, but not less than the floor."""
    return max(x, floor)


def clipped_best(floor, low, high, c):
    """Choose among the ends and the floor, where f(x)(x - c) can turn from rising to falling."""
    chosen = high
    largest = max(high, floor) * (high - c)
    for x in (low, min(max(floor, low), high)):
        if max(x, floor) * (x - c) > largest:
            chosen, largest = x, max(x, floor) * (x - c)
    return chosen


@checked
def clipped(floor: Positive, high: float = 1.0) -> Merit:
    r"""Merit equal to the mean itself, but not below a floor: :math:`f(x) = \max(x, \gamma)` on [0, `high`].

    Parameters
    ----------
    floor : float
        The smallest merit, above 0.
    high : float
        Largest mean, above the floor.

    Returns
    -------
    Merit
        The merit function.

    Examples
    --------
    >>> clipped(0.1)([0.0, 0.5])
    array([0.1, 0.5])
    """
    return Merit(
        f"max(x, {floor:g})",
        clipped_value,
        clipped_best,
        low=0.0,
        high=checks.real("high", high, above=floor),
        minimum=floor,
        lipschitz=1.0,
        log_lipschitz=1.0 / floor,
        rising=True,
        floor=floor,
    )


@checked
def merit_modulus(merit: Merit, distance: NonNegative) -> float:
    r"""Modulus of continuity of the logarithm of a merit function: how far merits of close means can be apart.

    .. math:: \omega(\delta) = \sup \{ |\ln f(x) - \ln f(y)| : |x - y| \le \delta \}

    Parameters
    ----------
    merit : Merit
        The merit function f, on its range.
    distance : float
        The distance :math:`\delta` of the means, at least 0.

    Returns
    -------
    float
        The modulus, from below: it is looked for on a grid of 1,001 means and 33 distances, which is made finer around
        the best pair. It is exact up to rounding if that pair is next to the right one.

    Examples
    --------
    >>> round(merit_modulus(exponential(4), 0.1), 9)
    0.4
    >>> round(math.exp(merit_modulus(clipped(0.01), 0.1)), 9)  # from a merit of 0.01 to one of 0.11
    11.0
    """
    width, found = min(distance, merit.high - merit.low), 0.0
    x, way = np.linspace(merit.low, merit.high, 1001), np.linspace(-width, width, 33)
    if merit.rising:  # then the farthest of two means are best
        x, way = np.linspace(merit.low, merit.high - width, 1001), np.array([width])
    for _ in range(12):
        there = np.clip(x[:, None] + way, merit.low, merit.high)
        apart = np.abs(np.log(merit(there)) - np.log(merit(x))[:, None])
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        found = max(found, float(apart[i, j]))
        x, way = _finer(x, int(i)), _finer(way, int(j))
    return found


def _finer(grid: NDArray[np.float64], i: int) -> NDArray[np.float64]:
    """Return a grid between the neighbours of one of its points, with that point and both ends."""
    if grid.size == 1:
        return grid
    left, right = grid[max(i - 1, 0)], grid[min(i + 1, grid.size - 1)]
    return np.unique([*np.linspace(left, grid[i], 13), *np.linspace(grid[i], right, 13)])


@checked
def fair_policy(
    merit: Merit,
    means: ArrayLike,
    plays: int = 1,
) -> NDArray[np.float64]:
    r"""Return the one policy that gives each arm exposure in proportion to its merit, and to none more than 1.

    .. math:: \pi^\star(a) = \min\bigl(1, k f(\mu_a)\bigr) , \qquad \sum_a \pi^\star(a) = L

    With one play a round, L = 1, that is Theorem 3.1.1 of Wang et al. With several it is Theorem 3 of Chen et al. as
    long as no arm reaches 1, which their Assumption 1 ensures: no merit above (K-1)/(L-1) times another.

    Parameters
    ----------
    merit : Merit
        The merit function.
    means : array_like, shape (K,)
        Mean reward of each arm, in the merit's range.
    plays : int
        Number of arms L that are played each round, from 1 to K.

    Returns
    -------
    ndarray, shape (K,)
        Probability of each arm; they sum to L.

    Examples
    --------
    >>> fair_policy(clipped(0.1), [0.6, 0.2])
    array([0.75, 0.25])
    >>> fair_policy(power(2, 4), [0.9, 0.5, 0.5, 0.5], plays=2).round(3)
    array([0.813, 0.396, 0.396, 0.396])
    >>> fair_policy(power(9, 1), [1.0, 0.0, 0.0], plays=2)
    array([1. , 0.5, 0.5])
    """
    merits = merit(checks.vector("means", means, merit.low, merit.high))
    shares = checks.integer("plays", plays, 1, merits.size) * merits / merits.sum()
    if shares.max() > 1 + 1e-9:  # some arm is in every round, and the others share the rest
        share_out(merits, plays)
        return merits
    return shares


@helper
def cut(x: float, merit: MeritFunctions) -> float:
    """Cut a mean to the range of a merit function.

    Parameters
    ----------
    x : float
        The mean.
    merit : MeritFunctions
        The merit function, a setting of the rule.

    Returns
    -------
    float
        The nearest mean that the merit function is for.

    Examples
    --------
    >>> float(cut(1.2, exponential(2).functions))
    1.0
    """
    return min(max(x, merit.low), merit.high)


@helper
def largest_merit(merit: MeritFunctions, low: float, high: float) -> float:
    """Return the largest merit in an interval of means, each moved to the nearest point of the merit's range.

    Parameters
    ----------
    merit : MeritFunctions
        The merit function, a setting of the rule.
    low, high : float
        The ends of the interval, infinity allowed.

    Returns
    -------
    float
        The merit: that of the upper end if the merit is rising, otherwise the largest that a search finds.

    Examples
    --------
    >>> float(largest_merit(clipped(0.1).functions, 0.2, 1.7))
    1.0
    """
    top = cut(high, merit)
    if merit.rising == 0.0 and low < high:
        top = search_best(merit.value, merit.params, cut(low, merit), top, 0.0, -1.0)
    return merit.value(merit.params, top)


@helper
def play_by_merit(merit: MeritFunctions, means: Any, plays: int, p: Any, available: Any = None) -> None:
    """Play in proportion to the merit of some means, among the arms that are there.

    Parameters
    ----------
    merit : MeritFunctions
        The merit function, a setting of the rule.
    means : ndarray, shape (K,)
        The means, in the merit's range; `p` itself is allowed.
    plays : int
        How many arms are played.
    p : ndarray, shape (K,)
        Receives the probabilities.
    available : ndarray of int, shape (K,), optional
        1 for each arm that is there, else 0; without it all are there.

    Examples
    --------
    >>> p = np.array([0.6, 0.2])
    >>> play_by_merit(clipped(0.1).functions, p, 1, p)
    >>> p
    array([0.75, 0.25])
    """
    for a in range(p.size):
        if is_there(a, available):
            p[a] = merit.value(merit.params, means[a])
    share_out(p, plays, available)


@checked
def optimistic_means(
    merit: Merit,
    low: ArrayLike,
    high: ArrayLike,
) -> NDArray[np.float64]:
    """Find the means in a box for which the fair policy earns most, exactly.

    Parameters
    ----------
    merit : Merit
        The merit function.
    low, high : array_like, shape (K,)
        Smallest and largest mean of each arm, in the merit's range.

    Returns
    -------
    ndarray, shape (K,)
        The optimistic means.

    Examples
    --------
    >>> optimistic_means(exponential(2), [0.0, 0.4], [0.2, 0.9])
    array([0. , 0.9])
    """
    floor = checks.vector("low", low, merit.low, merit.high)
    roof = checks.vector("high", high, merit.low, merit.high)
    if floor.size != roof.size:
        raise ValueError(f"high must have one number an arm, as low has ({floor.size}), not {roof.size}")
    if (floor > roof).any():
        arm = int(np.argmax(floor > roof))
        raise ValueError(f"low must be at most high, {roof[arm]}, not {floor[arm]} (arm {arm})")
    box = Box(floor, roof, np.empty(floor.size))
    best_in_box(merit.functions, box)
    return box.mu
