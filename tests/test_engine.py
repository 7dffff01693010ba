"""The engine: what it plays, that it plays the same however it is asked, and what it refuses."""

import contextlib
import resource

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fairlib as fl
from fairlib import engine
from fairlib.policy import select

SELLERS = fl.bernoulli([0.9, 0.8, 0.5, 0.2])
POLICIES = [fl.ucb1(), fl.uniform(), fl.epsilon_greedy(0.1), fl.thompson_beta(), fl.thompson_gaussian()]


def geometric(params, arm, reward, rng):
    return rng.geometric(params[arm, 0]) - 1


def reward_dependent(params, arm, reward, rng):
    if reward > 0.5:
        return -1 if rng.random() < params[arm, 0] else 3
    return 0


def fixed_probabilities(params, state, t, selected, observed, total, rng, p):
    for a in range(p.size):
        p[a] = params[a]


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("rounds", "selected", "reward", "regret")
    )


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
@pytest.mark.parametrize(
    "arms",
    [SELLERS, fl.gaussian([1.0, 0.5, 0.0], sd=0.7), fl.beta([3, 1], [1, 2])],
    ids=["bernoulli", "normal", "beta"],
)
def test_interpreted_and_compiled_play_the_same_to_the_last_bit(policy, arms):
    if policy.name == "Thompson sampling" and arms.draw.__name__ == "gaussian_draw":
        pytest.skip("a Beta posterior needs rewards in [0, 1]")
    plain = fl.Policy(policy.name, policy.rule, policy.params, interpret=True)
    for delay in (None, fl.Delay(geometric, np.full((arms.means.size, 1), 0.1))):
        game = fl.Bandit(arms, delay=delay)
        assert same(fl.simulate(game, policy, 250, runs=2, seed=5), fl.simulate(game, plain, 250, runs=2, seed=5))


def test_a_run_does_not_depend_on_how_many_are_asked_for_nor_on_the_processors(monkeypatch):
    game = fl.Bandit(SELLERS)
    many = fl.simulate(game, fl.thompson_beta(), 500, runs=16, seed=3)
    few = fl.simulate(game, fl.thompson_beta(), 500, runs=5, seed=3)
    assert np.array_equal(many.selected[:5], few.selected)
    for processors in (1, 7):
        monkeypatch.setattr(engine.os, "cpu_count", lambda n=processors: n)
        assert same(many, fl.simulate(game, fl.thompson_beta(), 500, runs=16, seed=3))


def test_runs_differ_and_so_do_seeds():
    game = fl.Bandit(SELLERS)
    first, second = fl.simulate(game, fl.ucb1(), 300, runs=2, seed=0).reward
    assert not np.array_equal(first, second)
    assert not same(fl.simulate(game, fl.ucb1(), 300, seed=0), fl.simulate(game, fl.ucb1(), 300, seed=1))


def test_a_seed_sequence_gives_the_same_when_it_is_used_twice():
    game, root = fl.Bandit(SELLERS), np.random.SeedSequence(11)
    first = fl.simulate(game, fl.ucb1(), 200, seed=root)
    assert same(first, fl.simulate(game, fl.ucb1(), 200, seed=root))
    assert same(first, fl.simulate(game, fl.ucb1(), 200, seed=11))
    other = fl.simulate(game, fl.ucb1(), 200, seed=np.random.SeedSequence(11).spawn(1)[0])
    assert not same(first, other)


def test_the_policy_s_own_draws_leave_the_world_alone():
    def wasteful(params, state, t, selected, observed, total, rng, p):
        rng.random()
        p[t % p.size] = 1.0

    def thrifty(params, state, t, selected, observed, total, rng, p):
        p[t % p.size] = 1.0

    game = fl.Bandit(SELLERS)
    results = [fl.simulate(game, fl.Policy("turns", rule), 400, seed=2) for rule in (wasteful, thrifty)]
    assert same(*results)


@pytest.mark.parametrize("horizon", [1, 2, 10, 1000, 10**6])
def test_recorded_rounds(horizon):
    rounds = fl.simulate(fl.Bandit(fl.bernoulli([0.5])), fl.uniform(), horizon).rounds
    assert rounds[0] == 1
    assert rounds[-1] == horizon
    assert (np.diff(rounds) > 0).all()
    assert rounds.size <= 240
    assert rounds.size >= min(horizon, 150)


@pytest.mark.parametrize("plays", [1, 2, 4])
def test_counts_reward_and_regret_add_up(plays):
    result = fl.simulate(fl.Bandit(SELLERS, plays=plays), fl.uniform(plays), 60, runs=3, rounds=range(1, 61))
    assert np.array_equal(result.selected.sum(axis=2), np.broadcast_to(plays * result.rounds, (3, 60)))
    steps = np.diff(result.selected, axis=1, prepend=0)
    assert set(np.unique(steps)) <= {0, 1}
    best = np.sort(SELLERS.means)[-plays:].sum()
    by_hand = np.cumsum(best - (steps * SELLERS.means).sum(axis=2), axis=1)
    assert np.allclose(result.regret, by_hand, atol=1e-12)
    assert (np.diff(result.reward, axis=1, prepend=0) <= plays).all()
    assert np.allclose(result.share.sum(axis=2), plays)


