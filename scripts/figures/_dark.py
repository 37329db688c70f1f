"""Derives the dark drawing of a figure from the light one.

Every colour of a light drawing is in the palette or on the ramp, where it has a dark counterpart.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from functools import cache
from io import BytesIO

import numpy as np
from PIL import Image

from scripts.figures.style import DARK, LIGHT, PALETTE, ramp

# `link` has the light colour of `line-0`, which comes later and is the one that figures use.
DARK_OF = dict(PALETTE.values())
COLOUR = re.compile(r"(?<=: )#[0-9a-f]{6}\b")
PIXELS = re.compile(r"(?<=data:image/png;base64,)[^\"]+")
VALUES = np.linspace(-1, 1, 2001)
NEAR = 2  # out of 255, since matplotlib rounds the colours of a ramp down


def dark(drawing: str) -> str:
    """Return a light drawing, as SVG, in dark colours.

    Raises:
        ValueError: A colour is neither in the palette nor on the ramp.
    """
    drawing = PIXELS.sub(lambda found: _dark_pixels(found[0]), drawing)
    return COLOUR.sub(lambda found: dark_colour(found[0]), drawing)


@cache
def dark_colour(light: str) -> str:
    """Return the dark counterpart of a light colour.

    Examples:
        >>> dark_colour("#fcfcfa"), dark_colour("#c0cfd1")
        ('#14181a', '#303e41')
    """
    if light in DARK_OF:
        return DARK_OF[light]
    away = np.abs(ramp(VALUES, LIGHT).astype(int) - [*bytes.fromhex(light[1:])]).max(axis=1)
    if away.min() > NEAR:
        raise ValueError(f"{light} is neither in the palette of style.py nor on its ramp")
    return "#" + ramp(VALUES[away.argmin()], DARK).tobytes().hex()


def _dark_pixels(png: str) -> str:
    """Return a bitmap in dark colours, as base64; what is transparent stays so."""
    with Image.open(BytesIO(b64decode(png))) as image:
        pixels = np.array(image.convert("RGBA"))
    opaque = pixels[..., 3] > 0
    found, places = np.unique(pixels[opaque], axis=0, return_inverse=True)
    colours = [[*bytes.fromhex(dark_colour(f"#{one[:3].tobytes().hex()}")[1:])] for one in found]
    pixels[opaque, :3] = np.array(colours, np.uint8).reshape(-1, 3)[places.ravel()]
    file = BytesIO()
    Image.fromarray(pixels).save(file, "png")
    return b64encode(file.getvalue()).decode()
