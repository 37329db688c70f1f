"""Bad tensors are refused with the argument's name, what is allowed and what was given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from posenc._tensor_arguments import (
    ACTIVATIONS,
    INTEGERS,
    as_activations,
    as_ids,
    as_mask,
    as_positions,
    as_probability,
    as_relative,
    offset_or_positions,
    on_device,
)
from posenc.nn import RotaryEmbedding, SinusoidalPositionalEncoding

CPU = torch.device("cpu")
META = torch.device("meta")
NOT_TENSORS: tuple[Any, ...] = (None, 3, 1.5, True, "x", [1, 2], np.zeros((2, 3)))


# Activations and masks


@pytest.mark.parametrize("dtype", ACTIVATIONS)
def test_floating_tensors_are_returned_unchanged_as_activations(dtype: torch.dtype) -> None:
    x = torch.zeros(2, 3, 8, dtype=dtype)
    assert as_activations("x", x, ("batch", "length", 8)) is x
    assert as_activations("x", x, (..., "length", 8)) is x
    assert as_activations("x", x, (..., 8)) is x
    assert as_activations("x", x, (..., 2, 3, 8)) is x


def test_activations_may_contain_nan() -> None:
    x = torch.full((1, 2), torch.nan)
    assert as_activations("x", x, ("length", 2)) is x


@pytest.mark.parametrize("value", NOT_TENSORS)
def test_non_tensors_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"^x must be a floating tensor; got "):
        as_activations("x", value, (...,))
    with pytest.raises(TypeError, match=r"^mask must be a boolean tensor; got "):
        as_mask("mask", value, (...,))
    with pytest.raises(TypeError, match=r"^ids must be an integer tensor; got "):
        as_ids("ids", value, below=3)
    with pytest.raises(TypeError, match=r"^relative must be an integer tensor; got "):
        as_relative("relative", value)
    with pytest.raises(TypeError, match=r"^positions must be an integer or real tensor; got "):
        as_positions("positions", value)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_refused() -> None:
    rows = [torch.ones(2, 8), torch.ones(3, 8)]
    for layout in (torch.strided, torch.jagged):
        with pytest.raises(TypeError, match=r"^x must be a dense tensor; got "):
            as_activations("x", torch.nested.nested_tensor(rows, layout=layout), (..., 8))


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.complex64, torch.float8_e4m3fn])
def test_activations_of_a_wrong_dtype_are_refused(dtype: torch.dtype) -> None:
    with pytest.raises(TypeError, match=rf"^x must be a floating tensor; got one of {dtype}$"):
        as_activations("x", torch.zeros(2, 3, dtype=dtype), ("length", 3))


BAD_SHAPES: tuple[tuple[tuple[int, ...], tuple[Any, ...], str], ...] = (
    ((3, 8), ("batch", "length", 8), "(batch, length, 8)"),
    ((1, 2, 3, 8), ("batch", "length", 8), "(batch, length, 8)"),
    ((2, 3, 9), ("batch", "length", 8), "(batch, length, 8)"),
    ((), ("length",), "(length,)"),
    ((8,), (..., "length", 8), "(..., length, 8)"),
    ((4, 3), (..., 3, 4), "(..., 3, 4)"),
)


@pytest.mark.parametrize(("given", "shape", "allowed"), BAD_SHAPES)
def test_shape_error_names_both_shapes(given: tuple[int, ...], shape: Any, allowed: str) -> None:
    with pytest.raises(ValueError) as error:
        as_activations("x", torch.zeros(given), shape)
    assert str(error.value) == f"x must be of shape {allowed}; got {given}"


def test_masks_must_have_dtype_bool() -> None:
    mask = torch.ones(2, 3, dtype=torch.bool)
    assert as_mask("mask", mask, ("batch", 3)) is mask
    for other in (torch.ones(2, 3), torch.ones(2, 3, dtype=torch.uint8)):
        with pytest.raises(TypeError, match=r"^mask must be a boolean tensor; got one of "):
            as_mask("mask", other, ("batch", 3))


# Ids and relative positions


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ids_of_any_integer_type_become_int64(dtype: torch.dtype) -> None:
    ids = as_ids("ids", torch.tensor([0, 2], dtype=dtype), below=3)
    assert ids.dtype is torch.int64
    assert ids.tolist() == [0, 2]


@pytest.mark.parametrize(("value", "got"), [([0, 3], "3"), ([-1, 0], "-1"), ([-5, 9], "-5")])
def test_ids_out_of_range_are_refused(value: list[int], got: str) -> None:
    with pytest.raises(ValueError, match=rf"^ids must be from 0 to 2; got {got}$"):
        as_ids("ids", torch.tensor(value), below=3)


def test_empty_ids_pass_any_range() -> None:
    assert as_ids("ids", torch.zeros(2, 0, dtype=torch.int64), below=3).shape == (2, 0)


def test_ids_on_the_meta_device_have_no_values_to_check() -> None:
    assert as_ids("ids", torch.zeros(2, dtype=torch.int64, device=META), below=3).is_meta


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_compiled_code_checks_dtypes_of_ids_and_eager_code_their_values() -> None:
    def looked_up(ids: Tensor) -> Tensor:
        return as_ids("ids", ids, below=3) * 2

    compiled = torch.compile(looked_up, fullgraph=True, backend="eager")
    assert compiled(torch.tensor([2, 5])).tolist() == [4, 10]
    with pytest.raises(ValueError, match=r"^ids must be from 0 to 2; got 5$"):
        looked_up(torch.tensor([2, 5]))
    with pytest.raises(Exception, match=r"ids must be an integer tensor; got one of torch.float32"):
        compiled(torch.zeros(2))


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3)])
def test_relative_positions_may_have_two_or_three_axes(shape: tuple[int, ...]) -> None:
    relative = torch.full(shape, -5, dtype=torch.int32)
    assert as_relative("relative", relative).dtype is torch.int64
    assert as_relative("relative", relative).shape == shape


@pytest.mark.parametrize("shape", [(), (3,), (1, 1, 2, 3)])
def test_relative_positions_of_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"^relative must be of shape \(query, key\); got \("):
        as_relative("relative", torch.zeros(shape, dtype=torch.int64))


def test_relative_positions_must_be_integers_below_2_to_the_53() -> None:
    with pytest.raises(TypeError, match=r"^relative must be an integer tensor; got one of "):
        as_relative("relative", torch.zeros(2, 3))
    for far in (2**53, -(2**53), -(2**63)):
        with pytest.raises(ValueError, match=rf"below 2\*\*53 in size; got {far}$"):
            as_relative("relative", torch.full((1, 1), far))


# Positions


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_positions_become_float64(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    positions = as_positions("positions", torch.ones(shape, dtype=dtype), length=3, batch=2)
    assert positions.dtype is torch.float64
    assert positions.shape == shape


def test_integer_positions_become_int64_if_asked() -> None:
    ids = as_positions("positions", torch.tensor([2**53 - 1]), integer=True)
    assert ids.dtype is torch.int64
    assert ids.item() == 2**53 - 1
    with pytest.raises(TypeError, match=r"^positions must be an integer tensor; got one of "):
        as_positions("positions", torch.zeros(3), integer=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.bool, torch.complex64])
def test_dtypes_narrower_than_float32_are_refused_as_positions(dtype: torch.dtype) -> None:
    assert torch.tensor(257.0).bfloat16() == 256  # which is why
    with pytest.raises(TypeError, match=r"^positions must be an integer or real tensor; got one"):
        as_positions("positions", torch.zeros(3, dtype=dtype))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [((4,), "(3,)"), ((), "(3,)"), ((1, 3), "(2, 3)"), ((3, 2), "(2, 3)"), ((2, 3, 1), "(3,)")],
)
def test_positions_may_be_one_row_or_one_row_per_sequence(
    given: tuple[int, ...], wanted: str
) -> None:
    with pytest.raises(ValueError) as error:
        as_positions("positions", torch.zeros(given), length=3, batch=2)
    assert str(error.value) == f"positions must be of shape {wanted}; got {given}"


@pytest.mark.parametrize(
    ("value", "dtype", "bits"),
    [
        (float("nan"), torch.float64, 53),
        (float("inf"), torch.float64, 53),
        (float("-inf"), torch.float32, 24),
        (2.0**53, torch.float64, 53),
        (-(2.0**24), torch.float32, 24),
        (2**53, torch.int64, 53),
        (-(2**63), torch.int64, 53),
    ],
)
def test_positions_beyond_the_precision_of_their_dtype_are_refused(
    value: float, dtype: torch.dtype, bits: int
) -> None:
    positions = torch.tensor([0, value], dtype=dtype)
    message = rf"^positions must be finite and below 2\*\*{bits} in size; got "
    with pytest.raises(ValueError, match=message):
        as_positions("positions", positions)


def test_positions_count_up_from_the_offset() -> None:
    whole = offset_or_positions(5, None, length=3, device=CPU, integer=True)
    assert (whole.dtype, whole.tolist()) == (torch.int64, [5, 6, 7])
    real = offset_or_positions(5, None, length=3, device=CPU)
    assert (real.dtype, real.tolist()) == (torch.float64, [5, 6, 7])
    assert offset_or_positions(5, None, length=0, device=CPU).shape == (0,)


def test_an_offset_that_leads_to_2_to_the_53_is_refused() -> None:
    last = offset_or_positions(2**53 - 3, None, length=3, device=CPU)
    assert last.tolist() == [2**53 - 3, 2**53 - 2, 2**53 - 1]
    for offset in (2**53 - 2, 2**53):
        message = rf"^offset must keep positions .* below 2\*\*53 in size; got {offset}, for 3 "
        with pytest.raises(ValueError, match=message):
            offset_or_positions(offset, None, length=3, device=CPU)
    assert offset_or_positions(2**53, None, length=0, device=CPU).numel() == 0


def test_angles_at_the_highest_frequency_are_bounded_like_positions() -> None:
    fast = 2.0**50  # radians a position
    assert offset_or_positions(5, None, length=3, device=CPU, fastest=fast).tolist() == [5, 6, 7]
    with pytest.raises(ValueError, match=r"^offset must keep .*angles.*; got 6, for 3 positions"):
        offset_or_positions(6, None, length=3, device=CPU, fastest=fast)
    given = torch.tensor([-7, 7, 0])
    assert offset_or_positions(0, given, length=3, device=CPU, fastest=fast).tolist() == [-7, 7, 0]
    with pytest.raises(ValueError, match=r"^positions must be such that angles, .*; got -8.0"):
        offset_or_positions(0, given - 1, length=3, device=CPU, fastest=fast)
    # A low frequency does not raise the limit, since positions themselves must be exact.
    with pytest.raises(ValueError, match=r"^offset must keep positions"):
        offset_or_positions(2**53, None, length=1, device=CPU, fastest=1e-3)


@pytest.mark.parametrize(
    "called",
    [
        lambda: RotaryEmbedding(8, frequencies=[1e308] * 4)(torch.ones(1, 1, 1, 8), offset=10**10),
        lambda: RotaryEmbedding(8, base=1e-30)(torch.ones(1, 1, 1, 8), offset=3),
        lambda: RotaryEmbedding(8, base=1e-30).factors(torch.ones(1, 1, 1, 8), offset=3),
        lambda: SinusoidalPositionalEncoding(8, base=1e-30)(torch.ones(1, 1, 8), offset=3),
    ],
    ids=["frequencies", "base", "factors", "sinusoidal"],
)
def test_angles_beyond_float64_precision_are_refused(called: Callable[[], Tensor]) -> None:
    with pytest.raises(ValueError, match=r"^offset must keep positions and their angles below"):
        called()


def test_given_positions_are_returned_unchanged() -> None:
    given = torch.tensor([[2.5, -1.0], [0.0, 7.0]])
    taken = offset_or_positions(0, given, length=2, batch=2, device=CPU)
    assert torch.equal(taken, given.double())


def test_offset_and_positions_together_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^offset must be 0 when positions are given; got 4$"):
        offset_or_positions(4, torch.arange(3), length=3, device=CPU)


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, ValueError), (1.0, TypeError), (True, TypeError), ("1", TypeError), (None, TypeError)],
)
def test_a_bad_offset_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^offset must be an integer, 0 or more; got "):
        offset_or_positions(value, None, length=3, device=CPU)


def test_positions_at_max_len_are_refused() -> None:
    assert offset_or_positions(2, None, length=3, device=CPU, max_len=5).tolist() == [2, 3, 4]
    message = r"^offset \+ length must be at most max_len, 5; got 3 \+ 3$"
    with pytest.raises(ValueError, match=message):
        offset_or_positions(3, None, length=3, device=CPU, max_len=5)
    for far in (torch.tensor([5]), torch.tensor([5.0])):
        with pytest.raises(ValueError, match=r"^positions must be below max_len, 5, .*; got 5"):
            offset_or_positions(0, far, length=1, device=CPU, max_len=5)


def test_tensors_on_another_device_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^positions must be on the device cpu; got meta$"):
        offset_or_positions(0, torch.arange(3, device=META), length=3, device=CPU)
    x = torch.zeros(1)
    assert on_device("x", x, CPU) is x


@pytest.mark.parametrize("value", [0, 0.5, np.float32(0.25), 0.999])
def test_probabilities_are_returned_as_floats(value: Any) -> None:
    assert as_probability("dropout", value) == float(value)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (1, ValueError),
        (-0.1, ValueError),
        (float("nan"), ValueError),
        (True, TypeError),
        ("0.1", TypeError),
        (None, TypeError),
        ([0.1], TypeError),
    ],
)
def test_a_bad_probability_is_refused(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^dropout must be a probability, from 0 to below 1; got "):
        as_probability("dropout", value)
