"""Boxes of detectors and data sets in every format, from files to the numbers of the metric; and image files."""

from __future__ import annotations

import functools
import io
import json
import pickle
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from PIL import Image

from openworld_metrics import reading
from openworld_metrics.faces.summaries import summary
from openworld_metrics.reading.places import image_size
from openworld_metrics.suites.detection import evaluate_detections
from tests.detection import scenes
from tests.fuzz.contents import damaged_content
from tests.fuzz.damage import damaged, damaged_bytes_of, damaged_text
from tests.fuzz.engine import Case, Files, Refused, Target, check_files, write_files
from tests.fuzz.fingerprint import check_results
from tests.fuzz.values import json_changed, torch

POOL = 12  # data sets of each format; what differs is what is wrong with them


class DataSet(NamedTuple):
    """Files of a data set and of its predictions, where they lie, and the arguments of the reader."""

    files: Files
    predictions: str
    references: str
    options: dict[str, Any]


@functools.cache
def data_set(name: str, seed: int) -> DataSet:
    """A random data set as a format has it."""
    scene = scenes.scene(seed, 3, ignored=0.2)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        written = scenes.WRITERS[name](scene, root)
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        places = {key: str(written.pop(key).relative_to(root)) for key in ("predictions", "references")}
    if name == "dicts" and seed % 2 and torch is not None:
        places = {side: f"{side}.pt" for side in places}
        sides = {"predictions": scene.predictions, "references": scene.dataset.references}
        files = {f"{side}.pt": _tensors(images) for side, images in sides.items()}
    return DataSet(files, **places, options={"unknown_class_id": scenes.UNKNOWN_ID, **written})


def _tensors(images: list[dict[str, np.ndarray]]) -> bytes:
    buffer = io.BytesIO()
    torch.save([{key: torch.from_numpy(array) for key, array in boxes.items()} for boxes in images], buffer)
    return buffer.getvalue()


def make(name: str, rng: Random) -> DataSet:
    """One of the pool."""
    return data_set(name, rng.randrange(POOL))


def damage(name: str, rng: Random, value: DataSet) -> DataSet:
    """Something wrong with a file, with which files there are, or with an argument."""
    files, way = dict(value.files), rng.random()
    # most is in the texts; of images only the size is read
    texts = [path for path in files if not path.endswith(".png")]
    file = rng.choice(texts if rng.random() < 0.95 else [*files])
    if way < 0.8:
        files[file] = _damaged(rng, file, files[file])
    elif way < 0.85:
        del files[file]
    elif way < 0.9:
        folder, _, stem = file.rpartition("/")
        other = rng.choice(
            ("x.txt", "é.png", "classes.txt", f"{stem}.txt", f"{stem}.jpg", f"{stem}.xml", "a/b.txt", "A" * 250)
        )
        files[f"{folder}/{other}".strip("/")] = rng.choice((b"", b"0 .5 .5 1 1", *files.values()))
    if way >= 0.9:
        return value._replace(options={**value.options, **_other_options(rng)})
    return value._replace(files=files)


def _other_options(rng: Random) -> dict[str, Any]:
    names = rng.choice((None, {}, {0: "cat"}, {0: "cat", 1: "cat"}, dict(scenes.NAMES), {-1: "x", 2**60: "cat"}))
    return rng.choice(
        (
            {"classes": names},
            {"split": rng.choice(("val", "train", "x", "", "../x", "\x00"))},
            {"images": rng.choice(("images", "images/val", "JPEGImages", "nowhere", "data.yaml", "\x00"))},
            {"unknown_class_id": rng.choice((-1, 0, 999, -(2**63), 2**63))},
            {"one_based": False},
        )
    )


def _lists_of_lists() -> bytes:
    """A .pt file of a few hundred bytes that means a billion numbers."""
    content: list[Any] = [0.5] * 10
    for _ in range(8):
        content = [content] * 10
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps([{"boxes": content, "labels": content}], protocol=2))
        archive.writestr("archive/version", "3\n")
    return buffer.getvalue()


_BOMBS: Mapping[str, bytes] = {
    ".pt": _lists_of_lists(),
    ".yaml": b"a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 9)) for i in range(1, 9))
    + b"names: *a8\nval: images/val\n",
    ".xml": b'<!DOCTYPE a [<!ENTITY a0 "xxxxxxxxx">'
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 9) for i in range(1, 9))
    + b"]><annotation><object><name>&a8;</name></object></annotation>",
    ".json": b"[" * 100_000,
    ".txt": b"0 .5 .5 1 1 .5\n" * 10_000,
}


