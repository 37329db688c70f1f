"""ALiBi as a module: a bias on the scores that falls with distance. Nothing in it is learned.

Press, Smith and Lewis, "Train Short, Test Long" (ICLR 2022), section 3. The slopes, the definition
and the key-only form are in posenc/scores/alibi.py.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc._arguments import _shown, as_flag
from posenc._tensor_arguments import ACTIVATIONS, as_relative
from posenc.scores.alibi import alibi_slopes


class ALiBi(nn.Module):
    """The bias −m·|key − query|, with one slope m for each head.

    It takes relative positions, so caches, padding, per-sequence positions and packed documents
    need no special handling. There are no parameters and no buffers: each call computes the bias
    in float64, like `posenc.alibi_bias`, and casts it at the end, so changing the dtype or device
    of a model never costs precision.

    Args:
        heads: how many; an integer, 1 or more.
        causal: True puts −inf where key > query; False penalizes distance there too, so the bias
            is symmetric.

    Attributes:
        heads: how many heads.
        causal: whether keys after the query are hidden.
        slopes: the slope of each head, floats; see `posenc.alibi_slopes`.

    Raises:
        TypeError: `heads` is not an integer, or `causal` not a boolean.
        ValueError: `heads` is below 1.

    Source:
        Press et al. (2022), section 3.

    Examples:
        >>> import torch
        >>> relative = torch.tensor([[0, 1, 2], [-1, 0, 1], [-2, -1, 0]])  # key − query
        >>> ALiBi(2)(relative)[0]
        tensor([[ 0.0000,    -inf,    -inf],
                [-0.0625,  0.0000,    -inf],
                [-0.1250, -0.0625,  0.0000]])
    """

    def __init__(self, heads: int, *, causal: bool = True) -> None:
        super().__init__()
        self.slopes: tuple[float, ...] = tuple(alibi_slopes(heads).tolist())
        self.heads = len(self.slopes)
        self.causal = as_flag("causal", causal)

    def forward(self, relative: Tensor, *, dtype: torch.dtype = torch.float32) -> Tensor:
        """Return the bias of every head for these relative positions.

        Args:
            relative: key − query, an integer tensor `(query, key)` or `(batch, query, key)`; see
                `posenc.nn.relative_positions`.
            dtype: float16, bfloat16, float32 or float64; the bias is cast to it at the end.

        Returns:
            Shape `(heads, query, key)` or `(batch, heads, query, key)`, on the device of
            `relative`, a new tensor. In float16, a bias beyond −65,504 becomes −inf.

        Raises:
            TypeError: `relative` is not an integer tensor, or `dtype` not one of the four.
            ValueError: `relative` has the wrong shape; in eager mode also: it reaches 2⁵³ in
                size.

        Examples:
            >>> import torch
            >>> from posenc.nn import relative_positions
            >>> ALiBi(8, causal=False)(relative_positions(2, 5), dtype=torch.float64)[0, 1]
            tensor([-0.5000,  0.0000, -0.5000, -1.0000, -1.5000], dtype=torch.float64)
        """
        relative = as_relative("relative", relative).unsqueeze(-3)  # one for all heads
        slopes = torch.tensor(self.slopes, dtype=torch.float64, device=relative.device)
        bias = (slopes[:, None, None] * -relative.abs()).to(_as_dtype(dtype))
        return bias.masked_fill(relative > 0, -math.inf) if self.causal else bias

    def extra_repr(self) -> str:
        """Return the two arguments, as `print` shows them."""
        return f"{self.heads}, causal={self.causal}"


def _as_dtype(dtype: torch.dtype) -> torch.dtype:
    """Return `dtype`, which must be one of the four that a bias can be cast to."""
    if not isinstance(dtype, torch.dtype) or dtype not in ACTIVATIONS:
        allowed = "torch.float16, bfloat16, float32 or float64"
        raise TypeError(f"dtype must be {allowed}; got {_shown(dtype)}")
    return dtype
