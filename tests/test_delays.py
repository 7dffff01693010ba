"""Delays: the laws, the rounding, the regrets, seven policies line by line, the lemmas and the bounds, and ours."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type, return-value"

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import probabilities
from scipy.stats import beta, binom

import fairlib as fl
from fairlib import delays as de
from fairlib import merit as me
from fairlib.core import select
from fairlib.engine.agent import Agent

MERIT = me.power(2, 4)
MEANS = np.array([0.3, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4])
GOOD = np.array([0, 0, 1, 1, 1, 0, 0])
SEVEN = fl.bernoulli(MEANS)
UNIT = {"low": 0, "high": 1, "minimum": 1}
PAPER = [me.power(2, c) for c in (2, 4, 6, 8)] + [me.power(3.5, 4)]


def semi(delay=None, merit=MERIT):
    return de.SemiBandit(SEVEN, plays=3, delay=delay, merit=merit)


def biased(rounds):
    return de.biased(rounds * GOOD, rounds * (1 - GOOD))


# Laws


def test_the_quantile_of_a_packet_loss_at_its_very_chance():
    """What arrives with probability q has a q-quantile of 0, though the sum of two products may be a hair below q."""
    tenths = [Fraction(i, 10) for i in range(11)]
    for one, zero, mean in itertools.product(tenths, repeat=3):
        law, chance = de.packet_loss([float(one)], [float(zero)]), mean * one + (1 - mean) * zero
        means = np.array([float(mean)])
        if chance > 0:
            assert law.quantiles(float(chance), means).tolist() == [0.0]
        if chance < 1:
            assert law.quantiles(float(chance) + 1e-9, means).tolist() == [math.inf]


def test_quantiles_in_closed_form():
    """Equation (2) against the definition, where the distribution can be written down."""
    z = np.arange(1, 20_000)
    for q in (0.01, 0.5, 0.9, 0.99):
        by_definition = [z[np.argmax(1 - (1 - p) ** z >= q - 1e-12)] for p in (0.05, 0.3)]
        assert de.geometric([0.05, 0.3]).quantiles(q, MEANS).tolist() == by_definition
        by_definition = [z[np.argmax(1 - z**-alpha >= q - 1e-12)] for alpha in (0.5, 1.0)]
        assert de.pareto([0.5, 1.0]).quantiles(q, MEANS).tolist() == by_definition
    game = semi(biased(6000))
    assert game.quantiles(0.3).tolist() == [0, 0, 0, 6000, 6000, 0, 0]
    assert game.quantiles(1.0).tolist() == [6000] * 7
    assert semi().quantiles(1.0).tolist() == [0] * 7


def test_pareto_delays_have_an_infinite_mean_and_a_modest_quantile():
    law, rng = de.pareto([0.01]), np.random.default_rng(2)
    numbers = law.draw.numbers({"K": 1})
    assert np.mean([law.draw.interpreted(numbers, 0, 1.0, rng) < 0 for _ in range(2000)]) > 0.5  # past counting
    assert law.quantiles(0.01, MEANS[:1])[0] == math.ceil(0.99**-100)


# The game


def test_fair_shares_are_the_only_ones_in_proportion_to_merit():
    """Theorem 3: K equations, one solution."""
    for plays in (1, 2, 3):
        p = me.fair_policy(MERIT, MEANS, plays)
        assert p.sum() == pytest.approx(plays)
        assert np.ptp(p / MERIT(MEANS)) < 1e-12
        rows = np.vstack(
            [np.eye(7)[:-1] / MERIT(MEANS)[:-1, None] - np.eye(7)[1:] / MERIT(MEANS)[1:, None], np.ones(7)]
        )
        assert np.linalg.solve(rows, [0] * 6 + [plays]) == pytest.approx(p)
    assert me.fair_policy(MERIT, MEANS, 3).round(4).tolist() == [0.3029, 0.3354, 0.4413, 0.6893, 0.5423, 0.3754, 0.3134]


def test_the_cap_is_sufficient_and_sharp():
    """Assumption 1(ii), Remark 5 and erratum E-D10."""
    rng = np.random.default_rng(3)
    for _ in range(3000):
        arms = int(rng.integers(3, 9))
        plays = int(rng.integers(2, arms))
        merits = rng.uniform(1, (arms - 1) / (plays - 1), arms)
        assert (plays * merits / merits.sum()).max() <= 1 + 1e-12
    assert me.fair_policy(me.power(2, 4), [1] + [0] * 6, 3)[0] == pytest.approx(1)
    with pytest.raises(ValueError, match=r"no.* by more than a factor of 3, .* an arm would be played with"):
        de.fcucb_d_fairness_bound(semi(merit=me.power(2.1, 4)), 1000, q=0.5)
    with pytest.raises(ValueError, match=r"no.* by more than a factor of 3"):
        de.fcts_d(me.exponential(2), 7, 3)


def test_reward_regret_is_at_most_half_of_fairness_regret():
    """Equation (99) and erratum E-D22, on every path; the half is sharp."""
    rng = np.random.default_rng(4)
    largest = 0.0
    for _ in range(5000):
        arms = int(rng.integers(2, 8))
        plays = int(rng.integers(1, arms + 1))
        p, best = (np.sort(rng.dirichlet(np.full(arms, 0.3))) for _ in range(2))
        lost, apart = plays * (best - p[rng.permutation(arms)]), 0.0
        apart = np.abs(lost).sum()
        if apart > 0:
            largest = max(largest, lost @ (rng.random(arms) if rng.random() < 0.5 else (lost > 0)) / apart)
    assert 0.499 < largest <= 0.5 + 1e-12
    result = fl.simulate(semi(biased(500)), de.fcucb_d(MERIT, 7, 3), 3000, runs=5)
    assert (result.reward_regret <= result.fairness_regret / 2 + 1e-9).all()
    assert (result.signed_regret <= result.reward_regret + 1e-9).all()


def test_a_round_costs_at_most_twice_the_smaller_of_plays_and_the_rest():
    """Erratum E-D9: in the paper's own experiment an initial round can cost 4.10, more than its L = 3."""
    result = fl.simulate(semi(), de.cucb_d(3), 3, rounds=[1, 2, 3])
    assert np.diff(result.fairness_regret[0], prepend=0) == pytest.approx([3.841, 2.786, 4.097], abs=1e-3)
    optimal = semi().optimal
    sets = [np.isin(np.arange(7), chosen) for chosen in itertools.combinations(range(7), 3)]
    assert max(np.abs(optimal - chosen).sum() for chosen in sets) == pytest.approx(4.097, abs=1e-3)
    assert 2 * min(3, 7 - 3) > 4.097


