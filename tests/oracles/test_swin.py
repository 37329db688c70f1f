"""Swin's index and bias against transformers, for the windows that models have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from posenc.nn.swin import SwinRelativeBias
from posenc.swin import swin_bias, swin_index


def transformers_bias(heads: int, window: int) -> Any:
    """Return the module as transformers has it, its table of size 1."""
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias

    module = SwinRelativePositionBias(heads, (window, window))
    generator = torch.Generator().manual_seed(window)
    torch.nn.init.normal_(module.relative_position_bias_table, generator=generator)
    return module


@pytest.mark.parametrize("window", range(1, 13))
def test_the_index_is_that_of_transformers(window: int) -> None:
    theirs = transformers_bias(1, window).relative_position_index
    np.testing.assert_array_equal(swin_index(window).ravel(), theirs)


@pytest.mark.parametrize("window", range(1, 13))
def test_the_bias_is_that_of_transformers_with_the_same_table(window: int) -> None:
    peer, bias = transformers_bias(3, window), SwinRelativeBias(3, window)
    bias.load_state_dict({"table": peer.relative_position_bias_table})
    theirs = peer()[0]
    assert torch.equal(bias(), theirs)
    table = peer.relative_position_bias_table.detach().numpy()
    np.testing.assert_array_equal(swin_bias(table, window), theirs.detach())
