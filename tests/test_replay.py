"""Replay on logs whose truth is known: it is unbiased, and statistics follow the articles."""

# Arguments of the wrong type are among what it is about.
# mypy: disable-error-code="arg-type, return-value"

import itertools
from typing import Annotated

import numpy as np
import pandas as pd
import pytest

import fairlib as fl
from fairlib.baselines.linear import linucb
from fairlib.core import Array, ContextPolicy, Number, PerArm
from fairlib.data import Event, Log, Pool
from fairlib.exposure import fairx_ts
from fairlib.merit import exponential
from fairlib.shares import fair_ucb
from fairlib.study.replay import article_contexts, replay

MEANS = {7: 0.8, 8: 0.6, 9: 0.3}


def pool_of(*articles: int) -> Pool:
    return Pool(articles, np.array([np.random.default_rng(article).random(6) for article in articles]))


def log(visits: int, seed: int, pools: tuple[Pool, ...] = (pool_of(7, 8, 9),), means=MEANS) -> list[Event]:
    """Log visits with articles drawn evenly, and clicks that depend on the article alone."""
    rng = np.random.default_rng(seed)
    events = []
    for t, (drawn, luck, user) in enumerate(zip(*rng.random((2, visits)), rng.random((visits, 6)), strict=True)):
        pool = pools[t % len(pools)]
        displayed = pool.articles[int(drawn * len(pool.articles))]
        events.append(Event(t, displayed, int(luck < means[displayed]), user, pool))
    return events


def always(article):
    """Make a policy that plays the arm at one place."""
    return fl.Policy("always", lambda article, p: int(article), article=article)


def test_a_fixed_choice_keeps_exactly_the_visits_that_displayed_it():
    events = log(3000, 1)
    for place, article in enumerate((7, 8, 9)):
        result = replay(events, always(place))
        assert result.seen == 3000
        assert result.events == [event for event in events if event.displayed == article]
        assert result.rewards.mean() == pytest.approx(MEANS[article], abs=0.06)


def test_chance_keeps_one_visit_in_k():
    result = replay(log(9000, 2), fl.uniform())
    assert len(result.events) == pytest.approx(3000, abs=4 * np.sqrt(9000 * 2 / 9))
    assert all(np.array_equal(p, np.full(3, 1 / 3)) for p in result.probabilities)


@pytest.mark.parametrize(
    "policy",
    [fl.ucb1(), fairx_ts(exponential(4)), lambda k: fl.epsilon_greedy(0.3 / k)],
    ids=["UCB1", "FairX-TS", "epsilon-greedy"],
)
def test_replay_earns_what_the_policy_earns_at_play(policy):
    """200 replays of 100 rounds against 4,000 games, in rewards and in plays of each arm, within four errors."""
    horizon, arms = 100, list(MEANS.values())
    replays = [replay(log(500, seed), policy, horizon=horizon, seed=seed) for seed in range(200)]
    assert all(len(result.events) == horizon for result in replays)
    played = np.array([[sum(e.displayed == a for e in result.events) for a in MEANS] for result in replays])
    rewards = np.array([result.rewards.sum() for result in replays])
    game = fl.simulate(
        fl.Bandit(fl.bernoulli(arms)),
        policy if isinstance(policy, fl.Policy) else policy(3),
        horizon,
        runs=4000,
        seed=1,
        rounds=[horizon],
    )
    for ours, truth in [(rewards, game.reward[:, 0]), *zip(played.T, game.selected[:, 0].T, strict=True)]:
        error = np.sqrt(ours.var(ddof=1) / len(ours) + truth.var(ddof=1) / len(truth))
        assert abs(ours.mean() - truth.mean()) < 4 * error
    assert game.reward.mean() > horizon * np.mean(arms) + 3  # it is no mean feat: there is something to learn


