"""The tasks that ask one question about a text; the other one predicts every next byte of it."""

from __future__ import annotations

from types import ModuleType

from scripts.measure import order, retrieval

# Modules with a `model`, `texts`, a `batch`, a `loss` and how to `evaluate`.
ASKED: dict[str, ModuleType] = {"order": order, "retrieval": retrieval}
