"""Run one experiment at many settings, on one processor or on many machines."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, as_completed
from typing import Any

__all__ = ["sweep"]


def sweep(
    experiment: Callable[..., Any],
    settings: Iterable[Mapping[str, Any]],
    *,
    executor: Executor | None = None,
    progress: bool = False,
) -> list[Any]:
    """Run an experiment once for each setting; if interrupted, keep what is finished.

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
        The results in the order of the settings; None for those not finished when the sweep was interrupted.

    Raises
    ------
    TypeError
        If `experiment` can't be called or a setting is not a dict of arguments.

    Examples
    --------
    >>> sweep(lambda base, power: base**power, [{"base": 2, "power": n} for n in range(4)])
    [1, 2, 4, 8]
    """
    from tqdm.auto import tqdm  # here, as the import of the package must stay quick

    if not callable(experiment):
        raise TypeError(f"experiment must be a function, not {experiment!r}")
    listed = list(settings)
    for setting in listed:
        if not isinstance(setting, Mapping):
            raise TypeError(f"settings must be dicts of arguments, not {setting!r}")
    results: list[Any] = [None] * len(listed)
    done = 0
    bar = tqdm(total=len(listed), disable=not progress)
    try:
        if executor is None:
            for i, setting in enumerate(listed):
                results[i] = experiment(**setting)
                done += 1
                bar.update()
        else:
            place = {executor.submit(experiment, **setting): i for i, setting in enumerate(listed)}
            for future in as_completed(place):
                results[place[future]] = future.result()
                done += 1
                bar.update()
    except KeyboardInterrupt:
        warnings.warn(f"the sweep was interrupted: {done} of {len(listed)} settings are finished", stacklevel=2)
    finally:
        bar.close()
    return results
