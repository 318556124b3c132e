"""Select a model's worst images of a group, by kind of error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...reading.maps.maps import MapAndMask, map_reader, reading_options
from ...suites.anomaly import ScoredImage
from .models import Model


class Worst(NamedTuple):
    """An image to show: its group, its kind of error, its rank among these, and the image."""

    group: str
    kind: str
    rank: int
    image: ScoredImage


def worst_images(model: Model, group: str, count: int) -> Iterator[Worst]:
    """The images of a group with errors, and detected images with mostly uncovered defects."""
    threshold = model.threshold(group, "image")
    images = sorted(model.images(group), key=lambda image: image.score)
    anomalous = [image for image in images if image.anomalous]
    normal = [image for image in images[::-1] if not image.anomalous]
    if threshold is None:
        for kind, own in (("lowest", anomalous), ("highest", normal)):
            yield from (Worst(group, kind, rank, image) for rank, image in enumerate(own[:count]))
        return
    missed = [image for image in anomalous if image.score <= threshold]
    alarms = [image for image in normal if image.score > threshold]
    for kind, own in (("missed", missed), ("alarm", alarms)):
        yield from (Worst(group, kind, rank, image) for rank, image in enumerate(own[:count]))
    if model.threshold(group, "pixel") is not None:
        detected = [image for image in anomalous if image.score > threshold and image.marked]
        shares = [
            (_covered(model, group, content), image) for image, content in zip(detected, read_maps(model, detected))
        ]
        partly = sorted((pair for pair in shares if pair[0] < 0.5), key=lambda pair: pair[0])
        yield from (Worst(group, "partly", rank, image) for rank, (_, image) in enumerate(partly[:count]))


def _covered(model: Model, group: str, content: MapAndMask) -> float:
    """The fraction of an image's anomalous pixels above the threshold."""
    threshold = model.threshold(group, "pixel")
    mask = content.masks.mask
    return 1.0 if threshold is None or not mask.any() else float((content.score_map[mask] > threshold).mean())


def read_maps(model: Model, images: Sequence[ScoredImage]) -> Iterator[MapAndMask]:
    """The map and the masks of each image, read one by one."""
    read = map_reader(model.run.listed, **reading_options(model.run.results["evaluation"]))
    pairs = {pair[0].key: pair for pair in model.run.listed.pairs}
    return (read(pairs[one.image.key]) for one in images)
