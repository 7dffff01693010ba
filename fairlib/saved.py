"""Files that hold numbers and a heading: written whole or not at all, and read without running anything in them."""

import contextlib
import json
import os
import pathlib
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks

_FORMAT = 1


@contextlib.contextmanager
def whole(where: pathlib.Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its place when all is written; a crash leaves the one that was there, or the new one.

    Parameters
    ----------
    where : Path
        Its place; an older file there is replaced.

    Yields
    ------
    binary file
        What is to be written.

    Raises
    ------
    OSError
        If it can't be written.

    Examples
    --------
    >>> import tempfile
    >>> where = pathlib.Path(tempfile.mkdtemp(), "greeting")
    >>> with whole(where) as file:
    ...     _ = file.write(b"good morning")
    >>> where.read_text()
    'good morning'
    """
    part = where.with_name(f".{where.name}-{secrets.token_hex(8)}")  # one of tempfile's could be read by nobody else
    with part.open("xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            file.close()  # Windows moves no file that is open
            part.replace(where)
        except BaseException:
            with contextlib.suppress(OSError):  # on a full disk closing fails, too
                file.close()
            with contextlib.suppress(OSError):
                part.unlink()
            raise


def write(path: str | os.PathLike[str], kind: str, heading: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a file; a crash leaves the one that was there, or the new one.

    Parameters
    ----------
    path : path-like
        Where; an older file of this name is replaced.
    kind : str
        What is written, which `read` asks for.
    heading : dict
        What JSON can hold.
    arrays : dict
        Arrays of numbers by name.

    Raises
    ------
    TypeError, ValueError
        If it is no path of a file.
    OSError
        If the file can't be written.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/numbers"
    >>> write(path, "test", {"what": "three"}, {"x": np.arange(3)})
    >>> read(path, "test")
    ({'what': 'three'}, {'x': array([0, 1, 2])})
    """
    text = json.dumps({"fairlib": _FORMAT, "kind": kind, **heading})
    with whole(checks.path("path", path)) as file:
        np.savez(file, allow_pickle=False, heading=np.array(text), **arrays)


def read(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file that `write` wrote.

    Parameters
    ----------
    path : path-like
        Where it is.
    kind : str
        What it must be.

    Returns
    -------
    tuple of dict and dict
        The heading, and the arrays by name.

    Raises
    ------
    FileNotFoundError
        If there is none.
    TypeError, ValueError
        If it is no such file, of another kind, or cut short.

    Examples
    --------
    >>> read(__file__, "result")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: ...saved.py must be a result that fairlib has saved, whole; it can't be read: ...
    """
    where = checks.path("path", path)
    wanted = f"{where} must be a {kind} that fairlib has saved, whole"
    try:
        with where.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        heading = json.loads(str(arrays.pop("heading")[()]))
        made, found = heading.pop("fairlib"), heading.pop("kind")
    except FileNotFoundError:
        raise
    except (zipfile.BadZipFile, OSError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
        raise ValueError(f"{wanted}; it can't be read: {error}") from error
    if made != _FORMAT or found != kind:
        raise ValueError(f"{wanted}; it is a {found} of format {made}")
    return heading, arrays
