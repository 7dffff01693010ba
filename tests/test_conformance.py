"""check_policy passes every policy of the package, and catches each kind of cheat."""

import numpy as np
import pytest

import fairlib as fl

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


def reads_a_global(params, state, t, selected, observed, total, rng, p):
    p[TRUTH.argmax()] = 1.0


def reads_the_game(params, state, t, selected, observed, total, rng, p):
    p[GAME.arms.means.argmax()] = 1.0


def remembers(params, state, t, selected, observed, total, rng, p):
    REMEMBERED.append(t)
    p[len(REMEMBERED) % p.size] = 1.0


def writes_to_counts(params, state, t, selected, observed, total, rng, p):
    observed[0] += 1
    p[0] = 1.0


def writes_to_params(params, state, t, selected, observed, total, rng, p):
    params[0] += 1
    p[0] = 1.0


def leaves_it_empty(params, state, t, selected, observed, total, rng, p):
    p[0] = 0.5


def draws_elsewhere(params, state, t, selected, observed, total, rng, p):
    p[np.random.randint(p.size)] = 1.0  # noqa: NPY002 (that is the point)


def sums_with_numpy(params, state, t, selected, observed, total, rng, p):
    weights = np.exp(total / (1 + observed) + 1e-3 * t)
    p[:] = weights / weights.sum()


@pytest.mark.parametrize(
    ("rule", "params", "message"),
    [
        (reads_a_global, (), "must look at its arguments only; it refers to 'TRUTH'"),
        (reads_the_game, (), "must look at its arguments only; it refers to 'GAME'"),
        (remembers, (), "must look at its arguments only; it refers to 'REMEMBERED'"),
        (writes_to_counts, (), "must not write to observed; in round 1"),
        (writes_to_params, (0.0,), "must not write to params; in round 1"),
        (leaves_it_empty, (), r"that sum to 1; in round 1"),
        (draws_elsewhere, (), "must play the same from the same seed"),
    ],
)
def test_cheats_are_caught(rule, params, message):
    with pytest.raises(ValueError, match=message):
        fl.check_policy(fl.Policy(rule.__name__, rule, params))


def test_a_closure_over_the_truth_is_caught():
    best = np.array([0.0, 1.0])

    def rule(params, state, t, selected, observed, total, rng, p):
        p[best.argmax()] = 1.0

    with pytest.raises(ValueError, match="it refers to 'best'"):
        fl.check_policy(fl.Policy("closure", rule))


def test_memory_outside_the_state_is_caught():
    def rule(params, state, t, selected, observed, total, rng, p):
        rule.calls = getattr(rule, "calls", 0) + 1
        p[rule.calls % p.size] = 1.0

    with pytest.raises(ValueError, match="must play the same from the same seed"):
        fl.check_policy(fl.Policy("calls", rule, interpret=True), arms=7)
