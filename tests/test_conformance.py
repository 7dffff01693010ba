"""check_policy passes every policy of the package, and catches each kind of cheat."""

import math

import numpy as np
import pytest

import fairlib as fl
from fairlib.linear import at_random, greedy, lints, linucb, oful
from fairlib.rules import Number
from fairlib.shares import fair_learn, fair_ucb, lfg, t_fair_ucb

TRUTH = np.array([0.1, 0.9, 0.2, 0.3, 0.4])
GAME = fl.Bandit(fl.bernoulli(TRUTH))
REMEMBERED: list[int] = []


@pytest.mark.parametrize(
    "policy",
    [fl.ucb1(), fl.uniform(), fl.uniform(3), fl.epsilon_greedy(0.2), fl.thompson_beta(), fl.thompson_gaussian()],
    ids=lambda policy: f"{policy.name}-{policy.plays}",
)
def test_the_package_s_policies_conform(policy):
    for arms in (policy.plays, 5, 8):
        fl.check_policy(policy, arms=arms)


@pytest.mark.parametrize(
    "policy",
    [
        fair_ucb([0.1, 0.2, 0.1]),
        fair_learn(lfg([0.1, 0.2], 1.0), [0.1, 0.2]),
        t_fair_ucb([0.1, 0.2], 300),
        *(linucb(1.0), oful(1.0, 1.0, 0.1), lints(), greedy(), at_random()),
    ],
    ids=lambda policy: policy.name,
)
def test_so_do_those_with_learners_memory_and_contexts(policy):
    fl.check_policy(policy)


def reads_a_global(p):
    return TRUTH.argmax()


def reads_the_game(p):
    p[GAME.arms.means.argmax()] = 1.0


def remembers(seen, p):
    REMEMBERED.append(seen.t)
    return len(REMEMBERED) % p.size


def writes_to_counts(seen, p):
    seen.observed[0] += 1
    return 0


def writes_late(seen, p):
    if seen.t == 37:
        seen.total[1] = 0.5
    return 1


def writes_to_settings(table, p):
    table[0] += 1
    return 0


def writes_to_news(*, seen, news, p):
    if news.size > 0:
        news.reward[0] += 1.0
    return 0


def writes_to_a_learner_s_counts(learner, p):
    learner.selected[0] += 1
    return fl.ask(learner, p)


def leaves_it_empty(p):
    p[0] = 0.5


def names_no_arm(seen, p):
    return p.size if seen.t == 8 else 0


def draws_elsewhere(p):
    return np.random.randint(p.size)  # noqa: NPY002 (that is the point)


def sums_with_numpy(seen, p):
    weights = np.exp(seen.total / (1 + seen.observed) + 1e-3 * seen.t)
    p[:] = weights / weights.sum()


def tells_by_the_last_bit(seen, p):
    values = 0.1 * (1.0 + np.arange(300.0) + seen.t)
    return int(values.sum() * 1e13) % p.size


@pytest.mark.parametrize(
    ("rule", "settings", "message"),
    [
        (reads_a_global, {}, r"must look at its arguments only; it refers to 'TRUTH' \(make it a setting\)"),
        (reads_the_game, {}, "must look at its arguments only; it refers to 'GAME'"),
        (remembers, {}, "must look at its arguments only; it refers to 'REMEMBERED'"),
        (writes_to_counts, {}, "must not write to seen.observed; in round 1 it did"),
        (writes_late, {}, "must not write to seen.total; in round 37 it did"),
        (writes_to_settings, {"table": [0.0]}, "must not write to table; in round 1 it did"),
        (writes_to_news, {}, "must not write to news.reward; in round 2 it did"),
        (writes_to_a_learner_s_counts, {"learner": fl.ucb1()}, "must not write to learner.selected; in round 1 it did"),
        (leaves_it_empty, {}, "that sum to 1, or an arm that there is; in round 1"),
        (names_no_arm, {}, "that sum to 1, or an arm that there is; in round 8"),
        (draws_elsewhere, {}, "must play the same from the same seed"),
    ],
)
def test_cheats_are_caught(rule, settings, message):
    with pytest.raises(ValueError, match=message):
        fl.check_policy(fl.Policy(rule.__name__, rule, **settings))


def test_sums_in_another_order_are_caught():
    """NumPy adds up in pairs and has exponentials of its own; compiled code has neither."""
    for rule in (sums_with_numpy, tells_by_the_last_bit):
        with pytest.raises(ValueError, match="must play the same compiled and interpreted"):
            fl.check_policy(fl.Policy("sums", rule), arms=9)
        fl.check_policy(fl.Policy("sums", rule, interpret=True), arms=9)


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
        (reads_a_global, {}, "it refers to 'TRUTH'"),
        (draws_elsewhere, {}, "must play the same from the same seed"),
    ],
)
def test_cheats_with_contexts_are_caught(rule, more, message):
    with pytest.raises(ValueError, match=message):
        fl.check_policy(fl.ContextPolicy(rule.__name__, rule, **more))


def test_a_closure_over_the_truth_is_caught():
    best = np.array([0.0, 1.0])

    def rule(p):
        return best.argmax()

    with pytest.raises(ValueError, match="it refers to 'best'"):
        fl.check_policy(fl.Policy("closure", rule))


def test_memory_outside_its_arguments_is_caught_and_memory_among_them_is_welcome():
    def rule(p):
        rule.calls = getattr(rule, "calls", 0) + 1
        return rule.calls % p.size

    with pytest.raises(
        ValueError, match=r"must play the same from the same seed; .* \(keep memory in arguments such as"
    ):
        fl.check_policy(fl.Policy("calls", rule, interpret=True), arms=7)

    def counts(*, calls: Number, rng, p):
        calls[0] += 1.0 + math.floor(2.0 * rng.random())
        return int(calls[0]) % p.size

    fl.check_policy(fl.Policy("calls", counts), arms=7)


def test_what_is_no_policy_and_too_few_arms_are_refused():
    with pytest.raises(TypeError, match="policy must be a Policy or ContextPolicy, such as ucb1"):
        fl.check_policy(fl.Bandit)
    with pytest.raises(ValueError, match="arms must be a whole number of at least 3, not 2"):
        fl.check_policy(fl.uniform(3), arms=2)