def test_what_arrives_was_played_and_the_truth_lies_between_the_two_estimates():
    """M is at most N; the mean of all rewards, and that of those seen, lie between pessimistic and optimistic."""

    def forty(reward):
        return 40 if reward > 0.5 else 0

    game = semi(fl.Delay(forty))
    history = [step.seen[1:] for step in fl.trace(game, de.fcts_d(MERIT, 7, 3), 400)]
    steps = []
    for n, m, s in history:
        assert (m <= n).all()
        assert (s <= m).all()
    # The rewards of rounds up to t are what has arrived 40 rounds later.
    for t in range(0, 350, 7):
        n, m, s = history[t]
        everything = history[t + 40][2]
        some = n > 0
        bottom, top = s[some] / n[some], (n - m + s)[some] / n[some]
        assert (bottom <= everything[some] / n[some] + 1e-12).all()
        seen = s[some] / np.maximum(m[some], 1)
        assert (bottom <= seen + 1e-12).all()
        assert ((seen <= top + 1e-12) | (m[some] == 0)).all()
        steps.append(t)
    assert len(steps) == 50


# Rounding


def test_systematic_sampling_has_exact_marginals_and_some_pairs_never_meet():
    p = me.fair_policy(MERIT, MEANS, 3)
    together, chosen = np.zeros((7, 7)), np.zeros(3, np.int64)
    grid = (np.arange(20_000) + 0.5) / 20_000
    for u in grid:
        assert select(p, u, chosen)
        together[np.ix_(chosen, chosen)] += 1 / grid.size
    assert np.diag(together) == pytest.approx(p, abs=1e-3)
    pairs = together[~np.eye(7, dtype=bool)]
    assert (pairs == 0).sum() >= 2  # neighbours on the line of length below 1
    assert (pairs > np.outer(p, p)[~np.eye(7, dtype=bool)] + 0.01).any()  # and others are friends


