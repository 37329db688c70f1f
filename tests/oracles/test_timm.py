"""Positions in images against timm and torchvision, where Python finds them.

scripts/setup/vision.py installs them into a folder of their own, and `make test-all` runs this
module with that folder on the path. Everywhere else it is not collected.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from posenc import (
    apply_rope_nd,
    axial_frequencies,
    grid_positions,
    mixed_frequencies,
    resize_grid,
    sinusoidal_encoding_nd,
)
from posenc.nn import RotaryEmbeddingND
from tests.oracles.libraries import assert_other, assert_same, library
from tests.oracles.test_axes import PLACES, SIZES, X


@pytest.fixture(autouse=True, scope="module")
def operators() -> Iterator[Any]:
    """Name the operators that torchvision expects, where it was built for another PyTorch."""
    try:
        importlib.import_module("torchvision")
        yield
    except RuntimeError:
        library: Any = torch.library.Library("torchvision", "DEF")  # type: ignore[no-untyped-call]
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        yield library


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("alternate", [False, True])
def test_timm_has_sines_of_both_axes_before_all_cosines_or_axis_by_axis(
    size: tuple[int, int], reverse: bool, alternate: bool
) -> None:
    build = library("timm.layers.pos_embed_sincos", "build_sincos2d_pos_embed")
    # Its grid runs over the reversed sizes, so its rows come column by column.
    rows = build(size, 16, reverse_coord=reverse, interleave_sin_cos=alternate)
    points = grid_positions(size[::-1] if reverse else size)
    if alternate:  # the sines of an axis, then its cosines: what `order` calls halves
        assert_same(sinusoidal_encoding_nd(points, 16, order="halves"), rows)
    else:
        ours = sinusoidal_encoding_nd(points, 16, order="halves").reshape(-1, 2, 2, 4)
        assert_same(ours.swapaxes(1, 2).reshape(-1, 16), rows)
        assert_other(sinusoidal_encoding_nd(points, 16, order="halves"), rows)


@pytest.mark.parametrize("indexing", ["ij", "xy"])
@pytest.mark.parametrize("half", [False, True])
def test_timms_axial_rope_is_ours_in_both_layouts(indexing: str, half: bool) -> None:
    """EVA's: rows first, neighbours; `rotate_half` pairs dimensions across the whole head."""
    peer = library("timm.layers", "RotaryEmbeddingCat")(
        16, in_pixels=False, feat_shape=[3, 5], grid_indexing=indexing, rotate_half=half
    )
    apply = library("timm.layers", "apply_rot_embed_cat")
    expected = apply(torch.from_numpy(X), peer.get_embed([3, 5]), half=half)
    layout = "half" if half else "interleaved"
    points = PLACES if indexing == "ij" else PLACES[:, ::-1]
    omega = axial_frequencies(16)
    assert_same(apply_rope_nd(X, points, omega, layout=layout), expected)
    assert_other(apply_rope_nd(X, points[:, ::-1], omega, layout=layout), expected)


def test_timm_evaluates_a_larger_image_at_fractions_of_the_trained_grid() -> None:
    peer = library("timm.layers", "RotaryEmbeddingCat")(
        16, in_pixels=False, feat_shape=[6, 10], ref_feat_shape=[3, 5]
    )
    apply = library("timm.layers", "apply_rot_embed_cat")
    x = np.random.default_rng(1).standard_normal((1, 1, 60, 16)).astype(np.float32)
    expected = apply(torch.from_numpy(x), peer.get_embed([6, 10]))
    points = grid_positions((6, 10)) / 2
    assert_same(apply_rope_nd(x, points, axial_frequencies(16)), expected)


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_timms_mixed_rope_is_ours_with_its_frequencies(indexing: str) -> None:
    torch.manual_seed(0)
    peer = library("timm.layers", "RotaryEmbeddingMixed")(
        48, depth=2, num_heads=3, feat_shape=[3, 5], grid_indexing=indexing
    )
    apply = library("timm.layers", "apply_rot_embed_cat")
    points = PLACES if indexing == "ij" else PLACES[:, ::-1]
    for layer, table in enumerate(peer.get_embed([3, 5])):
        omega = peer.freqs[:, layer].detach().movedim(0, 1)  # (heads, axes, pairs)
        expected = apply(torch.from_numpy(X), table).detach()
        assert_same(apply_rope_nd(X, points, omega.numpy()), expected)
        module = RotaryEmbeddingND(16, omega.numpy(), learned=True)
        found = module(torch.from_numpy(X), torch.from_numpy(points.copy())).detach()
        assert_same(found.numpy(), expected)


def test_timms_mixed_rope_starts_from_a_rotated_plane() -> None:
    torch.manual_seed(0)
    omega = library("timm.layers.pos_embed_sincos", "init_random_2d_freqs")(16, 1, 3)[:, 0]
    angles = torch.atan2(omega[1, :, 0], omega[0, :, 0]).double().numpy()
    assert_same(mixed_frequencies(16, angles), omega.movedim(0, 1), atol=1e-6)
    assert len({*angles.round(3).tolist()}) == 3


@pytest.mark.parametrize("antialias", [False, True])
def test_timm_resizes_by_cubics_with_antialiasing_unless_told_otherwise(antialias: bool) -> None:
    rows = np.random.default_rng(0).standard_normal((1, 50, 4)).astype(np.float32)
    resample = library("timm.layers", "resample_abs_pos_embed")
    how = {} if antialias else {"antialias": False}
    expected = resample(torch.from_numpy(rows), [5, 9], **how)[0]
    found = resize_grid(rows[0, 1:].reshape(7, 7, 4), (5, 9), antialias=antialias)
    assert_same(found.reshape(45, 4), expected[1:])
    assert_same(rows[0, 0], expected[0], atol=0)


def test_torchvision_resizes_by_cubics_and_keeps_the_corners() -> None:
    rows = np.random.default_rng(0).standard_normal((1, 50, 4)).astype(np.float32)
    resample = library("torchvision.models.vision_transformer", "interpolate_embeddings")
    state = resample(36, 4, {"encoder.pos_embedding": torch.from_numpy(rows)})
    expected = state["encoder.pos_embedding"][0]
    found = resize_grid(rows[0, 1:].reshape(7, 7, 4), (9, 9), corners=True)
    assert_same(found.reshape(81, 4), expected[1:])
