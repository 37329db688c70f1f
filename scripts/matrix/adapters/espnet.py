"""espnet answers the test vectors."""

from __future__ import annotations

import torch
from espnet.nets.pytorch_backend.transformer.embedding import (
    PositionalEncoding,
    RelPositionalEncoding,
)
from lines import Unsupported, answer_lines, library


def absolute(positions, d_model, base, order, first, shift):
    """Return rows of the table of `PositionalEncoding`."""
    places = fitting(positions, base, order, first, shift)
    if places.min() < 0:
        raise Unsupported("negative positions")
    with library():
        table = PositionalEncoding(d_model, 0.0, max_len=int(places.max()) + 1).pe[0]
    return table[places]


def relative(positions, d_model, base, order, first, shift):
    """Return rows of `RelPositionalEncoding`, which begin with the farthest position."""
    places = fitting(positions, base, order, first, shift)
    length = int(places.abs().max()) + 1
    with library():
        empty = torch.zeros(1, length, d_model)
        _, rows = RelPositionalEncoding(d_model, 0.0, max_len=length)(empty)
    return rows[0, length - 1 - places]


def fitting(positions, base, order, first, shift):
    """Return positions as a tensor, if the rest is what espnet offers."""
    if (order, first, shift, base) != ("interleaved", "sine", 0, 10000):
        raise Unsupported(f"order {order}, {first} first, shift {shift}, base {base}")
    places = torch.tensor(positions)
    if places.is_floating_point():
        raise Unsupported("fractions of positions")
    return places


if __name__ == "__main__":
    answer_lines(
        ways={
            "PositionalEncoding": {"sinusoidal": absolute},
            "RelPositionalEncoding": {"sinusoidal": relative},
        }
    )
