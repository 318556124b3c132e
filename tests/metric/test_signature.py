"""The signature of a number: equal where numbers can be compared, and different where an option moved them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.signature import VERSION, differing
from tests import cases
from tests.conftest import Run


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
