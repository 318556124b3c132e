"""openworld-metrics detect: the seed's arguments, text and JSON, reports, and one line for whatever is wrong."""

from __future__ import annotations

import errno
import html
import json
import math
import os
import re
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from demo import writers
from openworld_metrics import OpenSetDetection, compare, suites
from openworld_metrics.faces import summaries
from openworld_metrics.metric.results import Results
from openworld_metrics.metric.rounding import DIGITS
from openworld_metrics.metric.signature import differing
from openworld_metrics.reading import Detections
from tests.command.terminal import on_terminal
from tests.conftest import Run
from tests.detection import scenes
from tests.integrations.fake import FakeModel

FILES = ["--predictions", "predictions", "--references", "data.yaml"]
CLASSES = ["--known-classes", "0", "1", "2", "--unknown-id", "999"]
CLOSED = (
    "no prediction is unknown: U-Recall and other numbers that need it are left out; if the"
    " detector has an unknown class, use --unknown-id N; to take predictions with a lower confidence for unknown, use"
    " --unknown-below VALUE"
)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Detections:
    """A YOLO data set in the working directory."""
    made = scenes.scene(4, 10)
    scenes.write_as_yolo(made, tmp_path)
    monkeypatch.chdir(tmp_path)
    return made


@pytest.fixture
def run(run: Run) -> Run:
    return partial(run, "detect")


def expected(made: Detections, **options: object) -> Results:
    given = {"unknown_class_id": scenes.UNKNOWN_ID, "conf_threshold": 0.001, "iou_threshold": 0.5, **options}
    return suites.evaluate_detections(made, scenes.KNOWN, **given)


def test_the_seeds_arguments(made: Detections, run: Run) -> None:
    arguments = [*FILES, *CLASSES, "--conf", 0.001, "--iou", 0.6, "--split", "val", "--save", "openset_results.txt"]
    code, output, errors = run(*arguments, "--save", "x.json")
    assert (code, json.loads(output)) == (0, expected(made))
    assert errors == (
        "openworld-metrics: warning: --iou is the IoU of a model's non-maximum suppression, and does nothing to saved"
        " predictions; boxes are matched at --iou-threshold\n"
    )
    assert json.loads(Path("x.json").read_text()) == expected(made)
    assert Path("openset_results.txt").read_text() == summaries.summary(expected(made)) + "\n"


def test_a_fitted_threshold(made: Detections, run: Run) -> None:
    """A box stays iff its confidence is above the threshold: one that has it does not."""
    confidences = sorted({float(score) for boxes in made.predictions for score in boxes["scores"]})
    at, above = (
        [expected(made, conf_threshold=c, standard=False) for c in cs] for cs in (confidences, confidences[1:])
    )
    places = [i for i, pair in enumerate(zip(at, above)) if pair[0] != pair[1]]  # where the box itself counts
    for i in places[:3]:
        saved = {"decision": "score > threshold", "of": ["samples"], "threshold": confidences[i]}
        Path("t.json").write_text(json.dumps(saved))
        code, output, _ = run(*FILES, *CLASSES, "--conf", "t.json", "--no-standard")
        found = json.loads(output)
        assert confidences[i] < found["options"].pop("conf_threshold") <= above[i]["options"].pop("conf_threshold")
        assert differing(found.pop("signature"), above[i].pop("signature")) == ["conf_threshold"]
        assert (code, found) == (0, above[i])
    for wrong, message in ((1.5, "1.5 is not in the range 0<=x<=1"), (-math.inf, "-inf is not in the range")):
        Path("t.json").write_text(json.dumps({**saved, "threshold": wrong}))
        code, output, errors = run(*FILES, *CLASSES, "--conf", "t.json")
        assert (code, output, len(errors.splitlines())) == (2, "", 1)
        assert message in errors
    Path("t.json").write_text(json.dumps({**saved, "of": ["pixels"]}))
    assert run(*FILES, *CLASSES, "--conf", "t.json")[2] == (
        "openworld-metrics: t.json: expected a threshold of samples, got one of pixels\n"
    )


@pytest.mark.parametrize("words", [["0", "1", "2"], ["cat,1", "cow"], ["0", "--known-classes", "1", "2"]])
def test_lists_of_classes(words: list[str], made: Detections, run: Run) -> None:
    code, output, errors = run(*FILES, "--known-classes", *words, "--unknown-id", "999", "--no-standard")
    assert (code, errors) == (0, "")
    assert json.loads(output)["openset_metrics"] == expected(made)["openset_metrics"]


