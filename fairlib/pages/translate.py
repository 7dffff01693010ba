"""Rules in JavaScript: a strict translator of the Python in which rules are written.

It knows numbers, arrays of numbers, named tuples of them, loops, conditions, `math`, and calls of functions that are
made of the same; it refuses everything else, by name and line. It needs nothing but `ast`, so it can run wherever
Python is read, in a page as well.
"""

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

# The kinds of values; those of arrays and tuples are below.
WHOLE = "whole"
REAL = "real"  # any number
TRUTH = "truth"  # True and False
NOTHING = "nothing"  # what a function without an answer returns
CHANCE = "chance"  # a random generator
MAYBE = "whole or nothing"  # of a rule that returns an arm, or fills p


class Array(NamedTuple):
    """The kind of an array; one of several axes is a list of rows."""

    of: str
    axes: int


class Record(NamedTuple):
    """The kind of a named tuple."""

    name: str
    fields: tuple[tuple[str, Any], ...]


class Several(NamedTuple):
    """The kind of a plain tuple, such as two results of a function."""

    each: tuple[Any, ...]


class Native(NamedTuple):
    """A function that is there in JavaScript."""

    name: str
    returns: Any


class Made(NamedTuple):
    """A class of named tuples."""

    name: str
    fields: tuple[str, ...]


class Function(NamedTuple):
    """A function to be translated."""

    name: str
    text: str
    find: Callable[[str], Any]
    line: int = 0


class RefusedError(ValueError):
    """Something that the translator does not know."""

    def __init__(self, function: str, line: int, what: str) -> None:
        super().__init__(f"line {line} of {function!r}: {what}")
        self.function, self.line, self.what = function, line, what
        self.calls: list[tuple[str, int]] = []  # on the way to there, from its end: in which functions and lines


class Script:
    """JavaScript in the making: each function once for each kind of its arguments."""

    def __init__(self, methods: dict[str, Any], careful: bool = False) -> None:
        self.methods, self.careful = methods, careful
        self._known: dict[Any, Native] = {}
        self._texts: dict[str, str] = {}
        self._under_way: list[Any] = []
        self.visits = self.depth = 0

    def add(self, function: Function, kinds: Iterable[Any]) -> Native:
        """Translate a function, and what it calls."""
        self.visits = self.depth = 0
        return self.call(function, tuple(kinds))

    def call(self, function: Function, kinds: tuple[Any, ...]) -> Native:
        """Translate a function for kinds of its arguments, unless it has been."""
        key = (function, kinds)
        if key not in self._known:
            if key in self._under_way:
                raise RefusedError(function.name, function.line + 1, "it calls itself")
            self._under_way.append(key)
            body = _Body(self, function, kinds)
            self._under_way.pop()
            i = 1
            while self._texts.get(f"{function.name}${i}", body.text) != body.text:
                i += 1
            name = f"{function.name}${i}"  # with a sign that no name of Python has
            self._texts[name] = body.text
            self._known[key] = Native(name, body.returns)
        return self._known[key]

    def text(self) -> str:
        """Return the functions that were added, and those that they call."""
        return "\n".join(f"function {name}{text}" for name, text in sorted(self._texts.items()))


