"""Samples of several images, such as views of a product: anomalous if any image is, with the highest image score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.arrays import State, as_array, is_torch_array, to_numpy, without_arrow
from ..arrays.columns import check_lengths
from ..metric.groups import ALL, group_name, rows_of_groups
from ..metric.prepared import MissingClassError
from ..metric.results import Rate, Results
from ..ranking.counts import as_side, sort_sides
from ..ranking.curves import AUROC, AVERAGE_PRECISION, F1_MAX
from ..ranking.quantities import quantities
from .judging import Judge

_BEST_F1 = F1_MAX._replace(value=lambda *parts: F1_MAX.value(*parts)[0])
_QUANTITIES = {"sample_auroc": AUROC, "sample_ap": AVERAGE_PRECISION, "sample_f1_max": _BEST_F1}


def as_sample_ids(samples: Any, maps: Any) -> np.ndarray:
    """Check a column of ids, strings or integers, and return them as strings, (N,).

    Raises ValueError for another length and for a missing id (None, "" or NaN), TypeError for other types.
    """
    samples = without_arrow(samples)
    if is_torch_array(samples):
        samples = to_numpy(as_array(samples, "samples"))
    if isinstance(samples, (str, bytes, Mapping)) or not isinstance(samples, Iterable):
        raise TypeError(f"samples: expected a column of strings or integers, got {type(samples).__name__}")
    items = samples.tolist() if hasattr(samples, "tolist") else list(samples)
    check_lengths(predictions=maps, samples=items)
    ids = []
    for i, item in enumerate(items):
        try:
            ids.append(group_name(item))
        except TypeError:
            raise TypeError(f"samples[{i}]: expected a string or an integer, got {item!r:.100}") from None
        if ids[-1] == ALL:
            raise ValueError(f"samples[{i}]: expected the id of a sample, got {item!r}")
    return np.asarray(ids, dtype=str)


def checked_ids(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The sample ids of a state from elsewhere, if it has any."""
    if "samples" not in state:
        return {}
    ids = np.asarray(state["samples"])
    if ids.ndim != 1 or (len(ids) and (ids.dtype.kind != "U" or not ids.astype(bool).all())):
        raise ValueError("state: expected samples to be a column of ids, strings that are not empty")
    return {"samples": ids.astype(str)}


def check_one_group(states: Mapping[str, Sequence[State]]) -> None:
    """Raise ValueError for a sample with images in two groups."""
    groups: dict[str, str] = {}
    for group, parts in states.items():
        for sample in sorted({name for part in parts if "samples" in part for name in part["samples"].tolist()}):
            other = groups.setdefault(sample, group)
            if other != group:
                names = " and in ".join(map(_words, (other, group)))
                raise ValueError(
                    f"samples: expected all images of a sample in one group, got those of {sample!r} in {names}"
                )


def check_groups_of_rows(samples: np.ndarray, groups: Any) -> None:
    """Raise ValueError, with the rows of a batch, for a sample with images in two of its groups."""
    group_of_row = {row: group for group, rows in rows_of_groups(groups).items() for row in rows.tolist()}
    first: dict[str, int] = {}
    for row, sample in enumerate(samples.tolist()):
        before = first.setdefault(sample, row)
        group, other = group_of_row[row], group_of_row[before]
        if group != other:
            raise ValueError(
                f"samples[{row}]: expected all images of a sample in one group, got {sample!r} in {_words(group)}, and "
                f"in {_words(other)} at samples[{before}]"
            )


def _words(group: str) -> str:
    return f"group {group!r}" if group != ALL else "no group"


class SampleRates(Judge):
    """Rates of samples: their score is the highest of their images', and they are anomalous if any image is.

    Raises ValueError unless there are anomalous and normal samples.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        _, self.first, sample = np.unique(state["samples"], return_index=True, return_inverse=True)
        scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])
        self.scores, self.labels = np.full(len(self.first), -np.inf, scores.dtype), np.zeros(len(self.first), bool)
        np.maximum.at(self.scores, sample, scores)
        np.logical_or.at(self.labels, sample, labels)
        if self.labels.all() or not self.labels.any():
            anomalous = int(self.labels.sum())
            raise MissingClassError(
                f"references: expected anomalous and normal samples, got {anomalous} anomalous and "
                f"{len(self.labels) - anomalous} normal; leave the column samples out to go without"
            )

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image, and with it its sample, occurs `images` times."""
        counts = np.ones(len(self.first), np.int64) if images is None else images[self.first]
        kinds = ((counts > 0) & self.labels, (counts > 0) & ~self.labels)
        sides = sort_sides(*(as_side(self.scores[kind], counts[kind]) for kind in kinds))
        values = quantities(*sides, _QUANTITIES)
        return {name: Rate(value, higher=True) for name, value in values.items()}
