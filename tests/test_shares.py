"""Guaranteed shares: Theorem 1 at every round against every kind of learner, the bounds, the paper's slips."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from helpers import same
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import zeta

import fairlib as fl
from fairlib import shares as sh
from fairlib.core import Number, largest, linear_table

INSTANCE_2 = ([0.7, 0.5, 0.4], [0.2, 0.3, 0.25])


# Learners that know what they are up against: they look at the counts to do as much harm as they can.
def stubborn(p, available=None):
    return largest(p, available)


def most_ahead(shares, seen, p, available=None):
    for a in range(p.size):
        p[a] = seen.selected[a] - shares[a] * seen.t
    return largest(p, available)


def least_share(shares, p, available=None):
    return largest(-shares, available)


def dice(rng, p, available=None):
    for a in range(p.size):
        p[a] = rng.random()
    return largest(p, available)


LEARNERS = {
    "stubborn": lambda shares: fl.Policy("stubborn", stubborn),
    "most ahead": lambda shares: fl.Policy("most ahead", most_ahead, shares=shares),
    "least share": lambda shares: fl.Policy("least share", least_share, shares=shares),
    "dice": lambda shares: fl.Policy("dice", dice),
    "UCB1": lambda shares: fl.ucb1(),
}


def extreme_shares(arms):
    """Shares just below 1/K, all small, one large, a random mix: as fractions, so that nothing is rounded."""
    top = Fraction(1, arms) - Fraction(1, 10**5)
    rng = np.random.default_rng(arms)
    return [
        [top] * arms,
        [Fraction(1, 1000)] * arms,
        [top] + [Fraction(0)] * (arms - 1),
        [top if a % 2 else Fraction(a, 50 * arms * arms) for a in range(arms)],
        [Fraction(int(x), 10**4) for x in rng.integers(0, math.ceil(10**4 / arms), arms)],
    ]


def worst(counts, there, shares):
    """Largest deficit of each arm after any round, of the rounds in which it was there, in exact arithmetic."""
    each = zip(shares, there.T.tolist(), counts.T.tolist(), strict=True)
    return [max(share * t - count for t, count in zip(rounds, plays, strict=True)) for share, rounds, plays in each]


@pytest.mark.parametrize("tolerance", [0, 1, 3])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("arms", [2, 3, 7])
def test_theorem_1_holds_after_every_round(arms, learner, tolerance):
    """Also where arms come and go, of the rounds in which each is there; with the sharper bound for such games."""
    horizon, rng = 700, np.random.default_rng(arms)
    for case, exact in enumerate(extreme_shares(arms)):
        shares = [float(share) for share in exact]
        policy = sh.fair_learn(LEARNERS[learner](np.array(shares)), shares, tolerance)
        away = rng.random((97, arms)) < rng.choice([0.1, 0.4, 0.7])
        away[np.arange(97), rng.integers(0, arms, 97)] = False
        for table in (None, 1 - away):
            game = fl.Bandit(fl.bernoulli(np.linspace(0.9, 0.1, arms)), available=table)
            counts = fl.simulate(game, policy, horizon, seed=case, rounds=range(1, horizon + 1)).selected[0]
            behind = worst(counts, np.resize(1 if table is None else table, counts.shape).cumsum(axis=0), exact)
            assert max(behind) < tolerance + 1
            assert max(map(math.floor, behind)) <= tolerance
            assert all(d <= tolerance + r + (arms - 2) * max(exact) for d, r in zip(behind, exact, strict=True))


@pytest.mark.parametrize("tolerance", [0, 1, 2])
def test_fair_learn_plays_what_its_box_says(tolerance):
    """Against the box written out in fractions; the shares are exact in binary, so that nothing is rounded."""
    exact = [Fraction(n, 64) for n in (12, 9, 12, 5, 0)]
    policy = sh.fair_learn(fl.Policy("stubborn", stubborn), [float(share) for share in exact], tolerance)
    got = fl.simulate(fl.Bandit(fl.bernoulli([0.5] * 5)), policy, 500, rounds=range(1, 501)).selected[0]
    counts = [0] * 5
    for t in range(1, 501):
        behind = [share * (t - 1) - count for share, count in zip(exact, counts, strict=True)]
        counts[behind.index(max(behind)) if max(behind) > tolerance else 0] += 1
        assert got[t - 1].tolist() == counts


def test_t_fair_ucb_serves_each_quota_and_no_more_before_it_learns():
    shares, horizon = [0.2, 0.3, 0.0], 101
    game = fl.Bandit(fl.bernoulli([0.7, 0.5, 0.4]))
    counts = fl.simulate(game, sh.t_fair_ucb(shares, horizon), horizon, rounds=range(1, horizon + 1)).selected[0]
    assert counts[19].tolist() == [20, 0, 0]
    assert counts[49].tolist() == [20, 30, 0]
    assert counts[50].tolist() == [20, 30, 1]


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_lemma_1_holds_for_any_sequence_of_choices(data):
    """The sets of arms in need never grow beyond their places, whatever the learner plays; exact arithmetic."""
    arms = data.draw(st.integers(2, 6))
    shares = [Fraction(data.draw(st.integers(0, 99)), 100 * arms) for _ in range(arms)]
    if data.draw(st.booleans()):
        shares = [Fraction(1, arms)] * arms  # the closed end, which our proof covers
    tolerance = Fraction(data.draw(st.integers(0, 12)), 4)
    choices = data.draw(st.lists(st.integers(0, arms - 1), min_size=80, max_size=80))
    counts = [0] * arms
    for t, choice in enumerate(choices, start=1):
        behind = [share * (t - 1) - count for share, count in zip(shares, counts, strict=True)]
        counts[behind.index(max(behind)) if max(behind) > tolerance else choice] += 1
        after = [share * t - count for share, count in zip(shares, counts, strict=True)]
        for j in range(arms + 1):
            assert sum(d >= tolerance + Fraction(arms - j, arms) for d in after) <= j


def reachable(shares, tolerance, horizon):
    """Follow FAIR-LEARN through every game: all choices of a learner, and of whom among those behind it serves.

    A state is how far each arm is behind.
    """
    states = {(Fraction(0),) * len(shares)}
    for _ in range(horizon):
        after = set()
        for state in states:
            need = [a for a, deficit in enumerate(state) if deficit > tolerance]
            for served in need or range(len(shares)):
                after.add(tuple(d + r - (a == served) for a, (d, r) in enumerate(zip(state, shares, strict=True))))
        yield after
        states = after


EXACT_SHARES = [
    [Fraction(1, 3), Fraction(1, 2)],
    [Fraction(1, 2)] * 2,
    [Fraction(1, 3)] * 3,
    [Fraction(33, 100), Fraction(1, 5), Fraction(1, 50)],
    [Fraction(1, 10)] * 4,
    [Fraction(1, 4), Fraction(1, 5), Fraction(1, 8), Fraction(1, 20)],
]


@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(1, 4), Fraction(2, 5), Fraction(1)])
@pytest.mark.parametrize("shares", EXACT_SHARES, ids=str)
def test_no_arm_is_behind_by_more_than_its_share_of_the_others_turns(shares, tolerance):
    """The sharper theorem, arm by arm, in every game that there is; with no tolerance each arm gets there."""
    arms, horizon = len(shares), {2: 24, 3: 13, 4: 8}[len(shares)]
    worst = [
        max(arm) for arm in zip(*(s for states in reachable(shares, tolerance, horizon) for s in states), strict=True)
    ]
    for share, deficit in zip(shares, worst, strict=True):
        assert deficit <= tolerance + (arms - 1) * share
        if tolerance == 0:
            assert deficit == (arms - 1) * share


@pytest.mark.parametrize(("arms", "share"), [(3, 0.33), (6, 0.1), (10, 0.099)])
def test_which_tolerances_are_fair_and_which_are_warned_of(arms, share):
    """The promise is floor(alpha + (K - 1) r), and the warning comes where that is more than alpha."""
    for step in range(-3, 4):
        edge = 1 - (arms - 1) * share  # from here on an arm can be a whole play behind
        tolerance = edge + step / 100
        promised = math.floor(tolerance + (arms - 1) * share + 1e-9)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            sh.fair_learn(fl.Policy("stubborn", stubborn), [share] * arms, tolerance)
        assert len(said) == (promised > tolerance) == (step >= 0)
        assert all(f"with these shares an arm may be {promised} plays behind" in str(each.message) for each in said)


LARGE_SHARES = [  # exact in binary, so that nothing is rounded
    [Fraction(3, 4), Fraction(1, 8), Fraction(1, 16)],
    [Fraction(3, 4), Fraction(1, 8), Fraction(1, 8)],  # nothing is left over
    [Fraction(1, 2), Fraction(1, 4)],
    [Fraction(7, 8), Fraction(1, 16), Fraction(0)],
    [Fraction(3, 8), Fraction(5, 16), Fraction(1, 8), Fraction(1, 16)],
]


def by_deadline(shares, tolerance, counts, t, ahead=64):
    """Return whom the box may serve, in fractions, or nobody if the learner plays, by looking so many rounds ahead."""
    for u in range(t, t + ahead):
        if sum(max(share * u // 1 - tolerance - n, 0) for share, n in zip(shares, counts, strict=True)) > u - t:
            due = [(n + 1 + tolerance) / share if share else math.inf for share, n in zip(shares, counts, strict=True)]
            return [a for a, each in enumerate(due) if each == min(due)]
    return []


@pytest.mark.parametrize("tolerance", [0, 1])
@pytest.mark.parametrize("shares", LARGE_SHARES, ids=str)
def test_any_shares_are_kept_by_deadline_whatever_the_learner_does(shares, tolerance):
    """Every possible game, played out: no arm is ever more than the tolerance behind."""
    states = {(0,) * len(shares)}
    for t in range(1, 20 if len(shares) < 4 else 13):
        after = set()
        for counts in states:
            for served in by_deadline(shares, tolerance, counts, t) or range(len(shares)):
                after.add(tuple(n + (a == served) for a, n in enumerate(counts)))
        states = after
        for counts in states:
            assert all(share * t // 1 - n <= tolerance for share, n in zip(shares, counts, strict=True))
    assert len(states) > 1 or sum(shares) == 1


def parts(*numbers):
    """Shares in proportion to whole numbers: they sum to exactly 1, and their floats only nearly."""
    return [Fraction(n, sum(numbers)) for n in numbers]


NOTHING_OVER = [
    *(parts(*[1] * q) for q in (3, 5, 6, 7, 10)),
    *(parts(*numbers) for numbers in ((5, 3, 2), (7, 2, 1), (39, 11), (11, 4), (2, 2, 1), (29, 57, 14), (1, 6, 4, 2))),
]


def drawn_parts(number):
    """Draw shares that sum to exactly 1, one to three of which may be 0."""
    rng = np.random.default_rng(1969)
    for _ in range(number):
        numbers = [int(n) for n in rng.integers(1, 30, rng.integers(2, 8))]
        yield parts(*rng.permutation(numbers + [0] * int(rng.integers(0, 4))).tolist())


def whole_plays_behind(policy, exact, horizon):
    """Play, and return the largest whole number of plays by which an arm is behind after any round, exactly."""
    q = math.lcm(*(share.denominator for share in exact))
    owed = np.outer(np.arange(1, horizon + 1), [int(share * q) for share in exact]) // q
    game = fl.Bandit(fl.bernoulli(np.linspace(0.2, 0.8, len(exact))))
    return int((owed - fl.simulate(game, policy, horizon, rounds=range(1, horizon + 1)).selected[0]).max())


@pytest.mark.parametrize("tolerance", [0, 1])
@pytest.mark.parametrize("learner", ["stubborn", "most ahead", "least share"])
def test_shares_that_sum_to_one_are_kept_beside_an_arm_without_a_share(learner, tolerance):
    """A learner that is asked once too often plays the arm without a share, and another arm is a whole play behind."""
    beside = [each for shares in NOTHING_OVER for each in ([*shares, Fraction(0)], [Fraction(0), *shares])]
    for exact in [*beside, *drawn_parts(60)]:
        floats = [float(share) for share in exact]
        policy = sh.fair_by_deadline(LEARNERS[learner](np.array(floats)), floats, tolerance)
        assert whole_plays_behind(policy, exact, 1500) <= tolerance, exact


def counting(calls: Number, p):
    calls[0] += 1
    return 0


@pytest.mark.parametrize("tolerance", [0, 1, 2])
def test_by_deadline_serves_and_asks_as_its_box_says(tolerance):
    """Not too seldom either: rounding up costs the learner no round, and nor does looking no further than needed."""
    for numbers in ((7, 2, 1), (6, 2, 1, 1), (1, 1, 1, 4), (5, 3, 1, 3), (1, 2, 8, 1), (2, 2, 2, 0), (1, 1, 5)):
        exact = parts(*numbers)
        for shares in (exact, exact[:-1]):  # nothing left over, and something
            policy = sh.fair_by_deadline(fl.Policy("counting", counting), [float(r) for r in shares], tolerance)
            asked, ahead = 0, 8 * sum(numbers)  # more than the learner can be ahead of its arm's share
            for step in fl.trace(fl.Bandit(fl.bernoulli([0.5] * len(shares))), policy, 30):
                due = by_deadline(shares, tolerance, step.seen.selected.tolist(), step.t, ahead)
                asked += not due
                assert step.played[0] in (due or [0]), (shares, step.t)
                assert step.memory["learner"][0] == asked, (shares, step.t)


def friend(seen, p):
    return p.size - 1 if seen.t % 1000 < 500 else 0


@pytest.mark.parametrize("more", [0, Fraction(1)])
@pytest.mark.parametrize("tolerance", [Fraction(0), Fraction(1, 4), Fraction(1, 2)])
@pytest.mark.parametrize(
    "shares", [parts(1, 1, 1, 1)[1:], parts(1, 1), parts(4, 3, 5)[:2], parts(5, 4, 2, 9)[:3]], ids=str
)
def test_with_the_least_credit_the_worst_window_is_the_bound(shares, tolerance, more):
    """Every game that there is, to the end: a state is what each arm is remembered to be owed, and its worst window.

    With more credit, too, no arm is owed more than the sharper theorem says.
    """
    credit, excess = max(0, (len(shares) - 1) * max(shares) - tolerance) + more, [(len(shares) - 1) * r for r in shares]
    nothing = ((Fraction(0), Fraction(0)),) * len(shares)
    states, fresh, worst = {nothing}, {nothing}, [Fraction(0)] * len(shares)
    while fresh:
        after = set()
        for state in fresh:
            for served in [a for a, (owed, _) in enumerate(state) if owed > tolerance] or range(len(shares)):
                changes = [(r - (a == served), *both) for a, (r, both) in enumerate(zip(shares, state, strict=True))]
                after.add(tuple((max(owed + by, -credit), max(short + by, 0)) for by, owed, short in changes))
        fresh = after - states
        states |= fresh
        assert all(owed <= tolerance + most for state in fresh for (owed, _), most in zip(state, excess, strict=True))
        worst = [max([known, *(state[a][1] for state in fresh)]) for a, known in enumerate(worst)]
    beyond = [short - tolerance - credit - most for short, most in zip(worst, excess, strict=True)]
    assert max(beyond) == 0 if more == 0 else max(beyond) <= 0


@pytest.mark.parametrize(("tolerance", "credit"), [(0, 1), (0.5, 1), (2, 3), (0, 9 / 16), (0.5, 1 / 16), (2, 0)])
@pytest.mark.parametrize("learner", [*LEARNERS, "friend"])
def test_every_window_has_its_plays(learner, tolerance, credit):
    shares = [1 / 8, 3 / 16, 1 / 16, 3 / 16]
    inner = fl.Policy("friend", friend) if learner == "friend" else LEARNERS[learner](shares)
    policy = sh.fair_in_windows(inner, shares, tolerance, credit)
    game = fl.Bandit(fl.bernoulli([0.9, 0.5, 0.6, 0.7]))
    counts = fl.simulate(game, policy, 5000, rounds=range(1, 5001)).selected[0]
    behind = np.outer(np.arange(5001), shares) - np.vstack([np.zeros(4), counts])  # exact, in sixteenths
    shortfall = behind - np.minimum.accumulate(behind)  # the worst window that ends here
    assert (shortfall.max(axis=0) <= tolerance + credit + 3 * np.array(shares)).all()


def due_first(owed, shares):
    """Return the arms of which windows by deadline may serve any, or none if it asks the learner."""
    rounds = {a: -((q - 1) // r) for a, (q, r) in enumerate(zip(owed, shares, strict=True)) if q + r > 0 and r > 0}
    return [a for a, each in rounds.items() if each == min(rounds.values())]


def every_game(shares, credit, floor_all=False):
    """Yield the deficits of windows by deadline in every game that there is, with any learner and any tie."""
    fresh = seen = {(Fraction(0),) * len(shares)}
    while fresh:
        yield from fresh
        after = set()
        for owed in fresh:
            due = due_first(owed, shares)
            for played in due or range(len(shares)):
                then = [q + r - (a == played) for a, (q, r) in enumerate(zip(owed, shares, strict=True))]
                if floor_all or not due:
                    then[played] = max(then[played], -credit)
                after.add(tuple(then))
        fresh = after - seen
        seen = seen | fresh


WINDOWS = [
    parts(6, 1, 1),
    parts(12, 2, 1, 1)[:3],
    parts(3, 2, 1),
    parts(5, 2, 2, 1),
    parts(18, 1, 1),
    parts(14, 1, 1)[:2],
    parts(4, 3, 1, 2)[:3],
    parts(2, 1, 1)[:2],
    parts(1, 1, 1, 1),
    [*parts(3, 1, 1), Fraction(0)],
    [Fraction(1), Fraction(0)],
]


@pytest.mark.parametrize("credit", [1, Fraction(3, 2), 2])
@pytest.mark.parametrize("shares", WINDOWS, ids=str)
def test_any_shares_have_their_windows_whatever_the_learner_does(shares, credit):
    """In every game to the end: from -c to below 1, which is what windows need; the floor is the learner's alone."""
    states = set(every_game(shares, credit))
    assert states == set(every_game(shares, credit, floor_all=True))
    assert all(-credit <= q < 1 for owed in states for q in owed)