_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"}
_COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "===", ast.NotEq: "!=="}
_REALS = ["sqrt", "log", "exp", "expm1", "log1p", "log2", "cos", "sin", "tanh"]
_ROUNDED = ["floor", "ceil"]
# Of each function of `math`: how many numbers it takes, what it is in JavaScript, and the kind of what it returns.
_MATH = {
    **{name: (1, f"Math.{name}({{}})", REAL) for name in _REALS},
    **{name: (1, f"Math.{name}({{}})", WHOLE) for name in _ROUNDED},
    "fabs": (1, "Math.abs({})", REAL),
    "pow": (2, "$pow({})", REAL),
    "atan2": (2, "Math.atan2({})", REAL),
    "hypot": (2, "Math.hypot({})", REAL),
    "isnan": (1, "Number.isNaN({})", TRUTH),
    "isfinite": (1, "Number.isFinite({})", TRUTH),
    "isinf": (1, "(Math.abs({}) === Infinity)", TRUTH),
}
_NUMPY = {name: (1, f"Math.{name}({{}})", REAL) for name in (*_REALS, *_ROUNDED)} | {"fabs": _MATH["fabs"]}
_OF_ARRAYS = ("zeros", "empty", "argsort", "searchsorted", "argmax")
_CONSTANTS = {"inf": "Infinity", "nan": "NaN", "pi": "Math.PI", "e": "Math.E"}
_VISITS = 5_000  # of parts of functions: a page reads a rule where nothing can stop it; the largest of ours takes 1,800
_DEPTH = 100  # of parts in parts: a page's Python has room for 900 calls in calls


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
        self.script, self.function = script, function
        tree = self._definition()
        names = [each.arg for each in [*tree.args.posonlyargs, *tree.args.args]]
        starred = tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs
        self._only_if(not starred, tree, "arguments that are not named one by one")
        defaults = [None] * (len(names) - len(tree.args.defaults)) + list(tree.args.defaults)
        fit = len(kinds) <= len(names) and None not in defaults[len(kinds) :]
        self._only_if(fit, tree, f"it takes {len(names)} arguments, not {len(kinds)}")
        self.kinds: dict[str, Any] = {}  # of the names that are set in it
        self.names: set[str] = set()
        given = [self._of(each) for each in defaults[len(kinds) :]]
        numbers = {kind for _, kind in given} <= {WHOLE, REAL, TRUTH, NOTHING}
        self._only_if(numbers, tree, "a default that is no number")
        texts = [""] * len(kinds) + [f" = {text}" for text, _ in given]
        self.kinds = dict(zip(names, [*kinds, *(kind for _, kind in given)], strict=True))
        written = (each for each in ast.walk(tree) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
        self.given, self.names = set(names), {*names, *(each.id for each in written)}
        self.returns: Any = None
        before = None
        while before != (dict(self.kinds), self.returns):  # the kind of a name may only be known further down
            before = dict(self.kinds), self.returns
            self.counter, self.held = 0, list[str]()
            lines = self._block(tree.body)
            if not _always_returns(tree.body):
                self._leave(tree, NOTHING)
        local = [*(f"{each}$" for each in sorted({*self.kinds} - {*names})), *self.held]
        declared = [f"  let {', '.join(local)};"] if local else []
        head = ", ".join(f"{name}${text}" for name, text in zip(names, texts, strict=True))
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

    def _only_if(self, fits: Any, node: Any, what: str) -> None:
        """Refuse a part of a function unless it fits."""
        if not fits:
            self._refuse(node, what)

    def _strange(self, node: Any) -> Any:
        return self._refuse(node, f"{_word(node)}, which it does not know")

    def _of(self, node: Any) -> Any:
        """Return the lines of a statement, or the text and the kind of an expression."""
        self.script.visits += 1
        self.script.depth += 1
        self._only_if(self.script.visits <= _VISITS, node, "the rest of a text that is too long")
        self._only_if(self.script.depth <= _DEPTH, node, f"more than {_DEPTH} parts, each within the one before")
        made: Any = getattr(self, f"_of_{type(node).__name__.lower()}", self._strange)(node)
        self.script.depth -= 1
        return made

    def _new(self) -> str:
        """Return a name that nothing else has."""
        self.counter += 1
        return f"${self.counter}"

    def _twice(self, text: str) -> tuple[str, str]:
        """Return what stands for a value where it is used first, and where again: it is computed once."""
        if not any(sign in text for sign in "([ "):
            return text, text
        self.held.append(self._new())
        return f"({self.held[-1]} = {text})", self.held[-1]

    # Statements.

    def _block(self, body: list[Any]) -> list[str]:
        lines = []
        for each in body:
            lines += ["  " + line for line in self._of(each)]
            if isinstance(each, ast.If) and _always_returns(self._done(each) or []):
                break  # what follows is never done, and may make no sense
        return lines

    def _of_expr(self, node: Any) -> list[str]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return []  # a docstring
        self._only_if(isinstance(node.value, ast.Call), node, "a value that is not used")
        return [f"{self._of(node.value)[0]};"]

    def _of_pass(self, node: Any) -> list[str]:
        return []

    def _of_break(self, node: Any) -> list[str]:
        return [f"{_word(node)};"]

    _of_continue = _of_break

    def _of_return(self, node: Any) -> list[str]:
        text, kind = ("", NOTHING) if node.value is None else self._of(node.value)
        self._leave(node, kind)
        return [f"return {text};"]

    def _leave(self, node: Any, kind: Any) -> None:
        """Take note of the kind of what is returned."""
        joined = _joined(self.returns, kind)
        self._value(node, kind)
        if joined is None:
            self._refuse(node, f"it returns {_said(self.returns)} in one place, and {_said(kind)} in another")
        self.returns = joined

    def _of_if(self, node: Any) -> list[str]:
        if (done := self._done(node)) is not None:
            return [line.removeprefix("  ") for line in self._block(done)]
        test, body = self._truth(node.test), self._block(node.body)
        other = ["} else {", *self._block(node.orelse)] if node.orelse else []
        return [f"if ({test}) {{", *body, *other, "}"]

    def _done(self, node: Any) -> Any:
        """Return what is done after a test such as `x is None`, of which the kind of x decides; None after others."""
        test = node.test
        if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot) and len(test.ops) == 1):
            return None
        none = isinstance(test.comparators[0], ast.Constant) and test.comparators[0].value is None
        self._only_if(none and isinstance(test.left, ast.Name), test, "a comparison that it does not know")
        same = bool(self._of(test.left)[1] == NOTHING) == isinstance(test.ops[0], ast.Is)
        return node.body if same else node.orelse

    def _of_while(self, node: Any) -> list[str]:
        return self._loop(node, f"while ({self._truth(node.test)}) {{", [])

    def _loop(self, node: Any, head: str, first: list[str]) -> list[str]:
        self._only_if(not node.orelse, node, "else after a loop")
        return [head, *first, *self._block(node.body), "}"]

    def _of_for(self, node: Any) -> list[str]:
        it, i = node.iter, self._new()
        self._only_if(isinstance(node.target, ast.Name), node, "a loop over anything but one name")
        first = [f"  {node.target.id}$ = {i};"]
        if isinstance(it, ast.Tuple) and it.elts:
            each = [self._of(part) for part in it.elts]
            for _, kind in each:
                self._bind(node.target, node.target.id, kind)
            return self._loop(node, f"for (const {i} of [{', '.join(text for text, _ in each)}]) {{", first)
        counts = isinstance(it, ast.Call) and self._built_in_name(it.func) == "range" and not it.keywords
        self._only_if(counts, node, "a loop over anything but range(...)")
        self._only_if(1 <= len(it.args) <= 3, node, f"range of {len(it.args)} things")
        start, stop = ["0", *(self._number(each, WHOLE) for each in it.args[:2])][-2:]
        step: Any = _whole(it.args[2]) if len(it.args) == 3 else 1
        self._only_if(step, node, "a loop whose step is not written as a whole number")
        self._bind(node.target, node.target.id, WHOLE)
        end, sign = self._new(), ">" if step < 0 else "<"
        # The name keeps its last value after the loop, and the end is looked at once, as in Python.
        return self._loop(node, f"for (let {i} = {start}, {end} = {stop}; {i} {sign} {end}; {i} += {step}) {{", first)

    def _of_assign(self, node: Any) -> list[str]:
        text, kind = self._of(node.value)
        if len(node.targets) == 1:
            return self._assign(node.targets[0], text, kind)
        return self._hold(text, [(each, "", kind) for each in node.targets])

    def _of_annassign(self, node: Any) -> list[str]:
        self._only_if(node.value, node, "a name without a value")
        return self._assign(node.target, *self._of(node.value))

    def _assign(self, target: Any, text: str, kind: Any) -> list[str]:
        if not isinstance(target, ast.Tuple):
            looks = [each for each in ast.walk(target) if isinstance(each, ast.Subscript | ast.Call)]
            # The value comes before its place, as in Python, if finding the place takes more than a name.
            return self._hold(text, [(target, "", kind)]) if len(looks) > 1 else self._put(target, text, kind)
        fit = isinstance(kind, Several) and len(kind.each) == len(target.elts)
        self._only_if(fit, target, f"{len(target.elts)} names for {_said(kind)}")
        return self._hold(text, [(to, f"[{i}]", kind.each[i]) for i, to in enumerate(target.elts)])

    def _hold(self, text: str, puts: list[tuple[Any, str, Any]]) -> list[str]:
        """Hold a value while it, or parts of it, are put in several places."""
        held = self._new()
        lines = [line for target, part, kind in puts for line in self._put(target, f"{held}{part}", kind)]
        return ["{", f"  const {held} = {text};", *("  " + line for line in lines), "}"]

    def _put(self, target: Any, text: str, kind: Any) -> list[str]:
        if isinstance(target, ast.Name):
            self._bind(target, target.id, kind)
            return [f"{target.id}$ = {text};"]
        self._only_if(isinstance(target, ast.Subscript), target, f"a value given to {_word(target)}")
        place, there = self._of(target)
        one = kind.of if isinstance(kind, Array) else kind
        if isinstance(there, Array):
            fit = one in (WHOLE, REAL) and (not isinstance(kind, Array) or kind.axes == there.axes)
            self._only_if(fit, target, f"{_said(kind)} put where {_said(there)} is")
        else:
            self._need(target, kind)
        self._keeps_whole(target, getattr(there, "of", there), one)
        if isinstance(there, Array):
            return [f"$put({place}, {text});"]
        return [f"{place} = {'+' if kind == TRUTH else ''}{text};"]

    def _keeps_whole(self, node: Any, there: Any, kind: Any) -> None:
        fit = there != WHOLE or kind != REAL
        self._only_if(fit, node, "a number that may not be whole, put into an array of whole ones")

    def _bind(self, node: Any, name: str, kind: Any) -> None:
        self._only_if(kind != NOTHING, node, f"{_said(kind)} given the name {name!r}")
        self._value(node, kind)
        joined = _joined(self.kinds.get(name), kind)
        if joined is None:
            one, other = _said(self.kinds[name]), _said(kind)
            self._refuse(node, f"{name!r} stands for {one} in one place, and for {other} in another")
        self.kinds[name] = joined

    def _of_augassign(self, node: Any) -> list[str]:
        (place, there), value = self._of(node.target), self._of(node.value)
        if isinstance(node.target, ast.Name):
            return self._put(node.target, *self._operation(node, (place, there), value))
        sign = _SIGNS.get(type(node.op))
        self._only_if(sign, node, "an operator that it does not know")
        fit = there in (WHOLE, REAL) and sign in ("+", "-", "*", "/")
        self._only_if(fit, node, f"{sign}= on {_said(there)}")
        self._need(node, value[1])
        self._keeps_whole(node, there, REAL if sign == "/" else value[1])
        return [f"{self._exact(f'{place} {sign}= {value[0]}', there)};"]

    # Expressions.

    def _value(self, node: Any, kind: Any) -> None:
        """Refuse a function, a module, and what is of no kind."""
        no_value = kind in (None, "math", "np") or isinstance(kind, Function | Native | Made)
        self._only_if(not no_value, node, f"{_said(kind)} as a value")

    def _need(self, node: Any, kind: Any, wanted: Any = REAL) -> None:
        fit = kind in (WHOLE, TRUTH) or (kind, wanted) == (REAL, REAL)
        self._only_if(fit, node, f"{_said(kind)} where {_said(wanted)} is needed")

    def _number(self, node: Any, wanted: Any = REAL) -> str:
        text, kind = self._of(node)
        self._need(node, kind, wanted)
        return str(text)

    def _truth(self, node: Any) -> str:
        if isinstance(node, ast.BoolOp):
            return self._both(node, [self._truth(each) for each in node.values])
        return self._true(node, *self._of(node))

    def _true(self, node: Any, text: str, kind: Any) -> str:
        self._only_if(kind in (WHOLE, REAL, TRUTH), node, f"{_said(kind)} as a condition")
        return text if kind == TRUTH else f"({text} !== 0)"

    def _both(self, node: Any, texts: list[str]) -> str:
        return f"({(' && ' if isinstance(node.op, ast.And) else ' || ').join(texts)})"

    def _of_name(self, node: Any) -> tuple[str, Any]:
        name = node.id
        if name in self.kinds:
            asked = self.script.careful and name not in self.given
            return f"$known({name}$)" if asked else f"{name}$", self.kinds[name]
        self._only_if(name not in self.names, node, f"{name!r}, which has no value yet")
        try:
            value = self.function.find(name)
        except KeyError:
            self._refuse(node, f"{name!r}, which stands for nothing that it knows")
        return self._written(node, value) if isinstance(value, int | float) else ("", value)

    def _of_constant(self, node: Any) -> tuple[str, Any]:
        if node.value is None:
            return "undefined", NOTHING
        self._only_if(isinstance(node.value, int | float), node, f"{node.value!r}, which is no number")
        return self._written(node, node.value)

    def _written(self, node: Any, value: float) -> tuple[str, Any]:
        """Return the text and the kind of a number, or of True or False."""
        if isinstance(value, bool):
            return str(value).lower(), TRUTH
        exact = not isinstance(value, int) or abs(value) < 2**53
        self._only_if(exact, node, "a whole number of more than 53 bits")
        if value != value or value in (float("inf"), -float("inf")):
            return "NaN" if value != value else "Infinity" if value > 0 else "(-Infinity)", REAL
        said, kind = (repr(int(value)), WHOLE) if isinstance(value, int) else (repr(float(value)), REAL)
        return f"({said})" if said.startswith("-") else said, kind

    def _of_binop(self, node: Any) -> tuple[str, Any]:
        chain = [node]  # of a long sum, from its end
        while isinstance(chain[-1].left, ast.BinOp):
            chain.append(chain[-1].left)
        made: tuple[str, Any] = self._of(chain[-1].left)
        for each in reversed(chain):
            made = self._operation(each, made, self._of(each.right))
        return made

    def _operation(self, node: Any, one: tuple[str, Any], other: tuple[str, Any]) -> tuple[str, Any]:
        """Return the text and the kind of an operation on two values."""
        (a, left), (b, right) = one, other
        whole_array = isinstance(left, Array) or isinstance(right, Array)
        self._only_if(not whole_array, node, "arithmetic on a whole array: write the loop")
        self._need(node, left)
        self._need(node, right)
        kind, sign = REAL if REAL in (left, right) else WHOLE, _SIGNS.get(type(node.op))
        if isinstance(node.op, ast.BitAnd) and kind == WHOLE:
            # The engine's masks have fewer than 32 bits.
            return f"Number(BigInt({a}) & BigInt({b}))" if self.script.careful else f"({a} & {b})", WHOLE
        self._only_if(sign, node, "an operator that it does not know")
        if sign in ("//", "%"):
            self._only_if(kind == WHOLE, node, f"{sign} of numbers that may not be whole")
            b = f"$divisor({b})" if self.script.careful else b
            return self._exact(f"Math.floor({a} / {b})" if sign == "//" else f"$rest({a}, {b})", WHOLE), WHOLE
        if sign == "**":
            fit = kind == REAL or b.isdigit()
            self._only_if(fit, node, "a power of whole numbers, which may be none: write 2.0, say")
            return self._exact(f"$pow({a}, {b})", kind), kind
        return (f"({a} / {b})", REAL) if sign == "/" else (self._exact(f"({a} {sign} {b})", kind), kind)

    def _exact(self, text: str, kind: Any) -> str:
        """Guard a whole number that may come out too large to be exact, or as -0."""
        return f"$exact({text})" if self.script.careful and kind == WHOLE else text

    def _of_unaryop(self, node: Any) -> tuple[str, Any]:
        if isinstance(node.op, ast.Not):
            return f"!{self._truth(node.operand)}", TRUTH
        self._only_if(not isinstance(node.op, ast.Invert), node, "an operator that it does not know")
        text, kind = self._of(node.operand)
        self._need(node, kind)
        kind = REAL if kind == REAL else WHOLE
        return self._exact(f"({'-' if isinstance(node.op, ast.USub) else '+'}{text})", kind), kind

    def _of_boolop(self, node: Any) -> tuple[str, Any]:
        each = [self._of(part) for part in node.values]
        for part, (_, kind) in zip(node.values, each, strict=True):
            self._only_if(kind == TRUTH, part, f"'and' or 'or' of {_said(kind)}, as a value")
        return self._both(node, [text for text, _ in each]), TRUTH

    def _of_compare(self, node: Any) -> tuple[str, Any]:
        last, pairs = self._compared(node.left), []
        for i, op in enumerate(node.ops):
            sign = _COMPARISONS.get(type(op)) or self._refuse(node, "a comparison that it does not know")
            text = self._compared(node.comparators[i])
            first, again = self._twice(text) if i < len(node.ops) - 1 else (text, "")
            pairs.append(f"{last} {sign} {first}")
            last = again
        return f"({' && '.join(pairs)})", TRUTH

    def _compared(self, node: Any) -> str:
        text, kind = self._of(node)
        self._need(node, kind)
        return f"+{text}" if kind == TRUTH else text

    def _of_ifexp(self, node: Any) -> tuple[str, Any]:
        test, (one, kind), (other, last) = self._truth(node.test), self._of(node.body), self._of(node.orelse)
        joined = _joined(kind, last)
        self._only_if(joined, node, f"{_said(kind)} or {_said(last)}")
        self._value(node, joined)
        return f"({test} ? {one} : {other})", joined

    def _of_tuple(self, node: Any) -> tuple[str, Any]:
        each = [self._of(part) for part in node.elts]
        for _, kind in each:
            self._value(node, kind)
            self._only_if(not isinstance(kind, Several), node, "a tuple in a tuple")
        return f"[{', '.join(text for text, _ in each)}]", Several(tuple(kind for _, kind in each))

    def _of_attribute(self, node: Any) -> tuple[str, Any]:
        text, kind = self._of(node.value)
        if kind in ("math", "np"):
            if node.attr in _CONSTANTS:
                return _CONSTANTS[node.attr], REAL
            return "", Native(f"{kind}.{node.attr}", None)
        if isinstance(kind, Record):
            inside = dict(kind.fields)
            unknown = f"{node.attr!r}, which {kind.name} has not; it has {', '.join(inside)}"
            self._only_if(node.attr in inside, node, unknown)
            return f"{text}.{node.attr}", inside[node.attr]
        if kind == CHANCE:
            unknown = f"rng.{node.attr}, which it does not know; it knows {', '.join(self.script.methods)}"
            self._only_if(node.attr in self.script.methods, node, unknown)
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
            fit = type(part) is int and part in range(len(kind.each))
            self._only_if(fit, node, "a part of a tuple that is not named by its number")
            return f"{text}[{part}]", kind.each[part]
        self._only_if(isinstance(kind, Array), node, f"a part of {_said(kind)}")
        axes, taken = kind.axes, 0
        for each in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
            self._only_if(taken < axes, node, f"more places than {_said(kind)} has axes")
            if isinstance(each, ast.Slice):
                self._only_if(each.step is None and not taken, node, "a slice with a step, or after another")
                ends = [self._place(part) if part else None for part in (each.lower, each.upper)]
                inside = ", ".join([ends[0] or "0", *([ends[1]] if ends[1] else [])])
                text, taken = f"{text}.{'subarray' if axes == 1 else 'slice'}({inside})", taken + 1
            elif taken:
                self._refuse(node, "a place after a slice")
            elif self.script.careful or isinstance(each, ast.UnaryOp):
                once, again = self._twice(text)
                text, axes = f"{once}[$at({again}, {self._place(each)})]", axes - 1
            else:
                text, axes = f"{text}[{self._place(each)}]", axes - 1
        return text, Array(kind.of, axes) if axes else kind.of

    def _place(self, node: Any) -> str:
        text, kind = self._of(node)
        self._only_if(kind == WHOLE, node, f"{_said(kind)} where a whole number is needed")  # True is a new axis
        return str(text)

    def _built_in_name(self, node: Any) -> str | None:
        """Return the name of a built-in function, unless it has been given to something else."""
        if not isinstance(node, ast.Name) or node.id not in _BUILT_IN or node.id in self.names:
            return None
        try:
            self.function.find(node.id)
        except KeyError:
            return str(node.id)
        return None

    def _of_call(self, node: Any) -> tuple[str, Any]:
        name = self._built_in_name(node.func)
        if name and name != "range":
            return self._built_in(node, name)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            return self._reshaped(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "sort" and not node.args and not node.keywords:
            return f"{self._sortable(node, node.func.value)}.sort()", NOTHING
        text, called = self._of(node.func)
        if isinstance(called, Native) and called.name.startswith(("math.", "np.")):
            return self._of_module(node, *called.name.split("."))
        self._only_if(not node.keywords, node, "an argument by its name")
        given = [self._of(each) for each in node.args]
        if isinstance(node.func, ast.Attribute) and called in self.script.methods.values():
            fit = not given or isinstance(called, Function)
            self._only_if(fit, node, f"rng.{node.func.attr} of {len(given)} things")
            given = [(text, CHANCE), *given]
        texts, kinds = [each for each, _ in given], tuple(kind for _, kind in given)
        if isinstance(called, Made):
            fit = len(given) == len(called.fields)
            self._only_if(fit, node, f"{called.name} has {len(called.fields)} parts, not {len(given)}")
            inside = [f"{field}: {each}" for field, each in zip(called.fields, texts, strict=True) if each]
            return f"{{{', '.join(inside)}}}", Record(called.name, tuple(zip(called.fields, kinds, strict=True)))
        if isinstance(called, Function):
            try:
                called = self.script.call(called, kinds)
            except RefusedError as error:
                error.calls.append((self.function.name, self.function.line + node.lineno))
                raise
        elif not isinstance(called, Native):
            self._refuse(node, f"a call of {_said(called)}")
        return f"{called.name}({', '.join(each or '0' for each in texts)})", called.returns

    def _built_in(self, node: Any, name: str) -> tuple[str, Any]:
        self._only_if(not node.keywords, node, "an argument by its name")
        number, extreme = len(node.args), name in ("max", "min")
        self._only_if(not extreme or number > 1, node, f"{name} of one thing: write the loop")
        self._only_if(extreme or number == (2 if name == "pow" else 1), node, f"{name} of {number} things")
        given = [self._of(each) for each in node.args]
        texts, kinds = [text for text, _ in given], [kind for _, kind in given]
        if name == "len":
            self._only_if(isinstance(kinds[0], Array), node, f"len of {_said(kinds[0])}")
            return f"{texts[0]}.length", WHOLE
        if name == "bool":
            return self._true(node, *given[0]), TRUTH
        for kind in kinds:
            self._need(node, kind)
        if name == "pow":
            return f"$pow({', '.join(texts)})", REAL
        text, kind = given[0]
        if extreme:
            for other, last in given[1:]:
                text, kind = f"${name}({text}, {other})", _joined(kind, last)
            return text, kind
        if name == "abs":
            return f"Math.abs({text})", REAL if kind == REAL else WHOLE
        if name == "int" and kind == REAL:
            return self._exact(f"Math.trunc({text})", WHOLE), WHOLE
        return f"+{text}" if kind == TRUTH else text, REAL if name == "float" else WHOLE

    def _of_module(self, node: Any, module: str, name: str) -> tuple[str, Any]:
        if module == "np" and name in _OF_ARRAYS and node.args:
            return self._of_arrays(node, name)
        self._only_if(not node.keywords, node, "an argument by its name")
        known = _MATH if module == "math" else _NUMPY
        self._only_if(name in known, node, f"{module}.{name}, which it does not know")
        (number, text, kind), given = known[name], [self._of(each) for each in node.args]
        whole_array = any(isinstance(each, Array) for _, each in given)
        self._only_if(not whole_array, node, f"{module}.{name} of a whole array: write the loop")
        self._only_if(len(given) == number, node, f"{module}.{name} of {len(given)} numbers")
        for _, each in given:
            self._need(node, each)
        return self._exact(text.format(", ".join(each for each, _ in given)), kind), kind

    def _of_arrays(self, node: Any, name: str) -> tuple[str, Any]:
        """Return the text and the kind of what NumPy makes of an array, or of a new one."""
        first, *more = node.args
        said = [ast.unparse(each) for each in (*more, *node.keywords)]
        if name in ("zeros", "empty"):
            shape = first.elts if isinstance(first, ast.Tuple) else [first]
            self._only_if(1 <= len(shape) <= 3, node, f"an array with {len(shape)} axes")
            known = said in ([], ["float"], ["np.float64"], ["int"], ["np.int64"])
            self._only_if(known, node, f"an array of {', '.join(said)}")
            kind = Array(WHOLE if "int" in "".join(said) else REAL, len(shape))
            return f"$zeros({', '.join(self._number(each, WHOLE) for each in shape)})", kind
        if name == "argsort":
            open_ended = "np.argsort without kind='mergesort', which leaves open what becomes of equal numbers"
            self._only_if(said == ["kind='mergesort'"], node, open_ended)
            return f"$sorted({self._sortable(node, first)})", Array(WHOLE, 1)
        text, kind = self._of(first)
        of_list = isinstance(kind, Array) and kind.axes == 1
        if of_list and name == "argmax" and not said:
            return f"$largest({text})", WHOLE
        side = {"": "false", "'right'": "true", "side='right'": "true"}.get(", ".join(said[1:]))
        self._only_if(of_list and name == "searchsorted" and more and side, node, f"np.{name} of that")
        return f"$below({text}, {self._number(more[0])}, {side})", WHOLE

    def _sortable(self, node: Any, array: Any) -> str:
        text, kind = self._of(array)
        self._only_if(kind == Array(REAL, 1), node, f"a sort of {_said(kind)}")
        return str(text)

    def _reshaped(self, node: Any) -> tuple[str, Any]:
        text, kind = self._of(node.func.value)
        shape = [self._number(each, WHOLE) for each in node.args]
        self._only_if(isinstance(kind, Array) and not node.keywords, node, f"reshape of {_said(kind)}")
        if len(shape) == 1 and _whole(node.args[0]) == -1:
            return f"$flat({text})", Array(kind.of, 1)
        self._only_if(2 <= len(shape) <= 3, node, "reshape to one axis of a certain length")
        return f"$rows({text}, {', '.join(shape)})", Array(kind.of, len(shape))


def _breaks(body: list[Any]) -> bool:
    """Whether a loop has a break of its own."""
    inside = [each.body + each.orelse for each in body if isinstance(each, ast.If)]
    return any(isinstance(each, ast.Break) for each in body) or any(map(_breaks, inside))


def _always_returns(body: list[Any]) -> bool:
    """Whether no way leads beyond some statements."""

    def leaves(each: Any) -> bool:
        if isinstance(each, ast.If):
            return bool(each.orelse) and _always_returns(each.body) and _always_returns(each.orelse)
        if isinstance(each, ast.While):
            return bool(getattr(each.test, "value", False)) and not _breaks(each.body)
        return isinstance(each, ast.Return)

    return any(map(leaves, body))


def _whole(node: Any) -> int | None:
    """Return a whole number as it is written, or None."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = _whole(node.operand)
        return None if number is None else -number
    value = getattr(node, "value", None)
    return value if type(value) is int else None


_BUILT_IN = frozenset(["range", "max", "min", "pow", "abs", "int", "float", "bool", "len"])
_WORDS = {
    "ListComp": "a comprehension",
    "SetComp": "a comprehension",
    "DictComp": "a comprehension",
    "GeneratorExp": "a generator",
    "Dict": "a dictionary",
    "List": "a list",
    "Set": "a set",
    "JoinedStr": "an f-string",
    "FunctionDef": "a function in a function",
    "Starred": "a star",
    "ImportFrom": "import",
    "Slice": "a slice",
}


def _word(node: Any) -> str:
    """Return what a part of Python is called."""
    return _WORDS.get(type(node).__name__, type(node).__name__.lower())


def _said(kind: Any) -> str:
    """Say in words what a kind is."""
    if isinstance(kind, Array):
        axes = f" with {kind.axes} axes" if kind.axes > 1 else ""
        return f"an array of {'whole ' if kind.of == WHOLE else ''}numbers{axes}"
    if isinstance(kind, Record | Made):
        return f"a {kind.name}"
    if isinstance(kind, Several):
        return f"{len(kind.each)} values"
    if isinstance(kind, Function | Native):
        return f"the function {kind.name}"
    words = {WHOLE: "a whole number", REAL: "a number", TRUTH: "True or False", NOTHING: "nothing", CHANCE: "rng"}
    return words.get(kind, "nothing that it knows" if kind is None else str(kind))
