"""Every policy factory of the package with three games that it can play, for tests and benchmarks that are about all.

`ZOO` says how each policy is made for a game, and on which three; the games stand in `GAMES`, by name, and are built
when they are first asked for. How a factory is called is written once, in the line of its entry.
"""

import math
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import fairlib as fl
from fairlib import after as af
from fairlib import contexts as co
from fairlib import delays as de
from fairlib import exposure as ex
from fairlib import linear as li
from fairlib import ranks as rk
from fairlib import shares as sh
from fairlib.book.playground import Playground
from fairlib.data import standardized, twoyear
from fairlib.merit import clipped, exponential, power


class Entry(NamedTuple):
    """A policy of the zoo: how it is made for a game, the names of its games, and how long it plays them in a test."""

    make: Callable[[Any], Any]
    games: tuple[str, str, str]
    horizon: int
    short: int
    """The horizon for interpreted play; 0 for a policy that is never compiled."""
    grows: bool = False
    """Whether a round costs more the later it is."""


# The games -----------------------------------------------------------------------------------------------------------


def echo(within, reward, rng):
    """Return a delay as a reader would write it: a success is a few rounds late, one failure in four is lost."""
    if reward > 0.5:
        return int(within * rng.random())
    return 0 if rng.random() < 0.75 else math.inf


def uneven(within, rng):
    """Return another one: never for one reward in ten."""
    return math.inf if rng.random() < 0.1 else math.floor(within * rng.random())


def shared(arms, shares, **more):
    return sh.SharedBandit(arms, shares=shares, **more)


def exposed(arms, merit, **more):
    return ex.ExposureBandit(arms, merit=merit, **more)


def semi(means, plays, delay=None, merit=None):
    return de.SemiBandit(fl.bernoulli(means), plays=plays, delay=delay, merit=merit or power(2, 4))


def seen(world, merit):
    return ex.ContextExposureBandit(world, merit=merit)


def positive_table():
    """Contexts and a parameter with positive coordinates, so that means are in [0, 1]."""
    return co.linear_table(np.random.default_rng(1).random((40, 4, 3)), [0.2, 0.5, 0.3], sd=0.1)


def recorded_table():
    """Rewards 0 and 1 that no linear model made."""
    rng = np.random.default_rng(2)
    means = rng.random((30, 3))
    return co.table(rng.normal(size=(30, 3, 5)) / 3, means, (rng.random((30, 3)) < means) * 1.0)


def people(**more):
    """Choose among every twentieth person of the data, which leaves somebody in each group."""
    whole = twoyear()
    some = slice(None, None, 20)
    return rk.employer(standardized(whole.features[some]), whole.groups[some], whole.rewards[some], **more)


TEN = 0.9 - 0.05 * np.arange(10)
FOUR = [0.9, 0.5, 0.5, 0.5]
SEVEN = [0.3, 0.5, 0.7, 0.9, 0.8, 0.6, 0.4]
WEIGHTS, BIASES = [[1.0, 2.0], [3.0, 0.0], [0.5, 0.5]], [0.0, 1.0, 2.0]

