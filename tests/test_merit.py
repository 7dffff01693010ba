"""Merit functions, and the optimistic step against all corners, dense grids and a certificate of optimality."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import dataclasses
import itertools
import math

import numpy as np
import pytest
import zoo
from helpers import both_ways, same

import fairlib as fl
from fairlib import exposure as ex
from fairlib import merit as me
from fairlib.engine.session import make_session


# Merit functions as readers write them, with helpers.
def hill(x, height, middle):
    d = x - middle
    return height * math.exp(-200.0 * d * d)


def bump_value(x, height):
    return 1.0 + hill(x, height, 0.4)


def falling_value(rate, x):
    return math.exp(-rate * x)


def inside(x, low, high):
    return min(max(x, low), high)


def falling_best(rate, low, high, c):
    return inside(c + 1.0 / rate, low, high)  # f(x)(x - c) rises up to there, and falls from there


RANGE = {"low": -1.0, "high": 1.0}
# It does not vary by more than a factor of 3, which is all that two plays of four arms allow.
BUMP = me.Merit("bump", bump_value, **RANGE, minimum=1.0, lipschitz=25.0, log_lipschitz=20.0, height=1.9)


def falling(rate, best=falling_best):
    slopes = {"lipschitz": rate * math.exp(rate), "log_lipschitz": rate}
    return me.Merit("falling", falling_value, best, **RANGE, minimum=math.exp(-rate), rate=rate, **slopes)


MERITS = [
    me.exponential(1),
    me.exponential(4),
    me.exponential(10),
    me.power(2, 4),
    me.power(3.5, 1),
    me.power(100, 4),
    me.power(40, 2.5),
    me.clipped(0.05),
    me.clipped(0.4),
]
named = pytest.mark.parametrize("merit", MERITS, ids=lambda merit: merit.name)


def boxes(count, arms, widest, seed):
    rng = np.random.default_rng(seed)
    centre, width = rng.random((count, arms)), rng.uniform(0, widest, (count, arms))
    return np.maximum(centre - width, 0), np.minimum(centre + width, 1)


def value(merit, mu):
    merits = merit(mu)
    return float(merits @ mu / merits.sum())


@named
@pytest.mark.parametrize("widest", [0.02, 0.3, 1.0])
def test_no_point_of_the_box_is_better(merit, widest):
    """With c the value reached, the largest sum of f(x)(x - c) over a dense grid, arm by arm, must not exceed 0.

    That is a certificate: it says that no point of the grid of all arms together, 2,001^K of them, has a value above c.
    """
    for arms in (1, 2, 5, 10):
        for low, high in zip(*boxes(25, arms, widest, arms), strict=True):
            mu = me.optimistic_means(merit, low, high)
            assert (mu >= low).all()
            assert (mu <= high).all()
            c = value(merit, mu)
            grid = np.linspace(low, high, 2001)
            gain = (merit(grid) * (grid - c)).max(axis=0)
            assert gain.sum() <= 1e-12 * arms * merit(1.0)


@pytest.mark.parametrize("steepness", [1, 3, 8])
def test_both_ways_agree_for_exponential_merit(steepness):
    merit = me.exponential(steepness)
    for low, high in zip(*boxes(300, 6, 0.5, 1), strict=True):
        mu = np.empty(6)
        me.dinkelbach(merit.functions, low, high, mu)
        assert value(merit, mu) == pytest.approx(value(merit, me.optimistic_means(merit, low, high)), abs=1e-14)


def test_newton_finds_the_inner_maximum_of_the_power_merit():
    """Against a fine grid, for steepnesses from barely enough to extreme, and a trial value c from 0 to 1."""
    rng, inner = np.random.default_rng(11), 0
    for _ in range(600):
        p, c = rng.choice([1.001, 1.05, 1.5, 2, 3, 4, 8]), rng.uniform(0.2, 1)
        barely = 1 / (c**p * ((p - 1) / (p + 1)) ** (p - 1))
        merit = me.power(barely * rng.choice([0.9, 1 + 1e-9, 1.01, 1.5, 10, 1e6]), p)
        low, high = rng.uniform(0, 0.2) * rng.choice([0, 1]), rng.uniform(0.2, max(0.2, c))
        x = me.power_best(merit.settings["scale"], merit.settings["exponent"], low, high, c)
        grid = np.concatenate([np.linspace(low, high, 4001), np.geomspace(max(low, 1e-12), high, 4001)])
        best = (merit(grid) * (grid - c)).max()
        assert low <= x <= high
        assert merit([x])[0] * (x - c) >= best - 1e-13 * merit([1.0])[0]
        inner += low < x < high
    assert inner > 100


def passes(merit, low, high):
    """Take Dinkelbach's steps one by one; return the value after each, the upper ends first."""
    values: list[float] = []
    mu = high
    while not values or value(merit, mu) > values[-1]:
        values.append(value(merit, mu))
        play = merit.functions
        mu = np.array([play.best(play.params, *ends, values[-1]) for ends in zip(low, high, strict=True)])
    return values


