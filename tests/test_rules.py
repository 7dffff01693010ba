"""Rules by name: what they may ask for, what they get, how they may answer, and the message for a slip."""

# Slips are among what it is about.
# mypy: disable-error-code="arg-type, return-value, name-defined, attr-defined"

import contextlib
import functools
import io
import itertools
import math
import pickle
import random
import re
import sys
import types
import warnings
from typing import Annotated, Any, NamedTuple

import numba
import numpy as np
import pytest
from helpers import both_ways, exp3, same

import fairlib as fl
from fairlib import figures, linear
from fairlib.baselines.classic import ucb1_rule
from fairlib.baselines.linear import linucb_rule, oful
from fairlib.core import Array, BoundRule, Number, PerArm, PerDimension, PerGroup, Square, largest, sphere
from fairlib.shares import fair_learn, fair_ucb, lfg

GAME = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.2]))
CONTEXTS = fl.ContextBandit(sphere(3, [0.6, 0.8]))


def by_arm(wait):
    """Return the delay of the arm."""
    return wait


def uneven(within, rng):
    """Lose one reward in ten; the others are late by chance."""
    return math.inf if rng.random() < 0.1 else math.floor(within * rng.random())


LATE = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.2]), delay=fl.Delay(uneven, within=[9, 3, 30]))


def policy_of(rule, game=GAME, **settings):
    made = fl.Policy if isinstance(game, fl.Bandit) else fl.ContextPolicy
    return made("own", rule, **settings)


def counts(rule, game=GAME, horizon=60, **settings):
    """Return how often each arm is played; compiled and interpreted it is the same."""
    return both_ways(game, policy_of(rule, game, **settings), horizon, runs=2).selected[0, -1].tolist()


def remembered(rule, game=GAME, horizon=5, **settings):
    """Return the memory of a rule after some rounds; compiled and interpreted it is the same."""
    policy = policy_of(rule, game, **settings)
    *_, last = fl.trace(game, policy, horizon)
    *_, plain = fl.trace(game, policy.replace(interpret=True), horizon)
    assert last.memory.keys() == plain.memory.keys()
    for name, block in last.memory.items():
        assert np.array_equal(block, plain.memory[name]), name
    return last.memory


def refusal(rule, game=GAME, **settings):
    """Return the one line with which a rule, or what it is set with, is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises((TypeError, ValueError, NameError)) as caught:
            fl.simulate(game, policy_of(rule, game, **settings), 5)
    assert "\n" not in str(caught.value)
    assert not any("numba" in str(each.path) for each in caught.traceback), "the reader would have to scroll"
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


# Settings ------------------------------------------------------------------------------------------------------------


def keeps_settings(number, whole: int, truth: bool, flat, square, cube, p, store: Annotated[Array, 7]):
    store[0], store[1], store[2] = number, whole // 2, 1.0 if truth else 0.0
    store[3], store[4], store[5] = flat[1], square[1, 2], cube[1, 0, 2]
    store[6] = flat.size + 10 * square.shape[0] + 100 * cube.shape[2]
    return whole % p.size


@pytest.mark.parametrize("game", [GAME, CONTEXTS], ids=["arms", "contexts"])
def test_settings_arrive_by_their_names_as_they_were_given(game):
    given = {
        "cube": np.arange(12.0).reshape(2, 2, 3),
        "whole": 7,
        "square": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]],
        "truth": True,
        "number": 0.1,
        "flat": (1, 2.5),
    }
    assert remembered(keeps_settings, game, **given)["store"].tolist() == [0.1, 3, 1, 2.5, 0.6, 8, 322]


def test_settings_are_the_policy_s_own_and_can_be_looked_at():
    means = np.array([0.5, 0.2, 0.1])
    policy = policy_of(lambda means, seen, p: np.argmax(means), means=means)
    means[2] = 9.0
    assert policy.settings["means"].tolist() == [0.5, 0.2, 0.1]
    with pytest.raises(TypeError):
        policy.settings["means"] = 3.0
    with pytest.raises(ValueError, match="read-only"):
        policy.settings["means"][0] = 3.0
    assert policy.replace(means=[0.0, 0.0, 1.0]).settings["means"].tolist() == [0, 0, 1]


def rule_writes(table, p):
    table[0] += 1.0
    return int(table[0]) % 2


def draw_writes(table, rng):
    table[0] += 1.0
    return rng.random()


def delay_writes(table, reward):
    if reward > 0.5:
        table[1] = 0.0
    return 0 if reward > 0.5 else table[0]


def world_writes(level, contexts, means, rewards):
    contexts[:] = 1.0
    means[0] = rewards[0] = level[0]
    level[0] = 0.8


SCRIBBLES = {
    "the rule of 'own'": (GAME, policy_of(rule_writes, table=[0.0])),
    "the rule of 'asks'": (
        GAME,
        fl.Policy("asks", lambda learner, p: fl.ask(learner, p), learner=policy_of(rule_writes, table=[0.0])),
    ),
    "the rule of 'contexts'": (CONTEXTS, fl.ContextPolicy("contexts", rule_writes, table=[0.0])),
    "what draws a reward": (fl.Bandit(fl.Arms([1, 1], draw_writes, table=[[0, 1], [0, 1]])), fl.uniform()),
    "what draws a round": (fl.ContextBandit(fl.World(2, 1, world_writes, level=[400.0])), linear.at_random()),
}


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("whose", SCRIBBLES)
def test_nothing_writes_to_its_settings(whose, compiled, monkeypatch):
    """Or what one run has written would be the next one's setting, and one game's would be another's."""
    game, policy = SCRIBBLES[whose]
    said = rf"^{re.escape(whose)} must not write to its settings or to what it has seen \(line \d+: .*= .*\)$"
    if not compiled:
        monkeypatch.setattr(BoundRule, "ready", lambda self, name, level: self.interpreted)
        said = (
            rf"^the rule of '{policy.name}', or a draw of your own, must not write to its settings .*; in round 1 of "
        )
    for play in (lambda: fl.simulate(game, policy, 3, runs=4), lambda: fl.trace(game, policy, 3)):
        with pytest.raises(ValueError, match=said):
            play()
    if whose == "the rule of 'own'":
        with pytest.raises(ValueError, match=r"the rule of 'own' must not write to its settings"):
            fl.Player(policy, arms=2).choose()


