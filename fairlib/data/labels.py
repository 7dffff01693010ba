"""Examples with labels, yeast and mediamill, and the contexts that are made of them."""

import hashlib
import math
import re
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fairlib import checks
from fairlib.checks import PositiveInt, PositiveScale, Seed, checked
from fairlib.data.files import FilePath, _numbers, _opened, _shipped, _there, _values

__all__ = ["MultiLabel", "yeast", "MEDIAMILL", "mediamill", "read_arff", "fourier_features", "arm_contexts"]

# Examples with labels


@dataclass(frozen=True, eq=False)
class MultiLabel:
    """Examples, each with some of K labels: a bandit whose arms are the labels and whose rewards are 0 or 1.

    Parameters
    ----------
    features : ndarray, shape (n, d)
        The features of each example.
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
    Used in section 5 of Wang et al. (2021). The hash is of the values read, not of the file: a later `river` may pack
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
        The file ``mediamill.arff``, or the same packed by gzip, xz, bzip2 or zip.

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
    with _opened(file) as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()  # type: ignore[arg-type]
    if found != MEDIAMILL:
        raise ValueError(
            f"{file}: this is not the mediamill.arff of the collection (SHA-256 {found}, not {MEDIAMILL}); "
            f"read_arff(path, labels=101) reads parts of it and other versions"
        )
    return read_arff(file, 101)


@checked
def read_arff(path: FilePath, labels: Annotated[int, checks.Integer(1)]) -> MultiLabel:
    r"""Read a multi-label file in the ARFF format of the Mulan collection, strictly.

    Parameters
    ----------
    path : path
        The file; packed files are unpacked on the way.
    labels : int
        The number of labels. They must be the last attributes, each declared as ``{0,1}``, and all attributes before
        them numbers; a row is a line of numbers with commas (sparse rows, in braces, are not read).

    Returns
    -------
    MultiLabel
        The examples, in the file's order.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, a row has a value too many or too few or one that is no finite number, or there are more
        labels or fewer; the message names the file and the line or the row.

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
    import pandas as pd  # only here, as it is slow to import

    file, text, kinds, above = _there(path), "", [], 0
    with _opened(file) as content:
        while text.lower() != "@data" and (line := content.readline()):
            text, above = line.decode().strip(), above + 1
            if attribute := _ATTRIBUTE.fullmatch(text):
                kinds.append(attribute[1].replace(" ", "") in ("{0,1}", "{1,0}"))
        if kinds != [False] * (len(kinds) - labels) + [True] * labels:
            raise ValueError(f"the last {labels} of the {len(kinds)} attributes, and no others, must be labels {{0,1}}")
    with _opened(file) as content:  # SciPy's loadarff would drop a value too many without a word
        rows = pd.read_csv(content, header=None, skiprows=above, comment="%", skipinitialspace=True)
        if len(rows.columns) != len(kinds):
            raise ValueError(f"a row must have {len(kinds)} values, one an attribute, not {len(rows.columns)}")
    table = rows.apply(_numbers).to_numpy()
    for row, at in np.argwhere(np.where(kinds, ~np.isin(table, (0, 1)), np.isnan(table)))[:1]:
        said, found = "0 or 1" if kinds[at] else "a number", rows[at].tolist()[row]
        raise ValueError(f"{file}: row {row + 1} of the data: attribute {at + 1} must be {said}, not {found!r}")
    return MultiLabel(table[:, :-labels].copy(), table[:, -labels:].copy())


_ATTRIBUTE = re.compile(r"""@attribute\s+(?:'[^']*'|"[^"]*"|[^\s'"]+)\s+(\S.*)""", re.IGNORECASE)


# Contexts for arms


@checked
def fourier_features(
    x: Annotated[ArrayLike, checks.Table(2)],
    dimension: PositiveInt,
    seed: Seed,
    scale: PositiveScale = 1.0,
) -> NDArray[np.float64]:
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

    Examples
    --------
    >>> z = fourier_features([[0.0, 0.0], [1.0, 0.0]], 100_000, seed=1)
    >>> round(float(z[0] @ z[1]), 2), round(math.exp(-1 / 2), 2)
    (0.61, 0.61)
    """
    vectors = np.asarray(x)
    waves, shifts = _waves(vectors.shape[1], dimension, seed, scale)
    return math.sqrt(2 / dimension) * np.cos(_finite(vectors @ waves, scale) + shifts)


@checked
def arm_contexts(
    features: Annotated[ArrayLike, checks.Table(2)],
    arms: PositiveInt,
    dimension: PositiveInt,
    seed: Seed,
    scale: PositiveScale = 1.0,
) -> NDArray[np.float64]:
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

    Examples
    --------
    >>> arm_contexts([[0.6, 0.8]], arms=3, dimension=50, seed=1).shape
    (1, 3, 50)
    """
    x, k = np.asarray(features), arms
    waves, shifts = _waves(k * x.shape[1], dimension, seed, scale)
    blocks = waves.reshape(k, x.shape[1], dimension).transpose(1, 0, 2).reshape(x.shape[1], -1)
    contexts = _finite(x @ blocks, scale).reshape(len(x), k, dimension)
    contexts += shifts
    np.cos(contexts, out=contexts)  # in place: with a hundred arms the array is most of the memory
    contexts /= math.sqrt(dimension)
    return contexts


def _waves(size: int, dimension: int, seed: int, scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw frequencies, a column for each feature, and shifts."""
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):  # refused by `_finite`
        return rng.standard_normal((size, dimension)) / scale, rng.uniform(0, 2 * math.pi, dimension)


def _finite(angles: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
    if not np.isfinite(angles).all():
        raise ValueError(
            f"scale must be larger, as vectors divided by it are too large for a float, not {checks.shown(scale)}"
        )
    return angles