# The policies, line by line


SELECTED, OBSERVED, TOTAL = [30, 40, 25, 50, 10, 8, 9], [20, 25, 25, 10, 10, 0, 3], [5, 15, 20, 8, 7, 0, 1]


@pytest.mark.parametrize("merit", PAPER, ids=lambda merit: merit.name)
def test_the_upper_ends_are_optimal_for_every_merit_of_the_experiments(merit):
    """Erratum E-D21, against the general solver."""
    rng = np.random.default_rng(7)
    for _ in range(300):
        low = rng.random(7)
        high = low + (1 - low) * rng.random(7) ** rng.integers(1, 4)
        best = np.zeros(7)
        me.dinkelbach(merit.functions, low, high, best)
        assert np.array_equal(me.optimistic_means(merit, low, high), high)
        assert me.fair_policy(merit, high) @ high == pytest.approx(me.fair_policy(merit, best) @ best, abs=1e-12)


@pytest.mark.parametrize("t", [1, 2, 3], ids=itertools.count())
@pytest.mark.parametrize(
    "make", [de.fcucb_d, de.op_fcucb_d, de.recent_half, lambda f, k, n: de.two_box(f, k, n, 9)], ids=itertools.count()
)
def test_initial_rounds_take_turns(make, t):
    p = probabilities(make(MERIT, 7, 3), t, [0] * 7, [0] * 7)
    assert np.flatnonzero(p).tolist() == sorted([[0, 1, 2], [3, 4, 5], [6, 0, 1]][t - 1])


def test_the_thompson_policies_draw_from_the_posteriors_of_their_boxes():
    """Algorithms 2 and 4, against NumPy's own draws from the same stream."""
    n, m, s = map(np.array, (SELECTED, OBSERVED, TOTAL))
    got = probabilities(de.fcts_d(MERIT, 7, 3), 58, m, s, np.random.default_rng(8), selected=n)
    rng = np.random.default_rng(8)
    drawn = np.array([rng.beta(1 + s[a], 1 + m[a] - s[a]) for a in range(7)])
    assert got == pytest.approx(3 * me.fair_policy(MERIT, drawn))
    got = probabilities(de.op_fcts_d(MERIT, 7, 3), 58, m, s, np.random.default_rng(9), selected=n)
    rng = np.random.default_rng(9)
    both = [
        (rng.beta(1 + s[a] + n[a] - m[a], 1 + m[a] - s[a]) + rng.beta(1 + s[a], 1 + m[a] - s[a] + n[a] - m[a])) / 2
        for a in range(7)
    ]
    assert got == pytest.approx(3 * me.fair_policy(MERIT, np.array(both)))


def test_the_rivals():
    t, m = 58, np.maximum(OBSERVED, 1)
    got = probabilities(de.mp_ts_d(3), t, OBSERVED, TOTAL, np.random.default_rng(1), selected=SELECTED)
    assert sorted(got) == [0, 0, 0, 0, 1, 1, 1]
    rng = np.random.default_rng(1)
    drawn = np.array([rng.beta(1 + s, 1 + n - s) for s, n in zip(TOTAL, OBSERVED, strict=True)])
    assert sorted(np.flatnonzero(got)) == sorted(np.argsort(-drawn)[:3])
    rng = np.random.default_rng(2)
    fair = 3 * me.fair_policy(MERIT, np.array(TOTAL) / m)
    greedy = de.fgreedy_d(MERIT, 7, 3, 0.25)
    played = [probabilities(greedy, t, OBSERVED, TOTAL, rng, selected=SELECTED) for _ in range(2000)]
    even = [np.allclose(p, 3 / 7) for p in played]
    assert np.mean(even) == pytest.approx(0.25, abs=0.05)
    assert all(np.allclose(p, fair) for p, coin in zip(played, even, strict=True) if not coin)


