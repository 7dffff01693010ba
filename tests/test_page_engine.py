"""Random small functions mean in the page what they mean in Python, or the page stops or refuses them."""

import math
import random
from typing import Any

import numpy as np
from js_engine import evaluated, written

from fairlib.pages.translate import REAL, WHOLE, Array, Function, RefusedError, Script

OUTSIDE = {"math": "math", "np": "np"}
NAMES = ("BigInt", "Math", "Number", "NaN", "undefined", "arguments", "let", "at", "exact", "f", "i1", "_1")
KINDS = {"x": Array(REAL, 1), "n": Array(WHOLE, 1), "i": WHOLE, "j": WHOLE, "y": REAL, "z": REAL}
INPUTS = [
    ([1.5, -2.0, 3.0], [4, -1, 2], -1, 2, math.nan, -0.5),
    ([math.nan, 2.0, math.nan], [0, 5, -3], 0, -2, -0.0, 2.5),
    ([2.0, 2.0, -1.0], [-7, 3, 0], 2, 1, math.inf, 1.0),
]
RUN = """
const $sign = (v) => Object.is(v, -0) ? "-0" : v;
const $run = (f, x, n, ...more) => {
  try { const a = f(x, n, ...more); return [...a.map(Number), ...x, ...n].map($sign); } catch (e) { return e.message; }
};
"""


