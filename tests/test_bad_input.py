"""Each door refuses what it can't take, naming the argument, the value and what is allowed."""

# Arguments of the wrong type are what it is about.
# mypy: ignore-errors

import itertools
import math

import numpy as np
import pytest

import fairlib as fl
from fairlib import figures

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
        (lambda: fl.bernoulli(None), ValueError, "means must be a list"),
        (lambda: fl.gaussian([0.0, np.inf]), ValueError, "means must be numbers, not inf"),
        (lambda: fl.gaussian([0.0], sd=-1), ValueError, "sd must be a number in"),
        (lambda: fl.gaussian([0.0], sd="wide"), TypeError, "sd must be a number"),
        (lambda: fl.beta([1, 0], [1, 1]), ValueError, r"a must be numbers above 0, not 0.0 \(arm 1\)"),
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
            "^mean must have a number for each arm, not",
        ),
        (lambda: fl.Arms([0.5], pays, mean=[[1], [2, 3]]), TypeError, "^mean must have a number for each arm, not"),
        (lambda: fl.Delay(waits, wait=[[1], [2, 3]]), TypeError, "^wait must have a number for each arm, not"),
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
        (lambda: fl.Delay(waits, wait=[math.nan]), ValueError, rf"^{NO_DELAY}np.float64\(nan\) \(arm 0, reward 0\)$"),
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
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[]), TypeError, "rounds must be"),
        (lambda: fl.simulate(GAME, fl.ucb1(), 10, rounds=[2.5]), TypeError, "rounds must be whole numbers"),
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
        (lambda: fl.thompson_beta(a=0), ValueError, "a must be a number above 0, not 0"),
        (lambda: fl.thompson_beta(b=-1), ValueError, "b must be a number above 0, not -1"),
        (lambda: fl.thompson_gaussian(sd=0), ValueError, "sd must be a number above 0, not 0"),
        (lambda: fl.thompson_gaussian(reward_sd=0), ValueError, "reward_sd must be a number above 0, not 0"),
        (lambda: fl.ucb1_bound([0.5, 2], 10), ValueError, "means must be"),
        (lambda: fl.ucb1_bound([0.5], 0), ValueError, "horizon must be"),
        (lambda: fl.ucb1_bound([0.5], 2.5), TypeError, "horizon must be"),
        (lambda: fl.ucb1_worst_case_bound(0, 10), ValueError, "arms must be"),
        (lambda: fl.sweep(3, []), TypeError, "experiment must be a function"),
        (lambda: fl.sweep(print, [3]), TypeError, "settings must be dicts"),
        (lambda: figures.look(3), TypeError, "name must be a string, not 3"),
    ],
    ids=itertools.count(),
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


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
