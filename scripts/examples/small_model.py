"""A model to diagnose: `python -m posenc diagnose scripts.examples.small_model:model`."""

from __future__ import annotations

import torch

from posenc import nn


def model() -> nn.GPTModel:
    """Return a small GPT with rotary positions, as it is before training."""
    torch.manual_seed(0)
    return nn.GPTModel(**nn.create_model_config("tiny"), pos_type="rope")
