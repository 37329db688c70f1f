"""Extracts the plotted data from a drawing, from matplotlib's artists.

The data includes everything that carries meaning: curves, dots, images, shapes, words and axes. It
excludes the positions of words and all sizes, which differ between wide pages and phones, and
colours, which `_check.py` compares in the drawings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import singledispatch
from typing import Any, TypeAlias

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon
from matplotlib.text import Annotation, Text

Json: TypeAlias = Any  # numbers, words, and lists and dictionaries of them

DIGITS = 6


def plotted_data(figure: Figure) -> Json:
    """Return everything a figure plots, panel by panel."""
    panels = [_panel(axes) for axes in figure.axes]
    return {"panels": panels, "words": [_words(text) for text in figure.texts]}


def as_text(data: Json, indent: str = "") -> str:
    """Return data as JSON with every flat list on one line: compact, and readable in a diff."""
    inner = indent + " "
    if isinstance(data, dict) and data:
        items = [f"{json.dumps(key)}: {as_text(value, inner)}" for key, value in data.items()]
        return "{\n" + ",\n".join(inner + item for item in items) + f"\n{indent}}}"
    if isinstance(data, list) and any(isinstance(item, (list, dict)) for item in data):
        rows = ",\n".join(inner + as_text(item, inner) for item in data)
        return f"[\n{rows}\n{indent}]"
    return json.dumps(data, ensure_ascii=False)


def _panel(axes: Axes) -> Json:
    """Return what one panel plots, in the order in which it was drawn."""
    kinds: dict[str, Iterable[Artist]] = {
        "lines": axes.lines,
        "dots": axes.collections,
        "images": axes.images,
        "shapes": axes.patches,
        "words": axes.texts,
        "others": [*axes.artists, *axes.tables],
    }
    found = {kind: [_read(artist) for artist in artists] for kind, artists in kinds.items()}
    scales = {"x": _scale(axes.xaxis), "y": _scale(axes.yaxis)} if axes.axison else {}
    title = _clean(axes.get_title(loc="left"))
    return {"title": title, **scales, **{kind: data for kind, data in found.items() if data}}


def _scale(axis: Axis) -> Json:
    """Return an axis's name and limits, and the labels and places of its ticks."""
    low, high = sorted(axis.get_view_interval())
    labels = [_clean(label.get_text()) for label in axis.get_ticklabels()]
    shown = [
        tick for tick in zip(axis.get_ticklocs(), labels, strict=True) if low <= tick[0] <= high
    ]
    ticks = {"at": [_rounded(place) for place, _ in shown], "say": [label for _, label in shown]}
    ends = _rounded(axis.get_view_interval())
    return {"name": _clean(axis.get_label().get_text()), "ends": ends, "ticks": ticks}


@singledispatch
def _read(artist: Artist) -> Json:
    """Return an artist's data; an unknown kind is an error, since the check would miss it."""
    raise TypeError(
        f"cannot read the data of {artist}; add its kind to scripts/figures/_plotted.py"
    )


@_read.register
def _line(line: Line2D) -> Json:
    x, y = line.get_data()
    return {"x": _rounded(x), "y": _rounded(y)}


@_read.register
def _image(image: AxesImage) -> Json:
    return {
        "ramp": image.get_cmap().name,
        "ends": _rounded(image.get_clim()),
        "extent": _rounded(image.get_extent()),
        "rows": _rounded(image.get_array()),
    }


@_read.register
def _polygon(shape: Polygon) -> Json:
    return _rounded(shape.get_xy())


@_read.register
def _bands(bands: PolyCollection) -> Json:
    return [_rounded(path.vertices) for path in bands.get_paths()]


@_read.register
def _circle(shape: Circle) -> Json:
    return {"centre": _rounded(shape.get_center()), "radius": _rounded(shape.get_radius())}


@_read.register
def _annotation(note: Annotation) -> Json:
    return {"says": _clean(note.get_text()), "of": _rounded(note.xy)}


@_read.register
def _words(text: Text) -> Json:
    return _clean(text.get_text())


def _clean(words: str) -> str:
    """Return words on one line, since line breaks depend on the space."""
    return " ".join(words.split())


def _rounded(values: Any) -> Json:
    """Return numbers rounded to six significant digits, and noise around zero as zero."""
    return _rounded_nested(np.asarray(values, dtype=float).tolist())


def _rounded_nested(values: Any) -> Json:
    if isinstance(values, list):
        return [_rounded_nested(value) for value in values]
    value = float(f"{values:.{DIGITS}g}")
    value = 0.0 if abs(value) < 1e-12 else value
    return int(value) if value.is_integer() else value
