"""Compile functions once, keep them on disk, and never serve a stale one.

Numba's own cache notices an edit of the file that a function is in, but not an edit of a helper in another file, and a
comment is an edit to it. Here compiled code is found by a hash of all that it was compiled from: the code of the
function and of all functions that it reaches, the numbers that they find, and the compiler. A reader's function is
compiled afresh in each process, and again when anything that it looks at changes.
"""

import atexit
import contextlib
import hashlib
import importlib
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core.caching import UserProvidedCacheLocator
from numba.core.errors import NumbaError
from numba.extending import register_jitable
from numba.np import linalg as _linalg

from fairlib.files import atomic_write
from fairlib.rules.snapshot import (
    PACKAGE,
    dependencies,
    is_reader_function,
    is_reader_module,
    reached,
    unwrap,
)

# NumPy's way with a division by zero (inf or nan, no exception) is also the way of the interpreted rule.
OPTIONS = {"error_model": "numpy"}

# Numba's own annotations allow neither settings by name nor its configuration.
_njit: Any = numba.njit
_config: Any = numba.config

_MOVED = threading.RLock()  # held while Numba's folder is moved

# To see whether there is a BLAS, Numba imports SciPy's before it loads anything from its cache, which takes as long as
# all the rest. There is one: `pyproject.toml` asks for SciPy. Code that needs it looks it up at its first call.
if hasattr(_linalg, "ensure_blas"):
    _linalg.ensure_blas = lambda: None


@cache
def cache_folder() -> pathlib.Path:
    """Return the folder of compiled code; each file in it is named after all that it was compiled from.

    Returns
    -------
    pathlib.Path
        ``__pycache__/numba`` beside the sources, or a folder of the user's where that can't be written.

    Examples
    --------
    >>> cache_folder().name
    'numba'
    """
    for folder in _folders():
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                _tidy(folder)
                return folder
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fairlib-")) / "numba"
    folder.mkdir()
    atexit.register(shutil.rmtree, folder.parent, ignore_errors=True)
    return folder


@cache
def _shipped() -> pathlib.Path | None:
    """Return the folder beside the sources if it is there and can only be read, as in an installation for many."""
    beside = PACKAGE / "__pycache__" / "numba"
    return beside if beside != cache_folder() and beside.is_dir() and not os.access(beside, os.W_OK) else None


def _folders() -> Iterator[pathlib.Path]:
    """Yield the folders where compiled code may be kept: beside the sources, or in the user's own cache."""
    yield PACKAGE / "__pycache__" / "numba"
    with contextlib.suppress(RuntimeError):  # a user whom the system does not know has no home
        import platformdirs  # here, as the import of the package must stay quick

        yield platformdirs.user_cache_path("fairlib") / "numba"


_MOST_FILES = 4000  # of compiled code, some 300 kB each hundred; a full run of the tests makes a fifth of them


