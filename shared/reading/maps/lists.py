"""Lists of images: a row for each, of its maps, masks, defect and category, as paths and words.

A list is a table of one's own, or comes with a data set (VisA, Real-IAD). Paths are relative to the table, or begin in
the folder of the categories. Of an archive, and on pages, a list names files that came with it, and no others.
"""

from __future__ import annotations

import os
import posixpath
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ...arrays.checks import check_lengths, did_you_mean
from ..columns.cells import is_blank, num_dimensions, plain
from ..cures import CurableError, Cure, Or
from ..limits import PAGES, Limits
from ..objects import parse_json
from ..places import METHODS, PICTURES
from ..reasons import named, reason
from ..sides import means_normal
from ..tables.files import Lines, Table, read_table, whole
from .listing import IMAGES_ALONE, OUTSIDE, AnomalyImage, Problem, Tree, is_archive
from .names import place_of, suffix_of
from .planes import MAP_SUFFIXES, MASK_SUFFIXES

# what a column holds, by the name of its choice, and the words of its header, the likeliest first
_HEADERS: Mapping[str, Sequence[str]] = {
    "images": ("image", "img", "picture", "photo", "file", "path"),
    "predictions": ("map", "maps", "heatmap", "prediction", "predictions", "score", "scores"),
    "references": ("mask", "masks", "groundtruth", "gt", "annotation", "reference"),
    "image_labels": ("defect", "anomaly", "label", "labels", "kind"),
    "groups": ("category", "object", "product", "cls", "group"),
}
_SPLIT, _TEST = "split", "test"
_ENDS = re.compile(r"(?<=.)(path|file|filename|name|type|class)$")  # of headers, after what the column holds
SUFFIXES = (".csv", ".tsv", ".json", ".jsonl")
_FILES = MASK_SUFFIXES | MAP_SUFFIXES
_BETWEEN = ";"  # masks of one image
_SIDES = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}  # of labels in a column
Key = tuple[str, str]  # of an image: its category and its name


class Row(NamedTuple):
    """A row of a list, with paths as they are written in it.

    at: its place, such as "line 4"
    name: of the image in its category; "" if the row names none
    image: its path; "" if only its maps are named
    masks: their paths
    defect: its name; "" without one
    anomalous: whether the image is anomalous; None if its mask decides
    category: its name; None in a list without categories
    maps: their paths, by their columns; "" for a map that is not there
    is_tested: whether the image is of the test
    """

    at: str
    name: str
    image: str
    masks: Sequence[str]
    defect: str
    anomalous: bool | None
    category: str | None = None
    maps: Mapping[str, str] = {}
    is_tested: bool = True


class ImageList(NamedTuple):
    """The content of a list.

    images: a row each, in the order of their categories and names
    rows: in words, by the keys of the images, such as "line 4 of list.csv"
    maps: of each column of maps, those of the images, by the images' keys
    problems, left_out: as of `AnomalyFolder`
    path: of the list
    beside: the files of its folder, if it was read with that
    guess: a sentence on the columns that were recognised; "" where all are chosen
    note: a sentence on columns that are not used; "" without any
    has_images, has_masks: whether there is a column of images, or of masks
    """

    images: list[AnomalyImage]
    rows: Mapping[Key, str]
    maps: Mapping[str, Mapping[Key, Path]]
    problems: list[Problem]
    left_out: Mapping[Path, str]
    path: Path = Path()
    beside: Sequence[Path] = ()
    guess: str = ""
    note: str = ""
    has_images: bool = True
    has_masks: bool = True

    @property
    def files(self) -> list[Path]:
        """The files that it names."""
        of_images = [file for image in self.images for file in image.files]
        return [*of_images, *(path for maps in self.maps.values() for path in maps.values())]


def is_list(path: Path, *, with_maps: bool = False) -> bool:
    """Whether a file is a table with a column of files of maps or masks. One that cannot be read is none."""
    if path.suffix.lower() not in SUFFIXES or not path.is_file() or path.stat().st_size > PAGES.size:
        return False
    try:
        table = read_table(path)
        made_of = _columns(table, {})
    except (ValueError, TypeError, ImportError, OSError) as error:  # which the reader says
        return isinstance(error, CurableError)  # of two columns for one
    if with_maps:
        return bool(made_of["predictions"])
    return any(_holds_files(table, name, _FILES) for name in table.arrays)


