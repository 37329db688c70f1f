"""Exhibits about layouts: which dimensions form a pair, and which rotate at all."""

from typing import Any

import numpy as np

from posenc import apply_rope, frequencies


def not_put_back(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return pairs of neighbours rotated, but all first members before all second ones."""
    x = np.array(x)
    angles = np.multiply.outer(positions, frequencies(x.shape[-1], base=base))
    even, odd = x[..., 0::2], x[..., 1::2]
    first = even * np.cos(angles) - odd * np.sin(angles)
    second = even * np.sin(angles) + odd * np.cos(angles)
    return np.concatenate([first, second], axis=-1)  # should be stacked, not concatenated


def tables_repeated(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return neighbours turned together, by cosines and sines in the order of halves."""
    x = np.array(x)
    angles = np.multiply.outer(positions, frequencies(x.shape[-1], base=base))
    angles = np.concatenate([angles, angles], axis=-1)  # each angle should appear twice in a row
    turned = np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
    return x * np.cos(angles) + turned * np.sin(angles)


def flipped(positions: Any, d_model: int, base: float, order: str, first: str, shift: int) -> Any:
    """Return timesteps in two halves, flipped once too often."""
    half = d_model // 2
    angles = np.multiply.outer(positions, base ** (-np.arange(half) / (half - shift)))
    waves = [np.cos(angles), np.sin(angles)]  # the flip below expects the sines first
    if first == "cosine":
        waves.reverse()
    return np.concatenate(waves, axis=-1)


def shifted(positions: Any, d_model: int, base: float, order: str, first: str, shift: int) -> Any:
    """Return timesteps whose exponent is divided by half − 1, whatever is asked for."""
    half = d_model // 2
    exponents = np.arange(half) / (half - 1)  # should be half − shift
    angles = np.multiply.outer(positions, base**-exponents)
    waves = [np.sin(angles), np.cos(angles)]
    if first == "cosine":
        waves.reverse()
    return np.concatenate(waves, axis=-1)


def whole_head(x: Any, positions: Any, layout: str, base: float, rotary_d: int = 0) -> Any:
    """Return the whole head rotated: the share is accepted, and nobody reads it."""
    x = np.array(x)
    rotary_d = x.shape[-1]
    omega = frequencies(rotary_d, base=base)
    return apply_rope(x, positions, frequencies=omega, layout=layout)


def interleaved_everywhere(x: Any, positions: Any, layout: str, base: float) -> Any:
    """Return vectors with neighbours turned together, as another part of the model has them."""
    omega = frequencies(np.shape(x)[-1], base=base)
    interleaved = "interleaved"  # ignores layout
    return apply_rope(x, positions, frequencies=omega, layout=interleaved)
