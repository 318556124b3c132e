"""Small data sets of anomaly detection with a model's maps, written as each layout has them on disk."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tifffile
from PIL import Image

from openworld_metrics import AnomalySuite, read
from openworld_metrics.answers.answers import shown_of
from openworld_metrics.answers.folders import CHOICES, Folders, compute_maps, needs_masks
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.reading.maps.reading import reading_of
from openworld_metrics.reading.maps.sources import list_models
from openworld_metrics.suites import evaluate_anomaly_folder

CATEGORIES = ("nut", "screw")
SHAPE = (10, 12)
INVALID = (slice(0, 4), slice(2, 9))  # pixels of mvtec-3d that have no point


def of_python(*folders: str) -> dict[str, Any]:
    """The numbers of maps and masks that `read` reads."""
    return AnomalySuite().compute(**read("anomaly_suite", *folders).columns)


def computed(
    maps: Mapping[str, Path | str],
    data: Path | str,
    *,
    intervals: bool | None = False,
    shown: bool = False,
    **options: Any,
) -> Folders:
    """The computation of models' maps, with what reports show of it."""
    choices = {name: options.pop(name) for name in CHOICES if name in options}
    choices |= {name: options[name] for name in ("ignore_value", "regions") if name in options}
    models = list_models(maps, data, needs_masks=needs_masks(options))
    function = shown_of(subject_of("anomaly_suite")) if shown else None
    return compute_maps(reading_of(models, groups=True, **choices), options, intervals=intervals, shown=function)


def comparison(first: Path | str, second: Path | str, data: Path | str = "data", **options: Any) -> dict[str, Any]:
    """The comparison of two models' maps, with intervals."""
    done = computed({"one": first, "two": second}, data, intervals=True, **options)
    return done.compared(*(done.results(name, one.summary) for name, one in done.done.models.items()))


def assert_as_arrays(
    folders: tuple[Path, Path], groups: Mapping[str, Mapping[str, Any]], files: Mapping[str, Any] = {}, **options: Any
) -> dict[str, Any]:
    """Whether the numbers of each group of a folder are those of its arrays, to the last bit; returns the results.

    Parameters: the folders of the maps and of the data; the columns of each group; options of files; of the metric.
    """
    results = evaluate_anomaly_folder(*folders, **files, **options)
    for name, columns in groups.items():
        at = results["groups"]["group"].index(name)
        expected = AnomalySuite(**options).compute(**columns)
        assert {key: results["groups"][key][at] for key in expected} == expected
    return results


def columns_of(made: list[Drawn], by_defect: bool = False) -> dict[str, Any]:
    """Images as columns, which are anomalous by their folder."""
    return {
        "predictions": [one.score_map for one in made],
        "references": [one.defects if by_defect else one.mask for one in made],
        "image_labels": np.asarray([bool(one.defect) for one in made]),
    }


class Drawn(NamedTuple):
    """An image of a scene: its category, what is wrong with it ("" for nothing), number, masks (D, H, W), and map."""

    category: str
    defect: str
    number: int
    masks: np.ndarray
    score_map: np.ndarray

    @property
    def mask(self) -> np.ndarray:
        """The union of its masks."""
        return np.asarray(self.masks.any(axis=0))

    @property
    def defects(self) -> dict[str, Any]:
        """Its masks with the areas that `_mvtec_loco` writes."""
        if not self.defect:
            return {"masks": [], "saturation_areas": []}
        return {"masks": self.masks, "saturation_areas": [2, max(1, int(0.5 * self.masks[1].sum()))]}


def scene(
    seed: int, defects: tuple[str, ...], categories: tuple[str, ...] = CATEGORIES, of_each: int = 3
) -> list[Drawn]:
    """Three normal images and three of each defect, of each category; scores in float16, so that some tie."""
    rng, made = np.random.default_rng(seed), []
    for category in categories:
        for defect in ("", *defects):
            for number in range(of_each):
                masks = np.zeros((2, *SHAPE), dtype=bool)
                if defect:
                    row, column = rng.integers(0, 6, 2)
                    masks[0, row : row + 3, column : column + 2] = True
                    masks[1, 9 - number, 8:11] = True
                scores = rng.random(SHAPE) + 0.5 * masks.any(axis=0)
                made.append(Drawn(category, defect, number, masks, scores.astype(np.float16)))
    return made


