"""The games themselves: one loop for every policy on arms, and one where arms have contexts, each compiled once."""

import os
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import float64, int64, types
from numba.core.errors import NumbaError
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.arms import Bandit
from fairlib.compilation import DELAY, DRAW, RULE, TALLY, _jit, compiled
from fairlib.contexts import CONTEXT_RULE, CONTEXT_TALLY, ROUND, ContextBandit, ContextPolicy, Past, Ridge, absorb
from fairlib.policy import Policy, select
from fairlib.result import Result


def simulate(
    problem: Bandit | ContextBandit,
    policy: Policy | ContextPolicy,
    horizon: int,
    *,
    runs: int = 1,
    seed: int | SeedSequence = 0,
    rounds: ArrayLike | None = None,
) -> Result:
    """Let a policy play a problem, and record what happens.

    Run i depends on the seed and on i alone: it is the same run whether 1 or 1,000 are asked for, and on however
    many processors they are spread. The world (rewards, delays) and the policy draw from separate streams.

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
        last one included.

    Returns
    -------
    Result
        Counts, rewards and regret at the recorded rounds.

    Raises
    ------
    TypeError, ValueError
        If an argument is of the wrong kind or out of range, or when the rule returns probabilities that are not
        numbers in [0, 1] or do not sum to the number of plays; the message names the round.

    Examples
    --------
    >>> import fairlib as fl
    >>> result = fl.simulate(fl.Bandit(fl.bernoulli([0.9, 0.5])), fl.ucb1(), 1000, runs=100)
    >>> bool(result.share[:, -1, 0].mean() > 0.9)
    True
    """
    if isinstance(problem, Bandit):
        play = _on_arms(problem, policy)
        arms = problem.arms.means.size
    elif isinstance(problem, ContextBandit):
        play = _on_contexts(problem, policy)
        arms = problem.world.arms
    else:
        raise TypeError(
            f"problem must be a Bandit or ContextBandit, such as Bandit(bernoulli([0.9, 0.5])), not {problem!r}"
        )
    horizon = checks.whole("horizon", horizon, 1)
    runs = checks.whole("runs", runs, 1)
    root = _root(seed)
    recorded = _recorded(rounds, horizon)
    selected = np.zeros((runs, recorded.size, arms), np.int64)
    reward = np.zeros((runs, recorded.size))
    sums = np.zeros((runs, recorded.size, problem.sums))

    def run(i: int) -> None:
        own, world = (Generator(PCG64(_child(root, i, stream))) for stream in (0, 1))
        failed = play.run(horizon, recorded, own, world, selected[i], reward[i], sums[i])
        if failed < 0:
            raise ValueError(
                f"the world's draw must fill a round with finite numbers and with groups that exist; "
                f"in round {-failed} of run {i} it did not"
            )
        if failed:
            raise ValueError(
                f"the rule of {policy.name!r} must return probabilities in [0, 1] that sum to {play.plays}; "
                f"in round {failed} of run {i} it did not"
            )

    workers = min(runs, os.cpu_count() or 1)
    if workers == 1 or play.interpreted:  # threads don't help interpreted code
        for i in range(runs):
            run(i)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run, range(runs)))
    return problem.result(recorded, selected, reward, sums)


@dataclass(frozen=True)
class _Play:
    """A game made ready: `run` plays it once."""

    run: Callable[..., int]
    plays: int
    interpreted: bool


def _on_arms(problem: Bandit, policy: Policy | ContextPolicy) -> _Play:
    if not isinstance(policy, Policy):
        raise TypeError(f"policy must be a Policy, such as ucb1(), not {policy!r}")
    if policy.plays != problem.plays:
        raise ValueError(f"policy.plays must be the problem's {problem.plays}, not {policy.plays}")
    if policy.arms is not None and policy.arms != problem.arms.means.size:
        raise ValueError(f"policy {policy.name!r} is made for {policy.arms} arms, not {problem.arms.means.size}")
    rule = _rule(policy, RULE)
    play = play_rounds if rule is policy.rule else _compiled_engine()
    draw = compiled(problem.arms.draw, DRAW)
    delay = compiled(problem.delay.draw if problem.delay else no_delay, DELAY)
    tally = compiled(problem.tally, TALLY)
    # Copies: compiled code wants arrays that could be written to, and can then write to nothing that is the caller's.
    table, truth = np.array(problem.arms.params), np.array(problem.truth)
    late = np.array(problem.delay.params if problem.delay else np.zeros((0, 0)))

    def run(*rest: Any) -> int:
        params, state = np.array(policy.params), np.zeros(policy.memory)
        return play(rule, draw, delay, tally, params, state, table, late, truth, problem.plays, *rest)

    return _Play(run, problem.plays, rule is policy.rule)


