"""Kinds of functions that the engine calls: what each may ask for, and how that is passed."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numba import types

from fairlib.rules.argument_block import reader


@dataclass(frozen=True, eq=False)
class CallSignature:
    """A kind of function that the engine calls: what it may ask for, and how that is handed over."""

    what: str  # its name in messages
    flat: str  # the arguments of the function that the engine calls, the settings in `params` and memory in `state`
    gives: Mapping[str, str]  # what may be asked for by name, each with its expression in those arguments
    signature: Any  # the types of the arguments
    answer: str = "{}"  # the expression around the returned value
    by_arm: bool = False  # whether a setting is a number (or a row of numbers) for each arm
    numbers: str = "params"  # where the flat function finds the settings
    tuples: Mapping[str, Any] = field(default_factory=dict)  # those that it may ask for, by their names
    sizes: tuple[str, ...] = ()  # those of its memory besides whole numbers and settings; none: it has no memory

    @property
    def compiled(self) -> Any:
        """The types of the compiled function, which takes its arrays in a block."""
        kinds = [each for each in self.signature.args if not isinstance(each, types.Array | types.NamedTuple)]
        return self.signature.return_type(types.int64, *kinds)

    def with_block(self, text: str) -> str:
        """Return the text with a flat function that finds the arrays that it needs in a block."""
        head = f"def flat({self.flat}):"
        before, body = text.split(head)
        lines, others, place = [], [], 0
        for name, kind in zip(self.flat.split(", "), self.signature.args, strict=True):
            parts = kind.types if isinstance(kind, types.NamedTuple) else [kind]
            found = [each for i, part in enumerate(parts) if (each := reader(part, place + i))]
            place += len(found)
            if not found:
                others.append(name)
            elif re.search(rf"\b{name}\b", body):
                made = ", ".join(found)
                made = f"{kind.instance_class.__name__}({made})" if isinstance(kind, types.NamedTuple) else made
                lines.append(f"    {name} = {made}")
        return "\n".join([before + f"def flat({', '.join(['block', *others])}):", *lines]) + body
