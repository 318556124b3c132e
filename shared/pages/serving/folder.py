"""Where uploads are kept: a folder for each process, locked as long as that lives, which the next process deletes.

gradio deletes what is old while it runs, and all of it when it is shut down in order. A process that is killed leaves
its uploads behind. Folders are told by their name and their lock, so that nothing else is ever deleted: not what other
apps of gradio keep beside them, and not what another page still needs.
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
    """Make this process's folder, tell gradio of it, and delete those of processes that have ended."""
    place = Path(get_upload_folder())
    place.mkdir(parents=True, exist_ok=True)
    for folder in place.glob(f"{PREFIX}*"):
        # a folder that is younger than this process may be one whose lock is still to come
        if folder.lstat().st_mtime < _STARTED and (descriptor := locked(folder)) is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(descriptor)
    own = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    locked(own)
    os.environ["GRADIO_TEMP_DIR"] = str(own)
    return own


def locked(folder: Path) -> int | None:
    """Lock a folder until this process ends or closes what this returns; None if it is another's, or has no lock."""
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
