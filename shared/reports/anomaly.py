"""A folder to look at: numbers, curves, and of each group the images that are judged worst. Needs Pillow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.options import as_fractions
from ..evaluation.anomaly import AnomalyRun, ScoredImage, images_of
from ..evaluation.anomaly_groups import differences
from ..evaluation.anomaly_text import described, difference_rows, group_rows
from ..evaluation.map_reading import MapAndMask, map_reader
from ..formats.writing import write_files
from .anomaly_charts import Line, curves_svg, histogram_svg
from .anomaly_page import CONTOURS, MODELS, PAGE, SCORES, table_html
from .anomaly_pictures import contour_picture, heat_picture, image_picture, mask_picture

_File = tuple[str, bytes]


class _Model(NamedTuple):
    """A run, and its thresholds in a group: of images and of pixels; None for a level that was not judged."""

    run: AnomalyRun
    image_threshold: float | None
    pixel_threshold: float | None


def write_anomaly_report(
    run: AnomalyRun, folder: str | Path, *, other: AnomalyRun | None = None, images: int = 5, progress: bool = False
) -> Path:
    """Write a page with the tables, the curves, and of each group the images with the worst scores.

    Parameters: run, of `evaluate_maps` with curves=True; folder, made if there is none; other, the run of another
    model on the same images; images, at most how many missed defects and how many false alarms are drawn of a group;
    progress, whether to show a bar on a terminal.

    Returns the path of the page, index.html. Raises OSError for a folder that cannot be made or written to, in which
    an earlier report stays as it is then, and ValueError for one among the files that were read.
    """
    from tqdm import tqdm

    folder = Path(folder)
    read = [run.listed.folder, run.listed.data.folder, *([other.listed.folder] if other else [])]
    check_report_folder(folder, read)
    page = folder / "index.html"
    sections = [_head(run, other)]

    def contents() -> Iterator[tuple[Path, str | bytes]]:
        number = 0
        for group in tqdm(list(run.groups), unit=" groups drawn", disable=None if progress else True):
            models = [_model(one, group) for one in (run, other) if one is not None]
            sections.append(_charts(group, models))
            for title, chosen in _worst(group, models[0], images):
                sections.append(f"<h3>{escape(title)}</h3>\n<p>{CONTOURS}</p>")
                figures = []
                for image, files in _figures(chosen, models):
                    number += 1
                    named = {f"{number:04}-{name}": picture for name, picture in files}
                    yield from ((folder / name, picture) for name, picture in named.items())
                    figures.append(_figure(image, list(named), models))
                sections.append('<div class="figures">' + "\n".join(figures) + "</div>")
        yield page, PAGE.format(body="\n".join(sections))

    folder.mkdir(parents=True, exist_ok=True)
    write_files(contents())
    return page


def check_report_folder(folder: Path, read: Sequence[Path]) -> None:
    """Raise ValueError for a report that would lie among the files that are read."""
    for place in read:
        if folder.resolve().is_relative_to(place.resolve()):
            raise ValueError(f"{folder}: expected a report outside of {place}, which is read")


def _head(run: AnomalyRun, other: AnomalyRun | None) -> str:
    """What was evaluated, and the tables."""
    parts = [f"<p>{escape(described(run.results))}</p>", table_html(group_rows(run.results))]
    if other is not None:
        parts += [f"<p>{escape(described(other.results))}</p>", table_html(group_rows(other.results))]
        table = difference_rows(differences(run.results, other.results))
        parts += ["<p>The first minus the second</p>", table_html(table, signed=True)]
    record = run.results["evaluation"]
    options = ", ".join(f"{name} {_words(value)}" for name, value in record["options"].items())
    versions = ", ".join(f"{name} {value}" for name, value in record["versions"].items())
    return "\n".join([*parts, f'<p class="quiet">{escape(options)}. {escape(versions)}.</p>'])


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _model(run: AnomalyRun, group: str) -> _Model:
    table = run.results["groups"]
    at = table["group"].index(group)
    image, pixel = (table.get(f"{level}_f1_max_threshold") for level in ("image", "pixel"))
    return _Model(run, image and image[at], pixel and pixel[at])


def _charts(group: str, models: Sequence[_Model]) -> str:
    """The curves and the histograms of a group."""
    kinds = {
        "image_roc": ("ROC of images", "true-positive rate", "image_auroc", 1.0),
        "pixel_roc": ("ROC of pixels", "true-positive rate", "pixel_auroc", 1.0),
    }
    limits = as_fractions(models[0].run.results["evaluation"]["options"]["integration_limits"], "integration_limits")
    reach = max(limits)
    kinds["pro"] = ("Overlap of regions", "mean overlap (PRO)", f"aupro@{reach}", reach)
    names = [str(model.run.listed.folder) for model in models]
    charts = []
    for kind, (title, label, key, end) in kinds.items():
        found = [(model, getattr(model.run.curves[group], kind)) for model in models if group in model.run.curves]
        lines = [Line(str(m.run.listed.folder), c, p) for (m, p), c in zip(found, ("first", "second")) if p]
        if lines:
            values = [table[key][table["group"].index(group)] for table in (m.run.results["groups"] for m in models)]
            said = " and ".join(f"{value:.3f}" for value in values)
            charts.append(curves_svg(f"{title}: {said}", lines, "false-positive rate", label, end))
    for model, name in zip(models, names):
        scores: tuple[list[float], list[float]] = ([], [])
        for image in images_of(model.run, group):
            scores[image.anomalous].append(image.score)
        title = "Scores of images" if len(models) == 1 else f"Scores, {name}"
        charts.append(histogram_svg(title[-44:], *scores, model.image_threshold))
    legend = f"<p>{MODELS.format(*map(escape, names))}</p>" if len(models) > 1 else ""
    body = "\n".join(f"<div>{chart}</div>" for chart in charts)
    return f'<h2>{escape(group)}</h2>\n{legend}<div class="charts">{body}</div>\n<p>{SCORES}</p>'


def _worst(group: str, model: _Model, count: int) -> Iterator[tuple[str, list[ScoredImage]]]:
    """The anomalous images with the lowest scores, and the normal ones with the highest, each with a title."""
    threshold = model.image_threshold
    images = sorted(images_of(model.run, group), key=lambda image: image.score)
    for anomalous, title, verb in ((True, "Missed defects", "below"), (False, "False alarms", "at or above")):
        own = [image for image in images if image.anomalous == anomalous]
        kind = "anomalous" if anomalous else "normal"
        if threshold is None:
            said = f"{len(own)} {kind} images"
        else:
            wrong = sum((image.score >= threshold) != anomalous for image in own)
            said = f"{wrong} of {len(own)} {kind} images score {verb} {threshold:.4g}"
        chosen = own[:count] if anomalous else own[::-1][:count]
        if chosen:
            order = "lowest" if anomalous else "highest"
            yield f"{title}: {said}; here are the {len(chosen)} {order}", chosen


def _figures(chosen: Sequence[ScoredImage], models: Sequence[_Model]) -> Iterator[tuple[ScoredImage, list[_File]]]:
    """The pictures of some images, with one scale of colours for each model's maps."""
    read: list[list[MapAndMask]] = []
    for model in models:
        reader = map_reader(model.run.listed, model.run.results["evaluation"]["resize"])
        pairs = {(image.category, image.name): (image, path) for image, path in model.run.listed.pairs}
        read.append([reader(pairs[one.image.category, one.image.name]) for one in chosen])
    scales = [_scale([content.score_map for content in contents]) for contents in read]
    for image, *contents in zip(chosen, *read):
        score_map, mask = contents[0]
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


def _figure(image: ScoredImage, files: Sequence[str], models: Sequence[_Model]) -> str:
    panels = []
    for file in files:
        said = _PANELS[Path(file).stem.partition("-")[2]]
        alt = escape(f"{image.image.name}: {said}")
        panels.append(f'<div><a href="{file}"><img loading="lazy" src="{file}" alt="{alt}"></a>{said}</div>')
    threshold = models[0].image_threshold
    verdict = ""
    if threshold is not None:
        called = "anomalous" if image.score >= threshold else "normal"
        verdict = f", called {called}"
    true = "anomalous" if image.anomalous else "normal"
    caption = f"<b>{escape(image.image.name)}</b>: {true}{verdict}, score {image.score:.4g}"
    return f'<figure><div class="panels">{"".join(panels)}</div><figcaption>{caption}</figcaption></figure>'