def _on_contexts(problem: ContextBandit, policy: Policy | ContextPolicy) -> _Play:
    if not isinstance(policy, ContextPolicy):
        raise TypeError(
            f"policy must be a ContextPolicy where arms have contexts, such as linucb(1, 1), not {policy!r}"
        )
    world = problem.world
    if policy.dimension is not None and policy.dimension != world.dimension:
        raise ValueError(
            f"policy {policy.name!r} is made for contexts of length {policy.dimension}, not {world.dimension}"
        )
    rule = _rule(policy, CONTEXT_RULE)
    play = play_contexts if rule is policy.rule else _compiled_context_engine()
    draw, tally = compiled(world.draw, ROUND), compiled(problem.tally, CONTEXT_TALLY)
    table, truth = np.array(world.params), np.array(problem.truth)

    def run(*rest: Any) -> int:
        params, state = np.array(policy.params), np.zeros(policy.memory)
        return play(
            *(rule, draw, tally, params, state, policy.ridge or 0.0, policy.history),
            *(table, truth, world.arms, world.dimension, world.groups),
            *rest,
        )

    return _Play(run, 1, rule is policy.rule)


def play_rounds(
    rule: Any,
    draw: Any,
    delay: Any,
    tally: Any,
    params: Any,
    state: Any,
    arms: Any,
    late: Any,
    truth: Any,
    plays: int,
    horizon: int,
    recorded: Any,
    own: Any,
    world: Any,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
) -> int:
    """Play one run; return 0, or the round in which the rule's probabilities were not probabilities."""
    number = selected_at.shape[1]
    p = np.zeros(number)
    chosen = np.zeros(plays, np.int64)
    selected, observed, total = np.zeros(number, np.int64), np.zeros(number, np.int64), np.zeros(number)
    sums = np.zeros(sums_at.shape[1])
    collected = 0.0
    # Feedback under way: for each round a chain of the rewards that arrive in it. Empty when there is no delay.
    flying = late.shape[0] > 0
    first = np.full(horizon + 1 if flying else 0, -1, np.int64)
    following = np.zeros(horizon * plays if flying else 0, np.int64)
    arm_of, reward_of = np.zeros(following.size, np.int64), np.zeros(following.size)
    sent = 0
    at = 0
    for t in range(1, horizon + 1):
        for a in range(number):
            p[a] = 0.0
        rule(params, state, t, selected, observed, total, own, p)
        if not select(p, own.random(), chosen):
            return t
        for j in range(plays):
            arm = chosen[j]
            x = draw(arms, arm, world)
            selected[arm] += 1
            collected += x
            wait = delay(late, arm, x, world) if flying else 0
            if wait == 0:
                observed[arm] += 1
                total[arm] += x
            elif 0 < wait <= horizon - t:
                arm_of[sent], reward_of[sent], following[sent] = arm, x, first[t + wait]
                first[t + wait] = sent
                sent += 1
        if flying:
            message = first[t]
            while message >= 0:
                observed[arm_of[message]] += 1
                total[arm_of[message]] += reward_of[message]
                message = following[message]
        if sums.size > 0:
            tally(truth, t, p, selected, sums)
        if t == recorded[at]:
            selected_at[at] = selected
            reward_at[at] = collected
            sums_at[at] = sums
            at += 1
            if at == recorded.size:
                break
    return 0


