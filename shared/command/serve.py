"""The command `openworld-metrics serve`: serve the pages on the user's machine, so that data stay there."""

from __future__ import annotations

import errno
import socket
from threading import Event

import click

from ..extras import extra
from ..loading import METRICS
from .messages import show

HOST = "127.0.0.1"
_HELP = """Serve the page of a metric, or the pages of all metrics, until Ctrl-C.

\b
    openworld-metrics serve openauc --port 8000

Pages read tables and files, compute every metric with its options, and draw the results. The printed address works only
on this machine: nobody else can open it, and nothing is uploaded elsewhere.
"""


@click.command(help=_HELP)
@click.argument("metric", required=False, type=click.Choice(METRICS), metavar="[METRIC]")
@click.option("--port", type=click.IntRange(1, 65535), help="Where to listen.  [default: the first free one from 7860]")
def serve(metric: str | None, port: int | None) -> None:
    """Serve the page of a metric, or the pages of all metrics; see `_HELP`."""
    if port is not None:
        _check_port(port)
    with extra("spaces"):
        from ..faces.page.home import build_home
        from ..faces.page.launch import build, launch
    page = build_home(local=True) if metric is None else build(metric, local=True)
    try:
        _, address, _ = launch(
            page, server_name=HOST, server_port=port, share=False, quiet=True, prevent_thread_lock=True
        )
        show(f"{metric or 'all metrics'}: {address} (Ctrl-C to stop)")
        Event().wait()
    except KeyboardInterrupt:  # the usual way to stop
        pass
    finally:
        page.close(verbose=False)


def _check_port(port: int) -> None:
    """Raise UsageError for a port that is not available, before pages are built, which takes seconds."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            why = "another program listens there" if error.errno == errno.EADDRINUSE else error.strerror
            raise click.UsageError(f"--port {port}: {why}; leave --port out for a free one") from None
