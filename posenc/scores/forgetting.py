"""The forgetting gate: each token decides how much later tokens see of all before it.

    bias_ij  =  log f_{j+1} + … + log f_i,     f a number from 0 to 1 for each token

Lin, Nikishin, He and Courville, "Forgetting Transformer: Softmax Attention with a Forget Gate"
(ICLR 2025, arXiv 2503.02130). With the same gate for all tokens it is ALiBi.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import as_integer, as_reals


def forgetting_bias(log_gates: ArrayLike, query_length: int | None = None) -> NDArray[np.float64]:
    """Return the bias of each query and key: the sum of the log gates after the key, to the query.

    Args:
        log_gates: log f of each token, 0 or below, shape `(..., key)`: one axis in front for the
            heads, for example.
        query_length: how many queries, the last of the tokens; None for all; an integer, 0 or more.

    Returns:
        Shape `(..., query, key)`, float64, a new array: 0 for the query's own key, falling with
        every token that forgets, −inf for keys ahead.

    Raises:
        TypeError: `log_gates` holds anything but real numbers, or `query_length` is not an integer.
        ValueError: `log_gates` has no axis, is above 0 or not finite; `query_length` is negative,
            or more than there are keys.

    Source:
        Lin et al. (2025), and the authors' code, github.com/zhixuan-lin/forgetting-transformer.

    Examples:
        >>> forgetting_bias([0.0, -1.0, -2.0])
        array([[  0., -inf, -inf],
               [ -1.,   0., -inf],
               [ -3.,  -2.,   0.]])
        >>> forgetting_bias([0.0, -1.0, -2.0], 1)
        array([[-3., -2.,  0.]])
    """
    gates = as_reals("log_gates", log_gates)
    if not gates.ndim or gates.max(initial=-1.0) > 0:
        got = f"{gates.max():g}" if gates.ndim else "one number"
        raise ValueError(f"log_gates must be of shape (..., key), 0 or below; got {got}")
    keys = gates.shape[-1]
    queries = keys if query_length is None else as_integer("query_length", query_length, least=0)
    if queries > keys:
        raise ValueError(f"query_length must be at most the number of keys, {keys}; got {queries}")
    so_far = np.cumsum(gates, axis=-1)
    bias = so_far[..., keys - queries :, np.newaxis] - so_far[..., np.newaxis, :]
    ahead = np.arange(keys) > np.arange(keys - queries, keys)[:, np.newaxis]
    return np.where(ahead, -np.inf, bias)
