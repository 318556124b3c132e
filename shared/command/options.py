"""Options of a metric on the command line: a flag for each, with help from its script, and KEY=VALUE."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from ..arrays.checks import did_you_mean
from ..loading import METRICS, metric_class, script
from ..metric.metric import Metric
from ..reading.boxes.classes import NAMED
from ..reading.cures import CurableError, CurableTypeError, spelled
from ..reading.rows.from_names import FROM_NAMES
from ..texts import texts
from .fitted import with_numbers
from .flags import in_flags
from .messages import waiting

INTERVALS = ("confidence_level", "n_resamples", "random_state")  # options of every metric
_ENTRY = re.compile(r"^    (\w+(?:, \w+)*): (.*(?:\n        .*)*)", re.MULTILINE)  # of a docstring's Args


to_match_by_position = click.option(
    "--by-position", is_flag=True, help="Match the rows of several files as they stand, not by their names."
)


_FROM_NAMES = {
    "label_from_name": "Labels are a word of each row's name, as 'normal|anomaly', or what a group of a regular "
    "expression matches there; of several files, also of their own names.",
    "groups_from_name": "Groups are what parentheses match in names, as in 'id_(\\d+)'; of several, with a slash "
    "between. Those that match nothing stand for every value.",
    "clusters_from_name": "Clusters are what parentheses match in names, as in 'speaker_(\\d+)'; a named group says "
    "what one is, as in '(?P<speaker>s\\d+)'.",
}


def from_names(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the flags of columns that regular expressions make of names, by default all."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names or [*FROM_NAMES]):
            command = click.option(f"--{name.replace('_', '-')}", metavar="REGEX", help=_FROM_NAMES[name])(command)
        return command

    return add


def of_images(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags --clusters and --clusters-from-name to a command that reads images by their names."""
    depending = "What images depend on, such as scenes, by their names: intervals draw each with all of its images."
    return click.option("--clusters", metavar="FILE[:COLUMN]", help=depending)(
        from_names("clusters_from_name")(command)
    )


