"""Latent attention, its indexers and the undone rotation of DeepSeek-V4, against transformers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc import apply_rope, causal_mask, latent_scores, read_config
from tests.oracles.libraries import assert_other, assert_same, config_class, in_transformers

LENGTH, HIDDEN = 24, 48
AT = torch.arange(LENGTH)[None] + 20
LATENT: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "num_attention_heads": 3,
    "num_key_value_heads": 3,
    "q_lora_rank": 20,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 10,
    "qk_rope_head_dim": 8,
    "v_head_dim": 6,
    "num_hidden_layers": 2,
    "max_position_embeddings": 163840,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 40.0,
    "original_max_position_embeddings": 64,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
}
EVERYTHING_INDEXED = {"index_n_heads": 2, "index_head_dim": 14, "index_topk": 99}
PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
Floats = NDArray[np.float64]


def tokens() -> Any:
    """Return the inputs of a layer."""
    return torch.randn(1, LENGTH, HIDDEN, generator=torch.Generator().manual_seed(1))


def randomized(module: Any) -> Any:
    """Give all parameters of a module values of the size of trained ones."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for name, parameter in sorted(module.named_parameters()):
            parameter.normal_(0.0, 0.4, generator=generator)
            parameter += float("norm" in name and name.endswith("weight"))
    return module.eval()


def configured(kind: str, **others: Any) -> Any:
    """Return a small configuration of a model type that computes attention step by step."""
    config = config_class(kind)(**LATENT | others)
    config._attn_implementation = "eager"
    return config


def weights(module: Any, name: str = "weight") -> Floats:
    """Return a parameter of a module."""
    found: Floats = getattr(module, name).double().numpy()
    return found


def project(module: Any, x: Any) -> Floats:
    """Return the output of one of a layer's linear maps or norms."""
    found: Floats = module(x).double().numpy()
    return found


def heads(x: Floats, count: int) -> Floats:
    """Return the heads of a projection, one after the other."""
    return x.reshape(1, LENGTH, count, -1).swapaxes(1, 2)