GAMES: dict[str, Callable[[], Any]] = {
    "bernoulli": lambda: fl.Bandit(fl.bernoulli(TEN)),
    "beta": lambda: fl.Bandit(fl.beta([9, 1, 4], [1, 1, 6])),
    "gaussian": lambda: fl.Bandit(fl.gaussian([0.2, 1.0, 0.7, -0.3], sd=0.8)),
    "bernoulli, geometric delay": lambda: fl.Bandit(fl.bernoulli([0.4, 0.6]), delay=de.geometric([0.05, 0.2])),
    "beta, own delay": lambda: fl.Bandit(fl.beta([2, 3, 4], [3, 3, 3]), delay=fl.Delay(echo, within=[5, 50, 9])),
    "gaussian, uneven delay": lambda: fl.Bandit(fl.gaussian([0.0, 0.5]), delay=fl.Delay(uneven, within=[30, 3])),
    "bernoulli, three plays": lambda: fl.Bandit(fl.bernoulli(TEN), plays=3),
    "gaussian, three plays, fixed delay": lambda: fl.Bandit(
        fl.gaussian([0.1, 0.2, 0.3, 0.4]), plays=3, delay=de.fixed([0, 1, 20, math.inf])
    ),
    "beta, three plays of three": lambda: fl.Bandit(fl.beta([1, 2, 3], [3, 2, 1]), plays=3),
    # Guaranteed shares
    "shares": lambda: shared(fl.bernoulli([0.9, 0.5, 0.7]), [0.1, 0.3, 0.2]),
    "shares, tolerance": lambda: shared(fl.bernoulli(TEN), np.full(10, 0.09), tolerance=10.0),
    "shares, beta": lambda: shared(fl.beta([8, 2], [2, 2]), [0.25, 0.4]),
    "shares, large": lambda: shared(fl.bernoulli([0.4, 0.9, 0.6]), [0.75, 0.125, 0.0625]),
    "shares, delay": lambda: shared(fl.bernoulli([0.7, 0.5, 0.4]), [0.2, 0.3, 0.25], delay=de.geometric([0.1] * 3)),
    # Exposure by merit
    "exponential": lambda: exposed(fl.bernoulli([0.8, 0.4, 0.6, 0.1]), exponential(4)),
    "exponential, ten": lambda: exposed(fl.beta(10 * TEN, 10 - 10 * TEN), exponential(10)),
    "exponential, gaussian": lambda: exposed(fl.gaussian([0.5, -0.5, 0.0], sd=0.5), exponential(2, -1, 1)),
    "exponential, delay": lambda: exposed(fl.bernoulli([0.8, 0.4]), exponential(2), delay=de.geometric([0.05, 0.5])),
    "power": lambda: exposed(fl.bernoulli([0.8, 0.4, 0.6]), power(2, 4)),
    "power, steep": lambda: exposed(fl.bernoulli(TEN), power(100, 4)),
    "power, gaussian": lambda: ex.games_of_steep_merit(2000, 10)[0],
    "clipped": lambda: exposed(fl.bernoulli([0.6, 0.2, 0.05]), clipped(0.1)),
    "clipped, beta": lambda: exposed(fl.beta([1, 3, 5, 7], [7, 5, 3, 1]), clipped(0.3)),
    "clipped, gaussian": lambda: ex.games_of_low_merit(2000)[0],
    # Contexts
    "sphere": lambda: fl.ContextBandit(co.sphere(5, [0.6, 0.0, 0.8])),
    "table": lambda: fl.ContextBandit(recorded_table()),
    "sphere, exponential": lambda: seen(co.sphere(4, [0.6, 0.8], sd=0.3), exponential(2, -1, 1)),
    "sphere, steep exponential": lambda: seen(co.sphere(10, [0.5, 0.5, 0.5, 0.1, 0.1]), exponential(8, -1, 1)),
    "linear table, exponential": lambda: seen(positive_table(), exponential(3)),
    "table, exponential": lambda: seen(recorded_table(), exponential(4)),
    "sphere, power": lambda: seen(co.sphere(3, [0.6, 0.8]), power(2, 4)),
    "linear table, power": lambda: seen(positive_table(), power(2, 4)),
    "linear table, steep power": lambda: seen(positive_table(), power(100, 4)),
    # Ranks
    "section 6": rk.section_6,
    "separate groups": lambda: rk.separate_groups(WEIGHTS, BIASES, sd=0.5, together=0.25),
    "mixed groups": lambda: rk.mixed_groups(WEIGHTS, BIASES, sd=0.5, shares=[0.7, 0.25, 0.05], arms=8),
    "employer, one from each group": people,
    "employer, ten from all": lambda: people(arms=10, sd=0.2),
    # Several plays, late feedback
    "at once": lambda: semi(FOUR, 2),
    "geometric": lambda: semi(SEVEN, 3, de.geometric([0.05] * 7)),
    "fixed": lambda: semi(FOUR, 2, de.fixed([20, 0, 5, math.inf]), exponential(1)),
    "Pareto": lambda: semi(SEVEN, 3, de.pareto([1.0, 0.5, 2.0, 0.8, 1.0, 0.3, 1.5])),
    "packet loss": lambda: semi(FOUR, 2, de.packet_loss([0.8, 0.4, 0.9, 0.5])),
    "packet loss by reward": lambda: semi([0.2, 0.9, 0.6], 1, de.packet_loss([0.8, 0.5, 0.1], [0.2, 0.5, 0.9])),
    "biased": lambda: semi(FOUR, 2, de.biased([200, 0, 0, 0], [0, 200, 200, 200])),
    "log-normal": lambda: semi(SEVEN, 3, de.log_normal([10, 100, 5, 50, 20, 3, 1], [2, 1, 0.5, 1.5, 1, 0.1, 3])),
    "empirical": lambda: semi(FOUR, 1, de.empirical([[0, 3, 3, 10], [7], [0, math.inf], [1, 100]]), clipped(0.2)),
    "steep, at once": lambda: semi(FOUR, 1, merit=power(100, 4)),
    "steep, geometric": lambda: semi(SEVEN, 1, de.geometric([0.05] * 7), power(100, 4)),
    "steep, biased": lambda: semi(FOUR, 1, de.biased([200, 0, 0, 0], [0, 200, 200, 200]), power(100, 4)),
    # Promises and merit at once
    "playground": lambda: Playground(fl.bernoulli([0.9, 0.5, 0.7]), shares=[0.1, 0.3, 0.2], merit=exponential(4)),
}