def holds_maps(place: Path) -> bool:
    """Whether a file is a list with maps, or a folder or an archive has one where `lists_in` looks."""
    if not is_archive(place):
        tree = Tree.of(place) if place.is_dir() else Tree(place.parent, {place.name: place})
        return any(is_list(tree.files[name], with_maps=True) for name in lists_in(tree))
    with TemporaryDirectory() as folder, suppress(zipfile.BadZipFile), zipfile.ZipFile(place) as archive:
        infos = [info for info in archive.infolist() if suffix_of(info.filename) in SUFFIXES]
        for number, info in enumerate(sorted(infos, key=lambda info: info.filename.count("/"))):
            path = Path(folder, f"{number}{suffix_of(info.filename)}")
            if info.file_size <= PAGES.size and info.compress_type in METHODS and not info.flag_bits & 1:
                path.write_bytes(archive.read(info))
                if is_list(path, with_maps=True):
                    return True
    return False


def lists_in(tree: Tree) -> list[str]:
    """The lists among the files of a folder, in the highest folder that has any."""
    tables = [name for name in tree.names if suffix_of(name) in SUFFIXES]
    for depth in sorted({name.count("/") for name in tables}):
        if listed := [name for name in tables if name.count("/") == depth and is_list(tree.files[name])]:
            return listed
    return []


def read_list(
    name: str,
    tree: Tree,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    needs_masks: bool = True,
    alone: bool = False,
    limits: Limits,
) -> ImageList:
    """Read a list of images, of which no other file is opened.

    Parameters: name, of the list in the tree; columns, the names of its columns, by what they hold: images,
    predictions (maps, of a model each), references (masks), image_labels (defects) and groups (categories), by default
    recognised; needs_masks, whether an anomalous image without a mask is a problem; alone, whether only files of the
    tree may be named, which is so on pages, too.

    An image without a mask, or with the defect of a word for normal ones, is normal; without a column of defects, its
    mask decides. Raises ValueError, with the list and the row, for what contradicts itself or is missing.
    """
    path = tree.files[name]
    shown = str(path) if limits is not PAGES else path.name
    table = read_table(path, limits=limits)
    with named(shown):
        made_of = _columns(table, columns or {})
        files = Files(tree, posixpath.dirname(name), None if alone or limits is PAGES else path.parent)
        listed = images_of(_rows(table, made_of), files, path.name, path.parent.resolve().name, needs_masks=needs_masks)
        if not listed.images:
            raise ValueError("expected a row of each image, got none of the test")
    used, chosen = {one for names in made_of.values() for one in names}, columns or {}
    others = [one for one in table.arrays if one not in used and _word(one) != _SPLIT]
    guessed = [f"{role} is {', '.join(names)}" for role, names in made_of.items() if names and role not in chosen]
    return listed._replace(
        path=path,
        beside=[*tree.files.values()],
        guess=f"Columns of {path.name}: {', '.join(guessed)}" if guessed else "",
        note=f"Not used of {path.name}: {', '.join(others)}." if others else "",
        has_images=bool(made_of["images"]),
        has_masks=bool(made_of["references"]),
    )


def _word(header: str) -> str:
    """The subject of a header, in lower case and in one word.

    >>> _word("Image_Path"), _word("ground truth"), _word("defect type"), _word("filename"), _word("map_knn")
    ('image', 'groundtruth', 'defect', 'file', 'mapknn')
    """
    word = plain(header)
    while _ENDS.search(word):
        word = _ENDS.sub("", word)
    return word


