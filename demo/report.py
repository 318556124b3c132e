"""Draw the demo's pictures: the figures of `compute --plot` for each metric, and examples of the images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from demo import image_panels
from demo.compute import Results
from openworld_metrics.answers.answer import Answer
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.credits import CHINA, DIGITS, FLOWER
from openworld_metrics.faces.plot import draw_answer
from openworld_metrics.reading import Reading

_SIZE, _DPI = (8.5, 9.5), 176  # inches; twice the page's width of 748 pixels, for sharp screens


def answers(results: Results) -> dict[str, Answer]:
    """The numbers and figures of each metric."""
    return {
        name: answers_of(name, Reading(name, {"": columns}), options, intervals=False, bounded=False)[""]
        for name, (columns, options) in results.arguments.items()
    }


def draw(results: Results, folder: Path) -> None:
    """Draw a PNG file for each metric, and examples.png."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, answer in answers(results).items():
        draw_answer(answer, folder / f"{name}.png")
    figure = Figure(figsize=_SIZE, layout="constrained", dpi=_DPI)
    parts: Any = figure.subfigures(2, 1, height_ratios=(2, 3))
    upper, lower = parts
    image_panels.anomaly_example(upper.subplots(1, 3), results)
    image_panels.detection_example(lower.subplots(), results)
    credits = "\n".join(work.short for work in (DIGITS, FLOWER, CHINA))
    lower.supxlabel(f"Made from {credits}", fontsize=8)
    figure.savefig(folder / "examples.png")
