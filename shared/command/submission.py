"""The command `openworld-metrics submission`: write a submission to MVTec AD 2's server from anomaly maps."""

from __future__ import annotations

from pathlib import Path

import click

from ..evaluation.submission import Merged, write_submission
from ..written.results import as_json
from .fitted import fitted_thresholds
from .flags import WaitingCommand
from .outputs import deliver, on_terminal

_HELP = """Write a submission of MVTec AD 2: maps in float16, and their pixels above each object's threshold.

\b
    openworld-metrics threshold --maps validation --rule image-fpr:0.05@0.95 --save t.json
    openworld-metrics submission --maps maps --thresholds t.json --out submission

Maps are <object>/test_private/NNN_regular and <object>/test_private_mixed/NNN_mixed of all eight objects, in .tiff,
.npy, .npz or .png of 16 bits. Names, counts, types and sizes are checked, and that float16 holds all scores; scores are
compared with the threshold before they are rounded. The folder is written whole or not at all.
"""


@click.command(cls=WaitingCommand, help=_HELP)
@click.option("--maps", required=True, type=click.Path(path_type=Path), help="Folder of a model's anomaly maps.")
@click.option("--thresholds", required=True, metavar="t.json", help="File saved by threshold --maps.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to create.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the data set, to check names and sizes.")
def submission(maps: Path, thresholds: str, out: Path, data: Path | None) -> None:
    """Write a submission of MVTec AD 2; see `_HELP`."""
    merged = write_submission(maps, fitted_thresholds("pixel_threshold", thresholds), out, data=data, progress=True)
    results = {
        "folder": str(out),
        "objects": {
            "object": [*merged],
            "distinct_scores": [each.before for each in merged.values()],
            "merged_by_float16": [each.before - each.after for each in merged.values()],
        },
    }
    deliver(_text(merged, out) if on_terminal() else as_json(results))


def _text(merged: dict[str, Merged], out: Path) -> str:
    before, after = (sum(column) for column in zip(*merged.values()))
    lines = [
        f"{name:11}  {each.before - each.after:,} of {each.before:,} distinct scores merged by float16"
        for name, each in merged.items()
    ]
    return "\n".join([*lines, "", f"{out}: {before - after:,} of {before:,} in all, counted map by map"])
