"""The report of anomaly maps: its numbers are those of the results, pictures show what is there, names are escaped."""

from __future__ import annotations

import base64
import io
import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from openworld_metrics.answers import intervals
from openworld_metrics.answers.answers import answers_from
from openworld_metrics.answers.folders import Folders
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.faces.report import write_anomaly_report
from openworld_metrics.faces.typography import threshold_shown
from openworld_metrics.metric.results import rates_of
from openworld_metrics.reading.maps.planes import read_map
from tests.reading.maps.trees import computed, write_map, write_tree


def run_of(folder: Path, *maps: str, **options: Any) -> Folders:
    places: dict[str, Path | str] = {name: folder / name for name in maps or ("maps",)}
    return computed(places, folder / "data", shown=True, **options)


def rates(run: Folders, model: str = "maps") -> dict[str, float]:
    return {key: rate.value for key, rate in rates_of(run.done.models[model].summary.results).items()}


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
    run = run_of(tmp_path, "maps", "other", integration_limits=[0.3, 0.05], intervals=True, n_resamples=40)
    page = write_anomaly_report(run, tmp_path / "new" / "report")
    assert [path.name for path in page.parent.iterdir()] == ["index.html"]
    text = page.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r'(src|href)="(?!data:image/|#)', text)
    shown = [float(value) for value in re.findall(r'<dd class="large"[^>]*>(\d\.\d+)', text)]
    assert shown == [round(rates(run)[key], 3) for key in ("aupro@0.3", "image_auroc", "pixel_auroc")]
    assert text.count('<span class="ends">[') >= 3
    assert "maps vs other:" in text
    tiles = re.findall(r'<button type="button" class="tile".*?</button>', text, re.S)
    assert tiles
    per_tile = 2 if layout == "folders" else 3
    assert len(pictures("".join(tiles))) == per_tile * len(tiles)
    for name in run.done.shown["maps"]:
        assert f">{name}<" in text


def test_decisions_are_those_of_the_scores(tmp_path: Path) -> None:
    drawn = write_tree("mvtec-ad", tmp_path)
    run = run_of(tmp_path)
    counts = {(side, called): 0 for side in (True, False) for called in (True, False)}
    for name, row in (run.done.models["maps"].summary.groups or {}).items():
        threshold = row["image_f1_max"].threshold
        own = [one for one in drawn if one.category == name]
        assert [*run.done.shown["maps"][name].samples["called"]].count(True) == sum(
            one.score_map.max() > threshold for one in own
        )
        for one in own:
            counts[bool(one.defect), bool(one.score_map.max() > threshold)] += 1
    text = write_anomaly_report(run, tmp_path / "report").read_text(encoding="utf-8")
    said = re.search(r'aria-label="(?:Both categories|All images|All \d+ categories)\. (.*?)"', text)
    assert said is not None
    cells = [int(count) for count in re.findall(r"\d+", said[1])]
    assert cells == [counts[True, True], counts[True, False], counts[False, True], counts[False, False]]
    assert f"{counts[True, False]} of 12 defects are missed, {counts[False, True]} of 6 normal images" in text
    chosen = run_of(tmp_path, image_threshold=0.25)
    assert chosen.done.shown["maps"]["nut"].samples["called"] == [
        bool(one.score_map.max() > 0.25)
        for one in sorted(drawn, key=lambda one: (one.defect or "good", one.number))
        if one.category == "nut"
    ]
    assert "at the threshold chosen before" in write_anomaly_report(chosen, tmp_path / "b").read_text(encoding="utf-8")


def test_many_categories_fold_and_large_data_have_intervals_of_images(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tree("mvtec-ad", tmp_path, of_each=10)
    for folder in ("data", "maps"):
        for number in range(3):
            shutil.copytree(tmp_path / folder / "nut", tmp_path / folder / f"nut{number}")
    turned(tmp_path)
    monkeypatch.setattr(intervals, "MAX_AUTOMATIC", 0)
    run = run_of(tmp_path, "maps", "other", intervals=None)
    assert (run.done.level, run.done.of) == (0.95, "rates of images")
    first = run.done.models["maps"].summary.results
    interval = first["image_auroc"].interval
    assert interval is not None
    assert interval[0] <= first["image_auroc"].value <= interval[1]
    assert first["pixel_auroc"].interval is None
    differences = run.done.compared("maps", "other").rows()
    keys = {key for key in differences if isinstance(key, str)}
    assert keys == {"image_auroc", "image_ap", "image_aupr", "image_f1_max"}
    assert differences["image_auroc"]["first"] == first["image_auroc"].value
    text = write_anomaly_report(run, tmp_path / "report").read_text(encoding="utf-8")
    assert "Each of the 5 categories" in text
    assert " resamples; to give all numbers some, use confidence_level=0.95." in text
    assert len(re.findall('<details class="fold"><summary>nut', text)) == 4


def test_the_report_and_the_answer_of_pages_decide_alike(tmp_path: Path) -> None:
    """HOUSE: one threshold for each category, and one list of the worst images."""
    write_tree("mvtec-ad", tmp_path)
    run = run_of(tmp_path)
    (answer,) = answers_from(subject_of("anomaly_suite"), run.done, run.settings).values()
    text = unescape(write_anomaly_report(run, tmp_path / "report").read_text(encoding="utf-8"))
    for group in answer.groups:
        assert f"anomalous if score > {threshold_shown(group.thresholds['image'])}" in text
    titles = re.findall(r"</span>\s*<b>([^<]*)</b>", text)
    assert titles == [image.name for image in answer.images]


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
    text = write_anomaly_report(run_of(tmp_path), tmp_path / "report").read_text(encoding="utf-8")
    words = [unescape(line) for line in re.findall(r"<small>([^<]*score[^<]*)</small>", text)]
    assert words
    for line in words:
        found = re.fullmatch(r"(?:(missed|false alarm|mostly uncovered) · )?score (\S+) ([>≤]) (\S+)", line)
        assert found is not None
        kind, score, sign, threshold = found.groups()
        assert kind is None or (sign == "≤") == (kind == "missed")
        assert (float(score) > float(threshold)) == (sign == ">")
        assert f"anomalous if score > {threshold}" in unescape(text), "of one category one text"


def test_columns_of_models_and_of_differences_stay_apart(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    for name, turn in (("low", 1), ("key", -1)):
        for path in [*(tmp_path / "maps").rglob("*.tiff")]:
            write_map(tmp_path / name / path.relative_to(tmp_path / "maps"), read_map(path)[::turn])
    run = run_of(tmp_path, "low", "key")
    page = write_anomaly_report(run, tmp_path / "report").read_text()
    table = page.partition("All numbers")[2]
    head = [name.strip() for name in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)[:3]]
    assert head == ["key", "low", "key (model)"]
    key = "image_auroc"
    row = table.partition(f'<th scope="row">{key}</th>')[2].partition("</tr>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)", row)
    assert [float(cell) for cell in cells[:2]] == [round(rates(run, name)[key], 6) for name in ("low", "key")]
