"""List the test images of a data set with their masks, by the names of its files."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..cures import Cure
from ..places import PICTURES, Archives, files_below
from ..reading import Place, as_paths
from ..reasons import some
from ..sides import means_normal
from .layouts import (
    IMAGES_ALONE,
    PAIR,
    Layout,
    categories_of,
    images_of_the_test,
    layout_of,
    list_of,
    read_list,
    with_normal_folder,
)
from .names import is_note, number_of_mask, place_of, place_of_mask, suffix_of
from .planes import MASK_SUFFIXES

NOTE, OUTSIDE, ELSEWHERE = "without a map, mask or image", "not of the test", "of other categories"
_CLOUD = "with clouds of points"
_FOLDERS_OF_MASKS = ("mask", "masks", "ground_truth", "gt")


class Tree(NamedTuple):
    """Files that are not hidden.

    root: their folder; of several places, the one above all
    files: by their paths in the folder, sorted; of several folders or archives, below the name of each
    """

    root: Path
    files: Mapping[str, Path]

    @classmethod
    def of(cls, places: Place | Sequence[Place], archives: Archives | None = None, but: Iterable[Path] = ()) -> Tree:
        """The files of folders, archives and single files, except below other given folders inside them.

        Raises ValueError for a place that does not exist, for two files of one name, and for more than the limits.
        """
        paths = as_paths(places)
        folders = {path: _folder_of(path, archives) for path in paths}
        roots = {folder.resolve() for folder in folders.values() if folder is not None}
        outside = [place for path in but if (place := path.resolve()) not in roots]
        several, files = len(roots) > 1, dict[str, Path]()
        direct = [path for path in paths if path.is_file()]
        for path, folder in folders.items():
            for file in [path] if folder is None else files_below(folder, None):
                if outside and any(file.resolve().is_relative_to(other) for other in outside):
                    continue
                name = file.name if folder is None else file.relative_to(folder).as_posix()
                name = f"{folder.resolve().name}/{name}" if several and folder is not None else name
                if name in files:
                    raise ValueError(f"{file}: expected files of different names, got two; a .zip keeps folders apart")
                files[name] = file
                direct += [file] if folder == path else []
        if archives is not None:
            archives.limits.check_files(dict.fromkeys(direct))
        alone = folders[paths[0]] if len(paths) == 1 else None
        above = os.path.commonpath([path.parent.resolve() for path in paths]) if alone is None else ""
        return cls(alone or Path(above), dict(sorted(files.items())))

    @property
    def names(self) -> list[str]:
        """The paths of the files in the folder, sorted."""
        return [*self.files]

    @property
    def where(self) -> str:
        """The folder in words of an error; nothing for files that lie in several."""
        name, path = next(iter(self.files.items()), ("", self.root))
        return f" in {self.root}" if path == self.root / name else ""

    def path(self, name: str) -> Path:
        """The path of a file, or of one that is not there."""
        return self.files.get(name, self.root / name)

    def below(self, folder: str) -> Tree:
        """The files below a folder, by their paths in it; "" for all."""
        start = f"{folder}/" if folder else ""
        below = {name[len(start) :]: path for name, path in self.files.items() if name.startswith(start)}
        return Tree(self.root / folder, below)

    def matching(self, pattern: str, suffixes: Collection[str], level: int = 0) -> dict[str, list[str]]:
        """The files of a pattern with one of the suffixes, by `place_of` or by their `level`-th parent folders."""
        parts = PurePosixPath(pattern.replace("{defect}", "*").replace("{stem}", "*")).parts
        by_place: dict[str, list[str]] = defaultdict(list)
        for name in self.names:
            if name.count("/") != len(parts) - 1 or not name.startswith(parts[0]) or suffix_of(name) not in suffixes:
                continue
            place = place_of(name)
            steps = place.split("/")
            if all(part in ("*", each) or fnmatchcase(each, part) for each, part in zip(steps, parts)):
                by_place["/".join(steps[:-level]) if level else place].append(name)
        return dict(by_place)


def is_archive(path: Path) -> bool:
    """Whether a place is an archive, which is a folder like any other."""
    return path.suffix.lower() == ".zip" and path.is_file()


def _folder_of(path: Path, archives: Archives | None) -> Path | None:
    """The folder that a place is, or is unpacked to; None for a single file."""
    if archives is not None and is_archive(path):
        return archives.folder(path)
    if not path.exists():
        raise ValueError(f"{path}: expected a folder, got none")
    return path if path.is_dir() else None


class Problem(NamedTuple):
    """A problem of a file's name, or of a file that lacks another.

    text: what was expected of it, and what came
    reason: why it can be left out, in words of a census
    cures: other than to leave it out
    """

    path: Path
    text: str
    reason: str
    cures: Sequence[Cure] = ()

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class AnomalyImage(NamedTuple):
    """A test image and its masks, as paths.

    category: name of its category
    name: path of the image in its category, or of the map in a plain folder, without the suffix
    defect: the folder named after its defect; "" in a plain folder
    stem: the name of its file without the suffix
    anomalous: whether it is anomalous by its folder; False without a mask in a plain folder; None if the mask decides
    image: its file; None in a plain folder, unless it lies beside its mask
    masks: the files of its masks, which are united; empty for a normal image
    cloud: the file of its points on the grid of its pixels; None if the layout has none
    """

    category: str
    name: str
    defect: str
    stem: str
    anomalous: bool | None
    image: Path | None
    masks: tuple[Path, ...]
    cloud: Path | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Its category and its name, which no other image has."""
        return self.category, self.name

    @property
    def files(self) -> list[Path]:
        """The image, if it has a file, and its masks."""
        return [*self.masks] if self.image is None else [self.image, *self.masks]


