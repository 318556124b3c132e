"""Pascal VOC's XML annotations, one file for each image, and results, one text file for each class.

Results are as the evaluators of OWOD, OW-DETR and PROB write them: `<class>.txt`, or `comp4_det_test_<class>.txt`,
holds lines of image, confidence, xmin, ymin, xmax, ymax. VOC counts pixels from 1 and includes both ends, so xmin = 1,
xmax = W is a box as wide as the image: it becomes 0 to W (x1 = xmin − 1, x2 = xmax). The IoU is then that of VOC's own
code, which adds 1 to every width instead; do not set the metric's `plus_one` as well. Source: Everingham et al., The
Pascal VOC Challenge, IJCV 2010, and the development kit's readme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from ..places import IMAGE_SUFFIXES, Size, check_flat, checked_size, files_below, files_in, find_images, implied_images
from ..reading import (
    BESIDE,
    BOXES,
    IMAGES,
    LABELS,
    PREDICTED,
    PREDICTIONS,
    REPEATED,
    Census,
    LeftOut,
    by_real_place,
    unused,
)
from ..reasons import reason
from .dataset import (
    OF_OTHERS,
    TXT,
    UNKNOWN,
    Boxes,
    Dataset,
    Detections,
    aliases_of,
    class_key,
    find_image,
    ids_of_names,
    listed_images,
    means_unknown,
    plain_name,
    predicted_boxes,
    similar_images,
    spelling,
    split_by_image,
    true_boxes,
    unknown_id,
)

XML = (".xml",)
_PREFIX = re.compile(r"comp\d_det_[^_]+_")
_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def read_voc(
    annotations: str | Path,
    images: str | Path | None = None,
    *,
    split: str | None = None,
    image_set: str | Path | None = None,
    classes: Mapping[int, str] | None = None,
    one_based: bool = True,
    leave_out: bool = False,
) -> Dataset:
    """Read a folder of Pascal VOC annotations. Difficult objects are ignored.

    Parameters: annotations, a folder of XML files; images, the folder of the images, which then all belong to the data
    set; by default JPEGImages beside Annotations, if it exists, for the images that have annotations; split, the name
    of a list of images in ImageSets/Main beside Annotations; image_set, such a list elsewhere; classes, id → name, by
    default the names that occur, in alphabetical order; one_based, False for files of tools that count pixels from 0,
    which stay as they are; leave_out, whether to leave out XML files without an image in `images`.

    Returns the images by name or in the order of the list; images without an XML file have no objects. Raises
    ValueError, with file and line, for malformed XML, for a name that is not among `classes`, for an XML file without
    its image, for a missing image of the list, for a size that is not the image's, and if both `split` and `image_set`
    are set.
    """
    folder = Path(annotations)
    files = _files(folder)
    paths, beside, lost = _images(folder, files, images)
    without = unused(LABELS, "without an image", lost, leave_out)
    files = {name: path for name, path in files.items() if str(path) not in lost}
    listed = None if split is None and image_set is None else _list(folder, split, image_set)
    names = [*(files if images is None else paths)] if listed is None else _listed(folder, paths, listed)
    pages = [_Page([], None) if name not in files else _read(files[name], one_based) for name in names]
    occurring = {item.name for page in pages for item in page.objects}
    if classes is None:
        classes = dict(enumerate(sorted(occurring)))
    ids = {name: i for i, name in classes.items()}
    ids |= {name: ids[own] for name, own in aliases_of(occurring, ids).items()}
    references = [_boxes(page, ids, files.get(name)) for name, page in zip(names, pages)]
    sizes = [checked_size(paths[name], page.size, files.get(name)) for name, page in zip(names, pages)]
    there, why = {*names}, "without annotations" if listed is None else f"not in {listed.name}"
    left_out: LeftOut = {
        REPEATED: [place for page in pages for place in page.repeated],
        (IMAGES, why): [str(path) for name, path in paths.items() if path is not None and name not in there],
        (LABELS, f"of images {why}"): [str(path) for name, path in files.items() if name not in there],
        BESIDE: [*map(str, beside)],
        **without,
    }
    used = {
        IMAGES: len(names),
        LABELS: len(there & files.keys()),
        BOXES: sum(len(page.objects) for page in pages),
    }
    counted, own = Census(used, left_out), [paths[name] for name in names]
    return Dataset(names, references, dict(classes), own, sizes, ids_of_names(names), counted)


def _files(folder: Path) -> dict[str, Path]:
    """The XML files by the names of their images."""
    files: dict[str, Path] = {}
    for path in files_in(folder, XML):
        if path.stem in files:
            raise ValueError(f"{path}: expected one file of that name, got {files[path.stem].name} too")
        files[path.stem] = path
    if not files:
        raise ValueError(f"{folder}: expected a folder with .xml files, got none")
    check_flat(folder, XML)
    return files


def voc_list(annotations: Path, split: str) -> Path:
    """The file that lists the images of a split, in VOC's layout."""
    return annotations.parent / "ImageSets" / "Main" / f"{split}.txt"


