"""The axes of diffusion transformers are those that diffusers computes."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest

from posenc import read_config
from posenc.config.diffusion import DIVIDED, EIGHTHS, LISTED, REASONS
from tests.oracles.libraries import Array, library

pytestmark = pytest.mark.slow  # diffusers is what `make test-all` installs


# Classes whose rotary module is that of another.
ALIKE = {
    "ChromaTransformer2DModel": "transformer_flux",
    "WanVACETransformer3DModel": "transformer_wan",
}


def default_config(name: str) -> dict[str, Any]:
    """Return the defaults of a class as diffusers would write them."""
    kind = getattr(importlib.import_module("diffusers.models"), name)
    given = inspect.signature(kind).parameters.values()
    defaults = {
        one.name: one.default for one in given if one.default is not inspect.Parameter.empty
    }
    return {"_class_name": name} | defaults


def angles_of_one_step(name: str, config: dict[str, Any]) -> Array:
    """Return the angles of a patch one step along each axis, in the rotary module of a class."""
    kind = getattr(importlib.import_module("diffusers.models"), name)
    module = importlib.import_module(
        f"diffusers.models.transformers.{ALIKE[name]}" if name in ALIKE else kind.__module__
    )
    one_step = library("diffusers.models.embeddings", "get_1d_rotary_pos_embed")
    widths, thetas = [], []

    def noted(dim: int, pos: Any, theta: float = 10000.0, **options: Any) -> Any:
        widths.append(dim)
        thetas.append(theta)
        return one_step(dim, pos, theta=theta, **options)

    with pytest.MonkeyPatch.context() as patch:
        for place in (module, importlib.import_module("diffusers.models.embeddings")):
            if hasattr(place, "get_1d_rotary_pos_embed"):
                patch.setattr(place, "get_1d_rotary_pos_embed", noted)
        _run(name, module, config)
    found = [
        1.0 / theta ** (np.arange(0, width, 2) / width)
        for width, theta in zip(widths, thetas, strict=True)
    ]
    return np.concatenate(found)


def _run(name: str, module: Any, config: dict[str, Any]) -> None:
    """Have the module of a class compute its table for a small video."""
    import torch

    video = torch.zeros(1, 4, 2, 4, 4)
    if name in DIVIDED and name != EIGHTHS:
        rotary = next(one for key, one in vars(module).items() if key.endswith("RotaryPosEmbed"))
        rotary(config.get("attention_head_dim", 128), (1, 2, 2), 32)
    elif name == EIGHTHS:
        table = library("diffusers.models.embeddings", "get_3d_rotary_pos_embed")
        width = config.get("attention_head_dim", 64)
        table(width, ((0, 0), (4, 4)), (4, 4), 2, device=torch.device("cpu"))
    elif name == "HunyuanVideoFramepackTransformer3DModel":
        rotary = module.HunyuanVideoFramepackRotaryPosEmbed
        built = rotary(1, 1, list(config["rope_axes_dim"]), config["rope_theta"])
        built(torch.arange(2), 4, 4, torch.device("cpu"))
    elif name.startswith("Hunyuan"):
        rotary = next(one for key, one in vars(module).items() if key.endswith("RotaryPosEmbed"))
        widths, theta = config["rope_axes_dim"], config["rope_theta"]
        rotary(1, 1, list(widths), theta)(video)
    elif name == "Lumina2Transformer2DModel":
        module.Lumina2RotaryPosEmbed(theta=10000, axes_dim=list(config["axes_dim_rope"]))
    else:
        rotary = next(
            one
            for key, one in vars(module).items()
            if key.endswith(("PosEmbed", "EmbedND")) and "Mix" not in key
        )
        widths = list(config["axes_dims_rope"])
        rotary(theta=config.get("rope_theta", 10000), axes_dim=widths)(torch.ones(3, len(widths)))


# Two classes compute their table without the function that the others share.
OWN = ("QwenImageTransformer2DModel", "ZImageTransformer2DModel")


@pytest.mark.parametrize("name", [name for name in (*LISTED, *DIVIDED) if name not in OWN])
def test_the_frequencies_of_each_axis_are_those_of_diffusers(name: str) -> None:
    config = default_config(name) | {"use_rotary_positional_embeddings": True}
    found = read_config(config)
    np.testing.assert_allclose(found.frequencies(), angles_of_one_step(name, config), rtol=1e-12)


def test_the_tables_of_qwen_image_and_z_image_are_those_of_the_package() -> None:
    models = "diffusers.models.transformers"
    qwen = read_config(default_config("QwenImageTransformer2DModel"))
    table = library(f"{models}.transformer_qwenimage", "QwenEmbedRope")
    angles = table(theta=10000, axes_dim=[16, 56, 56]).pos_freqs[1].angle()
    np.testing.assert_allclose(qwen.frequencies(), angles.numpy(), rtol=1e-5)
    z_image = read_config(default_config("ZImageTransformer2DModel"))
    embedder = library(f"{models}.transformer_z_image", "RopeEmbedder")
    parts = embedder.precompute_freqs_cis([32, 48, 48], [4, 4, 4], theta=256.0)
    own = np.concatenate([part[1].angle().numpy() for part in parts])
    np.testing.assert_allclose(z_image.frequencies(), own, rtol=1e-5)


@pytest.mark.parametrize("name", REASONS)
def test_classes_that_are_refused_by_name_exist(name: str) -> None:
    assert hasattr(importlib.import_module("diffusers.models"), name)
