"""The check that every policy must pass, the package's own and a reader's.

It looks in two ways. First it reads the code of the rule, and of all functions of the reader's that it calls: outside
their arguments these may find functions, modules and the numbers of `math`, and nothing that could hold the truth. Then
it watches the policy play: twice from the same seed, in a world with relabelled arms where it sees the same, and both
compiled and in plain Python.
"""

import builtins
import inspect
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from functools import partial
from itertools import islice
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np
from numba.core.dispatcher import Dispatcher

from fairlib import checks
from fairlib.core.arms import Bandit, bernoulli
from fairlib.core.contexts import ContextBandit, ContextPolicy, sphere
from fairlib.core.policy import Policy
from fairlib.engine.runner import check_memory
from fairlib.engine.seeding import root, streams
from fairlib.engine.stepping import AnyPolicy, ArmsSession, GivenArms, Session, make_session
from fairlib.rules.argument_block import BlockCall
from fairlib.rules.rule import Rule
from fairlib.rules.snapshot import PACKAGE, is_library, names_used

_PLAIN, _SWIFT = 300, 3000  # rounds in plain Python, where a rule is slow, and compiled

# What a rule may use without being given it. The numbers and builtins compute and nothing else; other modules of
# Python's own can look at what is going on around them, or at files.
_NUMBERS = {math.pi, math.e, math.tau, math.inf}
_BUILTINS = (
    *(abs, all, any, bin, bool, bytearray, bytes, callable, chr, complex, dict, divmod, enumerate, filter, float),
    *(format, frozenset, hash, hex, int, isinstance, issubclass, iter, len, list, map, max, min, next, oct, ord, pow),
    *(print, range, repr, reversed, round, set, slice, sorted, str, sum, tuple, type, zip),
)
_MODULES = {"bisect", "cmath", "collections", "fractions", "functools", "heapq", "itertools", "math", "statistics"}

# Attributes that lead out of what a rule is given: to the seed, from which all streams could be made, and to the
# frames of those who call it. Those with two underscores do, too.
_DOORS = {"bit_generator", "gi_frame", "cr_frame", "ag_frame"}


