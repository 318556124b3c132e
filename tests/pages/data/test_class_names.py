"""Names of classes and sizes of images in COCO's annotations, wherever the page shows a class or an image."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics.pages.data import read
from openworld_metrics.pages.form.looking import look
from openworld_metrics.pages.runner import Runner
from openworld_metrics.reading.boxes.coco import read_coco, read_coco_results
from openworld_metrics.suites.detection import openset_metrics
from tests.pages.data.test_several import runner_of, show
from tests.pages.steps import numbers

CATEGORIES = {3: "cat", 7: "traffic <light>", 20: "zebra"}
OPTIONS: dict[str, Any] = {"unknown_class_id": 999}


def box(image: int, label: int, x: float, **more: Any) -> dict[str, Any]:
    return dict(image_id=image, category_id=label, bbox=[x, 40.0, 80.0, 60.0], **more)


TRUE = [box(8, 3, 10), box(8, 7, 200), box(8, 20, 400), box(9, 3, 10), box(9, 20, 300)]
FOUND = [box(8, 3, 10, score=0.9), box(8, 3, 200, score=0.8), box(8, 999, 400, score=0.7), box(9, 7, 300, score=0.6)]


def coco(folder: Path, categories: Any = None, **size: Any) -> list[list[Path]]:
    size = size or dict(width=640, height=480)
    if categories is None:
        categories = [dict(id=key, name=name) for key, name in CATEGORIES.items()]
    images = [dict(id=8, file_name="val/garden.jpg", **size), dict(id=9, file_name="val/street.jpg", **size)]
    annotations = [{**one, "id": i} for i, one in enumerate(TRUE)]
    content = dict(images=images, annotations=annotations, categories=categories)
    (folder / "true.json").write_text(json.dumps(content))
    (folder / "found.json").write_text(json.dumps(FOUND))
    return [[folder / "found.json"], [folder / "true.json"]]


@pytest.fixture(scope="module")
def runner(root: Path) -> Runner:
    return runner_of("openset_detection", root)


def test_a_look(runner: Runner, tmp_path: Path) -> None:
    seen = look(read(runner.page, [], coco(tmp_path)))
    assert seen.options["known_classes"] == ("cat", "traffic <light>")
    assert "known classes cat, traffic &lt;light&gt; (predicted by the detector); unknown id 999" in seen.html
    assert "predictions: 1 prediction file, 4 predicted boxes" in seen.html
    assert "references: 2 images, 5 boxes" in seen.html


@pytest.mark.parametrize("known", [(3, 7), ("cat", "traffic <light>"), (3, "traffic <light>")])
def test_results_are_those_of_the_command(runner: Runner, known: Any, tmp_path: Path) -> None:
    """The same names in the same tables, by the same function."""
    files = coco(tmp_path)
    shown = show(
        runner,
        files,
        known_classes=known,
        per_class=True,
        per_image=True,
        recall_level=None,
        protocol="owod",
        **OPTIONS,
    )
    detections = read_coco_results(files[0][0], read_coco(files[1][0]))
    options = dict(
        known_classes=(3, 7), unknown_class_id=999, protocol="owod", recall_level=None, per_class=True, per_image=True
    )
    expected = json.loads(json.dumps(openset_metrics(detections, **options)))
    found = numbers(shown.json)
    assert found["per_class"] == expected["per_class"]
    assert found["per_class"]["name"][:2] == ["cat", "traffic <light>"]
    assert found["per_image"] == expected["per_image"]
    assert found["per_image"]["name"] == ["val/garden", "val/street"]
    assert found["per_image"]["width"] == [640, 640]
    assert "<td>traffic &lt;light&gt;</td>" in shown.more
    assert 'data-image="1">2 · val/street</button>' in shown.more
    assert "known_classes=(3, 7)" in shown.call


def test_boxes_and_their_frame(runner: Runner, tmp_path: Path) -> None:
    figure = show(runner, coco(tmp_path), known_classes=("cat", 7), **OPTIONS).figures[0]
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["✓ cat", "≠ cat", "✓ unknown"]
    assert "unknown object, class zebra" in figure.data[0].text
    assert ([*figure.layout.xaxis.range], [*figure.layout.yaxis.range]) == ([0, 640], [480, 0])


def test_without_names_or_sizes(runner: Runner, tmp_path: Path) -> None:
    shown = show(runner, coco(tmp_path, [], width=None), known_classes=(3, 7), per_image=True, **OPTIONS)
    assert [note.text for note in shown.figures[0].layout.annotations] == ["✓ 3", "≠ 3", "✓ unknown 999"]
    assert shown.figures[0].layout.xaxis.range[0] < 10
    assert "width" not in numbers(shown.json)["per_image"]
    seen = look(
        read(runner.page, [], coco(tmp_path, [dict(id=3, name="a, b"), dict(id=7, name="c"), dict(id=20, name="d")]))
    )
    assert seen.options["known_classes"] == (3, 7), "a name with a comma cannot be typed"


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ({"cat": 3}, r"true.json: expected an object with images, annotations and categories"),
        ([{"id": 3}], r"true.json: categories\[0\]: expected name, got none"),
    ],
)
def test_wrong_categories(runner: Runner, categories: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read(runner.page, [], coco(tmp_path, categories))


def test_a_class_of_no_name(runner: Runner, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="known_classes: dog: expected an id or the name of a class, of cat"):
        show(runner, coco(tmp_path), known_classes=("cat", "dog"), **OPTIONS)
