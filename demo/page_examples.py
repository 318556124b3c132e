"""Write the data of the pages' examples into metrics/NAME/examples, reproducibly, for `make examples`.

python -m demo.page_examples [NAME …]    of some metrics; by default of all

NAME/examples/digits.npz          ood_bench: three detectors' scores; the open-set metrics: with logits; top-k: logits
NAME/examples/predictions.zip     openset_detection: boxes, references.zip and photographs.zip; anomaly_suite: maps
NAME/examples/answers.json        the answers of the example, with which a page opens
NAME/examples/CREDITS.md          authors and licences of what these are made from
"""

from __future__ import annotations

import io
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits, load_sample_image
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KDTree

from demo.anomaly_folder import DEFECTS, VIEWS, _features, _pixels, _view, patch_distance
from demo.detection import UNKNOWN, detect_digits
from demo.digits import Digits, recognise_digits
from openworld_metrics.answers.saved import save_examples
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.loading import METRICS

UNKNOWN_ID = 999
NUM_CANVASES, NUM_GOOD, NUM_EACH, TRAINING = 12, 3, 2, 12
_DECIMALS = 4  # on which all machines agree
Files = dict[str, dict[str, bytes]]  # file → member → content
_NOON = (2026, 1, 1, 12, 0, 0)  # the time in archives, so that their bytes do not depend on it
_FOLDER = Path(__file__).resolve().parent.parent / "metrics"


def main(names: Sequence[str]) -> None:
    """Compute and write the files of some metrics."""
    for name in names:
        credits, folder = subject_of(name).example.origin.notice, _FOLDER / name / "examples"
        for file, members in EXAMPLES[name]().items():
            save(folder / file, members)
        (folder / "CREDITS.md").write_text(credits, encoding="utf-8")
    save_examples(names)


@cache
def shuffled_digits() -> Digits:
    """The demo's digits in a random order."""
    digits = recognise_digits()
    order = np.random.default_rng(0).permutation(len(digits.digits))
    return digits._replace(
        images=digits.images[order],
        digits=digits.digits[order],
        logits=digits.logits[order],
        open_scores=digits.open_scores[order],
    )


def of_detectors() -> Files:
    """Three detectors' scores, with labels and OOD sets."""
    digits = shuffled_digits()
    scores = detector_scores(digits)
    sets = np.asarray([f"digit {digit}" if digit >= 6 else "known" for digit in digits.digits])
    bench = {**scores, "labels": digits.is_unknown.astype(np.int8), "dataset": sets}
    return {"digits.npz": arrays(bench)}


def open_set() -> Files:
    """Logits and classes, beside these scores."""
    digits = shuffled_digits()
    logits = digits.logits.round(_DECIMALS).astype(np.float32)
    references = digits.references.astype(np.int8)
    return {"digits.npz": arrays({"logits": logits, "references": references, **detector_scores(digits)})}


def detector_scores(digits: Digits) -> dict[str, np.ndarray]:
    """Three detectors of unknown digits; higher is more unknown."""
    largest = digits.logits.max(axis=1, keepdims=True)
    total = np.exp(digits.logits - largest).sum(axis=1)
    energy = -(largest[:, 0] + np.log(total))
    tested = {image.tobytes() for image in digits.images}
    training = [image.ravel() for image in load_digits().images if image.tobytes() not in tested]
    distances, _ = KDTree(np.asarray(training)).query(digits.images.reshape(len(digits.images), -1), k=5)
    scores = {"one_minus_msp": 1 - 1 / total, "energy": energy, "knn": distances[:, -1]}
    return {name: column.round(_DECIMALS).astype(np.float32) for name, column in scores.items()}


def ten_classes() -> Files:
    """Logits of all ten digits, by a classifier that has seen a tenth of them."""
    data = load_digits()
    pixels = data.data / 16
    seen = np.random.default_rng(0).permutation(len(pixels)) % 10 == 0  # every tenth in their order is 2, 3, 4 or 5
    model = LogisticRegression(C=0.1, max_iter=1000).fit(pixels[seen], data.target[seen])
    logits = model.decision_function(pixels[~seen]).round(_DECIMALS).astype(np.float32)
    return {"digits.npz": arrays({"logits": logits, "labels": data.target[~seen].astype(np.int8)})}