def test_statistics_belong_to_articles_wherever_they_stand():
    pools = (pool_of(7, 8, 9), pool_of(9, 7), pool_of(8, 10))
    notes = []

    def rule(seen, p):
        notes.append((seen.t, seen.selected.tolist(), seen.total.tolist()))
        assert seen.observed.tolist() == seen.selected.tolist()
        p[:] = 1 / p.size

    events = log(900, 4, pools, MEANS | {10: 0.1})
    result = replay(events, fl.Policy("noting", rule, interpret=True), seed=5)
    kept = iter(result.events)
    upcoming = next(kept, None)
    played, clicks, rounds = dict.fromkeys((7, 8, 9, 10), 0), dict.fromkeys((7, 8, 9, 10), 0), 0
    for event, (t, selected, total) in zip(events, notes, strict=True):
        assert t == rounds + 1
        assert selected == [played[article] for article in event.pool.articles]
        assert total == [clicks[article] for article in event.pool.articles]
        if event is upcoming:
            rounds += 1
            played[event.displayed] += 1
            clicks[event.displayed] += event.click
            upcoming = next(kept, None)
    assert rounds == len(result.events) > 300


@pytest.mark.parametrize("interpret", [False, True])
def test_memory_is_that_of_the_visits_kept(interpret):
    """A rule that counts rounds and reads the feedback of a pool that stays, asked again where the log disagrees."""

    def rule(seen, feedback, calls: Number, heard: Annotated[Array, "T", 3], wrong: Number, p):
        calls[0] += 1.0
        if calls[0] != seen.t or feedback.size != min(seen.t - 1, 1):
            wrong[0] = 1.0
        for i in range(feedback.size):
            heard[feedback.round[i] - 1, 0], heard[feedback.round[i] - 1, 1] = feedback.arm[i], feedback.reward[i]
            heard[feedback.round[i] - 1, 2] = feedback.chance[i]
        total = 0.0
        for t in range(seen.t - 1):
            total += heard[t, 1]
            wrong[0] = wrong[0] if heard[t, 2] == (1.0 if t % 2 == 1 else 0.5) else 1.0
        if wrong[0] > 0.0 or total != seen.total.sum():
            return 99
        if seen.t % 2 == 0:
            return seen.t % 3
        p[0], p[1] = 0.5, 0.5

    result = replay(log(900, 3), fl.Policy("minutes", rule, interpret=interpret), horizon=150)
    assert len(result.events) == 150
    assert [p.tolist() for p in result.probabilities[:4]] == [[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0], [0, 1, 0]]


def test_a_memory_of_one_number_is_that_of_the_visits_kept():
    def rule(seen, calls: Number, p):
        calls[0] += 1.0
        return 0 if calls[0] == seen.t else 99

    assert len(replay(log(300, 3), fl.Policy("counts", rule), horizon=50).events) == 50