def _list(folder: Path, split: str | None, image_set: str | Path | None) -> Path:
    """The list of the images of a split, or another list."""
    if split is not None and image_set is not None:
        raise ValueError(f"{image_set}: expected a split or a list of images, got both")
    return voc_list(folder, str(split)) if image_set is None else Path(image_set)


def _listed(folder: Path, images: Mapping[str, Path | None], place: Path) -> list[str]:
    """The names in a list of images."""
    names = listed_images(place)
    for name, line in names.items():
        if name not in images:
            hint = similar_images(images)(name)
            raise ValueError(
                f"{place}:{line}: expected {name}.xml in {folder}, or an image of that name, got neither{hint}"
            )
    return [*names]


class _Object(NamedTuple):
    name: str
    box: list[float]
    difficult: bool
    line: int


class _Page(NamedTuple):
    objects: list[_Object]
    size: Size | None
    repeated: Sequence[str] = ()


def _images(
    folder: Path, files: Mapping[str, Path], images: str | Path | None
) -> tuple[dict[str, Path | None], list[Path], dict[str, str]]:
    """The files of the images by name, None for an image with annotations only; the files beside both; and what is
    wrong with annotations without an image, by their paths.
    """
    place = Path(images or folder)
    if images is None:
        with suppress(ValueError):  # without images
            place = implied_images(folder, "Annotations", "JPEGImages")
    there = find_images(place) if images is not None or files_below(place, IMAGE_SUFFIXES) else {}
    alone = {plain_name(name) for name in there if name not in files}
    similar = similar_images(there)
    # annotations may be there without images, unless the folder of these is named
    lost = {
        str(path): f"{path}: expected an image of that name in {place}, got none{similar(name)}"
        for name, path in files.items()
        if name not in there and (images is not None or plain_name(name) in alone)
    }
    beside = by_real_place([*files_below(folder, None), *files_below(place, None)])
    own = by_real_place([*files.values(), *there.values()])
    own_names = [name for name, path in files.items() if str(path) not in lost]
    return {**dict.fromkeys(own_names), **there}, [path for key, path in beside.items() if key not in own], lost


def _read(path: Path, one_based: bool) -> _Page:
    root, lines = _parse(path)
    elements = root.findall("object")
    below = next((element for element in root.iter() if element.tag.lower() == "object" and element is not root), None)
    if not elements and below is not None:
        raise ValueError(f"{path}:{lines[below]}: expected <object> directly below <{root.tag}>, got <{below.tag}>")
    every = [_object(element, path, lines, one_based) for element in elements]
    objects: dict[tuple[object, ...], _Object] = {}
    firsts = [objects.setdefault((item.name, *item.box, item.difficult), item) for item in every]
    repeated = [f"{path}:{item.line}" for item, first in zip(every, firsts) if item is not first]
    width, height = (_pixels(root.findtext(f"size/{name}", "0").strip()) for name in ("width", "height"))
    return _Page([*objects.values()], (width, height) if width and height else None, repeated)


