"""Every public function refuses what it can't take, naming the argument, the value and what is allowed."""

# Arguments of the wrong type are what it is about.
# mypy: ignore-errors

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
from fairlib.pages.scripts import script

MASKED = np.ma.array([0.2, 0.9, 0.3], mask=[False, True, False])
GAME = fl.Bandit(fl.bernoulli([0.5, 0.6]))


def pays(mean, rng):
    return mean


def pays_a_row(row, arm: int = 0):
    return row[0]


def waits(wait):
    return wait


def two_waits(one, zero, reward):
    return one if reward > 0.5 else zero


def fills(parameter, sd, rng, contexts, means, rewards):
    contexts[:], means[:], rewards[:] = 1.0, parameter[0], sd


NO_DELAY = "the delay 'own' must be a whole number of rounds of at least 0, or infinity for never, not "


def mean(value, **more):
    """Call for one arm that is set with this mean."""
    return lambda: fl.Arms([0.5], pays, mean=value, **more)


def wait(value):
    """Call for a delay that is set with this."""
    return lambda: fl.Delay(waits, wait=value)


def played(**how):
    """Call for ten rounds in this way."""
    return lambda: fl.simulate(GAME, **{"policy": fl.ucb1(), "horizon": 10, **how})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fl.beta([1, 1], [1]), r"b must have one number an arm, as a has \(2\), not 1"),
        (lambda: fl.Bandit(GAME.arms, plays=3), "plays must be a whole number from 1 to 2, not 3"),
        # Arms of a reader's own
        (lambda: fl.Arms([0.5], pays), "^'pays' is set with mean; mean must be given$"),
        (mean([0.5], sd=[1.0]), "^'pays' is set with mean; it knows no sd$"),
        (mean([0.5, 0.6]), "^mean must have 1 numbers, one an arm, not 2$"),
        (mean(0.5), "^mean must have a number for each arm, not 0.5$"),
        (mean(np.zeros((1, 1, 1))), "^mean must have a number for each arm"),
        (mean("high"), "^mean must be a number.* not 'high'$"),
        (mean([[1], [2, 3]]), "^mean must be a number for each arm, not"),
        (mean([True]), "^mean must be a number for each arm, not"),
        (mean([math.nan]), "^mean must be a number for each arm, not nan$"),
        (mean(fl.ucb1()), r"^mean can't be Policy\('UCB1'\)"),
        (lambda: fl.Arms([0.5], pays_a_row, row=[[1, 2], [3, 4]]), "^row must have 1 numbers, one an arm"),
        (lambda: fl.Arms([0.5], lambda seen, rng: 0.5), "^what draws a reward may ask for arm and rng, not for seen"),
        # Delays
        (lambda: fl.Bandit(fl.bernoulli([0.5]), delay=wait([0, 0])()), "^delay must be of 1 arms, not 2$"),
        (lambda: fl.Delay(lambda: math.nan), rf"^{NO_DELAY}nan \(arm 0, reward 0\)$"),
        (lambda: fl.Delay(lambda rng: -1 if rng.random() < 0.1 else 0), rf"^{NO_DELAY}-1 \(arm 0"),
        (lambda: fl.Delay(lambda: "late", name="nonsense"), "^the delay 'nonsense' must be a whole number of rounds"),
        (wait(MASKED), "^wait must be a number for each arm, with none masked"),
        (wait([2, 0.5]), rf"^{NO_DELAY}np.float64\(0.5\) \(arm 1, reward 0\)$"),
        (wait([-math.inf]), rf"^{NO_DELAY}np.float64\(-inf\)"),
        (lambda: fl.Delay(two_waits, one=[1, -2], zero=[1, 1]), rf"^{NO_DELAY}np.float64\(-2.0\) \(arm 1, reward 1\)$"),
        (lambda: fl.Delay(two_waits, one=[1, 2], zero=[1]), "^zero must have 2 numbers, one an arm, not 1$"),
        (lambda: fl.Delay(print, wait=[1.0]), "^'print' must name its arguments, one by one"),
        (lambda: fl.Delay(lambda p, seen: 1), "^what draws a delay may ask for arm, reward and rng, not for seen"),
        # Worlds
        (lambda: fl.World(2, 2, fills, sd=1.0), "^'fills' is set with parameter and sd; parameter must be"),
        (lambda: fl.World(2, 2, lambda now, contexts: None), "^what draws a round may ask for rng, .*, not for now"),
        # Plays
        (lambda: fl.simulate([0.5], fl.ucb1(), 10), "problem must be a Bandit"),
        (played(policy=fl.ucb1), "policy must be a Policy"),
        (played(policy=fl.uniform(2)), "policy 'uniform' is made for plays=2, not 1"),
        (played(seed=1.0), "seed must be .* or a numpy.random.SeedSequence"),
        (played(rounds=[5, 11]), "rounds must be .* the horizon, 10"),
        (lambda: fl.Policy("x", lambda p: 0, plays=2, arms=1), "arms must be a whole number of at least 2"),
        (lambda: fl.ucb1_bound(fl.Bandit(fl.gaussian([0.5, 2])), 10), "game.arms.means must be"),
        (lambda: fl.ucb1_bound(fl.Bandit(GAME.arms, 2), 10), "game must have one play"),
        (lambda: delays.empirical([[1, 2], MASKED]), r"^delays\[1\] must be .* with none masked"),
        (
            lambda: exposure.most_favourable(exponential(1), [[0.5]], Ridge(np.zeros(2), np.eye(2)), 1),
            "^ridge must be of 1 dimensions, as contexts are, not Ridge",
        ),
        (lambda: fl.Result.load(None), "^path must be the path of a file"),
        # Distributions
        (lambda: ranks.RewardDistribution([1.0, 0.0], [[0, 1], [1, 0]]), "^breaks must be in increasing"),
        (lambda: ranks.RewardDistribution([0.0, 1.0], [[1.0, 0.0]]), "^coefficients must be 2 rows"),
        (lambda: ranks.RewardDistribution([0.0], [[0.5]]), "^coefficients must be 1 rows, .* the last 1, 0"),
        # Pictures
        (lambda: figures.curve(Figure().subplots(), [1, 2], [1, 2], "UCB1"), "^values must be of shape"),
        (lambda: figures.show(3), "^function must be one defined by def or class.* not 3$"),
        (lambda: figures.show(lambda p: 0), "^function must be one defined by def or class"),
        (lambda: Slider("x", [1, 2], start=True), "^start must be one of 1, 2, not True$"),
        (lambda: script(GAME, 3), "^policy must be a Policy"),
        (lambda: script(3, fl.ucb1()), "^problem must be"),
        # What is no such thing
        (lambda: fl.Player(fl.ucb1(), 3, groups=True), "^groups must be a whole number"),
        (lambda: fl.Player(fl.ucb1(), 3, rewards={0.0, 1.0}), "^rewards must be the smallest and"),
        (lambda: fl.Player(fl.ucb1(), 3).save(3), "^path must be the path of a file"),
        (lambda: fl.Player(fl.ucb1(), 3).save(""), "^path must be the path of a file"),
        (lambda: delays.empirical(np.array(0.5)), "^delays must be a list"),
    ],
    ids=itertools.count(),
)
def test_refused(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
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


FALLING = [np.array([100, 50, 120], kind) for kind in (np.uint8, np.uint64, np.int64)]


@pytest.mark.parametrize("rounds", [[], 5, [0, 5], [5, 5], [2.5], [True, 5], [[1, 2]], [2**70], *FALLING], ids=repr)
def test_rounds_of_no_sense_are_refused(rounds):
    with pytest.raises((TypeError, ValueError), match=r"^rounds must be increasing whole numbers"):
        fl.simulate(GAME, fl.ucb1(), 300, rounds=rounds)