@cache
def game(name: str) -> Any:
    """Return a game by its name; it is built once."""
    return GAMES[name]()


# The policies --------------------------------------------------------------------------------------------------------


def size(game: Any) -> int:
    return int(game.arms.means.size)


WITHIN = ("bernoulli", "beta", "bernoulli, geometric delay")
ANY = ("gaussian", "beta, own delay", "gaussian, uneven delay")
THREE = ("bernoulli, three plays", "gaussian, three plays, fixed delay", "beta, three plays of three")
SHARES = ("shares", "shares, tolerance", "shares, beta")
LATE_SHARES = ("shares", "shares, tolerance", "shares, delay")
EXPONENTIAL = ("exponential", "exponential, ten", "exponential, gaussian")
POWER = ("power", "power, steep", "power, gaussian")
CLIPPED = ("clipped", "clipped, beta", "clipped, gaussian")
LINEAR = ("sphere", "table", "section 6")
SEEN = ("sphere, exponential", "linear table, power", "table, exponential")
SEPARATE = ("section 6", "separate groups", "employer, one from each group")
RANKS = ("section 6", "mixed groups", "employer, ten from all")
STEEP = ("steep, at once", "steep, geometric", "steep, biased")

ON_ARMS: dict[str, tuple[Callable[[Any], Any], tuple[str, str, str]]] = {
    "uniform": (lambda game: fl.uniform(), ("bernoulli", "gaussian", "beta, own delay")),
    "uniform, three plays": (lambda game: fl.uniform(3), THREE),
    "epsilon-greedy": (lambda game: fl.epsilon_greedy(0.1), ANY),
    "UCB1": (lambda game: fl.ucb1(), WITHIN),
    "Thompson sampling": (lambda game: fl.thompson_beta(), WITHIN),
    "Thompson sampling, own prior": (lambda game: fl.thompson_beta(0.5, 2.0), WITHIN),
    "Thompson sampling, normal": (lambda game: fl.thompson_gaussian(0.5, 2.0, 0.7), ANY),
    "FAIR-LEARN, UCB1": (lambda game: sh.fair_learn(fl.ucb1(), game.shares, game.tolerance), LATE_SHARES),
    "FAIR-LEARN, Thompson sampling": (
        lambda game: sh.fair_learn(fl.thompson_beta(), game.shares, game.tolerance),
        LATE_SHARES,
    ),
    "FAIR-LEARN, epsilon-greedy": (
        lambda game: sh.fair_learn(fl.epsilon_greedy(0.1), game.shares, game.tolerance),
        SHARES,
    ),
    "FAIR-UCB": (lambda game: sh.fair_ucb(game.shares, game.tolerance), SHARES),
    "T-FAIR-UCB": (lambda game: sh.t_fair_ucb(game.shares, 2000), SHARES),
    "LFG": (lambda game: sh.lfg(game.shares, eta=10), LATE_SHARES),
    "by deadline, UCB1": (
        lambda game: sh.fair_by_deadline(fl.ucb1(), game.shares, int(game.tolerance)),
        ("shares, large", "shares, tolerance", "shares, delay"),
    ),
    "in windows, UCB1": (lambda game: sh.fair_in_windows(fl.ucb1(), game.shares, game.tolerance), LATE_SHARES),
    "FairX-UCB, exponential": (lambda game: ex.fairx_ucb(game.merit, 0.3), EXPONENTIAL),
    "FairX-UCB, power": (lambda game: ex.fairx_ucb(game.merit, 0.3), POWER),
    "FairX-UCB, clipped": (lambda game: ex.fairx_ucb(game.merit, 0.3), CLIPPED),
    "FairX-UCB, gradient": (lambda game: ex.fairx_ucb_gradient(game.merit, 0.3), EXPONENTIAL),
    "FairX-TS": (lambda game: ex.fairx_ts(game.merit), ("exponential, delay", "power, steep", "clipped, beta")),
    "FairX-TS, own prior": (lambda game: ex.fairx_ts(game.merit, 0.5, 2.0), ("exponential", "power", "clipped")),
    "FairX-TS, normal": (
        lambda game: ex.fairx_ts_gaussian(game.merit, 2.0, 0.7),
        ("exponential, gaussian", "power, gaussian", "clipped, gaussian"),
    ),
    "FairX-EG": (lambda game: ex.fairx_eg(game.merit, 0.1), ("exponential, delay", "power", "clipped, gaussian")),
    "FCUCB-D": (lambda game: de.fcucb_d(game.merit, size(game), game.plays), ("geometric", "fixed", "at once")),
    "FCUCB-D, own radius": (
        lambda game: de.fcucb_d(game.merit, size(game), game.plays, (0.1, 0.2)),
        ("Pareto", "packet loss", "empirical"),
    ),
    "FCUCB-D, steep": (lambda game: de.fcucb_d(game.merit, size(game), game.plays, (0.1, 0.2)), STEEP),
    "FCTS-D": (lambda game: de.fcts_d(game.merit, size(game), game.plays), ("geometric", "log-normal", "empirical")),
    "OP-FCUCB-D": (lambda game: de.op_fcucb_d(game.merit, size(game), game.plays), ("geometric", "biased", "fixed")),
    "OP-FCUCB-D, own radius": (
        lambda game: de.op_fcucb_d(game.merit, size(game), game.plays, (0.1, 0.2)),
        ("log-normal", "packet loss by reward", "at once"),
    ),
    "OP-FCUCB-D, steep": (lambda game: de.op_fcucb_d(game.merit, size(game), game.plays, (0.1, 0.2)), STEEP),
    "OP-FCTS-D": (lambda game: de.op_fcts_d(game.merit, size(game), game.plays), ("geometric", "biased", "Pareto")),
    "Two-box": (lambda game: de.two_box(game.merit, size(game), game.plays, 2000), ("geometric", "biased", "fixed")),
    "Two-box, steep": (lambda game: de.two_box(game.merit, size(game), game.plays, 2000), STEEP),
    "recent half": (
        lambda game: de.recent_half(game.merit, size(game), game.plays),
        ("geometric", "biased", "packet loss by reward"),
    ),
    "recent half, steep": (lambda game: de.recent_half(game.merit, size(game), game.plays), STEEP),
    "CUCB-D": (lambda game: de.cucb_d(game.plays), ("geometric", "packet loss", "empirical")),
    "CUCB-D, own radius": (
        lambda game: de.cucb_d(game.plays, (0.1, 0.2)),
        ("at once", "biased", "log-normal"),
    ),
    "MP-TS-D": (lambda game: de.mp_ts_d(game.plays), ("geometric", "fixed", "packet loss by reward")),
    "FGreedy-D": (
        lambda game: de.fgreedy_d(game.merit, size(game), game.plays, 0.13),
        ("geometric", "empirical", "at once"),
    ),
    "FCUCB-D, late start": (
        lambda game: de.late_start(de.fcucb_d(game.merit, size(game), game.plays, (0.1, 0.2)), 3),
        ("geometric", "fixed", "empirical"),
    ),
    "chaining": (lambda game: af.chaining(0.05), WITHIN),
    "batched Thompson": (lambda game: af.batched_thompson(50, 20), WITHIN),
    "clipped floor, batched Thompson": (lambda game: af.clipped_floor(af.batched_thompson(50, 20), 0.05), WITHIN),
    "mixed floor, UCB1": (lambda game: af.mixed_floor(fl.ucb1(), 0.05), WITHIN),
    "scaled floor, batched Thompson": (lambda game: af.scaled_floor(af.batched_thompson(50, 20), 0.05), WITHIN),
    "projected floor, batched Thompson": (lambda game: af.projected_floor(af.batched_thompson(50, 20), 0.05), WITHIN),
    "FAIR-LEARN with plays, CUCB-D": (
        lambda game: af.fair_learn_plays(de.cucb_d(game.plays), [0.9 * game.plays / size(game)] * size(game), 1),
        ("geometric", "packet loss", "empirical"),
    ),
    "FAIR-LEARN with plays, uniform": (
        lambda game: af.fair_learn_plays(fl.uniform(game.plays), [game.plays / size(game)] * size(game)),
        THREE,
    ),
    "fair to groups": (
        lambda game: af.fair_groups(np.arange(size(game)) % 2, [0.1, 0.45], game.merit),
        ("exponential, delay", "power, steep", "clipped"),
    ),
    "NCB": (lambda game: af.ncb(2000, c=0.1), WITHIN),
}

