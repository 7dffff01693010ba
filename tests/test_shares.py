"""Guaranteed shares: Theorem 1 at every round against every kind of learner, the bounds, the paper's slips."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type"

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import both_ways, same
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import zeta

import fairlib as fl
from fairlib import shares as sh
from fairlib.policy import largest
from fairlib.rules import Number

INSTANCE_2 = ([0.7, 0.5, 0.4], [0.2, 0.3, 0.25])


# Learners that know what they are up against: they look at the counts to do as much harm as they can.
def stubborn(p):
    return 0


def most_ahead(shares, seen, p):
    for a in range(p.size):
        p[a] = seen.selected[a] - shares[a] * seen.t
    return largest(p)


def dice(rng, p):
    return int(rng.random() * p.size)


def changing_its_mind(seen, rng, arm: Number, p):
    if seen.t % 17 == 1:
        arm[0] = int(rng.random() * p.size)
    p[int(arm[0])] = 1.0


LEARNERS = {
    "stubborn": lambda shares: fl.Policy("stubborn", stubborn),
    "most ahead": lambda shares: fl.Policy("most ahead", most_ahead, shares=shares),
    "dice": lambda shares: fl.Policy("dice", dice),
    "changing its mind": lambda shares: fl.Policy("changing its mind", changing_its_mind),
    "UCB1": lambda shares: fl.ucb1(),
    "Thompson sampling": lambda shares: fl.thompson_beta(),
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


def worst(counts, shares):
    """Largest whole and largest exact deficit after any round, in exact arithmetic."""
    whole = exact = Fraction(-1)
    for a, share in enumerate(shares):
        for t, count in enumerate(counts[:, a].tolist(), start=1):
            exact = max(exact, share * t - count)
            whole = max(whole, share * t // 1 - count)
    return whole, exact


@pytest.mark.parametrize("tolerance", [0, 1, 3])
@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("arms", [2, 3, 7])
def test_theorem_1_holds_after_every_round(arms, learner, tolerance):
    horizon = 700
    for case, exact in enumerate(extreme_shares(arms)):
        shares = [float(share) for share in exact]
        policy = sh.fair_learn(LEARNERS[learner](shares), shares, tolerance)
        game = fl.Bandit(fl.bernoulli(np.linspace(0.9, 0.1, arms)))
        counts = fl.simulate(game, policy, horizon, seed=case, rounds=range(1, horizon + 1)).selected[0]
        whole, real = worst(counts, exact)
        assert whole <= tolerance
        assert real < tolerance + 1


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


@pytest.mark.parametrize(("tolerance", "reached"), [(0.25, 1), (0.5, 1), (0.75, 1), (1.5, 2)])
def test_a_tolerance_between_whole_numbers_guarantees_the_next_one_and_no_less(tolerance, reached):
    """Erratum E-P2: alpha-fairness fails for these, and ceil(alpha)-fairness holds."""
    shares = [0.099] * 10
    with pytest.warns(UserWarning, match=f"is not a whole number: an arm may be {reached} plays behind"):
        policy = sh.fair_learn(fl.Policy("stubborn", stubborn), shares, tolerance)
    counts = fl.simulate(fl.Bandit(fl.bernoulli([0.5] * 10)), policy, 400, rounds=range(1, 401)).selected[0]
    whole, exact = worst(counts, [Fraction(99, 1000)] * 10)
    assert whole == reached > tolerance
    assert exact < tolerance + 1


@pytest.mark.parametrize(("shares", "when"), [([0.04, 0.052, 0.866], 7), ([0.8, 0.1, 0.1], 5)])
def test_shares_that_only_sum_to_less_than_one_are_not_enough(shares, when):
    """Erratum E-P5: each share has to be at most 1/K."""
    with pytest.raises(ValueError, match="shares must be at least 0 and below 1/3"):
        sh.fair_learn(fl.ucb1(), shares)
    exact = [Fraction(str(share)) for share in shares]
    broken = 0
    for choices in itertools.product(range(3), repeat=when):
        counts = [0, 0, 0]
        for t, choice in enumerate(choices, start=1):
            behind = [share * (t - 1) - count for share, count in zip(exact, counts, strict=True)]
            counts[behind.index(max(behind)) if max(behind) > 0 else choice] += 1
        broken += any(share * when // 1 - count > 0 for share, count in zip(exact, counts, strict=True))
    assert broken > 0


@pytest.mark.parametrize("case", range(24))
def test_the_bounds_hold_against_simulation(case):
    rng = np.random.default_rng([3, case])
    arms = int(rng.integers(2, 8))
    means = rng.random(arms)
    shares = rng.random(arms) / arms * rng.choice([0.05, 0.5, 0.999])
    tolerance = float(rng.choice([0, 1, 7, 200]))
    game = sh.SharedBandit(fl.bernoulli(means), shares=shares, tolerance=tolerance)
    result = fl.simulate(game, sh.fair_ucb(shares, tolerance), 20_000, runs=24, seed=case)

    def low(values):
        return values.mean(axis=0) - 3 * values.std(axis=0, ddof=1) / math.sqrt(24)

    args = (means, shares, result.rounds, tolerance)
    assert (low(result.r_regret) <= sh.fair_ucb_bound(*args) + 1e-9).all()
    assert (low(result.r_regret) <= sh.fair_ucb_worst_case_bound(arms, result.rounds, tolerance) + 1e-9).all()
    assert (low(result.regret) <= sh.fair_ucb_regret_bound(*args) + 1e-9).all()
    assert (result.violation <= tolerance).all()
    assert (result.r_regret >= -1e-9).all()  # so for every alpha-fair policy

    horizon = 2000
    untolerant = sh.SharedBandit(fl.bernoulli(means), shares=shares)
    last = fl.simulate(untolerant, sh.t_fair_ucb(shares, horizon), horizon, runs=24, seed=case, rounds=[horizon])
    assert low(last.r_regret)[0] <= sh.t_fair_ucb_bound(means, shares, horizon) + 1e-9
    assert (last.selected[:, 0] >= np.floor(shares * horizon)).all()


def test_the_bounds_are_the_formulas():
    means, shares = [0.9, 0.5, 0.8], [0.1, 0.3, 0.2]
    horizon, tolerance = 1000, 40
    log = 8 * math.log(horizon)
    constant = 1 + math.pi**2 / 3
    by_hand = 0.4 * (max(log / 0.16 - 260, 0) + constant) + 0.1 * (max(log / 0.01 - 160, 0) + constant)
    assert sh.fair_ucb_bound(means, shares, horizon, tolerance) == pytest.approx(by_hand)
    by_hand = 0.4 * (max(log / 0.16, 260) + constant) + 0.1 * (max(log / 0.01, 160) + constant)
    assert sh.fair_ucb_regret_bound(means, shares, horizon, tolerance) == pytest.approx(by_hand)
    root = 2 * math.sqrt(2 * 3 * horizon * math.log(horizon))
    assert sh.fair_ucb_worst_case_bound(3, horizon, 5) == pytest.approx(root + 3 * float(zeta(3)))
    assert sh.fair_ucb_worst_case_bound(3, horizon, 0.5) == pytest.approx(root + 3 * float(zeta(3)) + 3)
    assert sh.fair_ucb_bound(means, shares, [10, 1000]).shape == (2,)


def test_theorem_4_as_printed_is_too_small():
    """Erratum E-P1: with the sums over the printed sets the bound is below the regret."""
    means, shares, horizon = np.array([0.9, 0.1]), np.array([0.4, 0.4]), 10**4
    game = sh.SharedBandit(fl.bernoulli(means), shares=shares)
    regret = fl.simulate(game, sh.fair_ucb(shares), horizon, runs=10).regret[:, -1]
    assert regret.tolist() == pytest.approx([3200] * 10)
    printed = (1 + math.pi**2 / 3) * 0.8  # arm 2 is not in the printed S(T), so both sums are empty
    assert printed == pytest.approx(3.43, abs=0.01)
    assert sh.fair_ucb_regret_bound(means, shares, horizon) == pytest.approx(3203.4, abs=0.1)


def test_an_arm_with_no_share_keeps_the_r_regret_growing():
    """Erratum E-P7: constant r-regret needs a positive share for every arm but the best."""
    means = [0.9, 0.7]
    growing = fl.simulate(
        sh.SharedBandit(fl.bernoulli(means), shares=[0.0, 0.0]),
        sh.fair_ucb([0.0, 0.0]),
        10**6,
        runs=20,
        rounds=[10**3, 10**6],
    ).r_regret.mean(axis=0)
    flat = fl.simulate(
        sh.SharedBandit(fl.bernoulli(means), shares=[0.0, 0.1]),
        sh.fair_ucb([0.0, 0.1]),
        10**6,
        runs=20,
        rounds=[10**3, 10**6],
    ).r_regret[:, 1]
    assert growing[1] > 3 * growing[0]
    assert flat.max() < 1


@pytest.mark.parametrize(("horizon", "behind"), [(200, 25), (2000, 250), (20_000, 2500)])
def test_t_fair_ucb_is_unfair_on_the_way(horizon, behind):
    means, shares = INSTANCE_2
    game = sh.SharedBandit(fl.bernoulli(means), shares=shares)
    result = fl.simulate(game, sh.t_fair_ucb(shares, horizon), horizon, runs=3)
    assert result.violation[:, -1].tolist() == [behind] * 3


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


def test_lfg_is_fair_in_the_long_run_and_not_before():
    means, shares = INSTANCE_2
    game = sh.SharedBandit(fl.bernoulli(means), shares=shares)
    result = fl.simulate(game, sh.lfg(shares, 200**0.5), 100_000, runs=10, rounds=[200, 100_000])
    assert result.violation[:, 0].max() >= 2
    assert (result.share[:, 1] > np.array(shares) - 1e-3).all()


def test_measures_of_unfairness_against_a_plain_loop():
    means, shares = INSTANCE_2
    game = sh.SharedBandit(fl.bernoulli(means), shares=shares, tolerance=2)
    result = fl.simulate(game, fl.ucb1(), 300, runs=2, rounds=range(1, 301))
    exact = [Fraction(str(share)) for share in shares]
    for run in range(2):
        for upto in (10, 150, 300):
            whole, real = worst(result.selected[run, :upto], exact)
            assert result.violation[run, upto - 1] == max(whole, 0)
            assert result.deficit[run, upto - 1] == pytest.approx(float(max(real, 0)))
    gaps = 0.7 - np.array(means)
    owed = [[max(0, share * t // 1 - 2) for share in exact] for t in result.rounds.tolist()]
    assert np.allclose(result.r_regret, (result.selected - np.array(owed, float)) @ gaps)


def test_fair_learn_takes_a_learner_with_memory_and_one_that_cannot_be_compiled():
    def counting(calls: Number, p):
        calls[0] += 1
        p[int(calls[0]) % p.size] = 1.0

    def uncompilable(seen, p):
        assert "".join(sorted({"a": 1})) == "a"
        return {"first": 0}["first" if seen.t else "second"]

    shares = [0.3, 0.3, 0.3]
    game = sh.SharedBandit(fl.bernoulli([0.5] * 3), shares=shares)
    counting_learner = sh.fair_learn(fl.Policy("counting", counting), shares)
    assert both_ways(game, counting_learner, 300).violation.max() == 0
    *_, last = fl.trace(game, counting_learner, 300)
    assert 0 < last.memory["learner"][0] < 300, "it is to be asked in some rounds and not in others"

    policy = sh.fair_learn(fl.Policy("odd", uncompilable, interpret=True), shares)
    assert policy.interpret
    assert fl.simulate(game, policy, 300).violation.max() == 0
    with pytest.warns(UserWarning, match=r"the rule of 'FAIR-LEARN\(odd\)' is interpreted"):
        late = fl.simulate(game, sh.fair_learn(fl.Policy("odd", uncompilable), shares), 300)
    assert same(late, fl.simulate(game, policy, 300))


@pytest.mark.parametrize(
    "policy",
    [
        sh.fair_ucb([0.1] * 5),
        sh.fair_learn(fl.thompson_beta(), [0.15] * 5, 2),
        sh.t_fair_ucb([0.1] * 5, 300),
        sh.lfg([0.1] * 5, 3),
    ],
    ids=lambda policy: policy.name,
)
def test_policies_conform(policy):
    fl.check_policy(policy)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sh.fair_ucb([0.5, 0.1]), ValueError, r"shares must be at least 0 and below 1/2, not 0.5 \(arm 0\)"),
        (lambda: sh.fair_ucb([0.1, -0.1]), ValueError, r"shares must be .* not -0.1 \(arm 1\)"),
        (lambda: sh.fair_ucb([0.1, np.nan]), ValueError, "shares must be numbers, not nan"),
        (lambda: sh.fair_ucb([]), ValueError, "shares must be a list"),
        (lambda: sh.fair_ucb([0.1, 0.1], -1), ValueError, "tolerance must be a number in"),
        (lambda: sh.fair_ucb([0.1, 0.1], math.inf), ValueError, "tolerance must be"),
        (lambda: sh.fair_learn(fl.uniform(2), [0.1, 0.1]), ValueError, "learner must play one arm a round, not 2"),
        (lambda: sh.fair_learn("UCB1", [0.1, 0.1]), TypeError, "learner must be a Policy"),
        (
            lambda: sh.t_fair_ucb([0.0999] * 10, 9),
            ValueError,
            "horizon must be at least 10, the sum of the arms' quotas, not 9",
        ),
        (lambda: sh.t_fair_ucb([0.1], 0), ValueError, "horizon must be"),
        (lambda: sh.lfg([0.5, 0.5], 1), ValueError, "shares must sum to less than 1"),
        (lambda: sh.lfg([0.5, 0.1], 0), ValueError, "eta must be a number above 0"),
        (
            lambda: sh.SharedBandit(fl.bernoulli([0.5, 0.6]), shares=[0.1]),
            ValueError,
            r"one number an arm \(2\), not 1",
        ),
        (lambda: sh.SharedBandit(fl.bernoulli([0.5, 0.6]), shares=[0.1, 0.1], tolerance=-2), ValueError, "tolerance"),
        (lambda: sh.SharedBandit(fl.bernoulli([0.5, 0.6]), plays=2, shares=[0.1, 0.1]), ValueError, "plays must be 1"),
        (lambda: sh.fair_ucb_bound([0.5, 0.6], [0.1], 10), ValueError, "shares must have one number an arm"),
        (lambda: sh.fair_ucb_bound([0.5, 0.6], [0.1, 0.1], 0), ValueError, "horizon must be"),
        (lambda: sh.fair_ucb_worst_case_bound(2, 10, -1), ValueError, "tolerance must be"),
    ],
    ids=itertools.count(),
)
def test_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_rule_for_other_shares_than_the_arms_is_refused():
    game = fl.Bandit(fl.bernoulli([0.5, 0.6, 0.7]))
    for policy in (sh.fair_ucb([0.1, 0.1]), sh.t_fair_ucb([0.1] * 4, 50), sh.lfg([0.1], 1)):
        with pytest.raises(ValueError, match=f"'{policy.name}' is made for {policy.arms} arms, not 3"):
            fl.simulate(game, policy, 100)
