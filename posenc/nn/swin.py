"""Swin's relative position bias as a module: a learned number per head and relative position.

Liu et al., "Swin Transformer" (2021), section 3.2. The index is that of `posenc.swin_index`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_integer
from posenc.swin import swin_index


class SwinRelativeBias(nn.Module):
    """A bias for every head and every pair of patches in a square window.

    Args:
        heads: number of heads; an integer, 1 or more.
        window: patches per side of the window; an integer, 1 or more.

    Attributes:
        heads: number of heads.
        window: patches per side.
        table: the learned numbers, `((2·window − 1)², heads)`, in the authors' order; see
            `posenc.swin_index`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is below 1.

    Source:
        Liu et al. (2021), section 3.2. The table is initialized from a normal distribution of
        standard deviation 0.02; the authors' code truncates that distribution at ±2.

    Examples:
        >>> import torch
        >>> SwinRelativeBias(heads=3, window=7)().shape
        torch.Size([3, 49, 49])
    """

    def __init__(self, heads: int, window: int) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.window = as_integer("window", window, least=1)
        self.table = nn.Parameter(torch.empty((2 * self.window - 1) ** 2, self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the table again, from a normal distribution of standard deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def forward(self) -> Tensor:
        """Return the bias of each head for each pair of patches, numbered row by row.

        Returns:
            Shape `(heads, window**2, window**2)`, in the dtype of the table; a new tensor.

        Examples:
            >>> from posenc import swin_index
            >>> swin = SwinRelativeBias(heads=3, window=2)
            >>> bool((swin()[:, 0, 3] == swin.table[swin_index(2)[0, 3]]).all())
            True
        """
        index = torch.from_numpy(swin_index(self.window)).to(self.table.device)
        return self.table.T[:, index]

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, window={self.window}"
