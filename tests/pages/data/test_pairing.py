"""Maps, masks, photographs and boxes of an image are brought together by name, from files and archives."""

from __future__ import annotations

import importlib
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from openworld_metrics.pages.data import read
from openworld_metrics.pages.events.inputs import Events
from openworld_metrics.pages.form.form import Form
from openworld_metrics.pages.photographs import photograph_of
from openworld_metrics.pages.runner import Runner, explain
from openworld_metrics.reading.limits import PAGES
from openworld_metrics.reading.maps.maps import resized_map
from tests.pages.steps import numbers

RNG = np.random.default_rng(0)
MAPS = RNG.integers(0, 256, (4, 5, 6)).astype(np.uint8)
MASKS = np.zeros((4, 5, 6), bool)
MASKS[[1, 3], 2:, 3:] = True


def save(path: Path, array: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array if array.dtype == np.uint8 else (255 * array).astype(np.uint8)).save(path)
    return path


def packed(folder: Path, name: str) -> Path:
    return Path(shutil.make_archive(str(folder / name), "zip", folder / name))


@pytest.fixture(scope="module")
def runner(root: Path) -> Runner:
    page = importlib.import_module("openworld_metrics.pages.metrics.anomaly_suite").PAGE
    return Runner(page, root / "metrics" / "anomaly_suite")


def show(runner: Runner, files: Any, made_of: Any = None) -> Any:
    return runner.show(Form(files=files, made_of=made_of or {}))


def flat(folder: Path) -> list[list[Path]]:
    """Of masks only those with a defect, in the other order, one of them with the suffix of MVTec."""
    maps = [save(folder / "predictions" / f"{i}.png", one) for i, one in enumerate(MAPS)]
    masks = [save(folder / "references" / f"{name}.png", MASKS[i]) for name, i in (("3_mask", 3), ("1", 1))]
    return [maps, masks]


