"""Learned grids at another resolution: PyTorch's interpolation, and how image models call it."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import interpolate

from posenc import resize_grid, resize_weights
from posenc.nn import LearnedGridEmbedding
from tests.oracles.libraries import in_transformers, library

Array = NDArray[Any]
SIZES = [(4, 8), (8, 4), (7, 5), (3, 1), (1, 6), (37, 16)]


def random_grid(height: int, width: int, d_model: int = 3) -> Array:
    return np.random.default_rng(height).standard_normal((height, width, d_model))


def by_torch(grid: Array, **how: Any) -> Array:
    """Return a grid resized by PyTorch."""
    images = torch.from_numpy(grid).permute(2, 0, 1)[None]
    resized: Array = interpolate(images, **how)[0].permute(1, 2, 0).numpy()
    return resized


@pytest.mark.parametrize(("corners", "antialias"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("kernel", ["linear", "cubic"])
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_every_way_of_pytorch_is_ours(
    n: int, m: int, kernel: str, corners: bool, antialias: bool
) -> None:
    grid = random_grid(n, n + 2)
    expected = by_torch(
        grid, size=(m, m + 1), mode=f"bi{kernel}", align_corners=corners, antialias=antialias
    )
    found = resize_grid(grid, (m, m + 1), kernel=kernel, corners=corners, antialias=antialias)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "cubic"])
def test_a_scale_factor_moves_places_in_pytorch_as_here(kernel: str, antialias: bool) -> None:
    grid = random_grid(14, 37)
    factors = (16.1 / 14, 23.1 / 37)
    expected = by_torch(grid, scale_factor=factors, mode=f"bi{kernel}", antialias=antialias)
    assert expected.shape[:2] == (16, 23)
    how: dict[str, Any] = {"kernel": kernel, "antialias": antialias}
    found = resize_grid(grid, (16, 23), scales=factors, **how)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert np.abs(resize_grid(grid, (16, 23), **how) - expected).max() > 0.01


def test_pytorch_copies_an_axis_that_keeps_its_size_whatever_its_scale_is() -> None:
    grid = random_grid(5, 7)
    how: dict[str, Any] = {"scale_factor": (5.1 / 5, 7.1 / 7)}
    for mode, antialias in (("bilinear", False), ("bilinear", True), ("bicubic", True)):
        kept = by_torch(grid, mode=mode, antialias=antialias, **how)
        np.testing.assert_array_equal(kept, grid)
    assert np.abs(by_torch(grid, mode="bicubic", **how) - grid).max() > 0.01  # the exception
    ours = resize_grid(grid, (5, 7), kernel="linear", scales=(5.1 / 5, 7.1 / 7))
    assert np.abs(ours - grid).max() > 0.01


def test_a_tenth_of_a_patch_kept_dinov2_from_missing_the_size() -> None:
    """Without it, PyTorch makes a grid one place too small at some sizes."""
    missed = [m for m in range(1, 130) if int(37 * (m / 37)) != m]
    assert missed == [39, 43, 78, 86, 115, 123]
    for m in (39, 40, 78):
        plain = by_torch(random_grid(37, 37, 1), scale_factor=m / 37, mode="bicubic")
        kludge = by_torch(random_grid(37, 37, 1), scale_factor=(m + 0.1) / 37, mode="bicubic")
        assert len(plain) == (m - 1 if m in missed else m)
        assert len(kludge) == m


@pytest.mark.parametrize(
    ("model", "config", "antialias"),
    [
        ("vit", "ViT", False),
        ("dinov2", "Dinov2", False),
        ("dinov2_with_registers", "Dinov2WithRegisters", True),
    ],
)
def test_image_models_of_transformers_resize_by_cubics_and_by_size(
    model: str, config: str, antialias: bool
) -> None:
    settings = library("transformers", f"{config}Config")(
        image_size=28, patch_size=4, hidden_size=8
    )
    peer = in_transformers(model, f"{config}Embeddings")(settings)
    torch.nn.init.normal_(peer.position_embeddings, generator=torch.Generator().manual_seed(0))
    tokens = torch.zeros(1, 5 * 9 + 1, 8)
    expected = peer.interpolate_pos_encoding(tokens, 20, 36)[0, 1:].detach()
    grid = peer.position_embeddings[0, 1:].detach().reshape(7, 7, 8).numpy()
    found = resize_grid(grid, (5, 9), antialias=antialias).reshape(45, 8)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    other = resize_grid(grid, (5, 9), antialias=not antialias).reshape(45, 8)
    assert np.abs(other - expected.numpy()).max() > 0.05


def models_by_interpolation() -> dict[tuple[str, bool], set[str]]:
    """Return which models of transformers interpolate positions by a kernel, antialiased or not.

    They are read in its source: calls of `interpolate` in functions that name positions.
    """
    found: dict[tuple[str, bool], set[str]] = {}
    models = Path(importlib.import_module("transformers").__path__[0]) / "models"
    for path in models.glob("*/modeling_*.py"):
        source = path.read_text()
        for function in ast.walk(ast.parse(source)) if "interpolate(" in source else ():
            if not isinstance(function, ast.FunctionDef) or "pos" not in function.name:
                continue
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".interpolate"):
                    how = {word.arg: ast.unparse(word.value) for word in call.keywords}
                    way = (how["mode"].strip("'"), how.get("antialias") == "True")
                    found.setdefault(way, set()).add(path.parent.name)
    return found


def test_few_models_of_transformers_antialias_and_these_are_they() -> None:
    found = models_by_interpolation()
    # SigLIP 2 belongs to the first, but computes the weights itself.
    assert found["bilinear", True] == {"cosmos3_edge", "tipsv2", "videoprism"}
    cubic = {"deepseek_ocr2", "dinov2_with_registers", "rf_detr", "unlimited_ocr"}
    assert found["bicubic", True] == cubic
    plain = found["bicubic", False]
    assert plain >= {"vit", "clip", "siglip", "blip_2", "beit", "dinov2", "swin", "owlv2"}
    assert len(plain) > 5 * (len(cubic) + 4)


def test_siglip2_resizes_by_a_widened_hat() -> None:
    embeddings = in_transformers("siglip2", "Siglip2VisionEmbeddings")
    grid = random_grid(7, 7, 4).astype(np.float32)
    expected: Tensor = embeddings.resize_positional_embeddings(
        torch.from_numpy(grid), torch.tensor([[5, 3]]), 20
    )[0]
    found = resize_grid(grid, (5, 3), kernel="linear", antialias=True).reshape(15, 4)
    np.testing.assert_allclose(found, expected[:15], rtol=0, atol=1e-5)
    layer = LearnedGridEmbedding((7, 7), 4)
    layer.load_state_dict({"table": torch.from_numpy(grid)})
    resized = layer.resized((5, 3), kernel="linear", antialias=True)().detach()
    np.testing.assert_allclose(resized, expected[:15], rtol=0, atol=1e-5)


def test_qwen3_vl_resizes_linearly_and_keeps_the_corners() -> None:
    taps = library("transformers.vision_utils", "get_vision_interpolation_indices_and_weights")
    indices, weights = taps(torch.tensor([[1, 5, 9]]), 7, mode="bilinear", align_corners=True)
    grid = random_grid(7, 7)
    expected = (grid.reshape(49, 3)[indices] * weights[..., None].double().numpy()).sum(axis=1)
    found = resize_grid(grid, (5, 9), kernel="linear", corners=True).reshape(45, 3)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    config = library("transformers.models.qwen3_vl.configuration_qwen3_vl", "Qwen3VLVisionConfig")()
    with torch.device("meta"):
        peer = in_transformers("qwen3_vl", "Qwen3VLVisionModel")(config)
    assert (peer.interpolation_mode, peer.interpolation_align_corners) == ("bilinear", True)


def test_resizing_there_and_back_loses_what_the_kernel_cannot_hold() -> None:
    there, back = resize_weights(14, 16), resize_weights(16, 14)
    assert 0.05 < np.abs(back @ there - np.eye(14)).max() < 0.5