class AnomalyFolder(NamedTuple):
    """A data set.

    tree: its files, below the folder of all categories, of one, or of masks
    files: all files that are there, also beside that folder
    layout: the description of its layout; None for a plain folder of masks
    categories: the folders of all categories by name, chosen or not
    images: the test images of the chosen categories, sorted
    problems: of the files
    left_out: why a file is not used, by path
    guess: a sentence on the layout, or on the columns of a list; "" without
    """

    tree: Tree
    files: Collection[Path]
    layout: Layout | None
    categories: Mapping[str, str]
    images: list[AnomalyImage]
    problems: list[Problem]
    left_out: Mapping[Path, str]
    guess: str = ""

    @property
    def layout_name(self) -> str:
        """The name of the layout."""
        return PAIR if self.layout is None else self.layout.name


Listed = tuple[list[AnomalyImage], list[Problem], dict[Path, str]]  # why other files are not used


def list_anomaly_images(
    tree: Tree, *, layout: str | None = None, categories: Sequence[str] | None = None, needs_masks: bool = True
) -> AnomalyFolder:
    """Find the test images of a data set and their masks; see `list_models`.

    Parameters: tree, the files of all categories or of one, or of a plain folder of masks; these may lie in a folder of
    it, as in archives. Returns the data set; a plain folder of masks has an image for each mask. Each file is used,
    left out for a reason, or named in a problem.
    """
    whole, (tree, described) = tree, described_in(tree, layout, needs_masks)
    files = [*whole.files.values()]
    if described is None:
        if categories:
            raise ValueError(f"categories: expected none of a plain folder of masks, got {', '.join(categories)}")
        return AnomalyFolder(tree, files, None, {tree.root.resolve().name: ""}, *_list_masks(tree))
    every = categories_of(tree.names, tree.root, described)
    check_categories(categories, every)
    chosen, usual = sorted(set(categories)) if categories else [*every], described.normal
    images: list[AnomalyImage] = []
    problems: list[Problem] = []
    inside = {*tree.files.values()}
    left_out = {path: NOTE if is_note(path.name) else OUTSIDE for path in files if path not in inside}
    left_out |= {} if "" in every.values() else _elsewhere(tree, every, chosen)
    if not described.lists:
        at = PurePosixPath(described.images).parts.index("{defect}")
        for category in chosen:
            below = tree.below(every[category])
            folders = {place.split("/")[at] for place in below.matching(described.images, PICTURES)}
            described = with_normal_folder(described, folders, below.root)
    for category in chosen:
        lists = _listed_category if described.lists else _list_category
        listed, wrong, unused = lists(category, tree.below(every[category]), described, needs_masks)
        images += listed
        problems += wrong
        left_out |= unused
    called = f" Normal images are in {some(named)}." if (named := [*described.normal[len(usual) :]]) else ""
    guess = f"The data set is laid out as {described.title} (layout {described.name}).{called}"
    return AnomalyFolder(tree, files, described, every, images, problems, left_out, guess)


