"""Identification of experiments: everything that a function depends on, written the same way in each process.

A function is followed to the values, functions, classes and modules that it uses, as far as they are the reader's own.
An object of an installed package is identified by its name and the package's version, any other object by what pickle
would send to another process. File names and line numbers don't count, so a cell that is run again is the same.
"""

import dis
import functools
import hashlib
import importlib
import importlib.util
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from copyreg import dispatch_table
from importlib import metadata
from typing import Any, NoReturn

import numpy as np

from fairlib.checks import shown
from fairlib.core.result import versions
from fairlib.rules.bound_rule import BoundRule
from fairlib.rules.rule import Rule
from fairlib.rules.snapshot import PACKAGE, UndefinedError, codes, is_library, reached, without_comments

_PLAIN = (bool, int, float, complex, str, bytes, range, type(...), type(NotImplemented))
_RANDOM = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_DYNAMIC = {"eval", "exec", "globals", "__import__"}
_CODE = [
    "co_code",
    "co_names",
    "co_varnames",
    "co_freevars",
    "co_cellvars",
    "co_argcount",
    "co_posonlyargcount",
    "co_kwonlyargcount",
]
_INSTEAD = "make it inside the experiment, from its settings"
# Attributes of a class that its author did not write, or that its methods show as well.
_MADE = {
    "__module__",
    "__qualname__",
    "__doc__",
    "__dict__",
    "__weakref__",
    "__annotations__",
    "__annotate__",
    "__annotate_func__",
    "__annotations_cache__",
    "__conditional_annotations__",
    "__dataclass_fields__",
    "__dataclass_params__",
    "__abstractmethods__",
    "__slotnames__",
    "_abc_impl",
    "__firstlineno__",
    "__static_attributes__",
    "__orig_bases__",
    "__parameters__",
}


def identity(experiment: Callable[..., Any]) -> dict[str, dict[str, str]]:
    """Return everything that the results of an experiment depend on besides its settings.

    Parameters
    ----------
    experiment : callable
        A function, a method, a `functools.partial`, a callable object: anything that can be called.

    Returns
    -------
    dict of dict
        Under ``"experiment"`` the code of the experiment and whatever it uses, by name, and under ``"versions"`` the
        versions of the packages, of Python, and a hash of the sources of fairlib. All are texts, which are equal in
        each process in which the experiment is the same.

    Raises
    ------
    TypeError
        If it uses something that can't be identified, such as an open file or a random generator.

    Examples
    --------
    >>> def make(limit):
    ...     return lambda x: x < limit
    >>> identity(make(3))["experiment"]["limit"], identity(make(4))["experiment"]["limit"]
    ('3', '4')
    >>> identity(make(np.random.default_rng(0)))
    Traceback (most recent call last):
    TypeError: experiment must depend only on what can be identified if its results are stored, but 'limit' is a \
Generator, whose numbers depend on what was drawn before: make it inside the experiment, from its settings
    """
    walk = _Walk()
    try:
        text = walk.tell(experiment, "")
    except RecursionError:
        walk.refuse("", experiment, "which uses what is nested too deeply")
    return {
        "experiment": {"itself": text, **walk.parts},
        "versions": versions() | dict(sorted(walk.packages.items())) | {"sources of fairlib": _sources()},
    }


@functools.cache  # as they were at the import, not as an editor may have left them since
def _sources() -> str:
    """Hash the package as it was when it was imported: an experiment that is stored may use any of it."""
    digest = hashlib.sha256()
    for source in sorted(PACKAGE.rglob("*.py")):
        if "__pycache__" not in source.parts:
            digest.update(str(source.relative_to(PACKAGE)).encode())
            digest.update(without_comments(source.read_text(encoding="utf-8")).encode())
    return digest.hexdigest()[:16]


