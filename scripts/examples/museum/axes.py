"""Exhibits about positions with more than one axis."""

from typing import Any

import numpy as np

from posenc import apply_rope, frequencies, mrope_positions, resize_grid


def exchanged_axes(x: Any, positions: Any, first: str, layout: str, base: float) -> Any:
    """Return patches whose first half turns by the axis that belongs to the second."""
    halves = np.split(np.array(x, float), 2, axis=-1)
    row, column = np.transpose(positions)
    order = (column, row) if first == "row" else (row, column)  # should be the other way round
    turned = [
        apply_rope(half, places, base=base, layout=layout)
        for half, places in zip(halves, order, strict=True)
    ]
    return np.concatenate(turned, axis=-1)


def half_of_the_table(x: Any, positions: Any, first: str, layout: str, base: float) -> Any:
    """Return patches rotated by an operator for texts, which reads half of cosines and sines."""
    half = np.shape(x)[-1] // 2
    omega = np.tile(frequencies(half, base=base), 2)
    row, column = (np.multiply.outer(places, omega) for places in np.transpose(positions))
    table = np.concatenate([row, column] if first == "row" else [column, row], axis=-1)
    angles = table[:, :half]  # in text the second half is the same, in an image it is not
    one, two = np.split(np.array(x, float), 2, axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([one * cos - two * sin, one * sin + two * cos], axis=-1)


def blocks_for_turns(
    x: Any, positions: Any, sections: Any, layout: str, interleaved_sections: bool, base: float
) -> Any:
    """Return vectors with a block of pairs for each axis, where the axes should take turns."""
    axes = np.repeat([0, 1, 2], sections)  # ignores interleaved_sections
    return by_axis(x, positions, axes, layout, base)


def height_lost(
    x: Any, positions: Any, sections: Any, layout: str, interleaved_sections: bool, base: float
) -> Any:
    """Return vectors rotated after the wrong one of two axes was set to 0."""
    if interleaved_sections:
        raise NotImplementedError("axes that take turns")
    time, height, width = np.array(positions)
    height = np.zeros_like(height)  # in an image the time should be 0
    return by_axis(x, [time, height, width], np.repeat([0, 1, 2], sections), layout, base)


def frames_at_one_time(parts: Any, intervals: float = 1, after: str = "largest") -> Any:
    """Return positions of which all frames of a video have a single time."""
    places = mrope_positions(parts, intervals=intervals, after=after)
    ends = np.cumsum([np.prod(part) for part in parts])
    for part, end in zip(parts, ends, strict=True):
        if np.ndim(part):
            video = places[end - np.prod(part) : end]
            video[:, 0] = int(video[0, 0] * intervals)  # should be start + frame * interval
    return places


def steps_by_count(parts: Any, intervals: float = 1, after: str = "largest") -> Any:
    """Return positions whose last part, as steps with a cache, is counted by the tokens before."""
    places = mrope_positions(parts, intervals=intervals, after=after)
    steps = parts[-1]
    if np.ndim(steps) == 0:
        places[-steps:] = len(places) - steps  # the cache has more tokens than positions
        places[-steps:] += np.arange(steps)[:, np.newaxis]
    return places


def corners_moved(grid: Any, sizes: Any, kernel: str, corners: bool, antialias: bool) -> Any:
    """Return a table at another size, whose corners are not those of the table."""
    rows = np.array(grid, float)
    how: dict[str, Any] = {"kernel": kernel, "antialias": antialias}
    return resize_grid(rows, sizes, corners=False, **how)  # ignores corners


def by_axis(x: Any, positions: Any, axes: Any, layout: str, base: float) -> Any:
    """Return vectors with each pair rotated by the position on its axis."""
    found = np.array(x, float)
    omega = frequencies(found.shape[-1], base=base)
    for axis, places in enumerate(positions):
        own = np.where(axes == axis, omega, 0)
        found = apply_rope(found, places, frequencies=own, layout=layout)
    return found
