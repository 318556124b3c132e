"""Numbers of the decision among K + 1 classes: a sample is called its predicted class if its score ≤ t, else unknown.

Papers on open-set recognition, domain adaptation, intent detection and segmentation print them. All follow from four
counts of each class: right, accepted and true samples, and the unknown ones that are rejected.
"""

from __future__ import annotations

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_device, to_numpy
from ..arrays.exact import rounded_sum
from ..ranking.counts import as_side, check_both_classes
from ..ranking.operating_points import samples_above
from .open_f import Hos, best_f, macro_samples
from .samples import OpenSetState


class Decisions:
    """Decisions on the samples of a state, at any threshold.

    Raises ValueError without unknown or known samples, and for class ids that reach num_classes.
    """

    def __init__(self, state: OpenSetState, num_classes: int) -> None:
        """Sort the samples."""
        counts = state.get("counts")
        scores, known = macro_samples(state["predicted"], state["classes"], state["scores"], num_classes, counts)
        there = state["classes"] < 0
        unknown = as_side(state["scores"][there], None if counts is None else counts[there])
        xp = array_namespace(scores)
        self.number = scores.shape[0] if known.sizes is None else int(xp.sum(known.sizes))
        check_both_classes(unknown.total, self.number - unknown.total)
        self.hos = Hos(scores, known, unknown)

    def at(self, thresholds: np.ndarray) -> list[dict[str, float]]:
        """The numbers at each threshold, by name.

        accuracy(K+1)    the share of samples that are called what they are
        f1(known), f1(unknown), f1(K+1)
                         the mean of 2TP/(2TP + FP + FN) over the known classes; that of unknown; the mean over all
        os*, unk, hos    the mean recall of the known classes that have samples; that of unknown; their harmonic mean
        os               the mean recall over the classes that have samples, with unknown as one of them
        open_miou        the mean over the known classes of TP/(TP + FP + FN)
        """
        scores: Array = self.hos.scores
        xp = array_namespace(scores)
        ascending, place = np.unique(thresholds, return_inverse=True)
        wanted = on_device(ascending, scores)
        rows = to_numpy(xp.searchsorted(xp.astype(scores, xp.float64), wanted, side="right"))
        counts = zip(self.hos.known.counts_of(rows), ascending.tolist())
        numbers = [self._numbers(*of_classes, samples_above(self.hos.unknown, t)) for of_classes, t in counts]
        return [numbers[i] for i in place.tolist()]

    def _numbers(self, hits: np.ndarray, accepted: np.ndarray, rejected: int) -> dict[str, float]:
        known, unknown = self.hos.known, self.hos.unknown.total
        hit = np.flatnonzero(hits)
        right, called, true = (to_numpy(column)[hit] for column in (hits, accepted, known.totals))
        called_unknown = self.number - int(accepted.sum())
        f1, recall = _pairs(2 * right, called + true), _pairs(right, true)
        f1_unknown, recall_unknown = (2 * rejected, called_unknown + unknown), (rejected, unknown)
        return {
            "accuracy(K+1)": (int(hits.sum()) + rejected) / self.number,
            "f1(known)": rounded_sum(f1, known.num_classes),
            "f1(unknown)": 2 * rejected / (called_unknown + unknown),
            "f1(K+1)": rounded_sum([*f1, f1_unknown], known.num_classes + 1),
            "os*": rounded_sum(recall, known.occurring),
            "unk": rejected / unknown,
            "hos": float(self.hos.of_counts(hits, rejected)),
            "os": rounded_sum([*recall, recall_unknown], known.occurring + 1),
            "open_miou": rounded_sum(_pairs(right, called + true - right), known.num_classes),
        }

    def best_hos(self, t_list: np.ndarray | None) -> float:
        """The threshold of the best HOS: the lowest of all thresholds with it, or the first of a list."""
        return best_f(self.hos.scores, self.hos, t_list)[1]


def _pairs(counts: np.ndarray, totals: np.ndarray) -> list[tuple[int, int]]:
    return [*zip(counts.tolist(), totals.tolist())]
