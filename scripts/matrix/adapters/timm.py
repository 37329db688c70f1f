"""timm answers the test vectors."""

from __future__ import annotations

import torch
from lines import Unsupported, answer_lines, library

try:
    import torchvision  # noqa: F401
except RuntimeError:  # it is compiled for a GPU, and torch for a CPU lacks operators that it names
    OPERATORS = torch.library.Library("torchvision", "DEF")
    OPERATORS.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    OPERATORS.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

from timm.layers import (
    RotaryEmbedding,
    apply_rot_embed,
    freq_bands,
    gen_relative_position_index,
    resample_abs_pos_embed,
)

LAYOUTS = ("interleaved", "half")


def frequencies(rule, d, base=10000, **given):
    """Return the frequencies of `freq_bands`."""
    if rule != "default":
        raise Unsupported(f"rule {rule}")
    with library():
        return {"frequencies": freq_bands(d, base, step=2), "attention_factor": 1}


def rotation_2d(x, positions, first, layout, base):
    """Return patches rotated by `RotaryEmbedding` and `apply_rot_embed`, patches of a grid."""
    if layout not in LAYOUTS:
        raise Unsupported(f"layout {layout}")
    if first not in ("row", "column"):
        raise Unsupported(f"{first} first")
    vectors, places = torch.tensor(x, dtype=torch.float32), torch.tensor(positions)
    if places.is_floating_point():
        raise Unsupported("fractions of positions")
    with library():
        rows, columns = (places.max(0).values + 1).tolist()
        rope = RotaryEmbedding(
            vectors.shape[-1],
            temperature=base,
            in_pixels=False,
            grid_indexing="ij" if first == "row" else "xy",
            rotate_half=layout == "half",
        )
        tables = rope.get_embed([rows, columns])
        sin, cos = (table[places[:, 0] * columns + places[:, 1]] for table in tables)
        return apply_rot_embed(vectors, sin, cos, half=layout == "half")


def swin(window):
    """Return `gen_relative_position_index`."""
    with library():
        return gen_relative_position_index((window, window))


def swin_rectangle(height, width):
    """Return `gen_relative_position_index` of a window that is not square."""
    with library():
        return gen_relative_position_index((height, width))


def resize_grid(grid, sizes, kernel, corners, antialias):
    """Return a grid resized by `resample_abs_pos_embed`."""
    if corners:
        raise Unsupported("aligned corners")
    rows = torch.tensor(grid)
    with library():
        found = resample_abs_pos_embed(
            rows.flatten(0, 1)[None],
            sizes,
            list(rows.shape[:2]),
            num_prefix_tokens=0,
            interpolation=f"bi{kernel}",
            antialias=antialias,
        )
    return found.view(*sizes, -1)


def resize(table, rows):
    """Return a row of patches resized by `resample_abs_pos_embed`, linearly."""
    with library():
        given = torch.tensor(table, dtype=torch.float32)
    with library():
        return resample_abs_pos_embed(
            given[None],
            [1, rows],
            [1, len(given)],
            num_prefix_tokens=0,
            interpolation="bilinear",
            antialias=False,
        )[0]


if __name__ == "__main__":
    answer_lines(
        {
            "frequencies": frequencies,
            "rotation_2d": rotation_2d,
            "swin": swin,
            "swin_rectangle": swin_rectangle,
            "resize": resize,
            "resize_grid": resize_grid,
        }
    )
