"""Rules in JavaScript: a strict translator of the Python in which rules are written.

It knows numbers, arrays of numbers, named tuples of them, loops, conditions, `math`, and calls of functions that are
made of the same; it refuses everything else, by name and line. It needs nothing but `ast`, so it can run wherever
Python is read, in a page as well.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

WHOLE = "whole"
"""The kind of a whole number."""

REAL = "real"
"""The kind of any number."""

TRUTH = "truth"
"""The kind of True and False."""

NOTHING = "nothing"
"""The kind of the value that a function without an answer returns."""

CHANCE = "chance"
"""The kind of a random generator."""

MAYBE = "whole or nothing"
"""The kind of the value of a rule that returns an arm, or fills p."""


class Array(NamedTuple):
    """The kind of an array; one of several axes is a list of rows.

    Parameters
    ----------
    of : str
        The kind of its numbers, `WHOLE` or `REAL`.
    axes : int
        How many axes it has.

    Examples
    --------
    >>> Array(REAL, 2).axes
    2
    """

    of: str
    axes: int


class Record(NamedTuple):
    """The kind of a named tuple.

    Parameters
    ----------
    name : str
        The name of the class.
    fields : tuple of tuple
        The name and the kind of each of its fields; the kind of a function is the function itself.

    Examples
    --------
    >>> Record("Box", (("low", Array(REAL, 1)), ("high", Array(REAL, 1)))).name
    'Box'
    """

    name: str
    fields: tuple[tuple[str, Any], ...]


class Several(NamedTuple):
    """The kind of a plain tuple, such as two results of a function.

    Parameters
    ----------
    each : tuple
        The kinds of its parts.

    Examples
    --------
    >>> Several((WHOLE, REAL)).each
    ('whole', 'real')
    """

    each: tuple[Any, ...]


class Native(NamedTuple):
    """A function that is there in JavaScript.

    Parameters
    ----------
    name : str
        Its name there.
    returns : object
        The kind of its value.

    Examples
    --------
    >>> Native("$double", REAL).returns
    'real'
    """

    name: str
    returns: Any


class Made(NamedTuple):
    """A class of named tuples.

    Parameters
    ----------
    name : str
        Its name.
    fields : tuple of str
        The names of its fields.

    Examples
    --------
    >>> Made("Box", ("low", "high")).fields
    ('low', 'high')
    """

    name: str
    fields: tuple[str, ...]


class Function(NamedTuple):
    """A function to be translated.

    Parameters
    ----------
    name : str
        Its name.
    text : str
        Its definition.
    find : callable
        Returns the value of a name outside it: a number, a Function, a Native, a Made, or a module's name, "math" or
        "np"; raises KeyError for a name that is not defined.
    line : int
        The line of its file at which the text begins, less one.

    Examples
    --------
    >>> Function("twice", "def twice(x): return 2 * x", {}.__getitem__).name
    'twice'
    """

    name: str
    text: str
    find: Callable[[str], Any]
    line: int = 0


class RefusedError(ValueError):
    """Something that the translator does not know.

    Parameters
    ----------
    function : str
        The name of the function.
    line : int
        The line in it.
    what : str
        A description of it.

    Examples
    --------
    >>> raise RefusedError("rule", 3, "a list")
    Traceback (most recent call last):
    fairlib.web.translate.RefusedError: line 3 of 'rule': a list
    """

    def __init__(self, function: str, line: int, what: str) -> None:
        super().__init__(f"line {line} of {function!r}: {what}")
        self.function, self.line, self.what = function, line, what
        self.calls: list[tuple[str, int]] = []  # on the way to there: by which functions, in which lines


class Script:
    """JavaScript in the making: each function once for each kind of its arguments.

    Parameters
    ----------
    methods : dict
        The ways to draw, by name: a Function or a Native, whose first argument is the generator.
    careful : bool
        Whether the script is to stop where JavaScript would go on with other numbers than Python: at a place that an
        array does not have, a whole number beyond 2^53, and a division of whole numbers by 0.

    Examples
    --------
    >>> twice = Function("twice", "def twice(x): return 2 * x", {}.__getitem__)
    >>> script = Script({})
    >>> script.add(twice, [REAL])
    Native(name='twice', returns='real')
    >>> print(script.text())
    function twice(x) {
      return (2 * x);
    }
    """

    def __init__(self, methods: dict[str, Any], careful: bool = False) -> None:
        self.methods, self.careful = methods, careful
        self._known: dict[Any, Native] = {}
        self._texts: dict[str, str] = {}
        self._calls: dict[str, set[str]] = {}
        self._roots: list[str] = []
        self._under_way: list[Any] = []

    def add(self, function: Function, kinds: Iterable[Any]) -> Native:
        """Translate a function, and what it calls.

        Parameters
        ----------
        function : Function
            The function.
        kinds : iterable
            The kinds of its arguments.

        Returns
        -------
        Native
            Its name in JavaScript.

        Raises
        ------
        RefusedError
            If there is something in it that the translator does not know.

        Examples
        --------
        >>> Script({}).add(Function("half", "def half(x): return x / 2", {}.__getitem__), [WHOLE]).returns
        'real'
        """
        made = self._call(function, tuple(kinds))
        self._roots.append(made.name)
        return made

    def _call(self, function: Function, kinds: tuple[Any, ...]) -> Native:
        """Translate a function for kinds of its arguments, unless it has been."""
        key = (function, kinds)
        if key not in self._known:
            if key in self._under_way:
                raise RefusedError(function.name, function.line + 1, "it calls itself")
            self._under_way.append(key)
            body = _Body(self, function, kinds)
            self._under_way.pop()
            plain, i = _allowed(function.name), 2
            name = plain
            while name in self._texts and self._texts[name] != body.text:
                name, i = f"{plain}_{i}", i + 1
            self._texts[name], self._calls[name] = body.text, body.calls
            self._known[key] = Native(name, body.returns)
        return self._known[key]

    def text(self) -> str:
        """Return the functions that were added, and those that they call.

        Returns
        -------
        str
            The script.

        Examples
        --------
        >>> Script({}).text()
        ''
        """
        wanted: dict[str, None] = {}
        waiting = list(self._roots)
        while waiting:
            name = waiting.pop()
            if name not in wanted:
                wanted[name] = None
                waiting += sorted(self._calls.get(name, ()))
        return "\n".join(f"function {name}{self._texts[name]}" for name in sorted(wanted) if name in self._texts)


_RESERVED = (
    " arguments await case catch const debugger default delete do enum eval export extends function implements "
    "instanceof interface let new null package private protected public static super switch this throw try typeof var "
    "void undefined NaN Infinity Math Number Float64Array true false "
)
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "===", ast.NotEq: "!=="}
_ONE = ["sqrt", "log", "exp", "expm1", "log1p", "log2", "fabs", "floor", "ceil", "cos", "sin", "tanh"]
_MATH = dict.fromkeys(_ONE, 1) | dict.fromkeys(["pow", "atan2", "hypot"], 2)  # of how many numbers
_TESTS = {
    "isnan": "Number.isNaN({})",
    "isfinite": "Number.isFinite({})",
    "isinf": "(Math.abs({}) === Infinity)",
}
_CONSTANTS = {"inf": "Infinity", "nan": "NaN", "pi": "Math.PI", "e": "Math.E"}


def _allowed(name: str) -> str:
    """Return a name that JavaScript has no other use for."""
    return f"{name}$" if f" {name} " in _RESERVED else name


def _joined(one: Any, other: Any) -> Any:
    """Return the kind of a value that may be of either of two kinds; None if there is none."""
    if one == other or other is None:
        return one
    if one is None:
        return other
    if {one, other} == {WHOLE, REAL}:  # True and 1 differ in JavaScript
        return REAL
    if {one, other} <= {WHOLE, NOTHING, MAYBE}:
        return MAYBE
    if isinstance(one, Array) and isinstance(other, Array) and one.axes == other.axes:
        return Array(REAL, one.axes)
    return None


class _Body:
    """The body of one function for one list of kinds of arguments."""

    def __init__(self, script: Script, function: Function, kinds: tuple[Any, ...]) -> None:
        self.script, self.function, self.calls = script, function, set[str]()
        tree = self._definition()
        names = [each.arg for each in [*tree.args.posonlyargs, *tree.args.args]]
        if tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs:
            self._refuse(tree, "arguments that are not named one by one")
        defaults = [None] * (len(names) - len(tree.args.defaults)) + list(tree.args.defaults)
        if len(kinds) > len(names) or any(each is None for each in defaults[len(kinds) :]):
            self._refuse(tree, f"it takes {len(names)} arguments, not {len(kinds)}")
        self.kinds: dict[str, Any] = dict(zip(names, kinds, strict=False))
        self.fixed = frozenset(self.kinds)
        given = [
            f"{_allowed(name)} = {self._of(default)[0]}"
            for name, default in list(zip(names, defaults, strict=True))[len(kinds) :]
        ]
        self.kinds |= {name: self._of(defaults[i])[1] for i, name in enumerate(names) if i >= len(kinds)}
        head = ", ".join([*map(_allowed, names[: len(kinds)]), *given])
        self.returns: Any = None
        before = None
        while before != (dict(self.kinds), self.returns):  # the kind of a name may only be known further down
            before = dict(self.kinds), self.returns
            self.counter = 0
            self.calls.clear()
            lines = self._block(tree.body)
        if self.returns is None:
            self.returns = NOTHING
        for name in sorted(self.calls & set(map(_allowed, self.kinds))):
            self._refuse(tree, f"{name!r}, which is what a function that it calls is called as well")
        local = sorted(_allowed(each) for each in self.kinds if each not in names)
        declared = [f"  let {', '.join(local)};"] if local else []
        self.text = "\n".join([f"({head}) {{", *declared, *lines, "}"])

    def _definition(self) -> ast.FunctionDef:
        try:
            tree = ast.parse(self.function.text).body
        except SyntaxError as error:
            raise RefusedError(self.function.name, self.function.line + (error.lineno or 1), error.msg) from None
        if len(tree) != 1 or not isinstance(tree[0], ast.FunctionDef):
            raise RefusedError(self.function.name, self.function.line + 1, "not one function, defined by def")
        return tree[0]

    def _refuse(self, node: Any, what: str) -> NoReturn:
        raise RefusedError(self.function.name, self.function.line + getattr(node, "lineno", 1), what)

    def _strange(self, node: Any) -> Any:
        kind = type(node).__name__
        return self._refuse(node, f"{_WORDS.get(kind, kind)}, which it does not know")

    # Statements: each returns its lines.

    def _block(self, body: list[Any]) -> list[str]:
        return ["  " + line for each in body for line in self._statement(each)]

    def _statement(self, node: Any) -> list[str]:
        made: Any = getattr(self, f"_on_{type(node).__name__.lower()}", self._strange)
        return list(made(node))

    def _on_expr(self, node: Any) -> list[str]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return []  # a docstring
        if not isinstance(node.value, ast.Call):
            self._refuse(node, "a value that is not used")
        return [f"{self._of(node.value)[0]};"]

    def _on_pass(self, node: Any) -> list[str]:
        return []

    def _on_break(self, node: Any) -> list[str]:
        return ["break;"]

    def _on_continue(self, node: Any) -> list[str]:
        return ["continue;"]

    def _on_return(self, node: Any) -> list[str]:
        text, kind = ("", NOTHING) if node.value is None else self._of(node.value)
        joined = _joined(self.returns, kind)
        if joined is None:
            self._refuse(node, f"it returns {_said(self.returns)} in one place, and {_said(kind)} in another")
        self.returns = joined
        return [f"return {text};" if text else "return;"]

    def _on_if(self, node: Any) -> list[str]:
        lines = [f"if ({self._truth(node.test)}) {{", *self._block(node.body)]
        if node.orelse:
            lines += ["} else {", *self._block(node.orelse)]
        return [*lines, "}"]

    def _on_while(self, node: Any) -> list[str]:
        if node.orelse:
            self._refuse(node, "else after a loop")
        return [f"while ({self._truth(node.test)}) {{", *self._block(node.body), "}"]

    def _on_for(self, node: Any) -> list[str]:
        it = node.iter
        if node.orelse:
            self._refuse(node, "else after a loop")
        if isinstance(it, ast.Tuple) and isinstance(node.target, ast.Name):
            each = [self._of(part) for part in it.elts]
            for _, kind in each:
                self._bind(node.target, node.target.id, kind)
            self.counter += 1
            i = f"i{self.counter}$"
            head = f"for (const {i} of [{', '.join(text for text, _ in each)}]) {{"
            return [head, f"  {_allowed(node.target.id)} = {i};", *self._block(node.body), "}"]
        if not (
            isinstance(it, ast.Call) and isinstance(it.func, ast.Name) and it.func.id == "range" and not it.keywords
        ):
            self._refuse(node, "a loop over anything but range(...)")
        if not isinstance(node.target, ast.Name) or not 1 <= len(it.args) <= 3:
            self._refuse(node, "a loop that counts more than one name")
        bounds = [self._number(each, WHOLE) for each in it.args]
        start, stop = ("0", bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = "1" if len(bounds) < 3 else bounds[2]
        if len(bounds) == 3 and not step.strip("()-").isdigit():
            self._refuse(node, "a loop whose step is not written as a whole number")
        self._bind(node.target, node.target.id, WHOLE)
        self.counter += 1
        i, end, sign = f"i{self.counter}$", f"n{self.counter}$", ">" if "-" in step else "<"
        # The name keeps its last value after the loop, and the end is looked at once, as in Python.
        head = f"for (let {i} = {start}, {end} = {stop}; {i} {sign} {end}; {i} += {step}) {{"
        return [head, f"  {_allowed(node.target.id)} = {i};", *self._block(node.body), "}"]

    def _on_assign(self, node: Any) -> list[str]:
        if len(node.targets) == 1:
            return self._assign(node.targets[0], node.value)
        text, kind = self._of(node.value)
        return self._held(text, [(each, "", kind) for each in node.targets])

    def _on_annassign(self, node: Any) -> list[str]:
        return self._assign(node.target, node.value) if node.value else self._refuse(node, "a name without a value")

    def _assign(self, target: Any, value: Any) -> list[str]:
        if not isinstance(target, ast.Tuple):
            return self._put(target, *self._of(value))
        text, kind = self._of(value)  # of the whole right side first, as in Python
        if not isinstance(kind, Several) or len(kind.each) != len(target.elts):
            self._refuse(target, f"{len(target.elts)} names for {_said(kind)}")
        return self._held(text, [(to, f"[{i}]", kind.each[i]) for i, to in enumerate(target.elts)])

    def _held(self, text: str, puts: list[tuple[Any, str, Any]]) -> list[str]:
        """Hold a value while it, or parts of it, are put in several places."""
        self.counter += 1
        held = f"v{self.counter}$"
        lines = [line for target, part, kind in puts for line in self._put(target, f"{held}{part}", kind)]
        return ["{", f"  const {held} = {text};", *("  " + line for line in lines), "}"]

    def _put(self, target: Any, text: str, kind: Any) -> list[str]:
        if isinstance(target, ast.Name):
            self._bind(target, target.id, kind)
            return [f"{_allowed(target.id)} = {text};"]
        if not isinstance(target, ast.Subscript):
            self._refuse(target, f"a value given to {_WORDS.get(type(target).__name__, type(target).__name__)}")
        place, there = self._of(target)
        if isinstance(there, Array):
            if kind not in (WHOLE, REAL) and not (isinstance(kind, Array) and kind.axes == there.axes):
                self._refuse(target, f"{_said(kind)} put where {_said(there)} is")
            return [f"$put({place}, {text});"]
        if kind not in (WHOLE, REAL, TRUTH):
            self._refuse(target, f"{_said(kind)} put into an array of numbers")
        if there == WHOLE and kind == REAL:
            self._refuse(target, "a number that may not be whole, put into an array of whole ones")
        return [f"{place} = {'+' if kind == TRUTH else ''}{text};"]

    def _bind(self, node: Any, name: str, kind: Any) -> None:
        if kind == NOTHING or (isinstance(kind, Function | Native) and name not in self.fixed):
            self._refuse(node, f"{_said(kind)} given the name {name!r}")
        joined = _joined(self.kinds.get(name), kind)
        if joined is None:
            self._refuse(
                node, f"{name!r} stands for {_said(self.kinds[name])} in one place, and for {_said(kind)} in another"
            )
        self.kinds[name] = joined

    def _on_augassign(self, node: Any) -> list[str]:
        sign = _SIGNS.get(type(node.op))
        if isinstance(node.target, ast.Name):
            return self._put(node.target, *self._of(ast.BinOp(node.target, node.op, node.value, lineno=node.lineno)))
        place, there = self._of(node.target)
        if there not in (WHOLE, REAL) or sign not in ("+", "-", "*", "/"):
            self._refuse(node, f"{sign}= on {_said(there)}" if sign else "an operator that it does not know")
        kind = self._of(node.value)[1]
        if there == WHOLE and (sign == "/" or kind == REAL):
            self._refuse(node, "a number that may not be whole, put into an array of whole ones")
        if there == WHOLE:
            return [f"{place} = {self._exact(f'{place} {sign} {self._number(node.value)}', WHOLE)};"]
        return [f"{place} {sign}= {self._number(node.value)};"]

    # Expressions: each returns its text and its kind.

    def _of(self, node: Any) -> tuple[str, Any]:
        made: Any = getattr(self, f"_of_{type(node).__name__.lower()}", self._strange)
        text, kind = made(node)
        return text, kind

    def _number(self, node: Any, wanted: Any = REAL) -> str:
        text, kind = self._of(node)
        if kind not in ((WHOLE, TRUTH) if wanted == WHOLE else (WHOLE, REAL, TRUTH)):
            self._refuse(node, f"{_said(kind)} where {_said(wanted)} is needed")
        return text

    def _truth(self, node: Any) -> str:
        if isinstance(node, ast.BoolOp):
            sign = " && " if isinstance(node.op, ast.And) else " || "
            return f"({sign.join(self._truth(each) for each in node.values)})"
        text, kind = self._of(node)
        if kind == TRUTH:
            return text
        return f"({text} !== 0)" if kind in (WHOLE, REAL) else self._refuse(node, f"{_said(kind)} as a condition")

    def _of_name(self, node: Any) -> tuple[str, Any]:
        if node.id in self.kinds:
            return _allowed(node.id), self.kinds[node.id]
        try:
            value = self.function.find(node.id)
        except KeyError:
            self._refuse(node, f"{node.id!r}, which stands for nothing that it knows")
        return self._written(node, value) if isinstance(value, int | float) else ("", value)

    def _of_constant(self, node: Any) -> tuple[str, Any]:
        if node.value is None:
            return "undefined", NOTHING
        if not isinstance(node.value, int | float):
            self._refuse(node, f"{node.value!r}, which is no number")
        return self._written(node, node.value)

    def _written(self, node: Any, value: float) -> tuple[str, Any]:
        """Return the text and the kind of a number, or of True or False."""
        if isinstance(value, bool):
            return str(value).lower(), TRUTH
        if isinstance(value, int) and abs(value) > 2**53:
            self._refuse(node, "a whole number of more than 53 bits")
        if value != value or value in (float("inf"), -float("inf")):
            return "NaN" if value != value else "Infinity" if value > 0 else "(-Infinity)", REAL
        return repr(value) if value >= 0 else f"({value!r})", WHOLE if isinstance(value, int) else REAL

    def _of_binop(self, node: Any) -> tuple[str, Any]:
        one, other = self._of(node.left)[1], self._of(node.right)[1]
        if isinstance(one, Array) or isinstance(other, Array):
            self._refuse(node, "arithmetic on a whole array: write the loop")
        a, b = self._number(node.left), self._number(node.right)
        kind = REAL if REAL in (one, other) else WHOLE
        sign = _SIGNS.get(type(node.op))
        if isinstance(node.op, ast.BitAnd) and kind == WHOLE:
            if self.script.careful:
                return f"Number(BigInt({a}) & BigInt({b}))", WHOLE
            return f"({a} & {b})", WHOLE  # of its low 32 bits: the engine's masks have fewer
        if sign is None:
            self._refuse(node, "an operator that it does not know")
        if sign in ("//", "%"):
            if kind != WHOLE:
                self._refuse(node, f"{sign} of numbers that may not be whole")
            b = f"$divisor({b})" if self.script.careful else b
            return (f"Math.floor({a} / {b})" if sign == "//" else f"$rest({a}, {b})"), WHOLE
        if sign == "**":
            if kind == WHOLE and not isinstance(node.right, ast.Constant):
                self._refuse(node, "a power of whole numbers, which may be none: write 2.0, say")
            return self._exact(f"Math.pow({a}, {b})", kind), kind
        return (f"({a} / {b})", REAL) if sign == "/" else (self._exact(f"({a} {sign} {b})", kind), kind)

    def _exact(self, text: str, kind: Any) -> str:
        """Guard a whole number that may come out too large to be exact."""
        return f"$exact({text})" if self.script.careful and kind == WHOLE else text

    def _of_unaryop(self, node: Any) -> tuple[str, Any]:
        if isinstance(node.op, ast.Not):
            return f"!{self._truth(node.operand)}", TRUTH
        if isinstance(node.op, ast.Invert):
            self._refuse(node, "an operator that it does not know")
        sign, kind = "-" if isinstance(node.op, ast.USub) else "+", self._of(node.operand)[1]
        return f"({sign}{self._number(node.operand)})", REAL if kind == REAL else WHOLE

    def _of_boolop(self, node: Any) -> tuple[str, Any]:
        for each in node.values:
            if self._of(each)[1] != TRUTH:
                self._refuse(each, f"'and' or 'or' of {_said(self._of(each)[1])}, as a value")
        return self._truth(node), TRUTH

    def _of_compare(self, node: Any) -> tuple[str, Any]:
        parts = [node.left, *node.comparators]
        for each in parts[1:-1]:
            if any(isinstance(part, ast.Call) for part in ast.walk(each)):
                self._refuse(node, "a call in the middle of a chain of comparisons")
        signs = [
            _COMPARISONS.get(type(each)) or self._refuse(node, "a comparison that it does not know")
            for each in node.ops
        ]
        texts = [f"+{self._number(each)}" if self._of(each)[1] == TRUTH else self._number(each) for each in parts]
        pairs = [f"{texts[i]} {sign} {texts[i + 1]}" for i, sign in enumerate(signs)]
        return f"({' && '.join(pairs)})", TRUTH

    def _of_ifexp(self, node: Any) -> tuple[str, Any]:
        (one, kind), (other, last) = self._of(node.body), self._of(node.orelse)
        joined = _joined(kind, last)
        if joined is None:
            self._refuse(node, f"{_said(kind)} or {_said(last)}")
        return f"({self._truth(node.test)} ? {one} : {other})", joined

    def _of_tuple(self, node: Any) -> tuple[str, Any]:
        each = [self._of(part) for part in node.elts]
        return f"[{', '.join(text for text, _ in each)}]", Several(tuple(kind for _, kind in each))

    def _of_attribute(self, node: Any) -> tuple[str, Any]:
        text, kind = self._of(node.value)
        if kind in ("math", "np"):
            if node.attr in _CONSTANTS:
                return _CONSTANTS[node.attr], REAL
            return "", Native(f"{kind}.{node.attr}", None)
        if isinstance(kind, Record):
            inside = dict(kind.fields)
            if node.attr not in inside:
                self._refuse(node, f"{node.attr!r}, which {kind.name} has not; it has {', '.join(inside)}")
            return f"{text}.{node.attr}", inside[node.attr]
        if kind == CHANCE:
            if node.attr not in self.script.methods:
                self._refuse(
                    node, f"rng.{node.attr}, which it does not know; it knows {', '.join(self.script.methods)}"
                )
            return text, self.script.methods[node.attr]
        if isinstance(kind, Array) and node.attr == "size" and kind.axes == 1:
            return f"{text}.length", WHOLE
        if isinstance(kind, Array) and node.attr == "shape":
            return f"$shape({text}, {kind.axes})", Several((WHOLE,) * kind.axes)
        return self._refuse(node, f"{node.attr!r} of {_said(kind)}, which it does not know")

    def _of_subscript(self, node: Any) -> tuple[str, Any]:
        text, kind = self._of(node.value)
        if isinstance(kind, Several):
            part: Any = getattr(node.slice, "value", None)
            if part not in range(len(kind.each)):
                self._refuse(node, "a part of a tuple that is not named by its number")
            return f"{text}[{part}]", kind.each[part]
        if not isinstance(kind, Array):
            self._refuse(node, f"a part of {_said(kind)}")
        axes, taken = kind.axes, 0
        for each in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            if isinstance(each, ast.UnaryOp) and axes == 1 and isinstance(node.value, ast.Name):  # the last, say
                return f"{text}[{text}.length + {self._number(each, WHOLE)}]", kind.of
            if taken >= axes:
                self._refuse(node, f"more places than {_said(kind)} has axes")
            if isinstance(each, ast.Slice):
                if each.step is not None or taken:
                    self._refuse(node, "a slice with a step, or after another")
                ends = [self._place(part) if part else None for part in (each.lower, each.upper)]
                inside = ", ".join([ends[0] or "0", *([ends[1]] if ends[1] else [])])
                text, taken = f"{text}.{'subarray' if axes == 1 else 'slice'}({inside})", taken + 1
            elif taken:
                self._refuse(node, "a place after a slice")
            else:
                place = self._place(each)
                text, axes = f"{text}[{f'$at({text}, {place})' if self.script.careful else place}]", axes - 1
        return text, Array(kind.of, axes) if axes else kind.of

    def _place(self, node: Any) -> str:
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            self._refuse(node, "a place counted from the end")
        return self._number(node, WHOLE)

    def _of_call(self, node: Any) -> tuple[str, Any]:
        if isinstance(node.func, ast.Name) and node.func.id not in self.kinds and node.func.id in _BUILT_IN:
            return self._built_in(node, node.func.id)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            return self._reshaped(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sort" and not node.args and not node.keywords:
            return f"{self._sortable(node, node.func.value)}.sort()", NOTHING
        text, called = self._of(node.func)
        if isinstance(called, Native) and called.name.startswith(("math.", "np.")):
            return self._of_module(node, *called.name.split("."))
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            self._refuse(node, "an argument by its name")
        given = [self._of(each) for each in node.args]
        if isinstance(node.func, ast.Attribute) and called in self.script.methods.values():
            given = [(text, CHANCE), *given]
        texts, kinds = [each for each, _ in given], tuple(kind for _, kind in given)
        if isinstance(called, Made):
            if len(given) != len(called.fields):
                self._refuse(node, f"{called.name} has {len(called.fields)} parts, not {len(given)}")
            inside = [f"{field}: {each}" for field, each in zip(called.fields, texts, strict=True) if each]
            return f"{{{', '.join(inside)}}}", Record(called.name, tuple(zip(called.fields, kinds, strict=True)))
        if isinstance(called, Function):
            try:
                called = self.script._call(called, kinds)
            except RefusedError as error:
                error.calls.append((self.function.name, self.function.line + node.lineno))
                raise
        elif not isinstance(called, Native):
            self._refuse(node, f"a call of {_said(called)}")
        self.calls.add(called.name)
        return f"{called.name}({', '.join(each or '0' for each in texts)})", called.returns

    def _built_in(self, node: Any, name: str) -> tuple[str, Any]:
        if node.keywords:
            self._refuse(node, "an argument by its name")
        if name == "pow" and len(node.args) == 2:
            return f"Math.pow({self._number(node.args[0])}, {self._number(node.args[1])})", REAL
        if name in ("max", "min"):
            if len(node.args) < 2:
                self._refuse(node, f"{name} of one thing: write the loop")
            kind = self._of(node.args[0])[1]
            for each in node.args[1:]:
                kind = _joined(kind, self._of(each)[1])
            text = self._number(node.args[0])
            for each in node.args[1:]:
                text = f"${name}({text}, {self._number(each)})"
            return text, kind
        if len(node.args) != 1:
            self._refuse(node, f"{name} of {len(node.args)} things")
        text, kind = self._of(node.args[0])
        if name == "len":
            return (f"{text}.length", WHOLE) if isinstance(kind, Array) else self._refuse(node, f"len of {_said(kind)}")
        if name == "bool":
            return self._truth(node.args[0]), TRUTH
        text = self._number(node.args[0])
        if name == "abs":
            return f"Math.abs({text})", kind
        if name == "float":
            return f"+{text}" if kind == TRUTH else text, REAL
        if kind == REAL:
            return self._exact(f"Math.trunc({text})", WHOLE), WHOLE
        return f"+{text}" if kind == TRUTH else text, WHOLE

    def _of_module(self, node: Any, module: str, name: str) -> tuple[str, Any]:
        if name == "argsort":
            if [(each.arg, getattr(each.value, "value", None)) for each in node.keywords] != [("kind", "mergesort")]:
                self._refuse(
                    node, "np.argsort without kind='mergesort', which leaves open what becomes of equal numbers"
                )
            return f"$sorted({self._sortable(node, node.args[0])})", Array(WHOLE, 1)
        if name == "searchsorted":
            sides = [*node.args[2:], *(each.value for each in node.keywords if each.arg == "side")]
            side = sides[0].value if sides else "left"
            text, value = self._of(node.args[0])[0], self._number(node.args[1])
            return f"$below({text}, {value}, {'true' if side == 'right' else 'false'})", WHOLE
        if node.keywords:
            self._refuse(node, "an argument by its name")
        if module == "np" and name in ("zeros", "empty", "full"):
            shape = node.args[0].elts if isinstance(node.args[0], ast.Tuple) else [node.args[0]]
            others = node.args[2:] if name == "full" else node.args[1:]
            said = ast.unparse(others[0]) if others else "float"
            if said not in ("float", "np.float64", "int", "np.int64"):
                self._refuse(node, f"an array of {said}")
            text = f"$zeros({', '.join(self._number(each, WHOLE) for each in shape)})"
            if name == "full":
                text = f"$filled({text}, {self._number(node.args[1])})"
            return text, Array(WHOLE if "int" in said else REAL, len(shape))
        if module == "np" and name == "argmax":
            text, kind = self._of(node.args[0])
            if not isinstance(kind, Array) or kind.axes != 1 or len(node.args) != 1:
                self._refuse(node, "np.argmax of that")
            return f"$largest({text})", WHOLE
        if name not in _MATH and not (module == "math" and name in _TESTS):
            self._refuse(node, f"{module}.{name}, which it does not know")
        if any(isinstance(self._of(each)[1], Array) for each in node.args):
            self._refuse(node, f"{module}.{name} of a whole array: write the loop")
        given = ", ".join(self._number(each) for each in node.args)
        if name in _TESTS:
            return _TESTS[name].format(given), TRUTH
        if len(node.args) != _MATH[name]:
            self._refuse(node, f"{module}.{name} of {len(node.args)} numbers")
        kind = WHOLE if module == "math" and name in ("floor", "ceil") else REAL
        return self._exact(f"Math.{'abs' if name == 'fabs' else name}({given})", kind), kind

    def _sortable(self, node: Any, array: Any) -> str:
        text, kind = self._of(array)
        if kind != Array(REAL, 1):
            self._refuse(node, f"a sort of {_said(kind)}")
        return text

    def _reshaped(self, node: Any) -> tuple[str, Any]:
        text, kind = self._of(node.func.value)
        shape = [self._number(each, WHOLE) for each in node.args]
        if not isinstance(kind, Array) or node.keywords:
            self._refuse(node, f"reshape of {_said(kind)}")
        if len(shape) == 1 and shape[0] == "(-1)":
            return f"$flat({text})", Array(kind.of, 1)
        if len(shape) < 2:
            self._refuse(node, "reshape to one axis of a certain length")
        return f"$rows({text}, {', '.join(shape)})", Array(kind.of, len(shape))


_BUILT_IN = frozenset(["max", "min", "pow", "abs", "int", "float", "bool", "len"])
_WORDS = {
    "ListComp": "a comprehension",
    "Lambda": "lambda",
    "Dict": "a dictionary",
    "List": "a list",
    "JoinedStr": "an f-string",
    "GeneratorExp": "a generator",
    "Raise": "raise",
    "Try": "try",
    "With": "with",
    "FunctionDef": "a function in a function",
    "Starred": "a star",
    "Set": "a set",
    "Import": "import",
    "ImportFrom": "import",
    "Global": "global",
    "Delete": "del",
    "SetComp": "a comprehension",
    "DictComp": "a comprehension",
    "Yield": "yield",
    "Assert": "assert",
    "Slice": "a slice",
}


def _said(kind: Any) -> str:
    """Say in words what a kind is."""
    if isinstance(kind, Array):
        return f"an array of {'whole ' if kind.of == WHOLE else ''}numbers" + (
            f" with {kind.axes} axes" if kind.axes > 1 else ""
        )
    if isinstance(kind, Record | Made):
        return f"a {kind.name}"
    if isinstance(kind, Several):
        return f"{len(kind.each)} values"
    if isinstance(kind, Function | Native):
        return f"the function {kind.name}"
    words = {WHOLE: "a whole number", REAL: "a number", TRUTH: "True or False", NOTHING: "nothing", CHANCE: "rng"}
    return words.get(kind, "nothing that it knows" if kind is None else str(kind))
