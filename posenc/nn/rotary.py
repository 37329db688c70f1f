"""Rotary positions as a module without parameters: see `posenc.rotary` for the idea.

Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding" (2021).
"""

from __future__ import annotations

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc._arguments import as_choice, as_integer
from posenc.nn._arguments import as_activations, offset_or_positions
from posenc.rotary import LAYOUTS, rotary_frequencies


class RotaryEmbedding(nn.Module):
    """Queries or keys with every pair turned by its position; the torch twin of `apply_rope`.

    It has no parameters and no buffers. Its frequencies are Python's floats and its angles are
    worked out in float64 on each call, so neither `.to(torch.bfloat16)` nor a state dict nor the
    meta device can take anything from them.

    Call it with the queries and with the keys, each at their positions, before the scores. While
    a text is generated, turned keys can be kept: `offset` is then how many have gone before.

    Args:
        d: width of one head; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        layout: "interleaved", where pair i is dimensions 2i and 2i+1, as in the paper, or "half",
            where it is dimensions i and i + d/2.
        frequencies: shape `(d/2,)`, in place of a base, see `posenc.apply_rope`.
        rotary_d: how many of the first dimensions turn, the rest passing through; an even
            integer from 2 to d; None for all.

    Attributes:
        d: width of one head.
        layout: which dimensions make a pair.
        frequencies: the frequency of each pair that turns, in radians per position, as a tuple.

    Raises:
        TypeError: `d` or `rotary_d` is not an integer, `base` not a number, `layout` not a
            string, or `frequencies` holds anything but real numbers.
        ValueError: `d` is odd or below 2; `rotary_d` is odd, below 2 or above d; `layout` is
            unknown; `frequencies` has another shape or a negative entry, or is given together
            with another base than 10000; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Su et al. (2021), section 3.4.2, equation 34.

    Examples:
        >>> import torch
        >>> rotary = RotaryEmbedding(64)
        >>> q, k = torch.randn(2, 4, 10, 64), torch.randn(2, 4, 10, 64)
        >>> scores = rotary(q) @ rotary(k).mT
        >>> later = rotary(q, offset=500) @ rotary(k, offset=500).mT
        >>> torch.allclose(scores, later, atol=1e-4)
        True
    """

    def __init__(
        self,
        d: int,
        *,
        base: float = 10000.0,
        layout: str = "interleaved",
        frequencies: ArrayLike | None = None,
        rotary_d: int | None = None,
    ) -> None:
        super().__init__()
        self.d = as_integer("d", d, least=2, even=True)
        self.layout = as_choice("layout", layout, LAYOUTS)
        omega = rotary_frequencies(self.d, base=base, frequencies=frequencies, rotary_d=rotary_d)
        self.frequencies: tuple[float, ...] = tuple(omega.tolist())

    def forward(self, x: Tensor, *, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """Return `x` turned.

        Args:
            x: shape `(batch, heads, length, d)`; float64, float32, bfloat16 or float16.
            offset: position of the first vector; an integer, 0 or more.
            positions: the position of each vector instead, integers or reals (float32 or
                float64), shape `(length,)` or `(batch, length)`, on the device of `x`.

        Returns:
            The shape and dtype of `x`, a new tensor. Products are computed in the dtype of `x`,
            though never below float32, and rounded once.

        Raises:
            TypeError: `x` is not a floating tensor, `offset` not an integer, or `positions` not a
                tensor of integers or reals.
            ValueError: a shape or a device is another one; `offset` is negative, or given
                together with `positions`; in eager mode, a position is not finite or too large
                to be told from its neighbours.
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        places = offset_or_positions(
            offset, positions, length=x.shape[2], batch=x.shape[0], device=x.device
        )
        exact = x.to(torch.promote_types(x.dtype, torch.float32))
        turning, passing = exact.tensor_split([2 * len(self.frequencies)], dim=-1)
        return torch.cat([self._turned(turning, places), passing], dim=-1).to(x.dtype)

    def extra_repr(self) -> str:
        """Return what `print(module)` shows between the brackets."""
        return f'{self.d}, layout="{self.layout}", rotary_d={2 * len(self.frequencies)}'

    def _turned(self, x: Tensor, places: Tensor) -> Tensor:
        """Return each pair (x, y) as (x·cos − y·sin, x·sin + y·cos)."""
        omega = torch.tensor(self.frequencies, dtype=torch.float64, device=x.device)
        angles = (places[..., None] * omega).unsqueeze(-3)  # (1 or batch, 1 head, length, pairs)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        first, second = self._pairs(x)
        pairs = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
        ordered = pairs if self.layout == "interleaved" else pairs.mT
        return ordered.flatten(-2)

    def _pairs(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the first and the second dimension of every pair."""
        if self.layout == "interleaved":
            return x[..., 0::2], x[..., 1::2]
        first, second = x.chunk(2, dim=-1)
        return first, second
