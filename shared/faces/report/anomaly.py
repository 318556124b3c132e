"""The report of folders of anomaly maps: numbers, decisions, curves, the worst images, and categories. Needs Pillow."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...anomaly.anomaly_suite import AnomalySuite
from ...answers.anomaly import NEXT
from ...answers.answer import Answer, Bars, Figure, Group, Histogram, Matrix, Pictures, Table
from ...answers.answers import answers_from
from ...answers.computing import note_of
from ...answers.folders import Folders
from ...answers.intervals import LEVEL
from ...answers.models import group_table
from ...answers.subject import subject_of
from ...reading.cures import Advice, Cure, Face, in_python
from ...reading.maps.layouts import TITLES
from ...reading.progress import progress_bar
from ...written.files import write_file
from .. import html
from ..drawing import NARROW
from . import frame
from .answer import images_section, report_html
from .frame import Block, Section

_FULL, _OPEN = 2, 2  # the most categories that get a card each, and whose curves are not folded
_SIDES = ((60, 320), (300, 224), (math.inf, 160))  # (number of images, pixels of a picture), for up to that number
_COLUMNS = 5  # rates in the table by category
_ALSO = ("pixel_fpr95tpr", "segment_f1")  # which are in it, too
_OTHERS = Cure("to give all numbers some", {"confidence_level": LEVEL})


def write_anomaly_report(
    computed: Folders, folder: str | Path, *, progress: bool = False, face: Face = in_python
) -> Path:
    """Write a report of one HTML file, which holds its pictures.

    computed: of `compute_maps`, with `shown_of` the subject
    folder: created if missing
    progress: whether to show a bar on a terminal
    face: how cures of notes are spelled

    Returns the path of the page, index.html. Raises OSError for a folder that cannot be created or written to, where an
    earlier report then stays as it is, and ValueError for one among the files that were read.
    """
    page, reading = Path(folder) / "index.html", computed.reading
    frame.check_report_folder(
        page.parent, [reading.first.data_folder, *(one.folder for one in reading.listed.values())]
    )
    answers = answers_from(subject_of(AnomalySuite.name), computed.done, computed.settings)
    answer = next(iter(answers.values()))
    sections = [
        _decisions_section(answer, computed.settings),
        _curves_section(answer),
        _images_section(answer, progress),
        _categories_section(computed, answer),
    ]
    heading: dict[str, Any] = {
        "title": f"Anomaly maps of {reading.first.data_folder.resolve().name}",
        "command": "openworld-metrics anomaly",
        "lines": _lines(computed, answer),
    }
    on_intervals = f"{note_of(computed.done, computed.settings)}."
    more = [] if computed.done.level is None else [Advice(on_intervals, *([_OTHERS] if computed.done.of else []))]
    of_files = [note for note in answer.notes if note in reading.notes and note != f"{reading.doubt}."]
    shown = replace(answer, notes=[*(note for note in answer.notes if note not in [*of_files, on_intervals]), *more])
    folds: dict[str, Sequence[Block]] = {
        "All numbers by category": _all_by_category(computed) if len(computed.reading.category_names) > 1 else [],
        "Files": [frame.text(*of_files)],
        "Options and versions": [frame.facts(_options(computed, answer))],
    }
    text = report_html(shown, sections=sections, folds=folds, face=face, **heading)
    page.parent.mkdir(parents=True, exist_ok=True)
    write_file(page, text)
    return page


def _lines(computed: Folders, answer: Answer) -> list[str]:
    record = computed.reading.record(answer.model)
    count, title = len(record["categories"]), TITLES.get(record["layout"], "masks in a folder")
    resized = f", resized ({record['resize']})" if record["resize"] else ""
    images = [image for image, _ in computed.reading.first.pairs]
    return [
        f"data: {title}, {count} {'category' if count == 1 else 'categories'}, {len(images):,} images, "
        f"{sum(map(computed.reading.is_anomalous, images)):,} anomalous",
        f"maps: {', compared with '.join(answer.models)}{resized}",
    ]


def _options(computed: Folders, answer: Answer) -> dict[str, Any]:
    record, settings, done = computed.reading.record(answer.model), computed.settings, computed.done
    of_maps = {name: record[name] for name in ("maps", "data", "layout", "resize", "sample_pattern", "mask_threshold")}
    of_maps["void_where_invalid"] = record["void_where_invalid"] or None
    options = {name: value for name, value in settings.items() if value not in (None, False, ())}
    of = f" of {done.of}" if done.of else ""
    level = "none" if done.level is None else f"{100 * done.level:g} %{of}, {settings['n_resamples']:,} resamples"
    shown = {name: value for name, value in {**of_maps, **options}.items() if value is not None}
    return {**shown, **record["versions"], "intervals": level}


def _decisions_section(answer: Answer, settings: Mapping[str, Any]) -> Section:
    """The decisions on the images of the categories: a matrix, and bars by category and kind of defect."""
    decided = [group for group in answer.groups if "called" in group.samples]
    drawn = next((figure for figure in answer.figures if isinstance(figure, Matrix)), None)
    if drawn is None:
        return Section("Decisions", "Decisions", [])
    number = len(decided)
    every = "All images" if number == 1 else "Both categories" if number == 2 else f"All {number} categories"
    cards = [frame.chart(replace(drawn, title=every), note="")]
    of_groups = [frame.chart(replace(bars, title=group.name)) for group in decided for bars in _of_kind(group, Bars)]
    (detected, missed), (alarms, passed) = ([int(count or 0) for count in row] for row in drawn.counts)
    fixed = settings["image_threshold"] is not None
    at = "the threshold chosen before" if fixed else "its threshold of the best F1 on these images"
    lead = (
        f"{answer.model}, {'each category' if number > 1 else decided[0].name} at {at}: {missed:,} of "
        f"{detected + missed:,} defects are missed, {alarms:,} of {alarms + passed:,} normal images are false alarms."
    )
    if len({group.name.partition("/")[0] for group in decided}) < number:
        lead += " Normal images count once in each group of their category, at its threshold."
    if number <= _FULL:
        blocks = [frame.grid(*cards, *of_groups, columns=1 + number)]
    else:
        cards += [frame.chart(figure, note="") for figure in answer.figures if isinstance(figure, Bars)]
        blocks = [frame.grid(*cards), frame.fold(f"Each of the {number} categories", frame.grid(*of_groups, columns=3))]
    return Section("Decisions", "Decisions", blocks, lead)


def _of_kind(group: Group, kind: type[Figure]) -> list[Any]:
    return [figure for figure in group.figures if isinstance(figure, kind)]


def _curves_section(answer: Answer) -> Section:
    """The curves of each group, with the scores of its images."""
    grids = {group.name: frame.grid(*_cards(group), columns=4) for group in answer.groups}
    if len(grids) == 1:
        blocks = [*grids.values()]
    elif len(grids) <= _OPEN:
        blocks = [block for group, grid in grids.items() for block in (frame.text(group, kind="subject"), grid)]
    else:
        blocks = [frame.fold(group, grid) for group, grid in grids.items()]
    lead = f"Every distinct score is a threshold. Histograms: scores of {answer.model}, with its threshold as a line."
    return Section("Curves", "Curves", blocks, lead)


def _cards(group: Group) -> list[Block]:
    at, cards = group.thresholds.get("image", ""), []
    for figure in group.figures:
        if isinstance(figure, Bars):
            continue
        threshold = float(at) if at and isinstance(figure, Histogram) else None
        values = ", ".join(f"{one.name} {one.value:.3f}" for one in _series(figure) if one.value is not None)
        name = f"{group.name}: {figure.title.lower()}{', ' * bool(values)}{values}"
        cards.append(frame.chart(figure, name=name, width=NARROW, threshold=threshold))
    return cards


def _series(figure: Figure) -> Sequence[Any]:
    return getattr(figure, "series", ())


def _images_section(answer: Answer, progress: bool) -> Section:
    """The worst images of each kind in each group by the first model, with the maps of all and filters."""
    side = next(side for most, side in _SIDES if len(answer.images) <= most)
    worst = answer.images.at_most(side) if isinstance(answer.images, Pictures) else answer.images
    images = [*progress_bar(worst, unit=" pictures", shown=progress)]
    if not images:
        text = frame.text("Every image is judged correctly, and no pixel is wrong.")
        return Section("Images", "Images judged worst", [text])
    return images_section(images, answer.models)


def _categories_section(computed: Folders, answer: Answer) -> Section:
    """The table by category, with a bar for each model in every cell; the mean first."""
    first, *others = _by_category(computed)
    keys = [*dict.fromkeys([*answer.leading, *(key for key in NEXT if key in first.shares), *first.shares])]
    shown = [*keys[:_COLUMNS], *(key for key in _ALSO if key in keys[_COLUMNS:])]
    columns: dict[str, Sequence[Any]] = {name: first.columns[name] for name in (next(iter(first.columns)), "images")}
    for key in shown:
        several = [table.columns[key] for table in (first, *others)]
        columns[key] = [*map(list, zip(*several))] if others else several[0]
    higher = {key: first.higher[key] for key in shown if key in first.higher}
    table = Table("By category", columns, first=first.first, higher=higher)
    drawn = html.table(table, html.titles_of(answer), meters=shown)
    lead = f"The upper bar is {answer.models[0]}, the lower {answer.models[1]}. " if others else ""
    lead += "The mean gives each category the same weight." if first.first else ""
    return Section("Categories", "By category", [drawn], lead)


def _by_category(computed: Folders) -> list[Table]:
    """The table of the categories of each model."""
    subject = subject_of(AnomalySuite.name)
    return [group_table(subject, one) for one in computed.done.models.values()]


def _all_by_category(computed: Folders) -> list[Block]:
    tables = []
    for name, table in zip(computed.done.models, _by_category(computed)):
        titled = replace(table, title=f"{name}, by category")
        tables += [frame.text(name, kind="subject"), html.table(titled, digits=6)]
    return tables
