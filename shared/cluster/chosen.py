"""Which columns of an engine's data a metric reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ..metric.metric import Metric
from ..metric.states import COUNTS


def chosen_columns(columns: Mapping[str, str] | None, there: Collection[Any], metric: Metric) -> dict[str, str]:
    """The metric's columns and their names in the data: as the caller says, or else of equal names.

    Parameters: columns, a mapping from the metric's columns to the data's, None or empty for equal names; there, the
    names in the data. Raises TypeError for anything but a mapping.

    >>> from openworld_metrics import OODBench
    >>> chosen_columns(None, ["predictions", "references", "split"], OODBench())
    {'predictions': 'predictions', 'references': 'references'}
    """
    if columns is not None and not isinstance(columns, Mapping):
        kind = type(columns).__name__
        raise TypeError(f"columns: expected a mapping from the metric's columns to the data's, got {kind}")
    if columns:
        return dict(columns)
    # counts are read for every metric: one that takes none then refuses them, and does not count each row once
    return {name: name for name in dict.fromkeys((*metric.columns, COUNTS)) if name in metric.required or name in there}
