"""The report of anomaly maps: numbers, decisions, curves, and the worst images. Needs Pillow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...anomaly.aupro import by_limit
from ...answers.anomaly import titled
from ...answers.answer import Answer, Bars, Curves, Image, Matrix, Number, Series, Table
from ...answers.charts import histogram
from ...answers.decisions import threshold_text
from ...arrays.checks import as_fractions
from ...extras import extra
from ...ranking.counts import as_side
from ...reading.limits import COMMANDS
from ...reading.maps.layouts import TITLES
from ...reading.maps.maps import MapAndMask, map_reader, reading_options
from ...reading.progress import progress_bar
from ...suites.anomaly import AnomalyRun, ScoredImage, images_of
from ...suites.intervals import ENDS, Numbers, report_numbers
from ...written.files import write_file
from ...written.results import KINDS
from .. import html
from ..drawing import NARROW
from ..numbers import number, threshold_shown, typographic
from ..terminal import differences_of
from . import frame
from .answer import report_html
from .detection import ends_of
from .frame import Block, Section, Tile

_CALLED = ("called anomalous", "called normal")
_FULL, _OPEN = 2, 2  # the most categories that get a card each, and whose curves are not folded
ERRORS = {
    "missed": "Missed",
    "alarm": "False alarms",
    "partly": "Mostly uncovered",
    "lowest": "Anomalous, lowest scores",
    "highest": "Normal, highest scores",
}
_SIDES = ((60, 320), (300, 224), (math.inf, 160))  # (number of tiles, pixels of a picture), for up to that number
_QUALITY = 76  # of a JPEG
_MOST_FILTERS = 10  # the most names of categories and defects among the filters


class Model(NamedTuple):
    """A run and the name of its model."""

    run: AnomalyRun
    name: str

    def threshold(self, group: str, level: str) -> float | None:
        """The threshold for images or pixels: as chosen, else of the best F1; None if they are not judged."""
        results = self.run.results
        chosen = results["evaluation"]["options"][f"{level}_threshold"]
        if isinstance(chosen, Mapping):
            chosen = chosen.get(group.partition("/")[0])
        groups = results["groups"]
        best = groups.get(f"{level}_f1_max_threshold")
        if best is None:
            return None
        return best[groups["group"].index(group)] if chosen is None else float(chosen)

    def threshold_text(self, group: str) -> str:
        """The threshold for images as the shortest decimal that makes the same decisions; "" if there is none."""
        threshold = self.threshold(group, "image")
        scores = np.asarray([image.score for image in self.images(group)], np.float64)
        return "" if threshold is None else threshold_shown(threshold_text(threshold, [as_side(scores)]))

    @property
    def judged(self) -> list[str]:
        """The groups whose images are judged."""
        return [group for group in self.run.groups if self.threshold(group, "image") is not None]

    def images(self, group: str, anomalous: bool | None = None) -> list[ScoredImage]:
        """The images of a group, or those of one side, with their scores."""
        return [image for image in images_of(self.run, group) if anomalous in (None, image.anomalous)]

    def flags(self, group: str, image: ScoredImage) -> bool:
        """Whether an image of a group is called anomalous: its score is above the threshold."""
        threshold = self.threshold(group, "image")
        return threshold is not None and image.score > threshold


def write_anomaly_report(
    run: AnomalyRun,
    folder: str | Path,
    *,
    other: AnomalyRun | None = None,
    comparison: Mapping[str, Any] | None = None,
    numbers: Numbers | None = None,
    images: int = 5,
    progress: bool = False,
) -> Path:
    """Write a report of one HTML file, which holds its pictures.

    run: of `evaluate_maps` with curves=True; folder, created if missing
    other: the run of another model on the same images; comparison, of `compared_runs`
    numbers: of `report_numbers`, if they are there
    images: the largest number of images of each kind (missed, false alarms, mostly uncovered) that are drawn of a group
    progress: whether to show a bar on a terminal

    Without a confidence_level, intervals of small data are computed for the headline, with 200 resamples. Returns the
    path of the page, index.html. Raises OSError for a folder that cannot be created or written to, where an earlier
    report then stays as it is, and ValueError for one among the files that were read.
    """
    folder = Path(folder)
    runs = [run] if other is None else [run, other]
    frame.check_report_folder(folder, [run.listed.data_folder, *(each.listed.folder for each in runs)])
    models = [Model(each, name) for each, name in zip(runs, model_names(runs))]
    numbers = report_numbers(run, other, comparison) if numbers is None else numbers
    names = [model.name for model in models]
    sections = [
        _decisions_section(models[0]),
        _curves_section(models),
        _images_section(models, images, progress=progress),
        _categories_section(numbers, names),
    ]
    folds = {
        "All numbers by category": _all_by_category(numbers, names),
        "Options and versions": [frame.facts({**_options(run), "intervals": numbers.intervals})],
    }
    own: dict[str, Any] = {
        "title": f"Anomaly maps of {run.listed.data_folder.resolve().name}",
        "command": "openworld-metrics anomaly",
        "lines": _lines(run, names),
    }
    page = report_html(_answer(numbers, names), sections=sections, folds=folds, **own)
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "index.html", page)
    return folder / "index.html"


def model_names(runs: Sequence[AnomalyRun]) -> list[str]:
    """The names of the folders of maps; full paths if the names are equal."""
    names = [run.listed.folder.resolve().name for run in runs]
    return names if len(set(names)) == len(names) else [str(run.listed.folder) for run in runs]


def _lines(run: AnomalyRun, names: Sequence[str]) -> list[str]:
    record = run.results["evaluation"]
    count, images = len(record["categories"]), len(run.images)
    title = TITLES.get(record["layout"], "masks in a folder")
    resized = f", resized ({record['resize']})" if record["resize"] else ""
    return [
        f"data: {title}, {count} {'category' if count == 1 else 'categories'}, {images:,} images, "
        f"{sum(image.anomalous for image in run.images):,} anomalous",
        f"maps: {', compared with '.join(names)}{resized}",
    ]


def _options(run: AnomalyRun) -> dict[str, Any]:
    record = run.results["evaluation"]
    own = {name: record[name] for name in ("maps", "data", "layout", "resize", "sample_pattern", "mask_threshold")}
    if record["void_where_invalid"]:
        own["void_where_invalid"] = True
    options = {name: value for name, value in record["options"].items() if value not in (None, False, ())}
    shown = {name: value for name, value in {**own, **options}.items() if value is not None}
    return {**shown, **record["versions"]}


def _answer(numbers: Numbers, names: Sequence[str]) -> Answer:
    """The numbers of the models, with their intervals and their comparison, as far as it has intervals."""
    results = numbers.results
    every = results["groups"]["group"]
    groups = [name for name in every if not any(other.startswith(f"{name}/") for other in every)]
    kind = "groups" if any("/" in name for name in groups) else "categories"
    rows, _ = differences_of(numbers.comparison or {}, [*names, ""], results[KINDS])
    sure = {row.key: row for row in rows if not math.isnan(row.low)}
    words = {key: titled(key, {}) for key in numbers.keys}
    more = "--confidence-level 0.95 gives the other numbers intervals, too."
    return Answer(
        metric="anomaly_suite",
        question="",
        data="",
        model=names[0],
        models=names,
        leading=numbers.keys[:3],
        numbers={
            name: [
                Number(key, own[key], ends_of(own, key), numbers.higher(key), title=title, meaning=meaning)
                for key, (title, meaning) in words.items()
            ]
            for name, own in zip(names, filter(None, (results, numbers.other)))
        },
        results={},
        differences=[sure[key] for key in numbers.keys if key in sure],
        over=f"mean of {len(groups)} {kind}" if len(groups) > 1 else "",
        notes=[more] if numbers.of_images_only else [],
        signature=str(results["signature"]),
    )


def _decisions_section(model: Model) -> Section:
    """The decisions on the images of the groups: a matrix, and bars by category and kind of defect."""
    groups = model.judged
    if not groups:
        return Section("Decisions", "Decisions", [])
    sides = {"Anomalous": (True, "unknown"), "Normal": (False, "known")}
    counts = []
    for anomalous, _ in sides.values():
        called = [model.flags(group, image) for group in groups for image in model.images(group, anomalous)]
        counts.append([sum(called), len(called) - sum(called)])
    drawn = Matrix(
        "Decisions on images",
        [*sides],
        _CALLED,
        counts,
        roles=[[role] * len(_CALLED) for _, role in sides.values()],
        right=[(0, 0), (1, 1)],
        notes=[f"{sum(row):,}" for row in counts],
    )
    (detected, missed), (alarms, kept) = counts
    every = "All images" if len(groups) == 1 else "Both" if len(groups) == 2 else f"All {len(groups)}"
    cards = [frame.chart(replace(drawn, title=every))]
    of_groups = [_card_of(model, group) for group in groups]
    is_fixed = model.run.results["evaluation"]["options"]["image_threshold"] is not None
    at = "the threshold chosen before" if is_fixed else "its threshold of the best F1 on these images"
    lead = (
        f"{model.name}, {'each category' if len(groups) > 1 else groups[0]} at {at}: {missed:,} of "
        f"{detected + missed:,} defects are missed, {alarms:,} of {alarms + kept:,} normal images are false alarms."
    )
    if len({group.partition("/")[0] for group in groups}) < len(groups):
        lead += " Normal images count once in each group of their category, at its threshold."
    if len(groups) <= _FULL:
        blocks = [frame.grid(*cards, *of_groups, columns=1 + len(groups))]
    else:
        each_of = frame.fold(f"Each of the {len(groups)} categories", frame.grid(*of_groups, columns=3))
        blocks = [frame.grid(*cards), each_of]
    return Section("Decisions", "Decisions", blocks, lead)


def _card_of(model: Model, group: str) -> Block:
    kinds: dict[str, list[int]] = {}
    for image in sorted(model.images(group), key=lambda image: (not image.anomalous, image.image.defect)):
        name = image.image.defect or "anomalous" if image.anomalous else "normal"
        kinds.setdefault(name, [0, 0])[not model.flags(group, image)] += 1
    at = model.threshold_text(group)
    note = f"anomalous if score > {at}" if at else ""
    return frame.chart(Bars(group, [*kinds], _CALLED, ("unknown", "known"), [*kinds.values()], note))


def _curves_section(models: Sequence[Model]) -> Section:
    groups = models[0].run.groups
    grids = {group: frame.grid(*_cards(group, models), columns=4) for group in groups}
    if len(groups) == 1:
        blocks = [*grids.values()]
    elif len(groups) <= _OPEN:
        blocks = [block for group, own in grids.items() for block in (frame.text(group, kind="subject"), own)]
    else:
        blocks = [frame.fold(group, own) for group, own in grids.items()]
    lead = f"Every distinct score is a threshold. Histograms: scores of {models[0].name}, with its threshold as a line."
    return Section("Curves", "Curves", blocks, lead)


def _cards(group: str, models: Sequence[Model]) -> list[Block]:
    """Up to four cards: PRO, the ROC of images and of pixels, and the scores of images."""
    limits = as_fractions(models[0].run.results["evaluation"]["options"]["integration_limits"], "integration_limits")
    reaches = by_limit("aupro", limits, limits)
    widest = max(reaches, key=lambda name: reaches[name])
    kinds = {
        "pro": ("Regions covered", "FPR of pixels", widest, float(reaches[widest])),
        "image_roc": ("Images found", "FPR of images", "image_auroc", 1.0),
        "pixel_roc": ("Pixels found", "FPR of pixels", "pixel_auroc", 1.0),
    }
    cards = []
    for kind, (title, across, key, reach) in kinds.items():
        series = []
        for place, model in enumerate(models, 1):
            shown = up_to(model.run.curves.get(group, {}).get(kind) or [], reach)
            if shown:
                value, (x, y) = _value(model, group, key), zip(*shown)
                series.append(Series(model.name, f"d{place}", x, y, selected=place == 1, value=value))
        if series:
            curves = Curves(title, (across, ""), series, diagonal=reach == 1, note=key)
            values = ", ".join(f"{each.name} {number(each.value)}" for each in series)
            cards.append(frame.chart(curves, name=f"{group}: {title.lower()}, {values}", width=NARROW))
    return cards + _scores_card(group, models[0])


def up_to(points: Sequence[tuple[float, float]], reach: float) -> list[tuple[float, float]]:
    """The part of a curve up to x = reach, with an interpolated end.

    >>> up_to([(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)], 0.25)
    [(0.0, 0.0), (0.25, 0.5)]
    """
    shown: list[tuple[float, float]] = []
    for x, y in points:
        if x > reach:
            x0, y0 = shown[-1]
            return [*shown, (reach, y0 + (y - y0) * (reach - x0) / (x - x0))]
        shown.append((x, y))
    return shown


def _scores_card(group: str, model: Model) -> list[Block]:
    """A histogram of the scores of normal and anomalous images with the threshold; empty if images are not judged."""
    if model.threshold(group, "image") is None:
        return []
    sides = [
        (name, role, as_side(np.asarray([image.score for image in model.images(group, anomalous)], np.float64)))
        for name, role, anomalous in (("normal", "known", False), ("anomalous", "unknown", True))
    ]
    drawn = histogram("Scores of images", "score of an image", sides)
    threshold = _as_number(model.threshold_text(group))  # as the text beside it says
    return [frame.chart(drawn, threshold=threshold, name=f"{group}: scores of images", width=NARROW)]


def _value(model: Model, group: str, key: str) -> float:
    groups = model.run.results["groups"]
    value: float = groups[key][groups["group"].index(group)]
    return value


class Worst(NamedTuple):
    """An image to show: its group, its kind of error, its rank among these, and the image."""

    group: str
    kind: str
    rank: int
    image: ScoredImage


def _images_section(models: Sequence[Model], count: int, *, progress: bool) -> Section:
    """At most `count` images for each kind of error in each group, by the first model, with their maps and filters."""
    model = models[0]
    chosen = {group: [*worst_images(model, group, count)] for group in model.run.groups}
    total = sum(map(len, chosen.values()))
    side = next(side for most, side in _SIDES if total <= most)
    drawn: list[tuple[Worst, Tile]] = []
    for worst in progress_bar(list(chosen.values()), unit=" groups drawn", shown=progress):
        drawn += _tiles(worst, models, side)
    order = [*ERRORS]
    drawn.sort(key=lambda pair: (order.index(pair[0].kind), pair[0].rank, pair[0].group))
    if not drawn:
        fine = "Every image is judged correctly, and of no defect less than half is above the threshold."
        return Section("Images", "Images judged worst", [frame.text(fine)])
    filters = {kind: name for kind, name in ERRORS.items() if any(worst.kind == kind for worst, _ in drawn)}
    groups = dict.fromkeys(worst.group for worst, _ in drawn)
    defects = dict.fromkeys(worst.image.image.defect for worst, _ in drawn if worst.image.anomalous)
    for kind, names in (("group", groups), ("defect", defects)):
        if 1 < sum(map(bool, names)) <= _MOST_FILTERS:
            filters |= {_key(kind, name): name for name in names if name}
    legend = {"true defect": "known"}
    if any(model.threshold(group, "pixel") is not None for group in model.run.groups):
        legend["score > threshold of pixels"] = "unknown"
    legend["score, low to high"] = "scale"
    blocks = [frame.legend(legend), frame.tiles([tile for _, tile in drawn], filters, wide=True)]
    maps = "its map" if len(models) == 1 else f"the maps of {' and '.join(each.name for each in models)}"
    lead = f"Beside each photograph {maps}" if drawn[0][0].image.image.image is not None else f"Of each image {maps}"
    lead += f", on one scale for a category; the worst {len(drawn):,} are here. Press one to enlarge it."
    return Section("Images", "Images judged worst", blocks, lead)


def worst_images(model: Model, group: str, count: int) -> Iterator[Worst]:
    """The images of a group with errors, and detected images with mostly uncovered defects."""
    threshold = model.threshold(group, "image")
    images = sorted(model.images(group), key=lambda image: image.score)
    anomalous = [image for image in images if image.anomalous]
    normal = [image for image in images[::-1] if not image.anomalous]
    if threshold is None:
        kinds = {"lowest": anomalous, "highest": normal}
    else:
        kinds = {
            "missed": [image for image in anomalous if image.score <= threshold],
            "alarm": [image for image in normal if image.score > threshold],
        }
        if model.threshold(group, "pixel") is not None:
            detected = [image for image in anomalous if image.score > threshold and image.marked]
            shares = [_covered(model, group, content) for content in _read_maps(model, detected)]
            order = np.argsort(shares, kind="stable").tolist()
            kinds["partly"] = [detected[place] for place in order if shares[place] < 0.5]
    for kind, own in kinds.items():
        yield from (Worst(group, kind, rank, image) for rank, image in enumerate(own[:count]))


def _covered(model: Model, group: str, content: MapAndMask) -> float:
    threshold = model.threshold(group, "pixel")
    mask = content.masks.mask
    return 1.0 if threshold is None or not mask.any() else float((content.score_map[mask] > threshold).mean())


def _read_maps(model: Model, images: Sequence[ScoredImage]) -> Iterator[MapAndMask]:
    read = map_reader(model.run.listed, **reading_options(model.run.results["evaluation"]))
    pairs = {pair[0].key: pair for pair in model.run.listed.pairs}
    return (read(pairs[one.image.key]) for one in images)


def _tiles(worst: Sequence[Worst], models: Sequence[Model], side: int) -> Iterator[tuple[Worst, Tile]]:
    """The tiles of a group, with one scale of colours for each model's maps."""
    images = [one.image for one in worst]
    scales = [_scale(_read_maps(model, images)) for model in models]
    for one, *contents in zip(worst, *(_read_maps(model, images) for model in models)):
        yield one, _tile(one, contents, models, scales, side)


