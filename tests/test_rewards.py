"""A policy that is made for rewards in [0, 1] is refused wherever others are paid, in the same words."""

import math
import re
from typing import Any

import pytest

import fairlib as fl
from fairlib.pages import Live, Slider, scripts
from fairlib.pages.live import Plays
from fairlib.shares import SharedBandit, fair_learn, fair_ucb, lfg

LOUD = fl.Bandit(fl.gaussian([0.0, 5.0]))
LOG = fl.Log({"arm": [0, 1] * 20, "reward": [0.5, -3.0] * 20, "propensity": 0.5}, arms=2)
PAYS = "those of gaussian(mean=[0.0, 5.0], sd=[1.0, 1.0])"


def to_the_right(policy):
    """Let a slider move the arms out of [0, 1]."""
    live = Live(
        lambda mean: None,
        alt="{mean:g}",
        problem=lambda mean: fl.Bandit(fl.gaussian([0.5, mean], sd=0.0)),
        policy=policy,
        horizon=10,
    )
    return Plays(live, {"mean": Slider("Mean", [0.5, 5.0])})


def euros(mean, rng):
    """Pay twice the mean, or nothing."""
    return 2 * mean if rng.random() < 0.5 else 0.0


ENTRANCES: dict[str, tuple[str, Any]] = {
    "simulate": (PAYS, lambda policy: fl.simulate(LOUD, policy, 20)),
    "simulate, arms of one's own": (
        "those of euros(mean=[30.0, 50.0])",
        lambda policy: fl.simulate(fl.Bandit(fl.Arms([30, 50], euros, mean=[30, 50])), policy, 20),
    ),
    "simulate, a game of a paper": (
        PAYS,
        lambda policy: fl.simulate(SharedBandit(LOUD.arms, shares=[0.1, 0.1]), policy, 20),
    ),
    "trace": (PAYS, lambda policy: fl.trace(LOUD, policy, 20)),
    "compare": (PAYS, lambda policy: fl.compare([policy], {"loud": LOUD}, 20, runs=20)),
    "sweep": (
        PAYS,
        lambda policy: fl.sweep(lambda seed: fl.simulate(LOUD, policy, 20, seed=seed), [{"seed": 1}]),
    ),
    "replay": ("the log's reward of -3", lambda policy: fl.replay(LOG, policy)),
    "replay, made for the arms": ("the log's reward of -3", lambda policy: fl.replay(LOG, lambda k: policy)),
    "Player": ("rewards=(0, 100)", lambda policy: fl.Player(policy, 2, rewards=(0, 100))),
    "Player, any reward": (
        "rewards=(-inf, inf)",
        lambda policy: fl.Player(policy, 2, rewards=(-math.inf, math.inf)),
    ),
    "the page, a game's script": (PAYS, lambda policy: scripts.script(LOUD, policy)),
    "the page, a game's numbers": (PAYS, lambda policy: scripts.numbers(LOUD, policy, 20)),
    "the page, a slider": ("those of gaussian(mean=[0.5, 5.0], sd=[0.0, 0.0])", to_the_right),
}
POLICIES = [fl.ucb1(), fl.thompson_beta(), lfg([0.1, 0.1], eta=10), fair_ucb([0.1, 0.1])]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize("entrance", ENTRANCES)
def test_each_entrance_refuses_rewards_outside_0_to_1_in_the_same_words(entrance, policy):
    paid, enter = ENTRANCES[entrance]
    said = (
        f"policy {policy.name!r} is made for rewards in [0, 1], not for {paid}: map them to [0, 1], or use "
        "policy.replace(unit_rewards=False), which takes them as they are"
    )
    with pytest.raises((ValueError, fl.SweepError), match=re.escape(said)):
        enter(policy)


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_each_entrance_takes_a_policy_for_any_reward(entrance):
    for policy in (fl.ucb1().replace(unit_rewards=False), fl.epsilon_greedy(0.1)):
        ENTRANCES[entrance][1](policy)


def test_rewards_in_0_to_1_are_taken():
    quiet = fl.Bandit(fl.gaussian([0.2, 0.4], sd=0.0))
    assert fl.simulate(quiet, fl.ucb1(), 20).regret.shape == (1, 20)
    assert fl.replay(fl.Log({"arm": [0, 1], "reward": [0.0, 1.0], "propensity": 0.5}, arms=2), fl.ucb1()).seen == 2
    assert fl.Player(fl.ucb1(), 2, rewards=(0.2, 0.8)).rewards == (0.2, 0.8)


def test_a_new_learner_brings_its_range_of_rewards():
    guard = fair_learn(fl.uniform(), [0.1, 0.1])
    assert not guard.unit_rewards
    assert guard.replace(learner=fl.ucb1()).unit_rewards
    assert not guard.replace(learner=fl.ucb1(), unit_rewards=False).unit_rewards
    assert not guard.replace(learner=fl.epsilon_greedy(0.1)).unit_rewards
    asked = fl.Policy("asked", lambda learner, p: 0, learner=fl.uniform(), unit_rewards=True)
    assert asked.replace(learner=fl.epsilon_greedy(0.1)).unit_rewards


@pytest.mark.parametrize("rewards", [(0, 1e308), (-1e151, 0), (-math.inf, 1e200)])
def test_a_range_of_rewards_has_no_finite_end_beyond_what_a_reward_may_be(rewards):
    with pytest.raises(ValueError, match=r"^rewards must be a number, at most 1e\+150 in size, not "):
        fl.Player(fl.uniform(), 2, rewards=rewards)
