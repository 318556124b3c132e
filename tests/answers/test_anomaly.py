"""Answers of anomaly_suite: decisions are those of a recount at every threshold; pictures show what is in the files."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pixels

from openworld_metrics.anomaly.anomaly_suite import AnomalySuite
from openworld_metrics.answers import pictures, worst_images
from openworld_metrics.answers.anomaly import SUBJECT
from openworld_metrics.answers.answer import Bars, Curves, Histogram, Key
from openworld_metrics.answers.decisions import number_at
from openworld_metrics.answers.subject import Computed
from openworld_metrics.faces import palette
from openworld_metrics.reading.reading import Reading
from tests.answers.models import first_of
from tests.references import components

VOID = 255


def data(seed: int, number: int = 8, size: int = 12, *, void: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Maps with ties and masks, half of which have two regions."""
    rng = np.random.default_rng(seed)
    masks = np.zeros((number, size, size), np.int64)
    for mask in masks[: number // 2]:
        mask[1:3, 1:4] = 1
        at = int(rng.integers(5, size - 3))
        mask[at : at + 3, at : at + 2] = 1
    maps = np.round(rng.random(masks.shape) + 0.6 * masks, 1)
    if void:
        masks[:, -1] = VOID
    return maps, masks


def computed(masks: Any, *several: Any, names: Any = (), **options: Any) -> Computed:
    """The computation of the first of several sets of maps beside the others."""
    models = {f"maps {i}": {"predictions": [*maps], "references": [*masks]} for i, maps in enumerate(several)}
    return first_of(AnomalySuite, Reading(SUBJECT.name, models, images=names), options)


def figures(of: Computed, kind: type[Any]) -> list[Any]:
    return [figure for figure in SUBJECT.figures(of) if isinstance(figure, kind)]


@pytest.mark.parametrize("void", [False, True])
def test_decisions_are_those_of_a_recount_of_pixels_at_every_threshold(void: bool) -> None:
    maps, masks = data(1, void=void)
    of = computed(masks, maps, ignore_value=VOID if void else None)
    decisions = SUBJECT.decisions(of)
    assert decisions is not None
    regions = [(image, region) for image, mask in enumerate(masks) for region in components((mask == 1).tolist())]
    scores = np.unique(maps[masks != VOID])
    assert len(decisions.thresholds) == len(scores) + 1
    assert [*decisions.ends] == [*scores, np.inf]
    for place, text in enumerate(decisions.thresholds):
        flagged = maps > float(text)
        assert {name: column[place] for name, column in decisions.counts.items()} == {
            "TP": int((flagged & (masks == 1)).sum()),
            "FN": int((~flagged & (masks == 1)).sum()),
            "FP": int((flagged & (masks == 0)).sum()),
            "TN": int((~flagged & (masks == 0)).sum()),
        }
        shares = [Fraction(sum(bool(flagged[image][at]) for at in own), len(own)) for image, own in regions]
        assert decisions.values["PRO"][place] == pytest.approx(float(sum(shares) / len(shares)), abs=1e-15)
    best = decisions.presets["best F1"]
    assert next(iter(decisions.presets)) == "best F1"
    assert number_at(decisions, "F1", best) == of.results["pixel_f1_max"]
    assert decisions.thresholds[best] == SUBJECT.threshold(of, "pixel_f1_max")
    assert (decisions.promises, decisions.shares) == ({}, ["PRO"])


def test_decisions_on_images_where_only_these_are_judged() -> None:
    maps, masks = data(2, 12)
    of = computed(masks, maps, levels="image")
    decisions = SUBJECT.decisions(of)
    assert decisions is not None
    assert decisions.counts["TP"][0] + decisions.counts["FN"][0] == 6
    assert decisions.note == "decisions on images"
    (roc,), (scores,) = figures(of, Curves), figures(of, Histogram)
    assert roc.follows == ("FPR", "TPR")
    assert scores.follows
    shown = [image for image in SUBJECT.images(of) if image.kind in ("missed", "lowest")]
    order = sorted(range(6), key=lambda image: maps[image].max())
    assert [image.name for image in shown] == [*map(str, order)]
    at = SUBJECT.thresholds(of)["image"]
    assert shown[-1].said == f"score {maps[order[-1]].max():.3g} > {at}"


def test_curves_of_two_sets_of_maps() -> None:
    maps, masks = data(1)
    of = computed(masks, maps, maps[:, ::-1], integration_limits=[0.5, 0.2])
    covered, pixels, images = figures(of, Curves)
    for figure, key in ((covered, "aupro@0.5"), (pixels, "pixel_auroc"), (images, "image_auroc")):
        assert [(each.name, each.role, each.selected) for each in figure.series] == [
            ("maps 0", "d1", True),
            ("maps 1", "d2", False),
        ]
        for each, one in zip(figure.series, of.all_models):
            assert each.value == one.results[key]
            area = np.trapezoid(each.y, each.x) / each.x[-1]
            assert area == pytest.approx(one.results[key], abs=1e-12)
            assert len(each.x) == len(each.y) == len(each.said)
    assert covered.series[0].x[-1] == 0.5
    assert (covered.follows, pixels.follows, images.follows) == (("FPR", "PRO"), ("FPR", "TPR"), None)
    assert not figures(of, Histogram)[0].follows


def test_a_long_curve_is_thinned() -> None:
    rng = np.random.default_rng(0)
    _, masks = data(1, 4, 64)
    of = replace(computed(masks, rng.random(masks.shape) + 0.3 * masks), points=100)
    (series,) = figures(of, Curves)[0].series
    assert len(series.x) <= 51
    assert series.x[-1] == 0.3
    assert np.trapezoid(series.y, series.x) / 0.3 == pytest.approx(of.results["aupro@0.3"], abs=0.03)
    assert len(SUBJECT.decisions(of).thresholds) <= 200
    maps, masks = data(1)
    whole = figures(computed(masks, maps), Curves)[0].series
    assert figures(replace(computed(masks, maps), points=2 * len(whole[0].x)), Curves)[0].series == whole


def test_worst_images_are_those_of_a_plain_loop() -> None:
    """Missed ones, false alarms, detected ones of which less than half is covered, then others with wrong pixels."""
    maps, masks = data(3, 24, void=True)
    # images with many false alarms, and with few
    maps = np.round(maps + 1.5 * np.random.default_rng(3).random((24, 1, 1)), 1)
    of = computed(masks, maps, ignore_value=VOID, image_threshold=1.9)
    threshold, at = of.results["pixel_f1_max_threshold"], 1.9
    kinds: dict[str, list[Any]] = {"missed": [], "alarm": [], "partly": [], "pixels": []}
    for image, (own, mask) in enumerate(zip(maps, masks)):
        pairs = [*zip(own.ravel().tolist(), mask.ravel().tolist())]
        score = max(score for score, label in pairs if label != VOID)
        missed = sum(score <= threshold and label == 1 for score, label in pairs)
        flagged = sum(score > threshold and label == 0 for score, label in pairs)
        defect = sum(label == 1 for _, label in pairs)
        said = f"{defect - missed} of {defect} defect px covered, flagged {flagged} normal px"
        said = said if defect else f"flagged {flagged} normal px"
        if defect and score <= at:
            kinds["missed"].append((score, image, said))
        elif not defect and score > at:
            kinds["alarm"].append((-score, -image, said))
        elif defect and 2 * missed > defect:
            kinds["partly"].append((1 - missed / defect, score, image, said))
        elif missed + flagged:
            kinds["pixels"].append((not defect, -missed - flagged, image, said))
    expected = [(kind, str(abs(row)), said) for kind, rows in kinds.items() for *_, row, said in sorted(rows)]
    shown = SUBJECT.images(of)
    assert {"missed", "alarm", "pixels"} <= {kind for kind, *_ in expected}
    assert [(image.kind, image.name, image.said.rpartition("; ")[2]) for image in shown] == expected
    assert [image.name for image in shown[:2]] == [name for _, name, _ in expected[:2]]
    assert shown[0].keys == [
        Key("true defect", "known"),
        Key(f"score > {SUBJECT.threshold(of, 'pixel_f1_max')}", "unknown"),
    ]
    assert shown[0].alt == f"Anomaly map of {shown[0].name}: {shown[0].said}"


def test_kinds_of_images_by_their_names() -> None:
    maps, masks = data(3, 12)
    names = [*(f"cut/{n}" for n in range(3)), *(f"bent_{n}" for n in range(3)), *(f"good/{n}" for n in range(6))]
    of = computed(masks, maps, names=names, image_threshold=1.45)
    (bars,) = figures(of, Bars)
    assert bars.rows == ["bent", "cut", "normal images"]
    high = maps.max(axis=(1, 2)) > 1.45
    assert bars.counts == [[int(own.sum()), int((~own).sum())] for own in (high[3:6], high[:3], high[6:])]
    assert float(bars.note.removeprefix("anomalous if score > ")) == pytest.approx(1.45, abs=0.05)
    normal, anomalous = SUBJECT.worst(of)
    assert normal.columns["sample"][0] == names[6 + int(np.argmax(maps[6:].max(axis=(1, 2))))]
    assert anomalous.columns["score"] == sorted(maps[:6].max(axis=(1, 2)))
    assert SUBJECT.data(of) == "12 images: 6 anomalous, 6 normal"


def test_an_image_in_several_groups_is_one() -> None:
    maps, masks = data(3, 12)
    names = [*(f"cut/{n}" for n in range(6)), *(f"good/{n}" for n in (0, 1, 2, 0, 1, 2))]
    maps[9:] = maps[6:9]
    of = computed(masks, maps, names=names)
    assert SUBJECT.data(of) == "9 images: 6 anomalous, 3 normal"
    assert sum(figures(of, Bars)[0].counts[-1]) == 3
    assert sorted(SUBJECT.worst(of)[0].columns["sample"]) == names[6:9]
    shown = [image.name for image in SUBJECT.images(of)]
    assert len(shown) == len({*shown})


def test_masks_of_defects_are_united() -> None:
    masks = np.zeros((2, 3, 3), int)
    masks[0, 0], masks[1, :, 0], masks[1, 2, 2] = 1, 1, VOID
    anomalous, void = worst_images.united({"masks": masks, "saturation_areas": [1, 1]}, VOID)
    assert anomalous.astype(int).tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert void.astype(int).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]


