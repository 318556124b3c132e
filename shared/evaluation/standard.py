"""Closed-set metrics of a detector, by COCO's own evaluation. Needs pycocotools."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..detection.rules import Rules
from ..extras import extra
from ..formats.boxes.dataset import Detections
from ..formats.written.boxes import coco_annotations, coco_results

NAMES = ("mAP50", "mAP50-95", "precision", "recall")


def standard_metrics(
    detections: Detections, known_classes: Sequence[int], *, conf_threshold: float = Rules.conf_threshold
) -> dict[str, float]:
    """Mean average precision, precision and recall of the known classes.

    Objects of other classes, and predictions called "unknown", are left out. Ignored objects are treated like COCO's
    crowds: a box on one is neither a TP nor an FP. As in COCO, the 100 most confident boxes of each image and class
    count.

    Parameters: detections; known_classes, ids; conf_threshold, predictions with a lower confidence are left out.

    Returns means over the known classes that have objects, in [0, 1], higher is better, 0.0 if no class has any: mAP50,
    the average precision at 101 recalls and an IoU of 0.5; mAP50-95, averaged over IoUs of 0.5, 0.55, … 0.95;
    precision and recall at an IoU of 0.5 and the confidence with the highest mean F1.

    Source: Lin et al., Microsoft COCO, ECCV 2014. Precision and recall at the highest F1 are what Ultralytics
    reports, there smoothed.
    """
    with extra("detection"):
        from pycocotools.cocoeval import COCOeval
    # numbers in place of image ids, which need not differ, and may be words beside numbers
    dataset = detections.dataset._replace(ids=[*range(len(detections.dataset.names))])
    truth = coco_annotations(dataset)
    results = coco_results(detections._replace(dataset=dataset))
    confident = [result for result in results if result["score"] >= conf_threshold]
    for number, result in enumerate(confident, 1):
        result.update(id=number, area=result["bbox"][2] * result["bbox"][3], iscrowd=0)
    with contextlib.redirect_stdout(io.StringIO()):  # pycocotools prints its progress
        evaluation = COCOeval(_indexed(truth), _indexed({**truth, "annotations": confident}), "bbox")
        parameters = evaluation.params
        parameters.catIds = sorted(known_classes)
        parameters.areaRng, parameters.areaRngLbl = parameters.areaRng[:1], parameters.areaRngLbl[:1]
        parameters.maxDets = parameters.maxDets[-1:]
        evaluation.evaluate()
        evaluation.accumulate()
    precision = evaluation.eval["precision"][:, :, :, 0, 0]  # IoU × recall × class; −1 for a class without objects
    at_half = precision[0]
    return dict(zip(NAMES, (_mean(at_half), _mean(precision), *_at_highest_f1(evaluation))))


def _indexed(content: dict[str, Any]) -> Any:
    from pycocotools.coco import COCO

    coco = COCO()
    coco.dataset = content
    coco.createIndex()
    return coco


def _mean(precision: np.ndarray) -> float:
    counted = precision[precision > -1]
    return float(np.mean(counted)) if len(counted) else 0.0


def _at_highest_f1(evaluation: Any) -> tuple[float, float]:
    """Mean precision and recall at the confidence with the highest mean F1, among all predicted confidences."""
    images, matches = len(evaluation.params.imgIds), evaluation.evalImgs
    classes = [_ranked(matches[start : start + images]) for start in range(0, len(matches), images)]
    classes = [(scores, hits, objects) for scores, hits, objects in classes if objects]
    scores = np.concatenate([np.zeros(0), *(scores for scores, _, _ in classes)])
    if not len(scores):
        return 0.0, 0.0
    # the increase in its class's F1 from each prediction
    rises = [np.diff(_f1(hits, objects), prepend=0.0) for _, hits, objects in classes]
    order = np.argsort(-scores, kind="stable")
    total = np.round(np.cumsum(np.concatenate(rises)[order]), 9)  # rounded, so that sums agree in any order
    last = np.append(scores[order][1:] != scores[order][:-1], True)  # equal confidences count together
    threshold = scores[order][last][np.argmax(total[last])]
    sums = [(int(np.sum(hits[scores >= threshold])), int(np.sum(scores >= threshold))) for scores, hits, _ in classes]
    precisions = [right / predicted if predicted else 0.0 for right, predicted in sums]
    recalls = [right / objects for (right, _), (_, _, objects) in zip(sums, classes)]
    return float(np.mean(precisions)), float(np.mean(recalls))


def _f1(hits: np.ndarray, objects: int) -> np.ndarray:
    """F1 = 2 TP / (predictions + objects) of the most confident 1, 2, … predictions."""
    return 2 * np.cumsum(hits) / (np.arange(1, len(hits) + 1) + objects)


def _ranked(images: Sequence[Any]) -> tuple[np.ndarray, np.ndarray, int]:
    """A class's confidences, highest first, whether each prediction is right at IoU 0.5, and its number of objects."""
    images = [image for image in images if image is not None]
    objects = sum(int(np.sum(image["gtIgnore"] == 0)) for image in images)
    scores = np.concatenate([np.zeros(0), *(image["dtScores"] for image in images)])
    hits = np.concatenate([np.zeros(0, dtype=bool), *(image["dtMatches"][0] > 0 for image in images)])
    ignored = np.concatenate([np.zeros(0, dtype=bool), *(image["dtIgnore"][0] > 0 for image in images)])
    order = np.argsort(-scores, kind="stable")
    order = order[~ignored[order]]
    return scores[order], hits[order], objects
