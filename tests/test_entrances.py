"""What a policy is made for holds wherever it may be asked to play: it plays, or is refused in the same words."""

import itertools
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import zoo

import fairlib as fl
from fairlib import ranks as rk
from fairlib.pages import Live, Slider, scripts
from fairlib.pages.live import Plays
from fairlib.shares import SharedBandit, fair_learn


class Asked(NamedTuple):
    """What a policy is asked to play; without contexts there is no dimension."""

    arms: int
    plays: int = 1
    dimension: int | None = None
    groups: int = 1
    horizon: int = 3
    rewards: tuple[float, float] = (0.0, 1.0)


def fill(low, high, number: int, contexts, groups, means, rewards):
    """Draw the same round again and again, with all groups and both rewards."""
    for a in range(means.size):
        groups[a] = a % number
        means[a] = rewards[a] = high if a % 2 == 0 else low
        for i in range(contexts.shape[1]):
            contexts[a, i] = 1.0 / (1.0 + a + i)


# A reader's own, with a horizon and contexts, which the zoo has not.
OWN = fl.ContextPolicy("own", lambda horizon, now, p: 0, arms=3, dimension=2, groups=2, horizon=5, interpret=True)


def made_for(name: str) -> tuple[Any, Asked]:
    """Return a policy of the zoo, in plain Python to be quick, and what it is made for."""
    if name == "own":
        return OWN, Asked(3, 1, 2, 2)
    game = zoo.game(zoo.ZOO[name].games[0])
    policy = zoo.ZOO[name].make(game).replace(interpret=True)
    if isinstance(policy, fl.Policy):
        return policy, Asked(game.arms.means.size, policy.plays)
    return policy, Asked(game.world.arms, 1, game.world.dimension, game.world.groups)


def game_of(asked: Asked) -> Any:
    low, high = asked.rewards
    if asked.dimension is None:
        return fl.Bandit(fl.gaussian([high, *[low] * (asked.arms - 1)], sd=0.0), plays=asked.plays)
    more: dict[str, Any] = {"low": low, "high": high, "number": asked.groups, "groups": asked.groups}
    return fl.ContextBandit(fl.World(asked.arms, asked.dimension, fill, **more))


def log_of(asked: Asked) -> fl.Log:
    rows = {"arm": np.arange(60) % asked.arms, "reward": np.resize(asked.rewards, 60), "propensity": 1 / asked.arms}
    if asked.dimension is not None:
        shown = 1.0 / (1.0 + np.add.outer(np.arange(asked.arms), np.arange(asked.dimension)))
        rows["features"] = [shown] * 60
    return fl.Log(rows, arms=asked.arms)


def at_work(policy: Any, asked: Asked) -> None:
    more: dict[str, Any] = {} if asked.dimension is None else {"dimension": asked.dimension, "groups": asked.groups}
    player = fl.Player(policy, asked.arms, horizon=asked.horizon, rewards=asked.rewards, **more)
    if asked.dimension is None:
        player.choose()
    else:
        player.choose(np.ones((asked.arms, asked.dimension)), np.arange(asked.arms) % asked.groups)


ENTRANCES: dict[str, Callable[[Any, Asked], Any]] = {
    "simulate": lambda policy, asked: fl.simulate(game_of(asked), policy, asked.horizon),
    "trace": lambda policy, asked: fl.trace(game_of(asked), policy, asked.horizon),
    "compare": lambda policy, asked: fl.compare([policy], game_of(asked), asked.horizon, runs=20),
    "sweep": lambda policy, asked: fl.sweep(
        lambda runs: float(fl.simulate(game_of(asked), policy, asked.horizon, runs=runs).regret[0, -1]), [{"runs": 1}]
    ),
    "replay": lambda policy, asked: fl.replay(log_of(asked), policy, horizon=asked.horizon),
    "Player": at_work,
    "the page": lambda policy, asked: scripts.numbers(game_of(asked), policy, asked.horizon),
}


def words(entrance: str, policy: Any, asked: Asked) -> str:
    """Return the words with which an entrance refuses a policy, or nothing."""
    try:
        ENTRANCES[entrance](policy, asked)
    except (TypeError, ValueError, fl.SweepError) as error:
        return str(error)
    return ""