def _tidy(folder: pathlib.Path) -> None:
    """Remove half of the compiled code if there is much: the half that was used longest ago."""
    if sum(1 for _ in folder.iterdir()) > _MOST_FILES:
        files = [each for each in folder.rglob("*") if each.is_file()]
        with contextlib.suppress(OSError):  # another process may be at it
            for each in sorted(files, key=lambda file: file.stat().st_mtime)[: len(files) // 2]:
                each.unlink(missing_ok=True)


@cache
def _compiler() -> bytes:
    """Hash the compiler: Numba, NumPy, and those parts of the package's own that no function reaches by a name."""
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    for name in ("argument_block", "jit", "layout"):
        digest.update(pathlib.Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.digest()


def _digest(function: Any) -> str:
    """Hash all that a function is compiled from: its code, that of all functions that it reaches, and their numbers."""
    digest = hashlib.sha256(_compiler())
    for each in dependencies([function], as_code=True):
        digest.update(each)
    return digest.hexdigest()[:20]


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


def jit_disabled() -> bool:
    """Return whether ``NUMBA_DISABLE_JIT=1`` tells Numba to compile nothing: then Python plays.

    Returns
    -------
    bool
        Whether it has been.

    Examples
    --------
    >>> jit_disabled()
    False
    """
    return bool(_config.DISABLE_JIT)


HELPERS: set[Any] = set()
"""The functions that compiled code may call, each marked once: Numba would not know which of two marks to use."""


def _marked(function: Callable[..., Any], **how: Any) -> Any:
    """Mark a function, unless it has been."""
    if function not in HELPERS:
        HELPERS.add(register_jitable(**{"forceinline": True, **OPTIONS, **how})(function))
    return function


def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function of the package for one signature; its code stays on disk.

    Parameters
    ----------
    function : callable
        A function in a file of the package, or in one that was made from its sources.
    signature : numba signature
        The types of its arguments and of what it returns.

    Returns
    -------
    callable
        The compiled function, which the engine takes as an argument without being compiled again; the function
        itself if Numba is switched off.

    Raises
    ------
    numba.core.errors.NumbaError
        If Numba can't compile it.

    Examples
    --------
    >>> from numba import float64
    >>> from fairlib.core.ridge import dot
    >>> import numpy as np
    >>> compiled(dot, float64(float64[::1], float64[::1]))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if jit_disabled():
        return function
    with _MOVED:  # or another thread could find the folder moved back half-way
        if (made := _from_shipped(function, signature)) is None:
            with _moved(cache_folder()):
                made = _njit(cache=True, nogil=True, **OPTIONS)(function)
                _compile(made, signature)
        return made


@contextlib.contextmanager
def _moved(folder: pathlib.Path) -> Iterator[None]:
    """Let Numba keep compiled code in a folder, by what it was compiled from."""
    before = _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES
    _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES = str(folder), f"{__name__}.{_ByContent.__name__}"
    try:
        yield
    finally:
        _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES = before


class _ByContent(UserProvidedCacheLocator):
    """A folder in which compiled code is found by what it was compiled from, wherever its sources are."""

    def __init__(self, function: Any, file: str) -> None:
        self._digest = _digest(function)

    @classmethod
    def from_function(cls, function: Any, file: str) -> Any:
        """Take any function; the folder is there, though it may be read only."""
        return cls(function, file)

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(_config.CACHE_DIR)

    def get_source_stamp(self) -> str:
        """Return what the code must have been compiled from."""
        return self._digest

    def get_disambiguator(self) -> str:
        """Return the same for the name of the file, so that two states of a function have two files."""
        return self._digest


def _from_shipped(function: Callable[..., Any], signature: Any) -> Any:
    """Return a function with the compiled code that was shipped; None if there is none for this processor."""
    if (folder := _shipped()) is None:
        return None
    with _moved(folder):
        made = _njit(cache=True, nogil=True, **OPTIONS)(function)
    try:
        found = made._cache.load_overload(signature, made.targetctx)
    except Exception:  # a file is damaged: reading it may raise anything
        return None
    if found is None:
        return None
    made._cache.load_overload = lambda *_: found  # once is enough
    made.compile(signature)
    made.disable_compile()
    return made


def _compile(made: Any, signature: Any) -> None:
    """Compile a function for one signature and no other, whatever the state of the compiled code on disk."""
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


@cache  # to look at the overloads, Numba hashes all types of the signature
def entry_point(made: Any) -> Any:
    """Return the machine code that a function compiled for one signature calls once it has looked at the types.

    That look takes longer than many a rule. The caller must be sure of the types.

    Parameters
    ----------
    made : callable
        A function that `compiled` or `compile_uncached` returned.

    Returns
    -------
    callable
        The machine code, to be called from Python.

    Examples
    --------
    >>> from numba import float64
    >>> import numpy as np
    >>> from fairlib.core.ridge import dot
    >>> times = entry_point(compiled(dot, float64(float64[::1], float64[::1])))
    >>> times(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return made if jit_disabled() else next(iter(made.overloads.values())).entry_point


def compile_cached(text: str, functions: dict[str, Any], signature: Any) -> Any:
    """Compile a text that was made of functions of the package; it stays on disk beside its compiled code.

    The text gets a module of its own, in which the functions are imported by name, so that Numba finds nothing in it
    that changes from one process to the next, as it would in a closure.

    Parameters
    ----------
    text : str
        Definitions of functions, the last one called ``flat``.
    functions : dict
        The functions and tuples of the package that it calls, by the names that it calls them.
    signature : numba signature
        That of ``flat``.

    Returns
    -------
    callable
        The compiled ``flat``.

    Examples
    --------
    >>> from numba import float64
    >>> from fairlib.core.ridge import dot
    >>> text = "def flat(x):" + chr(10) + "    return times(x, x)"
    >>> import numpy as np
    >>> compile_cached(text, {"times": dot}, float64(float64[::1]))(np.array([3.0, 4.0]))
    25.0
    """
    lines = ["from fairlib.rules.jit import helper", ""]
    for name, function in functions.items():
        lines.append(f"from {function.__module__} import {function.__qualname__} as {name}")
        if not isinstance(function, type):
            lines.append(f'{name} = helper(getattr({name}, "function", {name}))  # a rule holds its function')
    source = "\n".join([*lines, "", text, ""])
    name = "made_" + hashlib.sha256(source.encode()).hexdigest()[:16]
    folders = [each / "made" for each in (cache_folder(), _shipped()) if each is not None]
    files = [folder / f"{name}.py" for folder in folders]
    # A crash may have left it empty.
    if not any(file.exists() and file.read_text(encoding="utf-8") == source for file in files):
        files[0].parent.mkdir(exist_ok=True)
        with atomic_write(files[0]) as made:  # whatever other processes do
            made.write(source.encode())
        importlib.invalidate_caches()
    if "fairlib_made" not in sys.modules:  # Numba looks for the module of what it has kept by its name
        package = types.ModuleType("fairlib_made")
        package.__path__ = [str(folder) for folder in folders]
        sys.modules["fairlib_made"] = package
    return compiled(importlib.import_module(f"fairlib_made.{name}").flat, signature)


def compile_uncached(flat: Callable[..., Any], signature: Any) -> Any:
    """Compile a function that calls a reader's; an index past an array is an IndexError, as in plain Python.

    Parameters
    ----------
    flat : callable
        The function.
    signature : numba signature
        The types of its arguments and of what it returns.

    Returns
    -------
    callable
        The compiled function.

    Examples
    --------
    >>> from numba import float64
    >>> compile_uncached(lambda x: x[3], float64(float64[::1]))(__import__("numpy").zeros(2))
    Traceback (most recent call last):
    IndexError: index is out of bounds
    """
    return _njit(signature, boundscheck=True, nogil=True, **OPTIONS)(flat)


def fresh_copy(function: Any) -> Any:
    """Copy a reader's function as it is now, with the functions that it calls, each marked for compilation.

    Numba keeps what a function looked at when it was first compiled. A copy has never been compiled.

    Parameters
    ----------
    function : function
        A plain Python function.

    Returns
    -------
    function
        The copy.

    Examples
    --------
    >>> def double(x):
    ...     return 2 * x
    >>> fresh_copy(double)(3)
    6
    """
    made: dict[Any, Any] = {}

    def copy(each: Any) -> Any:
        was, each = each, unwrap(each)
        if not is_reader_function(each):
            return each if each is was else helper(each)
        if each not in made:
            names = dict(reached(each))
            world = {**each.__globals__}
            cells = tuple(types.CellType() for _ in each.__code__.co_freevars)
            code, defaults = _without_keyword_only(each)
            made[each] = new = types.FunctionType(code, world, each.__name__, defaults, cells)
            new.__kwdefaults__ = each.__kwdefaults__ if code is each.__code__ else None
            copies = _in_modules({name: copy(value) for name, value in names.items()})
            for name, cell in zip(each.__code__.co_freevars, cells, strict=True):
                cell.cell_contents = copies.pop(name)
            world.update(copies)
            register_jitable(boundscheck=True, **OPTIONS)(new)
        return made[each]

    return copy(function)


def _in_modules(names: dict[str, Any]) -> dict[str, Any]:
    """Put the names with dots into copies of their modules; return the others."""
    copies: dict[str, Any] = {}
    for name, value in names.items():
        *outer, last = name.split(".")
        if is_reader_module(value):
            copy = types.ModuleType(value.__name__)
            vars(copy).update(vars(value))
            value = copy
        copies[name] = value
        if outer:
            setattr(copies[".".join(outer)], last, value)
    return {name: value for name, value in copies.items() if "." not in name}


def _without_keyword_only(function: Any) -> tuple[types.CodeType, Any]:
    """Return a function's code and defaults with arguments that may also be given by place: Numba knows no others."""
    code, named = function.__code__, function.__kwdefaults__ or {}
    count = code.co_argcount + code.co_kwonlyargcount
    whole = dict(
        zip(reversed(code.co_varnames[: code.co_argcount]), reversed(function.__defaults__ or ()), strict=False)
    )
    whole |= named
    last = code.co_varnames[count - len(whole) : count]
    if not code.co_kwonlyargcount or set(last) != set(whole):
        return code, function.__defaults__
    return code.replace(co_argcount=count, co_kwonlyargcount=0), tuple(whole[name] for name in last) or None
