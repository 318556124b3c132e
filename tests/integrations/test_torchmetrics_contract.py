"""Each public method of torchmetrics' Metric, and each of its wrappers, beside BinaryAUROC."""

from __future__ import annotations

import copy
import io
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")
from torchmetrics import wrappers  # noqa: E402
from torchmetrics.classification import BinaryAUROC  # noqa: E402

from openworld_metrics.integrations.torchmetrics import as_torchmetrics  # noqa: E402

RNG = np.random.default_rng(3)
BATCHES = [(torch.from_numpy(RNG.permutation(16) / 16), torch.tensor([0, 1] * 8)) for _ in range(4)]
SCORES, LABELS = (torch.cat(column) for column in zip(*BATCHES))


def ours() -> Any:
    return as_torchmetrics("ood_bench", result="auroc", metrics=["auroc"])


def fed(metric: Any, *batches: int) -> Any:
    for i in batches:
        metric.update(*BATCHES[i])
    return metric


def saved_and_loaded(metric: Any) -> Any:
    """A checkpoint in the middle of an epoch."""
    fed(metric, 0, 1).persistent(True)
    file = io.BytesIO()
    torch.save(metric.state_dict(), file)
    file.seek(0)
    other = metric.clone()
    other.reset()
    other.load_state_dict(torch.load(file, weights_only=True))
    return fed(other, 2, 3).compute()


def not_saved(metric: Any) -> Any:
    return len(fed(metric, 0).state_dict())


def merged(metric: Any) -> Any:
    other = fed(metric.clone(), 1, 2)
    fed(metric, 0).merge_state(other)
    return metric.compute()


def merged_state(metric: Any) -> Any:
    other = fed(metric.clone(), 1, 2)
    fed(metric, 0).merge_state(other.metric_state)
    return metric.compute()


def drawn(metric: Any) -> Any:
    pytest.importorskip("matplotlib").use("agg")
    steps = [metric(*batch) for batch in BATCHES]
    figures = [metric.plot(), metric.plot(steps)]
    return [line.get_ydata().tolist() for _, axes in figures for line in axes.lines]


def synced(metric: Any) -> Any:
    """There is one process."""
    fed(metric, 0)
    metric.sync()
    with metric.sync_context():
        inside = metric.compute()
    with pytest.raises(torchmetrics.utilities.exceptions.TorchMetricsUserError, match="already been un-synced"):
        metric.unsync()
    return inside


def moved(metric: Any) -> Any:
    """Numbers of a state keep their type, whatever is done to a module."""
    for change in (
        metric.half,
        metric.float,
        metric.double,
        lambda: metric.to("cpu"),
        lambda: metric.type(torch.float),
    ):
        fed(metric, 0)
        change()
    metric.set_dtype(torch.float64)
    return fed(metric, 1).compute()


def add_state(metric: Any) -> Any:
    metric.add_state("seen", torch.tensor(0), dist_reduce_fx="sum")
    metric.seen += 3
    metric.reset()
    return metric.seen


USES: dict[str, Callable[[Any], Any]] = {
    "update": lambda metric: fed(metric, 0, 1, 2).compute(),
    "compute": lambda metric: (fed(metric, 0).compute(), fed(metric, 1).compute()),
    "forward": lambda metric: ([metric(*batch) for batch in BATCHES], metric.forward(*BATCHES[0]), metric.compute()),
    "reset": lambda metric: (fed(metric, 0).reset(), fed(metric, 1, 2).compute()),
    "clone": lambda metric: (fed(fed(metric, 0).clone(), 1).compute(), metric.compute()),
    "persistent": saved_and_loaded,
    "state_dict": not_saved,
    "merge_state": merged,
    "metric_state": merged_state,
    "plot": drawn,
    "sync": synced,
    "unsync": synced,
    "sync_context": synced,
    "half": moved,
    "float": moved,
    "double": moved,
    "type": moved,
    "set_dtype": moved,
    "device": lambda metric: metric.device,
    "dtype": lambda metric: metric.dtype,
    "update_called": lambda metric: (metric.update_called, fed(metric, 0).update_called),
    "update_count": lambda metric: (fed(metric, 0, 1).update_count, metric.reset(), metric.update_count),
    "add_state": add_state,
    "is_differentiable": lambda metric: metric.is_differentiable in (None, False),
    "higher_is_better": lambda metric: metric.higher_is_better,
    "full_state_update": lambda metric: metric.full_state_update,
    "plot_lower_bound": lambda metric: metric.plot_lower_bound in (None, 0.0),
    "plot_upper_bound": lambda metric: metric.plot_upper_bound in (None, 1.0),
    "plot_legend_name": lambda metric: metric.plot_legend_name,
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "copies": lambda metric: fed(copy.deepcopy(fed(metric, 0)), 1).compute(),
    "pickles": lambda metric: fed(pickle.loads(pickle.dumps(fed(metric, 0))), 1).compute(),
    "the hash": lambda metric: (hash(metric) == hash(metric), hash(metric) == hash(metric.clone())),
    "arithmetic": lambda metric: fed(1 - metric * 2, 0, 1).compute(),
    "comparison": lambda metric: fed(metric > 0.5, 0, 1).compute(),
    "the absolute value": lambda metric: fed(abs(operator.neg(metric)), 0).compute(),
    "a composition that is saved": lambda metric: saved_and_loaded(1 - metric),
    "a module": lambda metric: (len([*metric.modules()]), len([*metric.parameters()]), len([*metric.buffers()])),
}


