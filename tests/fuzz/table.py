"""All targets by their names."""

from __future__ import annotations

from tests.fuzz import readers
from tests.fuzz.engine import Target

TARGETS: dict[str, Target] = {target.name: target for target in (*readers.TARGETS,)}
