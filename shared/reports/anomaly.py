"""A folder to look at: numbers, curves, and of each group the images that are judged worst. Needs Pillow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ..anomaly.aupro import by_limit
from ..arrays.options import as_fractions
from ..evaluation.anomaly_run import AnomalyRun, images_of
from ..evaluation.anomaly_text import described, difference_rows, group_rows
from ..evaluation.differences import differences
from ..formats.written.atomic import write_files
from .anomaly_worst import Model, figure_html, figures_of, model_of, worst_scored_images
from .charts import Line, curves_svg, histogram_svg
from .frame import FRAME
from .page import CONTOURS, MODELS, SCORES, check_report_folder, table_html


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
            models = [model_of(one, group) for one in (run, other) if one is not None]
            sections.append(_charts(group, models))
            for title, chosen in worst_scored_images(group, models[0], images):
                sections.append(f"<h3>{escape(title)}</h3>\n<p>{CONTOURS}</p>")
                figures = []
                for image, files in figures_of(chosen, models):
                    number += 1
                    named = {f"{number:04}-{name}": picture for name, picture in files}
                    yield from ((folder / name, picture) for name, picture in named.items())
                    figures.append(figure_html(image, list(named), models))
                sections.append('<div class="figures">' + "\n".join(figures) + "</div>")
        yield page, FRAME.format(title="Anomaly detection", body="\n".join(sections))

    folder.mkdir(parents=True, exist_ok=True)
    write_files(contents())
    return page


def _head(run: AnomalyRun, other: AnomalyRun | None) -> str:
    """What was evaluated, and the tables."""
    parts = [f"<p>{escape(described(run.results))}</p>", table_html(group_rows(run.results), mean=True)]
    if other is not None:
        parts += [f"<p>{escape(described(other.results))}</p>", table_html(group_rows(other.results), mean=True)]
        table = difference_rows(differences(run.results, other.results))
        parts += ["<p>The first minus the second</p>", table_html(table, signed=True, mean=True)]
    record = run.results["evaluation"]
    options = ", ".join(f"{name} {_words(value)}" for name, value in record["options"].items())
    versions = ", ".join(f"{name} {value}" for name, value in record["versions"].items())
    return "\n".join([*parts, f'<p class="quiet">{escape(options)}. {escape(versions)}.</p>'])


def _words(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _charts(group: str, models: Sequence[Model]) -> str:
    """The curves and the histograms of a group."""
    kinds = {
        "image_roc": ("ROC of images", "true-positive rate", "image_auroc", 1.0),
        "pixel_roc": ("ROC of pixels", "true-positive rate", "pixel_auroc", 1.0),
    }
    limits = as_fractions(models[0].run.results["evaluation"]["options"]["integration_limits"], "integration_limits")
    reaches = by_limit("aupro", limits, limits)
    widest = max(reaches, key=lambda name: reaches[name])
    kinds["pro"] = ("Overlap of regions", "mean overlap (PRO)", widest, reaches[widest])
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
        images = images_of(model.run, group)
        kinds_of_images = {"normal": False, "anomalous": True}
        scores = {kind: [i.score for i in images if i.anomalous == is_one] for kind, is_one in kinds_of_images.items()}
        short = name if len(name) <= 36 else f"…{name[-35:]}"
        title = "Scores of images" if len(models) == 1 else f"Scores, {short}"
        charts.append(histogram_svg(title, scores, model.image_threshold, unit="image"))
    legend = f"<p>{MODELS.format(*map(escape, names))}</p>" if len(models) > 1 else ""
    body = "\n".join(f"<div>{chart}</div>" for chart in charts)
    return f'<h2>{escape(group)}</h2>\n{legend}<div class="charts">{body}</div>\n<p>{SCORES}</p>'
