"""What a trial of a bound is: its games, the horizon where it bites, and the verdict."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta

import fairlib as fl

RUNS = 1000
QUICK = 20  # runs of the one game that `make test` plays
FEWER = 12  # of Fair-Greedy, which looks through all of the past in every round: so few can tell a share of a half
NUMBER = 6  # games for each bound: five drawn, and one at the sharp end

# A mean counts as above a bound if it is 4.5 standard errors above it: by chance that is 1 in 300,000, and all trials
# together make some thousands of comparisons. The intervals of shares, some hundred, leave out 1 in 1,000.
ERRORS = 4.5
LEFT_OUT = 1e-3


class Verdict(NamedTuple):
    """What came of one game."""

    word: str
    """`held`, `violated`, `open` if there are too few runs to tell, or `vacuous`."""
    tightness: float = math.nan
    """What the theorem speaks of (a mean or a quantile) over the bound: 1 leaves no room."""
    violations: int = 0
    """Runs above a bound that is to hold for most of them."""
    low: float = math.nan
    """The interval of the share of violations that the runs allow for, from here"""
    high: float = math.nan
    """to there; or the mean less and plus its standard errors, over the bound."""


def judge(values: Any, bound: Any, most: Any, failure: float | None, *, below: bool = False) -> Verdict:
    """Judge a bound by runs, shape (runs, R), where bound and most are known in each of R rounds.

    The bound is on the mean if `failure` is None, and otherwise one that at most this share of all runs may violate. If
    `below`, it is one from below, and `most` is the least that can happen.
    """
    sign = -1.0 if below else 1.0
    bites = sign * np.asarray(bound) < sign * np.asarray(most)
    if not bites.any():
        return Verdict("vacuous")
    seen, limit = np.asarray(values)[:, bites], np.asarray(bound)[bites]
    runs = len(seen)
    if failure is None:
        mean, error = seen.mean(axis=0), ERRORS * seen.std(axis=0, ddof=1) / math.sqrt(runs)
        at = int(np.argmax(sign * (mean - limit) / np.abs(limit)))
        low, high = ((mean + side * error) / limit for side in (-1, 1))
        # Rounding is no violation: where every run is the same a bound can be met to the last digit.
        above = (sign * (mean - limit) - error > 1e-9 * np.abs(limit)).any()
        held = (sign * (mean - limit) + error <= 1e-9 * np.abs(limit)).all()
        tightness = mean[at] / limit[at]
        word = "violated" if above else "held" if held else "open"
        return Verdict(word, float(1 / tightness if below else tightness), 0, float(low[at]), float(high[at]))
    over = int((sign * (seen - limit) > 1e-9 * np.abs(limit)).any(axis=1).sum())
    low = float(beta.ppf(LEFT_OUT / 2, over, runs - over + 1)) if over else 0.0
    high = float(beta.ppf(1 - LEFT_OUT / 2, over + 1, runs - over)) if over < runs else 1.0
    ratios = (limit / seen if below else seen / limit).max(axis=1)
    word = "violated" if low > failure else "held" if high <= failure else "open"
    return Verdict(word, float(np.quantile(ratios, 1 - failure)), over, low, high)


class Case(NamedTuple):
    """A game in which a bound is tried: the rounds that are looked at, what holds in each, and the play."""

    game: str
    rounds: Any
    bound: Any
    most: Any
    play: Callable[[int], Any]
    """Plays so many runs, and returns what the bound is on, shape (runs, R)."""
    worst: Callable[[], Any]
    """Plays the worst policy, or the worst luck, and returns what the bound is on, shape (runs, R), for which `most` is
    the mean. If `below`, it plays the best."""
    failure: float | None = None
    below: bool = False


LADDER = [int(digit * 10.0**power) for power in range(1, 8) for digit in (1, 1.5, 2, 3, 5, 7)]


def where_it_bites(bound: Callable[[Any], Any], most: Callable[[Any], Any], first: float, last: float) -> int:
    """Return the first horizon of the ladder at which a bound is at most nine tenths of all that can happen.

    Or the last horizon that can be played, where the bound may be vacuous.
    """
    steps = [t for t in LADDER if first <= t <= last]
    return next((t for t in steps if float(bound(t)) <= 0.9 * float(most(t))), steps[-1])


def case(
    game: str,
    bound: Callable[[Any], Any],
    most: Callable[[Any], Any],
    play: Callable[[int, Any], Any],
    worst: Callable[[Any], Any],
    *,
    first: int = 1000,
    last: float = 2e6,
    throughout: bool = True,
    **more: Any,
) -> Case:
    """Return a case at the horizon where the bound bites, and at rounds on the way if the policy doesn't know it.

    Both `play`, with so many runs, and `worst` are given the rounds.
    """
    horizon = where_it_bites(bound, most, first, last)
    rounds = np.unique(np.geomspace(10, horizon, 20).astype(int)) if throughout else np.array([horizon])
    losses = np.asarray(bound(rounds)), np.asarray(most(rounds))
    return Case(game, rounds, *losses, lambda runs: play(runs, rounds), lambda: worst(rounds), **more)


def played(game: Any, policy: Any, field: str, runs: int, rounds: Any, seed: int = 0) -> Any:
    """Play, and return one regret at the rounds."""
    return getattr(fl.simulate(game, policy, int(rounds[-1]), runs=runs, rounds=rounds, seed=seed), field)


def chance(*numbers: int) -> np.random.Generator:
    """Return where the games come from, for one of them."""
    return np.random.default_rng([2026, *numbers])


def means(i: int, sharp: tuple[float, ...], stream: int = 0, sizes: tuple[int, ...] = (2, 2, 3, 4, 6)) -> Any:
    """Return the means of game i: drawn evenly until they are half apart, and in the last game at the sharp end."""
    if i == NUMBER - 1:
        return np.array(sharp)
    rng, mu = chance(i, stream), np.zeros(1)
    while np.ptp(mu) < 0.5:
        mu = rng.random(sizes[i]).round(2)
    return mu


def in_words(values: Any) -> str:
    return "(" + ", ".join(f"{each:g}" for each in values) + ")"


def always_rule(chances, p):
    """Play by the same probabilities in every round."""
    p[:] = chances


def always(arm: int, arms: int, surely: float = 1.0) -> fl.Policy:
    """Play one arm, whatever happens."""
    return fl.Policy(
        "always the same", always_rule, chances=np.where(np.arange(arms) == arm, surely, (1 - surely) / (arms - 1))
    )


class Line(NamedTuple):
    """A bound on trial: where the book proves it, what is played, and the games."""

    label: str
    policy: str
    make: Callable[[int], Case]
    runs: int = RUNS
    quick: int = QUICK


FAIRNESS, REWARD = "fairness_regret", "reward_regret"
