"""Results of folders of anomaly maps as text: tables, and CSV with a line for each image."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..metric.numbers import number_text
from ..metric.results import Results
from ..reading.maps.layouts import TITLES
from ..written.aligned import text_width
from ..written.atomic import write_file
from ..written.csv_text import csv_text
from ..written.results import as_json, shares
from .anomaly_comparison import ENDS
from .anomaly_run import AnomalyRun, ScoredImage, images_table

_WIDTH = 110  # of a table; further columns get a table below


def anomaly_summary(results: Results, percent: bool = False) -> str:
    """The results as text: tables of the groups and of their mean; for two models, also of the differences.

    Parameters: results, of `evaluate_maps`; for two models, with the entries "other" and "comparison"; percent, whether
    rates are in percent.
    """
    in_percent = shares(results) if percent else frozenset()
    if "comparison" not in results:
        return f"{described(results)}\n\n{_tables(group_rows(results), in_percent)}"
    first, second = results, results["other"]
    return "\n\n".join(
        (
            f"{described(first)}\n\n{_tables(group_rows(first), in_percent)}",
            f"{described(second)}\n\n{_tables(group_rows(second), in_percent)}",
            f"First minus second\n\n{_tables(difference_rows(results['comparison']), in_percent)}",
        )
    )


def described(results: Results) -> str:
    """The folder, the layout, and the numbers of categories and maps, in a line."""
    record = results["evaluation"]
    title = TITLES.get(record["layout"], "masks in a folder")
    count = len(record["categories"])
    text = f"{record['maps']}: {title}, {count} {'category' if count == 1 else 'categories'}"
    text += f", {record['files']['maps']:,} maps"
    return text + (f", resized ({record['resize']})" if record["resize"] else "")


def group_rows(results: Results) -> dict[str, list[Any]]:
    """The table of the groups with their mean below; columns of tables are left out."""
    table = {key: column for key, column in results["groups"].items() if not _nested(column)}
    return {key: [*column, "mean" if key == "group" else results.get(key)] for key, column in table.items()}


def difference_rows(comparison: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The table of the differences by group, with the differences of the means below."""
    last: dict[str, Any] = {"group": "mean", **dict(zip(comparison["key"], comparison["difference"]))}
    for end in ENDS:
        last |= {f"{key}_{end}": value for key, value in zip(comparison["key"], comparison.get(end, ()))}
    return {key: [*column, last[key]] for key, column in comparison["groups"].items()}


def cell_text(value: Any, percent: bool = False) -> str:
    """The text of a value in a table; "" for None, such as the mean of thresholds."""
    return "" if value is None else number_text(value, None if percent else 6, percent=percent)


def _nested(column: Sequence[Any]) -> bool:
    return any(isinstance(value, (dict, list)) for value in column)


def _tables(columns: Mapping[str, Sequence[Any]], in_percent: Collection[str]) -> str:
    """Tables of at most `_WIDTH` characters, each with the names of the groups; columns `in_percent` are in percent."""
    cells = {key: [key, *(cell_text(value, key in in_percent) for value in column)] for key, column in columns.items()}
    widths = {key: max(map(text_width, column)) for key, column in cells.items()}
    names = [cell + " " * (widths["group"] - text_width(cell)) for cell in cells.pop("group")]
    blocks: list[list[str]] = []
    for key, column in cells.items():
        if not blocks or text_width(blocks[-1][0]) + 2 + widths[key] > _WIDTH:
            blocks.append(list(names))
        blocks[-1] = [f"{line}  {cell.rjust(widths[key])}" for line, cell in zip(blocks[-1], column)]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks)


def per_image_csv(run: AnomalyRun, other: AnomalyRun | None = None) -> str:
    """CSV with a line for each row of `images_table` and its files: the map, and the masks, separated by semicolons.

    Parameters: run, of a model with tables; other, the run of another model on the same images, which adds its columns
    and its map. Undefined values, such as the IoU of two empty masks, are left empty.
    """
    table, files = images_table(run), _files_of(run)
    places = [(group.partition("/")[0], name) for group, name in zip(table["group"], table["image"])]
    columns = {**table, "map": [run.listed.archives.named(str(files[place].map_file)) for place in places]}
    columns["mask"] = [run.listed.archives.named(";".join(map(str, files[place].image.masks))) for place in places]
    if other:
        theirs, maps = images_table(other), _files_of(other)
        at = {row: i for i, row in enumerate(zip(theirs["group"], theirs["image"]))}
        order = [at[row] for row in zip(table["group"], table["image"])]
        own = {key: column for key, column in theirs.items() if key not in ("group", "image", "label")}
        columns |= {f"other_{key}": [column[i] for i in order] for key, column in own.items()}
        columns["other_map"] = [other.listed.archives.named(str(maps[place].map_file)) for place in places]
    return csv_text([columns, *zip(*columns.values())])


def _files_of(run: AnomalyRun) -> dict[tuple[str, str], ScoredImage]:
    """The images of a run, by category and name."""
    return {image.image.key: image for image in run.images}


def save_anomaly_results(results: Results, path: str | Path) -> None:
    """Write results to a file, whole or not at all: JSON to a .json, the `anomaly_summary` to a .txt."""
    text = as_json(results, indent=2) if Path(path).suffix == ".json" else anomaly_summary(results)
    write_file(path, f"{text}\n")
