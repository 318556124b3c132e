"""The places that name each metric, as CONTRIBUTING lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

# what each has to hold, in which NAME, CLASS and TASK are a metric's; in the order of CONTRIBUTING
PLACES: Mapping[str, str] = {
    "shared/loading.py": "import .*CLASS",
    "shared/public.py": '"CLASS"',
    "shared/answers/TASK.py": "import .*CLASS",
    "setup.cfg": r"openworld_metrics\.metrics\.NAME",
    "metrics/NAME/NAME.py": "CLASS as Core",
    "metrics/NAME/README.md": "title: NAME",
    "README.md": "`NAME`",
    "mkdocs.yml": "metrics/NAME.md",
    "docs/metrics/index.md": "`NAME`",
    "docs/building/figures.py": '"NAME"',
    "demo/compute.py": '"NAME"',
    "demo/table.py": '"NAME"',
    "demo/page_examples.py": '"NAME"',
    "metrics/NAME/examples/answers.json": "",
    "metrics/NAME/examples/CREDITS.md": "",
    "metrics/NAME/thumbnail.jpg": "",
    "tests/cases.py": '"NAME"',
    "tests/metric/test_literals.py": '"NAME"',
}


def missing_places(name: str, class_name: str, task: str, root: Path) -> list[str]:
    """The places of a checkout that do not name a metric."""
    words = {"NAME": name, "CLASS": class_name, "TASK": task}

    def filled(text: str) -> str:
        return re.sub("NAME|CLASS|TASK", lambda match: words[match[0]], text)

    def lacks(place: str, pattern: str) -> bool:
        path = root / place
        return not path.is_file() or (bool(pattern) and not re.search(pattern, path.read_text("utf-8")))

    places = {filled(place): filled(pattern) for place, pattern in PLACES.items()}
    return [place for place, pattern in places.items() if lacks(place, pattern)]
