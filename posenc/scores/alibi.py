"""ALiBi: attention with linear biases. A score is lowered in proportion to the key's distance.

    bias = −m·|key − query|      one slope m for each head, none of them learned

Press, Smith and Lewis, "Train Short, Test Long: Attention with Linear Biases Enables Input Length
Extrapolation" (ICLR 2022, arXiv 2108.12409), section 3. A head with a steep slope attends to near
neighbours, one with a shallow slope to nearly everything. Queries, keys and values do not change.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from posenc._arguments import as_flag, as_integer
from posenc.positions import relative_positions


def alibi_slopes(heads: int) -> NDArray[np.float64]:
    """Return the slope of each head: how much a score drops per position of distance.

    With H heads, H a power of two, head h = 1 … H has the slope 2^(−8h/H): a geometric sequence
    that ends at 1/256. For any other count, let N be the next lower power of two: first come the
    slopes of N heads, then every other slope of 2N heads, the steepest first, until each head has
    one. These extra slopes lie between two of the first N, or above them all.

    Args:
        heads: how many; an integer, 1 or more.

    Returns:
        Shape `(heads,)`, float64, a new array: all different, from 1/256 to below 1. Powers of two
        are exact, and any other slope is off by at most one unit in its last place.

    Raises:
        TypeError: `heads` is not an integer.
        ValueError: `heads` is below 1.

    Source:
        Press et al. (2022), section 3, whose rule is 2^(−8h/H) for any H. If H is not a power of
        two, the authors' code departs from it. This function follows the code, since models were
        trained with it: github.com/ofirpress/attention_with_linear_biases,
        fairseq/models/transformer.py.

    Examples:
        >>> alibi_slopes(4).tolist()
        [0.25, 0.0625, 0.015625, 0.00390625]
        >>> alibi_slopes(6).tolist()
        [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]
    """
    heads = as_integer("heads", heads, least=1)
    n = 1 << (heads.bit_length() - 1)  # the largest power of two up to heads
    halves = np.concatenate([2 * np.arange(1, n + 1), np.arange(1, 2 * (heads - n), 2)])
    return np.exp2(-8 * halves / (2 * n))


def alibi_bias(
    heads: int,
    query_length: int,
    key_length: int | None = None,
    *,
    query_offset: int = 0,
    causal: bool = True,
) -> NDArray[np.float64]:
    """Return what ALiBi adds to the scores: −m·|key − query|, with a slope m for each head.

    It depends on the difference of the two positions alone, so a query decoded with a key cache
    gets the same row as in the full matrix.

    Args:
        heads: how many; an integer, 1 or more.
        query_length: how many queries; an integer, 0 or more.
        key_length: how many keys, at positions 0 … key_length−1; None for as many as the last
            query can see, query_offset + query_length.
        query_offset: the position of the first query, 0 or more.
        causal: True puts −inf where key > query, as in the paper; False penalizes distance there
            too, so the bias is symmetric.

    Returns:
        Shape `(heads, query_length, key_length)`, float64, a new array.

    Raises:
        TypeError: a length, a count or the offset is not an integer, or `causal` is not a boolean.
        ValueError: `heads` is below 1, or a length or the offset negative.

    Source:
        Press et al. (2022), section 3, for causal models. The paper's first author suggests the
        symmetric form for encoders, in issue 5 of ofirpress/attention_with_linear_biases.

    Examples:
        >>> alibi_bias(2, 3)[0]
        array([[ 0.    ,    -inf,    -inf],
               [-0.0625,  0.    ,    -inf],
               [-0.125 , -0.0625,  0.    ]])
        >>> alibi_bias(2, 3, causal=False)[0, 1]
        array([-0.0625,  0.    , -0.0625])
    """
    slopes = alibi_slopes(heads)[:, np.newaxis, np.newaxis]
    if key_length is None:
        first = as_integer("query_offset", query_offset, least=0)
        key_length = first + as_integer("query_length", query_length, least=0)
    relative = relative_positions(query_length, key_length, query_offset=query_offset)
    bias = slopes * -np.abs(relative)
    return np.where(relative > 0, -np.inf, bias) if as_flag("causal", causal) else bias


def alibi_key_bias(heads: int, key_length: int) -> NDArray[np.float64]:
    """Return the key-only form of the causal bias: m·key, one row for all queries.

    Under a causal mask, softmax gives the same weights as with `alibi_bias`. Proof: where
    key ≤ query the causal bias is m·(key − query), and m·key exceeds it by m·query, the same for
    all keys of that row. Adding a constant c to every score of a row multiplies each exponential,
    and so also their sum, by exp(c), which cancels.

    That holds in exact arithmetic. Large floats are coarse: this form loses precision at the
    latest keys, which weigh most, `alibi_bias` only at the furthest. Take a query at position 4095
    that scores all keys alike, and the head of slope 1/2. The query's own key should get the
    weight 0.393, and with the causal form it does in any float type. With this form it gets 0.528
    in float16, where two neighbouring keys have the same bias, and 0.125 in bfloat16, where up to
    17 keys do.

    Args:
        heads: how many; an integer, 1 or more.
        key_length: how many keys, at positions 0 … key_length−1; an integer, 0 or more.

    Returns:
        Shape `(heads, 1, key_length)`, float64, 0 or more, a new array. It does not hide future
        keys, so use it with a causal mask.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: `heads` is below 1, or `key_length` negative.

    Source:
        The authors' code (see `alibi_slopes`) and that of BLOOM add this form.

    Examples:
        >>> alibi_key_bias(2, 4)[0]
        array([[0.    , 0.0625, 0.125 , 0.1875]])
    """
    slopes = alibi_slopes(heads)[:, np.newaxis, np.newaxis]
    return slopes * np.arange(as_integer("key_length", key_length, least=0))


def alibi_rows(
    heads: int,
    query_length: int,
    key_length: int,
    *,
    query_offset: int = 0,
    causal: bool = True,
) -> NDArray[np.float64]:
    """Return the distinct entries of `alibi_bias`: one per head and relative position.

    `relative_view(alibi_rows(heads, q, k), q)` equals `alibi_bias(heads, q, k)` and takes the
    memory of heads·(q + k − 1) numbers.

    Args:
        heads: how many; an integer, 1 or more.
        query_length: how many queries, q; an integer, 1 or more.
        key_length: how many keys, k; an integer, 0 or more.
        query_offset: the position of the first query, 0 or more.
        causal: True puts −inf where key > query; False penalizes distance there too.

    Returns:
        Shape `(heads, q + k − 1)`, float64, a new array; the columns are those of
        `posenc.relative_row`.

    Raises:
        TypeError: a length, a count or the offset is not an integer, or `causal` is not a boolean.
        ValueError: `heads` or `query_length` is below 1, or another number is negative.

    Source:
        Press et al. (2022), section 3.

    Examples:
        >>> alibi_rows(2, 3, 3)[0]
        array([-0.125 , -0.0625,  0.    ,    -inf,    -inf])
    """
    queries = as_integer("query_length", query_length, least=1)
    keys = as_integer("key_length", key_length, least=0)
    last = queries - 1 + as_integer("query_offset", query_offset, least=0)
    return alibi_bias(heads, 1, queries + keys - 1, query_offset=last, causal=causal)[:, 0]
