"""Policies that promise nothing, on arms and with contexts, and plain games."""

import math
from collections.abc import Callable
from typing import Any

import fairlib as fl
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import linear as li
from zoo.entry import RANKS, TEN, THREE, WITHIN, Entry, recorded_table, regret, regret_in_context, with_contexts

LINEAR = ("sphere", "table", "section 6")
ANY = ("gaussian", "beta, own delay", "gaussian, uneven delay")


def echo(within, reward, rng):
    """Return a delay as a reader would write it: a success is a few rounds late, one failure in four is lost."""
    if reward > 0.5:
        return int(within * rng.random())
    return 0 if rng.random() < 0.75 else math.inf


def uneven(within, rng):
    """Return another one: never for one reward in ten."""
    return math.inf if rng.random() < 0.1 else math.floor(within * rng.random())


MEASURES: dict[type, dict[str, Any]] = {fl.Bandit: {"regret": regret}, fl.ContextBandit: {"regret": regret_in_context}}
GAMES: dict[str, Callable[[], Any]] = {
    "bernoulli": lambda: fl.Bandit(fl.bernoulli(TEN)),
    "beta": lambda: fl.Bandit(fl.beta([9, 1, 4], [1, 1, 6])),
    "gaussian": lambda: fl.Bandit(fl.gaussian([0.2, 1.0, 0.7, -0.3], sd=0.8)),
    "bernoulli, geometric delay": lambda: fl.Bandit(fl.bernoulli([0.4, 0.6]), delay=de.geometric([0.05, 0.2])),
    "beta, own delay": lambda: fl.Bandit(fl.beta([2, 3, 4], [3, 3, 3]), delay=fl.Delay(echo, within=[5, 50, 9])),
    "gaussian, uneven delay": lambda: fl.Bandit(fl.gaussian([0.0, 0.5]), delay=fl.Delay(uneven, within=[30, 3])),
    "bernoulli, three plays": lambda: fl.Bandit(fl.bernoulli(TEN), plays=3),
    "gaussian, three plays, fixed delay": lambda: fl.Bandit(
        fl.gaussian([0.1, 0.2, 0.3, 0.4]), plays=3, delay=de.fixed([0, 1, 20, math.inf])
    ),
    "beta, three plays of three": lambda: fl.Bandit(fl.beta([1, 2, 3], [3, 2, 1]), plays=3),
    "sphere": lambda: fl.ContextBandit(co.sphere(5, [0.6, 0.0, 0.8])),
    "table": lambda: fl.ContextBandit(recorded_table()),
}

ENTRIES = {
    "uniform": Entry(lambda game: fl.uniform(), ("bernoulli", "gaussian", "beta, own delay"), "uniform"),
    "uniform, three plays": Entry(lambda game: fl.uniform(3), THREE, "uniform, three plays"),
    "epsilon-greedy": Entry(lambda game: fl.epsilon_greedy(0.1), ANY, "epsilon-greedy"),
    "UCB1": Entry(lambda game: fl.ucb1(), WITHIN, "ucb1"),
    "Thompson sampling": Entry(lambda game: fl.thompson_beta(), WITHIN, "thompson"),
    "Thompson sampling, own prior": Entry(lambda game: fl.thompson_beta(0.5, 2.0), WITHIN, "thompson"),
    "Thompson sampling, normal": Entry(lambda game: fl.thompson_gaussian(0.5, 2.0, 0.7), ANY, "thompson"),
    "LinUCB": with_contexts(lambda game: li.linucb(radius=0.5), LINEAR, "linucb"),
    "OFUL": with_contexts(lambda game: li.oful(noise=1.0, norm=1.0, failure=0.1), LINEAR, "linucb"),
    "LinTS": with_contexts(lambda game: li.lints(2.0, 0.5), LINEAR, "lints"),
    "at random": with_contexts(lambda game: li.at_random(), RANKS, "fair-greedy"),
    "Greedy": with_contexts(lambda game: li.greedy(), RANKS, "fair-greedy"),
}
