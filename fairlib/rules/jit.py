"""Compile functions once, keep their machine code on disk, and never serve a stale one."""

import atexit
import builtins
import contextlib
import dis
import hashlib
import importlib
import os
import pathlib
import shutil
import sys
import sysconfig
import tempfile
import types
from collections.abc import Callable, Iterator, Mapping
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple, TypeVar, overload

import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.errors import NumbaError
from numba.extending import register_jitable
from numba.np import linalg as _linalg

from fairlib._version import PACKAGE, stamp
from fairlib.files import atomic_write

# NumPy's way with a division by zero (inf or nan, no exception) is also the way of the interpreted rule.
OPTIONS = {"error_model": "numpy"}

_njit: Any = numba.njit  # Numba's own annotations allow no settings by name

_PLAIN = {"__pycache__", "data", "pages", "player", "study"}  # where an edit leaves machine code alone
_COMPILED = {each.name for each in PACKAGE.iterdir() if each.is_dir()} - _PLAIN
_STAMP = stamp(*sorted(_COMPILED))  # now: an editor may change the sources of what has been imported

# To see whether there is a BLAS, Numba imports SciPy's before it loads anything from its cache, which takes as long as
# all the rest. There is one: `pyproject.toml` asks for SciPy. Code that needs it looks it up at its first call.
if hasattr(_linalg, "ensure_blas"):
    _linalg.ensure_blas = lambda: None


# Machine code on disk -------------------------------------------------------------------------------------------------


@cache
def cache_folder() -> pathlib.Path:
    """Return the folder of machine code that was compiled from these sources: in the package, or the user's own."""
    for folder in _folders():
        with contextlib.suppress(OSError):
            (folder / _STAMP).mkdir(parents=True, exist_ok=True)
            if os.access(folder / _STAMP, os.W_OK):
                _tidy(folder)
                return folder / _STAMP
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlib-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _folders() -> Iterator[pathlib.Path]:
    """Yield the folders where machine code may be kept: beside the sources, or in the user's own cache."""
    yield PACKAGE / "__pycache__" / "numba"
    with contextlib.suppress(RuntimeError):  # a user whom the system does not know has no home
        import platformdirs  # here, as the import of the package must stay quick

        yield platformdirs.user_cache_path("fairlib") / "numba"


_MOST_STAMPS = 4


def _tidy(folder: pathlib.Path) -> None:
    """Remove the machine code of older sources, but for the stamps that were used last."""
    with contextlib.suppress(OSError):  # another process may be at it
        os.utime(folder / _STAMP)
        by_age = sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime)
        for each in by_age[:-_MOST_STAMPS]:
            shutil.rmtree(each, ignore_errors=True)


class _Locator(UserProvidedCacheLocator):
    """Says where Numba finds the machine code of a function: in the folder of the stamp, by the function's module."""

    def __init__(self, function: Any, file: str) -> None:
        self._module = function.__module__

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """Take any function."""
        return cls(function, file)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(cache_folder())

    def get_source_stamp(self) -> str:
        """Return what the code must have been compiled from."""
        return _STAMP

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._module)


