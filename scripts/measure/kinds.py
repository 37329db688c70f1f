"""The two kinds of task: predicting every next byte of a text, and answering one question."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from scripts.measure import far, further, language, order, reevaluate, renumbered, retrieval

# How the trained model is evaluated; `language` has the model, the windows and the loss of both.
READ: dict[str, Callable[..., dict[str, dict[str, Any]]]] = {
    "language": language.evaluate_all,
    "again": reevaluate.evaluate_all,
    "renumbered": renumbered.evaluate_all,
    "further": further.evaluate_all,
}
# Modules with a `model`, `texts`, a `batch`, a `loss` and how to `evaluate`.
ASKED: dict[str, ModuleType] = {
    "order": order,
    "retrieval": retrieval,
    "further_retrieval": retrieval,
    "far": far,
}
