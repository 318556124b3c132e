"""Draw the figures of pages: `<div data-figure="name"></div>` becomes the SVG of that name, from the demo's data.

SVGs are inlined with `currentColor` for black, so they follow the page's theme; figures with images stay on white.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from demo import compute as demo_compute, image_panels, report
from openworld_metrics import OODBench, compare, oscr_curve
from openworld_metrics.answers.credits import CHINA, DIGITS, FLOWER
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.faces.drawing import draw_figure
from openworld_metrics.faces.palette import light
from openworld_metrics.faces.plot import draw_differences, draw_intervals, draw_oscr
from openworld_metrics.loading import METRICS
from openworld_metrics.scores import max_logit, msp

PLACE = re.compile(r'<div data-figure="(\w+)"></div>')
STYLE: Any = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "docs",
}
# colours that `assets/style.css` also defines for dark pages
TOKENS = {
    light("ink2"): "quiet",
    **{light(role): role for role in ("ink", "edge", "known", "unknown", "d1", "d2", "d3")},
}
Draw = Callable[[Any, Any], None]


@cache
def results() -> Any:
    """The demo's data and results, computed once."""
    return demo_compute.compute()


def _anomaly(figure: Any, results: Any) -> None:
    image_panels.anomaly_example(figure.subplots(1, 3), results)


def _objects(figure: Any, results: Any) -> None:
    image_panels.detection_example(figure.subplots(), results)


@cache
def answers() -> Any:
    """Answers of the metrics on the demo's data."""
    return report.answers(results())


def _chart(metric: str, place: int) -> Draw:
    """A figure of a metric's answer, as reports have it."""

    def draw(figure: Any, _results: Any) -> None:
        answer = answers()[metric]
        preset = next(iter(answer.decisions.presets.values()), 0) if answer.decisions is not None else 0
        draw_figure(figure.subplots(), answer.figures[place], answer.decisions, preset)

    return draw


def models() -> tuple[list[int], list[float], list[float]]:
    """Labels and scores for the guide to uncertainty: two models on the same samples."""
    rng = random.Random(3)
    labels, ours, theirs = [0] * 1000 + [1] * 1000, [], []
    for label in labels:
        score = rng.gauss(1.5 * label, 1)
        ours.append(score + rng.gauss(0, 0.03))
        theirs.append(score + rng.gauss(0, 0.13))
    return labels, ours, theirs


def differences() -> Any:
    """The table of that guide."""
    labels, ours, theirs = models()
    return compare("ood_bench", ours, theirs, references=labels, metrics=["auroc", "fpr95tpr", "aupr_out"])


def intervals() -> Any:
    """The results of one of its models, with intervals."""
    labels, ours, _ = models()
    metric = OODBench(metrics=["auroc", "fpr95tpr", "aupr_out"], confidence_level=0.95)
    return metric.compute(predictions=ours, references=labels)


def oscr_curves() -> Any:
    """OSCR curves of the demo's digits, by two scores of the same logits."""
    digits = results().digits
    unknown, correct = digits.is_unknown == 1, digits.logits.argmax(axis=1) == digits.references
    scores = {"max_logit": max_logit(digits.logits), "msp": msp(digits.logits)}
    known = int((~unknown).sum())
    return {
        name: oscr_curve(unknown=each[unknown], correct_known=each[correct], num_known=known)
        for name, each in scores.items()
    }


def _law(figure: Any, _results: Any) -> None:
    """Draw the figure of "How it works": the counts of two batches add up to one table, which gives every number."""
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    first, second, values = [0.1, 0.4, 0.6, 0.9], [0.4, 0.4, 0.6, 0.9], [0.1, 0.4, 0.6, 0.9]
    parts = {"one batch": first, "+ another": second, "= all": first + second}
    for panel, (title, scores) in zip(panels, parts.items(), strict=True):
        counts = [scores.count(value) for value in values]
        panel.bar(range(len(values)), counts, color=light("known"), width=0.6)
        panel.bar_label(panel.containers[0])
        panel.set(title=title, xlabel="score", yticks=[])
        panel.margins(y=0.2)  # room for the numbers
        panel.set_xticks(range(len(values)), [str(value) for value in values])


