"""Each door refuses what it can't take, naming the argument, the value and what is allowed."""

# Arguments of the wrong type are what it is about.
# mypy: ignore-errors

import dataclasses
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from matplotlib.figure import Figure

import fairlib as fl
from fairlib import checks, delays, exposure, figures, linear, ranks
from fairlib.book import Slider, explore
from fairlib.core import Ridge, linear_table, sphere, table
from fairlib.merit import exponential

SECTION = ranks.section_6()
MASKED = np.ma.array([0.2, 0.9, 0.3], mask=[False, True, False])
GAME = fl.Bandit(fl.bernoulli([0.5, 0.6]))


def pays(mean, rng):
    return mean


def pays_a_row(row, arm: int = 0):
    return row[0]


def waits(wait):
    return wait


def waits_by_reward(when_one, when_zero, reward):
    return when_one if reward > 0.5 else when_zero


def fills(parameter, sd, rng, contexts, means, rewards):
    contexts[:], means[:], rewards[:] = 1.0, parameter[0], sd


NO_DELAY = "the delay 'own' must be a whole number of rounds of at least 0, or infinity for never, not "


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fl.bernoulli([0.5, 1.2]), ValueError, r"means must be numbers in \[0, 1\], not 1.2 \(arm 1\)"),
        (lambda: fl.bernoulli([-0.1]), ValueError, r"means .* not -0.1 \(arm 0\)"),
        (lambda: fl.bernoulli([0.5, np.nan]), ValueError, r"means .* not nan \(arm 1\)"),
        (lambda: fl.bernoulli([]), ValueError, "means must be a list of at least one number"),
        (lambda: fl.bernoulli([[0.5]]), ValueError, "means must be a list"),
        (lambda: fl.bernoulli(["a"]), TypeError, "means must be a list of numbers"),
        (lambda: fl.bernoulli(None), TypeError, "means must be a list"),
        (lambda: fl.bernoulli(0.5), ValueError, "means must be a list"),
        (lambda: fl.gaussian([0.0, np.inf]), ValueError, "means must be numbers, not inf"),
        (lambda: fl.gaussian([0.0], sd=-1), ValueError, "sd must be a number in"),
        (lambda: fl.gaussian([0.0], sd="wide"), TypeError, "sd must be a number"),
        (lambda: fl.beta([1, 0], [1, 1]), ValueError, r"a must be numbers in \[0.02, inf\], not 0.0 \(arm 1\)"),
        (lambda: fl.beta([1, 1], [1]), ValueError, r"b must have one number an arm, as a has \(2\), not 1"),
        (lambda: fl.Bandit([0.5, 0.6]), TypeError, "arms must be Arms"),
        (
            lambda: fl.Bandit(fl.bernoulli([0.5, 0.6]), plays=3),
            ValueError,
            "plays must be a whole number from 1 to 2, not 3",
        ),
        (lambda: fl.Bandit(fl.bernoulli([0.5, 0.6]), plays=0), ValueError, "plays must be .* not 0"),
        (lambda: fl.Bandit(fl.bernoulli([0.5, 0.6]), plays=1.5), TypeError, "plays must be .* not 1.5"),
        (lambda: fl.Arms([0.5], pays), TypeError, "^'pays' is set with mean; mean must be given$"),
        (lambda: fl.Arms([0.5], pays, mean=[0.5], sd=[1.0]), TypeError, "^'pays' is set with mean; it knows no sd$"),
        (lambda: fl.Arms([0.5], pays, mean=[0.5, 0.6]), ValueError, "^mean must have 1 numbers, one an arm, not 2$"),
        (lambda: fl.Arms([0.5], pays, mean=[]), ValueError, "^mean must have 1 numbers, one an arm, not 0$"),
        (lambda: fl.Arms([0.5], pays, mean=0.5), ValueError, "^mean must have a number for each arm, not 0.5$"),
        (lambda: fl.Arms([0.5], pays, mean=np.zeros((1, 1, 1))), ValueError, "^mean must have a number for each arm"),
        (lambda: fl.Arms([0.5], pays, mean="high"), TypeError, "^mean must be a number.* not 'high'$"),
        (lambda: fl.Arms([0.5], pays, mean=None), TypeError, "^mean must be a number.* not None$"),
        (
            lambda: fl.Arms([0.5], pays, mean=["high"]),
            TypeError,
            "^mean must be a number for each arm, not",
        ),
        (lambda: fl.Arms([0.5], pays, mean=[[1], [2, 3]]), TypeError, "^mean must be a number for each arm, not"),
        (lambda: fl.Arms([0.5], pays, mean=["0.5"]), TypeError, "^mean must be a number for each arm, not"),
        (lambda: fl.Arms([0.5], pays, mean=[True]), TypeError, "^mean must be a number for each arm, not"),
        (lambda: fl.Arms([0.5], pays, mean=[math.nan]), ValueError, "^mean must be a number for each arm, not nan$"),
        (lambda: fl.Delay(waits, wait=[[1], [2, 3]]), TypeError, "^wait must be a number for each arm, not"),
        (lambda: fl.Delay(waits, wait=MASKED), ValueError, "^wait must be a number for each arm, with none masked"),
        (lambda: fl.Arms([0.5], pays, mean=fl.ucb1()), TypeError, r"^mean can't be Policy\('UCB1'\)"),
        (lambda: fl.Arms([0.5], pays_a_row, row=[[1, 2], [3, 4]]), ValueError, "^row must have 1 numbers, one an arm"),
        (lambda: fl.Arms([0.5], "pays", mean=[0.5]), TypeError, "must be a function, not 'pays'"),
        (lambda: fl.Arms([0.5, math.nan], pays, mean=[0.5, 0.5]), ValueError, r"^means must be numbers, not nan \(arm"),
        (
            lambda: fl.Arms([0.5], lambda seen, rng: 0.5),
            TypeError,
            "^what draws a reward may ask for arm and rng, not for seen",
        ),
        (
            lambda: fl.Bandit(fl.bernoulli([0.5]), delay=fl.Delay(waits, wait=[0, 0])),
            ValueError,
            "^delay must be of 1 arms, not 2$",
        ),
        (lambda: fl.Bandit(fl.bernoulli([0.5]), delay=3), TypeError, "delay must be a Delay"),
        (lambda: fl.Delay(lambda: math.nan), ValueError, rf"^{NO_DELAY}nan \(arm 0, reward 0\)$"),
        (lambda: fl.Delay(waits, wait=[math.nan]), ValueError, "^wait must be a number for each arm, not nan$"),
        (lambda: fl.Delay(waits, wait=[2, 0.5]), ValueError, rf"^{NO_DELAY}np.float64\(0.5\) \(arm 1, reward 0\)$"),
        (lambda: fl.Delay(waits, wait=[2, 2, -1]), ValueError, rf"^{NO_DELAY}np.float64\(-1.0\) \(arm 2, reward 0\)$"),
        (lambda: fl.Delay(waits, wait=[-math.inf]), ValueError, rf"^{NO_DELAY}np.float64\(-inf\)"),
        (
            lambda: fl.Delay(waits_by_reward, when_one=[1, -2], when_zero=[1, 1]),
            ValueError,
            rf"^{NO_DELAY}np.float64\(-2.0\) \(arm 1, reward 1\)$",
        ),
        (
            lambda: fl.Delay(lambda sd, rng: rng.normal(0.0, sd), sd=[1.0], name="nonsense"),
            ValueError,
            "^the delay 'nonsense' must be a whole number of rounds",
        ),
        (lambda: fl.Delay(lambda rng: -1 if rng.random() < 0.1 else 0), ValueError, rf"^{NO_DELAY}-1 \(arm 0"),
        (lambda: fl.Delay(lambda: "late"), ValueError, rf"^{NO_DELAY}'late'"),
        (lambda: fl.Delay(lambda: None), ValueError, rf"^{NO_DELAY}None"),
        (lambda: fl.Delay(waits), TypeError, "^'waits' is set with wait; wait must be given$"),
        (
            lambda: fl.Delay(waits, wait=[1.0], params=[1.0]),
            TypeError,
            "^'waits' is set with wait; it knows no params$",
        ),
        (
            lambda: fl.Delay(waits_by_reward, when_one=[1, 2], when_zero=[1]),
            ValueError,
            "^when_zero must have 2 numbers, one an arm, not 1$",
        ),
        (lambda: fl.Delay(waits, wait=1.0), ValueError, "^wait must have a number for each arm, not 1.0$"),
        (lambda: fl.Delay(waits, wait="x"), TypeError, "^wait must be a number.* not 'x'$"),
        (lambda: fl.Delay("late"), TypeError, "must be a function, not 'late'"),
        (lambda: fl.Delay(print, wait=[1.0]), TypeError, "^'print' must name its arguments, one by one"),
        (
            lambda: fl.Delay(lambda p, rng, seen: 1),
            TypeError,
            "^what draws a delay may ask for arm, reward and rng, not for seen",
        ),
        (lambda: fl.World(2, 2, fills, sd=1.0), TypeError, "^'fills' is set with parameter and sd; parameter must be"),
        (
            lambda: fl.World(2, 2, fills, parameter=[0.5], sd=1.0, noise=1.0),
            TypeError,
            "^'fills' is set with parameter and sd; it knows no noise$",
        ),
        (lambda: fl.World(2, 2, fills, parameter=[[1], [2, 3]], sd=1.0), TypeError, "^parameter must be an array of"),
        (lambda: fl.World(2, 2, fills, parameter=[math.nan], sd=1.0), ValueError, "^parameter must be finite numbers"),
        (lambda: fl.World(2, 2, fills, parameter=[0.5], sd=math.inf), ValueError, "^sd must be a number, not inf$"),
        (
            lambda: fl.World(2, 2, fills, parameter="half", sd=1.0),
            TypeError,
            "^parameter must be a number.* not 'half'$",
        ),
        (
            lambda: fl.World(2, 2, lambda rng, now, contexts: None),
            TypeError,
            "^what draws a round may ask for rng, contexts, groups, means and rewards, not for now",
        ),
        (lambda: fl.World(2, 2, "draw"), TypeError, "must be a function, not 'draw'"),
        (
            lambda: fl.World(0, 2, fills, parameter=[0.5], sd=1.0),
            ValueError,
            "^arms must be a whole number of at least",
        ),
        (lambda: fl.World(2, 0, fills, parameter=[0.5], sd=1.0), ValueError, "^dimension must be a whole number"),
        (
            lambda: fl.World(2, 2, fills, groups=0, parameter=[0.5], sd=1.0),
            ValueError,
            "^groups must be a whole number",
        ),
        (
            lambda: fl.uniform(2**63),
            ValueError,
            "^plays must be a whole number of at least 1 and at most 9007199254740992",
        ),
        (
            lambda: sphere(2**64, [1.0]),
            ValueError,
            "^arms must be a whole number of at least 1 and at most 9007199254740992",
        ),
        (
            lambda: explore(int, x=Slider("x", [1, 2])),
            TypeError,
            "^figure must be a function whose parameters can be read",
        ),
        (
            lambda: ranks.WeightedBandit(
                SECTION.world,
                parameter=SECTION.parameter,
                distributions=SECTION.distributions,
                weights="heavy",
                biases=SECTION.biases,
                sd=1.0,
            ),
            TypeError,
            "^weights must be an array of numbers with 2 axes, not 'heavy'$",
        ),
        (lambda: dataclasses.replace(SECTION, biases=[True] * 4), TypeError, "^biases must be an array of numbers"),
        (lambda: dataclasses.replace(SECTION, sd=-1.0), ValueError, "^sd must be"),
        (lambda: dataclasses.replace(SECTION, together=2.0), ValueError, "^together must be"),
        (lambda: dataclasses.replace(SECTION, shares=[-1.0, 2.0]), ValueError, "^shares must be"),
        (lambda: dataclasses.replace(SECTION, distributions=3), TypeError, "^distributions must be a list of"),
        (lambda: fl.simulate([0.5], fl.ucb1(), 10), TypeError, "problem must be a Bandit"),
        (lambda: fl.simulate(GAME, fl.ucb1, 10), TypeError, "policy must be a Policy"),
        (lambda: fl.simulate(GAME, fl.uniform(2), 10), ValueError, "policy.plays must be the problem's 1, not 2"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 0), ValueError, "horizon must be a whole number of at least 1, not 0"),
        (
            lambda: fl.simulate(GAME, fl.ucb1(), 10.0),
            TypeError,
            "horizon must be a whole number of at least 1, not 10.0",
        ),
        (lambda: fl.simulate(GAME, fl.ucb1(), True), TypeError, "horizon"),
        (
            lambda: fl.simulate(GAME, fl.ucb1(), 10, runs=0),
            ValueError,
            "runs must be a whole number of at least 1, not 0",
        ),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, runs="2"), TypeError, "runs"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, seed=1.0), TypeError, "seed must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, seed=-1), ValueError, "seed must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, seed=None), TypeError, "seed must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, seed=np.random.default_rng(0)), TypeError, "seed must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[0, 5]), ValueError, "rounds must be increasing"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[5, 11]), ValueError, "rounds must be .* the horizon, 10"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[5, 5]), ValueError, "rounds must be increasing"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[]), ValueError, "rounds must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[2.5]), TypeError, "rounds must be increasing whole numbers"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[True, 5]), TypeError, "rounds must be increasing whole"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=bytearray(b"1")), TypeError, "rounds must be increasing"),
        (lambda: fl.Policy(3, lambda p: 0), TypeError, "name must be a string"),
        (lambda: fl.Policy("x", "rule"), TypeError, "rule must be a function"),
        (lambda: fl.Policy("x", lambda p: 0, plays=0), ValueError, "plays must be"),
        (lambda: fl.Policy("x", lambda p: 0, plays=2, arms=1), ValueError, "arms must be a whole number of at least 2"),
        (lambda: fl.Policy("x", lambda p: 0, memory=1), TypeError, "is set with nothing; it knows no memory"),
        (
            lambda: fl.Policy("x", lambda means, p: 0, means=[np.nan]),
            ValueError,
            "means must be finite numbers, not nan",
        ),
        (lambda: fl.ContextPolicy("x", lambda p: 0, dimension=0), ValueError, "dimension must be"),
        (lambda: fl.ContextPolicy("x", lambda ridge, p: 0, ridge=0), ValueError, "ridge must be a number above 0"),
        (lambda: fl.check_policy(fl.ucb1), TypeError, "policy must be a Policy"),
        (lambda: fl.check_policy(fl.uniform(4), arms=3), ValueError, "arms must be"),
        (lambda: fl.epsilon_greedy(1.1), ValueError, r"epsilon must be a number in \[0, 1\], not 1.1"),
        (lambda: fl.epsilon_greedy(None), TypeError, "epsilon must be a number"),
        (lambda: fl.uniform(0), ValueError, "plays must be"),
        (lambda: fl.thompson_beta(a=0), ValueError, r"a must be a number in \[0.02, inf\], not 0"),
        (lambda: fl.thompson_beta(b=-1), ValueError, r"b must be a number in \[0.02, inf\], not -1"),
        (lambda: fl.thompson_gaussian(sd=0), ValueError, "sd must be a number above 0, not 0"),
        (lambda: fl.thompson_gaussian(reward_sd=0), ValueError, "reward_sd must be a number above 0, not 0"),
        (lambda: fl.ucb1_bound(fl.Bandit(fl.gaussian([0.5, 2])), 10), ValueError, "game.arms.means must be"),
        (lambda: fl.ucb1_bound(fl.Bandit(fl.bernoulli([0.5] * 3), 2), 10), ValueError, "game must have one play"),
        (lambda: fl.sweep(3, []), TypeError, "experiment must be a function"),
        (lambda: fl.sweep(print, [3]), TypeError, "settings must be dicts"),
        # What NumPy would make numbers of
        (
            lambda: fl.bernoulli(["0.5", "0.2"]),
            TypeError,
            r"^means must be a list of numbers, one an arm, not \['0.5', ",
        ),
        (lambda: fl.bernoulli(np.array(["0.5"])), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli([True, False]), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli([True, 0.5]), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli(np.array([True, False])), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli([None, 0.5]), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli([Decimal("0.5")]), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli(np.array([0.5 + 0j])), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli(np.zeros(2, [("a", float)])), TypeError, "^means must be a list of numbers"),
        (lambda: fl.bernoulli(bytearray(b"\0\1")), TypeError, "^means must be a list of numbers"),
        (lambda: fl.gaussian(np.array(["2020-01-01"], "datetime64[D]")), TypeError, "^means must be a list of numbers"),
        (lambda: fl.gaussian(np.array([3], "timedelta64[D]")), TypeError, "^means must be a list of numbers"),
        (lambda: fl.gaussian([0.0], np.timedelta64(1, "D")), TypeError, "^sd must be a number"),
        (lambda: fl.uniform(np.timedelta64(1, "D")), TypeError, "^plays must be a whole number"),
        (
            lambda: fl.bernoulli(MASKED),
            ValueError,
            "^means must be a list of numbers, one an arm, with none masked, not",
        ),
        (lambda: fl.bernoulli([0.5, np.ma.masked]), ValueError, "^means must be .* with none masked"),
        (lambda: sphere(2, MASKED), ValueError, "^parameter must be an array of numbers with 1 axes, with none masked"),
        (lambda: sphere(2, ["1"]), TypeError, "^parameter must be an array of numbers with 1 axes, not"),
        (
            lambda: linear_table([MASKED[:, None]], [1.0], 1),
            ValueError,
            "^contexts must .* none masked",
        ),
        (lambda: table([[[1.0]]], [[True]], [[0.0]]), TypeError, "^means must be an array of numbers with 2 axes"),
        (lambda: delays.fixed(["3"]), TypeError, "^rounds must be a list of whole numbers of rounds, not"),
        (lambda: delays.fixed([True]), TypeError, "^rounds must be a list of whole numbers of rounds"),
        (lambda: delays.empirical([[1, 2], MASKED]), ValueError, r"^delays\[1\] must be .* with none masked"),
        # Numbers that no float holds
        (
            lambda: fl.gaussian([10**400]),
            ValueError,
            "^means must be a list of numbers.* none too large for a float, not .1000",
        ),
        (lambda: fl.gaussian([0.0], 10**400), ValueError, "^sd must be a number in .*, not 1000"),
        (lambda: fl.epsilon_greedy(Fraction(10**400)), ValueError, "^epsilon must be a number"),
        (
            lambda: fl.epsilon_greedy(10**5000),
            ValueError,
            "^epsilon must be a .*, not a number of thousands of digits$",
        ),
        (lambda: fl.uniform(-(10**5000)), ValueError, "^plays must be .*, not a number of thousands of digits$"),
        (lambda: fl.bernoulli(["a long text"] * 1000), TypeError, "^means must be .{0,250}$"),
        # Standard deviations without a square
        (lambda: fl.thompson_gaussian(sd=1e-200), ValueError, "^sd must be a number in .*, not 1e-200$"),
        (lambda: fl.thompson_gaussian(reward_sd=1e200), ValueError, "^reward_sd must be a number in .*, not 1e"),
        (lambda: exposure.fairx_ts_gaussian(exponential(1), 1e-200), ValueError, "^prior_sd must be a number in"),
        (lambda: exposure.fairx_ts_gaussian(exponential(1), 1, 1e-200), ValueError, "^reward_sd must be a number in"),
        (lambda: exposure.fairx_lints(exponential(1), 1e-200), ValueError, "^prior_sd must be a number in"),
        (lambda: linear.lints(1.0, 1e200), ValueError, "^reward_sd must be a number in"),
        # A radius below 0
        (lambda: linear.linucb(-0.1), ValueError, r"^radius must be a number in \[0, inf\], not -0.1$"),
        # No regression
        (lambda: linear.linucb(1.0, None), TypeError, "^ridge must be a number above 0, not None$"),
        (
            lambda: exposure.fairx_linucb(exponential(1), 0.5, None),
            TypeError,
            "^ridge must be a number above 0, not None$",
        ),
        (
            lambda: exposure.fairx_lineg(exponential(1), 0.5, None),
            TypeError,
            "^ridge must be a number above 0, not None$",
        ),
        (lambda: exposure.fairx_linucb_search(exponential(1), 0.5, None), TypeError, "^ridge must be a number above 0"),
        (lambda: ranks.oracle_cdf(ranks.section_6(), None), TypeError, "^ridge must be a number above 0, not None$"),
        (
            lambda: exposure.most_favourable(exponential(1), [[0.5]], None, 1),
            TypeError,
            "^ridge must be a Ridge.* not None$",
        ),
        (
            lambda: exposure.most_favourable(exponential(1), [[0.5]], Ridge(np.zeros(2), np.eye(2)), 1),
            ValueError,
            "^ridge must be of 1 dimensions, as contexts are, not Ridge",
        ),
        (
            lambda: exposure.most_favourable(exponential(1), [[0.5]], Ridge(np.zeros(1), np.eye(1)), 1, ["search"]),
            ValueError,
            "^method must be 'search' or 'gradient', not",
        ),
        (lambda: ranks.fair_greedy(ties=["any"]), ValueError, "^ties must be 'any' or 'first', not"),
        # What is called or said
        (
            lambda: fl.Policy("x", lambda p: 0, interpret="yes"),
            TypeError,
            "^interpret must be True or False, not 'yes'$",
        ),
        (
            lambda: fl.ContextPolicy("x", lambda p: 0, interpret=1),
            TypeError,
            "^interpret must be True or False, not 1$",
        ),
        (lambda: fl.Arms([0.5], 3), TypeError, "^draw must be a function, not 3$"),
        (lambda: fl.World(2, 2, None), TypeError, "^draw must be a function, not None$"),
        (lambda: fl.Delay(None), TypeError, "^draw must be a function, not None$"),
        (lambda: fl.Delay(lambda: 3, name=3), TypeError, "^name must be a string, not 3$"),
        (lambda: delays.Law(lambda: 3, name="own", quantiles=3), TypeError, "^quantiles must be a function, not 3$"),
        # Distributions
        (lambda: ranks.RewardDistribution([1.0, 0.0], [[0, 1], [1, 0]]), ValueError, "^breaks must be in increasing"),
        (lambda: ranks.RewardDistribution(["0"], [[1.0]]), TypeError, "^breaks must be a list of numbers"),
        (lambda: ranks.RewardDistribution([0.0, 1.0], [[1.0, 0.0]]), ValueError, "^coefficients must be 2 rows"),
        (
            lambda: ranks.RewardDistribution([0.0], [[0.5]]),
            ValueError,
            "^coefficients must be 1 rows, .* the last 1, 0",
        ),
        (
            lambda: ranks.uniform_sum([1]).cdf([math.nan]),
            ValueError,
            r"^rewards must be finite numbers, not nan \(at \[0\]",
        ),
        (lambda: ranks.uniform_sum([1]).cdf("0.5"), TypeError, "^rewards must be numbers, not '0.5'"),
        (lambda: ranks.uniform_sum([1]).density([True]), TypeError, "^rewards must be numbers, not"),
        (
            lambda: ranks.uniform_sum([1]).quantile(["0.5"]),
            TypeError,
            "^ranks must be numbers above 0 and at most 1, not",
        ),
        (lambda: ranks.flat(3), TypeError, "^distributions must be a list of RewardDistributions.*, not 3$"),
        # Pictures
        (lambda: figures.look(3), TypeError, "name must be a string, not 3"),
        (lambda: figures.curve(None, [1], [[1]], "UCB1"), TypeError, "^ax must be a matplotlib Axes, .* not None$"),
        (lambda: figures.label_ends(3), TypeError, "^ax must be a matplotlib Axes, .* not 3$"),
        (lambda: figures.curve(Figure().subplots(), [1, 2], [1, 2], "UCB1"), ValueError, "^values must be of shape"),
        (lambda: figures.curve(Figure().subplots(), [1], [[1, 2]], "UCB1"), ValueError, r"not \(1, 2\) and \(1,\)$"),
        (lambda: figures.curve(Figure().subplots(), ["1"], [[1]], "UCB1"), TypeError, "^rounds must be numbers, not"),
        (
            lambda: figures.curve(Figure().subplots(), [1], [[1]], "UCB1", 3),
            TypeError,
            "^label must be a string, not 3$",
        ),
        (lambda: figures.show(3), TypeError, "^function must be one defined by def or class.* not 3$"),
        (lambda: figures.show(math.exp), TypeError, "^function must be one defined by def or class"),
        (lambda: figures.show(lambda p: 0), TypeError, "^function must be one defined by def or class"),
        (lambda: explore(Figure, autoplay=None, x=Slider("x", [1, 2])), TypeError, "^autoplay must be True or False"),
        (lambda: Slider("x", [1, 2], start=True), ValueError, "^start must be one of 1, 2, not True$"),
    ],
    ids=itertools.count(),
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    "means",
    [
        (0.25, 0.5),
        [Fraction(1, 4), np.float32(0.5)],
        np.array([0.25, 0.5], object),
        np.array([0.25, 0.5], np.float16),
        np.ma.array([0.25, 0.5], mask=[False, False]),
        np.array([0.5, 0.25])[::-1],
    ],
    ids=itertools.count(),
)
def test_numbers_of_every_kind_are_taken(means):
    assert checks.vector("means", means).tolist() == [0.25, 0.5]
    assert checks.array("means", [means], 2).tolist() == [[0.25, 0.5]]
    assert checks.array("means", means).flags.c_contiguous