def test_the_step_takes_as_many_passes_as_it_needs():
    """A staircase: at each value the lowest stair that is left is not worth its weight, and no other is."""
    merit = me.clipped(1e-9)
    stairs, arms = np.arange(8, 0, -1) / 8, [1, 1, 3, 9, 26, 80, 282, 1313]
    low, high = np.zeros(sum(arms)), np.repeat(stairs, arms)
    values = [value(merit, high[: sum(arms[:left])]) for left in range(8, 0, -1)]
    assert passes(merit, low, high) == pytest.approx(values, abs=1e-5)
    assert min(np.diff(values)) > 0.05  # so that each pass counts
    mu = me.optimistic_means(merit, low, high)
    assert mu.tolist() == [1.0] + [1e-9] * (mu.size - 1)
    box = me.Box(low, high, np.empty(mu.size))
    me.best_in_box(merit.functions, box)  # as rules take it
    assert np.array_equal(box.mu, mu)


@pytest.mark.parametrize("scale", [1e16, 1e17, 1e100, 1e150])
def test_the_optimistic_step_is_never_worse_than_the_step_before(scale):
    """So steep a merit has all its weight on the largest mean: one arm up and the others at 0, up to rounding."""
    merit, rng = me.power(scale, 2), np.random.default_rng(3)
    for high in rng.random((300, 5)):
        corner = np.where(np.arange(5) == high.argmax(), high, 0.0)
        assert value(merit, me.optimistic_means(merit, np.zeros(5), high)) >= value(merit, corner) * (1 - 1e-12)


# Searching where no `best` is given ----------------------------------------------------------------------------------


def search(merit, low, high, c):
    play = merit.functions
    return me.search_best(play.value, play.params, low, high, 1.0, c)


@pytest.mark.parametrize("rate", [1.5, 5, 40])
def test_the_search_against_a_closed_form(rate):
    """exp(-k x)(x - c) is largest at c + 1/k, or at the end that is nearer."""
    merit, rng, inner = falling(rate, best=None), np.random.default_rng(int(10 * rate)), 0
    for _ in range(500):
        low, high = np.sort(rng.random(2))
        c = rng.uniform(-1, 1)
        exact = falling_best(rate, low, high, c)
        x = search(merit, low, high, c)
        if low < exact < high:
            assert x == pytest.approx(exact, abs=3e-8)  # the maximum is flat: half the digits are all that there are
            assert merit(x) * (x - c) == pytest.approx(merit(exact) * (exact - c), rel=1e-13)
            inner += 1
        else:
            assert x == exact
    assert inner > 50


@named
def test_the_search_finds_what_best_finds(merit):
    """A kink, where a merit has one, to 1e-9 of the interval; else to the last digits of what is gained."""
    rng = np.random.default_rng(4)
    for _ in range(200):
        low, high = np.sort(rng.uniform(merit.low, merit.high, 2))
        c = rng.uniform(merit.low, merit.high)
        x, play = search(merit, low, high, c), merit.functions
        assert low <= x <= high
        best = play.best(play.params, low, high, c)
        if x != pytest.approx(best, abs=1e-9 * (high - low)):
            assert merit(x) * (x - c) == pytest.approx(merit(best) * (best - c), rel=1e-14, abs=1e-15 * merit(1.0))


# A reader's own merit in play ----------------------------------------------------------------------------------------


def by_merit() -> list[str]:
    """Return a policy of the zoo for each rule that takes a merit; but for the one that asks for an exponential one."""
    found: dict[str, str] = {}
    for name, entry in zoo.ZOO.items():
        policy = entry.make(zoo.game(entry.games[0]))
        if "merit" in policy.settings:
            found.setdefault(repr(policy.rule), name)
    return [name for name in found.values() if name != "FairX-UCB, gradient"]


@pytest.mark.parametrize("name", by_merit())
def test_an_own_merit_with_helpers_runs_compiled_through_every_fair_policy(name):
    entry = zoo.ZOO[name]
    game = dataclasses.replace(zoo.game(entry.games[0]), merit=BUMP)
    assert not make_session(game, entry.make(game), 1).interpreted
    both_ways(game, entry.make(game), entry.short, runs=2, seed=3)


WORKERS = fl.bernoulli([0.9, 0.5, 0.35, 0.1])


def test_an_own_merit_that_can_not_be_compiled_is_interpreted_and_says_so():
    table = {0: 1.0, 1: 2.0}
    stairs = me.Merit(
        "stairs", lambda x: table[round(x)], low=0.0, high=1.0, minimum=1.0, lipschitz=math.inf, log_lipschitz=math.inf
    )
    with pytest.warns(UserWarning, match="the rule of 'FairX-EG' is interpreted, some hundred times slower"):
        result = fl.simulate(fl.Bandit(WORKERS), ex.fairx_eg(stairs, 0.1), 50)
    assert same(result, fl.simulate(fl.Bandit(WORKERS), ex.fairx_eg(stairs, 0.1).replace(interpret=True), 50))


