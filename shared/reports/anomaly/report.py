"""Write a report of anomaly maps: numbers, decisions, curves, and the worst images. Needs Pillow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...reading.maps.layouts import TITLES
from ...suites.anomaly import AnomalyRun
from ...written.files import write_file
from ..frame import details, facts_html, report_html
from ..page import check_report_folder
from .curves import curves_section
from .decisions import decisions_section
from .images import images_section
from .models import Model, model_names
from .numbers import Numbers, report_numbers
from .tables import all_by_category, all_numbers, categories_section, headline_html, meanings


def write_anomaly_report(
    run: AnomalyRun,
    folder: str | Path,
    *,
    other: AnomalyRun | None = None,
    comparison: Mapping[str, Any] | None = None,
    numbers: Numbers | None = None,
    images: int = 5,
    progress: bool = False,
) -> Path:
    """Write a report of one HTML file, which holds its pictures.

    Parameters: run, of `evaluate_maps` with curves=True; folder, created if missing; other, the run of another model on
    the same images; comparison, of `compared_runs`, and numbers, of `report_numbers`, if any; images, the largest
    number of images of each kind (missed, false alarms, mostly uncovered) are drawn of a group; progress, whether to
    show a bar on a terminal.

    Without a confidence_level, intervals of small data are computed for the headline, with 200 resamples. Returns the
    path of the page, index.html. Raises OSError for a folder that cannot be created or written to, where an earlier
    report then stays as it is, and ValueError for one among the files that were read.
    """
    folder = Path(folder)
    read = [run.listed.folder, run.listed.data_folder, *([other.listed.folder] if other else [])]
    check_report_folder(folder, read)
    runs = [run] if other is None else [run, other]
    models = [Model(each, name) for each, name in zip(runs, model_names(runs))]
    numbers = report_numbers(run, other, comparison) if numbers is None else numbers
    names = [model.name for model in models]
    sections = [
        decisions_section(models[0]),
        curves_section(models),
        images_section(models, images, progress=progress),
        categories_section(numbers, names),
        details(
            {
                "All numbers, six digits": all_numbers(numbers, names),
                "All numbers by category": all_by_category(numbers, names),
                "What the numbers mean": meanings(numbers),
                "Options and versions": facts_html({**_facts(run), "intervals": numbers.intervals}),
            }
        ),
    ]
    text = report_html(
        f"Anomaly maps of {run.listed.data_folder.resolve().name}",
        "openworld-metrics anomaly",
        _said(run, names),
        headline_html(numbers, names),
        [section for section in sections if section.body],
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "index.html", text)
    return folder / "index.html"


def _said(run: AnomalyRun, names: Sequence[str]) -> list[str]:
    """Lines on the evaluated data."""
    record = run.results["evaluation"]
    count, images = len(record["categories"]), len(run.images)
    title = TITLES.get(record["layout"], "masks in a folder")
    resized = f", resized ({record['resize']})" if record["resize"] else ""
    return [
        f"data: {title}, {count} {'category' if count == 1 else 'categories'}, {images:,} images, "
        f"{sum(image.anomalous for image in run.images):,} anomalous",
        f"maps: {', compared with '.join(names)}{resized}",
    ]


def _facts(run: AnomalyRun) -> dict[str, str]:
    """The folders, the options that differ from the defaults, and the versions of packages."""
    record = run.results["evaluation"]
    facts = {name: record[name] for name in ("maps", "data", "layout", "resize", "sample_pattern", "mask_threshold")}
    if record["void_where_invalid"]:
        facts["void_where_invalid"] = True
    options = {name: value for name, value in record["options"].items() if value not in (None, False, ())}
    said = {name: _words(value) for name, value in {**facts, **options}.items() if value is not None}
    versions = {name: str(value) for name, value in record["versions"].items()}
    return {**said, **versions, "signature": run.results["signature"]}


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {each}" for name, each in value.items())
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
