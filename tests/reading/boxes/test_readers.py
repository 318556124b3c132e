"""One data set in every format is the same boxes and the same numbers; tiny files written by hand."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

import openworld_metrics
from demo import writers
from openworld_metrics import reading, suites
from openworld_metrics.reading import Dataset, Detections
from openworld_metrics.reading.places import find_images, image_size
from tests.detection import scenes

TRUE, FOUND = ("boxes", "labels", "ignored"), ("boxes", "scores", "labels")


@pytest.mark.parametrize("name", scenes.WRITERS)
@pytest.mark.parametrize("seed", range(3))
def test_every_format_gives_the_same_boxes_and_numbers(name: str, seed: int, tmp_path: Path) -> None:
    made = scenes.scene(seed, ignored=0.0 if "YOLO" in name else 0.4)  # for which YOLO has no mark
    places = scenes.WRITERS[name](made, tmp_path)
    read = reading.read_detections(**places, unknown_class_id=scenes.UNKNOWN_ID)
    scenes.assert_same_boxes(read.dataset.references, made.dataset.references, TRUE)
    scenes.assert_same_boxes(read.predictions, made.predictions, FOUND)
    options: dict[str, Any] = {"unknown_class_id": scenes.UNKNOWN_ID, "conf_threshold": 0.1}
    results = suites.evaluate_detections(read, scenes.KNOWN, **options)
    metric = openworld_metrics.load("openset_detection", known_classes=scenes.KNOWN, **options)
    expected = metric.compute(predictions=made.predictions, references=made.dataset.references)
    assert results["openset_metrics"] == expected
    assert results == suites.evaluate_detections(made, scenes.KNOWN, **options)


def test_tensors_in_a_file(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    made = scenes.scene(1)
    for side, images in (("predictions", made.predictions), ("references", made.dataset.references)):
        tensors = [{key: torch.from_numpy(column) for key, column in boxes.items()} for boxes in images]
        torch.save(tensors, tmp_path / f"{side}.pt")
    read = reading.read_detections(tmp_path / "predictions.pt", tmp_path / "references.pt")
    scenes.assert_same_boxes(read.dataset.references, made.dataset.references, TRUE)
    scenes.assert_same_boxes(read.predictions, made.predictions, FOUND)


sides = st.floats(0, 1, allow_subnormal=False)


@st.composite
def any_detections(draw: st.DrawFn) -> Detections:
    images = draw(st.lists(st.lists(st.tuples(sides, sides, sides, sides, sides, st.integers(0, 4)), max_size=4)))
    sizes = draw(st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 5000)), min_size=len(images)))[: len(images)]
    tables = [np.asarray(rows, dtype=np.float64).reshape(-1, 6) for rows in images]
    boxes = [np.sort(table[:, :4].reshape(-1, 2, 2), axis=1).reshape(-1, 4) for table in tables]
    # multiples of 2^-30, to which Pascal VOC's 1 is added without rounding: a box of no height stays one
    boxes = [np.round(corners * [*size, *size] * 2**30) / 2**30 for corners, size in zip(boxes, sizes)]
    labels = [table[:, 5].astype(np.int64) for table in tables]
    once = [np.unique(np.column_stack([b, c]), axis=0, return_index=True)[1] for b, c in zip(boxes, labels)]
    true = [dict(boxes=b[i], labels=c[i], ignored=0 * c[i]) for b, c, i in zip(boxes, labels, once)]
    found = [dict(boxes=b, scores=t[:, 4], labels=c) for b, t, c in zip(boxes, tables, labels)]
    names = [f"{i:04}" for i in range(len(images))]
    dataset = Dataset(names, true, scenes.NAMES, [None] * len(names), [*sizes], list(range(len(names))))
    return Detections(dataset, found)


@given(any_detections())
@settings(max_examples=40)
def test_any_boxes_are_read_as_written(made: Detections) -> None:
    with tempfile.TemporaryDirectory() as folder:
        places = scenes.write_as_coco(made, Path(folder))
        coco = reading.read_detections(**places)
        pages = [scenes.voc(*page) for page in zip(made.dataset.references, made.dataset.sizes)]
        texts = Path(folder, "texts")
        writers.write_yolo_predictions(made, texts)
        for path in [*texts.glob("*.txt")]:
            if not path.read_text():
                path.unlink()
        true = Path(folder, "instances.json")
        yolo = reading.read_detections(texts, true, classes=scenes.NAMES) if any(texts.glob("*.txt")) else made
        for name, page in zip(made.dataset.names, pages):
            Path(folder, f"{name}.xml").write_text(page)
        voc = reading.read_references(folder, classes=scenes.NAMES) if pages else made.dataset
    scenes.assert_same_boxes(coco.dataset.references, made.dataset.references, TRUE, 1e-11)
    scenes.assert_same_boxes(voc.references, made.dataset.references, TRUE, 1e-11)
    for read in (coco, yolo):
        scenes.assert_same_boxes(read.predictions, made.predictions, FOUND, 1e-11)
        # what a threshold or a rank may hang on has all its digits
        scenes.assert_same_boxes(read.predictions, made.predictions, ("scores", "labels"))


def picture(path: Path, width: int, height: int, **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (width, height)).save(path, **options)


def test_yolo_by_hand(tmp_path: Path) -> None:
    picture(tmp_path / "images/val/a/x.jpg", 200, 100)
    picture(tmp_path / "images/val/y.png", 10, 20)
    labels = tmp_path / "labels" / "val"
    (labels / "a").mkdir(parents=True)
    # a box, a triangle, an empty line
    (labels / "a" / "x.txt").write_text("3 0.5 0.5 0.25 0.5\n\n1 0.1 0.2 0.3 0.2 0.2 0.6\n")
    (labels / "classes.txt").write_text("cat\n")  # as annotation tools leave it
    dataset = reading.read_references(labels, classes={1: "dog", 3: "fox"})
    assert (dataset.names, dataset.sizes) == (["a/x", "y"], [(200, 100), (10, 20)])
    np.testing.assert_allclose(dataset.references[0]["boxes"], [[75, 25, 125, 75], [20, 20, 60, 60]])
    assert dataset.references[0]["labels"].tolist() == [3, 1]
    assert dataset.references[1]["boxes"].shape == (0, 4)
    assert dataset.paths == [tmp_path / "images/val/a/x.jpg", tmp_path / "images/val/y.png"]

    found = tmp_path / "found"  # flat, as Ultralytics saves them
    found.mkdir()
    (found / "x.txt").write_text("999 0.5 0.5 0.25 0.5 0.875\n")
    predictions = reading.read_detections(found, labels).predictions
    assert [boxes["scores"].tolist() for boxes in predictions] == [[0.875], []]
    assert predictions[0]["boxes"].tolist() == [[75, 25, 125, 75]]


def test_data_yaml_by_hand(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        picture(tmp_path / "set/images" / f"{name}.png", 8, 8)
    (tmp_path / "set/labels").mkdir()
    (tmp_path / "set/labels/one.txt").write_text("0 0.5 0.5 1 1")
    (tmp_path / "set/some.txt").write_text("./images/three.png\nimages/one.png\n\n")
    (tmp_path / "data.yaml").write_text(
        "path: set\ntrain: images\nval: some.txt\ntest: [some.txt, images/../images]\nnames: [cat, dog]\n"
    )
    val = reading.read_references(tmp_path / "data.yaml")
    assert (val.names, val.classes) == (["three", "one"], {0: "cat", 1: "dog"})
    assert [boxes["boxes"].tolist() for boxes in val.references] == [[], [[0, 0, 8, 8]]]
    assert reading.read_references(tmp_path / "data.yaml", split="train").names == ["one", "three", "two"]
    with pytest.raises(ValueError, match=r"data.yaml: expected each image of test once, got three twice"):
        reading.read_references(tmp_path / "data.yaml", split="test")
    # an exporter's, without path, and with folders as seen from a folder that is not there
    (tmp_path / "set/data.yaml").write_text("val: ../images\nnc: 1\nnames: ['cat']\n")
    assert reading.read_references(tmp_path / "set/data.yaml").names == ["one", "three", "two"]


def test_coco_by_hand(tmp_path: Path) -> None:
    annotations = {
        "images": [
            {"id": 7, "file_name": "val/b.jpg", "width": 30, "height": 20},
            {"id": 2, "file_name": "val/a.jpg", "width": 30, "height": 20},
        ],
        "categories": [{"id": 18, "name": "dog"}, {"id": 44, "name": "bottle"}],
        "annotations": [
            {"id": 1, "image_id": 2, "category_id": 44, "bbox": [1, 2, 3, 4], "iscrowd": 0},
            {"id": 2, "image_id": 7, "category_id": 18, "bbox": [5.5, 6, 7, 8], "iscrowd": 1},
            {"id": 3, "image_id": 2, "category_id": 18, "bbox": [0, 0, 1, 1]},
        ],
    }
    (tmp_path / "instances.json").write_text(json.dumps(annotations))
    (tmp_path / "results.json").write_text(
        json.dumps([{"image_id": 2, "category_id": 999, "bbox": [1, 2, 3, 4], "score": 0.5}])
    )
    dataset = reading.read_references(tmp_path / "instances.json")
    assert (dataset.names, dataset.ids, dataset.classes) == (["val/b", "val/a"], [7, 2], {18: "dog", 44: "bottle"})
    assert dataset.references[0]["boxes"].tolist() == [[5.5, 6, 12.5, 14]]
    assert [boxes["ignored"].tolist() for boxes in dataset.references] == [[1], [0, 0]]
    assert dataset.references[1]["boxes"].tolist() == [[1, 2, 4, 6], [0, 0, 1, 1]]
    found = reading.read_detections(tmp_path / "results.json", tmp_path / "instances.json", unknown_class_id=999)
    assert [boxes["boxes"].tolist() for boxes in found.predictions] == [[], [[1, 2, 4, 6]]]

    picture(tmp_path / "pictures/a.jpg", 30, 20)
    picture(tmp_path / "pictures/b.jpg", 30, 20)
    with_images = reading.read_references(tmp_path / "instances.json", images=tmp_path / "pictures")
    assert with_images.paths == [tmp_path / "pictures/b.jpg", tmp_path / "pictures/a.jpg"]


VOC = """<annotation>
  <filename>x.jpg</filename>
  <size><width>30</width><height>20</height></size>
  <object>
    <name>dog</name><truncated>1</truncated>
    <bndbox><xmin>1</xmin><ymin>1</ymin><xmax>30</xmax><ymax>20</ymax></bndbox>
    <part><name>head</name><bndbox><xmin>9</xmin><ymin>9</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></part>
  </object>
  <object>
    <name>cat</name><difficult>1</difficult>
    <bndbox><ymax>7.5</ymax><xmax>6</xmax><ymin>5</ymin><xmin>4</xmin></bndbox>
  </object>
