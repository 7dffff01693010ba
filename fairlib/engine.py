"""The games themselves, compiled: one loop for every policy on arms, and one where arms have contexts.

What plays when a rule can't be compiled, or is to be watched, is `fairlib.stepping`: the same game, round by round.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int64, types
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.arms import DELAY, DRAW, TALLY, Bandit
from fairlib.binding import Form
from fairlib.compilation import compiled
from fairlib.contexts import CONTEXT_RULE, CONTEXT_TALLY, ROUND, ContextBandit, ContextPolicy, absorb
from fairlib.desk import desk
from fairlib.policy import RULE, Policy, select
from fairlib.result import Result
from fairlib.stepping import AtPlay, OnArms, OnContexts, at_play, fresh_past, fresh_ridge, root, streams


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
    game = at_play(problem, policy)
    horizon = checks.whole("horizon", horizon, 1)
    runs = checks.whole("runs", runs, 1)
    chance = root(seed)
    recorded = _recorded(rounds, horizon)
    sizes = {**game.sizes, "T": horizon}
    selected = np.zeros((runs, recorded.size, sizes["K"]), np.int64)
    reward = np.zeros((runs, recorded.size))
    summed = np.zeros((runs, recorded.size, game.tally.state(sizes).size))
    play = _stepped if game.interpreted else _compiled
    if not game.interpreted:  # now, and not in each of the threads
        _compiled_engine() if isinstance(game, OnArms) else _compiled_context_engine()

    def run(i: int) -> None:
        play(game, horizon, recorded, streams(chance, i), selected[i], reward[i], summed[i], i)

    workers = min(runs, _processors())
    if workers == 1 or game.interpreted:  # threads don't help interpreted code
        for i in range(runs):
            run(i)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(run, range(runs)))
    return problem.result(recorded, selected, reward, game.tally.memory(summed, sizes))


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stepped(
    game: AtPlay, horizon: int, recorded: Any, streams: Any, selected_at: Any, reward_at: Any, sums_at: Any, run: int
) -> None:
    """Play one run round by round."""
    sizes = {**game.sizes, "T": horizon}
    truth, sums = game.tally.numbers(sizes), game.tally.state(sizes)
    collected, at = 0.0, 0
    own, world = streams
    for step in game.rounds(horizon, own, world, run):
        for reward in step.rewards:
            collected += reward
        game.sum_up(truth, sums, step)
        if step.t == recorded[at]:
            selected_at[at], reward_at[at], sums_at[at] = step.selected, collected, sums
            at += 1
            if at == recorded.size:
                break


def _compiled(
    game: Any, horizon: int, recorded: Any, streams: Any, selected_at: Any, reward_at: Any, sums_at: Any, run: int
) -> None:
    """Play one run in the compiled engine."""
    play = _on_arms if isinstance(game, OnArms) else _on_contexts
    failed = play(game, horizon, recorded, *streams, selected_at, reward_at, sums_at)
    if failed:
        raise game.fault(failed, run)


def _on_arms(game: OnArms, horizon: int, *rest: Any) -> int:
    sizes, bound, k = {**game.sizes, "T": horizon}, game.policy.bound, game.sizes["K"]
    params, state, p = bound.numbers(sizes), bound.state(sizes), np.zeros(k)
    selected, observed, total = np.zeros(k, np.int64), np.zeros(k, np.int64), np.zeros(k)
    # News: what has arrived and the rule has not read lies from mail[0] to mail[1]; each learner that reads news has
    # two such numbers more. Empty for a rule that does not ask for it; for others there is room for all that could
    # ever wait, of which only what is written to takes memory.
    mail, room = np.zeros(2 * bound.readers, np.int64), horizon * game.plays if bound.readers else 0
    news = np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64), np.empty(room)
    truth, sums = game.tally.numbers(sizes), game.tally.state(sizes)
    return int(
        _compiled_engine()(
            *(game.rule.compiled, desk(params, state, selected, observed, total, mail, *news, p)),
            *(game.draw.compiled, desk(game.table), game.delay.compiled, desk(game.waits), game.late, game.plays),
            *(game.tallied.compiled, desk(truth, sums, p, selected)),
            *(p, selected, observed, total, mail, *news, sums, horizon),
            *rest,
        )
    )


def _on_contexts(game: OnContexts, horizon: int, *rest: Any) -> int:
    sizes, bound = {**game.sizes, "T": horizon}, game.policy.bound
    params, state, k, d = bound.numbers(sizes), bound.state(sizes), sizes["K"], sizes["d"]
    p, selected, contexts, groups = np.zeros(k), np.zeros(k, np.int64), np.zeros((k, d)), np.zeros(k, np.int64)
    means, rewards = np.zeros(k), np.zeros(k)
    ridge, past = fresh_ridge(game.policy.ridge, d), fresh_past(horizon if game.history else 0, k, d)
    # News: the play of the round before.
    mail = np.zeros(2 * bound.readers, np.int64)
    news = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64), np.zeros(1)
    truth, sums = game.tally.numbers(sizes), game.tally.state(sizes)
    return int(
        _compiled_context_engine()(
            *(game.rule.compiled, desk(params, state, contexts, groups, *ridge, *past, mail, *news, p)),
            *(game.draw.compiled, desk(game.table, contexts, groups, means, rewards), sizes["G"]),
            *(game.tallied.compiled, desk(truth, sums, groups, means, p)),
            *(p, selected, contexts, groups, means, rewards, *ridge, *past, mail, *news, sums, horizon),
            *rest,
        )
    )


def play_rounds(
    rule: Any,
    on_desk: Any,
    draw: Any,
    table: Any,
    delay: Any,
    waits: Any,
    late: bool,
    plays: int,
    tally: Any,
    to_sum: Any,
    p: Any,
    selected: Any,
    observed: Any,
    total: Any,
    mail: Any,
    arms: Any,
    rewards: Any,
    rounds: Any,
    chances: Any,
    sums: Any,
    horizon: int,
    recorded: Any,
    own: Any,
    world: Any,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
) -> int:
    """Play one run; return 0, or the round in which the rule was at fault, or negative the delay."""
    number = p.size
    chosen = np.zeros(plays, np.int64)
    collected = 0.0
    # Feedback under way: for each round a chain of the rewards that arrive in it. Empty when there is no delay.
    first = np.full(horizon + 1 if late else 0, -1, np.int64)
    following = np.zeros(horizon * plays if late else 0, np.int64)
    arm_of, reward_of = np.zeros(following.size, np.int64), np.zeros(following.size)
    wants_news = mail.size > 0
    round_of = np.zeros(following.size if wants_news else 0, np.int64)
    chance_of = np.zeros(round_of.size)
    sent = 0
    at = 0
    for t in range(1, horizon + 1):
        for a in range(number):
            p[a] = 0.0
        told = rule(on_desk, t, own)
        u = own.random()
        if told >= 0:
            if told >= number or plays > 1:
                return t
            for a in range(number):
                p[a] = 0.0
            p[told] = 1.0
            chosen[0] = told
        elif told < -1 or not select(p, u, chosen):
            return t
        if wants_news:
            unread = False
            for j in range(0, mail.size, 2):
                unread = unread or mail[j] < mail[j + 1]
            if not unread:
                for j in range(mail.size):
                    mail[j] = 0
        for j in range(plays):
            arm = chosen[j]
            x = draw(table, arm, world)
            if not -np.inf < x < np.inf:
                return -t
            selected[arm] += 1
            collected += x
            wait = delay(waits, arm, x, world) if late else 0
            if wait == 0:
                observed[arm] += 1
                total[arm] += x
                if wants_news:
                    arms[mail[1]], rewards[mail[1]], rounds[mail[1]], chances[mail[1]] = arm, x, t, p[arm]
                    for i in range(1, mail.size, 2):
                        mail[i] += 1
            elif wait < -1:
                return -t
            elif 0 < wait <= horizon - t:
                arm_of[sent], reward_of[sent], following[sent] = arm, x, first[t + wait]
                if wants_news:
                    round_of[sent], chance_of[sent] = t, p[arm]
                first[t + wait] = sent
                sent += 1
        if late:
            message = first[t]
            while message >= 0:
                observed[arm_of[message]] += 1
                total[arm_of[message]] += reward_of[message]
                if wants_news:
                    arms[mail[1]], rewards[mail[1]] = arm_of[message], reward_of[message]
                    rounds[mail[1]], chances[mail[1]] = round_of[message], chance_of[message]
                    for i in range(1, mail.size, 2):
                        mail[i] += 1
                message = following[message]
        if sums.size > 0:
            tally(to_sum, t)
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
    on_desk: Any,
    draw: Any,
    to_fill: Any,
    number: int,
    tally: Any,
    to_sum: Any,
    p: Any,
    selected: Any,
    contexts: Any,
    groups: Any,
    means: Any,
    rewards: Any,
    mean: Any,
    root: Any,
    past_contexts: Any,
    past_groups: Any,
    past_played: Any,
    past_rewards: Any,
    mail: Any,
    arm_of: Any,
    reward_of: Any,
    round_of: Any,
    chance_of: Any,
    sums: Any,
    horizon: int,
    recorded: Any,
    own: Any,
    world: Any,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
) -> int:
    """Play one run with contexts; return 0, or the round in which the rule was at fault, or negative the world."""
    arms, dimension = contexts.shape
    chosen = np.zeros(1, np.int64)
    collected = 0.0
    at = 0
    for t in range(1, horizon + 1):
        draw(to_fill, world)
        for a in range(arms):
            p[a] = 0.0
            fine = 0 <= groups[a] < number and -np.inf < means[a] < np.inf and -np.inf < rewards[a] < np.inf
            for i in range(dimension):
                fine = fine and -np.inf < contexts[a, i] < np.inf
            if not fine:
                return -t
        told = rule(on_desk, t, own)
        u = own.random()
        if told >= 0:
            if told >= arms:
                return t
            for a in range(arms):
                p[a] = 0.0
            p[told] = 1.0
            chosen[0] = told
        elif told < -1 or not select(p, u, chosen):
            return t
        arm = chosen[0]
        selected[arm] += 1
        collected += rewards[arm]
        if mean.size > 0:
            absorb(mean, root, contexts[arm], rewards[arm])
        if past_played.size > 0:
            past_contexts[t - 1] = contexts
            past_groups[t - 1] = groups
            past_played[t - 1] = arm
            past_rewards[t - 1] = rewards[arm]
        if mail.size > 0:
            mail[0], mail[1] = 0, 1
            arm_of[0], reward_of[0], round_of[0], chance_of[0] = arm, rewards[arm], t, p[arm]
        tally(to_sum, t, arm)
        if t == recorded[at]:
            selected_at[at] = selected
            reward_at[at] = collected
            sums_at[at] = sums
            at += 1
            if at == recorded.size:
                break
    return 0


_FLOATS, _WHOLES = float64[::1], int64[::1]
_NEWS = (_WHOLES, _WHOLES, _FLOATS, _WHOLES, _FLOATS)
_RUN = (_FLOATS, int64, _WHOLES, types.npy_rng, types.npy_rng, int64[:, ::1], _FLOATS, float64[:, ::1])


def _called(form: Form) -> tuple[Any, Any]:
    """Return the types of a function that the engine calls, and of its desk."""
    return types.FunctionType(form.compiled), _WHOLES


_SIGNATURE = int64(
    *(*_called(RULE), *_called(DRAW), *_called(DELAY), boolean, int64, *_called(TALLY)),
    *(_FLOATS, _WHOLES, _WHOLES, _FLOATS, *_NEWS, *_RUN),
)


@cache
def _compiled_engine() -> Any:
    return compiled(play_rounds, _SIGNATURE)


_CONTEXT_SIGNATURE = int64(
    *(*_called(CONTEXT_RULE), *_called(ROUND), int64, *_called(CONTEXT_TALLY)),
    *(_FLOATS, _WHOLES, float64[:, ::1], _WHOLES, _FLOATS, _FLOATS, _FLOATS, float64[:, ::1]),
    *(float64[:, :, ::1], int64[:, ::1], _WHOLES, _FLOATS, *_NEWS, *_RUN),
)


@cache
def _compiled_context_engine() -> Any:
    return compiled(play_contexts, _CONTEXT_SIGNATURE)


def _recorded(rounds: ArrayLike | None, horizon: int) -> NDArray[np.int64]:
    if rounds is None:
        spaced = np.geomspace(1, horizon, 240).round().astype(np.int64)
        return spaced[np.diff(spaced, prepend=0) > 0]  # np.unique would do, but imports much for it
    array = np.asarray(rounds)
    if array.dtype.kind not in "iu":
        raise TypeError(f"rounds must be whole numbers from 1 to the horizon, {horizon}, not {rounds!r}")
    if array.ndim != 1 or array.size == 0 or array[0] < 1 or array[-1] > horizon or (np.diff(array) <= 0).any():
        raise ValueError(f"rounds must be increasing whole numbers from 1 to the horizon, {horizon}, not {rounds!r}")
    return array.astype(np.int64)
