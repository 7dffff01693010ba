"""Compile functions once, keep them on disk, and never serve a stale one.

Numba's own cache notices an edit of the file a function stands in, but not an edit of a helper in another file.
With one module per chapter that is certain to happen, so the folder of the cache is named after a hash of all of
the package's sources: any edit opens a new folder.
"""

import hashlib
import os
import pathlib
import tempfile
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

import numba
from numba import float64, int64, types

RULE = types.void(
    float64[::1],  # params
    float64[::1],  # state
    int64,  # t
    int64[::1],  # selected
    int64[::1],  # observed
    float64[::1],  # total
    types.npy_rng,  # rng
    float64[::1],  # p
)
"""What a policy's rule takes: ``rule(params, state, t, selected, observed, total, rng, p)``."""

DRAW = types.float64(float64[:, ::1], int64, types.npy_rng)
"""What draws a reward: ``draw(params, arm, rng)``."""

DELAY = types.int64(float64[:, ::1], int64, float64, types.npy_rng)
"""What draws a delay in rounds, negative for never: ``delay(params, arm, reward, rng)``."""

TALLY = types.void(float64[::1], int64, float64[::1], int64[::1], float64[::1])
"""What sums a quantity of its own round by round: ``tally(truth, t, p, selected, sums)``."""

# NumPy's way with a division by zero (inf or nan, no exception) is what the same rule does when it is interpreted.
_OPTIONS = {"error_model": "numpy", "nogil": True}

# Numba's own annotations allow neither settings by name nor its configuration.
_njit: Any = numba.njit
_config: Any = numba.config

_PACKAGE = pathlib.Path(__file__).parent


def fingerprint(folder: pathlib.Path) -> str:
    """Hash all Python sources of a folder, with the version of the compiler.

    Parameters
    ----------
    folder : pathlib.Path
        The folder, searched to any depth.

    Returns
    -------
    str
        Sixteen hexadecimal digits.

    Examples
    --------
    >>> len(fingerprint(pathlib.Path(__file__).parent))
    16
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(folder.rglob("*.py")):
        digest.update(str(source.relative_to(folder)).encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


@cache
def cache_folder() -> pathlib.Path:
    """Return the folder of compiled code that belongs to these very sources.

    Returns
    -------
    pathlib.Path
        ``__pycache__/numba-<hash>`` beside the sources, or a folder of the user's where that can't be written.

    Examples
    --------
    >>> cache_folder().name == "numba-" + fingerprint(pathlib.Path(__file__).parent)
    True
    """
    name = "numba-" + fingerprint(_PACKAGE)
    for parent in (_PACKAGE / "__pycache__", pathlib.Path.home() / ".cache" / "fairlib"):
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(parent / name, os.W_OK):
            return parent / name
    return pathlib.Path(tempfile.mkdtemp(prefix="fairlib-"))


def _jit(function: Callable[..., Any], signature: Any = None) -> Any:
    """Wrap a function of the package for compilation, with its code kept in our folder and nobody else's moved."""
    before = _config.CACHE_DIR
    _config.CACHE_DIR = str(cache_folder())
    try:
        return _njit(signature, cache=True, **_OPTIONS)(function)
    finally:
        _config.CACHE_DIR = before


def helper(function: Callable[..., Any]) -> Any:
    """Mark a small function that rules call: compiled with its caller, and callable from plain Python too.

    Parameters
    ----------
    function : callable
        A function of the package that Numba can compile.

    Returns
    -------
    callable
        The same function, compiled when it is first called.

    Examples
    --------
    >>> from fairlib.policy import play_largest
    >>> import numpy as np
    >>> p = np.array([0.2, 0.7, 0.7])
    >>> play_largest(p)
    >>> p
    array([0., 1., 0.])
    """
    return _jit(function)


@lru_cache(maxsize=512)
def compiled(function: Callable[..., Any], signature: Any) -> Any:
    """Compile a function for one signature; the code of the package's own functions stays on disk.

    Parameters
    ----------
    function : callable
        Plain Python that Numba understands.
    signature : numba signature
        Such as `RULE`.

    Returns
    -------
    callable
        The compiled function, which the engine takes as an argument without being compiled again.

    Raises
    ------
    numba.core.errors.NumbaError
        If Numba can't compile it.

    Examples
    --------
    >>> import numpy as np
    >>> from fairlib.arms import bernoulli_draw
    >>> draw = compiled(bernoulli_draw, DRAW)
    >>> draw(np.array([[0.0], [1.0]]), 1, np.random.default_rng(0))
    1.0
    """
    ours = pathlib.Path(function.__code__.co_filename).is_relative_to(_PACKAGE)
    if ours and function.__closure__ is None:
        return _jit(function, signature)
    # A reader's own function may index past an array: then an IndexError, as in plain Python, and not a crash.
    return _njit(signature, boundscheck=not ours, **_OPTIONS)(function)
