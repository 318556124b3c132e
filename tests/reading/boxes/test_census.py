"""Every file and box on disk is used, or named as left out, or the error names a file that would be lost."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from PIL import Image

from openworld_metrics import reading
from openworld_metrics.reading import Dataset
from openworld_metrics.reading.places import IMAGE_SUFFIXES

NAMES = ["a", "B", "é", "x y", "photo.webp", "v1.5", "sub/a", "sub/c"]
SUFFIXES = [".jpg", ".png", ".PNG", ".jfif", ".gif", ".webp", ".xyz"]  # the last is of no image that is known
LISTS = ("classes.txt", "labels.txt")
SIZE = (20, 10)


def picture(suffix: str) -> bytes:
    kind = {".jpg": "JPEG", ".jfif": "JPEG", ".gif": "GIF", ".webp": "WEBP"}.get(suffix, "PNG")
    Image.new("L", SIZE).save(buffer := BytesIO(), kind)
    return buffer.getvalue()


CONTENT = {suffix: picture(suffix) for suffix in SUFFIXES}
CHANGES: list[Callable[[str], str]] = [
    str.swapcase,
    lambda name: unicodedata.normalize("NFD", name),
    quote,
    lambda name: name.removesuffix(".webp"),
    lambda name: f"{name}-1",
]


def write(path: Path, content: bytes | str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def is_picture(path: Path) -> bool:
    return path.suffix.lower() in IMAGE_SUFFIXES


def stem(path: Path, folder: Path) -> str:
    return path.relative_to(folder).with_suffix("").as_posix()


def files_of(*folders: Path) -> list[Path]:
    return [path for folder in {*folders} for path in folder.rglob("*") if path.is_file()]


def called(rng: np.random.Generator, name: str) -> str:
    """The name of a label file: mostly the image's."""
    return CHANGES[rng.integers(len(CHANGES))](name) if rng.random() < 0.06 else name


def some_names(rng: np.random.Generator) -> list[str]:
    return [str(name) for name in rng.choice(NAMES, rng.integers(1, 6), replace=False)]


def lines(rng: np.random.Generator) -> list[str]:
    return [f"{rng.integers(2)} 0.5 0.5 0.2 0.{rng.integers(1, 4)}" for _ in range(rng.integers(0, 4))]


def write_images(rng: np.random.Generator, folder: Path, names: Iterable[str]) -> None:
    for name in names:
        for suffix in rng.choice(SUFFIXES, 2 if rng.random() < 0.03 else 1, p=[0.3, 0.3, 0.1, 0.1, 0.1, 0.07, 0.03]):
            if rng.random() > 0.04:
                write(folder / f"{name}{suffix}", CONTENT[suffix])
    if rng.random() < 0.2:
        write(folder / "Thumbs.db", "")


def write_yolo(rng: np.random.Generator, folder: Path, layout: str) -> None:
    labels = "images" if layout == "beside" else "labels"
    names = [name for name in some_names(rng) if layout in ("folder", "data.yaml") or "/" not in name] or ["a"]
    write_images(rng, folder / "images", names)
    for name in names:
        if rng.random() < 0.8:
            text = "\n\n".join(lines(rng)) + "\n" * int(rng.integers(2))
            suffix = ".TXT" if rng.random() < 0.1 else ".txt"
            place = "images" if rng.random() < 0.03 else labels
            write(folder / place / f"{called(rng, name)}{suffix}", text)
            if rng.random() < 0.03:
                write(folder / place / f"{name}.TXT", text)
    for extra in ("classes.txt", "notes.md"):
        if rng.random() < 0.2:
            write(folder / labels / extra, "cat")


def lost_of_yolo(images: list[Path], texts: list[Path], folder: Path, labels: Path) -> list[Path]:
    """The label files without an image of their own, and the images and label files that share a name."""
    at = Counter(stem(path, folder) for path in images)
    of = Counter(stem(path, labels) for path in texts)
    alone = [path for path in texts if stem(path, labels) not in at and path.name not in LISTS]
    twice = [path for path in images if at[stem(path, folder)] > 1]
    return alone + twice + [path for path in texts if of[stem(path, labels)] > 1]


