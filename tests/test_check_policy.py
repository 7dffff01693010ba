"""check_policy passes every policy of the package and honest rules of readers', and catches what looks elsewhere."""

import functools
import importlib
import inspect
import math
import statistics
import sys
import types
from typing import Annotated, NamedTuple

import numba
import numpy as np
import pytest
import zoo
from numpy import exp, inf

import fairlib as fl
from fairlib.core import Number, PerArm, largest
from fairlib.merit import play_by_merit

# Policies that keep to the rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_package_s_policies_conform(name):
    entry = zoo.ZOO[name]
    game = zoo.game(entry.games[0])
    fl.check_policy(entry.make(game), arms=game.world.arms if hasattr(game, "world") else game.arms.means.size)


def width(t, n):
    """Call a helper, and use a number of NumPy's."""
    return math.sqrt(2.0 * logarithm(t) / n) if n > 0 else np.inf


def logarithm(t):
    return math.log(t)


@fl.rule
def helped(seen, p):
    for a in range(p.size):
        p[a] = width(seen.t, seen.observed[a])
        if p[a] < inf:
            p[a] += seen.total[a] / seen.observed[a]
    return largest(p)


def last_of_the_best(seen, p):
    """Break ties by the number of the arm, and prefer the last."""
    best = 0
    for a in range(p.size):
        if seen.total[a] * seen.observed[best] >= seen.total[best] * seen.observed[a]:
            best = a
    return best


def always_the_second(p):
    return 1


def takes_turns(seen, p):
    return seen.t % p.size


def greatest_divisor(a, b):
    return a if b == 0 else greatest_divisor(b, a % b)


def calls_itself(seen, p):
    return greatest_divisor(seen.t, 12) % p.size


def by_weight(weights, seen, p):
    for a in range(p.size):
        p[a] = weights[a] * (1.0 + seen.total[a])
    p /= p.sum()


class Window(NamedTuple):
    """Memory of the rule below."""

    arm: Annotated[np.ndarray, "size"]
    at: Number


def remembers_in_a_tuple(size: int, window: Window, feedback, p):
    for i in range(feedback.size):
        window.arm[int(window.at[0])] = feedback.arm[i]
        window.at[0] = (window.at[0] + 1) % size
    p[int(window.arm[0])] = 0.5
    p[(int(window.arm[0]) + 1) % p.size] += 0.5


def counts_and_throws_dice(*, low: PerArm, rng, p):
    for a in range(p.size):
        low[a] += rng.standard_normal()
    return int(np.argmin(low))


def picks_a_pair(rng, p):
    p[:2] = 1.0
    if rng.random() < 0.5:
        p[:2] = p[:2][::-1]


def asks_another(learner, seen, p):
    return fl.ask(learner, p) if seen.t % 2 else 0


def plays_by_merit(merit, seen, mu: PerArm, p):
    for a in range(p.size):
        mu[a] = seen.total[a] / max(seen.observed[a], 1)
    play_by_merit(merit, mu, 1, p)


def straight(x, start):
    return start + x


def merit_of(value, **settings):
    return fl.Merit("own", value, low=0, high=1, minimum=0.5, lipschitz=1, log_lipschitz=2, **settings)


@numba.njit
def compiled_already(x):
    return exp(-x) + math.pi


def calls_what_is_compiled(seen, p):
    return int(compiled_already(1.0 * seen.t) * 1e3) % p.size


def in_plain_python(seen, p):
    """With all that Numba does not know: a comprehension over an inner function, an exception, a library, a print."""

    def mean(a):
        if seen.observed[a] == 0:
            raise ZeroDivisionError
        return statistics.mean([seen.total[a] / seen.observed[a]])

    try:
        values = {a: mean(a) for a in range(p.size)}
    except ZeroDivisionError:
        return int(np.argmin(seen.observed))
    print(f"{seen.t:5d}", end="")
    return max(values, key=lambda a: (values[a], -a))


def makes_a_rule():
    import math as mathematics

    def helper(x):
        return mathematics.floor(x)

    def rule(seen, p):
        return helper(seen.t / 2) % p.size

    return rule


