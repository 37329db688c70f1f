"""The axes of diffusion transformers are those that diffusers computes."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from posenc import (
    apply_rope_nd,
    frequencies,
    frequencies_by_axis,
    grid_positions,
    ntk_frequencies,
    read_config,
)
from posenc.config.diffusion import DIVIDED, EIGHTHS, LISTED, REASONS
from scripts import ROOT
from tests.oracles.libraries import Array, assert_same, library

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


# The tables of docs/axes/diffusion.md, from which the tests below take the settings of each model.
SIZES = (3, 6, 5)  # frames, rows and columns of patches
RULES: dict[str, Callable[[int], Array]] = {
    "from 0": np.arange,
    "0": np.zeros,
    "0; 10, 20, … for reference images": np.zeros,
    "centred": lambda size: np.arange(size) - -(-size // 2),
}
# Arguments that keep a model small and leave its axes as they are by default.
SMALL: dict[str, dict[str, Any]] = {
    "Flux": {"num_single_layers": 0, "joint_attention_dim": 8, "pooled_projection_dim": 8},
    "Flux2": {"num_single_layers": 0, "joint_attention_dim": 8},
    "QwenImage": {"joint_attention_dim": 8},
    "HunyuanVideo": {"num_single_layers": 0, "text_embed_dim": 8, "pooled_projection_dim": 8},
    "Wan": {"text_dim": 8, "ffn_dim": 8},
}


def table_of_the_page(heading: str) -> dict[str, dict[str, str]]:
    """Return a table of the page, by its model and heading."""
    lines = (ROOT / "docs/axes/diffusion.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    start = next(n for n, row in enumerate(cells) if row[0] == "model" and heading in row)
    end = next(n for n in range(start, len(lines)) if not lines[n])
    return {row[0]: dict(zip(cells[start], row, strict=True)) for row in cells[start + 2 : end]}


def frequencies_of_the_page(model: str) -> Array:
    """Return the matrix of frequencies of a model, by the widths and the base on the page."""
    row = table_of_the_page("base")[model]
    base = float(row["base"].replace(",", ""))
    widths = [int(width) for width in row["dimensions"].split(" + ")]
    assert len(widths) == len(row["axes"].split(", "))
    return frequencies_by_axis([frequencies(width, base=base) for width in widths])


def points_of_the_page(model: str, sizes: tuple[int, ...]) -> Array:
    """Return the positions of patches, by the rules on the page."""
    row = table_of_the_page("text")[model]
    sides = row["rows and columns"]
    rules = [RULES[row["frames or images"]], RULES[sides], RULES[sides]]
    axes = [rule(size) for rule, size in zip(rules, sizes, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    words = frequencies_of_the_page(model).shape[0] - 3
    return np.pad(points, ((0, 0), (0, words)))


def small_model(name: str) -> Any:
    """Return a model without layers, with the rotary module that its class makes by default."""
    dimensions = 3 if name in ("HunyuanVideo", "Wan") else 2
    kind = library("diffusers.models", f"{name}Transformer{dimensions}DModel")
    return kind(num_layers=0, num_attention_heads=1, **SMALL[name])


def table_of(name: str) -> tuple[Array, Array]:
    """Return the cosines and sines that diffusers computes for patches, `(patches, d)` each."""
    import torch

    frames, rows, columns = SIZES
    model = small_model(name)
    if name in ("Flux", "Flux2"):
        pipeline = library(
            f"diffusers.pipelines.{name.lower()}.pipeline_{name.lower()}", f"{name}Pipeline"
        )
        ids = (
            pipeline._prepare_latent_image_ids(1, rows, columns, "cpu", torch.float32)
            if name == "Flux"
            else pipeline._prepare_latent_ids(torch.zeros(1, 1, rows, columns))[0]
        )
        cos, sin = model.pos_embed(ids)
    elif name == "QwenImage":
        turns, _ = model.pos_embed([SIZES], max_txt_seq_len=4)
        cos, sin = (part.repeat_interleave(2, dim=-1) for part in (turns.real, turns.imag))
    else:
        cos, sin = model.rope(torch.zeros(1, 16, frames, 2 * rows, 2 * columns))
        cos, sin = cos.reshape(-1, 128), sin.reshape(-1, 128)
    return cos.numpy(), sin.numpy()


PAGE_NAMES = {"Flux": "Flux", "Flux 2": "Flux2", "Qwen-Image": "QwenImage", "Wan": "Wan"}
PAGE_NAMES["HunyuanVideo"] = "HunyuanVideo"


@pytest.mark.parametrize("model", PAGE_NAMES)
def test_the_widths_and_bases_of_the_page_give_the_tables_of_each_class(model: str) -> None:
    """Both dimensions of a pair have the same cosine, so pairs are of neighbouring dimensions."""
    sizes = (1, *SIZES[1:]) if model.startswith("Flux") else SIZES
    angles = points_of_the_page(model, sizes) @ frequencies_of_the_page(model)
    cos, sin = table_of(PAGE_NAMES[model])
    assert_same(np.repeat(np.cos(angles), 2, axis=-1), cos)
    assert_same(np.repeat(np.sin(angles), 2, axis=-1), sin)


def test_every_model_of_the_page_is_compared() -> None:
    assert [*table_of_the_page("base")] == [*table_of_the_page("text")][:-2]
    others = {"CogVideoX", "Z-Image", "LTX-Video", "LTX-2"}
    assert {*table_of_the_page("text")} == {*PAGE_NAMES} | others


@pytest.mark.parametrize(("height", "width"), [(480, 720), (960, 1440), (480, 480), (720, 480)])
def test_cogvideox_fits_patches_into_the_trained_grid(height: int, width: int) -> None:
    """The trained grid has 30 by 45 patches; a larger image gets fractions as positions."""
    import torch

    pipeline = library("diffusers.pipelines.cogvideo.pipeline_cogvideox", "CogVideoXPipeline")
    config = SimpleNamespace(**default_config("CogVideoXTransformer3DModel"))
    config.patch_size_t = None
    self = SimpleNamespace(transformer=SimpleNamespace(config=config), vae_scale_factor_spatial=8)
    prepare = pipeline._prepare_rotary_positional_embeddings
    cos, sin = prepare(self, height, width, 3, torch.device("cpu"))
    rows, columns = height // 16, width // 16
    scale = min(30 / rows, 45 / columns)
    axes: list[Array] = [np.arange(3.0)]
    for size, trained in ((rows, 30), (columns, 45)):
        fitted = round(scale * size)
        start = round((trained - fitted) / 2)
        axes.append(np.linspace(start, (start + fitted) * (size - 1) / size, size))
    assert (
        table_of_the_page("text")["CogVideoX"]["rows and columns"] == "scaled to the trained grid"
    )
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    angles = points @ frequencies_of_the_page("CogVideoX")
    assert_same(np.repeat(np.cos(angles), 2, axis=-1), cos, atol=2e-5)
    assert_same(np.repeat(np.sin(angles), 2, axis=-1), sin, atol=2e-5)


def test_cogvideox_1_5_counts_patches_from_0() -> None:
    """In this version a patch covers two frames."""
    import torch

    pipeline = library("diffusers.pipelines.cogvideo.pipeline_cogvideox", "CogVideoXPipeline")
    config = SimpleNamespace(**default_config("CogVideoXTransformer3DModel"))
    config.patch_size_t, config.sample_height, config.sample_width = 2, 300, 300
    self = SimpleNamespace(transformer=SimpleNamespace(config=config), vae_scale_factor_spatial=8)
    prepare = pipeline._prepare_rotary_positional_embeddings
    cos, sin = prepare(self, 16 * SIZES[1], 16 * SIZES[2], 2 * SIZES[0], torch.device("cpu"))
    angles = grid_positions(SIZES) @ frequencies_of_the_page("CogVideoX")
    assert_same(np.repeat(np.cos(angles), 2, axis=-1), cos)
    assert_same(np.repeat(np.sin(angles), 2, axis=-1), sin)


def spread_frequencies(axes: int, pairs: int) -> Array:
    """Return the matrix of LTX-Video and LTX-2, whose axes alternate over all heads."""
    each, unrotated = divmod(pairs, axes)
    omega = np.zeros((axes, pairs))
    for axis in range(axes):
        omega[axis, unrotated + axis :: axes] = np.geomspace(1, 10000, each) * np.pi / 2
    return omega


def test_ltx_video_spreads_the_frequencies_over_all_heads() -> None:
    """Coordinates go from −1 to 1 over 20 seconds and 2048 pixels; a patch has 32 of these."""
    import torch

    module = importlib.import_module("diffusers.models.transformers.transformer_ltx")
    model = module.LTXVideoTransformer3DModel(num_layers=0, caption_channels=8)
    scale = (8 / 25, 32, 32)  # seconds times 25 frames a second, and pixels, for each patch
    cos, sin = model.rope(torch.zeros(1, 2, 2048), 3, 6, 5, tuple(map(float, scale)))
    omega = spread_frequencies(3, 1024)
    fractions = grid_positions(SIZES) * scale / [20, 2048, 2048]
    points = 2 * fractions - 1
    angles = points @ omega
    # In float32 the largest angle, 15708, is off by a thousandth.
    assert_same(np.repeat(np.cos(angles), 2, axis=-1), cos[0], atol=4e-3)
    assert_same(np.repeat(np.sin(angles), 2, axis=-1), sin[0], atol=4e-3)
    x = np.random.default_rng(0).standard_normal((1, 90, 2048))
    theirs = module.apply_rotary_emb(torch.from_numpy(x), (cos, sin))[0].numpy()
    heads = x[0].reshape(90, 32, 64).swapaxes(0, 1)
    ours = apply_rope_nd(heads, points, omega.reshape(3, 32, 32).swapaxes(0, 1))
    assert_same(ours.swapaxes(0, 1).reshape(90, 2048), theirs, atol=2e-2)


def ltx_2(**options: Any) -> Any:
    """Return LTX-2 without layers and weights, with the rotary modules of its class."""
    import torch

    kind = library("diffusers.models", "LTX2VideoTransformer3DModel")
    with torch.device("meta"):
        return kind(num_layers=0, caption_channels=8, **options)


def points_of_ltx_2() -> Array:
    """Return the middles of patches: the first frame is one of the video, the others are eight."""
    times = np.array([0.5, *(8 * np.arange(1, SIZES[0]) - 3)]) / 24
    sides = [32 * np.arange(size) + 16 for size in SIZES[1:]]
    grid = np.stack(np.meshgrid(times, *sides, indexing="ij"), axis=-1).reshape(-1, 3)
    return 2 * grid / [20, 2048, 2048] - 1


@pytest.mark.parametrize(("kind", "layout"), [("interleaved", "interleaved"), ("split", "half")])
def test_ltx_2_spreads_the_frequencies_over_all_heads(kind: str, layout: str) -> None:
    import torch

    row = table_of_the_page("text")["LTX-2"]
    assert row == table_of_the_page("text")["LTX-Video"] | {"model": "LTX-2"}
    model = ltx_2(rope_type=kind)
    table = model.rope(model.rope.prepare_video_coords(1, *SIZES, torch.device("cpu")))
    module = importlib.import_module("diffusers.models.transformers.transformer_ltx2")
    x = np.random.default_rng(0).standard_normal((1, 90, 4096))
    rotate = getattr(module, f"apply_{kind}_rotary_emb")
    theirs = rotate(torch.from_numpy(x), table)[0].numpy()
    omega = spread_frequencies(3, 2048).reshape(3, 32, 64).swapaxes(0, 1)
    heads = x[0].reshape(90, 32, 128).swapaxes(0, 1)
    ours = apply_rope_nd(heads, points_of_ltx_2(), omega, layout=layout)
    # In float32 the largest angle, 15708, is off by a thousandth.
    assert_same(ours.swapaxes(0, 1).reshape(90, 4096), theirs, atol=2e-2)


def test_video_and_audio_of_ltx_2_have_one_scale_of_time() -> None:
    """Audio has 25 tokens a second, of which the first is a quarter as long as the others."""
    import torch

    model = ltx_2()
    coordinates = model.audio_rope.prepare_audio_coords(1, 4, torch.device("cpu"))
    times = 2 * np.array([0.005, 0.03, 0.07, 0.11])[:, np.newaxis] / 20 - 1
    omega = spread_frequencies(1, 1024)
    for rope in (model.audio_rope, model.cross_attn_audio_rope):
        cos, sin = rope(coordinates)
        assert_same(np.repeat(np.cos(times @ omega), 2, axis=-1), cos[0], atol=4e-3)
        assert_same(np.repeat(np.sin(times @ omega), 2, axis=-1), sin[0], atol=4e-3)
    video = model.rope.prepare_video_coords(1, *SIZES, torch.device("cpu"))
    cos, sin = model.cross_attn_rope(video[:, :1])
    angles = points_of_ltx_2()[:, :1] @ omega
    assert_same(np.repeat(np.cos(angles), 2, axis=-1), cos[0], atol=4e-3)
    assert_same(np.repeat(np.sin(angles), 2, axis=-1), sin[0], atol=4e-3)


@pytest.mark.parametrize(("words", "padded"), [(20, 32), (32, 32), (33, 64)])
def test_z_image_numbers_its_words_and_then_the_image(words: int, padded: int) -> None:
    """A text is padded to a multiple of 32 tokens, which all have a position."""
    import torch

    row = table_of_the_page("text")["Z-Image"]
    assert row["text"] == "from 1, on the first axis"
    assert (row["rows and columns"], row["frames or images"]) == ("from 0", "after the text")
    kind = library("diffusers.models", "ZImageTransformer2DModel")
    with torch.device("meta"):
        small = {"n_layers": 0, "n_refiner_layers": 0, "cap_feat_dim": 8}
        model = kind(**small, dim=128, n_heads=1, n_kv_heads=1)
    _, rows, columns = SIZES
    image, text = torch.zeros(16, 1, 2 * rows, 2 * columns), torch.zeros(words, 8)
    _, (tokens,), _, (patches,), (numbers,), *_ = model.patchify_and_embed([image], [text], 2, 1)
    assert len(tokens) == padded
    expected = [[1 + n, 0, 0] for n in range(padded)]
    expected += [[1 + padded, *point] for point in np.ndindex(rows, columns)]
    ids = torch.cat([numbers[:padded], patches[: rows * columns]])
    np.testing.assert_array_equal(ids, expected)
    turns = model.rope_embedder(ids)
    angles = np.array(expected) @ frequencies_of_the_page("Z-Image")
    assert_same(np.cos(angles), turns.real, atol=4e-6)
    assert_same(np.sin(angles), turns.imag, atol=4e-6)


def test_text_and_reference_images_of_flux_2_have_axes_of_their_own() -> None:
    import torch

    assert table_of_the_page("text")["Flux 2"]["text"] == "from 0, on the word axis"
    pipeline = library("diffusers.pipelines.flux2.pipeline_flux2", "Flux2Pipeline")
    words = pipeline._prepare_text_ids(torch.zeros(1, 4, 8))[0].numpy()
    np.testing.assert_array_equal(words, [[0, 0, 0, n] for n in range(4)])
    images = pipeline._prepare_image_ids([torch.zeros(1, 1, 2, 3)] * 2)[0].numpy()
    expected = [np.pad(grid_positions((1, 2, 3)), ((0, 0), (0, 1))) for _ in range(2)]
    for image, points in enumerate(expected):
        points[:, 0] = 10 + 10 * image
    np.testing.assert_array_equal(images, np.concatenate(expected))


def test_words_of_flux_are_all_at_0() -> None:
    import torch

    assert table_of_the_page("text")["Flux"]["text"] == "all at 0"
    pipeline = library("diffusers.pipelines.flux.pipeline_flux", "FluxPipeline")
    self = SimpleNamespace(
        text_encoder=None, text_encoder_2=None, transformer=SimpleNamespace(dtype=torch.float32)
    )
    *_, ids = pipeline.encode_prompt(
        self, None, None, device="cpu", prompt_embeds=torch.ones(1, 4, 8)
    )
    np.testing.assert_array_equal(ids, np.zeros((4, 3)))


@pytest.mark.parametrize("sizes", [(1, 6, 4), (1, 3, 7), (2, 5, 5)])
def test_words_of_qwen_image_follow_the_largest_row_or_column(sizes: tuple[int, int, int]) -> None:
    row = table_of_the_page("text")["Qwen-Image"]
    assert row["text"] == "after the image, equal on all axes"
    _, turns = small_model("QwenImage").pos_embed([sizes], max_txt_seq_len=4)
    first = points_of_the_page("Qwen-Image", sizes)[:, 1:].max() + 1
    words = np.repeat(first + np.arange(4)[:, np.newaxis], 3, axis=1)
    angles = words @ frequencies_of_the_page("Qwen-Image")
    assert_same(np.cos(angles), turns.real)
    assert_same(np.sin(angles), turns.imag)


def test_only_patches_of_hunyuanvideo_and_cogvideox_are_rotated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Words are in the same attention, 4 of them, before or after the patches."""
    import torch

    row = table_of_the_page("text")
    assert row["HunyuanVideo"]["text"] == row["CogVideoX"]["text"] == "not rotated"
    embeddings = importlib.import_module("diffusers.models.embeddings")
    rotate, lengths = embeddings.apply_rotary_emb, []

    def noted(x: Any, table: Any, **options: Any) -> Any:
        lengths.append(x.shape[options.get("sequence_dim", 2)])
        return rotate(x, table, **options)

    monkeypatch.setattr(embeddings, "apply_rotary_emb", noted)
    words, patches, time = torch.ones(1, 4, 8), np.prod(SIZES), torch.ones(1)
    models = importlib.import_module("diffusers.models")
    small = {"num_layers": 1, "num_attention_heads": 1}
    hunyuan = models.HunyuanVideoTransformer3DModel(
        **small, num_single_layers=1, text_embed_dim=8, pooled_projection_dim=8
    )
    video = torch.ones(1, 16, 3, 12, 10)
    mask, pooled = torch.ones(1, 4, dtype=torch.bool), torch.ones(1, 8)
    hunyuan(video, time.long(), words, mask, pooled, guidance=time)
    cogvideox = models.CogVideoXTransformer3DModel(
        **small, text_embed_dim=8, use_rotary_positional_embeddings=True
    )
    table = embeddings.get_3d_rotary_pos_embed(64, ((0, 0), (6, 5)), (6, 5), 3)
    cogvideox(video.swapaxes(1, 2), words, time, image_rotary_emb=table)
    assert lengths == [patches] * 6  # queries and keys of two layers, then of one