def check_categories(categories: Sequence[str] | None, every: Collection[str]) -> None:
    """Raise ValueError for a chosen category that is not there."""
    for name in categories or ():
        if name not in every:
            raise ValueError(f"categories: expected some of {', '.join(every)}, got {name!r}")


def described_in(tree: Tree, layout: str | None, needs_masks: bool) -> tuple[Tree, Layout | None]:
    """The layout of a data set, and its files, which may all lie in one of its folders; of none, the whole."""
    if layout == PAIR:
        return tree, None
    folders = {name.partition("/")[0]: None for name in tree.names if "/" in name}
    for below in chain([tree], map(tree.below, folders)):
        try:
            described = layout_of(below.names, below.root, layout, needs_masks=needs_masks)
            if described is not None and categories_of(below.names, below.root, described):
                return below, described
        except ValueError:
            continue
    described = layout_of(tree.names, tree.root, layout, needs_masks=needs_masks)
    return tree, described


def _elsewhere(tree: Tree, every: Collection[str], chosen: Collection[str]) -> dict[Path, str]:
    """Why files outside the folders of the chosen categories are left out."""
    first = {name: name.partition("/")[0] for name in tree.names}
    return {tree.path(name): ELSEWHERE if at in every else OUTSIDE for name, at in first.items() if at not in chosen}


def _repeated(files: Sequence[Path], kind: str) -> Iterator[Problem]:
    """The files of one name but the first."""
    for path in files[1:]:
        yield Problem(path, f"expected one {kind} of that name, got {files[0].name} too", "of a name that another has")


def _list_category(category: str, tree: Tree, layout: Layout, needs_masks: bool) -> Listed:
    images = tree.matching(layout.images, PICTURES)
    pattern = f"{layout.masks}/*" if layout.united else layout.masks
    masks = tree.matching(pattern, MASK_SUFFIXES, level=1 if layout.united else 0)
    clouds = {} if layout.clouds is None else tree.matching(place_of(layout.clouds), (suffix_of(layout.clouds),))
    left_out = {tree.path(name): _CLOUD for names in clouds.values() for name in names}
    claimed = {name for group in (images, masks, clouds) for names in group.values() for name in names}
    problems: list[Problem] = []
    if layout.split is not None:
        chosen = images_of_the_test(tree.root.resolve().parent / layout.split, category)
        there = {name for names in images.values() for name in names}
        wanted = f"expected the file, which {layout.split} lists, got none"
        problems += [Problem(tree.path(name), wanted, "missing") for name in sorted(chosen - there)]
        left_out |= {tree.path(name): OUTSIDE for name in there - chosen}
        images = {
            place: tested for place, names in images.items() if (tested := [name for name in names if name in chosen])
        }
    listed = []
    for place, names in images.items():
        parts = dict(zip(PurePosixPath(layout.images).parts, place.split("/")))
        defect, stem = parts["{defect}"], parts["{stem}"]
        file = tree.path(names[0])
        problems += _repeated([*map(tree.path, names)], "image")
        mask = layout.masks.format(defect=defect, stem=stem)
        mask_paths, anomalous = [*map(tree.path, masks.pop(mask, []))], defect not in layout.normal
        if anomalous and not mask_paths and needs_masks:
            wanted = f"a folder {mask} of masks" if layout.united else f"a mask {mask}.png"
            problems.append(Problem(file, f"expected {wanted}, got none", "without a mask", [IMAGES_ALONE]))
        if not layout.united:
            problems += _repeated(mask_paths, "mask")
        cloud = None if layout.clouds is None else tree.path(layout.clouds.format(defect=defect, stem=stem))
        mask_paths = mask_paths if layout.united else mask_paths[:1]
        listed.append(AnomalyImage(category, place, defect, stem, anomalous, file, tuple(mask_paths), cloud))
    if not listed:
        problems.append(Problem(tree.root, f"expected test images {layout.images}.png, got none", "without images"))
    unmatched = [tree.path(name) for names in masks.values() for name in names]
    if layout.split is None:
        problems += [
            Problem(path, "expected the image of the mask, got none", "without an image") for path in unmatched
        ]
    else:
        left_out |= dict.fromkeys(unmatched, OUTSIDE)
    roots = {pattern.partition("/")[0] for pattern in (layout.images, layout.masks)}
    for name, path in tree.files.items():
        if is_note(name):
            left_out[path] = NOTE
        elif name.partition("/")[0] not in roots:
            left_out[path] = OUTSIDE
        elif name not in claimed:
            wanted = f"expected an image {layout.images}.png or a mask {layout.masks}.png, got another file"
            problems.append(Problem(path, wanted, "of another kind"))
    return listed, problems, left_out


