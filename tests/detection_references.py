"""Slow references of open-set detection: both protocols, box by box, in exact fractions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

Row = Sequence[float]
Results = dict[str, Any]
KINDS = ("TP_known", "FP_known", "TP_unknown", "FP_unknown")


class Said(NamedTuple):
    """What a prediction counts as: one of KINDS, or nothing."""

    confidence: float
    label: float
    image: int
    kind: str | None
    on_unknown: bool = False


def ratio(count: int | Fraction, total: int | Fraction) -> Fraction:
    return Fraction(count) / total if total else Fraction(0)


def share(count: int | Fraction, total: int | Fraction) -> Fraction | None:
    """None of nothing, which results leave out."""
    return Fraction(count) / total if total else None


def precision(tp: int, fp: int, objects: int) -> Fraction | None:
    """Nothing predicted of objects that exist is 0; of none, there is no precision."""
    return Fraction(tp, tp + fp) if tp + fp else Fraction(0) if objects else None


def that_exist(results: Results) -> Results:
    return {name: value for name, value in results.items() if value is not None}


def iou(a: Row, b: Row, plus: int = 0) -> Fraction:
    ax1, ay1, ax2, ay2, bx1, by1, bx2, by2 = map(Fraction, (*a[:4], *b[:4]))
    width, height = min(ax2, bx2) - max(ax1, bx1) + plus, min(ay2, by2) - max(ay1, by1) + plus
    intersection = max(width, Fraction(0)) * max(height, Fraction(0))
    areas = [(x2 - x1 + plus) * (y2 - y1 + plus) for x1, y1, x2, y2 in ((ax1, ay1, ax2, ay2), (bx1, by1, bx2, by2))]
    return ratio(intersection, sum(areas) - intersection)


def openset_detection(
    predictions: Sequence[Sequence[Row]],
    references: Sequence[Sequence[Row]],
    known_classes: Sequence[int],
    unknown_class_id: int = -1,
    iou_threshold: float = 0.5,
    conf_threshold: float = 0.0,
    count_background: bool = False,
    protocol: str = "ow-dln",
    matching: str | None = None,
    plus_one: bool = False,
    recall_level: float | None = 0.8,
    previously_known: Sequence[int] | None = None,
    ignored: Sequence[Sequence[int]] | None = None,
) -> Results:
    """Results without tables; `ignored` holds a flag for each object."""
    flags = [[0] * len(true) for true in references] if ignored is None else ignored
    confident = [[p for p in found if p[4] >= conf_threshold] for found in predictions]
    images = [(found, list(zip(true, flag))) for found, true, flag in zip(confident, references, flags)]

    def overlap(p: Row, g: Row) -> Fraction | None:
        """IoU where it reaches the threshold."""
        shared = iou(p, g, int(plus_one))
        return shared if shared >= Fraction(str(iou_threshold)) else None

    totals = {"known": 0, "unknown": 0}
    for _, objects in images:
        for g, skip in objects:
            totals["known" if g[4] in known_classes else "unknown"] += not skip
    if protocol == "owod":
        known = sorted(set(known_classes))
        return owod(images, known, unknown_class_id, overlap, totals, recall_level, previously_known)
    said: list[Said] = []
    for i, (found, objects) in enumerate(images):
        for p, taken in one_to_one(found, objects, overlap, matching or "iou"):
            kind = kind_of(p, taken, known_classes, unknown_class_id, count_background)
            if taken is None and any(skip and overlap(p, o) is not None for o, skip in objects):
                kind = None
            said.append(Said(p[4], p[5], i, kind))
    n = eight_counts(said, totals)
    errors = n["FP_known"] + n["FN_known"] + n["FP_unknown"] + n["FN_unknown"]
    return that_exist(
        {
            "U-Recall": share(n["TP_unknown"], n["total_unknown"]),
            "WI": share(n["FP_unknown"], n["total_known"]),
            "A-OSE": share(errors, n["total_known"] + n["total_unknown"]),
            "Precision(Known)": precision(n["TP_known"], n["FP_known"], n["total_known"]),
            "Recall(Known)": share(n["TP_known"], n["total_known"]),
            **n,
        }
    )


def one_to_one(
    found: Sequence[Row], objects: Sequence[tuple[Row, int]], overlap: Callable[[Row, Row], Any], matching: str
) -> Iterable[tuple[Row, Row | None]]:
    """Each prediction with the object that it takes; ignored ones are taken by none."""
    waiting = [g for g, skip in objects if not skip]
    steps = sorted({p[4] for p in found}, reverse=True) if matching == "confidence" else [None]
    for confidence in steps:
        left = [p for p in found if confidence is None or p[4] == confidence]
        while pairs := [(p, g) for p, g in product(left, waiting) if overlap(p, g) is not None]:
            # equal IoUs: the more confident, then the smaller class and coordinates
            p, g = min(
                pairs, key=lambda pair: (-overlap(*pair), -pair[0][4], pair[0][5], pair[0][:4], pair[1][4], pair[1][:4])
            )
            left.remove(p)
            waiting.remove(g)
            yield p, g
        for p in left:
            yield p, None


def kind_of(p: Row, g: Row | None, known: Sequence[int], unknown_id: int, background: bool) -> str | None:
    if g is None:
        return "FP_known" if p[5] != unknown_id else "FP_unknown" if background else None
    if g[4] not in known:
        return "TP_unknown" if p[5] == unknown_id else "FP_known"
    return "TP_known" if p[5] == g[4] else "FP_unknown" if p[5] == unknown_id else "FP_known"


def eight_counts(said: Sequence[Said], totals: dict[str, int]) -> dict[str, int]:
    n = {kind: sum(s.kind == kind for s in said) for kind in KINDS}
    return {
        "TP_known": n["TP_known"],
        "FP_known": n["FP_known"],
        "FN_known": totals["known"] - n["TP_known"],
        "TP_unknown": n["TP_unknown"],
        "FP_unknown": n["FP_unknown"],
        "FN_unknown": totals["unknown"] - n["TP_unknown"],
        "total_known": totals["known"],
        "total_unknown": totals["unknown"],
    }


def owod(
    images: list[tuple[list[Row], list[tuple[Row, int]]]],
    known: Sequence[int],
    unknown_id: int,
    overlap: Callable[[Row, Row], Any],
    totals: dict[str, int],
    recall_level: float | None,
    previously_known: Sequence[int] | None,
) -> Results:
    said: list[Said] = []
    number: dict[int, int] = {}
    opened = set()
    for label in (*known, unknown_id):
        targets = {
            i: [(g, skip) for g, skip in objects if (g[4] if g[4] in known else unknown_id) == label]
            for i, (_, objects) in enumerate(images)
        }
        number[label] = sum(not skip for objects in targets.values() for _, skip in objects)
        detections = [(p, i) for i, (found, _) in enumerate(images) for p in found if p[5] == label]
        taken = set()
        for p, i in sorted(detections, key=lambda detection: -detection[0][4]):
            kind: str | None = "FP"
            near = [(-overlap(p, g), skip, g[4], g[:4], k) for k, (g, skip) in enumerate(targets[i]) if overlap(p, g)]
            if near:
                _, skip, *_, k = min(near)
                kind = None if skip else "FP" if (i, k) in taken else "TP"
                taken.add((i, k))
            over = [
                (i, k)
                for k, (g, skip) in enumerate(images[i][1])
                if label != unknown_id and not skip and g[4] not in known and overlap(p, g)
            ]
            opened.update(over)
            side = "unknown" if label == unknown_id else "known"
            said.append(Said(p[4], label, i, kind and f"{kind}_{side}", bool(over)))

    counts = eight_counts(said, totals)
    ap = {label: average_precision(label, said, number[label]) for label in number}
    groups = {"mAP": list(known)}
    if previously_known is not None:
        groups["mAP(previously known)"] = [label for label in known if label in previously_known]
        groups["mAP(newly known)"] = [label for label in known if label not in previously_known]
    classes = [label for label in known if number[label]]
    right, wrong = (
        {c: sum(s.label == c and (s.kind or "").startswith(kind) for s in said) for c in classes}
        for kind in ("TP", "FP")
    )
    open_world = [wi_owod(said, {label: number[label] for label in known}, tenths) for tenths in range(1, 10)]
    n = counts
    results: Results = {}
    if recall_level is not None:
        results["WI"] = wi(images, known, said, recall_level)
    results |= {
        "WI(OWOD)@0.8": open_world[7] if classes else None,
        "WI(OWOD)": open_world if classes else None,
        "A-OSE": len(opened),
        "A-OSE(detections)": sum(s.on_unknown for s in said),
        "U-Recall": share(n["TP_unknown"], n["total_unknown"]),
        "U-AP": ap[unknown_id] if number[unknown_id] else None,
        **{
            name: share(sum((ap[c] for c in group if number[c]), Fraction()), sum(number[c] > 0 for c in group))
            for name, group in groups.items()
        },
        "Precision(U)": precision(n["TP_unknown"], n["FP_unknown"], n["total_unknown"]),
        "U-F1": ratio(2 * n["TP_unknown"], 2 * n["TP_unknown"] + n["FP_unknown"] + n["FN_unknown"]),
        "Precision(K)": share(sum(ratio(right[c], right[c] + wrong[c]) for c in classes), len(classes)),
        "Recall(K)": share(sum(ratio(right[c], number[c]) for c in classes), len(classes)),
        **n,
    }
    return that_exist(results)


def reach(said: Sequence[Said], confidence: float, kind: str) -> int:
    return sum(s.confidence >= confidence and (s.kind or "").startswith(kind) for s in said)


def average_precision(label: int, said: Sequence[Said], objects: int) -> Fraction:
    """The precision at each recall is the highest at this recall or above; its mean over 1/n, 2/n, …, 1."""
    own = [s for s in said if s.label == label]
    points = [(reach(own, s.confidence, "TP"), reach(own, s.confidence, "FP")) for s in own]
    highest = [
        max((ratio(tp, tp + fp) for tp, fp in points if tp >= count), default=Fraction())
        for count in range(1, objects + 1)
    ]
    return ratio(sum(highest, Fraction()), objects)


def wi_owod(said: Sequence[Said], number: dict[int, int], tenths: int) -> Fraction:
    opened = counted = 0
    for label, objects in number.items():
        own = [s for s in said if s.label == label]
        thresholds = sorted({s.confidence for s in own}, reverse=True)
        if not objects or not thresholds:
            continue
        # min takes the first of several: the highest confidence
        t = min(thresholds, key=lambda t: abs(Fraction(reach(own, t, "TP"), objects) - Fraction(tenths, 10)))
        counted += reach(own, t, "TP") + reach(own, t, "FP")
        opened += sum(s.confidence >= t and s.on_unknown for s in own)
    return ratio(opened, counted)


def wi(images: Any, known: Sequence[int], said: Sequence[Said], recall_level: float) -> Fraction:
    closed = [i for i, (_, objects) in enumerate(images) if all(g[4] in known for g, _ in objects)]
    inside = [s for s in said if s.image in closed]
    total = sum(not skip for i in closed for _, skip in images[i][1])
    for t in sorted({s.confidence for s in said}, reverse=True):
        if total and Fraction(reach(inside, t, "TP_known"), total) >= Fraction(str(recall_level)):
            return wi_above(said, inside, t)
    raise ValueError("no such confidence")


def wi_above(said: Sequence[Said], inside: Sequence[Said], t: float) -> Fraction:
    tp, fp, all_tp, all_fp = (reach(part, t, kind) for part in (inside, said) for kind in ("TP_known", "FP_known"))
    below = ratio(all_tp, all_tp + all_fp)
    return ratio(tp, tp + fp) / below - 1 if below and tp + fp else Fraction(0)
