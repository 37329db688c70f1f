"""Learned positions as other libraries read, scale and resize their tables."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch

from posenc.nn import LearnedPositionalEmbedding


@pytest.mark.parametrize("name", ["Bart", "MBart", "OPT"])
def test_position_0_is_row_2_of_bart_mbart_and_opt(name: str) -> None:
    family = importlib.import_module(f"transformers.models.{name.lower()}.modeling_{name.lower()}")
    peer: Any = getattr(family, f"{name}LearnedPositionalEmbedding")(6, 4)
    assert peer.weight.shape == (6 + 2, 4)
    expected = peer(torch.ones(1, 3, dtype=torch.long))  # ids for two of them, a mask for OPT
    layer = LearnedPositionalEmbedding(6, 4)
    layer.embedding.load_state_dict({"weight": peer.weight[2:]})
    torch.testing.assert_close(expected.reshape(3, 4), layer(3), rtol=0, atol=0)


def test_x_transformers_divides_its_learned_rows_by_the_root_of_the_width() -> None:
    module = importlib.import_module("x_transformers.x_transformers")
    peer = module.AbsolutePositionalEmbedding(16, 6)
    layer = LearnedPositionalEmbedding(6, 16)
    layer.embedding.load_state_dict(peer.emb.state_dict())
    torch.testing.assert_close(peer(torch.zeros(1, 3)), layer(3) / 4, rtol=0, atol=0)


def test_vit_resizes_by_cubics_that_do_not_keep_the_corners() -> None:
    """A grid of 4 × 4 rows to one of 8 × 8, beside PyTorch's four ways to do it."""
    from transformers import ViTConfig
    from transformers.models.vit.modeling_vit import ViTEmbeddings

    peer = ViTEmbeddings(ViTConfig(image_size=16, patch_size=4, hidden_size=8))
    torch.nn.init.normal_(peer.position_embeddings)
    wide = torch.zeros(1, 8 * 8 + 1, 8)
    expected = peer.interpolate_pos_encoding(wide, 32, 32)[0, 1:]
    grid = peer.position_embeddings[:, 1:].reshape(1, 4, 4, 8).permute(0, 3, 1, 2)
    same = {
        (mode, kept)
        for mode in ("bilinear", "bicubic")
        for kept in (True, False)
        if torch.allclose(
            torch.nn.functional.interpolate(grid, size=(8, 8), mode=mode, align_corners=kept)[0]
            .permute(1, 2, 0)
            .reshape(64, 8),
            expected,
            atol=1e-6,
        )
    }
    assert same == {("bicubic", False)}
