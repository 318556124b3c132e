"""The command `openworld-metrics`: list the metrics, describe one, compute one from files; evaluate a detector.

    openworld-metrics compute openauc --predictions logits.npy --references labels.csv --open-scores scores.npy

Results are a table on a terminal and JSON in a pipe. Whatever is wrong with a file or an option is one line on
standard error, and exit code 2. Built on click, which needs nothing else.
"""

from __future__ import annotations

import io
import os
import sys
import warnings

from .interrupts import quiet_ctrl_c


def main() -> None:
    """Run the command openworld-metrics, and exit; see the module's docstring."""
    try:
        _open_standard_streams()
        if os.environ.get("TERM") == "dumb":
            sys.stderr = _NoTerminal(sys.stderr.buffer, sys.stderr.encoding, sys.stderr.errors, line_buffering=True)
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("ignore")  # of libraries: what is wrong is one line
            status = _run()
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


class _NoTerminal(io.TextIOWrapper):
    """A stream to a terminal that cannot rewrite a line, so that no bar of progress is drawn."""

    def isatty(self) -> bool:
        """No."""
        return False


def _run() -> int:
    """The exit code of the command."""
    with quiet_ctrl_c():
        import click

        from .commands import cli
        from .messages import explain, warn

    try:
        return cli.main(standalone_mode=False) or 0
    except click.Abort:  # Ctrl-C
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader left, as in `… | head`
        return 1
    except Exception as error:
        warn(explain(error))
        return 2


def _open_standard_streams() -> None:
    """Open os.devnull for closed streams: else a file that is opened later would take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # nobody is to see what goes wrong, nor a progress bar
        sys.stderr = os.fdopen(2, "w", closefd=False)
