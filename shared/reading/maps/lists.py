"""Lists of images: a table with a row for each, of its maps, masks, defect and category, as paths and words.

Paths are relative to the list. Of an archive, and on pages, a list names files that came with it, and no others.
"""

from __future__ import annotations

import os
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from filecmp import cmp
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ...arrays.checks import check_lengths, did_you_mean
from ..columns.cells import is_blank, num_dimensions, plain
from ..cures import CurableError, Cure, Or
from ..limits import PAGES, Limits
from ..places import METHODS, PICTURES
from ..reasons import named
from ..sides import means_normal
from ..tables.files import Lines, Table, read_table, whole
from .layouts import IMAGES_ALONE
from .listing import (
    OUTSIDE,
    AnomalyFolder,
    AnomalyImage,
    Problem,
    Tree,
    is_archive,
)
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
UNLISTED = "not in the list"
_SIDES = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}  # of labels in a column
Key = tuple[str, str]  # of an image: its category and its name


class ImageList(NamedTuple):
    """The content of a list.

    path: of the list
    beside: the files of its folder, if it was read with that
    images: a row each, in the order of their categories and names
    rows: in words, by the keys of the images, such as "line 4 of list.csv"
    maps: of each column of maps, those of the images, by the images' keys
    problems, left_out: as of `AnomalyFolder`
    guess: a sentence on the columns that were recognised; "" where all are chosen
    note: a sentence on columns that are not used; "" without any
    has_images, has_masks: whether there is a column of images, or of masks
    """

    path: Path
    beside: Sequence[Path]
    images: list[AnomalyImage]
    rows: Mapping[Key, str]
    maps: Mapping[str, Mapping[Key, Path]]
    problems: list[Problem]
    left_out: Mapping[Path, str]
    guess: str
    note: str
    has_images: bool
    has_masks: bool

    @property
    def files(self) -> list[Path]:
        """The files that it names."""
        of_images = [file for image in self.images for file in image.files]
        return [*of_images, *(path for maps in self.maps.values() for path in maps.values())]

    def of(self, data: AnomalyFolder) -> tuple[dict[Key, AnomalyImage], list[Problem]]:
        """The image of a data set that each row is of, by the key in the list, and rows of others, which are problems.

        An image is known by its file, or by its category and name. Raises ValueError for a row with another mask or
        defect than the data set has.
        """
        by_file = {image.image.resolve(): image for image in data.images if image.image is not None}
        by_key, chosen = {image.key: image for image in data.images}, {image.category for image in data.images}
        there, problems = dict[Key, AnomalyImage](), []
        for one in self.images:
            image = None if one.image is None else by_file.get(one.image.resolve())
            image = image or by_key.get(one.key)
            if image is not None:
                self._check_alike(one, image)
                there[one.key] = image
            elif one.category in chosen or one.category not in data.categories:
                text = f"expected an image of {data.tree.root}, got another in {self.rows[one.key]}"
                first = [*one.files, *(maps[one.key] for maps in self.maps.values() if one.key in maps)]
                problems.append(Problem(first[0], text, "without an image"))
        return there, problems

    def _check_alike(self, one: AnomalyImage, image: AnomalyImage) -> None:
        if self.has_masks and not _are_alike(one.masks, image.masks):
            wanted, masks = (", ".join(mask.name for mask in each.masks) or "none" for each in (image, one))
            raise ValueError(f"{self.path}: expected the mask {wanted} of {image.name}, got {masks}")
        if one.defect and image.defect and one.defect != image.defect:
            raise ValueError(f"{self.path}: expected {image.name} to be {image.defect}, got {one.defect}")


def _are_alike(one: Sequence[Path], other: Sequence[Path]) -> bool:
    """Whether files are the same, or hold the same."""
    pairs = [(a, b) for a, b in zip(one, other) if a.resolve() != b.resolve()]
    return len(one) == len(other) and all(a.is_file() and b.is_file() and cmp(a, b, shallow=False) for a, b in pairs)


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
        cells = {role: [_cells(table, column) for column in made_of[role]] for role in _HEADERS}
        check_lengths(**{name: _cells(table, name) for names in made_of.values() for name in names})
        if not any(cells[role] for role in ("images", "predictions")):
            raise ValueError(f"expected a column of images or of maps, got {', '.join(table.arrays)}")
        lines, there = next(iter(table.lines.values()), Lines()), frozenset(tree.files.values())
        rows = _Rows(name, tree, there, lines, alone or limits is PAGES)
        split = next(([*map(str.lower, _cells(table, one))] for one in table.arrays if _word(one) == _SPLIT), [])
        read = _read_rows(rows, made_of, cells, split, needs_masks)
    used, chosen = {one for names in made_of.values() for one in names}, columns or {}
    others = [one for one in table.arrays if one not in used and _word(one) != _SPLIT]
    guessed = [f"{role} is {', '.join(names)}" for role, names in made_of.items() if names and role not in chosen]
    guess = f"Columns of {path.name}: {', '.join(guessed)}" if guessed else ""
    note = f"Not used of {path.name}: {', '.join(others)}." if others else ""
    has = (bool(made_of[role]) for role in ("images", "references"))
    return ImageList(path, [*tree.files.values()], *read, guess, note, *has)


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