def values(result: Any) -> Any:
    """Plain numbers, for a comparison up to the float32 of torchmetrics."""
    if isinstance(result, torch.Tensor):
        return pytest.approx(result.double().tolist(), abs=1e-6)
    if isinstance(result, dict):
        return [*map(values, result.values())]
    if isinstance(result, float):
        return pytest.approx(result, abs=1e-6)
    return [*map(values, result)] if isinstance(result, (list, tuple)) else result


def plain(result: Any) -> Any:
    if isinstance(result, torch.Tensor):
        return result.double().tolist()
    if isinstance(result, dict):
        return [*map(plain, result.values())]
    return [*map(plain, result)] if isinstance(result, (list, tuple)) else result


def test_every_method_is_used() -> None:
    public = {name for name in vars(torchmetrics.Metric) if not name.startswith("_")} - {"TYPE_CHECKING"}
    assert public <= USES.keys(), public - USES.keys()


@pytest.mark.parametrize("name", [*USES, *OTHERS])
def test_methods(name: str) -> None:
    use = {**USES, **OTHERS}[name]
    assert plain(use(ours())) == values(use(BinaryAUROC()))


def running(metric: Any) -> Any:
    """Of the last two batches; torchmetrics' own, whose states are lists, lose them."""
    wrapped = wrappers.Running(metric, window=2)
    found = []
    for batch in BATCHES:
        wrapped.update(*batch)
        found.append(wrapped.compute())
    wrapped.reset()
    return [*found, wrapped(*BATCHES[0]), wrapped.compute()]


def windows() -> list[float]:
    def auroc(*chosen: int) -> float:
        scores, labels = (torch.cat([BATCHES[i][j] for i in chosen]) for j in (0, 1))
        return om.OODBench(metrics="auroc").compute(predictions=scores, references=labels)["auroc"]

    return [auroc(0), auroc(0, 1), auroc(1, 2), auroc(2, 3), auroc(0), auroc(0)]


def bootstrapped(metric: Any) -> Any:
    torch.manual_seed(0)
    middle = torch.tensor(0.5, dtype=fed(metric.clone(), 0).compute().dtype)
    wrapped = wrappers.BootStrapper(metric, num_bootstraps=5, mean=True, std=True, raw=True, quantile=middle)
    np.random.seed(0)
    wrapped.update(SCORES, LABELS)
    return wrapped.compute()


def least_and_most(metric: Any) -> Any:
    wrapped = wrappers.MinMaxMetric(metric)
    found = []
    for batch in BATCHES:
        wrapped.reset()
        wrapped.update(*batch)
        found.append(wrapped.compute())
    return found


def tracked(metric: Any) -> Any:
    tracker = wrappers.MetricTracker(metric, maximize=True)
    for batch in BATCHES:
        tracker.increment()
        tracker.update(*batch)
    return tracker.best_metric(return_step=True), tracker.compute_all(), tracker.compute()


def of_tasks(metric: Any) -> Any:
    wrapped = wrappers.MultitaskWrapper({"one": metric, "two": metric.clone()})
    for (scores, labels), (more, others) in zip(BATCHES[:2], BATCHES[2:]):
        wrapped.update({"one": scores, "two": more}, {"one": labels, "two": others})
    return wrapped.compute()


def of_outputs(metric: Any) -> Any:
    wrapped = wrappers.MultioutputWrapper(metric, num_outputs=2)
    for (scores, labels), (more, others) in zip(BATCHES[:2], BATCHES[2:]):
        wrapped.update(torch.stack([scores, more], 1), torch.stack([labels, others], 1))
    return wrapped.compute()