def check(read: Callable[[], Dataset], lost: list[Path], everything: list[Path], boxes: int | None = None) -> bool:
    """Whether a data set is read; if not, the error names a file that would be lost."""
    if lost:
        with pytest.raises(ValueError, match="|".join(re.escape(str(path)) for path in lost)):
            read()
        return False
    dataset = read()
    census = dataset.census
    kinds = ("images", "label files", "other files")
    bare = dataset.paths.count(None)  # images of which the annotations alone are there
    assert sum(map(census.there, kinds)) - bare == len(everything)
    named = [name for (kind, _), names in census.left_out.items() if kind in kinds for name in names]
    assert len({*named}) == len(named) == sum(map(census.there, kinds)) - sum(map(census.used.get, kinds, (0, 0, 0)))
    assert {*named} <= {*map(str, everything)}
    assert census.used["images"] == len(dataset.names)
    assert census.used["boxes"] == sum(len(image["labels"]) for image in dataset.references)
    assert boxes is None or census.there("boxes") == boxes
    return True


def count_lines(texts: Iterable[Path]) -> int:
    return sum(bool(line.strip()) for path in texts for line in path.read_text().splitlines())


@pytest.mark.parametrize("layout", ["folder", "data.yaml", "list", "beside"])
def test_yolo(layout: str, tmp_path: Path) -> None:
    read = 0
    for seed in range(120):
        rng, root = np.random.default_rng(seed), tmp_path / str(seed)
        labels, folder = root / "labels", root / "images"
        write_yolo(rng, root, layout)
        if layout == "beside":
            folder = labels = (root / "images").rename(root / "pictures")
        every = files_of(folder, labels)
        images = [path for path in every if is_picture(path)]
        texts = [path for path in every if path.suffix.lower() == ".txt" and labels in path.parents]
        lost = lost_of_yolo(images, texts, folder, labels)
        lost += [path for path in every if path.suffix.lower() == ".txt" and path not in texts]
        stems = {stem(path, folder) for path in images}
        own = [path for path in texts if stem(path, labels) in stems]
        if not images or not own or (layout == "folder" and not texts):
            continue  # other errors, of a folder without any
        place, listed = "images" if folder.name == "images" else "pictures", images
        if layout == "list":
            listed = [path for path in images if rng.random() < 0.7] or images
            own = [path for path in own if stem(path, labels) in {stem(path, folder) for path in listed}]
            if not own:
                continue
            place = "val.txt"
            shared = Counter(stem(path, folder) for path in listed)
            lost = [path for path in lost if path not in images or shared[stem(path, folder)] > 1]
            write(root / place, "\n".join(str(path.relative_to(root)).replace("/", "\\") for path in listed))
        write(root / "data.yaml", f"val: {place}\nnames: [cat, dog]\n")
        reference = labels if layout == "folder" else root / "data.yaml"
        boxes = count_lines(own)
        read += check(partial(reading.read_references, reference), lost, every, boxes)
    assert read > 20


def test_predictions(tmp_path: Path) -> None:
    read = 0
    for seed in range(120):
        rng, root = np.random.default_rng(seed), tmp_path / str(seed)
        names = some_names(rng)
        for name in names:
            write(root / f"images/{name}.png", CONTENT[".png"])
            write(root / f"labels/{name}.txt", "")
        for name in [*names, "classes"]:
            if rng.random() < 0.7:
                found = "\n".join(f"{line} 0.5" for line in [*lines(rng), *lines(rng)])
                write(root / f"found/{called(rng, name)}.txt", "" if name == "classes" else found)
        places, texts = (root / "found", root / "labels"), files_of(root / "found")
        lost = [path for path in texts if stem(path, root / "found") not in names and path.name not in LISTS]
        if not texts:
            continue
        # a.txt is of sub/a if there is no other a
        lost = [path for path in lost if stem(path, root / "found") != "a" or "sub/a" not in names]
        if lost:
            with pytest.raises(ValueError, match="|".join(re.escape(str(path)) for path in lost)):
                reading.read_detections(*places)
            continue
        detections = reading.read_detections(*places)
        assert detections.census.there("prediction files") == len(texts)
        assert sum(len(boxes["labels"]) for boxes in detections.predictions) == count_lines(texts)  # none is dropped
        read += 1
    assert read > 20


