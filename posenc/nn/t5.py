"""T5's relative position bias as a module: a learned number for each head and bucket.

Raffel et al., "Exploring the Limits of Transfer Learning with a Unified Text-to-Text
Transformer" (2020), section 2.1. The buckets are those of `posenc.scores.t5`.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_flag, as_integer
from posenc._tensor_arguments import as_relative, on_device
from posenc.scores.t5 import t5_bucket_starts


class T5RelativeBias(nn.Module):
    """A bias for every head and every bucket of relative positions.

    Share one module among all layers, as T5 does: each adds the same bias to its scores.

    Args:
        heads: number of heads; an integer, 1 or more.
        bidirectional: True for an encoder, where half of the buckets are for keys ahead; False
            for a decoder, where keys ahead share bucket 0 and a mask hides them.
        buckets: an integer, 2 or more; with `bidirectional`, an even one, 4 or more.
        max_distance: an integer above the exact range; see `posenc.t5_bucket_starts`.

    Attributes:
        heads: number of heads.
        bidirectional: as given.
        buckets: number of buckets.
        max_distance: as given.
        table: the learned numbers, `(buckets, heads)`.

    Raises:
        TypeError: `bidirectional` is not True or False, or another argument is not an integer.
        ValueError: a number is too small, `buckets` is odd with `bidirectional`, or
            `max_distance` is not above the exact range.

    Source:
        Raffel et al. (2020), section 2.1. The paper does not say how to initialize the table; here
        it is drawn from a normal distribution of standard deviation 0.02. T5 does not divide scores
        by √d; `attention` does, before it adds the bias.

    Examples:
        >>> import torch
        >>> from posenc.nn import relative_positions
        >>> bias = T5RelativeBias(heads=8)
        >>> bias(relative_positions(5)).shape
        torch.Size([8, 5, 5])
    """

    def __init__(
        self, heads: int, *, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128
    ) -> None:
        super().__init__()
        starts = t5_bucket_starts(
            bidirectional=bidirectional, buckets=buckets, max_distance=max_distance
        )
        self.heads = as_integer("heads", heads, least=1)
        self.bidirectional = as_flag("bidirectional", bidirectional)
        self.buckets = starts.size * (1 + self.bidirectional)
        self.max_distance = as_integer("max_distance", max_distance, least=1)
        self._starts = tuple(starts.tolist())
        self.table = nn.Parameter(torch.empty(self.buckets, self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize the table again, from a normal distribution of standard deviation 0.02."""
        nn.init.normal_(self.table, std=0.02)

    def forward(self, relative: Tensor) -> Tensor:
        """Return the bias of each head for each pair of positions.

        Args:
            relative: key − query, `(query, key)` or `(batch, query, key)`, an integer tensor on
                the table's device; see `posenc.nn.relative_positions`.

        Returns:
            Shape `(heads, query, key)`, or `(batch, heads, query, key)`, in the dtype of the
            table; a new tensor.

        Raises:
            TypeError: `relative` is not an integer tensor.
            ValueError: `relative` has the wrong shape or is on another device; in eager mode also:
                it reaches 2⁵³ in size.

        Examples:
            >>> import torch
            >>> from posenc.nn import relative_positions
            >>> row = T5RelativeBias(heads=8)(relative_positions(1, 1000))
            >>> bool((row[:, 0, 200:] == row[:, 0, 200:201]).all())  # all in the last bucket
            True
        """
        relative = on_device("relative", as_relative("relative", relative), self.table.device)
        return self.table.T[:, self._bucket(relative)].movedim(0, -3)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return (
            f"{self.heads}, bidirectional={self.bidirectional}, buckets={self.buckets},"
            f" max_distance={self.max_distance}"
        )

    def _bucket(self, relative: Tensor) -> Tensor:
        """Return `posenc.t5_buckets` of a tensor, computed in integers only."""
        starts = torch.tensor(self._starts, device=relative.device)
        distance = relative.abs() if self.bidirectional else (-relative).clamp(min=0)
        bucket = torch.bucketize(distance.contiguous(), starts, right=True) - 1
        return bucket + len(self._starts) * (relative > 0) if self.bidirectional else bucket
