"""The picture for link previews: the table of sines with the title below it.

`python -m scripts.figures.card` draws `docs/assets/card.png`, which is committed. A test draws it
again and compares the two, pixel by pixel.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from posenc import sinusoidal_encoding
from scripts import DOCS
from scripts.figures.style import LIGHT, ramp
from scripts.figures.typefaces import FACES, Face

CARD = DOCS / "assets" / "card.png"
SIZE = (1200, 630)  # the size that sites recommend for link previews
CELL = (6, 7)  # width of a position and height of a pair, in pixels
TITLE = "Positional encoding, worked out"
LEAD = "By hand, in code and in proofs, with every number checked"
LEFT, TITLE_AT, LEAD_AT = 72, 424, 526


def card() -> Image.Image:
    """Return the picture: 200 positions to the right, 64 pairs downwards, and the title below."""
    picture = Image.new("RGB", SIZE, LIGHT.paper)
    sines = sinusoidal_encoding(SIZE[0] // CELL[0], 128)[:, 0::2].T
    colours = ramp(sines, LIGHT).repeat(CELL[1], axis=0).repeat(CELL[0], axis=1)
    picture.paste(Image.fromarray(np.ascontiguousarray(colours)), (0, 0))
    brush = ImageDraw.Draw(picture)
    roman, italic = FACES[:2]
    brush.text((LEFT, TITLE_AT), TITLE, LIGHT.ink, typeface(roman, 74))
    brush.text((LEFT, LEAD_AT), LEAD, LIGHT.ink_2, typeface(italic, 38))
    return picture


def typeface(face: Face, size: int) -> ImageFont.FreeTypeFont:
    """Return one of the pages' typefaces, decompressed for Pillow."""
    from fontTools.ttLib import TTFont

    font, unpacked = TTFont(face.file("latin")), BytesIO()
    font.flavor = None
    font.save(unpacked)
    unpacked.seek(0)
    return ImageFont.truetype(unpacked, size, layout_engine=ImageFont.Layout.BASIC)


def reduced_picture() -> Image.Image:
    """Return the picture reduced to 256 colours, as it is stored."""
    return card().quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)


def mean_difference(path: Path) -> float:
    """Return the mean difference of a picture from the one drawn now, on a scale of 255."""
    if not path.is_file():
        return 255.0
    with Image.open(path) as picture:
        there, here = picture.convert("RGB"), reduced_picture().convert("RGB")
    if there.size != here.size:
        return 255.0
    return float(np.abs(np.asarray(there, float) - np.asarray(here, float)).mean())


def main() -> None:
    """Draw the picture, unless the committed one differs only by rendering noise."""
    if mean_difference(CARD) > 1.0:
        reduced_picture().save(CARD, optimize=True)
        print("card: drawn")


if __name__ == "__main__":
    main()