def test_numbers_of_any_shape_are_taken_and_keep_it():
    assert checks.array("rewards", 3).shape == ()
    assert checks.array("rewards", [[1], [2]]).shape == (2, 1)
    assert checks.array("rewards", []).shape == (0,)
    with pytest.raises(ValueError, match=r"^means must be finite numbers in \[0, 1\], not 1.5$"):
        checks.array("means", 1.5, low=0, high=1)


def test_a_seed_may_have_any_number_of_digits():
    seed = 2**200 + 1
    plays = [fl.simulate(GAME, fl.uniform(), 50, seed=each).selected.tolist() for each in (seed, seed, 1)]
    assert plays[0] == plays[1] != plays[2]


def test_what_is_given_is_neither_changed_nor_kept():
    means = np.array([0.2, 0.8])
    arms = fl.bernoulli(means)
    means[0] = 0.9
    assert arms.means.tolist() == [0.2, 0.8]
    with pytest.raises(ValueError, match="read-only"):
        arms.means[0] = 0.5
    late = fl.Delay(waits, wait=[1, 2])
    for each in (arms.settings["mean"], late.settings["wait"]):
        with pytest.raises(ValueError, match="read-only"):
            each[0] = 0.5


@pytest.mark.parametrize(
    ("wrong", "kind", "words"),
    [
        (lambda: fl.Player(fl.ucb1(), 3, groups=True), TypeError, "groups must be a whole number"),
        (lambda: fl.Player(fl.ucb1(), 3, groups=np.ones(2)), TypeError, "groups must be a whole number"),
        (lambda: fl.Player(fl.ucb1(), 3, rewards={0.0, 1.0}), TypeError, "rewards must be the smallest and"),
        (lambda: fl.Player(fl.ucb1(), 3, rewards=[0.0, 1j]), TypeError, "rewards must be the smallest and"),
        (lambda: fl.Player(fl.ucb1(), 3).save(3), TypeError, "path must be the path of a file"),
        (lambda: fl.Player(fl.ucb1(), 3).save(""), ValueError, "path must be the path of a file"),
        (lambda: fl.Result.load(None), TypeError, "path must be the path of a file"),
        (lambda: fl.Delay(lambda wait: wait, wait=[]), ValueError, "wait must have a number for each arm"),
        (lambda: fl.ucb1_worst_case_bound(2, np.timedelta64(3, "D")), TypeError, "horizon must be whole numbers"),
        (lambda: fl.ucb1_worst_case_bound(2, bytearray(b"3")), TypeError, "horizon must be whole numbers"),
        (lambda: delays.cucb_d(2, radius={0.0, 1.5}), TypeError, "radius must be two numbers"),
        (lambda: delays.empirical(np.array(0.5)), TypeError, "delays must be a list"),
        (lambda: fl.replay.article_contexts(3), TypeError, "event must be an Event"),
        (lambda: fl.replay.replay([3], fl.ucb1()), TypeError, "each of events must be an Event of a log, or"),
        (lambda: fl.replay.replay(3, fl.ucb1()), TypeError, "events must be a log"),
        (lambda: Slider("Plays", {1, 2}), TypeError, "values must be a list"),
    ],
    ids=itertools.count(),
)
def test_what_is_no_such_thing_is_refused_by_name(wrong, kind, words):
    with pytest.raises(kind, match=f"^{words}"):
        wrong()
