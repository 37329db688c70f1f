"""Options of `posenc.nn.RotaryEmbedding`; `test_fast.py` compares it with the numpy definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc import convert_layout, dynamic_frequencies, frequencies
from posenc.nn.rotary import RotaryEmbedding
from tests.nn.rotations import both_layouts, every_dtype, random, rotated_in_numpy


def dynamic(length: int) -> NDArray[np.float64]:
    """Return the frequencies of dynamic NTK, trained on 16 positions."""
    return dynamic_frequencies(8, length, factor=2, trained_length=16)


# Frequencies and positions


def test_given_frequencies_replace_the_base() -> None:
    x = random(1, 2, 5, 8)
    own = RotaryEmbedding(8, frequencies=frequencies(8, base=500.0))
    torch.testing.assert_close(own(x), RotaryEmbedding(8, base=500.0)(x), rtol=0, atol=0)
    np.testing.assert_array_equal(own.frequencies, frequencies(8, base=500.0))


def test_positions_may_lie_between_integers() -> None:
    x, positions = random(1, 1, 2, 8), torch.tensor([0.25, -3.5])
    rotated = RotaryEmbedding(8)(x, positions=positions)
    torch.testing.assert_close(rotated, rotated_in_numpy(x, positions.numpy()), rtol=0, atol=1e-14)


def test_layouts_differ_only_in_the_order_of_dimensions() -> None:
    x = random(2, 3, 5, 8)
    half = torch.from_numpy(convert_layout(x.numpy(), source="interleaved", target="half"))
    found = RotaryEmbedding(8, layout="half")(half).numpy()
    back = convert_layout(found, source="half", target="interleaved")
    expected = RotaryEmbedding(8)(x)
    torch.testing.assert_close(torch.from_numpy(back), expected, rtol=0, atol=0)


# Dtypes and compilers


def test_default_dtype_does_not_affect_the_angles() -> None:
    x = random(1, 1, 5, 64, dtype=torch.float32)
    expected = RotaryEmbedding(64)(x, offset=5000)
    torch.set_default_dtype(torch.bfloat16)
    try:
        found = RotaryEmbedding(64)(x, offset=5000)
    finally:
        torch.set_default_dtype(torch.float32)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


@every_dtype
def test_autocast_changes_nothing(dtype: torch.dtype) -> None:
    module, x = RotaryEmbedding(64), random(2, 3, 5, 64, dtype=dtype)
    with torch.autocast("cpu", torch.bfloat16):
        found = module(x, offset=5000)
    torch.testing.assert_close(found, module(x, offset=5000), rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_a_new_offset_does_not_compile_a_new_graph() -> None:
    """In generation the offset grows, and only its first two values may compile."""
    graphs: list[object] = []

    def backend(graph: torch.fx.GraphModule, _: object) -> torch.fx.GraphModule:
        graphs.append(graph)
        return graph

    torch.compiler.reset()
    module, x = RotaryEmbedding(8), random(2, 3, 1, 8)
    compiled = torch.compile(module, fullgraph=True, backend=backend)
    for offset in range(2, 12):
        found = compiled(x, offset=offset)
        torch.testing.assert_close(found, module(x, offset=offset), rtol=0, atol=0)
    assert len(graphs) <= 2


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
@both_layouts
def test_module_can_be_exported_for_any_length(layout: str) -> None:
    module, length = RotaryEmbedding(8, layout=layout), torch.export.Dim("length", min=2, max=4096)
    x, longer = random(2, 3, 5, 8), random(2, 3, 7, 8)
    by_offset = torch.export.export(
        module, (x,), {"offset": 3}, dynamic_shapes={"x": {2: length}, "offset": None}
    )
    found = by_offset.module()(longer, offset=3)
    torch.testing.assert_close(found, module(longer, offset=3), rtol=0, atol=1e-13)
    by_positions = torch.export.export(
        module,
        (x,),
        {"positions": torch.arange(10).reshape(2, 5)},
        dynamic_shapes={"x": {2: length}, "positions": {1: length}},
    )
    positions = torch.arange(14).reshape(2, 7)
    found = by_positions.module()(longer, positions=positions)
    torch.testing.assert_close(found, module(longer, positions=positions), rtol=0, atol=1e-13)
    assert by_offset.state_dict == by_positions.state_dict == {}


# NaN and repr


def test_nan_stays_in_its_own_vector() -> None:
    x = random(1, 1, 5, 8)
    x[0, 0, 2, 0] = float("nan")
    bad = RotaryEmbedding(8)(x).isnan()
    assert bad[0, 0, 2, :2].all()
    assert bad.sum() == 2


@pytest.mark.parametrize(
    ("d", "options", "shown"),
    [
        (8, {}, 'base=10000.0, layout="interleaved", rotary_d=8'),
        (
            64,
            {"base": 500, "layout": "half", "rotary_d": 16},
            'base=500.0, layout="half", rotary_d=16',
        ),
        (
            4,
            {"frequencies": [0.5, 0]},
            'frequencies=(0.5, 0.0), layout="interleaved", rotary_d=4',
        ),
        (
            8,
            {"frequencies": [4, 3, 2, 1]},
            'frequencies=(4.0, ..., 1.0), layout="interleaved", rotary_d=8',
        ),
        (
            8,
            {"frequencies": dynamic, "attention_factor": 1.25},
            'frequencies=a function of the length, layout="interleaved", rotary_d=8,'
            " attention_factor=1.25",
        ),
    ],
)
def test_repr_shows_the_arguments(d: int, options: dict[str, Any], shown: str) -> None:
    assert repr(RotaryEmbedding(d, **options)) == f"RotaryEmbedding({d}, {shown})"


# Frequencies that depend on the length, and scaled rotations


@both_layouts
@pytest.mark.parametrize("length", [3, 16, 17, 64])
def test_frequencies_may_be_a_function_of_the_length(length: int, layout: str) -> None:
    rotary = RotaryEmbedding(8, frequencies=dynamic, layout=layout)
    x = random(2, 3, 3, 8, dtype=torch.float64)
    expected = RotaryEmbedding(8, frequencies=dynamic(length), layout=layout)(x, offset=0)
    torch.testing.assert_close(rotary(x, length=length), expected, rtol=0, atol=0)
    rotated = rotary.turn(x, rotary.factors(x, length=length))
    torch.testing.assert_close(rotated, expected, rtol=0, atol=1e-15)


def test_the_length_is_that_of_the_tokens_before_and_in_a_call_if_not_given() -> None:
    rotary, x = RotaryEmbedding(8, frequencies=dynamic), random(2, 3, 5, 8)
    assert torch.equal(rotary(x, offset=20), rotary(x, offset=20, length=25))
    assert not torch.equal(rotary(x, offset=20), rotary(x, offset=20, length=26))
    assert rotary(x[:, :, :0]).shape == (2, 3, 0, 8)


def test_the_same_sequence_has_the_same_angles_whatever_was_asked_before() -> None:
    """Unlike in transformers 5.24, where a longer sequence leaves its frequencies behind."""
    rotary, x = RotaryEmbedding(8, frequencies=dynamic), random(2, 3, 20, 8)
    first = rotary(x)
    rotary(random(2, 3, 100, 8))
    rotary(x[:, :, :3])
    assert torch.equal(rotary(x), first)


def test_keys_rotated_for_the_whole_length_can_be_cached() -> None:
    rotary, x = RotaryEmbedding(8, frequencies=dynamic), random(1, 2, 40, 8)
    parts = [
        rotary(x[:, :, start : start + 10], offset=start, length=40) for start in (0, 10, 20, 30)
    ]
    assert torch.equal(torch.cat(parts, dim=2), rotary(x))


def test_with_positions_a_function_needs_the_length() -> None:
    rotary, x = RotaryEmbedding(8, frequencies=dynamic), random(1, 1, 2, 8)
    positions = torch.arange(2)
    with pytest.raises(ValueError, match="length must be given where positions are"):
        rotary(x, positions=positions)
    assert torch.equal(rotary(x, positions=positions, length=30), rotary(x, length=30))


def test_the_length_has_no_effect_on_fixed_frequencies() -> None:
    x = random(1, 1, 2, 8)
    assert torch.equal(RotaryEmbedding(8)(x, length=1000), RotaryEmbedding(8)(x))


def test_a_function_must_return_one_frequency_a_pair() -> None:
    with pytest.raises(ValueError, match="frequencies must"):
        RotaryEmbedding(8, frequencies=lambda length: [1.0] * length)


@both_layouts
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_an_attention_factor_scales_rotated_dimensions_and_no_others(
    dtype: torch.dtype, layout: str
) -> None:
    x = random(2, 3, 5, 8, dtype=dtype)
    plain = RotaryEmbedding(8, rotary_d=4, layout=layout)
    sharp = RotaryEmbedding(8, rotary_d=4, layout=layout, attention_factor=1.25)
    expected = torch.cat([1.25 * plain(x)[..., :4], x[..., 4:]], dim=-1)
    torch.testing.assert_close(sharp(x), expected, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(sharp.turn(x, sharp.factors(x)), expected, rtol=1e-6, atol=1e-6)


def test_gradients_pass_through_a_scaled_rotation() -> None:
    rotary = RotaryEmbedding(8, attention_factor=1.25)
    x = random(1, 2, 3, 8, dtype=torch.float64).requires_grad_()
    factors = rotary.factors(x)
    assert torch.autograd.gradcheck(lambda x: rotary.turn(x, factors), x)
