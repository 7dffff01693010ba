"""Games with contexts: the loop against a plain one, the ridge regression against the textbook, and bad input."""

import dataclasses
import itertools
from typing import Any

import numpy as np
import pytest
from numpy.random import PCG64, Generator, SeedSequence

import fairlib as fl
from fairlib.contexts import Past, Ridge, World, absorb, dot, linear_table, sphere, table, width


def coin(params, state, t, contexts, groups, ridge, past, rng, p):
    """Prefer the arm of the larger first coordinate, three to one."""
    best = 0
    for a in range(p.size):
        p[a] = 0.25 / (p.size - 1)
        if contexts[a, 0] > contexts[best, 0]:
            best = a
    p[best] = 0.75


def remembers(params, state, t, contexts, groups, ridge, past, rng, p):
    """Play by the whole history and by a random draw: anything that is off by one shows in the plays."""
    score = state[0] + rng.random()
    for s in range(t - 1):
        score += past.rewards[s] * past.contexts[s, past.played[s], 0] + past.groups[s, 0]
    for i in range(ridge.mean.size):
        score += ridge.mean[i] * ridge.root[0, i]
    state[0] += 0.1 * t
    p[int(abs(score) * 1000) % p.size] = 1.0


def grouped_draw(params, rng, contexts, groups, means, rewards):
    """Draw two numbers an arm, and a group each."""
    for a in range(contexts.shape[0]):
        groups[a] = int(rng.random() * 3)
        contexts[a, 0], contexts[a, 1] = rng.random(), rng.random()
        means[a] = contexts[a, 0] + groups[a]
        rewards[a] = means[a] + rng.standard_normal()


def test_the_loop_against_a_plain_one() -> None:
    world = World(4, 2, grouped_draw, [[0.0]], groups=3)
    policy = fl.ContextPolicy("remembers", remembers, ridge=0.7, history=True, memory=1)
    result = fl.simulate(fl.ContextBandit(world), policy, 30, seed=5, runs=2, rounds=range(1, 31))
    for run in range(2):
        own, nature = (Generator(PCG64(SeedSequence(5, spawn_key=(run, stream)))) for stream in (0, 1))
        state, selected, reward, regret = np.zeros(1), np.zeros(4, int), 0.0, 0.0
        past = Past(np.zeros((30, 4, 2)), np.zeros((30, 4), int), np.zeros(30, int), np.zeros(30))
        sigma, b = 0.7 * np.eye(2), np.zeros(2)
        for t in range(1, 31):
            contexts, groups, means, rewards = np.zeros((4, 2)), np.zeros(4, int), np.zeros(4), np.zeros(4)
            grouped_draw(None, nature, contexts, groups, means, rewards)
            p = np.zeros(4)
            # Any square root would do for the widths; the engine's is this one only up to a rotation, so no root here.
            root = _root_of(past, t, 0.7)
            remembers(
                (), state, t, contexts, groups, Ridge(np.linalg.solve(sigma, b).astype(np.float64), root), past, own, p
            )
            own.random()
            arm = int(p.argmax())
            past.contexts[t - 1], past.groups[t - 1], past.played[t - 1] = contexts, groups, arm
            past.rewards[t - 1] = rewards[arm]
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
    world = World(4, 2, grouped_draw, [[0.0]], groups=3)
    policy = fl.ContextPolicy("remembers", remembers, ridge=0.7, history=True, memory=1)
    one = fl.simulate(fl.ContextBandit(world), policy, 200, seed=1, runs=2)
    two = fl.simulate(fl.ContextBandit(world), dataclasses.replace(policy, interpret=True), 200, seed=1, runs=2)
    assert np.array_equal(one.selected, two.selected)
    assert np.array_equal(one.reward, two.reward)
    assert np.array_equal(one.regret, two.regret)


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


def largest(params, state, t, contexts, groups, ridge, past, rng, p):
    """Play the largest first coordinate."""
    best = 0
    for a in range(1, p.size):
        if contexts[a, 0] > contexts[best, 0]:
            best = a
    p[best] = 1.0


