"""Relative positions as tensors, and a learned embedding for each of them.

    score of query i and key j  =  q_i · (k_j + a_{clip(j−i)})

Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position Representations" (2018); the
shift that avoids one embedding per pair is from Dai et al., "Transformer-XL" (2019), appendix B.
`posenc/scores/relative.py` is the numpy version, with the shift as a function of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_integer
from posenc._tensor_arguments import (
    as_activations,
    as_positions,
    as_relative,
    on_device,
    values_are_known,
    without_autocast,
)

# FlexAttention calls it for every single score, with the score, batch, head, query and key.
ScoreMod: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def relative_positions(
    query_positions: int | Tensor, key_positions: int | Tensor | None = None
) -> Tensor:
    """Return the relative position of every key for every query: key − query.

    It is positive for a key ahead of the query. Positions need not be sorted or consecutive: with
    a cache the queries start late, padding shifts each row of a batch by a different amount, and
    in a packed row each document starts again at 0.

    Args:
        query_positions: an integer n for the positions 0 … n−1, or an integer tensor `(length,)`
            or `(batch, length)`.
        key_positions: likewise, or None for those of the queries. If both have a batch dimension,
            its size must agree.

    Returns:
        Shape `(query, key)`, or `(batch, query, key)` if either has a batch; int64, a new tensor
        on the device of the positions given, or on torch's default device for two integers.

    Raises:
        TypeError: positions are neither an integer nor an integer tensor.
        ValueError: a count is negative, a tensor has the wrong shape, or the two differ in batch
            or device. In eager mode also: a position reaches 2⁵³ in size.

    Source:
        The sign is that of Shaw et al. (2018), section 3.2, where j − i selects a_ij, and of T5's
        `memory_position - context_position`. Transformer-XL and Swin use query − key.

    Examples:
        >>> import torch
        >>> relative_positions(3)
        tensor([[ 0,  1,  2],
                [-1,  0,  1],
                [-2, -1,  0]])
        >>> relative_positions(torch.tensor([[7], [2]]), 3).shape
        torch.Size([2, 1, 3])
    """
    given = [p for p in (query_positions, key_positions) if isinstance(p, Tensor)]
    device = given[0].device if given else None
    query = _as_line("query_positions", query_positions, device)
    if key_positions is None:
        return query.unsqueeze(-2) - query.unsqueeze(-1)
    key = _as_line("key_positions", key_positions, device)
    if query.ndim == key.ndim == 2 and len(query) != len(key):
        raise ValueError(
            f"key_positions must have the batch of query_positions, {len(query)}; got {len(key)}"
        )
    return key.unsqueeze(-2) - query.unsqueeze(-1)


def _as_line(name: str, positions: object, device: torch.device | None) -> Tensor:
    """Return 0 … n−1 for an integer n, and any other positions as an int64 tensor."""
    if isinstance(positions, Tensor):
        tensor = as_positions(name, positions, integer=True)
        return tensor if device is None else on_device(name, tensor, device)
    return torch.arange(as_integer(name, positions, least=0), device=device)


def relative_row(query_length: int, key_length: int, *, query_offset: int = 0) -> Tensor:
    """Return the distinct relative positions of q queries and k keys, as a row for a bias module.

    The q·k pairs have only q + k − 1 different relative positions. Applied to this row, a module
    such as `ALiBi` or `T5RelativeBias` gives the whole bias in the memory of one row:
    `relative_attention` adds it to the scores without materializing the matrix, and
    `relative_score_mod` passes it to FlexAttention.

    Args:
        query_length: number of queries, q; an integer, 1 or more.
        key_length: number of keys, k; an integer, 0 or more.
        query_offset: position of the first query; an integer, 0 or more.

    Returns:
        Shape `(1, q + k − 1)`, int64, rising by 1 from −(q − 1) − query_offset; a new tensor on
        torch's default device.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: `query_length` is below 1, or another argument negative.

    Source:
        Dai et al. (2019), appendix B, which counts them.

    Examples:
        >>> from posenc.nn import ALiBi
        >>> relative_row(3, 4)
        tensor([[-2, -1,  0,  1,  2,  3]])
        >>> ALiBi(2, causal=False)(relative_row(3, 4))[0]
        tensor([[-0.1250, -0.0625,  0.0000, -0.0625, -0.1250, -0.1875]])
    """
    queries = as_integer("query_length", query_length, least=1)
    keys = as_integer("key_length", key_length, least=0)
    first = 1 - queries - as_integer("query_offset", query_offset, least=0)
    return torch.arange(first, first + queries + keys - 1).unsqueeze(0)


def reversed_view(rows: Tensor, query_length: int) -> Tensor:
    """Return the bias of every query and key, the last query first, as a view of `rows`.

    If a bias depends on relative positions only, its row for a query is a window of k numbers
    in the row of distinct entries, and the window moves back by one from one query to the next.
    torch has no negative strides, so the queries come in reverse order: flip the queries, attend,
    and flip the output. `posenc.relative_view` has them in the usual order.

    Args:
        rows: one number per relative position, shape `(..., q + k − 1)`, floating; column r
            belongs to r − (q − 1), less an offset if there is one, as in `relative_row`.
        query_length: number of queries, q; an integer, 1 or more.

    Returns:
        Shape `(..., q, k)`, sharing the memory of `rows`: out[..., i, j] = rows[..., i + j], for
        query q − 1 − i and key j.

    Raises:
        TypeError: `rows` is not a floating tensor, or `query_length` not an integer.
        ValueError: `rows` has fewer than q − 1 columns, or `query_length` is below 1.

    Source:
        Follows from Dai et al. (2019), appendix B, with the same row for all queries.

    Examples:
        >>> import torch
        >>> reversed_view(torch.tensor([-2.0, -1.0, 0.0, 1.0, 2.0, 3.0]), 3)
        tensor([[-2., -1.,  0.,  1.],
                [-1.,  0.,  1.,  2.],
                [ 0.,  1.,  2.,  3.]])
    """
    rows = as_activations("rows", rows, (..., "q + k - 1"))
    queries = as_integer("query_length", query_length, least=1)
    keys = rows.shape[-1] - queries + 1
    if keys < 0:
        raise ValueError(
            "rows and query_length must fit: q + k - 1 columns for q queries, with k of 0 or more;"
            f" got {rows.shape[-1]} columns for {queries} queries"
        )
    return rows.unfold(-1, keys, 1)


def relative_attention(q: Tensor, k: Tensor, v: Tensor, rows: Tensor) -> Tensor:
    """Return the output of attention, with a relative bias that is never materialized.

    It equals `attention(q, k, v, bias=…)[0]` for the bias matrix that `rows` stand for, computed
    by torch's `scaled_dot_product_attention`, which reads the matrix through `reversed_view`. On
    CPUs, and without gradients for `rows`, no memory grows as query · key; elsewhere, only what
    torch's function itself allocates. Gradients flow to all four arguments; for those of `rows`
    torch materializes the scores.

    Args:
        q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64.
        k: keys, `(batch, heads, key, d)`, of the dtype and on the device of `q`.
        v: values, `(batch, heads, key, d_v)`, likewise.
        rows: the bias of each head for each relative position, added after the division by √d:
            `(heads, query + key − 1)`, with the columns of `relative_row`; on the device of `q`,
            of any of the four dtypes. −inf hides the keys at that relative position.

    Returns:
        Shape `(batch, heads, query, d_v)`, in the dtype of `q`.

    Raises:
        TypeError: an argument is not a floating tensor, or `k` or `v` has another dtype than `q`.
        ValueError: shapes do not fit, or devices differ; there is no query, no key, or `d` is 0.
            In eager mode also: `rows` holds NaN or +inf, or hides every key from a query.

    Source:
        Raffel et al. (2020), section 2.1, and Press et al. (2022), section 3, for such biases.

    Examples:
        >>> import torch
        >>> from posenc.nn import ALiBi, attention
        >>> q, k, v = torch.randn(3, 1, 8, 100, 64)
        >>> alibi = ALiBi(8)
        >>> fast = relative_attention(q, k, v, alibi(relative_row(100, 100))[:, 0])
        >>> slow, _ = attention(q, k, v, bias=alibi(relative_positions(100)))
        >>> torch.allclose(fast, slow, atol=1e-5)
        True
    """
    batch, heads, queries, d = as_activations("q", q, ("batch", "heads", "query", "d")).shape
    as_activations("k", k, (batch, heads, "key", d))
    as_activations("v", v, (batch, heads, k.shape[2], "d_v"))
    as_activations("rows", rows, (heads, queries + k.shape[2] - 1))
    for name, x in (("k", k), ("v", v), ("rows", rows)):
        on_device(name, x, q.device)
        if x.dtype != q.dtype and name != "rows":
            raise TypeError(f"{name} must have the dtype of q, {q.dtype}; got {x.dtype}")
    if not (queries and d and k.shape[2]):
        shapes = f"{tuple(q.shape)} and {tuple(k.shape)}"
        raise ValueError(f"q and k must hold a query and a key of width 1 or more; got {shapes}")
    _check_rows(rows, queries)
    bias = reversed_view(rows.to(torch.promote_types(q.dtype, torch.float32)), queries)
    with without_autocast(q.device):
        output = functional.scaled_dot_product_attention(q.flip(-2), k, v, attn_mask=bias[None])
    return output.flip(-2)


def relative_score_mod(rows: Tensor, query_length: int) -> ScoreMod:
    """Return a function that makes FlexAttention add a relative bias.

    Pass it as `score_mod` to `torch.nn.attention.flex_attention.flex_attention`, which applies it
    to every score as it is computed. Compiled, no matrix is materialized.

    Args:
        rows: the bias of each head, `(heads, query + key − 1)`, floating, on the device of the
            queries; see `relative_attention`.
        query_length: number of queries; an integer, 1 or more.

    Returns:
        A function of score, batch, head, query and key, each a 0-d tensor, that returns the score
        plus rows[head, key − query + query_length − 1].

    Raises:
        TypeError: `rows` is not a floating tensor, or `query_length` not an integer.
        ValueError: `rows` does not have two dimensions or has too few columns for a key;
            `query_length` is below 1.

    Source:
        Follows from Dai et al. (2019), appendix B; the signature is that of a `score_mod` in
        torch's FlexAttention.

    Examples:
        >>> import torch
        >>> from posenc.nn import ALiBi
        >>> add = relative_score_mod(ALiBi(2)(relative_row(3, 3))[:, 0], query_length=3)
        >>> zero, one, two = torch.arange(3)
        >>> add(torch.tensor(5.0), zero, one, two, zero)  # head 1, query 2, key 0
        tensor(4.9922)
    """
    rows = as_activations("rows", rows, ("heads", "query + key - 1"))
    middle = as_integer("query_length", query_length, least=1) - 1
    if rows.shape[1] <= middle:
        raise ValueError(
            "rows and query_length must fit: q + k - 1 columns for q queries, with k of 1 or more;"
            f" got {rows.shape[1]} columns for {middle + 1} queries"
        )

    def add_bias(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return score + rows[head, key - query + middle]

    return add_bias


def _check_rows(rows: Tensor, queries: int) -> None:
    """Raise if `rows` hold NaN or +inf or hide every key from a query; in eager mode only."""
    if not values_are_known(rows):
        return
    largest = rows.detach().amax().item()  # NaN if there is one
    if not largest < math.inf:
        raise ValueError(f"rows must hold finite numbers or -inf; got {largest}")
    seen = functional.pad(rows.detach().isfinite().cumsum(-1), (1, 0))
    keys = rows.shape[-1] - queries + 1
    blind = (seen[:, keys:] == seen[:, :-keys]).nonzero()
    if blind.numel():
        head, last = blind[0].tolist()
        raise ValueError(
            "rows must leave each query a key to look at;"
            f" got none for query {queries - 1 - last} in head {head}"
        )


class RelativePositionEmbedding(nn.Module):
    """An embedding for each relative position, clipped to a maximum distance.

    The table has one row for each relative position −max_distance … max_distance; larger distances
    share the last row on their side. Call the module with relative positions to get the vectors a,
    or get their products with the queries: from `scores`, by the definition, with a vector for
    every pair of positions, or from `shifted_scores`, without.

    Args:
        d: width of a row, that of one head; an integer, 1 or more.
        max_distance: an integer, 0 or more; the paper's k. At 0 all pairs share one row.

    Attributes:
        d: width of a row.
        max_distance: the distance from which keys share a row, on either side.
        table: the learned rows, `(2·max_distance + 1, d)`; row r is relative position
            r − max_distance.

    Raises:
        TypeError: `d` or `max_distance` is not an integer.
        ValueError: `d` is below 1 or `max_distance` below 0.

    Source:
        Shaw et al. (2018), section 3.2, and section 3.3 for sharing one table among all heads to
        save memory; the base model of section 4.1 has one for each layer and head. The standard
        deviation of the initial table, 0.02, is our choice.

    Examples:
        >>> import torch
        >>> embedding = RelativePositionEmbedding(8, max_distance=2)
        >>> embedding(relative_positions(5)).shape
        torch.Size([5, 5, 8])
        >>> q = torch.ones(1, 4, 5, 8)  # one sequence, four heads
        >>> scores = embedding.scores(q, relative_positions(5))
        >>> torch.allclose(scores, embedding.shifted_scores(q, 5), atol=1e-6)
        True
    """

    def __init__(self, d: int, max_distance: int) -> None:
        super().__init__()
        self.d = as_integer("d", d, least=1)
        self.max_distance = as_integer("max_distance", max_distance, least=0)
        self.table = nn.Parameter(torch.empty(2 * self.max_distance + 1, self.d))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the table again, from a normal distribution of standard deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def forward(self, relative: Tensor) -> Tensor:
        """Return the row of each relative position.

        Args:
            relative: key − query, `(query, key)` or `(batch, query, key)`, an integer tensor on
                the table's device; see `relative_positions`.

        Returns:
            Shape `(*relative.shape, d)`, in the dtype of the table, a new tensor.

        Raises:
            TypeError: `relative` is not an integer tensor.
            ValueError: `relative` has the wrong shape or is on another device; in eager mode also:
                it reaches 2⁵³ in size.

        Examples:
            >>> import torch
            >>> embedding = RelativePositionEmbedding(8, max_distance=2)
            >>> vectors = embedding(torch.tensor([[-9, -2, 0]]))[0]
            >>> torch.equal(vectors, embedding.table[[0, 0, 2]])
            True
        """
        relative = on_device("relative", as_relative("relative", relative), self.table.device)
        return functional.embedding(self._row(relative), self.table)

    def scores(self, q: Tensor, relative: Tensor) -> Tensor:
        """Return the term that relative positions add to the scores, q_i · a_ij, by definition.

        It is added to q·kᵀ before the division by √d; to add it afterwards, as a bias, use
        `scores / √d`. Memory grows as query · key · d, times the batch if `relative` has one.

        Args:
            q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64, on the
                table's device.
            relative: key − query, `(query, key)` or `(batch, query, key)`, an integer tensor.

        Returns:
            Shape `(batch, heads, query, key)`, in the dtype of `q`.

        Raises:
            TypeError: `q` is not a floating tensor or `relative` not an integer one.
            ValueError: a shape or a device does not fit; in eager mode also: `relative` reaches
                2⁵³ in size.

        Source:
            Shaw et al. (2018), equation 4.

        Examples:
            >>> import torch
            >>> q, embedding = torch.randn(2, 4, 5, 8), RelativePositionEmbedding(8, 3)
            >>> bias = embedding.scores(q, relative_positions(5)) / 8**0.5  # for `attention`
            >>> bias.shape
            torch.Size([2, 4, 5, 5])
        """
        q = self._as_queries(q)
        a = self(relative).to(q.dtype)
        batch, _, length, _ = q.shape
        if a.shape[-3] != length or (a.ndim == 4 and len(a) != batch):
            raise ValueError(
                f"relative must be of shape ({length}, key) or ({batch}, {length}, key), to match"
                f" q; got {tuple(relative.shape)}"
            )
        pairs = "qkd" if a.ndim == 3 else "bqkd"
        with without_autocast(q.device):
            return torch.einsum(f"bhqd,{pairs}->bhqk", q, a)

    def shifted_scores(self, q: Tensor, key_length: int, *, query_offset: int = 0) -> Tensor:
        """Return the same scores for consecutive positions, without a vector for every pair.

        There are only query + key − 1 different relative positions. Each query is multiplied with
        one vector for each of them, and then every row of products is shifted into place: the
        score of query i and key j is in column j − i + query − 1.

        Args:
            q: queries, `(batch, heads, query, d)`, as for `scores`.
            key_length: number of keys, at positions 0 … key_length−1; an integer, 0 or more.
            query_offset: position of the first query; an integer, 0 or more.

        Returns:
            Shape `(batch, heads, query, key_length)`, in the dtype of `q`; what `scores` returns
            for the relative positions of these queries and keys.

        Raises:
            TypeError: `q` is not a floating tensor, or a length or the offset is not an integer.
            ValueError: the shape or device of `q` does not fit, or a number is negative.

        Source:
            Dai et al. (2019), appendix B; there only for keys up to the query, and a causal mask
            hides the rest of each row.

        Examples:
            >>> import torch
            >>> q, embedding = torch.ones(2, 4, 6, 8), RelativePositionEmbedding(8, 3)
            >>> last = embedding.shifted_scores(q[:, :, 5:], 6, query_offset=5)
            >>> torch.allclose(last, embedding.shifted_scores(q, 6)[:, :, 5:], atol=1e-6)
            True
        """
        q = self._as_queries(q)
        keys = as_integer("key_length", key_length, least=0)
        offset = as_integer("query_offset", query_offset, least=0)
        length = q.shape[-2]
        if not length or not keys:
            return q.new_zeros(*q.shape[:-1], keys)
        first = 1 - length - offset  # relative position of the first key to the last query
        relative = torch.arange(first, first + length + keys - 1, device=q.device)
        rows = functional.embedding(self._row(relative), self.table)
        with without_autocast(q.device):
            return _shifted(q @ rows.to(q.dtype).mT)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.d}, max_distance={self.max_distance}"

    def _row(self, relative: Tensor) -> Tensor:
        """Return the row of the table for each relative position."""
        return relative.clamp(-self.max_distance, self.max_distance) + self.max_distance

    def _as_queries(self, q: Tensor) -> Tensor:
        """Return queries, which must have the width and the device of the table."""
        q = as_activations("q", q, ("batch", "heads", "query", self.d))
        return on_device("q", q, self.table.device)


def _shifted(scores: Tensor) -> Tensor:
    """Return `posenc.relative_shift` of a tensor: row i moves left by query − 1 − i columns."""
    query, columns = scores.shape[-2:]
    padded = functional.pad(scores, (1, 0)).flatten(-2)
    return padded[..., query:].reshape(scores.shape)[..., : columns - query + 1]
