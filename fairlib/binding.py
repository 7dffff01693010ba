"""How a rule, a draw or a merit function becomes what the engine calls: settings packed, memory sized, code compiled.

A short text is made that takes the engine's bare arrays apart and calls the function, by the names of its arguments.
The same text serves it compiled and interpreted.
"""

import dis
import hashlib
import inspect
import math
import numbers
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from fairlib import checks
from fairlib.compilation import (
    UndefinedError,
    afresh,
    at_once,
    codes,
    depends,
    helper,
    is_ours,
    kept,
    snapshot,
    switched_off,
)
from fairlib.desk import FINDERS, OnDesk
from fairlib.rules import Array, News, Rule


@helper
def piece(whole, params, i):
    """Return the piece of an array of which two settings say where it begins and where it ends."""
    return whole[int(params[i]) : int(params[i + 1])]


@helper
def opened(mail, arms, rewards, rounds, chances):
    """Return the news that has not been read, and count it as read.

    From where to where it lies say the first two numbers of `mail`; others are those of further readers.
    """
    first, last = mail[0], mail[1]
    mail[0] = last
    return News(last - first, arms[first:last], rewards[first:last], rounds[first:last], chances[first:last])


class WrongAnswerError(TypeError):
    """What a rule returns is neither an arm nor nothing."""

    def __init__(self, answer: str) -> None:
        super().__init__(f"a rule must return an arm, a whole number, or nothing after it has filled p, not {answer}")
        self.answer = answer


def told(answer: Any) -> int:
    """Return the arm that a rule answered, or -1 if it filled `p` and returned nothing."""
    if answer is None:
        return -1
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        return int(answer)
    raise WrongAnswerError(repr(answer))


@overload(told, jit_options={"forceinline": True})
def _told(answer):  # no annotations: Numba compares the arguments with those of what it returns
    if isinstance(answer, types.Integer):
        return lambda answer: answer
    if answer is types.none:
        return lambda answer: -1
    if isinstance(answer, types.Optional) and isinstance(answer.type, types.Integer):
        return lambda answer: -1 if answer is None else answer
    raise WrongAnswerError(_spoken(answer))


def _spoken(kind: Any) -> str:
    """Say in words what one of Numba's types is."""
    words = {types.Float: "a float", types.Boolean: "True or False", types.Array: "an array"}
    words |= {types.UnicodeType: "a string", types.BaseTuple: "a tuple"}
    return next((said for each, said in words.items() if isinstance(kind, each)), f"a {kind}")


@helper
def whole_rounds(late):
    """Return a delay as the engine has it: -1 for never, and -2 for what is no delay."""
    if late > 1e15:
        return -1
    if not late >= 0.0 or late != math.floor(late):
        return -2
    return int(late)


@dataclass(frozen=True, eq=False)
class Form:
    """A kind of function that the engine calls: what it may ask for, and how that is handed over.

    Parameters
    ----------
    what : str
        What messages call it.
    flat : str
        The arguments of the function that the engine calls, the settings in `params` and memory in `state`.
    gives : dict
        What may be asked for by name, each with its expression in those arguments.
    signature : numba signature
        The types of the arguments.
    answer : str
        What becomes of what the function returns, around ``{}``.
    by_arm : bool
        Whether a setting is a number (or a row of numbers) for each arm, of which the function is given its arm's.
    numbers : str
        Where the flat function finds the settings.
    tuples : dict
        The tuples among what it may ask for, by their names, for a look at what is asked of them.
    sizes : tuple of str
        The sizes that its memory may have, besides whole numbers and settings; none if it can have no memory.

    Examples
    --------
    >>> from fairlib.merit import VALUE
    >>> VALUE.flat
    'params, x'
    """

    what: str
    flat: str
    gives: Mapping[str, str]
    signature: Any
    answer: str = "{}"
    by_arm: bool = False
    numbers: str = "params"
    tuples: Mapping[str, Any] = field(default_factory=dict)
    sizes: tuple[str, ...] = ()

    @property
    def compiled(self) -> Any:
        """The types of the compiled function, which takes its arrays on a desk."""
        kinds = [each for each in self.signature.args if not isinstance(each, types.Array | types.NamedTuple)]
        return self.signature.return_type(types.int64, *kinds)

    def on_desk(self, text: str) -> str:
        """Return the text with a flat function that finds the arrays that it needs on a desk."""
        head = f"def flat({self.flat}):"
        before, body = text.split(head)
        lines, others, place = [], [], 0
        for name, kind in zip(self.flat.split(", "), self.signature.args, strict=True):
            parts = kind.types if isinstance(kind, types.NamedTuple) else [kind]
            found = [f"{FINDERS[part]}(desk, {place + i})" for i, part in enumerate(parts) if part in FINDERS]
            place += len(found)
            if not found:
                others.append(name)
            elif re.search(rf"\b{name}\b", body):
                tuple_of = kind.instance_class.__name__ if isinstance(kind, types.NamedTuple) else ""
                lines.append(f"    {name} = {tuple_of}({', '.join(found)})")
        return "\n".join([before + f"def flat({', '.join(['desk', *others])}):", *lines]) + body


