"""Two visitors of one page: what one uploads and computes, the other cannot have; and what is refused at the door."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from openworld_metrics.pages.form.form import TABLE
from openworld_metrics.pages.metrics.ood_bench import PAGE
from openworld_metrics.pages.serving.limits import CALLS, MAX_LISTS, UPLOADS, Allowance
from tests.served import PATIENCE, connect, serve

SECRET = b"predictions,references\n0.123456,0\n0.654321,1\n"


@pytest.fixture(scope="module")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(root / "metrics" / "ood_bench" / "app.py", tmp_path_factory.mktemp("visited")) as found:
        yield found


@pytest.fixture(scope="module")
def uploaded(address: str) -> str:
    """Where the server keeps the first visitor's file, which the second one does not know."""
    answer = httpx.post(f"{address}/gradio_api/upload", files={"files": ("secret.csv", SECRET)}, timeout=60)
    return str(answer.json()[0])


@pytest.mark.parametrize(
    "route",
    ["/gradio_api/file={}", "/file={}", "/gradio_api/file/{}", "/gradio_api/file%3D{}", "/gradio_api//file={}"],
)
def test_no_file_is_served(route: str, address: str, uploaded: str) -> None:
    """Not even to who learns its address."""
    for path in (uploaded, "/etc/passwd"):
        answer = httpx.get(address + route.format(path), timeout=60)
        assert (answer.status_code, answer.text) == (403, "Files are not served.")


def test_the_address_of_a_file_cannot_be_guessed(uploaded: str) -> None:
    """It is long, and no digest of the contents alone."""
    for digest in (hashlib.sha256(SECRET), hashlib.sha1(SECRET), hashlib.md5(SECRET)):
        assert digest.hexdigest() not in uploaded
    assert len(Path(uploaded).parent.name) == 64


@pytest.mark.parametrize("meta", [{}, {"meta": {"_type": "gradio.FileData"}}], ids=["plain", "file-data"])
def test_the_endpoint_opens_no_path(meta: dict[str, Any], address: str, uploaded: str) -> None:
    client = connect(address)
    for path in (uploaded, "/etc/passwd"):
        for given in ({"path": path, **meta}, path):
            with pytest.raises(Exception, match="predictions: expected") as raised:
                client.predict(columns={"predictions": given, "references": [0, 1]}, api_name="/compute")
            assert "0.123456" not in str(raised.value)
            assert "root:" not in str(raised.value)
    client.close()


def pressed(address: str, change: Callable[[list[Any], Callable[[str], int]], None]) -> dict[str, Any]:
    """What a press of the button gives after `change` of its inputs, of which place(kind) is the first of a kind."""
    config = httpx.get(f"{address}/config", timeout=60).json()
    parts = {part["id"]: part for part in config["components"]}
    clicks = [event for event in config["dependencies"] if event["targets"] and event["targets"][0][1] == "click"]
    event = max(clicks, key=lambda event: len(event["inputs"]))  # the press of Compute, which takes the whole form
    data = [parts[i]["props"].get("value") for i in event["inputs"]]
    change(data, lambda kind: next(place for place, i in enumerate(event["inputs"]) if parts[i]["type"] == kind))
    session = secrets.token_hex(8)
    body = json.dumps({"data": data, "fn_index": event["id"], "session_hash": session})
    headers = {"Content-Type": "application/json"}
    joined = httpx.post(f"{address}/gradio_api/queue/join", content=body, headers=headers, timeout=60)
    assert joined.status_code == 200, joined.text
    with httpx.stream("GET", f"{address}/gradio_api/queue/data?session_hash={session}", timeout=60) as stream:
        return dict(next(json.loads(line[6:]) for line in stream.iter_lines() if "process_completed" in line))


def pressed_with(address: str, typed: dict[str, Any]) -> dict[str, Any]:
    """What a press gives for a table that a person has filled in, where the example is one to type in."""

    def change(data: list[Any], place: Callable[[str], int]) -> None:
        data[place("dropdown")], data[place("dataframe")] = f"{TABLE}{PAGE.examples[0].title}", typed

    return pressed(address, change)


def table(names: str, rows: list[list[Any]]) -> dict[str, Any]:
    return {"headers": names.split(), "data": rows, "metadata": None}


def test_the_button_opens_no_path_of_the_server(address: str) -> None:
    """Pressed with a path in place of an upload, as a program can."""
    path = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
    done = pressed(address, lambda data, place: data.__setitem__(place("file"), [path]))
    assert not done["success"]
    assert "root:" not in json.dumps(done)


def test_results_go_to_who_asked(address: str) -> None:
    """Another session's stream has none of them."""
    first, second = (connect(address) for _ in range(2))
    jobs = [
        client.submit(columns={"predictions": scores, "references": [0, 1]}, api_name="/compute")
        for client, scores in ((first, [0.1, 0.9]), (second, [0.9, 0.1]))
    ]
    assert [job.result(PATIENCE)["auroc"] for job in jobs] == [1.0, 0.0]
    for client in (first, second):
        client.close()


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/gradio_api/call/compute", CALLS), ("/gradio_api/upload", UPLOADS)],
    ids=["json", "file"],
)
def test_a_large_request_is_refused_before_it_is_read(path: str, allowed: Allowance, address: str) -> None:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Content-Length", str(100 * UPLOADS.size))
    connection.endheaders()
    answer = connection.getresponse()
    assert answer.status == 413
    assert f"Expected at most {allowed.size:,} bytes{allowed.advice}." in answer.read().decode()
    connection.close()
    answered = httpx.post(address + path, content=b" " * (allowed.size + 1), timeout=60)
    assert answered.status_code == 413