@named
def test_the_constants_are_those_of_the_function(merit):
    x = np.linspace(merit.low, merit.high, 20_001)
    f = merit(x)
    slope, log_slope = np.diff(f) / np.diff(x), np.diff(np.log(f)) / np.diff(x)
    assert f.min() == pytest.approx(merit.minimum)
    assert slope.max() == pytest.approx(merit.lipschitz, rel=2e-3)
    assert log_slope.max() == pytest.approx(merit.log_lipschitz, rel=5e-3)
    assert slope.max() <= merit.lipschitz * (1 + 1e-9)
    assert log_slope.max() <= merit.log_lipschitz * (1 + 1e-9)


# Refusals ------------------------------------------------------------------------------------------------------------


def remembers(x, calls: fl.Number):
    return 1.0


def line(x):
    return 1.0 + x


def steep(x):
    return math.exp(-3.0 * x)


@pytest.mark.parametrize(
    ("value", "more", "sentence"),
    [
        (lambda x: math.nan if x > 0.5 else 1.0, {}, "must be a positive number from 0 to 1; at 0.501 it is nan$"),
        (lambda x: math.inf, {}, "must be a positive number from 0 to 1; at 0 it is inf$"),
        (lambda x: 0.5 - x, {}, "^the merit 'own' must be a positive number from 0 to 1; at 0.5 it is 0.0$"),
        (lambda x: 1e306, {}, "^the merit 'own' must be at most 1e305, so that merits can be summed"),
        (lambda x: 2.0 - x, {"minimum": 1.1}, "^minimum must be at most 1, what 'own' has at 1, not 1.1$"),
        (
            lambda x: 1.0 + 3.0 * x,
            {"lipschitz": 2.9},
            "^lipschitz must be at least 3, the slope of 'own' near 0?.*, not",
        ),
        (steep, {"lipschitz": 2.9}, "^lipschitz must be at least 2.9955, the slope of 'own' near 0, not 2.9$"),
        (steep, {"log_lipschitz": 1.5}, "^log_lipschitz must be at least 3, the slope of 'own' near .*, not 1.5$"),
        (lambda x: 1.0 + x * (1.0 - x), {"rising": True}, "^rising must be False: 'own' falls near 0.5$"),
        (line, {"low": 1.0}, "^high must be above low, 1.0, .* not 1.0$"),
        (lambda x, slope: 1.0 + slope * x, {}, "^'<lambda>' is set with slope; slope must be given$"),
        (line, {"slope": 3.0}, "^the merit 'own' has no function that is set with 'slope'$"),
        (lambda x, seen: 1.0 + x, {}, "^a merit function may ask for x, not for seen"),
        (remembers, {}, "^a merit function has no memory of its own; 'remembers' asks for"),
        (lambda x, calls: 1.0, {"calls": fl.ucb1()}, "^calls can't be Policy"),
        (3, {}, "^value must be a function, not 3$"),
        (line, {"solve": 3}, "^solve must be a function, not 3$"),
        (line, {"best": lambda x, low, high: high}, "is set with x; x must be given"),
    ],
    ids=itertools.count(),
)
def test_what_is_no_merit_function_is_refused(value, more, sentence):
    constants = {"low": 0.0, "high": 1.0, "minimum": 1e-3, "lipschitz": math.inf, "log_lipschitz": math.inf}
    with pytest.raises((TypeError, ValueError), match=sentence):
        me.Merit("own", value, **{**constants, **more})


LINE = me.power(1, 2)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: me.exponential(800), "steepness must be at most 700 on this range, not 800"),
        (lambda: me.exponential(2, 1, 0), "high must be above low"),
        (lambda: me.clipped(0.5, 0.4), "high must be a number above 0.5"),
        (lambda: LINE([[0.5, -7]]), r"^means must be finite numbers in \[0, 1\], not -7.0 \(at \[0, 1\]\)$"),
        (lambda: LINE(1.5), "^means must be finite .*, not 1.5$"),
        (lambda: me.fair_policy(LINE, [0.5, 0.5], 3), "plays must be a whole number from 1 to 2"),
        (lambda: me.fair_policy(LINE, [0.5, 1.5]), r"means must be numbers in \[0, 1\], not 1.5"),
        (lambda: me.optimistic_means(LINE, [0.5], [0.4]), "low must be at most high, 0.4, not 0.5"),
        (lambda: me.optimistic_means(LINE, [0.5], [0.6, 0.7]), "high must have one number an arm"),
    ],
    ids=itertools.count(),
)
def test_refused(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()