def test_nor_does_a_delay():
    with pytest.raises(
        ValueError, match=r"^the delay 'own' must not write to its settings .*; in a trial draw it did$"
    ):
        fl.Delay(delay_writes, table=[[1.0, 1.0]])


def takes(width, p, whole: int = 1, truth: bool = True):
    return 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "'takes' is set with width, whole and truth; width must be given"),
        ({"width": 1, "widht": 2}, "'takes' is set with width, whole and truth; it knows no widht"),
        ({"width": "wide"}, "width must be a number, an array of numbers, a Merit or a Policy, not 'wide'"),
        ({"width": True}, "width must be a number, not True"),
        ({"width": math.nan}, "width must be a number, not nan"),
        ({"width": [1.0, math.inf]}, "width must be finite numbers, not inf (at [1])"),
        ({"width": [[1, 2], [3]]}, "width must be an array of numbers with 1 axes, not [[1, 2], [3]]"),
        ({"width": fl.ContextPolicy("other", lambda p: 0)}, "width can't be ContextPolicy('other'): only a rule"),
        ({"width": 1, "whole": 1.0}, "whole must be a whole number, not 1.0"),
        ({"width": 1, "whole": 2**60}, "whole must be a whole number of at least -9007199254740992 and at most "),
        ({"width": 1, "truth": 1}, "truth must be True or False, not 1"),
    ],
)
def test_settings_are_refused_by_name(settings, message):
    assert refusal(takes, **settings).startswith(message)


def test_a_setting_must_not_be_called_as_what_a_policy_is_made_with():
    said = "has a setting 'arms', which is what every Policy is made with: call it something else"
    assert said in refusal(lambda arms, p: 0, arms=3)
    assert "'dimension', which is what every ContextPolicy" in refusal(lambda dimension, p: 0, CONTEXTS, dimension=2)


# Memory --------------------------------------------------------------------------------------------------------------


class Box(NamedTuple):
    """Memory that goes together."""

    low: PerArm
    high: PerArm
    depth: Number


PerRound = Annotated[Array, "T"]
PerWindow = Annotated[Array, "window"]


def test_memory_on_arms_has_the_sizes_that_it_says():
    def rule(
        window: int,
        arm: PerArm,
        time: PerRound,
        ring: PerWindow,
        two: Annotated[Array, 2],
        table: Annotated[Array, "K", "window"],
        one: Number,
        box: Box,
        p,
    ):
        arm[2] += 1.0
        time[time.size - 1] += 1.0
        ring[ring.size - 1] += 1.0
        two[1] += 1.0
        table[2, 3] += 1.0
        one[0] += 1.0
        box.low[0], box.high[2], box.depth[0] = 1.0, 2.0, 3.0
        return 0

    memory = remembered(rule, window=4)
    shapes = {name: block.shape for name, block in memory.items()}
    tuples = {"box.low": (3,), "box.high": (3,), "box.depth": ()}
    assert shapes == {"arm": (3,), "time": (5,), "ring": (4,), "two": (2,), "table": (3, 4), "one": ()} | tuples
    assert memory["arm"].tolist() == [0, 0, 5]
    assert memory["time"].tolist() == [0, 0, 0, 0, 5]
    assert memory["ring"].tolist() == [0, 0, 0, 5]
    assert memory["table"].sum() == memory["table"][2, 3] == 5
    assert [float(memory[name].sum()) for name in tuples] == [1, 2, 3]


