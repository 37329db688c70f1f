"""`posenc.nn.RotaryEmbedding` equals the numpy definition, whatever is done to the module."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc import apply_rope, convert_layout, dynamic_frequencies, frequencies
from posenc.nn.rotary import RotaryEmbedding

LAYOUTS = ("interleaved", "half")
DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)

# Half the distance between neighbouring numbers from 1 to 2: what one rounding can do to 1.
ROUNDING = {
    torch.float64: 2.0**-53,
    torch.float32: 2.0**-24,
    torch.bfloat16: 2.0**-9,
    torch.float16: 2.0**-12,
}

both_layouts = pytest.mark.parametrize("layout", LAYOUTS)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return numbers of about 1."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def defined(x: Tensor, positions: Any, **keywords: Any) -> Tensor:
    """Return the result of the numpy definition for the same numbers, in float64."""
    return torch.from_numpy(apply_rope(x.detach().double().numpy(), positions, **keywords))


def scores(q: Tensor, k: Tensor) -> Tensor:
    """Return the dot product of every query with every key."""
    return q @ k.mT


# The definition


@both_layouts
@every_dtype
@pytest.mark.parametrize("rotary_d", [None, 2, 6, 8])
def test_module_equals_the_numpy_definition(
    rotary_d: int | None, dtype: torch.dtype, layout: str
) -> None:
    x = random(2, 3, 5, 8, dtype=dtype)
    module = RotaryEmbedding(8, base=500.0, layout=layout, rotary_d=rotary_d)
    turned = module(x, offset=4090)
    expected = defined(x, range(4090, 4095), base=500.0, layout=layout, rotary_d=rotary_d)
    assert turned.dtype == dtype
    assert turned.shape == x.shape
    # Two products and a sum of numbers below 4, in float64 or float32, and one rounding to dtype;
    # below float64, cosine and sine were rounded too.
    products = 16 * ROUNDING[torch.promote_types(dtype, torch.float32)]
    error = (turned.double() - expected).abs()
    assert (error <= products + ROUNDING[dtype] * 2 * expected.abs()).all()


def test_given_frequencies_replace_the_base() -> None:
    x = random(1, 2, 5, 8)
    own = RotaryEmbedding(8, frequencies=frequencies(8, base=500.0))
    torch.testing.assert_close(own(x), RotaryEmbedding(8, base=500.0)(x), rtol=0, atol=0)
    np.testing.assert_array_equal(own.frequencies, frequencies(8, base=500.0))


@pytest.mark.parametrize("kind", ["int64", "int32", "int16", "uint8", "float32", "float64"])
def test_positions_may_be_of_any_integer_or_wide_real_type(kind: str) -> None:
    module, x = RotaryEmbedding(8), random(2, 3, 3, 8)
    positions = torch.tensor([0, 1, 100], dtype=getattr(torch, kind))
    expected = module(x, positions=torch.tensor([0, 1, 100]))
    torch.testing.assert_close(module(x, positions=positions), expected, rtol=0, atol=0)


def test_positions_may_lie_between_integers() -> None:
    x, positions = random(1, 1, 2, 8), torch.tensor([0.25, -3.5])
    turned = RotaryEmbedding(8)(x, positions=positions)
    torch.testing.assert_close(turned, defined(x, positions.numpy()), rtol=0, atol=1e-14)


def test_no_vectors_give_no_vectors() -> None:
    module = RotaryEmbedding(8)
    for shape in ((2, 3, 0, 8), (0, 3, 5, 8), (2, 0, 5, 8)):
        assert module(torch.zeros(shape)).shape == shape


def test_vectors_may_have_any_strides() -> None:
    module, x = RotaryEmbedding(8, layout="half"), random(2, 5, 3, 8)
    turned = module(x.transpose(1, 2))
    expected = module(x.transpose(1, 2).contiguous())
    torch.testing.assert_close(turned, expected, rtol=0, atol=0)


def test_layouts_differ_only_in_the_order_of_dimensions() -> None:
    x = random(2, 3, 5, 8)
    half = torch.from_numpy(convert_layout(x.numpy(), source="interleaved", target="half"))
    found = RotaryEmbedding(8, layout="half")(half).numpy()
    back = convert_layout(found, source="half", target="interleaved")
    expected = RotaryEmbedding(8)(x)
    torch.testing.assert_close(torch.from_numpy(back), expected, rtol=0, atol=0)


# Far positions and narrow types


@every_dtype
def test_angles_are_float64_for_every_dtype(dtype: torch.dtype) -> None:
    """At 1 000 000 the only error is rounding to the dtype, or to float32 and then to it."""
    x = torch.tensor([1.0, 0.0] * 64, dtype=dtype).reshape(1, 1, 1, 128)
    turned = RotaryEmbedding(128).to(dtype)(x, offset=1_000_000).double()
    atol = ROUNDING[dtype] + 2 * ROUNDING[torch.promote_types(dtype, torch.float32)]
    torch.testing.assert_close(turned, defined(x, 1_000_000), rtol=0, atol=atol)


@pytest.mark.parametrize(
    "change",
    [
        lambda module: module.to(torch.bfloat16),
        lambda module: module.half(),
        lambda module: module.double(),
        lambda module: module.half().float(),
        lambda module: module.eval().train(),
        copy.deepcopy,
        lambda module: module.to("meta").to_empty(device="cpu"),
    ],
    ids=["bfloat16", "half", "double", "half and float", "eval and train", "copy", "meta"],
)
def test_casting_or_moving_a_module_does_not_change_its_rotations(
    change: Callable[[nn.Module], nn.Module],
) -> None:
    x = random(2, 3, 5, 64, dtype=torch.float32)
    expected = RotaryEmbedding(64)(x, offset=5000)
    found = change(RotaryEmbedding(64))(x, offset=5000)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


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


# Decoding, padding, packing


def test_keys_rotated_one_by_one_equal_keys_rotated_at_once() -> None:
    module, x = RotaryEmbedding(64), random(2, 3, 9, 64, dtype=torch.float32)
    steps = [module(x[:, :, [step]], offset=step) for step in range(9)]
    torch.testing.assert_close(torch.cat(steps, dim=2), module(x), rtol=0, atol=0)


def test_left_padding_does_not_change_scores() -> None:
    """Positions shifted by the padding give the same scores: only differences count."""
    module, q, k = RotaryEmbedding(64), random(1, 3, 5, 64), random(1, 3, 5, 64, seed=1)
    alone = scores(module(q), module(k))
    for positions in (torch.arange(7, 12), torch.arange(-2, 3), torch.arange(5) + 0.5):
        found = scores(module(q, positions=positions), module(k, positions=positions))
        torch.testing.assert_close(found, alone, rtol=0, atol=1e-12)


def test_packed_documents_are_rotated_like_separate_ones() -> None:
    module, x = RotaryEmbedding(64), random(1, 3, 9, 64)
    packed = module(x, positions=torch.tensor([0, 1, 2, 3, 0, 1, 2, 3, 4]))
    apart = torch.cat([module(x[:, :, :4]), module(x[:, :, 4:])], dim=2)
    torch.testing.assert_close(packed, apart, rtol=0, atol=0)


# Compilers


class Turned(nn.Module):
    """Both uses of the module, as in attention."""

    def __init__(self, layout: str) -> None:
        super().__init__()
        self.rotary = RotaryEmbedding(8, layout=layout, rotary_d=6)

    def forward(self, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Return queries at positions, and keys from 3 on."""
        return self.rotary(q, positions=positions), self.rotary(k, offset=3)


