"""Common parts of the loaders: files that ship with a package or must be there, unpacked and read line by line."""

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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
    file = checks.path("path", path)
    if not file.is_file():
        raise FileNotFoundError(f"{file} is not there." + (f" The data are {source}." if source else ""))
    return file


@contextmanager
def _opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked."""
    if file.suffix == ".zip":
        with ExitStack() as stack:
            try:
                archive = stack.enter_context(zipfile.ZipFile(file))
                tables = [each for each in archive.infolist() if each.filename.lower().endswith(".csv")]
                if len(tables) != 1:
                    raise ValueError(f"{file}: there must be one .csv file in it, not {len(tables)}; unpack it first")
                content = stack.enter_context(archive.open(tables[0]))
            except (RuntimeError, NotImplementedError) as error:  # it has a password, or is packed in some other way
                raise ValueError(f"{file}: Python can't unpack it; unpack it first ({error})") from error
            yield content
    else:
        opener: Any = {".gz": gzip.open, ".xz": lzma.open}.get(file.suffix, open)
        with opener(file, "rb") as content:
            yield content


_DAMAGE = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile, zipfile.BadZipFile)
_LONGEST = 1_000_000  # letters in a line; a packed file of a few bytes may hold one that fills the memory
_RATIO = 100  # how many times as long as the packed file its contents may be; for real data it is 3 to 30
_LITTLE = 10_000_000  # letters that any packed file may hold


def _lines(file: Path, whole: bool = True, kept: bool = True) -> Iterator[tuple[int, str]]:
    """Read a text line by line, with the lines' numbers; damage is an error that says how far the reading got.

    A last line without its end counts as cut, unless rows show by themselves that they are `whole`. Where rows are
    `kept`, a small packed file must not hold so many that they fill the memory.
    """
    number, letters, most = 0, 0, math.inf
    if kept and file.suffix in (".gz", ".xz", ".zip"):
        most = max(_LITTLE, _RATIO * file.stat().st_size)
    try:
        with _opened(file) as content, io.TextIOWrapper(content, encoding="utf-8", errors="surrogateescape") as text:
            while line := text.readline(_LONGEST + 1):
                number += 1
                letters += len(line)
                if len(line) > _LONGEST:
                    raise ValueError(f"{file}, line {number}: a line must have at most {_LONGEST:,} letters")
                if letters > most:
                    raise ValueError(
                        f"{file}, line {number}: what is packed must be at most {_RATIO} times as long as the file, or "
                        f"{_LITTLE:,} letters; if it is to be trusted, unpack it first"
                    )
                if not line.isascii() and (bad := _NO_TEXT.search(line)):
                    raise ValueError(
                        f"{file}, line {number}: this is no text in UTF-8, as it has a byte {ord(bad[0]) - 0xDC00:#x}"
                    )
                if number == 1 and line.startswith("\ufeff"):
                    raise ValueError(
                        f"{file}, line 1: the file begins with a byte order mark, as files that Excel saved do; take "
                        "the original, as Excel changes more than that"
                    )
                if whole and not line.endswith("\n"):
                    raise ValueError(f"{file}, line {number}: the file ends in the middle of a line")
                yield number, line
    except _DAMAGE as error:
        raise ValueError(f"{file}, after line {number}: the file is cut short or damaged ({error})") from error
    if number == 0:
        raise ValueError(f"{file}: the file is empty")


_NO_TEXT = re.compile("[\udc80-\udcff]")  # the sign for a byte that can't be decoded

# The characters of numbers. Python's `float` takes 1_000 and the digits of all scripts as well.
_PLAIN = re.compile(r"[0-9eE.+\-,\s]*", re.ASCII)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