# What is asked for instead of what a policy is made for; a condition by its name, if the policy has it.
OTHERWISE: dict[str, Callable[[Any, Asked], Asked]] = {
    "nothing": lambda policy, asked: asked,
    "arms": lambda policy, asked: asked._replace(arms=asked.arms + 1),
    "plays": lambda policy, asked: asked._replace(plays=asked.plays % 2 + 1),
    "dimension": lambda policy, asked: asked._replace(dimension=asked.dimension and asked.dimension + 1),
    "groups": lambda policy, asked: asked._replace(groups=asked.groups + 1),
    "horizon": lambda policy, asked: asked._replace(horizon=(policy.horizon or 3) + 1),
    "unit_rewards": lambda policy, asked: asked._replace(rewards=(0.0, 2.0)),
}


@pytest.mark.parametrize("name", [*zoo.ZOO, "own"])
def test_each_entrance_knows_all_that_a_policy_is_made_for(name):
    policy, own = made_for(name)
    for condition, change in OTHERWISE.items():
        asked = change(policy, own)
        if condition == ("groups" if asked.dimension is None else "plays"):
            continue
        refused = words("simulate", policy, asked)
        assert bool(refused) == bool(getattr(policy, condition, None)), (condition, refused)
        for entrance in ENTRANCES:
            here = asked
            if entrance == "Player":  # which plays as many arms as its policy does
                here = asked._replace(plays=own.plays)
            elif entrance == "replay":  # of logs with one arm a visit, in one group
                here = asked._replace(plays=1, groups=1)
                if policy.bound_rule.asks("past"):
                    assert "must not need its history" in words(entrance, policy, here)
                    continue
            expected, got = words("simulate", policy, here), words(entrance, policy, here)
            assert expected in got if expected else not got, (condition, entrance, expected, got)


# What else pays rewards -----------------------------------------------------------------------------------------------

LOUD = fl.Bandit(fl.gaussian([0.0, 5.0], sd=0.0))


def euros(mean, rng):
    """Pay twice the mean, or nothing."""
    return 2 * mean if rng.random() < 0.5 else 0.0


def to_the_right(policy):
    """Let a slider move the arms out of [0, 1]."""
    live = Live(
        lambda mean: None,
        alt="{mean:g}",
        problem=lambda mean: fl.Bandit(fl.gaussian([0.0, mean], sd=0.0)),
        policy=policy,
        horizon=10,
    )
    return Plays(live, {"mean": Slider("Mean", [0.5, 5.0])})


@pytest.mark.parametrize(
    ("paid", "enter"),
    [
        ("30 to 50", lambda policy: fl.simulate(fl.Bandit(fl.Arms([30, 50], euros, mean=[30, 50])), policy, 20)),
        ("-inf to inf", lambda policy: fl.simulate(fl.Bandit(fl.gaussian([0.5, 0.6])), policy, 20)),
        ("0 to 5", lambda policy: fl.simulate(SharedBandit(LOUD.arms, shares=[0.1, 0.1]), policy, 20)),
        ("0 to 5", lambda policy: scripts.script(LOUD, policy)),
        ("0 to 5", to_the_right),
        ("0 to 5", lambda policy: fl.replay(log_of(Asked(2, rewards=(0.0, 5.0))), lambda k: policy)),
        ("-inf to inf", lambda policy: fl.Player(policy, 2, rewards=(-math.inf, math.inf))),
    ],
    ids=itertools.count(),
)
def test_rewards_outside_0_to_1_are_refused_unless_the_reader_takes_them(paid, enter):
    said = (
        f"policy 'UCB1' is made for rewards in [0, 1], not from {paid}: map them to [0, 1], or use "
        "policy.replace(unit_rewards=False), which takes them as they are"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        enter(fl.ucb1())
    enter(fl.ucb1().replace(unit_rewards=False))


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


# What a policy knows of a game with groups -------------------------------------------------------------------------


def test_a_policy_that_knows_some_groups_is_refused_where_there_are_others():
    """Compiled, it would look past the end of its table."""
    two, nine = (rk.separate_groups(np.ones((number, 2)), np.arange(number), 0.5) for number in (2, 9))
    for policy in (rk.oracle_cdf(two), rk.gmf(nine).replace(dimension=None, groups=2)):
        with pytest.raises(ValueError, match=f"policy '{policy.name}' is made for 2 groups, not 9"):
            fl.simulate(nine, policy, 50)
