"""Logs of arms that were drawn with known probabilities: the Open Bandit Dataset, and your own."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import FilePath, _must, _need, _numbers, _opened, _table, _there

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
        The file of one campaign, such as ``men.csv``; gzip, xz, bzip2 and zip are unpacked on the way. The columns read
        are ``timestamp``, ``item_id``, ``position``, ``click`` and ``propensity_score``, or
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
        If a column is missing, or a value is not what its column holds; the message names the file, the column and the
        line.

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
    columns = ["timestamp", "item_id", "position", "click"]
    table = _table(file, [*columns, "propensity_score", "action_prob"].__contains__)
    chance = "action_prob" if "action_prob" in table and "propensity_score" not in table else "propensity_score"
    _need(file, table, [*columns, chance])
    if table.empty:
        raise ValueError(f"{file}: there is no row below the line of names")
    item, click, place, drawn = (_numbers(table[name]) for name in ("item_id", "click", "position", chance))
    time = pd.to_datetime(table["timestamp"].astype(str), format="ISO8601", utc=True, errors="coerce")
    zoned = table["timestamp"].astype(str).str.contains(r":.*(?:Z|[+-]\d\d(?::?\d\d)?)$")
    _must(file, table["item_id"], _whole(item), "a whole number of at least 0")
    _must(file, table["click"], click.isin([0, 1]), "0 or 1")
    _must(file, table[chance], _chance(drawn), "a number in (0, 1]")
    _must(file, table["position"], place.isin([1, 2, 3]), "1, 2 or 3")
    _must(file, table["timestamp"], time.notna() & zoned, "a time with its zone, such as 2019-11-24 00:03:13+00:00")
    whole = {name: column.astype(np.int64) for name, column in (("arm", item), ("reward", click))}
    return pd.DataFrame({**whole, "propensity": drawn, "position": place.astype(np.int64), "timestamp": time})


@checked
def read_log(
    path: FilePath,
    columns: Annotated[Mapping[str, str], checks.Instance(Mapping, 'names by names, such as {"arm": "item_id"}')]
    | None = None,
) -> "pd.DataFrame":
    r"""Read your own log from JSON lines, for `fairlib.replay` and `fairlib.evaluation`.

    Parameters
    ----------
    path : path
        A file with a JSON object in each line, or one JSON array of objects: one for each arm played, in the order of
        time. Packed files are unpacked on the way, as by `read_open_bandit`.
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
        If `columns` is no mapping, a line is not JSON, a column that is needed or was named is not there, an arm is no
        whole number of at least 0, a reward no number, or a propensity outside (0, 1]; the message names the file, the
        column and the line.

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
    theirs = {"arm": "arm", "reward": "reward", "propensity": "propensity", **(columns or {})}
    with _opened(file) as content:
        text = content.read().decode("utf-8-sig").strip()
        rows = pd.DataFrame(json.loads(text if text.startswith("[") else "[" + text.replace("\n", ",\n") + "]"))
    _need(file, rows, list(theirs.values()))
    arm, reward, chance = (_numbers(rows[theirs[name]]) for name in ("arm", "reward", "propensity"))
    _must(file, rows[theirs["arm"]], _whole(arm), "a whole number of at least 0", first=1)
    _must(file, rows[theirs["reward"]], reward.notna(), "a number", first=1)
    _must(file, rows[theirs["propensity"]], _chance(chance), "a number in (0, 1]", first=1)
    own = {name: rows[column] for name, column in theirs.items()} | {"arm": arm.astype(np.int64), "propensity": chance}
    own["reward"] = pd.to_numeric(own["reward"])  # whole numbers stay whole
    return pd.DataFrame(own | {name: rows[name] for name in rows if name not in {*own, *theirs.values()}})


def _whole(numbers: Any) -> Any:
    """Say of each number whether it is whole and at least 0."""
    return (numbers >= 0) & (numbers % 1 == 0)


def _chance(numbers: Any) -> Any:
    """Say of each number whether it is in (0, 1]."""
    return (numbers > 0) & (numbers <= 1)