def softmax(scores: Floats) -> Floats:
    """Return the weights of the keys that each query sees."""
    seen = np.where(causal_mask(LENGTH), scores, -np.inf)
    powers = np.exp(seen - seen.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def hidden_keys() -> Any:
    """Return the causal mask as transformers adds it to scores."""
    return torch.where(torch.from_numpy(causal_mask(LENGTH)), 0.0, -torch.inf)[None, None]


@pytest.mark.parametrize(
    ("kind", "layout", "others"),
    [
        ("deepseek_v2", "interleaved", {}),
        ("deepseek_v3", "interleaved", {}),
        ("deepseek_v3", "half", {"rope_interleave": False}),
        ("deepseek_v3", "interleaved", {"rope_parameters": YARN}),
        ("youtu", "interleaved", {}),
        ("glm4_moe_lite", "interleaved", {}),
        ("deepseek_v32", "interleaved", EVERYTHING_INDEXED),
        ("glm_moe_dsa", "interleaved", EVERYTHING_INDEXED),
    ],
    ids=["V2", "V3", "V3 with halves", "V3 with YaRN", "Youtu", "GLM-4 Lite", "V3.2", "GLM-5"],
)
@torch.no_grad()
def test_latent_attention_of_transformers_is_ours(
    kind: str, layout: str, others: dict[str, Any]
) -> None:
    """Weights and outputs, from the latents and not from keys of each head."""
    prefix = kind.title().replace("_", "")
    config = configured(kind, **{"rope_parameters": PLAIN} | others)
    layer = randomized(in_transformers(kind, f"{prefix}Attention")(config, layer_idx=0))
    table = in_transformers(kind, f"{prefix}RotaryEmbedding")(config)(tokens(), AT)
    inputs = {"hidden_states": tokens(), "position_embeddings": table, "position_ids": AT}
    output, shares, *_ = layer(attention_mask=hidden_keys(), **inputs)

    x = tokens()
    q = heads(project(layer.q_b_proj, layer.q_a_layernorm(layer.q_a_proj(x))), 3)
    compressed = layer.kv_a_proj_with_mqa(x)
    latent = project(layer.kv_a_layernorm, compressed[..., :16])
    up, up_v = np.split(weights(layer.kv_b_proj).reshape(3, 16, 16), [10], axis=1)
    read = read_config(config.to_dict())
    turn: dict[str, Any] = {"frequencies": read.frequencies(), "layout": layout}
    scores = latent_scores(
        q[..., :10],
        latent,
        up=up,
        rotated_q=apply_rope(q[..., 10:], AT, **turn),
        rotated_k=apply_rope(compressed[..., 16:].double(), AT, **turn),
    )
    ours = softmax(scores * read.softmax_factor)
    assert read.layout == layout
    assert_same(ours, shares, atol=2e-5)
    values = (ours @ latent[:, None] @ up_v.mT).swapaxes(1, 2).reshape(1, LENGTH, -1)
    expected = values @ weights(layer.o_proj).T
    assert_same(expected, output, atol=1e-4)


def test_deepseek_v3_of_transformers_returns_interleaved_pairs_in_the_order_of_halves() -> None:
    turn = in_transformers("deepseek_v3", "apply_rotary_pos_emb_interleave")
    x = torch.randn(1, 1, LENGTH, 8, generator=torch.Generator().manual_seed(2))
    config = configured("deepseek_v3", rope_parameters=PLAIN)
    table = in_transformers("deepseek_v3", "DeepseekV3RotaryEmbedding")(config)(x, AT)
    found, _ = turn(x, x, *table)
    ours = apply_rope(x.double(), AT)
    assert_same(np.concatenate([ours[..., ::2], ours[..., 1::2]], axis=-1), found)
    assert_other(ours, found)


INDEXER = {"index_n_heads": 16, "index_head_dim": 14, "index_topk": 3, "rope_parameters": PLAIN}


@pytest.mark.parametrize(
    ("kind", "prefix", "layout"),
    [("deepseek_v32", "DeepseekV32", "half"), ("glm_moe_dsa", "GlmMoeDsa", "interleaved")],
)
@torch.no_grad()
def test_an_indexer_rotates_its_first_dimensions_in_a_layout_of_its_own(
    kind: str, prefix: str, layout: str
) -> None:
    """The attention beside it pairs neighbours in both models."""
    config = configured(kind, **INDEXER)
    indexer = randomized(in_transformers(kind, f"{prefix}Indexer")(config, layer_idx=0))
    residual = torch.randn(1, LENGTH, 20, generator=torch.Generator().manual_seed(3))
    table = in_transformers(kind, f"{prefix}RotaryEmbedding")(config)(tokens(), AT)
    found = indexer(tokens(), residual, table, hidden_keys()[:, 0], AT).numpy()

    def chosen(layout: str) -> NDArray[np.int64]:
        q = heads(project(indexer.wq_b, residual), 16)
        k = project(indexer.k_norm, indexer.wk(tokens()))[:, None]
        turned, keys = (apply_rope(y, AT, rotary_d=8, layout=layout) for y in (q, k))
        matches = np.maximum(turned @ keys.mT, 0)
        scores = np.einsum("bqh,bhqk->bqk", project(indexer.weights_proj, tokens()), matches)
        return np.argsort(-np.where(causal_mask(LENGTH), scores, -np.inf), axis=-1)[..., :3]

    other = {"half": "interleaved", "interleaved": "half"}[layout]
    rows = slice(3, None)  # that have more keys to choose from than they may take
    np.testing.assert_array_equal(found[:, rows], chosen(layout)[:, rows])
    assert (found[:, rows] != chosen(other)[:, rows]).any()
    assert read_config(config.to_dict()).layout == "interleaved"


V4: dict[str, Any] = {
    "hidden_size": HIDDEN,
    "num_attention_heads": 4,
    "head_dim": 16,
    "q_lora_rank": 20,
    "qk_rope_head_dim": 8,
    "o_groups": 2,
    "o_lora_rank": 6,
    "sliding_window": 64,
    "num_hidden_layers": 3,
    "layer_types": [
        "sliding_attention",
        "compressed_sparse_attention",
        "heavily_compressed_attention",
    ],
    "compress_rates": {"compressed_sparse_attention": 2, "heavily_compressed_attention": 4},
    "index_n_heads": 16,
    "index_head_dim": 12,
    "index_topk": 2,
    "max_position_embeddings": 4096,
    "rope_parameters": {
        "rope_type": "yarn",
        "factor": 16.0,
        "original_max_position_embeddings": 256,
    },
}


def tail(x: Any, positions: Any, frequencies: Floats) -> Floats:
    """Return vectors with their last dimensions rotated."""
    d = x.shape[-1] - 2 * frequencies.size
    turned = apply_rope(x[..., d:], positions, frequencies=frequencies)
    return np.concatenate([x[..., :d], turned], axis=-1)


def unit(x: Any, weight: Any = 1.0) -> Floats:
    """Return vectors divided by the root of their mean square."""
    return np.asarray(x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + 1e-6) * weight)


