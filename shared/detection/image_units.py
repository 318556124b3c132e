"""Images as what is resampled: boxes of one image are not independent, so that resampling boxes says too much."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..metric.prepared_units import Units
from .boxes import DetectionState
from .counting import tally
from .protocols import results_by_counts


def detection_units(state: DetectionState, **options: Any) -> Units:
    """The images, in one stratum, for resampling; equal ones are one row, in the order of their boxes.

    Parameters: state of `reduce_boxes`; options of `detection_results`. Boxes are matched once, here. Results are those
    without tables. Where an image is missing from a resample, 0/0 is 0.0 as it is elsewhere; WI of protocol="owod" has
    to exist in each resample, else ValueError.
    """
    results = results_by_counts(state, **options)
    places = _places(state)
    counts = state.get("counts", np.ones(len(places), dtype=np.int64))
    first = np.unique(places, return_index=True)[1]  # of each row, an image

    def resampled(strata: Sequence[np.ndarray]) -> dict[str, Any]:
        numbers = np.zeros(len(places), dtype=np.int64)
        numbers[first] = strata[0]
        try:
            found = results(numbers)
        except ValueError as error:
            raise ValueError(f"among resampled images, {error}") from None
        return {name: value for name, value in found.items() if not isinstance(value, list)}

    def members() -> tuple[np.ndarray, np.ndarray]:
        return places, np.zeros_like(places)

    return Units((tally(places, counts, len(first)),), resampled, members)


def _places(state: DetectionState) -> np.ndarray:
    """The place of each image among the different ones; neither their order nor that of their boxes has a say in it."""
    found = _contents(state["num_predictions"], state["predictions"], state["prediction_remainders"])
    objects = np.column_stack([state["references"], state["ignored"]])
    images = [*zip(found, _contents(state["num_references"], objects, state["reference_remainders"]))]
    place = {image: i for i, image in enumerate(sorted(set(images)))}
    return np.asarray([place[image] for image in images], dtype=np.int64)


def _contents(numbers: np.ndarray, boxes: np.ndarray, remainders: np.ndarray) -> list[bytes]:
    """The boxes of each image, sorted, as bytes."""
    table = np.concatenate([boxes, remainders], axis=1) + 0.0  # 0.0 for −0.0
    image = np.repeat(np.arange(len(numbers)), numbers)
    content = table[np.lexsort((*table.T, image))].tobytes()
    ends = (np.cumsum(numbers) * table.itemsize * table.shape[1]).tolist()
    return [content[start:end] for start, end in zip([0, *ends], ends)]