def mvtec(folder: Path) -> list[list[Path]]:
    """As MVTec lies on disk: names that occur in each folder, no masks of good, photographs beside the masks."""
    for i, (place, one) in enumerate(zip(("good/0", "cut/0", "good/1", "cut/1"), MAPS)):
        save(folder / "predictions" / "bottle" / "test" / f"{place}.png", one)
        if MASKS[i].any():
            save(folder / "references" / "bottle" / "ground_truth" / f"{place}_mask.png", MASKS[i])
    files = [[packed(folder, name)] for name in ("predictions", "references")]
    with zipfile.ZipFile(files[1][0], "a") as archive:
        for path in (folder / "predictions").rglob("*.png"):
            archive.write(path, path.relative_to(folder / "predictions"))
    return files


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (flat, "2 have no mask and count as normal: 0, 2."),
        (mvtec, "2 have no mask and count as normal: good/0, good/1."),
    ],
)
def test_maps_and_masks(
    write: Callable[[Path], Any], told: str, runner: Runner, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = write(tmp_path)
    order = [0, 1, 2, 3] if write is flat else [1, 3, 0, 2]  # by name
    results = runner.results({"predictions": MAPS[order], "references": MASKS[order]}, {})
    found = show(runner, files)
    assert numbers(found.json) == results
    (given,) = read(runner.page, [None, None], files).arguments().values()
    assert told in given.note
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(found.call.replace('load("metrics/', f'load("{root}/metrics/'), names)
    assert names["results"] == results


def test_maps_are_resized_to_their_masks(
    runner: Runner, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused with the name of the file; by one press the numbers of resized maps, with the call that gives them."""
    files = mvtec(tmp_path)
    order = [1, 3, 0, 2]
    large = [np.kron(mask, np.ones((2, 2), int)) for mask in MASKS]
    for i, path in enumerate(sorted((tmp_path / "references").rglob("*_mask.png"))):
        save(path, large[order[i]])
    files[1] = [packed(tmp_path, "references")]
    events = Events(runner)
    seen = events.upload(Form(files=files, tables=[None, None]))
    assert "cut/0.png: expected 10 × 12 pixels as" in seen["read"]["value"]
    assert seen["resize"]["visible"]
    chosen = {"predictions": ["maps"], "references": ["masks"]}
    place, asked, names = json.loads(events.fit(Form(files=files, tables=[None, None], made_of=chosen))["proposed"])
    assert [*chosen.items()][place] == ("predictions", asked)
    assert names == ["resized: maps"]
    found = show(runner, files, {"predictions": names})
    maps = [resized_map(MAPS[i], (10, 12), "bilinear") for i in order]
    expected = runner.results({"predictions": maps, "references": [large[i] for i in order]}, {})
    assert numbers(found.json) == expected
    monkeypatch.chdir(tmp_path)
    variables: dict[str, Any] = {}
    exec(found.call.replace('load("metrics/', f'load("{root}/metrics/'), variables)
    assert variables["results"] == expected


def test_maps_of_two_detectors(runner: Runner, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Archives with files of the same names: a row in the table and a map in the picture for each; one call."""
    _, masks = flat(tmp_path)
    columns = {"one": MAPS, "two": 255 - MAPS}
    for name, maps in columns.items():
        for i, one in enumerate(maps):
            save(tmp_path / name / f"{i}.png", one)
    archives = [packed(tmp_path, name) for name in columns]
    found = show(runner, [archives, masks])
    expected = {name: runner.results({"predictions": maps, "references": MASKS}, {}) for name, maps in columns.items()}
    assert numbers(found.json) == expected
    picture = found.figures[0]
    shown = [trace.z for trace in picture.data if trace.type == "heatmap"]
    assert [np.asarray(one).tolist() for one in shown] == [maps[0].tolist() for maps in columns.values()]
    assert [axis.title.text for axis in (picture.layout.xaxis, picture.layout.xaxis2)] == ["one", "two"]
    for mask in masks:
        shutil.copy(mask, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(found.call.replace('load("metrics/', f'load("{root}/metrics/'), names)
    assert names["results"] == expected
    (tmp_path / "two" / "0.png").rename(tmp_path / "two" / "4.png")
    with pytest.raises(ValueError, match=r"2 images that not all have: one.zip lacks 4; two.zip lacks 0. If these"):
        read(runner.page, [None, None], [[archives[0], packed(tmp_path, "two")], masks])


def test_photographs_by_name(tmp_path: Path) -> None:
    files = [save(tmp_path / f"{name}.jpg", MAPS[i]) for i, name in enumerate(("b", "a"))]
    names = ["test/a", "test/b", "test/c"]
    sizes = [photograph_of([save(tmp_path / "one.png", MAPS[2])], i, names) for i in range(3)]
    assert all(found is not None for found in sizes), "one photograph without a name is that of each image"
    found = [photograph_of(files, i, names) for i in range(3)]
    assert [one is None for one in found] == [False, False, True]
    assert np.abs(np.asarray(found[0][0])[..., 0].astype(int) - MAPS[1]).mean() < 20


def counts(column: Any) -> list[int]:
    """The number of boxes of each image."""
    return [len(image["labels"]) for image in column]


def test_boxes_in_archives(root: Path, tmp_path: Path) -> None:
    for side, folder, line in (("p", "predict/labels", "0 .5 .5 .2 .2 .9"), ("r", "labels/val", "0 .5 .5 .2 .2")):
        (tmp_path / side / folder).mkdir(parents=True)
        for name in "ab":
            (tmp_path / side / folder / f"{name}.txt").write_text(line if name == "a" or side == "r" else "")
        (tmp_path / side / folder / "classes.txt").write_text("cat\n")
    page = importlib.import_module("openworld_metrics.pages.metrics.openset_detection").PAGE
    (given,) = read(page, [None, None], [[packed(tmp_path, side)] for side in "pr"]).arguments().values()
    assert counts(given.columns["predictions"]) == [1, 0]
    assert counts(given.columns["references"]) == [1, 1]
    assert list(given.names) == ["val/a", "val/b"]
    (tmp_path / "other.txt").write_text("0 .5 .5 .2 .2")
    with pytest.raises(ValueError, match=r"a.txt: expected predictions for an image of the references"):
        read(page, [None, None], [[packed(tmp_path, "p")], [tmp_path / "other.txt"]]).arguments()


def test_images_in_other_folders_are_not_paired(runner: Runner, tmp_path: Path) -> None:
    """The map of bad/2 is missing, and good/2 is another image; predictions of train/1 are not of val/1."""
    for place, one in zip(("bad/0", "good/2", "good/7"), MAPS):
        save(tmp_path / "maps" / f"{place}.png", one)
    for place in ("bad/0", "bad/2"):
        save(tmp_path / "masks" / f"{place}.png", MASKS[1])
    with pytest.raises(ValueError, match=r"masks.zip/bad/2.png: expected its map bad/2.tiff in .*maps.zip, got none$"):
        read(runner.page, [None, None], [[packed(tmp_path, name)] for name in ("maps", "masks")])
    page = importlib.import_module("openworld_metrics.pages.metrics.openset_detection").PAGE
    for side, names, more in (("p", ("train/1", "val/2"), " .9"), ("r", ("val/1", "val/2"), "")):
        for name in names:
            (tmp_path / side / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / side / f"{name}.txt").write_text(f"0 .5 .5 .2 .2{more}")
    (boxes,) = read(page, [None, None], [[packed(tmp_path, side)] for side in "pr"]).arguments().values()
    assert dict(zip(boxes.names, counts(boxes.columns["predictions"]))) == {"train/1": 1, "val/2": 1, "val/1": 0}


def test_images_of_one_name(tmp_path: Path) -> None:
    page = importlib.import_module("openworld_metrics.pages.metrics.openset_detection").PAGE
    with zipfile.ZipFile(tmp_path / "both.zip", "w") as archive:
        for folder in ("labels", "test"):
            archive.writestr(f"{folder}/1.txt", "")
    (boxes,) = read(page, [None, None], [[tmp_path / "both.zip"], [tmp_path / "both.zip"]]).arguments().values()
    assert list(boxes.names) == ["labels/1", "test/1"]
    box = {"category_id": 1, "bbox": [0, 0, 4, 4]}
    images = [{"id": i, "file_name": name} for i, name in enumerate(("a.jpg", "a.png"))]
    true = {
        "images": images,
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{**box, "id": 1, "image_id": 0}],
    }
    files = tmp_path / "found.json", tmp_path / "true.json"
    files[0].write_text(json.dumps([{**box, "image_id": i, "score": 0.5} for i in (1, 0)]))
    files[1].write_text(json.dumps(true))
    (boxes,) = read(page, [None, None], [[path] for path in files]).arguments().values()
    assert dict(zip(boxes.names, counts(boxes.columns["predictions"]))) == {"a.png": 1, "a.jpg": 1}
    assert dict(zip(boxes.names, counts(boxes.columns["references"]))) == {"a.png": 0, "a.jpg": 1}
    files[1].write_text(json.dumps({**true, "images": [images[0], {**images[1], "id": 0}]}))
    with pytest.raises(ValueError, match=r"true.json: images\[1\]: expected an id of its own, got 0 again"):
        read(page, [None, None], [[path] for path in files])


def many(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(PAGES.members + 1):
            archive.writestr(f"{i}.png", b"")


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", bytes(PAGES.unpacked + 1))


def lie(path: Path) -> None:
    """A small size in the table of contents: no more than that is unpacked."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.png", bytes(10_000))
    path.write_bytes(path.read_bytes().replace((10_000).to_bytes(4, "little"), (9).to_bytes(4, "little")))


def lzma(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.png", b"x")


def other(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../etc/a.txt", b"x")


REFUSED = {
    "many": (many, "a.zip: pages take archives of at most 5,000 files"),
    "bomb": (bomb, "a.zip: pages take at most 200,000,000 bytes unpacked, not 200,000,001"),
    "lie": (lie, "a.zip: expected a .zip that can be unpacked, got "),
    "lzma": (lzma, "a.zip: expected a plain .zip, without a password"),
    "other": (other, "a.zip: expected files within the archive, got '../../etc/a.txt'"),
    "no-archive": (lambda path: path.write_bytes(b"PK\x05\x06"), "a.zip: expected a .zip that can be unpacked, got "),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_refused_archives(kind: str, runner: Runner, tmp_path: Path) -> None:
    write, message = REFUSED[kind]
    write(tmp_path / "a.zip")
    mask = save(tmp_path / "0.png", MASKS[0])
    with pytest.raises(ValueError, match=message) as raised:
        show(runner, [[tmp_path / "a.zip"], [mask]])
    assert str(tmp_path) not in explain(raised.value)


def test_names_that_cannot_be_paired(runner: Runner, tmp_path: Path) -> None:
    maps = [save(tmp_path / f"{i}.png", MAPS[i]) for i in range(2)]
    masks = [save(tmp_path / "m" / name, MASKS[1]) for name in ("1_gt.png", "1_mask.png", "a.png")]
    with pytest.raises(ValueError, match=r"1_mask.png: expected one mask of that name, got 1_gt.png too"):
        show(runner, [maps, masks])
    with pytest.raises(ValueError, match=r"/a.png: expected its map a.tiff in .*, got none$"):
        show(runner, [maps, masks[2:]])
