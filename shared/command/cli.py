"""The command `openworld-metrics`: list and describe metrics, compute them from files, evaluate detectors.

    openworld-metrics compute openauc --predictions logits.npy --references labels.csv --open-scores scores.npy

Results are a table on a terminal and JSON in a pipe. Any error in a file or an option is one line on standard error,
and exit code 2. Built on click, which has no dependencies.
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
                warnings.simplefilter("ignore")  # of libraries, since an error is to be one line
            status = _run()
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


class _NoTerminal(io.TextIOWrapper):
    """A stream that claims not to be a terminal, so that no progress bar is drawn."""

    def isatty(self) -> bool:
        """False."""
        return False


def _run() -> int:
    """Run the command, and return its exit code."""
    with quiet_ctrl_c():
        import click

        from .commands import cli
        from .messages import complain, explain

    try:
        return cli.main(standalone_mode=False) or 0
    except click.Abort:  # Ctrl-C
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader left, as in `… | head`
        return 1
    except Exception as error:
        complain(explain(error))
        return 2


def _open_standard_streams() -> None:
    """Open os.devnull for closed streams, since otherwise a file opened later would take their place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # no errors and no progress bar are shown
        sys.stderr = os.fdopen(2, "w", closefd=False)
