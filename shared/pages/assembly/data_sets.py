"""A column of data sets: each is a group of the metric, and known samples belong to every group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...metric.groups import ALL, GROUPS, group_name
from ..page import Page
from .gather import Arguments


def with_groups(page: Page, arguments: Arguments) -> Arguments:
    """The arguments, where data sets of known samples alone have no name: their samples then belong to every group.

    The arguments are unchanged if the page cannot tell known from unknown samples, or only one kind is named.
    """
    columns = arguments.columns
    if GROUPS not in columns or page.outside is None:
        return arguments
    groups = np.asarray(columns[GROUPS], dtype=object)
    try:
        unknown = np.asarray(page.outside(columns), bool)
    except (ValueError, TypeError):  # the metric's own message is better
        return arguments
    if unknown.shape != groups.shape:
        return arguments
    named = ~pd.isna(groups)
    known = {*groups[named & ~unknown].tolist()} - {*groups[named & unknown].tolist()}
    if not known or not np.any(named & unknown):
        return arguments
    values: list[Any] = [None if group in known else group for group in groups.tolist()]
    return arguments._replace(columns={**columns, GROUPS: values})


def shares_of_groups(groups: Any) -> int:
    """The factor by which groups multiply the samples to process: samples without a group count in each group.

    >>> shares_of_groups(["near", "far"]), shares_of_groups([None, "near", "far"])
    (1, 2)
    """
    names = {group_name(group) for group in np.asarray(groups, dtype=object).tolist()}
    return max(1, len(names) - 1) if ALL in names else 1