def _damaged(rng: Random, file: str, data: bytes) -> bytes:
    """Something wrong with a file, in the terms of its format."""
    ending = Path(file).suffix
    if rng.random() < 0.01:
        return _BOMBS.get(ending, b"")
    if ending in (".png", ".pt"):
        return damaged_content(rng, "pt", data) if ending == ".pt" else damaged(rng, data)
    if ending == ".json" and rng.random() < 0.7:
        content = json.loads(data)
        for _ in range(rng.choice((1, 1, 2))):
            content = json_changed(rng, content)
        return json.dumps(content).encode(errors="surrogatepass")
    return damaged_bytes_of(rng, data.decode())


def run(case: Case) -> None:
    """Read, and compute what the command computes, with the standard metrics now and then."""
    value: DataSet = case.value
    try:
        write_files(value.files, case.folder)
    except OSError:  # no file can have such a name
        return
    options = dict(value.options)
    if "images" in options:
        options["images"] = f"{case.folder}/{options['images']}"
    read = functools.partial(
        reading.read_detections, case.folder / value.predictions, case.folder / value.references, **options
    )
    detections = case.attempt(read)
    if not isinstance(detections, Refused):
        standard = len(value.files) % 2 == 0
        given = dict(unknown_class_id=scenes.UNKNOWN_ID, per_class=True, per_image=True, standard=standard)
        results = case.attempt(functools.partial(evaluate_detections, detections, scenes.KNOWN, **given))
        if not isinstance(results, Refused):
            check_results(results["openset_metrics"])
            summary(results)
    check_files(value.files, case.folder)


class ImageFile(NamedTuple):
    """An image file."""

    files: Files


_FORMATS = {"PNG": "png", "JPEG": "jpg", "BMP": "bmp", "TIFF": "tif", "WEBP": "webp", "MPO": "mpo", "AVIF": "avif"}


@functools.cache
def _image(kind: str, turned: bool) -> bytes:
    buffer, more = io.BytesIO(), {}
    if turned:
        exif = Image.Exif()
        exif[0x0112] = 6
        more = {"exif": exif}
    Image.new("RGB", (9, 5), "#335577").save(buffer, kind, **more)
    return buffer.getvalue()


def make_image(rng: Random) -> ImageFile:
    """A small image of some format, turned by its EXIF or not."""
    Image.init()
    there = [kind for kind in _FORMATS if kind in Image.SAVE]
    kind = rng.choice(there)
    return ImageFile({f"image.{_FORMATS[kind]}": _image(kind, rng.random() < 0.5 and kind in ("JPEG", "PNG", "WEBP"))})


def damage_image(rng: Random, value: ImageFile) -> ImageFile:
    """Something wrong with its bytes."""
    return ImageFile({name: damaged(rng, data) for name, data in value.files.items()})


def run_image(case: Case) -> None:
    """Read its size."""
    write_files(case.value.files, case.folder)
    for name in case.value.files:
        case.attempt(functools.partial(image_size, case.folder / name))
    check_files(case.value.files, case.folder)


class Names(NamedTuple):
    """Words that name classes, or a file that does, and words for some of the classes."""

    files: Files
    words: list[str]
    chosen: list[str]


def make_names(rng: Random) -> Names:
    """Names as words, or in a file of some format."""
    words = ["cat", "dog", "cow"]
    text = {
        "names.yaml": f"names: {words}\n",
        "names.json": json.dumps({"categories": [{"id": i, "name": name} for i, name in enumerate(words)]}),
        "names.txt": "\n".join(words),
        "words": "",
    }
    file = rng.choice([*text])
    return Names({file: text[file].encode()}, words if file == "words" else [file], rng.sample([*words, "0", "2"], 2))


def damage_names(rng: Random, value: Names) -> Names:
    """Something wrong with a word or with the file."""
    if rng.random() < 0.3:
        return value._replace(chosen=[damaged_text(rng, word) for word in value.chosen])
    if value.words[0] not in value.files:
        return value._replace(words=[damaged_text(rng, word) for word in value.words])
    return value._replace(files={name: _damaged(rng, name, data) for name, data in value.files.items()})


def run_names(case: Case) -> None:
    """Read the names, and look the chosen ones up."""
    value: Names = case.value
    write_files(value.files, case.folder)
    words = [str(case.folder / word) if word in value.files else word for word in value.words]
    names = case.attempt(functools.partial(reading.read_names, words))
    if not isinstance(names, Refused):
        case.attempt(functools.partial(reading.class_ids, value.chosen, names))
    check_files(value.files, case.folder)


TARGETS = [
    *(
        Target(f"boxes of {name}", functools.partial(make, name), functools.partial(damage, name), run)
        for name in scenes.WRITERS
    ),
    Target("images", make_image, damage_image, run_image),
    Target("names", make_names, damage_names, run_names),
]
