"""Read files of a detector's scores, one for each data set, and list folders of them.

OpenOOD saves an .npz for each set in one folder, `scores/cifar100.npz`, with `pred`, `conf` and `label` of its samples.
Its confidence is higher for known samples, and is therefore negated, in a file of any format.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...arrays.checks import as_labels, as_scores, check_lengths
from ..places import unsigned
from ..reasons import named
from ..tables.files import SUFFIXES, read_table
from .inputs import check_direction, picked_names, split_place
from .kinds import Column

CONF = "conf"  # OpenOOD's confidence

# sets of known classes under covariate shift, from OpenOOD
KNOWN_GROUP = "csid"


class Scores(NamedTuple):
    """Scores of a data set.

    scores: (N,) higher is more unknown
    predictions, references: (N,) predicted and true classes of known samples; None if the file has none
    negated: the name of the column, if the scores are negated because of it; else ""
    """

    scores: Any
    predictions: Any = None
    references: Any = None
    negated: str = ""


def read_scores(place: str | Path, *, flip: bool = False) -> Scores:
    """Read the scores of a data set.

    Parameters: place, a file with one column, with one called `scores` or OpenOOD's `conf`, or with the name of a
    column after a colon, or "-" for standard input; flip, whether to negate a column to which the place gives no sign.
    Without flip or a sign, `conf` is negated, since it is higher for known samples, and another name that says
    confidence is refused. Columns `pred` and `label` are the predicted and true classes.
    Returns `Scores`. Raises ValueError, with the place, for an unreadable file, NaN and other shapes than (N,).
    """
    path, picked = split_place(str(place))
    table = read_table(path, picked)
    with named(path):
        there, column = {name.strip() for name in table.arrays}, Column("scores")
        by_name = not picked and column.name not in there and CONF in there
        names = picked_names(column, table, [*table.arrays], [CONF] if by_name else picked)
        openood = not flip and [name.strip() for name in names] == [CONF]
        if flip or openood:
            names = [name if name[:1] in ("-", "+") and name not in table.arrays else f"-{name}" for name in names]
        check_direction([name for name in names if not (table.alone and not picked)])
        own = unsigned(names[0]).strip() if len(names) == 1 and not table.alone else column.name
        scores = as_scores(column.take(names, table), own)
        classes: dict[str, Any] = {}
        for kind in ("pred", "label") if {"pred", "label"} <= there else ():
            named_so = picked_names(Column(kind), table, [*table.arrays], [kind])
            classes[kind] = as_labels(Column(kind).take(named_so, table), kind)
        check_lengths(**{own: scores, **classes})
        return Scores(scores, classes.get("pred"), classes.get("label"), CONF if openood else "")


def score_files(folder: str | Path, known: str | Path) -> dict[str, Path]:
    """The files of scores in a folder by the names of their sets; OpenOOD's sets are prefixed with near/ or far/.

    A set has the name of its file without the suffix, after its subfolder, if any: near/cifar100. In a folder without
    subfolders, beside known samples of cifar10, cifar100, mnist, imagenet200 or imagenet, OpenOOD's sets are near/… and
    far/… as in its benchmarks, and its covariate-shifted sets of known classes csid/….

    Parameters: folder; known, the file of the known samples, which is left out.
    Returns {name: path}, sorted. Raises ValueError for a folder without other files of scores, and for duplicate names.
    """
    folder, known = Path(folder), Path(known)
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix.lower() in SUFFIXES and path.is_file())
    others = [path for path in paths if not (known.exists() and path.samefile(known))]
    benchmark = _BENCHMARKS.get(known.stem.lower(), {})
    files: dict[str, Path] = {}
    for path in others:
        name = path.relative_to(folder).with_suffix("").as_posix()
        name = f"{benchmark[name]}/{name}" if name in benchmark else name
        if name in files:
            raise ValueError(f"{folder}: expected one file of {name}, got {files[name].name} and {path.name}")
        files[name] = path
    if not files:
        raise ValueError(f"{folder}: expected files of scores ({', '.join(SUFFIXES)}), got none")
    return dict(sorted(files.items()))


def is_folder(place: str) -> bool:
    """Whether a place is a folder rather than a file, a column of one, or standard input.

    >>> is_folder("."), is_folder("-"), is_folder("scores.npz:conf")
    (True, False, False)
    """
    return place != "-" and os.path.isdir(place)


def _benchmark(near: str, far: str, csid: str) -> Mapping[str, str]:
    return {name: group for group, names in (("near", near), ("far", far), ("csid", csid)) for name in names.split()}


# OpenOOD's sets, in the spellings of its configurations and of its evaluator
_IMAGENET = _benchmark(
    "ssb_hard ninco",
    "inaturalist textures openimageo openimage_o",
    "imagenetv2 imagenetc imagenetr imagenetes imagenet_v2 imagenet_c imagenet_r imagenet_es",
)
_BENCHMARKS: Mapping[str, Mapping[str, str]] = {
    "mnist": _benchmark("notmnist fashionmnist", "texture cifar10 tin places365", "svhn"),
    "cifar10": _benchmark("cifar100 tin", "mnist svhn texture places365 place365", "cinic10 cifar10c"),
    "cifar100": _benchmark("cifar10 tin", "mnist svhn texture places365 place365", "cifar100c"),
    "imagenet200": _IMAGENET,
    "imagenet": _IMAGENET,
}
