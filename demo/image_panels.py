"""Draw examples of the images: an anomaly map, and detections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from scipy import ndimage

from demo.compute import Results
from demo.detection import OUTCOMES, outcomes
from demo.digits import NUM_KNOWN
from openworld_metrics.faces.palette import light

# colour and line style of each outcome, as in reports; only a missed object is a true box
_STYLES = dict(
    zip(
        OUTCOMES,
        (
            *((light("known"), "-"), (light("wrong"), "-"), (light("rejected"), ":"), (light("known"), "-.")),
            *((light("unknown"), "-"), (light("edge"), "-"), (light("missed"), "--")),
        ),
    )
)


def anomaly_example(axes: Sequence[Axes], results: Results) -> None:
    """Draw the test tile with the most defects, the tile with the outline of its mask, and its anomaly map."""
    anomalies, values = results.anomalies, results.metrics["anomaly_suite"]
    connected = np.ones((3, 3))
    chosen = int(np.argmax([ndimage.label(mask, connected)[1] for mask in anomalies.masks]))
    tile, mask, score_map = anomalies.tiles[chosen], anomalies.masks[chosen], anomalies.maps[chosen]
    axes[0].imshow(tile)
    axes[1].imshow(tile)
    image = axes[2].imshow(score_map, cmap="viridis")
    for ax in axes[1:]:
        ax.contour(mask, [0.5], colors="black", linewidths=2.6)
        ax.contour(mask, [0.5], colors="white", linewidths=1.2)
    for ax, name in zip(axes, ("tile with pasted defects", "outline of the mask", "anomaly map")):
        ax.set(xticks=[], yticks=[], xlabel=name)
    bar = axes[2].inset_axes((0, -0.2, 1, 0.045))
    axes[2].figure.colorbar(
        image, cax=bar, orientation="horizontal", label="squared error of R + G + B, each in [0, 1]"
    )
    title = f"Anomalies: pixel AUROC = {values['pixel_auroc']:.4f}, AP = {values['pixel_ap']:.4f}, "
    axes[1].set_title(title + f"best F1 = {values['pixel_f1_max']:.4f}; image AUROC = {values['image_auroc']:.4f}")


def detection_example(ax: Axes, results: Results) -> None:
    """Draw the canvas with the most kinds of outcomes: predicted boxes by outcome, and true boxes."""
    data, values = results.detections, results.metrics["openset_detection"]
    named = [outcomes(*boxes) for boxes in zip(data.predictions, data.references)]
    chosen = int(np.argmax([len({outcome for _, outcome in boxes}) for boxes in named]))
    ax.imshow(data.canvases[chosen], cmap="gray_r", vmin=0, vmax=32)
    missed = [tuple(box) for box, outcome in named[chosen] if outcome == "missed object"]
    for box, outcome in named[chosen]:
        colour, style = _STYLES[outcome]
        _box(ax, box[:4], colour, style, 2.2)
        if outcome != "missed object":
            label = "unknown" if box[5] < 0 else f"{box[5]:.0f}"
            ax.text(box[0] - 1, box[1] - 2, label, color=colour, weight="bold", va="bottom")
    for box in data.references[chosen]:
        if tuple(box) not in missed:
            _box(ax, box[:4], "black", ":", 1.4)
    handles = [
        Line2D([], [], color=colour, ls=style, lw=2.2, label=outcome)
        for outcome, (colour, style) in _STYLES.items()
        if any(outcome == other for boxes in named for _, other in boxes)
    ]
    handles.append(Line2D([], [], color="black", ls=":", lw=1.4, label="true box of a detected object"))
    ax.set(xlabel=f"x (pixels); known are 0–{NUM_KNOWN - 1}", ylabel="y (pixels)")
    ax.set_title(
        f"Detection: U-Recall = {values['U-Recall']:.4f}, WI = {values['WI']:.4f}, A-OSE = {values['A-OSE']:.4f}"
    )
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, frameon=False)


def _box(ax: Axes, box: np.ndarray, colour: str, style: str, width: float) -> None:
    x1, y1, x2, y2 = (edge - 0.5 for edge in box)  # pixels are drawn around their centres
    ax.add_patch(Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, ec=colour, ls=style, lw=width))