def test_titles_meanings_and_the_table_of_images() -> None:
    maps, masks = data(1)
    options: dict[str, Any] = {"points": ["fpr95tpr", "tnr95tpr"], "pimo_bounds": [0.1, 0.9], "pixel_threshold": 0.5}
    names = [f"a/{image}" for image in range(8)]
    of = computed(masks, maps, names=names, components=True, per_image=True, **options)
    for key in of.summary.rates():
        assert all(SUBJECT.words(str(key), of.options)), key
    assert SUBJECT.threshold(of, "pixel_auroc") == ""
    (table,) = SUBJECT.tables(of)
    assert table.columns["name"] == names
    assert table.columns["iou"] == of.results["per_image"]["iou"]


def colors(picture: Any) -> np.ndarray:
    return np.asarray(picture, int)


def rgb(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def test_a_map_over_a_photograph_is_clear_where_it_is_low() -> None:
    photograph = Pixels.new("RGB", (64, 64), "#335577")
    none, low = np.zeros((64, 64), bool), np.full((64, 64), 0.39)
    low[0, 0] = 0.0
    drawn = pictures.draw_map(low, none, 1.0, (0.0, 3.0), photograph=photograph, side=64)
    assert (colors(drawn) == rgb("#335577")).all()
    low[20:40, 20:40] = 3.0
    drawn = colors(pictures.draw_map(low, none, None, (0.0, 3.0), photograph=photograph, side=64))
    assert (drawn[50:, 50:] == rgb("#335577")).all()
    assert np.abs(drawn[30, 30] - (0.2 * np.asarray(rgb("#335577")) + 0.8 * np.asarray(pictures.HEAT[-1]))).max() < 1


def test_outlines_lie_on_the_rims_of_regions() -> None:
    assert (palette.TOKENS["known"].dark, palette.TOKENS["unknown"].dark) == (pictures.DEFECT, pictures.REGION)
    score_map, mask = np.zeros((40, 40)), np.zeros((40, 40), bool)
    score_map[4:14, 4:14], mask[20:34, 20:34] = 2.0, True
    void = np.zeros((40, 40), bool)
    void[:9] = True
    photograph = Pixels.new("RGB", (40, 40), "#808080")
    drawn = colors(pictures.draw_map(score_map, mask, 1.0, (0.0, 2.0), void=void, photograph=photograph, side=40))
    defect, region = ((drawn == rgb(color)).all(axis=2) for color in (pictures.DEFECT, pictures.REGION))
    assert defect[20, 20:34].all()
    assert defect[20:34, 33].all()
    assert not defect[24:30, 24:30].any()
    assert region[9, 4:14].all()
    assert not region[:9].any()
    assert (drawn[19, 20:34] < 60).all()  # a dark edge
    small = pictures.draw_map(np.zeros((400, 400)), np.eye(400, dtype=bool), 1.0, (0.0, 2.0), side=100)
    assert (colors(small) == rgb(pictures.DEFECT)).all(axis=2)[np.arange(100), np.arange(100)].all()


def test_infinite_scores_are_drawn_as_the_ends() -> None:
    score_map = np.asarray([[np.inf, -np.inf], [0.0, 1.0]])
    drawn = colors(pictures.draw_map(score_map, np.zeros((2, 2), bool), None, (0.0, 1.0), side=80))
    assert (drawn[10, 10] == drawn[70, 70]).all()
    assert (drawn[10, 70] == drawn[70, 10]).all()


def test_pictures_of_an_answer() -> None:
    maps, masks = data(1)
    first, *_ = SUBJECT.images(computed(masks, maps))
    for url, size in ((first.picture, pictures.LEAST), (first.thumbnail, pictures.THUMBNAIL)):
        content = Pixels.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))
        assert content.size == (size, size)
