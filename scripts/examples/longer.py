"""The setting that lets a rotary model of transformers 5 read longer sequences than in training."""

from __future__ import annotations

from typing import Any


def with_yarn(config: Any, trained: int, length: int) -> Any:
    """Return the configuration of a model with one base, set to read `length` tokens with YaRN."""
    config.rope_parameters = config.rope_parameters | {  # rope_theta stays
        "rope_type": "yarn",
        "factor": length / trained,
        "original_max_position_embeddings": trained,
    }
    config.max_position_embeddings = length
    return config