def test_an_id_of_no_class(made: Detections, run: Run) -> None:
    for words in (["0", "-5", "2"], ["0", "2", "33"]):  # negative ones are ids, not flags
        code, output, errors = run(*FILES, "--known-classes", *words, "--unknown-id", "-1")
        assert (code, output) == (2, "")
        other = next(word for word in words if word not in "02")
        assert errors.startswith(
            f"openworld-metrics: known_classes: {other}: expected the id or the name of a class, of 0 ("
        )


def test_options_reach_the_metric(made: Detections, run: Run) -> None:
    given = ["--iou-threshold", 0.75, "--conf", 0.5, "--matching", "confidence", "--per-class"]
    code, output, errors = run(*FILES, *CLASSES, *given, "--option", "conf_list=0.6,0.8", "--option", "plus_one=true")
    options = {"iou_threshold": 0.75, "conf_threshold": 0.5, "matching": "confidence", "per_class": True}
    assert (code, errors) == (0, "")
    assert json.loads(output) == expected(made, **options, conf_list=(0.6, 0.8), plus_one=True)


def test_errors(made: Detections, run: Run) -> None:
    code, output, errors = run(
        *FILES, *CLASSES, "--errors", "--no-standard", "--save", "errors.txt", "--report", "report"
    )
    assert (code, errors) == (0, "")
    results = json.loads(output)["openset_metrics"]
    assert results == expected(made, errors=True)["openset_metrics"]
    assert results["fate(unknown, found)"] == results["U-Recall"]
    text = Path("errors.txt").read_text()
    assert "fates\n" in text
    assert "fate(" not in text  # what stands in the tables stands nowhere else
    assert "Where the objects went" in Path("report/index.html").read_text()


@pytest.mark.parametrize(
    ("score", "warning"),
    [
        (
            -2.5,
            "1 of 1 confidences are below 0, such as -2.5: these predictions are left out; a confidence is from 0 to 1",
        ),
        (1e-4, "all predictions are left out: the highest confidence is 0.0001, below --conf 0.001"),
        (0.5, ""),
    ],
)
def test_a_warning_of_confidences_that_are_left_out(score: float, warning: str, run: Run, tmp_path: Path) -> None:
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4]}
    content = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "cat"}], "annotations": [box]}
    (tmp_path / "true.json").write_text(json.dumps(content))
    (tmp_path / "found.json").write_text(json.dumps([{**box, "score": score}]))
    files = ["--predictions", str(tmp_path / "found.json"), "--references", str(tmp_path / "true.json")]
    code, _, errors = run(*files, "--known-classes", "cat", "--no-standard")
    nothing = "there are no unknown objects: U-Recall and other rates of them are left out"
    warnings = [CLOSED, *filter(None, [warning]), nothing]
    assert (code, errors) == (0, "".join(f"openworld-metrics: warning: {line}\n" for line in warnings))


def test_coco_s_limit(run: Run, tmp_path: Path) -> None:
    boxes = [{"id": k, "image_id": 1, "category_id": 1, "bbox": [9 * k, 0, 5, 5]} for k in range(1, 102)]
    content = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "cat"}], "annotations": boxes}
    (tmp_path / "true.json").write_text(json.dumps(content))
    (tmp_path / "found.json").write_text(json.dumps([{**box, "score": k / 128} for k, box in enumerate(boxes, 1)]))
    files = ["--predictions", str(tmp_path / "found.json"), "--references", str(tmp_path / "true.json")]
    code, output, errors = run(*files, "--known-classes", "cat")
    names = ("mAP50", "mAP50-95", "precision", "recall")
    assert (code, json.loads(output)["standard_metrics"]) == (0, dict.fromkeys(names, 1.0))
    closed = f"openworld-metrics: warning: {CLOSED}\n"
    closed += (
        "openworld-metrics: warning: there are no unknown objects: U-Recall and other rates of them are left out\n"
    )
    limit = (
        "openworld-metrics: warning: COCO counts 100 predictions of a class in an image, which gives mAP50 0.990099"
        " instead of 1.000000, mAP50-95 0.990099 instead of 1.000000, recall 0.990099 instead of 1.000000; to count so,"
        " use --max-detections 100\n"
    )
    assert errors == closed + limit
    code, output, errors = run(*files, "--known-classes", "cat", "--max-detections", 100)
    assert (code, json.loads(output)["standard_metrics"]["recall"], errors) == (0, 100 / 101, closed)
    code, _, errors = run(*files, "--known-classes", "cat", "--max-detections", 100, "--no-standard")
    assert (code, "expected no --max-detections with --no-standard" in errors) == (2, True)


