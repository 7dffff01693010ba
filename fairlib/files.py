"""Files that hold numbers and a heading: written whole or not at all, and read without running anything in them."""

import contextlib
import json
import math
import os
import pathlib
import secrets
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib._version import __version__

_FORMAT = 1  # of all files; a change after which older releases can't read them needs the next number
_LONGEST = 4_000_000  # bytes of a heading, a hundred times as many as one of ours has
_NPY_HEADER = 1000  # letters in which an array says its shape and type; NumPy reads them as Python

GivenPath = str | os.PathLike[str]
"""The path of a file, which the functions below check."""


@contextlib.contextmanager
def atomic_write(where: pathlib.Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its place when all is written; a crash leaves the old file or the new one.

    Parameters
    ----------
    where : Path
        Its place; an older file there is replaced.

    Yields
    ------
    binary file
        The file to write to.

    Raises
    ------
    OSError
        If it can't be written.

    Examples
    --------
    >>> import tempfile
    >>> where = pathlib.Path(tempfile.mkdtemp(), "greeting")
    >>> with atomic_write(where) as file:
    ...     _ = file.write(b"good morning")
    >>> where.read_text()
    'good morning'
    """
    part = where.with_name(f".{where.name}-{secrets.token_hex(8)}")  # no other user could read one of tempfile's
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


def save_npz(path: str | os.PathLike[str], kind: str, heading: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a file; a crash leaves the old file or the new one.

    Parameters
    ----------
    path : path-like
        Where; an older file of this name is replaced.
    kind : str
        The kind of the contents, which `load_npz` asks for.
    heading : dict
        A dict that JSON can hold.
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
    >>> save_npz(path, "test", {"what": "three"}, {"x": np.arange(3)})
    >>> load_npz(path, "test", lambda heading: ["x"])
    ({'what': 'three'}, {'x': array([0, 1, 2])})
    """
    text = json.dumps({"fairlib": _FORMAT, "kind": kind, **heading})
    with atomic_write(checks.path("path", path)) as file:
        np.savez(file, allow_pickle=False, heading=np.array(text), **arrays)


def load_npz(
    path: str | os.PathLike[str], kind: str, wanted: Callable[[dict[str, Any]], Collection[str]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read a file that `save_npz` wrote; whatever it holds, it takes no more memory than the file takes on the disk.

    Parameters
    ----------
    path : path-like
        The path of the file.
    kind : str
        The kind that it must be.
    wanted : callable
        Returns the names of the arrays that the file must hold, no more and no fewer, given its heading.

    Returns
    -------
    tuple of dict and dict
        The heading, and the arrays by name.

    Raises
    ------
    FileNotFoundError
        If there is none.
    TypeError
        If `path` is no path.
    ValueError
        If it is no such file, of another format or kind, cut short, packed, or holds other arrays; the message names
        the path. What `wanted` raises is passed on.

    Examples
    --------
    >>> load_npz(__file__, "result", lambda heading: [])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: ...files.py must be a result that fairlib has saved, whole; it can't be read: ...
    """
    where = checks.path("path", path)
    must = f"{where} must be a {kind} that fairlib has saved, whole"
    with contextlib.ExitStack() as stack:
        with _as_one_error(must):
            opened = stack.enter_context(where.open("rb"))
            archive = stack.enter_context(zipfile.ZipFile(opened))
            members = _members(archive, os.fstat(opened.fileno()).st_size)
            heading = _heading(archive, members.pop("heading"))
            made, found = heading.pop("fairlib"), heading.pop("kind")
            if made != _FORMAT:
                raise ValueError(f"it is of format {str(made)[:60]}, and fairlib {__version__} reads format {_FORMAT}")
            if found != kind:
                raise ValueError(f"it is a {str(found)[:60]}")
        names = set(wanted(heading))  # outside, as it says itself what is wrong
        with _as_one_error(must):
            if lacking := sorted(names - members.keys()):
                raise ValueError(f"it lacks {', '.join(lacking)}")
            if strange := sorted(members.keys() - names):
                raise ValueError(f"it has {', '.join(strange)[:100]} too many")
            return heading, {name: _array(archive, members[name]) for name in names}


@contextlib.contextmanager
def _as_one_error(must: str) -> Iterator[None]:
    """Raise one kind of error: zipfile, NumPy and JSON may raise anything about an altered file."""
    try:
        yield
    except FileNotFoundError:
        raise
    except Exception as error:
        said = f"it lacks {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise ValueError(f"{must}; it can't be read: {said}") from error


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the arrays of an archive by name, if they are as `save_npz` wrote them: once each, and not packed."""
    found: dict[str, zipfile.ZipInfo] = {}
    for each in archive.infolist():
        name = each.filename.removesuffix(".npy")
        if name == each.filename or name in found:
            raise ValueError(f"there is a member {each.filename[:60]!r}, which is no array, or there twice")
        if each.compress_type != zipfile.ZIP_STORED or each.compress_size != each.file_size or each.flag_bits & 1:
            raise ValueError(f"{name[:60]} is packed or encrypted")
        found[name] = each
    if sum(each.file_size for each in found.values()) > size:
        raise ValueError(f"its arrays would take more room than its {size} bytes")
    return found


def _heading(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> dict[str, Any]:
    if member.file_size > _LONGEST:
        raise ValueError(f"its heading must have at most {_LONGEST:,} bytes, not {member.file_size:,}")
    heading = json.loads(str(_array(archive, member)[()]))
    if not isinstance(heading, dict):
        raise ValueError("its heading must be a dict")
    return heading


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """Read an array, once its size is known to be that of its shape."""
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{member.filename} must be of version 1.0 of NumPy's format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file, max_header_size=_NPY_HEADER)
        room = member.file_size - file.tell()
    if dtype.hasobject or min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != room:
        raise ValueError(f"{member.filename} can't be of shape {shape} and type {dtype}, as it has {room} bytes")
    with archive.open(member) as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False, max_header_size=_NPY_HEADER)
    return array
