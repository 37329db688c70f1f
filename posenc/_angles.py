"""Which pairs meet angles that training did not bring."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def never_round(omega: NDArray[np.float64], trained: int) -> NDArray[np.bool_]:
    """Return which pairs do not complete a turn in so many positions, shape of `omega`."""
    with np.errstate(divide="ignore"):  # a pair that stands still never completes a turn
        return 2 * np.pi / omega > trained


def unseen_pairs(
    omega: NDArray[np.float64], slowed: NDArray[np.float64], *, trained: int, length: int
) -> NDArray[np.bool_]:
    """Return which pairs go beyond their angles of training in a sequence of this length.

    Args:
        omega: the frequency of each pair in training.
        slowed: by how much each pair is slower in the longer sequence.
        trained: how many positions a sequence had in training.
        length: how many it has now.
    """
    return never_round(omega, trained) & (length - 1 >= trained * slowed)
