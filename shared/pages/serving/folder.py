"""The folder of uploads: each process has its own, locked while it lives and deleted by the next process.

Gradio deletes old uploads while it runs, and all of them at an orderly shutdown; a killed process leaves its uploads
behind. Folders are recognised by name and lock, so neither the files of other Gradio apps beside them nor uploads that
another page still needs are ever deleted.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from functools import cache
from pathlib import Path

from gradio.utils import get_upload_folder

PREFIX = "openworld-metrics-"
_STARTED = time.time()


@cache
def own_folder() -> Path:
    """Create this process's folder, set it in gradio, and delete the folders of processes that have ended."""
    place = Path(get_upload_folder())
    place.mkdir(parents=True, exist_ok=True)
    for folder in place.glob(f"{PREFIX}*"):
        # a folder younger than this process may not be locked yet
        if folder.lstat().st_mtime < _STARTED and (descriptor := locked(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)
    own = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    locked(own)
    os.environ["GRADIO_TEMP_DIR"] = str(own)
    return own


def locked(folder: Path) -> int | None:
    """Lock a folder until this process ends or closes the descriptor returned; None if it cannot be locked."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
