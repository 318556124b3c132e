"""Read arrays that NumPy saved, one (.npy) or several by name (.npz). Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.lib.npyio import NpzFile

_Read = TypeVar("_Read")
_TRIES = 100


def read_npy(path: Path) -> np.ndarray:
    """The array of an .npy file, memory-mapped, so that it takes no more memory than the file's size."""
    return tried(lambda: _mapped(path))


def tried(read: Callable[[], _Read]) -> _Read:
    """Call a function that parses headers, again if it fails: CPython 3.11 may fail if threads parse concurrently.

    Its error is "SystemError: AST constructor recursion depth mismatch": the depth is counted once for all threads.
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
        # to infer a missing length, NumPy divides by the item size, and so crashes the process if that is 0
        if not dtype.itemsize or min(shape, default=0) < 0:
            raise ValueError
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except (ValueError, RecursionError, MemoryError):  # the last two for a deeply nested header
        raise ValueError("expected numbers as numpy.save writes them, got objects, or no whole .npy file") from None


def npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and dtype in the header of an .npy file, read before any memory is allocated for the array."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    return shape, dtype


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz archive, by name."""
    return tried(lambda: _members(path))


def _members(path: Path) -> dict[str, np.ndarray]:
    # numpy.load treats other files as pickles, and suggests unsafe loading; it leaves a damaged file open
    with path.open("rb") as file, NpzFile(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
