"""Draw the image of the README, docs/assets/hero_light.png and hero_dark.png, from real data: `make hero`.

python -m demo.hero [FOLDER]    by default docs/assets

Three detectors of unknown digits, compared; their scores; boxes of pasted digits; and a defect in a photograph. The
photograph is a part of scikit-learn's flower.jpg, by flickr.com/photos/vultilion, CC BY 2.0.
"""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

from demo.detection_files import NAMES, UNKNOWN_ID, pasted_digits
from openworld_metrics import AnomalySuite, OODBench, OpenSetDetection, compare, read
from openworld_metrics.answers import answer
from openworld_metrics.answers.box_errors import BoxErrors, keys_of
from openworld_metrics.answers.charts import histogram
from openworld_metrics.answers.pictures import Photograph, data_url, draw_map, read_photograph
from openworld_metrics.faces.drawing import NARROW
from openworld_metrics.faces.html import drawn, framed
from openworld_metrics.faces.report.frame import style
from openworld_metrics.ranking.counts import as_side
from openworld_metrics.reading.limits import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
WIDTH, SCALE = 748, 1.6  # the README's column in pixels, and the image's pixels for each of them
COLORS = {"knn": "d3", "energy": "d2", "one_minus_msp": "d1"}  # of the detectors
KEYS = {"auroc": "AUROC ↑", "fpr95tpr": "FPR at 95 % TPR ↓"}
CANVAS, DEFECT = 0, "stain_0"
_OWN_STYLE = """
body { background: transparent; }
main { width: 748px; padding: 2px; display: grid; gap: 10px; }
.face .card { padding: 12px 14px; margin: 0; }
h2 { font-size: 17px; } h2 small { font-size: 13px; font-weight: 400; color: var(--ink2); } h3 { font-size: 14px; }
.scores { font-size: 14px; } .scores th, .scores td { padding: 3px 8px 3px 0; white-space: nowrap; }
.scores .forest { width: 21%; } .scores svg { display: block; height: 22px; width: 100%; overflow: visible; }
.scores b { font-size: 15px; } .say { font-size: 15px; margin-top: 4px; }
.three { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 10px; }
.face .three p { font-size: 13px; margin-top: 6px; } .title { display: none !important; }
.frame { aspect-ratio: 32 / 25; } .frame img { height: 100% !important; object-fit: cover; }
.frame:has(.box) img { object-fit: fill; }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 5px; }
"""


