"""Turn a computation into HTML, text and figures for the right half of a page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...texts import Texts
from ..figures.computed import Computed
from ..figures.ranked import Listed, asked_samples, question_of, worst_samples
from ..figures.threshold import texts_of
from ..page import Page
from ..photographs import photograph_of
from ..serving.limits import MAX_IMAGES
from .call import python_call
from .comparison import PERCENT_FORMS, compared
from .computation import Computation
from .message import message
from .numbers import numbers_html, result_help
from .report import Kept, report_html
from .samples import worst_html
from .sentence import sentence
from .slider import threshold_html
from .strip import image_names, strip_html


class View(NamedTuple):
    """Results to show: HTML, text and figures.

    tables: the comparison of several detectors or groups, as text in each of `TEXT_FORMS`; empty if there is none
    in_percent: the tables of `PERCENT_FORMS` and `cite`, with rates in percent
    """

    compared: str
    numbers: str
    more: str
    threshold: str
    strip: str
    worst: str
    report: str
    cite: str
    tables: Sequence[str]
    in_percent: Sequence[str]
    json: str
    call: str
    figures: Sequence[Any]
    num_images: int
    image: int


class Viewer:
    """Turns the computations of a page into views, with one detector, and one of its images, in full."""

    def __init__(self, page: Page, texts: Texts, defaults: Mapping[str, Any]) -> None:
        self.page, self.texts, self.defaults = page, texts, defaults

    def picture(self, done: Computation, detector: str = "", image: float = 1, photographs: Sequence[str] = ()) -> Any:
        """The first figure, which shows one image on pages with images."""
        with np.errstate(all="ignore"):
            return self.page.draw_image(as_drawn(self._chosen(done, detector, image, photographs)))

    def listed(self, done: Computation, detector: str, selection: str) -> Listed:
        """The samples behind a bar or a cell of the detector's pictures: see `Page.listed`."""
        question, whole = question_of(selection), as_drawn(self._chosen(done, detector, 1, ()))
        if self.page.listed is None:
            return asked_samples(self.page.ranked(whole), question)
        return self.page.listed(whole, question, image_names(whole, self._num_images(done)))

    def view(self, done: Computation, detector: str = "", image: float = 1, photographs: Sequence[str] = ()) -> View:
        """The results of all detectors side by side, and those of one detector in full."""
        page, computed = self.page, self._chosen(done, detector, image, photographs)
        named = {name: page.named(self._known(done, name)) for name in done.detectors}
        signed = {key: {**row, "signature": done.detectors[key].summary.signature} for key, row in named.items()}
        name = computed.title or next(iter(named))
        call = python_call(page, done.recipe, done.arguments, computed.options, self.defaults)
        names = image_names(computed, self._num_images(done)) if page.images else []
        side_by_side = compared(page, {name: one.summary for name, one in done.detectors.items()}, done.pairs)
        whole = as_drawn(computed)
        with np.errstate(all="ignore"):
            figures, sweep = page.draw(whole), page.sweep(whole)
            strip = strip_html(page, whole, names)
            numbers = numbers_html(
                page,
                computed.summary,
                result_help(self.texts.inputs),
                names,
                texts_of(sweep),
                computed.together,
                named[name],
            )
            worst = worst_samples(page.ranked(whole))
        beside = message(done.left_out, "note") + (side_by_side.shown if side_by_side else "")
        kept = Kept(page, self.texts, computed, done, call, named[name], worst, sweep is not None, bool(strip))
        return View(
            compared=beside,
            numbers=numbers.headline,
            more=numbers.others,
            threshold=threshold_html(page.name, sweep, whole.pooled),
            strip=strip,
            worst=worst_html(page.name, worst),
            report=report_html(kept),
            cite=f"{sentence(page, self.texts, computed.summary)}\n\n{self.texts.citation}",
            in_percent=[
                *(side_by_side.in_percent.values() if side_by_side else [""] * len(PERCENT_FORMS)),
                f"{sentence(page, self.texts, computed.summary, percent=True)}\n\n{self.texts.citation}",
            ],
            tables=[*side_by_side.texts.values()] if side_by_side else [],
            json=_as_json(signed if computed.rivals else signed[name]),
            call=call,
            figures=figures,
            num_images=self._num_images(done),
            image=computed.image,
        )

    def _chosen(self, done: Computation, detector: str, image: float, photographs: Sequence[str]) -> Computed:
        """The computation of the detector to show in full, with its rivals, its image and the photograph behind it."""
        name = detector if detector in done.detectors else next(iter(done.detectors))
        names, num_images = done.arguments[name].names, self._num_images(done)
        place = max(0, min(num_images, int(image)) - 1) if image else self._worst(done.detectors[name], num_images)
        photograph = photograph_of([Path(path) for path in photographs], place, names)
        order = [*done.detectors].index(name)
        rivals = {other: computed for other, computed in done.detectors.items() if other != name}
        return self._known(done, name)._replace(
            image=place, photograph=photograph, title=name if rivals else "", place=order, rivals=rivals
        )

    def _known(self, done: Computation, name: str) -> Computed:
        """A detector's computation, with the names of its images, samples and classes, where known, and sizes."""
        known = done.arguments[name]
        return done.detectors[name]._replace(
            names=known.names, sizes=known.sizes, classes=known.classes, samples=known.samples
        )

    def _worst(self, computed: Computed, num_images: int) -> int:
        """The index of the image with the most errors; 0 on pages without images."""
        if not self.page.thumbnails or num_images < 2:
            return 0
        worst = self.page.thumbnails(as_drawn(computed), 1)
        return worst[0].image if worst else 0

    def _num_images(self, done: Computation) -> int:
        columns = next(iter(done.arguments.values())).columns
        return min(MAX_IMAGES, max(map(len, columns.values()))) if self.page.images else 1


def as_drawn(computed: Computed) -> Computed:
    """A computation for the figures, with groups pooled, also in its rivals."""
    rivals = {name: as_drawn(rival) for name, rival in computed.rivals.items()}
    whole = computed.together
    if whole is None:
        return computed._replace(rivals=rivals)
    return computed._replace(
        pooled=True, state=whole.state, summary=whole.summary, columns=whole.columns, rivals=rivals
    )


def _as_json(results: Mapping[str, Any]) -> str:
    """The results with all digits. Infinity, which a threshold can be, is written as in Python's json."""
    return json.dumps(results, indent=2)
