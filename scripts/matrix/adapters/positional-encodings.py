"""positional-encodings answers the test vectors."""

from __future__ import annotations

import torch
from lines import Unsupported, answer_lines, library
from positional_encodings.torch_encodings import PositionalEncoding1D


def sinusoidal(positions, d_model, base, order, first, shift):
    """Return rows of `PositionalEncoding1D`."""
    if (order, first, shift, base) != ("interleaved", "sine", 0, 10000):
        raise Unsupported(f"order {order}, {first} first, shift {shift}, base {base}")
    places = torch.tensor(positions)
    if places.is_floating_point() or (places.numel() and places.min() < 0):
        raise Unsupported("positions other than 0, 1, 2, …")
    with library():
        empty = torch.zeros(1, int(places.max()) + 1, d_model)
        rows = PositionalEncoding1D(d_model)(empty)
    return rows[0, places]


if __name__ == "__main__":
    answer_lines({"sinusoidal": sinusoidal})