def check_policy(policy: AnyPolicy, arms: GivenArms | None = None) -> None:
    """Look at a policy's rule and at what it plays, and say what it does wrong.

    *It must look at its arguments only.* The code of the rule is read, and of each function of yours that it calls, or
    that a merit function or a learner among its settings calls. Besides their arguments these may use functions,
    modules, and the numbers of `math`. They may use no other number, no array, string, class or other object, whether
    it is defined beside the function, in a closure or a module, or is a helper's default or a function's attribute; no
    module of Python's that can look around, such as `sys`; and no chance but `rng`. Then the policy plays again, in a
    world whose arms are relabelled and whose random stream is another, but where it sees the same. It must play the
    same there.

    *It must keep to what is its own*: write to `p` and to its memory only, and play the same from the same seed.

    *It must answer* with an arm of the game, or with numbers in [0, 1] that sum to the number of plays, and answer the
    same compiled and in plain Python. It must not index past the end of its arrays, nor divide a whole number by 0.

    The check can't see whether the truth is among the policy's settings, to which the defaults of the rule's own
    arguments belong, or is a number in its code; what a function of an installed library does, which could read a file;
    and what comes after the rounds that are watched, 300 in plain Python and 3,000 compiled (300 if it asks for
    `past`), all without delays. Wrong answers are refused by every game in every round. So the check finds mistakes and
    plain cheating. It does not stop a reader who means to deceive it.

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
    >>> means = np.array([0.1, 0.9])
    >>> def best():
    ...     return means.argmax()
    >>> def cheat(p):
    ...     return best()
    >>> check_policy(fl.Policy("cheat", cheat), arms=2)
    Traceback (most recent call last):
    ValueError: the rule of 'cheat' must look at its arguments only; it refers to 'means' in 'best' (make it a setting)
    """
    if isinstance(policy, Policy):
        arms = checks.integer("arms", policy.arms or policy.plays + 2 if arms is None else arms, policy.plays)
        check_memory(8 * _PLAIN * 5 * arms, f"to watch {policy.name!r} play {arms:,} arms", "try it on fewer arms")
        truth = np.linspace(0.2, 0.8, arms)
        worlds: list[Any] = [Bandit(bernoulli(np.roll(truth, by)), plays=policy.plays) for by in (0, 1)]
    elif isinstance(policy, ContextPolicy):
        arms = checks.integer("arms", policy.arms or 3 if arms is None else arms, 1)
        numbers = arms * (4 + (policy.dimension or 3))
        check_memory(8 * _PLAIN * numbers, f"to watch {policy.name!r} play {arms:,} arms", "try it on fewer arms")
        truth = np.linspace(0.2, 0.8, policy.dimension or 3)
        worlds = [ContextBandit(sphere(arms, np.roll(truth, by))) for by in (0, 1)]
    else:
        raise TypeError(f"policy must be a Policy or ContextPolicy, such as ucb1(), not {checks.shown(policy)}")
    _look_outside(policy)
    with _faults_said(policy):
        plain, relabelled = (make_session(world, policy.replace(interpret=True)) for world in worlds)
        first = list(islice(_rounds(plain, _watched(plain), kept=True), _PLAIN))
        if _parting(first, _rounds(plain, plain.rule)):
            raise ValueError(
                f"the rule of {policy.name!r} must play the same from the same seed; it has memory or chance of its "
                "own (keep memory in arguments such as low: PerArm, draw from rng)"
            )
        if t := _parting(first, _rounds(relabelled, _watched(relabelled), told=first)):
            raise ValueError(
                f"the rule of {policy.name!r} must look at its arguments only; in a world with relabelled arms, where "
                f"it saw the same, it played otherwise in round {t}"
            )
        if policy.interpret:
            return

        swift = make_session(worlds[0], policy)
        if not isinstance(swift.rule, BlockCall):
            return
        rest = _rounds(swift, _watched(swift))
        # A difference in the last bit of a probability changes the play in one game in 10^16, but it does change it.
        if t := _parting(first, rest):
            raise ValueError(
                f"the rule of {policy.name!r} must play the same compiled and interpreted (use math and loops rather "
                f"than NumPy's sums and exponentials, and numbers below 2**63); in round {t} it did not"
            )
        for _ in rest:  # what is wrong later it says itself
            pass


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


def _rounds(
    game: Session, rule: Callable[..., Any], told: list[Any] | None = None, kept: bool = False
) -> Iterator[Any]:
    """Play a game, always from the same seed; or replay what happened in another, by a stream that hides its seed.

    The rounds that are yielded change later, unless they are to be kept.
    """
    other: Any = copy(game)
    other.rule = rule
    policy_rng, env_rng = streams(root(7), 0)
    if told is not None:
        other.draw = _telling(told, isinstance(game, ArmsSession))
        state = policy_rng.bit_generator.state
        policy_rng, env_rng = streams(root(8), 0)
        policy_rng.bit_generator.state = state
    horizon = _PLAIN if game.policy.bound_rule.asks("past") else _SWIFT  # to look at all of a long past would take long
    horizon = min(horizon, game.policy.horizon or horizon)
    steps: Iterator[Any] = other.rounds(horizon, policy_rng, env_rng, 0, watched=kept)
    return steps


def _parting(told: list[Any], steps: Iterator[Any]) -> int:
    """Return the first round in which other arms are played, or with other probabilities, or 0."""
    for one, other in zip(told, steps, strict=False):
        if not (np.array_equal(one.p, other.p) and np.array_equal(one.played, other.played)):
            return int(one.t)
    return 0


