"""Relative positions for modules, and an embedding for each of them.

    score of query i and key j  =  q_i · (k_j + a_{clip(j−i)})

Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position Representations" (2018); the
shift that spares the embedding of every single pair is from Dai et al., "Transformer-XL" (2019),
appendix B. `posenc/relative.py` says the same in numpy, and shows the shift by itself.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_integer
from posenc.nn._arguments import as_activations, as_positions, as_relative, on_device


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
        max_distance: the largest distance told apart.
        table: the learned rows, `(2·max_distance + 1, d)`; row r is relative position
            r − max_distance.

    Raises:
        TypeError: `d` or `max_distance` is not an integer.
        ValueError: `d` is below 1 or `max_distance` below 0.

    Source:
        Shaw et al. (2018), section 3.2. One table serves all heads there, so it does here; the
        standard deviation 0.02 that it starts with is ours.

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
