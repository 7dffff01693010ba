"""What a function looks at outside its arguments, and copies of functions as they are now."""

import ast
import builtins
import dis
import hashlib
import inspect
import numbers
import pathlib
import sys
import sysconfig
import textwrap
import types
import weakref
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

PACKAGE = pathlib.Path(__file__).parents[1]


class FunctionHolder:
    """An object that holds a function and stands for it: a rule."""

    function: Any


class UndefinedError(NameError):
    """A function uses a name that is not defined.

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
    fairlib.rules.snapshot.UndefinedError: name 'limit' is not defined, which 'under' uses
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


class Step(NamedTuple):
    """An instruction of a function, as `names_used` yields it.

    Parameters
    ----------
    kind : str
        ``"global"``, ``"name"``, ``"free"``, ``"local"`` or ``"attribute"`` where a name is looked up, else what Python
        calls the instruction.
    name : str
        What is looked up, or what else the instruction is about.
    path : tuple of str
        The names from the first one to this attribute, if nothing else was done in between.
    inside : bool
        Whether it is in a function or comprehension within the function.

    Examples
    --------
    >>> Step("attribute", "pi", ("math", "pi"), False).path
    ('math', 'pi')
    """

    kind: str
    name: Any
    path: tuple[str, ...]
    inside: bool


def names_used(function: Any) -> Iterator[Step]:
    """Yield the instructions of a function, and of those within it, by the names that they look up.

    Parameters
    ----------
    function : function
        A plain Python function.

    Yields
    ------
    Step
        Each instruction, in its order.

    Examples
    --------
    >>> [step.path for step in names_used(lambda x: np.linalg.norm(x.total)) if step.kind == "attribute"]
    [('np', 'linalg'), ('np', 'linalg', 'norm'), ('x', 'total')]
    """
    yield from _steps(function.__code__)


_KINDS = {"LOAD_GLOBAL": "global", "LOAD_NAME": "name", "LOAD_ATTR": "attribute", "LOAD_METHOD": "attribute"}


@lru_cache(maxsize=1000)  # code that makes many policies has the same rule looked through each time
def _steps(function: types.CodeType) -> tuple[Step, ...]:
    steps = []
    for code in codes(function):
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
                path = (name,) if kind in ("global", "name", "free", "local") else ()
            steps.append(Step(kind, name, path, code is not function))
    return tuple(steps)


def reached(function: Any, ours: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield what a function looks at outside its arguments, in the order in which its code does.

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
        If the function uses a name that is not defined.

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
    if not any(code.co_names for code in codes(function.__code__)):
        return
    value: Any = None  # what the step before has found, if it is a reader's module
    for kind, name, path, _ in names_used(function):
        before, value = value, None
        if kind in ("global", "name"):
            if name in function.__globals__:
                value = function.__globals__[name]
                yield name, value
            elif kind == "global" and not hasattr(builtins, name):  # a class knows names of its own
                raise UndefinedError(name, function.__name__)
        elif kind == "free":
            value = known.get(name)
        elif kind == "attribute" and _looked_into(before, ours) and hasattr(before, name):
            value = getattr(before, name)
            yield ".".join(path), value


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
    >>> is_package_function(codes), is_package_function(lambda x: x)
    (True, False)
    """
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if file is None or not pathlib.Path(file).is_relative_to(PACKAGE):
        return False
    named = getattr(module, getattr(function, "__qualname__", ""), None)
    return getattr(named, "function", named) is function


