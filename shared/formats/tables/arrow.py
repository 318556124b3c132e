"""Convert Arrow columns to arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def from_arrow(column: Any, *, gaps: bool = False) -> Any:
    """An Arrow column as an array: lists of equal lengths become (N, C) or (N, H, W), without Python objects.

    Raises ValueError for missing values; with `gaps`, missing numbers become NaN.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count and not (gaps and not pa.types.is_nested(column.type)):
        raise ValueError(f"expected no missing values, got {column.null_count}")
    if isinstance(column, pa.FixedShapeTensorArray):
        return column.to_numpy_ndarray()
    if isinstance(column, pa.ExtensionArray):
        return from_arrow(column.storage, gaps=gaps)
    if not pa.types.is_nested(column.type):
        return _flat(column)
    if any(is_list(column.type) for is_list in _LISTS):
        lengths = np.unique(_flat(pc.list_value_length(column)))
        inner = from_arrow(column.flatten(), gaps=gaps)
        if len(lengths) == 1 and isinstance(inner, np.ndarray):
            return inner.reshape(len(column), int(lengths[0]), *inner.shape[1:])
    return column.to_pylist()


def _flat(column: Any) -> np.ndarray:
    """A column without lists. Numbers and bools without gaps come from the buffer, since `to_numpy` imports pandas."""
    if not column.null_count and pa.types.is_boolean(column.type):
        return np.from_dlpack(pc.cast(column, pa.uint8())).astype(np.bool_)
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return np.from_dlpack(column)
    return column.to_numpy(zero_copy_only=False)
