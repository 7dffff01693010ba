"""Run one experiment at many settings, on one processor or on many machines."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, as_completed
from typing import Any

from fairlib import checks

__all__ = ["sweep", "SweepError"]


class SweepError(RuntimeError):
    """A sweep was ended by an error; what was finished is in `results`.

    Parameters
    ----------
    message : str
        What ended it.
    results : list
        The results in the order of the settings; None for those not finished.

    Examples
    --------
    >>> try:
    ...     sweep(lambda n: 6 / n, [{"n": 2}, {"n": 0}, {"n": 1}])
    ... except SweepError as error:
    ...     print(error, error.results)
    setting 1, {'n': 0}, ended the sweep by ZeroDivisionError: division by zero (1 of 3 settings are finished: see its \
results) [3.0, None, None]
    """

    def __init__(self, message: str, results: list[Any]) -> None:
        super().__init__(message)
        self.results = results


def sweep(
    experiment: Callable[..., Any],
    settings: Iterable[Mapping[str, Any]],
    *,
    executor: Executor | None = None,
    progress: bool = False,
) -> list[Any]:
    """Run an experiment once for each setting; whatever ends it, what is finished is kept and the rest is cancelled.

    Parameters
    ----------
    experiment : callable
        Called as ``experiment(**setting)``.
    settings : iterable of dict
        The settings.
    executor : concurrent.futures.Executor, optional
        Where to run them, such as a process pool or a Dask client's ``get_executor()``; by default here, one after
        another (a simulation by itself already uses all processors).
    progress : bool
        Show a progress bar.

    Returns
    -------
    list
        The results in the order of the settings; after Ctrl-C, with a warning, None for those not finished.

    Raises
    ------
    TypeError
        If `experiment` can't be called, a setting is not a dict of arguments, `executor` can't run anything, or
        `progress` is neither True nor False.
    SweepError
        If the experiment raises, or the executor breaks; it holds the results that are finished.

    Examples
    --------
    >>> sweep(lambda base, power: base**power, [{"base": 2, "power": n} for n in range(4)])
    [1, 2, 4, 8]
    """
    from tqdm.auto import tqdm  # here, as the import of the package must stay quick

    if not callable(experiment):
        raise TypeError(f"experiment must be a function, not {experiment!r}")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must be one of concurrent.futures, or one like it, not {executor!r}")
    listed = _listed(settings)
    results: list[Any] = [None] * len(listed)
    finished: set[int] = set()
    place: dict[Future[Any], int] = {}
    at = 0
    with tqdm(total=len(listed), disable=not checks.flag("progress", progress)) as bar:
        try:
            if executor is None:
                for at, setting in enumerate(listed):
                    results[at] = experiment(**setting)
                    finished.add(at)
                    bar.update()
            else:
                for at, setting in enumerate(listed):
                    place[executor.submit(experiment, **setting)] = at
                for future in as_completed(place):
                    at = place[future]
                    results[at] = future.result()
                    finished.add(at)
                    bar.update()
        except BaseException as error:
            for future, i in place.items():
                if not future.cancel() and future.done() and not future.cancelled() and future.exception() is None:
                    results[i] = future.result()
                    finished.add(i)
            kept = f"{len(finished)} of {len(listed)} settings are finished"
            if isinstance(error, Exception):
                said = f"setting {at}, {listed[at]!r}, ended the sweep by {type(error).__name__}: {error}"
                raise SweepError(f"{said} ({kept}: see its results)", results) from error
            if not isinstance(error, KeyboardInterrupt):
                raise
            warnings.warn(f"the sweep was interrupted: {kept}", stacklevel=2)
    return results


def _listed(settings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    try:
        listed = list(settings)
    except TypeError:
        raise TypeError(f"settings must be a list of dicts of arguments, not {settings!r}") from None
    for setting in listed:
        if not isinstance(setting, Mapping):
            raise TypeError(f"settings must be dicts of arguments, not {setting!r}")
    return listed
