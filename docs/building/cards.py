"""Generate a page for each metric from its card, metrics/<name>/README.md, with formulas as MathML for browsers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from latex2mathml.converter import convert
from mkdocs.structure.files import File

from openworld_metrics.reading.read import takes

ROOT = Path(__file__).resolve().parents[2]
# guides answer questions, but pages of many small parts would rank first
BOOSTS = {"get-started": 4, "choose": 4, "guides/": 3, "coming-from": 3, "exactness": 2, "metrics/": 2, "api/": 0.2}
FORMULA = re.compile(r"^\$\$\n(.*?)^\$\$$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    """The card of a metric as a page: with its short description in the title, its figure's place, and its files."""
    _, front, text = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    title = f"# {name}: {yaml.safe_load(front)['short_description']}"  # titles rank first in the search
    text = text.replace(f"# Metric Card for {name}", title, 1)
    text = text.replace("## How to Use", f'<div data-figure="{name}"></div>\n\n## How to Use', 1)
    return f"{text.rstrip()}\n\n## Files\n\n{takes(name)}\n"


def on_files(files: Any, config: Any) -> Any:
    """Add the pages of the metrics."""
    for card in sorted((ROOT / "metrics").glob("*/README.md")):
        name = card.parent.name
        files.append(File.generated(config, f"metrics/{name}.md", content=page(name)))
    return files


def on_config(config: Any) -> Any:
    """Append guides that are not in the navigation to the ones that are."""
    guides = next(part["Guides"] for part in config.nav if "Guides" in part)
    named = {path for guide in guides for path in guide.values()}
    pages = sorted(f"guides/{page.name}" for page in (ROOT / "docs" / "guides").glob("*.md"))
    guides.extend(path for path in pages if path not in named)
    return config


def on_serve(server: Any, config: Any, builder: Any) -> Any:
    """Also watch the cards and the package."""
    for folder in ("metrics", "shared"):
        server.watch(str(ROOT / folder))
    return server


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Convert formulas between lines of $$, and set the page's rank in the search."""
    boost = next((boost for start, boost in BOOSTS.items() if page.file.src_uri.startswith(start)), 1)
    page.meta.setdefault("search", {"boost": boost})
    return FORMULA.sub(lambda formula: f'<div class="formula">{mathml(formula[1])}</div>', markdown)


def mathml(formula: str) -> str:
    """A LaTeX formula as MathML on one line."""
    return convert(formula, display="block").replace("\n", " ")
