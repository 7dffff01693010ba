"""A game and a policy as a script for a page: the engine, the rule and all that they call, and their numbers."""

import ast
import base64
import inspect
import itertools
import json
import textwrap
from functools import cache
from importlib import resources
from importlib.metadata import files
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
from numba import types
from numba.np.random import _constants as ziggurat
from numba.np.random import distributions, generator_core

from fairlib import checks
from fairlib.core.contexts import PAST
from fairlib.core.ridge import RIDGE
from fairlib.engine import loops
from fairlib.engine.session import AnyPolicy, ArmsSession, Problem, make_session
from fairlib.engine.simulate import recorded_rounds
from fairlib.pages.reader_rule import KINDS
from fairlib.pages.translate import CHANCE, NOTHING, REAL, TRUTH, WHOLE, Array, Function, Made, Native, Record, Script
from fairlib.rules.bound_rule import BoundRule
from fairlib.rules.layout import array_slice, as_action
from fairlib.rules.rule import Rule

_FLOATS = Array(REAL, 1)
_WHOLES = Array(WHOLE, 1)
_BY_HAND = {
    as_action: Native("$action", WHOLE),
    array_slice: Native("$slice", _FLOATS),
    generator_core.next_double: Native("$double", REAL),
    distributions.random_standard_normal: Native("$normal", REAL),
    distributions.random_standard_exponential: Native("$exponential", REAL),
}


def script_json(value: Any) -> str:
    r"""Return JSON that may be part of a script in a page."""
    # Inside a script element "</" would end it and "<!--" begin a comment.
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("</", "<\\/").replace("<!", "\\u003c!")


@cache
def asset(name: str) -> str:
    """Return the text of a file that lies beside this one."""
    return resources.files("fairlib.pages").joinpath(name).read_text(encoding="utf-8")


def function_of(function: Any) -> Function:
    """Read the source of a function."""
    plain = function.function if isinstance(function, Rule) else function
    return _read(checks.instance("function", plain, FunctionType, "a function that is defined by def"))


@cache  # so that a function is the same to the translator wherever it is met
def _read(plain: Any) -> Function:
    try:
        lines, first = inspect.getsourcelines(plain)
        tree = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, TypeError, SyntaxError):
        raise ValueError(f"function must have a source that can be read, not {checks.shown(plain)}") from None
    if not isinstance(tree, ast.FunctionDef):
        raise ValueError(f"function must be defined by def, not {checks.shown(plain)}")
    text = textwrap.dedent("".join(lines[tree.lineno - 1 :]))  # without what decorates it

    def find(name: str) -> Any:
        known = inspect.getclosurevars(plain)  # now, as a reader may have changed the values around the function
        return _known({**known.builtins, **known.globals, **known.nonlocals}[name])

    return Function(plain.__name__, text, find, first + tree.lineno - 2)


def _known(value: Any) -> Any:
    """Return what the translator makes of the value of a name; raise KeyError if it makes nothing of it."""
    value = value.function if isinstance(value, Rule) else value
    if isinstance(value, FunctionType) or value in _BY_HAND:
        return _BY_HAND.get(value) or function_of(value)
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return Made(value.__name__, value._fields)
    if isinstance(value, ModuleType) and value.__name__ in ("math", "numpy"):
        return "np" if value is np else "math"
    if isinstance(value, bool | int | float):
        return value
    raise KeyError(value)


def flat(bound: BoundRule) -> Function:
    """Return the function of a rule, a draw or the like that the engine calls."""
    named = bound.names
    made: dict[str, Function] = {}

    def find(name: str) -> Any:
        return made[name] if name in made else _known(named[name])

    for each in ast.parse(bound.text).body:
        if isinstance(each, ast.FunctionDef):
            each.decorator_list = []
            made[each.name] = Function(each.name, ast.unparse(each), find)
    return made["flat"]


@cache
def draws() -> dict[str, Any]:
    """Return the ways to draw from a generator that rules use, by name."""
    names = {"random": "next_double", "beta": "random_beta", "normal": "random_normal"}
    names |= {"standard_normal": "random_standard_normal", "standard_exponential": "random_standard_exponential"}
    known = vars(generator_core) | vars(distributions)
    return {name: _known(known[each]) for name, each in names.items()}


