"""Generate pages from notebooks: each is run, and shown with the outputs of its cells."""

from __future__ import annotations

import base64
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent.parent / "notebooks"
TERMINAL = re.compile(r"\x1b\[[\d;]*m")
Pictures = dict[str, bytes]


def run(path: Path, folder: Path) -> Any:
    """Run a notebook in a folder, and return it with outputs."""
    notebook = nbformat.read(path, as_version=4)
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources=where)
    client.extra_arguments = ["--IPKernelApp.log_level=40"]
    client.execute()
    return notebook


def as_markdown(notebook: Any, name: str) -> tuple[str, Pictures]:
    """The text of a page, and its pictures by file name."""
    parts, pictures = [], Pictures()
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        elif cell.cell_type == "code":
            parts.append(f"```python\n{cell.source}\n```")
            parts.extend(
                _output(output, name, pictures) for output in cell.outputs if output.get("text", "text").strip()
            )
    note = f'!!! note\n\n    This page is the notebook <a href="{name}.ipynb" download>{name}.ipynb</a>, as it ran.'
    return "\n\n".join([parts[0], note, *parts[1:]]) + "\n", pictures


def _output(output: Any, name: str, pictures: Pictures) -> str:
    if output.output_type == "stream":
        return _printed(output.text)
    if "image/png" in output.data:
        file = f"{name}-{len(pictures)}.png"
        pictures[file] = base64.b64decode(output.data["image/png"])
        return f"![{output.metadata.get('alt', 'picture of the cell above')}]({file})"
    if "text/markdown" in output.data:
        return str(output.data["text/markdown"])
    return _printed(output.data["text/plain"])


def _printed(text: str) -> str:
    return f"```{{ .text .output }}\n{TERMINAL.sub('', text).rstrip()}\n```"


@cache
def _page(path: Path, modified: float) -> tuple[str, Pictures]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        return as_markdown(run(path, Path(folder)), path.stem)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the notebooks and their pictures."""
    from mkdocs.structure.files import File  # imported here since tests of the notebooks do not need MkDocs

    for path in sorted(FOLDER.glob("*.ipynb")):
        text, pictures = _page(path, path.stat().st_mtime)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for file, content in pictures.items():
            files.append(File.generated(config, f"notebooks/{file}", content=content))
    return files
