"""The command `openworld-metrics threshold`: fit a threshold on validation data, with its guarantee."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..arrays.checks import as_open_share
from ..ood.ood_bench import OODBench
from ..ranking.guarantees import threshold_at_fpr
from ..ranking.quantities import percent
from ..reading.rows.inputs import file_of
from ..reading.rows.roles import check_sets
from ..reading.rows.score_files import read_scores
from ..reading.tables.files import TEXTS
from ..written.results import as_json
from .columns import Source, of_names, stated
from .fitted import FittedThreshold, off_scores
from .messages import on_terminal, say, say_scores
from .options import MetricCommand, from_names, read_options, to_match_by_position
from .outputs import check_json_and_picture, deliver, saving
from .rules import fit_map_thresholds

_VALUES = ("in_value", "out_value")  # that say which labels are which
_HELP = """Fit a threshold on validation data; a sample, image or pixel is unknown if its score is above it.

\b
    openworld-metrics threshold --known known.csv:score --fpr 0.05 --confidence-level 0.95 --save t.json
    openworld-metrics threshold --known known.csv:score --unknown unknown.csv:score --tpr 0.95 --save t.json
    openworld-metrics threshold all.csv --tpr 0.95 --save t.json
    openworld-metrics threshold --predictions all.csv:score --references all.csv:label --tpr 0.95 --save t.json
    openworld-metrics threshold --predictions all.csv:score --references all.csv:label --rule eer --save t.json
    openworld-metrics threshold --maps validation --rule image-fpr:0.05@0.95 --save t.json

A FILE without a flag is one that `compute ood_bench` takes, of known and unknown samples; --predictions and
--references then name its columns. Scores are higher for unknown samples; FILE:-COLUMN negates a column. OpenOOD's conf
of --known and --unknown is negated without a sign, as by ood; other columns whose names say confidence need one.

With --fpr, at most this share of the known samples exceeds it: of these samples or, with --confidence-level, of new
ones. With --tpr, at least this share of the unknown samples does. With --rule eer, the share of known samples above it
and that of unknown samples below it are as close as they can be.

The threshold lies strictly between two neighbouring scores where there is room, so it decides alike on scores in
float16, float32 and float64; a note says where not.

From a model's anomaly maps of normal images, by category: maps lie in <category>/validation/good, else in
<category>/test/good, else in <category>. Rules are

\b
    max                  the highest pixel
    fpr:0.001            at most this share of the pixels exceeds it
    image-fpr:0.05       at most this share of the images has a pixel that exceeds it
    image-fpr:0.05@0.95  the same for new images, with this confidence
    mean+3std            the mean and standard deviations of the pixels

In verification, known samples are genuine trials and unknown ones impostors, and a similarity is negated: --fpr is then
the share of genuine trials that are rejected, and --tpr that of impostors.

