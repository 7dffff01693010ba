"""Rules in JavaScript: what is translated computes the same, and what is not known is refused by name and line."""

import inspect
import json
from typing import Any

import js_engine
import numpy as np
import pytest
from py_mini_racer import MiniRacer

import fairlib as fl
from fairlib.core import largest
from fairlib.core.policy import RULE
from fairlib.pages.reader_rule import KINDS
from fairlib.pages.scripts import draws, flat, function_of, runtime
from fairlib.pages.translate import CHANCE, REAL, WHOLE, Array, Function, Made, RefusedError, Script

UNKNOWN: dict[str, Any] = {}
NUMBERS, WHOLES, TABLE = Array(REAL, 1), Array(WHOLE, 1), Array(REAL, 2)


def run(function, kinds, *values):
    """Translate a function, and return its value in V8."""
    made = Script(draws())
    name = made.add(function_of(function), kinds).name

    def passed(value):
        numbers = isinstance(value, list)
        return f"Float64Array.from({js_engine.written(value)})" if numbers else js_engine.written(value)

    return js_engine.evaluated(made.text(), f"{name}({', '.join(map(passed, values))})")


# What it knows -------------------------------------------------------------------------------------------------------


ALWAYS = True


def either(x, n):
    if n < 0:
        pass
    part = np.zeros(1, np.int64)
    part[0] = n
    if n > 2:
        part = x
    return part[0], ALWAYS, bool(x[1]), bool(n), (n, x[1])[1]


@pytest.mark.parametrize(("x", "n"), [([1.5, 0.0], 3), ([1.5, 0.25], 0), ([1.5, 2.0], -2)])
def test_a_name_may_stand_for_whole_numbers_and_then_for_others(x, n):
    assert list(map(float, run(either, [NUMBERS, WHOLE], x, n))) == list(map(float, either(np.array(x), n)))


def twice(x):
    return helping(x) + helping(2)


def helping(x, more=1):
    """Return x and more."""
    return x + more


def steps_outside(x, i):
    x[i - 1] += 1.0
    return x[i - 1]


def test_a_careful_script_stops_at_a_place_that_is_not_there():
    made = Script({}, careful=True)
    name = made.add(function_of(steps_outside), [NUMBERS, WHOLE]).name
    assert js_engine.evaluated(made.text(), f"{name}(Float64Array.of(1, 2), 0)") == 3.0  # the last, as in Python
    said = (
        f"(() => {{ try {{ return {name}(Float64Array.of(1, 2), 3); }} catch (error) {{ return error.message; }} }})()"
    )
    assert js_engine.evaluated(made.text(), said) == "place 2 of an array that has 2"


def first_arm(p):
    return 0


def second_arm(p):
    return 1


def test_two_rules_that_are_called_alike_are_not_confused():
    made = Script(draws())
    rules = [flat(fl.Policy("one", each).bound_rule) for each in (first_arm, second_arm)]
    assert rules[0].text == rules[1].text
    kinds = [KINDS[each] for each in RULE.flat.split(", ")]
    one, other = (made.add(each, kinds).name for each in rules)
    assert js_engine.evaluated(made.text(), f"[{one}(), {other}()]") == [0, 1]


def test_functions_that_read_alike_are_written_once():
    made = Script(draws())
    made.add(function_of(twice), [REAL])
    assert made.text().count("function helping") == 1  # of a number, and of a whole one


# What it refuses -----------------------------------------------------------------------------------------------------