@pytest.mark.parametrize("shares", [parts(6, 1, 1), parts(12, 2, 1, 1)[:3], parts(18, 1, 1)], ids=str)
def test_less_than_a_play_of_credit_is_not_enough_if_served_arms_are_forgotten_too(shares):
    assert any(max(owed) >= 1 for owed in every_game(shares, Fraction(1, 2), floor_all=True))
    assert all(max(owed) < 1 for owed in every_game(shares, Fraction(1, 2)))


@pytest.mark.parametrize("learner", LEARNERS)
def test_windows_by_deadline_plays_what_its_box_says(learner):
    shares, asked = [Fraction(9, 16), Fraction(3, 16), Fraction(1, 16), Fraction(0)], 0
    owed = [Fraction(0)] * 4
    policy = sh.windows_by_deadline(LEARNERS[learner](np.array(shares, float)), [float(r) for r in shares])
    for step in fl.trace(fl.Bandit(fl.bernoulli([0.9, 0.5, 0.6, 0.7])), policy, 600):
        due = due_first(owed, shares)
        asked += not due
        assert not due or step.played[0] in due
        owed = [
            max(q + r - (a == step.played[0]), Fraction(-1)) for a, (q, r) in enumerate(zip(owed, shares, strict=True))
        ]
    assert asked > 100