def test_memory_with_contexts_has_the_sizes_that_it_says():
    def rule(
        arm: PerArm,
        d: PerDimension,
        square: Square,
        group: PerGroup,
        time: PerRound,
        pair: Annotated[Array, "K", "d"],
        p,
    ):
        arm[2], d[1], group[0], time[4] = 1.0, 2.0, 3.0, 4.0
        square[1, 0] += 1.0
        pair[2, 1] += 1.0
        return 0

    memory = remembered(rule, CONTEXTS)
    shapes = {name: block.shape for name, block in memory.items()}
    assert shapes == {"arm": (3,), "d": (2,), "square": (2, 2), "group": (1,), "time": (5,), "pair": (3, 2)}
    assert memory["square"].tolist() == [[0, 0], [5, 0]]


def test_memory_for_each_arm_keeps_its_axis_where_there_is_one_arm():
    def rule(arm: PerArm, one: Number, p):
        return 0

    memory = remembered(rule, fl.Bandit(fl.bernoulli([0.5])))
    assert memory["arm"].shape == (1,)
    assert memory["one"].shape == ()


@pytest.mark.parametrize("name", ["state", "told", "function", "params", "p_tuple"])
def test_memory_may_have_any_name(name):
    world: dict[str, Any] = {"Box": Box}
    exec(f"def rule(p, {name}: Box):\n    {name}.depth[0] += 1.0\n    return 0", world)
    assert remembered(world["rule"])[f"{name}.depth"] == 5


def in_vain(seen, low: PerDimension, p):
    return 0


def ringed(now, ring: PerWindow, p):
    return 0


def in_a_window(window, ring: PerWindow, p):
    return 0


def empty(seen, ring: Annotated[Array, 0], p):
    return 0


def forgetful(seen, low, p):
    return 0


@pytest.mark.parametrize(
    ("rule", "game", "settings", "sentence"),
    [
        (in_vain, GAME, {}, "'in_vain' has memory of size 'd', which is neither one of K and T nor a setting"),
        (ringed, CONTEXTS, {}, "memory of size 'window', which is neither one of K, d, G and T nor a setting"),
        (in_a_window, GAME, {"window": 0}, "window must be a whole number of at least 1, not 0"),
        (in_a_window, GAME, {"window": 2.5}, "window must be a whole number of at least 1, not 2.5"),
        (empty, GAME, {}, "the size of ring must be a whole number of at least 1, not 0"),
        (forgetful, GAME, {}, "low must be given (if it is memory, it must say its size: PerArm, or such)"),
    ],
    ids=itertools.count(),
)
def test_memory_is_refused_by_name(rule, game, settings, sentence):
    assert sentence in refusal(rule, game, **settings)


def test_what_keeps_no_memory_says_so():
    def tired(mean, rng, calls: Number):
        return mean

    with pytest.raises(TypeError, match="what draws a reward has no memory of its own; 'tired' asks for calls"):
        fl.Arms([0.5], tired, mean=[0.5])


# Chance ---------------------------------------------------------------------------------------------------------------


GENERATOR = np.random.default_rng(3)
draw_a_normal = np.random.standard_normal


def of_numpy(p):
    """Draw from NumPy's chance."""
    return np.random.randint(p.size)  # noqa: NPY002


@numba.njit
def compiled_chance(p):
    """Draw, compiled by the reader."""
    return np.random.randint(p.size)  # noqa: NPY002


RULE_OF_CHANCE = fl.rule(of_numpy)


def in_a_closure():
    own = np.random.default_rng(3)
    return lambda p: own.integers(p.size)


@pytest.mark.parametrize(
    ("function", "refers"),
    [
        (lambda p: np.random.default_rng(p.size).integers(3), "'np.random'"),
        (lambda p: int(draw_a_normal() > 0), "'draw_a_normal'"),
        (lambda p: GENERATOR.integers(p.size), "'GENERATOR'"),
        (lambda p: random.randrange(p.size), "'random'"),
        (lambda p: max([np.random.default_rng(a).integers(2) for a in range(p.size)]), "'np.random'"),
        (lambda p: of_numpy(p), "'np.random' in 'of_numpy'"),
        (lambda p: compiled_chance(p), "'np.random' in 'compiled_chance'"),
        (lambda p: RULE_OF_CHANCE(p), "'np.random' in 'of_numpy'"),
        (in_a_closure(), "'own'"),
        (functools.partial(lambda best, p: np.random.default_rng(best).integers(p.size), best=1), "'np.random'"),
    ],
    ids=itertools.count(),
)
def test_a_rule_with_chance_of_its_own_is_refused(function, refers):
    said = f"'<lambda>' must look at its arguments only; it refers to {refers} (draw from rng)"
    for made in (fl.Policy, fl.ContextPolicy):
        with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
            made("chance", function)


