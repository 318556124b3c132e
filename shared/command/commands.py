"""The group of commands; each is imported when it is called."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

import click

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
