"""The check that every policy passes, the package's own and a reader's."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fairlib import checks
from fairlib.arms import Arms, Bandit, bernoulli
from fairlib.compilation import reached
from fairlib.contexts import ContextBandit, ContextPolicy, World, sphere
from fairlib.engine import simulate
from fairlib.policy import Policy
from fairlib.result import Result
from fairlib.rules import Learner
from fairlib.stepping import trace


def check_policy(policy: Policy | ContextPolicy, arms: int | None = None) -> None:
    """Play a policy under observation, and say what its rule does wrong.

    The rule must return an arm that there is, or give numbers in [0, 1] that sum to the number of plays; look at its
    arguments only, which hold nothing of the truth; write to nothing but `p` and its own memory; play the same from the
    same seed; and play the same compiled and interpreted. No run can tell whether the truth is among its settings.

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

    Examples
    --------
    >>> import fairlib as fl
    >>> check_policy(fl.ucb1())
    >>> means = np.array([0.1, 0.9])
    >>> def cheat(p):
    ...     return means.argmax()
    >>> check_policy(fl.Policy("cheat", cheat), arms=2)
    Traceback (most recent call last):
    ValueError: the rule of 'cheat' must look at its arguments only; it refers to 'means' (make it a setting)
    """
    if isinstance(policy, Policy):
        arms = checks.whole("arms", policy.arms or policy.plays + 2 if arms is None else arms, policy.plays)
        game: Bandit | ContextBandit = Bandit(bernoulli(np.linspace(0.2, 0.8, arms)), plays=policy.plays)
    elif isinstance(policy, ContextPolicy):
        arms = checks.whole("arms", 3 if arms is None else arms, 1)
        game = ContextBandit(sphere(arms, np.linspace(0.2, 0.8, policy.dimension or 3)))
    else:
        raise TypeError(f"policy must be a Policy or ContextPolicy, such as ucb1(), not {policy!r}")
    _look_outside(policy)

    def play(rule: Any, interpret: bool) -> Result:
        return simulate(game, policy.replace(rule=rule, interpret=interpret), 300, runs=2, seed=7)

    first = play(_watched(policy), True)
    if not _same(first, play(policy.rule, True)):
        raise ValueError(
            f"the rule of {policy.name!r} must play the same from the same seed; it has memory or chance of its own "
            "(keep memory in arguments such as low: PerArm, draw from rng)"
        )
    if policy.interpret:
        return

    def chances(interpret: bool) -> list[Any]:
        return [step.p for step in trace(game, policy.replace(interpret=interpret), 300, seed=7)]

    # A difference in the last bit of a probability is other play in one game in 10^16, but other play it is.
    if not (_same(first, play(policy.rule, False)) and np.array_equal(chances(True), chances(False))):
        raise ValueError(
            f"the rule of {policy.name!r} must play the same compiled and interpreted (use math and loops rather than "
            "NumPy's sums and exponentials)"
        )


def _watched(policy: Policy | ContextPolicy) -> Callable[..., Any]:
    """Return the policy's rule, which is to say so when it writes to what it must not."""
    rule = policy.rule
    open_to_it = {"p", "rng", *rule.memory}
    rounds = {"number": 0}

    def watched(*given: Any, **named: Any) -> Any:
        passed = {**dict(zip(rule.arguments, given, strict=False)), **named}
        kept = {name: value for name, value in passed.items() if name not in open_to_it}
        before = [(name, array, array.copy()) for name, array in _arrays(kept)]
        rounds["number"] = rounds["number"] % 300 + 1
        answer = rule.function(*given, **named)
        for name, array, copy in before:
            if not np.array_equal(array, copy):
                raise ValueError(
                    f"the rule of {policy.name!r} must not write to {name}; in round {rounds['number']} it did"
                )
        return answer

    watched.__signature__ = inspect.signature(rule.function, eval_str=True)  # type: ignore[attr-defined]
    watched.__name__ = rule.__name__
    return watched


def _arrays(given: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Name every array that a rule is given, those in a tuple such as `Seen` as in ``seen.total``."""
    for name, value in given.items():
        if isinstance(value, np.ndarray):
            yield name, value
        elif hasattr(value, "_asdict"):
            own = ("state", "mail") if isinstance(value, Learner) else ()  # a learner's memory, and what it has read
            inside = {part: array for part, array in value._asdict().items() if part not in own}
            yield from _arrays({f"{name}.{part}": array for part, array in inside.items()})


def _same(one: Result, other: Result) -> bool:
    return np.array_equal(one.selected, other.selected) and np.array_equal(one.reward, other.reward)


def _look_outside(policy: Policy | ContextPolicy) -> None:
    """Refuse a rule that refers to data outside its arguments: that is where a look at the truth would hide."""
    if not hasattr(policy.rule.function, "__code__"):
        return
    for name, value in reached(policy.rule.function):
        if isinstance(value, Arms | Bandit | World | ContextBandit | Result | np.ndarray | list | dict):
            raise ValueError(
                f"the rule of {policy.name!r} must look at its arguments only; it refers to {name!r} "
                "(make it a setting)"
            )