def draws(mean):
    """Draw a reward from Python's chance."""
    return random.gauss(mean)


def test_so_are_a_draw_and_a_delay():
    said = r"^'draws' must look at its arguments only; it refers to 'random' \(draw from rng\)$"
    with pytest.raises(ValueError, match=said):
        fl.Arms([0.5], draws, mean=[0.5])
    with pytest.raises(ValueError, match=said):
        fl.Delay(draws, mean=[5])


def test_a_rule_that_draws_from_rng_is_none():
    def from_a_helper(rng, p):
        return rng.integers(p.size)

    def honest(rng, random: Number, p):
        """Has memory of the name of a module that stands beside it, and asks rng for a method of that name."""
        random[0] = rng.random() + np.sum(p) + rng.standard_normal()
        return from_a_helper(rng, p) if random[0] < later(p) else 0

    policy = fl.Policy("honest", honest)
    assert policy.rule.memory

    def later(p):  # a cell that is empty when the policy is made
        return 0.5

    fl.check_policy(policy.replace(interpret=True))


# What the engine gives -----------------------------------------------------------------------------------------------


SEEN = "it has t, selected, observed and total"


@pytest.mark.parametrize(
    ("rule", "game", "message"),
    [
        (lambda now, p: 0, GAME, "policy on arms may ask for seen, available, feedback, rng and p, not for now"),
        (lambda seen, p: 0, CONTEXTS, "with contexts may ask for now, feedback, ridge, past, rng and p, not for seen"),
        (lambda t, selected, p: 0, GAME, "t and selected must be given (t is seen.t: ask for seen)"),
        (lambda contexts, p: 0, CONTEXTS, "contexts must be given (contexts is now.contexts: ask for now)"),
        (lambda d, p: 0, GAME, "'<lambda>' is set with d; d must be given"),
        (lambda seen, p: seen.count[0], GAME, f"'<lambda>' asks seen for 'count'; {SEEN}"),
        (lambda seen, p: seen.index(3), GAME, f"'<lambda>' asks seen for 'index'; {SEEN}"),
        (lambda feedback, p: feedback.played, GAME, "for 'played'; it has size, arm, reward, round and chance"),
        (lambda now, p: now.context[0], CONTEXTS, "asks now for 'context'; it has t, contexts and groups"),
        (lambda *given: 0, GAME, "'<lambda>' must name its arguments, one by one; *given names none"),
        (lambda p, **more: 0, GAME, "'<lambda>' must name its arguments, one by one; **more names none"),
        (3, GAME, "a rule must be a function, not 3"),
    ],
    ids=itertools.count(),
)
def test_what_a_rule_can_not_have_is_refused_by_name(rule, game, message):
    assert message in refusal(rule, game)


def test_a_slip_in_a_rule_s_own_tuple_or_within_a_function_of_its_own_is_refused_by_name():
    def boxed(box: Box, p):
        return int(box.lower[0])

    def within(seen, p):
        def best(a):
            return seen.sum[a]

        return best(0)

    def its_own(seen, p):
        def best(seen):
            return seen.size  # another one

        return best(seen.total) % 3

    assert refusal(boxed) == "'boxed' asks box for 'lower'; it has low, high and depth"
    assert refusal(within) == "'within' asks seen for 'sum'; it has t, selected, observed and total"
    assert counts(its_own) == [60, 0, 0]


def test_ridge_must_be_said_where_it_is_asked_for_and_nowhere_else():
    with pytest.raises(TypeError, match=r"asks for ridge: say its regularizer, such as ridge=1\.0"):
        fl.ContextPolicy("own", linucb_rule, radius=1.0)
    with pytest.raises(TypeError, match="does not ask for ridge"):
        fl.ContextPolicy("own", lambda now, p: 0, ridge=1.0)


# The answer ----------------------------------------------------------------------------------------------------------


