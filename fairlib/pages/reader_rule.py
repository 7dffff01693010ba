"""A reader's own rule: read, checked and translated in the page in which it is written."""

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from fairlib.pages.translate import (
    CHANCE,
    MAYBE,
    NOTHING,
    REAL,
    WHOLE,
    Array,
    Function,
    Made,
    Native,
    RefusedError,
    Script,
    _said,
)

# The kinds of the arguments that the engine hands to a rule on arms.
KINDS: dict[str, Any] = {
    "t": WHOLE,
    "rng": CHANCE,
    **dict.fromkeys(("params", "state", "total", "rewards", "chances", "p"), Array(REAL, 1)),
    **dict.fromkeys(("selected", "observed", "available", "cursors", "arms", "rounds"), Array(WHOLE, 1)),
}
_NATIVE: dict[str, Any] = {"math": "math", "np": "np", "array_slice": Native("$slice", Array(REAL, 1))}
_LONGEST = 5_000  # characters of a text: a page reads it outside the worker that plays, and cannot stop
_USUAL = {"math": None, "numpy": "np", "fairlib": "fl"}


def translated(text: str, known: dict[str, Any]) -> dict[str, Any]:
    r"""Translate a rule on arms that asks for `seen`, `feedback`, `rng`, `p`, memory, and settings with defaults."""
    functions: dict[str, Function] = {}
    sizes: dict[str, Any] = {"PerArm": "K", "Number": 1}

    def find(name: str) -> Any:
        if name in functions:
            return functions[name]
        if name in known["helpers"]:
            return ours(name)
        if name in known["tuples"]:
            return Made(name, tuple(known["tuples"][name]))
        if name in known["natives"]:
            return Native(known["natives"][name], REAL)
        return _NATIVE[name]

    def ours(name: str) -> Any:  # the helpers call each other, whatever a reader's functions are called
        return Function(name, known["helpers"][name], ours) if name in known["helpers"] else find(name)

    try:
        rule = _read(text, functions, sizes, find)
        memory: list[Any] = []
        asked = rule.args.args
        defaults = dict(zip((each.arg for each in reversed(asked)), reversed(rule.args.defaults), strict=False))
        given = [_given(each, defaults, known["gives"], sizes, memory) for each in asked]
        form = f"def flat({known['flat']}):"
        whole = Function("flat", f"{form}\n    return {rule.name}({', '.join(given)})", find)
        script = Script({name: Function(name, each, find) for name, each in known["draws"].items()}, careful=True)
        made = script.add(whole, [KINDS[each] for each in known["flat"].split(", ")])
        if made.returns not in (WHOLE, NOTHING, MAYBE):
            allowed = "an arm, a whole number, or nothing after it has filled p"
            _refuse(rule, f"a rule must return {allowed}, not {_said(made.returns)}")
    except RefusedError as error:
        line, what = error.line, error.what
        if error.function not in ("", *functions):  # the called function does not know its argument
            line = next((line for caller, line in error.calls if caller in functions), 1)
            what = f"a call of {error.function} that gives it what it does not take"
        raise ValueError(f"line {line} of your rule: {what}") from None
    except RecursionError:
        raise ValueError("your rule has too many parts, each within the one before") from None
    block = ", ".join(each if each in ("t", "rng") else f"block.{each}" for each in known["flat"].split(", "))
    answer = f"return (block, t, rng) => $action({made.name}({block}));"
    return {
        "script": f"$rule = (() => {{\n{known['drawn']}\n{script.text()}\n{answer}\n}})();",
        "memory": memory,
        "readers": int(any(each.arg == "feedback" for each in asked)),
    }


def _name(node: Any) -> Any:
    return getattr(node, "attr", getattr(node, "id", None))


def _refuse(node: Any, what: str) -> NoReturn:
    raise RefusedError("", getattr(node, "lineno", 1), what)


