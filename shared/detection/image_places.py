"""The order of images by their boxes, independent of the order of images and of boxes.

Images are ordered by the bytes of their sorted boxes. The first coordinate of an image's first box nearly always
decides, and so only images that share it are compared whole.
"""

from __future__ import annotations

import numpy as np

from .boxes import DetectionState
from .corners import repeats_zeros


def places_of_images(state: DetectionState) -> np.ndarray:
    """The place of each image among the distinct ones, (N,) int64."""
    numbers, predictions = state["num_predictions"], state["predictions"]
    groups = _groups_by_first_box(numbers, predictions, state["prediction_remainders"])
    alike = np.bincount(groups)[groups] > 1
    content = _contents(numbers, predictions, state["prediction_remainders"], alike)
    objects = np.column_stack([state["references"], state["ignored"]])
    true = _contents(state["num_references"], objects, state["reference_remainders"], alike)
    images = [*zip(groups.tolist(), content, true)]
    place = {image: i for i, image in enumerate(sorted(set(images)))}
    return np.asarray([place[image] for image in images], dtype=np.int64)


def _groups_by_first_box(numbers: np.ndarray, boxes: np.ndarray, remainders: np.ndarray) -> np.ndarray:
    """Groups of images by the x1 of their first boxes, in the order of its bytes; 0 for images without boxes."""
    some = np.flatnonzero(numbers)
    groups = np.zeros(len(numbers), np.int64)
    if len(some):
        rows, starts = np.arange(len(boxes)), np.cumsum(numbers)[some] - numbers[some]
        image = np.repeat(np.arange(len(some)), numbers[some])
        columns = [*boxes.T] if repeats_zeros(remainders) else [*boxes.T, *remainders.T]
        for column in reversed(columns):  # the last counts first
            if len(rows) == len(some):
                break
            values = column[rows]
            first = values == np.minimum.reduceat(values, starts)[image]
            rows, image = rows[first], image[first]
            starts = np.flatnonzero(np.diff(image, prepend=-1))
        keys = (boxes[rows[starts], 0] + 0.0).view(np.uint64)  # 0.0 for −0.0
        in_bytes = keys.astype("<u8").view(">u8")
        groups[some] = 1 + np.unique(in_bytes, return_inverse=True)[1]
    return groups


def _contents(numbers: np.ndarray, boxes: np.ndarray, remainders: np.ndarray, chosen: np.ndarray) -> list[bytes]:
    """The boxes of chosen images, sorted, as bytes; none of the others."""
    rows, numbers = np.repeat(chosen, numbers), np.where(chosen, numbers, 0)
    table = np.concatenate([boxes[rows], remainders[rows]], axis=1) + 0.0  # 0.0 for −0.0
    image = np.repeat(np.arange(len(numbers)), numbers)
    content = table[np.lexsort((*table.T, image))].tobytes()
    ends = (np.cumsum(numbers) * table.itemsize * table.shape[1]).tolist()
    return [content[start:end] for start, end in zip([0, *ends], ends)]
