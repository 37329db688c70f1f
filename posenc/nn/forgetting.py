"""The forgetting gate as a module: a gate for each token and head, and the bias they make.

Lin, Nikishin, He and Courville, "Forgetting Transformer" (ICLR 2025). The definition is
`posenc.forgetting_bias`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_activations, on_device, without_autocast


class ForgettingBias(nn.Module):
    """A bias for every head: the sum of log gates between key and query, gates made from tokens.

    Args:
        d_model: width of a token's vector; an integer, 1 or more.
        heads: number of heads; an integer, 1 or more.

    Attributes:
        d_model: width of a token's vector.
        heads: number of heads.
        weight: one row for each head, `(heads, d_model)`.
        shift: what is added before the sigmoid, `(heads,)`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is below 1.

    Source:
        Lin et al. (2025): log f is the logarithm of the sigmoid of a linear function of
        the token. The initial values here are those of torch's linear layers.

    Examples:
        >>> import torch
        >>> gate, x = ForgettingBias(d_model=32, heads=4), torch.randn(2, 5, 32)
        >>> gate(x).shape
        torch.Size([2, 4, 5, 5])
        >>> torch.allclose(gate(x, query_length=1), gate(x)[:, :, 4:])  # decoding
        True
    """

    def __init__(self, d_model: int, heads: int) -> None:
        super().__init__()
        self.d_model = as_integer("d_model", d_model, least=1)
        self.heads = as_integer("heads", heads, least=1)
        self.weight = nn.Parameter(torch.empty(self.heads, self.d_model))
        self.shift = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weights and shifts again, as torch draws those of a linear layer."""
        bound = 1 / math.sqrt(self.d_model)
        nn.init.uniform_(self.weight, -bound, bound)
        nn.init.uniform_(self.shift, -bound, bound)

    def forward(self, x: Tensor, *, query_length: int | None = None) -> Tensor:
        """Return the bias of every head for the queries at the end of `x` and all its tokens.

        Args:
            x: the tokens' vectors, `(batch, length, d_model)`, on the device of the parameters.
            query_length: how many queries, the last of the tokens; None for all; an integer, 0 or
                more.

        Returns:
            Shape `(batch, heads, query, length)`, in the dtype of `x`, a new tensor: −inf for keys
            ahead. Log gates are summed in float64.

        Raises:
            TypeError: `x` is not a floating tensor, or `query_length` not an integer.
            ValueError: a shape or a device does not fit; `query_length` is negative or above the
                length.

        Examples:
            >>> import torch
            >>> gate = ForgettingBias(1, 1)
            >>> with torch.no_grad():
            ...     _ = gate.weight.zero_(), gate.shift.fill_(-math.log(math.e - 1))  # f = 1/e
            >>> gate(torch.zeros(1, 3, 1)).round(decimals=4)[0, 0]  # ALiBi of slope 1
            tensor([[ 0., -inf, -inf],
                    [-1.,  0., -inf],
                    [-2., -1.,  0.]], grad_fn=<SelectBackward0>)
        """
        x = as_activations("x", x, ("batch", "length", self.d_model))
        x = on_device("x", x, self.weight.device)
        keys = x.shape[1]
        queries = keys
        if query_length is not None:
            queries = as_integer("query_length", query_length, least=0)
        if queries > keys:
            raise ValueError(f"query_length must be at most {keys}, the length; got {queries}")
        with without_autocast(x.device):
            made = functional.linear(x, self.weight.to(x.dtype), self.shift.to(x.dtype))
        so_far = functional.logsigmoid(made.double()).cumsum(1).mT  # (batch, heads, key)
        bias = so_far[:, :, keys - queries :, None] - so_far[:, :, None]
        seen = torch.ones(queries, keys, dtype=torch.bool, device=x.device).tril(keys - queries)
        return bias.clamp(max=0.0).to(x.dtype).masked_fill(~seen, -math.inf)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.d_model}, {self.heads}"
