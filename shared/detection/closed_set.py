"""Results of closed-set detectors, which cannot call anything unknown.

Whatever such a detector predicts, its U-Recall is 0 and all unknown objects are FN: these results are left out. Those
that depend on its predictions stay, such as A-OSE, which papers report for closed-set detectors, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ..metric.results import Results, Summary
from .errors import share_of
from .openset_detection import OpenSetDetection

_FIXED = (
    r"Δ?U-.*|Precision\(U\)|(TP|FP|FN)_unknown|.*called unknown\)?"
    r"|fate\(unknown, (found|badly placed)\)|unknown objects (found|badly placed)"
)


def closed_set_summary(summary: Summary, metric: OpenSetDetection) -> Summary:
    """A summary of a closed-set detector, without the results that are the same for all such detectors."""
    is_fixed = _fixed(metric)

    def of_detector(results: Results) -> Results:
        return {
            key: _table(key, value, is_fixed, metric.unknown_class_id) if isinstance(value, Mapping) else value
            for key, value in results.items()
            if not is_fixed(key)
        }

    groups = summary.groups
    rows = groups and {name: of_detector(row) for name, row in groups.items()}
    return summary._replace(results=of_detector(summary.results), groups=rows)


def _fixed(metric: OpenSetDetection) -> Callable[[str], bool]:
    """A function that tells whether a key, or the name of a column or a row, is of a fixed result."""
    wi = "|WI" if metric.protocol == "ow-dln" else ""  # of known objects called unknown; not of "owod"
    recalls = r"|AR@\d+" if metric.budget == "called unknown" else ""
    pattern = re.compile(_FIXED + wi + recalls)
    return lambda name: pattern.fullmatch(name) is not None


def _table(name: str, table: Mapping[str, Any], is_fixed: Callable[[str], bool], unknown: int) -> dict[str, Any]:
    columns = {key: column for key, column in table.items() if not is_fixed(key)}
    if name == "per_class":
        return _with_rows(columns, [label != unknown for label in table["class"]])
    if name == "fates":
        return _with_rows(columns, [not is_fixed(share_of(*fate)) for fate in zip(table["objects"], table["fate"])])
    return _with_rows(columns, [not is_fixed(error) for error in table["error"]]) if name == "errors" else columns


def _with_rows(table: Mapping[str, Any], is_open: list[bool]) -> dict[str, Any]:
    return {key: [cell for cell, keep in zip(column, is_open) if keep] for key, column in table.items()}
