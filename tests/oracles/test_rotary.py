"""Rotary positions against six independent implementations: pairs, direction and accuracy.

| in transformers 5 unless noted        | layout      | angles                        |
|---------------------------------------|-------------|-------------------------------|
| RoFormer, the model of the paper      | interleaved | float64, rounded to float32   |
| GPT-J, 64 of 256 dimensions           | interleaved | float32                       |
| Llama                                 | half        | float32                       |
| GPT-NeoX, a quarter of the dimensions | half        | float32                       |
| x-transformers' RotaryEmbedding       | interleaved | float32, or a module's bf16   |
| PermuteForRope, weights               | interleaved → half                          |

All rotate a pair from its first dimension towards its second. Each is compared twice: unmodified,
within the error of its float32 angles, and with its formula given float64 angles, so that only the
layout and the direction can differ.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from posenc import apply_rope, convert_projection
from posenc.nn.rotary import RotaryEmbedding
from tests.oracles.libraries import in_transformers, library

Array = NDArray[np.float64]

D, ROTARY_D, LENGTH = 64, 16, 200
BASE = 10000.0


class Angles(NamedTuple):
    """Cosine and sine of every pair at every position, each of shape (length, pairs)."""

    cos: Tensor
    sin: Tensor


class Peer(NamedTuple):
    """Another implementation: its layout, its angles, and its rotation of (1, 2, length, d)."""

    layout: str
    rotary_d: int
    angles: Callable[[Tensor, int], Angles]
    rotate: Callable[[Tensor, Angles], Tensor]


def half_angles(model: str, name: str, config: Any, positions: Tensor, dtype: Any) -> Angles:
    """Return the angles of a module of transformers that repeats them, after it was cast."""
    module = in_transformers(model, f"{name}RotaryEmbedding")(config).to(dtype)
    cos, sin = module(torch.zeros(1), positions[None])
    return Angles(*(part[0, :, : part.shape[-1] // 2] for part in (cos, sin)))


def llama_angles(positions: Tensor, d: int, dtype: torch.dtype = torch.float32) -> Angles:
    """Return the angles of Llama's module, after it was cast to a dtype."""
    config = library("transformers", "LlamaConfig")(hidden_size=2 * d, num_attention_heads=2)
    assert config.rope_parameters["rope_theta"] == BASE
    return half_angles("llama", "Llama", config, positions, dtype)


def neox_angles(positions: Tensor, d: int) -> Angles:
    """Return the angles of GPT-NeoX's module, for a quarter of a head of 4·d dimensions."""
    sizes = {"hidden_size": 4 * d, "num_attention_heads": 1, "rotary_pct": 0.25}
    config = library("transformers", "GPTNeoXConfig")(**sizes)
    return half_angles("gpt_neox", "GPTNeoX", config, positions, torch.float32)


def half_rotation(model: str) -> Callable[[Tensor, Angles], Tensor]:
    """Return the formula of a model, which leaves dimensions without an angle alone."""

    def rotate(x: Tensor, angles: Angles) -> Tensor:
        cos, sin = (torch.cat([part, part], -1)[None] for part in angles)
        rotated: Tensor = in_transformers(model, "apply_rotary_pos_emb")(x, x, cos, sin)[0]
        return rotated

    return rotate


