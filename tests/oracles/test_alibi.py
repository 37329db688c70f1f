"""ALiBi against four independent implementations, for every number of heads from 1 to 70.

| in transformers 5 unless noted       | form                    | computed in                |
|--------------------------------------|-------------------------|----------------------------|
| BLOOM                                | key-only                | float32, powers of a root  |
| Falcon                               | key-only                | bfloat16, for any dtype    |
| MPT                                  | key-only, ending at 0   | float32                    |
| x-transformers' AlibiPositionalBias  | symmetric               | float32, slopes in float64 |

For numbers of heads that are not powers of two, all four have the slopes of the authors' code, in
the same order; MPT gets them by another route, from the slopes of the next higher power of two,
the even ones first. They differ in where a row has its 0, which does not affect softmax, and in
rounding, which is coarse in Falcon. Falcon also divides the bias by √d, like the scores, and adds
it twice in its "eager" attention.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from posenc.nn.alibi import ALiBi
from posenc.nn.relative import relative_positions
from posenc.scores.alibi import alibi_bias, alibi_key_bias, alibi_slopes
from posenc.scores.dot_product import causal_mask

Array = NDArray[np.float64]

HEADS = range(1, 71)
LENGTH = 40

# A correctly rounded float32 slope, and one rounding of its product with a distance.
ROUNDED = 3 * 2.0**-24
# BLOOM raises a root, rounded to float32, to the powers 1 … n, and for other counts 1 … 2n: the
# root's error of 2**-24 grows as often, to 2**-24 · 63 with 32 heads and more.
RAISED = 64 * 2.0**-24


def bloom(heads: int, mask: list[int] | None = None) -> Array:
    """Return BLOOM's bias, (heads, 1, key)."""
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    real = torch.tensor([mask or [1] * LENGTH])
    return np.asarray(build_alibi_tensor(real, heads, torch.float32), np.float64)


def falcon(heads: int, length: int = LENGTH) -> Array:
    """Return Falcon's bias, (heads, 1, key), asked for in float32."""
    from transformers.models.falcon.modeling_falcon import build_alibi_tensor

    real = torch.ones(1, length, dtype=torch.int64)
    return np.asarray(build_alibi_tensor(real, heads, torch.float32), np.float64)


def mpt(heads: int, **more: Any) -> Array:
    """Return MPT's bias, (heads, 1, key)."""
    from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor

    return np.asarray(build_mpt_alibi_tensor(heads, LENGTH, **more), np.float64)


def x_transformers(heads: int, queries: int, keys: int) -> Array:
    """Return x-transformers' bias, (heads, query, key), the last query at the last key."""
    from x_transformers.x_transformers import AlibiPositionalBias

    return np.asarray(AlibiPositionalBias(heads)(queries, keys), np.float64)


