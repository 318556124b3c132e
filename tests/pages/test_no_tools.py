"""Pages are no MCP tools: gradio would open, and copy to its uploads, any file of the server that a call names."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

serving = pytest.importorskip("openworld_metrics.pages.serving.launch")


def test_no_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_MCP_SERVER", "True")
    given: dict[str, Any] = {}
    serving.launch(SimpleNamespace(blocks={}, launch=lambda **settings: given.update(settings)))
    assert given["mcp_server"] is False
