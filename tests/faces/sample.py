"""An answer of three detectors made by hand, with every part that a face shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from openworld_metrics.answers.answer import (
    Answer,
    Bars,
    Box,
    Curves,
    Decisions,
    Difference,
    Histogram,
    Image,
    Matrix,
    Number,
    Series,
    Table,
    Worst,
)

PIXEL = "data:image/gif;base64,R0lGODlhAQABAIAAAJmZmQAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="
_VALUES = {  # AUROC and FPR with intervals, AUPR, and what is pooled
    "msp": ((0.705, 0.681, 0.728), (0.822, 0.758, 0.855), (0.411, 0.383, 0.450), (0.704, 0.818, 0.612)),
    "energy": ((0.817, 0.798, 0.836), (0.625, 0.556, 0.692), (0.509, 0.470, 0.552), (0.816, 0.640, 0.721)),
    "knn": ((0.820, 0.801, 0.839), (0.615, 0.575, 0.668), (0.518, 0.480, 0.564), (0.819, 0.631, 0.728)),
}
_SHIFTS = {"msp": 0.75, "energy": 1.27, "knn": 1.3}
_TITLES = {"auroc": "AUROC", "fpr95tpr": "FPR at 95 % TPR", "aupr_out": "AUPR"}


def sample(said: Callable[[str], str] = lambda text: text) -> Answer:
    """The answer; `said` changes every text in it."""
    names = [said(name) for name in _VALUES]
    knn = names[2]
    scores = {name: _scores(shift) for name, shift in zip(names, _SHIFTS.values())}
    rows = [[n.value for n in _numbers(name, said)[:3]] for name in _VALUES]
    return Answer(
        metric=said("ood_bench"),
        question=said("Are out-of-distribution samples told apart from in-distribution ones?"),
        data=said("709 OOD, 1,291 in-distribution"),
        model=knn,
        models=names,
        leading=[*_TITLES],
        numbers={said(name): _numbers(name, said) for name in _VALUES},
        results={},
        best=knn,
        verdicts=[
            said("knn vs energy: AUROC +0.003 [−0.019, 0.025], no clear difference"),
            said("knn vs msp: AUROC +0.115 [0.092, 0.137], knn is better"),
        ],
        differences=[
            Difference(knn, names[1], "auroc", (0.820, 0.817), 0.003, -0.019, 0.025, 0.771, "", True),
            Difference(knn, names[0], "auroc", (0.820, 0.705), 0.115, 0.092, 0.137, 0.001, knn, True, said("svhn")),
        ],
        level=0.95,
        caption=said("paired bootstrap, 95 %, 1,000 resamples"),
        noun=said("detector"),
        over=said("mean of 3 sets"),
        side_by_side=Table(
            said("By set"),
            {
                said("set"): [said("mean of 3"), "svhn", "textures", "places", said("pooled")],
                "auroc": [0.820, 0.872, 0.831, 0.757, 0.819],
                "fpr95tpr": [0.615, 0.51, 0.61, 0.725, -0.631],
            },
            ["auroc", "fpr95tpr"],
            [(0, "auroc")],
            1,
            {"auroc": [(0.801, 0.839), (0.845, 0.899), (0.8, 0.86), (0.72, 0.79), None]},
            {"auroc": True, "fpr95tpr": False},
        ),
        tables=[
            Table(said("Per model"), {said("name"): names, "auroc": [row[0] for row in rows], "count": [1, 2, 3000]})
        ],
        sections={said("At thresholds"): ["f1_max"]},
        figures=[_histogram(scores[knn], said), _roc(scores, said), *_counted(said)],
        images=[image(said), image(said, 40)],
        decisions=_decisions(scores[knn], said),
        worst=[
            Worst(
                said("In-distribution, scored highest"),
                {said("image"): [said(f"id_{i}.png") for i in range(6)], "score": [3.6, 3.4, 3.1, 3.0, 2.9, 2.8]},
            ),
            Worst(
                said("OOD, scored lowest"),
                {
                    said("image"): [said(f"ood_{i}.png") for i in range(6)],
                    "set": [said("places")] * 6,
                    "score": [-1.6, -1.5, -1.4, -1.2, -1.1, -1.0],
                },
            ),
        ],
        notes=[said("Left out 3 of 2,003 rows that could not be read: lines 19, 40, 77.")],
        signature=said("ood_bench|v1|groups:3"),
        sentence=said("AUROC is 0.820."),
        citation=said("@misc{x}"),
        call=said("openworld_metrics.load('ood_bench')"),
    )


def _numbers(name: str, said: Callable[[str], str]) -> list[Number]:
    *leading, pooled = _VALUES[name]
    numbers = [
        Number(
            key,
            value,
            (low, high),
            key != "fpr95tpr",
            True,
            said(title),
            said("the rank probability"),
            said(f"mean of 3 sets (pooled {whole:.3f})"),
            best=name != "msp" and key != "aupr_out",
        )
        for (key, title), (value, low, high), whole in zip(_TITLES.items(), leading, pooled)
    ]
    return [
        *numbers,
        Number("f1_max", 0.613, None, True, True, said("Best F1"), said("over all thresholds"), threshold="-0.394"),
        Number("total", 2000, title=said("Samples")),
    ]


def _scores(shift: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(0.0, 1.3, 1291), rng.normal(shift * 1.2, 1.3, 709)


def _decisions(scores: tuple[np.ndarray, np.ndarray], said: Callable[[str], str]) -> Decisions:
    known, unknown = scores
    thresholds = np.sort(np.concatenate(scores).round(3))[::40]
    flagged, caught = ((side > thresholds[:, None]).sum(axis=1) for side in (known, unknown))
    counts: dict[str, Any] = {"TP": caught, "FN": 709 - caught, "FP": flagged, "TN": 1291 - flagged}
    ends = [float(np.concatenate(scores)[np.concatenate(scores) > t].min(initial=np.inf)) for t in thresholds]
    return Decisions(
        [f"{t:.3f}" for t in thresholds],
        ends,
        {name: count.tolist() for name, count in counts.items()},
        {
            said("TPR"): (["TP"], ["TP", "FN"]),
            said("FPR"): (["FP"], ["FP", "TN"]),
            said("precision"): (["TP"], ["TP", "FP"]),
        },
        {
            said("OOD"): {said("caught"): "TP", said("missed"): "FN"},
            said("In-distribution"): {said("flagged"): "FP", said("kept"): "TN"},
        },
        {said("95 % TPR"): int(np.flatnonzero(caught >= 0.95 * 709)[-1]), said("5 % FPR"): 40},
        said("OOD if score >"),
        promises={said("95 % TPR"): said("At most 5 % of new data exceed {threshold}.")},
        roles={said("OOD"): "unknown", said("In-distribution"): "known"},
        note=said("all sets pooled"),
    )


def _histogram(scores: tuple[np.ndarray, np.ndarray], said: Callable[[str], str]) -> Histogram:
    edges = np.linspace(-3.6, 5.2, 45)
    sides = [
        Series(said(name), role, edges[:-1].tolist(), (np.histogram(side, edges)[0] / len(side)).tolist())
        for name, role, side in zip(("in-distribution", "OOD"), ("known", "unknown"), scores)
    ]
    return Histogram(
        said("Scores of both sides"), said("knn score, higher is more OOD"), sides, 0.2, note=said("all sets pooled")
    )


def _roc(scores: dict[str, tuple[np.ndarray, np.ndarray]], said: Callable[[str], str]) -> Curves:
    curves = []
    for i, (name, (known, unknown)) in enumerate(scores.items()):
        at = np.linspace(6, -6, 200)
        x, y = ((side > at[:, None]).mean(axis=1).tolist() for side in (known, unknown))
        texts = [said(f"{t:.3f}") for t in at]
        curves.append(Series(name, f"d{i + 1}", x, y, texts, i == 2, [*_VALUES.values()][i][3][0]))
    return Curves(said("ROC"), (said("FPR"), said("TPR")), curves[::-1], (said("FPR"), said("TPR")), diagonal=True)


def _counted(said: Callable[[str], str]) -> list[Bars | Matrix]:
    parts = [said(name) for name in ("right", "called known", "badly placed", "missed")]
    rows = [said("known objects"), said("unknown objects")]
    return [
        Bars(
            said("Fates of objects"),
            rows,
            parts,
            ["right", "unknown", "misplaced", "missed"],
            [[71, 3, 8, 20], [12, 30, 2, 16]],
        ),
        Matrix(
            said("Called"),
            rows,
            [said("its class"), said("unknown"), said("not there")],
            [[71, 3, 20], [12, 30, 16]],
            (said("object"), said("called")),
            right=[(0, 0), (1, 1)],
        ),
    ]


def image(said: Callable[[str], str] = lambda text: text, number: int = 4) -> Image:
    """An image with boxes, of which many overlap."""
    outcomes = ["right", "unknown called known", "missed", "badly placed", "wrong class", "known called unknown"]
    roles = ["right", "unknown", "missed", "misplaced", "wrong", "rejected"]
    boxes = []
    for i in range(number):
        x, y = 20 + 37 * i % 250, 30 + 23 * i % 150
        words, role = said(f"called dog (0.87): {outcomes[i % 6]}"), roles[i % 6]
        boxes.append(Box((x, y, x + 110, y + 80), words, role, said(f"dog {i}"), role != "missed"))
    return Image(
        said("000012.jpg"), (400.0, 300.0), PIXEL, boxes, said("1 unknown called known"), PIXEL, said("a street")
    )
