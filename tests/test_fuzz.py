"""Every argument of every public function, given every odd value: taken for what it means, or refused by its name.

A call with one odd value comes out in one of these ways, and only the first three are as they should be:

* `taken`: the argument may be this, and what comes of it is what comes of the plain number, list or text;
* `refused`: TypeError or ValueError, in a sentence of ours that names the argument;
* `said`: an error of another kind that the documentation states, such as a file that is not there;
* `poor`: any other error, a warning, or no answer within some seconds;
* `nonsense`: taken, though the argument may not be this, or for something else than it means.

With ``FUZZ=full`` in the environment all values are tried, else some of them. Each constraint is tried by itself with
all of them and with numbers at its ends. Which constraint an argument has is compared with what is stored, which
``pytest tests/test_fuzz.py --refresh-references`` stores anew.
"""

import inspect
import itertools
import math
import os
import random
import re
import signal
import sqlite3
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache, partial
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pytest
from fuzz_calls import EXCEPTIONS, Argument, Call, UnfitError, calls, closed_in_the_end, judged, put_files
from odd_values import VALUES, CalledError
from references import Store, compare

import fairlib as fl
from fairlib import checks
from fairlib.baselines import linear
from fairlib.deploy import Service

FULL = os.environ.get("FUZZ") == "full"
PATIENCE = 20  # seconds
SAMPLE = 4  # values of each argument, where not all are tried
COUNTS: Counter[str] = Counter()
STORE = Store(Path(__file__).parents[1], "arguments")
ENDS = (0, 1, 1e-75, 1e75, 1e150, 2**53)  # where probabilities, scales, squares and whole numbers end


# What comes of a call ------------------------------------------------------------------------------------------------


def meaning(thing: Any, depth: int = 0) -> Any:
    """Return what can be compared: numbers of every type, lists, and what policies and games play."""
    if thing is None or isinstance(thing, str | bytes) or depth > 6:
        return thing if depth <= 6 else "..."
    if isinstance(thing, bool | np.bool_ | int | float | np.number):
        return thing if isinstance(thing, int) else "nan" if thing != thing else float(thing)
    if isinstance(thing, np.ndarray):
        return meaning(thing.tolist(), depth + 1)
    if isinstance(thing, fl.Policy | fl.ContextPolicy):
        return [repr(thing), thing.bound_rule.mark, thing.horizon, played(thing)]
    if isinstance(thing, fl.Bandit | fl.ContextBandit):
        return [meaning(vars(thing), depth + 1), watched(thing)]
    if isinstance(thing, fl.Player):
        return played_on(thing)
    if isinstance(thing, dict | types.MappingProxyType):
        return {str(name): meaning(each, depth + 1) for name, each in thing.items()}
    if isinstance(thing, types.GeneratorType):
        return [meaning(each, depth + 1) for each in thing]
    if isinstance(thing, list | tuple):
        return [meaning(each, depth + 1) for each in thing]
    if inspect.isroutine(thing) or inspect.isclass(thing) or isinstance(thing, types.ModuleType):
        return getattr(thing, "__qualname__", "")
    if type(thing).__module__.startswith("fairlib") and hasattr(thing, "__dict__"):
        return {name: meaning(each, depth + 1) for name, each in vars(thing).items() if name not in PRIVATE}
    if isinstance(thing, Path):
        return str(thing)
    return type(thing).__name__


PRIVATE = {"given", "_lock", "_db", "_path", "_layout", "_functions", "_plain", "form"}


def played(policy: Any) -> Any:
    policy = policy.replace(interpret=True)
    contextual = isinstance(policy, fl.ContextPolicy)
    more: Any = {"dimension": policy.dimension or 2, "groups": 2} if contextual else {}
    arms = policy.arms if not contextual and policy.arms else max(2, getattr(policy, "plays", 1))
    return played_on(fl.Player(policy, arms, horizon=min(policy.horizon or 6, 6), **more))


