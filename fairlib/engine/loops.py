"""The loops that play a game, compiled once: one for arms, one for contexts."""

from functools import cache
from typing import Any

import numpy as np
from numba import boolean, float64, int64, types

from fairlib.core.arms import DELAY, DRAW, METRICS
from fairlib.core.contexts import CONTEXT_METRICS, CONTEXT_RULE, ROUND
from fairlib.core.policy import RULE
from fairlib.core.ridge import absorb
from fairlib.core.steps import select
from fairlib.rules.jit import compiled
from fairlib.rules.signature import CallSignature

_CHAINS = 2**18


def play_rounds(
    rule: Any,
    block: Any,
    draw: Any,
    table: Any,
    delay: Any,
    waits: Any,
    late: bool,
    plays: int,
    metrics: Any,
    to_sum: Any,
    p: Any,
    selected: Any,
    observed: Any,
    total: Any,
    cursors: Any,
    arms: Any,
    rewards: Any,
    rounds: Any,
    chances: Any,
    sums: Any,
    room: int,
    recorded: Any,
    own: Any,
    world: Any,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
    watch: Any,
) -> int:
    """Play one run; return 0, or the round in which the rule was at fault, or negative the delay."""
    number = p.size
    chosen = np.zeros(plays, np.int64)
    collected = 0.0
    wants_news, last = cursors.size > 0, recorded[-1]
    p_is_read = wants_news or sums.size > 0  # else what a rule that tells its arm leaves in p is wiped out unread
    # Feedback under way: messages in places 1, 2, ..., each in the chain of the round in which it is due, modulo the
    # number of chains; `free` begins the chain of those places that are free again. Here, too, what is never written to
    # takes no memory.
    chains = 1
    while late and chains < min(last + 1, _CHAINS):
        chains *= 2
    first, free, used = np.zeros(chains, np.int64), 0, 0
    places = room + 1 if late else 0
    following, due, arm_of = np.empty(places, np.int64), np.empty(places, np.int64), np.empty(places, np.int64)
    reward_of = np.empty(places)
    places = places if wants_news else 0
    round_of, chance_of = np.empty(places, np.int64), np.empty(places)
    at = 0
    for t in range(1, last + 1):
        if watch[0] != 0:
            return 0
        watch[1] = t
        for a in range(number):
            p[a] = 0.0
        action = rule(block, t, own)
        u = own.random()
        if action >= 0:
            if action >= number or plays > 1:
                return t
            chosen[0] = action
            if p_is_read:
                for a in range(number):
                    p[a] = 0.0
                p[action] = 1.0
        elif action < -1 or not select(p, u, chosen):
            return t
        if wants_news:
            unread = False
            for j in range(0, cursors.size, 2):
                unread = unread or cursors[j] < cursors[j + 1]
            if not unread:
                for j in range(cursors.size):
                    cursors[j] = 0
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
                    if cursors[1] == room:
                        watch[2] = 1
                        return 0
                    arms[cursors[1]], rewards[cursors[1]], rounds[cursors[1]], chances[cursors[1]] = arm, x, t, p[arm]
                    for i in range(1, cursors.size, 2):
                        cursors[i] += 1
            elif wait < -1:
                return -t
            elif 0 < wait <= last - t:
                if free > 0:
                    message, free = free, following[free]
                elif used < room:
                    used += 1
                    message = used
                else:
                    watch[2] = 1
                    return 0
                chain = (t + wait) & (chains - 1)
                arm_of[message], reward_of[message], due[message] = arm, x, t + wait
                if wants_news:
                    round_of[message], chance_of[message] = t, p[arm]
                following[message], first[chain] = first[chain], message
        if late:
            chain = t & (chains - 1)
            before, message = 0, first[chain]
            while message > 0:
                after = following[message]
                if due[message] > t:
                    before = message
                else:
                    if before > 0:
                        following[before] = after
                    else:
                        first[chain] = after
                    following[message], free = free, message
                    observed[arm_of[message]] += 1
                    total[arm_of[message]] += reward_of[message]
                    if wants_news:
                        if cursors[1] == room:
                            watch[2] = 1
                            return 0
                        arms[cursors[1]], rewards[cursors[1]] = arm_of[message], reward_of[message]
                        rounds[cursors[1]], chances[cursors[1]] = round_of[message], chance_of[message]
                        for i in range(1, cursors.size, 2):
                            cursors[i] += 1
                message = after
        if sums.size > 0:
            metrics(to_sum, t)
        if t == recorded[at]:
            for a in range(selected.size):  # slices would take two seconds more to compile
                selected_at[at, a] = selected[a]
            for i in range(sums.size):
                sums_at[at, i] = sums[i]
            reward_at[at] = collected
            at += 1
    return 0