def write_image(path: Path) -> Path:
    """A grey picture of the scene's size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", SHAPE[::-1], "#808080").save(path)
    return path


def write_mask(path: Path, mask: np.ndarray, value: int = 255) -> None:
    """A mask as a picture."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(mask.astype(np.uint8) * np.uint8(value)).save(path)


def write_map(path: Path, score_map: np.ndarray) -> None:
    """A map as a .tiff or .npy."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, score_map)
    else:
        tifffile.imwrite(path, score_map)


def write_maps(made: list[Drawn], maps: Path, normal: str = "good", suffix: str = ".tiff") -> None:
    """The maps as the official scripts expect them: category/test/defect/000.tiff."""
    for one in made:
        path = maps / one.category / "test" / (one.defect or normal) / f"{one.number:03}{suffix}"
        write_map(path, one.score_map)


def _mvtec_like(normal: str, ending: str, mask_suffix: str = ".png", value: int = 255) -> Callable[..., None]:
    def write(made: list[Drawn], data: Path, maps: Path) -> None:
        for one in made:
            folder, defect = data / one.category, one.defect or normal
            write_image(folder / "test" / defect / f"{one.number:03}.png")
            write_image(folder / "train" / normal / f"{one.number:03}.png")
            if one.defect:
                write_mask(folder / "ground_truth" / defect / f"{one.number:03}{ending}{mask_suffix}", one.mask, value)
        write_maps(made, maps, normal)

    return write


def _mvtec_ad_2(made: list[Drawn], data: Path, maps: Path) -> None:
    for one in made:
        stem, defect = f"{one.number:03}_regular", one.defect or "good"
        write_image(data / one.category / "test_public" / defect / f"{stem}.png")
        write_image(data / one.category / "test_private" / f"{stem}.png")
        if one.defect:
            write_mask(data / one.category / "test_public" / "ground_truth" / defect / f"{stem}_mask.png", one.mask)
        write_map(maps / one.category / "test_public" / defect / f"{stem}.tiff", one.score_map)


def _mvtec_loco(made: list[Drawn], data: Path, maps: Path) -> None:
    for one in made:
        folder, stem, defect = data / one.category, f"{one.number:03}", one.defect or "good"
        write_image(folder / "test" / defect / f"{stem}.png")
        if one.defect:
            for i, mask in enumerate(one.masks):
                write_mask(folder / "ground_truth" / defect / stem / f"{i:03}.png", mask, 200 + i)
        config = [
            {"defect_name": "a", "pixel_value": 200, "saturation_threshold": 2, "relative_saturation": False},
            {"defect_name": "b", "pixel_value": 201, "saturation_threshold": 0.5, "relative_saturation": True},
        ]
        (folder / "defects_config.json").write_text(json.dumps(config))
    write_maps(made, maps)


def _mvtec_3d(made: list[Drawn], data: Path, maps: Path) -> None:
    for one in made:
        folder, stem = data / one.category / "test" / (one.defect or "good"), f"{one.number:03}.png"
        write_image(folder / "rgb" / stem)
        points = np.ones((*SHAPE, 3), dtype=np.float32)
        points[INVALID] = 0
        points[0, 0] = 0, 0, 1  # a point
        write_map(folder / "xyz" / f"{one.number:03}.tiff", points)
        write_mask(folder / "gt" / stem, one.mask)
    write_maps(made, maps)


def _real_iad(made: list[Drawn], data: Path, maps: Path) -> None:
    """Two views a sample, and the lists beside the folder of the categories."""
    lists: dict[str, Any] = {}
    for one in made:
        kind = f"NG/{one.defect}" if one.defect else "OK"
        name = f"{one.category}_{one.number // 2:04}_{kind.replace('/', '_')}_C{1 + one.number % 2}_20230923195401"
        place = f"{kind}/S{one.number // 2:04}/{name}"
        write_image(data / one.category / f"{place}.jpg")
        mask = f"{place}.png" if one.defect else None
        if mask is not None:
            write_mask(data / one.category / mask, one.mask)
        row = {"category": one.category, "anomaly_class": one.defect or "OK", "image_path": f"{place}.jpg"}
        meta = {"prefix": f"{one.category}/", "normal_class": "OK"}
        content = lists.setdefault(one.category, {"meta": meta, "train": [], "test": []})
        content["test"].append({**row, "mask_path": mask})
        write_map(maps / one.category / f"{place}.tiff", one.score_map)
    folder = data.parent / "realiad_jsons"
    folder.mkdir()
    for category, content in lists.items():
        (folder / f"{category}.json").write_text(json.dumps(content))


def _visa(made: list[Drawn], data: Path, maps: Path) -> None:
    rows = ["object,split,label,image,mask"]
    for one in made:
        folder = Path(one.category) / "Data"
        kind = "Anomaly" if one.defect else "Normal"
        image, mask = (folder / name / kind / f"{one.number:03}" for name in ("Images", "Masks"))
        write_image(data / f"{image}.JPG")
        if one.defect:
            write_mask(data / f"{mask}.png", one.mask, 3)
        label, where = ("anomaly", f"{mask}.png") if one.defect else ("normal", "")
        rows.append(f"{one.category},test,{label},{image}.JPG,{where}")
        write_image(data / folder / "Images" / "Normal" / "900.JPG")
        rows.append(f"{one.category},train,normal,{folder}/Images/Normal/900.JPG,")
        write_map(maps / one.category / ("bad" if one.defect else "good") / f"{one.number:03}.tiff", one.score_map)
    (data / "split_csv").mkdir()
    (data / "split_csv" / "1cls.csv").write_text("\n".join(rows) + "\n")


def _folders(made: list[Drawn], data: Path, maps: Path) -> None:
    for one in made:
        stem = f"{one.category}_{one.defect or 'fine'}_{one.number}"
        if one.defect:
            write_mask(data / f"{stem}.png", one.mask, 1)
        write_map(maps / f"{stem}.npy", one.score_map)


def _list(made: list[Drawn], data: Path, maps: Path) -> None:
    rows = ["picture,mask,defect type,object"]
    for one in made:
        stem = f"{one.category}_{one.defect or 'fine'}_{one.number}"
        write_image(data / "pictures" / f"{stem}.png")
        if one.defect:
            write_mask(data / "masks" / f"{one.number}" / f"{stem}.png", one.mask)
        mask = f"masks/{one.number}/{stem}.png" if one.defect else ""
        rows.append(f"pictures/{stem}.png,{mask},{one.defect or 'ok'},{one.category}")
        write_map(maps / one.category / f"{stem}.tiff", one.score_map)
    (data / "images.csv").write_text("\n".join(rows) + "\n")


class Tree(NamedTuple):
    """How a scene is written as a layout: its defects, the function, and whether results are by defect."""

    defects: tuple[str, ...]
    write: Callable[[list[Drawn], Path, Path], None]
    by_defect: bool = False


TREES = {
    "mvtec-ad": Tree(("crack", "hole"), _mvtec_like("good", "_mask")),
    "mvtec-ad-2": Tree(("bad",), _mvtec_ad_2),
    "mvtec-loco": Tree(("logical_anomalies", "structural_anomalies"), _mvtec_loco, True),
    "mvtec-3d": Tree(("crack", "hole"), _mvtec_3d),
    "real-iad": Tree(("BX", "HS"), _real_iad),
    "visa": Tree(("bad",), _visa),
    "visa-prepared": Tree(("bad",), _mvtec_like("good", "")),
    "btad": Tree(("ko",), _mvtec_like("ok", "", ".bmp")),
    "folders": Tree(("crack",), _folders),
    "list": Tree(("crack", "hole"), _list),
}


def write_tree(layout: str, folder: Path, seed: int = 0, of_each: int = 3) -> list[Drawn]:
    """Write a scene in a layout: the data set to folder/data, the maps to folder/maps."""
    tree = TREES[layout]
    made = scene(seed, tree.defects, of_each=of_each)
    for name in ("data", "maps"):
        (folder / name).mkdir(parents=True)
    tree.write(made, folder / "data", folder / "maps")
    return made
