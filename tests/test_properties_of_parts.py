"""What holds for the parts that policies and games are made of, against brute force on small cases and by definition.

Roundings choose with exactly the chances that they are given; merit rises, and its optimistic step is beaten by no
point of the box; delays come as their laws say; and ranks are a distribution function.
"""

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from strategies import examples, numbers

import fairlib as fl
from fairlib.core import any_of_the_best, explore, largest, select, share_out
from fairlib.delays import dependent_rounding, laws
from fairlib.delays.policies import _play_top
from fairlib.engine.agent import selector
from fairlib.merit import fair_policy
from fairlib.ranks import empirical, rank, uniform_sum
from fairlib.ranks.distributions import flat

# Roundings -----------------------------------------------------------------------------------------------------------


@st.composite
def chances(draw, most=6):
    """Draw fractions in [0, 1] that sum to a whole number, and that number."""
    size = draw(st.integers(1, most))
    plays = draw(st.integers(1, size))
    whole = draw(st.integers(1, 30))
    left, parts = plays * whole, []
    for a in range(size):
        after = (size - a - 1) * whole
        parts.append(draw(st.integers(max(0, left - after), min(whole, left))))
        left -= parts[-1]
    return [Fraction(part, whole) for part in parts], plays


@examples(60)
@given(chances())
def test_systematic_sampling_has_exactly_the_chances_that_it_is_given(drawn):
    """Between two points where the choice changes it is one: a point of each piece stands for all of it."""
    fractions, plays = drawn
    pieces = math.lcm(*(each.denominator for each in fractions))
    hits, p = np.zeros(len(fractions), int), np.array(fractions, float)
    for i in range(pieces):
        chosen, again = np.zeros(plays, np.int64), np.zeros(plays, np.int64)
        u = (i + 0.5) / pieces
        assert select(p, u, chosen)
        assert selector()(p, u, again)
        assert np.array_equal(chosen, again)
        assert (np.diff(chosen) > 0).all()
        hits[chosen] += 1
    assert [Fraction(int(each), pieces) for each in hits] == fractions


class Tosses:
    """A generator with prescribed draws, which keeps their probability."""

    def __init__(self, outcomes: list[bool]) -> None:
        self.outcomes, self.asked, self.chance = outcomes, 0, 1.0

    def random(self) -> "Tosses":
        """Return what waits to be compared."""
        return self

    def __mul__(self, stake: Any) -> "Tosses":
        self.stake = stake
        return self

    def __lt__(self, bound: Any) -> bool:
        first = self.outcomes[self.asked] if self.asked < len(self.outcomes) else True
        self.asked += 1
        self.chance *= bound / self.stake if first else 1 - bound / self.stake
        return first


def every_way(p: Any) -> dict[tuple[int, ...], float]:
    """Return the chance of each set of arms, over all ways in which the tosses can come out."""
    found: dict[tuple[int, ...], float] = {}
    waiting: list[list[bool]] = [[]]
    while waiting:
        outcomes = waiting.pop()
        tosses = Tosses(outcomes)
        chosen = tuple(dependent_rounding(p, tosses).tolist())
        found[chosen] = found.get(chosen, 0.0) + tosses.chance
        waiting += [[*outcomes, *[True] * i, False] for i in range(tosses.asked - len(outcomes))]
    return found


@examples(60)
@given(chances())
def test_dependent_rounding_has_the_chances_that_it_is_given_and_no_two_arms_are_friends(drawn):
    p, plays = np.array(drawn[0], float), drawn[1]
    sets = every_way(p)
    assert sum(sets.values()) == pytest.approx(1, abs=1e-12)
    assert {len(set(each)) for each in sets} == {plays}

    def together(*arms):
        return sum(chance for each, chance in sets.items() if set(arms) <= set(each))

    np.testing.assert_allclose([together(a) for a in range(p.size)], p, atol=1e-12)
    for a, b in itertools.combinations(range(p.size), 2):
        assert together(a, b) <= p[a] * p[b] + 1e-12


