"""`read`: the one way from files to the columns of a metric."""

from __future__ import annotations

from typing import Any

from ..loading import metric_class
from .reading import Input, Reading
from .rows.rows import read_rows


def read(metric: str, *inputs: Input, **choices: Any) -> Reading:
    """Read the columns of a metric from files.

    Parameters: metric, its name; inputs, files, folders, archives (.zip) or data frames: one input, or predictions and
    references for openset_detection and maps and data for anomaly_suite; choices, of `read_rows`, which are columns (by
    name, a name or names of arrays in the files), read_as, leave_out and flip. What is not chosen is guessed from names
    and values, and said in `Reading.guesses`.

    Returns a `Reading`, whose `columns` go into `compute`. Raises ValueError for an unknown metric, for files and cells
    that cannot be read, and for what would be left out, unless leave_out is true; TypeError for a column without
    arrays.
    """
    metric_class(metric)
    return read_rows(metric, *inputs, **choices)
