"""Stores of sweeps: folders in which finished results wait for the rest, and for whoever asks again."""

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyarrow import ArrowException

from fairlib import checks, saved
from fairlib.result import versions


class Store:
    """Results that are dicts, in a folder: a Parquet file a part, and beside them what sweep they are of.

    Parameters
    ----------
    folder : Path
        Where: a folder that is new, empty, or the same sweep's.
    experiment : callable
        Whose results they are.
    settings : list of dict
        The settings, of numbers and strings.
    size : int
        How many settings a part has.

    Raises
    ------
    TypeError
        If a setting is not of numbers and strings.
    ValueError
        If the folder holds anything else, another sweep, or a file that can't be read.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> settings = [{"n": 2}, {"n": 3}, {"n": 4}]
    >>> Store(folder, print, settings, 2).add([0, 1], [{"square": 4}, {"square": 9}])
    >>> again = Store(folder, print, settings, 2)
    >>> again.there
    {0, 1}
    >>> again.results()["square"].tolist()
    [4, 9]
    """

    def __init__(
        self, folder: Path, experiment: Callable[..., Any], settings: list[Mapping[str, Any]], size: int
    ) -> None:
        self.folder, self.settings, self.size = folder, settings, size
        heading = _heading(experiment, settings)
        try:
            str(folder).encode()  # or Arrow does not find it
            folder.mkdir(parents=True, exist_ok=True)
            if any(not file.name.startswith(".") for file in folder.iterdir()):  # what was being written may be left
                self._check(heading)
            else:
                with saved.whole(folder / "_sweep.json") as file:
                    file.write(json.dumps(heading, indent=1).encode())
        except (OSError, UnicodeError) as error:
            raise ValueError(f"store must be a folder that can be read and written, not {folder}: {error}") from error
        self.there = {int(place) for file in self._files() for place in _read(file, ["setting"])["setting"]}

    def _check(self, heading: Mapping[str, Any]) -> None:
        try:
            found = json.loads((self.folder / "_sweep.json").read_bytes())
            unlike = [name for name, here in heading.items() if found[name] != here]
        except (FileNotFoundError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"store must be a new folder or a sweep's, and {self.folder} is neither") from error
        if unlike:
            said = "; ".join(f"its {name} was {found[name]!r} and is now {heading[name]!r}" for name in unlike)
            raise ValueError(f"store must hold this very sweep, and {self.folder} holds another: {said}")

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def add(self, part: list[int], results: list[Any]) -> None:
        """Write the results of the first settings of a part, beside those of the same part that are there.

        Parameters
        ----------
        part : list of int
            The places of its settings.
        results : list of dict
            Results of as many settings as there are.

        Raises
        ------
        TypeError
            If a result is not a dict of numbers and strings, or has the name of a setting.
        OSError
            If the store can't be written; what was there stays.

        Examples
        --------
        >>> import tempfile
        >>> Store(Path(tempfile.mkdtemp()), print, [{"n": 2}], 1).add([0], [4])
        Traceback (most recent call last):
        TypeError: experiment must return a dict of numbers and strings for a store, not 4
        """
        if not results:
            return
        rows = [
            {"setting": place, **self.settings[place], **_row(result, self.settings[place])}
            for place, result in zip(part, results, strict=False)
        ]
        table = pd.DataFrame.from_records(rows)
        file = self.folder / f"part-{part[0] // self.size:06}.parquet"
        if file.exists():
            table = pd.concat([_read(file), table]).sort_values("setting")
        try:
            with saved.whole(file) as opened:
                table.to_parquet(opened, index=False)
        except OSError as error:
            raise OSError(f"store {self.folder} can't be written: {error}") from error
        self.there.update(table["setting"].tolist())

    def results(self) -> pd.DataFrame:
        """Return what is finished, in the order of the settings.

        Returns
        -------
        DataFrame
            A row a setting, by its place: the setting, and what the experiment returned.

        Examples
        --------
        >>> import tempfile
        >>> len(Store(Path(tempfile.mkdtemp()), print, [{"n": 2}], 1).results())
        0
        """
        files = self._files()
        return pd.concat(map(_read, files)).set_index("setting") if files else pd.DataFrame()


def _row(result: Any, setting: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take a result at the door of a store."""
    if not isinstance(result, Mapping) or not all(_plain(value) for value in result.values()):
        raise TypeError(f"experiment must return a dict of numbers and strings for a store, not {checks.said(result)}")
    if twice := result.keys() & {"setting", *setting}:
        raise TypeError(f"experiment must not return what is called as a setting is, {min(twice)!r}")
    return result


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool, int, float, np.generic))


def _read(file: Path, columns: list[str] | None = None) -> pd.DataFrame:
    try:
        return pd.read_parquet(file, columns=columns)
    except (ArrowException, OSError) as error:
        raise ValueError(
            f"store has a file that can't be read, {file}: {error}; delete it, and its settings are run again"
        ) from error


def _heading(experiment: Callable[..., Any], settings: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what tells a sweep from any other."""
    digest = hashlib.sha256()
    for setting in settings:
        if "setting" in setting or not all(_plain(value) for value in setting.values()):
            raise TypeError(
                f"settings must be dicts of numbers and strings where they are stored, not {checks.said(setting)}"
            )
        digest.update(json.dumps(setting, default=np.generic.item).encode())
    try:
        source = inspect.getsource(experiment)
    except (OSError, TypeError):  # typed by hand, or no function
        source = ""
    return {
        "experiment": getattr(experiment, "__qualname__", type(experiment).__qualname__),
        "source": source,
        "number of settings": len(settings),
        "digest of its settings": digest.hexdigest(),
        "versions": versions(),
    }
