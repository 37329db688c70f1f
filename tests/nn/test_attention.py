"""`posenc.nn.attention` keeps its promises, compared with `posenc.attention`."""

from __future__ import annotations

import math
import re
from typing import Any

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
    kept = {name: x.double().numpy() if name == "bias" else x.numpy() for name, x in more.items()}
    for ours, theirs in zip(found, attention_in_numpy(*numbers, **kept), strict=True):
        assert ours.dtype == q.dtype
        np.testing.assert_allclose(ours.double(), theirs, rtol=0, atol=CLOSE[q.dtype])


# The formula


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (6,), (4, 1), (4, 6), (3, 4, 6), (2, 1, 1, 6), (2, 3, 4, 6)])
def test_output_and_weights_equal_the_numpy_definition(
    shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    q, k, v = vectors(dtype)
    bias = random(*shape, seed=3).to(dtype)
    mask = random(*shape, seed=4) > -0.5
    mask.view(-1, mask.shape[-1] if shape else 1)[:, 0] = (
        True  # each query sees the first key at least
    )
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
    assert attention(q, k, v)[0].shape == (2, 3, 4, 7)
    assert_equals_numpy(q[0, 0], k[0], v[0])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_narrow_dtypes_are_rounded_at_the_end_only(dtype: torch.dtype) -> None:
    """The result is the float32 result of the same numbers, cast: no product is narrow."""
    q, k, v = (10 * x for x in vectors(dtype))
    wide = attention(q.float(), k.float(), v.float(), mask=causal(4, 6, 2))
    narrow = attention(q, k, v, mask=causal(4, 6, 2))
    for ours, theirs in zip(narrow, wide, strict=True):
        assert torch.equal(ours, theirs.to(dtype))
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
    for ours, theirs in zip(
        attention(q, k, v, bias=hidden), attention(q, k, v, mask=mask), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_nan_reaches_only_the_queries_that_attend_to_it() -> None:
    q, k, v = vectors()
    q[0, 0, 1] = math.nan
    for mask in (None, causal(4, 6, 2)):
        output, weights = attention(q, k, v, mask=mask)
        assert weights.isnan().any(-1).nonzero().tolist() == [[0, 0, 1]]
        assert output.isnan().any(-1).nonzero().tolist() == [[0, 0, 1]]


def test_results_are_new_and_arguments_unchanged() -> None:
    given = {"q": random(3, 4), "k": random(3, 4), "v": random(3, 4), "bias": random(3, 3)}
    given["mask"] = causal(3)
    kept = {name: x.clone() for name, x in given.items()}
    output, weights = attention(**given)
    before = output.clone(), weights.clone()
    output.fill_(9)
    weights.fill_(9)
    for ours, theirs in zip(attention(**given), before, strict=True):
        assert torch.equal(ours, theirs)
    assert all(torch.equal(given[name], kept[name]) for name in given)


def test_no_queries_give_empty_results() -> None:
    mask = torch.ones(0, 3, dtype=torch.bool)
    for more in ({}, {"mask": mask}, {"bias": torch.zeros(0, 3)}):
        found = attention(random(2, 0, 4), random(2, 3, 4), random(2, 3, 5), **more)
        assert [x.shape for x in found] == [(2, 0, 5), (2, 0, 3)]
    found = attention(random(0, 4), random(0, 4), random(0, 5))
    assert [x.shape for x in found] == [(0, 5), (0, 0)]
    found = attention(random(0, 2, 4), random(0, 3, 4), random(0, 3, 0))
    assert [x.shape for x in found] == [(0, 2, 0), (0, 2, 3)]


# Overflow, NaN and infinity


@pytest.mark.parametrize("dtype", DTYPES[:3])
@pytest.mark.parametrize("sign", [1.0, -1.0, 0.0])
@pytest.mark.parametrize("mask", [None, causal(3)])
def test_overflowing_scores_are_refused_naming_q_and_k(
    dtype: torch.dtype, sign: float, mask: Tensor | None
) -> None:
    exact = torch.promote_types(dtype, torch.float32)
    q = torch.full((2, 3, 4), torch.finfo(dtype).max ** 0.6, dtype=dtype)
    k = q * (sign or torch.tensor([1, -1, 1, -1], dtype=dtype))  # at 0, infinity − infinity
    message = rf"^q, k and bias must give scores that {str(exact)[6:]} can hold; got an infinity$"
    with pytest.raises(ValueError, match=message):
        attention(q, k, q, mask=mask)
    if exact is dtype is torch.float64:  # the definition says the same
        with pytest.raises(ValueError, match=message):
            attention_in_numpy(q, k, q)


def test_a_bias_that_overflows_a_score_is_refused() -> None:
    q = torch.full((2, 1), 1.5e19)
    with pytest.raises(ValueError, match=r"^q, k and bias must give scores that float32 can"):
        attention(q, q, q, bias=torch.full((2, 2), 2e38))
    assert attention(q, q, q)[0].isfinite().all()


def test_nan_and_infinity_in_the_vectors_are_not_refused() -> None:
    q, k, v = (x.clone() for x in vectors(torch.float32))
    q[0, 0, 1, 2] = math.nan
    k[1, 2, 3, 0] = math.inf
    output, _ = attention(q, k, v)
    assert output[0, 0, 1].isnan().all()
    assert output[0, 0, 0].isfinite().all()
    q[1, 1] = k[1, 1] = 1e30  # an overflow next to it is still detected
    with pytest.raises(ValueError, match=r"^q, k and bias must give scores"):
        attention(q, k, v)


# What follows from the formula


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
        for ours, theirs in zip(compiled(q, k, v, *more), Attention()(q, k, v, *more), strict=True):
            torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_it_exports_for_any_length_with_equal_results() -> None:
    length = torch.export.Dim("length", min=2, max=64)
    q, k, v, mask = *(random(2, 3, 5, 8, seed=i).float() for i in range(3)), causal(5)
    shapes = {name: {2: length} for name in "qkv"} | {"bias": None, "mask": {0: length, 1: length}}
    program = torch.export.export(Attention(), (q, k, v, None, mask), dynamic_shapes=shapes)
    for size in (5, 9):
        more = *(random(2, 3, size, 8, seed=i).float() for i in range(3)), None, causal(size)
        for ours, theirs in zip(program.module()(*more), Attention()(*more), strict=True):
            assert torch.equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.no_cover  # coverage would trace the compiler too
def test_compiled_a_query_without_visible_keys_gets_nan() -> None:
    torch._dynamo.reset()
    q, k, v = vectors(torch.float32)
    mask = causal(4, 6)
    mask[2] = False
    compiled = torch.compile(Attention(), fullgraph=True, backend="eager")
    output, weights = compiled(q, k, v, None, mask)
    assert output[:, :, 2].isnan().all()
    assert weights[:, :, 2].isnan().all()
    assert output[:, :, [0, 1, 3]].isfinite().all()


def test_on_meta_it_computes_shapes_without_reading_values() -> None:
    q, k, v = (x.to("meta") for x in vectors(torch.bfloat16))
    given = {"bias": torch.empty(4, 6, device="meta"), "mask": causal(4, 6).to("meta")}
    output, weights = attention(q, k, v, **given)
    assert (output.shape, weights.shape) == ((2, 3, 4, 5), (2, 3, 4, 6))
    assert output.is_meta
    assert output.dtype == weights.dtype == torch.bfloat16


# Bad input

GOOD: dict[str, Any] = {"q": torch.ones(2, 4), "k": torch.ones(3, 4), "v": torch.ones(3, 5)}
INF = math.inf


@pytest.mark.parametrize("name", ["k", "v"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_mixed_dtypes_are_refused(name: str, dtype: torch.dtype) -> None:
    refusal = f"^{name} must have the dtype of q, torch.float32; got {dtype}$"
    with pytest.raises(TypeError, match=refusal):
        attention(**GOOD | {name: GOOD[name].to(dtype)})


@pytest.mark.parametrize("name", ["k", "v", "bias", "mask"])
def test_mixed_devices_are_refused(name: str) -> None:
    given = GOOD | {"bias": torch.zeros(2, 3), "mask": causal(2, 3)}
    with pytest.raises(ValueError, match=f"^{name} must be on the device cpu; got meta$"):
        attention(**given | {name: given[name].to("meta")})


SHAPES: list[tuple[dict[str, tuple[int, ...]], str]] = [
    ({"q": ()}, "q must be of shape (..., query, d); got ()"),
    ({"q": (4,)}, "q must be of shape (..., query, d); got (4,)"),
    ({"k": (4,)}, "k must be of shape (..., key, 4); got (4,)"),
    ({"k": (3, 5)}, "k must be of shape (..., key, 4); got (3, 5)"),
    ({"v": (5,)}, "v must be of shape (..., 3, d_v); got (5,)"),
    ({"v": (4, 5)}, "v must be of shape (..., 3, d_v); got (4, 5)"),
    ({"q": (2, 0), "k": (3, 0)}, "q must be of width 1 or more; got shape (2, 0)"),
    ({"k": (0, 4), "v": (0, 5)}, "k must hold at least one key; got shape (0, 4)"),
    (
        {"q": (2, 2, 4), "k": (3, 3, 4)},
        "q, k and v must have leading shapes that broadcast; got (2,), (3,), ()",
    ),
    (
        {"q": (2, 2, 4), "v": (3, 3, 5)},
        "q, k and v must have leading shapes that broadcast; got (2,), (), (3,)",
    ),
    ({"bias": (2, 4)}, "bias must broadcast to the scores, of shape (2, 3); got shape (2, 4)"),
    (
        {"bias": (1, 2, 3)},
        "bias must broadcast to the scores, of shape (2, 3); got shape (1, 2, 3)",
    ),
    ({"bias": (2, 0)}, "bias must broadcast to the scores, of shape (2, 3); got shape (2, 0)"),
    ({"mask": (2, 0)}, "mask must broadcast to the scores, of shape (2, 3); got shape (2, 0)"),
    (
        {"mask": (4, 2, 3)},
        "mask must broadcast to the scores, of shape (2, 3); got shape (4, 2, 3)",
    ),
]


@pytest.mark.parametrize(("shapes", "refusal"), SHAPES)
def test_shapes_that_do_not_fit_are_refused(
    shapes: dict[str, tuple[int, ...]], refusal: str
) -> None:
    bad = {
        name: torch.ones(shape, dtype=torch.bool if name == "mask" else torch.float32)
        for name, shape in shapes.items()
    }
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        attention(**GOOD | bad)


@pytest.mark.parametrize(
    ("mask", "bias", "query"),
    [
        (torch.tensor([[True] * 3, [False] * 3]), None, [1]),
        (torch.tensor(False), None, [0]),
        (None, torch.tensor([[-INF] * 3, [0.0] * 3]), [0]),
        (torch.tensor([True, False, False]), torch.tensor([[0.0] * 3, [-INF, 0, 0]]), [1]),
    ],
)
def test_a_query_without_visible_keys_is_refused(
    mask: Tensor | None, bias: Tensor | None, query: list[int]
) -> None:
    refusal = f"bias and mask must leave each query a key to look at; got none for query {query}"
    with pytest.raises(ValueError, match=f"^{re.escape(refusal)}$"):
        attention(**GOOD, bias=bias, mask=mask)
