"""Pictures of boxes: captions, legends, filters, boxes and the order count the same things by the same names."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
from hypothesis import given

from openworld_metrics.answers.answer import Image
from openworld_metrics.answers.box_errors import KINDS, errors_of
from openworld_metrics.answers.detection import SUBJECT
from openworld_metrics.faces.html import picture_of
from openworld_metrics.faces.images import filters_of, kinds_of, legend_of
from openworld_metrics.reading import Dataset, Detections
from tests import cases
from tests.answers.test_detection import computed
from tests.detection import slow_errors as slow
from tests.detection.test_protocols import as_lists, ignoring
from tests.examples import many, seeds

AUXILIARY = ("right", "object")  # roles of no error


def role(kind: str) -> str:
    """The role of a false positive."""
    if kind.startswith(("badly placed", "both")):
        return "misplaced"
    if kind.startswith("background"):
        return "nothing"
    return {"known called another known": "wrong", "known called unknown": "rejected", "duplicate": kind}.get(
        kind, "unknown"
    )


def roles_of(scene: slow.Scene, image: int) -> Counter[str]:
    """What a picture has to draw: each prediction that counts, and each object that none of them is about."""
    roles, boxed = Counter[str](), set[int | None]()
    for p in scene.predictions:
        if p.image == image and p.status == "TP":
            roles["right"] += 1
            boxed.add(p.object)
        elif p.image == image and p.status == "FP":
            kind, about = slow.kind(scene, p)
            roles[role(kind)] += 1
            roles["object"] += role(kind) == "misplaced"
            boxed.add(about)
    for i, (_, fate, _) in slow.fates(scene).items():
        if scene.objects[i].image == image and i not in boxed:
            roles["missed" if fate == "missed" else "unboxed"] += 1
    return +roles


def in_caption(image: Image) -> dict[str, int]:
    return {words: int(count) for count, words in re.findall(r"(\d+) ([^,;]+)", image.said)}


def in_legend(image: Image) -> dict[str, int]:
    entries = re.findall(r"</i>([^<]+)(?: <b>(\d+)</b>)?</li>", picture_of(image))
    return {words.strip(): int(count or 0) for words, count in entries}


@many
@given(seed=seeds)
def test_pictures_count_the_same_things_by_the_same_names(seed: int) -> None:
    columns, options = cases.draw("openset_detection", seed)
    flags = [image.tolist() for image in ignoring(columns, np.random.default_rng(seed), 0.2)]
    scene = slow.matched_scene(*as_lists(columns), flags, **options)
    references = [
        {"boxes": true[:, :4], "labels": true[:, 4].astype(int), "ignored": np.asarray(ignored, int)}
        for true, ignored in zip(columns["references"], flags)
    ]
    predictions = [
        {"boxes": rows[:, :4], "scores": rows[:, 4], "labels": rows[:, 5].astype(int)}
        for rows in columns["predictions"]
    ]
    number = len(references)
    names, sizes = [f"{image:02}" for image in range(number)], [(9, 9)] * number
    dataset = Dataset(names, references, {}, [None] * number, [*sizes], [*range(number)])
    of = computed(Detections(dataset, predictions), **options)
    errors = errors_of(of)
    assert errors is not None
    expected = [roles_of(scene, image) for image in range(number)]
    assert [Counter(box.role for box in errors.boxes(image)) for image in range(number)] == expected
    wrong = [sum(count for role, count in roles.items() if role not in AUXILIARY) for roles in expected]
    assert errors.errors.tolist() == wrong
    worst = sorted((image for image in range(number) if wrong[image]), key=lambda image: -wrong[image])
    shown = [*SUBJECT.images(of)]
    assert [image.name for image in shown] == [names[image] for image in worst]
    filters = filters_of(shown)
    for image, roles in zip(shown, (expected[place] for place in worst)):
        counts = {KINDS[role]: count for role, count in roles.items() if role not in AUXILIARY}
        assert in_caption(image) == counts
        assert in_legend(image) == {KINDS[role]: count * (role != "object") for role, count in roles.items()}
        assert {filters[key].lower() for key in kinds_of(image, filters)} == {*counts}
        assert Counter(box.role for box in image.boxes) == roles
    assert {words.lower() for words in filters.values()} == {words for image in shown for words in in_caption(image)}
    assert {*legend_of(shown)} == {words for image in shown for words in in_legend(image)}


def test_a_box_over_two_objects() -> None:
    """The card: both objects are "both", badly placed and misnamed; the box is about the one that it overlaps more."""
    true = {"boxes": np.asarray([[0.0, 0, 10, 10], [0, 10, 10, 20]]), "labels": np.asarray([3, 8])}
    predicted = {"boxes": np.asarray([[0.0, 1, 10, 20]]), "scores": np.asarray([0.9]), "labels": np.asarray([4])}
    dataset = Dataset(["a"], [{**true, "ignored": np.zeros(2, int)}], {}, [None], [(20, 20)], [0])
    of = computed(Detections(dataset, [predicted]), known_classes=[3, 4], unknown_class_id=9, iou_threshold=0.75)
    (image,) = SUBJECT.images(of)
    assert image.said == "1 badly placed, 1 without a box of its own"
    assert [(box.role, box.label, box.outcome) for box in image.boxes] == [
        ("misplaced", "4", "called 4 (0.90), is 8: badly placed, unknown called known"),
        ("object", "", "8"),
        ("unboxed", "3, no box of its own", "3: without a box of its own"),
    ]
