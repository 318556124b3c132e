"""What visitors may not do, tried on a server as it runs: files, addresses, runs, the queue, costs, and names."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from openworld_metrics import METRICS
from openworld_metrics.faces.page import worker
from openworld_metrics.faces.page.gate import MAX_BODY, ROUTES, names_address
from tests.served import connect, serve
from tests.waiting import PATIENCE

SECRET = b"predictions,references\n0.123456,0\n0.654321,1\n"
COLUMNS = {"predictions": [0.1, 0.9], "references": [0, 1]}


@pytest.fixture(scope="module")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of a Space, whose operator has a token."""
    app, folder = root / "metrics" / "ood_bench" / "app.py", tmp_path_factory.mktemp("visited")
    with serve(app, folder, GRADIO_MCP_SERVER="True", GRADIO_RUN_HISTORY="True", HF_TOKEN="hf_operators") as own:
        yield own


@pytest.fixture(scope="module")
def uploaded(address: str) -> str:
    """The place of the first visitor's file, which the second one does not know."""
    answer = httpx.post(f"{address}/gradio_api/upload", files={"files": ("secret.csv", SECRET)}, timeout=60)
    return str(answer.json()[0])


@pytest.mark.parametrize("route", ["/gradio_api/file={}", "/file={}", "/gradio_api/file/{}", "/gradio_api//file={}"])
def test_no_file_of_the_server_is_served(route: str, address: str) -> None:
    for path in ("/etc/passwd", "/proc/self/environ", str(Path(__file__).resolve()), "http://example.org/x"):
        answer = httpx.get(address + route.format(path), timeout=60)
        assert answer.status_code in (403, 404), answer.text


def test_the_place_of_an_upload_cannot_be_guessed(uploaded: str) -> None:
    assert len(Path(uploaded).parent.name) == 64


def test_only_what_a_page_needs_is_answered(address: str) -> None:
    for path in ("/monitoring", "/monitoring/summary", "/gradio_api/runs", "/gradio_api/proxy=https://example.org"):
        assert httpx.get(address + path, timeout=60).status_code in (403, 404), path
    for path in ("/gradio_api/run/compute", "/gradio_api/api/compute", "/gradio_api/component_server", "/login"):
        assert httpx.post(address + path, json={"data": [COLUMNS, {}]}, timeout=60).status_code in (403, 404), path
    assert httpx.get(f"{address}/gradio_api/mcp/sse", timeout=60).status_code in (403, 404)
    assert httpx.put(address, timeout=60).status_code in (404, 405)


def test_the_routes_are_those_that_security_names(root: Path) -> None:
    text = (root / "SECURITY.md").read_text(encoding="utf-8")
    assert "`/card/` and a metric's name" in text
    named = [f"/{card}{name}" for name in METRICS for card in ("", "card/")]
    for route in (route.replace("(?!https?:)", "") for routes in ROUTES.values() for route in routes):
        assert f"`{route}`" in text or route in named


def test_what_is_switched_off() -> None:
    from openworld_metrics.faces.page import launch  # here, since it takes seconds

    own: dict[str, Any] = {}
    launch.launch(SimpleNamespace(launch=lambda **some: own.update(some), queue=lambda **some: own.update(some)))
    assert not any(own[name] for name in ("mcp_server", "run_history", "enable_monitoring", "api_open"))
    assert own["max_file_size"] <= 50_000_000


@pytest.mark.parametrize("meta", [{}, {"meta": {"_type": "gradio.FileData"}}], ids=["plain", "file-data"])
def test_the_endpoint_opens_no_path(meta: dict[str, Any], address: str, uploaded: str) -> None:
    client = connect(address)
    for path in (uploaded, "/etc/passwd"):
        for value in ({"path": path, **meta}, path):
            with pytest.raises(Exception, match=r"expected|got|Expected") as raised:
                client.predict(columns={"predictions": value, "references": [0, 1]}, api_name="/compute")
            assert "0.123456" not in str(raised.value)
            assert "root:" not in str(raised.value)
    client.close()


def test_no_address_is_fetched(address: str) -> None:
    file = {"path": "https://example.org/scores.csv", "meta": {"_type": "gradio.FileData"}}
    body = {"data": [{"predictions": file, "references": [0]}, {}]}
    answer = httpx.post(f"{address}/gradio_api/call/compute", json=body, timeout=60)
    assert (answer.status_code, "addresses are never opened" in answer.text) == (400, True)
    assert names_address(json.dumps(body).replace("h", "\\u0068").encode())
    assert httpx.post(f"{address}/gradio_api/queue/join", json=body, timeout=60).status_code == 400


