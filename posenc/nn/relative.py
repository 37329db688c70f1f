"""Relative positions for modules, and an embedding for each of them.

    score of query i and key j  =  q_i · (k_j + a_{clip(j−i)})

Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position Representations" (2018); the
shift that spares the embedding of every single pair is from Dai et al., "Transformer-XL" (2019),
appendix B. `posenc/relative.py` says the same in numpy, and shows the shift by itself.
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

# What FlexAttention calls for every score: score, batch, head, query and key, each of them one.
ScoreMod: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def relative_positions(
    query_positions: int | Tensor, key_positions: int | Tensor | None = None
) -> Tensor:
    """Return the relative position of every key for every query: key − query.

    A key ahead of the query has a positive one. Positions need not be in order or next to each
    other: with a cache the queries start late, padding moves every row of a batch by its own
    amount, and in a packed row each document starts again at 0.

    Args:
        query_positions: an integer n for the positions 0 … n−1, or an integer tensor `(length,)`
            or `(batch, length)`.
        key_positions: likewise, or None for those of the queries. Where both have a batch, it is
            the same one.

    Returns:
        Shape `(query, key)`, or `(batch, query, key)` where either has a batch; int64, a new
        tensor on the device of the positions given. Two counts make one on torch's default device.

    Raises:
        TypeError: positions are neither an integer nor an integer tensor.
        ValueError: a count is negative, a tensor is not of one of the two shapes, or the two
            differ in batch or device. In eager mode also: a position reaches 2**53 in size.

    Source:
        The order is that of Shaw et al. (2018), section 3.2, whose a_ij is chosen by j − i, and of
        T5's `memory_position - context_position`. Transformer-XL and Swin count query − key.

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
    """Return 0 … n−1 for an integer n, and other positions as the tensor they are, in int64."""
    if isinstance(positions, Tensor):
        tensor = as_positions(name, positions, integer=True)
        return tensor if device is None else on_device(name, tensor, device)
    return torch.arange(as_integer(name, positions, least=0), device=device)


def relative_row(query_length: int, key_length: int, *, query_offset: int = 0) -> Tensor:
    """Return every relative position of q queries and k keys in a row, for a bias module.

    The q·k pairs have only q + k − 1 different relative positions. What a module such as `ALiBi`
    or `T5RelativeBias` makes of this row is the whole bias, in the memory of a row:
    `relative_attention` adds it to the scores without writing out the matrix, and
    `relative_score_mod` hands it to FlexAttention.

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
    """Return the bias of every query and key, the last query first, as a view of rows.

    Row i of a matrix that knows relative positions alone is k neighbouring numbers of its row of
    all, and from query to query this window moves back by one. torch can only step forward in
    memory. So the queries come in reverse order here: flip the queries, attend, flip what comes
    out. `posenc.relative_view` has them in their own order.

    Args:
        rows: one number for each relative position, shape `(..., q + k − 1)`, floating; column r
            belongs to r − (q − 1), less an offset if there is one, as in `relative_row`.
        query_length: number of queries, q; an integer, 1 or more.

    Returns:
        Shape `(..., q, k)`, in the memory of `rows`: out[..., i, j] = rows[..., i + j], for query
        q − 1 − i and key j.

    Raises:
        TypeError: `rows` is not a floating tensor, or `query_length` not an integer.
        ValueError: `rows` has fewer than q − 1 columns, or `query_length` is below 1.

    Source:
        Follows from Dai et al. (2019), appendix B, where the rows of all queries are one.

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
            "rows and query_length must be q + k - 1 columns and q, with k from 0;"
            f" got {rows.shape[-1]} and {queries}"
        )
    return rows.unfold(-1, keys, 1)