def page(boxes: list[str], size: tuple[int, int]) -> str:
    corners = ("xmin", "ymin", "xmax", "ymax")
    objects = [
        f"<object><name>{name}</name><bndbox>"
        + "".join(f"<{corner}>{at}</{corner}>" for corner, at in zip(corners, (1, 1, 5, end)))
        + "</bndbox></object>"
        for name, *_, end in (box.replace("0.", "").split() for box in boxes)
    ]
    return f"<a><size><width>{size[0]}</width><height>{size[1]}</height></size>{''.join(objects)}</a>"


@pytest.mark.parametrize("layout", ["JPEGImages", "images", "list"])
def test_voc(layout: str, tmp_path: Path) -> None:
    read = 0
    for seed in range(120):
        rng, root = np.random.default_rng(seed), tmp_path / str(seed)
        names = [name for name in some_names(rng) if "/" not in name and " " not in name] or ["a"]
        folder, labels = root / ("pictures" if layout == "images" else "JPEGImages"), root / "Annotations"
        write_images(rng, folder, names)
        written = {labels / f"{called(rng, name)}.xml": lines(rng) for name in names}
        wrong = {path.stem for path in written if rng.random() < 0.04}
        for path, boxes in written.items():
            write(path, page(boxes, SIZE[::-1] if path.stem in wrong else SIZE))
        folder.mkdir(exist_ok=True)
        options: dict[str, Any] = {"images": folder} if layout == "images" else {}
        if layout == "list":
            chosen = [path for path in written if rng.random() < 0.7] or [*written]
            options["image_set"] = root / "set.txt"
            write(options["image_set"], "\n".join(path.stem for path in chosen))
            written = {path: written[path] for path in chosen}
        every = files_of(folder, labels)
        images, pages = [path for path in every if is_picture(path)], [path for path in every if path.suffix == ".xml"]
        stems = Counter(path.stem for path in images)
        if layout == "images" and not images:
            continue
        lost = [path for path in images if stems[path.stem] > 1]
        lost += [path for path in images if path.stem in wrong & {path.stem for path in written}]
        # annotations may be there without images, unless the folder of these is named
        lost += [path for path in pages if path.stem not in stems and layout == "images"]
        count = sum(map(len, written.values()))
        read += check(partial(reading.read_references, labels, **options), lost, every, count)
    assert read > 20


@pytest.mark.parametrize("with_images", [False, True])
def test_coco(with_images: bool, tmp_path: Path) -> None:
    read = 0
    for seed in range(120):
        rng, root = np.random.default_rng(seed), tmp_path / str(seed)
        names, entries = some_names(rng), []
        annotations: list[dict[str, Any]] = []
        for i, name in enumerate(names):
            file, size = f"{name}.png", SIZE[::-1] if rng.random() < 0.04 else SIZE
            write(root / "images" / file, CONTENT[".png"])
            changed = f"{called(rng, name)}.png".replace("/", rng.choice(["/", "\\"]))
            entries.append({"id": i, "file_name": changed, "width": size[0], "height": size[1]})
            for line in lines(rng):
                bbox = [1, 1, 2, int(line[-1])]
                annotations.append({"image_id": i, "category_id": int(line[0]), "bbox": bbox, "id": len(annotations)})
        write_images(rng, root / "images", ["more"])
        content = {
            "images": entries,
            "annotations": annotations,
            "categories": [{"id": i, "name": "ab"[i]} for i in (0, 1)],
        }
        write(root / "true.json", json.dumps(content))
        listed = {str(entry["file_name"]).replace("\\", "/"): entry for entry in entries}
        there = [path.relative_to(root / "images").as_posix() for path in files_of(root / "images")]
        bare = {path.rsplit("/", 1)[-1] for path in there if "/" not in path}
        lost = [root / "images" / name for name in listed if name not in there and name.rsplit("/", 1)[-1] not in bare]
        lost += [root / "images" / name for name, entry in listed.items() if entry["width"] != SIZE[0]]
        every = files_of(root / "images") if with_images else []
        if with_images and any(name not in there for name in listed) and len(lost) == 0:
            continue  # an image of another folder of that name
        options: dict[str, Any] = {"images": root / "images"} if with_images else {}
        reader = partial(reading.read_references, root / "true.json", **options)
        read += check(reader, lost if with_images else [], every, len(annotations))
    assert read > 20


