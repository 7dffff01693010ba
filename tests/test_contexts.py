"""Games with contexts: the loop against a plain one, the ridge regression against the textbook, and bad input."""

import itertools
from typing import Any

import numpy as np
import pytest
from helpers import both_ways, streams

import fairlib as fl
from fairlib.core import Feedback, Now, Past, Ridge, World, absorb, dot, linear_table, sphere, table, width


def coin(now, p):
    """Prefer the arm of the larger first coordinate, three to one."""
    best = 0
    for a in range(p.size):
        p[a] = 0.25 / (p.size - 1)
        if now.contexts[a, 0] > now.contexts[best, 0]:
            best = a
    p[best] = 0.75


def remembers(now, feedback, ridge, past, score: fl.Number, rng, p):
    """Play by all that there is, and by a random draw: anything that is off by one shows in the plays."""
    whole = score[0] + rng.random()
    for s in range(now.t - 1):
        whole += past.rewards[s] * past.contexts[s, past.played[s], 0] + past.groups[s, 0]
    for i in range(ridge.mean.size):
        whole += ridge.mean[i] * ridge.root[0, i]
    for i in range(feedback.size):
        whole += feedback.reward[i] * (1 + feedback.arm[i]) + feedback.round[i] + feedback.chance[i]
    score[0] += 0.1 * now.t
    p[int(abs(whole) * 1000) % p.size] = 1.0


def grouped_draw(rng, contexts, groups, means, rewards):
    """Draw two numbers an arm, and a group each."""
    for a in range(contexts.shape[0]):
        groups[a] = int(rng.random() * 3)
        contexts[a, 0], contexts[a, 1] = rng.random(), rng.random()
        means[a] = contexts[a, 0] + groups[a]
        rewards[a] = means[a] + rng.standard_normal()


def test_the_loop_against_a_plain_one() -> None:
    world = World(4, 2, grouped_draw, groups=3)
    policy = fl.ContextPolicy("remembers", remembers, ridge=0.7)
    result = fl.simulate(fl.ContextBandit(world), policy, 30, seed=5, runs=2, rounds=range(1, 31))
    for run in range(2):
        own, nature = streams(5, run)
        score, selected, reward, regret = np.zeros(1), np.zeros(4, int), 0.0, 0.0
        past = Past(np.zeros((30, 4, 2)), np.zeros((30, 4), int), np.zeros(30, int), np.zeros(30))
        sigma, b = 0.7 * np.eye(2), np.zeros(2)
        feedback = Feedback(0, *(np.zeros(0, kind) for kind in (int, float, int, float)))
        for t in range(1, 31):
            contexts, groups, means, rewards = np.zeros((4, 2)), np.zeros(4, int), np.zeros(4), np.zeros(4)
            grouped_draw(nature, contexts, groups, means, rewards)
            p = np.zeros(4)
            # Any square root would do for the widths; the engine's is this one only up to a rotation, so no root here.
            ridge = Ridge(np.linalg.solve(sigma, b).astype(np.float64), _root_of(past, t, 0.7))
            remembers(Now(t, contexts, groups), feedback, ridge, past, score, own, p)
            own.random()
            arm = int(p.argmax())
            past.contexts[t - 1], past.groups[t - 1], past.played[t - 1] = contexts, groups, arm
            past.rewards[t - 1] = rewards[arm]
            feedback = Feedback(1, np.array([arm]), rewards[[arm]], np.array([t]), p[[arm]])
            sigma += np.outer(contexts[arm], contexts[arm])
            b += rewards[arm] * contexts[arm]
            selected[arm] += 1
            reward += rewards[arm]
            regret += means.max() - means[arm]
            assert np.array_equal(result.selected[run, t - 1], selected)
            assert result.reward[run, t - 1] == pytest.approx(reward, abs=1e-12)
            assert result.regret[run, t - 1] == pytest.approx(regret, abs=1e-12)


def _root_of(past: Past, t: int, ridge: float) -> Any:
    """Return the root after the rounds before t: symmetric rank-one factors, one after the other."""
    root = np.eye(2) / ridge**0.5
    for s in range(t - 1):
        v = root.T @ past.contexts[s, past.played[s]]
        scale = 1 + v @ v
        root = root - np.outer(root @ v, v) / (scale + scale**0.5)
    return root


