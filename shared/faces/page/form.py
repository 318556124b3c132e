"""The form of a page, made of the fields of its metric: a control for each option, and links that set them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr

from ...answers.subject import subject_of
from ...loading import metric_class
from ...metric.clusters import CLUSTERS
from ...metric.metric import OF_EVERY_METRIC
from ...reading.columns.metrics import layout_of
from ...reading.cures import Cure, Face, Or, in_python
from ...reading.read import reads_images
from ...reading.rows.inputs import split_place
from .vocabulary import label_of, words_of_option

# `regions` needs masks with numbered regions, which no picture holds; the results of a page are shares
HIDDEN = frozenset({"significant_bits", "per_sample", "regions", "percent", *OF_EVERY_METRIC} - {"confidence_level"})
MAX_TEXT = 500  # characters of an option in a link
NONE = "none"


# the values of options whose names a person need not type
CHOICES: Mapping[str, Sequence[str]] = {
    "average": ("micro", "macro"),
    "average_precision": ("all", "11-point"),
    "box_format": ("xyxy", "xywh", "cxcywh"),
    "budget": ("unknown", "all", "called unknown"),
    "image_reduction": ("max", "mean"),
    "levels": ("image", "pixel"),
    "matching": ("iou", "confidence"),
    "metrics": (
        *("auroc", "fpr95tpr", "aupr_out", "aupr_in", "detect_acc", "tpr5fpr", "eer", "pauroc@fpr10", "prr"),
        *("mindcf@p1", "detection_error", "aupr_out@share50", "precision@n", "risk@cov80", "coverage@risk5"),
        *("f1_score", "accuracy_score"),
    ),
    "points": ("fpr95tpr", "tnr95tpr", "tpr5fpr"),
    "positive": ("out", "in"),
    "protocol": ("ow-dln", "owod"),
    "risk_metrics": ("aurc", "augrc", "risk@cov80", "coverage@risk5"),
    "roc_metrics": ("eer", "pauroc@fpr10", "pauroc@fpr10_mcclish", "pauroc@tpr80"),
    "ties": ("strict", "optimistic", "expected"),
}


@dataclass(frozen=True)
class Option:
    """An option of a metric: its name, default, the type in its class, its label and its help, in words."""

    name: str
    default: Any
    kind: str
    label: str
    help: str

    @property
    def choices(self) -> Sequence[str]:
        """The values that a person need not type."""
        return CHOICES.get(self.name, ())

    @property
    def is_list(self) -> bool:
        """Whether it may have several values."""
        return "Sequence" in self.kind or self.name in ("known_classes", "previously_known", "recall_budgets")

    @property
    def is_flag(self) -> bool:
        """Whether it is either set or not."""
        return isinstance(self.default, bool)

    def shown(self, value: Any) -> Any:
        """The value of its control."""
        if self.is_flag:
            return bool(value)
        if self.choices and self.is_list:
            return [value] if isinstance(value, str) else [str(item) for item in value or ()]
        if value is None:
            return NONE if self.choices else ""
        return ", ".join(map(str, value)) if isinstance(value, (tuple, list)) else str(value)

    def parsed(self, value: Any) -> Any:
        """The value of the option; text that cannot be read is passed on, for the metric to refuse.

        >>> options_of("autkc")["k_list"].parsed("1, 5"), options_of("openauc")["fpr_list"].parsed("")
        ((1, 5), None)
        """
        if self.is_flag:
            return bool(value)
        if isinstance(value, (list, tuple)):
            return tuple(map(str, value))
        text = str(NONE if value is None else value).strip()
        if text == NONE:
            return None if self.choices else self.default
        if not text:
            return self.default
        if self.is_list:
            return tuple(_number(part.strip()) for part in text.split(",") if part.strip())
        return _number(text)

    def control(self, value: Any) -> Any:
        """Its control with a value, labelled in words, with its name and help below."""
        choices = self.choices
        shared = {
            "label": self.label,
            "info": f"{self.name}: {self.help}" if self.help else self.name,
            "value": self.shown(value),
            "elem_id": f"option-{self.name}",
        }
        if self.is_flag:
            return gr.Checkbox(**shared)
        if choices and self.is_list:
            return gr.Dropdown([*choices], multiselect=True, allow_custom_value=True, **shared)
        if choices:
            choices = [*([NONE] if self.default is None else []), *choices]
            return gr.Dropdown(choices, allow_custom_value="int" in self.kind, filterable=False, **shared)
        hint = "numbers with commas" if self.is_list else "automatic" if self.name == "confidence_level" else NONE
        return gr.Textbox(max_lines=1, placeholder=hint, **shared)


def options_of(metric: str) -> dict[str, Option]:
    """The options that the page of a metric shows, the open ones first."""
    kinds = {field.name: str(field.type) for field in fields(metric_class(metric))}
    defaults = metric_class(metric).options
    open_ = subject_of(metric).form.open
    names = [*open_, *(name for name in defaults if name not in (*HIDDEN, *open_))]
    return {name: Option(name, defaults[name], kinds.get(name, ""), *words_of_option(name)) for name in names}


def parsed(metric: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a metric that its page shows, from the values of their controls."""
    return {name: option.parsed(values[name]) for name, option in options_of(metric).items() if name in values}


