"""What the tests of rotary embeddings share: random vectors, and the numpy definition."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from posenc import apply_rope

LAYOUTS = ("interleaved", "half")
# Half the distance between neighbouring numbers from 1 to 2: what one rounding can do to 1.
ROUNDING = {
    torch.float64: 2.0**-53,
    torch.float32: 2.0**-24,
    torch.bfloat16: 2.0**-9,
    torch.float16: 2.0**-12,
}

both_layouts = pytest.mark.parametrize("layout", LAYOUTS)
every_dtype = pytest.mark.parametrize("dtype", ROUNDING)


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    """Return numbers of about 1."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def rotated_in_numpy(x: Tensor, positions: Any, **options: Any) -> Tensor:
    """Return the result of the numpy definition for the same numbers, in float64."""
    return torch.from_numpy(apply_rope(x.detach().double().numpy(), positions, **options))


def close(found: Tensor, exact: Tensor) -> bool:
    """Return whether a rotated tensor equals the float64 one, up to the precision of its dtype.

    Two products and a sum of numbers below 8, with factors that were rounded once, in float64 or
    float32, and then one rounding to the dtype.
    """
    steps = 8 * 4 * ROUNDING[torch.promote_types(found.dtype, torch.float32)]
    error = (found.double() - exact).abs()
    return bool((error <= steps + 2 * ROUNDING[found.dtype] * exact.abs()).all())
