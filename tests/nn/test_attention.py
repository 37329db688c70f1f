"""`posenc.nn.attention` keeps its promises, compared with `posenc.attention`."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from posenc.nn.attention import attention
from posenc.scores.dot_product import attention as attention_in_numpy
from posenc.scores.dot_product import causal_mask

pytestmark = pytest.mark.filterwarnings("error")

DTYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)

# What is computed in float32 is right to some 1e-6 of numbers around 1. What is then cast is
# rounded once, by half of 2**-7 or 2**-10 of numbers below 4.
CLOSE = {torch.float64: 1e-14, torch.float32: 3e-6, torch.bfloat16: 2**-6, torch.float16: 2**-9}


class Attention(nn.Module):
    """The function as a module, for `torch.export`."""

    def forward(
        self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return output and weights."""
        return attention(q, k, v, bias=bias, mask=mask)


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return normal numbers, the same ones every time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def vectors(dtype: torch.dtype = torch.float64) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries (2, 3, 4, 8), keys (2, 3, 6, 8) and values (2, 3, 6, 5)."""
    shapes = ((2, 3, 4, 8), (2, 3, 6, 8), (2, 3, 6, 5))
    q, k, v = (random(*shape, seed=i).to(dtype) for i, shape in enumerate(shapes))
    return q, k, v


def causal(queries: int, keys: int | None = None, offset: int = 0) -> Tensor:
    """Return the causal mask as a tensor."""
    return torch.from_numpy(causal_mask(queries, keys, query_offset=offset))


def assert_equals_numpy(q: Tensor, k: Tensor, v: Tensor, **more: Tensor) -> None:
    """Compare output and weights with the numpy definition on the same numbers."""
    found = attention(q, k, v, **more)
    numbers = [x.double().numpy() for x in (q, k, v)]
    options = {
        name: x.double().numpy() if name == "bias" else x.numpy() for name, x in more.items()
    }
    for ours, expected in zip(found, attention_in_numpy(*numbers, **options), strict=True):
        assert ours.dtype == q.dtype
        np.testing.assert_allclose(ours.double(), expected, rtol=0, atol=CLOSE[q.dtype])


def assert_equal(found: tuple[Tensor, Tensor], expected: tuple[Tensor, Tensor]) -> None:
    """Compare output and weights bit by bit, but for NaN."""
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


# The formula


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (6,), (4, 1), (4, 6), (3, 4, 6), (2, 1, 1, 6), (2, 3, 4, 6)])
def test_output_and_weights_equal_the_numpy_definition(
    shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    q, k, v = vectors(dtype)
    bias = random(*shape, seed=3).to(dtype)
    mask = random(*shape, seed=4) > -0.5
    # Each query sees the first key at least.
    mask.view(-1, mask.shape[-1] if shape else 1)[:, 0] = True
    for more in ({}, {"bias": bias}, {"mask": mask}, {"bias": bias, "mask": mask}):
        assert_equals_numpy(q, k, v, **more)


@pytest.mark.parametrize("bias_dtype", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_bias_may_be_of_another_dtype(dtype: torch.dtype, bias_dtype: torch.dtype) -> None:
    q, k, v = vectors(dtype)
    assert_equals_numpy(q, k, v, bias=random(3, 4, 6, seed=3).to(bias_dtype))


def test_leading_shapes_broadcast() -> None:
    q, k, v = random(2, 3, 4, 5), random(3, 6, 5, seed=1), random(1, 6, 7, seed=2)
    assert_equals_numpy(q, k, v)
    assert_equals_numpy(q[0, 0], k[0], v[0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_dtypes_are_rounded_at_the_end_only(dtype: torch.dtype) -> None:
    """The result is the float32 result of the same numbers, cast: no product is narrow."""
    q, k, v = (10 * x for x in vectors(dtype))
    wide = attention(q.float(), k.float(), v.float(), mask=causal(4, 6, 2))
    narrow = attention(q, k, v, mask=causal(4, 6, 2))
    assert_equal(narrow, (wide[0].to(dtype), wide[1].to(dtype)))
    in_dtype = torch.softmax(q @ k.mT / math.sqrt(8) + torch.where(causal(4, 6, 2), 0, -1e4), -1)
    assert (in_dtype.float() - wide[1]).abs().max() > 4 * (narrow[1].float() - wide[1]).abs().max()


def test_float16_scores_beyond_65504_do_not_overflow() -> None:
    q = torch.full((2, 64), 200.0, dtype=torch.float16)
    k = torch.stack([q[0], q[0] - 1])
    output, weights = attention(q, k, torch.eye(2, dtype=torch.float16))
    assert torch.equal(weights, torch.tensor([[1, 0], [1, 0]], dtype=torch.float16))
    assert torch.equal(output, weights)


def test_a_bias_of_minus_infinity_hides_what_the_mask_would() -> None:
    q, k, v = vectors()
    mask = causal(4, 6, 1)
    hidden = torch.zeros(4, 6).masked_fill(~mask, -math.inf)
    assert_equal(attention(q, k, v, bias=hidden), attention(q, k, v, mask=mask))


def test_results_are_new_and_arguments_unchanged() -> None:
    arguments = {"q": random(3, 4), "k": random(3, 4), "v": random(3, 4)}
    arguments |= {"bias": random(3, 3), "mask": causal(3)}
    before = {name: x.clone() for name, x in arguments.items()}
    for result in attention(**arguments):
        result.fill_(9)
    assert all(torch.equal(arguments[name], before[name]) for name in arguments)
    assert_equal(attention(**arguments), attention(**before))


def test_no_queries_give_empty_results() -> None:
    mask = torch.ones(0, 3, dtype=torch.bool)
    for more in ({}, {"mask": mask}, {"bias": torch.zeros(0, 3)}):
        found = attention(random(2, 0, 4), random(2, 3, 4), random(2, 3, 5), **more)
        assert [x.shape for x in found] == [(2, 0, 5), (2, 0, 3)]
    found = attention(random(0, 4), random(0, 4), random(0, 5))  # nor any key
    assert [x.shape for x in found] == [(0, 5), (0, 0)]
    found = attention(random(0, 2, 4), random(0, 3, 4), random(0, 3, 0))
    assert [x.shape for x in found] == [(0, 2, 0), (0, 2, 3)]


@pytest.mark.parametrize("mask", [None, causal(4, 6, 2)])
def test_nan_reaches_only_the_query_that_it_is_in(mask: Tensor | None) -> None:
    q, k, v = vectors(torch.float32)
    q[0, 0, 1] = math.nan
    for result in attention(q, k, v, mask=mask):
        assert result.isnan().any(-1).nonzero().tolist() == [[0, 0, 1]]
    k[1, 2, 3, 0] = math.inf
    attention(q, k, v, mask=mask)
    q[1, 1] = k[1, 1] = 1e30  # an overflow elsewhere is detected all the same
    with pytest.raises(ValueError, match=r"^q, k and bias must give scores"):
        attention(q, k, v, mask=mask)


# Gradients


def test_gradients_are_those_of_the_formula() -> None:
    q, k, v = (x[0, 0].requires_grad_() for x in vectors())
    bias = random(4, 6, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(Attention(), (q, k, v, bias, causal(4, 6, 1)))


def test_hidden_keys_and_values_get_no_gradient() -> None:
    q, k, v = (x.requires_grad_() for x in vectors())
    bias = random(3, 4, 6, seed=3).masked_fill(~causal(4, 6), -math.inf).requires_grad_()
    loss = attention(q, k, v, bias=bias)[0].square().sum()
    of_q, of_k, of_v, of_bias = torch.autograd.grad(loss, (q, k, v, bias))
    for gradient in (of_q, of_k, of_v, of_bias):
        assert gradient.isfinite().all()
        assert gradient.any()
    for gradient in (of_k, of_v):
        assert (gradient[..., 4:, :] == 0).all()
    plain = attention(*(x.detach() for x in (q, k, v)))[0]
    assert not plain.requires_grad


# Compiled, exported, and without numbers


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_it_compiles_to_one_graph_with_equal_results() -> None:
    torch._dynamo.reset()
    q, k, v = vectors(torch.float32)
    bias, mask = random(3, 4, 6, seed=3).float(), causal(4, 6, 1)
    compiled = torch.compile(Attention(), fullgraph=True, backend="eager")
    for more in ((None, None), (bias, None), (None, mask), (bias, mask)):
        found, expected = compiled(q, k, v, *more), Attention()(q, k, v, *more)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-6)
    mask[2] = False  # compiled code refuses nothing
    output, weights = compiled(q, k, v, None, mask)
    for result in (output, weights):
        assert result.isnan().any(-1).nonzero()[:, -1].unique().tolist() == [2]


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_it_exports_for_any_length_with_equal_results() -> None:
    length = torch.export.Dim("length", min=2, max=64)
    q, k, v, mask = *(random(2, 3, 5, 8, seed=i).float() for i in range(3)), causal(5)
    shapes = {name: {2: length} for name in "qkv"} | {"bias": None, "mask": {0: length, 1: length}}
    program = torch.export.export(Attention(), (q, k, v, None, mask), dynamic_shapes=shapes)
    for size in (5, 9):
        more = *(random(2, 3, size, 8, seed=i).float() for i in range(3)), None, causal(size)
        assert_equal(program.module()(*more), Attention()(*more))


def test_on_meta_it_computes_shapes_without_reading_values() -> None:
    q, k, v = (x.to("meta") for x in vectors(torch.bfloat16))
    bias, mask = torch.empty(4, 6, device="meta"), causal(4, 6).to("meta")
    output, weights = attention(q, k, v, bias=bias, mask=mask)
    assert (output.shape, weights.shape) == ((2, 3, 4, 5), (2, 3, 4, 6))
    assert output.is_meta
    assert output.dtype == weights.dtype == torch.bfloat16


# Bad input: tests/nn/test_bad_input.py tests each argument alone

GOOD = {"q": torch.ones(2, 4), "k": torch.ones(3, 4), "v": torch.ones(3, 5)}
GOOD |= {"bias": torch.zeros(2, 3), "mask": causal(2, 3)}


@pytest.mark.parametrize("name", ["k", "v"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_mixed_dtypes_are_refused(name: str, dtype: torch.dtype) -> None:
    message = f"^{name} must have the dtype of q, torch.float32; got {dtype}$"
    with pytest.raises(TypeError, match=message):
        attention(**GOOD | {name: GOOD[name].to(dtype)})


@pytest.mark.parametrize("name", ["k", "v", "bias", "mask"])
def test_mixed_devices_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be on the device cpu; got meta$"):
        attention(**GOOD | {name: GOOD[name].to("meta")})


FIRST_HIDDEN = torch.tensor([[-math.inf] * 3, [0.0] * 3])


@pytest.mark.parametrize(
    "bad",
    [
        {"k": torch.ones(0, 4), "v": torch.ones(0, 5)},
        {"q": torch.ones(2, 2, 4), "k": torch.ones(3, 3, 4)},
        {"q": torch.ones(2, 2, 4), "v": torch.ones(3, 3, 5)},
        {"bias": torch.zeros(2, 4)},
        {"bias": torch.zeros(1, 2, 3)},
        {"bias": torch.zeros(2, 0)},
        {"mask": torch.ones(2, 0).bool()},
        {"mask": torch.ones(4, 2, 3).bool()},
        {"bias": FIRST_HIDDEN},
        {"mask": torch.tensor([[True] * 3, [False] * 3])},
        {"mask": torch.tensor(False)},
        {"mask": torch.tensor([True, False, False]), "bias": FIRST_HIDDEN.flip(0)},
    ],
    ids=str,
)
def test_a_refusal_has_the_words_of_the_numpy_function(bad: dict[str, Tensor]) -> None:
    arguments = GOOD | bad
    with pytest.raises(ValueError) as refusal:
        attention_in_numpy(**{name: x.numpy() for name, x in arguments.items()})
    with pytest.raises(ValueError, match=f"^{re.escape(str(refusal.value))}$"):
        attention(**arguments)


def test_a_width_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^q must be of width 1 or more; got shape \(2, 0\)$"):
        attention(torch.ones(2, 0), torch.ones(3, 0), torch.ones(3, 5))


@pytest.mark.parametrize("dtype", DTYPES[:3])
@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("mask", [None, causal(3)])
def test_scores_that_overflow_are_refused(
    dtype: torch.dtype, sign: float, mask: Tensor | None
) -> None:
    exact = torch.promote_types(dtype, torch.float32)
    q = torch.full((2, 3, 4), torch.finfo(dtype).max ** 0.6, dtype=dtype)
    k = q * (sign or torch.tensor([1, -1, 1, -1], dtype=dtype))  # at 0, infinity − infinity
    message = rf"^q, k and bias must give scores that {str(exact)[6:]} can hold; got an infinity$"
    with pytest.raises(ValueError, match=message):
        attention(q, k, q, mask=mask)


def test_a_bias_that_makes_a_score_overflow_is_refused() -> None:
    q = torch.full((2, 1), 1.5e19)
    with pytest.raises(ValueError, match=r"^q, k and bias must give scores that float32 can"):
        attention(q, q, q, bias=torch.full((2, 2), 2e38))
    assert attention(q, q, q)[0].isfinite().all()
