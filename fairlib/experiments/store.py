"""Stores of sweeps: folders in which finished results wait for the rest, and for later calls."""

import contextlib
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from fairlib import checks, files
from fairlib._version import __version__
from fairlib.experiments.identity import identity

_FORMAT = 1
_ROWS = 1000  # of a part, at most
_BYTES = 2**28  # of a part as it is in memory, and of the heading
_LINE = "_line"  # the column of a part that says the setting
_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_null)
_PACKED = ("SNAPPY", "UNCOMPRESSED")  # which grow at most some twenty times when they are unpacked


class Store:
    """A folder of results that are dicts: Parquet files, and beside them the identity of the experiment.

    Each row is identified by its setting, written as JSON, and each file by the identity of the experiment. A file is
    written whole, under a name that depends on the settings in it, and no file is ever added to. So any number of
    processes can write to a store at the same time; of two rows of one setting the first counts, in the order of the
    files' names.

    Parameters
    ----------
    folder : Path
        A folder that is new, empty, or the same experiment's.
    experiment : callable
        The experiment whose results they are.
    settings : dict
        The settings that are asked for, of numbers and strings, by their places.
    keep : bool
        Whether the results have a column for what the experiment raised.

    Raises
    ------
    TypeError
        If the experiment can't be identified, or a setting is not of numbers and strings.
    ValueError
        If two settings are equal, or the folder holds anything else, another experiment, or a file that can't be read.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> Store(folder, print, {0: {"n": 2}, 1: {"n": 3}}).add([0, 1], [{"square": 4}, {"square": 9}], {})
    >>> again = Store(folder, print, {0: {"n": 3}, 1: {"n": 4}})
    >>> again.there
    {0}
    >>> again.results()["square"].tolist()
    [9]
    """

    def __init__(
        self,
        folder: Path,
        experiment: Callable[..., Any],
        settings: Mapping[int, Mapping[str, Any]],
        keep: bool = False,
    ) -> None:
        self.folder, self.settings, self.keep = folder, settings, keep
        self.failed: dict[int, str] = {}
        self._places = _places(settings)
        self._names = {"setting", "exception", *(name for setting in settings.values() for name in setting)}
        heading = {"format": _FORMAT, **identity(experiment)}
        self._mark = hashlib.sha256(json.dumps(heading, sort_keys=True).encode()).hexdigest()
        try:
            str(folder).encode()  # or Arrow does not find it
            folder.mkdir(parents=True, exist_ok=True)
            if any(not file.name.startswith(".") for file in folder.iterdir()):  # an unfinished file may be left
                self._check(heading)
            else:
                with files.atomic_write(folder / "_sweep.json") as file:
                    file.write(json.dumps({**heading, "source": _source(experiment)}, indent=1).encode())
        except (OSError, UnicodeError) as error:
            raise ValueError(f"store must be a folder that can be read and written, not {folder}: {error}") from error
        self.there = {self._places[line] for file in self._files() for line in self._read(file, [_LINE])[_LINE]}

    def _check(self, heading: Mapping[str, Any]) -> None:
        file = self.folder / "_sweep.json"
        try:
            if file.stat().st_size > _BYTES:
                raise ValueError("it is too large")
            found = json.loads(file.read_bytes())
            if found["format"] != _FORMAT:
                raise ValueError(
                    f"it is of format {checks.shown(found['format'])}, and fairlib {__version__} reads format {_FORMAT}"
                )
            unlike = [
                f"{name} was {there.get(name, 'not there')} and is {here.get(name, 'not there')}"
                for here, there in ((heading[kind], found[kind]) for kind in ("experiment", "versions"))
                for name in sorted({*here, *there})
                if here.get(name) != there.get(name)
            ]
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"store must be a new folder or a sweep's, and {self.folder} is neither: {error or 'it is damaged'}"
            ) from error
        if unlike:
            more = f"; and {len(unlike) - 3} more" if len(unlike) > 3 else ""
            said = "; ".join(unlike[:3]) + more
            raise ValueError(f"store must hold this very experiment, and {self.folder} holds another: {said}")

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _read(self, file: Path, columns: list[str] | None = None) -> pd.DataFrame:
        """Read the rows of a part for the settings that are asked for, once it is known to be a part of this store."""
        try:
            texts = self._look(parquet.read_metadata(file))
            with parquet.ParquetFile(file, read_dictionary=texts) as opened:  # or a text is copied to each of its rows
                table = opened.read(columns=columns).replace_schema_metadata(None)
            for place, name in enumerate(table.column_names):
                if name in texts:
                    sizes = [pc.binary_length(each.dictionary).take(each.indices) for each in table[name].chunks]
                    if sum(pc.sum(each).as_py() or 0 for each in sizes) > _BYTES:
                        raise ValueError(f"its column {name!r} is too long")
                    table = table.set_column(place, name, table[name].cast(pa.string()))
            rows = table.to_pandas()
            if rows[_LINE].isna().any() or rows[_LINE].duplicated().any():
                raise ValueError("a setting is missing or there twice")
            if twice := self._names.intersection(rows):
                raise ValueError(f"its column {min(twice)!r} is called as a setting is")
        except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"store has a file that can't be read, {file}: {error}; delete it, and its settings are run again"
            ) from error
        return rows[[line in self._places for line in rows[_LINE]]]

    def _look(self, of: parquet.FileMetaData) -> list[str]:
        """Refuse, unread, what is no part of this store or would take too much memory; name the columns of texts."""
        if (of.metadata or {}).get(b"fairlib") != self._mark.encode():
            raise ValueError("it is not a part of this sweep")
        groups = [of.row_group(i) for i in range(of.num_row_groups)]
        columns = [each.column(i) for each in groups for i in range(each.num_columns)]
        if of.num_rows > _ROWS or sum(each.total_uncompressed_size for each in columns) > _BYTES:
            raise ValueError(f"it is larger than a part of {_ROWS:,} settings can be")
        if any(each.compression not in _PACKED for each in columns):
            raise ValueError("it is compressed in another way than parts are")
        schema = of.schema.to_arrow_schema()
        texts = [each.name for each in schema if pa.types.is_string(each.type)]
        for each in schema:
            if each.name not in texts and not any(kind(each.type) for kind in _NUMBERS):
                raise ValueError(f"its column {each.name!r} is of {each.type}")
        if _LINE not in texts or len(set(schema.names)) < len(schema.names):
            raise ValueError("it has no settings, or two columns of one name")
        return texts

    def add(self, part: list[int], results: list[Any], failed: Mapping[int, Exception]) -> None:
        """Write the results of some settings.

        Parameters
        ----------
        part : list of int
            The places of the settings.
        results : list of dict
            Results of as many settings as there are.
        failed : dict
            What the experiment raised, by the place of the setting; these settings are not finished.

        Raises
        ------
        TypeError
            If a result is not a dict of numbers and strings, or has the name of a setting.
        OSError
            If the store can't be written; the files in it stay.

        Examples
        --------
        >>> import tempfile
        >>> Store(Path(tempfile.mkdtemp()), print, {0: {"n": 2}}).add([0], [4], {})
        Traceback (most recent call last):
        TypeError: experiment must return a dict of numbers and strings for a store, not 4
        """
        self.failed |= {place: f"{type(each).__name__}: {each}" for place, each in failed.items()}
        rows = {
            place: {_LINE: _line(self.settings[place]), **_row(result, self._names)}
            for place, result in zip(part, results, strict=False)
            if place not in failed
        }
        if not rows:
            return
        name = hashlib.sha256("\n".join(row[_LINE] for row in rows.values()).encode()).hexdigest()[:32]
        table = _table(list(rows.values()))
        try:
            with (
                files.atomic_write(self.folder / f"part-{name}.parquet") as opened,
                parquet.ParquetWriter(opened, table.schema, store_schema=False) as writer,
            ):
                writer.write_table(table)
                writer.add_key_value_metadata({"fairlib": self._mark})
        except OSError as error:
            raise OSError(f"store {self.folder} can't be written: {error}") from error
        self.there.update(rows)

    def results(self) -> pd.DataFrame:
        """Return the finished rows, in the order of the settings.

        Returns
        -------
        DataFrame
            One row for each setting, by its place: the setting, and what the experiment returned; or what it raised,
            under ``exception``.

        Examples
        --------
        >>> import tempfile
        >>> len(Store(Path(tempfile.mkdtemp()), print, {0: {"n": 2}}).results())
        0
        """
        parts = [each for each in map(self._read, self._files()) if len(each)]
        rows = pd.concat(parts).drop_duplicates(_LINE) if parts else pd.DataFrame({_LINE: []})
        rows.index = pd.Index([self._places[line] for line in rows.pop(_LINE)], dtype=np.int64)
        failed = {place: text for place, text in self.failed.items() if place not in rows.index}
        places = pd.Index(sorted({*rows.index, *failed}), dtype=np.int64, name="setting")
        if not len(places):
            return pd.DataFrame()
        settings = pd.DataFrame.from_records([self.settings[place] for place in places], index=places)
        rows = rows.reindex(places)
        if self.keep:
            rows["exception"] = pd.Series(failed, dtype=str)
        return pd.concat([settings, rows], axis=1)


