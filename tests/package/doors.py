"""The doors of the package, each tried where libraries may be missing: `python doors.py FOLDER LIBRARY,LIBRARY`.

A door is a command, a function or an extra's module, as a user reaches it. The folder has the files that they read (see
test_missing_packages.py); the libraries, by their import names, are hidden. Prints JSON: "" for a door that works, else
the type of its error and its message. It needs nothing but the package.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

COMMANDS = {
    "list": "list",
    "describe": "describe openauc",
    "npz": "compute ood_bench s.npz",
    "npy": "compute ood_bench --predictions p.npy --references r.npy",
    "json": "compute ood_bench s.json",
    "jsonl": "compute ood_bench s.jsonl",
    "csv": "compute ood_bench s.csv",
    "tsv": "compute ood_bench s.tsv",
    "parquet": "compute ood_bench s.parquet",
    "pt": "compute ood_bench s.pt",
    "text": "compute ood_bench s.npz --format text",
    "percent": "compute ood_bench s.npz --percent",
    "interval": "compute ood_bench s.npz --confidence-level 0.9 --n-resamples 20 --save saved.json",
    "sklearn": "compute ood_bench s.npz --metrics brier_score_loss",
    "plot": "compute ood_bench s.npz --plot plot.png",
    "report": "compute ood_bench s.npz --report report",
    "report of images": "compute ood_bench s.npz --report report --images images.txt",
    "compare": "compare ood_bench --first-predictions p.npy --second-predictions q.npy --references r.npy",
    "compare as text": "compare ood_bench --first-predictions p.npy --second-predictions q.npy --references r.npy "
    "--format text",
    "threshold": "threshold --known p.npy --fpr 0.05",
    "table": "table results.json --format latex",
    "table as text": "table results.json",
    "ood": "ood --known p.npy --unknown far=q.npy",
    "ood as text": "ood --known p.npy --unknown far=q.npy --format text",
    "boxes of COCO": "detect --predictions coco.json --references references.json --known-classes 1",
    "boxes of YOLO": "detect --predictions predicted --references data.yaml --known-classes 0",
    "report of boxes": "detect --predictions predicted --references data.yaml --known-classes 0 --report boxes",
    "maps of .npy": "anomaly --maps maps --data masks_npy --layout folders --levels pixel",
    "maps and masks of .png": "anomaly --maps maps --data masks --layout folders --levels pixel",
    "maps of .tiff": "anomaly --maps tiff --data masks --layout folders --levels pixel",
    "report of maps": "anomaly --maps maps --data masks --layout folders --levels pixel --report maps_report",
    "serve": "serve ood_bench",
}
SLOW = {"serve"}  # gradio takes seconds to import


def command(arguments: str) -> None:
    """Run a command in this process; `serve` stops as by Ctrl-C."""
    from openworld_metrics.command.commands import cli

    if arguments.startswith("serve"):
        from openworld_metrics.command import serve

        vars(serve)["Event"] = _Stopped
    cli.main(arguments.split(), standalone_mode=False)


class _Stopped:
    def wait(self) -> None:
        """Stop at once."""
        raise KeyboardInterrupt


def load() -> None:
    """A metric of evaluate."""
    import openworld_metrics

    openworld_metrics.load("openauc")


def all_metrics() -> None:
    """The eight classes, with an interval and a comparison of one."""
    import openworld_metrics as om
    from openworld_metrics.loading import metric_class

    for name in om.METRICS:
        metric_class(name)()
    scores, labels = [0.1, 0.6, 0.4, 0.9], [0, 0, 1, 1]
    one = om.OODBench(metrics="auroc", confidence_level=0.9, n_resamples=20)
    one.add_batch(predictions=scores, references=labels)
    one.compute()
    om.compare("ood_bench", {"predictions": scores}, {"predictions": scores[::-1]}, references=labels, n_resamples=20)
    om.AnomalySuite(levels="pixel").compute(predictions=[[[0.1, 0.9], [0.2, 0.3]]], references=[[[0, 1], [0, 0]]])


def reduce_batches() -> None:
    """A batch of an engine."""
    from openworld_metrics.cluster import reduce_batches

    reduce_batches("ood_bench", [{"predictions": [0.1, 0.9], "references": [0, 1]}])


def compute_parquet() -> None:
    """A Parquet file by Dask."""
    from openworld_metrics.cluster import compute_parquet

    compute_parquet("ood_bench", "s.parquet")


def read_csv() -> None:
    """A .csv in Python."""
    import openworld_metrics

    openworld_metrics.read("ood_bench", "s.csv")


def draw_differences() -> None:
    """A plot in Python."""
    from openworld_metrics.faces.plot import draw_differences

    row = {"first": [0.75], "second": [0.5], "difference": [0.25], "low": [0.1], "high": [0.4], "p_value": [0.01]}
    draw_differences({"key": ["auroc"], **row, "better": ["first"]}, "differences.png")


def ultralytics_model() -> None:
    """A detector by its path."""
    from openworld_metrics.integrations.ultralytics import load_model

    load_model("yolo11n.yaml")


def ray_aggregate() -> None:
    """An aggregate of Ray."""
    from openworld_metrics.cluster import ray_aggregate

    ray_aggregate("ood_bench")


def beam_combine() -> None:
    """A CombineFn of Beam."""
    from openworld_metrics.cluster import beam_combine

    beam_combine("ood_bench")


def pipeline() -> None:
    """The pipeline of an evaluator; the model is none, which transformers says."""
    from openworld_metrics.integrations.evaluators import evaluator

    with contextlib.suppress(OSError, ValueError):
        evaluator("image-classification").prepare_pipeline("/nowhere")


def module(name: str) -> Callable[[], object]:
    """The import of a module of the package."""
    return lambda: importlib.import_module(f"openworld_metrics.{name}")


FUNCTIONS: Mapping[str, Callable[[], object]] = {
    **{
        function.__name__: function
        for function in (
            all_metrics,
            load,
            reduce_batches,
            compute_parquet,
            read_csv,
            draw_differences,
            ray_aggregate,
            beam_combine,
            ultralytics_model,
            pipeline,
        )
    },
    **{
        name: module(name)
        for name in (
            *("public", "scores", "suites", "written", "answers.saved", "dropin.oodeel", "dropin.xcurve"),
            *("dropin.pyadmetric", "dropin.ow_dln", "integrations", "integrations.combining"),
            *("integrations.evaluators", "integrations.torchmetrics", "integrations.anomalib"),
        )
    },
}
DOORS: Mapping[str, Callable[[], object]] = {
    **{name: lambda arguments=arguments: command(arguments) for name, arguments in COMMANDS.items()},  # type: ignore[misc]
    **FUNCTIONS,
}


class Hidden:
    """The finders of modules, which do not find some libraries."""

    def __init__(self, libraries: Iterable[str], finders: list[Any]) -> None:
        self.libraries, self.finders = frozenset(libraries), finders

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The place of a module; None if it is hidden or not installed."""
        if fullname.partition(".")[0] in self.libraries:
            return None
        return next(filter(None, (finder.find_spec(fullname, path, target) for finder in self.finders)), None)

    def find_distributions(self, *context: Any) -> Any:
        """Installed packages, for importlib.metadata."""
        for finder in self.finders:
            yield from getattr(finder, "find_distributions", lambda *_: ())(*context)

    def invalidate_caches(self) -> None:
        """Forget listings of folders, as `importlib.invalidate_caches` says."""
        for finder in self.finders:
            getattr(finder, "invalidate_caches", lambda: None)()


def outcome(door: Callable[[], object]) -> str:
    """An empty text, or the error."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            door()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def main(folder: str, hidden: str = "", names: str = "") -> None:
    """Try all doors, or those named, and print their outcomes."""
    sys.meta_path[:] = [Hidden(hidden.split(","), [*sys.meta_path])]
    os.chdir(folder)
    wanted = names.split(",") if names else [name for name in DOORS if name not in SLOW]
    print(json.dumps({name: outcome(DOORS[name]) for name in wanted}))


if __name__ == "__main__":
    main(*sys.argv[1:])
