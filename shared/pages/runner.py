"""From a page's inputs to what it shows: the one place where a metric is run, for a person and for the API alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..core.metric import INTERVAL_OPTIONS
from ..texts import texts
from .controls import options_of
from .costs import check_costs, image_costs, option_costs, step_costs
from .detectors import detectors
from .form import as_names
from .images import photograph_of
from .inputs import Given
from .limits import MAX_IMAGES, without_paths
from .page import Computed, Page
from .results import python_call, results_json, results_table
from .sources import checked_sources

MAX_WORDS = 2_000  # letters of a message


NOT_ON_PAGES = frozenset({"significant_bits", *INTERVAL_OPTIONS})


class Shown(NamedTuple):
    """What a computation gives to show: HTML, JSON, Python, figures, and the number of images to choose from."""

    table: str
    json: str
    call: str
    figures: Sequence[Any]
    num_images: int


class Runner:
    """A page, and what the metric's script in its folder says. Each computation has a metric of its own."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page, self.metric, self.folder = page, page.metric, folder
        self.texts = texts(folder / f"{page.name}.py")

    @property
    def defaults(self) -> Mapping[str, Any]:
        """The options that a page has, and their defaults: none that serves a stream, or takes a thousand resamples."""
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

    def compute(self, columns: Mapping[str, Any], options: Mapping[str, Any]) -> Computed:
        """Compute, once it is known what that costs. Raises what the metric raises, and RefusedError for the costs."""
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
        if state:
            check_costs(step_costs(options, state))
            check_costs(self.page.costs(state, options))
        return Computed(state, options, metric.compute(), columns)

    def show(
        self,
        tables: Sequence[Any],
        files: Sequence[Any],
        made_of: Sequence[Any],
        read_as: str,
        controls: Sequence[Any],
        image: float = 1,
        photographs: Any = None,
    ) -> Shown:
        """Compute, and draw. Raises what the metric raises, and RefusedError for files that are not taken."""
        page = self.page
        chosen = {column.name: as_names(names) for column, names in zip(page.columns, made_of)}
        several = detectors(page, checked_sources(page, tables, files), chosen, read_as)
        given = next(iter(several.values()))
        computed = self.compute(given.columns, options_of(page.options, controls, self.defaults))
        num_images = min(MAX_IMAGES, _num_images(given)) if page.images else 1
        shown = max(0, min(num_images, int(image or 1)) - 1)
        behind = photograph_of([Path(path) for path in as_names(photographs)], shown, given.names)
        computed = computed._replace(image=shown, photograph=behind)
        call = python_call(page.name, given, computed.options, self.defaults)
        with np.errstate(all="ignore"):
            figures = page.draw(computed)
        return Shown(results_table(computed.results), results_json(computed.results), call, figures, num_images)


def _num_images(given: Given) -> int:
    return max(len(column) for column in given.columns.values())


def explain(error: Exception) -> str:
    """What is said of an error: the message of the metric or of a reader, and no more than its kind of any other."""
    if isinstance(error, (ValueError, TypeError)):
        # half a surrogate pair cannot be sent
        text = without_paths(str(error)).encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]}…"
    if isinstance(error, MemoryError):
        return "This takes more memory than there is."
    return f"This input cannot be computed ({type(error).__name__})."