def played_on(player: Any) -> Any:
    rng, said = np.random.default_rng(3), []
    for _ in range(min(player.horizon or 6, 6)):
        contexts = (rng.random((player.arms, player._sizes["d"])),) if player._agent.contextual else ()
        with np.errstate(over="ignore"):  # as in a compiled rule, an index may be infinite
            choice = player.choose(*contexts)
        said.append(meaning(choice))
        for arm in choice.arms:
            player.observe(choice.round, min(max(0.5 * (arm % 3), player.rewards[0]), player.rewards[1]), arm)
    return said


def watched(game: Any) -> Any:
    policy = fl.uniform(game.plays) if isinstance(game, fl.Bandit) else linear.at_random()
    result = fl.simulate(game, policy.replace(interpret=True), 4)
    return meaning({name: each for name, each in vars(result).items() if name != "versions"})


@contextmanager
def in_time() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError(f"no answer within {PATIENCE} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcome(call: Call, **changed: Any) -> Any:
    """Return the outcome of a call; warnings are errors, except those that the package gives."""
    given = {name: known.made() for name, known in call.arguments.items()} | changed
    with warnings.catch_warnings(), in_time():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        made = call.made()(**given)
        return meaning(closed_in_the_end(made) if isinstance(made, Service) else made)


def is_package_function(error: BaseException) -> bool:
    """Say whether a line of the package raised the error."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Path(last.filename).is_relative_to(Path(fl.__file__).parent)


def tried(call: Call, name: str, make: Callable[[], Any]) -> tuple[str, str]:
    """Return how a call with one odd value comes out, and why."""
    try:
        plain = call.arguments[name].judge(make())
    except UnfitError:
        fits = False
    else:
        fits = True
    try:
        found = outcome(call, **{name: make()})
    except (TypeError, ValueError) as error:
        said, value = str(error), make()
        words = [name, "'own'", *call.arguments[name].also, getattr(value, "__name__", type(value).__name__)]
        words += [Path(value).name] if name == "path" and isinstance(value, str | PurePath) else []
        words += list(call.arguments) if fits else []  # fine by itself, it doesn't fit another argument
        named = any(re.search(rf"(^|\W){re.escape(each)}(\W|$)", said) for each in words)
        if is_package_function(error) and named and len(said) < 1000 and ("\n" not in said or "\n" in str(value)):
            return "refused", said
        return "poor", f"{type(error).__name__}: {said}"
    except (OSError, sqlite3.Error) as error:
        return "said" if name in ("path", "store") and fits else "poor", f"{type(error).__name__}: {error}"
    except fl.SweepError as error:
        return "said" if fits else "poor", f"SweepError: {error}"
    except CalledError:  # by a reader's own function, which is passed on
        return "said" if fits else "poor", "CalledError"
    except Exception as error:
        return "poor", f"{type(error).__name__}: {error}"
    if not fits:
        return "nonsense", "it may not be this"
    expected = outcome(call, **{name: plain})
    return ("taken", "") if found == expected else ("nonsense", f"{found} is not {expected}"[:500])


@cache
def declared() -> dict[str, dict[str, checks.Constraint]]:
    """Return the constraints of each function that is tried."""
    return {each.name: checks.constraints(each.made()) for each in calls()}


def kinds() -> dict[str, checks.Constraint]:
    """Return each constraint that an argument has, by how it is written."""
    found = {}
    for each in itertools.chain.from_iterable(own.values() for own in declared().values()):
        while isinstance(each, checks.Optional | checks.InBody):
            each = each.inner
        found[repr(each)] = each
    return found


def near_ends(allowed: checks.Constraint, *more: float) -> Iterator[Any]:
    """Yield numbers at and beside the ends of what a constraint allows, alone and in lists."""
    own = (getattr(allowed, name, None) for name in ("low", "high", "above", "below"))
    for end in {each for each in (*own, *more) if each is not None and math.isfinite(each)}:
        for each in (end, end - 1, end + 1, math.nextafter(end, -math.inf), math.nextafter(end, math.inf)):
            yield from (each, [each], [each, each])


# The tests -----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every function find the files that it may read, and write where no other finds it."""
    monkeypatch.chdir(tmp_path)
    put_files()


def test_every_exception_is_about_a_public_function_and_one_of_its_arguments():
    known = {each.name: each.arguments for each in calls()}
    assert [name for name in EXCEPTIONS if name not in known] == []
    assert [name for name, own in EXCEPTIONS.items() if not own.keys() <= known[name].keys()] == []


def test_there_are_enough_odd_values_and_each_is_another():
    assert len(VALUES) >= 81
    assert len({f"{type(make()).__name__} {checks.shown(make())}" for make in VALUES.values()}) > 0.9 * len(VALUES)


def test_every_argument_may_be_what_is_stored(request):
    found = {name: [f"{each}: {allowed!r}" for each, allowed in own.items()] for name, own in declared().items()}
    if not STORE.refreshed(request.node, 0, 1, found):
        wrong, lines = compare("What an argument may be", "arguments of", STORE.stored, found)
        assert not wrong, f"{wrong}\n{lines}"


@pytest.mark.parametrize("allowed", kinds().values(), ids=list(kinds()))
def test_a_constraint_takes_what_the_judge_takes_and_refuses_all_else_by_name(allowed):
    def takes(seed: Any) -> Any:
        taken = allowed("seed", seed)
        return None if isinstance(allowed, checks.OneOrMany) else taken  # which leaves it to the body

    own = Call("own", lambda: takes, {"seed": Argument(lambda: None, partial(judged, allowed))})
    values = VALUES | {str(each): partial(copy, each) for each in near_ends(allowed, *ENDS)}
    found = {each: tried(own, "seed", make) for each, make in values.items()}
    assert {each: came for each, came in found.items() if came[0] not in ("taken", "refused")} == {}
    said = [why for came, why in found.values() if came == "refused"]
    assert [why for why in said if not re.match(r"seed(\[\d\])? must .*not ", why, re.DOTALL)] == []


@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_what_no_argument_may_be_is_refused_in_the_words_of_its_constraint(call):
    for name, allowed in declared()[call.name].items():
        own = allowed.inner if isinstance(allowed, checks.Optional) else allowed
        if isinstance(own, checks.InBody) or (call.name, name) == ("book.Plays", "live"):  # of which its body says more
            continue
        for odd in (object(), *near_ends(own)):
            try:
                own(name, odd)
            except (TypeError, ValueError) as expected:
                with pytest.raises(type(expected), match=f"^{re.escape(str(expected))}$"):
                    outcome(call, **{name: odd})


@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_odd_values_are_taken_for_what_they_mean_or_refused_by_name(call):
    if call.name != "data.mediamill":  # which only the file itself would satisfy
        outcome(call)
    wrong = []
    for name in call.arguments:
        chance = random.Random(f"{call.name} {name}")
        for each in VALUES if FULL else chance.sample(list(VALUES), SAMPLE):
            came, why = tried(call, name, VALUES[each])
            COUNTS[came] += 1
            if came in ("poor", "nonsense"):
                wrong.append(f"{name}={each}: {came}, {why[:300]}")
    assert wrong == []


def test_the_judge_tells_good_from_bad():
    def own(call: Callable[..., Any]) -> Call:
        return Call("own", lambda: call, {"share": Argument(lambda: 0.5, partial(judged, checks.Real(0, 1)))})

    assert tried(own(lambda share: checks.real("share", share, 0, 1)), "share", lambda: np.float16(0.5))[0] == "taken"
    assert tried(own(lambda share: checks.real("share", share, 0, 1)), "share", lambda: "0.5")[0] == "refused"
    assert tried(own(lambda share: checks.real("part", share, 0, 1)), "share", lambda: "0.5")[0] == "poor"
    assert tried(own(lambda share: share + 1), "share", lambda: "0.5")[0] == "poor"
    assert tried(own(lambda share: share), "share", lambda: "0.5")[0] == "nonsense"
    assert tried(own(lambda share: type(share).__name__), "share", lambda: np.float16(0.5))[0] == "nonsense"
    assert tried(own(lambda share: np.float64(1) / share), "share", lambda: 0)[0] == "poor"


def test_the_shares_are_counted():
    if not COUNTS:
        pytest.skip("nothing has been tried")
    print(len(calls()), "functions,", sum(len(each.arguments) for each in calls()), "arguments:", dict(COUNTS))
    assert COUNTS["refused"] > COUNTS["taken"] > 0 == COUNTS["nonsense"]