class _Walk:
    """All that has been found from an experiment on: texts by path, and versions of packages."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}
        self.packages: dict[str, str] = {}
        self.met: dict[int, tuple[str, Any]] = {}  # with the object, so that no other one gets its place

    def refuse(self, path: str, value: Any, why: str, instead: str = _INSTEAD) -> NoReturn:
        raise TypeError(
            f"experiment must depend only on what can be identified if its results are stored, but "
            f"{repr(path) if path else 'it'} is a {type(value).__name__}, {why}: {instead}"
        )

    def put(self, path: str, value: Any) -> None:
        """Describe the value of a name, in a line of its own."""
        text = self.tell(value, path)
        while path in self.parts:  # two functions of one name
            path += "'"
        self.parts[path] = text

    def tell(self, value: Any, path: str) -> str:
        """Return a short text that is equal for an equal value, in each process, and for no other."""
        if value is None or type(value) in _PLAIN:
            large = type(value) is int and value.bit_length() > 64  # Python writes no number of thousands of digits
            return _short(type(value).__name__, hex(value) if large else repr(value))
        if isinstance(value, np.generic) and not isinstance(value, np.void):
            return _short("number", repr(value))
        if (name := self.named(value)) is not None:
            return name
        if type(value) in (tuple, frozenset):  # equal ones may or may not be one object
            return self.several(value, path)
        if id(value) in self.met:
            return f"the same as {self.met[id(value)][0] or 'the experiment'}"
        self.met[id(value)] = path, value
        return self.look(value, path)

    def look(self, value: Any, path: str) -> str:
        """Describe a value that has no short name and is met for the first time."""
        if isinstance(value, types.FunctionType):
            return self.function(value, path)
        if isinstance(value, types.CodeType):
            return self.code(value, path)
        if isinstance(value, type):
            return self.kind(value, path)
        if isinstance(value, types.ModuleType):
            for name, each in sorted(vars(value).items()):
                if not _dunder(name):
                    self.put(_join(path, name), each)
            return f"module {value.__name__}"
        if isinstance(value, functools.partial):
            given = {f"argument {i}": each for i, each in enumerate(value.args)} | dict(sorted(value.keywords.items()))
            for name, each in given.items():
                self.put(_join(path, name), each)
            return f"partial({self.tell(value.func, path if path == '' else _join(path, 'func'))})"
        if isinstance(value, Rule):  # whose sizes of memory are annotations
            asked = {name: each.annotation for name, each in value.parameters.items()}
            return f"rule({self.tell(value.function, path)}, {self.tell(asked, _join(path, 'memory'))})"
        if isinstance(value, BoundRule):
            return f"bound({self.tell(value.rule, path)}, {self.tell(value.settings, path)})"
        for inner in _inside(value):
            texts = [self.tell(each, path) for each in inner]
            return _short(type(value).__name__, f"{type(value).__name__}({', '.join(texts)})")
        if type(value) is np.ndarray and not value.dtype.hasobject:
            how = f"{value.dtype.descr} {value.shape} {value.flags.c_contiguous}"
            return _short("array", f"{how} {hashlib.sha256(value.tobytes()).hexdigest()}")
        if type(value) in (list, set, dict, types.MappingProxyType):
            return self.several(value, path)
        if isinstance(value, _RANDOM):
            self.refuse(path, value, "whose numbers depend on what was drawn before")
        if isinstance(value, Iterator):
            self.refuse(path, value, "which depends on what was read from it before")
        return self.thing(value, path)

    def named(self, value: Any) -> str | None:
        """Return the name under which an installed package, or Python, holds a value."""
        if isinstance(value, types.ModuleType):
            return f"module {value.__name__}" if self.installed(value.__name__) else None
        name: Any = getattr(value, "__qualname__", None)
        modules: list[Any] = [getattr(value, "__module__", None)]
        if isinstance(value, types.FunctionType):  # a wrapper may say that it is from the module of what it wraps
            modules.append(value.__globals__.get("__name__"))
        if all(isinstance(each, str) for each in (name, *modules)) and self.installed(modules[-1]):
            for module in modules:
                found: Any = sys.modules.get(module) if self.installed(module) else None
                for part in name.split("."):
                    found = getattr(found, part, None)
                if found is value:
                    return f"{module}.{name}"
            return None
        if not callable(value):
            return None
        module = type(value).__module__  # of scipy.stats.norm, which is an object, and such
        if self.installed(module) and not isinstance(value, type) and module in sys.modules:
            held = [each for each, other in vars(sys.modules[module]).items() if other is value]
            return f"{module}.{min(held)}" if held else None
        return None

    def installed(self, module: str) -> bool:
        """Say whether a module is not the reader's, and note the version of its package."""
        top = module.partition(".")[0]
        if top in ("fairlib", *sys.stdlib_module_names):
            return True
        if module not in sys.modules or not is_library(module):
            return False
        if top not in self.packages:
            self.packages[top] = _version(top)
        return True

    def several(self, value: Any, path: str) -> str:
        if isinstance(value, dict | types.MappingProxyType):
            texts = [f"{self.tell(k, path)}: {self.tell(each, f'{path}[{shown(k)}]')}" for k, each in value.items()]
        else:
            texts = [self.tell(each, f"{path}[{i}]") for i, each in enumerate(value)]
        if isinstance(value, set | frozenset):  # whose order changes from one process to the next
            texts.sort()
        return _short(type(value).__name__, f"{type(value).__name__}({', '.join(texts)})")

    def function(self, function: Any, path: str) -> str:
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        given = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
        found = {f"{name}=": each for name, each in (given | (function.__kwdefaults__ or {})).items()}
        found |= {name: each for name, each in vars(function).items() if name != "__wrapped__"}
        if self.installed(function.__globals__.get("__name__") or ""):  # its globals are as the version says
            found |= _cells(function)
        else:
            found |= self.used(function, path)
        for name, each in found.items():
            self.put(_join(path, name), each)
        return f"function {self.code(code, path, function.__doc__)}"

    def used(self, function: Any, path: str) -> dict[str, Any]:
        """Name what a reader's function uses; what it imports itself is looked up as it would be."""
        try:
            pairs = list(reached(function))
        except UndefinedError as error:
            self.refuse(path, function, f"which uses {error.name!r}, not defined", "define that name first")
        found = {}
        for (name, each), (after, _) in zip(pairs, [*pairs[1:], ("", None)], strict=False):
            own = isinstance(each, types.ModuleType) and not self.installed(each.__name__)
            if not (own and after.startswith(f"{name}.")) and (not _dunder(name) or name == "__class__"):
                found[name] = each  # of a reader's module only what is used, unless the module is handed on
        for code in codes(function.__code__):
            before: list[Any] = [None, None]
            for step in dis.get_instructions(code):
                if step.opname in ("LOAD_GLOBAL", "LOAD_NAME") and step.argval in _DYNAMIC - set(function.__globals__):
                    self.refuse(path, function, f"which calls {step.argval}()", "name what it uses")
                if step.opname == "IMPORT_NAME":
                    package = function.__globals__.get("__package__")
                    found |= _imported("." * before[0] + step.argval, before[1], package)
                before = [before[1], step.argval]
        return found

    def code(self, code: types.CodeType, path: str, doc: Any = None) -> str:
        constants = [None if i == 0 and each == doc else each for i, each in enumerate(code.co_consts)]
        parts = [getattr(code, name) for name in _CODE]
        parts += [code.co_flags & 0x3FF, getattr(code, "co_exceptiontable", b"")]  # not the flags of a compiler's
        return _digest(", ".join(self.tell(each, path) for each in (*parts, *constants)))

    def kind(self, kind: type, path: str) -> str:
        bases = [self.tell(each, _join(path, each.__name__)) for each in (*kind.__bases__, type(kind))]
        for name, each in sorted(vars(kind).items()):
            if name not in _MADE:
                self.put(_join(path, name), each)
        return f"class {kind.__qualname__}({', '.join(bases)})"

    def thing(self, value: Any, path: str) -> str:
        """Describe an object by what pickle would send."""
        try:
            reduce = dispatch_table.get(type(value))
            made = reduce(value) if reduce else value.__reduce_ex__(4)
        except RecursionError:
            raise
        except Exception as error:
            self.refuse(path, value, f"which can't be told from others ({error})")
        if isinstance(made, str):  # it gives the name under which some module holds it
            for module in list(sys.modules.values()):
                known = getattr(module, "__dict__", {}).get(made) is value
                if known and self.installed(module.__name__):
                    return f"{module.__name__}.{made}"
            self.refuse(path, value, "which can't be told from others")
        maker, given, state, items, pairs = (*made, None, None, None)[:5]
        if isinstance(state, dict):
            kept = {
                name: each
                for name, each in sorted(state.items(), key=lambda item: str(item[0]))
                if not isinstance(getattr(type(value), str(name), None), functools.cached_property)
            }
            if path == "":  # one of the experiment's own
                for name, each in kept.items():
                    self.put(name, each)
                state = None
            else:
                state = [f"{name}={self.tell(each, _join(path, str(name)))}" for name, each in kept.items()]
        rest = [list(each) if each is not None else None for each in (items, pairs)]
        texts = [self.tell(each, path) for each in (maker, given, state, *rest)]
        return _short(type(value).__name__, f"{type(value).__name__}({', '.join(texts)})")