def test_rewards_have_the_means_that_they_should():
    for arms in (SELLERS, fl.gaussian([2.0, -1.0], sd=0.5), fl.beta([2, 1], [1, 4])):
        game = fl.Bandit(arms, plays=arms.means.size)
        result = fl.simulate(game, fl.uniform(arms.means.size), 20_000, runs=4, seed=9, rounds=[20_000])
        assert result.reward.mean() / 20_000 == pytest.approx(arms.means.sum(), abs=0.02)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_select_hits_each_arm_as_often_as_its_probability(data):
    arms = data.draw(st.integers(1, 7))
    plays = data.draw(st.integers(1, arms))
    raw = np.array(data.draw(st.lists(st.floats(0.01, 1), min_size=arms, max_size=arms)))
    p = raw / raw.sum() * plays
    for _ in range(arms):  # cap at 1 and share the rest out again
        over = p >= 1
        p[over] = 1
        if (~over).any():
            p[~over] *= (plays - over.sum()) / p[~over].sum()
    chosen = np.zeros(plays, np.int64)
    grid = (np.arange(1000) + 0.5) / 1000
    hits = np.zeros(arms)
    for u in grid:
        assert select(p, u, chosen)
        assert len(set(chosen)) == plays
        hits[chosen] += 1
    # Each arm owns at most two intervals of the circle, so the grid can be off by a point at each of four ends.
    assert np.abs(hits / grid.size - p).max() <= 4 / grid.size


@pytest.mark.parametrize("u", [0.0, 0.3, 1 - 2**-53])
def test_select_survives_rounding(u):
    chosen = np.zeros(3, np.int64)
    p = np.array([0.1] * 10 + [1.0, 1.0, 0.0])
    assert select(p, u, chosen)
    assert len(set(chosen)) == 3
    assert 12 not in chosen
    short = np.array([1 / 3, 1 / 3, 1 / 3 - 1e-12, 0.0])
    assert select(short, 1 - 2**-53, chosen[:1])
    assert chosen[0] == 2


@pytest.mark.parametrize("p", [[0.5, 0.6], [0.5, 0.4], [-0.1, 1.1], [np.nan, 1], [np.inf, 0], [1.5, -0.5], [2.0, 0.0]])
def test_select_refuses_what_are_no_probabilities(p):
    assert not select(np.array(p), 0.5, np.zeros(1, np.int64))


def test_feedback_arrives_when_it_should():
    seen = []

    def watch(params, state, t, selected, observed, total, rng, p):
        seen.append((selected.copy(), observed.copy(), total.copy()))
        p[0] = 1.0

    def two_late(params, arm, reward, rng):
        return 2

    game = fl.Bandit(fl.bernoulli([1.0, 0.0]), delay=fl.Delay(two_late, np.zeros((2, 1))))
    fl.simulate(game, fl.Policy("watch", watch, interpret=True), 6)
    assert [counts[0][0] for counts in seen] == [0, 1, 2, 3, 4, 5]
    assert [counts[1][0] for counts in seen] == [0, 0, 0, 1, 2, 3]
    assert [counts[2][0] for counts in seen] == [0, 0, 0, 1, 2, 3]


def test_late_rewards_are_those_that_were_drawn():
    seen = []

    def watch(params, state, t, selected, observed, total, rng, p):
        seen.append(total.copy())
        p[t % 2] = 1.0

    def by_arm(params, arm, reward, rng):
        return int(params[arm, 0])

    arms = fl.gaussian([5.0, -5.0])
    game = fl.Bandit(arms, delay=fl.Delay(by_arm, [[3.0], [1.0]]))
    result = fl.simulate(game, fl.Policy("watch", watch, interpret=True), 40, rounds=range(1, 41))
    gained = np.diff(result.reward[0], prepend=0)
    for t in range(1, 41):  # arm 0 is played in even rounds, arm 1 in odd ones
        late = sum(gained[s - 1] for s in range(2, t, 2) if s + 3 < t)
        soon = sum(gained[s - 1] for s in range(1, t, 2) if s + 1 < t)
        assert seen[t - 1] == pytest.approx([late, soon])


def test_a_negative_delay_is_never_and_may_depend_on_the_reward():
    last = {}

    def watch(params, state, t, selected, observed, total, rng, p):
        last.update(selected=selected.copy(), observed=observed.copy(), total=total.copy())
        p[0] = 1.0

    game = fl.Bandit(fl.bernoulli([0.5]), delay=fl.Delay(reward_dependent, [[1.0]]))
    fl.simulate(game, fl.Policy("watch", watch, interpret=True), 2000)
    assert last["total"][0] == 0  # the successes never arrive
    assert 900 < last["observed"][0] < 1100