def test_a_rule_may_return_an_arm_fill_p_or_do_one_or_the_other():
    def returns(seen, p):
        return seen.t % 3

    def fills(seen, p):
        p[seen.t % 3] = 1.0

    def either(seen, p):
        if seen.t % 2 == 0:
            return seen.t % 3
        p[seen.t % 3] = 1.0

    def scribbles(seen, p):
        p[:] = 7.0  # what it has returned is what counts
        return seen.t % 3

    def minus_one(seen, p):
        p[seen.t % 3] = 1.0
        return -1

    results = [both_ways(GAME, policy_of(rule), 30, runs=2) for rule in (returns, fills, either, scribbles, minus_one)]
    assert all(same(results[0], other) for other in results[1:])


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("game", [GAME, CONTEXTS], ids=["arms", "contexts"])
@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda p: 3, "the rule of 'own' must return probabilities in [0, 1] that sum to 1, or an arm that there is"),
        (lambda p: -2, "or an arm that there is; in round 1 of run 0 it did not"),
        (lambda p: None, "or an arm that there is; in round 1 of run 0 it did not"),
        (lambda p: 1.0, "a rule must return an arm, a whole number, or nothing after it has filled p, not "),
        (lambda p: True, "a rule must return an arm, a whole number, or nothing after it has filled p, not True"),
        (lambda p: p, "a rule must return an arm, a whole number, or nothing after it has filled p, not a"),
    ],
    ids=["3", "-2", "nothing", "1.0", "True", "p"],
)
def test_an_answer_that_is_none_is_refused_in_one_sentence(rule, message, game, interpret):
    assert message in refusal(rule, game, interpret=interpret)


def test_where_several_arms_are_played_a_rule_must_fill_p():
    game = fl.Bandit(GAME.arms, plays=2)
    for interpret in (False, True):
        message = "must return probabilities in [0, 1] that sum to 2; in round 1 of run 0 it did not"
        assert message in refusal(lambda p: 0, game, plays=2, interpret=interpret)


# Feedback ------------------------------------------------------------------------------------------------------------


class Notebook(NamedTuple):
    """Feedback: arm, reward, round and chance in a row; and how much there was when the rule was asked."""

    size: Number
    asked: PerRound
    rows: Annotated[Array, 400, 4]


@fl.rule
def takes_notes(plays, seen, feedback, notes: Notebook, p):
    """Write down all feedback, and play by it, so that feedback of another order would be other play."""
    for i in range(feedback.size):
        at = int(notes.size[0])
        notes.rows[at, 0], notes.rows[at, 1] = feedback.arm[i], feedback.reward[i]
        notes.rows[at, 2], notes.rows[at, 3] = feedback.round[i], feedback.chance[i]
        notes.size[0] += 1.0
    notes.asked[seen.t - 1] = notes.size[0]
    code = 1.0
    for i in range(int(notes.size[0])):
        code = (7.0 * code + 3.0 * notes.rows[i, 0] + notes.rows[i, 1] + notes.rows[i, 2] + notes.rows[i, 3]) % 101.0
    for a in range(p.size):
        p[a] = 0.9 * plays / p.size
    p[int(code) % p.size] += 0.1 * plays


def arrivals(steps, wait):
    """Return what arrives in each round: what is not late first, then the last sent first."""
    sent: dict[int, list[tuple[float, ...]]] = {}
    by_round = []
    for step in steps:
        at_once = []
        for arm, reward in zip(step.played.tolist(), step.rewards.tolist(), strict=True):
            message = (arm, reward, step.t, step.p[arm])
            if wait[arm] == 0:
                at_once.append(message)
            elif wait[arm] < math.inf:
                sent.setdefault(step.t + wait[arm], []).append(message)
        by_round.append(at_once + sent.pop(step.t, [])[::-1])
    return by_round


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("plays", [1, 3])
@pytest.mark.parametrize("wait", [[0, 0, 0, 0], [0, 2, 5, math.inf], [4, 3, 2, 1]], ids=["at once", "late", "together"])
def test_news_is_exactly_what_came_in_since_the_rule_was_asked(wait, plays, interpret):
    game = fl.Bandit(fl.gaussian([0.1, 0.4, 0.8, 0.3]), plays=plays, delay=fl.Delay(by_arm, wait=wait))
    steps = list(fl.trace(game, policy_of(takes_notes, plays=plays, interpret=interpret), 60, seed=1))
    arrived = arrivals(steps, wait)
    memory = steps[-1].memory
    expected = [message for each in arrived[:-1] for message in each]
    assert memory["notes.asked"].tolist() == np.cumsum([0, *map(len, arrived[:-1])]).tolist()
    assert memory["notes.rows"][: len(expected)].tolist() == [list(message) for message in expected]


def test_news_without_delay_is_the_round_before_with_contexts_too():
    def rule(now, feedback, p, rows: Annotated[Array, "T", 5]):
        rows[now.t - 1, 0] = feedback.size
        if feedback.size > 0:
            rows[now.t - 1, 1], rows[now.t - 1, 2] = feedback.arm[0], feedback.reward[0]
            rows[now.t - 1, 3], rows[now.t - 1, 4] = feedback.round[0], feedback.chance[0]
        p[0], p[1] = 0.75, 0.25

    policy = fl.ContextPolicy("own", rule)
    steps = list(fl.trace(CONTEXTS, policy, 12))
    expected = [[1, step.played[0], step.rewards[0], step.t, step.p[step.played[0]]] for step in steps[:-1]]
    assert steps[-1].memory["rows"].tolist() == [[0] * 5, *expected]
    assert remembered(rule, CONTEXTS, 12)["rows"].tolist() == [[0] * 5, *expected]


