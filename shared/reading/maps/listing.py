"""The files of data sets and of models' maps, which are brought together by their names; no file is opened."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote

from ..archives import Archives
from ..census import IMAGES, OTHERS, Census, LeaveOutError
from ..images import SUFFIXES
from ..limits import COMMANDS, Limits
from ..places import PICTURES, files_below, matched
from ..reading import Input, Place
from .layouts import (
    KIND_FOLDERS,
    MASK_ENDINGS,
    NOTES,
    PAIR,
    Layout,
    categories_of,
    images_of_the_test,
    layout_of,
    list_of,
    read_list,
)
from .planes import ARRAY_SUFFIXES, MAP_SUFFIXES, MASK_SUFFIXES, read_mask_values

MAPS, MASKS = "maps", "masks"  # kinds of a census, and the usual names of the inputs
NOTE, OUTSIDE, ELSEWHERE = "without a map, mask or image", "not of the test", "of other categories"
_CLOUD, _WITHOUT = "with clouds of points", "of an image that is left out"
_SUFFIXES = PICTURES | {*ARRAY_SUFFIXES}


class Tree(NamedTuple):
    """Files that are not hidden.

    root: their folder; of several places, the one above all
    files: by their paths in the folder, sorted; of several folders or archives, below the name of each
    """

    root: Path
    files: Mapping[str, Path]

    @classmethod
    def of(cls, places: Place | Sequence[Place], archives: Archives | None = None, but: Iterable[Path] = ()) -> Tree:
        """The files of folders, archives and single files, without those below other folders inside them.

        Raises ValueError for a place that does not exist, and for two files of one name.
        """
        paths = as_paths(places)
        folders = {path: _folder_of(path, archives) for path in paths}
        roots = {folder.resolve() for folder in folders.values() if folder is not None}
        outside = [place for path in but if (place := path.resolve()) not in roots]
        several, files = len(roots) > 1, dict[str, Path]()
        for path, folder in folders.items():
            for file in [path] if folder is None else files_below(folder, None):
                if outside and any(file.resolve().is_relative_to(other) for other in outside):
                    continue
                name = file.name if folder is None else file.relative_to(folder).as_posix()
                name = f"{folder.resolve().name}/{name}" if several and folder is not None else name
                if name in files:
                    raise ValueError(f"{file}: expected files of different names, got two; a .zip keeps folders apart")
                files[name] = file
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
        return f" in {self.root}" if all(path == self.root / name for name, path in self.files.items()) else ""

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
            own = place.split("/")
            if all(part in ("*", each) or fnmatchcase(each, part) for each, part in zip(own, parts)):
                by_place["/".join(own[:-level]) if level else place].append(name)
        return dict(by_place)


def suffix_of(name: str) -> str:
    """The suffix of a file's name in lower case, such as ".png"; empty for a name without one."""
    return os.path.splitext(name)[1].lower()


def is_note(name: str) -> bool:
    """Whether a file holds no map, mask or image by its suffix."""
    return suffix_of(name) in NOTES


def place_of(name: str) -> str:
    """The path of a map, mask or image without its suffixes, in one form of Unicode (NFC).

    >>> place_of("cut/a.png"), place_of("cut/a.png.npy"), place_of("v1.5.tiff")
    ('cut/a', 'cut/a', 'v1.5')
    """
    stem = os.path.splitext(name)[0]
    inner, suffix = os.path.splitext(stem)
    return unicodedata.normalize("NFC", inner if suffix.lower() in _SUFFIXES else stem)


def place_of_mask(name: str) -> str:
    """The place of the image of a mask: without one of the MASK_ENDINGS, in any case.

    >>> place_of_mask("kos01/Part0_label.bmp"), place_of_mask("10301_GT.png"), place_of_mask("7.png")
    ('kos01/Part0', '10301', '7')
    """
    place = place_of(name)
    ending = next((ending for ending in MASK_ENDINGS if place.lower().endswith(ending)), "")
    stem = place[: len(place) - len(ending)]
    return stem if stem and not stem.endswith("/") else place


