"""What files state and no metric uses, and what speaks against boxes: laws on random data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from demo.writers import write_coco, write_coco_results
from openworld_metrics.reading.boxes.doubts import doubts_of
from openworld_metrics.reading.boxes.fields import LISTS, ROTATIONS
from openworld_metrics.reading.boxes.reading import read_detections, read_references
from openworld_metrics.reading.boxes.yolo_lines import read_texts
from tests.detection import scenes
from tests.examples import few, seeds
from tests.reading.boxes.test_lines import Text, tables


def written(seed: int, folder: Path) -> tuple[Any, dict[str, Any], list[dict[str, Any]]]:
    """A random data set with its predictions, and the contents of its files."""
    made = scenes.scene(seed, 6)
    write_coco(made.dataset, folder / "true.json")
    write_coco_results(made, folder / "found.json")
    return made, *(json.loads((folder / name).read_text()) for name in ("true.json", "found.json"))


def read_back(folder: Path) -> Any:
    """The detections in a folder, or the words of the error."""
    try:
        return read_detections(folder / "found.json", folder / "true.json", unknown_class_id=scenes.UNKNOWN_ID)
    except ValueError as error:
        return str(error)


def nested(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    return {path[0]: value if len(path) == 1 else nested(path[1:], value)}


@pytest.mark.parametrize("path", ROTATIONS["COCO"], ids=".".join)
@few
@given(seed=seeds)
def test_a_rotation_of_any_annotation_is_refused(
    path: tuple[str, ...], seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder, rng = tmp_path_factory.mktemp("coco"), np.random.default_rng(seed)
    _, true, _ = written(seed, folder)
    if not true["annotations"]:
        return
    place = int(rng.integers(len(true["annotations"])))
    for angle in (float(rng.uniform(0.1, 179)), 0.0, 180.0):
        for i, entry in enumerate(true["annotations"]):
            entry.update(nested(path, angle if i == place else 0))
        (folder / "other.json").write_text(json.dumps(true))
        if angle % 180:
            with pytest.raises(ValueError, match=rf"annotations\[{place}\]: expected {'.'.join(path)} to be 0"):
                read_references(folder / "other.json")
        else:
            plain, other = (read_references(folder / name) for name in ("true.json", "other.json"))
            assert str(plain.references) == str(other.references)


@pytest.mark.parametrize("field", LISTS)
@few
@given(seed=seeds)
def test_a_list_of_any_image_is_named(field: str, seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder, rng = tmp_path_factory.mktemp("coco"), np.random.default_rng(seed)
    _, true, _ = written(seed, folder)
    lists = [rng.integers(0, 4, int(rng.integers(0, 3))).tolist() for _ in true["images"]]
    for image, own in zip(true["images"], lists):
        image[field] = own
    (folder / "true.json").write_text(json.dumps(true))
    notes = doubts_of({"one": read_back(folder)})
    count = sum(map(bool, lists))
    assert [note for note in notes if field in note] == (
        [f"{count} of {len(lists)} images have {field}: {LISTS[field]}"] if count else []
    )


@few
@given(seed=seeds)
def test_boxes_that_leave_their_images_are_counted(seed: int) -> None:
    rng, made = np.random.default_rng(seed), scenes.scene(seed)
    moved, expected, outside = [], 0, 0
    for boxes, (width, height) in zip(made.predictions, made.dataset.sizes):
        by = rng.choice([0, 0, 1, -1, 2, 300], (len(boxes["boxes"]), 1))
        moved.append({**boxes, "boxes": boxes["boxes"] + by})
        for x1, y1, x2, y2 in moved[-1]["boxes"].tolist():
            astray = not (0 <= (x1 + x2) / 2 <= width and 0 <= (y1 + y2) / 2 <= height)
            outside += astray
            expected += astray or min(x1, y1) < -1 or x2 > width + 1 or y2 > height + 1
    notes = [note for note in doubts_of({"one": made._replace(predictions=moved)}) if "leave their images" in note]
    assert len(notes) == (expected > 0)
    if notes:
        assert notes[0].startswith(f"{expected} of {sum(map(len, (b['labels'] for b in moved)))} predicted boxes leave")
        assert (f", {outside} with the centre outside" in notes[0]) == (outside > 0)


@few
@given(seed=seeds)
def test_an_image_id_that_may_be_a_name_is_an_id_or_refused(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Names are the ids in another order: results by ids are read so, which is said; results by names are refused."""
    folder, rng = tmp_path_factory.mktemp("coco"), np.random.default_rng(seed)
    made, true, found = written(seed, folder)
    ids = [image["id"] for image in true["images"]]
    order = rng.permutation(len(ids)).tolist()
    for image, place in zip(true["images"], order):
        image["file_name"] = f"{ids[place]}.jpg"
    (folder / "true.json").write_text(json.dumps(true))
    used = {entry["image_id"] for entry in found}
    differ = any(ids.index(own) != order.index(ids.index(own)) for own in used)
    for name, results in {
        "ids": found,
        "names": [{**entry, "image_id": ids[order[ids.index(entry["image_id"])]]} for entry in found],
    }.items():
        (folder / "found.json").write_text(json.dumps(results))
        read = read_back(folder)
        if isinstance(read, str):
            assert "expected image_id to mean one image" in read
            assert name == "names"
            continue
        said = [note for note in read.notes if "all are taken as ids" in note]
        assert len(said) == differ or name == "names"
        if name == "ids":
            assert str(read.predictions) == str(made.predictions)


@few
@given(seed=seeds)
def test_a_confidence_in_the_second_column_is_refused_where_it_shows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = rng.uniform(0.05, 0.6, (6, 2))
    centre = size / 2 + rng.random((6, 2)) * (1 - size)
    rows = np.column_stack([rng.integers(0, 3, 6), rng.uniform(0.05, 1, 6), centre, size]).round(5)
    text = Text(*(" ".join(map(str, [int(row[0]), *row[1:].tolist()])) for row in rows))
    leaves = (np.abs(2 * rows[:, 1:3] - 1) + rows[:, 3:5] > 1.02).any()
    if leaves:
        with pytest.raises(ValueError, match="each line fits as class confidence cx cy w h; write the confidence last"):
            read_texts([text], confidence=True)
    last = Text(*(" ".join(map(str, [int(row[0]), *row[2:].tolist(), row[1]])) for row in rows))
    assert np.array_equal(tables(last, confidence=True)[0], rows[:, [0, 2, 3, 4, 5, 1]])
