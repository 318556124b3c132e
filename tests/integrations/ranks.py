"""What each process of test_torchrun.py runs: `torchrun -m tests.integrations.ranks FOLDER`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import evaluate  # noqa: F401 (before the processes meet: see gloo.py)
import numpy as np
import torch
import torch.distributed as dist

import openworld_metrics
from tests import cases
from tests.integrations.gloo import check_no_thread_of_gloo_is_left
from tests.splitting import length, rows, split_options


def gather_states(process_id: int, num_process: int) -> dict[str, Any]:
    """Compute every metric from uneven shards of a random case; the last process has none of the first metric."""
    results = {}
    for name in openworld_metrics.METRICS:
        columns, options = cases.draw(name, 6)
        at_load, at_compute = split_options(name, options)
        metric = openworld_metrics.load(name, **at_load)
        cut = length(columns) if name == "accuracyk" else length(columns) // 3
        mine = range(cut) if process_id == 0 else range(cut, length(columns))
        metric.add_batch(**rows(columns, np.asarray(mine, dtype=int)))
        # the three lines of the README
        dist.all_gather_object(states := [None] * num_process, metric.state())
        metric.reset()
        for state in states:
            metric.merge(state)
        results[name] = metric.compute(**at_compute)
    return results


def with_accelerate() -> dict[str, Any]:
    """Evaluate a model whose data set of 21 samples does not divide by the batches and the processes."""
    from accelerate import Accelerator

    accelerator = Accelerator(cpu=True)
    torch.manual_seed(0)
    features, labels = torch.randn(21, 5), torch.randint(-1, 3, (21,))
    data = torch.utils.data.TensorDataset(features, labels)
    model, loader = accelerator.prepare(torch.nn.Linear(5, 3), torch.utils.data.DataLoader(data, batch_size=4))
    metric = openworld_metrics.load("openauc")
    for batch, references in loader:
        with torch.no_grad():
            logits = model(batch)
        logits, references = accelerator.gather_for_metrics((logits, references))
        metric.add_batch(predictions=logits, references=references, open_scores=-logits.max(dim=1).values)
    assert len(metric) == 21
    return metric.compute()


if __name__ == "__main__":
    # accelerate starts torch.distributed with gloo
    computed = {"accelerate": with_accelerate()}
    process = dist.get_rank()
    computed["gather"] = gather_states(process, dist.get_world_size())
    Path(sys.argv[1], f"{process}.json").write_text(json.dumps(computed))
    dist.destroy_process_group()
    check_no_thread_of_gloo_is_left()