def test_shares_that_sum_to_one_in_floats_leave_the_learner_nothing():
    for exact in NOTHING_OVER:
        shares = [float(r) for r in exact]
        policy = sh.windows_by_deadline(fl.Policy("counting", counting), shares)
        *_, last = fl.trace(fl.Bandit(fl.bernoulli([0.5] * len(shares))), policy, 1000)
        assert last.memory["learner"][0] == 0
        assert whole_plays_behind(policy, exact, 1000) <= 0


def sighted_days(shares, days):
    """Yield the day, queues and plays of sighted shares in every game of two arms that there is, whatever the index."""
    gap = 0.5 - max(shares)
    turns = sh.sighted_turns(2, max(shares))
    states = {(0.0, 0.0, 0)}  # the queues, and the plays of the first arm
    for t in range(1, days + 1):
        weight, more = gap / 2 * math.sqrt(t), min(1 / math.sqrt(t), gap / 2)
        after = set()
        for *queue, plays in states:
            # With worths from 0 to 1 an arm can be made the largest whose queue is at most the weight shorter.
            near = [a for a in (0, 1) if queue[a] + weight >= queue[1 - a]]
            choices = [(t - 1) % 2] if t <= turns else near
            for arm in choices:
                fed = (max(q + r + more - (a == arm), 0.0) for a, (q, r) in enumerate(zip(queue, shares, strict=True)))
                after.add((*(round(q, 9) for q in fed), plays + (arm == 0)))
        states = after
        yield t, gap, states