def turned_arguments(length: int = 5) -> tuple[Tensor, Tensor, Tensor]:
    """Return arguments for `Turned`."""
    positions = torch.arange(2 * length).reshape(2, length)
    return random(2, 3, length, 8), random(2, 3, length, 8, seed=1), positions


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
    module, length = Turned(layout), torch.export.Dim("length", min=2, max=4096)
    shapes = ({2: length}, {2: length}, {1: length})
    program = torch.export.export(module, turned_arguments(), dynamic_shapes=shapes).module()
    for other in (5, 7):
        given = turned_arguments(other)
        expected = module(*turned_arguments(other))
        torch.testing.assert_close(program(*given), expected, rtol=0, atol=1e-13)
    assert program.state_dict() == {}


# What belongs to whom


@both_layouts
def test_gradients_of_x_are_rotated_back(layout: str) -> None:
    """A rotation is orthogonal, so the gradient is rotated to the opposite position."""
    module, arriving = RotaryEmbedding(8, layout=layout, rotary_d=6), random(2, 3, 5, 8, seed=1)
    x = random(2, 3, 5, 8).requires_grad_()
    module(x, offset=7).backward(arriving)
    assert x.grad is not None
    expected = module(arriving, positions=-torch.arange(7, 12))
    torch.testing.assert_close(x.grad, expected, rtol=0, atol=1e-14)
    assert torch.autograd.gradcheck(module, x)