</annotation>"""


def test_voc_by_hand(tmp_path: Path) -> None:
    (tmp_path / "Annotations").mkdir()
    (tmp_path / "Annotations" / "x.xml").write_text(VOC)
    dataset = reading.read_references(tmp_path / "Annotations")
    assert (dataset.names, dataset.classes, dataset.sizes) == (["x"], {0: "cat", 1: "dog"}, [(30, 20)])
    assert dataset.references[0]["boxes"].tolist() == [[0, 0, 30, 20], [3, 4, 6, 7.5]]
    assert dataset.references[0]["ignored"].tolist() == [0, 1]
    as_written = reading.read_references(tmp_path / "Annotations", classes={5: "dog", 6: "cat"}, one_based=False)
    assert as_written.references[0]["boxes"].tolist() == [[1, 1, 30, 20], [4, 5, 6, 7.5]]
    assert as_written.references[0]["labels"].tolist() == [5, 6]

    picture(tmp_path / "JPEGImages/x.jpg", 30, 20)
    picture(tmp_path / "JPEGImages/y.jpg", 40, 20)
    assert reading.read_references(tmp_path / "Annotations").paths == [tmp_path / "JPEGImages/x.jpg"]
    # an image without annotations belongs to the data set if its folder is named, or a list has it
    assert reading.read_references(tmp_path / "Annotations", images=tmp_path / "JPEGImages").names == ["x", "y"]
    (tmp_path / "ImageSets/Main").mkdir(parents=True)
    (tmp_path / "ImageSets/Main/test.txt").write_text("y  1\nx -1\n")
    listed = reading.read_references(tmp_path / "Annotations", split="test")
    assert (listed.names, [len(boxes["labels"]) for boxes in listed.references]) == (["y", "x"], [0, 2])


def test_targets_of_transformers() -> None:
    target = {
        "image_id": np.asarray([139]),
        "class_labels": [17],
        "boxes": np.asarray([[0.5, 0.5, 0.5, 1.0]], dtype=np.float32),
        "orig_size": [100, 200],  # height, width
        "iscrowd": [1],
    }
    dataset = reading.read_dicts([target])
    assert dataset.references[0]["boxes"].tolist() == [[50, 0, 150, 100]]
    assert (dataset.ids, dataset.references[0]["ignored"].tolist()) == ([139], [1])
    found = {"image_id": 139, "boxes": [[50, 0, 150, 100]], "scores": [0.5], "labels": [17]}
    assert reading.read_dict_predictions([found], dataset).predictions[0]["labels"].tolist() == [17]
    assert len(reading.read_dict_predictions([], dataset._replace(ids=[], names=[])).predictions) == 0


def test_other_ids_are_matched_by_name(tmp_path: Path) -> None:
    """YOLO counts classes from 0, the COCO file beside it numbers them otherwise."""
    made = scenes.scene(2)
    places = scenes.write_as_yolo(made, tmp_path / "yolo")
    shift = {label: label + 10 for label in scenes.NAMES}
    moved = [{**boxes, "labels": boxes["labels"] + 10} for boxes in made.dataset.references]
    classes = {shift[label]: name for label, name in scenes.NAMES.items()}
    writers.write_coco(made.dataset._replace(references=moved, classes=classes), tmp_path / "coco.json")
    mixed = {"predictions": places["predictions"], "references": tmp_path / "coco.json"}
    with pytest.raises(ValueError, match=r"ids in YOLO predictions may mean other classes than in COCO references"):
        reading.read_detections(**mixed, unknown_class_id=scenes.UNKNOWN_ID)
    names = reading.read_names([str(places["references"])])
    assert names == scenes.NAMES == reading.read_names(list(scenes.NAMES.values()))
    read = reading.read_detections(**mixed, classes=names, unknown_class_id=scenes.UNKNOWN_ID)
    options: dict[str, Any] = {"unknown_class_id": scenes.UNKNOWN_ID}
    expected = suites.evaluate_detections(made, scenes.KNOWN, **options)
    found = suites.evaluate_detections(read, [shift[label] for label in scenes.KNOWN], **options)
    ids = dict.fromkeys(("options", "signature"))  # in which the ids of the classes are
    assert {**found, **ids} == {**expected, **ids}


def test_names_the_references_do_not_have_get_ids_of_their_own() -> None:
    made = scenes.scene(0)
    names = {**scenes.NAMES, 1: "yak"}
    renamed = reading.rename_classes(made, names, scenes.UNKNOWN_ID)
    labels = np.concatenate([boxes["labels"] for boxes in renamed.predictions])
    before = np.concatenate([boxes["labels"] for boxes in made.predictions])
    assert labels[before != 1].tolist() == before[before != 1].tolist()
    assert (labels[before == 1] > scenes.UNKNOWN_ID).all()


def test_a_photograph_that_is_turned(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    picture(tmp_path / "turned.jpg", 40, 30, exif=exif)
    picture(tmp_path / "upright.jpg", 40, 30)
    assert [image_size(path) for path in find_images(tmp_path).values()] == [(30, 40), (40, 30)]


def test_names_and_sizes_of_coco_reach_the_tables(tmp_path: Path) -> None:
    made = scenes.scene(2)
    read = reading.read_detections(**scenes.write_as_coco(made, tmp_path), unknown_class_id=scenes.UNKNOWN_ID)
    options: dict[str, Any] = {"unknown_class_id": scenes.UNKNOWN_ID, "per_class": True, "per_image": True}
    results = suites.evaluate_detections(read, scenes.KNOWN, standard=False, **options)["openset_metrics"]
    assert results["per_class"]["name"] == [*(scenes.NAMES[label] for label in scenes.KNOWN), "unknown"]
    sizes = [*zip(results["per_image"]["width"], results["per_image"]["height"])]
    assert sizes == made.dataset.sizes
    unsized = read._replace(dataset=read.dataset._replace(sizes=[None, *read.dataset.sizes[1:]]))
    results = suites.evaluate_detections(unsized, scenes.KNOWN, standard=False, **options)["openset_metrics"]
    assert "width" not in results["per_image"]


def yolo_set(folder: Path, *names: str, **texts: str) -> None:
    """A YOLO data set: images of 8 × 8 pixels, and text files by their paths, with _ for a slash."""
    for name in names:
        picture(folder / "images" / name, 8, 8)
    for place, text in texts.items():
        path = folder / f"{place.replace('_', '/')}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


BOX = "0 .5 .5 .5 .5"


def test_images_with_one_stem_stay_apart(tmp_path: Path) -> None:
    """The object is in a/1, the prediction in b/1: by their stems, both are image 1."""
    yolo_set(tmp_path, "a/1.png", "b/1.png", "b/x.png", labels_a_1=BOX, labels_b_1="", pred_b_1=f"{BOX} .9")
    read = reading.read_detections(tmp_path / "pred", tmp_path / "labels")
    results = suites.evaluate_detections(read, [0])
    assert results["openset_metrics"]["TP_known"] == 0
    assert results["standard_metrics"] == dict.fromkeys(("mAP50", "mAP50-95", "precision", "recall"), 0.0)


def test_suffixes_in_capitals_links_and_hidden_files(tmp_path: Path) -> None:
    yolo_set(tmp_path, "a.png", "b.PNG", ".c.png", ".ipynb_checkpoints/a.png", labels_a=BOX, labels_b=BOX)
    (tmp_path / "labels/b.txt").rename(tmp_path / "labels/b.TXT")
    (tmp_path / "labels/.a.txt").write_text(BOX)
    yolo_set(tmp_path / "more", "d.png", labels_d=BOX)
    (tmp_path / "images/linked").symlink_to(tmp_path / "more/images")
    (tmp_path / "labels/linked").symlink_to(tmp_path / "more/labels")
    (tmp_path / "data.yaml").write_text("val: images\nnames: [cat]\n")
    for place in ("labels", "data.yaml"):
        read = reading.read_references(tmp_path / place)
        assert {name: len(boxes["labels"]) for name, boxes in zip(read.names, read.references)} == {
            "a": 1,
            "b": 1,
            "linked/d": 1,
        }


def test_predictions_of_an_image_in_another_folder(tmp_path: Path) -> None:
    line = f"{BOX} .9"
    yolo_set(tmp_path, "val/1.png", "val/2.png", labels_val_2=BOX, run_labels_1=line, run_labels_2=line)
    (tmp_path / "data.yaml").write_text("val: images/val\nnames: [cat]\n")
    for place in ("run", "run/labels"):
        read = reading.read_detections(tmp_path / place, tmp_path / "data.yaml")
        assert [len(boxes["labels"]) for boxes in read.predictions] == [1, 1]
    yolo_set(tmp_path, pred_train_1=line, pred_val_2=line)
    with pytest.raises(ValueError, match=r"train/1.txt: expected predictions for an image of the references, got no"):
        reading.read_detections(tmp_path / "pred", tmp_path / "data.yaml")
    (tmp_path / "pred/train/1.txt").unlink()
    (tmp_path / "pred/classes.txt").write_text("cat\n")
    read = reading.read_detections(tmp_path / "pred", tmp_path / "data.yaml")
    assert [len(boxes["labels"]) for boxes in read.predictions] == [0, 1]


def test_names_of_other_ids_than_a_label_folder_has(tmp_path: Path) -> None:
    yolo_set(tmp_path, "1.png", labels_1=BOX)
    (tmp_path / "data.yaml").write_text("val: images\nnames: [cat, dog]\n")
    results = [{"image_id": 1, "category_id": 1, "bbox": [2, 2, 4, 4], "score": 0.9}]
    (tmp_path / "results.json").write_text(json.dumps(results))
    names = {1: "cat", 2: "dog"}
    with pytest.raises(ValueError, match=r"labels: expected a data.yaml, since a folder of labels does not say what"):
        reading.read_detections(tmp_path / "results.json", tmp_path / "labels", classes=names)
    read = reading.read_detections(tmp_path / "results.json", tmp_path / "data.yaml", classes=names)
    assert read.predictions[0]["labels"].tolist() == [0]


def test_a_label_without_a_name_and_no_label_at_all(tmp_path: Path) -> None:
    yolo_set(tmp_path, "1.png", "2.png")
    (tmp_path / "data.yaml").write_text("\ufeffval: val.txt\nnames: [cat, dog]\n")
    (tmp_path / "val.txt").write_text("\ufeffimages/1.png\nimages/2.png\n")
    with pytest.raises(
        ValueError, match=r"data.yaml: expected labels of val, empty where there are no objects, got no .*labels/1.txt"
    ):
        reading.read_references(tmp_path / "data.yaml")
    yolo_set(tmp_path, labels_2=f"{BOX}\n5 .5 .5 .5 .5")
    with pytest.raises(ValueError, match=r"labels/2.txt: expected classes of .*data.yaml, 0, 1, got 5"):
        reading.read_references(tmp_path / "data.yaml")


def test_names_with_blanks(tmp_path: Path) -> None:
    yolo_set(tmp_path, "x y.png", "z.png", labels_z=BOX)
    (tmp_path / "data.yaml").write_text("val: images\nnames: [cat]\n")
    (tmp_path / "list.txt").write_text("x y\nz 1\n")
    read = reading.read_references(tmp_path / "data.yaml", image_set=tmp_path / "list.txt")
    assert read.names == ["x y", "z"]
    (tmp_path / "voc").mkdir()
    (tmp_path / "voc/cat.txt").write_text("x y 0.5 1 1 8 8\nz 0.25 1 1 8 8\n")
    found = reading.read_detections(tmp_path / "voc", tmp_path / "data.yaml")
    assert [boxes["scores"].tolist() for boxes in found.predictions] == [[0.5], [0.25]]


def test_less_confident_predictions_are_called_unknown_by_standard_metrics_too(tmp_path: Path) -> None:
    made = scenes.scene(3)
    for below in (0.3, 0.7):
        unsure = suites.evaluate_detections(made, scenes.KNOWN, unknown_below=below)
        left_out = suites.evaluate_detections(made, scenes.KNOWN, conf_threshold=below)
        assert unsure["standard_metrics"] == left_out["standard_metrics"]


@pytest.mark.parametrize("known", [["cat"], ["cat", "dog"]])
def test_a_detectors_unknown_class_that_is_another_class_of_the_references(known: list[str], tmp_path: Path) -> None:
    """The detector calls both by their names; its class 2 is unknown, that of the references is dog."""
    boxes = [[0, 0, 10, 10], [50, 50, 10, 10]]
    content = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 100}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [{"id": i, "image_id": 1, "category_id": i, "bbox": box} for i, box in enumerate(boxes, 1)],
    }
    (tmp_path / "true.json").write_text(json.dumps(content))
    yolo_set(tmp_path, pred_a="0 .05 .05 .1 .1 .9\n1 .55 .55 .1 .1 .9\n2 .9 .9 .1 .1 .9")
    names = dict(enumerate(("cat", "dog", "unknown")))
    read = reading.read_detections(tmp_path / "pred", tmp_path / "true.json", classes=names, unknown_class_id=2)
    results = suites.evaluate_detections(read, reading.class_ids(known, read.dataset.classes))["openset_metrics"]
    unknown = len(known) == 1
    assert (results["TP_known"], results["FP_known"], results["TP_unknown"]) == (len(known), int(unknown), 0)
    assert results.get("U-Recall") == (0.0 if unknown else None)
    with pytest.raises(
        ValueError, match=r"unknown_class_id: expected \d+, as of the detections, got 2, which is class 'dog'"
    ):
        suites.evaluate_detections(read, [1], unknown_class_id=2)
    other = reading.read_detections(tmp_path / "pred", tmp_path / "true.json", classes={0: "cat", 1: "emu", 2: "yak"})
    assert min(other.predictions[0]["labels"][1:]) > 2, "above all ids of the references"
    (tmp_path / "voc").mkdir()
    (tmp_path / "voc/unknown.txt").write_text("a 0.5 1 1 10 10\n")
    voc = reading.read_detections(tmp_path / "voc", tmp_path / "true.json", unknown_class_id=2)
    assert voc.unknown_class_id == voc.predictions[0]["labels"][0] == 3


def test_large_ids_of_dicts(tmp_path: Path) -> None:
    ids = [2**53, 2**53 + 1, 1234567890123456789]
    boxes = [{"image_id": i, "boxes": [[0, 0, 1, 1]], "labels": [0]} for i in ids]
    found = [{**box, "scores": [0.5]} for box in boxes[1:]]
    read = reading.read_dict_predictions(found, reading.read_dicts(boxes))
    assert [len(image["labels"]) for image in read.predictions] == [0, 1, 1]
    with pytest.raises(ValueError, match=r"expected image_id to be an integer or a string, got 9007199254740992.0"):
        reading.read_dicts([{**boxes[0], "image_id": 2.0**53}])


def test_results_with_paths(tmp_path: Path) -> None:
    yolo_set(tmp_path, "a/1.png", "b/1.png", "2.png", labels_a_1=BOX)
    dataset = reading.read_references(tmp_path / "labels")

    def result(path: str, score: float) -> Any:
        one = {"boxes": [[0, 0, 1, 1]], "scores": [score], "labels": [0]}
        return type("Results", (dict,), {"path": path})(one)

    read = reading.read_dict_predictions([result("/x/b/1.png", 0.2), result("/x/a/1.png", 0.1)], dataset)
    assert {name: boxes["scores"].tolist() for name, boxes in zip(dataset.names, read.predictions)} == {
        "2": [],
        "a/1": [0.1],
        "b/1": [0.2],
    }
    arrays = [result(f"image{i}.jpg", i / 8) for i in range(3)]
    assert [boxes["scores"].tolist() for boxes in reading.read_dict_predictions(arrays, dataset).predictions] == [
        [0.0],
        [0.125],
        [0.25],
    ]
    for wrong, message in ((["a/1.png", "c/3.png", "2.png"], r"\[1\]: expected an image of"), (["2.png"] * 3, "once")):
        with pytest.raises(ValueError, match=rf"predictions.*{message}"):
            reading.read_dict_predictions([result(path, 0.5) for path in wrong], dataset)


OBJECT = "<object><name>cat</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>4</xmax><ymax>4</ymax></bndbox></object>"


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"voc/sub/b.xml": f"<a>{OBJECT}</a>"}, r"sub/b.xml: expected all .xml files in .*voc itself, got one below"),
        (
            {"voc/b.xml": f"<a>\n<objects>{OBJECT}</objects></a>"},
            r"b.xml:2: expected <object> directly below <a>, got <",
        ),
        ({"found/more/cat.txt": ""}, r"more/cat.txt: expected all .txt files in .*found itself, got one below"),
    ],
)
def test_files_and_objects_below_others(files: dict[str, str], message: str, tmp_path: Path) -> None:
    for name, text in {"voc/a.xml": f"<a>{OBJECT}</a>", "found/cat.txt": "a 0.5 1 1 4 4", **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        reading.read_detections(tmp_path / "found", tmp_path / "voc")


def test_a_link_to_nothing_and_another_split(tmp_path: Path) -> None:
    yolo_set(tmp_path, "val/a.png", "val/b.png", labels_val_a=BOX)
    (tmp_path / "data.yaml").write_text("val: images/val\nnames: [cat]\n")
    with pytest.raises(ValueError, match=r"labels/val: expected the labels of test, got those of val"):
        reading.read_references(tmp_path / "labels/val", split="test")
    assert reading.read_references(tmp_path / "labels").names == ["a", "b"]
    (tmp_path / "labels/val/b.txt").symlink_to(tmp_path / "nowhere.txt")
    for place in ("labels/val", "data.yaml"):
        with pytest.raises(ValueError, match=r"b.txt: expected text, got No such file|b.png: "):
            reading.read_references(tmp_path / place)
    (tmp_path / "x.json").write_text(json.dumps({"images": [], "categories": [], "annotations": []}))
    with pytest.raises(ValueError, match=r"x.json: expected no split, since a single file has none, got train"):
        reading.read_references(tmp_path / "x.json", split="train")


def test_results_of_images_that_differ_in_their_suffix(tmp_path: Path) -> None:
    files = ["a.jpg", "a.png", "v1.5"]
    content = {"images": [{"id": i, "file_name": name} for i, name in enumerate(files)], "categories": []}
    (tmp_path / "x.json").write_text(json.dumps({**content, "annotations": []}))
    results = []
    for i, name in enumerate(reversed(files)):
        box = {"boxes": [[0, 0, 1, 1]], "scores": [i / 4], "labels": [0]}
        results.append(type("Results", (dict,), {"path": f"/x/{name}"})(box))
    read = reading.read_dict_predictions(results, reading.read_references(tmp_path / "x.json"))
    assert [boxes["scores"].tolist() for boxes in read.predictions] == [[0.5], [0.25], [0.0]]


def test_links_within_a_folder(tmp_path: Path) -> None:
    """A link to a sibling is no second copy, and a link to itself is passed over."""
    yolo_set(tmp_path, "a.png", labels_a=BOX, run_run1_a=f"{BOX} .9")
    (tmp_path / "run/latest").symlink_to("run1")
    (tmp_path / "run/loop").symlink_to("loop")
    read = reading.read_detections(tmp_path / "run", tmp_path / "labels")
    assert [len(boxes["labels"]) for boxes in read.predictions] == [1]