def boxes() -> Files:
    """Boxes of pasted digits in YOLO's format, with the canvases."""
    detections = detect_digits(recognise_digits())
    height, width = detections.canvases.shape[1:]
    files: Files = {"predictions.zip": {}, "references.zip": {}, "photographs.zip": {}}
    for i in range(NUM_CANVASES):
        predicted = detections.predictions[i].copy()
        predicted[:, 5] = np.where(predicted[:, 5] == UNKNOWN, UNKNOWN_ID, predicted[:, 5])
        files["predictions.zip"][f"{i:03}.txt"] = yolo_lines(predicted, width, height)
        files["references.zip"][f"{i:03}.txt"] = yolo_lines(detections.references[i], width, height)
        files["photographs.zip"][f"{i:03}.jpg"] = picture(np.clip(detections.canvases[i] / 16, 0, 1) * 255, "JPEG")
    return files


def yolo_lines(rows: np.ndarray, width: int, height: int) -> bytes:
    """Lines of class, cx, cy, w, h and, if there is one, the confidence."""
    corners = rows[:, :4] / [width, height, width, height]
    centre, size = (corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]
    cells = np.column_stack([centre, size, rows[:, 4:-1]])
    lines = [f"{int(row[-1])} " + " ".join(f"{cell:.6f}" for cell in line) for row, line in zip(rows, cells)]
    return "".join(f"{line}\n" for line in lines).encode()


def maps() -> Files:
    """Anomaly maps of views of a flower, masks of views with a defect, and the views."""
    rng = np.random.default_rng(1)
    photograph, corner = load_sample_image("flower.jpg").astype(np.float64), VIEWS["flower"]
    views = [_pixels(_view(photograph, corner, rng)).astype(np.float64) for _ in range(TRAINING)]
    training = KDTree(np.concatenate([_features(view).reshape(-1, 7) for view in views]))
    files: Files = {"predictions.zip": {}, "references.zip": {}, "photographs.zip": {}}
    for name, image, mask in _images(photograph, corner, rng):
        pixels = _pixels(image)
        score_map = np.round(100 * patch_distance(pixels.astype(np.float64), training).astype(np.float64))
        files["predictions.zip"][f"{name}.png"] = picture(score_map, "PNG", np.uint16)
        if mask is not None:
            files["references.zip"][f"{name}_mask.png"] = picture(255 * mask, "PNG")
        files["photographs.zip"][f"{name}.jpg"] = picture(pixels, "JPEG")
    return files


def _images(
    photograph: np.ndarray, corner: tuple[int, int], rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray, np.ndarray | None]]:
    """Yield name, view, and the mask of its defect, None for a view without one."""
    for number in range(NUM_GOOD):
        yield f"good_{number}", _view(photograph, corner, rng), None
    for name, defect in DEFECTS.items():
        for number in range(NUM_EACH):
            yield f"{name}_{number}", *defect(_view(photograph, corner, rng), rng)


def picture(array: np.ndarray, kind: str, dtype: type = np.uint8) -> bytes:
    """An image file."""
    file = io.BytesIO()
    Image.fromarray(np.round(array).astype(dtype)).save(file, kind, quality=85)
    return file.getvalue()


def arrays(content: Mapping[str, np.ndarray]) -> dict[str, bytes]:
    """Arrays as the members of an .npz archive."""
    members = {}
    for name, array in content.items():
        file = io.BytesIO()
        np.lib.format.write_array(file, array, allow_pickle=False)
        members[f"{name}.npy"] = file.getvalue()
    return members


def save(path: Path, members: Mapping[str, bytes]) -> None:
    """Write an archive with reproducible bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _NOON), content, zipfile.ZIP_DEFLATED, 9)


EXAMPLES: Mapping[str, Callable[[], Files]] = {
    "accuracyk": ten_classes,
    "autkc": ten_classes,
    "macro_open_f": open_set,
    "micro_open_f": open_set,
    "openauc": open_set,
    "ood_bench": of_detectors,
    "openset_detection": boxes,
    "anomaly_suite": maps,
}

if __name__ == "__main__":
    main(sys.argv[1:] or METRICS)