@pytest.mark.parametrize("shares", [(0.0, 0.0), (0.1, 0.1), (0.1, 0.02)])
def test_sighted_shares_are_kept_at_every_moment_whatever_the_index(shares):
    """Every game of two arms: behind by no more than by turns, and by nothing from the last turn on."""
    turns, widest = sh.sighted_turns(2, max(shares)), 0
    for t, gap, states in sighted_days(shares, turns + 25):
        widest = max(widest, len(states))
        for one, other, plays in states:
            behind = (shares[0] * t - plays, shares[1] * t - (t - plays))
            assert all(d <= r + 1e-9 for d, r in zip(behind, shares, strict=True))
            assert t < turns or max(behind) < 0
            assert math.hypot(one, other) <= math.sqrt(t) + 1.25 / gap + 0.5  # the step of the proof
    assert widest > 1000


def test_sighted_turns_are_enough_for_the_proof_and_not_many_more():
    """From t_1 on what is fed beyond the promise is more than a queue can hold, and half of t_1 is too early."""
    for arms, share in ((2, 0.0), (2, 0.3), (3, 0.1), (6, 0.1), (6, 0.16), (20, 0.0)):
        gap, turns = 1 / arms - share, sh.sighted_turns(arms, share)
        t = np.arange(1, 4 * turns)
        fed = np.minimum(1 / np.sqrt(t), gap / 2).cumsum()
        left = np.sqrt(t) + 1.25 / gap + 0.5 - fed
        assert (left[turns - 1 :] < 0).all()
        assert left[turns // 2] > 0


def test_sighted_shares_play_what_their_box_says():
    shares, ridge, turns = np.array([0.1, 0.05]), 0.5, sh.sighted_turns(2, 0.1)
    game = fl.ContextBandit(linear_table([[[0.9, 0.1], [0.1, 0.8]], [[0.3, 0.3], [0.6, 0.2]]], [0.6, 0.8], sd=0.2))
    gram, total, queue, chosen = ridge * np.eye(2), np.zeros(2), np.zeros(2), set()
    for step in fl.trace(game, sh.sighted_shares(shares, 0.2, 1.0, 0.1, ridge), turns + 200):
        t, x = step.t, step.now.contexts
        log_det = np.linalg.slogdet(gram / ridge)[1]
        radius = 0.2 * math.sqrt(log_det + 2 * math.log(10)) + math.sqrt(ridge)
        widths = np.sqrt(np.einsum("ai,ij,aj->a", x, np.linalg.inv(gram), x))
        index = np.clip(x @ np.linalg.solve(gram, total) + radius * widths, 0, 1)
        score = queue + 0.4 / 2 * math.sqrt(t) * index
        arm = int(step.played[0])
        assert arm == (t - 1) % 2 if t <= turns else score[arm] >= score.max() - 1e-9
        chosen |= {arm} if t > turns else set()
        queue = np.maximum(queue + shares + min(1 / math.sqrt(t), 0.2) - (np.arange(2) == arm), 0)
        gram += np.outer(x[arm], x[arm])
        total += step.rewards[0] * x[arm]
    assert chosen == {0, 1}


def test_greedy_play_is_held_to_its_promises_and_costs_no_more_than_they_do():
    """Each arm has the plays that it is owed and one more, or as many as the round of its last own play."""
    shares = [0.1, 0.1, 0.1]
    game = sh.SharedBandit(fl.bernoulli([0.9, 0.6, 0.3]), shares=shares)
    horizon, last = 3000, []
    result = fl.simulate(
        game, sh.fair_learn(fl.epsilon_greedy(0.0), shares), horizon, runs=40, seed=3, rounds=range(1, horizon + 1)
    )
    for counts in result.selected:
        arms = np.diff(counts, axis=0, prepend=0).argmax(axis=1)
        before = np.vstack([np.zeros(3), counts[:-1]])
        own = (np.outer(np.arange(horizon), shares) - before).max(axis=1) <= 0
        for a in (1, 2):
            latest = np.maximum.accumulate(np.where(own & (arms == a), np.arange(1, horizon + 1), 0))
            quota = np.floor(0.1 * np.arange(1, horizon + 1) + 1e-9)
            assert (counts[:, a] <= np.maximum(quota + 1, latest)).all()
        last.append(latest[-1])
    assert result.r_regret[:, -1].max() <= 0.9
    assert np.median(last) < horizon / 10


def test_the_bounds_are_the_formulas():
    means, shares = [0.9, 0.5, 0.8], [0.1, 0.3, 0.2]
    horizon = 1000
    game = sh.SharedBandit(fl.bernoulli(means), shares=shares, tolerance=40)
    log = 8 * math.log(horizon)
    constant = 1 + math.pi**2 / 3
    by_hand = 0.4 * (max(log / 0.16 - 260, 0) + constant) + 0.1 * (max(log / 0.01 - 160, 0) + constant)
    assert sh.fair_ucb_bound(game, horizon) == pytest.approx(by_hand)
    by_hand = 0.4 * (max(log / 0.16, 260) + constant) + 0.1 * (max(log / 0.01, 160) + constant)
    assert sh.fair_ucb_regret_bound(game, horizon) == pytest.approx(by_hand)
    root = 2 * math.sqrt(2 * 3 * horizon * math.log(horizon))
    assert sh.fair_ucb_worst_case_bound(3, horizon, tolerance=5) == pytest.approx(root + 3 * float(zeta(3)))
    assert sh.fair_ucb_worst_case_bound(3, horizon, tolerance=0.5) == pytest.approx(root + 3 * float(zeta(3)) + 3)
    logs = 5 * math.log1p(horizon / (5 * 0.5))
    radius = 0.2 * math.sqrt(logs + 2 * math.log(horizon)) + 2 * math.sqrt(0.5)
    promise = 4.5 / (1 / 3 - 0.1) * math.sqrt(horizon) + sh.sighted_turns(3, 0.1) + 3
    sighted = sh.sighted_shares_bound(3, 5, horizon, share=0.1, noise=0.2, norm=2, ridge=0.5)
    assert sighted == pytest.approx(promise + 2 * radius * math.sqrt(2 * horizon * logs))


def test_lfg_keeps_its_queues():
    """The rule against the definition, played by hand."""
    shares, eta = [0.2, 0.3, 0.25], 2.0
    game = fl.Bandit(fl.bernoulli([1.0, 0.0, 1.0]))  # no chance, so that the play can be repeated by hand
    got = fl.simulate(game, sh.lfg(shares, eta), 60, rounds=range(1, 61)).selected[0]
    queue, count, total = np.zeros(3), np.zeros(3), np.zeros(3)
    for t in range(1, 61):
        with np.errstate(divide="ignore", invalid="ignore"):
            bound = np.minimum(total / count + np.sqrt(1.5 * np.log(t) / count), 1)
        bound[count == 0] = 1
        arm = int(np.argmax(queue + eta * bound))
        count[arm] += 1
        total[arm] += (1, 0, 1)[arm]
        queue = np.maximum(queue + shares - (np.arange(3) == arm), 0)
        assert got[t - 1].tolist() == count.tolist()


def test_fair_learn_takes_a_learner_that_cannot_be_compiled():
    def uncompilable(seen, p):
        assert "".join(sorted({"a": 1})) == "a"
        return {"first": 0}["first" if seen.t else "second"]

    shares = [0.3, 0.3, 0.3]
    game = sh.SharedBandit(fl.bernoulli([0.5] * 3), shares=shares)
    policy = sh.fair_learn(fl.Policy("odd", uncompilable, interpret=True), shares)
    assert policy.interpret
    assert fl.simulate(game, policy, 300).violation.max() == 0
    with pytest.warns(UserWarning, match=r"the rule of 'FAIR-LEARN\(odd\)' is interpreted"):
        late = fl.simulate(game, sh.fair_learn(fl.Policy("odd", uncompilable), shares), 300)
    assert same(late, fl.simulate(game, policy, 300))


TWO, TOO_MUCH = fl.bernoulli([0.5, 0.6]), [0.6, 0.5]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sh.fair_ucb([0.5, 0.1]), r"shares must be at least 0 and below 1/2, not 0.5 \(arm 0\)"),
        (lambda: sh.fair_learn(fl.uniform(2), [0.1, 0.1]), "learner must play one arm a round, not 2"),
        (lambda: sh.t_fair_ucb([0.0999] * 10, 9), "horizon must be at least 10, the sum of the arms' quotas, not 9"),
        (lambda: sh.fair_by_deadline(fl.ucb1(), TOO_MUCH), "shares must sum to at most 1, not 1.1"),
        (lambda: sh.fair_by_deadline(fl.uniform(2), [0.6, 0.4]), "learner must play one arm a round"),
        (lambda: sh.fair_in_windows(fl.ucb1(), [0.5, 0.1]), "shares must be at least 0 and below 1/2"),
        (
            lambda: sh.fair_in_windows(fl.ucb1(), [0.1, 0.3, 0.2], tolerance=0.25, credit=0.25),
            r"credit must be at least 0.35, \(K - 1\) times the largest share less the tolerance, not 0.25",
        ),
        (lambda: sh.windows_by_deadline(fl.ucb1(), TOO_MUCH), "shares must sum to at most 1, not 1.1"),
        (lambda: sh.window_plays(TOO_MUCH, 10), "shares must sum to at most 1, not 1.1"),
        (lambda: sh.SharedBandit(TWO, shares=TOO_MUCH), "shares must sum to at most"),
        (lambda: sh.SharedBandit(TWO, shares=[0.1]), r"one number an arm \(2\), not 1"),
        (lambda: sh.SharedBandit(TWO, plays=2, shares=[0.1, 0.1]), "plays must be 1"),
        (lambda: sh.sighted_shares([0.5, 0.1], 1, 1, 0.1), r"below 1/2, not 0.5 \(arm 0\)"),
        (lambda: sh.sighted_turns(4, 0.25), "share must be .*, not 0.25"),
        (lambda: sh.sighted_shares_bound(2, 1, 10, share=0.6, noise=1, norm=1), "share must be .*, not 0.6"),
        (lambda: sh.fair_ucb_bound(sh.SharedBandit(TWO, shares=[0.7, 0.1]), 10), "shares must be .*, not 0.7"),
        (lambda: sh.lfg([0.5, 0.5], 1), "shares must sum to less than 1"),
        (lambda: sh.lfg([0.1] * 10, 1), "shares must sum to less than 1, not 1"),
        (
            lambda: sh.t_fair_ucb_bound(sh.SharedBandit(TWO, shares=[0.1, 0.1], tolerance=2), 10),
            "no tolerance, .*, not 2",
        ),
    ],
    ids=itertools.count(),
)
def test_refused(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()
