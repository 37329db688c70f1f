"""Sinusoidal tables against those of independent implementations.

They differ in three ways. Where do sines and cosines go: interleaved, as in section 3.5 of
Vaswani et al. (2017), or sines in the first half and cosines in the second, as in the authors'
own program? What is the exponent: 2i/d, as in the paper, or i/(d/2 − 1), as in that program,
whose last frequency is 1/10000 exactly? And are the angles computed in float64, or in float32,
whose error grows with the position?
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc import sinusoidal_encoding
from posenc.nn import SinusoidalPositionalEncoding

Array = NDArray[np.floating]

# Half a unit in the last place of a float32 below 1, and our own error beside it.
FLOAT32 = 2.0**-25 + 1e-12
WIDTHS = (2, 8, 64, 512)
LENGTH = 600


def family(name: str) -> Any:
    return importlib.import_module(f"transformers.models.{name}.modeling_{name}")


def x_transformers_layer(d_model: int) -> Any:
    module = importlib.import_module("x_transformers.x_transformers")
    layer = module.ScaledSinusoidalEmbedding(d_model)
    torch.nn.init.ones_(layer.scale)  # a learned factor, initially d ** −0.5
    return layer


def in_halves(rows: Array) -> Array:
    """Return interleaved rows with their sines first and their cosines after them."""
    return np.concatenate((rows[..., 0::2], rows[..., 1::2]), axis=-1)


def marian(length: int, d_model: int) -> Array:
    module = family("marian").MarianSinusoidalPositionalEmbedding(length, d_model)
    return np.asarray(module.create_weight().double())


def distilbert(length: int, d_model: int) -> Array:
    table = torch.empty(length, d_model)
    family("distilbert").create_sinusoidal_embeddings(n_pos=length, dim=d_model, out=table)
    return np.asarray(table.double())


def x_transformers(length: int, d_model: int, offset: int = 0) -> Array:
    with torch.no_grad():
        rows = x_transformers_layer(d_model)(torch.zeros(1, length, 1), offset=offset)
    return np.asarray(rows.double())


def m2m100(length: int, d_model: int) -> Array:
    layer = family("m2m_100").M2M100SinusoidalPositionalEmbedding
    return np.asarray(layer.get_embedding(length, d_model).double())


def whisper(length: int, d_model: int) -> Array:
    return np.asarray(family("whisper").sinusoids(length, d_model).double())


# Which layout follows the paper


@pytest.mark.parametrize("d_model", WIDTHS)
def test_distilbert_interleaves_as_the_paper_does(d_model: int) -> None:
    np.testing.assert_allclose(
        distilbert(LENGTH, d_model), sinusoidal_encoding(LENGTH, d_model), rtol=0, atol=FLOAT32
    )


@pytest.mark.parametrize("d_model", WIDTHS)
def test_marian_has_the_papers_numbers_with_all_sines_before_all_cosines(d_model: int) -> None:
    rows = sinusoidal_encoding(LENGTH, d_model)
    expected = marian(LENGTH, d_model)
    np.testing.assert_allclose(expected, in_halves(rows), rtol=0, atol=FLOAT32)
    if d_model > 2:  # at width 2 the layouts are the same
        assert np.abs(expected - rows).max() > 0.5


@pytest.mark.parametrize("d_model", WIDTHS)
def test_our_layer_equals_distilbert_in_float32(d_model: int) -> None:
    """To the last bit: both round a float64 value once, and none is a tie here."""
    ours = SinusoidalPositionalEncoding(d_model)(torch.zeros(1, LENGTH, d_model))[0]
    assert np.array_equal(ours.double().numpy(), distilbert(LENGTH, d_model))


@pytest.mark.parametrize("d_model", WIDTHS)
def test_x_transformers_has_marians_layout_with_angles_in_float32(d_model: int) -> None:
    expected = x_transformers(LENGTH, d_model)
    # Two roundings of an angle up to 600, each 2**-24 of it at most, and one of the result.
    np.testing.assert_allclose(
        expected,
        in_halves(sinusoidal_encoding(LENGTH, d_model)),
        rtol=0,
        atol=LENGTH * 2.0**-22,
    )


# Which exponent follows the paper


@pytest.mark.parametrize("peer", [m2m100, whisper])
@pytest.mark.parametrize("d_model", [8, 64, 512])
def test_fairseqs_descendants_and_whisper_end_at_one_ten_thousandth_and_the_paper_does_not(
    peer: Any, d_model: int
) -> None:
    """Their ω_i is 10000^(−i/(d/2 − 1)), the paper's 10000^(−i/(d/2)): another encoding."""
    omega = 10000.0 ** (-np.arange(d_model // 2) / (d_model // 2 - 1))
    angles = np.arange(LENGTH)[:, np.newaxis] * omega
    expected = peer(LENGTH, d_model)
    np.testing.assert_allclose(
        expected,
        np.concatenate((np.sin(angles), np.cos(angles)), axis=1),
        rtol=0,
        atol=LENGTH * 2.0**-20,  # float32 angles, from an exponential of a float32 logarithm
    )
    ours = in_halves(sinusoidal_encoding(LENGTH, d_model))
    assert np.abs(expected - ours).max() > 0.5


# What float32 angles cost


@pytest.mark.parametrize("far", [10_000, 100_000, 1_000_000])
def test_float32_angles_drift_with_the_position_and_float64_angles_do_not(far: int) -> None:
    expected = x_transformers(8, 512, offset=far)
    exact = in_halves(sinusoidal_encoding(np.arange(far, far + 8), 512))
    drift = np.abs(expected - exact).max()
    assert far * 2.0**-27 < drift < far * 2.0**-22
    x = torch.zeros(1, 8, 512)
    ours = SinusoidalPositionalEncoding(512)(x, offset=far)[0].double().numpy()
    np.testing.assert_allclose(in_halves(ours), exact, rtol=0, atol=FLOAT32 + far * 4e-16)


def test_x_transformers_in_bfloat16_confuses_positions_that_we_tell_apart() -> None:
    layer = x_transformers_layer(64).to(torch.bfloat16)
    with torch.no_grad():
        positions = torch.arange(1000).bfloat16()
        expected = layer(torch.zeros(1, 1000, 64), pos=positions).float().numpy()
    ours = SinusoidalPositionalEncoding(64).bfloat16()(torch.zeros(1, 1000, 64).bfloat16())
    assert len(np.unique(expected, axis=0)) <= 507
    assert len(np.unique(ours[0].float().numpy(), axis=0)) == 1000


# How models use the rows


def test_distilbert_learns_its_positions_unless_asked_for_sines() -> None:
    from transformers import DistilBertConfig, DistilBertModel

    small = {"vocab_size": 3, "dim": 8, "hidden_dim": 8, "max_position_embeddings": 5}
    small |= {"n_heads": 1, "n_layers": 1}
    learned, sines = (
        DistilBertModel(config).embeddings.position_embeddings.weight
        for config in (
            DistilBertConfig(**small),
            DistilBertConfig(sinusoidal_pos_embds=True, **small),
        )
    )
    rows = sinusoidal_encoding(5, 8)
    assert learned.requires_grad
    assert np.abs(np.asarray(learned.detach()) - rows).max() > 0.5
    np.testing.assert_allclose(sines.detach(), rows, rtol=0, atol=FLOAT32)


def test_x_transformers_multiplies_by_a_learned_factor_that_starts_at_one_over_the_root_of_d() -> (
    None
):
    module = importlib.import_module("x_transformers.x_transformers")
    layer = module.ScaledSinusoidalEmbedding(64)
    assert layer.scale.requires_grad
    assert layer.scale.item() == 64**-0.5


def test_m2m100_begins_at_the_position_after_its_padding_id() -> None:
    layer = family("m2m_100").M2M100SinusoidalPositionalEmbedding(10, 8, padding_idx=1)
    rows = layer(torch.tensor([[5, 6, 7]]))[0]
    np.testing.assert_array_equal(rows, m2m100(20, 8)[2:5])


def test_whispers_decoder_learns_its_positions_and_its_encoder_does_not() -> None:
    from transformers import WhisperConfig

    config = WhisperConfig(
        d_model=8,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=1,
        decoder_attention_heads=1,
        max_source_positions=6,
        max_target_positions=6,
    )
    model = family("whisper").WhisperModel(config)
    assert not model.encoder.embed_positions.weight.requires_grad
    np.testing.assert_array_equal(model.encoder.embed_positions.weight, whisper(6, 8))
    assert model.decoder.embed_positions.weight.requires_grad
