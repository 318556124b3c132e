"""The images of a group that are judged worst, with their pictures. Needs Pillow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..evaluation.anomaly_run import AnomalyRun, ScoredImage, images_of
from ..evaluation.map_reading import MapAndMask, map_reader, reading_options
from .anomaly_pictures import contour_picture, heat_picture, image_picture, mask_picture

_File = tuple[str, bytes]


class Model(NamedTuple):
    """A run, and its thresholds in a group: of images and of pixels; None for a level that was not judged."""

    run: AnomalyRun
    image_threshold: float | None
    pixel_threshold: float | None


def model_of(run: AnomalyRun, group: str) -> Model:
    """A run with its thresholds in one of its groups: those of the best F1."""
    table = run.results["groups"]
    at = table["group"].index(group)
    image, pixel = (table.get(f"{level}_f1_max_threshold") for level in ("image", "pixel"))
    return Model(run, image and image[at], pixel and pixel[at])


def worst_scored_images(group: str, model: Model, count: int) -> Iterator[tuple[str, list[ScoredImage]]]:
    """The anomalous images with the lowest scores, and the normal ones with the highest, each with a title."""
    threshold = model.image_threshold
    images = sorted(images_of(model.run, group), key=lambda image: image.score)
    for anomalous, title, verb in ((True, "Missed defects", "at or below"), (False, "False alarms", "above")):
        own = [image for image in images if image.anomalous == anomalous]
        kind = "anomalous" if anomalous else "normal"
        if threshold is None:
            said = f"{len(own)} {kind} images"
        else:
            wrong = sum((image.score > threshold) != anomalous for image in own)
            said = f"{wrong} of {len(own)} {kind} images score {verb} {threshold:.4g}"
        chosen = own[:count] if anomalous else own[::-1][:count]
        if chosen:
            order = "lowest" if anomalous else "highest"
            yield f"{title}: {said}; here are the {len(chosen)} {order}", chosen


def figures_of(chosen: Sequence[ScoredImage], models: Sequence[Model]) -> Iterator[tuple[ScoredImage, list[_File]]]:
    """The pictures of some images, with one scale of colours for each model's maps."""
    read: list[list[MapAndMask]] = []
    for model in models:
        reader = map_reader(model.run.listed, **reading_options(model.run.results["evaluation"]))
        pairs = {(image.category, image.name): (image, path) for image, path in model.run.listed.pairs}
        read.append([reader(pairs[one.image.category, one.image.name]) for one in chosen])
    scales = [_scale([content.score_map for content in contents]) for contents in read]
    for image, *contents in zip(chosen, *read):
        score_map, mask = contents[0].score_map, contents[0].masks.mask
        path = image.image.image
        files: list[_File] = []
        if path is not None:
            files.append(("image.jpg", image_picture(path, score_map.shape)))
        for i, (content, model, (low, high)) in enumerate(zip(contents, models, scales)):
            picture = heat_picture(content.score_map, low, model.pixel_threshold, high)
            files.append((f"map{i + 1}.png", picture))
        files.append(("mask.png", mask_picture(mask)))
        files.append(("contours.jpg", contour_picture(path, score_map, mask, models[0].pixel_threshold)))
        yield image, files


def _scale(maps: Sequence[np.ndarray]) -> tuple[float, float]:
    """The lowest and the highest finite score of some maps."""
    ends = [(float(part.min()), float(part.max())) for part in (one[np.isfinite(one)] for one in maps) if len(part)]
    low, high = min((low for low, _ in ends), default=0.0), max((high for _, high in ends), default=1.0)
    return (low, high) if low < high else (low, low + 1)


_PANELS = {"image": "image", "map1": "map", "map2": "map of the other", "mask": "mask", "contours": "contours"}


def figure_html(image: ScoredImage, files: Sequence[str], models: Sequence[Model]) -> str:
    """An image as a figure of the page: its pictures, by the names of their files, and what it was called."""
    panels = []
    for file in files:
        said = _PANELS[Path(file).stem.partition("-")[2]]
        alt = escape(f"{image.image.name}: {said}")
        panels.append(f'<div><a href="{file}"><img loading="lazy" src="{file}" alt="{alt}"></a>{said}</div>')
    threshold = models[0].image_threshold
    verdict = ""
    if threshold is not None:
        called = "anomalous" if image.score > threshold else "normal"
        verdict = f", called {called}"
    true = "anomalous" if image.anomalous else "normal"
    caption = f"<b>{escape(image.image.name)}</b>: {true}{verdict}, score {image.score:.4g}"
    return f'<figure><div class="panels">{"".join(panels)}</div><figcaption>{caption}</figcaption></figure>'
