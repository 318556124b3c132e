"""From a page's inputs to what it shows: the one place where a metric is run, for a person and for the API alike."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..metric.groups import GROUPS
from ..metric.metric import OF_EVERY_METRIC
from ..texts import texts
from .assembly.data_sets import shares_of_groups
from .assembly.gather import Arguments
from .assembly.reading import read
from .form.controls import options_of
from .form.form import Form, as_names
from .page import Computed, Page
from .reading.photographs import photograph_of
from .results.call import Recipe, python_call, recipe_of
from .results.comparison import compared
from .results.message import message
from .results.numbers import numbers_html, result_help
from .results.report import report_html, sentence
from .results.slider import threshold_html
from .results.strip import image_names, strip_html
from .results.worst import worst_html
from .serving.costs import check_costs, image_costs, interval_costs, option_costs, step_costs
from .serving.limits import MAX_IMAGES, without_paths

MAX_WORDS = 2_000  # letters of a message


NOT_ON_PAGES = frozenset({"significant_bits", "per_sample", *OF_EVERY_METRIC} - {"confidence_level"})


class Shown(NamedTuple):
    """The results of a page to show: HTML, text and figures.

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


class Computation(NamedTuple):
    """The results of each detector by its name, what they were computed from, and what was left out, in words."""

    arguments: Mapping[str, Arguments]
    detectors: Mapping[str, Computed]
    recipe: Recipe
    left_out: str = ""


class Runner:
    """A page, and what the metric's script in its folder says. Each computation has a metric of its own."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.metric, self.folder = page, page.metric, folder
        self.texts = texts(folder / f"{page.name}.py")

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The defaults of the page's options, without those that serve a stream or count resamples."""
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

    def run(self, form: Form) -> Computation:
        """Read and compute. Raises what the metric raises, and RefusedError for files that are not taken."""
        reading = read(self.page, form.tables, form.files, form.chosen, form.read_as, form.leave_out)
        arguments = reading.detectors()
        options = options_of(self.page.options, form.options, self.defaults)
        detectors = {}
        for name, one in arguments.items():
            try:
                detectors[name] = self.compute(one.columns, options, len(arguments))
            except (ValueError, TypeError) as error:
                raise type(error)(f"{name}: {error}" if len(arguments) > 1 else str(error)) from None
        recipe = recipe_of(reading, form.files, self.folder / "examples")
        left_out = reading.unread.note if reading.unread and reading.leaves_out else ""
        return Computation(arguments, detectors, recipe, left_out)

    def picture(self, done: Computation, detector: str = "", image: float = 1, photographs: Any = None) -> Any:
        """The first picture: that of an image, if the page has images."""
        with np.errstate(all="ignore"):
            return self.page.draw_image(as_drawn(self._chosen(done, detector, image, photographs)))

    def _chosen(self, done: Computation, detector: str, image: float, photographs: Any) -> Computed:
        """The detector that is looked at, with the others beside it, and the image of it."""
        name = detector if detector in done.detectors else next(iter(done.detectors))
        names, num_images = done.arguments[name].names, self._num_images(done)
        shown = max(0, min(num_images, int(image or 1)) - 1)
        behind = photograph_of([Path(path) for path in as_names(photographs)], shown, names)
        rivals = {other: computed for other, computed in done.detectors.items() if other != name}
        return done.detectors[name]._replace(
            image=shown, photograph=behind, title=name if rivals else "", rivals=rivals, names=names
        )

    def _num_images(self, done: Computation) -> int:
        columns = next(iter(done.arguments.values())).columns
        return min(MAX_IMAGES, max(map(len, columns.values()))) if self.page.images else 1

    def display(self, done: Computation, detector: str = "", image: float = 1, photographs: Any = None) -> Shown:
        """Draw and write what was computed, one of the detectors in full."""
        page, computed = self.page, self._chosen(done, detector, image, photographs)
        results = {name: one.results for name, one in done.detectors.items()}
        call = python_call(page, done.recipe, done.arguments, computed.options, self.defaults)
        names = image_names(computed, self._num_images(done)) if page.images else []
        side_by_side = compared(results)
        whole = as_drawn(computed)
        with np.errstate(all="ignore"):
            figures, sweep = page.draw(whole), page.sweep(whole)
            strip = strip_html(page, whole, names)
            numbers = numbers_html(page, computed.results, result_help(self.texts.inputs), names)
            worst = worst_html(page.name, page.worst(whole))
        numbers = message(done.left_out, "note") + (side_by_side.shown if side_by_side else "") + numbers
        return Shown(
            numbers=numbers,
            threshold=threshold_html(page.name, sweep),
            strip=strip,
            worst=worst,
            report=report_html(page, self.texts, computed, numbers, call, sweep is not None),
            cite=f"{sentence(page, self.texts, computed.results)}\n\n{self.texts.citation}",
            tables=[*side_by_side.texts.values()] if side_by_side else [],
            json=results_json(results if computed.rivals else computed.results),
            call=call,
            figures=figures,
            num_images=self._num_images(done),
        )

    def show(self, form: Form) -> Shown:
        """`run` and `display`."""
        return self.display(self.run(form), "", form.image, form.photographs)


def results_json(results: Mapping[str, Any]) -> str:
    """The numbers in full. Infinity, which a threshold can be, is written as Python's json writes it."""
    return json.dumps(results, indent=2)


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
