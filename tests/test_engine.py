"""The engine: what it plays, that it plays the same however it is asked, and what it refuses."""

import contextlib
import copy
import math
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
import zoo
from helpers import both_ways, same, streams

import fairlib as fl
from fairlib import delays
from fairlib.core import ask, select, share_out
from fairlib.engine import loops, runner

SELLERS = fl.bernoulli([0.9, 0.8, 0.5, 0.2])


def by_arm(wait):
    return wait


def test_a_seed_sequence_gives_the_same_when_it_is_used_twice():
    game, root = fl.Bandit(SELLERS), np.random.SeedSequence(11)
    first = fl.simulate(game, fl.ucb1(), 200, seed=root)
    assert same(first, fl.simulate(game, fl.ucb1(), 200, seed=root))
    assert same(first, fl.simulate(game, fl.ucb1(), 200, seed=11))
    other = fl.simulate(game, fl.ucb1(), 200, seed=np.random.SeedSequence(11).spawn(1)[0])
    assert not same(first, other)


def test_the_policy_s_own_draws_leave_the_world_alone():
    def wasteful(seen, rng, p):
        rng.random()
        return seen.t % p.size

    def thrifty(seen, p):
        return seen.t % p.size

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


def test_rewards_have_the_means_that_they_should():
    for arms in (SELLERS, fl.gaussian([2.0, -1.0], sd=0.5), fl.beta([2, 1], [1, 4])):
        game = fl.Bandit(arms, plays=arms.means.size)
        result = fl.simulate(game, fl.uniform(arms.means.size), 20_000, runs=4, seed=9, rounds=[20_000])
        assert result.reward.mean() / 20_000 == pytest.approx(arms.means.sum(), abs=0.02)


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


def always_first(p):
    return 0


@pytest.mark.parametrize(
    ("wait", "observed"),
    [
        ([0.0, 1.0], [10, 9]),
        ([9, 10**15], [1, 0]),  # in time for round 10, and far past the end
        ([2.0**52, 2.0**60], [0, 0]),  # past counting, which is as good as never
        ([math.inf, 8], [0, 2]),
    ],
)
def test_delays_are_told_as_they_are_whether_whole_numbers_or_floats(wait, observed):
    game = fl.Bandit(fl.bernoulli([1.0, 1.0]), plays=2, delay=fl.Delay(by_arm, wait=wait))

    def both(plays, seen, p, told: fl.PerArm):
        for a in range(p.size):
            p[a] = 1.0
            told[a] = seen.observed[a]

    policy = fl.Policy("both", both, plays=2)
    both_ways(game, policy, 11)
    for each in (policy, policy.replace(interpret=True)):
        *_, last = fl.trace(game, each, 11)
        assert last.seen.observed.tolist() == last.memory["told"].tolist() == observed


@pytest.fixture(params=["compiled", "interpreted"])
def interpret(request):
    """Play in both ways; say whether the policy is to be interpreted."""
    return request.param == "interpreted"


# What goes wrong in the middle of a game -----------------------------------------------------------------------------


def late(wait, dear, reward):
    """Return one delay, and another for a reward above all that are tried when the delay is made."""
    if dear == 9.0:  # no setting may be nan
        return wait if reward < 5.0 else math.nan
    return wait if reward < 5.0 else dear / 2.0


def pays(mean, dear, rng):
    if rng.random() < 0.125:
        return math.nan if dear == 0.0 else dear * math.inf  # no setting may be nan or infinite
    return mean


def slips(slip: int, group: int, rng, contexts, groups, means, rewards):
    """Draw a round that is wrong when a coin says so."""
    for a in range(means.size):
        means[a], rewards[a], groups[a] = 0.5, 0.5, a % 2
        for i in range(contexts.shape[1]):
            contexts[a, i] = 1.0
    if rng.random() < 0.125:
        if slip == 0:
            contexts[1, 1] = math.nan
        elif slip == 1:
            means[1] = math.nan
        elif slip == 2:
            rewards[1] = -math.inf
        else:
            groups[1] = group


