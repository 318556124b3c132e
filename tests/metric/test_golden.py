"""Numbers that others have published, or that their own code computes on small data: no later change may move them.

Code was run at the commit that a source names, on the data below, and its output copied; where it has a trap, the data
avoid it, or the entry says what it gives instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from openworld_metrics.reading import Dataset, Detections
from openworld_metrics.suites import standard_metrics
from tests import seed_arrays

Load = Callable[..., Any]


class Golden(NamedTuple):
    """A metric's options and columns, and the results that its source has for them, within what it prints."""

    source: str
    metric: str
    options: dict[str, Any]
    columns: dict[str, Any]
    results: dict[str, Any]
    within: float = 1e-12


def open_set(arrays: tuple[Any, ...]) -> dict[str, Any]:
    names = ("close_pred", "close_labels", "open_pred", "open_labels")
    return dict(zip(names, arrays))


# objects x1, y1, x2, y2, class, and predictions with a confidence before it: 0 and 1 are known, 9 means "unknown"
OBJECTS = [
    [[60, 0, 77, 13, 1], [30, 0, 54, 18, 7], [0, 0, 24, 20, 0]],
    [[60, 0, 84, 13, 0], [30, 0, 47, 13, 1], [120, 0, 132, 20, 1]],
    [[150, 0, 165, 23, 0], [0, 0, 19, 19, 0], [60, 0, 75, 17, 7]],
    [[60, 0, 73, 20, 0], [150, 0, 174, 23, 1], [0, 0, 21, 13, 0], [120, 0, 134, 20, 7]],
    [[150, 0, 170, 23, 7], [30, 0, 50, 19, 1], [0, 0, 17, 16, 0]],
    [[60, 0, 82, 19, 1], [0, 0, 13, 18, 0], [30, 0, 48, 23, 7], [120, 0, 139, 16, 7]],
]
PREDICTIONS = [
    [
        *([61, 3, 79, 13, 0.739, 1], [33, 1, 56, 18, 0.282, 1], [33, 1, 55, 18, 0.69, 9], [1, 1, 24, 21, 0.263, 9]),
        *([3, 2, 26, 23, 0.522, 0], [180, 0, 200, 20, 0.153, 9]),
    ],
    [
        *([62, 3, 86, 16, 0.572, 0], [63, 2, 86, 16, 0.312, 0], [30, 0, 49, 13, 0.948, 1], [31, 0, 48, 14, 0.521, 1]),
        *([122, 0, 132, 22, 0.639, 1], [180, 0, 200, 20, 0.896, 0]),
    ],
    [
        *([151, 2, 167, 23, 0.061, 1], [150, 2, 166, 26, 0.989, 0], [0, 2, 20, 22, 0.458, 0], [2, 0, 21, 21, 0.45, 0]),
        *([63, 1, 75, 20, 0.872, 9], [180, 0, 200, 20, 0.597, 0]),
    ],
    [
        *([61, 3, 76, 20, 0.283, 0], [61, 3, 73, 21, 0.768, 9], [150, 3, 174, 23, 0.874, 9]),
        *([153, 2, 174, 24, 0.264, 1], [3, 3, 24, 14, 0.187, 9], [3, 3, 21, 16, 0.539, 0]),
        *([123, 0, 137, 21, 0.849, 1], [120, 1, 136, 21, 0.627, 9], [180, 0, 200, 20, 0.226, 0]),
    ],
    [
        *([152, 0, 172, 24, 0.2, 9], [32, 1, 51, 20, 0.364, 1], [2, 1, 19, 16, 0.833, 1], [0, 0, 20, 16, 0.329, 0]),
        [180, 0, 200, 20, 0.839, 1],
    ],
    [
        *([61, 1, 84, 21, 0.385, 1], [2, 1, 13, 18, 0.796, 0], [1, 3, 15, 21, 0.462, 0], [30, 0, 51, 24, 0.168, 0]),
        *([31, 0, 51, 26, 0.527, 1], [123, 3, 139, 16, 0.432, 9], [180, 0, 200, 20, 0.598, 0]),
    ],
]
BOXES = {"predictions": PREDICTIONS, "references": OBJECTS}
OWOD = {"known_classes": [0, 1], "unknown_class_id": 9, "protocol": "owod", "recall_level": None, "plus_one": True}
SMIYC = "SegmentMeIfYouCan road-anomaly-benchmark 1c7804e, default_instancer and segment_metrics"
COMPONENTS = {"components": True, "pixel_threshold": 0.5, "levels": "pixel", "ignore_value": 255}
TWO_IMAGES = {
    "predictions": [
        [[0.9] * 6 + [0.1] * 3, [0.1] * 9, [0.8, 0.8, 0.1, 0.1, 0.7, 0.1, 0.1, 0.6, 0.1]],
        [[0.1] * 9, [0.9, 0.1, 0.1, 0.1, 0.8, 0.8, 0.8, 0.1, 0.1], [0.1] * 9],
    ],
    "references": [
        [[1, 1, 255, 255, 1, 1, 0, 0, 0], [0] * 9, [0] * 6 + [1] * 3],
        [[0] * 9, [0] * 3 + [1] * 6, [255] * 9],
    ],
}
TWO_RUNS = {
    "predictions": [[[0.9] * 3 + [0.0] * 9, [0.0] * 12, [0.0] * 4 + [0.9] * 5 + [0.0] * 3]],
    "references": [[[1, 1] + [0] * 10, [0] * 12, [0] * 4 + [1] * 6 + [0] * 2]],
}
CONFIDENCE = np.asarray([0.9, 0.8, 0.7, 0.3, 0.55, 0.65, 0.6, 0.4, 0.2, 0.35, 0.75])
CLASSES = np.asarray([0, 1, 1, 0, 2, 2, -1, -1, -1, -1, -1])
OF_KNOWN = {"predictions": [0] * 10, "references": [0] * 10}  # where only known against unknown matters
POSITIVE_FIRST = {"predictions": [0.9, 0.8, 0.4, 0.7, 0.3, 0.2, 0.1], "references": [1, 1, 1, 0, 0, 0, 0]}
K_PLUS_1 = {  # true classes 0 0 0 1 1 U U U, called 0 0 1 1 U U U 0 at 0.5
    "predictions": [0, 0, 1, 1, 0, 0, 1, 0],
    "references": [0, 0, 0, 1, 1, -1, -2, -3],
    "open_scores": [0.1, 0.2, 0.1, 0.2, 0.9, 0.8, 0.7, 0.3],
}
DEFECTS = np.zeros((3, 6, 6), int)  # none in the first image, two in the second, one in the third
DEFECTS[1, 1:4, 1:3], DEFECTS[1, 5, 4:], DEFECTS[2, 2:5, 3:6] = 1, 2, 1
MAPS = 2.0 * ((41 * np.arange(108).reshape(3, 6, 6) + 7) % 108) + 61 * (DEFECTS > 0)  # distinct scores
PIXELS = {"predictions": MAPS, "references": DEFECTS > 0}
SATURATED = [
    {"masks": [image == kind for kind in np.unique(image) if kind], "saturation_areas": areas}
    for image, areas in zip(DEFECTS, ([], [4, 2], [4]))
]
LIMITS = {"levels": "pixel", "integration_limits": [0.05, 0.3, 1.0]}
GUESSES = [[0, 7, 1, 3, 5], [0, 2, 9, 8, 4], [8, 4, 0, 1, 3]]

