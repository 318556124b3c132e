"""Images of a state by what they are, so that their order does not depend on how they came."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from ..arrays.arrays import to_numpy
from .maps import AnomalyState
from .spro import regions_of


def kinds_of_images(state: AnomalyState) -> np.ndarray:
    """Of each image, its label and whether it has normal and anomalous pixels, in three bits."""
    columns = (state["image_labels"], state["num_normal"], state["num_regions"])
    anomalous, normal, regions = (to_numpy(column).astype(np.int64) > 0 for column in columns)
    return 4 * anomalous + 2 * normal + regions


def canonical_order(state: AnomalyState) -> np.ndarray:
    """The images by their scores, and those of one score by what their pixels and regions are."""
    scores, contents = to_numpy(state["image_scores"]), [*_contents(state)]
    return np.asarray(sorted(range(len(scores)), key=lambda i: (scores[i], contents[i])), np.int64)


def _contents(state: AnomalyState) -> Iterator[bytes]:
    """A digest of each image's pixels, whatever type they came in, and of its regions."""
    normal = np.split(to_numpy(state["normal"]), np.cumsum(to_numpy(state["num_normal"])))
    regions = [
        (
            np.split(each.sizes, np.cumsum(each.numbers)),
            np.split(to_numpy(each.scores), np.cumsum(each.num_pixels)),
        )
        for each in regions_of(state).values()
    ]
    for i in range(len(normal) - 1):
        digest = hashlib.blake2b(digest_size=16)
        for part in (normal[i], *(column[i] for pair in regions for column in pair)):
            digest.update((part.astype(np.float64) + 0.0).tobytes())  # 0.0 for −0.0
        yield digest.digest()