def test_a_warning_of_a_class_that_is_none(made: Detections, run: Run) -> None:
    """An id that is predicted and never annotated is taken for unknown, unless --unknown-id is another."""
    asked = [*FILES, "--known-classes", "0", "1", "2", "--no-standard"]
    code, output, errors = run(*asked)
    guess = "Guessed: unknown id 999 (predicted, never annotated); if the detector says unknown by another, use"
    assert (code, errors) == (0, f"openworld-metrics: note: {guess} --unknown-id N\n")
    assert output == run(*asked, "--unknown-id", "999")[1]
    code, output, errors = run(*asked, "--unknown-id", "-1")
    assert (code, errors.count("\n")) == (0, 2)
    assert CLOSED in errors
    assert "class 999 is predicted, but is neither in the data set nor --unknown-id (-1)" in errors
    assert "U-Recall" not in json.loads(output)["openset_metrics"]


def test_owod(made: Detections, run: Run) -> None:
    given = ["--protocol", "owod", "--previously-known", "cat", "dog", "--option", "recall_level=none"]
    code, output, errors = run(*FILES, *CLASSES, *given, "--report", "report", "--save", "owod.txt")
    assert (code, errors) == (0, "")
    options = {"protocol": "owod", "previously_known": [0, 1], "recall_level": None}
    assert json.loads(output) == expected(made, **options)
    assert "unknown objects called known, as papers count them; lower is better" in Path("owod.txt").read_text()
    assert Path("report/index.html").exists()


def test_folders_instead_of_data_yaml(made: Detections, run: Run) -> None:
    places = ["--predictions", "predictions", "--references", "labels", "--split", "val"]
    for more in ([], ["--images", "images"], ["--images", "images/val"]):
        code, output, errors = run(*places, *CLASSES, *more)
        assert (code, errors) == (0, "")
        assert json.loads(output) == expected(made)


def test_other_numbers_by_name(made: Detections, run: Run, tmp_path: Path) -> None:
    voc = scenes.write_as_voc(made, tmp_path / "voc")
    places = ["--predictions", "predictions", "--references", voc["references"]]
    code, output, errors = run(*places, *CLASSES)
    assert (code, output) == (2, "")
    assert errors.startswith("openworld-metrics: predictions: expected the names of the classes, since ids in YOLO")
    for names in (["data.yaml"], list(scenes.NAMES.values())):
        code, output, _ = run(*places, "--names", *names, *CLASSES)
        assert (code, json.loads(output)) == (0, expected(made))
    Path("names.txt").write_text("\n".join(scenes.NAMES.values()))
    assert run(*places, "--names", "names.txt", *CLASSES)[0] == 0
    writers.write_coco(made.dataset, "coco.json")
    assert run(*places, "--names", "coco.json", *CLASSES)[0] == 0
    # pixels from 0 are other boxes
    code, output, _ = run(*places, "--names", "data.yaml", "--voc-from-zero", *CLASSES)
    assert json.loads(output)["standard_metrics"] != expected(made)["standard_metrics"]


