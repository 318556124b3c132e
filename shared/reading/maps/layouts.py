"""Descriptions of the layouts of anomaly detection data sets."""

from __future__ import annotations

import csv
import fnmatch
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ..cures import CurableError, Cure
from ..objects import parse_json
from ..reasons import named, reason
from ..sides import means_normal

IMAGES_ALONE = Cure("to judge images alone", {"levels": "image"})  # which needs no masks


@dataclass(frozen=True)
class Layout:
    """The places of a category's test images and masks: paths in its folder, without suffixes.

    name: the name for options and records
    title: the name for readers
    images: a path with {defect} and {stem}
    masks: such a path of an image's mask, or of the folder of its masks
    normal: values of {defect} with normal images, which need no mask; see `with_normal_folder`
    marks: patterns of paths, or of their beginnings, that all match in a category's folder of this layout, and do not
        all match in later layouts
    marks_without_masks: such patterns of a data set without masks, tried after all `marks`
    united: whether masks are a folder of files that are united
    by_defect: whether each defect is a group of its own, with the normal images in all of them
    saturation: a file in the folder of a category with the saturation areas of defects, by values of masks
    split: a table beside the categories, with columns image and split, that defines the test images
    lists: paths of a list of a category's images (see `read_list`), beside the folder of the categories
    samples: a regular expression for the images' names, with the id of the sample as its first group
    clouds: a path with {defect} and {stem} of an image's points on its grid, which are invalid where they are 0
    other_names: further names of a defect's folder among the maps
    mask_threshold: the number above which values of masks are anomalous, whatever they are; None if masks hold 0 and
        one other value
    """

    name: str
    title: str
    images: str
    masks: str
    normal: tuple[str, ...]
    marks: tuple[str, ...]
    marks_without_masks: tuple[str, ...] = ()
    united: bool = False
    by_defect: bool = False
    saturation: str | None = None
    split: str | None = None
    lists: tuple[str, ...] = ()
    samples: str | None = None
    clouds: str | None = None
    other_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mask_threshold: float | None = None


# in the order in which they are tried
LAYOUTS = (
    Layout(
        name="mvtec-loco",
        title="MVTec LOCO AD",
        images="test/{defect}/{stem}",
        masks="ground_truth/{defect}/{stem}",
        normal=("good",),
        marks=("defects_config.json", "test"),
        united=True,
        by_defect=True,
        saturation="defects_config.json",
        mask_threshold=0,  # values are those of the kinds of defects, which are checked against that file
    ),
    Layout(
        name="mvtec-3d",
        title="MVTec 3D-AD",
        images="test/{defect}/rgb/{stem}",
        masks="test/{defect}/gt/{stem}",
        normal=("good",),
        marks=("test/*/rgb",),
        clouds="test/{defect}/xyz/{stem}.tiff",
    ),
    Layout(
        name="mvtec-ad-2",
        title="MVTec AD 2, public test",
        images="test_public/{defect}/{stem}",
        masks="test_public/ground_truth/{defect}/{stem}_mask",
        normal=("good",),
        marks=("test_public",),
    ),
    Layout(
        name="visa",
        title="VisA",
        images="Data/Images/{defect}/{stem}",
        masks="Data/Masks/{defect}/{stem}",
        normal=("Normal",),
        marks=("Data/Images",),
        split="split_csv/1cls.csv",
        other_names={"Normal": ("good",), "Anomaly": ("bad",)},
        mask_threshold=0,  # values are numbers of kinds of defects
    ),
    Layout(
        name="real-iad",
        title="Real-IAD",
        images="OK/{stem}",
        masks="NG/{defect}/{stem}",
        normal=("OK",),
        marks=("OK/S*", "NG/*/S*"),
        lists=("realiad_jsons/{category}.json", "realiad_jsons/realiad_jsons/{category}.json"),
        samples=r"([^/]+)_C[0-9]_[^/]*$",  # plug_0034_NG_BX of plug_0034_NG_BX_C1_20230923195401
    ),
    Layout(
        name="mvtec-ad",
        title="MVTec AD",
        images="test/{defect}/{stem}",
        masks="ground_truth/{defect}/{stem}_mask",
        normal=("good",),
        marks=("test", "ground_truth/*/*_mask.*"),
        marks_without_masks=("test/good",),
    ),
    Layout(
        name="btad",
        title="BTAD",
        images="test/{defect}/{stem}",
        masks="ground_truth/{defect}/{stem}",
        normal=("ok",),
        marks=("test/ok",),
    ),
    Layout(
        name="visa-prepared",
        title="VisA after its prepare_data",
        images="test/{defect}/{stem}",
        masks="ground_truth/{defect}/{stem}",
        normal=("good",),
        marks=("test", "ground_truth/*/*.*"),
    ),
)
PAIR = "folders"  # a plain folder of masks: no images, no categories
LIST = Layout(name="list", title="a list of images", images="", masks="", normal=(), marks=())  # of any places
TITLES = {layout.name: layout.title for layout in (*LAYOUTS, LIST)}
NAMES = (*(layout.name for layout in LAYOUTS), PAIR, LIST.name)


