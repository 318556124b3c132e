"""The signature of a number: equal where numbers can be compared, and different where an option moved them."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.signature import VERSION, differing
from tests import cases
from tests.conftest import Run
from tests.metric.every_option import OPTIONS, draw


def test_protocols_and_options() -> None:
    metric = om.OpenSetDetection(known_classes=[0, 1], protocol="owod", iou_threshold=0.75)
    assert metric.signature == f"openset_detection|known_classes:0,1|iou_threshold:0.75|protocol:owod|v{VERSION}"
    default = om.OpenSetDetection(known_classes=(0, 1)).signature
    assert default == f"openset_detection|known_classes:0,1|protocol:ow-dln|v{VERSION}"
    assert differing(metric.signature, default) == ["iou_threshold", "protocol"]
    assert om.OpenAUC(tpr=0.9, risk_metrics="aurc", confidence_level=0.9, per_sample=True).signature == (
        f"openauc|v{VERSION}"
    )
    assert om.AccuracyK(k_list=[1, 5], ties="expected", percent=True).signature == (
        f"accuracyk|ties:expected|percent:true|v{VERSION}"
    )
    lists = [[0.5, 1], (0.5, 1.0), np.asarray([0.5, 1.0])]
    assert {om.MacroOpenF(t_list=t_list).signature for t_list in lists} == {f"macro_open_f|t_list:0.5,1|v{VERSION}"}
    assert om.OODBench(metrics="fpr95tpr", positive="in").signature == f"ood_bench|positive:in|v{VERSION}"


@pytest.mark.parametrize("name", cases.METRICS)
def test_the_order_of_samples_and_batches_is_not_in_it(name: str) -> None:
    columns, options = cases.draw(name, 3)
    metric = metric_class(name)(**options)
    number = len(columns["references"])
    whole = metric.summary(**columns)
    for rows in np.array_split(np.random.default_rng(0).permutation(number), 2):
        metric.add_batch(**{key: cases.take(column, rows.tolist()) for key, column in columns.items()})
    again = metric.summary()
    assert whole.signature == again.signature == metric.signature
    assert whole.options == again.options
    json.dumps(whole.record())
    assert metric_class(name)(**whole.options).compute(**columns) == whole.as_dict()


def test_an_option_at_compute_is_in_the_summary() -> None:
    metric = om.OODBench(metrics=["tpr"])
    summary = metric.summary(predictions=([0.1], [0.2]), threshold=0.15)
    assert summary.signature == f"ood_bench|threshold:0.15|v{VERSION}"
    assert summary.options == {"metrics": ["tpr"], "threshold": 0.15}
    assert metric.signature == f"ood_bench|v{VERSION}"


def test_saved_results_and_their_table(run: Run, tmp_path: Path) -> None:
    np.save("scores.npy", [0.1, 0.6, 0.4, 0.9])
    np.save("labels.npy", [0, 0, 1, 1])
    columns = ["--predictions", "scores.npy", "--references", "labels.npy", "--metrics", "auroc,fpr95tpr"]
    for name, more in (("a", []), ("b", []), ("in", ["--positive", "in"])):
        assert run("compute", "ood_bench", *columns, *more, "--save", f"{name}.json")[0] == 0
    saved: dict[str, Any] = json.loads((tmp_path / "in.json").read_text())
    assert saved["options"] == {"positive": "in"}
    assert run("table", "a.json", "b.json")[0] == 0
    code, output, errors = run("table", "a.json", "b.json", "in.json")
    assert (code, output) == (2, "")
    assert "in: expected the signature of a, ood_bench|v" in errors
    assert "which differs in positive; --mixed shows them apart" in errors
    for form in ("text", "markdown", "latex", "html", "csv"):
        code, output, errors = run("table", "a.json", "b.json", "in.json", "--mixed", "--format", form)
        assert (code, errors) == (0, "")
        heads = [line.strip("#%<p>/ ") for line in output.splitlines() if "ood_bench|" in line]
        assert heads == [f"ood_bench|v{VERSION}", f"ood_bench|positive:in|v{VERSION}"]
    (notes,) = om.to_eval_results(saved, dataset="me/ood", tasks={"near": "auroc"}, notes="5 seeds")
    assert notes["notes"] == f"5 seeds; ood_bench|positive:in|v{VERSION}"
    assert "notes" not in om.to_eval_results({"auroc": 1.0}, dataset="me/ood", tasks={"near": "auroc"})[0]


def signature_of(name: str, **options: Any) -> str:
    return metric_class(name)(**options).signature


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("openset_detection", {"known_classes": [0, 1, 2]}, {"known_classes": (2, 1, 0)}),
        ("openset_detection", {"known_classes": [0, 1, 2]}, {"known_classes": np.asarray([0, 1, 1, 2])}),
        ("openset_detection", {"known_classes": [0]}, {"known_classes": [0], "matching": "iou"}),
        ("openset_detection", {"known_classes": [0]}, {"known_classes": [0], "budget": "all"}),
        ("openset_detection", {"known_classes": [0]}, {"known_classes": [0], "box_format": "xywh"}),
        ("ood_bench", {}, {"in_value": 1, "out_value": 0}),
        ("ood_bench", {}, {"n_resamples": 7, "threshold": 0.5}),
        ("ood_bench", {}, {"metrics": ["tpr"]}),
        ("accuracyk", {"ties": "strict"}, {"k_list": [1, 2]}),
        ("openauc", {"tpr": 2 / 3}, {"tpr": 0.5}),
        ("anomaly_suite", {"levels": "pixel"}, {"integration_limits": 0.5}),
    ],
    ids=str,
)
def test_options_that_move_no_number_are_not_in_it(name: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert signature_of(name, **one) == signature_of(name, **other)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_equal_signatures_have_equal_numbers(name: str, seed: int) -> None:
    """Of any two sets of options: where signatures are equal, each rate that both have is the same number."""
    columns = draw(name, seed)
    by_signature: dict[str, dict[str, float]] = {}
    for options in OPTIONS[name]:
        if {"in_value", "box_format"} & options.keys():  # for which the same columns say something else
            continue
        summary = metric_class(name)(**options).summary(**columns)
        known = by_signature.setdefault(str(summary.signature), {})
        for key, rate in summary.rates().items():
            assert known.setdefault(str(key), rate.value) == rate.value, (options, key)


def test_equal_signatures_of_functions_and_operating_points() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    columns = dict(predictions=[0.1, 0.6, 0.4, 0.9, 0.3], references=[0, 0, 1, 1, 1], threshold=0.5)
    found = {}
    for beta in (1.0, 2.0):
        summary = om.OODBench(metrics=[partial(sklearn.fbeta_score, beta=beta)]).summary(**columns)
        found[str(summary.signature)] = summary.as_dict()["fbeta_score"]
    assert found == {
        f"ood_bench|threshold:0.5|metrics:fbeta_score(beta=1)|v{VERSION}": pytest.approx(0.4),
        f"ood_bench|threshold:0.5|metrics:fbeta_score(beta=2)|v{VERSION}": pytest.approx(5 / 14),
    }
    by_name = om.OODBench(metrics="f1_score", threshold=0.5)
    assert om.OODBench(metrics=sklearn.f1_score, threshold=0.5).signature == by_name.signature

    def f1_score(labels: Any, decisions: Any) -> float:
        return 0.25

    other = om.OODBench(metrics=f1_score, threshold=0.5)
    assert other.signature == f"ood_bench|threshold:0.5|metrics:{__name__}.f1_score|v{VERSION}"
    assert other.compute(predictions=columns["predictions"], references=columns["references"]) == {"f1_score": 0.25}

    columns = dict(predictions=[0] * 6, references=[0] * 3 + [-1] * 3, open_scores=[1, 2, 3, 2.5, 0.5, 4])
    near = {tpr: om.OpenAUC(tpr=tpr).compute(**columns) for tpr in (2 / 3, 0.666666666667)}
    assert [results.popitem() for results in near.values()] == [
        ("open_set_accuracy@tpr66.66666666666666", pytest.approx(2 / 3)),
        ("open_set_accuracy@tpr66.6666666667", 0.5),
    ]


@pytest.mark.parametrize("share", [0.8, 0.95, 0.07, 0.3])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "torch float16", "torch float32", "torch float64"])
def test_bounds_are_read_as_they_print(kind: str, share: float) -> None:
    """Whatever type holds them: of 100 samples, 80 reach 0.8, and an IoU of 4/5 does."""
    library, _, dtype = kind.rpartition(" ")
    if library:
        torch = pytest.importorskip("torch")
        values = torch.tensor([share], dtype=getattr(torch, dtype))
    else:
        values = np.asarray([share], dtype)
    for value in (values[0], values):
        assert om.OpenAUC(fpr_list=value).fprs == [share]
        assert om.AnomalySuite(integration_limits=value).limits == [share]
    single = values[0]
    assert om.OpenAUC(tpr=single, ood_cost=single, risk_metrics="augrc").tpr == share
    assert om.OpenSetDetection(known_classes=[0], iou_threshold=single, recall_level=single).iou_threshold == share
    assert om.OODBench(confidence_level=single).confidence_level == share
    assert om.OpenAUC(tpr=single).signature == om.OpenAUC(tpr=share).signature
    sides = dict(positives=np.arange(100) + 50, negatives=np.arange(100))
    assert om.operating_point(**sides, rate="fpr", bounded="tpr", bound=single) == om.operating_point(
        **sides, rate="fpr", bounded="tpr", bound=share
    )


def test_thresholds_of_scores_are_what_they_are() -> None:
    """A threshold is a score: one of float32 is that score, which does not exceed it."""
    scores = np.asarray([0.1, 0.8, 0.9, 0.7], np.float32)
    metric = om.OODBench(metrics="tpr", threshold=scores[1])
    assert metric.compute(predictions=scores, references=[0, 1, 1, 0]) == {"tpr": 0.5}


def test_bounds_of_bfloat16_are_refused() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="tpr: expected a number of 16 bits, 32 bits or 64 bits, got one of bfloat16"):
        om.OpenAUC(tpr=torch.tensor(0.8, dtype=torch.bfloat16))
