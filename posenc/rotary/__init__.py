"""Rotating queries and keys: RoPE, the base for a length, longer contexts, xPos, PoPE."""

from posenc.rotary.rope import (
    apply_rope,
    apply_rope_complex,
    convert_layout,
    convert_projection,
    convert_qkv,
    rope_matrix,
    rotary_frequencies,
)

__all__ = [
    "apply_rope",
    "apply_rope_complex",
    "convert_layout",
    "convert_projection",
    "convert_qkv",
    "rope_matrix",
    "rotary_frequencies",
]
