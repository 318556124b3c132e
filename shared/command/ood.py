"""The command `openworld-metrics ood`: compare OOD sets with known samples, from files of scores."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..answers.computing import note_of
from ..answers.folders import compute_sets, with_accuracy
from ..faces.tables import FORMS, make_table, render
from ..faces.terminal import has_colour, results_text, width
from ..leaderboard.undecided import samples_of
from ..metric.clusters import CLUSTERS
from ..ood.ood_bench import OODBench
from ..reading.places import unsigned
from ..reading.reading import Census
from ..reading.rows.inputs import file_of, split_place
from ..reading.rows.roles import KNOWN_GROUP, check_sets
from ..reading.rows.score_files import Scores, read_scores, score_files
from ..reading.sets import sets_of
from ..suites import SUITE_METRICS
from ..written.results import SAMPLES, as_json, census_record
from .columns import COLUMNS
from .fitted import Threshold
from .messages import on_terminal, say_scores, warn, warn_of_idle_options
from .options import INTERVALS, MetricCommand, from_names, read_options
from .outputs import check_json_and_picture, deliver, form_of, printing, saving, without_intervals

_HELP = """Compare each of several OOD sets with the known samples, from files of scores.

\b
    openworld-metrics ood --known scores/cifar10.npz --unknown near/cifar100=scores/cifar100.npz \\
        --unknown near/tin=scores/tin.npz --unknown far/svhn=scores/svhn.npz
    openworld-metrics ood --known scores/cifar10.npz --unknown scores --percent --format latex

Scores are higher for unknown samples. A FILE is a table (.csv, .tsv, .txt, .parquet, …), .npy, .npz, .json, .jsonl or
.pt with one column of scores, or FILE:COLUMN, as in x.txt:1 or x.json:predictions.real; FILE:-COLUMN negates it, and
--flip negates the columns of all files. A column conf is OpenOOD's confidence, and is negated, in any format; other
columns whose names say confidence need a sign or --flip. pred and label are the classes of samples, from which comes
the accuracy of the known ones. In a FOLDER each file is a set: near/cifar100.npz is near/cifar100. OpenOOD's folder of
scores has the near and far sets of its benchmark.

--label-from-name takes the known and the unknown samples of a FILE that holds both, by the names of its rows, and
--groups-from-name names the sets of the unknown ones; known samples belong to every set. --clusters COLUMN of each
FILE, such as speaker, or --clusters-from-name, says which rows depend on each other: intervals draw them together.

