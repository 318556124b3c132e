"""openworld-metrics detect: files that state what no metric uses, that are ambiguous, or that hold no objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.conftest import Run

IMAGES: list[dict[str, Any]] = [{"id": 1, "file_name": "x.jpg", "width": 100, "height": 100}]
IMAGES += [{"id": 2, "file_name": "y.jpg", "width": 100, "height": 100}]
CATEGORIES = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
STANDARD = ("mAP50", "mAP50-95", "precision", "recall")


def annotation(i: int, image: int, category: int, box: list[float], **more: Any) -> dict[str, Any]:
    return {"id": i, "image_id": image, "category_id": category, "bbox": box, "iscrowd": 0, **more}


TRUE = [annotation(1, 1, 1, [10, 10, 20, 20]), annotation(2, 2, 2, [30, 30, 20, 20])]
FOUND = [{"image_id": i, "category_id": i, "bbox": TRUE[i - 1]["bbox"], "score": 0.9} for i in (1, 2)]


@pytest.fixture
def detect(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command on COCO's files; returns the exit code, the results and the warnings."""
    monkeypatch.chdir(tmp_path)

    def of(true: list[dict[str, Any]], found: Any, *more: Any, images: Any = IMAGES) -> Any:
        content = {"images": images, "categories": CATEGORIES, "annotations": true}
        Path("true.json").write_text(json.dumps(content))
        Path("found.json").write_text(json.dumps(found))
        return outcome(run, "true.json", "found.json", *more)

    return of


def outcome(run: Run, true: str, found: str, *more: Any, known: tuple[str, ...] = ("cat", "dog")) -> Any:
    places = ["--references", true, "--predictions", found, "--known-classes", *known]
    code, output, errors = run("detect", *places, *more)
    assert "NaN" not in output
    return code, json.loads(output) if output.startswith("{") else {}, errors


@pytest.mark.parametrize(
    ("true", "sentence"),
    [
        ([], "there are no known objects: recall, mAP"),
        ([{**entry, "iscrowd": 1} for entry in TRUE], "there are no known objects, but 2 ignored: recall, mAP"),
        ([{**entry, "ignore": 1} for entry in TRUE], "there are no known objects, but 2 ignored: recall, mAP"),
    ],
    ids=["none", "crowd", "ignore"],
)
def test_no_objects(true: list[dict[str, Any]], sentence: str, detect: Any) -> None:
    code, results, errors = detect(true, FOUND, "--per-class")
    openset = results["openset_metrics"]
    assert (code, results["standard_metrics"]) == (0, {})
    assert not {"U-Recall", "WI", "A-OSE", "Recall(Known)"} & openset.keys()
    assert openset["per_class"]["Recall"] == [None, None]
    assert sentence in errors
    code, results, errors = detect(true, FOUND, "--option", "protocol=owod", "--option", "recall_level=none")
    assert code == 0
    assert not {"mAP", "Precision(K)", "Recall(K)", "WI(OWOD)", "U-AP"} & results["openset_metrics"].keys()
    code, _, errors = detect(true, FOUND, "--format", "text", "--compare", "found.json")
    assert code == 0


def test_a_class_without_objects(detect: Any) -> None:
    code, results, errors = detect(TRUE[:1], FOUND[:1], "--per-class")
    assert (code, results["standard_metrics"]) == (0, dict.fromkeys(STANDARD, 1.0))
    assert results["openset_metrics"]["per_class"]["Recall"][:2] == [1.0, None]
    assert "no objects of 1 of 2 known classes (dog): it has no recall or AP" in errors


@pytest.mark.parametrize("rotation", [90.0, -30, "12"])
def test_rotated_boxes_are_refused(rotation: Any, detect: Any) -> None:
    true = [{**TRUE[0], "attributes": {"occluded": False, "rotation": rotation}}]
    code, _, errors = detect([TRUE[1], {**true[0], "id": 9}], FOUND)
    assert code == 2
    assert "true.json: annotations[1]: expected attributes.rotation to be 0, since rotated boxes are not" in errors
    straight = [{**entry, "attributes": {"rotation": 0.0}} for entry in TRUE]
    assert detect(straight, FOUND)[1]["standard_metrics"]["mAP50"] == 1.0


