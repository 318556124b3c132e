"""States that do not grow: equal samples are counted instead of kept.

The top-k metrics keep three small integers for each sample, of which there are few different ones, and open-set
detection keeps boxes, of which its results need eight counts once its options are known; tables and confidence-ranked
measures need the boxes. A tally holds just that, so that any number of shards reduces to one of bounded size. All
counts are integers: results have the same bits.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._openset_counts import openset_detection_rates

Tally = dict[str, Any]
TOPK = ("accuracyk", "autkc")
COUNTING = (*TOPK, "openset_detection")
_ROW = ("above", "tied", "correct")


def can_tally(name: str, options: Mapping[str, Any]) -> bool:
    """Whether a tally is enough for a metric's results with these options; else whole states are needed."""
    tables = options.get("per_class") or options.get("per_image") or options.get("conf_list") is not None
    return name in COUNTING and options.get("protocol", "ow-dln") == "ow-dln" and not tables


def tally(metric: Any, state: Mapping[str, Any]) -> Tally:
    """Count the samples of a state of a metric that `can_tally`, by that metric's options; empty if it is."""
    if not state:
        return {}
    if metric.name in TOPK:
        return _unique(state, np.ones(len(state["above"]), dtype=np.int64))
    results = metric.summarise(dict(state), **{name: metric._loaded_options[name] for name in _takes(metric)})
    return {name: count for name, count in results.items() if isinstance(count, int)}


def _takes(metric: Any) -> list[str]:
    """The options that summarise takes, after the state."""
    return list(inspect.signature(metric.summarise).parameters)[1:]


def add_tallies(name: str, tallies: Sequence[Tally]) -> Tally:
    """Add tallies of the metric of that name; their sum is as small as they are."""
    tallies = [tally for tally in tallies if tally]
    if not tallies:
        return {}
    if name not in TOPK:
        return {key: sum(tally[key] for tally in tallies) for key in tallies[0]}
    for key in ("predictions_width", "predictions_are_scores"):
        if len({int(tally[key]) for tally in tallies}) > 1:
            raise ValueError(f"{key}: expected the same in all shards, got {', '.join(str(t[key]) for t in tallies)}")
    joined = {key: np.concatenate([tally[key] for tally in tallies]) for key in (*_ROW, "counts")}
    return _unique({**tallies[0], **joined}, joined["counts"])


def tally_results(metric: Any, counted: Tally) -> dict[str, Any]:
    """Results of a metric from the tally of all its samples, bit for bit those of the samples themselves."""
    if metric.name not in TOPK and counted:
        return {**openset_detection_rates(counted), **counted}
    # each kind of sample once: that checks the options, and names the results
    metric.merge({key: value for key, value in counted.items() if key != "counts"})
    names = metric.compute()
    options = {"ties": "strict", **metric._loaded_options}
    known = counted["above"] >= 0
    above, tied, correct, counts = (np.asarray(counted[key])[known].astype(np.int64) for key in (*_ROW, "counts"))
    one = 100 if options["percent"] else 1
    results = {}
    for name in names:
        k = int(name.partition("@")[2] or 0)
        ks = range(1 if metric.name == "autkc" else k, k + 1)
        results[name] = (
            _mean_hits(above, tied, counts, ks, options["ties"], one)
            if k
            else one * int(counts @ correct) / int(counts.sum())
        )
    return results


def _unique(state: Mapping[str, Any], counts: np.ndarray) -> Tally:
    rows = np.stack([np.asarray(state[key]).astype(np.int64) for key in _ROW])
    different, index = np.unique(rows, axis=1, return_inverse=True)
    total = np.zeros(different.shape[1], dtype=np.int64)
    np.add.at(total, index.reshape(-1), counts)
    samples = {key: row.astype(np.asarray(state[key]).dtype) for key, row in zip(_ROW, different)}
    return {**state, **samples, "counts": total}


def _mean_hits(above: np.ndarray, tied: np.ndarray, counts: np.ndarray, ks: range, ties: str, one: int) -> float:
    """As the kernel's mean over samples and `ks` of the chance of a hit, of samples that occur `counts` times."""
    total = int(counts.sum()) * len(ks)
    if ties != "expected":
        needed = above + tied if ties == "strict" else above
        return one * int(counts @ np.clip(ks[-1] - needed, 0, len(ks))) / total
    places = sum(np.clip(k - above, 0, None) - np.clip(k - above - tied - 1, 0, None) for k in ks) * counts
    hits = [(int(places[tied == count].sum()), int(count) + 1) for count in np.unique(tied)]
    return math.fsum(one * good / possible for good, possible in hits) / total