def _kind(numba_type: Any) -> Any:
    """Return the translator's kind for one of Numba's types."""
    if isinstance(numba_type, types.NamedTuple):
        fields = zip(numba_type.fields, map(_kind, numba_type.types), strict=True)
        return Record(numba_type.instance_class.__name__, tuple(fields))
    if isinstance(numba_type, types.Array):
        return Array(WHOLE if isinstance(numba_type.dtype, types.Integer) else REAL, numba_type.ndim)
    return {types.npy_rng: CHANCE, types.boolean: TRUTH}.get(numba_type, WHOLE)


# The kinds of the engine's arguments, by the names in the forms.
_KINDS: dict[str, Any] = {**KINDS, "arm": WHOLE, "played": WHOLE, "reward": REAL, "means": _FLOATS, "groups": _WHOLES}
_KINDS |= {"contexts": Array(REAL, 2), "ridge": _kind(RIDGE), "past": _kind(PAST)}


def _add(script: Script, bound: BoundRule, name: str, *given: str) -> str:
    """Translate a function that the engine calls; return the text of one that takes all but `given` from a block."""
    arguments = bound.form.flat.split(", ")
    kinds = {**_KINDS, "params": Array(REAL, 2) if bound.form.by_arm else _FLOATS}
    made = script.add(flat(bound), [kinds[each] for each in arguments])
    passed = ", ".join(each if each in given else f"block.{each}" for each in arguments)
    return f"function {name}(block{''.join(f', {each}' for each in given)}) {{ return {made.name}({passed}); }}"


def _run_kind(run: Any) -> Record:
    """Return the kind of a run of a loop; of its argument blocks it is only said that they are passed on."""
    kinds = {name: _kind(each) for name, each in loops.field_types(run).items()}
    blocks = {name: "an argument block" for name in kinds if name.endswith("_block")}
    return Record(run.__name__, tuple((kinds | blocks).items()))


def script(problem: Problem, policy: AnyPolicy) -> str:
    """Translate a game into JavaScript."""
    made = Script(draws())
    parts = _game(made, make_session(problem, policy, 1, compiled=False))
    return "\n".join([made.text(), *parts.values()])


def live(shows: BoundRule, arguments: list[str], sessions: list[Any], axes: dict[str, int]) -> str:
    """Translate the function that fills a live picture, and its games if there are any, into JavaScript."""
    made = Script(draws())
    games = [_game(made, session) for session in sessions]
    if len({*map(tuple, games)}) > 1:  # the page knows one loop
        raise ValueError("arms must come and go in all games of a live picture, or in none")
    kinds = dict.fromkeys(("recorded", "plays", "observed"), _WHOLES) | {"t": WHOLE, "root": Array(REAL, 2)}
    kinds |= {name: Array(WHOLE if name == "selected" else REAL, number) for name, number in axes.items()}
    name = made.add(flat(shows), [kinds.get(each, _FLOATS) for each in arguments]).name
    parts = [f"function $shows(block) {{ {name}({', '.join(f'block.{each}' for each in arguments)}); }}"]
    if games:
        taken = [" ".join(f"{each} = {text};" for each, text in game.items()) for game in games]
        parts.append(f"let {', '.join(games[0])};")
        parts.append("const $sessions = [\n" + "".join(f"() => {{ {text} }},\n" for text in taken) + "];")
    return "\n".join([made.text(), *parts])


def _game(made: Script, ready: Any) -> dict[str, str]:
    """Translate a game; return the functions that its engine calls, by name."""
    parts = [_add(made, ready.bound_rule, "$rule", "t", "rng")]
    if isinstance(ready, ArmsSession):
        parts += [_add(made, ready.draws["draw"], "$draw", "arm", "rng"), _add(made, ready.metrics, "$metrics", "t")]
        parts += [_add(made, ready.draws["delay"], "$delay", "arm", "reward", "rng")]
        called = [("$rule", WHOLE), ("$draw", REAL), ("$delay", WHOLE), ("$metrics", NOTHING)]
        there: Any = NOTHING
        if "there" in ready.draws:
            parts, there = [*parts, _add(made, ready.draws["there"], "$there", "t", "rng")], Native("$there", NOTHING)
        made.add(function_of(loops.play_rounds), [*itertools.starmap(Native, called), there, _run_kind(loops.ArmsRun)])
    else:
        parts += [_add(made, ready.draws["draw"], "$draw", "rng"), _add(made, ready.metrics, "$metrics", "t", "played")]
        called = [("$rule", WHOLE), ("$draw", NOTHING), ("$metrics", NOTHING)]
        made.add(function_of(loops.play_contexts), [*itertools.starmap(Native, called), _run_kind(loops.ContextsRun)])
    return {part.split("(")[0].removeprefix("function "): part for part in parts}