def relative_attention(q: Tensor, k: Tensor, v: Tensor, rows: Tensor) -> Tensor:
    """Return what attention takes from the values, with a bias that is never written out.

    It is `attention(q, k, v, bias=…)[0]` for the matrix that `rows` stand for, computed by
    torch's `scaled_dot_product_attention`, which reads the matrix through `reversed_view`. No
    memory grows as query · key where that function's own does not: so on CPUs, without gradients
    for `rows`. Gradients flow to all four, and with those of `rows` torch writes the scores out.

    Args:
        q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64.
        k: keys, `(batch, heads, key, d)`, of the dtype and on the device of `q`.
        v: values, `(batch, heads, key, d_v)`, likewise.
        rows: what a head adds to a score, after the division by √d, for each relative position:
            `(heads, query + key − 1)`, with the columns of `relative_row`; on the device of `q`,
            of any of the four dtypes. −inf hides the keys at that relative position.

    Returns:
        Shape `(batch, heads, query, d_v)`, in the dtype of `q`.

    Raises:
        TypeError: an argument is not a floating tensor, or `k` or `v` not of the dtype of `q`.
        ValueError: shapes do not fit, or devices differ; there is no query, no key, or `d` is 0.
            In eager mode also: `rows` holds NaN or +inf, or leaves a query nowhere to look.

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
            raise TypeError(f"{name} must be of the dtype of q, {q.dtype}; got {x.dtype}")
    if not (queries and d and k.shape[2]):
        shapes = f"{tuple(q.shape)} and {tuple(k.shape)}"
        raise ValueError(f"q and k must hold a query and a key of width 1 or more; got {shapes}")
    _check_rows(rows, queries)
    bias = reversed_view(rows.to(torch.promote_types(q.dtype, torch.float32)), queries)
    with without_autocast(q.device):
        found = functional.scaled_dot_product_attention(q.flip(-2), k, v, attn_mask=bias[None])
    return found.flip(-2)


def relative_score_mod(rows: Tensor, query_length: int) -> ScoreMod:
    """Return the function that makes FlexAttention add a bias of relative positions.

    Pass it as `score_mod` to `torch.nn.attention.flex_attention.flex_attention`, which adds to
    every score what the function says, where the score is made. Compiled, nothing is written out.

    Args:
        rows: what a head adds, `(heads, query + key − 1)`, floating, on the device of the
            queries; see `relative_attention`.
        query_length: number of queries; an integer, 1 or more.

    Returns:
        A function of score, batch, head, query and key, each a tensor without axes, to the score
        plus rows[head, key − query + query_length − 1].

    Raises:
        TypeError: `rows` is not a floating tensor, or `query_length` not an integer.
        ValueError: `rows` is not of two dimensions or has no key's column; `query_length` is
            below 1.

    Source:
        Follows from Dai et al. (2019), appendix B; the form of the function is that of
        FlexAttention in torch.

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
            "rows and query_length must be q + k - 1 columns and q, with k from 1;"
            f" got {rows.shape[1]} and {middle + 1}"
        )

    def add_bias(score: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return score + rows[head, key - query + middle]

    return add_bias


def _check_rows(rows: Tensor, queries: int) -> None:
    """Raise unless `rows` are numbers or −inf, and leave every query a key; in eager mode alone."""
    if not values_are_known(rows):
        return
    largest = rows.detach().amax().item()  # NaN where there is one
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
    """An embedding for each relative position, clipped to a largest distance.

    One row of the table for each relative position −max_distance … max_distance; whatever lies
    further away shares the outermost row of its side. Call it with relative positions for the
    vectors a, or ask for their products with the queries: `scores` by the definition, which
    writes out a vector for every pair of positions, `shifted_scores` without.

    Args:
        d: width of a row, that of one head; an integer, 1 or more.
        max_distance: an integer, 0 or more; the paper's k. At 0 every pair shares one row.

    Attributes:
        d: width of a row.
        max_distance: the distance from which all share a row, on either side.
        table: the learned rows, `(2·max_distance + 1, d)`; row r is relative position
            r − max_distance.

    Raises:
        TypeError: `d` or `max_distance` is not an integer.
        ValueError: `d` is below 1 or `max_distance` below 0.

    Source:
        Shaw et al. (2018), section 3.2, and section 3.3 for one table that serves all heads,
        which spares memory; the base model of section 4.1 has one for each layer and head. The
        standard deviation 0.02 that the table starts with is ours.

    Examples:
        >>> import torch
        >>> embedding = RelativePositionEmbedding(8, max_distance=2)
        >>> embedding(relative_positions(5)).shape
        torch.Size([5, 5, 8])
        >>> q = torch.ones(1, 4, 5, 8)  # one text, four heads
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
        """Draw the table anew, from a normal distribution of standard deviation 0.02."""
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
            ValueError: `relative` is of another shape or on another device; in eager mode also:
                it reaches 2**53 in size.

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
        """Return what the relative positions add to the scores: q_i · a_ij, by the definition.

        It is a summand of q·kᵀ, before the division by √d; as a bias that is added after it,
        pass `scores / √d`. Memory grows as query · key · d, for each row of a batch anew.

        Args:
            q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64, on the
                table's device.
            relative: key − query, `(query, key)` or `(batch, query, key)`, an integer tensor.

        Returns:
            Shape `(batch, heads, query, key)`, in the dtype of `q`.

        Raises:
            TypeError: `q` is not a floating tensor or `relative` not an integer one.
            ValueError: a shape or a device does not fit; in eager mode also: `relative` reaches
                2**53 in size.

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
                f"relative must be of shape ({length}, key) or ({batch}, {length}, key), as q has"
                f" it; got {tuple(relative.shape)}"
            )
        pairs = "qkd" if a.ndim == 3 else "bqkd"
        with without_autocast(q.device):
            return torch.einsum(f"bhqd,{pairs}->bhqk", q, a)

    def shifted_scores(self, q: Tensor, key_length: int, *, query_offset: int = 0) -> Tensor:
        """Return the same scores for positions in a row, without a vector for every pair.

        There are only query + key − 1 different relative positions. Each query meets the row of
        each of them once, and then every row of products is shifted into its place: query i
        finds key j in column j − i + query − 1.

        Args:
            q: queries, `(batch, heads, query, d)`, as for `scores`.
            key_length: number of keys, at positions 0 … key_length−1; an integer, 0 or more.
            query_offset: position of the first query; an integer, 0 or more.

        Returns:
            Shape `(batch, heads, query, key_length)`, in the dtype of `q`; what `scores` returns
            for the relative positions of these queries and keys.

        Raises:
            TypeError: `q` is not a floating tensor, or a number not an integer.
            ValueError: `q` does not fit in shape or device, or a number is below 0.

        Source:
            Dai et al. (2019), appendix B; there for keys up to the query alone, which leaves the
            rest of a row to a mask.

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
        first = 1 - length - offset  # the first key, as the last query sees it
        relative = torch.arange(first, first + length + keys - 1, device=q.device)
        rows = functional.embedding(self._row(relative), self.table)
        with without_autocast(q.device):
            return _shifted(q @ rows.to(q.dtype).mT)

    def extra_repr(self) -> str:
        """Return the two sizes, as `print` shows them."""
        return f"{self.d}, max_distance={self.max_distance}"

    def _row(self, relative: Tensor) -> Tensor:
        """Return which row of the table each relative position takes."""
        return relative.clamp(-self.max_distance, self.max_distance) + self.max_distance

    def _as_queries(self, q: Tensor) -> Tensor:
        """Return queries that are as wide as the table and lie beside it."""
        q = as_activations("q", q, ("batch", "heads", "query", self.d))
        return on_device("q", q, self.table.device)


def _shifted(scores: Tensor) -> Tensor:
    """Return `posenc.relative_shift` of a tensor: row i moves left by query − 1 − i columns."""
    *leading, query, columns = scores.shape
    padded = functional.pad(scores, (1, 0)).reshape(*leading, columns + 1, query)
    return padded[..., 1:, :].reshape(scores.shape)[..., : columns - query + 1]