# Steps that rules share ----------------------------------------------------------------------------------------------

INDICES = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, math.inf, -1.0]) | st.floats(-3, 3), min_size=1, max_size=8)


@examples(100)
@given(INDICES, st.data())
def test_the_steps_that_rules_share_do_what_they_say(indices, data):
    size, plays = len(indices), data.draw(st.integers(1, len(indices)))
    assert largest(np.array(indices)) == indices.index(max(indices))
    p = np.array(indices)
    any_of_the_best(p)
    best = [x == max(indices) for x in indices]
    assert p.tolist() == [one / sum(best) for one in best]
    p = np.array(indices)
    _play_top(p, plays)
    order = sorted(range(size), key=lambda a: -indices[a])  # stable: of several the first
    assert p.tolist() == [float(a in order[:plays]) for a in range(size)]
    weights = np.array(data.draw(st.lists(st.floats(0.01, 9), min_size=size, max_size=size)))
    p = weights.copy()
    share_out(p, plays)
    assert p.sum() == pytest.approx(plays)
    assert p.max() <= 1
    below = p < 1 - 1e-12
    rate = (p / weights)[below]
    np.testing.assert_allclose(rate, rate.max(initial=0))  # in proportion below 1, and who is at 1 deserves as much
    assert (weights[~below] * rate.max(initial=np.inf if plays == size else 0) >= 1 - 1e-9).all()
    share_out(p, 1)
    epsilon = data.draw(st.floats(0, 1))
    mixed = p.copy()
    explore(epsilon, mixed)
    assert mixed.sum() == pytest.approx(1)
    assert (mixed >= epsilon / size - 1e-12).all()


# Merit ---------------------------------------------------------------------------------------------------------------


MERITS = pytest.mark.parametrize("kind", strategies.MERITS)


def means_of(merit, size):
    return numbers(merit.low, merit.high, size)


@MERITS
@examples(25)
@given(data=st.data())
def test_merit_rises_and_the_fair_policy_follows_it(kind, data):
    merit = data.draw(strategies.MERITS[kind])
    size = data.draw(st.integers(1, 6))
    means = np.array(data.draw(means_of(merit, size)))
    order = means.argsort()
    merits = merit(means)
    assert (np.diff(merits[order]) >= 0).all()
    assert (merits >= merit.minimum * (1 - 1e-12)).all()
    gaps = np.abs(np.diff(means[order]))
    assert (np.diff(merits[order]) <= merit.lipschitz * gaps * (1 + 1e-9) + 1e-9 * merits.max()).all()
    assert (np.diff(np.log(merits[order])) <= merit.log_lipschitz * gaps * (1 + 1e-9) + 1e-9).all()
    fair = fair_policy(merit, means)
    assert fair.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.outer(fair, merits), np.outer(fair, merits).T, rtol=1e-9)
    np.testing.assert_allclose(fair_policy(merit, means[order]), fair[order], rtol=1e-12)
    plays = data.draw(st.integers(1, size))
    capped = fair_policy(merit, means, plays)
    assert capped.sum() == pytest.approx(plays)
    assert capped.max() <= 1 + 1e-9
    assert (np.diff(capped[order]) >= -1e-12).all()
    if plays * merits.max() > merits.sum() * (1 + 1e-6):
        assert capped.max() == 1
    elif plays * merits.max() < merits.sum():
        np.testing.assert_allclose(fair_policy(merit, means, plays), plays * fair, rtol=1e-9)


# Delays --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("power", "late"), [(33.9, math.floor(math.exp(33.9))), (34.1, math.inf), (800.0, math.inf)])
def test_a_delay_past_counting_is_for_ever(power, late):
    assert laws.log_normal_draw(power, 0.0, np.random.default_rng(0)) == late


