"""Logs of arms that were drawn with known probabilities: the Open Bandit Dataset, and your own."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import FilePath, _lines, _short, _there

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_open_bandit", "read_log"]


@checked
def read_open_bandit(path: FilePath) -> "pd.DataFrame":
    r"""Read a log of the Open Bandit Dataset, for `fairlib.evaluation.evaluate`.

    Clothes were shown at three places of a fashion shop's page. In one kind of log they were drawn uniformly, in the
    other by Thompson sampling; both give the probabilities (Y. Saito, S. Aihara, M. Matsutani and Y. Narita, *Open
    bandit dataset and pipeline*, 2021). ZOZO, Inc. hands it out at research.zozo.com. The book neither ships nor
    fetches it.

    Parameters
    ----------
    path : path
        The file of one campaign, such as ``men.csv``; ``.gz``, ``.xz`` and ``.zip`` are unpacked on the way. The
        columns read are ``timestamp``, ``item_id``, ``position``, ``click`` and ``propensity_score``, or
        ``action_prob``, as some releases call it.

    Returns
    -------
    pandas.DataFrame
        A row for each item shown, in the file's order: `arm`, the item; `reward`, 1 for a click, else 0; `propensity`,
        the probability that this item was drawn for this place; `position`, 1, 2 or 3; and `timestamp`. Rows of one
        visit share their timestamp, so evaluate with ``by="timestamp"``.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    TypeError, ValueError
        If a column is missing, or a value is not what its column holds; the message names the file, the line and the
        column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "men.csv"
    ...     _ = path.write_text(
    ...         ",timestamp,item_id,position,click,propensity_score\n"
    ...         "0,2019-11-24 00:03:13.442536+00:00,14,3,0,0.03125\n"
    ...     )
    ...     log = read_open_bandit(path)
    >>> log[["arm", "reward", "propensity", "position"]].iloc[0].tolist()
    [14.0, 0.0, 0.03125, 3.0]
    """
    import pandas as pd  # only here, as it is slow to import

    file = _there(path, "the Open Bandit Dataset of ZOZO, Inc., at research.zozo.com")
    places: dict[str, int] = {}
    names: list[str] = []
    found: dict[str, list[Any]] = {name: [] for name in ("arm", "reward", "propensity", "position", "timestamp")}
    for number, line in _lines(file):
        cells = line.rstrip("\r\n").split(",")
        if number == 1:
            names, places = cells, _open_bandit_places(file, cells)
            continue
        if len(cells) != len(names):
            raise ValueError(f"{file}, line {number}: a line must have {len(names)} values, not {len(cells)}")
        for name, place in places.items():
            said, read = _OPEN_BANDIT[name]
            value = read(cells[place])
            if value is None:
                raise ValueError(f"{file}, line {number}: {names[place]} must be {said}, not {_short(cells[place])}")
            found[name].append(value)
    if not found["arm"]:
        raise ValueError(f"{file}: there is no row below the line of names")
    return pd.DataFrame({**found, "timestamp": pd.to_datetime(found["timestamp"], utc=True)})


def _open_bandit_places(file: Path, header: list[str]) -> dict[str, int]:
    """Return the place of each column of the log in a line."""
    theirs = {"arm": "item_id", "reward": "click", "propensity": "propensity_score"}
    if "propensity_score" not in header and "action_prob" in header:
        theirs["propensity"] = "action_prob"
    places = {}
    for name in _OPEN_BANDIT:
        column = theirs.get(name, name)
        if header.count(column) != 1:
            often = "twice or more" if column in header else "not there"
            raise ValueError(f"{file}, line 1: there must be one column {column}, and it is {often}")
        places[name] = header.index(column)
    return places


def _item(cell: str) -> int | None:
    return int(cell) if re.fullmatch(r"\d{1,9}", cell, re.ASCII) else None


def _chance(cell: str) -> float | None:
    plain = re.fullmatch(r"\d{1,20}(\.\d{0,40})?([eE][-+]?\d{1,3})?", cell, re.ASCII)
    value = float(cell) if plain else 0.0
    return value if 0 < value <= 1 else None


def _time(cell: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(cell) if cell.isascii() else None
    except ValueError:
        return None
    return time if time is not None and time.tzinfo is not None else None


_OPEN_BANDIT: dict[str, tuple[str, Callable[[str], Any]]] = {
    "arm": ("a whole number of 1 to 9 digits", _item),
    "reward": ("0 or 1", {"0": 0, "1": 1}.get),
    "propensity": ("a number in (0, 1]", _chance),
    "position": ("1, 2 or 3", {"1": 1, "2": 2, "3": 3}.get),
    "timestamp": ("a time with its zone, such as 2019-11-24 00:03:13+00:00", _time),
}


@checked
def read_log(path: FilePath, columns: Mapping[str, str] | None = None) -> "pd.DataFrame":
    r"""Read your own log from JSON lines, for `fairlib.replay` and `fairlib.evaluation`.

    Parameters
    ----------
    path : path
        A file with a JSON object in each line, a line for each arm played, in the order of time; ``.gz`` and ``.xz``
        are unpacked on the way.
    columns : mapping of str to str, optional
        The file's names for `arm`, `reward`, `propensity` or another column of the log, where they differ. (The columns
        of a data frame are named by its `rename`.)

    Returns
    -------
    pandas.DataFrame
        The log; all other values of a line are kept as they are.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If `columns` is no mapping of names, the file is empty, or a line is not one JSON object, says something twice,
        lacks a column that is needed or was named, or has an arm that is no whole number of at least 0, a reward that
        is no number, or a propensity outside (0, 1]; the message names the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log.jsonl"
    ...     _ = path.write_text('{"item": 2, "reward": 0.5, "p": 0.25, "day": 7}\n')
    ...     log = read_log(path, {"arm": "item", "propensity": "p"})
    >>> log.to_dict("records")
    [{'arm': 2, 'reward': 0.5, 'propensity': 0.25, 'day': 7}]
    """
    import pandas as pd  # only here, as it is slow to import

    file = _there(path)
    if not isinstance(columns, Mapping | None) or not all(
        isinstance(each, str) for pair in (columns or {}).items() for each in pair
    ):
        raise TypeError(f'columns must be names by names, such as {{"arm": "item_id"}}, not {checks.shown(columns)}')
    theirs = {"arm": "arm", "reward": "reward", "propensity": "propensity", **(columns or {})}
    rows = []
    for number, line in _lines(file):
        place = f"{file}, line {number}"
        try:
            row = json.loads(line, object_pairs_hook=_once, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{place}: this is no JSON object, {error}") from None
        if not isinstance(row, dict):
            raise ValueError(f"{place}: a line must be a JSON object, not {_short(line.strip())}")
        if missing := [name for name in theirs.values() if name not in row]:
            raise ValueError(f"{place}: there must be {_short(missing[0])}, which is not there")
        own = {name: row[column] for name, column in theirs.items()}
        try:
            checks.integer(theirs["arm"], own["arm"], 0)
            checks.real(theirs["reward"], own["reward"])
            checks.real(theirs["propensity"], own["propensity"], high=1, above=0)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}: {error}") from None
        rows.append(own | {name: value for name, value in row.items() if name not in {*own, *theirs.values()}})
    return pd.DataFrame(rows)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of its parts; where two have one name, JSON would keep only the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"as {_short(next(name for name in names if names.count(name) > 1))} is there twice")
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"as {constant} is no number of JSON")
