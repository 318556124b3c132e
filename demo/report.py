"""Draw the demo's figure: the curves behind the numbers, from the arrays of the computation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from demo import image_panels, open_set_panels
from demo.compute import Results
from openworld_metrics.faces.page.credits import CHINA, DIGITS, FLOWER

_SIZE, _DPI = (8.5, 18.5), 176  # inches; twice the page's width of 748 pixels, for sharp screens
_STYLE: Any = {
    "axes.titlesize": 10.5,
    "axes.grid": False,
    "font.size": 9.5,
    "legend.fontsize": 9,
    "legend.framealpha": 0.9,
}


def draw(results: Results, path: Path) -> None:
    """Draw the eight panels into a PNG file."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=_SIZE, layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.12))
        FigureCanvasAgg(figure)
        grid = figure.add_gridspec(5, 2, height_ratios=(3, 3, 3, 3.9, 5))
        panels = (
            open_set_panels.top_k,
            open_set_panels.open_f,
            open_set_panels.histograms,
            open_set_panels.roc_curve,
            open_set_panels.openauc_curve,
            image_panels.region_overlap_curve,
        )
        for i, panel in enumerate(panels):
            panel(figure.add_subplot(grid[i // 2, i % 2]), results)
        examples = grid[3, :].subgridspec(1, 3)
        image_panels.anomaly_example([figure.add_subplot(examples[i]) for i in range(3)], results)
        image_panels.detection_example(figure.add_subplot(grid[4, :]), results)
        credits = "\n".join(work.short for work in (DIGITS, FLOWER, CHINA))
        figure.supxlabel(f"Made from {credits}", fontsize=8)
        figure.savefig(path, dpi=_DPI)
