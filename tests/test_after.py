"""What came after: chaining, floors, several plays, groups, NCB; each theorem at every round where it is one."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import probabilities

import fairlib as fl
from fairlib import after as af
from fairlib import shares as sh
from fairlib.delays import cucb_d
from fairlib.merit import exponential

SIX = [0.9, 0.88, 0.8, 0.7, 0.6, 0.5]


def play_weights(weights, p):
    for a in range(p.size):
        p[a] = weights[a]


def floored(make, weights, floor):
    """Return what becomes of some probabilities."""
    learner = fl.Policy("weights", play_weights, weights=np.asarray(weights, float))
    return fl.trace(fl.Bandit(fl.bernoulli([0.5] * len(weights))), make(learner, floor), 1)[0].p


def some_weights():
    rng = np.random.default_rng(5)
    yield np.array([1.0, 0, 0, 0])
    yield np.full(3, 1 / 3)
    for _ in range(60):
        arms = int(rng.integers(2, 8))
        yield rng.dirichlet(np.full(arms, rng.choice([0.1, 1.0, 5.0])))


# Chaining


def test_chain_hangs_together_and_is_played_alike():
    game = fl.Bandit(fl.bernoulli([0.9, 0.6, 0.1]))
    sizes = set()
    for step in fl.trace(game, af.chaining(0.1), 2000, seed=3):
        low, high, chain, n = step.memory["low"], step.memory["high"], step.p > 0, step.seen.observed
        m = np.maximum(n, 1)
        widths = np.sqrt(np.log(np.pi**2 * 3 * m**2 / (3 * 0.1)) / (2 * m))
        assert high - low == pytest.approx(np.where(n > 0, 2 * widths, 1))
        sizes.add(int(chain.sum()))
        assert np.allclose(step.p[chain], 1 / chain.sum())
        assert chain[high.argmax()]
        assert chain.all() or high[~chain].max() < low[chain].min()  # no other arm reaches it
        order = np.argsort(-high[chain])
        ends = np.minimum.accumulate(low[chain][order])
        assert (high[chain][order][1:] >= ends[:-1]).all()  # and it has no gap
    assert sizes == {1, 2, 3}


# Floors


def test_clip_and_renormalise_is_what_was_printed():
    for weights in some_weights():
        floor = 0.7 / weights.size
        short = np.maximum(floor - weights, 0).sum()
        made = floored(af.clipped_floor, weights, floor)
        assert np.allclose(made, np.maximum(weights, floor) / (1 + short))
        assert (made.min() < floor - 1e-9) == (short > 1e-9)


def test_mixed_floor_is_what_was_printed():
    for weights in some_weights():
        floor = 0.7 / weights.size
        assert np.allclose(floored(af.mixed_floor, weights, floor), floor + (1 - weights.size * floor) * weights)
        assert np.allclose(floored(af.mixed_floor, weights, 0.9), 1 / weights.size)


def test_projection_is_the_nearest_and_moves_the_least():
    rng = np.random.default_rng(8)
    for weights in some_weights():
        floor = 0.7 / weights.size
        made = floored(af.projected_floor, weights, floor)
        assert math.isclose(made.sum(), 1)
        assert made.min() >= floor - 1e-12
        assert math.isclose(np.maximum(made - weights, 0).sum(), np.maximum(floor - weights, 0).sum(), abs_tol=1e-12)
        for _ in range(20):
            other = floor + (1 - floor * weights.size) * rng.dirichlet(np.ones(weights.size))
            assert ((made - weights) ** 2).sum() <= ((other - weights) ** 2).sum() + 1e-12
        assert np.allclose(floored(af.projected_floor, weights, 0.9), 1 / weights.size)


def test_scaling_once_can_miss_the_floor():
    made = floored(af.scaled_floor, [0.89, 0.105, 0.005], 0.1)
    assert np.allclose(made, [0.89 * 0.9 / 0.995, 0.105 * 0.9 / 0.995, 0.1])
    assert made[1] < 0.1
    for weights in some_weights():
        assert math.isclose(floored(af.scaled_floor, weights, 0.7 / weights.size).sum(), 1)
        assert math.isclose(floored(af.scaled_floor, weights, 0.9).sum(), 1)


def test_batched_weights_stand_for_a_batch():
    game = fl.Bandit(fl.bernoulli([0.9, 0.5]))
    p = np.array([step.p for step in fl.trace(game, af.batched_thompson(10, 50), 40, seed=2)])
    assert (p.reshape(4, 10, 2) == p[::10, None]).all()
    assert len({float(x) for x in p[:, 0]}) > 1
    assert np.allclose(50 * p, (50 * p).round())


# Several plays


def adversary(plays, shares, seen, p):
    """Play those who are owed least."""
    for _ in range(plays):
        best = -1
        for a in range(p.size):
            ahead = seen.selected[a] - shares[a] * seen.t
            if p[a] == 0 and (best < 0 or ahead > seen.selected[best] - shares[best] * seen.t):
                best = a
        p[best] = 1.0


def test_one_play_is_fair_learn_where_shares_are_equal():
    game = fl.Bandit(fl.bernoulli([0.9, 0.6, 0.3]))
    one, other = af.fair_learn_plays(fl.ucb1(), [0.3] * 3, 1), sh.fair_learn(fl.ucb1(), [0.3] * 3, 1)
    same = [fl.simulate(game, each, 400, rounds=range(1, 401)).selected for each in (one, other)]
    assert (same[0] == same[1]).all()


@pytest.mark.parametrize("tolerance", [0, 1])
def test_several_plays_are_served_as_the_box_says(tolerance):
    """Those behind are served, and if there are too many, those that have been behind for most rounds."""
    shares, busy = np.array([20, 12, 4, 19, 7, 16]) / 64, 0  # exact
    policy = af.fair_learn_plays(fl.Policy("adversary", adversary, plays=2, shares=shares), shares, tolerance)
    for step in fl.trace(fl.Bandit(fl.bernoulli(SIX), plays=2), policy, 400):
        late = shares * (step.seen.t - 1) - step.seen.selected - tolerance
        behind, played = late > 0, np.isin(np.arange(6), step.played)
        late /= shares
        if behind.sum() <= 2:
            assert played[behind].all()
        else:
            busy += 1
            assert behind[played].all()
            assert late[played].min() >= late[~played].max()
    assert busy > 20


def every_game(plays, shares, tolerance, rounds, *, in_order):
    """Yield the deficits beyond the tolerance in every game, in fractions: all learners, and all that may be served.

    Those behind are served in the order of the rounds for which they have been behind, with all ties, or in any order.
    """
    arms, alike = len(shares), len(set(shares)) == 1
    games = {(-Fraction(tolerance),) * arms}
    for _ in range(rounds):
        after = set()
        for deficits in games:
            late = [d / r if in_order else int(d > 0) for d, r in zip(deficits, shares, strict=True)]
            behind = sorted((each for each in late if each > 0), reverse=True)
            cut = behind[plays - 1] if len(behind) > plays else 0
            must = [a for a in range(arms) if late[a] > cut]
            others = [a for a in range(arms) if (late[a] == cut if cut else a not in must)]
            for free in itertools.combinations(others, plays - len(must)):
                left = tuple(d + shares[a] - (a in must or a in free) for a, d in enumerate(deficits))
                after.add(tuple(sorted(left)) if alike else left)  # arms of the same share can be exchanged
        yield from after
        games = after


@pytest.mark.parametrize(("arms", "plays"), [(3, 2), (4, 2), (5, 2), (5, 3), (6, 4), (7, 3), (3, 1)])
@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_equal_shares_are_kept_sharply_whoever_is_served(arms, plays, tolerance):
    """The bounds of the theorem against every learner and every order of service, and where they are attained."""
    busy, rounds, most = -(-arms // plays), 9 if arms > 5 else 13, Fraction(plays, arms)
    for share in (
        Fraction(1, busy),
        Fraction(3, 4) / busy,
        most,
        (most + Fraction(1, busy)) / 2,
        most - Fraction(1, 60),
    ):
        least = max(share * s - plays * s // arms for s in range(1, arms + 1))  # of any policy: some arm has no more
        worst = max(map(max, every_game(plays, [share] * arms, tolerance, rounds, in_order=False)))
        assert worst == least if tolerance == 0 else worst <= least
        assert least == (busy - 1) * share or share * busy > 1
        assert least <= 1 - Fraction(math.gcd(arms, plays), arms)


def test_unequal_shares_can_fall_further_behind_if_they_are_served_in_any_order():
    """Nine arms, three plays: beyond the bound for equal shares, so that this bound needs equal shares or an order."""
    shares, tolerance = [Fraction(1, 3)] * 5 + [Fraction(3, 10)] * 4, Fraction(31, 100)
    deficits = [-tolerance] * 9
    for played in ((0, 1, 2), (0, 3, 4), (5, 6, 7), (0, 5, 8), (1, 2, 3), (6, 7, 8)):
        behind = {a for a in range(9) if deficits[a] > 0}
        assert behind >= set(played) if len(behind) > 3 else behind <= set(played)
        deficits = [d + r - (a in played) for a, (d, r) in enumerate(zip(deficits, shares, strict=True))]
    assert 2 * shares[4] < deficits[4] < 3 * shares[4]


@pytest.mark.parametrize(("arms", "plays"), [(3, 2), (4, 2), (4, 3), (5, 2), (5, 3), (5, 4), (6, 2), (6, 4), (3, 1)])
@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(1, 3), Fraction(1)])
def test_shares_that_differ_are_kept_sharply(arms, plays, tolerance):
    """Every learner and every tie: no arm is behind for more than m - 1 rounds, and some arm is for so many."""
    busy, rounds = -(-arms // plays), {3: 10, 4: 8, 5: 6, 6: 5}[arms]
    rng = np.random.default_rng([arms, plays])
    drawn = [[Fraction(int(x), 60 * busy) for x in rng.integers(1, 61, arms)] for _ in range(2)]
    alike, uneven = [Fraction(1, busy)] * arms, [Fraction(1, busy)] * (arms - 1) + [Fraction(1, 7 * busy)]
    worst = []
    for shares in (alike, uneven, *drawn):
        games = every_game(plays, shares, tolerance, rounds, in_order=True)
        worst.append(max(d / r for game in games for d, r in zip(game, shares, strict=True)))
    assert max(worst) <= busy - 1
    if tolerance == 0:
        assert worst[0] == busy - 1


@pytest.mark.parametrize(("arms", "plays"), [(3, 2), (4, 2), (5, 2), (5, 3), (6, 4), (7, 3), (3, 1), (3, 3)])
def test_the_deficit_of_several_plays_is_the_formula(arms, plays):
    busy, most = -(-arms // plays), plays / arms
    for share in (1 / busy, 0.7 / busy, most, (most + 1 / busy) / 2):
        least = max(share * s - plays * s // arms for s in range(1, 50))
        assert af.several_plays_deficit([share] * arms, plays, 2) == pytest.approx(np.full(arms, 2 + least))
    uneven = np.arange(arms) / arms / busy
    assert af.several_plays_deficit(uneven, plays) == pytest.approx((busy - 1) * uneven)


# Groups


def test_the_weights_of_a_batch_are_the_chances_to_be_best():
    """After a success of the first arm: of Beta(2, 1) to lie above Beta(1, 1) is two to one."""
    p = probabilities(af.batched_thompson(10, 40_000), 1, [1, 0], [1.0, 0.0], np.random.default_rng(0))
    assert p[0] == pytest.approx(2 / 3, abs=4 * math.sqrt(2 / 9 / 40_000))
    assert p.sum() == 1.0


# Nash


# Theory


@pytest.mark.parametrize(("arms", "slack"), [(5, 0.0), (5, 3.0), (5, 3.5), (5, 12.0), (2, 40.0)])
def test_guard_rounds_is_the_sum_of_the_proof(arms, slack):
    """At most one round above the sum of the probabilities that the proof allows, none of which is above 1."""
    r, b = 0.1, 0.15
    x = r * (1 - b) / (b * (1 - r))
    factor = x**-r * (1 - b + b * x)
    assert math.isclose(factor, min(y**-r * (1 - b + b * y) for y in [x, *np.linspace(0.01, 1, 200)]))
    total = sum(min(1.0, arms * factor**t * x**slack) for t in range(1, 20_000))
    assert total <= af.guard_rounds(arms, r, b, slack) <= total + 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: af.clipped_floor(fl.uniform(2), 0.1), "learner must play one arm a round, not 2"),
        (lambda: af.fair_learn_plays(cucb_d(2), [0.5, 0.6, 0.7]), r"at most 2/3, not 0.7 \(arm 2\)"),
        (lambda: af.fair_learn_plays(sh.fair_ucb([0.1] * 2), [0.1] * 3), r"one number an arm \(2\), not 3"),
        (lambda: af.several_plays_deficit([0.4, 0.35, 0.3], 1), r"1/3, or all the same .* 1/3, not 0.4 \(arm 0\)"),
        (lambda: af.several_plays_deficit([0.1] * 3, 4), "plays must be a whole number from 1 to 3, not 4"),
        (lambda: af.fair_groups([0, 0, 2], [0.1, 0.1], exponential(1)), "groups must name each of the 2"),
        (lambda: af.fair_groups([0, 1], [0.1, 0.5], exponential(1)), r"below 1/2, not 0.5 \(group 1\)"),
        (lambda: af.guard_rounds(6, 0.1, 0.2), "floor must be .*, not 0.2"),
    ],
)
def test_bad_input_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
