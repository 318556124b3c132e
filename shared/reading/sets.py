"""OOD sets beside known samples, as a reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays.arrays import Array, on_one_device, to_numpy
from ..arrays.checks import as_labels, as_scores, check_lengths, check_not_negative
from ..metric.clusters import CLUSTERS
from ..metric.groups import GROUPS, prefixes
from .reading import Reading
from .rows.roles import check_sets
from .rows.score_files import Scores


@dataclass
class Sets(Reading):
    """Scores of known samples, and of OOD sets by group.

    sides: the columns of each set; known samples belong to every group
    accuracy: of the known samples; None if a set has no classes
    """

    sides: Sequence[Mapping[str, Any]] = ()
    accuracy: float | None = None

    def _batches(self, columns: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """The scores of each set, on their own device."""
        for side in self.sides:
            yield 0, dict(side)


def sets_of(known: Any, unknown: Mapping[str, Any], full_spectrum: Sequence[Any] = ()) -> Sets:
    """A reading of OOD sets beside known samples; see `evaluate_ood`."""
    names = _check_names(unknown)
    inside = [_as_scores(known), *map(_as_scores, full_spectrum)]
    parts = [_checked(side, "full_spectrum" if i else "known") for i, side in enumerate(inside)]
    accuracy = _accuracy(inside)
    others = {name: _as_scores(unknown[name]) for name in names}
    outside = {name: _checked(side, name) for name, side in others.items()}
    shifted = {f"full_spectrum[{i}]": to_numpy(scores) for i, scores in enumerate(parts[1:])}
    check_sets({"known": to_numpy(parts[0]), **shifted}, {name: to_numpy(scores) for name, scores in outside.items()})
    sides = [_columns(scores, 0, None, side) for scores, side in zip(parts, inside)]
    sides += [_columns(scores, 1, name, others[name]) for name, scores in outside.items()]
    without = [name for name, side in zip(["known", *shifted, *names], sides) if CLUSTERS not in side]
    if 0 < len(without) < len(sides):
        raise ValueError(f"{without[0]}: expected clusters, as other sets have, got none")
    there = (GROUPS,) if without else (GROUPS, CLUSTERS)
    columns = {name: [item for side in sides for item in side[name]] for name in there}
    return Sets("ood_bench", {"": columns}, sides=sides, accuracy=accuracy, noun_of_clusters=inside[0].noun_of_clusters)


def _columns(scores: Array, label: int, group: str | None, side: Scores) -> dict[str, Any]:
    """Scores with a label, a group, None for samples that belong to every group, and its clusters, if known.

    Raises ValueError unless there is a cluster for each score.
    """
    columns = {"predictions": scores, "references": np.full(len(scores), label), GROUPS: [group] * len(scores)}
    if len(side.clusters):
        check_lengths(**{group or "known": scores, CLUSTERS: side.clusters})
        columns[CLUSTERS] = side.clusters
    return columns


def _as_scores(scores: Any) -> Scores:
    return scores if isinstance(scores, Scores) else Scores(scores)


def _checked(side: Scores, name: str) -> Array:
    scores = as_scores(side.scores, name)
    if not len(scores):
        raise ValueError(f"{name}: expected at least one score, got none")
    return scores


def _check_names(unknown: Mapping[str, Any]) -> list[str]:
    names = [*unknown]
    if not names:
        raise ValueError("unknown: expected at least one set, got none")
    for name in names:
        if not isinstance(name, str) or not all(name.split("/")):
            raise ValueError(f"unknown: expected names such as near/cifar100, got {name!r}")
    both = sorted(prefixes(names) & set(names))
    if both:
        raise ValueError(f"unknown: expected a name of a set or of a group, got {both[0]!r} for both")
    return names


def _accuracy(sides: Sequence[Scores]) -> float | None:
    """The share of known samples with the right predicted class; None if a set has no classes."""
    right = total = 0
    for predictions, references in ((side.predictions, side.references) for side in sides):
        if predictions is None or references is None:
            return None
        predicted, true = on_one_device(as_labels(predictions, "predictions"), as_labels(references, "references"))
        check_lengths(predictions=predicted, references=true)
        check_not_negative(true, "references", " among known samples")
        right, total = right + int((predicted == true).sum()), total + len(true)
    return right / total if total else None
