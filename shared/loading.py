"""The metrics of this collection by name: as classes, and as metrics of evaluate."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from .anomaly.anomaly_suite import AnomalySuite
from .classification.topk import AUTKC, AccuracyK
from .detection.openset_detection import OpenSetDetection
from .extras import extra
from .metric.metric import Metric
from .ood.ood_bench import OODBench
from .open_set.open_f_metrics import MacroOpenF, MicroOpenF
from .open_set.openauc import OpenAUC

_CLASSES: dict[str, type[Metric]] = {
    metric.name: metric
    for metric in (AccuracyK, AUTKC, MacroOpenF, MicroOpenF, OpenAUC, OODBench, OpenSetDetection, AnomalySuite)
}
METRICS = tuple(_CLASSES)
_one_at_a_time = threading.Lock()


def metric_class(name: str) -> type[Metric]:
    """The class of a metric, which needs no evaluate. Raises ValueError for an unknown name.

    >>> metric_class("openauc")(tpr=0.9).loaded_options["tpr"]
    0.9
    """
    if name not in _CLASSES:
        raise ValueError(f"name: expected one of {', '.join(METRICS)}, got {name!r}")
    return _CLASSES[name]


def task_of(name: str) -> str:
    """The task of a metric, which is the room of its class. Raises ValueError for an unknown name.

    >>> task_of("openauc"), task_of("autkc")
    ('open_set', 'classification')
    """
    return metric_class(name).__module__.split(".")[-2]


def load(name: str, **options: Any) -> Any:
    """Load a metric of this collection by name, offline, from the installed package.

    Parameters: name, one of `METRICS`; options of the metric and arguments of `evaluate.load`, as keywords.
    Returns an `evaluate.Metric`. Raises ValueError for an unknown name, TypeError for an unknown option.

    >>> load("openauc", tpr=0.9).compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'openauc': 1.0, 'closed_set_accuracy': 1.0, 'open_set_auroc': 1.0, 'open_set_accuracy@tpr90': 1.0}
    """
    with extra("evaluate"):
        import evaluate

    with _one_at_a_time:  # evaluate clears importlib's caches, and of two threads that do so at once one fails
        return evaluate.load(str(script(name).parent), module_type="metric", **options)


def script(name: str) -> Path:
    """The script of a metric: beside the modules in a wheel, beside the folder in a checkout and in a Space."""
    metric_class(name)
    package = Path(__file__).parent
    places = [folder / "metrics" / name / f"{name}.py" for folder in (package, package.parent)]
    scripts = [place for place in (*places, package.parent / f"{name}.py") if place.is_file()]
    if not scripts:
        raise FileNotFoundError(f"expected the script of {name} at {' or '.join(map(str, places))}, got none")
    return scripts[0]