def test_two_box_takes_the_upper_end_of_a_safe_interval_that_a_failed_bound_has_emptied():
    policy, played = de.two_box(MERIT, 7, 3, 1000), np.full(7, 3000)
    later = np.array([3000.0] * 4 + [0.0] * 3)  # of four arms all failures have become successes, which can't be
    p, memory = after(policy, 58, played, played, [np.zeros(7), later])
    assert memory["refuted"] == 1
    ends = np.full(7, math.sqrt(math.log(6 * 21 * 1000) / 3000))
    assert memory["box.high"] == pytest.approx(ends)
    assert memory["box.low"] == pytest.approx(np.where(later > 0, ends, 0.0))
    assert p == pytest.approx(3 * me.fair_policy(MERIT, ends))


def after(policy, t, selected, observed, totals):
    """Ask a policy that remembers several times, with other sums; return its last answer and its memory."""
    agent = Agent(policy, policy.bound_rule.interpreted, {"K": selected.size, "T": t})
    agent.selected, agent.observed = selected, observed
    for agent.total in totals:
        agent.ask(t, None)
    return agent.p, agent.memory


def test_recent_half_is_its_box_in_every_round_of_a_game():
    """Counted anew from the record of the game: what arrived from round h on, with h as its box says."""
    known = {}
    for step in fl.trace(semi(biased(300)), de.recent_half(MERIT, 7, 3), 1500, seed=3):
        n, m, s = (np.array(each, float) for each in step.seen[1:])
        known[step.t] = (m, s)
        if step.t <= 3:
            continue
        earlier = [h for h in known if int(8 * math.log2(h)) == int(8 * math.log2(step.t)) - 9 and h > 3]
        h = max(earlier, default=1)
        assert h == 1 or step.t < 100 or 0.45 * step.t < h <= 0.5 * step.t
        arrived, total = (now - then for now, then in zip((m, s), known[h], strict=True))
        low, high = s / n, (n - m + s) / n
        mean = np.where(arrived > 0, total / np.maximum(arrived, 1), (low + high) / 2)
        assert step.p == pytest.approx(3 * me.fair_policy(MERIT, np.clip(mean, low, high)))


def test_a_law_is_named_by_its_number_where_all_arms_have_the_same():
    laws = [de.geometric([0.1, 0.1]), de.fixed([3, 2]), de.pareto([1.5, 1.5]), de.packet_loss([0.5, 0.25])]
    assert [law.name for law in laws] == ["geometric 0.1", "fixed", "Pareto 1.5", "packet loss"]


# Against the authors' public code


def one_round_early(probability, rng):
    return rng.geometric(probability) - 1


def test_a_late_start_takes_turns_and_then_tells_the_learner_that_it_is_round_1():
    def clock(seen):
        return seen.t - 1

    late = de.late_start(fl.Policy("clock", clock), 2)
    assert [int(step.played[0]) for step in fl.trace(fl.Bandit(fl.bernoulli([0.5] * 3)), late, 5)] == [0, 1, 0, 1, 2]
    learner = de.fcts_d(MERIT, 7, 3)
    late = de.late_start(learner, 3)
    assert (late.name, late.plays, late.arms, late.horizon) == ("FCTS-D", 3, 7, None)
    for t, turn in ((1, [0, 1, 2]), (2, [3, 4, 5]), (3, [0, 1, 6])):
        p = probabilities(late, t, OBSERVED, TOTAL, np.random.default_rng(1), selected=SELECTED)
        assert np.flatnonzero(p).tolist() == turn
    got, alone = (
        probabilities(policy, t, OBSERVED, TOTAL, np.random.default_rng(1), selected=SELECTED)
        for policy, t in ((late, 58), (learner, 55))
    )
    assert np.array_equal(got, alone)


# The lemmas


def test_without_a_floor_or_a_slope_somebody_pays_linearly():
    """Theorem 4: the constants of (13) and (18), and a learner that meets them."""
    assert 2 / 21 * math.exp(-math.log(3 / 2)) == pytest.approx(0.0635, abs=1e-4)
    assert 1 / 15 * math.exp(-math.log(2)) == pytest.approx(0.0333, abs=1e-4)
    horizon = 300
    eta = 1 / (2 * horizon)

    def steep(x, slope):
        return min(1.0 + slope * x, 2.0)

    merit = me.Merit("steep", steep, slope=horizon, lipschitz=horizon, log_lipschitz=horizon, **UNIT)
    regrets = []
    for first in (2 * eta, eta):
        game = de.SemiBandit(fl.bernoulli([first, eta, eta]), plays=2, merit=merit)
        result = fl.simulate(game, de.fcts_d(merit, 3, 2), horizon, runs=400, rounds=[horizon])
        regrets.append(result.fairness_regret.mean() / horizon)
    assert sum(regrets) >= 0.0333


