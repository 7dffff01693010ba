"""Compile functions once, keep them on disk, and never serve a stale one.

Numba's own cache notices an edit of the file a function stands in, but not an edit of a helper in another file. That is
certain to happen here, so the folder of the cache is named after a hash of all of the package's sources: any edit opens
a new folder. What a reader wrote is compiled afresh in each process, and again when anything that it looks at changes.
"""

import atexit
import builtins
import contextlib
import dis
import hashlib
import importlib
import inspect
import numbers
import os
import pathlib
import shutil
import sys
import sysconfig
import tempfile
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import Any, TypeVar, overload

import numba
import numpy as np
from numba.core.caching import UserProvidedCacheLocator
from numba.core.errors import NumbaError
from numba.extending import register_jitable
from numba.np import linalg as _linalg

# NumPy's way with a division by zero (inf or nan, no exception) is what the same rule does when it is interpreted.
_OPTIONS = {"error_model": "numpy"}

# Numba's own annotations allow neither settings by name nor its configuration.
_njit: Any = numba.njit
_config: Any = numba.config

_PACKAGE = pathlib.Path(__file__).parent

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
    >>> len(fingerprint(pathlib.Path(__file__).parent))
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
    >>> cache_folder().name == "numba-" + fingerprint(pathlib.Path(__file__).parent)
    True
    """
    name = "numba-" + fingerprint(_PACKAGE)
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
    beside = _PACKAGE / "__pycache__"
    if cache_folder().parent == beside:
        return None
    folder = beside / ("numba-" + fingerprint(_PACKAGE))
    return folder if folder.is_dir() and not os.access(folder, os.W_OK) else None


def _parents() -> Iterator[pathlib.Path]:
    """Name where the folder of the cache may lie: beside the sources, or with what else the user keeps."""
    yield _PACKAGE / "__pycache__"
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


def switched_off() -> bool:
    """Say whether Numba has been told, by ``NUMBA_DISABLE_JIT=1``, to compile nothing: then Python plays.

    Returns
    -------
    bool
        Whether it has been.

    Examples
    --------
    >>> switched_off()
    False
    """
    return bool(_config.DISABLE_JIT)


_known: set[Any] = set()


def _marked(function: Callable[..., Any], **how: Any) -> Any:
    """Mark a function once; Numba would not know which of two marks to go by."""
    if function not in _known:
        _known.add(register_jitable(**{"forceinline": True, **_OPTIONS, **how})(function))
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
    >>> from fairlib.checks import _range
    >>> from fairlib.contexts import dot
    >>> import numpy as np
    >>> compiled(dot, float64(float64[::1], float64[::1]))(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if switched_off():
        return function
    with _MOVED:  # or another thread could find the folder moved back half-way
        if (made := _from_shipped(function, signature)) is None:
            with _moved(cache_folder()):
                made = _njit(cache=True, nogil=True, **_OPTIONS)(function)
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
        made = _njit(cache=True, nogil=True, **_OPTIONS)(function)
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


def direct(made: Any) -> Any:
    """Return what a function that is compiled for one signature calls once it has looked at the types.

    That look takes longer than many a rule. Whoever calls this must be sure of the types himself.

    Parameters
    ----------
    made : callable
        What `compiled` or `at_once` returned.

    Returns
    -------
    callable
        The machine code, to be called from Python.

    Examples
    --------
    >>> from numba import float64
    >>> from fairlib.contexts import dot
    >>> times = direct(compiled(dot, float64(float64[::1], float64[::1])))
    >>> times(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return made if switched_off() else next(iter(made.overloads.values())).entry_point


def is_ours(function: Any) -> bool:
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
    >>> is_ours(fingerprint), is_ours(lambda x: x)
    (True, False)
    """
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if file is None or not pathlib.Path(file).is_relative_to(_PACKAGE):
        return False
    named = getattr(module, getattr(function, "__qualname__", ""), None)
    return getattr(named, "function", named) is function


def kept(text: str, functions: dict[str, Any], signature: Any) -> Any:
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
    >>> from fairlib.contexts import dot
    >>> text = "def flat(x):" + chr(10) + "    return times(x, x)"
    >>> import numpy as np
    >>> kept(text, {"times": dot}, float64(float64[::1]))(np.array([3.0, 4.0]))
    25.0
    """
    lines = ["from fairlib.compilation import helper", ""]
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
        path = files[0]
        path.parent.mkdir(exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(source, encoding="utf-8")
        part.replace(path)  # whole or not at all, whoever else is at it
        importlib.invalidate_caches()
    if "fairlib_made" not in sys.modules:  # Numba looks for the module of what it has kept by its name
        package = types.ModuleType("fairlib_made")
        package.__path__ = [str(folder) for folder in folders]
        sys.modules["fairlib_made"] = package
    return compiled(importlib.import_module(f"fairlib_made.{name}").flat, signature)


class UndefinedError(NameError):
    """A function uses a name that stands for nothing.

    Parameters
    ----------
    name : str
        The name.
    function : str
        The function.

    Examples
    --------
    >>> raise UndefinedError("limit", "under")
    Traceback (most recent call last):
    fairlib.compilation.UndefinedError: name 'limit' is not defined, which 'under' uses
    """

    def __init__(self, name: str, function: str) -> None:
        super().__init__(f"name {name!r} is not defined, which {function!r} uses", name=name)
        self.function = function


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Name the code of a function, and that of the functions and comprehensions within it.

    Parameters
    ----------
    code : code object
        The function's.

    Yields
    ------
    code object
        Each.

    Examples
    --------
    >>> [each.co_name for each in codes((lambda x: [lambda: x]).__code__)]
    ['<lambda>', '<lambda>']
    """
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from codes(each)


def reached(function: Any, ours: bool = False) -> Iterator[tuple[str, Any]]:
    """Name what a function looks at outside its arguments, in the order in which its code does.

    Parameters
    ----------
    function : function
        A plain Python function.
    ours : bool
        Whether to look into modules of the package as well.

    Yields
    ------
    tuple of str and object
        The name, and what it stands for now; builtins are left out. What it looks up in a reader's own module is named
        with a dot, after the module.

    Raises
    ------
    NameError
        If the function uses a name that stands for nothing.

    Examples
    --------
    >>> limit = 3
    >>> def under(x):
    ...     return x < limit
    >>> list(reached(under))
    [('limit', 3)]
    """
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    known = {}
    for name, cell in cells.items():
        try:
            known[name] = cell.cell_contents
        except ValueError:  # it is empty
            raise UndefinedError(name, function.__name__) from None
        yield name, known[name]
    for code in codes(function.__code__):
        value: Any = None  # what the step before has found, if it is a reader's module
        within = ""
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                within = step.argval
                if within in function.__globals__:
                    value = function.__globals__[within]
                    yield within, value
                elif step.opname == "LOAD_GLOBAL" and not hasattr(builtins, within):  # a class knows names of its own
                    raise UndefinedError(within, function.__name__)
                else:
                    value = None
            elif step.opname == "LOAD_DEREF" and step.argval in known:
                within, value = step.argval, known[step.argval]
            elif (
                step.opname in ("LOAD_ATTR", "LOAD_METHOD")
                and _looked_into(value, ours)
                and hasattr(value, step.argval)
            ):
                within, value = f"{within}.{step.argval}", getattr(value, step.argval)
                yield within, value
            elif step.opname != "EXTENDED_ARG":
                value = None


def snapshot(functions: Iterable[Any]) -> tuple[Any, ...]:
    """Return all that readers' functions look at, so that a change of any of it is seen.

    Parameters
    ----------
    functions : iterable
        Functions; what is not a reader's is passed over.

    Returns
    -------
    tuple
        Two of them are equal if nothing has changed.

    Raises
    ------
    NameError
        If a function uses a name that stands for nothing.

    Examples
    --------
    >>> limit = np.zeros(2)
    >>> def under(x):
    ...     return x < limit[0]
    >>> before = snapshot([under])
    >>> limit[0] = 5.0
    >>> before == snapshot([under])
    False
    """
    found: list[Any] = []
    stack = [each for each in functions if _to_copy(each)]
    known = set(stack)
    while stack:
        for name, value in reached(stack.pop()):
            value = _unmarked(value)
            found.append((name, _stamp(value)))
            if _to_copy(value) and value not in known:
                known.add(value)
                stack.append(value)
    return tuple(found)


class _Itself:
    """An object that is equal to itself alone; as long as it is held, no other object is at its place."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def _stamp(value: Any) -> Any:
    """Return what is equal for the same value and for no other, whatever is later done to it."""
    if isinstance(value, int | float | complex | str | bytes | np.generic | None):
        return type(value), repr(value)  # 1, 1.0 and True are equal, and 0.0 and -0.0
    if isinstance(value, tuple):
        return type(value), tuple(_stamp(each) for each in value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype, value.shape, value.flags.c_contiguous, value.tobytes()
    return _Itself(value)


def depends(values: Iterable[Any]) -> Iterator[bytes]:
    """Say what functions do and what all that they reach is, so that another process can tell whether it is the same.

    A `snapshot` is of objects, and for one process. This is of text and numbers: the sources of functions and classes,
    the reader's and the package's, and the values that they find beside them. What is a library's counts by its name.

    Parameters
    ----------
    values : iterable
        The functions, or other things to begin with.

    Yields
    ------
    bytes
        The same, one after the other, as long as all of that is the same.

    Examples
    --------
    >>> limit = 3
    >>> def under(x):
    ...     return x < limit
    >>> before = list(depends([under]))
    >>> limit = 4
    >>> [each for each in depends([under]) if each not in before]
    [b"('limit', 'int 4')"]
    """
    known: dict[int, tuple[int, Any]] = {}  # holds what has been said, so that nothing else takes its place
    stack: list[Any] = []

    def said(value: Any) -> Any:
        value = getattr(_unmarked(value), "py_func", _unmarked(value))  # a reader may have compiled it himself
        if value is None or isinstance(value, numbers.Number | str | bytes):
            return f"{type(value).__name__} {value!r}"
        if isinstance(value, types.ModuleType):
            return value.__name__
        if isinstance(value, np.ndarray) and value.dtype != object:
            return value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest()
        if id(value) in known:
            return known[id(value)][0]
        known[id(value)] = len(known), value
        if isinstance(value, tuple | list):
            return type(value).__name__, [said(each) for each in value]
        if isinstance(value, dict | set | frozenset):
            parts = value.items() if isinstance(value, dict) else value
            return type(value).__name__, sorted((said(each) for each in parts), key=repr)
        if isinstance(value, types.MethodType):
            return said((value.__func__, value.__self__))
        if isinstance(value, partial):
            return said((value.func, value.args, value.keywords))
        if isinstance(value, types.FunctionType | type):
            if not _of_a_library(value.__module__) and value.__module__ != "builtins":
                stack.append(value)
            return value.__qualname__
        if hasattr(value, "__dict__") and not _of_a_library(type(value).__module__) and not is_ours(type(value)):
            return said((type(value), inspect.getattr_static(value, "__call__", None), vars(value)))
        return type(value).__qualname__, getattr(value, "__name__", "")

    for value in values:
        yield repr(said(value)).encode()
    while stack:
        each = stack.pop()
        yield _written(each).encode()
        if isinstance(each, type):
            continue
        yield repr(said((each.__defaults__, each.__kwdefaults__))).encode()
        try:
            for name, value in reached(each, ours=True):
                yield repr((name, said(value))).encode()
        except UndefinedError as error:  # a rule that is interpreted may come to know it later
            yield str(error).encode()


_sources: "weakref.WeakKeyDictionary[Any, str]" = weakref.WeakKeyDictionary()


def _written(value: Any) -> str:
    """Return the source of a function or class, or its code if it has none; once, as its file may be changed later."""
    if value not in _sources:
        try:
            _sources[value] = inspect.getsource(value)
        except (OSError, TypeError):  # typed at a prompt
            parts = list(codes(value.__code__)) if isinstance(value, types.FunctionType) else []
            plain = [[const for const in each.co_consts if not isinstance(const, types.CodeType)] for each in parts]
            _sources[value] = repr(([(each.co_code, each.co_names) for each in parts], plain))
    return _sources[value]


def afresh(function: Any) -> Any:
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
    >>> afresh(double)(3)
    6
    """
    made: dict[Any, Any] = {}

    def copy(each: Any) -> Any:
        was, each = each, _unmarked(each)
        if not _to_copy(each):
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
            register_jitable(boundscheck=True, **_OPTIONS)(new)
        return made[each]

    return copy(function)


def _in_modules(names: dict[str, Any]) -> dict[str, Any]:
    """Put the names with dots into copies of their modules; return the others."""
    copies: dict[str, Any] = {}
    for name, value in names.items():
        *outer, last = name.split(".")
        if _of_a_reader(value):
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


def _unmarked(value: Any) -> Any:
    """Return the function that a rule holds, for rules that call others; all else is returned as it is."""
    return value.function if type(value).__name__ == "Rule" else value


def _to_copy(value: Any) -> bool:
    return isinstance(value, types.FunctionType) and not is_ours(value) and not _of_a_library(value.__module__)


def _of_a_reader(value: Any) -> bool:
    """Say whether something is a module of the reader's own, whose functions are as good as those beside the rule."""
    if not isinstance(value, types.ModuleType) or value.__name__.partition(".")[0] == __name__.partition(".")[0]:
        return False
    return getattr(value, "__file__", None) is not None and not _of_a_library(value.__name__)


def _looked_into(value: Any, ours: bool) -> bool:
    """Say whether something is a module whose functions count like those beside the rule."""
    return _of_a_reader(value) or (
        ours and isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == __name__.partition(".")[0]
    )


def _of_a_library(module: str | None) -> bool:
    """Say whether a module is an installed library's; Numba knows those that it can compile."""
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    return any(part in file for part in ("site-packages", "dist-packages")) or file.startswith(_LIBRARY)


_LIBRARY = sysconfig.get_paths()["stdlib"]


def at_once(flat: Callable[..., Any], signature: Any) -> Any:
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
    >>> at_once(lambda x: x[3], float64(float64[::1]))(__import__("numpy").zeros(2))
    Traceback (most recent call last):
    IndexError: index is out of bounds
    """
    return _njit(signature, boundscheck=True, nogil=True, **_OPTIONS)(flat)
