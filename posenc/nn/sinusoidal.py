"""The sinusoidal encoding as a layer: it adds positions to tokens.

The layer keeps its frequencies as Python floats, so `.half()`, `.to(torch.bfloat16)`, `state_dict`
and the meta device do not affect them, and computes its rows on each call. That avoids two
mistakes. A table kept as a buffer is cast with the rest of the model, and its sines stay rounded
when the model is cast back. Casting positions or frequencies is worse: in bfloat16 the position
257 becomes 256 before any sine is computed.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from posenc._arguments import as_base, as_integer
from posenc._tensor_arguments import as_activations, as_probability, offset_or_positions
from posenc.frequency import frequencies


def sinusoidal_rows(positions: Tensor, omega: tuple[float, ...]) -> Tensor:
    """Return the float64 rows of float64 positions: `(*positions.shape, 2 * len(omega))`."""
    frequency = torch.tensor(omega, dtype=torch.float64, device=positions.device)
    angles = positions[..., None] * frequency  # (*positions.shape, pairs)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)


class SinusoidalPositionalEncoding(nn.Module):
    """Add the row PE(p) of its position to each token, exact in every dtype.

    PE(p) has sin(p·ω_i) in column 2i and cos(p·ω_i) in column 2i+1, as in
    `posenc.sinusoidal_encoding`. The rows are computed in float64 and cast to the dtype of the
    tokens at the end. Nothing is learned and nothing is stored.

    Args:
        d_model: width of a token; an even integer, 2 or more.
        max_len: positions must be below it; an integer, 1 or more, or None for no limit. The
            formula itself has no limit.
        base: see `posenc.frequencies`.
        dropout: probability, from 0 to below 1, of dropping an entry of the sum in training.

    Attributes:
        d_model: width of a token.
        max_len: the limit, or None.
        base: as given.
        frequencies: ω_i of each pair, a tuple of floats.
        dropout: the `torch.nn.Dropout` applied last.

    Raises:
        TypeError: a size is not an integer, `base` or `dropout` not a number.
        ValueError: `d_model` is odd or below 2, `max_len` below 1, `base` below 1e-300, above
            1e300 or 1, `dropout` outside [0, 1).

    Source:
        Vaswani et al., "Attention Is All You Need" (2017), section 3.5; dropout on the sum,
        section 5.4.

    Examples:
        >>> import torch
        >>> layer = SinusoidalPositionalEncoding(4)
        >>> layer(torch.zeros(1, 2, 4)).numpy().round(4)
        array([[[0.    , 1.    , 0.    , 1.    ],
                [0.8415, 0.5403, 0.01  , 1.    ]]], dtype=float32)
    """

    def __init__(
        self,
        d_model: int,
        max_len: int | None = None,
        *,
        base: float = 10000.0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.d_model = as_integer("d_model", d_model, least=2, even=True)
        self.max_len = None if max_len is None else as_integer("max_len", max_len, least=1)
        self.base = as_base(base)
        self.frequencies = tuple(frequencies(self.d_model, base=self.base).tolist())
        self.dropout = nn.Dropout(as_probability("dropout", dropout))

    def forward(self, x: Tensor, *, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """Return the tokens plus the rows of their positions.

        Args:
            x: tokens, `(batch, length, d_model)`, floating.
            offset: position of the first token, an integer, 0 or more: with a cache, how many
                tokens it holds.
            positions: instead of `offset`, the position of each token: integers, float32 or
                float64, negative ones too, `(length,)` or `(batch, length)`, on the device of
                `x`. Their values are checked in eager mode only.

        Returns:
            Shape, dtype and device of `x`; a new tensor.

        Raises:
            TypeError: `x` is not a floating tensor, `offset` not an integer, `positions` not a
                tensor of one of those types.
            ValueError: a shape or device does not fit; both `offset` and `positions` are given;
                a position reaches `max_len`, is not finite, or reaches `2**53`, or `2**24` in
                float32, beyond which not every integer is representable; or its angle reaches
                2⁵³ at a frequency above 1.

        Examples:
            >>> import torch
            >>> layer, x = SinusoidalPositionalEncoding(4), torch.zeros(1, 3, 4)
            >>> torch.equal(layer(x, offset=7), layer(x, positions=torch.tensor([7, 8, 9])))
            True
        """
        as_activations("x", x, ("batch", "length", self.d_model))
        where = offset_or_positions(
            offset,
            positions,
            length=x.shape[1],
            batch=x.shape[0],
            device=x.device,
            max_len=self.max_len,
            fastest=max(self.frequencies),
        )
        rows = sinusoidal_rows(where, self.frequencies).to(x.dtype)
        result: Tensor = self.dropout(x + rows)
        return result

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the layer."""
        return f"d_model={self.d_model}, max_len={self.max_len}, base={self.base}"
