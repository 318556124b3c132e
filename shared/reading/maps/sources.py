"""The sources of maps: folders, or columns of lists, each of a model, beside one list of images."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from filecmp import cmp
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from ..cures import sentence_of
from ..limits import COMMANDS, Limits
from ..places import Archives, stems_of
from ..reading import Input, Place, as_paths
from .datasets import AnomalyFolder, check_categories, described_in, list_anomaly_images
from .layouts import LIST, PLAIN
from .listing import ELSEWHERE, NOTE, AnomalyImage, Problem, Tree, is_archive
from .lists import SUFFIXES, ImageList, Key, lists_in, read_list
from .names import is_note, key_of, place_of, suffix_of
from .pairing import MAPS, MASKS, AnomalyMaps, Pairs, find_maps
from .planes import MAP_SUFFIXES, read_mask_values

UNLISTED = "not in the list"
_WITHOUT = "of an image that is left out"


def list_models(
    maps: Input,
    data: Place | Sequence[Place] | None = None,
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    needs_masks: bool = True,
    leave_out: bool = False,
    limits: Limits = COMMANDS,
) -> dict[str, AnomalyMaps]:
    """Find the test images of a data set, their masks, and one or more models' maps of them, by the models' names.

    No file is opened except archives and lists of images, and of a plain folder in which folders may be categories,
    masks until one without an anomalous pixel is found.

    Parameters: maps, of one model, or a mapping of several by name; several folders or archives that hold the same
    names are models, too, unless the data set is in archives of the same names; data, of all categories or of one, or
    masks alone, or a list of the images; None for maps in lists that have the masks, too: each column of maps of a list
    is a model; layout, one of `NAMES` of `layouts`, by default recognised; categories, by default all; columns, of
    lists, as of `read_list`; needs_masks, whether an anomalous image without a mask is a problem; leave_out, whether
    files whose names are a problem are left out, with all of their image. Raises ValueError for unknown places, layouts
    and categories.
    """
    archives = Archives(limits)
    with archives.naming():
        places = [] if data is None else as_paths(data, "data")
        models = _models(maps, places, archives)
        every = {path.resolve() for paths in models.values() for path in paths}
        for name, paths in [
            *([] if data is None else [(MASKS, places)]),
            *((MAPS, paths) for paths in models.values()),
        ]:
            if not paths:
                raise ValueError(f"{name}: expected a folder, an archive or files, got none")
        if shared := next((path for path in places if path.resolve() in every), None):
            raise ValueError(f"{shared}: expected maps in another folder than their masks, got one folder for both")
        trees = {name: Tree.of(paths, archives, but=places) for name, paths in models.items()}
        read = partial(_read_lists, archives=archives, columns=columns, needs_masks=needs_masks)
        lists = {name: read(tree, alone=data is None) for name, tree in trees.items()}
        files = Tree.of(places, archives, but=every) if places else None
        of_data = [] if files is None else read(files, of_data=True, layout=layout)
        lacking = next((name for name, held in lists.items() if files is None and not held), None)
        if lacking is not None:
            raise ValueError(f"{models[lacking][0]}: expected a data set of the maps, or a list of images, got neither")
        if columns and not (of_data or any(lists.values())):
            role, names = next(iter(columns.items()))
            got = f"{role} {names if isinstance(names, str) else ', '.join(names)}"
            raise ValueError(f"columns: expected none without a list of images, got {got}")
        if files is not None and not of_data:
            folder = list_anomaly_images(files, layout=layout, categories=categories, needs_masks=needs_masks)
        else:
            folder = data_of_lists([*of_data, *chain(*lists.values())], categories)
        listed = {name: find_maps(tree, folder, archives) for name, tree in trees.items() if not lists[name]}
        if len(models) == 1:  # whose name says less than its columns do
            lists = {"": [*chain(*lists.values()), *of_data]}
        elif of_data:
            lists[""] = of_data
        for name, of_model in lists.items():
            listed |= _models_of_lists(of_model, folder, archives, name)
        if not listed:
            raise ValueError(f"{folder.tree.root}: expected a column of maps, as .tiff, .npy, .npz or .png, got none")
        listed = _aligned(listed)
        if leave_out:
            listed = {name: _without_problems(each) for name, each in listed.items()}
        return {name: _with_categories(each) for name, each in listed.items()} if layout is None else listed


def _read_lists(
    tree: Tree,
    *,
    archives: Archives,
    columns: Mapping[str, str | Sequence[str]] | None,
    needs_masks: bool,
    alone: bool = False,
    of_data: bool = False,
    layout: str | None = None,
) -> list[ImageList]:
    """The lists of images among files that are tables, hold lists `alone`, or are a data set in no layout."""
    are_tables = all(suffix_of(name) in SUFFIXES for name in tree.names)
    if not (are_tables or alone or layout == LIST.name or (of_data and layout is None and _is_unknown(tree))):
        return []
    inside = any(tree.root.is_relative_to(folder) for folder in archives.folders)
    how: dict[str, Any] = {"columns": columns, "needs_masks": needs_masks, "alone": inside, "limits": archives.limits}
    return [read_list(name, tree, **how) for name in lists_in(tree)]


def _is_unknown(tree: Tree) -> bool:
    """Whether a folder is in none of the layouts of data sets."""
    try:
        return described_in(tree, None, needs_masks=True)[1] is PLAIN
    except ValueError:
        return True


def _models_of_lists(
    lists: Sequence[ImageList], data: AnomalyFolder, archives: Archives, name: str = ""
) -> dict[str, AnomalyMaps]:
    """The maps of each column of lists as a model: by its column, or by its list where the columns have one name.

    name: of the model, or of several, ahead of their columns; "" for a model that is alone
    """
    lists = [listed for listed in lists if listed.maps]
    columns = [column for listed in lists for column in listed.maps]
    each_alone = all(len(listed.maps) == 1 for listed in lists)
    stems = [listed.path.stem for listed in lists]
    models: dict[str, AnomalyMaps] = {}
    for listed in lists:
        of_list = listed.path.stem if stems.count(listed.path.stem) == 1 else str(listed.path)
        there, problems = _images_of_rows(listed, data)
        for column, maps in listed.maps.items():
            if name:
                called = name if len(columns) == 1 else f"{name}: {column}"
            elif len({*columns}) == len(columns):
                called = column
            else:
                called = of_list if each_alone else f"{of_list}: {column}"
            pairs = [(there[key], path) for key, path in maps.items() if key in there]
            with_map, row_of = {image.key for image, _ in pairs}, {there[key].key: listed.rows[key] for key in there}
            of_list_alone = [] if listed.problems is data.problems else listed.problems
            wrong = [*data.problems, *of_list_alone, *problems]
            for image in (image for image in data.images if image.key not in with_map):
                text = f"expected its map ({column}) in {row_of.get(image.key, listed.path.name)}, got none"
                wrong.append(Problem([*image.files, listed.path][0], text, "without a map"))
            pairs.sort(key=lambda pair: pair[0].key)
            tree = Tree(listed.path, {str(path): path for path in maps.values()})
            left_out = {**data.left_out, **listed.left_out}
            models[called] = AnomalyMaps(
                data, tree, pairs, wrong, left_out, archives, guess=listed.guess, note=listed.note, is_listed=True
            )
    return models


def _images_of_rows(listed: ImageList, data: AnomalyFolder) -> tuple[dict[Key, AnomalyImage], list[Problem]]:
    """The image of a data set that each row is of, by the key in the list, and rows of others, which are problems.

    An image is known by its file, or by its category and name. Raises ValueError for a row with another mask or defect
    than the data set has.
    """
    by_file = {image.image.resolve(): image for image in data.images if image.image is not None}
    by_key, chosen = {image.key: image for image in data.images}, {image.category for image in data.images}
    there, problems = dict[Key, AnomalyImage](), []
    for one in listed.images:
        image = None if one.image is None else by_file.get(one.image.resolve())
        image = image or by_key.get(one.key)
        if image is not None:
            _check_alike(listed, one, image)
            there[one.key] = image
        elif one.category in chosen or one.category not in data.categories:
            text = f"expected an image of {data.tree.root}, got another in {listed.rows[one.key]}"
            first = [*one.files, *(maps[one.key] for maps in listed.maps.values() if one.key in maps)]
            problems.append(Problem(first[0], text, "without an image"))
    return there, problems


def _check_alike(listed: ImageList, one: AnomalyImage, image: AnomalyImage) -> None:
    if listed.has_masks and not _are_alike(one.masks, image.masks):
        wanted, masks = (", ".join(mask.name for mask in each.masks) or "none" for each in (image, one))
        raise ValueError(f"{listed.path}: expected the mask {wanted} of {image.name}, got {masks}")
    if one.defect and image.defect and one.defect != image.defect:
        raise ValueError(f"{listed.path}: expected {image.name} to be {image.defect}, got {one.defect}")


def _are_alike(one: Sequence[Path], other: Sequence[Path]) -> bool:
    """Whether files are the same, or hold the same."""
    pairs = [(a, b) for a, b in zip(one, other) if a.resolve() != b.resolve()]
    return len(one) == len(other) and all(a.is_file() and b.is_file() and cmp(a, b, shallow=False) for a, b in pairs)


def list_anomaly_maps(
    maps: Place | Sequence[Place], data: Place | Sequence[Place] | None = None, **choices: Any
) -> AnomalyMaps:
    """Find the test images of a data set, their masks and a model's maps; see `list_models`."""
    (listed,) = list_models({MAPS: maps}, data, **choices).values()
    return listed


