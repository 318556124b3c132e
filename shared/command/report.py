"""The option --report of compute: write a page of the samples with the most misleading scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..faces.report.frame import check_report_folder
from ..faces.report.pictures import list_images
from ..faces.report.samples import has_errors_of_samples, write_error_report
from ..loading import METRICS, metric_class
from ..metric.metric import Metric
from .options import MetricCommand

_HINT = "Intervals of so many samples take a while: add them with --confidence-level 0.95."


def check_report(metric: type[Metric], folder: Path, images: str | None) -> None:
    """Raise UsageError for a metric without a table of samples, and the errors of `check_report_folder`."""
    if not has_errors_of_samples(metric):
        able = ", ".join(name for name in METRICS if has_errors_of_samples(metric_class(name)))
        message = f"--report: expected a metric that judges single samples ({able}), got {metric.name}"
        others = [f"openworld-metrics {name} --report" for name in _commands_with_a_report(metric)]
        raise click.UsageError(message + "".join(f"; {other} writes one from files" for other in others))
    check_report_folder(folder, [Path(images)] if images is not None and Path(images).is_dir() else [])


def _commands_with_a_report(metric: type[Metric]) -> list[str]:
    """The commands of a metric's own that have a --report, such as anomaly for anomaly_suite."""
    context = click.get_current_context()
    group = context.find_root().command
    if not isinstance(group, click.Group):
        return []
    commands = [group.get_command(context, name) for name in group.list_commands(context)]
    return [
        str(command.name)
        for command in commands
        if isinstance(command, MetricCommand)
        and command.metric is metric
        and any(param.name == "report" for param in command.params)
    ]


def error_report(
    name: str,
    results: Mapping[str, Any],
    folder: Path,
    images: str | None,
    places: Mapping[str, str],
    count: int,
    note: str,
) -> Callable[[], object]:
    """A function that writes the report, after a check that each of `count` samples has an image.

    note: on the intervals; "" if there are none
    """
    pictures = None if images is None else list_images(images, count)
    about = ", ".join(f"{column}: {place}" for column, place in places.items())
    write = partial(write_error_report, dict(results), folder, title=f"Errors, {name}", about=about)
    return partial(write, note=note or _HINT, images=pictures)
