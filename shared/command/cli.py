"""The command `openworld-metrics`: list the metrics, describe one, compute one from files; evaluate a detector.

    openworld-metrics compute openauc --predictions logits.npy --references labels.csv --open-scores scores.npy

Results are a table on a terminal and JSON in a pipe. Whatever is wrong with a file or an option is one line on
standard error, and exit code 2. Built on click, which needs nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ..formats.results import as_json, as_table
from ..loading import METRICS, metric_class, script
from ..texts import texts
from .detect import detect
from .options import read_options


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="openworld-metrics")
@click.pass_context
def cli(context: click.Context) -> None:
    """Metrics for models that meet the open world."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@cli.command("list")
def list_metrics() -> None:
    """List the metrics, each with what it measures."""
    width = max(map(len, METRICS))
    for name in METRICS:
        click.echo(f"{name:{width}}  {texts(script(name)).summary}")


@cli.command()
@click.argument("name", type=click.Choice(METRICS), metavar="NAME")
def describe(name: str) -> None:
    """Describe a metric: its columns, options, results, and whom to cite."""
    said = texts(script(name))
    click.echo("\n\n".join((said.summary, said.description, said.inputs, said.citation, *said.urls)))


@cli.command()
@click.argument("name", type=click.Choice(METRICS), metavar="NAME")
@click.option("--predictions", metavar="FILE", help="Scores or class ids, maps or boxes: see describe.")
@click.option("--references", metavar="FILE", help="True classes, labels, masks or boxes.")
@click.option("--open-scores", metavar="FILE", help="Open-set scores, higher is more unknown.")
@click.option("--open-labels", metavar="FILE", help="1 for unknown samples, 0 for known ones.")
@click.option("--image-scores", metavar="FILE", help="Anomaly scores of the images.")
@click.option("--image-labels", metavar="FILE", help="1 for anomalous images, 0 for normal ones.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option, such as k_list=1,5 or known_classes=0,1.",
)
@click.option(
    "--save", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Write results to a .json."
)
@click.option("--plot", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Draw results.")
def compute(name: str, options: tuple[str, ...], save: Path | None, plot: Path | None, **places: str | None) -> None:
    """Compute a metric from files: .npy, .npz, .csv, .parquet, .json or .pt.

    FILE may name its columns, as in scores.parquet:logits or table.csv:cat,dog; without, the column is the only one, or
    the one named as the option is (open_scores). FILE may be - for JSON or comma-separated values on standard input.
    Parquet files are read in batches. In JSON results an infinite threshold is "Infinity" or "-Infinity".
    """
    if save is not None and save.suffix != ".json":
        raise ValueError(f"--save: expected a file ending in .json, got {save}")
    chosen = metric_class(name)
    metric = chosen(**read_options(chosen, options))
    _add(metric, {column: place for column, place in places.items() if place is not None})
    if plot is None:
        results = metric.compute()
    else:
        from ..reports.plots import draw

        state = metric.state()
        results = metric.compute()
        draw(name, results, state, plot)
    if save is not None:
        save.write_text(as_json(results, indent=2) + "\n", encoding="utf-8")
    click.echo(as_table(results) if sys.stdout.isatty() else as_json(results))


cli.add_command(detect)


def main() -> None:
    """Run the command; see the module's docstring."""
    try:
        sys.exit(cli.main(standalone_mode=False))
    except click.ClickException as error:
        _fail(error.format_message())
    except click.Abort:
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()  # the reader left, as in `… | head`
        sys.exit(1)
    except (ValueError, TypeError, OSError, ImportError) as error:
        _fail(str(error))
    except Exception as error:  # a defect of ours, or out of memory: still no traceback
        _fail(f"{type(error).__name__}: {error}")


def _fail(message: str) -> None:
    click.echo(f"openworld-metrics: {' '.join(message.split())}", err=True)
    sys.exit(2)


def _add(metric: Any, places: Mapping[str, str]) -> None:
    """Add the columns to a metric, in batches with a progress bar where there is a Parquet file."""
    from ..formats.columns import ParquetColumn, batches, open_column

    columns = {column: open_column(place, column) for column, place in places.items()}
    streamed = [column for column in columns.values() if isinstance(column, ParquetColumn)]
    if not streamed:
        metric.add_batch(**columns)
        return
    from tqdm import tqdm

    # disable=None: no bar where standard error is not a terminal
    with tqdm(total=len(streamed[0]), unit=" rows", unit_scale=True, disable=None) as progress:
        for batch in batches(columns):
            metric.add_batch(**batch)
            progress.update(len(next(iter(batch.values()))))