def test_nan_stays_in_its_own_vector() -> None:
    x = random(1, 1, 5, 8)
    x[0, 0, 2, 0] = float("nan")
    bad = RotaryEmbedding(8)(x).isnan()
    assert bad[0, 0, 2, :2].all()
    assert bad.sum() == 2


def test_repr_shows_the_arguments() -> None:
    shown = 'RotaryEmbedding(64, base=500.0, layout="half", rotary_d=16)'
    assert repr(RotaryEmbedding(64, base=500, layout="half", rotary_d=16)) == shown
    shown = 'RotaryEmbedding(4, frequencies=(0.5, 0.0), layout="interleaved", rotary_d=4)'
    assert repr(RotaryEmbedding(4, frequencies=[0.5, 0])) == shown
    shown = 'RotaryEmbedding(8, frequencies=(4.0, ..., 1.0), layout="interleaved", rotary_d=8)'
    assert repr(RotaryEmbedding(8, frequencies=[4, 3, 2, 1])) == shown
    shown = 'RotaryEmbedding(8, base=10000.0, layout="interleaved", rotary_d=8)'
    assert repr(RotaryEmbedding(8)) == shown


# Frequencies that depend on the length, and scaled rotations


def scaled(length: int) -> NDArray[np.float64]:
    """Return the frequencies of dynamic NTK, trained on 16 positions."""
    return dynamic_frequencies(8, length, factor=2, trained_length=16)


@both_layouts
@pytest.mark.parametrize("length", [3, 16, 17, 64])
def test_frequencies_may_be_a_function_of_the_length(length: int, layout: str) -> None:
    rotary = RotaryEmbedding(8, frequencies=scaled, layout=layout)
    x = random(2, 3, 3, 8, dtype=torch.float64)
    expected = RotaryEmbedding(8, frequencies=scaled(length), layout=layout)(x, offset=0)
    torch.testing.assert_close(rotary(x, length=length), expected, rtol=0, atol=0)
    turned = rotary.turn(x, rotary.factors(x, length=length))
    torch.testing.assert_close(turned, expected, rtol=0, atol=1e-15)


def test_the_length_is_that_of_the_tokens_before_and_in_a_call_if_not_given() -> None:
    rotary, x = RotaryEmbedding(8, frequencies=scaled), random(2, 3, 5, 8)
    assert torch.equal(rotary(x, offset=20), rotary(x, offset=20, length=25))
    assert not torch.equal(rotary(x, offset=20), rotary(x, offset=20, length=26))
    assert rotary(x[:, :, :0]).shape == (2, 3, 0, 8)


def test_the_same_sequence_has_the_same_angles_whatever_was_asked_before() -> None:
    """Unlike in transformers 5.24, where a longer sequence leaves its frequencies behind."""
    rotary, x = RotaryEmbedding(8, frequencies=scaled), random(2, 3, 20, 8)
    first = rotary(x)
    rotary(random(2, 3, 100, 8))
    rotary(x[:, :, :3])
    assert torch.equal(rotary(x), first)


def test_keys_rotated_for_the_whole_length_can_be_cached() -> None:
    rotary, x = RotaryEmbedding(8, frequencies=scaled), random(1, 2, 40, 8)
    at_once = rotary(x)
    parts = [
        rotary(x[:, :, start : start + 10], offset=start, length=40) for start in (0, 10, 20, 30)
    ]
    torch.testing.assert_close(torch.cat(parts, dim=2), at_once, rtol=0, atol=0)


def test_with_positions_a_function_needs_the_length() -> None:
    rotary, x, positions = (
        RotaryEmbedding(8, frequencies=scaled),
        random(1, 1, 2, 8),
        torch.arange(2),
    )
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


def test_print_shows_a_function_and_a_factor() -> None:
    rotary = RotaryEmbedding(8, frequencies=scaled, attention_factor=1.25)
    assert rotary.extra_repr() == (
        '8, frequencies=a function of the length, layout="interleaved", rotary_d=8,'
        " attention_factor=1.25"
    )
