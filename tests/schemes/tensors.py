"""Good tensors, and bad values for the tensors that modules take.

`TENSORS` has the bad values of each argument name that several modules share. The messages for them
must name the argument, but may call anything allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from posenc.nn.relative import relative_positions
from tests.schemes.arrays import BASES, COUNTS, SIZES, choices, number, without_none

NAN, INFINITE = float("nan"), float("inf")
META = torch.device("meta")

FAR_POSITIONS = torch.tensor([0, 2**53, 1])
X = torch.ones(2, 3, 8)
QUERIES = torch.ones(2, 4, 3, 8)
SCORES = torch.ones(2, 4, 3, 3)
IDS = torch.tensor([[1, 2, 3], [4, 5, 6]])
KEY_MINUS_QUERY = relative_positions(3)
ROWS = torch.ones(4, 5)

NO_TENSOR: list[object] = [3.0, "words", True, [[1, 2]], object]


def no_activations(x: Tensor, *others: object) -> list[object]:
    """Return bad values for activations of any shape: wrong types and dtypes."""
    return [None, *NO_TENSOR, x.int(), x > 0, x + 0j, *others]


def activations(x: Tensor, *others: object) -> list[object]:
    """Return bad values for activations of this shape: wrong types, dtypes and shapes."""
    return no_activations(x, x[..., :-1], x[(0,) * (x.ndim - 1)], x.to_sparse(), *others)


def integers(x: Tensor, *others: object) -> list[object]:
    """Return bad values for a tensor of integers: wrong types and dtypes."""
    return [None, *NO_TENSOR, x.float(), x > 0, x + 0j, *others]


# Positions of three tokens, and of any number of them.
POSITIONS_OF_THREE: list[object] = [
    *NO_TENSOR,
    *(
        torch.arange(4),
        torch.zeros(3, 3),
        torch.tensor(2),
        torch.zeros(1, 1, 3),
        FAR_POSITIONS,
        FAR_POSITIONS.to(META),
    ),
    *(torch.tensor([0.0, far, 1.0]) for far in (NAN, INFINITE, 2.0**24)),
    *(torch.ones(3) > 0, torch.ones(3).bfloat16(), torch.ones(3) + 0j),
]
ANY_POSITIONS: list[object] = [
    *(*NO_TENSOR, FAR_POSITIONS, torch.tensor(2), torch.zeros(1, 1, 3), torch.tensor([0.0, NAN])),
    *(torch.ones(3) > 0, torch.ones(3).bfloat16()),
]
RELATIVES = integers(
    KEY_MINUS_QUERY, KEY_MINUS_QUERY[0], KEY_MINUS_QUERY[None, None], FAR_POSITIONS[None]
)
TOKEN_IDS = integers(IDS, IDS - 2, IDS + 1000, IDS[0], IDS[None], IDS.to(META))

TENSORS: dict[str, Sequence[object]] = {
    **dict.fromkeys(("d", "d_model", "vocab_size", "max_len"), SIZES),
    "base": without_none(BASES),
    "attention_factor": number("", 0, -1.0),
    "dropout": [None, "half", -0.1, 1.0, 1.5, NAN, True, 1j, [0.1]],
    "offset": COUNTS,
    "length": without_none(SIZES),
    "axis": [*without_none(SIZES), 2],
    "kernel": choices(""),
    "relative": RELATIVES,
    "positions": POSITIONS_OF_THREE,
    "query_positions": [None, *ANY_POSITIONS],
    "key_positions": ANY_POSITIONS,
    "token_ids": TOKEN_IDS,
    "dtype": [None, int, torch.int64, torch.complex64, "float32"],
    "x": activations(X),
    "q": activations(QUERIES),
    "k": activations(QUERIES),
}
