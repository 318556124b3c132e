"""Save the samples of results as a metric's state, so that models can be compared later."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Collection, Mapping
from typing import Any

from ..loading import METRICS, metric_class
from ..metric.metric import Metric
from ..metric.states import pack, unpack

SAMPLES = "samples"  # in saved results


def samples_of(metric: Metric, options: Mapping[str, Any]) -> dict[str, Any]:
    """The samples added to a metric, for JSON: {"metric": name, "options": chosen options, "state": text}.

    So that they can be compared, the metric must not have counted equal rows: set `metric.keeps_samples` first.
    Raises TypeError for an option that JSON cannot hold.
    """
    try:
        plain = json.loads(json.dumps(dict(options)))
    except TypeError:
        raise TypeError("samples: expected options that JSON holds, got functions or other objects") from None
    return {"metric": metric.name, "options": plain, "state": base64.b64encode(pack(metric.state())).decode()}


def metric_of(samples: Any, keys: Collection[str] | None = None) -> Metric:
    """Restore a metric with its samples, and with these results alone if others can be left out.

    Raises ValueError for anything but saved samples.

    >>> from openworld_metrics import OODBench
    >>> metric = OODBench()
    >>> metric.add_batch(predictions=[0.1, 0.9], references=[0, 1])
    >>> metric_of(samples_of(metric, {})).compute()["auroc"]
    1.0
    """
    parts = [samples.get(name) for name in ("metric", "options", "state")] if isinstance(samples, Mapping) else []
    if not parts or parts[0] not in METRICS or not isinstance(parts[1], dict) or not isinstance(parts[2], str):
        raise ValueError(f"{SAMPLES}: expected what --save-samples writes, got other JSON")
    try:
        state = unpack(base64.b64decode(parts[2], validate=True))
    except binascii.Error:
        raise ValueError(f"{SAMPLES}: expected a state in base64, got other text") from None
    metric = metric_class(parts[0])(**parts[1])
    metric = metric if keys is None else metric.only(keys)
    metric.keeps_samples = True
    metric.merge(state)
    return metric
