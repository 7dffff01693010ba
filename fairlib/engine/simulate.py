"""The games themselves, compiled: one loop for every policy on arms, and one where arms have contexts.

What plays when a rule can't be compiled, or is to be watched, is `fairlib.engine.stepping`: the same
game, round by round.
"""

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.core.result import Result, versions
from fairlib.engine.agent import fresh_past, fresh_ridge
from fairlib.engine.loops import ArmsRun, ContextsRun, compiled_arms_loop, compiled_context_loop
from fairlib.engine.seeding import AnySeed, root, streams
from fairlib.engine.stepping import AnyPolicy, ArmsSession, ContextSession, GivenHorizon, Problem, Session, make_session
from fairlib.rules.argument_block import pack_arrays
from fairlib.rules.jit import entry_point


def simulate(
    problem: Problem,
    policy: AnyPolicy,
    horizon: GivenHorizon,
    *,
    runs: Annotated[int, checks.InBody(checks.Integer(1))] = 1,
    seed: AnySeed = 0,
    rounds: Annotated[ArrayLike, checks.InBody(checks.OneOrMany(1, integers=True, example=[1, 50]))] | None = None,
    progress: Annotated[bool, checks.InBody(checks.Flag())] = False,
) -> Result:
    """Let a policy play a problem, and record what happens.

    Run i depends on the seed and on i alone: it is the same run whether 1 or 1,000 are asked for, and on however
    many processors they are spread. The world (rewards, delays) and the policy draw from separate streams. Ctrl-C, or
    the stop button of a notebook, ends it at once.

    Parameters
    ----------
    problem : Bandit or ContextBandit
        The arms, or the world of contexts, and the game on them.
    policy : Policy or ContextPolicy
        Who plays: a `Policy` on arms, a `ContextPolicy` where arms have contexts.
    horizon : int
        Number of rounds T, at least 1.
    runs : int
        Number of independent runs, at least 1.
    seed : int or numpy.random.SeedSequence
        Where all chance comes from.
    rounds : array_like of int, optional
        Rounds to record, increasing, from 1 to `horizon`; by default about 200, evenly spaced on a log scale, the
        last one included. After the last of them no more is played.
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
    game = make_session(problem, policy)
    horizon = policy.check_horizon(horizon)
    runs = checks.integer("runs", runs, 1)
    chance = root(seed)
    recorded, shown = recorded_rounds(rounds, horizon), checks.flag("progress", progress)
    sizes, last = {**game.sizes, "T": horizon}, int(recorded[-1])
    workers = 1 if game.interpreted else min(runs, _processors())  # threads don't help interpreted code
    check_memory(8 * runs * recorded.size * (1 + sizes["K"] + game.metrics.length(sizes)), "what is recorded")
    check_memory(8 * workers * game.memory(sizes, last), f"what {policy.name!r} remembers")
    selected = np.zeros((runs, recorded.size, sizes["K"]), np.int64)
    reward = np.zeros((runs, recorded.size))
    summed = np.zeros((runs, recorded.size, game.metrics.length(sizes)))
    play = play_stepped if game.interpreted else play_compiled
    if not game.interpreted:  # now, and not in each of the threads
        compiled_arms_loop() if isinstance(game, ArmsSession) else compiled_context_loop()

    def run(i: int, watch: Any) -> None:
        play(game, horizon, recorded, chance, selected[i], reward[i], summed[i], watch, i)

    with _Bar(runs * last, shown) as bar:
        # In plain Python, too, as Ctrl-C in the middle of a call to compiled code is more than Numba can take.
        _in_threads(run, runs, workers, last, bar)
    result = problem.result(recorded, selected, reward, game.metrics.memory(summed, sizes))
    if isinstance(result, Result):  # a reader's own game may return what it likes
        number = chance.entropy if isinstance(chance.entropy, int) and not chance.spawn_key else None
        drawn = f"SeedSequence({chance.entropy}, spawn_key={chance.spawn_key})" if number is None else number
        made: dict[str, Any] = {"game": repr(problem), "policy": repr(policy), "horizon": horizon, "seed": drawn}
        result = replace(result, **made, versions=versions())
    return result


_MUCH = 2**30  # bytes
_ROOM = 2**20  # for feedback under way: numbers of rewards


def check_memory(size: int, what: str, instead: str = "record fewer rounds, or play fewer of them") -> None:
    """Say how much memory something takes, if it is much, before it is taken; refuse it if there is not so much."""
    if size < _MUCH:
        return
    import psutil  # here, as the import of the package must stay quick

    free = psutil.virtual_memory().available
    text = f"{what} takes {size / _MUCH:,.1f} GiB of memory"
    if size > free:
        raise MemoryError(f"{text}, and {free / _MUCH:,.1f} GiB are free: {instead}")
    warnings.warn(text, stacklevel=3)


class _Bar:
    """A progress bar of rounds, or none."""

    def __init__(self, total: int, shown: bool) -> None:
        self.bar: Any = None
        if shown:
            from tqdm.auto import tqdm  # here, as the import of the package must stay quick

            self.bar = tqdm(total=total, unit=" rounds", unit_scale=True)

    def __enter__(self) -> "_Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def move_to(self, played: int) -> None:
        """Show how many rounds have been played."""
        if self.bar is not None:
            self.bar.update(played - self.bar.n)


def _in_threads(run: Callable[[int, Any], None], runs: int, workers: int, last: int, bar: _Bar) -> None:
    """Play runs in threads while this one waits, where Ctrl-C arrives; whatever ends the waiting ends the runs.

    Each run under way has a *watch*: its first number, once it is not 0, makes the engine stop, and its second is the
    round that the engine plays.
    """
    watches: dict[int, NDArray[np.int64]] = {}
    stopped = finished = 0

    def watched(i: int) -> None:
        nonlocal finished
        watches[i] = watch = np.zeros(16, np.int64)  # as long as two lines of the cache, which no other thread writes
        if not stopped:
            run(i, watch)
        finished += 1
        del watches[i]

    pool = ThreadPoolExecutor(workers)
    try:
        # In copies of this thread's context, so that numpy.errstate, say, holds for a rule in plain Python there too.
        for future in [pool.submit(copy_context().run, watched, i) for i in range(runs)]:
            while not wait([future], 0.1).done:
                bar.move_to(last * finished + sum(int(watch[1]) for watch in list(watches.values())))
            future.result()
        bar.move_to(last * runs)
    except BaseException:
        stopped = 1
        for watch in list(watches.values()):
            watch[0] = 1
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def play_stepped(
    game: Session,
    horizon: int,
    recorded: Any,
    chance: SeedSequence,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
    watch: Any,
    run: int,
) -> None:
    """Play one run round by round."""
    sizes = {**game.sizes, "T": horizon}
    metric_params, sums = game.metrics.numbers(sizes), game.metrics.state(sizes)
    collected, at = 0.0, 0
    for step in game.rounds(horizon, *streams(chance, run), run):
        for reward in step.rewards:
            collected += reward
        game.accumulate(metric_params, sums, step)
        watch[1] = step.t
        if watch[0]:
            return
        if step.t == recorded[at]:
            selected_at[at], reward_at[at], sums_at[at] = step.selected, collected, sums
            at += 1
            if at == recorded.size:
                break


def play_compiled(
    game: Any,
    horizon: int,
    recorded: Any,
    chance: SeedSequence,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
    watch: Any,
    run: int,
) -> None:
    """Play one run in the compiled engine."""
    play = _on_arms if isinstance(game, ArmsSession) else _on_contexts
    room, most = _ROOM, int(recorded[-1]) * game.plays
    while True:
        policy_rng, env_rng = streams(chance, run)
        try:
            failed = play(
                game,
                horizon,
                min(room, most),
                recorded=recorded,
                policy_rng=policy_rng,
                env_rng=env_rng,
                selected_at=selected_at,
                reward_at=reward_at,
                sums_at=sums_at,
                watch=watch,
            )
        except IndexError as error:
            whose = f"the rule of {game.policy.name!r}, or a draw of your own,"
            raise IndexError(f"{whose} broke off in round {watch[1]} of run {run}: {error}") from error
        if failed:
            raise game.fault(failed, run)
        if not watch[2]:
            return
        # More was under way, or waited to be read, than there was room for: the same run anew, with more of it.
        room, watch[2] = 8 * room, 0
        check_memory(8 * 10 * min(room, most), "feedback under way")


def _on_arms(game: ArmsSession, horizon: int, room: int, **common: Any) -> int:
    sizes, bound, k = {**game.sizes, "T": horizon}, game.policy.bound_rule, game.sizes["K"]
    params, state, p = bound.numbers(sizes), bound.state(sizes), np.zeros(k)
    selected, observed, total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    # Feedback that has arrived and that the rule has not read is from cursors[0] to cursors[1]; each learner that reads
    # it has two such numbers more. Empty for a rule that does not ask for it; unwritten room takes no memory.
    cursors, waits = np.zeros(2 * bound.readers, np.int64), room if bound.readers else 0
    feedback: tuple[Any, ...] = np.empty(waits, np.int64), np.empty(waits), np.empty(waits, np.int64), np.empty(waits)
    metric_params, sums = game.metrics.numbers(sizes), game.metrics.state(sizes)
    blocks = {  # held here while the loop uses them
        "rule_block": pack_arrays(params, state, selected, observed, total, cursors, *feedback, p),
        "draw_block": pack_arrays(game.table),
        "delay_block": pack_arrays(game.delay_params),
        "metrics_block": pack_arrays(metric_params, sums, p, selected),
    }
    functions = (each.compiled for each in (game.rule, game.draw, game.delay, game.metrics_function))
    run = ArmsRun(
        **{name: block.ctypes.data for name, block in blocks.items()},
        **dict(zip(("arms", "rewards", "rounds", "chances"), feedback, strict=True)),
        has_delay=game.has_delay,
        plays=game.plays,
        capacity=room,
        p=p,
        selected=selected,
        observed=observed,
        total=total,
        cursors=cursors,
        sums=sums,
        **common,
    )
    return int(entry_point(compiled_arms_loop())(*functions, run))  # all that it is given is of the right types


def _on_contexts(game: ContextSession, horizon: int, _: int, **common: Any) -> int:
    sizes, bound = {**game.sizes, "T": horizon}, game.policy.bound_rule
    params, state, k, d = bound.numbers(sizes), bound.state(sizes), sizes["K"], sizes["d"]
    p, selected, contexts, groups = np.zeros(k), np.zeros(k, np.int64), np.zeros((k, d)), np.zeros(k, np.int64)
    means, rewards = np.zeros(k), np.zeros(k)
    last = int(common["recorded"][-1]) if game.history else 0
    ridge, past = fresh_ridge(game.policy.ridge, d), fresh_past(last, k, d)
    cursors = np.zeros(2 * bound.readers, np.int64)
    feedback: tuple[Any, ...] = (
        np.zeros(1, np.int64),
        np.zeros(1),
        np.zeros(1, np.int64),
        np.zeros(1),
    )  # the last round's
    metric_params, sums = game.metrics.numbers(sizes), game.metrics.state(sizes)
    blocks = {
        "rule_block": pack_arrays(params, state, contexts, groups, *ridge, *past, cursors, *feedback, p),
        "draw_block": pack_arrays(game.table, contexts, groups, means, rewards),
        "metrics_block": pack_arrays(metric_params, sums, groups, means, p),
    }
    functions = (each.compiled for each in (game.rule, game.draw, game.metrics_function))
    names = "feedback_arms", "feedback_rewards", "feedback_rounds", "feedback_chances"
    run = ContextsRun(
        **{name: block.ctypes.data for name, block in blocks.items()},
        **dict(zip(names, feedback, strict=True)),
        n_groups=sizes["G"],
        p=p,
        selected=selected,
        contexts=contexts,
        groups=groups,
        means=means,
        rewards=rewards,
        ridge=ridge,
        past=past,
        cursors=cursors,
        sums=sums,
        **common,
    )
    return int(entry_point(compiled_context_loop())(*functions, run))


def recorded_rounds(rounds: ArrayLike | None, horizon: int) -> NDArray[np.int64]:
    """Return the rounds at which a game is recorded.

    Parameters
    ----------
    rounds : array_like of int, shape (R,), optional
        What was asked for; by default about 200, evenly spaced on a log scale.
    horizon : int
        Number of rounds.

    Returns
    -------
    ndarray of int, shape (R,)
        The rounds, increasing.

    Raises
    ------
    TypeError, ValueError
        If they are no whole numbers that increase from 1 or more to the horizon or less.

    Examples
    --------
    >>> recorded_rounds(None, 5)
    array([1, 2, 3, 4, 5])
    """
    if rounds is None:
        spaced = np.geomspace(1, horizon, 240).round().astype(np.int64)
        return spaced[np.diff(spaced, prepend=0) > 0]  # np.unique would do, but imports much for it
    wanted = f"increasing whole numbers from 1 to the horizon, {horizon}"
    try:
        found = checks.one_or_many("rounds", rounds, 1, integers=True)
    except (TypeError, ValueError) as error:
        raise type(error)(f"rounds must be {wanted}, not {checks.shown(rounds)}") from None
    if found.ndim != 1 or found.size == 0 or found.max() > horizon or (np.diff(found) <= 0).any():
        raise ValueError(f"rounds must be {wanted}, not {checks.shown(rounds)}")
    return found.astype(np.int64)
