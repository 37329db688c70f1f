"""The setting that lets a rotary model of transformers 5 read longer sequences than in training."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import PreTrainedConfig


# The quotation marks let readers copy the function without an import.
def with_yarn(config: "PreTrainedConfig", trained: int, length: int) -> "PreTrainedConfig":
    """Return the configuration of a model with one base, set to read `length` tokens with YaRN."""
    config.rope_parameters = config.rope_parameters | {  # rope_theta stays
        "rope_type": "yarn",
        "factor": length / trained,
        "original_max_position_embeddings": trained,
    }
    config.max_position_embeddings = length
    return config
