"""openworld-metrics anomaly: text and JSON, files, two models, reports, and one line for whatever is wrong."""

from __future__ import annotations

import csv
import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite
from openworld_metrics.answers import intervals
from openworld_metrics.answers.folders import differences
from openworld_metrics.command import anomaly as command
from openworld_metrics.faces.summaries import anomaly_summary
from openworld_metrics.metric.results import Rate, summary_of_groups
from openworld_metrics.metric.rounding import number_text
from openworld_metrics.reading.maps.planes import read_map
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.command.terminal import on_terminal
from tests.conftest import Run
from tests.reading.maps.trees import Drawn, comparison, write_map, write_mask, write_tree

FILES = ["--maps", "maps", "--data", "data"]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    """A data set in the working directory, and two models' maps."""
    made = write_tree("mvtec-ad", tmp_path)
    monkeypatch.chdir(tmp_path)
    shutil.copytree("maps", "other")
    for path in Path("other").rglob("*.tiff"):
        write_map(path, read_map(path)[::-1])
    return made


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "anomaly")


def test_results_in_a_pipe_and_in_files(made: list[Drawn], run: Run) -> None:
    code, output, errors = run(*FILES, "--save", "x.json", "--save", "x.txt")
    wanted = evaluate_anomaly_folder("maps", "data")
    assert (code, errors) == (0, "")
    assert json.loads(output) == json.loads(Path("x.json").read_text()) == wanted
    assert Path("x.txt").read_text() == anomaly_summary(wanted) + "\n"
    record = wanted["evaluation"]
    assert record["files"] == {"images": 18, "maps": 18, "masks": 12, "empty_masks_of_anomalous_images": 0}
    assert record["options"].keys() == AnomalySuite.options.keys()
    assert record["categories"] == ["nut", "screw"]
    assert set(record["versions"]) == {"python", "openworld-metrics", "numpy", "scipy"}


@pytest.fixture
def enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten images of each kind, and two models' maps: enough for intervals that nobody asks for."""
    write_tree("mvtec-ad", tmp_path, of_each=10)
    monkeypatch.chdir(tmp_path)
    shutil.copytree("maps", "other")
    for path in Path("other").rglob("*.tiff"):
        write_map(path, read_map(path)[::-1])


def test_on_a_terminal(enough: None, tmp_path: Path, run: Run) -> None:
    """Text with intervals of its own, a bar and a report; what is saved does not depend on the terminal."""
    saved, more = ["--save", "a.json", "--save", "a.txt"], ["--n-resamples", "40"]
    arguments = ["anomaly", *FILES, *more, "--report", "report", *saved]
    printed = on_terminal(arguments, tmp_path, NO_COLOR="1").replace("\r", "")
    rates = evaluate_anomaly_folder("maps", "data", confidence_level=0.95, n_resamples=40)
    value, low, high = (number_text(rates[f"pixel_auroc{end}"]) for end in ("", "_low", "_high"))
    assert re.search(rf"pixel_auroc +{value} +\[{low}, {high}\] +↑", printed)
    table = rates["groups"]
    for name, *values in zip(table["group"], table["aupro@0.3"], table["image_auroc"]):
        assert re.search(rf"\n{name} +30 +{number_text(values[0])} +{number_text(values[1])} ", printed)
    assert "\n95 % intervals: 40 resamples\nby category: --save, --report\n" in printed
    assert "0/60 [" in printed
    assert "60/60 [" in printed
    assert printed.endswith("report: report/index.html\n")
    code, output, _ = run(*FILES, *more, "--save", "b.txt")
    assert (code, json.loads(output)) == (0, json.loads(Path("a.json").read_text()))
    assert Path("a.txt").read_text() == Path("b.txt").read_text()


def test_two_models_on_a_terminal(enough: None, tmp_path: Path, run: Run) -> None:
    options: dict[str, Any] = {"confidence_level": 0.95, "n_resamples": 40}
    table = comparison("maps", "other", **options)
    at = table["key"].index("pixel_auroc")
    difference, low, high = (table[name][at] for name in ("difference", "low", "high"))
    more = [*FILES, "--compare", "other", "--n-resamples", "40"]
    printed = on_terminal(["anomaly", *more, "--save", "a.json", "--save", "a.txt"], tmp_path, NO_COLOR="1")
    assert f"{difference:+.3f} [{low:.3f}, {high:.3f}]" in printed
    assert "maps is better" in printed
    run(*more, "--save", "b.json", "--save", "b.txt")
    for suffix in ("json", "txt"):
        assert Path(f"a.{suffix}").read_text() == Path(f"b.{suffix}").read_text()