def test_a_large_call_is_refused(address: str) -> None:
    for path in ("call/compute", "queue/join"):
        answer = httpx.post(f"{address}/gradio_api/{path}", content=b" " * (MAX_BODY + 1), timeout=60)
        assert answer.status_code == 413


def pressed(address: str, **typed: Any) -> str:
    """What a press of Compute answers, with other values of some controls, as a program can send them."""
    config = httpx.get(f"{address}/config", timeout=60).json()
    parts = {part["id"]: part for part in config["components"]}
    events = {
        parts[event["targets"][0][0]]["props"].get("elem_id"): event
        for event in config["dependencies"]
        if event["targets"] and event["targets"][0][0] in parts
    }
    event = events["compute"]
    values = [typed.get(parts[i]["props"].get("elem_id", ""), parts[i]["props"].get("value")) for i in event["inputs"]]
    session = secrets.token_hex(8)
    body = {"data": values, "fn_index": event["id"], "session_hash": session}
    joined = httpx.post(f"{address}/gradio_api/queue/join", json=body, timeout=60)
    assert joined.status_code == 200, joined.text
    with httpx.stream("GET", f"{address}/gradio_api/queue/data?session_hash={session}", timeout=PATIENCE) as stream:
        lines = []
        for line in stream.iter_lines():
            lines.append(line)
            if "process_completed" in line:
                break
    return "\n".join(lines)


def test_a_press_with_wrong_values_is_an_error_in_words(address: str) -> None:
    """Options that no control holds, and too many of them."""
    assert "metrics" in pressed(address, **{"option-metrics": ["<script>alert(1)</script>"]})
    many = pressed(address, **{"option-metrics": [f"tpr{i / 1000}fpr" for i in range(1, 9_000)]})
    assert "too long here" in many
    assert "Traceback" not in many


def test_the_endpoint_bounds_its_costs(address: str) -> None:
    client = connect(address)
    with pytest.raises(Exception, match="too long here"):
        client.predict(
            columns=COLUMNS | {"groups": [f"g{i}" for i in range(2)]},
            options={"metrics": [f"tpr{i / 1000}fpr" for i in range(1, 9_000)]},
            api_name="/compute",
        )
    with pytest.raises(Exception, match="has no argument 'cache_dir'"):
        client.predict(columns=COLUMNS, options={"cache_dir": "/tmp"}, api_name="/compute")
    assert client.predict(columns=COLUMNS, api_name="/compute")["auroc"] == 1.0
    client.close()


def test_results_go_to_who_asked(address: str) -> None:
    first, second = (connect(address) for _ in range(2))
    jobs = [
        client.submit(columns={"predictions": scores, "references": [0, 1]}, api_name="/compute")
        for client, scores in ((first, [0.1, 0.9]), (second, [0.9, 0.1]))
    ]
    assert [job.result(PATIENCE)["auroc"] for job in jobs] == [1.0, 0.0]
    for client in (first, second):
        client.close()


def test_names_are_text(tmp_path: Path) -> None:
    """Names of models, samples and groups are escaped on a page, whatever they hold."""
    from openworld_metrics.faces.page import view

    evil = "<img src=x onerror=alert(1)>"
    rows = "\n".join(f"{i % 7 / 7 + i % 2},{i % 2},{evil}{i % 2 and i % 3}" for i in range(60))
    path = tmp_path / "evil.csv"
    path.write_text(
        f"{evil},label,dataset\n{rows}\n".replace(",0,", ",0,").replace(f"0,{evil}0", "0,"), encoding="utf-8"
    )
    seen = worker.look(worker.Request("ood_bench", [{evil: [str(path)]}]))
    assert "<img" not in view.data_card(seen, evil, False)
    assert "<img" not in view.said(f"{evil} is wrong")["value"]
    answers = worker.compute(worker.Request("ood_bench", [{evil: [str(path)]}]), False)
    for props in view.view(next(iter(answers.values()))).values():
        if isinstance(props.get("value"), str) and "class=" in props["value"]:
            assert "<img src=x" not in props["value"]


def test_messages_name_no_folder(tmp_path: Path) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(b"PK\x03\x04 not an archive")
    seen = worker.look(worker.Request("ood_bench", [{"a": [str(path)]}]))
    assert "broken.npz" in seen.error
    assert str(tmp_path) not in seen.error
