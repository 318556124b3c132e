"""Bad input: a clear error that names the column, and nothing lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Load = Callable[..., Any]
NAN = float("nan")

TOPK = dict(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
IDS = dict(predictions=[[0, 7, 1], [0, 2, 9]], references=[7, 5])
OPEN = dict(
    predictions=[[0.1, 0.7], [0.5, 0.3], [0.4, 0.6], [0.2, 0.8]],
    references=[1, 0, 0, -1],
    open_scores=[0.1, 0.4, 0.2, 0.3],
)
OOD = dict(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
BOXES = dict(predictions=[[[0, 0, 2, 2, 0.9, 0]]], references=[[[0, 0, 2, 2, 0]]])
MAPS = dict(predictions=[[[0.1, 0.9]], [[0.2, 0.3]]], references=[[[0, 1]], [[0, 0]]])
GOOD: dict[str, dict[str, Any]] = {
    "accuracyk": TOPK,
    "autkc": TOPK,
    "macro_open_f": OPEN,
    "micro_open_f": OPEN,
    "openauc": OPEN,
    "ood_bench": OOD,
    "openset_detection": BOXES,
    "anomaly_suite": MAPS,
}
REQUIRED = {"openset_detection": {"known_classes": [0]}}
FOUR = dict(
    open_set_pred_known=[0.1, 0.2],
    open_set_pred_unknown=[0.3],
    close_set_pred_class=[0, 1],
    close_set_labels=[0, 0],
)

BOOLEANS = (
    dict(predictions=[[True, False]] * 2, references=[0, 1]),
    r"predictions: expected rows of scores or class ids, got booleans; pass scores as floats",
    TypeError,
)
OPEN_BOOLEANS = ({**BOOLEANS[0], "predictions": [[True, False]] * 4, "references": OPEN["references"]}, *BOOLEANS[1:])

# by metric: what differs from its good columns, the message, and the exception, by default ValueError
BAD_COLUMNS: dict[str, list[Any]] = {
    "accuracyk": [
        BOOLEANS,
        (dict(predictions=[[0.1, NAN, 0.2], [0.5, 0.3, 0.2]]), r"predictions: .*NaN.*\(0, 1\)"),
        (dict(references=[1]), "one length, got 2 predictions, 1 references"),
        (dict(predictions=[[0.1, 0.2], [0.3]]), "predictions: expected rows of one length"),
        (dict(references=[1, 3]), "references: expected class ids below 3, got 3"),
        (dict(references=[1, -1]), "references: .*at least 0, got -1; ignore_unknown=True"),
        (dict(references=[1, 0.5]), "references: expected integers, got 0.5"),
        (dict(references=[1, NAN]), "references: expected no NaN"),
        (dict(references=["True", "False"]), "references: expected numbers, got .*'True'", TypeError),
        (dict(references=[1, None]), "references: expected numbers, got None at position 1", TypeError),
        (dict(references=[[1], [1]]), r"references: expected integers of shape \(N,\), got .*\(2, 1\)"),
        (dict(predictions=[1, 2]), r"predictions: expected .*got shape \(2,\).*predictions\[:, None\]"),
        (dict(predictions=[1, 1], references=[[0, 1], [1, 0]]), "predictions and references are swapped"),
        (dict(predictions=np.zeros((2, 3, 1))), r"predictions: expected .*\(2, 3, 1\)"),
        (dict(predictions=np.zeros((2, 0))), r"predictions: expected at least one column"),
        (dict(predictions=np.zeros((2, 3), dtype=complex)), "predictions: expected numbers, got complex", TypeError),
        (dict(predictions="scores.npy"), "predictions: expected an array, got str", TypeError),
        (dict(predictions={"a": 1}), "predictions: expected an array, got dict", TypeError),
    ],
    "autkc": [
        BOOLEANS,
        (dict(predictions=[[0, 1, 2], [2, 1, 0]]), "predictions: expected .* floating scores, got int64 class ids"),
    ],
    "macro_open_f": [
        OPEN_BOOLEANS,
        (dict(predictions=[[0.1, 0.2], [NAN, 0.1], [0.1, 0.2], [0.1, 0.2]]), "predictions: .*NaN"),
        (dict(open_scores=[0.1, NAN, 0.1, 0.2]), "open_scores: expected no NaN, got NaN at position 1"),
        (dict(open_scores=[0.1, 0.2]), "got 4 predictions, 4 references, 2 open_scores"),
        (dict(open_scores=[[0.1]] * 4), r"open_scores: expected scores of shape \(N,\), got shape \(4, 1\)"),
        (dict(references=[1, 0, 2, -1]), "references: expected class ids below 2, got 2"),
        (dict(open_labels=[0, 0, 0, 2]), "open_labels: expected 0 or 1, got 2"),
        (dict(open_labels=[0, 0, 0, 0]), "references: .*at least 0 where open_labels says known, got -1"),
        (dict(open_labels=[0, 0]), "2 open_labels"),
        (dict(predictions=[0, 1, 0, -1]), "predictions: expected class ids of at least 0, got -1"),
        (dict(predictions=[[0.1]] * 4), r"predictions: expected \(N, C\) scores with C > 1"),
        (dict(predictions=[0.5, 1.0, 0.0, 0.0]), "predictions: expected integers, got 0.5"),
    ],
    "micro_open_f": [
        OPEN_BOOLEANS,
        (dict(open_scores=None), "open_scores: micro_open_f needs the columns .*; got no open_scores", TypeError),
    ],
    "openauc": [
        OPEN_BOOLEANS,
        (dict(predictions=[0, 0, 0, 0], references=OPEN["predictions"]), "swapped"),
        (dict(open_scores=None), "open_scores: openauc needs the columns .*; got no open_scores", TypeError),
        (dict(**FOUR), "open_set_pred_known .* instead of predictions", TypeError),
    ],
    "ood_bench": [
        (dict(predictions=[0.1, NAN, 0.4, 0.9]), "predictions: expected no NaN, got NaN at position 1"),
        (dict(predictions=[[0.1], [0.6], [0.4], [0.9]]), r"predictions: .*\(N,\), got shape \(4, 1\)"),
        (dict(references=[0, 0, 1, 2]), r"references: expected 0 \(in_value\) or 1 \(out_value\), got 2"),
        (dict(references=None), "references: expected a label for each score, or predictions as a tuple", TypeError),
        (dict(predictions=OOD["references"], references=OOD["predictions"]), "predictions and references are swapped"),
        (dict(references=[False, True, "yes", "no"]), "references: expected numbers", TypeError),
    ],
    "openset_detection": [
        (dict(predictions=[[[0, 0, 2, 2, 0.9]]]), r"predictions\[0\]: expected rows of 6 numbers, got shape \(1, 5\)"),
        (dict(predictions=[np.asarray("x")]), r"predictions\[0\]: expected numbers, got 'x'", TypeError),
        (dict(predictions=BOXES["references"], references=BOXES["predictions"]), "are they swapped"),
        (dict(predictions=[[[3, 0, 2, 2, 0.9, 0]]]), r"predictions\[0\]: expected x1 ≤ x2 .*in row 0"),
        (dict(references=[[[0, 3, 2, 2, 0]]]), r"references\[0\]: expected x1 ≤ x2 and y1 ≤ y2"),
        (dict(predictions=[[[0, 0, NAN, 2, 0.9, 0]]]), r"predictions\[0\]: expected no NaN"),
        (dict(predictions=[[[0, 0, 2, 2, NAN, 0]]]), r"predictions\[0\]: expected no NaN"),
        (
            dict(predictions=[[[0, 0, 1e300, 1e300, 0.9, 0]]]),
            r"predictions\[0\]: expected a box of finite area, got .* in row 0",
        ),
        (
            dict(predictions=[[[0, 0, 2, 2, 0.9, 0.5]]]),
            r"predictions\[0\]: expected an integer class, got 0.5 in row 0",
        ),
        (dict(references=[[], []]), "one length, got 1 predictions, 2 references"),
        (dict(predictions=np.zeros((1, 6))), "predictions: expected a list with one table or dict", TypeError),
        (
            dict(predictions=[{"boxes": []}]),
            r"predictions\[0\]: expected keys boxes, scores, labels, got boxes",
            TypeError,
        ),
        (
            dict(predictions=[{"boxes": [[0, 0, 1, 1]], "scores": [], "labels": [0]}]),
            r"predictions\[0\]: expected one length, got 1 boxes, 0 scores, 1 labels",
        ),
    ],
    "anomaly_suite": [
        (dict(predictions=[[[0.1, NAN]], [[0.2, 0.3]]]), r"predictions\[0\]: expected no NaN"),
        (
            dict(predictions=[[[0.1], [0.2]], [[0.2], [0.3]]]),
            r"predictions\[0\], references\[0\]: .*\(2, 1\) and \(1, 2\)",
        ),
        (
            dict(references=[[[0, 255]], [[0, 0]]]),
            r"references\[0\]: expected a mask of 0 and 1 or booleans, got 255; binarise it, for example mask > 0",
        ),
        (dict(predictions=MAPS["references"], references=MAPS["predictions"]), r"references\[0\]: .*swapped\?"),
        (dict(predictions=[[0.1, 0.9], [0.2, 0.3]]), r"predictions\[0\], references\[0\]: expected a map \(H, W\)"),
        (dict(references=[[[0, 1]]]), "one length, got 2 predictions, 1 references"),
        (dict(image_scores=[0.1]), "2 predictions, 1 image_scores"),
        (dict(image_labels=[0, 3]), "image_labels: expected 0 or 1, got 3"),
        (
            dict(predictions=np.zeros((2, 1, 1, 2))),
            r"predictions: expected \(N, H, W\) or a list of \(H, W\), got shape \(2, 1, 1, 2\)",
        ),
    ],
}

# the same of options at compute
BAD_OPTIONS: dict[str, list[Any]] = {
    "accuracyk": [
        (dict(k_list=0), "k_list: expected an int of at least 1, got 0"),
        (dict(k_list=[1, 4]), "k_list: expected an int of at least 1 and at most 3, got 4"),
        (dict(k_list=1.0), "k_list: expected an int or a list of ints, got 1.0", TypeError),
        (dict(k_list=[1.5]), "k_list: expected an int, got 1.5", TypeError),
        (dict(k_list=[True]), "k_list: expected an int, got True", TypeError),
        (dict(k_list=[]), "k_list: expected at least one value"),
        (dict(k_list="12"), "k_list: expected an int or a list of ints", TypeError),
        (dict(k_list=1, ties="half"), "ties: expected one of 'strict', 'optimistic', 'expected', got 'half'"),
        (dict(ties="half"), "ties: expected one of 'strict', 'optimistic', 'expected', got 'half'"),
        (dict(percent="yes"), "percent: expected True or False, got 'yes'", TypeError),
        (dict(top_k=1), "accuracyk has no argument 'top_k'; it takes predictions, references, .*k_list", TypeError),
    ],
    "autkc": [
        (dict(k_list=4), "k_list: .*at most 3, got 4"),
    ],
    "macro_open_f": [
        (dict(t_list=[]), "t_list: expected at least one threshold, got none"),
        (dict(t_list=[0.1, NAN]), "t_list: expected no NaN"),
        (dict(num_classes=3), "num_classes: expected 2, the number of columns of predictions, got 3"),
        (dict(num_classes=0), "num_classes: expected an int of at least 1, got 0"),
    ],
    "openauc": [
        (dict(tpr=0), r"tpr: expected a number in \(0, 1\], got 0"),
        (dict(tpr=95), r"tpr: expected a number in \(0, 1\], got 95"),
        (dict(tpr="0.95"), r"tpr: expected a number in \(0, 1\], got '0.95'", TypeError),
    ],
    "ood_bench": [
        (
            dict(metrics=["auroc", "auc"]),
            "metrics: unknown metric 'auc'; known are auroc, .*roc_auc_score.*; that is 'auroc' here",
        ),
        (dict(metrics=["fpr0tpr"]), "metrics: unknown metric 'fpr0tpr'"),
        (dict(metrics=["fpr９５tpr"]), "metrics: unknown metric 'fpr９５tpr'"),
        (dict(metrics=["fpr101tpr"]), "metrics: unknown metric 'fpr101tpr'"),
        (dict(metrics=[print]), "metrics: unknown metric 'print'"),
        (dict(metrics=[]), "metrics: expected at least one name"),
        (dict(metrics=["f1_score"]), "threshold: expected a number, since 'f1_score' judges scores > threshold"),
        (dict(metrics=["f1_score"], threshold="0.5"), "threshold: expected a number, got '0.5'", TypeError),
        (
            dict(metrics=["f1_score"], threshold=10**400),
            "threshold: expected a number that float64 holds, got a larger one",
        ),
        (dict(step=0), "step: expected an int of at least 1, got 0"),
        (dict(in_value=1), "in_value: it was applied as batches were added; give it at load"),
        (dict(out_value="rest"), "out_value: it was applied as batches were added"),
        (dict(ignore_value=5), "ignore_value: it was applied as batches were added"),
    ],
    "openset_detection": [
        (dict(known_classes=None), "known_classes: expected a list of the known class ids, got None", TypeError),
        (dict(known_classes=[]), "known_classes: expected at least one value"),
        (dict(known_classes=[0, -1]), "known_classes: expected them without unknown_class_id, got -1"),
        (dict(known_classes=[2**53 + 1]), "known_classes: .* at most 9007199254740992, got"),
        (dict(unknown_class_id=-(2**60)), "unknown_class_id: expected an int of at least"),
        (dict(recall_level=5), r"recall_level: expected a number in \(0, 1\], got 5"),
        (dict(known_classes=["cat"]), "known_classes: expected an int, got 'cat'", TypeError),
        (dict(iou_threshold=0), r"iou_threshold: expected a number in \(0, 1\], got 0"),
        (dict(iou_threshold=1.5), r"iou_threshold: expected a number in \(0, 1\], got 1.5"),
        (dict(conf_threshold=NAN), "conf_threshold: expected a number, got nan"),
        (dict(count_background=1), "count_background: expected True or False, got 1", TypeError),
        (dict(box_format="xywh"), "box_format: it was applied as batches were added; give it at load"),
    ],
    "anomaly_suite": [
        (dict(integration_limits=[0.3, 0]), r"integration_limits: expected a number in \(0, 1\], got 0"),
        (dict(integration_limits=[]), "integration_limits: expected at least one"),
        (dict(levels="image", num_thresholds="x"), "num_thresholds: expected an int, got 'x'", TypeError),
        (dict(integration_limits="all"), "integration_limits: .* a list of numbers, got 'all'", TypeError),
        (dict(num_thresholds=1), "num_thresholds: expected an int of at least 2, got 1"),
        (dict(levels=["image", "region"]), "levels: expected one of 'image', 'pixel', got 'region'"),
        (dict(levels=[]), "levels: expected at least one"),
        (dict(image_reduction="mean"), "image_reduction: it was applied as batches were added"),
    ],
}

ONE_CLASS: dict[str, list[Any]] = {
    "openauc": [
        ({**OPEN, "references": [0, 1, 1, 1]}, "references: .* 0 unknown .* 4 known"),
        ({**OPEN, "references": [-1, -1, -1, -1]}, "references: .* 4 unknown .* 0 known"),
    ],
    "ood_bench": [
        (dict(predictions=[0.1, 0.2], references=[0, 0]), "references: expected samples of both classes, got 0"),
        (dict(predictions=([], [0.2])), "references: expected samples of both classes"),
    ],
    "anomaly_suite": [
        (dict(predictions=[[[0.1, 0.2]]], references=[[[0, 0]]]), "references: .* images, got 0 .* 1 .*levels"),
        (dict(predictions=[[[0.1, 0.2]]], references=[[[1, 0]]]), "references: .* images, got 1 .* 0 .*levels"),
        (
            dict(predictions=[[[0.1]], [[0.2]]], references=[[[0]], [[0]]], image_labels=[0, 1]),
            "pixels, got 0 .*'pixel' out of levels",
        ),
    ],
}

every_metric = pytest.mark.parametrize("name", GOOD)


def rows_of(table: dict[str, list[Any]]) -> list[tuple[Any, ...]]:
    """The rows of a table by metric, each with its exception."""
    return [(name, *row, ValueError)[:4] for name, rows in table.items() for row in rows]


def case_id(value: Any) -> str:
    if isinstance(value, dict):
        return "-".join(value)
    return value if isinstance(value, str) and value in GOOD else ""


def new(load: Load, name: str, tmp_path: Path, **options: Any) -> Any:
    return load(name, cache_dir=str(tmp_path), **{**REQUIRED.get(name, {}), **options})


def assert_no_files(folder: Path) -> None:
    assert [path for path in folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(("name", "changes", "message", "error"), rows_of(BAD_COLUMNS), ids=case_id)
def test_a_bad_batch_is_refused_and_nothing_is_lost(
    name: str, changes: dict[str, Any], message: str, error: type[Exception], load: Load, tmp_path: Path
) -> None:
    expected = new(load, name, tmp_path).compute(**GOOD[name])
    metric = new(load, name, tmp_path)
    metric.add_batch(**GOOD[name])
    bad = {key: value for key, value in {**GOOD[name], **changes}.items() if value is not None}
    with pytest.raises(error, match=message):
        metric.add_batch(**bad)
    with pytest.raises(error, match=message):
        metric.compute(**bad)
    assert metric.compute() == expected
    assert_no_files(tmp_path)


@pytest.mark.parametrize(("name", "options", "message", "error"), rows_of(BAD_OPTIONS), ids=case_id)
def test_a_bad_option_is_refused_and_nothing_is_lost(
    name: str, options: dict[str, Any], message: str, error: type[Exception], load: Load, tmp_path: Path
) -> None:
    expected = new(load, name, tmp_path).compute(**GOOD[name])
    metric = new(load, name, tmp_path)
    metric.add_batch(**GOOD[name])
    with pytest.raises(error, match=message):
        metric.compute(**options)
    assert metric.compute() == expected
    assert_no_files(tmp_path)


@pytest.mark.parametrize(("name", "columns", "message"), [row[:3] for row in rows_of(ONE_CLASS)])
def test_one_class_where_two_are_needed(
    name: str, columns: dict[str, Any], message: str, load: Load, tmp_path: Path
) -> None:
    metric = new(load, name, tmp_path)
    metric.add_batch(**columns)
    with pytest.raises(ValueError, match=message):
        metric.compute()
    assert len(metric) > 0
    metric.add_batch(**GOOD[name])
    metric.compute()


@every_metric
def test_no_samples(name: str, load: Load, tmp_path: Path) -> None:
    metric = new(load, name, tmp_path)
    with pytest.raises(ValueError, match="expected at least one sample, got none"):
        metric.compute()
    empty: dict[str, list[Any]] = {key: [] for key in GOOD[name]}
    with pytest.raises(ValueError, match="expected at least one sample, got none"):
        metric.compute(**empty)
    metric.add_batch(**empty)
    metric.add_batch(**GOOD[name])
    metric.add_batch(**empty)
    assert metric.compute() == new(load, name, tmp_path).compute(**GOOD[name])


@every_metric
def test_missing_columns(name: str, load: Load, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="references"):
        new(load, name, tmp_path).compute(predictions=GOOD[name]["predictions"])
    with pytest.raises(TypeError, match="predictions"):
        new(load, name, tmp_path).compute(references=GOOD[name]["references"])


@every_metric
def test_unknown_names(name: str, load: Load, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"{name} has no argument 'colour'; it takes "):
        new(load, name, tmp_path, colour="red")
    with pytest.raises(TypeError, match=f"{name} has no argument 'colour'; it takes "):
        new(load, name, tmp_path).compute(**GOOD[name], colour="red")
    with pytest.raises(TypeError, match=f"{name} has no argument 'colour'; it takes "):
        new(load, name, tmp_path).add_batch(**GOOD[name], colour="red")


@every_metric
def test_options_and_columns_in_the_wrong_place(name: str, load: Load, tmp_path: Path) -> None:
    metric = new(load, name, tmp_path)
    for option, value in metric.options.items():
        with pytest.raises(TypeError, match=f"{option}: it is an option; give it at load or to compute"):
            metric.add_batch(**GOOD[name], **{option: value})
    for alias in metric.aliases:
        with pytest.raises(TypeError, match=f"was given twice, once as {alias}"):
            metric.compute(**GOOD[name], **{alias: [0]})


@every_metric
def test_columns_of_siblings_are_ignored(name: str, load: Load, tmp_path: Path) -> None:
    metric = new(load, name, tmp_path)
    n = len(GOOD[name]["references"])
    siblings = {"open_scores": [0.0] * n, "image_scores": [0.0] * n}
    own = {key: value for key, value in siblings.items() if key not in metric.columns}
    assert metric.compute(**GOOD[name], **own) == new(load, name, tmp_path).compute(**GOOD[name])


def test_ranked_ids_out_of_reach(load: Load, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"k_list: .*at most 3, got 5"):
        new(load, "accuracyk", tmp_path).compute(**IDS, k_list=5)


def test_a_failed_compute_leaves_the_state_as_it_was(load: Load, tmp_path: Path) -> None:
    metric = new(load, "anomaly_suite", tmp_path)
    metric.add_batch(predictions=[[[0.9, 0.1, 0.5]], [[0.3, 0.2, 0.8]]], references=[[[0, 0, 1]], [[0, 0, 0]]])
    before = metric.state()
    with pytest.raises(ValueError, match="num_thresholds"):
        metric.compute(num_thresholds=1)
    for name, array in metric.state().items():
        np.testing.assert_array_equal(array, before[name])


def test_batches_that_do_not_fit_each_other(load: Load, tmp_path: Path) -> None:
    metric = new(load, "accuracyk", tmp_path)
    metric.add_batch(**TOPK)
    with pytest.raises(ValueError, match="predictions_width: expected 3 as in the batches before, got 2"):
        metric.add_batch(predictions=[[0.1, 0.2]], references=[0])
    with pytest.raises(ValueError, match="predictions_are_scores: expected True as in the batches before, got False"):
        metric.add_batch(**IDS)
    other = new(load, "ood_bench", tmp_path)
    other.add_batch(**OOD)
    for state, message in [
        (other.state(), "state: expected one of accuracyk, got one of ood_bench"),
        ({"above": [0]}, "state: expected one of accuracyk, got one of no metric"),
        ({"above": [0], "metric": "accuracyk"}, "expected the arrays above, tied"),
    ]:
        with pytest.raises(ValueError, match=message):
            metric.merge(state)
    with pytest.raises(TypeError, match="state: expected the dict that state"):
        metric.merge(None)
    assert metric.compute() == new(load, "accuracyk", tmp_path).compute(**TOPK)


def test_image_reduction_beyond_the_pixels(load: Load, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="image_reduction: expected an int of at least 1 and at most 2, got 3"):
        new(load, "anomaly_suite", tmp_path, image_reduction=3).compute(**MAPS)
    with pytest.raises(ValueError, match="image_reduction: expected 'max', 'mean' or an int, got 'median'"):
        new(load, "anomaly_suite", tmp_path, image_reduction="median").compute(**MAPS)


def test_four_arrays_of_openauc(load: Load, tmp_path: Path) -> None:
    metric = new(load, "openauc", tmp_path)
    with pytest.raises(ValueError, match="2 open_set_pred_known, 1 close_set_pred_class, 2 close_set_labels"):
        metric.compute(**{**FOUR, "close_set_pred_class": [0]})
    with pytest.raises(TypeError, match="open_set_pred_unknown: expected an array, got None"):
        metric.compute(**{**FOUR, "open_set_pred_unknown": None})
    with pytest.raises(ValueError, match="close_set_labels: expected class ids of at least 0, got -1"):
        metric.compute(**{**FOUR, "close_set_labels": [0, -1]})


def test_unknown_samples_after_ignoring_them(load: Load, tmp_path: Path) -> None:
    metric = new(load, "accuracyk", tmp_path, ignore_unknown=True)
    metric.add_batch(predictions=[[0.1, 0.7]], references=[-1])
    with pytest.raises(ValueError, match="expected at least one known sample"):
        metric.compute()
    metric.add_batch(predictions=[[0.1, 0.7]], references=[1])
    with pytest.raises(ValueError, match="unknown samples were added under ignore_unknown=True"):
        metric.compute(ignore_unknown=False)
    assert metric.compute() == {"accuracy": 1.0}