def _listed_category(category: str, tree: Tree, layout: Layout, needs_masks: bool) -> Listed:
    """The images of a category by its list; the parent of a sample's folder names its defect."""
    folder = tree.root.resolve()
    path = list_of(folder, layout)
    by_place: dict[str, AnomalyImage] = {}
    problems = []
    for image, mask in read_list(path, folder):
        file, *mask_files = (
            tree.path(each.relative_to(folder).as_posix()) for each in (image, mask) if each is not None
        )
        place = place_of(image.relative_to(folder).as_posix())
        if place in by_place:
            problems.append(Problem(path, f"expected {place} once, got it again", "listed again"))
        masks = tuple(each for each in mask_files if needs_masks or each.is_file())
        wanted = f"expected the file that {path} lists, got none"
        problems += [Problem(each, wanted, "missing") for each in (file, *masks) if not each.is_file()]
        parts = place.split("/")
        defect = parts[-3] if len(parts) > 2 else ""
        by_place[place] = AnomalyImage(category, place, defect, parts[-1], mask is not None, file, masks)
    used = {each for image in by_place.values() for each in image.files}
    left_out = {each: OUTSIDE for each in tree.files.values() if each not in used}
    return [by_place[name] for name in sorted(by_place)], problems, left_out


def _check_masks_alone(tree: Tree) -> None:
    """Raise ValueError for folders of images beside a folder of their masks, such as good, crack and mask/crack."""
    folders = {name.split("/")[0] for name in tree.names if "/" in name}
    normal = sorted(folder for folder in folders if means_normal(folder))
    for folder in sorted(folders):
        if folder.lower() in _FOLDERS_OF_MASKS and normal and len(folders) > len(normal) + 1:
            raise ValueError(
                f"{tree.root}: expected masks alone, got images in {normal[0]} beside masks in {folder}; "
                f"{tree.root / folder} is the folder of masks"
            )


def _list_masks(tree: Tree) -> Listed:
    """An image for each mask of a plain folder.

    Where a picture lies beside the mask of its name, which has an ending of masks, that folder holds images too.
    """
    _check_masks_alone(tree)
    problems: list[Problem] = []
    left_out: dict[Path, str] = {}
    masks: dict[str, list[Path]] = defaultdict(list)
    images: dict[str, list[Path]] = defaultdict(list)
    files = {name for name in tree.names if suffix_of(name) in MASK_SUFFIXES}
    marked = {place_of_mask(name) for name in files if place_of_mask(name) != place_of(name)}
    pictures = {name for name in files if suffix_of(name) in PICTURES and place_of_mask(name) == place_of(name)}
    both = {os.path.dirname(name) for name in pictures if place_of(name) in marked}
    for name, path in tree.files.items():
        if name in files:
            beside = name in pictures and os.path.dirname(name) in both
            (images if beside else masks)[place_of_mask(name)].append(path)
        elif is_note(name):
            left_out[path] = NOTE
        else:
            problems.append(Problem(path, "expected a mask, as .png or .npy, got another file", "of another kind"))
    listed = []
    for place in sorted({*masks, *images}):
        paths, beside_it = masks.get(place, []), images.get(place, [])
        numbered = len({place_of(path.name) for path in paths}) == len(paths) and all(map(number_of_mask, paths))
        problems += [*([] if numbered else _repeated(paths, "mask")), *_repeated(beside_it, "image")]
        anomalous = None if paths else False
        image, stem = next(iter(beside_it), None), place.rpartition("/")[2]
        listed.append(
            AnomalyImage(
                tree.root.resolve().name, place, "", stem, anomalous, image, (*paths,) if numbered else (*paths[:1],)
            )
        )
    if not listed:
        problems.append(Problem(tree.root, "expected a data set or masks, got no such files", "without masks"))
    return listed, problems, left_out
