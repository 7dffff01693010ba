"""Run one experiment at many settings, on one processor or on many machines, and keep the finished results."""

import contextlib
import functools
import hashlib
import inspect
import json
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, as_completed
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from fairlib import checks, files
from fairlib._version import stamp
from fairlib.checks import checked
from fairlib.core.result import versions
from fairlib.files import GivenPath
from fairlib.rules.bound_rule import RuleOwner
from fairlib.rules.jit import is_reader_function, looked_up

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["sweep", "SweepError"]


class SweepError(RuntimeError):
    """A sweep was ended by an error; what was finished is in `results`.

    Parameters
    ----------
    message : str
        What ended it.
    results : DataFrame
        The rows of the settings that are finished.

    Examples
    --------
    >>> try:
    ...     sweep(lambda n: 6 / n, [{"n": 2}, {"n": 0}, {"n": 1}])
    ... except SweepError as error:
    ...     print(error, error.results.to_dict("list"))
    setting 1, {'n': 0}, ended the sweep by ZeroDivisionError: division by zero (1 of 3 settings are finished: see its \
results) {'n': [2], 'result': [3.0]}
    """

    def __init__(self, message: str, results: "pd.DataFrame") -> None:
        super().__init__(message)
        self.results = results


@checked
def sweep(
    experiment: Annotated[Callable[..., Any], checks.Function()],
    settings: Iterable[Mapping[str, Any]],
    *,
    store: GivenPath | None = None,
    part: tuple[int, int] | None = None,
    errors: Annotated[str, checks.Choice(("raise", "keep"))] = "raise",
    executor: Executor | None = None,
    progress: Annotated[bool, checks.Flag()] = False,
) -> "pd.DataFrame":
    """Run an experiment once for each setting; whatever ends it, finished results are kept and the rest is cancelled.

    Parameters
    ----------
    experiment : callable
        Called as ``experiment(**setting)``. If it returns a dict, each name in it gets a column of the table, anything
        else is put into the column ``result``. For a store it is a function, or a `functools.partial` of one, and
        returns numbers, strings, or a dict of such.
    settings : iterable of dict
        The settings; with a store of numbers and strings, such as the seed, no two of them equal.
    store : path-like, optional
        A folder, new or that of earlier calls with the same experiment. Settings that are finished there are not run
        again; others can be added by asking for more.
    part : tuple of int, optional
        ``(i, n)`` runs every n-th setting only, from the i-th on, for i from 0 to n - 1: one of n processes, on as many
        machines. They may write to one store at the same time.
    errors : str
        What to do if the experiment raises: ``"raise"`` ends the sweep, ``"keep"`` goes on with the other settings.
    executor : concurrent.futures.Executor, optional
        Where to run them, such as a process pool or a Dask client's ``get_executor()``; by default here, one after
        another (a simulation by itself already uses all processors).
    progress : bool
        Show a progress bar.

    Returns
    -------
    DataFrame
        A row for each finished setting (of the part), in their order and by their places in the index: the setting, and
        what the experiment returned. With ``errors="keep"`` what it raised is in a column ``exception``. After Ctrl-C,
        with a warning, the rows that are finished.

    Raises
    ------
    SweepError
        If the experiment raises or returns what can't be kept, the executor breaks or the store can't be written; it
        holds what is finished.

    Notes
    -----
    Settings are sent in blocks of at most 1,000, and in at least 64 blocks if there are as many settings. A block is
    written whole or not at all, by the caller alone, into a file that is named by the hash of what is in it. Each row
    is identified by its setting: whatever is killed, and however many processes write, no setting is ever there twice.
    A setting at which the experiment raised is not finished, and a later call tries it again.

    A store knows an experiment by its source and those of the functions that it calls by their names, by what they find
    outside (defaults, arguments of a `functools.partial`, globals, variables of functions around it), as `repr` writes
    it, by the sources of this package, and by the versions of Python, NumPy and Numba. If any of it changes, the store
    is refused. What has no source, or no text that tells it from others, is refused as well. A change of a class, of a
    file that is read, or of a second module of yours is not noticed: give the store another name.

    Examples
    --------
    >>> sweep(lambda base, power: base**power, [{"base": 2, "power": n} for n in range(4)])["result"].tolist()
    [1, 2, 4, 8]
    >>> sweep(lambda n: 6 // n, [{"n": 2}, {"n": 0}], errors="keep")["exception"].tolist()
    [nan, 'ZeroDivisionError: integer division or modulo by zero']

    A million settings would be stored like these three; three more are run when they are asked for:

    >>> import tempfile
    >>> import fairlib as fl
    >>> def end_of_game(gap, seed):
    ...     game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    ...     return {"regret": fl.simulate(game, fl.ucb1(), 200, seed=seed).regret[0, -1]}
    >>> settings = [{"gap": gap, "seed": 1} for gap in (0.1, 0.2, 0.4)]
    >>> folder = tempfile.mkdtemp()
    >>> sweep(end_of_game, settings, store=folder).columns.tolist()
    ['gap', 'seed', 'regret']
    >>> settings += [{"gap": gap, "seed": 2} for gap in (0.1, 0.2, 0.4)]
    >>> len(sweep(end_of_game, settings, store=folder))
    6
    """
    from tqdm.auto import tqdm  # here, as the import of the package must stay quick

    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be one of concurrent.futures, or one like it, not {checks.shown(executor)}")
    first, step = _part(part)
    listed = _listed(settings)
    asked = {i: listed[i] for i in range(first, len(listed), step)}
    kept = _Rows(asked) if store is None else _Store(asked, checks.path("store", store), experiment)
    missing = [i for i in asked if i not in kept.rows]
    size = max(1, min(len(asked) // 64, 1000))
    blocks = [missing[i : i + size] for i in range(0, len(missing), size)]
    waiting: dict[Future[list[Any]], list[int]] = {}
    at, keep = 0, errors == "keep"
    with tqdm(total=len(asked), initial=len(kept.rows), disable=not progress) as bar:

        def take(block: list[int], done: list[Any]) -> None:
            nonlocal at
            at, last = block[0], done[-1]
            ended = isinstance(last, _Raised) and not (keep and isinstance(last.error, Exception))
            kept.add(dict(zip(block, done[:-1] if ended else done, strict=False)))
            bar.update(len(done) - ended)
            if ended:
                at = block[len(done) - 1]
                raise last.error

        try:
            for block in blocks:
                given = [asked[i] for i in block]
                if executor is None:
                    take(block, _run(experiment, given, keep))
                else:
                    waiting[executor.submit(_run_elsewhere, experiment, given, keep)] = block
            for future in as_completed(waiting):
                block = waiting.pop(future)
                at = block[0]
                take(block, future.result())
        except BaseException as error:
            for future, block in waiting.items():
                if not future.cancel() and future.done() and not future.cancelled() and future.exception() is None:
                    with contextlib.suppress(BaseException):  # the caller gets `error`
                        take(block, future.result())
            count = f"{len(kept.rows)} of {len(asked)} settings are finished"
            if isinstance(error, Exception):
                said = f"setting {at}, {listed[at]!r}, ended the sweep by {type(error).__name__}: {error}"
                raise SweepError(f"{said} ({count}: see its results)", kept.table(keep)) from error
            if not isinstance(error, KeyboardInterrupt):
                raise
            # Level 2 is what checks the arguments.
            warnings.warn(f"the sweep was interrupted: {count}", stacklevel=3)
    return kept.table(keep)


class _Raised(NamedTuple):
    """What an experiment raised, in place of its result."""

    error: BaseException


def _run(experiment: Callable[..., Any], settings: list[Mapping[str, Any]], keep: bool) -> list[Any]:
    """Run an experiment at some settings, up to the first at which it raises what is not to be kept."""
    done: list[Any] = []
    for setting in settings:
        try:
            done.append(experiment(**setting))
        except BaseException as error:
            done.append(_Raised(error))
            if not (keep and isinstance(error, Exception)):
                break
    return done


def _run_elsewhere(experiment: Callable[..., Any], settings: list[Mapping[str, Any]], keep: bool) -> list[Any]:
    """Do the same for another process, to which only the text of a traceback can be sent."""
    done = _run(experiment, settings, keep)
    for each in done:
        if isinstance(each, _Raised):
            each.error.add_note("".join(traceback.format_exception(each.error)))
    return done


def _part(part: Any) -> tuple[int, int]:
    """Return at which setting a part begins, and how many others lie between two of its own."""
    if part is None:
        return 0, 1
    first, last = checks.pair("part", part, "a pair of whole numbers, such as (0, 10)")
    number = checks.integer("part", last, 1)
    return checks.integer("part", first, 0, number - 1), number


def _listed(settings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    listed = list(checks.rows("settings", settings, "a list of dicts of arguments"))
    for setting in listed:
        checks.instance("settings", setting, Mapping, "dicts of arguments")
        if not all(isinstance(name, str) and name not in ("setting", "exception") for name in setting):
            raise TypeError(f"settings must be dicts of arguments by their names, not {checks.shown(setting)}")
    return listed


class _Rows:
    """The results of the settings that are finished, by the places of the settings."""

    def __init__(self, asked: Mapping[int, Mapping[str, Any]]) -> None:
        self.asked = asked
        self.rows: dict[int, Mapping[str, Any]] = {}
        self.failed: dict[int, str] = {}
        self._taken = {"setting", "exception", *(name for setting in asked.values() for name in setting)}

    def add(self, done: Mapping[int, Any]) -> None:
        """Keep results, and what was raised in place of some."""
        failed = {place: each.error for place, each in done.items() if isinstance(each, _Raised)}
        self.failed |= {place: f"{type(error).__name__}: {error}" for place, error in failed.items()}
        self.rows |= self.write({place: self._row(each) for place, each in done.items() if place not in failed})

    def _row(self, result: Any) -> Mapping[str, Any]:
        row = result if isinstance(result, Mapping) else {"result": result}
        if twice := sorted(map(str, self._taken.intersection(row))):
            raise TypeError(f"experiment must not return what is called as a setting is, {twice[0]!r}")
        return row

    def write(self, rows: dict[int, Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
        """Write rows to a store, of which there is none here, and return them as they will be read."""
        return rows

    def table(self, keep: bool) -> "pd.DataFrame":
        """Return a table of the finished rows, with what the experiment raised if that is kept."""
        import pandas as pd

        places = [place for place in self.asked if place in self.rows or (keep and place in self.failed)]
        rows = [{**self.asked[place], **self.rows.get(place, {})} for place in places]
        names = list(dict.fromkeys(name for row in rows for name in row))
        columns = {name: _column([row.get(name) for row in rows]) for name in names}
        if keep:
            columns["exception"] = pd.Series([self.failed.get(place) for place in places], dtype=str)
        table = pd.DataFrame(columns)
        table.index = pd.Index(places, dtype=np.int64, name="setting")
        return table


def _column(values: list[Any]) -> Any:
    """Return a column; whole numbers beyond 2**53 are not rounded where a float or a gap is among them."""
    import pandas as pd

    column = pd.Series(values) if all(map(_plain, values)) else pd.Series(values, dtype=object)
    if column.dtype.kind == "f" and any(
        isinstance(each, int | np.integer) and abs(int(each)) > 2**53 for each in values
    ):
        return pd.Series(values, dtype=object)
    return column


def _plain(value: Any) -> bool:
    return value is None or isinstance(
        value, str | bool | int | float | np.bool_ | np.integer | np.float32 | np.float16
    )


# Stores ---------------------------------------------------------------------------------------------------------------


_FORMAT = 2


class _Store(_Rows):
    """A folder of whole files of JSON, each named by its hash, so that any number of processes can write to it."""

    def __init__(self, asked: Mapping[int, Mapping[str, Any]], folder: Path, experiment: Callable[..., Any]) -> None:
        super().__init__(asked)
        self.folder = folder
        self._lines: dict[str, int] = {}
        for place, setting in asked.items():
            if not all(map(_plain, setting.values())):
                raise TypeError(
                    f"settings must be dicts of numbers and strings where they are stored, not {checks.shown(setting)}"
                )
            first = self._lines.setdefault(_line(setting), place)
            if first != place:
                raise ValueError(
                    f"settings must differ where they are stored, and {place} is {first} again, "
                    f"{checks.shown(setting)}: give each a seed"
                )
        heading = {"format": str(_FORMAT), **_identity(experiment), **versions(), "sources of fairlib": stamp()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(not file.name.startswith(".") for file in folder.iterdir()):  # an unfinished file may be left
                self._check(heading)
            else:
                with files.atomic_write(folder / "_sweep.json") as file:
                    file.write(json.dumps(heading, indent=1).encode())
            for part in sorted(folder.glob("part-*.json")):
                self._read(part)
        except (OSError, UnicodeError) as error:
            raise ValueError(f"store must be a folder that can be read and written, not {folder}: {error}") from error

    def _check(self, heading: Mapping[str, str]) -> None:
        try:
            found = dict(json.loads((self.folder / "_sweep.json").read_bytes()))
        except (FileNotFoundError, ValueError, TypeError, RecursionError) as error:
            raise ValueError(
                f"store must be a new folder or a sweep's, and {self.folder} is neither: {error}"
            ) from error
        unlike = [
            f"{name} was {_short(found.get(name))} and is {_short(heading.get(name))}"
            for name in {**heading, **found}
            if heading.get(name) != found.get(name)
        ]
        if unlike:
            more = f"; and {len(unlike) - 3} more" if len(unlike) > 3 else ""
            said = "; ".join(unlike[:3]) + more
            raise ValueError(f"store must hold this very experiment, and {self.folder} holds another: {said}")

    def _read(self, part: Path) -> None:
        text = part.read_bytes()
        if part.name != _name(text):
            raise ValueError(
                f"store has a file that can't be read, {part}: it is damaged; delete it, and its settings are run again"
            )
        for line in text.decode().splitlines():
            setting, row = json.loads(line)
            if (place := self._lines.get(setting)) is not None:
                self.rows.setdefault(place, row)

    def write(self, rows: dict[int, Mapping[str, Any]]) -> dict[int, Mapping[str, Any]]:
        """Write rows into a file of their own, and return them as they will be read."""
        for row in rows.values():
            if not all(isinstance(name, str) and _plain(value) for name, value in row.items()):
                raise TypeError(
                    f"experiment must return numbers and strings for a store, not {checks.shown(dict(row))}"
                )
        lines = {place: json.dumps([_line(self.asked[place]), row], default=_number) for place, row in rows.items()}
        if lines:
            text = "\n".join(lines.values()).encode()
            try:
                with files.atomic_write(self.folder / _name(text)) as file:
                    file.write(text)
            except OSError as error:
                raise OSError(f"store {self.folder} can't be written: {error}") from error
        return {place: json.loads(line)[1] for place, line in lines.items()}


def _line(setting: Mapping[str, Any]) -> str:
    """Return a text that is equal for an equal setting, whatever the order of its names."""
    return json.dumps(setting, default=_number, sort_keys=True)


def _number(value: Any) -> Any:
    return value.item()  # NumPy's


def _name(text: bytes) -> str:
    return f"part-{hashlib.sha256(text).hexdigest()[:32]}.json"


def _identity(experiment: Callable[..., Any]) -> dict[str, str]:
    """Return what an experiment is known by: sources of functions, and what they find outside, each by its name."""
    known: dict[str, str] = {}
    met: dict[Any, str] = {}
    waiting: list[tuple[str, Any]] = [(_EXPERIMENT, experiment)]
    while waiting:
        name, value = waiting.pop(0)
        parts: Mapping[Any, Any] = {}
        if isinstance(value, functools.partial):
            parts = {"function": value.func, **dict(enumerate(value.args)), **value.keywords}
        elif isinstance(value, RuleOwner):
            parts = {"rule": value.bound_rule.rule.function, **value.bound_rule.settings}
        elif is_reader_function(value) and value in met:
            known[name] = f"the function of {met[value]}"
        elif is_reader_function(value):
            met[value], known[name] = name, _source(name, value)
            given = inspect.signature(value, follow_wrapped=False).parameters.values()
            parts = looked_up(value) | {each.name: each.default for each in given if each.default is not each.empty}
        elif hasattr(value, "__wrapped__") and not isinstance(value, types.FunctionType):  # it keeps or compiles
            parts = {"function": value.__wrapped__}
        elif isinstance(value, types.ModuleType | type | types.FunctionType):
            known[name] = f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value.__name__)}"
        else:
            known[name] = _text(name, value)
        prefix = "" if name == _EXPERIMENT else f"{name}."
        waiting += [(f"{prefix}{part}", each) for part, each in parts.items()]
    return known


_EXPERIMENT = "the experiment"


def _source(name: str, function: Any) -> str:
    try:
        return inspect.getsource(function)
    except (OSError, TypeError) as error:
        raise TypeError(
            f"experiment must be written in a cell or a file if its results are stored, and the source of {name!r} "
            "is not found"
        ) from error


def _text(name: str, value: Any) -> str:
    """Return a text that tells a value from others."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        text = repr(value)
    if any(each in text for each in (" at 0x", "...", "array of shape")):
        raise TypeError(
            f"experiment must depend only on what its text tells from others if its results are stored, and {name!r} "
            f"is {checks.shown(value)}: make it inside the experiment, from its settings"
        )
    return text


def _short(text: Any) -> str:
    """Return a source, a long text or nothing in a few words."""
    if text is None:
        return "not there"
    return text if len(text) <= 60 and "\n" not in text else f"{text.split(chr(10))[0][:60]}..."
