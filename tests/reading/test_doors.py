"""A page, the commands and `read` take the same files: the same models, names and numbers, or the same sentence.

A page is what its worker reads and computes, without a browser. Cures of errors are spelled by each door.
"""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from demo.writers import write_coco_results, write_yolo_predictions
from openworld_metrics import read
from openworld_metrics.answers.answer import Answer
from openworld_metrics.command.messages import one_line
from openworld_metrics.faces.page import worker
from openworld_metrics.faces.page.worker import Request
from openworld_metrics.loading import METRICS, metric_class
from openworld_metrics.reading.boxes.classes import with_class_ids
from openworld_metrics.reading.cures import sentence_of
from openworld_metrics.written.results import as_json
from tests.conftest import Run
from tests.detection import scenes
from tests.reading.maps.trees import write_map, write_tree

ROWS, N_RESAMPLES = 60, 40
CLASSES = ("cat", "dog", "fox")
DRAWN = {"confidence_level": 0.95, "n_resamples": N_RESAMPLES}


class Folder(NamedTuple):
    """Files that all doors read.

    write: writes them; inputs: the files of each input
    metrics: that are computed of them
    models: their names, where there are several
    message: a part of the error that every door says
    chosen: columns by name; choices, of `read`; options, of the metric, as they are typed
    other: of the commands detect, anomaly or ood, the arguments that read the same files
    """

    write: Callable[[], object]
    inputs: Sequence[Sequence[str]]
    metrics: Sequence[str] = ("ood_bench",)
    models: Sequence[str] = ()
    message: str = ""
    chosen: Mapping[str, Sequence[str]] = {}
    choices: Mapping[str, Any] = {}
    options: Mapping[str, Any] = {}
    other: Sequence[str] = ()


def scores(seed: int, labels: np.ndarray) -> np.ndarray:
    return np.random.default_rng(seed).normal(labels).round(3)


LABELS = np.arange(ROWS) % 2
NAMES = [f"{i:03}.png" for i in range(ROWS)]
TRUE = np.arange(ROWS) % 4 - 1  # of which −1 is unknown


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({"image": NAMES, **columns})


def csv(name: str, *, shuffled: Any = None, **columns: Any) -> None:
    table = frame(**columns)
    table = table if shuffled is None else table.sample(frac=1, random_state=shuffled)
    Path(name).parent.mkdir(exist_ok=True)
    table.to_csv(name, index=False)


def runs(*names: str, labels: str = "label") -> None:
    for seed, name in enumerate(names):
        csv(name, msp=scores(seed, LABELS), **{labels: LABELS}, shuffled=seed)


def two_arrays() -> None:
    np.save("scores.npy", scores(1, LABELS))
    np.save("labels.npy", LABELS)


def labels_apart() -> None:
    csv("scores.csv", msp=scores(1, LABELS))
    csv("labels.csv", label=LABELS, shuffled=1)


def other_labels() -> None:
    csv("a.csv", msp=scores(0, LABELS), label=LABELS)
    csv("b.csv", msp=scores(1, LABELS), label=np.where(np.arange(ROWS) == 5, 0, LABELS))


def hospitals() -> None:
    two = {name: scores(seed, LABELS) for seed, name in enumerate(("score", "score_v2"))}
    words = {"hospital": [*"AABBC"] * 12, "patient": [f"p{i // 3}" for i in range(ROWS)]}
    frame(**two, is_ood=LABELS, **words).to_parquet("hospitals.parquet")


def sides() -> None:
    for seed, name in enumerate(("id", "ood")):
        columns = {"score": scores(seed, np.full(ROWS, seed))}
        pd.DataFrame(columns).to_csv(f"{name}.csv", index=False)


def openood() -> None:
    Path("scores").mkdir()
    for seed, name in enumerate(("cifar10", "svhn", "texture")):
        np.savez(
            f"scores/{name}.npz",
            conf=-scores(seed, np.full(ROWS + seed, min(seed, 1))),
        )


