"""Open-set detection: test digits on canvases, detected as connected components, classified or called unknown.

Each digit is enlarged three times and pasted at a random free place of a noisy canvas; its true box encloses its ink.
The detector sees only the canvas: it thresholds, joins strokes that nearly touch, takes each component's box, resizes
the crop to 8 × 8 pixels and passes it to the classifier of `digits`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage

from demo.digits import NUM_KNOWN, Digits, class_logits, open_set_scores
from openworld_metrics import OpenSetDetection, match_boxes

UNKNOWN = -1
_SEED = 0
_NUM_CANVASES, _DIGITS_PER_CANVAS = 60, 8
_HEIGHT, _WIDTH = 120, 160
_SCALE, _SIDE = 3, 24
_GAP = 2  # pixels kept free between pasted digits; the detector bridges as many, so some digits merge
_NOISE, _INK = 1.0, 4.0  # grey values, of 16
_MIN_INK = 30  # pixels of the smallest component that counts as a digit
_EIGHT_CONNECTED = np.ones((3, 3), dtype=bool)

OUTCOMES = (
    "known, right class",
    "known, wrong class",
    "known, called unknown",
    "unknown, called unknown",
    "unknown, called known",
    "nothing there",
    "missed object",
)


class Detections(NamedTuple):
    """Canvases with true and predicted boxes.

    canvases: (N, 120, 160) grey values; predictions: per canvas (n, 6) rows x1, y1, x2, y2, confidence, class, with
    −1 for unknown; references: per canvas (m, 5) rows x1, y1, x2, y2, digit.
    """

    canvases: np.ndarray
    predictions: list[np.ndarray]
    references: list[np.ndarray]


def detect_digits(digits: Digits) -> Detections:
    """Paste every test digit at most once, and detect them."""
    rng = np.random.default_rng(_SEED)
    chosen = rng.permutation(len(digits.images))[: _NUM_CANVASES * _DIGITS_PER_CANVAS]
    scenes = [_paste(digits.images[group], digits.digits[group], rng) for group in chosen.reshape(_NUM_CANVASES, -1)]
    canvases = np.stack([canvas for canvas, _ in scenes])
    return Detections(canvases, [_detect(canvas, digits) for canvas in canvases], [boxes for _, boxes in scenes])


def _paste(images: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A canvas (120, 160) and the true boxes (m, 5)."""
    canvas, boxes = np.zeros((_HEIGHT, _WIDTH)), []
    free = np.ones((_HEIGHT - _SIDE + 1, _WIDTH - _SIDE + 1), dtype=bool)  # positions for the next digit's corner
    reach = _SIDE + _GAP
    for image, label in zip(images, labels):
        places = np.argwhere(free)
        top, left = places[rng.integers(len(places))].tolist()
        free[max(0, top - reach + 1) : top + reach, max(0, left - reach + 1) : left + reach] = False
        digit = np.kron(image, np.ones((_SCALE, _SCALE)))
        canvas[top : top + _SIDE, left : left + _SIDE] = digit
        x1, y1, x2, y2 = _extent(digit > 0)
        boxes.append([left + x1, top + y1, left + x2, top + y2, label])
    return canvas + rng.normal(0, _NOISE, canvas.shape), np.asarray(boxes)


def _extent(mask: np.ndarray) -> tuple[int, int, int, int]:
    """The smallest box x1, y1, x2, y2 around the true pixels."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1


def _detect(canvas: np.ndarray, digits: Digits) -> np.ndarray:
    """Predicted boxes (n, 6) of a canvas."""
    ink = canvas > _INK
    labels, number = ndimage.label(ndimage.binary_dilation(ink, _EIGHT_CONNECTED), _EIGHT_CONNECTED)
    parts = [labels == i for i in range(1, number + 1)]
    parts = [part for part in parts if np.count_nonzero(part & ink) >= _MIN_INK]
    if not parts:
        return np.zeros((0, 6))
    boxes = np.asarray([_extent(part & ink) for part in parts])
    crops = np.stack([_crop(np.where(part, canvas, 0.0), box) for part, box in zip(parts, boxes)])
    logits = class_logits(digits.model, crops)
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    confidence = (exponentials / exponentials.sum(axis=1, keepdims=True)).max(axis=1)
    classes = np.where(open_set_scores(logits) > digits.rejection, UNKNOWN, logits.argmax(axis=1))
    return np.column_stack([boxes, confidence, classes])


def _crop(canvas: np.ndarray, box: np.ndarray) -> np.ndarray:
    """The 24 × 24 pixels around the centre of a box, as 8 × 8 grey values 0 to 16."""
    x1, y1, x2, y2 = box.tolist()
    top, left = (y1 + y2 - _SIDE) // 2, (x1 + x2 - _SIDE) // 2
    padded = np.pad(canvas, _SIDE)[top + _SIDE : top + 2 * _SIDE, left + _SIDE : left + 2 * _SIDE]
    cells = padded.reshape(_SIDE // _SCALE, _SCALE, _SIDE // _SCALE, _SCALE).mean(axis=(1, 3))
    return np.clip(cells, 0, 16)


def outcomes(predictions: np.ndarray, references: np.ndarray) -> list[tuple[np.ndarray, str]]:
    """Name the outcome of every box of a canvas, as the metric counts it, at IoU 0.5.

    Returns (box, one of `OUTCOMES`): every predicted box (6,), then every unmatched true box (5,).
    """
    state = OpenSetDetection().reduce([predictions], [references])
    counts = state["num_predictions"], state["num_references"]
    rows, columns = match_boxes(state["predictions"], state["references"], *counts)
    matched = dict(zip(rows.tolist(), columns.tolist()))
    named = [
        (box, _outcome(int(box[5]), int(references[matched[i], 4])) if i in matched else "nothing there")
        for i, box in enumerate(predictions)
    ]
    missed = sorted(set(range(len(references))) - set(matched.values()))
    return named + [(references[i], "missed object") for i in missed]


def _outcome(predicted: int, true: int) -> str:
    if true >= NUM_KNOWN:
        return "unknown, called unknown" if predicted == UNKNOWN else "unknown, called known"
    if predicted == UNKNOWN:
        return "known, called unknown"
    return "known, right class" if predicted == true else "known, wrong class"