class Layout:
    """The text of the function that the engine calls, in the making, and the numbers that it is given.

    Parameters
    ----------
    by_arm : bool
        Whether there is a row of numbers for each arm.

    Examples
    --------
    >>> layout = Layout(by_arm=False)
    >>> layout.number(0.5), layout.array(np.ones(3))
    ('params[0]', 'piece(params, params, 1)')
    >>> layout.numbers({})
    array([0.5, 3. , 6. , 1. , 1. , 1. ])
    """

    def __init__(self, by_arm: bool) -> None:
        self.by_arm = by_arm
        self.texts: list[str] = []
        self.functions: dict[str, Any] = {}
        self._slots: list[Any] = []  # a number, or what finds it once the sizes are known
        self._arrays: list[Any] = []
        self._settings: dict[
            str, list[tuple[bool, int, int]]
        ] = {}  # whether arrays, and which of those or of the slots
        self._blocks: list[Any] = []
        self._places: dict[str, int] = {}  # which block of memory has which name
        self._single: set[str] = set()  # those that are one number, whatever the sizes
        self.readers = 0  # how many functions read the news, each on its own

    def text(self) -> str:
        """Return the whole text: all functions but ``flat``, the last one, are called by others."""
        return "\n\n\n".join(each if each.startswith("def flat(") else f"@helper\n{each}" for each in self.texts)

    def evaluated(self, expression: str) -> Any:
        """Return what an expression of the text stands for in plain Python."""
        scope = _scope(self.text(), self.functions, lambda function: function)
        return eval(expression, scope | {"params": self.numbers({})})

    def take(self, other: "Layout") -> None:
        """Add the functions of another layout, which keeps its numbers to itself."""
        self.texts += other.texts
        self.functions |= other.functions

    def number(self, value: Any, source: str = "params") -> str:
        """Give a number, or one for each arm, a place; return its expression."""
        self._slots.append(value)
        return f"{source}[{'arm, ' if self.by_arm else ''}{len(self._slots) - 1}]"

    def array(self, value: Any, source: str = "params") -> str:
        """Give an array, or a function of the sizes that returns it, a place; return its expression."""
        if self.by_arm:
            first = len(self._slots)
            self._slots += list(value.T)
            return f"{source}[arm, {first} : {len(self._slots)}]"
        at = len(self._arrays)
        self._arrays.append(value)
        text = self._piece(source, source, lambda place: place.arrays, at)
        return text + (self._shape(list(value.shape), source) if getattr(value, "ndim", 1) > 1 else "")

    def block(
        self, name: str, shape: Callable[[Mapping[str, int]], tuple[int, ...]], axes: int = 1, single: bool = False
    ) -> str:
        """Give a block of memory a place; return its expression."""
        at = len(self._blocks)
        self._blocks.append(shape)
        self._places[name] = at
        if single:
            self._single.add(name)
        text = self._piece("state", "params", lambda place: place.blocks, at)
        return text + (self._shape([_at(shape, i) for i in range(axes)], "params") if axes > 1 else "")

    def _piece(self, whole: str, source: str, ends: Callable[[Any], list[int]], at: int) -> str:
        slot = len(self._slots)
        self._slots += [lambda place, i=i: ends(place)[at + i] for i in (0, 1)]
        return f"piece({whole}, {source}, {slot})"

    def _shape(self, lengths: list[Any], source: str) -> str:
        return f".reshape({', '.join(f'int({self.number(length, source)})' for length in lengths)})"

    def numbers(self, sizes: Mapping[str, int]) -> Array:
        """Return the numbers of `params`, once the sizes are known."""
        if self.by_arm:
            return np.column_stack(self._slots) if self._slots else np.zeros((sizes["K"], 0))
        arrays, starts = self._lie(sizes)
        place = _Place(starts, self._starts(sizes), sizes)
        slots = [each(place) if callable(each) else each for each in self._slots]
        return np.concatenate([np.array(slots, dtype=np.float64), *(each.ravel() for each in arrays)])

    def _lie(self, sizes: Mapping[str, int]) -> tuple[list[Array], list[int]]:
        """Return the arrays, and where each begins."""
        arrays = [each(sizes) if callable(each) else each for each in self._arrays]
        return arrays, np.cumsum([len(self._slots), *(each.size for each in arrays)]).tolist()

    @property
    def placed(self) -> tuple[int, int]:
        """How many slots and arrays there are."""
        return len(self._slots), len(self._arrays)

    def call(self, name: str, before: tuple[int, int]) -> None:
        """Say what the setting is called that was placed since there were so many slots and arrays."""
        as_array = len(self._arrays) > before[1]
        ends = (before[1], before[1] + 1) if as_array else (before[0], len(self._slots))
        self._settings.setdefault(name, []).append((as_array, *ends))

    def places(self, sizes: Mapping[str, int]) -> dict[str, list[tuple[int, int]]]:
        """Return from where to where in `numbers` each setting lies; a learner's or merit's have its name first."""
        starts = [] if self.by_arm else self._lie(sizes)[1]
        found: dict[str, list[tuple[int, int]]] = {}
        for name, (as_array, first, last) in ((name, each) for name, all in self._settings.items() for each in all):
            inner = getattr(self._arrays[first], "__self__", None) if as_array else None
            if isinstance(inner, Layout):
                for part, ends in inner.places(sizes).items():
                    found[f"{name}.{part}"] = [(starts[first] + one, starts[first] + other) for one, other in ends]
            else:
                found.setdefault(name, []).append((starts[first], starts[last]) if as_array else (first, last))
        return found

    def written(self) -> bytes:
        """Return all numbers that do not depend on the sizes, those of merits and learners among them."""
        said = b""
        for each in [*self._slots, *self._arrays]:
            if not callable(each):
                said += np.asarray(each, dtype=np.float64).tobytes()
            elif isinstance(getattr(each, "__self__", None), Layout):
                said += each.__self__.written()
        return said

    def length(self, sizes: Mapping[str, int]) -> int:
        """Return how long `state` must be."""
        return self._starts(sizes)[-1]

    def memory(self, state: Array, sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return the blocks of memory along the last axis of `state`, by their names; one number has no axis left."""
        starts = self._starts(sizes)
        shapes = {name: self._blocks[at](sizes) for name, at in self._places.items()}
        return {
            name: block.reshape((*state.shape[:-1], *(() if name in self._single else shapes[name])))
            for name, at in self._places.items()
            for block in [state[..., starts[at] : starts[at + 1]]]
        }

    def _starts(self, sizes: Mapping[str, int]) -> list[int]:
        return np.cumsum([0, *(math.prod(shape(sizes)) for shape in self._blocks)]).tolist()


class _Place(NamedTuple):
    arrays: list[int]
    blocks: list[int]
    sizes: Mapping[str, int]


def _at(shape: Callable[[Mapping[str, int]], tuple[int, ...]], i: int) -> Callable[[_Place], int]:
    return lambda place: shape(place.sizes)[i]


class Bound:
    """A rule, a draw or the like with its settings: what the engine is given to call.

    Parameters
    ----------
    function : callable or Rule
        The function.
    form : Form
        Its kind.
    settings : dict
        Its settings by name: numbers, arrays of numbers, a `Merit`, or a `Policy`. One that has a default value may be
        left out.

    Raises
    ------
    TypeError, ValueError
        If a setting is missing, unknown or of the wrong kind, or the function asks for what there is not.

    Examples
    --------
    >>> from fairlib.merit import VALUE
    >>> line = Bound(lambda x, slope: 1 + slope * x, VALUE, {"slope": 2.0})
    >>> print(line.text)
    def flat(params, x):
        return function(
            x,
            params[0],
        )
    >>> line.interpreted(line.numbers({}), 0.5)
    np.float64(2.0)
    """

    def __init__(self, function: Any, form: Form, settings: Mapping[str, Any]) -> None:
        self.rule, self.form = function if isinstance(function, Rule) else Rule(function), form
        asked, self.given = self.rule.parameters, dict(settings)
        named = [name for name in asked if name not in form.gives and name not in self.rule.memory]
        defaults = {name: asked[name].default for name in named if asked[name].default is not inspect.Parameter.empty}
        strange = [name for name in named if name in _ENGINE and name not in defaults]
        if strange:
            raise TypeError(
                f"{form.what} may ask for {_and(form.gives)}, not for {_and(strange)} ({self.rule.__name__!r})"
            )
        missing = [name for name in named if name not in settings and name not in defaults]
        unknown = [name for name in settings if name not in named]
        if missing or unknown:
            hint = self._hint(missing[0]) if missing else ""
            wrong = f"{_and(missing)} must be given{hint}" if missing else f"it knows no {_and(unknown)}"
            raise TypeError(f"{self.rule.__name__!r} is set with {_and(named)}; {wrong}")
        self.settings = {name: self._setting(name, settings.get(name, defaults.get(name))) for name in named}
        for name, sizes in self.rule.memory.items():
            if not form.sizes:
                raise TypeError(f"{form.what} has no memory of its own; {self.rule.__name__!r} asks for {name}")
            for each in _flat_sizes(sizes):
                if isinstance(each, int) or each not in form.sizes:
                    checks.whole(f"the size of {name}" if isinstance(each, int) else each, self._of_size(each), 1)
        look_at_names(self.rule, form)

    def _hint(self, missing: str) -> str:
        """Return what somebody may have meant by an argument that is no setting."""
        if not self.form.sizes:
            return ""
        for name, each in self.form.tuples.items():
            if missing in each._fields:
                return f" ({missing} is {name}.{missing}: ask for {name})"
        return " (if it is memory, it must say its size: PerArm, or such)"

    def _of_size(self, name: str | int) -> Any:
        if isinstance(name, int):
            return name
        if name not in self.settings:
            raise TypeError(
                f"{self.rule.__name__!r} has memory of size {name!r}, which is neither one of {_and(self.form.sizes)} "
                "nor a setting"
            )
        value = self.settings[name]
        return int(value) if isinstance(value, float) and value.is_integer() else value

    def _kind(self, name: str) -> Any:
        return int if name == "plays" else self.rule.parameters[name].annotation

    def _setting(self, name: str, value: Any) -> Any:
        kind = self._kind(name)
        if hasattr(value, "bound") and not (hasattr(value, "lay_out") and value.form is self.form):
            raise TypeError(
                f"{name} can't be {value!r}: only a rule on arms may ask another policy, one on arms as well"
            )
        if hasattr(value, "lay_out") and not self.form.by_arm:
            return value  # a merit function, or a policy
        if kind is bool and not self.form.by_arm:
            checks.flag(name, value)
            return float(value)
        if kind is int and not self.form.by_arm:
            if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
                raise TypeError(f"{name} must be a whole number, not {checks.said(value)}")
            return float(checks.whole(name, value, -(2**53), 2**53))  # a float holds these exactly
        if isinstance(value, str | bytes | Mapping) or value is None:
            raise TypeError(
                f"{name} must be a number, an array of numbers, a Merit or a Policy, not {checks.said(value)}"
            )
        try:
            axes = np.ndim(value)
        except ValueError:  # rows of different lengths, which are refused below
            axes = 1
        if axes == 0:
            return checks.real(name, value)
        if self.form.by_arm:  # infinity is a delay, too
            each = checks.floats(name, value, "a number for each arm")
            if np.isnan(each).any():
                raise ValueError(f"{name} must be a number for each arm, not nan")
            each.flags.writeable = False
            return each
        return checks.array(name, value, axes)

    def layout(self, prefix: str = "") -> Layout:
        """Lay out the numbers, and write the text, for a function whose name begins with `prefix`."""
        layout = Layout(self.form.by_arm)
        layout.readers = int("news" in self.rule.arguments)
        self.write(layout, prefix)
        return layout

    def write(self, layout: Layout, prefix: str) -> None:
        """Add the text to a layout, whose numbers several functions may share."""
        layout.functions[f"{prefix}function"] = self.rule.function
        passed = []
        for name, parameter in self.rule.parameters.items():
            keyword = f"{name}=" if parameter.kind is parameter.KEYWORD_ONLY else ""
            passed.append(f"\n        {keyword}{self._given(name, layout, prefix)},")
        call = self.form.answer.format(f"{prefix}function({''.join(passed)}\n    )")
        layout.texts.append(f"def {prefix}flat({self.form.flat}):\n    return {call}")

    def _given(self, name: str, layout: Layout, prefix: str) -> str:
        """Return the expression of an argument in those of the flat function."""
        if name in self.form.gives:
            return self.form.gives[name]
        if name in self.rule.memory:
            sizes = self.rule.memory[name]
            if isinstance(sizes[0], type):
                made = f"{prefix}{name}_tuple"
                layout.functions[made] = sizes[0]
                inside = ", ".join(self._block(f"{name}.{part}", each, layout) for part, each in sizes[1].items())
                return f"{made}({inside})"
            return self._block(name, sizes, layout)
        value, kind, before = self.settings[name], self._kind(name), layout.placed
        if hasattr(value, "lay_out"):
            text = str(value.lay_out(layout, f"{prefix}{name}_"))
        elif np.ndim(value) == int(self.form.by_arm):
            text = layout.number(value, self.form.numbers)
            text = f"int({text})" if kind is int else f"({text} > 0.0)" if kind is bool else text
        else:
            text = layout.array(value, self.form.numbers)
        layout.call(name, before)
        return text

    def _block(self, name: str, sizes: tuple[Any, ...], layout: Layout) -> str:
        def shape(known: Mapping[str, int]) -> tuple[int, ...]:
            return tuple(known[s] if s in self.form.sizes else self._of_size(s) for s in sizes)

        return layout.block(name, shape, len(sizes), sizes == (1,))

    @property
    def readers(self) -> int:
        """How many read the news: the rule, and each of its learners that asks for it."""
        return self._laid_out.readers

    def asks(self, name: str) -> bool:
        """Say whether the function, or a learner among its settings, asks for something."""
        return name in self.rule.arguments or any(
            each.bound.asks(name) for each in self.settings.values() if hasattr(each, "bound")
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave to each process what it makes itself."""
        return {name: value for name, value in vars(self).items() if name not in ("_layout", "_plain")}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={shown(value)}" for name, value in self.settings.items())
        return f"{self.rule.__name__.removesuffix('_draw')}({given})"

    @property
    def text(self) -> str:
        """The text of the function that the engine calls, and of those that it is given."""
        return self._laid_out.text()

    @property
    def names(self) -> dict[str, Any]:
        """What the names in the text stand for that it does not define itself."""
        return _scope("", self._laid_out.functions, lambda function: function)

    @property
    def _laid_out(self) -> Layout:
        if "_layout" not in vars(self):
            self._layout = self.layout()
        return self._layout

    def needs(self, size: str) -> bool:
        """Say whether its memory, or a learner's among its settings, is of some size, such as ``"T"``."""
        return any(size in _flat_sizes(sizes) for sizes in self.rule.memory.values()) or any(
            each.bound.needs(size) for each in self.settings.values() if hasattr(each, "bound")
        )

    @property
    def mark(self) -> str:
        """A mark of the rule, of all functions and numbers it uses, and of its settings, the same in each process."""
        digest, names = hashlib.sha256(self.text.encode()), self.names
        used = sorted(name for name in names if name != "helper" and re.search(rf"\b{name}\b", self.text))
        for each in depends(names[name] for name in used):
            digest.update(each)
        digest.update(self._laid_out.written())
        return digest.hexdigest()

    def numbers(self, sizes: Mapping[str, int]) -> Array:
        """Return the settings as the flat function wants them: an array that nobody else holds."""
        return self._laid_out.numbers(sizes)

    def places(self, sizes: Mapping[str, int]) -> dict[str, list[tuple[int, int]]]:
        """Return from where to where each setting lies in `numbers`, or in their columns where each arm has a row."""
        return self._laid_out.places(sizes)

    def length(self, sizes: Mapping[str, int]) -> int:
        """Return how many numbers its memory holds."""
        return self._laid_out.length(sizes)

    def state(self, sizes: Mapping[str, int]) -> Array:
        """Return fresh memory."""
        return np.zeros(self.length(sizes))

    def memory(self, state: Array, sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return what is in the memory, by name."""
        return self._laid_out.memory(state, sizes)

    @property
    def interpreted(self) -> Callable[..., Any]:
        """The function that the engine calls, in plain Python."""
        if "_plain" not in vars(self):
            plain = _scope(self._laid_out.text(), self._laid_out.functions, lambda function: function)
            self._plain = plain["flat"]
        return self._plain

    def ready(self, name: str, level: int) -> Any:
        """Return the function that the engine calls, compiled, or interpreted with a warning if it can't be compiled.

        Where Numba is switched off it is interpreted, and nothing is said.

        Parameters
        ----------
        name : str
            What a warning calls it.
        level : int
            How many callers up the warning is to point.

        Returns
        -------
        callable
            The function.
        """
        if switched_off():
            return self.interpreted
        try:
            return OnDesk(self.compiled())
        except WrongAnswerError as error:  # without Numba's many calls in between
            raise WrongAnswerError(error.answer) from None
        except UndefinedError as error:
            raise NameError(
                f"{error.function!r} uses {error.name!r}, which is neither one of its arguments nor known where it "
                "stands; a setting or memory of its own must be an argument"
            ) from None
        except Exception as error:
            warnings.warn(
                f"{name} is interpreted, some hundred times slower, as Numba can't compile it (with interpret=True "
                f"this goes unsaid): {_reason(error)}",
                stacklevel=level + 1,
            )
            return self.interpreted

    def compiled(self) -> Any:
        """Return the compiled function; the same one as long as nothing that it is made of has changed."""
        layout = self._laid_out
        text, functions = self.form.on_desk(layout.text()), layout.functions
        ours = all(is_ours(each) for each in functions.values())
        key = (text, tuple(functions.items()), None if ours else snapshot(functions.values()))
        if key not in _compiled:
            if ours:
                _compiled[key] = kept(f"{_IMPORTS}\n\n\n{text}", functions, self.form.compiled)
            else:
                for each in functions.values():
                    if not isinstance(each, FunctionType | type):
                        raise TypeError(
                            f"it is a {type(each).__name__}, not a function that is defined by def or lambda"
                        )
                names = {name: each if is_ours(each) else afresh(each) for name, each in functions.items()}
                _compiled[key] = at_once(_scope(text, names, helper)["flat"], self.form.compiled)
        return _compiled[key]


def shown(value: Any) -> str:
    """Return a setting as it would be typed, if it is not too long.

    Parameters
    ----------
    value : object
        A number, an array, or what says itself what it is.

    Returns
    -------
    str
        What it is; of an array with more than sixteen numbers, its shape.

    Examples
    --------
    >>> shown(np.array([0.5, 1.0])), shown(np.zeros((9, 9)))
    ('[0.5, 1.0]', 'array of shape (9, 9)')
    """
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 16 else f"array of shape {value.shape}"
    return repr(value)


def described(game: Any) -> str:
    """Return what a game is made of, field by field; what it was made without is left out.

    Parameters
    ----------
    game : dataclass
        The game.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> import fairlib as fl
    >>> described(fl.Bandit(fl.bernoulli([0.9, 0.5]), plays=2))
    'Bandit(bernoulli(mean=[0.9, 0.5]), plays=2)'
    """
    said = []
    for i, each in enumerate(fields(game)):
        value = getattr(game, each.name)
        if each.init and not (np.ndim(value) == 0 and value == each.default):
            said.append(shown(value) if i == 0 else f"{each.name}={shown(value)}")
    return f"{type(game).__name__}({', '.join(said)})"


# What a text made for the engine calls besides the functions that it is made of.
_IMPORTS = """
from fairlib.binding import opened, piece, told, whole_rounds
from fairlib.rules import Learner, Seen
from fairlib.desk import float_blocks, float_rows, floats, whole_rows, wholes
from fairlib.contexts import Now, Past, Ridge
from fairlib.merit import InPlay, dinkelbach, searched
"""
_ENGINE = ("seen", "news", "now", "ridge", "past", "rng")
_compiled: dict[Any, Any] = {}


def _scope(text: str, names: Mapping[str, Any], helper: Any) -> dict[str, Any]:
    """Run the text, and return all that it defines and calls."""
    scope: dict[str, Any] = {"helper": helper}
    exec(_IMPORTS, scope)
    ours = {
        name: helper(each) if is_ours(each) and not isinstance(each, type) else each for name, each in names.items()
    }
    exec(compile(text, "<how the engine calls it>", "exec"), scope := scope | ours)
    return scope


def look_at_names(rule: Rule, form: Form) -> None:
    """Refuse a rule that asks one of its tuples for what it has not.

    Parameters
    ----------
    rule : Rule
        The rule.
    form : Form
        Its kind.

    Raises
    ------
    TypeError
        If it does.

    Examples
    --------
    >>> from fairlib.policy import RULE
    >>> look_at_names(Rule(lambda seen, p: seen.count[0]), RULE)
    Traceback (most recent call last):
    TypeError: '<lambda>' asks seen for 'count'; it has t, selected, observed and total
    """
    known = {name: each._fields for name, each in form.tuples.items() if name in rule.parameters}
    known |= {name: tuple(sizes[1]) for name, sizes in rule.memory.items() if isinstance(sizes[0], type)}
    if not isinstance(rule.function, FunctionType):
        return
    whole = rule.function.__code__
    for code in codes(whole):
        loads = ("LOAD_FAST", "LOAD_DEREF") if code is whole else "LOAD_DEREF"  # within, other names are its own
        loaded: Any = None  # what the step before has loaded
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and loaded in known and step.argval not in known[loaded]:
                raise TypeError(f"{rule.__name__!r} asks {loaded} for {step.argval!r}; it has {_and(known[loaded])}")
            if step.opname != "EXTENDED_ARG":
                loaded = step.argval if step.opname.startswith(loads) else None
            if isinstance(loaded, tuple):  # two at once, in later Pythons
                loaded = loaded[-1]


def _flat_sizes(sizes: Any) -> list[Any]:
    if isinstance(sizes[0], type):
        return [each for inside in sizes[1].values() for each in inside]
    return list(sizes)


def _reason(error: Exception) -> str:
    """Return the line of one of Numba's messages that says what the matter is, with the line of the rule."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    began = [i for i, line in enumerate(lines) if "Failed in nopython mode pipeline" in line]
    if not began:
        return re.sub(r"\W*Raised from .*", "", lines[0]) if lines else type(error).__name__
    said = lines[began[-1] + 1 :]  # the innermost
    asked = next((line for line in said if line.startswith(">>> ")), None)
    what = said[0] if said else "no reason is given"
    if what.startswith("No implementation of function") and asked is not None:
        kinds = re.sub(r"Literal\[(\w+)\]\([^)]*\)", r"\1", asked[4:])
        what = f"it knows no {kinds}"
    place = next((i for i, line in enumerate(said) if line.startswith("File ") and ", line " in line), None)
    mark = next((i for i, line in enumerate(said) if line == "^" and place is not None and i > place), None)
    if place is not None and mark is not None and "<how the engine calls it>" not in said[place]:
        what = f"{what.rstrip('.')} (line {said[place].split(', line ')[1].rstrip(':')}: {said[mark - 1]})"
    return re.sub(r"Module\(<module '([^']+)'[^>]*>\)", r"the module \1", what)


def _and(names: Any) -> str:
    listed = list(names)
    if len(listed) < 2:
        return listed[0] if listed else "nothing"
    return f"{', '.join(listed[:-1])} and {listed[-1]}"
