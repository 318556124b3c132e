"""The installed command on a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path


def on_terminal(arguments: list[str], folder: Path, *, expected: int = 0, **environment: str) -> str:
    """What the installed command prints when both its output and its errors go to a terminal.

    Its bars of progress print each step, rather than ten a second. `expected` is its exit code.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [str(Path(sys.executable).with_name("openworld-metrics")), *arguments]
    every_step = {"TQDM_MININTERVAL": "0", "TQDM_MINITERS": "1"}
    process = subprocess.Popen(
        command, cwd=folder, stdout=theirs, stderr=theirs, env={**os.environ, **every_step, **environment}
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            printed += os.read(ours, 4096)
        except OSError:  # the other side is closed
            break
    assert process.wait(timeout=60) == expected, printed.decode()
    return printed.decode()