def test_memory_belongs_to_one_run_and_starts_at_zero():
    def count(params, state, t, selected, observed, total, rng, p):
        state[1] += 1
        p[0 if state[1] == t else 1] = 1.0

    game = fl.Bandit(fl.bernoulli([0.5, 0.5]))
    result = fl.simulate(game, fl.Policy("count", count, memory=2), 50, runs=3)
    assert (result.selected[:, -1, 0] == 50).all()


def test_a_game_may_sum_what_it_likes():
    class Watched(fl.Bandit):
        sums = 2

        @property
        def truth(self):
            return self.arms.means

        @staticmethod
        def tally(truth, t, p, selected, sums):
            for a in range(p.size):
                sums[0] += p[a] * truth[a]
            sums[1] = max(sums[1], 0.25 * t - selected[0])

        def result(self, rounds, selected, reward, sums):
            return sums

    p = [0.1, 0.2, 0.3, 0.4]
    policy = fl.Policy("fixed", fixed_probabilities, p)
    rounds = np.arange(1, 101)
    sums = fl.simulate(Watched(SELLERS), policy, 100, runs=2, rounds=rounds)
    assert np.allclose(sums[:, :, 0], rounds * (np.array(p) @ SELLERS.means))
    counts = fl.simulate(fl.Bandit(SELLERS), policy, 100, runs=2, rounds=rounds).selected[:, :, 0]
    assert np.allclose(sums[:, :, 1], np.maximum.accumulate(np.maximum(0.25 * rounds - counts, 0), axis=1))


def test_memory_does_not_grow_with_the_horizon():
    game = fl.Bandit(fl.bernoulli([0.6, 0.4]))
    fl.simulate(game, fl.ucb1(), 10_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    fl.simulate(game, fl.ucb1(), 4_000_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4_000  # in kB; a history would be 32,000


def test_a_changed_parameter_compiles_nothing():
    game = fl.Bandit(SELLERS)
    fl.simulate(game, fl.epsilon_greedy(0.1), 10)
    before = engine.compiled.cache_info().misses
    for epsilon in (0.2, 0.3, 0.4):
        fl.simulate(fl.Bandit(fl.bernoulli([epsilon, 0.5])), fl.epsilon_greedy(epsilon), 10 + int(10 * epsilon))
    assert engine.compiled.cache_info().misses == before


def test_a_rule_that_numba_cannot_compile_is_interpreted_and_says_so():
    def odd(params, state, t, selected, observed, total, rng, p):
        with contextlib.nullcontext():
            p[t % 2] = 1.0

    with pytest.warns(UserWarning, match="the rule of 'odd' is interpreted"):
        result = fl.simulate(fl.Bandit(fl.bernoulli([0.5, 0.5])), fl.Policy("odd", odd), 10)
    assert result.selected[0, -1].tolist() == [5, 5]


def test_an_index_past_the_arms_is_an_error_and_no_crash():
    def far(params, state, t, selected, observed, total, rng, p):
        p[p.size + 1000] = 1.0

    for interpret in (False, True):
        with pytest.raises(IndexError):
            fl.simulate(fl.Bandit(SELLERS), fl.Policy("far", far, interpret=interpret), 10)


def test_an_exception_in_a_rule_reaches_the_caller():
    def strict(params, state, t, selected, observed, total, rng, p):
        if t == 7:
            raise ArithmeticError("seven")
        p[0] = 1.0

    for interpret in (False, True):
        with pytest.raises(ArithmeticError, match="seven"):
            fl.simulate(fl.Bandit(SELLERS), fl.Policy("strict", strict, interpret=interpret), 10)


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize(
    "wrong", [[0.5, 0.6, 0, 0], [np.nan, 1, 0, 0], [-0.5, 1.5, 0, 0], [0, 0, 0, 0], [1.2, 0, 0, 0]]
)
def test_wrong_probabilities_are_named_with_their_round(wrong, interpret):
    def late(params, state, t, selected, observed, total, rng, p):
        for a in range(p.size):
            p[a] = params[a] if t >= 8 else 1 / p.size

    def nan_late(params, state, t, selected, observed, total, rng, p):
        for a in range(p.size):
            p[a] = 1 / p.size
        if t >= 8:
            p[0] = params[0] / params[1]

    policy = (
        fl.Policy("late", nan_late, [0.0, 0.0], interpret=interpret)
        if np.isnan(wrong).any()
        else fl.Policy("late", late, wrong, interpret=interpret)
    )
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(
            ValueError, match=r"'late' must return probabilities in \[0, 1\] that sum to 1; in round 8 of run"
        ),
    ):
        fl.simulate(fl.Bandit(SELLERS), policy, 20, runs=2)
