"""Visitors with files as they have them reach their numbers with at most one press, and see whose results they see."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from openworld_metrics import read
from openworld_metrics.loading import metric_class
from tests.faces.page.test_in_a_browser import boxes_zip, computed, csv, maps_zip, numbers, two_sides, upload

Open = Callable[..., Any]
CLASSES = ["cat", "dog", "ship"]
NUMBER = 60


@dataclass(frozen=True)
class User:
    """The files of a visitor, and the way to the numbers.

    drops: the files of each drop, and the place of its input, in their order; presses, before the drop of each number
    models: of the comparison; number, the first of the headline, None for that of the best model that `read` finds
    """

    metric: str
    drops: list[tuple[int, dict[str, bytes]]]
    number: float | None = None
    presses: Mapping[int, str] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)


def of(metric: str, columns: Mapping[str, Any], **options: Any) -> float:
    """The first number of arrays in Python."""
    key = {"ood_bench": "auroc", "openauc": "openauc", "accuracyk": "top1"}[metric]
    return float(metric_class(metric)().compute(**columns, **options)[key])


def tables() -> dict[str, User]:
    """Of scores, logits and classes."""
    side, rng = two_sides(number=NUMBER // 2), np.random.default_rng(0)
    words = np.where(side["label"] == 1, "ood", "id")
    auroc = of("ood_bench", {"predictions": side["b"], "references": side["label"]})
    known, unknown = ({name: side[name][side["label"] == label] for name in "ab"} for label in (0, 1))
    labels = rng.integers(-1, 3, NUMBER)
    logits = (rng.normal(size=(NUMBER, 3)) + 2 * np.eye(4, 3)[labels]).round(4)
    names = np.where(labels < 0, "unknown", np.take(CLASSES, labels))
    arrays, table = io.BytesIO(), io.BytesIO()
    np.savez(arrays, logits=logits, labels=labels)
    predicted, score = logits.argmax(axis=1), rng.random(NUMBER).round(4)
    patients = {"patient": range(NUMBER), "score": side["b"], "score_v2": side["a"], "is_ood": side["label"]}
    pd.DataFrame({**patients, "hospital": np.tile([*"AB"], NUMBER // 2)}).to_parquet(table)
    means = [
        of("ood_bench", {"predictions": side["b"][start::2], "references": side["label"][start::2]}) for start in (0, 1)
    ]
    by_class = {**dict(zip(CLASSES, logits.T)), "label": names}
    named = {"file": range(NUMBER), "true": names, "pred": np.take(CLASSES, predicted), "score": score}
    found = {"predictions": predicted, "references": labels, "open_scores": score}
    return {
        "two methods": User(
            "ood_bench",
            [(0, {"scores.csv": csv({"image": range(NUMBER), "msp": side["a"], "knn": side["b"], "label": words})})],
            auroc,
            models=["msp", "knn"],
        ),
        "a file a side": User(
            "ood_bench", [(0, {"cifar10.csv": csv(known), "svhn.csv": csv(unknown)})], auroc, models=["a", "b"]
        ),
        "reversed": User(
            "ood_bench", [(0, {"s.csv": csv({"s": -side["b"], "label": words})})], auroc, {1: "#flip"}, ["s"]
        ),
        "logits": User("openauc", [(0, {"logits.npz": arrays.getvalue()})]),
        "scores of named classes": User("openauc", [(0, {"c.csv": csv(by_class)})]),
        "names of classes": User("openauc", [(0, {"pred.csv": csv(named)})], of("openauc", found)),
        "hospitals": User(
            "ood_bench", [(0, {"hospitals.parquet": table.getvalue()})], auroc, models=["score", "score_v2"]
        ),
        "groups": User(
            "ood_bench", [(0, {"hospitals.parquet": table.getvalue()})], float(np.mean(means)), {1: "#groups label"}
        ),
    }


def coco(is_true: bool) -> bytes:
    """Annotations of two images, or the results of a detector that finds all; class 3 is unknown to it."""
    boxes: list[dict[str, Any]] = [
        {"image_id": image, "category_id": label, "bbox": [10 + 40 * label, 10, 30, 30]}
        for image in (1, 2)
        for label in (1, 2, 3)
    ]
    if not is_true:
        return json.dumps(
            [{**one, "category_id": one["category_id"] % 3 or 999, "score": 0.9} for one in boxes]
        ).encode()
    images = [{"id": number, "file_name": f"{number}.jpg", "width": 200, "height": 100} for number in (1, 2)]
    categories = [{"id": number, "name": name} for number, name in enumerate(CLASSES, 1)]
    annotated = [{**one, "id": place, "area": 900, "iscrowd": 0} for place, one in enumerate(boxes)]
    return json.dumps({"images": images, "categories": categories, "annotations": annotated}).encode()


def folders() -> dict[str, User]:
    """Of boxes and maps."""
    return {
        "COCO": User(
            "openset_detection",
            [(0, {"results.json": coco(is_true=False)}), (1, {"instances_val.json": coco(is_true=True)})],
            1.0,
        ),
        "YOLO": User("openset_detection", [(0, {"p.zip": boxes_zip(0.0)}), (1, {"t.zip": boxes_zip(-1.0)})], 1.0),
        "maps": User(
            "anomaly_suite",
            [
                (0, {"good.zip": maps_zip(16, 1.5, masks=False)}),
                (1, {"masks.zip": maps_zip(16, 0, masks=True)}),
                (0, {"poor.zip": maps_zip(16, 0.3, masks=False)}),
            ],
            1.0,
            {2: "#add input"},
            ["good", "poor"],
        ),
    }


USERS = tables() | folders()


def best_of(user: User, folder: Path) -> float:
    """The first number of the best model in the only file."""
    ((_, files),) = user.drops
    ((name, content),) = files.items()
    (folder / name).write_bytes(content)
    return max(of(user.metric, columns) for columns in read(user.metric, folder / name).models.values())


@pytest.mark.parametrize("name", USERS)
def test_a_file_goes_to_its_numbers_with_one_press_at_most(name: str, opened: Open, tmp_path: Path) -> None:
    user = USERS[name]
    number = best_of(user, tmp_path) if user.number is None else user.number
    tab = opened(user.metric)
    assert len(user.presses) <= 1
    for place, (of_input, files) in enumerate([*user.drops, (0, {})]):
        if place in user.presses:
            tab.locator(user.presses[place]).first.click()
        if files:
            upload(tab, files, of_input)
            tab.locator(".data .line b", has_text=next(iter(files))).wait_for()
    tab.wait_for_function(
        "n => document.querySelector('.state').innerText.startsWith('Up to date')"
        " && document.querySelector('.headline .large').innerText.startsWith(n)",
        arg=f"{number:.3f}",
    )
    assert tab.locator("[role=alert]").count() == 0
    if user.models:
        shown = tab.locator("input[name=model]").evaluate_all("all => all.map(one => one.value)")
        assert shown == (user.models if len(user.models) > 1 else [])


def state(tab: Any, text: str) -> None:
    tab.wait_for_function("text => document.querySelector('.state').innerText === text", arg=text)


def strength(tab: Any) -> float:
    return float(tab.evaluate("getComputedStyle(document.querySelector('.results')).opacity"))


def test_old_results_say_whose_they_are(opened: Open) -> None:
    """They are dimmed beside files that cannot be computed, and named by their own files."""
    tab, side = opened("ood_bench"), two_sides()
    bad = csv({"knn": ["n/a", *side["b"][1:]], "label": side["label"]})
    upload(tab, {"bad.csv": bad})
    state(tab, "Results are the example's.")
    assert strength(tab) == pytest.approx(0.6)
    upload(tab, {"mine.csv": csv({"knn": side["b"], "label": side["label"]})})
    computed(tab, "mine.csv")
    assert strength(tab) == 1
    upload(tab, {"bad.csv": bad})
    state(tab, "Results are those of mine.csv.")
    assert strength(tab) == pytest.approx(0.6)


@pytest.mark.parametrize("metric", ["openset_detection", "anomaly_suite"])
def test_the_first_of_two_drops_asks_for_the_second(metric: str, opened: Open) -> None:
    tab = opened(metric)
    content = boxes_zip(0.0) if metric == "openset_detection" else maps_zip(16, 1.0, masks=False)
    upload(tab, {"first.zip": content})
    second = "true boxes" if metric == "openset_detection" else "masks"
    tab.locator(".said.note", has_text=f"Now drop the {second}.").wait_for()
    assert tab.locator("[role=alert]").count() == 0
    state(tab, "Results are the example's.")


def test_a_column_that_was_turned_has_its_own_name(opened: Open) -> None:
    """On the axis, at the slider and in the notes, with its sign."""
    tab, side = opened("ood_bench"), two_sides()
    upload(tab, {"c.csv": csv({"confidence": -side["b"], "is_ood": side["label"]})})
    computed(tab, "c.csv")
    assert numbers(tab)[0] == pytest.approx(
        of("ood_bench", {"predictions": side["b"], "references": side["label"]}), abs=6e-4
    )
    assert tab.locator("#threshold").inner_text().startswith("OOD if -confidence >")
    assert "-confidence, higher is more OOD" in tab.locator(".picture .title").first.inner_text()
    assert "its sign is turned" in tab.locator(".face.notes").inner_text()