def test_a_request_of_unknown_length_is_counted(address: str) -> None:
    url = f"{address}/gradio_api/call/compute"
    parts = [b'{"data": [{"predictions": [0.1, 0.9],', b' "references": [0, 1]}, {}]}']
    headers = {"Content-Type": "application/json"}
    assert httpx.post(url, content=iter(parts), headers=headers, timeout=60).status_code == 200
    endless = (b" " * 1_000_000 for _ in range(1000))
    with contextlib.suppress(httpx.TransportError):  # the server hangs up while this is still sending
        assert httpx.post(url, content=endless, timeout=60).status_code == 413


def raw(address: str, request: bytes) -> bytes:
    """The first line of the answer to a request that no client would send."""
    host, _, port = address.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            return answer.readline()


def test_two_lengths_are_refused(address: str) -> None:
    """A reader who believes one and a reader who believes the other disagree on where the request ends."""
    head = b"POST /gradio_api/queue/join HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    both = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
    blanks = b"186a0\r\n" + b" " * 100_000 + b"\r\n"
    assert raw(address, head + both + 20 * blanks + b"0\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(address, head + both + b"2\r\n{}\r\n0\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_lists_in_lists_in_lists(address: str) -> None:
    answer = httpx.post(f"{address}/gradio_api/call/compute", content=b"[" * (MAX_LISTS - 1), timeout=60)
    assert answer.status_code in (400, 422)


@pytest.mark.parametrize("one", [b"{}", b"[]", b'{"a":{"b":[[[]]]}}'], ids=["objects", "lists", "nested"])
def test_a_large_call_does_not_hold_the_others(one: bytes, address: str) -> None:
    """gradio parses it on the thread that answers all, which takes 0.2 s; they are counted in the server's own time."""
    url, headers = f"{address}/gradio_api/call/compute", {"Content-Type": "application/json"}
    count = (MAX_LISTS - 10) // (one.count(b"{") + one.count(b"["))
    largest = b'{"data": [{"predictions": [%s], "references": [0, 1]}, {}]}' % b",".join([one] * count)
    too_many = largest.replace(b"[0, 1]", b"[" * 20 + b"]" * 20)
    refused = httpx.post(url, content=too_many, headers=headers, timeout=60)
    assert (refused.status_code, "lists and objects" in refused.json()["detail"]) == (413, True)

    port = int(address.rpartition(":")[2])
    listening = (one for one in psutil.net_connections("tcp") if one.laddr.port == port and one.status == "LISTEN")
    server = psutil.Process(next(listening).pid)
    waits: list[float] = []
    done = threading.Event()

    def visit() -> None:
        with httpx.Client() as client:
            while not done.is_set():
                begun = sum(server.cpu_times()[:2])
                client.get(f"{address}/gradio_api/startup-events", timeout=60)
                waits.append(sum(server.cpu_times()[:2]) - begun)

    other = threading.Thread(target=visit)
    other.start()
    try:
        event = httpx.post(url, content=largest, headers=headers, timeout=60).json()["event_id"]
        with httpx.stream("GET", f"{url}/{event}", timeout=60) as stream:
            assert "event: error" in "".join(stream.iter_text())
    finally:
        done.set()
        other.join()
    assert max(waits) < 2


def test_a_table_of_many_rows(address: str) -> None:
    """What the limits allow works on the page."""
    rows = [[0.123456 * (i % 7), i % 2] for i in range(20_000)]
    done = pressed_with(address, table("scores labels", rows))
    assert done["success"]
    assert "auroc" in json.dumps(done["output"])


def test_two_columns_of_one_name_in_a_table(address: str) -> None:
    rows = [[0.1, 0.9, 0], [0.9, 0.1, 1]]
    twice = table("scores scores labels", rows)
    done = pressed_with(address, twice)
    assert "expected columns of different names, got 2 named" in json.dumps(done["output"])


def test_half_a_surrogate_pair(address: str) -> None:
    """Text that JSON can hold and no answer can send."""
    odd = "\ud800"
    content = json.dumps({odd: [0.1, 0.2], "references": [0, 1]}).encode()
    files = {"files": ("odd.json", content)}
    path = httpx.post(f"{address}/gradio_api/upload", files=files, timeout=60).json()[0]
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    done = pressed(address, lambda data, place: data.__setitem__(place("file"), [file]))
    assert "expected names that can be encoded in UTF-8" in json.dumps(done["output"])
    for columns, options in (
        ({odd: [0.1], "references": [0]}, {}),
        ({"predictions": [odd, odd], "references": [0, 1]}, {}),
        ({"predictions": [0.1, 0.2], "references": [0, 1]}, {odd: 1}),
        ({"predictions": [0.1, 0.2], "references": [0, 1]}, {"metrics": odd}),
    ):
        url, headers = f"{address}/gradio_api/call/compute", {"Content-Type": "application/json"}
        body = json.dumps({"data": [columns, options]})
        event = httpx.post(url, content=body, headers=headers, timeout=60).json()["event_id"]
        with httpx.stream("GET", f"{url}/{event}", timeout=60) as stream:
            assert "event: error" in "".join(stream.iter_text())


def test_evaluates_own_options_are_no_options(address: str) -> None:
    """They would hold a place of the queue for as long as a visitor says, and write where a visitor says."""
    client = connect(address)
    columns = {"predictions": [0.1, 0.9], "references": [0, 1]}
    for name, value in {"num_process": 2, "cache_dir": "/tmp/x", "experiment_id": "../x", "timeout": 1e9}.items():
        for given in ({"columns": columns, "options": {name: value}}, {"columns": {**columns, name: value}}):
            with pytest.raises(Exception, match=f"ood_bench has no argument '{name}'"):
                client.predict(**given, api_name="/compute")
    client.close()
