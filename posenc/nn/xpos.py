"""xPos as a module: rotary positions whose score decays with the distance. Nothing is learned.

Sun et al., "A Length-Extrapolatable Transformer" (ACL 2023), section 3. It equals
`posenc.apply_xpos`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_base, as_choice, as_integer, as_positive
from posenc._tensor_arguments import as_activations, offset_or_positions
from posenc.nn.rotary import RotaryEmbedding
from posenc.rotary.rope import LAYOUTS
from posenc.rotary.xpos import ROLES, xpos_decay


class XPos(nn.Module):
    """Rotate queries and keys and scale each pair by ζ_i^(±position/scale_base).

    Call it with the queries and `role="query"`, and with the keys and `role="key"`. Positions count
    from `center`, which cancels in the scores and keeps the scales within the range of a float:
    choose the middle of the longest sequence, and keep it while keys stay in a cache.

    Args:
        d: width of one head; an even integer, 2 or more.
        base: see `posenc.frequencies`.
        layout: see `posenc.apply_rope`.
        scale_base: over how many positions pair i decays to ζ_i; above 0.
        gamma: see `posenc.xpos_decay`.
        center: the position whose scale is 1; an integer, 0 or more.

    Attributes:
        d: width of one head.
        base: as given.
        layout: which dimensions form a pair.
        scale_base: as given.
        gamma: as given.
        center: as given.
        rotary: the rotation, a `RotaryEmbedding`.

    Raises:
        TypeError: `d` or `center` is not an integer, `layout` not a string, or another argument
            not a number.
        ValueError: `d` is odd or below 2, `center` negative, `layout` unknown, `base` not allowed,
            or `scale_base` or `gamma` not above 0.

    Source:
        Sun et al. (2023), section 3.2 and algorithm 1.

    Examples:
        >>> import torch
        >>> xpos, (q, k) = XPos(64, center=5), torch.randn(2, 1, 4, 10, 64)
        >>> scores = xpos(q, role="query") @ xpos(k, role="key").mT
        >>> later = xpos(q, role="query", offset=90) @ xpos(k, role="key", offset=90).mT
        >>> torch.allclose(scores, later, atol=1e-4)
        True
    """

    def __init__(
        self,
        d: int,
        *,
        base: float = 10000.0,
        layout: str = "interleaved",
        scale_base: float = 512.0,
        gamma: float = 0.4,
        center: int = 0,
    ) -> None:
        super().__init__()
        self.d = as_integer("d", d, least=2, even=True)
        self.base = as_base(base)
        self.layout = as_choice("layout", layout, LAYOUTS)
        self.scale_base = as_positive("scale_base", scale_base)
        self.gamma = as_positive("gamma", gamma)
        self.center = as_integer("center", center, least=0)
        self.rotary = RotaryEmbedding(self.d, base=self.base, layout=self.layout)
        self._decay = tuple(xpos_decay(self.d, gamma=self.gamma).tolist())

    def forward(
        self, x: Tensor, *, role: str, offset: int = 0, positions: Tensor | None = None
    ) -> Tensor:
        """Return `x` rotated and scaled by its positions.

        Args:
            x: shape `(batch, heads, length, d)`; float64, float32, bfloat16 or float16.
            role: "query" or "key".
            offset: position of the first vector; an integer, 0 or more.
            positions: instead of `offset`, the position of each vector, as for `RotaryEmbedding`.

        Returns:
            A new tensor of the shape and dtype of `x`. Angles and scales are computed in float64,
            the products in float32, or float64 for float64 input, and the result is cast.

        Raises:
            TypeError: as `RotaryEmbedding`; `role` is not a string.
            ValueError: as `RotaryEmbedding`; `role` is unknown.

        Examples:
            >>> import torch
            >>> XPos(8)(torch.ones(1, 1, 3, 8), role="key").shape
            torch.Size([1, 1, 3, 8])
        """
        x = as_activations("x", x, ("batch", "heads", "length", self.d))
        sign = 1 if as_choice("role", role, ROLES) == "query" else -1
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        rotated: Tensor = self.rotary(wide, offset=offset, positions=positions)
        places = offset_or_positions(
            offset, positions, length=x.shape[2], batch=x.shape[0], device=x.device
        )
        exponents = sign * (places - self.center) / self.scale_base
        decay = torch.tensor(self._decay, dtype=torch.float64, device=x.device)
        scale = (exponents[..., None] * decay.log()).exp().to(wide.dtype)
        pairs = [scale, scale]
        both = torch.cat(pairs, -1) if self.layout == "half" else torch.stack(pairs, -1).flatten(-2)
        by_head = both if both.ndim == 2 else both.unsqueeze(1)
        return (rotated * by_head).to(x.dtype)

    def extra_repr(self) -> str:
        """Return the arguments, as `print` shows them."""
        return (
            f"{self.d}, base={self.base:g}, layout='{self.layout}',"
            f" scale_base={self.scale_base:g}, gamma={self.gamma:g}, center={self.center}"
        )