ARMS = fl.gaussian([0.0, 9.0], sd=0.1)  # of which the second pays more than is tried
DELAYS = [fl.Bandit(ARMS, delay=fl.Delay(late, wait=[1, 1], dear=[dear, dear])) for dear in (-1, 1, 7, -math.inf, 9)]
PAYS = [fl.Bandit(fl.Arms([0.5, 0.6], pays, mean=[0.5, 0.6], dear=[dear, dear])) for dear in (0, 1, -1)]
WORLDS = [
    fl.ContextBandit(fl.World(3, 2, slips, groups=2, slip=slip, group=group))
    for slip, group in ((0, 0), (1, 0), (2, 0), (3, 2), (3, -1))
]
NO_DELAY = "the delay must be a whole number of rounds of at least 0, or infinity for never"
NO_REWARD = "arms must pay finite rewards, .*"
NO_ROUND = "the world's draw must fill a round with finite numbers and with groups that exist"


@pytest.mark.parametrize(
    ("game", "said"),
    [
        *((game, NO_DELAY) for game in DELAYS),
        *((game, NO_REWARD) for game in PAYS),
        *((game, NO_ROUND) for game in WORLDS),
    ],
)
def test_a_draw_that_goes_wrong_is_named_with_its_round(game, said, interpret):
    """A reader's own delay, reward or round of contexts, of which the trial draws did not show what is wrong."""
    _, world = streams(0, 0)
    wrong = 5 if said is NO_DELAY else next(t for t in range(1, 100) if world.random() < 0.125)
    assert wrong > 1
    kind = fl.Policy if isinstance(game, fl.Bandit) else fl.ContextPolicy
    policy = kind("mine", turns_at_five if said is NO_DELAY else always_first, interpret=interpret)
    said = f"{said}; in round {wrong} of run 0 it did not$"
    with pytest.raises(ValueError, match=said):
        fl.simulate(game, policy, 100)
    with pytest.raises(ValueError, match=said):
        list(fl.trace(game, policy, 100))
    assert fl.simulate(game, policy, wrong - 1).selected[0, -1, 0] == wrong - 1


def turns_at_five(seen, p):
    return 1 if seen.t >= 5 else 0


@pytest.mark.parametrize("name", zoo.GAMES)
def test_a_game_and_its_results_are_known_by_who_they_are(name):
    """Compared by what they hold, arrays would be asked whether they are true."""
    game, other = zoo.game(name), copy.copy(zoo.game(name))
    policy = next((entry.make(game) for entry in zoo.ZOO.values() if name in entry.games), fl.uniform())
    result = fl.simulate(game, policy, 3)
    assert len({game, other, result, policy}) == 4
    assert game == game
    assert game != other
    assert repr(result).startswith(f"{type(result).__name__}: {policy!r} in ")


# Stopped, looked at, and no larger than it must be --------------------------------------------------------------------

STOPPED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell takes away from what runs behind it
import fairlib as fl
from fairlib import delays, ranks
runs, what = int(sys.argv[1]), sys.argv[2]
if what == "contexts":
    game, policy = fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8])), fl.linear.linucb(1.0)
elif what == "delays":
    game, policy = fl.Bandit(fl.bernoulli([0.9, 0.5]), delay=delays.geometric([0.1, 0.1])), fl.ucb1()
else:
    game, policy = fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1()
    policy = policy.replace(interpret=what == "interpreted")
fl.simulate(game, policy, 10)
try:
    print("playing", flush=True)  # here, as on a busy machine the signal may come before the game begins
    fl.simulate(game, policy, 10**10, runs=runs, rounds=[10**10])
except KeyboardInterrupt:
    print("stopped", flush=True)
    used = time.process_time()
    time.sleep(0.5)
    print("playing" if time.process_time() - used > 0.1 else "idle", flush=True)
