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
        (
            lambda: fl.Bandit(fl.bernoulli([0.5]), delay=fl.Delay(print, np.zeros((2, 1)))),
            ValueError,
            "must have 1 rows",
        ),
        (lambda: fl.Bandit(fl.bernoulli([0.5]), delay=3), TypeError, "delay must be a Delay"),
        (
            lambda: fl.Bandit(fl.bernoulli([0.5]), delay=fl.Delay(lambda params, *_: params[0, 0], [[math.nan]])),
            ValueError,
            r"delay.draw must return whole numbers of rounds, .* not np.float64\(nan\) \(arm 0\)",
        ),
        (
            lambda: fl.Bandit(fl.bernoulli([0.5]), delay=fl.Delay(lambda params, *_: 0.5, [[0.0]])),
            ValueError,
            "delay.draw must return whole numbers of rounds",
        ),
        (lambda: fl.Delay(print, [1.0]), ValueError, "params must be a table"),
        (lambda: fl.Delay(print, "x"), TypeError, "params must be a table"),
        (lambda: fl.Delay("late", [[1.0]]), TypeError, "draw must be a function"),
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
        (lambda: fl.Policy(3, print), TypeError, "name must be a string"),
        (lambda: fl.Policy("x", "rule"), TypeError, "rule must be a function"),
        (lambda: fl.Policy("x", print, plays=0), ValueError, "plays must be"),
        (lambda: fl.Policy("x", print, memory=-1), ValueError, "memory must be"),
        (lambda: fl.Policy("x", print, [np.nan]), ValueError, "params must be numbers, not nan"),
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
        (lambda: figures.look("nobody"), ValueError, "name must be one of"),
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