def softmax(scores: Array) -> Array:
    """Return the attention weights of each row of scores."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


@pytest.mark.parametrize("heads", HEADS)
def test_bloom_adds_the_key_only_form(heads: int) -> None:
    np.testing.assert_allclose(bloom(heads), alibi_key_bias(heads, LENGTH), rtol=RAISED)


@pytest.mark.parametrize("heads", HEADS)
def test_mpt_adds_the_row_of_the_last_query(heads: int) -> None:
    last = alibi_bias(heads, 1, query_offset=LENGTH - 1)
    np.testing.assert_allclose(mpt(heads), last, rtol=ROUNDED)


@pytest.mark.parametrize("heads", HEADS)
def test_x_transformers_adds_the_symmetric_form(heads: int) -> None:
    whole = alibi_bias(heads, LENGTH, causal=False)
    np.testing.assert_allclose(x_transformers(heads, LENGTH, LENGTH), whole, rtol=ROUNDED)
    decoded = alibi_bias(heads, 3, query_offset=LENGTH - 3, causal=False)
    np.testing.assert_allclose(x_transformers(heads, 3, LENGTH), decoded, rtol=ROUNDED)


@pytest.mark.parametrize("heads", HEADS)
def test_falcon_adds_the_key_only_form_rounded_to_bfloat16(heads: int) -> None:
    # The slope is rounded to 8 binary digits, and the product.
    np.testing.assert_allclose(
        falcon(heads), alibi_key_bias(heads, LENGTH), rtol=2 * 2.0**-8 + RAISED
    )


@pytest.mark.parametrize("heads", HEADS)
def test_all_forms_give_the_same_attention_weights(heads: int) -> None:
    """Under a causal mask: whole matrices of weights, for equal scores."""
    hidden = np.where(causal_mask(LENGTH), 0.0, -np.inf)
    weights = softmax(alibi_bias(heads, LENGTH))
    for peer in (bloom(heads), mpt(heads), x_transformers(heads, LENGTH, LENGTH)):
        # An error of RAISED in a bias of up to 39 is one of as much in a weight of up to 1.
        np.testing.assert_allclose(softmax(peer + hidden), weights, rtol=0, atol=LENGTH * RAISED)


def test_all_four_list_the_slopes_in_the_order_of_the_authors() -> None:
    """Six heads: 2^−2, 2^−4, 2^−6, 2^−8 of four heads, then 2^−1 and 2^−3 of eight."""
    slopes = [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]
    np.testing.assert_array_equal(alibi_slopes(6), slopes)
    for by_key in (bloom(6), falcon(6)):
        np.testing.assert_allclose(by_key[:, 0, 1], slopes, rtol=RAISED)
    np.testing.assert_array_equal(mpt(6)[:, 0, -2], np.negative(slopes))
    np.testing.assert_allclose(-x_transformers(6, 1, 2)[:, 0, 0], slopes, rtol=ROUNDED)


def test_bloom_counts_positions_from_the_first_real_token() -> None:
    """With left padding: there by a running sum over the mask, here by relative positions."""
    padded = bloom(6, [0, 0, 0, 1, 1, 1, 1])
    np.testing.assert_allclose(padded[..., 3:], alibi_key_bias(6, 4), rtol=RAISED)
    positions = torch.tensor([[-3, -2, -1, 0, 1, 2, 3]])
    ours = ALiBi(6)(relative_positions(positions), dtype=torch.float64)[0, :, 3:, 3:]
    np.testing.assert_array_equal(ours, alibi_bias(6, 4))


def test_falcon_cannot_tell_neighbours_apart_from_position_257_on() -> None:
    """Its bias is bfloat16 inside, even where float32 is asked for.

    A query at 2999 that scores all keys alike should give its own key the weight 0.393 in the
    head of slope 1/2. BLOOM and MPT do.
    """
    own = 1 - math.exp(-0.5)
    assert softmax(alibi_bias(8, 1, query_offset=2999))[0, 0, -1] == pytest.approx(own, abs=1e-12)
    assert softmax(mpt(8))[0, 0, -1] == pytest.approx(own, abs=1e-6)
    assert softmax(bloom(8, [1] * 3000))[0, 0, -1] == pytest.approx(own, abs=1e-3)
    by_falcon = falcon(8, 3000)[0, 0]
    assert len(np.unique(by_falcon[:257])) == 257
    assert len(np.unique(by_falcon[-257:])) < 40
    assert abs(softmax(by_falcon)[-1] - own) > 0.2


def falcon_weights(kind: str, heads: int, d: int, length: int) -> Array:
    """Return the attention weights of a Falcon layer whose scores are all 0."""
    from transformers import FalconConfig, FalconModel

    torch.manual_seed(0)
    config = FalconConfig(
        vocab_size=length,
        hidden_size=heads * d,
        num_hidden_layers=1,
        num_attention_heads=heads,
        alibi=True,
        multi_query=False,
        parallel_attn=False,
        attn_implementation=kind,
    )
    model = FalconModel(config).eval()
    attention, activations = model.h[0].self_attention, dict[str, torch.Tensor]()
    projection = attention.query_key_value  # (heads, 3, d) outputs: query, key, value of each head
    rows = projection.weight.data.view(heads, 3, d, heads * d)
    rows[:, :2] = 0
    torch.nn.init.normal_(rows[:, 2])
    projection.register_forward_hook(lambda _, __, qkv: activations.update(qkv=qkv))
    attention.dense.register_forward_pre_hook(lambda _, mixed: activations.update(mixed=mixed[0]))
    with torch.no_grad():
        model(torch.arange(length)[None])
    values = np.asarray(activations["qkv"][0].view(length, heads, 3, d)[:, :, 2], np.float64)
    mixed = np.asarray(activations["mixed"][0].view(length, heads, d), np.float64)
    # weights @ values = mixed, with no more keys than a value has dimensions.
    return mixed.swapaxes(0, 1) @ np.linalg.pinv(values.swapaxes(0, 1))


@pytest.mark.parametrize(("kind", "times"), [("sdpa", 1), ("eager", 2)])
def test_falcon_divides_its_bias_by_the_root_of_d_and_adds_it_twice_in_eager_mode(
    kind: str, times: int
) -> None:
    heads, d, length = 4, 16, 12
    weights = falcon_weights(kind, heads, d, length)
    slopes = alibi_slopes(heads)[:, np.newaxis]
    for query in range(1, length):
        logarithms = np.log(weights[:, query, : query + 1])
        # Each key differs from the last by a slope over √16; float32 sums, and an inverted matrix.
        found = np.diff(logarithms)
        np.testing.assert_allclose(found, np.tile(times * slopes / 4, query), atol=2e-3)