def test_a_picture_is_what_pillow_or_ultralytics_reads() -> None:
    """Of Pillow's, those of photographs: also documents and scientific data have suffixes there."""
    Image.init()
    both = {
        suffix for suffix, kind in Image.registered_extensions().items() if kind in Image.OPEN and kind in Image.SAVE
    }
    photographs = {"AVIF", "BMP", "DIB", "GIF", "JPEG", "JPEG2000", "MPO", "PNG", "PPM", "QOI", "TIFF", "WEBP"}
    named = {suffix for suffix in both if Image.registered_extensions()[suffix] in photographs}
    assert named - {".avifs"} <= IMAGE_SUFFIXES
    assert {".dng", ".heic", ".heif", ".jpeg2000"} <= IMAGE_SUFFIXES  # of Ultralytics alone


def labelled(folder: Path, image: str, label: str, text: str = "0 .5 .5 .2 .2") -> None:
    """A data set of two images, one with a label file that may have another name."""
    for name in ("other.png", image):
        write(folder / "images/val" / name, CONTENT[Path(name).suffix])
    write(folder / "labels/val/other.txt", "0 .5 .5 .2 .2")
    write(folder / label, text)
    write(folder / "val.txt", f"images\\val\\other.png\nimages/val/{image}\n")
    for name, place in (("data", "images\\val"), ("list", "val.txt")):
        write(folder / f"{name}.yaml", f"path: .\nval: {place}\nnames: [cat]\n")


@pytest.mark.parametrize("references", ["labels/val", "data.yaml", "list.yaml"])
@pytest.mark.parametrize(
    ("image", "label", "hint"),
    [
        ("b.jpg", "labels/val/B.txt", "'b' differs from it in case"),
        ("x y.jpg", "labels/val/x%20y.txt", "'x y' differs"),
        ("é.jpg", unicodedata.normalize("NFD", "labels/val/é.txt"), r"'\\xe9' differs"),
        ("photo.webp.jpg", "labels/val/photo.txt", "'photo.webp' differs"),
        ("a.xyz", "labels/val/a.txt", "expected an image of that name, got none"),
        ("a.jpg", "labels/val/b.txt", "expected an image of that name, got none"),
        ("a.jpg", "labels/val/sub/a.txt", "expected an image of that name, got none"),
        ("a.jpg", "images/val/a.txt", "expected labels in a folder of their own"),
    ],
)
def test_a_label_file_without_its_image(references: str, image: str, label: str, hint: str, tmp_path: Path) -> None:
    if references == "list.yaml" and ("sub" in label or ".xyz" in image):
        pytest.skip("the folders and images of a list are those that it names")
    labelled(tmp_path, image, label)
    with pytest.raises(ValueError, match=rf"^{tmp_path / label}: .*{hint}"):
        reading.read_references(tmp_path / references)


def test_a_repeated_line_is_one_object(tmp_path: Path) -> None:
    references = "data.yaml"
    labelled(tmp_path, "a.png", "labels/val/a.txt", "0 .5 .5 .2 .2\n0 0.50 .5 .2 2e-1\n")
    dataset = reading.read_references(tmp_path / references)
    assert [len(boxes["labels"]) for boxes in dataset.references] == [1, 1]
    assert dataset.census.text() == f"1 box stated twice ({tmp_path}/labels/val/a.txt:2)"
    write(tmp_path / "found/a.txt", "0 .5 .5 .2 .2 .9\n" * 3)  # a detector's repeated boxes are false positives
    read = reading.read_detections(tmp_path / "found", tmp_path / references)
    assert [len(boxes["labels"]) for boxes in read.predictions] == [
        3 * (name[-1] == "a") for name in read.dataset.names
    ]