def main(folder: Path) -> None:
    """Compute, and take a screenshot in each theme."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    cards = f'{comparison()}<div class="three">{scores()}{boxes()}{maps()}</div>'
    html = f'<!doctype html><meta charset="utf-8"><style>{style()}{_OWN_STYLE}</style><main class="face">{cards}</main>'
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for theme in ("light", "dark"):
            page = browser.new_page(color_scheme=theme, device_scale_factor=SCALE)
            page.set_content(html)
            shot = Image.open(io.BytesIO(page.locator("main").screenshot(omit_background=True)))
            shot.quantize(256, Image.Quantize.FASTOCTREE).save(folder / f"hero_{theme}.png", optimize=True)
        browser.close()


def digits() -> Mapping[str, Mapping[str, Any]]:
    """The columns of three detectors, as the page of ood_bench reads them: numbers are means over four digits."""
    return read("ood_bench", ROOT / "metrics" / "ood_bench" / "examples" / "digits.npz").models


def comparison() -> str:
    """The detectors with their intervals, and sentences that compare the first with the others."""
    columns = digits()
    bench = OODBench(confidence_level=0.95)
    results = {name: bench.compute(**columns[name]) for name in COLORS}
    head = "".join(f'<th colspan="2">{words}</th>' for words in KEYS.values())
    rows = "".join(
        f'<tr><th><i class="key" style="background:var(--{COLORS[name]})"></i>{name}</th>'
        + "".join(interval_cells(results, name, key) for key in KEYS)
        + "</tr>"
        for name in COLORS
    )
    said = "".join(f'<p class="say">{sentence("knn", other, columns)}</p>' for other in ("energy", "one_minus_msp"))
    table = f'<table class="scores"><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>'
    title = "<h2>Is knn better than energy? <small>mean of 4 sets</small></h2>"
    return f'<section class="card">{title}{table}{said}</section>'


def interval_cells(results: Mapping[str, Any], name: str, key: str) -> str:
    """Cells with a number and its interval, as text and as a line on a common scale."""
    value, low, high = (results[name][f"{key}{end}"] for end in ("", "_low", "_high"))
    ends = [result[f"{key}{end}"] for result in results.values() for end in ("_low", "_high")]
    x, x_low, x_high = (4 + 92 * (at - min(ends)) / (max(ends) - min(ends)) for at in (value, low, high))
    lines = ((0, 100, 15, "var(--line)", 1), (x_low, x_high, 15, f"var(--{COLORS[name]})", 3.4))
    drawn = "".join(
        f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y}" y2="{y}" style="stroke:{color};stroke-width:{width}px"/>'
        for x1, x2, y, color, width in lines
    )
    drawn += f'<line x1="{x:.1f}" x2="{x:.1f}" y1="8" y2="22" style="stroke:var(--{COLORS[name]});stroke-width:5px"/>'
    return (
        f'<td><b>{value:.3f}</b> <span class="ends">[{low:.3f}, {high:.3f}]</span></td>'
        f'<td class="forest"><svg viewBox="0 0 100 30" preserveAspectRatio="none">{drawn}</svg></td>'
    )


def sentence(one: str, other: str, columns: Mapping[str, Mapping[str, Any]]) -> str:
    """A sentence on which of two detectors has the higher AUROC, if the difference is clear."""
    table = compare("ood_bench", columns[one], columns[other])
    row = {name: column[table["key"].index("auroc")] for name, column in table.items()}
    winner = {None: "no clear difference", "first": f"{one} is better", "second": f"{other} is better"}[row["better"]]
    ends = f"{row['difference']:+.3f} [{row['low']:.3f}, {row['high']:.3f}]".replace("-", "−")
    return f"<b>{one} vs {other}:</b> AUROC {ends}, <b>{winner}</b>"


def scores() -> str:
    """A histogram with the threshold of 95 % TPR."""
    of_knn = digits()["knn"]
    every, labels = of_knn["predictions"], of_knn["references"]
    unknown, known = every[labels == 1], every[labels == 0]
    bench = OODBench(metrics=["fpr95tpr"], thresholds=True)
    at = bench.compute(predictions=every, references=labels)["fpr95tpr_threshold"]
    sides = histogram(
        "Scores", "score", [(role, role, as_side(side)) for role, side in (("known", known), ("unknown", unknown))]
    )
    drawing = drawn(sides, threshold=at, width=NARROW)
    caught, flagged = int((unknown > at).sum()), int((known > at).sum())
    words = (
        f'<i class="key" style="background:var(--unknown)"></i><b>{caught}</b> of {len(unknown)} unknown caught,<br>'
        f'<i class="key" style="background:var(--known)"></i><b>{flagged}</b> of {len(known)} known flagged'
    )
    return f'<figure class="card"><h3>Scores: where to cut</h3>{drawing}<p>{words}</p></figure>'


def boxes() -> str:
    """A canvas with the boxes of a detector, and the number of unknown objects found in all canvases."""
    detections, pictures = pasted_digits()
    metric = OpenSetDetection(known_classes=[*range(6)], unknown_class_id=UNKNOWN_ID)
    state = metric.reduce(detections.predictions, detections.dataset.references)
    errors = BoxErrors(state, metric.loaded_options, dict(enumerate(NAMES)))
    source, size = data_url(pictures[CANVAS].convert("RGB"), quality=92), pictures[CANVAS].size
    drawn = errors.boxes(CANVAS)
    picture = answer.Image("Digits", size, source, drawn, "with boxes", keys=keys_of(drawn))
    fates = {fate: count for (kind, fate), count in errors.fates.items() if kind == "unknown"}
    words = (
        f"<b>{fates['found']}</b> of {sum(fates.values())} unknown found,<br>"
        f"<b>{fates['called known']}</b> called a known class"
    )
    return card("Boxes: what went wrong", picture, words)


def maps() -> str:
    """A photograph with the outlines of its defect and of the pixels above the threshold of the best F1."""
    examples = ROOT / "metrics" / "anomaly_suite" / "examples"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("predictions", "references", "photographs"):
            zipfile.ZipFile(examples / f"{name}.zip").extractall(Path(folder) / name)
        score_maps = {path.stem: np.asarray(Image.open(path)) for path in sorted(Path(folder).glob("predictions/*"))}
        masks = {name: np.zeros(score_map.shape, bool) for name, score_map in score_maps.items()}
        for path in Path(folder).glob("references/*"):
            masks[path.stem.removesuffix("_mask")] = np.asarray(Image.open(path)) > 0
        suite = AnomalySuite()
        at = suite.compute(predictions=[*score_maps.values()], references=[masks[name] for name in score_maps])
        above = {name: score_map > at["pixel_f1_max_threshold"] for name, score_map in score_maps.items()}
        photo, _ = read_photograph(Photograph(Path(folder) / "photographs" / f"{DEFECT}.jpg"), limits=COMMANDS)
        threshold = at["pixel_f1_max_threshold"]
        shown = draw_map(score_maps[DEFECT], masks[DEFECT], threshold, (0, 1), photograph=photo, heat=False, side=300)
        picture = answer.Image("flower", shown.size, data_url(shown), alt="A flower with a defect")
    covered = sum(int((above[name] & masks[name]).sum()) for name in masks)
    flagged = sum(int((above[name] & ~masks[name]).sum()) for name in masks)
    total = sum(int(mask.sum()) for mask in masks.values())
    words = f"<b>{covered}</b> of {total:,} pixels covered,<br><b>{flagged}</b> normal ones flagged"
    return card("Maps: what is covered", picture, words)


def card(title: str, picture: answer.Image, words: str) -> str:
    """A picture that fills its frame, with a caption below."""
    shown = framed(picture, {"all": 176})
    return f'<figure class="card"><h3>{title}</h3>{shown}<p>{words}</p></figure>'


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "assets")