def _telling(told: list[Any], on_arms: bool) -> Callable[..., Any]:
    """Return a function that draws rewards, or rounds with contexts, as they were drawn before."""
    if on_arms:
        rewards = iter(np.concatenate([step.rewards for step in told]).tolist())
        return lambda table, arm, rng: next(rewards)
    rounds = iter(told)

    def draw(table: Any, rng: Any, contexts: Any, groups: Any, means: Any, rewards: Any) -> None:
        step = next(rounds)
        contexts[:], groups[:], rewards[:] = step.now.contexts, step.now.groups, step.rewards[0]
        means[:] = np.roll(step.means, 1)  # which no rule sees

    return draw


# The rule's names of the engine's arrays. It may write to its memory, to `p`, and to the cursors of the feedback.
_NAMES = {"params": "its settings", "selected": "seen.selected", "observed": "seen.observed", "total": "seen.total"}
_NAMES |= {"arms": "feedback.arm", "rewards": "feedback.reward"}
_NAMES |= {"rounds": "feedback.round", "chances": "feedback.chance"}
_NAMES |= {"contexts": "now.contexts", "groups": "now.groups", "ridge": "ridge", "past": "past"}


def _watched(game: Session) -> Callable[..., Any]:
    """Return a game's rule, which raises an error when it writes to what is not its own.

    In plain Python it is given copies, so that one that keeps them does not see what comes later.
    """
    names, rule = game.policy.form.flat.split(", "), game.rule
    copied = not isinstance(rule, BlockCall)

    def watched(*given: Any) -> Any:
        passed = dict(zip(names, given, strict=True))
        before = {name: _bytes(passed[name]) for name in passed if name in _NAMES}
        if copied:
            passed |= {name: _copied(passed[name]) for name in before}
        answer = rule(*passed.values())
        for name in before:
            for part, was, now in zip(*before[name], _bytes(passed[name])[1], strict=True):
                if was != now:
                    raise ValueError(
                        f"the rule of {game.policy.name!r} must not write to {_NAMES[name]}{part}; in round "
                        f"{passed['t']} it did"
                    )
        return answer

    return watched


def _bytes(value: Any) -> tuple[list[str], list[bytes]]:
    """Return what is in an array, or in those of a named tuple, with their names."""
    if isinstance(value, tuple):
        return [f".{name}" for name in value._fields], [each.tobytes() for each in value]  # type: ignore[attr-defined]
    return [""], [value.tobytes()]


def _copied(value: Any) -> Any:
    return type(value)(*(each.copy() for each in value)) if isinstance(value, tuple) else value.copy()


class _Forbidden(NamedTuple):
    """A stand-in for what a function finds: what it does is refused whatever it finds, with a hint."""

    hint: str = ""


def _look_outside(policy: Policy | ContextPolicy) -> None:
    """Refuse a rule that finds something outside its arguments that could hold the truth, or lead to it."""
    given = [each for each in policy.bound_rule.layout().functions.values() if not isinstance(each, type)]
    own = [each for each in given if not (isinstance(each, partial) and _is_lent(each.func))]  # the package's own
    for function in own:
        if not isinstance(function, FunctionType):
            raise ValueError(
                f"the rule of {policy.name!r} must be a function that is defined by def or lambda, so that it can be "
                f"looked at, not a {type(function).__name__}"
            )
    waiting, known = list(own), set(own)
    while waiting:
        function = waiting.pop()
        if _is_lent(function):
            continue
        # The defaults of the rule's own arguments are settings.
        for what, value in _found(function, with_defaults=function not in own):
            value = value.py_func if isinstance(value, Dispatcher) else value
            value = value.function if isinstance(value, Rule) else value
            hint = _objection(value)
            if hint is not None:
                place = "" if function in own else f" in {function.__name__!r}"
                raise ValueError(f"the rule of {policy.name!r} must look at its arguments only; it {what}{place}{hint}")
            if isinstance(value, FunctionType) and value not in known:
                known.add(value)
                waiting.append(value)