def key_of(place: str) -> str:
    """A place without the folders that name a kind of file, KIND_FOLDERS.

    >>> key_of("nut/test/cut/000")
    'nut/cut/000'
    """
    *folders, name = place.split("/")
    return "/".join([*(part for part in folders if part not in KIND_FOLDERS), name])


def as_paths(places: Place | Sequence[Place]) -> list[Path]:
    """One or several places as paths."""
    return [Path(places)] if isinstance(places, (str, os.PathLike)) else [*map(Path, places)]


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
    """What is wrong with the name of a file, or with a file that lacks another.

    text: what was expected of it, and what came
    reason: why it can be left out, in words of a census
    """

    path: Path
    text: str
    reason: str

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
    """

    tree: Tree
    files: Collection[Path]
    layout: Layout | None
    categories: Mapping[str, str]
    images: list[AnomalyImage]
    problems: list[Problem]
    left_out: Mapping[Path, str]

    @property
    def layout_name(self) -> str:
        """The name of the layout."""
        return PAIR if self.layout is None else self.layout.name


class AnomalyMaps(NamedTuple):
    """A data set and a model's maps of its test images.

    data: the data set
    tree: the files of the maps
    pairs: each test image with its map, sorted
    wrong: problems of file names; results require that there are none
    left_out: why a file of the data set or of the maps is not used, by path
    archives: the unpacked archives that files lie in
    guessed: whether categories are folders that were taken for them
    leaves_out: whether files with problems are left out
    """

    data: AnomalyFolder
    tree: Tree
    pairs: list[tuple[AnomalyImage, Path]]
    wrong: list[Problem]
    left_out: Mapping[Path, str]
    archives: Archives
    guessed: bool = False
    leaves_out: bool = False

    @property
    def folder(self) -> Path:
        """The folder or the archive of the maps."""
        return Path(self.archives.named(str(self.tree.root)))

    @property
    def data_folder(self) -> Path:
        """The folder or the archive of all categories, of one, or of masks."""
        return Path(self.archives.named(str(self.data.tree.root)))

    @property
    def problems(self) -> list[str]:
        """Problems of file names, a line each."""
        return [self.archives.named(str(problem)) for problem in self.wrong]

    @property
    def census(self) -> Census:
        """The files of the data set and of the maps; without problems, each is used or left out for a reason."""
        images = [image for image, _ in self.pairs]
        used = {
            MAPS: len(self.pairs),
            IMAGES: len({image.image for image in images if image.image is not None}),
            MASKS: len({mask for image in images for mask in image.masks}),
        }
        known = {path: MAPS for name, path in self.tree.files.items() if suffix_of(name) in MAP_SUFFIXES}
        known |= {mask: MASKS for image in self.data.images for mask in image.masks}
        known |= {image.image: IMAGES for image in self.data.images if image.image is not None}
        left_out: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path, reason in sorted(self.left_out.items()):
            left_out[known.get(path, OTHERS), reason].append(self.archives.named(str(path)))
        return Census({kind: number for kind, number in used.items() if number}, dict(left_out))


Listed = tuple[list[AnomalyImage], list[Problem], dict[Path, str]]  # why other files are not used
Pairs = list[tuple[AnomalyImage, Path]]


def check_names(listed: AnomalyMaps) -> None:
    """Raise LeaveOutError with the first problem of the files' names, and the number of problems."""
    if listed.wrong:
        more = f" (the first of {len(listed.wrong)} problems: --list-problems)" if listed.wrong[1:] else ""
        raise LeaveOutError(listed.problems[0] + more, len(listed.wrong))


