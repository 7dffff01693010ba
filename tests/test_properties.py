"""What holds for every policy on every game: it is played by the rules, alike in each use, and summed up rightly.

The games are drawn (`strategies`), the policies are those of the zoo: a new one is tried without another line.
"""

import math
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import js_engine
import numpy as np
import pytest
import strategies
import zoo
from helpers import same, streams
from hypothesis import given, note
from hypothesis import strategies as st
from strategies import examples

import fairlib as fl
from fairlib import delays, exposure, ranks, shares
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
            assert (step.seen.observed <= step.seen.selected).all()
            assert (step.seen.observed[step.seen.selected == 0] == 0).all()
            assert (step.seen.total[step.seen.observed == 0] == 0).all()
    np.testing.assert_allclose(result.reward[0], np.cumsum([step.rewards.sum() for step in steps]), atol=1e-9)
    recorded = {
        each: value for each, value in vars(result).items() if getattr(value, "shape", ())[:2] == (1, len(steps))
    }
    measures = MEASURES[type(play.game)]
    assert measures.keys() == recorded.keys() - {"selected", "reward"}
    for t in {1, (play.horizon + 1) // 2, play.horizon}:
        for each, measure in measures.items():
            expected = measure(play.game, steps[:t])
            np.testing.assert_allclose(recorded[each][0, t - 1], expected, rtol=1e-9, atol=1e-9, err_msg=each)


# What a game sums, each as its definition says, in the plainest way: of a game, and of its rounds so far.


def regret(game, steps):
    best = sum(sorted(game.arms.means, reverse=True)[: game.plays])
    return sum(best - sum(game.arms.means[a] for a in step.played) for step in steps)


def r_regret(game, steps):
    """Return the regret against the policy that serves every share up to the tolerance, and else plays the best arm."""
    best, earned = max(game.arms.means), 0.0
    owed = [max(0, math.floor(exactly(r) * len(steps)) - game.tolerance) for r in game.shares]
    for owes, mean in zip(owed, game.arms.means, strict=True):
        earned += owes * mean
    earned += (len(steps) - sum(owed)) * best
    return earned - sum(game.arms.means[a] for step in steps for a in step.played)


def violation(game, steps):
    behind = [math.floor(exactly(r) * step.t) - step.selected[a] for step in steps for a, r in enumerate(game.shares)]
    return max(0, *behind)


def deficit(game, steps):
    behind = [exactly(r) * step.t - int(step.selected[a]) for step in steps for a, r in enumerate(game.shares)]
    return float(max(0, *behind))


def exactly(share):
    """Return a share of thousandths that a float stands for."""
    return Fraction(round(1000 * float(share)), 1000)


def fair(game, means=None):
    """Return the fair policy: exposure in proportion to merit."""
    cut = np.clip(game.arms.means if means is None else means, game.merit.low, game.merit.high)
    merits = [float(game.merit(mean)) for mean in cut]
    return np.array([getattr(game, "plays", 1) * each / sum(merits) for each in merits])


def signed_regret(game, steps):
    return sum(((fair(game) - step.p) * game.arms.means).sum() for step in steps)


def positive_regret(game, steps):
    return sum(max(0.0, ((fair(game) - step.p) * game.arms.means).sum()) for step in steps)


def unfairness(game, steps):
    return sum(abs(fair(game) - step.p).sum() for step in steps)


def regret_in_context(game, steps):
    return sum(max(step.means) - step.means[step.played[0]] for step in steps)


def signed_regret_in_context(game, steps):
    return sum(((fair(game, step.means) - step.p) * step.means).sum() for step in steps)


def unfairness_in_context(game, steps):
    return sum(abs(fair(game, step.means) - step.p).sum() for step in steps)


def regret_of_ranks(game, steps):
    lost = 0.0
    for step in steps:
        among = [float(game.distributions[g].cdf(x)) for g, x in zip(step.now.groups, step.means, strict=True)]
        lost += max(among) - among[step.played[0]]
    return lost


def received(game, steps):
    return [sum(int((step.now.groups == g).sum()) for step in steps) for g in range(game.world.groups)]


def chosen(game, steps):
    return [sum(int(step.now.groups[step.played[0]] == g) for step in steps) for g in range(game.world.groups)]


ON_RANKS = {
    "regret": regret_in_context,
    "fairness_regret": regret_of_ranks,
    "received": received,
    "chosen": chosen,
}
MEASURES: dict[type, dict[str, Any]] = {
    fl.Bandit: {"regret": regret},
    shares.SharedBandit: {"regret": regret, "r_regret": r_regret, "violation": violation, "deficit": deficit},
    exposure.ExposureBandit: {"regret": regret, "reward_regret": signed_regret, "fairness_regret": unfairness},
    delays.SemiBandit: {
        "regret": regret,
        "reward_regret": positive_regret,
        "signed_regret": signed_regret,
        "fairness_regret": unfairness,
    },
    fl.ContextBandit: {"regret": regret_in_context},
    exposure.ContextExposureBandit: {
        "regret": regret_in_context,
        "reward_regret": signed_regret_in_context,
        "fairness_regret": unfairness_in_context,
    },
    ranks.RankBandit: ON_RANKS,
    ranks.WeightedBandit: ON_RANKS,
}


# What only grows, and what the fair policy has none of ------------------------------------------------------------

GROW = {"violation", "deficit", "fairness_regret", "received", "chosen"}


@EVERY
@examples(1)
@given(data=st.data())
def test_what_can_only_grow_grows_and_by_no_more_than_a_round_can_cost(name, data):
    play = data.draw(strategies.plays(name))
    result = simulated(play, runs=2)
    for each in GROW & vars(result).keys():
        assert (np.diff(getattr(result, each), axis=1) >= -1e-12).all(), each
        assert (getattr(result, each) >= 0).all(), each
    if isinstance(play.game, delays.SemiBandit):
        assert (np.diff(result.reward_regret, axis=1) >= 0).all()
        assert (result.signed_regret <= result.reward_regret + 1e-9).all()
        # Both policies lay out `plays`, and neither gives an arm more than all: what is missing here is too much there.
        room = 2 * min(play.game.plays, play.game.arms.means.size - play.game.plays)
        assert (np.diff(result.fairness_regret, axis=1, prepend=0) <= room + 1e-9).all()
    elif isinstance(play.game, ranks.RankBandit):
        assert (np.diff(result.fairness_regret, axis=1, prepend=0) <= 1).all()
        assert (result.chosen <= result.received).all()
    elif hasattr(result, "fairness_regret"):
        assert (np.diff(result.fairness_regret, axis=1, prepend=0) <= 2 + 1e-9).all()
    if isinstance(play.game, shares.SharedBandit):  # whole plays behind: the deficit rounded down, round by round
        assert (result.violation <= result.deficit + 1e-6).all()
        assert (result.deficit < result.violation + 1).all()
        assert (result.r_regret <= result.regret + 1e-9).all()


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


def restarted(player, path):
    player.save(path)
    return Player.load(path, player.policy)


def on_arms(play, restarts, path):
    """Put a policy to work in a world that is written out: rewards, and their delays, in plain Python."""
    game, number = play.game, play.game.arms.means.size
    table = game.arms.draw.numbers({"K": number})
    waits = game.delay.draw.numbers({"K": number}) if game.delay else None
    _, world = streams(play.seed, 0)
    low, high = (0, 1) if play.policy.unit_rewards else (-math.inf, math.inf)
    player = Player(play.policy, number, rewards=(low, high), seed=play.seed)
    due: dict[int, list[Any]] = defaultdict(list)
    for t in range(1, play.horizon + 1):
        choice = player.choose()
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
            player = restarted(player, path)


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
            player = restarted(player, path)
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
            assert np.array_equal(value, getattr(whole, each)[:1, :sooner]), each
    some = sorted(data.draw(st.sets(st.integers(1, play.horizon), min_size=1)))
    assert np.array_equal(simulated(play, rounds=some).selected[0], whole.selected[0][np.array(some) - 1])
