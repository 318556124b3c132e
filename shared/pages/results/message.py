"""Errors and notes as HTML."""

from __future__ import annotations

import html


def message(text: str, kind: str = "error") -> str:
    """A box with an error, which screen readers announce, or with a note; "" for an empty text."""
    role = "alert" if kind == "error" else "status"
    return f'<div class="message {kind}" role="{role}">{html.escape(text)}</div>' if text else ""
