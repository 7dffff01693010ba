"""The loops that play a game, one for arms, one for contexts: compiled, in plain Python, watched, or in a page."""

from functools import cache
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numba import boolean, float64, int64, types

from fairlib.core.arms import DELAY, DRAW, METRICS, THERE
from fairlib.core.contexts import CONTEXT_METRICS, CONTEXT_RULE, PAST, ROUND
from fairlib.core.policy import RULE
from fairlib.core.ridge import RIDGE, absorb
from fairlib.core.steps import select
from fairlib.rules.argument_block import function_at
from fairlib.rules.jit import compiled, helper

_BUCKETS = 2**18

# Each type with the one that Numba knows it by.
Address = Annotated[int, int64]
Integer = Annotated[int, int64]
Flag = Annotated[bool, boolean]
Floats = Annotated[Any, float64[::1]]
Integers = Annotated[Any, int64[::1]]
FloatTable = Annotated[Any, float64[:, ::1]]
IntegerTable = Annotated[Any, int64[:, ::1]]
Stream = Annotated[Any, types.npy_rng]


class ArmsRun(NamedTuple):
    """All that the loop on arms works with; its fields fix the call, its types, and the same in JavaScript."""

    rule_block: Address  # of the argument block of the function
    draw_block: Address
    delay_block: Address
    metrics_block: Address
    there_block: Address
    has_delay: Flag
    plays: Integer
    capacity: Integer  # how many rewards may be under way, or unread
    p: Floats
    selected: Integers
    observed: Integers
    total: Floats
    available: Integers  # 1 for each arm that is there
    cursors: Integers  # from where to where each reader has yet to read
    arms: Integers  # of the feedback that is unread, as the three below; empty if no rule reads it
    rewards: Floats
    rounds: Integers
    chances: Floats
    sums: Floats  # of the game
    recorded: Integers
    policy_rng: Stream
    env_rng: Stream
    selected_at: IntegerTable  # what is recorded, as the two below
    reward_at: Floats
    sums_at: FloatTable
    watch: Integers  # [0]: if not 0, stop; [1]: the round; [2]: 1 if the capacity is exceeded


class ContextsRun(NamedTuple):
    """All that the loop with contexts works with; fields as in `ArmsRun`, and the round that is drawn."""

    rule_block: Address
    draw_block: Address
    metrics_block: Address
    n_groups: Integer
    p: Floats
    selected: Integers
    contexts: FloatTable
    groups: Integers
    means: Floats
    rewards: Floats
    ridge: Annotated[Any, RIDGE]  # empty if the rule doesn't ask for it, as is the past
    past: Annotated[Any, PAST]
    cursors: Integers
    feedback_arms: Integers  # the play of the round before, as the three below
    feedback_rewards: Floats
    feedback_rounds: Integers
    feedback_chances: Floats
    sums: Floats
    recorded: Integers
    policy_rng: Stream
    env_rng: Stream
    selected_at: IntegerTable
    reward_at: Floats
    sums_at: FloatTable
    watch: Integers


def field_types(run: Any) -> dict[str, Any]:
    """Return the types by which Numba knows the fields of a run, in their order."""
    return {name: get_args(hint)[1] for name, hint in get_type_hints(run, include_extras=True).items()}


@helper
def enough_there(available: Any, plays: int) -> bool:
    """Say whether as many arms are there as are played, and each is there or not."""
    there = 0
    for a in range(available.size):
        if available[a] != 0 and available[a] != 1:
            return False
        there += available[a]
    return there >= plays


