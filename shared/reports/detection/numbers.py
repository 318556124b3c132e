"""The numbers of a detection report: its headline, its tables by class, and a table of all."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from ...detection.errors import KEYS_OF_TABLES
from ...reading.boxes.dataset import Detections
from ...suites.detection import Results, openset_summary
from ...suites.image_errors import DetectionErrors
from ...written.results import KINDS
from ..frame import Figure, Section, data_table, headline, names_beside

_HEADLINES = (
    {
        "U-Recall": "of the unknown objects were found and called unknown",
        "U-AP": "average precision of the predictions called unknown",
        "mAP": "mean average precision of the known classes",
    },
    {
        "U-Recall": "of the unknown objects were found and called unknown",
        "WI": "known objects called unknown, for each known object",
        "A-OSE": "errors of any kind, for each object",
    },
)
# what intervals may take to come by themselves, about a second: images, or with average precisions predictions, where
# a class takes as long as 900
_SURE, _CLASS = 20_000, 900
_HINT = "Intervals of so many boxes take a while: add them with --confidence-level 0.95."
_MISNAMED = ("called another known", "called unknown", "called known")
_TABLES = ("per_class", "per_image", "errors")


def headline_html(detections: Detections, results: Results, names: Sequence[str], options: Mapping[str, Any]) -> str:
    """Three numbers with intervals, which are computed if results lack them, and the comparison."""
    openset, kinds = results["openset_metrics"], results.get(KINDS, {})
    words = {key: said for key, said in _HEADLINES["mAP" not in openset].items() if key in openset}
    if not words:
        return ""
    wanting = f"{next(iter(words))}_low" not in openset
    hint = _HINT if wanting else ""
    if wanting and _is_small(detections, options):
        hint = "Intervals are of 95 %, from 1,000 resamples of the images."
        plain = {name: value for name, value in options.items() if name not in _TABLES}
        plain |= {"confidence_level": 0.95, "conf_list": None, "recall_level": None, "recall_budgets": ()}
        openset = openset_summary(detections, **plain).as_dict() | openset
    figures = [
        Figure(key, openset[key], openset.get(f"{key}_low"), openset.get(f"{key}_high"), _higher(kinds, key), said)
        for key, said in words.items()
    ]
    table = results.get("comparison")
    shown = [key for key in table["key"] if key not in KEYS_OF_TABLES] if table else []
    higher = {key: _higher(kinds, key) if key in shown else None for key in table["key"]} if table else {}
    return headline(figures, names, table, higher, hint=hint)


def _is_small(detections: Detections, options: Mapping[str, Any]) -> bool:
    if options.get("protocol") != "owod":
        return len(detections.predictions) <= _SURE
    predictions = sum(len(boxes["labels"]) for boxes in detections.predictions)
    return predictions + _CLASS * len(options["known_classes"]) <= _SURE


def _higher(kinds: Mapping[str, Any], key: str) -> bool | None:
    higher: bool | None = kinds.get(key, {}).get("higher")
    return higher


def classes_section(errors: DetectionErrors, names: Mapping[int, str]) -> Section:
    """The section by class, with bars of recall and precision; the details have all columns."""
    table = errors.by_class
    columns: dict[str, list[Any]] = {
        "class": [names.get(label, str(label)) for label in table["class"]],
        "objects": table["objects"],
        "recall": table["Recall"],
        "precision": table["Precision"],
        **({"AP": table["AP"]} if "AP" in table else {}),
        "called another class": [sum(row) for row in zip(*(table[fate] for fate in _MISNAMED))],
        "badly placed": [sum(row) for row in zip(table["badly placed"], table["both"])],
        "missed": table["missed"],
        "false boxes": table["FP"],
        "unknown called it": table["unknown objects called it"],
    }
    meters, minor = ("recall", "precision", "AP"), ("AP", "badly placed", "missed", "unknown called it")
    return Section("Classes", "By class", data_table(columns, "By class", meters=meters, minor=minor))


def all_of_classes(errors: DetectionErrors, names: Mapping[int, str]) -> str:
    """The HTML of the table by class with all columns, for the folded details."""
    named = [names.get(label, str(label)) for label in errors.by_class["class"]]
    return data_table({"name": named, **errors.by_class}, "All columns by class")


def all_numbers(results: Results, names: Sequence[str]) -> str:
    """Every number of the results with its interval, for one or two detectors."""
    values, others = _numbers(results), _numbers(results.get("other", {}))
    names = names_beside(names, ("key", "difference", "p"))
    columns: dict[str, list[Any]] = {"key": [*values], names[0]: [*values.values()]}
    if others:
        columns[names[1]] = [others.get(key) for key in values]
    if "comparison" in results:
        table = results["comparison"]
        differences = dict(zip(table["key"], zip(table["difference"], table["low"], table["high"])))
        p_values = dict(zip(table["key"], table["p_value"]))
        columns["difference"] = [differences.get(key) for key in values]
        columns["p"] = [p_values.get(key) for key in values]
    return data_table(columns, "All numbers", digits=6)


def _numbers(results: Results) -> dict[str, Any]:
    """The numbers of both parts of the results; with an interval, as (value, low, high)."""
    parts = [results.get(part, {}) for part in ("openset_metrics", "standard_metrics")]
    plain = {key: value for part in parts for key, value in part.items() if isinstance(value, (int, float))}
    ends = {f"{key}_{end}" for key in plain for end in ("low", "high")}
    return {
        key: (value, plain[f"{key}_low"], plain[f"{key}_high"]) if f"{key}_low" in plain else value
        for key, value in plain.items()
        if key not in ends
    }


def options_and_versions(options: Mapping[str, Any]) -> dict[str, str]:
    """The chosen options of the metric, and the versions of packages."""
    values = {
        name: " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        for name, value in options.items()
    }
    versions = {
        "openworld-metrics": version("openworld-metrics"),
        "numpy": np.__version__,
        "Python": platform.python_version(),
    }
    return {**values, **versions}
