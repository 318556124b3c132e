"""Arrays as NumPy saves them, alone (.npy) or several by name (.npz). Neither is unpickled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.lib.npyio import NpzFile

_Read = TypeVar("_Read")
_TRIES = 100


def read_npy(path: Path) -> np.ndarray:
    """The array of an .npy file, mapped: no more memory is taken than the file has, whatever its header says."""
    return tried(lambda: _mapped(path))


def tried(read: Callable[[], _Read]) -> _Read:
    """Call a function that parses headers, again if it fails: CPython 3.11 may fail where threads parse at once.

    It says "SystemError: AST constructor recursion depth mismatch", since it counts the depth once for all threads.
    """
    for _ in range(_TRIES):
        try:
            return read()
        except SystemError:
            continue
    return read()


def _mapped(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as file:
            shape, dtype = npy_header(file)
        # NumPy divides by the size of an item, and so ends the process, to find a length that is not given
        if not dtype.itemsize or min(shape, default=0) < 0:
            raise ValueError
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except (ValueError, RecursionError, MemoryError):  # the last two for a header that is nested too deep
        raise ValueError("expected numbers as numpy.save writes them, got objects, or no whole .npy file") from None


def npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and the type that an .npy file states, before any memory is taken for it."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    return shape, dtype


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz archive, by name."""
    return tried(lambda: _members(path))


def _members(path: Path) -> dict[str, np.ndarray]:
    # numpy.load treats other files as pickles, and advises to load them unsafely; it leaves a broken file open
    with path.open("rb") as file, NpzFile(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
