"""Open-set detection: known objects found, unknown objects called unknown."""

import datasets
import evaluate

from ._kernel import Evaluated, OpenSetDetection as Core

_DESCRIPTION = """
Object detection with objects of unknown classes: recall of the unknown objects (U-Recall), known objects called unknown
(WI) and all errors together (A-OSE), with precision and recall of the known classes and the counts behind them. Boxes
are matched one to one, regardless of class, highest IoU first. protocol="owod" computes the measures that papers on
open-world detection report under the same names, and mAP, matched as in Pascal VOC.
"""

_CITATION = r"""
@inproceedings{dhamija2020overlooked,
  title={The Overlooked Elephant of Object Detection: Open Set},
  author={Dhamija, Akshay Raj and G{\"u}nther, Manuel and Ventura, Jonathan and Boult, Terrance E.},
  booktitle={IEEE/CVF Winter Conference on Applications of Computer Vision},
  year={2020}
}
@inproceedings{joseph2021owod,
  title={Towards Open World Object Detection},
  author={Joseph, K. J. and Khan, Salman and Khan, Fahad Shahbaz and Balasubramanian, Vineeth N.},
  booktitle={IEEE/CVF Conference on Computer Vision and Pattern Recognition},
  year={2021}
}
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: for each image, (n, 6) rows x1, y1, x2, y2, confidence, class, or a dict of boxes, scores and labels.
    references: for each image, (m, 5) rows x1, y1, x2, y2, class, or a dict of boxes and labels; ignored in the dict is
        1 for difficult or crowd objects, which are not counted, and 0 for the others.
    groups: optional (N,) strings or integers, or lists of them (or names such as a|b), the group or groups of each
        image, such as a category, a data set or a seed; None, "" or NaN if it belongs to every group. Rates are then
        unweighted means over the groups.
    clusters: optional (N,) strings or integers, what each image depends on, such as a scene, an object or a camera.
        Intervals then draw clusters, each with all of its images.
    known_classes: ids of the known classes; required. Objects of other classes are unknown.
    unknown_class_id: class id of an "unknown" prediction. Defaults to -1.
    iou_threshold: boxes match at this IoU or above, in (0, 1]. Defaults to 0.5.
    conf_threshold: predictions with a lower confidence are dropped. Defaults to 0.0.
    box_format: "xyxy" (default), "xywh" (corner and size) or "cxcywh" (centre and size).
    count_background: whether unmatched "unknown" predictions count in FP_unknown. Defaults to False.
    protocol: "ow-dln" (default), OW-DLN's definitions, or "owod", those used in papers on open-world detection. The
        config_name of `evaluate.load` says it, too.
    matching: "iou", highest IoU first, or "confidence", most confident prediction first. Defaults to None, which means
        "iou", or Pascal VOC matching for protocol="owod", which accepts no other.
    recall_level: recall at which "owod" compares precisions for WI, in (0, 1]; None omits WI. Defaults to 0.8.
    previously_known: the known_classes from earlier tasks, to split mAP of "owod" into previously and newly known.
        Defaults to None.
    plus_one: whether widths and heights are x2 - x1 + 1, as in the VOC devkit's code. Defaults to False.
    unknown_below: predictions of known classes with a lower confidence count as unknown. Defaults to None: none does.
    average_precision: "all" points (default) or "11-point", for "owod".
    per_class: whether to return a table of counts and rates by class. Defaults to False.
    per_image: whether to return a table of counts and rates by image. Defaults to False.
    conf_list: confidence thresholds for a sweep of U-Recall, WI and A-OSE; "ow-dln" then needs matching="confidence".
        Defaults to None.
    errors: whether to return the tables fates and errors: the fate of each object, and the kinds of false positives
        with the gain from fixing each. Defaults to False.
    recall_budgets: numbers k of predictions per image, for AR@k of unknown objects. Defaults to ().
    budget: "unknown" (default): predictions on known objects do not use it up; or "all": they do.
    confidence_level, n_resamples, random_state: with a level such as 0.95, rates get `<key>_low` and `<key>_high` from
        a percentile bootstrap of the images. Default to None, 1000 and 0.
    groups_mean: "arithmetic" (default) or "harmonic", n / sum(1/x), which is 0 where a rate is 0.
    groups_without: "raise" (default): a rate that a group lacks has no mean; or "skip": the mean is over the others,
        and `groups_skipped` counts the groups that lack a rate. Both have None in the table.

Returns:
    Rates over no objects are left out, and NaN in rows of tables; means over classes leave classes without objects out.
    U-Recall: TP_unknown / total_unknown, higher is better.
    WI: FP_unknown / total_known, lower is better; for "owod", precision on images without unknown objects divided by
        precision on all, minus 1.
    A-OSE: (FP_known + FN_known + FP_unknown + FN_unknown) / all objects, lower is better; for "owod", the number of
        unknown objects detected as a known class.
    Precision(Known), Recall(Known): of the known classes, higher is better; not for "owod".
    A-OSE(detections), WI(OWOD), WI(OWOD)@0.8: for "owod", the number of predictions of known classes on unknown
        objects; their share at recalls of 0.1 to 0.9, and at 0.8.
    U-AP, mAP, mAP(previously known), mAP(newly known): for "owod", average precision of "unknown", and its mean over
        the known classes; the last two with previously_known.
    Precision(U), U-F1, Precision(K), Recall(K): for "owod", precision and F1 of "unknown", and the means over the known
        classes of precision and recall.
    fates, errors: with errors, tables of counts, with shares and gains, which are also results, such as fate(unknown,
        missed) and ΔmAP(badly placed).
    AR@10: with recall_budgets, recall of unknown objects by that many predictions per image, averaged over ten IoUs.
    TP_known, FP_known, FN_known, TP_unknown, FP_unknown, FN_unknown, total_known, total_unknown: the counts.
    per_class, per_image, sweep: the requested tables, dicts of columns of equal length.
    groups, if that column is passed: a table, {"group": [sorted names], "<key>": [one value per group], …}. A name with
        a slash, such as near/cifar100, adds a row for the part before it (near), with the mean of its groups.

Raises:
    ValueError: NaN, arrays of the wrong shape, x2 < x1 or y2 < y1, non-integer classes, known_classes that include the
        unknown id, a threshold out of range, different lengths, an option that the protocol does not have, WI of "owod"
        if images without unknown objects do not reach recall_level.
    TypeError: missing columns or known_classes, unknown arguments, values that are not numbers.

Examples:
    >>> import evaluate
    >>> openset_detection = evaluate.load("metrics/openset_detection", known_classes=[0, 1], unknown_class_id=999)
    >>> found = [[10, 10, 50, 50, 0.9, 0], [60, 60, 100, 100, 0.8, 999], [200, 200, 220, 220, 0.3, 1]]
    >>> true = [[10, 10, 50, 50, 0], [60, 60, 100, 100, 5]]
    >>> results = openset_detection.compute(predictions=[found], references=[true])
    >>> {name: results[name] for name in ("U-Recall", "WI", "A-OSE", "FP_known")}
    {'U-Recall': 1.0, 'WI': 0.0, 'A-OSE': 0.5, 'FP_known': 1}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class OpensetDetection(Evaluated, Core, evaluate.Metric):
    def _info(self) -> evaluate.MetricInfo:
        table = datasets.Sequence(datasets.Sequence(datasets.Value("float64")))
        boxes = {"boxes": table, "labels": datasets.Sequence(datasets.Value("int64"))}
        scores = {"scores": datasets.Sequence(datasets.Value("float64"))}
        ignored = {"ignored": datasets.Sequence(datasets.Value("int64"))}
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            features=[
                datasets.Features({"predictions": table, "references": table}),
                datasets.Features({"predictions": {**boxes, **scores}, "references": boxes}),
                datasets.Features({"predictions": {**boxes, **scores}, "references": {**boxes, **ignored}}),
            ],
            license="Apache-2.0",
            reference_urls=["https://arxiv.org/abs/2103.02603"],
        )
