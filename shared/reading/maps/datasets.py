"""List the test images of a data set with their masks: by the names of its files, or by its own list."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ..places import PICTURES
from ..reasons import named, some
from ..sides import means_normal
from .layouts import PLAIN, Layout, ReadRows, categories_of, layout_of, normal_folders
from .listing import ELSEWHERE, IMAGES_ALONE, NOTE, OUTSIDE, AnomalyImage, Problem, Tree
from .lists import Files, images_of
from .names import is_note, number_of_mask, place_of, place_of_mask, suffix_of
from .planes import MASK_SUFFIXES

_CLOUD = "with clouds of points"
_FOLDERS_OF_MASKS = ("mask", "masks", "ground_truth", "gt")


class AnomalyFolder(NamedTuple):
    """A data set.

    tree: its files, below the folder of all categories, of one, or of masks
    files: all files that are there, also beside that folder
    layout: the description of its layout
    categories: the folders of all categories by name, chosen or not
    images: the test images of the chosen categories, sorted
    problems: of the files
    left_out: why a file is not used, by path
    guess: a sentence on the layout, or on the columns of a list; "" without
    """

    tree: Tree
    files: Collection[Path]
    layout: Layout
    categories: Mapping[str, str]
    images: list[AnomalyImage]
    problems: list[Problem]
    left_out: Mapping[Path, str]
    guess: str = ""


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
    if described is PLAIN:
        if categories:
            raise ValueError(f"categories: expected none of a plain folder of masks, got {', '.join(categories)}")
        return AnomalyFolder(tree, files, PLAIN, {tree.root.resolve().name: ""}, *_list_masks(tree))
    every = categories_of(tree.names, tree.root, described)
    check_categories(categories, every)
    chosen = sorted(set(categories)) if categories else [*every]
    images: list[AnomalyImage] = []
    problems: list[Problem] = []
    inside = {*tree.files.values()}
    left_out = {path: NOTE if is_note(path.name) else OUTSIDE for path in files if path not in inside}
    left_out |= {} if "" in every.values() else _elsewhere(tree, every, chosen)
    folders = {category: tree.below(every[category]) for category in chosen}
    normal = dict.fromkeys(described.normal)
    for below in folders.values() if described.rows is None else ():
        defects = {defect for defect, _ in below.matching(described.images, PICTURES)}
        normal |= dict.fromkeys(normal_folders(described, defects, below.root))
    for category, below in folders.items():
        if described.rows is None:
            listed, wrong, unused = _by_folder(category, below, described, normal, needs_masks)
        else:
            listed, wrong, unused = _by_list(category, below, described.lists, described.rows, needs_masks)
        images += listed
        problems += wrong
        left_out |= unused
    others = [*normal][len(described.normal) :]
    called = f" Normal images are in {some(others)}." if others else ""
    guess = f"The data set is laid out as {described.title} (layout {described.name}).{called}"
    return AnomalyFolder(tree, files, described, every, images, problems, left_out, guess)


def check_categories(categories: Sequence[str] | None, every: Collection[str]) -> None:
    """Raise ValueError for a chosen category that is not there."""
    for name in categories or ():
        if name not in every:
            raise ValueError(f"categories: expected some of {', '.join(every)}, got {name!r}")


def described_in(tree: Tree, layout: str | None, needs_masks: bool) -> tuple[Tree, Layout]:
    """The layout of a data set, and its files, which may all lie in one of its folders; of none, the whole."""
    folders = {name.partition("/")[0]: None for name in tree.names if "/" in name}
    for below in chain([tree], map(tree.below, folders)):
        try:
            described = layout_of(below.names, below.root, layout, needs_masks=needs_masks)
            if described is not PLAIN and categories_of(below.names, below.root, described):
                return below, described
        except ValueError:
            continue
    return tree, layout_of(tree.names, tree.root, layout, needs_masks=needs_masks)


def _elsewhere(tree: Tree, every: Collection[str], chosen: Collection[str]) -> dict[Path, str]:
    """Why files outside the folders of the chosen categories are left out."""
    first = {name: name.partition("/")[0] for name in tree.names}
    return {tree.path(name): ELSEWHERE if at in every else OUTSIDE for name, at in first.items() if at not in chosen}


def _repeated(files: Sequence[Path], kind: str) -> Iterator[Problem]:
    """The files of one name but the first."""
    for path in files[1:]:
        yield Problem(path, f"expected one {kind} of that name, got {files[0].name} too", "of a name that another has")


def _by_folder(category: str, tree: Tree, layout: Layout, normal: Collection[str], needs_masks: bool) -> Listed:
    """The images of a category by the paths of its files."""
    images, masks = tree.matching(layout.images, PICTURES), tree.matching(layout.masks, MASK_SUFFIXES)
    clouds = {} if layout.clouds is None else tree.matching(place_of(layout.clouds), (suffix_of(layout.clouds),))
    left_out = {tree.path(name): _CLOUD for names in clouds.values() for name in names}
    claimed = {name for group in (images, masks, clouds) for names in group.values() for name in names}
    mask_place = layout.masks.removesuffix("/*")
    united = mask_place != layout.masks
    problems: list[Problem] = []
    listed = []
    for (defect, stem), names in images.items():
        at = {"defect": defect, "stem": stem}
        files, mask_paths = [*map(tree.path, names)], [*map(tree.path, masks.pop((defect, stem), []))]
        anomalous = defect not in normal
        problems += _repeated(files, "image")
        if anomalous and not mask_paths and needs_masks:
            mask = mask_place.format(**at)
            wanted = f"a folder {mask} of masks" if united else f"a mask {mask}.png"
            problems.append(Problem(files[0], f"expected {wanted}, got none", "without a mask", [IMAGES_ALONE]))
        if not united:
            problems += _repeated(mask_paths, "mask")
            mask_paths = mask_paths[:1]
        cloud = None if layout.clouds is None else tree.path(layout.clouds.format(**at))
        name = layout.images.format(**at)
        listed.append(AnomalyImage(category, name, defect, anomalous, files[0], tuple(mask_paths), cloud))
    if not listed:
        problems.append(Problem(tree.root, f"expected test images {layout.images}.png, got none", "without images"))
    for path in (tree.path(name) for names in masks.values() for name in names):
        problems.append(Problem(path, "expected the image of the mask, got none", "without an image"))
    roots = {pattern.partition("/")[0] for pattern in (layout.images, layout.masks)}
    for name, path in tree.files.items():
        if is_note(name):
            left_out[path] = NOTE
        elif name.partition("/")[0] not in roots:
            left_out[path] = OUTSIDE
        elif name not in claimed:
            wanted = f"expected an image {layout.images}.png or a mask {mask_place}.png, got another file"
            problems.append(Problem(path, wanted, "of another kind"))
    return listed, problems, left_out


def _by_list(category: str, tree: Tree, lists: Sequence[str], rows: ReadRows, needs_masks: bool) -> Listed:
    """The images of a category by the list of its layout, which lies beside the folder of the category."""
    above = tree.root.resolve().parent
    places = [Path(os.path.normpath(above / place.format(category=category))) for place in lists]
    path = next((place for place in places if place.is_file()), None)
    if path is None:
        raise ValueError(f"{places[0]}: expected the list of the images of {category}, got no such file")
    with named(path):
        files = Files(tree, where=f"in {tree.root}")
        listed = images_of(rows(path, category), files, path.name, category, needs_masks=needs_masks)
        if not listed.images:
            raise ValueError(f"expected a row of each image of {category}, got none of the test")
    used = {*listed.files}
    unused = [file for file in tree.files.values() if file not in used]
    return listed.images, listed.problems, {file: NOTE if is_note(file.name) else OUTSIDE for file in unused}


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
        image, united = next(iter(beside_it), None), tuple(paths if numbered else paths[:1])
        listed.append(AnomalyImage(tree.root.resolve().name, place, "", None if paths else False, image, united))
    if not listed:
        problems.append(Problem(tree.root, "expected a data set or masks, got no such files", "without masks"))
    return listed, problems, left_out