def test_a_model(made: Detections, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    ultralytics, model = ModuleType("ultralytics"), FakeModel(made)
    vars(ultralytics)["YOLO"] = lambda path: model
    monkeypatch.setitem(sys.modules, "ultralytics", ultralytics)
    given = ["--model", "yolo.pt", "--data", "data.yaml", *CLASSES, "--save", "x.txt", "--report", "report"]
    code, output, errors = run(*given)
    assert (code, errors) == (0, "")
    assert json.loads(output) == expected(made)
    assert model.calls[0] == {"conf": 0.001, "iou": 0.6, "verbose": False}
    run(*given, "--iou", 0.7, "--conf", 0.5, "--split", "val")
    assert model.calls[-1] == {"conf": 0.5, "iou": 0.7, "verbose": False}
    assert Path("report/index.html").exists()


WRONG: dict[str, tuple[list[str], str]] = {
    "nothing": (CLASSES, "expected --predictions and --references, or --model and --data"),
    "no classes": (["--model", "x.pt", "--data", "data.yaml"], "expected --known-classes with --model, got none"),
    "both": ([*FILES, *CLASSES, "--model", "x.pt"], "expected no --predictions with --model, got predictions"),
    "both references": (
        [*FILES, *CLASSES, "--data", "data.yaml"],
        "expected --predictions and --references, or --model",
    ),
    "images for a data.yaml": ([*FILES, *CLASSES, "--images", "images"], "data.yaml: expected no folder of images"),
    "no data": ([*CLASSES, "--model", "x.pt", "--data", "labels"], "expected --data data.yaml with --model"),
    "no ultralytics": (
        ["--model", "x.pt", "--data", "data.yaml", *CLASSES],
        "note that the licence of ultralytics is AGPL-3.0",
    ),
    "no such class": (
        [*FILES, "--known-classes", "yak"],
        "yak: expected the id or the name of a class, of 0 (cat), 1 (dog), 2 (cow)",
    ),
    "no such place": (["--predictions", "x", *FILES[2:], *CLASSES], "x: expected a file or a folder, got none"),
    "no such split": ([*FILES, *CLASSES, "--split", "test"], "data.yaml: expected a split 'test', got val"),
    "no such id": ([*FILES, *CLASSES, "--unknown-id", "x"], "'x' is not a valid integer"),
    "an id that is known": (
        [*FILES, *CLASSES, "--unknown-id", "1"],
        "known_classes: expected them without unknown_class",
    ),
    "no such option": ([*FILES, *CLASSES, "--option", "k=1"], "openset_detection takes known_classes, "),
    "another format": ([*FILES, *CLASSES, "--option", "box_format=xywh"], "expected other options than box_format"),
    "no such confidence": ([*FILES, *CLASSES, "--conf", "2"], "2.0 is not in the range 0<=x<=1"),
    "another ending": ([*FILES, *CLASSES, "--save", "x.csv"], "x.csv: expected a file ending in .txt or .json"),
    "no such folder": ([*FILES, *CLASSES, "--save", "no/such/x.txt"], "no/such: No such file or directory"),
    "a folder in place of a page": ([*FILES, *CLASSES, "--report", "odd"], "odd/index.html: Is a directory"),
    "a report in a file": ([*FILES, *CLASSES, "--report", "data.yaml/x"], "data.yaml: Not a directory"),
    "a model compared": (
        ["--model", "m.pt", *FILES[2:], *CLASSES, "--compare", "o"],
        "expected no --compare with --model",
    ),
    "a report of boxes that touch": (
        [*FILES, *CLASSES, "--report", "report", "--iou-threshold", "0.05"],
        "--report: expected an --iou-threshold of at least 0.1, got 0.05",
    ),
    "a report and no threshold": (
        [*FILES, *CLASSES, "--report", "report", "--iou-threshold", "x"],
        "iou_threshold: exp",
    ),
    "another detector's bad line": (
        [*FILES, *CLASSES, "--compare", "labels/bad"],
        "labels/bad/0000.txt:1: expected class",
    ),
    "a report for a file": ([*FILES, *CLASSES, "--report", "data.yaml"], "Directory 'data.yaml' is a file"),
    "a bad line": ([*FILES[:3], "bad.yaml", *CLASSES], "labels/bad/0000.txt:2: expected numbers, got 'x'"),
    "an argument": ([*FILES, "--unknown-id", "1", "2", "--known-classes", "0"], "Got unexpected extra argument"),
}


@pytest.fixture
def others(made: Detections, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files beside the data set that flags may name."""
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    for folder in ("images/bad", "labels/bad", "odd/index.html"):
        Path(folder).mkdir(parents=True)
    Path("images/bad/0000.png").write_bytes(Path("images/val/0000.png").read_bytes())
    Path("labels/bad/0000.txt").write_text("0 .5 .5 .5 .5\nx\n")
    Path("bad.yaml").write_text("val: images/bad\nnames: [cat]")
    Path("link.txt").symlink_to("labels/val/0001.txt")
    for path in ("labels/val/0001.txt", "predictions/0001.txt"):
        Path(path).touch()
    Path("names.txt").write_text("cat")
    Path("list.yaml").write_text("val: list.txt\nnames: [cat]")
    Path("list.txt").write_text("images/val/0001.png")
    Path("coco.json").write_text("{}")


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line(name: str, run: Run) -> None:
    arguments, words = WRONG[name]
    code, output, errors = run(*arguments)
    assert (code, output, errors.count("\n")) == (2, "", 1)
    assert errors.startswith("openworld-metrics: ")
    assert words in errors


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize(
    ("references", "file"),
    [
        ("data.yaml", "predictions/0001.txt"),
        ("data.yaml", "labels/val/0001.txt"),
        ("data.yaml", "link.txt"),
        ("list.yaml", "list.txt"),
        ("labels", "labels/val/0001.txt"),
        ("coco.json", "coco.json"),
        ("data.yaml", "names.txt"),
    ],
)
def test_what_is_read_is_not_written_to(references: str, file: str, run: Run) -> None:
    names = ["--names", "names.txt"] if file == "names.txt" else []
    code, output, errors = run(*FILES[:3], references, *CLASSES, *names, "--save", file)
    assert (code, output) == (2, "")
    assert errors == f"openworld-metrics: {file}: expected another file to write to, got one that is read\n"


def test_results_are_printed_though_they_cannot_be_saved(
    made: Detections, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", full)
        code, output, errors = run(*FILES, *CLASSES, "--save", "x.txt")
    assert (code, json.loads(output)) == (2, expected(made))
    assert errors == "openworld-metrics: x.txt: No space left on device\n"
    # a report that cannot be drawn costs neither
    for image in Path("images/val").iterdir():
        image.write_bytes(image.read_bytes()[:60])
    code, output, errors = run(*FILES, *CLASSES, "--save", "x.json", "--report", "report")
    assert (code, json.loads(output)) == (2, expected(made))
    assert json.loads(Path("x.json").read_text()) == expected(made)
    assert re.fullmatch(r"openworld-metrics: images/val/\d+.png: .*truncated.*\n", errors)
    assert not Path("report").exists()


def test_a_report_among_the_images_leaves_them_as_they_are(made: Detections, run: Run) -> None:
    images = {path: path.read_bytes() for path in Path("images/val").iterdir()}
    code, _, errors = run(*FILES, *CLASSES, "--report", "images/val")
    assert (code, errors) == (0, "")
    assert {path: path.read_bytes() for path in Path("images/val").glob("*.png")} == images
    assert run(*FILES, *CLASSES)[0] == 0


def test_text_and_a_bar_on_a_terminal(made: Detections, tmp_path: Path) -> None:
    arguments = ["detect", *FILES, *CLASSES, "--report", "report", "--save", "x.json"]
    printed = on_terminal(arguments, tmp_path).replace("\r\n", "\n")
    uncoloured = re.sub(r"\x1b\[\d*m", "", printed)
    results = expected(made, confidence_level=0.95)
    assert f"{summaries.summary(results, digits=DIGITS, width=80)}\n\n95 % intervals: 1,000 resamples\n" in uncoloured
    assert "0/10 [" in printed
    assert "10/10 [" in printed
    assert "100%" in printed
    assert re.search(r"\r +\r", printed)  # the bar went when it was done
    assert printed.rstrip().endswith("report: report/index.html")
    assert re.search(r"U-Recall +\d\.\d{3}  \[\d\.\d{3}, \d\.\d{3}\]  share of", uncoloured)
    assert max(map(len, uncoloured.rpartition("\r")[2].splitlines())) <= 80
    assert json.loads((tmp_path / "x.json").read_text()) == expected(made)  # without automatic intervals


def test_no_intervals_where_a_resample_lacks_a_recall(made: Detections, tmp_path: Path) -> None:
    results = expected(made, protocol="owod", recall_level=0.3)
    with pytest.raises(ValueError, match="among resampled images, recall_level"):
        expected(made, protocol="owod", recall_level=0.3, confidence_level=0.95)
    flags = ["--protocol", "owod", "--recall-level", "0.3"]
    printed = on_terminal(["detect", *FILES, *CLASSES, *flags], tmp_path, NO_COLOR="1").replace("\r\n", "\n")
    assert summaries.summary(results, digits=DIGITS, width=80) in printed
    assert "No intervals: among resampled images, recall_level" in " ".join(printed.split())


def test_what_is_left_out(made: Detections, tmp_path: Path, run: Run) -> None:
    name = next(path for path in sorted((tmp_path / "labels/val").iterdir()))
    lines = name.read_text().splitlines()
    name.write_text("\n".join([*lines, *lines]))
    (tmp_path / "images/val/Thumbs.db").touch()
    code, output, errors = run(*FILES, *CLASSES, "--compare", "predictions", "--no-standard")
    again = [f"labels/val/{name.name}:{number}" for number in range(len(lines) + 1, 2 * len(lines) + 1)]
    boxes = (
        f"1 box stated twice ({again[0]})"
        if len(lines) == 1
        else f"{len(lines)} boxes stated twice (such as {again[0]})"
    )
    other = "1 other file beside images and labels (images/val/Thumbs.db)"
    assert (code, errors) == (0, f"openworld-metrics: warning: left out: {boxes}, {other}\n")
    results = json.loads(output)
    assert results["openset_metrics"] == expected(made)["openset_metrics"]
    assert [(each["kind"], each["number"]) for each in results["census"]["left_out"]] == [
        ("boxes", len(lines)),
        ("other files", 1),
    ]


def test_results_of_voc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """A file a class, in COCO's spelling; one image of the set has no prediction."""
    page = "<annotation><object><name>{}</name><bndbox>{}</bndbox></object></annotation>"
    box = "".join(f"<{corner}>{x}</{corner}>" for corner, x in zip(("xmin", "ymin", "xmax", "ymax"), (1, 1, 8, 8)))
    names = {"a": "aeroplane", "b": "yak", "c": "yak", "d": "cat"}
    files = {f"Annotations/{image}.xml": page.format(name, box) for image, name in names.items()}
    files |= {"results/airplane.txt": "a 0.9 1 1 8 8", "results/unknown.txt": "b 0.8 1 1 8 8", "set.txt": "a\nb\nc\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    where = ["--predictions", "results", "--references", "Annotations", "--known-classes", "airplane"]
    code, output, errors = run(*where, "--image-set", "set.txt", "--no-standard")
    openset = json.loads(output)["openset_metrics"]
    assert (code, openset["U-Recall"], openset["Recall(Known)"]) == (0, 0.5, 1.0)
    assert errors == (
        "openworld-metrics: warning: classes that COCO and Pascal VOC spell differently count as one: airplane is"
        " aeroplane\n"
        "openworld-metrics: warning: left out: 1 label file of images not in set.txt (Annotations/d.xml)\n"
    )
    code, _, errors = run(*where, "--image-set", "set.txt", "--save", "set.txt")
    assert (code, errors) == (
        2,
        "openworld-metrics: set.txt: expected another file to write to, got one that is read\n",
    )


def test_two_detectors(made: Detections, run: Run) -> None:
    worse = made._replace(predictions=[{**boxes, "labels": boxes["labels"] * 0 + 2} for boxes in made.predictions])
    writers.write_yolo_predictions(worse, "other")
    drawn = ["--confidence-level", 0.8, "--n-resamples", 50, "--random-state", 3]
    arguments = [*FILES, *CLASSES, "--compare", "other", *drawn]
    code, output, errors = run(*arguments, "--save", "x.json", "--save", "x.txt", "--report", "report")
    assert (code, errors) == (0, "")
    results = json.loads(output)
    assert results == json.loads(Path("x.json").read_text())
    options = {"confidence_level": 0.8, "n_resamples": 50, "random_state": 3}
    assert results["openset_metrics"] == expected(made, **options)["openset_metrics"]
    assert results["other"] == expected(worse._replace(unknown_class_id=scenes.UNKNOWN_ID), **options)
    assert results["other"]["openset_metrics"]["U-Recall"] == 0.0, "asked, since the first detector has the class"
    metric = OpenSetDetection(known_classes=scenes.KNOWN, unknown_class_id=scenes.UNKNOWN_ID, conf_threshold=0.001)
    both = made.predictions, worse.predictions
    assert results["comparison"] == compare(metric, *both, references=made.dataset.references, **options)
    row = results["comparison"]["key"].index("U-Recall")
    assert results["comparison"]["better"][row] == "first"
    printed = Path("x.txt").read_text()
    assert printed == summaries.summary(results) + "\n"
    assert re.search(r"Two detectors on the same images\n\nkey .* better\n(.*\n)*A-OSE .* first\n", printed)
    page = Path("report/index.html").read_text()
    assert "<b>predictions vs other:</b> U-Recall" in page
    assert "<b>predictions is better</b>" in page
    bars = re.findall(r"(\w+) objects, (predictions|other): found", page)
    assert bars == [(side, name) for side in ("unknown", "known") for name in ("predictions", "other")]


@pytest.mark.parametrize("protocol", [[], ["--protocol", "owod", "--recall-level", "none"]], ids=["ow-dln", "owod"])
def test_a_detector_without_an_unknown_class(protocol: list[str], made: Detections, run: Run) -> None:
    """No number says 0.000 of a question that was not asked: in JSON, text, files and the report, and one line why."""
    known = [{**boxes, "labels": boxes["labels"] % 3} for boxes in made.predictions]
    for name, found in (("closed", known), ("other", [{**boxes, "labels": boxes["labels"] * 0} for boxes in known])):
        writers.write_yolo_predictions(made._replace(predictions=found), name)
    note = f"openworld-metrics: warning: {CLOSED}\n"
    asked = ["--predictions", "closed", "--references", "data.yaml", "--known-classes", "0", "1", "2", *protocol]
    drawn = ["--confidence-level", 0.9, "--n-resamples", 20, "--per-class", "--errors"]
    more_files = ["--save", "x.json", "--save", "x.txt", "--report", "report"]
    for more in ([], ["--compare", "other"]):
        code, output, errors = run(*asked, *drawn, *more_files, *more)
        assert (code, errors) == (0, note)
        results = json.loads(output)
        assert results == json.loads(Path("x.json").read_text())
        assert "A-OSE" in results["openset_metrics"]
        texts = [
            output,
            Path("x.txt").read_text(),
            html.unescape(Path("report/index.html").read_text()).replace(note[28:-1], ""),
        ]
        assert not re.search(r"U-(Recall|AP|F1)", "".join(texts))
        assert "unknown" not in results["openset_metrics"]["per_class"]["name"]
        page = Path("report/index.html").read_text()
        assert page.count("no prediction is unknown: U-Recall") == 1
        assert re.search(r"Of the unknown objects \d+ % called a known class", page)
        assert " % found" not in page
    shown = on_terminal([*map(str, ("detect", *asked))], Path())
    assert "no prediction is unknown" in shown
    assert "U-Recall  " not in shown
    assert "A-OSE" in shown
    assert run(*asked, "--unknown-below", "0.3")[2] == ""


def test_names_are_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    """A data set with both spellings, and a class called unknown."""
    names = {1: "sofa", 2: "couch", 3: "yak", 9: "Unknown"}
    boxes = [[0, 0, 8, 8], [20, 20, 8, 8], [40, 40, 8, 8]]
    true = [{"id": i, "image_id": 1, "category_id": k, "bbox": box} for i, (k, box) in enumerate(zip((1, 2, 3), boxes))]
    found = [{"image_id": 1, "category_id": k, "bbox": box, "score": 0.9} for k, box in zip((2, 1, 9), boxes)]
    categories = [{"id": i, "name": name} for i, name in names.items()]
    content = {"images": [{"id": 1, "width": 50, "height": 50}], "annotations": true, "categories": categories}
    monkeypatch.chdir(tmp_path)
    Path("true.json").write_text(json.dumps(content))
    Path("found.json").write_text(json.dumps(found))
    asked = ["--predictions", "found.json", "--references", "true.json", "--compare", "found.json"]
    spelled = "warning: classes that COCO and Pascal VOC spell differently count as one: couch is sofa\n"
    unknown = "warning: class 9, 'Unknown', is taken for the unknown class; --unknown-id N sets another\n"
    for known in (["couch"], ["sofa"], ["2"], ["1", "2"]):
        code, output, errors = run(*asked, "--known-classes", *known)
        assert (code, errors) == (0, f"openworld-metrics: {spelled}openworld-metrics: {unknown}")
        counts = json.loads(output)["openset_metrics"]
        assert [counts[name] for name in ("TP_known", "TP_unknown", "total_known")] == [2, 1, 2]
    code, output, errors = run(*asked, "--known-classes", "sofa", "Unknown")
    assert (code, output) == (2, "")
    assert "known_classes: expected them without class 9, since its name, 'Unknown', means unknown" in errors
    code, output, errors = run(*asked, "--known-classes", "sofa", "Unknown", "--unknown-id", "3")
    nothing = "warning: no objects of 1 of 2 known classes (Unknown): it has no recall or AP, and means over classes"
    assert (code, errors) == (0, f"openworld-metrics: {spelled}openworld-metrics: {nothing} leave it out\n")
    assert json.loads(output)["openset_metrics"]["TP_known"] == 2
