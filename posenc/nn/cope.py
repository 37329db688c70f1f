"""CoPE as a module: a learned row for each count, and queries that decide what counts.

Golovneva, Wang, Weston and Sukhbaatar, "Contextual Position Encoding" (2024). The definition
is `posenc.cope_scores`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_activations, on_device, without_autocast


class CoPE(nn.Module):
    """A bias for every pair: the query times the row of the position that it counts for the key.

    All heads share the table; they differ in what they count. The queries are the last of the keys'
    positions, so decoding with a cache needs nothing else.

    Args:
        d: width of one head; an integer, 1 or more.
        rows: how many positions have a row, from 0; further ones share the last; an integer, 1 or
            more.

    Attributes:
        d: width of one head.
        rows: how many positions have a row.
        table: the learned rows, `(rows, d)`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is below 1.

    Source:
        Golovneva et al. (2024), and the code of the appendix, whose table starts at 0, as here.

    Examples:
        >>> import torch
        >>> from posenc.nn import attention
        >>> cope = CoPE(d=8, rows=16)
        >>> q, k, v = torch.randn(3, 2, 4, 5, 8)
        >>> bias, mask = cope(q, q @ k.mT / 8**0.5), torch.ones(5, 5).tril().bool()
        >>> attention(q, k, v, bias=bias, mask=mask)[0].shape
        torch.Size([2, 4, 5, 8])
    """

    def __init__(self, d: int, rows: int) -> None:
        super().__init__()
        self.d = as_integer("d", d, least=1)
        self.rows = as_integer("rows", rows, least=1)
        self.table = nn.Parameter(torch.empty(self.rows, self.d))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the table to 0, so that the module starts without any effect."""
        nn.init.zeros_(self.table)

    def forward(self, q: Tensor, scores: Tensor) -> Tensor:
        """Return what to add to the scores of content.

        Args:
            q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64, on the
                table's device.
            scores: their scores of content, `(batch, heads, query, key)`, not masked; no fewer
                keys than queries.

        Returns:
            A new tensor of the shape of `scores`, in the dtype of `q`; 0 for keys ahead of the
            query. Positions are counted in float32 at least.

        Raises:
            TypeError: an argument is not a floating tensor.
            ValueError: a shape or a device does not fit, or there are fewer keys than queries.

        Examples:
            >>> import torch
            >>> cope = CoPE(1, 3)
            >>> with torch.no_grad():
            ...     _ = cope.table.copy_(torch.tensor([[0.0], [10.0], [20.0]]))
            >>> cope(torch.ones(1, 1, 1, 1), torch.zeros(1, 1, 1, 2)).tolist()
            [[[[10.0, 5.0]]]]
        """
        q = as_activations("q", q, ("batch", "heads", "query", self.d))
        q = on_device("q", q, self.table.device)
        batch, heads, queries, _ = q.shape
        scores = as_activations("scores", scores, (batch, heads, queries, "key"))
        scores = on_device("scores", scores, q.device)
        keys = scores.shape[3]
        if keys < queries:
            raise ValueError(f"scores must have {queries} keys or more, as queries; got {keys}")
        exact = torch.promote_types(scores.dtype, torch.float32)
        seen = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
        gates = scores.to(exact).sigmoid() * seen
        positions = gates.flip(-1).cumsum(-1).flip(-1).clamp(max=self.rows - 1)
        with without_autocast(q.device):
            whole = q @ self.table.to(q.dtype).mT  # of each row, once for all keys
        low, high = (whole.gather(-1, x.long()) for x in (positions.floor(), positions.ceil()))
        share = positions - positions.floor()
        return (((1 - share) * low + share * high) * seen).to(q.dtype)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.d}, {self.rows}"