@pytest.mark.parametrize("words", [["0.3", "0.05"], ["0.3,0.05"]])
def test_options_of_the_metric(words: list[str], made: list[Drawn], run: Run) -> None:
    more = ["--image-reduction", "5", "--category", "screw", "nut", "--layout", "mvtec-ad"]
    code, output, _ = run(*FILES, "--integration-limits", *words, *more, "--levels", "image", "pixel")
    wanted = evaluate_anomaly_folder(
        "maps", "data", integration_limits=(0.3, 0.05), image_reduction=5, levels=["image", "pixel"]
    )
    assert (code, json.loads(output)) == (0, wanted)


def test_a_line_for_each_image(made: list[Drawn], run: Run) -> None:
    assert run(*FILES, "--per-image", "x.csv", "--compare", "other")[0] == 0
    rows = list(csv.DictReader(Path("x.csv").read_text().splitlines()))
    by_name = {(row["group"], row["image"]): row for row in rows}
    assert len(rows) == len(by_name) == len(made)
    for one in made:
        defect = one.defect or "good"
        row = by_name[one.category, f"test/{defect}/{one.number:03}"]
        assert row["label"] == str(int(bool(one.defect)))
        assert float(row["score"]) == float(row["other_score"]) == one.score_map.max()
        assert row["map"] == f"maps/{one.category}/test/{defect}/{one.number:03}.tiff"
        mask = f"data/{one.category}/ground_truth/{defect}/{one.number:03}_mask.png"
        assert row["mask"] == (mask if one.defect else "")
        assert row["other_map"] == row["map"].replace("maps", "other")
    assert [*rows[0]] == [
        *("group", "image", "score", "label", "decision", "iou", "map", "mask"),
        *("other_score", "other_decision", "other_iou", "other_map"),
    ]
    table = evaluate_anomaly_folder("maps", "data", per_image=True)["per_image"]
    assert [row["iou"] for row in rows] == ["" if iou is None else repr(iou) for iou in table["iou"]]
    assert [row["decision"] for row in rows] == [*map(str, table["decision"])]


def test_normal_images_of_loco_are_judged_in_both_groups(tmp_path: Path) -> None:
    drawn = write_tree("mvtec-loco", tmp_path)
    options: dict[str, Any] = dict(per_image=True, pimo_bounds=(0.1, 0.5))
    table = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", **options)["per_image"]
    assert 3 * len(table["image"]) == 4 * len(drawn)
    group = "nut/logical_anomalies"
    own = [one for one in drawn if one.category == "nut" and one.defect in ("", "logical_anomalies")]
    wanted = AnomalySuite(**options).compute(
        predictions=[one.score_map for one in own], references=[one.mask for one in own]
    )["per_image"]
    rows = {table["image"][i]: i for i, name in enumerate(table["group"]) if name == group}
    at = [rows.pop(f"test/{one.defect or 'good'}/{one.number:03}") for one in own]
    assert not rows
    for key in ("score", "label", "decision", "iou", "aupimo"):
        assert [table[key][i] for i in at] == wanted[key]


