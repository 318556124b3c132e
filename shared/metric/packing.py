"""States as bytes, for engines and files: .npz archives without pickles."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile

from ..arrays.arrays import to_numpy


def pack(state: Mapping[str, Any]) -> bytes:
    """A state as bytes: an .npz archive of its arrays, with a checksum of each, and without pickles.

    Parameters: state, as `Metric.state()` returns it. Raises TypeError for anything but a dict of arrays.

    >>> from openworld_metrics import OODBench
    >>> metric, other = OODBench(), OODBench()
    >>> metric.add_batch(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    >>> other.merge(unpack(pack(metric.state())))
    >>> other.compute()["auroc"]
    0.75
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"state: expected the dict that state() returns, got {type(state).__name__}")
    arrays = {name: np.asarray(to_numpy(x) if hasattr(x, "device") else x) for name, x in state.items()}
    wrong = [name for name, array in arrays.items() if array.dtype.hasobject]
    if wrong:
        raise TypeError(f"state[{wrong[0]!r}]: expected numbers or names, got objects")
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # no array is named allow_pickle
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, np.ndarray]:
    """Read a state from the bytes of `pack`; `Metric.merge` checks its arrays.

    Raises TypeError for anything but bytes, ValueError for bytes that are damaged, truncated or not a state.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"data: expected the bytes that pack() returns, got {type(data).__name__}")
    try:
        with NpzFile(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception as error:  # of zipfile, of NumPy and of what they call
        raise ValueError(
            f"data: expected the bytes that pack() returns, got {len(data)} that cannot be read: {error}"
        ) from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ValueError(f"data: expected the bytes that pack() returns, got an archive of {', '.join(arrays)}")
    return arrays
