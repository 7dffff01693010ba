"""The check that every policy must pass, the package's own and a reader's: what a rule does, not what it names."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np

from fairlib import checks
from fairlib.core.arms import Bandit, bernoulli
from fairlib.core.contexts import ContextBandit, ContextPolicy, sphere
from fairlib.core.policy import Policy
from fairlib.engine.runner import check_memory
from fairlib.engine.seeding import root
from fairlib.engine.session import AnyPolicy, ArmsSession, Session, make_session
from fairlib.engine.trace import record
from fairlib.rules.argument_block import BlockCall

_PLAIN, _SWIFT = 300, 3000  # rounds in plain Python, where a rule is slow, and compiled


def check_policy(policy: AnyPolicy, arms: int | None = None) -> None:
    """Watch a policy play, and say what its rule does wrong.

    *It must keep to what is its own*: play the same from the same seed, so have neither memory nor chance but what it
    asks for. (To anything but `p` and its memory no rule can write, whoever plays it.)

    *It must know no more than it is given.* The policy plays again in a world whose arms are relabelled, but where it
    sees the same. It must play the same there.

    *It must answer* with an arm of the game, or with numbers in [0, 1] that sum to the number of plays, and answer the
    same compiled and in plain Python. It must not index past the end of its arrays, nor divide a whole number by 0.

    The check judges what is played, in 300 rounds in plain Python and 3,000 compiled (300 if the rule asks for `past`),
    all without delays. It can't see where a rule's numbers come from: the truth may be among its settings, in its code,
    or beside it. Wrong answers are refused by every game in every round.

    Parameters
    ----------
    policy : Policy or ContextPolicy
        The policy.
    arms : int, optional
        Number of arms to try it on, at least the policy's number of plays; by default those that it is made for, or
        else two more than it plays.

    Raises
    ------
    TypeError, ValueError
        If `policy` is neither a `Policy` nor a `ContextPolicy`, or `arms` is too small, or when the rule breaks one of
        the conditions above.
    MemoryError
        If so many arms need more memory than there is.

    Warns
    -----
    UserWarning
        If the rule can't be compiled: why. It is then checked in plain Python only.

    Examples
    --------
    >>> import fairlib as fl
    >>> check_policy(fl.ucb1())
    >>> def forges(seen, p):
    ...     seen.total[0] += 1
    ...     return 0
    >>> check_policy(fl.Policy("forges", forges))
    Traceback (most recent call last):
    ValueError: the rule of 'forges', or a draw of your own, must not write to its settings or to what it has seen; \
in round 1 of run 0 it did
    """
    if isinstance(policy, Policy):
        arms = checks.integer("arms", policy.arms or policy.plays + 2 if arms is None else arms, policy.plays)
        numbers, truth_size = 6 * arms, arms
    elif isinstance(policy, ContextPolicy):
        arms = checks.integer("arms", policy.arms or 3 if arms is None else arms, 1)
        truth_size = policy.dimension or 3
        numbers = arms * (5 + truth_size)
    else:
        raise TypeError(f"policy must be a Policy or ContextPolicy, such as ucb1(), not {checks.shown(policy)}")
    swift = _PLAIN if policy.bound_rule.asks("past") else _SWIFT  # to look at all of a long past would take long
    plain, swift = (min(rounds, policy.horizon or rounds) for rounds in (_PLAIN, swift))
    check_memory(8 * swift * numbers, f"to watch {policy.name!r} play {arms:,} arms", "try it on fewer arms")
    truth = np.linspace(0.2, 0.8, truth_size)
    with _faults_said(policy):
        plainly = policy.replace(interpret=True)
        games = (_game(policy, arms, each) for each in (truth, np.roll(truth, 1)))
        game, relabelled = (make_session(each, plainly, plain) for each in games)
        first = record(game, root(7))
        if t := _parting(first, record(_told(relabelled, first), root(7))):
            raise ValueError(
                f"the rule of {policy.name!r} must play the same where it sees the same; in a second game, with other "
                f"arms but the same rewards, it played otherwise in round {t}: it has memory or chance of its own, or "
                "looks past its arguments (keep memory in arguments such as low: PerArm, draw from rng)"
            )
        if policy.interpret:
            return
        compiled = make_session(_game(policy, arms, truth), policy, swift)
        if not isinstance(compiled.rule, BlockCall):
            return
        # A difference in the last bit of a probability changes the play in one game in 10^16, but it does change it.
        if t := _parting(first, record(compiled, root(7))):
            raise ValueError(
                f"the rule of {policy.name!r} must play the same compiled and interpreted (use math and loops rather "
                f"than NumPy's sums and exponentials, and numbers below 2**63); in round {t} it did not"
            )


def _game(policy: Any, arms: int, truth: Any) -> Any:
    """Return a game of the policy's kind with a truth: the means of the arms, or the parameter of a sphere."""
    if isinstance(policy, Policy):
        return Bandit(bernoulli(truth), plays=policy.plays)
    world = sphere(arms, truth)
    world.groups = policy.groups or 1
    return ContextBandit(world)


@contextmanager
def _faults_said(policy: Any) -> Iterator[None]:
    """Refuse a rule that breaks off, or divides a whole number by 0: NumPy warns of that, and compiled code goes on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", r"divide by zero .*(floor_divide|remainder|divmod)", RuntimeWarning)
        try:
            yield
        except (IndexError, ZeroDivisionError) as error:
            raise ValueError(str(error)) from error
        except RuntimeWarning as error:
            raise ValueError(f"the rule of {policy.name!r} must not divide by 0 with // or %: {error}") from error


def _parting(told: list[Any], steps: list[Any]) -> int:
    """Return the first round in which other arms are played, or with other probabilities, or 0."""
    for one, other in zip(told, steps, strict=False):
        if not (np.array_equal(one.p, other.p) and np.array_equal(one.played, other.played)):
            return int(one.t)
    return 0


def _told(game: Session, steps: list[Any]) -> Session:
    """Return a game whose draws are those of the rounds of another."""
    other = copy(game)
    rewards, rounds = iter(np.concatenate([step.rewards for step in steps]).tolist()), iter(steps)

    def draw(table: Any, rng: Any, contexts: Any, groups: Any, means: Any, rewards: Any) -> None:
        step = next(rounds)
        contexts[:], groups[:], rewards[:] = step.now.contexts, step.now.groups, step.rewards[0]

    other.draw = (lambda table, arm, rng: next(rewards)) if isinstance(game, ArmsSession) else draw
    return other