def probabilities(seed: int) -> dict[str, Any]:
    logits = (
        np.random.default_rng(seed).normal(size=(ROWS, 3)) + 2 * np.eye(3)[np.clip(TRUE, 0, 2)] * (TRUE >= 0)[:, None]
    )
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return dict(zip(CLASSES, shares.T))


def class_scores(*names: str, unknown: bool = True, are_logits: bool = False) -> None:
    """Class scores in columns named after classes; the second file has them in another order."""
    for seed, name in enumerate(names):
        columns = {one: 2 * np.log(share) if are_logits else share for one, share in probabilities(seed).items()}
        words = ["unknown" if one < 0 else CLASSES[one] for one in (TRUE if unknown else np.abs(TRUE))]
        order = CLASSES if not seed else CLASSES[::-1]
        csv(name, **{one: columns[one] for one in order}, true_class=words, shuffled=seed)


def logits(*names: str) -> None:
    for seed, name in enumerate(names):
        np.savez(name, logits=np.log(np.column_stack([*probabilities(seed).values()])) * 2, labels=TRUE)


def detections(seed: int) -> Any:
    return scenes.scene(seed, 8)


def same_truth(one: Any, seed: int) -> Any:
    """Another detector on the same images: boxes moved a little."""
    rng = np.random.default_rng(seed)
    moved = [
        {**boxes, "boxes": boxes["boxes"] + rng.integers(0, 3, boxes["boxes"].shape[:1])[:, None]}
        for boxes in one.predictions
    ]
    return one._replace(predictions=moved)


def coco(*names: str) -> None:
    made = detections(3)
    scenes.write_as_coco(made, Path())
    Path("results.json").unlink()
    for seed, name in enumerate(names):
        write_coco_results(made if not seed else same_truth(made, seed), Path(name))


def zipped(*folders: str) -> None:
    for folder in folders:
        shutil.make_archive(folder, "zip", folder)


def yolo(*names: str) -> None:
    made = detections(4)
    scenes.write_as_yolo(made, Path("true"))
    shutil.rmtree("true/predictions")
    zipped("true")
    for seed, name in enumerate(names):
        write_yolo_predictions(made if not seed else same_truth(made, seed), Path(name))
        zipped(name)


def voc() -> None:
    made = detections(5)
    scenes.write_as_voc(made, Path("true"))
    Path("found").mkdir()
    by_class: dict[int, list[str]] = {}
    for name, boxes in zip(made.dataset.names, made.predictions):
        for (x1, y1, x2, y2), score, label in zip(*(boxes[key].tolist() for key in ("boxes", "scores", "labels"))):
            by_class.setdefault(label, []).append(f"{name} {score} {x1 + 1} {y1 + 1} {x2} {y2}")
    there = {label for boxes in made.dataset.references for label in boxes["labels"].tolist()}
    for label, lines in by_class.items():
        if label not in {*there, scenes.UNKNOWN_ID}:
            continue
        word = scenes.NAMES.get(label, "unknown")
        Path("found", f"comp3_det_val_{word}.txt").write_text("\n".join(lines))
    zipped("true", "found")


def boxes_of_a_table() -> None:
    made = detections(6)
    lists = {
        side: [{key: column.tolist() for key, column in boxes.items()} for boxes in images]
        for side, images in (("predictions", made.predictions), ("references", made.dataset.references))
    }
    pd.DataFrame(lists).to_parquet("boxes.parquet")


def maps(*names: str) -> None:
    write_tree("mvtec-ad", Path("made"))
    shutil.move("made/data", "data")
    zipped("data")
    for seed, name in enumerate(names):
        shutil.copytree("made/maps", name)
        for place, path in enumerate(sorted(Path(name).rglob("*.tiff"))):
            write_map(path, np.random.default_rng([seed, place]).random((10, 12)).astype(np.float32))
        zipped(name)


