"""Slow references: each metric in plain loops and the notation of its paper, in exact fractions.

Each takes the columns as lists and returns what `compute` should, as fractions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from tests.detection_references import openset_detection as openset_detection, ratio

Rows = Sequence[Sequence[float]]
Scores = Sequence[float]
Labels = Sequence[int]
Results = dict[str, Any]


def topk_hit(row: Scores, label: int, k: int, ties: str) -> Fraction:
    ranked = sorted(row, reverse=True)
    if ties == "strict":
        return Fraction(k == len(row) or row[label] > ranked[k])
    if ties == "optimistic":
        return Fraction(row[label] >= ranked[k - 1])
    above = sum(s > row[label] for s in row)
    equal = sum(s == row[label] for s in row)
    return Fraction(min(max(k - above, 0), equal), equal)


def topk(key: str, spans: Callable[[int], range], predictions: Rows, references: Labels, **options: Any) -> Results:
    """Means over some k of the share of hits."""
    ignored = options.get("ignore_unknown", False)
    pairs = [(row, y) for row, y in zip(predictions, references) if not (ignored and y < 0)]
    one, ties = 100 if options.get("percent") else 1, options.get("ties", "strict")
    scores = any(isinstance(s, float) for row in predictions for s in row)
    if options["k_list"] is None:
        right = sum(max(range(len(row)), key=row.__getitem__) == y if scores else y in row for row, y in pairs)
        return {"accuracy": Fraction(one * right, len(pairs))}
    results = {}
    for K in options["k_list"]:
        hits = [topk_hit(row, y, k, ties) if scores else Fraction(y in row[:k]) for row, y in pairs for k in spans(K)]
        results[f"{key}@{K}"] = one * sum(hits, Fraction()) / len(hits)
    return results


def accuracyk(predictions: Rows, references: Labels, k_list: Sequence[int] | None = None, **options: Any) -> Results:
    return topk("accuracy", lambda k: range(k, k + 1), predictions, references, k_list=k_list, **options)


def autkc(predictions: Rows, references: Labels, k_list: Sequence[int] = (1,), **options: Any) -> Results:
    return topk("autkc", lambda k: range(1, k + 1), predictions, references, k_list=k_list, **options)


def f_score(precision: Fraction, recall: Fraction) -> Fraction:
    return ratio(2 * precision * recall, precision + recall)


def confusion(
    predictions: Any, references: Labels, open_scores: Scores, open_labels: Labels | None, t: float
) -> Iterator[tuple[int, int, int]]:
    """TP, FP and FN of each known class when scores above t are rejected."""
    predicted = [p if isinstance(p, int) else max(range(len(p)), key=p.__getitem__) for p in predictions]
    known = [y >= 0 if open_labels is None else not open_labels[i] for i, y in enumerate(references)]
    if isinstance(predictions[0], int):
        num_classes = 1 + max(*predicted, *(y for y, k in zip(references, known) if k), 0)
    else:
        num_classes = len(predictions[0])
    accepted = [s <= t for s in open_scores]
    for c in range(num_classes):
        samples = list(zip(predicted, references, known, accepted))
        tp = sum(a and k and p == c == y for p, y, k, a in samples)
        fp = sum(a and p == c and not (k and y == c) for p, y, k, a in samples)
        fn = sum(k and y == c and not (a and p == c) for p, y, k, a in samples)
        yield tp, fp, fn


def macro_f(counts: list[tuple[int, int, int]]) -> Fraction:
    precision = sum((ratio(tp, tp + fp) for tp, fp, _ in counts), Fraction()) / len(counts)
    recall = sum((ratio(tp, tp + fn) for tp, _, fn in counts), Fraction()) / len(counts)
    return f_score(precision, recall)


def micro_f(counts: list[tuple[int, int, int]]) -> Fraction:
    tp, fp, fn = (sum(column) for column in zip(*counts))
    return f_score(ratio(tp, tp + fp), ratio(tp, tp + fn))


def open_f(
    name: str,
    average: Callable[[list[tuple[int, int, int]]], Fraction],
    t_list: Sequence[float] | None,
    columns: Results,
) -> Results:
    scores = columns["open_scores"]
    thresholds = sorted(set(scores)) if t_list is None else t_list
    columns = {"open_labels": None, **columns}
    curve = [average(list(confusion(**columns, t=t))) for t in thresholds]
    best = max(curve)
    results: Results = {name: best, f"{name}_threshold": Fraction(thresholds[curve.index(best)])}
    return results if t_list is None else {**results, f"{name}_curve": curve}


def decided(
    predictions: Any, references: Labels, open_scores: Scores, t: float, open_labels: Labels | None = None
) -> Results:
    """Numbers of the decision among K + 1 classes, from n[c, d], samples of class c called d; U is the last class."""
    predicted = [p if isinstance(p, int) else max(range(len(p)), key=p.__getitem__) for p in predictions]
    known = [y >= 0 if open_labels is None else not open_labels[i] for i, y in enumerate(references)]
    if isinstance(predictions[0], int):
        unknown = 1 + max(*predicted, *(y for y, k in zip(references, known) if k))
    else:
        unknown = len(predictions[0])
    n = [[0] * (unknown + 1) for _ in range(unknown + 1)]
    for p, y, k, s in zip(predicted, references, known, open_scores):
        n[y if k else unknown][p if s <= t else unknown] += 1
    classes = range(unknown + 1)
    true, called = [sum(n[c]) for c in classes], [sum(n[c][d] for c in classes) for d in classes]
    f1 = [ratio(2 * n[c][c], true[c] + called[c]) for c in classes]
    recall = {c: Fraction(n[c][c], true[c]) for c in classes if true[c]}
    of_known = [value for c, value in recall.items() if c != unknown]
    mean = sum(of_known, Fraction()) / len(of_known)
    iou = [ratio(n[c][c], true[c] + called[c] - n[c][c]) for c in range(unknown)]
    return {
        "accuracy(K+1)": Fraction(sum(n[c][c] for c in classes), len(predicted)),
        "f1(known)": sum(f1[:-1], Fraction()) / unknown,
        "f1(unknown)": f1[-1],
        "f1(K+1)": sum(f1, Fraction()) / (unknown + 1),
        "os*": mean,
        "unk": recall[unknown],
        "hos": f_score(mean, recall[unknown]),
        "os": sum(recall.values(), Fraction()) / len(recall),
        "open_miou": sum(iou, Fraction()) / unknown,
    }


def macro_open_f(
    t_list: Sequence[float] | None = None, threshold: float | None = None, decisions: bool = False, **columns: Any
) -> Results:
    results = open_f("macro_open_f", macro_f, t_list if threshold is None else [threshold], columns)
    if threshold is not None:
        del results["macro_open_f_curve"]
    if not decisions:
        return results
    at = float(results["macro_open_f_threshold"])
    thresholds = sorted(set(columns["open_scores"])) if t_list is None else t_list
    curve = [decided(**columns, t=t) for t in thresholds]
    hos = [row["hos"] for row in curve]
    results |= {**decided(**columns, t=at), "hos_max": max(hos)}
    results["hos_max_threshold"] = Fraction(thresholds[hos.index(max(hos))])
    if t_list is not None:
        results |= {f"{name}_curve": [row[name] for row in curve] for name in curve[0]}
    return results


def micro_open_f(t_list: Sequence[float] | None = None, **columns: Any) -> Results:
    return open_f("micro_open_f", micro_f, t_list, columns)


def auroc(positives: Scores, negatives: Scores) -> Fraction:
    wins = sum(2 * (p > n) + (p == n) for p, n in product(positives, negatives))
    return Fraction(wins, 2 * len(positives) * len(negatives))


def decisions(positives: Scores, negatives: Scores) -> list[tuple[float, int, int]]:
    """Threshold, TP and FP at every distinct score in descending order, and at −inf; positive iff score > threshold."""
    return [
        (t, sum(p > t for p in positives), sum(n > t for n in negatives))
        for t in [*sorted({*positives, *negatives}, reverse=True), -math.inf]
    ]


def average_precision(positives: Scores, negatives: Scores) -> Fraction:
    area, before = Fraction(0), 0
    for _, tp, fp in decisions(positives, negatives):
        area += Fraction(tp - before, len(positives)) * ratio(tp, tp + fp)
        before = tp
    return area


def aupr(positives: Scores, negatives: Scores) -> Fraction:
    points = [(Fraction(0), Fraction(1))]
    points += [
        (Fraction(tp, len(positives)), Fraction(tp, tp + fp))
        for _, tp, fp in decisions(positives, negatives)
        if tp + fp
    ]
    return sum(((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in pairwise(points)), Fraction())


def f1_max(positives: Scores, negatives: Scores) -> tuple[Fraction, float]:
    """The highest F1, and the highest threshold that gives it."""
    scored = [(Fraction(2 * tp, tp + fp + len(positives)), t) for t, tp, fp in decisions(positives, negatives)]
    return max(scored)


def operating_point(positives: Scores, negatives: Scores, rate: str, bounded: str, bound: Fraction) -> Fraction:
    num_positives, num_negatives = len(positives), len(negatives)
    reached = []
    for _, tp, fp in decisions(positives, negatives):
        rates = {"tpr": Fraction(tp, num_positives), "fpr": Fraction(fp, num_negatives)}
        rates |= {"fnr": 1 - rates["tpr"], "tnr": 1 - rates["fpr"]}
        if rates[bounded] >= bound if bounded in ("tpr", "tnr") else rates[bounded] <= bound:
            reached.append(rates[rate])
    return max(reached) if rate in ("tpr", "tnr") else min(reached)


def risk_coverage(errors: Scores, right: Scores, metrics: Sequence[str]) -> Results:
    return risk_with_costs([*errors, *right], ["wrong"] * len(errors) + ["right"] * len(right), metrics)


def risk_with_costs(
    scores: Scores, kinds: Sequence[str], names: Sequence[str], cost: float | None = None, share: float | None = None
) -> Results:
    """Losses and weights sample by sample, in fractions; ties in random order."""
    losses = {"right": Fraction(0), "wrong": Fraction(1), "unknown": Fraction(1)}
    if cost is not None:
        losses |= {"unknown": Fraction(str(cost)), "wrong": 1 - Fraction(str(cost))}
    weights = dict.fromkeys(losses, Fraction(1, len(kinds)))
    if share is not None:
        pi, unknown = Fraction(str(share)), kinds.count("unknown")
        weights = {kind: (1 - pi) / (len(kinds) - unknown) for kind in losses} | {"unknown": pi / unknown}
    steps: list[tuple[int, Fraction, Fraction]] = []  # at each distinct score: samples, weight and weighted loss
    for t in sorted({*scores}):
        here = [kind for s, kind in zip(scores, kinds) if s == t]
        weight, loss = (
            sum((weights[k] for k in here), Fraction()),
            sum((weights[k] * losses[k] for k in here), Fraction()),
        )
        steps.append((len(here), weight, loss))
    curve = [(0, Fraction(0), Fraction(0))]
    for number, weight, loss in steps:
        curve.append((curve[-1][0] + number, curve[-1][1] + weight, curve[-1][2] + loss))
    expected = [Fraction(0)]  # loss of the first k samples
    for number, _, loss in steps:
        first = expected[-1]
        expected += [first + loss * len(kinds) * q / number for q in range(1, number + 1)]
    found: Results = {}
    for name in names:
        if name == "aurc":
            found[name] = sum((e / k for k, e in enumerate(expected) if k), Fraction()) / len(kinds)
        elif name == "augrc":
            pairs = pairwise(curve)
            found[name] = sum(((e + f) / 2 * (w - v) for (_, v, e), (_, w, f) in pairs), Fraction())
        elif name.startswith("risk@cov"):
            coverage = Fraction(name.removeprefix("risk@cov")) / 100
            if share is None:
                k = math.ceil(coverage * len(kinds))
                found[name] = expected[k] / k
            else:
                found[name] = next(e / w for _, w, e in curve if w >= coverage)
        else:
            risk = Fraction(name.removeprefix("coverage@risk")) / 100
            found[name] = max(w for _, w, e in curve if not w or e / w <= risk)
    return found


def selective(errors: Scores, right: Scores, name: str) -> Fraction:
    """Areas of risk; the perfect order accepts all right samples first."""
    share = Fraction(len(errors), len(errors) + len(right))
    area, best = (
        risk_coverage(one, other, ["aurc"])["aurc"]
        for one, other in ((errors, right), ([1.0] * len(errors), [0.0] * len(right)))
    )
    numbers = {"aurc": area, "auarc": 1 - area, "e_aurc": area - best, "prr": (share - area) / (share - best)}
    exact: Fraction = numbers[name] if name in numbers else risk_coverage(errors, right, [name])[name]
    return exact


def roc(positives: Scores, negatives: Scores) -> list[tuple[Fraction, Fraction]]:
    """FPR and TPR at each threshold, from nothing on."""
    return [
        (Fraction(fp, len(negatives)), Fraction(tp, len(positives))) for _, tp, fp in decisions(positives, negatives)
    ]


def equal_error_rate(positives: Scores, negatives: Scores) -> Fraction:
    for (x0, y0), (x1, y1) in pairwise(roc(positives, negatives)):
        before, after = x0 + y0 - 1, x1 + y1 - 1
        if before <= 0 <= after:
            return x0 - before * (x1 - x0) / (after - before)
    raise AssertionError


def partial_auroc(positives: Scores, negatives: Scores, name: str) -> Fraction:
    """Of names such as pauroc@fpr10, pauroc@fpr10_mcclish and pauroc@tpr80."""
    rate, number, mcclish = re.fullmatch(r"pauroc@([ft]pr)([\d.]+)(_mcclish)?", name).groups()  # type: ignore[union-attr]
    limit, points = Fraction(number) / 100, roc(positives, negatives)
    if rate == "tpr":  # seen from the other corner of the square
        limit, points = 1 - limit, [(1 - y, 1 - x) for x, y in reversed(points)]
    area = area_up_to(points, limit)
    if mcclish:
        return (1 + (area - limit**2 / 2) / (limit - limit**2 / 2)) / 2
    return area / limit


def errors_and_right(scores: Scores, right: Sequence[bool]) -> tuple[Scores, Scores]:
    return [s for s, hit in zip(scores, right) if not hit], [s for s, hit in zip(scores, right) if hit]


def openauc(
    predictions: Any,
    references: Labels,
    open_scores: Scores,
    open_labels: Labels | None = None,
    tpr: float = 0.95,
    risk_metrics: Sequence[str] = (),
    roc_metrics: Sequence[str] = (),
) -> Results:
    unknown = [y < 0 if open_labels is None else bool(open_labels[i]) for i, y in enumerate(references)]
    predicted = [p if isinstance(p, int) else max(range(len(p)), key=p.__getitem__) for p in predictions]
    right = [p == y and not u for p, y, u in zip(predicted, references, unknown)]
    known_scores = [s for s, u in zip(open_scores, unknown) if not u]
    unknown_scores = [s for s, u in zip(open_scores, unknown) if u]
    pairs = [
        Fraction(hit * (2 * (t > s) + (t == s)), 2)
        for (s, u, hit), t in product(zip(open_scores, unknown, right), unknown_scores)
        if not u
    ]
    at = next(
        (tp, fp)
        for _, tp, fp in decisions(unknown_scores, known_scores)
        if Fraction(tp, len(unknown_scores)) >= Fraction(str(tpr))
    )
    correct = at[0] + len(known_scores) - at[1]
    return {
        "openauc": sum(pairs, Fraction()) / len(pairs),
        "closed_set_accuracy": Fraction(sum(right), len(known_scores)),
        "open_set_auroc": auroc(unknown_scores, known_scores),
        f"open_set_accuracy@tpr{100 * tpr:g}": Fraction(correct, len(open_scores)),
        **risk_coverage(*errors_and_right(open_scores, right), risk_metrics),
        **ood_bench(open_scores, [int(u) for u in unknown], roc_metrics),
    }


def graded(predictions: Scores, qualities: Sequence[float], metrics: Sequence[str]) -> Results:
    """Areas of Σ_k (loss of the first k)/k, with the loss 1 − q of an answer, and of tied ones their mean."""

    def area(scores: Sequence[float]) -> Fraction:
        losses: list[Fraction] = []
        for score in sorted(set(scores)):
            tied = [1 - Fraction(q) for q, s in zip(qualities, scores) if s == score]
            losses += [sum(tied, Fraction()) / len(tied)] * len(tied)
        risks = (sum(losses[:k], Fraction()) / k for k in range(1, len(losses) + 1))
        return sum(risks, Fraction()) / len(losses)

    aurc, best = area(predictions), area([-q for q in qualities])
    risk = sum((1 - Fraction(q) for q in qualities), Fraction()) / len(qualities)
    areas = {"aurc": aurc, "auarc": 1 - aurc, "e_aurc": aurc - best, "prr": (risk - aurc) / (risk - best)}
    return {name: areas[name] for name in metrics}


def ood_bench(
    predictions: Scores,
    references: Labels = (),
    metrics: Sequence[str] = ("auroc", "fpr95tpr"),
    in_value: int = 0,
    out_value: int = 1,
    positive: str = "out",
    threshold: float | None = None,
    cost_miss: float = 1.0,
    cost_false_alarm: float = 1.0,
    qualities: Sequence[float] = (),
) -> Results:
    if qualities:
        return graded(predictions, qualities, metrics)
    costs = Fraction(str(cost_miss)), Fraction(str(cost_false_alarm))
    ood = [s for s, y in zip(predictions, references) if y == out_value]
    ind = [s for s, y in zip(predictions, references) if y == in_value]
    sides = (ood, ind) if positive == "out" else ([-s for s in ind], [-s for s in ood])
    results: Results = {}
    for name in metrics:
        if name == "auroc":
            results[name] = auroc(ood, ind)
        elif name == "eer":
            results[name] = equal_error_rate(ood, ind)
        elif name.startswith("pauroc"):
            results[name] = partial_auroc(*sides, name)
        elif name in ("aurc", "e_aurc", "auarc", "augrc", "prr"):
            results[name] = selective(ood, ind, name)
        elif name == "aupr_out":
            results[name] = average_precision(ood, ind)
        elif name == "aupr_in":
            results[name] = average_precision([-s for s in ind], [-s for s in ood])
        elif name == "detect_acc":
            right = [tp + len(ind) - fp for _, tp, fp in decisions(ood, ind)]
            results[name] = Fraction(max(right), len(ood) + len(ind))
        elif name.startswith(("risk@", "coverage@")):
            results |= risk_coverage(ood, ind, [name])
        elif name.startswith(("mindcf", "dcf", "detection_error", "best_balanced")):
            results[name] = detection_cost(ood, ind, name, costs, positive, threshold)
        elif name == "eer_hull":
            results[name] = equal_error_rate_of_hull(ood, ind)
        elif name.startswith("aupr_out@share"):
            results[name] = average_precision_at(ood, ind, Fraction(name[14:]) / 100)
        elif name.startswith(("precision@", "recall@")):
            results[name] = among_highest(ood, ind, name)
        elif name.startswith("reliability") or "answered" in name:
            results[name] = of_answers(ood, ind, name, threshold)
        else:
            results[name] = operating_point(*sides, name[:3], name[-3:], Fraction(int(name[3:-3]), 100))
    return results


def detection_cost(
    ood: Scores, ind: Scores, name: str, costs: tuple[Fraction, Fraction], positive: str, threshold: float | None
) -> Fraction:
    """C(t) = c_miss·π·FNR(t) + c_fa·(1 − π)·FPR(t), over min(c_miss·π, c_fa·(1 − π)); scores above t are OOD."""
    rates = [
        (Fraction(len(ood) - sum(s > t for s in ood), len(ood)), Fraction(sum(s > t for s in ind), len(ind)))
        for t in ([-math.inf, *ood, *ind] if threshold is None or not name.startswith("dcf") else [threshold])
    ]
    if positive == "in":  # of which a miss is one that is called OOD
        rates = [(fpr, fnr) for fnr, fpr in rates]
    if "@p" not in name:
        least = min(fnr + fpr for fnr, fpr in rates) / 2
        return least if name == "detection_error" else 1 - least
    prior = Fraction(name.partition("@p")[2]) / 100
    miss, alarm = costs[0] * prior, costs[1] * (1 - prior)
    return min(miss * fnr + alarm * fpr for fnr, fpr in rates) / min(miss, alarm)


def equal_error_rate_of_hull(positives: Scores, negatives: Scores) -> Fraction:
    """The lowest rate x at which a line between two points of the ROC curve meets FPR = FNR = x."""
    points = [
        (Fraction(fp, len(negatives)), Fraction(len(positives) - tp, len(positives)))
        for _, tp, fp in decisions(positives, negatives)
    ]
    rates = [fpr for fpr, fnr in points if fpr == fnr]
    for (x0, y0), (x1, y1) in product(points, points):
        if x0 < y0 and x1 > y1:
            at = (y0 - x0) / ((y0 - x0) + (x1 - y1))
            rates.append(x0 + at * (x1 - x0))
    return min(rates)


def average_precision_at(positives: Scores, negatives: Scores, share: Fraction) -> Fraction:
    area, before = Fraction(0), Fraction(0)
    for _, tp, fp in decisions(positives, negatives):
        tpr, fpr = Fraction(tp, len(positives)), Fraction(fp, len(negatives))
        area += (tpr - before) * ratio(share * tpr, share * tpr + (1 - share) * fpr)
        before = tpr
    return area


def among_highest(positives: Scores, negatives: Scores, name: str) -> Fraction:
    """The expected share of positives among the n highest, or of all positives; ties in random order."""
    kind, _, at = name.partition("@")
    total = len(positives) + len(negatives)
    n = len(positives) if at == "n" else math.ceil(Fraction(at[3:]) / 100 * total)
    border = sorted([*positives, *negatives], reverse=True)[n - 1]
    above = sum(s > border for s in [*positives, *negatives])
    tied = sum(s == border for s in [*positives, *negatives])
    hits = sum(s > border for s in positives) + Fraction(n - above, tied) * sum(s == border for s in positives)
    return hits / (n if kind == "precision" else len(positives))


def of_answers(wrong: Scores, right: Scores, name: str, threshold: float | None) -> Fraction:
    total = len(wrong) + len(right)
    accepted = [
        (sum(s <= t for s in right), sum(s <= t for s in wrong))
        for t in ([-math.inf, *right, *wrong] if threshold is None else [threshold])
    ]
    if name.startswith("reliability"):
        cost = Fraction(name.partition("@c")[2])
        gains = [Fraction(r - cost * w) / total for r, w in accepted]
        return max(Fraction(0), *gains) if threshold is None else gains[0]
    ((r, w),) = accepted
    return {
        "answered": Fraction(r + w, total),
        "accuracy_given_answered": Fraction(r, max(1, r + w)),
        "f_answered": Fraction(2 * r, total + r + w),
    }[name]


def components(mask: Sequence[Sequence[int]]) -> list[set[tuple[int, int]]]:
    return flood({(i, j) for i, row in enumerate(mask) for j, value in enumerate(row) if value})


def flood(left: set[tuple[int, int]]) -> list[set[tuple[int, int]]]:
    """8-connected components of pixels."""
    left, parts = set(left), []
    while left:
        region, front = set(), [left.pop()]
        while front:
            i, j = front.pop()
            region.add((i, j))
            near = {(i + di, j + dj) for di in (-1, 0, 1) for dj in (-1, 0, 1)} & left
            left -= near
            front += near
        parts.append(region)
    return parts


def numbered(mask: Sequence[Labels]) -> list[list[tuple[int, int]]]:
    """The pixels of each number above 0."""
    pixels = [(i, j) for i, row in enumerate(mask) for j in range(len(row))]
    numbers = sorted({int(mask[i][j]) for i, j in pixels} - {0})
    return [[(i, j) for i, j in pixels if mask[i][j] == number] for number in numbers]


def area_up_to(points: list[tuple[Fraction, Fraction]], limit: Fraction) -> Fraction:
    area = Fraction(0)
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 >= limit:
            break
        if x1 > limit:
            x1, y1 = limit, y0 + (y1 - y0) * (limit - x0) / (x1 - x0)
        area += (x1 - x0) * (y0 + y1) / 2
    return area


def of_samples(scores: Scores, labels: Labels, ids: Sequence[str]) -> Results:
    judged = [[i for i, other in enumerate(ids) if other == name] for name in dict.fromkeys(ids)]
    scored = [(max(scores[i] for i in own), max(int(labels[i]) for i in own)) for own in judged]
    bad, good = ([score for score, label in scored if label == want] for want in (1, 0))
    return {
        "sample_auroc": auroc(bad, good),
        "sample_ap": average_precision(bad, good),
        "sample_f1_max": f1_max(bad, good)[0],
    }


def anomaly_suite(
    predictions: Sequence[Rows],
    references: Sequence[Sequence[Labels]],
    image_scores: Scores | None = None,
    image_labels: Labels | None = None,
    samples: Labels | None = None,
    integration_limits: Sequence[float] = (0.3, 0.1, 0.05, 0.01),
    image_reduction: str | int = "max",
    levels: Sequence[str] = ("image", "pixel"),
    regions: str = "components",
    points: Sequence[str] = (),
) -> Results:
    flat = [[s for row in score_map for s in row] for score_map in predictions]
    if image_scores is None:
        k = image_reduction if isinstance(image_reduction, int) else None
        image_scores = [
            max(pixels)
            if image_reduction == "max"
            else float(ratio(sum(map(Fraction, sorted(pixels)[-k if k else None :])), k or len(pixels)))
            for pixels in flat
        ]
    if image_labels is None:
        image_labels = [int(any(any(row) for row in mask)) for mask in references]
    inside: list[list[float]] = []
    normal: list[float] = []
    for score_map, mask in zip(predictions, references):
        found = components(mask) if regions == "components" else numbered(mask)
        inside += [[score_map[i][j] for i, j in region] for region in found]
        normal += [s for scores, labels in zip(score_map, mask) for s, y in zip(scores, labels) if not y]
    anomalous = [s for region in inside for s in region]
    sides = {
        "image": tuple([s for s, y in zip(image_scores, image_labels) if y == want] for want in (1, 0)),
        "pixel": (anomalous, normal),
    }
    results: Results = {}
    for level in levels:
        best, threshold = f1_max(*sides[level])
        results |= {
            f"{level}_auroc": auroc(*sides[level]),
            f"{level}_ap": average_precision(*sides[level]),
            f"{level}_aupr": aupr(*sides[level]),
            f"{level}_f1_max": best,
            f"{level}_f1_max_threshold": threshold,
        }
        if level == "pixel":
            results["pixel_iou_max"] = max(
                Fraction(tp, len(anomalous) + fp) for _, tp, fp in decisions(anomalous, normal)
            )
        for name in points:
            rate, bound, bounded = re.fullmatch("([a-z]+)(.*\\d)([a-z]+)", name).groups()  # type: ignore[union-attr]
            results[f"{level}_{name}"] = operating_point(
                sides[level][0], sides[level][1], rate, bounded, Fraction(bound) / 100
            )
        if level == "image" and samples is not None:
            results |= of_samples(image_scores, image_labels, [*map(str, samples)])
    if "pixel" not in levels:
        return results
    curve = []
    for t in [*sorted({*anomalous, *normal}, reverse=True), -math.inf]:
        overlap = sum((Fraction(sum(s > t for s in region), len(region)) for region in inside), Fraction())
        curve.append((Fraction(sum(s > t for s in normal), len(normal)), overlap / len(inside)))
    for limit in integration_limits:
        results[f"aupro@{limit}"] = area_up_to(curve, Fraction(limit)) / Fraction(limit)
    return results
