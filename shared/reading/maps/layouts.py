"""Descriptions of the layouts of anomaly detection data sets."""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..cures import CurableError
from ..sides import means_normal
from .listing import IMAGES_ALONE
from .lists import Row, real_iad_rows, visa_rows

ReadRows = Callable[[Path, str], Iterable[Row]]  # the rows of a list that are of a category


@dataclass(frozen=True)
class Layout:
    """The places of a category's test images and masks: paths in its folder, without suffixes.

    name: the name for options and records
    title: the name for readers
    images: a path with {defect} and {stem}
    masks: such a path of an image's mask, or, with a * at its end, of masks that are united
    normal: values of {defect} with normal images, which need no mask; see `normal_folders`
    marks: patterns of paths, or of their beginnings, that all match in a category's folder of this layout, and do not
        all match in later layouts
    marks_without_masks: such patterns of a data set without masks, tried after all `marks`
    clouds: such a path of an image's points on its grid, which are invalid where they are 0
    lists: paths of a list of a category's images, from the folder of the categories; the first that is there
    rows: how such a list is read; None without one
    saturation: a file in the folder of a category with the saturation areas of defects, by values of masks; each
        defect is then a group of its own, with the normal images in all of them
    samples: a regular expression for the images' names, with the id of the sample as its first group
    other_names: further names of a defect's folder among the maps
    mask_threshold: the number above which values of masks are anomalous, whatever they are; None if masks hold 0 and
        one other value
    """

    name: str
    title: str
    images: str = ""
    masks: str = ""
    normal: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    marks_without_masks: tuple[str, ...] = ()
    clouds: str | None = None
    lists: tuple[str, ...] = ()
    rows: ReadRows | None = None
    saturation: str | None = None
    samples: str | None = None
    other_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mask_threshold: float | None = None


# in the order in which they are tried
LAYOUTS = (
    Layout(
        name="mvtec-loco",
        title="MVTec LOCO AD",
        images="test/{defect}/{stem}",
        masks="ground_truth/{defect}/{stem}/*",
        normal=("good",),
        marks=("defects_config.json", "test"),
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
        marks=("Data/Images",),
        lists=("split_csv/1cls.csv",),
        rows=visa_rows,
        other_names={"Normal": ("good",), "Anomaly": ("bad",)},
        mask_threshold=0,  # values are numbers of kinds of defects
    ),
    Layout(
        name="real-iad",
        title="Real-IAD",
        images="OK/{stem}",
        marks=("OK/S*", "NG/*/S*"),
        lists=("../realiad_jsons/{category}.json", "../realiad_jsons/realiad_jsons/{category}.json"),
        rows=real_iad_rows,
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
PLAIN = Layout(name="folders", title="a folder")  # of masks: no images, no categories
LIST = Layout(name="list", title="a list of images")  # of any places
TITLES = {layout.name: layout.title for layout in (*LAYOUTS, LIST)}
NAMES = tuple(layout.name for layout in (*LAYOUTS, PLAIN, LIST))


def layout_of(names: Iterable[str], folder: Path, name: str | None = None, *, needs_masks: bool = True) -> Layout:
    """The layout of a data set, by name or recognised; `PLAIN` for a folder of masks.

    Parameters: names, the paths of its files below the folder of all categories, or of one; folder, for errors; name,
    one of NAMES; needs_masks, whether a data set without masks is an error. Raises ValueError for another name, and for
    a folder in no known layout.
    """
    if name is not None:
        if name not in NAMES:
            raise ValueError(f"layout: expected one of {', '.join(NAMES)}, got {name!r}")
        return next((layout for layout in LAYOUTS if layout.name == name), PLAIN)
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
    roots = {layout.images.partition("/")[0] for layout in LAYOUTS if "{defect}" in layout.images}
    if any(path.partition("/")[0] in roots for paths in beginnings.values() for path in paths if "/" in path):
        raise ValueError(f"{folder}: expected one of the layouts {', '.join(NAMES)}, got another; set the layout")
    return PLAIN


def _with_good(path: str) -> str:
    """A path in which folders of normal images are called good.

    >>> _with_good("test/OK"), _with_good("test/crack")
    ('test/good', 'test/crack')
    """
    return "/".join("good" if means_normal(part) else part for part in path.split("/"))


def normal_folders(layout: Layout, folders: Iterable[str], place: Path) -> list[str]:
    """The folder of normal images as it is called in a category, such as OK, Normal or good; none without it.

    Parameters: folders, those of the category's images; place, for errors. Raises ValueError for two such folders.
    """
    normal = sorted(folder for folder in folders if folder in layout.normal or means_normal(folder))
    if len(normal) > 1:
        raise ValueError(
            f"{place}: expected one folder of normal images, got {' and '.join(normal)}; put their images into one, or "
            "call one by its defect"
        )
    return normal


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
