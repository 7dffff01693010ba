"""Labels don't matter: with other labels and the same feedback, a policy plays the same arms under their new labels.

Policies are given the arms played and their rewards, so that both have the same past. Rewards, shares and contexts are
real numbers, so that after a while nothing is a tie; and chance has no favourites either.
"""

from typing import Any

import numpy as np
import pytest
import strategies
import zoo
from helpers import answer
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from fairlib.engine.agent import Agent

# They go by the number of an arm where nothing is a tie, and say so.
BY_NUMBER = {
    "T-FAIR-UCB": "serves the quotas one arm after the other",
    "sighted shares": "plays by turns at first",
    "Fair-Greedy, first of ties": "ranks are shares of a sample, and often alike",
}

# Where it is flat at its top, a search to the last digit of a value finds half of its argument's digits.
ALIKE: Any = {"rtol": 1e-6, "atol": 1e-6}


class Evenly:
    """A generator without chance: it returns the same quantile of every distribution, near its middle."""

    def random(self):
        """Return the middle."""
        return 0.5

    def standard_normal(self):
        """Return a place above the middle."""
        return 0.5

    def normal(self, centre, spread):
        """Return the same place of another normal distribution."""
        return centre + 0.5 * spread

    def beta(self, a, b):
        """Return the mean."""
        return a / (a + b)


def untied(numbers: Any, rng: np.random.Generator) -> Any:
    """Return numbers, or rows of them, a little smaller each, so that what was alike is so no more."""
    return (np.transpose(numbers) * (1 - 0.001 * rng.random(len(numbers)))).T


def relabelled(policy: Any, order: Any) -> Any:
    """Return a policy with what is set for each arm under the arms' new labels."""
    by_arm = {name: value for name, value in policy.settings.items() if np.shape(value) == (len(order),)}
    if "groups" in by_arm:
        by_arm.pop("shares", None)  # of the groups, of which there may be as many as arms
    return policy.replace(**{name: np.asarray(value)[order] for name, value in by_arm.items()})


@pytest.mark.parametrize("name", [name for name in zoo.ON_ARMS if name not in BY_NUMBER])
@examples(2)
@given(data=st.data())
def test_on_arms(name, data):
    play = data.draw(strategies.plays(name))
    number, rng = play.game.arms.means.size, np.random.default_rng(play.seed)
    order = np.array(data.draw(st.permutations(range(number))))  # what is now called a was order[a]
    label = order.argsort()
    # First each arm once, as many policies begin; then each as often as no other.
    told = [*range(number), *rng.permutation(np.repeat(np.arange(number), 20 + 2 * rng.permutation(number)))]
    policy = play.policy
    if np.shape(policy.settings.get("shares")) == (number,) and "groups" not in policy.settings:
        policy = policy.replace(shares=untied(policy.settings["shares"], rng))
    policies = policy, relabelled(policy, order)
    agents = [Agent(each, each.bound_rule.interpreted, {"K": number, "T": 2000}) for each in policies]
    for t in range(1, len(told) + 11):
        over = t > len(told)
        if over or (t > number and t % 7 == 0):
            one, other = (answer(each, t, Evenly()) for each in agents)
            if over:
                np.testing.assert_allclose(other, one[order], **ALIKE, err_msg=f"in round {t}")
        if not over:
            arm = int(told[t - 1])
            comes = t <= number or rng.random() < 0.8  # the others never come
            reward = 0.5 * rng.random() if comes else 0.0
            for agent, named in zip(agents, (arm, int(label[arm])), strict=True):
                agent.record(t, np.array([named]))
                if comes:
                    agent.observe(t, named, reward, 0.5)


@pytest.mark.parametrize("name", [name for name in zoo.ZOO if name not in {*zoo.ON_ARMS, *BY_NUMBER}])
@examples(2)
@given(data=st.data())
def test_with_contexts(name, data):
    play = data.draw(strategies.plays(name))
    world, rng = play.game.world, np.random.default_rng(play.seed)
    relabel = np.array(data.draw(st.permutations(range(world.arms))))
    rounds = strategies.longest(name)
    sizes = {"K": world.arms, "d": world.dimension, "G": world.groups, "T": rounds}
    agents = [Agent(play.policy, play.policy.bound_rule.interpreted, sizes) for _ in range(2)]
    table = world.draw.numbers(sizes)
    contexts, groups = np.zeros((world.arms, world.dimension)), np.zeros(world.arms, np.int64)
    means, rewards = np.zeros(world.arms), np.zeros(world.arms)
    for t in range(1, rounds + 1):
        world.draw.interpreted(table, rng, contexts, groups, means, rewards)
        contexts = untied(contexts, rng)
        order = relabel if t > 1 else np.arange(world.arms)  # in the first round all contexts may promise the same
        one = answer(agents[0], t, Evenly(), contexts, groups)
        other = answer(agents[1], t, Evenly(), contexts[order].copy(), groups[order])
        # A climb ends where a step promises less than the tenth digit of a value, so that arguments have fewer.
        alike = {"atol": 1e-3} if name == "FairX-LinUCB, ellipsoid" else ALIKE
        np.testing.assert_allclose(other, one[order], **alike, err_msg=f"in round {t}")
        arm = int(rng.integers(world.arms))
        for agent, labels in zip(agents, (np.arange(world.arms), order), strict=True):
            label = int(labels.argsort()[arm])
            agent.record(t, np.array([label]), contexts[labels], groups[labels])
            agent.observe(t, label, float(rewards[arm]), 0.5, contexts[arm])