def _columns(table: Table, chosen: Mapping[str, str | Sequence[str]]) -> dict[str, list[str]]:
    """The names of the columns of each role: as chosen, else by their headers, and of maps by their cells, too."""
    for role in chosen:
        if role not in _HEADERS:
            raise TypeError(f"columns: expected {', '.join(_HEADERS)}, got {role!r}{did_you_mean(role, [*_HEADERS])}")
    made_of = {role: [value] if isinstance(value, str) else [*value] for role, value in chosen.items()}
    for role, names in made_of.items():
        if missing := next((one for one in names if one not in table.arrays), None):
            raise ValueError(f"{role}: expected a column of {', '.join(table.arrays)}, got {missing!r}")
        if role != "predictions" and len(names) > 1:
            raise ValueError(f"{role}: expected one column, got {', '.join(names)}")
    free = [one for one in table.arrays if all(one not in names for names in made_of.values())]
    for role in (role for role in _HEADERS if role not in made_of and role != "predictions"):
        made_of[role] = _named(role, table, free)
        free = [one for one in free if one not in made_of[role]]
    if "predictions" not in made_of:
        files = [one for one in free if _holds_files(table, one, MAP_SUFFIXES)]
        words = {one: {*re.findall("[a-z]+", one.lower())} for one in files}
        made_of["predictions"] = [one for one in files if words[one] & {*_HEADERS["predictions"]}] or files
    return {role: made_of[role] for role in _HEADERS}


def _named(role: str, table: Table, free: Sequence[str]) -> list[str]:
    """The column of a role by its header. Raises CurableError for two that say the same."""
    of_files = role in ("images", "references")
    fitting = [one for one in free if not of_files or _holds_files(table, one, _FILES)]
    for word in _HEADERS[role]:
        exact = [one for one in fitting if plain(one) == word]
        names = exact if len(exact) == 1 else [one for one in fitting if _word(one) == word]
        if len(names) > 1:
            raise CurableError(
                f"{role}: expected one column, got {' and '.join(names)}",
                Cure("to choose one", {"columns": {role: Or(*names)}}),
            )
        if names:
            return names
    return []


def _holds_files(table: Table, name: str, suffixes: frozenset[str]) -> bool:
    """Whether each cell of a column that is not blank is the path of a file with one of some suffixes."""
    column = table.arrays[name]
    if isinstance(column, np.ndarray) and (column.dtype.kind not in "OUST" or column.ndim != 1):
        return False
    if not isinstance(column, np.ndarray) and num_dimensions(column) == 1 and not isinstance(column, list):
        return False
    cells = [path for cell in whole(column) for path in _paths(cell)]
    return bool(cells) and all(suffix_of(path) in suffixes for path in cells)


def _paths(cell: Any) -> list[str]:
    """The paths of a cell, which may name several masks."""
    if isinstance(cell, (list, tuple)):
        return [path for one in cell for path in _paths(one)]
    if not isinstance(cell, str) or is_blank(cell):
        return [] if cell is None or is_blank(cell) else [str(cell)]
    return [path for one in cell.split(_BETWEEN) if (path := one.strip())]


def _cells(table: Table, name: str) -> list[Any]:
    """The cells of a column, as they stand in a text: "" for blanks."""
    cells = whole(table.words[name]()) if name in table.words else whole(table.arrays[name])
    cells = cells.tolist() if isinstance(cells, np.ndarray) else [*cells]
    return ["" if cell is None or (isinstance(cell, float) and np.isnan(cell)) else _text(cell) for cell in cells]


def _text(cell: Any) -> Any:
    return cell if isinstance(cell, (list, tuple)) else str(cell).strip()


def _rows(table: Table, made_of: Mapping[str, Sequence[str]]) -> Iterator[Row]:
    """The rows of a table, by its columns of each role."""
    columns = {role: {one: _cells(table, one) for one in names} for role, names in made_of.items()}
    check_lengths(**{one: cells for of_role in columns.values() for one, cells in of_role.items()})
    if not (columns["images"] or columns["predictions"]):
        raise ValueError(f"expected a column of images or of maps, got {', '.join(table.arrays)}")
    number = len(next(cells for of_role in columns.values() for cells in of_role.values()))
    images, masks, defects, categories = (
        next(iter(columns[role].values()), [""] * number) for role in ("images", "references", "image_labels", "groups")
    )
    maps = [{one: str(cells[row]) for one, cells in columns["predictions"].items()} for row in range(number)]
    places = [*map(str, images)] if columns["images"] else [next(filter(None, each.values()), "") for each in maps]
    names, sides = _names(places, categories if columns["groups"] else ()), _sides(defects)
    split = next(([*map(str.lower, _cells(table, one))] for one in table.arrays if _word(one) == _SPLIT), [])
    lines = next(iter(table.lines.values()), Lines())
    for row, place in enumerate(places):
        yield Row(
            at=lines.place(row),
            name=names[row] if place else "",
            image=place if columns["images"] and suffix_of(place) in PICTURES else "",
            masks=_paths(masks[row]),
            defect=str(defects[row]),
            anomalous=sides[row],
            category=str(categories[row]) if columns["groups"] else None,
            maps=maps[row],
            is_tested=_TEST not in split or split[row] == _TEST,
        )