REFUSED = {
    "return [x for x in p]": "a comprehension, which it does not know",
    "return [1, 2]": "a list, which it does not know",
    "try:\n        n = 1\n    finally:\n        n = 2": "try, which it does not know",
    "for a, x in enumerate(p):\n        n = a": "a loop over anything but one name",
    "for a in p:\n        n = 1": "a loop over anything but range(...)",
    "for a in range(n):\n        n = 1\n    else:\n        n = 2": "else after a loop",
    "for a in range():\n        n = 1": "range of 0 things",
    "for a in range(0, n, n):\n        n = 1": "a loop whose step is not written as a whole number",
    "return p * 2": "arithmetic on a whole array: write the loop",
    "return np.sqrt(p)": "np.sqrt of a whole array: write the loop",
    "return p.sum()": "'sum' of an array of numbers, which it does not know",
    "return np.random.rand()": "'rand' of the function np.random, which it does not know",
    "return rng.integers(5)": "rng.integers, which it does not know; it knows random, ",
    "return round(n)": "'round', which stands for nothing that it knows",
    "return 'text'": "'text', which is no number",
    "return p[::2]": "a slice with a step, or after another",
    "return p[0, 1]": "more places than an array of numbers has axes",
    "return p[0.5]": "a number where a whole number is needed",
    "return n[0]": "a part of a whole number",
    "return (1, 2)[n]": "a part of a tuple that is not named by its number",
    "return rows[:1, 0]": "a place after a slice",
    "p[:2] = None": "nothing put where an array of numbers is",
    "p[:2] = rows": "an array of numbers with 2 axes put where an array of numbers is",
    "p[0] //= 2": "//= on a number",
    "counts[0] = 0.5": "a number that may not be whole, put into an array of whole ones",
    "n = 1\n    n = p": "'n' stands for a whole number in one place, and for an array of numbers in another",
    "if p:\n        return 1": "an array of numbers as a condition",
    "return 0.5 // n": "// of numbers that may not be whole",
    "return 2**n": "a power of whole numbers, which may be none: write 2.0, say",
    "return n << 2": "an operator that it does not know",
    "n = 1 < 2": "'n' stands for a whole number in one place, and for True or False in another",
    "return n or 3": "'and' or 'or' of a whole number, as a value",
    "return 1 if n > 2 else n > 1": "a whole number or True or False",
    "return n is None": "a comparison that it does not know",
    "return np.argsort(p)": "np.argsort without kind='mergesort', which leaves open what becomes of equal numbers",
    "return np.zeros(n, bool)": "an array of bool",
    "return np.zeros()": "np.zeros, which it does not know",
    "return np.full(n, 2.0)": "np.full, which it does not know",
    "return np.searchsorted(p)": "np.searchsorted of that",
    "return np.argmax(p, 0)": "np.argmax of that",
    "return np.isnan(n)": "np.isnan, which it does not know",
    "return max(p)": "max of one thing: write the loop",
    "return math.sqrt(1.0, 2.0)": "math.sqrt of 2 numbers",
    "return largest(a=p)": "an argument by its name",
    "return bool()": "bool of 0 things",
    "return p.reshape(3)": "reshape to one axis of a certain length",
    "return rows.sort()": "a sort of an array of numbers with 2 axes",
    "return Box(1.0)": "Box has 2 parts, not 1",
    "return Box(1.0, 2.0).middle": "'middle', which Box has not; it has low, high",
    "return largest(p, p, p)": "it takes 2 arguments, not 3",
    "return 9007199254740993": "a whole number of more than 53 bits",
    "if n > 1:\n        return p\n    return n": "it returns an array of numbers in one place, and a whole number in",
    "x = largest": "the function largest as a value",
    "n": "a value that is not used",
    "a, b = n": "2 names for a whole number",
    "p[0] = p": "an array of numbers where a number is needed",
    "p.size = 3": "a value given to attribute",
    "x: int": "a name without a value",
    "return n(1)": "a call of a whole number",
    "n = = 1": "invalid syntax",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_it_does_not_know_is_refused_by_name_and_line(body):
    text = f"def rule(n, p, counts, rows, rng):\n    {body}\n"
    known = {"np": "np", "math": "math", "largest": function_of(largest), "Box": Made("Box", ("low", "high"))}
    kinds = [WHOLE, NUMBERS, WHOLES, TABLE, CHANCE]
    with pytest.raises(RefusedError) as error:
        Script(draws()).add(Function("rule", text, known.__getitem__, line=40), kinds)
    said = REFUSED[body]
    assert said in str(error.value)
    within = error.value.calls[-1][1] if error.value.calls else error.value.line
    assert within == 42 or "\n" in body
    assert str(error.value).startswith(f"line {error.value.line} of ")


@pytest.mark.parametrize(
    ("text", "said"),
    [(text, "line 8 of .*: not one function, defined by def") for text in ("n = 1", "def a(): pass\ndef b(): pass", "")]
    + [(f"def rule({head}): return 1", "arguments that are not named one") for head in ("*p", "n, *, p", "n, **more")],
)
def test_what_is_not_one_function_of_named_arguments_is_refused(text, said):
    with pytest.raises(RefusedError, match=said):
        Script({}).add(Function("rule", text, UNKNOWN.__getitem__, line=7), [WHOLE])


def calls_itself(n):
    return calls_itself(n - 1)


def test_a_function_that_calls_itself_is_refused():
    with pytest.raises(RefusedError, match="it calls itself"):
        Script({}).add(function_of(calls_itself), [WHOLE])


def test_what_has_no_source_or_is_no_def_is_refused():
    with pytest.raises(TypeError, match="function must be a function that is defined by def, not <built-in "):
        function_of(len)
    with pytest.raises(ValueError, match="function must be defined by def, not <function "):
        function_of(lambda x: x)


@fl.rule
def misses(n):
    """Return a list, which is not known."""
    return [n]


def test_a_line_is_that_of_the_file():
    with pytest.raises(RefusedError) as error:
        Script({}).add(function_of(misses), [WHOLE])
    assert error.value.line == inspect.getsourcelines(misses.function)[1] + 3


# Random numbers ------------------------------------------------------------------------------------------------------

DRAWS = {
    "random": ((), True),
    "standard_normal": ((), True),
    "standard_exponential": ((), True),
    "normal": ((0.5, 2.0), True),
    "beta": ((2.0, 5.0), True),
    "beta, one": ((1.0, 1.0), True),
    "beta, large": ((9000.0, 1000.0), True),
    "beta, half": ((0.5, 0.5), False),  # through a power, whose last bit is the browser's
}


@pytest.mark.parametrize("name", DRAWS)
def test_streams_are_numpy_s(name):
    arguments, exact = DRAWS[name]
    method = name.split(",")[0]
    made = Script(draws())
    drawn = f"rng.{method}({', '.join(map(str, arguments))})"
    text = f"def drawn(rng, x):\n    for i in range(x.size):\n        x[i] = {drawn}\n"
    name = made.add(Function("drawn", text, UNKNOWN.__getitem__), [CHANCE, NUMBERS]).name
    there = js_engine.evaluated(
        f"{made.text()}\nconst x = $zeros(100000), rng = new $Generator(12, [3, 1]); {name}(rng, x);",
        "[...x, $double(rng)]",
    )
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(12, spawn_key=(3, 1))))
    here = [*(getattr(rng, method)(*arguments, size=100_000)), rng.random()]
    assert there[-1] == here[-1]  # so many words have been drawn, no more and no fewer
    np.testing.assert_allclose(there, here, rtol=0 if exact else 1e-14, atol=0)


SEEDS = [0, 1, 7, 2**31, 2**32 - 1, 2**32, 2**64 + 3, 2**127 + 1, 2**130]


def test_seeds_start_as_numpy_s_do():
    for seed in SEEDS:
        for key in ([0, 0], [0, 1], [5, 1], [2**33, 0]):
            there = js_engine.evaluated("", f"Object.values($state('{seed}', {key})).map(String)")
            state = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(key))).state["state"]
            assert [int(each) for each in there] == [state["state"], state["inc"]], (seed, key)


def test_where_there_is_no_webassembly_the_words_are_the_same():
    words = (
        "(() => { const rng = new $Generator(5, [0, 1]); return Array.from({ length: 1500 }, () => $double(rng)); })()"
    )
    assert js_engine.evaluated("", "$MODULE instanceof WebAssembly.Module")
    with_it = js_engine.evaluated("", words)
    without = runtime().replace("new WebAssembly.Module(", "no_such_thing(")
    assert without != runtime()
    with MiniRacer() as engine:
        text = engine.eval(f"{js_engine._ATOB}{without}{js_engine._SAY}\nif ($MODULE) throw 1; $say({words})")
    assert json.loads(str(text)) == with_it