WITH_CONTEXTS: dict[str, tuple[Callable[[Any], Any], tuple[str, str, str]]] = {
    "FairX-LinUCB, exponential": (
        lambda game: ex.fairx_linucb(game.merit, radius=0.5),
        ("sphere, exponential", "sphere, steep exponential", "linear table, exponential"),
    ),
    "FairX-LinUCB, power": (
        lambda game: ex.fairx_linucb(game.merit, radius=0.3, ridge=0.5),
        ("sphere, power", "linear table, power", "linear table, steep power"),
    ),
    "FairX-LinTS": (lambda game: ex.fairx_lints(game.merit, 2.0, 0.5), SEEN),
    "FairX-LinEG": (lambda game: ex.fairx_lineg(game.merit, 0.05), SEEN),
    "LinUCB": (lambda game: li.linucb(radius=0.5), LINEAR),
    "OFUL": (lambda game: li.oful(noise=1.0, norm=1.0, failure=0.1), LINEAR),
    "LinTS": (lambda game: li.lints(2.0, 0.5), LINEAR),
    "GMF": (rk.gmf, RANKS),
    "reward-optimal": (rk.reward_optimal, RANKS),
    "at random": (lambda game: li.at_random(), RANKS),
    "Greedy": (lambda game: li.greedy(), RANKS),
    "OFUL, as published": (lambda game: rk.oful_as_published(0.1), RANKS),
    "oracle CDF": (rk.oracle_cdf, RANKS),
}