def test_a_learner_gets_all_news_that_came_in_since_it_was_last_asked():
    asked = []

    def listens(seen, feedback, p):
        asked.append((seen.t, [tuple(each[i] for each in feedback[1:]) for i in range(feedback.size)]))
        return 0

    loud = fair_learn(fl.Policy("listens", listens, interpret=True), [0.3, 0.3, 0.3])
    assert loud.interpret
    steps = list(fl.trace(fl.Bandit(GAME.arms, delay=fl.Delay(by_arm, wait=[0, 2, 7])), loud, 60))
    arrived = arrivals(steps, [0, 2, 7])
    assert 1 < len(asked) < 40, "it is to be asked in some rounds and not in others"
    before = 1
    for t, feedback in asked:
        assert feedback == [message for each in arrived[before - 1 : t - 1] for message in each]
        before = t


def test_a_rule_and_each_of_its_learners_read_the_news_on_their_own():
    @fl.rule
    def two_minds(first, second, seen, feedback, notes: Notebook, p):
        for i in range(feedback.size):
            notes.rows[int(notes.size[0]), 2] = feedback.round[i]
            notes.size[0] += 1.0
        notes.asked[seen.t - 1] = notes.size[0]
        if seen.t % 3 == 0:
            return fl.ask(first, p)
        return fl.ask(second, p) if seen.t % 3 == 1 else 0

    nested = fair_learn(policy_of(takes_notes), [0.1, 0.1, 0.1])
    policy = policy_of(two_minds, first=policy_of(takes_notes), second=nested)
    assert policy.bound_rule.readers == 3
    assert policy.arms == 3
    for game in (GAME, LATE):
        result = both_ways(game, policy, 150, runs=2, rounds=range(1, 151))
        assert [step.selected.tolist() for step in fl.trace(game, policy, 150)] == result.selected[0].tolist()
    steps = list(fl.trace(GAME, policy, 30))
    assert steps[-1].memory["notes.rows"][:29, 2].tolist() == list(range(1, 30))
    # The learners' memories lie behind one another: sizes, when they were asked, and their rows.
    rows = steps[-1].memory["first"][1 + 30 :].reshape(400, 4)
    assert rows[:29, 2].tolist() == list(range(1, 30))


# Learners ------------------------------------------------------------------------------------------------------------


def test_a_learner_made_for_other_arms_or_another_game_is_refused():
    with pytest.raises(ValueError, match="arms must be 2, as 'FAIR-UCB' is made for, not 3"):
        fl.Policy("own", lambda learner, p: fl.ask(learner, p), arms=3, learner=fair_ucb([0.1, 0.1]))
    policy = policy_of(lambda learner, p: fl.ask(learner, p), learner=fair_ucb([0.1, 0.1]))
    assert "is made for 2 arms, not 3" in refusal(policy.rule, learner=policy.settings["learner"])
    for game, learner in ((GAME, oful(1, 1, 0.1)), (CONTEXTS, oful(1, 1, 0.1)), (CONTEXTS, fl.ucb1())):
        said = refusal(lambda learner, p: fl.ask(learner, p), game, learner=learner)
        assert said.endswith("only a rule on arms may ask another policy, one on arms as well")


# Readers' rules: compiled as they are now, or interpreted with a sentence ---------------------------------------------


def halved(x):
    return x / 2.0


def index(seen, a, scale=2.0):
    return halved(seen.total[a]) * scale / (1.0 + seen.observed[a])


def pick(values, upward=True, start: int = 0):
    best = start
    for a in range(values.size):
        if (values[a] > values[best]) == upward:
            best = a
    return best


@numba.njit
def compiled_already(x):
    return x + 1.0


def test_helpers_closures_and_lambdas_play_the_same_compiled_and_interpreted():
    scale, thrice = 0.7, lambda x: 3.0 * x
    nothing: Any = None

    def nested(x):
        if nothing is not None:
            return 0.0

        def within(y):
            return scale * y

        return within(thrice(x))

    def helped(seen, p):
        for a in range(p.size):
            p[a] = index(seen, a) + nested(index(seen, a, scale=0.5)) + compiled_already(0.1 * a)
        return pick(p, upward=False)

    def within(seen, p):
        def score(a):
            return seen.total[a] - 0.5 * seen.observed[a]

        values = np.array([score(a) for a in range(p.size)])
        return np.argmin(values)

    for rule in (helped, within, lambda seen, p: int(thrice(seen.t)) % p.size, lambda seen, p: largest(-seen.total)):
        for game in (GAME, LATE):
            counts(rule, game)