def test_cosmos_enlarges_the_base_of_each_axis() -> None:
    """Its pairs are of dimensions i and i + d/2: all cosines follow each other twice."""
    import torch

    embed = library("diffusers.models.transformers.transformer_cosmos", "CosmosRotaryPosEmbed")
    cos, sin = embed(128, rope_scale=(2.0, 1.0, 3.0))(torch.zeros(1, 1, 3, 12, 10))
    omega = frequencies_by_axis([ntk_frequencies(44, 2), frequencies(42), ntk_frequencies(42, 3)])
    angles = grid_positions(SIZES) @ omega
    assert_same(np.tile(np.cos(angles), 2), cos)
    assert_same(np.tile(np.sin(angles), 2), sin)


@pytest.mark.parametrize("t", [1.0, 0.7, 0.5, 0.0])
def test_dype_is_ntk_with_a_factor_that_follows_the_noise(t: float) -> None:
    """With `method="ntk"`, guyyariv/DyPE passes this factor to its copy of this function."""
    import torch

    one_step = library("diffusers.models.embeddings", "get_1d_rotary_pos_embed")
    width, longer = 56, 256 / 64
    ntk_factor = max(1.0, (longer ** (width / (width - 2))) ** (2.0 * t**2.0))
    turns = one_step(width, torch.ones(1), ntk_factor=ntk_factor, freqs_dtype=torch.float64)
    ours = ntk_frequencies(width, longer ** (2 * t**2))
    np.testing.assert_allclose(ours, turns.angle().numpy()[0], rtol=1e-12)
