"""Scores with labels of 0 and 1, by the names of a caller's arguments."""

from __future__ import annotations

from typing import Any

from ..arrays.arrays import on_one_device
from ..arrays.checks import as_flags, as_scores, check_lengths
from ..ranking.counts import Side, check_both_classes, sides_of_kinds, sort_sides
from ..ranking.quantities import Quantity, quantities


def labelled_sides(**columns: Any) -> tuple[Side, Side]:
    """The scores of the samples labelled 1, and of the samples labelled 0.

    Parameters: two columns by name, the scores (N,) and then the labels (N,).
    Raises ValueError, with these names, for NaN, lengths that differ and labels that are neither 0 nor 1.
    """
    (name, scores), (name_of_labels, labels) = columns.items()
    scores, flags = as_scores(scores, name, narrow=True), as_flags(labels, name_of_labels)
    check_lengths(**{name: scores, name_of_labels: flags})
    scores, flags = on_one_device(scores, flags)
    positives, negatives = sides_of_kinds(scores, ~flags, 2)
    return positives, negatives


def both_sides(**columns: Any) -> tuple[Side, Side]:
    """As `labelled_sides`. Raises ValueError for labels of one value, too."""
    positives, negatives = labelled_sides(**columns)
    check_both_classes(positives.total, negatives.total)
    return positives, negatives


def labelled_value(quantity: Quantity, **columns: Any) -> Any:
    """The value of a quantity, of the columns of `both_sides`."""
    return quantities(*sort_sides(*both_sides(**columns)), {"": quantity})[""]
