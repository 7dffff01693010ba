"""Common parts of the loaders: files that ship with a package or must be there, unpacked, and tables in them."""

import bz2
import gzip
import hashlib
import importlib.util
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks

__all__ = ["FilePath"]

FilePath = str | os.PathLike[str]
"""The path of a file, as a string or a `pathlib.Path`."""


def _shipped(package: str, name: str) -> Path:
    """Find a file that ships with a package, without importing the package."""
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        if (path := Path(folder) / name).is_file():
            return path
    raise FileNotFoundError(f"{name} ships with {package}, but is not there; install it: pip install {package}")


def _values(path: Path, expected: str) -> NDArray[np.float64]:
    """Read a table of numbers, and compare the hash of the values with the expected one."""
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    found = hashlib.sha256(str(values.shape).encode() + values.astype("<f8").tobytes()).hexdigest()
    if found != expected:
        raise ValueError(f"{path}: these are not the values expected (SHA-256 {found}, not {expected})")
    return values


def _there(path: FilePath, source: str = "") -> Path:
    """Take the path of a file that must be there, or say where the reader can get it."""
    file = checks.path("path", path)
    if not file.is_file():
        raise FileNotFoundError(f"{file} is not there." + (f" The data are {source}." if source else ""))
    return file


@contextmanager
def _one_of(file: Path, mode: str) -> Iterator[IO[bytes]]:
    """Open the one table of an archive."""
    with zipfile.ZipFile(file) as archive:
        tables = [name for name in archive.namelist() if name.lower().endswith(".csv")] or archive.namelist()
        if len(tables) != 1:
            raise ValueError(f"there must be one .csv file in it, not {len(tables)}; unpack it first")
        with archive.open(tables[0]) as content:
            yield content


_UNPACK: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ": lzma.open, b"BZh": bz2.open, b"PK\3\4": _one_of}


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacked if its first bytes say that it is packed, and put its name before errors of the reading."""
    with file.open("rb") as raw:
        start = raw.read(6)
    opener = next((opener for sign, opener in _UNPACK.items() if start.startswith(sign)), open)
    try:
        with opener(file, "rb") as content:
            yield content
    except (ValueError, EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise ValueError(f"{file}: {str(error).strip()}") from error


def _table(file: Path, columns: Sequence[int] | Callable[[str], bool], **how: Any) -> Any:
    """Read columns of a table, by their numbers or as a function says; the index counts the lines."""
    import pandas as pd  # only here, as it is slow to import

    with _opened(file) as content:
        return pd.read_csv(content, usecols=columns, index_col=False, **how)


def _need(file: Path, table: Any, columns: Sequence[str], note: str = "") -> None:
    """Refuse a table that lacks a column."""
    if missing := [name for name in columns if name not in table]:
        raise ValueError(f"{file}: there is no column {', '.join(map(str, missing))}{note}")


def _numbers(cells: Any) -> Any:
    """Return the numbers of a column; nan where there is none."""
    import pandas as pd

    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    return numbers.where(np.isfinite(numbers))


def _must(file: Path, cells: Any, good: Any, allowed: str, first: int = 2) -> None:
    """Refuse a column in which a cell is not good: name the first and its line, where the top row is on the `first`."""
    if not good.all():
        at = int(np.argmin(good))
        found = cells.tolist()[at]
        raise ValueError(f"{file}: line {cells.index[at] + first}: {cells.name} must be {allowed}, not {found!r}")
