"""check_policy passes every policy of the package and honest rules of readers', and catches what plays otherwise."""

import inspect
import math
import statistics
import sys
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


# Memory, chance and knowledge that it does not have from its arguments ------------------------------------------------

REMEMBERED: list[int] = []


def remembers(p):
    REMEMBERED.append(p.size)
    return len(REMEMBERED) % 7 % p.size


def keeps_it_in_a_closure():
    calls = 0

    def rule(p):
        nonlocal calls
        calls += 1
        return calls % 7 % p.size

    return rule


def looks_who_is_calling(p):
    """Look for a game among all that is played at the moment."""
    frame = sys._getframe()
    while frame is not None:
        game = getattr(frame.f_locals.get("self"), "game", None)
        if game is not None:
            return int(game.table.flat[-1] > 0.7)
        frame = frame.f_back  # type: ignore[assignment]
    raise AssertionError


@pytest.mark.parametrize("kind", [fl.Policy, fl.ContextPolicy])
@pytest.mark.parametrize("rule", [remembers, keeps_it_in_a_closure(), looks_who_is_calling])
def test_a_rule_with_more_than_it_is_given_plays_otherwise_the_second_time(kind, rule):
    with pytest.raises(ValueError, match=r"^the rule of 'mine' must play the same where it sees the same; .* in round"):
        fl.check_policy(kind("mine", rule, interpret=True))


def test_what_no_play_can_tell():
    """The docstring names each: the truth in a setting, in the code or beside it; and what comes after the check."""
    truth = np.array([0.1, 0.9, 0.2])
    fl.check_policy(fl.Policy("set", lambda means, p: means.argmax(), means=truth))
    fl.check_policy(fl.Policy("written", lambda p: np.argmax(np.array((0.1, 0.9, 0.2)))))
    fl.check_policy(fl.Policy("beside", lambda p: truth.argmax()))

    def late(seen, p):
        if seen.t > 5000:
            seen.total[0] = 7.0
        return 0

    fl.check_policy(fl.Policy("late", late))

    def wrong_late(seen, p):
        return 0 if seen.t <= 5000 else 9

    fl.check_policy(fl.Policy("wrong late", wrong_late))
    with pytest.raises(ValueError, match="in round 5001 of run 0 it did not"):  # a game says so
        fl.simulate(fl.Bandit(fl.bernoulli(truth)), fl.Policy("wrong late", wrong_late), 6000)


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


def writes_to_a_context(now, p):
    now.contexts[0, 0] = 1.0
    return 0


def writes_to_the_ridge(now, ridge, p):
    ridge.mean[0] += 1.0
    return 0


def writes_to_the_past(now, past, p):
    past.rewards[now.t - 1] = 1.0
    return 0


def by_nothing(seen, p):
    return 1 if 5 // seen.observed[0] > 3 else 0


def by_nothing_of_python(p):
    return int(1 / 0)


def beside(seen, p):
    return int(p[7]) if seen.t > 5 else 0


@pytest.mark.parametrize(
    ("rule", "settings", "message"),
    [
        (writes_to_counts, {}, "must not write to seen.observed; in round 1 it did"),
        (writes_late, {}, "must not write to seen.total; in round 37 it did"),
        (writes_when_compiled, {}, "must not write to seen.total; in round 2900 it did"),
        (writes_to_settings, {"table": [0.0]}, "must not write to its settings; in round 1 it did"),
        (writes_to_feedback, {}, "must not write to feedback.reward; in round 2 it did"),
        (writes_to_a_learner_s_counts, {"learner": fl.ucb1()}, "must not write to seen.selected; in round 1 it did"),
        (writes_to_a_context, {}, "must not write to now.contexts; in round 1 it did"),
        (writes_to_the_ridge, {"ridge": 1.0}, "must not write to ridge.mean; in round 1 it did"),
        (writes_to_the_past, {}, "must not write to past.rewards; in round 1 it did"),
        (leaves_it_empty, {}, "that sum to 1, or an arm that there is; in round 1"),
        (names_no_arm, {}, "that sum to 1, or an arm that there is; in round 8"),
        (names_no_arm_when_compiled, {}, "that sum to 1, or an arm that there is; in round 2900"),
        (by_nothing, {}, "the rule of 'mine' must not divide by 0 with // or %: divide by zero"),
        (by_nothing_of_python, {}, "broke off in round 1 of run 0: division by zero"),
        (beside, {}, "broke off in round 6 of run 0: index 7 is out of bounds"),
    ],
)
def test_what_a_rule_does_wrong_is_said_with_its_round(rule, settings, message):
    kind = fl.ContextPolicy if "now" in inspect.signature(rule).parameters else fl.Policy
    with pytest.raises(ValueError, match=message):
        fl.check_policy(kind("mine", rule, **settings))


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
