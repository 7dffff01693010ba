"""A store refuses rows of any other experiment, and takes the same one wherever and whenever it is defined."""

import enum
import functools
import importlib
import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

import fairlib as fl
from fairlib import contexts, merit, shares
from fairlib.experiments import identity as idy
from fairlib.experiments.identity import identity


def add(x, c=0):
    return {"y": x + c}


def make(c):
    return lambda x: {"y": x + c}


class Adder:
    """What can be called."""

    def __init__(self, c):
        self.c = c

    def __call__(self, x):
        """Add."""
        return {"y": x + self.c}

    def method(self, x):
        """Add, too."""
        return self(x)


def defined(*lines):
    """Return the experiment of some lines of a program of its own."""
    world = {"np": np, "fl": fl, "functools": functools, "__name__": "__main__"}
    exec("\n".join(lines), world)
    return world["experiment"]


USES = "def experiment(x): return {'y': x + h}"
HELPS = "def experiment(x): return {'y': x + helper()}"

OTHERS = {
    "a partial": lambda c: functools.partial(add, c=c),
    "a partial's place": lambda c: functools.partial(lambda c, x: add(x, c), c),
    "a partial of a partial": lambda c: functools.partial(functools.partial(add, c=c), x=0),
    "a closure": make,
    "a callable object": Adder,
    "a method": lambda c: Adder(c).method,
    "a global": lambda c: defined(f"h = {c}", USES),
    "a global of a type": lambda c: defined(f"h = {c if c == 1 else 1.0}", USES),
    "an array": lambda c: defined(f"h = np.array([1, {c}])", "def experiment(x): return {'y': h.sum()}"),
    "a dict": lambda c: defined(f"h = {{'a': [1, {{2: {c}}}]}}", USES),
    "a helper": lambda c: defined(f"def helper(): return {c}", HELPS),
    "a helper's global": lambda c: defined(f"g = {c}", "def helper(): return g", HELPS),
    "a helper in a list": lambda c: defined(f"h = [lambda: {c}]", USES),
    "a decorated helper": lambda c: defined("@functools.lru_cache", f"def helper(): return {c}", HELPS),
    "a wrapped helper": lambda c: defined(
        "def by(f):",
        "    @functools.wraps(f)",
        "    def inner(): return f()",
        "    return inner",
        "@by",
        f"def helper(): return {c}",
        HELPS,
    ),
    "a default": lambda c: defined(f"def experiment(x, c={c}): return {{'y': x + c}}"),
    "a default by name": lambda c: defined(f"def experiment(x, *, c={c}): return {{'y': x + c}}"),
    "a constant": lambda c: defined(f"def experiment(x): return {{'y': x + {c}}}"),
    "a nested function": lambda c: defined(f"def experiment(x): return (lambda: {{'y': x + {c}}})()"),
    "an attribute": lambda c: defined("def experiment(x): return {'y': experiment.c}", f"experiment.c = {c}"),
    "a class": lambda c: defined(f"class h:\n    c = {c}", USES),
    "a class's method": lambda c: defined(f"class h:\n    def f(self): return {c}", USES),
    "a base class": lambda c: defined(f"class b:\n    c = {c}", "class h(b): pass", USES),
    "an object's class": lambda c: defined(f"class b:\n    def f(self): return {c}", "h = b()", USES),
    "an object's state": lambda c: defined("class b: pass", "h = b()", f"h.c = {c}", USES),
    "a static method": lambda c: defined(f"class h:\n    @staticmethod\n    def f(): return {c}", USES),
    "a policy": lambda c: defined(f"h = fl.epsilon_greedy({c} / 4)", USES),
    "a policy's helper": lambda c: defined(
        f"def helper(): return {c}", "h = fl.Policy('own', lambda p: helper() - 1)", USES
    ),
    "a policy's memory": lambda c: defined(
        "from typing import Annotated",
        f"def own(p, m: Annotated[object, {c}]): return 0",
        "h = fl.rule(own)",
        USES,
    ),
    "a game": lambda c: defined(f"h = fl.Bandit(fl.bernoulli([{c} / 4, 0.5]))", USES),
    "a merit": lambda c: defined("from fairlib.merit import exponential", f"h = exponential({c})", USES),
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_store_of_another_experiment_is_refused(what, tmp_path):
    one, other = OTHERS[what](1), OTHERS[what](2)
    assert identity(one) == identity(OTHERS[what](1))
    fl.sweep(one, [{"x": 1}], store=tmp_path, errors="keep")  # some can't even be run
    with pytest.raises(ValueError, match=r"^store must hold this very experiment, and"):
        fl.sweep(other, [{"x": 1}], store=tmp_path, errors="keep")


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write and import modules of a folder, each time anew."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(name, text, folder="code"):
        path = tmp_path / folder
        path.mkdir(exist_ok=True)
        (path / f"{name}.py").write_text(text, encoding="utf-8")
        if str(path) not in sys.path:
            monkeypatch.syspath_prepend(path)
        monkeypatch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return write


@pytest.mark.parametrize(
    "text",
    [
        "import helps\ndef experiment(x): return {'y': helps.helper(x)}",
        "from helps import helper\ndef experiment(x): return {'y': helper(x)}",
        "def experiment(x):\n    from helps import helper\n    return {'y': helper(x)}",
        "def experiment(x):\n    import helps\n    return {'y': helps.helper(x)}",
        "import helps\ndef experiment(x):\n    h = helps\n    return {'y': h.helper(x) + 0 * helps.zero}",
        "import helps\ndef experiment(x): return {'y': getattr(helps, 'helper')(x)}",
    ],
)
def test_a_change_of_a_helper_in_another_file_is_seen(module, tmp_path, text):
    module("helps", "zero = 0\nlimit = 1\ndef helper(x): return x + limit")
    fl.sweep(module("own", text).experiment, [{"x": 1}], store=tmp_path / "store")
    module("helps", "# a remark\nzero = 0\nlimit = 1\ndef helper(x): return x + limit")
    assert fl.sweep(module("own", text).experiment, [{"x": 1}], store=tmp_path / "store")["y"].tolist() == [2]
    module("helps", "zero = 0\nlimit = 2\ndef helper(x): return x + limit")
    with pytest.raises(ValueError, match=r"limit was 1 and is 2"):
        fl.sweep(module("own", text).experiment, [{"x": 1}], store=tmp_path / "store")


def test_another_version_of_a_package_is_seen(module, tmp_path):
    text = "import toolbox\ndef experiment(x): return {'y': toolbox.tool(x)}"
    for version in ("1.0", "2.0"):
        module("toolbox", f"__version__ = {version!r}\ndef tool(x): return x", "site-packages")
        experiment = module("own", text).experiment
        if version == "1.0":
            fl.sweep(experiment, [{"x": 1}], store=tmp_path / "store")
    with pytest.raises(ValueError, match=r"toolbox was 1.0 and is 2.0"):
        fl.sweep(experiment, [{"x": 1}], store=tmp_path / "store")


def test_an_edit_of_the_package_itself_is_seen(tmp_path, monkeypatch):
    fl.sweep(add, [{"x": 1}], store=tmp_path)
    monkeypatch.setattr(idy, "_sources", lambda: "edited")
    with pytest.raises(ValueError, match=r"sources of fairlib was \w{16} and is edited"):
        fl.sweep(add, [{"x": 1}], store=tmp_path)


def test_a_cell_that_is_run_again_finds_its_store():
    cell = "g = 2\ndef helper(x):\n    'Twice.'\n    return g * x\ndef experiment(x):\n    return {'y': helper(x)}"
    world: dict[str, Any] = {}
    for number in range(2):
        exec(compile(cell, f"cell {number}", "exec"), world)
        text = identity(world["experiment"])
        remarks = "\n\n# a remark\n" + cell.replace("Twice.", "Twice its argument.")
        assert identity(defined(remarks)) == text


class Colour(enum.Enum):
    """Members with values."""

    RED = 1
    BLUE = "b"


class Pair(NamedTuple):
    """A tuple with a default."""

    one: float
    other: str = "x"


@dataclass
class Data:
    """Data with a default, a factory and something that is kept when it was asked for."""

    x: int = 1
    y: list[int] = field(default_factory=list)

    @functools.cached_property
    def slow(self):
        """Take long."""
        return self.x


HELD = {
    "policy": fl.ucb1(),
    "learner": shares.fair_learn(fl.ucb1(), [0.1, 0.2]),
    "own": fl.Policy("own", lambda seen, p, low: 0, low=0.5),
    "game": fl.Bandit(fl.bernoulli([0.5, 0.25])),
    "contexts": fl.ContextBandit(contexts.sphere(2, [0.6, 0.8])),
    "merit": merit.exponential(2.0),
    "frame": pd.DataFrame({"a": [1, 2], "s": ["x", "y"], "z": [0.5, None]}).set_index("a"),
    "series": pd.Series([1.0, 2.0], name="x"),
    "enum": Colour.RED,
    "pair": Pair(0.5),
    "data": Data(2, [1]),
    "set": {"one", "two", "three", frozenset({"four", "five"})},
    "objects": np.array([1, "a", None], object),
    "masked": np.ma.array([1, 2], mask=[False, True]),
    "records": np.zeros(2, [("a", float)]),
    "date": np.datetime64("2020-01-01"),
    "large": 10**5000,
    "types": [int, np.ndarray, Colour, Pair, Data, list[int]],
    "functions": [np.add, np.linalg.norm, len, "".join, functools.partial(max, 1), json.dumps],
    "modules": [np, os],
}
HELD["itself"] = HELD


def holds(x):
    assert x != "never" or x in {"this", "that", "another"}
    return {"y": len(HELD) + x}


def test_the_identity_is_the_same_in_each_process_and_after_use():
    text = "import json, test_identity as t; print(json.dumps(t.identity(t.holds)))"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    found = [
        subprocess.run(
            [sys.executable, "-c", text], env=env | {"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert found[0] == found[1]
    before = identity(holds)
    fl.simulate(HELD["game"], HELD["learner"], 20)
    fl.simulate(HELD["game"], HELD["own"], 20)
    assert HELD["data"].slow == 2
    assert HELD["merit"](0.5) > 1
    assert repr(HELD["frame"].T)
    assert identity(holds) == before


@pytest.mark.parametrize("name", [each for each in HELD if each not in ("itself", "modules")])
def test_each_of_them_counts(name, monkeypatch):
    before = identity(holds)
    monkeypatch.setitem(HELD, name, fl.uniform())
    assert identity(holds)["experiment"] != before["experiment"]


REFUSED = {
    "h = np.random.default_rng(1)": "'h' is a Generator, whose numbers depend on what was drawn before: make it inside",
    "from numpy.random import rand as h": "'h' is a RandomState, whose numbers",
    "import sys; h = sys.__stdout__": "'h' is a TextIOWrapper, which depends on what was read from it",
    "h = iter([1])": "'h' is a list_iterator, which depends on what was read",
    "import threading; h = threading.Lock()": "'h' is a lock, which can't be told from others",
    "class b:\n    def __init__(self): self.r = iter([])\nh = b()": "'h.r' is a list_iterator",
    "h = [np.random.default_rng(1)]": r"'h\[0\]' is a Generator",
    "h = []\nfor _ in range(10_000): h = [h]": "it is a function, which uses what is nested too deeply",
    "": "it is a function, which uses 'h', not defined: define that name first",
    "h = lambda: eval('1')": r"'h' is a function, which calls eval\(\): name what it uses",
    "h = lambda: globals()['x']": r"'h' is a function, which calls globals\(\): name what it uses",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_identified_is_refused_by_name(text, tmp_path):
    said = r"^experiment must depend only on what can be identified if its results are stored, but "
    with pytest.raises(TypeError, match=said + REFUSED[text]):
        fl.sweep(defined(text, USES), [{"x": 1}], store=tmp_path)
    assert not any(tmp_path.iterdir())


def test_without_a_store_nothing_has_to_be_identified():
    rng, lock = np.random.default_rng(1), threading.Lock()

    def experiment(x):
        with lock:
            return x + rng.random() * 0

    assert fl.sweep(experiment, [{"x": 1}]) == [1]


def test_functions_of_packages_and_of_python_are_known_by_name():
    assert identity(fl.simulate)["experiment"] == {"itself": "fairlib.engine.simulate.simulate"}
    assert identity(dict)["experiment"] == {"itself": "builtins.dict"}
    pandas = identity(lambda: pd.concat)
    assert pandas["experiment"]["pd"] == "module pandas"
    assert pandas["versions"]["pandas"] == pd.__version__