def _read(text: str, functions: dict[str, Function], sizes: dict[str, Any], find: Callable[[str], Any]) -> Any:
    """Take the text apart into its functions and the sizes that it names; return the tree of the last function."""
    if len(text) > _LONGEST:
        _refuse(None, f"a text of more than {_LONGEST:,} characters")
    try:
        tree = ast.parse(text).body
    except SyntaxError as error:
        raise RefusedError("", error.lineno or 1, str(error.msg)) from None
    lines, rule = text.splitlines(), None
    for i, each in enumerate(tree):
        if isinstance(each, ast.Import | ast.ImportFrom):
            _check_import(each)
            continue
        if isinstance(each, ast.Assign) and _size(each.value) is not None:
            if len(each.targets) != 1 or not isinstance(each.targets[0], ast.Name):
                _refuse(each, "a size that is not given to one name")
            sizes[each.targets[0].id] = _size(each.value)
            continue
        if not isinstance(each, ast.FunctionDef):
            _refuse(each, "it must be in a function, defined by def")
        if any(_name(mark) not in ("rule", "helper") for mark in each.decorator_list):
            _refuse(each, "a decorator, which it does not know")
        after = tree[i + 1 : i + 2]
        starts = [mark.lineno for next_one in after for mark in [next_one, *getattr(next_one, "decorator_list", [])]]
        own = "\n".join(lines[each.lineno - 1 : min([len(lines) + 1, *starts]) - 1])
        functions[each.name] = Function(each.name, own, find, each.lineno - 1)
        rule = each
    return rule or _refuse(None, "a rule is a function, defined by def, and there is none")


def _check_import(node: Any) -> None:
    """Refuse an import that does not give something known its usual name."""
    for each in node.names:
        if isinstance(node, ast.Import):
            known = each.asname == _USUAL.get(each.name, "")
        else:
            known = each.asname is None and str(node.module).split(".")[0] in ("typing", "numpy", "fairlib")
        if not known:
            _refuse(node, f"an import of {each.name}, which it does not know by this name")


def _size(node: Any) -> Any:
    """Return the size that an annotation says, as Annotated[np.ndarray, "window"] does, or None."""
    if not isinstance(node, ast.Subscript) or _name(node.value) != "Annotated":
        return None
    said = getattr(node.slice, "elts", [])
    return getattr(said[1], "value", None) if len(said) == 2 else None


def _given(each: Any, defaults: Any, gives: dict[str, str], sizes: dict[str, Any], memory: list[Any]) -> str:
    """Return the expression of one of the rule's arguments in those of the flat function."""
    if each.arg in gives:
        return gives[each.arg]
    size = sizes.get(_name(each.annotation), _size(each.annotation))
    if size is None:
        return _setting(each, defaults.get(each.arg), gives)
    if isinstance(size, str) and size != "K":
        size = getattr(defaults.get(size), "value", None)
    if size != "K" and not (isinstance(size, int) and 1 <= size <= 1_000_000):
        _refuse(each, f"the size of {each.arg!r} must be K or a setting with a value from 1 to 1,000,000")
    memory.append(size)
    return f"array_slice(state, params, {2 * len(memory) - 2})"


def _setting(each: Any, value: Any, gives: dict[str, str]) -> str:
    """Return the value of a setting, as a policy's settings are kept."""
    if value is None:
        known = f"a rule may ask for {', '.join(gives)}, for memory, as {each.arg}: PerArm or Number"
        _refuse(each, f"{each.arg!r} is not known: {known}, and for a setting with a value, as {each.arg}=0.1")
    said, sign = _name(each.annotation), 1
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        value, sign = value.operand, -1
    number = getattr(value, "value", None)
    if not isinstance(number, (bool, int, float)) or abs(number) == float("inf"):
        _refuse(each, f"the setting {each.arg!r} must be a finite number")
    if said == "bool":
        return repr(bool(number))
    if said == "int" and not (number == int(number) and abs(number) < 2**53):
        _refuse(each, f"the setting {each.arg!r} must be a whole number of at most 2^53")
    return repr(sign * (int(number) if said == "int" else float(number)))