def _tile(
    worst: Worst,
    contents: Sequence[MapAndMask],
    models: Sequence[Model],
    scales: Sequence[tuple[float, float]],
    side: int,
) -> Tile:
    """A photograph, if there is one, with the models' maps beside it; all have the outlines."""
    with extra("anomaly"):
        from ...answers.pictures import Photograph, data_url, draw_map, read_photograph
    image, content, model = worst.image, contents[0], models[0]
    threshold = model.threshold(worst.group, "pixel")
    words = _image_words(worst, content, model)
    name = " ".join(filter(None, (image.image.category, image.image.defect, image.image.stem)))
    shown, photo = [], image.image.image
    if photo is not None:
        pixels, _ = read_photograph(Photograph(photo), side, COMMANDS)
        shown.append(draw_map(*_drawn(content, threshold, scales[0]), photograph=pixels, heat=False, side=side))
    for each, one, scale in zip(contents, models, scales):
        at = one.threshold(worst.group, "pixel")
        shown.append(draw_map(*_drawn(each, at, scale), side=side // 2 if photo is not None else side))
    alts = [f"Map of {one.name}, {name}" for one in models]
    alts = [*([f"{name}: {', '.join(words)}"] if photo is not None else []), *alts]
    pictures = [
        Image(name, picture.size, data_url(picture, quality=_QUALITY), alt=alt) for picture, alt in zip(shown, alts)
    ]
    kinds = [worst.kind, _key("group", worst.group), _key("defect", image.image.defect)]
    return Tile(name, words, pictures, kinds)


def _drawn(content: MapAndMask, threshold: float | None, scale: tuple[float, float]) -> tuple[Any, ...]:
    return content.score_map, content.masks.mask, threshold, scale, content.masks.void


def _image_words(worst: Worst, content: MapAndMask, model: Model) -> list[str]:
    """Lines on the decision on an image, and its number of flagged pixels."""
    score, pixel = worst.image.score, model.threshold(worst.group, "pixel")
    if model.threshold(worst.group, "image") is None:
        words = [typographic(f"score {score:.4g}")]
    else:
        at = model.threshold_text(worst.group)
        kind = {"alarm": "false alarm", "partly": "mostly uncovered"}.get(worst.kind, worst.kind)
        sign = ">" if model.flags(worst.group, worst.image) else "≤"
        words = [f"{kind} · score {score_beside(score, at)} {sign} {at}"]
    if pixel is not None:
        flagged, mask = content.score_map > pixel, content.masks.mask
        if content.masks.void is not None:
            flagged = flagged & ~content.masks.void
        covered = f"{int((flagged & mask).sum()):,} of {int(mask.sum()):,} defect px covered"
        words.append(covered if worst.image.anomalous else f"{int(flagged.sum()):,} px flagged")
    return words


def score_beside(score: float, threshold: str) -> str:
    """A score as short text on its own side of a threshold, which is text too.

    >>> score_beside(12.6, "9.3"), score_beside(0.30004, "0.30003"), score_beside(-1e-9, "−∞")
    ('12.6', '0.30004', '−1e−09')
    """
    at = _as_number(threshold)
    texts = (f"{score:.{digits}g}" for digits in range(3, 18))
    return typographic(next((text for text in texts if (float(text) > at) == (score > at)), repr(score)))


def _as_number(threshold: str) -> float:
    return float(threshold.replace("−", "-").replace("∞", "inf"))


def _scale(contents: Iterator[MapAndMask]) -> tuple[float, float]:
    low, high = np.inf, -np.inf
    for content in contents:
        finite = content.score_map[np.isfinite(content.score_map)]
        if len(finite):
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return (low, high) if low < high else (0.0, 1.0) if low > high else (low, low + 1)


def _key(what: str, name: str) -> str:
    """A name as one word, for a filter, which no kind of error is."""
    return f"{what}-{frame.filter_key(name)}"


def _categories_section(numbers: Numbers, names: Sequence[str]) -> Section:
    """The table by category, with a bar for each model in every cell; the mean first."""
    results, other = numbers.results, numbers.other
    shown = [*numbers.keys[:5], *(key for key in ("pixel_fpr95tpr", "segment_f1") if key in numbers.keys[5:])]
    groups = results["groups"]["group"]
    several = len(groups) > 1

    def column(of: Mapping[str, Any], key: str) -> list[Any]:
        return [*([of[key]] if several else []), *of["groups"][key]]

    columns: dict[str, list[Any]] = {"category": [*(["mean"] if several else []), *groups]}
    columns["images"] = column(results, "images")
    for key in shown:
        own = column(results, key)
        pairs = own if other is None else [list(pair) for pair in zip(own, column(other, key))]
        columns[key] = pairs
    higher = {key: way for key in shown if (way := numbers.higher(key)) is not None}
    drawn = html.table(Table("By category", columns, first=int(several), higher=higher), meters=shown)
    lead = "" if other is None else f"The upper bar is {names[0]}, the lower {names[1]}. "
    lead += "The mean gives each category the same weight." if several else ""
    return Section("Categories", "By category", [drawn], lead)


def _all_by_category(numbers: Numbers, names: Sequence[str]) -> list[Block]:
    tables = []
    for name, results in zip(names, filter(None, (numbers.results, numbers.other))):
        own = {key: column for key, column in results["groups"].items() if key == "group" or not key.endswith(ENDS)}
        plain = {key: own[key] for key in own if not any(isinstance(each, (dict, list)) for each in own[key])}
        tables += [frame.text(name, kind="subject"), html.table(Table(f"{name}, by category", plain), digits=6)]
    return tables
