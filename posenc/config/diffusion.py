"""The axes of a diffusion transformer, whose configuration diffusers writes.

Each axis of an image or a video rotates a part of the head of its own, with the frequencies of a
head as wide as that part.

Source: the rotary modules in models/transformers of diffusers 0.42.1, such as `FluxPosEmbed`,
`WanRotaryPosEmbed` and `get_3d_rotary_pos_embed`; `precompute_freqs_cis` of Lightricks/LTX-Video.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from posenc._arguments import _shown
from posenc.config.families import BASE, WIDTH

if TYPE_CHECKING:
    from posenc.config.entries import Entries

CLASS, HEAD = "_class_name", "attention_head_dim"
KIND = "diffusers"
PART_WIDTHS = "axes_dims_rope"  # of each axis, in the configuration that is read
PAGE = "Diffusion transformers (axes/diffusion)"
# The key of the widths of the axes and what it means if it is left out; likewise of the base.
LISTED: dict[str, tuple[str, tuple[int, ...], str | None, float]] = {
    "BriaTransformer2DModel": (PART_WIDTHS, (16, 56, 56), BASE, 1e4),
    "ChromaTransformer2DModel": (PART_WIDTHS, (16, 56, 56), None, 1e4),
    "Flux2Transformer2DModel": (PART_WIDTHS, (32, 32, 32, 32), BASE, 2e3),
    "FluxTransformer2DModel": (PART_WIDTHS, (16, 56, 56), None, 1e4),
    "HunyuanVideo15Transformer3DModel": ("rope_axes_dim", (16, 56, 56), BASE, 256.0),
    "HunyuanVideoFramepackTransformer3DModel": ("rope_axes_dim", (16, 56, 56), BASE, 256.0),
    "HunyuanVideoTransformer3DModel": ("rope_axes_dim", (16, 56, 56), BASE, 256.0),
    "Lumina2Transformer2DModel": ("axes_dim_rope", (32, 32, 32), None, 1e4),
    "QwenImageTransformer2DModel": (PART_WIDTHS, (16, 56, 56), None, 1e4),
    "ZImageTransformer2DModel": ("axes_dims", (32, 48, 48), BASE, 256.0),
}
# Those that divide the head: time has the rest of it, height and width a third each, or 3 of 8.
THIRDS = (
    "SkyReelsV2Transformer3DModel", "WanAnimateTransformer3DModel", "WanTransformer3DModel",
    "WanVACETransformer3DModel",
)  # fmt: skip
EIGHTHS = "CogVideoXTransformer3DModel"
DIVIDED = {**dict.fromkeys(THIRDS, 128), EIGHTHS: 64}  # how wide a head is if that is left out
# Why others are not read. A key of its authors' own configuration tells LTX-Video under any class.
LTX, LTX_BASE = "LTXVideoTransformer3DModel", "positional_embedding_theta"
REASONS = {
    "CogView4Transformer2DModel": "scales the positions of a patch to a fixed grid first",
    **dict.fromkeys(
        (LTX, "LTX2VideoTransformer3DModel"),
        "spaces its frequencies evenly in their logarithm, times π/2, and uses fractions of a"
        " length as positions",
    ),
    "MochiTransformer3DModel": "learns the frequencies of its axes",
    "PixArtTransformer2DModel": "adds sinusoids to the patches and does not rotate",
    "SD3Transformer2DModel": "adds sinusoids to the patches and does not rotate",
}  # fmt: skip
UNKNOWN_CLASS = "is not among the classes whose axes are known"


def axes(entries: Entries, notes: list[str]) -> dict[str, Any]:
    """Return the axes of a diffusion transformer under keys that `read_config` reads.

    Raises:
        ValueError: the class is not known, or does not rotate by axes of this kind; or a width is
            odd, or the widths do not add up to the head.
    """
    name = entries.text(CLASS) or ""
    widths, base = _widths(entries, name)
    notes.append(
        "A diffusion transformer: each axis of an image or a video has the frequencies of a head as"
        f" wide as the part that the axis rotates, {' + '.join(map(str, widths))}."
    )
    return {
        "model_type": KIND,
        WIDTH: sum(widths),
        PART_WIDTHS: widths,
        "num_hidden_layers": entries.integer("num_layers"),
        "rope_scaling": {"mrope_section": [width // 2 for width in widths], BASE: base},
    }


def _widths(entries: Entries, name: str) -> tuple[list[int], float]:
    """Return how wide the part of each axis is, and the base."""
    if name in DIVIDED:
        return _divided(entries, name), 1e4
    if name not in LISTED:
        why = REASONS.get(LTX if LTX_BASE in entries else name, UNKNOWN_CLASS)
        raise ValueError(
            f"{entries.path(CLASS)} must be a diffusion transformer whose axes are read; got"
            f" {_shown(name)}, which {why}: see {PAGE}"
        )
    key, widths, base_key, base = LISTED[name]
    listed = entries.mapping.get(key)
    given = list(widths) if listed is None else checked_widths(entries, key, listed)
    total, width = sum(given), entries.integer(HEAD)
    if width is not None and width != total:
        raise ValueError(f"{entries.path(key)} must add up to {HEAD}, {width}; got {total}")
    own = None if base_key is None else entries.number(base_key, least=1, above=True)
    return given, own or base


def checked_widths(entries: Entries, key: str, listed: object) -> list[int]:
    """Return a list of even widths, as many as there are axes."""
    path = entries.path(key)
    if not isinstance(listed, list | tuple) or not listed:
        raise TypeError(f"{path} must be a list of integers; got {_shown(listed)}")
    for width in listed:
        if isinstance(width, bool) or not isinstance(width, int) or width < 2 or width % 2:
            raise ValueError(f"{path} must have even integers, 2 or more; got {_shown(width)}")
    return [int(width) for width in listed]


def _divided(entries: Entries, name: str) -> list[int]:
    """Return the widths of time, height and width where the class divides the head."""
    width = entries.integer(HEAD) or DIVIDED[name]
    if name == EIGHTHS and not entries.flag("use_rotary_positional_embeddings", False):
        raise ValueError(
            f"use_rotary_positional_embeddings must be true with {name}; got false: it adds"
            " sinusoids and does not rotate"
        )
    of = 16 if name == EIGHTHS else 2
    if width % of:
        raise ValueError(f"{entries.path(HEAD)} must be a multiple of {of}; got {width}")
    side = width // 8 * 3 if name == EIGHTHS else 2 * (width // 6)
    return [width - 2 * side, side, side]
