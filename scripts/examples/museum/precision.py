"""Exhibits about precision: angles from numbers with too few bits."""

from typing import Any

import numpy as np
import torch

from posenc import apply_rope, frequencies


class CastWithTheModel(torch.nn.Module):
    """Rotary positions whose frequencies are a buffer, which a cast of the model rounds."""

    inv_freq: torch.Tensor

    def __init__(self, d: int, base: float, layout: str) -> None:
        super().__init__()
        self.layout = layout
        self.register_buffer("inv_freq", base ** (-torch.arange(0, d, 2) / d), persistent=False)

    def cast(self, dtype: str) -> None:
        """Convert the model."""
        self.to(getattr(torch, dtype))

    def rotate(self, x: Any, positions: Any) -> Any:
        """Return vectors rotated at positions."""
        omega = self.inv_freq.float()  # too late: the precision is lost
        return apply_rope(x, positions, frequencies=omega.numpy(), layout=self.layout)


def cast_before_use(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return vectors rotated by frequencies that were cast to the dtype of the activations."""
    x = torch.tensor(x, dtype=torch.bfloat16)
    omega = torch.from_numpy(frequencies(x.shape[-1], base=base)).float()
    omega = omega.to(x.dtype)  # rounded before it is multiplied by thousands of positions
    x = x.double().numpy()  # all values of the vectors fit into bfloat16
    return apply_rope(x, positions, frequencies=omega.double().numpy(), layout=layout)


def half_precision(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return vectors rotated by angles that were computed in float16."""
    x = np.array(x)
    omega = frequencies(x.shape[-1], base=base).astype(np.float16)
    angles = np.multiply.outer(np.array(positions).astype(np.float16), omega)
    angles = angles.astype(float)
    return rotated_by(x, np.cos(angles), np.sin(angles), layout)


def autocast_angles(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return vectors rotated by angles that autocast computes in bfloat16."""
    x = np.array(x)
    omega = torch.from_numpy(frequencies(x.shape[-1], base=base)).float()
    places = torch.tensor(positions, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        angles = places[..., np.newaxis] @ omega[np.newaxis]  # in bfloat16, whatever the inputs
    exact = angles.double()
    return rotated_by(x, exact.cos().numpy(), exact.sin().numpy(), layout)


def collapsed(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return vectors rotated at positions that were cast to bfloat16, which has eight bits."""
    places = torch.tensor(positions).bfloat16()  # above 65,536 bfloat16 numbers are 512 apart
    return apply_rope(x, places.double().numpy(), base=base, layout=layout)


def table_rounded(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return vectors rotated by a table of cosines and sines that was cast to bfloat16."""
    x = np.array(x)
    angles = np.multiply.outer(np.array(positions), frequencies(x.shape[-1], base=base))
    table = torch.from_numpy(np.stack([np.cos(angles), np.sin(angles)]))
    cos, sin = table.bfloat16().double().numpy()  # the angles were exact
    return rotated_by(x, cos, sin, layout)


def rotated_by(x: Any, cos: Any, sin: Any, layout: str) -> Any:
    """Return vectors with every pair rotated, by the cosine and the sine of its angle."""
    pairs = cos.shape[-1]
    first = 2 * np.arange(pairs) if layout == "interleaved" else np.arange(pairs)
    second = first + (1 if layout == "interleaved" else pairs)
    found, (one, two) = np.array(x, float), (x[..., first], x[..., second])
    found[..., first] = one * cos - two * sin
    found[..., second] = one * sin + two * cos
    return found
