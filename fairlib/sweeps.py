"""Run one experiment at many settings, on one processor or on many machines, and keep what is finished."""

import contextlib
import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, as_completed
from itertools import groupby
from typing import Any

from fairlib import checks

__all__ = ["sweep", "SweepError"]


class SweepError(RuntimeError):
    """A sweep was ended by an error; what was finished is in `results`.

    Parameters
    ----------
    message : str
        What ended it.
    results : list or DataFrame
        The results in the order of the settings, None for those not finished; with a store, the rows that are finished.

    Examples
    --------
    >>> try:
    ...     sweep(lambda n: 6 / n, [{"n": 2}, {"n": 0}, {"n": 1}])
    ... except SweepError as error:
    ...     print(error, error.results)
    setting 1, {'n': 0}, ended the sweep by ZeroDivisionError: division by zero (1 of 3 settings are finished: see its \
results) [3.0, None, None]
    """

    def __init__(self, message: str, results: Any) -> None:
        super().__init__(message)
        self.results = results


def sweep(
    experiment: Callable[..., Any],
    settings: Iterable[Mapping[str, Any]],
    *,
    store: str | os.PathLike[str] | None = None,
    executor: Executor | None = None,
    progress: bool = False,
) -> Any:
    """Run an experiment once for each setting; whatever ends it, what is finished is kept and the rest is cancelled.

    Parameters
    ----------
    experiment : callable
        Called as ``experiment(**setting)``; with a store it returns a dict of numbers and strings.
    settings : iterable of dict
        The settings; with a store of numbers and strings, such as the seed.
    store : path-like, optional
        A folder of Parquet files, new or that of an earlier call with the same experiment and settings, of which only
        what is missing is run. The settings, the experiment's source and the versions stand beside the rows.
    executor : concurrent.futures.Executor, optional
        Where to run them, such as a process pool or a Dask client's ``get_executor()``; by default here, one after
        another (a simulation by itself already uses all processors).
    progress : bool
        Show a progress bar.

    Returns
    -------
    list or DataFrame
        The results in the order of the settings, and after Ctrl-C, with a warning, None for those not finished; with a
        store a table with a row a setting, whose columns are the setting and what the experiment returned.

    Raises
    ------
    TypeError
        If `experiment` can't be called, a setting is not a dict of arguments (with a store, of numbers and strings),
        `executor` can't run anything, or `progress` is neither True nor False.
    ValueError
        If the store holds another sweep, was made by other versions, or has a file that can't be read.
    SweepError
        If the experiment raises, the executor breaks or the store can't be written; it holds what is finished.

    Notes
    -----
    Settings are sent in parts of at most 1,000, and where there are as many in at least 64 parts. A part is written
    whole or not at all, by the caller alone, under a name that depends on its settings only: whatever is killed, no
    setting is ever there twice.

    Examples
    --------
    >>> sweep(lambda base, power: base**power, [{"base": 2, "power": n} for n in range(4)])
    [1, 2, 4, 8]

    A million settings would be stored like these three:

    >>> import tempfile
    >>> import fairlib as fl
    >>> def end_of_game(gap, seed):
    ...     game = fl.Bandit(fl.bernoulli([0.5 + gap, 0.5]))
    ...     return {"regret": fl.simulate(game, fl.ucb1(), 200, seed=seed).regret[0, -1]}
    >>> settings = [{"gap": gap, "seed": 1} for gap in (0.1, 0.2, 0.4)]
    >>> sweep(end_of_game, settings, store=tempfile.mkdtemp()).columns.tolist()
    ['gap', 'seed', 'regret']
    """
    from tqdm.auto import tqdm  # here, as the import of the package must stay quick

    if not callable(experiment):
        raise TypeError(f"experiment must be a function, not {checks.said(experiment)}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be one of concurrent.futures, or one like it, not {checks.said(executor)}")
    listed = _listed(settings)
    size = max(1, min(len(listed) // 64, 1000))
    kept: Any = _Memory(len(listed))
    if store is not None:
        from fairlib.stores import Store  # here, as it needs what is slow to import

        kept = Store(checks.path("store", store), experiment, listed, size)
    missing = (i for i in range(len(listed)) if i not in kept.there)
    parts = [list(part) for _, part in groupby(missing, lambda i: i // size)]
    waiting: dict[Future[_Outcome], list[int]] = {}
    at = 0
    with tqdm(total=len(listed), initial=len(kept.there), disable=not checks.flag("progress", progress)) as bar:

        def take(part: list[int], outcome: _Outcome) -> None:
            nonlocal at
            (results, error), at = outcome, part[0]
            kept.add(part, results)
            bar.update(len(results))
            if error is not None:
                at = part[len(results)]
                raise error

        try:
            for part in parts:
                given = [listed[i] for i in part]
                if executor is None:
                    take(part, _run(experiment, given))
                else:
                    waiting[executor.submit(_run_elsewhere, experiment, given)] = part
            for future in as_completed(waiting):
                part = waiting.pop(future)
                at = part[0]
                take(part, future.result())
        except BaseException as error:
            for future, part in waiting.items():
                if not future.cancel() and future.done() and not future.cancelled() and future.exception() is None:
                    with contextlib.suppress(OSError, TypeError):  # of the store, of which the caller is told
                        kept.add(part, future.result()[0])
            count = f"{len(kept.there)} of {len(listed)} settings are finished"
            if isinstance(error, Exception):
                said = f"setting {at}, {listed[at]!r}, ended the sweep by {type(error).__name__}: {error}"
                raise SweepError(f"{said} ({count}: see its results)", kept.results()) from error
            if not isinstance(error, KeyboardInterrupt):
                raise
            warnings.warn(f"the sweep was interrupted: {count}", stacklevel=2)
    return kept.results()


_Outcome = tuple[list[Any], BaseException | None]


def _run(experiment: Callable[..., Any], settings: list[Mapping[str, Any]]) -> _Outcome:
    """Run an experiment at some settings; return what came out, and what ended it before the last, if anything."""
    results: list[Any] = []
    try:
        for setting in settings:
            results.append(experiment(**setting))
    except BaseException as error:
        return results, error
    return results, None


def _run_elsewhere(experiment: Callable[..., Any], settings: list[Mapping[str, Any]]) -> _Outcome:
    """Do the same for another process, to which no traceback can be sent but its text."""
    results, error = _run(experiment, settings)
    if error is not None:
        error.add_note("".join(traceback.format_exception(error)))
    return results, error


def _listed(settings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    alone = isinstance(settings, str | bytes | Mapping) or getattr(settings, "shape", None) == ()
    listed = list(checks.instance("settings", None if alone else settings, Iterable, "a list of dicts of arguments"))
    for setting in listed:
        checks.instance("settings", setting, Mapping, "dicts of arguments")
    return listed


class _Memory:
    """Results of whatever kind, in a list."""

    def __init__(self, number: int) -> None:
        self.rows: list[Any] = [None] * number
        self.there: set[int] = set()

    def add(self, part: list[int], results: list[Any]) -> None:
        """Keep the results of the first settings of a part."""
        for place, result in zip(part, results, strict=False):
            self.rows[place] = result
            self.there.add(place)

    def results(self) -> list[Any]:
        """Return the results in the order of the settings."""
        return self.rows