# They look through all of the past in every round, or sort it now and then.
WITH_HISTORY: dict[str, tuple[Callable[[Any], Any], tuple[str, str, str]]] = {
    "Fair-Greedy": (lambda game: rk.fair_greedy(), SEPARATE),
    "Fair-Greedy, first of ties": (lambda game: rk.fair_greedy(ties="first"), SEPARATE),
    "Fair-Greedy V2": (lambda game: rk.fair_greedy_v2(), RANKS),
    "Fair-Greedy V2, half": (lambda game: rk.fair_greedy_v2(unseen="half"), RANKS),
    "Fair-Greedy, rarely": (lambda game: rk.fair_greedy_rarely(), RANKS),
    "oracle rewards": (rk.oracle_rewards, RANKS),
}

# A search or ten steps in plain Python in every round.
SEARCHING: dict[str, tuple[Callable[[Any], Any], tuple[str, str, str]]] = {
    "FairX-LinUCB, ellipsoid": (lambda game: ex.fairx_linucb_search(game.merit, 0.5), SEEN),
    "FairX-LinUCB, gradient": (lambda game: ex.fairx_linucb_search(game.merit, 0.5, method="gradient"), SEEN),
}

ZOO: dict[str, Entry] = (
    {name: Entry(*row, horizon=2000, short=200) for name, row in ON_ARMS.items()}
    | {name: Entry(*row, horizon=300, short=60) for name, row in WITH_CONTEXTS.items()}
    | {name: Entry(*row, horizon=300, short=60, grows=True) for name, row in WITH_HISTORY.items()}
    | {name: Entry(*row, horizon=30, short=0) for name, row in SEARCHING.items()}
)


def instances() -> Iterator[tuple[str, str, int]]:
    """Yield the name of each policy with the name of each of its games and the seed of the play: 1, 2 and 3."""
    for name, entry in ZOO.items():
        for seed, each in enumerate(entry.games, start=1):
            yield name, each, seed
