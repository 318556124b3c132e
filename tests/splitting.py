"""Parts of a random case: some rows of its columns, batches, and the options that each verb takes."""

from __future__ import annotations

from typing import Any

import numpy as np

from openworld_metrics.loading import metric_class
from tests import cases

# other options that shape or check a batch as it is added, and may be given to compute as well
OF_A_BATCH = ("ignore_unknown", "num_classes", "t_list", "per_sample", "pixel_threshold")


def split_options(name: str, options: cases.Options) -> tuple[cases.Options, cases.Options]:
    """Those that shape a batch as it is added and so are given at load, and those given to compute."""
    reduces = {*metric_class(name).fixed_options, *OF_A_BATCH}
    at_load = {key: value for key, value in options.items() if key in reduces}
    return at_load, {key: value for key, value in options.items() if key not in reduces}


def length(columns: cases.Columns) -> int:
    return len(columns["references"])


def rows(columns: cases.Columns, indices: Any) -> cases.Columns:
    return {key: cases.take(column, indices) for key, column in columns.items()}


def batches(columns: cases.Columns, rng: np.random.Generator) -> list[cases.Columns]:
    """Five batches at random cuts, some of them empty."""
    cuts = np.sort(rng.integers(0, length(columns) + 1, 4))
    return [rows(columns, part) for part in np.split(np.arange(length(columns)), cuts)]