def test_repeated_annotations_of_coco_and_voc(tmp_path: Path) -> None:
    one = {"image_id": 1, "category_id": 3, "bbox": [0, 0, 4, 4], "area": 16}
    annotations = [one, {**one, "category_id": 4}, {**one, "area": 9}, {**one}, {**one, "iscrowd": 1}, {**one}]
    content = {
        "images": [{"id": 1, "file_name": "x.png"}],
        "categories": [{"id": 3, "name": "cat"}, {"id": 4, "name": "dog"}],
        "annotations": [{**entry, "id": i} for i, entry in enumerate(annotations)],
    }
    write(tmp_path / "x.json", json.dumps(content))
    coco = reading.read_references(tmp_path / "x.json")
    assert coco.references[0]["labels"].tolist() == [3, 4, 3, 3]
    assert coco.census.text() == f"2 boxes stated twice (such as {tmp_path}/x.json: annotations[3])"
    write(
        tmp_path / "xml/x.xml", page(["cat .2", "dog .2", "cat .3", "cat .2"], SIZE).replace("<object>", "\n<object>")
    )
    voc = reading.read_references(tmp_path / "xml")
    assert voc.references[0]["labels"].tolist() == [0, 1, 0]
    assert voc.census.text() == f"1 box stated twice ({tmp_path}/xml/x.xml:5)"


@pytest.mark.parametrize(
    ("size", "hint"), [((10, 20), "; they are swapped, as where .* EXIF orientation"), ((40, 20), "$")]
)
def test_a_size_that_is_not_the_images(size: tuple[int, int], hint: str, tmp_path: Path) -> None:
    expected = rf"pictures/x.png: expected {size[0]} × {size[1]} pixels, as .* states, got 20 × 10{hint}"
    write(tmp_path / "pictures/x.png", CONTENT[".png"])
    images = [{"id": 1, "file_name": "x.png", "width": size[0], "height": size[1]}]
    write(tmp_path / "x.json", json.dumps({"images": images, "categories": [], "annotations": []}))
    with pytest.raises(ValueError, match=expected.replace(".*", ".*x.json", 1)):
        reading.read_references(tmp_path / "x.json", images=tmp_path / "pictures")
    write(tmp_path / "Annotations/x.xml", page([], size))
    with pytest.raises(ValueError, match=expected.replace(".*", ".*x.xml", 1)):
        reading.read_references(tmp_path / "Annotations", images=tmp_path / "pictures")
    (tmp_path / "pictures").rename(tmp_path / "JPEGImages")
    with pytest.raises(ValueError, match=expected.replace("pictures", "JPEGImages")):
        reading.read_references(tmp_path / "Annotations")


@pytest.mark.parametrize("keys", [["a", "b1"], ["val/a", "val/b1"], ["x", "val/b1"], [7, "b1"], [12, 7]])
def test_results_by_the_names_of_files(keys: list[int | str], tmp_path: Path) -> None:
    """Ids come first: 7 is the id of a/7, where both are ids; with other words, 7 and 12 are files."""
    files = {7: "val\\a.jpg", 12: "val/b1.jpg"} if "a" in str(keys) or 7 not in keys else {7: "12.jpg", 12: "7.jpg"}
    if keys == [7, "b1"]:
        files = {1: "val/0007.jpg", 2: "b1.jpg"}
    images = [{"id": key, "file_name": name, "width": 9, "height": 9} for key, name in files.items()]
    write(
        tmp_path / "x.json", json.dumps({"images": images, "categories": [{"id": 0, "name": "cat"}], "annotations": []})
    )
    rows = [{"image_id": key, "category_id": 0, "bbox": [0, 0, 1, 1], "score": i / 4} for i, key in enumerate(keys)]
    write(tmp_path / "found.json", json.dumps(rows))
    if "x" in keys:
        with pytest.raises(ValueError, match=r"results\[0\]: expected image_id to be an id of an image, got 'x'"):
            reading.read_detections(tmp_path / "found.json", tmp_path / "x.json")
        return
    read = reading.read_detections(tmp_path / "found.json", tmp_path / "x.json")
    expected = [[0.25], [0.0]] if keys == [12, 7] else [[0.0], [0.25]]
    assert [boxes["scores"].tolist() for boxes in read.predictions] == expected


def test_lists_with_backslashes(tmp_path: Path) -> None:
    labelled(tmp_path, "a.png", "labels/val/a.txt")
    write(tmp_path / "set.txt", "images\\val\\a.png\n")
    read = reading.read_references(tmp_path / "data.yaml", image_set=tmp_path / "set.txt")
    assert read.names == ["val/a"]
    assert read.census.text() == "1 image not in set.txt (val/other), 1 box of images not in set.txt (val/other)"