@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 23], ids=itertools.count())
def test_the_ridge_regression_is_the_textbooks(d: int) -> None:
    rng = np.random.default_rng(d)
    x, y, lam = rng.standard_normal((200, d)), rng.standard_normal(200), 0.3
    mean, root = np.zeros(d), np.eye(d) / lam**0.5
    for i in range(200):
        absorb(mean, root, x[i], y[i])
        sigma = lam * np.eye(d) + x[: i + 1].T @ x[: i + 1]
        assert np.allclose(root @ root.T, np.linalg.inv(sigma), atol=1e-12)
        assert np.allclose(mean, np.linalg.solve(sigma, x[: i + 1].T @ y[: i + 1]), atol=1e-11)
        probe = rng.standard_normal(d)
        v = np.empty(d)
        assert width(root, probe, v) == pytest.approx((probe @ np.linalg.solve(sigma, probe)) ** 0.5, rel=1e-10)
        assert np.allclose(v, root.T @ probe)
        assert dot(probe, x[i]) == pytest.approx(probe @ x[i], abs=1e-12)


def test_many_rounds_of_badly_scaled_contexts_leave_the_regression_sound() -> None:
    x = np.random.default_rng(0).standard_normal((50, 3)) * [1, 1e-3, 1e3]
    mean, root, sigma = np.zeros(3), np.eye(3), np.eye(3)
    for i in range(20_000):
        absorb(mean, root, x[i % 50], 1.0)
        sigma += np.outer(x[i % 50], x[i % 50])
    assert np.allclose(root @ root.T @ sigma, np.eye(3), atol=1e-6)


def test_compiled_and_interpreted_agree_to_the_last_bit() -> None:
    world = World(4, 2, grouped_draw, groups=3)
    policy = fl.ContextPolicy("remembers", remembers, ridge=0.7)
    both_ways(fl.ContextBandit(world), policy, 200, seed=1, runs=2)


def test_a_trace_tells_what_the_rule_saw_and_what_came_of_it() -> None:
    game = fl.ContextBandit(World(4, 2, grouped_draw, groups=3))
    policy = fl.ContextPolicy("remembers", remembers, ridge=0.7)
    result = fl.simulate(game, policy, 30, seed=5, rounds=range(1, 31))
    mean, root, reward, regret, steps = np.zeros(2), np.eye(2) / 0.7**0.5, 0.0, 0.0, list(fl.trace(game, policy, 30, 5))
    for t, step in enumerate(steps, start=1):
        assert step.t == step.now.t == t
        assert np.array_equal(step.ridge.mean, mean)
        assert np.array_equal(step.ridge.root, root)
        assert step.memory["score"] == pytest.approx(0.05 * t * (t + 1))
        (arm,), (x,) = step.played, step.rewards
        assert np.array_equal(step.p, np.eye(4)[arm])
        absorb(mean, root, step.now.contexts[arm], x)
        reward, regret = reward + x, regret + (step.means.max() - step.means[arm])
        assert np.array_equal(step.means, step.now.contexts[:, 0] + step.now.groups)
        assert np.array_equal(step.selected, result.selected[0, t - 1])
        assert (reward, regret) == (result.reward[0, t - 1], result.regret[0, t - 1])


def test_a_run_is_the_same_run_however_many_are_asked_for() -> None:
    game = fl.ContextBandit(sphere(3, [0.5, 0.5]))
    many = fl.simulate(game, fl.ContextPolicy("coin", coin), 50, runs=4, seed=2)
    few = fl.simulate(game, fl.ContextPolicy("coin", coin), 50, runs=2, seed=2)
    assert np.array_equal(many.reward[:2], few.reward)
    assert not np.array_equal(many.reward[0], many.reward[1])