def query_of(metric: str, values: Mapping[str, Any]) -> str:
    """The query of a link that opens a page with the same options; defaults are not in it."""
    from urllib.parse import urlencode

    entries = {}
    for name, option in options_of(metric).items():
        value = values.get(name)
        if name in values and value != option.shown(option.default):
            text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
            entries[name] = text[:MAX_TEXT]
    return urlencode(entries)


def from_query(metric: str, query: Mapping[str, str]) -> dict[str, Any]:
    """The values of controls in the query of a link, without values that a control cannot hold.

    >>> from_query("ood_bench", {"metrics": "auroc,eer", "positive": "x", "thresholds": "True", "other": "1"})
    {'metrics': ['auroc', 'eer'], 'thresholds': True}
    """
    values: dict[str, Any] = {}
    for name, option in options_of(metric).items():
        if name not in query:
            continue
        text, choices = str(query[name])[:MAX_TEXT], option.choices
        if option.is_flag:
            values[name] = text in ("1", "true", "True")
        elif choices and option.is_list:
            values[name] = [part.strip() for part in text.split(",") if part.strip()]
        elif not choices or text in choices or "int" in option.kind:
            values[name] = text
    return values


LEAVE_OUT, BY_POSITION = "Leave out", "Take rows as they stand, by position"
TOGETHER = "Draw together"


def in_form(metric: str) -> Face:
    """The spelling of cures on the page of a metric: widgets by their labels; other choices are Python's.

    >>> spell = in_form("anomaly_suite")
    >>> spell(Cure("", {"levels": "image"})), spell(Cure("", {"resize": Or("nearest", "bilinear")}))
    ('choose image under “Judge images, pixels, or both”', 'tick “Resize maps to the size of their masks (bilinear)”')
    >>> spell(Cure("", {"regions": "labels"}))
    "in Python, use regions='labels'"
    """
    options, choices = options_of(metric), subject_of(metric).form.choices
    labels = {column.name: label_of(metric, column) for column in layout_of(metric).columns}

    def widget(name: str, value: Any, cure: Cure) -> str:
        values = value if isinstance(value, Or) else Or(value)
        if name == "leave_out":
            return f"tick “{label_of_leave_out(cure)}”"
        if name == "by_position":
            return f"tick “{BY_POSITION}”"
        if name == CLUSTERS:
            columns = [column for place in values for column in split_place(place)[1]]
            return f"choose {' or '.join(columns)} under “{TOGETHER}”"
        if name in choices and choices[name][1] in values:
            return f"tick “{choices[name][0]}”"
        if name not in options:
            return ""
        shown = " or ".join(_typed(options[name].shown(one)) for one in values) or "a value"
        return f"{'choose' if options[name].choices else 'enter'} {shown} under “{options[name].label}”"

    def spelled(cure: Cure) -> str:
        if "columns" in cure.choices and reads_images(metric):  # of a list of images, which pages do not choose
            return f"in Python, {in_python(cure)}"
        columns = [
            f"choose {_typed(value or 'a column')} under “{labels[name]}”"
            for name, value in cure.choices.get("columns", {}).items()
        ]
        ways = [widget(name, value, cure) for name, value in cure.choices.items() if name != "columns"]
        return " and ".join([*columns, *ways]) if all(ways) else f"in Python, {in_python(cure)}"

    return spelled


def _typed(shown: Any) -> str:
    return ", ".join(shown) if isinstance(shown, list) else str(shown)


def label_of_leave_out(cure: Cure) -> str:
    """The label of the box that leaves something out, as a cure names it.

    >>> label_of_leave_out(Cure("to leave out 3 files", {"leave_out": True}))
    'Leave out 3 files'
    """
    return cure.reason.removeprefix("to ").capitalize()


def _number(text: str) -> Any:
    """The text as an int if it is whole, else as a float, else unchanged.

    >>> _number("3"), _number("0.5"), _number("five")
    (3, 0.5, 'five')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except (ValueError, OverflowError):
            continue
    return text