def clustered_maps() -> None:
    maps("padim")
    images = read("anomaly_suite", "padim.zip", "data.zip").images
    lines = [f"{name}.png,{name.split('/')[0]}{i % 4}" for i, name in enumerate(images)]
    Path("products.csv").write_text("\n".join(["image,product", *lines]))
    Path("two.csv").write_text(
        "\n".join(["image,product,camera", *(f"{line},c{i % 3}" for i, line in enumerate(lines))])
    )


def arrays_of_maps(*names: str) -> None:
    rng = np.random.default_rng(0)
    masks = np.zeros((6, 8, 8), np.uint8)
    masks[::2, 2:4, 2:5] = 1
    np.save("masks.npy", masks)
    for name in names:
        np.save(name, rng.random((6, 8, 8)) + masks)


BOXES, MAPS = ("openset_detection",), ("anomaly_suite",)
OPEN = ("openauc", "macro_open_f", "micro_open_f")
FOLDERS = {
    "a table": Folder(partial(runs, "x.csv"), [["x.csv"]]),
    "a table of two models": Folder(
        lambda: csv("x.csv", knn=scores(1, LABELS), energy=scores(2, LABELS), label=LABELS),
        [["x.csv"]],
        models=["knn", "energy"],
    ),
    "a table of three models, of words for labels": Folder(
        lambda: csv(
            "x.csv",
            **{name: scores(seed, LABELS) for seed, name in enumerate(("knn", "energy", "ours"))},
            set=np.where(LABELS, "ood", "id"),
        ),
        [["x.csv"]],
        models=["knn", "energy", "ours"],
    ),
    "arrays of one file": Folder(
        lambda: np.savez("x.npz", msp=scores(1, LABELS), energy=scores(2, LABELS), labels=LABELS),
        [["x.npz"]],
        models=["msp", "energy"],
    ),
    "an array a file": Folder(
        two_arrays,
        [["scores.npy", "labels.npy"]],
    ),
    "a parquet file with texts": Folder(hospitals, [["hospitals.parquet"]], models=["score", "score_v2"]),
    "groups": Folder(hospitals, [["hospitals.parquet"]], models=["score", "score_v2"], chosen={"groups": ["hospital"]}),
    "clusters": Folder(
        hospitals, [["hospitals.parquet"]], models=["score", "score_v2"], chosen={"clusters": ["patient"]}
    ),
    "names of rows in two files": Folder(
        labels_apart,
        [["scores.csv", "labels.csv"]],
    ),
    "known and unknown files, by their names": Folder(
        sides, [["id.csv", "ood.csv"]], other=["ood", "--known", "id.csv", "--unknown", "ood.csv"]
    ),
    "OpenOOD's folder": Folder(
        openood,
        [[f"scores/{name}.npz" for name in ("cifar10", "svhn", "texture")]],
        other=["ood", "--known", "scores/cifar10.npz", "--unknown", "scores"],
    ),
    "two files of one model each": Folder(
        partial(runs, "run1.csv", "run2.csv"), [["run1.csv", "run2.csv"]], models=["run1: msp", "run2: msp"]
    ),
    "files that contradict each other": Folder(
        other_labels,
        [["a.csv", "b.csv"]],
        message="b.csv: label: expected the labels that a.csv has",
    ),
    "JSON": Folder(
        lambda: Path("x.json").write_text(frame(msp=scores(1, LABELS), label=LABELS).to_json(orient="records")),
        [["x.json"]],
    ),
    "a confidence, and labels of known samples": Folder(
        lambda: csv("x.csv", confidence=-scores(1, LABELS), is_known=1 - LABELS), [["x.csv"]]
    ),
    "a column that is turned": Folder(
        lambda: csv("x.csv", knn=-scores(1, LABELS), energy=scores(2, LABELS), label=LABELS),
        [["x.csv"]],
        models=["knn", "energy"],
        chosen={"predictions": ["-knn", "energy"]},
    ),
    "a cell that is no number": Folder(
        lambda: csv("x.csv", msp=[*map(str, scores(1, LABELS)[:-1]), "n/a"], label=LABELS),
        [["x.csv"]],
        message="x.csv: msp, line 61: 'n/a' is not a number",
    ),
    "a cell that is left out": Folder(
        lambda: csv("x.csv", msp=[*map(str, scores(1, LABELS)[:-1]), "n/a"], label=LABELS),
        [["x.csv"]],
        choices={"leave_out": True},
    ),
    "a file that fits nothing": Folder(
        lambda: csv("x.csv", colour=["red", "green", "blue"] * 20),
        [["x.csv"]],
        ("ood_bench", "openauc", "accuracyk"),
        message="predictions: no column looks like it",
    ),
    "a table without labels": Folder(
        lambda: csv("x.csv", msp=scores(1, LABELS)), [["x.csv"]], message="references: no column looks like it"
    ),
    "a line of names alone": Folder(
        lambda: Path("x.csv").write_text("msp,label\n"),
        [["x.csv"]],
        message="x.csv: expected rows, got none below msp, label",
    ),
    "an empty file": Folder(lambda: Path("x.csv").write_text(""), [["x.csv"]], message="x.csv: expected"),
    "scores of classes named after them": Folder(
        partial(class_scores, "x.csv", unknown=False), [["x.csv"]], ("accuracyk", "autkc")
    ),
    "scores of classes named after them, of two files": Folder(
        partial(class_scores, "a.csv", "b.csv", unknown=False),
        [["a.csv", "b.csv"]],
        ("accuracyk", "autkc"),
        models=["a: cat … fox", "b: cat … fox"],
    ),
    "open-set scores of classes named after them": Folder(
        partial(class_scores, "x.csv"), [["x.csv"]], OPEN, models=["msp of cat … fox", "entropy of cat … fox"]
    ),
    "open-set scores of classes named after them, of two files": Folder(
        partial(class_scores, "a.csv", "b.csv"),
        [["a.csv", "b.csv"]],
        OPEN,
        models=[f"{file}: {kind} of cat … fox" for file in "ab" for kind in ("msp", "entropy")],
    ),
    "open-set logits of classes named after them": Folder(
        partial(class_scores, "x.csv", are_logits=True),
        [["x.csv"]],
        OPEN,
        models=[f"{kind} of cat … fox" for kind in ("msp", "max logit", "energy", "entropy")],
    ),
    "logits, of which one score is taken": Folder(
        partial(logits, "x.npz"), [["x.npz"]], OPEN, chosen={"open_scores": ["max_logit"]}
    ),
    "logits, of which a score is taken that is not usual": Folder(
        partial(logits, "x.npz"), [["x.npz"]], OPEN, chosen={"open_scores": ["gen"]}
    ),
    "logits": Folder(
        partial(logits, "x.npz"),
        [["x.npz"]],
        OPEN,
        models=[f"{kind} of logits" for kind in ("msp", "max logit", "energy", "entropy")],
    ),
    "COCO": Folder(
        partial(coco, "found.json"),
        [["found.json"], ["instances.json"]],
        BOXES,
        other=["detect", "--predictions", "found.json", "--references", "instances.json"],
    ),
    "COCO, with known classes by name": Folder(
        partial(coco, "found.json"),
        [["found.json"], ["instances.json"]],
        BOXES,
        options={"known_classes": ("dog", "cat")},
        other=["detect", "--predictions", "found.json", "--references", "instances.json", "--known-classes", "dog,cat"],
    ),
    "YOLO, with one known class by name": Folder(
        partial(yolo, "found"),
        [["found.zip"], ["true.zip"]],
        BOXES,
        options={"known_classes": ("cow",)},
        other=["detect", "--predictions", "found", "--references", "true/data.yaml", "--known-classes", "cow"],
    ),
    "COCO, with a name of no class": Folder(
        partial(coco, "found.json"),
        [["found.json"], ["instances.json"]],
        BOXES,
        message="known_classes: zebra: expected the id or the name of a class, of ",
        options={"known_classes": ("zebra",)},
        other=["detect", "--predictions", "found.json", "--references", "instances.json", "--known-classes", "zebra"],
    ),
    "COCO of two detectors": Folder(
        partial(coco, "one.json", "two.json"),
        [["one.json", "two.json"], ["instances.json"]],
        BOXES,
        models=["one", "two"],
        other=["detect", "--predictions", "one.json", "--compare", "two.json", "--references", "instances.json"],
    ),
    "YOLO": Folder(
        partial(yolo, "found"),
        [["found.zip"], ["true.zip"]],
        BOXES,
        other=["detect", "--predictions", "found", "--references", "true/data.yaml"],
    ),
    "YOLO of two detectors": Folder(
        partial(yolo, "one", "two"),
        [["one.zip", "two.zip"], ["true.zip"]],
        BOXES,
        models=["one", "two"],
        other=["detect", "--predictions", "one.zip", "--compare", "two.zip", "--references", "true.zip"],
    ),
    "YOLO of two detectors, in folders": Folder(
        partial(yolo, "one", "two"),
        [["one", "two"], ["true"]],
        BOXES,
        models=["one", "two"],
        other=["detect", "--predictions", "one", "--compare", "two", "--references", "true/data.yaml"],
    ),
    "YOLO of three detectors, in folders and archives": Folder(
        partial(yolo, "one", "two", "three"),
        [["one", "three.zip", "two"], ["true"]],
        BOXES,
        models=["one", "three", "two"],
    ),
    "VOC": Folder(
        voc,
        [["found.zip"], ["true.zip"]],
        BOXES,
        other=["detect", "--predictions", "found", "--references", "true/Annotations"],
    ),
    "boxes in a table": Folder(boxes_of_a_table, [["boxes.parquet"]], BOXES),
    "boxes alone": Folder(partial(coco, "found.json"), [["instances.json"], ["found.json"]], BOXES, message="expected"),
    "maps": Folder(
        partial(maps, "padim"),
        [["padim.zip"], ["data.zip"]],
        MAPS,
        other=["anomaly", "--maps", "padim", "--data", "data"],
    ),
    "maps of two models": Folder(
        partial(maps, "padim", "patchcore"),
        [["padim.zip", "patchcore.zip"], ["data.zip"]],
        MAPS,
        models=["padim", "patchcore"],
        other=["anomaly", "--maps", "padim.zip", "--compare", "patchcore.zip", "--data", "data.zip"],
    ),
    "maps of two models, in folders": Folder(
        partial(maps, "padim", "patchcore"),
        [["padim", "patchcore"], ["data"]],
        MAPS,
        models=["padim", "patchcore"],
        other=["anomaly", "--maps", "padim", "--compare", "patchcore", "--data", "data"],
    ),
    "maps with clusters by a table": Folder(
        clustered_maps, [["padim.zip"], ["data.zip"]], MAPS, choices={"clusters": "products.csv:product"}
    ),
    "maps with clusters by a table of two columns": Folder(
        clustered_maps,
        [["padim.zip"], ["data.zip"]],
        MAPS,
        message="two.csv: expected a column clusters, got image, product, camera",
        choices={"clusters": "two.csv"},
    ),
    "maps of two models with clusters by names": Folder(
        partial(maps, "padim", "patchcore"),
        [["padim.zip", "patchcore.zip"], ["data.zip"]],
        MAPS,
        models=["padim", "patchcore"],
        choices={"clusters_from_name": r"^(.*\d)"},
    ),
    "arrays of maps": Folder(partial(arrays_of_maps, "maps.npy"), [["maps.npy"], ["masks.npy"]], MAPS),
    "arrays of maps of two models": Folder(
        partial(arrays_of_maps, "padim.npy", "patchcore.npy"),
        [["padim.npy", "patchcore.npy"], ["masks.npy"]],
        MAPS,
        models=["padim", "patchcore"],
    ),
}
CASES = [(name, metric) for name, folder in FOLDERS.items() for metric in folder.metrics]