def test_late_arrivals_are_few():
    """Lemma 13 from exact binomials, Lemma 12's union of them, and Lemmas 18 and 19 likewise."""
    for q in (0.1, 0.5, 0.9, 1.0):
        for n in (1, 5, 20, 100, 1000):
            assert binom.cdf(math.ceil(q * n / 2) - 1, n, q) <= math.exp(-q * n / 8)
    horizon, arms = 1000, 7
    for q in (0.2, 0.7):
        first = math.ceil(24 * math.log(horizon) / q)
        plays = np.arange(first, max(horizon, first) + 1)
        union = arms * binom.cdf(np.ceil(q * plays / 2) - 1, plays, q).sum()
        assert union <= arms / horizon**2 <= 1 / horizon
        plays = np.arange(1, horizon + 1)
        room = np.sqrt(np.log(6 * 3 * arms * horizon) * plays)
        union = arms * binom.cdf(np.ceil(q * plays - room) - 1, plays, q).sum()
        assert union <= 1 / (36 * 9 * arms * horizon)


def test_probabilities_and_plays_sum_to_the_same_in_expectation():
    """Lemmas 14 and 20 without their square roots (erratum E-D18)."""
    gaps = []
    for seed in range(30):
        sums = np.zeros(2)
        for step in fl.trace(semi(de.geometric([0.05] * 7)), de.fcts_d(MERIT, 7, 3), 399, seed):
            each = 1 / np.sqrt(np.maximum(step.seen.observed, 1))
            sums += step.p @ each, each[step.played].sum()
        gaps.append(sums[0] - sums[1])
    assert abs(np.mean(gaps)) <= 3 * np.std(gaps) / math.sqrt(30)
    assert np.max(np.abs(gaps)) <= 3 * math.sqrt(2 * 400 * math.log(4 * 30))


@pytest.mark.parametrize(
    "law", [None, de.fixed([300] * 7), de.geometric([0.05] * 7), de.packet_loss([0.3] * 7)], ids=itertools.count()
)
@pytest.mark.parametrize("make", [de.fcucb_d, de.fcts_d], ids=itertools.count())
def test_frequent_plays_wait_for_the_delay_only_once_each_round(law, make):
    """Few rounds are blind, L d* instead of K d*, and the others see enough, for policies that never neglect an arm."""
    game, horizon, start = semi(law), 3000, 3 if make is de.fcucb_d else 0
    arrived, chances = [], []
    for step in fl.trace(game, make(MERIT, 7, 3), horizon):
        arrived.append(step.seen.observed.copy())
        chances.append(step.p.copy())
    for q in (0.3, 0.9):
        late = game.quantiles(q).max()
        if late == math.inf:
            continue
        pi, blind, total = 3 * q / (3 * 7), 0, 0.0
        for t in range(start + 1, horizon + 1):
            n = t - 1 - late - start
            if n <= 0 or (arrived[t - 1] < pi * n / 2).any():
                blind += 1
            else:
                total += chances[t - 1] @ (1 / np.sqrt(np.maximum(arrived[t - 1], 1)))
        assert late + 1 <= blind <= late + 1 + 8 * 3 * 7 * (1 + math.log(7)) / (3 * q)
        v = 2 * math.sqrt(2 * 3 * 21 * horizon / q)
        assert 0.15 * v < total <= v


