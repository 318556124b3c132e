"""Read boxes: YOLO's text files, one an image, and COCO's JSON, as tables with a row for each box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...formats.boxes.entries import Entries
from ...formats.boxes.yolo.lines import LISTS_OF_CLASSES, read_lines
from ...formats.json import parse_json
from ..page import DETECTORS
from ..serving.limits import RefusedError
from .archives import FOLDER, KIND_FOLDERS, Member, folders_of, key_of, keys, last_parts, members, some
from .readers import Data
from .uploads import read_files

_FILES, _IDS = "files of images", "ids of images"  # names of Data that `with_names` replaces


def read_yolo(paths: list[Path], tag: str = "", apart: bool = False) -> Data:
    """YOLO text files, one an image: lines of class, cx, cy, w, h and, of predictions, the confidence.

    Archives of predictions that have files of the same names are detectors, each named like its archive, unless they
    are data sets, which `apart` says. The images are known by the files' paths until `with_names` shortens them.
    """
    folder, names = "predictions", ["class", "cx", "cy", "w", "h", "confidence"]
    if tag.startswith("_2"):
        folder, names = "references", names[:5]
    detectors = _by_detector(paths) if len(names) == 6 and not apart else {}
    found = [member for part in detectors.values() for member in part] or members(paths, (".txt",), LISTS_OF_CLASSES)
    try:
        tables = [read_lines(member, confidence=len(names) == 6, place=member.name) for member in found]
    except ValueError as error:
        raise RefusedError(str(error)) from None
    table, sizes, files = np.concatenate(tables), [*map(len, tables)], [member.key for member in found]
    end = "len(cells) - 1" if len(names) == 6 else "len(cells)"
    setup = [
        "import numpy as np",
        "from pathlib import Path",
        _BOX,
        f'paths{tag} = sorted(Path("{folder}").rglob("*.txt"))  # the folder of your files',
        f'texts{tag} = [path.read_text(encoding="utf-8-sig").splitlines() for path in paths{tag}]',
        f"rows{tag} = [(path, row.split()) for path, rows in zip(paths{tag}, texts{tag}) for row in rows]",
        f"rows{tag} = [(path, cells) for path, cells in rows{tag} if cells]",
        f"table{tag} = np.asarray([box([*map(float, cells)], {end}) for _, cells in rows{tag}])",
        f"table{tag} = table{tag}.reshape(-1, {len(names)})",
    ]
    arrays = {"image": _repeated(files, sizes), **{name: table[:, i] for i, name in enumerate(names)}}
    code = {"image": f"np.asarray([name(path) for path, _ in rows{tag}])"}
    code |= {name: f"table{tag}[:, {i}]" for i, name in enumerate(names)}
    named = {_FILES: files}
    if detectors:
        owners = [name for name, part in detectors.items() for _ in part]
        arrays[DETECTORS.name] = _repeated(owners, sizes)
        code[DETECTORS.name] = f'np.asarray([path.relative_to("{folder}").parts[0] for path, _ in rows{tag}])'
        named |= {name: [member.key for member in part] for name, part in detectors.items()}
    place, folders = folders_of(files)
    if folders and not detectors:
        arrays[FOLDER], named[FOLDER] = _repeated(folders, sizes), folders
        parts = _PARTS.format(f'path.relative_to("{folder}")')
        code[FOLDER] = f"{{name(path): {parts}[{place}] for path in paths{tag}}}"
    return Data(arrays, setup, code, {"box_format": "cxcywh"}, named)


def _by_detector(paths: Sequence[Path]) -> dict[str, list[Member]]:
    """The files of each archive, where several have files of the same names; otherwise nothing."""
    archives = [path for path in paths if path.suffix.lower() == ".zip"]
    if len(archives) < 2 or len(archives) < len(paths):
        return {}
    members(archives, (".txt",), LISTS_OF_CLASSES)  # which says what is wrong with them together
    found = {path.stem: members([path], (".txt",), LISTS_OF_CLASSES) for path in archives}
    images = [set(keys([member.key for member in part])[1]) for part in found.values()]
    return found if len(set().union(*images)) < sum(map(len, images)) else {}


def _repeated(values: Sequence[str], sizes: Sequence[int]) -> np.ndarray:
    return np.repeat(np.asarray(values, dtype=object), sizes)


_BOX = """def box(row, end):  # a polygon becomes the box around it
    x1, y1, x2, y2 = min(row[1:end:2]), min(row[2:end:2]), max(row[1:end:2]), max(row[2:end:2])
    return row if len(row) < 7 else [row[0], (x1 + x2) / 2, (y1 + y2) / 2, x2 - x1, y2 - y1, *row[end:]]"""


def read_coco(paths: list[Path], tag: str = "", apart: bool = False) -> Data:
    """COCO's results, each file a detector named like it, or its annotations; other JSON as everywhere.

    The images are known by their ids until `with_names` finds their names.
    """
    contents = {path: parse_json(path.read_bytes()) for path in paths}
    results = {path: rows for path, rows in contents.items() if _has(rows, "image_id", "bbox", "score")}
    truths = {path: rows for path, rows in contents.items() if isinstance(rows, dict) and "annotations" in rows}
    if not results and not truths:
        return read_files(paths, {}, tag)
    expected, right = ("annotations", truths) if tag.startswith("_2") else ("results", results)
    wrong = next((path for path in paths if path not in right), None)
    if wrong is not None or (expected == "annotations" and len(right) > 1):
        got = f"{len(right)} files" if wrong is None else f"{wrong.name}, which holds none"
        raise RefusedError(f"expected COCO's {expected}{' in one file' * (expected[0] == 'a')}, got {got}")
    return _coco_results(results, tag) if expected == "results" else _coco_truth(*next(iter(truths.items())), tag)


def _has(rows: Any, *names: str) -> bool:
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and rows[0].keys() >= {*names}


_READ = ["import json", "import numpy as np", "from pathlib import Path"]


def _coco_results(results: Mapping[Path, Any], tag: str) -> Data:
    rows = [row for entries in results.values() for row in entries]
    for path, entries in results.items():
        table = _coco_table(entries, f"{path.name}: results")
        table.numbers("score")
    detectors = [path.stem for path, entries in results.items() for _ in entries]
    files = [path.name for path in results]
    setup = [
        *_READ,
        f"read{tag} = {{name: json.loads(Path(name).read_bytes()) for name in {files!r}}}",
        f"found{tag} = [row for rows in read{tag}.values() for row in rows]",
    ]
    data = _coco_columns(rows, f"found{tag}", setup, {"confidence": "score"})
    if len(results) > 1:
        data.arrays[DETECTORS.name] = np.asarray(detectors, dtype=object)
        data.code[DETECTORS.name] = f"np.asarray([Path(name).stem for name, rows in read{tag}.items() for _ in rows])"
    return data


def _coco_truth(path: Path, content: Any, tag: str) -> Data:
    rows, images = content["annotations"], content.get("images")
    if not isinstance(rows, list) or not isinstance(images, list):
        raise RefusedError(f"{path.name}: expected lists of images and annotations")
    table = _coco_table(rows, f"{path.name}: annotations")
    crowds = int(np.count_nonzero(table.flags("iscrowd") | table.flags("ignore")))
    if crowds:
        raise RefusedError(
            f"{path.name}: expected objects that count, got {crowds:,} crowds (iscrowd), which the command "
            "openworld-metrics detect takes"
        )
    setup = [
        *_READ,
        f"truth = json.loads(Path({path.name!r}).read_bytes())",
        'files = {one["id"]: Path(str(one.get("file_name", one["id"]))) for one in truth["images"]}',
    ]
    data = _coco_columns(rows, 'truth["annotations"]', setup, {})
    files = [key_of(PurePosixPath(str(one.get("file_name", one["id"])))) for one in images]
    unknown = {row["image_id"] for row in rows} - {one["id"] for one in images}
    if unknown:
        raise RefusedError(f"{path.name}: expected annotations of its images, got {some(sorted(map(str, unknown)))}")
    place, folders = folders_of(files)
    ids = [one["id"] for one in images]
    names: dict[str, Any] = {_FILES: files, _IDS: ids}
    if folders:
        own, names[FOLDER] = dict(zip(ids, folders)), folders
        data.arrays[FOLDER] = np.asarray([own[row["image_id"]] for row in rows], dtype=object)
        data.code[FOLDER] = f"{{name(path): {_PARTS.format('path')}[{place}] for path in files.values()}}"
    return data._replace(names=names)


def _coco_table(entries: Sequence[Any], where: str) -> Entries:
    """Entries with a box and a class each, checked."""
    ids = {entry.get("image_id") for entry in entries if isinstance(entry, dict)} - {None}
    table = Entries(entries, where, {image: i for i, image in enumerate(ids)})
    table.boxes()
    table.integers("category_id")
    return table


def _coco_columns(rows: Sequence[Any], variable: str, setup: list[str], more: Mapping[str, str]) -> Data:
    boxes = np.asarray([row["bbox"] for row in rows], dtype=np.float64).reshape(-1, 4)
    arrays: dict[str, Any] = {"image": np.asarray([row["image_id"] for row in rows], dtype=object)}
    code = {"image": f'[row["image_id"] for row in {variable}]'}
    for i, name in enumerate("xywh"):
        arrays[name], code[name] = boxes[:, i], f'np.asarray([row["bbox"][{i}] for row in {variable}], float)'
    for name, key in {"class": "category_id", **more}.items():
        arrays[name] = np.asarray([row[key] for row in rows])
        code[name] = f'np.asarray([row["{key}"] for row in {variable}])'
    return Data(arrays, setup, code, {"box_format": "xywh"})


def with_names(sources: Sequence[Data]) -> list[Data]:
    """Predictions and references whose images have the same names: the last parts of paths that tell them apart.

    Raises ValueError for boxes of two forms, and for results of images that COCO's annotations do not have.
    """
    forms = [data.options["box_format"] for data in sources if "box_format" in data.options]
    if len(set(forms)) > 1:
        raise ValueError(
            f"boxes: expected predictions and references in one form, got {' and '.join(forms)}; give YOLO's files for "
            "both, in shares of the image, or COCO's for both, in pixels"
        )
    by_id = dict(zip(sources[-1].names.get(_IDS, ()), sources[-1].names.get(_FILES, ())))
    parts = max((_parts(data) for data in sources), default=1)
    return [_with_names_of_images(data, by_id, parts) for data in sources]


def _parts(data: Data) -> int:
    """How many last parts of the paths tell a detector's images, or the objects' ones, apart."""
    own = [files for name, files in data.names.items() if name not in (_FILES, _IDS, FOLDER)]
    return max((keys(files)[0] for files in own or [data.names.get(_FILES, [])]), default=1)


def _with_names_of_images(data: Data, by_id: Mapping[Any, str], parts: int) -> Data:
    if data.options.get("box_format") not in ("cxcywh", "xywh") or "image" not in data.arrays:
        return data
    images, code = data.arrays["image"].tolist(), data.code["image"]
    if data.options["box_format"] == "xywh":
        unknown = dict.fromkeys(str(image) for image in images if image not in by_id)
        if unknown and by_id:
            raise ValueError(f"predictions: expected results of images of the annotations, got {some([*unknown])}")
        images = [by_id.get(image, str(image)) for image in images]
        code = f"np.asarray([name(files[i]) for i in {code}])" if by_id else f"np.asarray([*map(str, {code})])"
    names = {name: files for name, files in data.names.items() if name != _IDS}
    names = {name: files if name == FOLDER else last_parts(files, parts) for name, files in names.items()}
    if _FILES in names:
        names["image"] = names.pop(_FILES)
    shown = np.asarray(last_parts(images, parts), dtype=object)
    setup = [*data.setup, _NAME if parts == 1 else _PATH.format(more=parts - 1)]
    return data._replace(
        arrays={**data.arrays, "image": shown}, code={**data.code, "image": code}, setup=setup, names=names
    )


_NAME = """def name(path):
    return path.stem"""
_PARTS = f"[part for part in {{}}.parts if part not in {KIND_FOLDERS}]"
_PATH = f"""def name(path):
    folders = [part for part in path.parts[:-1] if part not in {KIND_FOLDERS}]
    return "/".join([*folders[-{{more}}:], path.stem])"""
