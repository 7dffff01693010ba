"""Compile functions once, keep them on disk, and never serve a stale one.

Numba's own cache notices an edit of the file a function stands in, but not an edit of a helper in another file. That is
certain to happen here, so the folder of the cache is named after a hash of all of the package's sources: any edit opens
a new folder. What a reader wrote is compiled afresh in each process, and again when anything that it looks at changes.
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
from numba.core.caching import UserProvidedCacheLocator
from numba.core.errors import NumbaError
from numba.extending import register_jitable
from numba.np import linalg as _linalg

from fairlib.files import atomic_write

# NumPy's way with a division by zero (inf or nan, no exception) is what the same rule does when it is interpreted.
OPTIONS = {"error_model": "numpy"}

# Numba's own annotations allow neither settings by name nor its configuration.
_njit: Any = numba.njit
_config: Any = numba.config

PACKAGE = pathlib.Path(__file__).parents[1]

_MOVED = threading.RLock()  # held while Numba's folder is moved

# To see whether there is a BLAS, Numba imports SciPy's before it loads anything from its cache, which takes as long as
# all the rest. There is one: `pyproject.toml` asks for SciPy. What needs it looks it up when it is first called.
if hasattr(_linalg, "ensure_blas"):
    _linalg.ensure_blas = lambda: None


def fingerprint(folder: pathlib.Path) -> str:
    """Hash all Python sources of a folder, with the version of the compiler.

    Parameters
    ----------
    folder : pathlib.Path
        The folder, searched to any depth; what lies in a ``__pycache__`` is no source.

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Examples
    --------
    >>> len(fingerprint(PACKAGE))
    16
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(folder.rglob("*.py")):
        if "__pycache__" not in source.parts:
            digest.update(str(source.relative_to(folder)).encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> pathlib.Path:
    """Return the folder of compiled code that belongs to these very sources.

    Returns
    -------
    pathlib.Path
        ``__pycache__/numba-<hash>`` beside the sources, or a folder of the user's where that can't be written.

    Examples
    --------
    >>> cache_folder().name == "numba-" + fingerprint(PACKAGE)
    True
    """
    name = "numba-" + fingerprint(PACKAGE)
    for parent in _parents():
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
            os.utime(parent / name)  # it is in use
        except OSError:
            continue
        if os.access(parent / name, os.W_OK):
            _tidy(parent)
            return parent / name
    folder = tempfile.mkdtemp(prefix="fairlib-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pathlib.Path(folder)


@cache
def _shipped() -> pathlib.Path | None:
    """Return the folder beside the sources if it is there and can only be read, as where one installs for many."""
    beside = PACKAGE / "__pycache__"
    if cache_folder().parent == beside:
        return None
    folder = beside / ("numba-" + fingerprint(PACKAGE))
    return folder if folder.is_dir() and not os.access(folder, os.W_OK) else None


def _parents() -> Iterator[pathlib.Path]:
    """Name where the folder of the cache may lie: beside the sources, or with what else the user keeps."""
    yield PACKAGE / "__pycache__"
    with contextlib.suppress(RuntimeError):  # a user whom the system does not know has no home
        yield pathlib.Path.home() / ".cache" / "fairlib"


def _tidy(parent: pathlib.Path) -> None:
    """Remove the compiled code of former sources, but for what was used last: who switches to and fro has it back."""
    used = {each: each.stat().st_mtime for each in parent.glob("numba-*")}
    for each in sorted(used, key=used.__getitem__)[:-4]:
        shutil.rmtree(each, ignore_errors=True)


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
    """Say whether Numba has been as_action, by ``NUMBA_DISABLE_JIT=1``, to compile nothing: then Python plays.

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
"""The functions that compiled code may call, each marked once: Numba would not know which of two marks to go by."""


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
        A function that stands in a file of the package, or in one that was made from its sources.
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
def _moved(folder: pathlib.Path, locators: str = "") -> Iterator[None]:
    """Let Numba keep compiled code in a folder, and look for it as these classes do, if there are any."""
    before = _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES
    _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES = str(folder), locators
    try:
        yield
    finally:
        _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES = before


class _ReadOnly(UserProvidedCacheLocator):
    """A folder that Numba reads though it can't write there; on its own it would look elsewhere."""

    def ensure_cache_path(self) -> None:
        """Take the folder as it is."""


def _from_shipped(function: Callable[..., Any], signature: Any) -> Any:
    """Return a function with the compiled code that was shipped; None if there is none for this processor."""
    if (folder := _shipped()) is None:
        return None
    with _moved(folder, f"{__name__}.{_ReadOnly.__name__}"):
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
    """Compile a function for one signature and no other, whatever the state of what is on disk."""
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


def entry_point(made: Any) -> Any:
    """Return what a function that is compiled for one signature calls once it has looked at the types.

    That look takes longer than many a rule. Whoever calls this must be sure of the types himself.

    Parameters
    ----------
    made : callable
        What `compiled` or `compile_uncached` returned.

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


def is_package_function(function: Any) -> bool:
    """Say whether a function can be found again by its name in the package, so that its code may stay on disk.

    Parameters
    ----------
    function : object
        The function.

    Returns
    -------
    bool
        False for a reader's, and for one made inside another function.

    Examples
    --------
    >>> is_package_function(fingerprint), is_package_function(lambda x: x)
    (True, False)
    """
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if file is None or not pathlib.Path(file).is_relative_to(PACKAGE):
        return False
    named = getattr(module, getattr(function, "__qualname__", ""), None)
    return getattr(named, "function", named) is function


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
