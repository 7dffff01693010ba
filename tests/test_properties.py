"""What holds for every policy on every game: it is played by the rules, alike in each use, and summed up rightly.

The games are drawn (`strategies`), the policies are those of the zoo: a new one is tried without another line.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import js_engine
import numpy as np
import pytest
import strategies
import zoo
from helpers import equal, same, streams
from hypothesis import given, note
from hypothesis import strategies as st
from strategies import examples

import fairlib as fl
from fairlib.player import Player
from fairlib.rules.bound_rule import BoundRule

EVERY = pytest.mark.parametrize("name", zoo.ZOO)


def simulated(play: Any, **how: Any) -> fl.Result:
    """Let the engine play, and record every round."""
    how = {"seed": play.seed, "rounds": range(1, play.horizon + 1)} | how
    return fl.simulate(play.game, play.policy, play.horizon, **how)


@contextmanager
def nothing_compiled() -> Iterator[None]:
    """Leave every function to Python: the rule, what draws, and what sums."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BoundRule, "ready", lambda self, name, level: self.interpreted)
        yield


# By the rules --------------------------------------------------------------------------------------------------------


@EVERY
@examples(3)
@given(data=st.data())
def test_each_round_is_played_by_the_rules_and_summed_up_rightly(name, data):
    play = data.draw(strategies.plays(name))
    result = simulated(play)
    steps = list(fl.trace(play.game, play.policy, play.horizon, seed=play.seed))
    plays = getattr(play.policy, "plays", 1)
    before = np.zeros(result.selected.shape[2])
    for t, (step, selected) in enumerate(zip(steps, result.selected[0], strict=True), start=1):
        assert step.t == t
        assert ((step.p >= 0) & (step.p <= 1 + 1e-9)).all()
        assert step.p.sum() == pytest.approx(plays, abs=1e-9)
        assert step.played.size == np.unique(step.played).size == plays
        assert (step.p[step.played] > 0).all()
        before[step.played] += 1
        assert np.array_equal(before, selected)
        assert selected.sum() == plays * t
        if hasattr(step, "seen"):
            assert not step.p[step.available == 0].any()
            assert (step.seen.observed <= step.seen.selected).all()
            assert (step.seen.observed[step.seen.selected == 0] == 0).all()
            assert (step.seen.total[step.seen.observed == 0] == 0).all()
    np.testing.assert_allclose(result.reward[0], np.cumsum([step.rewards.sum() for step in steps]), atol=1e-9)
    recorded = {
        each: value for each, value in vars(result).items() if getattr(value, "shape", ())[:2] == (1, len(steps))
    }
    measures = zoo.MEASURES[type(play.game)]
    assert measures.keys() == recorded.keys() - {"selected", "reward"}
    for t in {1, (play.horizon + 1) // 2, play.horizon}:
        for each, measure in measures.items():
            expected = measure(play.game, steps[:t])
            np.testing.assert_allclose(recorded[each][0, t - 1], expected, rtol=1e-9, atol=1e-9, err_msg=each)


# What the fair policy has none of ----------------------------------------------------------------------------------


def as_told(table, p):
    for a in range(p.size):
        p[a] = table[a]


@pytest.mark.parametrize("name", [each for each in zoo.GAMES if hasattr(zoo.game(each), "optimal")])
@examples(3)
@given(data=st.data())
def test_the_fair_policy_has_no_regret_of_fairness_nor_of_reward(name, data):
    game = data.draw(strategies.variants(zoo.game(name)))
    policy = fl.Policy("fair", as_told, plays=game.plays, table=game.optimal)
    result = fl.simulate(game, policy, 40)
    np.testing.assert_allclose(result.fairness_regret, 0, atol=1e-9)
    np.testing.assert_allclose(result.reward_regret, 0, atol=1e-9)


# Alike in every use --------------------------------------------------------------------------------------------------


@EVERY
@examples(2)
@given(data=st.data())
def test_compiled_and_with_nothing_compiled_the_same_is_played(name, data):
    play = data.draw(strategies.plays(name))
    compiled = simulated(play, runs=2)
    with nothing_compiled():
        assert same(compiled, simulated(play, runs=2))


@EVERY
@examples(2)
@given(data=st.data())
def test_a_player_told_of_each_reward_when_it_is_due_plays_the_same_also_when_it_is_restarted(
    name, data, tmp_path_factory
):
    play = data.draw(strategies.plays(name))
    restarts = data.draw(st.sets(st.integers(1, play.horizon), max_size=3))
    note(f"restarted after rounds {sorted(restarts)}")
    path = tmp_path_factory.mktemp("player") / "player"
    expected = simulated(play).selected[0]
    counts = np.zeros(expected.shape[1], np.int64)
    at_work = on_arms if isinstance(play.game, fl.Bandit) else with_contexts
    for t, arms in enumerate(at_work(play, restarts, path), start=1):
        counts[list(arms)] += 1
        assert np.array_equal(counts, expected[t - 1]), f"in round {t}"
    assert counts.sum() == expected[-1].sum()


def on_arms(play, restarts, path):
    """Put a policy to work in a world that is written out: rewards, and their delays, in plain Python."""
    game, number = play.game, play.game.arms.means.size
    table = game.arms.draw.numbers({"K": number})
    waits = game.delay.draw.numbers({"K": number}) if game.delay else None
    who = game.available.draw.settings["table"] if game.available else None
    _, world = streams(play.seed, 0)
    low, high = (0, 1) if play.policy.unit_rewards else (-math.inf, math.inf)

    def opened():
        return Player(play.policy, number, rewards=(low, high), seed=play.seed, journal=path)

    player = opened()
    due: dict[int, list[Any]] = defaultdict(list)
    for t in range(1, play.horizon + 1):
        choice = player.choose(available=None if who is None else np.flatnonzero(who[(t - 1) % len(who)]))
        yield choice.arms
        for arm in choice.arms:
            reward = float(game.arms.draw.interpreted(table, arm, world))
            wait = game.delay.draw.interpreted(waits, arm, reward, world) if game.delay else 0
            if wait == 0:
                player.observe(t, reward, arm)
            elif wait > 0:  # or it never comes
                due[t + wait].append((t, reward, arm))
        for each in reversed(due.pop(t, [])):  # the last sent is read first, as the game does
            player.observe(*each)
        if t in restarts:
            player.close()
            player = opened()


def with_contexts(play, restarts, path):
    """Put a policy to work where arms have contexts."""
    world = play.game.world
    player = Player(
        play.policy,
        world.arms,
        dimension=world.dimension,
        groups=world.groups,
        horizon=play.horizon,
        rewards=(-math.inf, math.inf),
        seed=play.seed,
    )
    for step in fl.trace(play.game, play.policy, play.horizon, seed=play.seed):
        choice = player.choose(step.now.contexts, step.now.groups)
        assert choice.chances == tuple(step.p[step.played])
        yield choice.arms
        if step.t in restarts:  # its reward is on its way
            player.save(path)
            player = Player.load(path, play.policy)
        player.observe(choice.round, step.rewards[0])


@pytest.mark.parametrize("name", zoo.ZOO)
@examples(1)
@given(data=st.data())
def test_a_page_plays_the_same(name, data):
    """What a page computes is run in the language of a browser; the browser itself is in test_plays_in_page.py."""
    play = data.draw(strategies.plays(name))
    said = js_engine.games(play.game, play.policy, play.horizon)
    (made,) = js_engine.evaluated(said, f"[0].map({js_engine.RUN.replace('SEED', str(play.seed))})")
    rounds = simulated(play, rounds=None)
    assert made[0] == 0
    np.testing.assert_array_equal(made[1], rounds.selected[0])
    # A browser may have other last bits of exp, log and powers than the compiler, of which Beta rewards are made.
    np.testing.assert_allclose(made[2], rounds.reward[0], rtol=1e-12)


@EVERY
@examples(2)
@given(data=st.data())
def test_a_game_that_ends_sooner_is_the_first_part_of_the_same_game(name, data):
    play = data.draw(strategies.plays(name))
    sooner = data.draw(st.integers(1, play.horizon))
    whole = simulated(play, runs=2)
    part = fl.simulate(play.game, play.policy, sooner, runs=1, seed=play.seed, rounds=range(1, sooner + 1))
    for each, value in vars(part).items():
        if isinstance(value, np.ndarray) and each != "rounds":
            assert equal(each, value, getattr(whole, each)[:1, :sooner]), each
    some = sorted(data.draw(st.sets(st.integers(1, play.horizon), min_size=1)))
    assert np.array_equal(simulated(play, rounds=some).selected[0], whole.selected[0][np.array(some) - 1])
