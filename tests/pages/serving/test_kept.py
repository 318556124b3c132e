"""What a page keeps between two events."""

from __future__ import annotations

import numpy as np

from openworld_metrics.pages.serving import kept


def test_what_is_kept_is_bounded() -> None:
    """By number and by memory; a token that is not known gives nothing, and one's own is replaced."""
    store = kept.Kept(most=2, most_bytes=10_000)
    first = store.put(np.zeros(100))
    second = store.put(np.zeros(100), old=first)
    assert store.get(first) is None
    third = store.put([np.zeros(1000), np.zeros(100)])
    assert store.get(second) is not None
    assert store.get(third) is not None
    assert store.get(store.put(np.zeros(5000))) is None, "too large to be kept"
    fourth = store.put({"a": np.zeros(500)})
    assert (store.get(second), store.get(fourth)["a"].shape) == (None, (500,))
    assert store.get("") is None