class _Rows(NamedTuple):
    """The places of rows, and the files that they name.

    name, tree: the list, and the files beside it, which are there; lines, the places of its rows
    alone: whether it may name no others
    """

    name: str
    tree: Tree
    there: frozenset[Path]
    lines: Lines
    alone: bool

    def at(self, row: int) -> str:
        """A row in words, such as "line 4"."""
        return self.lines.place(row)

    def file(self, cell: str, row: int) -> Path:
        """The file that a cell names. Raises ValueError for one that may not be named."""
        cell = cell.replace("\\", "/")
        below = posixpath.normpath(posixpath.join(posixpath.dirname(self.name), cell))
        if below in self.tree.files:
            return self.tree.files[below]
        if self.alone and (below.startswith(("..", "/")) or ":" in below):
            raise ValueError(f"{self.at(row)}: expected files that lie beside the list, or below it, got {cell!r}")
        return self.tree.root / below if self.alone else self.tree.files[self.name].parent / cell

    def has(self, path: Path) -> bool:
        """Whether a file that may be named is there."""
        return path in self.there if self.alone else path.is_file()

    def missing(self, paths: Sequence[Path], row: int) -> Iterator[Problem]:
        """The files that are not there."""
        for path in paths:
            if not self.has(path):
                text = f"expected the file that {self.at(row)} of {Path(self.name).name} names, got none"
                yield Problem(path, text, "missing")


def _read_rows(
    rows: _Rows,
    made_of: Mapping[str, Sequence[str]],
    cells: Mapping[str, Sequence[Sequence[Any]]],
    split: Sequence[str],
    needs_masks: bool,
) -> tuple[list[AnomalyImage], dict[Key, str], dict[str, dict[Key, Path]], list[Problem], dict[Path, str]]:
    """The images of the rows, sorted, their rows, their maps by column, problems, and images that are not tested."""
    first = {role: columns[0] if columns else [] for role, columns in cells.items()}
    number = max(len(column) for columns in cells.values() for column in columns)
    tested = [not split or _TEST not in split or split[row] == _TEST for row in range(number)]
    anomalous = _sides(first["image_labels"])
    alone = rows.tree.files[rows.name].parent.resolve().name
    images: list[AnomalyImage] = []
    where: dict[Key, str] = {}
    maps: dict[str, dict[Key, Path]] = {column: {} for column in made_of["predictions"]}
    problems: list[Problem] = []
    left_out: dict[Path, str] = {}
    repetitions = _Repetitions(rows)
    places = _names([_place(first["images"], cells["predictions"], row) for row in range(number)], first["groups"])
    for row in range(number):
        place = _place(first["images"], cells["predictions"], row)
        if not place:
            raise ValueError(f"{rows.at(row)}: expected an image, got a blank")
        image = rows.file(place, row) if first["images"] and suffix_of(place) in PICTURES else None
        if not tested[row]:
            left_out |= {} if image is None else {image: OUTSIDE}
            continue
        category, defect = (str(first[role][row]) if first[role] else "" for role in ("groups", "image_labels"))
        if first["groups"] and not category:
            raise ValueError(f"{rows.at(row)}: expected a category, got a blank")
        masks = [rows.file(one, row) for one in _paths(first["references"][row])] if first["references"] else []
        masks = masks if needs_masks else [mask for mask in masks if rows.has(mask)]
        is_anomalous = anomalous[row] if defect else None
        if is_anomalous is None and not masks:
            is_anomalous = False
        one = AnomalyImage(
            category or alone,
            places[row],
            defect,
            places[row].rpartition("/")[2],
            is_anomalous,
            image,
            tuple(masks),
        )
        own_maps = {
            column: rows.file(str(each[row]), row)
            for column, each in zip(made_of["predictions"], cells["predictions"])
            if each[row]
        }
        repetitions.check(row, one, own_maps)
        problems += rows.missing([*one.files, *own_maps.values()], row)
        if is_anomalous and not masks and needs_masks:
            text = f"expected a mask, since {rows.at(row)} of {Path(rows.name).name} calls it {defect}, got none"
            problems.append(Problem((*one.files, *own_maps.values())[0], text, "without a mask", [IMAGES_ALONE]))
        where[one.key] = f"{rows.at(row)} of {Path(rows.name).name}"
        for column, path in own_maps.items():
            maps[column][one.key] = path
        images.append(one)
    if not images:
        raise ValueError("expected a row of each image, got none of the test")
    return sorted(images, key=lambda image: image.key), where, maps, problems, left_out


class _Repetitions:
    """Rows of one image or of one map, which are errors, as is a map that is a mask."""

    def __init__(self, rows: _Rows) -> None:
        self.rows, self.images, self.files = rows, dict[Any, int](), dict[tuple[str, Path], int]()

    def check(self, row: int, image: AnomalyImage, maps: Mapping[str, Path]) -> None:
        """Raise ValueError, with the row, for an image or a map of an earlier row."""
        at = self.rows.at(row)
        other = self.images.setdefault(image.key, row)
        if other != row:
            raise ValueError(f"{at}: expected each image once, got {image.name} as in {self.rows.at(other)}")
        for column, path in maps.items():
            other = self.files.setdefault((column, path), row)
            if other != row:
                raise ValueError(f"{at}: expected a map of its own in {column}, got that of {self.rows.at(other)}")
            if path in image.masks:
                raise ValueError(f"{at}: expected another file as its map than as its mask, got {path.name} for both")


def _place(images: Sequence[Any], maps: Sequence[Sequence[Any]], row: int) -> str:
    """The cell that names an image: of the images, or else of the first map."""
    return str(next((column[row] for column in ([images] if images else maps) if column[row]), ""))


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
