"""Merit functions, and the optimistic step against all corners, dense grids and a certificate of optimality."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import inspect
import itertools
import math
import pickle

import numpy as np
import pytest
from helpers import both_ways, factories, same
from scipy.optimize import minimize

import fairlib as fl
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import merit as me
from fairlib.core import sphere
from fairlib.engine.session import make_session


# Merit functions as readers write them, with helpers.
def hill(x, height, middle):
    d = x - middle
    return height * math.exp(-200.0 * d * d)


def bump_value(x, height):
    return 1.0 + hill(x, height, 0.4)


def bump_best(low, high, c, height):
    best = low
    for i in range(1, 2001):
        x = low + (high - low) * i / 2000
        if bump_value(x, height) * (x - c) > bump_value(best, height) * (best - c):
            best = x
    left, right = max(best - (high - low) / 2000, low), min(best + (high - low) / 2000, high)
    for _ in range(60):
        one, two = left + (right - left) / 3, right - (right - left) / 3
        if bump_value(one, height) * (one - c) < bump_value(two, height) * (two - c):
            left = one
        else:
            right = two
    return left if bump_value(left, height) * (left - c) > bump_value(best, height) * (best - c) else best


def falling_value(rate, x):
    return math.exp(-rate * x)


def inside(x, low, high):
    return min(max(x, low), high)


def falling_best(rate, low, high, c):
    return inside(c + 1.0 / rate, low, high)  # f(x)(x - c) rises up to there, and falls from there


def bump(best=bump_best, height=3.0, **changed):
    constants = {"low": 0.0, "high": 1.0, "minimum": 1.0, "lipschitz": 40.0, "log_lipschitz": 20.0}
    return me.Merit("bump", bump_value, best, **{**constants, "height": height, **changed})


def falling(rate, best=falling_best, low=0.0, high=1.0):
    constants = {"minimum": math.exp(-rate * high), "lipschitz": rate * math.exp(-rate * low), "log_lipschitz": rate}
    return me.Merit("falling", falling_value, best, low=low, high=high, rate=rate, **constants)


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


@pytest.mark.parametrize("steepness", [0.5, 2, 4, 10])
def test_sort_and_scan_is_never_below_any_corner(steepness):
    """10,000 boxes in all, each against its 1,024 corners."""
    merit = me.exponential(steepness)
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=10)))
    worst = 0.0
    for low, high in zip(*boxes(2500, 10, 0.3, int(10 * steepness)), strict=True):
        mu = me.optimistic_means(merit, low, high)
        assert (mu >= low).all()
        assert (mu <= high).all()
        below, above = np.exp(steepness * low), np.exp(steepness * high)
        earned = corners @ (above * high - below * low) + below @ low
        best = (earned / (corners @ (above - below) + below.sum())).max()
        weights = np.exp(steepness * mu)
        worst = max(worst, abs(best - weights @ mu / weights.sum()))
    assert worst <= 1e-12


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


def test_a_local_solver_is_never_better_and_often_worse():
    merit = me.exponential(10)
    shortfall = []
    for low, high in zip(*boxes(40, 8, 0.3, 2), strict=True):
        exact = value(merit, me.optimistic_means(merit, low, high))

        def loss(mu):
            weights = np.exp(10 * mu)
            return -(weights @ mu) / weights.sum()

        found = -minimize(loss, (low + high) / 2, bounds=list(zip(low, high, strict=True)), method="SLSQP").fun
        shortfall.append(exact - found)
    assert min(shortfall) >= -1e-9
    assert max(shortfall) > 1e-3


def test_the_experiments_of_the_delay_paper_need_no_optimiser():
    """Erratum E-D21: with A ((p - 1)/(p + 1))^(p - 1) at most 1 the upper ends are optimal."""
    for scale, exponent in ((2, 2), (2, 4), (2, 6), (2, 8), (3.5, 4)):
        assert scale * ((exponent - 1) / (exponent + 1)) ** (exponent - 1) <= 1
        for low, high in zip(*boxes(200, 7, 0.5, exponent), strict=True):
            assert np.array_equal(me.optimistic_means(me.power(scale, exponent), low, high), high)


def test_an_optimum_inside_the_box():
    mu = me.optimistic_means(me.power(100, 4), [1.0, 0.0], [1.0, 0.9])
    assert mu == pytest.approx([1.0, 0.1456], abs=1e-4)
    assert value(me.power(100, 4), mu) == pytest.approx(0.99125, abs=1e-5)


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


@named
def test_the_step_ends_where_no_pass_is_left(merit):
    """The boxes are such that some need five passes and more, whatever the merit, except by sort and scan."""
    rng, longest = np.random.default_rng(3), 0
    for arms in (10, 50):
        for _ in range(40):
            centre, width = rng.random(arms) ** rng.choice([1, 5]), rng.uniform(0, rng.choice([0.3, 1]), arms)
            low, high = np.maximum(centre - width, 0), np.minimum(centre + width, 1)
            values = passes(merit, low, high)
            longest = max(longest, len(values))
            reached = value(merit, me.optimistic_means(merit, low, high))
            assert reached == pytest.approx(values[-1], rel=1e-14)
    assert longest >= (5 if merit.name in ("1 + 100x^4", "1 + 40x^2.5") else 1)


@pytest.mark.parametrize("scale", [1e16, 1e17, 1e100, 1e150])
def test_the_optimistic_step_is_never_worse_than_the_step_before(scale):
    """So steep a merit has all its weight on the largest mean: one arm up and the others at 0, up to rounding."""
    merit, rng = me.power(scale, 2), np.random.default_rng(3)
    for high in rng.random((300, 5)):
        corner = np.where(np.arange(5) == high.argmax(), high, 0.0)
        assert value(merit, me.optimistic_means(merit, np.zeros(5), high)) >= value(merit, corner) * (1 - 1e-12)


def test_a_merit_may_have_no_largest_slope():
    merit = bump(lipschitz=math.inf, log_lipschitz=math.inf)
    assert merit.lipschitz == merit.log_lipschitz == math.inf


@pytest.mark.parametrize("best", [bump_best, None], ids=["with best", "search_best"])
def test_a_merit_of_a_reader_s_own(best):
    merit = bump(best)
    assert merit([0.4]) == pytest.approx([4.0])
    assert merit.settings == {"height": 3.0}
    low, high = np.array([0.2, 0.9]), np.array([0.8, 0.95])
    c = value(merit, me.optimistic_means(merit, low, high))
    rng = np.random.default_rng(0)
    assert c >= max(value(merit, rng.uniform(low, high)) for _ in range(500))


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


def test_the_search_of_an_interval_of_one_point():
    assert search(falling(2.0), 0.3, 0.3, 0.1) == 0.3


def test_a_merit_without_best_is_as_good_as_one_with_it():
    for search_best, given in ((bump(None), bump()), (falling(3.0, None), falling(3.0))):
        for low, high in zip(*boxes(40, 5, 0.4, 9), strict=True):
            one, two = (value(merit, me.optimistic_means(merit, low, high)) for merit in (search_best, given))
            assert one == pytest.approx(two, abs=1e-13)
            grid = np.linspace(low, high, 2001)
            assert (search_best(grid) * (grid - one)).max(axis=0).sum() <= 1e-12


# A reader's own merit in play ----------------------------------------------------------------------------------------


WORKERS = fl.bernoulli([0.9, 0.5, 0.35, 0.1])
NORMAL = fl.gaussian([0.9, 0.5, 0.35, 0.1], sd=0.3)


def on_arms(merit, arms=WORKERS):
    return ex.ExposureBandit(arms, merit=merit)


def with_contexts(merit):
    return ex.ContextExposureBandit(sphere(4, [0.6, 0.8], sd=0.3), merit=merit)


def late(merit):
    return de.SemiBandit(WORKERS, plays=2, merit=merit, delay=de.biased([20, 0, 0, 3], [0, 20, 20, math.inf]))


# Every fair policy of the package, and a game that it can play; first those that take the optimistic step.
FAIR = {
    "upper_merit": (on_arms, ex.upper_merit),
    "upper_merit_kl": (on_arms, lambda merit: ex.upper_merit_kl(merit, 4, 500)),
    "upper_merit_linear": (with_contexts, lambda merit: ex.upper_merit_linear(merit, 0.5)),
    "upper_merit_delayed": (late, lambda merit: de.upper_merit_delayed(merit, 4, 2, (0.1, 0.2))),
    "fairx_ucb": (on_arms, lambda merit: ex.fairx_ucb(merit, 0.3)),
    "fairx_linucb": (with_contexts, lambda merit: ex.fairx_linucb(merit, 0.5)),
    "fcucb_d": (late, lambda merit: de.fcucb_d(merit, 4, 2, (0.1, 0.2))),
    "op_fcucb_d": (late, lambda merit: de.op_fcucb_d(merit, 4, 2, (0.1, 0.2))),
    "two_box": (late, lambda merit: de.two_box(merit, 4, 2, 300)),
    "fairx_ts": (on_arms, ex.fairx_ts),
    "fairx_ts_gaussian": (lambda merit: on_arms(merit, NORMAL), ex.fairx_ts_gaussian),
    "fairx_eg": (on_arms, lambda merit: ex.fairx_eg(merit, 0.1)),
    "fairx_linucb_search": (with_contexts, lambda merit: ex.fairx_linucb_search(merit, 0.5)),
    "fairx_lints": (with_contexts, ex.fairx_lints),
    "fairx_lineg": (with_contexts, lambda merit: ex.fairx_lineg(merit, 0.1)),
    "fcts_d": (late, lambda merit: de.fcts_d(merit, 4, 2)),
    "op_fcts_d": (late, lambda merit: de.op_fcts_d(merit, 4, 2)),
    "recent_half": (late, lambda merit: de.recent_half(merit, 4, 2)),
    "fgreedy_d": (late, lambda merit: de.fgreedy_d(merit, 4, 2, 0.13)),
    "late_start": (late, lambda merit: de.late_start(de.fcts_d(merit, 4, 2), 3)),
}


def gentle(low):
    """Return a merit that does not vary by more than a factor of 3, which is all that two plays of four arms allow."""
    return bump(None, height=1.9, low=low, lipschitz=25.0)


@pytest.mark.parametrize("name", FAIR)
def test_an_own_merit_with_helpers_runs_compiled_through_every_fair_policy(name):
    game, policy = FAIR[name]
    low = -1.0 if game is with_contexts else 0.0
    merits = [gentle(low)]
    if list(FAIR).index(name) < 5:  # what takes the optimistic step takes it with `best` as well
        merits.append(falling(1.0 if low == 0 else 0.5, low=low))
    for merit in merits:
        at_work = make_session(game(merit), policy(merit))
        assert not at_work.interpreted
        result = both_ways(game(merit), policy(merit), 300, runs=2, seed=3, rounds=range(1, 301))
        assert [step.selected.tolist() for step in fl.trace(game(merit), policy(merit), 40, seed=3)] == (
            result.selected[0, :40].tolist()
        )


def test_every_fair_policy_is_among_them():
    made = {
        name
        for name, each in factories().items()
        if "merit" in inspect.signature(each).parameters and not each.__module__.startswith("fairlib.after")
    }
    for_exponential_merit = "fairx_ucb_gradient"
    assert made == {*FAIR, for_exponential_merit} - {"late_start"}


def test_the_gradient_takes_an_own_merit_too():
    """The search is among the policies above."""
    merit = falling(0.5, low=-1.0)
    result = fl.simulate(with_contexts(merit), ex.fairx_linucb_search(merit, 0.5, method="gradient"), 20)
    assert 0 < result.fairness_regret[0, -1] < 20


@pytest.mark.parametrize(
    ("one", "two"),
    [(falling(1.0), falling(1.0, None)), (bump(height=1.9), bump(None, height=1.9))],
    ids=["falling", "bump"],
)
def test_an_own_merit_plays_the_same_with_best_and_without(one, two):
    """The two steps agree to 13 digits, which is other play in one round of many millions."""
    first, second = (fl.simulate(on_arms(merit), ex.fairx_ucb(merit, 0.3), 500, runs=2) for merit in (one, two))
    assert np.array_equal(first.selected, second.selected)
    assert first.fairness_regret == pytest.approx(second.fairness_regret)


def test_an_own_merit_that_can_not_be_compiled_is_interpreted_and_says_so():
    table = {0: 1.0, 1: 2.0}
    stairs = me.Merit(
        "stairs",
        lambda x: table[round(x)],
        low=0.0,
        high=1.0,
        minimum=1.0,
        lipschitz=math.inf,
        log_lipschitz=math.inf,
    )
    with pytest.warns(UserWarning, match="the rule of 'FairX-EG' is interpreted, some hundred times slower"):
        result = fl.simulate(fl.Bandit(WORKERS), ex.fairx_eg(stairs, 0.1), 50)
    assert same(result, fl.simulate(fl.Bandit(WORKERS), ex.fairx_eg(stairs, 0.1).replace(interpret=True), 50))


def test_a_merit_travels_to_other_processes():
    for merit in (me.exponential(3), me.power(100, 4), bump(), gentle(0.0)):
        game, policy, there = pickle.loads(pickle.dumps((on_arms(merit), ex.fairx_ucb(merit, 0.3), merit)))
        assert same(fl.simulate(on_arms(merit), ex.fairx_ucb(merit, 0.3), 60), fl.simulate(game, policy, 60))
        assert there.name == merit.name
        assert np.array_equal(there([0.1, 0.9]), merit([0.1, 0.9]))


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


@named
def test_the_fair_policy_is_fair(merit):
    means = np.array([0.1, 0.5, 0.9, 1.0])
    for plays in (1, 2, 3):
        p = me.fair_policy(merit, means, plays)
        assert p.sum() == pytest.approx(plays)
        rate = (p / merit(means))[p < 1]
        assert np.ptp(rate) <= 1e-14 * rate.max()
        played = means.copy()  # as a rule plays by merit
        me.play_by_merit(merit.functions, played, plays, played)
        assert played == pytest.approx(p, rel=1e-14)


CONSTANTS = {"low": 0.0, "high": 1.0, "minimum": 1e-3, "lipschitz": math.inf, "log_lipschitz": math.inf}


def own(name, value, best=None, **changed):
    return me.Merit(name, value, best, **{**CONSTANTS, **changed})


def remembers(x, calls: fl.Number):
    return 1.0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: me.exponential(800), ValueError, "steepness must be at most 700 on this range, not 800"),
        (lambda: me.exponential(2, 1, 0), ValueError, "high must be above low"),
        (lambda: me.clipped(0.5, 0.4), ValueError, "high must be a number above 0.5"),
        (
            lambda: own("zero", me.clipped_value, me.clipped_best, floor=-1.0),
            ValueError,
            "^the merit 'zero' must be a positive number from 0 to 1; at 0 it is 0.0$",
        ),
        (
            lambda: own("nan", lambda x: math.nan if x > 0.5 else 1.0),
            ValueError,
            "^the merit 'nan' must be a positive number from 0 to 1; at 0.501 it is nan$",
        ),
        (
            lambda: own("infinite", lambda x: math.inf),
            ValueError,
            "^the merit 'infinite' must be a positive number from 0 to 1; at 0 it is inf$",
        ),
        (
            lambda: own("down", lambda x: 0.5 - x),
            ValueError,
            "^the merit 'down' must be a positive number from 0 to 1; at 0.5 it is 0.0$",
        ),
        # The minimum
        (lambda: bump(minimum=1.5), ValueError, "^minimum must be at most 1, what 'bump' has at 0?.*, not 1.5$"),
        (
            lambda: own("up", lambda x: 2.0 - x, minimum=1.1),
            ValueError,
            "^minimum must be at most 1, what 'up' has at 1, not 1.1$",
        ),
        # The slopes
        (
            lambda: own("line", lambda x: 1.0 + 3.0 * x, lipschitz=2.9),
            ValueError,
            "^lipschitz must be at least 3, the slope of 'line' near 0?.*, not 2.9$",
        ),
        (
            lambda: own("fall", lambda x: math.exp(-2.0 * x), lipschitz=1.9),
            ValueError,
            "^lipschitz must be at least 1.998, the slope of 'fall' near 0, not 1.9$",
        ),
        (
            lambda: own("fall", lambda x: math.exp(-2.0 * x), lipschitz=2.0, log_lipschitz=1.5),
            ValueError,
            "^log_lipschitz must be at least 2, the slope of 'fall' near .*, not 1.5$",
        ),
        # What its functions are set with
        (
            lambda: own("line", lambda x, slope: 1.0 + slope * x),
            TypeError,
            "^'<lambda>' is set with slope; slope must be given$",
        ),
        (
            lambda: own("line", lambda x: 1.0 + x, lipschitz=1, slope=3.0),
            TypeError,
            "^the merit 'line' has no function that is set with 'slope'$",
        ),
        (
            lambda: own("line", lambda x: 1.0 + x, lambda x, low, high: high, lipschitz=1),
            TypeError,
            "is set with x; x must be given",
        ),
        (
            lambda: own("line", lambda x, seen: 1.0 + x),
            TypeError,
            "^a merit function may ask for x, not for seen",
        ),
        (
            lambda: own("line", lambda x, calls: 1.0 + x, calls="often"),
            TypeError,
            "^calls must be a number, an array of numbers, a Merit or a Policy, not 'often'$",
        ),
        (
            lambda: own("line", lambda x, calls: 1.0 + x, calls=math.nan),
            ValueError,
            "^calls must be a number, not nan$",
        ),
        (lambda: own("line", 3), TypeError, "^value must be a function, not 3$"),
        (lambda: own("line", None), TypeError, "^value must be a function, not None$"),
        (lambda: own("line", lambda x: 1.0, 3), TypeError, "^best must be a function, not 3$"),
        (lambda: own("line", lambda x: 1.0, solve=3), TypeError, "^solve must be a function, not 3$"),
        (
            lambda: own("line", lambda x: 1e306),
            ValueError,
            "^the merit '.*' must be at most 1e305, so that merits can be summed",
        ),
        # Outside the range
        (
            lambda: me.exponential(2)([5, -7]),
            ValueError,
            r"^means must be finite numbers in \[0, 1\], not 5.0 \(at \[0\]\)$",
        ),
        (lambda: me.exponential(2)([[0.5, -7]]), ValueError, r"not -7.0 \(at \[0, 1\]\)$"),
        (lambda: me.exponential(2)([math.nan]), ValueError, r"^means must be .*, not nan \(at \[0\]\)$"),
        (lambda: me.exponential(2)(1.5), ValueError, "^means must be finite .*, not 1.5$"),
        (lambda: me.exponential(2)("0.5"), TypeError, "^means must be numbers, not '0.5'$"),
        (lambda: me.exponential(2)([True]), TypeError, "^means must be numbers, not"),
        (lambda: own("line", lambda x, calls: 1.0, calls=fl.ucb1()), TypeError, "^calls can't be Policy"),
        (lambda: own("line", remembers), TypeError, "^a merit function has no memory of its own; 'remembers' asks for"),
        (
            lambda: own("line", lambda x: 1.0, low=1.0),
            ValueError,
            "^high must be above low, 1.0, .* not 1.0$",
        ),
        # The fair policy
        (lambda: me.fair_policy(me.power(1, 2), [0.5, 0.5], 3), ValueError, "plays must be a whole number from 1 to 2"),
        (lambda: me.fair_policy(me.power(1, 2), [0.5, 0.5], 0), ValueError, "plays must be a whole number from 1 to 2"),
        (
            lambda: own("hill", lambda x: 1.0 + x * (1.0 - x), lipschitz=1, rising=True),
            ValueError,
            "^rising must be False: 'hill' falls near 0.5$",
        ),
        (
            lambda: own("line", lambda x: 1.0 + x, lipschitz=1, rising=2),
            TypeError,
            "^rising must be True or False",
        ),
        (lambda: me.fair_policy(me.power(1, 2), [0.5, 1.5]), ValueError, r"means must be numbers in \[0, 1\], not 1.5"),
        (
            lambda: me.optimistic_means(me.power(1, 2), [0.5], [0.4]),
            ValueError,
            "low must be at most high, 0.4, not 0.5",
        ),
        (
            lambda: me.optimistic_means(me.power(1, 2), [0.5], [0.6, 0.7]),
            ValueError,
            "high must have one number an arm",
        ),
    ],
    ids=itertools.count(),
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