class _Files(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Cache(FunctionCache):
    _impl_class = _Files


def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function of the package for one signature, with machine code on disk; not if Numba is switched off."""
    if jit_disabled():
        return function
    made = _njit(nogil=True, **OPTIONS)(function)
    made._cache = _Cache(function)
    try:
        made.compile(signature)
    except NumbaError:
        raise
    except Exception:  # a file was cut short or damaged: reading it may raise anything
        with contextlib.suppress(OSError):
            made._cache.flush()
        try:
            made.compile(signature)
        except OSError:  # nothing can be written
            made._cache.disable()
            made.compile(signature)
    made.disable_compile()
    return made


@cache  # to look at the overloads, Numba hashes all types of the signature
def entry_point(made: Any) -> Any:
    """Return the machine code of a function for one signature, without Numba's look at the types, which is slow."""
    return made if jit_disabled() else next(iter(made.overloads.values())).entry_point


def jit_disabled() -> bool:
    """Return whether ``NUMBA_DISABLE_JIT=1`` tells Numba to compile nothing: then Python plays."""
    return bool(numba.config.DISABLE_JIT)


# What compiled code may call ------------------------------------------------------------------------------------------


_Marked = TypeVar("_Marked", bound=Callable[..., Any])


@overload
def helper(function: _Marked) -> _Marked: ...


@overload
def helper(function: None = None, **options: Any) -> Callable[[_Marked], _Marked]: ...


def helper(function: Any = None, **options: Any) -> Any:
    """Mark a small function that rules call: plain Python to Python, compiled into whatever is compiled.

    Parameters
    ----------
    function : callable, optional
        A function of the package that Numba can compile. Without one, what marks a function is returned.
    **options
        Numba's, for this function alone, such as ``fastmath``; or ``forceinline=False`` for a long one that is called
        seldom, and would only be in the way where it is called.

    Returns
    -------
    callable
        The same function.

    Examples
    --------
    >>> @helper
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    return partial(_marked, **options) if function is None else _marked(function, **options)


HELPERS: set[Any] = set()
"""The functions that compiled code may call, each marked once: Numba would not know which of two marks to use."""


def _marked(function: Callable[..., Any], **how: Any) -> Any:
    """Mark a function, unless it has been."""
    if function not in HELPERS:
        HELPERS.add(register_jitable(**{"forceinline": True, **OPTIONS, **how})(function))
    return function


class FunctionHolder:
    """An object that holds a function and stands for it: a rule."""

    function: Any


def unwrap(value: Any) -> Any:
    """Return the function that a rule holds, for rules that call others; all else is returned as it is."""
    return value.function if isinstance(value, FunctionHolder) else value


# Texts ----------------------------------------------------------------------------------------------------------------


def run_text(text: str, functions: Mapping[str, Any], helper: Any) -> dict[str, Any]:
    """Run definitions of functions; return all that they define and call. Each function is decorated by `helper`."""
    scope: dict[str, Any] = {"helper": helper}
    for name, each in functions.items():
        scope[name] = helper(each) if is_package_function(each) and not isinstance(each, type) else each
    exec(compile(text, "<how the engine calls it>", "exec"), scope)
    return scope


_compiled: dict[Any, Any] = {}  # by what it was made of


def compile_text(text: str, functions: Mapping[str, Any], signature: Any, ours: bool) -> Any:
    """Compile the last function of a text, ``flat``: kept on disk if it calls only `ours`, else anew when changed."""
    if ours:
        key: Any = (text, tuple(functions.items()))
        if key not in _compiled:
            _compiled[key] = compiled(_in_module(text, functions), signature)
        return _compiled[key]
    for each in functions.values():
        if not isinstance(each, types.FunctionType | type):
            raise TypeError(f"it is a {type(each).__name__}, not a function that is defined by def or lambda")
    copies = _Copies()
    names = {name: copies.copy(each) for name, each in functions.items()}
    key = text, tuple(functions), tuple(copies.seen)
    if key not in _compiled:
        for each in copies.made.values():
            if isinstance(each, types.FunctionType):
                register_jitable(boundscheck=True, **OPTIONS)(each)
        flat = run_text(text, names, helper)["flat"]
        # An index past an array is an IndexError, as in plain Python.
        _compiled[key] = _njit(signature, boundscheck=True, nogil=True, **OPTIONS)(flat)
    return _compiled[key]


def _in_module(text: str, functions: Mapping[str, Any]) -> Any:
    """Write a text into a module, as what Numba keeps of a closure differs by process; return its last function."""
    lines = ["from fairlib.rules.jit import helper", ""]
    for name, function in functions.items():
        lines.append(f"from {function.__module__} import {function.__qualname__} as {name}")
        if not isinstance(function, type):
            lines.append(f'{name} = helper(getattr({name}, "function", {name}))  # a rule holds its function')
    source = "\n".join([*lines, "", text, ""])
    name = "made_" + hashlib.sha256(source.encode()).hexdigest()[:16]
    folder = cache_folder() / "made"
    file = folder / f"{name}.py"
    if not file.exists() or file.read_text(encoding="utf-8") != source:  # a crash may have left it empty
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_write(file) as made:  # whatever other processes do
            made.write(source.encode())
        importlib.invalidate_caches()
    if "fairlib_made" not in sys.modules:  # Numba looks for the module of what it has kept by its name
        package = types.ModuleType("fairlib_made")
        package.__path__ = [str(folder)]
        sys.modules["fairlib_made"] = package
    return importlib.import_module(f"fairlib_made.{name}").flat


# A reader's functions -------------------------------------------------------------------------------------------------


class UndefinedError(NameError):
    """A function uses a name that is not defined."""

    def __init__(self, name: str, function: str) -> None:
        super().__init__(f"name {name!r} is not defined, which {function!r} uses", name=name)
        self.function = function


class _Copies:
    """Copies of a reader's functions, which were never compiled, and all that they look at: Numba keeps what it saw."""

    def __init__(self) -> None:
        self.made: dict[Any, Any] = {}  # functions, and modules with the attributes that are asked for
        self.seen: list[Any] = []

    def copy(self, value: Any, attributes: frozenset[str] = frozenset()) -> Any:
        """Return what is to stand for a value in a function that asks for such attributes."""
        if isinstance(value, FunctionHolder) and not is_reader_function(value.function):
            helper(value.function)
        value = unwrap(value)
        if is_reader_function(value):
            return self._function(value)
        if _is_reader_module(value):
            return self._module(value, attributes)
        self.seen.append(_as_key(value))
        return value

    def _function(self, function: Any) -> Any:
        if function not in self.made:
            self.seen.append(function)
            cells = tuple(types.CellType() for _ in function.__code__.co_freevars)
            code, world = function.__code__, {**function.__globals__}
            self.made[function] = types.FunctionType(code, world, function.__name__, function.__defaults__, cells)
            attributes = frozenset(step.name for step in names_used(function) if step.kind == "attribute")
            world |= {name: self.copy(value, attributes) for name, value in looked_up(function).items()}
            for name, cell in zip(code.co_freevars, cells, strict=True):
                cell.cell_contents = world.get(name)  # None is not looked up
        return self.made[function]

    def _module(self, module: types.ModuleType, attributes: frozenset[str]) -> Any:
        new = self.made.setdefault(module, types.ModuleType(module.__name__))
        for name in sorted(attributes & vars(module).keys() - vars(new).keys()):
            vars(new)[name] = None  # a module may hold one that holds it
            vars(new)[name] = self.copy(vars(module)[name], attributes)
        return new


def _as_key(value: Any) -> Any:
    """Return an object that is equal for the same value and for no other, whatever is later done to the value."""
    if isinstance(value, int | float | complex | str | bytes | np.generic | None):
        return type(value), repr(value)  # 1, 1.0 and True are equal, and 0.0 and -0.0
    if isinstance(value, tuple):
        return type(value), tuple(map(_as_key, value))
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.flags.c_contiguous, value.tobytes()
    return id(value)  # which no other object gets, as the copy that looks at it is kept


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)


