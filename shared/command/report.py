"""The page of an answer of compute, with images of the samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import click

from ..answers.answer import Answer
from ..answers.subject import subject_of
from ..faces.report.answer import report_html, with_outcomes
from ..faces.report.frame import check_report_folder
from ..faces.report.pictures import list_images
from ..loading import METRICS
from ..metric.metric import Metric
from ..reading.reading import Reading
from ..written.files import write_file
from .flags import in_flags
from .messages import complain


def check_report(metric: type[Metric], folder: Path, images: str | None) -> None:
    """Raise UsageError for images of a metric without samples, and the errors of `check_report_folder`."""
    if images is not None and subject_of(metric.name).images_are_rows:
        able = ", ".join(name for name in METRICS if not subject_of(name).images_are_rows)
        raise click.UsageError(f"--images: expected a metric that judges single samples ({able}), got {metric.name}")
    check_report_folder(folder, [Path(images)] if images is not None and Path(images).is_dir() else [])


def writing_report(
    answer: Answer, folder: Path, pictures: list[Path], files: Sequence[str], places: Mapping[str, str]
) -> Callable[[], object]:
    """A function that writes the report of an answer.

    pictures: of each sample, or none; files and places, which were read, and of which columns
    """
    about = ", ".join([*files, *(f"{column}: {place}" for column, place in places.items())])
    lines = [line for line in (answer.question, answer.data, about) if line]
    return partial(_write, answer, folder, pictures, lines)


def pictures_of(images: str | None, count: int, reading: Reading, *, by_position: bool) -> list[Path]:
    """The picture of each of `count` samples, found as a note says; none without --images."""
    if images is None:
        return []
    pictures, note = list_images(images, count, None if by_position else reading.table)
    complain(f"note: {note}")
    return pictures


def _write(answer: Answer, folder: Path, pictures: list[Path], lines: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page = report_html(with_outcomes(answer, pictures), command="openworld-metrics compute", lines=lines, face=in_flags)
    write_file(folder / "index.html", page)
