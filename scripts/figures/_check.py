"""Compares the drawings of a figure's script with the committed ones.

First the data, then the drawings, element by element: what each is, its colours and lines, where it
lies, and the pixels of bitmaps. What depends on the machine and on matplotlib's version is not
compared: the outlines and places of words, names, and how a bitmap is encoded. Legends and lines to
words move with these, so places may differ by a line of text; the data is what is exact.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import islice, zip_longest
from math import isclose
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
from PIL import Image

from scripts.figures import FIGURES, IN_README, VARIANTS, data_file, picture_file, scripts
from scripts.figures._dark import dark
from scripts.figures._plotted import Json, as_text, plotted_data
from scripts.figures._render import drawn_variant, load, svg

# The data is rounded to six digits, so a difference in the last one may be rounding noise between
# processors, and is invisible.
RELATIVE, ABSOLUTE = 2e-6, 1e-9

# What may differ: points between two places, and steps out of 255 between two colours of a pixel.
POINTS, SHADES = 16.0, 4.0

GLYPH = re.compile(r"#?[\w-]+-[0-9a-f]+")  # SourceSans3-Regular-31
URL = re.compile(r"#\w+(?=\))")
SCALE = re.compile(r"scale\([^)]*\)")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
PLACES = ("d", "x", "y", "width", "height", "transform", "viewBox", "points")
SHOWN = 5  # differences listed per comparison


def check(path: Path, folder: Path = FIGURES, variants: Sequence[str] = VARIANTS) -> list[str]:
    """Return a message for each difference between a figure's script and its committed files."""
    return [f"{path.stem}: {difference}" for difference in _faults(path, folder, variants)]


def orphans(folder: Path = FIGURES) -> list[str]:
    """Return the committed files that no script draws."""
    ours = {file for path in scripts() for file in files(path.stem, folder)}
    there = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [f"{path.name}: no script draws it" for path in there if path not in ours]


def files(stem: str, folder: Path = FIGURES) -> list[Path]:
    """Return the files of a figure: its data and its drawings."""
    variants = (*VARIANTS, "dark") if stem == IN_README else VARIANTS
    return [data_file(stem, folder), *(picture_file(stem, variant, folder) for variant in variants)]


def differences(there: Json, here: Json, place: str = "") -> Iterator[str]:
    """Yield each place where the committed and the drawn data differ, with both values."""
    if there == here:  # the most common case
        return
    if isinstance(there, dict) and isinstance(here, dict) and there.keys() == here.keys():
        for key in there:
            yield from differences(there[key], here[key], f"{place}.{key}".lstrip("."))
    elif isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
        for index, pair in enumerate(zip(there, here, strict=True)):
            yield from differences(*pair, f"{place}[{index}]")
    elif not _is_close(there, here):
        yield f"{place}: committed {_short(there)}, drawn {_short(here)}"


def _faults(path: Path, folder: Path, variants: Sequence[str]) -> Iterator[str]:
    missing = [file.name for file in files(path.stem, folder) if not file.exists()]
    if missing:
        yield f"{', '.join(missing)} missing; `make figures` draws them"
        return
    script = load(path)
    committed = json.loads(data_file(path.stem, folder).read_text(encoding="utf-8"))
    for variant in variants:
        with drawn_variant(script, variant) as figure:
            found = list(islice(differences(committed, plotted_data(figure)), SHOWN))
            found = found or _drawing_faults(path.stem, variant, folder, svg(figure).decode())
        yield from (f"{variant}: {difference}" for difference in found)


def _drawing_faults(stem: str, variant: str, folder: Path, drawing: str) -> list[str]:
    """Return how a committed drawing differs from the one drawn here.

    They are compared in dark colours, since a light colour that is hardly off may be another there.
    """
    file, in_readme = (picture_file(stem, name, folder) for name in (variant, "dark"))
    try:
        there, here = dark(file.read_text(encoding="utf-8")), dark(drawing)
    except ValueError as error:
        return [f"{file.name}: {error}"]
    found = _drawing_difference(file.name, there, here)
    if in_readme.exists() and variant == "light":
        found += _drawing_difference(in_readme.name, in_readme.read_text(encoding="utf-8"), here)
    return found


class Shape(NamedTuple):
    """An element of a drawing: what it is, how it is drawn, and its numbers."""

    tag: str
    style: str = ""
    numbers: Sequence[float] = ()


def shapes(drawing: str) -> list[Shape]:
    """Return the elements of a drawing; of words, their colours and sizes alone."""
    found = [_shape(element) for element in ElementTree.fromstring(drawing).iter()]
    return [shape for shape in found if shape]


def _shape(element: Element) -> Shape | None:
    tag = element.tag.rpartition("}")[2]
    names = {key.rpartition("}")[2]: value for key, value in element.items()}
    if tag == "defs" or GLYPH.fullmatch(names.get("id", names.get("href", ""))):
        return None
    places = " ".join(names.get(name, "") for name in PLACES)
    style = URL.sub("", names.get("style", ""))
    if tag == "svg":
        return Shape(tag, places)
    if size := SCALE.search(places):
        return Shape(tag, f"{style} {size[0]}")
    numbers = [float(number) for number in NUMBER.findall(places)]
    if tag == "image":
        with Image.open(BytesIO(b64decode(names["href"].partition(",")[2]))) as image:
            numbers += np.asarray(image.convert("RGBA"), float).ravel().tolist()
    return Shape(tag, style, numbers)


def _drawing_difference(name: str, there: str, here: str) -> list[str]:
    for number, (one, other) in enumerate(zip_longest(shapes(there), shapes(here)), 1):
        if one is None or other is None or not _look_alike(one, other):
            return [f"the data agree, but element {number} of {name} is drawn otherwise"]
    return []


def _look_alike(one: Shape, other: Shape) -> bool:
    if one == other or one[:2] != other[:2] or len(one.numbers) != len(other.numbers):
        return one == other
    near = SHADES if one.tag == "image" else POINTS
    return np.allclose(one.numbers, other.numbers, rtol=0, atol=near)


def _is_close(there: Json, here: Json) -> bool:
    numbers = isinstance(there, (int, float)) and isinstance(here, (int, float))
    return isclose(there, here, rel_tol=RELATIVE, abs_tol=ABSOLUTE) if numbers else there == here


def _short(data: Json) -> str:
    if isinstance(data, list):
        return f"{len(data)} values"
    return as_text(data) if not isinstance(data, dict) else f"{', '.join(data)}"
