"""`read`: the one way from files to the columns of a metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..loading import metric_class, task_of
from .boxes.reading import PREDICTED_FORMATS, REFERENCES, hold_boxes, read_boxes
from .columns.metrics import layout_of
from .maps.files import hold_lists, hold_maps
from .maps.layouts import TITLES
from .maps.planes import MAP_SUFFIXES, MASK_SUFFIXES
from .maps.reading import read_maps
from .reading import Input, Reading
from .rows.rows import rows_of
from .tables.files import SUFFIXES


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


class Reader(NamedTuple):
    """A reader of files that are no tables.

    takes: whether the files of inputs are such; kinds, of the files of each input, in words
    options: of the metric, which the reader takes, too
    takes_one: whether the files of one input are all that it needs
    """

    takes: Callable[[Sequence[Sequence[Path]]], bool]
    read: Callable[..., Reading]
    kinds: Mapping[str, str]
    options: Collection[str]
    takes_one: Callable[[Sequence[Path]], bool] = lambda files: False


_TITLES = "; ".join(TITLES.values())
# of the tasks whose data come in files of one image each, too
READERS: Mapping[str, Reader] = {
    "detection": Reader(
        hold_boxes,
        read_boxes,
        {
            "predictions": f"{_listed(one.name for one in PREDICTED_FORMATS)}: folders, files or .zip archives",
            "references": f"{_listed(one.name for one in REFERENCES)}: folders, files or .zip archives",
        },
        ["unknown_class_id"],
    ),
    "anomaly": Reader(
        hold_maps,
        read_maps,
        {
            "maps": f"{_listed(sorted(MAP_SUFFIXES))}: folders, files or .zip archives",
            "masks": f"{_listed(sorted(MASK_SUFFIXES))}, or a data set: {_TITLES}",
        },
        ["ignore_value", "levels", "regions"],
        hold_lists,
    ),
}


def read(metric: str, *inputs: Input, **choices: Any) -> Reading:
    r"""Read the columns of a metric from files.

    Parameters: metric, its name; inputs, files, folders, archives (.zip) or lists of these: one input, or
    predictions and references for openset_detection and maps and data for anomaly_suite, where a mapping of the
    first by name has several models, and a table of paths of maps and masks needs no second; choices, of
    `read_boxes` and `read_maps` for files of boxes, maps and masks, else of `rows_of`, which are columns (by name,
    a name or names of arrays in the files), read_as, leave_out, flip, stated, by_position, label_from_name,
    groups_from_name and clusters_from_name (regular expressions that read names of rows or files).
    What is not chosen is guessed from names and values, and said in `Reading.guesses`; how rows of several files were
    joined is said in `Reading.notes`.

    Returns a `Reading`, whose `columns` go into `compute`. Raises ValueError for an unknown metric, without inputs and
    columns, for files and cells that cannot be read, and for what would be left out, unless leave_out is true;
    TypeError for a column without arrays, and for an input that is no place.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "scores.csv")
    >>> _ = path.write_text("energy,label\n0.1,id\n0.9,ood\n")
    >>> reading = read("ood_bench", path)
    >>> reading.columns["references"].tolist(), reading.guesses
    ([0, 1], ['predictions is energy', 'references is label'])
    """
    metric_class(metric)
    if not inputs and not any(value is not None for value in (choices.get("columns") or {}).values()):
        raise ValueError(
            f"inputs: expected a file, a folder, an archive, a list of files or a data frame, or columns by name, for "
            f"{', '.join(layout_of(metric).names)} of {metric}; got none"
        )
    if holds(metric, [*map(_paths, inputs)]):
        return READERS[task_of(metric)].read(*inputs, **choices)
    return rows_of(metric, *inputs, **choices).reading()


def takes(metric: str) -> str:
    r"""Describe in Markdown the files of a metric: the names of its columns, and the files beside tables.

    >>> print(takes("accuracyk").splitlines()[2])
    - `predictions`: y_pred, preds, pred, logits, logit, probs, prob, proba, scores, score, class, guess, p
    """
    kinds = _listed(filter(None, SUFFIXES))
    lines = [f"Tables and arrays ({kinds}), whose columns are recognised by these names, or by values:", ""]
    for column in layout_of(metric).columns:
        also = f": {_listed(column.names)}" if column.names else ""
        lines.append(f"- `{column.name}`{'' if column.required else ' (optional)'}{also}")
    if reads_images(metric):
        lines += ["", "Files of one image each:", ""]
        lines += [f"- {name}: {kinds}" for name, kinds in READERS[task_of(metric)].kinds.items()]
    return "\n".join(lines)


def holds(metric: str, inputs: Sequence[Sequence[Path]]) -> bool:
    """Whether inputs are files of boxes, or of maps and masks, rather than tables and arrays."""
    if not reads_images(metric):
        return False
    return are_whole(metric, inputs) or (len(inputs) == 2 and READERS[task_of(metric)].takes(inputs))


def are_whole(metric: str, inputs: Sequence[Sequence[Path]]) -> bool:
    """Whether the files of one input, beside which others are empty, are such that a metric needs no other."""
    filled = [paths for paths in inputs if paths]
    return reads_images(metric) and len(filled) == 1 and READERS[task_of(metric)].takes_one(filled[0])


def options_read(metric: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a metric that its reader of files of images takes, too, other than their defaults."""
    usual = metric_class(metric).options
    names = READERS[task_of(metric)].options
    return {name: options[name] for name in names if options.get(name, usual[name]) != usual[name]}


def reads_images(metric: str) -> bool:
    """Whether the data of a metric may come in files of one image each.

    >>> reads_images("openset_detection"), reads_images("ood_bench")
    (True, False)
    """
    return task_of(metric) in READERS


def _paths(places: Any) -> list[Path]:
    """The places of an input; none for a data frame."""
    if isinstance(places, (str, PathLike)):
        return [Path(places)]
    several = places.values() if isinstance(places, Mapping) else places if isinstance(places, (list, tuple)) else ()
    return [path for place in several for path in _paths(place)]