def test_memory_of_each_arm_starts_again_with_another_pool_and_other_memory_stays():
    notes = []

    def rule(now, calls: Number, arms: PerArm, sums: Annotated[Array, 36], p):
        notes.append((now.t, p.size, calls[0], arms.copy(), sums[35]))
        calls[0] += 1.0
        arms[:] += 1.0
        sums[35] += 2.0
        p[:] = 1 / p.size

    events = log(60, 4, (pool_of(7, 8, 9),)) + log(60, 5, (pool_of(9, 7),)) + log(60, 6, (pool_of(7, 9),))
    replay(events, ContextPolicy("noting", rule, interpret=True))
    began: dict[int, int] = {}
    for i, (t, size, calls, arms, sums) in enumerate(notes):
        began.setdefault(i // 60, t)
        assert calls == t - 1
        assert sums == 2 * (t - 1)
        assert arms.tolist() == [t - began[i // 60]] * size
    assert [len(arms) for _, _, _, arms, _ in notes[::60]] == [3, 2, 2]


def test_contexts_are_outer_products():
    event = log(1, 6)[0]
    contexts = article_contexts(event)
    assert contexts.shape == (3, 36)
    for context, article in zip(contexts, event.pool.features, strict=True):
        assert np.array_equal(context, np.outer(article, event.user).ravel())


def test_the_ridge_regression_is_that_of_the_visits_kept():
    estimates = []

    def rule(now, ridge, p):
        assert now.groups.tolist() == [0] * len(now.contexts)
        estimates.append((ridge.mean.copy(), ridge.root @ ridge.root.T))
        p[:] = 1 / p.size

    events = log(400, 7, (pool_of(7, 8, 9), pool_of(9, 8)))
    result = replay(events, ContextPolicy("noting", rule, ridge=0.5, interpret=True))
    x = np.array([article_contexts(e)[e.pool.articles.index(e.displayed)] for e in result.events])
    for rounds in (1, 10, 100):
        inverse = np.linalg.inv(0.5 * np.eye(36) + x[:rounds].T @ x[:rounds])
        mean, found = estimates[result.events[rounds - 1].time + 1]  # in the visit after it; times count visits
        assert found == pytest.approx(inverse, abs=1e-8)
        assert mean == pytest.approx(inverse @ x[:rounds].T @ result.rewards[:rounds], abs=1e-8)


def own_log(rounds: int, seed: int, most: float = 0.7) -> Log:
    """Log rounds of a policy that learns: the arm that has paid best so far is drawn with the largest probability."""
    rng = np.random.default_rng(seed)
    paid, played = np.zeros(3), np.ones(3)
    rows = []
    for _ in range(rounds):
        p = np.full(3, (1 - most) / 2)
        p[np.argmax(paid / played)] = most
        arm = int(rng.choice(3, p=p))
        reward = float(rng.random() < MEANS[7 + arm])
        paid[arm], played[arm] = paid[arm] + reward, played[arm] + 1
        rows.append({"arm": arm, "reward": reward, "propensity": float(p[arm])})
    return Log(rows, arms=3)


@pytest.mark.parametrize("policy", [fl.ucb1(), fl.epsilon_greedy(0.3)], ids=["UCB1", "epsilon-greedy"])
def test_replay_of_an_uneven_log_earns_what_the_policy_earns_at_play(policy):
    """200 replays of 30 rounds of a log that learned, against 4,000 games, within four errors."""
    horizon, logs = 30, [own_log(400, seed) for seed in range(200)]
    replays = [replay(log, policy, least=0.15, horizon=horizon, seed=i) for i, log in enumerate(logs)]
    assert all(len(result.events) == horizon for result in replays)
    played = np.array([[sum(row.arm == a for row in result.events) for a in range(3)] for result in replays])
    rewards = np.array([result.rewards.sum() for result in replays])
    arms = fl.bernoulli(list(MEANS.values()))
    game = fl.simulate(fl.Bandit(arms), policy, horizon, runs=4000, seed=1, rounds=[horizon])
    for ours, truth in [(rewards, game.reward[:, 0]), *zip(played.T, game.selected[:, 0].T, strict=True)]:
        error = np.sqrt(ours.var(ddof=1) / len(ours) + truth.var(ddof=1) / len(truth))
        assert abs(ours.mean() - truth.mean()) < 4 * error


def test_one_round_in_so_many_is_kept_whatever_the_propensities():
    own = own_log(9000, 1)
    for policy in (fl.ucb1(), fl.uniform()):
        kept = len(replay(own, policy, least=0.15).events)
        assert kept == pytest.approx(0.15 * 9000, abs=4 * np.sqrt(9000 * 0.15 * 0.85))
    kept = len(replay(log(9000, 6), fl.uniform(), least=0.1).events)  # drawn evenly among three articles
    assert kept == pytest.approx(900, abs=4 * np.sqrt(9000 * 0.1 * 0.9))


def test_a_replay_that_waits_for_an_arm_that_is_not_there_says_so():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"arm": rng.integers(2, size=2000), "reward": 0.0, "propensity": 0.5})
    with pytest.warns(UserWarning, match=r"replay kept \d of 2,000 visits, and a log .* would give about 400"):
        replay(Log(frame, arms=3), fl.ucb1(), least=0.2)


def test_the_same_log_as_events_and_as_rows():
    events = log(600, 5)
    names = ("arm", "reward", "propensity", "features")
    rows = [(event.displayed - 7, event.click, 1 / 3, article_contexts(event)) for event in events]
    frame = pd.DataFrame(rows, columns=names).assign(note="what else there is")
    for policy in (fl.ucb1(), linucb(0.1, 1.0)):
        one, two = replay(events, policy), replay(frame, policy)
        assert [(event.displayed - 7, event.click) for event in one.events] == [row[:2] for row in two.events]
        assert np.array_equal(one.probabilities, two.probabilities)


def one(arm=0, propensity=0.5, **features) -> pd.DataFrame:
    return pd.DataFrame({"arm": [arm], "reward": [1.0], "propensity": [propensity], **features})


TWO = {"features": [[[0.1], [0.2]]]}
LONGER = pd.DataFrame([*one(**TWO).to_dict("records"), *one(features=[np.ones((2, 3))]).to_dict("records")])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: replay(one(), fl.ucb1()), r"log must say how many arms there are, as Log\(..., arms=4\)"),
        (lambda: replay(one(2, **TWO), fl.ucb1()), "arm of log must be one of 2, .*, not 2"),
        (lambda: replay(one(2), fair_ucb([0.1, 0.1])), "arm of log must be one of 2, .*, not 2"),
        (lambda: replay(Log(one(), arms=3), fair_ucb([0.1, 0.1])), "made for 2 arms, not 3"),
        (lambda: replay(one(0, 0.4, **TWO), fl.ucb1()), "there could be, one in 2, .*, not 0.4"),
        (lambda: replay(one(**TWO), fl.ucb1(), least=0.6), "there could be, 0.6, not 0.5"),
        (lambda: replay(Log(one(**TWO), arms=3), linucb(1.0)), "features of log must have 3 rows"),
        (lambda: replay(Log(one(), arms=2), linucb(1.0)), "log must have features"),
        (lambda: replay(one(**TWO), ContextPolicy("long", lambda p: 0, dimension=5)), "length 5, not 1"),
        (lambda: replay(LONGER, linucb(1.0)), "features must be of one length, 1 as in the first visit"),
        (lambda: replay([3], fl.ucb1()), "each of log must be an Event; give other logs as a Log or a data"),
        (lambda: replay("log.csv", fl.ucb1()), "log must be a Log, a data frame or Events, not 'log.csv'"),
    ],
    ids=itertools.count(),
)
def test_doors_of_a_log_of_one_s_own(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()


def test_a_horizon_stops_it_and_a_short_log_ends_it():
    events = log(300, 9)
    whole = replay(events, fl.uniform(), seed=1)
    part = replay(iter(events), fl.uniform(), horizon=10, seed=1)
    assert part.events == whole.events[:10]
    assert part.seen < whole.seen == 300
    assert len(replay(events, fl.uniform(), horizon=1000, seed=1).events) == len(whole.events) < 1000
    assert replay([], fl.uniform()).rewards.size == 0


def refuse(p):
    p[0] = 0.5


def look_back(past, p):
    return 0


def listen(feedback, p):
    return 0


def keep(rounds: Annotated[Array, "T"], p):
    return 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda events: replay(events, 3), "policy must be a Policy, a ContextPolicy or a function"),
        (lambda events: replay(events, lambda k: 3), "policy must be a Policy, or a function that makes one .*, not 3"),
        (lambda events: replay(events, fl.uniform(2)), "policy 'uniform' is made for plays=2, not 1"),
        (lambda events: replay(events, fair_ucb([0.1, 0.1])), "is made for 2 arms, not 3"),
        (lambda events: replay(events, fl.classic.ucb1_rule), "policy must be a Policy, a ContextPolicy or a"),
        (lambda events: replay(events, fl.Policy("far", lambda p: 3)), "'far' .* or an arm that there is"),
        (lambda events: replay(events, ContextPolicy("past", look_back)), "'past' must not need its history"),
        (
            lambda events: replay(events, ContextPolicy("short", lambda p: 0, dimension=5)),
            "for contexts of length 5, not 36",
        ),
        (lambda events: replay(events, fl.Policy("half", refuse)), "the rule of 'half' must .* in round 1 it did not"),
        (lambda events: replay(events, fl.Policy("long", keep)), "horizon must be given, as policy 'long' remembers"),
        (
            lambda events: replay(events + log(5, 1, (pool_of(9, 8),)), fl.Policy("told", listen)),
            r"the rule of 'told' must not ask for feedback, as its arms are other articles when the pool changes",
        ),
        (
            lambda events: replay(events + log(5, 1, (pool_of(9, 7, 8),)), ContextPolicy("told", listen)),
            r"the rule of 'told' must not ask for feedback, .* when the pool changes, which it does in round \d",
        ),
    ],
    ids=itertools.count(),
)
def test_doors(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(log(5, 10))


def test_chance_comes_from_a_stream_of_the_replay_s_own():
    """Not from that of the seed itself, with which a log may have been drawn."""
    drawn = []

    def rule(rng, p):
        drawn.append(rng.random())
        return 0

    replay(log(40, 1), fl.Policy("noting", rule, interpret=True), seed=9)
    stream = np.random.default_rng(np.random.SeedSequence(9, spawn_key=(0,))).random(80)
    assert drawn == stream[::2].tolist()  # and between two of them one to choose by
