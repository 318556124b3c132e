"""Saved results: as JSON, as numbers by flat names, and the direction of each, higher or lower is better."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from ..metric.results import Draws
from ..ranking.operating_points import RATES, parse_point
from ..reading.objects import parse_json
from ..reading.reading import Census
from ..reading.reasons import named

KINDS = "kinds"  # in saved results: the kind of each key, and which direction is better
SAMPLES = "samples"  # in saved results: the state of the metric
MODELS = "models"  # in saved results of several models: those of each, by name
CENSUS = "census"  # in saved results: what was used of the files, and what was left out
DRAWN = "drawn"  # in saved results: what resamples drew for the intervals
# entries of an evaluation that are records, not results
RECORDS = frozenset({"evaluation", "comparison", "other", "options", KINDS, SAMPLES, CENSUS, DRAWN})
WORDS = {math.inf: "Infinity", -math.inf: "-Infinity"}  # in JSON, which has no such numbers
_NUMBERS = {word: number for number, word in WORDS.items()}
_LONGEST = 250  # characters of a name, in MLflow
_NAMED = 20  # of the things that are left out for a reason


def as_json(results: Mapping[str, Any], indent: int | None = None) -> str:
    """Results as JSON, which has no ±inf and no NaN: they become "Infinity", "-Infinity" and null.

    >>> import math
    >>> as_json({"macro_open_f": 0.5, "macro_open_f_threshold": -math.inf, "per_class": {"Recall": [math.nan]}})
    '{"macro_open_f": 0.5, "macro_open_f_threshold": "-Infinity", "per_class": {"Recall": [null]}}'
    """
    return json.dumps(_finite(results), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float):
        return None if math.isnan(value) else WORDS.get(value, value)
    return value


def read_results(path: str | Path) -> dict[str, Any]:
    """Read results that a command saved as JSON; "Infinity" and "-Infinity" become numbers.

    Returns the dict of results. Raises ValueError, with the file's name, for anything else.
    """
    with named(path):
        results = _numbers(parse_json(Path(path).read_bytes()))
        if not isinstance(results, dict):
            raise ValueError(f"expected an object of results by name, got a {type(results).__name__}")
    return results


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return _NUMBERS.get(value, value) if isinstance(value, str) else value


def shares(results: Mapping[str, Any]) -> frozenset[str]:
    """The keys of results that may be printed in percent, by their `kinds`, with the ends of their intervals."""
    kinds = results.get(KINDS, {})
    return frozenset(
        f"{key}{end}" for key, kind in kinds.items() if kind.get("share") for end in ("", "_low", "_high", "_error")
    )


def census_record(census: Census) -> dict[str, Any]:
    """The census of files as an entry of saved results, if something was left out of them: how much, why, and where.

    >>> census_record(Census({"rows": 9}, {("rows", "that are empty"): ["line 4"]}))["census"]
    {'used': {'rows': 9}, 'left_out': [{'kind': 'rows', 'reason': 'that are empty', 'number': 1, 'names': ['line 4']}]}
    >>> census_record(Census({"rows": 100}))
    {}
    """
    left_out = [
        {"kind": kind, "reason": reason, "number": len(names), "names": [*map(str, names[:_NAMED])]}
        for (kind, reason), names in census.left_out.items()
        if names
    ]
    return {CENSUS: {"used": dict(census.used), "left_out": left_out}} if left_out else {}


def drawn_record(draws: Draws | None, noun: str, resamples: int, row: str = "row") -> dict[str, Any]:
    """Rows, or clusters and their number, that resamples drew for intervals, as an entry of saved results.

    Parameters: draws, of clusters; noun, what one of them is called; resamples, how many there were; row, what a row
    is called.

    >>> drawn_record(Draws(40, 20, 0), "speaker", 1000), drawn_record(None, "cluster", 1000)
    ({'drawn': {'unit': 'speaker', 'number': 40, 'resamples': 1000}}, {'drawn': {'unit': 'row', 'resamples': 1000}})
    """
    of = {"unit": row} if draws is None else {"unit": noun, "number": draws.clusters}
    return {DRAWN: {**of, "resamples": resamples}}


def flat(results: Mapping[str, Any], prefix: str = "", *, plain: bool = False) -> dict[str, float]:
    """The scalars of results by slash-joined names; lists, tables, strings and booleans are left out.

    So is the record of an evaluation. Each number of a row of the table "groups" gets a name such as
    near/cifar100/auroc.

    Parameters: results of a metric, of several by name, or of an evaluation; prefix, before all names, with a slash;
    plain, whether to make names that MLflow takes: underscores stand for all but ASCII letters, digits, underscores,
    dashes, dots, blanks and slashes, such as the @ of accuracy@5, for dots at the beginning of a part, and for an empty
    part; of a name of more than 250 characters, the end is replaced by a hash of the name.
    Returns {name: int or float}, in the order of the results. Raises ValueError for two numbers of one name.

    >>> groups = {"group": ["far/mnist", "near/tin"], "auroc": [1.0, 0.5]}
    >>> flat({"auroc": 0.75, "t_list": [0.1, 0.2], "groups": groups}, "val")
    {'val/auroc': 0.75, 'val/far/mnist/auroc': 1.0, 'val/near/tin/auroc': 0.5}
    >>> flat({"accuracy@5": 0.9}, plain=True)
    {'accuracy_5': 0.9}
    """
    numbers: dict[str, float] = {}
    for path, value in _scalars(results):
        name = "/".join(filter(None, (prefix.rstrip("/"), *path)))
        name = _plain(name) if plain else name
        if name in numbers:
            raise ValueError(f"results: expected one number of a name, got two of {name!r}")
        numbers[name] = value
    return numbers


def rows_of_groups(groups: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The rows of the table "groups" by group, each with its numbers by key.

    Returns {group: {key: number}}. Raises ValueError for columns of different lengths and repeated groups.

    >>> rows_of_groups({"group": ["a", "b"], "auroc": [1.0, 0.5]})
    {'a': {'auroc': 1.0}, 'b': {'auroc': 0.5}}
    """
    if not isinstance(groups["group"], list):
        raise ValueError(f"groups: expected a list of names, got {groups['group']!r}")
    names = [str(name) for name in groups["group"]]
    columns = {key: column for key, column in groups.items() if key != "group"}
    for key, column in columns.items():
        if not isinstance(column, list) or len(column) != len(names):
            raise ValueError(f"groups: expected a list of {len(names)} for {key}, one for each group")
    if len(set(names)) < len(names):
        raise ValueError(f"groups: expected each once, got {', '.join(names)}")
    return {
        name: {key: column[i] for key, column in columns.items() if _is_number(column[i])}
        for i, name in enumerate(names)
    }


