"""check_policy passes every policy of the package and honest rules of readers', and catches what plays otherwise."""

import inspect
import statistics

import numpy as np
import pytest
import zoo

import fairlib as fl

# Policies that keep to the rules ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_package_s_policies_conform(name):
    entry = zoo.ZOO[name]
    game = zoo.game(entry.games[0])
    fl.check_policy(entry.make(game), arms=game.world.arms if hasattr(game, "world") else game.arms.means.size)


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


def test_an_honest_rule_in_plain_python_passes():
    fl.check_policy(fl.Policy("honest", in_plain_python, interpret=True))


# Memory, chance and knowledge that it does not have from its arguments ------------------------------------------------

REMEMBERED: list[int] = []


def remembers(p):
    REMEMBERED.append(p.size)
    return len(REMEMBERED) % 7 % p.size


@pytest.mark.parametrize("kind", [fl.Policy, fl.ContextPolicy])
def test_a_rule_with_more_than_it_is_given_plays_otherwise_the_second_time(kind):
    with pytest.raises(ValueError, match=r"^the rule of 'mine' must play the same where it sees the same; .* in round"):
        fl.check_policy(kind("mine", remembers, interpret=True))


# What else a rule must not do ---------------------------------------------------------------------------------------


def writes_to_counts(seen, p):
    seen.observed[0] += 1
    return 0


def writes_when_compiled(seen, p):
    if seen.t == 2900:
        seen.total[1] = 0.5
    return 1


def writes_to_feedback(*, seen, feedback, p):
    if feedback.size > 0:
        feedback.reward[0] += 1.0
    return 0


def writes_to_a_learner_s_counts(learner, p):
    learner.selected[0] += 1
    return fl.ask(learner, p)


def leaves_it_empty(p):
    p[0] = 0.5


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


def beside(seen, p):
    return int(p[7]) if seen.t > 5 else 0


SEEN = "must not write to its settings or to what it has seen"


@pytest.mark.parametrize(
    ("rule", "settings", "message"),
    [
        (writes_to_counts, {}, SEEN),
        (writes_when_compiled, {}, SEEN),
        (writes_to_feedback, {}, SEEN),
        (writes_to_a_learner_s_counts, {"learner": fl.ucb1()}, SEEN),
        (writes_to_a_context, {}, SEEN),
        (writes_to_the_ridge, {"ridge": 1.0}, SEEN),
        (writes_to_the_past, {}, SEEN),
        (leaves_it_empty, {}, "that sum to 1, or an arm that there is; in round 1"),
        (names_no_arm_when_compiled, {}, "that sum to 1, or an arm that there is; in round 2900"),
        (by_nothing, {}, "the rule of 'mine' must not divide by 0 with // or %: divide by zero"),
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


def test_so_many_arms_that_memory_is_too_small_are_refused_with_a_sentence():
    said = r"'UCB1' .*1,000,000,000,000 arms takes [\d,.]+ GiB of memory, and [\d,.]+ GiB are free: "
    with pytest.raises(MemoryError, match=said + "try it on fewer arms"):
        fl.check_policy(fl.ucb1(), arms=10**12)


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
