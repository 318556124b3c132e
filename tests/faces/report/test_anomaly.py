"""The report of anomaly maps: its numbers are those of the results, pictures show what is there, names are escaped."""

from __future__ import annotations

import base64
import io
import math
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from openworld_metrics.faces.report import write_anomaly_report
from openworld_metrics.faces.report.anomaly import Model, score_beside, up_to
from openworld_metrics.reading.maps.pairing import list_anomaly_maps
from openworld_metrics.reading.maps.planes import read_map
from openworld_metrics.suites import differences, intervals
from openworld_metrics.suites.anomaly import AnomalyRun, evaluate_maps
from openworld_metrics.suites.differences import compared_runs
from tests.suites.trees import write_map, write_tree


def run_of(folder: Path, maps: str = "maps", **options: Any) -> AnomalyRun:
    return evaluate_maps(list_anomaly_maps(folder / maps, folder / "data"), curves=True, **options)


def turned(folder: Path) -> None:
    """Another model: the maps upside down."""
    for path in [*(folder / "maps").rglob("*.tiff"), *(folder / "maps").rglob("*.npy")]:
        write_map(folder / "other" / path.relative_to(folder / "maps"), read_map(path)[::-1])


def pictures(text: str) -> list[Image.Image]:
    found = re.findall(r'src="data:image/(?:jpeg|png);base64,([^"]*)"', text)
    return [Image.open(io.BytesIO(base64.b64decode(content))) for content in found]


@pytest.mark.parametrize("layout", ["mvtec-ad", "mvtec-loco", "folders"])
def test_two_models_in_each_kind_of_layout(layout: str, tmp_path: Path) -> None:
    write_tree(layout, tmp_path)
    turned(tmp_path)
    one, other = (run_of(tmp_path, maps, integration_limits=[0.3, 0.05]) for maps in ("maps", "other"))
    page = write_anomaly_report(one, tmp_path / "new" / "report", other=other, images=2)
    assert [path.name for path in page.parent.iterdir()] == ["index.html"]
    text = page.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r'(src|href)="(?!data:image/|#)', text)
    shown = [float(value) for value in re.findall(r'<dd class="large"[^>]*>(\d\.\d+)', text)]
    assert shown == [round(one.results[key], 3) for key in ("aupro@0.3", "image_auroc", "pixel_auroc")]
    assert text.count('<span class="ends">[') >= 3
    assert "maps vs other:" in text
    tiles = re.findall(r'<button type="button" class="tile".*?</button>', text, re.S)
    assert tiles
    per_tile = 2 if layout == "folders" else 3
    assert len(pictures("".join(tiles))) == per_tile * len(tiles)
    for name in one.groups:
        assert f">{name}<" in text
    for points in one.curves[one.groups[0]].values():
        assert points is not None
        x, y = np.asarray(points).T
        assert (np.diff(x) >= 0).all()
        assert (np.diff(y) >= 0).all()
        assert (x[0], y[0], x[-1]) == (0, 0, 1)


