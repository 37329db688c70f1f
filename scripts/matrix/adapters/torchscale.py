"""torchscale answers the test vectors."""

from __future__ import annotations

import torch
from lines import answer_lines, library
from torchscale.component.relative_position_bias import RelativePositionBias


def t5(relative, bidirectional, buckets, max_distance):
    """Return the buckets of `RelativePositionBias`."""
    with library():
        return RelativePositionBias._relative_position_bucket(
            torch.tensor(relative), bidirectional, buckets, max_distance
        )


if __name__ == "__main__":
    answer_lines({"t5": t5})