A name with a slash adds a row, such as near, with the mean of its sets. The numbers equal OpenOOD's; its areas under
precision and recall, by trapezoids, are --metrics aupr_in_trapezoid,aupr_out_trapezoid. If scores tie, its FPR may be
higher, since it drops points of the ROC curve before it searches them. Results are a table on a terminal, and in a pipe
JSON, unless --format or --percent asks for a table.
"""


@click.command(cls=MetricCommand, metric=OODBench, only=INTERVALS, help=_HELP)
@click.option("--known", required=True, metavar="FILE", help="Scores of known samples.")
@click.option(
    "--unknown", multiple=True, required=True, metavar="[NAME=]FILE|FOLDER", help="Scores of an OOD set, or of many."
)
@click.option("--full-spectrum", multiple=True, metavar="FILE", help="Known samples, too, from a shifted set.")
@click.option("--clusters", metavar="COLUMN", help=COLUMNS[CLUSTERS])
@from_names()
@click.option("--flip", is_flag=True, help="Scores are higher for known samples: negate them, other than FILE:+COLUMN.")
@click.option(
    "--metrics", default=",".join(SUITE_METRICS), show_default=True, metavar="NAME,NAME", help="Those of ood_bench."
)
@click.option("--threshold", type=Threshold(), help="For metrics of decisions, score > threshold: a number or a file.")
@printing(*FORMS, "json")
@click.option(
    "--save", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write results to a .json."
)
@click.option("--save-samples", is_flag=True, help="Keep the samples in the .json, so that table can compare models.")
def ood(
    known: str,
    unknown: tuple[str, ...],
    full_spectrum: tuple[str, ...],
    flip: bool,
    metrics: str,
    threshold: float | None,
    form: str | None,
    percent: bool,
    save: Path | None,
    save_samples: bool,
    clusters: str | None,
    label_from_name: str | None,
    groups_from_name: str | None,
    clusters_from_name: str | None,
    **intervals: Any,
) -> None:
    """Compare each of several OOD sets with the known samples; see `_HELP`."""
    chosen, form = form, form_of(form, percent)
    for_reading = on_terminal() and chosen is None and form == "text"
    options = read_options(OODBench, (), intervals)
    if save_samples and save is None:
        raise click.UsageError("expected --save with --save-samples, got none")
    places, census = _unknown_places(unknown, known, full_spectrum)
    read = (known, *full_spectrum, *places.values())
    check_json_and_picture(save, None, lambda: filter(None, map(file_of, read)))
    options |= {"metrics": [metric.strip() for metric in metrics.split(",")], "threshold": threshold}
    metric = OODBench(**options)
    warn_of_idle_options(metric, shows_intervals=on_terminal())
    if clusters is not None and clusters_from_name is not None:
        raise click.UsageError("expected --clusters or --clusters-from-name, got both")
    patterns = {"label_from_name": label_from_name, "clusters_from_name": clusters_from_name}
    of_known = partial(read_scores, flip=flip, is_unknown=False, from_names=patterns, clusters=clusters)
    patterns = {**patterns, "groups_from_name": groups_from_name}
    of_sets = partial(read_scores, flip=flip, is_unknown=True, from_names=patterns, clusters=clusters)
    inside = {place: of_known(place) for place in (known, *full_spectrum)}
    outside = {place: of_sets(place) for place in dict.fromkeys(places.values())}
    check_sets(*({place: side.scores for place, side in sides.items()} for sides in (inside, outside)))
    say_scores({**inside, **outside})
    unknown_sides: dict[str, Scores] = {}
    for name, place in places.items():
        for set_name, side in outside[place].by_set().items():
            full = "/".join(filter(None, (name, set_name)))
            if full in unknown_sides:
                raise ValueError(f"{place}: expected other sets than in the files before, got {full} again")
            unknown_sides[full] = side
    reading = sets_of(inside[known], unknown_sides, [inside[place] for place in full_spectrum])
    settings = metric.loaded_options
    done = compute_sets(reading, settings, intervals=None if for_reading else False, keeps_samples=save_samples)
    shown = with_accuracy(done, reading)
    samples = {SAMPLES: samples_of(done.metrics[""], options)} if save_samples else {}
    summary = without_intervals(shown) if metric.confidence_level is None else shown
    results = summary.as_dict()
    if for_reading:
        drawn: dict[str, Any] = {"percent": percent, "width": width(), "colour": has_colour()}
        text = results_text("ood", f"known: {known}", shown, note_of(done, settings), **drawn)
    else:
        text = as_json(results) if form == "json" else render(make_table({known: results}), form, percent=percent)
    deliver(text, *saving(save, {**results, **summary.record(), **census_record(census), **samples}))


def _unknown_places(texts: Sequence[str], known: str, full_spectrum: Sequence[str]) -> tuple[dict[str, str], Census]:
    """The files of the OOD sets by name, and a census. Raises UsageError for two sets of one name."""
    places: dict[str, str] = {}
    shifted: list[str] = []
    read = [*map(file_of, (known, *full_spectrum, *texts))]
    several = {file for file in read if read.count(file) > 1}
    for text in texts:
        name, equals, place = text.partition("=")
        if not equals or Path(text).exists():
            name, place = "", text
        for rest, path in _sets(place, known, full_spectrum).items():
            full = "/".join(filter(None, (name, rest))) or _own_name(path, several)
            if rest.partition("/")[0] == KNOWN_GROUP:
                shifted.append(path)
            elif not full:
                raise click.UsageError("expected --unknown NAME=- for standard input, got no name")
            elif full in places:
                raise click.UsageError(f"expected --unknown {full} once, got it twice")
            else:
                places[full] = path
    if shifted:
        files = ", ".join(shifted)
        warn(f"left out {files}, of known classes; --full-spectrum FILE adds them to the known samples")
    return places, Census({"sets": len(places)}, {("sets", "of known classes"): shifted} if shifted else {})


def _own_name(place: str, several: Collection[Path | None]) -> str:
    """The name of a set without one: of its column, in a file of several sets, or else of its file."""
    file = file_of(place)
    columns = ",".join(map(unsigned, split_place(place)[1])) if file in several else ""
    return columns or getattr(file, "stem", "")


def _sets(place: str, known: str, full_spectrum: Sequence[str]) -> dict[str, str]:
    """The OOD sets in a file or folder by name."""
    if place == "-" or not Path(place).is_dir():
        return {"": place}
    inputs = [path for path in map(file_of, (known, *full_spectrum)) if path is not None and path.exists()]
    files = score_files(place, inputs[0] if inputs else known)
    return {name: str(path) for name, path in files.items() if not any(map(path.samefile, inputs))}
