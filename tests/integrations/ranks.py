"""What each process of test_torchrun.py runs: `torchrun -m tests.integrations.ranks FOLDER`."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path
from typing import Any

import evaluate  # noqa: F401 (before the processes meet: see gloo.py)
import numpy as np
import torch
import torch.distributed as dist

import openworld_metrics as om
from openworld_metrics.integrations.torchmetrics import as_torchmetrics
from openworld_metrics.loading import metric_class
from tests import cases
from tests.integrations.gloo import check_no_thread_of_gloo_is_left
from tests.integrations.test_torchmetrics import COLUMNS, KNOWN, LABELS, collection, numbers, part
from tests.splitting import length, rows


def with_accelerate() -> dict[str, Any]:
    """Evaluate a model whose data set of 21 samples does not divide by the batches and the processes."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    features, labels = torch.randn(21, 5), torch.randint(-1, 3, (21,))
    data = torch.utils.data.TensorDataset(features, labels)
    model, loader = accelerator.prepare(torch.nn.Linear(5, 3), torch.utils.data.DataLoader(data, batch_size=4))
    metric = om.load("openauc")
    for batch, references in loader:
        with torch.no_grad():
            logits = model(batch)
        logits, references = accelerator.gather_for_metrics((logits, references))
        metric.add_batch(predictions=logits, references=references, open_scores=-logits.max(dim=1).values)
    assert len(metric) == 21
    return metric.compute()


def of_every_metric(rank: int) -> dict[str, Any]:
    """Each metric of uneven shards of a random case; the second process has none of the first metric."""
    results = {}
    for name in om.METRICS:
        columns, options = cases.draw(name, 6)
        metric = as_torchmetrics(metric_class(name)(**options))
        cut = length(columns) if name == "accuracyk" else length(columns) // 3
        own = range(cut) if rank == 0 else range(cut, length(columns))
        if own:
            metric.update(**rows(columns, np.asarray(own)))
        else:
            metric._update_count = 1  # as in a collection; torchmetrics warns otherwise
        results[name] = numbers(metric.compute())
        assert len(metric.metric) == len(own)
    return results


def of_a_collection(rank: int) -> dict[str, float]:
    metrics, same = collection(), torch.ones(3)
    for start, stop in ((0, 4), (4, 10)) if rank == 0 else ((10, 17), (17, 20)):
        metrics.update(**part(start, stop), preds=same, target=same)
    return {name: float(x) for name, x in metrics.compute().items()}


def after_an_error(rank: int) -> dict[str, Any]:
    """The error of a class that all processes lack, and the results once they have it."""
    metric = as_torchmetrics("openauc")
    metric.update(**{name: column[rank::2] for name, column in KNOWN.items()})
    try:
        metric.compute()
    except ValueError as error:
        message = str(error)
    assert not metric._is_synced
    metric.update(**{name: column[LABELS < 0][rank::2] for name, column in COLUMNS.items()})
    metric.sync()
    assert len(metric.metric) == 20
    metric.unsync()
    return {"error": message, **numbers(metric.compute())}


def of_this_process(rank: int) -> dict[str, float]:
    groups = [dist.new_group([i]) for i in range(2)]
    metric = as_torchmetrics("openauc", process_group=groups[rank])
    metric.update(**part(10 * rank, 10 * rank + 10))
    return numbers(metric.compute())


if __name__ == "__main__":
    # accelerate starts torch.distributed with gloo
    computed = {"accelerate": with_accelerate()}
    process = dist.get_rank()
    for function in (of_every_metric, of_a_collection, after_an_error, of_this_process):
        computed[function.__name__] = function(process)
    Path(sys.argv[1], f"{process}.json").write_text(json.dumps(computed))
    gc.collect()  # metrics of torchmetrics, which are in circles and hold their groups
    dist.destroy_process_group()
    check_no_thread_of_gloo_is_left()