def test_the_policy_plays_with_its_probabilities() -> None:
    game = fl.ContextBandit(sphere(3, [1.0, 0.0], sd=0.0))
    result = fl.simulate(game, fl.ContextPolicy("coin", coin), 40_000, seed=3)
    # The mean is the first coordinate, so 'best' is the largest mean; the regret of a wrong arm is positive.
    best = fl.simulate(game, fl.ContextPolicy("largest", largest), 40_000, seed=3)
    worst = fl.simulate(game, fl.ContextPolicy("any", anybody), 40_000, seed=3)
    assert best.regret[0, -1] == 0
    # coin = 0.625 largest + 0.375 uniform over the three
    assert result.regret[0, -1] == pytest.approx(0.375 * worst.regret[0, -1], rel=0.03)


def largest(now):
    """Play the largest first coordinate."""
    best = 0
    for a in range(1, now.groups.size):
        if now.contexts[a, 0] > now.contexts[best, 0]:
            best = a
    return best


def anybody(p):
    """Play anybody."""
    for a in range(p.size):
        p[a] = 1.0 / p.size


def test_worlds_give_what_their_tables_say() -> None:
    rng = np.random.default_rng(0)
    x, means, rewards = rng.random((6, 2, 3)), rng.random((6, 2)), rng.random((6, 2))
    seen = set()
    contexts, groups, m, r = np.zeros((2, 3)), np.zeros(2, np.int64), np.zeros(2), np.zeros(2)
    world = table(x, means, rewards)
    for _ in range(200):
        draw(world, rng, contexts, groups, m, r)
        (row,) = np.flatnonzero((x == contexts).all(axis=(1, 2)))
        assert np.array_equal(m, means[row])
        assert np.array_equal(r, rewards[row])
        seen.add(int(row))
    assert seen == set(range(6))
    mu = np.array([0.1, -0.2, 0.3])
    world = linear_table(x, mu, 0.5)
    noise: list[float] = []
    for _ in range(4000):
        draw(world, rng, contexts, groups, m, r)
        assert (x == contexts).all(axis=(1, 2)).any()
        assert np.allclose(m, contexts @ mu, atol=1e-15)
        noise.extend(r - m)
    assert np.std(noise) == pytest.approx(0.5, rel=0.05)
    assert abs(np.mean(noise)) < 0.03
    world = sphere(2, mu, 0.0)
    draw(world, rng, contexts, groups, m, r)
    assert np.allclose(np.linalg.norm(contexts, axis=1), 1)
    assert np.allclose(m, contexts @ mu)
    assert np.array_equal(m, r)


def draw(world: World, *round: Any) -> None:
    """Draw a round of a world."""
    world.draw.interpreted(world.draw.numbers({"K": world.arms, "d": world.dimension, "G": world.groups}), *round)


def cast(anything: Any) -> Any:
    """Hide the type of a wrong argument from the type checker."""
    return anything


def bad_nan(count, rng, contexts, groups, means, rewards):
    """Leave a hole in the third round."""
    contexts[:] = 1.0
    count[0] += 1.0
    if count[0] == 3.0:
        contexts[1, 1] = np.nan


def bad_group(groups):
    """Name a group that does not exist."""
    groups[0] = 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fl.simulate(fl.ContextBandit(World(2, 2, bad_nan, count=[0.0])), fl.ContextPolicy("c", coin), 9),
            "in round 3",
        ),
        (
            lambda: fl.simulate(fl.ContextBandit(World(2, 2, bad_group)), fl.ContextPolicy("c", coin), 9),
            "groups",
        ),
        (lambda: fl.simulate(fl.Bandit(fl.bernoulli([0.5])), fl.ContextPolicy("c", coin), 9), "must be a Policy"),
        (
            lambda: fl.simulate(fl.ContextBandit(sphere(2, [1.0])), fl.ContextPolicy("c", coin, dimension=2), 9),
            "contexts of length 2, not 1",
        ),
        (lambda: table([[[1.0]]], [[0.0, 1.0]], [[0.0]]), r"means must be of shape \(1, 1\)"),
        (lambda: linear_table([[[1.0]]], [1.0, 2.0], 1), "parameter must have 1 numbers"),
        (lambda: fl.simulate(fl.ContextBandit(sphere(2, [1.0])), fl.ContextPolicy("n", nothing), 9), "in round 1"),
    ],
    ids=itertools.count(),
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def nothing(p):
    """Forget to fill p."""