def test_keyword_only_arguments_are_given_by_name_in_plain_python():
    def rule(*, width, seen, low: PerArm, p, arm: int = 1):
        low[0] += width
        return arm if low[0] < 10 * width else 0

    with pytest.warns(UserWarning, match="is interpreted, some hundred times slower"):
        shown = fl.simulate(GAME, fl.Policy("own", rule, width=0.5), 60)
    assert shown.selected[0, -1].tolist() == [51, 9, 0]


def test_a_rule_may_call_another_rule():
    def half_the_time(seen, p):
        return ucb1_rule(seen, p) if seen.t % 2 == 0 else seen.t % 3

    @fl.rule
    def first(seen, p):
        return 0

    counts(half_the_time)
    assert counts(lambda seen, p: first(seen, p)) == [60, 0, 0]
    assert counts(lambda seen, p: fl.core.largest(p)) == [60, 0, 0]


@pytest.mark.parametrize("name", ["mine", "a_friend_s", "fairlibs"])
def test_a_rule_may_call_what_stands_in_a_module_of_its_own(name, monkeypatch):
    mine = types.ModuleType(name)
    mine.__file__ = f"/somewhere/{name}.py"
    exec("ARM = 1\ndef arm(x):\n    return twice(x) % 2 + ARM\ndef twice(x):\n    return 2 * x", vars(mine))
    monkeypatch.setitem(sys.modules, name, mine)
    rule = policy_of(lambda seen, p: mine.arm(seen.t))
    assert both_ways(GAME, rule, 10).selected[0, -1].tolist() == [0, 10, 0]
    mine.ARM = 2
    assert both_ways(GAME, rule, 10).selected[0, -1].tolist() == [0, 0, 10]
    exec("def arm(x):\n    return 0", vars(mine))
    assert both_ways(GAME, rule, 10).selected[0, -1].tolist() == [10, 0, 0]


def turns(step, seen, p):
    return int(step) * seen.t % p.size


class Turns:
    """Callable, but no function."""

    def __call__(self, seen, p):
        """Return an arm."""
        return 2 * seen.t % p.size

    def method(self, seen, p):
        """Return an arm."""
        return 2 * seen.t % p.size


class Config:
    """Where a reader might put a number."""

    step = 2


def reads_a_class(seen, p):
    return Config.step * seen.t % p.size


def prints(seen, p):
    print(f"{p.tolist()}")
    return 2 * seen.t % p.size


def slow_helper(p):
    return p.tolist()


def calls_a_slow_helper(seen, p):
    slow_helper(p)
    return 2 * seen.t % p.size


def adds_a_string(seen, p):
    return 2 * seen.t % p.size if seen.t > 0 else 1 + "a"  # type: ignore[operator]


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        (functools.partial(turns, step=2), "it is a partial, not a function that is defined by def or lambda"),
        (Turns(), "it is a Turns, not a function that is defined by def or lambda"),
        (Turns().method, "it is a method, not a function that is defined by def or lambda"),
        (prints, "Unknown attribute 'tolist' of type array"),
        (reads_a_class, "Config"),
        (calls_a_slow_helper, "(line "),
        (adds_a_string, "it knows no add(int, str)"),
    ],
    ids=itertools.count(),
)
def test_what_can_not_be_compiled_is_interpreted_and_says_so_in_one_sentence(rule, reason):
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        result = fl.simulate(GAME, policy_of(rule), 30, runs=3)
    assert len(caught) == 1
    said = str(caught[0].message)
    assert said.startswith("the rule of 'own' is interpreted, some hundred times slower, as Numba can't compile it")
    assert reason in said
    assert "\n" not in said
    assert "nopython" not in said
    assert len(said) < 500
    assert caught[0].filename == __file__
    assert same(result, fl.simulate(GAME, policy_of(turns, step=2), 30, runs=3))


def test_a_name_that_stands_for_nothing_is_refused_and_so_is_a_helper_s():
    def misspelt(width, seen, p):
        return int(widht)  # noqa: F821

    def helped(seen, p):
        return help_me(p)

    def help_me(p):
        return nowhere(p)  # noqa: F821

    def too_early(seen, p):
        return later

    assert refusal(misspelt, width=1.0) == (
        "'misspelt' uses 'widht', which is neither one of its arguments nor known where it is defined; "
        "a setting or memory of its own must be an argument"
    )
    assert refusal(helped).startswith("'help_me' uses 'nowhere', which is")
    assert refusal(too_early).startswith("'too_early' uses 'later', which is")
    later = 0
    assert counts(too_early) == [60, 0, 0]
    with pytest.raises(NameError, match="widht"):
        fl.simulate(GAME, policy_of(misspelt, width=1.0, interpret=True), 2)


