"""Match the maps of a model to the images of a data set, by the names of their files."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..cures import Advice, reworded
from ..places import PICTURES, Archives, matched
from ..reading import IMAGES, OTHERS, Census, unused
from .datasets import AnomalyFolder
from .layouts import PLAIN, Layout
from .listing import ELSEWHERE, NOTE, AnomalyImage, Problem, Tree
from .names import is_note, key_of, place_of, suffix_of
from .planes import MAP_SUFFIXES

MAPS, MASKS = "maps", "masks"  # kinds of a census, and the usual names of the inputs
Pairs = list[tuple[AnomalyImage, Path]]


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
    guess, note: sentences on the columns of a list of the maps; is_listed, whether there is one
    """

    data: AnomalyFolder
    tree: Tree
    pairs: Pairs
    wrong: list[Problem]
    left_out: Mapping[Path, str]
    archives: Archives
    guessed: bool = False
    leaves_out: bool = False
    guess: str = ""
    note: str = ""
    is_listed: bool = False

    @property
    def by_category(self) -> dict[str, Pairs]:
        """The pairs of each category, in their order."""
        pairs: dict[str, Pairs] = {}
        for pair in self.pairs:
            pairs.setdefault(pair[0].category, []).append(pair)
        return pairs

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
        """Problems of file names, a line each, with cures."""
        return [Advice(self.archives.named(str(problem)), *problem.cures) for problem in self.wrong]

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


def check_names(listed: AnomalyMaps) -> None:
    """Raise CurableError with the first problem of the files' names, and the number of problems."""
    if listed.wrong:
        more = f" (the first of {len(listed.wrong)} problems)" if listed.wrong[1:] else ""
        unused("files", "", listed.problems, False, lambda problem: reworded(problem, lambda text: text + more))


def find_maps(tree: Tree, data: AnomalyFolder, archives: Archives) -> AnomalyMaps:
    """Find the map of each test image: the file with the image's stem in a folder with the category's name.

    A folder in between with the name of a defect selects that defect's images; it is required if several images of the
    category have the stem. A single category needs no folder. In a plain folder, a map belongs to the mask with its
    path, or to the only one whose path is an end of its own, or the other way round, without folders such as test and
    ground_truth; others belong to normal images.

    Problems, after those of the data set, are images and masks without a map, two maps of one image, maps without an
    image, and files that may be maps of another kind.
    """
    files = [name for name in tree.names if suffix_of(name) in MAP_SUFFIXES]
    left_out: dict[Path, str] = {**data.left_out}
    if data.layout is PLAIN:
        pairs, problems = _pair_masks(tree, files, data.images)
    else:
        pairs, problems, of_others = _pair_categories(tree, files, data, data.layout)
        left_out |= of_others
    mapped = {place_of(name) for name in files}
    for name, path in tree.files.items():
        if suffix_of(name) not in MAP_SUFFIXES:
            if is_note(name) or (suffix_of(name) in PICTURES and place_of(name) in mapped):
                left_out[path] = NOTE if is_note(name) else "beside maps"
            else:
                wanted = "expected a map, as .tiff, .npy, .npz or .png, got another file"
                problems.append(Problem(path, wanted, "of another kind"))
    return AnomalyMaps(data, tree, pairs, [*data.problems, *problems], left_out, archives)


def _pair_categories(
    tree: Tree, files: Sequence[str], data: AnomalyFolder, layout: Layout
) -> tuple[Pairs, list[Problem], dict[Path, str]]:
    pairs: Pairs = []
    problems: list[Problem] = []
    images: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in data.images:
        images[image.category].append(image)
    by_category, elsewhere, of_others = _by_category(files, data, list(images))
    for category, listed in images.items():
        own_pairs, wrong = _pair_images(tree, by_category.get(category, []), listed, _defect_names(listed, layout))
        pairs += own_pairs
        problems += wrong
    text = f"expected it in a folder of a category ({', '.join(images)}), got another"
    problems += [Problem(tree.path(name), text, "in no folder of a category") for name in elsewhere]
    return pairs, problems, {tree.path(name): ELSEWHERE for name in of_others}


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
    every = len(chosen) == len(data.categories) and "" not in data.categories.values()
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
        if len(same) > 1:  # images in a folder that no defect names
            same = [image for image in same if PurePosixPath(image.name).parent.name in folders] or same
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
    by_name: dict[str, tuple[AnomalyImage, str]] = {}
    problems = []
    for file, at in zip(files, matched(places, names, strip=True, cut=True)):
        place, path = place_of(file), tree.path(file)
        image = AnomalyImage(category, place, "", False, None, ()) if at is None else images[at]
        if image.name in by_name:
            text = f"expected one map of {image.name}, got {by_name[image.name][1]} too"
            problems.append(Problem(path, text, "of an image that has another"))
        else:
            by_name[image.name] = image, file
    where = tree.where
    for image in images:
        if image.name not in by_name:
            text = f"expected its map {image.name}.tiff{where}, got none"
            problems.append(Problem((*image.masks, *image.files)[0], text, "without a map"))
    return [(image, tree.path(file)) for _, (image, file) in sorted(by_name.items())], problems


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
    by_name = {name: defect for defect in defects for name in (*layout.other_names.get(defect, ()), defect)}
    return {**{name.casefold(): defect for name, defect in by_name.items()}, **by_name}
