"""Descriptions of the layouts of anomaly detection data sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Layout:
    """The places of a category's test images and masks: paths in its folder, without suffixes.

    name: the name for options and records
    title: the name for readers
    images: a path with {defect} and {stem}
    masks: such a path of an image's mask, or of the folder of its masks
    normal: values of {defect} with normal images, which need no mask
    marks: patterns that all match in a category's folder of this layout, and do not all match in later layouts
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
        marks=("test/*/gt", "test/*/rgb"),
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
        name="btad",
        title="BTAD",
        images="test/{defect}/{stem}",
        masks="ground_truth/{defect}/{stem}",
        normal=("ok",),
        marks=("test/ok",),
    ),
    Layout(
        name="mvtec-ad",
        title="MVTec AD",
        images="test/{defect}/{stem}",
        masks="ground_truth/{defect}/{stem}_mask",
        normal=("good",),
        marks=("test", "ground_truth/*/*_mask.*"),
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
TITLES = {layout.name: layout.title for layout in LAYOUTS}
NAMES = (*(layout.name for layout in LAYOUTS), PAIR)


def layout_of(data: Path, name: str | None = None) -> Layout | None:
    """The layout of a data set, by name or recognised; None for a plain folder of masks.

    Parameters: data, the folder of all categories, or of one; name, one of NAMES.
    Raises ValueError for another name, for a folder that does not exist, and for a folder in no known layout.
    """
    if name is not None and name not in NAMES:
        raise ValueError(f"layout: expected one of {', '.join(NAMES)}, got {name!r}")
    if not data.is_dir():
        raise ValueError(f"{data}: expected a folder, got {'a file' if data.exists() else 'none'}")
    if name is not None:
        return next((layout for layout in LAYOUTS if layout.name == name), None)
    folders = [data, *_subfolders(data)]
    for layout in LAYOUTS:
        if any(all(any(folder.glob(mark)) for mark in layout.marks) for folder in folders):
            return layout
    roots = {layout.images.partition("/")[0] for layout in LAYOUTS if not layout.lists}
    if any((folder / root).is_dir() for folder in folders for root in roots):
        raise ValueError(f"{data}: expected one of the layouts {', '.join(NAMES)}, got another; set the layout")
    return None


def categories_of(data: Path, layout: Layout) -> dict[str, Path]:
    """The folders of a data set's categories by name, sorted; the folder itself if it is a category.

    Raises ValueError if there are none.
    """
    root = layout.images.partition("/")[0]
    if (data / root).is_dir():
        return {data.resolve().name: data}
    by_name = {folder.name: folder for folder in _subfolders(data) if (folder / root).is_dir()}
    if not by_name:
        raise ValueError(f"{data}: expected {layout.title}: folders of categories with a folder {root!r}, got none")
    return by_name


def _subfolders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
