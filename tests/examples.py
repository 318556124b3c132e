"""How many examples hypothesis draws, and from what: each is the seed of a random case."""

from __future__ import annotations

from hypothesis import HealthCheck, settings, strategies as st

many = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
few = settings(many, max_examples=5)
seeds = st.integers(0, 2**32)