class Outcome(NamedTuple):
    """What a door says: the results of each model by name, or a sentence."""

    models: Mapping[str, Any] = {}
    error: str = ""


def plain(results: Any) -> Any:
    """Results as JSON has them."""
    return json.loads(as_json(results))


def of_read(folder: Folder, metric: str, options: Mapping[str, Any]) -> Outcome:
    """`read`, and the metric of its columns."""
    inputs: list[Any] = [[*map(Path, names)] if len(names) > 1 else Path(names[0]) for names in folder.inputs]
    columns: Any = {"columns": dict(folder.chosen)} if folder.chosen else {}
    try:
        reading = read(metric, *inputs, **columns, **folder.choices)
        options = with_class_ids(options, reading.classes)
        results = {
            name: plain(metric_class(metric)(**{**reading.options, **options}).compute(**columns))
            for name, columns in reading.whole().models.items()
        }
    except (ValueError, TypeError) as error:
        return Outcome(error=sentence_of(error))
    return Outcome(results)


def dropped(name: str) -> str:
    """The path of a file, or of the archive of a folder, which a page takes in its place."""
    return f"{Path(name).absolute()}{'.zip' * Path(name).is_dir()}"


def requested(folder: Folder, metric: str, options: Mapping[str, Any]) -> Request:
    """What a page asks for when all files of an input are dropped at once."""
    choices = dict(folder.choices)
    leave_out = choices.pop("leave_out", False)
    files = [{"": [dropped(name) for name in names]} for names in folder.inputs]
    return Request(metric, files, leave_out=leave_out, choices=choices, options=options, wishes=folder.chosen)


