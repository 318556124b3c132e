"""Two visitors of one page: what one uploads and computes, the other cannot have; and what is refused at the door."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradio_client
import httpx
import pytest

from openworld_metrics.pages.guard import MAX_UPLOAD
from openworld_metrics.pages.limits import MAX_BODY
from tests.apps.serving import serve

SECRET = b"predictions,references\n0.123456,0\n0.654321,1\n"


@pytest.fixture(scope="module")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(root / "metrics" / "ood_bench" / "app.py", tmp_path_factory.mktemp("visited")) as found:
        yield found


@pytest.fixture(scope="module")
def uploaded(address: str) -> str:
    """Where the server keeps the first visitor's file, which the second one does not know."""
    answer = httpx.post(f"{address}/gradio_api/upload", files={"files": ("secret.csv", SECRET)})
    return str(answer.json()[0])


@pytest.mark.parametrize(
    "route",
    ["/gradio_api/file={}", "/file={}", "/gradio_api/file/{}", "/gradio_api/file%3D{}", "/gradio_api//file={}"],
)
def test_no_file_is_served(route: str, address: str, uploaded: str) -> None:
    """Not even to who learns its address."""
    for path in (uploaded, "/etc/passwd"):
        answer = httpx.get(address + route.format(path))
        assert (answer.status_code, answer.text) == (403, "Files are not served.")


def test_the_address_of_a_file_cannot_be_guessed(uploaded: str) -> None:
    """It is long, and no digest of the contents alone."""
    for digest in (hashlib.sha256(SECRET), hashlib.sha1(SECRET), hashlib.md5(SECRET)):
        assert digest.hexdigest() not in uploaded
    assert len(Path(uploaded).parent.name) == 64


@pytest.mark.parametrize("meta", [{}, {"meta": {"_type": "gradio.FileData"}}], ids=["plain", "file-data"])
def test_the_endpoint_opens_no_path(meta: dict[str, Any], address: str, uploaded: str) -> None:
    client = gradio_client.Client(address, verbose=False, analytics_enabled=False)
    for path in (uploaded, "/etc/passwd"):
        for given in ({"path": path, **meta}, path):
            with pytest.raises(Exception, match="predictions: expected") as raised:
                client.predict(columns={"predictions": given, "references": [0, 1]}, api_name="/compute")
            assert "0.123456" not in str(raised.value)
            assert "root:" not in str(raised.value)
    client.close()


def test_the_button_opens_no_path_of_the_server(address: str) -> None:
    """Pressed with a path in place of an upload, as a program can."""
    config = httpx.get(f"{address}/config").json()
    parts = {part["id"]: part for part in config["components"]}
    pressed = next(event for event in config["dependencies"] if event["targets"] and event["targets"][0][1] == "click")
    data = [parts[i]["props"].get("value") for i in pressed["inputs"]]
    file = next(place for place, i in enumerate(pressed["inputs"]) if parts[i]["type"] == "file")
    data[file] = [{"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}]
    body = {"data": data, "fn_index": pressed["id"], "session_hash": "second"}
    assert httpx.post(f"{address}/gradio_api/queue/join", json=body).status_code == 200
    with httpx.stream("GET", f"{address}/gradio_api/queue/data?session_hash=second", timeout=60) as stream:
        done = next(json.loads(line[6:]) for line in stream.iter_lines() if "process_completed" in line)
    assert not done["success"]
    assert "root:" not in json.dumps(done)


def test_results_go_to_who_asked(address: str) -> None:
    """Another session's stream has none of them."""
    first, second = (gradio_client.Client(address, verbose=False, analytics_enabled=False) for _ in range(2))
    jobs = [
        client.submit(columns={"predictions": scores, "references": [0, 1]}, api_name="/compute")
        for client, scores in ((first, [0.1, 0.9]), (second, [0.9, 0.1]))
    ]
    assert [job.result(60)["auroc"] for job in jobs] == [1.0, 0.0]
    for client in (first, second):
        client.close()


@pytest.mark.parametrize(
    ("path", "limit"),
    [("/gradio_api/call/compute", MAX_BODY), ("/gradio_api/upload", MAX_UPLOAD)],
    ids=["json", "file"],
)
def test_a_large_request_is_refused_before_it_is_read(path: str, limit: int, address: str) -> None:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", str(100 * limit))
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (413, f"Expected at most {limit:,} bytes.".encode())
    connection.close()
    answered = httpx.post(address + path, content=b" " * (limit + 1), timeout=60)
    assert answered.status_code == 413


def test_a_request_of_unknown_length_is_counted(address: str) -> None:
    url = f"{address}/gradio_api/call/compute"
    parts = [b'{"data": [{"predictions": [0.1, 0.9],', b' "references": [0, 1]}, {}]}']
    assert httpx.post(url, content=iter(parts), headers={"Content-Type": "application/json"}).status_code == 200
    endless = (b" " * 1_000_000 for _ in range(1000))
    with contextlib.suppress(httpx.TransportError):  # the server hangs up while this is still sending
        assert httpx.post(url, content=endless, timeout=60).status_code == 413


def test_lists_in_lists_in_lists(address: str) -> None:
    answer = httpx.post(f"{address}/gradio_api/call/compute", content=b"[" * 1_000_000)
    assert answer.status_code in (400, 422)