@pytest.mark.parametrize("chance", [1e-14, 1e-17, 1e-20, 1e-75, 1e-300, 1e-320])
def test_a_geometric_delay_past_counting_is_for_ever(chance):
    game = fl.Bandit(fl.bernoulli([0.5]), delay=laws.geometric([chance]))
    for policy in (fl.ucb1(), fl.ucb1().replace(interpret=True)):
        seen = [step.seen.observed[0] for step in fl.trace(game, policy, 50)]
        assert seen == [0] * 50
    assert fl.simulate(game, fl.ucb1(), 50).selected[0, -1, 0] == 50


@pytest.mark.parametrize("kind", strategies.LAWS)
@examples(15)
@given(data=st.data())
def test_a_delay_comes_as_its_law_says_and_its_quantiles_invert_it(kind, data):
    laws, arrived = strategies.LAWS[kind]
    law = data.draw(laws(3))
    means = np.array(data.draw(numbers(0, 1, 3)))
    shares = sorted(data.draw(st.lists(st.floats(0.001, 0.999), min_size=2, max_size=4)))
    table = np.array([law.quantiles(q, means) for q in shares])
    assert (table[1:] >= table[:-1]).all()
    draws, number = law.draw.numbers({"K": 3}), 300
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    for arm, mean in enumerate(means):
        came = []
        has = {name: value[arm] for name, value in law.settings.items()}
        for _ in range(number):
            wait = law.draw.interpreted(draws, arm, float(rng.random() < mean), rng)
            assert wait >= -1
            came.append(math.inf if wait == -1 else wait)
        for q, late in zip(shares, table[:, arm], strict=True):
            if late > 1e12:  # past counting, or never
                assert arrived(has, mean, 1e12) < q + 1e-9
                continue
            within = arrived(has, mean, late)
            assert within >= q - 1e-9
            assert late == 0 or arrived(has, mean, late - 1) < q + 1e-9
            test = binomtest(int(np.sum(np.array(came) <= late)), number, min(within, 1.0))
            assert test.pvalue > 1e-9


# Ranks ---------------------------------------------------------------------------------------------------------------


@examples(60)
@given(st.data())
def test_ranks_are_a_distribution_function(data):
    if data.draw(st.booleans()):
        sample = data.draw(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=8))
        law = empirical(sample)
    else:
        weights = data.draw(st.lists(st.sampled_from([-2.0, 0.5, 1.0, 3.0]), min_size=1, max_size=4))
        law, sample = uniform_sum(weights, data.draw(st.floats(-3, 3))), None
        again = uniform_sum(weights[::-1], law.breaks[0] - sum(w for w in weights if w < 0))
        np.testing.assert_allclose(law.breaks, again.breaks, atol=1e-9)
    points = np.array(sorted(data.draw(st.lists(st.floats(-12, 15), min_size=2, max_size=8))))
    ranks = law.cdf(points)
    assert ((ranks >= 0) & (ranks <= 1)).all()
    assert (np.diff(ranks) >= -1e-12).all()
    np.testing.assert_allclose([rank(flat([law, law]), 1, x) for x in points], ranks, atol=1e-12)
    if sample is not None:
        assert ranks.tolist() == [sum(each <= x for each in sample) / len(sample) for x in points]
    share = data.draw(st.floats(0.001, 1))
    (reward,) = law.quantile([share])
    assert law.cdf(reward) >= share - 1e-9
    assert law.cdf(reward - 1e-6) < share + 1e-5


@examples(30)
@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=5))
def test_calibrated_shares_are_those_of_all_outcomes_together(means):
    shares = [Fraction(0)] * len(means)
    for outcome in itertools.product([0, 1], repeat=len(means)):
        chance = Fraction(1)
        for mean, one in zip(means, outcome, strict=True):
            chance *= Fraction(mean) if one else 1 - Fraction(mean)
        winners = [a for a in range(len(means)) if outcome[a] == max(outcome)]
        for a in winners:
            shares[a] += chance / len(winners)
    np.testing.assert_allclose(fl.after.theory.calibrated_shares(means), np.array(shares, float), atol=1e-12)
