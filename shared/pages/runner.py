"""Run a page's metric, for the page and for its API."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..metric.groups import ALL, GROUPS, group_name, rows_of_groups
from ..metric.metric import OF_EVERY_METRIC
from ..metric.states import COUNTS
from ..reading.limits import RefusedError
from ..texts import texts
from .data import read
from .figures.computed import Computed
from .form.class_names import with_class_ids
from .form.controls import options_of
from .form.form import OWN, Form, as_names
from .intervals import drawn_rows, steps_of_resample
from .page import Page
from .results.call import recipe_of
from .results.computation import Computation
from .results.view import View, Viewer
from .serving.costs import (
    MAX_COUNTED,
    MAX_GROUPS,
    Cost,
    check_costs,
    drawn_costs,
    group_costs,
    image_costs,
    interval_costs,
    option_costs,
    step_costs,
)
from .serving.limits import without_paths

MAX_WORDS = 2_000  # characters of a message
# `regions` needs masks with numbered regions, and an uploaded mask holds only 0 and 1
NOT_ON_PAGES = frozenset({"significant_bits", "per_sample", "regions", *OF_EVERY_METRIC} - {"confidence_level"})


class Runner:
    """A page with the texts of the metric's script in its folder. Each computation uses a metric of its own."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.metric, self.folder = page, page.metric, folder
        self.texts = texts(folder / f"{page.name}.py")
        self.viewer = Viewer(page, self.texts, self.defaults)

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The defaults of the page's options, which exclude streaming options and resample counts."""
        return {name: default for name, default in self.metric.options.items() if name not in NOT_ON_PAGES}

    def results(self, columns: Any, options: Any) -> dict[str, Any]:
        """The metric's results, for the API. Raises the errors of `compute`, and TypeError unless both are mappings."""
        for name, value in (("columns", columns), ("options", options)):
            if not isinstance(value, Mapping):
                raise TypeError(f"{name}: expected an object of values by name, got {type(value).__name__}")
        # the metric takes options among its columns
        within = {name: value for name, value in columns.items() if name in self.defaults}
        others = {name: value for name, value in columns.items() if name not in within}
        return dict(self.compute(others, {**options, **within}).results)

    def compute(self, columns: Mapping[str, Any], options: Mapping[str, Any], times: int = 1) -> Computed:
        """Compute, if the cost of `times` such computations is within the limits.

        Raises the metric's errors, and RefusedError for a cost beyond its limit.
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
        if GROUPS in columns:
            groups = len(rows_of_groups(columns[GROUPS]))
            check_costs([Cost("groups", groups, MAX_GROUPS), *group_costs(options, groups)])
        metric.add_batch(**columns)
        if COUNTS in columns:
            check_costs([Cost("samples by their counts", len(metric), MAX_COUNTED)])
        state = metric.state()
        if GROUPS in columns:  # the computation of all samples together checks the costs
            rest, shares = {name: x for name, x in columns.items() if name != GROUPS}, shares_of_groups(columns[GROUPS])
            self._check_draws(state, columns, options, times)
            together = self.compute(rest, options, times * shares)
            return Computed(state, options, metric.summary(), columns, together=together)
        if state:
            costs = (
                step_costs(options, state),
                interval_costs(options, drawn_rows(self.page, state, columns)[1]),
                self.page.costs(state, options),
            )
            check_costs(cost._replace(amount=times * cost.amount) for part in costs for cost in part)
            self._check_draws(state, columns, options, times)
        return Computed(state, options, metric.summary(), columns)

    def _check_draws(self, state: Any, columns: Mapping[str, Any], options: Mapping[str, Any], times: int) -> None:
        """Raise IntervalsError for intervals that take too long, which the results without intervals tell."""
        if options["confidence_level"] is not None:
            plain = self.metric(**{**options, "confidence_level": None})
            plain.merge(state)
            check_costs(drawn_costs(steps_of_resample(self.page, plain.compute(), state, columns), times))

    def run(self, form: Form) -> Computation:
        """Read the inputs and compute. Raises the metric's errors, and RefusedError for files that are not accepted."""
        if form.example == OWN and not form.uploaded:
            raise RefusedError(f"{OWN}: expected a file, got none; choose it again, or an example")
        reading = read(self.page, form.tables, form.files, form.chosen, form.read_as, form.leave_out)
        arguments = reading.arguments()
        options = options_of(self.page.options, form.options, self.defaults)
        held = reading.reading
        # what is derived is a guess, which the form may have changed
        implied = {key: value for key, value in held.options.items() if key not in self.page.derived}
        options = with_class_ids(self.page, {**options, **implied}, held.classes)
        held.check(options)
        self._check_sides(options, any(GROUPS in one.columns for one in arguments.values()))
        detectors = {}
        for name, one in arguments.items():
            try:
                computed = self.compute(one.columns, options, len(arguments))
                detectors[name] = computed._replace(classes=one.classes)
            except (ValueError, TypeError) as error:
                raise type(error)(f"{name}: {error}" if len(arguments) > 1 else str(error)) from None
        recipe = recipe_of(reading, form.files, self.folder / "examples")
        left_out = reading.unread.note if reading.unread and reading.leaves_out else ""
        if reading.held is not None:
            left_out = " ".join(reading.held.notes)
        answers, why = self.page.answerable(detectors)
        return Computation(arguments, answers, recipe, " ".join(filter(None, [left_out, why])))

    def _check_sides(self, options: Mapping[str, Any], has_groups: bool) -> None:
        """Raise ValueError for labels with another meaning beside groups, of which labels tell the known samples."""
        changed = [name for name in ("in_value", "out_value") if options.get(name) != self.defaults.get(name)]
        if has_groups and changed:
            usual = " and ".join(f"{name} {self.defaults[name]}" for name in ("in_value", "out_value"))
            raise ValueError(
                f"groups: expected {usual} beside groups, which hold the known samples by their labels, got "
                f"{changed[0]} {options[changed[0]]}"
            )

    def picture(self, done: Computation, form: Form) -> Any:
        """The figure of the chosen image."""
        return self.viewer.picture(done, form.detector or "", form.image, as_names(form.photographs))

    def view(self, done: Computation, form: Form) -> View:
        """The results to show, with the chosen detector and image."""
        return self.viewer.view(done, form.detector or "", form.image, as_names(form.photographs))

    def show(self, form: Form) -> View:
        """Compute, and return the results to show."""
        return self.view(self.run(form), form)


def shares_of_groups(groups: Any) -> int:
    """The factor by which groups multiply the samples to process: samples without a group count in each group.

    >>> shares_of_groups(["near", "far"]), shares_of_groups([None, "near", "far"])
    (1, 2)
    """
    names = {group_name(group) for group in np.asarray(groups, dtype=object).tolist()}
    return max(1, len(names) - 1) if ALL in names else 1


def explain(error: Exception) -> str:
    """The message of an error of the metric or of a reader; for any other error, only its type."""
    if isinstance(error, (ValueError, TypeError)):
        # half of a surrogate pair cannot be encoded
        text = without_paths(str(error)).encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}…"
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    return f"Something went wrong on our side ({type(error).__name__}). Your data were not changed."
