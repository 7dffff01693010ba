"""How a rule, a draw or a merit function becomes what the engine calls: settings, memory and machine code."""

import inspect
import numbers
import re
import warnings
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import fields
from functools import cached_property, lru_cache
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from fairlib import checks
from fairlib.rules.argument_block import READERS, BlockCall, read_only
from fairlib.rules.jit import (
    UndefinedError,
    compile_text,
    found,
    is_package_function,
    is_reader_function,
    jit_disabled,
    names_used,
    run_text,
    unwrap,
)
from fairlib.rules.layout import TOOLS, Layout, Pluggable, WrongAnswerError
from fairlib.rules.rule import Array, Rule
from fairlib.rules.signature import CallSignature


class RuleOwner:
    """A policy, or anything else that has a rule with its settings, as `bound_rule`."""

    bound_rule: "BoundRule"
    form: CallSignature


class BoundRule:
    """A rule, a draw or another function with its settings (by name), for the engine to call; `form` is its kind."""

    absences = False  # whether it is called where arms come and go: else a rule that says available=None is given None

    def __init__(self, function: Any, form: CallSignature, settings: Mapping[str, Any]) -> None:
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
                    checks.integer(f"the size of {name}" if isinstance(each, int) else each, self._of_size(each), 1)
        check_attributes(self.rule, form)
        check_chance(self.rule)

    def _hint(self, missing: str) -> str:
        """Return a hint at what may have been meant by an argument that is no setting."""
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
        if isinstance(value, RuleOwner) and not (isinstance(value, Pluggable) and value.form is self.form):
            raise TypeError(
                f"{name} can't be {value!r}: only a rule on arms may ask another policy, one on arms as well"
            )
        if isinstance(value, Pluggable) and not self.form.by_arm:
            return value  # a merit function, or a policy
        if kind is bool and not self.form.by_arm:
            checks.flag(name, value)
            return float(value)
        if kind is int and not self.form.by_arm:
            if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
                raise TypeError(f"{name} must be a whole number, not {checks.shown(value)}")
            return float(checks.integer(name, value, -(2**53), 2**53))  # a float holds these exactly
        if isinstance(value, str | bytes | Mapping) or value is None:
            raise TypeError(
                f"{name} must be a number, an array of numbers, a Merit or a Policy, not {checks.shown(value)}"
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

    def layout(self, prefix: str = "", absences: bool = False) -> Layout:
        """Lay out the numbers, and write the text, for a function whose name begins with `prefix`."""
        layout = Layout(self.form.by_arm, absences)
        layout.readers = int("feedback" in self.rule.arguments)
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
            spared = name == "available" and self.rule.parameters[name].default is None and not layout.absences
            return "None" if spared else self.form.gives[name]
        if name in self.rule.memory:
            sizes = self.rule.memory[name]
            if isinstance(sizes[0], type):
                made = f"{prefix}{name}_tuple"
                layout.functions[made] = sizes[0]
                inside = ", ".join(self._block(f"{name}.{part}", each, layout) for part, each in sizes[1].items())
                return f"{made}({inside})"
            return self._block(name, sizes, layout)
        value, kind, before = self.settings[name], self._kind(name), layout.placed
        if isinstance(value, Pluggable):
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
        """How many read the feedback: the rule, and each of its learners that asks for it."""
        return self._laid_out.readers

    def asks(self, name: str) -> bool:
        """Say whether the function, or a learner among its settings, asks for something."""
        return name in self.rule.arguments or any(
            each.bound_rule.asks(name) for each in self.settings.values() if isinstance(each, RuleOwner)
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out of a pickle what each process makes itself."""
        return {name: value for name, value in vars(self).items() if name not in _OWN}

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={format_setting(value)}" for name, value in self.settings.items())
        return f"{self.rule.__name__.removesuffix('_draw')}({given})"

    @property
    def text(self) -> str:
        """The text of the function that the engine calls, and of those that it is given."""
        return self._laid_out.text()

    @property
    def names(self) -> dict[str, Any]:
        """The values of the names in the text that it does not define itself."""
        return _called(self.form, self.text, self._laid_out.functions)

    @property
    def _laid_out(self) -> Layout:
        if "_layout" not in vars(self):
            self._layout = self.layout(absences=self.absences)
        return self._layout

    @cached_property
    def told_of_absences(self) -> "BoundRule":
        """The same function as it is called where arms come and go."""
        other = copy(self)
        other.absences = True
        return other

    def needs(self, size: str) -> bool:
        """Say whether its memory, or a learner's among its settings, is of some size, such as ``"T"``."""
        return any(size in _flat_sizes(sizes) for sizes in self.rule.memory.values()) or any(
            each.bound_rule.needs(size) for each in self.settings.values() if isinstance(each, RuleOwner)
        )

    def numbers(self, sizes: Mapping[str, int]) -> Array:
        """Return the settings as the flat function wants them: an array that nothing else holds."""
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
            self._plain = run_text(self.text, self.names, lambda function: function)["flat"]
        return self._plain

    def ready(self, name: str, level: int) -> Any:
        """Return the function that the engine calls, compiled, or interpreted if it can't be compiled.

        That is said in a warning, which calls it by `name` and points `level` callers up; nothing is said where Numba
        is switched off.
        """
        if jit_disabled():
            return self.interpreted
        try:
            return BlockCall(self.compiled())
        except WrongAnswerError as error:  # without Numba's many calls in between
            raise WrongAnswerError(error.answer) from None
        except UndefinedError as error:
            raise NameError(
                f"{error.function!r} uses {error.name!r}, which is neither one of its arguments nor known where it "
                "is defined; a setting or memory of its own must be an argument"
            ) from None
        except Exception as error:
            if "Cannot modify readonly array" in str(error):
                line = re.search(r" \(line .*", _reason(error))
                raise ValueError(f"{name} {_READ_ONLY}{line[0] if line else ''}") from None
            warnings.warn(
                f"{name} is interpreted, some hundred times slower, as Numba can't compile it (with interpret=True "
                f"this goes unsaid): {_reason(error)}",
                stacklevel=level + 1,
            )
            return self.interpreted

    def compiled(self) -> Any:
        """Return the compiled function; the same one as long as nothing that it is made of has changed."""
        layout = self._laid_out
        text, functions, ours = _with_functions(self.form, layout.text(), tuple(layout.functions.items()))
        return compile_text(text, functions, self.form.compiled, ours)


def broken_off(error: Exception, whose: str, when: str) -> Exception:
    """Return the error for what a function raised in plain Python or compiled, with whose it is and when it did."""
    if not isinstance(error, ValueError):
        return type(error)(f"{whose} broke off in {when}: {error}")
    if "read-only" not in str(error):
        return error
    return ValueError(f"{whose} {_READ_ONLY}; in {when} it did")


_READ_ONLY = "must not write to its settings or to what it has seen"


def format_setting(value: Any) -> str:
    """Return a setting as it would be typed; for an array with more than sixteen numbers, its shape."""
    if isinstance(value, np.ndarray):
        return repr(value.tolist()) if value.size <= 16 else f"array of shape {value.shape}"
    return repr(value)


def describe_game(game: Any) -> str:
    """Return what a game is made of, field by field; what it was made without is left out."""
    said = []
    for i, each in enumerate(fields(game)):
        value = getattr(game, each.name)
        if each.init and not (np.ndim(value) == 0 and value == each.default):
            said.append(format_setting(value) if i == 0 else f"{each.name}={format_setting(value)}")
    return f"{type(game).__name__}({', '.join(said)})"


def _called(form: CallSignature, text: str, functions: dict[str, Any]) -> dict[str, Any]:
    """Return what a text calls besides what it defines itself, by name."""
    known = TOOLS | {each.__name__: each for each in (read_only, *READERS.values(), *form.tuples.values())} | functions
    used = set(re.findall(r"\w+", text))
    return {name: each for name, each in known.items() if name in used}


@lru_cache(maxsize=1000)  # policies and games that differ in their numbers have the same text
def _with_functions(
    form: CallSignature, text: str, functions: tuple[tuple[str, Any], ...]
) -> tuple[str, dict[str, Any], bool]:
    """Return a text that takes its arrays in a block, what it calls, and whether all of that is the package's."""
    text = form.with_block(text)
    called = _called(form, text, dict(functions))
    return text, called, all(is_package_function(each) for each in called.values())


_OWN = ("_layout", "_plain", "told_of_absences")  # of each process
_ENGINE = ("seen", "feedback", "now", "ridge", "past", "rng")


def check_attributes(rule: Rule, form: CallSignature) -> None:
    """Refuse a rule that asks one of its tuples for a field that the tuple does not have."""
    known = {name: each._fields for name, each in form.tuples.items() if name in rule.parameters}
    known |= {name: tuple(sizes[1]) for name, sizes in rule.memory.items() if isinstance(sizes[0], type)}
    if not isinstance(rule.function, FunctionType):
        return
    before: Any = None
    for step in names_used(rule.function):
        if step.kind == "attribute" and before.kind in (("free",) if before.inside else ("local", "free")):
            has = known.get(before.name, (step.name,))  # within, other names are the inner function's own
            if step.name not in has:
                raise TypeError(f"{rule.__name__!r} asks {before.name} for {step.name!r}; it has {_and(has)}")
        before = step


def check_chance(rule: Rule) -> None:
    """Refuse a rule that draws from Python's or NumPy's own chance, itself or in a reader's function that it calls."""
    functions = [each for each in (getattr(rule.function, "func", rule.function),) if is_reader_function(each)]
    for function in functions:  # which grows
        for path, value in found(function):
            if _is_chance(value) or _is_chance(getattr(value, "__self__", None)):
                place = "" if function is functions[0] else f" in {function.__name__!r}"
                raise ValueError(
                    f"{rule.__name__!r} must look at its arguments only; it refers to {'.'.join(path)!r}{place} "
                    "(draw from rng)"
                )
            called = getattr(unwrap(value), "py_func", unwrap(value))
            if is_reader_function(called) and called not in functions:
                functions.append(called)


def _is_chance(value: Any) -> bool:
    """Say whether something is the module random or numpy.random, or comes from there, as generators do."""
    module = getattr(value, "__name__" if isinstance(value, ModuleType) else "__module__", None)
    return f"{module or type(value).__module__}.".startswith(("random.", "numpy.random."))


def _flat_sizes(sizes: Any) -> list[Any]:
    if isinstance(sizes[0], type):
        return [each for inside in sizes[1].values() for each in inside]
    return list(sizes)


def _reason(error: Exception) -> str:
    """Return the line of one of Numba's messages that says what is wrong, with the line of the rule."""
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
