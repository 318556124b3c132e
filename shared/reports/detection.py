"""A folder to look at: the numbers, and the images with the most errors. Needs Pillow."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..detection.words import OUTCOME_WORDS, one_to_one_rules
from ..evaluation.box_outcomes import OUTCOMES, BoxOutcome, box_outcomes, count_outcomes, worst_images
from ..evaluation.detection import Results, summary
from ..evaluation.error_examples import ErrorExample, error_examples
from ..formats.boxes.dataset import Dataset, Detections
from ..formats.written.atomic import write_files
from .colors import DASHED, OUTCOME_COLORS
from .fates import fates_html
from .pictures import MAX_WITHOUT_OBJECT, draw_image

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Open-set detection</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 1320px; margin: 2rem auto; padding: 0 1rem; color: #222; }}
pre {{ background: #f5f5f5; padding: 1rem; overflow-x: auto; }}
figure {{ margin: 2rem 0; }}
img {{ max-width: 100%; height: auto; border: 1px solid #ccc; }}
.key {{ display: inline-block; margin-right: 1.5rem; white-space: nowrap; }}
.key i {{ display: inline-block; width: 1.6em; height: 1em; border: 3px solid; vertical-align: -0.15em; }}
</style>
<h1>Open-set detection</h1>
<pre>{summary}</pre>
{errors}
<h2>{title}</h2>
<p>{legend}</p>
<p>{note}</p>
{figures}
</html>
"""
_NOTE = (
    "Boxes are matched at IoU ≥ {iou:g}, whatever their classes, those with a confidence of at least {confidence:g}."
    " Images are ranked by their errors: missed objects, wrong classes, known objects called unknown, unknown ones"
    " taken for known. Of boxes that match no object, the {alone} most confident of an image are drawn."
)


def write_report(
    detections: Detections,
    results: Results,
    folder: str | Path,
    known_classes: Sequence[int],
    *,
    images: int = 20,
    progress: bool = False,
    **options: Any,
) -> Path:
    """Draw the images with the most errors, and write a page with them and the results.

    Parameters: detections; results of `evaluate_detections`; folder, made if there is none; known_classes, ids; images,
    at most how many are drawn; progress, whether to show a bar on a terminal; options of the metric.

    Returns the path of the page, index.html. Raises OSError for a folder that cannot be made or written to, in which
    an earlier report stays as it is then, and ValueError for one whose images would be overwritten.
    """
    from tqdm import tqdm

    folder = Path(folder)
    rules = one_to_one_rules({**options, "known_classes": known_classes})
    boxes = box_outcomes(detections, rules)
    names = {rules.unknown_class_id: "unknown", **detections.dataset.classes}
    worst = worst_images(boxes, images)
    files = [f"{rank:03}.png" for rank in range(1, len(worst) + 1)]
    dataset, page = detections.dataset, folder / "index.html"
    openset = results["openset_metrics"]
    examples = error_examples(detections, **{**options, "known_classes": known_classes}) if "fates" in openset else []
    of_kinds = [f"error_{number:02}.png" for number in range(1, len(examples) + 1)]
    _check_no_image(dataset, [folder / file for file in (*files, *of_kinds)])

    def contents() -> Iterator[tuple[Path, str | bytes]]:
        for file, place in tqdm(list(zip(files, worst)), unit=" pictures", disable=None if progress else True):
            picture = io.BytesIO()
            draw_image(boxes[place], names, dataset.paths[place], dataset.sizes[place]).save(picture, "PNG")
            yield folder / file, picture.getvalue()
        for file, example in zip(of_kinds, examples):
            picture, place = io.BytesIO(), example.image
            draw_image(example.boxes, names, dataset.paths[place], dataset.sizes[place]).save(picture, "PNG")
            yield folder / file, picture.getvalue()
        yield page, text

    note = _NOTE.format(iou=rules.iou_threshold, confidence=rules.conf_threshold, alone=MAX_WITHOUT_OBJECT)
    title = f"{len(worst)} of {len(boxes)} images, those with the most errors" if worst else "No image has an error"
    figures = [_figure(file, dataset.names[place], boxes[place]) for file, place in zip(files, worst)]
    text = _PAGE.format(
        summary=escape(summary(results)),
        errors=_errors_html(openset, dict(zip(of_kinds, examples)), dataset) if "fates" in openset else "",
        title=title,
        legend=_legend(),
        note=note,
        figures="\n".join(figures),
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_files(contents())
    return page


def _check_no_image(dataset: Dataset, pictures: Sequence[Path]) -> None:
    """Raise ValueError if a picture would overwrite an image of the data set."""
    by_name = {path.name: path for path in pictures if path.exists()}
    for image in dataset.paths:
        if image is not None and image.name in by_name and image.samefile(by_name[image.name]):
            raise ValueError(f"{image.parent}: expected another folder than that of the images")


def _errors_html(results: Mapping[str, Any], examples: Mapping[str, ErrorExample], dataset: Dataset) -> str:
    """The fates, the errors, and a picture of each kind."""
    figures = [
        f'<figure><img src="{file}" alt="{escape(example.error)}"><figcaption><b>{escape(example.error)}</b>, in'
        f" {escape(dataset.names[example.image])}</figcaption></figure>"
        for file, example in examples.items()
    ]
    note = "<p>One of each kind, the most confident; its object is dashed.</p>" if figures else ""
    return "\n".join([fates_html(results["fates"], results["errors"]), note, *figures])


def _legend() -> str:
    keys = []
    for outcome in OUTCOMES:
        style = f"border-color: {OUTCOME_COLORS[outcome]}; border-style: {'dashed' if outcome in DASHED else 'solid'}"
        keys.append(f'<span class="key"><i style="{style}"></i> {OUTCOME_WORDS[outcome]}</span>')
    return "\n".join(keys)


def _figure(file: str, name: str, boxes: Sequence[BoxOutcome]) -> str:
    counts = count_outcomes(boxes)
    words = "; ".join(f"{OUTCOME_WORDS[outcome]}: {counts[outcome]}" for outcome in OUTCOMES if counts[outcome])
    caption = f"<b>{escape(name)}</b>: {escape(words)}"
    return (
        f'<figure><img src="{file}" alt="{escape(name)}: {escape(words)}"><figcaption>{caption}</figcaption></figure>'
    )
