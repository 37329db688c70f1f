"""Diffusion transformers of diffusers are read as axes, or refused by the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from posenc import frequencies, read_config


def named(kind: str, **entries: Any) -> dict[str, Any]:
    """Return a configuration of diffusers."""
    return {"_class_name": kind} | entries


@pytest.mark.parametrize(
    ("config", "widths", "base"),
    [
        (named("FluxTransformer2DModel", num_layers=19), (16, 56, 56), 1e4),
        (named("FluxTransformer2DModel", axes_dims_rope=[32, 48, 48]), (32, 48, 48), 1e4),
        (named("Flux2Transformer2DModel", attention_head_dim=128), (32, 32, 32, 32), 2000),
        (named("HunyuanVideoTransformer3DModel", rope_theta=512), (16, 56, 56), 512),
        (named("ZImageTransformer2DModel", axes_dims=[16, 16]), (16, 16), 256),
        (named("WanTransformer3DModel", attention_head_dim=128), (44, 42, 42), 1e4),
        (named("WanTransformer3DModel"), (44, 42, 42), 1e4),
        (
            named("CogVideoXTransformer3DModel", use_rotary_positional_embeddings=True),
            (16, 24, 24),
            1e4,
        ),
    ],
)
def test_each_axis_has_the_frequencies_of_a_head_as_wide_as_its_part(
    config: dict[str, Any], widths: tuple[int, ...], base: float
) -> None:
    found = read_config(config)
    assert (found.scheme, found.d, found.layout) == ("axial", sum(widths), "interleaved")
    assert found.settings == {"widths": widths}
    assert found.sections == tuple(width // 2 for width in widths)
    expected = np.concatenate([frequencies(width, base=base) for width in widths])
    np.testing.assert_array_equal(found.frequencies(), expected)
    assert found.trained_length is None


def test_all_layers_rotate() -> None:
    found = read_config(named("FluxTransformer2DModel", num_layers=3))
    assert (found.rotates, found.layers) == (True, (0, 1, 2))
    assert found.notes[0].startswith("A diffusion transformer: each axis")


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (named("LTXVideoTransformer3DModel"), "which spaces its frequencies evenly in their log"),
        (named("LTX2VideoTransformer3DModel"), "which spaces its frequencies evenly in their log"),
        (
            named("Transformer3DModel", positional_embedding_theta=1e4),
            "which spaces its frequencies evenly in their log",
        ),
        (named("SD3Transformer2DModel"), "which adds sinusoids to the patches and does not rotate"),
        (named("MochiTransformer3DModel"), "learns the frequencies of its axes: see Diffusion"),
        (named("UNet2DConditionModel"), "which is not among the classes whose axes are known"),
        (named("CogVideoXTransformer3DModel"), "must be true with CogVideoX"),
        (
            named(
                "CogVideoXTransformer3DModel",
                attention_head_dim=40,
                use_rotary_positional_embeddings=True,
            ),
            "attention_head_dim must be a multiple of 16; got 40",
        ),
        (named("WanTransformer3DModel", attention_head_dim=127), "a multiple of 2; got 127"),
        (
            named("FluxTransformer2DModel", attention_head_dim=64),
            "axes_dims_rope must add up to attention_head_dim, 64; got 128",
        ),
        (named("FluxTransformer2DModel", axes_dims_rope=[16, 57]), "even integers, 2 or more; got"),
        (named("FluxTransformer2DModel", axes_dims_rope=[True]), "even integers, 2 or more; got"),
        (named("FluxTransformer2DModel", axes_dims_rope=[]), "must be a list of integers; got"),
        (named("FluxTransformer2DModel", axes_dims_rope=16), "must be a list of integers; got 16"),
        (
            {"model_type": "diffusers", "head_dim": 64, "axes_dims_rope": [16, 16]},
            "head_dim and the sum of axes_dims_rope must agree",
        ),
    ],
)
def test_what_has_no_such_axes_is_refused_by_the_reason(config: dict[str, Any], said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        read_config(config)
