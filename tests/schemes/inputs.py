"""What the variants of the modules are called with: the same values at the same place in each call.

Queries run from `start` to `stop`, keys from 0 to `stop`. `inputs_as` changes the dtype and the
device of the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from posenc.nn.relative import relative_positions

HEADS, D, LONGEST = 3, 8, 300
Floats = NDArray[np.floating]


def _drawn(seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, HEADS, LONGEST, D, generator=generator).double()


VECTORS = {"queries": _drawn(1), "keys": _drawn(2)}


@contextmanager
def inputs_as(dtype: torch.dtype, device: str = "cpu", scale: float = 1.0) -> Iterator[None]:
    """Give all vectors another dtype, device and size."""
    kept = dict(VECTORS)
    VECTORS.update({name: (scale * x).to(device, dtype) for name, x in kept.items()})
    try:
        yield
    finally:
        VECTORS.update(kept)


def array(x: Tensor) -> NDArray[np.float64]:
    """Return a tensor as a float64 array."""
    return x.detach().double().numpy()


def arrays(module: Any, *names: str) -> dict[str, NDArray[np.float64]]:
    """Return parameters of a module by name."""
    return {name: array(getattr(module, name)) for name in names}


def dtype() -> torch.dtype:
    """Return the dtype of the vectors."""
    return VECTORS["queries"].dtype


def vectors(start: int, stop: int) -> Tensor:
    """Return queries, or keys if start is 0."""
    return VECTORS["queries"][:, :, start:stop]


def keys(stop: int) -> Tensor:
    """Return keys that are no queries."""
    return VECTORS["keys"][:, :, :stop]


def tokens(start: int, stop: int) -> Tensor:
    """Return token embeddings."""
    return VECTORS["queries"][:, 0, start:stop]


def token_ids(start: int, stop: int) -> Tensor:
    """Return ids of ten tokens."""
    return torch.stack([torch.arange(start, stop) % 10, torch.arange(start, stop) * 7 % 10])


def relative(start: int, stop: int) -> Tensor:
    """Return key − query."""
    return relative_positions(torch.arange(start, stop), stop)


def content_scores(start: int, stop: int, terms: int = 1) -> Floats:
    """Return q·k over √(terms·d), which a module leaves to `attention`."""
    scores = array(vectors(start, stop)) @ array(vectors(0, stop)).swapaxes(-1, -2)
    return np.asarray(scores / np.sqrt(terms * D))


def by_relative(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call a bias that takes relative positions."""
    bias: Tensor = module(relative(start, stop))
    return bias


def by_relative_in_dtype(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call a bias that takes relative positions and the dtype of the result."""
    bias: Tensor = module(relative(start, stop), dtype=dtype())
    return bias


def by_positions(module: nn.Module, start: int, stop: int) -> Tensor:
    """Call a bias that takes the positions of queries and keys."""
    bias: Tensor = module(torch.arange(start, stop), torch.arange(stop))
    return bias


def with_large_parameters(module: nn.Module) -> nn.Module:
    """Return a module whose parameters are large enough to tell apart."""
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


def points(start: int, stop: int) -> Tensor:
    """Return points on a grid of two axes."""
    places = torch.arange(start, stop)
    return torch.stack([places // 5, places % 5], dim=-1)
