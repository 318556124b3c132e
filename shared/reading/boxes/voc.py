"""Pascal VOC's XML annotations, one file for each image, and results, one text file for each class.

Results are as the evaluators of OWOD, OW-DETR and PROB write them: `<class>.txt`, or `comp4_det_test_<class>.txt`,
holds lines of image, confidence, xmin, ymin, xmax, ymax. VOC counts pixels from 1 and includes both ends, so xmin = 1,
xmax = W is a box as wide as the image: it becomes 0 to W (x1 = xmin − 1, x2 = xmax). The IoU is then that of VOC's own
code, which adds 1 to every width instead; do not set the metric's `plus_one` as well. Source: Everingham et al., The
Pascal VOC Challenge, IJCV 2010, and the development kit's readme.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from ..cures import ANY, CurableError, Cure
from ..places import (
    IMAGE_SUFFIXES,
    Size,
    check_flat,
    checked_size,
    files_below,
    files_in,
    find_images,
    implied_images,
    places_by_end,
)
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
    unused,
)
from ..reasons import reason
from ..sides import means_unknown
from .dataset import (
    OF_OTHERS,
    TXT,
    UNKNOWN,
    Boxes,
    Choices,
    Dataset,
    Detections,
    aliases_of,
    class_key,
    first_spellings,
    ids_of_names,
    listed_images,
    others_of,
    predicted_boxes,
    similar_image,
    split_by_image,
    true_boxes,
    unknown_id,
)
from .fields import check_rotation, fields_of_object
from .other_formats import CVAT

XML = (".xml",)
_PREFIX = re.compile(r"comp\d_det_[^_]+_")
_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def annotations_of(folder: Path) -> Path:
    """The folder of annotations: this one, or Annotations in it."""
    return folder if files_in(folder, XML) else folder / "Annotations"


def read_voc(place: Path, content: None, of: Choices) -> Dataset:
    """A folder of Pascal VOC annotations, by name or in the order of a list. Difficult objects are ignored.

    Without the choice `images`, the images are those of JPEGImages beside Annotations, if it exists, and belong to the
    data set if they have annotations or are listed. An image without annotations has no objects. Raises ValueError,
    with file and line, for malformed XML, a name that is not among the classes, a size that is not the image's, and
    an XML file without its image in `images`. Annotations of images that are not listed are not opened.
    """
    folder = annotations_of(place)
    files = _files(folder)
    images = implied_images(folder, "Annotations", "JPEGImages") if of.images is None else Path(of.images)
    is_empty = images is None or (of.images is None and not files_below(images, IMAGE_SUFFIXES))
    pictures = {} if images is None or is_empty else find_images(images)
    alone = {} if of.images is None else {str(path): name for name, path in files.items() if name not in pictures}

    def error(path: str) -> str:
        return f"{path}: expected an image of that name in {images}, got none{similar_image(alone[path], pictures)}"

    without = unused(LABELS, "without an image", alone, of.leave_out, error)
    beside = [*files_below(folder, None), *files_below(images or folder, None)]
    others = others_of(beside, [*files.values(), *pictures.values()])
    files = {name: path for name, path in files.items() if str(path) not in alone}
    lists = [voc_list(folder, of.split)] if of.split is not None else []
    lists += [Path(of.image_set)] if of.image_set is not None else []
    names = [*(files if of.images is None and not lists else {**files, **pictures})]
    for path in lists:
        names = [names[i] for i in listed_images(path, names)]
    there = {*names}
    pages = [_read(files[name], of.one_based) if name in files else _Page([], None, []) for name in names]
    occurring = {item.name for page in pages for item in page.objects}
    classes = dict(enumerate(sorted(occurring))) if of.classes is None else dict(of.classes)
    ids = {name: i for i, name in classes.items()}
    ids |= {name: ids[spelling] for name, spelling in aliases_of(occurring, ids).items()}
    why = f"not in {' or '.join(path.name for path in lists)}" if lists else "without annotations"
    left_out: LeftOut = {
        REPEATED: [place for page in pages for place in page.repeated],
        (IMAGES, why): [str(path) for name, path in pictures.items() if name not in there],
        (LABELS, f"of images {why}"): [str(path) for name, path in files.items() if name not in there],
        BESIDE: [*map(str, others)],
        **without,
    }
    used = {
        IMAGES: len(names),
        LABELS: len(there & files.keys()),
        BOXES: sum(len(page.objects) for page in pages),
    }
    return Dataset(
        names,
        [_boxes(page, ids, files.get(name)) for name, page in zip(names, pages)],
        classes,
        [pictures.get(name) for name in names],
        [checked_size(pictures.get(name), page.size, files.get(name)) for name, page in zip(names, pages)],
        ids_of_names(names),
        Census(used, left_out),
    )


def _files(folder: Path) -> dict[str, Path]:
    """The XML files by the names of their images."""
    files: dict[str, Path] = {}
    for path in files_in(folder, XML):
        if path.stem in files:
            raise ValueError(f"{path}: expected one file of that name, got {files[path.stem].name} too")
        files[path.stem] = path
    check_flat(folder, XML)
    return files


def voc_list(annotations: Path, split: str) -> Path:
    """The file that lists the images of a split, in VOC's layout."""
    return annotations.parent / "ImageSets" / "Main" / f"{split}.txt"


class _Object(NamedTuple):
    name: str
    box: tuple[float, ...]
    difficult: bool
    line: int


class _Page(NamedTuple):
    objects: list[_Object]
    size: Size | None
    repeated: list[str]