def _models(maps: Input, data: Sequence[Path], archives: Archives) -> dict[str, list[Path]]:
    """The places of each model's maps, by its name. Raises ValueError for a place that does not exist."""
    if isinstance(maps, Mapping):
        models = {str(name): as_paths(places, str(name)) for name, places in maps.items()}
    else:
        paths = as_paths(maps, "maps")
        models = {paths[0].resolve().stem if len(paths) == 1 else MAPS: paths}
    for path in chain(data, *models.values()):
        if not path.exists():
            raise ValueError(f"{path}: expected {'a folder' if path in data else 'a folder of maps'}, got none")
    if isinstance(maps, Mapping) or len(paths) < 2 or not all(path.is_dir() or is_archive(path) for path in paths):
        return models
    stems = stems_of(paths)
    if sorted(stems) == sorted(stems_of(data)):
        return models  # a data set each
    held = [
        {place_of(name) for name in Tree.of(path, archives).files if suffix_of(name) in MAP_SUFFIXES} for path in paths
    ]
    if any(names != held[0] for names in held):
        return models
    return {stem: [path] for stem, path in zip(stems, paths)} if len({*stems}) == len(stems) else models


def _aligned(models: dict[str, AnomalyMaps]) -> dict[str, AnomalyMaps]:
    """Models in which an image that another model has no map of is a problem."""
    if any(listed.wrong for listed in models.values()):
        return models
    names = {model: {image.key for image, _ in listed.pairs} for model, listed in models.items()}
    aligned = {}
    for model, listed in models.items():
        wrong = []
        for image, path in listed.pairs:
            lacking = next((models[other].folder for other in models if image.key not in names[other]), None)
            if lacking is not None:
                text = f"expected a map of that image in {lacking}, too, got none"
                wrong.append(Problem(path, text, "of which a model has no map"))
        aligned[model] = listed._replace(wrong=wrong)
    return aligned


