"""Examples with prompts are shown as a console's, so that prompts and outputs can be left out when they are copied."""

from __future__ import annotations

import re
from typing import Any

EXAMPLE = re.compile(r"^```python\n(?=>>> )", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Name the language of examples that begin with a prompt."""
    return EXAMPLE.sub("```pycon\n", markdown)
