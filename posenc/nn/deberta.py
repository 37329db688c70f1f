"""DeBERTa's position terms as a module: content to position, and position to content.

He, Liu, Gao and Chen, "DeBERTa" (ICLR 2021), section 3.1. The definition is
`posenc.disentangled_scores`.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor, nn

from posenc._arguments import as_flag, as_integer
from posenc._tensor_arguments import as_activations, as_relative, on_device, without_autocast
from posenc.scores.deberta import deberta_buckets


class DisentangledBias(nn.Module):
    """The two terms of a score that ask about distance: of the query's content, and of the key's.

    It returns what to add to content scores that are divided by the root of 3d. `attention` divides
    by the root of d, so pass it queries divided by the root of 3, and this bias:

        attention(q / 3**0.5, k, v, bias=bias(q, k, relative))

    Each term is one product with all rows of a table, from which every pair then takes its number.

    Args:
        heads: number of heads; an integer, 1 or more.
        d: width of one head; an integer, 1 or more.
        max_distance: half the number of rows of a table; an integer, 1 or more.
        longest: None for a row per distance, as in the first DeBERTa; in later ones the distance
            at which the last of the log-spaced buckets begins, see `posenc.deberta_buckets`, whose
            `buckets` are then `max_distance`.
        released: True for the rows that the authors' code takes, see `posenc.disentangled_scores`.

    Attributes:
        heads: number of heads.
        d: width of one head.
        max_distance: half the number of rows.
        longest: as given.
        released: as given.
        position_q: queries of the relative positions, `(heads, 2·max_distance, d)`.
        position_k: keys of the relative positions, of the same shape.

    Raises:
        TypeError: an argument is not an integer, or `released` not True or False.
        ValueError: an argument is too small, or `max_distance` odd or below 4 with `longest`.

    Source:
        He et al. (2021), section 3.1. There all layers share one table of embeddings, from which
        each layer makes both tables by its projections. The standard deviation of the initial
        tables, 0.02, is that of the authors' code.

    Examples:
        >>> import torch
        >>> from posenc.nn import attention, relative_positions
        >>> bias = DisentangledBias(heads=4, d=8, max_distance=16)
        >>> q, k, v = torch.randn(3, 2, 4, 5, 8)
        >>> output, _ = attention(q / 3**0.5, k, v, bias=bias(q, k, relative_positions(5)))
        >>> output.shape
        torch.Size([2, 4, 5, 8])
    """

    def __init__(
        self,
        heads: int,
        d: int,
        max_distance: int,
        *,
        longest: int | None = None,
        released: bool = False,
    ) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.d = as_integer("d", d, least=1)
        logarithmic = longest is not None
        self.max_distance = as_integer(
            "max_distance", max_distance, least=4 if logarithmic else 1, even=logarithmic
        )
        self.longest = (
            None
            if longest is None
            else as_integer("longest", longest, least=self.max_distance // 2 + 2)
        )
        self.released = as_flag("released", released)
        self._starts = self._bucket_starts()
        shape = (self.heads, 2 * self.max_distance, self.d)
        self.position_q = nn.Parameter(torch.empty(shape))
        self.position_k = nn.Parameter(torch.empty(shape))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize both tables again, from a normal distribution of standard deviation 0.02."""
        nn.init.normal_(self.position_q, std=0.02)
        nn.init.normal_(self.position_k, std=0.02)

    def forward(self, q: Tensor, k: Tensor, relative: Tensor) -> Tensor:
        """Return the two terms of each pair, divided by the root of 3d.

        Args:
            q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64, on the
                tables' device.
            k: keys, `(batch, heads, key, d)`, likewise.
            relative: key − query, `(query, key)` or `(batch, query, key)`, an integer tensor.

        Returns:
            Shape `(batch, heads, query, key)`, in the dtype of `q`; a new tensor.

        Raises:
            TypeError: `q` or `k` is not a floating tensor, or `relative` not an integer one.
            ValueError: a shape or a device does not fit; in eager mode also: `relative` reaches
                2⁵³ in size.

        Examples:
            >>> import torch
            >>> from posenc.nn import relative_positions
            >>> bias, x = DisentangledBias(4, 8, 16), torch.zeros(1, 4, 3, 8)
            >>> bool((bias(x, x, relative_positions(3)) == 0).all())  # no content, no bias
            True
        """
        device = self.position_k.device
        q = on_device("q", as_activations("q", q, ("batch", self.heads, "query", self.d)), device)
        batch, _, queries, _ = q.shape
        k = on_device("k", as_activations("k", k, (batch, self.heads, "key", self.d)), device)
        keys = k.shape[2]
        apart = on_device("relative", as_relative("relative", relative), device)
        if apart.shape[-2:] != (queries, keys) or (apart.ndim == 3 and len(apart) != batch):
            raise ValueError(
                f"relative must be of shape ({queries}, {keys}), with a batch of {batch} or"
                f" none; got {tuple(apart.shape)}"
            )
        apart = self._bucketed(apart if apart.ndim == 2 else apart.unsqueeze(1))
        forth = self._row(apart).expand(batch, self.heads, queries, keys)
        back = self._row(apart.mT if self.released else -apart.mT).expand(
            batch, self.heads, keys, queries
        )
        with without_autocast(device):
            looks_at = (q @ self.position_k.to(q.dtype).mT).gather(-1, forth)
            looked_at = (k.to(q.dtype) @ self.position_q.to(q.dtype).mT).gather(-1, back)
        return (looks_at + looked_at.mT) / math.sqrt(3 * self.d)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return (
            f"{self.heads}, {self.d}, max_distance={self.max_distance}, longest={self.longest},"
            f" released={self.released}"
        )

    def _bucket_starts(self) -> tuple[int, ...]:
        """Return the distances at which the buckets beyond the exact range begin."""
        if self.longest is None:
            return ()
        every = np.arange(self.longest + 1)
        bucket = deberta_buckets(every, buckets=self.max_distance, max_distance=self.longest)
        middle = self.max_distance // 2
        beyond = np.searchsorted(bucket, np.arange(middle + 1, self.max_distance + 1))
        return tuple(beyond.tolist())

    def _bucketed(self, relative: Tensor) -> Tensor:
        """Return `posenc.deberta_buckets` of a tensor, or the tensor if there are no buckets."""
        if self.longest is None:
            return relative
        starts = torch.tensor(self._starts, device=relative.device)
        distance = relative.abs()
        beyond = torch.bucketize(distance.contiguous(), starts, right=True)
        return relative.sign() * (distance.clamp(max=self.max_distance // 2) + beyond)

    def _row(self, relative: Tensor) -> Tensor:
        """Return `posenc.deberta_index` of a tensor."""
        return (self.max_distance - relative).clamp(0, 2 * self.max_distance - 1)