def gptj_angles(positions: Tensor, d: int) -> Angles:
    """Read GPT-J's table."""
    create = in_transformers("gptj", "create_sinusoidal_positions")
    table = create(int(positions.max()) + 1, d)[positions]
    return Angles(table[:, d // 2 :], table[:, : d // 2])


def gptj_rotation(x: Tensor, angles: Angles) -> Tensor:
    """Rotate with GPT-J's formula, whose heads follow the length, and leave the rest alone."""
    rotary_d = 2 * angles.cos.shape[-1]
    rotate = in_transformers("gptj", "apply_rotary_pos_emb")
    rotated = rotate(x[..., :rotary_d].transpose(1, 2), angles.sin[None], angles.cos[None])
    return torch.cat([rotated.transpose(1, 2), x[..., rotary_d:]], dim=-1)


def roformer_angles(positions: Tensor, d: int) -> Angles:
    """Read RoFormer's table."""
    embedding = in_transformers("roformer", "RoFormerSinusoidalPositionalEmbedding")
    table = embedding(int(positions.max()) + 1, d)
    rows = table.create_weight()[positions]
    return Angles(rows[:, d // 2 :], rows[:, : d // 2])


def roformer_rotation(x: Tensor, angles: Angles) -> Tensor:
    """Rotate with RoFormer's formula."""
    attention = in_transformers("roformer", "RoFormerSelfAttention")
    table = torch.cat([angles.sin, angles.cos], dim=-1)[None, None]
    rotated: Tensor = attention.apply_rotary_position_embeddings(table, x, x)[0]
    return rotated


def x_transformers_angles(positions: Tensor, d: int, dtype: torch.dtype = torch.float32) -> Angles:
    """Return the angles of x-transformers' module, after it was cast to a dtype."""
    embedding = library("x_transformers.x_transformers", "RotaryEmbedding")(d)
    angles, _ = embedding.to(dtype)(positions)
    return Angles(angles[0, :, 0::2].cos(), angles[0, :, 0::2].sin())


def x_transformers_rotation(x: Tensor, angles: Angles) -> Tensor:
    """Rotate with x-transformers' formula, which takes angles instead of cosines."""
    angle = torch.atan2(angles.sin, angles.cos).repeat_interleave(2, dim=-1)
    rotate = library("x_transformers.x_transformers", "apply_rotary_pos_emb")
    rotated: Tensor = rotate(x, angle[None])
    return rotated


PEERS = {
    "RoFormer": Peer("interleaved", D, roformer_angles, roformer_rotation),
    "GPT-J": Peer("interleaved", ROTARY_D, gptj_angles, gptj_rotation),
    "Llama": Peer("half", D, llama_angles, half_rotation("llama")),
    "GPT-NeoX": Peer("half", ROTARY_D, neox_angles, half_rotation("gpt_neox")),
    "x-transformers": Peer("interleaved", D, x_transformers_angles, x_transformers_rotation),
    "x-transformers, partial": Peer(
        "interleaved", ROTARY_D, x_transformers_angles, x_transformers_rotation
    ),
}

each_peer = pytest.mark.parametrize("peer", PEERS.values())


def random(*shape: int, seed: int = 0) -> Tensor:
    """Return standard normals in float64."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def in_numpy(x: Tensor, positions: Tensor, **keywords: Any) -> Tensor:
    """Return the result of our definition, in float64."""
    return torch.from_numpy(apply_rope(x.double().numpy(), positions.numpy(), **keywords))


def float64_angles(positions: Tensor, d: int) -> Angles:
    """Return the angles of the paper, without our package."""
    omega = BASE ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions.double()[:, None] * omega
    return Angles(angles.cos(), angles.sin())


def exact_angles(position: int, d: int) -> tuple[Array, Array]:
    """Return cosine and sine of every pair at a position, computed with 50 digits."""
    with mpmath.workdps(50):
        angles = [
            position * mpmath.power(10000, -mpmath.mpf(2 * pair) / d) for pair in range(d // 2)
        ]
        cos = np.array([float(mpmath.cos(angle)) for angle in angles])
        sin = np.array([float(mpmath.sin(angle)) for angle in angles])
    return cos, sin


def drift(angles: Angles, position: int) -> float:
    """Return the largest error in the first row of cosines and sines."""
    cos, sin = exact_angles(position, 2 * angles.cos.shape[-1])
    errors = [angles.cos[0].double().numpy() - cos, angles.sin[0].double().numpy() - sin]
    return float(np.abs(errors).max())


def our_angles(position: int, d: int, dtype: torch.dtype = torch.float64) -> Angles:
    """Return our module's cosines and sines: its rotation of (1, 0) in every pair."""
    ones = torch.tensor([1.0, 0.0], dtype=dtype).repeat(d // 2).reshape(1, 1, 1, d)
    rotated = RotaryEmbedding(d).to(dtype)(ones, offset=position)[0, 0]
    return Angles(rotated[:, 0::2], rotated[:, 1::2])


# Pairs and direction


@each_peer
def test_libraries_rotate_the_same_pairs_in_the_same_direction(peer: Peer) -> None:
    x, positions = random(1, 2, LENGTH, D), torch.arange(LENGTH)
    found = peer.rotate(x, float64_angles(positions, peer.rotary_d))
    expected = in_numpy(x, positions, layout=peer.layout, rotary_d=peer.rotary_d)
    # Angles below 200 have relative errors of 4e-16, on numbers below 5.
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@each_peer
def test_libraries_agree_within_their_float32_angles(peer: Peer) -> None:
    """An angle of p radians in float32 is off by up to p·2**-23, by ω and by the product."""
    x, positions = random(1, 2, LENGTH, D).float(), torch.arange(LENGTH)
    found = peer.rotate(x, peer.angles(positions, peer.rotary_d)).double()
    largest = 2 * x.abs().max().item()
    allowed = largest * 2.0**-23 * (2 + positions.double()).reshape(-1, 1)
    for ours in (
        in_numpy(x, positions, layout=peer.layout, rotary_d=peer.rotary_d),
        RotaryEmbedding(D, layout=peer.layout, rotary_d=peer.rotary_d)(x).double(),
    ):
        assert ((found - ours).abs() <= allowed).all()


def test_interleaved_follows_the_paper_and_half_does_not() -> None:
    """Equation 34 pairs x1 with x2; RoFormer, GPT-J and x-transformers do, Llama and NeoX do not.

    At position 1 the first component becomes x1·cos 1 − (its partner)·sin 1, so a vector with
    one 1 in it shows which the partner is.
    """
    partners = {}
    for name, peer in PEERS.items():
        one_hot = torch.eye(D, dtype=torch.float64).reshape(1, 1, D, D)
        angles = float64_angles(torch.ones(D), peer.rotary_d)
        first_components = peer.rotate(one_hot, angles)[0, 0, :, 0]
        partners[name] = first_components.argmin().item()
        assert first_components.min().item() == pytest.approx(-np.sin(1))
    assert partners == {
        "RoFormer": 1,
        "GPT-J": 1,
        "Llama": D // 2,
        "GPT-NeoX": ROTARY_D // 2,
        "x-transformers": 1,
        "x-transformers, partial": 1,
    }


def test_rotate_half_pairs_halves_in_transformers_and_neighbours_in_x_transformers() -> None:
    from transformers.models.llama.modeling_llama import rotate_half
    from x_transformers.x_transformers import rotate_half as rotate_half_of_x

    assert rotate_half(torch.tensor([1, 2, 3, 4])).tolist() == [-3, -4, 1, 2]
    assert rotate_half_of_x(torch.tensor([1, 2, 3, 4])).tolist() == [-2, 1, -4, 3]


def test_gptj_neox_and_x_transformers_rotate_part_of_each_head_by_default() -> None:
    from transformers import GPTJConfig, GPTNeoXConfig, LlamaConfig
    from transformers.models.gpt_neox.modeling_gpt_neox import GPTNeoXRotaryEmbedding
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding
    from x_transformers import Decoder

    gptj, neox, llama = GPTJConfig(), GPTNeoXConfig(), LlamaConfig()
    assert (gptj.rotary_dim, gptj.n_embd // gptj.n_head) == (64, 256)
    pairs = len(GPTNeoXRotaryEmbedding(neox).inv_freq)
    assert 2 * pairs / (neox.hidden_size // neox.num_attention_heads) == 0.25
    pairs = len(LlamaRotaryEmbedding(llama).inv_freq)
    assert 2 * pairs == llama.hidden_size // llama.num_attention_heads
    decoder = Decoder(dim=64, depth=1, heads=1, attn_dim_head=64, rotary_pos_emb=True)
    assert 2 * len(decoder.rotary_pos_emb.inv_freq) == 32


# Accuracy


@pytest.mark.parametrize("d", [64, 128])
def test_llama_angles_in_float32_drift_at_position_100000(d: int) -> None:
    """Measured: 0.0020 at d = 64 and 0.0052 at d = 128; ours are right to 3.3e-11.

    Our bound is that of an angle of 100,000 whose frequency is off by a unit in the last place, and
    whose product is rounded once more.
    """
    assert 1e-3 < drift(llama_angles(torch.tensor([100_000]), d), 100_000) < 2e-2
    assert drift(our_angles(100_000, d), 100_000) < 100_000 * (2**-52 + 2**-53)


def test_float32_frequencies_and_products_explain_llamas_drift() -> None:
    position = torch.tensor([100_000])
    omega = BASE ** (-torch.arange(0, D, 2, dtype=torch.float64) / D)
    angles = (omega.float() * position).double()
    both = Angles(angles.cos()[None], angles.sin()[None])
    # Llama's own ω is a power and a quotient in float32, up to one more digit off.
    assert drift(both, 100_000) == pytest.approx(0.0020, abs=5e-5)
    assert drift(llama_angles(position, D), 100_000) == pytest.approx(0.0020, abs=5e-5)


def test_our_float32_and_bfloat16_modules_do_not_drift_at_position_100000() -> None:
    assert drift(our_angles(100_000, D, torch.float32), 100_000) < 2.0**-24
    assert drift(our_angles(100_000, D, torch.bfloat16), 100_000) < 2.0**-9 + 2.0**-24


def test_llama_frequencies_do_not_survive_bfloat16() -> None:
    """They are a buffer, which .to(torch.bfloat16) rounds; then position 1000 is off by 0.43."""
    assert drift(llama_angles(torch.tensor([1000]), D, torch.bfloat16), 1000) > 0.3
    assert drift(our_angles(1000, D, torch.bfloat16), 1000) < 2.0**-9 + 2.0**-24


def test_from_pretrained_in_bfloat16_spares_llamas_frequencies(tmp_path: Path) -> None:
    from transformers import LlamaConfig, LlamaModel

    config = LlamaConfig(
        hidden_size=D,
        num_attention_heads=1,
        num_hidden_layers=1,
        intermediate_size=8,
        vocab_size=4,
    )
    LlamaModel(config).save_pretrained(tmp_path)
    model = LlamaModel.from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert model.dtype == torch.bfloat16
    assert model.rotary_emb.inv_freq.dtype == torch.float32
    assert model.to(torch.bfloat16).rotary_emb.inv_freq.dtype == torch.bfloat16


def test_llama_in_bfloat16_still_tells_positions_apart() -> None:
    """Its positions stay float32, so 256 and 257 differ, though neither is right."""
    first, second = (llama_angles(torch.tensor([place]), D, torch.bfloat16) for place in (256, 257))
    assert (first.cos - second.cos).abs().max() > 0.1


def test_x_transformers_in_bfloat16_confuses_two_positions() -> None:
    """It casts positions to the dtype of its frequencies, and in bfloat16 257 becomes 256."""
    first, second = torch.tensor([256]), torch.tensor([257])
    same = [x_transformers_angles(place, D, torch.bfloat16) for place in (first, second)]
    torch.testing.assert_close(same[0], same[1], rtol=0, atol=0)
    ours = [our_angles(place, D, torch.bfloat16) for place in (256, 257)]
    assert (ours[0].cos - ours[1].cos).abs().max() > 0.1


# Weights


def permuted_for_rope(weight: Tensor, heads: int) -> Array:
    """Return interleaved weights as converted by transformers' checkpoint loader."""
    from transformers import LlamaConfig
    from transformers.core_model_loading import PermuteForRope

    config = LlamaConfig(hidden_size=D, num_attention_heads=heads)
    found = PermuteForRope().convert({"q": [weight]}, ["q"], ["q"], config=config)["q"]
    return np.asarray(found)


@pytest.mark.parametrize("shape", [(4 * 16, 12), (4 * 16,)])
def test_projection_is_converted_as_a_checkpoint_loader_does(shape: tuple[int, ...]) -> None:
    weight = random(*shape)
    found = convert_projection(weight.numpy(), heads=4, source="interleaved", target="half")
    np.testing.assert_array_equal(found, permuted_for_rope(weight, heads=4))


def test_checkpoint_loader_counts_query_heads_where_keys_are_grouped() -> None:
    """For 2 key heads of 16, PermuteForRope assumes 4 heads of 8, the query heads: other pairs.

    Converted by the number of its own heads, a key keeps the scores of the model.
    """
    weight, tokens = random(2 * 16, 12), random(5, 12, seed=1)
    ours = convert_projection(weight.numpy(), heads=2, source="interleaved", target="half")
    converted = permuted_for_rope(weight, heads=4)
    assert (ours != converted).any()

    def products_of_rotated_keys(key: Array, layout: str) -> Array:
        keys = (tokens.numpy() @ key.T).reshape(5, 2, 16).swapaxes(0, 1)
        rotated = apply_rope(keys, range(5), layout=layout)
        products: Array = rotated @ rotated.swapaxes(-1, -2)
        return products

    right = products_of_rotated_keys(weight.numpy(), "interleaved")
    np.testing.assert_allclose(products_of_rotated_keys(ours, "half"), right, rtol=0, atol=1e-11)
    assert np.abs(products_of_rotated_keys(converted, "half") - right).max() > 1


def test_the_checkpoint_loader_converts_only_where_keys_have_as_many_heads_as_queries() -> None:
    """PermuteForRope is used only where a matrix is cut into three equal parts, and in Pixtral.

    Queries, keys and values of one size have one key head for each query head; and Pixtral's vision
    encoder, which is converted without a cut, has no setting for key heads.
    """
    import transformers.conversion_mapping as mapping
    from transformers import PixtralVisionConfig
    from transformers.core_model_loading import Chunk, PermuteForRope, WeightConverter

    def converters(x: object) -> list[Any]:
        if isinstance(x, dict):
            return [found for part in x.values() for found in converters(part)]
        if isinstance(x, list):
            return [found for part in x for found in converters(part)]
        return [x] if isinstance(x, WeightConverter) else []

    found = [
        converter.operations
        for converter in converters(mapping._build_checkpoint_conversion_mapping())
        if any(isinstance(step, PermuteForRope) for step in converter.operations)
    ]
    assert found
    for steps in found:
        cut_in_three = isinstance(steps[0], Chunk)
        assert cut_in_three or steps[-1].subconfig_key == "vision_config"
    assert not hasattr(PixtralVisionConfig(), "num_key_value_heads")
