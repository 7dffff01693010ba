"""Logs of arms that were drawn with known probabilities: one class, from a data frame, rows or a file."""

import decimal
import json
import math
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

import numpy as np

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import FilePath, _opened, _there

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Log"]

_NEEDED = ("arm", "reward", "propensity")
_TABLE = "a data frame, the rows of a log, or the path of a file"


class Log:
    r"""A log: which arm each visit was shown, the probability of that, and what it paid.

    `fairlib.study.evaluate` and `fairlib.study.replay` take it.

    Parameters
    ----------
    table : data frame, rows, or path
        A row for each arm that was shown, in the order of time: a data frame of pandas or polars, a list of dicts or
        named tuples, or the path of a file. A file is CSV, Parquet (for which pandas needs pyarrow) or JSON lines, as
        its ending says, and may be packed by gzip, bzip2, xz or zip.
    columns : mapping of str to str, optional
        Your names of the columns, where they differ: ``{"arm": "item_id", "reward": "click"}``. The log needs `arm`,
        `reward` and `propensity`, the probability with which this arm was drawn in this row. `features`, of shape
        (K, d), are the contexts of all arms. `available` says which arms were there, if they come and go: a list or a
        set of arms, or a list as JSON; where it is empty, all were. Other columns stay.
    arms : int or list, optional
        The arms: their number K, if they are called 0, 1, ..., or their names, in the order of a target's
        probabilities. By default the names that are met, sorted, if they are texts.
    missing : str
        What to do with a row that lacks its arm, reward or propensity: ``"raise"`` an error, or ``"drop"`` it. What is
        estimated from the others is biased unless rows are missing by chance.

    Attributes
    ----------
    table : pandas.DataFrame
        The rows by the log's own names; `arm` is the place of the arm in `arms`.
    arms : tuple or None
        The arms, or None if they are numbers and nobody said how many.
    available : ndarray of bool, shape (n, K), or None
        Which arms were there in each row; None if there is no such column.
    dropped : int
        How many rows were dropped.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If an argument is of the wrong kind; if a column is not there, an arm is not one of `arms`, a reward is no
        number, a propensity is outside (0, 1], or something is missing; the message names the column and the row.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["tea", "coffee", "tea"], "click": [1, 0, None], "p": [0.5, 0.25, 0.5]})
    >>> log = Log(frame, {"arm": "item", "reward": "click", "propensity": "p"}, missing="drop")
    >>> log
    Log: 2 rows of 2 arms, 1 row dropped
    >>> log.arms
    ('coffee', 'tea')

    A campaign of the Open Bandit Dataset (Y. Saito, S. Aihara, M. Matsutani and Y. Narita, *Open bandit dataset and
    pipeline*, 2021), which ZOZO, Inc. hands out at research.zozo.com; rows of one visit share their timestamp, so
    evaluate it with ``by="timestamp"``:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "men.csv"
    >>> _ = path.write_text(
    ...     ",timestamp,item_id,position,click,propensity_score\n"
    ...     "0,2019-11-24 00:03:13.442536+00:00,14,3,0,0.03125\n"
    ... )
    >>> Log(path, {"arm": "item_id", "reward": "click", "propensity": "propensity_score"}, arms=34)
    Log: 1 row of 34 arms
    """

    @checked
    def __init__(
        self,
        table: Any,
        columns: Annotated[Mapping[str, str], checks.Instance(Mapping, 'names by names, such as {"arm": "item_id"}')]
        | None = None,
        *,
        arms: int | Iterable[Any] | None = None,
        missing: Annotated[str, checks.Choice(("raise", "drop"))] = "raise",
    ) -> None:
        frame = _named(_frame(table), dict(columns or {}))
        lacking = np.column_stack([frame[name].isna() for name in _NEEDED])
        there = ~lacking.any(axis=1)
        if missing == "raise" and not there.all():
            name = _NEEDED[int(np.argmax(lacking.any(axis=0)))]
            row, number = int(np.argmax(frame[name].isna())), int((~there).sum())
            raise ValueError(
                f"{name} of log must be there in each row, and is not in row {row} ({number} such rows in all): give "
                'missing="drop" to leave them out'
            )
        if not there.any():
            raise ValueError("log must have a row that lacks nothing, and has none")
        self.dropped = int((~there).sum())
        self.table: pd.DataFrame = (frame[there] if self.dropped else frame).reset_index(drop=True)
        who = [_who(cell, row) for row, cell in enumerate(self.table.get("available", ()))]
        self.arms = _listed(arms, self.table["arm"], {arm for each in who for arm in each or ()})
        self.table["arm"] = _places(self.table["arm"], self.arms)
        self.available: Any = _matrix(who, self.arms, self.table["arm"]) if any(who) else None
        for name, most in (("reward", math.inf), ("propensity", 1 + 1e-9)):
            numbers, above = _as_floats(self.table[name]), -math.inf if name == "reward" else 0.0
            self.table[name] = checks.vector(f"{name} of log", numbers, high=most, above=above, each="row")

    @classmethod
    def of(cls, given: Any) -> Self:
        """Return a log that is one already, or make it.

        Parameters
        ----------
        given : Log, data frame, rows, or path
            A log, or what one is made of.

        Returns
        -------
        Log
            The log.

        Examples
        --------
        >>> Log.of([{"arm": 0, "reward": 1.0, "propensity": 0.5}])
        Log: 1 row
        """
        return given if isinstance(given, cls) else cls(given)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        def many(number: int, name: str) -> str:
            return f"{number:,} {name}{'' if number == 1 else 's'}"

        arms = "" if self.arms is None else f" of {many(len(self.arms), 'arm')}"
        return f"Log: {many(len(self), 'row')}{arms}" + (
            f", {many(self.dropped, 'row')} dropped" if self.dropped else ""
        )