def _inside(value: Any) -> Iterator[Iterable[Any]]:
    """Yield what a wrapper of functions holds, if it is one."""
    if isinstance(value, types.MethodType):
        yield value.__func__, value.__self__
    elif isinstance(value, types.BuiltinFunctionType | types.MethodWrapperType) and value.__self__ is not None:
        yield value.__name__, value.__self__
    elif isinstance(value, property):
        yield value.fget, value.fset, value.fdel
    elif isinstance(value, staticmethod | classmethod):
        yield (value.__func__,)
    elif isinstance(value, functools.cached_property):
        yield (value.func,)
    elif isinstance(value, functools.partialmethod):
        yield value.func, value.args, value.keywords
    elif isinstance(value, functools._lru_cache_wrapper):
        yield (value.__wrapped__,)
    elif type(value).__module__.startswith("numba.") and hasattr(value, "py_func"):
        yield value.py_func, value.targetoptions
    elif type(value) is np.ndarray and value.dtype.hasobject:
        yield value.dtype.descr, value.shape, value.tolist()


def _cells(function: Any) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it is empty
            found[name] = None
    return found


def _imported(name: str, parts: Iterable[str] | None, package: str | None) -> dict[str, Any]:
    """Return what an import inside a function finds, by name; nothing if the module is missing."""
    try:
        module = importlib.import_module(importlib.util.resolve_name(name, package))
        if not parts:
            return {f"import {name}": module}
        for each in parts:
            if not hasattr(module, each):
                importlib.import_module(f"{module.__name__}.{each}")
        return {f"import {name}.{each}": getattr(module, each) for each in parts}
    except ImportError:
        return {f"import {name}": None}


def _version(package: str) -> str:
    found = getattr(sys.modules[package], "__version__", None) if package in sys.modules else None
    if isinstance(found, str):
        return found
    made = metadata.packages_distributions().get(package, [])
    return ", ".join(f"{each} {metadata.version(each)}" for each in sorted(set(made))) or "of no version"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _short(kind: str, text: str) -> str:
    return text if len(text) <= 60 else f"{kind} {_digest(text)}"
