"""TUPE's position scores as a module: learned rows, projected by matrices of their own.

Ke, He and Liu, "Rethinking Positional Encoding in Language Pre-training" (ICLR 2021), section 3.
The definitions are `posenc.tupe_bias` and `posenc.untied_bias`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_positions, check_range, on_device, without_autocast


class TUPEBias(nn.Module):
    """A bias of each head for every pair of positions: the product of two projected rows.

    It does not depend on the input, so compute it once for all layers. `attention` divides content
    scores by √d, so pass it queries divided by √2, and this bias.

    Args:
        heads: number of heads; an integer, 1 or more, that divides `d_model`.
        d_model: width of a row, and of all heads together; an integer, 1 or more.
        max_len: number of positions; an integer, 1 or more.

    Attributes:
        heads: number of heads.
        d_model: width of a row.
        max_len: number of positions.
        table: the learned rows, `(max_len, d_model)`.
        query_weight: U_Q, `(d_model, d_model)`; the columns of one head stand together.
        key_weight: U_K, likewise.
        from_first: θ₁ of each head, for queries at position 0, `(heads,)`.
        to_first: θ₂ of each head, for other queries and the key at position 0, `(heads,)`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is below 1, or `heads` does not divide `d_model`.

    Source:
        Ke et al. (2021), section 3. Their code normalizes the rows and takes θ₁ and θ₂ from the
        scores of two more rows; here they are numbers, as in the paper. The standard deviation of
        the initial values, 0.02, is that of BERT; θ₁ and θ₂ start at 0.

    Examples:
        >>> import torch
        >>> bias = TUPEBias(heads=4, d_model=32, max_len=64)
        >>> bias(torch.arange(5)).shape
        torch.Size([4, 5, 5])
        >>> bool((bias(torch.arange(5))[:, 0] == 0).all())  # from [CLS] to everywhere: θ₁
        True
    """

    def __init__(self, heads: int, d_model: int, max_len: int) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.d_model = as_integer("d_model", d_model, least=1)
        self.max_len = as_integer("max_len", max_len, least=1)
        if self.d_model % self.heads:
            raise ValueError(f"heads must divide d_model, {self.d_model}; got {self.heads}")
        self.table = nn.Parameter(torch.empty(self.max_len, self.d_model))
        self.query_weight = nn.Parameter(torch.empty(self.d_model, self.d_model))
        self.key_weight = nn.Parameter(torch.empty(self.d_model, self.d_model))
        self.from_first = nn.Parameter(torch.empty(self.heads))
        self.to_first = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw rows and matrices again, with standard deviation 0.02; θ₁ and θ₂ become 0."""
        for parameter in (self.table, self.query_weight, self.key_weight):
            nn.init.normal_(parameter, std=0.02)
        nn.init.zeros_(self.from_first)
        nn.init.zeros_(self.to_first)

    def forward(self, query_positions: Tensor, key_positions: Tensor | None = None) -> Tensor:
        """Return the bias of each head for each query and key.

        Args:
            query_positions: `(query,)` or `(batch, query)`, integers from 0 to max_len − 1, on the
                device of the table.
            key_positions: `(key,)` or `(batch, key)`; None for those of the queries.

        Returns:
            Shape `(heads, query, key)`, or `(batch, heads, query, key)` if either has a batch, in
            the dtype of the table; a new tensor, already divided by the root of 2d.

        Raises:
            TypeError: positions are not an integer tensor.
            ValueError: positions have the wrong shape or are on another device; in eager mode
                also: one is negative, or max_len or more.

        Examples:
            >>> import torch
            >>> bias = TUPEBias(heads=4, d_model=32, max_len=64)
            >>> bias(torch.tensor([7]), torch.arange(8)).shape  # decoding with a cache
            torch.Size([4, 1, 8])
        """
        queries = self._checked_positions("query_positions", query_positions)
        keys = queries
        if key_positions is not None:
            keys = self._checked_positions("key_positions", key_positions)
        q, k = (
            self._projected_rows(queries, self.query_weight),
            self._projected_rows(keys, self.key_weight),
        )
        with without_autocast(q.device):
            bias = q @ k.mT / math.sqrt(2 * (self.d_model // self.heads))
        first_key = (keys == 0)[..., None, None, :]
        first_query = (queries == 0)[..., None, :, None]
        bias = torch.where(first_key, self.to_first[:, None, None], bias)
        return torch.where(first_query, self.from_first[:, None, None], bias)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, {self.d_model}, max_len={self.max_len}"

    def _checked_positions(self, name: str, positions: Tensor) -> Tensor:
        """Return positions that have a row, on the table's device."""
        places = as_positions(name, positions, integer=True)
        check_range(name, places, -1, self.max_len, f"from 0 to {self.max_len - 1}")
        return on_device(name, places, self.table.device)

    def _projected_rows(self, positions: Tensor, weight: Tensor) -> Tensor:
        """Return the rows of positions times a matrix, by head: (..., heads, length, d)."""
        with without_autocast(weight.device):
            rows = self.table[positions] @ weight
        by_head = rows.reshape(*rows.shape[:-1], self.heads, self.d_model // self.heads)
        return by_head.movedim(-2, -3)