def _found(function: FunctionType, with_defaults: bool) -> Iterator[tuple[str, Any]]:
    """Yield what a function finds outside its arguments, step by step, and each thing it does that is refused."""
    closed = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # it is empty
            closed[name] = cell.cell_contents
    found = closed | {f"{function.__name__}.{name}": value for name, value in vars(function).items()}
    if with_defaults:
        given = inspect.signature(function, follow_wrapped=False).parameters.values()
        found |= {each.name: each.default for each in given if each.default is not each.empty}
    yield from ((f"refers to {name!r}", value) for name, value in found.items())
    module: Any = None  # that the step before has found
    handed = ""  # its name
    for kind, name, names, _ in names_used(function):
        before, module = module, None
        value: Any = None
        path = ".".join(names)
        if before is not None:
            if kind != "attribute":
                yield f"hands on the module {handed!r}", _Forbidden(" (call its functions by their names)")
            path, value = path or f"{handed}.{name}", getattr(before, str(name), None)
            if isinstance(value, FunctionType) or not (callable(value) and _is_library(before.__name__)):
                yield f"refers to {path!r}", value
        elif kind == "global":
            value = function.__globals__.get(name, getattr(builtins, name, None))
            yield f"refers to {name!r}", value
        elif kind == "free":
            value = closed.get(name)
        elif kind in ("STORE_ATTR", "DELETE_ATTR", "STORE_GLOBAL", "DELETE_GLOBAL") or (
            kind in ("STORE_DEREF", "DELETE_DEREF") and name in function.__code__.co_freevars
        ):
            yield f"sets {name!r}", _Forbidden(" (keep memory in arguments such as low: PerArm)")
        elif kind == "LOAD_BUILD_CLASS":
            yield "defines a class", _Forbidden(" (write it as functions)")
        elif kind == "IMPORT_NAME":
            yield f"imports {name!r}", _Forbidden(" (import it outside, where it can be looked at)")
        elif (kind == "attribute" or kind.endswith(("_ATTR", "_METHOD"))) and (name in _DOORS or name.startswith("__")):
            yield f"asks for {name!r}", _Forbidden()
        module, handed = (value if isinstance(value, ModuleType) else None), path


def _objection(value: Any) -> str | None:
    """Return nothing if a function may find this outside its arguments, else what to do instead, if there is a hint."""
    if isinstance(value, _Forbidden):
        return value.hint
    if value is None or _is_lent(value) or (isinstance(value, float) and (value != value or abs(value) in _NUMBERS)):
        return None
    module = getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", None) or ""
    if isinstance(value, ModuleType | FunctionType) and _is_open(module):
        return None
    if isinstance(value, ModuleType) or module in sys.stdlib_module_names:
        return ""
    return " (write it as a function)" if callable(value) else " (make it a setting)"


def _is_open(module: str) -> bool:
    """Say whether a module may be used: most of Python's own not, but all others."""
    top = module.partition(".")[0]
    return top in _MODULES or top not in sys.stdlib_module_names


def _is_library(module: str) -> bool:
    """Say whether a module is this package's, an installed library's, or one of Python's that only compute."""
    top = module.partition(".")[0]
    return _is_open(module) and (top in {"fairlib", *_MODULES} or (top != "__main__" and is_library(module)))


def _is_lent(value: Any) -> bool:
    """Say whether something is a function or a type of such a module, which is not looked into."""
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", None) or ""
    if isinstance(value, FunctionType):  # in an example of the package's the module is the package's, too
        ours = value.__code__.co_filename.startswith(str(PACKAGE))
        return ours or (not module.startswith("fairlib") and _is_library(module))
    if module == "builtins":
        return any(value is each for each in _BUILTINS) or (
            isinstance(value, type) and issubclass(value, BaseException)
        )
    known = _is_library(module) and getattr(sys.modules.get(module), name, None) is value
    return known or isinstance(value, np.ufunc)
