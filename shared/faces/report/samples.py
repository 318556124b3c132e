"""The report on single samples, from results with `per_sample`: known ones that look unknown, and the reverse."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...answers.answer import Answer, Decisions, Number, Worst
from ...answers.thresholds import shown_threshold
from ...metric.metric import Metric
from ...ranking.counts import as_side
from ...ranking.curves import auroc
from ...ranking.operating_points import parse_point
from ...ranking.roc import SAMPLE_OUTCOMES, SIDES
from ...written.files import write_file
from ...written.results import KINDS, direction_of
from ..numbers import number, typographic
from ..plot import histogram_of, roc_of
from .answer import report_html
from .detection import ends_of
from .pictures import photograph

_SIDE = 256  # pixels of a picture
_AUROC = "chance that an unknown sample scores above a known one, ties counting half"
_MEANINGS = {
    "openauc": "chance that a known sample is classified correctly and scores below an unknown one",
    "closed_set_accuracy": "of the known samples are classified correctly",
    "open_set_auroc": _AUROC,
    "auroc": _AUROC,
    "open_set_accuracy": "of all samples are correctly called known or unknown",
    "detect_acc": "of all samples are correctly called known or unknown, at the best threshold",
    "aupr_out": "area under the precision-recall curve of the unknown samples",
    "aupr_in": "area under the precision-recall curve of the known samples",
    "tpr": "of the unknown samples are called unknown",
    "fpr": "of the known samples are called unknown",
    "macro_open_f": "mean F-score of the known classes",
    "micro_open_f": "F-score of the known classes, their counts added up",
}
_POINTS = {  # by the rate and the bounded rate
    ("fpr", "tpr"): "of the known samples are called unknown where {:.12g} % of the unknown ones are",
    ("tpr", "fpr"): "of the unknown samples are called so where {:.12g} % of the known ones are",
}


def has_errors_of_samples(metric: type[Metric]) -> bool:
    """Whether the results of a metric can have a table of samples with their decisions."""
    return "per_sample" in metric.options


def write_error_report(
    results: Mapping[str, Any],
    folder: str | Path,
    *,
    title: str = "Known and unknown samples",
    about: str = "",
    note: str = "",
    images: Sequence[str | Path] | None = None,
    count: int = 24,
) -> Path:
    """Write a page with the numbers, the ROC, the scores, and the samples with the most misleading scores.

    results: with the table per_sample; folder, created if missing; title
    about: a description of the samples; note, a sentence below the numbers, such as how intervals were computed
    images: a path for each sample in the order of addition, to show their pictures
    count: the largest number of samples to show of each kind

    Returns the path of the page, index.html, which needs no other file. Raises ValueError for results without that
    table, such as results of groups, and for images that cannot be read; OSError for a folder that cannot be created or
    written to.
    """
    if "per_sample" not in results:
        raise ValueError(
            "results: expected a table per_sample, got none; give the metric per_sample=True, and no groups"
        )
    answer = answer_of_samples(results, note=note, images=images, count=count)
    total = len(results["per_sample"]["sample"])
    lines = [about, f"{total:,} samples, counted from 0" if total > 1 else "1 sample"]
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    write_file(page, report_html(answer, title=title, command="openworld-metrics compute", lines=lines))
    return page


def answer_of_samples(
    results: Mapping[str, Any], *, note: str = "", images: Sequence[str | Path] | None = None, count: int = 24
) -> Answer:
    """The answer of results with the table per_sample; see `write_error_report`."""
    table = results["per_sample"]
    scores, is_unknown = np.asarray(table["score"], np.float64), np.asarray(table["reference"]) == SIDES[1]
    unknown, known = as_side(scores[is_unknown]), as_side(scores[~is_unknown])
    numbers = [
        _number(key, value, results, scores)
        for key, value in results.items()
        if isinstance(value, (int, float)) and not _is_end(key, results)
    ]
    leading = [each.key for each in numbers if each.higher is not None and each.share][:3]
    decisions = _decisions(table, results, scores)
    sides = {"known": known, "unknown": unknown}
    roc = roc_of(unknown, known, title=f"ROC, area {number(auroc(positives=unknown, negatives=known))}")
    return Answer(
        metric="",
        question="",
        data="",
        model="",
        models=[""],
        leading=leading,
        numbers={"": numbers},
        results={"": results},
        figures=[histogram_of(sides, SIDES), roc],
        decisions=decisions,
        worst=[_worst(table, side, images, count) for side in SIDES],
        notes=[note] if note else [],
        signature=results.get("signature", ""),
    )


def _is_end(key: str, results: Mapping[str, Any]) -> bool:
    """Whether a key is the end of an interval."""
    return key.endswith(("_low", "_high")) and key.rpartition("_")[0] in results


def _number(key: str, value: float, results: Mapping[str, Any], scores: np.ndarray) -> Number:
    way, at = direction_of(key, results.get(KINDS, {})), results.get(f"{key}_threshold")
    return Number(
        key,
        value,
        ends_of(results, key),
        way and way.higher,
        share=way is not None and way.rate,
        meaning=meaning(key) or ("" if way is None else f"{'higher' if way.higher else 'lower'} is better"),
        threshold="" if at is None else shown_threshold(at, [scores]),
    )


def meaning(key: str) -> str:
    """A rate of samples in a few words; "" for others.

    >>> meaning("fpr95tpr")
    'of the known samples are called unknown where 95 % of the unknown ones are'
    """
    point = parse_point(key)
    if point is not None:
        return _POINTS.get(point[:2], "").format(float(100 * point[2]))
    return _MEANINGS.get(key.partition("@")[0].removesuffix("_trapezoid"), "")


def _decisions(table: Mapping[str, Sequence[Any]], results: Mapping[str, Any], scores: np.ndarray) -> Decisions:
    """The decisions of a table of samples; their threshold is one of the results, if one of these decides so.

    Otherwise it is the highest score that is not called unknown.
    """
    called = np.asarray(table["decision"]) == SIDES[1]
    low, high = float(scores[~called].max(initial=-math.inf)), float(scores[called].min(initial=math.inf))
    stated = (value for key, value in results.items() if key.endswith("_threshold") and low <= value < high)
    at = shown_threshold(next(stated, low), [scores]).replace("−", "-").replace("∞", "inf")
    counts = Counter(table["outcome"])
    cells: dict[str, dict[str, str]] = {side.capitalize(): {} for side in SIDES[::-1]}
    for outcome in SAMPLE_OUTCOMES:
        if counts[outcome]:
            side, _, call = outcome.partition(", ")
            cells[side.capitalize()][call] = outcome
    of = {side: [outcome for outcome in SAMPLE_OUTCOMES if outcome.startswith(f"{side},")] for side in SIDES}
    flagged = {side: [outcome for outcome in own if outcome.endswith("called unknown")] for side, own in of.items()}
    return Decisions(
        thresholds=[at],
        ends=[high],
        counts={outcome: [counts[outcome]] for outcome in SAMPLE_OUTCOMES},
        rates={"FPR": (flagged["known"], of["known"]), "TPR": (flagged["unknown"], of["unknown"])},
        table=cells,
        presets={},
        rule="A sample is called unknown if score >",
        roles={side.capitalize(): side for side in SIDES},
        note="" if called.any() else "No sample is called unknown.",
    )


def _worst(table: Mapping[str, Sequence[Any]], side: str, images: Sequence[str | Path] | None, count: int) -> Worst:
    """The known samples with the highest scores, or the unknown ones with the lowest."""
    scores = np.asarray(table["score"], np.float64)
    own = np.flatnonzero(np.asarray(table["reference"]) == side)
    order = own[np.argsort(-scores[own] if side == SIDES[0] else scores[own], kind="stable")].tolist()
    wrong = sum(table["decision"][i] != side for i in order)
    other, end = (SIDES[1], "highest") if side == SIDES[0] else (SIDES[0], "lowest")
    chosen, step = order[:count], _step(scores)
    these = f"are the {len(chosen)} with the {end} scores" if len(chosen) > 1 else f"is the one with the {end} score"
    columns: dict[str, list[Any]] = {"sample": [str(table["sample"][i]) for i in chosen]}
    columns["score"] = [typographic(score_text(table["score"][i], step)) for i in chosen]
    others = [key for key in table if key not in ("sample", "score", "reference", "decision")]
    columns |= {key: [table[key][i] for i in chosen] for key in others}
    pictures = []
    if images is not None:
        paths = [Path(images[table["sample"][i]]) for i in chosen]
        pictures = [photograph(path, _SIDE) for path in paths]
        columns = {"image": [path.name for path in paths], **columns}
    title = f"{side.capitalize()} samples that look most {other}"
    return Worst(title, columns, f"{wrong:,} of {len(own):,} are called {other}. Here {these}.", pictures)


def score_text(score: float, step: float) -> str:
    """A score in six digits, or in as many more as come within a step of it.

    >>> score_text(0.123456789, 1e-4), score_text(1000001.1234, 1e-3)
    ('0.123457', '1000001.123')
    """
    texts = (f"{score:.{digits}g}" for digits in range(6, 18))
    return next((text for text in texts if not math.isfinite(score) or abs(float(text) - score) <= step), repr(score))


def _step(scores: np.ndarray) -> float:
    """A hundredth of a percent of the range of the finite scores, below which two may look alike."""
    finite = scores[np.isfinite(scores)]
    return float(finite.max() / 2 - finite.min() / 2) / 5000 if len(finite) else 0.0
