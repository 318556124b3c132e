"""The page of anomaly_suite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...anomaly.anomaly_suite import AnomalySuite, check_levels
from ...anomaly.maps import level_sides
from ...anomaly.words import meaning
from ...arrays.checks import as_fractions
from ...ranking.counts import Side
from ...reading.maps.planes import MAP_SUFFIXES, MASK_SUFFIXES
from ...reading.rows.kinds import RESIZED, Groups
from .. import credits
from ..figures.computed import Computed
from ..figures.decisions import binary_sweep
from ..figures.maps import draw_map, draw_pro, draw_roc, pro_values, union_mask
from ..figures.style import figure
from ..figures.threshold import Sweep
from ..figures.thumbnails import Thumbnail, map_picture
from ..page import CONFIDENCE, Example, Option, Page, Sample, Source, Table
from ..serving.costs import Cost, Drawing, items
from ..serving.limits import MAX_IMAGES


def sweep_maps(computed: Computed) -> Sweep:
    """The sweep over scores of anomalous pixels, or of anomalous images if only images are judged."""
    return _sweep(computed.state, _sides(computed))


def _sides(computed: Computed) -> dict[str, tuple[Side, Side]]:
    """The anomalous and the normal side of each level, pixels first."""
    levels = sorted(check_levels(computed.options["levels"]), reverse=True)
    return {level: level_sides(computed.state, level) for level in levels}


def _sweep(state: Any, sides: Mapping[str, tuple[Side, Side]]) -> Sweep:
    level, both = next(iter(sides.items()))
    if level == "image":
        return binary_sweep(*both, "anomalous", "normal")
    # pixels of an image are not independent, so they guarantee nothing for new ones
    sweep = binary_sweep(*both, "anomalous", "normal", lambda tp: {"PRO": pro_values(state, tp)}, promise=False)
    return sweep._replace(presets=dict(sorted(sweep.presets.items(), key=lambda preset: preset[0] != "best F1")))


def _thumbnails(computed: Computed, count: int) -> list[Thumbnail]:
    """Thumbnails of the images with the most wrong pixels at the best threshold, images with a defect first."""
    threshold = computed.results.get("pixel_f1_max_threshold")
    if threshold is None:
        return []
    ignored = computed.options["ignore_value"]
    pairs = [*zip(computed.columns["predictions"], computed.columns["references"])][:MAX_IMAGES]
    wrong, defects = [], []
    for image, (score_map, mask) in enumerate(pairs):
        flagged, true = np.asarray(score_map) > threshold, union_mask(mask, ignored)
        defects.append(int(np.count_nonzero(true)))
        missed = int(np.count_nonzero(~flagged & true))
        wrong.append((missed + int(np.count_nonzero(flagged & union_mask(mask, ignored, of=0))), missed, image))
    worst = sorted(wrong, key=lambda one: (not defects[one[2]], -one[0], one[2]))[:count]
    ends = np.asarray([f(np.asarray(part)) for part, _ in pairs for f in (np.min, np.max)], np.float64)
    low, high = float(ends.min()), float(ends.max())
    return [
        Thumbnail(
            image,
            _said(missed, total - missed, defects[image]),
            map_picture(np.asarray(pairs[image][0], np.float64), union_mask(pairs[image][1], ignored), low, high),
        )
        for total, missed, image in worst
        if total
    ]


def _said(missed: int, flagged: int, defect: int) -> str:
    """The errors of an image in words."""
    return f"missed {100 * missed / defect:.0f} %, flagged {flagged:,} px" if defect else f"flagged {flagged:,} px"


def no_pixels() -> Any:
    """An empty picture that says why there is no curve."""
    fig = figure("", "", height=120, showlegend=False).update_xaxes(visible=False).update_yaxes(visible=False)
    return fig.add_scatter(x=[0], y=[0], mode="text", text=["PRO needs the level pixel"], name="", hoverinfo="skip")


def _draw(computed: Computed) -> Sequence[Any]:
    sides = _sides(computed)
    sweep = _sweep(computed.state, sides)
    limit = max(as_fractions(computed.options["integration_limits"], "integration_limits"))
    pro = draw_pro(computed, sides["pixel"][1], sweep) if "pixel" in sides else no_pixels()
    return [draw_map(computed), pro, draw_roc(computed, sides, limit, sweep)]


def _costs(state: Mapping[str, Any], options: Mapping[str, Any]) -> Iterator[Cost]:
    regions = len(state["region_sizes"]) + len(state.get("saturation_areas", ()))
    limits = items(options["integration_limits"])
    yield Cost("regions times integration_limits", regions * limits, 10_000_000)
    thresholds = options["num_thresholds"]
    if isinstance(thresholds, int):
        yield Cost("num_thresholds, times regions if there are any", thresholds * max(1, regions), 5_000_000)
        yield Cost("num_thresholds times integration_limits", thresholds * limits, 100_000_000)


_ARRAYS = (".npy", ".npz")
_VOID = 255
_CHOICES = {
    "predictions": ("maps", f"{RESIZED}maps"),
    "references": ("masks", f"masks in which {_VOID} is void"),
    "groups": ("categories", Groups.unused),
}


_ASKED: Mapping[str, Mapping[str, Any]] = {
    "predictions": {"resize": "bilinear"},
    "references": {"ignore_value": _VOID},
    "groups": {"groups": False},
}


def _reader_choices(chosen: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The choices of `read_maps` for the second of the choices of each column."""
    return {
        key: value
        for name, own in _ASKED.items()
        if [*chosen[name]] == [_CHOICES[name][1]]
        for key, value in own.items()
    }


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
    """Turn rows of digits into a table with a column `image`."""
    rows = [(image, *map(int, row)) for image, block in images.items() for row in block]
    columns = np.asarray(rows).T.tolist()
    scaled = [[value / unit for value in column] if unit != 1 else column for column in columns[1:]]
    return {"image": columns[0], **{str(i): column for i, column in enumerate(scaled)}}


PAGE = Page(
    metric=AnomalySuite,
    question="Are anomalous images found, and their regions covered?",
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
        Option("points", "several", ("fpr95tpr", "tnr95tpr", "tpr5fpr")),
        Option("thresholds", "flag"),
        Option("components", "flag"),
        Option("min_predicted", "number"),
        Option("min_object", "number"),
        CONFIDENCE,
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
    pictures=("Map and mask", "Overlap (PRO)", "ROC"),
    draw=_draw,
    draw_image=draw_map,
    thumbnails=_thumbnails,
    widths=(2, 1, 1),
    slider_below=2,
    strip_below=2,
    sweep=sweep_maps,
    headline=r"image_auroc|pixel_auroc|aupro@0\.3",
    sections={
        "Images": r"image_.*",
        "Samples of several images": r"sample_.*",
        "Pixels": r"pixel_.*",
        "Regions": r"aupro.*|aupimo.*|auspro.*",
        "Objects, at the pixel threshold": r"(siou|ppv|segment_f1)(_\w+)?",
    },
    meaning=meaning,
    sources=(
        Source("Anomaly maps", sorted(MAP_SUFFIXES - {*_ARRAYS})),
        Source("Masks", sorted(MASK_SUFFIXES - {*_ARRAYS})),
    ),
    images=True,
    costs=_costs,
    drawing=Drawing(sample=150, group=25_000),  # histograms of each image's pixels are summed
    reader_choices=_reader_choices,
    choices=_CHOICES,
    samples=(
        Sample(
            "A flower with scratches, stains and swapped parts",
            ("predictions.zip", "references.zip"),
            credits.FLOWER_VIEWS,
            {},
            "photographs.zip",
        ),
    ),
)
