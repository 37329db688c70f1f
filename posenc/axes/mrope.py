"""M-RoPE: text, images and video in one sequence, each token at a time, a row and a column.

The pairs of a head are divided among three axes, and each pair keeps the frequency that it has for
text. A text token has the same number on all axes, so that text is rotated exactly as by RoPE, and
a model trained on text only can be trained further. A patch has its own row and column.

Two things have to be as in training: which axis each pair belongs to, `mrope_frequencies`, and the
numbers on the axes, `mrope_positions`. Rotate with `posenc.apply_rope_nd`.

Wang et al., "Qwen2-VL: Enhancing Vision-Language Model's Perception of the World at Any Resolution"
(2024), section 2.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from posenc._arguments import (
    LARGEST,
    _shown,
    as_choice,
    as_flag,
    as_integer,
    as_list,
    as_reals,
)
from posenc.axes.sinusoidal_nd import grid_positions
from posenc.frequency import frequencies

Part = int | Sequence[int] | NDArray[np.integer]
AFTER = ("largest", "sides")


def mrope_frequencies(
    d: int, sections: Sequence[int], *, base: float = 10000.0, interleaved: bool = False
) -> NDArray[np.float64]:
    """Return the frequencies of M-RoPE: those of RoPE, each in the row of the axis that has it.

    Args:
        d: width of one head; an even integer, 2 or more.
        sections: how many pairs each axis has, for time, height and width; d/2 in all.
        base: see `posenc.frequencies`.
        interleaved: whether the axes take turns, as in Qwen3-VL; otherwise each has one section, as
            in Qwen2-VL. When they take turns, pair i belongs to axis i mod axes while that axis
            has pairs left, and after that to the first.

    Returns:
        Shape `(axes, d/2)`, float64, a new array. In each column one entry is not 0, and it is that
        of `posenc.frequencies`.

    Raises:
        TypeError: `d` is not an integer, `sections` not a sequence of integers, `base` not a
            number, or `interleaved` not a boolean.
        ValueError: `d` is odd or below 2; a section is below 0; the sections do not add up to d/2,
            or, interleaved, do not fit; `base` is below 1e-300, above 1e300, or 1.

    Source:
        Wang et al. (2024), section 2.1; interleaved: Bai et al., "Qwen3-VL Technical Report"
        (2025), section 2.1.

    Examples:
        >>> mrope_frequencies(12, (2, 2, 2), base=1e6)
        array([[1.e+00, 1.e-01, 0.e+00, 0.e+00, 0.e+00, 0.e+00],
               [0.e+00, 0.e+00, 1.e-02, 1.e-03, 0.e+00, 0.e+00],
               [0.e+00, 0.e+00, 0.e+00, 0.e+00, 1.e-04, 1.e-05]])
        >>> mrope_frequencies(12, (2, 2, 2), base=1e6, interleaved=True)
        array([[1.e+00, 0.e+00, 0.e+00, 1.e-03, 0.e+00, 0.e+00],
               [0.e+00, 1.e-01, 0.e+00, 0.e+00, 1.e-04, 0.e+00],
               [0.e+00, 0.e+00, 1.e-02, 0.e+00, 0.e+00, 1.e-05]])
    """
    omega = frequencies(d, base=base)
    counts = _sections(sections, omega.size)
    owners = (_turns if as_flag("interleaved", interleaved) else _blocks)(counts)
    table = np.zeros((len(counts), omega.size))
    table[owners, np.arange(omega.size)] = omega
    return table


def mrope_positions(
    parts: Iterable[Part], *, intervals: ArrayLike = 1.0, after: str = "largest"
) -> NDArray[np.int64]:
    """Return the time, row and column of every token of a sequence of text, images and videos.

    A token of text has the next number on all three axes. The tokens of a grid, frame by frame and
    row by row, have the number at which the grid starts plus, on the three axes, their frame
    times the interval, rounded down, their row, and their column.

    Args:
        parts: the sequence in order: an integer n for n tokens of text, and (frames, rows, columns)
            for an image, with one frame, or a video. Sizes are those after patches have been
            merged.
        intervals: how far apart two frames are, a number 0 or more, or one for each grid: in
            Qwen2.5-VL the positions per second times the seconds per frame.
        after: where a part that follows a grid begins: "largest", one after the largest number so
            far, as in the paper, or "sides", at the start of the grid plus the larger one of rows
            and columns, as transformers 5 does. The two differ for videos only.

    Returns:
        Shape `(length, 3)`, int64, a new array. In generation, the next token is at the largest
        number plus 1, on all axes; a cache has to keep that number, since the length of the
        sequence does not give it.

    Raises:
        TypeError: a part is neither an integer nor three integers, an interval not a number, or
            `after` not a string.
        ValueError: a part has fewer than 0 tokens, or an empty side; an interval is negative or
            not finite, or so long that a position reaches 2⁵³, or there is not one for each
            grid; `after` is unknown.

    Source:
        Wang et al. (2024), section 2.1; intervals: Bai et al., "Qwen2.5-VL Technical Report"
        (2025), section 2.1.3.

    Examples:
        Two words, an image of 2 by 3 patches, and two words:

        >>> mrope_positions([2, (1, 2, 3), 2]).T
        array([[0, 1, 2, 2, 2, 2, 2, 2, 5, 6],
               [0, 1, 2, 2, 2, 3, 3, 3, 5, 6],
               [0, 1, 2, 3, 4, 2, 3, 4, 5, 6]])
    """
    sizes = _sizes(parts)
    grids = [size for size in sizes if not isinstance(size, int)]
    steps = iter(_intervals(intervals, len(grids)))
    by_sides = as_choice("after", after, AFTER) == "sides"
    found, start = [np.zeros((0, 3), np.int64)], 0
    for size in sizes:
        if isinstance(size, int):
            places = np.repeat(np.arange(size)[:, np.newaxis], 3, axis=1)
            ahead = size
        else:
            step = next(steps)
            if start + (size[0] - 1) * step >= LARGEST:
                raise ValueError(f"intervals must keep positions below 2**53; got {step}")
            places = grid_positions(size)
            places[:, 0] = np.floor(places[:, 0] * step)
            ahead = max(size[1:]) if by_sides else int(places.max()) + 1
        found.append(start + places)
        start += ahead
    return np.concatenate(found)


def _sections(sections: Sequence[int], pairs: int) -> list[int]:
    """Return how many pairs each axis has."""
    allowed = f"integers, 0 or more, that add up to {pairs}, the pairs of a head"
    given = as_list("sections", sections, allowed)
    counts = [as_integer("sections", count, least=0) for count in given]
    if sum(counts) != pairs:
        raise ValueError(f"sections must be {allowed}; got {_shown(sections)}")
    return counts


def _blocks(counts: list[int]) -> NDArray[np.int64]:
    """Return the axis of each pair where each axis has one block."""
    return np.repeat(np.arange(len(counts)), counts)


def _turns(counts: list[int]) -> NDArray[np.int64]:
    """Return the axis of each pair where the axes take turns, as long as each has pairs left."""
    pairs, axes = sum(counts), len(counts)
    owners = np.arange(pairs) % axes
    done = np.arange(pairs) // axes >= np.array(counts)[owners]
    owners[done] = 0
    if np.bincount(owners, minlength=axes).tolist() != counts:
        raise ValueError(
            "sections must be such that no axis but the first outlasts the turns of all; got"
            f" {counts}"
        )
    return owners


def _sizes(parts: Iterable[Part]) -> list[int | tuple[int, ...]]:
    """Return each part as a number of tokens or as the three sides of a grid."""
    allowed = "integers and triples (frames, rows, columns)"
    if not isinstance(parts, Iterable) or isinstance(parts, str | bytes | np.ndarray):
        parts = as_list("parts", parts, allowed)
    sizes: list[int | tuple[int, ...]] = []
    for part in parts:
        if isinstance(part, np.ndarray) and not part.ndim:
            part = part.item()
        if isinstance(part, Sequence | np.ndarray) and not isinstance(part, str | bytes):
            if len(part) != 3:
                raise ValueError(f"parts must be {allowed}; got {_shown(part)}")
            sizes.append(tuple(as_integer("parts", side, least=1) for side in part))
        else:
            sizes.append(as_integer("parts", part, least=0))
    return sizes


def _intervals(intervals: ArrayLike, grids: int) -> list[float]:
    """Return the interval of each grid."""
    allowed = f"a number, 0 or more, or {grids} of them, one for each grid"
    steps = as_reals("intervals", intervals, allowed=allowed)
    if steps.shape not in ((), (grids,)):
        raise ValueError(f"intervals must be {allowed}; got shape {steps.shape}")
    if (steps < 0).any():
        raise ValueError(f"intervals must be {allowed}; got {steps.min()}")
    return [float(step) for step in np.broadcast_to(steps, (grids,))]