def visa_rows(path: Path, category: str) -> Iterator[Row]:
    """The rows of a category in VisA's table of splits; the folder of an image is its defect."""
    table, names = read_table(path), ("image", "mask", _SPLIT)
    if not {*names} <= table.arrays.keys():
        raise ValueError(f"expected columns {', '.join(names)}, got {', '.join(table.arrays)}")
    lines = next(iter(table.lines.values()), Lines())
    for row, (image, mask, split) in enumerate(zip(*(_cells(table, name) for name in names))):
        if image.startswith(f"{category}/"):
            place, masks = _in_category(image, category), [_in_category(mask, category)] if mask else []
            defect = posixpath.basename(posixpath.dirname(place))
            of_row = place_of(place), place, masks, defect, not means_normal(defect)
            yield Row(lines.place(row), *of_row, is_tested=split == _TEST)


def real_iad_rows(path: Path, category: str) -> Iterator[Row]:
    """The rows of a category's list of Real-IAD; the folder above that of an image is its defect.

    Parameters: path, of {"meta": {"prefix": …, "normal_class": …}, "test": [{"image_path": …, "mask_path": … or null,
    "anomaly_class": …}, …]}, with paths below the prefix, a folder beside the category's own. As in the official code,
    an image without a mask is normal, and so is one of the normal class. Raises ValueError for another list.
    """
    content = parse_json(path.read_bytes())
    try:
        prefix, normal = content["meta"]["prefix"], content["meta"]["normal_class"]
        for number, row in enumerate(content["test"], 1):
            mask = None if row["anomaly_class"] == normal else row.get("mask_path")
            paths = [path for path in (row["image_path"], mask) if path is not None]
            image, *masks = (_in_category(path and posixpath.join(prefix, path), category) for path in paths)
            defect = posixpath.basename(posixpath.dirname(posixpath.dirname(image)))
            yield Row(f"row {number}", place_of(image), image, masks, defect, mask is not None)
    except (TypeError, LookupError, AttributeError) as error:
        raise ValueError(
            "expected meta with prefix and normal_class, and test with image_path, mask_path and anomaly_class of"
            f" each image, got another list: {reason(error)}"
        ) from None


def _in_category(path: str, category: str) -> str:
    """A path in the folder of the categories as one in the folder of a category; "" for a blank.

    >>> _in_category("nut/OK/1.png", "nut"), _in_category("screw/OK/1.png", "nut")
    ('OK/1.png', '../screw/OK/1.png')
    """
    return posixpath.relpath(path, category) if path else ""


class Files(NamedTuple):
    """The files that a list may name.

    tree: the files that are known; folder: in which the paths of the list begin
    others: the folder of further files; None if no others may be named
    where: the places of files that may be named, in words
    """

    tree: Tree
    folder: str = ""
    others: Path | None = None
    where: str = "that lie beside the list, or below it"

    def path(self, cell: str) -> Path:
        """The file that a cell names. Raises ValueError for one that may not be named."""
        cell = cell.replace("\\", "/")
        below = posixpath.normpath(posixpath.join(self.folder, cell))
        if below in self.tree.files or self.others is None:
            if below not in self.tree.files and (below.startswith(("..", "/")) or ":" in below):
                raise ValueError(f"expected files {self.where}, got {cell!r}")
            return self.tree.path(below)
        return self.others / cell