Commands take the saved file as a threshold: ood --threshold t.json, anomaly --pixel-threshold t.json,
compute ood_bench --option threshold=t.json.
"""


@click.command(cls=MetricCommand, metric=OODBench, only=_VALUES, help=_HELP)
@click.argument("files", nargs=-1, metavar="[FILE …]")
@click.option("--known", metavar="FILE", help="Scores of known samples.")
@click.option("--unknown", metavar="FILE", help="Scores of unknown samples, for --tpr.")
@click.option("--predictions", metavar="FILE", help="Scores of known and unknown samples, with --references.")
@click.option("--references", metavar="FILE", help="Their labels: 1 for unknown samples, 0 for known ones.")
@click.option("--maps", type=click.Path(path_type=Path), help="Folder of anomaly maps of normal images.")
@click.option("--fpr", type=float, help="The share of known samples that may exceed the threshold.")
@click.option("--tpr", type=float, help="The share of unknown samples that must exceed it.")
@click.option("--confidence-level", type=float, help="With --fpr: for new samples, with this confidence.")
@click.option("--rule", metavar="RULE", help="eer, of known and unknown samples; with --maps: see above.")
@to_match_by_position
@from_names("label_from_name")
@click.option("--leave-out", is_flag=True, help="Leave out rows that cannot be read, and say how many.")
@click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the threshold to a .json.")
def threshold(save: Path | None, **arguments: Any) -> None:
    """Fit a threshold on validation data; see `_HELP`."""
    _check(arguments)
    places = {name: arguments[name] for name in ("known", "unknown", "predictions", "references") if arguments[name]}
    source = Source(arguments["files"], places)
    check_json_and_picture(save, None, source.inputs)
    if arguments["maps"]:
        fitted = fit_map_thresholds(arguments["maps"], arguments["rule"], progress=True)
    else:
        fitted = _from_scores(arguments, source)
    results = fitted.as_results()
    deliver(_text(fitted) if on_terminal() else as_json(results), *saving(save, results))


# the rates that go with each source of scores
_RATES = {
    ("known",): ("fpr",),
    ("known", "unknown"): ("tpr", "rule"),
    ("predictions", "references"): ("fpr", "tpr", "rule"),
    ("files",): ("fpr", "tpr", "rule"),
    ("maps",): ("rule",),
}


def _check(arguments: Mapping[str, Any]) -> None:
    """Raise UsageError for options that do not go together."""

    def flags(names: Iterable[str], word: str) -> str:
        return f" {word} ".join("a FILE" if name == "files" else f"--{name}" for name in names)

    sources = tuple(name for name in dict.fromkeys(sum(_RATES, ())) if arguments[name] not in (None, ()))
    if "files" in sources and {*sources} <= {"files", "predictions", "references"}:  # names of its columns
        sources = ("files",)
    if sources == ("predictions",) and arguments["label_from_name"] is not None:  # in place of references
        sources = ("predictions", "references")
    reads_labels = sources in (("files",), ("predictions", "references"))
    of_labels = (*_VALUES, "leave_out", *(["label_from_name"] if sources == ("maps",) else []))
    idle = [f"--{name.replace('_', '-')}" for name in of_labels if arguments[name] and not reads_labels]
    if idle and sources in _RATES:
        raise click.UsageError(f"expected {idle[0]} with a FILE or --predictions of known and unknown samples")
    if sources not in _RATES:
        raise click.UsageError(
            "expected a FILE, --known, --known and --unknown, --predictions and --references, or --maps"
        )
    rates = [name for name in ("fpr", "tpr", "rule") if arguments[name] is not None]
    if len(rates) != 1 or rates[0] not in _RATES[sources]:
        expected = f"{flags(_RATES[sources], 'or')} with {flags(sources, 'and')}"
        raise click.UsageError(f"expected {expected}, got {flags(rates, 'and') or 'none'}")
    if arguments["confidence_level"] is not None and rates != ["fpr"]:
        raise click.UsageError(f"expected --confidence-level with --fpr, got it with --{rates[0]}")


def _from_scores(arguments: Mapping[str, Any], source: Source) -> FittedThreshold:
    places = source.places
    if source.files or "predictions" in places:
        with source.named():
            options = read_options(OODBench, (), {name: arguments[name] for name in _VALUES})
            how = {name: arguments[name] for name in ("by_position", "leave_out")}
            reading = source.read(OODBench.name, options, **how, **stated(options), **of_names(arguments))
            say(reading)
            metric = OODBench(**options)
            unknown, known = (side.repeated() for side in metric.prepare(metric.reduce(**reading.columns)).sides)
            types = [_type(reading.columns["predictions"])]
    else:
        how = {"from_names": of_names(arguments)}
        sides = {name: read_scores(place, is_unknown=name == "unknown", **how) for name, place in places.items()}
        if "unknown" in sides:
            check_sets({places["known"]: sides["known"].scores}, {places["unknown"]: sides["unknown"].scores})
        say_scores({places[name]: side for name, side in sides.items()})
        known = sides["known"].scores
        unknown = sides["unknown"].scores if "unknown" in sides else None
        types = [side.type for side in sides.values()]
    fpr, tpr, level = arguments["fpr"], arguments["tpr"], arguments["confidence_level"]
    numbers = {"known_samples": len(known)}
    if arguments["rule"] is not None:
        threshold, promise = _equal_errors(known, unknown, arguments["rule"])
        rule, numbers = arguments["rule"], {**numbers, "unknown_samples": len(unknown)}
    elif tpr is None:
        threshold = threshold_at_fpr(known, as_open_share(fpr, "fpr"), level)
        new, certain = ("these", "") if level is None else ("new", f", with {percent(level)} % confidence")
        rule = f"fpr:{fpr!r}" + ("" if level is None else f"@{level!r}")
        promise = f"At most {percent(fpr)} % of {new} known samples exceed the threshold{certain}."
    else:  # of the lowest FPR
        name = f"fpr{Decimal(repr(as_open_share(tpr, 'tpr'))) * 100:f}tpr"
        results = OODBench(metrics=name, thresholds=True).compute(predictions=(known, unknown))
        threshold, numbers = results[f"{name}_threshold"], {**numbers, "unknown_samples": len(unknown)}
        rule, promise = f"tpr:{tpr!r}", f"At least {percent(tpr)} % of these unknown samples exceed the threshold."
    threshold, note = off_scores(threshold, [np.asarray(side) for side in (known, unknown) if side is not None])
    fitted_on = {**({"files": [*source.files]} if source.files else {}), **places, **numbers}
    return FittedThreshold(("samples",), rule, promise, threshold, _types(source, types), fitted_on, note)


_TEXT = (".csv", ".tsv", ".json", ".jsonl", *TEXTS)  # suffixes of files of decimals


def _types(source: Source, types: Iterable[str]) -> str:
    """The types of the scores, in words, and whether they were read from decimals, which float64 holds."""
    places = [file_of(place) for place in source.places.values()] if not source.files else source.inputs()
    is_text = any(place is None or place.suffix.lower() in _TEXT for place in places)
    return " and ".join(dict.fromkeys(types)) + (", from decimals" if is_text else "")


def _type(scores: Any) -> str:
    """The type of the scores, of one side or of both."""
    several = scores if isinstance(scores, tuple) else (scores,)
    return " and ".join(dict.fromkeys(str(getattr(each, "dtype", "float64")) for each in several))


def _equal_errors(known: Any, unknown: Any, rule: str) -> tuple[float, str]:
    """The threshold at which both rates of errors are closest, and the rates in words."""
    if rule != "eer":
        raise ValueError(f"rule: expected eer, with known and unknown samples, got {rule!r}")
    columns = {"predictions": (known, unknown)}
    threshold = OODBench(metrics="eer", thresholds=True).compute(**columns)["eer_threshold"]
    rates = OODBench(metrics=["fpr", "fnr"], threshold=threshold).compute(**columns)
    fpr, fnr = (f"{100 * rates[name]:.4g} %" for name in ("fpr", "fnr"))
    return threshold, f"{fpr} of these known samples exceed the threshold, and {fnr} of these unknown ones do not."


def _text(fitted: FittedThreshold) -> str:
    """The thresholds as text with all their digits, since they are copied into options."""
    sentences = [fitted.promise, *([fitted.note] if fitted.note else [])]
    if not isinstance(fitted.threshold, dict):
        return "\n".join([f"threshold  {fitted.threshold!r}", "", *sentences])
    width = max(map(len, fitted.threshold))
    lines = [f"{category:{width}}  {value!r}" for category, value in fitted.threshold.items()]
    return "\n".join([*lines, "", *sentences])
