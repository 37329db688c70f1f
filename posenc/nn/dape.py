"""DAPE as a module: a small network that adjusts a bias to the scores of all heads.

Zheng, Gao, Shi, Huang, Li, Xiong, Ren, Ng, Jiang, Li and Li, "DAPE: Data-Adaptive Positional
Encoding for Length Extrapolation" (NeurIPS 2024). The definition is `posenc.dape_bias`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_activations, check_range, on_device, without_autocast
from posenc.scores.dape import SLOPE


class DAPEBias(nn.Module):
    """A bias with its adjustment: B + f(A, B), f a network that reads the scores of all heads.

    The bias may come from any module that adds one, such as `KerpleBias`, and be learned with it.
    Each pair of a query and a key is adjusted on its own, so a cache of keys is enough to decode.

    Args:
        heads: number of heads; an integer, 1 or more.
        hidden: width of the network's hidden layer; an integer, 1 or more.

    Attributes:
        heads: number of heads.
        hidden: width of the hidden layer.
        first_weight: of the network, `(hidden, 2·heads)`; the first half of a row is for scores.
        first_bias: of the network, `(hidden,)`.
        second_weight: of the network, `(heads, hidden)`.
        second_bias: of the network, `(heads,)`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is below 1.

    Source:
        Zheng et al. (2024), section 3.2, and the released code: 32 hidden units, a leaky ReLU, and
        torch's initial values for linear layers, so that training does not start from B itself.

    Examples:
        >>> import torch
        >>> from posenc.nn import KerpleBias, attention, relative_positions
        >>> kerple, dape = KerpleBias(4), DAPEBias(4)
        >>> q, k, v = torch.randn(3, 2, 4, 5, 8)
        >>> bias = dape(q @ k.mT / 8**0.5, kerple(relative_positions(5)))
        >>> mask = torch.ones(5, 5).tril().bool()
        >>> attention(q, k, v, bias=bias, mask=mask)[0].shape
        torch.Size([2, 4, 5, 8])
    """

    def __init__(self, heads: int, *, hidden: int = 32) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.hidden = as_integer("hidden", hidden, least=1)
        self.first_weight = nn.Parameter(torch.empty(self.hidden, 2 * self.heads))
        self.first_bias = nn.Parameter(torch.empty(self.hidden))
        self.second_weight = nn.Parameter(torch.empty(self.heads, self.hidden))
        self.second_bias = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the network again, as torch draws linear layers."""
        for weight, bias in (
            (self.first_weight, self.first_bias),
            (self.second_weight, self.second_bias),
        ):
            bound = 1 / math.sqrt(weight.shape[1])
            nn.init.uniform_(weight, -bound, bound)
            nn.init.uniform_(bias, -bound, bound)

    def forward(self, scores: Tensor, bias: Tensor) -> Tensor:
        """Return what to add to the scores of content.

        Args:
            scores: A, the scores of content, divided by √d and not masked, `(batch, heads, query,
                key)`; float16, bfloat16, float32 or float64, on the device of the parameters.
            bias: B, `(heads, query, key)`, or with a batch in front; finite, in the dtype of
                `scores` too, such as that of `ALiBi(heads, causal=False)`. Hide keys ahead by a
                mask afterwards, not by a very low bias, which the network would read.

        Returns:
            A new tensor of the shape and dtype of `scores`, in which it is computed. It does not
            hide keys ahead.

        Raises:
            TypeError: an argument is not a floating tensor.
            ValueError: a shape or a device does not fit; in eager mode also: `bias` is not finite,
                or not below the largest number of the dtype of `scores` in size.

        Examples:
            >>> import torch
            >>> dape = DAPEBias(1, hidden=1)
            >>> with torch.no_grad():
            ...     for parameter in dape.parameters():
            ...         _ = parameter.fill_(0.5)
            >>> dape(torch.tensor([[[[5.0, 2.0]]]]), torch.tensor([[[-1.0, 0.0]]])).tolist()
            [[[[0.75, 1.25]]]]
        """
        scores = as_activations("scores", scores, ("batch", self.heads, "query", "key"))
        scores = on_device("scores", scores, self.first_weight.device)
        shape = scores.shape if isinstance(bias, Tensor) and bias.ndim == 4 else scores.shape[1:]
        bias = on_device("bias", as_activations("bias", bias, tuple(shape)), scores.device)
        largest = torch.finfo(scores.dtype).max
        allowed = f"finite and below {largest:g} in size, the limit of {scores.dtype}"
        check_range("bias", bias, -largest, largest, allowed)
        added = bias.to(scores.dtype)
        both = torch.cat([scores, added.expand_as(scores)], dim=1).movedim(1, -1)
        with without_autocast(scores.device):
            units = _linear(both, self.first_weight, self.first_bias)
            change = _linear(
                functional.leaky_relu(units, SLOPE), self.second_weight, self.second_bias
            )
        return added + change.movedim(-1, 1)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, hidden={self.hidden}"


def _linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return a linear function of the last axis, in the dtype of `x`."""
    return functional.linear(x, weight.to(x.dtype), bias.to(x.dtype))