def _pixels(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _parse(path: Path) -> tuple[Element, dict[Element, int]]:
    """The root of an XML file, and the line of each element, which ElementTree does not record."""
    builder, parser = TreeBuilder(), expat.ParserCreate()
    lines: dict[Element, int] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler = start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as error:
        raise ValueError(f"{path}:{error.lineno}: expected XML, got {expat.ErrorString(error.code)}") from error
    except (OSError, ValueError, LookupError, MemoryError) as error:  # such as an encoding unknown to expat
        raise ValueError(f"{path}: {reason(error)}") from error
    return builder.close(), lines


def _object(element: Element, path: Path, lines: Mapping[Element, int], one_based: bool) -> _Object:
    place = f"{path}:{lines[element]}"
    name, difficult = element.findtext("name", "").strip(), element.findtext("difficult", "0").strip()
    if not name:
        raise ValueError(f"{place}: expected an object with a name, got none")
    if difficult not in ("0", "1"):
        raise ValueError(f"{place}: expected difficult to be 0 or 1, got {difficult!r}")
    cells = [element.findtext(f"bndbox/{corner}", "") for corner in _CORNERS]
    try:
        box = [float(cell) for cell in cells]
    except ValueError:
        raise ValueError(f"{place}: expected bndbox with {', '.join(_CORNERS)}, got {cells}") from None
    if one_based:
        box[:2] = box[0] - 1, box[1] - 1
    if not (np.isfinite(box).all() and box[0] <= box[2] and box[1] <= box[3]):
        raise ValueError(f"{place}: expected xmin ≤ xmax and ymin ≤ ymax, got {cells}")
    return _Object(name, box, difficult == "1", lines[element])


def _boxes(page: _Page, ids: Mapping[str, int], path: Path | None) -> Boxes:
    for item in page.objects:
        if item.name not in ids:
            raise ValueError(f"{path}:{item.line}: expected one of {', '.join(ids)}, got {item.name!r}")
    boxes = np.asarray([item.box for item in page.objects]).reshape(-1, 4)
    labels = np.asarray([ids[item.name] for item in page.objects], dtype=np.int64)
    return true_boxes(boxes, labels, np.asarray([item.difficult for item in page.objects], dtype=bool))


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
    folder: str | Path,
    dataset: Dataset,
    *,
    unknown_class_id: int | None = None,
    one_based: bool = True,
    leave_out: bool = False,
) -> Detections:
    """Read a folder of Pascal VOC results, one file for each class.

    Parameters: folder, of files named after classes of the data set, in COCO's or VOC's spelling, or by a name that
    means unknown; dataset, with the images that the lines name, by their names or the end of them; unknown_class_id,
    the id of boxes in the file of unknown, or a new one if the data set has another class of that number, by default
    that of the data set's class of such a name, or else −1; one_based, False for pixels that count from 0;
    leave_out, whether to leave out lines of unknown images.

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
    images, lost = find_image(dataset), dict[str, str]()
    tables = [_lines(path, images, one_based, lost) for path in files.values()]
    labels = [np.full(len(table), ids[name], dtype=np.int64) for name, table in zip(files, tables)]
    rows = np.concatenate([np.zeros((0, 6)), *tables])
    columns = {"boxes": rows[:, 2:], "scores": rows[:, 1], "labels": np.concatenate(labels)}
    parts = split_by_image(columns, rows[:, 0].astype(np.int64), len(dataset.names))
    aliases = aliases_of([_class_of(path) for path in files.values()], dataset.classes.values())
    says_unknown = unknown if taken or UNKNOWN in files else None
    others = [str(path) for path in files_below(Path(folder), None) if path.suffix.lower() not in TXT]
    left_out: LeftOut = {BESIDE: others, **unused(PREDICTED, OF_OTHERS, lost, leave_out)}
    counted = Census({PREDICTIONS: len(files), PREDICTED: len(rows)}, left_out)
    return Detections(dataset, [predicted_boxes(**part) for part in parts], aliases, says_unknown, counted)


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


def _lines(path: Path, images: Mapping[str, int], one_based: bool, lost: dict[str, str]) -> np.ndarray:
    """The lines of a file, (n, 6): the image's index, the confidence, and x1, y1, x2, y2.

    What is wrong with lines of unknown images is added to `lost`, by their places.
    """
    try:
        # a name may hold blanks
        lines = [line.strip().rsplit(maxsplit=5) for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {reason(error)}") from error
    rows = {f"{path}:{i}": _row(cells, images, f"{path}:{i}", lost) for i, cells in enumerate(lines, 1) if cells}
    rows = {place: row for place, row in rows.items() if row}
    table = np.asarray([*rows.values()]).reshape(-1, 6)
    low, high = table[:, 2:4], table[:, 4:]
    bad = ~(np.isfinite(table).all(axis=1) & (low <= high + one_based).all(axis=1))
    if bad.any():
        first = int(np.argmax(bad))
        came = table[first, 1:].tolist()
        raise ValueError(f"{[*rows][first]}: expected finite numbers, xmin ≤ xmax and ymin ≤ ymax, got {came}")
    if one_based:  # rounding may make xmin − 1 greater than xmax
        table[:, 2:4] = np.minimum(low - 1, high)
    return table


def _row(cells: list[str], images: Mapping[str, int], place: str, lost: dict[str, str]) -> list[float]:
    image, fields = images.get(cells[0]), len(cells) - 1 + len(cells[0].split())
    if len(cells) != 6 or (image is None and fields > 6):
        raise ValueError(f"{place}: expected image confidence xmin ymin xmax ymax, got {fields} fields")
    if image is None:
        hint = "" if lost else similar_images(images)(cells[0])  # the first error is raised
        lost[place] = f"{place}: expected an image of the references, got {cells[0]!r}{hint}"
        return []
    try:
        return [image, *map(float, cells[1:])]
    except ValueError:
        raise ValueError(f"{place}: expected numbers after the image, got {' '.join(cells[1:])!r}") from None