def list_models(
    maps: Input,
    data: Place | Sequence[Place],
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    needs_masks: bool = True,
    leave_out: bool = False,
    limits: Limits = COMMANDS,
) -> dict[str, AnomalyMaps]:
    """Find the test images of a data set, their masks, and one or more models' maps of them, by the models' names.

    Folders, archives and single files are all read. No file is opened except archives and lists of images, and of a
    plain folder in which folders may be categories, masks until one without an anomalous pixel is found.

    Parameters: maps, of one model, or a mapping of several by name; several folders or archives that hold the same
    names are models, too, unless the data set comes in as many of their names; data, of all categories or of one, or
    masks alone; layout, one of `NAMES` of `layouts`, by default recognised; categories, the ones to list, by default
    all; needs_masks, whether an anomalous image without a mask is a problem, which it is not if images alone are judged
    by the folders of a layout; leave_out, whether files whose names are a problem are left out, with all of their
    image; limits, of the files.
    Raises ValueError for unknown places, layouts and categories.
    """
    archives = Archives(limits)
    with archives.naming():
        places = as_paths(data)
        models = _models(maps, places, archives)
        every = {path.resolve() for paths in models.values() for path in paths}
        for name, paths in [(MASKS, places), *((MAPS, paths) for paths in models.values())]:
            if not paths:
                raise ValueError(f"{name}: expected a folder, an archive or files, got none")
            limits.check_files([path for path in paths if path.is_file()])
        if shared := next((path for path in places if path.resolve() in every), None):
            raise ValueError(f"{shared}: expected maps in another folder than their masks, got one folder for both")
        files = Tree.of(places, archives, but=every)
        folder = list_anomaly_images(files, layout=layout, categories=categories, needs_masks=needs_masks)
        listed = {
            name: find_maps(Tree.of(paths, archives, but=places), folder, archives, guess=layout is None)
            for name, paths in models.items()
        }
        listed = _aligned(listed)
        return {name: _without_problems(each) for name, each in listed.items()} if leave_out else listed


def list_anomaly_maps(maps: Place | Sequence[Place], data: Place | Sequence[Place], **choices: Any) -> AnomalyMaps:
    """Find the test images of a data set, their masks and a model's maps; see `list_models`."""
    (listed,) = list_models({MAPS: maps}, data, **choices).values()
    return listed


def _models(maps: Input, data: Sequence[Path], archives: Archives) -> dict[str, list[Path]]:
    """The places of each model's maps, by its name.

    Raises ValueError for a place that does not exist, and if some names, but not all, are in several archives.
    """
    if isinstance(maps, Mapping):
        models = {str(name): as_paths(places) for name, places in maps.items()}
    else:
        paths = as_paths(maps)
        models = {paths[0].resolve().stem if len(paths) == 1 else MAPS: paths}
    for path in chain(data, *models.values()):
        if not path.exists():
            raise ValueError(f"{path}: expected {'a folder' if path in data else 'a folder of maps'}, got none")
    if isinstance(maps, Mapping) or len(paths) < 2 or not all(path.is_dir() or is_archive(path) for path in paths):
        return models
    if sorted(path.stem for path in paths) == sorted(path.stem for path in data):
        return models  # a data set each
    held = {
        path: {place_of(name) for name in Tree.of(path, archives).files if suffix_of(name) in MAP_SUFFIXES}
        for path in paths
    }
    every, common = set().union(*held.values()), set.intersection(*held.values())
    if sum(map(len, held.values())) > len(every) > len(common):
        lacking = "; ".join(f"{path.name} lacks {_some(every - own)}" for path, own in held.items() if every - own)
        raise ValueError(
            f"expected maps of the same images from each model, got {len(every - common):,} images that not all have: "
            f"{lacking}. If these are data sets, put their masks into archives of the same names"
        )
    if every != common:
        return models
    stems = [path.stem for path in paths]
    return {stem if stems.count(stem) == 1 else str(path): [path] for stem, path in zip(stems, paths)}


def _some(names: Collection[str]) -> str:
    """The first names, and the number of others."""
    first = sorted(names)[:5]
    return ", ".join(first) + (f" and {len(names) - len(first):,} more" if len(names) > len(first) else "")


def _aligned(models: dict[str, AnomalyMaps]) -> dict[str, AnomalyMaps]:
    """Models in which an image that another model has no map of is a problem."""
    names = {model: {_key(image) for image, _ in listed.pairs} for model, listed in models.items()}
    for model, listed in models.items():
        lacking = [other for other in models if names[model] - names[other]]
        for other in lacking if not any(each.wrong for each in models.values()) else ():
            folder = models[other].folder
            problems = [
                Problem(path, f"expected a map of that image in {folder}, too, got none", "of which a model has no map")
                for image, path in listed.pairs
                if _key(image) not in names[other]
            ]
            models = {**models, model: models[model]._replace(wrong=[*models[model].wrong, *problems])}
    return models