def _plain(name: str) -> str:
    """A name that MLflow takes: its own path when normalised, of at most 250 characters."""
    words = re.sub(r"[^\w\-. /]", "_", name, flags=re.ASCII).split("/")
    plain = "/".join(re.sub(r"^\.+", lambda dots: "_" * len(dots[0]), word) or "_" for word in words)
    if len(plain) <= _LONGEST:
        return plain
    end = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return f"{plain[: _LONGEST - 1 - len(end)]}_{end}"


def _scalars(results: Mapping[str, Any], *path: str) -> Iterator[tuple[tuple[str, ...], float]]:
    for key, value in results.items():
        if _is_number(value):
            yield (*path, str(key)), value
        elif isinstance(value, Mapping) and key == "groups" and "group" in value:
            for group, row in rows_of_groups(value).items():
                yield from _scalars(row, *path, group)
        elif isinstance(value, Mapping) and key not in RECORDS:
            yield from _scalars(value, *path, str(key))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


class Direction(NamedTuple):
    """Whether higher is better, and whether the result is a share, in [0, 1]."""

    higher: bool
    rate: bool


# names in lower case without options, such as @0.3, (Known) and 50-95, and without a level, such as pixel_ and U-
_NAMES = {
    Direction(True, True): (
        "accuracy autkc macro_open_f micro_open_f openauc closed_set_accuracy open_set_auroc open_set_accuracy ccr "
        "coverage auoscr auroc aupr_in aupr_in_trapezoid aupr_out aupr_out_trapezoid detect_acc "
        "ap aupr f1 f1_max iou_max precision recall aupro auspro aupimo siou ppv segment_f1 "
        "map ar auarc pauroc best_balanced_accuracy accuracy_given_answered f_answered "
        "os os* unk hos hos_max open_miou "
        "accuracy_score balanced_accuracy_score f1_score fbeta_score jaccard_score precision_score recall_score "
        "average_precision_score roc_auc_score"
    ),
    Direction(True, False): "cohen_kappa_score matthews_corrcoef d2_log_loss_score d2_brier_score prr reliability",
    Direction(False, True): "aurc augrc e_aurc eer eer_hull mindcf detection_error risk hamming_loss zero_one_loss",
    Direction(False, False): "wi a-ose dcf brier_score_loss hinge_loss log_loss",
}
_DIRECTIONS = {name: direction for direction, names in _NAMES.items() for name in names.split()}
_PREFIXES, _SUFFIXES = ("image_", "pixel_", "sample_", "u-"), ("50-95", "50")


def direction(key: str) -> Direction | None:
    """The direction of a result by its name; None if it has no direction or the name is unknown.

    For a slash-joined name, such as far/mnist/auroc, the last part counts.

    >>> direction("fpr95tpr"), direction("far/mnist/auroc").higher, direction("total_known")
    (Direction(higher=False, rate=True), True, None)
    """
    name = key.rpartition("/")[2].lower()
    if name.endswith(("_low", "_high", "_error", "_threshold")) and name != "detection_error":
        return None
    name = name.partition("@")[0].partition("(")[0]
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    point = parse_point(name)
    rate = name if point is None else point[0]
    if rate in RATES:
        return Direction(rate in ("tpr", "tnr"), True)
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return _DIRECTIONS.get(name)


def direction_of(key: str, kinds: Mapping[str, Any]) -> Direction | None:
    """The direction in the `kinds` of saved results; in files without kinds, that of the name.

    >>> direction_of("auroc", {"auroc": {"kind": "rate", "higher": True, "share": True}})
    Direction(higher=True, rate=True)
    """
    kind = kinds.get(key, kinds.get(key.rpartition("/")[2]))
    if not isinstance(kind, Mapping):
        return direction(key)
    higher = kind.get("higher")
    return Direction(higher, kind.get("share") is True) if isinstance(higher, bool) else None


def is_share(key: str, kinds: Mapping[str, Any]) -> bool:
    """Whether a result is a share, by the `kinds` of saved results; in files without kinds, by its name.

    >>> is_share("ΔmAP(missed)", {"ΔmAP(missed)": {"kind": "rate", "higher": None, "share": True}}), is_share("WI", {})
    (True, False)
    """
    kind = kinds.get(key, kinds.get(key.rpartition("/")[2]))
    if isinstance(kind, Mapping):
        return kind.get("share") is True
    known = direction(key)
    return known is not None and known.rate
