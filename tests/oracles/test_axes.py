"""Positions in images and videos against timm, diffusers, transformers and rotary-embedding-torch.

Whole tensors are compared. Each test also shows that what libraries do differently makes another
tensor, so that none of them passes for want of a difference.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from posenc import (
    apply_rope_nd,
    axial_frequencies,
    frequencies,
    grid_positions,
    mrope_frequencies,
    mrope_positions,
    sinusoidal_encoding_nd,
)
from tests.oracles.libraries import Array, assert_other, assert_same, in_transformers, library

SIZES = [(3, 5), (4, 4), (1, 7)]


# Sinusoids


@pytest.mark.parametrize("size", SIZES)
def test_detr_puts_rows_first_counts_from_one_and_alternates(size: tuple[int, int]) -> None:
    module = in_transformers("detr", "DetrSinePositionEmbedding")(num_position_features=8)
    rows = module(torch.Size([1, 3, *size]), "cpu", torch.float32)[0].flatten(1).T
    points = grid_positions(size) + 1
    assert_same(sinusoidal_encoding_nd(points, 16), rows)
    for other in (points - 1, points[:, ::-1]):
        assert_other(sinusoidal_encoding_nd(other, 16), rows)
    assert_other(sinusoidal_encoding_nd(points, 16, order="halves"), rows)


@pytest.mark.parametrize("size", SIZES)
def test_detr_as_released_stretches_every_image_to_one_turn(size: tuple[int, int]) -> None:
    embedding = in_transformers("detr", "DetrSinePositionEmbedding")(8, normalize=True)
    rows = embedding(torch.Size([1, 3, *size]), "cpu", torch.float32)
    points = (grid_positions(size) + 1) * 2 * np.pi / (np.array(size) + 1e-6)
    assert_same(sinusoidal_encoding_nd(points, 16), rows[0].flatten(1).T)
    assert points.max() == pytest.approx(2 * np.pi, abs=1e-5)


def test_detr_does_not_count_what_a_mask_hides() -> None:
    mask = torch.ones(1, 4, 6)
    mask[:, 3:], mask[:, :, 4:] = 0, 0
    module = in_transformers("detr", "DetrSinePositionEmbedding")(8)
    rows = module(torch.Size([1, 3, 4, 6]), "cpu", torch.float32, mask)[0].flatten(1).T
    points = np.minimum(grid_positions((4, 6)) + 1, (3, 4))
    visible = mask.flatten().bool().numpy()
    assert_same(sinusoidal_encoding_nd(points, 16)[visible], rows[visible])


def test_mae_puts_columns_first_with_all_sines_of_an_axis_before_its_cosines() -> None:
    config = library("transformers", "ViTMAEConfig")(
        image_size=20, patch_size=4, hidden_size=16, num_attention_heads=2
    )
    embeddings = in_transformers("vit_mae", "ViTMAEEmbeddings")(config)
    embeddings.initialize_weights()
    rows = embeddings.position_embeddings[0].detach()
    points = grid_positions((5, 5))
    assert_same(sinusoidal_encoding_nd(points[:, ::-1], 16, order="halves"), rows[1:])
    assert_other(sinusoidal_encoding_nd(points, 16, order="halves"), rows[1:])
    assert (rows[0] == 0).all()  # the class token has no position


def test_omdet_turbo_lists_places_column_by_column() -> None:
    build = in_transformers(
        "omdet_turbo", "OmDetTurboHybridEncoder"
    ).build_2d_sincos_position_embedding
    for height, width in SIZES:
        rows = build(width, height, 16)[0]
        points = grid_positions((width, height))  # the column runs slowest
        assert_same(sinusoidal_encoding_nd(points, 16, order="halves"), rows)
    # For patches that come row by row, a square then has rows first.
    square = build(4, 4, 16)[0]
    by_rows = grid_positions((4, 4))
    assert_same(sinusoidal_encoding_nd(by_rows, 16, order="halves"), square)
    assert_other(sinusoidal_encoding_nd(by_rows[:, ::-1], 16, order="halves"), square)


@pytest.mark.slow  # needs a library that only `make test-all` installs
@pytest.mark.parametrize("size", SIZES)
def test_diffusers_has_maes_order_and_scales_positions_to_a_base_size(
    size: tuple[int, int],
) -> None:
    create = library("diffusers.models.embeddings", "get_2d_sincos_pos_embed")
    for base_size, scale in ((16, 1.0), (8, 2.0)):
        rows = create(16, size, base_size=base_size, interpolation_scale=scale, output_type="pt")
        points = grid_positions(size) * base_size / np.array(size) / scale
        assert_same(sinusoidal_encoding_nd(points[:, ::-1], 16, order="halves"), rows)


def test_another_base_gives_the_exponents_that_end_at_one_ten_thousandth() -> None:
    """The exponent i/(n − 1) of Big Vision's and SimpleViT's sinusoids, written out."""
    pairs = 4
    base = 10000.0 ** (pairs / (pairs - 1))
    omega = 10000.0 ** (-np.arange(pairs) / (pairs - 1))
    np.testing.assert_allclose(frequencies(2 * pairs, base=base), omega, rtol=1e-14)
    points = grid_positions((3, 5))[:, ::-1]
    columns, rows = (points[:, axis, np.newaxis] * omega for axis in (0, 1))
    expected = [np.sin(columns), np.cos(columns), np.sin(rows), np.cos(rows)]
    ours = sinusoidal_encoding_nd(points, 16, order="halves", base=base)
    assert_same(ours, np.concatenate(expected, axis=1), atol=1e-14)


# Axial and mixed RoPE

X = np.random.default_rng(0).standard_normal((2, 3, 15, 16)).astype(np.float32)
PLACES = grid_positions((3, 5))


def test_llama_4_counts_columns_first_from_one_and_leaves_the_class_token() -> None:
    config = library("transformers", "Llama4VisionConfig")(
        hidden_size=32, num_attention_heads=2, image_size=16, patch_size=4
    )
    peer = in_transformers("llama4", "Llama4VisionRotaryEmbedding")(config)
    x = np.random.default_rng(2).standard_normal((1, 2, 17, 16)).astype(np.float32)
    rotate = in_transformers("llama4", "vision_apply_rotary_emb")
    by_length = torch.from_numpy(x).transpose(1, 2)
    expected = rotate(by_length, by_length, peer(by_length))[0].transpose(1, 2)
    points = np.concatenate([grid_positions((4, 4))[:, ::-1] + 1, [[0, 0]]])
    omega = axial_frequencies(16, base=config.rope_parameters["rope_theta"])
    assert_same(apply_rope_nd(x, points, omega), expected)
    assert_same(x[:, :, -1], expected[:, :, -1], atol=0)
    assert_other(apply_rope_nd(x, points[:, ::-1], omega), expected)


def pixtral_frequencies(d: int, base: float) -> Array:
    """Return RoPE's frequencies dealt out: the even ones to rows, the odd ones to columns."""
    omega = frequencies(d, base=base)
    table = np.zeros((2, d // 2))
    table[0, : d // 4], table[1, d // 4 :] = omega[0::2], omega[1::2]
    return table


def test_pixtral_deals_the_frequencies_of_one_head_out_to_two_axes() -> None:
    config = library("transformers", "PixtralVisionConfig")(hidden_size=32, num_attention_heads=2)
    peer = in_transformers("pixtral", "PixtralVisionRotaryEmbedding")(config)
    x = torch.from_numpy(X)
    cos, sin = peer(x, torch.from_numpy(PLACES))
    expected = in_transformers("pixtral", "apply_rotary_pos_emb")(x, x, cos, sin, 0)[0]
    base = config.rope_parameters["rope_theta"]
    omega = pixtral_frequencies(16, base)
    assert_same(apply_rope_nd(X, PLACES, omega, layout="half"), expected)
    same = axial_frequencies(16, base=base)
    np.testing.assert_array_equal(same[0, :4], omega[0, :4])  # rows alike, columns slower
    assert_other(apply_rope_nd(X, PLACES, same, layout="half"), expected)


def test_qwen2_vls_vision_tower_is_axial_with_pairs_across_the_head() -> None:
    config = library("transformers.models.qwen2_vl.configuration_qwen2_vl", "Qwen2VLVisionConfig")(
        embed_dim=16, num_heads=1
    )
    peer = in_transformers("qwen2_vl", "Qwen2VLVisionRotaryEmbedding")(config)
    heads = torch.from_numpy(X[0]).transpose(0, 1)
    cos, sin = peer(heads, torch.from_numpy(PLACES))
    rotate = in_transformers("qwen2_vl", "apply_rotary_pos_emb_vision")
    expected = rotate(heads, heads, cos, sin)[0].transpose(0, 1)
    omega = axial_frequencies(16)
    assert_same(apply_rope_nd(X[0], PLACES, omega, layout="half"), expected)
    assert_other(apply_rope_nd(X[0], PLACES, omega), expected)


def test_dinov3_measures_from_the_centre_and_in_turns_of_the_image() -> None:
    config = library("transformers", "DINOv3ViTConfig")(
        hidden_size=16, num_attention_heads=1, image_size=32, patch_size=4
    )
    peer = in_transformers("dinov3_vit", "DINOv3ViTRopePositionEmbedding")(config).eval()
    cos, sin = peer(torch.zeros(1, 3, 12, 20))
    x = torch.from_numpy(X)
    expected = x * cos + torch.cat([-x[..., 8:], x[..., :8]], -1) * sin
    points = 2 * np.pi * ((PLACES + 0.5) / (3, 5) * 2 - 1)
    omega = axial_frequencies(16, base=config.rope_theta)
    assert_same(apply_rope_nd(X, points, omega, layout="half"), expected, atol=1e-5)


def test_dinov3_scales_all_coordinates_by_one_factor_in_training_and_by_none_otherwise() -> None:
    config = library("transformers", "DINOv3ViTConfig")(
        hidden_size=16, num_attention_heads=1, image_size=32, patch_size=4
    )
    peer = in_transformers("dinov3_vit", "DINOv3ViTRopePositionEmbedding")(config)
    omega = axial_frequencies(16, base=config.rope_theta)
    points = 2 * np.pi * ((PLACES + 0.5) / (3, 5) * 2 - 1)
    image, factors = torch.zeros(1, 3, 12, 20), []
    for seed in range(40):
        torch.manual_seed(seed)
        _, sine = peer.train()(image)
        factor = np.arcsin(sine[0, 3].item()) / (points[0, 0] * omega[0, 3])
        factors.append(factor)
        expected = np.sin(factor * points @ omega)
        np.testing.assert_allclose(sine[:, :8], expected, atol=1e-4)
    assert 0.5 <= min(factors) < 0.75
    assert 1.5 < max(factors) <= 2
    np.testing.assert_allclose(peer.eval()(image)[1][:, :8], np.sin(points @ omega), atol=1e-5)


def test_rotary_embedding_torch_is_axial_with_neighbours() -> None:
    module = library("rotary_embedding_torch", "RotaryEmbedding")(8)
    table = module.get_axial_freqs(3, 5).flatten(0, 1)
    apply = library("rotary_embedding_torch", "apply_rotary_emb")
    expected = apply(table, torch.from_numpy(X)).detach()
    assert_same(apply_rope_nd(X, PLACES, axial_frequencies(16)), expected)


def test_three_axes_of_rotary_embedding_torch_are_ours() -> None:
    module = library("rotary_embedding_torch", "RotaryEmbedding")(8)
    table = module.get_axial_freqs(2, 3, 4).flatten(0, 2)
    x = np.random.default_rng(3).standard_normal((1, 1, 24, 24)).astype(np.float32)
    apply = library("rotary_embedding_torch", "apply_rotary_emb")
    expected = apply(table, torch.from_numpy(x)).detach()
    points = grid_positions((2, 3, 4))
    assert_same(apply_rope_nd(x, points, axial_frequencies(24, 3)), expected)


# M-RoPE

MROPE = {
    "qwen2_vl": ("Qwen2VLRotaryEmbedding", "Qwen2VLTextConfig", False),
    "qwen2_5_vl": ("Qwen2_5_VLRotaryEmbedding", "Qwen2_5_VLTextConfig", False),
    "qwen3_vl": ("Qwen3VLTextRotaryEmbedding", "Qwen3VLTextConfig", True),
}


@pytest.mark.parametrize(
    ("model", "sections"),
    [
        ("qwen2_vl", [16, 24, 24]),
        ("qwen2_vl", [24, 20, 20]),
        ("qwen2_5_vl", [16, 24, 24]),
        ("qwen3_vl", [24, 20, 20]),
    ],
)
def test_mrope_is_that_of_three_generations(model: str, sections: list[int]) -> None:
    named, configured, interleaved = MROPE[model]
    config = library(f"transformers.models.{model}.configuration_{model}", configured)(
        hidden_size=256,
        num_attention_heads=2,
        head_dim=128,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6, "mrope_section": sections},
    )
    peer = in_transformers(model, named)(config)
    positions = mrope_positions([3, (1, 4, 6), 2, (3, 2, 2), 2])
    x = np.random.default_rng(4).standard_normal((1, 2, len(positions), 128)).astype(np.float32)
    heads = torch.from_numpy(x)
    cos, sin = peer(heads, torch.from_numpy(positions).T[:, None])
    expected = in_transformers(model, "apply_rotary_pos_emb")(heads, heads, cos, sin)[0]
    omega = mrope_frequencies(128, sections, base=1e6, interleaved=interleaved)
    assert_same(apply_rope_nd(x, positions, omega, layout="half"), expected, atol=1e-5)
    if sections == [24, 20, 20]:
        other = mrope_frequencies(128, sections, base=1e6, interleaved=not interleaved)
        assert_other(apply_rope_nd(x, positions, other, layout="half"), expected)


TOWERS = {
    "qwen2_vl": ("Qwen2VLVisionConfig", "Qwen2VisionTransformerPretrainedModel"),
    "qwen2_5_vl": ("Qwen2_5_VLVisionConfig", "Qwen2_5_VisionTransformerPretrainedModel"),
    "qwen3_vl": ("Qwen3VLVisionConfig", "Qwen3VLVisionModel"),
}


@pytest.mark.slow
@pytest.mark.parametrize("model", TOWERS)
def test_a_frame_of_a_model_covers_two_pictures_by_default(model: str) -> None:
    configured, named = TOWERS[model]
    config = library(f"transformers.models.{model}.configuration_{model}", configured)(depth=0)
    torch.manual_seed(0)
    embed = in_transformers(model, named)(config).patch_embed
    size = config.patch_size
    pictures = torch.rand(6, 3, size, size)  # one patch of each picture
    other = pictures.clone()
    other[3] += 1
    embedded, changed = (
        embed(each.reshape(3, 2, 3, size, size).swapaxes(1, 2).flatten(1))
        for each in (pictures, other)
    )
    assert len(embedded) == 3
    assert (embedded != changed).any(dim=1).tolist() == [False, True, False]


MERGE = 2
Part = int | tuple[int, int, int]


def model_without_weights(model: str) -> Any:
    """Return a model of transformers that can compute positions and nothing else."""
    name = {"qwen2_vl": "Qwen2VL", "qwen2_5_vl": "Qwen2_5_VL", "qwen3_vl": "Qwen3VL"}[model]
    peer = object.__new__(in_transformers(model, f"{name}Model"))
    torch.nn.Module.__init__(peer)
    peer.config = library("transformers", f"{name}Config")()
    peer.config.vision_config.spatial_merge_size = MERGE
    return peer


def rope_index(
    model: str, parts: list[Part], seconds: list[float] | None = None
) -> tuple[Array, int]:
    """Return the positions that a model assigns, (length, 3), and its delta."""
    peer = model_without_weights(model)
    kinds: list[int] = []
    images: list[list[int]] = []
    videos: list[list[int]] = []
    for part in parts:
        if isinstance(part, int):
            kinds += [0] * part
            continue
        kinds += [1 if part[0] == 1 else 2] * math.prod(part)
        grid = [part[0], part[1] * MERGE, part[2] * MERGE]
        (images if part[0] == 1 else videos).append(grid)
    more = {} if seconds is None else {"second_per_grid_ts": seconds}
    types = torch.tensor([kinds])
    positions, delta = peer.get_rope_index(
        torch.zeros_like(types),
        mm_token_type_ids=types,
        image_grid_thw=torch.tensor(images) if images else None,
        video_grid_thw=torch.tensor(videos) if videos else None,
        **more,
    )
    return positions[:, 0].T.numpy(), int(delta)


TEXTS_AND_IMAGES: list[list[Part]] = [
    [5],
    [(1, 2, 3), 4],
    [2, (1, 4, 6), 3, (1, 5, 1), 1],
    [1, (1, 1, 1), 1, (1, 8, 2), 2],
]


@pytest.mark.parametrize("parts", TEXTS_AND_IMAGES, ids=str)
@pytest.mark.parametrize("model", MROPE)
def test_text_and_images_have_the_positions_of_the_processors(
    model: str, parts: list[Part]
) -> None:
    expected, delta = rope_index(model, parts)
    ours = mrope_positions(parts)
    np.testing.assert_array_equal(ours, expected)
    assert int(ours.max()) + 1 == len(ours) + delta


@pytest.mark.parametrize("seconds", [0.5, 1.0, 2.0, 1.75])
def test_videos_of_qwen2_5_vl_have_frames_apart_by_their_seconds(seconds: float) -> None:
    parts: list[Part] = [2, (4, 2, 3), 3, (1, 2, 2), 1, (2, 3, 3), 2]
    expected, _ = rope_index("qwen2_5_vl", parts, [seconds, 3.0])
    per_second = library("transformers", "Qwen2_5_VLConfig")().vision_config.tokens_per_second
    intervals = [per_second * seconds, 1, per_second * 3.0]
    np.testing.assert_array_equal(
        mrope_positions(parts, intervals=intervals, after="sides"), expected
    )


def test_videos_of_qwen2_vl_have_frames_one_apart() -> None:
    parts: list[Part] = [2, (6, 2, 3), 3]
    expected, _ = rope_index("qwen2_vl", parts)
    np.testing.assert_array_equal(mrope_positions(parts, after="sides"), expected)
    assert not np.array_equal(mrope_positions(parts), expected)


def test_videos_of_qwen3_vl_are_images_with_a_text_of_their_time_before_each() -> None:
    parts: list[Part] = [3, (1, 2, 3), 4, (1, 2, 3), 2]
    kinds = [0] * 3 + [2] * 6 + [0] * 4 + [2] * 6 + [0] * 2
    positions, _ = model_without_weights("qwen3_vl").get_rope_index(
        torch.zeros(1, len(kinds), dtype=torch.long),
        mm_token_type_ids=torch.tensor([kinds]),
        video_grid_thw=torch.tensor([[2, 2 * MERGE, 3 * MERGE]]),
    )
    np.testing.assert_array_equal(mrope_positions(parts), positions[:, 0].T)


def test_after_a_video_transformers_places_new_tokens_apart_from_those_of_a_prompt() -> None:
    """The same token, read in the prompt or generated after it, gets two positions."""
    parts: list[Part] = [1, (8, 2, 2), 2]
    prompt, delta = rope_index("qwen2_vl", parts)
    whole, _ = rope_index("qwen2_vl", [*parts[:-1], 3])
    generated = len(prompt) + delta  # what a cached step is given
    assert whole[-1].tolist() == [5] * 3
    assert generated == 9
    longer = mrope_positions([*parts[:-1], 3])  # by the paper the two agree
    assert longer[-1].tolist() == [mrope_positions(parts).max() + 1] * 3