def _key(image: AnomalyImage) -> tuple[str, str]:
    return image.category, image.name


def _without_problems(listed: AnomalyMaps) -> AnomalyMaps:
    """The files without those of problems, which are left out, each for its reason, with the others of their image.

    Raises LeaveOutError if nothing remains.
    """
    wrong = {problem.path: problem.reason for problem in listed.wrong}
    pairs = [(image, path) for image, path in listed.pairs if not {*image.files, path} & wrong.keys()]
    if not pairs:
        check_names(listed)
    used = {file for image, path in pairs for file in (*image.files, path)}
    others = [path for path in (*listed.data.files, *listed.tree.files.values()) if path not in used]
    left_out = {path: listed.left_out.get(path) or wrong.get(path, _WITHOUT) for path in others}
    return listed._replace(pairs=pairs, wrong=[], left_out=left_out, leaves_out=True)


def list_anomaly_images(
    tree: Tree, *, layout: str | None = None, categories: Sequence[str] | None = None, needs_masks: bool = True
) -> AnomalyFolder:
    """Find the test images of a data set and their masks; see `list_models`.

    Parameters: tree, the files of all categories or of one, or of a plain folder of masks; these may lie in a folder of
    it, as in archives. Returns the data set; a plain folder of masks has an image for each mask. Each file is used,
    left out for a reason, or named in a problem.
    """
    whole, (tree, described) = tree, _described(tree, layout, needs_masks)
    files = [*whole.files.values()]
    if described is None:
        if categories:
            raise ValueError(f"categories: expected none of a plain folder of masks, got {', '.join(categories)}")
        return AnomalyFolder(tree, files, None, {tree.root.resolve().name: ""}, *_list_masks(tree))
    every = categories_of(tree.names, tree.root, described)
    for name in categories or ():
        if name not in every:
            raise ValueError(f"categories: expected some of {', '.join(every)}, got {name!r}")
    chosen = sorted(set(categories)) if categories else [*every]
    images: list[AnomalyImage] = []
    problems: list[Problem] = []
    own = {*tree.files.values()}
    left_out = {path: NOTE if is_note(path.name) else OUTSIDE for path in files if path not in own}
    left_out |= {} if "" in every.values() else _elsewhere(tree, every, chosen)
    for category in chosen:
        lists = _listed_category if described.lists else _list_category
        listed, wrong, left = lists(category, tree.below(every[category]), described, needs_masks)
        images += listed
        problems += wrong
        left_out |= left
    return AnomalyFolder(tree, files, described, every, images, problems, left_out)


def _described(tree: Tree, layout: str | None, needs_masks: bool) -> tuple[Tree, Layout | None]:
    """The layout of a data set, and its files, which may all lie in one of its folders; of none, the whole."""
    if layout == PAIR:
        return tree, None
    folders = {name.partition("/")[0]: None for name in tree.names if "/" in name}
    for below in (tree, *map(tree.below, folders)):
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
    images = tree.matching(layout.images, SUFFIXES)
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
            place: kept for place, names in images.items() if (kept := [name for name in names if name in chosen])
        }
    listed = []
    for place, names in images.items():
        parts = dict(zip(PurePosixPath(layout.images).parts, place.split("/")))
        defect, stem = parts["{defect}"], parts["{stem}"]
        file = tree.path(names[0])
        problems += _repeated([*map(tree.path, names)], "image")
        mask = layout.masks.format(defect=defect, stem=stem)
        own, anomalous = [*map(tree.path, masks.pop(mask, []))], defect not in layout.normal
        if anomalous and not own and needs_masks:
            wanted = f"a folder {mask} of masks" if layout.united else f"a mask {mask}.png"
            text = f"expected {wanted}, got none; --levels image needs none"
            problems.append(Problem(file, text, "without a mask"))
        if not layout.united:
            problems += _repeated(own, "mask")
        cloud = None if layout.clouds is None else tree.path(layout.clouds.format(defect=defect, stem=stem))
        listed.append(AnomalyImage(category, place, defect, stem, anomalous, file, tuple(own), cloud))
    if not listed:
        problems.append(Problem(tree.root, f"expected test images {layout.images}.png, got none", "without images"))
    left = [tree.path(name) for names in masks.values() for name in names]
    if layout.split is None:
        problems += [Problem(path, "expected the image of the mask, got none", "without an image") for path in left]
    else:
        left_out |= dict.fromkeys(left, OUTSIDE)
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
        place = place_of(image.relative_to(folder).as_posix())
        if place in by_place:
            problems.append(Problem(path, f"expected {place} once, got it again", "listed again"))
        masks = () if mask is None or not (needs_masks or mask.is_file()) else (mask,)
        wanted = f"expected the file that {path} lists, got none"
        problems += [Problem(file, wanted, "missing") for file in (image, *masks) if not file.is_file()]
        parts = place.split("/")
        defect = parts[-3] if len(parts) > 2 else ""
        by_place[place] = AnomalyImage(category, place, defect, parts[-1], mask is not None, image, masks)
    used = {file for image in by_place.values() for file in image.files}
    left_out = {path: OUTSIDE for name, path in tree.files.items() if folder / name not in used}
    return [by_place[name] for name in sorted(by_place)], problems, left_out


