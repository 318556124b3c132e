"""Mark examples with prompts as console sessions, so that copying leaves out prompts and outputs."""

from __future__ import annotations

import re
from typing import Any

EXAMPLE = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Set the language of examples that begin with a prompt."""
    return EXAMPLE.sub("```pycon\n", markdown)
