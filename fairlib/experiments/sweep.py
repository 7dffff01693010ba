"""Run one experiment at many settings, on one processor or on many machines, and keep the finished results."""

import contextlib
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, as_completed
from typing import Annotated, Any

from fairlib import checks
from fairlib.checks import checked
from fairlib.files import GivenPath

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
) -> Any:
    """Run an experiment once for each setting; whatever ends it, finished results are kept and the rest is cancelled.

    Parameters
    ----------
    experiment : callable
        Called as ``experiment(**setting)``; with a store it returns a dict of numbers and strings.
    settings : iterable of dict
        The settings; with a store of numbers and strings, such as the seed, no two of them equal.
    store : path-like, optional
        A folder of Parquet files, new or that of earlier calls with the same experiment. Settings that are finished
        there are not run again; others can be added by asking for more.
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
    list or DataFrame
        The results in the order of the settings (of the part), and after Ctrl-C, with a warning, None for those not
        finished; with a store a table with a row for each setting, by its place, whose columns are the setting and what
        the experiment returned. With ``errors="keep"`` a list holds the exceptions that the experiment raised, a table
        their types and messages in a column ``exception``.

    Raises
    ------
    TypeError
        If `experiment` can't be called (with a store, be identified), a setting is not a dict of arguments (with a
        store, of numbers and strings), `executor` can't run anything, `part` is not a pair of whole numbers, or
        `progress` is neither True nor False.
    ValueError
        If `part` or `errors` is none of those above, two settings are equal, or the store holds another experiment or
        a file that can't be read.
    SweepError
        If the experiment raises, the executor breaks or the store can't be written; it holds what is finished.

    Notes
    -----
    Settings are sent in blocks of at most 1,000, and in at least 64 blocks if there are as many settings. A block is
    written whole or not at all, by the caller alone. Each row is identified by its setting: whatever is killed, and
    however many processes write, no setting is ever there twice. A setting at which the experiment raised is not
    finished, and a later call tries it again.

    An experiment is identified by its code and by everything that it uses: arguments of a `functools.partial`,
    variables of the functions around it, globals, classes and helpers, all as far as they are the reader's own; the
    versions of the packages used, and the sources of this one. If any of it changes, the store is refused. What can't
    be identified, a random generator or an open file, is refused as well. What an experiment reads from files, from the
    clock or from NumPy's global generator can't be seen: give it the name of the file, and a seed, as settings.

    Examples
    --------
    >>> sweep(lambda base, power: base**power, [{"base": 2, "power": n} for n in range(4)])
    [1, 2, 4, 8]
    >>> sweep(lambda n: 6 // n, [{"n": 2}, {"n": 0}], errors="keep")
    [3, ZeroDivisionError('integer division or modulo by zero')]

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
    keep = errors == "keep"
    first, step = _part(part)
    listed = _listed(settings)
    asked = {i: listed[i] for i in range(first, len(listed), step)}
    kept: Any = _Memory(asked)
    if store is not None:
        from fairlib.experiments.store import Store  # here, as it needs what is slow to import

        kept = Store(checks.path("store", store), experiment, asked, keep)
    missing = [i for i in asked if i not in kept.there]
    size = max(1, min(len(asked) // 64, 1000))
    blocks = [missing[i : i + size] for i in range(0, len(missing), size)]
    waiting: dict[Future[_Outcome], list[int]] = {}
    at = 0
    with tqdm(total=len(asked), initial=len(kept.there), disable=not progress) as bar:

        def take(block: list[int], outcome: _Outcome) -> None:
            nonlocal at
            (results, failed, error), at = outcome, block[0]
            kept.add(block, results, {block[i]: each for i, each in failed.items()})
            bar.update(len(results))
            if error is not None:
                at = block[len(results)]
                raise error

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
                    results, failed, _ = future.result()
                    with contextlib.suppress(OSError, TypeError):  # of the store; the caller gets `error`
                        kept.add(block, results, {block[i]: each for i, each in failed.items()})
            count = f"{len(kept.there)} of {len(asked)} settings are finished"
            if isinstance(error, Exception):
                said = f"setting {at}, {listed[at]!r}, ended the sweep by {type(error).__name__}: {error}"
                raise SweepError(f"{said} ({count}: see its results)", kept.results()) from error
            if not isinstance(error, KeyboardInterrupt):
                raise
            # Level 2 is what checks the arguments.
            warnings.warn(f"the sweep was interrupted: {count}", stacklevel=3)
    return kept.results()


# The results, what the experiment raised at some of them, and what ended them before the last.
_Outcome = tuple[list[Any], dict[int, Exception], BaseException | None]


def _run(experiment: Callable[..., Any], settings: list[Mapping[str, Any]], keep: bool) -> _Outcome:
    """Run an experiment at some settings; return its results, and what ended it before the last, if anything."""
    results: list[Any] = []
    failed: dict[int, Exception] = {}
    try:
        for setting in settings:
            try:
                result = experiment(**setting)
            except Exception as error:
                if not keep:
                    raise
                result = failed[len(results)] = error
            results.append(result)
    except BaseException as error:
        return results, failed, error
    return results, failed, None


def _run_elsewhere(experiment: Callable[..., Any], settings: list[Mapping[str, Any]], keep: bool) -> _Outcome:
    """Do the same for another process, to which only the text of a traceback can be sent."""
    results, failed, error = _run(experiment, settings, keep)
    for each in (*failed.values(), error):
        if each is not None:
            each.add_note("".join(traceback.format_exception(each)))
    return results, failed, error


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
    return listed


class _Memory:
    """Results of whatever kind, in a list."""

    def __init__(self, asked: Mapping[int, Any]) -> None:
        self.rows: dict[int, Any] = dict.fromkeys(asked)
        self.there: set[int] = set()

    def add(self, block: list[int], results: list[Any], failed: Mapping[int, Exception]) -> None:
        """Keep the results of the first settings of a block."""
        self.rows.update(zip(block, results, strict=False))
        self.there.update(block[: len(results)])
        self.there.difference_update(failed)

    def results(self) -> list[Any]:
        """Return the results in the order of the settings."""
        return list(self.rows.values())
