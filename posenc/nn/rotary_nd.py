"""Rotary positions with more than one axis as a module; `posenc.axes.rotary_nd` explains the idea.

Heo et al., "Rotary Position Embedding for Vision Transformer" (2024).
"""

from __future__ import annotations

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from posenc._arguments import as_choice, as_flag, as_integer
from posenc._tensor_arguments import as_activations, as_points, on_device, without_autocast
from posenc.axes.rotary_nd import rotary_matrix
from posenc.nn.rotary import _rotate_pairs
from posenc.rotary.rope import LAYOUTS


class RotaryEmbeddingND(nn.Module):
    """Rotate every pair of queries or keys by its point, like `posenc.apply_rope_nd` in torch.

    With fixed frequencies it has no parameters and no buffers: they are kept in float64, and angles
    are computed from them on each call, so `.to(torch.bfloat16)` and state dicts do not affect
    them. With `learned=True` they are a parameter, as in mixed RoPE, and gradients reach them.

    Args:
        d: width of one head; an even integer, 2 or more.
        frequencies: radians per step on each axis for each pair, shape `(axes, d/2)`, or
            `(heads, axes, d/2)` if each head has its own: of `posenc.axial_frequencies`,
            `posenc.mixed_frequencies` or `posenc.mrope_frequencies`.
        layout: "interleaved" or "half", see `posenc.apply_rope_nd`.
        learned: whether training changes the frequencies.

    Attributes:
        d: width of one head.
        axes: how many coordinates a point has.
        layout: which dimensions form a pair.
        initial: the frequencies as given, a float64 array.
        omega: the learned frequencies, a parameter; None if they are fixed.

    Raises:
        TypeError: `d` is not an integer, `frequencies` holds anything but real numbers, `layout`
            is not a string, or `learned` not a boolean.
        ValueError: `d` is odd or below 2; `frequencies` has another shape or a number that is not
            finite; `layout` is unknown.

    Source:
        Heo et al. (2024), section 3.

    Examples:
        >>> import torch
        >>> from posenc import axial_frequencies, grid_positions
        >>> rotary = RotaryEmbeddingND(64, axial_frequencies(64, base=100))
        >>> points = torch.from_numpy(grid_positions((14, 14)))
        >>> q, k = torch.randn(2, 4, 196, 64), torch.randn(2, 4, 196, 64)
        >>> scores = rotary(q, points) @ rotary(k, points).mT
        >>> moved = rotary(q, points + 7) @ rotary(k, points + 7).mT
        >>> torch.allclose(scores, moved, atol=1e-4)
        True
    """

    def __init__(
        self, d: int, frequencies: ArrayLike, *, layout: str = "interleaved", learned: bool = False
    ) -> None:
        super().__init__()
        self.d = as_integer("d", d, least=2, even=True)
        self.initial = rotary_matrix(frequencies, self.d)
        if self.initial.ndim > 3:
            raise ValueError(
                f"frequencies must be of shape (axes, {self.d // 2}) or"
                f" (heads, axes, {self.d // 2}); got {self.initial.shape}"
            )
        self.layout = as_choice("layout", layout, LAYOUTS)
        shape = self.initial.shape
        self.omega = nn.Parameter(torch.empty(shape)) if as_flag("learned", learned) else None
        self.reset_parameters()

    @property
    def axes(self) -> int:
        """How many coordinates a point has."""
        axes: int = self.initial.shape[-2]
        return axes

    def reset_parameters(self) -> None:
        """Set learned frequencies to the initial ones, as after `to_empty` from the meta device."""
        if self.omega is not None:
            with torch.no_grad():
                self.omega.copy_(torch.from_numpy(self.initial))

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        """Return `x` with every pair rotated by its point.

        Args:
            x: queries or keys, `(batch, heads, length, d)`; float64, float32, bfloat16 or float16.
            positions: the point of each vector, `(length, axes)` or `(batch, length, axes)`,
                integers, float32 or float64, on the device of `x`; the same for all heads. In
                generation, those of the new tokens.

        Returns:
            Shape and dtype of `x`; a new tensor. Angles are computed in float64, products in
            float32 or float64.

        Raises:
            TypeError: `x` is not a floating tensor, or `positions` not one of integers or reals.
            ValueError: a shape or a device does not fit; a coordinate is not finite or too large.

        Examples:
            >>> import torch
            >>> rotary = RotaryEmbeddingND(4, [[1.0, 0.0], [0.0, 1.0]])
            >>> rotary(torch.tensor([[[[1.0, 0.0, 1.0, 0.0]]]]), torch.tensor([[0, 1]]))
            tensor([[[[1.0000, 0.0000, 0.5403, 0.8415]]]])
        """
        heads = self.initial.shape[0] if self.initial.ndim == 3 else "heads"
        x = as_activations("x", x, ("batch", heads, "length", self.d))
        points = as_points(
            "positions", positions, axes=self.axes, length=x.shape[2], batch=x.shape[0]
        )
        points = on_device("positions", points, x.device)
        omega = torch.from_numpy(self.initial).to(x.device) if self.omega is None else self.omega
        on_device("x", x, omega.device)
        by_head = points.unsqueeze(-3) if points.ndim == 3 else points
        with without_autocast(x.device):
            angles = by_head @ omega.double()
        exact = torch.promote_types(x.dtype, torch.float32)
        cos, sin = angles.cos().to(exact), angles.sin().to(exact)
        return _rotate_pairs(x.to(exact), cos, sin, self.layout).to(x.dtype)

    def extra_repr(self) -> str:
        """Return the text that `print` shows for the module."""
        learned = self.omega is not None
        return f'{self.d}, axes={self.axes}, layout="{self.layout}", learned={learned}'
