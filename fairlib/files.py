"""Files that hold numbers and a heading: written whole or not at all, and read without running anything in them."""

import contextlib
import json
import os
import pathlib
import secrets
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from fairlib import checks
from fairlib._version import __version__

_FORMAT = 1  # a change after which older releases can't read a file needs the next number

GivenPath = str | os.PathLike[str]
"""The path of a file, which the functions below check."""


@contextlib.contextmanager
def atomic_write(where: pathlib.Path) -> Iterator[IO[bytes]]:
    """Open a file that takes its place when all is written; a crash leaves the old file or the new one."""
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


def save_npz(path: GivenPath, heading: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, and a heading that JSON can hold, whole or not at all."""
    text = json.dumps({"fairlib": _FORMAT, **heading})
    with atomic_write(checks.path("path", path)) as file:
        np.savez(file, allow_pickle=False, heading=np.array(text), **arrays)


def load_npz(path: GivenPath) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the heading and the arrays of a file that `save_npz` wrote."""
    where = checks.path("path", path)
    try:
        with where.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        heading = json.loads(str(arrays.pop("heading")))
        if (made := heading.pop("fairlib")) != _FORMAT:
            raise ValueError(f"it is in format {made}, which fairlib {__version__} can't read")
    except FileNotFoundError:
        raise
    except Exception as error:  # zipfile, NumPy and JSON raise errors of many kinds
        raise ValueError(
            f"{where} must be a file that fairlib has saved, whole, in format {_FORMAT}: {error}"
        ) from error
    return heading, arrays