def answers(wanted: Request, intervals: bool = False) -> tuple[Mapping[str, Answer], str]:
    """The answers of a page, which looks at files first, or its error."""
    seen = pickle.loads(pickle.dumps(worker.look(wanted)))  # as a page has it from its worker
    assert not any(str(Path.cwd()) in note for note in seen.notes)
    if seen.error:
        return {}, sentence_of(seen.error)
    wishes = seen.made_of or wanted.wishes
    wanted = replace(wanted, wishes=wishes, added=(), are_new=False, options={**seen.options, **wanted.options})
    try:
        return worker.compute(wanted, intervals or None if intervals else False), ""
    except worker.PageError as error:
        return {}, sentence_of(error.args[0])


def of_page(folder: Folder, metric: str, options: Mapping[str, Any]) -> Outcome:
    shown, error = answers(requested(folder, metric, options))
    return Outcome({name: plain(one.results[name]) for name, one in shown.items()}, error)


def added(folder: Folder, metric: str, options: Mapping[str, Any]) -> Outcome:
    """The first input's files dropped one after another, each as another model."""
    whole = requested(folder, metric, options)
    first, *others = folder.inputs[0]
    models = {Path(first).stem: [first]}
    wanted = replace(whole, files=[models, *whole.files[1:]])
    for name in others:
        seen = worker.look(wanted)
        assert not seen.error, seen.error
        models = {**models, Path(name).stem: [name]}
        wanted = replace(wanted, files=[models, *whole.files[1:]], wishes=seen.made_of, added=[name], are_new=True)
    shown, error = answers(wanted)
    return Outcome({name: plain(one.results[name]) for name, one in shown.items()}, error)