def snapshot(functions: Iterable[Any]) -> tuple[Any, ...]:
    """Return all that readers' functions look at, so that a change of any of it is seen.

    Parameters
    ----------
    functions : iterable
        Functions; those that are not a reader's are passed over.

    Returns
    -------
    tuple
        Two of them are equal if nothing has changed.

    Raises
    ------
    NameError
        If a function uses a name that is not defined.

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
    stack = [each for each in functions if is_reader_function(each)]
    known = set(stack)
    while stack:
        for name, value in reached(stack.pop()):
            value = unwrap(value)
            found.append((name, _stamp(value)))
            if is_reader_function(value) and value not in known:
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
    """Return an object that is equal for the same value and for no other, whatever is later done to the value."""
    if isinstance(value, int | float | complex | str | bytes | np.generic | None):
        return type(value), repr(value)  # 1, 1.0 and True are equal, and 0.0 and -0.0
    if isinstance(value, tuple):
        return type(value), tuple(_stamp(each) for each in value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype, value.shape, value.flags.c_contiguous, value.tobytes()
    return _Itself(value)


def dependencies(values: Iterable[Any], as_code: bool = False) -> Iterator[bytes]:
    """Describe functions and all that they reach, so that another process can tell whether they are the same.

    A `snapshot` is of objects, and for one process. This is of text and numbers: the sources of functions and classes,
    the reader's and the package's, and the values that they find beside them. A function or class of a library counts
    by its name.

    Parameters
    ----------
    values : iterable
        The functions, or other things to begin with.
    as_code : bool
        Whether to take functions as this version of Python compiled them, which is quicker than their sources.

    Yields
    ------
    bytes
        The same, one after the other, as long as all of that is the same.

    Examples
    --------
    >>> limit = 3
    >>> def under(x):
    ...     return x < limit
    >>> before = list(dependencies([under]))
    >>> limit = 4
    >>> [each for each in dependencies([under]) if each not in before]
    [b"('limit', 'int 4')"]
    """
    known: dict[int, tuple[int, Any]] = {}  # holds what has been said, so that nothing else takes its place
    stack: list[Any] = []

    def said(value: Any) -> Any:
        value = getattr(unwrap(value), "py_func", unwrap(value))  # a reader may have compiled it himself
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
            if not is_library(value.__module__) and value.__module__ != "builtins":
                stack.append(value)
            return value.__qualname__
        if (
            hasattr(value, "__dict__")
            and not is_library(type(value).__module__)
            and not is_package_function(type(value))
        ):
            return said((type(value), inspect.getattr_static(value, "__call__", None), vars(value)))
        return type(value).__qualname__, getattr(value, "__name__", "")

    for value in values:
        yield repr(said(value)).encode()
    while stack:
        each = stack.pop()
        yield (_code(each) if as_code else _written(each)).encode()
        if isinstance(each, type):
            continue
        yield repr(said((each.__defaults__, each.__kwdefaults__))).encode()
        try:
            for name, value in reached(each, ours=True):
                yield repr((name, said(value))).encode()
        except UndefinedError as error:  # an interpreted rule may find it defined later
            yield str(error).encode()


_sources: "weakref.WeakKeyDictionary[Any, str]" = weakref.WeakKeyDictionary()


def _code(value: Any) -> str:
    """Return what Python made of a function, without its docstring; for a class, what machine code knows of it."""
    if isinstance(value, type):  # a named tuple, or an exception, whose own methods Python runs
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', ())}"
    parts = []
    for code in codes(value.__code__):
        doc = value.__doc__ if code is value.__code__ else None
        consts = [each for each in code.co_consts if each != doc and not isinstance(each, types.CodeType)]
        flags = code.co_argcount, code.co_kwonlyargcount, code.co_flags
        parts.append((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, flags, consts))
    return repr(parts)


def _written(value: Any) -> str:
    """Return the source of a function or class, or its code if it has none; once, as its file may be changed later."""
    if value not in _sources:
        try:
            _sources[value] = without_comments(textwrap.dedent(inspect.getsource(value)))
        except (OSError, TypeError):  # typed at a prompt
            parts = list(codes(value.__code__)) if isinstance(value, types.FunctionType) else []
            plain = [[const for const in each.co_consts if not isinstance(const, types.CodeType)] for each in parts]
            _sources[value] = repr(([(each.co_code, each.co_names) for each in parts], plain))
    return _sources[value]


def without_comments(source: str) -> str:
    """Return Python sources as they run: without comments, docstrings and the author's way of breaking lines.

    Parameters
    ----------
    source : str
        The sources.

    Returns
    -------
    str
        The same for all sources that do the same; what can't be parsed, as part of a line, is returned as it is.

    Examples
    --------
    >>> print(without_comments("def half(x):  # of a number" + chr(10) + "    return x/2"))
    def half(x):
        return x / 2
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def unwrap(value: Any) -> Any:
    """Return the function that a rule holds, for rules that call others; all else is returned as it is."""
    return value.function if isinstance(value, FunctionHolder) else value


def is_reader_function(value: Any) -> bool:
    """Return whether something is a function that neither the package nor a library has under its name.

    Parameters
    ----------
    value : object
        The thing.

    Returns
    -------
    bool
        True for a reader's function.

    Examples
    --------
    >>> is_reader_function(lambda x: x), is_reader_function(codes)
    (True, False)
    """
    return isinstance(value, types.FunctionType) and not is_package_function(value) and not is_library(value.__module__)


def is_reader_module(value: Any) -> bool:
    """Return whether something is a module of the reader's own, whose functions count like those beside the rule."""
    if not isinstance(value, types.ModuleType) or value.__name__.partition(".")[0] == PACKAGE.name:
        return False
    return getattr(value, "__file__", None) is not None and not is_library(value.__name__)


def _looked_into(value: Any, ours: bool) -> bool:
    """Say whether something is a module whose functions count like those beside the rule."""
    return is_reader_module(value) or (
        ours and isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == PACKAGE.name
    )


def is_library(module: str | None) -> bool:
    """Say whether a module is an installed library's; Numba knows those that it can compile."""
    file = getattr(sys.modules.get(module or ""), "__file__", None) or ""
    if file.startswith(str(PACKAGE)):  # wherever it is installed
        return False
    return any(part in file for part in ("site-packages", "dist-packages")) or file.startswith(_LIBRARY)


_LIBRARY = sysconfig.get_paths()["stdlib"]
