"""Timesteps, Fourier features and NeRF's encoding against diffusers and transformers."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch

from posenc import fourier_features, nerf_encoding, timestep_embedding
from tests.oracles.libraries import assert_other, assert_same, in_transformers, library

STEPS = [0, 1, 7, 100, 999]


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("width", [8, 320])
@pytest.mark.slow  # needs a library that only `make test-all` installs
def test_timesteps_are_those_of_diffusers(width: int, flip: bool, shift: int) -> None:
    create = library("diffusers.models.embeddings", "get_timestep_embedding")
    expected = create(torch.tensor(STEPS), width, flip_sin_to_cos=flip, downscale_freq_shift=shift)
    first = "cosine" if flip else "sine"
    # Their angles are products in float32.
    assert_same(timestep_embedding(STEPS, width, first=first, shift=shift), expected, atol=3e-4)
    other = "sine" if flip else "cosine"
    assert_other(timestep_embedding(STEPS, width, first=other, shift=shift), expected)
    assert_other(timestep_embedding(STEPS, width, first=first, shift=1 - shift), expected)


@pytest.mark.slow  # needs a library that only `make test-all` installs
def test_a_scale_of_diffusers_multiplies_the_timestep() -> None:
    create = library("diffusers.models.embeddings", "get_timestep_embedding")
    steps = torch.tensor([0.1, 0.5, 0.999])
    expected = create(steps, 16, scale=1000.0, downscale_freq_shift=0)
    assert_same(timestep_embedding(1000 * steps.double().numpy(), 16), expected, atol=3e-4)


@pytest.mark.slow  # needs a library that only `make test-all` installs
def test_diffusers_flips_by_default_where_its_class_is_used_and_not_in_its_function() -> None:
    """Two defaults of one library: the function begins with sines, its U-Net with cosines."""
    embeddings = library("diffusers.models.embeddings", "get_timestep_embedding")
    plain = embeddings(torch.tensor(STEPS), 16)
    assert_same(timestep_embedding(STEPS, 16, shift=1), plain, atol=3e-4)
    unet = library("diffusers", "UNet2DConditionModel").__init__
    defaults = inspect.signature(unet).parameters
    assert (defaults["flip_sin_to_cos"].default, defaults["freq_shift"].default) == (True, 0)


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.slow  # needs a library that only `make test-all` installs
def test_gaussian_fourier_projection_is_ours_of_the_logarithm(flip: bool) -> None:
    torch.manual_seed(0)
    peer = library("diffusers.models.embeddings", "GaussianFourierProjection")(
        embedding_size=8, scale=2.0, flip_sin_to_cos=flip
    )
    levels = torch.tensor([0.01, 0.5, 3.0])
    weight = peer.weight.detach().double().numpy()[np.newaxis]
    points = np.log(levels.double().numpy())[:, np.newaxis]
    found = fourier_features(points, weight, first="cosine" if flip else "sine")
    assert_same(found, peer(levels), atol=2e-5)


def test_sam_has_random_features_of_the_plane_with_sines_first() -> None:
    config = library("transformers", "SamVisionConfig")(num_pos_feats=8)
    torch.manual_seed(0)
    peer = in_transformers("sam", "SamPositionalEmbedding")(config)
    shares = torch.rand(3, 4, 5, 2)
    torch.nn.init.normal_(peer.positional_embedding)  # its own are far larger
    omega = peer.positional_embedding.detach().double().numpy()
    assert omega.shape == (2, config.num_pos_feats)
    points = 2 * shares.double().numpy() - 1  # the image reaches from -1 to 1
    found = fourier_features(points, omega, first="sine")
    assert_same(found, peer(shares).detach(), atol=2e-5)
    assert_other(fourier_features(points, omega), peer(shares).detach())


@pytest.mark.slow  # needs a library that only `make test-all` installs
def test_shap_e_has_nerfs_bands_after_the_point_with_all_sines_before_the_cosines() -> None:
    create = library("diffusers.pipelines.shap_e.renderer", "posenc_nerf")
    points = torch.rand(3, 4, 3, generator=torch.Generator().manual_seed(0)) * 2 - 1
    expected = create(points, min_deg=0, max_deg=10)
    assert_same(points.numpy(), expected[..., :3], atol=0)
    ours = nerf_encoding(points.double().numpy(), 10, unit=1.0, grouped="bands")
    by_part = ours.reshape(3, 4, 10, 2, 3).swapaxes(-3, -2).reshape(3, 4, 60)
    assert_same(by_part, expected[..., 3:], atol=1e-4)
    assert_other(ours, expected[..., 3:])
