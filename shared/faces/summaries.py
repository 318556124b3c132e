"""Results of detectors and of anomaly maps as text with six decimals, for files, and on a terminal with three."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..answers.detection import words
from ..answers.folders import ENDS
from ..comparison import TABLE
from ..detection.errors import KEYS_OF_TABLES
from ..metric.results import Results
from ..metric.rounding import number_text
from ..reading.maps.layouts import TITLES
from ..written.files import write_file
from ..written.results import as_json, direction, shares
from .terminal import aligned, in_blocks, joined, printed, quiet, strong

DIGITS = 6  # of a number in a file
LEFT_OUT = "left_out"  # the key of what files hold that is not evaluated, in words
_WIDTH = 110  # of a table in a file; further columns get a table below
_TITLES = {"standard_metrics": "Standard metrics (known classes)", "openset_metrics": "Open-set metrics"}
_MEANINGS = {
    "mAP50": "average precision at 101 recalls, IoU 0.5",
    "mAP50-95": "average precision, averaged over IoU 0.5 to 0.95",
    "precision": "at IoU 0.5 and the confidence of the highest mean F1",
    "recall": "at the same confidence",
}
_SHARES = {"Precision", "Recall", "AP", "share", "ΔmAP", "ΔU-AP", "ΔU-Recall"}  # among the columns of tables


def check_ending(path: Path) -> None:
    """Raise ValueError for a file that is neither .txt nor .json."""
    if path.suffix not in (".json", ".txt"):
        raise ValueError(f"{path}: expected a file ending in .txt or .json")


def save_results(results: Results, path: str | Path) -> None:
    """Write results of a detector to a file, whole or not at all: JSON to a .json, the `summary` to a .txt.

    Raises ValueError for another suffix, OSError for a file that cannot be written.
    """
    path = Path(path)
    check_ending(path)
    text = as_json(results, indent=2) if path.suffix == ".json" else summary(results)
    write_file(path, f"{text}\n")


def save_anomaly_results(results: Results, path: str | Path) -> None:
    """Write results of anomaly maps to a file, whole or not at all: JSON to a .json, `anomaly_summary` to a .txt."""
    text = as_json(results, indent=2) if Path(path).suffix == ".json" else anomaly_summary(results)
    write_file(path, f"{text}\n")


def summary(
    results: Results, percent: bool = False, *, digits: int = DIGITS, width: int = 0, colour: bool = False
) -> str:
    """The results of a detector: sections for the standard metrics, the open-set metrics and a comparison.

    Parameters: results, of `evaluate_detections`, with the entry "comparison" for two detectors; percent, whether
    rates are in percent, except in a comparison; digits of rates that are not in percent; width of a terminal, in which
    meanings are wrapped; colour, for a terminal.
    """
    parts = []
    in_percent = shares(results) | _SHARES if percent else frozenset()

    def text(key: str, value: Any) -> str:
        return number_text(value, None if key in in_percent else digits, percent=key in in_percent)

    for section, values in ((section, results[section]) for section in _TITLES if results.get(section)):
        rows = {key: value for key, value in values.items() if not isinstance(value, Mapping)}
        if not any(f"{key}_low" in rows for key in KEYS_OF_TABLES):  # which the tables do not hold
            rows = {key: value for key, value in rows.items() if key not in KEYS_OF_TABLES}
        tables = {key: value for key, value in values.items() if isinstance(value, Mapping)}
        ends = {key: [rows[f"{key}_low"], rows[f"{key}_high"]] for key in rows if f"{key}_low" in rows}
        shown = rows.keys() - {f"{key}_{end}" for key in ends for end in ("low", "high")}
        protocol = {"protocol": "owod" if "A-OSE(detections)" in rows else "ow-dln"}
        lines = [
            [
                key,
                strong(text(key, rows[key])),
                quiet(f"[{text(key, ends[key])}]" if key in ends else ""),
                quiet(_said(key, protocol)),
            ]
            for key in rows
            if key in shown
        ]
        title = _TITLES[section]
        heads = [printed(strong(title), colour=colour), printed(quiet("-" * len(title)), colour=colour)]
        parts.append(joined(*heads, aligned(lines, (0, 1, 2, 3), width=width, colour=colour), by="\n"))
        for key, table in tables.items():
            cells = [[name, *(text(name, value) for value in column)] for name, column in table.items()]
            parts.append(f"{key}\n{aligned([*zip(*cells)], left=())}")
    if LEFT_OUT in results:
        parts.append(f"Left out: {results[LEFT_OUT]}")
    if "comparison" in results:
        parts.append(f"Two detectors on the same images\n\n{all_digits(results['comparison'])}")
    return joined(*parts)


def _said(key: str, protocol: Mapping[str, Any]) -> str:
    """The meaning of a key, and which direction is better; "" without a meaning."""
    meaning, known = _MEANINGS.get(key) or words(key, protocol)[1], direction(key)
    return f"{meaning}; {'higher' if known.higher else 'lower'} is better" if meaning and known is not None else meaning


def all_digits(table: Mapping[str, list[Any]]) -> str:
    """The table of `compare` with a line for each result, also of groups.

    >>> row = dict(first=[0.75], second=[0.5], difference=[0.25], low=[0.125], high=[0.375], p_value=[0.01])
    >>> print(all_digits({"key": ["auroc"], **row, "better": ["first"]}))
    key       first    second  difference       low      high  p_value  better
    auroc  0.750000  0.500000   +0.250000  0.125000  0.375000   0.0100  first
    """
    forms = ("{}", "{:.6f}", "{:.6f}", "{:+.6f}", "{:.6f}", "{:.6f}", "{:.4f}", "{}")
    rows = [
        [form.format("–" if value is None else value) for form, value in zip(forms, row)]
        for row in zip(*(table[name] for name in TABLE))
    ]
    rows, last = [[*TABLE], *rows], len(TABLE) - 1
    if "group" not in table:
        return aligned(rows, left=(0, last))
    groups = ["group", *("mean" if name is None else name for name in table["group"])]
    return aligned([[group, *row] for group, row in zip(groups, rows)], left=(0, 1, last + 1))


def anomaly_summary(results: Results, percent: bool = False) -> str:
    """The results of anomaly maps: tables of the groups and of their mean; for two models, also of the differences.

    Parameters: results, of `evaluate_maps`; for two models, with the entries "other" and "comparison"; percent, whether
    rates are in percent.
    """
    in_percent = shares(results) if percent else frozenset()
    models = [one for one in (results, results.get("other")) if one is not None]
    parts = [f"{described(one)}\n\n{_tables(_group_rows(one), in_percent)}" for one in models]
    if "comparison" in results:
        parts.append(f"First minus second\n\n{_tables(_difference_rows(results['comparison']), in_percent)}")
    return "\n\n".join(parts)


def described(results: Results, means: str = "") -> str:
    """The folder, the layout, and the numbers of categories and maps, in a line; means, as of `mean_over`."""
    record = results["evaluation"]
    title = TITLES.get(record["layout"], "masks in a folder")
    count = len(record["categories"])
    categories = f"{count} {'category' if count == 1 else 'categories'}"
    maps = f"{record['files']['maps']:,} maps"
    resized = f"resized ({record['resize']})" if record["resize"] else ""
    parts = [title, "" if means.endswith(f" {categories}") else categories, maps, resized, means]
    return f"{record['maps']}: {', '.join(filter(None, parts))}"


def _group_rows(results: Results) -> dict[str, list[Any]]:
    """The table of the groups with their mean below; columns of tables are left out."""
    nested = {key for key, column in results["groups"].items() if any(isinstance(x, (dict, list)) for x in column)}
    table = {key: column for key, column in results["groups"].items() if key not in nested}
    return {key: [*column, "mean" if key == "group" else results.get(key)] for key, column in table.items()}


def _difference_rows(comparison: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The table of the differences by group, with the differences of the means below."""
    last: dict[str, Any] = {"group": "mean", **dict(zip(comparison["key"], comparison["difference"]))}
    for end in ENDS:
        last |= {f"{key}_{end}": value for key, value in zip(comparison["key"], comparison.get(end, ()))}
    return {key: [*column, last[key]] for key, column in comparison["groups"].items()}


def _tables(columns: Mapping[str, Sequence[Any]], in_percent: Collection[str]) -> str:
    """Tables of at most `_WIDTH` characters, each with the names of the groups; None, as of a mean, is left empty."""

    def text(key: str, value: Any) -> str:
        percent = key in in_percent
        return "" if value is None else number_text(value, None if percent else DIGITS, percent=percent)

    cells = [[key, *(text(key, value) for value in column)] for key, column in columns.items()]
    names, *others = cells
    return "\n\n".join(in_blocks(names, others, _WIDTH))
