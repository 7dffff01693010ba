"""The text of a function that the engine calls, with its numbers and its memory."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from fairlib.rules.jit import HELPERS, helper, run_text
from fairlib.rules.rule import Array, Feedback


@helper
def array_slice(whole, params, i):
    """Return the part of an array of which two settings say where it begins and where it ends."""
    return whole[int(params[i]) : int(params[i + 1])]


@helper
def unread_feedback(cursors, arms, rewards, rounds, chances):
    """Return the feedback that has not been read, from the first cursor to the second, and count it as read."""
    first, last = cursors[0], cursors[1]
    cursors[0] = last
    return Feedback(last - first, arms[first:last], rewards[first:last], rounds[first:last], chances[first:last])


class WrongAnswerError(TypeError):
    """What a rule returns is neither an arm nor nothing."""

    def __init__(self, answer: str) -> None:
        super().__init__(f"a rule must return an arm, a whole number, or nothing after it has filled p, not {answer}")
        self.answer = answer


def as_action(answer: Any) -> int:
    """Return the arm that a rule answered, or -1 if it filled `p` and returned nothing."""
    if answer is None:
        return -1
    if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
        return int(answer)
    raise WrongAnswerError(repr(answer))


@overload(as_action, jit_options={"forceinline": True})
def _as_action(answer):  # no annotations: Numba compares the arguments with those of what it returns
    if isinstance(answer, types.Integer):
        return lambda answer: answer
    if answer is types.none:
        return lambda answer: -1
    if isinstance(answer, types.Optional) and isinstance(answer.type, types.Integer):
        return lambda answer: -1 if answer is None else answer
    raise WrongAnswerError(_type_name(answer))


def _type_name(kind: Any) -> str:
    """Say in words what one of Numba's types is."""
    words = {types.Float: "a float", types.Boolean: "True or False", types.Array: "an array"}
    words |= {types.UnicodeType: "a string", types.BaseTuple: "a tuple"}
    return next((said for each, said in words.items() if isinstance(kind, each)), f"a {kind}")


@helper
def delay_rounds(late):
    """Return a delay as the engine has it: -1 for never, and -2 for a value that is no delay."""
    if late > 1e15:
        return -1
    if not late >= 0.0 or late != math.floor(late):
        return -2
    return int(late)


HELPERS.add(as_action)  # what compiled code calls is written above
TOOLS: dict[str, Any] = {each.__name__: each for each in (array_slice, unread_feedback, as_action, delay_rounds)}
"""The functions that any text may call."""


class Pluggable(ABC):
    """A setting that writes itself into the text of a rule: a merit function, or a policy to ask."""

    @abstractmethod
    def lay_out(self, layout: "Layout", prefix: str) -> str:
        """Add the functions (names begin with `prefix`) and numbers that it needs; return the rule's argument."""


class Layout:
    """The text of the function that the engine calls, in the making, and the numbers that it is given."""

    def __init__(self, by_arm: bool, absences: bool = False) -> None:
        self.by_arm, self.absences = by_arm, absences
        self.texts: list[str] = []
        self.functions: dict[str, Any] = {}
        self._slots: list[Any] = []  # a number, or what finds it once the sizes are known
        self._arrays: list[Any] = []
        # Of each setting: whether it is an array, and which of the arrays or of the slots are its own.
        self._settings: dict[str, list[tuple[bool, int, int]]] = {}
        # Of each block of memory: its shape, given the sizes, and whether it is one number, whatever these are.
        self._blocks: dict[str, tuple[Any, bool]] = {}
        self.readers = 0  # how many functions read the feedback, each on its own

    def text(self) -> str:
        """Return the whole text: all functions but ``flat``, the last one, are called by others."""
        return "\n\n\n".join(each if each.startswith("def flat(") else f"@helper\n{each}" for each in self.texts)

    def evaluated(self, expression: str) -> Any:
        """Return what an expression of the text stands for in plain Python."""
        scope = run_text(self.text(), TOOLS | self.functions, lambda function: function)
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
        """Give an array, or another layout's numbers, a place; return its expression."""
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
        self._blocks[name] = shape, single
        text = self._piece("state", "params", lambda place: place.blocks, at)
        return text + (self._shape([_at(shape, i) for i in range(axes)], "params") if axes > 1 else "")

    def _piece(self, whole: str, source: str, ends: Callable[[Any], list[int]], at: int) -> str:
        slot = len(self._slots)
        self._slots += [lambda place, i=i: ends(place)[at + i] for i in (0, 1)]
        return f"array_slice({whole}, {source}, {slot})"

    def _shape(self, lengths: list[Any], source: str) -> str:
        return f".reshape({', '.join(f'int({self.number(length, source)})' for length in lengths)})"

    def numbers(self, sizes: Mapping[str, int]) -> Array:
        """Return the numbers of `params`, to be read only, once the sizes are known."""
        if self.by_arm:
            made = np.column_stack(self._slots) if self._slots else np.zeros((sizes["K"], 0))
        else:
            arrays, starts = self._lie(sizes)
            place = _Place(starts, self._starts(sizes), sizes)
            slots = [each(place) if callable(each) else each for each in self._slots]
            made = np.concatenate([np.array(slots, dtype=np.float64), *(each.ravel() for each in arrays)])
        made.flags.writeable = False
        return made

    def _lie(self, sizes: Mapping[str, int]) -> tuple[list[Array], list[int]]:
        """Return the arrays, and where each begins."""
        arrays = [each.numbers(sizes) if isinstance(each, Layout) else each for each in self._arrays]
        return arrays, list(accumulate((each.size for each in arrays), initial=len(self._slots)))

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
            inner = self._arrays[first] if as_array else None
            if isinstance(inner, Layout):
                for part, ends in inner.places(sizes).items():
                    found[f"{name}.{part}"] = [(starts[first] + one, starts[first] + other) for one, other in ends]
            else:
                found.setdefault(name, []).append((starts[first], starts[last]) if as_array else (first, last))
        return found

    def length(self, sizes: Mapping[str, int]) -> int:
        """Return how long `state` must be."""
        return self._starts(sizes)[-1]

    def memory(self, state: Array, sizes: Mapping[str, int]) -> dict[str, Array]:
        """Return the blocks of memory along the last axis of `state`, by their names; one number has no axis left."""
        found = {}
        for (name, (shape, single)), ends in zip(self._blocks.items(), pairwise(self._starts(sizes)), strict=True):
            axes = () if single else shape(sizes)
            found[name] = state[..., slice(*ends)].reshape((*state.shape[:-1], *axes))
        return found

    def _starts(self, sizes: Mapping[str, int]) -> list[int]:
        return list(accumulate((math.prod(shape(sizes)) for shape, _ in self._blocks.values()), initial=0))


class _Place(NamedTuple):
    arrays: list[int]
    blocks: list[int]
    sizes: Mapping[str, int]


def _at(shape: Callable[[Mapping[str, int]], tuple[int, ...]], i: int) -> Callable[[_Place], int]:
    return lambda place: shape(place.sizes)[i]