def _list_masks(tree: Tree) -> Listed:
    """An image for each mask of a plain folder.

    Where a picture lies beside the mask of its name, which has one of the MASK_ENDINGS, that folder holds images too.
    """
    problems: list[Problem] = []
    left_out: dict[Path, str] = {}
    masks: dict[str, list[Path]] = defaultdict(list)
    images: dict[str, list[Path]] = defaultdict(list)
    files = {name for name in tree.names if suffix_of(name) in MASK_SUFFIXES}
    marked = {place_of_mask(name) for name in files if place_of_mask(name) != place_of(name)}
    pictures = {name for name in files if suffix_of(name) in SUFFIXES and place_of_mask(name) == place_of(name)}
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
        own, beside_it = masks.get(place, []), images.get(place, [])
        problems += [*_repeated(own, "mask"), *_repeated(beside_it, "image")]
        anomalous = None if own else False
        image, stem = next(iter(beside_it), None), place.rpartition("/")[2]
        listed.append(AnomalyImage(tree.root.resolve().name, place, "", stem, anomalous, image, tuple(own[:1])))
    if not listed:
        problems.append(Problem(tree.root, "expected a data set or masks, got no such files", "without masks"))
    return listed, problems, left_out


def find_maps(tree: Tree, data: AnomalyFolder, archives: Archives, *, guess: bool = True) -> AnomalyMaps:
    """Find the map of each test image: the file with the image's stem in a folder with the category's name.

    A folder in between with the name of a defect selects that defect's images; it is required if several images of the
    category have the stem. A single category needs no folder. In a plain folder, a map belongs to the mask with its
    path, or to the only one whose path is an end of its own, or the other way round, without folders such as test and
    ground_truth; others belong to normal images.

    Parameters: tree, the files of the maps; data, as `list_anomaly_images` returns it; guess, whether folders of maps
    are categories if each holds images with and without an anomaly, where the data set is a plain folder.
    Returns the images with their maps, and problems, after those of the data set: images and masks without a map, two
    maps of one image, maps without an image, files that may be maps of another kind.
    """
    files = [name for name in tree.names if suffix_of(name) in MAP_SUFFIXES]
    left_out: dict[Path, str] = {**data.left_out}
    guessed = False
    if data.layout is None:
        pairs, problems = _pair_masks(tree, files, data.images)
        if guess and not problems and not data.problems:
            pairs, guessed = _with_categories(pairs)
    else:
        pairs, problems, left = _pair_categories(tree, files, data, data.layout)
        left_out |= left
    mapped = {place_of(name) for name in files}
    for name, path in tree.files.items():
        if suffix_of(name) not in MAP_SUFFIXES:
            if is_note(name) or (suffix_of(name) in SUFFIXES and place_of(name) in mapped):
                left_out[path] = NOTE if is_note(name) else "beside maps"
            else:
                wanted = "expected a map, as .tiff, .npy, .npz or .png, got another file"
                problems.append(Problem(path, wanted, "of another kind"))
    return AnomalyMaps(data, tree, pairs, [*data.problems, *problems], left_out, archives, guessed)