def _without_problems(listed: AnomalyMaps) -> AnomalyMaps:
    """The files without problems; others are left out, each for its reason, with all files of their image.

    Raises ValueError if nothing remains.
    """
    wrong = {problem.path: problem.reason for problem in listed.wrong}
    pairs = [(image, path) for image, path in listed.pairs if not {*image.files, path} & wrong.keys()]
    if not pairs:
        raise ValueError(f"{sentence_of(listed.problems[0])}; without such files, no image remains")
    used = {file for image, path in pairs for file in (*image.files, path)}
    others = [path for path in (*listed.data.files, *listed.tree.files.values()) if path not in used]
    left_out = {path: listed.left_out.get(path) or wrong.get(path, _WITHOUT) for path in others}
    return listed._replace(pairs=pairs, wrong=[], left_out=left_out, leaves_out=True)


def data_of_lists(lists: Sequence[ImageList], categories: Sequence[str] | None = None) -> AnomalyFolder:
    """The data set of lists of the same images: that of the first with masks, else of the first.

    Parameters: categories, those to take; by default all. Raises ValueError for several lists without images, and for
    a category that is not there.
    """
    listed = next((one for one in lists if one.has_masks), lists[0])
    for one in lists:
        if len(lists) > 1 and not one.has_images:
            raise ValueError(f"{one.path}: expected a column of images, by which lists are joined, got none")
    every = {category: category for category in sorted({image.category for image in listed.images})}
    check_categories(categories, every)
    chosen = {*(categories or every)}
    images = [image for image in listed.images if image.category in chosen]
    used = {path for one in lists for path in (one.path, *one.files)}
    left_out = {file: ELSEWHERE for image in listed.images if image.category not in chosen for file in image.files}
    left_out |= {path: reason for one in lists for path, reason in one.left_out.items() if path not in used}
    unlisted = [path for one in lists for path in one.beside if path not in used and path not in left_out]
    left_out |= {path: NOTE if is_note(path.name) else UNLISTED for path in unlisted}
    files = {str(path): path for path in [*listed.files, *left_out]}
    tree = Tree(listed.path, files)
    return AnomalyFolder(tree, [*files.values()], LIST, every, images, listed.problems, left_out, listed.guess)


def _with_categories(listed: AnomalyMaps) -> AnomalyMaps:
    """Images of a plain folder by category: the folders of their maps, if each holds images of both classes."""
    pairs = [] if listed.wrong or listed.data.layout is not PLAIN else listed.pairs
    parts = [key_of(image.name).split("/")[:-1] for image, _ in pairs]
    depth = next((i for i in range(min(map(len, parts), default=0)) if len({part[i] for part in parts}) > 1), None)
    if depth is None:
        return listed
    folders: dict[str, Pairs] = defaultdict(list)
    for (image, path), part in zip(pairs, parts):
        folders[part[depth]].append((image._replace(category=part[depth]), path))
    if not all(_has_both([image for image, _ in in_folder]) for in_folder in folders.values()):
        return listed
    return listed._replace(pairs=[pair for _, in_folder in sorted(folders.items()) for pair in in_folder], guessed=True)


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