@cache
def runtime() -> str:
    """Return the common part of all scripts of games: NumPy's random numbers, arrays, and the player of a run."""
    tables = "".join(f'const ${each[:2]} = $table("{_packed(each)}");\n' for each in _TABLES)
    edges = "".join(f"const ${name} = {float(getattr(ziggurat, each))!r};\n" for name, each in _EDGES.items())
    notice = (
        f"/* The generator and the distributions are NumPy's, in part as Numba has them.\n\n{_licence('numpy')}\n\n"
    )
    return f"{notice}{_licence('numba')} */\n{asset('runtime.js').replace('$WASM', _PCG64)}{tables}{edges}"


def explorers() -> str:
    """Return the script that moves the explorers of a page: they find the runtime's text in ``window.fairRuntime``."""
    return asset("link.js") + asset("live.js")


# WebAssembly, base64: `fill(from, to)` writes the words of NumPy's PCG64 into the module's memory, where the state
# lies at address 0, its high half first, and the increment behind it: six times as fast as JavaScript.
_PCG64 = (
    "AGFzbQEAAAABBgFgAn9/AAMCAQAFAwEAAQcRAgRmaWxsAAAGbWVtb3J5AgAKjQIBigIBDH5BACkDACECQQApAwghA0EAKQMQIQRBACkDGCEF"
    "A0AgA0L/////D4MhBiADQiCIIQcgBkLF7LP+CX4hCCAHQsXss/4JfiEJIAZC5L6XnAR+IQogCEIgiCAJQv////8Pg3wgCkL/////D4N8IQsg"
    "B0LkvpecBH4hDCAMIAlCIIh8IQwgDCAKQiCIfCEMIAwgC0IgiHwhDCAMIANCpLuZ/tGgu7AjfnwgAkLF7LP+yez3wsMAfnwhDCADQsXss/7J"
    "7PfCwwB+IAV8IQ0gDCAEfCANIAVUrXwhAiANIQMgACACIAOFIAJCOoiKNwMAIABBCGoiACABSQ0AC0EAIAI3AwBBACADNwMICw=="
)
_TABLES = ("wi_double", "ki_double", "fi_double", "we_double", "ke_double", "fe_double")
_EDGES = {"norR": "ziggurat_nor_r", "norInvR": "ziggurat_nor_inv_r", "expR": "ziggurat_exp_r"}


def _licence(package: str) -> str:
    """Return the licence that lies beside an installed package, without those of what it bundles."""
    found = next(each for each in files(package) or [] if each.parent.name == "licenses" and each.stem == "LICENSE")
    return found.read_text(encoding="utf-8").split("\n----")[0].strip()


def _packed(name: str) -> str:
    """Write one of the ziggurats' tables; its whole numbers have at most 53 bits."""
    return base64.b64encode(np.asarray(getattr(ziggurat, name)).astype("<f8").tobytes()).decode()


def numbers(problem: Problem, policy: AnyPolicy, horizon: int) -> dict[str, Any]:
    """Return the numbers that a script of a game plays with."""
    ready: Any = make_session(problem, policy, horizon, compiled=False)
    sizes = ready.sizes
    bound = policy.bound_rule
    places = {"params": bound, "table": ready.draws["draw"], "metricParams": ready.metrics}
    said = {
        "sizes": sizes,
        "places": {name: each.places(sizes) for name, each in places.items()},
        "params": bound.numbers(sizes).tolist(),
        "memory": bound.length(sizes),
        "readers": bound.readers,
        "table": ready.table.tolist(),
        "metricParams": ready.metrics.numbers(sizes).tolist(),
        "sums": ready.metrics.length(sizes),
        "rounds": recorded_rounds(None, horizon).tolist(),
    }
    if isinstance(ready, ArmsSession):
        said |= {"waits": ready.delay_params.tolist(), "late": ready.has_delay, "plays": ready.plays}
        return {**said, "there": ready.there_params.tolist()}
    return {**said, "ridge": ready.policy.ridge, "history": ready.history}