@pytest.mark.parametrize(
    "field",
    [
        "<attributes><attribute><name>rotation</name><value>90.0</value></attribute></attributes>",
        "<rotation>90</rotation>",
    ],
)
def test_rotated_boxes_of_voc_are_refused(
    field: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("voc").mkdir()
    box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    for more, code in ((field, 2), (field.replace("90", "0"), 0)):
        text = f"<annotation>\n<object><name>cat</name>{box}{more}</object></annotation>"
        Path("voc/a.xml").write_text(text)
        Path("p").mkdir(exist_ok=True)
        Path("p/cat.txt").write_text("a 0.9 1 1 9 9\n")
        came, _, errors = outcome(run, "voc", "p", known=("cat",))
        assert (came, "a.xml:2: expected" in errors and "since rotated boxes are not read" in errors) == (
            code,
            code == 2,
        )


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("not_exhaustive_category_ids", "LVIS leaves out unmatched predictions of these classes, which here are wrong"),
        ("neg_category_ids", "LVIS counts a class only in images that have it or list it, and here it counts in all"),
    ],
)
def test_lists_of_lvis_are_named(field: str, words: str, detect: Any) -> None:
    plain = detect(TRUE, FOUND)
    code, results, errors = detect(TRUE, FOUND, images=[{**IMAGES[0], field: [2]}, {**IMAGES[1], field: []}])
    assert (code, f"1 of 2 images have {field}: {words}" in errors) == (0, True)
    assert results["openset_metrics"] == plain[1]["openset_metrics"]
    assert "images have" not in plain[2]


def test_numbers_that_are_ids_and_names(detect: Any) -> None:
    """The images 2.jpg and 1.jpg have the ids 1 and 2."""
    images = [{**IMAGES[0], "file_name": "2.jpg"}, {**IMAGES[1], "file_name": "1.jpg"}]
    code, results, errors = detect(TRUE, FOUND, images=images)
    assert (code, results["standard_metrics"]["mAP50"]) == (0, 1.0)
    assert "image_id 1 is the id of image 2 and the name of image 1: all are taken as ids" in errors
    names = [{**entry, "image_id": 3 - entry["image_id"]} for entry in FOUND]
    code, _, errors = detect(TRUE, names, images=images)
    assert (code, "found.json: results[0]: expected image_id to mean one image, got 2" in errors) == (2, True)
    assert "as ids 0 of the predictions overlap an object, as names 2" in errors
    # ids that are no name of another image, as the error advises
    other = [{**image, "id": image["id"] + 100} for image in images]
    true = [{**entry, "image_id": entry["image_id"] + 100} for entry in TRUE]
    assert detect(true, names, images=other)[1]["standard_metrics"]["mAP50"] == 1.0


@pytest.mark.parametrize(("ids", "came"), [((1, 2), "the text '1'"), (("1", "2"), "the number 1")])
def test_ids_of_another_type(ids: tuple[Any, Any], came: str, detect: Any) -> None:
    images = [{**image, "id": own} for image, own in zip(IMAGES, ids)]
    true = [{**entry, "image_id": ids[entry["image_id"] - 1]} for entry in TRUE]
    other = [{**entry, "image_id": (str if ids == (1, 2) else int)(entry["image_id"])} for entry in FOUND]
    code, _, errors = detect(true, other, images=images)
    assert code == 2
    assert f"; the references have the {'number 1' if ids == (1, 2) else repr('1')}"[:25] in errors
    assert f"and the results {came}" in errors


def test_boxes_outside_of_their_images(detect: Any) -> None:
    far = [{**FOUND[0], "bbox": [64, 64, 128, 128]}, {**FOUND[1], "bbox": [90, 90, 12, 5]}]
    code, _, errors = detect(TRUE, far)
    assert code == 0
    assert (
        "2 of 2 predicted boxes leave their images by more than a pixel (such as in x), 1 with the centre outside: are"
        " they in pixels of another size?" in errors
    )
    code, _, errors = detect([TRUE[0], {**TRUE[1], "bbox": [120, 5, 20, 20]}], FOUND)
    assert "1 of 2 objects leave their images by more than a pixel (such as in y), 1 with the centre outside" in errors
    assert "leave their images" not in detect(TRUE, [{**FOUND[0], "bbox": [-1, 81, 20, 20]}])[2]  # by a pixel


def test_ids_of_classes_shifted_by_one(detect: Any) -> None:
    true = [annotation(i, 1, 1, [20 * i, 0, 15, 15]) for i in range(3)]
    found = [{"image_id": 1, "category_id": 2, "bbox": entry["bbox"], "score": 0.5} for entry in true]
    sentence = "3 of 3 objects that predicted boxes overlap get the class id after their own: do ids count from 1 there"
    assert sentence in detect(true, found)[2]
    assert "class id after" not in detect(true, [*found[:1], {**found[1], "category_id": 1}, found[2]])[2]