def images_of(rows: Iterable[Row], files: Files, name: str, category: str, *, needs_masks: bool) -> ImageList:
    """The images of the rows of a list, their maps, problems, and images that are not tested.

    Parameters: files, which it may name; name, of the list; category, of rows without one; needs_masks, as of
    `read_list`. Raises ValueError, with the row, for one without an image, for an image or a map of an earlier row, for
    a map that is a mask, and for a file that may not be named.
    """
    there = frozenset(files.tree.files.values())
    is_there: Callable[[Path], bool] = there.__contains__ if files.others is None else Path.is_file
    images: list[AnomalyImage] = []
    row_of: dict[Key, str] = {}
    maps: dict[str, dict[Key, Path]] = {}
    problems: list[Problem] = []
    left_out: dict[Path, str] = {}
    first: dict[Any, str] = {}
    for row in rows:
        with named(row.at):
            if not row.name:
                raise ValueError("expected an image, got a blank")
            image = files.path(row.image) if row.image else None
            if not row.is_tested:
                left_out |= {} if image is None else {image: OUTSIDE}
                continue
            if row.category == "":
                raise ValueError("expected a category, got a blank")
            masks = [mask for mask in map(files.path, row.masks) if needs_masks or is_there(mask)]
            of_row = {column: files.path(cell) for column, cell in row.maps.items() if cell}
            anomalous = False if row.anomalous is None and not masks else row.anomalous
            one = AnomalyImage(row.category or category, row.name, row.defect, anomalous, image, tuple(masks))
            _check_first(row.at, one, of_row, first)
        images.append(one)
        at = row_of[one.key] = f"{row.at} of {name}"
        for column in row.maps:
            maps.setdefault(column, {}).update({one.key: of_row[column]} if column in of_row else {})
        paths = [*one.files, *of_row.values()]
        for path in (path for path in paths if not is_there(path)):
            cures = [IMAGES_ALONE] if path in masks else []
            problems.append(Problem(path, f"expected the file that {at} names, got none", "missing", cures))
        if anomalous and not masks and needs_masks:
            text = f"expected a mask, since {at} calls it {row.defect}, got none"
            problems.append(Problem(paths[0], text, "without a mask", [IMAGES_ALONE]))
    return ImageList(sorted(images, key=lambda image: image.key), row_of, maps, problems, left_out)


def _check_first(at: str, image: AnomalyImage, maps: Mapping[str, Path], first: dict[Any, str]) -> None:
    """Raise ValueError for an image or a map of an earlier row, by the first row of each, and a map that is a mask."""
    if (other := first.setdefault(image.key, at)) != at:
        raise ValueError(f"expected each image once, got {image.name} as in {other}")
    for column, path in maps.items():
        if (other := first.setdefault((column, path), at)) != at:
            raise ValueError(f"expected a map of its own in {column}, got that of {other}")
        if path in image.masks:
            raise ValueError(f"expected another file as its map than as its mask, got {path.name} for both")


def _names(places: Sequence[str], categories: Sequence[Any]) -> list[str]:
    """The names of images: their places, in each category below its folder, if all of its images lie in it."""
    names = [place_of(posixpath.normpath(place.replace("\\", "/"))) for place in places]
    if not categories:
        above = os.path.commonpath([posixpath.dirname(name) for name in names]) if names else ""
        return [name[len(above) :].lstrip("/") for name in names] if above.startswith(("/", "..")) else names
    below: dict[str, list[str | None]] = {}
    for name, category in zip(names, categories):
        _, folder, end = f"/{name}".partition(f"/{category}/")
        below.setdefault(category, []).append(end if folder else None)
    apart = {category: iter(ends) for category, ends in below.items() if None not in ends and len({*ends}) == len(ends)}
    return [str(next(apart[category])) if category in apart else name for name, category in zip(names, categories)]


def _sides(defects: Sequence[str]) -> list[bool | None]:
    """Whether images are anomalous by the words of their defects; None for a blank."""
    distinct = {*defects} - {""}
    if {word.lower() for word in distinct} <= _SIDES.keys():
        return [_SIDES.get(word.lower()) for word in defects]
    return [not means_normal(word) if word else None for word in defects]