def _read(path: Path, one_based: bool) -> _Page:
    root, lines = _parse(path)
    if root.tag == "annotations" and root.find("image") is not None:
        raise ValueError(f"{path}: expected <annotation> of Pascal VOC, got {CVAT}")
    elements = root.findall("object")
    below = next((element for element in root.iter() if element.tag.lower() == "object" and element is not root), None)
    if not elements and below is not None:
        raise ValueError(f"{path}:{lines[below]}: expected <object> directly below <{root.tag}>, got <{below.tag}>")
    every = [_object(element, path, lines, one_based) for element in elements]
    firsts: dict[_Object, _Object] = {}
    repeated = [item.line for item in every if firsts.setdefault(item._replace(line=0), item) is not item]
    width, height = (_pixels(root.findtext(f"size/{name}", "0").strip()) for name in ("width", "height"))
    size = (width, height) if width and height else None
    return _Page([*firsts.values()], size, [f"{path}:{line}" for line in repeated])


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
    check_rotation("VOC", fields_of_object(element), place)
    cells = [element.findtext(f"bndbox/{corner}", "") for corner in _CORNERS]
    try:
        box = [float(cell) for cell in cells]
    except ValueError:
        raise ValueError(f"{place}: expected bndbox with {', '.join(_CORNERS)}, got {cells}") from None
    if one_based:
        box[:2] = box[0] - 1, box[1] - 1
    if not (np.isfinite(box).all() and box[0] <= box[2] and box[1] <= box[3]):
        raise ValueError(f"{place}: expected xmin ≤ xmax and ymin ≤ ymax, got {cells}")
    return _Object(name, tuple(box), difficult == "1", lines[element])


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
    images, classes = places_by_end(dataset.names), {class_key(name) for name in dataset.classes.values()}
    if any(stem not in images and (class_key(stem) in classes or means_unknown(stem)) for stem in stems):
        return True
    # if no file name is a known class, the lines must begin with images
    return not any(stem in images for stem in stems) and any(map(images.__contains__, _first_words(folder)))


def _first_words(folder: Path) -> Iterator[str]:
    """The first word of each text of a folder."""
    for path in files_in(folder, TXT):
        with open(path, encoding="utf-8", errors="replace") as file:
            yield from next((line.split()[:1] for line in file if line.strip()), [])


def read_class_files(folder: Path, content: None, dataset: Dataset, of: Choices) -> Detections:
    """A folder of Pascal VOC results, files named after classes of the data set or by a name that means unknown.

    The id of unknown is the choice `unknown_class_id`, or a new one if the data set has another class of that number;
    by default that of the data set's class of such a name, or else −1. Raises ValueError, with file and line, for a
    file that names no class, a second file of a class, a malformed line, and an image that the data set lacks.
    """
    files = _files_by_class(folder, dataset)
    unknown = unknown_id(dataset.classes, ()) if of.unknown_class_id is None else of.unknown_class_id
    taken = not means_unknown(dataset.classes.get(unknown, UNKNOWN))
    unknown = 1 + max(dataset.classes) if taken else unknown
    ids = {name: i for i, name in dataset.classes.items()} | {UNKNOWN: unknown}
    images, lost = places_by_end(dataset.names), dict[str, str]()
    tables = [_lines(path, images, of.one_based, lost) for path in files.values()]
    labels = [np.full(len(table), ids[name], dtype=np.int64) for name, table in zip(files, tables)]
    rows = np.concatenate([np.zeros((0, 6)), *tables])
    columns = {"boxes": rows[:, 2:], "scores": rows[:, 1], "labels": np.concatenate(labels)}
    parts = split_by_image(columns, rows[:, 0].astype(np.int64), len(dataset.names))

    def error(place: str) -> str:
        return (
            f"{place}: expected an image of the references, got {lost[place]!r}{similar_image(lost[place], [*images])}"
        )

    others = [str(path) for path in files_below(folder, None) if path.suffix.lower() not in TXT]
    left_out: LeftOut = {BESIDE: others, **unused(PREDICTED, OF_OTHERS, lost, of.leave_out, error)}
    return Detections(
        dataset,
        [predicted_boxes(**part) for part in parts],
        aliases_of([_class_of(path) for path in files.values()], dataset.classes.values()),
        unknown if taken or UNKNOWN in files else None,
        Census({PREDICTIONS: len(files), PREDICTED: len(rows)}, left_out),
    )


def _files_by_class(folder: Path, dataset: Dataset) -> dict[str, Path]:
    """The files by the names of their classes in the data set."""
    check_flat(folder, TXT)
    names = first_spellings(dataset.classes.values())
    files: dict[str, Path] = {}
    for path in files_in(folder, TXT):
        class_name = _class_of(path)
        name = names.get(class_key(class_name), UNKNOWN if means_unknown(class_name) else "")
        if not name:
            raise CurableError(
                f"{path}: expected the name of a class of the references, or unknown, got {class_name!r}",
                Cure("to list all classes of VOC references", {"names": ANY}),
            )
        if name in files:
            raise ValueError(f"{path}: expected one file of {name}, got {files[name].name} too")
        files[name] = path
    return files


def _class_of(path: Path) -> str:
    return _PREFIX.sub("", path.stem, count=1)


def _lines(path: Path, images: Mapping[str, int], one_based: bool, lost: dict[str, str]) -> np.ndarray:
    """The lines of a file, (n, 6): the image's index, the confidence, and x1, y1, x2, y2.

    The unknown images of other lines are added to `lost`, by their places.
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
        lost[place] = cells[0]
        return []
    try:
        return [image, *map(float, cells[1:])]
    except ValueError:
        raise ValueError(f"{place}: expected numbers after the image, got {' '.join(cells[1:])!r}") from None
