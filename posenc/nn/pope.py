"""PoPE as a module: RoPE whose angles come from positions and learned phases, not from content.

Gopalakrishnan et al., "Decoupling the 'What' and 'Where' with Polar Coordinate Positional
Embedding" (ICML 2026, arXiv 2509.10534), section 3. It equals `posenc.apply_pope`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_base, as_choice, as_integer
from posenc._tensor_arguments import as_activations, on_device
from posenc.nn.rotary import RotaryEmbedding
from posenc.rotary.xpos import ROLES

# Beyond it, softplus(x) is x in float64; torch begins at 20, where float64 can tell them apart.
LINEAR = 40.0


class PoPE(nn.Module):
    """Replace each dimension of queries and keys by a pair: content its length, position its angle.

    Call it with the queries and `role="query"`, and with the keys and `role="key"`, which also adds
    the phases; leave values as they are. Queries and keys become twice as wide. Keys can be cached
    as they are returned: `offset` is then the number of tokens in the cache.

    `attention` divides scores by the root of the width that it sees, here 2d. To divide them by √d,
    pass it queries times √2.

    Args:
        heads: number of key heads; an integer, 1 or more. Queries may have more.
        d: width of one head, before the doubling; an integer, 1 or more, even or odd.
        base: see `posenc.frequencies`.

    Attributes:
        heads: number of key heads.
        d: width of one head, before the doubling.
        base: as given.
        phase: δ of each head and dimension in radians, learned, `(heads, 1, d)`. It is clipped to
            [−2π, 0] where it is used; outside, it gets no gradient.
        rotary: the rotation of the pairs, a `RotaryEmbedding`.

    Raises:
        TypeError: `heads` or `d` is not an integer, or `base` not a number.
        ValueError: `heads` or `d` is below 1; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Gopalakrishnan et al. (2026), section 3, equations 3 to 8, without a divisor of scores.
        x-transformers has the division by √d, and phases that start at 0, as here.

    Examples:
        >>> import torch
        >>> pope, (q, k) = PoPE(4, 64), torch.randn(2, 1, 4, 10, 64)
        >>> scores = pope(q, role="query") @ pope(k, role="key").mT
        >>> later = pope(q, role="query", offset=90) @ pope(k, role="key", offset=90).mT
        >>> torch.allclose(scores, later, atol=1e-3)
        True
    """

    def __init__(self, heads: int, d: int, *, base: float = 10000.0) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.d = as_integer("d", d, least=1)
        self.base = as_base(base)
        self.rotary = RotaryEmbedding(2 * self.d, base=self.base, layout="half")
        self.phase = nn.Parameter(torch.empty(self.heads, 1, self.d))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all phases to 0."""
        nn.init.zeros_(self.phase)

    def forward(
        self, x: Tensor, *, role: str, offset: int = 0, positions: Tensor | None = None
    ) -> Tensor:
        """Return the pair of each dimension: all cosine parts, then all sine parts.

        Args:
            x: shape `(batch, heads, length, d)`, for queries with any number of heads; float64,
                float32, bfloat16 or float16, on the device of the phases.
            role: "query" or "key".
            offset: position of the first vector; an integer, 0 or more.
            positions: instead of `offset`, the position of each vector, as for `RotaryEmbedding`.

        Returns:
            Shape `(batch, heads, length, 2d)`, a new tensor of the dtype of `x`. Angles are
            computed in float64, lengths and products in float32, or float64 for float64 input, and
            the result is cast.

        Raises:
            TypeError: as `RotaryEmbedding`; `role` is not a string.
            ValueError: as `RotaryEmbedding`; `role` is unknown.

        Examples:
            >>> import torch
            >>> PoPE(2, 8)(torch.ones(1, 2, 3, 8), role="key").shape
            torch.Size([1, 2, 3, 16])
        """
        of_keys = as_choice("role", role, ROLES) == "key"
        heads = self.heads if of_keys else "heads"
        x = as_activations("x", x, ("batch", heads, "length", self.d))
        x = on_device("x", x, self.phase.device)
        lengths = functional.softplus(
            x.to(torch.promote_types(x.dtype, torch.float32)), threshold=LINEAR
        )
        pairs = self._with_phases(lengths) if of_keys else [lengths, torch.zeros_like(lengths)]
        turned: Tensor = self.rotary(torch.cat(pairs, dim=-1), offset=offset, positions=positions)
        return turned.to(x.dtype)

    def _with_phases(self, lengths: Tensor) -> list[Tensor]:
        """Return the cosine and the sine part of keys at position 0."""
        delta = self.phase.double().clamp(-2 * math.pi, 0.0)
        return [lengths * delta.cos().to(lengths.dtype), lengths * delta.sin().to(lengths.dtype)]

    def extra_repr(self) -> str:
        """Return the arguments, as `print` shows them."""
        return f"{self.heads}, {self.d}, base={self.base:g}"