def flags(folder: Folder, options: Mapping[str, Any]) -> list[str]:
    by_column = [f"--{name.replace('_', '-')}={','.join(names)}" for name, names in folder.chosen.items()]
    choices = [
        f"--{name.replace('_', '-')}" if value is True else f"--{name.replace('_', '-')}={value}"
        for name, value in folder.choices.items()
    ]
    return [*by_column, *choices, *(f"--{name.replace('_', '-')}={_typed(value)}" for name, value in options.items())]


def _typed(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def of_command(folder: Folder, metric: str, options: Mapping[str, Any], run: Run) -> Outcome:
    files = [name for names in folder.inputs for name in names]
    code, output, errors = run("compute", metric, *files, *flags(folder, options))
    if code:
        assert (code, output) == (2, "")
        return Outcome(error=errors.removeprefix("openworld-metrics: ").strip())
    results = json.loads(output)
    return Outcome(results["models"] if folder.models else {"": results})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "metric"), CASES)
def test_the_doors_agree(name: str, metric: str, run: Run) -> None:
    """On the models, their names and their numbers, or on the sentence."""
    folder = FOLDERS[name]
    options = folder.options
    folder.write()
    by_read, by_page = of_read(folder, metric, options), of_page(folder, metric, options)
    by_command = of_command(folder, metric, options, run)
    if folder.message:
        assert folder.message in by_read.error
        assert by_page == by_read
        assert one_line(by_command.error).startswith(by_read.error)
        return
    assert [by_read.error, by_page.error, by_command.error] == ["", "", ""]
    assert [*by_read.models] == [*by_page.models]
    if folder.models:
        assert [*by_read.models] == [*by_command.models] == [*folder.models]
    for model, shown, printed in zip(by_read.models, by_page.models.values(), by_command.models.values(), strict=True):
        assert shown == printed
        assert {key: by_read.models[model][key] for key in shown} == shown  # what could not be asked is not shown


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("name", "metric"), [each for each in CASES if len(FOLDERS[each[0]].inputs[0]) > 1 and FOLDERS[each[0]].models]
)
def test_files_that_are_added_one_by_one(name: str, metric: str) -> None:
    """The models of a page are those of files that come at once."""
    folder = FOLDERS[name]
    folder.write()
    at_once = of_page(folder, metric, folder.options)
    assert len(at_once.models) > 1, at_once.error
    assert added(folder, metric, folder.options) == at_once