def test_boxes_within_a_crowd(detect: Any) -> None:
    crowd = annotation(3, 1, 1, [40, 40, 60, 60], iscrowd=1)
    inside = [{**FOUND[0], "bbox": [40 + 20 * i, 40, 15, 15]} for i in range(3)]
    code, results, errors = detect([*TRUE, crowd], [*FOUND, *inside])
    assert (code, results["standard_metrics"]["precision"], results["openset_metrics"]["FP_known"]) == (0, 1.0, 3)
    assert "3 predicted boxes lie within ignored objects (crowds) that they overlap by an IoU below 0.5" in errors
    assert "crowds" not in detect([*TRUE, crowd], FOUND)[2]


@pytest.fixture
def yolo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("images", "labels", "pred"):
        Path(folder).mkdir()
    Image.new("RGB", (100, 100)).save("images/a.jpg")
    Path("data.yaml").write_text("path: .\nval: images\nnames: [cat, dog]\n")


@pytest.mark.usefixtures("yolo")
def test_confidence_in_the_second_column(run: Run) -> None:
    Path("labels/a.txt").write_text("0 .5 .5 .2 .2\n0 .2 .2 .1 .1\n")
    Path("pred/a.txt").write_text("0 .8 .2 .2 .1 .1\n\n0 .9 .5 .5 .2 .2\n")
    code, _, errors = outcome(run, "data.yaml", "pred", known=("cat",))
    assert (code, "a.txt:3: expected class cx cy w h confidence, got a box that leaves the image" in errors) == (
        2,
        True,
    )
    Path("pred/a.txt").write_text("0 .2 .2 .1 .1 .8\n0 .5 .5 .2 .2 .9\n")  # as the error advises
    assert outcome(run, "data.yaml", "pred", known=("cat",))[1]["openset_metrics"]["TP_known"] == 2


@pytest.mark.usefixtures("yolo")
def test_a_list_of_classes_beside_labels(run: Run) -> None:
    Path("labels/a.txt").write_text("0 .5 .5 .2 .2\n")
    Path("labels/classes.txt").write_text("dog\ncat\n")
    Path("pred/a.txt").write_text("1 .5 .5 .2 .2 .9\n")
    names = ["--images", "images", "--names", "cat", "dog"]
    code, _, errors = outcome(run, "labels", "pred", *names)
    assert (code, "classes.txt:1: expected 'cat' for class 0, as the names in use say, got 'dog'" in errors) == (
        2,
        True,
    )
    Path("labels/data.yaml").write_text("names: [dog, cat]\n")  # as the error advises, where the list is right
    code, results, _ = outcome(run, "labels", "pred", *names)
    assert (code, results["openset_metrics"]["TP_known"]) == (0, 1)
    Path("labels/data.yaml").unlink()
    Path("labels/classes.txt").write_text("cat\ndog\nyak\n")  # classes of which there is no name are not compared
    code, results, _ = outcome(run, "labels", "pred", *names)
    assert (code, results["openset_metrics"]["TP_known"]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xml", "<annotations><image id='0' name='a.jpg'/></annotations>", "CVAT's own XML; export as COCO"),
        ("a.json", {"version": "5", "shapes": [], "imagePath": "a.jpg"}, "a file of labelme; export as COCO or YOLO"),
        ("a.json", [{"id": 1, "data": {}, "annotations": []}], "tasks of Label Studio; export as COCO or YOLO"),
        ("a.json", {"labels": [0], "scores": [0.5], "bboxes": [[0, 0, 4, 4]]}, "predictions of MMDetection for one"),
        ("a.csv", "x_min,y_min,x_max,y_max,class_id,confidence\n", "a table, such as supervision's CSVSink writes"),
        ("a.pth", "", "a file of PyTorch, such as detectron2's instances_predictions.pth; detectron2 writes COCO's"),
    ],
)
@pytest.mark.parametrize("side", ["references", "predictions"])
def test_formats_that_are_not_read_are_named(
    name: str, content: Any, words: str, side: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content))
    Path("true.json").write_text(json.dumps({"images": IMAGES, "categories": CATEGORIES, "annotations": TRUE}))
    Path("found.json").write_text(json.dumps(FOUND))
    if side == "predictions" and name.endswith("xml"):
        return  # boxes of Pascal VOC have no confidence
    files = {"references": "true.json", "predictions": "found.json", side: name}
    code, _, errors = outcome(run, files["references"], files["predictions"])
    assert (code, errors.count("\n")) == (2, 1)
    assert words in errors
