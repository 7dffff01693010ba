"""Games with contexts: the ridge regression against the textbook, the worlds against their tables, and bad input."""

import itertools
from typing import Any

import numpy as np
import pytest

import fairlib as fl
from fairlib.core import World, absorb, dot, linear_table, sphere, table, width


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


FIRST = fl.ContextPolicy("first", lambda now, p: 0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fl.simulate(fl.Bandit(fl.bernoulli([0.5])), FIRST, 9), "must be a Policy"),
        (lambda: table([[[1.0]]], [[0.0, 1.0]], [[0.0]]), r"means must be of shape \(1, 1\)"),
        (lambda: linear_table([[[1.0]]], [1.0, 2.0], 1), "parameter must have 1 numbers"),
    ],
    ids=itertools.count(),
)
def test_refused(call: Any, sentence: str) -> None:
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()
