"""The page of anomaly_suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...anomaly.anomaly_suite import AnomalySuite, level_counts
from ...anomaly.levels import check_levels
from ...core.options import as_fractions
from ..costs import Cost, items
from ..figures.maps import draw_map, draw_pro, draw_roc
from ..figures.style import figure
from ..images import read_maps, read_masks
from ..page import Column, Computed, Example, Option, Page, Source, Table


def _draw(computed: Computed) -> Sequence[Any]:
    options = computed.options
    counts = {level: level_counts(computed.state, level) for level in check_levels(options["levels"])}
    has_pro = "pixel" in counts
    limit = max(as_fractions(options["integration_limits"], "integration_limits")) if has_pro else 1.0
    pro = draw_pro(computed, counts["pixel"]) if has_pro else figure("", "", title="PRO needs the level pixel")
    return [draw_map(computed), pro, draw_roc(computed, counts, limit)]


def _costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[Cost]:
    regions = len(state["region_sizes"]) + len(state.get("saturation_areas", ()))
    limits = items(options["integration_limits"])
    yield Cost("regions times integration_limits", regions * limits, 10_000_000)
    thresholds = options["num_thresholds"]
    if isinstance(thresholds, int):
        yield Cost("num_thresholds, or that times regions,", thresholds * max(1, regions), 5_000_000)
        yield Cost("num_thresholds times integration_limits", thresholds * limits, 100_000_000)


_MAPS = {
    1: ["112110", "123211", "135421", "124631", "112321", "111110"],
    2: ["111221", "211122", "122111", "112312", "111111", "121112"],
    3: ["131111", "311116", "111138", "111127", "211112", "171111"],
    4: ["111111", "112111", "141121", "111111", "122111", "111211"],
}
_MASKS = {
    1: ["000000", "000000", "001100", "000110", "000000", "000000"],
    2: ["000000"] * 6,
    3: ["000000", "000001", "000001", "000001", "000000", "010000"],
    4: ["000000"] * 6,
}


def _table(images: dict[int, list[str]], unit: float) -> Table:
    """Rows of digits as a table with a column for the image."""
    rows = [(image, *map(int, row)) for image, block in images.items() for row in block]
    columns = np.asarray(rows).T.tolist()
    scaled = [[value / unit for value in column] if unit != 1 else column for column in columns[1:]]
    return {"image": columns[0], **{str(i): column for i, column in enumerate(scaled)}}


PAGE = Page(
    metric=AnomalySuite,
    question="Are anomalous images found, and their regions covered?",
    columns=(
        Column("predictions", ("maps", "anomaly_maps", "scores"), "images"),
        Column("references", ("masks", "mask", "ground_truth", "gt"), "images", source=1),
        Column("image_scores", (), required=False),
        Column("image_labels", (), required=False, source=1),
    ),
    options=(
        Option("integration_limits", "numbers"),
        Option("num_thresholds", "number"),
        Option("image_reduction", "word or number", ("max", "mean")),
        Option("levels", "checks", ("image", "pixel")),
        Option("ignore_value", "number"),
        Option("image_threshold", "number"),
        Option("pixel_threshold", "number"),
        Option("pimo_bounds", "numbers"),
        Option("per_image", "flag"),
    ),
    examples=(
        Example("Four maps of 6 × 6 pixels, two with anomalies", (_table(_MAPS, 10), _table(_MASKS, 1))),
        Example(
            "Two maps of 2 × 2 pixels",
            (
                {"image": [1, 1, 2, 2], "0": [0.1, 0.3, 0.1, 0.0], "1": [0.2, 0.9, 0.4, 0.2]},
                {"image": [1, 1, 2, 2], "0": [0, 1, 0, 0], "1": [0, 1, 0, 0]},
            ),
            {"integration_limits": (0.5,)},
        ),
    ),
    pictures=("Map and mask", "Per-region overlap", "ROC curves"),
    draw=_draw,
    sources=(Source("Anomaly maps", {".png": read_maps}), Source("Masks", {".png": read_masks})),
    images=True,
    costs=_costs,
)
