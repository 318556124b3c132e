"""The section on decisions: a table for images, and bars by category and kind of defect."""

from __future__ import annotations

from collections.abc import Sequence

from ...suites.anomaly import ScoredImage
from ..frame import Part, Section, card, grid, matrix, share_bar
from .models import Model

_FULL = 2  # the most categories that get a card each, with a bar for each kind of defect
_WORST = 4  # categories to show if there are more
_CALLED = ("called anomalous", "called normal")


def decisions_section(model: Model) -> Section:
    """The decisions of a model on the images of its groups; empty if images are not judged."""
    groups = [group for group in model.run.groups if model.threshold(group, "image") is not None]
    if not groups:
        return Section("Decisions", "Decisions", "")
    rows = {
        name: [sum(_called(model, group, anomalous, called) for group in groups) for called in (True, False)]
        for name, anomalous in (("Anomalous", True), ("Normal", False))
    }
    table = matrix(
        rows,
        _CALLED,
        "Decisions on images",
        colors={(row, column): color for row, color in _COLORS.items() for column in _CALLED},
        right={("Anomalous", _CALLED[0]), ("Normal", _CALLED[1])},
        notes={name: f"{sum(counts):,}" for name, counts in rows.items()},
    )
    (detected, missed), (alarms, kept) = rows.values()
    every = "All images" if len(groups) == 1 else "Both" if len(groups) == 2 else f"All {len(groups)}"
    cards = [card(table, title=every)]
    if len(groups) <= _FULL:
        cards += [_card_of(model, group) for group in groups]
    else:
        cards += [_worst_card(model, groups, anomalous=side) for side in (True, False)]
    each = "each category" if len(groups) > 1 else groups[0]
    lead = (
        f"{model.name}, {each} at {model.thresholds_in_words}: {missed:,} of {detected + missed:,} defects are missed, "
        f"{alarms:,} of {alarms + kept:,} normal images are false alarms."
    )
    if len({group.partition("/")[0] for group in groups}) < len(groups):
        lead += " Normal images count once in each group of their category, at its threshold."
    body = grid(*cards, columns=min(3, len(cards)))
    if len(groups) > _FULL:
        each_of = grid(*(_card_of(model, group) for group in groups), columns=3)
        body += f'<details class="fold"><summary>Each of the {len(groups)} categories</summary>{each_of}</details>'
    return Section("Decisions", "Decisions", body, lead)


_COLORS = {"Anomalous": "unknown", "Normal": "known"}


def _called(model: Model, group: str, anomalous: bool, called: bool) -> int:
    threshold = model.threshold(group, "image")
    return sum(
        image.anomalous == anomalous and (threshold is not None and image.score > threshold) == called
        for image in model.images(group)
    )


def _card_of(model: Model, group: str) -> str:
    """A card with a bar for each kind of defect, and one for normal images."""
    images = model.images(group)
    kinds = sorted({image.image.defect for image in images if image.anomalous})
    bars = [
        _bar(
            model,
            group,
            kind or "anomalous",
            [image for image in images if image.anomalous and image.image.defect == kind],
        )
        for kind in kinds
    ]
    bars.append(_bar(model, group, "normal", [image for image in images if not image.anomalous]))
    text = model.threshold_text(group)
    return card(*bars, title=group, note=f"anomalous if score > {text}" if text else "")


def _worst_card(model: Model, groups: Sequence[str], *, anomalous: bool) -> str:
    """A card of the categories with the highest rates of missed defects, or of false alarms."""

    def share(group: str) -> float:
        images = [image for image in model.images(group) if image.anomalous == anomalous]
        return sum(not model.right(group, image) for image in images) / max(1, len(images))

    worst = sorted(groups, key=share, reverse=True)[:_WORST]
    bars = [
        _bar(model, group, group, [image for image in model.images(group) if image.anomalous == anomalous])
        for group in worst
    ]
    title = "Most defects missed" if anomalous else "Most false alarms"
    return card(*bars, title=title, note=f"{len(worst)} of {len(groups)} categories")


def _bar(model: Model, group: str, name: str, images: Sequence[ScoredImage]) -> str:
    """A bar with the number of images on one side that are called anomalous."""
    threshold = model.threshold(group, "image")
    called = sum(threshold is not None and image.score > threshold for image in images)
    anomalous = any(image.anomalous for image in images)
    words, color = ("found", "unknown") if anomalous else ("false alarms", "known")
    other = "missed" if anomalous else "called normal"
    parts = [Part(words, called, color), Part(other, len(images) - called, f"{color}-soft")]
    return share_bar(name, f"{called:,} of {len(images):,} {words}", parts)
