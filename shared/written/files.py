"""Files and folders, written completely or not at all, and CSV that a spreadsheet reads as it is meant."""

from __future__ import annotations

import csv
import errno
import io
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..arrays.arrays import reads_as_number


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a file, completely or not at all; see `write_files` for links, permissions and errors."""
    write_files([(path, content)])


def write_files(contents: Iterable[tuple[str | Path, str | bytes]]) -> None:
    """Write files, text as UTF-8. No file changes before all contents are written.

    Symbolic links are kept, and so are permissions. Special files, such as pipes, are written directly. Raises OSError
    with the name of the file that cannot be written; no drafts are left.
    """
    drafts: list[tuple[Path, Path]] = []
    others: list[tuple[Path, bytes]] = []
    try:
        for path, content in ((Path(name), content) for name, content in contents):
            # only undecodable bytes of a file's name, and halves of surrogate pairs in JSON, cannot be encoded
            data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
            with _named(path):
                before = _status(path)
                if before is None or stat.S_ISREG(before.st_mode):
                    drafts.append((_draft_in(_target(path).parent), path))
                    _write_draft(drafts[-1][0], data, before)
                else:
                    others.append((path, data))
        for draft, path in drafts:
            with _named(path):
                os.replace(draft, _target(path))
        for path, data in others:
            with _named(path):
                path.write_bytes(data)
    finally:
        for draft, _ in drafts:
            draft.unlink(missing_ok=True)


def check_file(path: str | Path) -> None:
    """Raise OSError, with the name of the file or folder, if `write_file` could not write there."""
    path = Path(path)
    with _named(path):
        before = _status(path)
    if before is None or stat.S_ISREG(before.st_mode):
        check_folder(_target(path).parent)


def check_folder(folder: str | Path) -> None:
    """Raise OSError, with the name of the folder, if files cannot be written in it.

    A file is written and removed again, since a system may refuse for reasons other than permissions.
    """
    folder = Path(folder)
    draft = _draft_in(folder)
    with _named(folder):
        try:
            draft.touch(exist_ok=False)
        finally:
            draft.unlink(missing_ok=True)


def nearest_folder(folder: str | Path) -> Path:
    """The folder if it exists, or else its nearest existing parent, where `mkdir(parents=True)` begins."""
    folder = Path(folder).absolute()
    return next(place for place in (folder, *folder.parents) if os.path.lexists(place))


def _status(path: Path) -> os.stat_result | None:
    """The status of an existing file; None if there is none. Raises OSError if it cannot be written to."""
    try:
        before = path.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(before.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not os.access(path, os.W_OK):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))
    return before


def _target(path: Path) -> Path:
    """The path, or the target of a link."""
    return Path(os.path.realpath(path))


def _draft_in(folder: Path) -> Path:
    """A unique name for a draft on the disk of its file; short, since the file's own name may be long.

    What `tempfile` makes can be read by its owner alone, while a new file follows the user's umask.
    """
    return folder / f".{os.urandom(8).hex()}.draft"


def _write_draft(draft: Path, data: bytes, before: os.stat_result | None) -> None:
    # the draft must not be readable by users who may not read the file
    mode = 0o666 if before is None else 0o600
    with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
        file.write(data)
    if before is not None:
        if hasattr(os, "chown"):
            with suppress(PermissionError):  # only root gives files to others
                os.chown(draft, before.st_uid, before.st_gid)
        os.chmod(draft, stat.S_IMODE(before.st_mode))


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Put the caller's name of a file into errors, instead of the draft's name or no name."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Yield a draft of a folder, which is renamed at the end, or deleted after an error."""
    if os.path.lexists(out):
        raise ValueError(f"{out}: expected a folder that does not exist, got an existing one")
    check_folder(out.absolute().parent)
    draft = out.absolute().parent / f".{os.urandom(8).hex()}.draft"
    draft.mkdir()
    try:
        yield draft
        draft.rename(out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV; a cell that begins like a formula, but is not a number, is prefixed with an apostrophe.

    >>> print(csv_text([["name", "auroc"], ["=1+1", -0.5], ["-1", None]]), end="")
    name,auroc
    '=1+1,-0.5
    -1,
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*map(_plain, row)] for row in rows)
    return text.getvalue()


def _plain(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    return cell if reads_as_number(cell) else f"'{cell}"