TABLE = [
    Golden(
        "XCurve's documentation, TopkAcc; for 2, scikit-learn 1.9.1, top_k_accuracy_score",
        "accuracyk",
        {"k_list": (1, 2, 3), "percent": True},
        {"y_pred": seed_arrays.TOPK[1], "y_true": seed_arrays.TOPK[0]},
        {"accuracy@1": 30.0, "accuracy@2": 50.0, "accuracy@3": 80.0},
    ),
    Golden(
        "XCurve's documentation, ClosedSetAcc",
        "accuracyk",
        {},
        {"preds": seed_arrays.CLOSED_SET[0], "labels": seed_arrays.CLOSED_SET[1]},
        {"accuracy": 0.2},
    ),
    Golden(
        "the card of KevinSpaghetti/accuracyk, which rounds it to 0.6",
        "accuracyk",
        {},
        {"predictions": GUESSES, "references": [3, 5, 0]},
        {"accuracy": 2 / 3},
    ),
    Golden(
        "the card of KevinSpaghetti/accuracyk",
        "accuracyk",
        {},
        {"predictions": np.asarray(GUESSES), "references": [3, 4, 0]},
        {"accuracy": 1.0},
    ),
    Golden(
        "the card of KevinSpaghetti/accuracyk, accuracy at 1",
        "accuracyk",
        {},
        {"predictions": [[3], [8], [1]], "references": [3, 4, 0]},
        {"accuracy": 1 / 3},
    ),
    Golden(
        "XCurve's documentation, AUTKC",
        "autkc",
        {"k_list": (1, 3), "percent": True},
        {"y_pred": seed_arrays.AUTKC[1], "y_true": seed_arrays.AUTKC[0]},
        {"autkc@1": 50.0, "autkc@3": 63.3333},
        within=5e-5,
    ),
    Golden(
        "XCurve's documentation, MacroF, which pools",
        "micro_open_f",
        {"t_list": seed_arrays.T_LIST},
        open_set(seed_arrays.MACRO_F),
        {
            "micro_open_f": max(seed_arrays.MACRO_F_PRINTED),
            "micro_open_f_threshold": 0.4,
            "micro_open_f_curve": seed_arrays.MACRO_F_PRINTED,
        },
    ),
    Golden(
        "XCurve's documentation, MicroF, which averages over classes",
        "macro_open_f",
        {"t_list": seed_arrays.T_LIST},
        open_set(seed_arrays.MICRO_F),
        {
            "macro_open_f": max(seed_arrays.MICRO_F_PRINTED),
            "macro_open_f_threshold": 2.0,
            "macro_open_f_curve": seed_arrays.MICRO_F_PRINTED,
        },
    ),
    Golden(
        "decisions among K + 1 classes, counted by hand from the formulas of ADB, OVANet and ISSU",
        "macro_open_f",
        {"threshold": 0.5, "decisions": True},
        K_PLUS_1,
        {
            "macro_open_f": 7 / 12,
            "accuracy(K+1)": 5 / 8,
            "f1(known)": 7 / 12,
            "f1(unknown)": 2 / 3,
            "f1(K+1)": 11 / 18,
            "os*": 7 / 12,
            "unk": 2 / 3,
            "hos": 28 / 45,
            "os": 11 / 18,
            "open_miou": 5 / 12,
        },
    ),
    Golden("the same decisions, pooled", "micro_open_f", {"t_list": 0.5}, K_PLUS_1, {"micro_open_f": 3 / 5}),
    Golden(
        "XCurve's documentation, OpenAUC",
        "openauc",
        {},
        dict(
            zip(
                ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels"),
                seed_arrays.OPENAUC,
            )
        ),
        {"openauc": 0.04999999999999999},
    ),
    Golden(
        "XCurve's documentation, Acc_At_TPR",
        "openauc",
        {},
        {**OF_KNOWN, "open_scores": seed_arrays.ACC_AT_TPR[0], "open_labels": seed_arrays.ACC_AT_TPR[1]},
        {"open_set_accuracy@tpr95": 0.7},
    ),
    Golden(
        "XCurve's documentation, AUROC, of OpenAUC",
        "openauc",
        {},
        {**OF_KNOWN, "open_scores": seed_arrays.AUROC[0], "open_labels": seed_arrays.AUROC[1]},
        {"open_set_auroc": 0.523809523809524},
    ),
    Golden(
        "XCurve's documentation, AUROC",
        "ood_bench",
        {},
        {"scores": seed_arrays.AUROC[0], "labels": seed_arrays.AUROC[1]},
        {"auroc": 0.523809523809524},
    ),
    Golden(
        "oodeel's documentation, bench_metrics",
        "ood_bench",
        {},
        {"predictions": ([0.1, 0.2, 0.3], [0.7, 0.9])},
        {"auroc": 1.0, "fpr95tpr": 0.0},
    ),
    Golden(
        "OpenOOD 3c35632, compute_all_metrics",
        "ood_bench",
        {"metrics": ["fpr95tpr", "auroc", "aupr_in_trapezoid", "aupr_out_trapezoid"]},
        {"predictions": -CONFIDENCE, "references": (CLASSES < 0).astype(int)},
        {
            "fpr95tpr": 0.6666666666666666,
            "auroc": 0.7333333333333334,
            "aupr_in_trapezoid": 0.7919312169312169,
            "aupr_out_trapezoid": 0.6905555555555555,
        },
    ),
    Golden(
        "OpenOOD 3c35632, and pytorch-ood 0.4.0, OODMetrics",
        "ood_bench",
        {"metrics": ["fpr95tpr", "auroc", "aupr_in_trapezoid", "aupr_out_trapezoid"]},
        {"predictions": ([-0.9, -0.8, -0.7, -0.3], [-0.6, -0.4, -0.2])},
        {"fpr95tpr": 0.25, "auroc": 5 / 6, "aupr_in_trapezoid": 0.908333, "aupr_out_trapezoid": 0.763889},
        within=5e-7,
    ),
    Golden(
        "OpenOOD 3c35632, accuracy, of OpenAUC",
        "openauc",
        {},
        {"predictions": [0, 1, 2, 0, 2, 1, 0, 0, 0, 0, 0], "references": CLASSES, "open_scores": -CONFIDENCE},
        {"closed_set_accuracy": 0.6666666666666666, "open_set_auroc": 0.7333333333333334},
    ),
    Golden(
        "scikit-learn 1.9.1, roc_auc_score with max_fpr, and by hand",
        "ood_bench",
        {"metrics": ["eer", "pauroc@fpr25", "pauroc@fpr25_mcclish"]},
        POSITIVE_FIRST,
        {"eer": 1 / 4, "pauroc@fpr25": 2 / 3, "pauroc@fpr25_mcclish": 17 / 21},
    ),
    Golden(
        "selective risk by its definition (Geifman and El-Yaniv; Traub et al.), in fractions",
        "ood_bench",
        {"metrics": ["aurc", "e_aurc", "auarc", "augrc", "prr"]},
        {"predictions": [0.1, 0.2, 0.3, 0.4, 0.5], "references": [0, 0, 1, 0, 1]},
        {"aurc": 59 / 300, "e_aurc": 1 / 15, "auarc": 241 / 300, "augrc": 3 / 25, "prr": 61 / 81},
    ),
    Golden(
        "OW-DLN's guide, three boxes",
        "openset_detection",
        {"known_classes": [0, 1, 2], "unknown_class_id": 999},
        {
            "predictions": [[[10, 10, 50, 50, 0.9, 0], [60, 60, 100, 100, 0.8, 999], [110, 110, 150, 150, 0.7, 1]]],
            "ground_truth": [[[10, 10, 50, 50, 0], [60, 60, 100, 100, 5], [110, 110, 150, 150, 1]]],
        },
        {"U-Recall": 1.0, "WI": 0.0, "A-OSE": 0.0},
    ),
    Golden(
        "OWOD 23890f1, voc_eval and compute_WI_at_many_recall_level",
        "openset_detection",
        OWOD,
        BOXES,
        {
            "mAP": (0.6620535714285714 + 0.5833333333333333) / 2,
            "U-AP": 0.5486111111111112,
            "U-Recall": 0.8333333333333334,
            "Precision(U)": 0.5,
            "Precision(K)": (0.5 + 0.46153846153846156) / 2,
            "Recall(K)": 1.0,
            "A-OSE(detections)": 4,
            "total_unknown": 6,
            "WI(OWOD)": [
                *(0.0, 0.0, 0.125, 0.09090909090909091, 0.07692307692307693, 0.11764705882352941, 0.10526315789473684),
                *(0.1, 0.09090909090909091),
            ],
        },
    ),
    Golden(
        "OWOD 23890f1, voc_eval with use_07_metric",
        "openset_detection",
        {**OWOD, "average_precision": "11-point"},
        BOXES,
        {"mAP": (0.6811688311688312 + 0.5909090909090909) / 2, "U-AP": 0.5378787878787878},
    ),
    Golden(
        "pycocotools 2.0.11, average recall of unknown objects, without classes",
        "openset_detection",
        {"known_classes": [0, 1], "unknown_class_id": 9, "recall_budgets": [1, 2, 10], "budget": "all"},
        {**BOXES, "references": [[row for row in image if row[4] == 7] for image in OBJECTS]},
        {"AR@1": 0.0, "AR@2": 0.21666666666666665, "AR@10": 0.55},
    ),
    Golden(
        SMIYC,
        "anomaly_suite",
        COMPONENTS,
        TWO_IMAGES,
        {"siou": 0.7083333333333334, "ppv": 0.5714285714285714, "segment_f1": 0.5524334251606979},
    ),
    Golden(
        f"{SMIYC}, least sizes of 2 and 3",
        "anomaly_suite",
        {**COMPONENTS, "min_predicted": 2, "min_object": 3},
        TWO_IMAGES,
        {"siou": 0.25, "ppv": 0.5, "segment_f1": 0.2727272727272727},
    ),
    Golden(
        f"{SMIYC}, two objects",
        "anomaly_suite",
        COMPONENTS,
        TWO_RUNS,
        {"siou": 0.75, "ppv": 0.8333333333333333, "segment_f1": 0.9090909090909091},
    ),
    Golden(
        "scikit-learn 1.9.1, of pixels",
        "anomaly_suite",
        {"levels": "pixel", "ignore_value": 255, "points": "fpr95tpr"},
        TWO_IMAGES,
        {
            "pixel_auroc": 0.7512820512820514,
            "pixel_ap": 0.5752534287418009,
            "pixel_aupr": 0.6864612132053992,
            "pixel_f1_max": 0.64,
            "pixel_fpr95tpr": 1.0,
        },
    ),
    Golden(
        "MVTec AD's evaluation, compute_pro and trapezoid, in float32 (that of MVTec 3D-AD has fewer thresholds)",
        "anomaly_suite",
        LIMITS,
        PIXELS,
        {"aupro@0.05": 0.1851851851851852, "aupro@0.3": 0.3892280519652513, "aupro@1.0": 0.6837606743943911},
        within=1e-8,
    ),
    Golden(
        "MVTec LOCO AD's evaluation, mean sPRO and get_auc_for_max_fpr at every threshold",
        "anomaly_suite",
        LIMITS,
        {"predictions": MAPS, "references": SATURATED},
        {"auspro@0.05": 0.3333333333333333, "auspro@0.3": 0.6034798534798536, "auspro@1.0": 0.8122710622710623},
    ),
    *(
        Golden(
            f"aupimo 188ec86, aupimo_scores from {low} to {high}, with a threshold at every score",
            "anomaly_suite",
            {"levels": "pixel", "pimo_bounds": (low, high)},
            PIXELS,
            {"aupimo": value},
        )
        for low, high, value in ((1 / 36, 1 / 2, 0.40507421954916845), (1 / 12, 2 / 3, 0.5300010132247384))
    ),
]


