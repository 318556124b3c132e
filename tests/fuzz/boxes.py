"""Boxes of detectors and data sets in every format, from files to the numbers of the metric."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from random import Random
from typing import Any

from openworld_metrics import reading
from openworld_metrics.faces.summaries import summary
from openworld_metrics.suites import evaluate_detections
from tests.detection import scenes
from tests.fuzz.contents import Files, damaged_files, torch_bytes
from tests.fuzz.engine import Case, Input, Refused, Target, check_results
from tests.fuzz.values import torch

POOL = 12  # data sets of each format; what differs is what is wrong with them


@functools.cache
def data_set(name: str, seed: int) -> Input:
    """Files of a random data set and its predictions as a format has them, and the arguments of the reader."""
    scene = scenes.scene(seed, 3, ignored=0.2)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        written = scenes.WRITERS[name](scene, root)
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        places = {side: str(written.pop(side).relative_to(root)) for side in ("predictions", "references")}
    if name == "dicts" and seed % 2 and torch is not None:
        sides = {"predictions.pt": scene.predictions, "references.pt": scene.dataset.references}
        files = {file: torch_bytes(Random(seed), _tensors(images)) for file, images in sides.items()}
        places = dict(zip(places, files))
    return Input(files, {**places, "options": {"unknown_class_id": scenes.UNKNOWN_ID, **written}})


def _tensors(images: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: torch.from_numpy(array) for key, array in boxes.items()} for boxes in images]


def make(name: str, rng: Random) -> Input:
    """One of the pool."""
    return data_set(name, rng.randrange(POOL))


def damage_set(rng: Random, value: Input) -> Input:
    """Something wrong with a file, with which files there are, or with an argument."""
    if rng.random() < 0.9:
        return value._replace(files=damaged_texts(rng, value.files))
    names = rng.choice((None, {}, {0: "cat"}, {0: "cat", 1: "cat"}, dict(scenes.NAMES), {-1: "x", 2**60: "cat"}))
    odd: tuple[dict[str, Any], ...] = (
        {"classes": names},
        {"split": rng.choice(("val", "train", "x", "", "../x", "\x00"))},
        {"images": rng.choice(("images", "images/val", "JPEGImages", "nowhere", "data.yaml", "\x00"))},
        {"unknown_class_id": rng.choice((-1, 0, 999, -(2**63), 2**63))},
        {"one_based": False},
    )
    return value.with_value(options={**value.values["options"], **rng.choice(odd)})


def damaged_texts(rng: Random, files: Files) -> Files:
    """Damaged files, mostly the texts: of images only the size is read."""
    texts = {name: data for name, data in files.items() if not name.endswith(".png")}
    return {**files, **damaged_files(rng, texts)} if rng.random() < 0.9 else damaged_files(rng, files)


def run(case: Case) -> None:
    """Read, and compute what the command computes, with the standard metrics now and then."""
    predictions, references, options = (case.values[key] for key in ("predictions", "references", "options"))
    detections = case.attempt(reading.read_detections, predictions, references, **options)
    if isinstance(detections, Refused):
        return
    standard = len(detections.dataset.names) % 2 == 0
    more = dict(unknown_class_id=scenes.UNKNOWN_ID, per_class=True, per_image=True, standard=standard)
    results = case.attempt(evaluate_detections, detections, scenes.KNOWN, **more)
    if not isinstance(results, Refused):
        check_results(results["openset_metrics"])
        summary(results)


TARGETS = {f"boxes of {name}": Target(functools.partial(make, name), run, damage_set) for name in scenes.WRITERS}