def play_contexts(
    rule: Any,
    block: Any,
    draw: Any,
    to_fill: Any,
    number: int,
    metrics: Any,
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
    cursors: Any,
    arm_of: Any,
    reward_of: Any,
    round_of: Any,
    chance_of: Any,
    sums: Any,
    recorded: Any,
    own: Any,
    world: Any,
    selected_at: Any,
    reward_at: Any,
    sums_at: Any,
    watch: Any,
) -> int:
    """Play one run with contexts; return 0, or the round in which the rule was at fault, or negative the world."""
    arms, dimension = contexts.shape
    chosen = np.zeros(1, np.int64)
    collected = 0.0
    at = 0
    for t in range(1, recorded[-1] + 1):
        if watch[0] != 0:
            return 0
        watch[1] = t
        draw(to_fill, world)
        for a in range(arms):
            p[a] = 0.0
            fine = 0 <= groups[a] < number and -np.inf < means[a] < np.inf and -np.inf < rewards[a] < np.inf
            for i in range(dimension):
                fine = fine and -np.inf < contexts[a, i] < np.inf
            if not fine:
                return -t
        action = rule(block, t, own)
        u = own.random()
        if action >= 0:
            if action >= arms:
                return t
            for a in range(arms):
                p[a] = 0.0
            p[action] = 1.0
            chosen[0] = action
        elif action < -1 or not select(p, u, chosen):
            return t
        arm = chosen[0]
        selected[arm] += 1
        collected += rewards[arm]
        if mean.size > 0:
            absorb(mean, root, contexts[arm], rewards[arm])
        if past_played.size > 0:
            for a in range(arms):
                past_groups[t - 1, a] = groups[a]
                for i in range(dimension):
                    past_contexts[t - 1, a, i] = contexts[a, i]
            past_played[t - 1] = arm
            past_rewards[t - 1] = rewards[arm]
        if cursors.size > 0:
            cursors[0], cursors[1] = 0, 1
            arm_of[0], reward_of[0], round_of[0], chance_of[0] = arm, rewards[arm], t, p[arm]
        metrics(to_sum, t, arm)
        if t == recorded[at]:
            for a in range(selected.size):
                selected_at[at, a] = selected[a]
            for i in range(sums.size):
                sums_at[at, i] = sums[i]
            reward_at[at] = collected
            at += 1
    return 0


_FLOATS, _WHOLES = float64[::1], int64[::1]


_NEWS = (_WHOLES, _WHOLES, _FLOATS, _WHOLES, _FLOATS)


_RUN = (_FLOATS, _WHOLES, types.npy_rng, types.npy_rng, int64[:, ::1], _FLOATS, float64[:, ::1], _WHOLES)


def _called(form: CallSignature) -> tuple[Any, Any]:
    """Return the types of a function that the engine calls, and of its argument block."""
    return types.FunctionType(form.compiled), int64


_SIGNATURE = int64(
    *(*_called(RULE), *_called(DRAW), *_called(DELAY), boolean, int64, *_called(METRICS)),
    *(_FLOATS, _WHOLES, _WHOLES, _FLOATS, *_NEWS, _FLOATS, int64, *_RUN[1:]),
)


@cache
def compiled_arms_loop() -> Any:
    """Return `play_rounds`, compiled.

    Returns
    -------
    callable
        The compiled loop, one for all policies.
    """
    return compiled(play_rounds, _SIGNATURE)


_CONTEXT_SIGNATURE = int64(
    *(*_called(CONTEXT_RULE), *_called(ROUND), int64, *_called(CONTEXT_METRICS)),
    *(_FLOATS, _WHOLES, float64[:, ::1], _WHOLES, _FLOATS, _FLOATS, _FLOATS, float64[:, ::1]),
    *(float64[:, :, ::1], int64[:, ::1], _WHOLES, _FLOATS, *_NEWS, *_RUN),
)


@cache
def compiled_context_loop() -> Any:
    """Return `play_contexts`, compiled.

    Returns
    -------
    callable
        The compiled loop, one for all policies.
    """
    return compiled(play_contexts, _CONTEXT_SIGNATURE)
