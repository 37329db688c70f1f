"""torchvision answers the test vectors."""

from __future__ import annotations

import torch
from lines import Unsupported, answer_lines, library

try:
    import torchvision  # noqa: F401
except RuntimeError:  # it is compiled for a GPU, and torch for a CPU lacks operators that it names
    OPERATORS = torch.library.Library("torchvision", "DEF")
    OPERATORS.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    OPERATORS.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from torchvision.models.swin_transformer import ShiftedWindowAttention
from torchvision.models.vision_transformer import interpolate_embeddings

TABLE = "encoder.pos_embedding"


def swin(window):
    """Return the index of `ShiftedWindowAttention`."""
    with library():
        attention = ShiftedWindowAttention(4, [window, window], [0, 0], 1)
        return attention.relative_position_index.reshape(window**2, window**2)


def swin_rectangle(height, width):
    """Return the index of `ShiftedWindowAttention` for a window that is not square."""
    with library():
        attention = ShiftedWindowAttention(4, [height, width], [0, 0], 1)
        return attention.relative_position_index.reshape(height * width, height * width)


def resize_grid(grid, sizes, kernel, corners, antialias):
    """Return a square of patches resized to another by `interpolate_embeddings`."""
    if antialias or not corners:
        raise Unsupported("antialiasing, or corners that are not aligned")
    rows = torch.tensor(grid)
    if len(rows) != rows.shape[1] or sizes[0] != sizes[1]:
        raise Unsupported("a grid that is no square")
    flat = rows.flatten(0, 1)
    square = torch.cat([flat[:1], flat])[None]  # after a class token
    with library():
        resized = interpolate_embeddings(sizes[0], 1, {TABLE: square}, f"bi{kernel}")
    return resized[TABLE][0, 1:].view(*sizes, -1)


def resize(table, rows):
    """Return a row of a square of patches, of which all are alike, resized linearly."""
    with library():
        given = torch.tensor(table, dtype=torch.float32)
    square = torch.cat([given[:1], given.repeat(len(given), 1)])[None]  # after a class token
    with library():
        resized = interpolate_embeddings(rows, 1, {TABLE: square}, "bilinear")
    return resized[TABLE][0, 1 : rows + 1]


if __name__ == "__main__":
    answer_lines(
        {
            "swin": swin,
            "swin_rectangle": swin_rectangle,
            "resize": resize,
            "resize_grid": resize_grid,
        }
    )