def play_contexts(
    rule: Any,
    draw: Any,
    tally: Any,
    params: Any,
    state: Any,
    ridge: float,
    history: bool,
    table: Any,
    truth: Any,
    arms: int,
    dimension: int,
    number: int,
    horizon: int,
    recorded: Any,
    own: Any,
    world: Any,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
) -> int:
    """Play one run with contexts; return 0, or the round in which the probabilities were not probabilities.

    A round that the world did not fill with finite numbers and with groups that exist returns the round, negative.
    """
    p = np.zeros(arms)
    chosen = np.zeros(1, np.int64)
    contexts, groups = np.zeros((arms, dimension)), np.zeros(arms, np.int64)
    means, rewards = np.zeros(arms), np.zeros(arms)
    selected = np.zeros(arms, np.int64)
    sums = np.zeros(sums_at.shape[1])
    collected = 0.0
    d = dimension if ridge > 0.0 else 0
    estimate = Ridge(np.zeros(d), np.zeros((d, d)))
    for i in range(d):
        estimate.root[i, i] = 1.0 / ridge**0.5
    kept = horizon if history else 0
    past = Past(
        np.zeros((kept, arms, dimension)), np.zeros((kept, arms), np.int64), np.zeros(kept, np.int64), np.zeros(kept)
    )
    at = 0
    for t in range(1, horizon + 1):
        draw(table, world, contexts, groups, means, rewards)
        for a in range(arms):
            p[a] = 0.0
            fine = 0 <= groups[a] < number and -np.inf < means[a] < np.inf and -np.inf < rewards[a] < np.inf
            for i in range(dimension):
                fine = fine and -np.inf < contexts[a, i] < np.inf
            if not fine:
                return -t
        rule(params, state, t, contexts, groups, estimate, past, own, p)
        if not select(p, own.random(), chosen):
            return t
        arm = chosen[0]
        selected[arm] += 1
        collected += rewards[arm]
        if d > 0:
            absorb(estimate.mean, estimate.root, contexts[arm], rewards[arm])
        if history:
            past.contexts[t - 1] = contexts
            past.groups[t - 1] = groups
            past.played[t - 1] = arm
            past.rewards[t - 1] = rewards[arm]
        best = means[0]
        for a in range(1, arms):
            best = max(best, means[a])
        sums[0] += best - means[arm]
        tally(truth, t, groups, means, p, arm, sums)
        if t == recorded[at]:
            selected_at[at] = selected
            reward_at[at] = collected
            sums_at[at] = sums
            at += 1
            if at == recorded.size:
                break
    return 0


def no_delay(params: Any, arm: int, reward: float, rng: Any) -> int:
    """Return 0: the reward is seen at the end of its round."""
    return 0


_SIGNATURE = int64(
    *(types.FunctionType(kind) for kind in (RULE, DRAW, DELAY, TALLY)),
    *(float64[::1], float64[::1], float64[:, ::1], float64[:, ::1], float64[::1], int64, int64, int64[::1]),
    *(types.npy_rng, types.npy_rng, int64[:, ::1], float64[::1], float64[:, ::1]),
)


@cache
def _compiled_engine() -> Any:
    return _jit(play_rounds, _SIGNATURE)


_CONTEXT_SIGNATURE = int64(
    *(types.FunctionType(kind) for kind in (CONTEXT_RULE, ROUND, CONTEXT_TALLY)),
    *(float64[::1], float64[::1], float64, types.boolean, float64[:, ::1], float64[::1]),
    *(int64, int64, int64, int64, int64[::1]),
    *(types.npy_rng, types.npy_rng, int64[:, ::1], float64[::1], float64[:, ::1]),
)


@cache
def _compiled_context_engine() -> Any:
    return _jit(play_contexts, _CONTEXT_SIGNATURE)


def _rule(policy: Policy | ContextPolicy, signature: Any) -> Any:
    """Return the rule, compiled unless it can't be or is to be interpreted."""
    if policy.interpret:
        return policy.rule
    try:
        return compiled(policy.rule, signature)
    except NumbaError as error:
        warnings.warn(
            f"the rule of {policy.name!r} is interpreted, some hundred times slower, as Numba can't compile it "
            f"(with interpret=True this goes unsaid): {error}",
            stacklevel=4,
        )
        return policy.rule


def _root(seed: Any) -> SeedSequence:
    if isinstance(seed, SeedSequence):
        return seed
    if isinstance(seed, bool | np.bool_) or not isinstance(seed, int | np.integer):
        raise TypeError(f"seed must be a whole number of at least 0 or a numpy.random.SeedSequence, not {seed!r}")
    return SeedSequence(checks.whole("seed", seed, 0))


def _child(root: SeedSequence, *key: int) -> SeedSequence:
    """Return a child by its number, without the count that `spawn` keeps: asking twice gives the same."""
    return SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *key), pool_size=root.pool_size)


def _recorded(rounds: ArrayLike | None, horizon: int) -> NDArray[np.int64]:
    if rounds is None:
        return np.unique(np.geomspace(1, horizon, 240).round().astype(np.int64))
    array = np.asarray(rounds)
    if array.dtype.kind not in "iu":
        raise TypeError(f"rounds must be whole numbers from 1 to the horizon, {horizon}, not {rounds!r}")
    if array.ndim != 1 or array.size == 0 or array[0] < 1 or array[-1] > horizon or (np.diff(array) <= 0).any():
        raise ValueError(f"rounds must be increasing whole numbers from 1 to the horizon, {horizon}, not {rounds!r}")
    return array.astype(np.int64)