def test_a_slip_that_only_plain_python_knows_reaches_the_reader():
    with (
        pytest.warns(UserWarning, match="is interpreted, .* module 'numpy' has no attribute 'argmaxx'"),
        pytest.raises(AttributeError, match="argmaxx"),
    ):
        fl.simulate(GAME, policy_of(lambda seen, p: np.argmaxx(p)), 2)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("ARM = 1", "ARM = 2"),
        ("ARMS = (0, 1)\nARM = ARMS[1]", "ARMS = (0, 2)\nARM = ARMS[1]"),
        ("ARM = 1\ndef arm(): return ARM", "ARM = 2"),
        ("def deep(): return 1\ndef arm(): return deep()", "def deep(): return 2"),
        ("TABLE = np.array([1, 1])", "TABLE = np.array([2, 1])"),
        ("TABLE = np.array([1, 1])", "TABLE[0] = 2"),
        ("LAST = 1", "LAST = 2"),
    ],
)
def test_a_helper_or_constant_that_is_changed_between_two_games_is_seen(first, then):
    world: dict[str, Any] = {"np": np}
    exec(first, world)
    answer = "arm()" if "def arm" in first else "TABLE[0]" if "TABLE" in first else "ARM"
    if "LAST" in first:
        answer = "max([LAST * i for i in range(2)])"  # a comprehension is a function of its own in some Pythons
    exec(f"def rule(seen, p):\n    return {answer}", world)
    policy = policy_of(world["rule"])
    assert both_ways(GAME, policy, 5).selected[0, -1].tolist() == [0, 5, 0]
    before = both_ways(GAME, policy, 5)
    exec(then, world)
    assert both_ways(GAME, policy, 5).selected[0, -1].tolist() == [0, 0, 5]
    exec(first, world)
    assert same(both_ways(GAME, policy, 5), before)


def test_a_closure_s_number_is_the_one_that_it_has_now():
    arm = 1

    def rule(seen, p):
        return arm

    policy = policy_of(rule)
    assert both_ways(GAME, policy, 5).selected[0, -1].tolist() == [0, 5, 0]
    arm = 2
    assert both_ways(GAME, policy, 5).selected[0, -1].tolist() == [0, 0, 5]


def test_nothing_is_compiled_again_while_nothing_has_changed(monkeypatch):
    def rule(width, seen, p):
        return int(width * halved(seen.t)) % p.size

    fl.simulate(GAME, policy_of(rule, width=2.0), 5)
    monkeypatch.setattr("fairlib.rules.jit._njit", None)  # would be called
    assert fl.simulate(GAME, policy_of(rule, width=4.0), 5).selected[0, -1].tolist() == [1, 2, 2]


# Watching ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "policy"),
    [
        (LATE, fair_learn(lfg([0.1, 0.2, 0.1], 5.0), [0.05, 0.05, 0.25])),
        (CONTEXTS, oful(1.0, 1.0, 0.1)),
        (CONTEXTS, fl.ContextPolicy("past", lambda now, past, p: int(past.played[now.t // 2] + 1) % 3)),
    ],
    ids=["a learner", "OFUL", "past"],
)
def test_what_a_trace_tells_is_not_changed_later(game, policy):
    steps, copies = [], []
    for step in fl.trace(game, policy, 120, seed=6):
        steps.append(step)
        copies.append(pickle.dumps(step))
    assert [pickle.dumps(step) for step in steps] == copies


# A reader's own policy ------------------------------------------------------------------------------------------------


def test_what_a_reader_prints_of_a_rule_and_a_policy():
    assert repr(exp3) == "rule exp3(rate, feedback, gain, p, available)"
    assert repr(fl.rule(exp3)) == repr(exp3)
    assert str(exp3.__doc__).startswith("EXP3, which reads")
    made = fl.Policy("own", lambda table, learner, p: 0, table=[1.0, 2.0], learner=fl.ucb1())
    assert repr(made) == "Policy('own', table=[1.0, 2.0], learner=Policy('UCB1'))"


@pytest.mark.parametrize(
    "shown",
    [
        fl.shares.fair_learn_rule,
        fl.classic.ucb1_rule,
        fl.exposure.fairx_ucb_rule,
        fl.exposure.fairx_linucb_rule,
        fl.ranks.fair_greedy_rule,
        fl.delays.fcucb_d_rule,
        fl.delays.fcts_d_rule,
        fl.delays.op_fcucb_d_rule,
    ],
    ids=lambda rule: rule.__name__,
)
def test_a_rule_of_the_papers_prints_as_short_as_its_box(shown):
    printed = figures.show(shown).data.splitlines()[1:-1]
    assert len(printed) <= 15
    text = "\n".join(printed)
    assert not any(plumbing in text for plumbing in ("params", "state", "lru_cache", "Callable", "int("))
