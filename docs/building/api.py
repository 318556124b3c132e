"""Generate the API pages from the public names of the package and its rooms."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

from mkdocs.structure.files import File

import openworld_metrics
from openworld_metrics.loading import metric_class

METRICS = [metric_class(name).__name__ for name in openworld_metrics.METRICS]

# pages by name: title, introduction, and for each section a title and the module of its public names
PAGES: dict[str, tuple[str, str, dict[str, str]]] = {
    "files": (
        "Files and reports",
        "Read and write files; evaluate files or models; tables, figures and pages of results.",
        {
            "From files to numbers": "openworld_metrics.suites",
            "Readers of files": "openworld_metrics.reading",
            "Writers": "openworld_metrics.written",
            "Reports": "openworld_metrics.faces.report",
            "Plots": "openworld_metrics.faces.plot",
        },
    ),
    "integrations": (
        "Integrations",
        "Other libraries for evaluation and training, scores of logits, and clusters.",
        {
            "transformers.Trainer": "openworld_metrics.integrations",
            "Ultralytics": "openworld_metrics.integrations.ultralytics",
            "torchmetrics and Lightning": "openworld_metrics.integrations.torchmetrics",
            "anomalib": "openworld_metrics.integrations.anomalib",
            "evaluate.evaluator": "openworld_metrics.integrations.evaluators",
            "evaluate.combine": "openworld_metrics.integrations.combining",
            "Scores from logits": "openworld_metrics.scores",
            "Engines and clusters": "openworld_metrics.cluster",
        },
    ),
    "dropin": (
        "Other libraries' calls",
        "Their names, arguments and keys with our numbers: [one import changes](../coming-from.md#change-one-import).",
        {
            "XCurve": "openworld_metrics.dropin.xcurve",
            "oodeel": "openworld_metrics.dropin.oodeel",
            "OW-DLN": "openworld_metrics.dropin.ow_dln",
            "PyADMetric": "openworld_metrics.dropin.pyadmetric",
            "accuracyk": "openworld_metrics.dropin.accuracyk",
        },
    ),
}
# rooms of the kernel, which are sections of the functions page
ROOMS = {
    "ranking": "Curves, areas and intervals",
    "comparison": "Two models",
    "loading": "Metrics by name",
    "metric": "States as bytes",
    "ood": "Out-of-distribution detection",
    "open_set": "Open-set recognition",
    "classification": "Top-k",
    "anomaly": "Anomaly maps",
    "detection": "Detection",
}
# names to show from modules without a list of public names; some need packages that may not be installed
SHOWN = {
    "openworld_metrics.integrations.torchmetrics": ["as_torchmetrics"],
    "openworld_metrics.integrations.anomalib": ["anomaly_metrics", "AnomalyResult"],
    "openworld_metrics.integrations.evaluators": ["evaluator"],
    "openworld_metrics.integrations.combining": ["combine"],
    "openworld_metrics.integrations.ultralytics": ["OpenSetValidator"],
    "openworld_metrics.dropin.xcurve": [
        *("TopkAcc", "AUTKC", "MacroF", "MicroF", "ClosedSetAcc", "Acc_At_TPR", "AUROC", "OpenAUC")
    ],
    "openworld_metrics.dropin.oodeel": ["bench_metrics", "ftpn", "get_curve"],
    "openworld_metrics.dropin.ow_dln": [
        *("OpenSetDetectionMetrics", "OpenSetValidator", "mark_low_confidence_as_unknown")
    ],
    "openworld_metrics.dropin.pyadmetric": [
        *("calculate_AUROC", "calculate_AP", "calculate_AUPR", "calculate_F1max", "calculate_Pro", "cal_metric")
    ],
    "openworld_metrics.dropin.accuracyk": ["compute"],
    "openworld_metrics.scores": ["msp", "max_logit", "energy", "entropy", "margin", "gen"],
}


def section(title: str, objects: list[Any], members: bool = False) -> Iterator[str]:
    """A heading with the documentation of objects, or of names that must not be imported."""
    yield f"## {title}\n"
    for item in objects:
        chosen = "" if members or not inspect.isclass(item) else "\n    options: {members: []}"
        yield f"::: {item if isinstance(item, str) else f'{item.__module__}.{item.__qualname__}'}{chosen}\n"


def bases() -> list[type]:
    """The classes whose options metrics inherit."""
    classes = [getattr(openworld_metrics, name) for name in METRICS]
    return list(
        dict.fromkeys(base for cls in classes for base in cls.__mro__[1:-1] if base is not openworld_metrics.Metric)
    )


@cache
def documented() -> dict[str, str]:
    """The paths of the functions and classes on these pages by their names, without names that several have."""
    modules = [name for _, _, sections in PAGES.values() for name in sections.values() if name not in SHOWN]
    objects = [getattr(openworld_metrics, name) for name in openworld_metrics.__all__] + bases()
    objects += [getattr(module, name) for module in map(importlib.import_module, modules) for name in module.__all__]
    paths: dict[str, set[str]] = {}
    for item in objects:
        if hasattr(item, "__qualname__"):
            paths.setdefault(item.__qualname__, set()).add(f"{item.__module__}.{item.__qualname__}")
    return {name: each.pop() for name, each in paths.items() if len(each) == 1}


def metrics_page() -> str:
    """The classes of the metrics, and the methods that all of them share."""
    lines = [
        "# Metrics\n",
        "All eight share the methods of `Metric`, which stands last. Their options, columns and results in tables: "
        "[the metrics](../metrics/index.md).\n",
    ]
    lines += section("The eight", [getattr(openworld_metrics, name) for name in METRICS])
    lines += section("Options that metrics inherit", bases())
    lines += section("Methods of every metric", [openworld_metrics.Metric], members=True)
    return "\n".join(lines)


def functions_page() -> str:
    """The public names of the package other than metrics."""
    lines = ["# Functions\n", "All are names of the package: `from openworld_metrics import auroc`.\n"]
    rest = sorted({*openworld_metrics.__all__} - {*METRICS, "Metric", "METRICS"}, key=str.lower)
    objects = [getattr(openworld_metrics, name) for name in rest]
    for room, title in ROOMS.items():
        own = [item for item in objects if item.__module__.split(".")[1] == room]
        lines += section(title, own) if own else ()
    return "\n".join(lines)


def other_page(title: str, words: str, sections: dict[str, str]) -> str:
    """The public names of other modules."""
    lines = [f"# {title}\n", f"{words}\n"]
    for heading, name in sections.items():
        if name in SHOWN:
            lines += section(f"{heading}: `{name}`", [f"{name}.{item}" for item in SHOWN[name]])
        else:
            module = importlib.import_module(name)
            lines += section(f"{heading}: `{name}`", [getattr(module, item) for item in module.__all__])
    return "\n".join(lines)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages."""
    pages = {"metrics": metrics_page(), "functions": functions_page()}
    pages |= {name: other_page(*page) for name, page in PAGES.items()}
    for name, text in pages.items():
        files.append(File.generated(config, f"api/{name}.md", content=text))
    return files
