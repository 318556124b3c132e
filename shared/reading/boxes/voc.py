"""Read Pascal VOC's XML annotations, one file for each image.

VOC counts pixels from 1 and includes both ends, so xmin = 1, xmax = W is a box as wide as the image: it becomes 0 to W
(x1 = xmin − 1, x2 = xmax). The IoU is then that of VOC's own code, which adds 1 to every width instead; do not set
the metric's `plus_one` as well. Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

import numpy as np

from ..census import BESIDE, BOXES, IMAGES, LABELS, REPEATED, Census, by_real_place
from ..images import checked_size, find_images, implied_images
from ..places import IMAGE_SUFFIXES, check_flat, files_below, files_in
from ..reasons import reason
from .classes import aliases_of
from .dataset import Boxes, Dataset, Size, ids_of_names, listed_images, plain_name, similar_image, true_boxes

XML = (".xml",)
_CORNERS = ("xmin", "ymin", "xmax", "ymax")


def read_voc(
    annotations: str | Path,
    images: str | Path | None = None,
    *,
    split: str | None = None,
    image_set: str | Path | None = None,
    classes: Mapping[int, str] | None = None,
    one_based: bool = True,
) -> Dataset:
    """Read a folder of Pascal VOC annotations. Difficult objects are ignored.

    Parameters: annotations, a folder of XML files; images, the folder of the images, which then all belong to the data
    set; by default JPEGImages beside Annotations, if it exists, for the images that have annotations; split, the name
    of a list of images in ImageSets/Main beside Annotations; image_set, such a list elsewhere; classes, id → name, by
    default the names that occur, in alphabetical order; one_based, False for files of tools that count pixels from 0,
    which stay as they are.

    Returns the images by name or in the order of the list; images without an XML file have no objects. Raises
    ValueError, with file and line, for malformed XML, for a name that is not among `classes`, for an XML file without
    its image, for a missing image of the list, for a size that is not the image's, and if both `split` and `image_set`
    are set.
    """
    folder = Path(annotations)
    files = _files(folder)
    paths, beside = _images(folder, files, images)
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
    there, reason = {*names}, "without annotations" if listed is None else f"not in {listed.name}"
    left_out = {
        REPEATED: [place for page in pages for place in page.repeated],
        (IMAGES, reason): [str(path) for name, path in paths.items() if path is not None and name not in there],
        (LABELS, f"of images {reason}"): [str(path) for name, path in files.items() if name not in there],
        BESIDE: [*map(str, beside)],
    }
    used = {IMAGES: len(names), LABELS: len(there & files.keys()), BOXES: sum(len(page.objects) for page in pages)}
    census, own = Census(used, left_out), [paths[name] for name in names]
    return Dataset(names, references, dict(classes), own, sizes, ids_of_names(names), census)


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
            hint = similar_image(name, images)
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
) -> tuple[dict[str, Path | None], list[Path]]:
    """The files of the images by name, None for an image with annotations only; and the files beside both."""
    place = Path(images or folder)
    if images is None:
        with suppress(ValueError):  # without images
            place = implied_images(folder, "Annotations", "JPEGImages")
    there = find_images(place) if images is not None or files_below(place, IMAGE_SUFFIXES) else {}
    alone = {plain_name(name) for name in there if name not in files}
    for name, path in files.items():
        # annotations may be there without images, unless the folder of these is named
        if name not in there and (images is not None or plain_name(name) in alone):
            hint = similar_image(name, there)
            raise ValueError(f"{path}: expected an image of that name in {place}, got none{hint}")
    beside = by_real_place([*files_below(folder, None), *files_below(place, None)])
    own = by_real_place([*files.values(), *there.values()])
    return {**dict.fromkeys(files), **there}, [path for key, path in beside.items() if key not in own]


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
