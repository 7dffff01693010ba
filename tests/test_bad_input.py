"""Every public function refuses what it can't take, naming the argument, the value and what is allowed."""

# Arguments of the wrong type are what it is about.
# mypy: ignore-errors

import dataclasses
import itertools
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

import fairlib as fl
from fairlib import checks, delays, exposure, figures, ranks
from fairlib.core import Ridge
from fairlib.merit import exponential
from fairlib.pages import Slider

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
        (lambda: fl.beta([1, 1], [1]), ValueError, r"b must have one number an arm, as a has \(2\), not 1"),
        (
            lambda: fl.Bandit(fl.bernoulli([0.5, 0.6]), plays=3),
            ValueError,
            "plays must be a whole number from 1 to 2, not 3",
        ),
        (lambda: fl.Bandit(fl.bernoulli([0.5, 0.6]), plays=0), ValueError, "plays must be .* not 0"),
        (lambda: fl.Arms([0.5], pays), TypeError, "^'pays' is set with mean; mean must be given$"),
        (lambda: fl.Arms([0.5], pays, mean=[0.5], sd=[1.0]), TypeError, "^'pays' is set with mean; it knows no sd$"),
        (lambda: fl.Arms([0.5], pays, mean=[0.5, 0.6]), ValueError, "^mean must have 1 numbers, one an arm, not 2$"),
        (lambda: fl.Arms([0.5], pays, mean=[]), ValueError, "^mean must have 1 numbers, one an arm, not 0$"),
        (lambda: fl.Arms([0.5], pays, mean=0.5), ValueError, "^mean must have a number for each arm, not 0.5$"),
        (lambda: fl.Arms([0.5], pays, mean=np.zeros((1, 1, 1))), ValueError, "^mean must have a number for each arm"),
        (lambda: fl.Arms([0.5], pays, mean="high"), TypeError, "^mean must be a number.* not 'high'$"),
        (lambda: fl.Arms([0.5], pays, mean=[[1], [2, 3]]), TypeError, "^mean must be a number for each arm, not"),
        (lambda: fl.Arms([0.5], pays, mean=["0.5"]), TypeError, "^mean must be a number for each arm, not"),
        (lambda: fl.Arms([0.5], pays, mean=[True]), TypeError, "^mean must be a number for each arm, not"),
        (lambda: fl.Arms([0.5], pays, mean=[math.nan]), ValueError, "^mean must be a number for each arm, not nan$"),
        (lambda: fl.Delay(waits, wait=MASKED), ValueError, "^wait must be a number for each arm, with none masked"),
        (lambda: fl.Arms([0.5], pays, mean=fl.ucb1()), TypeError, r"^mean can't be Policy\('UCB1'\)"),
        (lambda: fl.Arms([0.5], pays_a_row, row=[[1, 2], [3, 4]]), ValueError, "^row must have 1 numbers, one an arm"),
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
        (
            lambda: fl.World(2, 2, lambda rng, now, contexts: None),
            TypeError,
            "^what draws a round may ask for rng, contexts, groups, means and rewards, not for now",
        ),
        (lambda: dataclasses.replace(SECTION, distributions=3), TypeError, "^distributions must be a list of"),
        (lambda: fl.simulate([0.5], fl.ucb1(), 10), TypeError, "problem must be a Bandit"),
        (lambda: fl.simulate(GAME, fl.ucb1, 10), TypeError, "policy must be a Policy"),
        (lambda: fl.simulate(GAME, fl.uniform(2), 10), ValueError, "policy.plays must be the problem's 1, not 2"),
        (
            lambda: fl.simulate(GAME, fl.ucb1(), 10, runs=0),
            ValueError,
            "runs must be a whole number of at least 1, not 0",
        ),
        (
            lambda: fl.simulate(GAME, fl.ucb1(), 10, seed=1.0),
            TypeError,
            "seed must be .* or a numpy.random.SeedSequence",
        ),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, seed=-1), ValueError, "seed must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[0, 5]), ValueError, "rounds must be increasing"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[5, 11]), ValueError, "rounds must be .* the horizon, 10"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[5, 5]), ValueError, "rounds must be increasing"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[]), ValueError, "rounds must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[2.5]), TypeError, "rounds must be increasing whole numbers"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[True, 5]), TypeError, "rounds must be increasing whole"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=bytearray(b"1")), TypeError, "rounds must be increasing"),
        (lambda: fl.Policy("x", lambda p: 0, plays=2, arms=1), ValueError, "arms must be a whole number of at least 2"),
        (lambda: fl.ucb1_bound(fl.Bandit(fl.gaussian([0.5, 2])), 10), ValueError, "game.arms.means must be"),
        (lambda: fl.ucb1_bound(fl.Bandit(fl.bernoulli([0.5] * 3), 2), 10), ValueError, "game must have one play"),
        (lambda: delays.empirical([[1, 2], MASKED]), ValueError, r"^delays\[1\] must be .* with none masked"),
        (
            lambda: exposure.most_favourable(exponential(1), [[0.5]], Ridge(np.zeros(2), np.eye(2)), 1),
            ValueError,
            "^ridge must be of 1 dimensions, as contexts are, not Ridge",
        ),
        # Distributions
        (lambda: ranks.RewardDistribution([1.0, 0.0], [[0, 1], [1, 0]]), ValueError, "^breaks must be in increasing"),
        (lambda: ranks.RewardDistribution([0.0, 1.0], [[1.0, 0.0]]), ValueError, "^coefficients must be 2 rows"),
        (
            lambda: ranks.RewardDistribution([0.0], [[0.5]]),
            ValueError,
            "^coefficients must be 1 rows, .* the last 1, 0",
        ),
        (
            lambda: ranks.uniform_sum([1]).quantile(["0.5"]),
            TypeError,
            "^ranks must be numbers above 0 and at most 1, not",
        ),
        (lambda: ranks.flat(3), TypeError, "^distributions must be a list of RewardDistributions.*, not 3$"),
        # Pictures
        (lambda: figures.curve(Figure().subplots(), [1, 2], [1, 2], "UCB1"), ValueError, "^values must be of shape"),
        (lambda: figures.curve(Figure().subplots(), [1], [[1, 2]], "UCB1"), ValueError, r"not \(1, 2\) and \(1,\)$"),
        (lambda: figures.show(3), TypeError, "^function must be one defined by def or class.* not 3$"),
        (lambda: figures.show(math.exp), TypeError, "^function must be one defined by def or class"),
        (lambda: figures.show(lambda p: 0), TypeError, "^function must be one defined by def or class"),
        (lambda: Slider("x", [1, 2], start=True), ValueError, "^start must be one of 1, 2, not True$"),
    ],
    ids=itertools.count(),
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_numbers_of_any_shape_are_taken_and_keep_it():
    assert checks.array("rewards", 3).shape == ()
    assert checks.array("rewards", [[1], [2]]).shape == (2, 1)
    assert checks.array("rewards", []).shape == (0,)
    assert checks.array("rewards", np.array([0.5, 0.25])[::-1]).flags.c_contiguous
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
        (lambda: fl.Player(fl.ucb1(), 3).save(3), TypeError, "path must be the path of a file"),
        (lambda: fl.Player(fl.ucb1(), 3).save(""), ValueError, "path must be the path of a file"),
        (lambda: fl.Result.load(None), TypeError, "path must be the path of a file"),
        (lambda: fl.Delay(lambda wait: wait, wait=[]), ValueError, "wait must have a number for each arm"),
        (lambda: delays.empirical(np.array(0.5)), TypeError, "delays must be a list"),
        (lambda: Slider("Plays", {1, 2}), TypeError, "values must be a list"),
    ],
    ids=itertools.count(),
)
def test_what_is_no_such_thing_is_refused_by_name(wrong, kind, words):
    with pytest.raises(kind, match=f"^{words}"):
        wrong()
