"""Both spellings of a class, and names that mean unknown, on the page of detection; a detector without such a class."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics.detection.closed_set import closed_set_note
from openworld_metrics.pages.data import read
from openworld_metrics.pages.events.inputs import Events
from openworld_metrics.pages.form.controls import shown
from openworld_metrics.pages.form.form import OWN, Form
from openworld_metrics.pages.form.looking import look
from openworld_metrics.pages.intervals import with_intervals
from openworld_metrics.pages.runner import Runner
from openworld_metrics.reading import read_detections
from openworld_metrics.suites.detection import openset_metrics
from tests.pages.data.test_several import runner_of, show
from tests.pages.steps import numbers

NAMES = {0: "sofa", 1: "couch", 2: "yak", 4: "Unknown"}
# two sofas, the second by its other name; a yak and an object called unknown, which are both unknown
TRUE = [(1, 0), (1, 1), (1, 2), (2, 4)]
FOUND = [(1, 1, 0.9), (1, 0, 0.8), (1, 4, 0.7), (2, 4, 0.6)]
CLOSED = [(1, 1, 0.9), (1, 0, 0.8), (1, 0, 0.7), (2, 1, 0.6)]


def write(folder: Path, form: str, found: Any = FOUND, names: Any = NAMES) -> list[list[Path]]:
    """An object of an image has the place of its row."""
    if form == "COCO":
        both = [
            [dict(image_id=i, category_id=k, bbox=[20 * n, 8, 9, 9]) for n, (i, k, *_) in enumerate(rows)]
            for rows in (TRUE, found)
        ]
        scored = [{**one, "score": score} for one, (*_, score) in zip(both[1], found)]
        images = [dict(id=i, file_name=f"{i}.jpg", width=100, height=100) for i in (1, 2)]
        categories = [dict(id=i, name=name) for i, name in names.items()]
        content = dict(images=images, categories=categories, annotations=both[0])
        (folder / "true.json").write_text(json.dumps(content))
        (folder / "found.json").write_text(json.dumps(scored))
        return [[folder / "found.json"], [folder / "true.json"]]
    for side, rows in (("true", TRUE), ("found", found)):
        with zipfile.ZipFile(folder / f"{side}.zip", "w") as archive:
            for image in (1, 2):
                lines = [
                    f"{k} {0.2 * n + 0.05} 0.5 0.1 0.1 {' '.join(map(str, score))}\n"
                    for n, (i, k, *score) in enumerate(rows)
                    if i == image
                ]
                archive.writestr(f"{side}/{image}.txt", "".join(lines))
    (folder / "data.yaml").write_text(f"names: {json.dumps(names)}\n".replace('"', ""))
    return [[folder / "found.zip"], [folder / "true.zip", folder / "data.yaml"]]


@pytest.fixture(scope="module")
def runner(root: Path) -> Runner:
    return runner_of("openset_detection", root)


@pytest.mark.parametrize("form", ["COCO", "YOLO"])
def test_names_are_taken_for_what_they_mean(form: str, runner: Runner, tmp_path: Path) -> None:
    files = write(tmp_path, form)
    seen = look(read(runner.page, [], files))
    assert (seen.options["known_classes"], seen.options["unknown_class_id"]) == (("sofa",), 4)
    assert "Guessed: known classes sofa (predicted by the detector); unknown id 4 (called Unknown)." in seen.html
    assert "Classes that COCO and Pascal VOC spell differently count as one: couch is sofa." in seen.html
    for known in (("sofa",), ("couch",), (0,), (1,), (1, "sofa")):
        results = numbers(show(runner, files, **{**seen.options, "known_classes": known}).json)
        assert (results["TP_known"], results["TP_unknown"], results["U-Recall"]) == (2, 2, 1.0)
    if form == "COCO":
        command = openset_metrics(read_detections(files[0][0], files[1][0]), known_classes=[1])
        assert {name: results[name] for name in command} == command


def test_inputs_list_the_files_with_names(runner: Runner) -> None:
    assert {".yaml", ".yml"} <= {*runner.page.sources[1].kinds}


def test_two_files_with_names(runner: Runner, tmp_path: Path) -> None:
    files = write(tmp_path, "YOLO")
    (tmp_path / "more.yml").write_text("names: [cat]")
    with pytest.raises(ValueError, match=r"more.yml: expected one file with names of classes, got data.yaml too"):
        read(runner.page, [], [files[0], [*files[1], tmp_path / "more.yml"]])
    (tmp_path / "data.yaml").write_text("nc: 3")
    with pytest.raises(ValueError, match=r"data.yaml: expected names, as a list"):
        read(runner.page, [], files)


def test_a_guess_that_is_no_more_held_is_not_said(runner: Runner, tmp_path: Path) -> None:
    events, files = Events(runner), [[str(path) for path in part] for part in write(tmp_path, "COCO")]
    values = {option.name: shown(option, runner.defaults[option.name]) for option in runner.page.options}
    changes = events.upload(Form("", files=files, options=values))
    assert "Guessed: known classes sofa" in changes["read"]["value"]
    form = Form(OWN, files=files, options=changes["options"])
    assert "Guessed: known classes sofa" in events.reason(form)["read"]["value"]
    for other in ({"known_classes": "sofa, yak"}, {"unknown_class_id": "7"}, {"known_classes": "so"}):
        said = events.reason(form._replace(options={**form.options, **other}))["read"]["value"]
        assert "Guessed" not in said
        assert "couch is sofa" in said, "which is true of any options"
    same = {"known_classes": "1"}  # the id of the other spelling
    assert "Guessed" in events.reason(form._replace(options={**form.options, **same}))["read"]["value"]


@pytest.mark.parametrize("protocol", ["ow-dln", "owod"])
def test_a_detector_without_an_unknown_class(protocol: str, runner: Runner, tmp_path: Path) -> None:
    """Neither numbers nor pictures say 0.000 of a question that was not asked; a sentence says why."""
    names = {i: name for i, name in NAMES.items() if i < 4} | {4: "bird"}
    options: dict[str, Any] = dict(known_classes=("sofa",), protocol=protocol, recall_level=None)
    options |= dict(per_class=True, errors=True)
    files = write(tmp_path, "COCO", CLOSED, names)
    (tmp_path / "other.json").write_text(json.dumps(json.loads(files[0][0].read_text())[:2]))
    note = closed_set_note("unknown_class_id", "unknown_below")[1:]
    for found in (files[0], [*files[0], tmp_path / "other.json"]):
        here = [found, files[1]]
        view = show(runner, here, **options)
        results = numbers(view.json)
        results = results if len(found) == 1 else results["found"]
        assert "A-OSE" in results
        assert not [key for key in results if key.startswith(("U-", "TP_unknown"))]
        assert note.partition(";")[0] in view.compared
        texts = [*view.tables, view.numbers, view.more, view.cite, str([figure.to_dict() for figure in view.figures])]
        assert not any("U-Recall" in text or "U-AP" in text for text in texts)
        held = {
            option.name: shown(option, {**runner.defaults, **options}[option.name]) for option in runner.page.options
        }
        done = with_intervals(runner.page, runner.run(Form(files=here, options=held)))
        assert not any("U-Recall" in one.summary.results for one in done.detectors.values())
        assert not any("U-Recall" in rows for rows in done.pairs.values())
        assert runner.view(done, Form()).numbers
    view = show(runner, files, **{**options, "unknown_below": 0.65})
    assert "U-Recall" in numbers(view.json)
    assert note not in view.compared
