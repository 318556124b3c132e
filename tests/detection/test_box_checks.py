"""A first look at rows of boxes accepts none that the other checks refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from openworld_metrics.detection import boxes
from openworld_metrics.detection.boxes import BOX_FORMATS, reduce_boxes

ODD = [np.nan, np.inf, -np.inf, 2.0**52, 2.0**53, 2.0**53 + 2, 2.0**600, 1e308, -1e308, 5e-324, -0.0, 0.5, -1.0]


def tables(rng: np.random.Generator) -> list[np.ndarray]:
    """Four images of valid boxes, and in half of the cases up to three odd numbers."""
    rows = rng.integers(0, 9, (8, 6)).astype(np.float64)
    rows[:, 2:4] += rows[:, :2]
    for _ in range(max(0, int(rng.integers(-3, 4)))):
        rows[rng.integers(8), rng.integers(6)] = rng.choice(ODD)
    return np.split(rows, 4)


def outcome(call: Callable[..., Any], *values: Any, **options: Any) -> Any:
    try:
        return {name: column.tolist() for name, column in call(*values, **options).items()}
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("box_format", BOX_FORMATS)
def test_the_first_look(box_format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, refused, looked = np.random.default_rng(0), 0, 0
    for _ in range(500):
        images = tables(rng)
        objects = [image[:, [0, 1, 2, 3, 5]] for image in images]
        with monkeypatch.context() as patch:
            patch.setattr(boxes, "_are_plain", lambda *_: False)
            expected = outcome(reduce_boxes, images, objects, box_format=box_format)
        assert outcome(reduce_boxes, images, objects, box_format=box_format) == expected
        refused += isinstance(expected, str)
        looked += boxes._are_plain(np.concatenate(images), box_format)
    assert refused > 100
    assert looked > 100


@pytest.mark.parametrize("number", [1, 2, boxes._ROWS + 2])
def test_the_first_row_is_checked(number: int) -> None:
    table = np.tile([0.0, 0.0, 1.0, 1.0, 0.9, 1.0], (number, 1))
    table[0, 2] = -1.0
    with pytest.raises(ValueError, match=r"predictions\[0\]: "):
        reduce_boxes([table], [table[:0, :5]], "xyxy")


def test_an_error_names_the_image_and_the_row_in_it() -> None:
    """And comes from no other, whether it is found in a first look or while tables are read."""
    rows = np.asarray([[0.0, 0, 1, 1, 0.5, 0], [0, 0, 1, 1, np.nan, 0]])
    for second, place in ((rows, r"predictions\[1\]: .* in row 1$"), (rows[:, :5], r"predictions\[1\]: ")):
        with pytest.raises(ValueError, match=place) as error:
            reduce_boxes([rows[[0, 0, 0]], second], [np.zeros((0, 5))] * 2, "xyxy")
        assert error.value.__context__ is None


def test_a_table_alone_is_no_list_of_images() -> None:
    table = np.asarray([[0.0, 0.0, 1.0, 1.0, 0.9, 1.0]])
    with pytest.raises(TypeError, match="predictions: expected a list with one table or dict of boxes per image"):
        reduce_boxes(table, [table[:, :5]], "xyxy")


def as_dicts(images: list[np.ndarray], rng: np.random.Generator) -> list[Any]:
    """Boxes of images as dicts of arrays, and in some cases with an array of another type, shape or length."""
    dicts: list[Any] = [
        {"boxes": image[:, :4], "scores": image[:, 4], "labels": image[:, 5].astype(rng.choice(["int64", "float64"]))}
        for image in images
    ]
    image, key = dicts[rng.integers(len(dicts))], str(rng.choice(["boxes", "scores", "labels"]))
    change = rng.integers(9)
    if change == 0:
        image[key] = image[key][:1]
    elif change == 1:
        image[key] = image[key][None]
    elif change == 2:
        image[key] = image[key].astype(rng.choice(["float32", "U8", "complex128", "uint8"]))
    elif change == 3:
        image["labels"] = np.full(len(image["labels"]), 2**53 + 1)
    elif change == 4:
        del image[key]
    elif change == 5:
        image[key] = image[key].tolist()
    return dicts


@pytest.mark.filterwarnings("ignore")
def test_dicts_are_joined_at_once_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any dicts, the tables, or the error with the place, are those of images that are read alone."""
    rng, joined = np.random.default_rng(0), 0
    for _ in range(500):
        images = tables(rng)
        predictions = as_dicts(images, rng)
        objects = [{"boxes": image[:, :4], "labels": image[:, 5]} for image in images]
        for one in objects if rng.random() < 0.8 else objects[:2]:
            one["ignored"] = rng.integers(0, 3 if rng.random() < 0.05 else 2, len(one["labels"]))
        if rng.random() < 0.2:
            objects[0][str(rng.choice(["iscrowd", "ignored"]))] = rng.integers(0, 2, int(rng.integers(1, 3)))
        at_once = outcome_or_type(predictions, objects)
        with monkeypatch.context() as patch:
            patch.setattr(boxes, "_joined_column", refuse)
            assert at_once == outcome_or_type(predictions, objects)
        joined += isinstance(at_once, dict)
    assert 100 < joined < 400


def refuse(*_: Any) -> Any:
    raise TypeError


def outcome_or_type(*images: Any) -> Any:
    try:
        return outcome(reduce_boxes, *images, "xyxy")
    except TypeError as error:
        return str(error)