def anybody(params, state, t, contexts, groups, ridge, past, rng, p):
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
        world.draw(world.params, rng, contexts, groups, m, r)
        (row,) = np.flatnonzero((x == contexts).all(axis=(1, 2)))
        assert np.array_equal(m, means[row])
        assert np.array_equal(r, rewards[row])
        seen.add(int(row))
    assert seen == set(range(6))
    mu = np.array([0.1, -0.2, 0.3])
    world = linear_table(x, mu, 0.5)
    noise: list[float] = []
    for _ in range(4000):
        world.draw(world.params, rng, contexts, groups, m, r)
        assert (x == contexts).all(axis=(1, 2)).any()
        assert np.allclose(m, contexts @ mu, atol=1e-15)
        noise.extend(r - m)
    assert np.std(noise) == pytest.approx(0.5, rel=0.05)
    assert abs(np.mean(noise)) < 0.03
    world = sphere(2, mu, 0.0)
    world.draw(world.params, rng, contexts, groups, m, r)
    assert np.allclose(np.linalg.norm(contexts, axis=1), 1)
    assert np.allclose(m, contexts @ mu)
    assert np.array_equal(m, r)


def cast(anything: Any) -> Any:
    """Hide the type of a wrong argument from the type checker."""
    return anything


def bad_nan(params, rng, contexts, groups, means, rewards):
    """Leave a hole in the third round."""
    contexts[:] = 1.0
    params[0, 0] += 1.0
    if params[0, 0] == 3.0:
        contexts[1, 1] = np.nan


def bad_group(params, rng, contexts, groups, means, rewards):
    """Name a group that does not exist."""
    groups[0] = 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fl.simulate(fl.ContextBandit(World(2, 2, bad_nan, [[0.0]])), fl.ContextPolicy("c", coin), 9),
            "in round 3",
        ),
        (
            lambda: fl.simulate(fl.ContextBandit(World(2, 2, bad_group, [[0.0]])), fl.ContextPolicy("c", coin), 9),
            "groups",
        ),
        (lambda: fl.simulate(fl.ContextBandit(sphere(2, [1.0])), fl.ucb1(), 9), "ContextPolicy"),
        (lambda: fl.simulate(fl.Bandit(fl.bernoulli([0.5])), fl.ContextPolicy("c", coin), 9), "must be a Policy"),
        (
            lambda: fl.simulate(fl.ContextBandit(sphere(2, [1.0])), fl.ContextPolicy("c", coin, dimension=2), 9),
            "contexts of length 2, not 1",
        ),
        (lambda: fl.ContextPolicy("c", coin, ridge=0), "ridge must be a number above 0, not 0"),
        (lambda: fl.ContextPolicy("c", coin, ridge=np.nan), "ridge must be"),
        (lambda: fl.ContextPolicy("c", coin, memory=-1), "memory"),
        (lambda: fl.ContextPolicy("c", cast("coin")), "rule must be a function"),
        (lambda: fl.ContextPolicy(cast(3), coin), "name must be"),
        (lambda: fl.ContextBandit(cast("yeast")), "world must be a World"),
        (lambda: World(0, 1, coin, [[0.0]]), "arms must be"),
        (lambda: World(1, 1, cast(None), [[0.0]]), "draw must be a function"),
        (lambda: World(1, 1, coin, [0.0]), "params must be an array of numbers with 2 axes"),
        (lambda: table([[[np.nan]]], [[0.0]], [[0.0]]), r"contexts must be finite numbers, not nan \(at \[0, 0, 0\]\)"),
        (lambda: table([[[1.0]], [[1.0, 2.0]]], [[0.0]], [[0.0]]), "contexts must be an array"),
        (lambda: table([[[1.0]]], [[0.0, 1.0]], [[0.0]]), r"means must be of shape \(1, 1\)"),
        (lambda: linear_table([[[1.0]]], [1.0, 2.0], 1), "parameter must have 1 numbers"),
        (lambda: linear_table([[[1.0]]], [1.0], -1), "sd must be"),
        (lambda: sphere(0, [1.0]), "arms must be"),
        (lambda: fl.simulate(fl.ContextBandit(sphere(2, [1.0])), fl.ContextPolicy("n", nothing), 9), "in round 1"),
    ],
    ids=itertools.count(),
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def nothing(params, state, t, contexts, groups, ridge, past, rng, p):
    """Forget to fill p."""


def test_check_policy_on_contexts() -> None:
    fl.check_policy(fl.ContextPolicy("coin", coin))
    fl.check_policy(fl.ContextPolicy("remembers", remembers, ridge=0.7, history=True, memory=1), arms=2)

    def spoils(params, state, t, contexts, groups, ridge, past, rng, p):
        p[0] = 1.0
        ridge.mean[0] = 7.0

    with pytest.raises(ValueError, match=r"must not write to ridge.mean; in round 1"):
        fl.check_policy(fl.ContextPolicy("spoils", spoils, ridge=1.0))
    with pytest.raises(TypeError, match="Policy or ContextPolicy"):
        fl.check_policy(coin)  # type: ignore[arg-type]
