"""Arrays as NumPy saves them, alone (.npy) or several by name (.npz). Neither is unpickled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile


def read_npy(path: Path) -> np.ndarray:
    """The array of an .npy file, mapped: no more memory is taken than the file has, whatever its header says."""
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, dtype = header(file)
        # NumPy divides by the size of an item, and so ends the process, to find a length that is not given
        if not dtype.itemsize or min(shape, default=0) < 0:
            raise ValueError
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except (ValueError, RecursionError, MemoryError):  # the last two for a header that is nested too deep
        raise ValueError("expected numbers as numpy.save writes them, got objects, or no whole .npy file") from None


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz archive, by name."""
    # numpy.load takes what is no archive for a pickle, and advises to load it unsafely; it leaves a broken file open
    with path.open("rb") as file, NpzFile(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
