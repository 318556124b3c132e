"""Read Pascal VOC's results: one text file for each class, as written by the evaluators of OWOD, OW-DETR and PROB.

`<class>.txt`, or `comp4_det_test_<class>.txt`, holds lines of image, confidence, xmin, ymin, xmax, ymax. Pixels count
from 1 and both ends are included, as in VOC's annotations. Source: Everingham et al., The Pascal VOC Challenge, IJCV
2010, and the development kit's readme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from ..census import BESIDE, PREDICTIONS, Census
from ..places import check_flat, files_below, files_in
from ..reasons import reason
from .classes import UNKNOWN, aliases_of, class_key, means_unknown, spelling
from .dataset import TXT, Dataset, Detections, find_image, predicted_boxes, similar_image, split_by_image
from .named import unknown_id

_PREFIX = re.compile(r"comp\d_det_[^_]+_")


def are_class_files(folder: Path, dataset: Dataset) -> bool:
    """Whether the texts of a folder are named after classes, rather than after images of the data set."""
    stems = [path.stem for path in files_in(folder, TXT)]
    if any(_PREFIX.match(stem) for stem in stems):
        return True
    images, classes = find_image(dataset), {class_key(name) for name in dataset.classes.values()}
    if any(stem not in images and (class_key(stem) in classes or means_unknown(stem)) for stem in stems):
        return True
    # if no file name is a known class, the lines must begin with images
    return not any(stem in images for stem in stems) and any(map(images.__contains__, _first_words(folder)))


def _first_words(folder: Path) -> Iterator[str]:
    """The first word of each text of a folder."""
    for path in files_in(folder, TXT):
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from next((line.split()[:1] for line in file if line.strip()), [])


def read_class_files(
    folder: str | Path, dataset: Dataset, *, unknown_class_id: int | None = None, one_based: bool = True
) -> Detections:
    """Read a folder of Pascal VOC results, one file for each class.

    Parameters: folder, of files named after classes of the data set, in COCO's or VOC's spelling, or by a name that
    means unknown; dataset, with the images that the lines name, by their names or the end of them; unknown_class_id,
    the id of boxes in the file of unknown, or a new one if the data set has another class of that number, by default
    that of the data set's class of such a name, or else −1; one_based, False for pixels that count from 0.

    Returns the predictions of the data set's images, none for an image without a line. Raises ValueError, with file and
    line, for a file that names no class, a second file of a class, a line without six fields, a malformed number, and
    an image that the data set lacks.
    """
    files = _files_by_class(Path(folder), dataset)
    if unknown_class_id is None:
        unknown_class_id = unknown_id(dataset.classes, ())
    taken = not means_unknown(dataset.classes.get(unknown_class_id, UNKNOWN))
    unknown = 1 + max(dataset.classes) if taken else unknown_class_id
    ids = {name: i for i, name in dataset.classes.items()} | {UNKNOWN: unknown}
    images = find_image(dataset)
    tables = [_read(path, images, one_based) for path in files.values()]
    labels = [np.full(len(table), ids[name], dtype=np.int64) for name, table in zip(files, tables)]
    rows = np.concatenate([np.zeros((0, 6)), *tables])
    columns = {"boxes": rows[:, 2:], "scores": rows[:, 1], "labels": np.concatenate(labels)}
    parts = split_by_image(columns, rows[:, 0].astype(np.int64), len(dataset.names))
    aliases = aliases_of([_class_of(path) for path in files.values()], dataset.classes.values())
    says_unknown = unknown if taken or UNKNOWN in files else None
    others = [str(path) for path in files_below(Path(folder), None) if path.suffix.lower() not in TXT]
    census = Census({PREDICTIONS: len(files)}, {BESIDE: others})
    return Detections(dataset, [predicted_boxes(**part) for part in parts], aliases, says_unknown, census)


def _files_by_class(folder: Path, dataset: Dataset) -> dict[str, Path]:
    """The files by the names of their classes in the data set."""
    check_flat(folder, TXT)
    files: dict[str, Path] = {}
    for path in files_in(folder, TXT):
        name = spelling(_class_of(path), dataset.classes.values())
        if name is None and means_unknown(_class_of(path)):
            name = UNKNOWN
        if name is None:
            raise ValueError(
                f"{path}: expected the name of a class of the references, or unknown, got {_class_of(path)!r};"
                " name all classes with --names"
            )
        if name in files:
            raise ValueError(f"{path}: expected one file of {name}, got {files[name].name} too")
        files[name] = path
    return files


def _class_of(path: Path) -> str:
    return _PREFIX.sub("", path.stem, count=1)


def _read(path: Path, images: Mapping[str, int], one_based: bool) -> np.ndarray:
    """The lines of a file, (n, 6): the image's index, the confidence, and x1, y1, x2, y2."""
    try:
        # a name may hold blanks
        lines = [line.strip().rsplit(maxsplit=5) for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {reason(error)}") from error
    places = [f"{path}:{number}" for number, cells in enumerate(lines, 1) if cells]
    table = np.asarray([_row(cells, images, place) for cells, place in zip(filter(None, lines), places)])
    table = table.reshape(-1, 6)
    low, high = table[:, 2:4], table[:, 4:]
    bad = ~(np.isfinite(table).all(axis=1) & (low <= high + one_based).all(axis=1))
    if bad.any():
        first = int(np.argmax(bad))
        came = table[first, 1:].tolist()
        raise ValueError(f"{places[first]}: expected finite numbers, xmin ≤ xmax and ymin ≤ ymax, got {came}")
    if one_based:  # rounding may make xmin − 1 greater than xmax
        table[:, 2:4] = np.minimum(low - 1, high)
    return table


def _row(cells: list[str], images: Mapping[str, int], place: str) -> list[float]:
    image, fields = images.get(cells[0]), len(cells) - 1 + len(cells[0].split())
    if len(cells) != 6 or (image is None and fields > 6):
        raise ValueError(f"{place}: expected image confidence xmin ymin xmax ymax, got {fields} fields")
    if image is None:
        hint = similar_image(cells[0], images)
        raise ValueError(f"{place}: expected an image of the references, got {cells[0]!r}{hint}")
    try:
        return [image, *map(float, cells[1:])]
    except ValueError:
        raise ValueError(f"{place}: expected numbers after the image, got {' '.join(cells[1:])!r}") from None
