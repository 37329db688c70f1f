"""KERPLE as a module: two learned numbers for each head, and a bias that falls with the distance.

Chi, Fan, Ramadge and Rudnicky, "KERPLE" (NeurIPS 2022), section 4. The kernels are those of
`posenc.scores.kerple`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_choice, as_integer
from posenc._tensor_arguments import as_relative, on_device

KERNELS = ("log", "power")
LEAST = 0.01  # the authors' code clips both numbers here, to keep them above 0


class KerpleBias(nn.Module):
    """A bias for every head: −r₁·log(1 + r₂·distance), or −r₁·distance^r₂.

    Both numbers are learned, and clipped where they are used: r₁ and r₂ to 0.01 or more, and the
    exponent of the power form to 2 or less.

    Args:
        heads: number of heads; an integer, 1 or more.
        kernel: "log" or "power".

    Attributes:
        heads: number of heads.
        kernel: as given.
        scale: r₁ of each head, `(heads,)`.
        shape: r₂ of each head, `(heads,)`: a rate for "log", an exponent for "power".

    Raises:
        TypeError: `heads` is not an integer, or `kernel` not a string.
        ValueError: `heads` is below 1, or `kernel` unknown.

    Source:
        Chi et al. (2022), section 4. The draws are those of their code, except that it draws r₁ of
        the power form up to 1.

    Examples:
        >>> import torch
        >>> from posenc.nn import relative_positions
        >>> bias = KerpleBias(8)
        >>> bias(relative_positions(5)).shape
        torch.Size([8, 5, 5])
    """

    def __init__(self, heads: int, *, kernel: str = "log") -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.kernel = as_choice("kernel", kernel, KERNELS)
        self.scale = nn.Parameter(torch.empty(self.heads))
        self.shape = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw both numbers again: r₁ up to 2, a rate up to 1 and an exponent up to 2."""
        nn.init.uniform_(self.scale, LEAST, 2)
        nn.init.uniform_(self.shape, LEAST, 1 if self.kernel == "log" else 2)

    def forward(self, relative: Tensor) -> Tensor:
        """Return the bias of each head for each pair of positions.

        Args:
            relative: key − query, `(query, key)` or `(batch, query, key)`, an integer tensor on
                the device of the parameters; see `posenc.nn.relative_positions`.

        Returns:
            Shape `(heads, query, key)`, or `(batch, heads, query, key)`, in the dtype of the
            parameters; a new tensor. It is computed in float64 and cast at the end. It does not
            hide keys ahead.

        Raises:
            TypeError: `relative` is not an integer tensor.
            ValueError: `relative` has the wrong shape or is on another device; in eager mode also:
                it reaches 2⁵³ in size.

        Examples:
            >>> import torch
            >>> from posenc.nn import relative_positions
            >>> bias = KerpleBias(1, kernel="power")
            >>> with torch.no_grad():
            ...     _ = bias.scale.fill_(0.5), bias.shape.fill_(1.0)  # ALiBi of slope 1/2
            >>> bias(relative_positions(1, 4))[0].tolist()
            [[0.0, -0.5, -1.0, -1.5]]
        """
        relative = on_device("relative", as_relative("relative", relative), self.scale.device)
        distance = relative.abs().double().unsqueeze(-3)  # one for all heads
        r1 = self.scale.double().clamp(min=LEAST)[:, None, None]
        r2 = self.shape.double()[:, None, None]
        if self.kernel == "log":
            falling = torch.log1p(r2.clamp(min=LEAST) * distance)
        else:
            falling = distance ** r2.clamp(LEAST, 2)
        return (0.0 - r1 * falling).to(self.scale.dtype)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, kernel='{self.kernel}'"