"""


def line(process, seconds):
    """Read a line of what a process prints; one that prints nothing for so long is killed, and the line is empty."""
    timer = threading.Timer(seconds, process.kill)
    timer.start()
    try:
        return process.stdout.readline()
    finally:
        timer.cancel()


def test_the_threads_of_a_game_end_with_it():
    """Beside threads, Python warns of a fork."""
    before = threading.active_count()
    for policy in (fl.ucb1(), fl.Policy("wrong", lambda p: p.size)):
        with contextlib.suppress(ValueError):
            fl.simulate(fl.Bandit(SELLERS), policy, 1000, runs=8)
        assert threading.active_count() == before


@pytest.mark.skipif(sys.platform == "win32", reason="a signal can't be sent to another process there")
@pytest.mark.parametrize(
    ("runs", "what"), [(1, "arms"), (50, "arms"), (1, "contexts"), (2, "delays"), (1, "interpreted")]
)
def test_ctrl_c_ends_a_game_at_once(runs, what):
    command = [sys.executable, "-c", STOPPED, str(runs), what]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert line(process, 300) == "playing\n"
            time.sleep(0.5)
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert line(process, 20) == "stopped\n"
            # The machine may be busy; the whole game would take a quarter of an hour.
            assert time.monotonic() - sent < 5
            assert line(process, 20) == "idle\n", "one of its threads is still playing"
            assert process.wait(10) == 0
        finally:
            process.kill()  # or who waits for it waits for the whole game


def test_a_run_that_fails_ends_the_others():
    """Run 0 fails in round 3; the other would play for minutes."""
    policy = fl.Policy("late", lambda seen, p: 7 if seen.t == 8 else 0)
    began = time.monotonic()
    with pytest.raises(ValueError, match="in round 8 of run 0 it did not"):
        fl.simulate(fl.Bandit(SELLERS), policy, 10**9, runs=4, rounds=[10**9])
    assert time.monotonic() - began < 60


def test_the_bar_shows_only_when_it_is_asked_for_and_counts_every_round(capsys):
    game, steps = fl.Bandit(SELLERS), fl.ucb1().replace(interpret=True)
    fl.simulate(game, fl.ucb1(), 1000, runs=3)
    assert capsys.readouterr().err == ""
    for policy in (fl.ucb1(), steps):
        fl.simulate(game, policy, 1000, runs=3, rounds=[10, 500], progress=True)
        assert "1.50k/1.50k" in capsys.readouterr().err


def test_after_the_last_recorded_round_nothing_is_played_and_nothing_kept_for_it():
    game = fl.Bandit(SELLERS, delay=delays.fixed([3] * 4))
    for policy in (fl.ucb1(), fl.ucb1().replace(interpret=True)):
        short = fl.simulate(game, policy, 10, rounds=[10])
        tracemalloc.start()
        long = fl.simulate(game, policy, 2**53, rounds=[10])
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (long.selected == short.selected).all()
        assert size < 10**6
    world = fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8]))
    assert fl.simulate(world, fl.ranks.fair_greedy(), 10**12, rounds=[10]).selected[0, -1].sum() == 10


MEMORY = """
import psutil
import fairlib as fl
from fairlib import delays

def reads(seen, feedback, earned: fl.PerArm, p):
    for i in range(feedback.size):
        earned[feedback.arm[i]] += feedback.reward[i]
    return seen.t % p.size

