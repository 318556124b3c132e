"""Slow references of what happens to boxes: fates, kinds of false positives, mending them, and recall at a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from tests.detection_references import Row, iou, one_to_one, share

NEARBY = Fraction(1, 10)
GAINS = ("ΔmAP", "ΔU-AP", "ΔU-Recall")


@dataclass
class Object:
    image: int
    box: Row
    label: float  # that of "unknown" for all unknown ones
    true_label: float
    ignored: bool


@dataclass
class Prediction:
    image: int
    box: Row
    confidence: float
    label: float
    status: str = "FP"  # or TP, or out
    object: int | None = None


@dataclass
class Scene:
    objects: list[Object]
    predictions: list[Prediction]
    known: list[int]
    unknown: int
    threshold: Fraction
    plus: int
    kinds: list[tuple[str, int | None] | None] = field(default_factory=list)

    def iou(self, p: Prediction, g: Object) -> Fraction:
        return iou(p.box, g.box, self.plus) if p.image == g.image else Fraction()

    def counted(self) -> list[int]:
        return [i for i, g in enumerate(self.objects) if not g.ignored]

    def side(self, label: float) -> str:
        return "unknown" if label == self.unknown else "known"


def matched_scene(
    predictions: Sequence[Sequence[Row]],
    references: Sequence[Sequence[Row]],
    ignored: Sequence[Sequence[int]] | None = None,
    *,
    known_classes: Sequence[int],
    unknown_class_id: int = -1,
    iou_threshold: float = 0.5,
    conf_threshold: float = 0.0,
    protocol: str = "ow-dln",
    matching: str | None = None,
    plus_one: bool = False,
    unknown_below: float | None = None,
    **_: Any,
) -> Scene:
    flags = ignored or [[0] * len(true) for true in references]
    objects = [
        Object(i, g[:4], g[4] if g[4] in known_classes else unknown_class_id, g[4], bool(flag))
        for i, true in enumerate(references)
        for g, flag in zip(true, flags[i])
    ]
    found = [
        Prediction(i, p[:4], p[4], p[5]) for i, image in enumerate(predictions) for p in image if p[4] >= conf_threshold
    ]
    for p in found:
        if unknown_below is not None and p.confidence < unknown_below and p.label in known_classes:
            p.label = unknown_class_id
    known = sorted(set(known_classes))
    scene = Scene(objects, found, known, unknown_class_id, Fraction(str(iou_threshold)), int(plus_one))
    (match_voc if protocol == "owod" else match_once)(scene, matching or "iou")
    return scene


def match_voc(scene: Scene, _: str) -> None:
    pointing: dict[int, list[Prediction]] = {}
    for p in scene.predictions:
        near = [
            (-scene.iou(p, g), g.ignored, g.true_label, tuple(g.box), i)
            for i, g in enumerate(scene.objects)
            if g.label == p.label and scene.iou(p, g) >= scene.threshold
        ]
        if p.label not in (*scene.known, scene.unknown) or (near and min(near)[1]):
            p.status = "out"
        elif near:
            pointing.setdefault(min(near)[-1], []).append(p)
    for i, several in pointing.items():
        first = min(several, key=lambda p: (-p.confidence, -scene.iou(p, scene.objects[i]), tuple(p.box)))
        first.status, first.object = "TP", i


def match_once(scene: Scene, matching: str) -> None:
    def overlap(p: Row, g: Row) -> Fraction | None:
        shared = iou(p, g, scene.plus)
        return shared if shared >= scene.threshold else None

    for image in {p.image for p in scene.predictions}:
        # the rows that the reference knows, with their place at the end
        here = [(*p.box, p.confidence, p.label, k) for k, p in enumerate(scene.predictions) if p.image == image]
        there = [((*g.box, g.true_label, i), int(g.ignored)) for i, g in enumerate(scene.objects) if g.image == image]
        for row, taken in one_to_one(here, there, overlap, matching):
            p = scene.predictions[int(row[-1])]
            if taken is not None:
                p.object = int(taken[-1])
                p.status = "TP" if p.label == scene.objects[p.object].label else "FP"
            elif any(flag and overlap(row, g) is not None for g, flag in there):
                p.status = "out"


def fates(scene: Scene) -> dict[int, tuple[str, str, float]]:
    """Of each object that counts: its side, its fate, and the class it was called."""
    result = {}
    for i in scene.counted():
        g = scene.objects[i]
        false = [p for p in scene.predictions if p.status == "FP"]
        named = [p for p in false if p.label != g.label and scene.iou(p, g) >= scene.threshold]
        side, called = scene.side(g.label), g.label
        if any(p.status == "TP" and p.object == i for p in scene.predictions):
            fate = "found"
        elif named:
            called = max(named, key=lambda p: (p.confidence, scene.iou(p, g), -p.label)).label
            said = scene.side(called)
            fate = f"called {'another ' if side == said == 'known' else ''}{said}"
        elif any(p.label == g.label and scene.iou(p, g) >= NEARBY for p in false):
            fate = "badly placed"
        elif any(p.label != g.label and scene.iou(p, g) >= NEARBY for p in false):
            fate = "both"
        else:
            fate = "missed"
        result[i] = (side, fate, called)
    return result


def kind(scene: Scene, p: Prediction) -> tuple[str, int | None]:
    """Of a false positive: its kind, and the object that it is about."""

    def best(same: bool | None) -> tuple[Fraction, int | None]:
        near = [
            (-scene.iou(p, scene.objects[i]), scene.objects[i].true_label, tuple(scene.objects[i].box), i)
            for i in scene.counted()
            if same is None or (scene.objects[i].label == p.label) == same
        ]
        return (-min(near)[0], min(near)[3]) if near else (Fraction(), None)

    (own, mine), (other, theirs), (any_iou, _) = best(True), best(False), best(None)

    def pair() -> str:
        assert theirs is not None
        true, said = scene.side(scene.objects[theirs].label), scene.side(p.label)
        return f"{true} called {'another ' if true == said else ''}{said}"

    if NEARBY <= own < scene.threshold:
        return "badly placed", mine
    if other >= scene.threshold:
        return pair(), theirs
    if own >= scene.threshold:
        return "duplicate", mine
    if any_iou <= NEARBY:
        return f"background called {scene.side(p.label)}", None
    return f"both, {pair()}", theirs


def kinds(scene: Scene) -> Counter[str]:
    return Counter(kind(scene, p)[0] for p in scene.predictions if p.status == "FP")


def average_precision(outcomes: Sequence[tuple[float, bool]], objects: int, rule: str = "all") -> Fraction:
    """Of pairs of a confidence and whether it is a TP."""
    points = []
    for t in {confidence for confidence, _ in outcomes}:
        reached = [right for confidence, right in outcomes if confidence >= t]
        points.append((sum(reached), Fraction(sum(reached), len(reached))))
    if not objects:
        return Fraction()
    recalls = (
        [Fraction(k, objects) for k in range(1, objects + 1)] if rule == "all" else [Fraction(t, 10) for t in range(11)]
    )
    highest = [max((p for tp, p in points if Fraction(tp, objects) >= r), default=Fraction()) for r in recalls]
    return sum(highest, Fraction()) / len(recalls)


Rates = tuple[Fraction | None, Fraction | None, Fraction | None]


def rates(scene: Scene, objects: Sequence[int], rule: str) -> Rates:
    """MAP, U-AP and U-Recall, where only some objects count; None of no objects."""
    aps = {}
    for label in (*scene.known, scene.unknown):
        said = [(p.confidence, p.status == "TP") for p in scene.predictions if p.label == label and p.status != "out"]
        number = sum(scene.objects[i].label == label for i in objects)
        aps[label] = (average_precision(said, number, rule), number)
    some = [ap for label, (ap, number) in aps.items() if label != scene.unknown and number]
    right = sum(p.status == "TP" and p.label == scene.unknown for p in scene.predictions)
    ap, number = aps[scene.unknown]
    return share(sum(some, Fraction()), len(some)), ap if number else None, share(right, number)


def gains(scene: Scene, names: Sequence[str], rule: str = "all") -> dict[str, tuple[Fraction | None, ...]]:
    """What mending each kind alone adds to mAP, U-AP and U-Recall; "missed" is the kind of objects."""
    base, result = rates(scene, scene.counted(), rule), {}
    for name in names:
        if name == "missed":
            became = fates(scene)
            after = rates(scene, [i for i in scene.counted() if became[i][1] != "missed"], rule)
        else:
            after = rates(mended(scene, name), scene.counted(), rule)
        result[name] = tuple(None if new is None or old is None else new - old for new, old in zip(after, base))
    return result


def mended(scene: Scene, name: str) -> Scene:
    taken = {p.object for p in scene.predictions if p.status == "TP"}
    after = []
    for p in sorted(scene.predictions, key=lambda p: -p.confidence):
        said = kind(scene, p) if p.status == "FP" else None
        if said is None or said[0] != name:
            after.append(p)
        elif name != "duplicate" and "both" not in name and said[1] is not None and said[1] not in taken:
            taken.add(said[1])
            after.append(replace(p, label=scene.objects[said[1]].label, status="TP", object=said[1]))
    return replace(scene, predictions=after)


def recall_at(scene: Scene, k: int, budget: str = "unknown") -> Fraction | None:
    """The mean over ten IoU thresholds of the unknown objects that k predictions an image find."""
    total = sum(scene.objects[i].label == scene.unknown for i in scene.counted())
    number = 0
    for image in {p.image for p in scene.predictions}:
        here = [i for i, g in enumerate(scene.objects) if g.image == image]
        unknown = [i for i in here if scene.objects[i].label == scene.unknown and not scene.objects[i].ignored]
        known = [i for i in here if scene.objects[i].label != scene.unknown and not scene.objects[i].ignored]
        ignored = [i for i in here if scene.objects[i].ignored]
        ranked = sorted(
            (p for p in scene.predictions if p.image == image), key=lambda p: (-p.confidence, tuple(p.box), p.label)
        )
        if budget == "unknown":
            half, free, left = Fraction(1, 2), {*unknown, *known}, []
            for p in ranked:
                of_unknown = take(scene, p, free & {*unknown}, half)
                of_known = None if of_unknown is not None else take(scene, p, free & {*known}, half)
                free -= {of_unknown, of_known}
                on_ignored = any(scene.iou(p, scene.objects[i]) >= half for i in ignored)
                if of_unknown is not None or (of_known is None and not on_ignored):
                    left.append(p)
            ranked = left
        if budget == "called unknown":
            ranked = [p for p in ranked if p.label == scene.unknown]
        for t in range(10, 20):
            free = {*unknown}
            for p in ranked[:k]:
                free -= {take(scene, p, free, Fraction(t, 20))}
            number += len(unknown) - len(free)
    return share(number, 10 * total)


def take(scene: Scene, p: Prediction, free: set[int], threshold: Fraction) -> int | None:
    objects = [
        (-scene.iou(p, scene.objects[i]), scene.objects[i].true_label, tuple(scene.objects[i].box), i) for i in free
    ]
    near = [entry for entry in objects if -entry[0] >= threshold]
    return min(near)[-1] if near else None
