"""The predictions and objects of all classes, with their curves, APs and means for given counts of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays.ratios import rounded_sum
from ..arrays.sorting import sorted_by_kind_with
from .average_precision import AveragePrecision, Ratio, mean_of
from .class_curves import Curve, MendedClass, RankedClass, of_each_class, ranked_classes, tag_type
from .counting import ClassObjects
from .mending import Mending
from .outcomes import Outcomes, SelectedBoxes


@dataclass(frozen=True)
class RankedClasses:
    """Ranked predictions and objects, class by class.

    outcomes: of the predictions, and their boxes, which list the classes
    ranked: the predictions of each class
    objects: those that count
    average_precision: computed for each class
    """

    outcomes: Outcomes
    ranked: list[RankedClass]
    objects: ClassObjects
    average_precision: AveragePrecision

    @classmethod
    def of(cls, outcomes: Outcomes, on_unknown: np.ndarray, average_precision: AveragePrecision) -> RankedClasses:
        """Rank predictions with their outcomes; on_unknown, the rows of predictions on unknown objects."""
        return cls(outcomes, ranked_classes(outcomes, on_unknown), ClassObjects.of(outcomes.boxes), average_precision)

    @property
    def boxes(self) -> SelectedBoxes:
        """The boxes."""
        return self.outcomes.boxes

    def mended(self, mending: Mending) -> MendedClasses:
        """Changes of the classes by mending errors."""
        boxes = self.boxes

        def by_class(predictions: np.ndarray, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
            images: np.ndarray = boxes.image[predictions].astype(tag_type(boxes))
            return sorted_by_kind_with(boxes.confidence[predictions], rows, len(boxes.classes), images)

        taking = by_class(mending.taking, boxes.object_rows[mending.objects])
        going = by_class(mending.going, boxes.rows[mending.going])
        sides = enumerate(zip(taking, going))
        changed = {row: self.ranked[row].mended(*both) for row, both in sides if any(len(one) for one, _ in both)}
        leaving = mending.leaving
        left = ClassObjects(boxes.object_rows[leaving], boxes.object_image[leaving], len(boxes.classes))
        return MendedClasses(changed, left)

    def where(self, counts: np.ndarray) -> CountedClasses:
        """Count the classes where each image occurs `counts` times."""
        objects = self.objects.number(counts).tolist()

        def counted(of_class: tuple[RankedClass, int]) -> tuple[Curve, Ratio]:
            ranked, number = of_class
            curve = ranked.curve(counts)
            return curve, self.average_precision(curve.tp, curve.fp, number)

        curves, aps = zip(*of_each_class(counted, [*zip(self.ranked, objects)], [each.tags for each in self.ranked]))
        return CountedClasses(self, counts, [*curves], objects, [*aps])


class MendedClasses(NamedTuple):
    """Changes by mending errors: of some classes, and of the objects that no longer count."""

    changed: dict[int, MendedClass]
    leaving: ClassObjects


@dataclass(frozen=True)
class CountedClasses:
    """A curve, a number of objects and an AP of each class, where images occur `counts` times."""

    classes: RankedClasses
    counts: np.ndarray
    curves: list[Curve]
    objects: list[int]
    aps: list[Ratio]

    @cached_property
    def _fp_sums(self) -> list[np.ndarray]:
        return [ranked.fp_sums(self.counts) for ranked in self.classes.ranked]

    def after(self, mended: MendedClasses) -> CountedClasses:
        """The classes after errors are mended; curves stay as they were."""
        objects, aps = (np.asarray(self.objects) - mended.leaving.number(self.counts)).tolist(), [*self.aps]
        for row, number in enumerate(objects):
            if row in mended.changed:
                points = mended.changed[row].points(self._fp_sums[row], self.counts)
            elif number != self.objects[row]:
                points = self.curves[row].tp, self.curves[row].fp
            else:
                continue
            aps[row] = self.classes.average_precision(*points, number)
        return replace(self, objects=objects, aps=aps)

    def aps_of(self, group: Sequence[int]) -> list[Ratio]:
        """The APs of the classes of a group that have objects."""
        return [self.aps[row] for row in self.with_objects(group)]

    def mean_ap(self, group: Sequence[int]) -> float:
        """The mean AP of the classes of a group that have objects; 0.0 if none has."""
        return mean_of(self.aps_of(group))

    def mean_ratio(self, counts: Sequence[int], totals: Sequence[int], group: Sequence[int]) -> float:
        """The mean over the same classes of counts by totals, rounded once; 0/0 is 0."""
        rows = self.with_objects(group)
        ratios = [(counts[row], totals[row]) for row in rows if totals[row]]
        return rounded_sum(ratios, len(rows)) if ratios else 0.0

    def with_objects(self, group: Sequence[int]) -> list[int]:
        """The rows of the classes of a group that have objects."""
        labels = enumerate(self.classes.boxes.classes)
        return [row for row, label in labels if label in group and self.objects[row]]

    def predicted(self) -> tuple[list[int], list[int]]:
        """TP and FP of all predictions of each class."""
        tp = [int(curve.tp[-1]) if len(curve.tp) else 0 for curve in self.curves]
        return tp, [int(curve.fp[-1]) if len(curve.fp) else 0 for curve in self.curves]
