"""Whole games, whose runs are played in threads."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import lru_cache
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.core.result import Result, versions
from fairlib.engine.runner import Runner, check_memory, make_runner
from fairlib.engine.seeding import AnySeed, root
from fairlib.engine.session import AnyPolicy, Problem, make_session


def simulate(
    problem: Problem,
    policy: AnyPolicy,
    horizon: int,
    *,
    runs: int = 1,
    seed: AnySeed = 0,
    rounds: ArrayLike | None = None,
    progress: bool = False,
) -> Result:
    """Let a policy play a problem, and record what happens.

    Run i depends on the seed and on i alone: it is the same run whether 1 or 1,000 are asked for, and whatever the
    number of processors. The world (rewards, delays) and the policy draw from separate streams. Ctrl-C, or the stop
    button of a notebook, ends it at once.

    In all releases 2.x a seed gives the same plays, with the same versions of NumPy and Numba and on the same kind of
    machine. A new NumPy or Numba may draw or round otherwise; the `versions` of the result say what made it. If the
    rule of a policy had to be repaired, the changelog names the policy.

    Parameters
    ----------
    problem : Bandit or ContextBandit
        The arms, or the world of contexts, and the game on them.
    policy : Policy or ContextPolicy
        The policy: a `Policy` on arms, a `ContextPolicy` where arms have contexts.
    horizon : int
        Number of rounds T, at least 1.
    runs : int
        Number of independent runs, at least 1.
    seed : int or numpy.random.SeedSequence
        The seed of all draws.
    rounds : array_like of int, optional
        Rounds to record, increasing, from 1 to `horizon`; by default about 200, evenly spaced on a log scale, the last
        one included. Nothing is played after the last of them.
    progress : bool
        Show a bar that counts the rounds.

    Returns
    -------
    Result
        Counts, rewards and regret at the recorded rounds.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or when the rule returns probabilities that are not
        numbers in [0, 1] or do not sum to the number of plays; the message names the round.
    MemoryError
        If more memory is needed than there is; beyond a gibibyte a warning says how much it is.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1(), 1000, runs=100)
    >>> bool(result.share[:, -1, 0].mean() > 0.9)
    True
    """
    game = make_session(problem, policy, horizon)
    sizes, horizon = game.sizes, game.sizes["T"]
    runs = checks.integer("runs", runs, 1)
    chance = root(seed)
    recorded, shown = recorded_rounds(rounds, horizon), checks.flag("progress", progress)
    last = int(recorded[-1])
    workers = 1 if game.interpreted else min(runs, _processors())  # threads don't help interpreted code
    check_memory(8 * runs * recorded.size * (1 + sizes["K"] + game.metrics.length(sizes)), "what is recorded")
    check_memory(8 * workers * game.memory(last), f"what {policy.name!r} remembers")
    selected = np.zeros((runs, recorded.size, sizes["K"]), np.int64)
    reward = np.zeros((runs, recorded.size))
    summed = np.zeros((runs, recorded.size, game.metrics.length(sizes)))

    def play(runner: Runner, i: int, watch: Any) -> None:
        runner.play(i, selected[i], reward[i], summed[i], watch)

    with _bar(runs * last, shown) as told:
        # In plain Python, too, as Numba does not survive Ctrl-C in the middle of a call to compiled code.
        _in_threads(lambda: make_runner(game, recorded, chance), play, runs, workers, told)
    result = problem.result(recorded, selected, reward, game.metrics.memory(summed, sizes))
    if isinstance(result, Result):  # a reader's own game may return what it likes
        number = chance.entropy if isinstance(chance.entropy, int) and not chance.spawn_key else None
        drawn = f"SeedSequence({chance.entropy}, spawn_key={chance.spawn_key})" if number is None else number
        made: dict[str, Any] = {"game": repr(problem), "policy": repr(policy), "horizon": horizon, "seed": drawn}
        result = replace(result, **made, versions=versions())
    return result


@contextmanager
def _bar(total: int, shown: bool) -> Iterator[Callable[[int], object]]:
    """Show a progress bar of rounds, or none; yield what is told how many have been played."""
    if not shown:
        yield lambda played: None
        return
    from tqdm.auto import tqdm  # here, as the import of the package must stay quick

    with tqdm(total=total, unit=" rounds", unit_scale=True) as bar:
        yield lambda played: bar.update(played - bar.n)


def _in_threads(
    make: Callable[[], Runner],
    play: Callable[[Runner, int, Any], None],
    runs: int,
    workers: int,
    told: Callable[[int], object],
) -> None:
    """Play runs in threads while this one, which receives Ctrl-C, waits; whatever ends the waiting ends the runs.

    Each thread has a runner and a *watch*: its first number, once it is not 0, stops the runner, its second is the
    round that is played, its last one the run, and the one before counts the rounds of earlier runs. If runs fail, the
    error is that of the first of them.
    """
    watches = np.zeros((workers, 16), np.int64)  # each as long as two lines of the cache, which no other thread writes
    waiting, errors = iter(range(runs)), dict[int, BaseException]()

    def work(watch: Any) -> None:
        i = 0
        try:
            runner = make()
            for i in waiting:
                watch[-1] = i
                if watch[0] or any(failed < i for failed in list(errors)):
                    return
                play(runner, i, watch)
                watch[-2], watch[1] = watch[-2] + watch[1], 0
        except BaseException as error:
            errors[i] = error
            watches[watches[:, -1] > i, 0] = 1  # an earlier run may fail as well, so it goes on

    # In copies of this thread's context, so that numpy.errstate, say, holds for a rule there.
    playing = [Thread(target=copy_context().run, args=(work, watch)) for watch in watches]
    try:
        for each in playing:
            each.start()
        for each in playing:
            while each.is_alive():
                each.join(0.1)
                told(int(watches[:, [1, -2]].sum()))
        told(int(watches[:, [1, -2]].sum()))
        if errors:
            raise errors[min(errors)]
    finally:
        watches[:, 0] = 1
        for each in playing:
            if each.is_alive():  # Ctrl-C may have come before it was started
                each.join()


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def recorded_rounds(rounds: ArrayLike | None, horizon: int) -> NDArray[np.int64]:
    """Return the rounds at which a game is recorded: those asked for, or about 200, evenly spaced on a log scale."""
    if rounds is None:
        return _spaced(horizon).copy()
    wanted = f"increasing whole numbers from 1 to the horizon, {horizon}"
    try:
        found = np.asarray(checks.one_or_many("rounds", rounds, 1, integers=True), np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rounds must be {wanted}, not {checks.shown(rounds)}") from None
    if found.ndim != 1 or found.size == 0 or found.max() > horizon or (np.diff(found) <= 0).any():
        raise ValueError(f"rounds must be {wanted}, not {checks.shown(rounds)}")
    return found.astype(np.int64)


@lru_cache(maxsize=100)
def _spaced(horizon: int) -> NDArray[np.int64]:
    spaced = np.geomspace(1, horizon, 240).round().astype(np.int64)
    return spaced[np.diff(spaced, prepend=0) > 0]  # np.unique would do, but imports much for it
