"""What *Four answers to one question* proves, derived once more: by linear programs, fractions and search."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import fairlib as fl
from fairlib.delays import SemiBandit
from fairlib.merit import fair_policy, power
from fairlib.ranks import reward_optimal, separate_groups

MEANS = [Fraction(m, 100) for m in (90, 88, 80, 70, 60, 50)]


def shares_of(bases):
    """Return the shares of the largest of base + (U - 1/2)/5, in exact fractions, piece by piece."""
    tenth = Fraction(1, 10)
    ends = sorted({b + side for b in bases for side in (-tenth, tenth)})
    shares = [Fraction(0)] * len(bases)
    for low, high in itertools.pairwise(ends):
        for i, weight in enumerate((19, 75, 50, 50, 75, 19)):  # Newton and Cotes are exact up to degree 5
            y = low + (high - low) * Fraction(i, 5)
            below = [min(max((y - b) * 5 + Fraction(1, 2), Fraction(0)), Fraction(1)) for b in bases]
            for a, b in enumerate(bases):
                if b - tenth <= low and high <= b + tenth:
                    wins = 5 * math.prod(below[:a] + below[a + 1 :])
                    shares[a] += wins * (high - low) * Fraction(weight, 288)
    return shares


def best_with_shares(worth, shares, *, equal=False):
    """Return the most that can be earned on equally likely days with given shares, by a linear program."""
    days, arms = worth.shape
    place = np.kron(np.eye(days), np.ones(arms))
    part = np.tile(np.eye(arms), days) / days
    kept = (
        {"A_eq": np.vstack([place, part[:-1]]), "b_eq": [*[1] * days, *shares[:-1]]}
        if equal
        else {"A_eq": place, "b_eq": [1] * days, "A_ub": -part, "b_ub": [-s for s in shares]}
    )
    return -linprog(-worth.ravel() / days, bounds=(0, 1), **kept).fun


def test_shares_of_greed_and_of_rank():
    assert shares_of(MEANS) == [Fraction(337, 600), Fraction(461, 1200), Fraction(13, 240), 0, 0, 0]
    assert shares_of([MEANS[0]] * 6) == [Fraction(1, 6)] * 6


def test_lifting_to_a_level_is_fair_among_the_lifted():
    for level in (Fraction(3, 5), Fraction(17, 20), Fraction(22, 25)):
        shares = shares_of([max(m, level) for m in MEANS])
        lifted = [s for s, m in zip(shares, MEANS, strict=True) if m <= level]
        assert sum(shares) == 1
        assert {*lifted, min(shares)} == {lifted[0]}


@pytest.mark.parametrize("seed", range(5))
def test_raises_are_the_best_way_to_keep_shares(seed):
    """The multipliers of the linear program are raises, and who takes the largest raised worth has its value."""
    rng = np.random.default_rng(seed)
    worth, owed = rng.normal([0.8, 0.2, 0.0], size=(60, 3)), np.array([0.1, 0.25, 0.3])
    days = len(worth)
    place, part = np.kron(np.eye(days), np.ones(3)), np.tile(np.eye(3), days) / days
    found = linprog(-worth.ravel() / days, A_eq=place, b_eq=[1] * days, A_ub=-part, b_ub=-owed, bounds=(0, 1))
    raises = -found.ineqlin.marginals
    shares = found.x.reshape(days, 3).mean(axis=0)
    assert (raises >= 0).all()
    assert raises @ (shares - owed) == pytest.approx(0)
    assert -found.fun == pytest.approx((worth + raises).max(axis=1).mean() - raises @ owed)
    # A little more of each share costs its raise: the plane that touches the frontier.
    for a in range(3):
        for step in (-0.02, 0.02):
            near = owed + step * (np.arange(3) == a)
            assert best_with_shares(worth, near) <= -found.fun - raises[a] * step + 1e-9


def test_rank_is_the_best_equal_share_policy_under_shifts():
    """Each Z is one of five numbers, on all 125 days: ties of ranks go to the largest worth, in both."""
    values = np.array([0.0, 0.13, 0.5, 0.61, 1.0])
    z = np.array(list(itertools.product(values, repeat=3)))
    worth = z + np.array([0.0, 0.3, 1.1])
    by_rank = np.mean([np.mean(worth[day][z[day] == z[day].max()]) for day in range(len(z))])  # ties by lot
    assert by_rank == pytest.approx(best_with_shares(worth, [1 / 3] * 3, equal=True))
    assert by_rank == pytest.approx(np.mean([0.0, 0.3, 1.1]) + z.max(axis=1).mean())


def test_rank_is_not_the_best_where_spreads_differ():
    u = (np.arange(200) + 0.5) / 200
    first, second = (each.ravel() for each in np.meshgrid(u, u))
    by_rank = np.where(first > second, first, 0.5)[first != second].mean()
    greedy = np.maximum(u, 0.5).mean()
    assert by_rank == pytest.approx(7 / 12, abs=2e-3)
    assert greedy == pytest.approx(5 / 8, abs=1e-3)
    assert (u > 0.5).mean() == 0.5


def nearest(target, owed, plays):
    """Return the least distance from a target of probabilities that keep a promise, on a grid of 1/20."""
    grid = itertools.product(range(21), repeat=len(target))
    kept = (p for p in grid if sum(p) == 20 * plays and all(q >= 20 * r for q, r in zip(p, owed, strict=True)))
    return min(sum(abs(Fraction(q, 20) - t) for q, t in zip(p, target, strict=True)) for p in kept)


def test_shares_against_exposure_and_merit():
    two, five = Fraction(2, 5), Fraction(1, 5)
    assert nearest([4 * five, five], [two] * 2, 1) == Fraction(2, 5)
    assert nearest([4 * five, 4 * five, two], [Fraction(1, 2)] * 3, 2) == Fraction(1, 5)
    merit = power(1, 1)  # 1 + x: merits 2, 2, 1
    assert SemiBandit(fl.bernoulli([1.0, 1.0, 0.0]), plays=2, merit=merit).optimal == pytest.approx([0.8, 0.8, 0.4])


@pytest.mark.parametrize(("arms", "share"), [(2, 0.4), (6, 0.1), (6, 0.15)])
def test_which_merit_keeps_a_promise(arms, share):
    ratio = (1 / share - 1) / (arms - 1)
    for more, kept in ((0.999, True), (1.001, False)):
        merit = power(ratio * more - 1, 1)  # from 1 to the ratio
        least = min(fair_policy(merit, means).min() for means in itertools.product((0.0, 0.5, 1.0), repeat=arms))
        assert (least >= share) == kept


def test_exposure_against_merit():
    half = Fraction(1, 2)
    assert sum(half * (1 + x) / (1 + x + 1 + half) for x in (0, 1)) == Fraction(17, 35)


def test_merit_against_rank():
    u = (np.arange(60) + 0.5) / 60
    ranks = np.array([each.ravel() for each in np.meshgrid(u, u)]).T
    least = ranks.max(axis=1).mean() - best_with_shares(ranks, [2 / 3, 1 / 3], equal=True)
    by = 1 - math.sqrt(2 / 3)
    assert least == pytest.approx(by**2 / 2 - by**3 / 3, abs=3e-4)


def test_greed_and_rank_agree_only_on_equal_groups():
    for shift, agree in ((0.0, True), (0.1, False)):
        game = separate_groups([[1.0], [1.0]], [0.0, shift], sd=0.0)
        regret = fl.simulate(game, reward_optimal(game), 200, runs=20, seed=3, rounds=[200]).fairness_regret[:, 0]
        assert (np.abs(regret).max() < 1e-9) == agree
