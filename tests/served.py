"""Start an app as a person would, on a free local port, and stop it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.waiting import PATIENCE, until

if TYPE_CHECKING:
    import gradio_client

COMMAND = Path(sys.executable).with_name("openworld-metrics")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
CHROMIUM_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def connect(address: str, **options: bool) -> gradio_client.Client:
    """A client of an app; its own limit of a request, 5 s, is less than a busy machine may take."""
    import gradio_client  # here, since not all who serve a page have it

    limit = {"timeout": PATIENCE}
    return gradio_client.Client(address, verbose=False, analytics_enabled=False, httpx_kwargs=limit, **options)


@contextmanager
def serve(
    script: Path, folder: Path, *arguments: str, python: str = sys.executable, **environment: str
) -> Iterator[str]:
    """Run a script that serves a page, from `folder`, and give its address; its output goes to app.log there."""
    port = free_port()
    settings = {
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_ANALYTICS_ENABLED": "False",
        "GRADIO_TEMP_DIR": str(folder / "uploads"),
    }
    with (folder / "app.log").open("w") as log:
        process = subprocess.Popen(
            [python, str(script), *arguments],
            cwd=folder,
            env={**os.environ, **settings, **environment},
            stdout=log,
            stderr=log,
        )
    try:
        _wait(f"http://127.0.0.1:{port}", process, folder / "app.log")
        yield f"http://127.0.0.1:{port}"
        if process.poll() is not None:
            raise AssertionError(f"the app ended by itself, {process.returncode}: {_end(folder / 'app.log')}")
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until(lambda: process.poll() is not None or _answers(address))
    if process.poll() is not None or not _answers(address):
        raise AssertionError(f"the app does not answer: {_end(log)}")


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _end(log: Path) -> str:
    return log.read_text()[-2000:]
