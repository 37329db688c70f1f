"""Swin's relative position bias as a module: a learned number per head and relative position.

Liu et al., "Swin Transformer" (2021), section 3.2. The index is that of `posenc.swin_index`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_integer
from posenc._tensor_arguments import without_autocast
from posenc.scores.swin import swin_index, swin_log_offsets


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


class SwinContinuousBias(nn.Module):
    """Swin V2's bias: a small network that reads log-spaced offsets, in place of a table.

    Args:
        heads: number of heads; an integer, 1 or more.
        window: patches per side of the window; an integer, 1 or more.
        trained_window: patches per side of the window in training, if that was another; an
            integer, 2 or more.
        hidden: width of the hidden layer; an integer, 1 or more.

    Attributes:
        heads: number of heads.
        window: patches per side.
        trained_window: patches per side in training, or None.
        hidden: width of the hidden layer.
        first_weight: of the network, `(hidden, 2)`, for down and across.
        first_bias: of the network, `(hidden,)`.
        second_weight: of the network, `(heads, hidden)`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is too small.

    Source:
        Liu et al., "Swin Transformer V2" (CVPR 2022), section 3.3; 512 hidden units, no bias in the
        last layer, and 16 times a sigmoid at the end are from the authors' code. So the bias is
        between 0 and 16.

    Examples:
        >>> import torch
        >>> SwinContinuousBias(heads=3, window=8)().shape
        torch.Size([3, 64, 64])
    """

    def __init__(
        self, heads: int, window: int, *, trained_window: int | None = None, hidden: int = 512
    ) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.window = as_integer("window", window, least=1)
        self.trained_window = trained_window
        self.hidden = as_integer("hidden", hidden, least=1)
        offsets = swin_log_offsets(self.window, trained_window=trained_window)
        self._offsets = tuple(map(tuple, offsets.tolist()))
        self.first_weight = nn.Parameter(torch.empty(self.hidden, 2))
        self.first_bias = nn.Parameter(torch.empty(self.hidden))
        self.second_weight = nn.Parameter(torch.empty(self.heads, self.hidden))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the weights again, with standard deviation 0.02, and set the bias to 0."""
        nn.init.normal_(self.first_weight, std=0.02)
        nn.init.zeros_(self.first_bias)
        nn.init.normal_(self.second_weight, std=0.02)

    def forward(self) -> Tensor:
        """Return the bias of each head for each pair of patches, numbered row by row.

        Returns:
            Shape `(heads, window**2, window**2)`, in the dtype of the weights; a new tensor.

        Examples:
            >>> bias = SwinContinuousBias(heads=2, window=2)()
            >>> bool((bias[:, 0, 0] == bias[:, 3, 3]).all())  # the same offset
            True
        """
        device = self.first_weight.device
        offsets = torch.tensor(self._offsets, dtype=torch.float64, device=device)
        with without_autocast(device):
            seen = offsets.to(self.first_weight.dtype)
            units = functional.linear(seen, self.first_weight, self.first_bias).relu()
            table = functional.linear(units, self.second_weight)
        index = torch.as_tensor(swin_index(self.window), device=device)
        return 16 * table.T[:, index].sigmoid()

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return (
            f"{self.heads}, window={self.window}, trained_window={self.trained_window},"
            f" hidden={self.hidden}"
        )