def of_metric(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags --option, --flip, --by-position and the flags of names to a command that takes any metric."""
    option = click.option(
        "--option",
        "options",
        multiple=True,
        metavar="KEY=VALUE",
        help="An option of the metric, such as k_list=1,5; the same as --k-list 1,5.",
    )
    flip = click.option("--flip", is_flag=True, help="Scores are higher for known samples: negate them.")
    return option(flip(to_match_by_position(from_names()(command))))


class MetricName(click.Choice):  # type: ignore[type-arg]  # generic since click 8.2
    """The name of a metric; for another word, the error has the nearest name."""

    def __init__(self) -> None:
        super().__init__(METRICS)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """The name in an argument."""
        if value in METRICS:
            return value
        near = did_you_mean(str(value).lower().replace("-", "_"), METRICS)
        return self.fail(f"expected one of {', '.join(METRICS)}, got {value!r}{near}", param, ctx)


class WaitingCommand(click.Command):
    """A command that shows a progress line on a terminal if it takes long."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors have its flags as their cures."""
        with waiting(f"{ctx.info_name}: working"):
            try:
                return super().invoke(ctx)
            except (CurableError, CurableTypeError) as error:
                raise (TypeError if isinstance(error, TypeError) else ValueError)(spelled(error, in_flags)) from error


class MetricCommand(WaitingCommand):
    """A command with a flag for each option of a metric: `metric`, or the metric named by an argument.

    metric: the metric; None if it is the argument NAME
    only, but: the options that get a flag, by default all; options without a flag, since the command has its own
    lists: flags of the command that take all words up to the next flag, as in --known-classes 0 1 2; flags of `metric`
        do so too
    """

    def __init__(
        self,
        *args: Any,
        metric: type[Metric] | None = None,
        only: Collection[str] | None = None,
        but: Collection[str] = (),
        lists: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.metric, self.only, self.but, self.lists = metric, only, but, lists

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Find the metric first, since the flags depend on it."""
        names = [arg for arg in args if arg in METRICS] if self.metric is None else []
        metric = metric_class(names[0]) if names else self.metric
        flags = ctx.meta[__name__] = [] if metric is None else self._flags(metric)
        lists = [] if self.metric is None else [*self.lists, *(flag.opts[0] for flag in flags if flag.multiple)]
        return super().parse_args(ctx, _repeated(args, lists))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters of the command, with the metric's flags before --help; these replace flags of equal name."""
        *params, help_option = super().get_params(ctx)
        flags = ctx.meta.get(__name__, [])
        names = {flag.name for flag in flags}
        return [*(param for param in params if param.name not in names), *flags, help_option]

    def _flags(self, metric: type[Metric]) -> list[MetricFlag]:
        names = metric.options if self.only is None else self.only
        return [MetricFlag(metric, name) for name in names if name not in self.but]


class MetricFlag(click.Option):
    """A flag for an option of a metric: --name and --no-name, or --name with comma-separated words."""

    between = ","

    def __init__(self, metric: type[Metric], name: str) -> None:
        self.metric = metric
        flag, default = name.replace("_", "-"), metric.options[name]
        if isinstance(default, bool):
            super().__init__([f"--{flag}/--no-{flag}", name], default=None)
        else:
            several = isinstance(default, (list, tuple))
            super().__init__([f"--{flag}", name], multiple=True, metavar="VALUE,…" if several else "VALUE")

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The flag and its help, which is read only on demand."""
        self.help = option_help(self.metric, str(self.name))
        return super().get_help_record(ctx)


def option_help(metric: type[Metric], name: str) -> str:
    """The help of an option, from its metric's script; options that share an entry refer to the first of them."""
    for names, text in _ENTRY.findall(texts(script(metric.name)).inputs):
        first, *others = names.split(", ")
        if name == first:
            return " ".join(text.split())
        if name in others:
            return f"See --{first.replace('_', '-')}."
    return ""


def _repeated(args: Sequence[str], lists: Collection[str]) -> list[str]:
    """The arguments with each list flag repeated before each of its words, as click expects."""
    repeated: list[str] = []
    flag, words = "", 0
    for argument in args:
        if argument.startswith("-") and not re.match(r"-(\d|\.\d|inf)", argument):
            flag, words = (argument if argument in lists else ""), 0
        elif flag:
            words += 1
            repeated += [flag] * (words > 1)
        repeated.append(argument)
    return repeated


def read_option(text: str) -> tuple[str, Any]:
    """A key and its value: a Python literal or ±inf if possible, else a word or a list of comma-separated words.

    >>> [read_option(text) for text in ("k_list=1,5", "ties=expected", "metrics=auroc,aupr_in", "percent=true")]
    [('k_list', (1, 5)), ('ties', 'expected'), ('metrics', ['auroc', 'aupr_in']), ('percent', True)]
    >>> read_option("t_list=-inf,0.5")
    ('t_list', [-inf, 0.5])
    """
    key, equals, value = text.partition("=")
    if not equals:
        raise click.BadParameter(f"expected KEY=VALUE, got {text!r}", param_hint="--option")
    parsed = _literal(value)
    return key, [_literal(part.strip()) for part in value.split(",")] if parsed == value and "," in value else parsed


def read_options(
    metric: type[Metric],
    pairs: Sequence[str],
    flags: Mapping[str, Any] = MappingProxyType({}),
    *,
    numbers: bool = True,
) -> dict[str, Any]:
    """The options of a metric, at most once each; evaluate's own arguments, such as num_process, are not options.

    Parameters: metric; pairs, KEY=VALUE; flags, values that include those of a `MetricCommand`'s flags; numbers,
    whether the file of a threshold (see `openworld-metrics threshold`) is replaced by its number.
    """
    options: dict[str, Any] = {}
    for key, value in map(read_option, [*pairs, *_pairs(metric, flags)]):
        if key not in metric.options:
            raise click.BadParameter(
                f"{metric.name} takes {', '.join(metric.options)}, got {key!r}", param_hint="--option"
            )
        if key in options:
            raise click.BadParameter(f"expected {key} once, got it twice", param_hint="--option")
        options[key] = value
    return with_numbers(options) if numbers else options


def without_classes(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a metric but its lists of classes, whose names have ids once files are read."""
    return {name: value for name, value in options.items() if name not in NAMED}


def _pairs(metric: type[Metric], flags: Mapping[str, Any]) -> list[str]:
    """The flags with values, as KEY=VALUE; values are comma-separated words, true or false."""
    values = {name: flags[name] for name in metric.options if flags.get(name) not in (None, ())}
    words = {name: str(value).lower() if isinstance(value, bool) else ",".join(value) for name, value in values.items()}
    return [f"{name}={text}" for name, text in words.items()]


def _literal(text: str) -> Any:
    if text in ("inf", "+inf", "-inf"):
        return float(text)
    try:
        return ast.literal_eval(text.capitalize() if text in ("true", "false", "none") else text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):  # the last two for deeply nested text
        return text
