"""The check that every policy passes, the package's own and a reader's."""

import dataclasses
from typing import Any

import numpy as np

from fairlib import checks
from fairlib.arms import Arms, Bandit, bernoulli
from fairlib.contexts import ContextBandit, ContextPolicy, Past, Ridge, World, sphere
from fairlib.engine import simulate
from fairlib.policy import Policy
from fairlib.result import Result


def check_policy(policy: Policy | ContextPolicy, arms: int | None = None) -> None:
    """Play a policy under observation, and say what its rule does wrong.

    The rule must give numbers in [0, 1] that sum to the number of plays; look at its arguments only, which hold
    nothing of the truth; write to nothing but `p` and its own state; play the same from the same seed; and play the
    same compiled and interpreted. No run can tell whether the truth was put into `params` beforehand.

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
    >>> def cheat(params, state, t, selected, observed, total, rng, p):
    ...     p[means.argmax()] = 1.0
    >>> check_policy(fl.Policy("cheat", cheat), arms=2)
    Traceback (most recent call last):
    ValueError: the rule of 'cheat' must look at its arguments only; it refers to 'means' (pass numbers in params)
    """
    if isinstance(policy, Policy):
        arms = checks.whole("arms", policy.arms or policy.plays + 2 if arms is None else arms, policy.plays)
        game: Bandit | ContextBandit = Bandit(bernoulli(np.linspace(0.2, 0.8, arms)), plays=policy.plays)
        names = ["params", "state", "t", "selected", "observed", "total", "rng", "p"]
    elif isinstance(policy, ContextPolicy):
        arms = checks.whole("arms", 3 if arms is None else arms, 1)
        game = ContextBandit(sphere(arms, np.linspace(0.2, 0.8, policy.dimension or 3)))
        names = ["params", "state", "t", "contexts", "groups", "ridge", "past", "rng", "p"]
    else:
        raise TypeError(f"policy must be a Policy or ContextPolicy, such as ucb1(), not {policy!r}")
    _look_outside(policy)
    mutable = {"state", "t", "rng", "p"}

    def watched(*given: Any) -> None:
        before = _arrays({name: value for name, value in zip(names, given, strict=True) if name not in mutable})
        kept = {name: array.copy() for name, array in before.items()}
        policy.rule(*given)
        for name, array in before.items():
            if not np.array_equal(array, kept[name]):
                raise ValueError(f"the rule of {policy.name!r} must not write to {name}; in round {given[2]} it did")

    def play(rule: Any, interpret: bool) -> Result:
        return simulate(game, dataclasses.replace(policy, rule=rule, interpret=interpret), 300, runs=2, seed=7)

    first = play(watched, True)
    if not _same(first, play(policy.rule, True)):
        raise ValueError(
            f"the rule of {policy.name!r} must play the same from the same seed; it has memory or chance of its own "
            "(keep memory in state, draw from rng)"
        )
    if not policy.interpret and not _same(first, play(policy.rule, False)):
        raise ValueError(
            f"the rule of {policy.name!r} must play the same compiled and interpreted (use math and loops rather than "
            "NumPy's sums and exponentials)"
        )


def _arrays(given: dict[str, Any]) -> dict[str, Any]:
    """Name every array that a rule is given, those of a `Ridge` and a `Past` as in ``ridge.mean``."""
    named: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, Ridge | Past):
            named |= {f"{name}.{part}": array for part, array in value._asdict().items()}
        else:
            named[name] = value
    return named


def _same(one: Result, other: Result) -> bool:
    return np.array_equal(one.selected, other.selected) and np.array_equal(one.reward, other.reward)


def _look_outside(policy: Policy | ContextPolicy) -> None:
    """Refuse a rule that refers to data outside its arguments: that is where a look at the truth would hide."""
    code, around = getattr(policy.rule, "__code__", None), getattr(policy.rule, "__globals__", {})
    if code is None:
        return
    outside = {name: around[name] for name in code.co_names if name in around}
    outside |= {
        name: cell.cell_contents for name, cell in zip(code.co_freevars, policy.rule.__closure__ or (), strict=True)
    }
    for name, value in outside.items():
        if isinstance(value, Arms | Bandit | World | ContextBandit | Result | np.ndarray | list | dict):
            raise ValueError(
                f"the rule of {policy.name!r} must look at its arguments only; it refers to {name!r} "
                "(pass numbers in params)"
            )
