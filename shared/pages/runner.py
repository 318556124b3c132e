"""From a page's inputs to what it shows: the one place where a metric is run, for a person and for the API alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..metric.groups import GROUPS
from ..metric.metric import OF_EVERY_METRIC
from ..texts import texts
from .columns.data_sets import shares_of_groups, with_groups
from .columns.detectors import detectors
from .columns.guesses import settled
from .columns.inputs import Given, offered
from .columns.left_out import unread, without
from .form.controls import options_of
from .form.form import as_names
from .page import Computed, Page
from .reading.photographs import photograph_of
from .reading.sources import checked_sources
from .results.comparison import compared
from .results.numbers import numbers_html, result_help
from .results.report import report_html, sentence
from .results.results import message, python_call, results_json
from .results.slider import threshold_html
from .results.strip import image_names, strip_html
from .results.worst import worst_html
from .serving.costs import Cost, check_costs, image_costs, interval_costs, option_costs, step_costs
from .serving.limits import MAX_DETECTORS, MAX_IMAGES, without_paths

MAX_WORDS = 2_000  # letters of a message


NOT_ON_PAGES = frozenset({"significant_bits", "per_sample", *OF_EVERY_METRIC} - {"confidence_level"})


class Shown(NamedTuple):
    """What a computation gives to show: HTML, text, figures, and what there is to choose from.

    tables: of several detectors or groups, as text in each of `TEXT_FORMS`; none of others
    """

    numbers: str
    threshold: str
    strip: str
    worst: str
    report: str
    cite: str
    tables: Sequence[str]
    json: str
    call: str
    figures: Sequence[Any]
    num_images: int


class Done(NamedTuple):
    """What was computed of each detector by its name, and from what; and what was left out, in words."""

    given: Mapping[str, Given]
    found: Mapping[str, Computed]
    left_out: str = ""


class Runner:
    """A page, and what the metric's script in its folder says. Each computation has a metric of its own."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.metric, self.folder = page, page.metric, folder
        self.texts = texts(folder / f"{page.name}.py")

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The options that a page has, and their defaults: none that serves a stream, or says how many resamples."""
        return {name: default for name, default in self.metric.options.items() if name not in NOT_ON_PAGES}

    def results(self, columns: Any, options: Any) -> dict[str, Any]:
        """The metric's own answer: what the API returns. Raises as `compute`, and TypeError for what is not by name."""
        for name, given in (("columns", columns), ("options", options)):
            if not isinstance(given, Mapping):
                raise TypeError(f"{name}: expected an object of values by name, got {type(given).__name__}")
        # the metric takes options among its columns
        within = {name: value for name, value in columns.items() if name in self.defaults}
        others = {name: value for name, value in columns.items() if name not in within}
        return dict(self.compute(others, {**options, **within}).results)

    def compute(self, columns: Mapping[str, Any], options: Mapping[str, Any], times: int = 1) -> Computed:
        """Compute, once it is known what that costs, so many times.

        Raises what the metric raises, and RefusedError for the costs.
        """
        unknown = [name for name in options if name not in self.defaults]
        if unknown:
            known = ", ".join(self.defaults)
            raise TypeError(f"{self.page.name} has no argument {unknown[0]!r}; its options are {known}")
        check_costs(option_costs(options))
        if self.page.images:
            check_costs(image_costs(columns))
        options = {**self.defaults, **options}
        metric = self.metric(**options)
        metric.add_batch(**columns)
        state = metric.state()
        if GROUPS in columns:  # the costs are those of all samples, which have to be computed together too
            rest = {name: column for name, column in columns.items() if name != GROUPS}
            together = self.compute(rest, options, times * shares_of_groups(columns[GROUPS]))
            return Computed(state, options, metric.compute(), columns, together=together)
        if state:
            costs = (step_costs(options, state), interval_costs(options, state), self.page.costs(state, options))
            check_costs(cost._replace(amount=times * cost.amount) for part in costs for cost in part)
        return Computed(state, options, metric.compute(), columns)

    def run(
        self,
        tables: Sequence[Any],
        files: Sequence[Any],
        made_of: Sequence[Any],
        read_as: str,
        controls: Sequence[Any],
        leave_out: bool = False,
    ) -> Done:
        """Read and compute. Raises what the metric raises, and RefusedError for files that are not taken.

        leave_out: whether rows that cannot be read are left out.
        """
        page, left_out = self.page, ""
        chosen = {column.name: as_names(names) for column, names in zip(page.columns, made_of)}
        sources = checked_sources(page, tables, files)
        chosen = settled(page, sources, chosen, offered(page, sources))  # as they are looked at
        if leave_out:
            cannot = unread(page, sources, chosen)
            if cannot:
                sources, left_out = [without(sources[0], cannot)], cannot.told
        several = detectors(page, sources, chosen, read_as)
        given = {name: with_groups(page, one) for name, one in several.items()}
        check_costs([Cost("detectors", len(given), MAX_DETECTORS)])
        options = options_of(page.options, controls, self.defaults)
        found = {}
        for name, one in given.items():
            try:
                found[name] = self.compute(one.columns, options, len(given))
            except (ValueError, TypeError) as error:
                raise type(error)(f"{name}: {error}" if len(given) > 1 else str(error)) from None
        return Done(given, found, left_out)

    def picture(self, done: Done, detector: str = "", image: float = 1, photographs: Any = None) -> Any:
        """The first picture: that of an image, if the page has images."""
        with np.errstate(all="ignore"):
            return self.page.draw_image(as_drawn(self._chosen(done, detector, image, photographs)))

    def _chosen(self, done: Done, detector: str, image: float, photographs: Any) -> Computed:
        """The detector that is looked at, with the others beside it, and the image of it."""
        name = detector if detector in done.found else next(iter(done.found))
        given, num_images = done.given[name], self._num_images(done)
        shown = max(0, min(num_images, int(image or 1)) - 1)
        behind = photograph_of([Path(path) for path in as_names(photographs)], shown, given.names)
        rivals = {other: found for other, found in done.found.items() if other != name}
        return done.found[name]._replace(
            image=shown, photograph=behind, title=name if rivals else "", rivals=rivals, names=given.names
        )

    def _num_images(self, done: Done) -> int:
        given = next(iter(done.given.values()))
        return min(MAX_IMAGES, max(map(len, given.columns.values()))) if self.page.images else 1

    def display(self, done: Done, detector: str = "", image: float = 1, photographs: Any = None) -> Shown:
        """Draw and write what was computed, one of the detectors in full."""
        page, computed = self.page, self._chosen(done, detector, image, photographs)
        results = {name: found.results for name, found in done.found.items()}
        call = python_call(page.name, done.given, computed.options, self.defaults)
        names = image_names(computed, self._num_images(done)) if page.images else []
        side_by_side = compared(results)
        whole = as_drawn(computed)
        with np.errstate(all="ignore"):
            figures, sweep = page.draw(whole), page.sweep(whole)
            strip = strip_html(page, whole, names)
            numbers = numbers_html(page, computed.results, result_help(self.texts.inputs), names)
            worst = worst_html(page.name, page.worst(whole))
        numbers = message(done.left_out, "note") + (side_by_side.shown if side_by_side else "") + numbers
        report = report_html(page, self.texts, computed, numbers, call, sweep is not None)
        return Shown(
            numbers,
            threshold_html(page.name, sweep),
            strip,
            worst,
            report,
            f"{sentence(page, self.texts, computed.results)}\n\n{self.texts.citation}",
            [*side_by_side.texts.values()] if side_by_side else [],
            results_json(results if computed.rivals else computed.results),
            call,
            figures,
            self._num_images(done),
        )

    def show(
        self,
        tables: Sequence[Any],
        files: Sequence[Any],
        made_of: Sequence[Any],
        read_as: str,
        controls: Sequence[Any],
        leave_out: bool = False,
        image: float = 1,
        photographs: Any = None,
    ) -> Shown:
        """`run` and `display`."""
        return self.display(self.run(tables, files, made_of, read_as, controls, leave_out), "", image, photographs)


def as_drawn(computed: Computed) -> Computed:
    """What the pictures show: all groups together, of the rivals too."""
    rivals = {name: as_drawn(rival) for name, rival in computed.rivals.items()}
    whole = computed.together
    if whole is None:
        return computed._replace(rivals=rivals)
    return computed._replace(state=whole.state, results=whole.results, columns=whole.columns, rivals=rivals)


def explain(error: Exception) -> str:
    """What is said of an error: the message of the metric or of a reader, and no more than its kind of any other."""
    if isinstance(error, (ValueError, TypeError)):
        # half a surrogate pair cannot be sent
        text = without_paths(str(error)).encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}…"
    if isinstance(error, MemoryError):
        return "This takes more memory than there is."
    return f"This input cannot be computed ({type(error).__name__})."
