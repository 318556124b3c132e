"""The curves and histograms of each category, collapsed if there are many."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...anomaly.aupro import by_limit
from ...arrays.checks import as_fractions
from ..charts import Line, curves_svg, histogram_svg
from ..frame import Section, card, grid, number
from ..frame.blocks import keys_html
from .models import Model

_OPEN = 2  # the most categories that are not collapsed
_COLORS = ("first", "second")


def curves_section(models: Sequence[Model]) -> Section:
    """The section with the models' curves and the scores of images in each group, collapsed if there are many."""
    groups = models[0].run.groups
    bodies = {group: grid(*_cards(group, models), columns=4) for group in groups}
    if len(groups) == 1:
        body = "".join(bodies.values())
    elif len(groups) <= _OPEN:
        body = "".join(f'<div class="curves"><h3>{escape(group)}</h3>{html}</div>' for group, html in bodies.items())
    else:
        body = "".join(
            f'<details class="fold"><summary>{escape(group)}</summary>{html}</details>'
            for group, html in bodies.items()
        )
    lead = f"Every distinct score is a threshold. Histograms: scores of {models[0].name}, with its threshold dashed."
    if len(models) > 1:
        lead = f"Solid: {models[0].name}. Dashed: {models[1].name}. {lead}"
    return Section("Curves", "Curves", body, lead)


def _cards(group: str, models: Sequence[Model]) -> list[str]:
    """Up to four cards: PRO, the ROC of images and of pixels, and the scores of images."""
    limits = as_fractions(models[0].run.results["evaluation"]["options"]["integration_limits"], "integration_limits")
    reaches = by_limit("aupro", limits, limits)
    widest = max(reaches, key=lambda name: reaches[name])
    kinds = {
        "pro": ("Regions covered", "FPR of pixels", widest, reaches[widest]),
        "image_roc": ("Images found", "FPR of images", "image_auroc", 1.0),
        "pixel_roc": ("Pixels found", "FPR of pixels", "pixel_auroc", 1.0),
    }
    cards = []
    for kind, (title, across, key, reach) in kinds.items():
        drawn = [(model, getattr(model.run.curves[group], kind)) for model in models if group in model.run.curves]
        lines = [
            Line(f"{model.name} {_value(model, group, key)}", color, points)
            for (model, points), color in zip(drawn, _COLORS)
            if points
        ]
        if lines:
            values = f"{key} {' · '.join(_value(model, group, key) for model, _ in drawn)}"
            chart = curves_svg("", lines, across, "", reach, said=f"{group}: {title.lower()}, {values}")
            cards.append(card(chart, title=title, note=values))
    return cards + _histogram(group, models[0])


def _histogram(group: str, model: Model) -> list[str]:
    """A histogram of the scores of normal and anomalous images with the threshold; empty if images are not judged."""
    threshold = model.threshold(group, "image")
    if threshold is None:
        return []
    sides = {
        kind: [image.score for image in model.images(group) if image.anomalous == anomalous]
        for kind, anomalous in (("normal", False), ("anomalous", True))
    }
    chart = histogram_svg("", sides, threshold, unit="image", said=f"{group}: scores of images")
    keys = keys_html([("known", "normal", ""), ("unknown", "anomalous", "")])
    return [card(chart, keys, title="Scores of images")] if chart else []


def _value(model: Model, group: str, key: str) -> str:
    table = model.run.results["groups"]
    return number(table[key][table["group"].index(group)])