def entries(compressor: Any, rate: int, frequencies: Floats, *, overlap: bool) -> Floats:
    """Return one entry for each window of `rate` tokens, rotated to the first of them.

    With overlap, half of what a token is projected to belongs to the next entry.
    """
    windows = LENGTH // rate
    kv, gate = (
        project(part, tokens())[0, : windows * rate].reshape(windows, rate, -1)
        for part in (compressor.kv_proj, compressor.gate_proj)
    )
    shares = np.exp(gate + compressor.position_bias.double().numpy())
    if overlap:
        (to_next, kv), (shares_next, shares) = (np.split(x, 2, axis=-1) for x in (kv, shares))
        before = np.roll(shares_next, 1, axis=0)
        before[0] = 0
        kv = np.concatenate([np.roll(to_next, 1, axis=0), kv], axis=1)
        shares = np.concatenate([before, shares], axis=1)
    mixed = unit((kv * shares).sum(axis=1) / shares.sum(axis=1), weights(compressor.kv_norm))
    return tail(mixed, rate * np.arange(windows), frequencies)[None, None]


def complete(rate: int) -> NDArray[np.bool_]:
    """Return which queries stand at or behind the last token of which windows."""
    return np.asarray((np.arange(LENGTH) + 1)[:, None] // rate > np.arange(LENGTH // rate))


def chosen_entries(indexer: Any, residual: Any, frequencies: Floats) -> NDArray[np.bool_]:
    """Return which entries each query reads: two of those that are complete."""
    q = tail(heads(project(indexer.q_b_proj, residual), 16), np.arange(LENGTH), frequencies)
    matches = np.maximum(q @ entries(indexer, 2, frequencies, overlap=True).mT, 0)
    shares = project(indexer.scorer.weights_proj, tokens())
    scores = np.einsum("bqh,bhqk->qk", shares, matches)
    best = np.argsort(-np.where(complete(2), scores, -np.inf), axis=-1)[:, :2]
    return np.asarray((best[:, :, None] == np.arange(LENGTH // 2)).any(axis=1) & complete(2))


def layer_of_v4(number: int) -> tuple[Any, Any, dict[str, Any]]:
    """Return a layer, its rotary module and its configuration."""
    config = config_class("deepseek_v4")(**V4)
    config._attn_implementation = "eager"
    layer = randomized(in_transformers("deepseek_v4", "DeepseekV4Attention")(config, number))
    rotary = in_transformers("deepseek_v4", "DeepseekV4RotaryEmbedding")(config)
    return layer, rotary, config.to_dict()


@torch.no_grad()
def test_the_indexer_of_deepseek_v4_rotates_its_last_dimensions() -> None:
    layer, _, config = layer_of_v4(1)
    residual = torch.randn(1, LENGTH, 20, generator=torch.Generator().manual_seed(3))
    at = torch.arange(LENGTH)[None]
    found = layer.compressor.indexer(tokens(), residual, at, None, 1)[0].numpy()
    found = (found[:, :, None] == np.arange(LENGTH // 2)).any(axis=1)
    omega = read_config(config, layer_type="compress").frequencies()
    expected = chosen_entries(layer.compressor.indexer, residual, omega)
    np.testing.assert_array_equal(found, expected)
    other = read_config(config, layer_type="main").frequencies()
    assert (chosen_entries(layer.compressor.indexer, residual, other) != expected).any()


@pytest.mark.parametrize("number", [0, 1, 2], ids=["window", "sparse", "heavily compressed"])
@torch.no_grad()
def test_deepseek_v4_of_transformers_undoes_the_rotation_of_its_values(number: int) -> None:
    """A whole layer: keys are their own values, and all have the base and the rule of the layer."""
    layer, rotary, config = layer_of_v4(number)
    at = torch.arange(LENGTH)[None]
    tables = {kind: rotary(tokens(), at, layer_type=kind) for kind in ("main", "compress")}
    found, _ = layer(tokens(), tables, at, hidden_keys())

    read = read_config(config, layer_type="compress" if number else "main")
    omega = read.frequencies()
    assert (read.base, read.scheme) == ((160000.0, "yarn") if number else (10000.0, "default"))
    residual = layer.q_a_norm(layer.q_a_proj(tokens()))
    q = tail(unit(heads(project(layer.q_b_proj, residual), 4)), at, omega)
    kv = tail(project(layer.kv_norm, layer.kv_proj(tokens()))[:, None], at, omega)
    seen = causal_mask(LENGTH)
    if number:
        rate, sparse = (2, True) if number == 1 else (4, False)
        kv = np.concatenate([kv, entries(layer.compressor, rate, omega, overlap=sparse)], axis=2)
        read_too = (
            chosen_entries(layer.compressor.indexer, residual, omega) if sparse else complete(rate)
        )
        seen = np.concatenate([seen, read_too], axis=1)
    powers = np.where(seen, np.exp(q @ kv.mT / 4), 0)  # 4 is the root of the width
    sinks = np.exp(weights(layer, "sinks"))[:, None, None]
    mean = powers / (powers.sum(axis=-1, keepdims=True) + sinks) @ kv

    def project_out(x: Floats) -> Floats:
        groups = torch.from_numpy(x.swapaxes(1, 2).reshape(1, LENGTH, 2, -1)).float()
        return project(layer.o_b_proj, layer.o_a_proj(groups).flatten(2))

    assert_same(project_out(tail(mean, -at, omega)), found, atol=2e-4)
    assert_other(project_out(mean), found)


@torch.no_grad()
def test_an_output_of_deepseek_v4_depends_on_distances_alone() -> None:
    """In a layer with a window; it would not, if the layer did not undo the rotation."""
    layer, rotary, _ = layer_of_v4(0)
    turn = in_transformers("deepseek_v4", "apply_rotary_pos_emb")

    def output(first: int, *, undone: bool) -> Any:
        at = torch.arange(LENGTH)[None] + first
        cos, sin = rotary(tokens(), at, layer_type="main")

        def rotate_again(_: Any, groups: tuple[Any]) -> Any:
            each = groups[0].reshape(1, LENGTH, 4, 16).transpose(1, 2)
            return turn(each, cos, sin).transpose(1, 2).reshape(groups[0].shape)

        hook = layer.o_a_proj.register_forward_pre_hook(rotate_again)
        if undone:
            hook.remove()
        found = layer(tokens(), {"main": (cos, sin)}, at, hidden_keys())[0].numpy()
        hook.remove()
        return found

    assert_same(output(0, undone=True), output(1000, undone=True), atol=5e-4)
    assert_other(output(0, undone=False), output(1000, undone=False))


def test_widths_of_indexers_are_the_defaults_of_transformers() -> None:
    """Those that the page's table has."""
    for kind in ("deepseek_v32", "glm_moe_dsa"):
        config = config_class(kind)()
        widths = (config.qk_rope_head_dim, config.index_head_dim, config.index_topk)
        assert widths == (64, 128, 2048)
    config = config_class("deepseek_v4")()
    assert (config.qk_rope_head_dim, config.head_dim, config.index_head_dim) == (64, 512, 128)
    assert (config.sliding_window, *sorted(config.compress_rates.values())) == (128, 4, 128)


def test_latent_attention_of_glm_5_3_flash_has_no_rotated_part() -> None:
    kind = config_class("glm5_next_text")
    assert kind().qk_rope_head_dim == 0
    with pytest.raises(Exception, match="NoPE"):
        kind(qk_rope_head_dim=64)