def scalars(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results that are numbers, without those of intervals."""
    return {key: value for key, value in results.items() if isinstance(value, (int, float))}


def shows_every_box(metric: str) -> list[str]:
    """The flags with which `detect` drops no box, as other doors."""
    return ["--no-standard", "--conf", "0"] if metric == "openset_detection" else []


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", [name for name, folder in FOLDERS.items() if folder.other])
def test_the_other_commands_have_the_numbers(name: str, run: Run) -> None:
    """Of detect, which guesses the known classes as the others do, of anomaly, and of ood."""
    folder = FOLDERS[name]
    folder.write()
    metric = folder.metrics[0]
    by_page = [*of_page(folder, metric, folder.options).models.values()]
    code, output, errors = run(*folder.other, *shows_every_box(metric))
    if folder.message:
        by_read = of_read(folder, metric, folder.options).error
        assert (code, errors.removeprefix("openworld-metrics: ").strip()) == (2, by_read)
        return
    assert code == 0, errors
    results = json.loads(output)
    several = [results, *([results["other"]] if "other" in results else [])]
    if metric == "openset_detection":
        several = [one["openset_metrics"] for one in several]
    if metric == "openset_detection" and "known_classes" not in folder.options:
        look = worker.look(requested(folder, metric, {}))
        notes = [sentence_of(note).removesuffix(".") for note in look.notes]
        guess = next(note for note in notes if note.startswith("Guessed: known classes"))
        said = run("compute", metric, *(name for names in folder.inputs for name in names))[2]
        assert f"note: {guess}; if it was trained on others, use --known-classes" in errors
        assert f"note: {guess}; if it was trained on others, use --known-classes" in said
    assert len(several) == len(by_page)
    for shown, printed in zip(by_page, several):
        numbers = scalars(printed).keys() & scalars(shown).keys()
        assert len(numbers) >= 2
        assert {key: shown[key] for key in numbers} == {key: printed[key] for key in numbers}
        if metric == "ood_bench" and "groups" in shown:
            leaves = {group.rpartition("/")[2]: i for i, group in enumerate(printed["groups"]["group"])}
            for group, *values in zip(shown["groups"]["group"], *(shown["groups"][key] for key in sorted(numbers))):
                assert values == [printed["groups"][key][leaves[group]] for key in sorted(numbers)]


def differences(shown: Mapping[str, Answer], first: str) -> dict[str, tuple[float, ...]]:
    """The differences of a page by key, of all groups together, with their intervals and p-values."""
    rows: dict[str, tuple[float, ...]] = {}
    for row in next(iter(shown.values())).differences:
        if not row.group:
            ends = (row.difference, row.low, row.high) if row.first == first else (-row.difference, -row.high, -row.low)
            rows[row.key] = (*ends, row.p_value)
    return rows


def by_flags(folder: Folder) -> list[list[str]]:
    """The files of two models of boxes or maps, and of their data, by the flags of `compare`."""
    if len(folder.inputs) < 2:
        return []
    roles = ("first-predictions", "second-predictions", "references")
    return [[f"--{role}={name}" for role, name in zip(roles, [*folder.inputs[0], *folder.inputs[1]], strict=True)]]


def of_all(table: Mapping[str, Any]) -> dict[str, tuple[float, ...]]:
    """The differences of a table by key, as of `differences`."""
    names = ("key", "difference", "low", "high", "p_value")
    rows = zip(table.get("group", [None] * len(table["key"])), *(table[column] for column in names))
    return {key: (*numbers,) for group, key, *numbers in rows if group is None}


TWO = [
    (name, metric)
    for name, metric in CASES
    if len(FOLDERS[name].models) == 2 and not FOLDERS[name].chosen.get("predictions")
]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "metric"), TWO)
def test_comparisons_agree(name: str, metric: str, run: Run) -> None:
    """Of two models, on a page and by `compare` and `compute`, in each number that has an interval."""
    folder = FOLDERS[name]
    folder.write()
    shown, error = answers(requested(folder, metric, DRAWN), intervals=True)
    assert not error
    by_page = differences(shown, folder.models[0])
    files = [name for names in folder.inputs for name in names]
    more = [*flags(folder, DRAWN)]
    code, output, errors = run("compute", metric, *files, *more)
    assert code == 0, errors
    (by_compute,) = json.loads(output)["comparisons"]
    assert [by_compute["first_model"], by_compute["second_model"]] == [*folder.models]
    tables = [by_compute]
    for arguments in (files, *by_flags(folder)):
        code, output, errors = run("compare", metric, *arguments, *more)
        assert code == 0, errors
        tables.append(json.loads(output))
    assert [of_all(table) for table in tables] == [by_page] * len(tables)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(("name", "metric"), [("COCO of two detectors", *BOXES), ("maps of two models", *MAPS)])
def test_the_other_commands_have_the_verdicts(name: str, metric: str, run: Run) -> None:
    """Of detect and anomaly: all doors take one number of resamples, the metric's, where none is chosen."""
    folder, options = FOLDERS[name], {"confidence_level": 0.95}
    folder.write()
    more = {"levels": "image"} if metric == "anomaly_suite" else {}  # of pixels, resamples take half a minute
    shown, error = answers(requested(folder, metric, {**options, **more}), intervals=True)
    assert not error
    flags_of_options = flags(Folder(folder.write, folder.inputs), {**options, **more})
    code, output, errors = run(*folder.other, *shows_every_box(metric), *flags_of_options)
    assert code == 0, errors
    printed, by_page = of_all(json.loads(output)["comparison"]), differences(shown, folder.models[0])
    assert len(printed) >= 2
    assert printed == {key: by_page[key] for key in printed}


def test_each_metric_is_read() -> None:
    assert {metric for _, metric in CASES} == {*METRICS}
