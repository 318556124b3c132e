"""`openworld-metrics serve`: the pages on this machine alone."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from openworld_metrics.command.commands import cli
from tests.served import free_port

RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # as in the foreground, wherever the suite runs
from openworld_metrics.command.cli import main
sys.argv[0] = "openworld-metrics"
main()
"""
COMMAND = [str(Path(sys.executable).with_name("openworld-metrics")), "serve"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)


def test_a_page_until_ctrl_c(tmp_path: Path) -> None:
    """On 127.0.0.1 and nowhere else, whatever gradio is told by the environment."""
    port = free_port()
    told = {"GRADIO_SERVER_NAME": "0.0.0.0", "GRADIO_SHARE": "True", "GRADIO_TEMP_DIR": str(tmp_path)}
    command = [sys.executable, "-c", RUN, "serve", "openauc", "--port", str(port)]
    with subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, **told}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"openauc: http://127.0.0.1:{port}/ (Ctrl-C to stop)\n"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=60) as answer:
            text = answer.read().decode()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port))
        process.send_signal(signal.SIGINT)  # before any assertion, since it runs until then
        rest, errors = process.communicate(timeout=60)
    assert '"elem_id":"compute"' in text
    assert (process.returncode, rest, errors) == (0, "", "")


def test_a_port_in_use() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run("openauc", "--port", str(port))
    message = f"openworld-metrics: --port {port}: another program listens there; leave --port out for a free one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["openacu"], "'openacu' is not one of 'accuracyk', "),
        (["--port", "0"], "0 is not in the range 1<=x<=65535"),
        (["--port", "65536"], "65536 is not in the range 1<=x<=65535"),
        (["openauc", "autkc"], "unexpected extra argument (autkc)"),
    ],
)
def test_wrong_arguments(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_gradio(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("openworld_metrics.faces.page")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gradio", None)
    result = CliRunner().invoke(cli, ["serve"])
    assert str(result.exception) == (
        'expected gradio to be installed, got none: pip install "openworld-metrics[spaces]"'
    )
