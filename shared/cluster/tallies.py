"""States that do not grow: equal samples are counted instead of kept.

The top-k metrics keep three small integers for each sample, of which there are few different ones. Of a sample, an
open-set F-score with `t_list` needs its class, whether that is right, and the lowest threshold that accepts it.
Open-set detection keeps boxes, of which its results need eight counts once its options are known; tables and
confidence-ranked measures need the boxes. A tally holds just that, so that any number of shards reduces to one of
bounded size. All counts are integers: results have the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.arrays import to_numpy
from ..detection.ow_dln import openset_detection_rates
from ..open_set.counted import macro_open_f_of_counts, micro_open_f_of_counts
from ..open_set.open_f import check_thresholds
from ..open_set.samples import OpenSetState, count_classes

Tally = dict[str, Any]
Table = dict[str, np.ndarray]  # columns of one length; "counts" says how many samples a row stands for
TOPK = ("accuracyk", "autkc")
OPEN_F = ("macro_open_f", "micro_open_f")
COUNTING = (*TOPK, *OPEN_F, "openset_detection")


def can_tally(name: str, options: Mapping[str, Any]) -> bool:
    """Whether a tally is enough for a metric's results with these options; else whole states are needed."""
    if name in OPEN_F:
        return options.get("t_list") is not None
    tables = options.get("per_class") or options.get("per_image") or options.get("conf_list") is not None
    return name in COUNTING and options.get("protocol", "ow-dln") == "ow-dln" and not tables


def tally(metric: Any, state: Mapping[str, Any]) -> Tally:
    """Count the samples of a state of a metric that `can_tally`, by that metric's options; empty if it is."""
    if not state:
        return {}
    scalars = {name: array for name, array in state.items() if array.ndim == 0}
    if metric.name in TOPK:
        return {**scalars, "ranks": _count({name: state[name] for name in ("above", "tied", "correct")})}
    if metric.name in OPEN_F:
        thresholds = np.unique(check_thresholds(metric.loaded_options["t_list"]))
        accepted = {
            "predicted": state["predicted"],
            "correct": state["predicted"] == state["classes"],
            "lowest": np.searchsorted(thresholds, state["scores"].astype(np.float64)),  # threshold that accepts
        }
        return {**scalars, "accepted": _count(accepted), "samples": _count({"classes": state["classes"]})}
    alone = type(metric)(**metric.loaded_options)
    alone.merge(state)
    return {name: count for name, count in alone.compute().items() if isinstance(count, int)}


def add_tallies(name: str, tallies: Sequence[Tally]) -> Tally:
    """Add tallies of the metric of that name; their sum is as small as they are.

    Raises ValueError if their samples do not fit each other, such as rows of other widths.
    """
    tallies = [tally for tally in tallies if tally]
    return {key: _add(key, [tally[key] for tally in tallies]) for key in (tallies[0] if tallies else ())}


def _add(key: str, parts: list[Any]) -> Any:
    if isinstance(parts[0], dict):
        return _count({column: np.concatenate([part[column] for part in parts]) for column in parts[0]})
    if isinstance(parts[0], int):
        return sum(parts)
    if any(part != parts[0] for part in parts):
        raise ValueError(f"{key}: expected the same in all shards, got {', '.join(map(str, parts))}")
    return parts[0]


def _count(rows: Mapping[str, Any]) -> Table:
    """Different rows, and how often each occurs; rows that have been counted before keep their counts."""
    columns = {name: to_numpy(column) for name, column in rows.items() if name != "counts"}
    order = np.lexsort([*columns.values()])
    columns = {name: column[order] for name, column in columns.items()}
    differs = np.any([column[1:] != column[:-1] for column in columns.values()], axis=0)
    first = np.flatnonzero(np.concatenate([[True], differs]))
    counts = np.broadcast_to(np.asarray(rows.get("counts", 1), np.int64), len(order))[order]
    return {**{name: column[first] for name, column in columns.items()}, "counts": np.add.reduceat(counts, first)}


def tally_results(metric: Any, counted: Tally) -> dict[str, Any]:
    """Results of a metric from the tally of all its samples, bit for bit those of the samples themselves."""
    if not counted:
        return dict(metric.compute())  # which says that there are none
    if metric.name in TOPK:
        scalars = {name: array for name, array in counted.items() if name != "ranks"}
        return dict(metric.summarise({**counted["ranks"], **scalars}, **metric.loaded_options))
    if metric.name in OPEN_F:
        return _open_f_results(metric.name, counted, **metric.loaded_options)
    return {**openset_detection_rates(counted), **counted}


def _open_f_results(name: str, counted: Tally, t_list: Any, num_classes: int | None) -> dict[str, Any]:
    rows, classes = counted["accepted"], counted["samples"]
    state: OpenSetState = {
        "predicted": rows["predicted"],
        "classes": classes["classes"],
        "scores": rows["lowest"],
        "predictions_width": counted["predictions_width"],
    }
    num_classes = count_classes(state, num_classes)
    thresholds = check_thresholds(t_list)
    ids = np.unique(np.concatenate([state["predicted"], state["classes"][state["classes"] >= 0]]))
    known = classes["classes"] >= 0
    samples = np.zeros(len(ids), np.int64)
    samples[np.searchsorted(ids, classes["classes"][known])] = classes["counts"][known]
    accepted = _by_threshold(rows, ids, thresholds)
    hits = _by_threshold({column: array[rows["correct"]] for column, array in rows.items()}, ids, thresholds)
    if name == "macro_open_f":
        best, threshold, curve = macro_open_f_of_counts(hits, accepted, samples, num_classes, thresholds)
    else:
        best, threshold, curve = micro_open_f_of_counts(hits, accepted, samples, thresholds)
    return {name: best, f"{name}_threshold": threshold, f"{name}_curve": curve}


def _by_threshold(rows: Table, ids: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Accepted samples by threshold and predicted class, (T, K)."""
    ordered = np.unique(thresholds)
    entering = np.zeros((len(ordered) + 1, len(ids)), np.int64)
    np.add.at(entering, (rows["lowest"], np.searchsorted(ids, rows["predicted"])), rows["counts"])
    return np.cumsum(entering, axis=0)[np.searchsorted(ordered, thresholds)]
