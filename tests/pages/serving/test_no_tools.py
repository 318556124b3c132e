"""What gradio would switch on stays off: tools, a history of runs, statistics, calls beside the queue, new routes."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

serving = pytest.importorskip("openworld_metrics.pages.serving.launch")

from openworld_metrics.pages.serving.routes import ROUTES, is_listed  # noqa: E402
from tests.served import serve  # noqa: E402

TOKEN = "hf_the_operators_own"
ENDLESS = {("GET", f"/gradio_api/{path}") for path in ("heartbeat/x", "upload_progress", "dev/reload")}


def test_what_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_MCP_SERVER", "True")
    monkeypatch.setenv("GRADIO_RUN_HISTORY", "True")
    given: dict[str, Any] = {}
    serving.launch(
        SimpleNamespace(
            blocks={},
            launch=lambda **settings: given.update(settings),
            queue=lambda **settings: given.update(settings),
        )
    )
    for name in ("mcp_server", "run_history", "enable_monitoring", "api_open"):
        assert given[name] is False
    assert given["state_session_capacity"] * 1_250_000 <= 50_000_000  # bytes of a session of the gallery


SLOW = """
from gradio import Blocks, networking
from openworld_metrics.pages.serving.launch import launch

networking.url_ok = lambda url: False
with Blocks() as page:
    pass
launch(page, server_name="127.0.0.1", share=False, prevent_thread_lock=True)
page.close()
print("served")
"""


def test_a_server_that_is_slow_to_answer_itself_starts(tmp_path: Path) -> None:
    environment = {**os.environ, "GRADIO_TEMP_DIR": str(tmp_path), "GRADIO_ANALYTICS_ENABLED": "False"}
    done = subprocess.run([sys.executable, "-c", SLOW], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.endswith("served\n"), done.stderr


LIST = """
import json
from gradio.routes import App
from openworld_metrics.pages.gallery.gallery import build_gallery

found, waiting = [], [*App.create_app(build_gallery()).routes]
while waiting:
    route = waiting.pop()
    waiting += getattr(getattr(route, "original_router", route), "routes", None) or []
    found += [(method, route.path) for method in getattr(route, "methods", None) or ()]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str]]:
    """Method and path of all that gradio would answer, with a value in place of each name."""
    environment = {**os.environ, "GRADIO_TEMP_DIR": str(tmp_path_factory.mktemp("listed"))}
    said = subprocess.run(
        [sys.executable, "-c", LIST], env=environment, capture_output=True, text=True, check=True
    ).stdout
    return {(method, re.sub(r"\{[^}]*\}", "x", path)) for method, path in json.loads(said.splitlines()[-1])}


def test_the_routes_are_those_of_the_list(root: Path, routes: set[tuple[str, str]]) -> None:
    """Every one of the list is in SECURITY.md and in gradio; all others that gradio has are refused."""
    text = (root / "SECURITY.md").read_text(encoding="utf-8")
    stated = re.findall(r"^ *\| (GET|POST) \| (.*) \|$", text, re.M)
    named = {method: tuple(re.findall(r"`([^`]+)`", line)) for method, line in stated}
    assert named == ROUTES
    listed = {(method, re.sub(r"\{[^}]*\}", "x", route)) for method, some in ROUTES.items() for route in some}
    assert listed <= routes
    allowed = {(method, path) for method, path in routes if is_listed(method, path)}
    assert {("GET" if method == "HEAD" else method, path.rstrip("/") or "/") for method, path in allowed} == listed


def test_what_is_not_listed() -> None:
    for path in ("/monitoring/summary", "/gradio_api/runs", "/gradio_api/proxy=x", "/gradio_api/call/v2/compute/x/y"):
        assert not is_listed("GET", path)
    for path in ("/gradio_api/run/compute", "/gradio_api/component_server", "/login", "/config", "/gradio_api/api/x"):
        assert not is_listed("POST", path)
    assert not is_listed("PUT", "/")
    assert is_listed("GET", "//") is is_listed("HEAD", "/") is is_listed("GET", "/config/") is True


@pytest.fixture(scope="module")
def hub() -> Iterator[tuple[str, list[str]]]:
    """A server in place of the Hub, and what it is asked."""
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.command} {self.path} {self.headers.get('authorization')}")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"[]")

        do_POST = do_PUT = do_HEAD = do_GET  # noqa: N815, as the library names them

        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    server.server_close()


def test_the_operators_token_stays_here(
    root: Path, tmp_path: Path, hub: tuple[str, list[str]], routes: set[tuple[str, str]]
) -> None:
    """No request of a visitor, of any route, makes the server ask the Hub for anything."""
    address, asked = hub
    settings = {"HF_ENDPOINT": address, "HF_TOKEN": TOKEN, "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path / "hf")}
    headers = {"x-gradio-history-bucket": "me/bucket"}
    app, client = root / "metrics" / "ood_bench" / "app.py", httpx.Client(timeout=60, headers=headers)
    with serve(app, tmp_path, **settings) as page, client:
        body = {"data": [{"predictions": [0.1, 0.9], "references": [0, 1]}, {}]}
        called = client.post(f"{page}/gradio_api/call/compute", json=body).json()["event_id"]
        assert "event: complete" in client.get(f"{page}/gradio_api/call/compute/{called}").text
        for method, path in sorted(routes - ENDLESS):
            ask: dict[str, Any] = {"params": {"bucket": "me/bucket"}, "json": {"bucket_id": "me/bucket"}}
            with contextlib.suppress(httpx.RemoteProtocolError):  # of the answers to no session
                answer = client.request(method, page + path, **ask)
                assert TOKEN not in answer.text
                assert is_listed(method, path) or answer.status_code in (403, 404), path
    assert asked == []