def layout_of(
    names: Iterable[str], folder: Path, name: str | None = None, *, needs_masks: bool = True
) -> Layout | None:
    """The layout of a data set, by name or recognised; None for a plain folder of masks.

    Parameters: names, the paths of its files below the folder of all categories, or of one; folder, for errors; name,
    one of NAMES; needs_masks, whether a data set without masks is an error. Raises ValueError for another name, and for
    a folder in no known layout.
    """
    if name is not None:
        if name not in NAMES:
            raise ValueError(f"layout: expected one of {', '.join(NAMES)}, got {name!r}")
        return next((layout for layout in LAYOUTS if layout.name == name), None)
    # beginnings of paths in each folder that may be a category's; no pattern has more than three parts
    beginnings: dict[str, set[str]] = defaultdict(set)
    for parts in (path.split("/") for path in names):
        for category, below in (("", parts), (parts[0], parts[1:])):
            beginnings[category].update("/".join(below[:end]) for end in range(1, min(len(below), 3) + 1))

    def is_of(marks: Iterable[str], beginnings: Mapping[str, set[str]]) -> bool:
        return any(all(fnmatch.filter(paths, mark) for mark in marks) for paths in beginnings.values())

    for layout in LAYOUTS:
        if is_of(layout.marks, beginnings):
            return layout
    alike = {category: {_with_good(path) for path in paths} for category, paths in beginnings.items()}
    for layout in LAYOUTS:
        if layout.marks_without_masks and is_of(layout.marks_without_masks, alike):
            if needs_masks:
                wanted = f"masks {layout.masks}.png, or the layout to be set"
                raise CurableError(f"{folder}: expected {wanted}, got none", IMAGES_ALONE)
            return layout
    roots = {layout.images.partition("/")[0] for layout in LAYOUTS if not layout.lists}
    if any(path.partition("/")[0] in roots for paths in beginnings.values() for path in paths if "/" in path):
        raise ValueError(f"{folder}: expected one of the layouts {', '.join(NAMES)}, got another; set the layout")
    return None


def _with_good(path: str) -> str:
    """A path in which folders of normal images are called good.

    >>> _with_good("test/OK"), _with_good("test/crack")
    ('test/good', 'test/crack')
    """
    return "/".join("good" if means_normal(part) else part for part in path.split("/"))


def with_normal_folder(layout: Layout, folders: Iterable[str], place: Path) -> Layout:
    """A layout in which the folder of normal images is called as it is in a category, such as OK, Normal or good.

    Parameters: folders, those of the category's images; place, for errors. Raises ValueError for two such folders.
    """
    normal = sorted(folder for folder in folders if folder in layout.normal or means_normal(folder))
    if len(normal) > 1:
        raise ValueError(
            f"{place}: expected one folder of normal images, got {' and '.join(normal)}; put their images into one, or "
            "call one by its defect"
        )
    return replace(layout, normal=(*layout.normal, *normal)) if {*normal} - {*layout.normal} else layout


def categories_of(names: Iterable[str], data: Path, layout: Layout) -> dict[str, str]:
    """The folders of a data set's categories by name, sorted; "", the data set's own folder, if it is a category.

    Raises ValueError if there are none.
    """
    root = layout.images.partition("/")[0]
    paths = [path.split("/") for path in names]
    if any(parts[0] == root and len(parts) > 1 for parts in paths):
        return {data.resolve().name: ""}
    by_name = sorted({parts[0] for parts in paths if len(parts) > 2 and parts[1] == root})
    if not by_name:
        raise ValueError(f"{data}: expected {layout.title}: folders of categories with a folder {root!r}, got none")
    return {name: name for name in by_name}


# Read lists of a data set's test images: a table of splits (VisA), or a .json for each category (Real-IAD).


def images_of_the_test(table: Path, category: str) -> set[str]:
    """The paths, below their category, of the images in the test split of a table."""
    with named(table), table.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        wanted = {"split", "image"} - {*(rows.fieldnames or ())}
        if wanted:
            raise ValueError(f"expected columns split and image, got {', '.join(rows.fieldnames or ()) or 'none'}")
        images = [PurePosixPath(row["image"] or "") for row in rows if row["split"] == "test"]
    return {image.relative_to(category).as_posix() for image in images if image.is_relative_to(category)}


def list_of(folder: Path, layout: Layout) -> Path:
    """The file that lists a category's images, beside the categories' folder. Raises ValueError if there is none."""
    root = folder.parent.parent
    places = [root / place.format(category=folder.name) for place in layout.lists]
    for place in places:
        if place.is_file():
            return place
    raise ValueError(f"{places[0]}: expected the list of the images of {folder.name}, got no such file")


def read_list(path: Path, folder: Path) -> list[tuple[Path, Path | None]]:
    """The test images of a category of Real-IAD with their masks; None for a normal image.

    Parameters: path of {"meta": {"prefix": …, "normal_class": …}, "test": [{"image_path": …, "mask_path": … or null,
    "anomaly_class": …}, …]}, with paths below the prefix, a folder beside the category's own; folder, of the category.
    As in the official code, an image without a mask is normal, and so is one of the normal class.
    Raises ValueError, with the file, for a malformed list, and for paths elsewhere.
    """
    with named(path):
        content = parse_json(path.read_bytes())
        listed: list[tuple[Path, Path | None]] = []
        try:
            normal, root = content["meta"]["normal_class"], folder.parent / content["meta"]["prefix"]
            for row in content["test"]:
                mask = None if row["anomaly_class"] == normal else row.get("mask_path")
                listed.append((root / row["image_path"], None if mask is None else root / mask))
        except (TypeError, LookupError, AttributeError) as error:
            raise ValueError(
                "expected meta with prefix and normal_class, and test with image_path, mask_path and anomaly_class of"
                f" each image, got another list: {reason(error)}"
            ) from None
        others = [file for pair in listed for file in pair if file is not None and not _is_below(file, folder)]
        if others or not listed:
            raise ValueError(f"expected files in {folder}, got {others[0] if others else 'none'}")
        return listed


def _is_below(path: Path, folder: Path) -> bool:
    return ".." not in path.parts and path != folder and path.is_relative_to(folder)