@pytest.mark.parametrize("law", [None, de.fixed([100] * 7), de.geometric([0.05] * 7)], ids=itertools.count())
def test_each_round_of_fcucb_d_costs_no_more_than_its_widths(law):
    """Equation (eq-optimism) and Lemma lem-close on a path, step by step: here the proof bites at any horizon."""
    game, closest = semi(law), np.zeros(2)
    for step in fl.trace(game, de.fcucb_d(MERIT, 7, 3), 4000):
        if step.t <= 3:
            continue
        t, _, m, s = step.seen
        c = np.sqrt(math.log(4 * 21 * t) / np.maximum(m, 1))
        mean = s / np.maximum(m, 1)
        assert (np.abs(mean - MEANS) <= c).all()
        means = np.minimum(mean + c, 1)  # the upper ends
        lost, apart = (game.optimal - step.p) @ MEANS, np.abs(game.optimal - step.p).sum()
        bounds = step.p @ (means - MEANS), 2 * 8 * step.p @ np.abs(means - MEANS)
        assert lost <= bounds[0] + 1e-12
        assert apart <= bounds[1] + 1e-12
        assert bounds[0] <= 2 * step.p @ c + 1e-12
        closest = np.maximum(closest, np.array([lost, apart]) / bounds)
    assert closest[1] > 0.03


