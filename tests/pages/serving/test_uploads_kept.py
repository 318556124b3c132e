"""What is kept of uploads: nothing of one that ends early, and nothing of a process that has ended."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from openworld_metrics.pages.serving.folder import PREFIX
from tests.pages.events.test_stale import Visitor
from tests.pages.serving.test_visitors import SECRET, pressed
from tests.served import serve

# the page, with limits that a test can wait for, and without a network
SCRIPT = """
import sys
from pathlib import Path
import gradio.processing_utils
from starlette.middleware import Middleware

async def fetch(url, cache_dir):
    print("FETCHED", url, flush=True)
    path = Path(cache_dir) / "fetched.csv"
    path.write_text("predictions,references\\n0.1,0\\n0.9,1\\n")
    return str(path)

gradio.processing_utils.async_ssrf_protected_download = fetch

from openworld_metrics.pages.build import build
from openworld_metrics.pages.serving.guard import Guard
from openworld_metrics.pages.serving.launch import launch
from openworld_metrics.pages.serving.limits import UPLOADS
from openworld_metrics.pages.metrics.ood_bench import PAGE

guard = Middleware(Guard, silence=1.0, uploads=UPLOADS._replace(at_once=2))
launch(build(PAGE, Path("FOLDER")), app_kwargs={"middleware": [guard]})
"""

BEGIN = "from openworld_metrics.pages.serving.folder import own_folder; own_folder()"


def upload(address: str) -> Path:
    answer = httpx.post(f"{address}/gradio_api/upload", files={"files": ("secret.csv", SECRET)}, timeout=60)
    return Path(answer.json()[0])


def computed(address: str, path: str) -> Any:
    """What the page says of a file."""
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    return pressed(address, lambda data, place: data.__setitem__(place("file"), [file]))


def test_what_a_process_left_is_deleted_by_the_next(root: Path, tmp_path: Path) -> None:
    app = root / "metrics" / "ood_bench" / "app.py"
    with serve(app, tmp_path) as address:
        left = upload(address)
        assert left.read_bytes() == SECRET
        assert computed(address, str(left))["success"]
    assert left.is_file(), "the process was to leave it behind"
    place = left.parent.parent.parent
    assert place == tmp_path / "uploads"
    others = tmp_path / "others"
    others.mkdir()
    kept = [others / "a", place / ("0" * 64) / "b", place / "tmp1234", place / f"{PREFIX}notes.txt"]
    kept[1].parent.mkdir()
    for path in kept:
        path.write_text("not ours")
        os.utime(path, (0, 0))
    (place / f"{PREFIX}link").symlink_to(others)
    os.utime(others, (0, 0))
    with serve(app, tmp_path) as address:
        assert not left.parent.parent.exists()
        assert [path.read_text() for path in kept] == ["not ours"] * len(kept)
        mine = upload(address)
        # as a second page beside it begins
        environment = {**os.environ, "GRADIO_TEMP_DIR": str(tmp_path / "uploads")}
        subprocess.run([sys.executable, "-c", BEGIN], env=environment, check=True, timeout=120)
        assert computed(address, str(mine))["success"]
        assert mine.is_file()


@pytest.fixture(scope="module")
def page(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("page")
    script = folder / "page.py"
    script.write_text(SCRIPT.replace("FOLDER", str(root / "metrics" / "ood_bench")))
    (folder / "tmp").mkdir()
    with serve(script, folder, TMPDIR=str(folder / "tmp")) as address:
        yield address, folder


def begun(address: str) -> socket.socket:
    """An upload of 1 MB, of which half has come."""
    host, _, port = address.removeprefix("http://").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    part = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n' + b"1\n" * 250_000
    head = "POST /gradio_api/upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    connection.sendall(f"{head}Content-Length: 1000000\r\n\r\n".encode() + part)
    return connection


def parts_of(folder: Path) -> set[Path]:
    """What there is of an upload; older versions of gradio begin it in the folder for all temporary files."""
    return {path for place in (f"uploads/{PREFIX}*/*", "tmp/tmp*") for path in folder.glob(place) if path.is_file()}


def wait_until(true: Any) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_an_upload_that_ends_early_leaves_nothing(page: tuple[str, Path]) -> None:
    address, folder = page
    before = parts_of(folder)
    connection = begun(address)
    wait_until(lambda: parts_of(folder) > before)
    connection.close()
    wait_until(lambda: parts_of(folder) == before)
    # half of one, and silence
    with begun(address) as connection:
        wait_until(lambda: parts_of(folder) > before)
        with connection.makefile("rb") as answer:
            assert answer.readline().startswith(b"HTTP/1.1 408 ")
    assert parts_of(folder) == before


def test_unfinished_uploads_are_few_and_short(page: tuple[str, Path]) -> None:
    address, _ = page
    with ExitStack() as stack:
        slow = [stack.enter_context(begun(address)) for _ in range(12)]
        assert httpx.get(address, timeout=60).status_code == 200
        answers = [stack.enter_context(connection.makefile("rb")) for connection in slow]
        told = [int(answer.readline().split()[1]) for answer in answers]
    assert set(told) == {408, 503}
    assert upload(address).is_file()


def test_no_address_of_the_web_is_opened(page: tuple[str, Path]) -> None:
    """gradio would fetch it, whole and into memory, for a visitor who names one in place of an upload."""
    address, folder = page
    url = "http://example.com/scores.csv"
    done = computed(address, url)
    assert (done["success"], "URLs are never opened" in str(done["output"])) == (False, True)
    given = {"path": url, "meta": {"_type": "gradio.FileData"}}
    body = {"data": [{"predictions": given, "references": [0, 1]}, {}]}
    call = f"{address}/gradio_api/call/compute"
    event = httpx.post(call, json=body, timeout=60).json()["event_id"]
    assert "event: error" in httpx.get(f"{call}/{event}", timeout=60).text
    visitor = Visitor(address)
    visitor.act("ood_bench-example", "input")  # after which gradio has other components for the session
    with pytest.raises(AssertionError, match="URLs are never opened"):
        visitor.act("ood_bench-compute", "click", {"ood_bench-from-predictions": given})
    assert "FETCHED" not in (folder / "app.log").read_text()