def test_decisions_are_those_of_the_scores(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    run = run_of(tmp_path)
    model = Model(run, "maps")
    counts = {(side, called): 0 for side in (True, False) for called in (True, False)}
    for group in run.groups:
        threshold = run.results["groups"]["image_f1_max_threshold"][run.results["groups"]["group"].index(group)]
        assert model.threshold(group, "image") == threshold
        for image in model.images(group):
            counts[image.anomalous, image.score > threshold] += 1
    text = write_anomaly_report(run, tmp_path / "report").read_text(encoding="utf-8")
    said = re.search(r'aria-label="(?:Both|All \w+)\. (.*?)"', text)
    assert said is not None
    cells = [int(count) for count in re.findall(r"\d+", said[1])]
    assert cells == [counts[True, True], counts[True, False], counts[False, True], counts[False, False]]
    assert f"{counts[True, False]} of 12 defects are missed, {counts[False, True]} of 6 normal images" in text
    chosen = run_of(tmp_path, image_threshold=0.25)
    assert Model(chosen, "maps").threshold("nut", "image") == 0.25
    assert "at the threshold chosen before" in write_anomaly_report(chosen, tmp_path / "b").read_text(encoding="utf-8")


def test_many_categories_fold_and_large_data_have_intervals_of_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree("mvtec-ad", tmp_path)
    for folder in ("data", "maps"):
        for number in range(3):
            shutil.copytree(tmp_path / folder / "nut", tmp_path / folder / f"nut{number}")
    turned(tmp_path)
    one, other = (run_of(tmp_path, maps) for maps in ("maps", "other"))
    monkeypatch.setattr(differences, "_REPORTED", 0)
    numbers = intervals.report_numbers(one, other, None)
    assert numbers.comparison is not None
    assert set(numbers.comparison["key"]) == {"image_auroc", "image_ap", "image_aupr", "image_f1_max"}
    at = numbers.comparison["key"].index("image_auroc")
    assert numbers.comparison["first"][at] == one.results["image_auroc"]
    assert numbers.comparison["second"][at] == other.results["image_auroc"]
    assert numbers.results["image_auroc_low"] <= one.results["image_auroc"] <= numbers.results["image_auroc_high"]
    assert "pixel_auroc_low" not in numbers.results
    assert numbers.intervals == "of rates of images: 95 %, 200 resamples of the images, seed 0"
    text = write_anomaly_report(one, tmp_path / "report", other=other, images=1).read_text(encoding="utf-8")
    assert "Each of the 5 categories" in text
    assert "gives the other numbers intervals" in text
    assert len(re.findall('<details class="fold"><summary>nut', text)) == 4


def test_a_comparison_that_is_there_is_shown_as_it_is(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    turned(tmp_path)
    options: dict[str, Any] = {"confidence_level": 0.9, "n_resamples": 20, "integration_limits": [0.3]}
    one, other = (run_of(tmp_path, maps, **options) for maps in ("maps", "other"))
    comparison = compared_runs(one, other, **options)
    numbers = intervals.report_numbers(one, other, comparison)
    assert numbers.comparison is comparison
    assert numbers.intervals == "90 %, 20 resamples of the images, seed 0"
    assert numbers.results is one.results
    assert intervals.report_numbers(one, other, None).comparison == comparison


def test_one_level_and_hostile_names(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    for folder in ("maps", "data"):
        (tmp_path / folder / "nut").rename(tmp_path / folder / "<script>x")
    for levels, titles in (("image", ["Image AUROC", "Image AP"]), ("pixel", ["AUPRO 0.3", "Pixel AUROC"])):
        run = run_of(tmp_path, levels=levels)
        text = write_anomaly_report(run, tmp_path / levels).read_text(encoding="utf-8")
        assert "<script>x" not in text
        assert "&lt;script&gt;x" in text
        assert re.findall("<dt[^>]*><b>([^<]*)</b>", text)[:2] == titles
        assert ('id="decisions"' in text) == (levels == "image")
        assert ("defect px covered" in text) == (levels == "pixel")
    with pytest.raises(ValueError, match=r"expected a report outside of .*/data, which is an input$"):
        write_anomaly_report(run, tmp_path / "data" / "report")


def test_tiles_say_what_their_scores_are(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    text = write_anomaly_report(run_of(tmp_path), tmp_path / "report", images=9).read_text(encoding="utf-8")
    words = [unescape(line) for line in re.findall(r"<small>([^<]*score[^<]*)</small>", text)]
    assert words
    for line in words:
        found = re.fullmatch(r"(missed|false alarm|mostly uncovered) · score (\S+) ([>≤]) (\S+)", line)
        assert found is not None
        kind, score, sign, threshold = found.groups()
        assert (sign == "≤") == (kind == "missed")
        assert (float(score) > float(threshold)) == (sign == ">")
        assert f"anomalous if score > {threshold}" in unescape(text), "of one category one text"


def test_texts_compare_as_numbers_do() -> None:
    assert score_beside(0.1, "0.09999999999999999") == "0.1"
    assert score_beside(math.nextafter(0.1, 1), "0.1") == "0.10000000000000002"
    assert score_beside(0.1, "0.1") == "0.1"
    assert score_beside(-0.5, "−∞") == "−0.5"


def test_curves_are_cut_at_the_limit() -> None:
    assert up_to([(0.0, 0.0), (1.0, 1.0)], 0.25) == [(0.0, 0.0), (0.25, 0.25)]
    assert up_to([(0.0, 0.0), (0.25, 0.5), (0.25, 0.75), (1.0, 1.0)], 0.25)[-1] == (0.25, 0.75)


def test_columns_of_models_and_of_differences_stay_apart(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    runs = []
    for name, turn in (("low", 1), ("key", -1)):
        for path in [*(tmp_path / "maps").rglob("*.tiff")]:
            write_map(tmp_path / name / path.relative_to(tmp_path / "maps"), read_map(path)[::turn])
        runs.append(evaluate_maps(list_anomaly_maps(tmp_path / name, tmp_path / "data"), curves=True))
    page = write_anomaly_report(runs[0], tmp_path / "report", other=runs[1], images=1).read_text()
    table = page.partition("All numbers")[2]
    head = [name.strip() for name in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)[:3]]
    assert head == ["key", "low", "key (model)"]
    key = "image_auroc"
    row = table.partition(f'<th scope="row">{key}</th>')[2].partition("</tr>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)", row)
    assert [float(cell) for cell in cells[:2]] == [round(run.results[key], 6) for run in runs]