@helper(forceinline=False)
def play_rounds(rule: Any, draw: Any, delay: Any, metrics: Any, there: Any, run: ArmsRun) -> int:
    """Play one run; return 0, or the round in which the rule was at fault, negative if the environment was.

    Where all arms are always there, `there` is None, and the loop is compiled without what else is done for absences.
    """
    plays, has_delay, capacity, recorded, watch = run.plays, run.has_delay, run.capacity, run.recorded, run.watch
    p, selected, observed, total, sums = run.p, run.selected, run.observed, run.total, run.sums
    cursors, arms, rewards, rounds, chances = run.cursors, run.arms, run.rewards, run.rounds, run.chances
    policy_rng, env_rng, available = run.policy_rng, run.env_rng, run.available
    selected_at, reward_at, sums_at = run.selected_at, run.reward_at, run.sums_at
    number = p.size
    chosen = np.zeros(plays, np.int64)
    collected = 0.0
    reads_feedback, last = cursors.size > 0, recorded[-1]
    p_is_read = reads_feedback or sums.size > 0  # else what a rule that tells its arm leaves in p is wiped out unread
    # Feedback under way: messages in places 1, 2, ..., each in the bucket of the round in which it is due, modulo the
    # number of buckets; `free` begins the chain of those places that are free again. Here, too, what is never written
    # takes no memory.
    buckets = 1
    while has_delay and buckets < min(last + 1, _BUCKETS):
        buckets *= 2
    first, free, used = np.zeros(buckets, np.int64), 0, 0
    places = capacity + 1 if has_delay else 0
    following, due, arm_of = np.empty(places, np.int64), np.empty(places, np.int64), np.empty(places, np.int64)
    reward_of = np.empty(places)
    places = places if reads_feedback else 0
    round_of, chance_of = np.empty(places, np.int64), np.empty(places)
    at = 0
    for t in range(1, last + 1):
        if watch[0] != 0:
            return 0
        watch[1] = t
        if there is not None:
            there(run.there_block, t, env_rng)
            if not enough_there(available, plays):
                return -t
        for a in range(number):
            p[a] = 0.0
        action = rule(run.rule_block, t, policy_rng)
        u = policy_rng.random()
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
        if there is not None:
            for a in range(number):
                if available[a] == 0 and (a == action or (action == -1 and p[a] > 0.0)):
                    return t
        if reads_feedback:
            unread = False
            for j in range(0, cursors.size, 2):
                unread = unread or cursors[j] < cursors[j + 1]
            if not unread:
                for j in range(cursors.size):
                    cursors[j] = 0
        for j in range(plays):
            arm = chosen[j]
            x = draw(run.draw_block, arm, env_rng)
            if not -np.inf < x < np.inf:
                return -t
            selected[arm] += 1
            collected += x
            wait = delay(run.delay_block, arm, x, env_rng) if has_delay else 0
            if wait == 0:
                observed[arm] += 1
                total[arm] += x
                if reads_feedback:
                    if cursors[1] == capacity:
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
                elif used < capacity:
                    used += 1
                    message = used
                else:
                    watch[2] = 1
                    return 0
                bucket = (t + wait) & (buckets - 1)
                arm_of[message], reward_of[message], due[message] = arm, x, t + wait
                if reads_feedback:
                    round_of[message], chance_of[message] = t, p[arm]
                following[message], first[bucket] = first[bucket], message
        if has_delay:
            bucket = t & (buckets - 1)
            before, message = 0, first[bucket]
            while message > 0:
                after = following[message]
                if due[message] > t:
                    before = message
                else:
                    if before > 0:
                        following[before] = after
                    else:
                        first[bucket] = after
                    following[message], free = free, message
                    observed[arm_of[message]] += 1
                    total[arm_of[message]] += reward_of[message]
                    if reads_feedback:
                        if cursors[1] == capacity:
                            watch[2] = 1
                            return 0
                        arms[cursors[1]], rewards[cursors[1]] = arm_of[message], reward_of[message]
                        rounds[cursors[1]], chances[cursors[1]] = round_of[message], chance_of[message]
                        for i in range(1, cursors.size, 2):
                            cursors[i] += 1
                message = after
        if sums.size > 0:
            metrics(run.metrics_block, t)
        if t == recorded[at]:
            for a in range(selected.size):  # slices would take two seconds more to compile
                selected_at[at, a] = selected[a]
            for i in range(sums.size):
                sums_at[at, i] = sums[i]
            reward_at[at] = collected
            at += 1
    return 0


@helper(forceinline=False)
def play_contexts(rule: Any, draw: Any, metrics: Any, run: ContextsRun) -> int:
    """Play one run with contexts; return as `play_rounds` does."""
    recorded, watch, p, selected, sums = run.recorded, run.watch, run.p, run.selected, run.sums
    contexts, groups, means, rewards = run.contexts, run.groups, run.means, run.rewards
    mean, root, cursors = run.ridge.mean, run.ridge.root, run.cursors
    past_contexts, past_groups = run.past.contexts, run.past.groups
    past_played, past_rewards = run.past.played, run.past.rewards
    arm_of, reward_of = run.feedback_arms, run.feedback_rewards
    round_of, chance_of = run.feedback_rounds, run.feedback_chances
    policy_rng, env_rng = run.policy_rng, run.env_rng
    selected_at, reward_at, sums_at = run.selected_at, run.reward_at, run.sums_at
    arms, dimension = contexts.shape
    chosen = np.zeros(1, np.int64)
    collected = 0.0
    at = 0
    for t in range(1, recorded[-1] + 1):
        if watch[0] != 0:
            return 0
        watch[1] = t
        draw(run.draw_block, env_rng)
        for a in range(arms):
            p[a] = 0.0
            fine = 0 <= groups[a] < run.n_groups and -np.inf < means[a] < np.inf and -np.inf < rewards[a] < np.inf
            for i in range(dimension):
                fine = fine and -np.inf < contexts[a, i] < np.inf
            if not fine:
                return -t
        action = rule(run.rule_block, t, policy_rng)
        u = policy_rng.random()
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
        metrics(run.metrics_block, t, arm)
        if t == recorded[at]:
            for a in range(selected.size):
                selected_at[at, a] = selected[a]
            for i in range(sums.size):
                sums_at[at, i] = sums[i]
            reward_at[at] = collected
            at += 1
    return 0


_rule, _draw, _delay, _metrics, _there = (function_at(each.compiled) for each in (RULE, DRAW, DELAY, METRICS, THERE))
_context_rule, _round, _context_metrics = (
    function_at(each.compiled) for each in (CONTEXT_RULE, ROUND, CONTEXT_METRICS)
)


def _arms_loop(functions: Any, run: ArmsRun) -> int:
    """Play one run; the functions are given by their addresses."""
    rule, draw, delay, metrics = functions
    return play_rounds(_rule(rule), _draw(draw), _delay(delay), _metrics(metrics), None, run)


def _arms_loop_there(functions: Any, run: ArmsRun) -> int:
    """Play one run in which arms come and go; the functions are given by their addresses."""
    rule, draw, delay, metrics, there = functions
    return play_rounds(_rule(rule), _draw(draw), _delay(delay), _metrics(metrics), _there(there), run)


def _context_loop(functions: Any, run: ContextsRun) -> int:
    """Play one run with contexts; the functions are given by their addresses."""
    rule, draw, metrics = functions
    return play_contexts(_context_rule(rule), _round(draw), _context_metrics(metrics), run)


@cache
def compiled_loop(run: Any, called: int) -> Any:
    """Return the loop for `ArmsRun` or `ContextsRun`, compiled; it takes the addresses of what it calls, and a run."""
    loop: Any = {3: _context_loop, 4: _arms_loop, 5: _arms_loop_there}[called]
    signature = int64(types.UniTuple(int64, called), types.NamedTuple(list(field_types(run).values()), run))
    return compiled(loop, signature)