def shared(metric: Any) -> Any:
    """FeatureShare is for metrics with a network, which neither has."""
    with pytest.raises(AttributeError, match="feature_network"):
        wrappers.FeatureShare({"one": metric, "two": metric.clone()})


def transformed(metric: Any) -> Any:
    less = wrappers.BinaryTargetTransformer(metric, threshold=0.5)
    less.update(SCORES, LABELS.double() / 1.5)
    own = wrappers.LambdaInputTransformer(less, transform_pred=lambda scores: 1 - scores)
    own.update(SCORES, LABELS.double())
    return less.compute(), own.compute()


def classes(metric: Any) -> Any:
    """Of a result with several numbers; of one, as any other metric."""
    with pytest.raises((TypeError, IndexError)):
        fed(wrappers.ClasswiseWrapper(metric), 0).compute()


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "BootStrapper": bootstrapped,
    "MinMaxMetric": least_and_most,
    "MetricTracker": tracked,
    "MultitaskWrapper": of_tasks,
    "MultioutputWrapper": of_outputs,
    "FeatureShare": shared,
    "BinaryTargetTransformer": transformed,
    "LambdaInputTransformer": transformed,
    "MetricInputTransformer": transformed,
    "ClasswiseWrapper": classes,
}


def test_every_wrapper_is_used() -> None:
    assert {*wrappers.__all__} <= {*WRAPPERS, "Running", "WrapperMetric"}


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers(name: str) -> None:
    if not hasattr(wrappers, name) and name != "MetricInputTransformer":
        pytest.skip(f"this torchmetrics has no {name}")
    assert plain(WRAPPERS[name](ours())) == values(WRAPPERS[name](BinaryAUROC()))


def test_running() -> None:
    assert plain(running(ours())) == windows()


def test_a_collection_updates_metrics_with_equal_options_once() -> None:
    """A compute group of torchmetrics has one state; metrics that would differ later are not in one."""
    first: list[Any] = [[0.5, 0.25, 0.75], [0, 0, 1]]
    later: list[Any] = [[0.51, 0.515, 0.505], [0, 1, 0]]
    metrics = torchmetrics.MetricCollection(
        {
            "auroc": as_torchmetrics("ood_bench", "auroc", metrics=["auroc", "fpr95tpr"]),
            "fpr": as_torchmetrics("ood_bench", "fpr95tpr", metrics=["auroc", "fpr95tpr"]),
            "cut": as_torchmetrics("ood_bench", "auroc", metrics=["auroc"], significant_bits=4),
            "theirs": BinaryAUROC(),
        }
    )
    for scores, labels in (first, later):
        metrics.update(torch.tensor(scores), torch.tensor(labels))
    assert sorted(map(sorted, metrics.compute_groups.values())) == [["auroc", "fpr"], ["cut"], ["theirs"]]
    scores, labels = ([*one, *two] for one, two in zip(first, later))
    results = metrics.compute()
    for key, options in (("auroc", {}), ("cut", {"significant_bits": 4})):
        exact = om.OODBench(metrics="auroc", **options).compute(
            predictions=torch.tensor(scores), references=torch.tensor(labels)
        )
        assert results[key].item() == exact["auroc"]
    assert (
        results["fpr"].item()
        == om.OODBench(metrics="fpr95tpr").compute(predictions=scores, references=labels)["fpr95tpr"]
    )
    assert results["theirs"].item() == pytest.approx(results["auroc"].item())
    assert metrics.state_dict() == {}
    metrics.persistent(True)
    copies = metrics.clone()
    copies.reset()
    copies.load_state_dict(metrics.state_dict())
    with pytest.warns(UserWarning, match="was called before the ``update`` method"):  # as torchmetrics' own
        again = copies.compute()
    assert plain(again) == plain(results)


def test_options_of_the_metric() -> None:
    metric = as_torchmetrics("openauc", result="open_set_accuracy@tpr50", tpr=0.5)
    columns = dict(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    metric.update(**columns)
    assert metric.compute().item() == om.OpenAUC(tpr=0.5).compute(**columns)["open_set_accuracy@tpr50"]
    loaded = as_torchmetrics(om.OpenAUC(tpr=0.5), fpr_list=[0.5])
    loaded.update(**columns)
    assert loaded.compute().keys() >= {"open_set_accuracy@tpr50", "ccr@fpr50"}
    with pytest.raises(ValueError, match="tpr: expected a number"):
        as_torchmetrics("openauc", tpr=2)
