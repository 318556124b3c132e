"""The collection's metrics as torchmetrics: its verbs and a MetricCollection. Two processes are in test_torchrun.py."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.loading import metric_class
from openworld_metrics.written.results import flat
from tests import cases
from tests.splitting import length, rows, split_options

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")
from openworld_metrics.integrations.torchmetrics import as_torchmetrics  # noqa: E402

Load = Callable[..., Any]
RNG = np.random.default_rng(5)
LOGITS, LABELS = RNG.normal(size=(20, 3)), RNG.integers(-1, 3, 20)
COLUMNS = dict(predictions=LOGITS, references=LABELS, open_scores=-LOGITS.max(axis=1))
KNOWN = {name: column[LABELS >= 0] for name, column in COLUMNS.items()}


def part(start: int, stop: int) -> dict[str, Any]:
    return rows(COLUMNS, np.arange(start, stop))


def numbers(results: Any) -> dict[str, float]:
    assert all(x.dtype == torch.float64 and x.ndim == 0 for x in results.values())
    return {name: x.item() for name, x in results.items()}


@pytest.mark.parametrize("form", ["class", "evaluate"])
@pytest.mark.parametrize("name", om.METRICS)
def test_batches_are_as_direct(name: str, form: str, load: Load) -> None:
    columns, options = cases.draw(name, 6)
    at_load, at_compute = split_options(name, options)
    options = {**at_load, **at_compute}
    make = metric_class(name) if form == "class" else lambda **options: load(name, **options)
    metric = as_torchmetrics(make(**options))
    n = length(columns)
    expected = flat(make(**options).compute(**columns))
    for _ in range(2):
        metric.update(**rows(columns, np.arange(n // 3)))
        metric.update(**rows(columns, np.arange(n // 3, n)))
        assert metric.update_count == 2
        assert numbers(metric.compute()) == expected
        metric._computed = None
        assert numbers(metric.compute()) == expected
        metric.reset()
        assert not metric.update_called


def test_compute_reorders_nothing() -> None:
    columns, _ = cases.draw("anomaly_suite", 6)
    metric = as_torchmetrics("anomaly_suite")
    metric.update(**columns)
    first = metric.metric_state
    metric.compute()
    assert all(np.array_equal(array, metric.metric_state[name]) for name, array in first.items())


def test_forward_gives_the_batch_and_adds_it() -> None:
    metric = as_torchmetrics("openauc")
    for start in 0, 10:
        assert numbers(metric(**part(start, start + 10))) == flat(om.OpenAUC().compute(**part(start, start + 10)))
    with pytest.raises(ValueError, match="expected"):
        metric(**KNOWN)
    assert numbers(metric.compute()) == flat(om.OpenAUC().compute(**COLUMNS))


def test_one_result_and_columns_by_position() -> None:
    metric = as_torchmetrics("openauc", result="open_set_auroc")
    metric.update(*COLUMNS.values())
    value = metric.compute()
    assert value.shape == ()
    assert value.item() == om.OpenAUC().compute(**COLUMNS)["open_set_auroc"]
    other = as_torchmetrics("openauc", result="auc")
    other.update(**COLUMNS)
    with pytest.raises(ValueError, match=r"result: expected one of openauc, .*, got 'auc'"):
        other.compute()


def test_the_given_metric_stays_untouched() -> None:
    given = om.OpenAUC(tpr=0.5)
    given.add_batch(**part(0, 5))
    metric = as_torchmetrics(given)
    metric.update(**COLUMNS)
    assert numbers(metric.compute()) == flat(om.OpenAUC(tpr=0.5).compute(**COLUMNS))
    metric.reset()
    assert len(given) == 5


def test_copies_pickles_and_merges() -> None:
    metric = as_torchmetrics("openauc")
    metric.update(**part(0, 8))
    other = pickle.loads(pickle.dumps(metric.clone()))
    other.reset()
    other.update(**part(8, 20))
    expected = flat(om.OpenAUC().compute(**COLUMNS))
    third = as_torchmetrics("openauc")
    third.merge_state(metric)
    third.merge_state(other.metric_state)
    metric.merge_state(other)
    assert numbers(metric.compute()) == numbers(third.compute()) == expected
    assert third.state_dict() == {}


def collection() -> Any:
    known = torchmetrics.MeanSquaredError()
    topk = om.AccuracyK(k_list=1, ignore_unknown=True)
    ours = {"open": as_torchmetrics("openauc"), "top": as_torchmetrics(topk), "f": as_torchmetrics("macro_open_f")}
    one = {"auroc": as_torchmetrics("openauc", result="open_set_auroc")}
    return torchmetrics.MetricCollection({"mse": known, **ours, **one}, prefix="val/")


def of_collection(columns: dict[str, Any]) -> dict[str, float]:
    two = {"predictions": columns["predictions"], "references": columns["references"]}
    results = {
        **flat(om.OpenAUC().compute(**columns)),
        **flat(om.AccuracyK(k_list=1, ignore_unknown=True).compute(**two)),
        **flat(om.MacroOpenF().compute(**columns)),
    }
    return flat({**results, "auroc": results["open_set_auroc"]}, "val")


def test_in_a_collection() -> None:
    metrics = collection()
    same = torch.ones(3)
    for _ in range(2):
        for start in 0, 10:
            metrics.update(**part(start, start + 10), preds=same, target=same)
        results = {name: float(x) for name, x in metrics.compute().items()}
        assert results == {**of_collection(COLUMNS), "val/mse": 0.0}
        metrics.reset()
    assert len(metrics.clone()["open"].metric) == 0
    assert set(metrics(**COLUMNS, preds=same, target=same)) == {*results}


def test_the_names_of_torchmetrics() -> None:
    """A collection of ours and theirs takes preds and target."""
    scores, labels = torch.tensor([0.1, 0.6, 0.4, 0.9]), torch.tensor([0, 0, 1, 1])
    ours = as_torchmetrics("ood_bench", result="auroc")
    metrics = torchmetrics.MetricCollection({"ours": ours, "theirs": torchmetrics.AUROC(task="binary")})
    metrics.update(preds=scores, target=labels)
    assert {name: float(x) for name, x in metrics.compute().items()} == {"ours": 0.75, "theirs": 0.75}
    ours = as_torchmetrics("ood_bench", result="auroc")
    ours.update(scores, target=labels)
    assert float(ours.compute()) == 0.75
    named = torchmetrics.MetricCollection({"ours": as_torchmetrics("ood_bench", result="auroc")})
    named.update(predictions=scores, references=labels, preds=-scores, target=labels)
    assert float(named.compute()["ours"]) == 0.75


def test_a_run_that_lacks_a_class() -> None:
    known, unknown = ([0.1, 0.6], [0, 0]), ([0.4, 0.9], [1, 1])
    strict = as_torchmetrics("ood_bench")
    strict.update(*known)
    with pytest.raises(ValueError, match="expected samples of both classes"):
        strict.compute()
    one = as_torchmetrics("ood_bench", result="auroc", without_class="nan")
    several = as_torchmetrics("ood_bench", without_class="nan")
    for metric in (one, several):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            for _ in range(2):
                metric.reset()
                metric.update(*known)
                metric.compute()
        assert [str(warning.message) for warning in said] == [
            "ood_bench: references: expected samples of both classes, got 0 unknown (OOD, anomalous) and 2 known "
            "(in-distribution, normal); results are NaN"
        ]
        metric.update(*unknown)
    assert float(one.compute()) == 0.75
    one.reset()
    one.update(*known)
    assert one.compute().isnan()
    assert one(*known).isnan()
    assert numbers(several.compute()) == {"auroc": 0.75, "fpr95tpr": 0.5}
    several.reset()
    several.update(*known)
    assert all(x.isnan() for x in several.compute().values())
    with pytest.raises(ValueError, match="predictions: "):
        one.update([float("nan")], [0])
    with pytest.raises(ValueError, match="without_class: expected one of 'raise', 'nan', got 'skip'"):
        as_torchmetrics("ood_bench", without_class="skip")


@pytest.mark.parametrize("name", om.METRICS)
def test_the_direction_of_a_result(name: str) -> None:
    """As the results themselves know it, before there are any."""
    for seed in range(3):
        columns, options = cases.draw(name, seed)
        summary = metric_class(name)(**options).summary(**columns)
        for key, kind in summary.kinds().items():
            assert as_torchmetrics(name, result=key).higher_is_better == kind.get("higher"), key
    assert as_torchmetrics(name).higher_is_better is None


@pytest.mark.parametrize("form", ["one", "collection"])
def test_tracker(form: str) -> None:
    """The best step of a result, in its own direction."""
    ours = {key: as_torchmetrics("ood_bench", result=key) for key in ("auroc", "fpr95tpr")}
    tracked = torchmetrics.MetricCollection(ours) if form == "collection" else ours["fpr95tpr"]
    tracker = torchmetrics.MetricTracker(tracked)
    for scores in ([0.1, 0.6, 0.4, 0.9], [0.1, 0.2, 0.4, 0.9], [0.5, 0.5, 0.4, 0.9]):
        tracker.increment()
        tracker.update(predictions=scores, references=[0, 0, 1, 1])
    best, step = tracker.best_metric(return_step=True)
    expected = {"auroc": 1.0, "fpr95tpr": 0.0}, {"auroc": 1, "fpr95tpr": 1}
    assert (best, step) == (expected if form == "collection" else (0.0, 1))
    with pytest.raises(AttributeError, match="provide the `maximize` argument"):
        torchmetrics.MetricTracker(as_torchmetrics("ood_bench"))  # of several numbers there is no best step


def test_tensors_on_a_device() -> None:
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    metric = as_torchmetrics("openauc")
    with EmulatedCuda():
        for start in 0, 10:
            metric.update(
                **{name: EmulatedCudaTensor(torch.from_numpy(x)) for name, x in part(start, start + 10).items()}
            )
            results = numbers(metric.compute())
    assert results == flat(om.OpenAUC().compute(**COLUMNS))


def test_errors() -> None:
    with pytest.raises(ValueError, match=r"name: expected one of accuracyk, .*, got 'auroc'"):
        as_torchmetrics("auroc")
    with pytest.raises(TypeError, match="metric: expected one of this collection or its name, got <built-in"):
        as_torchmetrics(max)
    with pytest.raises(ValueError, match="dist_sync_on_step: expected False"):
        as_torchmetrics("openauc", dist_sync_on_step=True)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: `tprs`"):
        as_torchmetrics("openauc", tprs=0.5)
    metric = as_torchmetrics("accuracyk")
    with pytest.raises(TypeError, match="accuracyk takes 2 columns, predictions, references; got 3"):
        metric.update(LOGITS, LABELS, LABELS)
    with pytest.raises(TypeError, match="predictions: expected once, got it by position and by name"):
        metric.update(LOGITS, predictions=LOGITS)
    assert len(metric.metric) == 0


def test_a_rate_over_no_object_is_nan_or_refused() -> None:
    columns = dict(predictions=[[[0, 0, 4, 4, 0.9, 0]]], references=[[[0, 0, 4, 4, 0]]])
    for one, error in (("U-Recall", "got 'U-Recall'; a rate over no object is left out"), ("x", "got 'x'$")):
        metric = as_torchmetrics("openset_detection", result=one, known_classes=[0])
        metric.update(**columns)
        with pytest.raises(ValueError, match=error):
            metric.compute()
    metric = as_torchmetrics("openset_detection", result="U-Recall", without_class="nan", known_classes=[0])
    metric.update(**columns)
    assert torch.isnan(metric.compute())
    metric.update(predictions=[[[0, 0, 4, 4, 0.9, -1]]], references=[[[0, 0, 4, 4, 5]]])
    assert metric.compute() == 1
