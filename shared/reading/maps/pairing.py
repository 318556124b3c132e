"""Match the maps of one or more models to the images of a data set, by the names of their files."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..cures import Advice, reworded, sentence_of
from ..limits import COMMANDS, Limits
from ..places import PICTURES, Archives, matched
from ..reading import IMAGES, OTHERS, Census, Input, Place, as_paths, unused
from .layouts import LIST, Layout
from .listing import (
    ELSEWHERE,
    NOTE,
    AnomalyFolder,
    AnomalyImage,
    Problem,
    Tree,
    described_in,
    is_archive,
    list_anomaly_images,
)
from .lists import SUFFIXES, ImageList, data_of_lists, lists_in, read_list
from .names import is_note, key_of, place_of, suffix_of
from .planes import MAP_SUFFIXES, read_mask_values

MAPS, MASKS = "maps", "masks"  # kinds of a census, and the usual names of the inputs
_WITHOUT = "of an image that is left out"
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
        return described_in(tree, None, needs_masks=True)[1] is None
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
        there, problems = listed.of(data)
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
    if sorted(path.stem for path in paths) == sorted(path.stem for path in data):
        return models  # a data set each
    held = [
        {place_of(name) for name in Tree.of(path, archives).files if suffix_of(name) in MAP_SUFFIXES} for path in paths
    ]
    if any(names != held[0] for names in held):
        return models
    stems = [path.stem for path in paths]
    return {stem if stems.count(stem) == 1 else str(path): [path] for stem, path in zip(stems, paths)}


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
    if data.layout is None:
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


def _with_categories(listed: AnomalyMaps) -> AnomalyMaps:
    """Images of a plain folder by category: the folders of their maps, if each holds images of both classes."""
    pairs = [] if listed.wrong or listed.data.layout is not None else listed.pairs
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
        stem = place.rpartition("/")[2]
        image = AnomalyImage(category, place, "", stem, False, None, ()) if at is None else images[at]
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
