"""The version of the package, and a stamp of its sources."""

import functools
import hashlib
import pathlib
import platform
from importlib import metadata

__version__ = "2.0.0.dev0"

PACKAGE = pathlib.Path(__file__).parent


@functools.cache
def stamp(*packages: str) -> str:
    """Hash the sources of the package, or of some packages in it, with the versions of Python, NumPy and Numba."""
    versions = platform.python_version(), metadata.version("numpy"), metadata.version("numba")
    digest = hashlib.sha256(repr(versions).encode())
    for folder in packages or (".",):
        for source in sorted((PACKAGE / folder).rglob("*.py")):
            if "__pycache__" in source.parts:  # where the sources of what was compiled are kept
                continue
            digest.update(f"{source.relative_to(PACKAGE).as_posix()} {source.stat().st_size} ".encode())
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