def _with_categories(pairs: Pairs) -> tuple[Pairs, bool]:
    """Images of a plain folder by category: the folders of their maps, if each holds images of both classes."""
    parts = [key_of(place_of(image.name)).split("/")[:-1] for image, _ in pairs]
    depth = next((i for i in range(min(map(len, parts), default=0)) if len({part[i] for part in parts}) > 1), None)
    if depth is None:
        return pairs, False
    folders: dict[str, Pairs] = defaultdict(list)
    for (image, path), part in zip(pairs, parts):
        folders[part[depth]].append((image._replace(category=part[depth]), path))
    if not all(_has_both([image for image, _ in own]) for own in folders.values()):
        return pairs, False
    return [pair for _, own in sorted(folders.items()) for pair in own], True


def _has_both(images: Sequence[AnomalyImage]) -> bool:
    """Whether some images have an anomalous pixel, and others have none or no mask."""
    masks = [image.masks[0] for image in images if image.masks]
    try:
        kinds = {False} if len(masks) < len(images) else set[bool]()
        for mask in masks:
            kinds.add(bool(read_mask_values(mask).any()))
            if len(kinds) == 2:
                return True
    except ValueError:  # which is said where all files are read
        pass
    return False


def _pair_categories(
    tree: Tree, files: Sequence[str], data: AnomalyFolder, layout: Layout
) -> tuple[Pairs, list[Problem], dict[Path, str]]:
    pairs: Pairs = []
    problems: list[Problem] = []
    images: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in data.images:
        images[image.category].append(image)
    by_category, elsewhere, left = _by_category(files, data, list(images))
    for category, own in images.items():
        own_pairs, wrong = _pair_images(tree, by_category.get(category, []), own, _defect_names(own, layout))
        pairs += own_pairs
        problems += wrong
    for name in _broken_categories(files, data):
        root = layout.images.partition("/")[0]
        text = f"expected a folder {root!r} in it, since there are maps of it, got none"
        problems.append(Problem(data.tree.root / name, text, "without images"))
    text = f"expected it in a folder of a category ({', '.join(images)}), got another"
    problems += [Problem(tree.path(name), text, "in no folder of a category") for name in elsewhere]
    return pairs, problems, {tree.path(name): ELSEWHERE for name in left}


def _broken_categories(files: Sequence[str], data: AnomalyFolder) -> list[str]:
    """The folders beside the categories that lack test images, though there are maps in a folder of that name."""
    chosen = {image.category for image in data.images}
    if "" in data.categories.values() or len(chosen) < len(data.categories):  # a category itself, or some
        return []
    folders = {folder for name in files for folder in name.split("/")[:-1]} - data.categories.keys()
    return sorted(folders & {name.partition("/")[0] for name in data.tree.names if "/" in name})


_Placed = tuple[str, list[str]]  # a map, and the folders between it and its category


def _by_category(
    files: Sequence[str], data: AnomalyFolder, chosen: Sequence[str]
) -> tuple[dict[str, list[_Placed]], list[str], list[str]]:
    """Maps by category, maps without a category, and maps that may belong to categories that are not chosen."""
    by_category: dict[str, list[_Placed]] = defaultdict(list)
    bare: list[_Placed] = []
    known = {unicodedata.normalize("NFC", name): name for name in data.categories}
    for file in files:
        *folders, _ = place_of(file).split("/")
        at = next((i for i, folder in enumerate(folders) if folder in known), None)
        if at is None:
            bare.append((file, folders))
        else:
            by_category[known[folders[at]]].append((file, folders[at + 1 :]))
    if len(chosen) == 1 and chosen[0] not in by_category:
        by_category[chosen[0]] = bare
        bare = []
    unmatched = [file for file, _ in bare]
    others = [file for category in by_category.keys() - {*chosen} for file, _ in by_category[category]]
    every = len(chosen) == len(data.categories) > 1
    return by_category, unmatched if every else [], others if every else [*others, *unmatched]


