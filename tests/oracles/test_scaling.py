"""Long-context frequencies against those of transformers 5: equal where it follows the papers."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from numpy.typing import NDArray

from posenc import (
    frequencies,
    interpolated_frequencies,
    ntk_frequencies,
    wavelengths,
    yarn_frequencies,
    yarn_temperature,
)
from scripts.examples.longer import with_yarn

D, LENGTH = 128, 4096
# transformers computes in float32: a power of the base amplifies its rounding by |ln ω|, here 9.
FLOAT32 = 16 * 2.0**-24


def transformers_frequencies(
    kind: str, factor: float, base: float = 10000.0, d: int = D, length: int = LENGTH
) -> tuple[NDArray[np.float64], float]:
    """Return the frequencies of a one-head Llama in transformers, and its scale."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(
        hidden_size=d,
        num_attention_heads=1,
        max_position_embeddings=length,
        rope_parameters={
            "rope_type": kind,
            "rope_theta": base,
            "factor": factor,
            "original_max_position_embeddings": length,
        },
    )
    long = int(factor * length) if kind == "dynamic" else None
    found, scale = ROPE_INIT_FUNCTIONS[kind](config, device="cpu", seq_len=long)
    return found.double().numpy(), scale


@pytest.mark.parametrize("factor", [1.0, 2.0, 8.0])
def test_their_linear_scaling_is_interpolation(factor: float) -> None:
    found, scale = transformers_frequencies("linear", factor)
    np.testing.assert_allclose(found, interpolated_frequencies(D, factor), rtol=FLOAT32)
    assert scale == 1


@pytest.mark.parametrize("factor", [1.0, 2.0, 4.0])
def test_their_dynamic_scaling_is_a_larger_base_by_another_factor(factor: float) -> None:
    """Dynamic NTK enlarges the base by factor·length/trained − (factor − 1), not by the factor."""
    found, _ = transformers_frequencies("dynamic", factor)
    np.testing.assert_allclose(
        found, ntk_frequencies(D, factor * factor - (factor - 1)), rtol=FLOAT32
    )


@pytest.mark.parametrize("factor", [1.0, 4.0, 32.0])
@pytest.mark.parametrize("d", [8, 128])
def test_x_transformers_rescales_the_base_by_the_same_rule(d: int, factor: float) -> None:
    module = importlib.import_module("x_transformers.x_transformers")
    found = module.RotaryEmbedding(d, base_rescale_factor=factor).inv_freq.double().numpy()
    np.testing.assert_allclose(found, ntk_frequencies(d, factor), rtol=FLOAT32)


@pytest.mark.parametrize("length", [7, 64, 4096, 10**6])
@pytest.mark.parametrize("d", [8, 32, 128])
@pytest.mark.parametrize("base", [100.0, 10000.0, 500000.0])
@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_their_yarn_is_ours_with_the_released_ramp(
    factor: float, base: float, d: int, length: int
) -> None:
    found, scale = transformers_frequencies("yarn", factor, base, d, length)
    ours = yarn_frequencies(d, factor, length, base=base, ramp="pairs")
    np.testing.assert_allclose(found, ours, rtol=FLOAT32)
    assert scale == pytest.approx(yarn_temperature(factor), rel=1e-15)


@pytest.mark.parametrize("base", [10000.0, 500000.0])
@pytest.mark.parametrize("factor", [2.0, 8.0])
def test_yarn_has_different_ramps_in_the_paper_and_in_the_code(factor: float, base: float) -> None:
    found, _ = transformers_frequencies("yarn", factor, base)
    ours = yarn_frequencies(D, factor, LENGTH, base=base)
    turns = LENGTH / wavelengths(D, base=base)
    outside = (turns >= 32) | (turns <= 1)
    np.testing.assert_allclose(found[outside], ours[outside], rtol=FLOAT32)
    # In between, pairs rotate up to this many times as fast in the code as in the paper.
    faster = {2.0: 1.25, 8.0: 2.0}[factor]
    assert faster < (found / ours).max() < 1.25 * faster


def test_where_no_pair_turns_32_times_their_yarn_keeps_the_first_and_the_papers_none() -> None:
    """At a factor of 8, for heads 32 wide trained on 64 positions, as on a page of the book."""
    assert (64 / wavelengths(32)).max() < 32
    slower = frequencies(32) / transformers_frequencies("yarn", 8.0, d=32, length=64)[0]
    np.testing.assert_allclose(slower[:6], [1, 1.21, 1.54, 2.11, 3.33, 8], atol=0.005)
    assert (frequencies(32) / yarn_frequencies(32, 8, 64)).min() > 2.5


@pytest.mark.parametrize("base", [10000.0, 500000.0])
def test_the_setting_for_transformers_is_yarn_of_the_package(base: float) -> None:
    from transformers import LlamaConfig
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(
        hidden_size=16,
        num_attention_heads=1,
        max_position_embeddings=64,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    rotary = LlamaRotaryEmbedding(with_yarn(config, trained=64, length=256))
    ours = yarn_frequencies(16, 4, 64, base=base, ramp="pairs")
    np.testing.assert_allclose(rotary.inv_freq.double().numpy(), ours, rtol=FLOAT32)
    assert rotary.attention_scaling == pytest.approx(yarn_temperature(4), rel=1e-15)
    assert config.max_position_embeddings == 256


def test_without_rope_theta_transformers_takes_its_default_base() -> None:
    from transformers import LlamaConfig

    yarn = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
    assert LlamaConfig(rope_parameters=yarn).rope_parameters["rope_theta"] == 10000