@pytest.mark.parametrize("delay", [20, 300], ids=itertools.count())
@pytest.mark.parametrize("rho", [1.2, 3.0], ids=itertools.count())
def test_what_is_under_way_is_as_much_as_the_propositions_say(delay, rho):
    """Propositions prop-waiting and prop-truncated, for fair policies and for the rotation that comes near."""
    merit, horizon, start = me.power(rho - 1, 4), 4000, 3
    often = delay * 7 * 3 * rho / (rho + 6)
    bound = often * (2 + math.log1p(3 * horizon / often))
    means = [min(z, delay) for z in range(start + 1, horizon + start + 1)]
    truncated = 3 * 4 + 8 * rho * 7 * (1 + math.log(7)) + 6 * rho**2 * sum(m / n for n, m in enumerate(means, 1))

    def rotate(high, low, wait, seen, p):
        if seen.t <= 3:
            for j in range(3):
                p[((seen.t - 1) * 3 + j) % 7] = 1.0
            return
        for a in range(7):
            p[a] = high if a == (seen.t // (2 * wait)) % 7 else low

    high, low = 3 * rho / (rho + 6), 3 / (rho + 6)
    rival = fl.Policy("rotate", rotate, plays=3, high=high, low=low, wait=delay)
    for policy in (rival, de.op_fcucb_d(merit, 7, 3), de.op_fcts_d(merit, 7, 3)):
        total, counts = 0.0, []
        for step in fl.trace(semi(de.fixed([delay] * 7), merit), policy, horizon):
            n = step.seen.selected.copy()
            counts.append(n)
            if step.t > start:
                before = counts[step.t - 1 - delay] if step.t > delay else 0 * n
                total += step.p @ ((n - before) / np.maximum(n, 1))
        assert 0.2 * bound < total <= bound
        assert total <= truncated


@pytest.mark.parametrize(("u", "v"), [(1, 1), (2, 2), (2, 20), (3, 50), (40, 7)], ids=itertools.count())
def test_beta_variables_are_subgaussian(u, v):
    """Lemma 15 as an upper bound, by quadrature; it is optimal for u = v only (erratum E-D14)."""
    x, w = np.polynomial.legendre.leggauss(400)
    x = (x + 1) / 2
    density = beta.pdf(x, u, v) * w
    density /= density.sum()
    speeds = np.concatenate([-np.geomspace(0.1, 200, 200), np.geomspace(0.1, 200, 200)])
    proxy = max(2 * math.log(density @ np.exp(lam * (x - u / (u + v)))) / lam**2 for lam in speeds)
    assert proxy <= 1 / (4 * (u + v + 1)) * (1 + 1e-6)
    assert (proxy > 0.995 / (4 * (u + v + 1))) == (u == v)
    assert beta.var(u, v) <= 1 / (4 * (u + v + 1))


# The bounds


@pytest.mark.parametrize(("arms", "plays", "rho"), [(7, 3, 3.0), (4, 2, 3.0), (6, 1, 9.0)], ids=itertools.count())
def test_every_vector_is_wrong_about_some_set_of_good_arms(arms, plays, rho):
    """Theorem thm-wait-lower, over all sets: 2h on average at least, with equality for the uniform vector."""
    rng = np.random.default_rng(14)
    for good in range(1, arms):
        h = plays * good * (rho / (good * rho + arms - good) - 1 / arms)
        sets = [np.isin(np.arange(arms), chosen) for chosen in itertools.combinations(range(arms), good)]
        fair = [plays * np.where(chosen, rho, 1) / (good * rho + arms - good) for chosen in sets]
        for p in (np.full(arms, plays / arms), *plays * rng.dirichlet(np.full(arms, 0.5), 200)):
            apart = np.mean([np.abs(best - p).sum() for best in fair])
            signed = np.mean([(best - p)[chosen].sum() for best, chosen in zip(fair, sets, strict=True)])
            assert apart >= 2 * h - 1e-12
            assert signed == pytest.approx(h)
        assert np.mean([np.abs(best - plays / arms).sum() for best in fair]) == pytest.approx(2 * h)
        assert h <= plays * (math.sqrt(rho) - 1) / (math.sqrt(rho) + 1) + 1e-12


def test_the_bounds_are_the_formulas():
    game, t = semi(de.geometric([0.05] * 7)), 40_000
    q = 0.9
    late = math.ceil(math.log(0.1) / math.log(0.95))
    b = 21 / t + 7 * (math.ceil(24 * math.log(t) / q) + late) + 2 * math.sqrt(2 * 21 * t / q)
    w, v = 3 * (late + 1) + 24 * 7 * (1 + math.log(7)) / q, 2 * math.sqrt(6 * 21 * t / q)
    width, drawn = math.sqrt(math.log(4 * 21 * t)), 0.5 + math.sqrt(math.log(14 * t))
    got = de.fcucb_d_reward_bound(game, t, q=q), de.fcucb_d_fairness_bound(game, t, q=q)
    assert got[0] == pytest.approx(10 + (1 + math.log(t)) / 168 + min(2 * width * b, w + 2 * width * v))
    steep, few, all_plays = game.merit.log_lipschitz, b - 2 * math.sqrt(2 * 21 * t / q), 2 * math.sqrt(2 * 21 * t / q)
    assert few > 0
    learnt = min(2 * w + 4 * steep * width * v, 2 * few + 4 * steep * width * all_plays)
    assert got[1] == pytest.approx(20 + (1 + math.log(t)) / 84 + learnt)
    assert got[1] < 20 + 32 * width * min(b, v)  # what L / gamma instead of the slope of the logarithm would give
    assert got[1] == de.upper_merit_delayed_fairness_bound(game, t, q=q)
    got = de.fcts_d_reward_bound(game, t, q=q), de.fcts_d_fairness_bound(game, t, q=q)
    two = 2 * steep  # less than L / gamma = 8
    branches = 2 * two * drawn * b, 2 * w + 2 * two * drawn * v, 4 * few + 4 * steep * drawn * all_plays
    assert got[1] == pytest.approx(2 * two / t + min(branches))
    assert got[0] == pytest.approx(got[1] / 2)
    slow = de.fcucb_d_fairness_bound(semi(de.fixed([10**6] * 7)), [10**10, 10**11], q=1.0)
    assert np.diff(slow - de.fcucb_d_fairness_bound(semi(de.fixed([10**6 - 1] * 7)), [10**10, 10**11], q=1.0)) == (
        pytest.approx(0, abs=1e-4)
    )  # a round more to wait adds the same, however long the game
    wait = 7 * late * (1 + math.log(1 + 3 * t / (7 * late)))
    spread = math.sqrt(math.log(6 * 21 * t)) * math.sqrt(21 * t)
    c = 3 * 0.1 * t + wait + 6 * spread
    got = de.op_fcucb_d_reward_bound(game, t, q=q), de.op_fcucb_d_fairness_bound(game, t, q=q)
    assert got[0] == pytest.approx(10 + (2 + math.log(t)) / 378 + c)
    assert got[1] == pytest.approx(20 + (2 + math.log(t)) / 189 + 2 * steep * c)
    got = de.op_fcts_d_reward_bound(game, t, q=q), de.op_fcts_d_fairness_bound(game, t, q=q)
    d = 7 + 7 * math.log(1 + 3 * t / 14) + 3 * 0.05 * t + wait / 2 + 5 * spread
    assert got[1] == pytest.approx(1 / 42 + 16 * d)
    assert got[0] == pytest.approx(got[1] / 2)
    assert de.fcucb_d_reward_bound(semi(de.packet_loss([0.5] * 7)), t, q=0.6) == math.inf


def test_the_best_quantile_trades_patience_for_news():
    loss = semi(de.packet_loss([0.9, 0.8, 0.7, 0.6, 0.9, 0.9, 0.9]))
    assert de.best_quantile(de.fcucb_d_fairness_bound, loss, 10**5) == 0.6
    slow = semi(de.pareto([0.5] * 7))
    bound = de.op_fcucb_d_fairness_bound
    chosen = de.best_quantile(bound, slow, [10**4, 10**6])
    assert chosen[1] == de.best_quantile(bound, slow, 10**6)
    assert chosen[0] < chosen[1] < 1  # more rounds are worth more patience
    exact = [bound(slow, 10**6, q=q) for q in (chosen[1] - 0.02, chosen[1], chosen[1] + 0.005)]
    assert exact[1] == min(exact)


def test_two_worlds_that_no_learner_can_tell_apart():
    """Reward-dependent loss: 0, 1 or nothing with probabilities 1/4, 1/4, 1/2, from a mean of 1/4 or of 3/4."""
    worlds = [(0.25, de.packet_loss([1.0], [1 / 3])), (0.75, de.packet_loss([1 / 3], [1.0]))]
    for mean, law in worlds:
        one, zero = law.settings["arrives"][0], law.settings["when_zero"][0]
        assert [mean * one, (1 - mean) * zero] == pytest.approx([0.25, 0.25])
        game = fl.Bandit(fl.bernoulli([mean]), delay=law)
        *_, last = fl.trace(game, fl.uniform(), 4000, seed=1)
        assert last.seen.observed[0] / 4000 == pytest.approx(0.5, abs=0.03)
        assert last.seen.total[0] / last.seen.observed[0] == pytest.approx(0.5, abs=0.04)


def test_a_delay_that_knows_no_arms_is_tried_on_the_first():
    assert fl.Delay(lambda arm: -float(arm)).arms is None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: de.fcucb_d(MERIT, 3, 4), "plays must be a whole number from 1 to 3"),
        (lambda: de.op_fcucb_d(me.exponential(0.1, 0.5, 1), 7, 3), "merit must be for means in"),
        (lambda: de.packet_loss([0.5, 0.5], [0.5]), "when_zero must have 2 numbers"),
        (lambda: de.log_normal([1, 2], [1]), "spread must have 2 numbers"),
        (lambda: de.empirical([[1], []]), r"delays\[1\] must be a list of at least one delay"),
        (lambda: de.empirical([[1], [-2]]), r"delays\[1\] must be whole numbers"),
        (lambda: semi(fl.Delay(one_round_early, probability=[1] * 7)).quantiles(0.5), "delay must be a law"),
        (lambda: de.dependent_rounding(np.array([0.5, 0.6]), np.random.default_rng(0)), "sum to a whole number"),
        (lambda: fl.Delay(lambda arm, late: late - 2.0 * arm, late=[1.0, 1.0]), "arm 1, reward 0"),
    ],
    ids=itertools.count(),
)
def test_refused(call, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        call()


def same_for_all(x):
    return 1.0


@pytest.mark.parametrize("bound", [de.fcucb_d_fairness_bound, de.fcts_d_fairness_bound, de.op_fcucb_d_fairness_bound])
def test_a_bound_is_infinite_and_no_nan_where_merit_is_constant_and_too_little_arrives(bound):
    same = me.Merit("same", same_for_all, low=0.0, high=1.0, minimum=1.0, lipschitz=0.0, log_lipschitz=0.0)
    game = de.SemiBandit(fl.bernoulli([0.5, 0.4]), plays=1, delay=de.packet_loss([0.8, 0.5], [1, 1]), merit=same)
    assert bound(game, 1000, q=0.9) == math.inf
    assert bound(game, 1000, q=0.5) < 10
    assert bound(game, 1000, q=float(de.best_quantile(bound, game, 1000))) < 10
