"""Doubts about boxes: boxes outside of their images, class ids shifted by one, boxes within crowds.

Nothing here is an error, since a bad detector looks like this, too: each is counted, and said in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .dataset import Boxes, Dataset, Detections, labels_of

_SHARE = 0.01  # of an image whose size in pixels is not known, in place of a pixel
MATCH = 0.5  # the IoU from which boxes mean one object
_MOST_IMAGES = 1_000  # that are looked at for shifted ids
_FEWEST = 2  # objects that tell shifted ids


def doubts_of(several: Mapping[str, Detections]) -> list[str]:
    """Sentences, without capitals and full stops, on doubts about the boxes of detectors on one data set."""
    dataset = next(iter(several.values())).dataset
    notes = [*dataset.notes, _outside(dataset.references, dataset, "objects")]
    for name, one in several.items():
        boxes = f"predicted boxes of {name}" if len(several) > 1 else "predicted boxes"
        notes += [*one.notes, _outside(one.predictions, dataset, boxes), _shifted(one, boxes), _in_crowds(one, boxes)]
    return [note for note in notes if note]


def _outside(images: Sequence[Boxes], dataset: Dataset, what: str) -> str:
    """How many boxes leave their images by more than a pixel, or have their centres outside."""
    boxes = np.concatenate([np.zeros((0, 4)), *(image["boxes"] for image in images)])
    image = np.repeat(np.arange(len(images)), [len(image["boxes"]) for image in images])
    sizes = [(1, 1) if dataset.relative else size or (np.inf, np.inf) for size in dataset.sizes]
    size, slack = np.asarray(sizes, dtype=np.float64).reshape(-1, 2)[image], _SHARE if dataset.relative else 1.0
    centre = boxes[:, :2] / 2 + boxes[:, 2:] / 2
    astray = ((centre < 0) | (centre > size)).any(axis=1)
    beyond = ((boxes[:, :2] < -slack) | (boxes[:, 2:] > size + slack)).any(axis=1) | astray
    if not beyond.any():
        return ""
    far = "a hundredth of their size" if dataset.relative else "a pixel"
    text = f"{np.count_nonzero(beyond):,} of {len(boxes):,} {what} leave their images by more than {far}"
    text += f" (such as in {dataset.names[image[np.argmax(beyond)]]})"
    outside = np.count_nonzero(astray)
    return f"{text}, {outside:,} with the centre outside: are they in pixels of another size?" if outside else text


def _shifted(one: Detections, what: str) -> str:
    """A sentence where boxes give nearly all objects the next class id, and hardly one its own."""
    dataset = one.dataset
    classes = {*dataset.classes} or labels_of(dataset.references)
    ids = labels_of(one.predictions) & classes
    # ids that count from another number leave out the first or the last
    if not ids or (min(ids) == min(classes) and max(ids) == max(classes)):
        return ""
    pairs = [*zip(dataset.references, one.predictions)]
    pairs = [(true, predicted) for true, predicted in pairs if len(true["labels"]) and len(predicted["labels"])][
        :_MOST_IMAGES
    ]
    steps = np.concatenate([np.zeros(0, np.int64), *(_steps(true, predicted, classes) for true, predicted in pairs)])
    for step, (theirs, ours) in {1: (1, 0), -1: (0, 1)}.items():
        shifted = np.count_nonzero(steps == step)
        if shifted >= _FEWEST and 5 * shifted >= 4 * len(steps) and 20 * np.count_nonzero(steps == 0) <= len(steps):
            side = "after" if step > 0 else "before"
            counted = f"{shifted:,} of {len(steps):,} objects that {what} overlap get the class id {side} their own"
            return f"{counted}: do ids count from {theirs} there, and from {ours} in the references?"
    return ""


def _steps(true: Boxes, predicted: Boxes, classes: set[int]) -> np.ndarray:
    """How far the class id of the box that overlaps each object most is from its own, where they match."""
    ious, _ = overlaps(predicted["boxes"], true["boxes"])
    best = ious.argmax(axis=0)
    labels = predicted["labels"][best]
    return (labels - true["labels"])[(ious.max(axis=0) >= MATCH) & np.isin(labels, [*classes])]


def _in_crowds(one: Detections, what: str) -> str:
    """How many boxes lie within an ignored object of their class without matching it, or any other object."""
    count = sum(_number_in_crowds(true, predicted) for true, predicted in _with_crowds(one))
    if not count:
        return ""
    return (
        f"{count:,} {what} lie within ignored objects (crowds) that they overlap by an IoU below {MATCH}: COCO's"
        " evaluation, and so the standard metrics, leave them out; the open-set metrics count them"
    )


def _with_crowds(one: Detections) -> Iterator[tuple[Boxes, Boxes]]:
    for true, predicted in zip(one.dataset.references, one.predictions):
        if len(predicted["labels"]) and true["ignored"].any():
            yield true, predicted


def _number_in_crowds(true: Boxes, predicted: Boxes) -> int:
    ious, shares = overlaps(predicted["boxes"], true["boxes"])
    same = (predicted["labels"][:, None] == true["labels"]) & (true["ignored"] != 0)
    within = ((shares >= MATCH) & same).any(axis=1)
    return int(np.count_nonzero(within & ~(ious >= MATCH).any(axis=1)))


def overlaps(boxes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The IoU of each pair (n, m), and the share of the first box that lies in the second; 0 of no area."""
    low, high = np.maximum(boxes[:, None, :2], others[:, :2]), np.minimum(boxes[:, None, 2:], others[:, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1)[:, None]
    union = areas + (others[:, 2:] - others[:, :2]).prod(axis=1) - common
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(common / union), np.nan_to_num(common / areas)
