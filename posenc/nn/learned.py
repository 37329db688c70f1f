"""Learned positions as a layer: a trained row for each position up to a maximum length."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_ids, check_range, on_device


class LearnedPositionalEmbedding(nn.Module):
    """Look up the learned row of each position.

    Row p is a parameter, initialized from a normal distribution of standard deviation 0.02 and
    trained with the model. A position without a row is an error; −1 is not the last row.

    Args:
        max_len: how many positions have a row; an integer, 1 or more.
        d_model: width of a row; an integer, 1 or more.

    Attributes:
        max_len: how many rows the table has now, even if it has been replaced.
        d_model: width of a row.
        embedding: the `torch.nn.Embedding` whose weight, `(max_len, d_model)`, is the table.

    Raises:
        TypeError: a size is not an integer.
        ValueError: a size is below 1.

    Source:
        Gehring et al., "Convolutional Sequence to Sequence Learning" (2017), section 3.1;
        Devlin et al., "BERT" (2019), section 3; the standard deviation 0.02 is from Radford et
        al., "Improving Language Understanding by Generative Pre-Training" (2018), section 4.1.

    Examples:
        >>> import torch
        >>> layer = LearnedPositionalEmbedding(max_len=20, d_model=8)
        >>> layer(10).shape
        torch.Size([10, 8])
        >>> torch.equal(layer(torch.tensor([[2, 3]]))[0], layer(4)[2:])
        True
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        rows = as_integer("max_len", max_len, least=1)
        self.embedding = nn.Embedding(rows, as_integer("d_model", d_model, least=1))
        self.reset_parameters()

    @property
    def max_len(self) -> int:
        """How many positions have a row."""
        return self.embedding.weight.shape[0]

    @property
    def d_model(self) -> int:
        """Width of a row."""
        return self.embedding.weight.shape[1]

    def reset_parameters(self) -> None:
        """Initialize the table again, for example after `to_empty` from the meta device.

        Returns:
            Nothing; the table is changed in place.

        Examples:
            >>> with torch.device("meta"):
            ...     layer = LearnedPositionalEmbedding(20, 8)
            >>> layer.to_empty(device="cpu").reset_parameters()
        """
        nn.init.normal_(self.embedding.weight, std=0.02)

    def forward(self, positions: int | Tensor) -> Tensor:
        """Return the rows of these positions.

        Args:
            positions: an integer n for the positions 0 … n−1, or an integer tensor of
                positions from 0 to `max_len` − 1, of any shape, on the table's device. A
                tensor's values are checked in eager mode only.

        Returns:
            Shape `(n, d_model)` for an integer n, else `(*positions.shape, d_model)`; dtype and
            device of the table.

        Raises:
            TypeError: `positions` is neither an integer nor an integer tensor.
            ValueError: a position is negative or has no row, or the device differs.

        Examples:
            >>> LearnedPositionalEmbedding(20, 8)(21)
            Traceback (most recent call last):
                ...
            ValueError: positions must be at most max_len, 20; got 21
        """
        rows: Tensor = self.embedding(self._ids(positions))
        return rows

    def resized(self, max_len: int) -> LearnedPositionalEmbedding:
        """Return a layer of another length, with rows interpolated from this one's.

        The first and the last row stay, and the others are spread evenly between them; see
        `posenc.resize_table`. The new rows need further training.

        Args:
            max_len: how many rows the new table has; an integer, 1 or more.

        Returns:
            A new `LearnedPositionalEmbedding` with the dtype, device and mode of this one.

        Raises:
            TypeError: `max_len` is not an integer.
            ValueError: `max_len` is below 1, or the table holds NaN or an infinity.

        Source:
            Dosovitskiy et al., "An Image Is Worth 16×16 Words" (2021), section 3.2, in two
            dimensions.

        Examples:
            >>> layer = LearnedPositionalEmbedding(20, 8)
            >>> longer = layer.resized(40)
            >>> torch.equal(longer(40)[39], layer(20)[19])
            True
        """
        rows = as_integer("max_len", max_len, least=1)
        with torch.device("meta"):  # draws no random numbers for a table that is replaced
            layer = LearnedPositionalEmbedding(rows, self.d_model)
        table = self.embedding.weight
        check_range("embedding.weight", table.detach(), -math.inf, math.inf, "finite")
        layer.embedding.weight = nn.Parameter(
            _resized_table(table.detach(), rows), requires_grad=table.requires_grad
        )
        return layer.train(self.training)

    def _ids(self, positions: int | Tensor) -> Tensor:
        """Return the positions as an int64 tensor on the device of the table."""
        device = self.embedding.weight.device
        if isinstance(positions, Tensor):
            as_ids("positions", positions, below=self.max_len)
            return on_device("positions", positions.long(), device)
        length = as_integer("positions", positions, least=0)
        if length > self.max_len:
            raise ValueError(f"positions must be at most max_len, {self.max_len}; got {length}")
        return torch.arange(length, device=device)


def _resized_table(table: Tensor, rows: int) -> Tensor:
    """Return a table resized as by `posenc.resize_table`."""
    last = len(table) - 1
    # Row r is at r·last/(rows − 1) of the old table: one division, so both ends are exact.
    place = torch.arange(rows, dtype=torch.float64, device=table.device) * last / max(rows - 1, 1)
    lower = place.long()
    upper = (lower + 1).clamp(max=last)
    weight = (place - lower)[:, None]
    exact = table.double()
    return ((1 - weight) * exact[lower] + weight * exact[upper]).to(table.dtype)
