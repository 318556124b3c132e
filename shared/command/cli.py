"""The command `openworld-metrics`: list and describe metrics, compute them from files, evaluate detectors.

    openworld-metrics compute openauc --predictions logits.npy --references labels.csv --open-scores scores.npy

Results are a table on a terminal and JSON in a pipe. Any error in a file or an option is one line on standard error,
and exit code 2. Built on click, which has no dependencies.
"""

from __future__ import annotations

import sys
import warnings

from .interrupts import quiet_ctrl_c


def main() -> None:
    """Run the command openworld-metrics, and exit; see the module's docstring."""
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("ignore")  # of libraries, since an error is to be one line
            status = _run()
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)


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