def test_many_images_have_intervals_of_images_only(enough: None, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where those of all rates take longer: by the numbers of images alone, before any is read, or by the first."""
    monkeypatch.setattr(command, "on_terminal", lambda: True)
    more = [*FILES, "--format", "text", "--n-resamples", "40"]
    alone = evaluate_anomaly_folder("maps", "data", levels="image", confidence_level=0.95, n_resamples=40)
    low, high = (number_text(alone[f"image_auroc_{end}"]) for end in ("low", "high"))
    for most in (0, 3_000_000):
        monkeypatch.setattr(intervals, "MAX_AUTOMATIC", most)
        _, one, _ = run(*more)
        _, two, _ = run(*more, "--compare", "other", "--report", "report")
        assert re.search(rf"image_auroc +\d\.\d+ +\[{re.escape(low)}, {re.escape(high)}\]", one)
        assert re.search(r"pixel_auroc +\d\.\d+ +↑", one)
        assert re.search(r"image_auroc ↑ .*(is better|no clear difference)", two)
        assert re.search(r"pixel_auroc ↑ +\d\.\d+ +\d\.\d+ +[+-]\d\.\d+\n", two)
        for text in (one, two):
            note = "95 % intervals of rates of images: 40 resamples; of all rates: --confidence-level 0.95"
            assert note in " ".join(text.split())
        page = Path("report/index.html").read_text()
        assert "only rates of images have some." in page
        assert re.search("maps vs other: Image AUROC", re.sub("<[^>]*>", "", page))
    _, none, _ = run(*more, "--levels", "pixel")
    note = "Intervals take longer here, and were left out. With --confidence-level 0.95, there are some."
    assert note in " ".join(none.split())


def test_a_category_without_normal_images_is_skipped(enough: None, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal, of two models, and in a report: what the category lacks is a dash."""
    monkeypatch.setattr(command, "on_terminal", lambda: True)
    shutil.rmtree("data/screw/test/good")
    for folder in ("maps", "other"):
        shutil.rmtree(f"{folder}/screw/test/good")
    for most in (0, intervals.MAX_AUTOMATIC):
        monkeypatch.setattr(intervals, "MAX_AUTOMATIC", most)
        skip = [*FILES, "--groups-without", "skip", "--format", "text", "--n-resamples", "40"]
        code, text, errors = run(*skip)
        assert (code, errors) == (0, "")
        assert re.search(r"\nscrew +20 +\d\.\d+ +– +\d", text)
        assert re.search(r"image_auroc +\d\.\d+ +\[", text)
        code, text, errors = run(*skip, "--compare", "other", "--save", "x.json", "--report", "report")
        assert (code, errors) == (0, "")
        assert re.search(r"image_auroc ↑ .*(is better|no clear difference)", text)
        groups = json.loads(Path("x.json").read_text())["comparison"]["groups"]
        assert groups["group"] == ["nut", "screw"]
        assert groups["image_auroc"][1] is None
        assert groups["pixel_auroc"][1] is not None
        page = Path("report/index.html").read_text()
        assert "screw" in page
        missed = re.search(r"(\d+) of 20 defects are missed, (\d+) of 10 normal images are false", page)
        assert missed, "of the nut alone"


@pytest.mark.parametrize(("layout", "most"), [("mvtec-ad", intervals.MAX_AUTOMATIC), ("mvtec-loco", 0)])
def test_a_category_that_lacks_a_class_at_every_level_is_skipped(
    layout: str, most: int, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `compute` skips a group: a row without rates, and the means are those of the other category."""
    drawn = write_tree(layout, tmp_path)
    monkeypatch.chdir(tmp_path)
    for path in [*Path("data/screw/test").iterdir(), *Path("data/screw/ground_truth").iterdir()]:
        if path.name != "good":
            shutil.rmtree(path)
            shutil.rmtree(f"maps/screw/test/{path.name}", ignore_errors=True)
    shutil.copytree("maps", "other")
    monkeypatch.setattr(intervals, "MAX_AUTOMATIC", most)
    options: dict[str, Any] = dict(groups_without="skip", confidence_level=0.9, n_resamples=9)
    with pytest.raises(ValueError, match="group 'screw': references: expected anomalous and normal images"):
        evaluate_anomaly_folder("maps", "data")
    found, alone = (evaluate_anomaly_folder("maps", "data", categories=names, **options) for names in (None, ["nut"]))
    assert (found["groups_skipped"], found["images"], alone["groups_skipped"]) == (1, alone["images"] + 3, 0)
    for key in ("image_auroc", "image_auroc_low", "pixel_ap", "aupro@0.3_high"):
        assert found[key] == alone[key]
        assert found["groups"][key] == [*alone["groups"][key], None]
    if layout == "mvtec-ad":
        kept = [one for one in drawn if one.category == "nut" or not one.defect]
        columns = {"references": [one.mask for one in kept], "groups": [one.category for one in kept]}
        wanted = AnomalySuite(**options).compute(predictions=[one.score_map for one in kept], **columns)
        assert {key: found[key] for key in wanted if key != "groups"} == {
            k: v for k, v in wanted.items() if k != "groups"
        }
    monkeypatch.setattr(command, "on_terminal", lambda: True)
    for more in ([], ["--confidence-level", "0.9", "--n-resamples", "9"], ["--compare", "other", "--report", "report"]):
        code, text, errors = run(*FILES, "--groups-without", "skip", "--format", "text", *more)
        assert (code, errors) == (0, "")
        assert "image_auroc" in text
    shutil.rmtree("data/nut")
    shutil.rmtree("maps/nut")
    with pytest.raises(ValueError, match="groups: expected a group with samples of both classes, got none"):
        evaluate_anomaly_folder("maps", "data", layout=layout, **options)


def test_intervals_take_the_number_of_resamples(enough: None, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "on_terminal", lambda: True)
    _, text, _ = run(*FILES, "--format", "text", "--n-resamples", "30")
    assert "\n95 % intervals: 30 resamples\n" in text
    code, _, errors = run(*FILES, "--n-resamples", "0")
    assert (code, errors) == (
        2,
        "openworld-metrics: n_resamples: expected an int of at least 1 and at most 1000000, got 0\n",
    )


def test_two_models(made: list[Drawn], run: Run) -> None:
    code, output, _ = run(*FILES, "--compare", "other", "--save", "x.txt")
    first, second = (evaluate_anomaly_folder(folder, "data") for folder in ("maps", "other"))
    found = json.loads(output)
    assert code == 0
    assert found == {**first, "other": second, "comparison": found["comparison"]}
    table = found["comparison"]
    assert table["groups"]["group"] == ["nut", "screw"]
    at = table["key"].index("pixel_auroc")
    assert table["first"][at] == first["pixel_auroc"]
    assert table["difference"][at] == first["pixel_auroc"] - second["pixel_auroc"] > 0
    assert table["groups"]["pixel_auroc"][1] == (first["groups"]["pixel_auroc"][1] - second["groups"]["pixel_auroc"][1])
    assert Path("x.txt").read_text().count("mean") == 2 * 3 + 2
    same = json.loads(run(*FILES, "--compare", "maps")[1])["comparison"]
    assert set(same["difference"]) == {0.0}
    assert "p_value" not in same


def test_what_is_wrong(made: list[Drawn], run: Run) -> None:
    def line(*arguments: object) -> str:
        code, output, errors = run(*arguments)
        assert (code, output, errors.count("\n")) == (2, "", 1)
        return errors.removeprefix("openworld-metrics: ").rstrip()

    assert line(*FILES, "--save", "x.csv") == "x.csv: expected a file ending in .txt or .json"
    assert line(*FILES, "--per-image", "x.txt") == "--per-image: expected a file ending in .csv, got x.txt"
    assert line(*FILES, "--report", "maps/x") == "maps/x: expected a report outside of maps, which is an input"
    assert line(*FILES, "--image-reduction", "0") == "image_reduction: expected an int of at least 1, got 0"
    assert line("--maps", "maps") == "maps: expected a data set of the maps, or a list of images, got neither"
    assert line(*FILES, "--compare", "nowhere") == "nowhere: expected a folder of maps, got none"
    Path("other/nut/test/hole/000.tiff").write_bytes(b"")
    assert line(*FILES, "--compare", "other") == "other: other/nut/test/hole/000.tiff: not a TIFF file: header=b''"
    Path("maps/nut/test/hole/001.tiff").unlink()
    Path("maps/nut/test/good/001.tiff").write_bytes(b"hello")
    missing = "data/nut/test/hole/001.png: expected its map nut/…/hole/001.tiff in maps, got none"
    assert line(*FILES) == f"{missing}; to leave out 1 file, use --leave-out"
    code, output, errors = run(*FILES, "--list-problems", "--compare", "other")
    assert (code, errors) == (2, "")
    assert output.splitlines() == [
        missing,
        "maps/nut/test/good/001.tiff: not a TIFF file: header=b'hell'",
        "other/nut/test/hole/000.tiff: not a TIFF file: header=b''",
    ]
    assert not Path("x.csv").exists()


def test_an_empty_mask_of_an_anomalous_image(made: list[Drawn], run: Run) -> None:
    mask = "data/nut/ground_truth/hole/001_mask.png"
    write_mask(Path(mask), np.zeros_like(made[0].mask))
    code, output, errors = run(*FILES)
    assert code == 0
    assert errors == (
        f"openworld-metrics: warning: {mask}: no pixel is anomalous, but the image counts as anomalous because of its"
        " folder (1 such image)\n"
    )
    found = json.loads(output)
    assert found["anomalous_images"] == 12
    assert found["evaluation"]["files"]["empty_masks_of_anomalous_images"] == 1
    nut = [one for one in made if one.category == "nut"]
    masks = [one.mask if (one.defect, one.number) != ("hole", 1) else np.zeros_like(one.mask) for one in nut]
    wanted = AnomalySuite().compute(
        predictions=[one.score_map for one in nut], references=masks, image_labels=[bool(one.defect) for one in nut]
    )
    assert {key: found["groups"][key][0] for key in wanted} == wanted


def test_a_saved_file_says_what_was_left_out(made: list[Drawn], run: Run) -> None:
    Path("maps/readme.txt").touch()
    fine = "no problems: 18 images of mvtec-ad\nleft out: 6 other files not of the test (such as "
    fine += "data/nut/train/good/000.png), 1 other file without a map, mask or image (maps/readme.txt)\n"
    assert run(*FILES, "--list-problems") == (0, fine, "")
    write_map(Path("maps/nut/test/good/900.tiff"), made[0].score_map)
    assert run(*FILES, "--save", "x.json", "--leave-out")[0] == 0
    saved = json.loads(Path("x.json").read_text())
    maps = [each for each in saved["census"]["left_out"] if each["kind"] == "maps"]
    assert [(each["number"], each["names"]) for each in maps] == [(1, ["maps/nut/test/good/900.tiff"])]
    Path("maps/nut/test/good/900.tiff").unlink()
    assert run(*FILES, "--save", "x.json")[0] == 0
    assert "census" not in json.loads(Path("x.json").read_text())


def test_tables_that_are_read_stay(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tree("visa", tmp_path)
    monkeypatch.chdir(tmp_path)
    table = Path("data/split_csv/1cls.csv")
    before = table.read_bytes()
    code, _, errors = run(*FILES, "--per-image", table)
    assert (code, "expected another file to write to" in errors) == (2, True)
    assert table.read_bytes() == before


def test_means_and_differences() -> None:
    one = {
        "a": Rate(0.5, True, interval=(0.25, 0.75)),
        "n": 2,
        "b": Rate(0.5, True, threshold=3.0),
        "table": {"x": [1]},
    }
    found = summary_of_groups({"p": one, "q": {**one, "a": Rate(0.25, True)}}).as_dict()
    assert found == {
        "a": 0.375,
        "n": 4,
        "b": 0.5,
        "groups": {
            "group": ["p", "q"],
            "a": [0.5, 0.25],
            "a_low": [0.25, None],
            "a_high": [0.75, None],
            "n": [2, 2],
            "b": [0.5, 0.5],
            "b_threshold": [3.0, 3.0],
            "table": [{"x": [1]}, {"x": [1]}],
        },
    }
    assert differences(found, found)["groups"] == {"group": ["p", "q"], "a": [0.0, 0.0], "b": [0.0, 0.0]}


@pytest.mark.parametrize("name", ["OK", "Normal", "Good", "ok"])
@pytest.mark.parametrize("beside", [False, True])
def test_a_folder_whose_name_means_normal(made: list[Drawn], run: Run, name: str, beside: bool) -> None:
    """Row 65 of reports: its images are normal; beside another such folder, neither is guessed to be the one."""
    before = run(*FILES, "--levels", "image")[1]
    good = Path("data", "screw", "test", "good")
    images = sorted(good.iterdir())
    (good.parent / name).mkdir()
    for path in images[:1] if beside else images:
        path.rename(good.parent / name / path.name)
    if beside:
        for flags in ((), ("--levels", "image"), ("--leave-out",)):
            code, output, errors = run(*FILES, "--layout", "mvtec-ad", *flags)
            assert (code, output) == (2, "")
            both = " and ".join(sorted([name, "good"]))
            assert f"expected one folder of normal images, got {both}; put their images into one" in errors
        (good.parent / name / images[0].name).rename(images[0])  # the cure
        (good.parent / name).rmdir()
    else:
        good.rmdir()
        for maps in Path().glob("*/screw/test/good"):
            maps.rename(maps.with_name(f"{name}-"))
            maps.with_name(f"{name}-").rename(maps.with_name(name))
    code, output, errors = run(*FILES, "--layout", "mvtec-ad", "--levels", "image")
    assert code == 0, errors
    kept, numbers = json.loads(before), json.loads(output)
    assert numbers["groups"] == kept["groups"]
    assert numbers["image_auroc"] == kept["image_auroc"]