def _frame(table: Any) -> "pd.DataFrame":
    """Return what was given as a data frame."""
    import pandas as pd  # only here, as it is slow to import

    if isinstance(table, str | os.PathLike):
        return _from_file(table)
    if isinstance(table, pd.DataFrame):
        return table
    if hasattr(table, "columns"):  # another library's, such as polars
        return pd.DataFrame({str(name): np.asarray(table[name]) for name in table.columns})
    if isinstance(table, Mapping):
        return pd.DataFrame(dict(table))
    return pd.DataFrame(list(checks.rows("table", table, _TABLE)))


def _from_file(path: FilePath) -> "pd.DataFrame":
    """Read a file as its ending says."""
    import pandas as pd

    file = _there(path)
    endings = {each.lower() for each in file.suffixes}
    if ".parquet" in endings:
        return pd.read_parquet(file)
    with _opened(file) as content:
        if not endings & {".json", ".jsonl", ".ndjson"}:
            return pd.read_csv(content)
        text = content.read().decode("utf-8-sig").strip()
        if not text.startswith("["):
            text = "[" + re.sub(r"(\s*\n\s*)", r",\1", text) + "]"  # so that an error still counts the lines
        return pd.DataFrame(json.loads(text))


def _named(frame: "pd.DataFrame", columns: dict[str, str]) -> "pd.DataFrame":
    """Give the columns the log's own names; one that is not there is refused."""
    theirs = {name: columns.get(name, name) for name in (*_NEEDED, *columns)}
    for name, column in theirs.items():
        if column not in frame:
            found = ", ".join(map(str, frame.columns)) or "none"
            raise ValueError(
                f"log must have a column {column!r} for its {name}, and has {found}: give your names as "
                'columns={"arm": ..., "reward": ..., "propensity": ...}'
            )
    others = [name for name in frame.columns if name not in {*theirs, *theirs.values()}]
    return frame[[*theirs.values(), *others]].set_axis([*theirs, *map(str, others)], axis=1)


def _as_floats(column: Any) -> Any:
    """Return the cells of a column; what a database gives as Decimal, as floats."""
    cells = column.to_numpy()
    decimals = cells.dtype == object and set(map(type, cells)) == {decimal.Decimal}
    return cells.astype(np.float64) if decimals else cells


def _who(cell: Any, row: int) -> frozenset[Any] | None:
    """Return the arms that a row says are there, or None if it does not say."""
    try:
        cell = json.loads(cell) if isinstance(cell, str) else cell
        return None if cell is None or cell != cell else frozenset(cell)
    except (TypeError, ValueError):
        raise TypeError(f"available of log must be a list of arms, not {checks.shown(cell)} (row {row})") from None


def _matrix(there: list[Any], arms: tuple[Any, ...] | None, played: Any) -> Any:
    """Return which arms are there, row by row: those that are named, or all."""
    if arms is None:
        raise TypeError("arms must be given, as their names in log are not all texts, nor all whole numbers")
    known = {name: place for place, name in enumerate(arms)}
    made = np.array([each is None for each in there])[:, None] | np.zeros((1, len(arms)), bool)
    for row, (each, arm) in enumerate(zip(there, played, strict=True)):
        if each is not None and not (each <= known.keys() and arms[arm] in each):
            raise ValueError(
                f"available of log must be arms of {checks.shown(list(arms))} with the one that was played, "
                f"{arms[arm]!r}, not {checks.shown(set(each))} (row {row})"
            )
        made[row, [known[name] for name in each or ()]] = True
    return made


def _listed(arms: Any, met: Any, there: set[Any]) -> tuple[Any, ...] | None:
    """Return the names of the arms, or None if they are numbers and nobody said how many."""
    if arms is None:
        names = [*met, *there]
        if all(isinstance(each, str) for each in names):
            return tuple(sorted(set(names)))
        whole = there and all(isinstance(each, int | np.integer) and each >= 0 for each in names)
        return tuple(range(max(names) + 1)) if whole else None
    return checks.arm_names("arms", arms)


def _places(met: Any, arms: tuple[Any, ...] | None) -> Any:
    """Return the place of each row's arm."""
    allowed = "a whole number of at least 0" if arms is None else f"one of {checks.shown(list(arms))}"
    known = None if arms is None else {name: place for place, name in enumerate(arms)}

    def place(arm: Any) -> int:
        if isinstance(arm, bool):
            return -1
        if known is not None:
            return known.get(arm, -1)
        return int(arm) if isinstance(arm, int | float) and 0 <= arm < 2**53 and arm % 1 == 0 else -1

    try:
        codes, found = met.factorize()
    except TypeError:  # a list, say, is no name
        raise TypeError(f"arm of log must be {allowed}, not {checks.shown(met.iloc[0])} (row 0)") from None
    places = np.array([place(arm) for arm in found.tolist()], np.int64)[codes]
    if (places < 0).any():
        row = int(np.argmin(places))
        raise ValueError(f"arm of log must be {allowed}, not {checks.shown(met.tolist()[row])} (row {row})")
    return places
