"""PaTH as a module: each token makes the matrix that lies between earlier keys and later queries.

Yang, Shen, Wen, Tan, Mishra, Ren, Panda and Kim, "PaTH Attention" (2025). The definition is
`posenc.path_scores`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from posenc._arguments import as_integer
from posenc._tensor_arguments import as_activations, on_device, without_autocast

TAPS = 3  # of the convolution: a direction is made from the token and the two before it


class PaTH(nn.Module):
    """A bias for every pair: what the tokens after the key take away from its score.

    The queries are those of the last tokens, so decoding with a cache needs the vectors of all
    tokens beside the cached keys. The whole product of matrices comes out of one triangular system
    for each head, without a loop over tokens. Memory grows with the square of the length and work
    with its cube, even for a single query; the kernels of flash-linear-attention go block by block.

    Args:
        heads: number of heads; an integer, 1 or more.
        d: width of one head; an integer, 1 or more.
        d_model: width of a token's vector; an integer, 1 or more.
        rank: width between the two linear functions that make directions; an integer, 1 or more.

    Attributes:
        heads: number of heads.
        d: width of one head.
        d_model: width of a token's vector.
        rank: width between the two linear functions.
        first_weight: of the first linear function, `(rank, d_model)`.
        second_weight: of the second, `(heads·d, rank)`, one head after the other.
        kernel: of the convolution, `(heads·d, 3)`: for the token two before, one before, itself.
        strength_weight: one row for each head, `(heads, d_model)`.
        strength_bias: what is added before the sigmoid, `(heads,)`.

    Raises:
        TypeError: an argument is not an integer.
        ValueError: an argument is below 1.

    Source:
        Yang et al. (2025), with the authors' layer, in flash-linear-attention: a rank of 32, three
        taps, SiLU before the scaling to length 1, and β twice a sigmoid. Two things differ. That
        layer adds 1e-6 to the square of a length before it divides by the root, so that a very
        short direction stays shorter than 1. And the initial values here are those of torch's
        layers; the authors' models draw weights with a deviation of 0.02.

    Examples:
        >>> import torch
        >>> from posenc.nn import attention
        >>> path, x = PaTH(heads=4, d=8, d_model=32), torch.randn(2, 5, 32)
        >>> q, k, v = torch.randn(3, 2, 4, 5, 8)
        >>> attention(q, k, v, bias=path(q, k, x))[0].shape
        torch.Size([2, 4, 5, 8])
        >>> torch.allclose(path(q[:, :, 4:], k, x), path(q, k, x)[:, :, 4:], atol=1e-6)  # decoding
        True
    """

    def __init__(self, heads: int, d: int, d_model: int, *, rank: int = 32) -> None:
        super().__init__()
        self.heads = as_integer("heads", heads, least=1)
        self.d = as_integer("d", d, least=1)
        self.d_model = as_integer("d_model", d_model, least=1)
        self.rank = as_integer("rank", rank, least=1)
        width = self.heads * self.d
        self.first_weight = nn.Parameter(torch.empty(self.rank, self.d_model))
        self.second_weight = nn.Parameter(torch.empty(width, self.rank))
        self.kernel = nn.Parameter(torch.empty(width, TAPS))
        self.strength_weight = nn.Parameter(torch.empty(self.heads, self.d_model))
        self.strength_bias = nn.Parameter(torch.empty(self.heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters again, as torch draws those of linear layers and convolutions."""
        for parameter in (self.first_weight, self.second_weight, self.kernel, self.strength_weight):
            bound = 1 / math.sqrt(parameter.shape[1])
            nn.init.uniform_(parameter, -bound, bound)
        bound = 1 / math.sqrt(self.d_model)
        nn.init.uniform_(self.strength_bias, -bound, bound)

    def forward(self, q: Tensor, k: Tensor, x: Tensor) -> Tensor:
        """Return what to add to the scores of content, q·k/√d.

        Args:
            q: queries, `(batch, heads, query, d)`; float16, bfloat16, float32 or float64, on the
                device of the parameters.
            k: keys, `(batch, heads, key, d)`; no fewer than queries.
            x: the vectors of the keys' tokens, `(batch, key, d_model)`.

        Returns:
            Shape `(batch, heads, query, key)`, in the dtype of `q`, a new tensor: 0 for the query's
            own key, −inf for keys ahead. Computed in float32 at least. A token whose direction is
            a vector of zeros has no effect.

        Raises:
            TypeError: an argument is not a floating tensor.
            ValueError: a shape or a device does not fit, or there are fewer keys than queries.

        Examples:
            >>> import torch
            >>> path = PaTH(1, 1, 1, rank=1)
            >>> with torch.no_grad():  # tokens of 1 have a β of 1, others of almost 0
            ...     for parameter in path.parameters():
            ...         _ = parameter.fill_(1.0)
            ...     _ = path.strength_weight.fill_(40), path.strength_bias.fill_(-40)
            >>> one = torch.ones(1, 1, 4, 1)
            >>> x = torch.tensor([0.0, 0.5, 1.0, 0.5]).reshape(1, 4, 1)
            >>> path(one, one, x).detach().round(decimals=4)[0, 0] + 0  # the third erases both
            tensor([[ 0., -inf, -inf, -inf],
                    [ 0.,  0., -inf, -inf],
                    [-1., -1.,  0., -inf],
                    [-1., -1.,  0.,  0.]])
        """
        q = as_activations("q", q, ("batch", self.heads, "query", self.d))
        q = on_device("q", q, self.kernel.device)
        batch, _, queries, _ = q.shape
        k = as_activations("k", k, (batch, self.heads, "key", self.d))
        k = on_device("k", k, q.device)
        keys = k.shape[2]
        if keys < queries:
            raise ValueError(f"k must have {queries} keys or more, as queries; got {keys}")
        x = as_activations("x", x, (batch, keys, self.d_model))
        x = on_device("x", x, q.device)
        exact = torch.promote_types(q.dtype, torch.float32)
        with without_autocast(q.device):
            w, beta = self._directions(x.to(exact)), self._strengths(x.to(exact))
            taken = _removed_directions(w, beta, k.to(exact))
            bias = (q.to(exact) @ w.mT).tril(keys - queries) @ taken / -math.sqrt(self.d)
        seen = torch.ones(queries, keys, dtype=torch.bool, device=q.device).tril(keys - queries)
        return bias.masked_fill(~seen, -math.inf).to(q.dtype)

    def _directions(self, x: Tensor) -> Tensor:
        """Return w of each token, (batch, heads, key, d), 1 long unless SiLU leaves almost 0."""
        first, second, kernel = (
            parameter.to(x.dtype)
            for parameter in (self.first_weight, self.second_weight, self.kernel)
        )
        made = functional.linear(functional.linear(x, first), second)
        late = functional.pad(made, (0, 0, TAPS - 1, 0))  # zeros before the first token
        taps = torch.stack([late[:, tap : tap + x.shape[1]] for tap in range(TAPS)], dim=-1)
        mixed = (taps * kernel).sum(-1)
        split = functional.silu(mixed).reshape(*x.shape[:2], self.heads, self.d)
        return functional.normalize(split, dim=-1).transpose(1, 2)

    def _strengths(self, x: Tensor) -> Tensor:
        """Return β of each token, from 0 to 2, (batch, heads, key, 1)."""
        weight, bias = self.strength_weight.to(x.dtype), self.strength_bias.to(x.dtype)
        return 2 * functional.linear(x, weight, bias).sigmoid().mT[..., None]

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        return f"{self.heads}, {self.d}, {self.d_model}, rank={self.rank}"


def _removed_directions(w: Tensor, beta: Tensor, k: Tensor) -> Tensor:
    """Return how much of its direction each token takes away from each key before it.

    Entry [t, j] is c = β_t·w_t·k, of the key j as the tokens up to t − 1 have left it: without c·w
    of each of them. So c_t + β_t·Σ (w_t·w_s) c_s = β_t·w_t·k_j, with a sum over j < s < t, which is
    a triangular system with a 1 on the diagonal.
    """
    between = beta * (w @ w.mT)  # of which only what is below the diagonal is read
    alone = beta * (w @ k.mT).tril(-1)
    taken: Tensor = torch.linalg.solve_triangular(between, alone, upper=False, unitriangular=True)
    return taken
