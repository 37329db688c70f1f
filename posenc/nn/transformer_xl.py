"""Transformer-XL's position scores as a module: sinusoids of the distance, times a matrix.

Dai, Yang, Yang, Carbonell, Le and Salakhutdinov, "Transformer-XL" (ACL 2019), section 3.3. The
definition is `posenc.transformer_xl_scores`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_activations, on_device, without_autocast
from posenc.frequency import frequencies
from posenc.nn.relative import _shifted


class TransformerXLBias(nn.Module):
    """What Transformer-XL adds to q·k / √d: (u·k + (q + v)·r) / √d, with r by distance.

    Pass it to `attention` as the bias, with the queries as they are. There is one product with the
    keys of all query + key − 1 relative positions, and a shift puts each row into place.

    Args:
        heads: number of heads; an integer, 1 or more.
        d: width of one head; an integer, 1 or more.
        d_model: width of the sinusoidal rows; an even integer, 2 or more.

    Attributes:
        heads: number of heads.
        d: width of one head.
        d_model: width of the sinusoidal rows.
        content_bias: u, `(heads, d)`.
        position_bias: v, `(heads, d)`.
        weight: the matrix that makes keys of sinusoidal rows, `(d_model, heads·d)`; the columns of
            one head stand together.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is too small, or `d_model` odd.

    Source:
        Dai et al. (2019), section 3.3 and appendix B. All layers of the paper share u and v, and
        have matrices of their own. The standard deviation of the initial values, 0.02, is that of
        the authors' code.

    Examples:
        >>> import torch
        >>> from posenc.nn import attention
        >>> bias = TransformerXLBias(heads=4, d=8, d_model=32)
        >>> q, (k, v) = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 4, 9, 8)  # a memory of four
        >>> attention(q, k, v, bias=bias(q, k, query_offset=4))[0].shape
        torch.Size([2, 4, 5, 8])
    """

    def __init__(self, heads: int, d: int, d_model: int) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.d = as_integer("d", d, least=1)
        self.d_model = as_integer("d_model", d_model, least=2, even=True)
        self._frequencies = tuple(frequencies(self.d_model).tolist())
        self.content_bias = nn.Parameter(torch.empty(self.heads, self.d))
        self.position_bias = nn.Parameter(torch.empty(self.heads, self.d))
        self.weight = nn.Parameter(torch.empty(self.d_model, self.heads * self.d))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again, from a normal distribution of standard deviation 0.02."""
        for parameter in (self.content_bias, self.position_bias, self.weight):
            nn.init.normal_(parameter, std=0.02)

    def forward(self, q: Tensor, k: Tensor, *, query_offset: int = 0) -> Tensor:
        """Return what positions add to the scores, divided by √d.

        Args:
            q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64, on the
                device of the parameters.
            k: keys, `(batch, heads, key, d)`, at positions 0 … key−1.
            query_offset: position of the first query, the length of the memory; an integer, 0 or
                more.

        Returns:
            Shape `(batch, heads, query, key)`, in the dtype of `q`; a new tensor. Angles are
            computed in float64. It does not hide keys ahead.

        Raises:
            TypeError: `q` or `k` is not a floating tensor, or `query_offset` not an integer.
            ValueError: a shape or a device does not fit, or `query_offset` is negative.

        Examples:
            >>> import torch
            >>> bias, x = TransformerXLBias(4, 8, 32).double(), torch.randn(1, 4, 6, 8).double()
            >>> step = bias(x[:, :, 5:], x, query_offset=5)  # decoding with a cache
            >>> torch.allclose(step, bias(x, x)[:, :, 5:])
            True
        """
        device = self.weight.device
        q = on_device("q", as_activations("q", q, ("batch", self.heads, "query", self.d)), device)
        shape = (q.shape[0], self.heads, "key", self.d)
        k = on_device("k", as_activations("k", k, shape), device)
        offset = as_integer("query_offset", query_offset, least=0)
        length, keys = q.shape[2], k.shape[2]
        if not length or not keys:
            return q.new_zeros(q.shape[0], self.heads, length, keys)
        far = self._keys(length, keys, offset).to(q.dtype)
        u, v = (x.to(q.dtype)[:, None] for x in (self.content_bias, self.position_bias))
        with without_autocast(device):
            content = u @ k.to(q.dtype).mT
            position = _shifted((q + v) @ far.mT)
        return (content + position) / math.sqrt(self.d)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, {self.d}, {self.d_model}"

    def _keys(self, length: int, keys: int, offset: int) -> Tensor:
        """Return the key of each relative position, (heads, query + key − 1, d)."""
        exact = torch.float64
        last = length - 1 + offset
        distance = torch.arange(last, last - length - keys + 1, -1, device=self.weight.device)
        omega = torch.tensor(self._frequencies, dtype=exact, device=self.weight.device)
        angles = distance.to(exact)[:, None] * omega
        rows = torch.cat([angles.sin(), angles.cos()], dim=-1).to(self.weight.dtype)
        with without_autocast(self.weight.device):
            made = rows @ self.weight
        return made.reshape(made.shape[0], self.heads, self.d).movedim(-2, 0)