def _row(result: Any, names: set[str]) -> Mapping[str, Any]:
    """Check a result that a store is to keep."""
    if not isinstance(result, Mapping) or not all(_plain(value) for value in result.values()):
        raise TypeError(f"experiment must return a dict of numbers and strings for a store, not {checks.shown(result)}")
    if twice := result.keys() & {_LINE, *names}:
        raise TypeError(f"experiment must not return what is called as a setting is, {min(twice)!r}")
    return result


def _plain(value: Any) -> bool:
    numbers = (np.bool_, np.integer, np.float64, np.float32, np.float16)
    return value is None or isinstance(value, (str, bool, int, float, *numbers))


def _line(setting: Mapping[str, Any]) -> str:
    """Return a setting as a text that is equal for an equal one, whatever the order of its names."""

    def said(value: Any) -> Any:
        if isinstance(value, np.generic) and not isinstance(value, str | float | np.bool_ | np.int64):
            return {value.dtype.name: value.item()}  # float32 and such count otherwise
        return value.item()

    return json.dumps(setting, default=said, sort_keys=True)


def _places(settings: Mapping[int, Mapping[str, Any]]) -> dict[str, int]:
    """Return the places of settings by their lines."""
    places: dict[str, int] = {}
    for place, setting in settings.items():
        named = all(isinstance(each, str) and each not in ("setting", "exception", _LINE) for each in setting)
        if not named or not all(map(_plain, setting.values())):
            raise TypeError(
                f"settings must be dicts of numbers and strings where they are stored, not {checks.shown(setting)}"
            )
        line = _line(setting)
        if line in places:
            raise ValueError(
                f"settings must differ where they are stored, and {place} is {places[line]} again, "
                f"{checks.shown(setting)}: give each a seed"
            )
        places[line] = place
    return places


def _table(rows: list[Mapping[str, Any]]) -> pa.Table:
    try:
        return pa.Table.from_pandas(pd.DataFrame.from_records(rows), preserve_index=False).replace_schema_metadata(None)
    except (pa.ArrowException, OverflowError) as error:
        raise TypeError(f"experiment must return numbers of 64 bits or strings under one name: {error}") from error


def _source(experiment: Callable[..., Any]) -> str:
    """Return the source of an experiment, for a reader of the store; it is not compared."""
    with contextlib.suppress(OSError, TypeError):  # typed by hand, or no function
        return inspect.getsource(experiment)
    return ""
