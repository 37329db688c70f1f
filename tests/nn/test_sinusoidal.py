"""What the sinusoidal layer promises: the rows of `posenc.sinusoidal_encoding`, in every dtype."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from posenc import sinusoidal_encoding
from posenc.nn.sinusoidal import SinusoidalPositionalEncoding

# torch's and numpy's sines are each good to one unit in the last place, not to the same one.
LAST_PLACE = 2.0**-52
quick = settings(database=None, deadline=None, derandomize=True, max_examples=40)


def rows(
    layer: SinusoidalPositionalEncoding,
    length: int,
    dtype: torch.dtype = torch.float64,
    **where: Any,
) -> Tensor:
    """Return what the layer adds to zeros, (length, d_model)."""
    added: Tensor = layer(torch.zeros(1, length, layer.d_model, dtype=dtype), **where)[0]
    return added


def expected(positions: Any, d_model: int, base: float = 10000.0) -> Tensor:
    return torch.from_numpy(sinusoidal_encoding(positions, d_model, base=base)).double()


# The rows


@pytest.mark.parametrize("base", [10000.0, 500000.0, 1.5])
@pytest.mark.parametrize("d_model", [2, 8, 64, 100, 512])
def test_rows_equal_the_numpy_definition(d_model: int, base: float) -> None:
    layer = SinusoidalPositionalEncoding(d_model, base=base)
    found = rows(layer, 600)
    torch.testing.assert_close(found, expected(600, d_model, base), rtol=0, atol=LAST_PLACE)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_a_narrow_row_is_the_exact_row_cast(dtype: torch.dtype) -> None:
    """Equal to the last bit, unless an entry is so close to halfway that 2e-16 decides.

    Of 76 800 entries, each with a chance of 2**-28 or less, none is expected to be.
    """
    layer = SinusoidalPositionalEncoding(128)
    assert torch.equal(rows(layer, 600, dtype), expected(600, 128).to(dtype))


@pytest.mark.parametrize("far", [10**6, 10**9, 2**40])
def test_far_positions_are_as_exact_as_the_definition(far: int) -> None:
    found, exact = (
        rows(SinusoidalPositionalEncoding(64), 3, offset=far),
        expected(range(far, far + 3), 64),
    )
    torch.testing.assert_close(found, exact, rtol=0, atol=LAST_PLACE)


@quick
@given(
    position=st.floats(-1e9, 1e9),
    d_model=st.integers(1, 32).map(lambda half: 2 * half),
    base=st.floats(0.1, 6).map(lambda exponent: 10.0**exponent),
)
def test_any_real_position_gives_the_row_of_the_definition(
    position: float, d_model: int, base: float
) -> None:
    layer = SinusoidalPositionalEncoding(d_model, base=base)
    added = rows(layer, 1, positions=torch.tensor([position], dtype=torch.float64))
    torch.testing.assert_close(added, expected([position], d_model, base), rtol=0, atol=LAST_PLACE)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_the_sum_has_the_dtype_of_the_tokens(dtype: torch.dtype) -> None:
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(0)).to(dtype)
    out = SinusoidalPositionalEncoding(8)(x)
    assert out.dtype is dtype
    assert torch.equal(out, x + expected(5, 8).to(dtype))


def test_no_tokens_give_an_empty_result() -> None:
    layer = SinusoidalPositionalEncoding(8)
    assert layer(torch.zeros(2, 0, 8)).shape == (2, 0, 8)
    assert layer(torch.zeros(0, 3, 8)).shape == (0, 3, 8)


# Positions


def test_each_sequence_has_the_positions_given_for_it() -> None:
    layer = SinusoidalPositionalEncoding(8)
    positions = torch.tensor([[0, 0, 1, 2], [3, 0, 1, 1]])  # left-padded, and two texts packed
    out = layer(torch.zeros(2, 4, 8, dtype=torch.float64), positions=positions)
    torch.testing.assert_close(out, expected(positions.numpy(), 8), rtol=0, atol=LAST_PLACE)


def test_max_len_limits_positions_and_none_does_not() -> None:
    layer = SinusoidalPositionalEncoding(8, max_len=5)
    assert layer(torch.zeros(1, 5, 8)).shape == (1, 5, 8)
    assert layer(torch.zeros(1, 2, 8), offset=3).shape == (1, 2, 8)
    for length, offset in ((6, 0), (2, 4)):
        message = rf"^offset \+ length must be at most max_len, 5; got {offset} \+ {length}$"
        with pytest.raises(ValueError, match=message):
            layer(torch.zeros(1, length, 8), offset=offset)
    with pytest.raises(ValueError, match=r"^positions must be below max_len, 5"):
        layer(torch.zeros(1, 2, 8), positions=torch.tensor([0, 5]))
    SinusoidalPositionalEncoding(8)(torch.zeros(1, 2, 8), offset=10**9)


# Modes, compilers and state


def test_autocast_does_not_affect_the_angles() -> None:
    layer = SinusoidalPositionalEncoding(64)
    with torch.autocast("cpu", torch.bfloat16):
        inside = rows(layer, 100, offset=5000)
    assert torch.equal(inside, rows(layer, 100, offset=5000))


def test_dropout_is_active_in_training_mode_only() -> None:
    layer, x = SinusoidalPositionalEncoding(8, dropout=0.5), torch.ones(4, 100, 8)
    torch.manual_seed(0)
    trained = layer(x)
    kept = trained != 0
    # 3 200 coins: the share of heads is within 0.05 of a half, more than 5 deviations.
    assert 0.45 < kept.float().mean().item() < 0.55
    layer.eval()
    torch.testing.assert_close(trained[kept], 2 * layer(x)[kept], rtol=1e-6, atol=0)
    assert torch.equal(layer(x), x + rows(layer, 100, torch.float32))


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_it_compiles_in_one_graph() -> None:
    layer = SinusoidalPositionalEncoding(8, max_len=50)

    def each(x: Tensor, offset: int, ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return layer(x, offset=offset), layer(x, positions=ids), layer(x, positions=ids + 1)

    compiled = torch.compile(each, fullgraph=True, backend="eager")
    for length, offset in ((4, 0), (4, 1), (7, 20)):
        x = torch.zeros(2, length, 8, dtype=torch.bfloat16)
        ids = torch.arange(offset, offset + length).expand(2, length)
        found, exact = compiled(x, offset, ids), each(x, offset, ids)
        torch.testing.assert_close(found, exact, rtol=0, atol=0)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_it_exports_for_any_length() -> None:
    layer = SinusoidalPositionalEncoding(8)
    length = torch.export.Dim("length", min=2, max=4096)
    program = torch.export.export(layer, (torch.zeros(1, 5, 8),), dynamic_shapes={"x": {1: length}})
    x = torch.zeros(1, 300, 8)
    assert torch.equal(program.module()(x), layer(x))


def test_repr_shows_the_arguments() -> None:
    shown = repr(SinusoidalPositionalEncoding(8, max_len=5))
    assert "d_model=8, max_len=5" in shown
    assert "Dropout(p=0.0" in shown


def test_the_layer_has_no_parameters_and_an_empty_state_dict() -> None:
    layer = SinusoidalPositionalEncoding(64)
    assert [*layer.parameters(), *layer.buffers()] == []
    assert not layer.state_dict()


def test_gradients_pass_through_to_the_tokens_unchanged() -> None:
    x = torch.zeros(1, 3, 8, requires_grad=True)
    upstream = torch.randn(1, 3, 8, generator=torch.Generator().manual_seed(0))
    SinusoidalPositionalEncoding(8)(x).backward(upstream)
    assert x.grad is not None
    assert torch.equal(x.grad, upstream)
