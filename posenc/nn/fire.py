"""FIRE as a module: a small network that reads each distance as a share of the furthest one.

Li et al., "Functional Interpolation for Relative Positions Improves Long Context Transformers"
(ICLR 2024). The shares are those of `posenc.scores.fire`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_integer, as_positive
from posenc._tensor_arguments import as_positions, without_autocast

LEAST = 1e-6  # both learned numbers are used without their sign, and as no less than this


class FIREBias(nn.Module):
    """A bias for every head: a learned function of log(c·distance + 1) / log(c·furthest + 1).

    It takes positions rather than relative positions, since the share of a query beyond the
    threshold depends on where the query is. So caches, padding and positions per sequence need no
    special handling, but packed documents have to count from 0 each.

    Args:
        heads: number of heads; an integer, 1 or more.
        hidden: width of the network's hidden layer; an integer, 1 or more.
        threshold: L at the start of training, above 0.

    Attributes:
        heads: number of heads.
        hidden: width of the hidden layer.
        threshold: L at the start of training.
        rate: c, learned, a 0-d tensor.
        factor: by how much training has changed L, learned, a 0-d tensor.
        first_weight: w₁ of the network, `(hidden,)`.
        first_bias: b₁, `(hidden,)`.
        second_weight: W₂, `(heads, hidden)`.
        second_bias: b₂, `(heads,)`.

    Raises:
        TypeError: `heads` or `hidden` is not an integer, or `threshold` not a number.
        ValueError: `heads` or `hidden` is below 1, or `threshold` not above 0.

    Source:
        Li et al. (2024), with the code of the appendix: 32 hidden units, c from 0.1, L
        from 512, and torch's initial values for linear layers. The authors add 10⁻⁶ to the
        denominator; here c and L are kept above that instead.

    Examples:
        >>> import torch
        >>> bias = FIREBias(8)
        >>> bias(torch.arange(5)).shape
        torch.Size([8, 5, 5])
        >>> step = bias(torch.tensor([4]), torch.arange(5))  # decoding with a cache
        >>> torch.allclose(step, bias(torch.arange(5))[:, 4:], atol=1e-6)
        True
    """

    def __init__(self, heads: int, *, hidden: int = 32, threshold: float = 512.0) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.hidden = as_integer("hidden", hidden, least=1)
        self.threshold = as_positive("threshold", threshold)
        self.rate = nn.Parameter(torch.empty(()))
        self.factor = nn.Parameter(torch.empty(()))
        self.first_weight = nn.Parameter(torch.empty(self.hidden))
        self.first_bias = nn.Parameter(torch.empty(self.hidden))
        self.second_weight = nn.Parameter(torch.empty(self.heads, self.hidden))
        self.second_bias = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set c to 0.1 and L to the threshold, and draw the network as torch does by default."""
        nn.init.constant_(self.rate, 0.1)
        nn.init.ones_(self.factor)
        for parameter in (self.first_weight, self.first_bias):  # one input
            nn.init.uniform_(parameter, -1, 1)
        bound = 1 / math.sqrt(self.hidden)
        for parameter in (self.second_weight, self.second_bias):
            nn.init.uniform_(parameter, -bound, bound)

    def forward(self, query_positions: Tensor, key_positions: Tensor | None = None) -> Tensor:
        """Return the bias of each head for each query and key.

        Args:
            query_positions: `(query,)` or `(batch, query)`, integers or reals, 0 or more for what
                is not padding, on the device of the parameters.
            key_positions: `(key,)` or `(batch, key)`; None for those of the queries.

        Returns:
            Shape `(heads, query, key)`, or `(batch, heads, query, key)` if either has a batch, in
            the dtype of the parameters; a new tensor. Shares are computed in float64. It does not
            hide keys ahead.

        Raises:
            TypeError: positions are not a tensor of integers or reals.
            ValueError: positions have the wrong shape; in eager mode also: they are not finite or
                too large.

        Examples:
            >>> import torch
            >>> FIREBias(8)(torch.tensor([[0, 1, 2], [5, 6, 7]])).shape
            torch.Size([2, 8, 3, 3])
        """
        queries = as_positions("query_positions", query_positions)
        keys = queries if key_positions is None else as_positions("key_positions", key_positions)
        shares = self._shares(queries[..., :, None], keys[..., None, :])
        with without_autocast(shares.device):
            units = shares.to(self.rate.dtype)[..., None] * self.first_weight + self.first_bias
            bias = functional.linear(units.relu(), self.second_weight, self.second_bias)
        return bias.movedim(-1, -3)

    def _shares(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return `posenc.fire_shares` of these positions, in float64."""
        rate = self.rate.double().abs().clamp(min=LEAST)
        longest = (self.threshold * self.factor.double()).abs().clamp(min=LEAST)
        distance = (queries - keys).abs()
        return torch.log1p(rate * distance) / torch.log1p(rate * torch.maximum(longest, queries))

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, hidden={self.hidden}, threshold={self.threshold:g}"
