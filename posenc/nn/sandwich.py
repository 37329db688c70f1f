"""Sandwich as a module: inner products of sinusoids as a bias. Nothing in it is learned.

Chi, Fan, Rudnicky and Ramadge, "Dissecting Transformer Length Extrapolation via the Lens of
Receptive Field Analysis" (ACL 2023). The bias is that of `posenc.scores.sandwich`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_base, as_integer
from posenc._tensor_arguments import as_relative
from posenc.frequency import frequencies
from posenc.nn.alibi import _as_dtype


class SandwichBias(nn.Module):
    """The bias Σ cos(ω_i·(key − query)) / (8h/H) of head h of H.

    There are no parameters and no buffers: each call computes the bias in float64, like
    `posenc.sandwich_bias`, and casts it at the end.

    Args:
        heads: how many; an integer, 1 or more.
        width: the width of the encoding, twice the number of cosines; an even integer, 2 or more.
        base: see `posenc.frequencies`.

    Attributes:
        heads: how many heads.
        width: the width of the encoding.
        base: as given.

    Raises:
        TypeError: `heads` or `width` is not an integer, or `base` not a number.
        ValueError: `heads` is below 1, `width` odd or below 2, or `base` not allowed.

    Source:
        Chi et al. (2023), the section on Sandwich.

    Examples:
        >>> import torch
        >>> from posenc.nn import relative_positions
        >>> SandwichBias(2, width=4)(relative_positions(1, 3))[0]
        tensor([[0.5000, 0.3851, 0.1459]])
    """

    def __init__(self, heads: int, *, width: int = 128, base: float = 10000.0) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.width = as_integer("width", width, least=2, even=True)
        self.base = as_base(base)
        self._frequencies = tuple(frequencies(self.width, base=self.base).tolist())

    def forward(self, relative: Tensor, *, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return the bias of every head for these relative positions.

        Args:
            relative: key − query, an integer tensor `(query, key)` or `(batch, query, key)`; see
                `posenc.nn.relative_positions`.
            dtype: float16, bfloat16, float32 or float64; the bias is cast to it at the end.

        Returns:
            Shape `(heads, query, key)` or `(batch, heads, query, key)`, on the device of
            `relative`, a new tensor. It does not hide keys ahead.

        Raises:
            TypeError: `relative` is not an integer tensor, or `dtype` not one of the four.
            ValueError: `relative` has the wrong shape; in eager mode also: it reaches 2⁵³ in
                size.

        Examples:
            >>> from posenc.nn import relative_positions
            >>> SandwichBias(12)(relative_positions(7)).shape
            torch.Size([12, 7, 7])
        """
        relative = as_relative("relative", relative).unsqueeze(-3)  # one for all heads
        omega = torch.tensor(self._frequencies, dtype=torch.float64, device=relative.device)
        heads = torch.arange(1, self.heads + 1, dtype=torch.float64, device=relative.device)
        products = (relative[..., None] * omega).cos().sum(-1)
        return (products / (8 * heads / self.heads)[:, None, None]).to(_as_dtype(dtype))

    def extra_repr(self) -> str:
        """Return the arguments, as `print` shows them."""
        return f"{self.heads}, width={self.width}, base={self.base:g}"