class Writer:
    """Writes a function at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.local = self.random.sample(NAMES, 3)
        self.start = [f"{each} = {i}" for i, each in enumerate(self.local) if self.random.random() < 0.8]

    def whole(self, depth):
        """Write a whole number."""
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice(["i", "j", "-i", "+1", "-0", "3", "n[-1]", "-2", *self.local])
        a, b = self.whole(depth - 1), self.whole(depth - 1)
        return self.random.choice(
            [
                f"({a} {self.random.choice(['+', '-', '*', '//', '%', '&'])} {b})",
                f"n[{a} % 6 - 3]",
                f"n[-({b} % 4)]",
                f"({a} ** 2)",
                f"max({a}, {b})",
                f"min({a}, {b})",
                f"abs({a})",
                "int(x[0])",
                "len(x)",
                f"-{a}",
                f"({a} if {self.truth(depth - 1)} else {b})",
                f"int({self.truth(depth - 1)})",
                f"x[{a}:{b}].size",
                "int(np.argmax(x))",
                "9007199254740991",
                "n[j]",
                f"math.floor({self.real(depth - 1)})",
                f"int(np.searchsorted(x, {self.real(0)}))",
            ]
        )

    def real(self, depth):
        """Write a number."""
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice(["y", "z", "x[-1]", "x[0]", "0.5", "-0.0", "math.inf"])
        a, b = self.real(depth - 1), self.real(depth - 1)
        return self.random.choice(
            [
                f"({a} {self.random.choice('+-*')} {b})",
                f"({a} / 4)",
                f"x[{self.whole(depth - 1)} % 3]",
                f"max({a}, {b})",
                f"min({a}, {b}, 1.0)",
                f"(1.0 ** {b})",
                f"abs({a})",
                f"float({self.whole(depth - 1)})",
                f"math.fabs({a})",
            ]
        )

    def truth(self, depth):
        """Write a condition."""
        a, b, c = (self.random.choice([self.whole, self.real])(max(depth - 1, 0)) for _ in "abc")
        one, other = (self.random.choice(["<", "<=", ">", ">=", "==", "!="]) for _ in "ab")
        pairs = [f"{a} {one} {b} and {b} {other} {c}", f"({a} {one} {b} or {b} {other} {c})"]
        return self.random.choice(
            [f"{a} {one} {b}", f"{a} {one} {b} {other} {c}", f"not {a} {one} {b}", f"bool({a})", *pairs]
        )

    def statements(self, depth):
        """Write some statements."""
        put = [
            f"n[{self.whole(1)} % 3] = {self.whole(2)}",
            f"x[-({self.whole(1)} % 3)] = {self.real(2)}",
            f"n[-i] += {self.whole(1)}",
        ]
        put += [f"x[{self.whole(1)} % 4] += {self.real(1)}", "x[0], x[-1] = x[-1], x[0]", "x[1:] = x[:-1]"]
        put += [f"{self.random.choice(self.local)} = {self.whole(2)}"] * 3
        lines = [self.random.choice(put) for _ in range(self.random.randint(1, 3))]
        if depth:
            ends = self.random.choice(["3", "2, -2, -1", "0", "-1, n.size"])
            heads = [f"for {self.random.choice(self.local)} in range({ends}):", f"for {self.local[0]} in (i, 2):"]
            head, body = self.random.choice([*heads, f"if {self.truth(2)}:"]), self.statements(depth - 1)
            if head.startswith("for"):
                leave = f"if {self.truth(1)}: {self.random.choice(['break', 'continue', 'pass'])}"
                body.insert(self.random.choice([0, len(body)]), leave)
            lines += [head, *("    " + each for each in body)]
        return lines

    def function(self):
        """Write a function."""
        lines = [
            *self.start,
            *self.statements(2),
            *self.statements(0),
            f"return {self.whole(2)}, {self.real(2)}, {self.truth(1)}",
        ]
        return "def f(x, n, i, j, y, z):\n" + "\n".join("    " + each for each in lines) + "\n"


def in_python(text, values):
    """Return what a function gives in Python, with what it leaves in its arrays, or the error."""
    known: dict[str, Any] = {"math": math, "np": np}
    exec(text, known)
    arrays = [np.array(values[0]), np.array(values[1])]
    try:
        answer = known["f"](*arrays, *values[2:])
    except Exception as error:
        return error
    return [*answer, *arrays[0], *arrays[1]]


def test_random_functions_mean_the_same_in_the_page():
    script, names, texts, refused = Script({}, careful=True), list[str | None](), [], []
    for seed in range(400):
        texts.append(Writer(seed).function())
        try:
            names.append(script.add(Function("f", texts[-1], OUTSIDE.__getitem__), KINDS.values()).name)
        except RefusedError as error:
            refused.append(error.what)
            names.append(None)
    calls = [
        f"$run({name}, Float64Array.from({written(v[0])}), Float64Array.from({written(v[1])}), ...{written(v[2:])})"
        for name in names for v in INPUTS if name
    ]  # fmt: skip
    there = iter(evaluated(script.text() + RUN, f"[{', '.join(calls)}]"))
    same, odd, stops = 0, 0, []
    for text, values in ((text, v) for text, name in zip(texts, names, strict=True) for v in INPUTS if name):
        with np.errstate(all="ignore"):
            here, page = in_python(text, values), next(there)
        if isinstance(page, str):  # stopped: Python has an error as well, or whole numbers that a page has not
            assert isinstance(here, Exception) or "up to 2^53" in page or "divided by 0" in page, (text, values, page)
            stops.append(page)
            continue
        assert not isinstance(here, Exception), (text, values, here, page)
        said, expected = np.array(page, float), np.array(here, float)
        np.testing.assert_array_equal(said, expected, err_msg=f"{text}{values}")
        assert (np.signbit(said) == np.signbit(expected))[said == 0].all(), (text, values)  # no whole number is -0
        same, odd = same + 1, odd + bool(np.isnan(here[:2]).any())
    # What the page must not get wrong has occurred.
    assert min(same, 10 * odd) > 300, (same, odd)
    for reason in ("up to 2^53", "divided by 0", "before it has a value", "of an array that has"):
        assert sum(reason in each for each in stops) >= 5, reason
    assert all(any(f"{name} = " in text for text in texts) for name in NAMES)
    assert all("has no value yet" in each or "stands for nothing" in each for each in refused)