# by name: caption, size in inches, and the drawing function
FIGURES: dict[str, Sequence[tuple[str, tuple[float, float], Draw]]] = {
    "law": [("Counts add up, bar by bar, whatever the split", (5.8, 2.0), _law)],
    "accuracyk": [("Handwritten digits, of which 0 to 5 are known", (5.2, 3.9), _chart("accuracyk", 0))],
    "autkc": [("Handwritten digits, of which 0 to 5 are known", (5.2, 3.9), _chart("autkc", 0))],
    "macro_open_f": [("Digits 0 to 5 are known, 6 to 9 unknown", (5.2, 3.9), _chart("macro_open_f", 1))],
    "micro_open_f": [("Digits 0 to 5 are known, 6 to 9 unknown", (5.2, 3.9), _chart("micro_open_f", 1))],
    "openauc": [("Digits 0 to 5 are known, 6 to 9 unknown", (5.2, 3.9), _chart("openauc", 1))],
    "ood_bench": [
        ("Scores of the digits: 0 to 5 are known, 6 to 9 unknown", (5.2, 3.9), _chart("ood_bench", 0)),
        ("The same scores, every threshold", (5.2, 3.9), _chart("ood_bench", 1)),
    ],
    "openset_detection": [("Digits pasted on a canvas", (5.2, 6.2), _objects)],
    "anomaly_suite": [
        ("Defects pasted into photographs", (7.4, 3.6), _anomaly),
        ("Overlap with the defects", (5.2, 3.9), _chart("anomaly_suite", 0)),
    ],
}


# by name: caption, and the function that writes the file
WRITTEN: dict[str, tuple[str, Callable[[Path], None]]] = {
    "forest": (
        "ours − theirs, with 95 % intervals; the dashed line is no difference",
        lambda path: draw_differences(differences(), path, title="ood_bench"),
    ),
    "intervals": (
        "One model's rates, with 95 % intervals",
        lambda path: draw_intervals(intervals(), path, title="ood_bench"),
    ),
    "oscr": (
        "OSCR curves of the digits, 0 to 5 known and 6 to 9 unknown, by two scores of the same logits",
        lambda path: draw_oscr(oscr_curves(), path),
    ),
}


# by name: the works that the figures are made from
WORKS = {
    **{name: subject_of(name).example.origin.works for name in METRICS},
    "anomaly_suite": (FLOWER, CHINA),
    "oscr": (DIGITS,),
}


@cache
def html(name: str) -> str:
    """The figures of a name as HTML, with credits."""
    if name in WRITTEN:
        caption, write = WRITTEN[name]
        drawn = _figure(_written(write), caption)
    else:
        parts = enumerate(FIGURES[name])
        drawn = "".join(_figure(_drawn(f"{name}-{i}", size, draw), caption) for i, (caption, size, draw) in parts)
    credits = " and ".join(work.html for work in WORKS.get(name, ()))
    return f'{drawn}<p class="credits" data-search-exclude>Made from {credits}.</p>' if credits else drawn


def _written(write: Callable[[Path], None]) -> str:
    with mpl.rc_context({**STYLE, "savefig.transparent": True}), TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        write(path)
        return path.read_text(encoding="utf-8")


def _drawn(name: str, size: tuple[float, float], draw: Draw) -> str:
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure, results())
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None}, bbox_inches="tight")
    return file.getvalue()


def _figure(svg: str, caption: str) -> str:
    kind = "drawn paper" if "<image" in svg else "drawn"
    drawn = f"{as_part(svg, caption)}<figcaption>{caption}</figcaption>"
    return f'<figure class="{kind}" data-search-exclude>{drawn}</figure>'


def as_part(svg: str, label: str) -> str:
    """An SVG file inlined in a page: black and ink take the text colour, other colours follow the page's theme."""
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor").replace(light("line"), "#88888855")
    for color, token in TOKENS.items():
        svg = svg.replace(color, f"var(--drawn-{token}, {color})")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", svg, count=1)
    width = re.search(r' width="([\d.]+)pt"', svg)
    assert width is not None
    style = f' style="max-width: {float(width[1]) * 4 / 3:.0f}px" role="img" aria-label="{label}"'
    return svg.replace(width[0], style, 1)


def on_page_content(content: str, page: Any, config: Any, files: Any) -> str:
    """Draw the figures of a page."""
    return PLACE.sub(lambda place: html(place[1]), content)
