"""The files below a folder or of an upload, by their names, which all listings of maps and masks are made of."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from ..images import SUFFIXES
from ..places import PICTURES, files_below, matched
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
from .planes import ARRAY_SUFFIXES, MAP_SUFFIXES, MASK_SUFFIXES

_SUFFIXES = PICTURES | {*ARRAY_SUFFIXES}


class Tree(NamedTuple):
    """Files that are not hidden.

    root: the folder; Path() for an upload, whose names are no paths here
    names: their paths in the folder, sorted
    """

    root: Path
    names: list[str]

    @classmethod
    def of(cls, folder: Path, but: Path | None = None) -> Tree:
        """The files below a folder, without those below another one in it."""
        files = files_below(folder, None)
        inside = but is not None and but.resolve() != folder.resolve()
        left = but.resolve() if but is not None and inside else None
        kept = [path for path in files if left is None or not path.resolve().is_relative_to(left)]
        return cls(folder, [path.relative_to(folder).as_posix() for path in kept])

    @property
    def where(self) -> str:
        """The folder in words of an error; nothing for an upload."""
        return "" if self.root == Path() else f" in {self.root}"

    def path(self, name: str) -> Path:
        """The path of a file."""
        return self.root / name

    def below(self, folder: str) -> Tree:
        """The files below a folder, by their paths in it; "" for all."""
        start = f"{folder}/" if folder else ""
        return Tree(self.root / folder, [name[len(start) :] for name in self.names if name.startswith(start)])

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


# List the test images of an anomaly detection data set with their masks, by file name.


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


class AnomalyFolder(NamedTuple):
    """A data set on disk or in an upload.

    tree: its files
    layout: the description of its layout; None for a plain folder of masks
    categories: the folders of all categories by name, chosen or not
    images: the test images of the chosen categories, sorted
    problems: problems of the files, one line each
    left_out: why a file is not used, by path
    """

    tree: Tree
    layout: Layout | None
    categories: Mapping[str, str]
    images: list[AnomalyImage]
    problems: list[str]
    left_out: Mapping[Path, str]

    @property
    def folder(self) -> Path:
        """The folder of all categories, of one category, or of masks."""
        return self.tree.root

    @property
    def layout_name(self) -> str:
        """The name of the layout."""
        return PAIR if self.layout is None else self.layout.name


Listed = tuple[list[AnomalyImage], list[str], dict[Path, str]]  # images, problems, and why other files are not used
NOTE, OUTSIDE, OTHERS = "no map, mask or image", "not of the test", "of other categories"


def list_anomaly_images(
    tree: Tree, *, layout: str | None = None, categories: Sequence[str] | None = None, needs_masks: bool = True
) -> AnomalyFolder:
    """Find the test images of a data set and their masks. No image is opened.

    Parameters: tree, the files of all categories or of one, or of a plain folder of masks; layout, one of `NAMES` of
    `layouts`, by default recognised; categories, the ones to list, by default all; needs_masks, whether an anomalous
    image without a mask is a problem, which it is not if images alone are judged by the folders of a layout.

    Returns the data set; a plain folder of masks has an image for each mask. Each file is used, left out for a reason,
    or named in a problem. Raises ValueError for an unknown layout or category, OSError for files that cannot be read.
    """
    described = layout_of(tree.names, tree.root, layout, needs_masks=needs_masks)
    if described is None:
        if categories:
            raise ValueError(f"categories: expected none of a plain folder of masks, got {', '.join(categories)}")
        return AnomalyFolder(tree, None, {tree.root.resolve().name: ""}, *_list_masks(tree))
    every = categories_of(tree.names, tree.root, described)
    for name in categories or ():
        if name not in every:
            raise ValueError(f"categories: expected some of {', '.join(every)}, got {name!r}")
    chosen = sorted(set(categories)) if categories else [*every]
    images, problems = [], []
    left_out = {} if "" in every.values() else _elsewhere(tree, every, chosen)
    for category in chosen:
        lists = _listed_category if described.lists else _list_category
        listed, wrong, left = lists(category, tree.below(every[category]), described, needs_masks)
        images += listed
        problems += wrong
        left_out |= left
    return AnomalyFolder(tree, described, every, images, problems, left_out)


def _elsewhere(tree: Tree, every: Collection[str], chosen: Collection[str]) -> dict[Path, str]:
    """Why files outside the folders of the chosen categories are left out."""
    first = {name: name.partition("/")[0] for name in tree.names}
    return {tree.path(name): OTHERS if at in every else OUTSIDE for name, at in first.items() if at not in chosen}


def _list_category(category: str, tree: Tree, layout: Layout, needs_masks: bool) -> Listed:
    images = tree.matching(layout.images, SUFFIXES)
    pattern = f"{layout.masks}/*" if layout.united else layout.masks
    masks = tree.matching(pattern, MASK_SUFFIXES, level=1 if layout.united else 0)
    clouds = {} if layout.clouds is None else tree.matching(place_of(layout.clouds), (suffix_of(layout.clouds),))
    left_out = {tree.path(name): "clouds of points" for names in clouds.values() for name in names}
    claimed = {name for group in (images, masks, clouds) for names in group.values() for name in names}
    problems: list[str] = []
    if layout.split is not None:
        chosen = images_of_the_test(tree.root.resolve().parent / layout.split, category)
        missing = sorted(chosen - {name for names in images.values() for name in names})
        problems += [f"{tree.path(name)}: expected the file, which {layout.split} lists, got none" for name in missing]
        left_out |= {tree.path(name): OUTSIDE for names in images.values() for name in names if name not in chosen}
        images = {
            place: kept for place, names in images.items() if (kept := [name for name in names if name in chosen])
        }
    listed = []
    for place, names in images.items():
        parts = dict(zip(PurePosixPath(layout.images).parts, place.split("/")))
        defect, stem = parts["{defect}"], parts["{stem}"]
        file = tree.path(names[0])
        problems += [f"{tree.path(name)}: expected one image of that name, got {file.name} too" for name in names[1:]]
        mask = layout.masks.format(defect=defect, stem=stem)
        own, anomalous = [*map(tree.path, masks.pop(mask, []))], defect not in layout.normal
        if anomalous and not own and needs_masks:
            wanted = f"a folder {mask} of masks" if layout.united else f"a mask {mask}.png"
            problems.append(f"{file}: expected {wanted}, got none; --levels image needs none")
        if not layout.united:
            problems += [f"{path}: expected one mask of that name, got {own[0].name} too" for path in own[1:]]
        cloud = None if layout.clouds is None else tree.path(layout.clouds.format(defect=defect, stem=stem))
        listed.append(AnomalyImage(category, place, defect, stem, anomalous, file, tuple(own), cloud))
    if not listed:
        problems.append(f"{tree.root}: expected test images {layout.images}.png, got none")
    left = {tree.path(name): OUTSIDE for names in masks.values() for name in names}
    if layout.split is None:
        problems += [f"{path}: expected the image of the mask, got none" for path in left]
    else:
        left_out |= left
    roots = {pattern.partition("/")[0] for pattern in (layout.images, layout.masks)}
    for name in tree.names:
        path = tree.path(name)
        if is_note(name):
            left_out[path] = NOTE
        elif name.partition("/")[0] not in roots:
            left_out[path] = OUTSIDE
        elif name not in claimed:
            wanted = f"an image {layout.images}.png or a mask {layout.masks}.png"
            problems.append(f"{path}: expected {wanted}, got another file")
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
            problems.append(f"{path}: expected {place} once, got it again")
        masks = () if mask is None or not (needs_masks or mask.is_file()) else (mask,)
        problems += [
            f"{file}: expected the file that {path} lists, got none" for file in (image, *masks) if not file.is_file()
        ]
        parts = place.split("/")
        defect = parts[-3] if len(parts) > 2 else ""
        by_place[place] = AnomalyImage(category, place, defect, parts[-1], mask is not None, image, masks)
    used = {file for image in by_place.values() for file in (image.image, *image.masks)}
    left_out = {tree.path(name): OUTSIDE for name in tree.names if folder / name not in used}
    return [by_place[name] for name in sorted(by_place)], problems, left_out


def _list_masks(tree: Tree) -> Listed:
    """An image for each mask of a plain folder.

    Where a picture lies beside the mask of its name, which has one of the MASK_ENDINGS, that folder holds images too.
    """
    problems: list[str] = []
    left_out: dict[Path, str] = {}
    masks: dict[str, list[str]] = {}
    images: dict[str, list[str]] = {}
    files = {name for name in tree.names if suffix_of(name) in MASK_SUFFIXES}
    marked = {place_of_mask(name) for name in files if place_of_mask(name) != place_of(name)}
    pictures = {name for name in files if suffix_of(name) in SUFFIXES and place_of_mask(name) == place_of(name)}
    both = {_folder(name) for name in pictures if place_of(name) in marked}
    for name in tree.names:
        if name in files:
            (images if name in pictures and _folder(name) in both else masks).setdefault(
                place_of_mask(name), []
            ).append(name)
        elif is_note(name):
            left_out[tree.path(name)] = NOTE
        else:
            problems.append(f"{tree.path(name)}: expected a mask, as .png or .npy, got another file")
    listed = []
    for place in sorted({*masks, *images}):
        own, beside = ([tree.path(name) for name in by_place.get(place, ())] for by_place in (masks, images))
        problems += [f"{path}: expected one mask of that name, got {own[0].name} too" for path in own[1:]]
        problems += [f"{path}: expected one image of that name, got {beside[0].name} too" for path in beside[1:]]
        anomalous = None if own else False
        stem = place.rpartition("/")[2]
        image = beside[0] if beside else None
        listed.append(AnomalyImage(tree.root.resolve().name, place, "", stem, anomalous, image, tuple(own[:1])))
    if not listed:
        problems.append(f"{tree.root}: expected a data set or masks, got no such files")
    return listed, problems, left_out


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


# Match anomaly maps to test images by category, stem and the defect's folder, and count what is used.


class Counted(NamedTuple):
    """The number of files below a folder, of those used by what they are, and of those left out by reason."""

    there: int
    used: Mapping[str, int]
    left_out: Mapping[str, int]


class AnomalyMaps(NamedTuple):
    """A data set and a model's maps of its test images, on disk or in an upload.

    data: the data set
    tree: the files of the maps
    pairs: each test image with its map, sorted
    problems: problems of file names, one line each; results require that there are none
    left_out: why a file among the maps is not used, by path
    """

    data: AnomalyFolder
    tree: Tree
    pairs: list[tuple[AnomalyImage, Path]]
    problems: list[str]
    left_out: Mapping[Path, str]

    @property
    def folder(self) -> Path:
        """The folder of the maps."""
        return self.tree.root

    @property
    def census(self) -> dict[str, Counted]:
        """The files of the maps and of the data set; without problems, each is used or left out for a reason."""
        images = [image for image, _ in self.pairs]
        used = {
            "images": len({image.image for image in images if image.image is not None}),
            "masks": len({mask for image in images for mask in image.masks}),
        }
        return {
            "maps": Counted(len(self.tree.names), {"maps": len(self.pairs)}, Counter(self.left_out.values())),
            "data": Counted(len(self.data.tree.names), used, Counter(self.data.left_out.values())),
        }


def list_anomaly_maps(
    maps: str | Path,
    data: str | Path,
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    needs_masks: bool = True,
) -> AnomalyMaps:
    """Find the test images of a data set, their masks and their maps. No file is opened except lists of images.

    Parameters: maps, as for `find_maps`; data, its folder; the others as for `list_anomaly_images`.
    Returns the data set with the maps. Raises ValueError for unknown folders, layouts and categories.
    """
    maps, data = Path(maps), Path(data)
    for place, expected in ((data, "a folder"), (maps, "a folder of maps")):
        if not place.is_dir():
            raise ValueError(f"{place}: expected {expected}, got {'a file' if place.exists() else 'none'}")
    if maps.resolve() == data.resolve():
        raise ValueError(f"{maps}: expected maps in another folder than their masks, got one folder for both")
    files = Tree.of(data, but=maps)
    folder = list_anomaly_images(files, layout=layout, categories=categories, needs_masks=needs_masks)
    return find_maps(Tree.of(maps, but=data), folder)


def find_maps(maps: Tree, data: AnomalyFolder) -> AnomalyMaps:
    """Find the map of each test image: the file with the image's stem in a folder with the category's name.

    A folder in between with the name of a defect selects that defect's images; it is required if several images of the
    category have the stem. A single category needs no folder. In a plain folder, a map belongs to the mask with its
    path, or to the only one whose path is an end of its own, or the other way round, without folders such as test and
    ground_truth; others belong to normal images.

    Parameters: maps, the files of the maps; data, as `list_anomaly_images` returns it.
    Returns the images with their maps, and problems, one line each, after those of the data set: images and masks
    without a map, two maps of one image, maps without an image, files that may be maps of another kind.
    """
    files = [name for name in maps.names if suffix_of(name) in MAP_SUFFIXES]
    if data.layout is None:
        left_out: dict[Path, str] = {}
        pairs, problems = _pair_masks(maps, files, data.images)
    else:
        pairs, problems, left_out = _pair_categories(maps, files, data, data.layout)
    mapped = {place_of(name) for name in files}
    for name in maps.names:
        if suffix_of(name) not in MAP_SUFFIXES:
            if is_note(name) or (suffix_of(name) in SUFFIXES and place_of(name) in mapped):
                left_out[maps.path(name)] = NOTE if is_note(name) else "pictures beside maps"
            else:
                problems.append(f"{maps.path(name)}: expected a map, as .tiff, .npy, .npz or .png, got another file")
    return AnomalyMaps(data, maps, pairs, [*data.problems, *problems], left_out)


Pairs = list[tuple[AnomalyImage, Path]]


def _pair_categories(
    maps: Tree, files: Sequence[str], data: AnomalyFolder, layout: Layout
) -> tuple[Pairs, list[str], dict[Path, str]]:
    pairs, problems = [], []
    images: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in data.images:
        images[image.category].append(image)
    by_category, elsewhere, left = _by_category(files, data, list(images))
    for category, own in images.items():
        own_pairs, wrong = _pair_images(maps, by_category.get(category, []), own, _defect_names(own, layout))
        pairs += own_pairs
        problems += wrong
    for name in _broken_categories(files, data):
        root = layout.images.partition("/")[0]
        problems.append(f"{data.folder / name}: expected a folder {root!r} in it, since there are maps of it, got none")
    known = ", ".join(images)
    problems += [
        f"{maps.path(name)}: expected it in a folder of a category ({known}), got another" for name in elsewhere
    ]
    return pairs, problems, {maps.path(name): OTHERS for name in left}


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
    known = {_nfc(name): name for name in data.categories}
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
    maps: Tree, files: Sequence[_Placed], images: Sequence[AnomalyImage], defects: Mapping[str, str]
) -> tuple[Pairs, list[str]]:
    by_stem: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in images:
        by_stem[image.stem].append(image)
    several = _repeated_stems(images)
    map_of: dict[AnomalyImage, str] = {}
    unclear: set[str] = set()
    problems = []
    for file, folders in files:
        words = [word for folder in reversed(folders) for word in (folder, folder.casefold())]
        named = [defects[word] for word in words if word in defects]
        stem, path = place_of(file).rpartition("/")[2], maps.path(file)
        same = [image for image in by_stem.get(stem, []) if not named or image.defect == named[0]]
        if not same:
            problems.append(f"{path}: expected an image of that name and folder, got none")
        elif len(same) > 1:
            unclear.add(stem)
            problems.append(
                f"{path}: expected the folder of a defect, since {len(same)} images have that name: "
                + ", ".join(image.name for image in same)
            )
        elif same[0] in map_of:
            problems.append(f"{path}: expected one map of {same[0].name}, got {map_of[same[0]]} too")
        else:
            map_of[same[0]] = file
    for image in images:
        if image not in map_of and image.stem not in unclear:
            where = f"{image.defect}/{image.stem}.tiff" if image.stem in several else f"{image.stem}.tiff"
            problems.append(f"{image.image}: expected its map {image.category}/…/{where}{maps.where}, got none")
    return [(image, maps.path(map_of[image])) for image in images if image in map_of], problems


def _pair_masks(maps: Tree, files: Sequence[str], images: Sequence[AnomalyImage]) -> tuple[Pairs, list[str]]:
    """Pair maps with the masks, and images beside them, of a plain folder; others are maps of normal images."""
    category = images[0].category if images else ""
    places = [key_of(place_of(file)) for file in files]
    names = _telling([key_of(image.name) for image in images], places)
    by_name: dict[str, tuple[AnomalyImage, Path]] = {}
    problems = []
    for file, at in zip(files, matched(places, names, strip=True, cut=True)):
        place, path = place_of(file), maps.path(file)
        image = (
            AnomalyImage(category, place, "", place.rpartition("/")[2], False, None, ()) if at is None else images[at]
        )
        if image.name in by_name:
            problems.append(
                f"{path}: expected one map of {image.name}, got {by_name[image.name][1].relative_to(maps.root)} too"
            )
        else:
            by_name[image.name] = image, path
    near = {_folded(place): maps.path(file) for file, place in zip(files, places)}
    for image, name in zip(images, names):
        if image.name not in by_name:
            like = near.get(_folded(name))
            hint = f"; {like} has nearly that name" if like else ""
            own = image.masks[0] if image.masks else image.image
            problems.append(f"{own}: expected its map {image.name}.tiff{maps.where}, got none{hint}")
    return [by_name[name] for name in sorted(by_name)], problems


def _folded(name: str) -> str:
    """A name in which what people take for one is one: capitals, percent-encoding, and what looks alike."""
    return unicodedata.normalize("NFKC", unquote(name)).casefold()


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


def _telling(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Names of masks without the folders above all of them, which tell nothing, unless maps have such a folder, too."""
    above = PurePosixPath(os.path.commonpath([os.path.dirname(name) for name in names]) if names else "")
    folders = {folder for place in others for folder in PurePosixPath(place).parts[:-1]}
    return (
        [*names] if {*above.parts} & folders else [PurePosixPath(name).relative_to(above).as_posix() for name in names]
    )


def _repeated_stems(images: Sequence[AnomalyImage]) -> set[str]:
    """The ambiguous stems, which several images share."""
    return {stem for stem, count in Counter(image.stem for image in images).items() if count > 1}


def _defect_names(images: Sequence[AnomalyImage], layout: Layout) -> Mapping[str, str]:
    """Defects by the names that their folders among the maps may have: their own, also in lower case."""
    defects = sorted({image.defect for image in images})
    own = {name: defect for defect in defects for name in (*layout.other_names.get(defect, ()), defect)}
    return {**{name.casefold(): defect for name, defect in own.items()}, **own}