@pytest.mark.parametrize(
    ("rule", "more"),
    [
        (helped, {}),
        (last_of_the_best, {}),
        (always_the_second, {}),
        (takes_turns, {}),
        (calls_itself, {"interpret": True}),
        (by_weight, {"weights": [1.0, 2.0, 3.0]}),
        (remembers_in_a_tuple, {"size": 5}),
        (counts_and_throws_dice, {}),
        (picks_a_pair, {"plays": 2}),
        (asks_another, {"learner": fl.Policy("helped", helped)}),
        (plays_by_merit, {"merit": merit_of(straight, start=1.0)}),
        (calls_what_is_compiled, {}),
        (in_plain_python, {"interpret": True}),
        (makes_a_rule(), {}),
        (lambda seen, p: np.argmax(seen.total), {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_honest_rules_pass(rule, more):
    fl.check_policy(fl.Policy("honest", rule, **more))


def leans_on_the_context(now, ridge, count: Number, p):
    count[0] += 1
    return int(np.argmax(now.contexts @ ridge.mean + width(now.t, count[0])))


def repeats_what_paid(now, past, feedback, p):
    for i in range(feedback.size):
        if feedback.reward[i] > 0:
            return feedback.arm[i]
    for s in range(now.t - 1):
        if past.rewards[s] > 0.5:
            return (past.played[s] + now.groups[0]) % p.size
    return 0


@pytest.mark.parametrize(
    ("rule", "more"), [(leans_on_the_context, {"ridge": 1.0}), (repeats_what_paid, {}), (lambda p: 1, {})]
)
def test_honest_rules_with_contexts_pass(rule, more):
    fl.check_policy(fl.ContextPolicy("honest", rule, **more))


# Ways to look at the truth ------------------------------------------------------------------------------------------

TRUTH = np.array([0.1, 0.9, 0.2, 0.3, 0.4])
GAME = fl.Bandit(fl.bernoulli(TRUTH))
BEST = 1
REMEMBERED: list[int] = []
NOTHING = None


class Truth:
    """What a rule must not know."""

    best = 1


def module(name, **inside):
    """Make a module, as a reader's own file is one."""
    made = types.ModuleType(name)
    vars(made).update(inside)
    return made


notes = module("notes", best=1, means=TRUTH)


def an_array(p):
    return TRUTH.argmax()


def an_attribute_of_a_class(p):
    return Truth.best


def an_attribute_of_a_module(p):
    return notes.best


def an_array_in_a_module(p):
    return notes.means.argmax()


def a_module_by_another_name(p):
    own = notes
    return own.best


def a_class_of_its_own(p):
    class Mine:
        best = BEST

    return Mine.best


def written_down(p, best=1, *, worst=0):
    return int(best - worst)


def a_default_of_a_helper(p):
    return written_down(p)


def an_attribute_of_a_function(p):
    return an_attribute_of_a_function.best  # type: ignore[attr-defined]


an_attribute_of_a_function.best = 1  # type: ignore[attr-defined]


def an_attribute_of_a_helper(p):
    helper = has_an_attribute
    return helper()


def has_an_attribute():
    return 1


has_an_attribute.means = TRUTH  # type: ignore[attr-defined]


def closures():
    best, order, truth = 1, (0.1, 0.9), np.array([0.1, 0.9])

    def reads():
        return truth.argmax()

    def over_an_int(p):
        return best

    def over_a_tuple(p):
        return 1 if order[1] > order[0] else 0

    def over_a_function(p):
        return reads()

    return over_an_int, over_a_tuple, over_a_function


over_an_int, over_a_tuple, over_a_function = closures()
over_a_method = TRUTH.argmax


def over_a_bound_method(p):
    return over_a_method()


def a_helper_s_helper(p):
    return reads_an_array()


def reads_an_array():
    return reads_it()


def reads_it():
    return TRUTH.argmax()


@numba.njit
def compiled_reader():
    return BEST


def a_compiled_helper(p):
    return compiled_reader()


@fl.rule
def a_rule_as_a_helper(p):
    return an_array(p)


def a_nested_lambda(p):
    return (lambda: (lambda: TRUTH)().argmax())()


def a_nested_comprehension(p):
    return max(range(2), key=lambda a: [2.0 * x for x in TRUTH][a])


def globals_(p):
    return globals()["BEST"]


def evaluated(p):
    return eval("BEST")


def an_import(p):
    import test_check_policy as own

    return own.BEST


def a_frame(p):
    return sys._getframe(0).f_globals["BEST"]


def a_frame_by_a_friend(p):
    return inspect.currentframe().f_globals["BEST"]  # type: ignore[union-attr]


def a_frame_of_a_generator(p):
    return (x for x in p).gi_frame.f_globals["BEST"]  # type: ignore[attr-defined]


def its_own_globals(p):
    return its_own_globals.__globals__["BEST"]


def a_loaded_module(p):
    return importlib.import_module("test_check_policy").BEST


def the_world_s_stream(rng, p):
    return rng.bit_generator.seed_seq.entropy % p.size


def keeps_a_reference(seen, p):
    keeps_a_reference.total = seen.total  # type: ignore[attr-defined]
    return 0


def keeps_it_in_a_list(seen, p):
    REMEMBERED.append(seen.total)
    return 0


def keeps_it_in_a_global(seen, p):
    global NOTHING
    NOTHING = seen.total
    return 0


def keeps_it_in_a_closure():
    last = None

    def rule(seen, p):
        nonlocal last
        last = seen.total
        return 0

    return rule


def a_number_in_a_library(p):
    return np.best  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (an_array, "refers to 'TRUTH' (make it a setting)"),
        (an_attribute_of_a_class, "refers to 'Truth' (write it as a function)"),
        (a_class_of_its_own, "defines a class (write it as functions)"),
        (an_attribute_of_a_module, "refers to 'notes.best' (make it a setting)"),
        (an_array_in_a_module, "refers to 'notes.means' (make it a setting)"),
        (a_module_by_another_name, "hands on the module 'notes' (call its functions by their names)"),
        (a_default_of_a_helper, "refers to 'best' in 'written_down' (make it a setting)"),
        (an_attribute_of_a_function, "refers to 'an_attribute_of_a_function.best' (make it a setting)"),
        (an_attribute_of_a_helper, "refers to 'has_an_attribute.means' in 'has_an_attribute' (make it a setting)"),
        (over_an_int, "refers to 'best' (make it a setting)"),
        (over_a_tuple, "refers to 'order' (make it a setting)"),
        (over_a_function, "refers to 'truth' in 'reads' (make it a setting)"),
        (over_a_bound_method, "refers to 'over_a_method' (write it as a function)"),
        (a_helper_s_helper, "refers to 'TRUTH' in 'reads_it' (make it a setting)"),
        (a_compiled_helper, "refers to 'BEST' in 'compiled_reader' (make it a setting)"),
        (a_rule_as_a_helper, "refers to 'TRUTH' in 'an_array' (make it a setting)"),
        (a_nested_lambda, "refers to 'TRUTH' (make it a setting)"),
        (a_nested_comprehension, "refers to 'TRUTH' (make it a setting)"),
        (globals_, "refers to 'globals'"),
        (evaluated, "refers to 'eval'"),
        (an_import, "imports 'test_check_policy' (import it outside, where it can be looked at)"),
        (a_frame, "refers to 'sys'"),
        (a_frame_by_a_friend, "refers to 'inspect'"),
        (a_frame_of_a_generator, "asks for 'gi_frame'"),
        (its_own_globals, "asks for '__globals__'"),
        (a_loaded_module, "refers to 'importlib'"),
        (the_world_s_stream, "asks for 'bit_generator'"),
        (keeps_a_reference, "sets 'total' (keep memory in arguments such as low: PerArm)"),
        (keeps_it_in_a_list, "refers to 'REMEMBERED' (make it a setting)"),
        (keeps_it_in_a_global, "sets 'NOTHING' (keep memory in arguments such as low: PerArm)"),
        (keeps_it_in_a_closure(), "sets 'last' (keep memory in arguments such as low: PerArm)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_look_outside_is_caught(rule, said):
    with pytest.raises(ValueError, match=r".") as error:
        fl.check_policy(fl.Policy("cheat", rule))
    assert str(error.value) == f"the rule of 'cheat' must look at its arguments only; it {said}"


@pytest.mark.parametrize(
    "truth", [GAME, TRUTH, {"best": 1}, 1, 0.8, (0.1, 0.9), "adbce", b"adbce"], ids=lambda truth: type(truth).__name__
)
def test_a_value_that_stands_beside_a_rule_is_caught(truth):
    world = {"TRUTH": truth}
    exec("def rule(p):\n    return TRUTH", world)
    with pytest.raises(ValueError, match=r"it refers to 'TRUTH' \(make it a setting\)$"):
        fl.check_policy(fl.Policy("cheat", world["rule"]))


def test_a_number_put_into_a_library_is_caught(monkeypatch):
    monkeypatch.setattr(np, "best", 1, raising=False)
    with pytest.raises(ValueError, match=r"refers to 'np.best' \(make it a setting\)"):
        fl.check_policy(fl.Policy("cheat", a_number_in_a_library))


class Callable:
    """What can be called like a function, and is none."""

    def __call__(self, p):
        """Play the best arm."""
        return TRUTH.argmax()

    def method(self, p):
        """Play the best arm."""
        return TRUTH.argmax()


@pytest.mark.parametrize("rule", [Callable(), Callable().method, functools.partial(written_down, best=1)])
def test_what_is_no_function_is_refused(rule):
    with pytest.raises(
        ValueError, match=r"must be a function that is defined by def or lambda, .* not a (Callable|method|partial)$"
    ):
        fl.check_policy(fl.Policy("cheat", rule, interpret=True))


def test_learners_and_merits_and_rules_with_contexts_are_looked_at_as_well():
    learner = fl.Policy("cheat", a_helper_s_helper)
    with pytest.raises(ValueError, match=r"the rule of 'asks' must .* it refers to 'TRUTH' in 'reads_it'"):
        fl.check_policy(fl.Policy("asks", asks_another, learner=learner))
    merit = merit_of(lambda x: TRUTH[1] + x)
    with pytest.raises(ValueError, match="it refers to 'TRUTH'"):
        fl.check_policy(fl.Policy("values", plays_by_merit, merit=merit))
    for rule in (an_array, a_helper_s_helper, globals_, the_world_s_stream):
        with pytest.raises(ValueError, match="must look at its arguments only"):
            fl.check_policy(fl.ContextPolicy("cheat", rule))


LIBRARY = '''
import gc
import sys

import numpy as np

kept = []


def truth():
    """Look at who is calling, for a game."""
    frame = sys._getframe()
    while frame is not None:
        own = frame.f_locals.get("self")
        if hasattr(own, "problem"):
            return own.problem.arms.means
        if hasattr(own, "means"):
            return own.means
        frame = frame.f_back


def luck(rng):
    """Make the world's stream anew."""
    seed = rng.bit_generator.seed_seq
    other = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key[:-1], 1))
    return np.random.Generator(np.random.PCG64(other)).random()


def before(seen):
    """Look at the rewards by the array that was given the round before."""
    if seen.t == 1:
        kept.clear()
    kept.append(seen.total)
    return int(kept[-2].sum()) if seen.t > 1 else 0
'''


@pytest.fixture
def library(tmp_path, monkeypatch):
    """Install a library, which the look at the code does not follow."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "peeking.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    yield importlib.import_module("peeking")
    del sys.modules["peeking"]


def test_the_truth_of_the_game_itself_is_caught_by_what_is_played(library):
    """Told the same where the arms are relabelled, an honest rule plays the same."""
    told_otherwise = "in a world with relabelled arms, where it saw the same, it played otherwise in round 1"

    def by_its_frames(p):
        return int(library.truth().argmax())

    for policy in (fl.Policy("cheat", by_its_frames), fl.ContextPolicy("cheat", by_its_frames)):
        with pytest.raises(ValueError, match=told_otherwise):
            fl.check_policy(policy.replace(interpret=True))

    def by_the_seed(rng, p):
        return int(library.luck(rng) * p.size)

    for policy in (fl.Policy("cheat", by_the_seed), fl.ContextPolicy("cheat", by_the_seed)):
        with pytest.raises(ValueError, match=told_otherwise):
            fl.check_policy(policy.replace(interpret=True), arms=50)


def test_a_reference_that_is_kept_out_of_sight_is_caught_by_what_is_played(library):
    def rule(seen, p):
        return library.before(seen) % p.size

    with pytest.raises(ValueError, match="it has memory or chance of its own"):
        fl.check_policy(fl.Policy("keeps", rule, interpret=True))


def test_what_no_run_can_tell():
    """The docstring names each: the truth in a setting, in a default, in the code; and what comes after the check."""
    fl.check_policy(fl.Policy("set", lambda means, p: means.argmax(), means=TRUTH[:3]))
    by_default = fl.Policy("default", written_down)
    fl.check_policy(by_default)
    assert dict(by_default.settings) == {"best": 1.0, "worst": 0.0}  # at least it can be seen
    fl.check_policy(fl.Policy("written", lambda p: np.argmax(np.array((0.1, 0.9, 0.2)))))

    def late(seen, p):
        if seen.t > 5000:
            seen.total[0] = 7.0
        return 0

    fl.check_policy(fl.Policy("late", late))

    def wrong_late(seen, p):
        return 0 if seen.t <= 5000 else 9

    fl.check_policy(fl.Policy("wrong late", wrong_late))
    with pytest.raises(ValueError, match="in round 5001 of run 0 it did not"):  # a game says so
        fl.simulate(GAME, fl.Policy("wrong late", wrong_late), 6000)


# What else a rule must not do ---------------------------------------------------------------------------------------


def writes_to_counts(seen, p):
    seen.observed[0] += 1
    return 0


def writes_late(seen, p):
    if seen.t == 37:
        seen.total[1] = 0.5
    return 1


def writes_when_compiled(seen, p):
    if seen.t == 2900:
        seen.total[1] = 0.5
    return 1


def writes_to_settings(table, p):
    table[0] += 1
    return 0


def writes_to_feedback(*, seen, feedback, p):
    if feedback.size > 0:
        feedback.reward[0] += 1.0
    return 0


def writes_to_a_learner_s_counts(learner, p):
    learner.selected[0] += 1
    return fl.ask(learner, p)


def leaves_it_empty(p):
    p[0] = 0.5


def names_no_arm(seen, p):
    return p.size if seen.t == 8 else 0


def names_no_arm_when_compiled(seen, p):
    return p.size if seen.t == 2900 else 0


@pytest.mark.parametrize(
    ("rule", "settings", "message"),
    [
        (writes_to_counts, {}, "must not write to seen.observed; in round 1 it did"),
        (writes_late, {}, "must not write to seen.total; in round 37 it did"),
        (writes_when_compiled, {}, "must not write to seen.total; in round 2900 it did"),
        (writes_to_settings, {"table": [0.0]}, "must not write to its settings; in round 1 it did"),
        (writes_to_feedback, {}, "must not write to feedback.reward; in round 2 it did"),
        (writes_to_a_learner_s_counts, {"learner": fl.ucb1()}, "must not write to seen.selected; in round 1 it did"),
        (leaves_it_empty, {}, "that sum to 1, or an arm that there is; in round 1"),
        (names_no_arm, {}, "that sum to 1, or an arm that there is; in round 8"),
        (names_no_arm_when_compiled, {}, "that sum to 1, or an arm that there is; in round 2900"),
    ],
)
def test_wrong_answers_and_writing_to_what_is_not_its_own_are_caught(rule, settings, message):
    with pytest.raises(ValueError, match=message):
        fl.check_policy(fl.Policy(rule.__name__, rule, **settings))


def sums_with_numpy(seen, p):
    weights = np.exp(seen.total / (1 + seen.observed) + 1e-3 * seen.t)
    p[:] = weights / weights.sum()


def tells_by_the_last_bit(seen, p):
    values = 0.1 * (1.0 + np.arange(300.0) + seen.t)
    return int(values.sum() * 1e13) % p.size


def counts_beyond_64_bits(seen, p):
    hashed = seen.t
    for _ in range(3):
        hashed = hashed * 6364136223846793005 + 1442695040888963407
    return (hashed >> 33) % p.size


@pytest.mark.parametrize("rule", [sums_with_numpy, tells_by_the_last_bit, counts_beyond_64_bits])
def test_what_plays_otherwise_compiled_is_caught(rule):
    """NumPy adds up in pairs and has exponentials of its own; Python's whole numbers have no end."""
    with pytest.raises(ValueError, match="must play the same compiled and interpreted"):
        fl.check_policy(fl.Policy("otherwise", rule), arms=9)
    fl.check_policy(fl.Policy("otherwise", rule, interpret=True), arms=9)


def writes_to_a_context(now, p):
    now.contexts[0, 0] = 1.0
    return 0


def writes_to_the_ridge(now, ridge, p):
    ridge.mean[0] += 1.0
    return 0


def writes_to_the_past(now, past, p):
    past.rewards[now.t - 1] = 1.0
    return 0


@pytest.mark.parametrize(
    ("rule", "more", "message"),
    [
        (writes_to_a_context, {}, "must not write to now.contexts; in round 1 it did"),
        (writes_to_the_ridge, {"ridge": 1.0}, "must not write to ridge.mean; in round 1 it did"),
        (writes_to_the_past, {}, "must not write to past.rewards; in round 1 it did"),
    ],
)
def test_writing_with_contexts_is_caught(rule, more, message):
    with pytest.raises(ValueError, match=message):
        fl.check_policy(fl.ContextPolicy(rule.__name__, rule, **more))


def test_a_rule_that_can_t_be_compiled_is_checked_in_plain_python_and_whoever_asked_is_told_why():
    def prints(seen, p):
        print(f"{seen.t:5d}", end="")
        return 0

    with pytest.warns(UserWarning, match="Numba can't compile it") as told:
        fl.check_policy(fl.Policy("prints", prints))
    assert [each.filename for each in told] == [__file__]


def test_what_is_no_policy_and_too_few_arms_are_refused():
    with pytest.raises(TypeError, match="policy must be a Policy or ContextPolicy, such as ucb1"):
        fl.check_policy(fl.Bandit)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="arms must be a whole number of at least 3, not 2"):
        fl.check_policy(fl.uniform(3), arms=2)


def by_nothing(seen, p):
    return 1 if 5 // seen.observed[0] > 3 else 0


def by_nothing_of_python(p):
    return int(1 / 0)


def beside(seen, p):
    return int(p[7]) if seen.t > 5 else 0


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (by_nothing, "the rule of 'mine' must not divide by 0 with // or %: divide by zero"),
        (by_nothing_of_python, "the rule of 'mine' broke off in round 1: division by zero"),
        (beside, "the rule of 'mine' broke off in round 6: index 7 is out of bounds"),
    ],
)
def test_a_rule_that_breaks_off_is_told_with_its_round(rule, message):
    with pytest.raises(ValueError, match=message):
        fl.check_policy(fl.Policy("mine", rule))


def test_whoever_plays_it_is_told_the_rule_and_the_round():
    game, policy = fl.Bandit(fl.bernoulli([0.5, 0.6])), fl.Policy("mine", beside)
    player = fl.Player(policy, arms=2)
    for play in (
        lambda: fl.simulate(game, policy, 20),
        lambda: fl.simulate(game, policy.replace(interpret=True), 20),
        lambda: list(fl.trace(game, policy, 20)),
        lambda: [player.choose() for _ in range(20)],
    ):
        with pytest.raises(IndexError, match=r"the rule of 'mine'.* broke off in round 6"):
            play()