class Step(NamedTuple):
    """An instruction: its kind, what it looks up, and the names from the first one to this attribute."""

    kind: str
    name: Any
    path: tuple[str, ...]
    inside: bool


_KINDS = {"LOAD_GLOBAL": "global", "LOAD_ATTR": "attribute", "LOAD_METHOD": "attribute"}


@lru_cache(maxsize=1000)  # code that makes many policies has the same rule looked through each time
def _steps(function: types.CodeType) -> tuple[Step, ...]:
    steps = []
    for code in _codes(function):
        path: tuple[str, ...] = ()
        for step in dis.get_instructions(code):
            if step.opname == "EXTENDED_ARG":
                continue
            kind, name = _KINDS.get(step.opname, step.opname), step.argval
            if "LOAD_FAST" in step.opname:
                kind = "local"
                if isinstance(name, tuple):  # two at once, in later Pythons
                    name = name[-1]
            elif step.opname.startswith("LOAD_DEREF"):
                kind = "free"
            if kind == "attribute":
                path = (*path, name) if path else ()
            else:
                path = (name,) if kind in ("global", "free", "local") else ()
            steps.append(Step(kind, name, path, code is not function))
    return tuple(steps)


def names_used(function: Any) -> tuple[Step, ...]:
    """Return the instructions of a function, and of those within it, by the names that they look up."""
    return _steps(function.__code__)


UNDEFINED = object()
"""Stands for the value of a name that is not defined."""


def found(function: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what a function finds outside its arguments now, each by a name and the attributes of modules behind it."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    own = {name: UNDEFINED if cell == types.CellType() else cell.cell_contents for name, cell in cells}
    known, value = function.__globals__ | own, None
    for step in names_used(function):
        if step.kind == "global" or (step.kind == "free" and step.name in own):
            value = known.get(step.name, None if hasattr(builtins, step.name) else UNDEFINED)
        else:
            of_module = step.kind == "attribute" and isinstance(value, types.ModuleType)
            value = getattr(value, step.name, None) if of_module else None
        if value is not None:
            yield step.path, value


def looked_up(function: Any) -> dict[str, Any]:
    """Return what a function finds outside its arguments now, by name; an `UndefinedError` if there is nothing."""
    known = {path[0]: value for path, value in found(function) if len(path) == 1}
    for name, value in known.items():
        if value is UNDEFINED:
            raise UndefinedError(name, function.__name__)
    return known


def is_package_function(function: Any) -> bool:
    """Say whether a function can be found by its name in a package whose machine code stays on disk."""
    name = getattr(function, "__module__", None) or ""
    if name.split(".")[0] != PACKAGE.name or not _COMPILED.intersection(name.split(".")[1:2]):
        return False
    named = getattr(sys.modules.get(name), getattr(function, "__qualname__", ""), None)
    return getattr(named, "function", named) is function


def is_reader_function(value: Any) -> bool:
    """Say whether something is a function that neither the package nor a library has under its name."""
    return isinstance(value, types.FunctionType) and not is_package_function(value) and not is_library(value.__module__)


def _is_reader_module(value: Any) -> bool:
    """Say whether something is a module of the reader's own, whose functions count like those beside the rule."""
    if not isinstance(value, types.ModuleType) or value.__name__.partition(".")[0] == PACKAGE.name:
        return False
    return getattr(value, "__file__", None) is not None and not is_library(value.__name__)


def is_library(module: str | None) -> bool:
    """Say whether a module is an installed library's; Numba knows those that it can compile."""
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    if file.startswith(str(PACKAGE)) or module == "__main__":  # wherever it is installed, or began
        return False
    return any(part in file for part in ("site-packages", "dist-packages")) or file.startswith(_LIBRARY)


_LIBRARY = sysconfig.get_paths()["stdlib"]