def _pair_images(
    tree: Tree, files: Sequence[_Placed], images: Sequence[AnomalyImage], defects: Mapping[str, str]
) -> tuple[Pairs, list[Problem]]:
    by_stem: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in images:
        by_stem[image.stem].append(image)
    map_of: dict[AnomalyImage, str] = {}
    unclear: set[str] = set()
    problems = []
    for file, folders in files:
        words = [word for folder in reversed(folders) for word in (folder, folder.casefold())]
        named = [defects[word] for word in words if word in defects]
        stem, path = place_of(file).rpartition("/")[2], tree.path(file)
        same = [image for image in by_stem.get(stem, []) if not named or image.defect == named[0]]
        if not same:
            problems.append(Problem(path, "expected an image of that name and folder, got none", "without an image"))
        elif len(same) > 1:
            unclear.add(stem)
            which = ", ".join(image.name for image in same)
            text = f"expected the folder of a defect, since {len(same)} images have that name: {which}"
            problems.append(Problem(path, text, "of several images"))
        elif same[0] in map_of:
            text = f"expected one map of {same[0].name}, got {map_of[same[0]]} too"
            problems.append(Problem(path, text, "of an image that has another"))
        else:
            map_of[same[0]] = file
    where = tree.where
    for image in images:
        if image not in map_of and image.stem not in unclear:
            name = f"{image.defect}/{image.stem}.tiff" if len(by_stem[image.stem]) > 1 else f"{image.stem}.tiff"
            text = f"expected its map {image.category}/…/{name}{where}, got none"
            problems.append(Problem(image.files[0], text, "without a map"))
    return [(image, tree.path(map_of[image])) for image in images if image in map_of], problems


def _pair_masks(tree: Tree, files: Sequence[str], images: Sequence[AnomalyImage]) -> tuple[Pairs, list[Problem]]:
    """Pair maps with the masks, and images beside them, of a plain folder; others are maps of normal images."""
    category = images[0].category if images else ""
    places = [key_of(place_of(file)) for file in files]
    names = _telling([key_of(image.name) for image in images], places)
    by_name: dict[str, tuple[AnomalyImage, Path]] = {}
    problems = []
    for file, at in zip(files, matched(places, names, strip=True, cut=True)):
        place, path = place_of(file), tree.path(file)
        stem = place.rpartition("/")[2]
        image = AnomalyImage(category, place, "", stem, False, None, ()) if at is None else images[at]
        if image.name in by_name:
            other = by_name[image.name][1].relative_to(tree.root)
            text = f"expected one map of {image.name}, got {other} too"
            problems.append(Problem(path, text, "of an image that has another"))
        else:
            by_name[image.name] = image, path
    where = tree.where
    near = {_folded(place): tree.path(file) for file, place in zip(files, places)}
    for image, name in zip(images, names):
        if image.name not in by_name:
            like = near.get(_folded(name))
            hint = f"; {like} has nearly that name" if like else ""
            text = f"expected its map {image.name}.tiff{where}, got none{hint}"
            problems.append(Problem((*image.masks, *image.files)[0], text, "without a map"))
    return [by_name[name] for name in sorted(by_name)], problems


def _folded(name: str) -> str:
    """A name in which what people take for one is one: capitals, percent-encoding, and what looks alike."""
    return unicodedata.normalize("NFKC", unquote(name)).casefold()


def _telling(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Names of masks without the folders above all of them, which tell nothing, unless maps have such a folder, too."""
    above = PurePosixPath(os.path.commonpath([os.path.dirname(name) for name in names]) if names else "")
    folders = {folder for place in others for folder in PurePosixPath(place).parts[:-1]}
    return (
        [*names] if {*above.parts} & folders else [PurePosixPath(name).relative_to(above).as_posix() for name in names]
    )


def _defect_names(images: Sequence[AnomalyImage], layout: Layout) -> Mapping[str, str]:
    """Defects by the names that their folders among the maps may have: their own, also in lower case."""
    defects = sorted({image.defect for image in images})
    own = {name: defect for defect in defects for name in (*layout.other_names.get(defect, ()), defect)}
    return {**{name.casefold(): defect for name, defect in own.items()}, **own}
