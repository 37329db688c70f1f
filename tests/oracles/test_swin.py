"""Swin's index and bias against transformers, for the window sizes that models use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from posenc.nn.swin import SwinRelativeBias
from posenc.scores.swin import swin_bias, swin_index


def transformers_bias(heads: int, window: int) -> Any:
    """Return transformers' module with a standard normal table."""
    from transformers.models.swin.modeling_swin import SwinRelativePositionBias

    module = SwinRelativePositionBias(heads, (window, window))
    generator = torch.Generator().manual_seed(window)
    torch.nn.init.normal_(module.relative_position_bias_table, generator=generator)
    return module


@pytest.mark.parametrize("window", range(1, 13))
def test_the_index_is_that_of_transformers(window: int) -> None:
    expected = transformers_bias(1, window).relative_position_index
    np.testing.assert_array_equal(swin_index(window).ravel(), expected)


@pytest.mark.parametrize("window", range(1, 13))
def test_swins_bias_is_that_of_transformers_with_the_same_table(window: int) -> None:
    peer, bias = transformers_bias(3, window), SwinRelativeBias(3, window)
    bias.load_state_dict({"table": peer.relative_position_bias_table})
    expected = peer()[0]
    assert torch.equal(bias(), expected)
    table = peer.relative_position_bias_table.detach().numpy()
    np.testing.assert_array_equal(swin_bias(table, window), expected.detach())


def test_the_table_has_another_key_in_transformers_and_the_same_rows() -> None:
    peer, bias = transformers_bias(3, 4), SwinRelativeBias(3, 4)
    assert list(peer.state_dict()) == ["relative_position_bias_table"]
    assert list(bias.state_dict()) == ["table"]
    assert peer.relative_position_bias_table.shape == bias.table.shape


@pytest.mark.parametrize("window", range(1, 13))
def test_beit_has_the_same_index_and_three_rows_more_for_its_class_token(window: int) -> None:
    from transformers import BeitConfig
    from transformers.models.beit.modeling_beit import BeitRelativePositionBias

    config = BeitConfig(image_size=4 * window, patch_size=4, num_attention_heads=3, hidden_size=12)
    peer = BeitRelativePositionBias(config)
    index = peer.generate_relative_position_index((window, window))
    np.testing.assert_array_equal(index[1:, 1:], swin_index(window))
    rows = (2 * window - 1) ** 2
    assert len(peer.relative_position_bias_table) == rows + 3
    assert sorted({*index[0].tolist(), *index[:, 0].tolist()}) == [rows, rows + 1, rows + 2]
