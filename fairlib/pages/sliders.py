"""Controls of an explorer: sliders and lists of names, with the values of each and their texts."""

import numbers
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from fairlib import checks

MOST_SETTINGS = 60


@dataclass(frozen=True)
class Slider:
    """A slider, and the values that it stops at; a list to choose from if one of the values is a string.

    Parameters
    ----------
    label : str
        What it moves, in the reader's words.
    values : collection of float or str
        From 2 to 60 values, in order; no two may have the same text.
    start : float or str, optional
        The value shown first; the middle one if not given.

    Raises
    ------
    TypeError, ValueError
        If the label or a value is of the wrong kind, there are too few or too many values, two read the same, or
        `start` is none of them.

    Examples
    --------
    >>> Slider("Plays", [1, 2, 3]).start
    2
    >>> Slider("Plays", [1, 2, 3], start=4)
    Traceback (most recent call last):
    ValueError: start must be one of 1, 2, 3, not 4
    """

    label: Annotated[str, checks.Text(empty=False)]
    values: Collection[float | str]
    start: float | str | None = None

    def __post_init__(self) -> None:
        checks.check_fields(self)
        given = checks.rows("values", self.values, "a list of numbers or strings")
        checks.instance("values", given, Collection, "a list of numbers or strings")  # a generator may be endless
        values = tuple(_value(value.item() if isinstance(value, np.generic) else value) for value in given)
        if not 2 <= len(values) <= MOST_SETTINGS:
            raise ValueError(f"values must be 2 to {MOST_SETTINGS} numbers or strings, not {len(values)}")
        texts = [slider_text(value) for value in values]
        twice = [text for text in texts if texts.count(text) > 1]
        if twice:
            raise ValueError(f"values must differ in how they read, but {twice[0]} is there more than once")
        start = values[(len(values) - 1) // 2] if self.start is None else self.start
        if slider_text(start) not in texts:
            raise ValueError(f"start must be one of {', '.join(texts)}, not {checks.shown(start)}")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "start", values[texts.index(slider_text(start))])

    @property
    def texts(self) -> list[str]:
        """How the values read."""
        return [slider_text(value) for value in self.values]

    @property
    def named(self) -> bool:
        """Whether the values are names, between which there is nothing."""
        return any(isinstance(value, str) for value in self.values)

    @property
    def whole(self) -> bool:
        """Whether the values are whole numbers."""
        return all(isinstance(value, numbers.Integral) for value in self.values)


def _value(value: Any) -> float | str:
    """Take a value of a slider: a string, a whole number as one, or another number."""
    if isinstance(value, str):
        return checks.text("values", value, empty=False)
    number = checks.real("values", value)
    return int(value) if isinstance(value, numbers.Integral) else number


def slider_text(value: Any) -> str:
    """Return how a value of a slider reads."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return str(value)
    return f"{value:,}" if isinstance(value, numbers.Integral) else f"{float(value):g}"


def setting_text(setting: dict[str, Any]) -> str:
    """Return how a setting of all sliders reads."""
    return ", ".join(f"{name}={slider_text(value)}" for name, value in sorted(setting.items()))


def check_sliders(sliders: Any) -> None:
    """Refuse anything but a dict of sliders by their names."""
    checks.instance("sliders", sliders, Mapping, "a dict of Sliders by their names")
    if not 1 <= len(sliders) <= 2:
        raise ValueError(f"sliders must be one or two, not {len(sliders)}")
    for name, slider in sliders.items():
        checks.instance(name, slider, Slider, "a Slider")
