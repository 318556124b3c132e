"""A column of data sets: each is a group of the metric, and known samples are those of every group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from ...metric.groups import ALL, GROUPS, group_name
from ..page import Page
from .inputs import Given


def with_groups(page: Page, given: Given) -> Given:
    """The groups of what is given, in which data sets of known samples alone are missing: they belong to every group.

    Only where the page can tell known from unknown samples, and where data sets of both kinds are named.
    """
    if GROUPS not in given.columns or page.outside is None:
        return given
    groups = np.asarray(given.columns[GROUPS], dtype=object)
    try:
        unknown = np.asarray(page.outside(given.columns), bool)
    except (ValueError, TypeError):  # which the metric says better
        return given
    if unknown.shape != groups.shape:
        return given
    named = ~pd.isna(groups)
    known = {*groups[named & ~unknown].tolist()} - {*groups[named & unknown].tolist()}
    if not known or not np.any(named & unknown):
        return given
    values: list[Any] = [None if group in known else group for group in groups.tolist()]
    code = given.code.get(GROUPS)
    said = f"[None if group in {sorted(map(str, known))} else group for group in {code}]" if code else ""
    return given._replace(columns={**given.columns, GROUPS: values}, code={**given.code, GROUPS: said})


def shares_of_groups(groups: Any) -> int:
    """How many times over all samples are gone through, at most: those of no group once for each group.

    >>> shares_of_groups(["near", "far"]), shares_of_groups([None, "near", "far"])
    (1, 2)
    """
    names = {group_name(group) for group in np.asarray(groups, dtype=object).tolist()}
    return max(1, len(names) - 1) if ALL in names else 1
