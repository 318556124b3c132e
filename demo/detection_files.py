"""Write the demo's canvases as a YOLO data set, with the detector's predictions, for `make demo-detection`.

python -m demo.detection_files [FOLDER]    by default demo/pasted-digits

FOLDER/data.yaml               names of the ten digits, and the folder of the images
FOLDER/images/val/000.png      the canvases
FOLDER/labels/val/000.txt      the true boxes
FOLDER/predictions/000.txt     the predicted boxes, with class 999 for "unknown"
FOLDER/CREDITS.md              authors and licence of the digits
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import yaml
from PIL import Image

from demo.detection import UNKNOWN, detect_digits
from demo.digits import recognise_digits
from demo.writers import write_yolo, write_yolo_predictions
from openworld_metrics.answers.credits import PASTED_DIGITS
from openworld_metrics.reading import Detections, read_dict_predictions, read_dicts

UNKNOWN_ID = 999
NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_WHITE = 16  # among the canvases' grey values


def main(folder: Path) -> None:
    """Detect the digits and write all files."""
    detections, pictures = pasted_digits()
    dataset = detections.dataset
    images = folder / "images" / "val"
    images.mkdir(parents=True, exist_ok=True)
    for name, picture in zip(dataset.names, pictures):
        picture.save(images / f"{name}.png")
    write_yolo(dataset, folder / "labels" / "val")
    write_yolo_predictions(detections, folder / "predictions")
    content = {"path": ".", "val": "images/val", "names": dict(enumerate(NAMES))}
    (folder / "data.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    (folder / "CREDITS.md").write_text(PASTED_DIGITS.notice, encoding="utf-8")


def pasted_digits() -> tuple[Detections, list[Image.Image]]:
    """The predicted and true boxes, and the canvases as images."""
    detected = detect_digits(recognise_digits())
    true = [{"boxes": boxes[:, :4], "labels": boxes[:, 4]} for boxes in detected.references]
    predicted = [
        {
            "boxes": boxes[:, :4],
            "scores": boxes[:, 4],
            "labels": np.where(boxes[:, 5] == UNKNOWN, UNKNOWN_ID, boxes[:, 5]),
        }
        for boxes in detected.predictions
    ]
    dataset = read_dicts(true)
    height, width = detected.canvases.shape[1:]
    dataset = dataset._replace(
        names=[f"{int(name):03}" for name in dataset.names], sizes=[(width, height)] * len(dataset.names)
    )
    greys = np.clip(detected.canvases / _WHITE, 0, 1) * 255
    images = [Image.fromarray(grey.round().astype(np.uint8)) for grey in greys]
    return Detections(dataset, read_dict_predictions(predicted, dataset).predictions), images


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "pasted-digits")
