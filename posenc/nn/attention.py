"""Scaled dot-product attention, with a bias on the scores and a mask over the keys.

    scores  = q kᵀ/√d + bias, and −∞ where the mask is False
    weights = softmax(scores), row by row
    output  = weights v

Vaswani et al., "Attention Is All You Need" (2017), section 3.2.1. This is `posenc.attention` for
tensors: everything is computed in float32 or float64, also for narrower inputs and under
`torch.autocast`, and only the results are cast.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from posenc._tensor_arguments import (
    as_activations,
    as_mask,
    on_device,
    values_are_known,
    without_autocast,
)


def attention(
    q: Tensor, k: Tensor, v: Tensor, *, bias: Tensor | None = None, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the output of attention and the attention weights.

    The score of a query and a key is their dot product divided by √d, plus `bias`. The softmax of
    a query's scores gives the weight of each value. `mask` hides keys from queries.

    Args:
        q: queries, shape `(..., query, d)`; float16, bfloat16, float32 or float64.
        k: keys, `(..., key, d)`, of the dtype and on the device of `q`.
        v: values, `(..., key, d_v)`, likewise. The leading dimensions of the three broadcast.
        bias: any of the four dtypes, broadcastable to the scores, `(..., query, key)`. −inf hides
            a key from a query.
        mask: booleans, broadcastable to the scores; True where the query may attend to the key.

    Returns:
        The output, `(..., query, d_v)`, and the weights, `(..., query, key)`, in the dtype of `q`.
        The weights are 0 or more and each row of them sums to 1. NaN in `q`, `k` or `v` propagates.

    Raises:
        TypeError: an argument is not a tensor of its dtype.
        ValueError: shapes do not fit, devices differ, or `d` is 0; there are queries and no keys.
            In eager mode also: `bias` holds NaN or +inf, a score is too large for its type, or
            `bias` and `mask` hide every key from a query. Compiled, that query's output is NaN.

    Source:
        Vaswani et al. (2017), section 3.2.1, equation 1. A bias, after the scaling: Press et al.,
        "Train Short, Test Long" (2022), section 3.

    Examples:
        >>> import torch
        >>> q = k = torch.zeros(3, 4)
        >>> output, weights = attention(q, k, torch.eye(3), mask=torch.ones(3, 3).tril().bool())
        >>> weights[1]
        tensor([0.5000, 0.5000, 0.0000])
    """
    _check_together(q, k, v)
    exact = torch.promote_types(q.dtype, torch.float32)
    with without_autocast(q.device):
        products = q.to(exact) @ k.to(exact).mT / math.sqrt(q.shape[-1])
    scores = products
    if bias is not None:
        scores = products + _as_bias(bias, products).to(exact)
    _refuse_overflow(q, k, products, scores)
    if mask is not None:
        mask = _over(scores, "mask", as_mask("mask", mask, (...,)))
        scores = scores.masked_fill(~mask, -math.inf)
    if bias is not None or mask is not None:
        _refuse_blind_queries(scores)
    weights = torch.softmax(scores, dim=-1)
    with without_autocast(q.device):
        output = weights @ v.to(exact)
    return output.to(q.dtype), weights.to(q.dtype)


def _check_together(q: Tensor, k: Tensor, v: Tensor) -> None:
    """Raise unless queries, keys and values agree in dtype, device and shape."""
    as_activations("q", q, (..., "query", "d"))
    as_activations("k", k, (..., "key", q.shape[-1]))
    as_activations("v", v, (..., k.shape[-2], "d_v"))
    for name, x in (("k", k), ("v", v)):
        on_device(name, x, q.device)
        if x.dtype != q.dtype:
            raise TypeError(f"{name} must have the dtype of q, {q.dtype}; got {x.dtype}")
    if not q.shape[-1]:
        raise ValueError(f"q must be of width 1 or more; got shape {tuple(q.shape)}")
    if q.shape[-2] and not k.shape[-2]:
        raise ValueError(f"k must hold at least one key; got shape {tuple(k.shape)}")
    leading = [x.shape[:-2] for x in (q, k, v)]
    if _broadcast(*leading) is None:
        got = ", ".join(str(tuple(shape)) for shape in leading)
        raise ValueError(f"q, k and v must have leading shapes that broadcast; got {got}")


def _as_bias(bias: Tensor, scores: Tensor) -> Tensor:
    """Return `bias`, which must broadcast to the scores and hold no NaN or +inf."""
    as_activations("bias", bias, (...,))
    if values_are_known(bias) and bias.numel():
        largest = bias.detach().amax().item()  # NaN if there is one
        if not largest < math.inf:
            raise ValueError(f"bias must hold finite numbers or -inf; got {largest}")
    return _over(scores, "bias", bias)


def _refuse_overflow(q: Tensor, k: Tensor, products: Tensor, scores: Tensor) -> None:
    """Raise if finite `q` and `k` give a score that is not finite; NaN from NaN is allowed."""
    if not scores.numel() or not values_are_known(scores):
        return
    ends = torch.stack((*products.detach().aminmax(), scores.detach().amax()))
    if ends.isfinite().all():  # the fast path of nearly every call
        return
    held = products.isfinite() & (scores < math.inf)  # a bias of −∞ is allowed
    finite = q.isfinite().all(dim=-1).unsqueeze(-1) & k.isfinite().all(dim=-1).unsqueeze(-2)
    if (finite & ~held).any():
        kind = str(scores.dtype).removeprefix("torch.")
        raise ValueError(f"q, k and bias must give scores that {kind} can hold; got an infinity")


def _refuse_blind_queries(scores: Tensor) -> None:
    """Raise if every score of some query is −∞, whose softmax would be NaN."""
    if not values_are_known(scores):
        return
    blind = scores.detach().isneginf().all(dim=-1)
    if blind.any():
        first = blind.nonzero()[0].tolist()
        raise ValueError(
            f"bias and mask must leave each query a key to look at; got none for query {first}"
        )


def _over(scores: Tensor, name: str, x: Tensor) -> Tensor:
    """Return `x`, which must be on the device of the scores and broadcast to their shape."""
    on_device(name, x, scores.device)
    if _broadcast(x.shape, scores.shape) != scores.shape:
        raise ValueError(
            f"{name} must broadcast to the scores, of shape {tuple(scores.shape)};"
            f" got shape {tuple(x.shape)}"
        )
    return x


def _broadcast(*shapes: torch.Size) -> torch.Size | None:
    """Return the shape that all of these broadcast to, or None if there is none."""
    try:
        shape: torch.Size = torch.broadcast_shapes(*shapes)  # type: ignore[no-untyped-call]
    except RuntimeError:
        return None
    return shape