@pytest.mark.parametrize("golden", TABLE, ids=[golden.source for golden in TABLE])
def test_golden(golden: Golden, load: Load) -> None:
    results = load(golden.metric, **golden.options).compute(**golden.columns)
    assert {key: results[key] for key in golden.results} == {
        key: pytest.approx(value, rel=0, abs=golden.within) for key, value in golden.results.items()
    }


def test_map_of_coco() -> None:
    """pycocotools 2.0.11, COCOeval with its own parameters, over the known classes."""

    def images(tables: list[Any], names: dict[str, slice | int]) -> list[dict[str, np.ndarray]]:
        return [{name: np.asarray(table)[:, part] for name, part in names.items()} for table in tables]

    numbers = [*range(len(OBJECTS))]
    objects = images(OBJECTS, {"boxes": slice(4), "labels": 4})
    dataset = Dataset([*map(str, numbers)], objects, {0: "a", 1: "b", 7: "c"}, [None] * 6, [None] * 6, numbers)
    predictions = images(PREDICTIONS, {"boxes": slice(4), "scores": 4, "labels": 5})
    for boxes in predictions:
        boxes["labels"] = boxes["labels"].astype(np.int64)
    results = standard_metrics(Detections(dataset, predictions), [0, 1])
    assert results["mAP50"] == pytest.approx(0.6238625648279114, abs=1e-12)
    assert results["mAP50-95"] == pytest.approx(0.3099935172088637, abs=1e-12)
