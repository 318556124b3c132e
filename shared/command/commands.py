"""The group of commands; each is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

import click

from ..arrays.checks import did_you_mean
from ..loading import METRICS
from .interrupts import quiet_ctrl_c
from .messages import show

# the module of each command, and its name there
COMMANDS = MappingProxyType(
    {
        "anomaly": ("anomaly", "anomaly"),
        "compare": ("compare", "compare"),
        "compute": ("compute", "compute"),
        "describe": ("describe", "describe"),
        "detect": ("detect", "detect"),
        "list": ("describe", "list_metrics"),
        "ood": ("ood", "ood"),
        "serve": ("serve", "serve"),
        "table": ("table", "table"),
        "threshold": ("threshold", "threshold"),
    }
)


class LazyGroup(click.Group):
    """A group that imports a command when it is called. Source: click's documentation, "Lazily Loading Subcommands"."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return sorted(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that arguments begin with. Raises UsageError for another word, with the nearest command."""
        name = args[0]
        if not name.startswith("-") and name not in COMMANDS:
            near = did_you_mean(name, COMMANDS) or self._metric(name)
            raise click.UsageError(f"expected a command, one of {', '.join(COMMANDS)}, got {name!r}{near}")
        return super().resolve_command(ctx, args)

    @staticmethod
    def _metric(name: str) -> str:
        """The command for the name of a metric in place of one; "" for other names."""
        near = did_you_mean(name.lower().replace("-", "_"), METRICS)
        return near.replace("mean '", "mean 'compute ")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command with a name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name]
        with quiet_ctrl_c():
            command: click.Command = getattr(import_module(f".{module}", __package__), name)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(package_name="openworld-metrics")
@click.pass_context
def cli(context: click.Context) -> None:
    """Metrics for open-world recognition."""
    if context.invoked_subcommand is None:
        show(context.get_help())
