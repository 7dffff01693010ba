"""Ridge regression, updated in place: what linear policies learn with."""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import float64, types
from numpy.typing import NDArray

from fairlib.checks import PositiveScale, checked
from fairlib.rules.jit import helper


class Ridge(NamedTuple):
    r"""The ridge regression on all rounds so far, as the engine keeps it for a policy.

    With :math:`\Sigma = \lambda I + \sum_s x_s x_s^\top` over the contexts played, `mean` is
    :math:`\Sigma^{-1} \sum_s x_s r_s`, and `root` a square root of the inverse,
    :math:`\mathrm{root}\,\mathrm{root}^\top = \Sigma^{-1}`. So :math:`\lVert \mathrm{root}^\top x \rVert` is the width
    :math:`\lVert x \rVert_{\Sigma^{-1}}`, and ``mean + root @ z`` with standard normal `z` has covariance
    :math:`\Sigma^{-1}`.

    Parameters
    ----------
    mean : ndarray, shape (d,)
        The estimate.
    root : ndarray, shape (d, d)
        A square root of the inverse.

    Examples
    --------
    >>> Ridge(np.zeros(1), np.eye(1)).mean
    array([0.])
    """

    mean: NDArray[np.float64]
    root: NDArray[np.float64]


RIDGE = types.NamedTuple((float64[::1], float64[:, ::1]), Ridge)


@helper
def dot(x: Any, y: Any) -> float:
    """Return the inner product of two vectors, summed in a fixed order.

    It keeps four running sums, so that the processor need not wait for each; NumPy's own sum may differ in the last bit
    from machine to machine.

    Parameters
    ----------
    x, y : ndarray, shape (d,)
        The vectors.

    Returns
    -------
    float
        The inner product.

    Examples
    --------
    >>> float(dot(np.array([1.0, 2.0]), np.array([3.0, 4.0])))
    11.0
    """
    d = x.size
    whole = d - d % 4
    one, two, three, four = 0.0, 0.0, 0.0, 0.0
    for i in range(0, whole, 4):
        one += x[i] * y[i]
        two += x[i + 1] * y[i + 1]
        three += x[i + 2] * y[i + 2]
        four += x[i + 3] * y[i + 3]
    for i in range(whole, d):
        one += x[i] * y[i]
    return (one + two) + (three + four)


@helper
def width(root: Any, x: Any, v: Any) -> float:
    r"""Return the width :math:`\lVert x \rVert_{\Sigma^{-1}}` of a context.

    Parameters
    ----------
    root : ndarray, shape (d, d)
        A square root of the inverse, as in `Ridge`.
    x : ndarray, shape (d,)
        The context.
    v : ndarray, shape (d,)
        Receives ``root.T @ x``, of which the width is the length.

    Returns
    -------
    float
        The width.

    Examples
    --------
    >>> width(0.5 * np.eye(2), np.array([3.0, 4.0]), np.empty(2))
    2.5
    """
    for j in range(v.size):
        v[j] = root[0, j] * x[0]
    for i in range(1, v.size):
        xi = x[i]
        for j in range(v.size):
            v[j] += root[i, j] * xi
    return math.sqrt(dot(v, v))  # not v**0.5, which Python and the compiler may round differently


@helper
def absorb(mean: Any, root: Any, x: Any, reward: float) -> None:
    r"""Add one context and its reward to a ridge regression, in place.

    A rank-one step on the square root: with :math:`v = R^\top x` and :math:`s = 1 + v^\top v`,
    :math:`R \leftarrow R - R v v^\top / (s + \sqrt s)`. It costs :math:`O(d^2)`, and whatever rounding does to R,
    :math:`R R^\top` has no negative eigenvalue.

    Parameters
    ----------
    mean : ndarray, shape (d,)
        The estimate, updated.
    root : ndarray, shape (d, d)
        A square root of the inverse, as in `Ridge`; ``np.eye(d) / sqrt(lambda)`` before the first round. Updated.
    x : ndarray, shape (d,)
        The context played.
    reward : float
        Its reward.

    Examples
    --------
    >>> mean, root = np.zeros(1), np.eye(1)
    >>> absorb(mean, root, np.array([1.0]), 3.0)
    >>> mean, (root @ root.T).round(12)
    (array([1.5]), array([[0.5]]))
    """
    v = np.empty(x.size)
    w = width(root, x, v)
    scale = 1.0 + w * w  # not w**2, which Python and the compiler may round differently
    surprise = (reward - dot(mean, x)) / scale
    shrink = 1.0 / (scale + math.sqrt(scale))
    for i in range(x.size):
        gain = dot(root[i], v)
        mean[i] += gain * surprise
        for j in range(x.size):
            root[i, j] -= gain * shrink * v[j]


@checked
def posterior_settings(prior_sd: PositiveScale, reward_sd: PositiveScale) -> tuple[float, float]:
    """Return the regularizer of the normal posterior of a linear model, and the standard deviation that scales it."""
    return (reward_sd / prior_sd) ** 2, reward_sd