arms = fl.bernoulli([0.9, 0.5, 0.3])
game, policy = {}
fl.simulate(game, policy, 10_000)
before = psutil.Process().memory_info().rss
fl.simulate(game, policy, 3 * 10**6)
print(psutil.Process().memory_info().rss - before)
"""


@pytest.mark.parametrize(
    "played",
    [
        "fl.Bandit(arms), fl.ucb1()",
        "fl.Bandit(arms), fl.Policy('reads', reads)",
        *(f"fl.Bandit(arms, 2, delays.fixed([{wait}] * 3)), delays.cucb_d(2)" for wait in (1, 5000)),
    ],
)
def test_memory_does_not_grow_with_the_horizon(played):
    """Of late feedback only what is under way is kept: as much as there is of it at a time."""
    command = [sys.executable, "-c", MEMORY.format(played)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 10 * 2**20, "an array of the horizon's length would be 24 MB and more"


@pytest.mark.parametrize(("room", "buckets"), [(1, 2**18), (1, 4), (2**20, 4)])
@pytest.mark.parametrize("number", [2, 63, 64, 65, 700])
def test_however_much_is_under_way_it_arrives_in_the_same_order(number, room, buckets, monkeypatch):
    """It is kept in chains, and a run begins anew when there is no more room."""
    echo = fl.Delay(lambda spread, rng: int(rng.random() * spread), spread=[number, number, 3 * number])
    game = fl.Bandit(fl.beta([2, 1, 3], [1, 2, 3]), plays=2, delay=echo)
    policy = fl.Policy("by the sums", by_sums, plays=2)
    roomy = fl.simulate(game, policy, 3 * number + 50, runs=2, seed=number)
    monkeypatch.setattr(runner, "_ROOM", room)
    assert same(roomy, fl.simulate(game, policy, 3 * number + 50, runs=2, seed=number))
    monkeypatch.setattr(loops, "_BUCKETS", buckets)  # what was compiled has them all
    assert same(roomy, fl.simulate(game, policy.replace(interpret=True), 3 * number + 50, runs=2, seed=number))


def by_sums(seen, feedback, cursors: fl.Number, p):
    """Play by every bit of what has arrived, and of the order in which it did."""
    for i in range(feedback.size):
        cursors[0] = 0.5 * cursors[0] + feedback.reward[i] * (1.0 + feedback.round[i] % 7)
    for a in range(p.size):
        p[a] = 0.1 + (seen.total[a] * 1000.0 + cursors[0]) % 1.0
    share_out(p, 2)
    for a in range(p.size):
        p[a] = 0.25 * p[a] + 0.5


@fl.rule
def never_asks(learner, seen, p):
    return ask(learner, p) if seen.t > 900 else 0


@pytest.mark.parametrize("room", [5, 2**20])
def test_news_that_nobody_reads_for_long_waits_for_its_reader(room, monkeypatch):
    monkeypatch.setattr(runner, "_ROOM", room)

    @fl.rule
    def counts(number: int, feedback, p):
        return 1 if feedback.size == number and feedback.round[0] == 1 and feedback.round[number - 1] == number else 0

    compile_uncached, late = fl.Bandit(SELLERS), fl.Bandit(SELLERS, delay=delays.fixed([1, 0, 0, 0]))
    for game, number in ((compile_uncached, 900), (late, 899)):
        policy = fl.Policy("late reader", never_asks, learner=fl.Policy("counts", counts, number=number))
        for each in (policy, policy.replace(interpret=True)):
            assert fl.simulate(game, each, 902).selected[0, -1, 1] == 1


def test_much_memory_is_said_before_it_is_taken_and_too_much_refused(monkeypatch):
    taken: list[Any] = []
    monkeypatch.setattr(runner, "_MUCH", 1000)
    zeros = np.zeros

    def noted(shape: Any, *kind: Any, **more: Any) -> Any:
        taken.append(shape)
        return zeros(shape, *kind, **more)

    monkeypatch.setattr(np, "zeros", noted)
    with pytest.warns(UserWarning, match=r"^what is recorded takes 20.0 GiB of memory"):
        fl.simulate(fl.Bandit(SELLERS), fl.ucb1(), 1000, rounds=range(1, 501))
    taken.clear()
    with pytest.raises(MemoryError, match=r"^what 'Fair-Greedy' remembers takes .* GiB of memory, and .* GiB are free"):
        fl.simulate(
            fl.ContextBandit(fl.contexts.sphere(3, [0.6, 0.8])), fl.ranks.fair_greedy(), 10**12, rounds=[10**12]
        )
    assert all(np.prod(shape) < 1000 for shape in taken)
    with pytest.raises(MemoryError, match="what is recorded takes"):
        fl.simulate(fl.Bandit(SELLERS), fl.ucb1(), 10**3, runs=10**10)
